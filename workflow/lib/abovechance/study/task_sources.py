"""Sources of tasks, checked before anything is read."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from abovechance.core.errors import InputError, nearest

BIGBENCH, INVENTED = "bigbench", "invented"  # what a config says in place of a path
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
        ``bigbench``, ``invented``, or the path of a file of one's own.
    place
        The config's file, for messages.
    """
    if source == BIGBENCH:
        check_bigbench_name(name, f"{place}: key 'tasks'")
        return
    if source == INVENTED:
        return
    path = Path(source)
    key = f"{place}: key 'tasks.{name}'"
    if path.suffix not in OWN_TASK_SUFFIXES:
        expected = f"'{BIGBENCH}', '{INVENTED}' or a file ending in {', '.join(OWN_TASK_SUFFIXES)}"
        raise InputError(f"{key} is '{source}'; expected {expected}")
    if not path.is_file():
        raise InputError(f"{key}: there is no file '{source}' (looked in {Path.cwd()})")
