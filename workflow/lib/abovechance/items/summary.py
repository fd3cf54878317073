"""What the tables of single tasks say together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from abovechance.core.columns import Column, optional
from abovechance.core.tables import TableSchema
from abovechance.items.matrices import LISTED
from abovechance.items.of_task import ADAPTIVE, ITEM_PRUNING, ITEM_TASKS, SMALLER
from abovechance.items.removal import PRUNED
from abovechance.items.replays import REPLAYS, most_wrong
from abovechance.items.smaller import ALL, COSTS
from abovechance.pvi.examples import MISLABELLED

OF_SERIES = ("seed_deviation", "monotonicity")  # columns that are missing without series
LEAST_DISCRIMINATING = 20  # negative items of each task, at most
_SUSPECTS = {name: MISLABELLED.columns[name] for name in ("suggested", "beyond", "input")}


def _before_and_after(name: str) -> dict[str, Column]:
    return {
        name: Column.number(f"{name} before"),
        f"{name}_after": Column.number(f"{name} after"),
        f"random_{name}": Column.number(f"{name} after removing as many random items"),
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
    "One row per item that better rows fail more often in both random halves, the lowest of each task first.",
)
TASKS = replace(ITEM_TASKS, name="items", file="")
STEPS = replace(ITEM_PRUNING, name="item_pruning_steps", file="")
PRUNING = TableSchema(
    "item_pruning",
    {
        "task": ITEM_PRUNING.columns["task"],
        "split": ITEM_PRUNING.columns["split"],
        "items": Column.whole("number of items before"),
        "removed": Column.whole("number of items removed: a fifth, the least discriminating ones"),
        "mean": PRUNED["mean"],
        "mean_change": Column.number("change of the mean score"),
        "random_low": Column.number("2.5 % quantile of the change after removing as many random items"),
        "random_high": Column.number("97.5 % quantile of that change"),
        "outside": Column.text("'yes' if the change is outside these quantiles"),
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
    "One row per split, method and number of examples: the mean over the tasks that have all sizes.",
)
BY_TASK = replace(SMALLER, name="smaller_benchmarks_by_task", file="")
DECISIONS = TableSchema(
    "adaptive", REPLAYS, "One row per decision and way of choosing examples, over all tasks."
)
DECISIONS_BY_TASK = replace(ADAPTIVE, name="adaptive_by_task", file="")


def negative(items: pd.DataFrame, features: pd.DataFrame, mislabelled: pd.DataFrame) -> pd.DataFrame:
    """The items that better rows fail more often, as far as both random halves of the rows say so.

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
    found = items[sure].sort_values("corrected", kind="stable")
    place = found.groupby("task", sort=False).cumcount()
    found = found[place < LEAST_DISCRIMINATING].assign(place=place).sort_values("place", kind="stable")
    for other, columns in ((features, ["input"]), (mislabelled, ["suggested", "beyond"])):
        own = other.reindex(columns=["task", "example", *columns])
        found = found.merge(own, on=["task", "example"], how="left")
    # by what the study knows, not by which items were found: a table that is made again has the same columns
    known = {
        name
        for table in (items, features)
        for name in NEGATIVE.columns
        if name in table and table[name].notna().any()
    }
    known |= {"suggested", "beyond"}.intersection(mislabelled)
    return found[[name for name, column in NEGATIVE.columns.items() if not column.optional or name in known]]


def pruned(steps: pd.DataFrame) -> pd.DataFrame:
    """What taking away a fifth of the items changes: one row for each task and split."""
    grouped = steps.sort_values("removed", kind="stable").groupby(["task", "split"], sort=False)
    rows = []
    for (task, split), own in grouped:
        first, last = own.iloc[0], own.iloc[-1]
        low, high = (last[f"random_mean_{end}"] - first["mean"] for end in ("low", "high"))
        change = last["mean"] - first["mean"]
        told = [task, split, first["items"], last["removed"], first["mean"], change, low, high]
        told.append("yes" if change < low or change > high else "no")
        for name in ("error", "deviation", "monotonicity"):
            told += [first[name], last[name], last[f"random_{name}"]]
        rows.append(told)
    found = pd.DataFrame(rows, columns=[*PRUNING.columns])
    of_series = [name for name, column in PRUNING.columns.items() if column.optional]
    return found.drop(columns=[name for name in of_series if found[name].isna().all()])


def smaller(costs: pd.DataFrame) -> pd.DataFrame:
    """What smaller benchmarks cost on average, of the tasks that have all sizes which a task has.

    Parameters
    ----------
    costs
        The table ``smaller_benchmarks`` of all tasks.

    Returns
    -------
    DataFrame
        The table ``SMALLER_BENCHMARKS``.
    """
    kept = costs[costs["method"] != ALL]
    sizes = kept.groupby("task")["examples"].nunique()
    own = costs[costs["task"].isin(sizes.index[sizes == sizes.max()])].copy() if len(kept) else costs
    whole = own["method"] == ALL
    order = own["examples"].where(~whole, np.inf)
    numbers = [name for name in COSTS if name != "method"]
    grouped = own.assign(order=order).groupby(["split", "order", "method"], sort=False)
    found = grouped[numbers].mean().assign(tasks=grouped["task"].nunique()).reset_index()
    found["examples"] = found["examples"].round().astype(int)
    known = [name for name in COSTS if name not in OF_SERIES or found[name].notna().any()]
    return found[["split", *known, "tasks"]]


def adaptive(by_task: pd.DataFrame) -> pd.DataFrame:
    """Return how many examples decisions take over all tasks: the table ``adaptive``."""
    rows = []
    for (question, way), own in by_task.groupby(["question", "way"], sort=False):
        counts = own["evaluations"].to_numpy(dtype=float)
        count, wrong = counts.sum(), round(float((own["wrong"] * counts).sum()))
        taken, of, share = (float((own[name] * counts).sum() / count) for name in ("examples", "of", "share"))
        rows.append(
            [
                question,
                way,
                int(count),
                round(taken, 2),
                round(of, 2),
                share,
                wrong / count,
                most_wrong(wrong, int(count)),
            ]
        )
    return pd.DataFrame(rows, columns=[*REPLAYS])
