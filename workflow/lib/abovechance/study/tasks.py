"""Tasks: multiple-choice examples, wherever they come from (``bigbench``, ``own_tasks``).

Every source ends in the same table, one row per example:

    example      str          unique in the task: ``subtask/index``, or ``index``
    input        str          what is asked, without what is put around it
    text         str          what the model reads before the choice
    bare         str          the same with no choices listed in it
    choices      list of str  at least two
    labels       list of str  what the choices stand for
    correct      list of bool one a choice, at least one true
    cluster      int          the same for examples that belong together
    null         str          what remains of the text when the input is taken away
    end          str          what follows the answer of a demonstration
    annotations  list of str  what annotators said, where that is known
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from abovechance.core.columns import Column
from abovechance.core.tables import TableSchema
from abovechance.study.clusters import clusters, without_common

TASKS = TableSchema(
    "tasks",
    {
        "example": Column.text("id of the example, unique in the task: subtask/index, or index"),
        "input": Column.text("the question only, without instructions and prefixes"),
        "text": Column.text("everything the model reads before the choice"),
        "bare": Column.text("like text, but without the list of choices"),
        "choices": Column.text("the choices").several(),
        "labels": Column.text("the label that each choice represents").several(),
        "correct": Column.flag("whether each choice is correct").several(),
        "cluster": Column.whole("number of the cluster; examples that belong together have the same number"),
        "null": Column.text("like text, but without the input"),
        "end": Column.text("the text that follows the answer, if the example is a demonstration"),
        "annotations": Column.text("the answers of the annotators, if known").several(),
    },
    "One row per example.",
    file="tasks/<task>.parquet",
)


def as_table(
    rows: Iterable[Mapping[str, Any]], keys: Sequence[Iterable[Hashable]] | None = None
) -> pd.DataFrame:
    """Rows of examples as the table ``tasks``.

    Examples of the same text are a cluster, unless many have it and only the choices differ, and so are those
    of the same ``cluster`` in the rows, or with a key in common.

    Parameters
    ----------
    rows
        One with ``example``, ``text``, ``choices``, ``correct``; and ``input``, ``bare``, ``cluster``,
        ``null`` and ``annotations``, where it has them.
    keys
        For each, what it has in common with others.
    """
    listed = list(rows)
    keys_of_rows = without_common([{("text", row["text"])} for row in listed])
    for keys_of_row, row in zip(keys_of_rows, listed, strict=True):
        keys_of_row.add((row["text"], tuple(sorted(row["choices"]))))
        if row.get("cluster") is not None:
            keys_of_row.add(("cluster", row["cluster"]))
    for keys_of_row, more in zip(keys_of_rows, keys or [], strict=keys is not None):
        keys_of_row.update(more)
    table = pd.DataFrame(listed, columns=["example", "text", "choices", "correct"])
    return table.assign(
        input=[row.get("input", row["text"]) for row in listed],
        bare=[row.get("bare", row["text"]) for row in listed],
        labels=table["choices"],
        cluster=clusters(keys_of_rows),
        null=[row.get("null", "") for row in listed],
        end="\n",
        annotations=pd.Series([row.get("annotations") for row in listed], dtype=object),
    )[[*TASKS.columns]]
