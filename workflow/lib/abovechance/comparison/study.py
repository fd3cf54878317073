"""The models of a study, compared on the same examples and prompts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import pandas as pd
import pyarrow as pa

from abovechance.comparison import many
from abovechance.comparison.responses import ONE, arrange
from abovechance.core.tables import CATEGORY, TableSchema, setting_columns

ANSWERS = TableSchema(
    "answers",
    {
        **setting_columns(category=True),
        "example": CATEGORY,
        "prompts": pa.int64(),
        "correct": pa.float64(),
    },
)


def answers(predictions: pd.DataFrame) -> pd.DataFrame:
    """The table ``answers`` of one setting, without its columns.

    Parameters
    ----------
    predictions
        The rows of the setting in the table ``predictions``.

    Returns
    -------
    DataFrame
        One row an example: ``example``; ``prompts`` that are evaluated on it; ``correct``, the share of these
        that get it right.
    """
    own = predictions.astype({"example": str, "correct": float})
    grouped = own.groupby("example", sort=False)["correct"]
    return grouped.agg(prompts="size", correct="mean").reset_index()


class Compared(NamedTuple):
    """What a study says of its models.

    Attributes
    ----------
    overall
        ``shots``, ``tasks`` and the columns of ``many.ranks``, of the mean over the tasks that all models
        have.
    ranks, pairs
        ``task``, ``shots`` and the columns of ``many.ranks`` and ``many.pairs``.
    """

    overall: pd.DataFrame
    ranks: pd.DataFrame
    pairs: pd.DataFrame


def of_study(table: pd.DataFrame, clusters: Mapping[str, pd.Series[int]] | None = None) -> Compared:
    """Which models of a study differ, task by task and over all tasks.

    Parameters
    ----------
    table
        The table ``answers`` of all models.
    clusters
        {task: by example, the same number for those that belong together}, where that is known.
    """
    rows = table.rename(columns={"correct": "score"}).assign(prompt=ONE)
    everywhere = table.astype({"model": str})["model"].nunique()
    ranks, pairs, overall = [], [], []
    by_shots: dict[int, list[tuple[list[str], many.Drawn]]] = {}
    for found in arrange(rows, clusters):
        drawn = many.paired(found.by_example, found.clusters)
        ranks.append(many.ranks(drawn, found.models).assign(task=found.task, shots=found.shots))
        pairs.append(many.pairs(drawn, found.models).assign(task=found.task, shots=found.shots))
        if len(found.models) == everywhere:
            by_shots.setdefault(found.shots, []).append((found.models, drawn))
    for shots, tasks in sorted(by_shots.items()):
        names = tasks[0][0]
        alike = [many.reordered(drawn, models, names) for models, drawn in tasks]
        overall.append(many.ranks(many.together(alike), names).assign(shots=shots, tasks=len(tasks)))
    return Compared(
        _joined(overall, ["shots", "tasks"], many.RANKS),
        _joined(ranks, ["task", "shots"], many.RANKS),
        _joined(pairs, ["task", "shots"], many.PAIRS),
    )


def _joined(parts: list[pd.DataFrame], first: list[str], columns: list[str]) -> pd.DataFrame:
    if not parts:
        return pd.DataFrame(columns=[*first, *columns])
    return pd.concat(parts, ignore_index=True)[[*first, *columns]]
