"""The published release, with chance as its paper takes it.

A study (workflow/studies/published.yaml) has chance from the tasks themselves, and the audit.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from abovechance.core.errors import InputError, located
from abovechance.importers.contract import Options, Run
from abovechance.published.conventions import Convention
from abovechance.published.release import Release, file_of
from abovechance.results.predictions import UNKNOWN

TOOL = "the published release"
OPTIONS = ()
LOOKS_LIKE = "a release with results/<model>_<task>_<shots>-shot.csv"


def find(path: Path) -> list[Path]:
    """Return the path, where it is a release."""
    try:
        return [path] if Release(path).settings else []
    except InputError:
        return []


def read(path: Path, options: Options) -> Iterator[Run]:  # noqa: ARG001
    """One run for each setting."""
    release = Release(path)
    for setting in release.settings:
        with located(f"{path}: {file_of(setting)}"):
            predictions = release.predictions(setting)
        convention = Convention.for_setting(setting.task, setting.shots)
        rows = predictions[["prompt", "example", "correct"]].astype({"prompt": str, "example": str})
        yield Run(
            f"{path}: {file_of(setting)}",
            *setting,
            rows.assign(
                predicted=UNKNOWN, tie=False, chance=convention.chance if convention else float("nan")
            ),
        )
