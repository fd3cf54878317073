"""Which numbers of correct examples a rounded accuracy stands for.

Accuracies are parsed as the decimal numbers that are written, and compared exactly: 0.57 of 150 examples is
85.5.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction

import numpy as np

from abovechance.core.words import counted

MOST_DECIMALS = 400  # 5e-324 is the least float
# Half of float32's last binary digit below 1: what an accuracy loses that was a float32 once.
FLOAT32 = Fraction(1, 2**25)


@dataclass(frozen=True)
class Correct:
    """The numbers of correct examples that an accuracy can stand for.

    Attributes
    ----------
    nearest
        The number whose accuracy is nearest, the higher of two.
    lowest, highest
        The lowest and the highest number that round to the accuracy; if there is none, the nearest ones: both
        of two that are as near.
    exact
        Whether any number rounds to it.
    """

    nearest: int
    lowest: int
    highest: int
    exact: bool

    @classmethod
    def from_accuracy(cls, accuracy: float | str, examples: int, digits: int | None = None) -> Correct:
        """Return the numbers of ``examples`` that round to an accuracy.

        Parameters
        ----------
        accuracy
            In [0, 1]. A float that is a number of correct examples divided by ``examples``, to the last
            digits or to those of a float32, stands for that number. Other numbers, and texts, stand for all
            numbers that round to the written decimals. 0 and 1 without decimals are exact: no example is
            correct, or all are.
        digits
            How many decimals it was rounded to, if more are known than are written.

        Raises
        ------
        ValueError
            If the accuracy is not a number in [0, 1].
        """
        value = as_fraction(accuracy)
        scaled = value * examples
        nearest = math.floor(scaled + Fraction(1, 2))
        if digits is None and not isinstance(accuracy, str):
            quotient = nearest / examples
            if math.isclose(quotient, accuracy, rel_tol=1e-12) or float(np.float32(quotient)) == accuracy:
                return cls(nearest, nearest, nearest, True)
        digits = decimals(accuracy) if digits is None else digits
        if value in (0, 1) and digits == 0:
            return cls(nearest, nearest, nearest, True)
        half = max(Fraction(1, 2 * 10**digits), FLOAT32)
        lowest = max(math.ceil((value - half) * examples), 0)
        highest = min(math.floor((value + half) * examples), examples)
        if lowest <= highest:
            return cls(nearest, lowest, highest, True)
        return cls(nearest, math.ceil(scaled - Fraction(1, 2)), nearest, False)


def as_fraction(accuracy: float | str) -> Fraction:
    """Return an accuracy as the decimal number that is written, with a point or a comma.

    Raises
    ------
    ValueError
        If it is not a number in [0, 1].
    """
    try:
        value = Decimal(_written(accuracy))
    except InvalidOperation:
        value = Decimal("nan")
    if not value.is_nan() and value.is_finite() and decimals(accuracy) > MOST_DECIMALS:
        raise ValueError(f"accuracy is {str(accuracy)[:40]}: expected at most {MOST_DECIMALS} decimals")
    if value.is_nan() or not 0 <= value <= 1:
        raise ValueError(f"accuracy is {str(accuracy)[:40]}: it must be between 0 and 1")
    return Fraction(value)


def completed_digits(
    accuracies: Sequence[float], examples: Sequence[int], digits: Sequence[int], groups: Sequence[Hashable]
) -> list[int]:
    """Return how many decimals accuracies were rounded to, since programs leave zeros away at the end.

    It is the most that one of the same group has, or its own number if no number of correct examples then
    rounds to it.

    Parameters
    ----------
    digits
        Number of decimals that are written. 0 and 1 without decimals are exact.
    groups
        The same for accuracies that were rounded alike.
    """
    most_digits: dict[Hashable, int] = {}
    for group, written in zip(groups, digits, strict=True):
        most_digits[group] = max(most_digits.get(group, 0), written)
    return [
        most_digits[group]
        if Correct.from_accuracy(accuracy, count, most_digits[group]).exact
        and (written or accuracy not in (0, 1))
        else written
        for accuracy, count, written, group in zip(accuracies, examples, digits, groups, strict=True)
    ]


def completion_note(
    accuracies: Sequence[float], examples: Sequence[int], written: Sequence[int], digits: Sequence[int]
) -> str:
    """Return a note on accuracies for which zeros that are not written matter; empty if there are none."""
    texts = []
    for accuracy, count, *numbers in zip(accuracies, examples, written, digits, strict=True):
        short, full = (f"{accuracy:.{number}f}" for number in numbers)
        if Correct.from_accuracy(short, count) != Correct.from_accuracy(full, count):
            texts.append(f"{short} as {full}")
    if not texts:
        return ""
    return (
        f"{counted(len(texts), 'score')} with fewer decimals than others, taken as rounded to as many "
        f"decimals ({texts[0]})"
    )


def decimals(accuracy: float | str) -> int:
    """Return the number of decimals of a number as it is written; 1e-05 has five."""
    mantissa, _, exponent = _written(accuracy).lower().partition("e")
    return max(len(mantissa.partition(".")[2]) - int(exponent or 0), 0)


def _written(accuracy: float | str) -> str:
    """Return the digits of a number; of one that was a float32, those that it has as a float32."""
    if isinstance(accuracy, str):
        return accuracy.strip().replace(",", ".")
    single = np.float32(accuracy)
    return str(single) if float(single) == accuracy else repr(float(accuracy))
