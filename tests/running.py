"""Run a command of the command line in this process, which saves the seconds that imports take."""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys
from pathlib import Path
from unittest import mock

from abovechance.cli import main
from tests.conftest import REPOSITORY


def run(*arguments: str, folder: Path = REPOSITORY) -> subprocess.CompletedProcess[str]:
    """Run ``abovechance`` with these arguments in a folder; what it prints and its exit status."""
    output, messages, status = io.StringIO(), io.StringIO(), 0
    with (
        mock.patch.object(sys, "argv", ["abovechance", *arguments]),
        contextlib.chdir(folder),
        contextlib.redirect_stdout(output),
        contextlib.redirect_stderr(messages),
    ):
        try:
            main()
        except SystemExit as ended:
            status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    return subprocess.CompletedProcess(
        ["abovechance", *arguments], status, output.getvalue(), messages.getvalue()
    )
