"""Prompts: which examples are evaluated, and which demonstrations go before them."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator

import pandas as pd
import pyarrow as pa

from abovechance.core.errors import InputError
from abovechance.core.tables import TableSchema

EVALUATION_SETS = TableSchema(
    "evaluation_sets",
    {"example": pa.string(), "evaluated": pa.bool_(), "demonstration": pa.bool_()},
)

PROMPTS = TableSchema(
    "prompts",
    {"prompt": pa.int64(), "demonstrations": pa.list_(pa.string()), "text": pa.string()},
)


def evaluation_set(task: pd.DataFrame, name: str, seed: int, max_examples: int) -> pd.DataFrame:
    """Which examples of a task are evaluated and which may be demonstrations.

    With more than ``max_examples`` examples, that many are drawn once per task and seed, and
    demonstrations come from the rest. Otherwise every example is both.

    Returns
    -------
    DataFrame
        (examples of the task,) with ``example`` str, ``evaluated`` bool, ``demonstration`` bool.
    """
    examples = task["example"].tolist()
    drawn = set(examples)
    if len(examples) > max_examples:
        drawn = set(random.Random(f"{seed}/{name}").sample(examples, max_examples))
    evaluated = [example in drawn for example in examples]
    everything = len(drawn) == len(examples)
    return pd.DataFrame(
        {
            "example": examples,
            "evaluated": evaluated,
            "demonstration": [everything or not chosen for chosen in evaluated],
        }
    )


def draw_prompts(
    task: pd.DataFrame, evaluation: pd.DataFrame, name: str, seed: int, shots: int, prompts: int
) -> pd.DataFrame:
    """Distinct prompts of a task: ordered demonstrations, drawn uniformly without repetition.

    Prompt i depends on the seed, the task, the shots and i alone, so that asking for more
    prompts changes none of the earlier ones. Where fewer than ``prompts`` distinct prompts
    exist, all of them are returned.

    Returns
    -------
    DataFrame
        (at most ``prompts``,) with ``prompt`` int from 0, ``demonstrations`` list of example
        ids, ``text`` str: every demonstration's text, a blank, its first correct choice and its ``end``, a
        line break.

    Raises
    ------
    InputError
        If there are fewer examples than the shots need.
    """
    pool = demonstration_texts(task[evaluation["demonstration"].to_numpy()])
    shared = bool((evaluation["demonstration"] & evaluation["evaluated"]).any())
    # Where demonstrations are evaluated too, a prompt must leave an example to evaluate.
    if len(pool) < shots + shared:
        raise InputError(
            f"task '{name}': {shots} shots need at least {shots + shared} distinct examples to "
            f"draw demonstrations from, but there are {len(pool)}"
        )
    ids = list(pool)
    drawn = [
        [ids[index] for index in indices]
        for indices in _distinct_draws(random.Random(f"{seed}/{name}/{shots}"), len(ids), shots, prompts)
    ]
    return pd.DataFrame(
        {
            "prompt": range(len(drawn)),
            "demonstrations": drawn,
            "text": ["".join(pool[example] for example in chosen) for chosen in drawn],
        }
    )


def demonstration_texts(task: pd.DataFrame) -> dict[str, str]:
    """{example id: its text as a demonstration}, the first of each text only.

    Different examples can read the same as demonstrations; were both kept, two prompts could
    be one.
    """
    first_with: dict[str, str] = {}
    columns = (task[name] for name in ("example", "text", "choices", "correct", "end"))
    for example, text, choices, correct, end in zip(*columns, strict=True):
        answer = choices[list(correct).index(True)]
        first_with.setdefault(f"{text} {answer}{end}", example)
    return {example: text for text, example in first_with.items()}


def evaluated_on(evaluation: pd.DataFrame, demonstrations: list[str]) -> list[str]:
    """The ids of the examples on which a prompt with these demonstrations is evaluated."""
    examples = evaluation["example"][evaluation["evaluated"]]
    return examples[~examples.isin(list(demonstrations))].tolist()


def _distinct_draws(generator: random.Random, pool: int, shots: int, draws: int) -> Iterator[list[int]]:
    """Ordered selections of ``shots`` of ``pool``, uniform, none twice, at most ``draws``.

    All selections are numbered; a Fisher-Yates shuffle of the numbers is begun and only the
    places it touched are stored, so neither their number nor running out of them matters.
    """
    selections = math.perm(pool, shots)
    moved: dict[int, int] = {}
    for place in range(min(draws, selections)):
        other = generator.randrange(place, selections)
        number = moved.get(other, other)
        moved[other] = moved.get(place, place)
        yield _selection(number, pool, shots)


def _selection(number: int, pool: int, shots: int) -> list[int]:
    """The ordered selection with this number, from 0 to perm(pool, shots) - 1."""
    chosen: list[int] = []
    for taken in range(shots):
        number, index = divmod(number, pool - taken)
        # index counts among those not yet chosen
        for earlier in sorted(chosen):
            index += index >= earlier
        chosen.append(index)
    return chosen
