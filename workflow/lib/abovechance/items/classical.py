"""Items by classical test theory: how easy each is, and how well it goes with the rest of the test.

A response matrix has a row for each test taker (a model, a checkpoint, a prompt) and a column for each item
(an example); scores are 0 and 1, or any numbers, and nan where a row lacks an item.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from abovechance.core.arrays import ROUNDING, Bools, Floats, Ints, check_same_order, floats
from abovechance.core.columns import Column
from abovechance.core.errors import InputError
from abovechance.core.two_way import adjusted_means, row_effects_without_each

BLOCK = 512  # items whose covariances are held at once
ITEMS = {
    "rows": Column.whole("number of rows with a score on the item"),
    "difficulty": Column.number("mean score; higher is easier"),
    "deviation": Column.number("standard deviation of the item's score over rows"),
    "discrimination": Column.number(
        "Pearson's correlation over rows between the item's score and the overall score"
    ),
    "corrected": Column.number(
        "Pearson's correlation over rows between the item's score and the score on all other items"
    ),
    "constant": Column.flag("whether all rows have the same score on the item"),
}


def checked(matrix: ArrayLike, every_item: bool = True) -> Floats:
    """(rows, items) as numbers.

    Raises
    ------
    InputError
        If it is no matrix, has an infinite score, or a row without any score, or, where ``every_item`` is
        needed, an item.
    """
    numeric = floats(matrix)
    if numeric.ndim != 2 or not numeric.size:
        raise InputError(f"responses of the shape {numeric.shape}; expected rows and items")
    if np.isinf(numeric).any():
        raise InputError("a response is infinite; expected a number, or nan where there is none")
    mask = np.isfinite(numeric)
    for axis, noun in ((1, "row"), (0, "item"))[: 1 + every_item]:
        if not (has := mask.any(axis=axis)).all():
            raise InputError(f"{noun} {int(np.argmin(has))} has no response; expected one at least")
    return numeric


def row_scores(matrix: ArrayLike) -> Floats:
    """(rows,) the overall score of each row.

    Where no response is missing, the row's mean. Where some are, a response is the row's part plus the
    item's, fitted by least squares (``two_way.adjusted_means``), so that it matters neither whether the
    missing ones are easy, nor which rows lack them. Rows that no items link to others are as good as these
    on average.
    """
    numeric = checked(matrix)
    means = adjusted_means(numeric)
    return np.nanmean(numeric - means, axis=1) + means.mean()


def item_statistics(matrix: ArrayLike, groups: ArrayLike | None = None) -> pd.DataFrame:
    """Return how easy each item is, and how well it tells rows apart.

    Parameters
    ----------
    groups
        (items,) such as the right answer: the overall score is then the mean over groups of the means of
        their items, with which a row that likes one answer is no better for it. One group where not given.
        An item that is alone in its group has no corrected discrimination then (nan): what is left of the
        test has no item of its kind. Nor has an item if fewer than two of its rows have another item.

    Returns
    -------
    DataFrame
        One row per item, in their order, with the columns of ``ITEMS``. The standard deviation has ddof 0;
        the discrimination of a constant item is 0.
    """
    check_same_order(matrix, groups)
    numeric = checked(matrix)
    mask = np.isfinite(numeric)
    codes = _codes(groups, numeric.shape[1])
    total, rest_score = _overall(numeric, codes)
    deviation = np.nanstd(numeric, axis=0)
    # a mean of equal numbers differs from them by rounding
    constant = np.nanmax(numeric, axis=0) == np.nanmin(numeric, axis=0)
    return pd.DataFrame(
        {
            "rows": mask.sum(axis=0),
            "difficulty": np.nanmean(numeric, axis=0),
            "deviation": np.where(constant, 0.0, deviation),
            "discrimination": _correlations(numeric, total, mask, constant),
            "corrected": np.where(
                (groups is not None) & (np.bincount(codes)[codes] < 2),
                np.nan,
                _correlations(numeric, rest_score, mask, constant),
            ),
            "constant": constant,
        },
        columns=[*ITEMS],
    )


def rest_scores(matrix: ArrayLike) -> Floats:
    """(rows, items) by how much a row is above the means of the rest of the items; nan where it has none."""
    numeric = checked(matrix)
    return _overall(numeric, _codes(None, numeric.shape[1]))[1]


def _codes(groups: ArrayLike | None, items: int) -> Ints:
    """(items,) the number of each item's group."""
    if groups is None:
        return np.zeros(items, dtype=int)
    codes = pd.factorize(np.asarray(groups, dtype=object))[0]
    if codes.shape != (items,):
        raise InputError(f"groups of the shape {codes.shape}; expected one for each item")
    if (codes < 0).any():
        raise InputError(f"item {int(np.argmax(codes < 0))} has no group; expected one for each item")
    return np.asarray(codes)


def _overall(numeric: Floats, codes: Ints) -> tuple[Floats, Floats]:
    """(rows, items) overall scores, the same for all items, and those of the rest of the items.

    Means over groups of means over their items; where the rest has no item of a group, over the others.
    """
    mask = np.isfinite(numeric)
    above = np.where(mask, numeric - adjusted_means(numeric), 0.0)
    member = (codes[:, None] == np.arange(codes.max() + 1)).astype(float)
    counts = mask @ member  # (rows, groups)
    means = np.divide(above @ member, counts, where=counts > 0, out=np.zeros_like(counts))
    total = means.sum(axis=1, keepdims=True) / (counts > 0).sum(axis=1, keepdims=True)
    return np.broadcast_to(_without_remainders(total, above, mask), numeric.shape), _rest(numeric, codes)


def _without_remainders(sums: Floats, parts: Floats, mask: Bools) -> Floats:
    """Return sums of (rows, items) numbers; 0 where only the rounding of numbers that cancel is left."""
    size = np.abs(parts).sum(axis=1, keepdims=True)
    return np.where(np.abs(sums) < (1e-14 if mask.all() else 1e-10) * size, 0.0, sums)


def _rest(numeric: Floats, codes: Ints) -> Floats:
    """(rows, items) the scores of the rest of the items, whose means are fitted without the item.

    If the item decided how good the rows are that have few items in common, it would agree with them.
    """
    mask = np.isfinite(numeric)
    counts = mask.sum(axis=0)
    effects = row_effects_without_each(numeric)
    above = np.where(mask, numeric - np.nanmean(numeric, axis=0), 0.0)
    above_item = above + mask * ((mask * effects).sum(axis=0) / counts)
    total, kinds = np.zeros(numeric.shape), np.zeros(numeric.shape)
    sizes = np.bincount(codes)
    for is_member in [*(codes == group for group in np.flatnonzero(sizes > 1)), sizes[codes] == 1]:
        items = mask[:, is_member].astype(float)
        sums = above[:, is_member].sum(axis=1, keepdims=True) - above_item * is_member
        if effects.any():  # what the rows' effects change in the means of the items
            sums = sums + (items / counts[is_member] @ items.T) @ effects
        remaining = items.sum(axis=1, keepdims=True) - mask * is_member
        if sizes[codes[is_member]].max(initial=0) > 1:
            total += np.divide(sums, remaining, where=remaining > 0, out=np.zeros_like(sums))
            kinds += remaining > 0
        else:  # each item is a group
            total += sums
            kinds += remaining
    rest_score = np.divide(total, kinds, where=kinds > 0, out=np.full_like(total, np.nan))
    return _without_remainders(rest_score, above, mask)


def _correlations(scores: Floats, rest_score: Floats, evaluated: np.ndarray, constant: np.ndarray) -> Floats:
    """(items,) Pearson's r of each column with that of others, over the rows that have both.

    It is 0 if a side does not vary, and missing if fewer than two rows have both.
    """
    paired = evaluated & np.isfinite(rest_score)
    count = paired.sum(axis=0)
    correlations = np.zeros(scores.shape[1])
    with np.errstate(invalid="ignore", divide="ignore"):
        x = np.where(paired, scores - np.where(paired, scores, 0).sum(axis=0) / count, 0.0)
        y = np.where(paired, rest_score - np.where(paired, rest_score, 0).sum(axis=0) / count, 0.0)
        spread = np.sqrt((x**2).sum(axis=0) * (y**2).sum(axis=0))
        r = (x * y).sum(axis=0) / spread
    # what is no more than rounding is none
    sizes = [(np.where(paired, values, 0) ** 2).sum(axis=0) for values in (scores, rest_score)]
    scale = np.sqrt(sizes[0] * sizes[1])
    defined = ~constant & (count > 1) & (spread > 1e-12 * np.maximum(scale, 1e-300))
    correlations[~constant & (count < 2)] = np.nan
    correlations[defined] = np.where(np.abs(r[defined]) < ROUNDING, 0.0, np.clip(r[defined], -1, 1))
    return correlations


def reliability(matrix: ArrayLike) -> float:
    """Cronbach's alpha; of items that are 0 or 1, KR-20.

    k c / (v + (k - 1) c) of k items, with the mean variance v of an item and the mean covariance c of two,
    each over the rows that have both. At most 1 where no response is missing; below 0 where items go against
    each other.

    Returns
    -------
    float
        Missing with fewer than two items or rows, where no two items have two rows in common, or where
        all rows have the same scores.
    """
    numeric = checked(matrix)
    rows, items = numeric.shape
    if rows < 2 or items < 2:
        return np.nan
    if np.isfinite(numeric).all():
        centred = numeric - numeric.mean(axis=0)
        variances = centred.var(axis=0, ddof=1).sum()
        total = centred.sum(axis=1).var(ddof=1)
        defined = total > ROUNDING * variances
        return float(items / (items - 1) * (1 - variances / total)) if defined else np.nan
    variance, covariance = _pairwise(numeric)
    below = variance + (items - 1) * covariance
    return float(items * covariance / below) if np.isfinite(below) and below > 0 else np.nan


def _pairwise(numeric: Floats) -> tuple[float, float]:
    """Return the mean variance of an item and the mean covariance of two, of the rows that have both."""
    evaluated = np.isfinite(numeric).astype(float)
    # about a mean near theirs, so that sums of products keep their digits
    filled = np.where(evaluated > 0, numeric - np.nanmean(numeric), 0.0)
    diagonal_sum, cross_sum, diagonal_count, pairs = 0.0, 0.0, 0, 0
    for first in range(0, numeric.shape[1], BLOCK):
        part, has = filled[:, first : first + BLOCK], evaluated[:, first : first + BLOCK]
        count = has.T @ evaluated
        with np.errstate(invalid="ignore", divide="ignore"):
            covariances = (part.T @ filled - (part.T @ evaluated) * (has.T @ filled) / count) / (count - 1)
        estimable = count > 1
        diagonal = np.zeros_like(estimable)
        diagonal[np.arange(len(estimable)), np.arange(first, first + len(estimable))] = True
        diagonal_sum += covariances[estimable & diagonal].sum()
        cross_sum += covariances[estimable & ~diagonal].sum()
        diagonal_count += int((estimable & diagonal).sum())
        pairs += int((estimable & ~diagonal).sum())
    return diagonal_sum / diagonal_count if diagonal_count else np.nan, cross_sum / pairs if pairs else np.nan
