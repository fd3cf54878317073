"""From scores to predictions: which choice scores highest, and whether it is correct."""

from __future__ import annotations

import numpy as np
import pandas as pd

from abovechance.study.tasks import chances

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
