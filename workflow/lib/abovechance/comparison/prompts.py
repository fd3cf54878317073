"""Two models under several prompts: these prompts, prompts like them, and the best one of each model.

The same prompts are put to both models, so that differences are paired by prompts and by examples.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from abovechance.comparison.paired import LEVEL
from abovechance.core.arrays import Floats
from abovechance.core.errors import InputError
from abovechance.core.means import cluster_sums

DRAWS = 2000


class Interval(NamedTuple):
    """A difference, the first model less the second, with its interval."""

    difference: float
    low: float
    high: float


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
    best
        Of each model's best prompt, chosen anew in each draw of examples: that a best score is high by luck
        is paid for by both. It says how good the chosen prompts are on these examples, not on others.
    """

    prompts: int
    examples: int
    mean: Interval
    population: Interval
    best: Interval


def over_prompts(
    first: ArrayLike,
    second: ArrayLike,
    clusters: ArrayLike | None = None,
    level: float = LEVEL,
    draws: int = DRAWS,
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
    generator = np.random.default_rng(seed)
    # (models and how many, prompts, clusters)
    sums, _ = cluster_sums(np.stack([np.where(there, one, 0), np.where(there, other, 0), there]), clusters)
    counts = _counts(generator, sums.shape[2], draws)  # (draws, clusters)
    totals = np.moveaxis(
        np.tensordot(counts, sums, axes=(1, 2)), 0, 2
    )  # (models and how many, prompts, draws)
    with np.errstate(invalid="ignore"):  # a prompt of which no example was drawn
        drawn = np.moveaxis(totals[:2] / totals[2], 2, 0)  # (draws, models, prompts)
    drawn = drawn[np.isfinite(drawn).all(axis=(1, 2))]
    by_prompt = drawn[:, 0] - drawn[:, 1]
    best = drawn.max(axis=2)
    given = sums[:2].sum(axis=2) / sums[2].sum(axis=1)
    difference = float((given[0] - given[1]).mean())
    prompts, examples = one.shape
    return OverPrompts(
        prompts,
        examples,
        _interval(difference, by_prompt.mean(axis=1), level),
        _of_population(sums[0] - sums[1], sums[2], difference, level),
        _interval(float(given[0].max() - given[1].max()), best[:, 0] - best[:, 1], level),
    )


def _of_population(sums: Floats, sizes: Floats, difference: float, level: float) -> Interval:
    """The interval of a mean over prompts and examples, both as if drawn from more of them.

    Parameters
    ----------
    sums, sizes
        (prompts, clusters) of differences, and of how many examples.
    """
    weight = 1 / (len(sums) * sizes.sum(axis=1, keepdims=True))
    left = weight * (sums - difference * sizes)
    variances, freedoms = [], []
    for axis, count in ((1, left.shape[0]), (0, left.shape[1])):
        variances.append(count / max(count - 1, 1) * float((left.sum(axis=axis) ** 2).sum()))
        freedoms.append(max(count - 1, 1))
    of_prompts, of_examples = variances
    variance = max(of_prompts + of_examples - float((left**2).sum()), of_prompts, of_examples)
    below = sum(own**2 / freedom for own, freedom in zip(variances, freedoms, strict=True))
    if len(sums) < 2 or not below:
        return Interval(difference, np.nan, np.nan)
    reach = float(stats.t.ppf((1 + level) / 2, variance**2 / below)) * np.sqrt(variance)
    return Interval(difference, float(difference - reach), float(difference + reach))


def _counts(generator: np.random.Generator, count: int, draws: int) -> Floats:
    """(draws, count) how often each is drawn, with replacement."""
    found: Floats = generator.multinomial(count, np.full(count, 1 / count), draws).astype(np.float64)
    return found


def _interval(difference: float, drawn: Floats, level: float) -> Interval:
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    return Interval(difference, float(low), float(high))
