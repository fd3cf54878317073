"""The commands that begin a study."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from abovechance.study.installed import PLACES, workflow_folder
from abovechance.study.running import snakemake_command
from tests.running import run

TASK = "".join(
    f'{{"text": "{a} + 1 =", "choices": ["{a + 1}", "{a + 2}"], "answer": "{a + 1}"}}\n' for a in range(3)
)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "sums.jsonl").write_text(TASK)
    return tmp_path


def test_no_config_is_written_for_a_task_with_a_wrong_answer(place):
    (place / "sums.jsonl").write_text(TASK + '{"text": "3 + 1 =", "choices": ["4", "5"], "answer": "6"}\n')
    completed = run("init", "--task", "sums.jsonl", "--model", "org/model", folder=place)
    assert (completed.returncode, "sums.jsonl, row 4: field 'answer' is '6'" in completed.stderr) == (1, True)
    assert [path.name for path in place.iterdir()] == ["sums.jsonl"]


def test_no_config_is_written_for_a_task_with_too_few_demonstrations(place):
    completed = run("init", "--task", "sums.jsonl", "--model", "org/m", "--shots", "1,4", folder=place)
    message = "task 'sums': 4 shots need at least 5 distinct examples to draw demonstrations from"
    assert (completed.returncode, message in completed.stderr) == (1, True)
    assert [path.name for path in place.iterdir()] == ["sums.jsonl"]


def test_a_new_config_has_tasks_and_models_by_name_and_is_never_overwritten(place):
    arguments = ["init", "--task", "sums.jsonl", "--task", "emoji_movie", "--shots", "0,1", "--prompts", "7"]
    (place / "weights").mkdir()
    (place / "weights" / "mine.gguf").write_bytes(b"GGUF")
    models = ["--model", "org/name-1B", "--model", "weights/mine.gguf", "--precision", "float32"]
    completed = run(*arguments, *models, "--output", "my study.yaml", "--study", "mine", folder=place)
    assert (completed.stderr, completed.returncode) == ("", 0)
    assert completed.stdout == "my study.yaml: 2 tasks and 2 models. Next: abovechance run 'my study.yaml'\n"
    text = (place / "my study.yaml").read_text()
    assert yaml.safe_load(text) == {
        **{"study": "mine", "seed": 0, "shots": [0, 1], "prompts": 7, "max_examples": 200},
        "tasks": {"sums": "sums.jsonl", "emoji_movie": "bigbench"},
        "models": {
            "name-1B": {"hub": "org/name-1B", "revision": "main", "precision": "float32"},
            "mine": {"path": "weights/mine.gguf", "precision": "float32"},
        },
    }
    assert text.count("\n# ") >= 5
    repeated = run(*arguments, *models, "--output", "my study.yaml", folder=place)
    assert (repeated.returncode, repeated.stderr) == (
        1,
        "abovechance: error: my study.yaml: exists already; use --output with another name\n",
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--model", "org/model"], "--task is missing, and standard input is not a terminal to ask for it"),
        (["--task", "sums.jsonl"], "--model is missing, and standard input is not a terminal to ask for it"),
        (["--task", "none.jsonl", "--model", "org/model"], "key 'tasks.none': there is no file 'none.jsonl'"),
        (["--task", "emoji_film", "--model", "org/model"], "emoji_film"),
        (["--task", "sums.jsonl", "--task", "a/sums.csv", "--model", "org/model"], "two of the name 'sums'"),
        (
            ["--task", "sums.jsonl", "--model", "org/model", "--shots", "1-4"],
            "expected whole numbers with commas",
        ),
        (["--task", "sums.jsonl", "--model", "org/model", "--precision", "int8"], "int8"),
        (["--task", "sums.jsonl", "--model", "org/model", "--output", "a.txt"], "a.txt"),
    ],
)
def test_a_config_that_could_not_run_is_not_written(place, arguments, message):
    completed = run("init", *arguments, folder=place)
    assert completed.returncode == 1
    assert message in completed.stderr
    assert len(completed.stderr.splitlines()) == 1
    assert [path.name for path in place.iterdir()] == ["sums.jsonl"]


def test_a_folder_without_a_config_is_told_how_to_get_one(tmp_path):
    completed = run("run", folder=tmp_path)
    assert completed.returncode == 1
    assert completed.stderr == (
        "abovechance: error: there is no config.yaml in this folder; use `abovechance init` to write one\n"
    )
    assert "mine.yaml: there is no such file" in run("run", "mine.yaml", folder=tmp_path).stderr


@pytest.mark.checkout
def test_an_unknown_profile_is_an_error_that_lists_the_others(place):
    run("init", "--task", "sums.jsonl", "--model", "org/model", folder=place)
    completed = run("run", "--profile", "pbs", folder=place)
    assert (
        completed.stderr == "abovechance: error: there is no profile 'pbs'; expected one of default, slurm\n"
    )


def test_options_of_snakemake_follow_the_config():
    command = snakemake_command(workflow_folder(), Path("a b.yaml"), "--cores", "3")
    assert command[:4] == [sys.executable, "-m", "snakemake", "--snakefile"]
    assert command[-4:] == ["--configfile", "a b.yaml", "--cores", "3"]


@pytest.mark.workflow
def test_a_dry_run_lists_jobs_and_makes_nothing(place):
    run(
        "init",
        "--task",
        "sums.jsonl",
        "--model",
        "org/model",
        "--shots",
        "1",
        "--output",
        "s.yaml",
        folder=place,
    )
    command = [sys.executable, "-m", "abovechance", "run", "s.yaml", "--dry-run", "--cores", "2"]
    completed = subprocess.run(command, cwd=place, capture_output=True, text=True)
    assert completed.returncode == 0, completed.stderr
    assert "This was a dry-run" in completed.stdout + completed.stderr
    assert not (place / "results" / "s" / "report.html").exists()


@pytest.mark.checkout
def test_the_workflow_of_a_distribution_is_looked_for_first():
    assert [folder.name for folder in PLACES] == ["workflow", "workflow"]
    assert PLACES[0].parent.name == "abovechance"


def test_a_folder_that_cannot_be_written_is_told_before_snakemake_starts(place, monkeypatch):
    pytest.importorskip("snakemake", reason="needs Snakemake, with which a study is run")

    def refused(**_):
        raise OSError(30, "Read-only file system")

    (place / "mine.yaml").write_text("study: mine\n")
    monkeypatch.setattr("tempfile.TemporaryFile", refused)
    completed = run("run", "mine.yaml", "--dry-run", folder=place)
    assert (completed.returncode, completed.stderr) == (
        1,
        f"abovechance: error: {place}: cannot be written (Read-only file system); results are stored in the "
        "current folder\n",
    )
    # with --directory, the results are elsewhere
    commands = []
    monkeypatch.setattr("os.execv", lambda _, command: commands.append(command))
    for option in (["--directory", "x"], ["--directory=x"], ["-d", "x"]):
        assert run("run", "mine.yaml", "--", *option, folder=place).returncode == 0
    assert len(commands) == 3
