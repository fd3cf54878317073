"""A randomization test of the best prompt that keeps the dependence between prompts.

The maximum random baseline takes the guessers as independent. Prompts are not: they
share a model, and often its favourite answer; labels are not balanced, and examples come in
groups. Here the prompts' predictions stay as they are, and the gold answers are drawn anew, the
same draw for all prompts, as ``gold`` says: what labels are shared is permuted, the rest redrawn,
clusters of examples as wholes.

In each draw the maximum over prompts is taken. Of B draws, b of which reach the
observed maximum, the p-value is (b + 1) / (B + 1) (Phipson and Smyth, 2010), which is
valid whatever the dependence. The prompts' adjusted p-values are the step-down maxT ones of
Westfall and Young (1993, Section 2.8), in which the family-wise error rate holds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from abovechance.chance.gold import Gold
from abovechance.chance.multiplicity import adjusted
from abovechance.chance.random_baseline import RandomBaseline
from abovechance.core.arrays import Bools, Floats, Ints, check_same_order, example_labels, floats
from abovechance.core.columns import Column
from abovechance.core.errors import InputError
from abovechance.core.estimates import ALPHA
from abovechance.core.html import as_html
from abovechance.core.resampling import numbered
from abovechance.core.settings import SETTING, setting_of
from abovechance.core.tables import TableSchema, setting_columns
from abovechance.results.predictions import UNKNOWN
from abovechance.results.response_matrix import ResponseMatrix

RANDOMIZATION = TableSchema(
    "randomization",
    {
        **setting_columns(),
        "prompt": Column.whole("number of the prompt, from 0"),
        "statistic": Column.text("'accuracy' or 'macro_f1'"),
        "value": Column.share("value of the statistic for this prompt"),
        "adjusted_tail": Column.tail(
            "p-value of the prompt, adjusted for all prompts (Westfall and Young, step-down)"
        ),
        "best_tail": Column.tail("p-value of the setting's best prompt"),
        "permuted": Column.share("share of examples with at least one choice that other examples also have"),
        "fixed": Column.share(
            "share of examples whose gold answer is the same in all draws; if it is 1, the tails are missing"
        ),
        "power": Column.share(
            "power of the test at significance level 0.05 for a simulated prompt, which the column "
            "randomization_power of the table verdicts describes; missing for 'macro_f1'"
        ),
        "clusters": Column.whole("number of clusters of examples"),
    },
    "One row per prompt and statistic of the randomization test.",
    file="randomization/<model>.parquet",
)


STATISTICS = ("accuracy", "macro_f1")
LEAST_POWER = 0.5  # with less, a p-value above the significance level says nothing
SIMULATED_PROMPTS = 200


def _whole(name: str, value: Any) -> Any:
    """Return labels as an array; InputError if one is missing or is no number."""
    numbers = floats(value)
    if np.isnan(numbers).any():
        raise InputError(f"{name} has a missing value; expected one for each")
    array = np.asarray(value)
    if array.dtype.kind in "biu":  # as floats, large ones would be rounded
        return array
    if name == "texts" and all(isinstance(number, Integral) for number in array.flat):
        return np.unique(array, return_inverse=True)[1].reshape(
            array.shape
        )  # of more than 64 bits, or objects
    is_whole = np.isfinite(numbers) & (numbers == np.floor(numbers))
    return numbers.astype(np.int64) if is_whole.all() else numbers


def _truth_values(name: str, value: Any) -> Bools:
    """Return an array of truth values; InputError if one is missing, or neither 0 nor 1."""
    numbers = _whole(name, value)
    if (other_values := numbers[~np.isin(numbers, (0, 1))]).size:
        raise InputError(f"{name} has the value {other_values[0]}; expected 0 or 1")
    return np.asarray(numbers, dtype=bool)


@dataclass(frozen=True)
class Answers:
    """The predictions of prompts, and the gold answers.

    Attributes
    ----------
    predicted
        (prompts, examples) label of the predicted choice; ``UNKNOWN`` where none is.
    evaluated
        (prompts, examples) whether a prompt is evaluated on an example.
    correct
        (examples, labels) whether a label is correct.
    available
        (examples, labels) whether a label is one of the example's choices.
    shared
        Whether all examples have the same choices. A label is then a choice's text, wherever it
        stands; else it is the choice's number.
    texts
        (examples, labels) the same number for choices of the same text. Unless given, choices are
        the same where ``shared``, and each example's own where not.
    cluster
        (examples,) the same number for examples that belong together; each by itself unless given.
    """

    predicted: Ints
    evaluated: Bools
    correct: Bools
    available: Bools
    shared: bool
    texts: Ints | None = None
    cluster: Ints | None = None

    def __post_init__(self) -> None:
        """Check shapes and labels.

        Raises
        ------
        InputError
            If an array has another shape than the others, a label is outside its range, or tables have an
            example, a label or a prompt at different positions.
        """
        of_labels = self.correct, self.available, self.texts
        check_same_order(self.predicted, self.evaluated)
        check_same_order(*of_labels)
        of_examples = (example_labels(getattr(table, "T", table)) for table in of_labels)
        check_same_order(example_labels(self.predicted), *of_examples, self.cluster)
        for name in ("evaluated", "correct", "available"):
            object.__setattr__(self, name, _truth_values(name, getattr(self, name)))
        for name in ("predicted", "texts"):
            if (value := getattr(self, name)) is not None:
                object.__setattr__(self, name, _whole(name, value))
        if self.cluster is not None:
            object.__setattr__(self, "cluster", np.asarray(self.cluster))
        if np.ndim(self.correct) != 2 or np.ndim(self.predicted) != 2:
            raise InputError("expected (examples, labels) for correct, and (prompts, examples) for predicted")
        (examples, labels), prompts = np.shape(self.correct), len(self.predicted)
        shapes = {"predicted": (prompts, examples), "evaluated": (prompts, examples)}
        shapes |= {"available": (examples, labels), "texts": (examples, labels)}
        for name, shape in shapes.items():
            value = getattr(self, name)
            if value is not None and np.shape(value) != shape:
                raise InputError(f"{name} has the shape {np.shape(value)}; expected {shape}, as the others")
        predicted = self.predicted
        inside = (predicted >= 0) & (predicted < labels) & (predicted == np.floor(predicted))
        outside = (predicted != UNKNOWN) & ~inside
        if outside.any():
            raise InputError(
                f"predicted has the label {predicted[outside][0]}; expected 0 to {labels - 1}, or {UNKNOWN} "
                "if it is unknown"
            )
        if (missing := (self.correct & ~self.available).any(axis=1)).any():
            raise InputError(
                f"example {int(missing.argmax())}: a correct label is not available; expected a choice"
            )

    @classmethod
    def from_predictions(cls, predictions: pd.DataFrame, task: pd.DataFrame) -> Answers:
        """From the tables ``predictions`` of one setting and ``tasks`` of its task."""
        # the test needs neither what was right nor chance
        lacking = {name: 0.0 for name in ("correct", "chance") if name not in predictions}
        matrix = ResponseMatrix.from_predictions(predictions.assign(**lacking))
        rows = task.set_index(task["example"].astype(str)).reindex(list(map(str, matrix.examples)))
        if (lacking_examples := rows["choices"].isna()).any():
            raise InputError(f"the task lacks example '{rows.index[lacking_examples][0]}' of the predictions")
        choices = [[*texts] for texts in rows["choices"]]
        shared = len({frozenset(texts) for texts in choices}) == 1 and all(
            len({*texts}) == len(texts) for texts in choices
        )
        numbers = {text: number for number, text in enumerate(sorted(set().union(*choices)))}
        width = max(map(len, choices))
        correct, available = np.zeros((2, len(rows), width), dtype=bool)
        repeated = np.zeros((len(rows), width), dtype=np.int64)
        label_of = np.full((len(rows), width + 1), UNKNOWN)  # the last place is that of UNKNOWN
        for place, (texts, correct_row) in enumerate(zip(choices, rows["correct"], strict=True)):
            of_texts = [numbers[text] for text in texts]
            labels = of_texts if shared else [*range(len(texts))]
            available[place, labels] = True
            correct[place, labels] = [*correct_row]
            repeated[place, labels] = of_texts
            label_of[place, : len(labels)] = labels
        predicted = label_of[np.arange(len(rows)), matrix.predicted]
        cluster = numbered(len(rows), rows["cluster"])[0] if "cluster" in rows else None
        return cls(predicted, matrix.evaluated, correct, available, shared, repeated, cluster)

    @property
    def is_correct(self) -> Bools:
        """(prompts, examples) whether a prompt is right."""
        known_answers = self.evaluated & (self.predicted != UNKNOWN)
        return (
            known_answers
            & np.take_along_axis(self.correct, np.where(known_answers, self.predicted, 0).T, axis=1).T
        )

    @property
    def chance(self) -> Floats:
        """(examples,) chance of a lucky guess."""
        return self.correct.sum(axis=1) / self.available.sum(axis=1)

    @property
    def guesser(self) -> tuple[Floats, Floats]:
        """(prompts,) mean and standard deviation of a guesser's accuracy on each prompt's examples.

        The deviation is 1 where a guesser cannot but be at the mean.
        """
        chance = self.chance
        size = np.maximum(self.evaluated.sum(axis=1), 1)
        deviation = np.sqrt(self.evaluated @ (chance * (1 - chance))) / size
        return self.evaluated @ chance / size, np.where(deviation > 0, deviation, 1.0)

    @property
    def single(self) -> bool:
        """Whether every example has one correct choice."""
        return bool((self.correct.sum(axis=1) == 1).all())

    @property
    def accuracy(self) -> Floats:
        """(prompts,) the share of its examples that each prompt answers correctly."""
        return self.is_correct.sum(axis=1) / np.maximum(self.evaluated.sum(axis=1), 1)

    def simulated(self, generator: np.random.Generator, accuracy: float) -> Answers:
        """Prompts with an accuracy, correct on random examples; else they choose any wrong label."""
        number, examples = SIMULATED_PROMPTS, len(self.correct)
        skilled = generator.random((number, examples)).argsort(axis=1) < round(accuracy * examples)
        choosable = np.where(skilled[:, :, None], self.correct, self.available & ~self.correct)
        choosable = np.where(choosable.any(axis=2, keepdims=True), choosable, self.available)
        chosen = np.where(choosable, generator.random(choosable.shape), -1.0).argmax(axis=2)
        return replace(self, predicted=chosen, evaluated=np.ones((number, examples), dtype=bool))

    @cached_property
    def gold(self) -> Gold:
        """The gold answers, and how they are drawn anew."""
        examples, places = self.correct.shape
        identity = np.arange(examples * places).reshape(examples, places)
        texts = self.texts
        if texts is None:
            texts = np.broadcast_to(np.arange(places), identity.shape) if self.shared else identity
        return Gold.from_labels(texts, self.available, self._clusters, self.correct)

    @property
    def permuted(self) -> float:
        """The share of examples with a choice that others have too, in [0, 1]; the rest is redrawn."""
        return float(self.gold.shared.mean())

    @property
    def clusters(self) -> int:
        """How many clusters the examples make."""
        return len(np.unique(self._clusters))

    @property
    def _clusters(self) -> Ints:
        return numbered(len(self.correct), self.cluster)[0]

    def statistics(self, correct: Bools, statistic: str) -> Floats:
        """(prompts, draws) the statistic of each prompt in each draw of (draws, examples, labels)."""
        sizes = self.evaluated.sum(axis=1)[:, None].astype(np.float64)
        labels = np.flatnonzero(self.correct.any(axis=0))
        if not self.shared:
            labels = np.arange(self.correct.shape[1])
        total: Floats = np.zeros((len(self.predicted), len(correct)))
        for label in labels:
            guessed = ((self.predicted == label) & self.evaluated).astype(np.float32)
            correct_label = correct[:, :, label].T.astype(np.float32)
            hits = (guessed @ correct_label).astype(np.float64)
            if statistic == "accuracy":
                total += hits / np.maximum(sizes, 1)
            else:
                totals = self.evaluated.astype(np.float32) @ correct_label + guessed.sum(
                    axis=1, keepdims=True
                )
                total += np.divide(2 * hits, totals, out=np.zeros_like(hits), where=totals > 0) / len(labels)
        return total


@dataclass(frozen=True)
class RandomizationResult:
    """The result of a randomization test.

    Attributes
    ----------
    statistic
        ``accuracy`` or ``macro_f1``.
    observed
        (prompts,) its value for each prompt.
    p_value
        Probability, under the null hypothesis, that the best prompt is at least as good.
    adjusted
        (prompts,) adjusted p-values, for which the family-wise error rate holds.
    draws
        Number of random draws of the gold answers.
    permuted
        The share of examples with a choice that others have too; the others' gold answers were redrawn.
    fixed
        The share of examples whose gold answer is the same in all draws: most often, since it cannot
        change, as where all have one gold label, or a cluster is like no other.
    clusters
        Number of clusters of examples; clusters are drawn as wholes.
    power
        The probability, in [0, 1], that the test of a single prompt rejects at a level of 0.05, if the prompt
        is correct on a random subset of examples, as many as give ``reference``. It is missing for macro-F1.
    reference
        The accuracy for which ``power`` is computed: the best prompt's, or the lowest whose maximum random
        baseline's tail is at most 0.05, if that is higher.
    """

    statistic: str
    observed: Floats
    p_value: float
    adjusted: Floats
    draws: int
    permuted: float
    fixed: float
    clusters: int
    power: float
    reference: float

    @property
    def has_power(self) -> bool:
        """Whether the p-value is small, or would probably be small for a prompt with skill."""
        return self.p_value <= ALPHA or not self.power < LEAST_POWER

    def _repr_html_(self) -> str:
        return as_html(
            {
                "statistic": self.statistic,
                "best": float(self.observed.max()),
                "prompts": len(self.observed),
                "p-value": self.p_value if self.has_power else "no power",
                "power": f"{self.power:.2f} for one prompt with an accuracy of {self.reference:.3f}",
                "gold answers": f"permuted in {self.permuted:.0%} of examples, else redrawn",
                "clusters": self.clusters,
                "draws": self.draws,
            }
        )


def randomization_test(
    answers: Answers,
    seed: int | list[int] = 0,
    draws: int = 10_000,
    statistic: str = "accuracy",
    standardized: bool = False,
) -> RandomizationResult:
    """Test whether the best prompt is better than the gold answers' being drawn anew allows.

    Parameters
    ----------
    answers
        Predictions and correct choices of all prompts that were tried.
    seed
        Decides the draws.
    draws
        Number of draws; the least p-value is 1 / (draws + 1).
    statistic
        ``accuracy``; or ``macro_f1``, the mean F1 of the labels that are correct somewhere, for a
        shared set of choices with one correct choice each.
    standardized
        True to compare prompts by the number of standard deviations of a guesser by which their accuracies
        are above the guesser's mean, for prompts that are evaluated on very different examples.

    Raises
    ------
    ValueError
        If there is no such statistic, or it is not defined for these answers.
    """
    if statistic not in STATISTICS:
        raise ValueError(f"statistic is '{statistic}'; expected one of {', '.join(STATISTICS)}")
    if statistic == "macro_f1" and not (answers.shared and answers.single):
        raise ValueError("macro_f1 needs one set of choices for all examples, and one correct choice in each")
    if draws < 1:
        raise ValueError(f"draws is {draws}: at least one is needed")
    if standardized and statistic != "accuracy":
        raise ValueError(f"standardized is for accuracies, and not for {statistic}")
    observed = answers.statistics(answers.correct[None], statistic)[:, 0]
    centre, unit = answers.guesser if standardized else (np.zeros(len(observed)), np.ones(len(observed)))
    scores = (observed - centre) / unit
    order = np.argsort(-scores, kind="stable")
    reached, moved = np.zeros(len(observed), dtype=np.int64), np.zeros(len(answers.correct), dtype=bool)
    generator = np.random.default_rng(seed)
    reference = _reference(answers, float(observed[order[0]]))
    simulated = answers.simulated(generator.spawn(1)[0], reference) if statistic == "accuracy" else None
    as_good = np.zeros(SIMULATED_PROMPTS, dtype=np.int64)  # draws in which a simulated prompt is as accurate
    for correct in answers.gold.draws(generator, draws):
        if simulated is not None:
            as_good += (simulated.statistics(correct, "accuracy") >= simulated.accuracy[:, None] - 1e-9).sum(
                axis=1
            )
        moved |= (correct != answers.correct).any(axis=(0, 2))
        values = ((answers.statistics(correct, statistic) - centre[:, None]) / unit[:, None])[order]
        # the maximum over a prompt and all that are not better than it
        maxima = np.maximum.accumulate(values[::-1], axis=0)[::-1]
        reached += (maxima >= scores[order][:, None] - 1e-9).sum(axis=1)
    step_down = np.maximum.accumulate((reached + 1) / (draws + 1))
    adjusted = np.empty(len(observed))
    adjusted[order] = step_down
    power = np.nan if simulated is None else float(((as_good + 1) / (draws + 1) <= ALPHA).mean())
    how = answers.permuted, float(1 - moved.mean()), answers.clusters, power, reference
    return RandomizationResult(statistic, observed, float(step_down[0]), adjusted, draws, *how)


def _reference(answers: Answers, best: float) -> float:
    """The accuracy for which power is computed."""
    critical = RandomBaseline(answers.chance).critical(ALPHA, len(answers.predicted))
    return max(best, min(int(critical), len(answers.correct)) / len(answers.correct))


def randomize(predictions: pd.DataFrame, task: pd.DataFrame, seed: int, draws: int = 10_000) -> pd.DataFrame:
    """Return the table ``randomization`` of one setting: one row per prompt and statistic.

    Parameters
    ----------
    predictions
        The setting's rows of the table ``predictions``.
    task
        The table ``tasks`` of its task.
    seed, draws
        See ``randomization_test``; the setting's name makes its draws its own.
    """
    setting = setting_of(predictions)
    answers = Answers.from_predictions(predictions, task)
    uneven = ResponseMatrix.from_predictions(predictions).uneven(setting.shots)
    statistics = STATISTICS if answers.shared and answers.single else STATISTICS[:1]
    tables = []
    for statistic in statistics:
        standardized = uneven and statistic == "accuracy"
        test = randomization_test(answers, setting.seed(seed), draws, statistic, standardized)
        unchanged = np.nan if test.fixed == 1 else 1.0  # where nothing changes, nothing follows
        tables.append(
            pd.DataFrame(
                {
                    "prompt": np.unique(predictions["prompt"]),
                    "statistic": statistic,
                    "value": test.observed,
                    "adjusted_tail": test.adjusted * unchanged,
                    "best_tail": test.p_value * unchanged,
                    "permuted": test.permuted,
                    "fixed": test.fixed,
                    "power": test.power,
                    "clusters": test.clusters,
                }
            )
        )
    return setting.label(pd.concat(tables, ignore_index=True))


def for_verdicts(table: pd.DataFrame) -> pd.DataFrame:
    """Return the columns of the table ``randomization`` that verdicts include: one row per setting.

    Returns
    -------
    DataFrame
        The columns of ``study.RANDOMIZED``, without ``effective_prompts``. Tails are adjusted for all
        settings that were tested, also for those whose tail is missing because of too little power.
    """
    results = table.groupby([*SETTING, "statistic"], observed=True, sort=False).agg(
        value=("value", "max"), **{name: (name, "first") for name in ("best_tail", "power", "fixed")}
    )
    wide = pd.DataFrame(results.unstack("statistic"))
    accuracy, macro_f1 = (
        wide.reindex(columns=[(name, statistic) for name in results]).droplevel(1, axis=1)
        for statistic in STATISTICS
    )
    tails = {
        name: result["best_tail"].where((result["best_tail"] <= ALPHA) | (accuracy["power"] >= LEAST_POWER))
        for name, result in (("randomization_tail", accuracy), ("macro_f1_tail", macro_f1))
    }
    of_all = pd.Series(adjusted(accuracy["best_tail"], "bh"), accuracy.index)
    columns = {
        "randomization_tail": tails["randomization_tail"],
        "randomization_bh_tail": of_all.where(tails["randomization_tail"].notna()),
        "randomization_power": accuracy["power"],
        "randomization_fixed": accuracy["fixed"],
        "best_macro_f1": macro_f1["value"],
        "macro_f1_tail": tails["macro_f1_tail"],
    }
    return pd.DataFrame(columns).reset_index()


def effective_prompts(
    randomization_tail: ArrayLike, standard_tail: ArrayLike, prompts: ArrayLike, draws: int
) -> Floats:
    """How many independent guessers prompts are worth: the t whose maximum baseline's tail is the p-value.

    With p the p-value of the best prompt and 1 - F its tail under one guesser, 1 - F^t = p at
    t = log(1 - p) / log F. Prompts that answer alike are fewer than were tried. Missing where the p-value is
    1, or the least that so many draws can give; where it would be fewer than one, or more than the prompts
    that were tried, since then something else than their number makes the best one likely, such as
    unbalanced labels; and where either tail is.
    """
    tail = floats(randomization_tail)
    with np.errstate(divide="ignore", invalid="ignore"):
        effective: Floats = np.log1p(-tail) / np.log1p(-floats(standard_tail))
        possible = (effective >= 1 - 1e-9) & (effective <= np.asarray(prompts) * (1 + 1e-9))
        estimable = np.isfinite(effective) & (tail > 1.5 / (draws + 1)) & possible
    return np.where(estimable, effective, np.nan)
