"""Two models under several prompts: these prompts, prompts like them, and the best one of each model.

The same prompts are put to both models, so that differences are paired by prompts and by examples. All three
have one inference each: a standard error and Student's distribution.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from abovechance.compare.two_models import exchanged
from abovechance.core.arrays import Floats
from abovechance.core.errors import InputError
from abovechance.core.estimates import (
    CONFIDENCE,
    Estimate,
    clustered_variance,
    intraclass,
    satterthwaite,
    student,
    variance_of_sum,
)
from abovechance.core.resampling import cluster_sums, numbered

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
    values = np.stack([np.where(there, one, 0), np.where(there, other, 0), there])
    sums, counts = cluster_sums(values, clusters)
    sizes = sums[2]
    scores = sums[:2].sum(axis=2) / sizes.sum(axis=1)
    difference = float((scores[0] - scores[1]).mean())
    prompts, examples = one.shape
    by_example = np.where(there, one - other, 0).sum(axis=0) / np.maximum(there.sum(axis=0), 1)
    alike = intraclass(by_example, numbered(examples, clusters)[0])
    estimates = (
        _of_these(sums[0] - sums[1], sizes, counts, alike, confidence),
        _of_population(sums[0] - sums[1], sizes, counts, alike, difference, confidence),
        _of_best(sums[:2], sizes, counts, alike, confidence, np.random.default_rng(seed)),
    )
    facts = {"examples": examples, "clusters": len(counts)}
    return OverPrompts(prompts, examples, *(own._replace(**facts) for own in estimates))


def _of_these(sums: Floats, sizes: Floats, counts: Floats, alike: float, confidence: float) -> Estimate:
    """The mean over prompts, with examples drawn anew.

    Parameters
    ----------
    sums, sizes
        (prompts, clusters) of differences, and of how many examples.
    counts
        (clusters,) how many examples each has.
    alike
        The correlation of the examples of one cluster.
    """
    totals = sizes.sum(axis=1, keepdims=True)
    means = sums.sum(axis=1, keepdims=True) / totals
    left = ((sums - means * sizes) / totals).mean(axis=0)
    variance, freedom = clustered_variance(left, counts, alike)
    found = student(float(means.mean()), variance**0.5, freedom, confidence)
    if not variance > (1e-12 * np.abs(sums / totals).max()) ** 2:  # nothing varies: by exchanging the models
        exact = exchanged((sums / totals).mean(axis=0))
        return Estimate(found.value, p=exact, confidence=confidence, method="exchange")
    return found


def _of_best(
    sums: Floats,
    sizes: Floats,
    counts: Floats,
    alike: float,
    confidence: float,
    generator: np.random.Generator,
) -> Estimate:
    """The difference of best prompts, each chosen on one half of the examples and scored on the other.

    Of prompts that are equally good on the first half, the mean is taken. Parameters are those of
    ``_of_these``, and ``sums`` are (models, prompts, clusters) of scores.
    """
    count = sums.shape[2]
    differences, variances, freedoms = [], [], []
    for _ in range(PARTITIONS):
        half = generator.permutation(count) % 2
        for number in (0, 1):
            chosen_on, scored_on = half != number, half == number
            size = sizes[:, chosen_on].sum(axis=1)
            means = np.full(sums.shape[:2], -np.inf)
            np.divide(sums[:, :, chosen_on].sum(axis=2), size, where=size > 0, out=means)
            best = means >= means.max(axis=1, keepdims=True) - 1e-12
            examples = sizes[:, scored_on]
            total = examples.sum(axis=1, keepdims=True)
            if not total[best.any(axis=0)].all():
                continue
            total = np.maximum(total, 1)
            scores = sums[:, :, scored_on].sum(axis=2, keepdims=True) / total
            left = (sums[:, :, scored_on] - scores * examples) / total
            weight = best / best.sum(axis=1, keepdims=True)
            value = np.einsum("mp,mp->m", weight, scores[:, :, 0])
            moved = np.einsum("mp,mpc->mc", weight, left)
            variance, freedom = clustered_variance(moved[0] - moved[1], counts[scored_on], alike)
            differences.append(float(value[0] - value[1]))
            variances.append(variance)
            freedoms.append(freedom)
    if not differences:
        return Estimate(np.nan, confidence=confidence)
    error, freedom = float(np.sqrt(np.mean(variances))), float(np.mean(freedoms))
    return student(float(np.mean(differences)), error, freedom, confidence)


def _of_population(
    sums: Floats, sizes: Floats, counts: Floats, alike: float, difference: float, confidence: float
) -> Estimate:
    """The interval of a mean over prompts and examples, both as if drawn from more of them.

    Parameters are those of ``_of_these``.
    """
    weight = 1 / (len(sums) * sizes.sum(axis=1, keepdims=True))
    left = weight * (sums - difference * sizes)
    of_examples, freedom = clustered_variance(left.sum(axis=0), counts, alike)
    variances = [variance_of_sum(left.sum(axis=1)), of_examples]
    variance = max(sum(variances) - float((left**2).sum()), *variances)
    freedoms = [max(len(sums) - 1, 1), max(freedom, 1)]
    error = variance**0.5 if len(sums) > 1 else np.nan
    return student(difference, error, satterthwaite(variances, freedoms, variance), confidence)
