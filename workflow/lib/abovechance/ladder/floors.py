"""Is an agent better than one that does nothing? Comparison with the runs of floors, such as a null agent.

Scores of code and agents have no gold answers that could be permuted. Instead, users run a floor on the same
examples: an agent that submits nothing, or that acts at random. Each candidate is compared with the floor on
each example (``best.selection.sign_flips``), which pays for the number of candidates. If they have different
numbers of attempts, equal numbers are drawn. With several floors, a candidate must beat each of them, so the
largest p-value counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite

import numpy as np

from abovechance.best.selection import DRAWS, enumerated, sign_flips
from abovechance.chance.exact import Discrete
from abovechance.chance.tries import (
    check_draws,
    draws_for_tries,
    for_more_tries,
    tries_beyond,
    whole_draws,
)
from abovechance.core.arrays import Floats, Ints, floats
from abovechance.core.errors import InputError
from abovechance.core.estimates import ALPHA
from abovechance.core.html import as_html
from abovechance.core.p_values import equals
from abovechance.metrics.texts import best_of

Attempts = Sequence[Sequence[float]]  # (examples,) the scores of all attempts at each example
SIMULATED = 2_000


_SYMMETRIC = (
    "This assumes that the differences from the floor are symmetric: p is too small if a candidate is a "
    "little above the floor on many examples and far below it on a few."
)


@dataclass(frozen=True)
class AboveFloor:
    """The best candidate, compared with the floors.

    Attributes
    ----------
    k
        The number of attempts of which the best one counts.
    values
        {candidate: its expected best score of k attempts, the mean over examples}.
    best
        The candidate with the highest value; the first one on ties.
    floors
        {floor: the same value}.
    expected_best
        The expected best value of ``tries`` runs of the best floor that have as many attempts as the best
        candidate, if each example's attempts are drawn from the floor's. Missing (nan) if the floor has a
        single attempt at an example, which does not show how runs vary.
    p
        P-value of the hypothesis that no candidate is better than the best floor.
    tries
        The number of tries: candidates, or more if others were tried too.
    examples
        The number of examples.
    fractions
        Whether an attempt has a score between 0 and 1. Then the p-value assumes that the score of a candidate
        as good as the floor is above and below the floor's by the same amounts equally often.
    """

    k: int
    values: Mapping[str, float]
    best: str
    floors: Mapping[str, float]
    expected_best: float
    p: float
    tries: int
    examples: int
    fractions: bool = False

    @property
    def floor(self) -> str:
        """The floor with the highest value."""
        return max(self.floors, key=lambda name: self.floors[name])

    @property
    def sentences(self) -> list[str]:
        """Return the result in words."""
        counted = "a single try" if self.tries == 1 else f"{self.tries:,} tries"
        conclusion = "better than the floor" if self.p <= ALPHA else "not shown to be better than the floor"
        best_of_tries = f", and the best of {self.tries:,} runs of it is expected at {self.expected_best:.3f}"
        return [
            f"pass@{self.k}: {self.values[self.best]:.3f} ({self.best}, {self.examples} examples).",
            f"The floor '{self.floor}' is at {self.floors[self.floor]:.3f}"
            f"{best_of_tries if self.tries > 1 and isfinite(self.expected_best) else ''}.",
            f"This is {conclusion} (p {equals(self.p)}, for {counted}).",
            *[_SYMMETRIC] * self.fractions,
        ]

    def _repr_html_(self) -> str:
        rows = {f"pass@{self.k}": self.values[self.best], "floor": self.floors[self.floor]}
        return as_html(rows | {"best of all runs of the floor": self.expected_best, "p-value": self.p})


def above_floor(
    candidates: Mapping[str, Attempts],
    floors: Mapping[str, Attempts],
    k: int = 1,
    tries: int | None = None,
    clusters: Ints | None = None,
    draws: int = DRAWS,
    seed: int = 0,
) -> AboveFloor:
    """Compare candidates with floors on the same examples.

    Parameters
    ----------
    candidates, floors
        {name: for each example, the scores of all attempts, from 0 to 1}.
    k
        The number of attempts of which the best one counts; for scores of 0 and 1, this is pass@k.
    tries
        The number of tries, if more were made than there are candidates. The others are taken as independent.
    clusters
        (examples,) the same number for examples that belong together.
    draws, seed
        The number of random signs, and their random seed. There are more if many more tries were made than
        there are candidates.

    Raises
    ------
    InputError
        If there are too few attempts, fewer tries than candidates, so many tries that no p-value can be
        0.05 or less, or different numbers of examples.
    """
    further_tries = tries_beyond(len(candidates), tries)
    values = {name: _values(name, attempts, k) for name, attempts in candidates.items()}
    of_floors = {name: _values(name, attempts, k) for name, attempts in floors.items()}
    sizes = {len(row) for row in (*values.values(), *of_floors.values())}
    if len(sizes) != 1:
        raise InputError(f"candidates and floors have {sorted(sizes)} examples; expected the same examples")
    (examples,) = sizes
    means = {name: float(row.mean()) for name, row in values.items()}
    best = max(means, key=lambda name: means[name])
    groups = np.arange(examples) if clusters is None else np.asarray(clusters)
    draws = whole_draws(draws)
    more_draws = draws_for_tries(draws, further_tries)
    if not enumerated(len({*groups.tolist()})):
        check_draws(more_draws, further_tries, 1 / (draws + 1) if len(candidates) > 1 else None)

    def tail(names: list[str], draws: int) -> float:
        """Return the p-value of the best of some candidates, compared with the floor nearest to it."""
        matrix, attempts = np.stack([values[name] for name in names]), [candidates[name] for name in names]
        tails = (
            sign_flips(matrix - row, groups, draws, seed, _noise(attempts, floors[floor], k))
            for floor, row in of_floors.items()
        )
        return max(float(adjusted[names.index(best)]) for adjusted in tails)

    p = tail([*candidates], more_draws if len(candidates) == 1 else draws)
    single = tail([best], more_draws) if further_tries else p
    floor_means = {name: float(row.mean()) for name, row in of_floors.items()}
    highest = max(floor_means, key=lambda name: floor_means[name])
    return AboveFloor(
        k=k,
        values=means,
        best=best,
        floors=floor_means,
        expected_best=_expected_best(
            floors[highest], [*map(len, candidates[best])], k, len(candidates) + further_tries, seed
        ),
        p=for_more_tries(p, single, further_tries),
        tries=len(candidates) + further_tries,
        examples=examples,
        fractions=any(
            0 < score < 1
            for attempts in (*candidates.values(), *floors.values())
            for scores in attempts
            for score in scores
        ),
    )


def _values(name: str, attempts: Attempts, k: int) -> Floats:
    """(examples,) the expected best score of k attempts."""
    fewest = min(map(len, attempts))
    if fewest < k:
        raise InputError(
            f"'{name}': pass@{k} needs at least {k} attempts at each example; an example has {fewest}"
        )
    for scores in attempts:
        if not all(0 <= score <= 1 for score in scores):
            raise InputError(f"'{name}': a score is {[*scores]!r:.60}; expected numbers from 0 to 1")
    return np.array([best_of(scores, k) for scores in attempts])


def _noise(
    candidates: Sequence[Attempts], floor: Attempts, k: int
) -> Callable[[np.random.Generator], Floats] | None:
    """Return what makes differences from a floor those of equal numbers of attempts; see ``sign_flips``.

    Scores are compared at each example. A floor with ten attempts rarely has a score of 0 or 1 there, and a
    candidate with one attempt always has. So of the side with more attempts, as many are drawn as the other
    one has. None if all have equally many.
    """
    fewest = [[*map(min, map(len, attempts), map(len, floor))] for attempts in candidates]
    if all(
        [*map(len, floor)] == sizes == [*map(len, row)] for row, sizes in zip(candidates, fewest, strict=True)
    ):
        return None
    sides = [
        (_subsampling(row, sizes, k), _subsampling(floor, sizes, k))
        for row, sizes in zip(candidates, fewest, strict=True)
    ]
    return lambda generator: np.stack([first(generator) - second(generator) for first, second in sides])


def _subsampling(attempts: Attempts, sizes: Sequence[int], k: int) -> Callable[[np.random.Generator], Floats]:
    """Return a function that draws so many attempts at each example.

    It returns (examples,) by how much their expected best score is above that of all attempts.
    """
    groups: dict[tuple[int, int], list[int]] = {}
    for place, (scores, size) in enumerate(zip(attempts, sizes, strict=True)):
        groups.setdefault((len(scores), size), []).append(place)
    parts = [
        (places, np.array([[*attempts[place]] for place in places], dtype=np.float64), size)
        for (_, size), places in groups.items()
    ]
    expected = np.array([best_of(scores, k) for scores in attempts])

    def draw(generator: np.random.Generator) -> Floats:
        values = np.empty(len(attempts))
        for places, scores, size in parts:
            chosen = generator.permuted(scores, axis=1)[:, :size]
            values[places] = np.sort(chosen, axis=1) @ _weights(size, k)
        return values - expected

    return draw


def _expected_best(attempts: Attempts, sizes: Sequence[int], k: int, tries: int, seed: int) -> float:
    """Return the expected best mean of several runs, whose attempts are drawn from the observed ones.

    Parameters
    ----------
    sizes
        (examples,) the number of attempts of a run.
    """
    if min(map(len, attempts)) < 2:
        return float("nan")
    generator = np.random.default_rng(seed)
    sums = np.zeros(SIMULATED)
    drawn_variance = variance = 0.0
    for scores, size in zip(attempts, sizes, strict=True):
        values = floats(scores)
        resampled = values[generator.integers(len(values), size=(SIMULATED, size))]
        of_example = np.sort(resampled, axis=1) @ _weights(size, k)
        sums += of_example
        drawn_variance += of_example.var()
        # draws from n attempts vary by (n - 1) / n of what attempts vary
        variance += of_example.var() * len(values) / (len(values) - 1)
    runs = Discrete.from_values(sums / len(attempts), np.full(SIMULATED, 1 / SIMULATED))
    # repeated attempts make the simulated mean too low, but not how far the best is above it
    above_mean = runs.best_of(tries).mean - runs.mean
    correction = np.sqrt(variance / drawn_variance) if drawn_variance else 1.0
    return min(float(np.mean([best_of(scores, k) for scores in attempts]) + correction * above_mean), 1.0)


def _weights(attempts: int, k: int) -> Floats:
    """(attempts,) what ``best_of`` multiplies the scores with, in ascending order."""
    best = [best_of([0.0] * place + [1.0] * (attempts - place), k) for place in range(attempts)]
    weights: Floats = -np.diff(best, append=0.0)
    return weights
