"""The gate: decisions by hand, simulated wrong decisions, and the command with its files and exit status."""

import json
import os
import subprocess
import sys
from math import isnan
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
import yaml
from scipy import stats

from abovechance.compare.comparison import headline_of
from abovechance.compare.gate import decide, gate
from abovechance.compare.responses import arrange
from abovechance.core.errors import InputError
from abovechance.core.estimates import Estimate
from tests.conftest import REPOSITORY
from tests.running import run


def responses_of(candidate: np.ndarray, reference: np.ndarray, tasks: int = 1) -> list:
    """Return the responses of both on tasks of equal size."""
    parts = []
    for name, scores in (("candidate", candidate), ("reference", reference)):
        for task, part in enumerate(np.array_split(scores, tasks)):
            parts.append(
                pd.DataFrame(
                    {"model": name, "task": f"t{task}", "shots": 0, "prompt": "p", "score": part}
                    | {"example": np.arange(len(part)).astype(str)}
                )
            )
    return [*arrange(pd.concat(parts, ignore_index=True), {})]


@pytest.mark.parametrize(
    ("low", "high", "decision"),
    [
        (0.01, 0.05, "better"),
        (0.0, 0.05, "not worse"),
        (-0.019, 0.05, "not worse"),
        (-0.019, -0.001, "not worse"),  # a little worse, but not by the margin
        (-0.02, 0.05, "cannot tell"),
        (-0.05, 0.0, "cannot tell"),
        (-0.05, -0.001, "worse"),
    ],
)
def test_decisions_of_intervals(low, high, decision):
    assert decide(Estimate((low + high) / 2, 0.01, low, high), margin=0.02) == decision


def test_the_interval_is_that_of_the_comparison():
    generator = np.random.default_rng(0)
    reference = (generator.random(300) < 0.6).astype(float)
    candidate = np.where(generator.random(300) < 0.2, 1 - reference, reference)
    responses = responses_of(candidate, reference)
    result = gate(responses, margin=0.05)
    estimate = headline_of(responses[0], confidence=0.9)
    assert (result.difference, result.low, result.high) == (estimate.value, estimate.low, estimate.high)
    assert result.difference == pytest.approx(candidate.mean() - reference.mean())


def test_the_same_results_are_not_worse():
    scores = np.array([0.0, 1.0] * 20)
    assert gate(responses_of(scores, scores), margin=0.1).decision == "not worse"
    # 40 examples are too few to exclude a loss of one point
    assert gate(responses_of(scores, scores), margin=0.01).decision == "cannot tell"


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("examples", "tasks", "runs"),
    [(50, 1, 200), (200, 1, 200), (1000, 1, 100), pytest.param(200, 4, 100, marks=pytest.mark.slow)],
)
def test_wrong_decisions(examples, tasks, runs):
    """Equal models are called better, and models worse by the margin not worse, in at most 5 % of runs."""
    margin, wrong = 0.1, {"better": 0, "not worse": 0}
    for seed in range(runs):
        generator = np.random.default_rng(seed)
        difficulty = generator.random(examples)
        reference = (generator.random(examples) < difficulty).astype(float)
        equal = (generator.random(examples) < difficulty).astype(float)
        wrong["better"] += gate(responses_of(equal, reference, tasks), margin).decision == "better"
        worse = equal * (generator.random(examples) >= 2 * margin)  # the mean falls from .5 to .4
        decision = gate(responses_of(worse, reference, tasks), margin).decision
        wrong["not worse"] += decision in ("better", "not worse")
    assert max(wrong.values()) <= stats.binom(runs, 0.05).ppf(0.9999)


def test_one_bad_task_is_worse():
    generator = np.random.default_rng(1)
    reference = (generator.random(800) < 0.6).astype(float)
    candidate = reference.copy()
    flips = np.flatnonzero(reference[:600] == 0)[:60]
    candidate[flips] = 1.0  # better on three tasks
    candidate[600 + np.flatnonzero(reference[600:] == 1)[:30]] = 0.0
    result = gate(responses_of(candidate, reference, tasks=4), margin=0.02)
    assert result.difference > 0
    assert (result.decision, result.worse_tasks) == ("worse", ["t3"])
    assert "It is worse on t3, after adjustment for all tasks." in result.sentence


def test_a_task_that_is_worse_by_less_than_the_margin_is_no_reason():
    reference = np.tile([0.0, 1.0], 4000)
    candidate = reference.copy()
    candidate[1:120:2] = 0.0  # the first task is 1.5 points worse
    result = gate(responses_of(candidate, reference, tasks=2), margin=0.05)
    assert result.tasks["worse_holm"].iloc[0] < 0.001
    assert (result.decision, result.worse_tasks) == ("not worse", [])


def test_without_an_interval_there_is_no_decision():
    scores = np.array([0.5, 0.25])  # not right or wrong, and equal: nothing shows how they vary
    assert gate(responses_of(scores, scores), margin=0.1).decision == "cannot tell"


def test_the_number_of_examples_that_would_decide():
    # equal on average, different on 20 of 100 examples
    reference = np.array([0.0, 1.0] * 50)
    candidate = reference.copy()
    candidate[:20] = 1 - candidate[:20]
    small = gate(responses_of(candidate, reference), margin=0.05)
    assert (small.decision, small.difference) == ("cannot tell", 0.0)
    # the standard error of the difference is the square root of .2 / n
    expected = 0.2 * ((stats.norm.isf(0.05) + stats.norm.isf(0.2)) / 0.05) ** 2
    assert small.needed == pytest.approx(expected, rel=0.05)
    assert f"About {int(np.ceil(small.needed)):,} examples would decide, instead of 100." in small.sentence
    large = gate(responses_of(np.tile(candidate, 20), np.tile(reference, 20)), margin=0.05)
    assert large.decision == "not worse"
    assert isnan(large.needed)


@pytest.mark.parametrize(("margin", "alpha"), [(-0.1, 0.05), (2, 0.05), (0.1, 0.5), (0.1, 0.0)])
def test_impossible_values(margin, alpha):
    with pytest.raises(InputError, match="expected a number"):
        gate(responses_of(np.ones(4), np.zeros(4)), margin, alpha)


def test_without_a_common_task():
    with pytest.raises(InputError, match="no task in common"):
        gate([], 0.1)


def files(tmp_path, correct, reference):
    for name, count in (("new", correct), ("old", reference)):
        rows = "".join(f"{place},{int(place < count)}\n" for place in range(200))
        (tmp_path / f"{name}.csv").write_text(f"example,correct\n{rows}")
    return str(tmp_path / "new.csv"), str(tmp_path / "old.csv")


@pytest.mark.parametrize(
    ("correct", "margin", "decision", "status"),
    [
        (150, "0.02", "better", 0),
        (99, "0.03", "not worse", 0),
        (60, "0.02", "worse", 1),
        (98, "0.005", "cannot tell", 2),
    ],
)
def test_exit_status_and_json(tmp_path, correct, margin, decision, status):
    paths = files(tmp_path, correct, 100)
    completed = run("gate", *paths, "--margin", margin, "--json")
    report = json.loads(completed.stdout)
    assert (report["decision"], completed.returncode, report["status"]) == (decision, status, status)
    assert report["difference"] == pytest.approx((correct - 100) / 200)
    assert run("gate", *paths, "-m", margin, "--exit", f"{decision.replace(' ', '-')}=7").returncode == 7
    output = run("gate", *paths, "-m", margin).stdout
    assert output.startswith(f"{decision}: The ")


@pytest.mark.parametrize(("correct", "status"), [(150, 0), (60, 1)])
def test_check_as_a_gate(tmp_path, correct, status):
    path, _ = files(tmp_path, correct, 100)
    arguments = ["check", path, "--prompts", "1", "--choices", "4"]
    assert run(*arguments, "--gate").returncode == status
    assert run(*arguments).returncode == 0


def test_junit_and_summary(tmp_path):
    paths = files(tmp_path, 60, 100)
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    completed = run("gate", *paths, "--junit", str(tmp_path / "gate.xml"), "--summary", str(summary))
    assert completed.returncode == 1
    suite = ElementTree.parse(tmp_path / "gate.xml").getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    assert "The candidate is worse" in suite.find("testcase/failure").get("message")
    text = summary.read_text()
    assert text.startswith("before\n### abovechance gate: worse\n\nThe candidate is worse")
    assert "| task" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--exit", "good=0"], "--exit has 'good=0'; expected DECISION=STATUS"),
        (["--exit", "worse=300"], "--exit has 'worse=300'"),
        (["--junit", "gate.txt"], "--junit gate.txt: expected a name that ends in .xml"),
    ],
)
def test_wrong_options(tmp_path, arguments, message):
    completed = run("gate", *files(tmp_path, 60, 100), *arguments)
    assert completed.returncode == 1
    assert message in completed.stderr


@pytest.mark.thorough
@pytest.mark.parametrize(("correct", "decision", "status"), [(150, "better", 0), (60, "worse", 1)])
def test_the_step_of_the_action(tmp_path, correct, decision, status):
    """The composite action's step, with the files and variables of GitHub's runner."""
    files(tmp_path, correct, 100)
    step = yaml.safe_load((REPOSITORY / "action.yml").read_text())["runs"]["steps"][1]
    inputs = {"CANDIDATE": "new.csv", "REFERENCE": "old.csv", "MARGIN": "0.02", "OPTIONS": "--alpha 0.05"}
    assert {*step["env"]} == {*inputs}
    environment = os.environ | inputs
    environment |= {"GITHUB_STEP_SUMMARY": "summary.md", "GITHUB_OUTPUT": "output.txt"}
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    completed = subprocess.run(["bash", "-e", "-c", step["run"]], cwd=tmp_path, env=environment)
    assert completed.returncode == status
    assert (tmp_path / "output.txt").read_text() == f"decision={decision}\n"
    assert f"abovechance gate: {decision}" in (tmp_path / "summary.md").read_text()
    assert (tmp_path / "gate.xml").exists()
