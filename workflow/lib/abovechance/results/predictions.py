"""From scores to predictions: which choice scores highest, and whether it is correct."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from abovechance.core.arrays import Bools, Floats, Ints
from abovechance.core.columns import Column
from abovechance.core.errors import InputError
from abovechance.core.tables import TableSchema, setting_columns
from abovechance.study.chances import chances

PREDICTIONS = TableSchema(
    "predictions",
    {
        **setting_columns(many=True),
        "prompt": Column.whole("number of the prompt, from 0"),
        "example": Column.category("id of the example"),
        "predicted": Column.whole(
            "number of the predicted choice, from 0. The prediction is the choice with the highest score; -1 "
            "if a correct and a wrong choice tie. Always -1 in a release, because releases do not report "
            "predicted choices"
        ),
        "correct": Column.flag("whether the choice with the highest score is correct; false for ties"),
        "tie": Column.flag("whether a correct and a wrong choice share the highest score"),
        "chance": Column.share("probability of a lucky guess: correct choices divided by choices"),
    },
    "One row per prompt and example.",
    file="predictions/<model>.parquet",
)

NORMALIZATIONS = {"token": "tokens", "character": "characters", "byte": "bytes", "none": None}


class Chosen(NamedTuple):
    """The prediction for each example.

    Attributes
    ----------
    predicted
        (examples,) the number of the choice with the highest score, the first where several
        share it; ``UNKNOWN`` on a tie of a correct and a wrong one.
    correct
        (examples,) whether the choice with the highest score is a correct one, and no tie.
    tie
        (examples,) whether a correct and a wrong choice share the highest score.
    """

    predicted: Ints
    correct: Bools
    tie: Bools


UNKNOWN = -1  # predicted where a correct and a wrong choice tie, or where results do not say


def choose(scores: Floats, correct: Bools, starts: Ints) -> Chosen:
    """Return the choice with the highest score of each example: the one rule for ties.

    Parameters
    ----------
    scores
        (choices,) of all examples, one example's after another's.
    correct
        (choices,) whether a choice is correct.
    starts
        (examples,) where each example's choices begin.

    Raises
    ------
    InputError
        If a score is not a number, or infinite. One of minus infinity is that of an impossible choice.
    """
    if (strange := np.isnan(scores) | (scores == np.inf)).any():
        place = int(strange.argmax())
        raise InputError(f"score {place} of {len(scores)} is {scores[place]}; expected a number")
    # an example whose choices are all correct has no wrong choice: any guess is right
    best_right, best_wrong = (
        np.maximum.reduceat(np.where(mask, scores, -np.inf), starts) for mask in (correct, ~correct)
    )
    tie = best_right == best_wrong
    best = np.repeat(np.maximum(best_right, best_wrong), np.diff(starts, append=len(scores)))
    places = np.where(scores == best, np.arange(len(scores)), len(scores))
    first = np.minimum.reduceat(places, starts) - starts
    return Chosen(np.where(tie, UNKNOWN, first), best_right > best_wrong, tie)


def predict(scores: pd.DataFrame, task: pd.DataFrame, normalization: str = "token") -> pd.DataFrame:
    """Return which examples each prompt gets right; see ``choose``.

    Parameters
    ----------
    scores
        The table ``scores`` of one setting.
    task
        The table ``tasks`` of the task.
    normalization
        By what a choice's log-likelihood is divided: its ``token``s, ``character``s or
        ``byte``s, or ``none``.

    Returns
    -------
    DataFrame
        (prompts x examples,) the columns of ``PREDICTIONS``, without those of the setting.

    Raises
    ------
    InputError
        If a score is not a number, or of what the task does not have.
    """
    table = with_truth(scores, task)
    group = table.groupby(["prompt", "example"], sort=False).ngroup().to_numpy()
    table = table.iloc[np.lexsort((table["choice"], group))]
    starts = np.flatnonzero(np.diff(np.sort(group), prepend=-1))
    length = NORMALIZATIONS[normalization]
    score = table["logprob"] / (table[length] if length else 1)
    if (strange := ~np.isfinite(score.to_numpy())).any():
        prompt, example, choice = table.loc[strange, ["prompt", "example", "choice"]].iloc[0]
        value = score[strange].iloc[0]
        raise InputError(
            f"prompt {prompt}, example '{example}', choice {choice}: its score is {value}, not a number"
        )
    chosen = choose(score.to_numpy(), table["right"].to_numpy(dtype=bool), starts)
    predictions = table[["prompt", "example"]].iloc[starts].reset_index(drop=True)
    chance = pd.Series(chances(task["correct"]), index=task["example"])
    return predictions.assign(**chosen._asdict(), chance=predictions["example"].map(chance))


def with_truth(scores: pd.DataFrame, task: pd.DataFrame) -> pd.DataFrame:
    """Return the table ``scores`` of one setting with ``right``: whether the choice is a correct one.

    Raises
    ------
    InputError
        If there are scores of what the task does not have.
    """
    flags = pd.DataFrame(
        {
            "example": np.repeat(task["example"].to_numpy(), task["choices"].map(len).to_numpy()),
            "choice": np.concatenate([np.arange(len(choices)) for choices in task["choices"]]),
            "right": np.concatenate(task["correct"].map(np.asarray).to_list()),
        }
    )
    table = scores.merge(flags, on=["example", "choice"], how="left", validate="many_to_one")
    if (strange := table["right"].isna()).any():
        example, choice = table.loc[strange, ["example", "choice"]].iloc[0]
        raise InputError(f"scores have choice {choice} of example '{example}', which the task has not")
    return table
