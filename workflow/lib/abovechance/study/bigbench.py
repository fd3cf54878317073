"""Tasks of BIG-bench, read from its files and formatted as it formats them."""

from __future__ import annotations

import json
import tarfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from abovechance.core.errors import InputError
from abovechance.core.reading import as_written_by, parse_json
from abovechance.study.clusters import passages
from abovechance.study.task_sources import check_bigbench_name
from abovechance.study.tasks import as_table


def read_bigbench(source: Path, task: str) -> pd.DataFrame:
    """Return a BIG-bench task as a table; see ``read_bigbench_tasks``."""
    return read_bigbench_tasks(source, [task])[task]


def read_bigbench_tasks(source: Path, tasks: Iterable[str]) -> dict[str, pd.DataFrame]:
    """BIG-bench tasks as tables, their texts formatted as BIG-bench formats them zero-shot.

    Parameters
    ----------
    source
        The sdist of the PyPI package ``bigbench``, which is read through once, or the folder of
        a BIG-bench checkout. Only ``task.json`` files are read; nothing of the package is run.
    tasks
        The tasks' folder names.

    Returns
    -------
    dict
        {task: its table ``tasks``}, in the order given.
    """
    tasks = list(tasks)
    for task in tasks:
        check_bigbench_name(task, str(source))
    try:
        task_tables = dict(
            _task_files_in_folder(source, tasks) if source.is_dir() else _task_files_in_sdist(source, tasks)
        )
    except (tarfile.TarError, zlib.error, EOFError, OSError) as error:
        raise InputError(f"{source}: cannot be read as a tar archive or folder: {error}") from None
    return {task: _bigbench_table(source, task, task_tables) for task in tasks}


def _bigbench_table(source: Path, task: str, texts: Mapping[tuple[str, str], bytes]) -> pd.DataFrame:
    if (task, "") not in texts:
        raise InputError(f"{source}: has no bigbench/benchmark_tasks/{task}/task.json")
    place = f"{source}, task '{task}'"
    with as_written_by("BIG-bench", place):
        root = parse_json(texts[task, ""], place)
        if "examples" in root:
            return _with_passages(_format_bigbench(root, prefix=""))
    # BIG-bench sorts the subtasks by the paths of their files.
    subtasks = sorted(
        (subtask for name, subtask in texts if name == task and subtask), key="{}/task.json".format
    )
    rows: list[Mapping[str, Any]] = []
    for subtask in subtasks:
        with as_written_by("BIG-bench", f"{place}, subtask '{subtask}'"):
            parsed = parse_json(texts[task, subtask], f"{place}, subtask '{subtask}'")
            rows.extend(_format_bigbench(parsed, prefix=f"{subtask}/"))
    return _with_passages(rows)


def _with_passages(rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Return the table of BIG-bench examples, whose inputs show which belong together."""
    listed = list(rows)
    return as_table(listed, passages([row["input"] for row in listed]))


def _task_files_in_folder(folder: Path, tasks: list[str]) -> Iterator[tuple[tuple[str, str], bytes]]:
    """((task, subtask or ""), text) of each ``task.json`` of these tasks in a checkout."""
    for task in tasks:
        home = folder / "bigbench" / "benchmark_tasks" / task
        for path in [home / "task.json", *home.glob("*/task.json")]:
            if path.is_file():
                yield (task, "" if path.parent == home else path.parent.name), path.read_bytes()


def _task_files_in_sdist(archive: Path, tasks: list[str]) -> Iterator[tuple[tuple[str, str], bytes]]:
    """((task, subtask or ""), text) of each ``task.json`` of these tasks in a tar archive."""
    with tarfile.open(archive) as members:
        for member in members:
            match member.name.split("/"):
                case [_, "bigbench", "benchmark_tasks", task, *between, "task.json"] if (
                    task in tasks and len(between) <= 1
                ):
                    content = members.extractfile(member)
                    assert content is not None  # a task.json is a plain file
                    yield (task, "".join(between)), content.read()


def _format_bigbench(task: Mapping[str, Any], prefix: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of one ``task.json`` without subtasks, as BIG-bench's JsonTask formats them.

    The documented defaults of BIG-bench apply to keys that are left out. The correct
    choices are those with the highest target score; partial credit is not correct.
    """
    task_prefix = str(task.get("task_prefix", ""))
    input_prefix = task.get("example_input_prefix", "\nQ: ")
    output_prefix = task.get("example_output_prefix", "\nA: ")
    choice_prefix = task.get("choice_prefix", "\n  choice: ")
    appends_choices = task.get("append_choices_to_input", True)
    # A dictionary keeps its order: exact duplicates go, the first of each stays in place.
    distinct = {json.dumps(example): example for example in task["examples"]}
    for index, example in enumerate(distinct.values()):
        scores = example["target_scores"]
        listed = ""
        if appends_choices:
            order = np.random.RandomState(42).permutation(len(scores))
            ordered = sorted(scores)
            listed = choice_prefix + choice_prefix.join(ordered[i] for i in order)
        yield {
            "input": example["input"],
            "example": f"{prefix}{index}",
            "text": task_prefix + input_prefix + example["input"] + listed + output_prefix,
            "bare": task_prefix + input_prefix + example["input"] + output_prefix,
            "choices": list(scores),
            "correct": [score == max(scores.values()) for score in scores.values()],
            "null": output_prefix,
        }
