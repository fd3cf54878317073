"""Files of users, read so that what is wrong in them is told with file and row."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from abovechance.core.errors import InputError
from abovechance.core.untrusted import MOST_MEMBER, MOST_TEXT, check_regular, check_values, printable

csv.field_size_limit(2**31 - 1)  # else a long passage ends the reading

SEPARATORS = ",;\t"
AMBIGUOUS = r"[+-]?[1-9]\d{0,2},\d{3}"  # a number with a comma of decimals, or of thousands
OF_SPREADSHEETS = r'"?sep=([,;\t])"?[\r\n]'  # a first line for spreadsheets
MOST_HEADING = 1_000_000  # characters
NOT_TEXT = "is not text in UTF-8, but binary or saved in another way; expected a text saved as UTF-8"


@contextmanager
def as_written_by(tool: str, place: str) -> Iterator[None]:
    """Tell a value that is missing, or of another type than the tool writes, with its place.

    Raises
    ------
    InputError
        In place of what Python raises for it.
    """
    try:
        yield
    except InputError:
        raise
    except KeyError as error:
        raise InputError(f"{place}: lacks {error}; expected a log as {tool} writes it") from None
    except (TypeError, ValueError, AttributeError, IndexError, ArithmeticError) as error:
        raise InputError(f"{place}: is not as {tool} writes it ({error})") from None


def read_text(path: Path) -> str:
    """Return a text file in UTF-8, with or without a byte-order mark.

    Raises
    ------
    InputError
        If it cannot be opened, or with its row where it is no such text.
    """
    _check_file(path)
    try:
        content = path.read_bytes()
        text = content.decode("utf-8-sig")
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        row = content.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}, row {row}: {NOT_TEXT}") from None
    if "\0" in text:
        row = text.count("\n", 0, text.index("\0")) + 1
        raise InputError(f"{path}, row {row}: {NOT_TEXT}")
    return text


def _check_file(path: Path, limit: int = MOST_TEXT) -> None:
    if not path.exists():
        raise InputError(f"{path}: there is no such file")
    check_regular(path, limit)


def read_csv_texts(path: Path, keep_blanks: bool = False) -> pd.DataFrame:
    """Return a CSV as texts, so that messages can quote what is written; see ``number`` and ``whole``.

    Fields are separated by commas, semicolons or tabs, whichever the heading has. Columns without a name
    and without a value, which spreadsheets leave, are no columns, and no more is the one without a name in
    which pandas counts the rows from 0.

    Parameters
    ----------
    keep_blanks
        Whether fields stay as they are written. Otherwise, blanks before a field are removed. If the
        separator is not a comma and a number of the column has decimals after a comma, 1,000 becomes 1.000.

    Returns
    -------
    DataFrame
        (rows,) under the file's heading; the index is the row in the file, whose heading is row 1.

    Raises
    ------
    InputError
        If it is no text, has no heading or no rows, or with the row that is not like the heading.
    """
    rows: dict[int, list[str]] = {}
    place = 0
    text = read_text(path)
    try:
        for place, fields in enumerate(_csv_lines(text, keep_blanks), start=1):
            if any(map(str.strip, fields)):
                rows[place] = fields
    except csv.Error as error:
        raise InputError(f"{path}, row {place + 1}: cannot be read as CSV: {error}") from None
    if not rows:
        raise InputError(f"{path}: is empty; expected a heading and rows")
    top, *places = rows
    names = [name.strip() for name in rows.pop(top)]
    names, rows = _without_empty_columns(names, rows)
    _check_shape(names, rows, top, path)
    table = pd.DataFrame(list(rows.values()), index=places, columns=names, dtype=object)
    return table if keep_blanks or _separator(text) == "," else table.apply(_with_points)


def _with_points(column: pd.Series[str]) -> pd.Series[str]:
    """Return a column with a point in 1,000 if other values show that the comma is that of decimals."""
    ambiguous = column.str.strip().str.fullmatch(AMBIGUOUS)
    if (column.str.strip().str.fullmatch(r"[+-]?\d*,\d+") & ~ambiguous).any():
        return column.mask(ambiguous, column.str.replace(",", "."))
    return column


def _without_empty_columns(
    names: list[str], rows: dict[int, list[str]]
) -> tuple[list[str], dict[int, list[str]]]:
    """Without the last columns that have no name and no value, and the first one that counts rows."""
    firsts = [fields[0].strip() for fields in rows.values() if fields]
    if len(names) > 1 and not names[0] and firsts == [str(number) for number in range(len(rows))]:
        names, rows = names[1:], {place: fields[1:] for place, fields in rows.items()}
    while names and not names[-1]:
        whole = [fields for fields in rows.values() if len(fields) == len(names)]
        if len(whole) < len(rows) or any(fields[-1].strip() for fields in whole):
            break
        names = names[:-1]
        rows = {place: fields[:-1] for place, fields in rows.items()}
    return names, rows


def _check_shape(names: list[str], rows: Mapping[int, list[str]], top: int, path: Path) -> None:
    before: set[str] = set()
    for column, name in enumerate(names):
        if not name:
            hint = "; use to_csv(..., index=False) if pandas wrote it" if column == 0 else ""
            raise InputError(f"{path}, row {top}: column {column + 1} has no name{hint}")
        if name in before:
            raise InputError(f"{path}, row {top}: the column '{name}' stands twice")
        before.add(name)
    if not rows:
        raise InputError(f"{path}: has no rows below its heading")
    for place, fields in rows.items():
        if len(fields) != len(names):
            raise InputError(f"{path}, row {place}: has {len(fields)} fields, its heading {len(names)}")


def heading(path: Path) -> list[str]:
    """Return the names of a CSV's columns, of any file its first line; none where it cannot be opened."""
    try:
        if not path.is_file():  # a pipe may never end
            return []
        with path.open(encoding="utf-8-sig", errors="replace") as file:
            lines = iter(lambda: file.readline(MOST_HEADING), "")
            first = next((line for line in lines if line.strip() and "sep=" not in line[:5]), "")
        return [name.strip() for name in next(_csv_lines(first), [])]
    except (OSError, csv.Error):
        return []


def _separator(text: str) -> str:
    """Return what separates the fields of a CSV."""
    if match := re.match(OF_SPREADSHEETS, text):
        return match[1]
    return max(SEPARATORS, key=text.lstrip("\r\n").partition("\n")[0].count)


def _csv_lines(text: str, keep_blanks: bool = False) -> Iterator[list[str]]:
    separator = _separator(text)
    if re.match(OF_SPREADSHEETS, text):
        text = re.sub(r"^[^\r\n]*", "", text)
    return csv.reader(
        io.StringIO(text, newline=""),
        delimiter=separator,
        skipinitialspace=separator != "\t" and not keep_blanks,
        strict=True,
    )


def number(text: str) -> float | None:
    """The number in a field of a CSV, its decimals behind a point or a comma; None if there is none.

    1,000 is none: it is a thousand to some people.
    """
    text = text.strip()
    if re.fullmatch(AMBIGUOUS, text):
        return None
    if re.fullmatch(r"[+-]?\d*,\d+", text):
        text = text.replace(",", ".")
    # not what else float() takes, such as nan, 1_000 or digits of other scripts
    return float(text) if re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", text, re.ASCII) else None


def exact_number(text: str) -> Decimal | None:
    """The number that ``number`` finds, with all digits; None also for an exponent of more than 18 digits."""
    try:
        return None if number(text) is None else Decimal(text.strip().replace(",", "."))
    except InvalidOperation:
        return None


def whole(text: str) -> int | None:
    """The whole number that a field of a CSV has; None if it has none, or might mean another.

    Programs write 30 as 30.0 where a column has gaps; 1.000 and 1,000 are thousands to some people.
    """
    match = re.fullmatch(r"([+-]?\d{1,18})(\.0)?", text.strip(), re.ASCII)
    return int(match[1]) if match else None


def read_json(path: Path) -> Any:
    """Return a JSON file; InputError with file and place where it is none."""
    return parse_json(read_text(path), str(path))


def parse_json(text: str | bytes, place: str, remedy: str = "was it cut off?") -> Any:
    """Return a JSON text; InputError where it is none, or has too many values to hold."""
    check_values(text, place)
    try:
        return json.loads(text, object_pairs_hook=_unique)
    except _Twice as error:
        raise InputError(f"{place}: the key '{error}' stands twice") from None
    except (ValueError, RecursionError) as error:
        first = str(error).partition(";")[0]
        raise InputError(f"{place}: is not JSON ({first}); {remedy}") from None


def read_json_lines(path: Path) -> Iterator[tuple[int, Any]]:
    """Row and value of each line of a JSON Lines file that is not blank.

    Raises
    ------
    InputError
        With file and row where a line is no JSON, or has a key twice.
    """
    for row, line in enumerate(read_text(path).split("\n"), start=1):
        if line.strip():
            place = f"{path}, row {row}"
            yield row, parse_json(line, place, "expected one whole object on each line")


def read_parquet(path: Path) -> pa.Table:
    """Return a Parquet file; InputError where it is none."""
    _check_file(path, MOST_MEMBER)
    try:
        table = pq.read_table(path)
        table.slice(0, 1).to_pylist()  # some values can be stored and not be read
        return table
    except (pa.ArrowException, UnicodeDecodeError, OSError) as error:
        first = str(error).strip().partition("\n")[0]
        raise InputError(f"{path}: cannot be read as Parquet: {first}") from None


def read_yaml(path: Path) -> dict[str, Any]:
    """Return a YAML or JSON file with keys at its top, none of which stands twice.

    Raises
    ------
    InputError
        With file, line, and what is wrong there.
    """
    return parse_yaml(read_text(path), str(path))


def parse_yaml(text: str, path: str) -> dict[str, Any]:
    """A YAML or JSON text with keys at its top, none of which stands twice; InputError where it is none."""
    if len(text) > MOST_YAML:
        raise InputError(f"{path}: has {len(text):,} characters; expected at most {MOST_YAML:,}")
    try:
        # JSON allows tabs where YAML does not
        is_json = text.lstrip().startswith("{") and "\t" in text
        value = json.loads(text, object_pairs_hook=_unique) if is_json else _load_yaml(text)
    except _Twice as error:
        raise InputError(f"{path}{_line(error)}: the key '{error.problem}' stands twice") from None
    except yaml.MarkedYAMLError as error:
        problem = str(error.problem).removeprefix("but ")
        message = problem if " to YAML; expected " in problem else f"is not YAML: {problem}"
        raise InputError(f"{path}{_line(error)}: {message}") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        first = str(error).strip().partition("\n")[0]
        raise InputError(f"{path}: is not YAML: {first}") from None
    except (TypeError, LookupError, AttributeError, OverflowError):  # of PyYAML, about a tag such as !!int
        raise InputError(f"{path}: is not YAML: a value is not what its tag says") from None
    if not isinstance(value, dict):
        raise InputError(f"{path}: has no keys; expected lines such as `study: mine`")
    return value


def _load_yaml(text: str) -> Any:
    """Return the value of a YAML text.

    An alias (``*a``) stands for all that its anchor has, so that a short text can be a huge value, or one
    that contains itself.
    """
    loader = _UniqueKeys(text)
    try:
        node = loader.get_single_node()
        if node is not None and _size(node, {}) > MOST_NODES:
            raise yaml.YAMLError(f"with its aliases written out, it has more than {MOST_NODES:,} values")
        return None if node is None else loader.construct_document(node)
    finally:
        loader.dispose()


MOST_NODES = 1_000_000
MOST_YAML = 2**20  # characters


def _size(node: yaml.Node, sizes: dict[int, float]) -> float:
    """Return how many values a node has with its aliases written out: without end, if it contains itself."""
    if id(node) not in sizes:
        sizes[id(node)] = math.inf  # as long as it is being counted
        parts = node.value if isinstance(node, yaml.CollectionNode) else []
        children = [part for pair in parts for part in (pair if isinstance(pair, tuple) else (pair,))]
        sizes[id(node)] = 1 + sum(_size(part, sizes) for part in children)
    return sizes[id(node)]


class _Twice(yaml.constructor.ConstructorError):
    """A key that stands twice."""

    def __init__(self, key: object, mark: yaml.Mark | None) -> None:
        super().__init__(None, None, printable(str(key)), mark)

    def __str__(self) -> str:
        return str(self.problem)


def _line(error: yaml.MarkedYAMLError) -> str:
    return f", line {error.problem_mark.line + 1}" if error.problem_mark else ""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object of these pairs."""
    mapping: dict[str, Any] = {}
    for key, value in pairs:
        if key in mapping:
            raise _Twice(key, None)
        mapping[key] = value
    return mapping


class _UniqueKeys(yaml.SafeLoader):
    """YAML's safe loader, to which a key that stands twice is an error."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        keys = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                continue
            if key.value in keys:
                raise _Twice(key.value, key.start_mark)
            keys.add(key.value)
        return super().construct_mapping(node, deep)

    def construct_yaml_int(self, node: yaml.ScalarNode) -> int:
        """Return a whole number that is written as one: YAML reads 1:30 as 90 and 010 as 8."""
        value: int = super().construct_yaml_int(node)
        if not re.fullmatch(r"[+-]?(0|[1-9][0-9_]*)", node.value):
            problem = f"{node.value} means {value} to YAML; expected {value}, or '{node.value}' in quotes"
            raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark)
        return value

    def construct_yaml_float(self, node: yaml.ScalarNode) -> float:
        """Return a number that is written as one: YAML reads 1:30.5 as 90.5."""
        value: float = super().construct_yaml_float(node)
        if ":" in node.value:
            problem = f"{node.value} means {value} to YAML; expected {value}, or '{node.value}' in quotes"
            raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark)
        return value


_UniqueKeys.add_constructor("tag:yaml.org,2002:int", _UniqueKeys.construct_yaml_int)
_UniqueKeys.add_constructor("tag:yaml.org,2002:float", _UniqueKeys.construct_yaml_float)
