"""What is expected of the best of some of the prompts."""

from __future__ import annotations

import numpy as np
import pandas as pd

from abovechance.chance.best_of import BestOf
from abovechance.chance.verdicts import baselines

CURVE = (
    *("prompts", "expected_accuracy", "standard_baseline", "maximum_baseline"),
    *("standard_tail", "maximum_tail"),
)


def expected_maximum_curve(accuracy: pd.DataFrame) -> pd.DataFrame:
    """What is expected of the best of t prompts, for t from 1 to all prompts of one setting.

    Returns
    -------
    DataFrame
        (prompts,) with the columns ``CURVE``: ``prompts`` t; ``expected_accuracy``, the mean best
        accuracy of t of the prompts drawn without repetition; both baselines; and both tail probabilities of
        that expected accuracy. The baselines are those of the first t prompts.
    """
    which, found = pd.factorize(np.array(baselines(accuracy), dtype=object))
    kinds = list(found)
    first = BestOf(kinds, np.cumsum(which[:, None] == np.arange(len(kinds)), axis=0))
    expected = expected_maximum(accuracy["accuracy"].to_numpy())
    return pd.DataFrame(
        {
            "prompts": first.prompts,
            "expected_accuracy": expected,
            "standard_baseline": np.ravel(first.standard)[-1],
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
