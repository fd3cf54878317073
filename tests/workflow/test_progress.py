"""The line of progress: what it says of jobs done and time left, and that errors are still seen."""

import os
import pty
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from snakemake_logger_plugin_abovechance.remaining import Job, Run, in_words


def scoring_log(path: Path, *cells: tuple[int, int]) -> Path:
    """The log of a job that has scored so many prompts of so many, for each number of shots."""
    lines = [
        f"model, a: task, {shots}-shot: {total} of 99 prompts to score"
        for shots, (_, total) in enumerate(cells)
    ]
    for shots, (completed, total) in enumerate(cells):
        lines += [
            f"model, a: task, {shots}-shot: {n} of {total} prompts scored" for n in range(1, completed + 1)
        ]
    path.write_text("".join(f"2026-01-01 00:00:{n:02d},000 {line}\n" for n, line in enumerate(lines)))
    return path


def test_prompts_are_counted_over_the_numbers_of_shots(tmp_path):
    assert Job("score", 0, scoring_log(tmp_path / "log", (20, 20), (3, 20), (0, 8))).prompts == (23, 48)
    assert Job("score", 0, tmp_path / "not yet").prompts == (0, 0)
    assert Job("task", 0).prompts == (0, 0)


def test_two_jobs_side_by_side_last_as_long_as_the_rest_of_both(tmp_path):
    """Two of four scoring jobs run for 100 s: one has a third of its prompts, one a half."""
    run = Run()
    run.plan({"score": 4, "total": 4})
    run.start(1, Job("score", 0, scoring_log(tmp_path / "1", (4, 12))))
    run.start(2, Job("score", 0, scoring_log(tmp_path / "2", (6, 12))))
    # 300 s and 200 s in all, so 250 s for each of the others
    assert run.seconds_left(100) == pytest.approx((200 + 100 + 2 * 250) / 2)
    assert run.line(100) == "0 of 4 jobs done, about 7 min left, 1:40 so far, scoring, 10 of 24 prompts"


def test_the_longest_job_cannot_be_shared(tmp_path):
    run = Run()
    run.plan({"task": 2, "score": 1})
    for number in (1, 2):
        run.start(number, Job("task", 0))
    for number in (1, 2):
        run.end(number, 10)
    run.start(3, Job("score", 10, scoring_log(tmp_path / "3", (1, 10))))
    assert run.seconds_left(20) == pytest.approx(90)


def test_nothing_is_said_of_what_nothing_tells(tmp_path):
    run = Run()
    run.plan({"score": 2, "report": 1})
    run.start(1, Job("score", 0, scoring_log(tmp_path / "1", (0, 10))))
    assert run.seconds_left(50) is None
    assert "left" not in run.line(50)


def test_a_job_that_failed_is_not_done():
    run = Run()
    run.plan({"task": 2})
    run.start(1, Job("task", 0))
    run.end(1, 5, succeeded=False)
    assert (run.jobs_done, run.seconds_left(6)) == (0, None)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 s"),
        (59.4, "59 s"),
        (59.6, "1 min"),
        (3569, "59 min"),
        (3571, "1 h 0 min"),
        (90_000, "25 h 0 min"),
    ],
)
def test_times_in_words(seconds, words):
    assert in_words(seconds) == words


SNAKEFILE = """
rule all:
    input: "b"

rule first:
    output: "a"
    shell: "touch {output}"

rule second:
    input: "a"
    output: "b"
    shell: "%s"
"""


def run_snakemake(folder: Path, command: str, terminal: bool) -> tuple[int, str]:
    (folder / "Snakefile").write_text(SNAKEFILE % command)
    call = [sys.executable, "-m", "snakemake", "--cores", "1", "--logger", "abovechance"]
    if not terminal:
        completed = subprocess.run(call, cwd=folder, capture_output=True, text=True)
        return completed.returncode, completed.stderr
    ours, theirs = pty.openpty()
    with subprocess.Popen(call, cwd=folder, stdout=theirs, stderr=theirs, stdin=theirs) as process:
        os.close(theirs)
        output = b""
        try:
            while piece := os.read(ours, 4096):
                output += piece
        except OSError:  # the other end is closed
            pass
    os.close(ours)
    return process.returncode, output.decode()


@pytest.mark.thorough
@pytest.mark.parametrize("terminal", [False, True])
def test_a_run_shows_one_line(tmp_path, terminal):
    status, output = run_snakemake(tmp_path, "sleep 2; touch {output}", terminal)
    assert status == 0
    assert "3 of 3 jobs done" in output
    assert "Finished jobid" not in output
    assert "localrule" not in output
    assert ("so far, second" in output) == terminal
    assert (
        "Nothing to be done: all of the study is there"
        in run_snakemake(tmp_path, "sleep 2; touch {output}", False)[1]
    )


@pytest.mark.thorough
def test_what_is_interrupted_ends_in_one_line(tmp_path):
    (tmp_path / "Snakefile").write_text(SNAKEFILE % "sleep 60; touch {output}")
    call = [sys.executable, "-m", "snakemake", "--cores", "1", "--logger", "abovechance"]
    with subprocess.Popen(
        call,
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # a shell has its background jobs ignore interrupts, and so all that they start
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    ) as process:
        while not (tmp_path / "a").exists():
            time.sleep(0.1)
        time.sleep(1)
        os.killpg(process.pid, signal.SIGINT)
        output = process.communicate()[1]
    assert process.returncode != 0
    assert "Interrupted; the same command goes on from here." in output
    assert "Traceback" not in output
    assert "Error" not in output


def test_errors_are_shown(tmp_path):
    status, output = run_snakemake(tmp_path, "false", terminal=False)
    assert status != 0
    assert "Error in rule second" in output
    assert "1 of 3 jobs done" in output


@pytest.mark.thorough
def test_a_folder_that_is_in_use_is_told_in_one_line(tmp_path):
    (tmp_path / "Snakefile").write_text(SNAKEFILE % "sleep 60; touch {output}")
    call = [sys.executable, "-m", "snakemake", "--cores", "1"]
    with subprocess.Popen(call, cwd=tmp_path, stderr=subprocess.DEVNULL, start_new_session=True) as first:
        try:
            while not (tmp_path / "a").exists():
                time.sleep(0.1)
            second = subprocess.run(
                [*call, "--logger", "abovechance"], cwd=tmp_path, capture_output=True, text=True
            )
        finally:
            os.killpg(first.pid, signal.SIGKILL)
    assert second.returncode != 0
    (line,) = [line for line in second.stderr.splitlines() if "error" in line.lower()]
    assert line.startswith(f"abovechance: error: another run works in {tmp_path}, or one was killed there")
    assert "make unlock" in line
