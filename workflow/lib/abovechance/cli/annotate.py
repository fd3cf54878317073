"""The command that adds verdicts to records of Every Eval Ever."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

from abovechance.chance.random_baseline import MOST_PROMPTS
from abovechance.cli.app import app, example_lines
from abovechance.cli.inputs import given_paths
from abovechance.cli.options import Chance, Json, OneChoice, stated_chance
from abovechance.cli.output import expanded, show, show_json, tell_note
from abovechance.core.columns import Column
from abovechance.core.errors import InputError
from abovechance.core.files import write_json
from abovechance.core.words import counted


@app.command(
    epilog=example_lines(
        "abovechance annotate data/ --prompts 20 --output annotated/",
        "abovechance annotate record.json --choices 4 --prompts 1 --output annotated/",
    )
)
def annotate(
    records: Annotated[
        list[str], typer.Argument(help="Aggregate records of Every Eval Ever, or folders with them.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the records with verdicts.")],
    prompts: Annotated[
        int,
        typer.Option(
            "--prompts", "-t", min=1, max=MOST_PROMPTS, help="Number of prompts tried for each result."
        ),
    ],
    chance: Chance = None,
    choices: OneChoice = None,
    as_json: Json = False,
) -> None:
    """Add verdicts on chance to records of Every Eval Ever.

    For each result, the new record has the chance level, the number of prompts tried, the p-value and the
    verdict; with --prompts 1 and rows of samples also a confidence interval if it had none. The rows of
    samples next to a record are used and copied. Without them, the record must have the number of samples,
    and --chance or --choices is required. Results that are no accuracy get no verdict.
    """
    from abovechance.extensions.every_eval_ever import NO_CHANCE, REASON, annotate as annotated, records_in
    from abovechance.importers.every_eval_ever import rows_of

    folder = expanded(output, "--output")
    if folder.is_file():
        raise InputError(f"--output {folder}: is a file; expected a folder")
    single_chance = stated_chance(chance, choices)
    files = records_in(given_paths(records))
    _check_targets(files, folder)
    of_one_guess = choices is not None
    results = [(file, name, *annotated(file, prompts, single_chance, of_one_guess)) for file, name in files]
    verdicts = [verdict for _, _, _, of_record in results for verdict in of_record]
    if not verdicts:
        raise InputError(f"{files[0][0]}: has no results; expected one or more (evaluation_results)")
    reasons = [verdict.get(REASON) for verdict in verdicts]
    if NO_CHANCE in reasons and all(reasons):
        raise InputError(f"{files[0][0]}: {NO_CHANCE}")
    for verdict, reason in zip(verdicts, reasons, strict=True):
        if reason:
            tell_note(f"{verdict['model']}, {verdict['task']}, {verdict['metric']}: no verdict: {reason}")
    for note in dict.fromkeys(note for verdict in verdicts for note in verdict.get("notes", [])):
        tell_note(note)
    for file, name, record, _ in results:
        target = folder / name
        write_json(record, target)
        if (rows := rows_of(file)) is not None:
            shutil.copy2(rows, target.with_name(rows.name))
    if as_json:
        show_json(verdicts)
        return
    columns = ["model", "task", "metric", "accuracy", "chance_level", "maximum_baseline", "p_value"]
    table = pd.DataFrame(verdicts).reindex(columns=[*columns, "better_than_chance"])
    show(table, as_json=False, columns={"p_value": Column.tail("p-value")})
    typer.echo(f"\n{folder}: {counted(len(results), 'record')}")


def _check_targets(files: list[tuple[Path, Path]], folder: Path) -> None:
    """Raise InputError if a record would overwrite itself or another one."""
    files_by_name: dict[Path, Path] = {}
    for file, name in files:
        if (folder / name).resolve() == file.resolve():
            raise InputError(f"--output {folder}: contains {file} itself; use another folder")
        if (another := files_by_name.setdefault(name, file)) != file:
            raise InputError(
                f"{file}: would be written to {folder / name}, as {another}; annotate one of them"
            )
