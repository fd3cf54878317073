"""Two models that were trained several times: what a training seed does to their difference."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

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


class OverSeeds(NamedTuple):
    """The first model less the second one, for trainings like these and examples like these.

    Attributes
    ----------
    first_seeds, second_seeds
        How many of each.
    deviation
        The standard deviation over seeds of one training's score on these examples, of both models together;
        missing where both have one seed.
    difference
        Of the means over seeds; without an interval if nothing varies.
    """

    first_seeds: int
    second_seeds: int
    deviation: float
    difference: Estimate


def over_seeds(
    first: ArrayLike,
    second: ArrayLike,
    clusters: ArrayLike | None = None,
    confidence: float = CONFIDENCE,
    elsewhere: tuple[float, int] | None = None,
) -> OverSeeds:
    """Compare two models of which each was trained with several seeds; see ``OverSeeds``.

    Examples are the same for both models, and seeds are not: the variances that the seeds of each model and
    the examples make are added, and what both count is taken off (Cameron, Gelbach and Miller, 2011), with
    Student's distribution of as many degrees of freedom as these leave (Satterthwaite). A model with one seed
    is taken to vary as the other one does; where both have one, what seeds do is not in it.

    Parameters
    ----------
    first, second
        (seeds, examples) scores of each; they may have other numbers of seeds.
    clusters
        (examples,) the same for examples that belong together.
    elsewhere
        The standard deviation of one training's score over seeds, and its degrees of freedom, as other models
        have it: that of a model with one seed, if both have one.

    Raises
    ------
    InputError
        If they do not have the same examples, or a score is missing.
    """
    both = [np.atleast_2d(np.asarray(one, dtype=float)) for one in (first, second)]
    if any(one.ndim != 2 or not one.size for one in both) or both[0].shape[1] != both[1].shape[1]:
        raise InputError(
            f"scores of the shapes {both[0].shape} and {both[1].shape}; right would be seeds and examples, "
            "the same examples of both"
        )
    if not all(np.isfinite(one).all() for one in both):
        raise InputError("a score is missing; right would be all examples of all seeds")
    parts = [_left(one, clusters) for one in both]
    by_example = both[0].mean(axis=0) - both[1].mean(axis=0)
    groups, _ = numbered(len(by_example), clusters)
    sizes, alike = np.bincount(groups), intraclass(by_example, groups)
    means = [one.mean(axis=1) for one in both]
    difference = float(means[0].mean() - means[1].mean())
    over_examples = clustered_variance(parts[0].sum(axis=0) - parts[1].sum(axis=0), sizes, alike)
    variance, freedom = _variance(parts[0], -parts[1], over_examples, elsewhere)
    estimate = student(difference, variance**0.5, freedom, confidence)
    estimate = estimate._replace(examples=both[0].shape[1], clusters=len(sizes))
    return OverSeeds(len(means[0]), len(means[1]), _pooled(means), estimate)


def _left(scores: Floats, clusters: ArrayLike | None) -> Floats:
    """(seeds, clusters) by how much each moves the model's mean."""
    sums, sizes = cluster_sums(scores, clusters)
    found: Floats = (sums - scores.mean() * sizes) / scores.size
    return found


def _variance(
    first: Floats, second: Floats, over_examples: tuple[float, float], elsewhere: tuple[float, int] | None
) -> tuple[float, float]:
    """The variance of the difference, and its degrees of freedom."""
    parts: list[float] = []
    freedoms: list[float] = []
    several = [left for left in (first, second) if len(left) > 1]
    for left in several:
        seeds = len(left)
        of_mean = variance_of_sum(left.sum(axis=1))
        # of a training alone it is as many times as large as there are seeds
        parts.append(of_mean * (1 if len(several) == 2 else 1 + seeds))
        freedoms.append(seeds - 1)
    if not several and elsewhere is not None:
        deviation, freedom = elsewhere
        parts.append(2 * deviation**2)
        freedoms.append(freedom)
    parts.append(over_examples[0])
    freedoms.append(max(over_examples[1], 1))
    counted_twice = sum(float((left**2).sum()) for left in (first, second)) if several else 0.0
    variance = max(sum(parts) - counted_twice, *parts)
    return variance, satterthwaite(parts, freedoms, variance)


def _pooled(means: list[Floats]) -> float:
    """The standard deviation over seeds, of both models together."""
    freedom = sum(len(own) - 1 for own in means)
    squares = sum(float(((own - own.mean()) ** 2).sum()) for own in means)
    return float(np.sqrt(squares / freedom)) if freedom else np.nan
