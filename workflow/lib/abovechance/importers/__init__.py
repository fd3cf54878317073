"""Other tools' results, as the tables of a study.

    runs = read_runs([Path("logs")], Options(chance=0.25))
    predictions = combine(runs, Options(each_file=True))

The importers read sample logs of lm-evaluation-harness, HELM's runs, lighteval's details, inspect's logs,
rows of Every Eval Ever, the published release, and plain CSV files. In most of them, a run is one prompt, and
the number of prompts tried is missing. ``combine`` requires it, because the verdict depends on it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from abovechance.core.errors import InputError
from abovechance.core.files import files_below, linked_folders
from abovechance.core.reading import as_written_by, heading
from abovechance.core.untrusted import MOST_MEMBER, check_regular, printable
from abovechance.doctor.runs import compare_runs
from abovechance.doctor.suspicion import SEVERITIES, Suspicion
from abovechance.importers import csv, lm_eval
from abovechance.importers.contract import (
    Importer,
    Options,
    Run,
    UnsupportedMetric,
    check_recorded,
    examined,
    left_out,
    not_checked,
)
from abovechance.importers.table import combine, metrics, prompt_names, uneven_notes

__all__ = [
    "FORMATS",
    "Diagnosis",
    "Options",
    "Run",
    "UnknownResults",
    "combine",
    "diagnose",
    "endings",
    "metrics",
    "prompt_names",
    "read_runs",
    "uneven_notes",
]

_MODULES = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]
OF_CSV = {"example", "correct", "best_accuracy", "accuracy"}  # columns, one of which each table has
COMPRESSED = (".gz", ".zst", ".bz2", ".xz", ".zip")
FORMATS: list[Importer] = [module for module in _MODULES if isinstance(module, Importer)]


class UnknownResults(InputError):
    """A path holds nothing that an importer reads."""


def read_runs(paths: Sequence[Path], options: Options) -> list[Run]:
    """Return all runs in files and folders; folders are searched.

    Results in a folder that lack the metric, or whose metric is not 0 or 1 for each example, are left out,
    with a note. With ``each_file``, this is an error, because each file is a prompt that was tried.

    Raises
    ------
    InputError
        If a path is missing or nothing in it is known, or with file and row where something
        in it is wrong.
    """
    runs: list[Run] = []
    unsupported: list[UnsupportedMetric] = []
    have_metrics = False
    files = _with_importers(paths, options)
    for importer, file in files:
        try:
            runs += _read(importer, file, options)
        except UnsupportedMetric as error:
            if options.complete or options.each_file or _is_named(file, paths):
                raise
            unsupported.append(error)
        else:
            have_metrics = have_metrics or "metric" in importer.OPTIONS
    if unsupported and not have_metrics and (not runs or options.is_selective):
        raise unsupported[0]
    _check_filter(paths, runs, unsupported, options)
    runs[0].notes.extend(map(left_out, unsupported))
    for run in runs:
        check_recorded(run)
    for run, suspicion in _suspicions(runs):
        if suspicion.severity == "grave" and suspicion.check not in options.expected:
            run.notes.append(_broken(run, suspicion))
    names = _model_names([run.model for run in runs])
    runs[0].notes.extend(_merged(names))
    for path in filter(Path.is_dir, paths):
        runs[0].notes.extend(f"{path}: {note}" for note in _unread(path, {file for _, file in files}))
    return [replace(run, model=names[run.model]) for run in runs]


def _is_named(file: Path, paths: Sequence[Path]) -> bool:
    """Return whether results are named by the user, and not only found in a folder."""
    return any(path == file or (path.is_file() and path.parent == file) for path in paths)


def _check_filter(
    paths: Sequence[Path], runs: Sequence[Run], unsupported: Sequence[UnsupportedMetric], options: Options
) -> None:
    """Raise InputError if no results have the filter that is asked for, also none that lack the metric."""
    filters = {run.metric.partition(",")[2] or "none" for run in runs}
    has_filter = options.filter in filters or any(error.has_filter for error in unsupported)
    if options.filter is not None and not has_filter:
        raise InputError(
            f"{' and '.join(map(str, paths))}: --filter is '{options.filter}', and no results have it; they "
            f"have {', '.join(sorted(filters))}"
        )


def _unread(folder: Path, results_read: Set[Path]) -> list[str]:
    """Return notes on files in a folder that may be results, and that are not read.

    Parameters
    ----------
    results_read
        The results that are read.
    """
    with_results = {place for result in results_read for place in (result, *result.parents)}
    summaries, missing = [], []
    for file in files_below(folder, "results*.json"):
        if file.parent not in with_results:
            summaries += [file] if lm_eval.is_summary(file) else []
        else:
            missing += lm_eval.missing_logs(file)
    runs = [file.parent for file in files_below(folder, "run_spec.json") if file.parent not in results_read]
    groups = {
        f"CSV without the columns {' and '.join(csv.NEEDED)}": csv.unread_files(folder),
        "compressed files, unpack them first": _packed(folder),
        "files with the name of samples and another content": _unknown(folder, results_read),
        "summaries of lm-evaluation-harness without samples": summaries,
        "samples of tasks that a results_<date>.json lists, and that are gone": missing,
        "runs of HELM without per_instance_stats.json": runs,
        "linked folders, which must be named to be searched": linked_folders(folder),
    }
    return [
        f"left out: {kind} ({len(files)}, such as {files[0].relative_to(folder)})"
        for kind, files in groups.items()
        if files
    ]


def _unknown(folder: Path, results_read: Set[Path]) -> list[Path]:
    """Return the files in a folder that have the name of samples, and that no importer reads."""
    return [file for file in files_below(folder, "*_samples.jsonl") if file not in results_read]


@dataclass(frozen=True)
class Diagnosis:
    """A suspicion, and the results that it is about.

    Attributes
    ----------
    file
        File or folder of the results.
    model, task
        Names in the results; empty if the file cannot be read.
    suspicion
        The suspicion.
    """

    file: str
    model: str
    task: str
    suspicion: Suspicion


def mismatches(runs: Sequence[Run]) -> list[str]:
    """Return notes on runs that were read separately and do not belong together, such as other questions."""
    examined_runs = [(run, run.examined) for run in runs if run.examined is not None]
    return [
        _broken(run, suspicion)
        for run, suspicion in compare_runs(examined_runs)
        if suspicion.severity == "grave"
    ]


def _broken(run: Run, suspicion: Suspicion) -> str:
    """Return a note on a run with a grave sign."""
    return f"{run.file}: looks broken: {suspicion.sentence} (`abovechance doctor` lists all suspicions)"


def diagnose(paths: Sequence[Path], options: Options) -> tuple[list[Diagnosis], int]:
    """Return what is suspicious about all results in files and folders, and the number of results.

    A file that cannot be read is a suspicion, and the other files are still read.

    Raises
    ------
    InputError
        If a path is missing or nothing in it is known, or no results have the metric that is asked for.
    """
    runs: list[Run] = []
    unsupported: list[UnsupportedMetric] = []
    diagnoses = []
    have_metrics = False
    files = _with_importers(paths, options)
    for importer, file in files:
        try:
            runs += _read(importer, file, options)
            have_metrics = have_metrics or "metric" in importer.OPTIONS
        except UnsupportedMetric as error:
            unsupported.append(error)
            diagnoses.append(Diagnosis(str(file), "", "", not_checked(_without_name(error, file))))
        except InputError as error:
            diagnoses.append(Diagnosis(str(file), "", "", _failure(error, file, "unreadable")))
    if unsupported and not have_metrics and options.is_selective:
        raise unsupported[0]
    if runs:
        _check_filter(paths, runs, unsupported, options)
    for run in runs:
        try:
            check_recorded(run)
        except InputError as error:
            suspicion = _failure(error, Path(run.file), "recorded-results")
            diagnoses.append(Diagnosis(run.place, run.model, run.task, suspicion))
    diagnoses += [
        Diagnosis(run.place, run.model, run.task, suspicion) for run, suspicion in _suspicions(runs)
    ]
    results_read = {file for _, file in files}
    for path in filter(Path.is_dir, paths):
        diagnoses += [Diagnosis(str(file), "", "", UNKNOWN_CONTENT) for file in _unknown(path, results_read)]
        diagnoses += [
            Diagnosis(str(path), "", "", Suspicion("not-read", "note", note, NOT_READ))
            for note in _unread(path, results_read | {*_unknown(path, results_read)})
        ]
    nameless = [run for run in runs if run.task == csv.NO_TASK]
    if len({run.file for run in nameless}) > 1:
        diagnoses += [Diagnosis(run.place, run.model, run.task, ONE_TASK) for run in nameless]
    # several metrics of a file share its questions and texts
    diagnoses = list(dict.fromkeys(diagnoses))
    diagnoses.sort(key=lambda diagnosis: SEVERITIES.index(diagnosis.suspicion.severity))
    return diagnoses, len(runs)


ONE_TASK = Suspicion(
    "no-task",
    "note",
    "the file has no column task, so it is compared with the other files without one",
    "add the column task if the files are of different tasks",
)
UNKNOWN_CONTENT = Suspicion(
    "unreadable",
    "grave",
    "has the name of samples, and another content",
    "the file may be empty, damaged, incomplete or of another tool",
)
NOT_READ = "the folder may contain results in a form that is not read"
CAUSES = {
    "unreadable": "the file may be damaged, incomplete or of another version of the tool",
    "recorded-results": "the log may be incomplete, or the tool may have used other answers",
}


def _failure(error: InputError, file: Path, check: str) -> Suspicion:
    return Suspicion(check, "grave", _without_name(error, file), CAUSES[check])


def _without_name(error: InputError, file: Path) -> str:
    """Return an error's message without the file, which a diagnosis names by itself."""
    return str(error).removeprefix(f"{file}: ").removeprefix(f"{file}, ")


def _with_importers(paths: Sequence[Path], options: Options) -> list[tuple[Importer, Path]]:
    """Return all results in files and folders, each with the module that reads it."""
    files = []
    homes: dict[Path, Path] = {}
    for path in paths:
        in_path = _files(path)
        for _, file in in_path:
            if homes.setdefault(file.resolve(), path) != path:
                raise InputError(f"{file}: is in {homes[file.resolve()]} and in {path}; expected it once")
        files += in_path
    _check_options(options, [importer for importer, _ in files])
    return files


def _read(importer: Importer, file: Path, options: Options) -> list[Run]:
    """Return the runs of one file."""
    with as_written_by(importer.TOOL, str(file)):
        runs = [examined(run) for run in importer.read(file, options)]
    if not runs:
        raise InputError(f"{file}: holds no results; expected {importer.LOOKS_LIKE}")
    return runs


def _suspicions(runs: Sequence[Run]) -> Iterator[tuple[Run, Suspicion]]:
    """Yield each suspicion about a run, also from its comparison with the other runs of its task."""
    for run in runs:
        for suspicion in run.suspicions:
            yield run, suspicion
    yield from compare_runs([(run, run.examined) for run in runs if run.examined is not None])


def _model_names(models: Sequence[str]) -> dict[str, str]:
    """Return the names of models: the last part of a path, or the whole name on the hub.

    A folder is called by its name, and by those above it where two would be called the same.
    """
    names = {model: model.replace("/", "--") for model in models}
    for model, ending in endings([model for model in names if model.startswith("/")]).items():
        names[model] = "--".join(part.strip("/") for part in Path(ending).parts)
    return names


def _merged(names: Mapping[str, str]) -> Iterator[str]:
    """Yield a note for each name that several models have, such as that of a path and that of another log."""
    for name in dict.fromkeys(names.values()):
        models = [printable(model) for model, other_name in names.items() if other_name == name]
        if len(models) > 1:
            yield f"{' and '.join(models)} are taken as one model, {printable(name)}"


def endings(paths: Sequence[str]) -> dict[str, str]:
    """Return {path: the shortest end of it, in whole parts, that no other path has}."""
    parts = {path: Path(path).parts for path in paths}
    endings_of = {}
    for path, part in parts.items():
        other_parts = [other_part for another, other_part in parts.items() if another != path]
        lengths = (
            count
            for count in range(1, len(part))
            if all(part[-count:] != other_part[-count:] for other_part in other_parts)
        )
        endings_of[path] = str(Path(*part[-next(lengths, len(part)) :]))
    return endings_of


def _files(path: Path) -> list[tuple[Importer, Path]]:
    """Return all tools' results in a path, each with the module that reads it."""
    if not path.exists():
        raise InputError(f"{path}: there is no such file or folder")
    if not path.is_dir():
        check_regular(path, MOST_MEMBER)
    importers: dict[Path, Importer] = {}
    for importer in FORMATS:
        for file in importer.find(path):
            importers.setdefault(file, importer)  # rows of Every Eval Ever can have a name as of lm-eval's
    matches = [(importer, file) for file, importer in importers.items()]
    if not matches:
        if packed := [*_packed(path), *([path] if path.suffix in COMPRESSED and path.is_file() else [])]:
            raise InputError(f"{packed[0]}: is compressed; unpack it first")
        if OF_CSV & {name.lower() for name in heading(path)}:
            raise InputError(f"{path}: has the columns of a CSV file; expected a name that ends in .csv")
        if any(map(lm_eval.is_summary, files_below(path, "results*.json"))):
            raise InputError(
                f"{path}: has a summary of lm-evaluation-harness, and no samples; run the tool with "
                "--log_samples, and use its samples_<task>_<date>.jsonl"
            )
        raise UnknownResults(
            f"{path}: holds no results that are known; expected "
            + "; ".join(importer.LOOKS_LIKE for importer in FORMATS)
            + ". Best scores without their answers can be a CSV with the columns best_accuracy, examples, "
            "choices and prompts for `abovechance check`, or options of `abovechance baseline`"
        )
    return matches


def _packed(path: Path) -> list[Path]:
    """Return the compressed files with rows of samples that do not also lie there unpacked."""
    patterns = ("samples_*.jsonl.*", "samples_*.json.*", "*_samples.jsonl.*")
    files = {file for pattern in patterns for file in files_below(path, pattern)}
    return sorted(file for file in files if file.suffix in COMPRESSED and not file.with_suffix("").exists())


def _check_options(options: Options, formats: Sequence[Importer]) -> None:
    """Raise InputError if a tool's option is given, and no results of that tool."""
    used = {name for importer in formats for name in importer.OPTIONS}
    for name in ("metric", "filter", "epoch"):
        if getattr(options, name) is not None and name not in used:
            tools = " or ".join(importer.TOOL for importer in FORMATS if name in importer.OPTIONS)
            raise InputError(f"--{name} has no effect here; it is for results of {tools}")
