"""A plain CSV: a row per prompt and example.

Columns: ``example`` and ``correct`` (0 or 1); as far as they are there ``prompt``, ``model``,
``task``, ``shots``, and ``choices`` (a number) or ``chance``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from abovechance.core.csv_table import FLAG, SHARE, CsvTable, whole_number
from abovechance.core.errors import InputError
from abovechance.core.files import files_below
from abovechance.core.reading import heading
from abovechance.importers.contract import Options, Run
from abovechance.results.predictions import UNKNOWN

TOOL = "a plain CSV file"
OPTIONS = ()
LOOKS_LIKE = "a CSV with the columns example and correct, and prompt, model, task, shots, choices or chance"
OTHER_COLUMNS = (
    "Commands that read other columns: `abovechance check` (best_accuracy, examples, choices or chance, "
    "prompts), `abovechance compare` (model, accuracy, n), `abovechance best` (candidate, example, score)"
)
REMEDY = "leave it out, or use `abovechance chance`, which reads the columns gold and prediction"
NEEDED = ("example", "correct")
NO_TASK = "task"  # the name of the one task of files that name none
OPTIONAL = ("prompt", "model", "task", "shots", "choices", "chance")


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
    csv = _checked(path)
    table = csv.texts
    rows = pd.DataFrame({"example": table["example"], "correct": csv.values("correct", FLAG)})
    rows = rows.assign(predicted=UNKNOWN, tie=False, chance=_chance(csv))
    # files of prompts, and of models to compare, are about the same task
    one_task = options.each_file or options.command in ("compare", "doctor", "items")
    keys = {
        "model": table.get("model", "model"),
        "task": table.get("task", NO_TASK if one_task else path.stem),
        "shots": csv.values("shots", whole_number(0)) if "shots" in table else 0,
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


def _checked(path: Path) -> CsvTable:
    """The file's rows, their names without blanks around them; InputError with what is wrong in them."""
    table = CsvTable.read(path)
    columns = {str(name).lower() for name in table.texts}
    lacking = [name for name in NEEDED if name not in columns]
    if len(lacking) == len(NEEDED) or (lacking and columns & {"examples", "n", "prompts"}):
        noun = "columns" if len(lacking) > 1 else "column"
        raise InputError(
            f"{path}: lacks the {noun} {' and '.join(lacking)}; expected {LOOKS_LIKE}. {OTHER_COLUMNS}"
        )
    of_chance = {"gold", "prediction"} & {*table.texts}
    table.check_columns(NEEDED, OPTIONAL, LOOKS_LIKE, REMEDY if of_chance else "")
    return table.with_names("example", "prompt", "model", "task")


def _chance(table: CsvTable) -> pd.Series | float:
    """(rows,) the probability of a random guess; not a number if the file does not have it."""
    if {"chance", "choices"} <= {*table.texts}:
        raise InputError(f"{table.path}: has the columns chance and choices; expected one of them")
    if "chance" in table.texts:
        return pd.Series(table.values("chance", SHARE), index=table.texts.index)
    if "choices" in table.texts:
        return 1 / pd.Series(table.values("choices", whole_number(1)), index=table.texts.index)
    return float("nan")
