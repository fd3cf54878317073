"""The functions of max-random-baseline, by their names and arguments."""

import inspect

import max_random_baseline as theirs
import pytest

from abovechance import compat

CASES = [(100, 0.5, 10), (100, {2: 50, 5: 50}, 10), (100, [0.5] * 50 + [0.2] * 50, 10), (30, 0.25, 200)]


@pytest.mark.parametrize(("n", "arg", "t"), CASES)
def test_the_four_functions_agree_with_the_package(n, arg, t):
    assert compat.max_random_baseline(n, arg, t) == pytest.approx(
        theirs.max_random_baseline(n, arg, t), rel=1e-7
    )
    for correct in (0, 7, n // 2, n // 2 + 0.7, n - 1, n):
        for name in ("max_random_F", "max_random_pmf"):
            result, expected = (getattr(package, name)(correct, n, arg, t) for package in (compat, theirs))
            assert result == pytest.approx(expected, abs=1e-8)
    for accuracy in (0, 0.4, 0.5, 0.65, 1):
        expected = theirs.max_random_p_value(accuracy, n, arg, t)
        assert compat.max_random_p_value(accuracy, n, arg, t) == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize(("n", "arg", "t"), CASES)
def test_the_class_agrees_with_the_package(n, arg, t):
    ours, original = (p.MaxOrderStatisticPoissonBinomial(n, arg) for p in (compat, theirs))
    assert ours.max_random_baseline(t=t) == pytest.approx(original.max_random_baseline(t=t), rel=1e-7)
    assert ours.expectation(t) == pytest.approx(original.expectation(t), rel=1e-7)
    for correct in (0, n // 2, n):
        assert ours.F(correct, t) == pytest.approx(original.F(correct, t), abs=1e-8)
        assert ours.pmf(correct, t) == pytest.approx(original.pmf(correct, t), abs=1e-8)
    assert ours.p_value(0.5, t) == pytest.approx(original.p_value(0.5, t), abs=1e-8)


def test_names_of_arguments_are_theirs():
    for name in ("max_random_baseline", "max_random_p_value", "max_random_F", "max_random_pmf"):
        ours, original = (list(inspect.signature(getattr(p, name)).parameters) for p in (compat, theirs))
        assert ours == original
    for name in ("__init__", "max_random_baseline", "p_value", "F", "pmf"):
        ours, original = (
            list(inspect.signature(getattr(p.MaxOrderStatisticPoissonBinomial, name)).parameters)
            for p in (compat, theirs)
        )
        assert ours == original


def test_an_accuracy_is_not_rounded_down_to_one_example_less():
    assert compat.max_random_p_value(0.29, 100, 0.2, 5) == compat.max_random_p_value(29 / 100, 100, 0.2, 5)
    assert compat.max_random_p_value(0.29, 100, 0.2, 5) < compat.max_random_p_value(0.28, 100, 0.2, 5)


def test_a_number_of_examples_that_does_not_fit_the_chances_is_refused():
    with pytest.raises(ValueError, match="n is 99, but chances are given for 100 examples"):
        compat.max_random_baseline(99, {2: 50, 5: 50}, 10)
