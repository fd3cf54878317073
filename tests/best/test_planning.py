"""The planned number of examples of a search, checked in simulated searches."""

import numpy as np
import pytest

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
