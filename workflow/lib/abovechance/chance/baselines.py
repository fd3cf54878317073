"""The baselines that a best score is compared with.

Verdicts, held-out outcomes, their tables and figures go over ``BASELINES``. To add a baseline, add an entry:
its columns, its lines in figures and its place in tables follow.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from abovechance.chance.best_of import BestOf, is_above, scale
from abovechance.chance.random_baseline import RandomBaseline, as_scalar
from abovechance.core.arrays import Bools, Floats, Ints
from abovechance.core.columns import Column


@dataclass(frozen=True)
class TriedPrompts:
    """The prompts that were tried in one setting and the best of them, as random guessers see them.

    Arrays may have leading axes, such as splits; then each row is a choice among prompts of its own.

    Attributes
    ----------
    guessers
        The different random baselines of the prompts, each on the examples that a prompt is evaluated on.
    best
        (..., guessers) 1 for the baseline of the best prompt, else 0.
    prompts
        (..., guessers) the number of prompts that have each baseline.
    standardized
        Whether scores are standardized, and not accuracies (``BestOf``).
    """

    guessers: Sequence[RandomBaseline]
    best: Ints
    prompts: Ints
    standardized: bool = False

    def accuracy(self, score: Floats | float) -> Floats:
        """(...,) the accuracy on the examples of the best prompt that a score stands for, at most 1."""
        if not self.standardized:
            return np.asarray(score)
        scales = np.array([(*scale(guesser, True), guesser.examples) for guesser in self.guessers])
        centre, unit, examples = (self.best @ column for column in scales.T)
        return np.minimum((np.asarray(score) * unit + centre) / examples, 1.0)

    @classmethod
    def with_equal_chance(cls, guesser: RandomBaseline, prompts: int) -> TriedPrompts:
        """Prompts that are all evaluated on the same examples."""
        return cls([guesser], np.array([1]), np.array([prompts]))

    @classmethod
    def in_order(cls, guessers: Sequence[RandomBaseline], standardized: bool = False) -> TriedPrompts:
        """Prompts with a baseline each, the best prompt first."""
        different = list(dict.fromkeys(guessers))
        member = np.array([different.index(guesser) for guesser in guessers])
        counts = np.bincount(member, minlength=len(different))
        return cls(different, (np.arange(len(different)) == 0).astype(np.int64), counts, standardized)

    def with_more(self, prompts: int) -> TriedPrompts:
        """These and so many further prompts, with the baseline of the best one."""
        return replace(self, prompts=self.prompts + prompts * self.best)


@dataclass(frozen=True)
class Comparison:
    """A best score beside one baseline; arrays have the leading axes of ``TriedPrompts``.

    Attributes
    ----------
    expected
        (...,) the baseline: an expected accuracy on the examples of the best prompt.
    above
        (...,) whether the best score ``is_above`` it.
    tail
        (...,) the probability that its guessers do at least as well.
    log_below
        (...,) the log probability that they do worse, which tells apart tails near 1.
    """

    expected: Floats | float
    above: Bools | bool
    tail: Floats | float
    log_below: Floats | float

    @classmethod
    def from_best(cls, score: Floats | float, best: BestOf, candidates: TriedPrompts) -> Comparison:
        """Compare (...,) best scores with the best of a baseline's guessers."""
        above = is_above(score, best.maximum)
        return cls(
            as_scalar(candidates.accuracy(best.maximum)),
            above if above.ndim else bool(above),
            best.tail(score),
            best.log_below(score),
        )


@dataclass(frozen=True)
class Baseline:
    """A baseline: the best of some random guessers, with which a best score is compared.

    Attributes
    ----------
    name
        The beginning of its columns: ``<name>_baseline`` is its expected accuracy, ``<name>_tail`` the
        probability that it does at least as well as the best prompt.
    expected, tail
        The meanings of these columns.
    guessers
        The guessers that it has for the prompts that were tried.
    """

    name: str
    expected: str
    tail: str
    guessers: Callable[[TriedPrompts], BestOf]

    @property
    def column(self) -> str:
        """The column of its expected accuracy."""
        return f"{self.name}_baseline"

    @property
    def above_column(self) -> str:
        """The column that says whether a score is above it."""
        return f"above_{self.name}"

    @property
    def log_below_column(self) -> str:
        """The column of ``Comparison.log_below``."""
        return f"{self.name}_log_below"

    @property
    def tail_column(self) -> str:
        """The column of its tail probability."""
        return f"{self.name}_tail"


STANDARD = Baseline(
    "standard",
    "expected accuracy of one random guesser",
    "probability that one random guesser reaches or exceeds the accuracy of the best prompt",
    lambda tried_prompts: BestOf(tried_prompts.guessers, tried_prompts.best, tried_prompts.standardized),
)
MAXIMUM = Baseline(
    "maximum",
    "expected accuracy of the best of t random guessers (t: number of prompts tried)",
    "probability that at least one of t random guessers reaches or exceeds the accuracy of the best prompt",
    lambda tried_prompts: BestOf(tried_prompts.guessers, tried_prompts.prompts, tried_prompts.standardized),
)
PAPER = (STANDARD, MAXIMUM)  # those of Yauney and Mimno (2024), which published results have
BASELINES = PAPER


def compared(score: Floats | float, candidates: TriedPrompts) -> dict[Baseline, Comparison]:
    """Compare (...,) best scores with each baseline."""
    return {
        baseline: Comparison.from_best(score, baseline.guessers(candidates), candidates)
        for baseline in BASELINES
    }


def expected_columns(baselines: Sequence[Baseline] | None = None) -> dict[str, Column]:
    """Return the columns of expected accuracies, one for each baseline; of all ``BASELINES`` unless given."""
    listed = BASELINES if baselines is None else baselines
    return {baseline.column: Column.share(baseline.expected) for baseline in listed}


def tail_columns() -> dict[str, Column]:
    """Return the columns of tail probabilities, one for each baseline."""
    return {baseline.tail_column: Column.tail(baseline.tail) for baseline in BASELINES}


def expected_accuracies(guesser: RandomBaseline, prompts: int) -> dict[str, float]:
    """{column: expected accuracy}, of each baseline, where all prompts are evaluated on the same examples."""
    candidates = TriedPrompts.with_equal_chance(guesser, prompts)
    return {
        baseline.column: float(candidates.accuracy(baseline.guessers(candidates).maximum))
        for baseline in BASELINES
    }
