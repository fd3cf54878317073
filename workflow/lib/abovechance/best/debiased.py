"""How good the chosen candidate is, after paying for the choice.

The best of several observed scores is too high on average: the choice favours candidates with luck. Two
estimates correct for this.

The *debiased score* is a cross-fitted choice. The examples are split at random into halves many times. In
each split, the best candidate of one half is chosen and scored on the other half, whose examples had no part
in the choice. The debiased score is the mean over splits.

The *interval* is simultaneous at its lower end only. The chosen candidate's error is at most the largest
error of all candidates, so the lower end uses a quantile of the largest of t correlated normal errors. The
upper end needs no correction: the chosen candidate has at least the score of the truly best one, so it can
only be far below its own true score if the truly best candidate is, too. That is one candidate, fixed before
the data. The ends are those of Clopper and Pearson's exact interval (1934), because others miss very low and
very high scores. The variance is the mean over all candidates, because a candidate with only correct answers
seems to have none. If the chosen candidate's own variance is larger, it is used.

``docs/validation.md`` compares both with other methods in simulations.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import sqrt

import numpy as np
from scipy.optimize import brentq
from scipy.special import betaincinv, ndtr, ndtri, stdtrit

from abovechance.best.candidates import Candidates
from abovechance.core.arrays import Bools, Floats, Ints
from abovechance.core.errors import InputError, check_inside
from abovechance.core.estimates import CONFIDENCE
from abovechance.core.resampling import cluster_sums

SPLITS = 200
FEWEST_CLUSTERS = 5  # with fewer, neither a half nor a variance says anything
NODES = np.linspace(-9, 9, 2001)  # dense enough for correlations near 1
WEIGHTS = np.exp(-(NODES**2) / 2)


@dataclass(frozen=True)
class Debiased:
    """An estimate of the true score, or of the true difference, of the chosen candidate.

    Attributes
    ----------
    observed
        The observed value, which is too high on average.
    value
        The debiased estimate; missing (nan) with fewer than ``FEWEST_CLUSTERS`` clusters of
        examples, by their effective number (Kish).
    low, high
        The ends of the interval; missing in the same case.
    confidence
        Confidence level of the interval.
    """

    observed: float
    value: float
    low: float
    high: float
    confidence: float


def debiased_score(
    candidates: Candidates, confidence: float = CONFIDENCE, splits: int = SPLITS, seed: int = 0
) -> Debiased:
    """Return the estimate of the true score of the chosen candidate, in [0, 1].

    Parameters
    ----------
    confidence
        Confidence level of the interval, in (0, 1).
    splits
        Number of random splits of the examples into halves, at least 1.
    seed
        Decides the splits.
    """
    chosen = candidates.chosen
    observed = float(candidates.means[chosen])
    noise = Noise.from_scores(candidates.scores, candidates.clusters)
    if noise.clusters < FEWEST_CLUSTERS:
        return Debiased(observed, np.nan, np.nan, np.nan, confidence)
    # the variance in units of that of right and wrong answers with the same mean
    spreads = candidates.means * (1 - candidates.means)
    # if no score varies, all members of a cluster count as one example
    members = int(candidates.examples[chosen]) / effective_number(
        candidates.clusters[~np.isnan(candidates.scores[chosen])]
    )
    ratio = noise.variance / spreads.mean() if noise.variance > 1e-12 else members
    if spreads[chosen] > 1e-12:
        ratio = max(ratio, noise.variances[chosen] / spreads[chosen])
    if noise.clusters == candidates.scores.shape[1]:
        ratio = min(ratio, 1.0)  # no score from 0 to 1 varies more than one that is 0 or 1
    examples = int(candidates.examples[chosen]) / float(ratio)
    known_variance = ratio == 1.0 and noise.clusters == candidates.scores.shape[1]
    tails = noise.tails(len(candidates.names), confidence, known_variance)
    low, high = binomial_interval(observed, examples, *tails)
    # above the means of the examples, because candidates can have easy or hard ones
    above = candidates.scores - np.nanmean(candidates.scores, axis=0)
    base = observed - float(np.nanmean(above[chosen]))
    value = base + _crossfitted(candidates, above, splits, seed)
    return Debiased(observed, float(np.clip(value, low, high)), low, high, confidence)


def debiased_difference(
    candidates: Candidates,
    start: int = 0,
    confidence: float = CONFIDENCE,
    splits: int = SPLITS,
    seed: int = 0,
) -> Debiased:
    """Return the estimate of the true score of the chosen candidate minus that of the start, in [-1, 1].

    Only examples that the start is evaluated on are used.

    Parameters
    ----------
    start
        The place of the candidate with which the chosen one is compared.
    confidence, splits, seed
        See ``debiased_score``.
    """
    if not 0 <= start < len(candidates.names):
        raise InputError(f"start is {start}; expected 0 to {len(candidates.names) - 1}")
    shared = ~np.isnan(candidates.scores[start])
    differences = candidates.scores[:, shared] - candidates.scores[start, shared]
    of_start = candidates.on(shared)
    clusters = of_start.clusters
    chosen = candidates.chosen
    evaluated = int((~np.isnan(differences[chosen])).sum())
    observed = float(np.nanmean(differences[chosen])) if evaluated else np.nan
    rivals = (~np.isnan(differences)).any(axis=1) & (np.arange(len(differences)) != start)
    if chosen == start:
        return Debiased(0.0, 0.0, 0.0, 0.0, confidence)
    noise = Noise.from_scores(differences[rivals], clusters)
    independent = effective_number(clusters[~np.isnan(differences[chosen])])
    if min(noise.clusters, independent) < FEWEST_CLUSTERS:
        return Debiased(observed, np.nan, np.nan, np.nan, confidence)
    lower, upper = (-float(ndtri(tail)) for tail in noise.tails(int(rivals.sum()), confidence))
    # two more differences, which cancel: a few that are all alike do not show how much they vary (Bonett
    # and Price, 2012)
    largest = float(np.nanmax(abs(differences[chosen]))) or 1.0
    doubt = 2 * largest**2 * evaluated / independent**2
    own_variance = noise.variances[np.flatnonzero(rivals).tolist().index(chosen)] + doubt
    error = sqrt(max(noise.variance, own_variance) / evaluated)
    low, high = max(observed - lower * error, -1.0), min(observed + upper * error, 1.0)
    value = _crossfitted(of_start, differences, splits, seed)
    return Debiased(observed, float(np.clip(value, low, high)), low, high, confidence)


def effective_number(clusters: Ints) -> float:
    """Return the number of clusters of equal size that would say as much (Kish); 0 of no examples."""
    sizes = np.bincount(clusters).astype(np.float64) if clusters.size else np.zeros(1)
    return float(sizes.sum() ** 2 / max((sizes**2).sum(), 1.0))


@dataclass(frozen=True)
class Noise:
    """How far observed scores of candidates are from their true scores.

    Attributes
    ----------
    variances
        (candidates,) the variance of each mean score, times the number of examples.
    correlation
        Mean correlation between the errors of two candidates, in [0, 1).
    clusters
        Effective number of clusters of examples (Kish): the number of clusters of equal size in which
        examples are as unevenly divided.
    """

    variances: Floats
    correlation: float
    clusters: float

    @property
    def variance(self) -> float:
        """The mean variance over candidates."""
        return float(self.variances.mean())

    @classmethod
    def from_scores(cls, scores: Floats, clusters: Ints) -> Noise:
        """Return the noise of (candidates, examples) scores, nan where a candidate is not evaluated."""
        evaluated = ~np.isnan(scores)
        sizes = evaluated.sum(axis=1, keepdims=True)
        means = np.nansum(scores, axis=1, keepdims=True) / sizes
        errors, _ = cluster_sums(np.where(evaluated, scores - means, 0.0) / np.sqrt(sizes), clusters)
        in_clusters = cluster_sums(evaluated, clusters)[0]
        number = np.maximum((in_clusters > 0).sum(axis=1), 2)
        squares, count = (errors**2).sum(axis=1), len(scores)
        variances = squares * number / (number - 1)
        effective = effective_number(clusters)
        if count < 2 or not squares.any():
            return cls(variances, 0.0, effective)
        # the variance of a mean of equally correlated errors, solved for the correlation
        of_mean = count * float((errors.mean(axis=0) ** 2).sum()) / float(squares.mean())
        correlation = float(np.clip((of_mean - 1) / (count - 1), 0.0, 0.999))
        return cls(variances, correlation, effective)

    def tails(self, candidates: int, confidence: float, known_variance: bool = False) -> tuple[float, float]:
        """Return the probabilities with which a single candidate's error may exceed the interval's ends.

        At the lower end, the largest error of all candidates exceeds it with half of what the confidence
        leaves. At the upper end, a single candidate's error does.

        Parameters
        ----------
        known_variance
            True if the mean score determines the variance. If not, it is estimated from the clusters, and
            the tails are those of normal errors behind as many quantiles of Student's distribution.
        """
        check_inside(0, 1, confidence=confidence)
        tail = (1 - confidence) / 2
        largest, single = largest_normal(candidates, self.correlation, tail), float(ndtri(1 - tail))
        few = 1.0
        if not known_variance:
            few = float(-stdtrit(max(self.clusters - 1, 1.0), tail)) / single
        return float(ndtr(-few * largest)), float(ndtr(-few * single))


@lru_cache(maxsize=1024)
def largest_normal(count: int, correlation: float, tail: float) -> float:
    """Return the value that the largest of equally correlated standard normals exceeds with this probability.

    Parameters
    ----------
    count
        Number of normals.
    correlation
        Correlation of any two of them, in [0, 1).
    """

    def excess(value: float) -> float:
        conditional = ndtr((value - sqrt(correlation) * NODES) / sqrt(1 - correlation))
        below = float(WEIGHTS @ conditional**count) / float(WEIGHTS.sum())
        return 1 - below - tail

    return float(brentq(excess, -10, 20, xtol=1e-10))


def binomial_interval(
    score: float, examples: float, lower_tail: float, upper_tail: float
) -> tuple[float, float]:
    """Return the exact interval of a share (Clopper and Pearson, 1934).

    Parameters
    ----------
    score, examples
        The observed share, and of how many examples; their product need not be a whole number.
    lower_tail, upper_tail
        The probabilities that the observed share leaves out at the lower and at the upper end.
    """
    correct = score * examples
    wrong = examples - correct
    low = betaincinv(correct, wrong + 1, lower_tail) if correct > 1e-9 else 0.0
    high = betaincinv(correct + 1, wrong, 1 - upper_tail) if wrong > 1e-9 else 1.0
    return float(low), float(high)


def _crossfitted(candidates: Candidates, values: Floats, splits: int, seed: int) -> float:
    """Return the mean value, on one half of the examples, of the candidate that is best on the other half.

    Parameters
    ----------
    values
        (candidates, examples) whose mean is taken.
    """
    if splits < 1:
        raise InputError(f"splits is {splits}; expected at least 1")
    clusters, count = candidates.clusters, int(candidates.clusters.max()) + 1
    generator = np.random.default_rng(seed)
    halves = np.argsort(generator.random((splits, count)), axis=1) < (count + 1) // 2
    halves = np.concatenate([halves, ~halves])[:, clusters]  # (2 splits, examples) where the choice is made
    center, variances = candidates.scale_of_examples
    above, sizes = _means(candidates.scores - center, halves)
    if not candidates.comparable:
        variance = _means(np.where(candidates.evaluated, variances, np.nan), halves)[0] * sizes
        above *= sizes / np.sqrt(np.where(variance > 1e-12, variance, 1.0))
    choice = np.where(sizes > 0, above, -np.inf)
    value, weight = _means(values, ~halves)
    choice[weight == 0] = -np.inf
    # of candidates that are equally good, the mean
    best = choice >= choice.max(axis=1, keepdims=True) - 1e-9
    weight = np.where(best & np.isfinite(choice), weight, 0.0) / best.sum(axis=1, keepdims=True)
    return float((weight * value).sum() / weight.sum()) if weight.any() else np.nan


def _means(values: Floats, chosen: Bools) -> tuple[Floats, Floats]:
    """(splits, candidates) means over the chosen examples, 0 if there is none, and the number of examples."""
    evaluated = ~np.isnan(values)
    weights = chosen.astype(np.float64)
    sizes = weights @ evaluated.T
    totals = weights @ np.where(evaluated, values, 0.0).T
    return totals / np.maximum(sizes, 1), sizes
