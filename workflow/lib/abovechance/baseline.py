"""The random baselines: one guesser, and the best of many.

A random guesser answers example i correctly with chance p_i. Its number of
correct answers X is Poisson binomial with distribution function F. The best of
t independent guessers has distribution function F^t, so (Yauney and Mimno,
2024, Section 3)

    E[max] = sum_k k (F(k)^t - F(k-1)^t) = sum_{k >= 1} (1 - F(k-1)^t).

Everything is computed from tails, not as one minus something, so that small
probabilities keep their digits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import binom

Floats = NDArray[np.float64]


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
        values = np.asarray(chances, dtype=np.float64).ravel()
        if values.size == 0:
            raise ValueError("chances is empty: a baseline needs at least one example")
        if not np.all((values >= 0) & (values <= 1)):
            bad = values[~((values >= 0) & (values <= 1))][0]
            raise ValueError(f"chances has {bad}: every chance must be between 0 and 1")
        self._counts = tuple(sorted(Counter(values.tolist()).items()))
        self.examples = int(values.size)

    @classmethod
    def of(cls, chance: float, examples: int) -> RandomBaseline:
        """The baseline where every one of ``examples`` examples has the same ``chance``."""
        return cls(np.full(examples, chance))

    @classmethod
    def from_choices(cls, choices: Mapping[int, int]) -> RandomBaseline:
        """The baseline of ``{number of choices: number of examples}``, one choice correct in each.

        >>> RandomBaseline.from_choices({2: 50, 5: 50}).standard
        0.35
        """
        if any(number < 1 for number in choices):
            raise ValueError(f"choices has {min(choices)}: an example has at least one choice")
        return cls(np.concatenate([np.full(examples, 1 / n) for n, examples in choices.items()]))

    def __repr__(self) -> str:
        return f"RandomBaseline(examples={self.examples}, chance={self.standard:.4g})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RandomBaseline) and self._counts == other._counts

    def __hash__(self) -> int:
        return hash(self._counts)

    @cached_property
    def standard(self) -> float:
        """The standard random baseline: expected accuracy of one guesser, in [0, 1]."""
        return sum(chance * count for chance, count in self._counts) / self.examples

    @property
    def pmf(self) -> Floats:
        """(examples + 1,) probability that one guesser answers exactly k examples correctly."""
        return _distribution(self._counts)[0]

    def tail(self, correct: ArrayLike, prompts: int = 1) -> Floats | float:
        """Probability that the best of ``prompts`` guessers has at least ``correct`` correct.

        ``1 - F(correct - 1)^prompts``, in [0, 1], of the shape of ``correct``.
        """
        check_prompts(prompts)
        at = np.asarray(correct)
        if np.any(at != np.floor(at)):
            raise ValueError(f"correct is a number of examples, so whole; got {correct}")
        below = np.clip(at.astype(np.int64) - 1, -1, self.examples)
        result = -np.expm1(prompts * self.log_cdf(below))
        return float(result) if result.ndim == 0 else result

    def log_cdf(self, correct: NDArray[np.int64]) -> Floats:
        """log F(correct) of one guesser; ``-inf`` below zero, 0 from ``examples`` on."""
        table = _distribution(self._counts)[1]
        at = np.clip(correct, -1, self.examples)
        return np.where(at < 0, -np.inf, table[np.maximum(at, 0)])

    def maximum(self, prompts: int) -> float:
        """The maximum random baseline: expected accuracy of the best of ``prompts`` guessers."""
        return float(np.sum(self.tail(np.arange(1, self.examples + 1), prompts))) / self.examples


class BestOf:
    """The best accuracy of several independent guessers, one a prompt.

    Where prompts are evaluated on different examples, the distribution function
    of the best accuracy is the product of the prompts' own: F_1(a) ... F_t(a).

    Parameters
    ----------
    baselines
        (prompts,) the baseline of each prompt on the examples it is evaluated on; or how many
        prompts have each baseline.
    """

    def __init__(self, baselines: Iterable[RandomBaseline] | Mapping[RandomBaseline, int]) -> None:
        self._counts = Counter(baselines)
        if not self._counts:
            raise ValueError("baselines is empty: the best of no prompt is not defined")
        self.prompts = self._counts.total()

    @cached_property
    def _accuracies(self) -> Floats:
        """(points,) every accuracy above 0 that some prompt can have, ascending."""
        sizes = {baseline.examples for baseline in self._counts}
        return np.unique(np.concatenate([np.arange(1, n + 1) / n for n in sizes]))

    @cached_property
    def standard(self) -> float:
        """Expected accuracy of one guesser, averaged over the prompts, in [0, 1]."""
        return sum(b.standard * times for b, times in self._counts.items()) / self.prompts

    def tail(self, accuracy: ArrayLike) -> Floats | float:
        """Probability that the best guesser has at least this accuracy, of its shape."""
        log_below: Floats = np.zeros(np.shape(accuracy))
        for baseline, times in self._counts.items():
            correct = whole(np.asarray(accuracy) * baseline.examples)
            log_below = log_below + times * baseline.log_cdf(correct - 1)
        result = -np.expm1(log_below)
        return float(result) if result.ndim == 0 else result

    @cached_property
    def maximum(self) -> float:
        """The maximum random baseline: expected best accuracy, in [0, 1]."""
        steps = np.diff(self._accuracies, prepend=0.0)
        return float(np.sum(steps * self.tail(self._accuracies)))


def whole(correct: ArrayLike) -> NDArray[np.int64]:
    """The least number of correct examples that is at least ``correct``.

    Accuracies are quotients: 0.29 * 100 is 28.999999999999996 in floating point
    and 0.07 * 100 is 7.000000000000001, so the nearest whole number is taken
    where it is within rounding.
    """
    values = np.asarray(correct, dtype=np.float64)
    near = np.rint(values)
    return np.where(np.abs(values - near) < 1e-6, near, np.ceil(values)).astype(np.int64)


def check_prompts(prompts: int) -> None:
    """Raise ValueError unless ``prompts`` is at least 1."""
    if not prompts >= 1:
        raise ValueError(f"prompts is {prompts}: at least one prompt must have been tried")


@lru_cache(maxsize=4096)
def _distribution(counts: tuple[tuple[float, int], ...]) -> tuple[Floats, Floats]:
    """(examples + 1,) probabilities of k correct, and log F(k), of a Poisson binomial.

    Examples of equal chance are one binomial; the groups are convolved directly.
    All terms are positive, so no digits cancel.
    """
    pmf = np.ones(1)
    for chance, count in counts:
        pmf = np.convolve(pmf, binom.pmf(np.arange(count + 1), count, chance))
    above = np.append(np.cumsum(pmf[::-1])[::-1][1:], 0.0)  # P(X > k)
    at_most = np.cumsum(pmf)  # P(X <= k)
    with np.errstate(divide="ignore"):
        log_cdf = np.where(above < 0.5, np.log1p(-np.minimum(above, 0.5)), np.log(at_most))
    pmf.setflags(write=False)
    log_cdf.setflags(write=False)
    return pmf, log_cdf
