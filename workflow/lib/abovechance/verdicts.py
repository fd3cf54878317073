"""One verdict a setting: is its best prompt below, between or above the two baselines?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from abovechance.accuracy import SETTING, baselines
from abovechance.baseline import BestOf

VERDICTS = ("below", "between", "above")


def judge(accuracy: ArrayLike, standard: ArrayLike, maximum: ArrayLike) -> Any:
    """The verdict on a best accuracy, or on an array of them; one equal to a baseline is not above it.

    Accuracies and baselines are quotients, so equality is meant up to rounding.
    """
    accuracy = np.asarray(accuracy)
    above = np.where(accuracy <= np.asarray(maximum) + 1e-12, "between", "above")
    verdict = np.where(accuracy <= np.asarray(standard) + 1e-12, "below", above)
    return verdict if verdict.ndim else str(verdict)


def verdict(accuracy: pd.DataFrame, tried: int | None = None) -> dict[str, object]:
    """The verdict on one (model, task, shots).

    Parameters
    ----------
    accuracy
        The setting's rows of the table ``accuracy``.
    tried
        How many prompts were tried, where the only row is the best one's.

    Returns
    -------
    dict
        The columns of ``verdicts.csv`` after the setting's own. Where prompts differ in how
        many examples they are evaluated on, ``examples`` is the best prompt's.
    """
    ordered = accuracy.sort_values(["accuracy", "prompt"], ascending=[False, True], kind="stable")
    best = ordered.iloc[0]
    several = BestOf(baselines(ordered), None if tried is None else [tried])
    (own,) = baselines(ordered.iloc[:1])
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


def verdicts(accuracy: pd.DataFrame, tried: int | None = None) -> pd.DataFrame:
    """One row a setting: the columns of ``verdicts.csv``, in the order of the table ``accuracy``."""
    return pd.DataFrame(
        dict(zip(SETTING, setting, strict=True)) | verdict(group, tried)
        for setting, group in accuracy.groupby(SETTING, observed=True, sort=False)
    )


def expected_maximum_curve(accuracy: pd.DataFrame) -> pd.DataFrame:
    """What is expected of the best of t prompts, for t from 1 to all prompts of one setting.

    Returns
    -------
    DataFrame
        (prompts,) with ``prompts`` t; ``expected_accuracy``, the mean best accuracy of t of
        the prompts drawn without repetition; both baselines; and both tail probabilities of
        that expected accuracy. The baselines are those of the first t prompts.
    """
    which, kinds = pd.factorize(np.array(baselines(accuracy), dtype=object))
    first = BestOf(kinds, np.cumsum(which[:, None] == np.arange(len(kinds)), axis=0))
    expected = expected_maximum(accuracy["accuracy"].to_numpy())
    return pd.DataFrame(
        {
            "prompts": first.prompts,
            "expected_accuracy": expected,
            "standard_baseline": first.standard[-1],
            "maximum_baseline": first.maximum,
            "standard_tail": BestOf(kinds[:1]).tail(expected),
            "maximum_tail": first.tail(expected),
        }
    )


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
