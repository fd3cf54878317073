"""Prompts: which examples are evaluated, and which demonstrations go before them."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from itertools import zip_longest

import pandas as pd

from abovechance.core.columns import Column
from abovechance.core.errors import InputError
from abovechance.core.provenance import digest
from abovechance.core.tables import TableSchema
from abovechance.study.formats import shared_labels

EVALUATION_SETS = TableSchema(
    "evaluation_sets",
    {
        "example": Column.text("id of the example"),
        "evaluated": Column.flag("whether prompts are evaluated on the example"),
        "demonstration": Column.flag("whether the example can be a demonstration"),
    },
    "One row per example of a task.",
    file="evaluation_sets/<task>.parquet, training_sets/<task>.parquet",
)

PROMPTS = TableSchema(
    "prompts",
    {
        "prompt": Column.whole("number of the prompt, from 0"),
        "demonstrations": Column.text("ids of the examples that are the demonstrations").several(),
        "text": Column.text("the text of all demonstrations, as the model reads it"),
    },
    "One row per prompt.",
    file="prompts/<task>/<shots>-shot.parquet, hardest_prompts/...",
)


DRAWN, BALANCED = "drawn", "balanced"  # how demonstrations are chosen
ALL_TOO_LONG = (
    "all prompts of all settings are longer than their model's context; use fewer shots, shorter examples or "
    "another model"
)


def evaluation_set(task: pd.DataFrame, name: str, seed: int, max_examples: int) -> pd.DataFrame:
    """Return which examples of a task are evaluated and which may be demonstrations.

    With more than ``max_examples`` examples, that many are drawn once per task and seed, and
    demonstrations come from the rest. Otherwise every example is both.

    Returns
    -------
    DataFrame
        (examples of the task,) with ``example`` str, ``evaluated`` bool, ``demonstration`` bool.
    """
    examples = task["example"].tolist()
    sample = set(examples)
    if len(examples) > max_examples:
        sample = set(random.Random(f"{seed}/{name}").sample(examples, max_examples))
    evaluated = [example in sample for example in examples]
    everything = len(sample) == len(examples)
    return pd.DataFrame(
        {
            "example": examples,
            "evaluated": evaluated,
            "demonstration": [everything or not chosen for chosen in evaluated],
        }
    )


def training_set(
    task: pd.DataFrame, evaluation: pd.DataFrame, name: str, seed: int, examples: int, shots: int = 0
) -> pd.DataFrame:
    """Return which examples that may be demonstrations, and are not evaluated, are scored to find hard ones.

    Drawn in rounds of one of each label, until there are so many or no more.

    Parameters
    ----------
    shots
        Largest number of demonstrations that are to be found among them, as many of each label.

    Returns
    -------
    DataFrame
        The columns of ``evaluation_set``; these are its ``evaluated`` ones, and none is a demonstration.

    Raises
    ------
    InputError
        If all examples are evaluated, they have choices of their own, or there are too few for the shots.
    """
    remaining = task[(evaluation["demonstration"] & ~evaluation["evaluated"]).to_numpy()]
    if remaining.empty:
        raise InputError(
            f"task '{name}': all of its {len(task)} examples are evaluated, so that none are left to find "
            "hard demonstrations among; expected a smaller `max_examples`, or no key "
            "`pvi.training_examples`"
        )
    generator = random.Random(f"{seed}/{name}/training")
    classes = _classes(remaining, name)
    shuffled = [generator.sample(members, len(members)) for members in classes.values()]
    in_rounds = [example for one_of_each in zip_longest(*shuffled) for example in one_of_each if example]
    chosen = task["example"].isin(in_rounds[:examples])
    label, fewest = min(_classes(task[chosen], name).items(), key=lambda item: len(item[1]))
    if len(fewest) * len(classes) < shots or chosen.sum() <= shots:
        raise InputError(
            f"task '{name}': {shots} shots of hard demonstrations need more than {shots} training examples, "
            f"{-(-shots // len(classes))} or more of each label, but there are {chosen.sum()}, and "
            f"{len(fewest)} of '{label}'; expected a larger `pvi.training_examples`, or a smaller "
            "`max_examples`"
        )
    return pd.DataFrame({"example": task["example"], "evaluated": chosen, "demonstration": False})


def draw_prompts(
    task: pd.DataFrame,
    evaluation: pd.DataFrame,
    name: str,
    seed: int,
    shots: int,
    prompts: int,
    demonstrations: str = DRAWN,
    texts: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Distinct prompts of a task: ordered demonstrations, drawn without repetition.

    Prompt i depends on the seed, the task, the shots and i alone, so that asking for more
    prompts changes none of the earlier ones. Where fewer than ``prompts`` distinct prompts
    exist, all of them are returned.

    Parameters
    ----------
    demonstrations
        ``drawn`` uniformly, or ``balanced``: as many of each label, in rounds of one of each; a prompt with
        more shots begins with the prompt of fewer, and no two prompts have the same first round.
    texts
        The table ``tasks`` of another formulation of the same examples, whose texts the prompts have.

    Returns
    -------
    DataFrame
        (at most ``prompts``,) with ``prompt`` int from 0, ``demonstrations`` list of example
        ids, ``text`` str: every demonstration's text, a blank, its first correct choice and its ``end``, a
        line break.

    Raises
    ------
    InputError
        If there are fewer examples than the shots need, or no labels to balance.
    """
    demonstration_rows = task[evaluation["demonstration"].to_numpy()]
    pool = demonstration_texts(demonstration_rows)
    shared = bool((evaluation["demonstration"] & evaluation["evaluated"]).any())
    # Where demonstrations are evaluated too, a prompt must leave an example to evaluate.
    if len(pool) < shots + shared:
        reason = ""
        if len(demonstration_rows) < shots:
            evaluated = int(evaluation["evaluated"].sum())
            reason = f", because {evaluated} of {len(task)} are evaluated (`max_examples`)"
        raise InputError(
            f"task '{name}': {shots} shots need at least {shots + shared} distinct examples to "
            f"draw demonstrations from, but there are {len(pool)}{reason}"
        )
    ids = list(pool)
    if demonstrations == BALANCED and shots:
        classes = _classes(demonstration_rows[demonstration_rows["example"].isin(ids)], name)
        _check_balance(classes, name, shots)
        draws = [*_balanced_draws(f"{seed}/{name}/balanced", [*classes.values()], shots, prompts)]
    else:
        draws = [
            [ids[index] for index in indices]
            for indices in _distinct_draws(random.Random(f"{seed}/{name}/{shots}"), len(ids), shots, prompts)
        ]
    if texts is not None:
        pool = as_demonstrations(texts)
    return pd.DataFrame(
        {
            "prompt": range(len(draws)),
            "demonstrations": draws,
            "text": ["".join(pool[example] for example in chosen) for chosen in draws],
        }
    )


def as_demonstrations(task: pd.DataFrame) -> dict[str, str]:
    """{example id: its text, a blank, its first correct choice and its end}."""
    columns = (task[name] for name in ("example", "text", "choices", "correct", "end"))
    return {
        example: f"{text} {choices[list(correct).index(True)]}{end}"
        for example, text, choices, correct, end in zip(*columns, strict=True)
    }


def demonstration_texts(task: pd.DataFrame) -> dict[str, str]:
    """{example id: its text as a demonstration}, the first of each text only.

    Different examples can read the same as demonstrations; were both kept, two prompts could
    be one.
    """
    first_with: dict[str, str] = {}
    for example, text in as_demonstrations(task).items():
        first_with.setdefault(text, example)
    return {example: text for text, example in first_with.items()}


def null_target(task: pd.DataFrame, prompts: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return a task and its prompts with all inputs taken away: the null-target prompts of Lu et al. (2023).

    What is left of each example, and of each demonstration, is its ``null`` text and its answer.

    Parameters
    ----------
    task, prompts
        The tables ``tasks`` and ``prompts``.
    """
    without = task.assign(text=task["null"])
    null_demonstrations = as_demonstrations(without)
    texts = [
        "".join(null_demonstrations[example] for example in chosen) for chosen in prompts["demonstrations"]
    ]
    return without, prompts.assign(text=texts)


def evaluated_on(evaluation: pd.DataFrame, demonstrations: list[str]) -> list[str]:
    """Return the ids of the examples on which a prompt with these demonstrations is evaluated."""
    examples = evaluation["example"][evaluation["evaluated"]]
    return examples[~examples.isin(list(demonstrations))].tolist()


def prompt_keys(task: pd.DataFrame, evaluation: pd.DataFrame, prompts: pd.DataFrame) -> list[str]:
    """(prompts,) a digest of everything that a model reads under each prompt: its text and all examples."""
    examples = task[evaluation["evaluated"].to_numpy()]
    read = digest(*examples["example"], *examples["text"], *map(repr, examples["choices"]))
    return [
        digest(read, text, *demonstrations) for _, demonstrations, text in prompts.itertuples(index=False)
    ]


def _classes(examples: pd.DataFrame, name: str) -> dict[str, list[str]]:
    """{label: the ids of its examples}; InputError if examples have choices of their own."""
    labels = shared_labels(examples, f"task '{name}'", "balanced demonstrations")
    examples_of_label: dict[str, list[str]] = {label: [] for label in labels}
    columns = (examples[column] for column in ("example", "labels", "correct"))
    for example, labels_of_example, correct in zip(*columns, strict=True):
        examples_of_label[labels_of_example[list(correct).index(True)]].append(example)
    return examples_of_label


def _check_balance(classes: dict[str, list[str]], name: str, shots: int) -> None:
    """Raise InputError if there cannot be as many demonstrations of each label, or not enough are there."""
    if shots % len(classes):
        raise InputError(
            f"task '{name}': {shots} shots cannot be balanced over {len(classes)} labels; expected a "
            f"multiple of {len(classes)}, or the key `demonstrations: drawn`"
        )
    label, fewest = min(classes.items(), key=lambda item: len(item[1]))
    if len(fewest) < shots // len(classes):
        raise InputError(
            f"task '{name}': {shots} balanced shots need {shots // len(classes)} examples of each label to "
            f"draw from, but '{label}' has {len(fewest)}"
        )


def _balanced_draws(seed: str, classes: list[list[str]], shots: int, draws: int) -> Iterator[list[str]]:
    """Selections in rounds of one of each class, of which no two begin with the same round.

    How many rounds are taken changes none of them.
    """
    firsts: set[tuple[str, ...]] = set()
    exist = math.factorial(len(classes)) * math.prod(map(len, classes))
    for number in range(min(draws, exist)):
        generator = random.Random(f"{seed}/{number}")
        first: tuple[str, ...] = ()
        while not first or first in firsts:
            shuffled = [generator.sample(members, len(members)) for members in classes]
            order = generator.sample(range(len(classes)), len(classes))
            first = tuple(shuffled[place][0] for place in order)
        firsts.add(first)
        chosen = [*first]
        for count in range(1, shots // len(classes)):
            order = generator.sample(range(len(classes)), len(classes))
            chosen += [shuffled[place][count] for place in order]
        yield chosen


def _distinct_draws(generator: random.Random, pool: int, shots: int, draws: int) -> Iterator[list[int]]:
    """Ordered selections of ``shots`` of ``pool``, uniform, none twice, at most ``draws``.

    All selections are numbered; a Fisher-Yates shuffle of the numbers is begun and only the
    places it touched are stored, so neither their number nor running out of them matters.
    """
    selections = math.perm(pool, shots)
    moved: dict[int, int] = {}
    for place in range(min(draws, selections)):
        selection = generator.randrange(place, selections)
        number = moved.get(selection, selection)
        moved[selection] = moved.get(place, place)
        yield _selection(number, pool, shots)


def _selection(number: int, pool: int, shots: int) -> list[int]:
    """Return the ordered selection with this number, from 0 to perm(pool, shots) - 1."""
    chosen: list[int] = []
    for count in range(shots):
        number, index = divmod(number, pool - count)
        # index counts among those not yet chosen
        for earlier in sorted(chosen):
            index += index >= earlier
        chosen.append(index)
    return chosen
