"""Pairs of prompts, of numbers of shots and of models: whether the same examples are hard under both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from abovechance.core.arrays import ROUNDING
from abovechance.core.columns import Column
from abovechance.core.resampling import clusters_of_names
from abovechance.core.settings import Setting
from abovechance.core.tables import TableSchema
from abovechance.pvi.consistency import Summary, correlation, summary

SETS, SHOTS, MODELS = "exemplar sets", "numbers of shots", "models"
PVI_PAIRS = TableSchema(
    "pvi_pairs",
    {
        "between": Column.text("what is compared: exemplar sets, numbers of shots or models"),
        "model": Column.text("name of the model"),
        "task": Column.text("name of the task"),
        "first": Column.text("first member of the pair: a prompt ('4-shot, prompt 0') or a model"),
        "second": Column.text("second member of the pair"),
        "r": Column.number(
            "Pearson's correlation over examples between PVI for the first and PVI for the second member"
        ),
        "low": Column.number("lower end of the 95 % interval of r (Fisher's z, jackknife over clusters)"),
        "high": Column.number("upper end of the interval"),
        "p": Column.number("p-value of r = 0"),
        "within": Column.number("r if the mean PVI of the example's label is subtracted from each PVI"),
        "examples": Column.whole("number of examples"),
    },
    "One row per pair. Two numbers of shots are compared only if the prompt with more shots begins with "
    "the prompt with fewer shots.",
    file="pvi/pairs/<model>.parquet, tables/pvi_pairs",
)
CONSISTENCY = TableSchema(
    "pvi_consistency",
    {
        "between": Column.text("what is compared: exemplar sets, numbers of shots or models"),
        "pairs": Column.whole(
            "number of correlations; for exemplar sets, each is the mean over all pairs of sets with the "
            "same model, task and number of shots"
        ),
        "mean": Column.number("mean of the correlations"),
        "median": Column.number("median of the correlations"),
        "above": Column.whole("number of correlations above 0.6"),
        "below": Column.whole("number of correlations below 0.3"),
        "above_share": Column.number("share of correlations above 0.6"),
        "below_share": Column.number("share of correlations below 0.3"),
        "within": Column.number(
            "mean of the correlations if the mean PVI of the example's label is subtracted from each PVI"
        ),
    },
    "One row per kind of comparison.",
)
MOST_PROMPTS = 10  # prompts of a setting; of more, the first ones are enough to see whether they agree

# {(shots, prompt): PVI by example} of one model on one task
Series = Mapping[tuple[int, int], "pd.Series[float]"]


def series(pvi: pd.DataFrame) -> dict[int, pd.Series[float]]:
    """{prompt: PVI by example} of one setting in the table ``pvi``, of the first ``MOST_PROMPTS`` prompts."""
    values = pvi.assign(example=pvi["example"].astype(str))
    numbers = sorted(values["prompt"].unique())[:MOST_PROMPTS]
    return {
        int(number): values[values["prompt"] == number].set_index("example")["pvi"].astype(float)
        for number in numbers
    }


def of_model(
    series: Series, setting: Setting, clusters: pd.Series[int], labels: pd.Series[str], nested: bool
) -> pd.DataFrame:
    """Return the table ``pvi_pairs`` of one model on one task (Lu et al., Section 4.2).

    Exemplar sets are compared with the same number of shots, and numbers of shots with the same set.

    Parameters
    ----------
    series
        {(shots, prompt): PVI by example}.
    setting
        Any one of the model and task.
    clusters
        By example, the same for those that belong together.
    labels
        By example, what is correct.
    nested
        Whether a prompt of more shots begins with the prompt of fewer that has its number: else there is no
        set to compare numbers of shots with.

    Returns
    -------
    DataFrame
        The table ``PVI_PAIRS``. A model that likes an answer finds all examples of the others hard, under
        every prompt. That alone makes r large, or with another liking, negative; ``within`` has no such
        part.
    """
    rows = []
    for (first, second), between in _pairs(series, nested):
        names = [f"{shots}-shot, prompt {prompt}" for shots, prompt in (first, second)]
        identity = {"between": between, "model": setting.model, "task": setting.task}
        identity |= dict(zip(("first", "second"), names, strict=True))
        rows.append(identity | _compared(series[first], series[second], clusters, labels))
    return pd.DataFrame(rows, columns=[*PVI_PAIRS.columns])


def _pairs(series: Series, nested: bool) -> Iterable[tuple[tuple[tuple[int, int], tuple[int, int]], str]]:
    for first, second in combinations(sorted(series), 2):
        if first[0] == second[0]:
            yield (first, second), SETS
        elif nested and first[1] == second[1] and first[0] > 0:  # without demonstrations there is no set
            yield (first, second), SHOTS


def of_models(
    values: pd.DataFrame, clusters: Mapping[str, pd.Series[int]], labels: Mapping[str, pd.Series[str]]
) -> pd.DataFrame:
    """Return the table ``pvi_pairs`` of all models on each task (Lu et al., Figures 3 and 6).

    Parameters
    ----------
    values
        From ``examples.of_models``.
    clusters, labels
        {task: by example}, see ``of_model``.
    """
    rows = []
    for task, task_rows in values.groupby(level="task", sort=False):
        columns = task_rows.droplevel("task")
        for first, second in combinations(columns.columns, 2):
            identity = {"between": MODELS, "model": "", "task": task, "first": first, "second": second}
            rows.append(
                identity | _compared(columns[first], columns[second], clusters[str(task)], labels[str(task)])
            )
    return pd.DataFrame(rows, columns=[*PVI_PAIRS.columns])


def _compared(
    first: pd.Series[float], second: pd.Series[float], clusters: pd.Series[int], labels: pd.Series[str]
) -> dict[str, Any]:
    paired = (
        pd.concat([first, second], axis=1, keys=["one", "other"]).replace([np.inf, -np.inf], np.nan).dropna()
    )
    centred = paired - paired.groupby(labels.reindex(paired.index)).transform("mean")
    centred = centred.where(centred.abs() > ROUNDING * paired.abs().max(), 0.0)
    within = correlation(centred["one"], centred["other"]).r
    of_pair = correlation(paired["one"], paired["other"], clusters_of_names(paired.index, clusters))
    return of_pair._asdict() | {"within": within}


def consistency(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return how consistent PVI is between exemplar sets, numbers of shots and models (Lu et al., Table 2).

    As in the paper, the r of exemplar sets is the mean over the pairs of sets of a setting, and that of
    numbers of shots is by set.

    Returns
    -------
    DataFrame
        The table ``CONSISTENCY``.
    """
    rows = []
    for between, group in pairs.groupby("between", sort=False):
        correlations = group[["r", "within"]]
        if between == SETS:
            shots = group["first"].str.partition(",")[0]
            correlations = correlations.groupby([group["model"], group["task"], shots], sort=False).mean()
        within = correlations["within"].mean()
        rows.append({"between": between} | summary(correlations["r"])._asdict() | {"within": within})
    return pd.DataFrame(rows, columns=["between", *Summary._fields, "within"])
