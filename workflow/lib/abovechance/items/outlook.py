"""The information in the answers so far about abilities and the remaining examples."""

from __future__ import annotations

import numpy as np
from scipy import signal, special
from scipy.special import logsumexp

from abovechance.core.arrays import Bools, Floats, Ints
from abovechance.items.questions import Question
from abovechance.items.response_theory import WIDEST, Items, sharpest

SPACING = (0.01, 0.1)  # of abilities
PER_DEVIATION = 4  # of these, of the sharpest ability


def thin(cells: Ints) -> Ints:
    """Return about fifty of them."""
    return cells[:: len(cells) // 50 + 1]


class Outlook:
    """How probable each answer is with each ability, by what the examples that are left turn out to be."""

    def __init__(
        self,
        question: Question,
        first: Ability,
        second: Ability | NoModel,
        scores: Floats,
        enough: float,
    ) -> None:
        self._question, self._sides, self._enough = question, (first, second), enough
        self._unseen, self._total = np.isnan(scores), float(np.nansum(scores))
        self._sums = [side.sums_of(self._unseen) for side in self._sides]

    def _possible(self, rows: Ints, columns: Ints, least: float) -> Bools:
        """Return pairs of abilities that the answers so far leave."""
        first, second = self._sides
        return first.highest[rows, None] + second.highest[columns] > least

    def seems_sure(self, rows: Ints, columns: Ints, least: float) -> tuple[bool, bool]:
        """Whether all possible abilities of some say above, and whether below; as if sums were normal."""
        (means, variances), (second_sums, other_variances) = self._sums
        mean = means[rows, None] - second_sums[columns] + self._total
        deviation = np.sqrt(np.maximum(variances[rows, None] + other_variances[columns], 1e-12))
        open_ = self._possible(rows, columns, least)
        # sums are whole numbers: half of one further
        above = special.ndtr((mean - self._question.largest - 0.5) / deviation)
        below = special.ndtr((self._question.smallest - 0.5 - mean) / deviation)
        return bool((above[open_] >= self._enough).all()), bool((below[open_] >= self._enough).all())

    def is_sure(self, above: bool, rows: Ints, columns: Ints, least: float) -> bool:
        """Return the same of one of the two, by the distributions that sums have."""
        first, second = self._sides
        first_counts, second_counts = first.counts(rows, self._unseen), second.counts(columns, self._unseen)
        if above:
            chance = more(first_counts, second_counts, self._question.largest - self._total)
        else:
            chance = more(second_counts, first_counts, self._total - self._question.smallest).T
        return bool((chance[self._possible(rows, columns, least)] >= self._enough).all())


def more(first: Floats, second: Floats, limit: float) -> Floats:
    """(ones, others) the probability that one count is more than another by more than a limit.

    Parameters
    ----------
    first, second
        (ones, counts), (others, counts) probabilities of 0, 1, ...
    """
    places = np.arange(first.shape[1]) - int(np.floor(limit)) - 1  # up to which the other count may be
    highest = second.shape[1] - 1
    at_most = np.cumsum(second, axis=1)[:, np.clip(places, 0, highest)]
    return first @ np.where(places < 0, 0.0, at_most).T


class NoModel:
    """A stand-in for the second model if there is one model only: it answers nothing correctly."""

    mixture = 0.0
    highest = np.zeros(1)

    def sums_of(self, _unseen: Bools) -> tuple[Floats, Floats]:
        return np.zeros(1), np.zeros(1)

    def counts(self, _cells: Ints, _unseen: Bools) -> Floats:
        return np.ones((1, 1))


class Ability:
    """The information in the answers so far about the ability of one model."""

    def __init__(self, items: Items) -> None:
        self._items = items
        value = np.column_stack([items.discrimination, items.difficulty])
        self._step = float(np.clip(sharpest(value) / PER_DEVIATION, *SPACING))
        self._grid: Floats = np.linspace(-WIDEST, WIDEST, 2 * int(np.ceil(WIDEST / self._step)) + 1)
        self._probability = np.clip(items.probability(self._grid), 1e-9, 1 - 1e-9)  # (grid, examples)
        weights = -(self._grid**2) / 2
        self._weights: Floats = weights - logsumexp(weights)
        self.likelihood: Floats = np.zeros(len(self._grid))
        self._slope: Floats = np.zeros(len(self._grid))  # of the likelihood

    @property
    def highest(self) -> Floats:
        """(grid,) at least the logarithm of the likelihood anywhere between the abilities next to each.

        By its tangent, since it is concave; beyond the ends, it may be 0.
        """
        maximum: Floats = self.likelihood + np.abs(self._slope) * self._step
        maximum[0] = 0.0 if self._slope[0] < 0 else maximum[0]
        maximum[-1] = 0.0 if self._slope[-1] > 0 else maximum[-1]
        return maximum

    def sums_of(self, unseen: Bools) -> tuple[Floats, Floats]:
        """(grid,) the mean and the variance of how many of some examples are right, at each ability."""
        p = self._probability[:, unseen]
        return p.sum(axis=1), (p * (1 - p)).sum(axis=1)

    def counts(self, cells: Ints, unseen: Bools) -> Floats:
        """(cells, counts) the probability of 0, 1, ... right of some examples, at some abilities of the grid.

        A Poisson binomial distribution, with an absolute error near 1e-16.
        """
        chances = self._probability[np.ix_(cells, np.flatnonzero(unseen))]
        whole = 2 ** int(np.ceil(np.log2(max(chances.shape[1], 1))))
        chances = np.pad(chances, ((0, 0), (0, whole - chances.shape[1])))
        pmf: Floats = np.stack([1 - chances, chances], axis=2)  # (cells, parts, counts)
        while pmf.shape[1] > 1:
            pmf = signal.fftconvolve(pmf[:, ::2], pmf[:, 1::2], axes=2)
        return np.maximum(pmf[:, 0], 0.0)

    def tell(self, place: int, probability: float) -> None:
        """One more answer."""
        chance = self._probability[:, place]
        self.likelihood = self.likelihood + np.log(chance if probability else 1 - chance)
        self._slope = self._slope + float(self._items.discrimination[place, 0]) * (probability - chance)

    @property
    def mixture(self) -> float:
        """The logarithm of the likelihood, averaged over a standard normal ability."""
        return float(logsumexp(self.likelihood + self._weights))

    @property
    def _posterior(self) -> Floats:
        logs = self.likelihood + self._weights
        return np.exp(logs - logsumexp(logs))

    @property
    def expected(self) -> Floats:
        """(examples,) the probability that each is right."""
        return self._posterior @ self._probability

    @property
    def information(self) -> Floats:
        """(examples,) Fisher's information of each at the mean of the ability."""
        p = self._items.probability(self._posterior @ self._grid)[0]
        return self._items.discrimination[:, 0] ** 2 * p * (1 - p)
