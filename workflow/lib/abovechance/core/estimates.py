"""Estimates with intervals: by Student's distribution, of clustered examples, and by the bootstrap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, hypot, inf, isfinite, isnan, log, nan, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from abovechance.core.arrays import ROUNDING, Floats, check_same_order, floats
from abovechance.core.errors import InputError, check_inside
from abovechance.core.resampling import BATCH, cluster_sums, numbered
from abovechance.core.words import percent

CONFIDENCE = 0.95  # of intervals
ALPHA = 0.05  # the significance level of tests
RESAMPLES = 9999
METHODS = ("basic", "percentile", "bca")  # of scipy.stats.bootstrap


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
    examples, clusters
        From how many examples it is, and how many of these have nothing to do with each other.
    confidence
        Confidence level of the interval, in (0, 1).
    method
        The method of the interval and the p-value.
    """

    value: float
    standard_error: float = nan
    low: float = nan
    high: float = nan
    p: float = nan
    freedom: float = nan
    examples: int = 0
    clusters: int = 0
    confidence: float = CONFIDENCE
    method: str = "Student"

    def __str__(self) -> str:
        """Return the estimate with its interval and p-value, as far as they are known."""
        if not isfinite(self.low):
            return f"{self.value:.3g}"
        p = f", p = {self.p:.2g}" if isfinite(self.p) else ""
        return f"{self.value:.3g} ({percent(self.confidence)} interval {self.low:.3g} to {self.high:.3g}{p})"

    def scaled(self, factor: float) -> Estimate:
        """Return the estimate of the same quantity in a unit that is ``factor`` times smaller."""
        value, standard_error, low, high = (factor * number for number in self[:4])
        return self._replace(value=value, standard_error=standard_error, low=low, high=high)

    def within(self, largest: float) -> Estimate:
        """Return the estimate with an interval that has no values of a larger size than this."""
        return self._replace(low=max(self.low, -largest), high=min(self.high, largest))


def student(value: float, standard_error: float, freedom: float, confidence: float = CONFIDENCE) -> Estimate:
    """Return an estimate with interval and p-value by Student's distribution.

    Both are missing if the standard error is 0 or unknown, or there are no degrees of freedom: then nothing
    says how the estimate varies.
    """
    check_inside(0, 1, confidence=confidence)
    interval = Estimate(value, standard_error, freedom=freedom, confidence=confidence)
    if not (standard_error > 0 and isfinite(standard_error) and freedom > 0):
        return interval
    from scipy.stats import t  # slow to import

    reach = float(t.isf((1 - confidence) / 2, freedom)) * standard_error
    p = float(2 * t.sf(abs(value) / standard_error, freedom))
    return interval._replace(low=value - reach, high=value + reach, p=p)


@dataclass(frozen=True)
class Spread:
    """The variance of an estimate, as a sum of variances that are estimated independently.

    An interval reaches ``sqrt(sum(t_i^2 v_i))`` to either side, with t_i the quantile of Student's
    distribution with the degrees of freedom of variance v_i (Banerjee, 1960). It covers the true value with
    at least the stated confidence, at any confidence. Satterthwaite's approximation does not if a variance
    has few degrees of freedom.

    Attributes
    ----------
    variances, freedoms
        Each variance with its degrees of freedom.
    overlap
        A variance that is part of two of them, and counts once.
    """

    variances: tuple[float, ...]
    freedoms: tuple[float, ...]
    overlap: float = 0.0

    @property
    def standard_error(self) -> float:
        """The square root of the sum, without the overlap."""
        return sqrt(max(sum(self.variances) - self.overlap, *self.variances))

    @property
    def freedom(self) -> float:
        """The degrees of freedom of the sum (Satterthwaite, 1946)."""
        return satterthwaite(self.variances, self.freedoms, self.standard_error**2)

    def scaled(self, factor: float) -> Spread:
        """Return the variance of the same estimate in a unit that is ``factor`` times smaller."""
        variances = tuple(factor**2 * variance for variance in self.variances)
        return Spread(variances, self.freedoms, factor**2 * self.overlap)

    def plus(self, variance: float) -> Spread:
        """Return the spread with one more variance, which is known."""
        return Spread((*self.variances, variance), (*self.freedoms, inf), self.overlap)

    def reach(self, tail: float) -> float:
        """Return how far an interval reaches that leaves out this probability on either side."""
        from scipy.special import ndtri, stdtrit  # slow to import

        parts = []
        for variance, freedom in zip(self.variances, self.freedoms, strict=True):
            quantile = float(stdtrit(freedom, tail))
            if variance > 0:
                # so far out that there is no quantile among floating-point numbers
                parts.append(inf if isnan(quantile) else variance * quantile * quantile)
        normal = float(ndtri(tail))
        return sqrt(max(sum(parts) - self.overlap * normal * normal, *parts)) if parts else 0.0

    def p(self, value: float) -> float:
        """The two-sided p-value of the hypothesis that the true value is 0; missing if nothing varies."""
        if not self.standard_error > 0 or not isfinite(value):
            return nan
        from scipy.optimize import brentq

        def beyond(log_tail: float) -> float:
            return self.reach(exp(log_tail)) - abs(value)

        least, upper = log(1e-100), log(0.5)
        if beyond(least) < 0:
            return 2 * exp(least)
        if beyond(upper) >= 0:  # no more than the rounding of quantiles, which some versions of scipy have
            return 1.0
        return 2 * exp(float(brentq(beyond, least, upper, xtol=1e-12)))

    def estimate(self, value: float, confidence: float = CONFIDENCE) -> Estimate:
        """Return the estimate with its interval and p-value; both are missing if nothing varies."""
        check_inside(0, 1, confidence=confidence)
        interval = Estimate(value, self.standard_error, freedom=self.freedom, confidence=confidence)
        if not (interval.standard_error > 0 and isfinite(interval.standard_error)):
            return interval
        reach = self.reach((1 - confidence) / 2)
        return interval._replace(low=value - reach, high=value + reach, p=self.p(value))


def variance_of_sum(parts: ArrayLike) -> float:
    """The variance of a sum of independent parts, such as what each cluster adds to the error of a mean.

    Parameters
    ----------
    parts
        (clusters,) of which the mean is 0.
    """
    values = floats(parts)
    return len(values) / max(len(values) - 1, 1) * float((values**2).sum())


def interaction(parts: Floats, sizes: Floats) -> float:
    """Return the part of a mean's variance that is in both the variance over rows and that over clusters.

    It is the variance of what a row does to a cluster beside what it does to all clusters, and beside what
    the cluster does to all rows. (Cameron, Gelbach and Miller (2011) take all squares, with what a cluster
    does to all rows. Of few rows, that is too much.)

    Parameters
    ----------
    parts
        (rows, clusters) by how much each moves the mean; a row is a training seed or a prompt.
    sizes
        (rows, clusters) how many examples each has; 0 if none.
    """
    beside = parts - parts.sum(axis=1, keepdims=True) * sizes / sizes.sum(axis=1, keepdims=True)
    rows = (sizes > 0).sum(axis=0)
    # a cluster that one row has shows no difference between rows
    shared = np.where(rows > 1, beside.sum(axis=0) / np.maximum(rows, 1), 0.0)
    squares = (np.where(sizes > 0, beside - shared, 0.0) ** 2).sum(axis=0)
    clusters = parts.shape[1]
    return float((squares * rows / np.maximum(rows - 1, 1)).sum()) * clusters / (clusters - 1)


def clustered_variance(
    parts: ArrayLike, sizes: ArrayLike, correlation: float, weights: ArrayLike | None = None
) -> tuple[float, float]:
    """Return the variance of a mean over clusters of any sizes, and its degrees of freedom.

    The bias-reduced estimate (CR2) and degrees of freedom of Bell and McCaffrey (2002), by the working model
    of Imbens and Kolesár (2016): examples of one cluster are correlated. With clusters of equal size, these
    are the usual variance and one degree of freedom less than there are clusters.

    Parameters
    ----------
    parts
        (clusters,) by how much each moves the mean; their sum is 0.
    sizes
        (clusters,) how many examples each has.
    correlation
        Correlation of two examples of one cluster, in [0, 1] (``intraclass``).
    weights
        (clusters,) the weight of each in the mean; their sum is 1. Unless given, they are proportional to the
        sizes, which means that each example counts alike.

    Returns
    -------
    tuple
        Both 0 of a single cluster.
    """
    size = floats(sizes)
    share = size / size.sum() if weights is None else floats(weights)
    counted = share > 0
    size, share, moved = size[counted], share[counted], floats(parts)[counted]
    if len(share) < 2:
        return 0.0, 0.0
    # the inverse of how much of a cluster's variance is left in its residual, if examples are independent
    reduced = 1 / (1 - 2 * share + size * (share**2 / size).sum())
    variance = float((reduced * moved**2).sum())
    weight = share**2 * (correlation + (1 - correlation) / size)
    # trace(QW)^2 / trace(QWQW), Q being diag(reduced) - (b 1' + 1 b') + common 11', and W diag(weight)
    b, common = reduced * share, float((reduced * share**2).sum())
    total, once, twice = weight.sum(), (weight * b).sum(), (weight * b**2).sum()
    first = (weight * (reduced - 2 * b + common)).sum()
    second = common**2 * total**2 + 2 * total * twice + 2 * once**2 - 4 * common * total * once
    second += (weight**2 * ((reduced + common - 2 * b) ** 2 - (common - 2 * b) ** 2)).sum()
    return variance, float(first**2 / second)


def intraclass(values: ArrayLike, groups: ArrayLike) -> float:
    """Return the correlation of two examples of one cluster, by moments, in [0, 1].

    Parameters
    ----------
    values
        (examples,) numbers.
    groups
        (examples,) which cluster each is in, from 0.
    """
    numeric, numbers = floats(values), np.asarray(groups, dtype=np.int64)
    residuals = numeric - numeric.mean()
    sums, sizes = np.bincount(numbers, residuals), np.bincount(numbers)
    pairs, squares = float((sizes * (sizes - 1)).sum()), float((residuals**2).sum())
    if not (pairs and squares):
        return 0.0
    return float(np.clip((float((sums**2).sum()) - squares) / pairs / (squares / len(residuals)), 0.0, 1.0))


def effective_examples(values: ArrayLike, clusters: ArrayLike | None = None) -> float:
    """Return how many independent examples estimate a mean as precisely as examples in clusters.

    It is the number of examples divided by Kish's design effect (1965), by the working model of
    ``clustered_variance``. With clusters of n examples each, the design effect is 1 + (n - 1) r. Here r is
    ``intraclass``, moved towards 1 as by one more value which shows that examples of a cluster are equal.
    This matters if few values in clusters of several examples are far from the mean.

    Parameters
    ----------
    values
        (examples,) numbers.
    clusters
        (examples,) the same for examples that belong together; without it, each is by itself.
    """
    numeric = floats(values)
    groups, _ = numbered(numeric.size, clusters)
    sizes = np.bincount(groups)
    shares, squares = sizes / numeric.size, (numeric - numeric.mean()) ** 2
    # as many values that are furthest from the mean have the same variance
    values_in_clusters = squares[sizes[groups] > 1].sum() / squares.max() if squares.any() else 0.0
    correlation = (intraclass(numeric, groups) * values_in_clusters + 1) / (values_in_clusters + 1)
    return float(1 / (shares**2 * (correlation + (1 - correlation) / sizes)).sum())


def satterthwaite(
    variances: Sequence[float], freedoms: Sequence[float], variance: float | None = None
) -> float:
    """The degrees of freedom of a sum of variances that are estimated independently (Satterthwaite, 1946).

    Parameters
    ----------
    variances, freedoms
        Each variance, and its degrees of freedom.
    variance
        The variance whose degrees of freedom are returned; by default, the sum.

    Returns
    -------
    float
        0 if no variance is above 0.
    """
    total = sum(variances) if variance is None else variance
    below = sum(term**2 / freedom for term, freedom in zip(variances, freedoms, strict=True))
    return total**2 / below if below > 0 else 0.0


def clustered_mean(
    values: ArrayLike, clusters: ArrayLike | None = None, confidence: float = CONFIDENCE
) -> Estimate:
    """Return a mean with its interval, examples of one cluster taken as wholes.

    The standard error and the degrees of freedom are those of ``clustered_variance``; if each example is a
    cluster by itself, the common ones, with n - 1.

    Parameters
    ----------
    values
        (examples,) numbers.
    clusters
        (examples,) the same for examples that belong together; without it, each is by itself.
    confidence
        Confidence level of the interval, in (0, 1).

    Returns
    -------
    Estimate
        Without an interval if there are fewer than two clusters, a value is infinite, or values do not vary:
        then nothing shows how far the mean is from the true one.

    Raises
    ------
    InputError
        If values have several dimensions, or there is not one cluster for each.
    """
    check_same_order(values, clusters)
    numeric = floats(values)
    if numeric.ndim != 1:
        raise InputError(f"values have {numeric.ndim} dimensions; expected one, of examples")
    if not numeric.size:
        return Estimate(nan, confidence=confidence)
    groups, count = numbered(numeric.size, clusters)
    with np.errstate(invalid="ignore"):  # of infinities of both signs there is none
        mean = float(numeric.mean())
    if count < 2 or not isfinite(mean):
        return Estimate(mean, examples=numeric.size, clusters=count, confidence=confidence)
    residuals = numeric - mean
    variance, freedom = clustered_variance(
        np.bincount(groups, residuals) / numeric.size, np.bincount(groups), intraclass(residuals, groups)
    )
    error = sqrt(variance)
    if error <= ROUNDING * np.abs(numeric).max():  # values differ by rounding errors only
        error = 0.0
    interval = student(mean, error, freedom, confidence)
    return interval._replace(examples=numeric.size, clusters=count)


def welch(first: Estimate, second: Estimate, confidence: float = CONFIDENCE) -> Estimate:
    """The difference of two estimates from other examples, by the standard errors of both (Welch, 1947)."""
    freedom = satterthwaite(
        [first.standard_error**2, second.standard_error**2],
        [max(estimate.freedom, 1) for estimate in (first, second)],
    )
    interval = student(
        first.value - second.value, hypot(first.standard_error, second.standard_error), freedom, confidence
    )
    return interval._replace(
        examples=first.examples + second.examples, clusters=first.clusters + second.clusters
    )


def bootstrap_interval(
    values: ArrayLike,
    clusters: ArrayLike | None = None,
    confidence: float = CONFIDENCE,
    resamples: int = RESAMPLES,
    seed: int = 0,
    method: str = "basic",
) -> tuple[float, float]:
    """Return the interval of a mean over examples, by drawing clusters of examples with replacement.

    Parameters
    ----------
    values
        (examples,) numbers.
    clusters
        (examples,) the same for examples that belong together; without it, each is by itself.
    method
        The method of ``scipy.stats.bootstrap``: ``basic`` (pivotal), ``percentile`` or ``BCa``.

    Returns
    -------
    tuple
        Its ends; missing of fewer than two clusters, and both the mean if values do not vary.

    Raises
    ------
    InputError
        If the confidence level is outside (0, 1), a value is missing or infinite, or the method is unknown.
    """
    check_inside(0, 1, confidence=confidence)
    check_same_order(values, clusters)
    if str(method).lower() not in METHODS:
        raise InputError(f"method is {method!r}; expected one of {', '.join(METHODS)}")
    if not np.isfinite(floats(values)).all():
        raise InputError("a value is missing or infinite; expected numbers")
    sums, sizes = cluster_sums(values, clusters)
    if len(sums) < 2:
        return np.nan, np.nan
    if np.ptp(sums / sizes) == 0:
        return float(sums[0] / sizes[0]), float(sums[0] / sizes[0])
    from scipy.stats import bootstrap  # slow to import

    result = bootstrap(
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
    return float(result.low), float(result.high)
