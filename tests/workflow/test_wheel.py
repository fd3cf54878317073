"""The wheel: the library with the workflow inside, without a checkout."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pandas as pd
import pytest

from abovechance.archive.contents import code
from abovechance.archive.rerun import archived_code
from abovechance.cli.options import EXAMPLES
from tests.conftest import REPOSITORY
from tests.tiny import write_tiny_study

pytestmark = pytest.mark.workflow


@pytest.fixture(scope="module")
def source(tmp_path_factory) -> Path:
    """The source distribution of the tracked files, so that nothing that a build left here gets into it."""
    folder = tmp_path_factory.mktemp("source")
    files = subprocess.run(
        ["git", "-C", str(REPOSITORY), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True,
        check=True,
    ).stdout.split(b"\0")
    for name in filter(None, map(os.fsdecode, files)):
        if (REPOSITORY / name).is_file():
            target = folder / "tracked" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes((REPOSITORY / name).read_bytes())
    build = [sys.executable, "-c", f"from setuptools.build_meta import *; build_sdist({str(folder)!r})"]
    completed = subprocess.run(build, cwd=folder / "tracked", capture_output=True, text=True)
    assert completed.returncode == 0, completed.stderr
    (built,) = folder.glob("abovechance-*.tar.gz")
    return built


@pytest.fixture(scope="module")
def wheel(source, tmp_path_factory) -> Path:
    """The wheel that is built from the source distribution."""
    folder = tmp_path_factory.mktemp("wheel")
    build = ["pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(source)]
    completed = subprocess.run([sys.executable, "-m", *build], cwd=folder, capture_output=True, text=True)
    assert completed.returncode == 0, completed.stderr
    (built,) = folder.glob("abovechance-*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory) -> dict[str, str]:
    """The environment of a process that has the wheel in place of the checkout."""
    target = tmp_path_factory.mktemp("installed")
    install = ["pip", "install", "--quiet", "--no-deps", "--target", str(target), str(wheel)]
    subprocess.run([sys.executable, "-m", *install], check=True, capture_output=True)
    return {**os.environ, "PYTHONPATH": str(target)}


def test_the_source_distribution_has_no_tests_and_no_results(source):
    with tarfile.open(source) as archive:
        names = {file.name.partition("/")[2] for file in archive if file.isfile()}
    assert {"LICENSE", "README.md", "CITATION.cff", "CHANGELOG.md", "workflow/Snakefile"} <= names
    outside = ("tests", "results", "docs", ".")
    assert [name for name in names if name.startswith(outside)] == ["results/README.md"]
    assert not [name for name in names if "__pycache__" in name]
    assert source.stat().st_size < 1_000_000


def test_it_has_the_workflow_and_no_tests_and_is_small(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = {*archive.namelist()}
    inside = {*(REPOSITORY / "workflow" / "rules").rglob("*.smk")}
    inside |= {*(REPOSITORY / "workflow" / "scripts").glob("*.py")}
    inside |= {*(REPOSITORY / "workflow" / "report").glob("*.rst")}
    inside |= {*(REPOSITORY / "workflow" / "studies").glob("*")}
    inside |= {
        REPOSITORY / "workflow" / "schemas" / "config.schema.yaml",
        REPOSITORY / "workflow" / "Snakefile",
    }
    assert {f"abovechance/{path.relative_to(REPOSITORY)}" for path in inside} <= names
    assert {f"abovechance/cli/examples/{name}" for name in EXAMPLES.values()} <= names
    assert {"abovechance/envs/requirements.txt", "abovechance/shown/report.html.jinja"} <= names
    assert not [name for name in names if "tests" in name or "egg-info" in name or name.startswith("results")]
    assert wheel.stat().st_size < 1_000_000


def test_a_study_is_planned_with_the_workflow_of_the_wheel(installed, tmp_path):
    config = write_tiny_study(tmp_path, "small", shots=[1], tasks={"sums": "sums.jsonl"}, max_examples=8)
    command = [sys.executable, "-m", "abovechance", "run", config.name, "--dry-run"]
    planned = subprocess.run(command, cwd=tmp_path, env=installed, capture_output=True, text=True)
    assert planned.returncode == 0, planned.stderr
    assert re.search(r"^verdicts +1$", planned.stdout, re.M)
    assert_workflow_is_installed(tmp_path, installed)


def assert_workflow_is_installed(folder, environment):
    used = [sys.executable, "-c", "from abovechance.study.installed import *; print(workflow_folder())"]
    path = subprocess.run(used, cwd=folder, env=environment, capture_output=True, text=True).stdout.strip()
    assert path == str(Path(environment["PYTHONPATH"]) / "abovechance" / "workflow")


@pytest.mark.slow
def test_a_study_runs_from_the_wheel_to_its_report_and_a_second_run_does_nothing(installed, tmp_path):
    config = write_tiny_study(tmp_path, "small", shots=[1], tasks={"sums": "sums.jsonl"}, max_examples=8)
    command = [sys.executable, "-m", "abovechance", "run", config.name, "--cores", "2"]
    completed = subprocess.run(command, cwd=tmp_path, env=installed, capture_output=True, text=True)
    assert completed.returncode == 0, completed.stderr
    assert (tmp_path / "results" / "small" / "report.html").is_file()
    verdicts = pd.read_csv(tmp_path / "results" / "small" / "verdicts.csv")
    assert "Better than chance?" in completed.stderr
    for _, row in verdicts.iterrows():
        assert (
            f"{row['model']}, {row['task']}, {row['shots']}-shot: {row['best_accuracy']:.1%} vs "
            f"{row['maximum_baseline']:.1%}, p = "
        ) in completed.stderr
    second = subprocess.run(command, cwd=tmp_path, env=installed, capture_output=True, text=True)
    assert "Nothing to be done" in second.stdout + second.stderr
    check_archive(tmp_path, command, installed)


def check_archive(folder, command, environment):
    """Its archive has the workflow and the library as one of a checkout has them, and can be run again."""
    command = [*command, "--", "archive"]
    archiving = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert archiving.returncode == 0, archiving.stderr
    path = folder / "results" / "small" / "archive" / "small.zip"
    with zipfile.ZipFile(path) as archive:
        names = {name for name in archive.namelist() if name.startswith("code/")}
    assert {"code/results/README.md", "code/envs/requirements.txt", "code/LICENSE"} <= names
    of_checkout = {name for name in code(REPOSITORY) if name.startswith("code/workflow/")}
    assert {name for name in names if name.startswith("code/workflow/")} == of_checkout
    rerun = [sys.executable, "-m", "abovechance", "rerun", str(path), "--into", str(folder / "again")]
    completed = subprocess.run(rerun, cwd=folder, env=environment, capture_output=True, text=True)
    assert completed.returncode == 0, completed.stderr
    assert "The archived workflow and its library are identical" in completed.stderr
    assert archived_code(path).different == []  # a checkout has more files beside the workflow


@pytest.mark.slow
def test_commands_on_results_need_neither_torch_nor_snakemake(wheel, tmp_path):
    """In an environment of its own with the wheel alone, as `pip install abovechance` makes it."""
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "venv")], check=True)
    programs = tmp_path / "venv" / "bin"
    subprocess.run([programs / "python", "-m", "pip", "install", "--quiet", str(wheel)], check=True)
    listed = [programs / "python", "-m", "pip", "list", "--format=freeze"]
    packages = subprocess.run(listed, capture_output=True, text=True, check=True).stdout.lower()
    assert "abovechance==" in packages
    assert not [name for name in ("torch", "transformers", "snakemake") if f"{name}==" in packages]
    folder = tmp_path / "empty"
    folder.mkdir()
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [str(programs / "abovechance"), *arguments]
        return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)

    commands = [[name, "--example"] for name in EXAMPLES]
    commands += [
        ["baseline", "-n", "100", "-c", "2", "-t", "200", "--accuracy", "0.62"],
        ["plan", "-n", "100", "-c", "4", "-t", "20", "--figure", "plan.png"],
        ["power", "-n", "100", "-c", "2", "-t", "20", "--accuracy", "0.7"],
        ["init", "--task", "emoji_movie", "--model", "org/model", "--output", "mine.yaml"],
    ]
    for command in commands:
        completed = run(*command)
        assert completed.returncode == 0, (command, completed.stderr)
        assert completed.stdout
    assert (folder / "plan.png").is_file()
    refused = run("run", "mine.yaml")
    assert refused.returncode == 1
    assert "Snakemake is not installed; install the extra" in refused.stderr
    assert run("verify", "nothing.zip").returncode == 1
