"""Commands about studies that are there: what differs between two, what one costs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from abovechance.cli.app import app, example_lines
from abovechance.cli.options import Json
from abovechance.cli.output import expanded, show
from abovechance.core.errors import InputError


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


@app.command(epilog=example_lines("abovechance cost config.yaml", "abovechance cost results/default"))
def cost(
    study: Annotated[
        Path,
        typer.Argument(help="A study's folder, results/<study>, or its config.", show_default=False),
    ],
    as_json: Json = False,
) -> None:
    """What a study will cost, as `make cost` counted it, and what it has cost so far."""
    import pandas as pd

    from abovechance.core.reading import read_yaml
    from abovechance.shown.costs import in_words, of_machines, of_models

    folder = expanded(study, "STUDY")
    if folder.is_file():
        folder = Path("results", str(read_yaml(folder).get("study", "")))
    tables = {name: folder / "cost" / f"{name}.csv" for name in ("estimate", "machines", "spent")}
    found = {name: pd.read_csv(path) for name, path in tables.items() if path.is_file()}
    if not found:
        raise InputError(f"{folder}: has no costs; right would be `make cost` with its config first")
    if as_json:
        typer.echo(json.dumps({name: table.to_dict("records") for name, table in found.items()}, indent=2))
        return
    if "estimate" in found:
        typer.echo(in_words(found["estimate"]) + "\n")
        show(of_machines(found["machines"]), as_json)
    if len(found.get("spent", ())):
        typer.echo("\nSpent so far:\n" if "estimate" in found else "Spent so far:\n")
        show(of_models(found["spent"]), as_json)
