"""What all importers give, and how runs become the table of predictions."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from abovechance.accuracy import SETTING
from abovechance.archive import SCHEMAS
from abovechance.errors import InputError


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
        results say which prompt a row is of. Without, all rows are of one prompt.
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
    def setting(self) -> tuple[str, str, int]:
        """Model, task and shots."""
        return self.model, self.task, self.shots


def combine(runs: Sequence[Run], options: Options) -> pd.DataFrame:
    """The table ``predictions`` of all runs, one setting after another.

    Raises
    ------
    InputError
        If the number of prompts or the chance of a lucky guess is not known, with the option
        that would tell it; or if an example stands twice in a run.
    """
    by_setting: dict[tuple[str, str, int], list[Run]] = {}
    for run in runs:
        by_setting.setdefault(run.setting, []).append(run)
    return pd.concat([_one_setting(group, options) for group in by_setting.values()], ignore_index=True)


def _one_setting(runs: list[Run], options: Options) -> pd.DataFrame:
    tables = [_checked(run, runs, options) for run in runs]
    homes: dict[str, str] = {}
    for run, table in zip(runs, tables, strict=True):
        for label in table["prompt"].unique():
            if label in homes:
                raise InputError(f"prompt '{label}' stands in two runs: {homes[label]} and {run.file}")
            homes[label] = run.file
    numbers = {label: number for number, label in enumerate(sorted(homes, key=_natural))}
    table = pd.concat(tables, ignore_index=True)
    table["prompt"] = table["prompt"].map(numbers)
    table = table.sort_values("prompt", kind="stable", ignore_index=True)
    return table.assign(**dict(zip(SETTING, runs[0].setting, strict=True)))[SCHEMAS["predictions"].names]


def _checked(run: Run, runs: list[Run], options: Options) -> pd.DataFrame:
    """A run's rows with names of prompts and known chances."""
    rows = run.rows
    if rows.empty:
        raise InputError(f"{run.file}: has no results of {run.model} on {run.task} that can be used")
    if "prompt" not in rows:
        rows = rows.assign(prompt=_label(run, runs, options))
    if (repeated := rows.duplicated(["prompt", "example"])).any():
        example = rows["example"][repeated].iloc[0]
        raise InputError(f"{run.file}: example '{example}' stands twice under one prompt")
    unknown = rows["chance"].isna()
    if unknown.any() and options.chance is None:
        raise InputError(
            f"{run.file}: does not say how many choices an example has; right would be --choices 4, or "
            "--chance 0.25, with the number that is true"
        )
    if options.chance is not None:
        rows = rows.assign(chance=rows["chance"].fillna(options.chance))
    return rows


def _label(run: Run, runs: list[Run], options: Options) -> str:
    """What names a run's one prompt; InputError where the user has not said that it is one of several."""
    if options.each_file or (options.prompts is not None and len(runs) == 1):
        return run.file
    what = f"{run.model} on {run.task}, {run.shots}-shot"
    if len(runs) > 1:
        command = f"abovechance check {shlex.quote(str(Path(run.file).parent))} --each-file"
        raise InputError(
            f"{run.file}: {len(runs)} runs of {what}, and nothing says whether they are different prompts; "
            f"right would be `{command}` if each is another prompt, or the one run that counts"
        )
    command = f"abovechance check {shlex.quote(run.file)} --prompts 20"
    raise InputError(
        f"{run.file}: does not say how many prompts were tried for {what}; right would be `{command}` if "
        "this is the best of 20 (--prompts 1 if it is the only one), or all their runs and --each-file"
    )


def _natural(label: str) -> tuple[float, str]:
    """Numbers in their order, then texts in theirs."""
    return (float(label), "") if label.lstrip("-").isdigit() else (float("inf"), label)


def read_json(path: Path) -> Any:
    """A JSON file; InputError with file and place where it is none."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: is not JSON: {error}") from None


def pick(scores: list[float], right: set[int]) -> dict[str, object]:
    """The columns of a row from the scores of its choices and the numbers of the correct ones.

    A tie of a correct and a wrong choice is wrong, and recorded.
    """
    values = np.asarray(scores, dtype=np.float64)
    best = set(np.flatnonzero(values == values.max()).tolist())
    tie = bool(best & right) and bool(best - right)
    return {
        "predicted": -1 if tie else min(best),
        "correct": bool(best & right) and not tie,
        "tie": tie,
        "chance": len(right) / len(values),
    }


def files_below(path: Path, pattern: str) -> list[Path]:
    """The file itself where its name is of the pattern, or all such files in a folder, sorted."""
    if path.is_file():
        return [path] if path.match(pattern) else []
    return sorted(path.rglob(pattern))
