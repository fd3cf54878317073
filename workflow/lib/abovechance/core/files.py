"""Files that are never left half-written: each is written beside its place and renamed into it."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd

from abovechance.core.provenance import digest


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A path to write to that takes the place of ``path`` when all went well, in one rename."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # The suffix stays last, since writers choose their format by it.
    beside = path.with_name(f".{path.stem}.{os.getpid()}{path.suffix}")
    try:
        yield beside
        beside.replace(path)
    finally:
        if beside.is_dir():
            shutil.rmtree(beside, ignore_errors=True)
        else:
            beside.unlink(missing_ok=True)


def write_text(text: str, path: Path) -> None:
    """Write a text file in one rename."""
    with replacing(path) as beside:
        beside.write_text(text, encoding="utf-8")


def write_json(value: Any, path: Path) -> None:
    """Write a JSON file in one rename."""
    write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", path)


def write_csv(table: pd.DataFrame, path: Path) -> None:
    """Write a table as CSV in one rename; floats keep all their digits."""
    with replacing(path) as beside:
        table.to_csv(beside, index=False)


def file_name(text: str) -> str:
    """A name that can be a part of a file's: the text itself, or what of it can, and a digest.

    Names of models in other tools' logs may have any character.
    """
    plain = re.sub(r"[^A-Za-z0-9_.-]+", "_", text).strip("._-")[:60]
    # Snakemake takes a text that repeats itself many times for an endless loop
    if plain == text and not re.search(r"(.+)\1{19,}\Z", text):
        return text
    return f"{plain[:20]}-{digest(text)[:8]}"


def check_names(made: Iterable[str], files: Sequence[Path]) -> None:
    """Raise ValueError unless what a job has made is what its rule lists, by the names of the files."""
    if {*made} != {path.stem for path in files}:
        raise ValueError(f"made {sorted(made)}, but {sorted({path.stem for path in files})} are listed")
