"""The command that looks for broken logs."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated

import typer

from abovechance.cli.app import app, example_lines
from abovechance.cli.inputs import given_paths, predictions_of
from abovechance.cli.options import All, Epoch, Filter, Json, Metric
from abovechance.cli.output import show_json
from abovechance.cli.screen import print_text
from abovechance.core.untrusted import printable
from abovechance.core.words import counted
from abovechance.doctor.suspicion import SEVERITIES

if TYPE_CHECKING:
    from abovechance.importers import Diagnosis

MOST_SHOWN = 5  # results with the same sign


@app.command(
    epilog=example_lines(
        "abovechance doctor logs/", "abovechance doctor new.eval old.eval", "abovechance doctor logs/ --json"
    )
)
def doctor(
    results: Annotated[list[str], typer.Argument(help="Files or folders.", show_default=False)],
    metric: Metric = None,
    filter_: Filter = None,
    epoch: Epoch = None,
    show_all: All = False,
    as_json: Json = False,
) -> None:
    """Find signs that evaluation logs are broken.

    RESULTS can be logs of other tools, a study's folder, or CSV files. For each sign, the output has the
    evidence and a likely cause. Signs are grave (the scores are very likely wrong), suspicious (sound logs
    rarely look like this), or notes. The exit status is 1 if a sign is grave or suspicious.
    """
    from abovechance.importers import Options, diagnose

    paths = [predictions_of(path) or path for path in given_paths(results)]
    diagnoses, runs = diagnose(paths, Options(metric=metric, filter=filter_, epoch=epoch, command="doctor"))
    counts = Counter(diagnosis.suspicion.severity for diagnosis in diagnoses)
    if as_json:
        rows = [
            {"file": diagnosis.file, "model": diagnosis.model, "task": diagnosis.task}
            | vars(diagnosis.suspicion)
            for diagnosis in diagnoses
        ]
        show_json({"results": runs, "suspicions": rows})
    else:
        totals = ", ".join(
            f"{counts[severity]} {severity}{'s' * (severity == 'note' and counts[severity] > 1)}"
            for severity in SEVERITIES
            if counts[severity]
        )
        print_text(f"{counted(runs, 'result')} checked: {totals or 'nothing suspicious'}.")
        by_check: dict[tuple[str, str], list[Diagnosis]] = {}
        for diagnosis in diagnoses:
            key = diagnosis.suspicion.severity, diagnosis.suspicion.check
            by_check.setdefault(key, []).append(diagnosis)
        for (severity, check), group in by_check.items():
            print_text(f"\n{severity}: {check}")
            for diagnosis in group if show_all else group[:MOST_SHOWN]:
                names = f" ({diagnosis.model}, {diagnosis.task})" if diagnosis.model else ""
                evidence = diagnosis.suspicion.evidence
                end = "" if evidence.endswith("?") else "."
                print_text(printable(f"  {diagnosis.file}{names}: {evidence}{end}"))
            if len(group) > MOST_SHOWN and not show_all:
                print_text(f"  {len(group) - MOST_SHOWN} more: --all")
            print_text(f"  Likely cause: {printable(group[0].suspicion.cause)}.")
    raise typer.Exit(1 if counts["grave"] or counts["suspicious"] else 0)
