"""Which numbers of correct examples a rounded accuracy stands for."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

# Half of float32's last binary digit below 1: what an accuracy loses that was a float32 once.
FLOAT32 = 2.0**-25


@dataclass(frozen=True)
class Correct:
    """The numbers of correct examples that an accuracy can stand for.

    Attributes
    ----------
    nearest
        The number whose accuracy is nearest, the higher of two.
    least, most
        Those at the ends, where several round to the accuracy; else the nearest.
    exact
        Whether any number rounds to it.
    """

    nearest: int
    least: int
    most: int
    exact: bool

    @classmethod
    def of(cls, accuracy: float | str, examples: int, digits: int | None = None) -> Correct:
        """The numbers of ``examples`` that round to an accuracy.

        Parameters
        ----------
        accuracy
            In [0, 1]. A float that is a number of correct examples divided by ``examples``, to the last
            digits or to those of a float32, is that one; of other numbers, and of texts, the decimals that
            are written count. 0 and 1 without any are none and all.
        digits
            How many decimals it was rounded to, where more are known than are written.

        Raises
        ------
        ValueError
            If the accuracy is outside [0, 1].
        """
        value = as_number(accuracy)
        if not 0 <= value <= 1:
            raise ValueError(f"accuracy is {accuracy}: it must be between 0 and 1")
        nearest = min(math.floor(value * examples + 0.5), examples)
        quotient = nearest / examples
        same = math.isclose(quotient, value, rel_tol=1e-12) or float(np.float32(quotient)) == value
        exact = same and not isinstance(accuracy, str)
        # 0 and 1 are none and all where they are written so, and not what half of all rounds to
        if digits is None and (exact or not decimals(accuracy)):
            return cls(nearest, nearest, nearest, True)
        half = max(0.5 * 10.0 ** -(decimals(accuracy) if digits is None else digits), FLOAT32) + 1e-12
        least = max(math.ceil((value - half) * examples), 0)
        most = min(math.floor((value + half) * examples), examples)
        exact = least <= most
        return cls(nearest, least if exact else nearest, most if exact else nearest, exact)


def as_number(accuracy: float | str) -> float:
    """An accuracy as a number, whichever mark a text has before its decimals."""
    return float(accuracy.replace(",", ".") if isinstance(accuracy, str) else accuracy)


def decimals(accuracy: float | str) -> int:
    """How many decimals a number has as it is written, 1e-05 has five."""
    if not isinstance(accuracy, str):
        single = np.float32(accuracy)
        # of what was a float32, the digits that it has as one
        accuracy = str(single) if float(single) == accuracy else repr(float(accuracy))
    text = accuracy.strip().lower()
    mantissa, _, exponent = text.replace(",", ".").partition("e")
    return max(len(mantissa.partition(".")[2]) - int(exponent or 0), 0)
