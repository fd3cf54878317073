"""Arguments: labels in another order, and values that are missing or out of range, are errors."""

import numpy as np
import pandas as pd
import pytest

from abovechance.best import Candidates, debiased_difference, judge_reported
from abovechance.chance import RandomBaseline
from abovechance.chance.randomization import Answers
from abovechance.compare import over_prompts, over_seeds, paired, pairs
from abovechance.core.arrays import check_same_order
from abovechance.core.errors import InputError
from abovechance.core.estimates import bootstrap_interval
from abovechance.items import item_statistics
from abovechance.items.splits import by_group as splits_by_group
from abovechance.metrics import metric
from abovechance.pvi import accuracy_of_tails, by_group, pvi, threshold, v_information

LABELS = pd.Index([*"abcdef"])
TURNED = LABELS[::-1]
NUMBERS = np.arange(12.0).reshape(2, 6)


@pytest.mark.parametrize(
    ("first", "second", "is_error"),
    [
        (pd.Series(range(6), LABELS), pd.Series(range(6), TURNED), True),
        (pd.DataFrame(NUMBERS, columns=LABELS), pd.Series(range(6), TURNED), True),
        (pd.DataFrame(NUMBERS, columns=LABELS), pd.Series(range(6), LABELS), False),
        (pd.DataFrame(NUMBERS, columns=LABELS), pd.DataFrame(NUMBERS, columns=TURNED), True),
        (pd.DataFrame(NUMBERS, ["p", "q"]), pd.DataFrame(NUMBERS, ["q", "p"]), True),
        (pd.DataFrame(NUMBERS, ["p", "q"]), pd.DataFrame(NUMBERS, ["r", "s"]), False),
        (pd.DataFrame(NUMBERS, columns=LABELS), NUMBERS[:, ::-1], False),
        (pd.Series(range(5), LABELS[1:]), pd.Series(range(5), LABELS[:-1]), True),
        (pd.Series(range(3), LABELS[:3]), pd.Series(range(3), LABELS[3:]), False),
        (pd.Series(range(3), [*"abc"]), pd.Series(range(3), [*"abx"]), False),
        (pd.Series(range(3), [None, "a", "b"]), pd.Series(range(3), ["a", None, "c"]), True),
        (pd.Series(range(2), pd.Index([None, 1], dtype="Int64")), pd.Series(range(2), [2, 3]), False),
        (pd.Series([0, 1, 2], pd.Index([pd.NA, 1, 2])), pd.Series([0, 1, 2], pd.Index([1, 3, pd.NA])), True),
        (pd.Series(range(2), [np.nan, "a"]), pd.Series(range(2), [np.nan, "b"]), False),
        (pd.DataFrame(NUMBERS[:, 1:], columns=LABELS[1:]), pd.Series(range(5), LABELS[:-1]), True),
    ],
)
def test_labels_in_another_order_are_an_error(first, second, is_error):
    if is_error:
        with pytest.raises(InputError, match="at different positions"):
            check_same_order(first, None, second)
    else:
        check_same_order(first, None, second)


@pytest.mark.parametrize(
    "call",
    [
        lambda first, second: over_prompts(first.to_frame().T, second.to_frame().T),
        lambda first, second: over_seeds(first.to_frame().T, second.to_frame().T),
        lambda first, second: paired([first, second]),
        lambda first, second: pvi(-first, -second),
        lambda first, second: threshold(first, second > 2),
        lambda first, second: accuracy_of_tails(first, second > 2, 0.2),
        v_information,
        by_group,
        bootstrap_interval,
        lambda first, second: judge_reported(first / 10, second + 50),
        lambda first, second: Candidates.from_scores(pd.DataFrame([first, first]) / 10, clusters=second),
    ],
)
def test_functions_that_pair_values_refuse_another_order(call):
    first, second = pd.Series(range(6), LABELS), pd.Series([3, 1, 2, 0, 5, 4], LABELS)
    call(first, second)
    with pytest.raises(InputError, match="at different positions"):
        call(first, second[TURNED])


def test_arguments_outside_their_range_are_errors():
    scores = (np.random.default_rng(6).random((4, 60)) < [[0.4], [0.5], [0.55], [0.6]]) * 1.0
    candidates = Candidates.from_scores(scores)
    for start in (-1, 4):
        with pytest.raises(InputError, match=f"start is {start}; expected 0 to 3"):
            debiased_difference(candidates, start)
    for chance in ([25.0] * 60, [0.25] * 59, [np.nan] * 60, 0.25):
        with pytest.raises(
            InputError, match=r"chance has the shape .*; expected \(60,\) numbers from 0 to 1"
        ):
            Candidates.from_scores(scores, chance=chance)
    with pytest.raises(InputError, match="expected at least two, each with its own name"):
        pairs(paired(scores[:3]), [*"ABCDE"])
    with pytest.raises(InputError, match="3 predictions for 1 gold answers; expected one for each"):
        metric("mae").value([1, 2, 3], [2])
    answers = {"predicted": np.zeros((1, 2), int), "evaluated": np.ones((1, 2), bool), "shared": False}
    correct = np.array([[True, False], [True, False]])
    with pytest.raises(InputError, match="example 0: a correct label is not available"):
        Answers(correct=correct, available=~correct, **answers)


def test_what_is_masked_or_missing_does_not_count():
    baseline = RandomBaseline.from_chance(0.5, 100)
    masked = np.ma.array([60, 99], mask=[0, 1])
    for probability in (baseline.tail, baseline.cdf, baseline.pmf):
        with pytest.raises(ValueError, match="correct is a number of examples"):
            probability(masked)
    with pytest.raises(InputError, match="`correct` of prediction 1"):
        threshold([1, 2, 3, 4], np.ma.array([0, 1, 0, 1], mask=[0, 1, 1, 0]))
    with pytest.raises(InputError, match="item 1 has no group"):
        item_statistics(np.eye(3), ["a", np.nan, "b"])
    for missing in (np.nan, None):
        with pytest.raises(InputError, match="a row has no group"):
            next(splits_by_group(["a", missing, "b"]))


def test_numbers_in_texts_have_the_order_of_numbers():
    assert metric("spearman").value(["10", "9", "100"], ["3", "1", "2"]) == pytest.approx(0.5)


def test_seeds_of_two_models_are_not_paired():
    scores = np.random.default_rng(0).random((3, 6))
    first = pd.DataFrame(scores, ["seed1", "seed2", "seed3"], LABELS)
    second = pd.DataFrame(scores[::-1], first.index[::-1], LABELS)
    expected = over_seeds(scores, scores[::-1]).difference.standard_error
    assert over_seeds(first, second).difference.standard_error == pytest.approx(expected, nan_ok=True)
    with pytest.raises(InputError, match="at different positions"):
        over_seeds(first, second[TURNED])


@pytest.mark.parametrize("offset", [1e3, 1e6])
def test_an_offset_changes_no_correlation(offset):
    generator = np.random.default_rng(3)
    matrix = generator.integers(0, 2, (20, 30)).astype(float)
    matrix[generator.random(matrix.shape) < 0.1] = np.nan
    expected = item_statistics(matrix)["corrected"].to_numpy()
    assert item_statistics(matrix + offset)["corrected"].to_numpy() == pytest.approx(expected, abs=1e-6)
