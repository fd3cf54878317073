"""One verdict per setting: is its best prompt below, between or above the two baselines?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from abovechance.chance.baselines import (
    BASELINES,
    MAXIMUM,
    STANDARD,
    Comparison,
    TriedPrompts,
    expected_columns,
    tail_columns,
)
from abovechance.chance.best_of import score_of
from abovechance.chance.conclusion import with_conclusions
from abovechance.chance.random_baseline import RandomBaseline, check_prompts
from abovechance.chance.rounding import Correct, as_fraction
from abovechance.core.arrays import Floats
from abovechance.core.columns import Column
from abovechance.core.html import as_html
from abovechance.core.settings import SETTING, by_setting
from abovechance.results.response_matrix import counts_differ

POSITIONS = ("below", "between", "above")
ADJUSTED = {
    "bh_tail": Column.tail("maximum_tail, adjusted for the number of settings (Benjamini and Hochberg)"),
    "by_tail": Column.tail("maximum_tail, adjusted for the number of settings (Benjamini and Yekutieli)"),
    "holm_tail": Column.tail("maximum_tail, adjusted for the number of settings (Holm)"),
}
JUDGED = {
    **expected_columns(),
    **tail_columns(),
    **ADJUSTED,
    "guessing_above": Column.share(
        "probability that the best of t random guessers is above the maximum baseline"
    ),
}


def position_of(above_standard: ArrayLike, above_maximum: ArrayLike) -> Any:
    """Return the position of best scores between the two baselines, from whether they are above each."""
    position = np.where(above_standard, np.where(above_maximum, "above", "between"), "below")
    return position if position.ndim else str(position)


@dataclass(frozen=True)
class Verdict:
    """A best accuracy beside its baselines; a notebook shows it as a table.

    Attributes
    ----------
    accuracy
        The best accuracy, in [0, 1].
    correct
        The number of correct examples, or the nearest to a rounded accuracy.
    examples, prompts
        Number of examples that prompts were evaluated on, and number of prompts that were tried.
    against
        {name of a baseline: how the accuracy compares with it}, in the order of ``BASELINES``.
    guessing_above
        The probability that guessing alone is ``above``: that the best of ``prompts`` guessers exceeds the
        maximum baseline, which is its mean.
    exact
        Whether some number of correct examples rounds to the accuracy. If not, all attributes are for the
        nearest number.
    possible
        The verdicts on the smallest and on the largest number of correct examples that round to the accuracy,
        if there are several such numbers. All other attributes are for the nearest number.
    """

    accuracy: float
    correct: int
    examples: int
    prompts: int
    against: Mapping[str, Comparison]
    guessing_above: float
    possible: tuple[Verdict, Verdict] | None = None
    exact: bool = True

    @classmethod
    def from_accuracy(
        cls, accuracy: float | str, baseline: RandomBaseline, prompts: int, digits: int | None = None
    ) -> Verdict:
        """Return the verdict on the best of ``prompts`` prompts on the baseline's examples.

        Published accuracies are rounded. The verdict is on the nearest number of correct examples.
        ``possible`` has the verdicts on other numbers that round to the same accuracy
        (``Correct.from_accuracy``).

        Parameters
        ----------
        accuracy, digits
            See ``Correct.from_accuracy``.
        baseline
            That of one guesser.
        prompts
            Number of prompts that were tried.

        Raises
        ------
        ValueError
            If the accuracy is outside [0, 1] or no prompt was tried.

        Examples
        --------
        >>> guesser = RandomBaseline.from_chance(chance=0.5, examples=100)
        >>> Verdict.from_accuracy(0.62, guesser, prompts=200).position
        'between'
        """
        check_prompts(prompts)
        rounded = Correct.from_accuracy(accuracy, baseline.examples, digits)
        candidates = TriedPrompts.with_equal_chance(baseline, prompts)
        nearest, least, highest = (
            cls._from_best(correct, baseline, candidates)
            for correct in (rounded.nearest, rounded.lowest, rounded.highest)
        )
        ends = (least, highest) if rounded.lowest < rounded.highest else None
        return replace(nearest, accuracy=float(as_fraction(accuracy)), possible=ends, exact=rounded.exact)

    @classmethod
    def from_prompts(cls, ordered: pd.DataFrame, prompts_tried: int | None = None) -> Verdict:
        """Return the verdict on the best prompt of one setting.

        Parameters
        ----------
        ordered
            The setting's rows of the table ``accuracy``, from ``ranked``. ``examples`` and
            ``standard_baseline`` are those of the best prompt. If prompts have uneven examples
            (``is_uneven``), ``maximum_baseline`` is also for the best prompt: the accuracy on its examples
            that corresponds to the expected maximum of the standardized scores of all prompts.
        prompts_tried
            The number of prompts tried, if the table does not have the rows of all. Those that it lacks count
            as evaluated on the examples of the best prompt.

        Raises
        ------
        ValueError
            If there are more rows than prompts tried.
        """
        guessers = random_baselines(ordered)
        if prompts_tried is not None and prompts_tried < len(guessers):
            raise ValueError(
                f"the results have {len(guessers)} prompts, but the number of prompts tried is "
                f"{prompts_tried}; expected at least {len(guessers)}"
            )
        prompts = TriedPrompts.in_order(guessers, is_uneven(ordered))
        if prompts_tried is not None:
            prompts = prompts.with_more(prompts_tried - len(guessers))
        return cls._from_best(int(ordered["correct"].iloc[0]), guessers[0], prompts)

    @classmethod
    def _from_best(cls, correct: int, own_baseline: RandomBaseline, candidates: TriedPrompts) -> Verdict:
        """Return the verdict on the best prompt, with so many correct examples."""
        score = float(score_of(correct, own_baseline, candidates.standardized))
        best = {baseline.name: baseline.guessers(candidates) for baseline in BASELINES}
        several = best[MAXIMUM.name]
        return cls(
            accuracy=correct / own_baseline.examples,
            correct=correct,
            examples=own_baseline.examples,
            prompts=int(several.prompts),
            against={
                name: Comparison.from_best(score, guessers, candidates) for name, guessers in best.items()
            },
            guessing_above=float(several.guessing_above),
        )

    @property
    def standard_baseline(self) -> float:
        """The expected accuracy of one random guesser, in [0, 1]."""
        return float(self.against[STANDARD.name].expected)

    @property
    def maximum_baseline(self) -> float:
        """The expected accuracy of the best of as many random guessers as prompts, in [0, 1]."""
        return float(self.against[MAXIMUM.name].expected)

    @property
    def standard_tail(self) -> float:
        """The probability that one guesser does at least as well."""
        return float(self.against[STANDARD.name].tail)

    @property
    def maximum_tail(self) -> float:
        """The probability that the best of as many guessers as prompts does at least as well."""
        return float(self.against[MAXIMUM.name].tail)

    @property
    def position(self) -> str:
        """The position of the accuracy: ``below``, ``between`` or ``above`` the two baselines.

        This is the paper's verdict. It is not a significance test; for a test, see ``better_than_chance``.
        """
        return str(position_of(self.against[STANDARD.name].above, self.against[MAXIMUM.name].above))

    @property
    def judgement(self) -> dict[str, Any]:
        """Baselines, tails and position: the columns that every table of verdicts has, in their order.

        If the accuracy is rounded and several positions are possible, the value names the lowest and the
        highest.
        """
        expected = {baseline.column: float(self.against[baseline.name].expected) for baseline in BASELINES}
        tails = {baseline.tail_column: float(self.against[baseline.name].tail) for baseline in BASELINES}
        return expected | tails | {"guessing_above": self.guessing_above, "position": self._account}

    @property
    def conclusion(self) -> dict[str, str]:
        """``better_than_chance`` and the ``reason``, from the tails alone (``chance.conclusion``)."""
        ends = [np.array([end.maximum_tail]) for end in self.possible or ()]
        table = pd.DataFrame([self.judgement | {"prompts": self.prompts}])
        concluded: pd.Series[str] = with_conclusions(table, ends)[["better_than_chance", "reason"]].iloc[0]
        return {str(name): value for name, value in concluded.items()}

    @property
    def better_than_chance(self) -> str:
        """``yes``, ``no`` or ``unclear``, at a level of 0.05."""
        return self.conclusion["better_than_chance"]

    @property
    def note(self) -> str:
        """Return a sentence about what rounding leaves open; an empty string if it leaves nothing open."""
        ends = self.possible or (self, self)
        least, highest = (round(end.accuracy * self.examples) for end in ends)
        tails = " to ".join(dict.fromkeys(f"{end.maximum_tail:.2g}" for end in ends))
        if not self.exact:
            none = f"no number of correct answers out of {self.examples}"
            if self.possible is None:
                return f"{none} gives this accuracy; {self.correct} is nearest"
            return f"{none} gives this accuracy; {least} and {highest} are nearest; maximum tails {tails}"
        if self.possible is None:
            return ""
        return (
            f"{least} to {highest} correct answers out of {self.examples} round to this accuracy, with "
            f"maximum tails {tails}"
        )

    @property
    def _account(self) -> str:
        if self.possible is None or self.possible[0].position == self.possible[1].position:
            return self.position
        return f"{self.possible[0].position} to {self.possible[1].position}"

    def _repr_html_(self) -> str:
        rows = {"accuracy": self.accuracy, "examples": self.examples, "prompts": self.prompts}
        return as_html(rows | self.judgement | self.conclusion | ({"note": self.note} if self.note else {}))


def random_baselines(accuracy: pd.DataFrame) -> list[RandomBaseline]:
    """(prompts,) the random baseline of each row of the table ``accuracy``."""
    return [
        _baseline(tuple(chances), tuple(counts))
        for chances, counts in zip(accuracy["chances"], accuracy["counts"], strict=True)
    ]


@lru_cache(maxsize=4096)
def _baseline(chances: tuple[float, ...], counts: tuple[int, ...]) -> RandomBaseline:
    return RandomBaseline.from_counts(dict(zip(chances, counts, strict=True)))


def is_uneven(accuracy: pd.DataFrame) -> bool:
    """Return whether the prompts of one setting have such different examples that accuracies are not
    comparable, as in ``ResponseMatrix.uneven``.
    """
    kinds = [baseline.counts for baseline in dict.fromkeys(random_baselines(accuracy))]
    chances = {chance for counts in kinds for chance in counts}
    numbers = np.array([[counts.get(chance, 0) for chance in chances] for counts in kinds])
    return counts_differ(numbers, int(accuracy["shots"].iloc[0]))


def scores_of(accuracy: pd.DataFrame) -> Floats:
    """(prompts,) the scores that prompts are compared by: accuracies, or standardized if they are uneven."""
    standardized = is_uneven(accuracy)
    pairs = zip(accuracy["correct"], random_baselines(accuracy), strict=True)
    return np.array([float(score_of(correct, baseline, standardized)) for correct, baseline in pairs])


def ranked(accuracy: pd.DataFrame) -> pd.DataFrame:
    """The rows of the table ``accuracy`` of one setting, the best prompt first, the lowest number on ties.

    Prompts are ordered by accuracy. If their examples are uneven (``is_uneven``), they are ordered by the
    standardized score: the distance from the mean of a random guesser, in its standard deviations.
    """
    ordered = accuracy.assign(_score=scores_of(accuracy)).sort_values(
        ["_score", "prompt"], ascending=[False, True], kind="stable"
    )
    return ordered.drop(columns="_score")


def verdicts(accuracy: pd.DataFrame, prompts_tried: int | None = None) -> pd.DataFrame:
    """Return the first columns of the table ``verdicts``, in the order of the table ``accuracy``.

    The conclusions are those of each setting by itself, without a randomization test. If there are several
    settings or other tests, ``with_conclusions`` gives those that follow from all.

    Parameters
    ----------
    accuracy, prompts_tried
        See ``Verdict.from_prompts``.
    """
    rows = []
    for setting, prompts in by_setting(accuracy):
        ordered = ranked(prompts)
        verdict = Verdict.from_prompts(ordered, prompts_tried)
        row = setting._asdict() | {"examples": verdict.examples, "prompts": verdict.prompts}
        row |= {"best_prompt": int(ordered["prompt"].iloc[0]), "best_accuracy": verdict.accuracy}
        rows.append(row | verdict.judgement)
    return with_conclusions(pd.DataFrame(rows))


def with_left_out(table: pd.DataFrame, left_out: pd.DataFrame) -> pd.DataFrame:
    """Return verdicts with the number of prompts ``left_out``, and a row for each setting without a prompt.

    A row without a prompt has no verdict, 0 ``examples`` and 0 ``prompts``. Its other columns are missing.

    Parameters
    ----------
    table
        From ``verdicts``.
    left_out
        The table ``left_out`` of all settings, in the order that verdicts shall have.
    """
    rows = left_out[[*SETTING, "left_out"]].merge(table, on=SETTING, how="left")
    whole = {"examples": "Int64", "prompts": "Int64", "best_prompt": "Int64"}
    rows = rows.astype(whole).fillna({"examples": 0, "prompts": 0})
    return rows[[*table.columns, "left_out"]]
