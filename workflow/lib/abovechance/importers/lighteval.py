"""lighteval: ``details_<task>_<date>.parquet``, a row per example.

A row has the ``doc`` (choices, number of the gold one), the ``model_response`` (a
log-likelihood for each choice; lists of tokens in it are padded with -1, so their
lengths say nothing) and the ``metric``. Logs of early versions have these as texts. What lighteval
reports of all examples lies in ``results/<model>/results_<date>.json``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from abovechance.core.errors import InputError
from abovechance.core.files import files_below
from abovechance.core.provenance import digest
from abovechance.core.reading import as_written_by, read_json, read_parquet
from abovechance.core.untrusted import named
from abovechance.importers.contract import (
    Options,
    Reported,
    Run,
    UnsupportedMetric,
    judged,
    logged,
    metric_note,
    not_of_choice,
    recorded_row,
    text_or_none,
    tied,
    truth,
    use_metric,
)
from abovechance.metrics.names import is_share_of_correct

TOOL = "lighteval"
OPTIONS = ("metric",)
LOOKS_LIKE = f"{TOOL}'s details_<task>_<date>.parquet (made with --save-details)"
METRICS = ("acc", "exact_match", "em", "quasi_exact_match")
ESTIMATED = ("irt", "pirt", "gpirt")  # of tinyBenchmarks: what is reported is no mean


def find(path: Path) -> list[Path]:
    """Return the details files in a path."""
    return files_below(path, "details_*.parquet")


def read(path: Path, options: Options) -> Iterator[Run]:
    """Yield the one run of a details file."""
    table = read_parquet(path)
    if missing := {"doc", "metric"} - set(table.column_names):
        raise InputError(f"{path}: lacks the columns {sorted(missing)}; expected {LOOKS_LIKE}")
    if not table.num_rows:
        raise InputError(f"{path}: has no rows")
    with as_written_by(TOOL, str(path)):
        cells = table.to_pylist()
    names = []
    for number, cell in enumerate(cells):
        with as_written_by(TOOL, f"{path}, row {number}"):
            cell["metric"], cell["doc"] = _value(cell["metric"]), _value(cell["doc"])
            names.append([name for name, value in cell["metric"].items() if value is not None])
    metric = _metric(list(dict.fromkeys(name for row in names for name in row)), options.metric, path)
    frame = _frame(path, cells, names, metric)
    notes = []
    if len(frame) < len(cells):
        omitted = len(cells) - len(frame)
        notes.append(
            f"{path.name}: left out, because they have other metrics: {omitted} of {len(cells)} rows"
        )
    is_of_choice = metric is None or _is_of_choice(metric)
    if not is_of_choice and "choices" in frame:
        notes.append(not_of_choice(path.name, str(metric)))
    match = re.fullmatch(r"details_(.+)_(\d{4}-\d\d-\d\dT.+)\.parquet", path.name)
    name = match[1] if match else path.stem.removeprefix("details_")
    task, _, shots = name.rpartition("|")
    if not shots.isdecimal():
        task, shots = name, str(len(_value(cells[0]["doc"]).get("fewshot_samples") or []))
    if options.metric is None:
        notes += metric_note(task, metric or "acc", _other_metrics(cells, metric or "acc"))
    if ties := int(frame["tie"].sum()):
        notes.append(f"{path.name}: {tied(ties)}")
    # .../details/<organisation>/<model>/<date>/details_<task>_<date>.parquet
    above = path.parent.parent
    model = above.name if above.parent.name in ("", "details") else f"{above.parent.name}/{above.name}"
    reported, of_estimate = _reported(path, name, match[2] if match else "", metric or "acc")
    yield Run(
        file=str(path),
        model=model or "model",
        task=task,
        shots=int(shots),
        rows=frame,
        notes=notes + of_estimate,
        is_of_choice=is_of_choice,
        reported=reported,
        metric=metric or "acc",
        metric_name="recall@1" if metric == "recall" else "",  # it has no parameter that is the default
    )


def _frame(
    path: Path, cells: Sequence[dict[str, Any]], names: Sequence[Sequence[str]], metric: str | None
) -> pd.DataFrame:
    """Return the rows that have a metric; all chances are unknown if all choices are correct."""
    rows = []
    for number, row in _rows_with(metric or "acc", cells, names):
        with as_written_by(TOOL, f"{path}, row {number}"):
            rows.append(_row(row, number, f"{path}, row {number}", metric))
    frame = pd.DataFrame(rows)
    if (frame["chance"] == 1).all():  # ways to write the answer, with which a generated text is compared
        frame["chance"] = float("nan")
    if frame["example"].duplicated().any():  # ids begin again with each split of the task's examples
        frame["example"] = _with_questions(frame["example"], frame["question"])
    return frame


def _with_questions(examples: pd.Series, questions: pd.Series) -> pd.Series:
    """Return ids with a digest of the question; the ids alone if an example has several rows nevertheless."""
    names = [f"{name} {digest(str(text))[:8]}" for name, text in zip(examples, questions, strict=True)]
    return examples if len({*names}) < len(names) else pd.Series(names, examples.index)


def _reported(path: Path, task: str, date: str, metric: str) -> tuple[Reported | None, list[str]]:
    """Return lighteval's own mean over all examples, if its results file is next to the details.

    If what it reports is no mean, a note is returned in its place.
    """
    parts = path.parent.parent.parts
    if "details" not in parts:
        return None, []
    place = len(parts) - 1 - parts[::-1].index("details")
    file = Path(*parts[:place], "results", *parts[place + 1 :], f"results_{date}.json")
    if not file.is_file():
        return None, []
    with as_written_by(TOOL, str(file)):
        content = read_json(file)
        names = task, task.replace("|", ":"), task.rpartition("|")[0]
        configs = content.get("config_tasks", {})
        if any(_is_lower_better(configs.get(name), metric) for name in names):
            raise UnsupportedMetric(f"{file}: {metric} is better if it is lower; expected an accuracy")
        results = content.get("results", {})
        value = (results.get(task) or results.get(task.replace("|", ":")) or {}).get(metric)
        if value is None:
            return None, []
        reported = Reported(f"{file} ({metric})", float(value))
    if metric not in ESTIMATED:
        return reported, []
    note = f"{path.name}: {reported.place}, {value:g}, is estimated by item response theory; the mean over "
    return None, [f"{note}examples is judged here"]


def _value(cell: Any) -> Any:
    """Return a cell, read where it is a text."""
    if not isinstance(cell, str):
        return cell
    try:
        return ast.literal_eval(cell)
    except (SyntaxError, RecursionError, MemoryError) as error:
        raise ValueError(f"{cell[:40]!r} cannot be read: {error}") from None


def _rows_with(
    metric: str, cells: Sequence[dict[str, Any]], names: Sequence[Sequence[str]]
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield number and content of the rows that have a metric, or should have it.

    If a task has metrics of log-likelihoods and of generated texts, each kind has its own rows. A row that
    lacks the metric belongs to another kind if its metrics are never in a row with this one.
    """
    in_common = {name for row in names if metric in row for name in row}
    for number, (cell, row) in enumerate(zip(cells, names, strict=True)):
        if metric in row or not row or in_common & {*row}:
            yield number, cell


def _metric(names: Sequence[str], metric: str | None, path: Path) -> str | None:
    """Return the metric whose values are taken: that which is asked for, or the usual one.

    None if log-likelihoods decide, as for ``acc``. Others, such as normalized ones, are taken as recorded.
    """
    if metric is not None:
        if metric not in names:
            raise UnsupportedMetric(_lacks(str(path), metric, names))
        return metric
    usual = next((name for name in METRICS if name in names), None)
    if usual is None and len(names) != 1:
        raise UnsupportedMetric(
            f"{path}: has the metrics {', '.join(sorted(names)) or 'of no name'}; {use_metric(sorted(names))}"
        )
    return None if usual == "acc" else usual or names[0]


def _other_metrics(cells: Sequence[dict[str, Any]], metric: str) -> list[str]:
    """Return the other metrics that say of each row whether it is correct."""
    values: dict[str, list[Any]] = {}
    for cell in cells:
        for name, value in cell["metric"].items():
            if value is not None:
                values.setdefault(name, []).append(value)
    return [
        name
        for name, recorded in values.items()
        if name != metric and all(value in (0.0, 1.0) for value in recorded)
    ]


def _row(row: dict[str, Any], number: int, location: str, metric_option: str | None) -> dict[str, object]:
    doc, response = _value(row["doc"]), _value(row.get("model_response") or {})
    metric = {name: value for name, value in row["metric"].items() if value is not None}
    name = metric_option or "acc"
    if name not in metric:
        raise InputError(_lacks(location, name, metric))
    recorded = truth(metric[name], name, location)
    example = {"example": named(number if doc.get("id") in (None, "") else doc["id"], location)}
    example |= _evidence(doc, response)
    choices, scores = list(map(str, doc.get("choices") or [])), response.get("logprobs") or []
    # twice as many where unconditioned ones follow; those of a generated text are of its tokens
    if response.get("text") or len(choices) < 2 or len(scores) not in (len(choices), 2 * len(choices)):
        return {**example, **recorded_row(recorded, 0, None)}
    correct_choices = _correct_choices(doc.get("gold_index"), len(choices), location)
    conditioned = len(scores) == len(choices)
    if name.endswith("mc1") and "len_mc1" in (doc.get("specific") or {}):
        # the choices of TruthfulQA's first question, with those of its second behind them
        choices = choices[: int(doc["specific"]["len_mc1"])]
        correct_choices = {place for place in correct_choices if place < len(choices)}
    scores = [float(score) for score in scores[: len(choices)]]
    if metric_option is None and conditioned:
        return {**example, **judged(scores, correct_choices, choices, location), "recorded": float(recorded)}
    return {
        **example,
        **recorded_row(recorded, len(choices), correct_choices if _is_of_choice(name) else None),
        **logged(scores, correct_choices, choices),
    }


def _is_of_choice(metric: str) -> bool:
    """Return whether a metric says if the chosen answer is correct, and not how it is written, say.

    Parameters stand behind the name, such as ``acc:logprob_normalization=...``.
    """
    name, _, parameters = metric.partition(":")
    if name in ("recall", "recall@1"):
        return parameters in ("", "k=1")
    return is_share_of_correct(name) or name.endswith("mc1") or name in ESTIMATED


def _is_lower_better(config: Any, metric: str) -> bool:
    """Return whether a task's config says that a lower value of a metric is better."""
    entries = config.get("metrics") or config.get("metric") if isinstance(config, dict) else None
    for entry in entries if isinstance(entries, list) else [entries]:
        if isinstance(entry, dict):
            higher = entry.get("higher_is_better")
            of_name = higher.get(metric) if isinstance(higher, dict) else higher
            named_so = entry.get("metric_name")
            if metric in (named_so if isinstance(named_so, list) else [named_so]) and of_name is False:
                return True
    return False


def _lacks(location: str, metric: str, names: Iterable[str]) -> str:
    """Return the message that a row has no value of a metric."""
    return f"{location}: has no metric '{metric}'; {use_metric(sorted(names))}"


def _evidence(doc: dict[str, Any], response: dict[str, Any]) -> dict[str, Any]:
    """Return the columns ``EVIDENCE`` of a row."""
    context, outputs, truncated = (response.get(name) for name in ("input", "text", "truncated_tokens_count"))
    output = outputs[0] if isinstance(outputs, list) and outputs else None
    return {
        "question": text_or_none(doc.get("query")),
        "context": text_or_none(context),
        "output": text_or_none(output),
        "truncated": truncated > 0 if isinstance(truncated, int) else None,
    }


def _correct_choices(gold: Any, choices: int, place: str) -> set[int]:
    """Return the numbers of the correct choices."""
    numbers = list(gold) if isinstance(gold, list | tuple) else [gold]
    if not numbers or not all(type(number) is int and 0 <= number < choices for number in numbers):
        raise InputError(
            f"{place}: gold_index is {gold}; expected a number from 0 to {choices - 1}, or several"
        )
    return set(numbers)
