"""The command about how much scores vary over seeds and training."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd
import typer

from abovechance.cli.app import app, example_lines
from abovechance.cli.options import NO_RESULTS, All, Chance, Example, FigureFile, Json, ResultFiles
from abovechance.cli.output import expanded, show, tell_note, write_figure
from abovechance.cli.screen import print_text
from abovechance.core.errors import InputError, nearest
from abovechance.core.words import counted
from abovechance.variance.evaluations import ACCURACY, check_finite, in_percent
from abovechance.variance.results_files import read_evaluations
from abovechance.variance.summary import SERIES, notes_on_sizes, of_evaluations

MOST_PANELS = 24  # panels of a figure
MOST_ROWS = 20
# the most telling first
ORDER = (
    *("task", "metric", "model", "shots", "mean", "monotonicity", "leaves_chance", "chance", "deviation"),
    *("interval", "snr"),
)


@app.command(
    epilog=example_lines(
        "abovechance variance evals/pythia-160m",
        "abovechance variance evals.zip --task piqa --figure curves.png",
    )
)
def variance(
    results: ResultFiles = NO_RESULTS,
    _example: Example = False,
    task: Annotated[
        list[str] | None, typer.Option(help="Task to show. Repeat for several.", show_default=False)
    ] = None,
    metric: Annotated[
        list[str] | None, typer.Option(help="Metric to show. Repeat for several.", show_default=False)
    ] = None,
    ddof: Annotated[
        int,
        typer.Option(
            min=0, max=1, help="Degrees of freedom subtracted when computing standard deviations over seeds."
        ),
    ] = 1,
    chance: Chance = None,
    figure: FigureFile = None,
    show_all: All = False,
    as_json: Json = False,
) -> None:
    """Measure how scores vary over seeds and checkpoints.

    RESULTS are result files of lm-evaluation-harness (results_....json), one for each seed and checkpoint of
    a model. The model's revision (step1000) or the file's name states the checkpoint. The output has the mean
    and the standard deviation over seeds, the signal-to-noise ratio, the interval over examples, and a
    measure of steady improvement (monotonicity). With --chance, it also reports the checkpoint from
    which on the best accuracy is significantly above chance.
    """
    if "-" in results:
        raise InputError("variance reads no standard input; name result files or folders")
    table = read_evaluations([expanded(Path(name), "RESULTS") for name in results])
    table = _chosen(_chosen(table, "task", task), "metric", metric)
    check_finite(table)
    for note in [*in_percent(table), *([] if chance is None else _notes_on_chance(table, chance))]:
        tell_note(note)
    table = table.assign(chance=np.nan if chance is None else chance)
    summary = of_evaluations(table, ddof)
    if chance is None:
        summary = summary.drop(columns=["chance", "leaves_chance"])
    if figure:
        _draw(table, figure)
    if as_json:
        show(summary, as_json)
        return
    # tasks of one evaluation may have different numbers of shots
    runs = table.groupby(["model", "seed", "checkpoint", "task"], dropna=False)["shots"].nunique()
    evaluations = int(runs.groupby(["model", "seed", "checkpoint"], dropna=False).max().sum())
    some_left_out = bool(summary["left_out"].any())
    left_out = " Checkpoints that only some seeds have are left out." if some_left_out else ""
    print_text(
        f"{counted(evaluations, 'evaluation')} of {counted(table['model'].nunique(), 'model')}. Scores that "
        "improve most steadily in training come first. Monotonicity is Kendall's tau-b between a score and "
        f"the order of checkpoints, with the opposite sign if lower is better.{left_out}\n"
    )
    unused = ["lower_is_better", "tau"] if some_left_out else ["lower_is_better", "tau", "left_out"]
    columns_shown = summary.drop(columns=unused)
    columns_shown["examples"] = (
        columns_shown["examples"].astype("Int64").where(columns_shown["examples"] >= 0)
    )
    columns_shown = columns_shown.sort_values("monotonicity", ascending=False, kind="stable")
    show(
        columns_shown, as_json, columns=SERIES.columns, most_rows=None if show_all else MOST_ROWS, order=ORDER
    )


def _chosen(table: pd.DataFrame, column: str, names: list[str] | None) -> pd.DataFrame:
    """Return the rows of the tasks or metrics that an option names; all rows if there are none."""
    if not names:
        return table
    known_names = sorted(table[column].unique())
    for name in names:
        if name not in known_names:
            raise InputError(f"--{column} {name}: is not in these results; {nearest(name, known_names)}")
    return table[table[column].isin(names)]


def _notes_on_chance(table: pd.DataFrame, chance: float) -> list[str]:
    accuracies = table[table["metric"].str.contains(ACCURACY)]
    notes, tasks = notes_on_sizes(table), accuracies["task"].nunique()
    if tasks < 2:
        return notes
    return [
        f"--chance {chance:g} is used for all {tasks} tasks; choose tasks with this chance by --task",
        *notes,
    ]


def _draw(table: pd.DataFrame, path: Path) -> None:
    from abovechance.shown.variance import curve_numbers, curves

    numbers = curve_numbers(table)
    if (panels := len(numbers[["task", "metric"]].drop_duplicates())) > MOST_PANELS:
        raise InputError(
            f"--figure: expected at most {MOST_PANELS} tasks and metrics, got {panels}; use --task and "
            "--metric"
        )
    write_figure(curves, numbers, path)
