"""An archived study's analyses once more, from what is stored, in a new folder, without a model."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from abovechance.archive.bundle import companions, lacking, opened, verify
from abovechance.archive.contents import CODE, RESULTS, name_of_input
from abovechance.core.errors import InputError
from abovechance.core.files import write_text
from abovechance.study.config import start_of
from abovechance.study.kinds import KINDS

# Results that a study which starts from stored ones does not make.
GIVEN = (
    *("config.yaml", "cost", "tasks", "evaluation_sets", "training_sets", "prompts", "hardest_prompts"),
    *(kind.scores for kind in KINDS),
)
# What jobs leave besides results.
OF_JOBS = ("logs", "benchmarks")
# Keys that mean nothing where nothing is scored.
OF_SCORING = ("bigbench", "scoring", "machines", "keep_weights")


@dataclass(frozen=True)
class Rerun:
    """What came of running an archived study again.

    Attributes
    ----------
    equal
        How many files have the same bytes as the archived ones.
    different
        The names of those that have not, were not made, or are not in the archive.
    """

    equal: int
    different: list[str]


def unpack(archive: Path, folder: Path) -> None:
    """Unpack an archive, and those that belong to it, into a new folder.

    Raises
    ------
    InputError
        If it does not fit there.
    """
    try:
        for path in (archive, *companions(archive)):
            with zipfile.ZipFile(path) as file:
                file.extractall(folder)
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise InputError(f"{folder}: {archive} cannot be unpacked there ({error.strerror})") from None


def rerun(
    archive: Path,
    folder: Path,
    release: Path | None = None,
    cores: int = 2,
    downloads: Path = Path("results", "downloads"),
) -> Rerun:
    """Run the analyses of an archived study again, with the archived code and the packages of this
    environment.

    Parameters
    ----------
    archive
        The zip file.
    folder
        A new folder; it is unpacked to ``archived`` in it, and run in ``rerun``.
    release
        The release that the study is about, where it is about one.
    cores
        How many processors may be used.
    downloads
        Where pinned downloads lie already, which a study of a release needs; without this folder they are
        downloaded.

    Raises
    ------
    InputError
        If the archive is damaged or has no scores, or a job fails.
    """
    _check_whole(archive)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder}: is there already; right would be a new folder")
    folder = folder.resolve()
    archived = folder / "archived"
    config = given(_config(archive), archived, release, _has_scores(archive))
    unpack(archive, archived)
    write_text(yaml.safe_dump(config, sort_keys=False, allow_unicode=True), folder / "rerun.yaml")
    if downloads.is_dir():
        (folder / "rerun" / "results").mkdir(parents=True)
        (folder / "rerun" / "results" / "downloads").symlink_to(downloads.resolve())
    code = archived / CODE
    command = [
        sys.executable,
        "-m",
        "snakemake",
        "--snakefile",
        str(code / "Snakefile"),
        "--cores",
        str(cores),
    ]
    command += ["--workflow-profile", str(code / "workflow" / "profiles" / "default")]
    command += ["--directory", str(folder / "rerun"), "--configfile", str(folder / "rerun.yaml")]
    with (folder / "rerun.log").open("wb") as log:
        status = subprocess.run(command, stdout=log, stderr=subprocess.STDOUT).returncode
    if status:
        raise InputError(f"{archive}: a job failed; what was said is in {folder / 'rerun.log'}")
    return compared(archived / RESULTS, folder / "rerun" / "results" / config["study"])


def _check_whole(archive: Path) -> None:
    """Raise InputError where an archive is none, or has not all that it was made with."""
    if archive.is_dir():
        raise InputError(f"{archive}: is a folder; right would be the zip file of `make archive`")
    if problems := verify(archive):
        first = problems[0]
        raise InputError(
            f"{archive}: {len(problems)} of its files are not as they were: {first.file} is {first.what}"
        )
    if missing := lacking(archive):
        raise InputError(f"{archive}: its scores are in {missing[0]}, which does not lie beside it")


def _config(archive: Path) -> dict[str, Any]:
    with opened(archive) as file:
        config: dict[str, Any] = yaml.safe_load(file.read(f"{RESULTS}/config.yaml"))
    return config


def _has_scores(archive: Path) -> bool:
    names = [name for path in (archive, *companions(archive)) for name in zipfile.ZipFile(path).namelist()]
    return any(name.startswith(f"{RESULTS}/scores/") for name in names)


def given(
    config: Mapping[str, Any], folder: Path, release: Path | None, scores: bool = True
) -> dict[str, Any]:
    """The archived study's config, its paths those of the archive when it is unpacked.

    Raises
    ------
    InputError
        If what the study starts from is not there.
    """
    start = start_of(config)
    changed: dict[str, str] = {}
    if start == "release":
        if release is None:
            raise InputError(
                "the study is about a release, which is not in its archive; right would be --release"
            )
        changed = {"release": str(release.resolve())} | _bigbench(config)
    elif start == "imported":
        changed = {"predictions": str(folder / name_of_input(Path(config["predictions"])))}
    elif scores:
        changed = {"stored": str(folder / RESULTS)}
    else:
        raise InputError("the archive has no scores, so nothing can be run again without a model")
    return {key: value for key, value in config.items() if key not in OF_SCORING} | changed


def _bigbench(config: Mapping[str, Any]) -> dict[str, str]:
    """The checkout of BIG-bench that a study of a release took its tasks from, where it took one."""
    if "bigbench" not in config:
        return {}
    checkout = Path(config["bigbench"]).expanduser().resolve()
    if not checkout.is_dir():
        raise InputError(
            f"the study's tasks come from '{config['bigbench']}' (key 'bigbench'), which is not in its "
            "archive; right would be to run this where that folder is"
        )
    return {"bigbench": str(checkout)}


def compared(archived: Path, made: Path) -> Rerun:
    """How many results were made again with the same bytes; which were not, or are in one of both alone."""
    names = sorted(_results(archived, GIVEN) | _results(made, (*GIVEN, *OF_JOBS)))
    different = [
        name.as_posix()
        for name in names
        if not ((made / name).is_file() and (archived / name).is_file())
        or (made / name).read_bytes() != (archived / name).read_bytes()
    ]
    return Rerun(len(names) - len(different), different)


def _results(folder: Path, but: Sequence[str]) -> set[Path]:
    """The files below a folder by their names in it, but for those in some folders."""
    found = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return {name for name in found if name.parts[0] not in but}
