"""A plain CSV: a row per prompt and example.

Columns: ``example`` and ``correct`` (0 or 1); as far as they are there ``prompt``, ``model``,
``task``, ``shots``, and ``choices`` (a number) or ``chance``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pandas as pd

from abovechance.core.errors import InputError, nearest
from abovechance.core.files import files_below
from abovechance.core.reading import heading, number, read_csv_texts, whole
from abovechance.importers.contract import Options, Run
from abovechance.results.predictions import UNKNOWN

TOOL = "a plain CSV file"
OPTIONS = ()
LOOKS_LIKE = "a CSV with the columns example and correct, and prompt, model, task, shots, choices or chance"
NEEDED = ("example", "correct")
KNOWN = (*NEEDED, "prompt", "model", "task", "shots", "choices", "chance")
TRUTH = {"1": True, "true": True, "1.0": True, "0": False, "false": False, "0.0": False}


def find(path: Path) -> list[Path]:
    """Return the CSV file, or those files of a folder whose headings have the columns that are needed."""
    files = files_below(path, "*.csv")
    return files if path.is_file() else [file for file in files if set(NEEDED) <= set(heading(file))]


def unread_files(folder: Path) -> list[Path]:
    """Return the CSV files of a folder that are not read: they are something else."""
    return [file for file in files_below(folder, "*.csv") if not set(NEEDED) <= set(heading(file))]


def read(path: Path, options: Options) -> Iterator[Run]:
    """One run for each model, task and number of shots.

    A file that names no task is a task of its own, called by the file; where each file is a prompt, all such
    files are one task.
    """
    table = _checked(path)
    rows = pd.DataFrame({"example": table["example"], "correct": _values(table, "correct", path)})
    rows = rows.assign(predicted=UNKNOWN, tie=False, chance=_chance(table, path))
    # files of prompts, and of models to compare, are about the same task
    one_task = options.each_file or options.command == "compare"
    keys = {
        "model": table.get("model", "model"),
        "task": table.get("task", "task" if one_task else path.stem),
        "shots": _values(table, "shots", path) if "shots" in table else 0,
    }
    if "prompt" in table:
        rows["prompt"] = table["prompt"]
    notes = []
    if "task" not in table and not one_task:
        notes.append(f"{path.name}: has no column task; its task is called '{path.stem}'")
    by = [pd.Series(value, index=rows.index, name=name) for name, value in keys.items()]
    for (model, task, shots), group in rows.groupby(by, sort=False):
        yield Run(
            str(path),
            str(model),
            str(task),
            int(str(shots)),
            group.reset_index(drop=True),
            notes,
            metric="correct",
        )


def _checked(path: Path) -> pd.DataFrame:
    """The file's rows, their names without blanks around them; InputError with what is wrong in them."""
    table = read_csv_texts(path)
    if not {*NEEDED} & {*table}:
        raise InputError(
            f"{path}: lacks the columns {' and '.join(NEEDED)}; expected {LOOKS_LIKE}; or, for best scores, "
            "best_accuracy, examples, choices or chance, and prompts"
        )
    for column in table.columns:
        if column not in KNOWN:
            raise InputError(f"{path}: column '{column}' is unknown; {nearest(column, KNOWN)}")
    for column in NEEDED:
        if column not in table:
            raise InputError(f"{path}: lacks the column '{column}'; expected {LOOKS_LIKE}")
    for column in ("example", "prompt", "model", "task"):
        if column in table:
            table[column] = table[column].str.strip()
            if (empty := table[column] == "").any():
                raise InputError(f"{path}, row {table.index[empty][0]}: {column} is empty")
    return table


def _truth(text: str) -> bool | None:
    return TRUTH.get(text.strip().lower())


def _probability(text: str) -> float | None:
    value = number(text)
    return value if value is not None and 0 < value <= 1 else None


def _count(least: int) -> Callable[[str], int | None]:
    def count(text: str) -> int | None:
        value = whole(text)
        return value if value is not None and value >= least else None

    return count


# {column: how a field of it is read, and what would be right}
FIELDS: Mapping[str, tuple[Callable[[str], object], str]] = {
    "correct": (_truth, "0 or 1"),
    "chance": (_probability, "a number above 0, at most 1"),
    "choices": (_count(1), "a whole number, at least 1"),
    "shots": (_count(0), "a whole number, at least 0"),
}


def _values(table: pd.DataFrame, column: str, path: Path) -> list[object]:
    """Return the values of a column; InputError with the row of the first that is none."""
    reading, expected = FIELDS[column]
    values = [reading(text) for text in table[column]]
    if None in values:
        row, text = table.index[values.index(None)], table[column].iloc[values.index(None)]
        raise InputError(f"{path}, row {row}: {column} is '{text}'; expected {expected}")
    return values


def _chance(table: pd.DataFrame, path: Path) -> pd.Series | float:
    if {"chance", "choices"} <= set(table.columns):
        raise InputError(f"{path}: has the columns chance and choices; expected one of them")
    if "chance" in table:
        return pd.Series(_values(table, "chance", path), index=table.index, dtype="float64")
    if "choices" in table:
        return 1 / pd.Series(_values(table, "choices", path), index=table.index, dtype="float64")
    return float("nan")
