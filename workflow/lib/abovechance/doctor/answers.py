"""Checks on predictions, scores and gold labels."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import binom

from abovechance.chance.random_baseline import RandomBaseline
from abovechance.core.arrays import Floats, Ints
from abovechance.doctor.suspicion import Suspicion, graded, of_examples
from abovechance.results.predictions import UNKNOWN

LEAST_EXAMPLES = 20  # with fewer, nearly all predictions can be the same by chance
NEARLY_ALL = 0.95
# A model that is right this often may predict one answer because it is the right one.
ACCURATE = 0.8
BELOW_CHANCE = 1e-3  # probability that a guesser does as badly
# Standard deviations. All shifts of one log together exceed this by chance once in about 2,000 logs.
SHIFTED = 4.5
ABOVE_CHANCE = 2.5  # standard deviations of the agreement with gold labels
KNOWS = 1e-6  # probability that scores that ignore the example predict its gold label as well
# 16-bit scores of two choices tie often; those of three or more choices hardly ever do.
TIES_OF_TWO, TIES_OF_MORE, MOST_TIES = 0.25, 0.05, 0.5


class Answers:
    """The predictions, scores and gold labels of a run, over all of its prompts.

    Parameters
    ----------
    rows
        See ``importers.contract.Run``.
    """

    def __init__(self, rows: pd.DataFrame) -> None:
        self.rows = rows
        self.predictions = rows[rows["predicted"] != UNKNOWN]

    @cached_property
    def scored(self) -> pd.DataFrame:
        """The rows with scores of at least two choices."""
        if "logprobs" not in self.rows:
            return self.rows.iloc[:0]
        has_scores = self.rows["logprobs"].map(lambda scores: scores is not None and np.size(scores) > 1)
        return self.rows[has_scores.astype(bool)]

    @cached_property
    def gold(self) -> dict[str, int]:
        """{example: number of its gold choice}, of the examples with one gold choice."""
        if "right" not in self.rows:
            return {}
        examples = self.rows.drop_duplicates("example")
        flags = examples["right"].map(lambda marks: [] if marks is None else np.atleast_1d(marks))
        return {
            str(example): int(np.argmax(marks))
            for example, marks in zip(examples["example"], flags, strict=True)
            if len(marks) > 1 and np.sum(marks) == 1
        }

    @cached_property
    def accuracy(self) -> float:
        """Mean accuracy of all rows; a tie counts as a guess."""
        return float(self._credit.mean())

    @cached_property
    def _credit(self) -> Floats:
        rows = self.rows
        guesses = rows["tie"].astype(bool).to_numpy() * rows["chance"].fillna(0).to_numpy(dtype=float)
        return rows["correct"].to_numpy(dtype=float) + guesses

    @cached_property
    def by_example(self) -> pd.DataFrame:
        """``credit`` (mean over prompts) and ``chance`` of each example."""
        means = self.rows.assign(credit=self._credit).groupby("example", sort=False, observed=True)
        return means.agg(credit=("credit", "mean"), chance=("chance", "first"))


def check_answers(rows: pd.DataFrame) -> Iterator[Suspicion]:
    """Yield what is suspicious about predictions, scores and gold labels.

    Parameters
    ----------
    rows
        See ``importers.contract.Run``.
    """
    answers = Answers(rows)
    for check in (_equal_scores, _constant_scores, _positive_scores, _one_answer):
        yield from check(answers)
    shifted = [*_shifted_labels(answers)]
    yield from shifted or _below_chance(answers)
    for check in (_exactly_chance, _gold_position, _choices):
        yield from check(answers)


def _equal_scores(answers: Answers) -> Iterator[Suspicion]:
    """All choices of an example have the same score, so the prediction is arbitrary."""
    scored = answers.scored
    if scored.empty:
        yield from _ties(answers)
        return
    texts = scored["choices"] if "choices" in scored else [None] * len(scored)
    distinct = [choices is None or len(set(choices)) > 1 for choices in texts]
    scores = scored.loc[distinct, "logprobs"].map(np.asarray)
    equal = scores.map(lambda values: bool((values == values[0]).all()))
    of_two = scores.map(len) == 2
    total, ties = len(scores), int(equal.sum())
    if ties < 2:
        return
    limit = TIES_OF_TWO if of_two[equal].all() else TIES_OF_MORE
    if severity := graded(ties / total, limit, MOST_TIES):
        values = {float(score[0]) for score in scores[equal]}
        yield Suspicion(
            "equal-scores",
            severity,
            f"all choices have the same score in {of_examples(ties, total)}"
            + (f", always {values.pop():g}" if len(values) == 1 else ""),
            "the server may return no log-probabilities for the prompt, and then every prediction is the "
            "first choice",
        )


def _ties(answers: Answers) -> Iterator[Suspicion]:
    """A correct and a wrong choice share the highest score; of results without scores, such as a study's."""
    ties, total = int(answers.rows["tie"].astype(bool).sum()), len(answers.rows)
    if ties >= 2 and (severity := graded(ties / total, TIES_OF_TWO, MOST_TIES)):
        yield Suspicion(
            "equal-scores",
            severity,
            f"a correct and a wrong choice share the highest score in {of_examples(ties, total)}",
            "the model may give every choice the same score; each of these examples counts as wrong",
        )


def _constant_scores(answers: Answers) -> Iterator[Suspicion]:
    """Different examples have the same scores, so scores do not depend on the example."""
    scores = (
        [tuple(np.asarray(values).tolist()) for values in answers.scored["logprobs"]]
        if len(answers.scored)
        else []
    )
    unequal = [values for values in scores if len(set(values)) > 1]
    if len(unequal) < LEAST_EXAMPLES:
        return
    vector, repeats = _most_frequent(pd.Series(unequal))
    distinct_questions = "question" not in answers.scored or answers.scored["question"].nunique() > 1
    if not distinct_questions or _knows_the_gold_label(answers, scores, vector):
        return
    if severity := graded(repeats / len(scores), 0.2, 0.5):
        yield Suspicion(
            "constant-scores",
            severity,
            f"the scores of the choices are the same in {of_examples(repeats, len(scores))}",
            "the question may be missing in the prompt, or a cache may return the scores of another example",
        )


def _knows_the_gold_label(
    answers: Answers, scores: list[tuple[float, ...]], vector: tuple[float, ...]
) -> bool:
    """Whether examples with the same scores have the predicted gold label more often than all examples."""
    gold = answers.scored["example"].astype(str).map(answers.gold).to_numpy()
    hits = gold == int(np.argmax(vector))
    repeated = np.array([values == vector for values in scores])
    return bool(binom.sf(hits[repeated].sum() - 1, repeated.sum(), hits.mean()) < KNOWS)


def _positive_scores(answers: Answers) -> Iterator[Suspicion]:
    """A log-probability is above 0."""
    if answers.scored.empty:
        return
    highest = answers.scored["logprobs"].map(lambda scores: float(np.max(scores)))
    if count := int((highest > 1e-3).sum()):
        yield Suspicion(
            "positive-scores",
            "suspicious",
            f"the score of a choice is above 0 in {of_examples(count, len(highest))}, at most "
            f"{highest.max():g}",
            "log-probabilities are never above 0, so these may be logits or other values",
        )


def _one_answer(answers: Answers) -> Iterator[Suspicion]:
    """Nearly all predictions are the choice at the same position, or have the same text."""
    predictions = answers.predictions
    if len(predictions) < LEAST_EXAMPLES or answers.accuracy >= ACCURATE:
        return
    position, count = _most_frequent(predictions["predicted"])
    if count / len(predictions) >= NEARLY_ALL:
        gold = predictions["example"].astype(str).map(answers.gold)
        if (gold == position).mean() < ACCURATE:
            yield Suspicion(
                "one-position",
                "suspicious",
                f"choice {position + 1} is the prediction in {of_examples(count, len(predictions))}",
                "the model may ignore the question, or answers may be parsed wrongly",
            )
    elif "choices" in predictions:
        rows = zip(predictions["choices"], predictions["predicted"], strict=True)
        texts = [choices[place] for choices, place in rows if choices is not None and place < len(choices)]
        text, count = _most_frequent(pd.Series(texts, dtype=object))
        if count / len(predictions) >= NEARLY_ALL:
            yield Suspicion(
                "one-answer",
                "suspicious",
                f"the prediction is '{text[:40]}' in {of_examples(count, len(predictions))}",
                "the model may ignore the question",
            )


def _most_frequent(values: pd.Series) -> tuple[Any, int]:
    """Return the most frequent value and its frequency; 0 if there are no values."""
    counts = values.value_counts()
    return (counts.index[0], int(counts.iloc[0])) if len(counts) else (None, 0)


def _shifted_labels(answers: Answers) -> Iterator[Suspicion]:
    """Predictions agree better with shifted gold labels than with the gold labels.

    The agreement under all permutations of gold labels over examples has the mean and the variance of a
    linear permutation statistic (Hoeffding, 1951).
    """
    predictions = answers.predictions[answers.predictions["example"].astype(str).isin(answers.gold)]
    examples = list(dict.fromkeys(predictions["example"].astype(str)))
    if len(examples) < LEAST_EXAMPLES:
        return
    gold = np.array([answers.gold[example] for example in examples])
    choices = int(max(gold.max(), predictions["predicted"].max())) + 1
    if choices == 2:
        return  # shifted labels are an accuracy below chance
    shares = _shares(predictions, examples, choices)
    labels = {f"the gold label plus {step}": (gold + step) % choices for step in range(1, choices)} | {
        "the reversed gold label": choices - 1 - gold
    }
    rows = {
        f"the gold label of the example {abs(step)} {'after' if step > 0 else 'before'} it": np.roll(
            gold, -step
        )
        for step in (1, -1, 2, -2)
    } | {"the gold labels in reversed order": gold[::-1]}
    agreement, gold_z = _agreement(shares, gold)
    if gold_z > ABOVE_CHANCE:
        return  # a wrong choice attracts the model, but the labels are not shifted
    best_name, best, best_z = "", agreement, SHIFTED
    for name, candidate_labels in (labels | rows).items():
        count, z = _agreement(shares, candidate_labels)
        if z > best_z and count > agreement:
            best_name, best, best_z = name, count, z
    if best_name:
        yield Suspicion(
            "shifted-labels",
            "grave" if gold_z < -ABOVE_CHANCE else "suspicious",
            f"predictions agree with {best_name} in {of_examples(round(best), len(examples))}, and with the "
            f"gold label itself in {round(agreement)}",
            "the answer key may be shifted, reversed or in another order; or the choices are sorted, and a "
            "wrong one next to the correct one attracts the model",
        )


def _shares(predictions: pd.DataFrame, examples: list[str], choices: int) -> Floats:
    """(examples, choices) share of prompts that predict each choice."""
    places = pd.Series(range(len(examples)), index=examples)
    shares = np.zeros((len(examples), choices))
    example_places = predictions["example"].astype(str).map(places).to_numpy()
    np.add.at(shares, (example_places, predictions["predicted"].to_numpy(dtype=int)), 1)
    return shares / shares.sum(axis=1, keepdims=True)


def _agreement(shares: Floats, labels: Ints) -> tuple[float, float]:
    """Return how many predictions agree with labels, and that in standard deviations above its mean.

    Parameters
    ----------
    shares
        (examples, choices) share of prompts that predict each choice.
    labels
        (examples,)
    """
    examples = len(labels)
    agreement = float(shares[np.arange(examples), labels].sum())
    counts = np.bincount(labels, minlength=shares.shape[1])
    centred = shares - shares.mean(axis=0)
    centred -= (centred @ counts / examples)[:, None]
    variance = float((centred**2 @ counts).sum() / (examples - 1))
    mean = float(shares.mean(axis=0) @ counts)
    return agreement, (agreement - mean) / math.sqrt(variance) if variance > 1e-9 else 0.0


def _below_chance(answers: Answers) -> Iterator[Suspicion]:
    """The accuracy is significantly below chance.

    With several prompts, their mean is tested as if all of them were right on the same examples.
    """
    table = answers.by_example.dropna()
    if table.empty or not table["chance"].between(0, 1).all():
        return
    baseline = RandomBaseline(table["chance"])
    correct = math.ceil(table["credit"].sum() - 1e-9)
    probability = baseline.cdf(correct)
    if probability <= BELOW_CHANCE:
        yield Suspicion(
            "below-chance",
            "suspicious",
            f"the accuracy {table['credit'].mean():.1%} is below the chance level {baseline.standard:.1%}, "
            "and guessers are as low with probability ".replace("%", " %")
            + (f"{probability:.1g}" if probability else "< 1e-300"),
            "the answer key may be shifted or reversed, answers may be parsed wrongly, or the task may "
            "mislead models",
        )


def _exactly_chance(answers: Answers) -> Iterator[Suspicion]:
    """The accuracy is exactly the chance level."""
    table = answers.by_example.dropna()
    if len(table) < LEAST_EXAMPLES or not table["chance"].between(0, 1, inclusive="neither").all():
        return
    expected, correct = float(table["chance"].sum()), float(table["credit"].sum())
    if abs(expected - correct) < 1e-6 and abs(expected - round(expected)) < 1e-6:
        probability = RandomBaseline(table["chance"]).pmf(round(expected))
        yield Suspicion(
            "exactly-chance",
            "suspicious" if probability < 0.01 else "note",
            f"the accuracy is exactly the chance level {expected / len(table):.1%}, which guessers reach "
            f"with probability {probability:.1g}".replace("%", " %"),
            "a constant prediction on balanced gold labels has this accuracy",
        )


def _gold_position(answers: Answers) -> Iterator[Suspicion]:
    """Nearly all gold labels are at one position."""
    positions = pd.Series(answers.gold)
    if len(positions) < LEAST_EXAMPLES:
        return
    position, count = _most_frequent(positions)
    if count / len(positions) >= NEARLY_ALL:
        yield Suspicion(
            "gold-position",
            "note",
            f"choice {position + 1} is the gold label in {of_examples(count, len(positions))}",
            "the choices may not be shuffled; a model that prefers this position scores high without skill",
        )


def _choices(answers: Answers) -> Iterator[Suspicion]:
    """A few examples have another number of choices than the rest."""
    chances = answers.by_example["chance"].dropna().round(9)
    counts = chances.value_counts()
    if len(counts) < 2 or len(chances) < LEAST_EXAMPLES:
        return
    few = len(chances) - int(counts.iloc[0])
    if few / len(chances) <= 0.05:
        of_rest, *odd = (f"{1 / chance:g}" if chance > 0 else "free text" for chance in counts.index)
        yield Suspicion(
            "number-of-choices",
            "note",
            f"{of_examples(few, len(chances))} have another number of choices per correct one "
            f"({', '.join(sorted(odd)[:5])}) than the rest ({of_rest})",
            "choices may be lost or split in the conversion of the data",
        )
