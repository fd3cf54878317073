"""The command that decides whether a candidate may replace a reference, for pull requests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import pandas as pd
import typer

from abovechance.cli.app import app, example_lines
from abovechance.cli.compare import of_trainings
from abovechance.cli.inputs import (
    clusters_of_studies,
    different_metrics,
    given_paths,
    notes_of,
    responses_of_runs,
    runs_of,
)
from abovechance.cli.options import EachFile, Epoch, Filter, Json, Metric, finite
from abovechance.cli.output import as_rows, show, show_json, tell_note
from abovechance.cli.reports import (
    Case,
    Junit,
    Summary,
    append_summary,
    check_reports,
    exit_statuses,
    write_junit,
)
from abovechance.cli.screen import print_text
from abovechance.compare.gate import (
    CANNOT_TELL,
    DECISIONS,
    GATE_TASKS,
    WORSE,
    GateResult,
    gate as decide_gate,
)
from abovechance.compare.responses import Responses, arrange
from abovechance.core.errors import InputError
from abovechance.core.estimates import ALPHA
from abovechance.core.words import counted

if TYPE_CHECKING:
    from abovechance.importers import Options
    from abovechance.importers.contract import Run

CANDIDATE, REFERENCE = "candidate", "reference"
STATUS = dict(zip(DECISIONS, (0, 0, 1, 2), strict=True))


@app.command(
    epilog=example_lines(
        "abovechance gate new.eval old.eval --margin 0.02",
        "abovechance gate new old --margin 0.01 --junit gate.xml --summary gate.md",
        "abovechance gate new.csv old.csv --exit cannot-tell=0",
    )
)
def gate(
    candidate: Annotated[str, typer.Argument(help="Results of the candidate: logs, a folder or a CSV.")],
    reference: Annotated[str, typer.Argument(help="Results of the reference, on the same examples.")],
    margin: Annotated[
        float,
        typer.Option(
            "--margin", "-m", min=0, max=1, callback=finite, help="Largest loss that does not matter."
        ),
    ] = 0.0,
    alpha: Annotated[
        float, typer.Option(min=0.0001, max=0.4, help="Probability of each kind of wrong decision.")
    ] = ALPHA,
    exit_: Annotated[
        list[str] | None,
        typer.Option(
            "--exit",
            metavar="DECISION=STATUS",
            help="Exit status of a decision, such as cannot-tell=0.  [default: better=0, not-worse=0, "
            "worse=1, cannot-tell=2]",
            show_default=False,
        ),
    ] = None,
    each_file: EachFile = False,
    metric: Metric = None,
    filter_: Filter = None,
    epoch: Epoch = None,
    allow_missing: Annotated[
        bool,
        typer.Option(
            "--allow-missing", help="Compare common examples if the candidate lacks some of the reference's."
        ),
    ] = False,
    junit: Junit = None,
    summary: Summary = None,
    as_json: Json = False,
) -> None:
    """Decide whether a candidate may replace a reference.

    The decision is better, not worse, worse or cannot tell.

    The comparison is paired by examples. A candidate is "not worse" if its loss is shown to be below the
    margin. With several tasks, the mean over tasks decides, and the candidate is also worse if it is worse on
    any task after adjustment. The exit status is 0 for better and not worse, 1 for worse, 2 if the results
    cannot tell, and 3 for errors.
    """
    statuses = exit_statuses(STATUS, exit_ or [])
    junit_path, summary_path = check_reports(junit, summary, (candidate, reference))
    from abovechance.importers import Options

    paths = given_paths([candidate, reference])
    # in folders, the name of a CSV is that of its task
    command = "gate" if any(path.is_dir() for path in paths) else "compare"
    options = Options(
        metric=metric, filter=filter_, epoch=epoch, each_file=each_file, complete=True, command=command
    )
    responses, notes = _responses(paths, options, allow_missing)
    result = decide_gate(responses, margin, alpha)
    sentence = " ".join([result.sentence, *(f"Note: {note}." for note in notes)])
    if as_json:
        report = _as_object(result) | {"notes": notes, "status": statuses[result.decision]}
        show_json(report)
    else:
        print_text(f"{result.decision}: {result.sentence}\n")
        show(result.tasks, as_json=False, columns=GATE_TASKS, upright=len(result.tasks) == 1)
    if junit_path:
        write_junit(junit_path, "abovechance gate", _cases(result, sentence))
    if summary_path:
        title = f"abovechance gate: {result.decision}"
        append_summary(summary_path, title, sentence, result.tasks, GATE_TASKS)
    raise typer.Exit(statuses[result.decision])


def _responses(paths: list[Path], options: Options, allow_missing: bool) -> tuple[list[Responses], list[str]]:
    """Return the responses of the candidate and the reference on each task, and notes.

    Raises
    ------
    InputError
        If the two have different metrics or no common task, or if the candidate lacks results.
    """
    from abovechance.importers import mismatches

    sides = [runs_of([path], options) for path in paths]
    files = [{Path(run.file).resolve(): run.file for run in side} for side in sides]
    if files[0].keys() <= files[1].keys():  # but tasks that did not change can be links
        raise InputError(f"all results in {paths[0]} are files of {paths[1]}; expected two runs")
    tables = [
        _of_one_model(runs, path, options, name)
        for runs, path, name in zip(sides, paths, (CANDIDATE, REFERENCE), strict=True)
    ]
    table = pd.concat(tables, ignore_index=True)
    if metrics := different_metrics(table):
        raise InputError(f"{paths[0]} and {paths[1]} have different metrics: {metrics}; use --metric")
    missing = _missing(*tables)
    tasks, answered = (
        [{*map(tuple, side[columns].astype(str).drop_duplicates().to_numpy())} for side in tables]
        for columns in (["task", "shots"], ["task", "shots", "example"])
    )
    if tasks[0] & tasks[1] and not answered[0] & answered[1]:
        raise InputError(f"{paths[0]} and {paths[1]} have no example in common; expected the same ids")
    if missing and not allow_missing:
        raise InputError(
            f"{paths[0]}: lacks results of {paths[1]}: {missing}; expected all of them, because missing "
            "examples are often the failed ones (--allow-missing compares the common ones)"
        )
    responses = [*arrange(table, clusters_of_studies(paths))]
    runs = [run for side in sides for run in side]
    notes_on_runs = [note for side in sides for note in notes_of(side)]  # which it has printed
    notes = [note for note in mismatches(runs) if note not in notes_on_runs]
    notes += dict.fromkeys(note for task in responses for note in task.notes)
    notes += [f"the candidate lacks results of the reference: {missing}"] if missing else []
    if not responses:
        raise InputError(f"{paths[0]} and {paths[1]} have no task with the same number of shots in common")
    for note in notes:
        tell_note(note)
    return responses, [*dict.fromkeys(notes_on_runs), *notes]


def _of_one_model(runs: list[Run], path: Path, options: Options, name: str) -> pd.DataFrame:
    """Return the responses in a path, all of one model, which may have several training seeds.

    Raises
    ------
    InputError
        If there are several models, or several results of one task that are not marked as prompts.
    """
    table = of_trainings([path], responses_of_runs(runs, [path], options, by_file=False))
    models = [*table["model"].unique()]
    if len(models) > 1:
        raise InputError(f"{path}: has the models {', '.join(map(str, models))}; expected the results of one")
    keys = ["task", "shots", "prompt", "example", *table.columns.intersection(["seed"])]
    if (twice := table.duplicated(keys)).any():
        row = table[twice].iloc[0]
        raise InputError(
            f"{path}: example '{row['example']}' of {row['task']}, {row['shots']}-shot occurs twice; "
            "expected one result, or --each-file if each file is another prompt"
        )
    return table.assign(model=name)


def _missing(candidate: pd.DataFrame, reference: pd.DataFrame) -> str:
    """Return in words which results of the reference the candidate lacks; empty if none.

    A result is that of an example under a prompt; or of an example, if the two have no prompt in common.
    """
    parts = []
    of_candidate = dict([*candidate.groupby(["task", "shots"])])
    for (task, shots), rows in reference.groupby(["task", "shots"], sort=False):
        rows_of_candidate = of_candidate.get((task, shots), candidate[:0])
        keys, unit = ["example"], "example"
        if rows["prompt"].nunique() > 1 and rows["prompt"].isin(rows_of_candidate["prompt"]).any():
            keys, unit = ["prompt", "example"], "result"
        expected, present = (
            set(table[keys].itertuples(index=False, name=None)) for table in (rows, rows_of_candidate)
        )
        lacking = len(expected - present)
        if lacking == len(expected):
            parts.append(f"{task}, {shots}-shot")
        elif lacking:
            parts.append(f"{lacking} of {counted(len(expected), unit)} of {task}, {shots}-shot")
    return "; ".join(parts)


def _as_object(result: GateResult) -> dict[str, Any]:
    report = {field.name: getattr(result, field.name) for field in fields(result)}
    return report | {"sentence": result.sentence, "tasks": as_rows(result.tasks, GATE_TASKS)}


def _cases(result: GateResult, sentence: str) -> Sequence[Case]:
    """Return a test case for the gate, and one for each task."""
    cases = [_case("gate", result.decision, sentence)]
    for row in result.tasks.itertuples():
        name = f"{row.task} ({row.shots}-shot)"
        decision = str(row.decision)
        if decision == WORSE and len(result.tasks) > 1 and name not in result.worse_tasks:
            decision = CANNOT_TELL  # after adjustment
        text = f"{row.decision}: {row.difference:+.4f}, interval {row.low:+.4f} to {row.high:+.4f}"
        cases.append(_case(name, decision, text))
    return cases


def _case(name: str, decision: str, text: str) -> Case:
    return Case(
        name, "failed" if decision == WORSE else "skipped" if decision == CANNOT_TELL else "passed", text
    )
