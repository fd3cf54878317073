"""Types of arrays, and numbers from any kind of array."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abovechance.core.errors import InputError

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Numbers = Sequence[float] | NDArray[Any]


ROUNDING = 1e-12  # relative difference of numbers that are equal up to rounding
NOISE = 32 * float(np.finfo(float).eps)  # of sums of a few numbers, and means of many, in another order
MASKED = np.ma.MaskedArray
MOST_PAIRED = 20  # labelled values that are compared with each other; of more, each with the first alone


def floats(values: ArrayLike) -> Floats:
    """Return numbers as an array of floats, nan where one is masked or missing; InputError if one is none."""
    try:
        if getattr(getattr(values, "dtype", None), "kind", "") in ("M", "m"):
            raise TypeError("dates and times are no numbers")
        if isinstance(values, np.ma.MaskedArray):
            return np.where(np.ma.getmaskarray(values), np.nan, np.ma.getdata(values).astype(np.float64))
        of_pandas: Any = values
        if hasattr(of_pandas, "isna") and hasattr(of_pandas, "to_numpy"):  # which has several kinds of nan
            numbers: Floats = of_pandas.to_numpy(dtype=np.float64, na_value=np.nan)
            return numbers
        if isinstance(values, list | tuple) and any(isinstance(row, list | tuple | MASKED) for row in values):
            # numpy would take the numbers under a mask
            values = [floats(row) if isinstance(row, list | tuple | MASKED) else row for row in values]
        return np.asarray(values, dtype=np.float64)
    except (OverflowError, TypeError, ValueError) as error:  # texts, or rows of different lengths
        raise InputError(f"{error}; expected numbers") from None


def differences(first: ArrayLike, second: ArrayLike) -> Floats:
    """Return first - second, and 0 where they differ by at most ``NOISE``, relative to the larger one."""
    first, second = floats(first), floats(second)
    result: Floats = first - second
    return np.where(np.abs(result) < NOISE * np.maximum(np.abs(first), np.abs(second)), 0.0, result)


def tied_ranks(values: Floats, rounding: float = ROUNDING) -> Ints:
    """Return the ranks of values from 0; neighbours that differ by rounding are ties.

    The difference is relative to the size of the smaller one. The size of values near 0 is taken as that of
    the largest value, but as at most 1. Remainders of sums of such values are ties in any case.
    """
    order = np.argsort(values, kind="stable")
    sizes = np.abs(values[order])
    largest = sizes[np.isfinite(sizes)].max(initial=0.0)
    least = max(min(1.0, largest), largest * 4 * np.finfo(float).eps / rounding)
    with np.errstate(invalid="ignore"):  # infinite ones
        between = np.maximum(np.minimum(sizes[1:], sizes[:-1]), least)
        separated = np.diff(values[order]) > rounding * between
    ranks = np.zeros(len(values), dtype=np.int64)
    ranks[order[1:]] = np.cumsum(separated)
    return ranks


def check_same_order(*values: object) -> None:
    """Raise InputError if Series or DataFrames have a label at different positions.

    Values are paired by their positions, so that an example would be paired with another one. Labels of which
    none is in both are no error, because rows of one table have different labels for different models. The
    rows of two DataFrames are compared with each other, and so are their columns; a Series is compared with
    either. The members of lists are compared, too.
    """
    axes = [axes for member in _members(values) if (axes := _axes(member))]
    with_first = ((axes[0], second) for second in axes[1:])
    for first, second in combinations(axes, 2) if len(axes) <= MOST_PAIRED else with_first:
        pairs = zip(first, second, strict=True) if len(first) == len(second) else product(first, second)
        shared = [(axis, rival) for axis, rival in pairs if len(axis) == len(rival) and _share(axis, rival)]
        is_in_order = [not _moved(axis, rival) for axis, rival in shared]
        is_fine = all(is_in_order) if len(first) == len(second) else any(is_in_order or [True])
        if not is_fine:
            label = next(moved[0] for pair in shared if (moved := _moved(*pair)))
            raise InputError(
                f"two Series or DataFrames have the label {label!r} at different positions; expected the "
                "same labels in the same order, because values are paired by position (align them first, "
                'such as by first.align(second, join="inner"))'
            )


def _members(values: Iterable[object]) -> Iterator[object]:
    """Yield values, and of lists their members; of lists in lists, only if the first member has labels."""
    for value in values:
        if isinstance(value, list | tuple):
            for row in value:
                nested = isinstance(row, list | tuple) and row and hasattr(row[0], "iloc")
                yield from row if nested else [row]
        else:
            yield value


def example_labels(scores: Any) -> Any:
    """Return the first row of a DataFrame of seeds, which has the labels of its examples; else the scores."""
    return (
        scores.iloc[0]
        if getattr(scores, "ndim", 0) == 2 and hasattr(scores, "iloc") and len(scores)
        else scores
    )


def _axes(value: Any) -> list[Any]:
    """The index of a Series, that and the columns of a DataFrame; of other values nothing."""
    return [*value.axes] if hasattr(value, "iloc") and hasattr(value, "axes") else []


def _share(first: Any, second: Any) -> bool:
    """Return whether two axes have a label in common."""
    return first.equals(second) or not {*first}.isdisjoint(second)


def _moved(first: Any, second: Any) -> list[Any]:
    """Return the labels that stand at other positions in the second of two axes of the same length."""
    if first.equals(second):
        return []
    pairs = [pair for pair in zip(first, second, strict=True) if _differ(*pair)]
    elsewhere = {label for _, label in pairs}
    return [label for label, _ in pairs if label in elsewhere]


def _differ(first: Any, second: Any) -> bool:
    """Return whether two labels differ; missing ones of different kinds do."""
    if first is second:
        return False
    try:
        return bool(first != second)
    except TypeError:  # of pandas.NA and another label, nothing is known
        return True
