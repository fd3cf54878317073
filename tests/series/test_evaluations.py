"""Evaluations at many checkpoints, as others published them."""

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from abovechance.cli import app
from abovechance.core.errors import InputError
from abovechance.series.evaluations import read_evaluations
from abovechance.series.summary import of_evaluations
from tests.conftest import REPOSITORY

PYTHIA = REPOSITORY.parent / "shared" / "pythia.zip"


def result(step: int, accuracy: float, seed: int | None = None, **more: Any) -> dict[str, Any]:
    named = "org/model" if seed is None else f"org/model-seed{seed}"
    arguments = f"pretrained={named},revision=step{step},dtype=float32"
    error = float(np.sqrt(accuracy * (1 - accuracy) / 199))
    metrics = {
        "alias": "t",
        "acc,none": accuracy,
        "acc_stderr,none": error,
        "word_perplexity,none": 10.0 / (step + 1),
    }
    metrics |= {"word_perplexity_stderr,none": "N/A"}
    config = {"model": "hf", "model_args": arguments}
    return {"results": {"t": metrics}, "config": config, "n-shot": {"t": 2}} | more


def write(folder: Path, name: str, content: dict[str, Any]) -> Path:
    folder.mkdir(exist_ok=True, parents=True)
    (folder / name).write_text(json.dumps(content))
    return folder / name


def test_results_of_seeds_and_checkpoints(tmp_path):
    for seed in (1, 2, 3):
        for step, accuracy in ((0, 0.25), (1000, 0.30), (2000, 0.5 + seed / 100)):
            write(tmp_path / "evals", f"s{seed}_step{step}.json", result(step, accuracy, seed))
    write(tmp_path / "evals", "notes.json", {"something": "else"})
    table = read_evaluations([tmp_path / "evals"])
    assert set(table["model"]) == {"org/model"}
    assert sorted(set(table["seed"])) == [1, 2, 3]
    assert sorted(set(table["checkpoint"])) == [0, 1000, 2000]
    assert set(table["shots"]) == {2}
    accuracy = table[table["metric"] == "acc"]
    assert set(accuracy["examples"]) == {200}
    assert not accuracy["loss"].any()
    assert table.loc[table["metric"] == "word_perplexity", "loss"].all()
    found = of_evaluations(table.assign(chance=0.25)).set_index("metric")
    assert found.loc["acc", ["seeds", "checkpoints", "examples"]].tolist() == [3, 3, 200]
    assert found.loc["acc", "mean"] == pytest.approx(0.52)
    assert found.loc["acc", "final_deviation"] == pytest.approx(0.01)
    assert found.loc["acc", "deviation"] == pytest.approx(0.01 / 3)
    assert found.loc["acc", "snr"] == pytest.approx(52)
    assert found.loc["acc", "leaves_chance"] == 2000
    assert found["tau"].to_dict() == {"acc": 1, "word_perplexity": -1}
    assert found["monotonicity"].to_dict() == {"acc": 1, "word_perplexity": 1}
    assert np.isnan(found.loc["word_perplexity", "interval"])


def test_what_a_file_says_of_its_metrics_counts(tmp_path):
    told = result(
        5, 0.5, **{"higher_is_better": {"t": {"acc": False}}, "n-samples": {"t": {"effective": 77}}}
    )
    table = read_evaluations([write(tmp_path, "x.json", told)]).set_index("metric")
    assert table.loc["acc", "loss"]
    assert table.loc["acc", "examples"] == 77


def test_a_number_of_examples_that_is_not_whole_is_not_known(tmp_path):
    other = result(5, 0.5)
    other["results"]["t"]["acc_stderr,none"] *= 1.001
    table = read_evaluations([write(tmp_path, "x.json", other)]).set_index("metric")
    assert table.loc["acc", "examples"] == -1


def test_what_is_wrong_in_results_is_told(tmp_path):
    first = write(tmp_path / "a", "x_step5.json", result(5, 0.5))
    with pytest.raises(
        InputError, match=r"x_step6.json: its name says step 6, and what it was run with 'step5'"
    ):
        read_evaluations([write(tmp_path / "b", "x_step6.json", result(5, 0.5))])
    again = write(tmp_path / "c", "again.json", result(5, 0.4))
    with pytest.raises(
        InputError, match=r"again.json: has acc of t for org/model, seed 0, step 5, and so has .*x_step5"
    ):
        read_evaluations([first, again])
    with pytest.raises(InputError, match="has no results; right would be a .json of lm-evaluation-harness"):
        read_evaluations([write(tmp_path / "d", "no.json", {"a": 1})])
    with pytest.raises(InputError, match="there is no such file or folder"):
        read_evaluations([tmp_path / "nowhere"])


@pytest.mark.skipif(not PYTHIA.is_file(), reason="needs ../shared/pythia.zip, EleutherAI's evaluations")
def test_the_published_evaluations_of_pythia(tmp_path):
    done = CliRunner().invoke(app, ["variance", str(PYTHIA), "--json"])
    rows = {
        (row["model"].split("v1.1-")[1], row["task"], row["metric"]): row for row in json.loads(done.stdout)
    }
    assert {key[0] for key in rows} == {"160m", "160m-deduped", "1.4b"}
    tau = {key[1:]: row["tau"] for key, row in rows.items() if key[0] == "160m"}
    assert round(tau["lambada_openai", "acc"], 4) == 0.6081
    assert round(tau["lambada_openai", "ppl"], 4) == -0.7190
    assert round(tau["arc_challenge", "acc"], 4) == -0.4534
    assert rows["160m", "lambada_openai", "ppl"]["monotonicity"] == pytest.approx(0.7190, abs=1e-4)
    # the benchmarks' sizes, from accuracies and their standard errors
    sizes = {key[1]: row["examples"] for key, row in rows.items() if key[2] == "acc"}
    expected = {"arc_challenge": 1172, "piqa": 1838, "lambada_openai": 5153, "winogrande": 1267, "sciq": 1000}
    assert {task: sizes[task] for task in expected} == expected
    assert {row["checkpoints"] for row in rows.values()} == {27}
    with zipfile.ZipFile(PYTHIA) as file:
        file.extractall(tmp_path)
    folder = json.loads(
        CliRunner().invoke(app, ["variance", str(tmp_path / "evals"), "--task", "piqa", "--json"]).stdout
    )
    by_key = {(row["model"], row["metric"]): row["tau"] for row in folder}
    assert by_key["EleutherAI/pythia-v1.1-1.4b", "acc"] == rows["1.4b", "piqa", "acc"]["tau"]


def test_curves_are_drawn_with_their_numbers(tmp_path):
    for step in (0, 10, 100):
        for seed in (1, 2):
            write(tmp_path / "e", f"{seed}-{step}.json", result(step, 0.25 + step / 400 + seed / 100, seed))
    arguments = ["variance", str(tmp_path / "e"), "--figure", str(tmp_path / "curves.png"), "--metric", "acc"]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    assert (tmp_path / "curves.png").stat().st_size > 5000
    lines = (tmp_path / "curves.csv").read_text().splitlines()
    assert lines[0] == "task,metric,model,checkpoint,mean,lowest,highest,seeds,error"
    assert len(lines) == 4
    wrong = CliRunner().invoke(app, ["variance", str(tmp_path / "e"), "--task", "u"])
    assert "--task u: is not in these results" in str(wrong.exception or wrong.output)
