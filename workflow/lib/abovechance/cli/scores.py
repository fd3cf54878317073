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
    study: Annotated[Path, typer.Argument(help="Folder of a study, results/<study>.", show_default=False)],
    drop: Annotated[
        bool, typer.Option("--drop", help="Delete the scores that the config does not ask for.")
    ] = False,
    as_json: Json = False,
) -> None:
    """List the scores that a study has stored.

    The list includes scores that the config no longer asks for. Unused scores are kept, so that they need
    not be computed again if the config asks for them later.
    """
    from abovechance.scoring.stored import drop_unasked, stored

    files = stored(expanded(study, "STUDY"))
    show(files.drop(columns="path"), as_json)
    unwanted = int(files["kept"].sum() + files.loc[~files["in_config"].astype(bool), "prompts"].sum())
    if drop:
        freed = drop_unasked(files)
        typer.echo(f"dropped {counted(unwanted, 'prompt')}, {freed / 1e6:.1f} MB", err=True)
    elif unwanted and not as_json:
        typer.echo(f"\nNot asked for now: {counted(unwanted, 'prompt')}; --drop deletes them.")
