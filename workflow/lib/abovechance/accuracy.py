"""From scores to predictions, and from predictions to one accuracy a prompt."""

from __future__ import annotations

import numpy as np
import pandas as pd

from abovechance.tasks import chances

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
        (prompts x examples,) with ``prompt``, ``example``, ``correct`` bool, ``tie`` bool and
        ``chance``: the chance of a lucky guess, in (0, 1].
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
    predictions = pd.DataFrame({"correct": right > wrong, "tie": right == wrong}).reset_index()
    predictions["chance"] = predictions["example"].map(chance)
    return predictions


def accuracy_by_prompt(predictions: pd.DataFrame) -> pd.DataFrame:
    """One row a prompt: examples, correct, accuracy, ties, by model, task and shots."""
    keys = ["model", "task", "shots", "prompt"]
    grouped = predictions.groupby(keys, observed=True, sort=False)
    table = grouped.agg(
        examples=("correct", "size"), correct=("correct", "sum"), ties=("tie", "sum")
    ).reset_index()
    table["accuracy"] = table["correct"] / table["examples"]
    return table[[*keys, "examples", "correct", "accuracy", "ties"]]
