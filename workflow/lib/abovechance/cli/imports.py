"""The command ``import``: other tools' results as a file that a study starts from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from abovechance.chance import published_scores
from abovechance.cli.app import app, example_lines
from abovechance.cli.inputs import given_paths, imported_of
from abovechance.cli.options import Chance, EachFile, Epoch, Filter, Metric, OneChoice, Results, stated_chance
from abovechance.cli.output import check_writable
from abovechance.core.errors import InputError
from abovechance.core.settings import SETTING, by_setting
from abovechance.core.words import counted
from abovechance.results.imported import IMPORTED


@app.command(
    "import",
    epilog=example_lines(
        "abovechance import helm_runs/ --output helm.parquet",
        "abovechance import logs/ --each-file --output mine.parquet",
    ),
)
def import_(
    results: Results,
    output: Annotated[Path, typer.Option("--output", "-o", help=".parquet file to write.")],
    best_of: Annotated[int | None, typer.Option("--prompts", "-t", hidden=True)] = None,
    each_file: EachFile = False,
    chance: Chance = None,
    choices: OneChoice = None,
    metric: Metric = None,
    filter_: Filter = None,
    epoch: Epoch = None,
) -> None:
    """Convert other tools' logs to a file that a study starts from.

    Name the file in the config of the study: `predictions: FILE`.
    """
    if best_of is not None:
        raise InputError(
            "a study needs the results of all prompts, so `import` has no option --prompts; use --each-file "
            "instead, even for a single prompt, or judge one best score with `abovechance check --prompts`"
        )
    from abovechance.importers import Options

    output = check_writable(output, "--output", (".parquet",), results)
    options = Options(
        chance=stated_chance(chance, choices),
        of_one_guess=choices is not None,
        metric=metric,
        filter=filter_,
        epoch=epoch,
        each_file=each_file,
        command="import",
    )
    paths = given_paths(results)
    if tables := list(filter(published_scores.is_score_table, paths)):
        raise InputError(f"{tables[0]}: is a table of best scores; use `abovechance check`")
    imported, metrics, names = imported_of(paths, options)
    facts = {
        "imported": [str(path) for path in results],
        "prompts": {setting.words: of_setting for setting, of_setting in names.items()},
        "metrics": {setting.words: metric for setting, metric in metrics.items()},
    }
    with IMPORTED.writing_parts(output, facts) as write:
        for _, rows in by_setting(imported):
            write(rows)
    prompts = imported[[*SETTING, "prompt"]].drop_duplicates()
    settings = len(prompts.drop_duplicates(SETTING))
    typer.echo(f"{output}: {counted(len(prompts), 'prompt')} in {counted(settings, 'setting')}")
    # a study names prompts by their numbers
    if any(len(of_setting) > 1 for of_setting in names.values()):
        for numbering in dict.fromkeys(map(tuple, names.values())):
            typer.echo("Prompts: " + ", ".join(f"{number} = {name}" for number, name in enumerate(numbering)))
