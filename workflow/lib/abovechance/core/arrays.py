"""Types of arrays, and numbers from any kind of array."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abovechance.core.errors import InputError

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Numbers = Sequence[float] | NDArray[Any]


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
        return np.asarray(values, dtype=np.float64)
    except (OverflowError, TypeError, ValueError) as error:  # texts, or rows of different lengths
        raise InputError(f"{error}; expected numbers") from None


def check_same_order(*values: object) -> None:
    """Raise InputError if Series have the same labels in different orders.

    Values are paired by their positions, so that an example would be paired with another one. Labels that
    differ are no error, because rows of one table have different labels for different models.
    """
    series: list[Any] = [value for value in values if getattr(value, "ndim", 0) == 1]
    labels = [[*value.index] for value in series if hasattr(value, "index")]
    for another in labels[1:]:
        if another != labels[0] and Counter(another) == Counter(labels[0]):
            raise InputError(
                "two Series have the same index in different orders; expected the same order, because values "
                "are paired by position (first.reindex(second.index))"
            )
