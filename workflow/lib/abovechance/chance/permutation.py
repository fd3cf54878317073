"""The distribution of any metric by chance: predictions stay as they are, gold answers change places.

The random guesser of the paper needs a chance of a lucky guess. Most metrics have none: F1, correlations,
ranks. For these, the guesser is the candidate itself, and chance comes from the gold answers: they are
permuted among similar examples (``arrangements``), in the same way for all candidates. The best of all
candidates is taken in each permutation. So the p-value is that of a permutation test (Fisher; Westfall and
Young, 1993), and it is valid however much the candidates depend on each other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from math import floor, hypot, log10, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from abovechance.chance.arrangements import Arrangements, subsets
from abovechance.chance.exact import Discrete
from abovechance.chance.simulation import TOLERANCE, OfCandidates, Simulation, value_of
from abovechance.chance.tries import (
    draws_for_tries,
    for_more_tries,
    tries_beyond,
    whole_draws,
)
from abovechance.core.arrays import Floats, check_same_order
from abovechance.core.errors import InputError
from abovechance.core.estimates import ALPHA
from abovechance.core.html import as_html
from abovechance.core.p_values import equals
from abovechance.core.reading import number
from abovechance.core.resampling import numbered
from abovechance.core.untrusted import printable
from abovechance.core.words import counted
from abovechance.metrics.answers import as_array, in_form, is_missing
from abovechance.metrics.contract import Metric, Objects
from abovechance.metrics.registry import metric as metric_of_name

DRAWS = 10_000
MOST_SUBSETS = 5_000  # sets of relevant items that a ranking is compared with


@dataclass(frozen=True)
class NullDistribution:
    """The best value of a metric, and its distribution if predictions have nothing to do with gold answers.

    Attributes
    ----------
    metric
        The name of the metric.
    values
        (candidates,) the value of each candidate.
    best
        The place of the candidate with the best value; the first one on ties.
    expected
        The expected value of this candidate by chance.
    distribution
        The distribution of the best value of all candidates by chance, for ``tries`` tries.
    p
        The probability that the best value by chance is at least as good as the observed one.
    p_single
        The same for the best candidate alone, as if it had been the only one.
    tries
        The number of tries: candidates, or more if others were tried too. Each of those is taken as
        independent, with the distribution by chance that the best candidate has.
    examples, strata
        The number of examples and of strata.
    fixed
        The share of examples whose gold answer is always the same; they have no part in the test.
    method
        ``exact``, ``enumeration`` (all permutations) or ``permutation`` (random ones).
    draws
        The number of random permutations, of the best candidate alone if there were further tries; 0 for the
        other methods.
    higher_is_better
        False for errors; the best value is then the lowest.
    p_error
        The standard error of the p-value from the random permutations; 0 for exact ones.
    """

    metric: str
    values: Floats
    best: int
    expected: float
    distribution: Discrete
    p: float
    p_single: float
    tries: int
    examples: int
    strata: int
    fixed: float
    method: str
    draws: int
    higher_is_better: bool = True
    p_error: float = 0.0

    @property
    def observed(self) -> float:
        """The best value of all candidates."""
        return float(self.values[self.best])

    @property
    def expected_best(self) -> float:
        """The expected best value of all tries by chance."""
        if self.tries == 1:
            return self.expected
        # the best of several is expected to be no worse, whatever the draws are
        further = max if self.higher_is_better else min
        return further(self.expected, self.distribution.mean)

    @property
    def interval(self) -> tuple[float, float]:
        """The 2.5 % and 97.5 % quantiles of the best value by chance."""
        return self.distribution.interval

    def sentences(self, names: Sequence[str]) -> list[str]:
        """Return the result in words.

        Parameters
        ----------
        names
            (candidates,) the names of the candidates.
        """
        several = len(self.values) > 1
        sizes = np.abs([self.observed, self.expected])
        if sizes[1] < 1e-3 * sizes[0]:  # about 0, such as the mean of correlations over random permutations
            sizes = sizes[:1]
        smallest = sizes[sizes > max(TOLERANCE * sizes.max(), 1e-12)].min(initial=np.inf)
        # three digits that are not 0
        digits = 3 if smallest >= 0.1 else min(2 - floor(log10(smallest)), 12)
        # adding 0 makes -0 a 0
        observed, expected, expected_best, low, high = (
            f"{round(value, digits) + 0.0:.{digits}f}"
            for value in (self.observed, self.expected, self.expected_best, *self.interval)
        )
        best_of = f" (candidate {printable(names[self.best])}, the best of {len(names)})" if several else ""
        by_chance = f"By chance, {'this candidate' if several else 'it'} would score {expected} on average"
        if self.tries > 1:
            by_chance += f", and the best of {self.tries} {expected_best} (95 %: {low} to {high})"
        conclusion = "better than chance" if self.p <= ALPHA else "not shown to be better than chance"
        alone = f" for the best of {self.tries}, {equals(self.p_single).removeprefix('= ')} for a single try"
        alone = alone if self.tries > 1 else ""
        how = {
            "exact": "exact",
            "enumeration": "all permutations of the gold answers",
            "permutation": f"{self.draws:,} random permutations of the gold answers",
        }[self.method]
        strata = f", within {self.strata} strata" if self.strata > 1 else ""
        lines = [
            f"{self.metric}: {observed}{best_of}.",
            f"{by_chance}.",
            f"This is {conclusion} (p {equals(self.p)}{alone}; {how}{strata}).",
        ]
        if self.tries > len(self.values):
            lines.append(
                f"The results contain {len(self.values)} of {self.tries} tries. The others are assumed to be "
                "independent, and to score by chance as this candidate does."
            )
        if self.fixed > 0:
            lines.append(
                f"The test leaves out {counted(round(self.fixed * self.examples), 'example')} "
                f"({self.fixed:.1%}), because the gold answer cannot change."
            )
        return lines

    def _repr_html_(self) -> str:
        rows = {"metric": self.metric, "observed": self.observed, "expected": self.expected}
        return as_html(rows | {"expected best": self.expected_best, "p-value": self.p, "tries": self.tries})


def null_distribution(
    metric: Metric | str | Callable[[Any, Any], float],
    predictions: Sequence[Any] | ArrayLike,
    gold: Sequence[Any] | ArrayLike,
    strata: Sequence[Hashable] | None = None,
    tries: int | None = None,
    *,
    clusters: ArrayLike | None = None,
    choices: Sequence[Sequence[Hashable]] | None = None,
    draws: int = DRAWS,
    seed: int = 0,
    names: Sequence[str] = (),
) -> NullDistribution:
    """Return the distribution of a metric by chance, for one candidate and for the best of all tries.

    Parameters
    ----------
    metric
        A metric, its name (``metrics.metric``), or a function of (examples,) predictions and gold answers.
    predictions
        (examples,) the predictions of one candidate, or (candidates, examples) those of several: labels,
        texts, numbers, sets or tuples, as the metric needs them.
    gold
        (examples,) the gold answers.
    strata
        (examples,) gold answers are permuted among examples with the same value. Unless given, examples with
        the same choices are a stratum; of rankings, those in which each candidate ranks the same
        items, of which as many are relevant; of texts, those whose gold answers are of one type (number, yes
        or no, other).
    tries
        The number of tries, if more were made than there are candidates. The others are taken as
        independent, with the distribution by chance that the best candidate has.
    clusters
        (examples,) the same value for examples that belong together; their gold answers move as wholes.
    choices
        (examples,) the possible gold answers of each example. An example that is alone in its stratum draws
        its gold answer among them.
    draws, seed
        The number of random permutations, and their random seed. There are none if all permutations can be
        enumerated or the distribution is known, and more if there are many more tries than candidates.
    names
        (candidates,) names for messages; their numbers without it.

    Raises
    ------
    InputError
        If the numbers of predictions and gold answers differ, the metric is not defined for them, no gold
        answer can change its place, or Series have a label at different positions.

    Examples
    --------
    >>> result = null_distribution("accuracy", ["a", "a", "b", "b"], ["a", "a", "b", "b"])
    >>> result.expected, round(result.p, 4)
    (0.5, 0.1667)
    """
    chosen = _as_metric(metric)
    check_same_order(predictions, gold, strata, clusters, choices)
    rows, answers, listed = in_form(chosen, predictions, gold, choices)
    further_tries = tries_beyond(len(rows), tries)
    draws = whole_draws(draws)
    labels = _strata(chosen, rows, answers, listed) if strata is None else [*strata]
    arrangements = _arrangements(chosen, rows, answers, labels, clusters, listed)
    values = _observed(chosen, rows, answers, names)
    more_draws = draws_for_tries(draws, further_tries)
    simulation = Simulation(chosen, rows, arrangements, more_draws if len(rows) == 1 else draws, seed)
    if chosen.terms is not None:
        simulation.check(values)
    signed = chosen.sign * values
    best = int(np.argmax(signed >= signed.max() - TOLERANCE))  # the first on ties, also if rounding differs
    null = alone = simulation.of_candidates(values, best, further_tries if len(rows) == 1 else 0)
    if further_tries and len(rows) > 1:
        # with a seed of its own; NumPy takes (seed, 0) as the seed itself
        of_best = Simulation(chosen, [rows[best]], arrangements, more_draws, (seed, best + 1))
        least_tail = 1 / (null.draws + 1) if null.draws else 0.0
        alone = of_best.of_candidates(values[[best]], 0, further_tries, least_tail)
    distribution = null.distribution
    if further_tries:
        distribution = distribution.best_with(
            alone.distribution.best_of(further_tries, chosen.sign), chosen.sign
        )
    return NullDistribution(
        metric=chosen.name,
        values=values,
        best=best,
        expected=null.expected,
        distribution=distribution,
        p=for_more_tries(null.p, alone.p, further_tries),
        p_single=alone.p if further_tries else null.p_single,
        tries=len(rows) + further_tries,
        examples=len(arrangements.observed),
        strata=len({*labels}),
        fixed=float(arrangements.fixed.mean()),
        method=null.method,
        draws=max(null.draws, alone.draws),
        higher_is_better=chosen.higher_is_better,
        p_error=_error_of_p(null, alone, further_tries),
    )


def _error_of_p(null: OfCandidates, alone: OfCandidates, further_tries: int) -> float:
    """Return the standard error of the p-value of all tries, by the derivatives of ``for_more_tries``."""
    by_all, by_single = (1 - alone.p) ** further_tries, 0.0
    if further_tries:
        by_single = further_tries * (1 - null.p) * (1 - alone.p) ** (further_tries - 1)
    errors = [sqrt(part.p * (1 - part.p) / part.draws) if part.draws else 0.0 for part in (null, alone)]
    if alone is null:
        return (by_all + by_single) * errors[0]
    return hypot(by_all * errors[0], by_single * errors[1])


def _arrangements(
    metric: Metric,
    rows: list[Objects],
    answers: list[Any],
    labels: list[Hashable],
    clusters: ArrayLike | None,
    choices: list[list[Any]] | None,
) -> Arrangements:
    """Return how gold answers change places; InputError if none can."""
    if len(labels) != len(answers):
        raise InputError(f"{len(labels)} strata for {len(answers)} examples; expected one for each")
    if missing := [place for place, label in enumerate(labels) if is_missing(label)]:
        raise InputError(f"the stratum of example {missing[0]} is missing; expected one for each example")
    sizes = Counter(labels)
    alone = [place for place, label in enumerate(labels) if sizes[label] == 1]
    redrawn = {} if metric.frequencies else _choices(metric, rows, answers, choices, alone)
    groups, _ = numbered(len(answers), clusters)
    sampled = any(len(options) >= MOST_SUBSETS for options in redrawn.values())
    arrangements = Arrangements.within(answers, labels, groups, redrawn, sampled)
    if arrangements.fixed.all():
        raise InputError(
            f"no gold answer of the {len(answers)} examples can change its place: all examples of a stratum "
            "have the same gold answer, or are alone in it; name larger strata, or use more examples"
        )
    return arrangements


def _observed(metric: Metric, rows: list[Objects], answers: list[Any], names: Sequence[str]) -> Floats:
    """(candidates,) the metric of each candidate; InputError if it is not defined for one."""
    gold = as_array(metric, answers)
    values = np.array([value_of(metric, row, gold) for row in rows], dtype=np.float64)
    if not np.isfinite(values).all():
        place = int(np.argmin(np.isfinite(values)))
        reason = "are all its predictions the same, or all gold answers?"
        if np.isinf(values[place]):
            reason = "are its numbers too large?"
        name = f"'{printable(str(names[place]))}'" if len(names) == len(rows) else place
        raise InputError(
            f"{metric.name} is not defined for candidate {name}: its value is {values[place]}; {reason}"
        )
    return values


def _as_metric(metric: Metric | str | Callable[[Any, Any], float]) -> Metric:
    if isinstance(metric, str):
        return metric_of_name(metric)
    if isinstance(metric, Metric):
        return metric
    name = getattr(metric, "__name__", "metric")
    return Metric(name, f"the function {name}", metric)


def _choices(
    metric: Metric, rows: list[Objects], answers: list[Any], choices: list[list[Any]] | None, alone: list[int]
) -> dict[int, list[Any]]:
    """{example: all gold answers that it could have}, as far as they are known, of some examples."""
    if metric.answers == "ranking":
        return {
            place: subsets(sorted(items, key=str), len(answers[place]), MOST_SUBSETS, place)
            for place in alone
            if answers[place] <= (items := {*rows[0][place]}) and all({*row[place]} == items for row in rows)
        }
    return {} if choices is None else {place: [*dict.fromkeys(choices[place])] for place in alone}


def _strata(
    metric: Metric, rows: list[Objects], answers: list[Any], choices: list[list[Any]] | None
) -> list[Hashable]:
    """(examples,) the strata that the data imply."""
    if choices is not None:
        return [frozenset(listed) for listed in choices]
    if metric.answers == "ranking":
        items_of_all = zip(*([*map(frozenset, row)] for row in rows), strict=True)
        return [(*items, len(gold)) for items, gold in zip(items_of_all, answers, strict=True)]
    if metric.answers in ("text", "attempts"):
        return [_type(answer[0] if isinstance(answer, tuple) else answer) for answer in answers]
    return [0] * len(answers)


def _type(text: str) -> tuple[bool, bool]:
    """Return whether a gold answer is yes or no, and whether it is a number."""
    # a comma is that of decimals or of thousands: either way, it is a number
    is_number = number(text.replace(",", "")) is not None
    return text.strip().lower() in ("yes", "no", "true", "false"), is_number
