"""`abovechance chance`: any metric of predictions in a CSV."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import f1_score

from abovechance.chance import null_distribution
from abovechance.cli.options import example_file
from tests.running import run


def write(path, rows):
    pd.DataFrame(rows).to_csv(path, index=False)
    return str(path)


def test_example_data():
    table = pd.read_csv(example_file("chance"))
    values = {
        name: f1_score(rows["gold"], rows["prediction"], average="macro")
        for name, rows in table.groupby("candidate", sort=False)
    }
    report = json.loads(run("chance", "--example", "-m", "f1_macro", "--json").stdout)
    assert report["metric"] == "f1_macro"
    assert report["best"] == max(values, key=values.get)
    assert report["observed"] == pytest.approx(max(values.values()))
    assert report["candidates"] == [
        {"candidate": name, "value": pytest.approx(value)} for name, value in values.items()
    ]
    assert report["p_single"] < 0.05 < report["p"]
    assert report["expected"] < report["expected_best"] < report["observed"]
    output = run("chance", "--example", "-m", "f1_macro").stdout
    assert "(candidate prompt 6, the best of 8)" in output
    assert (
        "This is not shown to be better than chance (p = 0.27 for the best of 8, 0.02 for a single try;"
        in output
    )


def test_python_gives_the_same():
    table = pd.read_csv(example_file("chance"))
    rows = [list(group["prediction"]) for _, group in table.groupby("candidate", sort=False)]
    gold = list(table["gold"][:60])
    report = json.loads(run("chance", "--example", "-m", "kappa", "--json").stdout)
    result = null_distribution("kappa", rows, gold)
    assert (report["observed"], report["p"]) == (result.observed, result.p)


def test_labels_that_are_written_differently_are_told(tmp_path):
    rows = [
        {"example": n, "gold": ("no", "yes")[n % 2], "prediction": ("no", "Yes")[n % 2]} for n in range(12)
    ]
    completed = run("chance", write(tmp_path / "a.csv", rows))
    note = "note: the prediction 'Yes' counts as wrong, but may be the same label as 'yes'\n"
    assert (completed.stderr, completed.stdout.startswith("accuracy: 0.500.")) == (note, True)


def test_columns_that_name_a_candidate(tmp_path):
    generator = np.random.default_rng(0)
    rows = [
        {"prompt": prompt, "harness": harness, "attempt": attempt, "example": example}
        for prompt in "AB"
        for harness in ("x", "y")
        for example in range(12)
        for attempt in range(4)
    ]
    for row in rows:
        row |= {"gold": str(row["example"] % 3), "prediction": str(generator.integers(3))}
    path = write(tmp_path / "attempts.csv", rows)
    report = json.loads(
        run("chance", path, "-m", "pass@2", "--candidates", "prompt,harness", "--json").stdout
    )
    assert [row["candidate"] for row in report["candidates"]] == ["A / x", "A / y", "B / x", "B / y"]
    # pass@2 of four attempts at an answer that one in three guesses
    assert report["expected"] == pytest.approx(1 - (2 / 3) ** 2, abs=0.1)
    assert report["tries"] == 4
    more = json.loads(
        run("chance", path, "-m", "pass@2", "--candidates", "prompt,harness", "-t", "40", "--json").stdout
    )
    assert more["p"] == pytest.approx(1 - (1 - report["p"]) * (1 - more["p_single"]) ** 36)


def test_lists_in_fields(tmp_path):
    rows = [
        {"example": 1, "gold": "a|b", "prediction": '["b", "a"]'},
        {"example": 2, "gold": "c", "prediction": ""},
        {"example": 3, "gold": '["c", "a"]', "prediction": "a | d"},
    ]
    path = write(tmp_path / "sets.csv", rows)
    report = json.loads(run("chance", path, "-m", "jaccard", "--json").stdout)
    assert report["observed"] == pytest.approx((1 + 0 + 1 / 3) / 3)
    assert report["method"] == "exact"


def test_accepted_answers(tmp_path):
    rows = [
        {"example": place, "gold": '["NYC", "New York"]' if place else "Rome", "prediction": "New York"}
        for place in range(3)
    ]
    path = write(tmp_path / "texts.csv", rows)
    report = json.loads(run("chance", path, "-m", "exact_match", "--json").stdout)
    assert report["observed"] == pytest.approx(2 / 3)


def test_strata_and_clusters(tmp_path):
    rows = [
        {"example": place, "gold": "ab"[place % 2], "prediction": "ab"[place % 2], "cluster": place // 2}
        | {"stratum": place // 8}
        for place in range(16)
    ]
    path = write(tmp_path / "clusters.csv", rows)
    completed = run("chance", path)
    assert completed.returncode == 1
    assert "no gold answer of the 16 examples can change its place" in completed.stderr
    rows[0]["gold"] = "b"
    path = write(tmp_path / "clusters.csv", rows)
    report = json.loads(run("chance", path, "--json").stdout)
    assert (report["strata"], report["fixed"]) == (2, 12 / 16)
    assert report["p"] == pytest.approx(1.0)  # each answer but one is always the same


def test_scores_are_compared_with_a_floor(tmp_path):
    """An agent that passes where doing nothing passes is not better than the floor."""
    generator = np.random.default_rng(0)
    easy = generator.random(60) < 0.5
    rows, floor = [], []
    for example in range(60):
        floor.append({"example": example, "score": int(easy[example])})
        for agent, skill in (("lucky", 0.0), ("good", 0.6)):
            for attempt in range(3):
                passed = easy[example] or generator.random() < skill
                rows.append({"agent": agent, "attempt": attempt, "example": example, "score": int(passed)})
    path, floor_path = write(tmp_path / "agents.csv", rows), write(tmp_path / "null.csv", floor)
    arguments = ["chance", path, "-m", "pass@1", "--floor", floor_path, "--candidates", "agent"]
    report = json.loads(run(*arguments, "--json").stdout)
    assert report["best"] == "good"
    assert report["expected"] == pytest.approx(easy.mean())
    assert report["expected_best"] is None  # one attempt does not show how runs vary
    assert report["p"] < 0.01
    assert "This is better than the floor" in run(*arguments).stdout
    path = write(tmp_path / "agents.csv", [row for row in rows if row["agent"] == "lucky"])
    report = json.loads(run(*arguments, "--json").stdout)
    assert report["p"] == 1.0
    assert "not shown to be better than the floor" in run(*arguments).stdout
