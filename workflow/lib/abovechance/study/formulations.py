"""Formulations: one task put to models in several formats, with the same examples and demonstrations.

    arc:
      source: arc.jsonl
      formats: [cloze, letters]

is two tasks, ``arc-cloze`` and ``arc-letters``, each with what it is one of: ``formulation_of: arc``. Which
examples are evaluated and which are demonstrations is drawn once, by this name and on the first of them, so
that models' scores in the two are paired.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from abovechance.core.errors import InputError


def written_out(tasks: Mapping[str, Any], place: str) -> dict[str, Any]:
    """Return the tasks with those of several formats as one for each.

    Raises
    ------
    InputError
        If formats are no list, or stand beside ``format``, or a formulation has another task's name.
    """
    entries: dict[str, Any] = {}
    for name, entry in tasks.items():
        for member, member_entry in _members(name, entry, f"{place}: key 'tasks.{name}"):
            if member in entries:
                raise InputError(f"{place}: key 'tasks.{member}' stands for two tasks; use other names")
            entries[member] = member_entry
    return entries


def formulations(tasks: Mapping[str, Mapping[str, Any]]) -> dict[str, list[str]]:
    """{what they are formulations of: the tasks that are}, of resolved tasks."""
    members: dict[str, list[str]] = {}
    for name, entry in tasks.items():
        if "formulation_of" in entry:
            members.setdefault(entry["formulation_of"], []).append(name)
    return members


def drawn_as(task: str, tasks: Mapping[str, Mapping[str, Any]]) -> tuple[str, str]:
    """(the name that a task's draws go by, the task on which they are made): its own but for formulations."""
    name = tasks[task].get("formulation_of")
    return (name, formulations(tasks)[name][0]) if name else (task, task)


def check_alike(tasks: Mapping[str, Mapping[str, Any]], place: str) -> None:
    """Raise InputError unless formulations of one task are of one source, shots and examples."""
    for name, members in formulations(tasks).items():
        if len(members) < 2:
            raise InputError(
                f"{place}: key 'tasks.{members[0]}' is the only formulation of '{name}'; expected two or "
                "more, as `formats` makes them"
            )
        for key in ("source", "shots", "max_examples"):
            first, *further = (tasks[member][key] for member in members)
            if any(value != first for value in further):
                raise InputError(
                    f"{place}: key 'tasks.{members[0]}' and others are formulations of '{name}', and do not "
                    f"have the same {key}; expected the same, so that scores are paired"
                )


def _members(name: str, entry: Mapping[str, Any], key: str) -> Iterator[tuple[str, dict[str, Any]]]:
    formats = entry.get("formats")
    if formats is None:
        yield name, dict(entry)
        return
    texts = isinstance(formats, list) and all(isinstance(format_name, str) for format_name in formats)
    if not (texts and len(formats) > 1 and len(set(formats)) == len(formats)):
        raise InputError(
            f"{key}.formats' is {formats!r}; expected a list such as [cloze, letters], each once"
        )
    for forbidden in ("format", "formulation_of"):
        if forbidden in entry:
            raise InputError(f"{key}' has '{forbidden}' beside 'formats'; expected one of them")
    common = {shared_key: value for shared_key, value in entry.items() if shared_key != "formats"}
    for form in formats:
        yield f"{name}-{form}", {**common, "format": form, "formulation_of": name}
