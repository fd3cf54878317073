"""Logs that the tools themselves wrote: `make logs` makes them."""

import json
import subprocess

import pytest
from typer.testing import CliRunner

from abovechance.cli import app
from abovechance.importers import Options, combine, read_runs
from abovechance.results.accuracy import accuracy_by_prompt
from tests.conftest import REPOSITORY

LOGS = REPOSITORY / "results" / "logs"


@pytest.mark.parametrize(
    ("tool", "prompts", "chance"),
    [
        ("lm_eval", 1, 1 / 3),
        ("inspect_ai", 1, 1 / 3),
        ("lighteval", 1, 1 / 3),
        ("crfm_helm", 3, 1 / 2),
        ("every_eval_ever/data", 1, 1 / 3),
    ],
)
def test_a_tools_own_log_gives_the_accuracy_that_it_reports(tool, prompts, chance):
    folder = log_of(tool)
    options = Options(prompts=1)
    runs = read_runs([folder], options)
    reported = json.loads((LOGS / tool.partition("/")[0] / "accuracy.json").read_text())
    # what the tool wrote of each example, and of all, was held against what is imported
    assert [run.rows["recorded"].mean() for run in runs] == pytest.approx([reported] * len(runs))
    if tool != "lighteval":  # whose pipeline, which writes it, needs a model from a hub
        assert [run.reported.accuracy for run in runs] == pytest.approx([reported] * len(runs))
    accuracy = accuracy_by_prompt(combine(runs, options))
    assert accuracy["accuracy"].mean() == pytest.approx(reported)
    assert accuracy["examples"].tolist() == [12] * prompts
    assert accuracy["chances"].tolist() == [[pytest.approx(chance)]] * prompts


def log_of(tool):
    """The folder of a tool's log; skips the test if it was not made."""
    folder = LOGS / tool
    if not (LOGS / tool.partition("/")[0] / "accuracy.json").is_file():
        pytest.skip(f"needs a log of {tool}, which `make logs` makes")
    return folder


@pytest.mark.parametrize("tool", ["lm_eval", "inspect_ai", "lighteval", "crfm_helm", "every_eval_ever/data"])
def test_the_steps_after_an_evaluation_run_on_a_tools_own_log(tool):
    folder = log_of(tool)
    checked = CliRunner().invoke(app, ["check", str(folder), *["--prompts", "1"] * (tool != "crfm_helm")])
    assert checked.exit_code == 0, checked.output
    diagnosed = CliRunner().invoke(app, ["doctor", str(folder), "--json"])
    report = json.loads(diagnosed.stdout)
    assert report["results"] >= 1
    # sound logs: HELM's toy model repeats its input
    severities = {sign["severity"] for sign in report["suspicions"]}
    assert "grave" not in severities or tool == "crfm_helm"
    gated = CliRunner().invoke(app, ["gate", str(folder), str(folder), "--margin", "0.5"])
    assert gated.stdout.startswith("not worse")


def test_records_with_verdicts_are_valid_in_the_tools_own_validator(tmp_path):
    folder = log_of("every_eval_ever/data")
    command = ["annotate", str(folder), "--prompts", "1", "--output", str(tmp_path / "data")]
    assert CliRunner().invoke(app, command).exit_code == 0
    python = LOGS / "every_eval_ever" / "venv" / "bin" / "python"
    completed = subprocess.run(
        [python, "-m", "every_eval_ever", "validate", "data/*/*/*/*.json*"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert completed.returncode == 0, completed.stdout
    (record,) = (tmp_path / "data").rglob("*.json")
    details = json.loads(record.read_text())["evaluation_results"][0]["score_details"]
    assert details["details"]["abovechance.better_than_chance"] == "yes"
    assert details["uncertainty"]["confidence_interval"]["method"] == "Clopper-Pearson"


def test_two_models_are_compared_by_their_logs():
    if not (LOGS / "compared").is_dir():
        pytest.skip("there are no logs of two models on this machine; `make logs` makes them")
    completed = CliRunner().invoke(
        app,
        # as recorded: on some processors, scores in bfloat16 tie, and the harness chooses the first choice
        [*("compare", "--metric", "acc", "--json"), *map(str, (LOGS / "compared").glob("*float*"))],
    )
    (report,) = json.loads(completed.stdout)
    (pair,) = report["comparison"]
    assert pair["examples"] == 119
    assert pair["better"] + pair["worse"] > 0
    # the harness's own accuracies; the better model is the first, and processors differ in which that is
    reported = [
        json.loads(next((LOGS / "compared" / name).rglob("results_*.json")).read_text())["results"][
            "products"
        ]
        for name in ("float32", "bfloat16")
    ]
    accuracies = sorted((rows["acc,none"] for rows in reported), reverse=True)
    assert (pair["first"], pair["second"]) == pytest.approx(accuracies)
