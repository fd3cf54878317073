"""A study whose files lie with a storage provider, as on clusters whose nodes share no disk."""

import filecmp
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY

pytestmark = [
    pytest.mark.workflow,
    pytest.mark.slow,
    pytest.mark.skipif(not shutil.which("rsync"), reason="the storage provider 'fs' copies with rsync"),
]
# Times, what a run says, and how far it has got.
OF_RUNS = ("logs", "benchmarks", "cost")


def run(folder: Path, *options: str) -> str:
    """Run the study of a minute in a folder, and return what is said."""
    command = [sys.executable, "-m", "snakemake", "--cores", "2", "--directory", str(folder)]
    command += ["--snakefile", str(REPOSITORY / "Snakefile"), *options]
    completed = subprocess.run(command, capture_output=True, text=True)
    assert completed.returncode == 0, completed.stderr
    return completed.stdout + completed.stderr


def files(folder: Path) -> set[Path]:
    paths = [path.relative_to(folder) for path in folder.rglob("*") if path.is_file()]
    stores = (".lock", ".store.parquet")  # for prompts of a job that is stopped
    return {path for path in paths if path.parts[0] not in OF_RUNS and not path.name.endswith(stores)}


def test_a_study_with_a_storage_provider_has_the_same_results(tmp_path):
    storage = ["--default-storage-provider", "fs", "--default-storage-prefix", str(tmp_path / "stored")]
    storage += ["--shared-fs-usage", "none", "--local-storage-prefix", str(tmp_path / "copies")]
    for name in ("with", "without"):
        shutil.copytree(REPOSITORY / ".test", tmp_path / name, ignore=shutil.ignore_patterns("results", ".*"))
    run(tmp_path / "with", *storage)
    assert "Nothing to be done" in run(tmp_path / "with", *storage)
    run(tmp_path / "without")
    stored, written = (tmp_path / place / "results" / "test" for place in ("stored", "without"))
    names = files(stored)
    assert names == files(written)
    assert len(names) > 50
    assert not [name for name in names if not filecmp.cmp(stored / name, written / name, shallow=False)]
    assert not files(tmp_path / "with" / "results" / "test")
