"""What is said of bad inputs: the tables in tests/bad_inputs, each row an input and its one line.

A row of ``configs`` has the keys in which it differs from a right config (``with``; null: left out), or
a whole ``file``; one of ``tasks`` a file's name and ``text``; one of ``commands`` a command line, and the
``files`` that it reads. What is no UTF-8 is written as ``hex``. In messages, the folder of the test is
left out.
"""

import contextlib
import copy
import io
import os
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from abovechance.cli import main
from abovechance.core.errors import InputError
from abovechance.core.reading import read_yaml
from abovechance.study.config import resolve
from abovechance.study.own_tasks import read_own
from tests.conftest import REPOSITORY

SCHEMA = yaml.safe_load((REPOSITORY / "workflow/schemas/config.schema.yaml").read_text())
DOWNLOADS = yaml.safe_load((REPOSITORY / "workflow/downloads.yaml").read_text())
TABLES = {
    path.stem: yaml.safe_load(path.read_text())
    for path in sorted((REPOSITORY / "tests/bad_inputs").glob("*.yaml"))
}
GOOD = {
    "study": "mine",
    "tasks": {"emoji_movie": "bigbench"},
    "models": {"m": {"hub": "org/model", "precision": "nf4"}},
    "shots": [1],
    "prompts": 2,
}


def said_of(table: str, row: dict[str, Any], folder: Path) -> str:
    """What is said of a row's input, in a folder of its own."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        for name, content in row.get("files", {}).items():
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            write(Path(name), content)
        output = {"configs": of_config, "tasks": of_task, "commands": of_command}[table](row)
    finally:
        os.chdir(before)
    return output.replace(f"{folder}/", "").replace(str(folder), ".")


def write(path: Path, content: str | dict[str, str]) -> None:
    path.write_bytes(content.encode() if isinstance(content, str) else bytes.fromhex(content["hex"]))


def of_config(row: dict[str, Any]) -> str:
    try:
        if "file" in row:
            write(Path("mine.yaml"), row["file"])
            config = read_yaml(Path("mine.yaml"))
        else:
            config = copy.deepcopy(GOOD) | row["with"]
            config = {key: value for key, value in config.items() if value is not None}
        resolve(config, SCHEMA, DOWNLOADS, "mine.yaml")
    except InputError as error:
        return str(error)
    return ""


def of_task(row: dict[str, Any]) -> str:
    write(Path(row["name"]), row["text"])
    try:
        read_own(Path(row["name"]))
    except InputError as error:
        return str(error)
    return ""


def of_command(row: dict[str, Any]) -> str:
    messages, sys.argv = io.StringIO(), ["abovechance", *shlex.split(row["run"])]
    try:
        with contextlib.redirect_stderr(messages), contextlib.redirect_stdout(io.StringIO()):
            main()
    except SystemExit as ended:
        return messages.getvalue().strip().splitlines()[-1] if ended.code else ""
    return ""


ROWS = [(name, number) for name, rows in TABLES.items() for number in range(len(rows))]


@pytest.mark.parametrize(("table", "number"), ROWS)
def test_what_is_said_of_a_bad_input(table, number, tmp_path):
    row = TABLES[table][number]
    assert said_of(table, row, tmp_path) == row["says"]
    assert "\n" not in row["says"]
