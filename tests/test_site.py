"""The documentation site is built without a warning, and has every command, key, table and public name."""

from __future__ import annotations

import html
import subprocess
import sys
from pathlib import Path

import pytest

from abovechance import chance
from abovechance.cli import app
from tests.columns_of_results import schemas
from tests.conftest import REPOSITORY
from tests.keys_of_config import defined_keys


@pytest.mark.thorough
def test_the_site_is_built_without_a_warning_and_is_complete(tmp_path):
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-q",
        "-W",
        "--keep-going",
        "-b",
        "html",
        "docs",
        str(tmp_path),
    ]
    completed = subprocess.run(command, capture_output=True, text=True, cwd=REPOSITORY)
    assert completed.returncode == 0, completed.stderr

    def page(name: str) -> str:
        return (tmp_path / "reference" / f"{name}.html").read_text()

    commands, config, results, python = map(page, ("commands", "config", "results", "python"))
    assert all(
        f"Usage: abovechance {command.name or command.callback.__name__}" in commands
        for command in app.registered_commands
    )
    assert [key for key, _ in defined_keys() if f">{html.escape(key)}<" not in config] == []
    columns = {name for schema in schemas().values() for name in schema.columns if " " not in name}
    assert [name for name in columns if f">{name}<" not in results] == []
    assert all(f"abovechance.chance.{name}" in python for name in chance.__all__)
    assert not [*tmp_path.rglob("_downloads/*/index.html")]
    for name in ("index", "is-my-score-above-chance"):  # Sphinx makes a download of such a link
        assert 'href="calculator/index.html"' in (tmp_path / f"{name}.html").read_text()
    assert (tmp_path / "calculator" / "statistics.js").is_file()
    for path in tmp_path.rglob("*.html"):
        assert 'href="#../' not in path.read_text(), path
    pages = {path.stem for path in Path(REPOSITORY / "docs").glob("*.md")} - {"design"}
    assert {path.stem for path in tmp_path.glob("*.html")} >= pages
