"""The scores of several candidates (prompts, programs) on the same examples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from abovechance.core.arrays import Bools, Floats, Ints, check_same_order, floats
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
    comparable
        Whether the highest score is the best. If candidates are evaluated on different examples, a score
        over few or easy examples is high by luck, so candidates are compared by standardized scores.
    chance
        (examples,) probability that a guesser is right, by which scores are standardized; None if they are
        standardized by those of equally good candidates.
    """

    names: tuple[str, ...]
    scores: Floats
    clusters: Ints
    comparable: bool
    chance: Floats | None = None

    @classmethod
    def from_scores(
        cls,
        scores: ArrayLike,
        names: Sequence[str] | None = None,
        clusters: ArrayLike | None = None,
        comparable: bool = False,
        chance: ArrayLike | None = None,
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
        comparable
            Whether the highest score is the best even if candidates are evaluated on different examples.
        chance
            See the attribute.

        Raises
        ------
        InputError
            If there are fewer than two candidates, a candidate has no score, a score is outside [0, 1], or
            names are repeated.
        """
        check_same_order(scores, clusters, chance)
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
        chances = None if chance is None else floats(chance)
        if chances is not None and (
            chances.shape != matrix.shape[1:] or not ((chances >= 0) & (chances <= 1)).all()
        ):
            raise InputError(
                f"chance has the shape {chances.shape}; expected {matrix.shape[1:]} numbers from 0 to 1"
            )
        of_used = None if chances is None else chances[used]
        groups = np.unique(groups[used], return_inverse=True)[1]
        return cls(labels, matrix[:, used], groups, comparable or bool(evaluated[:, used].all()), of_used)

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
    def scale(self) -> tuple[Floats, Floats]:
        """(candidates,) center and unit of what is compared, which is (score - center) / unit."""
        if self.comparable:
            return np.zeros(len(self.names)), np.ones(len(self.names))
        if self.chance is None:
            return self.null_means, self.null_deviations
        evaluated = self.evaluated.astype(np.float64)
        variances = evaluated @ (self.chance * (1 - self.chance))
        deviations = np.sqrt(np.where(variances > 0, variances, 1.0))
        return evaluated @ self.chance / self.examples, deviations / self.examples

    @property
    def scale_of_examples(self) -> tuple[Floats, Floats]:
        """(examples,) mean and variance by which scores on some of the examples are standardized."""
        if self.comparable:
            return np.zeros(self.scores.shape[1]), np.ones(self.scores.shape[1])
        if self.chance is None:
            return np.nanmean(self.scores, axis=0), np.nanvar(self.scores, axis=0)
        return self.chance, self.chance * (1 - self.chance)

    @cached_property
    def compared(self) -> Floats:
        """(candidates,) what is compared: scores, or standardized scores."""
        center, unit = self.scale
        return (self.means - center) / unit

    @cached_property
    def chosen(self) -> int:
        """The place of the best candidate, the first one on ties."""
        return int(np.flatnonzero(self.compared >= self.compared.max() - 1e-9)[0])

    def on(self, examples: Bools, candidates: Ints | None = None) -> Candidates:
        """Return some candidates, or all, on those of some examples that one of them is evaluated on."""
        chosen = np.arange(len(self.names)) if candidates is None else candidates
        used = np.flatnonzero(examples & self.evaluated[chosen].any(axis=0))
        scores = self.scores[np.ix_(chosen, used)]
        return replace(
            self,
            names=tuple(self.names[place] for place in chosen),
            scores=scores,
            clusters=np.unique(self.clusters[used], return_inverse=True)[1],
            comparable=self.comparable or not np.isnan(scores).any(),
            chance=None if self.chance is None else self.chance[used],
        )

    def place(self, name: str) -> int:
        """Return the place of a candidate by its name; InputError if there is none of that name."""
        if name not in self.names:
            raise InputError(f"candidate '{name}' is unknown; {nearest(name, self.names)}")
        return self.names.index(name)
