"""The mean of an example over prompts that are not all evaluated on it."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from abovechance.core.arrays import Bools, Floats, Ints


def adjusted_means(values: Floats) -> Floats:
    """(examples,) each example's mean over rows, as if every row had every example.

    Of an example that lacks some rows, the plain mean has in it how high the others are for all examples.
    Here, a value is that of its row plus that of its example, fitted by least squares (the two-way table
    without interaction), and an example's mean is its own part with the mean of all rows'. Rows that no
    examples link to others are as high as these on average.

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
    of_rows = np.zeros(len(given)) if there.all() else _of_rows(given, there)
    found[examples] = (given.sum(axis=0) - of_rows @ there) / there.sum(axis=0)
    return found


def _of_rows(given: Floats, there: Bools) -> Floats:
    """(rows,) the rows' parts, which are 0 on average of all that examples link."""
    rows, examples = there.shape
    linked = sparse.coo_array(there)
    both = sparse.coo_array((linked.data, (linked.row, linked.col + rows)), shape=(rows + examples,) * 2)
    _, part = connected_components(both, directed=False)
    if rows <= examples:
        found = _solved(given, there, part[:rows])
    else:
        of_examples = _solved(given.T, there.T, part[rows:])
        found = (given.sum(axis=1) - there @ of_examples) / there.sum(axis=1)
    sums, counts = np.bincount(part[:rows], found), np.bincount(part[:rows])
    return found - (sums / np.maximum(counts, 1))[part[:rows]]


def _solved(given: Floats, there: Bools, part: Ints) -> Floats:
    """(rows,) the solution of the normal equations without the examples' parts, 0 on average of each part."""
    weights = there / there.sum(axis=0)
    equations = np.diag(there.sum(axis=1).astype(float)) - weights @ there.T.astype(float)
    # what the equations leave open of each part
    equations += part[:, None] == part
    return np.linalg.solve(equations, given.sum(axis=1) - weights @ given.sum(axis=0))
