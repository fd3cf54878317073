"""P-values in sentences and tables."""

from __future__ import annotations

import math

from abovechance.core.estimates import ALPHA


def equals(p: float) -> str:
    """Return "= " and the p-value; "< 1e-300" for one that is too small for a number."""
    return f"= {probability(p)}" if p else "< 1e-300"


def probability(value: float) -> str:
    """Return a probability with two decimals, or in scientific notation if it is small.

    A probability just above ``ALPHA`` gets more decimals, so it is never rounded down to ``ALPHA``.
    """
    if value < 0.01:
        return f"{value:.1e}"
    decimals = (f"{value:.{digits}f}" for digits in (2, 3, 4))
    shortest = next((text for text in decimals if (float(text) > ALPHA) == (value > ALPHA)), None)
    return shortest or f"{math.ceil(value * 1e4) / 1e4:.4f}"
