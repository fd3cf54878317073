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
    mask = np.isfinite(values)
    rows, examples = mask.any(axis=1), mask.any(axis=0)
    means = np.full(values.shape[1], np.nan)
    if not rows.any():
        return means
    mask = mask[np.ix_(rows, examples)]
    numeric = np.where(mask, values[np.ix_(rows, examples)], 0.0)
    of_rows = np.zeros(len(numeric)) if mask.all() else _of_rows(numeric, mask)
    means[examples] = (numeric.sum(axis=0) - of_rows @ mask) / mask.sum(axis=0)
    return means


def _of_rows(numeric: Floats, mask: Bools) -> Floats:
    """(rows,) the rows' parts, which are 0 on average of all that examples link."""
    rows, examples = mask.shape
    linked = sparse.coo_array(mask)
    adjacency = sparse.coo_array((linked.data, (linked.row, linked.col + rows)), shape=(rows + examples,) * 2)
    _, part = connected_components(adjacency, directed=False)
    if rows <= examples:
        of_rows = _solved(numeric, mask, part[:rows])
    else:
        of_examples = _solved(numeric.T, mask.T, part[rows:])
        of_rows = (numeric.sum(axis=1) - mask @ of_examples) / mask.sum(axis=1)
    sums, counts = np.bincount(part[:rows], of_rows), np.bincount(part[:rows])
    return of_rows - (sums / np.maximum(counts, 1))[part[:rows]]


def _solved(numeric: Floats, mask: Bools, part: Ints) -> Floats:
    """(rows,) the solution of the normal equations without the examples' parts, 0 on average of each part."""
    weights = mask / mask.sum(axis=0)
    equations = np.diag(mask.sum(axis=1).astype(float)) - weights @ mask.T.astype(float)
    # what the equations leave open of each part
    equations += part[:, None] == part
    return np.linalg.solve(equations, numeric.sum(axis=1) - weights @ numeric.sum(axis=0))
