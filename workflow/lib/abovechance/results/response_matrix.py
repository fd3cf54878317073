"""The response matrix of a setting: what each prompt answers to each example."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from abovechance.core.arrays import Bools, Floats, Ints
from abovechance.core.errors import InputError
from abovechance.core.untrusted import printable
from abovechance.results.predictions import UNKNOWN


@dataclass(frozen=True)
class ResponseMatrix:
    """The predictions of one setting as arrays.

    Attributes
    ----------
    prompts
        (prompts,) prompt numbers, ascending.
    examples
        (examples,) the examples' ids as texts, in the order of their first rows.
    evaluated
        (prompts, examples) whether a prompt is evaluated on an example.
    correct
        (prompts, examples) whether a prompt gets an example right; False where not evaluated.
    predicted
        (prompts, examples) number of the predicted choice; ``UNKNOWN`` where none is known.
    chance
        (examples,) chance of a lucky guess.
    """

    prompts: Ints
    examples: NDArray[np.str_]
    evaluated: Bools
    correct: Bools
    predicted: Ints
    chance: Floats

    @property
    def counts(self) -> tuple[Floats, Ints]:
        """(chances,) the different chances, and (prompts, chances) how many examples of each a prompt has."""
        chances, kinds = np.unique(self.chance, return_inverse=True)
        return chances, self.evaluated.astype(np.int64) @ (kinds[:, None] == np.arange(len(chances)))

    def uneven(self, shots: int) -> bool:
        """Return whether accuracies are not comparable, since prompts have such different examples.

        A prompt is not evaluated on its own demonstrations. If prompts differ by more than that in their
        numbers of examples of any chance, accuracies on fewer or easier examples can be higher by chance.
        """
        return counts_differ(self.counts[1], shots)

    @classmethod
    def from_predictions(cls, predictions: pd.DataFrame) -> ResponseMatrix:
        """Arrange the predictions of one setting, which need not say what was predicted.

        Raises
        ------
        InputError
            If there are none, or an example has several under one prompt, as those of several settings have.
        """
        if predictions.empty:
            raise InputError("there are no predictions; expected at least one row")
        if (repeats := predictions.duplicated(["prompt", "example"]).to_numpy()).any():
            row = predictions.iloc[int(repeats.argmax())]
            raise InputError(
                f"example '{printable(str(row['example']))}' has two rows under prompt "
                f"'{printable(str(row['prompt']))}'; expected the predictions of one model, task and number "
                "of shots"
            )
        prompt, prompts = pd.factorize(predictions["prompt"], sort=True)
        example, examples = pd.factorize(predictions["example"])
        correct, evaluated = np.zeros((2, len(prompts), len(examples)), dtype=bool)
        predicted = np.full(correct.shape, UNKNOWN)
        chance = np.empty(len(examples))
        correct[prompt, example] = predictions["correct"]
        evaluated[prompt, example] = True
        chance[example] = predictions["chance"]
        if "predicted" in predictions:
            predicted[prompt, example] = predictions["predicted"]
        return cls(
            np.asarray(prompts), np.asarray(examples).astype(str), evaluated, correct, predicted, chance
        )


def counts_differ(counts: Ints, shots: int) -> bool:
    """Return whether (prompts, chances) numbers of examples differ by more than the demonstrations do."""
    return bool((np.ptp(counts, axis=0) > shots).any())
