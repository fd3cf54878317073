"""The interface of all importers."""

from __future__ import annotations

import ast
import hashlib
import json
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pandas as pd

from abovechance.core.errors import InputError, located
from abovechance.core.settings import Setting
from abovechance.core.untrusted import named
from abovechance.core.words import counted
from abovechance.doctor.runs import Examined, examine, summarize
from abovechance.doctor.suspicion import Suspicion
from abovechance.metrics.names import accepts_several
from abovechance.results.predictions import UNKNOWN, choose

MOST_SHOTS = 1_000_000
# Columns of rows that only the checks for broken logs use.
EVIDENCE = ("question", "context", "output", "answer", "target", "truncated", "cut_off")


class UnsupportedMetric(InputError):
    """No metric of the results says of each example whether it is correct, or several do.

    Also if the results lack the metric, the filter or the epoch that is asked for, or if their evaluation
    failed.

    Attributes
    ----------
    has_filter
        Whether the results have the filter of ``--filter``.
    """

    def __init__(self, message: str, has_filter: bool = False) -> None:
        super().__init__(message)
        self.has_filter = has_filter


@dataclass(frozen=True, kw_only=True)
class Options:
    """Facts that results may lack, and that the user supplies.

    Attributes
    ----------
    chance
        Chance of a lucky guess on every example, where the results do not have the choices.
    of_one_guess
        Whether ``chance`` holds for one guess only, because the user stated the number of choices.
    metric
        The tool's metric that says whether an example is correct: its value in the log counts.
        Unless given, the log-likelihoods of the choices decide if the log has them, and otherwise the
        tool's own metric for multiple choice.
    filter
        The filter of lm-evaluation-harness.
    epoch
        The epoch of inspect; by default, the first.
    each_file
        Whether each run is another prompt of its model and task.
    prompts
        Number of prompts tried, if there are results of the best one only.
    complete
        Whether results in a folder that lack the metric are an error, and not left out with a note.
    command
        The command that asks, such as ``check``. ``doctor`` reads all filters and scorers of a log.
    expected
        The checks of ``doctor`` whose signs are no fault here.
    """

    chance: float | None = None
    metric: str | None = None
    filter: str | None = None
    epoch: int | None = None
    each_file: bool = False
    prompts: int | None = None
    complete: bool = False
    command: str = "check"
    expected: tuple[str, ...] = ()
    of_one_guess: bool = False

    @property
    def is_selective(self) -> bool:
        """Whether the user chose a metric, a filter or an epoch."""
        return (self.metric, self.filter, self.epoch) != (None, None, None)

    @property
    def by_name(self) -> dict[str, object]:
        """{command-line option: its value}."""
        names = ("metric", "filter", "epoch", "each_file")
        return {f"--{name.replace('_', '-')}": getattr(self, name) for name in names}


@dataclass(frozen=True)
class Reported:
    """A tool's own summary over all examples.

    Attributes
    ----------
    place
        The file, and what it is called there.
    accuracy
        In [0, 1], where it is reported.
    examples
        Number of examples, if it is reported.
    """

    place: str
    accuracy: float | None = None
    examples: int | None = None


@dataclass(frozen=True)
class Run:
    """The results of one model on one task.

    Attributes
    ----------
    file
        The file or folder of the results, for messages.
    rows
        ``example`` str, ``predicted`` (number of the choice, -1 where not known), ``correct``
        bool, ``tie`` bool, ``chance`` (nan where not known); and ``prompt``, a name, where the
        results say which prompt a row is of. Without, all rows are of one prompt. Where the
        results have log-likelihoods, the columns ``likelihoods.OF_CHOICES``, which ``judged`` makes. Where
        they have the texts of the choices, ``choices`` and ``right``.
        Where the tool itself says of each row whether it is correct, ``recorded``, from 0 to 1.
        As far as the log contains them, the columns ``EVIDENCE``: the texts ``question``, ``context`` (the
        whole prompt), ``output``, ``answer`` (found in the output, empty if none was found) and ``target``;
        the flags ``truncated`` (the prompt) and ``cut_off`` (the output ended at the token limit). ``None``
        is unknown.
    notes
        Notes for readers: what was left out, and why.
    reported
        The tool's own summary of all rows.
    metric
        The metric whose value is ``correct``, as the tool names it.
    metric_name
        The metric's name, if ``metric`` is an id.
    unscored
        Number of examples in the log that have no score.
    is_drawn
        True if the study evaluates a randomly drawn part of the examples.
    states_chance
        True if the chance is that of the metric, whatever its name.
    is_of_choice
        False if the metric need not say whether the chosen answer is correct.
    suspicions
        Signs that the log is broken.
    part
        The part of the file that the rows are of, such as ``epoch 2``; empty if it has no parts.
    examined
        The part that is compared with other runs.
    """

    file: str
    model: str
    task: str
    shots: int
    rows: pd.DataFrame
    notes: list[str] = field(default_factory=list)
    reported: Reported | None = None
    metric: str = "accuracy"
    metric_name: str = ""
    unscored: int = 0
    is_drawn: bool = False
    states_chance: bool = False
    is_of_choice: bool = True
    suspicions: list[Suspicion] = field(default_factory=list)
    part: str = ""
    examined: Examined | None = None

    def __post_init__(self) -> None:
        for name in (self.model, self.task):
            named(name, self.file)

    @property
    def accepts_several(self) -> bool:
        """Whether the metric counts several guesses at an example, as its name shows."""
        return accepts_several(self.metric_name or self.metric)

    @property
    def place(self) -> str:
        """The file of the results, with their part of it."""
        return f"{self.file}, {self.part}" if self.part else self.file

    @property
    def setting(self) -> Setting:
        """The setting of the results."""
        return Setting(self.model, self.task, self.shots)


def examined(run: Run) -> Run:
    """Return a run with its suspicions, and without the columns that only the checks use.

    If the metric accepts several guesses, the chance is unknown unless the file states it, because it is that
    of one guess, and the texts of choices are left out, because simple guessers have one guess.
    """
    rows, file = run.rows, Path(run.file)
    unused = [*EVIDENCE]
    if run.accepts_several:
        rows = rows if run.states_chance else rows.assign(chance=math.nan)
    if run.accepts_several or not run.is_of_choice:
        unused.append("choices")
    summary = summarize(run.file, run.task, run.model, rows, run.metric)
    # a file can have several runs, which have other metrics or models
    name = f"{run.metric} {run.shots}"
    digest = {}
    # two files in which all answers are right, or all are wrong, can be equal without being copies
    if file.is_file() and (summary.fingerprints or rows["correct"].nunique() > 1):
        with file.open("rb") as content:
            digest["bytes"] = f"{name} {hashlib.file_digest(content, 'sha256').hexdigest()}"
    return replace(
        run,
        rows=rows.drop(columns=unused, errors="ignore"),
        suspicions=[*run.suspicions, *examine(rows, run.unscored, run.is_drawn, run.shots)],
        examined=replace(summary, fingerprints=summary.fingerprints | digest),
    )


@runtime_checkable
class Importer(Protocol):
    """The protocol of a module that reads the results of one tool.

    Attributes
    ----------
    TOOL
        The name of the tool.
    OPTIONS
        Those of ``metric``, ``filter`` and ``epoch`` that its results can have.
    LOOKS_LIKE
        A description of its results, for errors about other files.
    """

    TOOL: str
    OPTIONS: tuple[str, ...]
    LOOKS_LIKE: str

    def find(self, path: Path) -> list[Path]:
        """Return the tool's results in a file or folder; none if they are something else."""

    def read(self, path: Path, options: Options) -> Iterator[Run]:
        """Yield one run for each model, task and number of shots in a path that ``find`` returned.

        Raises
        ------
        InputError
            With file and row if something in it is wrong.
        """


def check_recorded(run: Run) -> None:
    """Hold a run against what the tool itself recorded: of each example, and of all together.

    Raises
    ------
    InputError
        With the first example that is correct here and wrong there, or the other way round, but for
        ties; or if the accuracies of all together differ by half an example or more, or their numbers.
    """
    rows, reported = run.rows, run.reported
    if reported is not None and reported.examples not in (None, len(rows)):
        raise InputError(
            f"{run.file}: has {len(rows)} examples, and {reported.place} says {reported.examples}; expected "
            "the whole log that belongs to it"
        )
    if "recorded" not in rows:
        return
    recorded = rows["recorded"].astype("float64")
    differs = recorded.notna() & ~rows["tie"].astype(bool) & ((recorded == 1) != rows["correct"])
    if differs.any():
        row = rows[differs].iloc[0]
        tool_says, answers_say = ("correct", "wrong") if row["correct"] else ("wrong", "correct")
        raise InputError(
            f"{run.file}: example '{row['example']}' is {tool_says} by its log-likelihoods and target, and "
            f"the tool recorded it as {answers_say} ({int(differs.sum())} of {len(rows)} examples differ); "
            "use --metric with the metric of the tool that counts"
        )
    if reported is None or reported.accuracy is None or recorded.isna().any() or rows.empty:
        return
    if abs(recorded.mean() - reported.accuracy) >= 0.5 / len(rows):
        raise InputError(
            f"{run.file}: its {len(rows)} examples have a mean of {recorded.mean():.4f}, and "
            f"{reported.place} says {reported.accuracy:.4f}; expected the whole log that belongs to it"
        )


def number_of_shots(value: Any, place: str) -> int:
    """Return a number of demonstrations as a whole number; InputError if it is none, or negative."""
    whole = isinstance(value, int | float) and not isinstance(value, bool) and value == int(value)
    if not whole or not 0 <= value <= MOST_SHOTS:
        raise InputError(f"{place}: has {repr(value)[:40]} shots; expected a whole number from 0")
    return int(value)


def truth(value: Any, metric: str, place: str) -> bool:
    """Return whether a metric's value says correct.

    Raises
    ------
    UnsupportedMetric
        If it is another number than 0 or 1.
    InputError
        If it is not a number.
    """
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if number in (0.0, 1.0):
        return number == 1
    kind = InputError if math.isnan(number) else UnsupportedMetric
    raise kind(f"{place}: {metric} is {repr(value)[:40]}; expected a metric of 0 or 1 for each example")


def text_or_none(value: Any) -> str | None:
    """Return a text, with a question mark for half of a character, and None for anything else."""
    return value.encode(errors="replace").decode() if isinstance(value, str) else None


def listed(text: str) -> list[Any]:
    """Return the values of a list as JSON, Python or NumPy write it; an empty list for other texts."""
    if not text.startswith("["):
        return []
    of_numpy = re.sub(r"np\.\w+\(([^()]*)\)", r"\1", text)
    for read, written in ((json.loads, text), (ast.literal_eval, text), (ast.literal_eval, of_numpy)):
        with suppress(ValueError, SyntaxError, RecursionError, MemoryError):
            value = read(written)
            return value if isinstance(value, list) else []
    return []


def recorded_row(correct: bool, choices: int, correct_choices: set[int] | None) -> dict[str, Any]:
    """The columns of a row of which the tool says whether it is correct, and not what was chosen.

    Parameters
    ----------
    choices
        Number of choices; 0 if it is unknown.
    correct_choices
        The numbers of the correct ones; None where they are not known.
    """
    chance = len(correct_choices) / choices if choices and correct_choices is not None else float("nan")
    return {
        "predicted": UNKNOWN,
        "correct": correct,
        "tie": False,
        "chance": chance,
        "recorded": float(correct),
    }


def judged(
    scores: Sequence[float], correct_choices: set[int], texts: Sequence[str | None], place: str
) -> dict[str, object]:
    """Return the columns of a row from the log-likelihoods of its choices.

    Parameters
    ----------
    scores, correct_choices, texts
        See ``logged``.
    place
        File and row, for messages.

    Raises
    ------
    InputError
        If a log-likelihood is not a number.
    """
    columns = logged(scores, correct_choices, texts)
    with located(place):
        chosen = choose(np.asarray(scores, dtype=np.float64), np.asarray(columns["right"]), np.array([0]))
    return {
        "predicted": int(chosen.predicted[0]),
        "correct": bool(chosen.correct[0]),
        "tie": bool(chosen.tie[0]),
        "chance": len(correct_choices) / len(scores),
        **columns,
    }


def logged(
    scores: Sequence[float], correct_choices: set[int], texts: Sequence[str | None]
) -> dict[str, object]:
    """Return the columns ``likelihoods.OF_CHOICES`` and ``imported.CHOICES`` of a row.

    Parameters
    ----------
    scores
        (choices,) log-likelihoods in nats.
    correct_choices
        The numbers of the correct choices.
    texts
        (choices,) the choices as they were scored; None where the log lacks one.
    """
    return {
        "logprobs": list(scores),
        "characters": [None if text is None else len(text) for text in texts],
        "bytes": [None if text is None else len(text.encode()) for text in texts],
        "right": [number in correct_choices for number in range(len(scores))],
        "choices": texts_of_choices(texts),
    }


def texts_of_choices(texts: Sequence[str | None]) -> list[str] | None:
    """Return the column ``imported.CHOICES`` of a row: the texts without blanks around them, or None."""
    known_texts = [text.strip() for text in texts if text is not None]
    return known_texts if len(known_texts) == len(texts) else None


def metric_note(place: str, metric: str, alternatives: Iterable[str]) -> list[str]:
    """Return a note with the metric that is used by default, if results have others."""
    names = [*alternatives]
    return [f"{place}: the metric is {metric}; for another one, {use_metric(names)}"] if names else []


def use_metric(names: Iterable[str]) -> str:
    """Return the advice that ends messages about metrics."""
    return f"use --metric {' or '.join(names) or 'NAME'}"


def left_out(error: UnsupportedMetric) -> str:
    """Return a note on results that are left out because of their metric or a failed evaluation."""
    return f"left out: {error}"


def not_of_choice(place: str, metric: str) -> str:
    """Return a note on a metric of which the choices do not show how probable a lucky guess is."""
    return (
        f"{place}: {metric} need not say whether the chosen answer is correct, so the choices do not show "
        "how probable a lucky guess is"
    )


def not_checked(evidence: str) -> Suspicion:
    """Return a sign for ``doctor`` that results are not checked because of their metric."""
    cause = "results are checked by a metric that is 0 or 1 for each example"
    return Suspicion("not-checked", "note", evidence, cause)


def tied(ties: int) -> str:
    """Return how ties of a correct and a wrong choice were taken, as a note."""
    return f"{counted(ties, 'tie')} of a correct and a wrong choice counted as wrong"
