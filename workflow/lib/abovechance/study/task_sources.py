"""Sources of tasks, checked before anything is read."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from abovechance.core.errors import InputError, nearest

# What a config says in place of a path: a BIG-bench task, or one that the library makes.
BIGBENCH, INVENTED, EVERYDAY = "bigbench", "invented", "everyday"
MADE = (INVENTED, EVERYDAY)
OWN_TASK_SUFFIXES = (".jsonl", ".csv", ".parquet")


def bigbench_names() -> list[str]:
    """Return the multiple-choice JSON tasks of BIG-bench 1.0.0, sorted."""
    return files("abovechance.study").joinpath("bigbench_tasks.txt").read_text().split()


def check_bigbench_name(task: str, place: str) -> None:
    """Raise InputError, with the nearest name, unless BIG-bench has ``task``."""
    if task not in bigbench_names():
        hint = nearest(task, bigbench_names())
        raise InputError(f"{place}: BIG-bench has no multiple-choice task '{task}'; {hint}")


def check_task_source(name: str, source: str, place: str) -> None:
    """Raise InputError unless a task's source in a config is one.

    Parameters
    ----------
    name
        The task's name.
    source
        ``bigbench``, one of ``MADE``, or the path of a user's file.
    place
        The config's file, for messages.
    """
    if source == BIGBENCH:
        check_bigbench_name(name, f"{place}: key 'tasks'")
        return
    if source in MADE:
        return
    path = Path(source)
    key = f"{place}: key 'tasks.{name}'"
    if path.suffix not in OWN_TASK_SUFFIXES:
        keywords = ", ".join(f"'{keyword}'" for keyword in (BIGBENCH, *MADE))
        expected = f"{keywords} or a file ending in {', '.join(OWN_TASK_SUFFIXES)}"
        raise InputError(f"{key} is '{source}'; expected {expected}")
    if not path.is_file():
        raise InputError(f"{key}: there is no file '{source}' (looked in {Path.cwd()})")
