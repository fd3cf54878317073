"""Two models under several prompts: these prompts, prompts like them, and the best one of each model.

The same prompts are put to both models, so that differences are paired by prompts and by examples. All three
have one inference each: a standard error and Student's distribution.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from abovechance.compare.two_models import of_sums
from abovechance.core.arrays import Floats
from abovechance.core.errors import InputError
from abovechance.core.estimates import CONFIDENCE, Estimate, satterthwaite, student, variance_of_sum
from abovechance.core.resampling import cluster_sums

PARTITIONS = 20  # into halves
TRUSTED_PROMPTS = 5


class OverPrompts(NamedTuple):
    """The first model less the second one under the same prompts.

    Attributes
    ----------
    prompts, examples
        How many of both.
    mean
        Of the mean accuracy over these prompts, examples drawn anew.
    population
        The same for prompts like these: the variances that prompts and that examples make are added, and what
        both count is taken off (Cameron, Gelbach and Miller, 2011), with Student's distribution, since
        prompts are few.
        With fewer than ``TRUSTED_PROMPTS``, or very unequal ones, intervals are too narrow (docs/compare.md).
    best
        Of each model's best prompt, by sample splitting: the best prompt on one half of the examples (of
        whole clusters) is scored on the other half, so that no score is high by luck. The mean is over
        ``PARTITIONS`` halvings, the standard error that of one half, which is conservative.
    """

    prompts: int
    examples: int
    mean: Estimate
    population: Estimate
    best: Estimate


def over_prompts(
    first: ArrayLike,
    second: ArrayLike,
    clusters: ArrayLike | None = None,
    confidence: float = CONFIDENCE,
    seed: int = 0,
) -> OverPrompts:
    """Compare two models under the same prompts; see ``OverPrompts``.

    Parameters
    ----------
    first, second
        (prompts, examples) scores of both models; missing where a prompt is not evaluated on an example,
        which is to be so for both.
    clusters
        (examples,) the same for examples that belong together.

    Raises
    ------
    InputError
        If the shapes differ, or where one has a score and the other has none.
    """
    one, other = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if one.ndim != 2 or one.shape != other.shape:
        raise InputError(
            f"scores of the shapes {one.shape} and {other.shape}; right would be prompts and examples, the "
            "same of both"
        )
    there = np.isfinite(one)
    if (there != np.isfinite(other)).any() or not there.any(axis=1).all():
        raise InputError(
            "a score is missing of one model; right would be the same prompts on the same examples"
        )
    # (models and how many, prompts, clusters)
    sums, _ = cluster_sums(np.stack([np.where(there, one, 0), np.where(there, other, 0), there]), clusters)
    sizes = sums[2]
    scores = sums[:2].sum(axis=2) / sizes.sum(axis=1)
    difference = float((scores[0] - scores[1]).mean())
    prompts, examples = one.shape
    estimates = (
        _of_these(sums[0] - sums[1], sizes, confidence),
        _of_population(sums[0] - sums[1], sizes, difference, confidence),
        _of_best(sums[:2], sizes, confidence, np.random.default_rng(seed)),
    )
    return OverPrompts(prompts, examples, *(own._replace(examples=examples) for own in estimates))


def _of_these(sums: Floats, sizes: Floats, confidence: float) -> Estimate:
    """The mean over prompts, with examples drawn anew.

    Parameters
    ----------
    sums, sizes
        (prompts, clusters) of differences, and of how many examples.
    """
    totals = sizes.sum(axis=1, keepdims=True)
    means = sums.sum(axis=1, keepdims=True) / totals
    left = ((sums - means * sizes) / totals).mean(axis=0)
    found = student(float(means.mean()), variance_of_sum(left) ** 0.5, len(left) - 1, 0, confidence)
    if np.isnan(found.p):  # nothing varies: exact, by exchanging the models
        return found._replace(p=of_sums((sums / totals).mean(axis=0), (sizes / totals).mean(axis=0)))
    return found


def _of_best(sums: Floats, sizes: Floats, confidence: float, generator: np.random.Generator) -> Estimate:
    """The difference of best prompts, each chosen on one half of the examples and scored on the other.

    Parameters
    ----------
    sums
        (models, prompts, clusters) of scores.
    sizes
        (prompts, clusters) how many examples a prompt is evaluated on.
    """
    count = sums.shape[2]
    differences, variances = [], []
    for _ in range(PARTITIONS):
        half = generator.permutation(count) % 2
        for number in (0, 1):
            chosen_on, scored_on = half != number, half == number
            size = sizes[:, chosen_on].sum(axis=1)
            means = np.full(sums.shape[:2], -np.inf)
            np.divide(sums[:, :, chosen_on].sum(axis=2), size, where=size > 0, out=means)
            best = means >= means.max(axis=1, keepdims=True) - 1e-12
            prompts = [generator.choice(np.flatnonzero(own)) for own in best]
            right = sums[[0, 1], prompts][:, scored_on]
            examples = sizes[prompts][:, scored_on]
            total = examples.sum(axis=1, keepdims=True)
            if not total.all():
                continue
            scores = right.sum(axis=1, keepdims=True) / total
            left = (right - scores * examples) / total
            differences.append(float(scores[0, 0] - scores[1, 0]))
            variances.append(variance_of_sum(left[0] - left[1]))
    if not differences:
        return Estimate(np.nan, confidence=confidence)
    error = float(np.sqrt(np.mean(variances)))
    return student(float(np.mean(differences)), error, count // 2 - 1, 0, confidence)


def _of_population(sums: Floats, sizes: Floats, difference: float, confidence: float) -> Estimate:
    """The interval of a mean over prompts and examples, both as if drawn from more of them.

    Parameters
    ----------
    sums, sizes
        (prompts, clusters) of differences, and of how many examples.
    """
    weight = 1 / (len(sums) * sizes.sum(axis=1, keepdims=True))
    left = weight * (sums - difference * sizes)
    variances = [variance_of_sum(left.sum(axis=axis)) for axis in (1, 0)]
    variance = max(sum(variances) - float((left**2).sum()), *variances)
    freedom = satterthwaite(variances, [max(count - 1, 1) for count in left.shape], variance)
    error = variance**0.5 if len(sums) > 1 else np.nan
    return student(difference, error, freedom, 0, confidence)
