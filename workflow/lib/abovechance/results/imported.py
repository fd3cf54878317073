"""Results that come from elsewhere, as `abovechance import` writes them and a study starts from them.

One file has the predictions and, where the results had them, the log-likelihoods of the choices.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from abovechance.core.columns import Column
from abovechance.core.errors import InputError
from abovechance.core.settings import SETTING, Setting, by_setting
from abovechance.core.tables import TableSchema, read_made_from
from abovechance.results.likelihoods import OF_CHOICES
from abovechance.results.predictions import PREDICTIONS
from abovechance.study.tasks import TASKS

CHOICES = {"choices": Column.text("text of each choice, without blanks around it").several()}
IMPORTED = TableSchema(
    "imported",
    {**PREDICTIONS.columns, **OF_CHOICES, **CHOICES},
    "One row per prompt and example. A list has one entry per choice. It is missing if the log does not "
    "report its values.",
    file="output of `abovechance import`",
)


def as_imported(rows: pd.DataFrame) -> pd.DataFrame:
    """Predictions with all columns of ``IMPORTED``, those of choices empty where there are none."""
    lacking = {name: None for name in (*OF_CHOICES, *CHOICES) if name not in rows}
    return rows.assign(**lacking)[list(IMPORTED.columns)]


def read_imported(path: Path) -> Iterator[pd.DataFrame]:
    """Yield the rows of one setting after another, with the columns of ``IMPORTED``.

    Raises
    ------
    InputError
        With its row where a value is missing or cannot be, or if a setting's rows do not lie together.
    """
    settings: set[Setting] = set()
    waiting: list[tuple[Setting, pd.DataFrame]] = []  # parts of one setting
    row = 0
    with pq.ParquetFile(path) as file:
        for number in range(file.num_row_groups):
            try:
                part = as_imported(file.read_row_group(number).to_pandas())
            except (pa.ArrowException, UnicodeDecodeError, OSError) as error:
                raise InputError(f"{path}, part {number}: cannot be read: {error}") from None
            _check(part, path, row)
            row += len(part)
            for setting, rows in by_setting(part):
                if waiting and waiting[0][0] != setting:
                    yield _joined(waiting, path)
                    waiting = []
                if not waiting and setting in settings:
                    raise InputError(f"{path}: the rows of {setting.words} do not lie together")
                settings.add(setting)
                waiting.append((setting, rows))
    if waiting:
        yield _joined(waiting, path)


def _check(part: pd.DataFrame, path: Path, before: int) -> None:
    """Raise InputError with the row of the first value that is missing or cannot be.

    Parameters
    ----------
    before
        Number of rows of the file before this part.
    """
    chance = pd.to_numeric(part["chance"], errors="coerce")
    wrong = {name: part[name].isna() for name in PREDICTIONS.columns}
    wrong["chance"] |= ~chance.between(0, 1)
    wrong["shots"] |= pd.to_numeric(part["shots"], errors="coerce") < 0
    for name, rows in wrong.items():
        if rows.any():
            place = int(rows.to_numpy().argmax())
            value = "missing" if pd.isna(part[name].iloc[place]) else part[name].iloc[place]
            raise InputError(
                f"{path}, row {before + place}: {name} is {value}; expected a file of `abovechance import`"
            )


def _joined(parts: list[tuple[Setting, pd.DataFrame]], path: Path) -> pd.DataFrame:
    """Return all rows of a setting; InputError if a prompt has an example twice."""
    tables = [rows for _, rows in parts]
    table = tables[0] if len(tables) == 1 else pd.concat(tables, ignore_index=True)
    if (twice := table.duplicated(["prompt", "example"])).any():
        prompt, example = table.loc[twice, ["prompt", "example"]].iloc[0]
        raise InputError(f"{path}: {parts[0][0].words}: prompt {prompt} has the example '{example}' twice")
    return table


def imported_tasks(settings: Iterable[pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """{task: its examples as the table ``tasks``}, as far as the results have the texts of the choices.

    Inputs are not known, so texts are empty, and each example is a cluster.

    Parameters
    ----------
    settings
        The rows of one setting after another, with the columns of ``IMPORTED``.
    """
    parts: dict[str, list[pd.DataFrame]] = {}
    for rows in settings:
        with_texts = rows[rows["choices"].notna() & rows["right"].notna()]
        examples = with_texts.drop_duplicates("example")[["task", "example", "choices", "right"]]
        parts.setdefault(str(rows["task"].iloc[0]), []).append(examples)
    tables = {}
    for name, tables_of_task in parts.items():
        examples = pd.concat(tables_of_task).drop_duplicates("example").reset_index(drop=True)
        examples = examples.rename(columns={"right": "correct"}).drop(columns="task")
        texts = dict.fromkeys(("input", "text", "bare", "null", "end"), "")
        tables[name] = examples.assign(
            example=examples["example"].astype(str),
            labels=examples["choices"],
            cluster=range(len(examples)),
            annotations=None,
            **texts,
        )[[*TASKS.columns]]
    return tables


def has_choices(path: Path) -> bool:
    """Return whether an imported table has the texts of choices."""
    with pq.ParquetFile(path) as file:
        return "choices" in file.schema_arrow.names and any(
            _has_values(file, part) for part in range(file.num_row_groups)
        )


def _has_values(file: pq.ParquetFile, part: int) -> bool:
    return bool(
        file.read_row_group(part, columns=["choices"])["choices"].null_count
        < file.metadata.row_group(part).num_rows
    )


def settings_in(path: Path) -> tuple[list[str], list[str], list[int]]:
    """Return the models, tasks and numbers of shots of an imported table, in the order of its rows.

    Only columns' statistics are read where each part of the file is of one setting.

    Raises
    ------
    InputError
        If the file is no such table.
    """
    try:
        with pq.ParquetFile(path) as file:
            _check_columns(file.schema_arrow, path)
            names: list[dict[Any, None]] = [{} for _ in SETTING]
            for part in range(file.num_row_groups):
                for values, column in zip(names, SETTING, strict=True):
                    values.update(dict.fromkeys(_values(file, part, column)))
    except (pa.ArrowException, UnicodeDecodeError, OSError) as error:
        raise InputError(f"{path}: cannot be read as Parquet: {error}") from None
    models, tasks, shots = map(list, names)
    if not models:
        raise InputError(f"{path}: has no rows")
    return models, tasks, shots


def _check_columns(schema: pa.Schema, path: Path) -> None:
    """Raise InputError unless a file has the columns of predictions, each of its type."""
    expected = "expected a file of `abovechance import`"
    if missing := set(PREDICTIONS.columns) - set(schema.names):
        raise InputError(
            f"{path}: is not a table of predictions: it lacks {', '.join(sorted(missing))}; {expected}"
        )
    for field in PREDICTIONS.arrow:
        stored = schema.field(field.name).type
        if _kind(stored) != _kind(field.type):
            raise InputError(f"{path}: its column '{field.name}' is {stored}, not {field.type}; {expected}")


def _kind(arrow: pa.DataType) -> str:
    """Return the kind of values of a type, without its number of bits."""
    if pa.types.is_dictionary(arrow):
        return _kind(arrow.value_type)
    kinds = {"integer": pa.types.is_integer, "floating": pa.types.is_floating, "boolean": pa.types.is_boolean}
    texts = pa.types.is_string(arrow) or pa.types.is_large_string(arrow)
    return "text" if texts else next((kind for kind, holds in kinds.items() if holds(arrow)), str(arrow))


def _values(file: pq.ParquetFile, part: int, column: str) -> list[Any]:
    """Return the different values of a column in one part of a file.

    They are read, because pyarrow ends the process if the statistics in a file are damaged.
    """
    return file.read_row_group(part, columns=[column])[column].unique().to_pylist()


def names_of_prompts(path: Path) -> dict[str, list[str]]:
    """Return {setting in words: the names of its prompts by their numbers} of imported predictions.

    They are in files of ``abovechance import``, and in those of studies that start from such a file.
    """
    made_from = read_made_from(path)
    kinds = (made_from.get(key) for key in ("prompts", "prompt_names"))
    names: dict[str, list[object]] = next((kind for kind in kinds if isinstance(kind, dict)), {})
    return {setting: [*map(str, of_setting)] for setting, of_setting in names.items()}


def metrics_of(path: Path) -> dict[str, str]:
    """Return {setting in words: the metric} of a file of ``abovechance import``; empty without metrics."""
    names = read_made_from(path).get("metrics")
    return {setting: str(name) for setting, name in names.items()} if isinstance(names, dict) else {}
