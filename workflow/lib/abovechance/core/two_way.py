"""The mean of an example over prompts that are not all evaluated on it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from abovechance.core.arrays import Bools, Floats, Ints
from abovechance.core.errors import InputError

BLOCK = 512  # examples whose equations are solved together
PRECISION = 1e-13  # of a solution: the norm of its residual as a share of that of all values
MOST_ITERATIONS = 10_000


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


def row_effects_without_each(values: Floats) -> Floats:
    """(rows, examples) how far each row is above the others, fitted without one example after the other.

    A value is that of its row plus that of its example, as in ``adjusted_means``. The effects are 0 on
    average of all rows that the other examples link. They are 0 if nothing is missing.

    Parameters
    ----------
    values
        (rows, examples); missing where there is none. Each row and each example has a value.
    """
    mask = np.isfinite(values)
    effects = np.zeros(values.shape)
    if mask.all():
        return effects
    numeric, counts = np.where(mask, values, 0.0), mask.sum(axis=0)
    means = numeric.sum(axis=0) / counts
    centred = np.where(mask, values - means, 0.0)
    # what rounding leaves of large numbers is outside of what the equations can reach
    centred = np.where(mask, centred - centred.sum(axis=0) / counts, 0.0)
    equations = _equations(mask)
    for begin in range(0, len(means), BLOCK):
        block = slice(begin, begin + BLOCK)
        has, share = mask[:, block], mask[:, block] / counts[block]
        right_side = centred.sum(axis=1, keepdims=True) - centred[:, block]

        def without(effect: Floats, has: Bools = has, share: Floats = share) -> Floats:
            of_rows = has * effect
            product: Floats = equations @ effect - of_rows + share * of_rows.sum(axis=0)
            return product

        effects[:, block] = _least_norm(without, right_side, PRECISION * float(np.linalg.norm(centred)))
    return effects


def _least_norm(times: Callable[[Floats], Floats], right_side: Floats, largest: float) -> Floats:
    """(rows, columns) the smallest solution of each column's equations, by conjugate gradients.

    The equations of a column are symmetric and positive semidefinite. From 0 on, the iterations never leave
    what they determine, so rows that nothing links keep an average of 0.

    Parameters
    ----------
    times
        Returns the products of the equations with (rows, columns) numbers.
    right_side
        (rows, columns) the right sides.
    largest
        The largest norm of a residual.

    Raises
    ------
    InputError
        If the iterations do not converge.
    """
    solution, residual = np.zeros_like(right_side), right_side.copy()
    direction, size = residual.copy(), (residual**2).sum(axis=0)
    for _ in range(MOST_ITERATIONS):
        if not (open_columns := size > largest**2).any():
            break
        product = times(direction)
        curvature = (direction * product).sum(axis=0)
        step = np.divide(size, curvature, where=open_columns & (curvature > 0), out=np.zeros_like(size))
        solution += step * direction
        residual -= step * product
        following = (residual**2).sum(axis=0)
        direction = residual + direction * np.divide(following, size, where=size > 0, out=np.zeros_like(size))
        size = following
    if (size > (1e4 * largest) ** 2).any():
        raise InputError("row effects cannot be fitted, because too few responses link the rows")
    return solution


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
    # what the equations leave open of each part
    equations = _equations(mask) + (part[:, None] == part)
    return np.linalg.solve(equations, numeric.sum(axis=1) - mask / mask.sum(axis=0) @ numeric.sum(axis=0))


def _equations(mask: Bools) -> Floats:
    """(rows, rows) the normal equations of the rows' parts, without the examples' parts."""
    shares: Floats = mask / mask.sum(axis=0)
    return np.diag(mask.sum(axis=1).astype(float)) - shares @ mask.T.astype(float)
