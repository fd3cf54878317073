"""Every code block of the documentation is run."""

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY

PAGES = [*sorted(REPOSITORY.glob("*.md")), *sorted((REPOSITORY / "docs").glob("*.md"))]
PAGES += [REPOSITORY / "config" / "README.md", REPOSITORY / "results" / "README.md"]
SESSIONS = [
    (path, block)
    for path in PAGES
    for block in re.findall(r"^```console\n(.*?)^```", path.read_text(), re.M | re.S)
]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_python_blocks_say_what_they_give(path):
    text = path.read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
    assert all(">>>" in block for block in blocks)
    result = doctest.testfile(str(path), module_relative=False)
    assert result.failed == 0
    assert (result.attempted > 0) == bool(blocks)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "session",
    [block for _, block in SESSIONS],
    ids=[f"{path.stem}-{i}" for i, (path, _) in enumerate(SESSIONS)],
)
def test_sessions_on_the_command_line_print_what_they_show(session: str):
    folder = str(Path(sys.executable).parent)
    environment = os.environ | {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
    for command, expected in re.findall(r"^\$ (.*?)\n(.*?)(?=^\$ |\Z)", session, re.M | re.S):
        completed = subprocess.run(
            command, shell=True, capture_output=True, text=True, cwd=REPOSITORY, env=environment
        )
        assert completed.returncode == 0, completed.stderr
        assert completed.stdout.rstrip("\n") == expected.rstrip("\n"), command


def test_links_between_pages_lead_somewhere():
    for path in PAGES:
        for link in re.findall(r"\]\(([^)#\s]+)\)", path.read_text()):
            if "://" not in link:
                assert (path.parent / link).exists(), f"{path.name}: {link}"


def test_commands_in_blocks_of_shell_exist():
    from typer.testing import CliRunner

    from abovechance.cli import app

    for path in PAGES:
        blocks = "\n".join(re.findall(r"^ *```\w*\n(.*?)^ *```", path.read_text(), re.M | re.S))
        for command in re.findall(r"^(?:\.venv/bin/)?abovechance (\w+)", blocks, re.M):
            assert CliRunner().invoke(app, [command, "--help"]).exit_code == 0, command
