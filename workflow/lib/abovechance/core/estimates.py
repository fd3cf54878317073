"""Estimates with intervals: by Student's distribution, of clustered examples, and by the bootstrap."""

from __future__ import annotations

from collections.abc import Sequence
from math import hypot, isfinite, nan, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from abovechance.core.errors import InputError
from abovechance.core.resampling import BATCH, cluster_sums, numbered

CONFIDENCE = 0.95  # of intervals
ALPHA = 0.05  # the significance level of tests
RESAMPLES = 9999


class Estimate(NamedTuple):
    """A number that is estimated from examples.

    Attributes
    ----------
    value
        The estimate.
    standard_error
        Its standard error.
    low, high
        The ends of its interval; missing (nan) if nothing says how the estimate varies.
    p
        The two-sided p-value of the hypothesis that the true value is 0, by the test that the interval
        inverts; missing if the interval is.
    freedom
        The degrees of freedom of the standard error.
    examples
        From how many examples it is.
    confidence
        Of the interval.
    method
        What interval and p-value are made by.
    """

    value: float
    standard_error: float = nan
    low: float = nan
    high: float = nan
    p: float = nan
    freedom: float = nan
    examples: int = 0
    confidence: float = CONFIDENCE
    method: str = "Student"


def student(
    value: float, standard_error: float, freedom: float, examples: int, confidence: float = CONFIDENCE
) -> Estimate:
    """An estimate with interval and p-value by Student's distribution.

    Both are missing if the standard error is 0 or unknown, or there are no degrees of freedom: then nothing
    says how the estimate varies.
    """
    found = Estimate(value, standard_error, freedom=freedom, examples=examples, confidence=confidence)
    if not (standard_error > 0 and isfinite(standard_error) and freedom > 0):
        return found
    from scipy.stats import t  # slow to import

    reach = float(t.isf((1 - confidence) / 2, freedom)) * standard_error
    p = float(2 * t.sf(abs(value) / standard_error, freedom))
    return found._replace(low=value - reach, high=value + reach, p=p)


def variance_of_sum(parts: ArrayLike) -> float:
    """The variance of a sum of independent parts, such as what each cluster adds to the error of a mean.

    Parameters
    ----------
    parts
        (clusters,) of which the mean is 0.
    """
    given = np.asarray(parts, dtype=float)
    return len(given) / max(len(given) - 1, 1) * float((given**2).sum())


def satterthwaite(
    variances: Sequence[float], freedoms: Sequence[float], variance: float | None = None
) -> float:
    """The degrees of freedom of a sum of variances that are estimated independently (Satterthwaite, 1946).

    Parameters
    ----------
    variances, freedoms
        Each variance, and its degrees of freedom.
    variance
        Of which the degrees of freedom are asked; the sum without it.

    Returns
    -------
    float
        0 if no variance is above 0.
    """
    total = sum(variances) if variance is None else variance
    below = sum(own**2 / freedom for own, freedom in zip(variances, freedoms, strict=True))
    return total**2 / below if below > 0 else 0.0


def clustered_mean(
    values: ArrayLike, clusters: ArrayLike | None = None, confidence: float = CONFIDENCE
) -> Estimate:
    """A mean with its interval, examples of one cluster taken as wholes.

    The standard error is that of a mean of clusters of any sizes (the linearized ratio of their sums and
    sizes); where each example is a cluster by itself, the common one, with n - 1. It takes clusters as drawn
    from a population, and is rough for few (say, below 20).

    Parameters
    ----------
    values
        (examples,) numbers.
    clusters
        (examples,) the same for examples that belong together; without it, each is by itself.
    confidence
        Of the interval, in (0, 1).

    Returns
    -------
    Estimate
        Without an interval if there are fewer than two clusters, or a value is infinite. If values do not
        vary, the ends of the interval are the mean.

    Raises
    ------
    InputError
        If values have several dimensions, or there is not one cluster for each.
    """
    given = np.asarray(values, dtype=float)
    if given.ndim != 1:
        raise InputError(f"values have {given.ndim} dimensions; right would be one, of examples")
    if not given.size:
        return Estimate(nan, confidence=confidence)
    groups, count = numbered(given.size, clusters)
    with np.errstate(invalid="ignore"):  # of infinities of both signs there is none
        mean = float(given.mean())
    if count < 2 or not isfinite(mean):
        return Estimate(mean, freedom=count - 1, examples=given.size, confidence=confidence)
    error = sqrt(variance_of_sum(np.bincount(groups, given - mean))) / given.size
    found = student(mean, error, count - 1, given.size, confidence)
    return found if error else found._replace(low=mean, high=mean)


def welch(one: Estimate, other: Estimate, confidence: float = CONFIDENCE) -> Estimate:
    """The difference of two estimates from other examples, by the standard errors of both (Welch, 1947)."""
    freedom = satterthwaite(
        [one.standard_error**2, other.standard_error**2], [max(own.freedom, 1) for own in (one, other)]
    )
    error = hypot(one.standard_error, other.standard_error)
    return student(one.value - other.value, error, freedom, one.examples + other.examples, confidence)


def bootstrap_interval(
    values: ArrayLike,
    clusters: ArrayLike | None = None,
    confidence: float = CONFIDENCE,
    resamples: int = RESAMPLES,
    seed: int = 0,
    method: str = "basic",
) -> tuple[float, float]:
    """The interval of a mean over examples, by drawing clusters of examples with replacement.

    Parameters
    ----------
    values
        (examples,) numbers.
    clusters
        (examples,) the same for examples that belong together; without it, each is by itself.
    method
        Of ``scipy.stats.bootstrap``: ``basic`` (pivotal), ``percentile`` or ``BCa``.

    Returns
    -------
    tuple
        Its ends; missing of fewer than two clusters, and both the mean if values do not vary.
    """
    sums, sizes = cluster_sums(values, clusters)
    if len(sums) < 2:
        return np.nan, np.nan
    if np.ptp(sums / sizes) == 0:
        return float(sums[0] / sizes[0]), float(sums[0] / sizes[0])
    from scipy.stats import bootstrap  # slow to import

    found = bootstrap(
        (sums, sizes),
        lambda sums, sizes, axis=-1: sums.sum(axis=axis) / sizes.sum(axis=axis),
        paired=True,
        vectorized=True,
        n_resamples=resamples,
        confidence_level=confidence,
        method=method,
        batch=max(1, BATCH // len(sums)),
        rng=np.random.default_rng(seed),
    ).confidence_interval
    return float(found.low), float(found.high)
