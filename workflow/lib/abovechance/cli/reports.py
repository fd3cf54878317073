"""Decisions for other programs: exit statuses, JUnit XML, and Markdown for a job's page."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal
from xml.etree import ElementTree

import pandas as pd
import typer

from abovechance.cli.output import check_writable, expanded, refuse_inputs
from abovechance.core.columns import Column
from abovechance.core.errors import InputError
from abovechance.core.files import replacing
from abovechance.core.untrusted import printable
from abovechance.shown.tables import readable

LONGEST_NAME = 80  # characters of a name in Markdown
Junit = Annotated[Path | None, typer.Option(help="JUnit XML file to write.", show_default=False)]
Summary = Annotated[
    Path | None,
    typer.Option(
        help="Markdown file to which the result is appended, such as $GITHUB_STEP_SUMMARY.",
        show_default=False,
    ),
]


@dataclass(frozen=True)
class Case:
    """A test case of a JUnit report.

    Attributes
    ----------
    name
        Name of the case.
    outcome
        ``skipped`` if the results cannot tell.
    text
        Reason of the outcome.
    """

    name: str
    outcome: Literal["passed", "failed", "skipped"]
    text: str


def exit_statuses(defaults: Mapping[str, int], options: Iterable[str]) -> dict[str, int]:
    """Return the exit status of each decision.

    Parameters
    ----------
    defaults
        {decision: its usual status}.
    options
        Texts such as ``cannot-tell=0``.

    Raises
    ------
    InputError
        If a text does not name a decision and a status from 0 to 255.
    """
    statuses = dict(defaults)
    for text in options:
        name, _, status = text.partition("=")
        decision = name.strip().replace("-", " ")
        if decision not in defaults or not re.fullmatch("[0-9]{1,3}", status) or int(status) > 255:
            names = ", ".join(name.replace(" ", "-") for name in defaults)
            raise InputError(f"--exit has '{text}'; expected one of {names}, = and a status from 0 to 255")
        statuses[decision] = int(status)
    return statuses


def check_reports(
    junit: Path | None, summary: Path | None, inputs: Sequence[str]
) -> tuple[Path | None, Path | None]:
    """Return the paths of both reports, before any work; the JUnit report of an earlier run is deleted.

    Raises
    ------
    InputError
        If a path cannot be written, or is one of the inputs.
    """
    if junit:
        junit = check_writable(junit, "--junit", (".xml",), inputs)
        junit.unlink(missing_ok=True)
    if summary:
        summary = expanded(summary, "--summary")
        refuse_inputs(summary, "--summary", inputs)
        try:
            with tempfile.TemporaryFile(dir=summary.parent) if not summary.exists() else summary.open("a"):
                pass
        except OSError as error:
            raise InputError(f"--summary {summary}: cannot be written: {error.strerror}") from None
    return junit, summary


def write_junit(path: Path, suite_name: str, cases: Sequence[Case]) -> None:
    """Write a JUnit XML report."""
    outcomes = [case.outcome for case in cases]
    counts = {"failures": outcomes.count("failed"), "skipped": outcomes.count("skipped")}
    suite = ElementTree.Element("testsuite", name=suite_name, tests=str(len(cases)), errors="0")
    for name, count in counts.items():
        suite.set(name, str(count))
    for case in cases:
        element = ElementTree.SubElement(suite, "testcase", classname=suite_name, name=printable(case.name))
        if case.outcome == "passed":
            ElementTree.SubElement(element, "system-out").text = printable(case.text)
        else:
            tag = "failure" if case.outcome == "failed" else "skipped"
            ElementTree.SubElement(element, tag, message=printable(case.text))
    ElementTree.indent(suite)
    with replacing(path) as beside:
        beside.write_bytes(ElementTree.tostring(suite, encoding="utf-8", xml_declaration=True))


def append_summary(
    path: Path, title: str, sentence: str, table: pd.DataFrame, columns: Mapping[str, Column]
) -> None:
    """Append a decision and its table to a Markdown file."""
    cells = readable(table, columns).map(in_markdown)
    lines = [f"### {in_markdown(title)}", "", in_markdown(sentence, len(sentence)), ""]
    with path.open("a", encoding="utf-8") as file:
        file.write("\n".join([*lines, cells.to_markdown(index=False, disable_numparse=True), "", ""]))


def in_markdown(text: str, longest: int = LONGEST_NAME) -> str:
    """Return a text that Markdown shows as it is; long ones are shortened."""
    text = printable(str(text))
    if len(text) > longest:
        text = text[: longest - 3] + "..."
    return re.sub(r"([\\`*_\[\]<>|#~&])", r"\\\1", text)
