"""Metrics of short texts and of several attempts at one."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable, Sequence
from math import comb
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from abovechance.core.arrays import Floats
from abovechance.core.errors import InputError
from abovechance.metrics.contract import Metric, Objects, Terms

Pair = Callable[[Any, Any], float]


def mean_of(pair: Pair) -> Callable[[Any, Any], float]:
    """Return the mean of a function of a prediction and a gold answer over examples."""

    def value(predictions: Objects, gold: Objects) -> float:
        return float(np.mean([pair(*both_answers) for both_answers in zip(predictions, gold, strict=True)]))

    return value


def terms_of(pair: Pair) -> Callable[[Objects, Objects], Terms]:
    """Return the same mean as a sum of cells."""

    def terms(_: Objects, gold: Objects) -> Terms:
        size = len(gold)

        def cells(rows: Objects, columns: Objects) -> Floats:
            table = [[pair(prediction, answer) for answer in columns] for prediction in rows]
            return np.array(table, dtype=np.float64).reshape(len(rows), len(columns)) / size

        return Terms(cells)

    return terms


def is_several(answer: Any) -> bool:
    """Return whether an answer is several texts, in a list, a tuple, a set or an array."""
    of_array = isinstance(answer, np.ndarray) and answer.ndim > 0
    return of_array or isinstance(answer, (tuple, list, set, frozenset))


def accepted(gold: Any) -> tuple[str, ...]:
    """Return the texts that count as correct: a gold answer is one text, or several."""
    return tuple(gold) if is_several(gold) else (gold,)


def _exact_match(prediction: str, gold: Any) -> float:
    return float(prediction in accepted(gold))


def words(text: str) -> list[str]:
    """Return the words of a text as SQuAD's script compares them: lower case, no punctuation, no articles."""
    plain = text.lower().translate(str.maketrans("", "", string.punctuation))
    return re.sub(r"\b(a|an|the)\b", " ", plain).split()


def _f1_of_words(prediction: Counter[str], gold: Counter[str]) -> float:
    """Return F1 of two bags of words; of an empty bag, 1 if both are empty, else 0."""
    sizes = prediction.total() + gold.total()
    return 2 * (prediction & gold).total() / sizes if sizes else 1.0


def _token_f1(prediction: str, gold: Any) -> float:
    bag = Counter(words(prediction))
    return max(_f1_of_words(bag, Counter(words(text))) for text in accepted(gold))


def _exact_terms(_: Objects, gold: Objects) -> Terms:
    size = len(gold)

    def cells(rows: Objects, columns: Objects) -> Floats:
        texts = [accepted(answer) for answer in columns]
        place: dict[str, list[int]] = {}
        for number, several in enumerate(texts):
            for text in {*several}:
                place.setdefault(text, []).append(number)
        table = np.zeros((len(rows), len(columns)))
        for row, prediction in enumerate(rows):
            table[row, place.get(prediction, [])] = 1 / size
        return table

    return Terms(cells)


def _token_f1_terms(_: Objects, gold: Objects) -> Terms:
    """Return token F1 by products of sparse matrices: the nth occurrence of a word is a column."""
    size = len(gold)

    def cells(rows: Objects, columns: Objects) -> Floats:
        texts = [accepted(answer) for answer in columns]
        flat = [text for several in texts for text in several]
        predicted, actual = _bags([*rows], flat)
        common = (predicted @ actual.T).toarray()
        sizes = predicted.sum(axis=1)[:, None] + actual.sum(axis=1)[None, :]
        scores = np.where(sizes > 0, 2 * common / np.maximum(sizes, 1), 1.0)
        starts = np.cumsum([0, *(len(several) for several in texts[:-1])])
        return np.maximum.reduceat(scores, starts, axis=1) / size

    return Terms(cells)


def _bags(*sides: Sequence[str]) -> list[Any]:
    """Return a (texts, occurrences) sparse matrix for each side, with the same columns."""
    columns: dict[tuple[str, int], int] = {}
    matrices = []
    for texts in sides:
        indices, starts = [], [0]
        for text in texts:
            times: Counter[str] = Counter()
            for word in words(text):
                times[word] += 1
                indices.append(columns.setdefault((word, times[word]), len(columns)))
            starts.append(len(indices))
        matrices.append((indices, starts))
    return [
        csr_array((np.ones(len(indices)), indices, starts), shape=(len(starts) - 1, max(len(columns), 1)))
        for indices, starts in matrices
    ]


def passes(correct: int, attempts: int, k: int) -> float:
    """Return pass@k: the probability that at least one of k random attempts is correct.

    It is 1 - C(attempts - correct, k) / C(attempts, k), which has no bias (Chen et al., 2021, *Evaluating
    Large Language Models Trained on Code*, Equation 1).
    """
    return 1 - comb(attempts - correct, k) / comb(attempts, k)


def best_of(scores: Sequence[float], k: int) -> float:
    """Return the expected highest score of k attempts that are drawn from several; for 0 and 1, pass@k."""
    total = comb(len(scores), k)
    # each quotient by itself, since whole numbers can be too large for a float
    return sum(score * (comb(place, k - 1) / total) for place, score in enumerate(sorted(scores)))


def pass_at(k: int) -> Metric:
    """Return the metric pass@k of texts: an attempt is correct if it equals the gold answer."""

    def pair(attempts: tuple[str, ...], gold: Any) -> float:
        if len(attempts) < k:
            raise InputError(
                f"pass@{k} needs at least {k} attempts at each example; an example has {len(attempts)}"
            )
        texts = accepted(gold)
        return passes(sum(attempt in texts for attempt in attempts), len(attempts), k)

    return Metric(
        f"pass@{k}",
        f"probability that at least one of {k} attempts is correct, without bias",
        mean_of(pair),
        "attempts",
        terms_of(pair),
    )


EXACT_MATCH = Metric(
    "exact_match",
    "share of examples whose text equals an accepted answer",
    mean_of(_exact_match),
    "text",
    _exact_terms,
)
METRICS = (
    EXACT_MATCH,
    Metric(
        "token_f1",
        "mean F1 of the words of prediction and gold answer, as for SQuAD",
        mean_of(_token_f1),
        "text",
        _token_f1_terms,
    ),
)
WITH_K = {"pass": pass_at}
