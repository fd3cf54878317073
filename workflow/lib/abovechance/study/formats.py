"""How examples are put to a model: what it reads before an answer, and what the answers are.

    as_written   the text of the file, or BIG-bench's; the answers are the choices
    numbers      CONTEXT: ..., QUESTION: Is this (0) ..., or (1) ...?, ANSWER: and a number, as Lu et al.
                 (2023) ask classification tasks
    cloze        the text with no choices listed in it; the answers are the choices
    letters      the same with the choices listed after it, each behind a letter; the answers are the letters

What remains of a text when its input is taken away, its *null* text, is what a null-target prompt has
(``pvi``). *Formulations* of a task are the same examples in several of these (``study.formulations``).
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from string import ascii_uppercase

import pandas as pd

from abovechance.core.errors import InputError

AS_WRITTEN, NUMBERS, CLOZE, LETTERS = "as_written", "numbers", "cloze", "letters"
CUE = "Answer:"  # where a text has none
# An input that names its parts itself, as in SENTENCE1: ...
NAMED = re.compile(r"[A-Z][A-Z0-9_]*: ")


def apply_format(table: pd.DataFrame, name: str, place: str) -> pd.DataFrame:
    """Return a table of examples in a format.

    Parameters
    ----------
    table
        The table ``tasks``, as written.
    name
        Name of the format.
    place
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
    return FORMATS[name](table, place)


def _as_written(table: pd.DataFrame, _place: str) -> pd.DataFrame:
    return table


def _numbers(table: pd.DataFrame, place: str) -> pd.DataFrame:
    labels = shared_labels(table, place, "the format 'numbers'")
    listed = [f"({number}) {label}" for number, label in enumerate(labels)]
    question = f"QUESTION: Is this {', '.join(listed[:-1])}, or {listed[-1]}?\nANSWER:"
    correct = [
        [flags[[*label_texts].index(label)] for label in labels]
        for label_texts, flags in zip(table["labels"], table["correct"], strict=True)
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


def _cloze(table: pd.DataFrame, place: str) -> pd.DataFrame:
    _check_bare(table, place)
    return table.assign(text=table["bare"])


def _letters(table: pd.DataFrame, location: str) -> pd.DataFrame:
    _check_bare(table, location)
    cue = _cue(table)
    texts, choices, labels, correct = [], [], [], []
    orders = _orders(table, location)
    columns = (table[name] for name in ("bare", "labels", "correct"))
    for order, bare, label_texts, correct_flags in zip(orders, *columns, strict=True):
        letters = [*ascii_uppercase[: len(order)]]
        ordered_labels = [label_texts[place] for place in order]
        stem = (bare if bare.endswith(cue) else bare.rstrip("\r\n")).removesuffix(cue).rstrip()
        lines = [f"{letter}. {label}" for letter, label in zip(letters, ordered_labels, strict=True)]
        texts.append("\n".join([stem, *lines, (cue or CUE).lstrip("\n")]))
        choices.append(letters)
        labels.append(ordered_labels)
        correct.append([bool(correct_flags[place]) for place in order])
    lists = {"choices": choices, "labels": labels, "correct": correct}
    columns_of_lists = {name: pd.Series(values, table.index) for name, values in lists.items()}
    return table.assign(text=texts, **columns_of_lists, null=(cue or CUE).lstrip("\n"), end="\n\n")


def _cue(table: pd.DataFrame) -> str:
    """Return the text after the input that all examples share, and that asks for the answer; may be empty."""
    nulls = table["null"].unique()
    if len(nulls) == 1 and nulls[0].strip() and table["bare"].str.endswith(nulls[0]).all():
        return str(nulls[0])
    last = table["bare"].str.rstrip("\r\n").str.rpartition("\n")
    same_ending = len(table) > 1 and last[0].ne("").any() and last[2].nunique() == 1
    cue = str(last[2].iloc[0]) if same_ending else ""
    # "Answer:" asks; a question that all examples share is a part of them
    return cue if cue.rstrip().endswith((":", "\N{FULLWIDTH COLON}")) else ""


def _orders(table: pd.DataFrame, location: str) -> list[list[int]]:
    """Return the order of each example's choices: the file's order, unless it reveals the answer.

    Where always choosing the same place, from the beginning or from the end, is right more than half way
    from chance to always, an order is drawn for each example; of few examples, where all are alike.
    """
    counts = [len(labels) for labels in table["labels"]]
    if max(counts) > len(ascii_uppercase):
        example = table["example"].iloc[counts.index(max(counts))]
        raise InputError(
            f"{location}: example '{example}' has {max(counts)} choices; the format 'letters' takes at most "
            f"{len(ascii_uppercase)}"
        )
    rights = [[*flags] for flags in table["correct"]]
    if len(rights) < FEW_EXAMPLES and len({tuple(flags) for flags in rights}) > 1:
        return [[*range(count)] for count in counts]
    chance = sum(sum(flags) / len(flags) for flags in rights) / len(rights)
    always = max(
        sum(len(flags) > place and flags[way * place - (way < 0)] for flags in rights) / len(rights)
        for place in range(max(counts))
        for way in (1, -1)
    )
    if always < (1 + chance) / 2:
        return [[*range(count)] for count in counts]
    return [
        random.Random(f"letters/{example}/{text}").sample(range(count), count)
        for example, text, count in zip(table["example"], table["bare"], counts, strict=True)
    ]


FEW_EXAMPLES = 10  # examples, of which several can have their answers at one place by chance
# What stands before a listed choice: a letter or a number with a point, a colon or brackets.
MARKED = r"(?:^|[\s(\[])(?:[A-Z]|[a-z]|\d{1,2})[.):\]]\s*"


def _check_bare(table: pd.DataFrame, place: str) -> None:
    """Raise InputError where the texts of most examples list the choices themselves."""

    def lists(text: str, labels: Sequence[str]) -> bool:
        ends = [line.strip().rstrip(".") for line in text.split("\n")]
        stripped = [label.strip().rstrip(".") for label in labels]
        if text.count("\n") >= len(stripped) and all(
            any(line.endswith(label) for line in ends) for label in stripped
        ):
            return True
        if all(re.search(MARKED + re.escape(label) + r"(?!\w)", text, re.MULTILINE) for label in stripped):
            return True
        # choices that are the letters of a list in the text
        marks = [rf"(?:^|[\s(\[]){re.escape(label)}[.):\]]" for label in stripped]
        short = all(len(label) == 1 and label.isalnum() for label in stripped)
        return short and all(re.search(mark, text, re.MULTILINE) for mark in marks)

    listed = [lists(*pair) for pair in zip(table["bare"], table["labels"], strict=True)]
    if 2 * sum(listed) > len(listed):
        example = table["example"].iloc[listed.index(True)]
        raise InputError(
            f"{place}: the texts list the choices themselves, such as that of example '{example}'; for the "
            "formats 'cloze' and 'letters', use texts without them"
        )


def shared_labels(table: pd.DataFrame, place: str, noun: str) -> list[str]:
    """Return the labels that all examples of a task choose from, in the order of the first example.

    Parameters
    ----------
    noun
        The noun for what needs them, for messages.

    Raises
    ------
    InputError
        If examples have choices of their own.
    """
    first: Sequence[str] = [*table["labels"].iloc[0]]
    for example, labels in zip(table["example"], table["labels"], strict=True):
        if set(labels) != set(first):
            raise InputError(
                f"{place}: example '{example}' has the choices {[*labels]!r}, and example "
                f"'{table['example'].iloc[0]}' {[*first]!r}; expected the same choices of all examples "
                f"for {noun}"
            )
    return [*first]


FORMATS: Mapping[str, Callable[[pd.DataFrame, str], pd.DataFrame]] = {
    AS_WRITTEN: _as_written,
    NUMBERS: _numbers,
    CLOZE: _cloze,
    LETTERS: _letters,
}
