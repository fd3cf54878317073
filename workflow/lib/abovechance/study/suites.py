"""Suites of tasks with their nominal sizes, as papers take them."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import pandas as pd

SUITE = "BIG-bench Lite"


@cache
def suites() -> pd.DataFrame:
    """The suites' tasks with nominal sizes: ``suite``, ``task``, ``examples``, ``choices``."""
    return pd.read_csv(files("abovechance.study").joinpath("suites.csv").open(encoding="utf-8"))


def nominal() -> pd.DataFrame:
    """The tasks of the paper's suite by name: ``examples`` and ``choices`` as the paper takes them."""
    table = suites()
    return table[table["suite"] == SUITE].set_index("task")
