"""The random baselines: one guesser, and the best of many.

A random guesser answers example i correctly with chance p_i. Its number of
correct answers X is Poisson binomial with distribution function F. The best of
t independent guessers has distribution function F^t, so (Yauney and Mimno,
2024, Section 3)

    E[max] = sum_k k (F(k)^t - F(k-1)^t) = sum_{k >= 1} (1 - F(k-1)^t).

Everything is computed from tails, not as one minus something, so that small
probabilities keep their digits: relative errors are below 1e-12 for up to
100,000 examples and a billion prompts (``docs/performance.md``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from heapq import heapify, heappop, heappush
from typing import overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abovechance.core.arrays import Floats, Numbers
from abovechance.core.html import as_html

# Beyond these, memory and floating point do not suffice.
MOST_EXAMPLES = 10_000_000
MOST_PROMPTS = 10**15


class RandomBaseline:
    """How many of a set of examples random guessers answer correctly.

    Parameters
    ----------
    chances
        (examples,) chance of a lucky guess on each example, each in [0, 1].
        The order does not matter.

    Raises
    ------
    ValueError
        If there is no example or a chance is outside [0, 1].

    Examples
    --------
    >>> baseline = RandomBaseline.of(chance=0.5, examples=100)
    >>> baseline.standard
    0.5
    >>> round(baseline.maximum(prompts=200), 3)
    0.636
    """

    def __init__(self, chances: ArrayLike) -> None:
        values, counts = np.unique(np.asarray(chances, dtype=np.float64), return_counts=True)
        if values.size == 0:
            raise ValueError("chances is empty: a baseline needs at least one example")
        if not np.all((values >= 0) & (values <= 1)):
            bad = values[~((values >= 0) & (values <= 1))][0]
            raise ValueError(f"chances has {bad}: every chance must be between 0 and 1")
        self._counts = tuple(zip(values.tolist(), counts.tolist(), strict=True))
        self.examples = int(counts.sum())

    @classmethod
    def of(cls, chance: float, examples: int) -> RandomBaseline:
        """The baseline where every one of ``examples`` examples has the same ``chance``."""
        return cls.from_counts({chance: examples})

    @classmethod
    def from_choices(cls, choices: Mapping[int, int]) -> RandomBaseline:
        """The baseline of ``{number of choices: number of examples}``, one choice correct in each.

        >>> RandomBaseline.from_choices({2: 50, 5: 50}).standard
        0.35
        """
        if any(number < 1 for number in choices):
            raise ValueError(f"choices has {min(choices)}: an example has at least one choice")
        return cls.from_counts({1 / number: examples for number, examples in choices.items()})

    @classmethod
    def from_counts(cls, counts: Mapping[float, int]) -> RandomBaseline:
        """The baseline of ``{chance of a lucky guess: number of examples}``."""
        for number in counts.values():
            if not 0 <= number <= MOST_EXAMPLES or number != int(number):
                right = f"a number of examples is whole, from 0 to {MOST_EXAMPLES:,}"
                raise ValueError(f"counts has {number}: {right}")
        if sum(counts.values()) > MOST_EXAMPLES:
            raise ValueError(
                f"counts has {sum(counts.values())} examples: at most {MOST_EXAMPLES:,} are counted"
            )
        return cls(np.repeat([*map(float, counts)], [*map(int, counts.values())]))

    def __repr__(self) -> str:
        return f"RandomBaseline(examples={self.examples}, chance={self.standard:.4g})"

    def _repr_html_(self) -> str:
        prompts = (1, 10, 100, 1000)
        chances = ", ".join(f"{count} of {chance:.3g}" for chance, count in self._counts[:5])
        rows = {"examples": self.examples, "chances": chances + (", ..." if len(self._counts) > 5 else "")}
        return as_html(rows | {f"maximum baseline, {t} prompts": self.maximum(t) for t in prompts})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RandomBaseline) and self._counts == other._counts

    def __hash__(self) -> int:
        return hash(self._counts)

    @cached_property
    def standard(self) -> float:
        """The standard random baseline: expected accuracy of one guesser, in [0, 1]."""
        lucky: float = sum(chance * count for chance, count in self._counts)
        return lucky / self.examples

    @property
    def counts(self) -> dict[float, int]:
        """{chance of a lucky guess: number of examples}, chances ascending."""
        return dict(self._counts)

    @overload
    def tail(self, correct: float, prompts: int = 1) -> float: ...

    @overload
    def tail(self, correct: Numbers, prompts: int | Numbers = 1) -> Floats: ...

    @overload
    def tail(self, correct: float, prompts: Numbers) -> Floats: ...

    def tail(self, correct: ArrayLike, prompts: ArrayLike = 1) -> Floats | float:
        """Probability that the best of ``prompts`` guessers has at least ``correct`` correct.

        ``1 - F(correct - 1)^prompts``, in [0, 1]; ``correct`` and ``prompts`` are numbers or
        arrays that broadcast.
        """
        check_prompts(prompts)
        at = np.asarray(correct)
        if np.any(at != np.floor(at)):
            raise ValueError(f"correct is a number of examples, so whole; got {correct!r}")
        below = np.clip(at.astype(np.int64) - 1, -1, self.examples)
        return _number(-np.expm1(np.asarray(prompts) * self.log_cdf(below)))

    @overload
    def cdf(self, correct: float, prompts: int = 1) -> float: ...

    @overload
    def cdf(self, correct: Numbers, prompts: int | Numbers = 1) -> Floats: ...

    @overload
    def cdf(self, correct: float, prompts: Numbers) -> Floats: ...

    def cdf(self, correct: ArrayLike, prompts: ArrayLike = 1) -> Floats | float:
        """Probability that the best of ``prompts`` guessers has at most ``correct`` correct.

        ``F(correct)^prompts``, in [0, 1]; broadcasts as ``tail`` does.
        """
        check_prompts(prompts)
        at = np.floor(correct).astype(np.int64)
        return _number(np.exp(np.asarray(prompts) * self.log_cdf(at)))

    @overload
    def pmf(self, correct: float, prompts: int = 1) -> float: ...

    @overload
    def pmf(self, correct: Numbers, prompts: int | Numbers = 1) -> Floats: ...

    @overload
    def pmf(self, correct: float, prompts: Numbers) -> Floats: ...

    def pmf(self, correct: ArrayLike, prompts: ArrayLike = 1) -> Floats | float:
        """Probability that the best of ``prompts`` guessers has exactly ``correct`` correct.

        ``F(correct)^prompts - F(correct - 1)^prompts``, in [0, 1]; broadcasts as ``tail`` does.
        """
        check_prompts(prompts)
        at = np.asarray(correct)
        inside = (at >= 0) & (at <= self.examples) & (at == np.floor(at))
        place = np.where(inside, at, 0).astype(np.int64)
        at_most = self.log_cdf(place)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.exp(np.log(_distribution(self._counts)[0][place]) - at_most)  # of F(k) at k itself
            below = np.log1p(-np.minimum(share, 1.0))
        tried = np.asarray(prompts)
        found = np.exp(tried * at_most) * -np.expm1(tried * below)
        return _number(np.where(inside & (at_most > -np.inf), found, 0.0))

    def quantile(self, probability: ArrayLike, prompts: ArrayLike = 1) -> NDArray[np.int64] | int:
        """The least number of correct examples that the best guesser does not exceed so probably.

        The least k with ``F(k)^prompts >= probability``; broadcasts as ``tail`` does.

        Raises
        ------
        ValueError
            If a probability is outside [0, 1].
        """
        check_prompts(prompts)
        wanted = np.asarray(probability, dtype=np.float64)
        if not np.all((wanted >= 0) & (wanted <= 1)):
            raise ValueError(f"probability is {probability!r}: it must be between 0 and 1")
        with np.errstate(divide="ignore"):
            log_single = np.log(wanted) / np.asarray(prompts)
        found = np.searchsorted(_distribution(self._counts)[1], log_single, side="left")
        found = np.minimum(found, self.examples)
        return found if found.ndim else int(found)

    def log_cdf(self, correct: ArrayLike) -> Floats:
        """log F(correct) of one guesser; ``-inf`` below zero, 0 from ``examples`` on."""
        table = _distribution(self._counts)[1]
        at = np.clip(correct, -1, self.examples)
        return np.where(at < 0, -np.inf, table[np.maximum(at, 0)])

    @overload
    def maximum(self, prompts: int) -> float: ...

    @overload
    def maximum(self, prompts: Numbers) -> Floats: ...

    def maximum(self, prompts: ArrayLike) -> Floats | float:
        """The maximum random baseline: expected accuracy of the best of ``prompts`` guessers.

        In [0, 1], of the shape of ``prompts``.
        """
        check_prompts(prompts)
        below = _distribution(self._counts)[1][:-1]
        tails = -np.expm1(np.asarray(prompts)[..., None] * below)
        return _number(tails.sum(axis=-1) / self.examples)


class BestOf:
    """The best accuracy of several independent guessers, one a prompt.

    Where prompts are evaluated on different examples, the distribution function
    of the best accuracy is the product of the prompts' own: F_1(a) ... F_t(a).

    Parameters
    ----------
    baselines
        The baselines of prompts on the examples they are evaluated on.
    counts
        (..., baselines) how many prompts have each baseline; one each unless given. With more
        than one axis, each row is a best of its own, and results have the shape of the rows.
    """

    def __init__(self, baselines: Sequence[RandomBaseline], counts: ArrayLike | None = None) -> None:
        if counts is None:
            counted = Counter(baselines)
            baselines, counts = list(counted), list(counted.values())
        self._baselines = list(baselines)
        self._counts = np.asarray(counts)
        self._prompts = self._counts.sum(axis=-1)
        if not self._baselines or np.any(self._prompts < 1):
            raise ValueError("baselines is empty: the best of no prompt is not defined")

    def _repr_html_(self) -> str:
        rows = {"prompts": self.prompts, "standard baseline": self.standard}
        return as_html(rows | {"maximum baseline": self.maximum})

    @property
    def prompts(self) -> NDArray[np.int64] | int:
        """(...,) how many prompts there are."""
        return self._prompts if self._prompts.ndim else int(self._prompts)

    @cached_property
    def standard(self) -> Floats | float:
        """(...,) expected accuracy of one guesser, averaged over the prompts, in [0, 1]."""
        means = np.array([baseline.standard for baseline in self._baselines])
        return _number(self._counts @ means / self._prompts)

    @cached_property
    def accuracies(self) -> Floats:
        """(points,) every accuracy that some prompt can have, ascending from 0."""
        sizes = {baseline.examples for baseline in self._baselines}
        return np.unique(np.concatenate([np.arange(n + 1) / n for n in sizes]))

    def tail(self, accuracy: ArrayLike) -> Floats | float:
        """Probability that the best guesser has at least this accuracy; arrays broadcast with (...,)."""
        return _number(-np.expm1(self._log_cdf(accuracy, below=True)))

    def cdf(self, accuracy: ArrayLike) -> Floats | float:
        """Probability that the best guesser has at most this accuracy; arrays broadcast with (...,)."""
        return _number(np.exp(self._log_cdf(accuracy, below=False)))

    def pmf(self, accuracy: ArrayLike) -> Floats | float:
        """Probability that the best guesser has exactly this accuracy; arrays broadcast with (...,)."""
        at_most, below = (self._log_cdf(accuracy, below) for below in (False, True))
        return _number(np.exp(at_most) * -np.expm1(np.minimum(below - at_most, 0.0)))

    def quantile(self, probability: float) -> Floats | float:
        """(...,) the least accuracy that the best guesser does not exceed with this probability."""
        if not 0 <= probability <= 1:
            raise ValueError(f"probability is {probability!r}: it must be between 0 and 1")
        reached = np.exp(self._counts @ _finite(self._grid(below=False))) >= probability
        return _number(self.accuracies[np.argmax(reached, axis=-1)])

    @cached_property
    def maximum(self) -> Floats | float:
        """(...,) the maximum random baseline: expected best accuracy, in [0, 1]."""
        tails = -np.expm1(self._counts @ _finite(self._grid(below=True)[:, 1:]))
        return _number(tails @ np.diff(self.accuracies))

    def _log_cdf(self, accuracy: ArrayLike, below: bool) -> Floats:
        """log of the probability that all guessers are at most at, or ``below``, an accuracy."""
        log_cdf: Floats = np.zeros(np.broadcast_shapes(np.shape(accuracy), self._prompts.shape))
        for index, baseline in enumerate(self._baselines):
            times = self._counts[..., index]
            # none of -inf is none, not nan
            own = _finite(baseline.log_cdf(_correct(accuracy, baseline, below)))
            log_cdf = log_cdf + np.where(times > 0, times * own, 0.0)
        return log_cdf

    def _grid(self, below: bool) -> Floats:
        """(baselines, points) log of each baseline's F at, or below, every accuracy."""
        return np.stack([b.log_cdf(_correct(self.accuracies, b, below)) for b in self._baselines])


def _correct(accuracy: ArrayLike, baseline: RandomBaseline, below: bool) -> NDArray[np.int64]:
    """The most examples that a guesser has correct whose accuracy is at most, or below, this one."""
    values = np.asarray(accuracy) * baseline.examples
    return whole(values) - 1 if below else -whole(-values)


def _finite(logs: Floats) -> Floats:
    """Logarithms of probabilities, so small where they are -inf that their powers are 0."""
    return np.maximum(logs, -1e6)


def _number(values: Floats) -> Floats | float:
    """A float in place of an array without axes."""
    return float(values) if np.ndim(values) == 0 else values


def whole(correct: ArrayLike) -> NDArray[np.int64]:
    """The least number of correct examples that is at least ``correct``.

    Accuracies are quotients: 0.29 * 100 is 28.999999999999996 in floating point
    and 0.07 * 100 is 7.000000000000001, so the nearest whole number is taken
    where it is within rounding.
    """
    values = np.asarray(correct, dtype=np.float64)
    near = np.rint(values)
    found: NDArray[np.int64] = np.where(np.abs(values - near) < 1e-6, near, np.ceil(values)).astype(np.int64)
    return found


def check_prompts(prompts: ArrayLike) -> None:
    """Raise ValueError unless ``prompts`` is at least 1 everywhere, and not beyond what can be computed."""
    values = np.asarray(prompts, dtype=np.float64)
    if not np.all(values >= 1):
        raise ValueError(f"prompts is {prompts!r}: at least one prompt must have been tried")
    if not np.all(values <= MOST_PROMPTS):
        raise ValueError(f"prompts is {prompts!r}: at most {MOST_PROMPTS:,} are counted")


@lru_cache(maxsize=4096)
def _distribution(counts: tuple[tuple[float, int], ...]) -> tuple[Floats, Floats]:
    """(examples + 1,) probabilities of k correct, and log F(k), of a Poisson binomial.

    Examples of equal chance are one binomial; the groups are convolved directly, short ones
    first. All terms are positive, so no digits cancel.
    """
    examples = sum(count for _, count in counts)
    parts = [(*_trimmed(_binomial(chance, count)), count) for chance, count in counts]
    heapify(queue := [(len(values), place, first, values) for place, (first, values, _) in enumerate(parts)])
    for place in range(len(parts), 2 * len(parts) - 1):
        (_, _, first, values), (_, _, other_first, others) = heappop(queue), heappop(queue)
        start, both = _trimmed(np.convolve(values, others))
        heappush(queue, (len(both), place, first + other_first + start, both))
    _, _, first, values = queue[0]
    pmf = np.zeros(examples + 1)
    pmf[first : first + len(values)] = values
    above = np.append(np.cumsum(pmf[::-1])[::-1][1:], 0.0)  # P(X > k)
    at_most = np.cumsum(pmf)  # P(X <= k)
    with np.errstate(divide="ignore"):
        log_cdf = np.where(above < 0.5, np.log1p(-np.minimum(above, 0.5)), np.log(at_most))
    pmf.setflags(write=False)
    log_cdf.setflags(write=False)
    return pmf, log_cdf


def _trimmed(pmf: Floats) -> tuple[int, Floats]:
    """Where probabilities begin that are not too small for floating point, and these."""
    there = np.flatnonzero(pmf)
    return int(there[0]), pmf[there[0] : there[-1] + 1]


@lru_cache(maxsize=4096)
def _binomial(chance: float, count: int) -> Floats:
    """(count + 1,) probabilities of k lucky guesses, by products of ratios outwards from the mode."""
    if chance in (0.0, 1.0) or count == 0:
        certain = np.zeros(count + 1)
        certain[count if chance else 0] = 1.0
        return certain
    correct = np.arange(count + 1.0)
    miss = 1.0 - chance
    mode = min(int((count + 1) * chance), count)
    up = ((count - correct[mode:-1]) * chance) / ((correct[mode:-1] + 1) * miss)
    down = (correct[mode:0:-1] * miss) / ((count - correct[mode:0:-1] + 1) * chance)
    relative: Floats = np.concatenate([np.cumprod(down)[::-1], [1.0], np.cumprod(up)])
    # What rounding took from 1 - chance is in every ratio; the difference is exact.
    relative *= np.exp((mode - correct) * (((1.0 - miss) - chance) / miss))
    relative /= relative.sum()
    return relative
