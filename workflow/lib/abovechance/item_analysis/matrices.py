"""Response matrices of results: a row for each model, shots and prompt, a column for each example."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from abovechance.core.arrays import Floats
from abovechance.core.errors import InputError
from abovechance.item_analysis.classical import item_statistics, reliability

ROW = ["model", "shots", "prompt"]


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


def items_of(matrix: Matrix) -> pd.DataFrame:
    """The items of a task, the least discriminating first: ``task``, ``example`` and the columns of
    ``item_statistics``."""
    found = item_statistics(matrix.scores).assign(task=matrix.task, example=matrix.examples)
    columns = ["task", "example", *[name for name in found if name not in ("task", "example")]]
    return found[columns].sort_values(["constant", "corrected"], kind="stable", ignore_index=True)


def in_short(matrix: Matrix) -> dict[str, object]:
    """What a task's items are like: one row of a table.

    Returns
    -------
    dict
        ``task``; how many ``rows`` and ``items``; the mean ``difficulty``; Cronbach's ``alpha``; how many
        items are ``constant``, and how many of the others ``negative``, more often right in rows that are
        worse on the rest (half of them, if they had nothing to do with it); their mean corrected
        ``discrimination``.
    """
    found = item_statistics(matrix.scores)
    varied = found[~found["constant"]]
    return {
        "task": matrix.task,
        "rows": matrix.scores.shape[0],
        "items": matrix.scores.shape[1],
        "difficulty": float(np.nanmean(matrix.scores)),
        "alpha": reliability(matrix.scores),
        "constant": int(found["constant"].sum()),
        "negative": int((varied["corrected"] < 0).sum()),
        "discrimination": float(varied["corrected"].mean()) if len(varied) else np.nan,
    }
