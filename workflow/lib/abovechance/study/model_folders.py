"""Model folders and files, checked before they are used."""

from __future__ import annotations

from pathlib import Path

from abovechance.core.errors import InputError
from abovechance.core.untrusted import MOST_MEMBER, check_regular

# Files that are read as a whole; the largest vocabularies take some tens of megabytes.
SETTINGS, MOST_SETTINGS = (".json", ".txt", ".jinja", ".model", ".py"), 256 * 2**20


def check_model_path(path: Path, key: str) -> None:
    """Raise InputError unless there is a model whose weights can be loaded without pickle."""
    if path.suffix == ".gguf":
        if not path.is_file():
            raise InputError(f"{key}: there is no file {path} (looked in {Path.cwd()})")
        return
    if not path.is_dir():
        raise InputError(f"{key}: there is no folder {path} (looked in {Path.cwd()})")
    if not (path / "config.json").is_file():
        raise InputError(f"{key}: {path} has no config.json, so it is not a model that transformers saved")
    if not any(path.glob("*.safetensors")):
        raise InputError(
            f"{key}: {path} has no weights (*.safetensors); pickled weights (*.bin, *.pt) are "
            "never loaded: save them again with model.save_pretrained(folder)"
        )
    for file in sorted(path.iterdir()):
        if file.exists() and not file.is_dir():  # a pipe would be read for ever
            check_regular(file, MOST_SETTINGS if file.suffix in SETTINGS else MOST_MEMBER)
