"""Many models: which differ, in which order they are, and how sure that is."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from abovechance.chance.multiplicity import adjusted
from abovechance.compare.prompts import PromptPair
from abovechance.compare.seeds import seeds_spread
from abovechance.compare.two_models import difference_test, exchanged, largest
from abovechance.core.arrays import Floats, Ints
from abovechance.core.columns import Column
from abovechance.core.errors import InputError
from abovechance.core.estimates import CONFIDENCE, Spread, satterthwaite
from abovechance.core.resampling import cluster_sums, times_drawn

DRAWS = 2000
MOST_MODELS = 1000
PAIRS = {
    "first": Column.text("the better model"),
    "second": Column.text("the worse model, or the second model of a tie"),
    "difference": Column.number("mean score of the first model minus mean score of the second model"),
    "error": Column.number("standard error of the difference"),
    "low": Column.number("lower end of the confidence interval, simultaneous for all pairs of a task"),
    "high": Column.number("upper end of the interval"),
    "p": Column.number("p-value of the difference"),
    "holm": Column.number("p-value adjusted for all pairs of all tasks (Holm)"),
    "bh": Column.number("p-value adjusted for all pairs of all tasks (Benjamini and Hochberg)"),
    "flips": Column.share("share of bootstrap samples in which the order of the pair is reversed"),
}
RANKS = {
    "model": Column.text("name of the model"),
    "score": Column.number("mean score over prompts and examples"),
    "rank": Column.whole("rank by score; 1 is best"),
    "rank_low": Column.whole(
        "best rank in the 95 % confidence interval of the model's rank; the intervals of all models hold "
        "simultaneously"
    ),
    "rank_high": Column.whole("worst rank in this interval"),
    "groups": Column.text(
        "letters; models that share a letter do not differ significantly, by their simultaneous intervals",
        lacking="",
    ),
    "best": Column.share(
        "share of bootstrap samples in which the model is the best; missing if the confidence interval of "
        "its rank covers all ranks"
    ),
}


class Difference(NamedTuple):
    """The first model's score less the second's, with its test.

    Attributes
    ----------
    value
        The difference.
    center
        The middle of its interval.
    spread
        Its variance.
    p
        The two-sided p-value of no difference.
    limit
        The largest possible difference, where the interval ends at the latest.
    """

    value: float
    center: float
    spread: Spread
    p: float
    limit: float = np.inf

    @property
    def reversed(self) -> Difference:
        """The second model's score less the first's."""
        return self._replace(value=-self.value, center=-self.center)

    def interval(self, tail: float) -> tuple[float, float]:
        """Return the interval that leaves out this probability on either side; missing if nothing varies."""
        if not self.spread.standard_error > 0:
            return np.nan, np.nan
        reach = self.spread.reach(tail)
        return max(self.center - reach, -self.limit), min(self.center + reach, self.limit)


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
    trainings
        Whether the first variance of each difference is over trainings, which are the same in all tasks.
    names
        (clusters,) the names of the clusters, by which tasks share some of them; none if they have no others
        in common than those of tasks with the same examples.
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
    trainings: bool = False
    names: tuple[Hashable, ...] = ()
    largest: Floats = field(default_factory=lambda: np.zeros(0))

    def difference(self, first: int, second: int) -> Difference:
        """Return the difference of two models, by their places."""
        if first < second:
            return self.differences[first, second]
        return self.differences[second, first].reversed

    def reordered(self, places: Sequence[int]) -> Sample:
        """Return the models of these places, in this order."""
        pairs = combinations(range(len(places)), 2)
        return replace(
            self,
            scores=self.scores[[*places]],
            draws=self.draws[:, [*places]],
            differences={(first, two): self.difference(places[first], places[two]) for first, two in pairs},
            contributions=self.contributions[[*places]],
        )


def _of_pairs(compared: Callable[[int, int], Difference], models: int) -> dict[tuple[int, int], Difference]:
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
        Of the draws.
    examples
        A number that tasks with the same examples share: these are drawn alike (``together``).

    Raises
    ------
    InputError
        If a score is missing.
    """
    values = np.asarray(scores, dtype=float)
    if values.ndim != 2 or not values.size or not np.isfinite(values).all():
        raise InputError(f"scores have the shape {values.shape}; expected (models, examples), none missing")
    sums, sizes = cluster_sums(values, clusters)
    sampled = _bootstrap(sums, sizes, draws, seed, examples)
    scale = largest(values)

    def compared(first: int, two: int) -> Difference:
        mean, test = difference_test(values[first] / scale, values[two] / scale, clusters, 1 / scale)
        value = mean.value * scale
        # two clusters or more
        spread = Spread((np.nan_to_num(mean.standard_error * scale) ** 2,), (max(mean.freedom, 1e-9),))
        return Difference(value, value, spread, test.p)

    differences = _of_pairs(compared, len(values))
    count = values.shape[1]
    return Sample(values.mean(axis=1), sampled, differences, sums / count, sizes / count, examples)


def _bootstrap(sums: Floats, sizes: Floats, draws: int, seed: int | Sequence[int], examples: int) -> Floats:
    """(draws, models) mean scores of clusters that are drawn with replacement."""
    counts = times_drawn(len(sizes), draws, _generator(seed, examples))
    return (counts @ sums.T) / (counts @ sizes)[:, None]


def _generator(seed: int | Sequence[int], examples: int) -> np.random.Generator:
    """Return the random generator that draws examples."""
    return np.random.default_rng([*([seed] if isinstance(seed, int) else seed), examples])


def prompted(
    scores: ArrayLike,
    clusters: ArrayLike | None = None,
    draws: int = DRAWS,
    seed: int = 0,
    examples: int = 0,
    draw_prompts: bool = True,
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
    """
    values = np.asarray(scores, dtype=float)
    prompts = values.shape[1]
    evaluated = np.isfinite(values)
    sums, _ = cluster_sums(np.where(evaluated, values, 0), clusters)
    sizes, _ = cluster_sums(evaluated[0], clusters)
    counts = times_drawn(sizes.shape[1], draws, _generator(seed, examples))
    sampled, drawn_prompts = np.zeros((draws, len(values))), np.zeros((draws, 1))
    for prompt, size in enumerate(sizes):  # one after the other, to save memory
        examples_drawn = (counts @ size)[:, None]
        sampled += np.divide(
            counts @ sums[:, prompt].T, examples_drawn, out=np.zeros_like(sampled), where=examples_drawn > 0
        )
        drawn_prompts += examples_drawn > 0
    sampled /= np.maximum(drawn_prompts, 1)
    of_prompts = np.nanmean(values, axis=2)
    if draw_prompts:  # tasks have prompts of their own
        times = times_drawn(prompts, draws, np.random.default_rng([seed, 3, examples]))
        sampled += (times - 1) @ of_prompts.T / prompts * np.sqrt(prompts / max(prompts - 1, 1))
    contributions = (sums / sizes.sum(axis=1)[None, :, None]).mean(axis=1)

    def compared(first: int, two: int) -> Difference:
        pair = PromptPair.from_scores(values[first], values[two], clusters)
        if draw_prompts:
            spread = pair.population or Spread((0.0,), pair.of_examples.freedoms)
        else:
            spread = pair.of_examples
        tested = _tested(pair.difference, spread, contributions[first] - contributions[two])
        value = pair.difference * pair.scale
        return Difference(value, value, spread.scaled(pair.scale), tested.p)

    differences = _of_pairs(compared, len(values))
    weights = (sizes / sizes.sum(axis=1, keepdims=True)).mean(axis=0)
    return Sample(of_prompts.mean(axis=1), sampled, differences, contributions, weights, examples)


def trained(
    seeds: Sequence[ArrayLike],
    clusters: ArrayLike | None = None,
    draws: int = DRAWS,
    seed: int = 0,
    examples: int = 0,
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

    Raises
    ------
    InputError
        If a score is missing, or models have other examples.
    """
    arrays = [np.atleast_2d(np.asarray(scores, dtype=float)) for scores in seeds]
    if len({scores.shape[-1] for scores in arrays}) != 1:
        raise InputError("models have different numbers of examples; expected the same examples")
    alone = paired([scores.mean(axis=0) for scores in arrays], clusters, draws, seed, examples)
    repeats = sum(len(scores) - 1 for scores in arrays)
    if not repeats:
        return alone
    pooled = sum(float(scores.mean(axis=1).var()) * len(scores) for scores in arrays) / repeats
    sampled = alone.draws.copy()
    for place, scores in enumerate(arrays):
        if (count := len(scores)) == 1:
            sampled[:, place] += np.random.default_rng([seed, 2, place]).normal(0, np.sqrt(pooled), draws)
        else:
            # the same examples in each draw as for all models, and the same seeds for all tasks
            of_model = _bootstrap(*cluster_sums(scores, clusters), draws, seed, examples)
            chosen = times_drawn(count, draws, np.random.default_rng([seed, 1, place]))
            moved = (of_model * chosen).sum(axis=1) / count - of_model.mean(axis=1)
            sampled[:, place] += moved * np.sqrt(count / (count - 1))

    def compared(first: int, two: int) -> Difference:
        elsewhere = (pooled, repeats) if len(arrays) > 2 else None
        spread = seeds_spread(arrays[first], arrays[two], clusters, elsewhere)
        value = float(alone.scores[first] - alone.scores[two])
        return _tested(value, spread, alone.contributions[first] - alone.contributions[two])

    differences = _of_pairs(compared, len(arrays))
    return replace(alone, draws=sampled, differences=differences, trainings=True)


def flips(
    scores: Sequence[ArrayLike], clusters: ArrayLike | None = None, draws: int = DRAWS, seed: int = 0
) -> Floats:
    """Return how often the order of two models is reversed with other examples, prompts and seeds.

    Clusters of examples and prompts are drawn with replacement, with the same draws for all models. The seeds
    are drawn for each model by itself. With few prompts or seeds, this bootstrap underestimates the variance.

    Parameters
    ----------
    scores
        For each model (seeds, prompts, examples), the same prompts and examples; missing where a prompt is
        not evaluated on an example.
    clusters
        (examples,) the same for examples that belong together.

    Returns
    -------
    Floats
        (models, models) in which share of draws the first one's score is below the second's; equal ones count
        half.
    """
    arrays = [np.asarray(model_scores, dtype=float) for model_scores in scores]
    if len({model_scores.shape[1:] for model_scores in arrays}) != 1 or arrays[0].ndim != 3:
        raise InputError(
            "models have different prompts or examples; expected arrays (seeds, same prompts, same examples)"
        )
    generator = np.random.default_rng(seed)
    prompts = arrays[0].shape[1]
    chosen = times_drawn(prompts, draws, generator)
    evaluated = [np.isfinite(model_scores) for model_scores in arrays]
    sums = [
        cluster_sums(np.where(has, model_scores, 0), clusters)[0]
        for model_scores, has in zip(arrays, evaluated, strict=True)
    ]
    sizes = [cluster_sums(has, clusters)[0] for has in evaluated]
    count = sums[0].shape[-1]
    counts = times_drawn(count, draws, generator)
    draws_of_models = []
    for cluster_sum, size in zip(sums, sizes, strict=True):
        seeds = len(cluster_sum)
        of_seeds = times_drawn(seeds, draws, generator)
        # (draws, seeds, prompts)
        totals, examples = (
            np.tensordot(counts, model_scores, axes=(1, 2)) for model_scores in (cluster_sum, size)
        )
        with np.errstate(invalid="ignore", divide="ignore"):
            means = np.nan_to_num(totals / examples)
        draws_of_models.append(np.einsum("dsp,ds,dp->d", means, of_seeds, chosen) / (seeds * prompts))
    table = np.array(draws_of_models)
    return (table[:, None] < table).mean(axis=2) + (table[:, None] == table).mean(axis=2) / 2


def unpaired(accuracies: ArrayLike, examples: ArrayLike, draws: int = DRAWS, seed: int = 0) -> Sample:
    """Compare models by their accuracies only, as if each model had answered different examples.

    Intervals and p-values add one correct and one wrong answer to each model (Agresti and Caffo, 2000). The
    p-value is at least that of the score test, which is larger for large differences on few examples.

    Parameters
    ----------
    accuracies
        (models,) in [0, 1].
    examples
        (models,) or one number, on how many.
    """
    values, count = np.asarray(accuracies, dtype=float), np.asarray(examples, dtype=float)
    count = np.broadcast_to(count, values.shape)
    if not ((values >= 0) & (values <= 1)).all() or not (count >= 1).all():
        raise InputError("expected accuracies in [0, 1], and at least 1 example for each")
    correct = np.rint(values * count)
    # that all of a few were right does not say that all are
    sampled = np.random.default_rng(seed).beta(correct + 1, count - correct + 1, (draws, len(values)))
    center = (correct + 1) / (count + 2)
    variance = center * (1 - center) / (count + 2)

    def compared(first: int, two: int) -> Difference:
        spread = Spread((float(variance[first] + variance[two]),), (np.inf,))
        middle, value = float(center[first] - center[two]), float(values[first] - values[two])
        pooled = (correct[first] + correct[two]) / (count[first] + count[two])
        if_equal = pooled * (1 - pooled) * (1 / count[first] + 1 / count[two])
        score_p = 2 * stats.norm.sf(abs(value) / np.sqrt(if_equal)) if if_equal > 0 else 1.0
        return Difference(value, middle, spread, max(spread.p(middle), float(score_p)), limit=1.0)

    return Sample(
        values,
        sampled,
        _of_pairs(compared, len(values)),
        np.zeros((len(values), 0)),
        np.zeros(0),
        largest=_largest_of_counts(center, count, draws, seed),
    )


def _largest_of_counts(center: Floats, count: Floats, draws: int, seed: int) -> Floats:
    """(draws,) see ``Sample.largest``: numbers of correct answers are drawn, errors computed from them."""
    generator = np.random.default_rng([seed, 1])
    correct = generator.binomial(count.astype(np.int64), center, (draws, len(center)))
    drawn_center = (correct + 1) / (count + 2)
    variance = drawn_center * (1 - drawn_center) / (count + 2)
    deviations = drawn_center - (count * center + 1) / (count + 2)
    result = np.zeros(draws)
    for first, two in combinations(range(len(center)), 2):
        error = np.sqrt(variance[:, first] + variance[:, two])
        np.maximum(result, np.abs(deviations[:, first] - deviations[:, two]) / error, out=result)
    return result


def together(tasks: Sequence[Sample]) -> Sample:
    """Return the mean over tasks, each counted alike, of the same models.

    Tasks that are drawn alike, such as formulations on the same examples, count as belonging together.
    """
    models = len(tasks[0].scores)
    scores = np.mean([task.scores for task in tasks], axis=0)
    draws = np.mean([task.draws for task in tasks], axis=0)
    contributions, weights, across = _by_cluster(tasks)
    shared_examples = len(weights) < sum(len(task.weights) for task in tasks)
    trainings = any(task.trainings for task in tasks)

    def compared(first: int, two: int) -> Difference:
        spreads = [task.difference(first, two).spread for task in tasks]
        squares = [spread.standard_error**2 for spread in spreads]
        # how tasks vary together is known from their draws; how much each varies, from its spread
        drawn_variance = sum(float((task.draws[:, first] - task.draws[:, two]).var(ddof=1)) for task in tasks)
        variance = float((draws[:, first] - draws[:, two]).var(ddof=1))
        variance *= sum(squares) / drawn_variance if drawn_variance else 1.0
        variance += max(float(across[first, first] + across[two, two] - 2 * across[first, two]), 0.0)
        if variance <= (1e-12 * np.abs(scores).max()) ** 2:  # nothing varies
            variance = 0.0
        spread = _spread_over_tasks(spreads, variance, shared_examples, trainings)
        value = float(scores[first] - scores[two])
        return _tested(value, spread, contributions[first] - contributions[two])

    return Sample(scores, draws, _of_pairs(compared, models), contributions, weights)


def _by_cluster(tasks: Sequence[Sample]) -> tuple[Floats, Floats, Floats]:
    """Return what each cluster adds to the mean over tasks.

    Returns
    -------
    contributions, weights
        (models, clusters) and (clusters,), as in ``Sample``; a cluster of several tasks is one.
    across
        (models, models) the covariances of the mean over tasks that come from clusters which tasks share that
        are drawn apart, because they have other clusters, too.
    """
    by_examples: dict[int, Floats] = {}
    places: dict[int, Ints] = {}
    numbers: dict[Hashable, int] = {}
    for number, task in enumerate(tasks):
        share = np.concatenate([task.contributions, task.weights[None]]) / len(tasks)
        key = task.examples or -number
        by_examples[key] = by_examples.get(key, np.zeros_like(share)) + share
        names = task.names or [(key, place) for place in range(share.shape[1])]
        places[key] = np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=np.int64)
    models = len(tasks[0].scores)
    sums, residuals = np.zeros((models + 1, len(numbers))), np.zeros((models, len(numbers)))
    alone = np.zeros((models, models))
    for key, part in by_examples.items():
        moved = part[:-1] - part[-1] * (part[:-1].sum(axis=1) / part[-1].sum())[:, None]
        sums[:, places[key]] += part
        residuals[:, places[key]] += moved
        alone += moved @ moved.T
    return sums[:-1], sums[-1], residuals @ residuals.T - alone


def _tested(value: float, spread: Spread, parts: Floats) -> Difference:
    """Return a difference with its p-value; of its (parts,), which can change sides, where nothing varies."""
    p = spread.p(value)
    return Difference(value, value, spread, exchanged(parts) if np.isnan(p) else p)


def _spread_over_tasks(
    spreads: Sequence[Spread], variance: float, shared_examples: bool, trainings: bool
) -> Spread:
    """Return the variance of a mean over tasks, with the degrees of freedom of what varies.

    Parameters
    ----------
    spreads
        Of the tasks: the last variance is over examples, and the first of two over trainings or prompts.
    variance
        Of the mean.
    shared_examples
        Whether tasks have the same examples. Then, together they have no more degrees of freedom than one.
    trainings
        Whether tasks have the same trainings.
    """

    def freedom(place: int, shared: bool) -> float:
        informative = [spread for spread in spreads if place < 0 or len(spread.variances) > 1]
        freedoms = [max(spread.freedoms[place], 1e-9) for spread in informative]
        total = satterthwaite([spread.variances[place] for spread in informative], freedoms)
        return min(freedoms) if shared or not total else total

    over_examples = min(sum(spread.variances[-1] for spread in spreads) / len(spreads) ** 2, variance)
    if all(len(spread.variances) == 1 for spread in spreads):
        return Spread((variance,), (freedom(-1, shared_examples),))
    return Spread(
        (variance - over_examples, over_examples),
        (freedom(0, shared_examples or trainings), freedom(-1, shared_examples)),
    )


def pairs(sample: Sample, names: Sequence[str], confidence: float = CONFIDENCE) -> pd.DataFrame:
    """Return all pairs of models.

    Returns
    -------
    DataFrame
        One row per pair, the better model first, with the columns of ``PAIRS``. Intervals are simultaneous
        for all pairs. Their half-width is the quantile of the largest deviation over pairs, in standard
        errors.
    """
    if len(names) < 2 or len({*names}) < len(sample.scores):
        raise InputError(f"models are {', '.join(names)}; expected at least two, each with its own name")
    order = [int(place) for place in np.argsort(-sample.scores, kind="stable")]
    ordered = [(first, two, sample.difference(first, two)) for first, two in combinations(order, 2)]
    # of one pair, its own test
    tail = (1 - confidence) / 2
    if len(ordered) > 1:
        tail = float(stats.norm.sf(_largest(sample, confidence)))
    rows = []
    for first, two, difference in ordered:
        draws = sample.draws[:, first] - sample.draws[:, two]
        low, high = difference.interval(tail)
        rows.append(
            {
                "first": names[first],
                "second": names[two],
                "difference": difference.value,
                "error": difference.spread.standard_error,
                "low": low,
                "high": high,
                "p": difference.p,
                "flips": float((draws < 0).mean() + (draws == 0).mean() / 2),
            }
        )
    table = pd.DataFrame(rows)
    table = table.assign(holm=adjusted(table["p"], "holm"), bh=adjusted(table["p"], "bh"))
    return table[[*PAIRS]]


def _largest(sample: Sample, confidence: float) -> float:
    """Return the quantile of the largest deviation of any pair's difference, in standard errors.

    If the errors of draws are known, they count, too: with few examples, they vary.
    """
    largest_of_draws = np.zeros(len(sample.draws))
    for (first, two), difference in sample.differences.items():
        deviations = sample.draws[:, first] - sample.draws[:, two] - difference.center
        if (error := deviations.std(ddof=1)) > 0:
            np.maximum(largest_of_draws, np.abs(deviations) / error, out=largest_of_draws)
    of_draws = [part for part in (largest_of_draws, sample.largest) if part.size]
    return max(float(np.quantile(part, confidence)) for part in of_draws)


def ranks(
    sample: Sample,
    names: Sequence[str],
    confidence: float = CONFIDENCE,
    all_pairs: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Return the models in order, and how sure the order is.

    Parameters
    ----------
    all_pairs
        The result of ``pairs``, if it is computed already.

    Returns
    -------
    DataFrame
        One row per model, the best first, with the columns of ``RANKS``. ``rank_low`` is 1 plus the number of
        models that are significantly better by the intervals of ``pairs``. ``rank_high`` is the number of
        models minus the number that are significantly worse (Mogstad, Romano, Shaikh and Wilhelm, 2024).
    """
    table = pairs(sample, names, confidence) if all_pairs is None else all_pairs
    # by more than rounding; of one pair, or where nothing varies, by the test
    by_test = table["low"].isna() | (len(table) == 1)
    sure = np.where(by_test, table["holm"] <= 1 - confidence, table["low"] > 1e-12)
    separated = table[sure]
    order = np.argsort(-sample.scores, kind="stable")
    best = sample.draws == sample.draws.max(axis=1, keepdims=True)
    share = (best / best.sum(axis=1, keepdims=True)).mean(axis=0)
    ordered = [names[place] for place in order]
    differ = set(zip(separated["first"], separated["second"], strict=True))
    letters = _letters(ordered, differ)
    table = pd.DataFrame(
        {
            "model": names[place],
            "score": sample.scores[place],
            "rank": 1 + int((sample.scores > sample.scores[place]).sum()),
            "rank_low": 1 + int((separated["second"] == names[place]).sum()),
            "rank_high": len(names) - int((separated["first"] == names[place]).sum()),
            "groups": letters[names[place]],
            "best": share[place],
        }
        for place in order
    )
    # small only because there are many models
    table["best"] = table["best"].mask((table["rank_low"] == 1) & (table["rank_high"] == len(names)))
    return table


def _letters(names: Sequence[str], differ: set[tuple[str, str]]) -> dict[str, str]:
    """{name: letters} such that two names share one unless they differ (insert and absorb; Piepho, 2004)."""
    columns: list[set[str]] = [set(names)]
    for first, second in sorted(differ, key=lambda pair: (names.index(pair[0]), names.index(pair[1]))):
        split = [column for column in columns if {first, second} <= column]
        columns = [column for column in columns if column not in split]
        for column in split:
            columns += [column - {first}, column - {second}]
        columns = [
            column
            for place, column in enumerate(columns)
            if not any(
                column < another or (column == another and place > number)
                for number, another in enumerate(columns)
            )
        ]
    columns.sort(key=lambda column: sorted(names.index(name) for name in column))
    return {
        name: "".join(_letter(number) for number, column in enumerate(columns) if name in column)
        for name in names
    }


def _letter(number: int) -> str:
    """a to z, then a1 to z1 and so on."""
    return chr(ord("a") + number % 26) + (str(number // 26) if number >= 26 else "")
