"""The workflow that belongs to this library, and configs as it reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from abovechance.core.errors import InputError
from abovechance.core.reading import read_yaml
from abovechance.study.config import resolve

LIBRARY = Path(__file__).resolve().parents[1]
# in a distribution, and in a checkout
PLACES = (LIBRARY / "workflow", LIBRARY.parents[1])


def workflow_folder() -> Path:
    """Return the folder of the workflow; InputError if the library is installed without it."""
    for folder in PLACES:
        if (folder / "Snakefile").is_file():
            return folder
    raise InputError("the workflow is not installed with this library; install the library with pip")


def resolved(config: dict[str, Any], place: str) -> dict[str, Any]:
    """Return a study's config with its defaults; InputError with the first mistake in it.

    Parameters
    ----------
    config
        As read from YAML.
    place
        Its file, for messages.
    """
    folder = workflow_folder()
    schema, downloads = (
        yaml.safe_load((folder / name).read_text(encoding="utf-8"))
        for name in ("schemas/config.schema.yaml", "downloads.yaml")
    )
    return resolve(config, schema, downloads, place)


def resolved_file(path: Path) -> dict[str, Any]:
    """Return the config in a file with its defaults; InputError with the first mistake in it."""
    return resolved(read_yaml(path), str(path))
