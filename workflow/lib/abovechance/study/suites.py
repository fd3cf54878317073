"""Suites of tasks with their nominal sizes, as papers take them."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

SUITE = "BIG-bench Lite"  # the one that Yauney and Mimno (2024) study


@dataclass(frozen=True)
class SuiteTask:
    """A task as a paper's table has it: how many examples, and how many choices in each."""

    suite: str
    task: str
    examples: int
    choices: int

    @property
    def chance(self) -> float:
        """Chance of a lucky guess."""
        return 1 / self.choices


@cache
def suites() -> list[SuiteTask]:
    """Return the tasks of all suites, suite after suite."""
    text = files("abovechance.study").joinpath("suites.csv").read_text(encoding="utf-8")
    return [
        SuiteTask(row["suite"], row["task"], int(row["examples"]), int(row["choices"]))
        for row in csv.DictReader(text.splitlines())
    ]


@cache
def nominal() -> dict[str, SuiteTask]:
    """Return the tasks of ``SUITE`` by name."""
    return {task.task: task for task in suites() if task.suite == SUITE}
