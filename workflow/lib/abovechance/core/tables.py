"""Parquet tables with declared columns, which say what they were made from.

A table's columns are declared in the module that makes it, as a ``TableSchema``, and the file holds their
meanings. The facts that a file was made from are in its metadata under the key ``made_from``. A checksum in
the metadata covers the rows, the columns and the facts: a file in which a single bit has changed is not read.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, get_type_hints

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from abovechance.core.columns import Column
from abovechance.core.errors import InputError
from abovechance.core.files import replacing
from abovechance.core.provenance import versions
from abovechance.core.settings import MEANINGS, SETTING, Setting, setting_of
from abovechance.core.untrusted import MOST_MEMBER, check_regular


def setting_columns(many: bool = False) -> dict[str, Column]:
    """Return the columns that name a setting; its texts as categories where each stands in many rows."""
    hints = get_type_hints(Setting)
    of_type = {str: Column.category if many else Column.text, int: Column.whole}
    return {name: of_type[hints[name]](meaning) for name, meaning in MEANINGS.items()}


@dataclass(frozen=True)
class TableSchema:
    """The columns of one kind of table.

    Attributes
    ----------
    name
        Name of the table in messages and in results/README.md.
    columns
        {name: column}, in the order in which files have them.
    rows
        A sentence that says what a row is.
    file
        The file in a study's folder; ``tables/<name>`` if it is one of the tables for people.
    """

    name: str
    columns: Mapping[str, Column]
    rows: str
    file: str = ""

    @cached_property
    def arrow(self) -> pa.Schema:
        """The columns as Arrow has them."""
        return pa.schema([column.field(name) for name, column in self.columns.items()])

    def to_arrow(self, table: pd.DataFrame) -> pa.Table:
        """Return the table with exactly these columns and types, without optional ones that it lacks.

        Raises
        ------
        ValueError
            If it has other columns.
        """
        needed = {name for name, column in self.columns.items() if not column.optional}
        if not needed <= {*table.columns} <= {*self.columns}:
            raise ValueError(f"{self.name} has columns {sorted(table.columns)}, not {sorted(self.columns)}")
        schema = pa.schema([field for field in self.arrow if field.name in table])
        rows = table[schema.names]
        rows.attrs = {}  # which Arrow would write as JSON
        return pa.Table.from_pandas(rows, schema, preserve_index=False)

    def together(self, tables: Iterable[pd.DataFrame]) -> pd.DataFrame:
        """One table of several, which may be none, with its columns in their order."""
        parts = [*tables]
        names = [*self.columns]
        return pd.concat(parts, ignore_index=True)[names] if parts else pd.DataFrame(columns=names)

    def write(self, table: pd.DataFrame, path: str | Path, made_from: Mapping[str, Any]) -> None:
        """Write a table as Parquet, with what it was made from in its metadata."""
        arrow = self.to_arrow(table)
        with _writing(path, arrow.schema, made_from) as writer:
            writer.write_table(arrow.cast(writer.schema))

    @contextmanager
    def writing_parts(
        self, path: str | Path, made_from: Mapping[str, Any]
    ) -> Iterator[Callable[[pd.DataFrame], None]]:
        """Yield a function that adds rows to a table too large to be held at once; see ``read_parts``."""
        with _writing(path, self.arrow, made_from) as writer:

            def write(part: pd.DataFrame) -> None:
                writer.write_table(self.to_arrow(part).cast(writer.schema), row_group_size=max(len(part), 1))

            yield write


# a job's tables with their schemas
Tables = Sequence[tuple[TableSchema, pd.DataFrame]]


@contextmanager
def _writing(path: str | Path, schema: pa.Schema, made_from: Mapping[str, Any]) -> Iterator[pq.ParquetWriter]:
    """Yield a writer whose file takes its place, with its checksum, once everything is written."""
    facts = json.dumps({**made_from, "versions": versions()}, ensure_ascii=False)
    with (
        replacing(Path(path)) as beside,
        beside.open("wb") as file,
        pq.ParquetWriter(file, schema.with_metadata({"made_from": facts})) as writer,
    ):
        yield writer
        file.flush()
        writer.add_key_value_metadata({CHECKSUM: _checksum(beside, beside.stat().st_size, writer.schema)})


CHECKSUM = "checksum"
CHUNK = 1 << 22


def _checksum(path: Path, size: int, schema: pa.Schema) -> str:
    """The CRC-32 of a file's first bytes, which hold the rows, and of its columns and their metadata."""
    columns = [(field.name, str(field.type), _texts(field.metadata)) for field in schema]
    value = zlib.crc32(repr((size, columns, _texts(schema.metadata))).encode())
    with path.open("rb") as file:
        for begin in range(0, size, CHUNK):
            value = zlib.crc32(file.read(min(CHUNK, size - begin)), value)
    return f"{value:08x}"


def _texts(metadata: Mapping[bytes, bytes] | None) -> list[tuple[bytes, bytes]]:
    return sorted((metadata or {}).items())


@contextmanager
def _opened(path: str | Path, of_users: bool = False) -> Iterator[pq.ParquetFile]:
    """Yield a Parquet file that is as it was written.

    Files of pandas have no facts and no checksum, and those that users wrote may lack all metadata.
    """
    path = Path(path)
    with reading(path), pq.ParquetFile(path) as file:
        metadata = file.metadata.metadata or {}
        groups = [file.metadata.row_group(number) for number in range(file.num_row_groups)]
        rows = [(group.num_rows, group.column(0).num_values) for group in groups if group.num_columns]
        if any(stated != values for stated, values in rows) or file.metadata.num_rows != sum(
            stated for stated, _ in rows
        ):
            raise ValueError("its numbers of rows contradict each other")
        stored = metadata.get(CHECKSUM.encode())
        has_schema = b"ARROW:schema" in metadata
        is_of_others = of_users or (has_schema and b"pandas" in metadata)
        is_complete = has_schema if stored is not None else is_of_others and b"made_from" not in metadata
        if not is_complete:
            raise ValueError("it has lost its checksum")
        if stored is not None:
            size = path.stat().st_size - file.metadata.serialized_size - 8
            if stored.decode() != _checksum(path, size, file.schema_arrow):
                raise ValueError("its checksum is of another content")
        yield file


def read_table(path: str | Path) -> pd.DataFrame:
    """Read a table; lists come back as lists and dictionary columns as categories.

    Raises
    ------
    InputError
        If the file is damaged.
    """
    with _opened(path) as file:
        table = file.read()
    frame: pd.DataFrame = table.to_pandas()
    for field in table.schema:
        if pa.types.is_list(field.type):
            frame[field.name] = table[field.name].to_pylist()
    return frame


def columns_of(path: Path) -> dict[str, Column]:
    """Return the descriptions of a file's columns.

    Raises
    ------
    InputError
        If the file is damaged.
    """
    with reading(path):
        return {field.name: Column.from_field(field) for field in pq.read_schema(path)}


def read_tables(paths: Iterable[str | Path]) -> pd.DataFrame:
    """A table that lies in several files, such as one for each model, as one; see ``read_table``.

    Raises
    ------
    InputError
        If a file is damaged.
    """
    tables = [read_table(path) for path in paths]
    # what has no rows has no types either
    return pd.concat([table for table in tables if len(table)] or tables[:1], ignore_index=True)


def read_columns(paths: Iterable[str | Path], columns: Sequence[str]) -> pd.DataFrame:
    """Read some columns of a table in several files, for tables of many millions of rows.

    Texts come as categories, which take a few bytes a row.

    Raises
    ------
    InputError
        If a file is damaged.
    """
    tables = []
    for path in paths:
        with _opened(path) as file:
            table = file.read(columns=[*columns])
        for place, field in enumerate(table.schema):
            if pa.types.is_string(field.type):
                table = table.set_column(place, field.name, table[field.name].dictionary_encode())
        tables.append(table.replace_schema_metadata(None))
    frame: pd.DataFrame = pa.concat_tables(tables).unify_dictionaries().to_pandas(self_destruct=True)
    return frame[[*columns]]


def settings_of_parts(path: str | Path) -> list[Setting]:
    """Return the setting of each part of a table that has one setting in a part; see ``read_part``.

    Raises
    ------
    InputError
        If the file is damaged.
    """
    with _opened(path) as file:
        firsts = [
            file.read_row_group(number, columns=SETTING).slice(0, 1).to_pandas()
            for number in range(file.num_row_groups)
        ]
    return [setting_of(first) for first in firsts]


def read_part(path: Path, number: int) -> pd.DataFrame:
    """One part of a table, whose checksum was compared before, such as by ``settings_of_parts``."""
    with reading(path), pq.ParquetFile(path) as file:
        return file.read_row_group(number).to_pandas()


def read_parts(path: str | Path) -> Iterator[pd.DataFrame]:
    """Yield the parts of a table in the order in which they were written, one at a time.

    Raises
    ------
    InputError
        If the file is damaged.
    """
    with _opened(path) as file:
        for number in range(file.num_row_groups):
            part: pd.DataFrame = file.read_row_group(number).to_pandas()
            yield part


def read_made_from(path: str | Path) -> dict[str, Any]:
    """Return what a Parquet file was made from; an empty mapping if it does not state it.

    Raises
    ------
    InputError
        If the file is damaged.
    """
    with _opened(path, of_users=True) as file:
        stored = file.schema_arrow.metadata or {}
        facts: dict[str, Any] = json.loads(stored.get(b"made_from", b"{}"))
    return facts


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Name the file that cannot be read."""
    if path.exists():
        check_regular(path, MOST_MEMBER)
    try:
        yield
    except InputError:
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        first = str(error).strip().partition("\n")[0]
        raise InputError(f"{path}: is damaged ({first}); delete it and run again") from None
