"""The contents of an archive: a study's results, their inputs, and the code that made them."""

from __future__ import annotations

import csv
import io
import os
import platform
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

import yaml

from abovechance.archive.bundle import Content, sha256
from abovechance.core.provenance import digest
from abovechance.core.tables import read_made_from
from abovechance.core.untrusted import portable
from abovechance.study.config import start_of
from abovechance.study.kinds import KINDS

RESULTS, CODE, INPUTS = "results", "code", "inputs"
# What of a workflow's folder is its code: files, and folders with all that lies in them.
CODE_FILES = (
    *("Snakefile", "config.yaml", "Makefile", "README.md", "LICENSE", "CITATION.cff"),
    *("pyproject.toml", "setup.py", "MANIFEST.in"),  # so that it can be installed
    *("workflow", "envs", "config", "results/README.md"),
)
LIBRARY = "workflow/lib"
PACKAGES = ("abovechance", "snakemake_logger_plugin_abovechance")
LEFT_OUT = ("__pycache__", "*.pyc", "*.egg-info", ".*")  # of these folders


@dataclass(frozen=True)
class Study:
    """A finished study on the disk.

    Attributes
    ----------
    name
        Name of the study in the archive.
    folder
        Its results.
    files
        The results that the workflow makes, of those in the folder.
    inputs
        The user's own files that it read, by their paths.
    downloads
        The pinned downloads that it read, as ``workflow/downloads.yaml`` has them.
    code
        The folder of the workflow.
    """

    name: str
    folder: Path
    files: Sequence[Path]
    inputs: Sequence[Path]
    downloads: Sequence[Mapping[str, Any]]
    code: Path


def results(study: Study, scores: bool) -> dict[str, Content]:
    """{name in the archive: file} of the results, with or without the stored scores."""
    return {
        f"{RESULTS}/{path.relative_to(study.folder).as_posix()}": path
        for path in study.files
        if scores or not is_score(study, path)
    }


def is_score(study: Study, path: Path) -> bool:
    """Return whether a file is one of stored scores."""
    return path.relative_to(study.folder).parts[0] in {kind.scores for kind in KINDS}


def code(folder: Path) -> dict[str, Content]:
    """{name in the archive: file} of the workflow and its library: of a git checkout, of what git knows.

    An installed library has the workflow inside; its files have the same names in the archive.
    """
    listed = _git(folder, "ls-files", "-z") if _is_checkout(folder) else ""
    tracked = {*filter(None, listed.split("\0"))}
    files = {
        file.relative_to(folder).as_posix(): file
        for name in CODE_FILES
        for file in ((folder / name).rglob("*") if (folder / name).is_dir() else [folder / name])
    }
    if not (folder / LIBRARY).is_dir():
        site = folder.parent
        library = [file for package in PACKAGES for file in (site / package).rglob("*")]
        inside = {*files.values()}
        files |= {
            f"{LIBRARY}/{file.relative_to(site).as_posix()}": file for file in library if file not in inside
        }
    return {
        f"{CODE}/{name}": file
        for name, file in files.items()
        if file.is_file() and not file.is_symlink() and not _is_left_out(name)
        if name in tracked or not tracked
    }


def _is_left_out(name: str) -> bool:
    return any(Path(part).match(pattern) for part in Path(name).parts for pattern in LEFT_OUT)


def code_state(folder: Path) -> str:
    """A digest of all that ``code`` holds, and of the version: where it is another, so is the archive."""
    files = (f"{name} {sha256(file)}" for name, file in sorted(code(folder).items()))
    return digest(code_version(folder, ""), *files)


def name_of_input(path: Path) -> str:
    """Return the name of a user's own file in an archive."""
    return f"{INPUTS}/{portable(path.name)}"


def code_version(folder: Path, version: str) -> str:
    """Return the version of the code; of a git checkout, its commit, and whether files differ from that."""

    if not _is_checkout(folder):
        return version
    changes = ", with changes" if _git(folder, "status", "--porcelain", "--untracked-files=no") else ""
    return f"{version}, commit {_git(folder, 'rev-parse', 'HEAD')}{changes}"


def _is_checkout(folder: Path) -> bool:
    top = _git(folder, "rev-parse", "--show-toplevel")
    return bool(top) and Path(top).resolve() == folder.resolve()


def _git(folder: Path, *arguments: str) -> str:
    """Return the output of a git command; an empty string if git fails."""
    try:
        completed = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True)
    except OSError:
        return ""
    return completed.stdout.strip() if completed.returncode == 0 else ""


def inputs(study: Study) -> str:
    """Return a CSV of what the study was made from: files by their hashes, models by their revisions."""
    files = [
        file
        for path in study.inputs
        for file in (sorted(path.rglob("*")) if path.is_dir() else [path])
        if file.is_file()
    ]
    files = [*dict.fromkeys(file.absolute() for file in files)]
    # where several have the same name, by where they lie
    distinct = len({file.name for file in files}) == len(files)
    common = Path(os.path.commonpath(files)) if files and not distinct else Path()
    rows = [
        {
            "kind": "file",
            "name": file.name if distinct else file.relative_to(common).as_posix(),
            "sha256": sha256(file),
        }
        for file in files
    ]
    for download in study.downloads:
        rows.append({"kind": "download", "name": download["file"], "sha256": download["sha256"]})
    rows += models(study)
    return _csv(rows, ["kind", "name", "sha256", "source", "revision", "tokenizer", "precision"])


def models(study: Study) -> list[dict[str, str]]:
    """Return the models whose predictions the study has: where each comes from, and its revision."""
    facts = [read_made_from(path) for path in _parquet(study, "predictions")]
    return [
        {
            "kind": "model",
            "name": model["name"],
            "source": model["model"],
            "revision": model["revision"],
            "tokenizer": model.get("tokenizer", ""),
            "precision": model["precision"],
        }
        for file in facts
        for model in file.get("models", [])
        if "model" in model
    ]


def _parquet(study: Study, folder: str) -> list[Path]:
    return sorted(path for path in study.files if path.parent == study.folder / folder)


def logs(folder: Path) -> str:
    """Return a CSV of what jobs said: of each log how many lines it has, and the last of them."""
    rows = []
    for path in sorted(folder.rglob("*.log")):
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        name = path.relative_to(folder).as_posix()
        rows.append({"log": name, "lines": str(len(lines)), "last": lines[-1] if lines else ""})
    return _csv(rows, ["log", "lines", "last"])


def environment() -> str:
    """Return the packages that are installed, a line each, with Python and the system first."""
    system = f"# Python {platform.python_version()}, {platform.system()} {platform.machine()}\n"
    packages = {
        f"{packages.metadata['Name']}=={packages.version}"
        for packages in distributions()
        if packages.metadata
    }
    return system + "".join(f"{line}\n" for line in sorted(packages, key=str.lower))


BASELINES = {
    "type": "conference-paper",
    "title": "Stronger Random Baselines for In-Context Learning",
    "authors": [
        {"family-names": "Yauney", "given-names": "Gregory"},
        {"family-names": "Mimno", "given-names": "David"},
    ],
    "year": 2024,
}
VARIANCE = {
    "type": "article",
    "title": "Quantifying Variance in Evaluation Benchmarks",
    "authors": [
        {"family-names": "Madaan", "given-names": "Lovish"},
        {"name": "et al."},
    ],
    "year": 2024,
}


def citation(name: str, settings: Mapping[str, Any], version: str, start: str) -> str:
    """Return a CITATION.cff of the results; of nobody where the config names no authors.

    Parameters
    ----------
    settings
        The config's key ``archive``.
    version
        That of the code.
    start
        How the study starts, which decides the paper of its method.
    """
    cited = {
        "cff-version": "1.2.0",
        "message": "If you use these results, please cite them, the software, and the paper of its method.",
        "type": "dataset",
        "title": settings.get("title", f"Results of the study '{name}'"),
        "authors": [
            {"name": author} for author in settings.get("authors", [f"The authors of the study '{name}'"])
        ],
        "references": [
            {
                "type": "software",
                "title": "abovechance",
                "version": version,
                "authors": [{"name": "The abovechance authors"}],
            },
            VARIANCE if start == "evaluations" else BASELINES,
        ],
    }
    if "license" in settings:
        cited["license-url" if "/" in settings["license"] else "license"] = settings["license"]
    return yaml.safe_dump(cited, sort_keys=False, allow_unicode=True)


README = """# Results of the study '{name}'

Made by abovechance {version}. What is here:

| | |
|---|---|
| `results/report.html` | conclusions, figures, and how to read them: open this first |
{verdicts}| `results/` | all tables and figures, and their data; columns: `code/results/README.md` |
| `results/config.yaml` | the study's config, whole |
| `inputs.csv` | what the study was made from: files by their SHA-256, models by their revision |
| `environment.txt` | the packages that were installed; `code/envs/` has the pins |
| `sbom.cdx.json` | the same with licenses and models, for programs that audit software (CycloneDX) |
| `logs.csv` | what jobs said last |
| `code/` | the workflow that made all this |
| `ro-crate-metadata.json` | the same for machines: a Workflow Run RO-Crate |
| `manifest-sha256.txt` | the hashes of all files: `sha256sum --check manifest-sha256.txt` |

{scores}

    abovechance verify ARCHIVE      checks every hash{rerun}
"""


VERDICTS = "| `results/verdicts.csv` | one row per model, task and number of shots |\n"


def readme(study: Study, config: Mapping[str, Any], version: str, beside: Path | None) -> str:
    """Return the README of an archive."""
    start, scores = start_of(config), config["archive"]["scores"]
    if not any(is_score(study, path) for path in study.files):
        scores = start
    scores_note = SCORES[scores].format(beside=beside.name if beside else "")
    rerun = "" if scores == "left_out" else RERUN.get(start, "")
    verdicts = VERDICTS if study.folder / "verdicts.csv" in study.files else ""
    return README.format(name=study.name, version=version, scores=scores_note, rerun=rerun, verdicts=verdicts)


SCORES = {
    "inside": "The log-likelihood of every choice is in `results/scores/`.",
    "beside": "The log-likelihoods of all choices are in a second file, `{beside}`, whose hash is in "
    "`beside-sha256.txt`; lay it beside this one.",
    "left_out": "The log-likelihoods of choices were left out; predictions are in `results/predictions/`.",
    "imported": "The study started from other tools' results, which are in `inputs/`.",
    "release": "The study is about a release, which is not in here: `inputs.csv` has its hash.",
    "evaluations": "The study started from other tools' scores, which are in `results/evaluations.parquet`; "
    "`inputs.csv` has the hashes of their files.",
    "stored": "The study started from stored scores, which are not in here: `inputs.csv` has their hashes.",
}
COMPARES = "repeats the analysis with the installed version and compares all results"
RERUN = {
    "models": f"\n    abovechance rerun ARCHIVE       {COMPARES}, without a model",
    "imported": f"\n    abovechance rerun ARCHIVE       {COMPARES}",
    "release": f"\n    abovechance rerun ARCHIVE --release PATH       {COMPARES}",
}


def _csv(rows: Iterable[Mapping[str, str]], columns: Sequence[str]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
