"""Two models that were trained several times: what a training seed does to their difference."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import fdtri

from abovechance.compare.two_models import largest, largest_difference
from abovechance.core.arrays import Floats, check_same_order, differences, example_labels, floats
from abovechance.core.errors import InputError
from abovechance.core.estimates import (
    ALPHA,
    CONFIDENCE,
    Estimate,
    Spread,
    clustered_variance,
    interaction,
    intraclass,
    satterthwaite,
    variance_of_sum,
)
from abovechance.core.html import as_html
from abovechance.core.resampling import cluster_sums, numbered


class OverSeeds(NamedTuple):
    """The first model less the second one, for trainings like these and examples like these.

    Attributes
    ----------
    first_seeds, second_seeds
        The numbers of seeds of the two models.
    deviation
        The standard deviation over seeds of a training run's score on these examples, pooled over both
        models. It is missing if both models have one seed.
    difference
        The difference of the means over seeds. It has no interval if nothing varies.
    """

    first_seeds: int
    second_seeds: int
    deviation: float
    difference: Estimate

    def _repr_html_(self) -> str:
        return as_html(self._asdict())


def over_seeds(
    first: ArrayLike,
    second: ArrayLike,
    clusters: ArrayLike | None = None,
    confidence: float = CONFIDENCE,
) -> OverSeeds:
    """Compare two models of which each was trained with several seeds; see ``OverSeeds``.

    Both models have the same examples but different seeds. So the variance is the sum of the variance over
    seeds and the variance over examples, minus the part that both contain (``core.estimates.interaction``);
    see ``Spread``. A model with one seed is assumed to have the variance of the other model. If both
    models have one seed, the variance over seeds is not included.

    Parameters
    ----------
    first, second
        (seeds, examples) scores of each; they may have other numbers of seeds.
    clusters
        (examples,) the same for examples that belong together.

    Raises
    ------
    InputError
        If they do not have the same examples, or a score is missing.
    """
    check_same_order(example_labels(first), example_labels(second), clusters)
    score_sets = [np.atleast_2d(floats(scores)) for scores in (first, second)]
    if (
        any(scores.ndim != 2 or not scores.size for scores in score_sets)
        or score_sets[0].shape[1] != score_sets[1].shape[1]
    ):
        raise InputError(
            f"scores of the shapes {score_sets[0].shape} and {score_sets[1].shape}; "
            "expected (seeds, examples), with the same examples for both"
        )
    if not all(np.isfinite(scores).all() for scores in score_sets):
        raise InputError("a score is missing; expected all examples of all seeds")
    scale = max(map(largest, score_sets))
    first_scaled, second_scaled = (scores / scale for scores in score_sets)
    estimate = seeds_spread(first_scaled, second_scaled, clusters).estimate(
        float(first_scaled.mean() - second_scaled.mean()), confidence
    )
    examples = first_scaled.shape[1]
    _, count = numbered(examples, clusters)
    return OverSeeds(
        len(first_scaled),
        len(second_scaled),
        scale * _pooled([scores.mean(axis=1) for scores in (first_scaled, second_scaled)]),
        estimate._replace(examples=examples, clusters=count)
        .scaled(scale)
        .within(largest_difference(*score_sets)),
    )


def seeds_spread(
    first: Floats,
    second: Floats,
    clusters: ArrayLike | None = None,
    elsewhere: tuple[float, int] | None = None,
) -> Spread:
    """Return the variance of the difference of two models' means.

    Parameters
    ----------
    first, second, clusters
        As in ``over_seeds``.
    elsewhere
        The variance over seeds of a training run's score, pooled over all compared models, and its degrees of
        freedom. This pooled variance has more degrees of freedom than the variance of two models. It is used
        unless the variance of the two models is significantly larger.
    """
    parts = [_residuals(scores, clusters) for scores in (first, second)]
    by_example = differences(first.mean(axis=0), second.mean(axis=0))
    groups, count = numbered(len(by_example), clusters)
    if count < 2:  # a single cluster does not show how other examples vary
        return Spread((0.0, 0.0), (1.0, 1.0))
    of_clusters, _ = cluster_sums(differences(by_example, by_example.mean()), clusters)
    over_examples, freedom = clustered_variance(
        of_clusters / len(by_example), np.bincount(groups), intraclass(by_example, groups)
    )
    several = [residuals for residuals in parts if len(residuals) > 1]
    sizes = np.bincount(groups).astype(float)
    overlap = sum(interaction(residuals, np.broadcast_to(sizes, residuals.shape)) for residuals in several)
    variances, freedoms = [0.0], [1.0]
    if several:
        variances = [
            variance_of_sum(differences(scores.mean(axis=1), scores.mean()) / len(scores))
            for scores in (first, second)
            if len(scores) > 1
        ]
        if len(several) == 1:  # the other model's only seed varies as much as one of these
            variances = [variances[0] * (1 + len(several[0]))]
            overlap *= 1 + len(several[0])
        freedoms = [len(residuals) - 1.0 for residuals in several]
    total, degrees = sum(variances), max(satterthwaite(variances, freedoms), min(freedoms))
    if elsewhere is not None:
        pooled = elsewhere[0] * (1 / len(first) + 1 / len(second))
        vary_more = pooled and total / pooled > fdtri(degrees, elsewhere[1], 1 - ALPHA)
        if not vary_more:  # than all models do
            variances, freedoms = [max(total, pooled)], [elsewhere[1]]
    if len(variances) > 1 and len({*freedoms}) == 1:  # of unequal ones, those of the sum can be far too many
        variances, freedoms = [total], [degrees]
    # the variance is at least that over seeds, and that over examples
    overlap = min(overlap, sum(variances), over_examples)
    return Spread((*variances, over_examples), (*freedoms, max(freedom, 1)), overlap)


def _residuals(scores: Floats, clusters: ArrayLike | None) -> Floats:
    """(seeds, clusters) by how much each moves the model's mean."""
    sums, sizes = cluster_sums(scores, clusters)
    return (sums - scores.mean() * sizes) / scores.size


def _pooled(means: list[Floats]) -> float:
    """Return the standard deviation over seeds, of both models together."""
    freedom = sum(len(seed_means) - 1 for seed_means in means)
    squares = sum(float(((seed_means - seed_means.mean()) ** 2).sum()) for seed_means in means)
    return float(np.sqrt(squares / freedom)) if freedom else np.nan
