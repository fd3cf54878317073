"""The work of a study's scoring jobs, and the verdicts on what they have scored.

The Snakefile lists the scoring jobs in a log record (``onstart``); their tables tell how much text each has.
Snakemake imports the plugins before the Snakefile, which chooses the library. So functions import it, and not
this module.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from os.path import commonprefix
from pathlib import Path
from typing import Any, TypeVar

# What a scoring job writes to its log, see score_cells.
TO_SCORE = re.compile(r"^\S+ \S+ (.+): (\d+) of \d+ prompts to score$", re.MULTILINE)
SCORED = re.compile(r"^(\S+ \S+) (.+): (\d+) of \d+ prompts scored$", re.MULTILINE)


@dataclass(frozen=True)
class Progress:
    """How far a scoring job is, from its log.

    Attributes
    ----------
    to_score, scored
        Prompts that it has to score, and those that it has scored, by cell: one for each number of shots.
    seconds
        The time from the first scored prompt to the last.
    """

    to_score: Mapping[str, int]
    scored: Mapping[str, int]
    seconds: float = 0.0

    @classmethod
    def from_log(cls, log: Path | None) -> Progress:
        """Read a log; a job without one, or that does not score, has nothing to score."""
        try:
            text = log.read_text(errors="replace") if log else ""
        except OSError:
            text = ""
        to_score = {cell: int(number) for cell, number in TO_SCORE.findall(text)}
        lines = SCORED.findall(text)
        times = [datetime.fromisoformat(time.replace(",", ".")) for time, _, _ in (*lines[:1], *lines[-1:])]
        seconds = (times[1] - times[0]).total_seconds() if times else 0.0
        return cls(to_score, {cell: int(number) for _, cell, number in lines}, seconds)


@dataclass(frozen=True)
class ScoringJob:
    """A scoring job of a study, that runs or waits.

    Attributes
    ----------
    rule, model, task, null
        Its rule, and what it scores: prompts without inputs if ``null``.
    task_table, evaluation_set, weights
        Its input files.
    scores, prompts
        {number of shots: its output file} and {number of shots: the file of the prompts}.
    normalization
        The study's.
    judged
        Whether there are verdicts on its prompts.
    """

    rule: str
    model: str
    task: str
    null: bool
    task_table: Path
    evaluation_set: Path
    weights: Path
    scores: Mapping[int, Path]
    prompts: Mapping[int, Path]
    normalization: str
    judged: bool

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> ScoringJob:
        """Read what the Snakefile lists."""
        paths = {name: Path(record[name]) for name in ("task_table", "evaluation_set", "weights")}
        by_shots = {
            name: {shots: Path(path) for shots, path in record[name].items()}
            for name in ("scores", "prompts")
        }
        return cls(**{**record, **paths, **by_shots})

    @property
    def is_done(self) -> bool:
        """Whether all its scores files exist."""
        return all(path.is_file() for path in self.scores.values())

    def cell(self, shots: int) -> str:
        """The name of a cell in the job's log."""
        return f"{self.model}, {self.task}, {shots}-shot" + ", null target" * self.null

    def prompts_by_cell(self) -> dict[str, int]:
        """The number of prompts of each cell whose prompts exist."""
        counts = {self.cell(shots): _if_readable(_text_bytes, path) for shots, path in self.prompts.items()}
        return {cell: count[0] for cell, count in counts.items() if count is not None}

    def bytes_per_prompt(self) -> dict[str, float] | None:
        """The text that goes through the model for one prompt of each cell, in bytes of UTF-8.

        Common prefixes count once, as in the scoring engine. None before the tables exist.
        """
        count = _null_example_bytes if self.null else _example_bytes
        examples = _if_readable(count, self.task_table, self.evaluation_set)
        counts = {self.cell(shots): _if_readable(_text_bytes, path) for shots, path in self.prompts.items()}
        if examples is None or None in counts.values():
            return None
        return {cell: examples + count[1] / max(count[0], 1) for cell, count in counts.items() if count}

    def size(self) -> int | None:
        """The bytes of the model's weights; None before they exist."""
        return _if_readable(_folder_bytes, self.weights)

    def verdict(self, shots: int) -> str:
        """Return a line about a scored setting: best accuracy, maximum baseline, tail and conclusion."""
        from abovechance.chance.verdicts import verdicts
        from abovechance.core.p_values import probability
        from abovechance.core.settings import Setting
        from abovechance.core.tables import read_table
        from abovechance.results.accuracy import accuracy_by_prompt
        from abovechance.results.predictions import predict
        from abovechance.scoring.store import read_requested

        task, evaluation = read_table(self.task_table), read_table(self.evaluation_set)
        setting = Setting(self.model, self.task, shots)
        scores = read_requested(self.scores[shots], task, evaluation, self.prompts[shots])
        predictions = predict(scores, task, self.normalization)
        if predictions.empty:
            return f"{setting.words}: no prompt fits into the model's context"
        row = verdicts(accuracy_by_prompt(setting.label(predictions))).iloc[0]
        return (
            f"{setting.words}: {row['best_accuracy']:.1%} vs {row['maximum_baseline']:.1%}, "
            f"p = {probability(row['maximum_tail'])}: so far {row['better_than_chance']}"
        )


Answer = TypeVar("Answer")
_counts: dict[tuple[Any, ...], Any] = {}


def _if_readable(count: Callable[..., Answer], *paths: Path) -> Answer | None:
    """Return what a function counts in files, once for each version of them; None if one cannot be read.

    Files of a study come and go while it runs.
    """
    from abovechance.core.errors import InputError

    try:
        key = (count, *paths, *(path.stat().st_mtime_ns for path in paths))
        if key not in _counts:
            _counts[key] = count(*paths)
    except (OSError, InputError):
        return None
    answer: Answer = _counts[key]
    return answer


def _text_bytes(prompts: Path) -> tuple[int, int]:
    """Return the number of prompts, and the bytes of their texts."""
    from abovechance.core.tables import read_columns

    texts = read_columns([prompts], ["text"])["text"]
    return len(texts), sum(len(text.encode()) for text in texts)


def _example_bytes(task_table: Path, evaluation_set: Path, text: str = "text") -> int:
    """Return the bytes of all evaluated examples with their choices, in which common prefixes count once."""
    from abovechance.core.tables import read_table

    examples = read_table(task_table)[read_table(evaluation_set)["evaluated"].to_numpy()]
    rows = zip(examples[text], examples["choices"], strict=True)
    strings = sorted(f"{question} {choice}".encode() for question, choices in rows for choice in choices)
    shared = sum(len(commonprefix(pair)) for pair in pairwise(strings))  # noqa: RUF071  # no paths
    return sum(map(len, strings)) - shared


def _null_example_bytes(task_table: Path, evaluation_set: Path) -> int:
    return _example_bytes(task_table, evaluation_set, "null")


def _folder_bytes(weights: Path) -> int:
    """Return the bytes of the weights in the folder that a weights file names."""
    folder = Path(json.loads(weights.read_text(encoding="utf-8"))["folder"])
    suffixes = (".safetensors", ".bin", ".gguf")
    return sum(path.stat().st_size for path in folder.iterdir() if path.suffix in suffixes)
