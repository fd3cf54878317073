"""The meaning of targets in lm-evaluation-harness's samples: which choices are correct.

A target is written as a text, whatever it was: '1' may be the choice '1' or the choice of that
number. Each meaning is tried on all samples of a file: the first under which the likeliest choices
are right where the tool recorded so is taken.
"""

from __future__ import annotations

import ast
from functools import partial
from operator import itemgetter
from typing import Any

import numpy as np
import pandas as pd

from abovechance.core.errors import InputError
from abovechance.core.reading import as_written_by
from abovechance.importers.contract import judged, listed, logged, recorded_row, use_metric
from abovechance.importers.lm_eval_samples import TOOL, Sample
from abovechance.metrics.names import is_share_of_correct


class UnknownTarget(InputError):
    """The log does not say which choice is correct."""


def rows_of(samples: list[Sample], metric: str | None) -> pd.DataFrame:
    """Return the rows of all samples: by a metric as recorded, or by log-likelihoods if it is None.

    Targets can be read in several ways. The first reading that agrees with the log is used.
    """
    readings, problems = [], []
    for reading in (_by_text, _by_number, _by_context):
        correct_choices: list[set[int]] = []
        try:
            for sample in samples:
                correct_choices.append(reading(sample))
        except InputError as error:
            problems.append((len(correct_choices), error))
        else:
            readings.append(correct_choices)
    if metric is not None:  # targets are needed for the chance and the correct choices alone
        return _by_metric(samples, readings, metric)
    if not readings:
        raise max(problems, key=itemgetter(0))[1]  # of the reading that most samples agree with
    candidates = [
        [_judged(sample, correct) for sample, correct in zip(samples, reading, strict=True)]
        for reading in readings
    ]
    if readings[0] != readings[-1] and not all("recorded" in row for row in candidates[0]):
        raise UnknownTarget(
            f"{samples[0].place}: target '{samples[0].fields.get('target')}' may be a text or a number of a "
            f"choice, and no 'acc' says which; {use_metric(samples[0].metrics)}"
        )
    # if no reading agrees, the check against the log reports the difference from the first one
    return pd.DataFrame(next((rows for rows in candidates if all(map(_agrees, rows))), candidates[0]))


def _by_metric(samples: list[Sample], readings: list[list[set[int]]], metric: str) -> pd.DataFrame:
    """Return the rows as recorded, with the correct choices if the log agrees with one reading of targets.

    If it contradicts all readings, other choices are correct than the targets say, or others are chosen than
    the likeliest. The chance is then unknown.
    """
    has_acc = all("acc" in sample.metrics and sample.fields["acc"] in (0, 1) for sample in samples)
    of_metric = partial(_agrees_with_metric, metric=metric)
    agreeing: list[list[set[int]]] = []
    for agrees in (_agrees_with_acc, _agrees_but_for_equal_texts) if has_acc else (of_metric,):
        agreeing = agreeing or [reading for reading in readings if all(map(agrees, samples, reading))]
    if not is_share_of_correct(metric):  # which may be about the form of an answer, or a refusal
        agreeing = [reading for reading in agreeing if all(map(of_metric, samples, reading))]
    is_known = bool(agreeing) and (has_acc or agreeing[0] == agreeing[-1])
    correct_choices: list[set[int]] | list[None] = agreeing[0] if is_known else [None] * len(samples)
    rows = pd.DataFrame(
        [_recorded(sample, metric, correct) for sample, correct in zip(samples, correct_choices, strict=True)]
    )
    if readings and not agreeing:
        rows["chance"] = float("nan")
    return rows


def is_tie(sample: Sample) -> bool:
    return len(sample.scores) > 1 and sample.scores.count(max(sample.scores)) > 1


def _agrees_with_acc(sample: Sample, correct_choices: set[int]) -> bool:
    largest = max(sample.scores)
    likeliest = {place for place, score in enumerate(sample.scores) if score == largest}
    return len(likeliest) != 1 or bool(likeliest & correct_choices) == sample.recorded("acc")


def _agrees_but_for_equal_texts(sample: Sample, correct_choices: set[int]) -> bool:
    """Return the same, also if the likeliest text stands twice: its scores may be rounded differently."""
    likeliest = sample.texts[int(np.argmax(sample.scores))]
    is_twice = sample.texts.count(likeliest) > 1 and len({*sample.texts}) > 1
    return is_twice or _agrees_with_acc(sample, correct_choices)


def _agrees_with_metric(sample: Sample, correct_choices: set[int], metric: str) -> bool:
    """Return whether a sample that is recorded as correct has a correct choice that may be the chosen one.

    Metrics choose by log-likelihoods, or by those per character or byte.
    """
    texts = [text or "" for text in sample.texts]
    is_known = all(text.strip() for text in texts) and np.isfinite(sample.scores).all()
    if sample.fields.get(metric) != 1 or "mutual_info" in metric or not is_known:
        return True
    written = [
        texts,
        [text.strip() for text in texts],
        [text.removeprefix(sample.delimiter) for text in texts],
    ]
    lengths = [[1] * len(texts), *([len(text) or 1 for text in row] for row in written)]
    lengths += [[len(text.encode()) or 1 for text in row] for row in written]
    per_unit = np.array(sample.scores) / np.array(lengths)
    likeliest = {*np.flatnonzero((per_unit == per_unit.max(axis=1, keepdims=True)).any(axis=0)).tolist()}
    return bool(likeliest & correct_choices)


def _agrees(row: dict[str, Any]) -> bool:
    return "recorded" not in row or row["tie"] or row["recorded"] == float(row["correct"])


def _recorded(sample: Sample, metric: str, correct_choices: set[int] | None) -> dict[str, Any]:
    """Return a row by what the tool recorded."""
    row = recorded_row(sample.recorded(metric), len(sample.scores), correct_choices)
    is_one = not sample.target.startswith("[") and is_share_of_correct(metric)
    if correct_choices is None and sample.scores and is_one:
        row["chance"] = 1 / len(sample.scores)  # one of them is correct, whichever it is
    if metric == "exact_match" and sample.scores:  # is the correct choice the likeliest of all texts?
        row["chance"] = float("nan")
    likelihoods = logged(sample.scores, correct_choices, sample.texts) if correct_choices else {}
    return {"example": sample.example, **row, **likelihoods, **sample.evidence}


def _judged(sample: Sample, correct_choices: set[int]) -> dict[str, Any]:
    """Return a row by the log-likelihoods of the choices, beside what the tool recorded."""
    with as_written_by(TOOL, sample.place):
        row = judged(sample.scores, correct_choices, sample.texts, sample.place)
    recorded = {"recorded": float(sample.recorded("acc"))} if "acc" in sample.metrics else {}
    return {"example": sample.example, **row, **recorded, **sample.evidence}


def _by_text(sample: Sample) -> set[int]:
    """Return the correct choices where the target is the text of one, or a list of such texts."""
    texts = [None if text is None else text.removeprefix(sample.delimiter).strip() for text in sample.texts]
    target = sample.target
    targets = [target] if target in texts else [str(value).strip() for value in listed(target)]
    # choices that read the same are all correct, unless all do: then they differ in the context
    matching = {place for place, text in enumerate(texts) if text in targets}
    if (
        not targets
        or not set(targets) <= set(texts)
        or (len(matching) == len(texts) and len(set(texts)) == 1)
    ):
        remedy = "; use --metric acc, which takes what the tool recorded" if "acc" in sample.metrics else ""
        raise UnknownTarget(
            f"{sample.place}: target '{target[:60]}' is none of its {len(texts)} choices{remedy}"
        )
    return matching


def _by_number(sample: Sample) -> set[int]:
    """Return the correct choices where the target is the number of one, or a list of such numbers."""
    target = sample.target
    numbers = listed(target) or [_literal(target)]
    if not all(isinstance(number, int | float) and number in range(len(sample.scores)) for number in numbers):
        raise UnknownTarget(f"{sample.place}: target '{target}' is not the number of a choice")
    return {int(number) for number in numbers}


def _by_context(sample: Sample) -> set[int]:
    """The correct choice where choices stand in the context, and the text scored is the target for all.

    What is correct is known only from what the tool recorded, to which the first of the likeliest is chosen.
    """
    if len(sample.scores) != 2 or len(set(sample.texts)) != 1 or "acc" not in sample.metrics:
        raise UnknownTarget(
            f"{sample.place}: nothing says which of its choices is correct; {use_metric(sample.metrics)}"
        )
    likeliest = int(np.argmax(sample.scores))
    return {likeliest if sample.recorded("acc") else 1 - likeliest}


def _literal(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None
