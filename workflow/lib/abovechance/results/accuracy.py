"""From predictions to the accuracy of each prompt."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa

from abovechance.core.settings import SETTING
from abovechance.core.tables import TableSchema, setting_columns

ACCURACY = TableSchema(
    "accuracy",
    {
        **setting_columns(),
        "prompt": pa.int64(),
        "examples": pa.int64(),
        "correct": pa.int64(),
        "accuracy": pa.float64(),
        "ties": pa.int64(),
        "chances": pa.list_(pa.float64()),
        "counts": pa.list_(pa.int64()),
    },
)


def accuracy_by_prompt(predictions: pd.DataFrame) -> pd.DataFrame:
    """The table ``accuracy`` of one setting: one row a prompt.

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
    for column in SETTING:
        table[column] = predictions[column].iloc[0]
    return table
