"""What the tables of single tasks say together."""

from __future__ import annotations

import numpy as np
import pandas as pd

from abovechance.items.replays import REPLAYS, most_wrong
from abovechance.items.smaller import ALL, COSTS

OF_SERIES = ("seed_deviation", "monotonicity")  # of which others have nothing
KNOWN = ("balanced", "answer", "suggested", "beyond", "input")  # of some studies alone
LISTED = 20  # negative items of each task, at most
NEGATIVE = [
    *("task", "example", "difficulty", "corrected", "half", "other_half", "balanced", "answer"),
    *("suggested", "beyond", "input"),
]
PRUNED = [
    *("task", "split", "items", "removed", "mean", "mean_change", "random_low", "random_high", "outside"),
    *("error", "error_after", "random_error", "deviation", "deviation_after", "random_deviation"),
    *("monotonicity", "monotonicity_after", "random_monotonicity"),
]


def negative(items: pd.DataFrame, features: pd.DataFrame, mislabelled: pd.DataFrame) -> pd.DataFrame:
    """The items that better rows fail more often, as far as both random halves of the rows say so.

    Parameters
    ----------
    items
        The table ``item_list`` of all tasks.
    features
        The table ``example_features``, which may be empty.
    mislabelled
        The table ``pvi_mislabelled``, which may be empty, or have no columns where there is no PVI.

    Returns
    -------
    DataFrame
        The lowest of each task, then the next of each, at most ``LISTED`` of one; with the ``input``, and the
        answer that PVI says the input speaks for (``suggested``), by how many bits ``beyond`` other examples
        of the label.
    """
    sure = (items[["corrected", "half", "other_half"]] < 0).all(axis=1) & ~items["constant"].astype(bool)
    found = items[sure].sort_values("corrected", kind="stable")
    place = found.groupby("task", sort=False).cumcount()
    found = found[place < LISTED].assign(place=place).sort_values("place", kind="stable")
    for other, columns in ((features, ["input"]), (mislabelled, ["suggested", "beyond"])):
        own = other.reindex(columns=["task", "example", *columns])
        # ids that look like numbers are read as such
        own = own.astype({"task": str, "example": str})
        found = found.merge(own, on=["task", "example"], how="left")
    # by what the study knows, not by which items were found: a table that is made again has the same columns
    known = {
        name for table in (items, features) for name in KNOWN if name in table and table[name].notna().any()
    }
    known |= {"suggested", "beyond"}.intersection(mislabelled)
    return found[[name for name in NEGATIVE if name not in KNOWN or name in known]]


def pruned(steps: pd.DataFrame) -> pd.DataFrame:
    """What taking away a fifth of the items changes: one row for each task and split.

    Returns
    -------
    DataFrame
        ``items`` and how many of them are ``removed``; the ``mean`` score, its change, and between which ends
        95 % of the changes lie where as many are removed at random; whether it is ``outside``; the standard
        error before and after, and after random removal; and the deviation and monotonicity in the same way.
    """
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
    found = pd.DataFrame(rows, columns=PRUNED)
    return found.drop(columns=[name for name in PRUNED[-3:] if found[name].isna().all()])


def smaller(costs: pd.DataFrame) -> pd.DataFrame:
    """What smaller benchmarks cost on average, of the tasks that have all sizes which a task has.

    Parameters
    ----------
    costs
        The table ``smaller_benchmarks`` of all tasks.

    Returns
    -------
    DataFrame
        ``split``, the columns of ``smaller.COSTS`` that are known, and how many ``tasks``. The row of all
        examples has their mean number.
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
    """How many examples decisions take over all tasks: the columns of the table ``adaptive``."""
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
    return pd.DataFrame(rows, columns=REPLAYS)
