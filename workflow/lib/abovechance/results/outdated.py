"""Results of an earlier config that the present one does not make, such as those of a removed model."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from abovechance.core.files import write_text
from abovechance.study.kinds import KINDS

LIST = "logs/results.txt"  # in the folder of a study: the results that its configs have requested


def list_results(folder: Path, results: Iterable[Path]) -> None:
    """Add results to the list in the study's folder, before they are made."""
    names = dict.fromkeys([*_listed(folder), *_names(results, folder)])
    write_text("".join(f"{name}\n" for name in names), folder / LIST)


def delete_outdated(folder: Path, results: Iterable[Path], inputs: Iterable[Path]) -> list[Path]:
    """Delete the listed results of earlier configs, and return them; stored scores are kept.

    Nothing is deleted that a study did not list before, such as a user's own files.

    Parameters
    ----------
    folder
        The folder of the study's results.
    results
        The results that the study has now. The list then has these only.
    inputs
        The files that the study reads.
    """
    if not (current := {*_names(results, folder)}):  # results are not in a local folder
        return []
    score_folders, needed = {kind.scores for kind in KINDS}, {path.resolve() for path in inputs}
    outdated = [
        folder / name
        for name in _listed(folder)
        if name not in current and Path(name).parts[0] not in score_folders
    ]
    outdated = [
        path
        for path in outdated
        # a list from elsewhere, or a link in the folder, may lead out of it
        if path.is_file() and path.resolve().is_relative_to(folder.resolve()) and path.resolve() not in needed
    ]
    for path in outdated:
        path.unlink(missing_ok=True)
    write_text("".join(f"{name}\n" for name in sorted(current)), folder / LIST)
    return outdated


def _names(results: Iterable[Path], folder: Path) -> list[str]:
    return [path.relative_to(folder).as_posix() for path in results if path.is_relative_to(folder)]


def _listed(folder: Path) -> list[str]:
    return (folder / LIST).read_text().splitlines() if (folder / LIST).is_file() else []
