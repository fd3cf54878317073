"""Uniform draws of assignments with the same totals: of places for every unit, of units for every label.

Units are examples, or clusters of examples. Each unit has places, each place has a label, and a unit holds
some of its places. In the bipartite graph of units and labels, the assignments are the perfect matchings. Any
two of them differ by alternating cycles: a unit moves to another label, a unit that held that label moves on,
and so forth until a unit takes the label that the first one left.

The Markov chain moves by such cycles. A *cycle* starts at a held place, drawn uniformly. Its unit lets go and
draws one of its places, uniformly. If the place has the label that is missing, the unit takes it and the
cycle is closed. Else it takes the place from one of those that hold the label, drawn uniformly, and that unit
goes on in the same way.

The chain is reversible with the uniform distribution (compare Jerrum and Sinclair, 1989). Consider the
assignments and those that lack one place. A step from unit i to unit j has the probability 1 / (places of i)
/ (holders of the label), and the step back 1 / (places of j) / (holders of the label). So an assignment in
which unit i lacks a place has a weight in proportion to (places of i), all whole assignments have the same
weight, and the same holds for the chain observed at whole assignments only. Every alternating cycle has a
probability above 0, so the chain reaches every assignment.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from abovechance.core.arrays import Bools, Ints

NONE = -1  # the label where there is no place
SWEEPS = 20  # how often, on average, a draw offers every unit another place


@dataclass(frozen=True)
class Exchange:
    """Units each of which can reach every label that any of them holds, by cycles.

    Attributes
    ----------
    units
        (n,) the numbers of the units.
    labels
        (n, places) the label of each place, from 0; ``NONE`` for places that no assignment holds.
    available
        (n, places) whether a unit holds a place at first.
    """

    units: Ints
    labels: Ints
    available: Bools

    @property
    def width(self) -> int:
        """The number of places of a unit, with those that are ``NONE``."""
        return int(self.labels.shape[1])

    @cached_property
    def start(self) -> Ints:
        """(tokens,) the held places, numbered unit * width + place, in the order of their labels."""
        places = np.flatnonzero(self.available)
        return places[np.argsort(self.labels.ravel()[places], kind="stable")]

    def draw(self, generator: np.random.Generator, start: Ints, draws: int) -> Ints:
        """Return (draws, tokens) the places that are held after ``cycles`` cycles from ``start`` (tokens,).

        Draws are independent of ``start``, and exactly uniform, if units can permute freely.
        """
        if self.label_count == 1:
            return self._redrawn(generator, draws)
        if self.is_permutation:
            return self._permuted(generator, draws)
        return _Cycles(self, start, draws).run(generator, self.cycles)

    @cached_property
    def label_count(self) -> int:
        """The number of labels."""
        return int(self.labels.max()) + 1

    @cached_property
    def is_permutation(self) -> bool:
        """Whether each unit holds one place, and all have the same labels, once each."""
        ordered = np.sort(self.labels, axis=1)
        once = len(np.unique(ordered[0])) == self.width
        return once and bool((ordered == ordered[:1]).all() and (self.available.sum(axis=1) == 1).all())

    @cached_property
    def cycles(self) -> int:
        """The number of cycles between a draw and its start: on average, a cycle passes each label once."""
        return math.ceil(SWEEPS * len(self.start) / self.label_count)

    def _redrawn(self, generator: np.random.Generator, draws: int) -> Ints:
        """Return new labels: each unit draws among its places."""
        keys = np.where(self.labels == NONE, 2.0, generator.random((draws, *self.labels.shape)))
        ranks = keys.argsort(axis=2).argsort(axis=2)
        available = ranks < self.available.sum(axis=1)[:, None]
        return np.nonzero(available.reshape(draws, -1))[1].reshape(draws, -1)

    def _permuted(self, generator: np.random.Generator, draws: int) -> Ints:
        holds = generator.permuted(np.tile(self.labels[self.available], (draws, 1)), axis=1)
        place_of = self.labels.argsort(axis=1)  # labels are 0, 1, ...
        units = np.arange(len(self.units))
        return units * self.width + place_of[units, holds - self.labels.min()]


class _Cycles:
    """Many draws that run their cycles at the same time.

    ``slots`` (draws, tokens) has the held places. The slots of a label lie next to each other: ``first`` and
    ``size`` give its range.
    """

    def __init__(self, exchange: Exchange, start: Ints, draws: int) -> None:
        self.width = exchange.width
        self.label_of = exchange.labels.ravel()
        labelled = exchange.labels != NONE
        self.count = labelled.sum(axis=1)
        self.options = (
            np.argsort(~labelled, axis=1, kind="stable") + np.arange(len(labelled))[:, None] * self.width
        )
        self.size = np.bincount(self.label_of[start], minlength=exchange.label_count)
        self.first = np.cumsum(self.size) - self.size
        self.slots = np.tile(start[np.argsort(self.label_of[start], kind="stable")], (draws, 1))
        # a unit that holds one place and lets it go is free to take any
        several = (exchange.available.sum(axis=1) > 1).any()
        self.holds = np.zeros((draws, self.label_of.size), dtype=bool) if several else None
        if self.holds is not None:
            self.holds[:, start] = True

    def run(self, generator: np.random.Generator, cycles: int) -> Ints:
        """Return (draws, tokens) the held places after so many cycles of each draw."""
        draws, tokens = self.slots.shape
        at: Ints = np.arange(draws)  # the draws that have cycles left
        steps_left = np.full(draws, cycles)
        missing = np.asarray(generator.integers(tokens, size=draws))  # the slot that no unit holds
        label, unit = self._let_go(at, missing)  # the missing label, and the unit that draws a place
        while len(at):
            noise = generator.random((2, len(at)))
            place = self.options[unit, (noise[0] * self.count[unit]).astype(np.int64)]
            label_there = self.label_of[place]
            closes = label_there == label
            slot = self.first[label_there] + (noise[1] * self.size[label_there]).astype(np.int64)
            slot[closes] = missing[closes]
            before = self.slots[at, slot]
            if self.holds is None:
                self.slots[at, slot] = place
                unit = before // self.width
            else:
                free = ~self.holds[at, place]
                closes &= free
                self.slots[at[free], slot[free]] = place[free]
                moves = free & ~closes
                self.holds[at[moves], before[moves]] = False
                self.holds[at[free], place[free]] = True
                unit = np.where(moves, before // self.width, unit)
            ended = np.flatnonzero(closes)
            if len(ended):
                steps_left[ended] -= 1
                missing[ended] = generator.integers(tokens, size=len(ended))
                label[ended], unit[ended] = self._let_go(at[ended], missing[ended], steps_left[ended] > 0)
                if not steps_left[ended].all():
                    going = steps_left > 0
                    at, steps_left, missing = at[going], steps_left[going], missing[going]
                    label, unit = label[going], unit[going]
        return self.slots

    def _let_go(self, at: Ints, slot: Ints, going: Bools | bool = True) -> tuple[Ints, Ints]:
        """Return the labels of slots that are let go, and the units that held them."""
        place = self.slots[at, slot]
        if self.holds is not None:
            self.holds[at, place] &= ~np.broadcast_to(going, at.shape)
        return self.label_of[place], place // self.width


def exchanges(labels: Ints, available: Bools) -> list[Exchange]:
    """Return the parts in which units exchange labels; other units hold the same places in all assignments.

    Labels are vertices, and a unit that holds one label and has a place with another is an arc between them.
    A unit moves along an arc in some assignment if and only if a cycle of arcs passes it, so the parts are
    the strongly connected components. They are the same for every assignment.

    Parameters
    ----------
    labels
        (units, places) the label of each place, from 0; ``NONE`` where there is no place.
    available
        (units, places) whether a unit holds a place.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    if not available.any():
        return []
    size = int(labels.max()) + 1
    unit, source = np.nonzero(available)
    holds = labels[unit, source]
    row, place = np.nonzero((labels[unit] != NONE) & ~available[unit])
    arcs = (holds[row], labels[unit[row], place])
    graph = coo_array((np.ones(len(row), dtype=bool), arcs), shape=(size, size))
    _, part = connected_components(graph, directed=True, connection="strong")
    parts = np.where(labels == NONE, NONE, part[labels])
    return [
        _exchange(labels, available, inside, units)
        for number in np.unique(part[holds])
        for inside in [parts == number]
        if len(units := np.flatnonzero((inside & available).any(axis=1) & (inside & ~available).any(axis=1)))
    ]


def _exchange(labels: Ints, available: Bools, inside: Bools, units: Ints) -> Exchange:
    """Return one part: its units, and its labels numbered from 0."""
    holds = inside[units] & available[units]
    # a label that only units without alternatives hold stays with them
    places = inside[units] & np.isin(labels[units], labels[units][holds])
    numbers = np.full(places.shape, NONE)
    numbers[places] = np.unique(labels[units][places], return_inverse=True)[1]
    return Exchange(units, numbers, holds)
