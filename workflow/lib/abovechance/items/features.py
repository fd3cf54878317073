"""Features of examples, and how they correlate with discrimination."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

import numpy as np
import pandas as pd
from scipy import stats

from abovechance.core.arrays import Floats, Ints
from abovechance.core.columns import Column
from abovechance.core.errors import InputError
from abovechance.core.tables import TableSchema
from abovechance.pvi.table import labels_of

EXAMPLE_FEATURES = TableSchema(
    "example_features",
    {
        "task": Column.text("name of the task"),
        "example": Column.text("id of the example"),
        "answer": Column.text("the correct choice", lacking=""),
        "subtask": Column.text("name of the subtask", lacking=""),
        "length": Column.number("length of the text in characters"),
        "choices": Column.number("number of choices"),
        "cluster": Column.whole("number of the cluster of examples in the task, from 0"),
        "input": Column.text("the input text", lacking=""),
    },
    "One row per example. In a release, several examples can have one id. They share one row, in which a "
    "text is missing unless all of them have this text.",
    file="example_features.parquet",
)
GROUPS, NUMBERS = ("answer", "subtask"), ("difficulty", "length", "choices")
LEAST = 5  # examples of a group, for it to count as one; the others are one together
OTHERS = "others"
PERMUTATIONS = 999
ASSOCIATIONS = {
    "feature": Column.text("name of the feature"),
    "items": Column.whole(
        "number of items with this feature; items on which all rows have the same score do not count"
    ),
    "kinds": Column.whole(
        "for a text feature: number of distinct values; all values with fewer than five examples count "
        "together as one value"
    ),
    "r": Column.number("for a numeric feature: Spearman's correlation with corrected discrimination"),
    "share": Column.number(
        "for a text feature: epsilon squared, the share of the variance in corrected discrimination "
        "explained by the feature"
    ),
    "p": Column.number(
        "p-value of a permutation test for no association; whole clusters of examples are permuted, among "
        "those of one size; missing if this makes no difference"
    ),
}


def features(tasks: Mapping[str, pd.DataFrame], numbers_alone: bool = False) -> pd.DataFrame:
    """Return the features of the examples of tasks: the table ``example_features``.

    Parameters
    ----------
    tasks
        {task: its table ``tasks``}.
    numbers_alone
        Whether examples go by their numbers in their subtasks, as in the published release, so that several
        are one.
    """
    tables = []
    for name, task in tasks.items():
        ids = task["example"].astype(str)
        parts = ids.str.rpartition("/")
        tables.append(
            pd.DataFrame(
                {
                    "task": name,
                    "example": (parts[2] if numbers_alone else ids).to_numpy(),
                    "answer": labels_of(task).to_numpy(),
                    "subtask": parts[0].to_numpy(),
                    "length": task["bare"].map(len).to_numpy(dtype=float),
                    "choices": task["choices"].map(len).to_numpy(dtype=float),
                    "cluster": task["cluster"].to_numpy() if "cluster" in task else np.arange(len(task)),
                    "input": task["input"].to_numpy(),
                }
            )
        )
    table = EXAMPLE_FEATURES.together(tables)
    return _together(table) if numbers_alone else table


def _together(table: pd.DataFrame) -> pd.DataFrame:
    """Return one row for the examples of a number: what all of them have in common, and means.

    Each number is a cluster of its own.
    """

    def common(values: pd.Series[str]) -> str | None:
        return str(values.iloc[0]) if values.nunique() == 1 else None

    merged = table.groupby(["task", "example"], sort=False).agg(
        answer=("answer", common),
        subtask=("subtask", common),
        length=("length", "mean"),
        choices=("choices", "sum"),
        input=("input", common),
    )
    merged = merged.reset_index().assign(cluster=np.arange(len(merged)))
    return merged[[*EXAMPLE_FEATURES.columns]]


def associations(items: pd.DataFrame, seed: int = 0) -> pd.DataFrame:
    """Return the associations of features with the discrimination of items that have one.

    Parameters
    ----------
    items
        A row for each: ``corrected``, ``constant``, and what is known of ``answer``, ``subtask``,
        ``difficulty``, ``length`` and ``choices``, and the ``cluster`` of examples that belong together (an
        item without one is by itself).

    Returns
    -------
    DataFrame
        One row per feature that varies, with the columns of ``ASSOCIATIONS``.

    Raises
    ------
    InputError
        If ``corrected`` or ``constant`` is missing.
    """
    if lacks := sorted({"corrected", "constant"} - {*items}):
        raise InputError(f"items lack the column '{lacks[0]}'; expected the columns of item_statistics")
    varied = items[~items["constant"] & items["corrected"].notna()]
    codes, clusters = pd.factorize(varied["cluster"] if "cluster" in varied else np.arange(len(varied)))
    unknown = codes < 0
    codes[unknown] = len(clusters) + np.arange(unknown.sum())
    varied = varied.assign(cluster=codes)
    rows: list[dict[str, object]] = []
    for name in (name for name in GROUPS if name in varied):
        defined = varied[varied[name].notna()]
        codes, kinds = pd.factorize(grouped(defined[name]))
        if len(kinds) > 1:
            values, clusters = defined["corrected"].to_numpy(dtype=float), defined["cluster"].to_numpy()
            share, p = _between(values, codes, clusters, seed)
            rows.append({"feature": name, "items": len(defined), "kinds": len(kinds), "share": share, "p": p})
    for name in (name for name in NUMBERS if name in varied):
        defined = varied[varied[name].notna()]
        if len(defined) > 2 and defined[name].nunique() > 1 and defined["corrected"].nunique() > 1:
            first, second = defined[[name, "corrected"]].to_numpy(dtype=float).T
            r, p = _spearman(first, second, defined["cluster"].to_numpy(), seed)
            rows.append({"feature": name, "items": len(defined), "r": r, "p": p})
    return pd.DataFrame(rows, columns=[*ASSOCIATIONS]).astype(
        {"items": int, "kinds": float, "r": float, "share": float, "p": float}
    )


def grouped(values: pd.Series[str]) -> pd.Series[str]:
    """The values of which there are ``LEAST`` or more, and ``OTHERS`` for the others."""
    values = values.astype(object)  # categories could not be compared
    return values.where(values.map(values.value_counts()) >= LEAST, OTHERS)


def _spearman(first: Floats, second: Floats, clusters: Ints, seed: int) -> tuple[float, float]:
    """Spearman's r, and how often it is as far from 0 with values in other orders."""
    ranks = stats.zscore(stats.rankdata(second))
    values = stats.zscore(stats.rankdata(first))
    return _permuted(values, lambda orders: orders @ ranks / len(ranks), clusters, seed)


def _between(values: Floats, codes: Ints, clusters: Ints, seed: int) -> tuple[float, float]:
    """The share of the variance between groups, and how often it is as large with values in other orders."""
    if np.ptp(values) <= 1e-12 * np.abs(values).max():  # by rounding only
        return np.nan, np.nan
    members = np.eye(codes.max() + 1)[codes]
    sizes, count = members.sum(axis=0), len(values)

    def statistic(orders: Floats) -> Floats:
        explained: Floats = (orders @ members) ** 2 @ (1 / sizes) / count
        return explained

    share, p = _permuted(stats.zscore(values), statistic, clusters, seed, "greater")
    return 1 - (1 - share) * (count - 1) / (count - len(sizes)), p


def _permuted(
    values: Floats,
    statistic: Callable[[Floats], Floats],
    clusters: Ints,
    seed: int,
    alternative: Literal["greater", "two-sided"] = "two-sided",
) -> tuple[float, float]:
    """A statistic, and its p-value by a permutation test: all orders of the values, or ``PERMUTATIONS``."""
    generator = np.random.default_rng(seed)
    if len({*clusters.tolist()}) < len(values):
        observed = float(statistic(values))
        drawn_values = statistic(values[_exchanged(clusters, generator)])
        if np.ptp(drawn_values) <= 1e-12:  # no two clusters have one size, or all have the same features
            return observed, np.nan
        higher, lower = (
            (1 + int((sign * drawn_values >= sign * observed - 1e-12).sum())) / (1 + PERMUTATIONS)
            for sign in (1, -1)
        )
        return observed, higher if alternative == "greater" else min(1.0, 2 * min(higher, lower))
    test = stats.permutation_test(
        (values,),
        lambda orders, **_: statistic(orders),  # along the last axis
        permutation_type="pairings",
        alternative=alternative,
        n_resamples=PERMUTATIONS,
        vectorized=True,
        rng=generator,
    )
    return float(test.statistic), float(test.pvalue)


def _exchanged(clusters: Ints, generator: np.random.Generator) -> Ints:
    """(permutations, items) places after an exchange of whole clusters, among those of one size."""
    orders = np.tile(np.arange(len(clusters)), (PERMUTATIONS, 1))
    by_cluster = [np.flatnonzero(clusters == cluster) for cluster in np.unique(clusters)]
    for size in {len(places) for places in by_cluster}:
        of_size = np.array([places for places in by_cluster if len(places) == size])
        orders[:, of_size.ravel()] = [generator.permutation(of_size).ravel() for _ in range(PERMUTATIONS)]
    return orders
