"""From predictions to the accuracy of each prompt."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from abovechance.core.columns import Column
from abovechance.core.settings import setting_of
from abovechance.core.tables import TableSchema, setting_columns
from abovechance.results.predictions import PREDICTIONS

ACCURACY = TableSchema(
    "accuracy",
    {
        **setting_columns(),
        "prompt": Column.whole("number of the prompt, from 0"),
        "examples": Column.whole("number of examples evaluated"),
        "correct": Column.whole("number of correct predictions"),
        "accuracy": Column.share("number of correct predictions divided by the number of examples"),
        "ties": Column.whole(
            "number of ties: examples for which a correct and a wrong choice share the highest score"
        ),
        "chances": Column.share("the distinct chances of a lucky guess among the examples").several(),
        "counts": Column.whole("number of examples with each chance, in the order of chances").several(),
    },
    "One row per prompt.",
    file="accuracy/<model>.parquet",
)


def accuracy_by_prompt(predictions: pd.DataFrame) -> pd.DataFrame:
    """Return the table ``accuracy`` of one setting: one row per prompt.

    With the accuracy come the ``chances`` of a lucky guess and how many examples have each
    (``counts``), which is all that a prompt's random baseline depends on.
    """
    prompt, prompts = pd.factorize(predictions["prompt"], sort=True)
    kind, chances = pd.factorize(predictions["chance"].to_numpy(), sort=True)
    shape = (len(prompts), len(chances))
    counts = np.bincount(np.ravel_multi_index((prompt, kind), shape), minlength=shape[0] * shape[1])
    counts = counts.reshape(shape)
    correct, ties = (
        np.bincount(prompt, predictions[column], minlength=len(prompts)).astype(np.int64)
        for column in ("correct", "tie")
    )
    table = pd.DataFrame(
        {"prompt": prompts, "examples": counts.sum(axis=1), "correct": correct, "ties": ties}
    )
    table["accuracy"] = table["correct"] / table["examples"]
    table["chances"] = [chances[row > 0].tolist() for row in counts]
    table["counts"] = [row[row > 0].tolist() for row in counts]
    return setting_of(predictions).label(table)


@contextmanager
def writing_results(
    predictions: Mapping[str, Path],
    accuracy: Mapping[str, Path],
    made_from: Mapping[str, Any],
    schema: TableSchema = PREDICTIONS,
) -> Iterator[Callable[[pd.DataFrame], None]]:
    """Yield a function that adds the predictions of one setting: they and their accuracies are written.

    Parameters
    ----------
    predictions, accuracy
        {model: its file}, which several models can share. The second ones are written when all settings are
        there; those of a model without predictions have no rows.
    schema
        The predictions' columns.
    """
    tables_of_paths: dict[Path, list[pd.DataFrame]] = {path: [] for path in accuracy.values()}
    with ExitStack() as files:
        write_part = {
            path: files.enter_context(schema.writing_parts(path, made_from))
            for path in dict.fromkeys(predictions.values())
        }

        def write(part: pd.DataFrame) -> None:
            model = setting_of(part).model
            write_part[predictions[model]](part)
            tables_of_paths[accuracy[model]].append(accuracy_by_prompt(part))

        yield write
    for path, tables in tables_of_paths.items():
        ACCURACY.write(ACCURACY.together(tables), path, made_from)
