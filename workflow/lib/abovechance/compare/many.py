"""Many models: which differ, in which order they are, and how sure that is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
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
from abovechance.core.arrays import Floats
from abovechance.core.columns import Column
from abovechance.core.errors import InputError
from abovechance.core.estimates import CONFIDENCE, Spread, satterthwaite
from abovechance.core.resampling import cluster_sums, times_drawn

DRAWS = 2000
MOST_MODELS = 1000
PAIRS = {
    "first": Column.text("the better model"),
    "second": Column.text("the other model"),
    "difference": Column.number("mean score of first minus second"),
    "error": Column.number("standard error of the difference"),
    "low": Column.number("lower end of an interval that holds for all pairs of a task simultaneously"),
    "high": Column.number("upper end of the interval"),
    "p": Column.number("p-value of no difference"),
    "holm": Column.number("p-value adjusted for all pairs of all tasks (Holm)"),
    "bh": Column.number("p-value adjusted for all pairs of all tasks (Benjamini and Hochberg)"),
    "flips": Column.share("share of draws in which the order is reversed"),
}
RANKS = {
    "model": Column.text("name of the model"),
    "score": Column.number("mean score over prompts and examples"),
    "rank": Column.whole("rank by score; 1 is best"),
    "rank_low": Column.whole(
        "lowest rank the model may have, with 95 % confidence for all models simultaneously"
    ),
    "rank_high": Column.whole("highest rank the model may have"),
    "groups": Column.text("letters; models that share one cannot be distinguished", lacking=""),
    "best": Column.share("share of draws in which the model is the best; missing if it may have any rank"),
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
        """The interval that leaves out this probability on either side; missing if nothing varies."""
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
    examples
        A number that tasks with the same examples share; 0 if no other task has them.
    trainings
        Whether the first variance of each difference is over trainings, which are the same in all tasks.
    """

    scores: Floats
    draws: Floats
    differences: Mapping[tuple[int, int], Difference]
    contributions: Floats
    examples: int = 0
    trainings: bool = False

    def difference(self, first: int, second: int) -> Difference:
        """The difference of two models, by their places."""
        if first < second:
            return self.differences[first, second]
        return self.differences[second, first].reversed

    def reordered(self, places: Sequence[int]) -> Sample:
        """The models of these places, in this order."""
        pairs = combinations(range(len(places)), 2)
        return Sample(
            self.scores[[*places]],
            self.draws[:, [*places]],
            {(one, two): self.difference(places[one], places[two]) for one, two in pairs},
            self.contributions[[*places]],
            self.examples,
            self.trainings,
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
    given = np.asarray(scores, dtype=float)
    if given.ndim != 2 or not given.size or not np.isfinite(given).all():
        raise InputError(f"scores have the shape {given.shape}; expected (models, examples), none missing")
    sums, sizes = cluster_sums(given, clusters)
    drawn = _drawn(sums, sizes, draws, seed, examples)
    scale = largest(given)

    def compared(one: int, two: int) -> Difference:
        mean, test = difference_test(given[one] / scale, given[two] / scale, clusters, 1 / scale)
        value = mean.value * scale
        # two clusters or more
        spread = Spread((np.nan_to_num(mean.standard_error * scale) ** 2,), (max(mean.freedom, 1e-9),))
        return Difference(value, value, spread, test.p)

    means = given.mean(axis=1)
    return Sample(means, drawn, _of_pairs(compared, len(given)), sums / given.shape[1], examples)


def _drawn(sums: Floats, sizes: Floats, draws: int, seed: int | Sequence[int], examples: int) -> Floats:
    """(draws, models) mean scores of clusters that are drawn with replacement."""
    seeds = [seed] if isinstance(seed, int) else [*seed]
    counts = times_drawn(len(sizes), draws, np.random.default_rng([*seeds, examples]))
    return (counts @ sums.T) / (counts @ sizes)[:, None]


def prompted(
    scores: ArrayLike,
    clusters: ArrayLike | None = None,
    draws: int = DRAWS,
    seed: int = 0,
    examples: int = 0,
) -> Sample:
    """Models under the same prompts, for prompts and examples like these.

    In each draw, examples and prompts are drawn again, the same ones for all models; p-values and standard
    errors are those of ``over_prompts`` (``population``).

    Parameters
    ----------
    scores
        (models, prompts, examples) numbers; missing if a prompt is not evaluated on an example.
    seed, examples
        See ``paired``.
    """
    given = np.asarray(scores, dtype=float)
    prompts = given.shape[1]
    sums, sizes = cluster_sums(np.nanmean(given, axis=1), clusters)
    drawn = _drawn(sums, sizes, draws, seed, examples)
    of_prompts = np.nanmean(given, axis=2)
    # tasks have prompts of their own
    times = times_drawn(prompts, draws, np.random.default_rng([seed, 3, examples]))
    moved = (times - 1) @ of_prompts.T / prompts * np.sqrt(prompts / max(prompts - 1, 1))
    contributions = sums / given.shape[2]

    def compared(one: int, two: int) -> Difference:
        pair = PromptPair.of(given[one], given[two], clusters)
        spread = pair.population or Spread((0.0,), (1.0,))
        p = spread.p(pair.difference)
        if np.isnan(p):
            p = exchanged(contributions[one] - contributions[two])
        value = pair.difference * pair.scale
        return Difference(value, value, spread.scaled(pair.scale), p)

    differences = _of_pairs(compared, len(given))
    return Sample(of_prompts.mean(axis=1), drawn + moved, differences, contributions, examples)


def trained(
    seeds: Sequence[ArrayLike],
    clusters: ArrayLike | None = None,
    draws: int = DRAWS,
    seed: int = 0,
    examples: int = 0,
) -> Sample:
    """Models on the same examples, of which some were trained several times.

    In each draw, examples are drawn again, and of each model its seeds, whose deviations are made larger by
    sqrt(s / (s - 1)), since a mean of s draws from s seeds varies less than that of s trainings. The variance
    over seeds is that of all models or that of the two, whichever is larger; its degrees of freedom are those
    of all.

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
    given = [np.atleast_2d(np.asarray(one, dtype=float)) for one in seeds]
    if len({one.shape[-1] for one in given}) != 1:
        raise InputError("models have other numbers of examples; expected the same examples")
    alone = paired([one.mean(axis=0) for one in given], clusters, draws, seed, examples)
    repeats = sum(len(one) - 1 for one in given)
    if not repeats:
        return alone
    pooled = sum(float(one.mean(axis=1).var()) * len(one) for one in given) / repeats
    drawn = alone.draws.copy()
    for place, one in enumerate(given):
        if (count := len(one)) == 1:
            drawn[:, place] += np.random.default_rng([seed, 2, place]).normal(0, np.sqrt(pooled), draws)
        else:
            # the same examples in each draw as for all models, and the same seeds for all tasks
            each = _drawn(*cluster_sums(one, clusters), draws, seed, examples)
            chosen = times_drawn(count, draws, np.random.default_rng([seed, 1, place]))
            moved = (each * chosen).sum(axis=1) / count - each.mean(axis=1)
            drawn[:, place] += moved * np.sqrt(count / (count - 1))

    def compared(one: int, two: int) -> Difference:
        elsewhere = (pooled, repeats) if len(given) > 2 else None
        spread = seeds_spread(given[one], given[two], clusters, elsewhere)
        value = float(alone.scores[one] - alone.scores[two])
        p = spread.p(value)
        if np.isnan(p):
            p = exchanged(alone.contributions[one] - alone.contributions[two])
        return Difference(value, value, spread, p)

    differences = _of_pairs(compared, len(given))
    return Sample(alone.scores, drawn, differences, alone.contributions, examples, trainings=True)


def flips(
    scores: Sequence[ArrayLike], clusters: ArrayLike | None = None, draws: int = DRAWS, seed: int = 0
) -> Floats:
    """How often the order of two models is another with other examples, prompts and seeds.

    Examples (clusters of them) and prompts are drawn with replacement, the same ones for all models; of each
    model, its seeds too. As all are drawn from those that are there, deviations of few are too small.

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
    given = [np.asarray(one, dtype=float) for one in scores]
    if len({one.shape[1:] for one in given}) != 1 or given[0].ndim != 3:
        raise InputError("models have other prompts or examples; expected seeds, prompts and examples")
    generator = np.random.default_rng(seed)
    prompts = given[0].shape[1]
    chosen = times_drawn(prompts, draws, generator)
    there = [np.isfinite(one) for one in given]
    sums = [cluster_sums(np.where(has, one, 0), clusters)[0] for one, has in zip(given, there, strict=True)]
    sizes = [cluster_sums(has, clusters)[0] for has in there]
    count = sums[0].shape[-1]
    counts = times_drawn(count, draws, generator)
    drawn = []
    for own, size in zip(sums, sizes, strict=True):
        seeds = len(own)
        of_seeds = times_drawn(seeds, draws, generator)
        # (draws, seeds, prompts)
        totals, examples = (np.tensordot(counts, one, axes=(1, 2)) for one in (own, size))
        with np.errstate(invalid="ignore", divide="ignore"):
            means = np.nan_to_num(totals / examples)
        drawn.append(np.einsum("dsp,ds,dp->d", means, of_seeds, chosen) / (seeds * prompts))
    table = np.array(drawn)
    return (table[:, None] < table).mean(axis=2) + (table[:, None] == table).mean(axis=2) / 2


def unpaired(accuracies: ArrayLike, examples: ArrayLike, draws: int = DRAWS, seed: int = 0) -> Sample:
    """Models of which only accuracies are known, each as if on examples of its own.

    Intervals and p-values are as if each had one right and one wrong answer more (Agresti and Caffo, 2000).

    Parameters
    ----------
    accuracies
        (models,) in [0, 1].
    examples
        (models,) or one number, on how many.
    """
    given, count = np.asarray(accuracies, dtype=float), np.asarray(examples, dtype=float)
    count = np.broadcast_to(count, given.shape)
    if not ((given >= 0) & (given <= 1)).all() or not (count >= 1).all():
        raise InputError("accuracies are in [0, 1], and examples at least 1")
    right = np.rint(given * count)
    # that all of a few were right does not say that all are
    drawn = np.random.default_rng(seed).beta(right + 1, count - right + 1, (draws, len(given)))
    center = (right + 1) / (count + 2)
    variance = center * (1 - center) / (count + 2)

    def compared(one: int, two: int) -> Difference:
        spread = Spread((float(variance[one] + variance[two]),), (np.inf,))
        middle = float(center[one] - center[two])
        return Difference(float(given[one] - given[two]), middle, spread, spread.p(middle), limit=1.0)

    return Sample(given, drawn, _of_pairs(compared, len(given)), np.zeros((len(given), 0)))


def together(tasks: Sequence[Sample]) -> Sample:
    """The mean over tasks, each counted alike, of the same models.

    Tasks that are drawn alike, such as formulations on the same examples, count as belonging together.
    """
    models = len(tasks[0].scores)
    scores = np.mean([task.scores for task in tasks], axis=0)
    draws = np.mean([task.draws for task in tasks], axis=0)
    by_examples: dict[int, Floats] = {}
    for number, task in enumerate(tasks):
        own, key = task.contributions / len(tasks), task.examples or -number
        by_examples[key] = by_examples.get(key, np.zeros_like(own)) + own
    contributions = np.concatenate([*by_examples.values()], axis=1)
    alike = len(by_examples) < len(tasks)

    def compared(one: int, two: int) -> Difference:
        spreads = [task.difference(one, two).spread for task in tasks]
        squares = [spread.standard_error**2 for spread in spreads]
        # how tasks vary together is known from their draws; how much each varies, from its spread
        drawn = sum(float((task.draws[:, one] - task.draws[:, two]).var(ddof=1)) for task in tasks)
        variance = float((draws[:, one] - draws[:, two]).var(ddof=1))
        variance *= sum(squares) / drawn if drawn else 1.0
        value = float(scores[one] - scores[two])
        spread = _spread_over_tasks(spreads, variance, alike, any(task.trainings for task in tasks))
        if variance <= (1e-12 * np.abs(scores).max()) ** 2:  # nothing varies
            return Difference(
                value, value, Spread((0.0,), (1.0,)), exchanged(contributions[one] - contributions[two])
            )
        return Difference(value, value, spread, spread.p(value))

    return Sample(scores, draws, _of_pairs(compared, models), contributions)


def _spread_over_tasks(spreads: Sequence[Spread], variance: float, alike: bool, trainings: bool) -> Spread:
    """The variance of a mean over tasks, with the degrees of freedom of what varies.

    Parameters
    ----------
    spreads
        Of the tasks: the last variance is over examples, and the first of two over trainings or prompts.
    variance
        Of the mean.
    alike
        Whether tasks have the same examples. Then, together they have no more degrees of freedom than one.
    trainings
        Whether tasks have the same trainings.
    """

    def freedom(place: int, shared: bool) -> float:
        own = [spread for spread in spreads if place < 0 or len(spread.variances) > 1]
        freedoms = [max(spread.freedoms[place], 1e-9) for spread in own]
        total = satterthwaite([spread.variances[place] for spread in own], freedoms)
        return min(freedoms) if shared or not total else total

    over_examples = min(sum(spread.variances[-1] for spread in spreads) / len(spreads) ** 2, variance)
    if all(len(spread.variances) == 1 for spread in spreads):
        return Spread((variance,), (freedom(-1, alike),))
    return Spread(
        (variance - over_examples, over_examples), (freedom(0, alike or trainings), freedom(-1, alike))
    )


def pairs(drawn: Sample, names: Sequence[str], confidence: float = CONFIDENCE) -> pd.DataFrame:
    """All pairs of models.

    Returns
    -------
    DataFrame
        One row per pair, the better model first, with the columns of ``PAIRS``. Intervals hold for all
        pairs at once: they reach as far as the largest deviation over pairs, in standard errors.
    """
    if len(names) < 2 or len({*names}) < len(drawn.scores):
        raise InputError(f"models are {', '.join(names)}; expected at least two, each with its own name")
    order = [int(place) for place in np.argsort(-drawn.scores, kind="stable")]
    ordered = [(one, two, drawn.difference(one, two)) for one, two in combinations(order, 2)]
    # of one pair, its own test
    tail = (1 - confidence) / 2
    if len(ordered) > 1:
        tail = float(stats.norm.sf(_largest(drawn, confidence)))
    rows = []
    for one, two, difference in ordered:
        draws = drawn.draws[:, one] - drawn.draws[:, two]
        low, high = difference.interval(tail)
        rows.append(
            {
                "first": names[one],
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


def _largest(drawn: Sample, confidence: float) -> float:
    """The quantile of the largest deviation of any pair's difference, in standard errors."""
    largest_of_draws = np.zeros(len(drawn.draws))
    for (one, two), difference in drawn.differences.items():
        deviations = drawn.draws[:, one] - drawn.draws[:, two] - difference.center
        if (error := deviations.std(ddof=1)) > 0:
            np.maximum(largest_of_draws, np.abs(deviations) / error, out=largest_of_draws)
    return float(np.quantile(largest_of_draws, confidence))


def ranks(drawn: Sample, names: Sequence[str], confidence: float = CONFIDENCE) -> pd.DataFrame:
    """The models in order, and how sure the order is.

    Returns
    -------
    DataFrame
        One row per model, the best first, with the columns of ``RANKS``. Between ``rank_low`` and
        ``rank_high``, as many models are better, and as many worse, as the intervals of ``pairs`` tell
        apart (Mogstad, Romano, Shaikh and Wilhelm, 2024).
    """
    table = pairs(drawn, names, confidence)
    # by more than rounding; of one pair, or where nothing varies, by the test
    by_test = table["low"].isna() | (len(table) == 1)
    sure = np.where(by_test, table["holm"] <= 1 - confidence, table["low"] > 1e-12)
    apart = table[sure]
    order = np.argsort(-drawn.scores, kind="stable")
    best = drawn.draws == drawn.draws.max(axis=1, keepdims=True)
    share = (best / best.sum(axis=1, keepdims=True)).mean(axis=0)
    ordered = [names[place] for place in order]
    differ = set(zip(apart["first"], apart["second"], strict=True))
    letters = _letters(ordered, differ)
    table = pd.DataFrame(
        {
            "model": names[place],
            "score": drawn.scores[place],
            "rank": 1 + int((drawn.scores > drawn.scores[place]).sum()),
            "rank_low": 1 + int((apart["second"] == names[place]).sum()),
            "rank_high": len(names) - int((apart["first"] == names[place]).sum()),
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
    for one, other in sorted(differ, key=lambda pair: (names.index(pair[0]), names.index(pair[1]))):
        split = [column for column in columns if {one, other} <= column]
        columns = [column for column in columns if column not in split]
        for column in split:
            columns += [column - {one}, column - {other}]
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
