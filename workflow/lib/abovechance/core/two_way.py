"""The mean of an example over prompts that are not all evaluated on it."""

from __future__ import annotations

import numpy as np

from abovechance.core.arrays import Floats

ROUNDS, CLOSE = 1000, 1e-10


def adjusted_means(values: Floats) -> Floats:
    """(examples,) each example's mean over rows, as if every row had every example.

    Of an example that lacks some rows, the plain mean has in it how high the others are for all examples.
    Here, a value is that of its row plus that of its example, fitted by least squares (the two-way table
    without interaction), and an example's mean is its own part with the mean of all rows'.

    Parameters
    ----------
    values
        (rows, examples); missing where there is none. A row is a prompt, or a setting.

    Returns
    -------
    ndarray
        The plain mean where nothing is missing; missing for an example without a value.
    """
    there = np.isfinite(values)
    rows, examples = there.any(axis=1), there.any(axis=0)
    found = np.full(values.shape[1], np.nan)
    if not rows.any():
        return found
    there = there[np.ix_(rows, examples)]
    given = np.where(there, values[np.ix_(rows, examples)], 0.0)
    per_row, per_example = there.sum(axis=1), there.sum(axis=0)
    of_rows = np.zeros(len(given))
    for _ in range(1 if there.all() else ROUNDS):
        of_examples = (given.sum(axis=0) - of_rows @ there) / per_example
        before, of_rows = of_rows, (given.sum(axis=1) - there @ of_examples) / per_row
        of_rows -= of_rows.mean()
        if np.abs(of_rows - before).max() <= CLOSE * (1 + np.abs(of_rows).max()):
            break
    found[examples] = (given.sum(axis=0) - (0 if there.all() else of_rows @ there)) / per_example
    return found
