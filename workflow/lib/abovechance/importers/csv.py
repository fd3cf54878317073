"""A plain CSV: a row per prompt and example.

Columns: ``example`` and ``correct`` (0 or 1); as far as they are there ``prompt``, ``model``,
``task``, ``shots``, and ``choices`` (a number) or ``chance``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from abovechance.core.errors import InputError, nearest
from abovechance.core.reading import read_csv_texts
from abovechance.importers.contract import Options, Run, files_below

LOOKS_LIKE = "a CSV with the columns example and correct, and prompt, model, task, shots, choices or chance"
NEEDED = ("example", "correct")
KNOWN = (*NEEDED, "prompt", "model", "task", "shots", "choices", "chance")
TRUTH = {"1": True, "true": True, "1.0": True, "0": False, "false": False, "0.0": False}


def find(path: Path) -> list[Path]:
    """The CSV file, or the CSV files of a folder."""
    return files_below(path, "*.csv")


def read(path: Path, options: Options) -> Iterator[Run]:  # noqa: ARG001
    """One run for each model, task and number of shots."""
    table = read_csv_texts(path)
    for column in table.columns:
        if column not in KNOWN:
            raise InputError(f"{path}: column '{column}' is unknown; {nearest(column, KNOWN)}")
    for column in NEEDED:
        if column not in table:
            raise InputError(f"{path}: lacks the column '{column}'; right would be {LOOKS_LIKE}")
    rows = pd.DataFrame({"example": table["example"], "correct": _truth(table["correct"], path)})
    rows = rows.assign(predicted=-1, tie=False, chance=_chance(table, path))
    keys = {
        "model": table.get("model", "model"),
        "task": table.get("task", path.stem),
        "shots": _numbers(table, "shots", path, 0, float("inf")) if "shots" in table else 0,
    }
    if "prompt" in table:
        rows["prompt"] = table["prompt"]
    by = [pd.Series(value, index=rows.index, name=name) for name, value in keys.items()]
    for key, group in rows.groupby(by, sort=False):
        model, task, shots = map(str, key)
        yield Run(str(path), model, task, int(float(shots)), group.reset_index(drop=True))


def _truth(values: pd.Series, path: Path) -> pd.Series:
    found = values.str.strip().str.lower().map(TRUTH)
    if found.isna().any():
        row = int(found.isna().to_numpy().argmax())
        raise InputError(f"{path}, row {row + 2}: correct is '{values.iloc[row]}'; right would be 0 or 1")
    return found.astype(bool)


def _chance(table: pd.DataFrame, path: Path) -> pd.Series | float:
    if "chance" in table:
        return _numbers(table, "chance", path, 0, 1)
    if "choices" in table:
        return 1 / _numbers(table, "choices", path, 1, float("inf"))
    return float("nan")


def _numbers(table: pd.DataFrame, column: str, path: Path, low: float, high: float) -> pd.Series:
    values = pd.to_numeric(table[column], errors="coerce")
    wrong = ~values.between(low, high)
    if wrong.any():
        row = int(wrong.to_numpy().argmax())
        bound = f"between {low} and {high}" if high < float("inf") else f"at least {low}"
        raise InputError(
            f"{path}, row {row + 2}: {column} is '{table[column].iloc[row]}'; right would be a number {bound}"
        )
    return values
