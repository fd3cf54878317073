"""Predictions and gold answers in the form that a metric needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from abovechance.core.errors import InputError
from abovechance.core.reading import exact_number
from abovechance.metrics.contract import Metric, Objects, objects
from abovechance.metrics.texts import EXACT_MATCH, accepted, is_several

MISSING = "(missing)"  # a label that is never correct


def in_form(
    metric: Metric, predictions: Any, gold: Any, choices: Sequence[Sequence[Any]] | None
) -> tuple[list[Objects], list[Any], list[list[Any]] | None]:
    """Return predictions of each candidate, gold answers and choices, as the metric needs them."""
    for noun, values in {"predictions": predictions, "gold answers": gold, "choices": choices}.items():
        if isinstance(values, Mapping | Set):
            raise InputError(
                f"{noun} are a {type(values).__name__}; expected a list, in the same order of examples for "
                "predictions and gold answers"
            )
    answers = _listed(gold)
    choices = None if choices is None else _listed_choices(choices)
    if missing := [place for place, answer in enumerate(answers) if is_missing(answer)]:
        raise InputError(f"example {missing[0]}: the gold answer is missing; expected one for each example")
    rows = _listed(predictions.to_numpy() if isinstance(predictions, pd.DataFrame) else predictions)
    is_nested = len(rows) > 0 and all(_is_row(row, len(answers), metric) for row in rows)
    candidates = [_listed(row) for row in rows] if is_nested else [rows]
    for place, row in enumerate(candidates):
        if len(row) != len(answers) or not answers:
            raise InputError(
                f"candidate {place} has {len(row)} predictions, but there are {len(answers)} gold answers; "
                "expected as many, and at least one"
            )
    if choices is not None:
        _check_choices(metric, answers, choices)
    if metric.answers == "label":
        _check_labels(metric, [value for row in candidates for value in row], answers, choices)
    convert, convert_gold = _conversions(metric)
    rows_of_metric = [as_array(metric, [convert(value) for value in row]) for row in candidates]
    listed = None if choices is None else [[convert_gold(value) for value in row] for row in choices]
    answers = [convert_gold(answer) for answer in answers]
    if metric == EXACT_MATCH:  # other metrics of texts can be above 0 without an equal text
        _check_numbers(rows_of_metric, answers)
    return rows_of_metric, answers, listed


def _listed(values: Any) -> list[Any]:
    """Return values as a list; those of Arrow as Python's, because its scalars equal nothing else."""
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        return values.to_pylist()
    return [_as_python(value) for value in values]


def _listed_choices(choices: Any) -> list[list[Any]]:
    """Return lists of choices; InputError if an example has no list."""
    try:
        rows = _listed(choices.to_numpy() if isinstance(choices, pd.DataFrame) else choices)
        return [_listed(row) for row in rows]
    except TypeError:
        raise InputError("the choices of an example are no list; expected a list for each") from None


def _as_python(value: Any) -> Any:
    if isinstance(value, pa.Scalar):
        return value.as_py()
    if getattr(value, "ndim", None) == 0 and not isinstance(value, np.generic):  # such as a tensor's numbers
        return np.ma.masked if np.ma.is_masked(value) else value.item()
    return value.to_pylist() if isinstance(value, (pa.Array, pa.ChunkedArray)) else value


def is_missing(answer: Any) -> bool:
    """Return whether a value stands for a missing one, such as None, nan or a masked one."""
    return answer is np.ma.masked or bool(pd.api.types.is_scalar(answer) and pd.isna(answer))


def _check_labels(
    metric: Metric, predictions: list[Any], gold: list[Any], choices: Sequence[Sequence[Any]] | None
) -> None:
    """Raise InputError if no label can be right: all are of another type, or all written differently."""
    kinds = [{isinstance(value, str) for value in side if value is not None} for side in (predictions, gold)]
    if kinds in ([{True}, {False}], [{False}, {True}]):
        raise InputError(
            f"predictions are like {predictions[0]!r:.40} and gold answers like {gold[0]!r:.40}; expected "
            "labels of one type"
        )
    pair = written_differently(predictions, gold, choices) if metric.by_equality else None
    if pair and {*predictions}.isdisjoint(_labels(gold, choices)):
        among = "gold answers" if choices is None else "choices"
        raise InputError(
            f"no prediction is one of the {among}, but '{pair[0]:.40}' and '{pair[1]:.40}' may be the "
            "same label; expected labels that are written in one way"
        )


def _check_numbers(rows: list[Objects], gold: list[Any]) -> None:
    """Raise InputError if no text can be right, because numbers are written differently."""
    pairs = [(text, accepted(answer)) for row in rows for text, answer in zip(row, gold, strict=True)]
    if any(text in texts for text, texts in pairs):
        return
    numbers = {text: exact_number(text) for pair in pairs for text in (pair[0], *pair[1])}
    for text, texts in pairs:
        value = numbers[text]
        if value is not None and (equals := [another for another in texts if numbers[another] == value]):
            raise InputError(
                f"no prediction is one of the gold answers, but '{text:.40}' and '{equals[0]:.40}' are the "
                "same number; expected numbers that are written in one way"
            )


def _labels(gold: Sequence[Any], choices: Sequence[Sequence[Any]] | None) -> list[Any]:
    """Return all labels that an answer can have: the gold answers and the choices."""
    return [*gold, *(choice for listed in choices or () for choice in listed)]


def written_differently(
    predictions: Sequence[Any], gold: Sequence[Any], choices: Sequence[Sequence[Any]] | None = None
) -> tuple[str, str] | None:
    """Return a prediction and the label that it probably means, if they are written differently.

    Labels are the gold answers and the choices. Two texts probably mean the same if they differ only in
    capital letters and spaces, or if they are the same number, such as 1 and 1.0. None if there is no such
    prediction.
    """

    def as_read(text: str) -> str | Decimal:
        value = exact_number(text)
        return " ".join(text.casefold().split()) if value is None else value

    labels = {value for value in _labels(gold, choices) if isinstance(value, str)}
    by_reading = {as_read(label): label for label in sorted(labels)}
    unknown = sorted({value for value in predictions if isinstance(value, str)} - labels)
    return next(((text, by_reading[as_read(text)]) for text in unknown if as_read(text) in by_reading), None)


def _check_choices(metric: Metric, answers: list[Any], choices: Sequence[Sequence[Any]]) -> None:
    if metric.answers != "label":
        raise InputError(f"choices are for metrics of labels, not for {metric.name}")
    if len(choices) != len(answers):
        raise InputError(
            f"{len(choices)} lists of choices for {len(answers)} examples; expected one for each"
        )
    for place, (answer, listed) in enumerate(zip(answers, choices, strict=True)):
        if answer not in listed:
            raise InputError(f"example {place}: the gold answer '{answer}' is not one of the choices")


def _conversions(metric: Metric) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    """Return functions that convert a prediction and a gold answer to the form that the metric needs."""
    if metric.by_equality:
        codes: dict[Any, int] = {}

        def code(value: Any) -> int:
            value = value.item() if isinstance(value, np.generic) else value
            # each nan is another one, but all missing predictions have the same wrong label
            return codes.setdefault(None if is_missing(value) else value, len(codes))

        return code, code
    by_kind: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
        "number": (_as_number, _as_number),
        "set": (_items(frozenset), _items(frozenset)),
        "ranking": (_ranking, _items(frozenset)),
        "attempts": (lambda value: _as_text(_items(list)(value)), _as_text),
        "text": (_as_one_text, _as_text),
    }
    return by_kind.get(metric.answers, (lambda value: value, lambda value: value))


def _items(container: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a function that converts lists and sets, and refuses texts, whose items would be characters."""

    def convert(value: Any) -> Any:
        if not isinstance(value, (list, tuple, set, frozenset, np.ndarray)):
            raise InputError(f"an answer is {value!r}; expected a list or set of items")
        try:
            return container(value)
        except TypeError:
            raise InputError(
                f"an answer is {value!r:.60}; expected items that are texts or numbers"
            ) from None

    return convert


def _ranking(value: Any) -> tuple[Any, ...]:
    """Return ranked items as a tuple; InputError if an item would count twice."""
    items: tuple[Any, ...] = _items(tuple)(value)
    if len(_items(frozenset)(value)) < len(items):
        raise InputError(f"a ranking is {value!r:.60}, with an item twice; expected different items")
    return items


def _as_text(value: Any) -> Any:
    """Return a text, or several accepted texts as a tuple."""
    if is_several(value):
        if not len(value):
            raise InputError("an answer is an empty list; expected at least one accepted text")
        if any(map(is_several, value)):
            raise InputError(f"an answer is {value!r:.60}; expected a text, or a list of accepted texts")
        texts = tuple(map(_as_text, value))
        return tuple(sorted(texts, key=str)) if isinstance(value, Set) else texts
    if isinstance(value, Mapping):
        raise InputError(f"an answer is {value!r:.60}; expected a text, or a list of accepted texts")
    if is_missing(value):
        raise InputError(f"an answer is {value}; expected a text, which may be empty")
    return str(value)


def _as_one_text(value: Any) -> Any:
    """Return a prediction as a text; logs have lists of one text, too."""
    if not is_several(value):
        return _as_text(value)
    if len(value) != 1:
        raise InputError(f"a prediction is {value!r:.60}; expected one text")
    return _as_text(next(iter(value)))


def as_array(metric: Metric, values: Sequence[Any]) -> Objects:
    """Return answers as an array: of numbers and labels, a plain one, unless texts and numbers are mixed.

    Missing predictions among texts become a text, because functions may sort labels.
    """
    if metric.answers == "label" and any(isinstance(value, str) for value in values):
        values = [MISSING if is_missing(value) else value for value in values]
    mixed = len({isinstance(value, str) for value in values}) > 1
    return np.array(values) if metric.answers in ("number", "label") and not mixed else objects(values)


def _is_row(row: Any, examples: int, metric: Metric) -> bool:
    """Return whether a value is a candidate's row of predictions, and not one prediction."""
    if not isinstance(row, (list, tuple)) and getattr(row, "ndim", 0) < 1:
        return False
    if metric.answers in ("label", "number"):  # one prediction is never a list
        return True
    if len(row) != examples:
        return False
    is_nested = all(isinstance(value, (list, tuple, set, frozenset, np.ndarray)) for value in row)
    return is_nested or metric.answers not in ("set", "ranking", "attempts")


def _as_number(value: Any) -> float:
    try:
        numeric = float(value)
    except (TypeError, ValueError):
        raise InputError(f"a number is {value!r}; expected a finite one") from None
    if not np.isfinite(numeric):
        raise InputError(f"a number is {value}; expected a finite one")
    return numeric
