"""What studies are made from, checked before it is used: model folders, pinned downloads, tables."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from abovechance.errors import InputError
from abovechance.provenance import file_sha256

if TYPE_CHECKING:
    import pandas as pd


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
        told = problem.strip().splitlines()[-1:] or ["it said nothing"]
        raise InputError(
            f"downloading {pinned['requirement']} gave no {pinned['file']} ({told[0]}); "
            f"right would be a file with SHA-256 {pinned['sha256']}"
        )
    found = file_sha256(path)
    if found != pinned["sha256"]:
        raise InputError(
            f"{path}: is corrupted: its SHA-256 is {found}, right would be {pinned['sha256']}; "
            "delete the file and run again"
        )


def check_model_path(path: Path, key: str) -> None:
    """Raise InputError unless there is a model whose weights can be loaded without pickle."""
    if path.suffix == ".gguf":
        if not path.is_file():
            raise InputError(f"{key}: there is no file {path} (looked in {Path.cwd()})")
        return
    if not path.is_dir():
        raise InputError(f"{key}: there is no folder {path} (looked in {Path.cwd()})")
    if not (path / "config.json").is_file():
        raise InputError(f"{key}: {path} has no config.json, so is no model that transformers saved")
    if not any(path.glob("*.safetensors")):
        raise InputError(
            f"{key}: {path} has no weights (*.safetensors); pickled weights (*.bin, *.pt) are "
            "never loaded: save them again with model.save_pretrained(folder)"
        )


def read_csv_texts(path: Path) -> pd.DataFrame:
    """A CSV as texts, so that messages can quote what is written; InputError where it is none."""
    import pandas as pd

    try:
        return pd.read_csv(path, dtype=str, keep_default_na=False, skipinitialspace=True)
    except (OSError, UnicodeDecodeError, pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        raise InputError(f"{path}: cannot be read as CSV: {str(error).strip()}") from None
