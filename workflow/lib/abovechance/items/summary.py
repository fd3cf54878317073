"""Tables over all tasks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from abovechance.core.columns import Column, optional
from abovechance.core.tables import TableSchema
from abovechance.items.matrices import LISTED
from abovechance.items.of_task import ADAPTIVE, ITEM_PRUNING, ITEM_TASKS, SMALLER
from abovechance.items.replays import REPLAYS, most_wrong
from abovechance.items.smaller import ALL, COSTS
from abovechance.pvi.examples import MISLABELLED

OF_SERIES = ("seed_deviation", "monotonicity")  # columns that are missing without series
LEAST_DISCRIMINATING = 20  # negative items of each task, at most
_SUSPECTS = {name: MISLABELLED.columns[name] for name in ("suggested", "beyond", "input")}


def _before_and_after(name: str) -> dict[str, Column]:
    return {
        name: Column.number(f"'{name}' in item_pruning_steps, before removing items"),
        f"{name}_after": Column.number(f"'{name}' after removing the least discriminating fifth of items"),
        f"random_{name}": Column.number(f"'{name}' after removing a random fifth of items instead"),
    }


NEGATIVE = TableSchema(
    "item_negative",
    {
        **{
            name: LISTED[name]
            for name in ("task", "example", "difficulty", "corrected", "half", "other_half")
        },
        **optional({"balanced": LISTED["balanced"], "answer": LISTED["answer"], **_SUSPECTS}),
    },
    "One row per item on which better rows have lower scores. Its corrected discrimination is negative over "
    "all rows and over each of two random halves of the rows. Items with the lowest discrimination in their "
    "task come first; of each task, there are at most 20.",
)
TASKS = replace(ITEM_TASKS, name="items", file="")
STEPS = replace(ITEM_PRUNING, name="item_pruning_steps", file="")
PRUNING = TableSchema(
    "item_pruning",
    {
        "task": ITEM_PRUNING.columns["task"],
        "split": ITEM_PRUNING.columns["split"],
        "items": Column.whole("number of items before removing items"),
        "removed": Column.whole("number of items removed: the least discriminating fifth"),
        "mean": Column.number("mean score of the held-out rows before removing items"),
        "mean_change": Column.number("mean score after removing these items minus mean score before"),
        "random_low": Column.number(
            "2.5 % quantile of mean_change over 200 repetitions that remove a random fifth of the items"
        ),
        "random_high": Column.number(
            "97.5 % quantile of mean_change over 200 repetitions that remove a random fifth of the items"
        ),
        "outside": Column.text("'yes' if mean_change is below random_low or above random_high, else 'no'"),
        **_before_and_after("error"),
        **_before_and_after("deviation"),
        **optional(_before_and_after("monotonicity")),
    },
    "One row per task and split.",
)
SMALLER_BENCHMARKS = TableSchema(
    "smaller_benchmarks",
    {
        "split": SMALLER.columns["split"],
        **COSTS,
        "examples": Column.whole("number of examples"),
        **optional({name: COSTS[name] for name in OF_SERIES}),
        "tasks": Column.whole("number of tasks in the mean"),
    },
    "One row per split, method and number of examples. Values are means over tasks. Tasks that are too "
    "small for the largest number of examples are left out.",
)
BY_TASK = replace(SMALLER, name="smaller_benchmarks_by_task", file="")
DECISIONS = TableSchema(
    "adaptive",
    REPLAYS,
    "One row per combination of a decision and a method for choosing examples, over all tasks.",
)
DECISIONS_BY_TASK = replace(ADAPTIVE, name="adaptive_by_task", file="")


def negative(items: pd.DataFrame, features: pd.DataFrame, mislabelled: pd.DataFrame) -> pd.DataFrame:
    """Return the items that better rows fail more often, as far as both random halves of the rows say so.

    Parameters
    ----------
    items
        The table ``item_list`` of all tasks.
    features
        The table ``example_features``, which may be empty.
    mislabelled
        The table ``pvi_mislabelled``, which may be empty, or have no columns if there is no PVI.

    Returns
    -------
    DataFrame
        The table ``NEGATIVE``.
    """
    sure = (items[["corrected", "half", "other_half"]] < 0).all(axis=1) & ~items["constant"].astype(bool)
    negatives = items[sure].sort_values("corrected", kind="stable")
    place = negatives.groupby("task", sort=False).cumcount()
    negatives = (
        negatives[place < LEAST_DISCRIMINATING].assign(place=place).sort_values("place", kind="stable")
    )
    for source, columns in ((features, ["input"]), (mislabelled, ["suggested", "beyond"])):
        if source.empty:  # also without types, by which tables are merged
            negatives = negatives.assign(**dict.fromkeys(columns))
        else:
            columns_of_source = source.reindex(columns=["task", "example", *columns])
            negatives = negatives.merge(columns_of_source, on=["task", "example"], how="left")
    # by what the study knows, not by which items were found: a table that is made again has the same columns
    available = {
        name
        for table in (items, features)
        for name in NEGATIVE.columns
        if name in table and table[name].notna().any()
    }
    available |= {"suggested", "beyond"}.intersection(mislabelled)
    return negatives[
        [name for name, column in NEGATIVE.columns.items() if not column.optional or name in available]
    ]


def pruned(steps: pd.DataFrame) -> pd.DataFrame:
    """Return the effect of removing a fifth of the items: one row for each task and split."""
    grouped = steps.sort_values("removed", kind="stable").groupby(["task", "split"], sort=False)
    rows = []
    for (task, split), group in grouped:
        first, last = group.iloc[0], group.iloc[-1]
        low, high = (last[f"random_mean_{end}"] - first["mean"] for end in ("low", "high"))
        change = last["mean"] - first["mean"]
        row = [task, split, first["items"], last["removed"], first["mean"], change, low, high]
        row.append("yes" if change < low or change > high else "no")
        for name in ("error", "deviation", "monotonicity"):
            row += [first[name], last[name], last[f"random_{name}"]]
        rows.append(row)
    summary = pd.DataFrame(rows, columns=[*PRUNING.columns])
    of_series = [name for name, column in PRUNING.columns.items() if column.optional]
    return summary.drop(columns=[name for name in of_series if summary[name].isna().all()])


def smaller(costs: pd.DataFrame) -> pd.DataFrame:
    """Return the mean costs of smaller benchmarks, over the tasks that have all sizes.

    Parameters
    ----------
    costs
        The table ``smaller_benchmarks`` of all tasks.

    Returns
    -------
    DataFrame
        The table ``SMALLER_BENCHMARKS``.
    """
    smaller_sets = costs[costs["method"] != ALL]
    sizes = smaller_sets.groupby("task")["examples"].nunique()
    largest = (
        costs[costs["task"].isin(sizes.index[sizes == sizes.max()])].copy() if len(smaller_sets) else costs
    )
    whole = largest["method"] == ALL
    order = largest["examples"].where(~whole, np.inf)
    numbers = [name for name in COSTS if name != "method"]
    grouped = largest.assign(order=order).groupby(["split", "order", "method"], sort=False)
    means = grouped[numbers].mean().assign(tasks=grouped["task"].nunique()).reset_index()
    means["examples"] = means["examples"].round().astype(int)
    available = [name for name in COSTS if name not in OF_SERIES or means[name].notna().any()]
    return means[["split", *available, "tasks"]]


def adaptive(by_task: pd.DataFrame) -> pd.DataFrame:
    """Return how many examples decisions take over all tasks: the table ``adaptive``."""
    rows = []
    for (question, way), group in by_task.groupby(["question", "way"], sort=False):
        counts = group["evaluations"].to_numpy(dtype=float)
        count, wrong = counts.sum(), round(float((group["wrong"] * counts).sum()))
        examples, total, share = (
            float((group[name] * counts).sum() / count) for name in ("examples", "available", "share")
        )
        rows.append(
            [
                question,
                way,
                int(count),
                examples,
                total,
                share,
                wrong / count,
                most_wrong(wrong, int(count)),
            ]
        )
    return pd.DataFrame(rows, columns=[*REPLAYS])
