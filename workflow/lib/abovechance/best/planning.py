"""How many examples a search needs, to tell the best of several candidates from the one it started with."""

from __future__ import annotations

from math import isfinite, sqrt

import numpy as np
from scipy.special import ndtr
from scipy.stats import binom

from abovechance.best.debiased import largest_normal
from abovechance.chance.random_baseline import MOST_EXAMPLES
from abovechance.core.errors import InputError
from abovechance.core.estimates import ALPHA
from abovechance.core.searching import least_lasting

POWER = 0.8


def examples_for_difference(
    difference: float,
    candidates: int,
    accuracy: float = 0.5,
    correlation: float = 0.5,
    alpha: float = ALPHA,
    power: float = POWER,
) -> int:
    """Return the number of examples to find that the best candidate is better than the start.

    One candidate is better by ``difference``; all others are as good as the start. The search is judged by
    the largest difference from the start, as in ``above_start``. With z the upper alpha quantile of the
    largest of t normals with correlation 1/2 (Dunnett, 1955), the better candidate is found if its exact sign
    test, on the examples that just one of both answers correctly, has a p-value of at most P(Z >= z).

    Parameters
    ----------
    difference
        True difference in accuracy, in (0, 1].
    candidates
        Number of candidates that are tried, without the start.
    accuracy
        Accuracy of the start.
    correlation
        Correlation between the answers of two candidates to the same example, in [0, 1); lowered to the
        largest that is possible with the two accuracies (``largest_correlation``).
    alpha
        Significance level.
    power
        Probability to find the difference.

    Raises
    ------
    InputError
        If a value is outside its range, the better candidate's accuracy would exceed 1, or more than
        ten million examples were needed.
    """
    ranges = {
        "difference": (difference, 0 < difference <= 1, "above 0, at most 1"),
        "candidates": (candidates, candidates >= 1 and candidates == int(candidates), "at least 1, whole"),
        "accuracy": (accuracy, 0 <= accuracy < 1, "from 0, below 1"),
        "correlation": (correlation, 0 <= correlation < 1, "from 0, below 1"),
        "alpha": (alpha, 0 < alpha < 1, "above 0, below 1"),
        "power": (power, 0 < power < 1, "above 0, below 1"),
    }
    for name, (value, is_in_range, expected) in ranges.items():
        if not (isfinite(value) and is_in_range):
            raise InputError(f"{name} is {value}; expected a number {expected}")
    better = accuracy + difference
    if better > 1 + 1e-12:
        raise InputError(
            f"accuracy {accuracy:g} plus difference {difference:g} is above 1; use a smaller difference"
        )
    better = min(better, 1.0)
    # shares of examples that just the start answers correctly, and just the better candidate
    possible = min(correlation, largest_correlation(accuracy, better))
    covariance = possible * sqrt(accuracy * (1 - accuracy) * better * (1 - better))
    worse_alone = max(accuracy * (1 - better) - covariance, 0.0)
    better_alone = worse_alone + difference
    critical = largest_normal(candidates, 0.5, alpha)
    level = float(ndtr(-critical))
    examples = least_lasting(
        lambda examples: _power(examples, better_alone, worse_alone, level) >= power, MOST_EXAMPLES
    )
    if examples > MOST_EXAMPLES:
        raise InputError(f"more than {MOST_EXAMPLES:,} examples were needed; expected a larger difference")
    return examples


def largest_correlation(lower: float, higher: float) -> float:
    """Return the largest possible correlation of answers with these accuracies, in [0, 1].

    It is that of answers of which the better candidate has all right that the other one has right.
    """
    spread = lower * (1 - lower) * higher * (1 - higher)
    return min(lower * (1 - higher) / sqrt(spread), 1.0) if spread > 0 else 1.0


def _power(examples: int, better_alone: float, worse_alone: float, level: float) -> float:
    """Return the probability that an exact one-sided sign test has a p-value of at most the level."""
    discordant = better_alone + worse_alone
    first, last = binom.interval(1 - 1e-12, examples, min(discordant, 1.0))
    numbers = np.arange(int(first), int(last) + 1)
    least = binom.isf(level, numbers, 0.5) + 1
    significant = binom.sf(least - 1, numbers, better_alone / discordant)
    return float(binom.pmf(numbers, examples, min(discordant, 1.0)) @ significant)
