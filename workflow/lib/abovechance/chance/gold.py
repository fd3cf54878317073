"""Gold answers drawn anew: what they would be if nothing that a prompt predicts depended on them.

Which choice is correct is not a matter of even chance where labels are shared: of examples that all may be
"unknown", most may be. So what is drawn keeps how often each shared label is correct, and draws the rest:

- Examples in which the same labels stand beside as many choices of their own make a *stratum*. Within it,
  which of the shared labels is correct, or that none is, is permuted among the examples.
- Of an example's own choices, which stand in no other, or count so, the correct one is drawn evenly.

Where all examples have one set of labels, this is a permutation of the gold answers; where no label is
shared, each is redrawn among its example's choices. A choice's place in the file may give the answer away,
so it says nothing.

Examples that belong together (a ``cluster``: one passage, a pair with parts swapped, a text that stands
twice) are permuted and redrawn as wholes: clusters of the same form change their places, and the choices of
all examples of one are renamed in the same way. Different clusters are assumed to be independent.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass

import numpy as np

from abovechance.core.arrays import Bools, Ints

# Of strata with fewer clusters, each example's rarest label counts as its own, as long as another is left.
LEAST = 5


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

    @property
    def fixed(self) -> bool:
        """Whether nothing else can be drawn: a single cluster with shared labels, and no two own choices."""
        return self.permuted and len(self.examples) == 1 and max(p.shape[1] for p in self.own) < 2

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


def strata(labels: Ints, available: Bools, cluster: Ints) -> list[Stratum]:
    """All clusters of examples in strata.

    Parameters
    ----------
    labels
        (examples, places) the label of each choice: the same number for the same text.
    available
        (examples, places) whether there is a choice.
    cluster
        (examples,) the cluster of each example.
    """
    choices = [_choices(row, there) for row, there in zip(labels, available, strict=True)]
    clusters = [np.flatnonzero(cluster == name) for name in np.unique(cluster)]
    times = _times(choices, clusters)
    # {example: its shared labels, the rarest first}
    common = [sorted((label for label in own if times[label] > 1), key=times.__getitem__) for own in choices]
    found: dict[tuple[_Form, ...], list[Ints]] = defaultdict(list)
    waiting = clusters
    while waiting:
        grouped: dict[tuple[_Form, ...], list[Ints]] = defaultdict(list)
        for members in waiting:
            grouped[tuple(_Form.of(choices[at], common[at]) for at in members)].append(members)
        waiting = []
        for form, some in grouped.items():
            last = all(len(part.shared) <= 1 for part in form)
            if last or form in found or len(some) >= LEAST:
                found[form] += some
            else:
                waiting += some
        for at in (at for members in waiting for at in members):
            common[at] = common[at][1:] if len(common[at]) > 1 else common[at]
    return [_stratum(form, np.array(some), choices) for form, some in found.items()]


@dataclass(frozen=True)
class _Form:
    """What choices an example has: the shared labels, and how many others."""

    shared: tuple[int, ...]
    own: int

    @classmethod
    def of(cls, choices: dict[int, list[int]], common: list[int]) -> _Form:
        shared = tuple(label for label in choices if label in common)
        return cls(shared, sum(map(len, choices.values())) - len(shared))


def _choices(labels: Ints, available: Bools) -> dict[int, list[int]]:
    """{label: its places} of one example, labels ascending."""
    places: dict[int, list[int]] = defaultdict(list)
    for place in np.flatnonzero(available):
        places[int(labels[place])].append(int(place))
    return dict(sorted(places.items()))


def _times(choices: list[dict[int, list[int]]], clusters: list[Ints]) -> Counter[int]:
    """In how many clusters each label stands; none where it stands twice among an example's choices."""
    times = Counter(label for members in clusters for label in {own for at in members for own in choices[at]})
    for twice in {label for own in choices for label, places in own.items() if len(places) > 1}:
        times[twice] = 0
    return times


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
