"""lighteval: ``details_<task>_<date>.parquet``, a row per example.

A row has the ``doc`` (choices, number of the gold one), the ``model_response`` (a
log-likelihood for each choice; lists of tokens in it are padded with -1, so their
lengths say nothing) and the ``metric``. Logs of early versions have these as texts.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.lib
import pyarrow.parquet as pq

from abovechance.core.errors import InputError
from abovechance.importers.contract import Options, Run, files_below, judged, logged, tied
from abovechance.results.predictions import UNKNOWN

LOOKS_LIKE = "lighteval's details_<task>_<date>.parquet (made with --save-details)"
METRICS = ("acc", "exact_match", "em", "quasi_exact_match")


def find(path: Path) -> list[Path]:
    """The details files in a path."""
    return files_below(path, "details_*.parquet")


def read(path: Path, options: Options) -> Iterator[Run]:
    """The one run of a details file."""
    try:
        table = pq.read_table(path)
    except (pyarrow.lib.ArrowInvalid, OSError) as error:
        raise InputError(f"{path}: cannot be read as Parquet: {error}") from None
    if missing := {"doc", "metric"} - set(table.column_names):
        raise InputError(f"{path}: lacks the columns {sorted(missing)}; right would be {LOOKS_LIKE}")
    rows = [
        _row(row, number, f"{path}, row {number}", options) for number, row in enumerate(table.to_pylist())
    ]
    frame = pd.DataFrame(rows)
    match = re.fullmatch(r"details_(.+)_(\d{4}-\d\d-\d\dT.+)\.parquet", path.name)
    name = match[1] if match else path.stem.removeprefix("details_")
    task, _, shots = name.rpartition("|")
    if not shots.isdigit():
        task, shots = name, str(_shots(table))
    notes = []
    if ties := int(frame["tie"].sum()):
        notes.append(f"{path.name}: {tied(ties)}")
    # .../details/<organisation>/<model>/<date>/details_<task>_<date>.parquet
    above = path.parent.parent
    model = above.name if above.parent.name in ("", "details") else f"{above.parent.name}/{above.name}"
    yield Run(str(path), model or "model", task, int(shots), frame, notes)


def _shots(table: Any) -> int:
    """How many demonstrations the first example had."""
    doc = _value(table.column("doc")[0].as_py()) if table.num_rows else {}
    return len(doc.get("fewshot_samples") or [])


def _value(cell: Any) -> Any:
    """A cell, read where it is a text."""
    return ast.literal_eval(cell) if isinstance(cell, str) else cell


def _row(row: dict[str, Any], number: int, where: str, options: Options) -> dict[str, object]:
    doc, response = _value(row["doc"]), _value(row.get("model_response") or {})
    metric = {name: value for name, value in _value(row["metric"]).items() if value is not None}
    choices = doc.get("choices") or []
    gold = doc.get("gold_index")
    right = set(np.atleast_1d(gold).tolist()) if gold is not None else set()
    example = str(doc.get("id") or number)
    scores = response.get("logprobs") or []
    of_choices = len(choices) > 1 and len(scores) == len(choices)
    texts = list(map(str, choices))
    if of_choices and options.metric in (None, "acc"):
        return {"example": example, **judged(scores, right, texts, where)}
    name = options.metric or next((name for name in METRICS if name in metric), None)
    if name is None or name not in metric:
        raise InputError(
            f"{where}: has no metric '{name or METRICS[0]}'; right would be --metric {sorted(metric)}"
        )
    value = float(metric[name])
    if value not in (0.0, 1.0):
        raise InputError(f"{where}: {name} is {value}; right would be a metric of 0 or 1 for each example")
    row = {"example": example, "predicted": UNKNOWN, "correct": value == 1, "tie": False}
    if not of_choices:
        return row | {"chance": float("nan")}
    return row | {"chance": len(right) / len(choices)} | logged(scores, right, texts)
