"""How examples are put to a model: what it reads before an answer, and what the answers are.

    as_written   the text of the file, or BIG-bench's; the answers are the choices
    numbers      CONTEXT: ..., QUESTION: Is this (0) ..., or (1) ...?, ANSWER: and a number, as Lu et al.
                 (2023) ask classification tasks

What remains of a text when its input is taken away, its *null* text, is what a null-target prompt has
(``pvi``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

import pandas as pd

from abovechance.core.errors import InputError

AS_WRITTEN, NUMBERS = "as_written", "numbers"
# An input that names its parts itself, as in SENTENCE1: ...
NAMED = re.compile(r"[A-Z][A-Z0-9_]*: ")


def put(table: pd.DataFrame, name: str, where: str) -> pd.DataFrame:
    """A table of examples in a format.

    Parameters
    ----------
    table
        The table ``tasks``, as written.
    name
        Of the format.
    where
        The task, for messages.

    Returns
    -------
    DataFrame
        The same examples with other ``text``, ``choices``, ``null`` and ``end``; ``labels`` stay what
        the choices stand for.

    Raises
    ------
    InputError
        If the task cannot be put so.
    """
    return FORMATS[name](table, where)


def _as_written(table: pd.DataFrame, _where: str) -> pd.DataFrame:
    return table


def _numbers(table: pd.DataFrame, where: str) -> pd.DataFrame:
    labels = shared_labels(table, where, "the format 'numbers'")
    listed = [f"({number}) {label}" for number, label in enumerate(labels)]
    question = f"QUESTION: Is this {', '.join(listed[:-1])}, or {listed[-1]}?\nANSWER:"
    correct = [
        [flags[[*own].index(label)] for label in labels]
        for own, flags in zip(table["labels"], table["correct"], strict=True)
    ]
    named = all(map(NAMED.match, table["input"]))  # of all examples, or a task would have two formats
    inputs = table["input"] if named else [f"CONTEXT: {text}" for text in table["input"]]
    return table.assign(
        text=[f"{text}\n{question}" for text in inputs],
        choices=pd.Series([[str(number) for number in range(len(labels))]] * len(table), table.index),
        labels=pd.Series([labels] * len(table), table.index),
        correct=pd.Series(correct, table.index),
        null="ANSWER:",
        end="\n\n",
    )


def shared_labels(table: pd.DataFrame, where: str, what: str) -> list[str]:
    """The labels that all examples of a task choose from, in the order of the first example.

    Parameters
    ----------
    what
        What needs them, for messages.

    Raises
    ------
    InputError
        If examples have choices of their own.
    """
    first: Sequence[str] = [*table["labels"].iloc[0]]
    for example, labels in zip(table["example"], table["labels"], strict=True):
        if set(labels) != set(first):
            raise InputError(
                f"{where}: example '{example}' has the choices {[*labels]!r}, and example "
                f"'{table['example'].iloc[0]}' {[*first]!r}; right for {what} would be a task whose examples "
                "all have the same choices"
            )
    return [*first]


FORMATS: Mapping[str, Callable[[pd.DataFrame, str], pd.DataFrame]] = {
    AS_WRITTEN: _as_written,
    NUMBERS: _numbers,
}
