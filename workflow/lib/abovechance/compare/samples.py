"""Scores of several models, and the same with examples, prompts or training runs drawn again."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, combinations
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from abovechance.compare.prompts import PromptPair
from abovechance.compare.seeds import seeds_spread
from abovechance.compare.two_models import (
    ScoreTest,
    StudentTest,
    beside_zero,
    difference_test,
    exchanged,
    largest,
    largest_difference,
)
from abovechance.core.arrays import Floats, check_same_order, differences, example_labels, floats
from abovechance.core.errors import InputError
from abovechance.core.estimates import CONFIDENCE, Spread
from abovechance.core.resampling import cluster_sums, times_drawn, times_in_batches

DRAWS = 2000
MOST_MODELS = 1000
TAIL = (1 - CONFIDENCE) / 2


class Difference(NamedTuple):
    """The first model's score less the second's, with its test.

    Attributes
    ----------
    value
        The difference.
    centre
        The middle of its interval.
    spread
        Its variance.
    p
        The two-sided p-value of no difference.
    limit
        The largest possible difference, where the interval ends at the latest.
    possible
        (centre, variance) of each pair of numbers of correct answers that round to the scores, as far as one
        of them can be an end of the interval; none if scores are not rounded.
    test
        The test that gives its interval, if this is of correct and wrong answers.
    few
        Variances that are added below and above the value, because the spread is from few differences.
    few_of_p
        Those of them that the p-value contains. The interval excludes 0 if and only if it does with these.
    """

    value: float
    centre: float
    spread: Spread
    p: float
    limit: float = np.inf
    possible: tuple[tuple[float, float], ...] = ()
    test: ScoreTest | StudentTest | None = None
    few: tuple[float, float] = (0.0, 0.0)
    few_of_p: tuple[float, float] = (0.0, 0.0)

    @property
    def reversed(self) -> Difference:
        """The second model's score less the first's."""
        return self._replace(
            value=-self.value,
            centre=-self.centre,
            possible=tuple((-centre, variance) for centre, variance in self.possible),
            test=self.test and self.test.reversed,
            few=self.few[::-1],
            few_of_p=self.few_of_p[::-1],
        )

    def interval(self, tail: float) -> tuple[float, float]:
        """Return the interval that leaves out this probability on either side; missing if nothing varies."""
        if self.test:
            low, high = self.test.interval(1 - 2 * tail)
            return max(low, -self.limit), min(high, self.limit)
        if not self.spread.standard_error > 0:
            return np.nan, np.nan
        low, high = self._ends(self.few, tail)
        if self.few != self.few_of_p:
            low, high = beside_zero(low, high, *self._ends(self.few_of_p, tail))
        for centre, variance in self.possible:
            reach = Spread((variance,), (np.inf,)).reach(tail)
            low, high = min(low, centre - reach), max(high, centre + reach)
        if self.p > 2 * tail:  # by a test that is stricter than the interval
            low, high = min(low, 0.0), max(high, 0.0)
        return max(low, -self.limit), min(high, self.limit)

    def _ends(self, few: tuple[float, float], tail: float) -> tuple[float, float]:
        below, above = (self.spread.plus(variance).reach(tail) for variance in few)
        return self.centre - below, self.centre + above

    @classmethod
    def tested(
        cls,
        value: float,
        spread: Spread,
        parts: Floats,
        few: tuple[float, float] = (0.0, 0.0),
        few_of_p: tuple[float, float] = (0.0, 0.0),
    ) -> Difference:
        """Return a difference with its p-value; if nothing varies, from (parts,), which can change sides."""
        varies = spread.standard_error > 0
        p = spread.plus(few_of_p[0 if value > 0 else 1]).p(value) if varies else exchanged(parts)
        return cls(value, value, spread, p, few=few, few_of_p=few_of_p)

    def beyond_student(self, clusters: int, unit: float) -> tuple[float, float]:
        """Return which variances, below and above the value, reach from Student's interval to the score one.

        Student's is too short if there are few differences of a kind, and has no length if all are the same.

        Parameters
        ----------
        clusters
            How many clusters of examples there are. If all have the same difference, the interval is that of
            as many examples with the same answer, of which another could have the opposite one.
        unit
            The largest difference that a cluster can have.
        """
        normal = float(stats.norm.isf(TAIL))
        if self.test:
            low, high = self.test.interval(1 - 2 * TAIL)
            reaches = [self.value - low, high - self.value]
        elif self.spread.standard_error > 0:
            return 0.0, 0.0
        else:
            share = normal**2 / (clusters + normal**2)
            reaches = [share * (unit + self.value), share * (unit - self.value)]
        student = self.spread.reach(TAIL)
        below, above = (max(reach**2 - student**2, 0.0) / normal**2 for reach in reaches)
        return below, above


@dataclass(frozen=True)
class Sample:
    """Scores of models, and the same with examples drawn again.

    Attributes
    ----------
    scores
        (models,) means over examples.
    draws
        (draws, models) the same of examples that are drawn with replacement: the same ones for all models
        where they are paired, so that what they have in common drops out of differences.
    differences
        {(first, second): their difference} of all pairs of models, by their places, first < second.
    contributions
        (models, clusters) by how much each cluster of examples adds to a score; no clusters if answers are
        not known.
    weights
        (clusters,) the weight of each in a score; their sum is 1.
    examples
        A number that tasks with the same examples share; 0 if no other task has them.
    names
        (clusters,) the names of the clusters, by which tasks share some of them; none if they have no others
        in common than those of tasks with the same examples.
    repeats
        (models, prompts) or (models, trainings) by how much each prompt or training moves a score; None if
        neither is drawn.
    trainings
        Whether ``repeats`` are trainings, of which each model has its own, the same in all tasks.
    repeat_names
        (prompts,) or (trainings,) names: tasks share those of the same name; none if tasks share no prompts.
    largest
        (draws,) the largest deviation of any pair's difference in a draw, in standard errors that are
        estimated from this draw; no draws if this is not known.
    """

    scores: Floats
    draws: Floats
    differences: Mapping[tuple[int, int], Difference]
    contributions: Floats
    weights: Floats
    examples: int = 0
    names: tuple[Hashable, ...] = ()
    repeats: Floats | None = None
    trainings: bool = False
    repeat_names: tuple[Hashable, ...] = ()
    largest: Floats = field(default_factory=lambda: np.zeros(0))

    def difference(self, first: int, second: int) -> Difference:
        """Return the difference of two models, by their places."""
        if first < second:
            return self.differences[first, second]
        return self.differences[second, first].reversed

    def of_clusters(self, first: int, second: int) -> Floats:
        """(clusters,) the difference of two models on each cluster of examples."""
        result: Floats = (self.contributions[first] - self.contributions[second]) / self.weights
        return result

    @property
    def residuals(self) -> Floats:
        """(models, clusters) by how much each cluster moves a score from that of the others."""
        result: Floats = self.contributions - self.weights * self.contributions.sum(axis=1, keepdims=True)
        return result

    def of_repeats(self, first: int, second: int) -> Floats:
        """By how much each prompt, or each training of the two models, moves their difference."""
        if self.repeats is None:
            return np.zeros(0)
        moved, moved_too = self.repeats[first], self.repeats[second]
        return np.concatenate([moved, -moved_too]) if self.trainings else moved - moved_too

    def reordered(self, places: Sequence[int]) -> Sample:
        """Return the models of these places, in this order."""
        pairs = combinations(range(len(places)), 2)
        return replace(
            self,
            scores=self.scores[[*places]],
            draws=self.draws[:, [*places]],
            differences={
                (first, second): self.difference(places[first], places[second]) for first, second in pairs
            },
            contributions=self.contributions[[*places]],
            repeats=None if self.repeats is None else self.repeats[[*places]],
        )


def of_pairs(compared: Callable[[int, int], Difference], models: int) -> dict[tuple[int, int], Difference]:
    if models > MOST_MODELS:
        raise InputError(f"there are {models:,} models; expected at most {MOST_MODELS:,} at once")
    return {pair: compared(*pair) for pair in combinations(range(models), 2)}


def paired(
    scores: ArrayLike,
    clusters: ArrayLike | None = None,
    draws: int = DRAWS,
    seed: int | Sequence[int] = 0,
    examples: int = 0,
) -> Sample:
    """Models on the same examples.

    Parameters
    ----------
    scores
        (models, examples) numbers.
    clusters
        (examples,) the same for examples that belong together, which are drawn as wholes.
    seed
        The random seed of the draws.
    examples
        A number that tasks with the same examples share: these are drawn alike (``together``).

    Raises
    ------
    InputError
        If a score is missing.
    """
    check_same_order(scores, clusters)
    values = floats(scores)
    if values.ndim != 2 or not values.size or not np.isfinite(values).all():
        raise InputError(f"scores have the shape {values.shape}; expected (models, examples), none missing")
    sums, sizes = cluster_sums(values, clusters)
    sampled = _bootstrap(sums, sizes, draws, seed, examples)
    scale, limit = largest(values), largest_difference(values)

    def compared(first: int, second: int) -> Difference:
        mean, test = difference_test(values[first] / scale, values[second] / scale, clusters, 1 / scale)
        value, test = mean.value * scale, test.scaled(scale) if isinstance(test, StudentTest) else test
        # two clusters or more
        spread = Spread((np.nan_to_num(mean.standard_error * scale) ** 2,), (max(mean.freedom, 1e-9),))
        of_answers = isinstance(test, ScoreTest) or (test.answers is not None and test.varies)
        return Difference(value, value, spread, test.p, limit, test=test if of_answers else None)

    differences = of_pairs(compared, len(values))
    count = values.shape[1]
    return Sample(values.mean(axis=1), sampled, differences, sums / count, sizes / count, examples)


def _bootstrap(sums: Floats, sizes: Floats, draws: int, seed: int | Sequence[int], examples: int) -> Floats:
    """(draws, models) mean scores of clusters that are drawn with replacement."""
    batches = times_in_batches(len(sizes), draws, _generator(seed, examples))
    return np.concatenate([(times @ sums.T) / (times @ sizes)[:, None] for times in batches])


def _generator(seed: int | Sequence[int], examples: int) -> np.random.Generator:
    """Return the random generator that draws examples."""
    return np.random.default_rng([*np.atleast_1d(seed).tolist(), examples])


def prompted(
    scores: ArrayLike,
    clusters: ArrayLike | None = None,
    draws: int = DRAWS,
    seed: int = 0,
    examples: int = 0,
    draw_prompts: bool = True,
    prompt_names: Sequence[str] = (),
) -> Sample:
    """Compare models under the same prompts, for similar examples and, by default, for similar prompts.

    In each draw, examples and prompts are drawn again, the same ones for all models; p-values and standard
    errors are those of ``over_prompts`` (``population``, or else ``mean``). A prompt's mean counts alike,
    whichever examples it is evaluated on.

    Parameters
    ----------
    scores
        (models, prompts, examples) numbers; missing if a prompt is not evaluated on an example.
    seed, examples
        See ``paired``.
    draw_prompts
        False for these prompts only.
    prompt_names
        (prompts,) different names, by which tasks share prompts; without them, tasks share none.

    Raises
    ------
    InputError
        If there is not one name of its own for each prompt.
    """
    check_same_order(scores, clusters)
    values = floats(scores)
    prompts = values.shape[1]
    names = tuple(map(str, prompt_names))
    if names and not len(names) == len({*names}) == prompts:
        raise InputError(
            f"{len(names)} prompt_names for {prompts} prompts, {len({*names})} of them different; expected a "
            "name of its own for each"
        )
    evaluated = np.isfinite(values)
    sums, _ = cluster_sums(np.where(evaluated, values, 0), clusters)
    sizes, _ = cluster_sums(evaluated[0], clusters)
    batches = times_in_batches(sizes.shape[1], draws, _generator(seed, examples))
    sampled = np.concatenate([_means_over_prompts(times, sums, sizes) for times in batches])
    of_prompts = np.nanmean(values, axis=2)
    if draw_prompts:
        drawn_alike = crc32("\n".join(names).encode()) if names else examples
        times = times_drawn(prompts, draws, np.random.default_rng([seed, 3, drawn_alike]))
        sampled += (times - 1) @ of_prompts.T / prompts * np.sqrt(prompts / max(prompts - 1, 1))
    contributions = (sums / sizes.sum(axis=1)[None, :, None]).mean(axis=1)
    limit = largest_difference(values)

    def compared(first: int, second: int) -> Difference:
        pair = PromptPair.from_scores(values[first], values[second], clusters)
        if draw_prompts:
            spread = pair.population or Spread((0.0,), pair.of_examples.freedoms)
        else:
            spread = pair.of_examples
        tested = Difference.tested(pair.difference, spread, contributions[first] - contributions[second])
        value = pair.difference * pair.scale
        return Difference(value, value, spread.scaled(pair.scale), tested.p, limit)

    differences = of_pairs(compared, len(values))
    weights = (sizes / sizes.sum(axis=1, keepdims=True)).mean(axis=0)
    means = of_prompts.mean(axis=1)
    return Sample(
        means,
        sampled,
        differences,
        contributions,
        weights,
        examples,
        repeats=(of_prompts - means[:, None]) / prompts if draw_prompts else None,
        repeat_names=names,
    )


def _means_over_prompts(times: Floats, sums: Floats, sizes: Floats) -> Floats:
    """(draws, models) means over the prompts that are evaluated on a drawn example.

    Parameters
    ----------
    times
        (draws, clusters) how many times each cluster is drawn.
    sums
        (models, prompts, clusters) of scores.
    sizes
        (prompts, clusters) numbers of examples.
    """
    total, prompts_drawn = np.zeros((len(times), len(sums))), np.zeros((len(times), 1))
    for prompt, size in enumerate(sizes):  # one after the other, to save memory
        examples_drawn = (times @ size)[:, None]
        total += np.divide(
            times @ sums[:, prompt].T, examples_drawn, out=np.zeros_like(total), where=examples_drawn > 0
        )
        prompts_drawn += examples_drawn > 0
    return total / np.maximum(prompts_drawn, 1)


def trained(
    seeds: Sequence[ArrayLike],
    clusters: ArrayLike | None = None,
    draws: int = DRAWS,
    seed: int = 0,
    examples: int = 0,
    seed_names: Sequence[Sequence[Hashable]] = (),
) -> Sample:
    """Models on the same examples, of which some were trained several times.

    Each draw resamples the examples, and the seeds of each model. The deviations of the s seeds of a model
    are multiplied by sqrt(s / (s - 1)), because a mean of s draws from s seeds varies less than a mean of s
    training runs. The variance over seeds is the larger of two values: the variance pooled over all models,
    and that of the two compared models. Its degrees of freedom are those of the pooled variance.

    Parameters
    ----------
    seeds
        For each model (seeds, examples) scores.
    clusters
        (examples,) the same for examples that belong together.
    seed, examples
        See ``paired``. The draws of the models' seeds are the same in all tasks.
    seed_names
        For each model (seeds,) names, by which tasks share trainings; their numbers unless given.

    Raises
    ------
    InputError
        If a score is missing, or models have other examples.
    """
    check_same_order(*(example_labels(scores) for scores in seeds), clusters)
    arrays = [np.atleast_2d(floats(scores)) for scores in seeds]
    if len({scores.shape[-1] for scores in arrays}) != 1:
        raise InputError("models have different numbers of examples; expected the same examples")
    alone = paired([scores.mean(axis=0) for scores in arrays], clusters, draws, seed, examples)
    repeats = sum(len(scores) - 1 for scores in arrays)
    if not repeats:
        return alone
    limit = largest_difference(*arrays)
    deviations_of_seeds = [differences(scores.mean(axis=1), scores.mean()) for scores in arrays]
    pooled = sum(float((deviation**2).sum()) for deviation in deviations_of_seeds) / repeats
    names = seed_names or [range(len(scores)) for scores in arrays]
    columns = {name: column for column, name in enumerate(dict.fromkeys(chain.from_iterable(names)))}
    sampled, by_training = alone.draws.copy(), np.zeros((len(arrays), len(columns)))
    for place, scores in enumerate(arrays):
        trainings = [columns[name] for name in names[place]]
        if (count := len(scores)) == 1:
            by_training[place, trainings] = np.sqrt(pooled)
            sampled[:, place] += np.random.default_rng([seed, 2, place]).normal(0, np.sqrt(pooled), draws)
        else:
            moved = scores.mean(axis=1) - scores.mean()
            by_training[place, trainings] = moved / np.sqrt(count * (count - 1))
            # the same examples in each draw as for all models, and the same seeds for all tasks
            of_model = _bootstrap(*cluster_sums(scores, clusters), draws, seed, examples)
            chosen = times_drawn(count, draws, np.random.default_rng([seed, 1, place]))
            deviations = (of_model * chosen).sum(axis=1) / count - of_model.mean(axis=1)
            sampled[:, place] += deviations * np.sqrt(count / (count - 1))

    def compared(first: int, second: int) -> Difference:
        elsewhere = (pooled, repeats) if len(arrays) > 2 else None
        spread = seeds_spread(arrays[first], arrays[second], clusters, elsewhere)
        value = float(alone.scores[first] - alone.scores[second])
        parts = alone.contributions[first] - alone.contributions[second]
        return Difference.tested(value, spread, parts)._replace(limit=limit)

    of_all = of_pairs(compared, len(arrays))
    return replace(
        alone,
        draws=sampled,
        differences=of_all,
        repeats=by_training,
        trainings=True,
        repeat_names=tuple(columns),
    )
