"""Tasks: multiple-choice examples from BIG-bench or from the user's own file.

Every source ends in the same table, one row per example:

    example      str          unique in the task: ``subtask/index``, or ``index``
    input        str          what is asked, without what is put around it
    text         str          what the model reads before the choice
    choices      list of str  at least two
    labels       list of str  what the choices stand for
    correct      list of bool one a choice, at least one true
    cluster      int          the same for examples that belong together
    null         str          what remains of the text when the input is taken away
    end          str          what follows the answer of a demonstration
    annotations  list of str  what annotators said, where that is known
"""

from __future__ import annotations

import json
import re
import tarfile
import zlib
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from abovechance.core.errors import InputError
from abovechance.core.reading import (
    as_written_by,
    number,
    parse_json,
    read_csv_texts,
    read_json_lines,
    read_parquet,
)
from abovechance.core.tables import TableSchema
from abovechance.study.chances import chances
from abovechance.study.clusters import clusters, passages, without_common
from abovechance.study.task_sources import OWN_TASK_SUFFIXES, check_bigbench_name

TASKS = TableSchema(
    "tasks",
    {
        "example": pa.string(),
        "input": pa.string(),
        "text": pa.string(),
        "choices": pa.list_(pa.string()),
        "labels": pa.list_(pa.string()),
        "correct": pa.list_(pa.bool_()),
        "cluster": pa.int64(),
        "null": pa.string(),
        "end": pa.string(),
        "annotations": pa.list_(pa.string()),
    },
)


# What a row of one's own file can have, and which of it may be an empty text.
FIELDS = ("example", "text", "choices", "answer", "cluster", "null", "annotations")
TEXTS = ("text", "null")


def read_bigbench(source: Path, task: str) -> pd.DataFrame:
    """A BIG-bench task as a table; see ``read_bigbench_tasks``."""
    return read_bigbench_tasks(source, [task])[task]


def read_bigbench_tasks(source: Path, tasks: Iterable[str]) -> dict[str, pd.DataFrame]:
    """BIG-bench tasks as tables, their texts formatted as BIG-bench formats them zero-shot.

    Parameters
    ----------
    source
        The sdist of the PyPI package ``bigbench``, which is read through once, or the folder of
        a BIG-bench checkout. Only ``task.json`` files are read; nothing of the package is run.
    tasks
        The tasks' folder names.

    Returns
    -------
    dict
        {task: its table ``tasks``}, in the order given.
    """
    tasks = list(tasks)
    for task in tasks:
        check_bigbench_name(task, str(source))
    try:
        found = dict(
            _task_files_in_folder(source, tasks) if source.is_dir() else _task_files_in_sdist(source, tasks)
        )
    except (tarfile.TarError, zlib.error, EOFError, OSError) as error:
        raise InputError(f"{source}: cannot be read as a tar archive or folder: {error}") from None
    return {task: _bigbench_table(source, task, found) for task in tasks}


def _bigbench_table(source: Path, task: str, texts: Mapping[tuple[str, str], bytes]) -> pd.DataFrame:
    if (task, "") not in texts:
        raise InputError(f"{source}: has no bigbench/benchmark_tasks/{task}/task.json")
    where = f"{source}, task '{task}'"
    with as_written_by("BIG-bench", where):
        root = parse_json(texts[task, ""], where)
        if "examples" in root:
            return _with_passages(_format_bigbench(root, prefix=""))
    # BIG-bench sorts the subtasks by the paths of their files.
    subtasks = sorted(
        (subtask for name, subtask in texts if name == task and subtask), key="{}/task.json".format
    )
    rows: list[Mapping[str, Any]] = []
    for subtask in subtasks:
        with as_written_by("BIG-bench", f"{where}, subtask '{subtask}'"):
            parsed = parse_json(texts[task, subtask], f"{where}, subtask '{subtask}'")
            rows.extend(_format_bigbench(parsed, prefix=f"{subtask}/"))
    return _with_passages(rows)


def _with_passages(rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """The table of BIG-bench examples, whose inputs show which belong together."""
    listed = list(rows)
    return as_table(listed, passages([row["input"] for row in listed]))


def _task_files_in_folder(folder: Path, tasks: list[str]) -> Iterator[tuple[tuple[str, str], bytes]]:
    """((task, subtask or ""), text) of each ``task.json`` of these tasks in a checkout."""
    for task in tasks:
        home = folder / "bigbench" / "benchmark_tasks" / task
        for path in [home / "task.json", *home.glob("*/task.json")]:
            if path.is_file():
                yield (task, "" if path.parent == home else path.parent.name), path.read_bytes()


def _task_files_in_sdist(archive: Path, tasks: list[str]) -> Iterator[tuple[tuple[str, str], bytes]]:
    """((task, subtask or ""), text) of each ``task.json`` of these tasks in a tar archive."""
    with tarfile.open(archive) as members:
        for member in members:
            match member.name.split("/"):
                case [_, "bigbench", "benchmark_tasks", task, *between, "task.json"] if (
                    task in tasks and len(between) <= 1
                ):
                    content = members.extractfile(member)
                    assert content is not None  # a task.json is a plain file
                    yield (task, "".join(between)), content.read()


def _format_bigbench(task: Mapping[str, Any], prefix: str) -> Iterator[dict[str, Any]]:
    """The rows of one ``task.json`` without subtasks, as BIG-bench's JsonTask formats them.

    The documented defaults of BIG-bench apply to keys that are left out. The correct
    choices are those with the highest target score; partial credit is not correct.
    """
    task_prefix = str(task.get("task_prefix", ""))
    input_prefix = task.get("example_input_prefix", "\nQ: ")
    output_prefix = task.get("example_output_prefix", "\nA: ")
    choice_prefix = task.get("choice_prefix", "\n  choice: ")
    appends_choices = task.get("append_choices_to_input", True)
    # A dictionary keeps its order: exact duplicates go, the first of each stays in place.
    distinct = {json.dumps(example): example for example in task["examples"]}
    for index, example in enumerate(distinct.values()):
        scores = example["target_scores"]
        listed = ""
        if appends_choices:
            order = np.random.RandomState(42).permutation(len(scores))
            ordered = sorted(scores)
            listed = choice_prefix + choice_prefix.join(ordered[i] for i in order)
        yield {
            "input": example["input"],
            "example": f"{prefix}{index}",
            "text": task_prefix + input_prefix + example["input"] + listed + output_prefix,
            "choices": list(scores),
            "correct": [score == max(scores.values()) for score in scores.values()],
            "null": output_prefix,
        }


def task_chances(path: str | Path) -> np.ndarray:
    """(examples,) chance of a lucky guess on each example of a task file; see ``read_own``.

    >>> RandomBaseline(task_chances("sums.jsonl"))  # doctest: +SKIP
    """
    return chances(read_own(Path(path))["correct"])


def read_own(path: Path) -> pd.DataFrame:
    """The user's own task as a table, from JSON Lines, CSV or Parquet.

    Every row has ``text`` (all that the model reads before the choice), ``choices`` (a list
    of at least two different texts) and ``answer``: the correct choice's text, its index from
    0, or a list of these where several are correct. ``example`` (a unique id) is optional and
    otherwise the row's number from 0. In a CSV, ``choices`` is a JSON list, and ``answer`` a
    choice's text, its index, or a JSON list of these; a text that is a choice is that choice.
    ``cluster`` (a text or a whole number) is optional: examples that belong together, such as questions about
    one passage, have the same; and so do examples of the same ``text``. So are ``null``, what remains of the
    text when its input is taken away (such as ``ANSWER:``; nothing, where it is left out), and
    ``annotations``, a list of what annotators answered.

    Raises
    ------
    InputError
        If the file cannot be read or a row is wrong; the message names file, row and field.
    """
    match path.suffix:
        case ".jsonl":
            rows = read_json_lines(path)
        case ".csv":
            rows = _read_csv(path)
        case ".parquet":
            rows = _read_parquet(path)
        case suffix:
            raise InputError(f"{path}: '{suffix}' is not one of {', '.join(OWN_TASK_SUFFIXES)}")
    seen: dict[str, int] = {}
    examples: list[dict[str, Any]] = []
    for place, row in rows:
        example = _own_example(row, f"{path}, row {place}", len(examples))
        name = example["example"]
        if name in seen:
            raise InputError(
                f"{path}, row {place}: the id '{name}' in field 'example' stands in row {seen[name]} as "
                "well; ids must be unique"
            )
        seen[name] = place
        examples.append(example)
    if not examples:
        raise InputError(f"{path}: has no examples")
    return as_table(examples)


def _read_parquet(path: Path) -> Iterator[tuple[int, Any]]:
    """The rows of a Parquet file, a study's own ``tasks`` among them."""
    table = read_parquet(path)
    known = [name for name in (*FIELDS, "correct") if name in table.column_names]
    for place, row in enumerate(table.select(known).to_pylist(), start=1):
        if "answer" not in row and "correct" in row:
            flags, choices = row.pop("correct"), row.get("choices")
            if not isinstance(flags, list) or not isinstance(choices, list) or len(flags) != len(choices):
                raise InputError(
                    f"{path}, row {place}: field 'correct' is {flags!r}; right would be true or false for "
                    "each choice"
                )
            row["answer"] = [place for place, flag in enumerate(flags) if flag]
        yield place, row


def _read_csv(path: Path) -> Iterator[tuple[int, Any]]:
    table = read_csv_texts(path, keep_blanks=True)
    for place, row in zip(table.index, table.to_dict("records"), strict=True):
        where = f"{path}, row {place}"
        for name in ("choices", "annotations"):
            if str(row.get(name, "")).lstrip().startswith("["):
                row[name] = _json_list(row[name], where, name)
        if "answer" in row:
            row["answer"] = _csv_answer(row["answer"].strip(), _as_list(row.get("choices")), where)
        yield place, {field: value for field, value in row.items() if field in TEXTS or value != ""}


def _csv_answer(text: str, choices: list[Any], where: str) -> Any:
    """What the answer in a CSV means: a choice where it is the text of one, else a list or an index."""
    same = [choice for choice in choices if isinstance(choice, str) and choice.strip() == text]
    if same:
        return same[0]
    if text.startswith("["):
        return _json_list(text, where, "answer")
    # pandas writes whole numbers with a point where a column has gaps
    index = re.fullmatch(r"(0|[1-9][0-9]{0,8})(\.0)?", text, re.ASCII)
    alike = [choice for choice in choices if isinstance(choice, str) and number(choice) == number(text)]
    return int(index[1]) if index and not alike else text


def _json_list(text: str, where: str, field: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise InputError(
            f"{where}: field '{field}' is {text[:60]}; right would be a list as JSON writes it, as in "
            '["yes", "no"]'
        ) from None


def _own_example(row: Any, where: str, number: int) -> dict[str, Any]:
    """One checked row of the table from one row of the user's file, the row of this number from 0."""
    if not isinstance(row, dict):
        raise InputError(
            f"{where}: is {str(row)[:40]}; right would be one object on each line, with the fields text, "
            "choices and answer"
        )
    missing = [field for field in ("text", "choices", "answer") if row.get(field) is None]
    if missing:
        raise InputError(f"{where}: field '{missing[0]}' is missing; needed are text, choices, answer")
    text, choices = row["text"], _as_list(row["choices"])
    if not isinstance(text, str):
        raise InputError(f"{where}: field 'text' must be a text, not {text!r}")
    if not all(isinstance(choice, str) for choice in choices) or len(set(choices)) < 2:
        raise InputError(
            f'{where}: field \'choices\' must list at least two texts, as in ["yes", "no"], not {choices!r}'
        )
    if len(set(choices)) < len(choices):
        raise InputError(f"{where}: field 'choices' lists the same choice twice: {choices!r}")
    if blank := [choice for choice in choices if not choice.strip()]:
        raise InputError(f"{where}: field 'choices' has a choice without a character: {blank[0]!r}")
    null, annotations = _own_null(row.get("null"), where), _annotations(row.get("annotations"), where)
    _check_characters([text, null, *choices, *(annotations or [])], where)
    answers = _as_list(row["answer"])
    if not answers:
        raise InputError(f"{where}: has no correct choice; field 'answer' is empty")
    right = {_index_of(answer, choices, where) for answer in answers}
    name = row.get("example")
    if isinstance(name, str):
        _check_characters([name], where)
    if name is not None and (not isinstance(name, str | int) or isinstance(name, bool)):
        raise InputError(f"{where}: field 'example' must be a text or a whole number, not {name!r}")
    return {
        "example": str(number if name is None else name),
        "text": text,
        "choices": choices,
        "correct": [index in right for index in range(len(choices))],
        "cluster": _own_cluster(row.get("cluster"), where),
        "null": null,
        "annotations": annotations,
    }


def _own_null(value: Any, where: str) -> str:
    """What remains of a text in the user's file without its input; nothing where the file does not say."""
    if value is not None and not isinstance(value, str):
        raise InputError(f"{where}: field 'null' must be a text, not {value!r}")
    return value or ""


def _annotations(value: Any, where: str) -> list[str] | None:
    """What annotators answered; None where it is not known."""
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return None
    listed = _as_list(value)
    if (
        not isinstance(value, list | tuple | np.ndarray)
        or not listed
        or not all(isinstance(one, str | int) for one in listed)
    ):
        raise InputError(
            f"{where}: field 'annotations' is {value!r}; right would be a list of what annotators answered, "
            'as in ["yes", "no", "yes"]'
        )
    return [str(one) for one in listed]


def _own_cluster(value: Any, where: str) -> str | None:
    """The name of a cluster in the user's file; None where the example is by itself."""
    if isinstance(value, float):  # as pandas writes whole numbers beside gaps, and these
        value = None if np.isnan(value) else int(value) if value.is_integer() else value
    if value is not None and (not isinstance(value, str | int) or isinstance(value, bool)):
        raise InputError(f"{where}: field 'cluster' must be a text or a whole number, not {value!r}")
    return None if value is None or value == "" else str(value)


def _check_characters(texts: Iterable[str], where: str) -> None:
    """Raise InputError if a text is no characters, such as half of a pair that JSON can write."""
    for text in texts:
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise InputError(f"{where}: the text {text[:40]!r} cannot be written: {error.reason}") from None


def _as_list(value: Any) -> list[Any]:
    """A list of plain Python values; a single value counts as a list of one."""
    if isinstance(value, np.ndarray):
        return list(value.tolist())
    return list(value) if isinstance(value, list | tuple) else [value]


def _index_of(answer: Any, choices: list[str], where: str) -> int:
    """The index of the choice that ``answer`` names by its text or its index."""
    for text in (answer, *([str(answer), str(answer).lower()] if isinstance(answer, bool) else [])):
        if isinstance(text, str) and text in choices:
            return choices.index(text)
    if isinstance(answer, float) and answer.is_integer():  # as pandas writes whole numbers beside gaps
        answer = int(answer)
    is_index = isinstance(answer, int | np.integer) and not isinstance(answer, bool)
    if is_index and 0 <= answer < len(choices):
        return int(answer)
    raise InputError(
        f"{where}: field 'answer' is {answer!r}; right would be one of the choices {choices!r} "
        f"or an index from 0 to {len(choices) - 1}"
    )


def as_table(
    rows: Iterable[Mapping[str, Any]], keys: Sequence[Iterable[Hashable]] | None = None
) -> pd.DataFrame:
    """Rows of examples as the table ``tasks``.

    Examples of the same text are a cluster, unless many have it and only the choices differ, and so are those
    of the same ``cluster`` in the rows, or with a key in common.

    Parameters
    ----------
    rows
        One with ``example``, ``text``, ``choices``, ``correct``; and ``input``, ``cluster``, ``null`` and
        ``annotations``, where it has them.
    keys
        For each, what it has in common with others.
    """
    listed = list(rows)
    own = without_common([{("text", row["text"])} for row in listed])
    for found, row in zip(own, listed, strict=True):
        found.add((row["text"], tuple(sorted(row["choices"]))))
        if row.get("cluster") is not None:
            found.add(("cluster", row["cluster"]))
    for found, more in zip(own, keys or [], strict=keys is not None):
        found.update(more)
    table = pd.DataFrame(listed, columns=["example", "text", "choices", "correct"])
    return table.assign(
        input=[row.get("input", row["text"]) for row in listed],
        labels=table["choices"],
        cluster=clusters(own),
        null=[row.get("null", "") for row in listed],
        end="\n",
        annotations=pd.Series([row.get("annotations") for row in listed], dtype=object),
    )[[*TASKS.columns]]
