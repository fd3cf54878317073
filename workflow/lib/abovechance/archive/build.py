"""Making the archive of a study."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from abovechance.archive import contents
from abovechance.archive.bundle import (
    BESIDE,
    MANIFEST_OF_SCORES,
    Content,
    manifest,
    sha256,
    write,
)
from abovechance.archive.contents import Study
from abovechance.archive.crate import METADATA, metadata
from abovechance.archive.sbom import bill_of_materials
from abovechance.core.errors import InputError
from abovechance.study.config import start_of


def make(study: Study, config: Mapping[str, Any], version: str, path: Path, beside: Path | None) -> None:
    """Write the archive of a finished study: the same bytes for the same files, code and packages.

    Parameters
    ----------
    config
        The study's, with its defaults.
    version
        That of the library.
    path
        The zip file.
    beside
        A second one for the scores, where the config wants them there.

    Raises
    ------
    InputError
        If the workflow's code is not on this machine.
    """
    files = contents.code(study.code)
    if f"{contents.CODE}/workflow/Snakefile" not in files:
        raise InputError(f"{study.code}: has no workflow/Snakefile; expected the folder of the workflow")
    settings, version = config["archive"], contents.code_version(study.code, version)
    files |= contents.results(study, scores=settings["scores"] == "inside")
    if start_of(config) == "imported":  # without it, nothing could be run again
        files |= {contents.name_of_input(path): path for path in study.inputs}
    scores = path.with_name(f"{path.stem}-scores.zip")
    if beside is None:
        scores.unlink(missing_ok=True)  # of an archive that was made in another way
    else:
        write(_only_scores(study), scores, MANIFEST_OF_SCORES)
        files[BESIDE] = manifest({scores.name: sha256(scores)}).encode()
    texts = {
        "inputs.csv": contents.inputs(study),
        "logs.csv": contents.logs(study.folder / "logs"),
        "environment.txt": contents.environment(),
        "sbom.cdx.json": bill_of_materials(study.name, contents.models(study), study.downloads),
        "CITATION.cff": contents.citation(study.name, settings, version, start_of(config)),
        "README.md": contents.readme(study, config, version, beside),
    }
    files |= {name: text.encode() for name, text in texts.items()}
    times = [file.stat().st_mtime for file in study.files]
    sizes = {name: _size(content) for name, content in files.items()}
    files[METADATA] = metadata(study.name, config, version, sizes, (min(times), max(times)))
    write(files, path)


def _only_scores(study: Study) -> dict[str, Content]:
    without = contents.results(study, scores=False)
    return {name: path for name, path in contents.results(study, scores=True).items() if name not in without}


def _size(content: Content) -> int:
    return len(content) if isinstance(content, bytes) else content.stat().st_size
