"""Two models under several prompts: these prompts, prompts like them, and the best one of each model.

The same prompts are put to both models, so that differences are paired by prompts and by examples. All three
have one inference each: a standard error and Student's distribution.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from abovechance.compare.two_models import exchanged, largest, largest_difference
from abovechance.core.arrays import Floats, check_same_order, differences, floats
from abovechance.core.errors import InputError, check_inside
from abovechance.core.estimates import (
    CONFIDENCE,
    Estimate,
    Spread,
    clustered_variance,
    interaction,
    intraclass,
    student,
    variance_of_sum,
)
from abovechance.core.html import as_html
from abovechance.core.resampling import cluster_sums, numbered

PARTITIONS = 20  # into halves
TRUSTED_PROMPTS = 5


class OverPrompts(NamedTuple):
    """The first model less the second one under the same prompts.

    Attributes
    ----------
    prompts, examples
        The numbers of prompts and examples.
    mean
        The difference of mean accuracies over these prompts, as if examples were drawn again.
    population
        The same for similar prompts. The variance is the sum of the variance over prompts and the variance
        over examples, minus the part that both contain (``core.estimates.interaction``); see ``Spread``.
        If a few prompts are very bad for one model, the interval is too narrow (docs/compare.md).
    best
        The difference between each model's best prompt, by sample splitting. The best prompt on one half of
        the examples (in whole clusters) is scored on the other half, so the choice does not bias the score.
        The value is the mean over ``PARTITIONS`` splits. The standard error is that of one half. The chosen
        prompt need not be the truly best one, in particular if many prompts are nearly equally good.
    """

    prompts: int
    examples: int
    mean: Estimate
    population: Estimate
    best: Estimate

    def _repr_html_(self) -> str:
        return as_html(self._asdict())


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
        If the shapes differ, a score is infinite, or where one has a score and the other has none.
    """
    check_inside(0, 1, confidence=confidence)
    check_same_order(first, second, clusters)
    pair = PromptPair.from_scores(first, second, clusters)
    value, spread = pair.difference, pair.population
    estimates = (
        pair.mean(confidence),
        Estimate(value, confidence=confidence) if spread is None else spread.estimate(value, confidence),
        _of_best(pair, confidence, np.random.default_rng(seed)),
    )
    prompts, examples = pair.shape
    counted = (estimate._replace(examples=examples, clusters=len(pair.counts)) for estimate in estimates)
    limit = largest_difference(first, second)
    return OverPrompts(
        prompts, examples, *(estimate.scaled(pair.scale).within(limit) for estimate in counted)
    )


@dataclass(frozen=True)
class PromptPair:
    """The scores of two models under the same prompts, summed by clusters of examples.

    Attributes
    ----------
    sums
        (models, prompts, clusters) of scores, divided by ``scale``.
    sizes
        (prompts, clusters) the number of examples that each prompt is evaluated on.
    counts
        (clusters,) the number of examples.
    correlation
        Correlation of the differences of two examples of one cluster.
    shape
        The numbers of prompts and examples.
    scale
        The largest score.
    """

    sums: Floats
    sizes: Floats
    counts: Floats
    correlation: float
    shape: tuple[int, int]
    scale: float

    @classmethod
    def from_scores(
        cls, first: ArrayLike, second: ArrayLike, clusters: ArrayLike | None = None
    ) -> PromptPair:
        """Parameters and errors are those of ``over_prompts``."""
        first_scores, second_scores = floats(first), floats(second)
        if first_scores.ndim != 2 or first_scores.shape != second_scores.shape:
            raise InputError(
                f"scores have the shapes {first_scores.shape} and {second_scores.shape}; "
                "expected (prompts, examples), the same for both models"
            )
        if np.isinf(first_scores).any() or np.isinf(second_scores).any():
            raise InputError("a score is infinite; expected numbers")
        evaluated = ~np.isnan(first_scores)
        if (evaluated != ~np.isnan(second_scores)).any() or not evaluated.any(axis=1).all():
            raise InputError(
                "a score of one model is missing; expected the same prompts on the same examples for both"
            )
        if (nowhere := ~evaluated.any(axis=0)).any():
            place = int(nowhere.argmax())
            raise InputError(f"no prompt is evaluated on example {place}; expected a score of each example")
        scores = np.stack([np.where(evaluated, first_scores, 0), np.where(evaluated, second_scores, 0)])
        scale = largest(scores)
        scores /= scale
        sums, counts = cluster_sums(np.concatenate([scores, evaluated[None]]), clusters)
        by_example = (scores[0] - scores[1]).sum(axis=0) / np.maximum(evaluated.sum(axis=0), 1)
        correlation = intraclass(by_example, numbered(first_scores.shape[1], clusters)[0])
        return cls(
            sums[:2], sums[2], counts, correlation, (first_scores.shape[0], first_scores.shape[1]), scale
        )

    @property
    def weights(self) -> Floats:
        """(clusters,) the weight of each in the mean over prompts, of which each counts alike."""
        return np.asarray((self.sizes / self.sizes.sum(axis=1, keepdims=True)).mean(axis=0))

    @property
    def differences(self) -> Floats:
        """(prompts, clusters) sums of differences of scores."""
        return differences(self.sums[0], self.sums[1])

    @property
    def difference(self) -> float:
        """The mean over prompts of the difference of accuracies."""
        return float((self.differences.sum(axis=1) / self.sizes.sum(axis=1)).mean())

    @property
    def of_examples(self) -> Spread:
        """The variance of the mean over these prompts, with examples drawn again; 0 if nothing varies."""
        totals = self.sizes.sum(axis=1, keepdims=True)
        means = self.differences.sum(axis=1, keepdims=True) / totals
        residuals = ((self.differences - means * self.sizes) / totals).mean(axis=0)
        variance, freedom = clustered_variance(residuals, self.counts, self.correlation, self.weights)
        rounding = (1e-12 * np.abs(self.differences / totals).max()) ** 2
        return Spread((variance if variance > rounding else 0.0,), (freedom,))

    def mean(self, confidence: float) -> Estimate:
        """Return the mean over these prompts, with examples drawn again."""
        spread = self.of_examples
        if not spread.standard_error:
            exact = exchanged((self.differences / self.sizes.sum(axis=1, keepdims=True)).mean(axis=0))
            return Estimate(self.difference, p=exact, confidence=confidence, method="exchange")
        return student(self.difference, spread.standard_error, spread.freedoms[0], confidence)

    @property
    def population(self) -> Spread | None:
        """The variance of the mean over prompts and examples, both as if drawn from more of them.

        None with a single prompt or a single cluster of examples, which do not say how others vary.
        """
        if self.shape[0] < 2 or len(self.counts) < 2:
            return None
        weight = 1 / (self.shape[0] * self.sizes.sum(axis=1, keepdims=True))
        residuals = weight * (self.differences - self.difference * self.sizes)
        of_examples, freedom = clustered_variance(
            residuals.sum(axis=0), self.counts, self.correlation, self.weights
        )
        of_prompts = variance_of_sum(residuals.sum(axis=1))
        overlap = min(interaction(residuals, self.sizes), of_prompts, of_examples)
        return Spread((of_prompts, of_examples), (self.shape[0] - 1, max(freedom, 1)), overlap)


def _of_best(pair: PromptPair, confidence: float, generator: np.random.Generator) -> Estimate:
    """Return the difference of best prompts, each chosen on one half of the examples and scored on the other.

    If several prompts are equally good on the first half, their mean is used.
    """
    sums, sizes = pair.sums, pair.sizes
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
            residuals = (sums[:, :, scored_on] - scores * examples) / total
            weight = best / best.sum(axis=1, keepdims=True)
            value = np.einsum("mp,mp->m", weight, scores[:, :, 0])
            moved = np.einsum("mp,mpc->mc", weight, residuals)
            weights = np.einsum("mp,pc->c", weight, examples / total) / 2
            variance, freedom = clustered_variance(
                moved[0] - moved[1], pair.counts[scored_on], pair.correlation, weights
            )
            if not freedom:  # a single cluster does not show how others vary
                continue
            differences.append(float(value[0] - value[1]))
            variances.append(variance)
            freedoms.append(freedom)
    if not differences:
        return Estimate(np.nan, confidence=confidence)
    error, freedom = float(np.sqrt(np.mean(variances))), float(np.mean(freedoms))
    return student(float(np.mean(differences)), error, freedom, confidence)
