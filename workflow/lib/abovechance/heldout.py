"""Does the best prompt hold up on held-out data, and which baseline foresees it?

For each of many seeded splits of a setting's examples, the prompt with the best
validation accuracy among t is chosen (the first on ties). Being above a baseline
on the validation split predicts being above the standard baseline on the
held-out test split (Yauney and Mimno, 2024, Section 5.2).
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn import metrics

from abovechance.baseline import BestOf, RandomBaseline
from abovechance.verdicts import SETTING, judge

PREDICTORS = ("standard", "maximum")


@dataclass(frozen=True)
class Grid:
    """The predictions of one setting as arrays.

    Attributes
    ----------
    prompts
        (prompts,) prompt numbers.
    correct
        (prompts, examples) whether a prompt gets an example right; False where not evaluated.
    evaluated
        (prompts, examples) whether a prompt is evaluated on an example.
    chance
        (examples,) chance of a lucky guess.
    """

    prompts: NDArray[np.int64]
    correct: NDArray[np.bool_]
    evaluated: NDArray[np.bool_]
    chance: NDArray[np.float64]

    @classmethod
    def from_predictions(cls, predictions: pd.DataFrame) -> Grid:
        """Arrange the predictions of one setting; examples in the order of their first row."""
        prompt, prompts = pd.factorize(predictions["prompt"], sort=True)
        example, examples = pd.factorize(predictions["example"].astype(str))
        correct = np.zeros((len(prompts), len(examples)), dtype=bool)
        evaluated = np.zeros_like(correct)
        chance = np.empty(len(examples))
        correct[prompt, example] = predictions["correct"]
        evaluated[prompt, example] = True
        chance[example] = predictions["chance"]
        return cls(prompts.to_numpy(), correct, evaluated, chance)

    def baseline(self, prompt: int, part: NDArray[np.bool_]) -> RandomBaseline:
        """The baseline of one prompt on a part of the examples."""
        return RandomBaseline(self.chance[self.evaluated[prompt] & part])


def outcomes(
    grid: Grid, setting: str, seed: int, splits: int, validation: float, tried: Iterable[int]
) -> Iterator[dict[str, object]]:
    """One row for every split and number of prompts tried: the columns of ``outcomes``.

    Parameters
    ----------
    setting
        The setting's name; with the seed it decides the splits.
    validation
        Share of the examples in the validation split, rounded down to whole examples.
    tried
        Numbers of prompts to choose from. Above the number that exist, all are tried. Below
        it, the prompts are drawn anew for each split.
    """
    prompts, examples = grid.correct.shape
    for split in range(splits):
        generator = random.Random(f"{seed}/{setting}/{split}")
        part = np.zeros(examples, dtype=bool)
        part[generator.sample(range(examples), int(validation * examples))] = True
        right = (grid.correct & part).sum(axis=1)
        size = (grid.evaluated & part).sum(axis=1)
        # In a tiny task, a prompt's own demonstrations can use up a part.
        usable = np.flatnonzero((size > 0) & (grid.evaluated & ~part).any(axis=1)).tolist()
        if not usable:
            continue
        order = generator.sample(usable, len(usable))
        accuracy = np.divide(right, size, out=np.zeros(prompts), where=size > 0)
        for count in tried:
            among = np.sort(order[:count])
            best = int(among[np.argmax(accuracy[among])])
            row = {"split": split, "prompts": count, "tried": len(among)}
            yield row | _outcome(grid, part, best, among, int(right[best]), float(accuracy[best]))


def _outcome(
    grid: Grid, part: NDArray[np.bool_], best: int, among: NDArray[np.int64], right: int, accuracy: float
) -> dict[str, object]:
    """What the chosen prompt reaches on both parts, beside the baselines."""
    several = _best_of(tuple(grid.baseline(prompt, part) for prompt in among))
    own = grid.baseline(best, part)
    on_test = grid.baseline(best, ~part)
    test_accuracy = float((grid.correct[best] & ~part).sum() / on_test.examples)
    above = judge(accuracy, several.standard, several.maximum)
    return {
        "prompt": int(grid.prompts[best]),
        "validation_examples": own.examples,
        "validation_accuracy": accuracy,
        "standard_baseline": several.standard,
        "maximum_baseline": several.maximum,
        "standard_tail": own.tail(right),
        "maximum_tail": several.tail(accuracy),
        "above_standard": above != "below",
        "above_maximum": above == "above",
        "test_examples": on_test.examples,
        "test_accuracy": test_accuracy,
        "test_baseline": on_test.standard,
        "above_on_test": judge(test_accuracy, on_test.standard, on_test.standard) == "above",
    }


@lru_cache(maxsize=1024)
def _best_of(baselines: tuple[RandomBaseline, ...]) -> BestOf:
    return BestOf(baselines)


def most_prompts(table: pd.DataFrame) -> pd.DataFrame:
    """The outcomes where the best was chosen from the most prompts."""
    return table[table["prompts"] == table["prompts"].max()]


def agreement(table: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """How well being above each baseline on validation foresees being above chance on test.

    Parameters
    ----------
    table
        Rows of the table ``outcomes``.
    by
        Columns to group by; none for the total.

    Returns
    -------
    DataFrame
        One row a group and predictor (``standard`` or ``maximum`` baseline): ``outcomes``,
        ``held_up`` (share above chance on test), ``accuracy``, ``precision``, ``recall`` in
        [0, 1]; ``auroc`` and ``aupr`` of the decision itself, as in the paper's tables; and
        ``tail_auroc``, ``tail_aupr`` of the tail probability as a score. A quotient without
        cases is missing.
    """
    groups = table.groupby(by, observed=True, sort=False) if by else [((), table)]
    rows = [
        dict(zip(by, key, strict=True)) | {"predictor": predictor} | _agreement(group, predictor)
        for key, group in groups
        for predictor in PREDICTORS
    ]
    return pd.DataFrame(rows)


def _agreement(group: pd.DataFrame, predictor: str) -> dict[str, float]:
    truth = group["above_on_test"].to_numpy(dtype=bool)
    guess = group[f"above_{predictor}"].to_numpy(dtype=bool)
    both = bool(truth.any()) and not bool(truth.all())
    score = -group[f"{predictor}_tail"].to_numpy()
    return {
        "outcomes": len(group),
        "held_up": float(truth.mean()),
        "accuracy": float(metrics.accuracy_score(truth, guess)),
        "precision": float(metrics.precision_score(truth, guess, zero_division=np.nan)),
        "recall": float(metrics.recall_score(truth, guess, zero_division=np.nan)),
        "auroc": float(metrics.roc_auc_score(truth, guess)) if both else np.nan,
        "aupr": float(metrics.average_precision_score(truth, guess)) if truth.any() else np.nan,
        "tail_auroc": float(metrics.roc_auc_score(truth, score)) if both else np.nan,
        "tail_aupr": float(metrics.average_precision_score(truth, score)) if truth.any() else np.nan,
    }


def curves(table: pd.DataFrame) -> pd.DataFrame:
    """ROC and precision-recall curves of both predictors.

    Returns
    -------
    DataFrame
        ``curve`` (``roc`` or ``pr``), ``predictor``, ``score`` (``tail`` probability, or the
        ``decision`` to be above, which is one point), ``x``, ``y`` in [0, 1]: false positive and
        true positive rate, or recall and precision. Empty where all outcomes agree.
    """
    truth = table["above_on_test"].to_numpy(dtype=bool)
    parts = []
    if truth.any() and not truth.all():
        for predictor in PREDICTORS:
            score = -table[f"{predictor}_tail"].to_numpy()
            false, true, _ = metrics.roc_curve(truth, score)
            precision, recall, _ = metrics.precision_recall_curve(truth, score)
            guess = table[f"above_{predictor}"].to_numpy(dtype=bool)
            found = metrics.precision_score(truth, guess, zero_division=np.nan)
            hits, alarms = [guess[truth].mean()], [guess[~truth].mean()]
            for curve, kind, x, y in (
                ("roc", "tail", false, true),
                ("pr", "tail", recall, precision),
                ("roc", "decision", alarms, hits),
                ("pr", "decision", hits, [found]),
            ):
                part = {"curve": curve, "predictor": predictor, "score": kind, "x": x, "y": y}
                parts.append(pd.DataFrame(part))
    columns = ["curve", "predictor", "score", "x", "y"]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns)


def all_outcomes(
    predictions: pd.DataFrame, seed: int, splits: int, validation: float, tried: Iterable[int]
) -> pd.DataFrame:
    """The table ``outcomes`` of all settings; see ``outcomes`` for the parameters."""
    tried = sorted(set(tried))
    parts = []
    for setting, group in predictions.groupby(SETTING, observed=True, sort=False):
        name = "/".join(map(str, setting))
        rows = pd.DataFrame(outcomes(Grid.from_predictions(group), name, seed, splits, validation, tried))
        parts.append(rows.assign(**dict(zip(SETTING, setting, strict=True))))
    return pd.concat(parts, ignore_index=True)
