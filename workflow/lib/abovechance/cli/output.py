"""Output of commands: tables, messages and files."""

from __future__ import annotations

import json
import math
import tempfile
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pandas as pd
import typer

from abovechance.core.columns import Column
from abovechance.core.errors import InputError
from abovechance.core.files import replacing, write_csv
from abovechance.core.untrusted import printable
from abovechance.shown.tables import readable


def show(
    table: pd.DataFrame,
    as_json: bool,
    upright: bool = False,
    columns: Mapping[str, Column] = MappingProxyType({}),
    most_rows: int | None = None,
    order: Sequence[str] = (),
) -> None:
    """Print a table for people, or as JSON: one object, or a list of rows.

    Parameters
    ----------
    upright
        Whether to print a row below another row, as lines of names and values.
    columns
        The declared columns.
    most_rows
        The number of rows that people see, if not all.
    order
        The columns that people see first.
    """
    if as_json:
        rows = as_rows(table, columns)
        show_json(rows[0] if upright else rows)
        return
    if upright:
        table = table.dropna(axis="columns", how="all")
        text = readable(table, columns)
        width = max(map(len, text.columns))
        for name, words, value in zip(text.columns, text.iloc[0], table.iloc[0], strict=True):
            typer.echo(f"{name:<{width}}  {_as_typed(words, value)}")
    else:
        from abovechance.cli.screen import print_table

        print_table(table, columns, most_rows, order)


def _as_typed(text: str, value: object) -> str:
    """Return a number with all digits if three decimals are not all, but few are: people typed it."""
    if isinstance(value, float) and text == f"{value:.3f}" and len(digits := str(float(value))) <= 8:
        return max(text, digits, key=len)
    return text


def show_json(value: Any) -> None:
    """Print objects and lists of numbers and texts as JSON, which has no infinite numbers: they are texts."""
    typer.echo(json.dumps(_finite(value), indent=2, allow_nan=False))


def _finite(value: Any) -> Any:
    """Return the same with null for each number that is missing, and a text for one that is infinite."""
    if isinstance(value, Mapping):
        return {name: _finite(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    if isinstance(value, float) and math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return None if isinstance(value, float) and math.isnan(value) else value


def tell_note(text: str) -> None:
    """Print what people should know to the error stream, in one line."""
    typer.echo(f"note: {printable(' '.join(text.split()))}", err=True)


def as_rows(
    table: pd.DataFrame, columns: Mapping[str, Column] = MappingProxyType({})
) -> list[dict[str, Any]]:
    """A table as JSON has it: missing values are null, and whole numbers are whole beside them."""
    kinds = {str(name): columns[str(name)].kind for name in table if str(name) in columns}
    whole = [name for name, kind in kinds.items() if kind == "whole number"]
    table = table.astype(dict.fromkeys(whole, "Int64"))
    rows = table.astype(object).where(table.notna(), None).to_dict("records")
    return [{str(name): value for name, value in row.items()} for row in rows]


def check_writable(path: Path, option: str, suffixes: tuple[str, ...], inputs: Iterable[str] = ()) -> Path:
    """The path with the home folder in place of ``~``; before any work, InputError unless it can be written.

    Parameters
    ----------
    option
        The option that names the file.
    suffixes
        The allowed ends of its name.
    inputs
        The arguments that name files and folders to read, none of which it may be.
    """
    path = expanded(path, option)
    if path.suffix not in suffixes:
        raise InputError(f"{option} {path}: expected a name that ends in {' or '.join(suffixes)}")
    if path.is_dir():
        raise InputError(f"{option} {path}: is a folder; expected a file")
    refuse_inputs(path, option, inputs)
    home = next(folder for folder in path.absolute().parents if folder.exists())
    try:
        with tempfile.TemporaryFile(dir=home):
            pass
    except OSError as error:
        raise InputError(f"{option} {path}: cannot be written: {error.strerror}") from None
    return path


def refuse_inputs(path: Path, option: str, inputs: Iterable[str]) -> None:
    """Raise InputError if a path to write is one of the files to read."""
    sources = (expanded(Path(name), "RESULTS") for name in inputs)
    if path.exists() and any(source.exists() and source.samefile(path) for source in sources):
        raise InputError(f"{option} {path}: is also an input; expected another file")


def expanded(path: Path, option: str) -> Path:
    """Return a path with the home folder in place of ``~``."""
    try:
        return path.expanduser()
    except RuntimeError:
        raise InputError(f"{option} {path}: there is no such home folder") from None


def write_figure(draw: Callable[[pd.DataFrame], Any], numbers: pd.DataFrame, path: Path) -> None:
    """Write a figure in the format of its suffix, and its numbers beside it."""
    beside_it = path.with_suffix(".csv")
    if beside_it.is_file() and not _is_of(beside_it, numbers):
        raise InputError(
            f"{path}: its numbers go to {beside_it}, which exists with other columns; use another name"
        )
    figure_drawn = draw(numbers)
    with replacing(path) as beside, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.filterwarnings("always", ".*missing from font")
        figure_drawn.savefig(beside)
    if caught:
        tell_note(f"{path}: the font of the figure lacks characters of some names")
    import matplotlib.pyplot as plt  # which is slow to import, and here already

    plt.close(figure_drawn)
    write_csv(numbers, beside_it)


def _is_of(path: Path, numbers: pd.DataFrame) -> bool:
    """Return whether a file has the heading of such numbers, as an earlier one has."""
    with path.open(encoding="utf-8", errors="replace") as file:
        return file.readline().strip() == ",".join(map(str, numbers.columns))
