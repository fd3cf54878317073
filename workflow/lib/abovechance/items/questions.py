"""Questions that evaluations decide as they go."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from abovechance.core.errors import InputError


@dataclass(frozen=True)
class Question:
    """Whether the sum of scores over all examples is more than one number.

    Attributes
    ----------
    largest
        The largest sum that is not ``above``.
    smallest
        The smallest that is not ``below``; where it is more than ``largest``, one of the two is true.
    low, high
        The least and the highest score of an example.
    names
        The answers if the sum is above, is below, and if it is neither.
    examples
        Number of examples, if the question depends on it.
    """

    largest: float
    smallest: float
    low: float
    high: float
    names: tuple[str, str, str]
    examples: int | None = None

    @property
    def models(self) -> int:
        """How many models are asked each example."""
        return 2 if self.low < 0 else 1

    def answer(self, total: float) -> str:
        """Return the answer for a sum over all examples."""
        above, below, neither = self.names
        return above if total > self.largest else below if total < self.smallest else neither

    def error(self, alpha: float) -> float:
        """The significance level of each of the two tests: where both can be wrong of one sum, half of it."""
        return alpha if self.smallest > self.largest else alpha / 2


def better_than(baseline: float, examples: int) -> Question:
    """The question whether the accuracy on all examples is above a baseline, such as the maximum baseline.

    Equal to it is not above it.
    """
    if not (0 <= baseline <= 1 and examples >= 1):
        raise InputError(f"baseline {baseline:g}, {examples} examples; expected in [0, 1], and 1 or more")
    # sums of accuracies are whole numbers, up to rounding
    largest = float(np.floor(baseline * examples + 1e-9))
    return Question(largest, largest + 1, 0.0, 1.0, ("above", "not above", "not above"), examples)


def better_of_two() -> Question:
    """The question which of two models has more examples right."""
    return Question(0.0, 0.0, -1.0, 1.0, ("first", "second", "equal"))
