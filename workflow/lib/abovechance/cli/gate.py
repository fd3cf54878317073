"""The command that decides whether a candidate may replace a reference, for pull requests."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any
from xml.etree import ElementTree

import pandas as pd
import typer

from abovechance.cli.app import app, example_lines
from abovechance.cli.compare import clusters_of_studies
from abovechance.cli.options import EachFile, Epoch, Filter, Json, Metric, finite
from abovechance.cli.output import as_rows, check_writable, show, tell_note
from abovechance.cli.results import given_paths, responses_of
from abovechance.cli.screen import print_text
from abovechance.compare.gate import (
    CANNOT_TELL,
    DECISIONS,
    GATE_TASKS,
    WORSE,
    GateResult,
    gate as decide_gate,
)
from abovechance.compare.responses import arrange
from abovechance.core.errors import InputError
from abovechance.core.estimates import ALPHA
from abovechance.core.files import replacing
from abovechance.shown.tables import readable

CANDIDATE, REFERENCE = "candidate", "reference"
STATUS = dict(zip(DECISIONS, (0, 0, 1, 2), strict=True))


@app.command(
    epilog=example_lines(
        "abovechance gate new.eval old.eval --margin 0.02",
        "abovechance gate logs/new logs/old --margin 0.01 --junit gate.xml --summary gate.md",
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
    junit: Annotated[Path | None, typer.Option(help="JUnit XML file to write.", show_default=False)] = None,
    summary: Annotated[
        Path | None,
        typer.Option(
            help="Markdown file to which the result is appended, such as $GITHUB_STEP_SUMMARY.",
            show_default=False,
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Decide whether a candidate is better than a reference, not worse, or worse.

    The comparison is paired by examples. A candidate is "not worse" if it is not worse by the margin or more.
    With several tasks, the mean over tasks decides, and the candidate is also worse if it is worse on any
    task after adjustment. The exit status is 0 for better and not worse, 1 for worse, and 2 if the results
    cannot tell.
    """
    status = STATUS | dict(map(_exit_status, exit_ or []))
    junit_path = check_writable(junit, "--junit", (".xml",)) if junit else None
    from abovechance.importers import Options

    options = Options(None, metric, filter_, epoch, each_file, None, "compare")
    paths = given_paths([candidate, reference])
    tables = [
        _as_one_model(responses_of([path], options), path, name)
        for path, name in zip(paths, (CANDIDATE, REFERENCE), strict=True)
    ]
    responses = [*arrange(pd.concat(tables, ignore_index=True), clusters_of_studies(paths))]
    for note in dict.fromkeys(note for task in responses for note in task.notes):
        tell_note(note)
    if not responses:
        raise InputError(f"{paths[0]} and {paths[1]} have no task with the same number of shots in common")
    result = decide_gate(responses, margin, alpha)
    if junit_path:
        with replacing(junit_path) as beside:
            beside.write_bytes(junit_report(result))
    if summary:
        with summary.open("a", encoding="utf-8") as file:
            file.write(markdown_summary(result))
    if as_json:
        typer.echo(json.dumps(_as_object(result) | {"status": status[result.decision]}, indent=2))
    else:
        print_text(f"{result.decision}: {result.sentence}\n")
        show(result.tasks, as_json=False, columns=GATE_TASKS, upright=len(result.tasks) == 1)
    raise typer.Exit(status[result.decision])


def _exit_status(text: str) -> tuple[str, int]:
    """Return a decision and its exit status from ``decision=status``."""
    name, _, status = text.partition("=")
    decision = name.strip().replace("-", " ")
    if decision not in DECISIONS or not status.isdecimal() or int(status) > 255:
        names = ", ".join(name.replace(" ", "-") for name in DECISIONS)
        raise InputError(f"--exit has '{text}'; expected DECISION=STATUS with one of {names}, and 0 to 255")
    return decision, int(status)


def _as_one_model(table: pd.DataFrame, path: Path, name: str) -> pd.DataFrame:
    models = [*table["model"].unique()]
    if len(models) > 1:
        raise InputError(f"{path}: has the models {', '.join(map(str, models))}; expected the results of one")
    return table.assign(model=name)


def _as_object(result: GateResult) -> dict[str, Any]:
    report = {field.name: getattr(result, field.name) for field in fields(result)}
    report["needed"] = None if pd.isna(result.needed) else result.needed
    return report | {"sentence": result.sentence, "tasks": as_rows(result.tasks, GATE_TASKS)}


def junit_report(result: GateResult) -> bytes:
    """Return the result as JUnit XML: a test case for the gate, and one for each task."""
    cases = [("gate", result.decision, result.sentence)]
    for row in result.tasks.itertuples():
        decision = WORSE if row.task in result.worse_tasks else ""
        text = f"difference {row.difference:+.4f}, interval {row.low:+.4f} to {row.high:+.4f}"
        cases.append((f"{row.task}, {row.shots}-shot", decision, text))
    suite = ElementTree.Element("testsuite", name="abovechance gate", tests=str(len(cases)))
    failures = 0
    for name, decision, text in cases:
        case = ElementTree.SubElement(suite, "testcase", classname="abovechance", name=name)
        if decision == WORSE:
            failures += 1
            ElementTree.SubElement(case, "failure", message=text)
        elif decision == CANNOT_TELL:
            ElementTree.SubElement(case, "skipped", message=text)
        else:
            ElementTree.SubElement(case, "system-out").text = text
    suite.set("failures", str(failures))
    ElementTree.indent(suite)
    content: bytes = ElementTree.tostring(suite, encoding="utf-8", xml_declaration=True)
    return content


def markdown_summary(result: GateResult) -> str:
    """Return the result for a job's page."""
    table = readable(result.tasks, GATE_TASKS).to_markdown(index=False)
    return f"### abovechance gate: {result.decision}\n\n{result.sentence}\n\n{table}\n\n"
