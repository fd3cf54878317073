"""What the profile can be asked for besides: arrays, partitions, GPUs. `make faults` runs these."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.conftest import snakemake
from tests.slurm.test_slurm import command, pytestmark, python, started  # noqa: F401
from tests.tiny import write_tiny_study

pytestmark = [*pytestmark, pytest.mark.faults]
SCORES = [f"results/asked/scores/tiny{chosen}/sums/1-shot.parquet" for chosen in ("", "-nf4")]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A cluster of this machine whose node says that it has a GPU."""
    yield from started(tmp_path_factory.mktemp("slurm"), gpus=1)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    changes = {"tasks": {"sums": "sums.jsonl"}, "shots": [1]}
    write_tiny_study(tmp_path, "asked", precisions=("float32", "nf4"), **changes)
    return tmp_path


def scoring_jobs(python: str, place: Path, *arguments: str) -> list[str]:  # noqa: F811
    """What SLURM says of the scoring jobs of a run, a line each."""
    request = command(python, *SCORES, *arguments, directory=place, config="asked.yaml")
    before = set(job_lines())
    completed = subprocess.run(request, capture_output=True, text=True, timeout=400)
    assert completed.returncode == 0, completed.stdout + completed.stderr
    assert all((place / path).is_file() for path in SCORES)
    return [line for line in job_lines() if line not in before and "rule_score" in line]


def job_lines() -> list[str]:
    """All jobs of the cluster."""
    command = subprocess.run(["scontrol", "show", "job", "--oneliner"], capture_output=True, text=True)
    return [line for line in command.stdout.splitlines() if line.startswith("JobId=")]


def test_scoring_has_a_gpu_of_a_cluster_that_has_some(cluster, python, place):  # noqa: F811
    jobs = scoring_jobs(python, place)
    assert len(jobs) == 2
    assert all("gres:gpu:1" in job for job in jobs)


@pytest.mark.parametrize(
    "resources", [["score:gpu_model=made_up"], ["score:gres=gpu:made_up:1", "score:gpu=0"]]
)
def test_a_kind_of_gpu(cluster, python, place, resources):  # noqa: F811
    jobs = scoring_jobs(python, place, "--set-resources", *resources)
    assert len(jobs) == 2
    assert all("gres:gpu:made_up:1" in job for job in jobs)


def test_scoring_as_an_array(cluster, python, place):  # noqa: F811
    """Of jobs that can start at the same time: an array is what is ready at once."""
    study = ["--configfile", str(place / "asked.yaml")]
    snakemake("--until", "prompts", "quantize", *study, directory=place)
    jobs = scoring_jobs(python, place, "--slurm-array-jobs", "score")
    arrays = [re.search(r"ArrayJobId=(\d+)", job) for job in jobs]
    assert len(jobs) == 2
    assert len({result[1] for result in arrays if result}) == 1


def test_a_file_of_partitions(cluster, python, place):  # noqa: F811
    """Jobs go where their memory, time and GPUs are allowed."""
    limits = {"main": {"max_runtime": 5}, "large": {"max_runtime": 600, "max_gpu": 1}}
    (place / "partitions.yaml").write_text(yaml.safe_dump({"partitions": limits}))
    jobs = scoring_jobs(python, place, "--slurm-partition-config", str(place / "partitions.yaml"))
    assert len(jobs) == 2
    assert all("Partition=large" in job for job in jobs)
