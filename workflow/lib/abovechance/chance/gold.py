"""Gold answers drawn anew: what they would be if nothing that a prompt predicts depended on them.

The probability that a choice is correct need not be the same for all choices if labels are shared: of
examples that all may be "unknown", most may be; among answers from a common pool, some are correct more
often. So a draw keeps how often each shared label is correct, and redraws the rest. It does not keep the
position of a choice in the file.

The assumption is that each choice of an example is correct with a probability in proportion to a weight of
its label, the same wherever the label occurs; choices that no other example has share one weight. Given how
often each label is correct, all gold answers with the same totals are then equally probable, and ``exchange``
draws from them. If no label is shared, each example's gold answer is redrawn among its choices; if all
examples have the same labels, gold answers are permuted; if labels come from a pool, they move along cycles
of examples. Such draws start from a common state that is as many steps away from the observed gold answers as
from the draws. This makes the p-value valid for any number of steps (Besag and Clifford, 1989); the number of
steps decides how close the draws are to independent ones.

Examples that belong together (a ``cluster``: one passage, a pair with parts swapped, a text that occurs
twice) are drawn as wholes. A cluster's *pattern* is the gold labels of all its members. A pattern can move to
any cluster of the same size whose members have its labels among their choices, and all arrangements of the
observed patterns are equally probable. Then a cluster's remaining choices are renamed in the same way for all
members. The same holds for single examples that all have the same labels, so that several correct choices of
one example stay together. Different clusters are assumed to be independent.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from abovechance.chance.exchange import NONE, Exchange, exchanges
from abovechance.core.arrays import Bools, Ints

OWN_LABEL = 0  # the label of all choices that no other cluster has
DRAWS_AT_A_TIME = 5000
CELLS_AT_A_TIME = 10_000_000  # how many values an array of draws may have


class Part(Protocol):
    """Examples whose gold answers are drawn together."""

    @property
    def exchanges(self) -> list[Exchange]:
        """Which of them exchange labels or patterns."""

    def fill(self, correct: Bools, places: Sequence[Ints], generator: np.random.Generator) -> None:
        """Set (draws, examples, choices) ``correct`` from the (draws, tokens) places of each exchange."""


@dataclass(frozen=True)
class Gold:
    """The gold answers of all examples.

    Attributes
    ----------
    correct
        (examples, choices) whether a choice is correct.
    parts
        Examples whose gold answers are drawn together.
    shared
        (examples,) whether an example has a choice that another cluster has too.
    """

    correct: Bools
    parts: list[Part]
    shared: Bools

    @classmethod
    def from_labels(cls, labels: Ints, available: Bools, cluster: Ints, correct: Bools) -> Gold:
        """Return the gold answers of examples.

        Parameters
        ----------
        labels
            (examples, choices) the same number for choices of the same text.
        available
            (examples, choices) whether there is such a choice.
        cluster
            (examples,) the same number for examples that belong together.
        correct
            (examples, choices) whether a choice is correct.
        """
        choices = [_choices(row, available_row) for row, available_row in zip(labels, available, strict=True)]
        _, first, number = np.unique(cluster, return_index=True, return_inverse=True)
        clusters = [np.flatnonzero(number == place) for place in range(len(first))]
        times = Counter(
            label for members in clusters for label in {name for at in members for name in choices[at]}
        )
        common = {label for label, number in times.items() if number > 1}
        shared = np.array(
            [any(label in common for label in labels_of_example) for labels_of_example in choices], dtype=bool
        )
        by_size: dict[int, list[Ints]] = defaultdict(list)
        for members in clusters:
            by_size[len(members)].append(members)
        parts: list[Part] = []
        for size, examples in sorted(by_size.items()):
            if size == 1 and not _interchangeable([choices[at] for (at,) in examples], common):
                parts.append(
                    Singles.from_examples(np.concatenate(examples), labels, available, correct, common)
                )
            else:
                parts.append(Clusters.from_choices(np.array(examples), choices, correct, common))
        return cls(correct, parts, shared)

    def draws(self, generator: np.random.Generator, number: int) -> Iterator[Bools]:
        """Yield ``number`` draws of the gold answers, as (draws, examples, choices) at a time."""
        centres = [
            [exchange.draw(generator, exchange.start, 1)[0] for exchange in part.exchanges]
            for part in self.parts
        ]
        chunk = max(1, min(DRAWS_AT_A_TIME, CELLS_AT_A_TIME // max(1, self.correct.size)))
        for begin in range(0, number, chunk):
            count = min(chunk, number - begin)
            samples = np.tile(self.correct, (count, 1, 1))
            for part, starts in zip(self.parts, centres, strict=True):
                parts_with_starts = zip(part.exchanges, starts, strict=True)
                part.fill(
                    samples,
                    [exchange.draw(generator, start, count) for exchange, start in parts_with_starts],
                    generator,
                )
            yield samples


@dataclass(frozen=True)
class Singles:
    """Examples that are clusters by themselves, with different labels: the label totals stay the same.

    Attributes
    ----------
    examples
        (n,) their numbers.
    exchanges
        Those examples that exchange labels; units are places in ``examples``.
    """

    examples: Ints
    exchanges: list[Exchange]

    @classmethod
    def from_examples(
        cls, examples: Ints, labels: Ints, available: Bools, correct: Bools, common: set[int]
    ) -> Singles:
        """Return the part that some examples make."""
        numbers = {label: number for number, label in enumerate(sorted(common), start=1)}
        label_numbers = np.array(
            [[numbers.get(label, OWN_LABEL) for label in row] for row in labels[examples].tolist()]
        )
        exchangeable = np.where(available[examples], label_numbers, NONE)
        return cls(examples, exchanges(exchangeable, correct[examples] & available[examples]))

    def fill(self, correct: Bools, places: Sequence[Ints], _: np.random.Generator) -> None:
        draws = np.arange(len(correct))[:, None]
        for exchange, available in zip(self.exchanges, places, strict=True):
            unit, choice = np.nonzero(exchange.labels != NONE)
            correct[:, self.examples[exchange.units[unit]], choice] = False
            unit, choice = np.divmod(available, exchange.width)
            correct[draws, self.examples[exchange.units[unit]], choice] = True


@dataclass(frozen=True)
class Clusters:
    """Clusters of one size: patterns of gold labels move among them, and the other choices are renamed.

    Attributes
    ----------
    examples
        (clusters, members) the numbers of their examples.
    exchanges
        Those examples that exchange patterns; units are places in ``examples``.
    patterns
        (clusters, places, members, choices) which choices are correct under each pattern that a cluster can
        have.
    renamed
        Clusters, a member, and (clusters, choices) that member's choices that no other cluster has.
    """

    examples: Ints
    exchanges: list[Exchange]
    patterns: Bools
    renamed: list[tuple[Ints, int, Ints]]

    @classmethod
    def from_choices(
        cls, examples: Ints, choices: list[dict[int, list[int]]], correct: Bools, common: set[int]
    ) -> Clusters:
        """Return the part that some clusters make. A label that an example has twice is no shared one."""
        twice = {label for by_label in choices for label, places in by_label.items() if len(places) > 1}
        members = [
            [_Member.from_choices(choices[at], correct[at], common - twice) for at in row] for row in examples
        ]
        holdings = [tuple(member.pattern for member in row) for row in members]
        numbers = {pattern: number for number, pattern in enumerate(dict.fromkeys(holdings))}
        possible = _possible(members, list(numbers))
        width = max(map(len, possible))
        labels = np.full((len(examples), width), NONE)
        patterns = np.zeros((len(examples), width, examples.shape[1], correct.shape[1]), dtype=bool)
        for unit, (row, by_label) in enumerate(zip(members, possible, strict=True)):
            for place, pattern in enumerate(by_label):
                labels[unit, place] = numbers[pattern]
                for number, (member, part) in enumerate(zip(row, pattern, strict=True)):
                    patterns[unit, place, number, member.places(part)] = True
        holds = labels == np.array([numbers[pattern] for pattern in holdings])[:, None]
        exchange = exchanges(labels, holds)
        return cls(examples, exchange, patterns, _renamed(members))

    def fill(self, correct: Bools, places: Sequence[Ints], generator: np.random.Generator) -> None:
        draws = np.arange(len(correct))[:, None]
        for exchange, cells in zip(self.exchanges, places, strict=True):
            unit, place = np.divmod(cells, exchange.width)
            clusters = exchange.units[unit]
            for member in range(self.examples.shape[1]):
                pattern = self.patterns[clusters, place, member]
                correct[draws, self.examples[clusters, member]] = pattern
        if not self.renamed:
            return
        widest = max(places.shape[1] for _, _, places in self.renamed)
        noise = generator.random((len(correct), len(self.examples), widest))
        for clusters, member, places_of_label in self.renamed:
            names = noise[:, clusters, : places_of_label.shape[1]].argsort(axis=2)  # the same for all members
            at = self.examples[clusters, member][:, None]
            correct[:, at, places_of_label] = np.take_along_axis(
                correct[:, at, places_of_label], names, axis=2
            )


# the correct shared labels of an example; and which of its own choices are correct, of how many
_Pattern = tuple[tuple[int, ...], tuple[int, ...], int]


@dataclass(frozen=True)
class _Member:
    """An example of a cluster: {label: place} of its shared choices, and the places of its own ones."""

    shared: dict[int, int]
    unshared: tuple[int, ...]
    pattern: _Pattern

    @classmethod
    def from_choices(cls, choices: dict[int, list[int]], correct: Bools, common: set[int]) -> _Member:
        shared = {label: places[0] for label, places in choices.items() if label in common}
        unshared = tuple(
            place for label, places in choices.items() if label not in common for place in places
        )
        labels = tuple(label for label, place in shared.items() if correct[place])
        correct_numbers = tuple(number for number, place in enumerate(unshared) if correct[place])
        return cls(shared, unshared, (labels, correct_numbers, len(unshared) if correct_numbers else 0))

    def can_have(self, pattern: _Pattern) -> bool:
        """Return whether this example has the choices that are correct under a pattern."""
        labels, correct_numbers, unshared = pattern
        return all(label in self.shared for label in labels) and (
            not correct_numbers or unshared == len(self.unshared)
        )

    def places(self, pattern: _Pattern) -> list[int]:
        """Return the choices that are correct under a pattern."""
        labels, correct_numbers, _ = pattern
        return [
            *(self.shared[label] for label in labels),
            *(self.unshared[number] for number in correct_numbers),
        ]


def _possible(
    members: list[list[_Member]], patterns: Sequence[tuple[_Pattern, ...]]
) -> list[list[tuple[_Pattern, ...]]]:
    """Return the patterns that each cluster can have."""
    by_label: dict[int | None, list[tuple[_Pattern, ...]]] = defaultdict(list)
    for pattern in patterns:
        labels = pattern[0][0]
        by_label[labels[0] if labels else None].append(pattern)
    return [
        [
            pattern
            for label in (None, *row[0].shared)
            for pattern in by_label.get(label, [])
            if all(member.can_have(part) for member, part in zip(row, pattern, strict=True))
        ]
        for row in members
    ]


def _renamed(members: list[list[_Member]]) -> list[tuple[Ints, int, Ints]]:
    """Return ``Clusters.renamed``: one entry for each member and each number of its own choices above 1."""
    entries_of: dict[tuple[int, int], list[tuple[int, tuple[int, ...]]]] = defaultdict(list)
    for cluster, row in enumerate(members):
        for number, member in enumerate(row):
            if len(member.unshared) > 1:
                entries_of[number, len(member.unshared)].append((cluster, member.unshared))
    return [
        (
            np.array([cluster for cluster, _ in entries]),
            number,
            np.array([label_places for _, label_places in entries]),
        )
        for (number, _), entries in entries_of.items()
    ]


def _choices(labels: Ints, available: Bools) -> dict[int, list[int]]:
    """{label: its places} of one example, labels ascending."""
    places: dict[int, list[int]] = defaultdict(list)
    for place in np.flatnonzero(available):
        places[int(labels[place])].append(int(place))
    return dict(sorted(places.items()))


def _interchangeable(examples: list[dict[int, list[int]]], common: set[int]) -> bool:
    """Return whether examples have the same shared labels, once each, and as many other choices."""
    forms = {
        (
            tuple(sorted(by_label.keys() & common)),
            sum(len(places) for label, places in by_label.items() if label not in common),
        )
        for by_label in examples
    }
    return len(forms) == 1 and all(len(places) == 1 for by_label in examples for places in by_label.values())
