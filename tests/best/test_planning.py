"""The planned number of examples of a search, checked in simulated searches."""

from math import nan, sqrt

import numpy as np
import pytest
from scipy import stats

from abovechance.best import Candidates, examples_for_difference
from abovechance.best.planning import largest_correlation
from abovechance.best.selection import above_start
from abovechance.core.errors import InputError
from tests.best.simulated import answers


def exact_power(examples: int, accuracy: float, difference: float, correlation: float) -> float:
    """The power of the exact one-sided sign test of two candidates, by all numbers of discordant answers."""
    better = accuracy + difference
    joint = accuracy * better + correlation * sqrt(accuracy * (1 - accuracy) * better * (1 - better))
    joint = min(joint, accuracy)
    alone, worse_alone = better - joint, accuracy - joint
    power = 0.0
    for discordant in range(examples + 1):
        share = stats.binom.pmf(discordant, examples, alone + worse_alone)
        for wins in range(discordant + 1):
            if stats.binom.sf(wins - 1, discordant, 0.5) <= 0.05:
                power += share * stats.binom.sf(wins - 1, discordant, alone / (alone + worse_alone))
                break
    return power


@pytest.mark.parametrize(
    ("accuracy", "difference", "correlation", "needed"),
    [
        *((0.0, 1.0, 0.5, 5), (0.3, 0.6, 0.5, 10), (0.5, 0.4, 0.5, 16), (0.5, 0.3, 0.5, 21)),
        *((0.5, 0.2, 0.5, 45), (0.9, 0.1, 0.5, 66), (0.2, 0.3, 0.0, 37)),
        pytest.param(0.6, 0.1, 0.5, 156, marks=pytest.mark.slow),
    ],
)
def test_one_candidate_needs_what_its_exact_test_does(accuracy, difference, correlation, needed):
    assert examples_for_difference(difference, 1, accuracy, correlation) == needed
    assert exact_power(needed - 1, accuracy, difference, correlation) < 0.8
    assert all(exact_power(needed + more, accuracy, difference, correlation) >= 0.8 for more in range(10))


def test_very_many_examples_are_those_of_the_normal_approximation():
    needed = examples_for_difference(0.002, 5, 0.6)
    assert needed == examples_for_difference(0.002, 5, 0.6)
    variance = 0.6 * 0.4 + 0.602 * 0.398 - sqrt(0.6 * 0.4 * 0.602 * 0.398)
    critical = stats.norm.isf(0.05)
    assert needed > (critical + stats.norm.isf(0.2)) ** 2 * variance / 0.002**2
    assert examples_for_difference(0.002, 1, 0.6) == pytest.approx(
        (critical + stats.norm.isf(0.2)) ** 2 * variance / 0.002**2, rel=3e-3
    )


def test_impossible_correlations_are_the_largest_possible_one() -> None:
    possible = largest_correlation(0.5, 0.9)
    assert possible == pytest.approx(1 / 3)
    assert examples_for_difference(0.4, 5, correlation=0.9) == examples_for_difference(
        0.4, 5, correlation=possible
    )
    assert examples_for_difference(0.4, 5, correlation=0) > examples_for_difference(0.4, 5, correlation=0.9)
    assert largest_correlation(0.3, 0.3) == pytest.approx(1)
    assert largest_correlation(0.5, 1.0) == 1


def test_more_candidates_need_more_examples() -> None:
    needed = [examples_for_difference(0.1, count, 0.6) for count in (1, 10, 100, 1000)]
    assert needed == sorted(set(needed))


@pytest.mark.thorough
def test_the_power_is_reached() -> None:
    candidates, score, difference = 20, 0.5, 0.2
    needed = examples_for_difference(difference, candidates, score, correlation=0.0)
    generator = np.random.default_rng(1)
    truth = np.full(candidates + 1, score)
    truth[5] += difference
    significant = 0
    for _ in range(200):
        search = Candidates.from_scores(answers(generator, truth, needed))
        significant += above_start(search, draws=400)[5] <= 0.05
    assert 0.7 < significant / 200 < 0.92


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0.0, 3), "difference is 0"),
        ((0.6, 3), "above 1"),
        ((0.1, 0), "candidates is 0"),
        ((0.1, 3, 0.5, 1.0), "correlation is 1"),
    ],
)
def test_impossible_plans_are_refused(arguments: tuple[float, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        examples_for_difference(*arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("accuracy", "correlation"),
    [
        *((0.6, 0.5), (0.5, 0.0)),
        *(pytest.param(*case, marks=pytest.mark.slow) for case in ((0.9, 0.9), (0.0, 0.5))),
    ],
)
def test_the_number_of_examples(accuracy, correlation):
    difference, candidates, alpha, power = 0.1, 20, 0.1, 0.9
    first, second = accuracy * (1 - accuracy), (accuracy + 0.1) * (0.9 - accuracy)
    variance = max(first + second - 2 * correlation * sqrt(first * second), 0.1 - 0.01)
    nodes = np.linspace(-8, 8, 4001)
    values = np.linspace(0, 6, 6001)
    density = stats.norm.pdf(nodes) * (nodes[1] - nodes[0])
    below = density @ stats.norm.cdf((values[None] - sqrt(0.5) * nodes[:, None]) / sqrt(0.5)) ** candidates
    critical = values[np.searchsorted(below, 1 - alpha)]
    expected = ((critical + stats.norm.ppf(power)) ** 2) * variance / difference**2
    result = examples_for_difference(difference, candidates, accuracy, correlation, alpha, power)
    assert result == pytest.approx(expected, rel=0.2, abs=12)


def test_numbers_of_examples_unless_stated():
    stated = examples_for_difference(0.1, 5, accuracy=0.5, correlation=0.5, alpha=0.05, power=0.8)
    assert examples_for_difference(0.1, 5) == stated
    assert examples_for_difference(1.0, 1, accuracy=0.0, alpha=0.9, power=0.1) == 1
    assert examples_for_difference(0.1, 5, accuracy=0.9) > 2  # up to 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"difference": 0}, "difference is 0; expected a number above 0, at most 1"),
        ({"difference": 1.01}, "difference is 1.01; expected a number above 0, at most 1"),
        ({"difference": nan}, "difference is nan; expected a number above 0, at most 1"),
        ({"candidates": 0}, "candidates is 0; expected a number at least 1, whole"),
        ({"candidates": 2.5}, "candidates is 2.5; expected a number at least 1, whole"),
        ({"accuracy": 1.0}, "accuracy is 1.0; expected a number from 0, below 1"),
        ({"accuracy": -0.1}, "accuracy is -0.1; expected a number from 0, below 1"),
        ({"correlation": 1.0}, "correlation is 1.0; expected a number from 0, below 1"),
        ({"correlation": -0.1}, "correlation is -0.1; expected a number from 0, below 1"),
        ({"alpha": 0.0}, "alpha is 0.0; expected a number above 0, below 1"),
        ({"alpha": 1.0}, "alpha is 1.0; expected a number above 0, below 1"),
        ({"power": 0.0}, "power is 0.0; expected a number above 0, below 1"),
        ({"power": 1.0}, "power is 1.0; expected a number above 0, below 1"),
        (
            {"accuracy": 0.95, "difference": 0.06},
            "accuracy 0.95 plus difference 0.06 is above 1; use a smaller difference",
        ),
    ],
)
def test_plans_outside_their_range(arguments, message):
    with pytest.raises(InputError) as error:
        examples_for_difference(**{"difference": 0.1, "candidates": 5, **arguments})
    assert str(error.value) == message


def test_a_difference_that_needs_too_many_examples():
    with pytest.raises(InputError, match="more than 10,000,000 examples were needed; expected a larger diff"):
        examples_for_difference(1e-6, 3)
