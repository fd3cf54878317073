"""The models of a study, compared on the same examples and prompts: its tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from abovechance.compare import many
from abovechance.compare.comparison import (
    INFERENCE,
    PAIR,
    SEED_COMPONENTS,
    MeanComparison,
    TaskComparison,
    TwoModelComparison,
    compare_models,
    inference,
    seed_components,
)
from abovechance.compare.responses import Responses, TooFewInCommon, arrange
from abovechance.core.columns import Column, optional
from abovechance.core.settings import Setting
from abovechance.core.tables import Tables, TableSchema, read_part, settings_of_parts

MEAN_OVER = "mean over"  # begins the name of a mean over tasks, in the place of a task's
ABOUT = {"about": Column.text("scope of the conclusion", lacking="for examples like these")}
_SHOTS = {"shots": Column.whole("number of demonstrations in a prompt")}
_TASK = {"task": Column.text("name of the task"), **_SHOTS}
ADJUSTED = {
    "holm": Column.tail("p-value adjusted for all tasks and numbers of shots (Holm)"),
    "bh": Column.tail("p-value adjusted for all tasks and numbers of shots (Benjamini and Hochberg)"),
}
FLIPS = Column.share(
    "share of bootstrap samples (of examples, prompts and seeds) in which the order of the pair is reversed"
)
MODELS = TableSchema(
    "models",
    {**_SHOTS, "tasks": Column.whole("number of tasks in the mean"), **many.RANKS, **ABOUT},
    "One row per number of shots and model. Scores are means over tasks.",
)
MODEL_RANKS = TableSchema("model_ranks", _TASK | many.RANKS, "One row per task, number of shots and model.")
MODEL_PAIRS = TableSchema(
    "model_pairs",
    _TASK | many.PAIRS | optional({"flips_prompts": FLIPS}) | ABOUT,
    "One row per task, number of shots and pair of models.",
)
TWO_MODELS = TableSchema(
    "two_models",
    _TASK
    | {
        "better": Column.text("the better model, or the first model of a tie"),
        "worse": Column.text("the worse model, or the second model of a tie"),
    }
    | INFERENCE
    | {"difference": Column.number("score of the better model minus score of the worse model")}
    | ADJUSTED
    | ABOUT
    | {name: PAIR[name] for name in ("detectable", "needed")}
    | {"conclusion": Column.text("the conclusion in words")},
    "This table has rows only if the study has two models: one per task and number of shots, and one per "
    "mean over tasks.",
)
NOT_COMPARED = TableSchema(
    "not_compared",
    _TASK | {"reason": Column.text("why models cannot be compared")},
    "One row per task and number of shots on which models cannot be compared. Means over tasks are without "
    "these.",
)
SEEDS = TableSchema(
    "seeds",
    _TASK | SEED_COMPONENTS,
    "One row per task, model and source of variance, at the last checkpoint. Only tasks of which the seeds "
    "of a model have at least two examples in common.",
)


class NotCompared(NamedTuple):
    """A task and number of shots on which models cannot be compared: a row of ``NOT_COMPARED``."""

    task: str
    shots: int
    reason: str


def responses_of_study(
    predictions: Iterable[Path],
    clusters: Mapping[str, pd.Series[int]],
    compared: Mapping[str, tuple[str, int]],
) -> Iterator[Responses | NotCompared]:
    """Yield the responses of a study's models, one task and number of shots at a time.

    Parameters
    ----------
    predictions
        The files of the table ``predictions``.
    clusters
        {task: by example, the same number for examples that belong together}.
    compared
        {model: the name it is compared under, its seed} (``study.series.compared_as``); models that are not
        in it are left out.
    """
    places: dict[tuple[str, int], list[tuple[Path, int]]] = {}
    for path in predictions:
        for number, setting in enumerate(settings_of_parts(path)):
            if setting.model in compared:
                places.setdefault((setting.task, setting.shots), []).append((path, number))
    for (task, shots), parts in places.items():
        rows = pd.concat([_scores(*part) for part in parts], ignore_index=True)
        try:
            yield from arrange(as_trainings(rows, compared), clusters)
        except TooFewInCommon as error:
            yield NotCompared(task, shots, str(error).removeprefix(f"{task}, {shots}-shot: "))


def _scores(path: Path, number: int) -> pd.DataFrame:
    columns = [*Setting._fields, "prompt", "example", "correct"]
    texts = {"model": str, "task": str, "prompt": str, "example": str, "correct": float}
    return read_part(path, number)[columns].astype(texts).rename(columns={"correct": "score"})


def of_study(responses: Iterable[Responses | NotCompared]) -> Tables:
    """Return a study's comparison: ``MODELS``, ``MODEL_RANKS``, ``MODEL_PAIRS``, ``TWO_MODELS`` and
    ``NOT_COMPARED``.
    """
    not_compared: list[NotCompared] = []

    def comparable() -> Iterator[Responses]:
        for of_task in responses:
            if isinstance(of_task, NotCompared):
                not_compared.append(of_task)
            else:
                yield of_task

    tasks, means = compare_models(comparable())
    overall: list[MeanComparison | TaskComparison] = [*means]
    alone = {mean.shots for mean in means}
    names = {model for task in tasks for model in task.models}
    # the mean over a single task is that task
    overall += [task for task in tasks if task.shots not in alone and len(task.models) == len(names)]
    overall.sort(key=lambda comparison: comparison.shots)
    models = [
        comparison.ranks.assign(
            shots=comparison.shots, tasks=_tasks_of(comparison), about=comparison.about or None
        )
        for comparison in overall
    ]
    return [
        (MODELS, MODELS.together(models)),
        (MODEL_RANKS, MODEL_RANKS.together(_named(task, task.ranks) for task in tasks)),
        (MODEL_PAIRS, _pairs(tasks)),
        (TWO_MODELS, two_models(tasks, means)),
        (NOT_COMPARED, pd.DataFrame(not_compared, columns=[*NOT_COMPARED.columns])),
    ]


def _tasks_of(comparison: MeanComparison | TaskComparison) -> int:
    return len(comparison.tasks) if isinstance(comparison, MeanComparison) else 1


def _named(task: TaskComparison, table: pd.DataFrame) -> pd.DataFrame:
    return table.assign(task=task.task, shots=task.shots)


def _pairs(tasks: Sequence[TaskComparison]) -> pd.DataFrame:
    needed = [name for name, column in MODEL_PAIRS.columns.items() if not column.optional]
    parts = [_named(task, task.pairs).assign(about=task.about or None) for task in tasks]
    table = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=needed)
    return table[[name for name in MODEL_PAIRS.columns if name in table]]


def two_models(tasks: Sequence[TaskComparison], means: Sequence[MeanComparison]) -> pd.DataFrame:
    """Return the table ``TWO_MODELS``; no rows unless there are two models."""
    rows: list[dict[str, object]] = []
    for mean in means:
        if mean.sentence:
            names = {"task": f"{MEAN_OVER} {len(mean.tasks)} tasks", "shots": mean.shots, "about": mean.about}
            names |= {"better": mean.models[0], "worse": mean.models[1], "conclusion": mean.sentence}
            rows.append({name: mean.pairs[name].iloc[0] for name in INFERENCE} | names)
    for task in tasks:
        if isinstance(task, TwoModelComparison):
            names = {"task": task.task, "shots": task.shots, "about": task.about}
            names |= {"better": task.models[0], "worse": task.models[1], "conclusion": task.sentence}
            numbers = inference(task.headline) | {"holm": task.holm, "bh": task.bh}
            numbers |= {name: task.comparison[name].iloc[0] for name in ("detectable", "needed")}
            rows.append(numbers | names)
    table = pd.DataFrame(rows, columns=[*TWO_MODELS.columns])
    return table.assign(about=table["about"].replace("", None))


def as_trainings(table: pd.DataFrame, compared: Mapping[str, tuple[str, int]]) -> pd.DataFrame:
    """The rows of models that are compared, under the names that they have there, with their ``seed``."""
    rows_of_trainings = table[table["model"].isin([*compared])]
    names = rows_of_trainings["model"].map({model: name for model, (name, _) in compared.items()})
    return rows_of_trainings.assign(
        seed=rows_of_trainings["model"].map({model: seed for model, (_, seed) in compared.items()}),
        model=names,
    )


def of_seeds(
    predictions: pd.DataFrame,
    trainings: Mapping[str, tuple[str, int]],
    clusters: Mapping[str, pd.Series[int]] | None = None,
) -> pd.DataFrame:
    """Return the variance components of single answers, or of clusters, of models with several seeds.

    Parameters
    ----------
    predictions
        The table ``predictions`` of models that are trainings.
    trainings
        {model: (its name, its seed)}.
    clusters
        {task: by example, the same number for examples that belong together}.

    Returns
    -------
    DataFrame
        The table ``SEEDS``.
    """
    rows = predictions.astype({"model": str}).rename(columns={"correct": "score"})
    # each model by itself: its seeds have the same prompts and examples, and others may have other ones
    parts = [
        seed_components(responses).assign(task=responses.task, shots=responses.shots)
        for _, rows_of_model in as_trainings(rows, trainings).groupby("model", sort=False)
        for responses in arrange(rows_of_model, clusters, least=1, left_out=[])
    ]
    return SEEDS.together(parts)
