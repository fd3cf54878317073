"""The line of progress: what it says of jobs done and time left, and that errors are still seen."""

import json
import os
import pty
import signal
import subprocess
import sys
import time
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

import pandas as pd
import pytest

from snakemake_logger_plugin_abovechance.remaining import START, Job, Run, in_words
from snakemake_logger_plugin_abovechance.work import Progress, ScoringJob


def scoring_log(path: Path, *cells: tuple[int, int], seconds: float = 1.0) -> Path:
    """The log of a job that has scored so many prompts of so many, for each number of shots."""
    lines = [
        f"model, a: task, {shots}-shot: {total} of 99 prompts to score"
        for shots, (_, total) in enumerate(cells)
    ]
    scored = [(shots, n, total) for shots, (number, total) in enumerate(cells) for n in range(1, number + 1)]
    lines += [f"model, a: task, {shots}-shot: {n} of {total} prompts scored" for shots, n, total in scored]
    began = datetime(2026, 1, 1)
    times = [began] * len(cells) + [began + timedelta(seconds=seconds * n) for n in range(len(scored))]
    stamped = [f"{time:%Y-%m-%d %H:%M:%S},000 {line}\n" for time, line in zip(times, lines, strict=True)]
    path.write_text("".join(stamped))
    return path


def scoring_job(
    folder: Path,
    model: str = "model",
    task: str = "a: task",
    demonstrations: str = "d" * 40,
    prompts: int = 10,
    weights: int = 1000,
) -> ScoringJob:
    """A job that scores prompts of ten examples: a text of 6 bytes, and two choices that share a space."""
    place = folder / task.replace(": ", "_")
    place.mkdir(exist_ok=True)
    examples = pd.DataFrame(
        {"text": [f"{n}äbcd" for n in range(10)], "null": "n", "choices": [["x", "y"]] * 10}
    )
    examples.to_parquet(place / "task.parquet", index=False)
    pd.DataFrame({"evaluated": [True] * 10}).to_parquet(place / "set.parquet", index=False)
    pd.DataFrame({"text": [demonstrations] * prompts}).to_parquet(place / "prompts.parquet", index=False)
    home = folder / model
    home.mkdir(exist_ok=True)
    (home / "model.safetensors").write_bytes(b"0" * weights)
    (home / "weights.json").write_text(json.dumps({"folder": str(home)}))
    return ScoringJob.from_record(
        {
            "rule": "score",
            "model": model,
            "task": task,
            "null": False,
            "judged": True,
            "normalization": "token",
            "task_table": str(place / "task.parquet"),
            "evaluation_set": str(place / "set.parquet"),
            "weights": str(home / "weights.json"),
            "scores": {0: str(folder / f"{model}-{task}-scores")},
            "prompts": {0: str(place / "prompts.parquet")},
        }
    )


def expecting(*jobs: ScoringJob) -> Run:
    """A run that has these jobs to do."""
    run = Run()
    run.expect(jobs)
    run.plan({"score": len(jobs), "total": len(jobs)})
    return run


def outputs(job: ScoringJob) -> list[str]:
    return [str(path) for path in job.scores.values()]


def test_prompts_are_counted_over_the_numbers_of_shots(tmp_path):
    progress = Progress.from_log(scoring_log(tmp_path / "log", (20, 20), (3, 20), (0, 8), seconds=2.0))
    assert sum(progress.scored.values()) == 23
    assert sum(progress.to_score.values()) == 48
    assert progress.seconds == 44
    assert Progress.from_log(tmp_path / "not yet") == Progress.from_log(None) == Progress({}, {})


def test_the_time_left_follows_from_the_text_that_is_left(tmp_path):
    """Ten examples of 6 + 1 + 2 bytes: with the demonstrations, a prompt has 130 bytes, or 530."""
    short, long = (
        scoring_job(tmp_path, task=f"{letter}: task", demonstrations="d" * length)
        for letter, length in (("a", 40), ("b", 440))
    )
    assert short.bytes_per_prompt() == {"model, a: task, 0-shot": 130}
    run = expecting(short, long)
    log = scoring_log(tmp_path / "log", (4, 10), seconds=7.0)  # 130 bytes in 7 seconds
    run.start(1, Job("score", 0, log), outputs(short))
    assert run.seconds_left(60) == pytest.approx(6 * 7 + START + 10 * 530 * 7 / 130)
    assert run.line(60) == "scoring, 4 of 20 prompts, about 5 min 40 s left, 1:00 so far"


def test_a_model_of_twice_the_size_takes_twice_as_long(tmp_path):
    small, large = (
        scoring_job(tmp_path, model, weights=size) for model, size in (("model", 10), ("large", 20))
    )
    run = expecting(small, large)
    run.start(1, Job("score", 0, scoring_log(tmp_path / "log", (10, 10), seconds=3.0)), outputs(small))
    run.end(1, 35)
    # 35 s with 9 prompts of 3 s after the first: a job takes 8 s before that
    assert run.seconds_left(35) == pytest.approx(8 + 10 * 6)


def test_two_jobs_side_by_side_last_as_long_as_the_rest_of_both(tmp_path):
    jobs = [scoring_job(tmp_path, task=f"{letter}: task") for letter in "abcd"]
    run = expecting(*jobs)
    for number, job in enumerate(jobs[:2]):
        log = scoring_log(tmp_path / str(number), (5, 10), seconds=4.0)
        log.write_text(log.read_text().replace("a: task", job.task))
        run.start(number, Job("score", 0, log), outputs(job))
    assert run.seconds_left(30) == pytest.approx((2 * 5 * 4 + 2 * (START + 10 * 4)) / 2)


def test_the_longest_job_cannot_be_shared(tmp_path):
    job = scoring_job(tmp_path)
    run = expecting(job)
    run.plan({"task": 2, "score": 1})
    for number in (1, 2):
        run.start(number, Job("task", 0))
    for number in (1, 2):
        run.end(number, 10)
    run.start(3, Job("score", 10, scoring_log(tmp_path / "3", (2, 10), seconds=9.0)), outputs(job))
    assert run.seconds_left(20) == pytest.approx(8 * 9)


def test_nothing_is_claimed_before_a_speed_is_known(tmp_path):
    job = scoring_job(tmp_path)
    run = expecting(job)
    run.plan({"task": 1, "score": 1, "report": 1})
    run.start(1, Job("task", 0))
    assert run.line(1) == "preparing tasks, 0 of 3 jobs done, 0:01 so far"
    run.end(1, 2)
    run.start(2, Job("score", 2, scoring_log(tmp_path / "1", (1, 10))), outputs(job))
    assert run.seconds_left(50) is None
    assert run.line(50) == "scoring, 1 of 10 prompts, 0:50 so far"
    assert Run().line(0) == "reading the study"


def test_prompts_that_an_earlier_run_scored_are_counted_and_take_no_time(tmp_path):
    finished, half = (scoring_job(tmp_path, task=f"{letter}: task") for letter in "ba")
    Path(outputs(finished)[0]).touch()
    run = expecting(finished, half)
    run.plan({"score": 1})
    run.start(1, Job("score", 0, scoring_log(tmp_path / "log", (2, 4), seconds=5.0)), outputs(half))
    assert run.prompts_scored() == (10 + 6 + 2, 20)
    assert run.seconds_left(20) == pytest.approx(2 * 5)


def test_prompts_that_are_drawn_later_are_as_long_as_the_others(tmp_path):
    job, later = (scoring_job(tmp_path, task=f"{letter}: task") for letter in "ab")
    later.prompts[0].unlink()
    run = expecting(job, later)
    run.start(1, Job("score", 0, scoring_log(tmp_path / "log", (5, 10), seconds=2.0)), outputs(job))
    assert run.seconds_left(20) == pytest.approx(5 * 2 + START + 10 * 2)


def test_a_run_without_scoring_goes_by_its_jobs():
    run = Run()
    run.plan({"task": 2, "report": 1})
    run.start(1, Job("task", 0))
    run.end(1, 5)
    run.start(2, Job("task", 5))
    assert run.line(6) == "preparing tasks, 1 of 3 jobs done, about 9 s left, 0:06 so far"


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
        (94, "1 min 30 s"),
        (594, "9 min 50 s"),
        (596, "10 min"),
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
    assert ("analysing, 1 of 3 jobs done" in output) == terminal
    assert (
        "Nothing to be done: all that this command makes is there"
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


def test_the_plugin_leaves_the_choice_of_the_library_to_the_snakefile():
    """Snakemake imports all plugins first; a copy of the workflow has a library of its own."""
    code = "import snakemake_logger_plugin_abovechance, sys; print('abovechance' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"
