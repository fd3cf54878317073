"""The origin of a result: digests of texts and files, and library versions."""

from __future__ import annotations

import hashlib
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


def digest(*texts: str) -> str:
    """16 hexadecimal digits that stand for these texts in this order."""
    joined = "\0".join(f"{len(text)}:{text}" for text in texts)
    return hashlib.sha256(joined.encode()).hexdigest()[:16]


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file's content in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def versions() -> dict[str, str]:
    """Versions of Python and of the libraries that results depend on, where installed."""
    packages = {"python": platform.python_version()}
    for package in ("abovechance", "numpy", "pandas", "pyarrow", "torch", "transformers", "bitsandbytes"):
        try:
            packages[package] = version(package)
        except PackageNotFoundError:
            continue
    return packages
