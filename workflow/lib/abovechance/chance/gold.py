"""Gold answers drawn anew: what they would be if nothing that a prompt predicts depended on them.

Which choice is correct is not a matter of even chance where labels are shared: of examples that all may be
"unknown", most may be; of answers from a common pool, some are right more often. So what is drawn keeps how
often each shared label is correct, and draws the rest. A choice's place in the file may give the answer away,
so it says nothing.

Assumed is that of an example's choices, each is correct with a probability in proportion to a weight of its
label, the same wherever the label stands; choices that stand in no other example have one weight together.
Given how often each label is correct, all gold answers with the same totals are then equally probable. Where
all examples have one set of labels, these are the permutations; where no label is shared, each example's is
redrawn; else pairs of examples change their gold labels in turn, where both have both (``Singles``). Draws
that start from where such changes lead from the gold answers, backwards, are exchangeable with them however
few changes there are (Besag and Clifford, 1989).

Examples that belong together (a ``cluster``: one passage, a pair with parts swapped, a text that stands
twice) are permuted and redrawn as wholes: clusters of the same form, with the same shared labels beside as
many choices of their own, change their places, and the choices of all examples of one are renamed in the
same way. So are examples with several correct choices. Different clusters are assumed to be independent.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from abovechance.core.arrays import Bools, Ints

# How often each example is offered another's gold label: more mix better, fewer are as valid.
ROUNDS = 100
OWN, NONE = 0, -1


@dataclass(frozen=True)
class Singles:
    """Examples with one correct choice, each a cluster by itself.

    Attributes
    ----------
    examples
        (n,) which they are.
    labels
        (n, places) the label of each choice where others have it too, ``OWN`` where none has, and
        ``NONE`` where there is no choice.
    """

    examples: Ints
    labels: Ints

    def prepared(self, correct: Bools, generator: np.random.Generator) -> Prepared:
        """What all draws of one test start from."""
        gold = self.labels[np.arange(len(self.examples)), correct[self.examples].argmax(axis=1)]
        start = gold[:, None].copy()
        several = not self.alike and len(set(gold.tolist())) > 1
        rounds = [self._pairs(generator) for _ in range(ROUNDS * several)]
        for pairs in rounds[::-1]:
            self._change(start, pairs, generator)
        return Prepared(self, start, rounds)

    def _pairs(self, generator: np.random.Generator) -> Ints:
        """(2, pairs) examples with a label in common: each names one of its own, and like ones are paired."""
        keys = np.where(self.labels == NONE, -1.0, generator.random(self.labels.shape))
        named = self.labels[np.arange(len(self.labels)), keys.argmax(axis=1)]
        order = np.lexsort((generator.random(len(named)), named))
        first = np.searchsorted(named[order], named[order])  # where those of the same label begin
        odd = (np.arange(len(order)) - first) % 2 == 1
        seconds = np.flatnonzero(odd)
        return np.stack([order[seconds - 1], order[seconds]])

    @cached_property
    def alike(self) -> bool:
        """Whether all have the same labels, so that gold answers can be permuted freely."""
        ordered = np.sort(self.labels, axis=1)
        return bool((ordered == ordered[:1]).all())

    def _change(self, state: Ints, pairs: Ints, generator: np.random.Generator) -> None:
        """Let (2, pairs) of examples change their (examples, draws) gold labels, by both states' odds."""
        one, other = pairs
        first, second = state[one], state[other]
        stay = self._ways(one, first) * self._ways(other, second)
        change = self._ways(one, second) * self._ways(other, first)
        changed = generator.random(first.shape) * (stay + change) < change
        state[one] = np.where(changed, second, first)
        state[other] = np.where(changed, first, second)

    def _ways(self, which: Ints, labels: Ints) -> Ints:
        """(which, draws) how many of an example's choices have a label."""
        found: Ints = (self.labels[which].T[:, :, None] == labels).sum(axis=0)
        return found

    def places(self, state: Ints, generator: np.random.Generator) -> Ints:
        """(examples, draws) a choice with the gold label, any of several."""
        keys = generator.random((*state.shape, self.labels.shape[1]))
        found: Ints = np.where(self.labels[:, None, :] == state[:, :, None], keys, -1.0).argmax(axis=2)
        return found


@dataclass(frozen=True)
class Prepared:
    """Singles, the gold labels that draws start from, and the pairs that may change them."""

    singles: Singles
    start: Ints
    rounds: list[Ints]

    def draw(self, generator: np.random.Generator, drawn: Bools) -> None:
        """Draw (draws, examples, places) ``drawn`` for these examples."""
        state = np.repeat(self.start, len(drawn), axis=1)
        if self.singles.alike:
            state = generator.permuted(state, axis=0)
        for pairs in self.rounds:
            self.singles._change(state, pairs, generator)
        chosen = self.singles.places(state, generator)
        drawn[np.arange(len(drawn)), self.singles.examples[:, None], chosen] = True


@dataclass(frozen=True)
class Stratum:
    """Clusters of the same form.

    Attributes
    ----------
    examples
        (clusters, members) the clusters' examples.
    shared
        For each member, (clusters, labels) the places of the shared labels among its choices.
    own
        For each member, (clusters, choices) the places of its other choices.
    """

    examples: Ints
    shared: tuple[Ints, ...]
    own: tuple[Ints, ...]

    @property
    def permuted(self) -> bool:
        """Whether labels are shared, so that they are permuted among the clusters."""
        return any(places.shape[1] for places in self.shared)

    def draw(self, correct: Bools, generator: np.random.Generator, drawn: Bools) -> None:
        """Draw (draws, examples, places) ``drawn`` for the stratum's examples, from what is ``correct``."""
        number, clusters = len(drawn), len(self.examples)
        order = np.tile(np.arange(clusters), (number, 1))
        if self.permuted:
            order = generator.permuted(order, axis=1)
        noise = generator.random((number, clusters, max(places.shape[1] for places in self.own)))
        for member, (shared, own) in enumerate(zip(self.shared, self.own, strict=True)):
            at = self.examples[:, member, None]
            drawn[:, at, shared] = correct[at, shared][order]
            # the same names for all members
            names = noise[:, :, : own.shape[1]].argsort(axis=2)
            drawn[:, at, own] = np.take_along_axis(correct[at, own][order], names, axis=2)


def parts(labels: Ints, available: Bools, cluster: Ints, correct: Bools) -> tuple[Singles, list[Stratum]]:
    """All examples: those that are drawn one by one, and clusters in strata.

    Parameters
    ----------
    labels
        (examples, places) the label of each choice: the same number for the same text.
    available
        (examples, places) whether there is a choice.
    cluster
        (examples,) the cluster of each example.
    correct
        (examples, places) whether a choice is correct.
    """
    choices = [_choices(row, there) for row, there in zip(labels, available, strict=True)]
    clusters = [np.flatnonzero(cluster == name) for name in np.unique(cluster)]
    times = _times(choices, clusters)
    single = correct.sum(axis=1) == 1
    alone = np.array([m[0] for m in clusters if len(m) == 1 and single[m[0]]], dtype=np.int64)
    numbers = {label: number for number, label in enumerate((n for n in times if times[n] > 1), start=1)}
    known = np.array([[numbers.get(label, OWN) for label in row] for row in labels.tolist()])
    singles = Singles(alone, np.where(available, known, NONE)[alone])
    return singles, _strata(choices, [m for m in clusters if len(m) > 1 or not single[m[0]]], times)


def _strata(choices: list[dict[int, list[int]]], clusters: list[Ints], times: Counter[int]) -> list[Stratum]:
    """Clusters of the same form together. A label that stands twice among an example's choices is its own."""
    twice = {label for own in choices for label, places in own.items() if len(places) > 1}
    common = {label for label, number in times.items() if number > 1} - twice
    found: dict[tuple[_Form, ...], list[Ints]] = defaultdict(list)
    for members in clusters:
        found[tuple(_Form.of(choices[at], common) for at in members)].append(members)
    return [_stratum(form, np.array(some), choices) for form, some in found.items()]


@dataclass(frozen=True)
class _Form:
    """What choices an example has: the shared labels, and how many others."""

    shared: tuple[int, ...]
    own: int

    @classmethod
    def of(cls, choices: dict[int, list[int]], common: set[int]) -> _Form:
        shared = tuple(label for label in choices if label in common)
        return cls(shared, sum(map(len, choices.values())) - len(shared))


def _choices(labels: Ints, available: Bools) -> dict[int, list[int]]:
    """{label: its places} of one example, labels ascending."""
    places: dict[int, list[int]] = defaultdict(list)
    for place in np.flatnonzero(available):
        places[int(labels[place])].append(int(place))
    return dict(sorted(places.items()))


def _times(choices: list[dict[int, list[int]]], clusters: list[Ints]) -> Counter[int]:
    """In how many clusters each label stands."""
    return Counter(label for members in clusters for label in {own for at in members for own in choices[at]})


def _stratum(form: tuple[_Form, ...], examples: Ints, choices: list[dict[int, list[int]]]) -> Stratum:
    shared, own = [], []
    for member, part in enumerate(form):
        places = [choices[at] for at in examples[:, member]]
        shared.append([[there[label][0] for label in part.shared] for there in places])
        own.append(
            [
                [place for label, these in there.items() if label not in part.shared for place in these]
                for there in places
            ]
        )
    size = len(examples)
    return Stratum(
        examples,
        tuple(np.array(places, dtype=np.int64).reshape(size, -1) for places in shared),
        tuple(np.array(places, dtype=np.int64).reshape(size, -1) for places in own),
    )
