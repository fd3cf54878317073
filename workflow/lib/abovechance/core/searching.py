"""The least whole number with which something becomes true."""

from __future__ import annotations

from collections.abc import Callable


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
