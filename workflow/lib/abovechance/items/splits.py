"""Split rows into those in which something is looked for, and held-out ones on which it is tried."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from abovechance.core.arrays import Floats, Ints
from abovechance.core.errors import InputError
from abovechance.items.classical import row_scores

ROWS_HELD_OUT = 0.2  # of rows, as in the paper: 14 of 70
FOLDS = 5  # at most


def at_random(rows: int, share: float = ROWS_HELD_OUT, seed: int = 0) -> tuple[Ints, Ints]:
    """Return (train, test) places of rows, of which a random share is in test.

    Parameters
    ----------
    rows
        Number of rows, at least 2.
    share
        Share of the rows in test, in (0, 1). Both parts have at least one row.
    seed
        Random seed.

    Raises
    ------
    InputError
        If an argument is outside its range.
    """
    held_out = _held_out(rows, share)
    order = np.random.default_rng(seed).permutation(rows)
    return np.sort(order[held_out:]), np.sort(order[:held_out])


def by_score(matrix: ArrayLike) -> tuple[Ints, Ints]:
    """Return (train, test) places of rows: the fifth with the best scores is in test.

    Rows with equal scores are in the same part, unless all are equal: the order of rows does not matter.

    Parameters
    ----------
    matrix
        (rows, items) responses.
    """
    scores = row_scores(matrix)
    held_out = _held_out(len(scores), ROWS_HELD_OUT)
    train, test = rest_and_best(scores, held_out)
    if not (len(train) and len(test)):
        train, test = np.split(np.arange(len(scores)), [len(scores) - held_out])
    return np.sort(train), np.sort(test)


def rest_and_best(scores: Floats, count: int) -> tuple[Ints, Ints]:
    """Return the places of the other scores, and of the best ones, from the lowest score to the highest.

    Equal scores are in the same part, so the best ones can be a few more or less than ``count``, or none.
    """
    scores = scores.round(12)  # equal up to rounding
    order = np.argsort(scores, kind="stable")
    border = len(order) - count
    if border < len(order):
        low, high = (
            int((compare(scores, scores[order[border]])).sum()) for compare in (np.less, np.less_equal)
        )
        border = low if border - low <= high - border else high
    return order[:border], order[border:]


def _held_out(rows: int, share: float) -> int:
    if rows < 2 or not 0 < share < 1:
        raise InputError(f"{rows} rows, {share:g} of them held out; expected at least 2, and in (0, 1)")
    return min(max(round(rows * share), 1), rows - 1)


def by_group(groups: Sequence[str], most_splits: int = FOLDS, seed: int = 0) -> Iterator[tuple[Ints, Ints]]:
    """Yield (train, test) places of rows, with each group in test once, because rows of one model are alike.

    Parameters
    ----------
    groups
        (rows,) the group of each row, such as its model; at least two different ones.
    most_splits
        Largest number of splits, at least 2. If there are more groups, several of them are in one test part.
    seed
        Random seed of the order of groups.

    Raises
    ------
    InputError
        If there is one group, a row has none, or ``most_splits`` is below 2.
    """
    if pd.isna(np.asarray(groups, dtype=object)).any():
        raise InputError("a row has no group; expected one for each row")
    group_names = np.asarray(groups)
    names = np.unique(group_names)
    if len(names) < 2:
        raise InputError(f"{len(names)} group; expected two or more, such as models")
    if most_splits < 2:
        raise InputError(f"most_splits is {most_splits}; expected at least 2")
    order = np.random.default_rng(seed).permutation(names)
    for held_out in np.array_split(order, min(most_splits, len(names))):
        inside = np.isin(group_names, held_out)
        yield np.flatnonzero(~inside), np.flatnonzero(inside)
