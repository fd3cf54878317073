"""The chance of a lucky guess, which is the data's own and never a table's."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray


def chances(correct: Iterable[Iterable[bool]]) -> NDArray[np.float64]:
    """(examples,) chance of a lucky guess: correct choices / choices, in (0, 1].

    Parameters
    ----------
    correct
        (examples, choices) whether each choice is correct.
    """
    return np.array([np.mean(list(flags)) for flags in correct], dtype=np.float64)
