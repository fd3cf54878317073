"""Predictions and gold answers from a CSV."""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from abovechance.core.arrays import Ints
from abovechance.core.csv_table import NUMBER, SHARE, CsvTable
from abovechance.core.errors import InputError
from abovechance.core.reading import heading
from abovechance.core.words import natural_key
from abovechance.metrics.contract import Metric

NEEDED = ("example", "gold", "prediction")
OPTIONAL = ("candidate", "attempt", "choices", "stratum", "cluster")
OF_SCORES = ("example", "score")
OPTIONAL_OF_SCORES = ("candidate", "attempt", "cluster")
SEPARATOR = "|"
FLAGS = {"true": 1.0, "false": 0.0}


@dataclass(frozen=True)
class PredictionFile:
    """The predictions of some candidates for the same examples.

    Attributes
    ----------
    names
        (candidates,) their names, in the order of the file.
    examples
        (examples,) their names, in the order of the file; with clusters, in the order of the names.
    predictions
        (candidates, examples) predictions, in the form that the metric needs.
    gold
        (examples,) gold answers.
    strata, clusters, choices
        (examples,) the column ``stratum``, ``cluster`` or ``choices``; None if the file does not have it.
    """

    names: list[str]
    examples: list[str]
    predictions: list[list[Any]]
    gold: list[Any]
    strata: list[Hashable] | None
    clusters: Ints | None
    choices: list[list[str]] | None


def read_predictions(path: Path, metric: Metric, candidate_columns: Sequence[str] = ()) -> PredictionFile:
    """Return the predictions in a CSV.

    Parameters
    ----------
    path
        A CSV with the columns ``NEEDED`` and, as far as it has them, ``OPTIONAL``.
    metric
        Decides how predictions and gold answers are read: as texts, numbers, or lists (JSON, or separated by
        ``|``).
    candidate_columns
        Columns whose values name a candidate together; ``candidate`` unless given.

    Raises
    ------
    InputError
        With file and row, if a column is missing or unknown, a row is repeated, a value cannot be read, a
        candidate lacks an example, or rows of one example disagree.
    """
    table = _checked(path, NEEDED, OPTIONAL, candidate_columns, "1")
    if "attempt" in table and metric.answers != "attempts" and "attempt" not in candidate_columns:
        raise InputError(
            f"{path}: has a column attempt, but {metric.name} needs one prediction for each example; use "
            "pass@k, or name the column with --candidates"
        )
    if "cluster" in table:  # whose members are matched in their order, which rows must not decide
        names = table["example"].tolist()
        table = table.iloc[sorted(range(len(names)), key=lambda place: natural_key(names[place]))]
    examples = table["example"].unique().tolist()
    by_example = {
        name: _of_examples(table, name, path)
        for name in ("gold", "choices", "stratum", "cluster")
        if name in table
    }
    rows = [
        _predictions(group, examples, metric, path, str(name))
        for name, group in table.groupby("candidate", sort=False)
    ]
    first_rows = table.drop_duplicates("example").index
    gold = [
        _gold(text, metric, f"{path}, row {row}: gold")
        for row, text in zip(first_rows, by_example["gold"], strict=True)
    ]
    choices = None
    if "choices" in by_example:
        choices = [_items(text) for text in by_example["choices"]]
        if metric.answers != "label":
            raise InputError(f"{path}: the column choices is for metrics of labels, not for {metric.name}")
        for row, listed, answer in zip(first_rows, choices, gold, strict=True):
            if answer not in listed:
                raise InputError(
                    f"{path}, row {row}: gold is '{answer}', which is not one of the choices "
                    f"'{' | '.join(listed)}'; expected texts with | between them"
                )
    clusters = by_example.get("cluster")
    return PredictionFile(
        names=table["candidate"].unique().tolist(),
        examples=examples,
        predictions=rows,
        gold=gold,
        strata=by_example.get("stratum"),
        clusters=None if clusters is None else _codes(clusters),
        choices=choices,
    )


@dataclass(frozen=True)
class ScoreFile:
    """The scores of some candidates, such as agents, on the same examples.

    Attributes
    ----------
    attempts
        {candidate: for each example, the scores of all attempts, from 0 to 1}.
    examples
        (examples,) their names, in the order of the file.
    clusters
        (examples,) the column ``cluster``; None if the file does not have it.
    """

    attempts: dict[str, list[list[float]]]
    examples: list[str]
    clusters: Ints | None


def has_scores(path: Path) -> bool:
    """Return whether a CSV has scores, and not predictions."""
    return "score" in heading(path)


def read_scores(
    path: Path, candidate_columns: Sequence[str] = (), examples: Sequence[str] | None = None
) -> ScoreFile:
    """Return the scores in a CSV with the columns ``OF_SCORES`` and, as far as it has them, optional ones.

    Parameters
    ----------
    candidate_columns
        See ``read_predictions``.
    examples
        The examples that the file must have, in their order.

    Raises
    ------
    InputError
        With file and row, as for ``read_predictions``.
    """
    table = _checked(path, OF_SCORES, OPTIONAL_OF_SCORES, candidate_columns, path.stem)
    expected = table["example"].unique().tolist() if examples is None else [*examples]
    names = {*expected}
    if unknown := next((name for name in table["example"] if name not in names), None):
        raise InputError(f"{path}: example '{unknown}' is not in the first file; expected the same examples")
    attempts: dict[str, list[list[float]]] = {}
    for candidate, rows in table.groupby("candidate", sort=False):
        by_example: dict[str, list[float]] = {}
        for row, example, text in zip(rows.index, rows["example"], rows["score"], strict=True):
            flag = FLAGS.get(text.lower())
            score = SHARE.value(text, f"{path}, row {row}: score") if flag is None else flag
            by_example.setdefault(example, []).append(score)
        _check_complete(by_example, expected, path, str(candidate))
        attempts[str(candidate)] = [by_example[example] for example in expected]
    clusters = _of_examples(table, "cluster", path, expected) if "cluster" in table else None
    return ScoreFile(attempts, expected, None if clusters is None else _codes(clusters))


def _codes(values: Sequence[Any]) -> Ints:
    codes: Ints = pd.factorize(np.array(values, dtype=object))[0]
    return codes


def _checked(
    path: Path, needed: Sequence[str], optional: Sequence[str], candidate_columns: Sequence[str], name: str
) -> pd.DataFrame:
    """Return the rows of a file with a column ``candidate``; it is ``name`` if the file has none."""
    table = CsvTable.read(path)
    for column in candidate_columns:
        if column not in table.texts:
            raise InputError(f"{path}: lacks the column '{column}', which --candidates names")
    table.check_columns(
        needed,
        [*optional, *candidate_columns],
        f"the columns {', '.join(needed)}, and optionally {', '.join(optional)}",
        "use --candidates for columns that name a candidate, and leave out others",
    )
    texts = table.with_names(*table.texts.columns.drop(["prediction", "score"], errors="ignore")).texts
    for column in texts.columns.intersection(["prediction", "score"]):
        texts[column] = texts[column].str.strip()
    names = [*candidate_columns] or ["candidate"] * ("candidate" in texts)
    texts["candidate"] = texts[names].agg(" / ".join, axis=1) if names else name
    CsvTable(path, texts).check_unique("candidate", "example", "attempt")
    return texts


def _check_complete(by_example: Mapping[str, Any], examples: Sequence[str], path: Path, name: str) -> None:
    for example in examples:
        if example not in by_example:
            raise InputError(
                f"{path}: candidate '{name}' has no row for example '{example}'; expected a row for each "
                "example (with an empty prediction or a score of 0, if there was no answer)"
            )


def _of_examples(
    table: pd.DataFrame, column: str, path: Path, examples: Sequence[str] | None = None
) -> list[Any]:
    """(examples,) the column's value for each example; InputError if rows of one example differ.

    They are in the order of ``examples``, or of their first rows.
    """
    first = table.groupby("example", sort=False)[column].transform("first")
    if (different := table[column] != first).any():
        row = table.index[different][0]
        raise InputError(
            f"{path}, row {row}: {column} is '{table[column][row]}', but an earlier row of example "
            f"'{table['example'][row]}' has '{first[row]}'; expected the same"
        )
    values = table.drop_duplicates("example").set_index("example")[column]
    return (values if examples is None else values.reindex([*examples])).tolist()


def _predictions(
    rows: pd.DataFrame, examples: Sequence[str], metric: Metric, path: Path, name: str
) -> list[Any]:
    """(examples,) the predictions of one candidate."""
    read: dict[str, list[Any]] = {}
    for row, example, text in zip(rows.index, rows["example"], rows["prediction"], strict=True):
        read.setdefault(example, []).append(_prediction(text, metric, f"{path}, row {row}: prediction"))
    _check_complete(read, examples, path, name)
    if metric.answers == "attempts":
        return [tuple(read[example]) for example in examples]
    return [read[example][0] for example in examples]


def _prediction(text: str, metric: Metric, place: str) -> Any:
    if metric.answers == "set":
        return frozenset(_items(text))
    if metric.answers == "ranking":
        items = _items(text)
        if len({*items}) < len(items):
            raise InputError(f"{place} is '{text[:60]}', with an item twice; expected different items")
        return tuple(items)
    if metric.answers == "number":
        return NUMBER.value(text, place)
    return text


def _gold(text: str, metric: Metric, place: str) -> Any:
    if metric.answers in ("set", "ranking"):
        return frozenset(_items(text))
    if metric.answers == "number":
        return NUMBER.value(text, place)
    if metric.answers in ("text", "attempts") and text.startswith("["):
        accepted = _json_list(text) or []
        if any(isinstance(answer, str) for answer in accepted):  # numbers alone are an answer themselves
            accepted = [answer if isinstance(answer, str) else json.dumps(answer) for answer in accepted]
            # an attempt may be a list itself
            return (*accepted, text) if metric.answers == "attempts" else tuple(accepted)
    return text


def _items(text: str) -> list[str]:
    """Return the items of a list: JSON, or separated by ``|``."""
    listed = _json_list(text) if text.startswith("[") else None
    items = text.split(SEPARATOR) if listed is None else listed
    return [item.strip() for item in map(str, items) if item.strip()]


def _json_list(text: str) -> list[Any] | None:
    try:
        values = json.loads(text)
    except ValueError:
        return None
    return values if isinstance(values, list) else None
