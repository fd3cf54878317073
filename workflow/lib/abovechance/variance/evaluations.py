"""The table of evaluations at many checkpoints: chances, groups of tasks, and checks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase

import numpy as np
import pandas as pd

from abovechance.core.columns import Column
from abovechance.core.errors import InputError, nearest
from abovechance.core.tables import TableSchema

# what a score and what it is of are told by
SCORE = {
    "metric": Column.text("name of the metric"),
    "value": Column.number("the score, which is the mean over prompts and examples"),
    "error": Column.number("standard error of the score, with clusters of examples as units"),
    "bootstrap": Column.number(
        "half-width of the score's 95 % confidence interval, from a bootstrap over clusters of examples"
    ),
    "examples": Column.whole("number of examples; -1 if unknown"),
    "effective_examples": Column.number(
        "for accuracies of a study: number of independent examples with which the accuracies of prompts "
        "would have the same variance"
    ),
    "prompts": Column.whole("number of prompts"),
    "chance": Column.share("chance of a lucky guess, if known"),
    "lower_is_better": Column.flag("whether a lower score is better"),
}
EVALUATIONS = TableSchema(
    "evaluations",
    {
        "model": Column.text("name of the series; if there is no series, name of the model without its seed"),
        "seed": Column.whole("random seed of the training run; 0 if no seed is given"),
        "checkpoint": Column.whole("training step"),
        "shots": Column.whole("number of demonstrations in a prompt"),
        "task": Column.text("name of the task or group of tasks"),
        **SCORE,
    },
    "One row per model, seed, checkpoint, task and metric.",
    file="evaluations.parquet",
)
BEST = "best_accuracy"  # of several prompts
ACCURACY = re.compile(r"^(?:best_)?(?:acc|exact_match|em$)")  # shares of right answers
# Metrics of which less is better, where a file does not say it.
LOSSES = re.compile(
    r"perplexity|neg(?:ative)?[-_ ]?log[-_ ]?likelihood|entropy|bits_per_byte|likelihood_diff"
    r"|(?<!(?<![a-z])g)loss(?:es)?(?![a-z])"
    r"|(?:^|[^a-z])(?:ppl|nll|bpb|brier)(?![a-z])"
    r"|(?<!neg)(?:^|[^a-z])(?:ter|wer|cer|mse|mae|rmse|err|errors?|bits_per_char|bpc|ece|hter|mape"
    r"|edit[-_ ]?distance|kl[-_ ]?div(?:ergence)?)(?:[-_ ]rate)?"
    r"(?:[-_ ]norm|[-_ ]at[-_ ]?\d+|@\d+)?$",
    re.IGNORECASE,
)


def check_finite(table: pd.DataFrame) -> None:
    """Raise InputError with its file if a score is not a number, such as an infinite perplexity."""
    for score, problem in table.attrs.get("not_finite", {}).items():
        if score in {*table[["task", "metric"]].itertuples(index=False, name=None)}:
            raise InputError(f"{problem}; expected a number")
    if (
        infinite := np.isinf(table["value"].astype(float))
    ).any():  # a missing score is a checkpoint that a seed lacks
        row = table[infinite].iloc[0]
        raise InputError(f"{row['metric']} of {row['task']} is {row['value']}; expected a number")


def with_chances(table: pd.DataFrame, chances: Mapping[str, float], place: str) -> pd.DataFrame:
    """Return the table ``evaluations`` with the chance of one lucky guess, where it is told.

    Parameters
    ----------
    chances
        {task, or a pattern of tasks' names such as ``mmlu_*``: in [0, 1]}; a task's own name goes before
        patterns, and of these the first that fits.
    place
        The place of these settings, for messages.

    Raises
    ------
    InputError
        If there is no such task, or a pattern has no effect.
    """
    tasks = sorted(set(table["task"]))
    chance_of_task: dict[str, float] = {}
    fitting_patterns: dict[str, set[str]] = {}
    for name in sorted(chances, key=lambda name: name not in tasks):
        fitting = _fitting(name, tasks, f"{place}.{name}'")
        for pattern, covered in fitting_patterns.items():
            if covered >= {*fitting} and chances[pattern] != chances[name]:
                raise InputError(
                    f"{place}.{name}' has no effect, because the earlier pattern '{pattern}' fits the same "
                    "tasks; expected narrow patterns before wide ones"
                )
        if name not in tasks:
            fitting_patterns[name] = {*fitting}
        chance_of_task = dict.fromkeys(fitting, chances[name]) | chance_of_task
    chance = table["task"].map(chance_of_task).astype(float)
    if notes := in_percent(table[chance.notna()]):
        raise InputError(f"{place}': {notes[0]}")
    return table.assign(chance=chance)


def in_percent(table: pd.DataFrame) -> list[str]:
    """Return what people should know of accuracies in the table ``evaluations`` that are no shares."""
    accuracies = table[table["metric"].str.contains(ACCURACY)]
    notes = []
    for (task, metric), rows in accuracies.groupby(["task", "metric"], sort=False):
        if (largest := rows["value"].max()) > 1:
            notes.append(f"{metric} of {task} is up to {largest:g}: expected a share from 0 to 1 (per cent?)")
        elif (smallest := rows["value"].min()) < 0:
            notes.append(f"{metric} of {task} is down to {smallest:g}: expected a share from 0 to 1")
    return notes


def with_groups(table: pd.DataFrame, groups: Mapping[str, str], place: str) -> pd.DataFrame:
    """Return the table ``evaluations`` with groups of tasks as tasks of their own, in place of theirs.

    A group has the metrics that all of its tasks have, with the same direction. Its value is the mean over
    the examples of its tasks, where of all of them it is known how many there are, else the mean over tasks;
    its standard error follows from theirs.

    Parameters
    ----------
    groups
        {name: the pattern of its tasks' names}.
    place
        The place of these settings, for messages.

    Raises
    ------
    InputError
        If no task fits, or a group has a task's name, or its tasks have no metric in common, or an evaluation
        lacks some of them.
    """
    # what a file says is the mean of others does not count beside these
    tasks = sorted(set(table["task"]) - table.attrs.get("grouped", set()))
    parts, grouped = [], set()
    for name, pattern in groups.items():
        if name in set(table["task"]):
            raise InputError(f"{place}.{name}' has the name of a task; use another")
        members = _fitting(pattern, tasks, f"{place}.{name}'")
        grouped |= {*members}
        parts.append(_group(table[table["task"].isin(members)], name, members, place))
    ungrouped = table[~table["task"].isin(grouped)]
    return pd.concat([ungrouped, *parts], ignore_index=True)


def _group(table: pd.DataFrame, name: str, members: list[str], place: str) -> pd.DataFrame:
    """Return the rows of one group."""
    of_tasks = table.groupby("metric", sort=False).agg({"task": "nunique", "lower_is_better": "nunique"})
    common = of_tasks.index[(of_tasks["task"] == len(members)) & (of_tasks["lower_is_better"] == 1)]
    if common.empty:
        raise InputError(f"{place}.{name}': its tasks have no metric in common; use other tasks")
    table = table[table["metric"].isin(common)]
    # an accuracy of 0 or 1 does not say of how many examples it is, and others of the task do
    counts = table["examples"].where(table["examples"] > 0)
    for names in (["model", "shots", "task", "metric"], ["task", "metric"]):
        of_rows = counts.groupby([table[column] for column in names])
        counts = counts.fillna(of_rows.transform("max").where(of_rows.transform("nunique") == 1))
    # if a checkpoint that all seeds have lacks a number, no checkpoint of the series is weighted by numbers
    series = [table[column] for column in ("model", "shots", "metric")]
    seeds_here = table.groupby(["model", "shots", "metric", "checkpoint"])["seed"].transform("nunique")
    left_out = seeds_here < table.groupby(["model", "shots", "metric"])["seed"].transform("nunique")
    counts = counts.where((counts.notna() | left_out).groupby(series).transform("all")).fillna(-1)
    rows = []
    keys = ["model", "seed", "checkpoint", "shots", "metric"]
    for key, member_rows in table.assign(examples=counts).groupby(keys, sort=False):
        if lacking := sorted({*members} - {*member_rows["task"]}):
            model, seed, checkpoint, shots, metric = key
            raise InputError(
                f"{place}.{name}': {metric} of {lacking[0]} lacks for {model}, seed {seed}, step "
                f"{checkpoint}, {shots} shots; expected a pattern of tasks that all evaluations have"
            )
        all_counted = bool((member_rows["examples"] > 0).all())
        weights = member_rows["examples"].to_numpy(dtype=float) if all_counted else np.ones(len(member_rows))
        weights = weights / weights.sum()
        line = {
            "task": name,
            "value": float(weights @ member_rows["value"]),
            "error": float(np.sqrt((weights**2) @ member_rows["error"].to_numpy() ** 2)),
            "bootstrap": np.nan,
            "examples": int(member_rows["examples"].sum()) if all_counted else -1,
            "prompts": 1,
            "chance": float(weights @ member_rows["chance"]),
            "lower_is_better": bool(member_rows["lower_is_better"].iloc[0]),
        }
        rows.append(dict(zip(keys, key, strict=True)) | line)
    return pd.DataFrame(rows, columns=[*EVALUATIONS.columns])


def _fitting(pattern: str, tasks: list[str], place: str) -> list[str]:
    """Return the tasks that a pattern fits, at least one."""
    matches = [task for task in tasks if task == pattern or fnmatchcase(task, pattern)]
    if not matches:
        raise InputError(f"{place} is '{pattern}', and no task fits; {nearest(pattern, tasks)}")
    return matches
