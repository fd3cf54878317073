"""A metric of several candidates, simulated under arrangements of the gold answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from abovechance.chance.arrangements import Arrangements
from abovechance.chance.exact import Discrete, concordant_pairs, convolved, of_stratum
from abovechance.chance.tries import check_draws
from abovechance.core.arrays import Bools, Floats, Ints
from abovechance.core.errors import InputError
from abovechance.metrics.answers import as_array
from abovechance.metrics.contract import Metric, Objects, Terms
from abovechance.metrics.numbers import KENDALL, PAIRWISE

MOST_ARRANGEMENTS = 20_000  # that are enumerated
MOST_EXACT = 1_000  # examples of a stratum whose exact distribution is computed
MOST_CELLS = 4_000_000  # of one table of cells
TOLERANCE = 1e-9
CANCELLED = 1e-11  # of the largest part of a sum whose parts cancel


class OfCandidates(NamedTuple):
    """The distribution of the best of the candidates, and what follows, as in ``NullDistribution``."""

    distribution: Discrete
    p: float
    p_single: float
    expected: float
    method: str
    draws: int = 0


@dataclass(frozen=True)
class Simulation:
    """A metric of several candidates under all arrangements, or under random ones."""

    metric: Metric
    rows: list[Objects]
    arrangements: Arrangements
    draws: int
    seed: int | tuple[int, int]

    @cached_property
    def golds(self) -> Objects:
        """The distinct gold answers."""
        return as_array(self.metric, self.arrangements.golds)

    @cached_property
    def terms(self) -> list[Terms]:
        """The metric of each candidate as a sum."""
        assert self.metric.terms is not None
        gold = self.golds[self.arrangements.observed]
        of_rows = [called(self.metric, self.metric.terms, row, gold) for row in self.rows]
        for terms in of_rows:
            if not isinstance(terms, Terms):
                raise InputError(f"{self.metric.name}: its terms are {terms!r:.40}; expected Terms")
        return of_rows

    def check(self, values: Floats) -> None:
        """Compare the sums with the metric's definition, on the observed gold answers."""
        sums = self._of_terms(self.arrangements.observed[None])[:, 0]
        if not np.allclose(sums, values, rtol=1e-6, atol=1e-9):
            place = int(np.argmax(abs(sums - values)))
            raise InputError(
                f"{self.metric.name}: its terms give {sums[place]:g} for candidate {place}, but its "
                f"definition {values[place]:g}; expected the same"
            )

    def of_candidates(
        self, values: Floats, best: int, further_tries: int = 0, least_tail: float | None = None
    ) -> OfCandidates:
        """Return the distribution of the best of the candidates.

        InputError if random draws are too few for the best of so many further tries (``check_draws``).
        """
        exact = self._exact() if len(self.rows) == 1 and not self.arrangements.sampled else None
        if exact is not None:
            exact = replace(exact, values=self._without_remainders(exact.values))
            tail = float(exact.weights[self._as_good(exact.values, values[best])].sum())
            (expected,) = self._without_remainders(np.array([exact.mean]))
            return OfCandidates(exact, tail, tail, float(expected), "exact")
        count = self.arrangements.count
        enumerated = count <= MOST_ARRANGEMENTS and count * len(self.arrangements.observed) <= MOST_CELLS
        enumerated &= not self.arrangements.sampled
        if not enumerated:
            check_draws(self.draws, further_tries, least_tail)
        best_values, own_values = map(self._without_remainders, self._simulated(best, enumerated))
        reached, reached_alone = (
            int(self._as_good(side, values[best]).sum()) for side in (best_values, own_values)
        )
        count, added = len(best_values), 0 if enumerated else 1
        p, p_single = ((hits + added) / (count + added) for hits in (reached, reached_alone))
        distribution = Discrete.from_values(best_values)
        (expected,) = self._without_remainders(np.array([self._expected(best, own_values)]))
        if enumerated:
            return OfCandidates(distribution, p, p_single, float(expected), "enumeration")
        return OfCandidates(distribution, p, p_single, float(expected), "permutation", self.draws)

    def _as_good(self, by_chance: Floats, observed: float) -> Bools:
        """Return whether values are at least as good as the observed one, up to rounding."""
        tolerance = TOLERANCE * np.maximum(np.abs(by_chance), abs(observed))
        tolerance += self._remainder(np.append(by_chance, observed))
        return self.metric.sign * by_chance >= self.metric.sign * observed - tolerance

    def _remainder(self, values: Floats) -> float:
        """Return how far a sum whose parts cancel may be from 0; 0 if no parts cancel.

        Such sums are rounded as their parts are, which the largest value or the offset shows.
        """
        offset = 0.0 if self.metric.terms is None else max(abs(terms.offset) for terms in self.terms)
        if not offset and not values.min() < 0 < values.max():
            return 0.0
        return CANCELLED * max(float(np.abs(values).max()), offset)

    def _without_remainders(self, values: Floats) -> Floats:
        return np.where(np.abs(values) <= self._remainder(values), 0.0, values)

    def _expected(self, best: int, own_values: Floats) -> float:
        """Return the expected value of a candidate; exact if the metric is a sum."""
        if self.metric.terms is None or self.terms[best].curve is not None:
            return float(own_values.mean())
        total, row = self.terms[best].offset, self.rows[best]
        for examples, codes, shares in self.arrangements.shares():
            size = max(1, MOST_CELLS // len(codes))
            for begin in range(0, len(examples), size):
                part = row[examples[begin : begin + size]]
                cells = self._table(self.terms[best], part, self.golds[codes])
                total += float((cells @ shares).sum())
        return total

    def _simulated(self, best: int, enumerated: bool) -> tuple[Floats, Floats]:
        """(arrangements,) the best value of all candidates in each arrangement, and that of the best one."""
        of_all, of_best = [], []
        for codes in self._codes(enumerated):
            values = self._of_terms(codes) if self.metric.terms is not None else self._of_function(codes)
            if not np.isfinite(values).all():
                raise InputError(
                    f"{self.metric.name} is not defined for some permutations of the gold answers; use "
                    "another metric, or more examples"
                )
            of_all.append(self.metric.sign * (self.metric.sign * values).max(axis=0))
            of_best.append(values[best])
        return np.concatenate(of_all), np.concatenate(of_best)

    def _codes(self, enumerated: bool) -> Iterator[Ints]:
        if enumerated:
            yield self.arrangements.all()
        else:
            yield from self.arrangements.draws(np.random.default_rng(self.seed), self.draws)

    def _of_function(self, codes: Ints) -> Floats:
        """(candidates, draws) values by the metric's function."""
        golds = self.golds
        if not self.metric.vectorized:
            return np.array(
                [[value_of(self.metric, row, golds[code]) for code in codes] for row in self.rows]
            )
        batch = max(1, MOST_CELLS // max(1, codes.shape[1]) ** 2)
        parts = [codes[begin : begin + batch] for begin in range(0, len(codes), batch)]
        return np.array(
            [np.concatenate([self._vectorized(row, part) for part in parts]) for row in self.rows]
        )

    def _vectorized(self, row: Objects, codes: Ints) -> Floats:
        """(draws,) values of several rows of gold answers at once."""
        values = np.asarray(called(self.metric, self.metric.value, row, self.golds[codes]))
        _check_shape(self.metric, values, (len(codes),))
        return values

    def _of_terms(self, codes: Ints) -> Floats:
        """(candidates, draws) values by sums of cells."""
        sums = np.zeros((len(self.rows), len(codes)))
        alone = [*self.arrangements.redrawn]
        for example in alone:  # no other example has its gold answers
            own_codes, draws = np.unique(codes[:, example], return_inverse=True)
            sums += self._cells(np.array([example]), own_codes)[:, 0, draws]
        exchanging = np.delete(np.arange(codes.shape[1]), alone)
        present = np.unique(self.arrangements.observed[exchanging])  # they exchange these
        places = np.zeros(len(self.golds), dtype=np.int64)
        places[present] = np.arange(len(present))
        block_size = max(1, MOST_CELLS // (len(self.rows) * max(1, len(present))))
        for first in range(0, len(exchanging), block_size):
            block = exchanging[first : first + block_size]
            size = len(block)
            table = self._cells(block, present).reshape(len(self.rows), -1).T
            batch = max(1, MOST_CELLS // size)
            for begin in range(0, len(codes), batch):
                part = places[codes[begin : begin + batch, block]] + np.arange(size) * len(present)
                starts = np.arange(0, part.size + 1, size)
                picked = csr_array(
                    (np.ones(part.size), part.ravel(), starts), shape=(len(part), size * len(present))
                )
                sums[:, begin : begin + batch] += (picked @ table).T
        finished = [
            np.asarray(called(self.metric, terms.finish, row))
            for terms, row in zip(self.terms, sums, strict=True)
        ]
        for values in finished:
            _check_shape(self.metric, values, (len(codes),))
        return np.stack(finished)

    def _cells(self, examples: Ints, codes: Ints) -> Floats:
        """(candidates, examples, gold answers) the cells of some examples and gold answers."""
        golds = self.golds[codes]
        return np.stack(
            [
                self._table(terms, row[examples], golds)
                for terms, row in zip(self.terms, self.rows, strict=True)
            ]
        )

    def _table(self, terms: Terms, predictions: Objects, golds: Objects) -> Floats:
        """(predictions, gold answers) the cells of a metric's sum."""
        cells = np.asarray(called(self.metric, terms.cells, predictions, golds))
        _check_shape(self.metric, cells, (len(predictions), len(golds)))
        return cells

    def _exact(self) -> Discrete | None:
        """Return the exact distribution of a single candidate, if it can be computed."""
        if self.metric.terms is None:
            return self._by_inversions()
        if self.metric.answers == "number" or any(units.shape[1] > 1 for units in self.arrangements.groups):
            return None
        parts = []
        (row,), (terms,) = self.rows, self.terms
        if terms.curve is not None:
            return None
        golds, observed = self.golds, self.arrangements.observed
        for units in self.arrangements.groups:
            if len(units) > MOST_EXACT:
                return None
            members = units.ravel()
            part = of_stratum(self._table(terms, row[members], golds[observed[members]]))
            if part is None:
                return None
            parts.append(part)
        for example, options in self.arrangements.redrawn.items():
            choices = self._table(terms, row[example : example + 1], golds[options])[0]
            parts.append(Discrete.from_values(choices))
        offset = terms.offset
        for example in self.arrangements.unmoved.tolist():
            offset += float(self._table(terms, row[example : example + 1], golds[[observed[example]]])[0, 0])
        total = convolved(parts)
        return None if total is None else replace(total, values=total.values + offset)

    def _by_inversions(self) -> Discrete | None:
        """Return the distribution of the order of two rankings without ties, if this is one."""
        codes = self.arrangements.observed
        is_whole = len(self.arrangements.groups) == 1 and self.arrangements.groups[0].shape == (len(codes), 1)
        no_ties = len({*codes.tolist()}) == len(codes) == len({*self.rows[0].tolist()})
        if self.metric not in (KENDALL, PAIRWISE) or not (is_whole and no_ties):
            return None
        if len(codes) > MOST_EXACT:
            return None
        pairs = concordant_pairs(len(codes))
        return pairs if self.metric == PAIRWISE else replace(pairs, values=2 * pairs.values - 1)


def called(metric: Metric, function: Callable[..., Any], *arguments: Objects) -> Any:
    """Return what a function of a metric returns; InputError with the metric's name if it fails."""
    try:
        return function(*arguments)
    except InputError:
        raise
    except Exception as error:  # users write metrics too
        raise InputError(f"{metric.name}: failed with {type(error).__name__}: {error}") from error


def _check_shape(metric: Metric, values: NDArray[Any], expected: tuple[int, ...]) -> None:
    """Raise InputError unless a function of a metric returns numbers of this shape."""
    if values.shape != expected or values.dtype.kind not in "biuf":
        raise InputError(
            f"{metric.name}: returned an array of the shape {values.shape} and the type {values.dtype}; "
            f"expected numbers of the shape {expected}"
        )


def value_of(metric: Metric, predictions: Objects, gold: Objects) -> float:
    """Return the metric, whose function may change its arguments; InputError unless it is a number."""
    value = called(metric, metric.value, predictions.copy(), gold.copy())
    if not isinstance(value, (int, float, np.number)):
        raise InputError(
            f"{metric.name}: returned a value of the type {type(value).__name__}; expected a number"
        )
    return float(value)
