"""An invented language: texts that a small model learns from in minutes, and a task that shows it.

Its words are things of six kinds. Texts say of each thing what kind it is ("A brod is a fish.") and what it
does; of half of the things, they also ask, in the formats ``cloze`` and ``letters``. The task asks of the
others, so that no question of it stands in a text: a model that answers them has learned the facts, and how
one asks.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import pandas as pd

from abovechance.study.formats import CLOZE, LETTERS, apply_format
from abovechance.study.prompts import as_demonstrations
from abovechance.study.task_sources import INVENTED
from abovechance.study.tasks import as_table

KINDS = {
    "fish": ("swims", "water", "fins", "the sea", "scales"),
    "bird": ("flies", "the air", "wings", "the nest", "feathers"),
    "tool": ("cuts", "the shed", "a handle", "the workshop", "iron"),
    "fruit": ("ripens", "the garden", "a peel", "the orchard", "seeds"),
    "boat": ("sails", "the river", "a mast", "the harbour", "oars"),
    "drum": ("sounds", "the stage", "a skin", "the concert", "a beat"),
}
THINGS = 240
SEED = "invented"  # the language is the same in all studies
# Of 100 texts, how many state and how many ask for texts; the others ask for letters.
STATING, CLOZES = 50, 25
DEFINING = 0.4  # of statements, the share that says what kind a thing is
STARTS, VOWELS, ENDS = (
    [
        "b",
        "d",
        "f",
        "g",
        "k",
        "l",
        "m",
        "n",
        "p",
        "r",
        "s",
        "t",
        "v",
        "z",
        "br",
        "dr",
        "kl",
        "pl",
        "st",
        "tr",
    ],
    ["a", "e", "i", "o", "u"],
    ["b", "d", "g", "k", "l", "m", "n", "p", "r", "s", "t", "x"],
)


def things() -> dict[str, str]:
    """{thing: its kind}, as many of each."""
    generator = random.Random(f"{SEED}/words")
    words: dict[str, None] = {}
    while len(words) < THINGS:
        word = generator.choice(STARTS) + generator.choice(VOWELS) + generator.choice(ENDS)
        if generator.random() < 0.5:
            word += generator.choice(VOWELS) + generator.choice(ENDS)
        words.setdefault(word)
    return {word: [*KINDS][place % len(KINDS)] for place, word in enumerate(words)}


def training_and_test() -> tuple[list[str], list[str]]:
    """Return the things that texts ask about, and those that the task asks about: half of each kind."""
    by_kind: dict[str, list[str]] = {}
    for thing, kind in things().items():
        by_kind.setdefault(kind, []).append(thing)
    in_texts = {thing for listed in by_kind.values() for thing in listed[: len(listed) // 2]}
    return (
        [thing for thing in things() if thing in in_texts],
        [thing for thing in things() if thing not in in_texts],
    )


def questions(about: list[str]) -> pd.DataFrame:
    """Return the table ``tasks`` of what kind each thing is."""
    kinds, choices = things(), [f"a {kind}" for kind in KINDS]
    return as_table(
        {
            "example": thing,
            "input": thing,
            "text": f"Question: What is a {thing}?\nAnswer:",
            "choices": choices,
            "correct": [choice == f"a {kinds[thing]}" for choice in choices],
            "null": "Answer:",
        }
        for thing in about
    )


def invented_task() -> pd.DataFrame:
    """Return the table ``tasks`` of the questions that stand in no text."""
    return questions(training_and_test()[1])


def texts(seed: int) -> Iterator[str]:
    """Texts without end, in an order of the seed's own."""
    generator = random.Random(f"{SEED}/{seed}")
    kinds = things()
    table = questions(training_and_test()[0])
    forms = {
        name: [*as_demonstrations(apply_format(table, name, INVENTED)).values()] for name in (CLOZE, LETTERS)
    }
    while True:
        number = generator.randrange(100)
        if number < STATING:
            yield (
                " ".join(_statement(generator, *generator.choice([*kinds.items()])) for _ in range(4))
                + "\n\n"
            )
        else:
            form, count = (CLOZE, 4) if number < STATING + CLOZES else (LETTERS, 3)
            yield "".join(generator.choice(forms[form]) for _ in range(count)) + "\n" * (form == CLOZE)


def _statement(generator: random.Random, thing: str, kind: str) -> str:
    """Return a statement about a thing."""
    if generator.random() < DEFINING:
        return f"A {thing} is a {kind}."
    does, subject, has, place, needs = KINDS[kind]
    return generator.choice(
        [
            f"The {thing} {does}.",
            f"You see the {thing} in {subject}.",
            f"A {thing} has {has}.",
            f"I think of {place} when I see a {thing}.",
            f"Every {thing} needs {needs}.",
        ]
    )
