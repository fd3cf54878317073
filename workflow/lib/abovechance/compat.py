"""The functions of the PyPI package ``max-random-baseline``, by their names and arguments.

Change one import:

    from abovechance.compat import max_random_baseline

Results agree, but for the digits that the package loses (2e-9 at 200 examples and 200
guessers, 2e-5 at a billion guessers), and for accuracies such as 0.29 of 100 examples, whose
product 28.999999999999996 the package rounds down to 28 correct ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from abovechance.chance.baseline import RandomBaseline, whole

Chances = float | Sequence[float] | Mapping[int, int]


def max_random_baseline(n: int, arg: Chances, t: int) -> float:
    """Expected accuracy of the best of ``t`` guessers on ``n`` examples, in [0, 1].

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
    return _baseline(n, arg).maximum(t)


def max_random_p_value(acc: float, n: int, arg: Chances, t: int) -> float:
    """Probability that the best of ``t`` guessers has at least the accuracy ``acc``, in [0, 1].

    As in the package, an accuracy between two numbers of correct examples stands for the lower.
    """
    return _baseline(n, arg).tail(_floor(n * acc), t)


def max_random_F(num_correct: float, n: int, arg: Chances, t: int) -> float:
    """Probability that the best of ``t`` guessers has at most ``num_correct`` correct, in [0, 1]."""
    return _baseline(n, arg).cdf(_floor(num_correct), t)


def max_random_pmf(num_correct: float, n: int, arg: Chances, t: int) -> float:
    """Probability that the best of ``t`` guessers has exactly ``num_correct`` correct, in [0, 1]."""
    return _baseline(n, arg).pmf(_floor(num_correct), t)


def _floor(correct: float) -> int:
    """The whole number at or below, or the nearest where rounding made the difference."""
    return -int(whole(-correct))


def _baseline(n: int, arg: Chances) -> RandomBaseline:
    if isinstance(arg, Mapping):
        baseline = RandomBaseline.from_choices(arg)
    elif np.ndim(arg) == 0:
        return RandomBaseline.of(float(np.asarray(arg)), n)
    else:
        baseline = RandomBaseline(arg)
    if baseline.examples != n:
        raise ValueError(f"n is {n}, but chances are given for {baseline.examples} examples")
    return baseline
