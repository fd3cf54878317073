"""The models of a study, compared on the same examples and prompts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple
from zlib import crc32

import numpy as np
import pandas as pd

from abovechance.chance.multiplicity import adjusted
from abovechance.compare import many
from abovechance.compare.components import variance_components
from abovechance.compare.prompts import TRUSTED_PROMPTS
from abovechance.compare.responses import ONE, TRAININGS, Responses, arrange
from abovechance.core.columns import Column
from abovechance.core.estimates import CONFIDENCE
from abovechance.core.tables import TableSchema, setting_columns

ANSWERS = TableSchema(
    "answers",
    {
        **setting_columns(many=True),
        "example": Column.category("id of the example"),
        "prompts": Column.whole("number of prompts that are evaluated on the example"),
        "correct": Column.share("share of these prompts with a correct prediction"),
    },
    "One row per setting and example.",
    file="answers/<model>.parquet",
)


_TASK = {"task": Column.text("name of the task"), "shots": Column.whole("demonstrations of a prompt")}
MODELS = TableSchema(
    "models",
    {
        "shots": Column.whole("demonstrations of a prompt"),
        "tasks": Column.whole("number of tasks that all models have"),
        **many.RANKS,
    },
    "One row per number of shots and model, for the mean over tasks.",
)
MODEL_RANKS = TableSchema("model_ranks", _TASK | many.RANKS, "One row per task, number of shots and model.")
MODEL_PAIRS = TableSchema(
    "model_pairs", _TASK | many.PAIRS, "One row per task, number of shots and pair of models."
)
SEED_COMPONENTS = {
    "model": Column.text("name of the model"),
    "seeds": Column.whole("number of training seeds"),
    "prompts": Column.whole("number of prompts"),
    "examples": Column.whole("number of examples that all prompts are evaluated on"),
    "of": Column.text("source of the variance: seeds, prompts, examples, or their interaction"),
    "variance": Column.number("variance component of a single answer; a little below 0 if there is none"),
    "share": Column.share("share of the sum of components"),
    "deviation": Column.number("standard deviation this source adds to the mean of all answers"),
}
SEEDS = TableSchema(
    "seeds",
    _TASK | SEED_COMPONENTS,
    "One row per task, model and source of variance, at the last checkpoint.",
)


def answers(predictions: pd.DataFrame) -> pd.DataFrame:
    """The table ``answers`` of one setting, without its columns.

    Parameters
    ----------
    predictions
        The rows of the setting in the table ``predictions``.

    Returns
    -------
    DataFrame
        The columns of ``ANSWERS``, without those of the setting.
    """
    own = predictions.astype({"example": str, "correct": float})
    grouped = own.groupby("example", sort=False)["correct"]
    return grouped.agg(prompts="size", correct="mean").reset_index()


class Compared(NamedTuple):
    """What a study says of its models.

    Attributes
    ----------
    overall
        ``shots``, ``tasks`` and the columns of ``many.ranks``, of the mean over the tasks that all models
        have.
    ranks, pairs
        ``task``, ``shots`` and the columns of ``many.ranks`` and ``many.pairs``.
    """

    overall: pd.DataFrame
    ranks: pd.DataFrame
    pairs: pd.DataFrame


def of_study(
    table: pd.DataFrame,
    clusters: Mapping[str, pd.Series[int]] | None = None,
    compared: Mapping[str, tuple[str, int]] | None = None,
) -> Compared:
    """Which models of a study differ, task by task and over all tasks.

    Parameters
    ----------
    table
        The table ``answers`` of all models.
    clusters
        {task: by example, the same number for those that belong together}, where that is known.
    compared
        {model: what it is compared as, and its seed} (``study.series.compared_as``); others are left out.
        Without it, each model is compared as itself.
    """
    rows = table.rename(columns={"correct": "score"}).assign(prompt=ONE).astype({"model": str})
    if compared is not None:
        rows = as_trainings(rows, compared)
    ranks, pairs = [], []
    tasks = [(found, draws_of(found)) for found in arrange(rows, clusters)]
    for found, drawn in tasks:
        ranks.append(many.ranks(drawn, found.models).assign(task=found.task, shots=found.shots))
        pairs.append(many.pairs(drawn, found.models).assign(task=found.task, shots=found.shots))
    overall = [over.ranks.assign(shots=over.shots, tasks=len(over.tasks)) for over in over_tasks(tasks)]
    return Compared(
        MODELS.together(overall),
        MODEL_RANKS.together(ranks),
        with_tasks_adjusted(MODEL_PAIRS.together(pairs)),
    )


def draws_of(found: Responses) -> many.Sample:
    """The draws of one task: tasks with the same examples, such as formulations, are drawn alike."""
    of_examples = crc32("\n".join(found.examples).encode())
    if generalizes(found) == LIKE_THESE:
        return many.prompted(found.scores, found.clusters, examples=of_examples)
    return many.trained(found.by_seed, found.clusters, examples=of_examples)


LIKE_THESE = "for prompts and examples like these"


def generalizes(found: Responses) -> str:
    """What inferences on a task hold for, as far as results allow; empty if that is examples like these."""
    prompts = len(found.prompts)
    if found.several_seeds:
        only = f" {prompts}" * (prompts > 1) if prompts > 1 or found.prompts_averaged else None
        under = "" if only is None else f", under these{only} prompts only"
        return f"for {found.repeats} and examples like these{under}"
    if prompts >= TRUSTED_PROMPTS:
        return LIKE_THESE
    if prompts > 1 or found.prompts_averaged:
        return f"for these {prompts} prompts only" if prompts > 1 else "for these prompts only"
    return ""


class OverTasks(NamedTuple):
    """``many.ranks`` and ``many.pairs`` of the mean over tasks, each counted alike; what they hold for."""

    shots: int
    tasks: list[str]
    ranks: pd.DataFrame
    pairs: pd.DataFrame
    about: str


def over_tasks(
    tasks: Sequence[tuple[Responses, many.Sample]], confidence: float = CONFIDENCE
) -> Iterator[OverTasks]:
    """Compare models by their means over the tasks that all of them have, for each number of shots.

    Parameters
    ----------
    tasks
        The responses of each task and number of shots, with their draws.
    confidence
        Of intervals.
    """
    names = list(dict.fromkeys(model for found, _ in tasks for model in found.models))
    for shots in sorted({found.shots for found, _ in tasks}):
        shared = [
            (found, drawn)
            for found, drawn in tasks
            if found.shots == shots and len(found.models) == len(names)
        ]
        if shared:
            drawn = many.together(
                [own.reordered([found.models.index(name) for name in names]) for found, own in shared]
            )
            ranks, pairs = many.ranks(drawn, names, confidence), many.pairs(drawn, names, confidence)
            abouts = list(dict.fromkeys(generalizes(found) for found, _ in shared))
            about = abouts[0] if len(abouts) == 1 else "for these prompts only"
            yield OverTasks(shots, [found.task for found, _ in shared], ranks, pairs, about)


def with_tasks_adjusted(pairs: pd.DataFrame) -> pd.DataFrame:
    """Pairs of models on several tasks, ``holm`` and ``bh`` adjusted for all pairs on all tasks."""
    return pairs.assign(holm=adjusted(pairs["p"], "holm"), bh=adjusted(pairs["p"], "bh"))


def as_trainings(table: pd.DataFrame, compared: Mapping[str, tuple[str, int]]) -> pd.DataFrame:
    """The rows of models that are compared, under the names that they have there, with their ``seed``."""
    own = table[table["model"].isin([*compared])]
    names = own["model"].map({model: name for model, (name, _) in compared.items()})
    return own.assign(
        seed=own["model"].map({model: seed for model, (_, seed) in compared.items()}), model=names
    )


def of_seeds(predictions: pd.DataFrame, trainings: Mapping[str, tuple[str, int]]) -> pd.DataFrame:
    """Where single answers of models with several seeds vary.

    Parameters
    ----------
    predictions
        The table ``predictions`` of models that are trainings.
    trainings
        {model: (its name, its seed)}.

    Returns
    -------
    DataFrame
        The table ``SEEDS``.
    """
    rows = predictions.astype({"model": str}).rename(columns={"correct": "score"})
    # each model by itself: its seeds have the same prompts and examples, and others may have other ones
    parts = [
        seed_components(found).assign(task=found.task, shots=found.shots)
        for _, own in as_trainings(rows, trainings).groupby("model", sort=False)
        for found in arrange(own, least=1)
    ]
    return SEEDS.together(parts)


def seed_components(found: Responses) -> pd.DataFrame:
    """Where single answers vary of each model with several seeds; see ``components.variance_components``.

    Returns
    -------
    DataFrame
        The columns of ``SEED_COMPONENTS``; no rows for models with one seed, and where fewer than two
        examples are evaluated under all prompts.
    """
    parts = []
    for model, scores in zip(found.models, found.seeds, strict=True):
        complete = scores[:, :, np.isfinite(scores).all(axis=(0, 1))]
        seeds, prompts, examples = complete.shape
        if seeds > 1 and examples > 1:
            repeated = "seeds" if found.repeats == TRAININGS else "prompts"
            factors = [repeated, "prompts", "examples"]
            if prompts == 1:
                complete, factors = complete[:, 0], [repeated, "examples"]
            counts = {"model": model, "seeds": seeds, "prompts": prompts, "examples": examples}
            parts.append(variance_components(complete, factors).assign(**counts))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=[*SEED_COMPONENTS])
