"""Tables that people read, each as CSV, Markdown and LaTeX."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from abovechance.chance.baselines import BASELINES
from abovechance.chance.best_of import is_above
from abovechance.core.columns import Column
from abovechance.core.files import check_names, write_csv, write_text
from abovechance.core.p_values import probability
from abovechance.core.tables import Tables, TableSchema
from abovechance.core.untrusted import printable


def write(schema: TableSchema, table: pd.DataFrame, path: Path) -> None:
    """Write a table in the format of the suffix: Parquet and CSV with all digits, Markdown and LaTeX rounded.

    Other stages read the Parquet file; the other formats are for people. Texts may come from files of
    strangers, so Markdown and HTML markup is escaped.
    """
    table = table[[name for name in schema.columns if name in table]]
    match path.suffix:
        case ".parquet":
            schema.write(table, path, {})
        case ".csv":
            write_csv(table, path)
        case ".md":
            marked = readable(table, schema.columns).map(_no_markup)
            write_text(marked.to_markdown(index=False, disable_numparse=True) + "\n", path)
        case ".tex":
            text = readable(table, schema.columns)
            layout = "l" * len(text.columns)
            write_text(text.to_latex(index=False, escape=True, column_format=layout), path)
        case suffix:
            raise ValueError(f"{path}: there are no tables in files that end in '{suffix}'")


def _no_markup(text: str) -> str:
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    # underscores within a word are not markup
    return re.sub(r"([\\|`*\[\]~]|(?<![^\W_])_|_(?![^\W_]))", r"\\\1", escaped)


def write_all(tables: Tables, outputs: Sequence[str]) -> None:
    """Write the tables of a rule, which must be those that it lists.

    Parameters
    ----------
    outputs
        The rule's output files, each named after its table.
    """
    paths = [Path(output) for output in outputs]
    check_names([schema.name for schema, _ in tables], paths)
    for schema, table in tables:
        for path in paths:
            if path.stem == schema.name:
                write(schema, table, path)


def readable(table: pd.DataFrame, columns: Mapping[str, Column]) -> pd.DataFrame:
    """Return the table as text: headings in words, tails with two digits, other numbers with three decimals.

    Parameters
    ----------
    columns
        Declarations of its columns; for other columns, the type decides.
    """
    text = pd.DataFrame(index=table.index)
    for name in table.columns:
        column = columns.get(name) or _undeclared(table[name])
        text[name.replace("_", " ")] = [_written(value, column) for value in table[name]]
    return _distinguished(table, text)


def _undeclared(values: pd.Series) -> Column:
    inferred = values.infer_objects() if values.dtype == object else values
    if pd.api.types.is_float_dtype(inferred):
        return Column.number("")
    return Column.whole("") if pd.api.types.is_integer_dtype(inferred) else Column.text("")


def _written(value: Any, column: Column) -> str:
    """Return a value as people see it; texts of files may hold anything."""
    if isinstance(value, str):
        return printable(value)
    if not pd.api.types.is_list_like(value) and pd.isna(value):
        return column.lacking
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if pa.types.is_floating(column.type):
        return probability(value) if column.is_tail else _decimal(value)
    return f"{value:.0f}" if pa.types.is_integer(column.type) else printable(str(value))


def _distinguished(table: pd.DataFrame, readable_table: pd.DataFrame) -> pd.DataFrame:
    """Write more digits of baselines that would look equal to the accuracy and are not."""
    accuracy = next((name for name in ("accuracy", "best_accuracy") if name in table), None)
    for name in [baseline.column for baseline in BASELINES] if accuracy else ():
        if name not in table:
            continue
        heading = name.replace("_", " ")
        written = zip(table[accuracy], table[name], readable_table[heading], strict=True)
        readable_table[heading] = [
            _more_decimals(value, digits) if abs(digits - value) < 0.001 and _differ(digits, value) else text
            for digits, value, text in written
        ]
    return readable_table


def _differ(first: float, second: float) -> bool:
    return bool(is_above(first, second) or is_above(second, first))


def _more_decimals(value: float, second: float) -> str:
    """Return a number with three decimals, or more until it is written in another way than the other one."""
    return next(text for digits in range(3, 18) if (text := f"{value:.{digits}f}") != f"{second:.{digits}f}")


def _decimal(value: float) -> str:
    """Return a number with three decimals, and more if these would show 0 or 1 and it is neither."""
    if 0.9995 <= value < 1 - 1e-12:  # nearer to 1, it is rounding
        decimals = (f"{value:.{digits}f}" for digits in range(4, 18))
        return next(text for text in decimals if not text.startswith("1"))
    return f"{value + 0.0:.3f}" if value == 0 or abs(value) >= 0.0005 else f"{value:.1e}"
