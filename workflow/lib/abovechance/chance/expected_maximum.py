"""The expected best accuracy of t prompts."""

from __future__ import annotations

import numpy as np
import pandas as pd

from abovechance.chance.baselines import BASELINES, TriedPrompts, compared
from abovechance.chance.best_of import scale
from abovechance.chance.verdicts import is_uneven, random_baselines, scores_of

CURVE = (
    *("prompts", "expected_accuracy"),
    *(baseline.column for baseline in BASELINES),
    *(baseline.tail_column for baseline in BASELINES),
    *("deviation", "expected_with_repetition", "deviation_with_repetition"),
)


def expected_maximum_curve(accuracy: pd.DataFrame) -> pd.DataFrame:
    """Return the expected best accuracy of t prompts, for t from 1 to all prompts of one setting.

    If prompts have uneven examples (``is_uneven``), their standardized scores are compared, as in verdicts.
    All accuracies are then those on the best prompt's examples that correspond to these scores.

    Returns
    -------
    DataFrame
        (prompts,) with the columns ``CURVE``: ``prompts`` t; ``expected_accuracy``, the mean best
        accuracy of t of the prompts drawn without repetition; the baselines; their tail probabilities of
        that expected accuracy; the standard deviation of the best accuracy; and mean and deviation where
        prompts are drawn with repetition. The baselines are those of the first t prompts, and that of one
        guesser has the examples of the best of all prompts.
    """
    guessers = random_baselines(accuracy)
    standardized = is_uneven(accuracy)
    member, different = pd.factorize(np.array(guessers, dtype=object))
    members = (member[:, None] == np.arange(len(different))).astype(np.int64)
    scores = scores_of(accuracy)
    best = int(scores.argmax())
    candidates = TriedPrompts(
        list(different),
        np.broadcast_to(members[best], members.shape),
        np.cumsum(members, axis=0),
        standardized,
    )
    expected, deviation = greatest(scores)
    repeated, repeated_deviation = greatest(scores, repetition=True)
    against = compared(expected, candidates)
    accuracy_per_score = scale(guessers[best], standardized)[1] / guessers[best].examples
    return pd.DataFrame(
        {
            "prompts": np.arange(1, len(scores) + 1),
            "expected_accuracy": candidates.accuracy(expected),
            **{baseline.column: comparison.expected for baseline, comparison in against.items()},
            **{baseline.tail_column: comparison.tail for baseline, comparison in against.items()},
            "deviation": deviation * accuracy_per_score,
            "expected_with_repetition": candidates.accuracy(repeated),
            "deviation_with_repetition": repeated_deviation * accuracy_per_score,
        }
    )


def expected_maximum(values: np.ndarray) -> np.ndarray:
    """(values,) expected greatest of t values drawn without repetition, for t = 1, 2, ..."""
    return greatest(values)[0]


def greatest(values: np.ndarray, repetition: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """(values,) mean and standard deviation of the greatest of t values that are drawn, for t = 1, 2, ...

    Of n values in ascending order, the i-th (from 1) is the greatest of t with probability
    C(i - 1, t - 1) / C(n, t) without repetition, and (i / n)^t - ((i - 1) / n)^t with it. With
    repetition, as in Dodge et al. (2019, Equation 7) and in the paper's figures, the mean is biased low
    where t is not small beside n.
    """
    ascending = np.sort(values)
    n = len(ascending)
    place = np.arange(1, n + 1)
    # The weight of the i-th at t + 1 is its weight at t times (i - t) (t + 1) / (t (n - t)).
    weights = np.full(n, 1 / n)
    mean, deviation = np.empty((2, n))
    for prompts in range(1, n + 1):
        if repetition:
            weights = (place / n) ** prompts - ((place - 1) / n) ** prompts
        elif prompts > 1:
            weights = (
                weights * np.maximum(place - prompts + 1, 0) * prompts / ((prompts - 1) * (n - prompts + 1))
            )
        mean[prompts - 1] = min(weights @ ascending, ascending[-1])  # but for rounding
        deviation[prompts - 1] = np.sqrt(weights @ (ascending - mean[prompts - 1]) ** 2)
    return mean, deviation
