"""Response matrices of results: a row for each model, shots and prompt, a column for each example."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from abovechance.core.arrays import Floats
from abovechance.core.errors import InputError
from abovechance.item_analysis.classical import ITEMS, item_statistics, reliability
from abovechance.item_analysis.features import LEAST, associations, grouped
from abovechance.item_analysis.splits import at_random, by_score

ROW = ["model", "shots", "prompt"]
KNOWN = ["answer", "subtask", "length", "choices"]
SHORT = [
    *("models", "rows", "items", "difficulty", "alpha", "constant", "negative", "discrimination"),
    *("balanced", "halves", "best_and_rest", "by_answer"),
]
LISTED = ["task", "example", *ITEMS, "balanced", "half", "other_half", "rest", "best", *KNOWN]


class Matrix(NamedTuple):
    """The responses to one task.

    Attributes
    ----------
    task
        Which.
    rows
        ``model``, ``shots`` and ``prompt`` of each row.
    examples
        (items,) ids.
    scores
        (rows, items) missing where a row is not evaluated on an example.
    """

    task: str
    rows: pd.DataFrame
    examples: list[str]
    scores: Floats


def matrices(table: pd.DataFrame) -> Iterator[Matrix]:
    """The response matrix of each task.

    Parameters
    ----------
    table
        ``model``, ``task``, ``shots``, ``prompt``, ``example`` and ``score``, a row for each.

    Raises
    ------
    InputError
        If an example stands twice for a model, number of shots and prompt.
    """
    for task, rows in table.groupby("task", sort=False, observed=True):
        own = rows.astype({"model": str, "prompt": str, "example": str, "score": float})
        if (twice := own.duplicated([*ROW, "example"])).any():
            row = own[twice].iloc[0]
            raise InputError(
                f"{task}: example '{row['example']}' stands twice for '{row['model']}', {row['shots']}-shot, "
                f"prompt {row['prompt']}; right is once"
            )
        wide = own.pivot_table(index=ROW, columns="example", values="score", sort=False)
        yield Matrix(
            str(task), wide.index.to_frame(index=False), [*map(str, wide.columns)], wide.to_numpy(dtype=float)
        )


def items_of(matrix: Matrix, features: pd.DataFrame | None = None, seed: int = 0) -> pd.DataFrame:
    """The items of a task, the least discriminating first: the table ``items`` without a fitted model.

    Parameters
    ----------
    features
        What is known of the examples (``features.EXAMPLE_FEATURES``).

    Returns
    -------
    DataFrame
        ``task``, ``example`` and the columns of ``item_statistics``; the corrected discrimination in two
        random halves of the rows (``half``, ``other_half``), in the best fifth and in the rest (``best``,
        ``rest``); and, of what is known of examples, ``answer``, ``subtask``, ``length`` and ``choices``.
        Where several examples have the same right answer, ``balanced`` is the corrected discrimination with
        an overall score in which each such answer counts alike (and all others together), so that a row that
        likes one answer is no better for it.
    """
    found = item_statistics(matrix.scores).assign(task=matrix.task, example=matrix.examples)
    for names, split in (
        (("half", "other_half"), at_random(len(matrix.scores), 0.5, seed)),
        (("rest", "best"), by_score(matrix.scores)),
    ):
        for name, places in zip(names, split, strict=True):
            found[name] = discrimination(matrix.scores[places])
    known = pd.DataFrame(columns=["example", *KNOWN]) if features is None else features
    found = found.merge(known[["example", *KNOWN]].astype({"example": str}), on="example", how="left")
    found["balanced"] = np.nan
    if found["answer"].notna().all() and (answers := grouped(found["answer"])).nunique() > 1:
        sizes = answers.map(answers.value_counts()).to_numpy(dtype=float)
        weights = 1 / np.maximum(sizes, LEAST)
        found["balanced"] = item_statistics(matrix.scores, weights)["corrected"].to_numpy()
    return found[LISTED].sort_values(["constant", "corrected"], kind="stable", ignore_index=True)


def discrimination(scores: Floats) -> Floats:
    """(items,) corrected, of rows in which items may be missing; nan where it is constant there."""
    there = np.isfinite(scores)
    found = np.full(scores.shape[1], np.nan)
    known = there.any(axis=0)
    if known.any():
        own = scores[:, known]
        statistics = item_statistics(own[np.isfinite(own).any(axis=1)])
        found[known] = np.where(statistics["constant"], np.nan, statistics["corrected"])
    return found


def in_short(matrix: Matrix, listed: pd.DataFrame) -> dict[str, object]:
    """What a task's items are like: one row of a table.

    Parameters
    ----------
    listed
        What ``items_of`` says of them.

    Returns
    -------
    dict
        ``task``; how many ``models``, ``rows`` and ``items``; the mean ``difficulty``; Cronbach's ``alpha``;
        how many items are ``constant``, and how many of the others ``negative``, more often right in rows
        that are worse on the rest (half of them, if they had nothing to do with it); their mean corrected
        ``discrimination``, and the mean ``balanced`` one; Pearson's r of discrimination between random
        ``halves`` of the rows, and between the best fifth and the rest (``best_and_rest``); the share of its
        variance that is between right answers (``by_answer``: where that is large, rows differ in which
        answer they like, more than in how much they know).
    """
    varied = listed[~listed["constant"]]
    gone = associations(listed).set_index("feature")["share"]
    return {
        "task": matrix.task,
        "models": matrix.rows["model"].nunique(),
        "rows": matrix.scores.shape[0],
        "items": matrix.scores.shape[1],
        "difficulty": float(np.nanmean(matrix.scores)),
        "alpha": reliability(matrix.scores),
        "constant": int(listed["constant"].sum()),
        "negative": int((varied["corrected"] < 0).sum()),
        "discrimination": _mean(varied["corrected"]),
        "balanced": _mean(varied["balanced"]),
        "halves": _correlation(varied["half"], varied["other_half"]),
        "best_and_rest": _correlation(varied["rest"], varied["best"]),
        "by_answer": float(gone.get("answer", np.nan)),
    }


def _mean(values: pd.Series[float]) -> float:
    return float(values.mean()) if len(values) else np.nan


def _correlation(one: pd.Series[float], other: pd.Series[float]) -> float:
    """Pearson's r of the items that have both."""
    both = one.notna() & other.notna()
    if both.sum() < 3 or one[both].nunique() < 2 or other[both].nunique() < 2:
        return np.nan
    return float(np.corrcoef(one[both], other[both])[0, 1])
