"""Text and tables on the screen: the most telling rows and columns first, and never too wide."""

from __future__ import annotations

import re
import shutil
import sys
import textwrap
from collections.abc import Mapping, Sequence
from itertools import accumulate

import pandas as pd
import typer
from rich.cells import cell_len, chop_cells
from rich.console import Console
from rich.table import Table
from rich.text import Text

from abovechance.core.columns import Column
from abovechance.shown.tables import readable

PIPE_WIDTH = 120  # of a table in a file or in another program
NARROW = (24, 16, 12)  # least widths of a column of longer texts: the first that leaves room for VALUES
VALUES = 3  # columns beside those that name a row, which should be seen
GAP = 2  # characters between columns
# Columns that name a row. One that is the same in all rows is written once, above the table.
KEYS = ("source", "model", "task", "shots", "metric", "examples", "prompts")


def screen_width() -> int:
    """Return the columns of the screen; those of a pipe are ``PIPE_WIDTH``, or what ``COLUMNS`` says."""
    return shutil.get_terminal_size((PIPE_WIDTH, 24)).columns


def print_text(text: str) -> None:
    """Print sentences, on a screen in lines that fit."""
    lines = text.split("\n")
    on_screen = sys.stdout is not None and sys.stdout.isatty()
    typer.echo("\n".join(map(_filled, lines)) if on_screen else text)


def _filled(line: str) -> str:
    indent = " " * (len(line) - len(line.lstrip(" ")))
    return textwrap.fill(
        line, screen_width(), subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def print_table(
    table: pd.DataFrame,
    columns: Mapping[str, Column],
    most_rows: int | None = None,
    order: Sequence[str] = (),
) -> None:
    """Print a table.

    Columns without values are left out. If the screen is too narrow, long texts are broken over lines; then
    columns are left out from the right, and named below the table.

    Parameters
    ----------
    columns
        The declared columns.
    most_rows
        The number of rows to print, if not all.
    order
        The columns that come first, the most telling ones at the beginning.
    """
    table = table.dropna(axis="columns", how="all")
    first = [name for name in dict.fromkeys(order) if name in table]
    table = table[[*first, *table.columns.difference(first, sort=False)]]
    shared = [name for name in KEYS if name in table and table[name].nunique(dropna=False) == 1]
    if 0 < len(shared) < len(table.columns):
        values = readable(table[shared].head(1), columns).iloc[0]
        print_text("; ".join(f"{heading}: {text}" for heading, text in values.items()) + "\n")
        table = table.drop(columns=shared)
    numeric = [_is_numeric(table[name], columns.get(str(name))) for name in table]
    cells = readable(table.head(most_rows or len(table)), columns)
    named = sum(name in KEYS for name in table)
    widths = _widths(cells, numeric, screen_width(), named + VALUES)
    grid = Table(box=None, pad_edge=False, padding=(0, GAP // 2))
    for name, wide, is_number in zip(cells.columns, widths, numeric, strict=False):
        grid.add_column(Text(name, style="bold"), justify="right" if is_number else "left", width=wide)
    for row in cells.itertuples(index=False):
        grid.add_row(*(Text(_folded(text, wide)) for text, wide in zip(row, widths, strict=False)))
    console = Console(file=sys.stdout, width=sum(widths) + GAP * len(widths), highlight=False)
    with console.capture() as capture:
        console.print(grid)
    typer.echo("\n".join(line.rstrip() for line in capture.get().splitlines()))
    if left_out := list(cells.columns[len(widths) :]):
        print_text(
            f"\nNot shown, because the screen is narrow (--json has all columns): {', '.join(left_out)}"
        )
    if len(cells) < len(table):
        typer.echo(f"\n{len(table) - len(cells)} more rows: --all")


def _is_numeric(values: pd.Series, column: Column | None) -> bool:
    if column is not None:
        return column.kind in ("number", "whole number")
    return pd.api.types.is_numeric_dtype(values.infer_objects()) and not pd.api.types.is_bool_dtype(values)


def _widths(cells: pd.DataFrame, numeric: Sequence[bool], width: int, least: int) -> list[int]:
    """The widths of the columns that fit, from the left: whole numbers, and texts as far as there is room.

    Texts become narrower if fewer than ``least`` columns fit.
    """
    words = [max(map(cell_len, str(name).split())) for name in cells.columns]
    whole = [max(map(cell_len, cells.iloc[:, place]), default=1) for place in range(len(words))]
    for narrow in NARROW:
        needed = [
            max(word, text if is_number else min(text, narrow))
            for word, text, is_number in zip(words, whole, numeric, strict=True)
        ]
        total = list(accumulate(needed, lambda used, wide: used + GAP + wide))
        fitting = max(1, sum(used <= width for used in total))
        if fitting >= min(least, len(needed)):
            break
    widths, room = needed[:fitting], width - total[fitting - 1]
    for place in range(fitting):
        more = max(0, min(whole[place] - widths[place], room))
        widths[place] += more
        room -= more
    return widths


def _folded(text: str, width: int) -> str:
    """A text in lines of at most this width, broken behind blanks and the signs that join words in names."""
    lines = [""]
    for part in re.findall(r"[^\s_/-]*[\s_/-]?", text):
        if lines[-1] and cell_len(lines[-1]) + cell_len(part.rstrip()) > width:
            lines.append("")
        lines[-1] += part
        if cell_len(lines[-1].rstrip()) > width:
            lines[-1:] = chop_cells(lines[-1], width)
    return "\n".join(lines)
