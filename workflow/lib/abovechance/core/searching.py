"""The least whole number with which something becomes true, or remains true."""

from __future__ import annotations

from collections.abc import Callable

IN_A_ROW = 10  # numbers with which a condition holds that holds from there on
SMALL = 5000  # numbers of examples at which power rises and falls by visible steps


def least_whole(reached: Callable[[int], bool], limit: int, after: int = 0, step: int = 1) -> int:
    """Return the least whole number above ``after`` for which a condition holds, or ``limit + 1``.

    Parameters
    ----------
    reached
        The condition; if it holds for a number, it holds for all larger ones.
    step
        The first of the growing steps in which it is looked for.
    """
    low, high = after, min(after + step, limit)
    while not reached(high):
        if high >= limit:
            return limit + 1
        low, step = high, 2 * step
        high = min(high + step, limit)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high


def least_lasting(reached: Callable[[int], bool], limit: int, after: int = 0) -> int:
    """Return the least whole number above ``after`` from which a condition holds, or ``limit + 1``.

    For conditions that rise and fall by steps, such as the power of an exact test. Up to ``SMALL``, a
    condition has to hold for ``IN_A_ROW`` numbers in a row; above, steps are too small to matter.
    """
    least = least_whole(reached, limit, after)
    while least < min(SMALL, limit):
        following = range(least + 1, least + IN_A_ROW)
        failing = next((number for number in following if not reached(number)), None)
        if failing is None:
            break
        least = least_whole(reached, limit, failing)
    return least
