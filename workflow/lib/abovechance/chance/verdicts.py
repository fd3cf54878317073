"""One verdict per setting: is its best prompt below, between or above the two baselines?"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from abovechance.chance.baseline import RandomBaseline, whole
from abovechance.chance.best_of import BestOf
from abovechance.core.html import as_html
from abovechance.core.settings import SETTING, by_setting

VERDICTS = ("below", "between", "above")


def judge(accuracy: ArrayLike, standard: ArrayLike, maximum: ArrayLike) -> Any:
    """The verdict on a best accuracy, or on an array of them; one equal to a baseline is not above it.

    Accuracies and baselines are quotients, so equality is meant up to rounding.
    """
    accuracy = np.asarray(accuracy)
    above = np.where(accuracy <= np.asarray(maximum) + 1e-12, "between", "above")
    verdict = np.where(accuracy <= np.asarray(standard) + 1e-12, "below", above)
    return verdict if verdict.ndim else str(verdict)


@dataclass(frozen=True)
class Verdict:
    """A best accuracy beside its baselines; a notebook shows it as a table.

    Attributes
    ----------
    accuracy
        The best accuracy, in [0, 1].
    examples, prompts
        How many examples prompts were evaluated on, and how many prompts were tried.
    standard_baseline, maximum_baseline
        The expected accuracy of one random guesser, and of the best of as many as prompts.
    standard_tail, maximum_tail
        The probability that one guesser, or the best of as many, does at least as well.
    verdict
        ``below``, ``between`` or ``above``.
    """

    accuracy: float
    examples: int
    prompts: int
    standard_baseline: float
    maximum_baseline: float
    standard_tail: float
    maximum_tail: float
    verdict: str

    @classmethod
    def of(cls, accuracy: float, baseline: RandomBaseline, prompts: int) -> Verdict:
        """The verdict on the best of ``prompts`` prompts on the baseline's examples.

        An accuracy between two numbers of correct examples stands for the higher.

        Raises
        ------
        ValueError
            If the accuracy is outside [0, 1] or no prompt was tried.

        Examples
        --------
        >>> Verdict.of(0.62, RandomBaseline.of(chance=0.5, examples=100), prompts=200).verdict
        'between'
        """
        if not 0 <= accuracy <= 1:
            raise ValueError(f"accuracy is {accuracy}: it must be between 0 and 1")
        correct, maximum = int(whole(accuracy * baseline.examples)), baseline.maximum(prompts)
        return cls(
            accuracy=accuracy,
            examples=baseline.examples,
            prompts=prompts,
            standard_baseline=baseline.standard,
            maximum_baseline=maximum,
            standard_tail=baseline.tail(correct),
            maximum_tail=baseline.tail(correct, prompts),
            verdict=judge(correct / baseline.examples, baseline.standard, maximum),
        )

    @classmethod
    def of_prompts(cls, accuracy: pd.DataFrame, tried: int | None = None) -> Verdict:
        """The verdict on the best prompt of one setting, the first of ``ranked``.

        Parameters
        ----------
        accuracy
            The setting's rows of the table ``accuracy``. Where prompts differ in how many examples
            they are evaluated on, the verdict's ``examples`` are the best prompt's.
        tried
            How many prompts were tried, where the only row is the best one's.

        Raises
        ------
        ValueError
            If there are several rows, and a number of prompts besides.
        """
        if tried is not None and len(accuracy) > 1:
            raise ValueError(
                f"{len(accuracy)} prompts are there, so how many were tried is not asked for (--prompts)"
            )
        ordered = ranked(accuracy)
        best = ordered.iloc[0]
        several = BestOf(baselines(ordered), None if tried is None else [tried])
        (own,) = baselines(ordered.iloc[:1])
        return cls(
            accuracy=best["accuracy"],
            examples=int(best["examples"]),
            prompts=int(several.prompts),
            standard_baseline=float(several.standard),
            maximum_baseline=float(several.maximum),
            standard_tail=own.tail(best["correct"]),
            maximum_tail=float(several.tail(best["accuracy"])),
            verdict=judge(best["accuracy"], several.standard, several.maximum),
        )

    @property
    def judgement(self) -> dict[str, Any]:
        """Baselines, tails and verdict: the columns that every table of verdicts has, in their order."""
        columns = ("standard_baseline", "maximum_baseline", "standard_tail", "maximum_tail", "verdict")
        return {name: getattr(self, name) for name in columns}

    def _repr_html_(self) -> str:
        return as_html(asdict(self))


def baselines(accuracy: pd.DataFrame) -> list[RandomBaseline]:
    """(prompts,) the random baseline of each row of the table ``accuracy``."""
    return [
        _baseline(tuple(chances), tuple(counts))
        for chances, counts in zip(accuracy["chances"], accuracy["counts"], strict=True)
    ]


@lru_cache(maxsize=4096)
def _baseline(chances: tuple[float, ...], counts: tuple[int, ...]) -> RandomBaseline:
    return RandomBaseline.from_counts(dict(zip(chances, counts, strict=True)))


def ranked(accuracy: pd.DataFrame) -> pd.DataFrame:
    """The rows of the table ``accuracy`` of one setting, the best prompt first, the lowest number on ties."""
    return accuracy.sort_values(["accuracy", "prompt"], ascending=[False, True], kind="stable")


def verdicts(accuracy: pd.DataFrame, tried: int | None = None) -> pd.DataFrame:
    """One row per setting: the columns of ``verdicts.csv``, in the order of the table ``accuracy``.

    Parameters
    ----------
    accuracy, tried
        See ``Verdict.of_prompts``.
    """
    rows = []
    for setting, prompts in by_setting(accuracy):
        found = Verdict.of_prompts(prompts, tried)
        row = setting._asdict() | {"examples": found.examples, "prompts": found.prompts}
        row |= {"best_prompt": int(ranked(prompts)["prompt"].iloc[0]), "best_accuracy": found.accuracy}
        rows.append(row | found.judgement)
    return pd.DataFrame(rows)


def with_left_out(table: pd.DataFrame, left_out: pd.DataFrame) -> pd.DataFrame:
    """Verdicts with how many prompts were ``left_out``, and a row for settings of which all were.

    Such a row has no verdict, 0 ``examples`` and 0 ``prompts``, and nothing else.

    Parameters
    ----------
    table
        From ``verdicts``.
    left_out
        The table ``left_out`` of all settings, in the order that verdicts shall have.
    """
    found = left_out[[*SETTING, "left_out"]].merge(table, on=SETTING, how="left")
    whole = {"examples": "Int64", "prompts": "Int64", "best_prompt": "Int64"}
    found = found.astype(whole).fillna({"examples": 0, "prompts": 0})
    return found[[*table.columns, "left_out"]]
