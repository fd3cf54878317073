"""Items by classical test theory: how easy each is, and how well it goes with the rest of the test.

A response matrix has a row for each test taker (a model, a checkpoint, a prompt) and a column for each item
(an example); scores are 0 and 1, or any numbers, and nan where a row lacks an item.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from abovechance.core.arrays import Floats, Ints
from abovechance.core.columns import Column
from abovechance.core.errors import InputError
from abovechance.core.two_way import adjusted_means

ROUNDING = 1e-12
BLOCK = 512  # items whose covariances are held at once
ITEMS = {
    "rows": Column.whole("number of rows that have the item"),
    "difficulty": Column.number("mean score; higher is easier"),
    "deviation": Column.number("standard deviation of the score over rows"),
    "discrimination": Column.number("Pearson's correlation of the item with the overall score"),
    "corrected": Column.number("Pearson's correlation of the item with the score on the remaining items"),
    "constant": Column.flag("whether all rows have the same score"),
}


def checked(matrix: ArrayLike, every_item: bool = True) -> Floats:
    """(rows, items) as numbers.

    Raises
    ------
    InputError
        If it is no matrix, has an infinite score, or a row without any score, or, where ``every_item`` is
        needed, an item.
    """
    given = _numbers(matrix)
    if given.ndim != 2 or not given.size:
        raise InputError(f"responses of the shape {given.shape}; expected rows and items")
    if np.isinf(given).any():
        raise InputError("a response is infinite; expected a number, or nan where there is none")
    there = np.isfinite(given)
    for axis, what in ((1, "row"), (0, "item"))[: 1 + every_item]:
        if not (has := there.any(axis=axis)).all():
            raise InputError(f"{what} {int(np.argmin(has))} has no response; expected one at least")
    return given


def _numbers(matrix: ArrayLike) -> Floats:
    """As numbers, nan where masked or missing."""
    if isinstance(matrix, pd.DataFrame):
        return matrix.to_numpy(dtype=float, na_value=np.nan)
    if isinstance(matrix, np.ma.MaskedArray):
        return np.where(np.ma.getmaskarray(matrix), np.nan, np.ma.getdata(matrix).astype(float))
    return np.asarray(matrix, dtype=float)


def row_scores(matrix: ArrayLike) -> Floats:
    """(rows,) the overall score of each row.

    Where no response is missing, the row's mean. Where some are, a response is the row's part plus the
    item's, fitted by least squares (``two_way.adjusted_means``), so that it matters neither whether the
    missing ones are easy, nor which rows lack them. Rows that no items link to others are as good as these
    on average.
    """
    given = checked(matrix)
    means = adjusted_means(given)
    return np.nanmean(given - means, axis=1) + means.mean()


def item_statistics(matrix: ArrayLike, groups: ArrayLike | None = None) -> pd.DataFrame:
    """How easy each item is, and how well it tells rows apart.

    Parameters
    ----------
    groups
        (items,) such as the right answer: the overall score is then the mean over groups of the means of
        their items, with which a row that likes one answer is no better for it. One group where not given.
        An item that is alone in its group has no corrected discrimination then (nan): what is left of the
        test has no item of its kind.

    Returns
    -------
    DataFrame
        One row per item, in their order, with the columns of ``ITEMS``. The standard deviation has ddof 0;
        the discrimination of a constant item is 0.
    """
    given = checked(matrix)
    there = np.isfinite(given)
    codes = _codes(groups, given.shape[1])
    total, rest = _overall(given, codes)
    deviation = np.nanstd(given, axis=0)
    # a mean of equal numbers differs from them by rounding
    constant = np.nanmax(given, axis=0) == np.nanmin(given, axis=0)
    return pd.DataFrame(
        {
            "rows": there.sum(axis=0),
            "difficulty": np.nanmean(given, axis=0),
            "deviation": np.where(constant, 0.0, deviation),
            "discrimination": _correlations(given, total, there, constant),
            "corrected": np.where(
                (groups is not None) & (np.bincount(codes)[codes] < 2),
                np.nan,
                _correlations(given, rest, there, constant),
            ),
            "constant": constant,
        },
        columns=[*ITEMS],
    )


def rest_scores(matrix: ArrayLike) -> Floats:
    """(rows, items) by how much a row is above the means of the rest of the items; nan where it has none."""
    given = checked(matrix)
    return _overall(given, _codes(None, given.shape[1]))[1]


def _codes(groups: ArrayLike | None, items: int) -> Ints:
    """(items,) the number of each item's group."""
    if groups is None:
        return np.zeros(items, dtype=int)
    codes = pd.factorize(np.asarray(groups))[0]
    if codes.shape != (items,):
        raise InputError(f"groups of the shape {codes.shape}; expected one for each item")
    if (codes < 0).any():
        raise InputError(f"item {int(np.argmax(codes < 0))} has no group; expected one for each item")
    return np.asarray(codes)


def _overall(given: Floats, codes: Ints) -> tuple[Floats, Floats]:
    """(rows, items) overall scores, the same for all items, and those of the rest of the items.

    Means over groups of means over their items; where the rest has no item of a group, over the others.
    """
    there = np.isfinite(given)
    above = np.where(there, given - adjusted_means(given), 0.0)
    member = (codes[:, None] == np.arange(codes.max() + 1)).astype(float)
    counts, sums = there @ member, above @ member  # (rows, groups)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.where(counts > 0, sums / counts, 0.0)
        kinds = (counts > 0).sum(axis=1, keepdims=True)
        whole = means.sum(axis=1, keepdims=True)
        left = counts[:, codes] - there
        own = np.where(left > 0, (sums[:, codes] - above) / left, 0.0)
        rest = (whole - means[:, codes] + own) / (kinds - (left == 0) * (counts[:, codes] > 0))
    # what is left of numbers that cancel is rounding
    size = np.abs(above).sum(axis=1, keepdims=True)
    rest = np.where(np.abs(rest) < 1e-14 * size, 0.0, rest)
    return np.broadcast_to(whole / kinds, given.shape), rest


def _correlations(scores: Floats, others: Floats, there: np.ndarray, constant: np.ndarray) -> Floats:
    """(items,) Pearson's r of each column with that of others, over the rows that have both; 0 where none."""
    both = there & np.isfinite(others)
    count = both.sum(axis=0)
    found = np.zeros(scores.shape[1])
    with np.errstate(invalid="ignore", divide="ignore"):
        x = np.where(both, scores - np.where(both, scores, 0).sum(axis=0) / count, 0.0)
        y = np.where(both, others - np.where(both, others, 0).sum(axis=0) / count, 0.0)
        spread = np.sqrt((x**2).sum(axis=0) * (y**2).sum(axis=0))
        r = (x * y).sum(axis=0) / spread
    # what is no more than rounding is none
    sizes = [(np.where(both, one, 0) ** 2).sum(axis=0) for one in (scores, others)]
    scale = np.sqrt(sizes[0] * sizes[1])
    known = ~constant & (count > 1) & (spread > 1e-12 * np.maximum(scale, 1e-300))
    found[known] = np.where(np.abs(r[known]) < ROUNDING, 0.0, np.clip(r[known], -1, 1))
    return found


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
    given = checked(matrix)
    rows, items = given.shape
    if rows < 2 or items < 2:
        return np.nan
    if np.isfinite(given).all():
        own = given - given.mean(axis=0)
        variances = own.var(axis=0, ddof=1).sum()
        total = own.sum(axis=1).var(ddof=1)
        known = total > ROUNDING * variances
        return float(items / (items - 1) * (1 - variances / total)) if known else np.nan
    variance, covariance = _pairwise(given)
    below = variance + (items - 1) * covariance
    return float(items * covariance / below) if np.isfinite(below) and below > 0 else np.nan


def _pairwise(given: Floats) -> tuple[float, float]:
    """The mean variance of an item and the mean covariance of two, of the rows that have both."""
    there = np.isfinite(given).astype(float)
    # about a mean near theirs, so that sums of products keep their digits
    filled = np.where(there > 0, given - np.nanmean(given), 0.0)
    own, others, both, pairs = 0.0, 0.0, 0, 0
    for first in range(0, given.shape[1], BLOCK):
        part, has = filled[:, first : first + BLOCK], there[:, first : first + BLOCK]
        count = has.T @ there
        with np.errstate(invalid="ignore", divide="ignore"):
            covariances = (part.T @ filled - (part.T @ there) * (has.T @ filled) / count) / (count - 1)
        known = count > 1
        diagonal = np.zeros_like(known)
        diagonal[np.arange(len(known)), np.arange(first, first + len(known))] = True
        own += covariances[known & diagonal].sum()
        others += covariances[known & ~diagonal].sum()
        both += int((known & diagonal).sum())
        pairs += int((known & ~diagonal).sum())
    return own / both if both else np.nan, others / pairs if pairs else np.nan
