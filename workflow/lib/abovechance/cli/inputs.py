"""Read the arguments of commands: paths, and the responses and clusters that they contain."""

from __future__ import annotations

import atexit
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from abovechance.cli.app import names_in_errors
from abovechance.cli.output import expanded, tell_note
from abovechance.cli.result_names import given_path, prompt_names as names_of_files, source_names
from abovechance.core.errors import InputError
from abovechance.core.settings import Setting
from abovechance.core.tables import read_table
from abovechance.core.untrusted import MOST_TEXT, printable

if TYPE_CHECKING:
    from abovechance.importers import Options
    from abovechance.importers.contract import Run


def given_paths(results: list[str]) -> list[Path]:
    """Return the paths that are given, the home folder in place of ``~``, and a file in place of ``-``."""
    names = list(map(str, results))
    if "" in names:
        raise InputError("RESULTS is empty; expected files or folders, or - for a CSV from a pipe")
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise InputError(f"{twice}: is given twice")
    return [_from_pipe() if name == "-" else expanded(Path(name), "RESULTS") for name in names]


def predictions_of(path: Path) -> Path | None:
    """Return the folder of a study's predictions; None if the folder is not a study."""
    return path / "predictions" if (path / "predictions").is_dir() else None


def runs_of(paths: list[Path], options: Options) -> list[Run]:
    """Read the runs in logs, tables and study folders; print notes on them."""
    from abovechance.importers import read_runs

    runs = read_runs([predictions_of(path) or path for path in paths], options)
    for note in notes_of(runs):
        tell_note(note)
    return runs


def notes_of(runs: Iterable[Run]) -> list[str]:
    """Return the notes on runs, each once: files with the same name in different folders are counted."""
    files: dict[str, set[str]] = {}
    for run in runs:
        for note in run.notes:
            files.setdefault(note, set()).add(run.file)
    return [f"{note} (in {len(paths)} files)" if len(paths) > 1 else note for note, paths in files.items()]


def responses_of(paths: list[Path], options: Options) -> pd.DataFrame:
    """Return the responses of ``responses_of_runs``, from logs, tables and study folders."""
    return responses_of_runs(runs_of(paths, options), paths, options)


def responses_of_runs(
    runs: list[Run], paths: list[Path], options: Options, by_file: bool = True, by_path: bool = False
) -> pd.DataFrame:
    """Return the responses of runs.

    Parameters
    ----------
    paths
        The paths that the runs were read from.
    by_file
        If all results are of one model, each path counts as a model, or each folder, date or file if a path
        has several results on a task. This does not hold if each file is a prompt (``options.each_file``).
    by_path
        If each file is a prompt, each of several folders with results of one model counts as a model.

    Returns
    -------
    DataFrame
        ``model``, ``task``, ``shots``, ``prompt``, ``example``, ``score`` and ``metric``, a row for each.
    """
    names = names_of_files(runs, paths)
    for model in dict.fromkeys(run.model for run in runs):
        of_model = [run for run in runs if run.model == model]
        folders = {path for run in of_model if (path := given_path(run, paths)).is_dir()}
        several_folders, is_alone = len(folders) > 1, len(runs) == len(of_model) > 1
        if (by_path and several_folders) if options.each_file else (by_file and is_alone):
            sources = source_names(of_model, paths, options.each_file)
            runs = [
                replace(run, model=f"{model} ({sources[run.file]})") if run.model == model else run
                for run in runs
            ]
    parts = []
    for run in _with_prompts(runs, names) if options.each_file else runs:
        rows = run.rows[["example", "correct"]].rename(columns={"correct": "score"})
        if "prompt" in run.rows:
            prompt: Any = run.rows["prompt"]
        else:
            prompt = run.file if options.each_file else "the prompt"
        names_shown = {"model": printable(run.model), "task": printable(run.task)}
        parts.append(rows.assign(**names_shown, shots=run.shots, prompt=prompt, metric=run.metric))
    return pd.concat(parts, ignore_index=True)


def clusters_of_studies(paths: list[Path]) -> dict[str, pd.Series[int]]:
    """{task: the cluster of each example}, of the studies that paths are of; see ``_study_of``.

    Raises
    ------
    InputError
        If two studies have different clusters of one task.
    """
    clusters: dict[str, pd.Series[int]] = {}
    for study in filter(None, dict.fromkeys(map(_study_of, paths))):
        for file in filter(_has_clusters, sorted((study / "tasks").glob("*.parquet"))):
            of_task = read_table(file).set_index("example")["cluster"]
            known_clusters = clusters.setdefault(file.stem, of_task)
            common = of_task.index.intersection(known_clusters.index)
            first, second = (pd.factorize(codes.loc[common])[0] for codes in (known_clusters, of_task))
            if (first != second).any():
                raise InputError(f"{file}: has other clusters of examples than the study before it")
    return clusters


def _study_of(path: Path) -> Path | None:
    """Return the folder of the study for a path to it, to its predictions, or to a file of these."""
    if predictions_of(path):
        return path
    for place in (path.absolute(), path.resolve()):  # links can lead into a study, or out of it
        for folder in (place, place.parent):
            if folder.name == "predictions" and (folder.parent / "tasks").is_dir():
                return folder.parent
    return None


def _has_clusters(path: Path) -> bool:
    """Return whether a task's Parquet file has clusters; true for a damaged one, which reading reports."""
    try:
        return {"example", "cluster"} <= {*pq.read_schema(path).names}
    except (OSError, pa.ArrowException):
        return True


def different_metrics(table: pd.DataFrame) -> str:
    """Return in words which tasks have results with different metrics; empty if none.

    Parameters
    ----------
    table
        From ``responses_of``.
    """
    return "; ".join(
        f"{task}: {', '.join(sorted(names))}"
        for task, names in table.groupby("task", sort=False)["metric"].unique().items()
        if len(names) > 1
    )


def _from_pipe() -> Path:
    """Return what comes from standard input, in a file that lasts as long as the process.

    It is JSON if it begins like an object or a list, else CSV.
    """
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    path = Path(folder.name) / "stdin.csv"
    with path.open("wb") as file:
        while part := sys.stdin.buffer.read(2**20):
            if file.tell() + len(part) > MOST_TEXT:
                raise InputError(f"-: more than {MOST_TEXT:,} bytes came through the pipe")
            file.write(part)
    with path.open("rb") as file:
        is_json = file.read(1000).lstrip()[:1] in (b"{", b"[")
    if is_json:
        path = path.rename(path.with_suffix(".json"))
    names_in_errors[str(path)] = "standard input"
    return path


def imported_of(
    paths: list[Path], options: Options
) -> tuple[pd.DataFrame, dict[Setting, str], dict[Setting, list[str]]]:
    """Return the predictions in logs, and each setting's metric and names of prompts; print notes on them."""
    from abovechance.importers import combine, metrics, prompt_names, read_runs, uneven_notes

    runs = read_runs(paths, options)
    # first, because they can explain an error
    for note in notes_of(runs):
        tell_note(note)
    if options.each_file:
        runs = _with_prompts(runs, names_of_files(runs, paths))
    table, metric_of, names = combine(runs, options), metrics(runs), prompt_names(runs, options)
    for note in dict.fromkeys(uneven_notes(table, names)):
        tell_note(note)
    return table, metric_of, names


def _with_prompts(runs: list[Run], names: Mapping[str, str]) -> list[Run]:
    """Return runs with the column ``prompt``: the name of each file, which files of several models share.

    One model can have files with the same name in two folders. These are different prompts, so their runs
    stay as they are.
    """
    frequencies = Counter((run.setting, names[run.file]) for run in runs)
    return [
        replace(run, rows=run.rows.assign(prompt=names[run.file]))
        if "prompt" not in run.rows and frequencies[run.setting, names[run.file]] == 1
        else run
        for run in runs
    ]
