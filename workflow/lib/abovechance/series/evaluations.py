"""Evaluations at many checkpoints; those that others ran, as lm-evaluation-harness writes them."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from abovechance.core.errors import InputError, nearest
from abovechance.core.files import files_below
from abovechance.core.reading import parse_json
from abovechance.core.tables import TableSchema

EVALUATIONS = TableSchema(
    "evaluations",
    {
        "model": pa.string(),
        "seed": pa.int64(),
        "checkpoint": pa.int64(),
        "shots": pa.int64(),
        "task": pa.string(),
        "metric": pa.string(),
        "value": pa.float64(),
        "error": pa.float64(),
        "bootstrap": pa.float64(),
        "examples": pa.int64(),
        "prompts": pa.int64(),
        "chance": pa.float64(),
        "loss": pa.bool_(),
    },
)
BEST = "best_accuracy"  # of several prompts
# Metrics of which less is better, where a file does not say it.
LOSSES = re.compile(r"(ppl|perplexity|loss|nll|bits_per_byte|brier|(^|_)ter$|wer$|cer$)")
SEED = re.compile(r"[-_]?seed[-_]?(\d+)", re.IGNORECASE)
STEP = re.compile(r"[-_/]?(?:step|checkpoint|ckpt)[-_]?(\d+)", re.IGNORECASE)
LOOKS_LIKE = "a .json of lm-evaluation-harness with results of all examples, or a folder or zip file of such"


def read_evaluations(paths: list[Path]) -> pd.DataFrame:
    """The table ``evaluations`` of files, folders and zip files.

    Returns
    -------
    DataFrame
        One row for each model, seed, checkpoint, task and metric: ``model``, without its seed; ``seed``, 0
        where the name has none; ``checkpoint``, the step that the revision says, or else the file's name, or
        the model's, or the folder's; 0 where of a model nothing says a step; ``shots``; ``task``; ``metric``;
        its ``value``; its standard ``error``, where it is told; ``bootstrap``, missing; ``examples``, as the
        file says, or worked out where value and error are those of right and wrong answers, else -1;
        ``prompts``, 1; ``chance``, missing, see ``with_chances``; ``loss``, whether less is better.

    Raises
    ------
    InputError
        With the file that is no such result, or says two checkpoints, or none where others of its model say
        one; or where two files are of the same.
    """
    rows: list[dict[str, Any]] = []
    homes: dict[tuple[Any, ...], str] = {}
    silent: dict[str, str] = {}  # where a model's files say no step, and where they say one
    stepped: dict[str, str] = {}
    for where, content in _files(paths):
        for row in _rows(content, where):
            if row["checkpoint"] is None:
                silent.setdefault(row["model"], where)
                row["checkpoint"] = 0
            else:
                stepped.setdefault(row["model"], where)
            key = tuple(row[name] for name in ("model", "seed", "checkpoint", "shots", "task", "metric"))
            if key in homes:
                raise InputError(
                    f"{where}: has {row['metric']} of {row['task']} for {row['model']}, seed {row['seed']}, "
                    f"step {row['checkpoint']}, and so has {homes[key]}; right would be one of them"
                )
            homes[key] = where
            rows.append(row)
    if not rows:
        raise InputError(f"{paths[0]}: has no results; right would be {LOOKS_LIKE}")
    for model in silent.keys() & stepped.keys():
        raise InputError(
            f"{silent[model]}: nothing says which step of {model} it is of, and {stepped[model]} says one; "
            "right would be a step in the file's name, such as step1000.json"
        )
    return pd.DataFrame(rows, columns=[*EVALUATIONS.columns])


def with_chances(table: pd.DataFrame, chances: Mapping[str, float], where: str) -> pd.DataFrame:
    """The table ``evaluations`` with the chance of one lucky guess, where it is told.

    Parameters
    ----------
    chances
        {task, or a pattern of tasks' names such as ``mmlu_*``: in [0, 1]}; a task's own name goes before
        patterns, and of these the first that fits.
    where
        What says so, for messages.

    Raises
    ------
    InputError
        If there is no such task.
    """
    tasks = sorted(set(table["task"]))
    found: dict[str, float] = {}
    for name in sorted(chances, key=lambda name: name not in tasks):
        for task in _fitting(name, tasks, f"{where}.{name}'"):
            found.setdefault(task, chances[name])
    return table.assign(chance=table["task"].map(found).astype(float))


def with_groups(table: pd.DataFrame, groups: Mapping[str, str], where: str) -> pd.DataFrame:
    """The table ``evaluations`` with groups of tasks as tasks of their own, in place of theirs.

    A group has the metrics that all of its tasks have. Its value is the mean over the examples of its tasks,
    where of all of them it is known how many there are, else the mean over tasks; its standard error follows
    from theirs.

    Parameters
    ----------
    groups
        {name: the pattern of its tasks' names}.
    where
        What says so, for messages.

    Raises
    ------
    InputError
        If no task fits, or a group has a task's name, or its tasks have no metric in common, or an evaluation
        lacks some of them.
    """
    tasks = sorted(set(table["task"]))
    parts, grouped = [], set()
    for name, pattern in groups.items():
        if name in tasks:
            raise InputError(f"{where}.{name}' has the name of a task; right would be another")
        members = _fitting(pattern, tasks, f"{where}.{name}'")
        grouped |= {*members}
        parts.append(_group(table[table["task"].isin(members)], name, members, where))
    left = table[~table["task"].isin(grouped)]
    return pd.concat([left, *parts], ignore_index=True)


def _group(table: pd.DataFrame, name: str, members: list[str], where: str) -> pd.DataFrame:
    """The rows of one group."""
    of_tasks = table.groupby("metric", sort=False)["task"].nunique()
    common = of_tasks.index[of_tasks == len(members)]
    if common.empty:
        raise InputError(f"{where}.{name}': its tasks have no metric in common; right would be other tasks")
    table = table[table["metric"].isin(common)]
    # an accuracy of 0 or 1 does not say of how many examples it is, and others of the task do
    counts = table["examples"].groupby([table["task"], table["metric"]]).transform("max")
    rows = []
    keys = ["model", "seed", "checkpoint", "shots", "metric"]
    for key, own in table.assign(examples=counts).groupby(keys, sort=False):
        if lacking := sorted({*members} - {*own["task"]}):
            model, seed, checkpoint, shots, metric = key
            raise InputError(
                f"{where}.{name}': {metric} of {lacking[0]} lacks for {model}, seed {seed}, step "
                f"{checkpoint}, {shots} shots; right would be a pattern of tasks that all evaluations have"
            )
        known = bool((own["examples"] > 0).all())
        weights = own["examples"].to_numpy(dtype=float) if known else np.ones(len(own))
        weights /= weights.sum()
        line = {
            "task": name,
            "value": float(weights @ own["value"]),
            "error": float(np.sqrt((weights**2) @ own["error"].to_numpy() ** 2)),
            "bootstrap": np.nan,
            "examples": int(own["examples"].sum()) if known else -1,
            "prompts": 1,
            "chance": float(weights @ own["chance"]),
            "loss": bool(own["loss"].iloc[0]),
        }
        rows.append(dict(zip(keys, key, strict=True)) | line)
    return pd.DataFrame(rows, columns=[*EVALUATIONS.columns])


def _fitting(pattern: str, tasks: list[str], where: str) -> list[str]:
    """The tasks that a pattern fits, at least one."""
    found = [task for task in tasks if task == pattern or fnmatchcase(task, pattern)]
    if not found:
        raise InputError(f"{where} is '{pattern}', and no task fits; {nearest(pattern, tasks)}")
    return found


def _files(paths: list[Path]) -> Iterator[tuple[str, Any]]:
    """(where, its content) of all JSON files that are results."""
    for path in paths:
        if not path.exists():
            raise InputError(f"{path}: there is no such file or folder")
        named: Iterator[tuple[str, bytes]]
        if path.is_dir():
            named = ((str(file), file.read_bytes()) for file in files_below(path, ".json"))
        elif zipfile.is_zipfile(path):
            named = _of_zip(path)
        else:
            named = iter([(str(path), path.read_bytes())])
        for where, content in named:
            try:
                found = parse_json(content.decode(), where)
            except UnicodeDecodeError:
                raise InputError(f"{where}: is no text in UTF-8") from None
            if isinstance(found, Mapping) and isinstance(found.get("results"), Mapping):
                yield where, found
            elif path.is_file() and not zipfile.is_zipfile(path):
                raise InputError(f"{where}: has no results; right would be {LOOKS_LIKE}")


def _of_zip(path: Path) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(path) as file:
        for name in sorted(file.namelist()):
            if name.endswith(".json"):
                yield f"{path}/{name}", file.read(name)


def _rows(content: Mapping[str, Any], where: str) -> Iterator[dict[str, Any]]:
    """The rows of one file."""
    config = content.get("config") or {}
    arguments = _arguments(config.get("model_args"))
    name = str(arguments.get("pretrained") or content.get("model_name") or config.get("model") or "model")
    step, name = _checkpoint(str(arguments.get("revision", "")), name, where)
    seed = SEED.search(name)
    of = {
        "model": SEED.sub("", name) if seed else name,
        "seed": int(seed[1]) if seed else 0,
        "checkpoint": step,
    }
    for task, metrics in content["results"].items():
        shots = (content.get("n-shot") or {}).get(task, config.get("num_fewshot"))
        counted = (content.get("n-samples") or {}).get(task) or {}
        higher = (content.get("higher_is_better") or {}).get(task) or {}
        for key, value in metrics.items():
            metric, _, kind = str(key).partition(",")
            numeric = isinstance(value, int | float) and not isinstance(value, bool)
            if metric.endswith("_stderr") or not numeric or metric in ("alias", "sample_len"):
                continue
            error = metrics.get(f"{metric}_stderr,{kind}" if kind else f"{metric}_stderr")
            error = float(error) if isinstance(error, int | float) else np.nan
            examples = counted.get("effective") or _examples(float(value), error)
            loss = not higher[metric] if metric in higher else bool(LOSSES.search(metric))
            named = metric if kind in ("", "none") else key
            yield of | {
                "shots": int(shots) if isinstance(shots, int) else 0,
                "task": str(task),
                "metric": str(named),
                "value": float(value),
                "error": error,
                "bootstrap": np.nan,
                "examples": int(examples),
                "prompts": 1,
                "chance": np.nan,
                "loss": loss,
            }


def _arguments(given: Any) -> dict[str, str]:
    """What a model was loaded with, given as ``key=value,key=value`` or as keys."""
    if isinstance(given, Mapping):
        return {str(key): str(value) for key, value in given.items()}
    parts = (part.partition("=") for part in str(given or "").split(","))
    return {key.strip(): value.strip() for key, _, value in parts if value}


def _checkpoint(revision: str, model: str, where: str) -> tuple[int | None, str]:
    """The step that a revision and the file's name say, or else the model's name or the folder's; and the
    model's name without it."""
    told, named = STEP.search(revision), STEP.search(PurePosixPath(where).name)
    if told and named and int(told[1]) != int(named[1]):
        raise InputError(
            f"{where}: its name says step {named[1]}, and what it was run with '{revision}'; right would be "
            "the same"
        )
    if found := told or named:
        return int(found[1]), model
    if found := STEP.search(model):
        return int(found[1]), STEP.sub("", model)
    found = STEP.search(PurePosixPath(where).parent.name)
    return (int(found[1]) if found else None), model


def _examples(value: float, error: float) -> int:
    """How many examples an accuracy is of, by its standard error sqrt(p (1 - p) / (n - 1)); -1 where none.

    What comes out is tried: it is a whole number, and so is the number of right answers.
    """
    if not (0 < value < 1 and error > 0):
        return -1
    count = value * (1 - value) / error**2 + 1
    near = round(count)
    whole = abs(count - near) <= 1e-6 * near and abs(value * near - round(value * near)) <= 1e-6 * near
    return near if whole else -1
