"""Published predictions: the released results of Yauney and Mimno (2024), and what lies like them.

A release is a folder, or a zip file of one, with

    results/<model>_<task>_<shots>-shot.csv    one row per prompt and example
    results/aggregated-results.json            accuracies by setting
    held-out-split-results/*_t=<t>_*.csv       one row per split
    subsampled-idxs/<task>_*.json              which examples of a large task were evaluated

Nothing is taken for granted: numbers of prompts, examples and models are those of the
files, and what cannot be used is left out and told (``Problem``).
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as pacsv

from abovechance.core.errors import InputError, nearest
from abovechance.core.reading import parse_json
from abovechance.core.settings import Setting
from abovechance.core.untrusted import check_members
from abovechance.study.task_sources import bigbench_names

# The paper's, as the names of the release's files have them; a study may name those that a part lacks.
MODELS = ("Alpaca-7b", "Llama-2-7b", "OLMo-7B", "OLMo-7B-Instruct", "falcon-7b", "falcon-7b-instruct")
SHOTS = (1, 2, 4)

_COLUMNS = {
    "Prompt ID": ("prompt", pa.int64()),
    "Demonstration IDs in prompt": ("demonstrations", pa.string()),
    "Example ID": ("example", pa.int64()),
    "Loss of correct answer": ("loss", pa.float64()),
    "Correct prediction": ("correct", pa.float64()),
}
_OUTCOMES = {
    "Dataset": "task",
    "Model": "model",
    "Number of shots": "shots",
    "Split number": "split",
    "Above max random on train": "above_maximum",
    "Above standard random on train": "above_standard",
    "Max random F": "maximum_cdf",
    "Standard random F": "standard_cdf",
    "Above standard random on test": "above_on_test",
}


def file_of(setting: Setting) -> str:
    """Return a setting's file in a release."""
    return f"results/{setting.model}_{setting.task}_{setting.shots}-shot.csv"


@dataclass(frozen=True)
class Problem:
    """Something in the release that cannot be used as it is: where, what, and what was done."""

    file: str
    problem: str
    treatment: str


class Release:
    """The files of a release.

    Parameters
    ----------
    path
        A folder or a zip file. The results may lie in it or in its one folder.

    Raises
    ------
    InputError
        If there is no such file, or no results in it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._zip: zipfile.ZipFile | None
        if path.is_dir():
            self._zip = None
            files = {str(file.relative_to(path)) for file in path.rglob("*") if file.is_file()}
        elif path.is_file() and zipfile.is_zipfile(path):
            try:
                self._zip = zipfile.ZipFile(path)
                check_members(self._zip, path)
            except (zipfile.BadZipFile, NotImplementedError, OSError) as error:
                raise InputError(f"release {path}: cannot be read ({error}); was it cut off?") from None
            files = set(self._zip.namelist())
        else:
            problem = "is not a zip file" if path.is_file() else "does not exist"
            raise InputError(f"release {path}: {problem}; expected {_RIGHT}")
        roots = {match[1] for name in files if (match := re.fullmatch(r"(.*?)results/[^/]+-shot\.csv", name))}
        if len(roots) != 1:
            raise InputError(f"release {path}: has {len(roots)} folders of results; expected {_RIGHT}")
        (self._root,) = roots
        self.names = {name.removeprefix(self._root) for name in files if name.startswith(self._root)}

    def read(self, name: str) -> bytes:
        """Return the content of a file of ``names``; InputError where it is damaged."""
        try:
            if self._zip is not None:
                return self._zip.read(self._root + name)
            return (self.path / (self._root + name)).read_bytes()
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError) as error:
            raise InputError(f"release {self.path}: {name}: cannot be read ({error})") from None

    @cached_property
    def settings(self) -> list[Setting]:
        """The settings with predictions, models and tasks in alphabetical order."""
        return sorted(setting for name in self.names if (setting := _setting(name)))

    def check_named(self, pairs: Mapping[str, str], illustrated: Mapping[str, Any], place: str) -> None:
        """Raise InputError where keys of a study's config name what neither this nor the paper's release has.

        Parameters
        ----------
        pairs, illustrated
            The keys of the config.
        place
            The config's file.
        """
        models = sorted({setting.model for setting in self.settings} | {*MODELS})
        names = [("pairs", name) for pair in pairs.items() for name in pair]
        names += [("illustrated.model", illustrated["model"])] if "model" in illustrated else []
        for key, name in names:
            if name not in models:
                raise InputError(f"{place}: key '{key}' names the model '{name}'; {nearest(name, models)}")
        tasks = [illustrated["task"]] if "task" in illustrated else []
        for name in [*tasks, *illustrated.get("tasks", [])]:
            if name not in bigbench_names():
                hint = nearest(name, bigbench_names())
                raise InputError(f"{place}: key 'illustrated' names the task '{name}'; {hint}")
        shots = {setting.shots for setting in self.settings} | {*SHOTS}
        if illustrated.get("shots", SHOTS[0]) not in shots:
            raise InputError(
                f"{place}: key 'illustrated.shots' is {illustrated['shots']}; expected one of {sorted(shots)}"
            )

    @cached_property
    def problems(self) -> list[Problem]:
        """Files whose names say nothing, and settings that are missing from the grid."""
        strange = [
            Problem(name, "its name has no BIG-bench task and number of shots", "left out")
            for name in sorted(self.names)
            if re.fullmatch(r"results/.*\.csv", name) and _setting(name) is None
        ]
        axes = (sorted(set(values)) for values in zip(*self.settings, strict=True))
        grid = map(Setting._make, product(*axes))
        missing = [
            Problem(file_of(setting), "there is no such file, as there is for other models", "left out")
            for setting in grid
            if file_of(setting) not in self.names
        ]
        return strange + missing

    def predictions(self, setting: Setting) -> pd.DataFrame:
        """One setting's predictions.

        Returns
        -------
        DataFrame
            ``prompt``, ``demonstrations`` (text, as in the file), ``example``, ``loss`` (nats),
            ``correct`` bool; one row per prompt and example.

        Raises
        ------
        InputError
            With row and value, if a row or column is not as it should be.
        """
        try:
            table = pacsv.read_csv(
                io.BytesIO(self.read(file_of(setting))),
                # in one thread, since errors then name the row
                pacsv.ReadOptions(use_threads=False),
                convert_options=pacsv.ConvertOptions(
                    column_types={name: kind for name, (_, kind) in _COLUMNS.items()}
                ),
            )
        except pa.ArrowInvalid as error:
            raise InputError(str(error).splitlines()[0]) from None
        if set(table.column_names) != set(_COLUMNS):
            raise InputError(f"has columns {table.column_names}; expected {list(_COLUMNS)}")
        names = [_COLUMNS[name][0] for name in table.column_names]
        predictions: pd.DataFrame = table.rename_columns(names).to_pandas()
        _check(predictions)
        return predictions.assign(correct=predictions["correct"].astype(bool))

    def accuracies(self) -> dict[Setting, list[float]]:
        """The accuracies of each setting's prompts, as the release aggregates them; empty where it does not.

        Raises
        ------
        InputError
            If the file is not JSON, or an entry is not a list of numbers.
        """
        name = "results/aggregated-results.json"
        tables = {}
        for key, values in (self._json(name) if name in self.names else {}).items():
            setting = _setting(f"results/{key}.csv")
            if not isinstance(values, list) or not all(isinstance(value, int | float) for value in values):
                raise InputError(f"{self.path}: {name}: '{key}' is not a list of numbers")
            if setting is not None:
                tables[setting] = values
        return tables

    @property
    def usable_accuracies(self) -> dict[Setting, list[float]]:
        """The aggregated accuracies; none where they cannot be read, which the audit tells."""
        try:
            return self.accuracies()
        except InputError:
            return {}

    def sample(self, task: str) -> list[int] | None:
        """Return which examples of a large task were evaluated, by their place; None where all were."""
        names = [name for name in sorted(self.names) if name.startswith(f"subsampled-idxs/{task}_")]
        return self._json(names[0]) if names else None

    def _json(self, name: str) -> Any:
        return parse_json(self.read(name), f"{self.path}: {name}")

    def outcomes(self) -> pd.DataFrame:
        """Return the released outcomes on held-out data, all numbers of prompts tried; empty where none are.

        Returns
        -------
        DataFrame
            ``model`` (as displayed), ``task``, ``shots``, ``split``, ``requested_prompts`` (t), the three
            decisions as bool, ``standard_cdf`` and ``maximum_cdf``.
        """
        parts = []
        for name in sorted(self.names):
            if match := re.fullmatch(r"held-out-split-results/.*_t=(\d+)_.*\.csv", name):
                try:
                    part = pd.read_csv(io.BytesIO(self.read(name)))
                except (ValueError, pd.errors.ParserError, pd.errors.EmptyDataError) as error:
                    raise InputError(f"{self.path}: {name}: cannot be read as CSV ({error})") from None
                if missing := set(_OUTCOMES) - set(part.columns):
                    raise InputError(f"{self.path}: {name}: lacks the columns {sorted(missing)}")
                parts.append(part.rename(columns=_OUTCOMES).assign(requested_prompts=int(match[1])).dropna())
        if not parts:
            return pd.DataFrame(columns=[*_OUTCOMES.values(), "requested_prompts"])
        table = pd.concat(parts, ignore_index=True)
        decisions = ["above_maximum", "above_standard", "above_on_test"]
        return table.astype(dict.fromkeys(decisions, bool)).sort_values("requested_prompts", kind="stable")


_RIGHT = (
    "a folder or zip file of the public repository gyauney/stronger-random-baselines, with "
    "results/<model>_<task>_<shots>-shot.csv in it"
)


def _setting(name: str) -> Setting | None:
    """Return the setting of a file of predictions; None for other files."""
    match = re.fullmatch(r"results/(.+)_(\d+)-shot\.csv", name)
    if not match:
        return None
    tasks = [task for task in bigbench_names() if match[1].endswith(f"_{task}")]
    if not tasks:
        return None
    task = max(tasks, key=len)
    return Setting(match[1].removesuffix(f"_{task}"), task, int(match[2]))


def _check(predictions: pd.DataFrame) -> None:
    """Raise InputError with row (1 is the heading) and values of the first that cannot be."""
    if predictions.empty:
        raise InputError("has no rows")
    ids = predictions[["prompt", "example"]]
    lists = {text: bool(_LIST.fullmatch(str(text))) for text in predictions["demonstrations"].unique()}
    wrong = {
        "is empty": predictions.isna().any(axis=1),
        "has a negative id": (ids < 0).any(axis=1),
        "has demonstrations that are not a list": ~predictions["demonstrations"].map(lists),
        "has a prediction that is neither 0 nor 1": ~predictions["correct"].isin([0, 1]),
        "repeats a prompt and example": ids.duplicated(),
    }
    for problem, rows in wrong.items():
        if rows.any():
            row = int(np.flatnonzero(rows)[0])
            values = ", ".join(map(str, predictions.iloc[row]))
            raise InputError(f"row {row + 2}: {problem}: {values}")


_LIST = re.compile(r"\[\s*(\d+(,\s*\d+)*)?\s*\]")
