"""The tables of a study of published predictions: as published, and beside what is true of its data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd

from abovechance.chance.agreement import AGREEMENT, decision_scores, most_prompts
from abovechance.chance.baselines import PAPER, expected_columns
from abovechance.chance.verdicts import POSITIONS
from abovechance.core.columns import Column
from abovechance.core.settings import SETTING, Setting
from abovechance.core.tables import Tables, TableSchema, setting_columns
from abovechance.published.audit import AUDIT
from abovechance.published.conventions import SAMPLED, published_verdicts
from abovechance.study.suites import nominal

_SETTING_OF_TASK = {
    "task": Column.text("name of the task"),
    "shots": Column.whole("number of demonstrations in a prompt"),
}
_BY_DATA = "according to the data; a range if it differs between models"
CONVENTIONS = TableSchema(
    "published_conventions",
    {
        **_SETTING_OF_TASK,
        "n_published": Column.whole("number of examples, as published"),
        "p_published": Column.share("chance of a lucky guess, as published"),
        "t_published": Column.whole("number of prompts, as published"),
        "n_data": Column.text(f"number of examples, {_BY_DATA}"),
        "p_data": Column.text(f"chance of a lucky guess, {_BY_DATA}"),
        "t_data": Column.text(f"number of prompts, {_BY_DATA}"),
    },
    "One row per task and number of shots.",
)
_VERDICT = {
    "examples": Column.whole("number of examples (n)"),
    "prompts": Column.whole("number of prompts (t)"),
    "best_accuracy": Column.share("best accuracy"),
    **expected_columns(PAPER),
    "position": Column.text("position relative to the baselines: 'below', 'between' or 'above'"),
}
VERDICTS = TableSchema(
    "published_verdicts",
    {**setting_columns(), **_VERDICT},
    "One row per setting. Baselines and positions are computed with the paper's n, p and t.",
)
_CHANGED = ("position", "best_accuracy", "examples", "prompts", *expected_columns(PAPER))
CHANGES = TableSchema(
    "changes",
    {
        **setting_columns(),
        **{
            f"{name}_{side}": replace(_VERDICT[name], meaning=f"{_VERDICT[name].meaning}, {words}")
            for name in _CHANGED
            for side, words in {"published": "as published", "data": "according to the data"}.items()
        },
    },
    "One row per setting whose published verdict differs from the recomputed verdict.",
)
CHANGES_COUNT = TableSchema(
    "changes_count",
    {
        "published, down; by the data, across": Column.text("position as published"),
        **{
            name: Column.whole(f"number of settings with the recomputed position '{name}'")
            for name in POSITIONS
        },
        "all": Column.whole("number of settings"),
    },
    "One row per published position, and one row for the total.",
)
_PREDICTORS = [baseline.name for baseline in PAPER]
_HELDOUT = {
    "outcomes": Column.whole("number of outcomes: one per setting, split and number of prompts"),
    "above_on_test_share": Column.share(
        "share of outcomes whose test accuracy is above the standard baseline"
    ),
    **{
        f"{name}_{predictor}": replace(
            AGREEMENT[name], meaning=f"with the {predictor} baseline: {AGREEMENT[name].meaning}"
        )
        for name in ("accuracy", "precision", "recall", "auroc", "aupr")
        for predictor in _PREDICTORS
    },
}
HELDOUT_BY_MODEL = TableSchema(
    "published_heldout_by_model",
    {"model": Column.text("name of the model, or 'total'"), **_HELDOUT},
    "One row per model, and one row for the total (the paper's Table 3).",
)
HELDOUT_BY_TASK = TableSchema(
    "published_heldout_by_task",
    {"task": Column.text("name of the task, or 'total'"), **_HELDOUT},
    "One row per task, and one row for the total (the paper's Table 4).",
)
HELDOUT_DIFFERENCE = TableSchema(
    "published_heldout_difference",
    {
        "model": Column.text("name of the model, or 'total'"),
        "metric": Column.text("the measure of agreement"),
        "released": Column.number("value of the measure for the released splits"),
        "recomputed": Column.number("value of the measure for this study's splits"),
        "difference": Column.number("recomputed minus released"),
    },
    "One row per model and measure.",
)
AUDIT_SUMMARY = TableSchema(
    "audit_summary",
    {
        "finding": Column.text("kind of problem"),
        "rows": Column.whole("number of findings"),
        "tasks": Column.whole("number of tasks"),
        "models": Column.whole("number of models"),
    },
    "One row per kind of finding.",
)


def _grid_schema(name: str, table: pd.DataFrame) -> TableSchema:
    """Return the columns of a grid, one for each model and number of shots."""
    return TableSchema(
        name,
        {column: Column.text(f"position of {column}", lacking="") for column in map(str, table)},
        "One row per task.",
    )


def conventions(published: pd.DataFrame, mended: pd.DataFrame) -> pd.DataFrame:
    """Return the paper's n, p and t of each task and number of shots, beside those of the data.

    Where models differ, the data's columns have the least and the greatest.
    """
    keys = ["task", "shots"]
    names = {"examples": "n", "standard_baseline": "p", "prompts": "t"}
    as_published = published.groupby(keys)[list(names)].first().rename(columns=names)
    as_mended = mended.groupby(keys)[list(names)].agg(_range).rename(columns=names)
    sides = ("_published", "_data")
    return as_published.merge(as_mended, left_index=True, right_index=True, suffixes=sides).reset_index()


def _range(values: pd.Series) -> str:
    low, high = (f"{value:.4g}" for value in (values.min(), values.max()))
    return low if low == high else f"{low} to {high}"


def grid(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Table 1: the verdict of every setting, a row per task and a column per model and number of shots.

    Tasks are in the order of their nominal size, at most 200, and name. The last column and
    the last two rows count the disagreements of the baselines, which are the verdicts between.
    """
    sizes = {name: min(task.examples, SAMPLED) for name, task in nominal().items()}
    cells = verdicts.pivot_table(
        index="task",
        columns=["model", "shots"],
        values="position",
        aggfunc="first",
        sort=False,
        observed=True,
    )
    ordered = sorted(cells.index, key=lambda task: (sizes.get(task, SAMPLED), task))
    cells = cells.loc[ordered, sorted(cells.columns, key=lambda column: (column[1], column[0]))]
    between = cells == "between"
    table = cells.fillna("")
    table.columns = [f"{column[0]} {column[1]}-shot" for column in cells.columns]
    table.insert(0, "n", [str(sizes.get(task, "")) for task in ordered])
    table["between"] = between.sum(axis=1).astype(str)
    counts = [str(count) for count in between.sum()]
    table.loc["between"] = ["", *counts, str(int(between.to_numpy().sum()))]
    above = ((cells == "above") | between).sum()
    table.loc["above standard"] = ["", *map(str, above), str(int(above.sum()))]
    return table.reset_index(names="task")


def changes(published: pd.DataFrame, mended: pd.DataFrame) -> pd.DataFrame:
    """Return the settings whose verdict is another once their numbers are those of the data."""
    merged = published.merge(mended, on=SETTING, suffixes=("_published", "_data"))
    changed = merged[merged["position_published"] != merged["position_data"]]
    return changed[[*CHANGES.columns]].reset_index(drop=True)


def changes_count(published: pd.DataFrame, mended: pd.DataFrame) -> pd.DataFrame:
    """Return how many settings go from which published verdict (rows) to which by the data (columns)."""
    merged = published.merge(mended, on=SETTING, suffixes=("_published", "_data"))
    order = list(POSITIONS)
    table = pd.crosstab(merged["position_published"], merged["position_data"])
    table = table.reindex(index=order, columns=order, fill_value=0)
    table["all"] = table.sum(axis=1)
    table.loc["all"] = table.sum()
    return table.rename_axis(columns=None).reset_index(names="published, down; by the data, across")


def heldout_agreement(outcomes: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Tables 3 and 4: how well each baseline foresees held-out results, decision by decision.

    Parameters
    ----------
    outcomes
        With ``above_standard``, ``above_maximum``, ``above_on_test`` and the columns ``by``.

    Returns
    -------
    DataFrame
        One row per group, and one for the total: ``above_on_test_share``, then each metric for the standard
        and for the maximum baseline.
    """
    groups = list(outcomes.groupby(by, observed=True, sort=False))
    groups.append((("total", *[""] * (len(by) - 1)), outcomes))
    rows = []
    for key, group in groups:
        scores = {predictor: decision_scores(group, predictor) for predictor in _PREDICTORS}
        row = dict(zip(by, key, strict=True)) | {"outcomes": len(group)}
        row["above_on_test_share"] = group["above_on_test"].mean()
        for metric in ("accuracy", "precision", "recall", "auroc", "aupr"):
            row |= {f"{metric}_{predictor}": scores[predictor][metric] for predictor in _PREDICTORS}
        rows.append(row)
    return pd.DataFrame(rows)


def heldout_difference(released: pd.DataFrame, recomputed: pd.DataFrame) -> pd.DataFrame:
    """The metrics from the released splits beside those from own seeded ones, by model and in total."""
    tables = (heldout_agreement(table, ["model"]).set_index("model") for table in (released, recomputed))
    first, second = (table.drop(columns="outcomes").stack() for table in tables)
    merged = pd.concat({"released": first, "recomputed": second}, axis=1).reset_index(
        names=["model", "metric"]
    )
    merged["difference"] = merged["recomputed"] - merged["released"]
    return merged


def tables(
    released: pd.DataFrame,
    aggregated: Mapping[Setting, Sequence[float]],
    released_outcomes: pd.DataFrame,
    own_outcomes: pd.DataFrame,
    mended: pd.DataFrame,
    findings: pd.DataFrame,
) -> Tables:
    """Return all tables of a study of published predictions.

    Parameters
    ----------
    released
        The table ``accuracy`` of all released prompts.
    aggregated
        From ``Release.accuracies``.
    released_outcomes
        From ``Release.outcomes``; may be empty.
    own_outcomes
        The table ``outcomes`` of own splits, by the paper's conventions.
    mended
        The verdicts by the data.
    findings
        From ``audit.table``.
    """
    published = published_verdicts(released, aggregated)
    recomputed = most_prompts(own_outcomes)
    recomputed = recomputed.assign(model=recomputed["model"].map(displayed))
    theirs = most_prompts(released_outcomes) if len(released_outcomes) else recomputed
    grids = {"published_grid": grid(published), "mended_grid": grid(mended)}
    return [
        (CONVENTIONS, conventions(published, mended)),
        (VERDICTS, published),
        (HELDOUT_BY_MODEL, heldout_agreement(theirs, ["model"])),
        (HELDOUT_BY_TASK, heldout_agreement(theirs, ["task"])),
        (HELDOUT_DIFFERENCE, heldout_difference(theirs, recomputed)),
        (CHANGES, changes(published, mended)),
        (CHANGES_COUNT, changes_count(published, mended)),
        (AUDIT, findings),
        (AUDIT_SUMMARY, audit_summary(findings)),
        *((_grid_schema(name, table), table) for name, table in grids.items()),
    ]


def displayed(model: str) -> str:
    """The name that the released outcomes have for a model: its base model, and which of the two it is."""
    base = {"alpaca": "Llama-2-7b", "llama": "Llama-2-7b", "olmo": "OLMo-7B", "falcon": "Falcon-7b"}
    name = next((base[word] for word in base if model.lower().startswith(word)), model)
    tuned = "instruct" in model.lower() or "alpaca" in model.lower()
    return f"{name}, {'Instruction-tuned' if tuned else 'Base model'}"


def audit_summary(findings: pd.DataFrame) -> pd.DataFrame:
    """Return how many rows of the audit each finding has, in how many tasks and models."""
    grouped = findings.groupby("finding", sort=False)
    counts = grouped.agg(rows=("evidence", "size"), tasks=("task", "nunique"), models=("model", "nunique"))
    return counts.reset_index().sort_values("rows", ascending=False, kind="stable")
