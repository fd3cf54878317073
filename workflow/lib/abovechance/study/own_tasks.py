"""The user's own tasks, from JSON Lines, CSV or Parquet, every row of them checked."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from abovechance.core.errors import InputError, check_spelling
from abovechance.core.reading import number, read_csv_texts, read_json_lines, read_parquet
from abovechance.study.chances import chances
from abovechance.study.task_sources import OWN_TASK_SUFFIXES
from abovechance.study.tasks import as_table

# What a row of one's own file can have, and which of it may be an empty text.
FIELDS = ("example", "text", "choices", "answer", "cluster", "null", "annotations")
TEXTS = ("text", "null")
SPELLED = ("cluster", "annotations")  # optional ones, which would be missing without a word if misspelt


def task_chances(path: str | Path) -> np.ndarray:
    """(examples,) chance of a lucky guess on each example of a task file; see ``read_own``.

    >>> RandomBaseline(task_chances("sums.jsonl"))  # doctest: +SKIP
    """
    return chances(read_own(Path(path))["correct"])


def read_own(path: Path) -> pd.DataFrame:
    """Return the user's own task as a table, from JSON Lines, CSV or Parquet.

    Every row has ``text`` (all that the model reads before the choice), ``choices`` (a list
    of at least two different texts) and ``answer``: the correct choice's text, its index from
    0, or a list of these where several are correct. ``example`` (a unique id) is optional and
    otherwise the row's number from 0. In a CSV, ``choices`` is a JSON list, and ``answer`` a
    choice's text, its index, or a JSON list of these; a text that is a choice is that choice.
    ``cluster`` (a text or a whole number) is optional: examples that belong together, such as questions about
    one passage, have the same; and so do examples of the same ``text``. So are ``null``, what remains of the
    text when its input is taken away (such as ``ANSWER:``; nothing, where it is left out), and
    ``annotations``, a list of what annotators answered.

    Raises
    ------
    InputError
        If the file cannot be read, a row is wrong, or a field's name is close to that of one that is missing;
        the message names file, row and field.
    """
    match path.suffix:
        case ".jsonl":
            rows = read_json_lines(path)
        case ".csv":
            rows = _read_csv(path)
        case ".parquet":
            rows = _read_parquet(path)
        case suffix:
            raise InputError(f"{path}: '{suffix}' is not one of {', '.join(OWN_TASK_SUFFIXES)}")
    rows_of_id: dict[str, int] = {}
    names: dict[str, None] = {}
    examples: list[dict[str, Any]] = []
    for place, row in rows:
        example = _own_example(row, f"{path}, row {place}", len(examples))
        name = example["example"]
        if name in rows_of_id:
            raise InputError(
                f"{path}, row {place}: the id '{name}' in field 'example' is in row "
                f"{rows_of_id[name]} as well; ids must be unique"
            )
        rows_of_id[name] = place
        names |= dict.fromkeys(row)
        examples.append(example)
    if not examples:
        raise InputError(f"{path}: has no examples")
    check_spelling(names, SPELLED, f"{path}: field")
    return as_table(examples)


def _read_parquet(path: Path) -> Iterator[tuple[int, Any]]:
    """Yield the rows of a Parquet file, a study's own ``tasks`` among them."""
    table = read_parquet(path)
    check_spelling(table.column_names, SPELLED, f"{path}: column")
    columns = [name for name in (*FIELDS, "correct") if name in table.column_names]
    for place, row in enumerate(table.select(columns).to_pylist(), start=1):
        if "answer" not in row and "correct" in row:
            flags, choices = row.pop("correct"), row.get("choices")
            if not isinstance(flags, list) or not isinstance(choices, list) or len(flags) != len(choices):
                raise InputError(
                    f"{path}, row {place}: field 'correct' is {flags!r}; expected true or false for "
                    "each choice"
                )
            row["answer"] = [place for place, flag in enumerate(flags) if flag]
        yield place, row


def _read_csv(path: Path) -> Iterator[tuple[int, Any]]:
    table = read_csv_texts(path, keep_blanks=True)
    for place, row in zip(table.index, table.to_dict("records"), strict=True):
        location = f"{path}, row {place}"
        for name in ("choices", "annotations"):
            if str(row.get(name, "")).lstrip().startswith("["):
                row[name] = _json_list(row[name], location, name)
        if "answer" in row:
            row["answer"] = _csv_answer(row["answer"], _as_list(row.get("choices")), location)
        yield place, {field: value for field, value in row.items() if field in TEXTS or value != ""}


def _csv_answer(cell: str, choices: list[Any], place: str) -> Any:
    """Return the answer in a CSV cell: a choice if it is the text of one, else a list or an index."""
    choices = [choice for choice in choices if isinstance(choice, str)]
    if cell in choices:
        return cell
    text = cell.strip()
    same_text = [choice for choice in choices if choice.strip() == text]
    if len(same_text) > 1:
        raise InputError(
            f"{place}: field 'answer' is '{text}'; expected one of the choices {same_text!r} as it is"
        )
    if same_text:
        return same_text[0]
    if text.startswith("["):
        return [
            _csv_answer(str(answer), choices, place) if isinstance(answer, _NumberText) else answer
            for answer in _json_list(text, place, "answer", _NumberText)
        ]
    # pandas writes whole numbers with a point where a column has gaps
    index = re.fullmatch(r"(0|[1-9][0-9]{0,8})(\.0)?", text, re.ASCII)
    same_number = [choice for choice in choices if number(choice) == number(text)]
    return int(index[1]) if index and not same_number else text


class _NumberText(str):
    """A number as it is written."""


def _json_list(text: str, place: str, field: str, number_as: type[_NumberText] | None = None) -> list[Any]:
    try:
        # which begins with a bracket
        values: list[Any] = json.loads(text, parse_int=number_as, parse_float=number_as)
        return values
    except (ValueError, RecursionError):
        raise InputError(
            f"{place}: field '{field}' is {text[:60]}; expected a list as JSON writes it, as in "
            '["yes", "no"]'
        ) from None


def _own_example(row: Any, place: str, number: int) -> dict[str, Any]:
    """One checked row of the table from one row of the user's file, the row of this number from 0."""
    if not isinstance(row, dict):
        raise InputError(
            f"{place}: is {str(row)[:40]}; expected one object on each line, with the fields text, "
            "choices and answer"
        )
    missing = [field for field in ("text", "choices", "answer") if row.get(field) is None]
    if missing:
        raise InputError(f"{place}: field '{missing[0]}' is missing; needed are text, choices, answer")
    text, choices = row["text"], _as_list(row["choices"])
    if not isinstance(text, str):
        raise InputError(f"{place}: field 'text' must be a text, not {text!r}")
    if not all(isinstance(choice, str) for choice in choices) or len(choices) < 2:
        raise InputError(
            f'{place}: field \'choices\' must list at least two texts, as in ["yes", "no"], not {choices!r}'
        )
    if len(set(choices)) < len(choices):
        raise InputError(f"{place}: field 'choices' lists the same choice twice: {choices!r}")
    if blank := [choice for choice in choices if not choice.strip()]:
        raise InputError(f"{place}: field 'choices' has a choice without a character: {blank[0]!r}")
    null, annotations = _own_null(row.get("null"), place), _annotations(row.get("annotations"), place)
    _check_characters([text, null, *choices, *(annotations or [])], place)
    answers = _as_list(row["answer"])
    if not answers:
        raise InputError(f"{place}: has no correct choice; field 'answer' is empty")
    correct = {_index_of(answer, choices, place) for answer in answers}
    name = row.get("example")
    if isinstance(name, str):
        _check_characters([name], place)
    if name is not None and (not isinstance(name, str | int) or isinstance(name, bool)):
        raise InputError(f"{place}: field 'example' must be a text or a whole number, not {name!r}")
    return {
        "example": str(number if name is None else name),
        "text": text,
        "choices": choices,
        "correct": [index in correct for index in range(len(choices))],
        "cluster": _own_cluster(row.get("cluster"), place),
        "null": null,
        "annotations": annotations,
    }


def _own_null(value: Any, place: str) -> str:
    """Return the text in the user's file without its input; an empty string if the file does not have it."""
    if value is not None and not isinstance(value, str):
        raise InputError(f"{place}: field 'null' must be a text, not {value!r}")
    return value or ""


def _annotations(value: Any, place: str) -> list[str] | None:
    """Return the annotators' answers; None if they are unknown."""
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return None
    listed = _as_list(value)
    if (
        not isinstance(value, list | tuple | np.ndarray)
        or not listed
        or not all(isinstance(annotation, str | int) for annotation in listed)
    ):
        raise InputError(
            f"{place}: field 'annotations' is {value!r}; expected a list of what annotators answered, "
            'as in ["yes", "no", "yes"]'
        )
    return [str(annotation) for annotation in listed]


def _own_cluster(value: Any, place: str) -> str | None:
    """Return the name of a cluster in the user's file; None where the example is by itself."""
    if isinstance(value, float):  # as pandas writes whole numbers beside gaps, and these
        value = None if np.isnan(value) else int(value) if value.is_integer() else value
    if value is not None and (not isinstance(value, str | int) or isinstance(value, bool)):
        raise InputError(f"{place}: field 'cluster' must be a text or a whole number, not {value!r}")
    return None if value is None or value == "" else str(value)


def _check_characters(texts: Iterable[str], place: str) -> None:
    """Raise InputError if a text is no characters, such as half of a pair that JSON can write."""
    for text in texts:
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise InputError(f"{place}: the text {text[:40]!r} cannot be written: {error.reason}") from None


def _as_list(value: Any) -> list[Any]:
    """Return a list of plain Python values; a single value counts as a list of one."""
    if isinstance(value, np.ndarray):
        return list(value.tolist())
    return list(value) if isinstance(value, list | tuple) else [value]


def _index_of(answer: Any, choices: list[str], place: str) -> int:
    """Return the index of the choice that ``answer`` names by its text or its index."""
    for text in (answer, *([str(answer), str(answer).lower()] if isinstance(answer, bool) else [])):
        if isinstance(text, str) and text in choices:
            return choices.index(text)
    if isinstance(answer, float) and answer.is_integer():  # as pandas writes whole numbers beside gaps
        answer = int(answer)
    is_index = isinstance(answer, int | np.integer) and not isinstance(answer, bool)
    if is_index and 0 <= answer < len(choices):
        return int(answer)
    raise InputError(
        f"{place}: field 'answer' is {answer!r}; expected one of the choices {choices!r} "
        f"or an index from 0 to {len(choices) - 1}"
    )
