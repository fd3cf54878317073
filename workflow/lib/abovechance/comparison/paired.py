"""Two models on the same examples: how large the difference is, and whether it is more than noise.

What is the same for both models (how hard an example is) drops out of the differences example by example,
so that these say more than two scores with an interval each.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import signal, stats

from abovechance.core.arrays import Floats
from abovechance.core.errors import InputError
from abovechance.core.means import Mean, cluster_sums, clustered_mean

LEVEL, POWER = 0.95, 0.8
RESAMPLES = 9999
MOST_STEPS = 10**6  # of a sum whose distribution is worked out exactly
MOST_PROMPTS = 256  # of which scores may be means
BATCH = 2**22  # numbers that are resampled at once


class Comparison(NamedTuple):
    """The first model less the second one, on the same examples.

    Attributes
    ----------
    examples, clusters
        How many, and how many that have nothing to do with each other.
    first, second
        The models' scores: means over the examples.
    difference
        The first less the second.
    low, high
        The ends of its interval by resampling clusters of examples with replacement (percentiles); missing
        where the difference is the same on all, so that nothing says how it varies.
    error, t_low, t_high
        Its standard error, and the interval by it and Student's distribution, missing as the other one.
    unpaired_error, unpaired_low, unpaired_high
        The same as if the examples were not the same ones.
    gain
        How many times as many examples the same precision would need unpaired.
    better, worse
        On how many examples the first model has the higher score, and the lower one.
    p
        How probable a difference as large is, either way, where models are exchanged at random within
        clusters of examples.
    mcnemar
        The exact test of McNemar; missing where scores are others than 0 and 1, or examples belong together.
    detectable
        The least true difference that a test at this level finds with this power at this size; missing as the
        intervals are.
    needed
        How many examples would find a difference of this size with this power; missing where it is none.
    """

    examples: int
    clusters: int
    first: float
    second: float
    difference: float
    low: float
    high: float
    error: float
    t_low: float
    t_high: float
    unpaired_error: float
    unpaired_low: float
    unpaired_high: float
    gain: float
    better: int
    worse: int
    p: float
    mcnemar: float
    detectable: float
    needed: float


def compare(
    first: ArrayLike,
    second: ArrayLike,
    clusters: ArrayLike | None = None,
    level: float = LEVEL,
    power: float = POWER,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Comparison:
    """Compare two models on the same examples; see ``Comparison``.

    Parameters
    ----------
    first, second
        (examples,) the scores of both, of the same examples in the same order: 0 and 1, or any numbers.
    clusters
        (examples,) the same for examples that belong together, such as questions on one passage; without
        it, each is by itself. They are resampled and exchanged as wholes.
    level, power
        Of intervals and of planning, each in (0, 1).
    resamples
        How many; fewer where all that exist are fewer.

    Raises
    ------
    InputError
        If there are not as many scores of both, fewer than two, or one is not a number.
    """
    if not (0 < level < 1 and 0 < power < 1):
        raise InputError(f"level and power are {level:g} and {power:g}; right would be between 0 and 1")
    one, other = checked(first, second)
    difference = clustered_mean(one - other, clusters, level)
    sums, sizes = cluster_sums(one - other, clusters)
    # differences that are all the same say nothing of how they vary
    vary = difference.error > 0
    low, high = bootstrap_interval(sums, sizes, level, resamples, seed) if vary else (np.nan, np.nan)
    alone = _unpaired(one, other, clusters, level)
    detectable = factor(level, power) * difference.error if vary else np.nan
    return Comparison(
        examples=difference.examples,
        clusters=difference.clusters,
        first=float(one.mean()),
        second=float(other.mean()),
        difference=difference.mean,
        low=low,
        high=high,
        error=difference.error,
        t_low=difference.low if vary else np.nan,
        t_high=difference.high if vary else np.nan,
        unpaired_error=alone.error,
        unpaired_low=alone.low,
        unpaired_high=alone.high,
        gain=(alone.error / difference.error) ** 2 if difference.error > 0 else np.nan,
        better=int((one > other).sum()),
        worse=int((one < other).sum()),
        p=exchanged(sums, resamples, seed),
        mcnemar=mcnemar(one, other) if difference.clusters == difference.examples else np.nan,
        detectable=detectable,
        needed=examples_needed(difference, detectable),
    )


def checked(first: ArrayLike, second: ArrayLike) -> tuple[Floats, Floats]:
    """Both as arrays; InputError unless they are scores of the same examples."""
    one, other = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if one.shape != other.shape or one.ndim != 1:
        raise InputError(
            f"scores of the shapes {one.shape} and {other.shape}; right would be one for each of the same "
            "examples"
        )
    if len(one) < 2:
        raise InputError(f"{len(one)} examples; right would be at least 2")
    for name, values in (("first", one), ("second", other)):
        if not np.isfinite(values).all():
            place = int((~np.isfinite(values)).argmax())
            raise InputError(
                f"score {place} of the {name} model is {values[place]:g}; right would be a number"
            )
    return one, other


def factor(level: float = LEVEL, power: float = POWER) -> float:
    """How many standard errors a true difference must have to be found with this power, two-sided."""
    return float(stats.norm.ppf((1 + level) / 2) + stats.norm.ppf(power))


def examples_needed(difference: Mean, detectable: float) -> float:
    """How many examples of the same kind would find a difference of this size."""
    if not difference.mean or not np.isfinite(detectable):
        return np.nan
    return float(math.ceil(difference.examples * (detectable / abs(difference.mean)) ** 2))


def bootstrap_interval(
    sums: Floats, sizes: Floats, level: float, resamples: int, seed: int, method: str = "percentile"
) -> tuple[float, float]:
    """The interval of a mean over clusters that are drawn with replacement.

    Parameters
    ----------
    sums, sizes
        (clusters,) of what the mean is of, and how many examples each has.
    method
        Of ``scipy.stats.bootstrap``.
    """
    if len(sums) < 2:
        return np.nan, np.nan
    if np.ptp(sums / sizes) == 0:
        return float(sums[0] / sizes[0]), float(sums[0] / sizes[0])

    def mean(sums: Floats, sizes: Floats, axis: int = -1) -> Floats:
        found: Floats = sums.sum(axis=axis) / sizes.sum(axis=axis)
        return found

    found = stats.bootstrap(
        (sums, sizes),
        mean,
        paired=True,
        vectorized=True,
        n_resamples=resamples,
        confidence_level=level,
        method=method,
        batch=max(1, BATCH // len(sums)),
        rng=np.random.default_rng(seed),
    ).confidence_interval
    return float(found.low), float(found.high)


def exchanged(sums: ArrayLike, resamples: int = RESAMPLES, seed: int = 0) -> float:
    """How probable a sum of differences as far from 0 is, where the models of each cluster are exchanged.

    Exact where sums are multiples of one number, as those of right and wrong answers are, and their means
    over prompts. Else all exchanges are
    counted where there are no more than ``resamples``, or so many are drawn, and p is (b + 1) / (B + 1),
    which is valid (Phipson and Smyth, 2010).

    Parameters
    ----------
    sums
        (clusters,) sums of differences.
    """
    given = np.asarray(sums, dtype=float)
    if given.ndim != 1 or not np.isfinite(given).all():
        raise InputError("differences are no row of numbers; right would be one for each cluster, all there")
    sums = given[np.abs(given) > 1e-12]  # others are the same either way
    told = np.abs(sums)
    if len(told) < 2:
        return 1.0
    for times in range(1, MOST_PROMPTS + 1):
        whole = np.rint(told * times)
        if np.abs(told * times - whole).max() < 1e-9 * times:
            if whole.sum() > MOST_STEPS:
                break
            return _exactly(abs(float((np.sign(sums) * whole).sum())), whole)
    found = stats.permutation_test(
        (sums / told.sum(),),
        # rounded, so that sums that are equal but for the last digit count as equal
        lambda values, axis=-1: np.abs(values.sum(axis=axis)).round(12),
        permutation_type="samples",
        vectorized=True,
        n_resamples=resamples,
        alternative="greater",
        batch=max(1, BATCH // len(told)),
        rng=np.random.default_rng(seed),
    )
    return float(found.pvalue)


def _exactly(reached: float, sizes: Floats) -> float:
    """How probable it is that whole numbers with signs at random have a sum as far from 0.

    The numbers of one size are a binomial, and their sums the convolution of these.
    """
    steps = np.ones(1)  # of how many of the sum are positive, in steps of 1
    for size, count in zip(*np.unique(sizes, return_counts=True), strict=True):
        own = np.zeros(int(size) * int(count) + 1)
        own[:: int(size)] = stats.binom.pmf(np.arange(count + 1), count, 0.5)
        steps = (
            signal.convolve(steps, own, method="direct")
            if min(len(own), len(steps)) < 500
            else signal.fftconvolve(steps, own)
        )
    positive = np.arange(len(steps))
    far = np.abs(2 * positive - (len(steps) - 1)) >= reached
    return float(min(1.0, np.clip(steps, 0, None)[far].sum()))


def mcnemar(first: ArrayLike, second: ArrayLike) -> float:
    """The exact test of McNemar: whether as many examples are right with one model alone as with the other.

    Missing where scores are others than 0 and 1.
    """
    first, second = checked(first, second)
    if not np.isin(first, (0, 1)).all() or not np.isin(second, (0, 1)).all():
        return np.nan
    better, worse = int((first > second).sum()), int((first < second).sum())
    return float(stats.binomtest(better, better + worse).pvalue) if better + worse else 1.0


def _unpaired(first: Floats, second: Floats, clusters: ArrayLike | None, level: float) -> Mean:
    """The difference of two means as if of other examples, with Welch's degrees of freedom."""
    one, other = clustered_mean(first, clusters, level), clustered_mean(second, clusters, level)
    return welch(one, other, level)


def welch(one: Mean, other: Mean, level: float = LEVEL) -> Mean:
    """The difference of two means of other examples, by the standard errors of both (Welch, 1947)."""
    difference, error = one.mean - other.mean, math.hypot(one.error, other.error)
    below = one.error**4 / max(one.clusters - 1, 1) + other.error**4 / max(other.clusters - 1, 1)
    freedom = error**4 / below if below > 0 else np.inf
    reach = float(stats.t.ppf((1 + level) / 2, freedom)) * error if np.isfinite(error) else np.nan
    clusters = one.clusters + other.clusters
    return Mean(
        difference, error, difference - reach, difference + reach, one.examples + other.examples, clusters
    )
