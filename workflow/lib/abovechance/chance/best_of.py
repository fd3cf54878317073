"""The best of several guessers, each on examples of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abovechance.chance.random_baseline import NEXT_TO_1, RandomBaseline, as_scalar, least_count
from abovechance.core.arrays import Floats, floats
from abovechance.core.html import as_html

# How many points of a distribution are computed at a time.
POINTS = 100_000
TOLERANCE = 1e-12
LEAST_GAP = 4e-16  # below 1, of numbers in floating point


class BestOf:
    """The best score of several independent guessers, one a prompt.

    The distribution function of the best is the product of the prompts' own: F_1(a) ... F_t(a). A
    score is an accuracy; or, where prompts' examples are so different that accuracies cannot
    be compared, the standardized number of correct examples: how many standard deviations of a
    guesser it is above the guesser's mean.

    Parameters
    ----------
    baselines
        The baselines of prompts on the examples they are evaluated on.
    counts
        (..., baselines) how many prompts have each baseline; one each unless given. With more
        than one axis, each row is a best of its own, and results have the shape of the rows.
    standardized
        Whether scores are standardized, and not accuracies.
    """

    def __init__(
        self,
        baselines: Sequence[RandomBaseline],
        counts: ArrayLike | None = None,
        standardized: bool = False,
    ) -> None:
        if counts is None:
            counted = Counter(baselines)
            baselines, counts = list(counted), list(counted.values())
        self._baselines = list(baselines)
        self._counts = np.asarray(counts)
        if self._counts.shape[-1:] != (len(self._baselines),):
            raise ValueError(
                f"counts has the shape {self._counts.shape}: its last axis is of the {len(self._baselines)} "
                "baselines"
            )
        if np.any(self._counts < 0) or np.any(self._counts != np.floor(self._counts)):
            raise ValueError(f"counts is {counts!r}: a number of prompts is whole, and not negative")
        self._prompts = self._counts.sum(axis=-1)
        if not self._baselines or np.any(self._prompts < 1):
            raise ValueError("baselines is empty: the best of no prompt is not defined")
        self.standardized = standardized

    def _repr_html_(self) -> str:
        rows = {"prompts": self.prompts, "standard baseline": self.standard}
        return as_html(rows | {"maximum baseline": self.maximum})

    @property
    def prompts(self) -> NDArray[np.int64] | int:
        """(...,) how many prompts there are."""
        return self._prompts if self._prompts.ndim else int(self._prompts)

    @cached_property
    def standard(self) -> Floats | float:
        """(...,) expected accuracy of one guesser, averaged over the prompts, in [0, 1]."""
        means = np.array([baseline.standard for baseline in self._baselines])
        return as_scalar(self._counts @ means / self._prompts)

    @cached_property
    def scores(self) -> Floats:
        """(points,) every score that some prompt can have, ascending."""
        values = [
            score_of(np.arange(baseline.examples + 1), baseline, self.standardized)
            for baseline in dict.fromkeys(self._baselines)
        ]
        return np.unique(np.concatenate(values))

    def tail(self, score: ArrayLike) -> Floats | float:
        """Return probability that the best guesser has at least this score; arrays broadcast with (...,)."""
        return as_scalar(-np.expm1(self._log_cdf(score, below=True)) + 0.0)  # not -0

    def log_below(self, score: ArrayLike) -> Floats | float:
        """log of the probability that the best guesser has less than this score; tells large tails apart."""
        return as_scalar(self._log_cdf(score, below=True))

    def cdf(self, score: ArrayLike) -> Floats | float:
        """Return probability that the best guesser has at most this score; arrays broadcast with (...,)."""
        return as_scalar(np.exp(self._log_cdf(score, below=False)))

    def exceeded(self, score: ArrayLike) -> Floats | float:
        """Return probability that the best guesser has more than this score; arrays broadcast with (...,)."""
        return as_scalar(-np.expm1(self._log_cdf(score, below=False)) + 0.0)

    @cached_property
    def guessing_above(self) -> Floats | float:
        """(...,) probability that the best guesser's score ``is_above`` its own mean, ``maximum``."""
        points = np.concatenate([self.scores, [np.inf]])
        mean = np.asarray(self.maximum)
        first = np.array([np.argmax(is_above(points, mean_value)) for mean_value in mean.ravel()])
        return as_scalar(np.asarray(self.tail(points[first].reshape(mean.shape))))

    def pmf(self, score: ArrayLike) -> Floats | float:
        """Return probability that the best guesser has exactly this score; arrays broadcast with (...,)."""
        at_most, below = (self._log_cdf(score, below) for below in (False, True))
        # minus nothing times something would be -0
        return as_scalar(np.exp(at_most) * -np.expm1(np.minimum(below - at_most, 0.0)) + 0.0)

    def quantile(self, probability: float) -> Floats | float:
        """(...,) the least score that the best guesser does not exceed with this probability."""
        if not 0 <= probability <= 1:
            raise ValueError(f"probability is {probability!r}: it must be between 0 and 1")
        if probability == 1:
            possible = np.array([_largest_count(baseline, self.standardized) for baseline in self._baselines])
            return as_scalar(np.where(self._counts > 0, possible, -np.inf).max(axis=-1))
        reached = np.exp(self._log_grid(self.scores, below=False)) >= probability
        reached[..., -1] = True
        return as_scalar(self.scores[np.argmax(reached, axis=-1)])

    @cached_property
    def maximum(self) -> Floats | float:
        """(...,) the expected best score: of accuracies, the maximum random baseline, in [0, 1]."""
        alone = np.zeros(self._prompts.shape) if self.standardized else np.asarray(self.standard)
        if np.all(self._prompts == 1):
            return as_scalar(alone)
        if len(self._baselines) == 1 and not self.standardized:
            return self._baselines[0].maximum(self._counts[..., 0])
        expected = np.full(self._prompts.shape, self.scores[0])
        for begin in range(1, len(self.scores), POINTS):
            points = self.scores[begin - 1 : begin + POINTS]
            tails = -np.expm1(self._log_grid(points[1:], below=True))
            expected = expected + tails @ np.diff(points)
        if not self.standardized:
            means = np.array([baseline.standard for baseline in self._baselines])
            certain = np.where(self._counts > 0, means, 0.0).max(axis=-1) == 1
            expected = np.where(certain, expected, np.minimum(expected, NEXT_TO_1))
        return as_scalar(np.where(self._prompts == 1, alone, expected))

    def _log_cdf(self, score: ArrayLike, below: bool) -> Floats:
        """log of the probability that all guessers are at most at, or ``below``, a score."""
        log_cdf: Floats = np.zeros(np.broadcast_shapes(np.shape(score), self._prompts.shape))
        for index, baseline in enumerate(self._baselines):
            times = self._counts[..., index]
            # none of -inf is none, not nan
            log_values = _finite(baseline.log_cdf(self._correct(score, baseline, below)))
            log_cdf = log_cdf + np.where(times > 0, times * log_values, 0.0)
        return log_cdf

    def _log_grid(self, points: Floats, below: bool) -> Floats:
        """(..., points) log of the probability that all are at, or below, every one of the points."""
        log_cdfs = np.stack([b.log_cdf(self._correct(points, b, below)) for b in self._baselines])
        return self._counts @ _finite(log_cdfs)

    def _correct(self, score: ArrayLike, baseline: RandomBaseline, below: bool) -> NDArray[np.int64]:
        """Return the most examples that a guesser has correct whose score is at most, or below, this one."""
        centre, unit = scale(baseline, self.standardized)
        score = floats(score)
        if np.isnan(score).any():
            raise ValueError("score is nan: expected a number")
        # infinities are beyond all scores
        values = np.clip(score * unit + centre, -1.0, baseline.examples + 1.0)
        return least_count(values) - 1 if below else -least_count(-values)


def is_above(score: ArrayLike, bound: ArrayLike) -> NDArray[np.bool_]:
    """Return whether scores are above a bound by more than floating point explains: the only such decision.

    Scores and expected scores are quotients of numbers up to 1e7, so they are within 1e-13 of exact ones; and
    the scores of two numbers of correct examples differ by more than 1e-8. The accuracy 1 is above any
    expected one that differs from it at all: that of many guessers comes as near to it as one likes.
    """
    values = np.asarray(score)
    return values - np.asarray(bound) > np.where(values == 1, LEAST_GAP, TOLERANCE)


def score_of(correct: ArrayLike, baseline: RandomBaseline, standardized: bool) -> Floats:
    """Return the accuracy, or the standardized score, of numbers of correct examples."""
    centre, unit = scale(baseline, standardized)
    return np.asarray((np.asarray(correct) - centre) / unit)


def scale(baseline: RandomBaseline, standardized: bool) -> tuple[float, float]:
    """Return how many correct examples the score 0 is, and how many more each 1 of a score."""
    if not standardized:
        return 0.0, float(baseline.examples)
    # who cannot but be at the mean is at 0
    return baseline.standard * baseline.examples, baseline.deviation or 1.0


def _largest_count(baseline: RandomBaseline, standardized: bool) -> float:
    """The best score that a guesser can have."""
    largest_count = sum(count for chance, count in baseline.counts.items() if chance > 0)
    return float(score_of(largest_count, baseline, standardized))


def _finite(logs: Floats) -> Floats:
    """Logarithms of probabilities, so small where they are -inf that their powers are 0."""
    return np.maximum(logs, -1e6)
