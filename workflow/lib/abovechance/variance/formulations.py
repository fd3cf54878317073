"""How far formulations of one task agree, over models, and what changes from one to the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from abovechance.core.arrays import ROUNDING
from abovechance.core.columns import Column
from abovechance.core.tables import TableSchema
from abovechance.pvi.consistency import correlation
from abovechance.variance.evaluations import BEST
from abovechance.variance.summary import DEVELOPMENT, of_evaluations

FORMULATIONS = TableSchema(
    "formulations",
    {
        "task": Column.text("name of the task"),
        "shots": Column.whole("number of demonstrations in a prompt"),
        "metric": Column.text("name of the metric"),
        "first": Column.text("one formulation of the task"),
        "second": Column.text("another formulation"),
        "models": Column.whole("number of models with scores in both formulations"),
        "r": Column.number(
            "Pearson's correlation over models between the scores in the two formulations; missing if "
            "there are too few models or if all scores are equal"
        ),
        "first_mean": Column.number("mean score over models in the first formulation"),
        "second_mean": Column.number("mean score over models in the second formulation"),
        "first_higher": Column.whole("number of models with a higher score in the first formulation"),
        "second_higher": Column.whole("number of models with a higher score in the second formulation"),
    },
    "One row per task, number of shots, metric and pair of formulations.",
)
FORMULATION_SERIES = TableSchema(
    "formulation_series",
    {
        "model": Column.text("name of the series"),
        "task": Column.text("name of the task"),
        "shots": Column.whole("number of demonstrations in a prompt"),
        "metric": Column.text("name of the metric"),
        "formulation": Column.text("the formulation"),
        **DEVELOPMENT,
    },
    "One row per series, task, number of shots, metric and formulation.",
)


def agreement(table: pd.DataFrame, formulations: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """Return whether two formulations of a task order models alike.

    Parameters
    ----------
    table
        The table ``series_scores`` of all models, whether they are of a series or not.
    formulations
        {task: the tasks of ``table`` that are its formulations}.

    Returns
    -------
    DataFrame
        The table ``formulations``.
    """
    rows = []
    for task, first, second, task_rows in _pairs(table, formulations):
        for (shots, metric), group in task_rows.groupby(["shots", "metric"], sort=False):
            if metric == BEST:
                continue
            wide = group.pivot_table(index="model", columns="task", values="value", observed=True)
            if not {first, second} <= set(wide.columns):
                continue
            paired = wide[[first, second]].dropna()
            x, y = paired[first].to_numpy(), paired[second].to_numpy()
            differs = ~np.isclose(x, y, rtol=ROUNDING, atol=ROUNDING)
            rows.append(
                {
                    "task": task,
                    "shots": shots,
                    "metric": metric,
                    "first": first,
                    "second": second,
                    "models": len(paired),
                    "r": correlation(x, y).r,
                    "first_mean": x.mean(),
                    "second_mean": y.mean(),
                    "first_higher": int((differs & (x > y)).sum()),
                    "second_higher": int((differs & (y > x)).sum()),
                }
            )
    return pd.DataFrame(rows, columns=[*FORMULATIONS.columns])


def change(evaluations: pd.DataFrame, formulations: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """Return the measures of a series side by side in each formulation.

    Parameters
    ----------
    evaluations
        The table ``evaluations`` of a study's series.
    formulations
        As in ``agreement``.

    Returns
    -------
    DataFrame
        The table ``formulation_series``.
    """
    names = {member: task for task, members in formulations.items() for member in members}
    rows = evaluations[evaluations["task"].isin([*names]) & (evaluations["metric"] != BEST)]
    summary = of_evaluations(rows).rename(columns={"task": "formulation"})
    summary["task"] = [names[formulation] for formulation in summary["formulation"]]
    columns = [*FORMULATION_SERIES.columns]
    order = ["model", "task", "shots", "metric"]
    return summary[columns].sort_values(order, kind="stable", ignore_index=True)


def _pairs(
    table: pd.DataFrame, formulations: Mapping[str, Sequence[str]]
) -> Iterator[tuple[str, str, str, pd.DataFrame]]:
    """(task, one formulation, another, the rows of both)."""
    named = table.astype({"task": str, "model": str})
    for task, members in formulations.items():
        for first, second in combinations(members, 2):
            yield task, first, second, named[named["task"].isin([first, second])]
