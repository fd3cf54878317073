"""Responses of models, arranged by the same examples and prompts so that they can be compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from abovechance.compare.two_models import are_shares
from abovechance.core.arrays import Floats, Ints
from abovechance.core.errors import InputError
from abovechance.core.resampling import cluster_sums, clusters_of_names
from abovechance.core.words import counted, joined, natural_key

ALL_PROMPTS = "all prompts"  # of a model whose prompts are others than another's
TRAININGS, PROMPTS = "training runs", "prompts"


@dataclass(frozen=True)
class Responses:
    """The scores of several models on one task with one number of shots.

    Attributes
    ----------
    task, shots
        The task and the number of shots.
    models
        (models,) names.
    prompts
        (prompts,) names of the prompts that all models have. If models have different prompts, there is one
        name, and scores are means over prompts.
    examples
        (examples,) ids of those that all models have.
    scores
        (models, prompts, examples) scores, as means over the seeds of a model. If a prompt is not evaluated
        on an example, the score is missing for all models.
    seeds
        For each model (seeds, prompts, examples) the same of each training seed.
    clusters
        (examples,) the same number for examples that belong together.
    notes
        Notes for readers.
    repeats
        The meaning of the first dimension of ``seeds``: trainings, or prompts if each model has its own.
    prompts_averaged
        Whether scores are means over prompts that differ between models.
    seed_names
        For each model (seeds,) names; numbers unless given.
    """

    task: str
    shots: int
    models: list[str]
    prompts: list[str]
    examples: list[str]
    scores: Floats
    seeds: list[Floats]
    clusters: Ints
    notes: list[str]
    repeats: str = TRAININGS
    prompts_averaged: bool = False
    seed_names: list[list[str]] = field(default_factory=list)

    @property
    def has_clusters(self) -> bool:
        """Whether there are clusters of more than one example."""
        return len(np.unique(self.clusters)) < len(self.clusters)

    @property
    def by_example(self) -> Floats:
        """(models, examples) means over prompts."""
        return np.nanmean(self.scores, axis=1)

    @property
    def means(self) -> Floats:
        """(models,) mean scores, of which comparisons take the difference.

        A prompt's mean counts alike, whichever examples it is evaluated on; with several seeds, an example's.
        """
        if self.several_seeds:
            return self.by_example.mean(axis=1)
        return np.nanmean(self.scores, axis=2).mean(axis=1)

    @property
    def by_seed(self) -> list[Floats]:
        """(seeds, examples) means over prompts, one array per model."""
        return [np.nanmean(scores, axis=1) for scores in self.seeds]

    @property
    def reversed(self) -> Responses:
        """The same with the models in the other order."""
        names = ("models", "scores", "seeds", "seed_names")
        return replace(self, **{name: getattr(self, name)[::-1] for name in names})

    @property
    def several_seeds(self) -> bool:
        """Whether a model has several trainings, or several prompts of its own."""
        return any(len(scores) > 1 for scores in self.seeds)

    @property
    def are_shares(self) -> bool:
        """Whether all scores are in [0, 1]."""
        return are_shares(self.scores)

    def by_unit(self, scores: Floats) -> tuple[str, Floats, Floats]:
        """Return what is independent ("examples" or "clusters"), (..., units) means, and (units,) sizes.

        Parameters
        ----------
        scores
            (..., examples) numbers. Only the examples on which none is missing count.
        """
        complete = np.isfinite(scores).all(axis=tuple(range(scores.ndim - 1)))
        if not self.has_clusters:
            return "examples", scores[..., complete], np.ones(complete.sum())
        sums, sizes = cluster_sums(scores[..., complete], self.clusters[complete])
        return "clusters", sums / sizes, sizes


class TooFewInCommon(InputError):
    """Models cannot be compared on a task, because they have fewer than two examples in common."""


def arrange(
    table: pd.DataFrame,
    clusters: Mapping[str, pd.Series[int]] | None = None,
    least: int = 2,
    left_out: list[TooFewInCommon] | None = None,
) -> Iterator[Responses]:
    """Yield the responses of each task and number of shots that several models have.

    Parameters
    ----------
    table
        ``model``, ``task``, ``shots``, ``prompt``, ``example`` and ``score``, a row for each; and where
        models were trained several times, ``seed``.
    clusters
        {task: by example, the same number for those that belong together}, where that is known.
    least
        Smallest number of models that can be compared.
    left_out
        If it is given, errors of tasks of which models have too few examples in common are added to it.

    Raises
    ------
    TooFewInCommon
        If models of one task have fewer than two examples in common.
    InputError
        If an example stands twice.
    """
    for (task, shots), rows in table.groupby(["task", "shots"], sort=False, observed=True):
        if rows["model"].nunique() >= least:
            try:
                yield _arranged(str(task), int(str(shots)), rows, (clusters or {}).get(str(task)))
            except TooFewInCommon as error:
                if left_out is None:
                    raise
                left_out.append(error)


def _arranged(task: str, shots: int, rows: pd.DataFrame, clusters: pd.Series[int] | None) -> Responses:
    name = f"{task}, {shots}-shot"
    rows = rows.astype({"model": str, "prompt": str, "example": str, "score": float})
    rows = rows if "seed" in rows else rows.assign(seed=0)
    if (twice := rows.duplicated(["model", "seed", "prompt", "example"])).any():
        row = rows[twice].iloc[0]
        raise InputError(
            f"{name}: example '{row['example']}' occurs twice for '{row['model']}'; expected one row "
            "(are several variants of the task, such as subsets, under one name?)"
        )
    models, total = list(dict.fromkeys(rows["model"])), rows["example"].nunique()
    rows, notes, repeats = _same_prompts(rows, models, name)
    wide = rows.pivot_table(index=["model", "seed", "prompt"], columns="example", values="score", sort=False)
    complete = wide.notna().groupby(level=["model", "seed"]).any().all(axis=0)
    # in one order, so that tasks with the same examples are drawn alike (``comparison.sample_of``)
    examples = sorted(str(example) for example in wide.columns[complete])
    if len(examples) == total < 2:
        raise TooFewInCommon(f"{name}: {' and '.join(models)} have one example; expected at least two")
    if len(examples) < 2:
        raise TooFewInCommon(
            f"{name}: {' and '.join(models)} have {len(examples)} of {total} examples in common; expected "
            "results on the same examples, with the same ids" + "".join(f"; {note}" for note in notes)
        )
    if len(examples) < total:
        notes.append(
            f"{name}: models are compared on the {len(examples)} of {total} examples that all of them have"
        )
    prompts = sorted(dict.fromkeys(rows["prompt"]), key=natural_key)
    seed_names = [_seeds(wide.loc[model]) for model in models]
    seeds = [
        _of_seeds(wide.loc[model, examples], names, prompts)
        for model, names in zip(models, seed_names, strict=True)
    ]
    scores = np.stack([scores_of_model.mean(axis=0) for scores_of_model in seeds])
    cluster_codes: Ints = np.arange(len(examples), dtype=np.int64)
    if clusters is not None:
        cluster_codes = clusters_of_names(examples, clusters)
    return Responses(
        task=task,
        shots=shots,
        models=models,
        prompts=prompts,
        examples=examples,
        scores=scores,
        seeds=seeds,
        clusters=cluster_codes,
        notes=notes,
        repeats=repeats,
        prompts_averaged=prompts == [ALL_PROMPTS] and repeats == TRAININGS,
        seed_names=[list(map(str, names)) for names in seed_names],
    )


def _seeds(wide: pd.DataFrame) -> list[Any]:
    """Return the seeds of one model, in the same order for all tasks."""
    return sorted({*wide.index.get_level_values("seed")}, key=lambda seed: natural_key(str(seed)))


def _of_seeds(wide: pd.DataFrame, seeds: list[Any], prompts: list[str]) -> Floats:
    """(seeds, prompts, examples) of one model."""
    ordered = wide.reindex(pd.MultiIndex.from_product([seeds, prompts]))
    return ordered.to_numpy().reshape(len(seeds), len(prompts), -1)


def _same_prompts(rows: pd.DataFrame, models: list[str], name: str) -> tuple[pd.DataFrame, list[str], str]:
    """The rows of prompts and examples that all models have, notes, and what is repeated for each model.

    If each model has its own prompts, these take the place of trainings, because both are drawn for each
    model by itself. If there are also several trainings, or prompts are evaluated on different examples, the
    mean over prompts is taken.
    """
    prompts = {str(model): set(of_model) for model, of_model in rows.groupby("model")["prompt"]}
    shared = set.intersection(*prompts.values())
    numbers = ", ".join(f"{model} {len(prompts[model])}" for model in models)
    notes = []
    if shared and any(of_model != shared for of_model in prompts.values()):
        notes = [f"{name}: compared on the {counted(len(shared), 'prompt')} that all models have ({numbers})"]
        rows = rows[rows["prompt"].isin(shared)]
    elif not shared:
        several = max(map(len, prompts.values())) > 1
        evaluated = rows.groupby(["model", "prompt"])["example"].nunique()
        if several and rows["seed"].nunique() == 1 and (evaluated == rows["example"].nunique()).all():
            situation = "each model has its own prompts"
            if len(set.union(*prompts.values())) < sum(map(len, prompts.values())):
                situation = (
                    "no prompt is common to all models, so they are compared as if each had its own prompts"
                )
            notes = [f"{name}: {situation} ({numbers})"]
            return rows.assign(seed=rows["prompt"], prompt=ALL_PROMPTS), notes, PROMPTS
        notes = [f"{name}: models have different prompts ({numbers})"]
        if several:
            notes[0] += (
                "; an example's score is its mean over its prompts, so prompts on more examples count more"
            )
        grouped = rows.groupby(["model", "seed", "example"], sort=False)["score"]
        return grouped.mean().reset_index().assign(prompt=ALL_PROMPTS), notes, TRAININGS
    # what a prompt lacks for one model or seed, it lacks for all
    had_by = rows.groupby(["prompt", "example"])["score"].transform("size")
    is_common = had_by == len(rows[["model", "seed"]].drop_duplicates())
    common_rows = rows[is_common]
    notes += _of_gaps(common_rows, rows[~is_common], name)
    evaluated = common_rows.groupby("prompt")["example"].nunique()
    if evaluated.nunique() > 1:
        notes.append(
            f"{name}: prompts are evaluated on different numbers of examples ({evaluated.min()} to "
            f"{evaluated.max()}). An example's score is its mean over its prompts. For comparisons over "
            "prompts, a prompt's score is its mean over its examples"
        )
    return common_rows, notes, TRAININGS


def _of_gaps(common_rows: pd.DataFrame, gaps: pd.DataFrame, name: str) -> list[str]:
    """Return notes about prompts and answers that are left out, because a model or seed lacks them.

    An example that is left out for all prompts has a note of its own.
    """
    notes = []
    without_example = gaps[~gaps["prompt"].isin(common_rows["prompt"])]["prompt"]
    if lost := sorted({*without_example}, key=natural_key):
        notes.append(
            f"{name}: prompts without an example that all models and seeds have are left out: {joined(lost)}"
        )
    rest = gaps["prompt"].isin(common_rows["prompt"]) & gaps["example"].isin(common_rows["example"])
    if answers := int(rest.sum()):
        notes.append(
            f"{name}: {counted(answers, 'answer')} left out, because a model or seed has none to the same "
            "example with the same prompt"
        )
    return notes
