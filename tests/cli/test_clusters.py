"""Examples that belong together, wherever a command finds out that they do; and results that are missing."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from abovechance.best.study import selected
from abovechance.items import associations
from abovechance.pvi.files import read_examples
from abovechance.pvi.overview import summarize_examples
from abovechance.results.predictions import PREDICTIONS
from abovechance.study.clusters import clusters_of
from abovechance.study.tasks import TASKS, as_table
from abovechance.variance import study as study_scores
from abovechance.variance.answers import NEEDED
from abovechance.variance.study import score_setting
from abovechance.variance.summary import of_evaluations
from tests.running import run


@pytest.fixture
def study(tmp_path: Path) -> tuple[Path, pd.DataFrame, pd.DataFrame]:
    """A folder with predictions of ten prompts, each right or wrong on whole passages of six questions."""
    generator = np.random.default_rng(4)
    examples = [f"e{number}" for number in range(48)]
    parts = []
    for prompt in range(10):
        correct = np.repeat(generator.random(8) < 0.5, 6)
        rows = {"model": "m", "task": "t", "shots": 0, "prompt": prompt, "example": examples}
        rows |= {"predicted": np.where(correct, 0, 1), "correct": correct, "tie": False, "chance": 0.5}
        parts.append(pd.DataFrame(rows))
    predictions = pd.concat(parts, ignore_index=True)
    task = as_table(
        {
            "example": name,
            "text": name,
            "choices": ["a", "b"],
            "correct": [True, False],
            "cluster": place // 6,
        }
        for place, name in enumerate(examples)
    )
    for folder in ("predictions", "tasks"):
        (tmp_path / folder).mkdir()
    PREDICTIONS.write(predictions, tmp_path / "predictions" / "m.parquet", {})
    TASKS.write(task, tmp_path / "tasks" / "t.parquet", {})
    return tmp_path, predictions, task


def test_the_best_prompt_of_a_study_is_judged_with_its_clusters(study):
    folder, predictions, task = study
    (result,) = json.loads(run("best", str(folder), "--json").stdout)
    (expected,) = selected([predictions], clusters_of({"t": task}), 0).to_dict("records")
    assert result["p"] == pytest.approx(expected["selection_tail"], abs=0.03)
    ends = [expected["debiased_low"], expected["debiased_high"]]
    assert [result["low"], result["high"]] == pytest.approx(ends, abs=0.02)
    assert result["p"] > 0.9  # by single questions, it was 0.08


@pytest.mark.parametrize("part", ["predictions", "predictions/m.parquet"])
def test_the_predictions_of_a_study_have_its_clusters(study, part):
    folder, _, _ = study
    whole = json.loads(run("best", str(folder), "--json").stdout)
    assert json.loads(run("best", str(folder / part), "--json").stdout) == whole


@pytest.mark.parametrize(("clustered", "highest"), [(True, 0.12), (False, 1.0)])
def test_features_of_whole_clusters_do_not_go_with_discrimination(clustered, highest):
    """Items of a passage are answered alike, and have its answer and its length."""
    generator = np.random.default_rng(0)
    passages = np.repeat(range(30), 5)
    found_often = []
    for seed in range(60):
        corrected = generator.normal(size=30)[passages] + 0.3 * generator.normal(size=150)
        table = pd.DataFrame({"corrected": corrected, "constant": False, "cluster": passages})
        table["length"] = generator.normal(size=30)[passages]
        table["answer"] = generator.choice([*"ab"], 30)[passages]
        found_often.append(
            associations(table if clustered else table.drop(columns="cluster"), seed)["p"] <= 0.05
        )
    rates = np.mean(found_often, axis=0)
    assert (rates <= highest).all()
    assert clustered or (rates > 0.3).all()


def test_the_best_prompt_of_a_series_is_compared_with_guessers_that_answer_clusters_alike(study):
    _, predictions, task = study
    clusters = task.set_index("example")["cluster"]
    likelihoods = pd.DataFrame(columns=["prompt", *NEEDED])
    few = stats.t(7).isf(0.025) / stats.norm.isf(0.025)  # the variance over eight clusters is little known
    of_kinds = {"eight": clusters, "each": clusters * 0 + np.arange(48), "one": clusters * 0}
    numbers = {"eight": 48 / 47 * 7 / few**2, "each": 48, "one": 1}
    for name, of_examples in of_kinds.items():
        scores = score_setting(predictions, likelihoods, of_examples).set_index("metric")
        for metric in ("accuracy", "best_accuracy"):
            assert scores.loc[metric, "effective_examples"] == pytest.approx(numbers[name])
            assert scores.loc[metric, "examples"] == 48
    fewer = predictions[(predictions["prompt"] > 0) | (predictions["example"] != "e0")]
    scores = score_setting(fewer, likelihoods, clusters).set_index("metric")
    assert scores.loc["best_accuracy", "examples"] == -1
    assert np.isnan(scores.loc["best_accuracy", "effective_examples"])


@pytest.mark.parametrize("sizes", [[60], [30] * 2, [20] * 3, [15] * 4, [3] * 20])
@pytest.mark.parametrize("prompts", [1, 4])
def test_guesses_of_whole_clusters_do_not_leave_chance(sizes, prompts, monkeypatch):
    monkeypatch.setattr(study_scores, "bootstrap_interval", lambda *_, **__: (0, 0))
    examples, likelihoods = [str(number) for number in range(60)], pd.DataFrame(columns=["prompt", *NEEDED])
    clusters = pd.Series(np.repeat(np.arange(len(sizes)), sizes), index=examples)
    leaving = np.zeros(2)
    for seed in range(20):
        generator, parts = np.random.default_rng(seed), []
        for checkpoint in range(3):
            guesses = generator.random((prompts, len(sizes)))[:, clusters] < 0.5
            guesses ^= generator.random(guesses.shape) < 0.1
            table = pd.concat(
                pd.DataFrame({"example": examples, "prompt": prompt, "correct": row, "chance": 0.5})
                for prompt, row in enumerate(guesses)
            )
            scores = score_setting(table, likelihoods, clusters)
            parts.append(scores.assign(model="m", seed=0, checkpoint=checkpoint, shots=0, task="t"))
        measured = of_evaluations(pd.concat(parts)).set_index("metric")["leaves_chance"]
        leaving += measured[["accuracy", "best_accuracy"]].notna()
    assert leaving.max() <= 2


def test_accuracies_of_one_prompt_leave_chance_where_its_best_accuracy_does(monkeypatch):
    """Of 20 clusters whose examples are independent, at ten checkpoints: the inflation is a mean of these."""
    monkeypatch.setattr(study_scores, "bootstrap_interval", lambda *_, **__: (0, 0))
    examples, likelihoods = [str(number) for number in range(200)], pd.DataFrame(columns=["prompt", *NEEDED])
    clusters, leaving = pd.Series(np.arange(200) // 10, index=examples), []
    for seed in range(10):
        generator, parts = np.random.default_rng(seed), []
        for checkpoint in range(10):
            correct = generator.random(200) < 0.5 + 0.015 * checkpoint
            table = pd.DataFrame({"example": examples, "prompt": 0, "correct": correct, "chance": 0.5})
            scores = score_setting(table, likelihoods, clusters)
            parts.append(scores.assign(model="m", seed=0, checkpoint=checkpoint, shots=0, task="t"))
        measured = of_evaluations(pd.concat(parts)).set_index("metric")["leaves_chance"]
        assert (
            measured.iloc[0] is measured.iloc[1] is pd.NA or measured["accuracy"] == measured["best_accuracy"]
        )
        leaving.append(measured.notna()["accuracy"])
    assert np.mean(leaving) >= 0.7


def test_an_item_without_a_cluster_is_by_itself():
    generator = np.random.default_rng(0)
    table = pd.DataFrame({"corrected": generator.normal(size=40), "constant": False})
    table["length"] = np.where(np.arange(40) < 30, table["corrected"], generator.normal(size=40))
    by_itself = associations(table.assign(cluster=[*range(2, 32), *np.repeat([0, 1], 5)]))
    assert by_itself["p"].item() < 0.01
    for unknown, names in ((None, ["a", "b"]), (np.nan, [0, 1]), (pd.NA, [(0, 1), (0, 2)])):
        clusters = pd.Series([unknown] * 30 + [names[0]] * 5 + [names[1]] * 5)
        assert associations(table.assign(cluster=clusters)).equals(by_itself)


def test_features_that_all_clusters_have_alike_cannot_be_tested():
    """Of contrast pairs, the first ones have another answer and more discrimination."""
    first = np.arange(120) % 2 == 0
    noise = np.random.default_rng(0).normal(size=120)
    table = pd.DataFrame({"corrected": 0.5 * first + 0.1 * noise, "constant": False, "answer": [*"ab"] * 60})
    assert associations(table.assign(cluster=np.repeat(range(60), 2)))["p"].isna().all()
    sizes = np.repeat(range(1, 13), range(1, 13))  # no two clusters can be exchanged
    table = pd.DataFrame(
        {"corrected": sizes / 12 + 0.0, "constant": False, "length": sizes, "cluster": sizes}
    )
    assert associations(table)["p"].isna().all()


def test_predictions_of_a_study_are_found_from_their_own_folder(study):
    folder, _, _ = study
    whole = json.loads(run("best", str(folder), "--json").stdout)
    inside = folder / "predictions"
    assert json.loads(run("best", "m.parquet", "--json", folder=inside).stdout) == whole
    # files and folders may be links
    store = folder / "store"
    store.mkdir()
    (inside / "m.parquet").rename(store / "1.parquet")
    (inside / "m.parquet").symlink_to(store / "1.parquet")
    assert json.loads(run("best", str(inside / "m.parquet"), "--json").stdout) == whole
    # other files, or another project with such folders
    pd.DataFrame({"mine": [1]}).to_parquet(folder / "tasks" / "mine.parquet")
    assert json.loads(run("best", str(inside), "--json").stdout) == whole
    (folder / "tasks" / "t.parquet").unlink()
    completed = run("best", "m.parquet", "--json", folder=inside)
    assert completed.returncode == 0
    assert json.loads(completed.stdout) != whole


def write(path: Path, columns: str, rows: list[tuple]) -> str:
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join([columns, *(",".join(map(str, row)) for row in rows)]) + "\n")
    return str(path)


def test_a_candidate_that_lacks_results_of_a_prompt_is_an_error(tmp_path):
    reference = [(prompt, example, example % 2) for prompt in ("p1", "p2") for example in range(100)]
    first_prompt = [row for row in reference if row[0] == "p1"]
    candidate = first_prompt + [row for row in reference if row[0] == "p2" and row[2] == 1]
    paths = [
        write(tmp_path / f"{name}.csv", "prompt,example,correct", rows)
        for name, rows in (("new", candidate), ("old", reference))
    ]
    completed = run("gate", *paths)
    assert completed.returncode == 3
    assert "lacks results of" in completed.stderr
    assert "50 of 200 results of" in completed.stderr
    write(tmp_path / "new.csv", "prompt,example,correct", first_prompt)
    assert "100 of 200 results of" in run("gate", *paths).stderr
    # with prompts of its own, a candidate has all examples
    write(
        tmp_path / "new.csv",
        "prompt,example,correct",
        [("q", *row[1:]) for row in reference if row[0] == "p1"],
    )
    assert run("gate", *paths).returncode != 3


def test_files_with_the_same_names_in_two_folders_are_the_same_prompts(tmp_path):
    for side, accuracy in (("new", 80), ("old", 50)):
        for prompt in ("p1", "p2"):
            rows = [("t", example, int(example < accuracy)) for example in range(100)]
            write(tmp_path / side / f"{prompt}.csv", "task,example,correct", rows)
    output = run("gate", str(tmp_path / "new"), str(tmp_path / "old"), "--each-file").stdout
    assert output.startswith("better: For these 2 prompts only: ")
    # of one model, they are four prompts
    output = run(
        "check", str(tmp_path / "new"), str(tmp_path / "old"), "--each-file", "--choices", "4", "--json"
    )
    assert json.loads(output.stdout)[0]["prompts"] == 4


def test_clusters_of_a_floor_in_any_order(tmp_path):
    """Only the floor's file has clusters, and it lists the examples in another order."""
    agent = "".join(f"{example},{int(example < 24)}\n" for example in range(36))
    (tmp_path / "agent.csv").write_text("example,score\n" + agent)
    reports = []
    for order in (range(36), sorted(range(36), key=lambda example: (example % 6, example))):
        rows = "".join(f"{example},0,{example // 6}\n" for example in order)
        (tmp_path / "floor.csv").write_text("example,score,cluster\n" + rows)
        paths = (str(tmp_path / "agent.csv"), "--floor", str(tmp_path / "floor.csv"))
        reports.append(json.loads(run("chance", *paths, "--json").stdout))
    assert reports[0] == reports[1]
    assert reports[0]["p"] == pytest.approx(2**-4)


def test_clusters_of_a_floor_count_too(tmp_path):
    scores = [(f"e{number}", int(number % 5 > 0)) for number in range(40)]
    floors = [(f"e{number}", int(number < 8)) for number in range(40)]

    def of_file(name: str, rows: list[tuple], cluster: bool) -> str:
        columns = "example,score" + ",cluster" * cluster
        return write(
            tmp_path / name,
            columns,
            [(*row, f"c{int(row[0][1:]) // 20}") if cluster else row for row in rows],
        )

    def p_value(*clustered: bool) -> float:
        paths = (of_file("a.csv", scores, clustered[0]), of_file("b.csv", floors, clustered[1]))
        return json.loads(run("chance", paths[0], "-m", "pass@1", "--floor", paths[1], "--json").stdout)["p"]

    assert p_value(False, True) == p_value(True, False) == p_value(True, True) == pytest.approx(0.25)
    assert p_value(False, False) < 0.001
    of_file("a.csv", scores, True)
    write(tmp_path / "b.csv", "example,score,cluster", [(*row, "c") for row in floors])
    paths = (str(tmp_path / "a.csv"), str(tmp_path / "b.csv"))
    completed = run("chance", paths[0], "-m", "pass@1", "--floor", paths[1])
    assert completed.stderr.strip() == (
        f"abovechance: error: {paths[1]}: has other clusters of examples than {paths[0]}"
    )


def test_clusters_in_a_table_of_pvi(tmp_path):
    rows = [(number, number // 10 + number % 3 / 10, number // 10) for number in range(40)]
    path = write(tmp_path / "pvi.csv", "example,PVI,cluster", rows)
    without = write(tmp_path / "a.csv", "example,PVI", [row[:2] for row in rows])
    clustered, separate = (summarize_examples(read_examples(Path(name))) for name in (path, without))
    assert clustered["information"] == pytest.approx(separate["information"])
    assert clustered["high"] - clustered["low"] > 3 * (separate["high"] - separate["low"])
    write(tmp_path / "pvi.csv", "example,PVI,cluster", [(1, 0.5, "a"), (2, 0.5, "")])
    assert run("pvi", path).stderr.strip().endswith("pvi.csv, row 3: cluster is empty; expected a name")


def test_items_without_a_discrimination_have_no_part_in_associations():
    generator = np.random.default_rng(0)
    items = pd.DataFrame({"corrected": generator.normal(size=21), "constant": False})
    items = items.assign(answer=["a"] * 10 + ["b"] * 11, length=generator.random(21))
    lacking = items.assign(corrected=items["corrected"].where(items.index < 20))
    pd.testing.assert_frame_equal(associations(lacking), associations(items[:20]))
