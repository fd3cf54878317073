"""The best of several candidates that are equally good.

Candidates answer the same examples, often alike. If none is better than another, each example's scores could
belong to any of the candidates. So the scores of each example (or of each cluster of examples) are exchanged
at random among the candidates that are evaluated on it, and the best score is taken. This keeps the
difficulty of every example, the dependence between candidates and the cells that exist. The p-values are
those of a randomization test (Fisher; Westfall and Young, 1993, Section 2.5: the single-step maximum).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import comb

import numpy as np

from abovechance.best.candidates import Candidates, Unit
from abovechance.chance.arrangements import orders
from abovechance.chance.exact import Discrete
from abovechance.core.arrays import Floats, Ints
from abovechance.core.errors import InputError
from abovechance.core.html import as_html
from abovechance.core.resampling import BATCH, cluster_sums

DRAWS = 10_000
MOST_CELLS = 1_000_000_000  # that are exchanged; with more examples or candidates, there are fewer draws
FEWEST_DRAWS = 500
MOST_STATES = 20_000  # of an exact enumeration
MOST_EXACT_CELLS = 20_000_000  # states times candidates
FEW_CORRECT = 10  # right answers of a start, too few to show how its score varies
NOISES, SCALES = 200, 20  # draws of noise: at least so many for p-values, and so many for deviations
TOLERANCE = 1e-9


@dataclass(frozen=True)
class SelectionNull:
    """The distribution of the best score if no candidate is better than another.

    Attributes
    ----------
    expected
        The expected score of the candidate that would be chosen, on the examples of the observed one. If it
        stands out more than any score on these would, it counts as 0 or 1.
    low, high
        The 2.5 % and 97.5 % quantiles of its score.
    p
        Probability that the best of equally good candidates stands out at least as much as the observed one.
    adjusted
        (candidates,) the same for each candidate: p-values, adjusted for all candidates (single-step maxT).
    draws
        Number of random exchanges; 0 if all possible ones were enumerated.
    """

    expected: float
    low: float
    high: float
    p: float
    adjusted: Floats
    draws: int

    def _repr_html_(self) -> str:
        return as_html(
            {
                "expected best by luck": self.expected,
                "95 % of best scores": f"{self.low:.3f} to {self.high:.3f}",
                "p-value": self.p,
                "exchanges": self.draws or "all possible ones",
            }
        )


def selection_null(candidates: Candidates, draws: int = DRAWS, seed: int = 0) -> SelectionNull:
    """Return the distribution of the best score of equally good candidates.

    All exchanges are enumerated if there are few; otherwise, the p-values are (b + 1) / (draws + 1), with b
    the number of random exchanges that are at least as extreme (Phipson and Smyth, 2010).

    Parameters
    ----------
    draws
        The number of random exchanges. There are fewer if the candidates have very many scores.
    """
    if draws < 1:
        raise InputError(f"draws is {draws}; expected at least 1")
    draws = _draws(candidates, draws)
    exact = _all_exchanges(candidates)
    parts = [exact] if exact else _random_exchanges(candidates, draws, np.random.default_rng(seed))
    observed, chosen = candidates.compared, candidates.chosen
    center, unit = candidates.scale
    best, weights = [], []
    reached = np.zeros(len(observed))
    for totals, weight in parts:
        means = totals / candidates.examples[:, None]
        largest = ((means - center[:, None]) / unit[:, None]).max(axis=0)
        best.append(np.clip(center[chosen] + largest * unit[chosen], 0.0, 1.0))
        weights.append(weight)
        reached += _tail(largest, weight, observed)
    distribution = Discrete.from_values(np.concatenate(best), np.concatenate(weights))
    adjusted = np.minimum(reached if exact else (reached + 1) / (draws + 1), 1.0)
    return SelectionNull(
        distribution.mean,
        *distribution.interval,
        float(adjusted[chosen]),
        adjusted,
        0 if exact else draws,
    )


def above_start(candidates: Candidates, start: int = 0, draws: int = DRAWS, seed: int = 0) -> Floats:
    """Return (candidates,) adjusted p-values: is a candidate better than the start?

    See ``sign_flips``. Its p-value is too small if the start has few right answers, because these show too
    little of how its score varies. Then that of ``exchanged_with_start``, which knows this from the other
    candidates, counts if it is larger.

    Parameters
    ----------
    start
        The place of the candidate with which the others are compared; its own p-value is 1.
    draws, seed
        See ``selection_null``.
    """
    differences = np.nan_to_num(candidates.scores - candidates.scores[start])
    p = sign_flips(differences, candidates.clusters, draws, seed)
    # with one rival, they are the same
    if len(p) > 2 and _has_few_correct(candidates, start):
        p = np.maximum(p, exchanged_with_start(candidates, start, draws, seed))
    return np.where(np.arange(len(p)) == start, 1.0, p)


def start_draws(candidates: Candidates, start: int, draws: int = DRAWS) -> list[int]:
    """Return the number of random draws of each test that ``above_start`` makes, without exact tests."""
    signs = [] if enumerated(len({*candidates.clusters.tolist()})) else [draws]
    is_exchanged = len(candidates.names) > 2 and _has_few_correct(candidates, start)
    return [*signs, _draws(candidates, draws)] if is_exchanged else signs


def _has_few_correct(candidates: Candidates, start: int) -> bool:
    return bool(np.nansum(candidates.scores[start]) < FEW_CORRECT)


def exchanged_with_start(candidates: Candidates, start: int = 0, draws: int = DRAWS, seed: int = 0) -> Floats:
    """Return (candidates,) adjusted p-values of the hypothesis that all are as good as the start.

    Scores are exchanged at random as in ``selection_null``. A candidate's statistic is its sum of differences
    from the start in standard deviations; each is compared with the largest one (single-step maxT).
    Candidates that exchange no scores with the start have a p-value of 0: this test cannot judge them.

    Parameters
    ----------
    start, draws, seed
        See ``above_start``. The exchanges are random, even if there are few.
    """
    units = [unit for unit in candidates.units if start in unit.members and len(unit.members) > 1]
    sums, variances = np.zeros((2, len(candidates.names)))
    for unit in units:
        sums[unit.members] += unit.sums - unit.sums[unit.members == start]
        variances[unit.members] += 2 * unit.sums.var(ddof=1)
    deviations = np.sqrt(np.where(variances > 1e-12, variances, np.inf))
    deviations[start] = np.inf
    draws = _draws(candidates, draws)
    reached = np.zeros(len(sums))
    for totals, weight in _random_exchanges(candidates, draws, np.random.default_rng(seed), units, start):
        reached += _tail((totals / deviations[:, None]).max(axis=0), weight, sums / deviations)
    return np.where(variances > 1e-12, np.minimum((reached + 1) / (draws + 1), 1.0), 0.0)


def _draws(candidates: Candidates, draws: int) -> int:
    return max(min(draws, MOST_CELLS // candidates.scores.size), min(draws, FEWEST_DRAWS))


def enumerated(clusters: int) -> bool:
    """Return whether all signs of so many clusters are enumerated."""
    return 2**clusters <= MOST_STATES


def sign_flips(
    differences: Floats,
    clusters: Ints,
    draws: int = DRAWS,
    seed: int = 0,
    noise: Callable[[np.random.Generator], Floats] | None = None,
) -> Floats:
    """Return (candidates,) adjusted p-values of the hypothesis that differences are 0 on average.

    In each cluster of examples, all differences keep or change their signs together, at random. This keeps
    the dependence between candidates, whatever it is. A candidate's statistic is its sum of differences in
    standard deviations; each is compared with the largest one (single-step maxT). All signs are enumerated if
    there are few clusters. For scores of 0 and 1, single p-values are those of the exact sign test.
    Otherwise, differences are assumed to be symmetric about 0, unless ``noise`` makes them so.

    Parameters
    ----------
    differences
        (candidates, examples) the score of each candidate minus another one's; 0 if there is none.
    clusters
        (examples,) the same number for examples that belong together.
    draws, seed
        See ``selection_null``.
    noise
        Draws (candidates, examples) numbers, 0 on average, that are added to differences before their signs
        change. If one side of a difference is the mean of random answers, they turn it into a single answer:
        if 9 of 10 answers are right, a right one is .1 better than this mean, and a wrong one .9 worse. So
        the differences of equals are not symmetric, but those from a single answer are.
    """
    generator = np.random.default_rng(seed)

    def drawn_sums() -> Floats:
        return cluster_sums(differences if noise is None else differences + noise(generator), clusters)[0]

    sums = cluster_sums(differences, clusters)[0]
    squares = [(sums**2).sum(axis=1)]
    if noise is not None:
        squares = [(drawn_sums() ** 2).sum(axis=1) for _ in range(SCALES)]
    deviations = np.sqrt(np.mean(squares, axis=0))
    scale = np.where(deviations > 1e-12, deviations, 1.0)
    observed, count = sums.sum(axis=1) / scale, sums.shape[1]
    exact = noise is None and enumerated(count)
    reached = np.zeros(len(observed))
    number = 2**count if exact else draws
    batch = max(1, BATCH // max(count, len(observed)))
    if noise is not None:
        batch = min(batch, -(-number // NOISES))
    for begin in range(0, number, batch):
        sums = sums if noise is None else drawn_sums()
        places = np.arange(begin, min(begin + batch, number))
        if exact:
            flips = places[:, None] >> np.arange(count) & 1
        else:
            flips = generator.integers(2, size=(len(places), count))
        largest = ((1.0 - 2.0 * flips) @ (sums / scale[:, None]).T).max(axis=1)
        reached += _tail(largest, np.ones(len(largest)), observed)
    p: Floats = reached / number if exact else (reached + 1) / (number + 1)
    return np.minimum(p, 1.0)


def _tail(values: Floats, weight: Floats, observed: Floats) -> Floats:
    """(candidates,) the weight of the values that are at least each observed one."""
    order = np.argsort(values)
    above = np.append(np.cumsum(weight[order][::-1])[::-1], 0.0)
    return above[np.searchsorted(values[order], observed - TOLERANCE)]


def _random_exchanges(
    candidates: Candidates,
    draws: int,
    generator: np.random.Generator,
    units: Sequence[Unit] | None = None,
    start: int | None = None,
) -> Iterator[tuple[Floats, Floats]]:
    """Yield (candidates, draws) sums of scores after random exchanges, and (draws,) weights of 1.

    Parameters
    ----------
    units
        The units whose scores are exchanged; all unless given.
    start
        A member of all units, whose scores after the exchange are subtracted; none if None.
    """
    count, units = len(candidates.names), candidates.units if units is None else units
    by_size: dict[int, list[Unit]] = {}
    for unit in units:
        by_size.setdefault(len(unit.members), []).append(unit)
    groups = [
        (np.stack([unit.members for unit in group]), np.stack([unit.sums for unit in group]))
        for group in by_size.values()
    ]
    batch = max(1, BATCH // max(1, sum(sums.size for _, sums in groups)))
    for begin in range(0, draws, batch):
        size = min(batch, draws - begin)
        totals = np.zeros((size, count))
        for members, sums in groups:
            exchanged = generator.permuted(np.broadcast_to(sums, (size, *sums.shape)), axis=2)
            if start is not None:
                exchanged = exchanged - exchanged[:, members == start][:, :, None]
            if members.shape[1] == count:
                totals += exchanged.sum(axis=1)
            else:
                places = members + np.arange(0, size * count, count)[:, None, None]
                flat = np.bincount(places.ravel(), exchanged.ravel(), size * count)
                totals += flat.reshape(size, count)
        yield totals.T, np.ones(size)


def _all_exchanges(candidates: Candidates) -> tuple[Floats, Floats] | None:
    """(candidates, states) all possible sums of scores, and their probabilities; None if there are too many.

    If all candidates have the same cells, states that differ only in the order of candidates are one state.
    """
    states, weight = np.zeros((1, len(candidates.names))), np.ones(1)
    limit = min(MOST_STATES, MOST_EXACT_CELLS // len(candidates.names))
    for unit in candidates.units:
        if np.ptp(unit.sums) == 0:
            states[:, unit.members] += unit.sums
            continue
        arrangements = _arrangements(unit.sums, limit // len(states))
        if arrangements is None:
            return None
        sums = np.repeat(states[:, None], len(arrangements), axis=1)
        sums[:, :, unit.members] += arrangements
        following: Floats = sums.reshape(-1, states.shape[1])
        if candidates.complete:
            following.sort(axis=1)
        weight = np.repeat(weight / len(arrangements), len(arrangements))
        _, first, state_of = np.unique(np.round(following, 9), axis=0, return_index=True, return_inverse=True)
        states, weight = following[first], np.bincount(state_of.ravel(), weight).astype(np.float64)
    return states.T, weight


def _arrangements(values: Floats, limit: int) -> Floats | None:
    """(arrangements, members) all different orders of some values; None if there are more than ``limit``."""
    different, counts = np.unique(values, return_counts=True)
    total, remaining = 1, len(values)
    for count in counts[:-1]:
        total *= comb(remaining, int(count))
        remaining -= int(count)
        if total > limit:
            return None
    return np.asarray(different[orders(counts.tolist())])
