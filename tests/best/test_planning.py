"""The planned number of examples of a search, checked in simulated searches."""

from math import nan, sqrt

import numpy as np
import pytest
from scipy import stats

from abovechance.best import Candidates, examples_for_difference
from abovechance.best.selection import above_start
from abovechance.core.errors import InputError
from tests.best.simulated import answers


def test_one_candidate_needs_what_a_one_sided_paired_test_does() -> None:
    from scipy.stats import norm

    variance = 0.6 * 0.4 + 0.7 * 0.3 - 2 * 0.5 * np.sqrt(0.6 * 0.4 * 0.7 * 0.3)
    needed = ((norm.isf(0.05) + norm.isf(0.2)) ** 2) * variance / 0.1**2
    assert examples_for_difference(0.1, 1, 0.6, 0.5) == int(np.ceil(needed))


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


@pytest.mark.parametrize(("accuracy", "correlation"), [(0.6, 0.5), (0.5, 0.0), (0.9, 0.9), (0.0, 0.5)])
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
    assert result == pytest.approx(expected, abs=2)
    assert result >= expected - 1.5


def test_numbers_of_examples_unless_stated():
    stated = examples_for_difference(0.1, 5, accuracy=0.5, correlation=0.5, alpha=0.05, power=0.8)
    assert examples_for_difference(0.1, 5) == stated
    assert examples_for_difference(1.0, 1, accuracy=0.0, alpha=0.9, power=0.1) == 2
    assert examples_for_difference(0.1, 5, accuracy=0.9) > 2  # up to 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"difference": 0}, "difference is 0; expected a number above 0, at most 1"),
        ({"difference": 1.01}, "difference is 1.01; expected a number above 0, at most 1"),
        ({"difference": nan}, "difference is nan; expected a number above 0, at most 1"),
        ({"candidates": 0}, "candidates is 0; expected a number at least 1"),
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
