"""Parquet tables with declared columns, which say what they were made from.

A table's columns are declared in the module that makes it, as a ``TableSchema``, and the file holds their
meanings. The facts that a file was made from are in its metadata under the key ``made_from``. Parquet's own
checksums cover pages, but not the footer, so a checksum of the whole file is in its metadata too: a file in
which a single bit has changed is not read.
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
from abovechance.core.settings import MEANINGS, Setting
from abovechance.core.untrusted import MOST_MEMBER, check_regular


def setting_columns(many: bool = False) -> dict[str, Column]:
    """The columns that name a setting; its texts as categories where each stands in many rows."""
    hints = get_type_hints(Setting)
    of_type = {str: Column.category if many else Column.text, int: Column.whole}
    return {name: of_type[hints[name]](meaning) for name, meaning in MEANINGS.items()}


@dataclass(frozen=True)
class TableSchema:
    """The columns of one kind of table.

    Attributes
    ----------
    name
        What the table is called, in messages and in results/README.md.
    columns
        {name: column}, in the order in which files have them.
    rows
        What a row is, in a sentence.
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
        """The table with exactly these columns and types, without optional ones that it lacks.

        Raises
        ------
        ValueError
            If it has other columns.
        """
        needed = {name for name, column in self.columns.items() if not column.optional}
        if not needed <= {*table.columns} <= {*self.columns}:
            raise ValueError(f"{self.name} has columns {sorted(table.columns)}, not {sorted(self.columns)}")
        schema = pa.schema([field for field in self.arrow if field.name in table])
        return pa.Table.from_pandas(table[schema.names], schema, preserve_index=False)

    def together(self, tables: Iterable[pd.DataFrame]) -> pd.DataFrame:
        """One table of several, which may be none, with its columns in their order."""
        found = [*tables]
        names = [*self.columns]
        return pd.concat(found, ignore_index=True)[names] if found else pd.DataFrame(columns=names)

    def write(self, table: pd.DataFrame, path: Path, made_from: Mapping[str, Any]) -> None:
        """Write a table as Parquet, with what it was made from in its metadata."""
        arrow = self.to_arrow(table)
        with replacing(path) as beside:
            stored = arrow.replace_schema_metadata(_metadata(made_from))
            pq.write_table(stored, beside, write_page_checksum=True)
            _seal(beside)

    @contextmanager
    def writing_parts(
        self, path: Path, made_from: Mapping[str, Any]
    ) -> Iterator[Callable[[pd.DataFrame], None]]:
        """A function that adds rows to a table too large to be held at once; see ``read_parts``."""
        schema = self.arrow.with_metadata(_metadata(made_from))
        with replacing(path) as beside:
            with pq.ParquetWriter(beside, schema, write_page_checksum=True) as writer:

                def write(part: pd.DataFrame) -> None:
                    arrow = self.to_arrow(part).replace_schema_metadata(schema.metadata)
                    writer.write_table(arrow, row_group_size=max(len(part), 1))

                yield write
            _seal(beside)


# a job's tables with their schemas
Tables = Sequence[tuple[TableSchema, pd.DataFrame]]


def _metadata(made_from: Mapping[str, Any]) -> dict[str, str]:
    """Parquet metadata: the facts given and the versions of the libraries at work."""
    told = json.dumps({**made_from, "versions": versions()}, ensure_ascii=False)
    return {"made_from": told, SEAL: NO_SEAL}


SEAL, NO_SEAL = "abovechance_crc32", "0" * 8
# The key in a Parquet file's footer, and before the 8 characters of the value, their type and length.
SEALED = SEAL.encode() + b"\x18\x08"
CHUNK = 1 << 22


def _seal(path: Path) -> None:
    """Put the checksum of a file into it, where its metadata have as many zeros."""
    place = _place_of_seal(path)
    if place is None:
        raise ValueError(f"{path} has no place for its checksum")
    value = _crc32(path, place)
    with path.open("r+b") as file:
        file.seek(place)
        file.write(b"%08x" % value)


def _check_seal(path: Path) -> None:
    """Raise ValueError where a file has a checksum, and another content."""
    place = _place_of_seal(path)
    if place is None:
        return  # of another program, or of an earlier version
    with path.open("rb") as file:
        file.seek(place)
        told = file.read(len(NO_SEAL))
    if told != b"%08x" % _crc32(path, place):
        raise ValueError("its checksum is of another content")


def _place_of_seal(path: Path) -> int | None:
    """Where the characters of a file's checksum stand; None where it has none."""
    size = path.stat().st_size
    with path.open("rb") as file:
        file.seek(max(0, size - 8))
        length = int.from_bytes(file.read(4), "little")
        begin = max(0, size - 8 - length)
        file.seek(begin)
        found = file.read().find(SEALED)
    return None if found < 0 else begin + found + len(SEALED)


def _crc32(path: Path, place: int) -> int:
    """The CRC-32 of a file that has zeros at the place of its checksum."""
    value, at = 0, 0
    with path.open("rb") as file:
        while chunk := bytearray(file.read(CHUNK)):
            for number in range(max(place, at), min(place + len(NO_SEAL), at + len(chunk))):
                chunk[number - at] = ord("0")
            value, at = zlib.crc32(chunk, value), at + len(chunk)
    return value


def read_table(path: Path) -> pd.DataFrame:
    """Read a table; lists come back as lists and dictionary columns as categories.

    Raises
    ------
    InputError
        If the file is damaged.
    """
    with reading(path):
        _check_seal(path)
        table = pq.read_table(path, page_checksum_verification=True)
    frame: pd.DataFrame = table.to_pandas()
    for field in table.schema:
        if pa.types.is_list(field.type):
            frame[field.name] = table[field.name].to_pylist()
    return frame


def columns_of(path: Path) -> dict[str, Column]:
    """What a file says of its columns.

    Raises
    ------
    InputError
        If the file is damaged.
    """
    with reading(path):
        return {field.name: Column.of(field) for field in pq.read_schema(path)}


def read_tables(paths: Iterable[str | Path]) -> pd.DataFrame:
    """A table that lies in several files, such as one for each model, as one; see ``read_table``.

    Raises
    ------
    InputError
        If a file is damaged.
    """
    tables = [read_table(Path(path)) for path in paths]
    # what has no rows has no types either
    return pd.concat([table for table in tables if len(table)] or tables[:1], ignore_index=True)


def read_columns(paths: Iterable[str | Path], columns: Sequence[str]) -> pd.DataFrame:
    """Some columns of a table that lies in several files, for tables of many millions of rows.

    Texts come as categories, which take a few bytes a row.

    Raises
    ------
    InputError
        If a file is damaged.
    """
    tables = []
    for path in map(Path, paths):
        with reading(path):
            _check_seal(path)
            table = pq.read_table(path, columns=[*columns], page_checksum_verification=True)
        for place, field in enumerate(table.schema):
            if pa.types.is_string(field.type):
                table = table.set_column(place, field.name, table[field.name].dictionary_encode())
        tables.append(table.replace_schema_metadata(None))
    frame: pd.DataFrame = pa.concat_tables(tables).unify_dictionaries().to_pandas(self_destruct=True)
    return frame[[*columns]]


def read_parts(path: Path) -> Iterator[pd.DataFrame]:
    """The parts of a table in the order in which they were written, one at a time.

    Raises
    ------
    InputError
        If the file is damaged.
    """
    with reading(path):
        _check_seal(path)
        file = pq.ParquetFile(path, page_checksum_verification=True)
    with file:
        for number in range(file.num_row_groups):
            with reading(path):
                part: pd.DataFrame = file.read_row_group(number).to_pandas()
            yield part


def read_made_from(path: Path) -> dict[str, Any]:
    """What a Parquet file was made from; empty where it does not say.

    Raises
    ------
    InputError
        If the file is damaged.
    """
    with reading(path):
        _check_seal(path)
        stored = pq.read_schema(path).metadata or {}
        found: dict[str, Any] = json.loads(stored.get(b"made_from", b"{}"))
    return found


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
