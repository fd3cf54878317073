"""Fewer items: which rows are held out, and what is lost with the items that tell rows apart least."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from abovechance.core.arrays import Floats, Ints
from abovechance.core.errors import InputError
from abovechance.item_analysis.classical import checked, item_statistics, row_scores

HELD_OUT = 0.2  # of rows, as in the paper: 14 of 70
MOST = 0.2  # of items, that are taken away
DRAWS = 200  # of items at random, beside which pruning stands
PRUNED = [
    *("removed", "items", "mean", "error", "deviation"),
    *("random_mean", "random_mean_low", "random_mean_high"),
    *("random_error", "random_error_low", "random_error_high"),
]


def at_random(rows: int, share: float = HELD_OUT, seed: int = 0) -> tuple[Ints, Ints]:
    """(train, test) places of rows, ``share`` of them (in whole ones, at least one of both) in test."""
    held = _held(rows, share)
    order = np.random.default_rng(seed).permutation(rows)
    return np.sort(order[held:]), np.sort(order[:held])


def by_score(matrix: ArrayLike, share: float = HELD_OUT) -> tuple[Ints, Ints]:
    """(train, test) places of rows, the best ``share`` of them in test: what items say of better models."""
    scores = row_scores(matrix)
    held = _held(len(scores), share)
    order = np.argsort(-scores, kind="stable")
    return np.sort(order[held:]), np.sort(order[:held])


def _held(rows: int, share: float) -> int:
    if rows < 2 or not 0 < share < 1:
        raise InputError(f"{rows} rows, {share:g} of them held out; right would be at least 2, and in (0, 1)")
    return min(max(round(rows * share), 1), rows - 1)


def pruning(
    train: ArrayLike,
    test: ArrayLike,
    most: float = MOST,
    steps: int = 10,
    draws: int = DRAWS,
    seed: int = 0,
) -> pd.DataFrame:
    """What becomes of scores of held-out rows where the least discriminating items are taken away.

    Items are ordered by their corrected discrimination in other rows, since in the same rows an item can
    be low by chance (Madaan et al., 2024, Section 4).

    Parameters
    ----------
    train, test
        (rows, items) responses of the same items.
    most
        The largest share of items that is taken away.
    steps
        In how many equal steps.
    draws
        How many random sets of as many items stand beside each.

    Returns
    -------
    DataFrame
        One row for each number of ``removed`` items: the ``items`` that are left; over the rows of ``test``,
        the ``mean`` of their mean scores, the mean standard ``error`` of these over items, and their standard
        ``deviation``, by which they are told apart; and the mean and the error where as many items are taken
        away at random, the mean over draws and between which ends 95 % of them lie.

    Raises
    ------
    InputError
        If the items are not the same, or none would be left.
    """
    one, other = checked(train), checked(test)
    if one.shape[1] != other.shape[1]:
        raise InputError(
            f"{one.shape[1]} items in train and {other.shape[1]} in test; right would be the same items"
        )
    if not 0 <= most < 1:
        raise InputError(f"{most:g} of the items taken away; right would be at least 0, and less than 1")
    order = np.argsort(item_statistics(one)["corrected"].to_numpy(), kind="stable")
    count = one.shape[1]
    generator = np.random.default_rng(seed)
    rows = []
    for removed in sorted({math.floor(count * most * step / steps) for step in range(steps + 1)}):
        mean, error, deviation = _told(other[:, order[removed:]])
        chosen = [generator.permutation(count)[removed:] for _ in range(draws if removed else 1)]
        random = np.array([_told(other[:, own])[:2] for own in chosen])
        low, high = np.quantile(random, [0.025, 0.975], axis=0)
        ends = zip(random.mean(axis=0), low, high, strict=True)
        rows.append(
            [removed, count - removed, mean, error, deviation, *(value for own in ends for value in own)]
        )
    return pd.DataFrame(rows, columns=PRUNED).astype({"removed": int, "items": int})


def _told(scores: Floats) -> tuple[float, float, float]:
    """The mean over rows of their mean score, of its standard error, and the deviation of the mean scores."""
    there = np.isfinite(scores)
    counts = there.sum(axis=1)
    means = np.where(there, scores, 0).sum(axis=1) / np.maximum(counts, 1)
    squares = (np.where(there, scores - means[:, None], 0) ** 2).sum(axis=1)
    errors = np.sqrt(squares / np.maximum(counts - 1, 1) / np.maximum(counts, 1))
    kept = counts > 1
    deviation = float(means[kept].std(ddof=1)) if kept.sum() > 1 else np.nan
    return float(means[kept].mean()), float(errors[kept].mean()), deviation
