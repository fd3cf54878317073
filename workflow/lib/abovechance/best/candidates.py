"""The scores of several candidates (prompts, programs) on the same examples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from abovechance.core.arrays import Bools, Floats, Ints, floats
from abovechance.core.errors import InputError, nearest
from abovechance.core.resampling import numbered


@dataclass(frozen=True)
class Unit:
    """Scores that candidates can exchange: those of one cluster of examples.

    Attributes
    ----------
    members
        (members,) places of the candidates that are evaluated on the same examples of the cluster.
    sums
        (members,) the sum of each member's scores on these examples.
    """

    members: Ints
    sums: Floats


@dataclass(frozen=True)
class Candidates:
    """The scores of candidates that were tried, of which the best one is chosen.

    Attributes
    ----------
    names
        (candidates,) their names, in the order in which they were tried.
    scores
        (candidates, examples) score of each candidate on each example, in [0, 1]; missing (nan) where a
        candidate is not evaluated.
    clusters
        (examples,) the same number for examples that belong together.
    """

    names: tuple[str, ...]
    scores: Floats
    clusters: Ints

    @classmethod
    def from_scores(
        cls, scores: ArrayLike, names: Sequence[str] | None = None, clusters: ArrayLike | None = None
    ) -> Candidates:
        """Return candidates after checking their scores.

        Parameters
        ----------
        scores
            (candidates, examples) numbers in [0, 1]; nan where a candidate is not evaluated.
        names
            (candidates,) unique names; numbers from 0 unless given.
        clusters
            (examples,) the same value for examples that belong together. Without it, each is by itself.

        Raises
        ------
        InputError
            If there are fewer than two candidates, a candidate has no score, a score is outside [0, 1], or
            names are repeated.
        """
        matrix = floats(scores)
        if matrix.ndim != 2:
            raise InputError(f"scores have the shape {matrix.shape}; expected (candidates, examples)")
        if len(matrix) < 2:
            raise InputError(f"number of candidates: {len(matrix)}; expected at least two candidates")
        labels = tuple(map(str, range(len(matrix)) if names is None else names))
        if len(labels) != len(matrix) or len(set(labels)) < len(labels):
            raise InputError(f"{len(labels)} names for {len(matrix)} candidates; expected a name for each")
        evaluated = ~np.isnan(matrix)
        if len(empty := np.flatnonzero(~evaluated.any(axis=1))):
            raise InputError(f"candidate '{labels[empty[0]]}' has no score; expected at least one")
        outside = evaluated & ~((matrix >= 0) & (matrix <= 1))
        if outside.any():
            candidate, example = np.argwhere(outside)[0]
            raise InputError(
                f"candidate '{labels[candidate]}', example {example}: the score is "
                f"{matrix[candidate, example]:g}; expected a number from 0 to 1"
            )
        used = evaluated.any(axis=0)
        groups, _ = numbered(matrix.shape[1], clusters)
        return cls(labels, matrix[:, used], groups[used])

    @property
    def evaluated(self) -> Bools:
        """(candidates, examples) whether a candidate is evaluated on an example."""
        return ~np.isnan(self.scores)

    @property
    def complete(self) -> bool:
        """Whether all candidates are evaluated on all examples."""
        return bool(self.evaluated.all())

    @cached_property
    def examples(self) -> Ints:
        """(candidates,) the number of examples that each candidate is evaluated on."""
        return self.evaluated.sum(axis=1)

    @cached_property
    def means(self) -> Floats:
        """(candidates,) mean score of each candidate over its examples."""
        return np.nansum(self.scores, axis=1) / self.examples

    @cached_property
    def units(self) -> list[Unit]:
        """The scores that can be exchanged if candidates are equally good.

        Within a cluster of examples, candidates exchange their scores as wholes, and only with candidates
        that are evaluated on the same examples of the cluster.
        """
        order = np.argsort(self.clusters, kind="stable")
        starts = np.flatnonzero(np.diff(self.clusters[order], prepend=-1))
        evaluated, scores = self.evaluated, np.nan_to_num(self.scores)
        units = []
        for places in np.split(order, starts[1:]):
            pattern, sums = evaluated[:, places], scores[:, places].sum(axis=1)
            _, group_of = np.unique(pattern, axis=0, return_inverse=True)
            for group in np.unique(group_of):
                members = np.flatnonzero(group_of.ravel() == group)
                if pattern[members[0]].any():
                    units.append(Unit(members, sums[members]))
        return units

    @cached_property
    def null_means(self) -> Floats:
        """(candidates,) expected score of each candidate if all are equally good."""
        totals = np.zeros(len(self.names))
        for unit in self.units:
            totals[unit.members] += unit.sums.mean()
        return totals / self.examples

    @cached_property
    def null_deviations(self) -> Floats:
        """(candidates,) standard deviation of a score if all are equally good; 1 if scores cannot vary."""
        variances = np.zeros(len(self.names))
        for unit in self.units:
            variances[unit.members] += unit.sums.var()
        deviations = np.sqrt(variances) / self.examples
        return np.where(deviations > 1e-12, deviations, 1.0)

    @cached_property
    def standardized(self) -> Floats:
        """(candidates,) standard deviations by which a score is above its expectation among equals."""
        return (self.means - self.null_means) / self.null_deviations

    @cached_property
    def chosen(self) -> int:
        """The place of the best candidate: the highest score, and the first one on ties.

        If candidates are evaluated on different examples, it is the one with the highest standardized score,
        because a mean over few or easy examples is high by luck.
        """
        values = self.means if self.complete else self.standardized
        return int(np.flatnonzero(values >= values.max() - 1e-9)[0])

    def place(self, name: str) -> int:
        """Return the place of a candidate by its name; InputError if there is none of that name."""
        if name not in self.names:
            raise InputError(f"candidate '{name}' is unknown; {nearest(name, self.names)}")
        return self.names.index(name)
