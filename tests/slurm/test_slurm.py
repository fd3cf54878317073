"""A study on a real SLURM cluster of one node, and what it does with jobs that are cancelled."""

import os
import re
import shutil
import subprocess
import sys
import venv
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY, snakemake
from tests.same_results import differences
from tests.tiny import write_tiny_study

ONE_NODE = REPOSITORY / "tests" / "slurm" / "one_node.sh"
NEEDED = ("sbatch", "slurmctld", "slurmd", "munged")
LACKING = [name for name in NEEDED if not shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin")]

pytestmark = [
    pytest.mark.workflow,
    pytest.mark.slow,
    pytest.mark.skipif(bool(LACKING), reason=f"no {', '.join(LACKING)} here (apt install slurm-wlm munge)"),
    pytest.mark.skipif(os.geteuid() != 0, reason="a SLURM cluster is started as root only"),
]


def started(folder: Path, gpus: int = 0) -> Iterator[Path]:
    """A cluster of this machine, which is stopped afterwards."""
    environment = {**os.environ, "GPUS": str(gpus)}
    completed = subprocess.run([ONE_NODE, "start", folder], capture_output=True, text=True, env=environment)
    if completed.returncode:
        pytest.skip(f"no SLURM could be started: {completed.stderr.strip().splitlines()[-1]}")
    yield folder
    subprocess.run([ONE_NODE, "stop", folder], check=True)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A cluster of this machine; the folder has its logs."""
    yield from started(tmp_path_factory.mktemp("slurm"))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a study of a tiny model in two precisions."""
    folder = tmp_path_factory.mktemp("place")
    write_tiny_study(folder, "queued", precisions=("float32", "nf4"), tasks={"sums": "sums.jsonl"})
    return folder


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A Python that has the cluster's executor besides all packages of this one.

    In an environment of its own: where it is installed, each start of Snakemake asks the cluster.
    """
    folder = tmp_path_factory.mktemp("executor")
    venv.create(folder, with_pip=True, symlinks=True)
    (site,) = folder.glob("lib/python*/site-packages")
    (site / "pinned.pth").write_text("\n".join(path for path in sys.path if path.endswith("site-packages")))
    interpreter = str(folder / "bin" / "python")
    pins = REPOSITORY / "envs" / "requirements-slurm.txt"
    subprocess.run([interpreter, "-m", "pip", "install", "--quiet", "--requirement", str(pins)], check=True)
    return interpreter


def command(python: str, *arguments: str, directory: Path, config: str) -> list[str]:
    """The command that runs a study with the cluster's profile."""
    start = [python, "-m", "snakemake", "--snakefile", str(REPOSITORY / "Snakefile")]
    profile = ["--workflow-profile", str(REPOSITORY / "workflow" / "profiles" / "slurm")]
    # this cluster has no accounting; its jobs take a second
    options = ["--slurm-no-account", "--slurm-status-command", "squeue"]
    options += ["--slurm-init-seconds-before-status-checks", "2", "--seconds-between-status-checks", "1"]
    study = ["--directory", str(directory), "--configfile", str(directory / config)]
    return [*start, *arguments, *profile, *options, *study]


def queued(python: str, *arguments: str, directory: Path) -> str:
    """Run the study on the cluster; what Snakemake said."""
    request = command(python, *arguments, directory=directory, config="queued.yaml")
    completed = subprocess.run(request, capture_output=True, text=True, timeout=600)
    assert completed.returncode == 0, completed.stdout + completed.stderr
    return completed.stdout + completed.stderr


def test_a_study_on_a_cluster_has_the_results_of_one_on_this_machine(cluster, place, python, tmp_path):
    # with all that is long, and no more
    targets = ["results/queued/verdicts.csv", "results/queued/tables/heldout_by_prompts.csv"]
    output = queued(python, *targets, directory=place)
    (tmp_path / "here").mkdir()
    for name in ("tiny", "sums.jsonl", "differences.jsonl", "queued.yaml"):
        (tmp_path / "here" / name).symlink_to(place / name)
    snakemake(*targets, "--configfile", str(place / "queued.yaml"), directory=tmp_path / "here")
    assert not differences(tmp_path / "here" / "results" / "queued", place / "results" / "queued")
    text_shown = subprocess.run(
        ["scontrol", "show", "job", "--oneliner"], capture_output=True, text=True
    ).stdout
    comments = re.findall(r" Comment=rule_(\S+)", text_shown)
    rules = Counter(name.partition("_wildcards")[0] for name in comments)
    # what is long queues, what is short does not
    assert rules == {
        **{"score": 2, "weights": 1, "quantize": 1, "accuracy": 2},
        **{"randomization": 2, "selection": 2, "heldout": 2, "heldout_guessers": 2, "ladder": 2},
    }, output
    assert len(re.findall(r"JobState=COMPLETED", text_shown)) == len(comments)
