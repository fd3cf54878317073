"""The functions and the class of the PyPI package ``max-random-baseline``, by their names and arguments.

Change one import:

    from abovechance.compat import max_random_baseline

Results agree, but for the digits that the package loses (2e-9 at 200 examples and 200
guessers, 2e-5 at a billion guessers), and for accuracies such as 0.29 of 100 examples, whose
product 28.999999999999996 the package rounds down to 28 correct ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from abovechance.chance.random_baseline import RandomBaseline, least_count

Chances = float | Sequence[float] | Mapping[int, int]


def max_random_baseline(n: int, arg: Chances, t: int) -> float:
    """Return expected accuracy of the best of ``t`` guessers on ``n`` examples, in [0, 1].

    Parameters
    ----------
    n
        Number of examples.
    arg
        Chance of a lucky guess on every example; or a list of n chances; or
        {number of labels: number of examples}.
    t
        Number of guessers.
    """
    return MaxOrderStatisticPoissonBinomial(n, arg).max_random_baseline(t)


def max_random_p_value(acc: float, n: int, arg: Chances, t: int) -> float:
    """Return probability that the best of ``t`` guessers has at least the accuracy ``acc``, in [0, 1].

    As in the package, an accuracy between two numbers of correct examples stands for the lower.
    """
    return MaxOrderStatisticPoissonBinomial(n, arg).p_value(acc, t)


def max_random_F(num_correct: float, n: int, arg: Chances, t: int) -> float:
    """Return probability that the best of ``t`` guessers has at most ``num_correct`` correct, in [0, 1]."""
    return MaxOrderStatisticPoissonBinomial(n, arg).F(num_correct, t)


def max_random_pmf(num_correct: float, n: int, arg: Chances, t: int) -> float:
    """Return probability that the best of ``t`` guessers has exactly ``num_correct`` correct, in [0, 1]."""
    return MaxOrderStatisticPoissonBinomial(n, arg).pmf(num_correct, t)


class MaxOrderStatisticPoissonBinomial:
    """The best of several guessers on fixed examples; ``n`` and ``arg`` as in ``max_random_baseline``."""

    def __init__(self, n: int, arg: Chances) -> None:
        self._n, self._baseline = n, _baseline(n, arg)

    def expectation(self, t: int) -> float:
        """Return the expected number of correct examples of the best of ``t`` guessers, in [0, n]."""
        return self._n * self._baseline.maximum(t)

    def max_random_baseline(self, t: int) -> float:
        """See the function of this name."""
        return self._baseline.maximum(t)

    def p_value(self, acc: float, t: int) -> float:
        """See ``max_random_p_value``."""
        return self._baseline.tail(_floor(self._n * acc), t)

    def F(self, k: float, t: int) -> float:
        """See ``max_random_F``."""
        return self._baseline.cdf(_floor(k), t)

    def pmf(self, k: float, t: int) -> float:
        """See ``max_random_pmf``."""
        return self._baseline.pmf(_floor(k), t)


def _floor(correct: float) -> int:
    """Return the whole number at or below, or the nearest where rounding made the difference."""
    return -int(least_count(-correct))


def _baseline(n: int, arg: Chances) -> RandomBaseline:
    if isinstance(arg, Mapping):
        baseline = RandomBaseline.from_choices(arg)
    elif np.ndim(arg) == 0:
        return RandomBaseline.from_chance(float(np.asarray(arg)), n)
    else:
        baseline = RandomBaseline(arg)
    if baseline.examples != n:
        raise ValueError(f"n is {n}, but chances are given for {baseline.examples} examples")
    return baseline
