"""Pairs of prompts, of numbers of shots and of models: whether the same examples are hard under both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from abovechance.core.columns import Column
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
        "first": Column.text("the first of the pair"),
        "second": Column.text("the second of the pair"),
        "r": Column.number("Pearson's correlation of the PVI of the same examples"),
        "low": Column.number("lower end of its 95 % interval (Fisher's z, jackknife over clusters)"),
        "high": Column.number("upper end of the interval"),
        "p": Column.number("p-value of r = 0"),
        "within": Column.number("correlation after subtracting each label's mean"),
        "examples": Column.whole("number of examples"),
    },
    "One row per pair. Numbers of shots are compared if the longer prompt begins with the shorter one.",
    file="pvi/pairs/<model>.parquet, tables/pvi_pairs",
)
CONSISTENCY = TableSchema(
    "pvi_consistency",
    {
        "between": Column.text("what is compared: exemplar sets, numbers of shots or models"),
        "pairs": Column.whole("number of correlations"),
        "mean": Column.number("their mean"),
        "median": Column.number("their median"),
        "above": Column.whole("number above 0.6"),
        "below": Column.whole("number below 0.3"),
        "above_share": Column.number("share above 0.6"),
        "below_share": Column.number("share below 0.3"),
        "within": Column.number("mean correlation after subtracting each label's mean"),
    },
    "One row per kind of comparison.",
)
MOST = 10  # prompts of a setting; of more, the first ones are enough to see whether they agree

# {(shots, prompt): PVI by example} of one model on one task
Series = Mapping[tuple[int, int], "pd.Series[float]"]


def series(pvi: pd.DataFrame) -> dict[int, pd.Series[float]]:
    """{prompt: PVI by example} of one setting in the table ``pvi``, of the first ``MOST`` prompts."""
    own = pvi.assign(example=pvi["example"].astype(str))
    numbers = sorted(own["prompt"].unique())[:MOST]
    return {
        int(number): own[own["prompt"] == number].set_index("example")["pvi"].astype(float)
        for number in numbers
    }


def of_model(
    found: Series, setting: Setting, clusters: pd.Series[int], labels: pd.Series[str], nested: bool
) -> pd.DataFrame:
    """The table ``pvi_pairs`` of one model on one task (Lu et al., Section 4.2).

    Exemplar sets are compared with the same number of shots, and numbers of shots with the same set.

    Parameters
    ----------
    found
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
    for (one, other), between in _pairs(found, nested):
        names = [f"{shots}-shot, prompt {prompt}" for shots, prompt in (one, other)]
        of = {"between": between, "model": setting.model, "task": setting.task}
        of |= dict(zip(("first", "second"), names, strict=True))
        rows.append(of | _compared(found[one], found[other], clusters, labels))
    return pd.DataFrame(rows, columns=[*PVI_PAIRS.columns])


def _pairs(found: Series, nested: bool) -> Iterable[tuple[tuple[tuple[int, int], tuple[int, int]], str]]:
    for one, other in combinations(sorted(found), 2):
        if one[0] == other[0]:
            yield (one, other), SETS
        elif nested and one[1] == other[1] and one[0] > 0:  # without demonstrations there is no set
            yield (one, other), SHOTS


def of_models(
    values: pd.DataFrame, clusters: Mapping[str, pd.Series[int]], labels: Mapping[str, pd.Series[str]]
) -> pd.DataFrame:
    """The table ``pvi_pairs`` of all models on each task (Lu et al., Figures 3 and 6).

    Parameters
    ----------
    values
        From ``examples.of_models``.
    clusters, labels
        {task: by example}, see ``of_model``.
    """
    rows = []
    for task, own in values.groupby(level="task", sort=False):
        columns = own.droplevel("task")
        for one, other in combinations(columns.columns, 2):
            of = {"between": MODELS, "model": "", "task": task, "first": one, "second": other}
            rows.append(of | _compared(columns[one], columns[other], clusters[str(task)], labels[str(task)]))
    return pd.DataFrame(rows, columns=[*PVI_PAIRS.columns])


def _compared(
    one: pd.Series[float], other: pd.Series[float], clusters: pd.Series[int], labels: pd.Series[str]
) -> dict[str, Any]:
    both = pd.concat([one, other], axis=1, keys=["one", "other"]).replace([np.inf, -np.inf], np.nan).dropna()
    left = both - both.groupby(labels.reindex(both.index)).transform("mean")
    within = correlation(left["one"], left["other"]).r
    return correlation(both["one"], both["other"], clusters.reindex(both.index))._asdict() | {
        "within": within
    }


def consistency(pairs: pd.DataFrame) -> pd.DataFrame:
    """How consistent PVI is between exemplar sets, numbers of shots and models (Lu et al., Table 2).

    As in the paper, the r of exemplar sets is the mean over the pairs of sets of a setting, and that of
    numbers of shots is by set.

    Returns
    -------
    DataFrame
        The table ``CONSISTENCY``.
    """
    rows = []
    for between, own in pairs.groupby("between", sort=False):
        r = own["r"]
        if between == SETS:
            shots = own["first"].str.partition(",")[0]
            r = own["r"].groupby([own["model"], own["task"], shots], sort=False).mean()
        rows.append({"between": between} | summary(r)._asdict() | {"within": own["within"].mean()})
    return pd.DataFrame(rows, columns=["between", *Summary._fields, "within"])
