"""The command about the examples of a benchmark."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd
import typer

from abovechance.cli.app import app, example_lines
from abovechance.cli.inputs import given_paths, responses_of
from abovechance.cli.options import NO_RESULTS, EachFile, Epoch, Example, Filter, Json, Metric, Results
from abovechance.cli.output import as_rows, check_writable, show, show_json, tell_note
from abovechance.core.errors import InputError
from abovechance.core.files import write_csv
from abovechance.core.words import counted
from abovechance.items.matrices import Matrix, in_short, items_of, matrices

SHOWN = 20  # items of a task
# That only the better half gets an item right has a probability of 1/10 with five rows, and of 1/20 with six.
LEAST_ROWS = 6
# a screen is too narrow for all
COLUMNS = ["example", "rows", "difficulty", "corrected", "half", "other_half"]


@app.command(
    epilog=example_lines(
        "abovechance items results/default",
        "abovechance items logs/ --output items.csv",
        "abovechance items answers.csv --json",
    )
)
def items(
    results: Results = NO_RESULTS,
    _example: Example = False,
    each_file: EachFile = False,
    metric: Metric = None,
    filter_: Filter = None,
    epoch: Epoch = None,
    output: Annotated[Path | None, typer.Option(help="CSV file for all items.", show_default=False)] = None,
    as_json: Json = False,
) -> None:
    """Find examples that separate strong from weak models.

    RESULTS can be evaluation logs, a study's folder, or a CSV with one row per example (example, correct,
    model, prompt). A row is a combination of a model, a number of shots and a prompt. An item is an example.
    Discrimination (the column corrected) is the correlation between an item and the rest of the items. If it
    is near 0, the item does not separate strong from weak rows. If it is negative, better rows fail the item
    more often, for example because the gold label is wrong. With few rows, many items are negative by chance.
    If rows differ in the answer that they prefer, all items with the less preferred answer can be negative.
    To separate this preference from skill, run a study with the key `items`.
    """
    from abovechance.importers import Options

    path = check_writable(output, "--output", (".csv",), results) if output else None
    table = responses_of(
        given_paths(results),
        Options(metric=metric, filter=filter_, epoch=epoch, each_file=each_file, command="items"),
    )
    task_matrices = [*matrices(table)]
    small = {
        matrix.task: f"{matrix.task}: has {counted(len(matrix.rows), 'row')} (a model with a number of "
        f"shots and a prompt) and {counted(len(matrix.examples), 'example')}; expected at least two examples "
        f"and {LEAST_ROWS} rows, because chance can explain any discrimination with fewer rows"
        for matrix in task_matrices
        if len(matrix.rows) < LEAST_ROWS or len(matrix.examples) < 2
    }
    task_matrices = [matrix for matrix in task_matrices if matrix.task not in small]
    if not task_matrices:
        raise InputError(next(iter(small.values())))
    task_matrices = [*map(_with_enough_rows, task_matrices)]
    for reason in small.values():
        tell_note(reason)
    by_task = [items_of(matrix) for matrix in task_matrices]
    short = pd.DataFrame(
        [in_short(matrix, task_items) for matrix, task_items in zip(task_matrices, by_task, strict=True)]
    )
    listed = pd.concat(by_task, ignore_index=True)
    if path:
        write_csv(listed, path)
    if as_json:
        show_json({"tasks": as_rows(short), "items": as_rows(listed)})
        return
    show(short.dropna(axis="columns", how="all"), as_json=False)
    for task, task_items in listed.groupby("task", sort=False):
        negative = task_items[(task_items["corrected"] < 0) & ~task_items["constant"]]
        if len(negative):
            more = f", the first {SHOWN} of {len(negative)}" if len(negative) > SHOWN else ""
            typer.echo(f"\n{task}: items that better rows fail more often{more}\n")
            show(negative.head(SHOWN)[COLUMNS], as_json=False)
    if (listed["corrected"] < 0).any():
        tell_note(
            "a negative item may have a wrong gold label, or a gold answer that better rows choose less "
            "often; if items were unrelated, half of them would be negative by chance"
        )


def _with_enough_rows(matrix: Matrix) -> Matrix:
    """Return the matrix without the items that too few rows have, and print a note on these."""
    is_enough = np.isfinite(matrix.scores).sum(axis=0) >= LEAST_ROWS
    if is_enough.all():
        return matrix
    omitted = [name for name, enough in zip(matrix.examples, is_enough, strict=True) if not enough]
    number = f"{counted(len(omitted), 'example')}, such as {omitted[0]}, in fewer than {LEAST_ROWS} rows"
    note = f"{matrix.task}: {number}"
    if is_enough.sum() < 2:
        raise InputError(f"{note}; expected at least two examples in more rows")
    tell_note(f"{note}; left out, because chance can explain any discrimination with fewer rows")
    scores = matrix.scores[:, is_enough]
    has_items = np.flatnonzero(np.isfinite(scores).any(axis=1))
    examples = [name for name, enough in zip(matrix.examples, is_enough, strict=True) if enough]
    rows = matrix.rows.iloc[has_items].reset_index(drop=True)
    return Matrix(matrix.task, rows, examples, scores[has_items])
