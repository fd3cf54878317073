"""Pinned downloads, checked before they are used."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from abovechance.core.errors import InputError
from abovechance.core.provenance import file_sha256


def check_sha256(path: Path, pinned: Mapping[str, str], problem: str = "") -> None:
    """Raise InputError unless the file is there and has the pinned hash.

    Parameters
    ----------
    pinned
        An entry of ``workflow/downloads.yaml``: ``requirement``, ``file``, ``sha256``.
    problem
        What the download said, to be told where the file is not there.
    """
    if not path.is_file():
        reason = problem.strip().splitlines()[-1:] or ["it said nothing"]
        raise InputError(
            f"downloading {pinned['requirement']} gave no {pinned['file']} ({reason[0]}); "
            f"expected a file with SHA-256 {pinned['sha256']}"
        )
    digest = file_sha256(path)
    if digest != pinned["sha256"]:
        raise InputError(
            f"{path}: is corrupted: its SHA-256 is {digest}, expected {pinned['sha256']}; "
            "delete the file and run again"
        )
