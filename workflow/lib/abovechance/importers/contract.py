"""What every importer takes and gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from abovechance.core.errors import InputError
from abovechance.core.settings import Setting
from abovechance.results.predictions import choose


@dataclass(frozen=True)
class Options:
    """What a user says of results that do not say it themselves.

    Attributes
    ----------
    chance
        Chance of a lucky guess on every example, where the results do not have the choices.
    metric
        Which of a tool's metrics says whether an example is correct; the tool's own for
        multiple choice unless given.
    filter
        Which of lm-evaluation-harness's filters.
    epoch
        Which of inspect's epochs.
    each_file
        Whether each run is another prompt of its model and task.
    prompts
        How many prompts were tried, where only the best one's results are there.
    """

    chance: float | None = None
    metric: str | None = None
    filter: str | None = None
    epoch: int = 1
    each_file: bool = False
    prompts: int | None = None


@dataclass(frozen=True)
class Run:
    """The results of one model on one task.

    Attributes
    ----------
    file
        Where they come from, for messages.
    rows
        ``example`` str, ``predicted`` (number of the choice, -1 where not known), ``correct``
        bool, ``tie`` bool, ``chance`` (nan where not known); and ``prompt``, a name, where the
        results say which prompt a row is of. Without, all rows are of one prompt. Where the
        results have log-likelihoods, the columns ``likelihoods.OF_CHOICES``, which ``judged`` makes.
    notes
        What people should know: what was left out, and why.
    """

    file: str
    model: str
    task: str
    shots: int
    rows: pd.DataFrame
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        # A model on this machine is called by its folder; names are parts of file names.
        name = Path(self.model).name if self.model.startswith("/") else self.model
        object.__setattr__(self, "model", name.replace("/", "--"))

    @property
    def setting(self) -> Setting:
        """What the results are of."""
        return Setting(self.model, self.task, self.shots)


def judged(
    scores: Sequence[float], right: set[int], texts: Sequence[str | None], where: str
) -> dict[str, object]:
    """The columns of a row from the log-likelihoods of its choices.

    Parameters
    ----------
    scores, right, texts
        See ``logged``.
    where
        File and row, for messages.

    Raises
    ------
    InputError
        If a log-likelihood is not a number.
    """
    columns = logged(scores, right, texts)
    try:
        chosen = choose(np.asarray(scores, dtype=np.float64), np.asarray(columns["right"]), np.array([0]))
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
    return {
        "predicted": int(chosen.predicted[0]),
        "correct": bool(chosen.correct[0]),
        "tie": bool(chosen.tie[0]),
        "chance": len(right) / len(scores),
        **columns,
    }


def logged(scores: Sequence[float], right: set[int], texts: Sequence[str | None]) -> dict[str, object]:
    """The columns ``likelihoods.OF_CHOICES`` of a row.

    Parameters
    ----------
    scores
        (choices,) log-likelihoods in nats.
    right
        The numbers of the correct choices.
    texts
        (choices,) the choices as they were scored; None where the log lacks one.
    """
    return {
        "logprobs": list(scores),
        "characters": [None if text is None else len(text) for text in texts],
        "bytes": [None if text is None else len(text.encode()) for text in texts],
        "right": [number in right for number in range(len(scores))],
    }


def tied(ties: int) -> str:
    """How ties of a correct and a wrong choice were taken, as a note."""
    return f"{ties} {'tie' if ties == 1 else 'ties'} of a correct and a wrong choice counted as wrong"


def files_below(path: Path, pattern: str) -> list[Path]:
    """The file itself where its name is of the pattern, or all such files in a folder, sorted."""
    if path.is_file():
        return [path] if path.match(pattern) else []
    return sorted(path.rglob(pattern))
