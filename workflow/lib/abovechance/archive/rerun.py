"""An archived study's analyses once more, from what is stored, in a new folder, without a model."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from abovechance.archive.bundle import companions, lacking, opened, sha256, verify
from abovechance.archive.contents import CODE, INPUTS, RESULTS, code as code_files, name_of_input
from abovechance.core.errors import InputError
from abovechance.core.files import write_text
from abovechance.core.reading import MOST_YAML, parse_yaml
from abovechance.core.untrusted import opened_zip, printable
from abovechance.study.config import start_of
from abovechance.study.installed import resolved, workflow_folder
from abovechance.study.kinds import KINDS
from abovechance.study.running import check_installed, snakemake_command

# Results that a study which starts from stored ones does not make.
NOT_REMADE = (
    *("config.yaml", "cost", "tasks", "evaluation_sets", "training_sets", "prompts", "hardest_prompts"),
    *(kind.scores for kind in KINDS),
)
# What jobs leave besides results, and what is only a step towards these: archives have none of it.
NOT_ARCHIVED = ("logs", "benchmarks", "likelihoods")
# The starts of studies whose inputs are not in the archive.
NOT_INSIDE = {
    "evaluations": "other tools' evaluations, whose files are not in its archive",
    "stored": "the scores of another study, which are not in its archive",
}
# Keys that mean nothing where nothing is scored.
OF_SCORING = ("bigbench", "scoring", "machines", "keep_weights")


@dataclass(frozen=True)
class Rerun:
    """The result of running an archived study again.

    Attributes
    ----------
    equal
        Number of files with the same bytes as the archived ones.
    different
        The names of those that have not, were not made, or are not in the archive.
    """

    equal: int
    different: list[str]


def rerun(
    archive: Path,
    folder: Path,
    release: Path | None = None,
    cores: int = 2,
    downloads: Path = Path("results", "downloads"),
    bigbench: Path | None = None,
    archived_code: bool = False,
) -> Rerun:
    """Run the analyses of an archived study again, from its stored scores, with the packages installed here.

    Parameters
    ----------
    archive
        The zip file. Its scores and its config are data; its code is not run.
    folder
        A new folder; the archive is unpacked to ``archived`` in it, and the study runs in ``rerun``.
    release
        The release that the study is about, if it is about one.
    cores
        Number of processors that the run may use.
    downloads
        Folder with pinned downloads, which a study of a release needs. If there is no such folder, they are
        downloaded.
    bigbench
        The BIG-bench checkout that the study's tasks came from, if they did.
    archived_code
        Run the workflow in the archive instead of the installed one. Whoever made the archive can do anything
        on this machine then.

    Raises
    ------
    InputError
        If the archive is damaged, has no scores, or its config is not valid, or a job fails.
    """
    check_installed()
    code = folder.resolve() / "archived" / CODE if archived_code else workflow_folder().parent
    _check_whole(archive)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder}: is there already; expected a new folder")
    folder = folder.resolve()
    archived = folder / "archived"
    config = rerun_config(_config(archive), archived, release, _has_scores(archive), bigbench)
    try:
        unpack(archive, archived, archived_code)
        check_config(config, archive)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    write_text(yaml.safe_dump(config, sort_keys=False, allow_unicode=True), folder / "rerun.yaml")
    if downloads.is_dir():
        (folder / "rerun" / "results").mkdir(parents=True)
        (folder / "rerun" / "results" / "downloads").symlink_to(downloads.resolve())
    command = snakemake_command(
        code / "workflow", folder / "rerun.yaml", "--cores", str(cores), "--directory", str(folder / "rerun")
    )
    with (folder / "rerun.log").open("wb") as log:
        status = subprocess.run(command, stdout=log, stderr=subprocess.STDOUT).returncode
    if status:
        raise InputError(f"{archive}: a job failed; what was said is in {folder / 'rerun.log'}")
    return compared(archived / RESULTS, folder / "rerun" / "results" / config["study"])


def unpack(archive: Path, folder: Path, code: bool = False) -> None:
    """Unpack the results and inputs of an archive, and of those that belong to it, into a new folder.

    Parameters
    ----------
    code
        Whether to unpack everything, the archived code included.

    Raises
    ------
    InputError
        If it does not fit there.
    """
    try:
        for path in (archive, *companions(archive)):
            with opened_zip(path) as file:
                names = [name for name in file.namelist() if code or name.split("/")[0] in (RESULTS, INPUTS)]
                file.extractall(folder, names)
    except OSError as error:
        raise InputError(f"{folder}: {archive} cannot be unpacked there ({error.strerror})") from None


class ArchivedCode(NamedTuple):
    """Return a description of the code in an archive.

    Attributes
    ----------
    version
        The version that the archive says it was made by; anyone can write anything there.
    different
        The names of its files that are not those of the installed workflow, those of the workflow and the
        library first, which may also be in one of both alone. Files beside these that one of both lacks, such
        as ``Makefile``, are not compared: a wheel has few of them.
    """

    version: str
    different: list[str]


def archived_code(archive: Path) -> ArchivedCode:
    """Return which version made an archive, and how its code differs from the installed one."""
    installed_code = {name: sha256(content) for name, content in code_files(workflow_folder().parent).items()}
    with opened(archive) as file:
        theirs = {name: file.sha256(name) for name in file.names() if name.startswith(f"{CODE}/")}
        readme = file.read("README.md").decode(errors="replace") if "README.md" in file.names() else ""
    made_by = re.search(r"^Made by abovechance (.*?)\. What is here:", readme, re.MULTILINE)
    names = installed_code.keys() | theirs.keys()
    workflow = sorted(name for name in names if name.startswith(f"{CODE}/workflow/"))
    beside = sorted((installed_code.keys() & theirs.keys()) - {*workflow})
    different = [name for name in (*workflow, *beside) if installed_code.get(name) != theirs.get(name)]
    return ArchivedCode(made_by[1] if made_by else "an unknown version", different)


def _check_whole(archive: Path) -> None:
    """Raise InputError where an archive is none, or has not all that it was made with."""
    if archive.is_dir():
        raise InputError(f"{archive}: is a folder; expected the zip file of `make archive`")
    if problems := verify(archive):
        first = problems[0]
        raise InputError(
            f"{archive}: {len(problems)} of its files are not as they were: {first.problem}: "
            f"'{printable(first.file)}'"
        )
    if missing := lacking(archive):
        raise InputError(f"{archive}: its scores are in {missing[0]}, which does not lie beside it")
    for path in companions(archive):
        if problems := verify(path):
            raise InputError(f"{path}: {problems[0].problem}: '{printable(problems[0].file)}'")


def _config(archive: Path) -> dict[str, Any]:
    """Return the config in an archive, read as a user's is."""
    name = f"{RESULTS}/config.yaml"
    with opened(archive) as file:
        if name not in file.names():
            raise InputError(f"{archive}: has no {name}; expected an archive of `make archive`")
        try:
            text = file.read(name, MOST_YAML).decode()
        except UnicodeDecodeError:
            raise InputError(f"{archive}, {name}: is not text in UTF-8") from None
    return parse_yaml(text, f"{archive}, {name}")


def check_config(config: dict[str, Any], archive: Path) -> None:
    """Raise InputError unless an archived config, with the paths of this machine, is one of a study."""
    resolved(config, f"{archive}, {RESULTS}/config.yaml")


def _has_scores(archive: Path) -> bool:
    names: list[str] = []
    for path in (archive, *companions(archive)):
        with opened_zip(path) as file:
            names += file.namelist()
    return any(name.startswith(f"{RESULTS}/scores/") for name in names)


def rerun_config(
    config: Mapping[str, Any],
    folder: Path,
    release: Path | None,
    scores: bool = True,
    bigbench: Path | None = None,
) -> dict[str, Any]:
    """Return the archived study's config, its paths those of the archive when it is unpacked.

    No path that the archived config names is opened.

    Raises
    ------
    InputError
        If what the study starts from is not there.
    """
    start = start_of(config)
    changed: dict[str, str] = {}
    if start == "release":
        if release is None:
            raise InputError("the study is about a release, which is not in its archive; use --release")
        changed = {"release": str(release.resolve())} | _bigbench(config, bigbench)
    elif start == "imported":
        changed = {"predictions": str(folder / name_of_input(Path(str(config["predictions"]))))}
    elif scores:
        changed = {"stored": str(folder / RESULTS)}
    elif start in NOT_INSIDE:
        raise InputError(f"the study started from {NOT_INSIDE[start]}; inputs.csv has their hashes")
    else:
        raise InputError("the archive has no scores, so nothing can be run again without a model")
    return {key: value for key, value in config.items() if key not in OF_SCORING} | changed


def _bigbench(config: Mapping[str, Any], checkout: Path | None) -> dict[str, str]:
    """Return the checkout of BIG-bench that a study of a release took its tasks from, if it took one."""
    if "bigbench" not in config:
        return {}
    if checkout is None:
        raise InputError(
            f"the study's tasks come from '{config['bigbench']}' (key 'bigbench'), which is not in its "
            "archive; expected --bigbench with that folder"
        )
    return {"bigbench": str(checkout.resolve())}


def compared(archived: Path, remade: Path) -> Rerun:
    """How many results were made again with the same bytes; which were not, or are in one of both alone."""
    names = sorted(_results(archived, NOT_REMADE) | _results(remade, (*NOT_REMADE, *NOT_ARCHIVED)))
    different = [
        name.as_posix()
        for name in names
        if not ((remade / name).is_file() and (archived / name).is_file())
        or (remade / name).read_bytes() != (archived / name).read_bytes()
    ]
    return Rerun(len(names) - len(different), different)


def _results(folder: Path, but: Sequence[str]) -> set[Path]:
    """Return the files below a folder by their names in it, but for those in some folders."""
    files = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return {name for name in files if name.parts[0] not in but}
