"""Other tools' results, as the tables of a study.

    runs = read_runs([Path("logs")], Options(chance=0.25))
    predictions = combine(runs, Options(each_file=True))

Known are the sample logs of lm-evaluation-harness, HELM's runs, lighteval's details,
inspect's logs, the published release, and a plain CSV file. Of most, a run is one prompt and does
not say how many others were tried: ``combine`` asks, since everything depends on it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from abovechance.core.errors import InputError
from abovechance.importers import csv, helm, inspect_ai, lighteval, lm_eval, published
from abovechance.importers.contract import Options, Run, check_recorded
from abovechance.importers.table import combine

__all__ = ["FORMATS", "Options", "Run", "combine", "read_runs"]

FORMATS = (lm_eval, helm, lighteval, inspect_ai, published, csv)


def read_runs(paths: Sequence[Path], options: Options) -> list[Run]:
    """All runs in files and folders; folders are searched.

    Raises
    ------
    InputError
        If a path is missing or nothing in it is known, or with file and row where something
        in it is wrong.
    """
    runs = [run for path in paths for run in _read(path, options)]
    for run in runs:
        check_recorded(run)
    return runs


def _read(path: Path, options: Options) -> Iterator[Run]:
    """The runs of all tools' results in a path."""
    if not path.exists():
        raise InputError(f"{path}: there is no such file or folder")
    found = {known: known.find(path) for known in FORMATS}
    if not any(found.values()):
        raise InputError(
            f"{path}: holds no results that are known; right would be "
            + "; ".join(known.LOOKS_LIKE for known in FORMATS)
        )
    for known, files in found.items():
        for file in files:
            yield from known.read(file, options)
