"""Two models on the same examples: how large the difference is, and whether it is more than noise.

The difficulty of an example is the same for both models, so it cancels in the paired differences. So a paired
comparison is more precise than two scores with separate intervals.

The interval, the p-value and the power come from one test. For correct and wrong answers to single examples,
it is the score test of a difference of paired proportions (Tango, 1998). Its p-value is that of McNemar's
test (1947) without continuity correction. For other scores, and for clusters of examples, it is Student's t
test with a clustered standard error. For correct and wrong answers in clusters, the interval is extended to
the score interval of as many independent examples as the clusters are worth. docs/compare.md compares both
tests with others.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize, signal, stats

from abovechance.core.arrays import Floats, check_same_order, differences, floats
from abovechance.core.errors import InputError, check_inside
from abovechance.core.estimates import (
    CONFIDENCE,
    RESAMPLES,
    Estimate,
    clustered_mean,
    effective_examples,
    student,
    welch,
)
from abovechance.core.html import as_html
from abovechance.core.resampling import BATCH
from abovechance.core.searching import least_lasting, least_whole

POWER = 0.8
LEAST_DIFFERENCE = 1e-9  # that counts as one
BESIDE_ZERO = 1e-9  # where an end is that must not be 0
MOST_STEPS = 10**6  # of a sum whose distribution is worked out exactly
MOST_EXAMPLES = 10**9  # that planning counts
MOST_PROMPTS = 256  # of which scores may be means


class Comparison(NamedTuple):
    """The first model less the second one, on the same examples.

    Attributes
    ----------
    examples, clusters
        The number of examples, and the number of independent clusters of examples.
    first, second
        The models' scores: means over the examples.
    difference
        The first less the second; ``method`` is ``score`` (Tango's), ``Student``, or
        ``exchange`` if the difference of scores is the same on all clusters. The p-value is at most
        1 - confidence if and only if the interval excludes 0. There is no interval if the difference of
        scores is the same on all examples and the test is Student's, so that nothing says how it varies.
    unpaired
        The same as if the examples were not the same ones (Welch).
    gain
        The factor of examples that an unpaired comparison needs for the same precision.
    better, worse
        On how many examples the first model has the higher score, and the lower one.
    detectable
        The smallest true difference that the test finds with this power and this number of examples, if the
        share of examples with different scores stays the same. Missing if no possible difference reaches
        this power, if equal models do, or if the variance of the differences is unknown.
    needed
        The number of examples from which on the test finds the observed difference with this power. Missing
        if no number is enough, or if the variance or the difference is 0.
    """

    examples: int
    clusters: int
    first: float
    second: float
    difference: Estimate
    unpaired: Estimate
    gain: float
    better: int
    worse: int
    detectable: float
    needed: float

    def _repr_html_(self) -> str:
        return as_html(self._asdict())


def compare(
    first: ArrayLike,
    second: ArrayLike,
    clusters: ArrayLike | None = None,
    confidence: float = CONFIDENCE,
    power: float = POWER,
) -> Comparison:
    """Compare two models on the same examples; see ``Comparison``.

    Parameters
    ----------
    first, second
        (examples,) the scores of both, of the same examples in the same order: 0 and 1, or any numbers.
    clusters
        (examples,) the same for examples that belong together, such as questions on one passage; without
        it, each is by itself.
    confidence, power
        Confidence level of intervals and power for planning, each in (0, 1).

    Raises
    ------
    InputError
        If the models have different numbers of scores or fewer than two, if a score is not a number, or if
        Series have a label at different positions.
    """
    check_inside(0, 1, confidence=confidence, power=power)
    check_same_order(first, second, clusters)
    if power <= 1 - confidence:
        raise InputError(f"power is {power:g}; expected more than the significance level, {1 - confidence:g}")
    first_scores, second_scores = checked(first, second)
    scale = largest([first_scores, second_scores])
    # in units of the largest score, so that squares neither overflow nor vanish
    first_scaled, second_scaled = first_scores / scale, second_scores / scale
    mean, test = difference_test(first_scaled, second_scaled, clusters, 1 / scale, confidence)
    unpaired = welch(
        clustered_mean(first_scaled, clusters), clustered_mean(second_scaled, clusters), confidence
    )
    low, high = test.interval(confidence)
    limit = largest_difference(first_scores, second_scores)
    by_example = differences(first_scores, second_scores)
    detectable = float(test.detectable(confidence, power) * scale)
    difference = mean._replace(low=low, high=high, p=test.p, method=test.name).scaled(scale)
    return Comparison(
        examples=len(first_scores),
        clusters=mean.clusters,
        first=float(first_scores.mean()),
        second=float(second_scores.mean()),
        difference=difference._replace(
            value=float(first_scores.mean() - second_scores.mean()) if by_example.any() else 0.0
        ).within(limit),
        unpaired=unpaired.scaled(scale).within(limit),
        gain=(unpaired.standard_error / mean.standard_error) ** 2 if test.varies else np.nan,
        better=int((by_example > 0).sum()),
        worse=int((by_example < 0).sum()),
        detectable=detectable if detectable <= limit else np.nan,
        needed=test.needed(confidence, power),
    )


def largest(scores: ArrayLike) -> float:
    """Return the largest absolute score, at least the smallest normal number; 1 if all scores are 0."""
    largest_score = float(np.abs(scores).max())
    return max(largest_score, float(np.finfo(float).tiny)) if largest_score else 1.0


def are_shares(*scores: ArrayLike) -> bool:
    """Return whether all scores are from 0 to 1, as accuracies are."""
    values = np.concatenate([floats(part).ravel() for part in scores])
    return bool(np.nanmin(values) >= 0 and np.nanmax(values) <= 1)


def largest_difference(*scores: ArrayLike) -> float:
    """Return the largest possible difference of two mean scores: 1 if all scores are from 0 to 1."""
    return 1.0 if are_shares(*scores) else np.inf


def difference_test(
    first: Floats,
    second: Floats,
    clusters: ArrayLike | None = None,
    correct: float = 1.0,
    confidence: float = CONFIDENCE,
) -> tuple[Estimate, ScoreTest | StudentTest]:
    """Return the mean difference of scores, and the test of it.

    Parameters
    ----------
    first, second
        (examples,) scores.
    correct
        The score of a right answer, if they are of right and wrong answers.
    """
    by_example = differences(first, second)
    mean = clustered_mean(by_example, clusters, confidence)
    if not np.isin([first, second], (0, correct)).all():
        return mean, StudentTest(mean, by_example)
    better, worse = int((by_example > 0).sum()), int((by_example < 0).sum())
    if mean.clusters == len(first):
        return mean, ScoreTest(better, worse, len(first))
    count = effective_examples(by_example, clusters)
    share = count / len(first)
    return mean, StudentTest(mean, by_example, ScoreTest(better * share, worse * share, count))


@dataclass(frozen=True)
class ScoreTest:
    """The score test of the difference of two proportions of the same examples (Tango, 1998).

    Attributes
    ----------
    better, worse
        On how many examples the first alone is right, and the second alone.
    examples
        Number of examples. With clusters, these are not whole numbers (``effective_examples``).
    """

    better: float
    worse: float
    examples: float

    name = "score"

    @property
    def reversed(self) -> ScoreTest:
        """The test of the second model's score less the first's."""
        return ScoreTest(self.worse, self.better, self.examples)

    @property
    def varies(self) -> bool:
        """Whether differences vary."""
        return self.better + self.worse > 0 and self.examples not in (self.better, self.worse)

    @property
    def p(self) -> float:
        """Two-sided; for no difference, the statistic is McNemar's."""
        return float(2 * stats.norm.sf(abs(self._score(0.0))))

    def interval(self, confidence: float) -> tuple[float, float]:
        """Return the differences that are not rejected."""
        return self.within(float(stats.norm.isf((1 - confidence) / 2)))

    def within(self, reach: float) -> tuple[float, float]:
        """Return the least and the largest difference with a statistic of at most this size."""
        middle = (self.better - self.worse) / self.examples
        ends = []
        for end, sign in ((-1.0, 1), (1.0, -1)):
            outer, inner = end * (1 - 1e-12), end + (middle - end) * (1 - 1e-12)
            distances = [self._score(delta) - sign * reach for delta in (outer, inner)]
            if distances[0] * distances[1] >= 0:  # not even all rejects it
                ends.append(end)
            else:
                ends.append(self._root(sign * reach, outer, inner))
        return ends[0], ends[1]

    def _root(self, reach: float, outer: float, inner: float) -> float:
        """Return the difference between two others at which the statistic is ``reach``."""

        def gap(delta: float) -> float:
            return self._score(delta) - reach

        return float(optimize.brentq(gap, outer, inner, xtol=1e-12))

    def _score(self, delta: float) -> float:
        """Tango's statistic of a difference; 0 if no answer differs and none should."""
        count, better, worse = self.examples, self.better, self.worse
        second = -better - worse + (2 * count - better + worse) * delta
        third = -worse * delta * (1 - delta)
        # the probability that the second alone is right, at its most likely under this difference
        alone = (math.sqrt(max(second**2 - 8 * count * third, 0.0)) - second) / (4 * count)
        variance = count * (2 * alone + delta * (1 - delta))
        above = better - worse - count * delta
        return above / math.sqrt(variance) if variance > 0 else 0.0

    def power(self, delta: float, examples: int, confidence: float) -> float:
        """The probability that a test of so many examples rejects, if the same share of answers differs."""
        differ = max((self.better + self.worse) / self.examples, abs(delta))
        reach = stats.norm.isf((1 - confidence) / 2)
        spread = 8 * math.sqrt(examples * differ * (1 - differ)) + 8
        least, highest = (
            max(0, int(examples * differ - spread)),
            min(examples, int(examples * differ + spread) + 1),
        )
        number = np.arange(least, highest + 1)
        needed = np.ceil((number + reach * np.sqrt(number)) / 2 - 1e-9)
        share = (1 + abs(delta) / differ) / 2
        rejects = stats.binom.sf(needed - 1, number, share) + stats.binom.cdf(number - needed, number, share)
        rejects = np.where(number > 0, np.minimum(rejects, 1.0), 0.0)
        return float(stats.binom.pmf(number, examples, differ) @ rejects)

    def detectable(self, confidence: float, power: float) -> float:
        """Return the least difference that is found with this power.

        Missing if the largest one is not, or if equal models are found to differ as often.
        """

        def lacking(delta: float) -> float:
            return self.power(delta, int(self.examples), confidence) - power

        if self.better + self.worse == 0 or lacking(1.0) < 0 or lacking(LEAST_DIFFERENCE) >= 0:
            return np.nan
        return float(optimize.brentq(lacking, LEAST_DIFFERENCE, 1.0, xtol=1e-7))

    def needed(self, confidence: float, power: float) -> float:
        """Return how many examples it takes to find the observed difference with this power."""
        delta = abs(self.better - self.worse) / self.examples
        if not delta:
            return np.nan
        return _least_examples(least_lasting, lambda examples: self.power(delta, examples, confidence), power)


@dataclass(frozen=True)
class StudentTest:
    """Student's test of a clustered mean of differences.

    Attributes
    ----------
    mean
        The mean of differences.
    differences
        (examples,) which they are.
    answers
        For correct and wrong answers, the score test of as many independent examples as the clusters are
        worth. If few clusters differ, Student's interval is too short on the side of more differences,
        because the estimated variance is too small. Then the score interval is longer.
    """

    mean: Estimate
    differences: Floats
    answers: ScoreTest | None = None

    @property
    def reversed(self) -> StudentTest:
        """The test of the second model's score less the first's."""
        mean = self.mean._replace(value=-self.mean.value, low=-self.mean.high, high=-self.mean.low)
        return StudentTest(mean, -self.differences, self.answers and self.answers.reversed)

    @property
    def name(self) -> str:
        """Return the method of the p-value; the permutation test if all clusters have the same difference."""
        return "Student" if self.varies else "exchange"

    def scaled(self, factor: float) -> StudentTest:
        """Return the test in a unit that is ``factor`` times smaller; that of answers has no unit."""
        return StudentTest(self.mean.scaled(factor), self.differences * factor, self.answers)

    @property
    def varies(self) -> bool:
        """Whether differences vary by more than rounding."""
        return bool(self.mean.standard_error > 1e-12 * np.abs(self.differences).max())

    @property
    def p(self) -> float:
        """Two-sided; of a difference that is the same on all examples, by exchanging the models."""
        if not self.varies:
            return 1.0 if not self.mean.value else exchanged(np.full(self.mean.clusters, self.mean.value))
        return self.mean.p

    def interval(self, confidence: float) -> tuple[float, float]:
        """Return Student's interval, extended to the score interval; missing if differences do not vary.

        If the test rejects a difference of 0, an end that would pass 0 stops just before.
        """
        if not self.varies:
            return np.nan, np.nan
        mean = student(*self.mean[:2], self.mean.freedom, confidence)
        if self.answers is None:
            return mean.low, mean.high
        low, high = self.answers.within(float(stats.t.isf((1 - confidence) / 2, self.mean.freedom)))
        return beside_zero(min(low, mean.low), max(high, mean.high), mean.low, mean.high)

    def power(self, delta: float, times: float, confidence: float) -> float:
        """Return the probability that the test rejects with ``times`` as many clusters."""
        freedom = (self.mean.freedom + 1) * times - 1
        reach, centre = (
            stats.t.isf((1 - confidence) / 2, freedom),
            abs(delta) / self.mean.standard_error * math.sqrt(times),
        )
        above, below = stats.nct.sf(reach, freedom, centre), stats.nct.cdf(-reach, freedom, centre)
        # scipy has no number for probabilities that are next to 0 or 1
        return float(np.nan_to_num(above, nan=float(centre > reach)) + np.nan_to_num(below))

    def detectable(self, confidence: float, power: float) -> float:
        """Return the least difference that is found with this power."""
        if not self.varies:
            return np.nan

        def lacking(delta: float) -> float:
            return self.power(delta, 1.0, confidence) - power

        upper = self.mean.standard_error * 10
        while lacking(upper) < 0:
            upper *= 2
        return float(optimize.brentq(lacking, 0.0, upper, xtol=1e-9 * upper))

    def needed(self, confidence: float, power: float) -> float:
        """Return how many examples, in clusters like these, find the observed difference with this power."""
        if not self.varies or not self.mean.value:
            return np.nan
        current = self.mean.examples
        least = 2 / (self.mean.freedom + 1)  # with these there is a degree of freedom

        def reached(examples: int) -> float:
            return self.power(self.mean.value, max(examples / current, least), confidence)

        return _least_examples(least_whole, reached, power)  # the power does not fall by steps


def beside_zero(low: float, high: float, tested_low: float, tested_high: float) -> tuple[float, float]:
    """Return the ends of an interval, which exclude 0 if those of a test do."""
    if tested_low > 0:
        low = max(low, min(BESIDE_ZERO, tested_low))
    if tested_high < 0:
        high = min(high, max(-BESIDE_ZERO, tested_high))
    return low, high


def _least_examples(search: Callable[..., int], power_of: Callable[[int], float], power: float) -> float:
    """Return the least number of examples from which on the test has this power; missing above 10^9."""
    least = search(lambda examples: power_of(examples) >= power, MOST_EXAMPLES, after=1)
    return float(least) if least <= MOST_EXAMPLES else np.nan


def checked(first: ArrayLike, second: ArrayLike) -> tuple[Floats, Floats]:
    """Both as arrays; InputError unless they are scores of the same examples."""
    first_scores, second_scores = floats(first), floats(second)
    if first_scores.shape != second_scores.shape or first_scores.ndim != 1:
        raise InputError(
            f"scores of the shapes {first_scores.shape} and {second_scores.shape}; "
            "expected one score per example, for the same examples"
        )
    if len(first_scores) < 2:
        raise InputError(f"{len(first_scores)} examples; expected at least 2")
    for name, values in (("first", first_scores), ("second", second_scores)):
        if not np.isfinite(values).all():
            place = int((~np.isfinite(values)).argmax())
            raise InputError(f"score {place} of the {name} model is {values[place]:g}; expected a number")
    return first_scores, second_scores


def exchanged(sums: ArrayLike, resamples: int = RESAMPLES, seed: int = 0) -> float:
    """Return the p-value of a permutation test that exchanges the two models within each cluster.

    The p-value is exact if all sums are multiples of one number, as for correct and wrong answers and for
    their means over prompts. Otherwise, all exchanges are counted if there are at most ``resamples``. If
    there are more, ``resamples`` exchanges are drawn, and p is (b + 1) / (B + 1), which is valid (Phipson and
    Smyth, 2010).

    Parameters
    ----------
    sums
        (clusters,) sums of differences.
    """
    numeric = floats(sums)
    if numeric.ndim != 1 or not np.isfinite(numeric).all():
        raise InputError("expected one finite difference per cluster, in one dimension")
    largest = np.abs(numeric).max(initial=0.0)
    sums = numeric[np.abs(numeric) > 1e-12 * largest]  # others are the same either way
    magnitudes = np.abs(sums)
    if len(magnitudes) < 2:
        return 1.0
    for unit in (1.0, float(magnitudes.min())):  # of numbers on another scale, in steps of the least
        for times in range(1, MOST_PROMPTS + 1):
            steps = magnitudes / unit * times
            whole = np.rint(steps)
            if whole.min() > 0 and np.abs(steps - whole).max() < 1e-9 * times:
                if whole.sum() > MOST_STEPS:
                    break
                return _exactly(abs(float((np.sign(sums) * whole).sum())), whole)
    test = stats.permutation_test(
        (sums / magnitudes.sum(),),
        # rounded, so that sums that are equal but for the last digit count as equal
        lambda values, axis=-1: np.abs(values.sum(axis=axis)).round(12),
        permutation_type="samples",
        vectorized=True,
        n_resamples=resamples,
        alternative="greater",
        batch=max(1, BATCH // len(magnitudes)),
        rng=np.random.default_rng(seed),
    )
    return float(test.pvalue)


def _exactly(reached: float, sizes: Floats) -> float:
    """Return how probable it is that whole numbers with signs at random have a sum as far from 0.

    The numbers of one size are a binomial, and their sums the convolution of these.
    """
    steps = np.ones(1)  # of how many of the sum are positive, in steps of 1
    for size, count in zip(*np.unique(sizes, return_counts=True), strict=True):
        distribution = np.zeros(int(size) * int(count) + 1)
        distribution[:: int(size)] = stats.binom.pmf(np.arange(count + 1), count, 0.5)
        steps = (
            signal.convolve(steps, distribution, method="direct")
            if min(len(distribution), len(steps)) < 500
            else signal.fftconvolve(steps, distribution)
        )
    positive = np.arange(len(steps))
    far = np.abs(2 * positive - (len(steps) - 1)) >= reached
    return float(min(1.0, np.clip(steps, 0, None)[far].sum()))


def mcnemar(first: ArrayLike, second: ArrayLike) -> float:
    """Return the p-value of McNemar's exact test: is either model as often the only correct one?

    Parameters
    ----------
    first, second
        (examples,) scores of the two models on the same examples.

    Returns
    -------
    float
        In [0, 1]; missing if a score is neither 0 nor 1.
    """
    check_same_order(first, second)
    first, second = checked(first, second)
    if not np.isin(first, (0, 1)).all() or not np.isin(second, (0, 1)).all():
        return np.nan
    better, worse = int((first > second).sum()), int((first < second).sum())
    return float(stats.binomtest(better, better + worse).pvalue) if better + worse else 1.0
