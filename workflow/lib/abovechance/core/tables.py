"""Files that say what they were made from and are never left half-written.

Every table of a study has its columns here, once. A Parquet file carries the
facts it was made from in its metadata under the key ``made_from``; every file
is written beside its place and renamed into it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from abovechance.core.errors import InputError
from abovechance.core.files import replacing
from abovechance.core.provenance import versions

SCHEMAS: dict[str, pa.Schema] = {
    "tasks": pa.schema(
        {
            "example": pa.string(),
            "text": pa.string(),
            "choices": pa.list_(pa.string()),
            "correct": pa.list_(pa.bool_()),
        }
    ),
    "evaluation_sets": pa.schema(
        {"example": pa.string(), "evaluated": pa.bool_(), "demonstration": pa.bool_()}
    ),
    "prompts": pa.schema(
        {"prompt": pa.int64(), "demonstrations": pa.list_(pa.string()), "text": pa.string()}
    ),
    "scores": pa.schema(
        {
            "prompt": pa.int64(),
            "example": pa.string(),
            "choice": pa.int64(),
            "logprob": pa.float64(),
            "tokens": pa.int64(),
            "characters": pa.int64(),
            "bytes": pa.int64(),
        }
    ),
    "predictions": pa.schema(
        {
            "model": pa.dictionary(pa.int32(), pa.string()),
            "task": pa.dictionary(pa.int32(), pa.string()),
            "shots": pa.int64(),
            "prompt": pa.int64(),
            "example": pa.dictionary(pa.int32(), pa.string()),
            "predicted": pa.int64(),
            "correct": pa.bool_(),
            "tie": pa.bool_(),
            "chance": pa.float64(),
        }
    ),
    "randomization": pa.schema(
        {
            "model": pa.string(),
            "task": pa.string(),
            "shots": pa.int64(),
            "prompt": pa.int64(),
            "statistic": pa.string(),
            "value": pa.float64(),
            "adjusted_tail": pa.float64(),
            "best_tail": pa.float64(),
            "shared": pa.bool_(),
        }
    ),
    "accuracy": pa.schema(
        {
            "model": pa.string(),
            "task": pa.string(),
            "shots": pa.int64(),
            "prompt": pa.int64(),
            "examples": pa.int64(),
            "correct": pa.int64(),
            "accuracy": pa.float64(),
            "ties": pa.int64(),
            "chances": pa.list_(pa.float64()),
            "counts": pa.list_(pa.int64()),
        }
    ),
    "released_examples": pa.schema(
        {
            "task": pa.string(),
            "place": pa.int64(),
            "id": pa.int64(),
            "choices": pa.int64(),
            "correct": pa.int64(),
        }
    ),
    "released": pa.schema(
        {
            "model": pa.dictionary(pa.int32(), pa.string()),
            "task": pa.dictionary(pa.int32(), pa.string()),
            "shots": pa.int64(),
            "prompt": pa.int64(),
            "demonstrations": pa.dictionary(pa.int32(), pa.string()),
            "example": pa.int64(),
            "loss": pa.float64(),
            "correct": pa.bool_(),
            "tie": pa.bool_(),
            "chance": pa.float64(),
        }
    ),
    "outcomes": pa.schema(
        {
            "model": pa.string(),
            "task": pa.string(),
            "shots": pa.int64(),
            "split": pa.int64(),
            "prompts": pa.int64(),
            "tried": pa.int64(),
            "prompt": pa.int64(),
            "validation_examples": pa.int64(),
            "validation_accuracy": pa.float64(),
            "standard_baseline": pa.float64(),
            "maximum_baseline": pa.float64(),
            "standard_tail": pa.float64(),
            "maximum_tail": pa.float64(),
            "above_standard": pa.bool_(),
            "above_maximum": pa.bool_(),
            "test_examples": pa.int64(),
            "test_accuracy": pa.float64(),
            "test_baseline": pa.float64(),
            "above_on_test": pa.bool_(),
        }
    ),
}


def as_arrow(table: pd.DataFrame, kind: str) -> pa.Table:
    """The table with exactly the columns and types of ``SCHEMAS[kind]``."""
    schema = SCHEMAS[kind]
    if set(table.columns) != set(schema.names):
        raise ValueError(f"{kind} has columns {sorted(table.columns)}, not {sorted(schema.names)}")
    return pa.Table.from_pandas(table[schema.names], schema, preserve_index=False)


def write_table(table: pd.DataFrame, kind: str, path: Path, made_from: Mapping[str, Any]) -> None:
    """Write a table as Parquet, with what it was made from in its metadata."""
    arrow = as_arrow(table, kind)
    with replacing(path) as beside:
        pq.write_table(arrow.replace_schema_metadata(metadata(made_from)), beside)


@contextmanager
def writing_parts(
    kind: str, path: Path, made_from: Mapping[str, Any]
) -> Iterator[Callable[[pd.DataFrame], None]]:
    """A function that adds rows to a table too large to be held at once; see ``read_parts``."""
    schema = SCHEMAS[kind].with_metadata(metadata(made_from))
    with replacing(path) as beside, pq.ParquetWriter(beside, schema) as writer:

        def write(part: pd.DataFrame) -> None:
            arrow = as_arrow(part, kind).replace_schema_metadata(schema.metadata)
            writer.write_table(arrow, row_group_size=max(len(part), 1))

        yield write


def metadata(made_from: Mapping[str, Any]) -> dict[str, str]:
    """Parquet metadata: the facts given and the versions of the libraries at work."""
    return {"made_from": json.dumps({**made_from, "versions": versions()}, ensure_ascii=False)}


def read_table(path: Path) -> pd.DataFrame:
    """Read a table; lists come back as lists and dictionary columns as categories."""
    table = pq.read_table(path)
    frame = table.to_pandas()
    for field in table.schema:
        if pa.types.is_list(field.type):
            frame[field.name] = table[field.name].to_pylist()
    return frame


def read_parts(path: Path) -> Iterator[pd.DataFrame]:
    """The parts of a table in the order in which they were written, one at a time."""
    with pq.ParquetFile(path) as file:
        for part in range(file.num_row_groups):
            yield file.read_row_group(part).to_pandas()


def settings_of(path: Path) -> tuple[list[str], list[str], list[int]]:
    """The models, tasks and numbers of shots of a table of predictions, in the order of its rows.

    Raises
    ------
    InputError
        If the file is no such table.
    """
    try:
        table = pq.read_table(path, columns=["model", "task", "shots"])
        if pq.read_schema(path).names != SCHEMAS["predictions"].names:
            raise InputError(
                f"{path}: is no table of predictions; right would be one of `abovechance import`"
            )
    except (pa.ArrowInvalid, OSError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from None
    return tuple(table[name].unique().to_pylist() for name in ("model", "task", "shots"))  # type: ignore[return-value]


def read_made_from(path: Path) -> dict[str, Any]:
    """What a Parquet file was made from; empty where it does not say."""
    stored = pq.read_schema(path).metadata or {}
    return json.loads(stored.get(b"made_from", b"{}"))
