"""Rounded accuracies and the numbers of correct examples that they stand for."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from abovechance.chance.rounding import Correct, completed_digits, decimals


@pytest.mark.parametrize(
    ("accuracy", "examples", "nearest", "lowest", "highest"),
    [
        ("0.667", 30, 20, 20, 20),
        ("0.66667", 30, 20, 20, 20),
        (0.667, 30, 20, 20, 20),
        (float(np.float32(2 / 3)), 30, 20, 20, 20),
        (float(np.float32(0.7234)), 10_000, 7234, 7234, 7234),
        (float(np.float32(0.667)), 30, 20, 20, 20),
        (float(np.float32(44111 / 305499)), 305499, 44111, 44111, 44111),  # which 0.14439 is as a float32
        ("0.5", 200, 100, 90, 110),
        ("0.500", 200, 100, 100, 100),
        (0.5, 200, 100, 100, 100),
        ("0.62", 100, 62, 62, 62),
        ("5e-3", 1000, 5, 5, 5),
        ("0", 3, 0, 0, 0),
        ("1", 100, 100, 100, 100),
        ("0.", 100, 0, 0, 0),
        ("1.0", 100, 100, 95, 100),
        ("0,45", 20, 9, 9, 9),
        ("0.57", 150, 86, 85, 86),  # 85.5, which is below it in binary
        (0.57, 150, 86, 85, 86),
        ("0.58", 150, 87, 87, 87),
        ("0.29", 100, 29, 29, 29),
    ],
)
def test_the_numbers_that_round_to_an_accuracy(accuracy, examples, nearest, lowest, highest):
    assert Correct.from_accuracy(accuracy, examples) == Correct(nearest, lowest, highest, exact=True)


def test_where_none_rounds_to_it_the_nearest_is_taken():
    assert Correct.from_accuracy("0.62", 30) == Correct(19, 19, 19, exact=False)
    assert Correct.from_accuracy(0.62, 30) == Correct(19, 19, 19, exact=False)
    assert Correct.from_accuracy("0.33", 10) == Correct(3, 3, 3, exact=False)


def test_of_two_that_are_as_near_the_higher_is_taken_and_both_are_possible():
    assert Correct.from_accuracy("0.5", 13).nearest == 7
    for accuracy in ("0.625", 0.625):
        assert Correct.from_accuracy(accuracy, 100) == Correct(63, 62, 63, exact=False)


@pytest.mark.parametrize("examples", [1, 3, 100, 10**6])
def test_none_and_all_are_themselves_however_they_are_given(examples):
    for accuracy, correct in (("0", 0), (0.0, 0), ("1", examples), (1.0, examples), (1, examples)):
        for digits in (None, 0) if isinstance(accuracy, str) else (None,):
            assert Correct.from_accuracy(accuracy, examples, digits) == Correct(
                correct, correct, correct, exact=True
            )
    assert Correct.from_accuracy(1.0, 100, 0) == Correct(100, 100, 100, exact=True)  # from a table
    assert Correct.from_accuracy("1", 1000, 2) == Correct(
        1000, 995, 1000, exact=True
    )  # others of the table have two digits


@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 10**5))
def test_decimals_are_compared_exactly(number, digits, examples):
    number = min(number, 10**digits)
    correct = Correct.from_accuracy(f"{number / 10**digits:.{digits}f}", examples)
    value, half = Fraction(number, 10**digits), max(Fraction(1, 2 * 10**digits), Fraction(1, 2**25))
    possible = [n for n in range(correct.nearest - 1, correct.nearest + 2) if 0 <= n <= examples]
    distance = min(abs(Fraction(n, examples) - value) for n in possible)
    assert abs(Fraction(correct.nearest, examples) - value) == distance
    assert correct.exact == (distance <= half)


@given(st.integers(1, 5000), st.integers(1, 8), st.data())
def test_a_number_is_among_those_that_its_rounded_accuracy_stands_for(examples, digits, data):
    correct = data.draw(st.integers(0, examples))
    result = Correct.from_accuracy(f"{correct / examples:.{digits}f}", examples)
    assert result.exact
    assert result.lowest <= correct <= result.highest
    remaining = [
        n for n in range(examples + 1) if f"{n / examples:.{digits}f}" == f"{correct / examples:.{digits}f}"
    ]
    # halves round to either side
    assert result.lowest <= remaining[0] <= result.lowest + 1
    assert result.highest - 1 <= remaining[-1] <= result.highest


@given(st.integers(1, 10**6), st.data())
def test_a_quotient_is_the_number_that_it_was_made_of(examples, data):
    correct = data.draw(st.integers(0, examples))
    for accuracy in (correct / examples, float(np.float32(correct / examples))):
        result = Correct.from_accuracy(accuracy, examples)
        assert (result.lowest, result.nearest, result.highest) == (correct,) * 3
        assert result.exact


@pytest.mark.parametrize(
    ("number", "count"),
    [
        ("0.50", 2),
        ("1", 0),
        (0.125, 3),
        (1e-05, 5),
        ("2.5e-2", 3),
        ("1e2", 0),
        ("0,25", 2),
        (0.1234567890123, 13),
    ],
)
def test_decimals_are_counted_as_they_are_written(number, count):
    assert decimals(number) == count


def test_a_number_that_would_fill_the_memory_is_refused():
    with pytest.raises(ValueError, match="at most 400 decimals"):
        Correct.from_accuracy("1e-999999999", 10)


@pytest.mark.parametrize(
    "accuracy", [-0.1, 1.1, "62", float("nan"), float("inf"), "nan", "inf", "half", "", "1/2", "1e999999999"]
)
def test_what_is_no_accuracy_is_refused(accuracy):
    with pytest.raises(ValueError, match="must be between 0 and 1"):
        Correct.from_accuracy(accuracy, 10)


def test_whole_numbers_without_decimals_are_exact_and_others_are_rounded_like_the_rest():
    assert completed_digits([1.0, 0.643], [200] * 2, [1, 3], "aa") == [3, 3]
    assert completed_digits([0.0, 1.0, 0.643], [200] * 3, [0, 0, 3], "aaa") == [0, 0, 3]
    assert completed_digits([1.0, 0.643], [200] * 2, [1, 3], "ab") == [1, 3]  # of two sources
