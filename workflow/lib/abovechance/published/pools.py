"""Released predictions with what is true of them: chance from the tasks, distinct prompts.

A release's example ids restart in every subtask, so examples with equal ids were
merged: their choices were pooled, and the pool's best choice was the prediction.
A guesser picks one choice of the pool, and is right with chance

    correct choices of all merged examples / all their choices.

Where demonstrations come from the evaluated examples, a prompt's own are not in its pools.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from abovechance.core.arrays import Ints
from abovechance.core.columns import Column
from abovechance.core.errors import InputError
from abovechance.core.tables import TableSchema

RELEASED_EXAMPLES = TableSchema(
    "released_examples",
    {
        "task": Column.text("name of the task"),
        "place": Column.whole("position of the example in the task, from 0"),
        "id": Column.whole("id of the example in the release; ids restart in every subtask"),
        "choices": Column.whole("number of choices"),
        "correct": Column.whole("number of correct choices"),
    },
    "One row per example of a BIG-bench task.",
    file="release/examples.parquet",
)


def released_examples(tasks: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the meaning of a release's ids: the table ``released_examples``.

    Parameters
    ----------
    tasks
        {task: its table ``tasks``}, whole and in BIG-bench's order.
    """
    return pd.concat(
        pd.DataFrame(
            {
                "task": name,
                "place": np.arange(len(task)),
                "id": task["example"].str.rpartition("/")[2].astype(int),
                "choices": task["choices"].map(len),
                "correct": task["correct"].map(sum),
            }
        )
        for name, task in tasks.items()
    )


def pooled_task(task: pd.DataFrame, sample: list[int] | None) -> pd.DataFrame:
    """Return a task as a release has it: examples with the same id are one, with all their choices.

    Parameters
    ----------
    task
        The table ``tasks``, whole and in BIG-bench's order.
    sample
        The places of the evaluated examples; None if all were.

    Returns
    -------
    DataFrame
        The table ``tasks``, one row per id. Texts are those of the first example with the id.
    """
    all_ids = task["example"].str.rpartition("/")[2]
    evaluated = task
    if sample is not None:
        # an id that is not in the sample has all its examples, as in ``Pools.chance``
        evaluated = task[all_ids.index.isin(task.index[sample]) | ~all_ids.isin(all_ids.iloc[sample])]
    ids = all_ids.loc[evaluated.index]
    first = evaluated.assign(example=ids).drop_duplicates("example")
    for name in ("choices", "labels", "correct"):
        merged: dict[str, list[object]] = {}
        for example, values in zip(ids, evaluated[name], strict=True):
            merged.setdefault(example, []).extend(values)
        first[name] = pd.Series([merged[example] for example in first["example"]], first.index)
    return first.reset_index(drop=True)


@dataclass(frozen=True)
class Pools:
    """The examples of one task behind each id of a release.

    Attributes
    ----------
    ids, choices, correct
        (places,) of every example of the task, in its order: the id in the release, how many
        choices it has, and how many of them are correct.
    evaluated
        (sampled,) the places of the examples that were evaluated.
    sampled
        Whether demonstrations come from the other examples, and not from those evaluated.
    """

    ids: Ints
    choices: Ints
    correct: Ints
    evaluated: Ints
    sampled: bool

    @classmethod
    def from_examples(cls, examples: pd.DataFrame, sample: list[int] | None) -> Pools:
        """From the task's rows of ``released_examples`` and the release's sample of it."""
        evaluated = np.arange(len(examples)) if sample is None else np.array(sample)
        ids, choices, correct = (examples[name].to_numpy() for name in ("id", "choices", "correct"))
        return cls(ids, choices, correct, evaluated, sampled=sample is not None)

    @property
    def merged(self) -> tuple[int, int]:
        """How many examples were evaluated, and how many ids they have."""
        return len(self.evaluated), len(np.unique(self.ids[self.evaluated]))

    def chance(self, predictions: pd.DataFrame) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """(rows,) the chance of a lucky guess on each row of a setting's predictions.

        Also (rows,) whether the row's id is one of those that the release says were evaluated.
        Of another id, all examples that have it are taken to be in the pool.

        Raises
        ------
        InputError
            If an example or a demonstration is none of the task's.
        """
        self._check(predictions)
        length = max(int(self.ids.max()), int(predictions["example"].max())) + 1
        prompt, _ = pd.factorize(predictions["prompt"])
        example = predictions["example"].to_numpy()
        lucky, all_choices, any_lucky, any_choices = (
            np.bincount(self.ids[places], counts[places], minlength=length)[example]
            for places in (self.evaluated, np.arange(len(self.ids)))
            for counts in (self.correct, self.choices)
        )
        if not self.sampled:
            for counts, pool in ((self.correct, lucky), (self.choices, all_choices)):
                pool -= self._answered_by(predictions, prompt, counts, length)[prompt, example]
        defined = all_choices > 0
        pools = np.where(defined, all_choices, np.maximum(any_choices, 1))
        return np.where(defined, lucky, any_lucky) / pools, defined

    def _check(self, predictions: pd.DataFrame) -> None:
        """Raise InputError unless examples and demonstrations are the task's."""
        unknown = ~predictions["example"].isin(self.ids)
        if unknown.any():
            row = int(np.flatnonzero(unknown)[0])
            raise InputError(f"row {row + 2}: the task has no example {predictions['example'].iloc[row]}")
        for text in predictions["demonstrations"].unique():
            if any(not 0 <= place < len(self.ids) for place in json.loads(text)):
                raise InputError(f"demonstrations {text}: the task has {len(self.ids)} examples")

    def _answered_by(
        self, predictions: pd.DataFrame, prompt: Ints, counts: Ints, length: int
    ) -> NDArray[np.float64]:
        """(prompts, ids) what each prompt's demonstrations take from the pools."""
        answered = np.zeros((prompt.max() + 1, length))
        first = np.unique(prompt, return_index=True)[1]
        for row, text in enumerate(predictions["demonstrations"].iloc[first]):
            places = np.array(json.loads(text), dtype=np.int64)
            np.add.at(answered[row], self.ids[places], counts[places])
        return answered


def distinct_prompts(predictions: pd.DataFrame) -> pd.DataFrame:
    """Return the predictions of the first of all prompts that have the same demonstrations."""
    first = predictions.drop_duplicates("prompt").drop_duplicates("demonstrations")
    return predictions[predictions["prompt"].isin(first["prompt"])]
