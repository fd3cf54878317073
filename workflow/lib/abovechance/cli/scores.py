"""The command about a study's own scores."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from abovechance.cli.app import app, example_lines
from abovechance.cli.options import Json
from abovechance.cli.output import counted, expanded, show


@app.command(
    epilog=example_lines("abovechance scores results/default", "abovechance scores results/x --drop")
)
def scores(
    study: Annotated[Path, typer.Argument(help="A study's folder, results/<study>.", show_default=False)],
    drop: Annotated[
        bool, typer.Option("--drop", help="Delete those that the study does not ask for now.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Which scores a study has stored: those that it asks for, and those of prompts and settings that it
    asked for once, which come back when it does again."""
    from abovechance.scoring.stored import drop_unasked, stored

    found = stored(expanded(study, "STUDY"))
    show(found.drop(columns="path"), as_json)
    unwanted = int(found["kept"].sum() + found.loc[~found["asked"].astype(bool), "prompts"].sum())
    if drop:
        freed = drop_unasked(found)
        typer.echo(f"dropped {counted(unwanted, 'prompt')}, {freed / 1e6:.1f} MB", err=True)
    elif unwanted and not as_json:
        typer.echo(f"\nNot asked for now: {counted(unwanted, 'prompt')}; --drop deletes them.")
