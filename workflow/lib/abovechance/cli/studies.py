"""The command about two studies: what differs between them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from abovechance.cli.app import app, example_lines
from abovechance.cli.options import Json
from abovechance.cli.output import expanded, show


@app.command(
    epilog=example_lines("abovechance diff results/default ../other-machine/results/default"),
)
def diff(
    first: Annotated[Path, typer.Argument(help="A study's folder, results/<study>.", show_default=False)],
    second: Annotated[Path, typer.Argument(help="Another one's.", show_default=False)],
    as_json: Json = False,
) -> None:
    """What differs between two runs of a study: log-likelihoods, predictions, verdicts.

    Shown are the settings whose predictions or verdicts differ; with --json, all. Exit status 1 where a
    verdict differs, or a setting is in one of them only.
    """
    from abovechance.shown.differences import differ, differences, in_words

    found = differences(expanded(first, "FIRST"), expanded(second, "SECOND"))
    shown = found[differ(found) | (found["predictions"] > 0) | (found["prompts"] == 0)]
    if as_json:
        show(found, as_json)
    elif len(shown):
        show(shown, as_json)
    if not as_json:
        typer.echo(("\n" if len(shown) else "") + in_words(found))
    if differ(found).any():
        raise typer.Exit(1)
