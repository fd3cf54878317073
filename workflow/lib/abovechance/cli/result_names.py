"""Names of results: of each file as a prompt, and of several runs of one model."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from abovechance.importers.contract import Run

_DATE = r"\d{4}-\d\d-\d\dT[\d.:+-]*\d"
_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"


def given_path(run: Run, paths: list[Path]) -> Path:
    """Return the given path that a run was read from."""
    return next((path for path in paths if Path(run.file).is_relative_to(path)), Path(run.file))


def prompt_names(runs: list[Run], paths: list[Path]) -> dict[str, str]:
    """Return what each file is called as a prompt, so that the files of two folders can be paired.

    It is the path in the given folder, without what tools put into the names of each run: its date, its id,
    and its model. All keep their whole names if shorter ones would not tell the prompts of a folder apart.
    """
    folders = {run.file: _folder(run, paths) for run in runs}
    whole = {run.file: Path(run.file).relative_to(folders[run.file]) for run in runs}
    parents = {run.file: _without_model(whole[run.file].parts[:-1], run.model) for run in runs}
    # a folder with the model's name is not the tool's if other files of the given folder lie outside of it
    mixed = {folders[file] for file, parts in parents.items() if parts is None}
    short = {}
    for run in runs:
        of_file = whole[run.file].parts[:-1] if folders[run.file] in mixed else parents[run.file] or ()
        short[run.file] = str(Path(*map(_shorter, of_file), _shorter(whole[run.file].name, run.model)))
    results = Counter(
        (folders[run.file], run.model, run.task, run.shots, run.part, short[run.file]) for run in runs
    )
    return short if max(results.values()) == 1 else {file: str(path) for file, path in whole.items()}


def _folder(run: Run, paths: list[Path]) -> Path:
    """Return the given folder that a run's file is in; of a file that is given itself, its folder."""
    path = given_path(run, paths)
    return path if path.is_dir() and path != Path(run.file) else path.parent


def source_names(runs: list[Run], paths: list[Path], each_file: bool) -> dict[str, str]:
    """Return what tells the results of one model apart.

    Parameters
    ----------
    each_file
        Whether each file is another prompt, so that a source can have several results on a task.

    Returns
    -------
    dict
        {file: the end of the given path that it is in, of its folder, of its date, or of its own path}: the
        first that tells results apart, and that each task has once.
    """
    from abovechance.importers import endings

    def folder(run: Run) -> Path:
        home = Path(run.file).parent
        return home.parent if _letters_of(home.name) == _letters_of(run.model) else home

    def date(run: Run) -> Path:
        match = re.search(_DATE, Path(run.file).name)
        return Path(run.file).parent / match[0] if match else Path(run.file)

    homes: dict[str, str] = {}
    for home in (lambda run: given_path(run, paths), folder, date, lambda run: run.file):
        homes = {run.file: str(home(run)) for run in runs}
        results = Counter((homes[run.file], run.task, run.shots, run.part) for run in runs)
        if len({*homes.values()}) > 1 and (each_file or max(results.values()) == 1):
            break
    names = endings([*dict.fromkeys(homes.values())])
    return {file: names[home] for file, home in homes.items()}


def _without_model(parents: tuple[str, ...], model: str) -> tuple[str, ...] | None:
    """Return folders without that of the model, or those of its organization and name; None if none is."""
    for count in (1, 2):
        for place in range(len(parents) - count + 1):
            if _letters_of("".join(parents[place : place + count])) == _letters_of(model):
                return parents[:place] + parents[place + count :]
    return None


def _shorter(name: str, model: str = "") -> str:
    """Return a name of a file without the date, the id and the model of one run."""
    name = re.sub(rf"^{_DATE}_(.+)_\w{{22}}(?=\.(?:eval|json)$)", r"\1", name)  # of inspect
    name = re.sub(rf"_?{_DATE}(?=$|\.)|^{_DATE}_|{_UUID}_", "", name)
    of_helm = re.search(r",?model=([^,]*)", name)
    if of_helm and _letters_of(of_helm[1]) == _letters_of(model):
        name = name.replace(of_helm[0], "")
    return name


def _letters_of(name: str) -> str:
    return re.sub(r"[\W_]", "", name)
