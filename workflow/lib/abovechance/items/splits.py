"""Split rows into those in which something is looked for, and held-out ones on which it is tried."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike

from abovechance.core.arrays import Ints
from abovechance.core.errors import InputError
from abovechance.items.classical import row_scores

ROWS_HELD_OUT = 0.2  # of rows, as in the paper: 14 of 70
FOLDS = 5  # at most


def at_random(rows: int, share: float = ROWS_HELD_OUT, seed: int = 0) -> tuple[Ints, Ints]:
    """(train, test) places of rows, ``share`` of them (in whole ones, at least one of both) in test."""
    held_out = _held_out(rows, share)
    order = np.random.default_rng(seed).permutation(rows)
    return np.sort(order[held_out:]), np.sort(order[:held_out])


def by_score(matrix: ArrayLike) -> tuple[Ints, Ints]:
    """(train, test) places of rows, the best fifth of them in test: what items say of better models."""
    scores = row_scores(matrix)
    held_out = _held_out(len(scores), ROWS_HELD_OUT)
    order = np.argsort(-scores, kind="stable")
    return np.sort(order[held_out:]), np.sort(order[:held_out])


def _held_out(rows: int, share: float) -> int:
    if rows < 2 or not 0 < share < 1:
        raise InputError(f"{rows} rows, {share:g} of them held out; expected at least 2, and in (0, 1)")
    return min(max(round(rows * share), 1), rows - 1)


def by_group(groups: Sequence[str], most_splits: int = FOLDS, seed: int = 0) -> Iterator[tuple[Ints, Ints]]:
    """(train, test) places of rows, each group in test once: rows of one model are alike.

    Parameters
    ----------
    groups
        (rows,) such as the model; of at least two.
    most_splits
        Into how many parts groups are put together, where there are more.
    """
    group_names = np.asarray(groups)
    names = np.unique(group_names)
    if len(names) < 2:
        raise InputError(f"{len(names)} group; expected two or more, such as models")
    order = np.random.default_rng(seed).permutation(names)
    for held_out in np.array_split(order, min(most_splits, len(names))):
        inside = np.isin(group_names, held_out)
        yield np.flatnonzero(~inside), np.flatnonzero(inside)
