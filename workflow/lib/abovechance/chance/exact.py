"""The exact distribution of a sum of cells over all arrangements of gold answers, where it can be computed.

A stratum is a square table: one row for each example, one column for each of their gold answers, and the sum
of one cell in each row and column. Two cases are exact in reasonable time. If cells are 0 or one constant,
and each kind of row has the constant in one kind of column at most (accuracy), the number of such cells
follows from rook polynomials. If rows and columns are of few kinds (two labels), all tables of their counts
are gone through. The strata and the examples that are drawn by themselves are independent, so their
distributions are convolved.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import comb, factorial, floor, log10, prod

import numpy as np

from abovechance.core.arrays import Bools, Floats, Ints

MOST_STEPS = 200_000
DECIMALS = 12  # sums that agree to so many decimals are one, relative to the largest one


@dataclass(frozen=True)
class Discrete:
    """A distribution of a number.

    Attributes
    ----------
    values
        (points,) ascending.
    weights
        (points,) probabilities above 0; their sum is 1.
    """

    values: Floats
    weights: Floats

    @classmethod
    def from_values(cls, values: Floats, weights: Floats | None = None) -> Discrete:
        """Return the distribution of values with weights, or equal ones; equal values become one."""
        rounded, place = np.unique(np.round(values, _decimals(values)), return_inverse=True)
        totals = np.bincount(place.ravel(), weights, len(rounded)).astype(np.float64)
        return cls((rounded + 0.0)[totals > 0], totals[totals > 0] / totals.sum())

    @property
    def mean(self) -> float:
        """The expected value."""
        return float(self.values @ self.weights)

    @property
    def interval(self) -> tuple[float, float]:
        """The 2.5 % and 97.5 % quantiles."""
        below = np.cumsum(self.weights)
        low, high = (self.values[int((below < q - 1e-12).sum())] for q in (0.025, 0.975))
        return float(low), float(high)

    def best_of(self, times: float, sign: float = 1.0) -> Discrete:
        """Return the distribution of the largest (or with a negative sign, lowest) of independent numbers."""
        order = slice(None, None, 1 if sign > 0 else -1)
        weights = np.diff(np.cumsum(self.weights[order]) ** times, prepend=0.0)
        return Discrete(self.values, weights[order] / weights.sum())

    def best_with(self, rival: Discrete, sign: float = 1.0) -> Discrete:
        """Return the distribution of the larger (with a negative sign, lower) of two independent numbers."""
        values = np.union1d(self.values, rival.values)
        order = slice(None, None, 1 if sign > 0 else -1)
        below = np.ones(len(values))
        for side in (self, rival):
            weights = np.zeros(len(values))
            weights[np.searchsorted(values, side.values)] = side.weights
            below *= np.cumsum(weights[order])
        weights = np.diff(below, prepend=0.0)[order]
        return Discrete(values[weights > 0], weights[weights > 0] / weights.sum())

    def plus(self, addend: Discrete) -> Discrete | None:
        """Return the distribution of the sum of two independent numbers; None if it has too many points."""
        if len(self.values) * len(addend.values) > 50 * MOST_STEPS:
            return None
        sums = np.add.outer(self.values, addend.values).ravel()
        return Discrete.from_values(sums, np.multiply.outer(self.weights, addend.weights).ravel())


def _decimals(values: Floats) -> int:
    """Return the number of decimals to which numbers of this size are compared."""
    largest = float(abs(values).max())
    return DECIMALS - floor(log10(largest)) if largest > 0 else DECIMALS


def convolved(parts: Sequence[Discrete]) -> Discrete | None:
    """Return the distribution of the sum of independent numbers, or None if it has too many points."""
    total = Discrete(np.zeros(1), np.ones(1))
    for part in sorted(parts, key=lambda part: len(part.values)):
        following = total.plus(part)
        if following is None or len(following.values) > MOST_STEPS:
            return None
        total = following
    return total


def of_stratum(cells: Floats) -> Discrete | None:
    """Return the distribution of the sum of cells over all permutations; None if it takes too long.

    Parameters
    ----------
    cells
        (n, n) what each example adds with each of the stratum's gold answers.
    """
    scale = float(abs(cells).max()) or 1.0
    rounded = np.round(cells / scale, DECIMALS)
    rows, row_of = np.unique(rounded, axis=0, return_inverse=True)
    kinds, column_of = np.unique(rows, axis=1, return_inverse=True)
    heights, widths = np.bincount(row_of.ravel()), np.bincount(column_of.ravel())
    lowest, highest = float(kinds.min()), float(kinds.max())
    marked = kinds == highest
    if highest == lowest:
        return Discrete(np.array([float(np.trace(cells))]), np.ones(1))
    if ((kinds == lowest) | marked).all() and _one_each(marked):
        matches = rook_distribution(
            [
                (int(heights[row]), int(widths[column]))
                for row, column in zip(*np.nonzero(marked), strict=True)
            ],
            len(cells),
        )
        counts = np.arange(len(matches))
        sums = counts * cells.max() + (len(cells) - counts) * cells.min()
        return Discrete.from_values(sums, matches)
    return _by_tables(kinds * scale, heights, widths)


def _one_each(marked: Bools) -> bool:
    return bool((marked.sum(axis=0) <= 1).all() and (marked.sum(axis=1) <= 1).all())


def rook_distribution(blocks: Sequence[tuple[int, int]], size: int) -> Floats:
    """(most + 1,) the distribution of the number of matches in a random permutation.

    Parameters
    ----------
    blocks
        (rows, columns) of each kind: a match is a row and a column of the same kind.
    size
        The number of rows, and of columns.

    Notes
    -----
    The number of permutations with exactly k matches is the sum over j >= k of (-1)^(j - k) C(j, k) r_j
    (size - j)!, with r_j the rook polynomial's coefficients (Riordan, 1958, Chapter 7). Whole numbers of any
    size keep this exact.
    """
    rooks = [1]
    for rows, columns in blocks:
        block = [comb(rows, j) * comb(columns, j) * factorial(j) for j in range(min(rows, columns) + 1)]
        following = [0] * (len(rooks) + len(block) - 1)
        for (i, rook_count), (j, block_count) in product(enumerate(rooks), enumerate(block)):
            following[i + j] += rook_count * block_count
        rooks = following
    placed = [count * factorial(size - j) for j, count in enumerate(rooks)]
    total = factorial(size)
    exactly = [
        sum((-1) ** (j - k) * comb(j, k) * placed[j] for j in range(k, len(placed)))
        for k in range(len(placed))
    ]
    return np.array([count / total for count in exactly])


def _by_tables(kinds: Floats, heights: Ints, widths: Ints) -> Discrete | None:
    """Go through all tables of counts: how many rows of each kind meet how many columns of each kind."""
    states: dict[tuple[tuple[int, ...], float], float] = {(tuple(widths.tolist()), 0.0): 1.0}
    steps, decimals = 0, _decimals(kinds)
    for kind, height in zip(kinds, heights.tolist(), strict=True):
        following: dict[tuple[tuple[int, ...], float], float] = {}
        for (remaining, value), weight in states.items():
            total = comb(sum(remaining), height)
            for chosen in _compositions(height, remaining):
                steps += 1
                if steps > MOST_STEPS:
                    return None
                ways = (
                    prod(comb(available, count) for available, count in zip(remaining, chosen, strict=True))
                    / total
                )
                state = (
                    tuple(available - count for available, count in zip(remaining, chosen, strict=True)),
                    round(value + float(kind @ chosen), decimals),
                )
                following[state] = following.get(state, 0.0) + weight * ways
        states = following
    return Discrete.from_values(np.array([value for _, value in states]), np.array([*states.values()]))


def _compositions(total: int, limits: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield all ways to write a number as a sum of numbers that are at most these."""
    if len(limits) == 1:
        if total <= limits[0]:
            yield (total,)
        return
    least = max(0, total - sum(limits[1:]))
    for first in range(least, min(total, limits[0]) + 1):
        for rest in _compositions(total - first, limits[1:]):
            yield (first, *rest)


def concordant_pairs(size: int) -> Discrete:
    """Return the distribution of the share of pairs in the same order, of two rankings without ties.

    The number of pairs in order of a random permutation is a sum of independent uniform numbers from 0 to
    i - 1, i = 1 to size (Kendall, 1938). The rankings have at least 2 items.
    """
    counts = np.ones(1)
    for length in range(2, size + 1):
        # Cumulative sums replace the convolution. Their differences are accurate in the lower half, where
        # numbers increase. The upper half is its mirror image.
        total = len(counts) + length - 1
        sums = np.pad(counts.cumsum(), (0, length - 1), mode="edge")[: (total + 1) // 2]
        lower = sums.copy()
        lower[length:] -= sums[:-length]
        counts = np.concatenate([lower, lower[::-1][total % 2 :]]) / length
    pairs = size * (size - 1) / 2
    return Discrete(np.arange(len(counts)) / pairs, counts)
