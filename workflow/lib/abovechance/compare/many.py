"""Many models: which differ, in which order they are, and how sure that is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from abovechance.chance.multiplicity import adjusted
from abovechance.compare.prompts import over_prompts
from abovechance.compare.seeds import over_seeds
from abovechance.compare.two_models import difference_test, exchanged
from abovechance.core.arrays import Floats
from abovechance.core.columns import Column
from abovechance.core.errors import InputError
from abovechance.core.estimates import CONFIDENCE, Estimate
from abovechance.core.resampling import cluster_sums, times_drawn

DRAWS = 2000
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


class Drawn(NamedTuple):
    """Scores of models, and the same with examples drawn anew.

    Attributes
    ----------
    scores
        (models,) means over examples.
    draws
        (draws, models) the same of examples that are drawn with replacement: the same ones for all models
        where they are paired, so that what they have in common drops out of differences.
    sums
        (models, clusters) by how much each cluster adds to a score; None where that is not known.
    p
        (models, models) of each pair, where it is not by exchanging models.
    freedom
        The degrees of freedom of the draws' spread, of each pair (models, models) or of all.
    middle
        (models,) about which draws spread; the scores where it is None.
    error
        (models, models) the standard error of each pair's difference; that of draws where it is None.
    signs
        (models, clusters of all tasks) by how much each adds to a mean over tasks, for an exact test if
        nothing varies.
    """

    scores: Floats
    draws: Floats
    sums: Floats | None = None
    p: Floats | None = None
    freedom: Floats | float = np.inf
    middle: Floats | None = None
    error: Floats | None = None
    signs: Floats | None = None


def paired(
    scores: ArrayLike,
    clusters: ArrayLike | None = None,
    draws: int = DRAWS,
    seed: int | Sequence[int] = 0,
) -> Drawn:
    """Models on the same examples.

    Parameters
    ----------
    scores
        (models, examples) numbers.
    clusters
        (examples,) the same for examples that belong together, which are drawn as wholes.
    seed
        Of the draws; those of tasks with other examples should have others (``together``).

    Raises
    ------
    InputError
        If a score is missing.
    """
    given = np.asarray(scores, dtype=float)
    if given.ndim != 2 or not given.size or not np.isfinite(given).all():
        raise InputError(f"scores of the shape {given.shape}; right would be models and examples, all there")
    sums, sizes = cluster_sums(given, clusters)
    count = len(sizes)
    counts = times_drawn(count, draws, np.random.default_rng(seed))
    drawn = (counts @ sums.T) / (counts @ sizes)[:, None]
    p, freedom, error = _of_pairs(lambda one, other: _by_test(given[one], given[other], clusters), len(given))
    return Drawn(given.mean(axis=1), drawn, sums / given.shape[1], p=p, freedom=freedom, error=error)


def _by_test(first: Floats, second: Floats, clusters: ArrayLike | None) -> Estimate:
    """The difference of two models, with the p-value of ``two_models.compare``."""
    scale = max(np.abs(first).max(), np.abs(second).max(), np.finfo(float).tiny)
    mean, test = difference_test(first / scale, second / scale, clusters, 1 / scale)
    return mean._replace(standard_error=mean.standard_error * scale, p=test.p)


def _of_pairs(compared: Callable[[int, int], Estimate], models: int) -> tuple[Floats, Floats, Floats]:
    """(models, models) p-values, degrees of freedom and standard errors of all pairs' differences."""
    p, freedom, error = np.ones((models, models)), np.ones((models, models)), np.zeros((models, models))
    for pair in combinations(range(models), 2):
        found = compared(*pair)
        for table, value in ((p, found.p), (freedom, found.freedom), (error, found.standard_error)):
            table[pair] = table[pair[::-1]] = np.nan_to_num(value)
    return p, freedom, error


def prompted(
    scores: ArrayLike,
    clusters: ArrayLike | None = None,
    draws: int = DRAWS,
    seed: int = 0,
    of_examples: int = 0,
) -> Drawn:
    """Models under the same prompts, for prompts and examples like these.

    In each draw, examples and prompts are drawn anew, the same ones for all models; p-values and standard
    errors are those of ``over_prompts`` (``population``).

    Parameters
    ----------
    scores
        (models, prompts, examples) numbers; missing if a prompt is not evaluated on an example.
    seed, of_examples
        See ``trained``.
    """
    given = np.asarray(scores, dtype=float)
    prompts = given.shape[1]
    alone = paired(np.nanmean(given, axis=1), clusters, draws, [seed, of_examples])
    of_prompts = np.nanmean(given, axis=2)
    # tasks have prompts of their own
    times = times_drawn(prompts, draws, np.random.default_rng([seed, 3, of_examples]))
    moved = (times - 1) @ of_prompts.T / prompts * np.sqrt(prompts / max(prompts - 1, 1))
    p, freedom, error = _of_pairs(
        lambda one, other: over_prompts(given[one], given[other], clusters).population, len(given)
    )
    return Drawn(of_prompts.mean(axis=1), alone.draws + moved, p=p, freedom=freedom, error=error)


def trained(
    seeds: Sequence[ArrayLike],
    clusters: ArrayLike | None = None,
    draws: int = DRAWS,
    seed: int = 0,
    of_examples: int = 0,
) -> Drawn:
    """Models on the same examples, of which some were trained several times.

    In each draw, examples are drawn anew, and of each model its seeds, whose deviations are made larger by
    sqrt(s / (s - 1)), since a mean of s draws from s seeds varies less than that of s trainings. A model with
    one seed is taken to vary as the others do.

    Parameters
    ----------
    seeds
        For each model (seeds, examples) scores.
    clusters
        (examples,) the same for examples that belong together.
    seed
        Of the draws. Those of the models' seeds are the same in all tasks.
    of_examples
        Of the draws of examples beside it: another number for tasks with other examples.

    Raises
    ------
    InputError
        If a score is missing, or models have other examples.
    """
    given = [np.atleast_2d(np.asarray(one, dtype=float)) for one in seeds]
    if len({one.shape[-1] for one in given}) != 1:
        raise InputError("models have other numbers of examples; right would be the same examples")
    alone = paired([one.mean(axis=0) for one in given], clusters, draws, [seed, of_examples])
    if all(len(one) == 1 for one in given):
        return alone
    drawn = alone.draws.copy()
    repeats = sum(len(one) - 1 for one in given)
    pooled = np.sqrt(sum(one.mean(axis=1).var() * len(one) for one in given) / repeats)
    for place, one in enumerate(given):
        if len(one) == 1:
            drawn[:, place] += np.random.default_rng([seed, 2, place]).normal(0, pooled, draws)
        if (count := len(one)) > 1:
            # the same examples in each draw as for all models, and the same seeds for all tasks
            each = paired(one, clusters, draws, [seed, of_examples]).draws
            chosen = times_drawn(count, draws, np.random.default_rng([seed, 1, place]))
            moved = (each * chosen).sum(axis=1) / count - each.mean(axis=1)
            drawn[:, place] += moved * np.sqrt(count / (count - 1))

    def compared(one: int, other: int) -> Estimate:
        both = over_seeds(given[one], given[other], clusters, elsewhere=(float(pooled), repeats))
        if not np.isnan(both.difference.p):
            return both.difference
        # nothing varies, not even over examples
        own = alone.sums[one] - alone.sums[other] if alone.sums is not None else np.zeros(1)
        return both.difference._replace(p=exchanged(own))

    p, freedom, error = _of_pairs(compared, len(given))
    return Drawn(alone.scores, drawn, p=p, freedom=freedom, error=error)


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
        raise InputError("models have other prompts or examples; right would be seeds, prompts and examples")
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
    found: Floats = (table[:, None] < table).mean(axis=2) + (table[:, None] == table).mean(axis=2) / 2
    return found


def unpaired(accuracies: ArrayLike, examples: ArrayLike, draws: int = DRAWS, seed: int = 0) -> Drawn:
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
    middle = (right + 1) / (count + 2)
    variance = middle * (1 - middle) / (count + 2)
    error = np.sqrt(variance[:, None] + variance)
    p = 2 * stats.norm.sf(np.abs(middle[:, None] - middle) / error)
    return Drawn(given, drawn, p=p, middle=middle, error=error)


def reordered(drawn: Drawn, names: Sequence[str], order: Sequence[str]) -> Drawn:
    """The same models in another order."""
    places = [names.index(name) for name in order]
    sums = None if drawn.sums is None else drawn.sums[places]
    p = None if drawn.p is None else drawn.p[np.ix_(places, places)]
    freedom = drawn.freedom
    if not isinstance(freedom, float):
        freedom = freedom[np.ix_(places, places)]
    middle = None if drawn.middle is None else drawn.middle[places]
    error = None if drawn.error is None else drawn.error[np.ix_(places, places)]
    return Drawn(drawn.scores[places], drawn.draws[:, places], sums, p, freedom, middle, error)


def together(tasks: Sequence[Drawn]) -> Drawn:
    """The mean over tasks, each counted alike, of the same models.

    Tasks are to be drawn with seeds of their own, unless they have the same examples: what is drawn alike
    counts as belonging together.
    """
    models = len(tasks[0].scores)
    errors = [_errors(task) for task in tasks]
    freedoms = [np.maximum(task.freedom + np.zeros((models, models)), 1e-9) for task in tasks]
    # of tasks by themselves, each has its own freedom (Satterthwaite, 1946)
    below = sum(error**4 / freedom for error, freedom in zip(errors, freedoms, strict=True))
    squares = sum(error**2 for error in errors)
    least = np.min(freedoms, axis=0)
    freedom = np.divide(squares**2, below, out=least.copy(), where=np.asarray(below) > 0)
    sums = [task.sums for task in tasks if task.sums is not None]
    draws = np.mean([task.draws for task in tasks], axis=0)
    # tasks with the same examples vary together, as their draws do; how much each varies, its errors say
    drawn_squares = sum(_spread(task.draws) ** 2 for task in tasks)
    larger = np.sqrt(np.divide(squares, drawn_squares, out=np.ones_like(squares), where=drawn_squares > 0))
    return Drawn(
        np.mean([task.scores for task in tasks], axis=0),
        draws,
        error=_spread(draws) * larger,
        signs=np.concatenate(sums, axis=1) / len(tasks) if len(sums) == len(tasks) else None,
        freedom=freedom,
    )


def _errors(drawn: Drawn) -> Floats:
    """(models, models) the standard error of each pair's difference."""
    return _spread(drawn.draws) if drawn.error is None else drawn.error


def _spread(draws: Floats) -> Floats:
    """(models, models) the standard deviation of each pair's difference over draws."""
    found: Floats = (draws[:, :, None] - draws[:, None, :]).std(axis=0, ddof=1)
    return found


def pairs(drawn: Drawn, names: Sequence[str], confidence: float = CONFIDENCE) -> pd.DataFrame:
    """All pairs of models.

    Returns
    -------
    DataFrame
        One row a pair, the better model first: ``first``; ``second``; ``difference``; its ``error`` over
        draws; ``low`` and ``high``, an interval that holds for all pairs at once (the largest deviation over
        pairs, by standard errors, and Student's distribution), missing where nothing varies; ``p``,
        two-sided: of paired models as in ``compare``, of
        those trained several times by ``over_seeds``, of unpaired ones by Agresti and Caffo's, of the mean
        over tasks by the error and Student's distribution; ``holm`` and ``bh``, the same adjusted for the
        number of pairs; ``flips``, in which share of draws the order is the other one.
    """
    order = np.argsort(-drawn.scores, kind="stable")
    rows = []
    for one, other in combinations(order, 2):
        difference = drawn.scores[one] - drawn.scores[other]
        draws = drawn.draws[:, one] - drawn.draws[:, other]
        error = float(draws.std(ddof=1)) if drawn.error is None else float(drawn.error[one, other])
        rows.append(
            {
                "first": names[one],
                "second": names[other],
                "difference": difference,
                "error": error,
                "p": _p(drawn, one, other, difference, error),
                "flips": float((draws < 0).mean() + (draws == 0).mean() / 2),
            }
        )
    if len(rows) < 1 or len({*names}) < len(drawn.scores):
        raise InputError(
            f"models are {', '.join(names)}; right would be at least two, each with a name of its own"
        )
    table = pd.DataFrame(rows)
    # of one pair, its own test
    far = (1 - confidence) / 2 if len(table) == 1 else stats.norm.sf(_largest(drawn, confidence))
    freedom = np.asarray(drawn.freedom + np.zeros((len(names),) * 2))
    places = [*combinations(order, 2)]
    own = np.array([max(freedom[pair], 1e-9) for pair in places])
    reach = stats.t.isf(far, own) * table["error"]
    reach = reach.where(table["error"] > 0)
    middle = table["difference"]
    if drawn.middle is not None:
        middle = pd.Series([drawn.middle[one] - drawn.middle[other] for one, other in places])
    table = table.assign(low=middle - reach, high=middle + reach)
    if drawn.middle is not None:  # of accuracies
        table = table.assign(low=table["low"].clip(-1), high=table["high"].clip(upper=1))
    table = table.assign(holm=adjusted(table["p"], "holm"), bh=adjusted(table["p"], "bh"))
    return table[[*PAIRS]]


def _p(drawn: Drawn, one: int, other: int, difference: float, error: float) -> float:
    if drawn.p is not None:
        return float(drawn.p[one, other])
    if error <= 1e-12 * np.abs(drawn.scores).max():
        if drawn.signs is None:
            return 1.0
        return exchanged(drawn.signs[one] - drawn.signs[other])
    freedom = np.asarray(drawn.freedom + np.zeros((len(drawn.scores),) * 2))[one, other]
    return float(2 * stats.t.sf(abs(difference) / error, freedom))


def _largest(drawn: Drawn, confidence: float) -> float:
    """The quantile of the largest deviation of any pair's difference, in standard errors."""
    deviations = drawn.draws - (drawn.scores if drawn.middle is None else drawn.middle)
    one, other = np.triu_indices(len(drawn.scores), 1)
    differences = deviations[:, one] - deviations[:, other]
    errors = differences.std(axis=0, ddof=1)
    there = errors > 0
    if not there.any():
        return 0.0
    return float(np.quantile((np.abs(differences[:, there]) / errors[there]).max(axis=1), confidence))


def ranks(drawn: Drawn, names: Sequence[str], confidence: float = CONFIDENCE) -> pd.DataFrame:
    """The models in order, and how sure the order is.

    Returns
    -------
    DataFrame
        One row a model, the best first: ``model``; ``score``; ``rank``, that of equals the same;
        ``rank_low`` and ``rank_high``, between which its true rank is, for all models at once with
        probability ``confidence``: as many are better, and as many worse, as the intervals of ``pairs`` tell
        apart (Mogstad, Romano, Shaikh and Wilhelm, 2024); ``groups``, letters: models that share one cannot
        be told apart; ``best``, in which share of draws it is the best (shared among equals), missing if it
        can have any rank.
    """
    table = pairs(drawn, names, confidence)
    # by more than rounding; where nothing varies, by the exact test
    sure = np.where(table["low"].isna(), table["holm"] <= 1 - confidence, table["low"] > 1e-12)
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
