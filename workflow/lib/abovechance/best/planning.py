"""How many examples a search needs, to tell the best of several candidates from the one it started with."""

from __future__ import annotations

from math import ceil, isfinite, sqrt

from scipy.special import ndtri

from abovechance.best.debiased import largest_normal
from abovechance.core.errors import InputError
from abovechance.core.estimates import ALPHA

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
    the largest difference from the start, as in ``selection_null``. With z the upper alpha quantile of the
    largest of t normals with correlation 1/2 (Dunnett, 1955), and s the standard deviation of a paired
    difference, the number is ((z + z_power) s / difference)^2, rounded up.

    Parameters
    ----------
    difference
        True difference in accuracy, in (0, 1].
    candidates
        Number of candidates that are tried, without the start.
    accuracy
        Accuracy of the start.
    correlation
        Correlation between the answers of two candidates to the same example, in [0, 1).
    alpha
        Significance level.
    power
        Probability to find the difference.

    Raises
    ------
    InputError
        If a value is outside its range, or the better candidate's accuracy would exceed 1.
    """
    ranges = {
        "difference": (difference, 0 < difference <= 1, "above 0, at most 1"),
        "candidates": (candidates, candidates >= 1, "at least 1"),
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
    first, second = (max(share * (1 - share), 0.0) for share in (accuracy, min(better, 1.0)))
    # the part of discordant answers that the difference itself requires
    variance = max(first + second - 2 * correlation * sqrt(first * second), difference - difference**2)
    critical = largest_normal(candidates, 0.5, alpha)
    return max(2, ceil(((critical + float(ndtri(power))) ** 2) * variance / difference**2))
