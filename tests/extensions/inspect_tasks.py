"""Runs inspect with the extension and prints what its logs contain: python inspect_tasks.py FOLDER"""

import json
import sys
from pathlib import Path

from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.hooks._hooks import get_all_hooks
from inspect_ai.log import read_eval_log
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import Score, choice, exact, includes, mean, scorer
from inspect_ai.solver import solver

from abovechance.extensions.inspect_ai import StopWhenDecided, stop_when_decided


@solver
def marks(correct_of_ten):
    """Answer a share of the samples correctly."""

    async def solve(state, generate):
        gold = "ABCD".index(state.target.text)
        place = gold if int(state.sample_id) * 7 % 10 < correct_of_ten else (gold + 1) % 4
        for position in range(4):
            state.choices.mark_choice(position, position == place)
        state.output = ModelOutput.from_content("mock", f"ANSWER: {'ABCD'[place]}")
        return state

    return solve


@solver
def text():
    """Answer every second sample correctly; inspect's mock model needs a network to count tokens."""

    async def solve(state, generate):
        state.output = ModelOutput.from_content(
            "mock", state.target.text if int(state.sample_id) % 2 else "x"
        )
        return state

    return solve


def questions(correct_of_ten=7, **options):
    """A multiple-choice task."""
    samples = [
        Sample(
            id=number,
            input=f"What is number {number}?",
            choices=["a", "b", "c", "d"],
            target="ABCD"[number * number % 7 % 4],
        )
        for number in range(200)
    ]
    options = {"solver": marks(correct_of_ten)} | options
    return Task(MemoryDataset(samples), scorer=choice(), name="questions", **options)


def texts():
    """A task with two scorers and without choices."""
    samples = [Sample(id=number, input=f"Say {number}", target=str(number)) for number in range(30)]
    return Task(MemoryDataset(samples), solver=text(), scorer=[includes(), exact()], name="texts")


@scorer(metrics=[mean()])
def length():
    """Score the number of characters, which is neither correct nor wrong."""

    async def score(state, target):
        return Score(value=len(state.output.completion))

    return score


@solver
def fails_first():
    """The first sample fails."""

    async def solve(state, generate):
        if state.sample_id == 0:
            raise ValueError("failed")
        return state

    return solve


def two_scorers():
    """A task with a scorer of numbers."""
    task = questions()
    task.scorer = [*task.scorer, length()]
    return task


TASKS = {
    "good": lambda: questions(),
    "shifted": lambda: questions(0),
    "texts": texts,
    "stopped": lambda: stop_when_decided(questions(), prompts=20),
    "stopped below": lambda: stop_when_decided(questions(1), seed=1),
    "with baseline": lambda: stop_when_decided(questions(), baseline=0.69, seed=2),
    "not shuffled": lambda: questions(early_stopping=StopWhenDecided()),
    "epochs": lambda: stop_when_decided(questions(epochs=2)),
    "no choices": lambda: stop_when_decided(texts()),
    "two scorers": lambda: stop_when_decided(texts(), baseline=0.5),
    "numbers": two_scorers,
    "failure": lambda: stop_when_decided(questions(solver=[fails_first(), marks(7)]), baseline=0.69, seed=2),
    "too few": lambda: stop_when_decided(questions(), prompts=10**12, alpha=1e-200),
    "one of two scorers": lambda: stop_when_decided(texts(), baseline=0.1, scorer="includes"),
}


def contents(name, models=("mockllm/model",)):
    """Return the contents of the log of a task by the last model."""
    *_, log = eval(
        TASKS[name](),
        model=[*models],
        log_dir=sys.argv[1],
        display="plain",
        log_format="eval",
        fail_on_error=name != "failure",
    )
    log = read_eval_log(log.location)
    stopping = log.results.early_stopping if log.results else None
    return {
        "file": log.location,
        "status": log.status,
        "error": log.error.message if log.error else None,
        "samples": len(log.samples or []),
        "metadata": log.metadata.get("abovechance"),
        "stopping": stopping.metadata if stopping else None,
        "author": log.log_updates[0].provenance.author if log.log_updates else None,
    }


if __name__ == "__main__":
    report = {name: contents(name) for name in TASKS}
    report["two models"] = contents("stopped", ("mockllm/a", "mockllm/b"))
    report["hooks"] = [type(hook).__name__ for hook in get_all_hooks()]
    Path(sys.argv[1], "report.json").write_text(json.dumps(report))
