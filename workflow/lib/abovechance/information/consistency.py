"""Whether examples are as hard under other demonstrations, other numbers of them, or for other models.

Pearson's r of the PVI of the same examples under two prompts (Lu et al., Section 4.2, Table 2, Figures 3
and 6), with an interval that the paper does not have.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from abovechance.core.arrays import Floats
from abovechance.core.errors import InputError

LEAST = 3  # examples; with two, every r is 1 or -1
STRONG, WEAK = 0.6, 0.3  # the paper's bounds: above is consistent, below is not


class Correlation(NamedTuple):
    """Pearson's r of two series.

    Attributes
    ----------
    r
        In [-1, 1]; missing where a series is constant, or has fewer than three examples.
    p
        The two-sided p-value of r = 0, for examples that are independent and normal.
    low, high
        The ends of the 95 % interval.
    examples
        How many.
    """

    r: float
    p: float
    low: float
    high: float
    examples: int


def correlation(
    first: ArrayLike,
    second: ArrayLike,
    clusters: ArrayLike | None = None,
    resamples: int = 2000,
    seed: int = 0,
) -> Correlation:
    """Pearson's r with its interval by resampling examples (percentile bootstrap).

    Parameters
    ----------
    first, second
        (examples,) values of the same examples; those of which one is missing or infinite are
        left out.
    clusters
        (examples,) the same for examples that belong together, which are resampled as wholes.
    resamples
        How many; 0 for no interval.

    Raises
    ------
    InputError
        If there are not as many of both.
    """
    one, other = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if one.shape != other.shape:
        raise InputError(f"{one.size} values and {other.size}; right would be values of the same examples")
    there = np.isfinite(one) & np.isfinite(other)
    one, other = one[there], other[there]
    if len(one) < LEAST or np.ptp(one) == 0 or np.ptp(other) == 0:
        return Correlation(np.nan, np.nan, np.nan, np.nan, len(one))
    found = stats.pearsonr(one, other)
    groups = np.arange(len(one)) if clusters is None else pd.factorize(np.asarray(clusters)[there])[0]
    low, high = _interval(one, other, groups, resamples, seed)
    return Correlation(float(found.statistic), float(found.pvalue), low, high, len(one))


def _interval(
    one: Floats, other: Floats, groups: np.ndarray, resamples: int, seed: int
) -> tuple[float, float]:
    """The 2.5 % and 97.5 % quantiles of r over samples of groups with replacement."""
    count = int(groups.max()) + 1
    if not resamples or count < LEAST:
        return np.nan, np.nan
    drawn = np.random.default_rng(seed).multinomial(count, np.full(count, 1 / count), resamples)
    x, y = one - one.mean(), other - other.mean()
    by_group = np.stack([np.bincount(groups, part, count) for part in (x * 0 + 1, x, y, x * x, y * y, x * y)])
    n, sx, sy, sxx, syy, sxy = by_group @ drawn.T
    with np.errstate(invalid="ignore", divide="ignore"):
        r = (sxy - sx * sy / n) / np.sqrt((sxx - sx**2 / n) * (syy - sy**2 / n))
    r = r[np.isfinite(r)]
    low, high = np.quantile(r, [0.025, 0.975]) if len(r) else (np.nan, np.nan)
    return float(low), float(high)


class Summary(NamedTuple):
    """Many r in a line (Lu et al., Table 2).

    Attributes
    ----------
    pairs
        How many r there are; those that are missing count in none.
    mean, median
        Of them.
    above, below
        How many are above 0.6, and below 0.3.
    above_share, below_share
        The same as shares of the pairs.
    """

    pairs: int
    mean: float
    median: float
    above: int
    below: int
    above_share: float
    below_share: float


def summary(r: ArrayLike) -> Summary:
    """Many r in a line; see ``Summary``."""
    given = np.asarray(r, dtype=float)
    given = given[np.isfinite(given)]
    if not given.size:
        return Summary(0, np.nan, np.nan, 0, 0, np.nan, np.nan)
    above, below = int((given > STRONG).sum()), int((given < WEAK).sum())
    mean, median = float(given.mean()), float(np.median(given))
    return Summary(given.size, mean, median, above, below, above / given.size, below / given.size)
