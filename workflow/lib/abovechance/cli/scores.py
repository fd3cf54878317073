"""The command about a study's own scores."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from abovechance.cli.app import app, example_lines
from abovechance.cli.options import Json
from abovechance.cli.output import expanded, show
from abovechance.core.errors import InputError
from abovechance.core.words import counted


@app.command(
    epilog=example_lines("abovechance scores results/default", "abovechance scores results/x --drop")
)
def scores(
    study: Annotated[Path, typer.Argument(help="Folder of a study, results/<study>.", show_default=False)],
    drop: Annotated[
        bool, typer.Option("--drop", help="Delete the scores that the config does not use.")
    ] = False,
    as_json: Json = False,
) -> None:
    """List the scores that a study has stored.

    The list includes scores that the config no longer uses. They are kept, so they are not computed again if
    a later config uses them.
    """
    from abovechance.scoring.stored import drop_unrequested, stored

    files = stored(expanded(study, "STUDY"))
    if files.empty and not as_json:
        raise InputError(f"{study}: has no finished scores yet; run the study first")
    show(files.drop(columns="path"), as_json)
    unwanted = int(files["kept"].sum() + files.loc[~files["in_config"].astype(bool), "prompts"].sum())
    if drop:
        freed = drop_unrequested(files)
        typer.echo(f"dropped {counted(unwanted, 'prompt')}, {freed / 1e6:.1f} MB", err=True)
    elif unwanted and not as_json:
        typer.echo(
            f"\nNot used by the current config: {counted(unwanted, 'prompt')}. --drop deletes their scores."
        )
