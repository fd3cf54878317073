"""lighteval: ``details_<task>_<date>.parquet``, a row per example.

A row has the ``doc`` (choices, number of the gold one), the ``model_response`` (a
log-likelihood for each choice; lists of tokens in it are padded with -1, so their
lengths say nothing) and the ``metric``. Logs of early versions have these as texts. What lighteval
reports of all examples lies in ``results/<model>/results_<date>.json``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from abovechance.core.errors import InputError
from abovechance.core.reading import as_written_by, read_json, read_parquet
from abovechance.importers.contract import (
    Options,
    Reported,
    Run,
    files_below,
    judged,
    logged,
    recorded_row,
    tied,
    truth,
)

TOOL = "lighteval"
OPTIONS = ("metric",)
LOOKS_LIKE = f"{TOOL}'s details_<task>_<date>.parquet (made with --save-details)"
METRICS = ("acc", "exact_match", "em", "quasi_exact_match")


def find(path: Path) -> list[Path]:
    """The details files in a path."""
    return files_below(path, "details_*.parquet")


def read(path: Path, options: Options) -> Iterator[Run]:
    """The one run of a details file."""
    table = read_parquet(path)
    if missing := {"doc", "metric"} - set(table.column_names):
        raise InputError(f"{path}: lacks the columns {sorted(missing)}; right would be {LOOKS_LIKE}")
    if not table.num_rows:
        raise InputError(f"{path}: has no rows")
    with as_written_by(TOOL, str(path)):
        cells = table.to_pylist()
    rows = []
    for number, row in enumerate(cells):
        with as_written_by(TOOL, f"{path}, row {number}"):
            rows.append(_row(row, number, f"{path}, row {number}", options))
    frame = pd.DataFrame(rows)
    match = re.fullmatch(r"details_(.+)_(\d{4}-\d\d-\d\dT.+)\.parquet", path.name)
    name = match[1] if match else path.stem.removeprefix("details_")
    task, _, shots = name.rpartition("|")
    if not shots.isdecimal():
        task, shots = name, str(len(_value(cells[0]["doc"]).get("fewshot_samples") or []))
    notes = []
    if ties := int(frame["tie"].sum()):
        notes.append(f"{path.name}: {tied(ties)}")
    # .../details/<organisation>/<model>/<date>/details_<task>_<date>.parquet
    above = path.parent.parent
    model = above.name if above.parent.name in ("", "details") else f"{above.parent.name}/{above.name}"
    reported = _reported(path, name, match[2], options.metric or "acc") if match else None
    yield Run(str(path), model or "model", task, int(shots), frame, notes, reported)


def _reported(path: Path, task: str, date: str, metric: str) -> Reported | None:
    """What lighteval reports of all examples, where its file of results lies in its place."""
    parts = path.parent.parent.parts
    if "details" not in parts:
        return None
    place = len(parts) - 1 - parts[::-1].index("details")
    file = Path(*parts[:place], "results", *parts[place + 1 :], f"results_{date}.json")
    if not file.is_file():
        return None
    with as_written_by(TOOL, str(file)):
        value = read_json(file).get("results", {}).get(task.replace("|", ":"), {}).get(metric)
        return None if value is None else Reported(float(value), f"{file} ({metric})")


def _value(cell: Any) -> Any:
    """A cell, read where it is a text."""
    if not isinstance(cell, str):
        return cell
    try:
        return ast.literal_eval(cell)
    except (SyntaxError, RecursionError, MemoryError) as error:
        raise ValueError(f"{cell[:40]!r} cannot be read: {error}") from None


def _row(row: dict[str, Any], number: int, where: str, options: Options) -> dict[str, object]:
    doc, response = _value(row["doc"]), _value(row.get("model_response") or {})
    metric = {name: value for name, value in _value(row["metric"]).items() if value is not None}
    choices = doc.get("choices") or []
    example = {"example": str(number if doc.get("id") in (None, "") else doc["id"])}
    scores = response.get("logprobs") or []
    # twice as many where unconditioned ones follow
    of_choices = len(choices) > 1 and len(scores) in (len(choices), 2 * len(choices))
    right = _right(doc.get("gold_index"), len(choices), where) if of_choices else None
    texts = list(map(str, choices))
    if right and options.metric is None and len(scores) == len(choices):
        recorded = {"recorded": float(truth(metric["acc"], "acc", where))} if "acc" in metric else {}
        return {**example, **judged(list(map(float, scores)), right, texts, where), **recorded}
    name = options.metric or next((name for name in METRICS if name in metric), None)
    if name is None or name not in metric:
        raise InputError(
            f"{where}: has no metric '{name or METRICS[0]}'; right would be --metric "
            f"{' or '.join(sorted(metric)) or 'NAME'}"
        )
    row = recorded_row(truth(metric[name], name, where), len(choices) if of_choices else 0, right)
    return {**example, **row, **(logged(scores[: len(choices)], right, texts) if right else {})}


def _right(gold: Any, choices: int, where: str) -> set[int]:
    """The numbers of the correct choices."""
    numbers = list(gold) if isinstance(gold, list | tuple) else [gold]
    if not numbers or not all(type(number) is int and 0 <= number < choices for number in numbers):
        raise InputError(
            f"{where}: gold_index is {gold}; right would be a number from 0 to {choices - 1}, or several"
        )
    return set(numbers)
