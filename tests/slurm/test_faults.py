"""What can go wrong with jobs of a cluster: afterwards, scores are those of a run on this machine.

In a run of all tests these are left out, since each takes a minute or two: `make faults`.
"""

import json
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest

from abovechance.core.provenance import file_sha256
from tests.conftest import snakemake
from tests.slurm.test_slurm import cluster, command, pytestmark, python  # noqa: F401
from tests.tiny import write_tiny_study

pytestmark = [*pytestmark, pytest.mark.faults]

PROMPTS = 40
SCORES = Path("results/faulty/scores/tiny/sums/1-shot.parquet")
JOURNAL = SCORES.with_suffix(".journal")
LEDGER = Path("results/faulty/cost/ledgers/tiny/sums.jsonl")
SLOW = {"hidden_size": 768, "intermediate_size": 2048, "num_hidden_layers": 12}


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study of one job, and in `here/` its scores by a run on this machine."""
    folder = tmp_path_factory.mktemp("prepared")
    changes = {"tasks": {"sums": "sums.jsonl"}, "shots": [1], "prompts": PROMPTS, "max_examples": 200}
    study = ["--configfile", str(write_tiny_study(folder, "faulty", model=SLOW, **changes))]
    snakemake("--until", "prompts", "weights", *study, directory=folder)
    shutil.copytree(folder, folder / "here", symlinks=True)
    snakemake(str(SCORES), *study, directory=folder / "here")
    return folder


@pytest.fixture
def place(prepared: Path, tmp_path: Path) -> Path:
    shutil.copytree(prepared, tmp_path / "place", symlinks=True, ignore=shutil.ignore_patterns("here"))
    return tmp_path / "place"


@contextmanager
def scoring(python: str, place: Path, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:  # noqa: F811
    """A run on the cluster whose job has scored a few prompts."""
    request = command(python, str(SCORES), *arguments, directory=place, config="faulty.yaml")
    with (place / "said.txt").open("w") as log, subprocess.Popen(request, stdout=log, stderr=log) as process:
        try:
            wait_for(lambda: (place / JOURNAL).exists() and (place / JOURNAL).read_bytes().count(b"\n") > 3)
            yield process
            process.wait(timeout=400)
        finally:
            process.kill()


def wait_for(name, seconds: float = 200) -> None:
    end = time.monotonic() + seconds
    while not name():
        assert time.monotonic() < end
        time.sleep(0.1)


def check(place: Path, prepared: Path, repeated: int = 1) -> None:
    """The scores are those of the other run, and at most the prompts in flight were scored twice."""
    assert file_sha256(place / SCORES) == file_sha256(prepared / "here" / SCORES)
    lines = (place / LEDGER).read_text().splitlines()
    assert sum(json.loads(line)["what"] == "prompt" for line in lines) <= PROMPTS + repeated


def job() -> str:
    """The number of the job in the queue."""
    return subprocess.run(
        ["squeue", "--noheader", "--format=%i"], capture_output=True, text=True
    ).stdout.split()[0]


def working() -> list[psutil.Process]:
    """What runs on the node as jobs."""
    steps = [value for value in psutil.process_iter() if value.name() == "slurmstepd"]
    return [child for step in steps for child in step.children(recursive=True)]


def test_a_job_that_is_cancelled(cluster, python, place, prepared):  # noqa: F811
    with scoring(python, place) as process:
        subprocess.run(["scancel", job()], check=True)
    assert process.returncode == 0, (place / "said.txt").read_text()
    check(place, prepared)


def test_a_job_that_is_requeued(cluster, python, place, prepared):  # noqa: F811
    with scoring(python, place) as process:
        subprocess.run(["scontrol", "requeue", job()], check=True)
    assert process.returncode == 0, (place / "said.txt").read_text()
    check(place, prepared)


def test_a_job_over_its_memory(cluster, python, place, prepared):  # noqa: F811
    """The first attempt gets what is not enough: SLURM kills it, and Snakemake asks for more."""
    request = command(
        python,
        str(SCORES),
        *("--set-resources", "score:mem_mb=100 if attempt == 1 else 4000"),
        directory=place,
        config="faulty.yaml",
    )
    completed = subprocess.run(request, capture_output=True, text=True, timeout=400)
    assert completed.returncode == 0, completed.stdout + completed.stderr
    assert "Trying to restart job" in completed.stdout + completed.stderr
    check(place, prepared)


def test_a_job_over_its_time(cluster, python, place, prepared):  # noqa: F811
    """The first attempt hangs, and has a minute: SLURM kills it, and the next one goes on."""
    with scoring(python, place, "--set-resources", "score:runtime=1 if attempt == 1 else 30") as process:
        for value in working():
            value.suspend()
    assert process.returncode == 0, (place / "said.txt").read_text()
    check(place, prepared)
    ended = subprocess.run(["scontrol", "show", "job", "--oneliner"], capture_output=True, text=True).stdout
    assert "JobState=TIMEOUT" in ended


def test_a_node_that_fails(cluster, python, place, prepared):  # noqa: F811
    with scoring(python, place) as process:
        (daemon,) = [value for value in psutil.process_iter() if value.name() == "slurmd"]
        steps = [value for value in psutil.process_iter() if value.name() == "slurmstepd"]
        for value in [*working(), *steps, daemon]:
            with suppress(psutil.NoSuchProcess):
                value.kill()
        time.sleep(25)  # the controller takes it for down after 20
        subprocess.run(["/usr/sbin/slurmd", "-f", "/etc/slurm/slurm.conf"], check=True)
    assert process.returncode == 0, (place / "said.txt").read_text()
    check(place, prepared)
