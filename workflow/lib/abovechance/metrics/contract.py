"""What a metric is, and how its values under many permutations of the gold answers are computed quickly.

Most metrics are sums over examples as long as the frequencies of predictions and of gold answers stay the
same: accuracy and macro F1, kappa and Pearson's correlation. Such a metric states its ``terms``. Values under
a permutation are then sums of cells of a table, and expected values are exact.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abovechance.core.arrays import Floats
from abovechance.core.errors import InputError, nearest

ANSWERS = ("label", "text", "set", "ranking", "number", "attempts")
Objects = NDArray[Any]  # (examples,) predictions or gold answers: numbers, texts, sets, or tuples


@dataclass(frozen=True)
class Terms:
    """A metric of one candidate as a sum over examples.

    The metric is ``offset + sum of cells[i, gold of i]`` over examples i, and ``curve`` of this sum. This
    holds for all gold answers with the same frequencies as the observed ones.

    Attributes
    ----------
    cells
        Returns the (m, k) contributions of m predictions, each with each of k gold answers.
    offset
        A constant.
    curve
        A last step that is not linear, such as a square root.
    """

    cells: Callable[[Objects, Objects], Floats]
    offset: float = 0.0
    curve: Callable[[Floats], Floats] | None = None

    def finish(self, sums: Floats) -> Floats:
        """Return the metric for sums of cells."""
        values: Floats = sums + self.offset
        return values if self.curve is None else self.curve(values)


@dataclass(frozen=True)
class Metric:
    """A metric of predictions and gold answers.

    Attributes
    ----------
    name
        Its name on the command line and in tables.
    meaning
        Its definition in one phrase.
    value
        Returns the metric of (examples,) predictions and (examples,) gold answers: one number.
    answers
        The form of predictions and gold answers: ``label``, ``text``, ``set``, ``ranking``
        (predictions are ranked items, gold answers are sets of relevant items), ``number`` or ``attempts``
        (predictions are several texts, the gold answer is one).
    terms
        Returns the metric as a sum over examples, if it is one, from the predictions and the gold answers.
        Without it, ``value`` is called for each permutation.
    frequencies
        True if the terms hold only for gold answers with the observed frequencies.
    vectorized
        True if ``value`` also accepts (draws, examples) gold answers and then returns (draws,) numbers.
    higher_is_better
        False for errors.
    by_equality
        True if labels are only compared for equality. Then ``value`` and ``terms`` get whole numbers in place
        of labels.
    """

    name: str
    meaning: str
    value: Callable[[Any, Any], Any]
    answers: str = "label"
    terms: Callable[[Objects, Objects], Terms] | None = None
    frequencies: bool = False
    vectorized: bool = False
    higher_is_better: bool = True
    by_equality: bool = False

    def __post_init__(self) -> None:
        """Raise InputError if the form of answers is unknown."""
        if self.answers not in ANSWERS:
            raise InputError(
                f"metric '{self.name}': answers '{self.answers}' is unknown; {nearest(self.answers, ANSWERS)}"
            )

    @property
    def sign(self) -> float:
        """1 if higher values are better, else -1."""
        return 1.0 if self.higher_is_better else -1.0


def objects(values: Sequence[Any]) -> Objects:
    """(examples,) values as an array, also if each of them is a sequence."""
    array = np.empty(len(values), dtype=object)
    array[:] = [*values]
    return array
