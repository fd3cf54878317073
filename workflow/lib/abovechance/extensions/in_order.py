"""An adaptive evaluation whose examples are started in a fixed random order, several at a time."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from abovechance.core.errors import InputError
from abovechance.core.estimates import ALPHA
from abovechance.items.adaptive import begin
from abovechance.items.questions import better_than


class OrderedEvaluation:
    """Decides whether the accuracy on all examples is above a baseline, from results in a random order.

    Fast examples end first, and they may be the easy ones. So results are used in the order of the examples,
    and a result waits until all examples before it have ended. The probability of a wrong decision is at
    most ``alpha``, if the order of the examples is random (Waudby-Smith and Ramdas, 2024).

    Parameters
    ----------
    examples
        The ids of all examples in the order in which they are started.
    baseline
        The accuracy, from 0 to 1, that the accuracy on all examples must exceed.
    alpha
        The largest probability of a wrong decision.

    Raises
    ------
    InputError
        If the list of examples is empty, or an id occurs twice.
    """

    def __init__(self, examples: Sequence[Hashable], baseline: float, alpha: float = ALPHA) -> None:
        if not examples or len(set(examples)) < len(examples):
            raise InputError(f"{len(examples)} examples; expected one or more with distinct ids")
        self.baseline = baseline
        self.alpha = alpha
        self._order = list(examples)
        self._examples = set(examples)
        self._waiting: dict[Hashable, bool] = {}
        self._correct = 0
        self._evaluation = begin(
            better_than(baseline, len(examples)), len(examples), way="random", alpha=alpha
        )

    @property
    def decision(self) -> str | None:
        """``above`` or ``not above``; None while the question is open."""
        return self._evaluation.decision

    @property
    def missing(self) -> Hashable | None:
        """The example whose result is needed next; None if the question is decided."""
        return None if self.decision else self._order[self.used]

    @property
    def used(self) -> int:
        """The number of examples whose results were used."""
        return len(self._evaluation.evaluated)

    @property
    def accuracy(self) -> float | None:
        """The accuracy on the used examples; None if there are none."""
        return self._correct / self.used if self.used else None

    def record(self, example: Hashable, correct: bool) -> None:
        """Take the result of an example, in any order.

        Raises
        ------
        InputError
            If the example is unknown.
        """
        if example not in self._examples:
            raise InputError(f"example {example!r} is not one of the {len(self._order)} examples")
        self._waiting[example] = correct
        while self.decision is None and self._order[self.used] in self._waiting:
            result = self._waiting[self._order[self.used]]
            self._correct += result
            self._evaluation.tell(int(result))
