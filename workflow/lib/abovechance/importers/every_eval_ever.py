"""Every Eval Ever: ``<uuid>_samples.jsonl``, a row per sample and result, next to ``<uuid>.json``.

Versions before 0.2.2 name the rows ``<uuid>.jsonl``.

A row has the ``input`` (with the choices and the references, if the source has them), the ``output`` and the
``evaluation`` (score, is_correct). A sample has one row for each metric, its *result*. A reference can be the
text, the letter or the number of a choice. The first of these meanings is used under which the extracted
answers are correct if and only if the rows report so.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from abovechance.core.errors import InputError
from abovechance.core.files import files_below
from abovechance.core.reading import as_written_by, read_json, read_json_lines
from abovechance.core.untrusted import named
from abovechance.doctor.suspicion import Suspicion
from abovechance.importers.contract import (
    Options,
    Reported,
    Run,
    UnsupportedMetric,
    left_out,
    listed,
    not_checked,
    not_of_choice,
    number_of_shots,
    text_or_none,
    use_metric,
)
from abovechance.importers.inspect_ai import grades_answers
from abovechance.metrics.names import is_other_metric, is_share_of_correct
from abovechance.results.predictions import UNKNOWN

TOOL = "Every Eval Ever"
OPTIONS = ("metric", "epoch")
FEW = 5  # answers show nothing; and one of so many may be a choice by chance
NORMALIZED = {"acc_norm", "acc_bytes", "acc_mutual_info"}
LOOKS_LIKE = f"{TOOL}'s <uuid>_samples.jsonl"
ENDING = "_samples.jsonl"
PERCENT = 100  # the largest score on the other scale of shares
OTHER_SCORE = Suspicion(
    "recorded-results",
    "suspicious",
    "the recorded score is not the share of correct rows",
    "the metric may be another one, or the rows may be incomplete",
)
OF_INSPECT = re.compile(r"(.+?) on (.+) for scorer (.+)", re.DOTALL)  # as its converter names a result
NAMES = "metric_names"  # of results that rows can belong to
KEYS = ("schema_version", "evaluation_id", "sample_id", "evaluation")
Meaning = Callable[[str, list[str]], int | None]  # of a reference: the number of a choice, if it is one


def find(path: Path) -> list[Path]:
    """Return the files with rows of samples."""
    return [file for file in files_below(path, "*.jsonl") if _is_samples(file)]


def _is_samples(path: Path) -> bool:
    with path.open("rb") as file:
        line = file.readline(10_000_000)
    try:
        first = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(first, dict) and all(key in first for key in KEYS)


def read(path: Path, options: Options) -> Iterator[Run]:
    """Yield a run for each model and evaluation; for ``doctor``, one for each of its results."""
    groups: dict[tuple[str, str], dict[str, list[tuple[str, dict[str, Any]]]]] = {}
    for number, row in read_json_lines(path):
        place = f"{path}, row {number}"
        with as_written_by(TOOL, place):
            key = str(row["model_id"]), str(row["evaluation_name"])
            result = str(row.get("evaluation_result_id") or "score")
        groups.setdefault(key, {}).setdefault(result, []).append((place, row))
    aggregates = aggregate_results(aggregate_of(path))
    runs: list[Run] = []
    unsupported: list[tuple[str, UnsupportedMetric]] = []
    for (model, task), results in groups.items():
        for result in _chosen(results, f"{path}, {task}", options):
            aggregate = aggregates.get((task, result)) or aggregates.get((task, "score")) or {}
            try:
                if result not in results:
                    raise UnsupportedMetric(
                        f"{path}, {task}: has no result '{result}'; {use_metric(results)}"
                    )
                runs.append(
                    _run_of_epoch(path, model, task, result, results[result], aggregate, options.epoch)
                )
            except UnsupportedMetric as error:
                if options.complete:
                    raise
                unsupported.append((task, error))
    if not runs:
        raise unsupported[0][1]
    for task, problem in unsupported:
        if options.command == "doctor":
            reason = str(problem).removeprefix(f"{path}, ")
            runs[0].suspicions.append(not_checked(f"{task} in the same file is left out: {reason}"))
        else:
            runs[0].notes.append(f"{left_out(problem)} ({task})")
    yield from runs


def aggregate_of(path: Path) -> Path:
    """Return the path of the aggregate record that belongs to rows of samples."""
    return path.with_name(path.name.removesuffix(".jsonl").removesuffix("_samples") + ".json")


def rows_of(record: Path) -> Path | None:
    """Return the file with the rows of samples that belong to an aggregate record; None if there is none."""
    paths = [record.with_name(record.stem + ending) for ending in (ENDING, ".jsonl")]
    return next((path for path in paths if path.is_file()), None)


def aggregate_results(path: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the results of an aggregate record by evaluation and result id; empty without a record.

    If several results have the same id, or none, rows can belong to any of them. Then only their names and
    their ``lower_is_better`` are returned. Results of inspect's converter have the names of their rows.
    """
    if not path.is_file():
        return {}
    with as_written_by(TOOL, str(path)):
        results = read_json(path).get("evaluation_results") or []
        by_place: dict[tuple[str, str], list[dict[str, Any]]] = {}
        for result in results:
            of_rows = _of_inspect(result)
            by_place.setdefault(place_of(of_rows), []).append(of_rows)
        return {place: _in_common(of_place) for place, of_place in by_place.items()}


def _of_inspect(result: dict[str, Any]) -> dict[str, Any]:
    """Return a result of inspect's converter with the names of its rows, and its scorer as the metric.

    Only its accuracy has a score that rows are compared with.
    """
    names = OF_INSPECT.fullmatch(str(result["evaluation_name"]))
    if names is None or result.get("evaluation_result_id"):
        return result
    config = {name: value for name, value in (result.get("metric_config") or {}).items() if value is not None}
    of_rows = result | {"evaluation_name": names[2], "metric_config": {"metric_name": names[3]} | config}
    return of_rows if names[1] == "accuracy" else of_rows | {"score_details": {}}


def _in_common(results: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the only result; of several ones, their names and whether a lower score is better.

    Several ones of a scorer, of which one has a score, are one result.
    """
    with_score = [
        result for result in results if (result.get("score_details") or {}).get("score") is not None
    ]
    names = [*dict.fromkeys(map(metric_name, results))]
    if len(results) == 1 or len(names) == 1 >= len(with_score):
        return (with_score or results)[0]
    is_lower = any((result.get("metric_config") or {}).get("lower_is_better") for result in results)
    return {"metric_config": {"metric_name": ", ".join(names), "lower_is_better": is_lower}, NAMES: names}


def place_of(result: dict[str, Any]) -> tuple[str, str]:
    """Return the evaluation and the id of a result."""
    return str(result["evaluation_name"]), str(result.get("evaluation_result_id") or "score")


def metric_name(result: dict[str, Any]) -> str:
    """Return the name of a result's metric."""
    last_part = str(result.get("evaluation_result_id") or "accuracy").rpartition("/")[2]  # behind the task
    return str((result.get("metric_config") or {}).get("metric_name") or last_part)


def _chosen(results: dict[str, Any], place: str, options: Options) -> list[str]:
    """Return the results to read: the requested or the only one, or all of them for ``doctor``."""
    names = list(results)
    if options.metric is not None:
        return [options.metric]
    if len(names) > 1 and options.command != "doctor":
        raise InputError(f"{place}: has the results {', '.join(names)}; {use_metric(names)}")
    return names


def _run_of_epoch(
    path: Path,
    model: str,
    task: str,
    result: str,
    rows: list[tuple[str, dict[str, Any]]],
    aggregate: dict[str, Any],
    epoch: int | None,
) -> Run:
    """Return the run of one result in one epoch; see ``_run``."""
    chosen, notes = _of_epoch(rows, epoch, path)
    if are_reduced := bool(notes) and _are_reduced(rows):
        chosen = [*{str(row["sample_id"]): (place, row) for place, row in reversed(rows)}.values()][::-1]
    # the aggregate record is of all epochs
    run = _run(path, model, task, result, chosen, aggregate, is_whole=are_reduced or not notes)
    if are_reduced:
        run = replace(run, rows=run.rows.assign(chance=math.nan))
        notes = [
            f"{path.name}: all epochs have the same scores, which may be their mean, mode or maximum; for "
            "--choices or --chance, note that the best of several guesses may count"
        ]
    return replace(run, notes=notes + run.notes)


def _of_epoch(
    rows: list[tuple[str, dict[str, Any]]], epoch: int | None, path: Path
) -> tuple[list[tuple[str, dict[str, Any]]], list[str]]:
    """Return the rows of one epoch, if inspect's epochs have rows of their own, and a note.

    The converter writes one score for all epochs if inspect has reduced them.
    """
    by_epoch: dict[str, list[tuple[str, dict[str, Any]]]] = {}
    for place, row in rows:
        with as_written_by(TOOL, place):
            number = (row.get("metadata") or {}).get("epoch", 1)
        by_epoch.setdefault(str(number), []).append((place, row))
    if str(epoch or 1) not in by_epoch and (epoch or len(by_epoch) > 1):
        raise UnsupportedMetric(f"{path}: has no epoch {epoch or 1}; it has {', '.join(by_epoch)}")
    if len(by_epoch) < 2:
        return rows, []
    return by_epoch[str(epoch or 1)], [
        f"{path.name}: the log has {len(by_epoch)} epochs; epoch {epoch or 1} is used (--epoch)"
    ]


def _are_reduced(rows: list[tuple[str, dict[str, Any]]]) -> bool:
    """Return whether most samples have several rows, and all rows of a sample have the same score."""
    scores: dict[Any, list[Any]] = {}
    for place, row in rows:
        with as_written_by(TOOL, place):
            scores.setdefault(str(row["sample_id"]), []).append(row["evaluation"]["score"])
    several = sum(len(values) > 1 for values in scores.values())
    return 2 * several > len(scores) and all(len({*map(str, values)}) == 1 for values in scores.values())


def _run(
    path: Path,
    model: str,
    task: str,
    result: str,
    rows: list[tuple[str, dict[str, Any]]],
    aggregate: dict[str, Any],
    is_whole: bool,
) -> Run:
    """Return the run of one result.

    Parameters
    ----------
    rows
        The place and the content of each row.
    aggregate
        The result in the aggregate record; empty if there is none.
    is_whole
        Whether the record is of these rows alone.
    """
    with as_written_by(TOOL, str(aggregate_of(path))):
        config = aggregate.get("metric_config") or {}
        if config.get("lower_is_better"):
            raise UnsupportedMetric(f"{path}: {result} is better if it is lower; expected an accuracy")
        score = (aggregate.get("score_details") or {}).get("score")
        if config.get("max_score") == PERCENT and isinstance(score, int | float):
            score /= PERCENT
        details = (aggregate.get("generation_config") or {}).get("additional_details") or {}
        shots = int(details.get("num_fewshot") or 0)
        names = aggregate.get(NAMES) or [metric_name(aggregate)]
        is_share = not config or all(is_share_of_correct(name) or grades_answers(name) for name in names)
    number_of_shots(shots, str(path))
    read_rows = []
    for place, row in rows:
        with as_written_by(TOOL, place):
            read_rows.append(_row(row, place, result))
    _mark_choices(
        read_rows, are_chosen=not _is_normalized(rows, metric_name(aggregate) if aggregate else result)
    )
    is_of_choice = is_share or _agree_with_choices(read_rows)
    if not is_of_choice:
        read_rows = [row | {"chance": math.nan} for row in read_rows]
    reported = None
    if is_whole and isinstance(score, int | float) and 0 <= score <= 1:
        reported = Reported(f"{aggregate_of(path)} ({result})", float(score))
    table, notes, unscored = _with_errors(pd.DataFrame(read_rows), reported, path)
    if not is_of_choice:
        notes.append(not_of_choice(path.name, metric_name(aggregate)))
    suspicions: list[Suspicion] = []
    if reported and not is_share and not _is_mean_of(reported, table):
        notes.append(
            f"{path.name}: the recorded score of {result} ({reported.accuracy:g}) is not the share of "
            f"correct rows ({table['correct'].mean():.3g}), which is judged here"
        )
        reported = None
        suspicions = [] if is_other_metric(metric_name(aggregate)) else [OTHER_SCORE]
    return Run(
        file=str(path),
        model=model,
        task=task,
        shots=shots,
        rows=table.drop(columns=["references", "error"]),
        notes=notes,
        reported=reported,
        metric=result,
        metric_name=metric_name(aggregate) if aggregate else "",
        unscored=unscored,
        suspicions=suspicions,
        is_of_choice=is_of_choice,
    )


def _with_errors(
    table: pd.DataFrame, reported: Reported | None, path: Path
) -> tuple[pd.DataFrame, list[str], int]:
    """Return the rows that count, notes on samples with an error, and how many of these are left out.

    They are left out if the reported accuracy is that of the other samples.
    """
    failed = table["error"].to_numpy(dtype=bool)
    if not failed.any():
        return table, [], 0
    without = table[~failed].reset_index(drop=True)
    number = int(failed.sum())
    if reported and _is_mean_of(reported, without) and not _is_mean_of(reported, table):
        note = f"{path.name}: samples with an error are left out, as in the reported score: {number}"
        return without, [note], number
    wrong = int((~table.loc[failed, "correct"]).sum())
    return table, [f"{path.name}: {number} samples have an error; {wrong} of these count as wrong"], 0


def _is_mean_of(reported: Reported, table: pd.DataFrame) -> bool:
    """Return whether the reported accuracy is that of the rows."""
    return abs(float(table["correct"].mean()) - (reported.accuracy or 0.0)) * len(table) < 0.5


def _row(row: dict[str, Any], place: str, result: str) -> dict[str, Any]:
    """Return a row; its choices are marked later."""
    evaluation, question = row["evaluation"], row.get("input") or {}
    correct, score = evaluation["is_correct"], evaluation["score"]
    if score not in (0, 1):
        raise UnsupportedMetric(f"{place}: {result} is {score!r:.40}; expected a score of 0 or 1")
    if not isinstance(correct, bool) or correct != (score == 1):
        raise InputError(f"{place}: is_correct is {correct!r:.40}, but the score is {score}")
    terminal = [item for item in row.get("answer_attribution") or [] if item.get("is_terminal")]
    choices = [str(text).strip() for text in _once(question.get("choices") or [])]
    references = _references(question.get("reference") or [], choices)
    # HELM's generation tasks list the references only, and all of these are correct
    are_options = len(choices) > 1 and not (len(references) > 1 and {*choices} <= {*references})
    return {
        "example": named(row["sample_id"], place),
        "predicted": UNKNOWN,
        "correct": correct,
        "tie": False,
        "chance": float("nan"),
        "recorded": float(correct),
        "choices": choices if are_options else None,
        "right": None,
        "references": references,
        "error": bool(row.get("error")),
        "question": text_or_none(question.get("raw")),
        "context": text_or_none(question.get("formatted")) or text_or_none(question.get("raw")),
        "output": _output(row),
        "answer": text_or_none(str(terminal[-1].get("extracted_value") or "")) if terminal else None,
    }


def _once(choices: list[Any]) -> list[Any]:
    """Return choices without a repetition of the whole list, which lm-eval's ``acc_mutual_info`` makes."""
    half = len(choices) // 2
    return choices[:half] if half > 1 and choices[:half] == choices[half:] else choices


def _references(texts: list[Any], choices: list[Any]) -> list[str]:
    """Return the references; a text such as '[0, 2]' is a list of them, unless it is a choice."""
    references: list[Any] = []
    for text in (str(text).strip() for text in texts):
        references += listed(text) if text.startswith("[") and text not in choices else [text]
    return [str(text).strip() for text in references]


def _output(row: dict[str, Any]) -> str | None:
    """Return the last text of the model; None for an answer that is one of the choices."""
    raw = (row.get("output") or {}).get("raw") or []
    texts = [
        message.get("content") for message in row.get("messages") or [] if message.get("role") == "assistant"
    ]
    text = text_or_none((raw or texts or [None])[-1])
    choices = (row.get("input") or {}).get("choices") or []
    return None if text in choices else text


def _is_normalized(rows: list[tuple[str, dict[str, Any]]], metric: str) -> bool:
    """Return whether lm-eval's metric, the first of a sample, does not choose the likeliest answer.

    The converter writes this answer, whatever the metric chooses.
    """
    of_samples = (rows[0][1].get("metadata") or {}).get("lm_eval_metrics")
    try:
        values = json.loads(str(of_samples))
        names = [name for name, value in values.items() if isinstance(value, int | float)]
    except (ValueError, TypeError, AttributeError, RecursionError):  # of another converter
        names = []
    return bool({metric, *names[:1]} & NORMALIZED)


def _mark_choices(rows: list[dict[str, Any]], are_chosen: bool = True) -> None:
    """Set the chance, and the predicted and correct choices under the first meaning that fits all rows.

    References of generation tasks stand as choices, too: the right answers are such texts, and the wrong ones
    are none of them.
    """
    with_choices = [row for row in rows if row["choices"] is not None]
    if _are_references(with_choices):
        return
    is_contradicted = False
    for meaning in MEANINGS:
        marks = [[meaning(text, row["choices"]) for text in row["references"]] for row in with_choices]
        if any(None in places or not places for places in marks):
            continue
        predicted = [_by_text(row["answer"] or "", row["choices"]) for row in with_choices]
        is_contradicted = are_chosen
        if all(
            place is None or (place in places) == row["correct"]
            for place, places, row in zip(predicted, marks, with_choices, strict=True)
        ):
            # else an answer may be right only if it names all of the correct choices
            any_counts = any(
                place in places and len({*places}) > 1 for place, places in zip(predicted, marks, strict=True)
            )
            is_clear = any_counts or all(len({*places}) == 1 for places in marks)
            for row, place, places in zip(with_choices, predicted, marks, strict=True):
                row["predicted"] = UNKNOWN if place is None else place
                # also with one reference, because a model cannot know that it is one
                row["chance"] = math.nan
                if is_clear:
                    row["right"] = [number in places for number in range(len(row["choices"]))]
                    row["chance"] = len({*places}) / len(row["choices"])
            return
    for row in with_choices:
        if len(row["references"]) == 1 and not is_contradicted:  # one choice is correct, whichever it is
            row["chance"] = 1 / len(row["choices"])


def _agree_with_choices(rows: list[dict[str, Any]]) -> bool:
    """Return whether the answers show that a metric says if the choice is correct; true without choices.

    All answers that are choices must agree with it, and those of most correct rows must be choices.
    """
    flags: list[tuple[bool, bool]] = []  # of an answer, and of the metric
    for row in rows:
        for meaning in MEANINGS if row["choices"] and row["right"] and row["answer"] else ():
            if (place := meaning(row["answer"].strip(), row["choices"])) is not None:
                flags.append((row["right"][place], row["correct"]))
                break
    agree = bool(flags) and all(is_right == is_correct for is_right, is_correct in flags)
    known_right = sum(is_correct for _, is_correct in flags)
    return not any(row["choices"] for row in rows) or (
        agree and 2 * known_right >= sum(row["correct"] for row in rows)
    )


def _are_references(rows: list[dict[str, Any]]) -> bool:
    """Return whether most right answers are choices by their text, as references are, and few wrong ones."""
    if not all({*row["references"]} <= {*row["choices"]} for row in rows):
        return False
    is_named: dict[bool, list[bool]] = {True: [], False: []}
    for row in rows:
        if row["answer"]:
            text = row["answer"].strip()
            meanings = MEANINGS[:1] if row["correct"] else MEANINGS
            is_named[row["correct"]].append(
                any(meaning(text, row["choices"]) is not None for meaning in meanings)
            )
    if len(is_named[False]) < FEW or FEW * sum(is_named[False]) >= len(is_named[False]):
        return False
    return 2 * sum(is_named[True]) >= len(is_named[True])


def _by_text(text: str, choices: list[str]) -> int | None:
    return choices.index(text) if choices.count(text) == 1 else None


def _by_letter(text: str, choices: list[str]) -> int | None:
    place = ord(text) - ord("A") if len(text) == 1 else -1
    return place if 0 <= place < len(choices) else None


def _by_number(text: str, choices: list[str]) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() and int(text) < len(choices) else None


MEANINGS: list[Meaning] = [_by_text, _by_letter, _by_number]
