"""Does the best prompt hold up on held-out data, and which baseline foresees it?

For each of many seeded splits of a setting's examples, the prompt with the best
validation accuracy among t is chosen (the first on ties). Being above a baseline
on the validation split predicts being above the standard baseline on the
held-out test split (Yauney and Mimno, 2024, Section 5.2).
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

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

    def parts(self, chosen: NDArray[np.bool_]) -> Parts:
        """What each prompt has and gets right of the examples chosen in each split.

        Parameters
        ----------
        chosen
            (splits, examples) whether an example is in the part.
        """
        right = self.correct.astype(np.float32) @ chosen.T.astype(np.float32)
        values, kinds = np.unique(self.chance, return_inverse=True)
        sizes = np.stack(
            [(self.evaluated & (kinds == kind)).astype(np.float32) @ chosen.T for kind in range(len(values))],
            axis=-1,
        )
        different, which = np.unique(sizes.reshape(-1, len(values)), axis=0, return_inverse=True)
        return Parts(
            right=right.astype(np.int64),
            size=sizes.sum(axis=-1).astype(np.int64),
            baselines=[
                RandomBaseline(np.repeat(values, counts.astype(int))) if counts.any() else None
                for counts in different
            ],
            which=which.reshape(right.shape),
        )


@dataclass(frozen=True)
class Parts:
    """One part, validation or test, of every split.

    Attributes
    ----------
    right, size
        (prompts, splits) examples that a prompt gets right, of those it is evaluated on.
    baselines
        The different baselines of prompts on their examples; None for no example.
    which
        (prompts, splits) which of the baselines is a prompt's.
    """

    right: NDArray[np.int64]
    size: NDArray[np.int64]
    baselines: list[RandomBaseline | None]
    which: NDArray[np.int64]

    @cached_property
    def accuracy(self) -> NDArray[np.float64]:
        """(prompts, splits) accuracy; 0 where a prompt has no example."""
        return np.divide(self.right, self.size, out=np.zeros(self.right.shape), where=self.size > 0)

    def best_of(self, prompts: NDArray[np.int64], split: int) -> BestOf:
        """The best of guessers in the place of these prompts."""
        counts = np.bincount(self.which[prompts, split], minlength=len(self.baselines))
        return _best_of(
            tuple((self.baselines[index], int(counts[index])) for index in np.flatnonzero(counts))
        )


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
    examples = grid.correct.shape[1]
    generators = [random.Random(f"{seed}/{setting}/{split}") for split in range(splits)]
    chosen = np.zeros((splits, examples), dtype=bool)
    for split, generator in enumerate(generators):
        chosen[split, generator.sample(range(examples), int(validation * examples))] = True
    on_validation, on_test = grid.parts(chosen), grid.parts(~chosen)
    accuracy = on_validation.accuracy
    for split, generator in enumerate(generators):
        # In a tiny task, a prompt's own demonstrations can use up a part.
        usable = (on_validation.size[:, split] > 0) & (on_test.size[:, split] > 0)
        order = np.flatnonzero(usable).tolist()
        generator.shuffle(order)
        if not order:
            continue
        for count in tried:
            among = np.sort(order[:count])
            best = int(among[np.argmax(accuracy[among, split])])
            several = on_validation.best_of(among, split)
            row = {"split": split, "prompts": count, "tried": len(among), "prompt": grid.prompts[best]}
            yield row | _outcome(on_validation, on_test, several, best, split)


def _outcome(
    on_validation: Parts, on_test: Parts, several: BestOf, best: int, split: int
) -> dict[str, object]:
    """What the chosen prompt reaches on both parts, beside the baselines."""
    right = on_validation.right[best, split]
    accuracy = on_validation.accuracy[best, split]
    own = on_validation.baselines[on_validation.which[best, split]]
    chance = on_test.baselines[on_test.which[best, split]].standard
    test_accuracy = on_test.right[best, split] / on_test.size[best, split]
    above = judge(accuracy, several.standard, several.maximum)
    return {
        "validation_examples": on_validation.size[best, split],
        "validation_accuracy": accuracy,
        "standard_baseline": several.standard,
        "maximum_baseline": several.maximum,
        "standard_tail": own.tail(right),
        "maximum_tail": several.tail(accuracy),
        "above_standard": above != "below",
        "above_maximum": above == "above",
        "test_examples": on_test.size[best, split],
        "test_accuracy": test_accuracy,
        "test_baseline": chance,
        "above_on_test": judge(test_accuracy, chance, chance) == "above",
    }


@lru_cache(maxsize=4096)
def _best_of(counts: tuple[tuple[RandomBaseline, int], ...]) -> BestOf:
    return BestOf(Counter(dict(counts)))


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
