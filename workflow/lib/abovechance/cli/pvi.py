"""The command about which examples are hard for a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd
import typer

from abovechance.cli.app import app, example_lines
from abovechance.cli.inputs import runs_of
from abovechance.cli.options import Example, Json, Metric, results_or_example
from abovechance.cli.output import as_rows, expanded, show, show_json, tell_note
from abovechance.core.errors import InputError
from abovechance.core.settings import SETTING
from abovechance.core.words import counted
from abovechance.pvi import files, overview, runs
from abovechance.pvi.table import VOCABULARY

EXAMPLES_SHOWN = 10  # examples to show
LOGS = (".json", ".jsonl", ".eval", ".parquet")
UNITS = (files.NATS, files.BITS)
# Signs of a fault that a run without inputs has by definition.
OF_NO_INPUT = ("constant-scores", "same-prompt")


@app.command(
    epilog=example_lines(
        "abovechance pvi results.csv",
        "abovechance pvi examples.csv --unit nats",
        "abovechance pvi samples_rte.jsonl --null samples_rte_without_inputs.jsonl",
    )
)
def pvi(
    results: Annotated[
        Path,
        typer.Argument(
            help="CSV with one row per run or per example, or a tool's log with log-likelihoods.",
            show_default=False,
            callback=results_or_example,
        ),
    ] = Path(),
    _example: Example = False,
    null: Annotated[
        Path | None,
        typer.Option(help="Log of the same examples without their inputs.", show_default=False),
    ] = None,
    unit: Annotated[
        str | None,
        typer.Option(
            help="Unit of the values in a CSV: bits or nats.",
            show_default="nats if a row is a run, bits if it is an example",
        ),
    ] = None,
    over: Annotated[
        str | None,
        typer.Option(
            help="How probabilities from logs are normalized: over the vocabulary or the choices.",
            show_default="vocabulary",
        ),
    ] = None,
    metric: Metric = None,
    as_json: Json = False,
) -> None:
    """Find the examples that are hard for a model (PVI).

    PVI (pointwise V-usable information) measures, in bits, how much an input tells a model about the answer.
    For a CSV with one row per example, or for two logs, the command reports the mean PVI and the hardest
    examples. For a CSV with one row per run, it reports the accuracy on the examples with the lowest and the
    highest PVI, and tests whether exemplar sets differ. This is the format that the authors of in-context PVI
    released.
    """
    path = expanded(results, "RESULTS")
    if unit not in (None, *UNITS):
        raise InputError(f"--unit is '{unit}'; expected one of {', '.join(UNITS)}")
    if null is not None:
        if unit is not None:
            raise InputError("--unit has no effect with --null, because logs are in nats; leave it out")
        _examples(_of_logs(path, expanded(null, "--null"), over or VOCABULARY, metric), as_json)
    elif metric is not None:
        raise InputError(
            "--metric has no effect without --null, because only logs have several metrics; leave it out"
        )
    elif over is not None:
        raise InputError(
            "--over has no effect without --null, because a CSV contains final values; leave it out"
        )
    elif path.is_dir() or path.suffix in LOGS:
        raise InputError(
            f"{path}: is one log, but PVI requires two; use --null with a log of the same examples "
            "without their inputs"
        )
    elif files.is_runs(path):
        _runs(files.read_runs(path, unit or files.NATS), as_json)
    else:
        _examples(files.read_examples(path, unit or files.BITS), as_json)


def _runs(table: pd.DataFrame, as_json: bool) -> None:
    """Summarize a table of runs."""
    ends = runs.tails(table)[[*SETTING, "sets", "accuracy", *runs.ENDS]]
    anova = runs.anova(table)
    if as_json:
        tests = anova.drop(columns="sets").astype({"numbers": "Int64"})  # none of runs without shots
        show(ends.merge(tests, on=["model", "task"], how="left"), as_json)
        return
    typer.echo(
        f"{counted(len(table), 'run')}. Accuracy on the examples with the lowest and highest PVI, averaged "
        "over exemplar sets:\n"
    )
    show(ends, as_json)
    typer.echo(
        "\nDo exemplar sets differ in the mean PVI of correct predictions? The test has one number per "
        "exemplar set and number of shots, so its power is low:\n"
    )
    show(anova, as_json)


def _examples(table: pd.DataFrame, as_json: bool) -> None:
    """Summarize the PVI of examples, and list the hardest ones."""
    summary = pd.DataFrame([overview.summarize_examples(table)])
    if infinite := int(np.isinf(table["pvi"]).sum()):
        tell_note(
            f"information, low, high and examples leave out {counted(infinite, 'infinite value')} of PVI; "
            "the other numbers do not"
        )
    hardest_first = table.sort_values("pvi", kind="stable")
    if as_json:
        show_json(as_rows(summary)[0] | {"hardest_first": as_rows(hardest_first)})
        return
    show(summary, as_json, upright=True)
    typer.echo("\nThe hardest examples:\n")
    few = hardest_first.head(EXAMPLES_SHOWN)
    show(few.map(lambda value: value if not isinstance(value, str) else value[:60]), as_json)


def _check_choices(tables: list[pd.DataFrame], paths: tuple[Path, Path]) -> None:
    """Raise InputError if both logs have the texts of choices, and those of an example are not the same."""
    first, second = (table.set_index("example").get("choices", pd.Series(dtype=object)) for table in tables)
    for example, choices in second.dropna().items():
        expected = first.get(example)
        if expected is not None and [*choices] != [*expected]:
            raise InputError(
                f"{paths[1]}: example '{example}' has the choices {[*choices]}, and in {paths[0]} "
                f"{[*expected]}; expected the same choices in the same order"
            )


def _of_logs(likelihoods: Path, null: Path, over: str, metric: str | None) -> pd.DataFrame:
    """PVI of the examples of a run with inputs, and of one without."""
    from abovechance.importers import Options
    from abovechance.pvi.table import CHOICES, of_likelihoods
    from abovechance.results.likelihoods import OF_CHOICES, of_imported

    if over not in (VOCABULARY, CHOICES):
        raise InputError(f"--over is '{over}'; expected {VOCABULARY} or {CHOICES}")
    tables, models = [], []
    for path, expected in ((likelihoods, ()), (null, OF_NO_INPUT)):
        runs = runs_of([path], Options(command="pvi", metric=metric, expected=expected))
        if len(runs) != 1:
            raise InputError(f"{path}: has {len(runs)} runs; expected one run of one model on one task")
        if not {*OF_CHOICES} <= {*runs[0].rows}:
            raise InputError(f"{path}: has no log-likelihoods of choices, which PVI requires")
        if (twice := runs[0].rows["example"].duplicated()).any():
            example = runs[0].rows["example"][twice].iloc[0]
            raise InputError(f"{path}: example '{example}' occurs twice; expected each example once")
        tables.append(runs[0].rows.assign(prompt=0))
        models.append(runs[0].model)
    if models[0] != models[1]:
        tell_note(
            f"the two logs are from different models: '{models[0]}' and '{models[1]}' (a log that names no "
            "model is called by its folder)"
        )
    with_inputs, without_inputs = map(of_imported, tables)
    measured = of_likelihoods(with_inputs, without_inputs, over)
    _check_choices(tables, (likelihoods, null))
    return measured.drop(columns="prompt").merge(tables[0][["example", "correct"]], on="example")
