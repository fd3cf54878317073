"""Evaluate one example after the other until a question is decided, with a stated probability of an error.

A test that is repeated after each example errs more often than it states. Here, a question is decided when a
nonnegative martingale that starts at 1 reaches 1 / alpha. The probability of this is at most alpha, however
often you look (Ville, 1939). There are three ways to choose the next example:

random
    Uniformly. The bet is on the mean of a finite population (Waudby-Smith and Ramdas, 2024).
assisted
    Uniformly. The expectations of a fitted model stand in for the remaining examples, and the drawn example
    shows how far they are off. So the mean is right for any model, and known sooner for a good one.
information
    The example with the most Fisher information about the ability. The martingale is the likelihood of a
    mixture of abilities, divided by that of each ability. The remaining abilities must give the same answer.
    Half of alpha is for this martingale, and half for the outcomes of the remaining examples. This way is
    right only if the fitted model is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from abovechance.core.arrays import Floats, Ints, check_same_order, floats
from abovechance.core.errors import InputError, check_inside
from abovechance.core.estimates import ALPHA
from abovechance.items.outlook import Ability, NoModel, Outlook, thin
from abovechance.items.questions import Question
from abovechance.items.response_theory import Items

Way = Literal["random", "assisted", "information"]
BETS = np.linspace(0.05, 0.95, 19)  # shares of the highest bet, which are all made at once
ROUNDING = 1e-9  # of an example; a bet on less is one on rounding


class Evaluation(ABC):
    """One evaluation: which example is next, and what its answer decides. ``begin`` makes one.

    Attributes
    ----------
    decision
        One of the question's names; None while it is open. With all examples evaluated, it is decided.
    evaluated
        The places of the examples so far, in their order.
    """

    def __init__(self, question: Question, examples: int, error: float) -> None:
        self.question = question
        self.evaluated: list[int] = []
        self._limit = -np.log(error)
        self._scores = np.full(examples, np.nan)
        self._next_place: int | None = None
        self.decision: str | None = None

    @property
    def examples(self) -> int:
        """The number of examples."""
        return len(self._scores)

    def next(self) -> int:
        """Return the place of the example to evaluate now; the same one until its answer is told.

        Raises
        ------
        InputError
            If the question is decided.
        """
        if self.decision is not None:
            raise InputError(f"the question is decided: {self.decision}")
        if self._next_place is None:
            self._next_place = self._choose(np.flatnonzero(np.isnan(self._scores)))
        return self._next_place

    def tell(self, *probabilities: float) -> None:
        """Whether the next example is right; of a comparison, by the first and by the second model."""
        place = self.next()
        if len(probabilities) != self.question.models or not all(
            np.ndim(probability) == 0 and probability in (0, 1) for probability in probabilities
        ):
            raise InputError(f"the answers {probabilities}; expected 0 or 1, one for each model")
        score = probabilities[0] - (probabilities[1] if len(probabilities) > 1 else 0)
        self._observe(place, score, probabilities)
        self._scores[place] = score
        self.evaluated.append(place)
        self._next_place = None
        self.decide()

    def decide(self) -> None:
        """Take the decision if it can be taken: by the remaining examples, or by the evidence so far."""
        question = self.question
        above, below, neither = question.names
        remaining = int(np.isnan(self._scores).sum())
        total = float(np.nansum(self._scores))
        if total + remaining * question.low > question.largest:
            self.decision = above
        elif total + remaining * question.high < question.smallest:
            self.decision = below
        else:
            self.decision = self._by_evidence() if remaining else neither

    @abstractmethod
    def _choose(self, unseen: Ints) -> int:
        """The place of one of the unseen examples."""

    @abstractmethod
    def _observe(self, place: int, score: float, probabilities: Sequence[float]) -> None:
        """Take an answer into account; the scores do not have it yet."""

    @abstractmethod
    def _by_evidence(self) -> str | None:
        """The decision that the answers so far allow."""


class RandomEvaluation(Evaluation):
    """Examples in random order, with bets on the mean of all of them."""

    def __init__(self, question: Question, examples: int, error: float, seed: int) -> None:
        super().__init__(question, examples, error)
        self._generator = np.random.default_rng(seed)
        self._capital = np.zeros((2, len(BETS)))  # logarithms, for above and below

    def _choose(self, unseen: Ints) -> int:
        return int(self._generator.choice(unseen))

    def _expected(self) -> Floats:
        """(examples,) what is expected of each example's score."""
        return np.zeros(len(self._scores))

    def _observe(self, place: int, score: float, probabilities: Sequence[float]) -> None:  # noqa: ARG002
        """Settle the bets on the sum with one more example."""
        question, expected = self.question, self._expected()
        unseen = np.isnan(self._scores)
        remaining, remaining_expected = unseen.sum(), expected[unseen]
        # its expectation over which example is drawn is the sum over all examples
        base = float(np.nansum(self._scores) + remaining_expected.sum())
        value = base + remaining * (score - expected[place])
        least, highest = (
            base + remaining * (question.low - remaining_expected.max()),
            base + remaining * (question.high - remaining_expected.min()),
        )
        gains = [
            (value - question.largest, question.largest - least),
            (question.smallest - value, highest - question.smallest),
        ]
        for number, (gain, loss) in enumerate(gains):  # of a bet of 1, and the most that it can lose
            if loss > ROUNDING * remaining:  # else the remaining examples decide it
                self._capital[number] += np.log1p(BETS * gain / loss)

    def _by_evidence(self) -> str | None:
        evidence = logsumexp(self._capital, axis=1) - np.log(len(BETS))
        for name, log_evidence in zip(self.question.names[:2], evidence, strict=True):
            if log_evidence >= self._limit:
                return name
        return None


class AssistedEvaluation(RandomEvaluation):
    """Examples in random order, with bets on how far a fitted model is off."""

    def __init__(
        self, question: Question, examples: int, error: float, seed: int, abilities: Sequence[Ability]
    ) -> None:
        super().__init__(question, examples, error, seed)
        self._abilities = abilities

    def _expected(self) -> Floats:
        means = [ability.expected for ability in self._abilities]
        return means[0] - means[1] if len(means) > 1 else means[0]

    def _observe(self, place: int, score: float, probabilities: Sequence[float]) -> None:
        super()._observe(place, score, probabilities)
        for ability, probability in zip(self._abilities, probabilities, strict=True):
            ability.tell(place, probability)


class InformationEvaluation(Evaluation):
    """The example with the most Fisher information next, with likelihood ratios of a fitted model."""

    def __init__(self, question: Question, examples: int, error: float, abilities: Sequence[Ability]) -> None:
        # half of the error is left for what the remaining examples turn out to be
        super().__init__(question, examples, error / 2)
        self._error = error / 2
        self._abilities = abilities

    def _choose(self, unseen: Ints) -> int:
        information = np.sum([ability.information[unseen] for ability in self._abilities], axis=0)
        return int(unseen[np.argmax(information)])

    def _observe(self, place: int, score: float, probabilities: Sequence[float]) -> None:  # noqa: ARG002
        for ability, probability in zip(self._abilities, probabilities, strict=True):
            ability.tell(place, probability)

    def _by_evidence(self) -> str | None:
        """Return the answer that all remaining abilities imply for the sum over all examples, if they agree.

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
        all_cells = [thin(np.arange(len(ability.highest))) for ability in (first, second)]
        anyway = outlook.seems_sure(all_cells[0], all_cells[1], -np.inf)
        seems = outlook.seems_sure(rows, columns, least)
        for place, name in enumerate(self.question.names[:2]):
            if seems[place] and not anyway[place] and outlook.is_sure(place == 0, rows, columns, least):
                return name
        return None


WAYS: tuple[Way, ...] = ("random", "assisted", "information")


def begin(
    question: Question,
    examples: int,
    items: Items | None = None,
    way: Way = "assisted",
    alpha: float = ALPHA,
    seed: int = 0,
) -> Evaluation:
    """Begin an evaluation.

    Examples
    --------
    >>> from abovechance.items.questions import better_than
    >>> evaluation = begin(better_than(0.25, 100), 100, way="random")
    >>> while evaluation.decision is None:
    ...     example = evaluation.next()
    ...     evaluation.tell(1)  # whether the model is right on this example
    >>> evaluation.decision
    'above'

    Parameters
    ----------
    examples
        Number of examples of the benchmark.
    items
        The model of these examples, with one dimension, fitted to other rows; None for ``random``.
    way
        The way in which the next example is chosen.
    alpha
        Largest probability of a wrong decision. With ``information``, it holds only if the fitted model is
        right; otherwise, wrong decisions can be much more frequent.

    Raises
    ------
    InputError
        If the way needs a model, or the model is of other examples or of several dimensions.
    """
    if way not in WAYS:
        raise InputError(f"the way '{way}'; expected one of {', '.join(WAYS)}")
    check_inside(0, 1, alpha=alpha)
    whole = isinstance(examples, int | np.integer) and examples >= 1
    if not whole or question.examples not in (None, examples):
        raise InputError(f"{examples} examples; expected {question.examples or 'one or more'}")
    _check_items(items, examples, way)
    error = question.error(alpha)
    abilities = [] if items is None else [Ability(items) for _ in range(question.models)]
    if way == "random":
        evaluation: Evaluation = RandomEvaluation(question, examples, error, seed)
    elif way == "assisted":
        evaluation = AssistedEvaluation(question, examples, error, seed, abilities)
    else:
        evaluation = InformationEvaluation(question, examples, error, abilities)
    evaluation.decide()
    return evaluation


def _check_items(items: Items | None, examples: int, way: Way) -> None:
    """Raise InputError unless a way has the fitted model that it needs."""
    if items is None:
        if way != "random":
            raise InputError(f"the way '{way}' needs a fitted model; use `items`")
        return
    if not np.isfinite([*items.discrimination.ravel(), *items.difficulty]).all():
        raise InputError("the model has parameters that are no numbers")
    if items.dimensions != 1 or len(items.difficulty) != examples:
        raise InputError(
            f"the model has {len(items.difficulty)} items and {items.dimensions} dimensions; expected "
            f"{examples} and 1"
        )


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
    check_same_order(*responses)
    response_rows: Sequence[Floats] = [floats(response_row) for response_row in responses]
    models, examples = evaluation.question.models, evaluation.examples
    if [response_row.shape for response_row in response_rows] != [(examples,)] * models:
        raise InputError(
            f"responses of the shapes {[response_row.shape for response_row in response_rows]}; "
            f"expected {models} of {examples}"
        )
    while evaluation.decision is None:
        place = evaluation.next()
        evaluation.tell(*[float(response_row[place]) for response_row in response_rows])
    return evaluation
