"""The gate: decisions by hand, simulated wrong decisions, and the command with its files and exit status."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from math import isnan
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
import yaml
from scipy import stats

from abovechance.compare.comparison import headline_of, sample_of
from abovechance.compare.gate import GateDifference, decide, gate
from abovechance.compare.responses import Responses, arrange
from abovechance.core.errors import InputError
from abovechance.core.estimates import Spread
from tests.bench.gate import largest_errors, lower_ends
from tests.conftest import REPOSITORY
from tests.doctor.logs import sound, write_texts
from tests.importers.test_lm_eval import lm_sample, write_lm
from tests.running import run


def difference_of(responses: Responses) -> GateDifference:
    return GateDifference.from_sample(sample_of(responses))


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
    class Interval(GateDifference):
        def low(self, alpha):
            return low

        def high(self, alpha):
            return high

    assert decide(Interval(0, Spread((0,), (1,)), 0, 0, 0), margin=0.02, alpha=0.05) == decision


def test_the_interval_is_close_to_that_of_the_comparison_if_many_examples_differ():
    generator = np.random.default_rng(0)
    reference = (generator.random(3000) < 0.6).astype(float)
    candidate = np.where(generator.random(3000) < 0.2, 1 - reference, reference)
    responses = responses_of(candidate, reference)
    result = gate(responses, margin=0.05)
    estimate = headline_of(responses[0], confidence=0.9)
    assert (result.low, result.high) == pytest.approx((estimate.low, estimate.high), abs=0.0005)
    assert result.difference == pytest.approx(candidate.mean() - reference.mean())


@pytest.mark.parametrize(
    ("examples", "alpha"),
    [(20, 0.05), (50, 0.05), (200, 0.05), (1000, 0.05), *((20, alpha) for alpha in (0.01, 0.1, 0.2, 0.4))],
)
def test_wrong_decisions_of_one_prompt_have_at_most_the_stated_probability(examples, alpha):
    assert max(largest_errors(examples, alpha)) <= alpha


@pytest.mark.parametrize("alpha", [0.0001, 0.05, 0.1, 0.2, 0.4])
def test_a_loss_that_would_often_not_be_seen_is_not_excluded(alpha):
    scores = np.ones(200)
    assert gate(responses_of(scores, scores), 0.0, alpha).low <= -(1 - alpha ** (1 / 200))


def test_the_interval_is_computed_from_the_responses():
    # 4 gains and 9 losses of 200
    reference = np.repeat([0.0, 1.0], 100)
    candidate = reference.copy()
    candidate[:4], candidate[100:109] = 1.0, 0.0
    result = gate(responses_of(candidate, reference), margin=0.01)
    gains, losses, low = lower_ends(200, 20)
    assert result.low == pytest.approx(low[(gains == 4) & (losses == 9)][0])


def test_the_same_results_are_not_worse():
    scores = np.array([0.0, 1.0] * 20)
    assert gate(responses_of(scores, scores), margin=0.1).decision == "not worse"
    # 40 examples are too few to exclude a loss of one point
    assert gate(responses_of(scores, scores), margin=0.01).decision == "cannot tell"


RARE = np.random.default_rng(0)


def changed(examples: int, gain: float, loss: float) -> tuple[np.ndarray, np.ndarray]:
    """Candidate and reference with gains and losses of these probabilities."""
    draws = RARE.random(examples)
    difference = np.where(draws < gain, 1.0, np.where(draws < gain + loss, -1.0, 0.0))
    reference = np.where(difference == 0, RARE.random(examples) < 0.6, difference < 0).astype(float)
    return reference + difference, reference


def prompted(examples: int, gain: float, loss: float, prompts: int) -> list[Responses]:
    """The same answers under several prompts."""
    candidate, reference = changed(examples, gain, loss)
    scores = np.stack([np.tile(candidate, (prompts, 1)), np.tile(reference, (prompts, 1))])
    return [of_scores(scores, np.arange(examples))]


def of_scores(scores: np.ndarray, clusters: np.ndarray) -> Responses:
    """Responses of (models, prompts, examples)."""
    names = [f"p{number}" for number in range(scores.shape[1])]
    examples = [str(number) for number in range(scores.shape[2])]
    seeds = [scores[0][None], scores[1][None]]
    return Responses("t", 0, ["candidate", "reference"], names, examples, scores, seeds, clusters, [])


def lost_clusters() -> list[Responses]:
    """50 clusters of 4 examples; the candidate loses 6 % of the clusters."""
    lost = np.repeat(RARE.random(50) < 0.06, 4)
    return [of_scores(np.stack([1.0 - lost, np.ones(200)])[:, None], np.repeat(np.arange(50), 4))]


def of_prompts(prompts: int) -> list[Responses]:
    """Equal models with deviations of 5 points under each prompt."""
    scores = RARE.normal(size=200) + RARE.normal(0, 0.7, (2, prompts, 200))
    return [of_scores((scores + RARE.normal(0, 0.125, (2, prompts, 1)) > 0).astype(float), np.arange(200))]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("draw", "margin", "wrong", "runs"),
    [
        (lambda: prompted(50, 0, 0.06, 2), 0.06, ("better", "not worse"), 600),
        (lambda: prompted(200, 0.002, 0.022, 5), 0.02, ("better", "not worse"), 150),
        pytest.param(
            lambda: prompted(1000, 0.0, 0.003, 2),
            0.003,
            ("better", "not worse"),
            150,
            marks=pytest.mark.slow,
        ),
        pytest.param(lambda: of_prompts(5), 0.0, ("better",), 200, marks=pytest.mark.slow),
        (lambda: of_prompts(10), 0.0, ("worse",), 200),
        (lost_clusters, 0.06, ("better", "not worse"), 200),
        pytest.param(
            lambda: responses_of(*changed(200, 0.002, 0.022), 4),
            0.02,
            ("better", "not worse"),
            400,
            marks=pytest.mark.slow,
        ),
        pytest.param(
            lambda: responses_of(*changed(200, 0.1, 0.1), 4), 0.0, ("worse",), 400, marks=pytest.mark.slow
        ),
    ],
)
def test_wrong_decisions_of_prompts_clusters_and_tasks(draw, margin, wrong, runs):
    """At most 5 %, as far as a simulation shows it (three standard errors)."""
    count = sum(gate(draw(), margin).decision in wrong for _ in range(runs))
    assert count <= 0.05 * runs + 3 * np.sqrt(0.05 * 0.95 * runs)


def test_one_bad_task_is_worse():
    generator = np.random.default_rng(1)
    reference = (generator.random(800) < 0.6).astype(float)
    candidate = reference.copy()
    flips = np.flatnonzero(reference[:600] == 0)[:60]
    candidate[flips] = 1.0  # better on three tasks
    candidate[600 + np.flatnonzero(reference[600:] == 1)[:30]] = 0.0
    result = gate(responses_of(candidate, reference, tasks=4), margin=0.02)
    assert result.difference > 0
    assert (result.decision, result.worse_tasks) == ("worse", ["t3 (0-shot)"])
    assert result.sentence.startswith("The candidate is worse on t3 (0-shot) (mean of 4 tasks: +")


def test_a_task_that_is_worse_by_less_than_the_margin_is_no_reason():
    reference = np.tile([0.0, 1.0], 4000)
    candidate = reference.copy()
    candidate[1:120:2] = 0.0  # the first task is 1.5 points worse
    result = gate(responses_of(candidate, reference, tasks=2), margin=0.05)
    assert result.tasks["worse_holm"].iloc[0] < 0.001
    assert (result.decision, result.worse_tasks) == ("not worse", [])


def test_equal_results_of_several_tasks_and_prompts_are_decided():
    scores = np.array([0.0, 1.0] * 400)
    assert gate(responses_of(scores, scores, tasks=4), margin=0.02).decision == "not worse"
    # all wrong under one prompt and all right under the other: every example loses a half
    collapse = np.stack([np.stack([np.zeros(100), np.ones(100)]), np.ones((2, 100))])
    result = gate([of_scores(collapse, np.arange(100))], margin=0.02)
    assert (result.decision, result.about) == ("worse", "for these 2 prompts only")
    assert -0.55 < result.low < -0.5 < result.high < -0.45
    assert result.sentence.startswith(
        "For these 2 prompts only: The candidate is worse than the reference (-50.0"
    )


def test_a_mean_that_is_worse_only_without_correction_is_no_decision():
    first = replace(of_scores_with(60, 9, 19), task="first")
    second = replace(of_scores_with(2000, 0, 20), task="second")  # surely worse, but by less than the margin
    result = gate([first, second], margin=0.02)
    assert result.high < 0  # worse, if it were the only test
    assert result.tasks["decision"].tolist() == ["worse", "not worse"]
    # 19 losses and 9 gains have p = .04 (binomial), the least but one of three
    assert 0.05 < result.tasks["worse_holm"].iloc[0] < 2 * stats.binomtest(9, 28, alternative="less").pvalue
    assert (result.decision, result.worse_tasks) == ("cannot tell", [])


def test_a_single_cluster_and_two_clusters():
    scores = np.stack([np.ones((1, 20)), np.zeros((1, 20))])
    single = gate([of_scores(scores, np.zeros(20))], margin=0.02)
    assert (single.decision, single.low, single.high, isnan(single.needed)) == ("cannot tell", -1, 1, True)
    # the standard error over two clusters is half of their difference; Student's t with 1 degree of freedom
    scores[1, 0, :8] = 1.0
    two = GateDifference.from_sample(sample_of(of_scores(scores, np.repeat([0, 1], 10))))
    assert (two.value, two.spread.variances[-1]) == (pytest.approx(0.6), pytest.approx(0.4**2))
    assert (two.low(0.05), two.high(0.05)) == (-1, 1)
    assert two.low(0.4) > -1


def test_an_interval_around_zero_has_the_variance_that_it_implies():
    # the variance at an end grows by a slope for each unit of the distance
    difference = GateDifference(0.0, Spread((0.001,), (np.inf,)), 0.01, 0.0005, 0.0005)
    q = stats.norm.isf(0.05)
    assert difference.low(0.05) == -difference.high(0.05)
    distance = difference.high(0.05) - 0.01 / 2 - 0.001 / 2
    pseudo = (q * 0.01) ** 2
    slope = 0.01 * (2 * (0.0005 + pseudo) / (0.001 + pseudo) - 1)
    assert distance**2 == pytest.approx(q**2 * (0.001 + slope * distance))


def test_a_large_cluster_does_not_widen_the_interval_by_its_size():
    """Of 1,000 examples, 50 are one cluster; answers do not depend on it."""
    generator = np.random.default_rng(4)
    clusters = np.concatenate([np.zeros(50), np.arange(1, 951)])
    differences = generator.choice([-1, 0, 1], 1000, p=[0.2, 0.7, 0.1])
    reference = np.where(differences == 0, generator.random(1000) < 0.6, differences < 0).astype(float)
    scores = np.stack([reference + differences, reference])[:, None]
    result, alone = (gate([of_scores(scores, codes)], 0.02) for codes in (clusters, np.arange(1000)))
    assert (result.decision, alone.decision) == ("worse", "worse")
    assert result.high - result.low < 1.5 * (alone.high - alone.low)


def test_wrong_responses_are_named():
    scores = np.array([0.0, 1.0] * 50)
    first, second = responses_of(scores, scores, tasks=2)
    swapped = replace(second, models=["reference", "candidate"])
    with pytest.raises(InputError) as error:
        gate([first, swapped], margin=0)
    assert str(error.value) == (
        "t1: models are reference, candidate; expected candidate, reference in this order, as on t0"
    )
    with pytest.raises(InputError) as error:
        gate(responses_of(100 * scores, scores), margin=0)
    assert str(error.value) == "t0: scores are not from 0 to 1, as the gate expects"


def test_the_number_of_examples_that_would_decide():
    # equal on average, different on 20 of 100 examples
    reference = np.array([0.0, 1.0] * 50)
    candidate = reference.copy()
    candidate[:20] = 1 - candidate[:20]
    small = gate(responses_of(candidate, reference), margin=0.05)
    assert (small.decision, small.difference) == ("cannot tell", 0.0)
    # the standard error of the difference is the square root of .2 / n
    expected = 0.2 * ((stats.norm.isf(0.05) + stats.norm.isf(0.2)) / 0.05) ** 2
    assert small.needed == pytest.approx(expected, rel=0.1)
    assert (
        f"decide with a probability of 80% with about {int(np.ceil(small.needed)):,} examples instead of"
        in small.sentence
    )
    large = gate(responses_of(np.tile(candidate, 20), np.tile(reference, 20)), margin=0.05)
    assert large.decision == "not worse"
    assert isnan(large.needed)


def test_the_number_of_examples_holds_in_simulation():
    needed = int(np.ceil(gate([of_scores_with(100, 6, 4)], margin=0.03).needed))
    decided = sum(
        gate(responses_of(*changed(needed, 0.06, 0.04)), 0.03).decision != "cannot tell" for _ in range(60)
    )
    assert decided >= 38  # of 48 expected


def test_the_number_of_examples_accounts_for_the_adjustment_for_tasks():
    results = [gate(responses_of(*changed(960, 0.045, 0.07), tasks=8), margin=0.0) for _ in range(20)]
    unclear = next(result for result in results if result.decision == "cannot tell" and result.high < 0)
    assert "The candidate is worse (mean of 8 tasks: " in unclear.sentence
    assert "), but not after adjustment for 8 tasks and their mean. If the true" in unclear.sentence
    needed = int(np.ceil(unclear.needed / 8))
    gain, loss = 0.045, 0.045 - unclear.difference
    decided = sum(
        gate(responses_of(*changed(8 * needed, gain, loss), tasks=8), 0.0).decision != "cannot tell"
        for _ in range(40)
    )
    assert decided >= 24  # of 32 expected; of 19, if only the interval decided


def of_scores_with(examples: int, gains: int, losses: int) -> Responses:
    """One prompt with so many gains and losses."""
    reference = np.arange(examples) >= gains
    candidate = np.arange(examples) < examples - losses
    return of_scores(np.stack([candidate, reference])[:, None].astype(float), np.arange(examples))


def test_examples_are_needed_also_for_equal_answers_and_do_not_replace_prompts():
    scores = np.array([0.0, 1.0] * 50)
    equal = gate(responses_of(scores, scores), margin=0.01)
    assert equal.decision == "cannot tell"
    repeated = np.tile(scores, int(np.ceil(equal.needed / 100)) + 1)
    assert gate(responses_of(repeated, repeated), margin=0.01).decision == "not worse"
    # prompts differ much more than examples
    scores = np.zeros((2, 6, 400))
    scores[0, ::2], scores[1, 1::2] = 1.0, 1.0
    result = gate([of_scores(scores, np.arange(400))], margin=0.02)
    assert (result.decision, isnan(result.needed)) == ("cannot tell", True)
    assert "More examples alone would not decide" in result.sentence


def test_more_examples_reduce_their_part_of_the_variance_only():
    difference = GateDifference(0.1, Spread((0.02, 0.03), (9, 99)), 0.01, 0.004, 0.002)
    assert difference.with_examples(1) == difference
    more = difference.with_examples(4)
    assert more.spread.standard_error**2 == pytest.approx(0.02 + 0.03 / 4)
    assert (more.unit, more.gains, more.losses) == pytest.approx((0.0025, 0.001, 0.0005))


def test_sentences_without_a_margin_and_with_one_point():
    scores = np.array([0.0, 1.0] * 50)
    assert "do not exclude that the candidate is worse (" in gate(responses_of(scores, scores), 0.0).sentence
    assert "worse by 1 point or more (" in gate(responses_of(scores, scores), 0.01).sentence


def files(tmp_path, correct, reference):
    for name, count in (("new", correct), ("old", reference)):
        rows = "".join(f"{place},{int(place < count)}\n" for place in range(200))
        (tmp_path / f"{name}.csv").write_text(f"example,correct\n{rows}")
    return str(tmp_path / "new.csv"), str(tmp_path / "old.csv")


@pytest.mark.parametrize(
    ("correct", "margin", "decision", "status"),
    [
        (150, "0.02", "better", 0),
        (99, "0.04", "not worse", 0),
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


def test_a_folder_with_tasks_and_identical_paths(tmp_path):
    for side, correct in (("new", 60), ("old", 30)):
        for task in ("arc", "boolq"):
            folder = tmp_path / side
            folder.mkdir(exist_ok=True)
            rows = "".join(f"{place},{int(place < correct)}\n" for place in range(100))
            (folder / f"{task}.csv").write_text(f"example,correct\n{rows}")
    completed = run("gate", str(tmp_path / "new"), str(tmp_path / "old"), "--json")
    assert completed.returncode == 0
    report = json.loads(completed.stdout)
    assert [row["task"] for row in report["tasks"]] == ["arc", "boolq"]
    shutil.copytree(tmp_path / "old", tmp_path / "copy")
    assert run("gate", str(tmp_path / "old"), str(tmp_path / "copy"), "-m", "0.1").returncode == 0


def test_a_run_is_not_compared_with_itself(tmp_path):
    """As in an action whose two inputs are the same folder by mistake."""
    file = tmp_path / "a.csv"
    file.write_text("example,correct\n" + "".join(f"e{place},{place % 2}\n" for place in range(100)))
    link = tmp_path / "again.csv"
    link.symlink_to(file)
    for paths, message in (
        ([file, file], "is given twice"),
        ([file, f"{tmp_path}/./a.csv"], "are files of"),
        ([link, file], "are files of"),
        ([tmp_path, file], "are files of"),
    ):
        completed = run("gate", *map(str, paths), "--margin", "0.1")
        assert completed.returncode == 3
        assert message in completed.stderr


def test_missing_results_of_the_candidate_are_an_error_unless_allowed(tmp_path):
    lines = [f"{place},{int(place % 3 == 0)},{task}" for task in ("arc", "boolq") for place in range(60)]
    (tmp_path / "old.csv").write_text("\n".join(["example,correct,task", *lines]))
    (tmp_path / "new.csv").write_text("\n".join(["example,correct,task", *lines[:50]]))
    paths = [str(tmp_path / "new.csv"), str(tmp_path / "old.csv")]
    completed = run("gate", *paths)
    assert completed.returncode == 3
    assert "lacks results of" in completed.stderr
    assert "10 of 60 examples of arc, 0-shot; boolq, 0-shot" in completed.stderr
    report = json.loads(run("gate", *paths, "--allow-missing", "--json").stdout)
    assert "the candidate lacks results of the reference: 10 of 60" in report["notes"][-1]


@pytest.mark.parametrize("shift", [0, 1])
def test_examples_that_are_numbered_differently_are_noted(tmp_path, shift):
    """The two sides are read separately, and their examples have the same names."""
    texts = [" apple", " river"]
    for side, offset in (("new", 0), ("old", shift)):
        samples = []
        for place in range(40):
            number = (place + offset) % 40
            gold = number % 2
            requests = {
                f"gen_args_{choice}": {"arg_0": f"Question {number}?", "arg_1": f"{text} {number}"}
                for choice, text in enumerate(texts)
            }
            scores = [-1.0 - number / 100, -2.0 + number / 50 - (side == "old")]
            sample = lm_sample(place, scores, gold)
            samples.append(sample | {"doc": {"text": f"Question {number}?"}, "arguments": requests})
        write_lm(tmp_path / side, samples)
    completed = run("gate", str(tmp_path / "new"), str(tmp_path / "old"), "--json")
    notes = " ".join(json.loads(completed.stdout)["notes"])
    assert ("have another question than in" in notes) == bool(shift)
    assert ("looks broken: 40 of 40 examples (100 %) have another" in completed.stderr) == bool(shift)


def test_different_metrics_and_lower_is_better_are_errors(tmp_path):
    for name in ("a", "b"):
        write_texts(sound(3, 40), tmp_path / name)
    path = next((tmp_path / "b").glob("samples_*.jsonl"))
    path.write_text(path.read_text().replace("exact_match", "acc"))
    completed = run("gate", str(tmp_path / "a"), str(tmp_path / "b"))
    assert completed.returncode == 3
    assert "have different metrics: task: acc,strict-match, exact_match,strict-match" in completed.stderr
    shutil.rmtree(tmp_path / "b")
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    results = next((tmp_path / "a").glob("results_*.json"))
    content = json.loads(results.read_text()) | {"higher_is_better": {"task": {"exact_match": False}}}
    results.write_text(json.dumps(content))
    completed = run("gate", str(tmp_path / "a"), str(tmp_path / "b"))
    assert "exact_match is better if it is lower" in completed.stderr


@pytest.mark.parametrize(
    "arguments", [["gate", "a.csv"], ["gate", "no.csv", "no.csv"], ["gate", "a", "b", "--margn", "1"]]
)
def test_errors_have_a_status_that_no_decision_has(arguments, tmp_path):
    assert run(*arguments, folder=tmp_path).returncode == 3
    assert run("check", "no.csv", "--gate", folder=tmp_path).returncode == 3


@pytest.mark.parametrize(("correct", "status"), [(150, 0), (55, 1)])
def test_check_as_a_gate(tmp_path, correct, status):
    path, _ = files(tmp_path, correct, 100)
    arguments = ["check", path, "--prompts", "1", "--choices", "4"]
    reports = ["--junit", str(tmp_path / "check.xml"), "--summary", str(tmp_path / "check.md")]
    completed = run(*arguments, "--gate", *reports)
    assert completed.returncode == status
    assert ("examples would show it with a probability of 80%" in completed.stdout) == bool(status)
    suite = ElementTree.parse(tmp_path / "check.xml").getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("1", str(status))
    assert (tmp_path / "check.md").read_text().startswith("### abovechance check\n\nThe best score")
    assert run(*arguments).returncode == 0
    assert run(*arguments, "--gate", "--exit", "no=5", "--exit", "yes=5").returncode == 5
    assert "--summary has no effect without --gate" in run(*arguments, *reports[2:]).stderr


def test_more_examples_are_no_advice_if_rounding_decides(tmp_path):
    (tmp_path / "s.csv").write_text("best_accuracy,examples,choices,prompts\n0.6,200,2,1\n")
    completed = run("check", str(tmp_path / "s.csv"), "--gate")
    assert "better than chance: unclear (" in completed.stdout
    assert "examples would show it" not in completed.stdout


def test_a_gate_of_many_scores_gives_the_adjusted_p_that_decides(tmp_path):
    rows = [f"{n},{0.64 if n == 7 else 0.5},100,2,1" for n in range(31)]
    board = tmp_path / "scores.csv"
    board.write_text("\n".join(["model,best_accuracy,examples,choices,prompts", *rows]))
    run("check", str(board), "--gate", "--junit", str(tmp_path / "check.xml"))
    text = (tmp_path / "check.xml").read_text()
    assert "better than chance: no (best accuracy 0.6400; adjusted p = 0.1" in text
    assert "examples would show it" not in text


def test_junit_and_summary(tmp_path):
    paths = files(tmp_path, 60, 100)
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    completed = run("gate", *paths, "--junit", str(tmp_path / "gate.xml"), "--summary", str(summary))
    assert completed.returncode == 1
    suite = ElementTree.parse(tmp_path / "gate.xml").getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("2", "2")
    assert "The candidate is worse" in suite.find("testcase/failure").get("message")
    text = summary.read_text()
    assert text.startswith("before\n### abovechance gate: worse\n\nThe candidate is worse")
    assert "| task" in text


def test_names_cannot_break_the_summary(tmp_path):
    for name, correct in (("new", 60), ("old", 61)):
        rows = "".join(
            f"{place},{int(place < correct)},a|b <script> `x` {'long ' * 40}\n" for place in range(200)
        )
        (tmp_path / f"{name}.csv").write_text(f"example,correct,task\n{rows}")
    summary = tmp_path / "summary.md"
    run("gate", str(tmp_path / "new.csv"), str(tmp_path / "old.csv"), "--summary", str(summary))
    (row,) = [line for line in summary.read_text().splitlines() if line.startswith("| a")]
    assert row.count(" | ") == 9
    assert "a\\|b \\<script\\> \\`x\\` long" in row
    assert len(row) < 400


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--exit", "good=0"],
            "--exit has 'good=0'; expected one of better, not-worse, worse, cannot-tell, = and",
        ),
        (["--exit", "worse=300"], "--exit has 'worse=300'"),
        (["--junit", "gate.txt"], "--junit gate.txt: expected a name that ends in .xml"),
        (["--summary", "no/such/folder.md"], "--summary no/such/folder.md: cannot be written"),
    ],
)
def test_wrong_options(tmp_path, arguments, message):
    completed = run("gate", *files(tmp_path, 60, 100), *arguments)
    assert completed.returncode == 3
    assert message in completed.stderr


def act(tmp_path: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    """Run the composite action's step with the files and variables of GitHub's runner."""
    step = yaml.safe_load((REPOSITORY / "action.yml").read_text())["runs"]["steps"][1]
    environment = {"CANDIDATE": "new.csv", "REFERENCE": "old.csv", "MARGIN": "0.02", "OPTIONS": ""} | inputs
    assert {*step["env"]} == {*environment}
    environment = (
        os.environ
        | environment
        | {"GITHUB_STEP_SUMMARY": "summary.md", "GITHUB_OUTPUT": "output.txt", "RUNNER_TEMP": str(tmp_path)}
    )
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)


@pytest.mark.parametrize(("correct", "decision", "status"), [(150, "better", 0), (60, "worse", 1)])
def test_the_step_of_the_action(tmp_path, correct, decision, status):
    files(tmp_path, correct, 100)
    completed = act(tmp_path, OPTIONS="--alpha 0.05 --json")
    assert completed.returncode == status, completed.stderr
    assert completed.stdout.startswith(f"{decision}: The candidate is {decision}")
    junit, output = (tmp_path / "output.txt").read_text().splitlines()
    assert output == f"decision={decision}"
    assert f"abovechance gate: {decision}" in (tmp_path / "summary.md").read_text()
    assert Path(junit.removeprefix("junit=")).is_file()


def test_the_action_runs_no_code_of_the_checked_out_repository(tmp_path):
    files(tmp_path, 150, 100)
    for name in ("json.py", "typer.py", "gate.json"):
        (tmp_path / name).write_text("raise SystemExit('hijacked')")
    completed = act(tmp_path)
    assert completed.returncode == 0, completed.stderr
    assert "hijacked" not in completed.stdout + completed.stderr
    assert (tmp_path / "gate.json").read_text() == "raise SystemExit('hijacked')"
    install = yaml.safe_load((REPOSITORY / "action.yml").read_text())["runs"]["steps"][0]["run"]
    assert install.startswith("python -I -m pip install")


@pytest.mark.parametrize(
    "inputs", [{"CANDIDATE": "--help"}, {"OPTIONS": "--help"}, {"OPTIONS": "*"}, {"MARGIN": ""}]
)
def test_the_step_of_the_action_never_passes_without_a_decision(tmp_path, inputs):
    files(tmp_path, 150, 100)
    assert act(tmp_path, **inputs).returncode == 3
    assert "decision" not in (tmp_path / "output.txt").read_text()
    assert "abovechance gate: error" in (tmp_path / "summary.md").read_text()
