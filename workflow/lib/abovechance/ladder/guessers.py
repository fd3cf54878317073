"""Guessers that know a task, but do not understand it: always the longest choice, always the majority label.

A score above uniform guessing may still come from an artifact of the task. Each guesser uses one artifact.
Its score on an example is the probability that it is correct there.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import entry_points
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd

from abovechance.core.arrays import Floats
from abovechance.core.errors import InputError
from abovechance.core.resampling import numbered
from abovechance.metrics.registry import loaded_point
from abovechance.metrics.texts import words

ENTRY_POINTS = "abovechance.guessers"
LISTED = 0.9  # share of examples whose texts must list the choices


@dataclass(frozen=True)
class Situation:
    """The knowledge of guessers about one setting.

    Attributes
    ----------
    task
        The rows of the table ``tasks`` of the evaluated examples.
    demonstrations
        (prompts,) the labels of each prompt's demonstrations, in order; None if they are unknown.
    null_scores
        (prompts, examples) whether the model is correct without the question (the null-target prompts of the
        key ``pvi``); None if it was not asked so.
    """

    task: pd.DataFrame
    demonstrations: Sequence[Sequence[str]] | None = None
    null_scores: Floats | None = None

    @cached_property
    def labels(self) -> list[str]:
        """The labels that all examples share, each once; empty if examples have different choices."""
        sets = {frozenset(choices) for choices in self.task["choices"]}
        once = all(len({*choices}) == len(choices) for choices in self.task["choices"])
        return sorted(next(iter(sets))) if len(sets) == 1 and once else []

    @cached_property
    def gold_labels(self) -> Counter[str]:
        """How often each choice is correct."""
        rows = zip(self.task["choices"], self.task["correct"], strict=True)
        correct = (
            (choice, flag) for choices, flags in rows for choice, flag in zip(choices, flags, strict=True)
        )
        return Counter(choice for choice, flag in correct if flag)

    def scores(self, weights: Sequence[Floats]) -> Floats:
        """(examples,) the probability of being correct, if a guesser draws choices with these weights."""
        rows = zip(self.task["correct"], weights, strict=True)
        return np.array([np.asarray(flags, dtype=float) @ weight / weight.sum() for flags, weight in rows])

    def choosing(self, value: Callable[[str], float]) -> Floats:
        """(examples,) scores of always choosing the choice with the largest value; ties are drawn."""
        return self.scores([_largest([value(choice) for choice in row]) for row in self.task["choices"]])


@dataclass(frozen=True)
class Guesser:
    """A guesser of a multiple-choice task.

    Attributes
    ----------
    name
        Its name in tables.
    caption
        The strategy in words that follow "than": "always choosing the longest choice".
    scores
        Returns (examples,) or (prompts, examples) probabilities of being correct in a situation, or None if
        the guesser is not defined there.
    draws
        True if it draws each answer independently at random, so that the best of t guessers is a maximum.
    """

    name: str
    caption: str
    scores: Callable[[Situation], Floats | None]
    draws: bool = False


def _largest(values: Sequence[float]) -> Floats:
    numeric = np.asarray(values, dtype=float)
    return (numeric >= numeric.max() - 1e-12).astype(float)


def _uniform(situation: Situation) -> Floats:
    return situation.scores([np.ones(len(choices)) for choices in situation.task["choices"]])


def _by_length(sign: int) -> Callable[[Situation], Floats | None]:
    def scores(situation: Situation) -> Floats | None:
        lengths = [{*map(len, choices)} for choices in situation.task["choices"]]
        if max(map(len, lengths)) < 2:
            return None
        return situation.choosing(lambda choice: sign * len(choice))

    return scores


def _overlap(situation: Situation) -> Floats | None:
    rows = zip(situation.task["input"], situation.task["choices"], strict=True)
    shared = [
        _shared_words({*words(text)}, [{*words(choice)} for choice in choices]) for text, choices in rows
    ]
    if not any(len({*counts}) > 1 for counts in shared):
        return None
    return situation.scores([_largest(counts) for counts in shared])


def _shared_words(text: set[str], choices: Sequence[set[str]]) -> list[int]:
    """Return the number of words that each choice shares with a text; 0 if the text lists all choices."""
    if all(choice <= text for choice in choices):
        return [0] * len(choices)
    return [len(text & choice) for choice in choices]


def _label_prior(situation: Situation) -> Floats | None:
    if not situation.labels:
        return None
    frequencies = situation.gold_labels
    return situation.scores(
        [np.array([float(frequencies[choice]) for choice in row]) for row in situation.task["choices"]]
    )


def _majority(situation: Situation) -> Floats | None:
    if not situation.labels:
        return None
    return situation.choosing(lambda choice: situation.gold_labels[choice])


def _position(situation: Situation) -> Floats | None:
    places = listed_places(situation.task)
    if places is None:
        return None
    sizes = map(len, situation.task["choices"])
    rows = [*zip(places, situation.task["correct"], strict=True)]
    correct = Counter(
        place for order, flags in rows for place, flag in zip(order, flags, strict=False) if flag
    )
    bests = {place for place, count in correct.items() if count == max(correct.values())}
    return situation.scores(
        [
            np.array([float(place in bests) for place in order]) if bests & {*order} else np.ones(size)
            for (order, _), size in zip(rows, sizes, strict=True)
        ]
    )


def listed_places(task: pd.DataFrame) -> list[list[int]] | None:
    """(examples,) the places at which the text lists each choice, from 0; None if it does not list them.

    A choice is listed if it occurs as whole words. The order of choices in a file is not used, because a
    model cannot see it. A few examples may lack a choice; their lists are empty.
    """
    rows = zip(task["text"], task["bare"], task["choices"], strict=True)
    places = [_places(_listing(text, bare), choices) for text, bare, choices in rows]
    listed = sum(map(bool, places))
    return places if listed >= LISTED * len(places) else None


def _listing(text: str, bare: str) -> str:
    """Return the part of a text that the text without the list of choices lacks; all if they are equal."""
    if text == bare:
        return text
    start = _shared_start(text, bare)
    while start and not text[start - 1].isspace():  # only whole words: a cue can begin with a choice's letter
        start -= 1
    end = _shared_start(text[start:][::-1], bare[start:][::-1])
    while end and not text[-end - 1 :][:1].isspace():
        end -= 1
    return text[start : len(text) - end]


def _shared_start(first: str, second: str) -> int:
    """Return how many characters two texts have in common at their beginnings."""
    pairs = enumerate(zip(first, second, strict=False))
    return next(
        (place for place, characters in pairs if characters[0] != characters[1]), min(len(first), len(second))
    )


def _places(listing: str, choices: Sequence[str]) -> list[int]:
    """Return the order in which choices occur in a text; empty if one does not occur."""
    if all(len(choice.strip()) == 1 for choice in choices):  # letters before the options
        marks = [rf"^[ \t]*[(\[]?{re.escape(choice.strip())}[.):\]]" for choice in choices]
        matches_of = [[*re.finditer(mark, listing, re.MULTILINE)] for mark in marks]
        if all(matches_of):
            return np.argsort(np.argsort([matches[-1].start() for matches in matches_of])).tolist()
    starts: dict[int, int] = {}
    for number in sorted(range(len(choices)), key=lambda place: -len(choices[place])):
        choice = choices[number].strip()
        matches = [*re.finditer(rf"(?<!\w){re.escape(choice)}(?!\w)", listing)] if choice else []
        if not matches:
            return []
        start, end = matches[-1].span()  # the list of choices comes last
        starts[number] = start
        listing = listing[:start] + "\0" * (end - start) + listing[end:]
    return np.argsort(np.argsort([starts[number] for number in range(len(choices))])).tolist()


def _of_demonstrations(
    choose: Callable[[Sequence[str]], Sequence[str]],
) -> Callable[[Situation], Floats | None]:
    """Return the scores of choosing labels of the demonstrations: those that ``choose`` returns."""

    def scores(situation: Situation) -> Floats | None:
        if not situation.demonstrations or not situation.labels or not any(situation.demonstrations):
            return None
        of_label = {
            label: situation.scores(
                [np.array([float(c == label) for c in row]) for row in situation.task["choices"]]
            )
            for label in situation.labels
        }
        uniform = _uniform(situation)
        rows = []
        for labels in situation.demonstrations:
            chosen = [label for label in choose(labels) if label in of_label] if labels else []
            rows.append(np.mean([of_label[label] for label in chosen], axis=0) if chosen else uniform)
        return np.array(rows)

    return scores


def _most_common(labels: Sequence[str]) -> list[str]:
    counts = Counter(labels)
    return [label for label, count in counts.items() if count == max(counts.values())]


def _nearest(situation: Situation) -> Floats | None:
    """Return the scores of the label of the most similar example of another cluster, by bags of words."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    task = situation.task
    clusters, _ = numbered(len(task), task["cluster"])
    if not situation.labels or len({*clusters}) < 2:
        return None
    try:
        vectors = TfidfVectorizer().fit_transform(task["input"])
    except ValueError:  # no words
        return None
    similarity = (vectors @ vectors.T).toarray()
    similarity[clusters[:, None] == clusters[None, :]] = -1.0
    weights = []
    for row, choices in zip(similarity, task["choices"], strict=True):
        if row.max() <= 0:  # no word in common with any example
            weights.append(np.ones(len(choices)))
            continue
        nearest = np.flatnonzero(row >= row.max() - 1e-12)
        counts = Counter(
            chain.from_iterable(
                (
                    choice
                    for choice, flag in zip(*task[["choices", "correct"]].iloc[place], strict=True)
                    if flag
                )
                for place in nearest
            )
        )
        weight = np.array([float(counts[choice]) for choice in choices])
        weights.append(weight if weight.any() else np.ones(len(choices)))
    return situation.scores(weights)


def _choices_only(situation: Situation) -> Floats | None:
    return situation.null_scores


UNIFORM = Guesser("uniform", "guessing at random", _uniform, draws=True)
GUESSERS = (
    UNIFORM,
    Guesser(
        "label prior",
        "guessing labels as often as they are correct",
        _label_prior,
        draws=True,
    ),
    Guesser("majority label", "always choosing the most frequent gold label", _majority),
    Guesser(
        "position",
        "always choosing the position that is most often correct",
        _position,
    ),
    Guesser("longest choice", "always choosing the longest choice", _by_length(1)),
    Guesser(
        "shortest choice",
        "always choosing the shortest choice",
        _by_length(-1),
    ),
    Guesser(
        "word overlap",
        "choosing the choice that has the most words in common with the input",
        _overlap,
    ),
    Guesser(
        "last demonstration",
        "copying the label of the last demonstration",
        _of_demonstrations(lambda labels: labels[-1:]),
    ),
    Guesser(
        "demonstrations' majority",
        "copying the most frequent label of the demonstrations",
        _of_demonstrations(_most_common),
    ),
    Guesser(
        "nearest neighbour",
        "copying the gold label of the example with the most similar words",
        _nearest,
    ),
    Guesser(
        "choices only",
        "the model itself, with the choices but without the question",
        _choices_only,
    ),
)


def all_guessers() -> list[Guesser]:
    """Return the built-in guessers, and those of installed packages.

    A package registers a guesser as an entry point of the group ``abovechance.guessers``: a ``Guesser``, or a
    function from a ``Situation`` to (examples,) probabilities of being correct. InputError if two guessers
    have the same name.
    """
    installed = [_as_guesser(point.name, loaded_point(point)) for point in entry_points(group=ENTRY_POINTS)]
    guessers = [*GUESSERS, *installed]
    counts = Counter(guesser.name for guesser in guessers)
    if repeated := [name for name, count in counts.items() if count > 1]:
        raise InputError(
            f"there are {counts[repeated[0]]} guessers with the name '{repeated[0]}'; expected another name "
            f"for that of an installed package (entry points of the group {ENTRY_POINTS})"
        )
    return guessers


def _as_guesser(name: str, loaded: Any) -> Guesser:
    if isinstance(loaded, Guesser):
        return loaded
    if not callable(loaded):
        raise InputError(f"guesser '{name}': expected a Guesser or a function of a Situation")
    return Guesser(name, f"the guesser {name}", loaded)
