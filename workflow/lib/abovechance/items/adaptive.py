"""Evaluating on one example after the other until a question is decided, with a stated error.

Whoever looks after each example and stops where it suits errs more often than a single test says. Here a
question is decided where a nonnegative martingale, which starts at 1, reaches 1 / alpha: it does so with a
probability of at most alpha however often it is looked at (Ville, 1939). Three ways to choose examples:

``random``       uniformly; the bet on the mean of a finite population (Waudby-Smith and Ramdas, 2024).
``assisted``     uniformly, too: what a fitted model expects of the examples that are left stands in for them,
                 and the drawn one says by how much it is off, so that the mean is right whatever the model is
                 worth, and known sooner where it is worth something.
``information``  the one with the most Fisher information on the ability. The likelihood of a mixture of
                 abilities by that of each is the martingale, against this ability; those that it leaves have
                 to give the same answer, but for half of alpha, by the distribution of what the examples
                 that are left turn out to be. The other half is the martingale's. Right where the fitted
                 model is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from abovechance.core.arrays import Floats
from abovechance.core.errors import InputError
from abovechance.core.estimates import ALPHA
from abovechance.items.outlook import Ability, NoModel, Outlook, thin
from abovechance.items.questions import Question
from abovechance.items.response_theory import Items

Way = Literal["random", "assisted", "information"]
WAYS: tuple[Way, ...] = ("random", "assisted", "information")
BETS = np.linspace(0.05, 0.95, 19)  # shares of the highest bet, which are all made at once
ROUNDING = 1e-9  # of an example; a bet on less is one on rounding


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
        alpha: float = ALPHA,
        seed: int = 0,
    ) -> None:
        """Begin.

        Parameters
        ----------
        examples
            How many there are.
        items
            The fitted model of these examples, of one dimension, by other rows; for ``random`` none.
        alpha
            The most that a wrong decision may be probable; by ``information`` it is no more where the fitted
            model is right, and else may be far more.

        Raises
        ------
        InputError
            If the way needs a model, or the model is of other examples or of several dimensions.
        """
        if way not in WAYS:
            raise InputError(f"the way '{way}'; right would be one of {', '.join(WAYS)}")
        if not 0 < alpha < 1:
            raise InputError(f"alpha {alpha:g}; right would be in (0, 1)")
        if way != "random" and items is None:
            raise InputError(f"the way '{way}' needs a fitted model; right would be `items`")
        whole = isinstance(examples, int | np.integer) and examples >= 1
        if not whole or question.examples not in (None, examples):
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
        self._error = question.error(alpha) / (2 if way == "information" else 1)
        self._limit = -np.log(self._error)
        self._generator = np.random.default_rng(seed)
        self._scores = np.full(examples, np.nan)
        self._abilities = (
            [] if items is None or way == "random" else [Ability(items) for _ in range(question.models)]
        )
        self._capital = np.zeros((2, len(BETS)))  # logarithms, for above and below
        self._asked: int | None = None
        self.decision = self._decided()

    @property
    def examples(self) -> int:
        """How many there are."""
        return len(self._scores)

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
        if len(right) != self.question.models or not all(
            np.ndim(one) == 0 and one in (0, 1) for one in right
        ):
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
        return means[0] - means[1] if len(means) > 1 else means[0]

    def _information(self, unseen: np.ndarray) -> Floats:
        return np.sum([ability.information[unseen] for ability in self._abilities], axis=0)

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
            if loss > ROUNDING * left:  # else what is left decides it
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
        if self.way == "information":
            return self._foreseen()
        evidence = logsumexp(self._capital, axis=1) - np.log(len(BETS))
        for name, own in zip((above, below), evidence, strict=True):
            if own >= self._limit:
                return name
        return None

    def _foreseen(self) -> str | None:
        """What all abilities that are possible say of the sum over all examples, if they say the same.

        Where all others would say so too, no response has shown anything.
        """
        first, second = self._abilities if len(self._abilities) > 1 else (self._abilities[0], NoModel())
        outlook = Outlook(self.question, first, second, self._scores, 1 - self._error)
        least = first.mixture + second.mixture - self._limit
        rows = np.flatnonzero(first.highest + second.highest.max() > least)
        columns = np.flatnonzero(second.highest + first.highest.max() > least)
        # a few of them first, which mostly do not say the same
        if not any(outlook.seems_sure(thin(rows), thin(columns), least)):
            return None
        all_cells = [thin(np.arange(len(one.highest))) for one in (first, second)]
        anyway = outlook.seems_sure(all_cells[0], all_cells[1], -np.inf)
        seems = outlook.seems_sure(rows, columns, least)
        for place, name in enumerate(self.question.names[:2]):
            if seems[place] and not anyway[place] and outlook.is_sure(place == 0, rows, columns, least):
                return name
        return None


def replay(evaluation: Evaluation, *responses: ArrayLike) -> Evaluation:
    """Go on with an evaluation on stored responses, until it is decided.

    Parameters
    ----------
    responses
        (examples,) 0 or 1, of one model or, for a comparison, of each of the two.

    Raises
    ------
    InputError
        If they are of other models or examples than the evaluation.
    """
    own: Sequence[Floats] = [np.asarray(one, dtype=float) for one in responses]
    models, examples = evaluation.question.models, evaluation.examples
    if [one.shape for one in own] != [(examples,)] * models:
        raise InputError(
            f"responses of the shapes {[one.shape for one in own]}; right would be {models} of {examples}"
        )
    while evaluation.decision is None:
        place = evaluation.next()
        evaluation.tell(*[float(one[place]) for one in own])
    return evaluation
