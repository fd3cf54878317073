"""The gold answers that examples could have by chance: some change places, some are drawn anew.

Gold answers are permuted among the examples of a stratum, such as all examples with the same choices.
Examples of a cluster keep their answers together: clusters of one size and of the same strata exchange them
as wholes. An example that is alone in its stratum, but has known choices, draws its gold answer among its
choices. All other examples keep their gold answers.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import comb, factorial, prod
from typing import Any

import numpy as np

from abovechance.core.arrays import Bools, Floats, Ints

MOST_CELLS = 10_000_000  # of an array of draws


@dataclass(frozen=True)
class Arrangements:
    """All gold answers that are equally probable under the null hypothesis.

    Attributes
    ----------
    golds
        The distinct gold answers.
    observed
        (examples,) the gold answer of each example, as a place in ``golds``.
    groups
        (units, members) examples whose gold answers are permuted: units exchange those of all their members.
    redrawn
        {example: the gold answers that it could have, all equally probable, as places in ``golds``}.
    sampled
        Whether ``redrawn`` has random samples of these, because there are too many. Then nothing is exact.
    """

    golds: list[Any]
    observed: Ints
    groups: list[Ints]
    redrawn: Mapping[int, Ints]
    sampled: bool = False

    @classmethod
    def within(
        cls,
        gold: Sequence[Hashable],
        strata: Sequence[Hashable],
        clusters: Ints,
        choices: Mapping[int, Sequence[Hashable]],
        sampled: bool = False,
    ) -> Arrangements:
        """Return the arrangements of gold answers.

        Parameters
        ----------
        gold, strata
            (examples,) the gold answer and the stratum of each example.
        clusters
            (examples,) the same number for examples that belong together.
        choices
            {example: all gold answers that it could have}, for examples whose choices are known.
        sampled
            Whether these are random samples of all gold answers.
        """
        places: dict[Hashable, int] = {}
        observed = np.array([places.setdefault(answer, len(places)) for answer in gold], dtype=np.int64)
        numbers: dict[Hashable, int] = {}
        stratum = np.array([numbers.setdefault(name, len(numbers)) for name in strata], dtype=np.int64)
        units: dict[Hashable, list[list[int]]] = defaultdict(list)
        for cluster in np.unique(clusters):
            members = np.flatnonzero(clusters == cluster)
            # members change places with those of the same stratum, in whatever order they come
            members = members[np.argsort(stratum[members], kind="stable")]
            units[tuple(stratum[members])].append(members.tolist())
        groups, redrawn = [], {}
        for listed in units.values():
            (first, *_), *further = listed
            if further:
                groups.append(np.array(listed))
            elif len(listed[0]) == 1 and first in choices:
                options = [places.setdefault(answer, len(places)) for answer in choices[first]]
                redrawn[first] = np.array(options, dtype=np.int64)
        return cls([*places], observed, groups, redrawn, sampled)

    @cached_property
    def fixed(self) -> Bools:
        """(examples,) whether an example has the same gold answer in all arrangements."""
        fixed = np.ones(len(self.observed), dtype=bool)
        for units in self.groups:
            codes = self.observed[units]
            fixed[units] = (codes == codes[0]).all(axis=0)
        for example, options in self.redrawn.items():
            fixed[example] = len(options) < 2
        return fixed

    @property
    def unmoved(self) -> Ints:
        """The examples that are alone in their stratum, and whose choices are unknown."""
        moved = [*self.redrawn, *(member for units in self.groups for member in units.ravel().tolist())]
        return np.setdiff1d(np.arange(len(self.observed)), moved)

    @cached_property
    def count(self) -> int:
        """The number of different arrangements."""
        permuted = [
            factorial(len(units)) // prod(map(factorial, _patterns(self.observed[units]).values()))
            for units in self.groups
        ]
        return prod(permuted) * prod(map(len, self.redrawn.values()))

    def draws(self, generator: np.random.Generator, number: int) -> Iterator[Ints]:
        """Yield ``number`` random arrangements, as (draws, examples) places in ``golds`` at a time."""
        chunk = max(1, MOST_CELLS // max(1, len(self.observed)))
        for begin in range(0, number, chunk):
            size = min(chunk, number - begin)
            codes = np.tile(self.observed, (size, 1))
            for units in self.groups:
                order = generator.random((size, len(units))).argsort(axis=1)
                for member in range(units.shape[1]):
                    codes[:, units[:, member]] = self.observed[units[:, member]][order]
            for example, options in self.redrawn.items():
                codes[:, example] = options[generator.integers(len(options), size=size)]
            yield codes

    def all(self) -> Ints:
        """(arrangements, examples) every different arrangement, once."""
        states = self.observed[None]
        for units in self.groups:
            patterns = _patterns(self.observed[units])
            states = _crossed(states, units.ravel(), _permutations(patterns).reshape(-1, units.size))
        for example, options in self.redrawn.items():
            states = _crossed(states, np.array([example]), options[:, None])
        return states

    def shares(self) -> Iterator[tuple[Ints, Ints, Floats]]:
        """Yield examples, the gold answers that each of them can have, and the probabilities of these."""
        for units in self.groups:
            for examples in units.T:
                codes, counts = np.unique(self.observed[examples], return_counts=True)
                yield examples, codes, counts / len(examples)
        for example, options in self.redrawn.items():
            yield np.array([example]), options, np.full(len(options), 1 / len(options))
        for example in self.unmoved.tolist():
            yield np.array([example]), self.observed[[example]], np.ones(1)


def _patterns(codes: Ints) -> Counter[tuple[int, ...]]:
    """Return how often each row occurs."""
    return Counter(map(tuple, codes.tolist()))


def orders(counts: Sequence[int]) -> Ints:
    """(orders, places) all different orders of kinds with these counts: the kind at each place, from 0."""
    size = sum(counts)
    partial = [([*range(size)], np.zeros(size, dtype=np.int64))]
    # rare kinds first; the most frequent one takes the places that are left
    for kind in np.argsort(counts, kind="stable"):
        following = []
        for free, order in partial:
            for places in combinations(free, counts[kind]):
                filled, chosen = order.copy(), {*places}
                filled[[*places]] = kind
                following.append(([place for place in free if place not in chosen], filled))
        partial = following
    return np.stack([order for _, order in partial])


def _permutations(patterns: Mapping[tuple[int, ...], int]) -> Ints:
    """(arrangements, units, members) all different orders of patterns with these counts."""
    return np.array([*patterns])[orders([*patterns.values()])]


def _crossed(states: Ints, examples: Ints, codes: Ints) -> Ints:
    """Return every state with every row of codes at some examples."""
    crossed = np.repeat(states[:, None], len(codes), axis=1)
    crossed[:, :, examples] = codes
    return crossed.reshape(-1, states.shape[1])


def subsets(items: Sequence[str], size: int, limit: int, seed: int = 0) -> list[frozenset[str]]:
    """Return all sets of some items, or ``limit`` random ones if there are more."""
    if comb(len(items), size) <= limit:
        return [frozenset(chosen) for chosen in combinations(items, size)]
    generator = np.random.default_rng(seed)
    return [
        frozenset(items[place] for place in generator.permutation(len(items))[:size]) for _ in range(limit)
    ]
