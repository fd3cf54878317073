"""Gold answers drawn anew keep what the null hypothesis keeps, and answers are checked and simulated."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import f1_score

from abovechance.chance import gold as gold_answers
from abovechance.chance.randomization import (
    Answers,
    effective_prompts,
    for_verdicts,
    randomization_test,
    randomize,
)
from abovechance.core.errors import InputError
from abovechance.core.settings import SETTING
from tests.chance.test_randomization import a_study, answers, draws_of, result_of


def study_of(texts: list[list[int]], correct: list[list[int]], cluster: list[int] | None = None) -> Answers:
    """Examples with the numbers of their choices' texts, and the places of their correct choices."""
    width = max(map(len, texts))
    available = np.array([[place < len(row) for place in range(width)] for row in texts])
    return Answers(
        predicted=np.zeros((1, len(texts)), int),
        evaluated=np.ones((1, len(texts)), bool),
        correct=np.array([[place in row for place in range(width)] for row in correct]),
        available=available,
        shared=False,
        texts=np.array([row + [-1] * (width - len(row)) for row in texts]),
        cluster=cluster,
    )


def patterns(study: Answers, number: int = 400) -> set[tuple[tuple[int, ...], ...]]:
    """The places of the correct choices of all examples, in each draw."""
    return {tuple(tuple(np.flatnonzero(row).tolist()) for row in draw) for draw in draws_of(study, number)}


def test_several_correct_choices_of_shared_labels_move_together():
    study = study_of([[0, 1, 2]] * 3, [[0, 1], [2], [2]])
    assert patterns(study) == {((0, 1), (2,), (2,)), ((2,), (0, 1), (2,)), ((2,), (2,), (0, 1))}


def test_a_shared_label_moves_with_an_own_one_to_examples_of_the_same_form():
    """Each has a shared choice 0 and two of its own; two answers of one example stay together."""
    study = study_of([[0, 1, 2], [0, 3, 4]], [[0, 1], [2]])
    pairs, singles = [(0, 1), (0, 2)], [(1,), (2,)]
    assert patterns(study) == {(a, b) for a in pairs for b in singles} | {
        (b, a) for a in pairs for b in singles
    }


def test_a_shared_label_moves_to_an_example_with_more_choices_of_its_own():
    study = study_of([[0, 1], [0, 2, 3]], [[0], [1]])
    assert patterns(study) == {((0,), (1,)), ((0,), (2,)), ((1,), (0,))}


def test_a_cluster_has_no_labels_that_its_members_lack():
    study = study_of([[0, 1], [0, 1], [0, 2], [0, 2]], [[0], [1], [0], [1]], cluster=[0, 0, 1, 1])
    assert patterns(study) == {((0,), (1,), (0,), (1,))}
    assert randomization_test(study, draws=19).fixed == 1


def test_arrays_of_truth_values_are_made_of_numbers():
    study = answers(np.zeros((1, 2), int), np.array([0, 1]), 2, shared=True)
    names = ("evaluated", "correct", "available")
    of_numbers = replace(study, **{name: getattr(study, name).astype(int).tolist() for name in names})
    assert [getattr(of_numbers, name).dtype for name in names] == [bool] * 3
    assert of_numbers.predicted.dtype.kind == "i"
    assert replace(study, cluster=[3, 3]).cluster.tolist() == [3, 3]
    assert isinstance(replace(study, cluster=[3, 3]).cluster, np.ndarray)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"predicted": [0, 1]},
            "expected (examples, labels) for correct, and (prompts, examples) for predicted",
        ),
        (
            {"predicted": [[0, 2]]},
            "predicted has the label 2; expected 0 to 1, or -1 if it is unknown",
        ),
        (
            {"available": [[True, True], [True, False]]},
            "example 1: a correct label is not available; expected a choice",
        ),
        ({"evaluated": [[0.5, 1]]}, "evaluated has the value 0.5; expected 0 or 1"),
        ({"correct": [[2, 0], [0, 1]]}, "correct has the value 2; expected 0 or 1"),
        (
            {"predicted": [[np.inf, 0]]},
            "predicted has the label inf; expected 0 to 1, or -1 if it is unknown",
        ),
    ],
)
def test_messages_are_whole(changes, message):
    study = answers(np.zeros((1, 2), int), np.array([0, 1]), 2, shared=True)
    with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
        replace(study, **changes)


def test_the_statistics_that_exist_are_listed():
    study = answers(np.zeros((1, 2), int), np.array([0, 1]), 2, shared=True)
    with pytest.raises(ValueError, match="^statistic is 'f1'; expected one of accuracy, macro_f1$"):
        randomization_test(study, statistic="f1")
    needed = "macro_f1 needs one set of choices for all examples, and one correct choice in each"
    with pytest.raises(ValueError, match=f"^{needed}$"):
        randomization_test(replace(study, shared=False), statistic="macro_f1")


def test_a_task_may_have_no_clusters():
    predictions, task = a_study([["yes", "no"]] * 4)
    alone = randomize(predictions, task.assign(cluster=range(4)), seed=0, draws=50)
    pd.testing.assert_frame_equal(
        randomize(predictions, task.drop(columns="cluster", errors="ignore"), seed=0, draws=50), alone
    )


@pytest.mark.parametrize("accuracy", [0, 0.25, 1])
def test_simulated_prompts_have_the_accuracy_and_choose_among_choices(accuracy):
    """Examples 0 to 3 have three choices, and example 4 to 7 two, the first of which is correct."""
    study = study_of([[0, 1, 2]] * 4 + [[0, 1]] * 4, [[0]] * 8)
    simulated = study.simulated(np.random.default_rng(1), accuracy)
    assert simulated.accuracy.tolist() == [accuracy] * len(simulated.predicted)
    assert np.take_along_axis(study.available, simulated.predicted.T, axis=1).all()
    wrong = {place: set(simulated.predicted[:, place].tolist()) - {0} for place in range(8)}
    if accuracy < 1:
        assert wrong == {place: {1, 2} if place < 4 else {1} for place in range(8)}
        shares = np.mean(simulated.predicted[:, :4] == 1) / np.mean(simulated.predicted[:, :4] > 0)
        assert shares == pytest.approx(0.5, abs=0.06)


def test_simulated_prompts_cannot_be_wrong_where_all_choices_are_correct():
    study = study_of([[0, 1], [0, 1]], [[0, 1], [0]])
    simulated = study.simulated(np.random.default_rng(1), 0)
    assert set(simulated.predicted[:, 0].tolist()) == {0, 1}
    assert set(simulated.predicted[:, 1].tolist()) == {1}


def test_a_label_that_a_prompt_neither_meets_nor_guesses_has_an_f1_of_zero():
    """The means are over the labels that are correct somewhere, as all prompts have them."""
    gold, predicted = np.array([0, 0, 1, 2]), np.array([[0, 1, 1, 0]])
    study = replace(answers(predicted, gold, 3, True), evaluated=np.array([[True, True, True, False]]))
    np.empty(100_000).fill(3.7)  # memory that is not 0
    (value,) = study.statistics(study.correct[None], "macro_f1")[:, 0]
    expected = f1_score(gold[:3], predicted[0, :3], average="macro", labels=[0, 1, 2], zero_division=0)
    assert value == pytest.approx(expected)


def test_the_accuracy_on_a_single_example_is_whole():
    study = answers(np.array([[0, 1]]), np.array([0, 1]), 2, True)
    single = replace(study, evaluated=np.array([[True, False]]))
    assert single.statistics(study.correct[None], "accuracy").tolist() == [[1.0]]


@pytest.mark.parametrize(("draws", "power"), [(19, 1.0), (18, 0.0)])
def test_power_counts_p_values_up_to_the_level(draws, power):
    """A prompt that is always right has the least p-value, 1 / (draws + 1), which may be 0.05 exactly."""
    gold = np.arange(60) % 3
    assert result_of(gold[None], gold, 3, draws=draws).power == power


def test_power_and_fixed_answers_are_those_of_all_draws(monkeypatch):
    monkeypatch.setattr(gold_answers, "DRAWS_AT_A_TIME", 1)
    study = study_of([[0], [0, 1], [0, 1], [0, 1], [0, 1]], [[0], [0], [1], [0], [1]])
    test = randomization_test(study, draws=99)
    assert test.fixed == pytest.approx(1 / 5)  # the first has a single choice
    assert test.power == 0  # three of four are right in many of the draws


def test_macro_f1_has_no_power():
    gold = np.array([0, 1] * 5)
    test = result_of(gold[None], gold, statistic="macro_f1", draws=99)
    assert np.isnan(test.power)
    html = test._repr_html_()
    assert ">0.02<" in html  # and not that it has no power
    assert ">power<" in html


def test_limits_of_the_verdicts_are_included():
    rows = {"model": "m", "task": ["a", "b"], "shots": 0, "statistic": "accuracy", "value": 0.5, "fixed": 0.0}
    table = pd.DataFrame(rows | {"best_tail": [0.05, 0.2], "power": [0.1, 0.5]})
    assert set(SETTING) <= {*table}
    assert for_verdicts(table)["randomization_tail"].tolist() == [0.05, 0.2]


def test_the_least_tail_of_so_many_draws_estimates_no_number_of_prompts():
    """With three draws, tails are multiples of 1/4; the number is log(1 - p) / log(1 - tail of one)."""
    effective = effective_prompts([0.25, 0.5], [0.2, 0.3], 10, draws=3)
    assert np.isnan(effective[0])
    assert effective[1] == pytest.approx(np.log(0.5) / np.log(0.7))
