"""How likely models found choices, wherever results come from: what continuous metrics start from."""

from __future__ import annotations

import numpy as np
import pandas as pd

from abovechance.core.columns import Column
from abovechance.core.tables import TableSchema, setting_columns
from abovechance.results.predictions import UNKNOWN, with_truth

# Missing: what the results do not say.
LIKELIHOODS = TableSchema(
    "likelihoods",
    {
        **setting_columns(many=True),
        "prompt": Column.whole("number of the prompt, from 0"),
        "example": Column.category("id of the example"),
        "choice": Column.whole(
            "number of the choice, from 0; always -1 in a release, because releases report only the correct "
            "answer"
        ),
        "right": Column.flag("whether the choice is correct"),
        "logprob": Column.number("log-likelihood of the choice, summed over its tokens", "nats"),
        "mean_logprob": Column.number("log-likelihood per token", "nats"),
        "tokens": Column.whole("length of the choice in tokens"),
        "characters": Column.whole("length of the choice in characters"),
        "bytes": Column.whole("length of the choice in bytes"),
    },
    "One row per prompt, example and choice. If a result file does not report a value, the value is missing.",
    file="likelihoods/<model>.parquet, if requested",
)
# Columns of lists, one entry per choice, in tables of predictions that come with log-likelihoods.
OF_CHOICES = {
    "logprobs": Column.number("log-likelihood of each choice, summed over its tokens", "nats").several(),
    "characters": Column.whole("length of each choice in characters, as it was scored").several(),
    "bytes": Column.whole("length of each choice in bytes").several(),
    "right": Column.flag("whether each choice is correct").several(),
}


def of_scores(scores: pd.DataFrame, task: pd.DataFrame) -> pd.DataFrame:
    """Return the likelihoods of one scored setting, without the setting's columns.

    Parameters
    ----------
    scores
        The table ``scores`` of the setting.
    task
        The table ``tasks`` of its task.
    """
    table = with_truth(scores, task)
    return table.assign(mean_logprob=table["logprob"] / table["tokens"])


def of_imported(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the likelihoods of one imported setting, of the rows that have any.

    Parameters
    ----------
    rows
        Predictions with the columns ``OF_CHOICES``; a list is missing where the results lack it.
    """
    with_logprobs = rows[rows["logprobs"].notna()]
    unused = ["predicted", "correct", "tie", "chance", "choices"]
    table = with_logprobs.drop(columns=unused, errors="ignore").explode([*OF_CHOICES])
    table["choice"] = table.groupby(["prompt", "example"], observed=True, sort=False).cumcount()
    numbers = table[["logprobs", "characters", "bytes"]].astype("float64")
    table = table.assign(**numbers, right=table["right"].astype(bool), mean_logprob=np.nan, tokens=np.nan)
    return table.rename(columns={"logprobs": "logprob"}).reset_index(drop=True)


def of_losses(rows: pd.DataFrame) -> pd.DataFrame:
    """The likelihoods of correct answers of which the mean ``loss`` per token is known, and no more."""
    table = rows[[*(column for column in LIKELIHOODS.columns if column in rows)]]
    unknown = dict.fromkeys(("logprob", "tokens", "characters", "bytes"), np.nan)
    return table.assign(**unknown, choice=UNKNOWN, right=True, mean_logprob=-rows["loss"])
