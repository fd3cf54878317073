"""Results files of lm-evaluation-harness as the table ``evaluations``."""

from __future__ import annotations

import math
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import pandas as pd

from abovechance.chance.random_baseline import MOST_EXAMPLES
from abovechance.core.errors import InputError
from abovechance.core.files import files_below
from abovechance.core.reading import NOT_TEXT, parse_json
from abovechance.core.untrusted import check_regular, named, opened_zip
from abovechance.variance.evaluations import EVALUATIONS, LOSSES

SEED = re.compile(r"(?:^|[-_/. ])seed(?![-_ =]\d+\.\d)[-_ =]?(\d{1,15})(?![0-9A-Za-z])", re.IGNORECASE)
# such as step1000, checkpoint-1_000 and ckpt_1.5k
STEP = re.compile(
    r"(?:^|[-_/. ])(?:global[-_]?)?(?:step|checkpoint|ckpt)[-_ =]?"
    r"(?:(\d{1,3}(?:_\d{3})+|\d{1,15})(?!\.\d)|(\d{1,9}(?:\.\d{1,6})?)([km]))(?![0-9a-z])",
    re.IGNORECASE,
)
# such as stage1-step1000
STAGE = re.compile(r"(?:^|[-_/. ])stage[-_ ]?(\d{1,3})(?![0-9A-Za-z])", re.IGNORECASE)
# such as seed-small-aux-2: a training of its own, whose seed has no number
NAMED_SEED = re.compile(r"(?:^|[-_/. ])(seed[-_ ][a-z][\w-]*)", re.IGNORECASE)
TOKENS = re.compile(r"(?:^|[-_/. ])tokens[-_ ]?\d+[a-z]?(?![0-9a-z])", re.IGNORECASE)  # trained on so many
ADAPTER = " + "  # between a model and its adapter
UNITS = {"k": 1000, "m": 1_000_000}
LOOKS_LIKE = "a .json of lm-evaluation-harness with results of all examples, or a folder or zip file of such"


def read_evaluations(paths: list[Path]) -> pd.DataFrame:
    """Return the table ``evaluations`` of files, folders and zip files.

    Returns
    -------
    DataFrame
        The table ``EVALUATIONS``. The seed is the number in the model's name, its revision, the file's name
        or that of a folder, else 0; a seed without a number is part of the model's name. The checkpoint is
        the step in the revision, or else in the file's name, or the model's, or that of a folder; 0 if
        nothing names a step for a model. The number of examples is the file's, or follows from value and
        error if these are those of right and wrong answers, else -1.

    Raises
    ------
    InputError
        With the file that is no such result, or says two checkpoints, or none where others of its model say
        one; or where two files are of the same.
    """
    rows: list[dict[str, Any]] = []
    homes: dict[tuple[Any, ...], str] = {}
    grouped: set[str] = set()  # what files call means over tasks
    silent: dict[str, str] = {}  # where a model's files say no step, and where they say one
    stepped: dict[str, str] = {}
    for place, folders, content in _files(paths):
        grouped |= {name for name, members in _keys(content, "group_subtasks").items() if members}
        for row in _rows(content, place, folders):
            for name in ("model", "task", "metric"):
                named(row[name], place)
            if row["checkpoint"] is None:
                silent.setdefault(row["model"], place)
                row["checkpoint"] = 0
            else:
                stepped.setdefault(row["model"], place)
            key = tuple(row[name] for name in ("model", "seed", "checkpoint", "shots", "task", "metric"))
            if key in homes:
                raise InputError(
                    f"{place}: has {row['metric']} of {row['task']} for {row['model']}, seed {row['seed']}, "
                    f"step {row['checkpoint']}, and so has {homes[key]}; expected one of them"
                )
            homes[key] = place
            rows.append(row)
    if not rows:
        raise InputError(f"{paths[0]}: has no results; expected {LOOKS_LIKE}")
    for model in silent.keys() & stepped.keys():
        raise InputError(
            f"{silent[model]}: nothing says which step of {model} it is of, and {stepped[model]} says one; "
            "expected a step in the file's name, such as step1000.json"
        )
    table = pd.DataFrame(rows)
    # If no file has a number of a metric, the metric is no score. If others have one, a null is a lost score.
    has_numbers = table["value"].notna().groupby([table["task"], table["metric"]]).transform("any")
    is_score = has_numbers | ~table["not_finite"].str.endswith(" is null")
    places = pd.Series([*homes.values()])[is_score]
    table = table[is_score]
    _check_stages(table, paths[0])
    table["examples"] = _agreed(table)
    table["lower_is_better"], contradictions = _directions(table, places)
    not_finite = table[table["not_finite"] != ""].groupby(["task", "metric"])["not_finite"].first().to_dict()
    table = table.reindex(columns=[*EVALUATIONS.columns])
    table.attrs |= {"grouped": grouped, "contradictions": contradictions, "not_finite": not_finite}
    return table


def _check_stages(table: pd.DataFrame, path: Path) -> None:
    """Raise InputError if a model's rows are of several stages; without a name, they are of the first."""
    for model, of_model in table.groupby("model", sort=False):
        named_stages = {int(stage) for stage in of_model["stage"].dropna()}
        stages = named_stages | ({1} if of_model["stage"].isna().any() else set())
        if len(stages) > 1:
            listed = " and ".join(
                str(stage) if stage in named_stages else f"{stage} (not named)" for stage in sorted(stages)
            )
            raise InputError(
                f"{path}: has stages {listed} of the training of {model}, and steps may begin again "
                "in each; use the files of one stage at a time"
            )


def _agreed(table: pd.DataFrame) -> pd.Series[int]:
    """How many examples each row is of: where it was worked out, only if all evaluations of a task agree."""
    examples = table["examples"].copy()
    for _, derived in table[~table["is_counted"]].groupby(["task", "shots", "metric"], sort=False):
        varied = (derived["value"] > 0) & (derived["value"] < 1) & (derived["error"] > 0)
        counts = {*derived.loc[varied, "examples"]}
        examples[derived.index] = counts.pop() if len(counts) == 1 else -1
    return examples


def _directions(
    table: pd.DataFrame, places: Iterable[str]
) -> tuple[pd.Series[bool], dict[tuple[str, str], str]]:
    """Return whether less is better in each row: what some files declare of a metric goes for all files.

    Parameters
    ----------
    places
        The file of each row.

    Returns
    -------
    tuple
        The directions, and {(task, metric): two files that declare different ones}.
    """
    lower = table["lower_is_better"].copy()
    contradictions = {}
    declared = table.assign(place=[*places])[table["declared"]]
    for (task, metric), rows in declared.groupby(["task", "metric"], sort=False):
        first = rows.iloc[0]
        opposite = rows[rows["lower_is_better"] != first["lower_is_better"]]
        if len(opposite):
            contradictions[str(task), str(metric)] = f"{first['place']} and {opposite['place'].iloc[0]}"
        else:
            lower[(table["task"] == task) & (table["metric"] == metric)] = first["lower_is_better"]
    return lower, contradictions


def _files(paths: list[Path]) -> Iterator[tuple[str, list[str], Any]]:
    """(where, the names of its folders, its content) of all JSON files that are results.

    The folders are those below a given folder or zip file and itself, the innermost first; of a given file,
    the one that has it.
    """
    for path in paths:
        if not path.exists():
            raise InputError(f"{path}: there is no such file or folder")
        is_zip = path.is_file() and zipfile.is_zipfile(path)
        root = len(path.absolute().parts) - (1 if path.is_dir() or is_zip else 2)
        contents: Iterator[tuple[str, bytes]]
        if path.is_dir():
            contents = ((str(file), _content(file)) for file in files_below(path, "*.json"))
        elif is_zip:
            contents = _of_zip(path)
        else:
            contents = iter([(str(path), _content(path))])
        for place, content in contents:
            try:
                parsed = parse_json(content.decode("utf-8-sig"), place)
            except UnicodeDecodeError:
                raise InputError(f"{place}: {NOT_TEXT}") from None
            results = parsed.get("results") if isinstance(parsed, Mapping) else None
            if isinstance(results, Mapping) and "config_general" in parsed:
                raise InputError(f"{place}: is a file of lighteval; expected {LOOKS_LIKE}")
            if isinstance(results, Mapping) and all(
                isinstance(metrics, Mapping) for metrics in results.values()
            ):
                yield place, [*Path(place).absolute().parts[root:-1]][::-1], parsed
            elif not path.is_dir() and not is_zip:
                raise InputError(f"{place}: has no results; expected {LOOKS_LIKE}")


def _content(path: Path) -> bytes:
    check_regular(path)
    return path.read_bytes()


def _of_zip(path: Path) -> Iterator[tuple[str, bytes]]:
    try:
        with opened_zip(path) as file:
            for name in sorted(file.namelist()):
                # hidden files, such as those that macOS puts beside files, are none of them
                hidden = any(part.startswith(".") for part in PurePosixPath(name).parts)
                if name.endswith(".json") and not hidden:
                    yield f"{path}/{name}", file.read(name)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, NotImplementedError) as error:
        raise InputError(f"{path}: cannot be unpacked ({error}); expected a whole zip file") from None


def _identity(content: Mapping[str, Any], place: str, folders: list[str]) -> dict[str, Any]:
    """Return the columns ``model``, ``seed``, ``checkpoint`` and ``stage`` of one file."""
    config = _keys(content, "config")
    arguments = model_arguments(config.get("model_args"))
    names = (
        arguments.get("pretrained"),
        content.get("model_name"),
        arguments.get("model"),
        config.get("model"),
    )
    name = str(next((candidate for candidate in names if candidate), "model")).rstrip("/")
    if arguments.get("peft", "None") not in ("", "None"):
        name = ADAPTER.join([name, arguments["peft"].rstrip("/")])
    revision = arguments.get("revision", "")
    step, name = _checkpoint(revision, name, place, folders)
    # such as checkpoint-1000 in a training's own folder
    name = ADAPTER.join(
        part if part.strip("./") else _of_folder(place, folders) for part in name.split(ADAPTER)
    )
    if named_seed := NAMED_SEED.search(TOKENS.sub("", STEP.sub("", revision))):
        name += f"@{named_seed[1]}"
    seeds = [SEED.search(text) for text in (name, revision, PurePosixPath(place).stem)]
    numbers = list(dict.fromkeys(int(match[1]) for match in seeds if match))
    if len(numbers) > 1:
        raise InputError(
            f"{place}: is of the seeds {numbers[0]} and {numbers[1]} by its model and its name; expected one"
        )
    of_folders = (int(match[1]) for folder in folders if (match := SEED.search(folder)))
    stages = [STAGE.search(text) for text in (revision, name, PurePosixPath(place).stem, *folders)]
    stage = next((int(match[1]) for match in stages if match), None)
    return {
        "model": SEED.sub("", name),
        "seed": next(iter(numbers), next(of_folders, 0)),
        "checkpoint": step,
        "stage": stage,
    }


def _of_folder(place: str, folders: list[str]) -> str:
    """Return the name of the innermost folder that names more than a step and a seed."""
    for folder in folders:
        if _step(folder) is None and (name := SEED.sub("", folder).strip("-_. ")):
            return name
    raise InputError(f"{place}: its model is named by its step alone; expected a folder for each model")


def _rows(content: Mapping[str, Any], place: str, folders: list[str]) -> Iterator[dict[str, Any]]:
    """Yield the rows of one file."""
    identity = _identity(content, place, folders)
    for task, metrics in content["results"].items():
        shots = _shots(content, str(task))
        counted = _keys(_keys(content, "n-samples"), task).get("effective")
        higher = _keys(_keys(content, "higher_is_better"), task)
        for key, value in metrics.items():
            metric, _, kind = str(key).partition(",")
            numeric = value is None or (isinstance(value, int | float) and not isinstance(value, bool))
            if metric.endswith("_stderr") or not numeric or metric in ("alias", "sample_len"):
                continue
            score = math.nan if value is None else _as_float(value)
            error = metrics.get(f"{metric}_stderr,{kind}" if kind else f"{metric}_stderr")
            error = _as_float(error) if isinstance(error, int | float) else np.nan
            if isinstance(counted, int) and not 0 <= counted <= MOST_EXAMPLES:
                raise InputError(
                    f"{place}: {task} has {str(counted)[:30]} examples; expected 0 to {MOST_EXAMPLES:,}"
                )
            finite, written = math.isfinite(score), "null" if value is None else str(value)[:30]
            is_counted = isinstance(counted, int) and counted > 0
            examples = counted if isinstance(counted, int) and is_counted else _examples(score, error)
            better = higher.get(metric)
            declared = isinstance(better, bool)
            yield identity | {
                "shots": int(shots) if isinstance(shots, int) else 0,
                "task": str(task),
                "metric": str(metric if kind in ("", "none") else key),
                "value": score,
                "not_finite": "" if finite else f"{place}: {key} of {task} is {written}",
                "error": error,
                "bootstrap": np.nan,
                "examples": examples,
                "is_counted": is_counted,
                "prompts": 1,
                "chance": np.nan,
                "lower_is_better": not better if declared else bool(LOSSES.search(metric)),
                "declared": declared,
            }


def _shots(content: Mapping[str, Any], task: str) -> Any:
    """Return the number of shots of a task; of a group, that of its tasks if they agree.

    Some versions of the tool write 0 for a group of groups, whatever its tasks have.
    """
    known_shots, members = _keys(content, "n-shot"), _keys(content, "group_subtasks")
    names, seen_names = [task], {task}
    numbers: set[int] = set()
    while names:
        name = names.pop()
        inside, number = members.get(name), known_shots.get(name)
        if isinstance(inside, Sequence) and not isinstance(inside, str) and inside:
            new = {str(member) for member in inside} - seen_names
            seen_names |= new
            names += sorted(new)
        elif isinstance(number, int):
            numbers.add(number)
    if len(numbers) == 1:
        return numbers.pop()
    return known_shots.get(task, _keys(content, "config").get("num_fewshot"))


def _keys(content: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return the mapping under a key; an empty one if it is not a mapping."""
    value = content.get(name)
    return value if isinstance(value, Mapping) else {}


def model_arguments(text: Any) -> dict[str, str]:
    """Return the arguments a model was loaded with, from ``key=value,key=value`` or from keys."""
    if isinstance(text, Mapping):
        return {str(key): str(value) for key, value in text.items() if value is not None}
    parts = (part.partition("=") for part in str(text or "").split(","))
    return {key.strip(): value.strip() for key, _, value in parts if value}


def _checkpoint(revision: str, model: str, place: str, folders: list[str]) -> tuple[int | None, str]:
    """The step that a revision, the file's name or the model's say, or else a folder's; and the model's name
    without it.

    Raises
    ------
    InputError
        If they say two.
    """
    path = PurePosixPath(place)
    steps_by_source = {
        f"what it was run with '{revision}'": _steps(revision),
        f"its name '{path.name}'": _steps(path.name.removesuffix(".json")),
        f"its model '{model}'": _steps(model),
    }
    steps = {step: source for source, steps in steps_by_source.items() for step in steps}
    if len(steps) > 1:
        steps_in_words = " and ".join(f"step {step} by {source}" for step, source in steps.items())
        raise InputError(f"{place}: is of {steps_in_words}; expected one step")
    of_folders = (step for step in map(_step, folders) if step is not None)
    checkpoint = next(iter(steps), next(of_folders, None))
    return checkpoint, STEP.sub("", model).rstrip("/")


def _step(text: str) -> int | None:
    """The last step that a text says, such as 1000 of step1000, checkpoint-1_000 or step1k."""
    steps = _steps(text)
    return steps[-1] if steps else None


def _steps(text: str) -> list[int]:
    """The steps that a text says."""
    groups = (match.groups() for match in STEP.finditer(text))
    return [int(digits or Decimal(amount) * UNITS[unit.lower()]) for digits, amount, unit in groups]


def _examples(value: float, error: float) -> int:
    """How many examples an accuracy is of, by its standard error sqrt(p (1 - p) / (n - 1)); -1 where none.

    It is used only if it is a whole number, and the number of right answers is one, too.
    """
    if not (0 < value < 1 and error > 0):
        return -1
    count = value * (1 - value) / error**2 + 1
    near = round(count)
    whole = abs(count - near) <= 1e-6 * near and abs(value * near - round(value * near)) <= 1e-6 * near
    return near if whole else -1


def _as_float(value: float) -> float:
    """Return a number of a JSON text as a float; infinite if it is a whole number that no float can be."""
    try:
        return float(value)
    except OverflowError:
        return math.inf
