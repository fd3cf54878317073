"""From scores to predictions: which choice scores highest, and whether it is correct."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from abovechance.core.errors import InputError
from abovechance.core.settings import SETTING
from abovechance.core.tables import CATEGORY, TableSchema, setting_columns
from abovechance.study.tasks import chances

PREDICTIONS = TableSchema(
    "predictions",
    {
        **setting_columns(category=True),
        "prompt": pa.int64(),
        "example": CATEGORY,
        "predicted": pa.int64(),
        "correct": pa.bool_(),
        "tie": pa.bool_(),
        "chance": pa.float64(),
    },
)

NORMALIZATIONS = {"token": "tokens", "character": "characters", "byte": "bytes", "none": None}


def predict(scores: pd.DataFrame, task: pd.DataFrame, normalization: str = "token") -> pd.DataFrame:
    """Which examples each prompt gets right.

    The prediction is the choice with the highest score. Where a correct and a wrong choice
    share it, the example is wrong, and the tie is recorded.

    Parameters
    ----------
    scores
        The table ``scores`` of one (model, task, shots).
    task
        The table ``tasks`` of the task.
    normalization
        By what a choice's log-likelihood is divided: its ``token``s, ``character``s or
        ``byte``s, or ``none``.

    Returns
    -------
    DataFrame
        (prompts x examples,) with ``prompt``, ``example``, ``predicted``: the choice's number, -1
        on a tie of a correct and a wrong one; ``correct`` bool, ``tie`` bool and ``chance``: the
        chance of a lucky guess, in (0, 1].
    """
    flags = pd.DataFrame(
        {
            "example": task["example"].repeat(task["choices"].map(len)),
            "choice": np.concatenate([np.arange(len(choices)) for choices in task["choices"]]),
            "right": np.concatenate(task["correct"].map(np.asarray).to_list()),
        }
    )
    length = NORMALIZATIONS[normalization]
    table = scores.merge(flags, on=["example", "choice"], how="left", validate="many_to_one")
    score = table["logprob"] / (table[length] if length else 1)
    keys = [table["prompt"], table["example"]]
    right = score.where(table["right"]).groupby(keys, sort=False).max()
    # An example whose choices are all correct has no wrong choice: any guess is right.
    wrong = score.where(~table["right"]).groupby(keys, sort=False).max().fillna(-np.inf)
    chance = pd.Series(chances(task["correct"]), index=task["example"])
    best = table["choice"].loc[score.groupby(keys, sort=False).idxmax()].to_numpy()
    predictions = pd.DataFrame({"correct": right > wrong, "tie": right == wrong}).reset_index()
    predictions["predicted"] = np.where(predictions["tie"], -1, best)
    predictions["chance"] = predictions["example"].map(chance)
    return predictions


def settings_in(path: Path) -> tuple[list[str], list[str], list[int]]:
    """The models, tasks and numbers of shots of a table of predictions, in the order of its rows.

    Only columns' statistics are read where each part of the file is of one setting.

    Raises
    ------
    InputError
        If the file is no such table.
    """
    try:
        with pq.ParquetFile(path) as file:
            if missing := set(PREDICTIONS.columns) - set(file.schema_arrow.names):
                raise InputError(
                    f"{path}: is no table of predictions, it lacks {', '.join(sorted(missing))}; right "
                    "would be a file of `abovechance import`"
                )
            found: list[dict[Any, None]] = [{} for _ in SETTING]
            for part in range(file.num_row_groups):
                for values, column in zip(found, SETTING, strict=True):
                    values.update(dict.fromkeys(_values(file, part, column)))
    except (pa.ArrowInvalid, OSError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from None
    models, tasks, shots = map(list, found)
    return models, tasks, shots


def _values(file: pq.ParquetFile, part: int, column: str) -> list[Any]:
    """The different values of a column in one part of a file."""
    place = file.schema_arrow.names.index(column)
    statistics = file.metadata.row_group(part).column(place).statistics
    if statistics is not None and statistics.has_min_max and statistics.min == statistics.max:
        return [statistics.min]
    values: list[Any] = file.read_row_group(part, columns=[column])[column].unique().to_pylist()
    return values
