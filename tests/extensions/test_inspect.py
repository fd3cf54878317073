"""The extension in the real inspect, with its mock model. `make logs` sets inspect up."""

import json
import os
import subprocess
import tomllib

import pytest
from scipy.stats import binomtest
from typer.testing import CliRunner

from abovechance.chance import RandomBaseline
from abovechance.cli import app
from tests.conftest import REPOSITORY

PYTHON = REPOSITORY / "results" / "logs" / "inspect_ai" / "venv" / "bin" / "python"


def evaluate(folder, hook="on"):
    """Run all tasks of ``inspect_tasks.py`` and return the contents of their logs."""
    # the entry points as an installation has them
    facts = folder / "abovechance-0.dist-info"
    facts.mkdir(parents=True)
    points = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]["entry-points"][
        "inspect_ai"
    ]
    lines = [f"{name} = {value}" for name, value in points.items()]
    (facts / "entry_points.txt").write_text("\n".join(["[inspect_ai]", *lines]))
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: abovechance\nVersion: 0\n")
    library = REPOSITORY / "workflow" / "lib"
    environment = os.environ | {"PYTHONPATH": f"{library}:{folder}", "ABOVECHANCE_HOOK": hook}
    script = REPOSITORY / "tests" / "extensions" / "inspect_tasks.py"
    completed = subprocess.run(
        [PYTHON, script, folder], env=environment, cwd=folder, capture_output=True, text=True
    )
    assert completed.returncode == 0, completed.stdout + completed.stderr
    return json.loads((folder / "report.json").read_text()), completed.stdout


@pytest.fixture(scope="module")
def evaluations(tmp_path_factory):
    if not PYTHON.is_file():
        pytest.skip("inspect is not set up on this machine; `make logs` does it")
    return evaluate(tmp_path_factory.mktemp("inspect"))


def test_the_hook_adds_verdict_and_interval_to_the_log_and_prints_one_line(evaluations):
    report, output = evaluations
    assert report["hooks"] == ["Verdict"]
    verdict = report["good"]["metadata"]["choice"]
    interval = binomtest(140, 200).proportion_ci()
    assert (verdict["examples"], verdict["accuracy"]) == (200, 0.7)
    assert verdict["interval"] == pytest.approx([interval.low, interval.high])
    assert verdict["p_value"] == pytest.approx(RandomBaseline.from_chance(0.25, 200).tail(140))
    assert (verdict["better_than_chance"], verdict["suspicions"]) == ("yes", [])
    assert report["good"]["author"].startswith("abovechance ")
    assert f"abovechance: questions, choice: {verdict['sentence']}\n" in output


def test_the_hook_mentions_signs_of_a_broken_log(evaluations):
    (suspicion,) = evaluations[0]["shifted"]["metadata"]["choice"]["suspicions"]
    assert "predictions agree with the gold label plus 1 in 200 of 200 examples" in suspicion


def test_each_scorer_has_a_verdict_and_without_choices_there_is_an_interval_only(evaluations):
    metadata = evaluations[0]["texts"]["metadata"]
    assert metadata.keys() == {"includes", "exact"}
    assert metadata["exact"]["p_value"] is None
    interval = binomtest(15, 30).proportion_ci()
    assert metadata["exact"]["interval"] == pytest.approx([interval.low, interval.high])


@pytest.mark.parametrize(("name", "word"), [("stopped", "above"), ("stopped below", "not above")])
def test_a_task_is_stopped_when_its_question_is_decided(evaluations, name, word, tmp_path):
    log = evaluations[0][name]
    prompts = 20 if name == "stopped" else 1
    baseline = (RandomBaseline.from_chance(0.25, 200).critical(0.05, prompts) - 1) / 200
    assert log["status"] == "success"
    assert log["samples"] < 200
    assert log["stopping"]["baseline"] == pytest.approx(baseline)
    assert log["stopping"]["decision"] == f"accuracy on all samples {word} {baseline:.4f}"
    verdict = log["metadata"]["choice"]
    assert (verdict["interval"], verdict["p_value"]) == (None, None)
    assert "stopped early by abovechance" in verdict["sentence"]
    checked = CliRunner().invoke(app, ["check", log["file"], "--prompts", "1"])
    assert "abovechance stopped the evaluation early, so" in checked.stderr


def test_an_open_question_runs_all_samples_and_is_then_decided(evaluations):
    log = evaluations[0]["with baseline"]
    assert log["stopping"]["decision"].startswith("accuracy on all samples above 0.69")
    assert log["stopping"]["used_samples"] > 100


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("not shuffled", "its dataset is not shuffled"),
        ("epochs", "has 2 epochs; early stopping requires one"),
        ("no choices", "has samples without choices, so set the baseline"),
        ("too few", "no accuracy on 200 samples can exceed 1.0000"),
    ],
)
def test_what_cannot_be_decided_with_the_stated_error_is_an_error(evaluations, name, message):
    assert evaluations[0][name]["status"] == "error"
    assert message in evaluations[0][name]["error"]


def test_without_a_usable_score_nothing_is_stopped_and_the_log_says_why(evaluations):
    log = evaluations[0]["two scorers"]
    assert (log["status"], log["samples"]) == ("success", 30)
    assert "has the scorers includes, exact; set the scorer" in log["stopping"]["problem"]
    assert evaluations[0]["one of two scorers"]["samples"] < 30


def test_a_failed_sample_ends_early_stopping_and_the_log_says_so(evaluations):
    log = evaluations[0]["failure"]
    assert log["status"] == "success"
    assert log["stopping"]["problem"] == "sample 0 has no score, so later samples were not used"


def test_a_scorer_of_numbers_does_not_take_the_verdict_of_the_other(evaluations):
    assert evaluations[0]["numbers"]["metadata"].keys() == {"choice"}


def test_one_task_can_be_run_with_two_models(evaluations):
    log = evaluations[0]["two models"]
    assert (log["status"], log["stopping"]["problem"]) == ("success", None)
    assert log["samples"] < 200


def test_the_hook_can_be_turned_off(evaluations, tmp_path):
    report, output = evaluate(tmp_path / "off", "off")
    assert report["good"]["metadata"] is None
    assert "abovechance:" not in output
