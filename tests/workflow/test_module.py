"""The workflow as a module of another one, in a folder of its own, and what the workflow catalog asks for."""

import fcntl
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest
import yaml

from abovechance.results.imported import IMPORTED, as_imported
from tests.conftest import REPOSITORY
from tests.results.test_likelihoods import predictions

pytestmark = pytest.mark.workflow

ONE = """
configfile: "config/config.yaml"


module abovechance:
    snakefile:
        "{snakefile}"
    config:
        config["abovechance"]


use rule * from abovechance as abovechance_*


rule summary:
    default_target: True
    input:
        rules.abovechance_all.input,
    output:
        "summary.txt",
    shell:
        "head -n 1 results/mine/verdicts.csv > {{output}}"
"""
TWO = """
module first:
    snakefile:
        "{snakefile}"
    config:
        {first}
    prefix:
        "one"


module second:
    snakefile:
        "{snakefile}"
    config:
        {second}
    prefix:
        "two"


use rule * from first as first_*
use rule * from second as second_*


rule both:
    default_target: True
    input:
        rules.first_all.input,
        rules.second_all.input,
"""


def snakemake(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "snakemake", "--cores", "2", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


@pytest.fixture
def other_workflow(tmp_path: Path) -> Path:
    """The folder of another workflow, with imported results and a config of its own."""
    for name in ("workflow", "config", "data"):
        (tmp_path / name).mkdir()
    IMPORTED.write(as_imported(predictions(0, 5)), tmp_path / "data" / "imported.parquet", {})
    study = {"abovechance": {"study": "mine", "predictions": "data/imported.parquet"}}
    (tmp_path / "config" / "config.yaml").write_text(yaml.safe_dump(study))
    return tmp_path


@pytest.mark.slow
def test_another_workflow_runs_a_study_as_a_module(other_workflow):
    snakefile = REPOSITORY / "workflow" / "Snakefile"
    (other_workflow / "workflow" / "Snakefile").write_text(ONE.format(snakefile=snakefile))
    completed = snakemake(other_workflow)
    assert completed.returncode == 0, completed.stdout + completed.stderr
    assert (other_workflow / "summary.txt").read_text().startswith("model,task,shots,")
    assert (other_workflow / "results" / "mine" / "report.html").stat().st_size
    repeated = snakemake(other_workflow)
    assert "Nothing to be done" in repeated.stdout + repeated.stderr


def test_a_deployed_workflow_begins_with_the_config_of_this_one(tmp_path):
    """The folder that snakedeploy makes: a copy of config/, and a module with all of its rules."""
    shutil.copytree(REPOSITORY / "config", tmp_path / "config")
    (tmp_path / "workflow").mkdir()
    snakefile = REPOSITORY / "workflow" / "Snakefile"
    (tmp_path / "workflow" / "Snakefile").write_text(
        f'configfile: "config/config.yaml"\nmodule main:\n    snakefile:\n        "{snakefile}"\n'
        "    config:\n        config\nuse rule * from main\n"
    )
    completed = snakemake(tmp_path, "--dry-run")
    assert completed.returncode == 0, completed.stdout + completed.stderr
    assert "results/default/report.html" in completed.stdout


def test_two_studies_are_two_modules_with_prefixes(other_workflow):
    first = {"study": "mine", "predictions": str(other_workflow / "data" / "imported.parquet")}
    scored = yaml.safe_load((REPOSITORY / "config.yaml").read_text()) | {"study": "other"}
    text = TWO.format(snakefile=REPOSITORY / "workflow" / "Snakefile", first=first, second=scored)
    (other_workflow / "workflow" / "Snakefile").write_text(text)
    completed = snakemake(other_workflow, "--dry-run")
    assert completed.returncode == 0, completed.stdout + completed.stderr
    assert "one/results/mine/report.html" in completed.stdout
    assert "two/results/other/report.html" in completed.stdout


def test_a_mistake_in_a_modules_config_is_one_line(other_workflow):
    (other_workflow / "config" / "config.yaml").write_text(
        "abovechance: {study: mine, predictions: nowhere.parquet}"
    )
    snakefile = REPOSITORY / "workflow" / "Snakefile"
    (other_workflow / "workflow" / "Snakefile").write_text(ONE.format(snakefile=snakefile))
    completed = snakemake(other_workflow)
    assert completed.returncode != 0
    assert "key 'predictions': there is no 'nowhere.parquet'" in completed.stdout + completed.stderr
    assert "Traceback" not in completed.stdout + completed.stderr


@pytest.mark.slow
def test_the_small_study_of_the_workflows_conventions_runs_to_its_report(tmp_path):
    shutil.copytree(
        REPOSITORY / ".test", tmp_path / ".test", ignore=shutil.ignore_patterns("results", ".snakemake")
    )
    command = [sys.executable, "-m", "snakemake", "--directory", str(tmp_path / ".test"), "--cores", "2"]
    subprocess.run(command, cwd=REPOSITORY, check=True, capture_output=True)
    assert (tmp_path / ".test" / "results" / "test" / "report.html").is_file()


@pytest.mark.slow
def test_the_wait_for_a_gpu_is_not_counted_as_time_of_the_job(tmp_path, monkeypatch):
    """A driver that tells of a GPU, which another program has until the job has waited for ten seconds.

    torch says that it was built for GPUs, and cannot use this one.
    """
    driver, waiting, seconds = tmp_path / "nvidia-smi", tmp_path / "waiting", 10
    driver.write_text(
        "#!/bin/sh\ncase $1 in --list-gpus) echo 'GPU 0: one';; "
        f"*) touch {waiting}; echo '0, GPU-a, 16384';; esac"
    )
    driver.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    (tmp_path / "sitecustomize.py").write_text(
        "import torch.backends.cuda\ntorch.backends.cuda.is_built = lambda: True"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    shutil.copy2(REPOSITORY / ".test" / "config.yaml", tmp_path)
    command = [
        sys.executable,
        "-m",
        "snakemake",
        "--directory",
        str(tmp_path),
        "--cores",
        "1",
        "--until",
        "score",
    ]
    with (tmp_path / "abovechance-GPU-a.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with subprocess.Popen(command, cwd=REPOSITORY, stderr=subprocess.DEVNULL) as run:
            while not waiting.exists() and run.poll() is None:
                time.sleep(0.1)
            time.sleep(seconds)
            fcntl.flock(lock, fcntl.LOCK_UN)
    assert run.returncode == 0
    (ledger, *_), (benchmark, *_), (log, *_) = (
        sorted((tmp_path / "results" / "test").glob(pattern), key=lambda path: path.stat().st_mtime)
        for pattern in ("cost/ledgers/*/*.jsonl", "benchmarks/score/*/*.tsv", "logs/score/*/*.log")
    )
    counted = pd.read_json(ledger, lines=True)
    assert "the installed torch cannot use this machine's GPU" in log.read_text()
    assert (counted["accelerators"] == 0).all()
    assert counted["seconds"].sum() + seconds <= pd.read_csv(benchmark, sep="\t").loc[0, "s"]


def test_the_small_study_of_the_workflows_conventions_is_a_valid_one(tmp_path):
    shutil.copy2(REPOSITORY / ".test" / "config.yaml", tmp_path)
    command = [sys.executable, "-m", "snakemake", "--directory", str(tmp_path), "--cores", "2", "--dry-run"]
    completed = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True)
    assert completed.returncode == 0, completed.stderr
    assert "train" in completed.stdout


def test_what_the_workflow_catalog_asks_for_is_there():
    output = yaml.safe_load((REPOSITORY / ".snakemake-workflow-catalog.yml").read_text())
    assert output["usage"]["software-stack-deployment"] == {"conda": False}
    for name in ("workflow/Snakefile", "config/README.md", "LICENSE", "README.md"):
        assert (REPOSITORY / name).is_file()


def test_results_without_snakemakes_record_are_not_mixed_with_those_of_another_config(tmp_path):
    """As after copying ``results`` without the hidden folder beside it."""
    shutil.copy2(REPOSITORY / ".test" / "config.yaml", tmp_path)
    (tmp_path / "results" / "test").mkdir(parents=True)
    (tmp_path / "results" / "test" / "config.yaml").write_text("study: test\nprompts: 7\n")
    command = [sys.executable, "-m", "snakemake", "--directory", str(tmp_path), "--cores", "2", "--dry-run"]
    completed = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True)
    assert completed.returncode == 1
    assert "results/test/config.yaml: is of another config" in completed.stderr
    assert "Traceback" not in completed.stderr
    completed = subprocess.run([*command, "--forceall"], cwd=REPOSITORY, capture_output=True, text=True)
    assert completed.returncode == 0, completed.stderr
