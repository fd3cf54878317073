"""Numbers from any kind of array: what is masked or missing is never computed with."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

import abovechance
from abovechance import best, compare, pvi, variance
from abovechance.best import Candidates
from abovechance.chance import null_distribution
from abovechance.compare.samples import prompted
from abovechance.core.arrays import floats
from abovechance.core.errors import InputError, check_inside
from abovechance.items.classical import item_statistics
from abovechance.items.smaller import flipped_pairs

NUMBERS = [1.0, 2.0, np.nan]


@pytest.mark.parametrize(
    "values",
    [
        NUMBERS,
        np.ma.masked_array([1, 2, 99], mask=[0, 0, 1]),
        pd.Series([1, 2, None], dtype="Int64", index=[5, 4, 3]),
        pd.Series([1, 2, pd.NA], dtype="Float64"),
        pd.Index([1, 2, None]),
        pd.array([1, 2, None], dtype="Int64"),
        pd.Series([1, 2, None], dtype="float32"),
    ],
)
def test_masked_and_missing_values_are_nan(values):
    result = floats(values)
    assert result.dtype == np.float64
    np.testing.assert_array_equal(result, NUMBERS)
    np.testing.assert_array_equal(floats([[1, 2], [3, 4]]), [[1.0, 2.0], [3.0, 4.0]])
    np.testing.assert_array_equal(floats(pd.DataFrame({"a": [1, 2], "b": [True, False]})), [[1, 1], [2, 0]])


def test_functions_leave_out_what_is_masked():
    scores = np.ma.masked_array([[1, 0, 1, 1], [0, 1, 0, 1]], mask=[[0, 0, 1, 1], [0, 0, 0, 0]])
    assert best.Candidates.from_scores(scores).means.tolist() == [0.5, 0.5]
    first = np.ma.masked_array([1, 2, 99, 4, 7], mask=[0, 0, 1, 0, 0])
    second = [1, 3, 2, 5, 6]
    assert pvi.correlation(first, second).r == pytest.approx(np.corrcoef([1, 2, 4, 7], [1, 3, 5, 6])[0, 1])
    checkpoints = np.ma.masked_array([[0.5, 0.6, 0.99], [0.5, 0.9, 0.1]], mask=[[0, 0, 0], [0, 0, 1]])
    assert variance.seed_mean(checkpoints) == 0.99
    with pytest.raises(InputError, match="score 1 of the second model is nan"):
        compare.compare([1, 0, 1], np.ma.masked_array([1, 0, 1], mask=[0, 1, 0]))


CANDIDATES = best.Candidates.from_scores(np.eye(20))
PAIR = compare.paired([[1, 0, 1, 1], [0, 0, 1, 0]])


@pytest.mark.parametrize(
    "function",
    [
        lambda confidence: pvi.v_information([1, 2, 5, 3], confidence=confidence),
        lambda confidence: compare.pairs(PAIR, ["x", "y"], confidence),
        lambda confidence: compare.ranks(PAIR, ["x", "y"], confidence),
        lambda confidence: compare.over_prompts(np.eye(5), np.ones((5, 5)), confidence=confidence),
        lambda confidence: compare.over_seeds(np.eye(5), np.ones((5, 5)), confidence=confidence),
        lambda confidence: compare.compare([1, 0, 1], [0, 0, 1], confidence=confidence),
        lambda confidence: best.judge_reported([0.5, 0.6], [50, 50], confidence=confidence),
        lambda confidence: best.debiased_score(CANDIDATES, confidence=confidence),
        lambda confidence: best.judge_best(CANDIDATES, confidence=confidence),
    ],
)
@pytest.mark.parametrize("confidence", [95, 0, 1, -0.5, np.nan])
def test_a_confidence_level_in_per_cent_is_an_error(function, confidence):
    with pytest.raises(InputError, match=f"confidence is {confidence}; expected a number above 0 and"):
        function(confidence)


def test_what_is_no_number_is_outside_of_every_range():
    check_inside(0, 0.5, alpha=0.05)
    for wrong in ("0.5", None, 0.5, 0):
        with pytest.raises(InputError, match=r"alpha is .*; expected a number above 0 and below 0.5"):
            check_inside(0, 0.5, alpha=wrong)


def test_numbers_of_any_kind_are_compared():
    check_inside(0, 1, confidence=np.array(0.95), alpha=Decimal("0.05"), share=np.float32(0.5))
    with pytest.raises(InputError, match="confidence is"):
        check_inside(0, 1, confidence=np.array([0.5, 0.9]))


@pytest.mark.parametrize(
    "wrong",
    [
        *(["a", 1], pd.Series(["a", "b"]), np.ma.array(["a", "b"]), [{}, 1], [[1], [1, 2]], [10**400], [1j]),
        *(pd.to_datetime(pd.Series(["2020-01-01"])), np.array(["2020-01-01"], "datetime64[D]")),
    ],
)
def test_what_is_no_number_is_an_input_error(wrong):
    with pytest.raises(InputError, match="; expected numbers"):
        floats(wrong)


def test_masked_rows_of_a_list_are_missing():
    row = np.ma.array([0.5, 0.9, 0.1], mask=[False, True, False])
    np.testing.assert_array_equal(floats([row, [1.0, 2.0, 3.0]]), [[0.5, np.nan, 0.1], [1, 2, 3]])
    hidden = np.ma.array([[1.0, 9.0], [0.0, 9.0]], mask=[[0, 1], [0, 1]])
    rows = [[*hidden], [np.array([1.0, 2.0]), np.array([3.0, 4.0])]]
    np.testing.assert_array_equal(floats(rows), [[[1, np.nan], [0, np.nan]], [[1, 2], [3, 4]]])
    with pytest.raises(InputError, match="accuracies are missing"):
        abovechance.draw(row, abovechance.RandomBaseline.from_chance(0.5, 10))
    with pytest.raises(InputError, match="accuracies are missing"):
        abovechance.draw([], abovechance.RandomBaseline.from_chance(0.5, 10))


def test_dictionaries_and_sets_have_no_order_of_examples():
    labels = {"e1": "a", "e2": "b", "e3": "a"}
    for call in (
        lambda: null_distribution("accuracy", labels, [*labels.values()]),
        lambda: null_distribution("accuracy", [*labels.values()], labels),
        lambda: null_distribution("accuracy", ["a", "b"], {"a", "b"}),
        lambda: pvi.by_group([0.1, 0.2, 0.3], labels),
    ):
        with pytest.raises(InputError, match="are a (dict|set); expected a list"):
            call()
    with pytest.raises(InputError, match="groups are a DataFrame"):
        pvi.one_way(pd.DataFrame({0: [1.0, 2, 3], 1: [2.0, 3, 5]}))


def test_series_of_one_index_in_two_orders_are_an_error():
    first = pd.Series([1.0, 0, 1, 1, 0, 0], index=[*"abcdef"])
    second = pd.Series([1.0, 1, 0, 1, 0, 1], index=[*"fedcba"])
    gold = pd.Series([*"xyxyxx"], index=first.index)
    for call in (
        lambda: compare.compare(first, second),
        lambda: compare.compare(first, first, clusters=second),
        lambda: compare.mcnemar(first, second),
        lambda: pvi.correlation(first, second),
        lambda: null_distribution("accuracy", gold[::-1], gold),
        lambda: null_distribution("accuracy", gold, gold, strata=second),
    ):
        with pytest.raises(InputError, match="at different positions"):
            call()
    aligned = compare.compare(first, second.reindex(first.index))
    assert aligned == compare.compare(first.to_numpy(), second.to_numpy()[::-1])
    # rows of one table, which have other labels for another model, and labels that occur several times
    with_numbers = first.reset_index(drop=True)
    assert compare.compare(with_numbers, second).better == compare.compare(first, [*second]).better
    twice = [0, 0, 1, 1, 2, 2]
    assert compare.compare(first.set_axis(twice), second.set_axis(twice)).examples == 6
    rows = pd.DataFrame([first, second.reindex(first.index), first])
    in_other_order = rows[[*"bacdef"]]
    for call in (
        lambda: Candidates.from_scores([first, second]),
        lambda: null_distribution("accuracy", [gold, gold[::-1]], gold),
        lambda: null_distribution("accuracy", [gold] * 30 + [gold[::-1]], gold),
        lambda: prompted([rows, in_other_order]),
        lambda: prompted([[first, first], [second, second]]),
        lambda: flipped_pairs(first, second),
        lambda: item_statistics(rows, groups=second),
        lambda: pvi.repeated_measures([first, second]),
    ):
        with pytest.raises(InputError, match="at different positions"):
            call()
    frame = pd.DataFrame([gold, gold], index=[1, 0])
    assert null_distribution("accuracy", frame, gold).observed == 1
