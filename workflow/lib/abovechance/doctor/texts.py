"""Checks on questions, prompts and outputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import pandas as pd

from abovechance.doctor.answers import ACCURATE, LEAST_EXAMPLES, NEARLY_ALL
from abovechance.doctor.suspicion import Suspicion, graded, of_examples

LEAST_LINE = 20  # characters of a line that is searched in other prompts; shorter ones occur by chance
MOST_CONTEXTS = 200  # prompts that are searched for other examples
MARKER = 4  # characters at the beginning or end that nearly all prompts share
# Tools record these if a filter finds no answer in an output.
NO_ANSWER = {"", "[invalid]"}


class Flag(NamedTuple):
    """A flag that tools record for each example, and the shares of examples from which it is a sign."""

    column: str
    check: str
    suspicious: float
    grave: float
    evidence: str
    cause: str


FLAGS = (
    Flag(
        "truncated",
        "truncated-prompts",
        0.0,
        0.1,
        "the prompt was truncated",
        "the prompt exceeds the model's context",
    ),
    Flag(
        "cut_off",
        "cut-off-outputs",
        0.1,
        0.5,
        "the output ended at the token limit",
        "the limit may be too low for the answer to appear",
    ),
)


def check_texts(rows: pd.DataFrame, shots: int = 1) -> Iterator[Suspicion]:
    """Yield what is suspicious about questions, prompts and outputs, as far as the log contains them.

    Parameters
    ----------
    rows, shots
        See ``importers.contract.Run``.
    """
    yield from _duplicates(rows)
    if "context" in rows:
        with_context = rows[rows["context"].notna()]
        yield from _same_context(with_context)
        yield from _demonstrations(with_context, shots)
        yield from _truncated(with_context)
    if "output" in rows:
        yield from _outputs(rows[rows["output"].notna()])
    for flag in FLAGS:
        if flag.column in rows:
            values = rows[flag.column].dropna().astype(bool)
            if values.any() and (severity := graded(values.mean(), flag.suspicious, flag.grave)):
                evidence = f"{flag.evidence} in {of_examples(int(values.sum()), len(values))}"
                yield Suspicion(flag.check, severity, evidence, flag.cause)


def _duplicates(rows: pd.DataFrame) -> Iterator[Suspicion]:
    """Examples with the same question, choices and prompt; demonstrations may differ."""
    if "question" not in rows:
        return
    examples = rows[rows["question"].notna() & (rows["question"] != "")].drop_duplicates("example")
    if len(examples) < 2:
        return
    keys = examples["question"].map(_squeezed)
    if "choices" in examples:
        keys = keys + examples["choices"].map(lambda texts: "" if texts is None else "\0".join(texts))
    if "context" in examples:  # which can have what a question lacks, such as its numbers
        keys = keys + [
            "\0" + _own_paragraph(question, context)
            for question, context in zip(examples["question"], examples["context"].fillna(""), strict=True)
        ]
    repeated = int(keys.duplicated().sum())
    if repeated:
        copies = int(keys.value_counts().iloc[0])
        yield Suspicion(
            "duplicated-examples",
            graded(repeated / len(keys), 0.05, 0.2) or "note",
            f"{of_examples(repeated, len(keys))} repeat an earlier example, and one occurs {copies} times",
            "a split may be loaded several times; duplicates make intervals too narrow",
        )


def _own_paragraph(question: str, context: str) -> str:
    """Return the end of a prompt from the paragraph on that has the longest line of the question."""
    lines = sorted({line.strip() for line in question.splitlines()} - {""}, key=len)
    place = next((at for line in lines[::-1] if (at := context.rfind(line)) >= 0), len(context))
    return context[context.rfind("\n\n", 0, place) + 1 :] if place < len(context) else ""


def _same_context(rows: pd.DataFrame) -> Iterator[Suspicion]:
    """Different questions have the same prompt."""
    if "question" not in rows or len(rows) < LEAST_EXAMPLES:
        return
    # choices can be whole sentences after a prompt that is the same for all
    distinct = rows.assign(stem=stems(rows)).drop_duplicates("stem")
    if "choices" in distinct:  # which can have the question in them
        is_scored = [
            bool(stem)
            and all(any(line.strip() in text for text in texts or []) for line in stem.splitlines())
            for stem, texts in zip(distinct["stem"], distinct["choices"], strict=True)
        ]
        distinct = distinct[[not scored for scored in is_scored]]
    if len(distinct) < LEAST_EXAMPLES:
        return
    count = int(distinct["context"].value_counts().iloc[0])
    if severity := graded(count / len(distinct), 0.2, 0.5):
        yield Suspicion(
            "same-prompt",
            severity,
            f"the prompt is the same in {of_examples(count, len(distinct))} with different questions",
            "the template may not contain the question, or the prompt may be truncated before it",
        )


def stems(rows: pd.DataFrame) -> list[str]:
    """Return the lines of each question that are no choices.

    Parameters
    ----------
    rows
        With ``question`` and, if they are known, ``choices``.
    """
    choices = rows["choices"] if "choices" in rows else [None] * len(rows)
    return [
        "\n".join(line for line in str(question).splitlines() if line.strip() not in (texts or []))
        for question, texts in zip(rows["question"].fillna(""), choices, strict=True)
    ]


def _demonstrations(rows: pd.DataFrame, shots: int) -> Iterator[Suspicion]:
    """Evaluated examples are among the demonstrations, of themselves or of other examples.

    Without demonstrations, a prompt can repeat its question within a paragraph.
    """
    if "question" not in rows:
        return
    examples = rows[rows["question"].notna()].drop_duplicates("example")
    questions, contexts = examples["question"].tolist(), examples["context"].tolist()
    frequencies = Counter(line.strip() for question in questions for line in {*question.splitlines()})
    lines = [
        _own_line(question, context, frequencies)
        for question, context in zip(questions, contexts, strict=True)
    ]
    repeats = [
        line is not None and context.count(line) > 1 and (shots > 0 or _paragraphs(line, context) > 1)
        for line, context in zip(lines, contexts, strict=True)
    ]
    count = sum(repeats)
    if count and (severity := graded(count / len(repeats), 0.01, 0.2)):
        yield Suspicion(
            "own-demonstration",
            severity,
            f"the question occurs at least twice in the prompt of {of_examples(count, len(repeats))}",
            "the evaluated example may be one of its own demonstrations, with its answer",
        )
    step = -(-len(contexts) // MOST_CONTEXTS) if contexts else 1
    triples = zip(lines, questions, contexts, strict=True)
    chosen = [(question, context) for line, question, context in triples if line][::step]
    text = "\0".join(context for _, context in chosen)
    repeated_lines = {
        line for line in lines if line and text.count(line) > sum(line in question for question, _ in chosen)
    }
    with_others = sum(
        any(line not in question and line in context for line in repeated_lines)
        for question, context in chosen
    )
    if chosen and with_others / len(chosen) >= 0.5:
        yield Suspicion(
            "evaluated-demonstrations",
            "suspicious",
            f"{of_examples(with_others, len(chosen))} have other evaluated examples in their prompts "
            f"({len(repeated_lines)} different ones)",
            "demonstrations may come from the evaluated split; their answers are not independent of it",
        )


def _paragraphs(line: str, context: str) -> int:
    """Return how many paragraphs of a prompt contain a line."""
    return sum(line in paragraph for paragraph in context.split("\n\n"))


def _own_line(question: str, context: str, frequencies: Counter[str]) -> str | None:
    """Return the longest line of a question that its prompt contains and no other question; None if short."""
    lines = sorted((line.strip() for line in question.splitlines()), key=len, reverse=True)
    return next(
        (line for line in lines if len(line) >= LEAST_LINE and line in context and frequencies[line] == 1),
        None,
    )


def _truncated(rows: pd.DataFrame) -> Iterator[Suspicion]:
    """Nearly all prompts begin or end in the same way, except the longest ones."""
    contexts = rows["context"].drop_duplicates()
    if len(contexts) < LEAST_EXAMPLES or contexts.map(len).max() < 10 * MARKER:
        return
    reversed_texts = contexts.map(lambda text: text[::-1])
    for side, place, texts in (("begin", "beginning", contexts), ("end", "end", reversed_texts)):
        markers = texts.str[:MARKER]
        usual = markers.value_counts().index[0]
        unusual = markers != usual
        lengths = contexts.map(len)
        count = int(unusual.sum())
        if not 2 <= count <= 0.5 * len(contexts):
            continue
        longest, shortest = lengths[unusual].max(), lengths[unusual].min()
        are_long = lengths[unusual].median() >= lengths[~unusual].quantile(0.75)
        # truncation ends at any place, other templates end in one way
        is_varied = markers[unusual].nunique() >= min(3, count)
        if are_long and is_varied and longest - shortest <= 0.02 * longest:
            yield Suspicion(
                "truncated-prompts",
                "grave" if count >= 0.1 * len(contexts) else "suspicious",
                f"{of_examples(count, len(contexts))} have long prompts of nearly the same length that "
                f"do not {side} like all others",
                f"the {place} of long prompts may be truncated",
            )


def _outputs(rows: pd.DataFrame) -> Iterator[Suspicion]:
    """Outputs are empty or all the same, or no answer is found in them."""
    outputs = rows["output"].map(str).str.strip()
    total = len(outputs)
    if total < 2:
        return
    empty = int((outputs == "").sum())
    if empty >= 2 and (severity := graded(empty / total, 0.05, 0.5)):
        yield Suspicion(
            "empty-outputs",
            severity,
            f"the output is empty in {of_examples(empty, total)}",
            "a stop sequence may match at once, or the server may have failed",
        )
    texts = outputs[outputs != ""]
    if len(texts) >= LEAST_EXAMPLES and rows["correct"].mean() < ACCURATE:
        frequencies = texts.value_counts()
        text = str(frequencies.index[0])
        if frequencies.iloc[0] / len(texts) >= NEARLY_ALL:
            yield Suspicion(
                "same-output",
                "grave" if len(text) > LEAST_LINE else "suspicious",
                f"the output is '{text[:40]}' in {of_examples(int(frequencies.iloc[0]), total)}",
                "a cache may return the same output for all prompts, or the model may ignore the question",
            )
    if "answer" in rows:
        answers = rows["answer"].map(lambda answer: str(answer).strip().lower(), na_action="ignore")
        yield from _extracted(rows, answers, outputs)
        nothing = (outputs != "") & answers.isin(NO_ANSWER)
        count = int(nothing.sum())
        if count >= 2 and (severity := graded(count / total, 0.2, 0.5)):
            yield Suspicion(
                "no-answer-extracted",
                severity,
                f"no answer was found in the output of {of_examples(count, total)}",
                "the filter or pattern may not fit the outputs, so right answers count as wrong",
            )


def _extracted(rows: pd.DataFrame, answers: pd.Series, outputs: pd.Series) -> Iterator[Suspicion]:
    """Extracted answers are nearly all the same, or equal to targets although they count as wrong."""
    extracted = answers[answers.notna() & ~answers.isin(NO_ANSWER)]
    is_unclear = rows["correct"].mean() < ACCURATE and (rows["predicted"] < 0).all()
    if len(extracted) >= LEAST_EXAMPLES and is_unclear:
        counts = extracted.value_counts()
        if counts.iloc[0] / len(extracted) >= NEARLY_ALL and outputs.nunique() > 0.5 * len(outputs):
            count = int(counts.iloc[0])
            yield Suspicion(
                "one-answer",
                "suspicious",
                f"the answer is '{counts.index[0][:40]}' in {of_examples(count, len(extracted))} with "
                "different outputs",
                "the filter or pattern may find another part of the output",
            )
    if "target" in rows:
        wrong = rows[answers.notna() & (answers != "") & ~rows["correct"].astype(bool)]
        written = [
            wrong[column].map(lambda text: str(text).strip(), na_action="ignore")
            for column in ("answer", "target")
        ]
        count = int((written[0] == written[1]).sum())
        lower = [texts.map(str.lower, na_action="ignore") for texts in written]
        in_letters = int((lower[0] == lower[1]).sum())
        if count >= 2 and (severity := graded(count / len(rows), 0.02, 0.2)):
            yield Suspicion(
                "recorded-results",
                severity,
                f"the answer equals the target in {of_examples(count, len(rows))} that count as wrong",
                "the scorer may compare other texts than the log contains",
            )
        elif in_letters >= 2 and graded(in_letters / len(rows), 0.02, 1.0):
            yield Suspicion(
                "recorded-results",
                "suspicious",
                f"the answer equals the target, except for capital letters, in "
                f"{of_examples(in_letters, len(rows))} that count as wrong",
                "the scorer may be meant to ignore capital letters",
            )


def _squeezed(text: str) -> str:
    return " ".join(text.split())
