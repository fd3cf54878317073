"""Tail probabilities of many settings at once, adjusted for how many they are.

- ``bh``: Benjamini and Hochberg (1995), the share of false ones among those that are called better than
  chance, for independent or positively dependent settings;
- ``by``: Benjamini and Yekutieli (2001), the same under any dependence;
- ``holm``: Holm (1979), the probability of any false one, under any dependence.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from abovechance.core.arrays import Floats, floats

METHODS = ("bh", "by", "holm")


def adjusted(tails: ArrayLike, method: str) -> Floats:
    """(settings,) tail probabilities adjusted by one of ``METHODS``; nan, which is no setting, stays nan.

    Raises
    ------
    ValueError
        If there is no such method, or a tail is outside [0, 1].
    """
    if method not in METHODS:
        raise ValueError(f"method is '{method}'; expected one of {', '.join(METHODS)}")
    values = floats(tails)
    result = np.full(values.shape, np.nan)
    known_values = ~np.isnan(values)
    if known_values.any():
        result[known_values] = (
            _holm(values[known_values]) if method == "holm" else _discoveries(values[known_values], method)
        )
    return result


def adjusted_together(groups: Sequence[ArrayLike], methods: Sequence[str]) -> list[dict[str, Floats]]:
    """For each group of tail probabilities {method: them, adjusted for those of all groups}."""
    ends = np.cumsum([np.size(tails) for tails in groups], dtype=np.int64)
    together = np.concatenate([np.empty(0), *map(np.atleast_1d, groups)])
    parts = [np.split(adjusted(together, method), ends)[:-1] for method in methods]
    return [dict(zip(methods, of_group, strict=True)) for of_group in zip(*parts, strict=True)]


def with_adjusted(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table of verdicts with its tails adjusted, one setting a row.

    Returns
    -------
    DataFrame
        With the columns of ``verdicts.ADJUSTED`` behind ``maximum_tail``, and ``randomization_bh_tail``
        behind ``randomization_tail``, unless the table has it.
    """
    result = table.copy()
    places = list(result.columns)
    for step, method in enumerate(METHODS, start=1):
        name = f"{method}_tail"
        places.insert(places.index("maximum_tail") + step, name)
        result[name] = adjusted(result["maximum_tail"], method)
    if "randomization_tail" in result and "randomization_bh_tail" not in result:
        places.insert(places.index("randomization_tail") + 1, "randomization_bh_tail")
        result["randomization_bh_tail"] = adjusted(result["randomization_tail"], "bh")
    return result[places]


def _discoveries(tails: Floats, method: str) -> Floats:
    from scipy.stats import false_discovery_control  # slow to import

    return false_discovery_control(tails, method=method)


def _holm(tails: Floats) -> Floats:
    if not np.all((tails >= 0) & (tails <= 1)):
        raise ValueError("tails has a number that is no probability")
    order = np.argsort(tails)
    stepped = np.maximum.accumulate(tails[order] * np.arange(len(tails), 0, -1))
    result = np.empty(len(tails))
    result[order] = np.minimum(stepped, 1.0)
    return result
