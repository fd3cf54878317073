"""How many examples a random guesser answers correctly: the Poisson binomial distribution.

Examples of equal chance are one binomial; the groups are convolved directly. All terms are
positive, so no digits cancel. Only probabilities that floating point can tell from 0 are kept, which
of ten million examples are some hundred thousand.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from heapq import heapify, heappop, heappush

import numpy as np
from numpy.typing import ArrayLike

from abovechance.core.arrays import Floats

Counts = tuple[tuple[float, int], ...]

# Up to so many examples, distributions are small, and many are kept; of larger ones, a few.
SMALL = 2_000
# Below it, numbers lose digits, and rounding keeps products from reaching 0.
TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True)
class Distribution:
    """The number of correct examples X of one guesser.

    Attributes
    ----------
    examples
        Number of examples.
    first
        The least number of correct examples with a probability above 0 in floating point.
    pmf
        (points,) P(X = first), P(X = first + 1), ...
    log_cdf
        (points,) log P(X <= first), ...; the last is 0.
    """

    examples: int
    first: int
    pmf: Floats
    log_cdf: Floats

    def mass(self, correct: ArrayLike) -> Floats:
        """P(X = correct) of whole numbers; 0 outside of what can be."""
        place = np.asarray(correct) - self.first
        inside = (place >= 0) & (place < len(self.pmf))
        return np.where(inside, self.pmf[np.where(inside, place, 0)], 0.0)

    def log_at_most(self, correct: ArrayLike) -> Floats:
        """log P(X <= correct) of whole numbers; ``-inf`` below what can be, 0 above it."""
        place = np.asarray(correct) - self.first
        return np.where(place < 0, -np.inf, self.log_cdf[np.clip(place, 0, len(self.log_cdf) - 1)])


def distribution(counts: Counts) -> Distribution:
    """Return the distribution of ((chance, examples of this chance), ...)."""
    return (_small if sum(count for _, count in counts) <= SMALL else _large)(counts)


def _computed(counts: Counts) -> Distribution:
    parts = [(*_binomial(chance, count), count) for chance, count in counts]
    heapify(queue := [(len(values), place, first, values) for place, (first, values, _) in enumerate(parts)])
    for place in range(len(parts), 2 * len(parts) - 1):  # short ones first
        (_, _, first, values), (_, _, other_first, next_values) = heappop(queue), heappop(queue)
        start, product = _trimmed(np.convolve(values, next_values))
        heappush(queue, (len(product), place, first + other_first + start, product))
    _, _, first, pmf = queue[0]
    above = np.append(np.cumsum(pmf[::-1])[::-1][1:], 0.0)  # P(X > k)
    with np.errstate(divide="ignore"):
        log_cdf = np.where(above < 0.5, np.log1p(-np.minimum(above, 0.5)), np.log(np.cumsum(pmf)))
    pmf.setflags(write=False)
    log_cdf.setflags(write=False)
    return Distribution(sum(count for _, count in counts), first, pmf, log_cdf)


_small = lru_cache(maxsize=4096)(_computed)
_large = lru_cache(maxsize=64)(_computed)


def _binomial(chance: float, count: int) -> tuple[int, Floats]:
    """Return the first place of probabilities above 0, and these, by ratios from the mode outwards."""
    if chance in (0.0, 1.0) or count == 0:
        return (count if chance else 0), np.ones(1)
    miss = 1.0 - chance
    mode = min(int((count + 1) * chance), count)

    def up(steps: Floats) -> Floats:
        correct = mode + steps
        return ((count - correct) * chance) / ((correct + 1) * miss)

    def down(steps: Floats) -> Floats:
        correct = mode - steps
        return (correct * miss) / ((count - correct + 1) * chance)

    above = _products(up, count - mode)
    below = _products(down, mode)
    first = mode - len(below)
    relative: Floats = np.concatenate([below[::-1], [1.0], above])
    # What rounding took from 1 - chance is in every ratio; the difference is exact.
    steps = mode - first - np.arange(len(relative), dtype=np.float64)
    relative *= np.exp(steps * (((1.0 - miss) - chance) / miss))
    relative /= relative.sum()
    start, probabilities = _trimmed(relative)
    return first + start, probabilities


def _products(ratio: Callable[[Floats], Floats], limit: int) -> Floats:
    """The products of the first ratios, up to ``limit``, as long as floating point has all their digits."""
    parts: list[Floats] = []
    computed, last, length = 0, 1.0, 1024
    while computed < limit and last > TINY:
        steps = np.arange(computed, min(computed + length, limit), dtype=np.float64)
        part = np.cumprod(np.concatenate([[last], ratio(steps)]))[1:]
        parts.append(part)
        computed, last, length = computed + len(steps), float(part[-1]), 2 * length
    products = np.concatenate(parts) if parts else np.zeros(0)
    return products[products > TINY]


def _trimmed(pmf: Floats) -> tuple[int, Floats]:
    """Return the first place of probabilities that floating point can hold, and these."""
    nonzero = np.flatnonzero(pmf)
    return int(nonzero[0]), pmf[nonzero[0] : nonzero[-1] + 1]
