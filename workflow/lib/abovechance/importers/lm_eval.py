"""lm-evaluation-harness: ``samples_<task>_<date>.jsonl`` beside ``results_<date>.json``.

Numbers are written as texts. A sample stands once for each filter of its task. In a
multiple-choice task, each choice is one request; its log-likelihood is recorded, so ties are
seen, which the tool itself gives to the first choice.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from abovechance.core.errors import InputError
from abovechance.core.reading import read_json
from abovechance.importers.contract import Options, Run, files_below, judged, logged, tied
from abovechance.results.predictions import UNKNOWN

LOOKS_LIKE = "lm-evaluation-harness's samples_<task>_<date>.jsonl (made with --log_samples)"
METRICS = ("acc", "exact_match", "acc_norm")


def find(path: Path) -> list[Path]:
    """The sample logs in a path."""
    return files_below(path, "samples_*.jsonl")


def read(path: Path, options: Options) -> Iterator[Run]:
    """The one run of a sample log."""
    samples = [_parsed(line, f"{path}, row {row}") for row, line in _lines(path)]
    if not samples:
        raise InputError(f"{path}: has no samples")
    chosen, notes = _of_filter(samples, path, options), []
    match = re.fullmatch(r"samples_(.+)_(\d{4}-\d\d-\d\dT[\d.-]+)\.jsonl", path.name)
    task, date = match.groups() if match else (path.stem.removeprefix("samples_"), "")
    results_file = path.with_name(f"results_{date}.json")
    results = read_json(results_file) if results_file.is_file() else {}
    shots = results.get("n-shot", {}).get(task, 0)
    rows = pd.DataFrame([_row(sample, f"{path}, row {row}", options) for row, sample in chosen])
    if ties := int(rows["tie"].sum()):
        notes.append(f"{path.name}: {tied(ties)}")
    model = results.get("model_name") or path.parent.name or "model"
    yield Run(str(path), str(model), task, int(shots or 0), rows, notes)


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    with path.open(encoding="utf-8") as file:
        for row, line in enumerate(file, start=1):
            if line.strip():
                yield row, line


def _parsed(line: str, where: str) -> dict[str, Any]:
    try:
        sample = json.loads(line)
    except json.JSONDecodeError as error:
        raise InputError(f"{where}: is not JSON ({error}); was the file cut off?") from None
    if not isinstance(sample, dict) or "doc_id" not in sample:
        raise InputError(f"{where}: has no 'doc_id'; right would be a sample of lm-evaluation-harness")
    return sample


def _of_filter(
    samples: list[dict[str, Any]], path: Path, options: Options
) -> list[tuple[int, dict[str, Any]]]:
    """The samples of one filter with their rows in the file."""
    filters = list(dict.fromkeys(str(sample.get("filter", "none")) for sample in samples))
    # a task of one filter needs no choice, whatever was asked for of the others
    wanted = options.filter if options.filter and len(filters) > 1 else filters[0]
    if wanted not in filters:
        raise InputError(f"{path}: has no filter '{wanted}'; it has {', '.join(filters)}")
    if len(filters) > 1 and options.filter is None:
        raise InputError(
            f"{path}: each sample stands once for each of the filters {', '.join(filters)}; right would be "
            f"--filter {filters[0]}"
        )
    return [
        (row, sample)
        for row, sample in enumerate(samples, start=1)
        if str(sample.get("filter", "none")) == wanted
    ]


def _row(sample: dict[str, Any], where: str, options: Options) -> dict[str, object]:
    example = str(sample["doc_id"])
    scores = _choice_scores(sample)
    right = None if scores is None else _targets(sample, len(scores), where)
    texts = _choice_texts(sample, len(scores or []))
    if scores is not None and right is not None and options.metric in (None, "acc"):
        return {"example": example, **judged(scores, right, texts, where)}
    metric = options.metric or next((name for name in METRICS if name in sample), None)
    if metric is None or metric not in sample:
        has = [name for name in sample.get("metrics", []) if name in sample]
        raise InputError(
            f"{where}: has no metric '{metric or METRICS[0]}'; right would be --metric {has or 'NAME'}"
        )
    value = float(sample[metric])
    if value not in (0.0, 1.0):
        raise InputError(f"{where}: {metric} is {value}; right would be a metric of 0 or 1 for each sample")
    row = {"example": example, "predicted": UNKNOWN, "correct": value == 1, "tie": False}
    if scores is None or right is None:
        return row | {"chance": float("nan")}
    return row | {"chance": len(right) / len(scores)} | logged(scores, right, texts)


def _choice_scores(sample: dict[str, Any]) -> list[float] | None:
    """The log-likelihood of each choice; None where the sample is not of a multiple-choice task."""
    answers = sample.get("filtered_resps") or []
    if len(answers) < 2 or not all(isinstance(answer, list) and len(answer) == 2 for answer in answers):
        return None
    if "acc_mutual_info" in sample:
        answers = answers[: len(answers) // 2]  # the rest are without the context
    return [float(answer[0]) for answer in answers]


def _targets(sample: dict[str, Any], choices: int, where: str) -> set[int]:
    """The numbers of the correct choices; written as a number, a list of them, or a choice's text."""
    target = str(sample.get("target", ""))
    try:
        value = ast.literal_eval(target)
    except (ValueError, SyntaxError):
        value = target
    numbers = value if isinstance(value, list) else [value]
    if all(isinstance(number, int) and 0 <= number < choices for number in numbers):
        return set(numbers)
    wanted = {str(number).strip() for number in numbers}
    found = {i for i, text in enumerate(_choice_texts(sample, choices)) if text and text.strip() in wanted}
    if not found:
        raise InputError(f"{where}: target '{target}' is none of its {choices} choices")
    return found


def _choice_texts(sample: dict[str, Any], choices: int) -> list[str | None]:
    """The choices as they were scored, behind the context; None where the log lacks one."""
    requests = sample.get("arguments") or {}
    if isinstance(requests, dict):
        found = [requests.get(f"gen_args_{i}", {}).get("arg_1") for i in range(choices)]
    else:  # older logs: a list of context and choice
        pairs = [request for request in requests if isinstance(request, list) and len(request) == 2]
        found = [pairs[i][1] if i < len(pairs) else None for i in range(choices)]
    return [None if text is None else str(text) for text in found]
