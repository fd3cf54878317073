"""What commands print and write."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import typer

from abovechance.core.errors import InputError
from abovechance.core.files import replacing, write_csv
from abovechance.shown.tables import readable


def show(table: pd.DataFrame, as_json: bool, upright: bool = False) -> None:
    """Print a table for people, or as JSON: one object, or a list of rows."""
    if as_json:
        rows = table.astype(object).where(table.notna(), None).to_dict("records")
        typer.echo(json.dumps(rows[0] if upright else rows, indent=2))
        return
    shown = readable(table)
    if upright:
        width = max(map(len, shown.columns))
        typer.echo("\n".join(f"{name:<{width}}  {shown[name].iloc[0]}" for name in shown.columns))
    else:
        typer.echo(shown.to_string(index=False))


def write_figure(draw: Callable[[pd.DataFrame], Any], numbers: pd.DataFrame, path: Path) -> None:
    """Write a figure in the format of its suffix, and its numbers beside it."""
    if path.suffix not in (".png", ".pdf", ".svg"):
        raise InputError(f"--figure {path}: right would be a name that ends in .png, .pdf or .svg")
    drawn = draw(numbers)
    with replacing(path) as beside:
        drawn.savefig(beside)
    write_csv(numbers, path.with_suffix(".csv"))
