"""Fewer items: what is lost with those that tell rows apart least."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from abovechance.core.arrays import Floats, Ints, check_same_order, example_labels
from abovechance.core.columns import Column
from abovechance.core.errors import InputError
from abovechance.core.resampling import of_share
from abovechance.items.classical import checked, item_statistics
from abovechance.items.series_rows import SeriesRows

REMOVED_SHARE = 0.2  # of items, that are taken away
DRAWS = 200  # of items at random, beside which pruning stands
MEASURES = {
    "mean": Column.number("mean score of the held-out rows"),
    "error": Column.number("standard error of a row's score, averaged over the held-out rows"),
    "deviation": Column.number("standard deviation of the held-out rows' scores"),
    "monotonicity": Column.number("monotonicity of the held-out rows' scores over training checkpoints"),
}
PRUNED = {
    "removed": Column.whole("number of items removed; the least discriminating items are removed first"),
    "items": Column.whole("number of items left"),
    **MEASURES,
    **{
        f"random_{name}{end}": Column.number(
            f"{noun} of '{name}' over 200 repetitions, each of which removes the same number of random items"
        )
        for name in MEASURES
        for end, noun in {"": "mean", "_low": "2.5 % quantile", "_high": "97.5 % quantile"}.items()
    },
}


def pruning(
    train: ArrayLike,
    test: ArrayLike,
    most_removed: float = REMOVED_SHARE,
    steps: int = 10,
    draws: int = DRAWS,
    seed: int = 0,
    rows: SeriesRows | None = None,
) -> pd.DataFrame:
    """Return the scores of held-out rows after removing the least discriminating items.

    Items are ordered by their corrected discrimination in other rows, since in the same rows an item can
    be low by chance (Madaan et al., 2024, Section 4).

    Parameters
    ----------
    train, test
        (rows, items) responses of the same items.
    most_removed
        The largest share of items that is taken away.
    steps
        Number of equal steps in which items are removed.
    draws
        Number of random sets of as many items, with which each step is compared.
    rows
        The seeds and checkpoints that the rows of ``test`` are of, if they are of trainings.

    Returns
    -------
    DataFrame
        One row per number of removed items; see ``of_task.ITEM_PRUNING``.

    Raises
    ------
    InputError
        If the items are not the same, or none would be left.
    """
    return pruning_in_parts([(train, test, rows)], most_removed, steps, draws, seed)


def pruning_in_parts(
    parts: Sequence[tuple[ArrayLike, ArrayLike, SeriesRows | None]],
    most_removed: float = REMOVED_SHARE,
    steps: int = 10,
    draws: int = DRAWS,
    seed: int = 0,
) -> pd.DataFrame:
    """Return the same, means over several ways to hold rows out: (train, test, rows) of the same items.

    The same items are taken away at random in all of them, and 95 % are of the means over them, which vary
    less than single ones.
    """
    if not 0 <= most_removed < 1:
        raise InputError(f"{most_removed:g} of the items taken away; expected at least 0, and less than 1")
    if steps < 1 or draws < 1:
        raise InputError(f"{steps} steps, {draws} draws; expected 1 or more of both")
    check_same_order(*(example_labels(scores) for *of_rows, _ in parts for scores in of_rows))
    numeric = [(checked(train), checked(test, every_item=False), rows) for train, test, rows in parts]
    if len(widths := {scores.shape[1] for *score_pair, _ in numeric for scores in score_pair}) != 1:
        raise InputError(f"{sorted(widths)} items in train and test; expected the same items")
    (count,) = widths
    corrected = [item_statistics(train)["corrected"].to_numpy() for train, *_ in numeric]
    orders = [np.argsort(values, kind="stable") for values in corrected]
    tests = [(test, rows) for _, test, rows in numeric]
    generator = np.random.default_rng(seed)
    tables = []
    for removed in sorted({of_share(count, most_removed * step / steps) for step in range(steps + 1)}):
        measures = _mean_measures(tests, [_columns(order[None, removed:], count) for order in orders])
        at_random = [generator.permutation(count)[removed:] for _ in range(draws if removed else 1)]
        random = _mean_measures(tests, [_columns(np.array(at_random), count)] * len(tests))
        ends = zip(random.mean(axis=0), *np.quantile(random, [0.025, 0.975], axis=0), strict=True)
        tables.append([removed, count - removed, *measures[0], *(value for three in ends for value in three)])
    return pd.DataFrame(tables, columns=[*PRUNED]).astype({"removed": int, "items": int})


def _columns(remaining: Ints, items: int) -> Floats:
    """(items, draws) 1 for each item that is left in a draw, whose (draws, items left) are their numbers."""
    columns = np.zeros((items, len(remaining)))
    columns[remaining.T, np.arange(len(remaining))] = 1
    return columns


def _mean_measures(tests: Sequence[tuple[Floats, SeriesRows | None]], remaining: Sequence[Floats]) -> Floats:
    """(draws, measures) means over the parts that have a measure, each with its own items left."""
    tables = [_measures(test, items, rows) for (test, rows), items in zip(tests, remaining, strict=True)]
    return pd.concat(tables).groupby(level=0).mean().to_numpy()


def _measures(scores: Floats, remaining: Floats, rows: SeriesRows | None) -> pd.DataFrame:
    """(draws, measures) the mean over rows of their mean score, of its standard error, the deviation of the
    mean scores, and their monotonicity."""
    filled = np.nan_to_num(scores)
    counts = np.isfinite(scores) @ remaining
    with np.errstate(invalid="ignore", divide="ignore"):
        means = filled @ remaining / counts
        variances = np.maximum(filled**2 @ remaining / counts - means**2, 0) / (counts - 1)
    row_means, errors = pd.DataFrame(means), pd.DataFrame(np.sqrt(variances))  # nan of a single response
    steady = [rows.monotonicity(draw) for draw in means.T] if rows is not None else np.nan
    columns = [row_means.mean(), errors.mean(), row_means.std(), steady]
    return pd.DataFrame(dict(zip(MEASURES, columns, strict=True)))
