"""Evaluating on one example after the other until a question is decided, with a stated error.

Whoever looks after each example and stops where it suits errs more often than a single test says. Here a
question is decided where a nonnegative martingale, which starts at 1, reaches 1 / level: it does so with a
probability of at most the level however often it is looked at (Ville, 1939). Three ways to choose examples:

``random``       uniformly; the bet on the mean of a finite population (Waudby-Smith and Ramdas, 2024).
``assisted``     uniformly, too: what a fitted model expects of the examples that are left stands in for them,
                 and the drawn one says by how much it is off, so that the mean is right whatever the model is
                 worth, and known sooner where it is worth something.
``information``  the one with the most Fisher information on the ability. The likelihood of a mixture of
                 abilities by that of each is the martingale, against all abilities with which the examples
                 that are left would give another answer more often than half of the level; the other half
                 is the martingale's. Right where the fitted model is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import special
from scipy.special import logsumexp

from abovechance.core.arrays import Floats
from abovechance.core.errors import InputError
from abovechance.item_analysis.response_theory import Items

Way = Literal["random", "assisted", "information"]
WAYS: tuple[Way, ...] = ("random", "assisted", "information")
LEVEL = 0.05
BETS = np.linspace(0.05, 0.95, 19)  # shares of the highest bet, which are all made at once
GRID = np.linspace(-6, 6, 121)  # abilities


@dataclass(frozen=True)
class Question:
    """Whether the sum of scores over all examples is more than one number.

    Attributes
    ----------
    most
        The largest sum that is not ``above``.
    least
        The smallest that is not ``below``; where it is more than ``most``, one of the two is true.
    low, high
        The least and the highest score of an example.
    names
        What is said where the sum is above, is below, and where it is neither.
    examples
        How many there are, where the question depends on it.
    """

    most: float
    least: float
    low: float
    high: float
    names: tuple[str, str, str]
    examples: int | None = None

    @property
    def models(self) -> int:
        """How many models are asked each example."""
        return 2 if self.low < 0 else 1

    def answer(self, total: float) -> str:
        """What is true of a sum over all examples."""
        above, below, neither = self.names
        return above if total > self.most else below if total < self.least else neither

    def error(self, level: float) -> float:
        """The level of each of the two tests: where both can be wrong of one sum, half of it."""
        return level if self.least > self.most else level / 2


def better_than(baseline: float, examples: int) -> Question:
    """Whether the accuracy on all examples is above a baseline, such as those of ``RandomBaseline``.

    Equal to it is not above it.
    """
    if not (0 <= baseline <= 1 and examples >= 1):
        raise InputError(
            f"baseline {baseline:g}, {examples} examples; right would be in [0, 1], and 1 or more"
        )
    # sums of accuracies are whole numbers, up to rounding
    most = float(np.floor(baseline * examples + 1e-9))
    return Question(most, most + 1, 0.0, 1.0, ("above", "not above", "not above"), examples)


def better_of_two() -> Question:
    """Which of two models has more examples right."""
    return Question(0.0, 0.0, -1.0, 1.0, ("first", "second", "equal"))


class Evaluation:
    """One evaluation: which example is next, and what its answer decides.

    Examples
    --------
    >>> evaluation = Evaluation(better_than(0.25, 100), 100, way="random")
    >>> while evaluation.decision is None:
    ...     evaluation.tell(ask(evaluation.next()))

    Attributes
    ----------
    decision
        One of the question's names; None while it is open. With all examples evaluated, it is decided.
    seen
        The places of the examples so far, in their order.
    """

    def __init__(
        self,
        question: Question,
        examples: int,
        items: Items | None = None,
        way: Way = "assisted",
        level: float = LEVEL,
        seed: int = 0,
    ) -> None:
        """Begin.

        Parameters
        ----------
        examples
            How many there are.
        items
            The fitted model of these examples, of one dimension, by other rows; for ``random`` none.
        level
            The most that a wrong decision may be probable.

        Raises
        ------
        InputError
            If the way needs a model, or the model is of other examples or of several dimensions.
        """
        if way not in WAYS:
            raise InputError(f"the way '{way}'; right would be one of {', '.join(WAYS)}")
        if not 0 < level < 1:
            raise InputError(f"level {level:g}; right would be in (0, 1)")
        if way != "random" and items is None:
            raise InputError(f"the way '{way}' needs a fitted model; right would be `items`")
        if examples < 1 or question.examples not in (None, examples):
            raise InputError(f"{examples} examples; right would be {question.examples or 'one or more'}")
        if items is not None and not np.isfinite([*items.discrimination.ravel(), *items.difficulty]).all():
            raise InputError("the model has parameters that are no numbers")
        if items is not None and (items.dimensions != 1 or len(items.difficulty) != examples):
            raise InputError(
                f"the model has {len(items.difficulty)} items and {items.dimensions} dimensions; right would "
                f"be {examples} and 1"
            )
        self.question, self.way = question, way
        self.decision: str | None
        self.seen: list[int] = []
        # by information, half of the error is left for what the examples that are left turn out to be
        self._error = question.error(level) / (2 if way == "information" else 1)
        self._limit = -np.log(self._error)
        self._generator = np.random.default_rng(seed)
        self._scores = np.full(examples, np.nan)
        self._abilities = (
            [] if items is None or way == "random" else [_Ability(items) for _ in range(question.models)]
        )
        self._capital = np.zeros((2, len(BETS)))  # logarithms, for above and below
        self._asked: int | None = None
        self.decision = self._decided()

    def next(self) -> int:
        """The place of the example to evaluate now; the same one until its answer is told.

        Raises
        ------
        InputError
            If the question is decided.
        """
        if self.decision is not None:
            raise InputError(f"the question is decided: {self.decision}")
        if self._asked is None:
            unseen = np.flatnonzero(np.isnan(self._scores))
            if self.way == "information":
                self._asked = int(unseen[np.argmax(self._information(unseen))])
            else:
                self._asked = int(self._generator.choice(unseen))
        return self._asked

    def tell(self, *right: float) -> None:
        """Whether the example that was asked is right; of a comparison, by the first and by the second."""
        place = self.next()
        if len(right) != self.question.models or not set(right) <= {0, 1}:
            raise InputError(f"the answers {right}; right would be 0 or 1, one for each model")
        score = right[0] - (right[1] if len(right) > 1 else 0)
        if self.way != "information":
            self._bet(place, score)
        self._scores[place] = score
        self.seen.append(place)
        self._asked = None
        for ability, own in zip(self._abilities, right, strict=False):
            ability.tell(place, own)
        self.decision = self._decided()

    def _expected(self) -> Floats:
        """(examples,) what is expected of each example's score."""
        if not self._abilities:
            return np.zeros(len(self._scores))
        means = [ability.expected for ability in self._abilities]
        found: Floats = means[0] - means[1] if len(means) > 1 else means[0]
        return found

    def _information(self, unseen: np.ndarray) -> Floats:
        found: Floats = np.sum([ability.information[unseen] for ability in self._abilities], axis=0)
        return found

    def _bet(self, place: int, score: float) -> None:
        """What the bets on the sum are worth after one more example."""
        question, expected = self.question, self._expected()
        unseen = np.isnan(self._scores)
        left, own = unseen.sum(), expected[unseen]
        # its expectation over which example is drawn is the sum over all examples
        base = float(np.nansum(self._scores) + own.sum())
        value = base + left * (score - expected[place])
        least, most = base + left * (question.low - own.max()), base + left * (question.high - own.min())
        gains = [
            (value - question.most, question.most - least),
            (question.least - value, most - question.least),
        ]
        for number, (gain, loss) in enumerate(gains):  # of a bet of 1, and the most that it can lose
            if loss > 0:  # else what is left decides it
                self._capital[number] += np.log1p(BETS * gain / loss)

    def _decided(self) -> str | None:
        question = self.question
        above, below, neither = question.names
        left = int(np.isnan(self._scores).sum())
        total = float(np.nansum(self._scores))
        if total + left * question.low > question.most:
            return above
        if total + left * question.high < question.least:
            return below
        if not left:
            return neither
        for name, evidence in zip((above, below), self._evidence(), strict=True):
            if evidence >= self._limit:
                return name
        return None

    def _evidence(self) -> tuple[float, float]:
        """Logarithms of the martingales against all sums that are not above, and all that are not below."""
        if self.way != "information":
            against = logsumexp(self._capital, axis=1) - np.log(len(BETS))
            return float(against[0]), float(against[1])
        unseen = np.isnan(self._scores)
        sums = [ability.sums_of(unseen) for ability in self._abilities]
        if len(sums) == 1:
            ((means, variances),), own = sums, self._abilities[0]
            mixture, likelihoods = own.mixture, own.likelihood
        else:
            first, second = self._abilities
            means = sums[0][0][:, None] - sums[1][0]
            variances = sums[0][1][:, None] + sums[1][1]
            mixture = first.mixture + second.mixture
            likelihoods = first.likelihood[:, None] + second.likelihood
        means, deviations = means + np.nansum(self._scores), np.sqrt(np.maximum(variances, 1e-12))
        # sums are whole numbers: half of one further
        above = special.ndtr((means - self.question.most - 0.5) / deviations)
        below = special.ndtr((self.question.least - 0.5 - means) / deviations)
        return (
            _against(mixture, likelihoods[above < 1 - self._error]),
            _against(mixture, likelihoods[below < 1 - self._error]),
        )


def _against(mixture: float, likelihoods: Floats) -> float:
    """The logarithm of the martingale against all abilities of these likelihoods.

    Where there are none, since the fitted model has one answer for all abilities, that is no evidence.
    """
    return mixture - float(likelihoods.max()) if likelihoods.size else -np.inf


class _Ability:
    """What the answers so far say of the ability of one model."""

    def __init__(self, items: Items) -> None:
        self._items = items
        self._probability = np.clip(items.probability(GRID), 1e-9, 1 - 1e-9)  # (grid, examples)
        weights = -(GRID**2) / 2
        self._weights: Floats = weights - logsumexp(weights)
        self.likelihood: Floats = np.zeros(len(GRID))

    def sums_of(self, places: np.ndarray) -> tuple[Floats, Floats]:
        """(grid,) the mean and the variance of how many of some examples are right, at each ability."""
        p = self._probability[:, places]
        return p.sum(axis=1), (p * (1 - p)).sum(axis=1)

    def tell(self, place: int, right: float) -> None:
        """One more answer."""
        chance = self._probability[:, place]
        self.likelihood = self.likelihood + np.log(chance if right else 1 - chance)

    @property
    def mixture(self) -> float:
        """The logarithm of the likelihood, averaged over a standard normal ability."""
        return float(logsumexp(self.likelihood + self._weights))

    @property
    def _posterior(self) -> Floats:
        logs = self.likelihood + self._weights
        found: Floats = np.exp(logs - logsumexp(logs))
        return found

    @property
    def expected(self) -> Floats:
        """(examples,) the probability that each is right."""
        found: Floats = self._posterior @ self._probability
        return found

    @property
    def information(self) -> Floats:
        """(examples,) Fisher's information of each at the mean of the ability."""
        p = self._items.probability(self._posterior @ GRID)[0]
        found: Floats = self._items.discrimination[:, 0] ** 2 * p * (1 - p)
        return found


def replay(evaluation: Evaluation, *responses: ArrayLike) -> Evaluation:
    """Go on with an evaluation on stored responses, until it is decided.

    Parameters
    ----------
    responses
        (examples,) 0 or 1, of one model or, for a comparison, of each of the two.
    """
    own: Sequence[Floats] = [np.asarray(one, dtype=float) for one in responses]
    while evaluation.decision is None:
        place = evaluation.next()
        evaluation.tell(*[float(one[place]) for one in own])
    return evaluation
