"""The extension of inspect: stops an evaluation when its question is decided, and adds verdicts to logs.

    @task
    def sums():
        return stop_when_decided(Task(dataset=..., solver=..., scorer=choice()), prompts=20)

inspect imports this module by the entry point ``inspect_ai``, and so registers the hook. To turn the hook
off, set the environment variable ``ABOVECHANCE_HOOK`` to ``off``.
"""

from __future__ import annotations

import os
from contextvars import ContextVar
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from inspect_ai import Task, task_with
from inspect_ai.dataset import Sample
from inspect_ai.hooks import Hooks, TaskEnd, hooks
from inspect_ai.log import (
    EvalLog,
    EvalSpec,
    MetadataEdit,
    ProvenanceData,
    edit_eval_log,
    read_eval_log_async,
    write_eval_log_async,
)
from inspect_ai.scorer import SampleScore
from inspect_ai.util import EarlyStop, EarlyStopping

from abovechance.chance.random_baseline import RandomBaseline
from abovechance.core.errors import InputError
from abovechance.core.estimates import ALPHA
from abovechance.extensions.in_order import OrderedEvaluation
from abovechance.extensions.verdicts import verdict_of
from abovechance.importers.contract import Options, UnsupportedMetric, examined
from abovechance.importers.inspect_ai import chance_of, credit, runs_of

NAME = "abovechance"
SWITCH = "ABOVECHANCE_HOOK"


@dataclass
class _State:
    """The evaluation of a run, and why no more results are used."""

    evaluation: OrderedEvaluation
    problem: str | None = None


class StopWhenDecided(EarlyStopping):
    """Stop a task when it is decided whether its accuracy on all samples will be better than chance.

    The question is whether the accuracy on all samples of the run exceeds ``baseline``. The probability of a
    wrong decision is at most ``alpha``. This requires samples in random order, so the dataset must be
    shuffled. ``stop_when_decided`` shuffles it.

    Parameters
    ----------
    baseline
        Accuracy from 0 to 1. By default, the largest accuracy that is not significantly better than chance
        for the best of ``prompts`` guessers. The default requires samples with choices.
    prompts
        Number of prompts tried, for the default baseline.
    alpha
        Significance level of the default baseline, and the largest probability of a wrong decision.
    scorer
        Name of the scorer that decides. By default, the only one.
    """

    def __init__(
        self,
        baseline: float | None = None,
        prompts: int = 1,
        alpha: float = ALPHA,
        scorer: str | None = None,
    ) -> None:
        self._baseline, self._prompts, self._alpha, self._scorer = baseline, prompts, alpha, scorer
        # of each run: runs of several models, or a repeated one, share this object
        self._state: ContextVar[_State] = ContextVar(NAME)

    async def start_task(self, task: EvalSpec, samples: list[Sample], epochs: int) -> str:
        """Begin with the samples of a run.

        Raises
        ------
        InputError
            If the dataset is not shuffled, if there are several epochs, if the baseline is unknown, or if no
            result could exceed it.
        """
        if epochs != 1:
            raise InputError(f"{task.task}: has {epochs} epochs; early stopping requires one")
        if not task.dataset.shuffled:
            raise InputError(
                f"{task.task}: its dataset is not shuffled, so the first samples may differ from the rest; "
                "use stop_when_decided(task), or shuffle the dataset"
            )
        baseline = self._largest_chance(task, samples) if self._baseline is None else self._baseline
        evaluation = OrderedEvaluation([str(sample.id) for sample in samples], baseline, self._alpha)
        if evaluation.decision is not None:
            raise InputError(
                f"{task.task}: no accuracy on {len(samples)} samples can exceed {baseline:.4f}; use more "
                "samples, fewer prompts or another baseline"
            )
        self._state.set(_State(evaluation))
        return NAME

    def _largest_chance(self, task: EvalSpec, samples: list[Sample]) -> float:
        """Return the largest accuracy that is not significantly better than chance."""
        chances = [
            chance_of({"choices": sample.choices, "target": sample.target}, task.task) for sample in samples
        ]
        if not all(chance <= 1 for chance in chances):  # nan if unknown
            raise InputError(f"{task.task}: has samples without choices, so set the baseline")
        return (int(RandomBaseline(chances).critical(self._alpha, self._prompts)) - 1) / len(samples)

    async def schedule_sample(self, id: str | int, epoch: int) -> EarlyStop | None:
        """Stop the sample if the question is decided."""
        decision = self._state.get().evaluation.decision
        return EarlyStop(id=id, epoch=epoch, reason=f"decided: {decision}") if decision else None

    async def complete_sample(
        self,
        id: str | int,
        epoch: int,  # noqa: ARG002
        scores: dict[str, SampleScore],
    ) -> None:
        """Take the score of a sample; without a usable score, nothing is stopped any more."""
        state = self._state.get()
        if state.problem is not None:
            return
        try:
            state.evaluation.record(str(id), self._is_correct(scores, f"sample {id}"))
        except InputError as error:
            state.problem = str(error)

    def _is_correct(self, scores: dict[str, SampleScore], place: str) -> bool:
        if self._scorer is None and len(scores) != 1:
            raise InputError(f"{place}: has the scorers {', '.join(scores) or 'none'}; set the scorer")
        name = self._scorer or next(iter(scores))
        if name not in scores:
            raise InputError(f"{place}: has no scorer '{name}'; it has {', '.join(scores)}")
        value = credit(scores[name].score.value, name, place)
        if value is None:
            raise InputError(f"{place}: {name} has no value")
        return value == 1

    async def complete_task(self) -> dict[str, Any]:
        """Return the decision and what it is based on."""
        evaluation, problem = self._state.get().evaluation, self._state.get().problem
        if problem is None and evaluation.missing is not None:
            problem = f"sample {evaluation.missing} has no score, so later samples were not used"
        baseline = f"{evaluation.baseline:.4f}"
        return {
            "decision": f"accuracy on all samples {evaluation.decision or 'above or not above'} {baseline}",
            "problem": problem,
            "baseline": evaluation.baseline,
            "alpha": evaluation.alpha,
            "used_samples": evaluation.used,
            "accuracy_of_used_samples": evaluation.accuracy,
        }


def stop_when_decided(task: Task, seed: int = 0, **options: Any) -> Task:
    """Return a task with a shuffled dataset that stops when its question is decided.

    Parameters
    ----------
    seed
        Seed of the order of the samples.
    options
        See ``StopWhenDecided``.
    """
    task.dataset.shuffle(seed)
    return task_with(task, early_stopping=StopWhenDecided(**options))


@hooks(name=NAME, description="adds the verdict on chance and an interval to the log")
class Verdict(Hooks):
    """Adds the verdict on each scorer's accuracy to the metadata of a log, and prints it in one line."""

    def enabled(self) -> bool:
        """Return whether the hook is on."""
        return os.environ.get(SWITCH, "on").lower() not in ("off", "0", "no", "false")

    async def on_task_end(self, data: TaskEnd) -> None:
        """Write verdicts into the log of a task that ended well."""
        log = data.log
        if log.status != "success":
            return
        if log.samples is None or not log.location:
            log = await read_eval_log_async(log.location)
        try:
            verdicts = verdicts_of(log)
        except InputError as error:
            print(f"{NAME}: {log.eval.task}: no verdict: {error}")
            return
        for name, verdict in verdicts.items():
            print(f"{NAME}: {log.eval.task}, {name}: {verdict['sentence']}")
            for note in verdict["notes"]:
                print(f"{NAME}: note: {note}")
        if verdicts:
            edit = MetadataEdit(metadata_set={NAME: verdicts})
            provenance = ProvenanceData(author=f"{NAME} {version(NAME)}", reason="verdict on chance")
            await write_eval_log_async(edit_eval_log(log, [edit], provenance), log.location)


def verdicts_of(log: EvalLog) -> dict[str, dict[str, Any]]:
    """Return a verdict for each scorer of a log whose values are correct or incorrect.

    Returns
    -------
    dict
        By scorer: see ``verdict_of``.
    """
    content = log.model_dump(mode="json")
    path = Path(log.location or log.eval.task)
    try:
        runs = [
            examined(run)
            for run in runs_of(content, content["samples"] or [], path, Options(command="doctor", epoch=1))
        ]
    except UnsupportedMetric:
        return {}
    stopping = log.results.early_stopping if log.results else None
    stop = None
    if stopping and stopping.early_stops:
        decision = stopping.metadata.get("decision", "")
        stop = f"stopped early by {stopping.manager} ({decision})" if decision else "stopped early"
    return {run.metric: verdict_of(run, stop=stop) for run in runs if len(run.rows)}
