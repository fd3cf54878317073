"""How far formulations of one task agree, over models, and what changes from one to the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import pandas as pd

from abovechance.pvi.consistency import correlation
from abovechance.variance.evaluations import BEST
from abovechance.variance.summary import of_evaluations

COLUMNS = [
    *("task", "shots", "metric", "first", "second", "models", "r"),
    *("first_mean", "second_mean", "first_higher", "second_higher"),
]
MEASURES = ("first", "mean", "deviation", "final_deviation", "snr", "monotonicity")


def agreement(table: pd.DataFrame, formulations: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """Whether two formulations of a task order models alike.

    Parameters
    ----------
    table
        The table ``series_scores`` of all models, whether they are of a series or not.
    formulations
        {task: the tasks of ``table`` that are its formulations}.

    Returns
    -------
    DataFrame
        One row for each task, number of shots, metric and pair of formulations (``first``, ``second``):
        how many ``models`` have both; Pearson's ``r`` of their scores over these models, missing with too few
        or where all are the same; the mean over models of each; how many models score higher in each.
    """
    rows = []
    for task, one, other, own in _pairs(table, formulations):
        for (shots, metric), here in own.groupby(["shots", "metric"], sort=False):
            if metric == BEST:
                continue
            wide = here.pivot_table(index="model", columns="task", values="value", observed=True)
            if not {one, other} <= set(wide.columns):
                continue
            both = wide[[one, other]].dropna()
            x, y = both[one].to_numpy(), both[other].to_numpy()
            rows.append(
                {
                    "task": task,
                    "shots": shots,
                    "metric": metric,
                    "first": one,
                    "second": other,
                    "models": len(both),
                    "r": correlation(x, y).r,
                    "first_mean": x.mean(),
                    "second_mean": y.mean(),
                    "first_higher": int((x > y).sum()),
                    "second_higher": int((y > x).sum()),
                }
            )
    return pd.DataFrame(rows, columns=COLUMNS)


def change(
    evaluations: pd.DataFrame, formulations: Mapping[str, Sequence[str]], ddof: int = 1
) -> pd.DataFrame:
    """The measures of a series side by side in each formulation.

    Parameters
    ----------
    evaluations
        The table ``evaluations`` of a study's series.
    formulations
        As in ``agreement``.

    Returns
    -------
    DataFrame
        ``model``, the series; ``task``; ``shots``; ``metric``; the ``formulation``; and of
        ``summary.of_evaluations`` the columns ``first`` to ``monotonicity``.
    """
    names = {member: task for task, members in formulations.items() for member in members}
    own = evaluations[evaluations["task"].isin([*names]) & (evaluations["metric"] != BEST)]
    found = of_evaluations(own, ddof).rename(columns={"task": "formulation"})
    found["task"] = [names[each] for each in found["formulation"]]
    columns = ["model", "task", "shots", "metric", "formulation", *MEASURES]
    order = ["model", "task", "shots", "metric"]
    return found[columns].sort_values(order, kind="stable", ignore_index=True)


def _pairs(
    table: pd.DataFrame, formulations: Mapping[str, Sequence[str]]
) -> Iterator[tuple[str, str, str, pd.DataFrame]]:
    """(task, one formulation, another, the rows of both)."""
    named = table.astype({"task": str, "model": str})
    for task, members in formulations.items():
        for one, other in combinations(members, 2):
            yield task, one, other, named[named["task"].isin([one, other])]
