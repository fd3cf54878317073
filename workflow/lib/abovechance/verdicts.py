"""One verdict a setting: is its best prompt below, between or above the two baselines?"""

from __future__ import annotations

import numpy as np
import pandas as pd

from abovechance.baseline import BestOf, RandomBaseline

VERDICTS = ("below", "between", "above")
SETTING = ["model", "task", "shots"]


def prompt_baselines(predictions: pd.DataFrame) -> dict[int, RandomBaseline]:
    """The baseline of each prompt on the examples it is evaluated on."""
    return {
        prompt: RandomBaseline(chances.to_numpy())
        for prompt, chances in predictions.groupby("prompt", sort=True)["chance"]
    }


def judge(accuracy: float, standard: float, maximum: float) -> str:
    """The verdict on a best accuracy; one that equals a baseline is not above it.

    Accuracies and baselines are quotients, so equality is meant up to rounding.
    """
    if accuracy <= standard + 1e-12:
        return "below"
    return "between" if accuracy <= maximum + 1e-12 else "above"


def verdict(predictions: pd.DataFrame, accuracy: pd.DataFrame) -> dict[str, object]:
    """The verdict on one (model, task, shots).

    Parameters
    ----------
    predictions, accuracy
        The tables of this setting. Prompts are those that have predictions.

    Returns
    -------
    dict
        The columns of ``verdicts.csv`` after the setting's own. Where prompts differ in how
        many examples they are evaluated on, ``examples`` is the best prompt's.
    """
    best = accuracy.sort_values(["accuracy", "prompt"], ascending=[False, True], kind="stable").iloc[0]
    baselines = prompt_baselines(predictions)
    several = BestOf(baselines.values())
    own = baselines[best["prompt"]]
    return {
        "examples": int(best["examples"]),
        "prompts": several.prompts,
        "best_prompt": int(best["prompt"]),
        "best_accuracy": best["accuracy"],
        "standard_baseline": several.standard,
        "maximum_baseline": several.maximum,
        "standard_tail": own.tail(best["correct"]),
        "maximum_tail": several.tail(best["accuracy"]),
        "verdict": judge(best["accuracy"], several.standard, several.maximum),
    }


def verdicts(predictions: pd.DataFrame, accuracy: pd.DataFrame) -> pd.DataFrame:
    """One row a setting: the columns of ``verdicts.csv``, in the order of the predictions."""
    of_setting = dict(tuple(accuracy.groupby(SETTING, observed=True, sort=False)))
    rows = [
        dict(zip(SETTING, setting, strict=True)) | verdict(group, of_setting[setting])
        for setting, group in predictions.groupby(SETTING, observed=True, sort=False)
    ]
    return pd.DataFrame(rows)


def expected_maximum_curve(predictions: pd.DataFrame, accuracy: pd.DataFrame) -> pd.DataFrame:
    """What is expected of the best of t prompts, for t from 1 to all prompts of one setting.

    Returns
    -------
    DataFrame
        (prompts,) with ``prompts`` t; ``expected_accuracy``, the mean best accuracy of t of
        the prompts drawn without repetition; both baselines; and both tail probabilities of
        that expected accuracy.
    """
    baselines = [*prompt_baselines(predictions).values()]
    standard = BestOf(baselines).standard
    expected = expected_maximum(accuracy["accuracy"].to_numpy())
    rows = []
    for tried, value in enumerate(expected, start=1):
        several = BestOf(baselines[:tried])
        rows.append(
            {
                "prompts": tried,
                "expected_accuracy": value,
                "standard_baseline": standard,
                "maximum_baseline": several.maximum,
                "standard_tail": BestOf(baselines[:1]).tail(value),
                "maximum_tail": several.tail(value),
            }
        )
    return pd.DataFrame(rows)


def expected_maximum(values: np.ndarray) -> np.ndarray:
    """(values,) expected greatest of t values drawn without repetition, for t = 1, 2, ...

    Of n values in ascending order, the i-th (from 1) is the greatest of t with probability
    C(i - 1, t - 1) / C(n, t). (Without repetition: drawing with repetition, as in Dodge et
    al., 2019, Equation 7, is biased low where t is not small beside n.)
    """
    ascending = np.sort(values)
    n = len(ascending)
    # The weight of the i-th at t + 1 is its weight at t times (i - t) (t + 1) / (t (n - t)).
    weights = np.full(n, 1 / n)
    expected = np.empty(n)
    place = np.arange(1, n + 1)
    for tried in range(1, n + 1):
        expected[tried - 1] = weights @ ascending
        if tried < n:
            weights = weights * np.maximum(place - tried, 0) * (tried + 1) / (tried * (n - tried))
    return expected
