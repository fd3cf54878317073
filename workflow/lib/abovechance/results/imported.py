"""Results that come from elsewhere, as `abovechance import` writes them and a study starts from them.

One file has the predictions and, where the results had them, the log-likelihoods of the choices.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from abovechance.core.errors import InputError
from abovechance.core.settings import SETTING, Setting, by_setting
from abovechance.core.tables import TableSchema
from abovechance.results.likelihoods import OF_CHOICES
from abovechance.results.predictions import PREDICTIONS

IMPORTED = TableSchema("imported", {**PREDICTIONS.columns, **OF_CHOICES})


def as_imported(rows: pd.DataFrame) -> pd.DataFrame:
    """Predictions with all columns of ``IMPORTED``, those of choices empty where there are none."""
    lacking = {name: None for name in OF_CHOICES if name not in rows}
    return rows.assign(**lacking)[list(IMPORTED.columns)]


def read_imported(path: Path) -> Iterator[pd.DataFrame]:
    """The rows of one setting after another, with the columns of ``IMPORTED``.

    Raises
    ------
    InputError
        If a row has no setting, or a setting's rows do not lie together.
    """
    seen: set[Setting] = set()
    waiting: list[tuple[Setting, pd.DataFrame]] = []  # parts of one setting
    with pq.ParquetFile(path) as file:
        for number in range(file.num_row_groups):
            part = as_imported(file.read_row_group(number).to_pandas())
            if (lacks := part[SETTING].isna().any(axis=1)).any():
                row = part[lacks].index[0]
                raise InputError(f"{path}, part {number}, row {row}: lacks one of {', '.join(SETTING)}")
            for setting, rows in by_setting(part):
                if waiting and waiting[0][0] != setting:
                    yield _joined(waiting)
                    waiting = []
                if not waiting and setting in seen:
                    raise InputError(f"{path}: the rows of {setting.words} do not lie together")
                seen.add(setting)
                waiting.append((setting, rows))
    if waiting:
        yield _joined(waiting)


def _joined(parts: list[tuple[Setting, pd.DataFrame]]) -> pd.DataFrame:
    return parts[0][1] if len(parts) == 1 else pd.concat([rows for _, rows in parts], ignore_index=True)


def settings_in(path: Path) -> tuple[list[str], list[str], list[int]]:
    """The models, tasks and numbers of shots of an imported table, in the order of its rows.

    Only columns' statistics are read where each part of the file is of one setting.

    Raises
    ------
    InputError
        If the file is no such table.
    """
    try:
        with pq.ParquetFile(path) as file:
            if missing := set(PREDICTIONS.columns) - set(file.schema_arrow.names):
                raise InputError(
                    f"{path}: is not a table of predictions: it lacks {', '.join(sorted(missing))}; right "
                    "would be a file of `abovechance import`"
                )
            found: list[dict[Any, None]] = [{} for _ in SETTING]
            for part in range(file.num_row_groups):
                for values, column in zip(found, SETTING, strict=True):
                    values.update(dict.fromkeys(_values(file, part, column)))
    except (pa.ArrowInvalid, OSError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from None
    models, tasks, shots = map(list, found)
    if not models:
        raise InputError(f"{path}: has no rows")
    return models, tasks, shots


def _values(file: pq.ParquetFile, part: int, column: str) -> list[Any]:
    """The different values of a column in one part of a file."""
    place = file.schema_arrow.names.index(column)
    statistics = file.metadata.row_group(part).column(place).statistics
    if statistics is not None and statistics.has_min_max and statistics.min == statistics.max:
        return [statistics.min]
    values: list[Any] = file.read_row_group(part, columns=[column])[column].unique().to_pylist()
    return values
