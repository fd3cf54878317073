"""Many models: which differ, in which order they are, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from abovechance.chance.multiplicity import adjusted
from abovechance.compare.samples import DRAWS, Sample
from abovechance.compare.two_models import ScoreTest
from abovechance.core.arrays import NOISE, Bools, Floats, check_same_order, differences, floats, tied_ranks
from abovechance.core.columns import Column
from abovechance.core.errors import InputError, check_inside
from abovechance.core.estimates import CONFIDENCE
from abovechance.core.resampling import cluster_sums, times_drawn

FEW = 30  # clusters; with fewer, draws show too little of how standard errors vary
PAIRS = {
    "first": Column.text("the better model, or the first model of a tie"),
    "second": Column.text("the worse model, or the second model of a tie"),
    "difference": Column.number("mean score of the first model minus mean score of the second model"),
    "error": Column.number("standard error of the difference"),
    "low": Column.number(
        "lower end of the confidence interval, simultaneous for all pairs of a task; 1e-9 means that it is "
        "just above 0"
    ),
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


def pairs(sample: Sample, names: Sequence[str], confidence: float = CONFIDENCE) -> pd.DataFrame:
    """Return all pairs of models.

    Parameters
    ----------
    sample
        From ``paired``, ``prompted``, ``trained``, ``unpaired`` or ``together``.
    names
        (models,) names, all different.
    confidence
        Simultaneous confidence level of the intervals, in (0, 1).

    Returns
    -------
    DataFrame
        One row per pair, the better model first, with the columns of ``PAIRS``. Intervals are simultaneous
        for all pairs. Their half-width is the quantile of the largest deviation over pairs, in standard
        errors; with fewer than ``FEW`` clusters of examples, it is at least Bonferroni's.
    """
    check_inside(0, 1, confidence=confidence)
    if len(names) < 2 or not len({*names}) == len(names) == len(sample.scores):
        raise InputError(
            f"models are {', '.join(map(str, names))}; expected at least two, each with its own name"
        )
    levels = tied_ranks(sample.scores, NOISE)
    order = [int(place) for place in np.argsort(-levels, kind="stable")]
    ordered = [(first, second, sample.difference(first, second)) for first, second in combinations(order, 2)]
    # of one pair, its own test
    tail = (1 - confidence) / 2
    if len(ordered) > 1:
        largest_deviation = _largest(sample, confidence)
        by_draws = float(stats.norm.sf(largest_deviation))
        # if no pair varies in the draws, or errors are little known, these do not show how alike pairs are
        tail = by_draws if largest_deviation and not _are_few(sample) else min(by_draws, tail / len(ordered))
    rows = []
    for first, second, difference in ordered:
        draws = differences(sample.draws[:, first], sample.draws[:, second])
        low, high = difference.interval(tail)
        is_tie = levels[first] == levels[second] and not (low > 0 or high < 0)
        rows.append(
            {
                "first": names[first],
                "second": names[second],
                "difference": 0.0 if is_tie else difference.value,
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


def _are_few(sample: Sample) -> bool:
    """Return whether there are few clusters of examples, and intervals by Student's distribution."""
    by_score = [isinstance(difference.test, ScoreTest) for difference in sample.differences.values()]
    return 0 < len(sample.weights) < FEW and sample.repeats is None and not all(by_score)


def _largest(sample: Sample, confidence: float) -> float:
    """Return the quantile of the largest deviation of any pair's difference, in standard errors.

    If the errors of draws are known, they count, too: with few examples, they vary.
    """
    largest_of_draws = np.zeros(len(sample.draws))
    for (first, second), difference in sample.differences.items():
        deviations = sample.draws[:, first] - sample.draws[:, second] - difference.centre
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
    sample, names, confidence
        See ``pairs``.
    all_pairs
        The result of ``pairs``, if it is computed already.

    Returns
    -------
    DataFrame
        One row per model, the best first, with the columns of ``RANKS``. ``rank_low`` is 1 plus the number of
        models that are significantly better by the intervals of ``pairs``. ``rank_high`` is the number of
        models minus the number that are significantly worse (Mogstad, Romano, Shaikh and Wilhelm, 2024).
    """
    check_inside(0, 1, confidence=confidence)
    table = pairs(sample, names, confidence) if all_pairs is None else all_pairs
    separated = table[differ(table, confidence)]
    levels = tied_ranks(sample.scores, NOISE)
    order = np.argsort(-levels, kind="stable")
    best = differences(sample.draws, sample.draws.max(axis=1, keepdims=True)) == 0
    share = (best / best.sum(axis=1, keepdims=True)).mean(axis=0)
    ordered = [names[place] for place in order]
    letters = _letters(ordered, set(zip(separated["first"], separated["second"], strict=True)))
    table = pd.DataFrame(
        {
            "model": names[place],
            "score": sample.scores[place],
            "rank": 1 + int((levels > levels[place]).sum()),
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


def differ(pairs: pd.DataFrame, confidence: float = CONFIDENCE) -> Bools:
    """(pairs,) whether the two models of a pair differ by more than rounding.

    If there is one pair, or if nothing varies, the test decides, otherwise the simultaneous interval.
    """
    by_test = pairs["low"].isna() | (len(pairs) == 1)
    rounding = 1e-12 * np.minimum(pairs["difference"].abs(), 1)  # scores may be small, such as likelihoods
    result: Bools = np.where(by_test, pairs["holm"] <= 1 - confidence, pairs["low"] > rounding)
    return result


def _letters(names: Sequence[str], different: set[tuple[str, str]]) -> dict[str, str]:
    """{name: letters} such that two names share one unless they differ (insert and absorb; Piepho, 2004)."""
    columns: list[set[str]] = [set(names)]
    for first, second in sorted(different, key=lambda pair: (names.index(pair[0]), names.index(pair[1]))):
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
    check_same_order(list(scores), clusters)
    arrays = [floats(model_scores) for model_scores in scores]
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
