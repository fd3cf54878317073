"""All that is said of the examples of one task, for the workflow and the command line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from abovechance.core.arrays import Floats, Ints
from abovechance.core.columns import Column
from abovechance.core.resampling import clusters_of_names
from abovechance.core.tables import TableSchema
from abovechance.items import model_fit, response_theory, smaller
from abovechance.items.features import ASSOCIATIONS, associations
from abovechance.items.matrices import LISTED, SHORT, Matrix, in_short, items_of
from abovechance.items.removal import PRUNED, pruning_in_parts
from abovechance.items.replays import REPLAYS, replays
from abovechance.items.series_rows import SeriesRows
from abovechance.items.splits import FOLDS, at_random, by_group, by_score

MOST_MISSING = 0.2  # of rows, that lack an item which may be taken away; and of these items, in a row
PARAMETERS = {
    "a": Column.number("discrimination parameter of the two-parameter logistic model"),
    "a_error": Column.number("standard error of a"),
    "b": Column.number("difficulty parameter of the two-parameter logistic model"),
    "b_error": Column.number("standard error of b"),
    "rmsd": Column.number(
        "root mean squared difference between the observed shares of correct responses and the "
        "probabilities on the item's characteristic curve"
    ),
    "rmsd_95": Column.number("95 % quantile of rmsd for responses simulated from the fitted model"),
}
LEAST_ROWS, LEAST_ITEMS = 10, 10  # for splits
RANDOM, BEST, NEW = "random rows", "best rows", "new models"

_FILE = "items/{0}/<task>.parquet"
_FILE_AND_TABLE = f"{_FILE}, tables/{{0}}"
_TASK = {"task": Column.text("name of the task")}
_SPLIT = {"split": Column.text("the held-out rows: random rows, the best rows, or all rows of new models")}
ITEM_TASKS = TableSchema("item_tasks", _TASK | SHORT, "One row per task.", _FILE.format("item_tasks"))
ITEMS = TableSchema(
    "item_list", LISTED | PARAMETERS, "One row per item.", _FILE_AND_TABLE.format("item_list")
)
ITEM_ASSOCIATIONS = TableSchema(
    "item_associations",
    _TASK | ASSOCIATIONS,
    "One row per feature of a task's examples.",
    _FILE_AND_TABLE.format("item_associations"),
)
ITEM_FIT = TableSchema(
    "item_fit",
    _TASK | model_fit.HELD_OUT_FIT,
    "One row per task and statistical model of the responses.",
    _FILE_AND_TABLE.format("item_fit"),
)
ITEM_PRUNING = TableSchema(
    "item_pruning",
    _TASK | _SPLIT | PRUNED,
    "One row per split and number of items removed. For new models, the values are means over several "
    "splits.",
    _FILE.format("item_pruning"),
)
SMALLER = TableSchema(
    "smaller_benchmarks",
    _TASK | _SPLIT | smaller.COSTS,
    "One row per split, method and number of examples.",
    _FILE.format("smaller_benchmarks"),
)
ADAPTIVE = TableSchema(
    "adaptive",
    _TASK | REPLAYS,
    "One row per combination of a decision and a method for choosing examples.",
    _FILE.format("adaptive"),
)
TABLES = (ITEM_TASKS, ITEMS, ITEM_ASSOCIATIONS, ITEM_FIT, ITEM_PRUNING, SMALLER, ADAPTIVE)


@dataclass(frozen=True)
class Study:
    """Facts about a study, besides its responses.

    Attributes
    ----------
    groups
        {model: the training that it is a checkpoint of}, or itself.
    series
        {model: its ``name``, ``seed`` and ``checkpoint``} of those that are of a series.
    examples
        The numbers of examples that smaller benchmarks keep.
    repeats
        Number of times that they are chosen.
    replays
        Number of prompts of each setting that are evaluated adaptively.
    seed
        Random seed of everything that is drawn.
    """

    groups: Mapping[str, str]
    series: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    examples: tuple[int, ...] = smaller.SIZES
    repeats: int = smaller.REPEATS
    replays: int = 5
    seed: int = 0


class Part(NamedTuple):
    """A split: its name, responses to fit to, those that are held out, what these rows are, and of which
    models."""

    name: str
    train: Floats
    test: Floats
    rows: SeriesRows
    models: list[str]


def analyse(
    matrix: Matrix, chance: Mapping[str, float], features: pd.DataFrame, study: Study
) -> dict[str, pd.DataFrame]:
    """Return the tables of one task.

    Parameters
    ----------
    matrix
        Responses of 0 and 1.
    chance
        {example: chance of a lucky guess}.
    features
        The task's rows of ``example_features``; empty if nothing is known.

    Returns
    -------
    dict
        The tables of ``TABLES``, of which those of splits have no rows where there are too few rows or items.
    """
    listed = items_of(matrix, features, study.seed)
    with_clusters = listed
    if "cluster" in features:
        names = features["example"].astype(str)
        clusters = dict(zip(names, features["cluster"], strict=True))
        with_clusters = listed.assign(cluster=clusters_of_names(listed["example"], clusters))
    parts = [*_each_split(matrix, study)]
    tables = [
        pd.DataFrame([in_short(matrix, listed)]),
        _with_parameters(matrix, listed, study.seed),
        associations(with_clusters, seed=study.seed),
        _held_out(matrix, study.seed),
        _pruned(parts, study.seed),
        _smaller(parts, study),
        replays(matrix, study.groups, chance, study.replays, seed=study.seed),
    ]
    return {
        schema.name: pd.DataFrame(columns=[*schema.columns])
        if table is None
        else table.assign(task=matrix.task)
        for schema, table in zip(TABLES, tables, strict=True)
    }


def _with_parameters(matrix: Matrix, listed: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Return the items with the two-parameter model of them, and how well it fits."""
    model = response_theory.fit(matrix.scores)
    fits = model_fit.item_fit(model, matrix.scores, seed=seed)
    parameters = pd.DataFrame(
        {
            "example": matrix.examples,
            "a": model.discrimination[:, 0],
            "a_error": model.discrimination_error[:, 0],
            "b": model.difficulty,
            "b_error": model.difficulty_error,
        }
    )
    return listed.merge(pd.concat([parameters, fits], axis=1), on="example", how="left", sort=False)


def _held_out(matrix: Matrix, seed: int) -> pd.DataFrame | None:
    """Return how well responses are foreseen; nothing where too few can be held out."""
    if not _large(matrix.scores) or np.isfinite(matrix.scores).sum(axis=1).max() < LEAST_ITEMS:
        return None
    try:
        return model_fit.held_out(matrix.scores, seed=seed)
    except model_fit.TooFewError:
        return None


def _large(scores: Floats) -> bool:
    rows, items = scores.shape
    return bool(rows >= LEAST_ROWS and items >= LEAST_ITEMS)


def splits(matrix: Matrix, study: Study) -> Iterator[tuple[str, Ints, Ints]]:
    """Yield the name of each way of holding rows out, with (train, test); new models several times."""
    yield RANDOM, *at_random(len(matrix.rows), seed=study.seed)
    yield BEST, *by_score(matrix.scores)
    groups = [study.groups[model] for model in matrix.rows["model"]]
    if len(set(groups)) > 1:
        # parts of two at least where there are enough, so that new models are compared with each other
        several = len(set(groups)) // 2
        for train, test in by_group(groups, min(FOLDS, several) if several > 1 else FOLDS, study.seed):
            yield NEW, train, test


def dense(matrix: Matrix) -> Matrix:
    """Return the items that nearly all rows have, and the rows that have nearly all of these.

    What is taken away has to be there.
    """
    dense_items = np.isnan(matrix.scores).mean(axis=0) <= MOST_MISSING
    scores = matrix.scores[:, dense_items]
    rows = np.isnan(scores).sum(axis=1) <= MOST_MISSING * dense_items.sum()
    examples = [example for example, has in zip(matrix.examples, dense_items, strict=True) if has]
    return Matrix(matrix.task, matrix.rows[rows].reset_index(drop=True), examples, scores[rows])


def _each_split(matrix: Matrix, study: Study) -> Iterator[Part]:
    """Each split of the items that all of them have."""
    dense_matrix = dense(matrix)
    if not _large(dense_matrix.scores):
        return
    series = [study.series.get(model, {}) for model in dense_matrix.rows["model"]]
    rows = SeriesRows(
        [member.get("name") for member in series],
        [member.get("seed", 0) for member in series],
        [member.get("checkpoint", 0) for member in series],
    )
    places = [part for part in splits(dense_matrix, study) if min(len(part[1]), len(part[2])) > 1]
    # the same items in all of them, so that new models can be put together
    known_items = np.all(
        [np.isfinite(dense_matrix.scores[train]).any(axis=0) for _, train, _ in places], axis=0
    )
    if known_items.sum() < LEAST_ITEMS:
        return
    for name, train, test in places:
        known_rows = np.isfinite(dense_matrix.scores[test][:, known_items]).any(axis=1)
        held_out = test[known_rows]
        if len(held_out) > 1:
            scores = dense_matrix.scores[:, known_items]
            models = dense_matrix.rows["model"].to_numpy()[held_out].tolist()
            yield Part(name, scores[train], scores[held_out], rows.only(held_out.tolist()), models)


def _pruned(parts: Sequence[Part], seed: int) -> pd.DataFrame | None:
    """Return held-out scores without the least discriminating items."""
    tables = [
        pruning_in_parts([(fold.train, fold.test, fold.rows) for fold in split_parts], seed=seed).assign(
            split=name
        )
        for name, split_parts in groupby(parts, key=lambda part: part.name)
    ]
    return pd.concat(tables) if tables else None


def _smaller(parts: Sequence[Part], study: Study) -> pd.DataFrame | None:
    """Return the costs of smaller benchmarks; new models by their mean; empty without splits."""
    tables = [
        smaller.costs(
            part.train, part.test, study.examples, study.repeats, study.seed, part.rows, part.models
        ).assign(split=part.name)
        for part in parts
    ]
    if not tables:
        return None
    return pd.concat(tables).groupby(["split", "method", "examples"], sort=False, as_index=False).mean()
