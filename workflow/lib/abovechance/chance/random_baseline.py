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

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property
from numbers import Real
from typing import overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abovechance.chance.poisson_binomial import Distribution, distribution
from abovechance.core.arrays import Floats, Numbers, floats
from abovechance.core.html import as_html

# Beyond these, memory and floating point do not suffice.
MOST_EXAMPLES = 10_000_000
MOST_PROMPTS = 10**15
NEXT_TO_1 = 1 - 1e-15  # the highest expected accuracy of guessers who can be wrong


class RandomBaseline:
    """The number of examples that random guessers answer correctly: its distribution, and that of the best.

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
    >>> baseline = RandomBaseline.from_chance(chance=0.5, examples=100)
    >>> baseline.standard
    0.5
    >>> round(baseline.maximum(prompts=200), 3)
    0.636
    """

    def __init__(self, chances: ArrayLike) -> None:
        values, counts = np.unique(floats(chances), return_counts=True)
        self._set(dict(zip(values.tolist(), counts.tolist(), strict=True)))

    def _set(self, counts: Mapping[float, int]) -> None:
        nonzero = sorted((chance, count) for chance, count in counts.items() if count)
        if not nonzero:
            raise ValueError("chances is empty: a baseline needs at least one example")
        if bad := [chance for chance, _ in nonzero if not 0 <= chance <= 1]:
            raise ValueError(f"chances has {bad[0]}: every chance must be between 0 and 1")
        self._counts = tuple(nonzero)
        self.examples = sum(count for _, count in nonzero)

    @classmethod
    def from_chance(cls, chance: float, examples: int) -> RandomBaseline:
        """Return the baseline where every one of ``examples`` examples has the same ``chance``."""
        return cls.from_counts({chance: examples})

    @classmethod
    def from_choices(cls, choices: Mapping[int, int]) -> RandomBaseline:
        """Return the baseline of ``{number of choices: number of examples}``, one choice correct in each.

        >>> RandomBaseline.from_choices({2: 50, 5: 50}).standard
        0.35
        """
        if not hasattr(choices, "items"):
            raise ValueError(f"choices is a {type(choices).__name__}: expected {{choices: examples}}")
        for number, _ in choices.items():
            if not isinstance(number, Real) or not 1 <= number < math.inf or number != int(number):
                raise ValueError(f"choices has {number!r}: expected whole numbers, at least 1")
        return cls._from_pairs((1 / number, examples) for number, examples in choices.items())

    @classmethod
    def from_counts(cls, counts: Mapping[float, int]) -> RandomBaseline:
        """Return the baseline of ``{chance of a lucky guess: number of examples}``."""
        if not hasattr(counts, "items"):
            raise ValueError(f"counts is a {type(counts).__name__}: expected {{chance: examples}}")
        return cls._from_pairs(counts.items())

    @classmethod
    def _from_pairs(cls, pairs: Iterable[tuple[float, int]]) -> RandomBaseline:
        counts: Counter[float] = Counter()
        for chance, number in pairs:
            if isinstance(number, str) or not 0 <= number <= MOST_EXAMPLES or number != int(number):
                expected = f"a number of examples is whole, from 0 to {MOST_EXAMPLES:,}"
                raise ValueError(f"counts has {number}: {expected}")
            counts[float(chance)] += int(number)  # chances may differ in their types only
        if sum(counts.values()) > MOST_EXAMPLES:
            raise ValueError(
                f"counts has {sum(counts.values())} examples: at most {MOST_EXAMPLES:,} are counted"
            )
        baseline = cls.__new__(cls)
        baseline._set(counts)
        return baseline

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

    @cached_property
    def deviation(self) -> float:
        """The standard deviation of one guesser's number of correct examples."""
        return float(np.sqrt(sum(chance * (1 - chance) * count for chance, count in self._counts)))

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
        """Return probability that the best of ``prompts`` guessers has at least ``correct`` correct.

        ``1 - F(correct - 1)^prompts``, in [0, 1]; ``correct`` and ``prompts`` are numbers or
        arrays that broadcast.
        """
        check_prompts(prompts)
        at = floats(correct)
        if not np.all(np.isfinite(at) & (at == np.floor(at))):
            raise ValueError(f"correct is a number of examples, so whole; got {correct!r}")
        below = np.clip(at, 0, self.examples + 1).astype(np.int64) - 1
        return as_scalar(-np.expm1(floats(prompts) * self.log_cdf(below)) + 0.0)  # not -0

    @overload
    def cdf(self, correct: float, prompts: int = 1) -> float: ...

    @overload
    def cdf(self, correct: Numbers, prompts: int | Numbers = 1) -> Floats: ...

    @overload
    def cdf(self, correct: float, prompts: Numbers) -> Floats: ...

    def cdf(self, correct: ArrayLike, prompts: ArrayLike = 1) -> Floats | float:
        """Return probability that the best of ``prompts`` guessers has at most ``correct`` correct.

        ``F(correct)^prompts``, in [0, 1]; broadcasts as ``tail`` does.
        """
        check_prompts(prompts)
        return as_scalar(np.exp(floats(prompts) * self.log_cdf(correct)))

    @overload
    def pmf(self, correct: float, prompts: int = 1) -> float: ...

    @overload
    def pmf(self, correct: Numbers, prompts: int | Numbers = 1) -> Floats: ...

    @overload
    def pmf(self, correct: float, prompts: Numbers) -> Floats: ...

    def pmf(self, correct: ArrayLike, prompts: ArrayLike = 1) -> Floats | float:
        """Return probability that the best of ``prompts`` guessers has exactly ``correct`` correct.

        ``F(correct)^prompts - F(correct - 1)^prompts``, in [0, 1]; broadcasts as ``tail`` does.
        """
        check_prompts(prompts)
        at = floats(correct)
        if np.any(np.isnan(at)):
            raise ValueError(f"correct is a number of examples; got {correct!r}")
        inside = (at >= 0) & (at <= self.examples) & (at == np.floor(at))
        place = np.where(inside, at, 0).astype(np.int64)
        at_most = self.log_cdf(place)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.exp(np.log(self._law.mass(place)) - at_most)  # of F(k) at k itself
            below = np.log1p(-np.minimum(share, 1.0))
        counts = floats(prompts)
        probabilities = np.exp(counts * at_most) * -np.expm1(counts * below)
        return as_scalar(np.where(inside & (at_most > -np.inf), probabilities, 0.0))

    def quantile(self, probability: ArrayLike, prompts: ArrayLike = 1) -> NDArray[np.int64] | int:
        """Return the least number of correct examples that the best guesser does not exceed so probably.

        The least k with ``F(k)^prompts >= probability``; broadcasts as ``tail`` does.

        Raises
        ------
        ValueError
            If a probability is outside [0, 1].
        """
        check_prompts(prompts)
        probabilities = floats(probability)
        if not np.all((probabilities >= 0) & (probabilities <= 1)):
            raise ValueError(f"probability is {probability!r}: it must be between 0 and 1")
        probabilities, counts = np.broadcast_arrays(probabilities, floats(prompts))
        with np.errstate(divide="ignore"):
            log_single = np.log(probabilities) / counts
        # at most a rounding error too early; on from there, by what `cdf` says
        place = np.searchsorted(self._law.log_cdf, log_single * (1 + 1e-14) - 1e-15 / counts)
        numbers = np.asarray(self._law.first + place)
        largest = sum(count for chance, count in self._counts if chance > 0)
        while np.any(short := (numbers < largest) & (np.exp(counts * self.log_cdf(numbers)) < probabilities)):
            numbers = numbers + short
        numbers = np.where(
            probabilities == 0, 0, np.where(probabilities == 1, largest, np.minimum(numbers, largest))
        )
        return numbers if numbers.ndim else int(numbers)

    def critical(self, alpha: ArrayLike, prompts: ArrayLike = 1) -> NDArray[np.int64] | int:
        """The least number of correct examples that the best guesser reaches with at most this probability.

        The least k with ``1 - F(k - 1)^prompts <= alpha``, for alpha in (0, 1); ``examples + 1`` if even all
        correct are more probable. Broadcasts as ``tail`` does.
        """
        check_prompts(prompts)
        alpha, counts = np.broadcast_arrays(floats(alpha), floats(prompts))
        if not np.all((alpha > 0) & (alpha < 1)):
            raise ValueError(f"alpha is {alpha!r}: expected a number between 0 and 1, both excluded")
        log_single = np.log1p(-alpha) / counts
        # at most a rounding error too early; on from there, by what `tail` says
        place = np.searchsorted(self._law.log_cdf, log_single * (1 + 1e-14))
        numbers = np.asarray(self._law.first + 1 + place)
        while np.any(more := (numbers <= self.examples) & (self.tail(numbers, counts) > alpha)):
            numbers = numbers + more
        numbers = np.minimum(numbers, self.examples + 1)
        return numbers if numbers.ndim else int(numbers)

    def log_cdf(self, correct: ArrayLike) -> Floats:
        """log F(correct) of one guesser; ``-inf`` below zero, 0 from ``examples`` on."""
        return self._law.log_at_most(self._whole(correct))

    def _whole(self, correct: ArrayLike) -> NDArray[np.int64]:
        """Return numbers of correct answers, rounded down; from -1 to ``examples``."""
        numbers = floats(correct)
        if np.any(np.isnan(numbers)):
            raise ValueError(f"correct is a number of examples; got {correct!r}")
        return np.floor(np.clip(numbers, -1, self.examples)).astype(np.int64)

    def second(self, prompts: int) -> float:
        """Return the expected accuracy of the second-best of ``prompts`` guessers, in [0, 1].

        Raises
        ------
        ValueError
            If there are fewer than two.
        """
        check_prompts(prompts)
        prompts = int(prompts)
        if prompts < 2:
            raise ValueError(f"prompts is {prompts}: the second best needs at least two")
        below = np.asarray(self.log_cdf(np.arange(self.examples)))  # of fewer than k correct answers
        all_below = -np.expm1(prompts * below)
        one_above = prompts * np.exp((prompts - 1) * below) * -np.expm1(below)
        return float(np.clip(all_below - one_above, 0.0, 1.0).sum() / self.examples)

    @overload
    def maximum(self, prompts: int) -> float: ...

    @overload
    def maximum(self, prompts: Numbers) -> Floats: ...

    def maximum(self, prompts: ArrayLike) -> Floats | float:
        """Return the maximum random baseline: expected accuracy of the best of ``prompts`` guessers.

        In [0, 1], of the shape of ``prompts``.
        """
        check_prompts(prompts)
        tails = -np.expm1(floats(prompts)[..., None] * self._law.log_cdf[:-1])
        best = (self._law.first + tails.sum(axis=-1)) / self.examples
        if self.standard < 1:
            best = np.minimum(best, NEXT_TO_1)
        return as_scalar(np.where(floats(prompts) == 1, self.standard, best))

    @cached_property
    def _law(self) -> Distribution:
        return distribution(self._counts)


def as_scalar(values: Floats) -> Floats | float:
    """Return a float in place of an array without axes."""
    return float(values) if np.ndim(values) == 0 else values


def least_count(correct: ArrayLike) -> NDArray[np.int64]:
    """Return the least number of correct examples that is at least ``correct``.

    Accuracies are quotients: 0.29 * 100 is 28.999999999999996 in floating point
    and 0.07 * 100 is 7.000000000000001, so the nearest whole number is taken
    where it is within rounding.

    Raises
    ------
    ValueError
        If a number is not finite.
    """
    values = floats(correct)
    if not np.all(np.isfinite(values)):
        raise ValueError(f"expected finite numbers, got {correct!r}")
    near = np.rint(values)
    return np.where(np.abs(values - near) < 1e-6, near, np.ceil(values)).astype(np.int64)


def check_prompts(prompts: ArrayLike) -> None:
    """Raise ValueError unless ``prompts`` is at least 1 everywhere, and not beyond what can be computed."""
    values = floats(prompts)
    if not np.all(values >= 1):
        raise ValueError(f"prompts is {prompts!r}: at least one prompt must have been tried")
    if not np.all(values <= MOST_PROMPTS):
        raise ValueError(f"prompts is {prompts!r}: at most {MOST_PROMPTS:,} are counted")
    if not np.all(values == np.floor(values)):
        raise ValueError(f"prompts is {prompts!r}: a number of prompts is whole")
