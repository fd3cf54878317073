"""Metrics of classification: a prediction and a gold answer are labels, which are equal or not.

Definitions are those of scikit-learn.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from math import sqrt
from typing import Any

import numpy as np
from sklearn import metrics

from abovechance.core.arrays import Floats, Ints
from abovechance.metrics.contract import Metric, Objects, Terms


def _of_scikit_learn(function: Callable[..., Any], **options: Any) -> Callable[[Any, Any], float]:
    """Return a function of scikit-learn with predictions first. It may meet labels of one side only."""

    def value(predictions: Objects, gold: Objects) -> float:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return float(function(gold, predictions, **options))

    return value


def _counts(predictions: Objects, gold: Objects) -> tuple[Ints, Ints, Ints]:
    """Return all labels, and how often each is predicted and is the gold answer."""
    labels = np.unique(np.concatenate([predictions, gold]))
    predicted, actual = (
        np.bincount(np.searchsorted(labels, side), minlength=len(labels)) for side in (predictions, gold)
    )
    return labels, predicted, actual


def _matches(weight: float, offset: float = 0.0) -> Terms:
    """Return the sum of a weight for each correct example."""
    return Terms(lambda rows, golds: np.where(rows[:, None] == golds[None, :], weight, 0.0), offset)


def _weighted_matches(labels: Ints, weights: Floats) -> Terms:
    """Return the sum of a weight for each correct example, by its label."""

    def cells(predictions: Objects, golds: Objects) -> Floats:
        weight = weights[np.searchsorted(labels, golds)]
        return np.where(predictions[:, None] == golds[None, :], weight[None, :], 0.0)

    return Terms(cells)


def _accuracy(_: Objects, gold: Objects) -> Terms:
    return _matches(1 / len(gold))


def _balanced(predictions: Objects, gold: Objects) -> Terms:
    labels, _, actual = _counts(predictions, gold)
    return _weighted_matches(labels, 1 / np.maximum(actual, 1) / np.count_nonzero(actual))


def _f1_macro(predictions: Objects, gold: Objects) -> Terms:
    labels, predicted, actual = _counts(predictions, gold)
    return _weighted_matches(labels, 2 / (predicted + actual) / len(labels))


def _mcc(predictions: Objects, gold: Objects) -> Terms:
    """Return Matthews' correlation: the covariance of label indicators over their standard deviations."""
    _, predicted, actual = _counts(predictions, gold)
    size = float(len(gold))
    by_chance = float(predicted @ actual) / size
    scale = sqrt((size - predicted @ predicted / size) * (size - actual @ actual / size))
    weight = 1 / scale if scale > 0 else 0.0  # scikit-learn: 0 if all predictions are one label
    return _matches(weight, -by_chance * weight)


def _kappa(predictions: Objects, gold: Objects) -> Terms:
    _, predicted, actual = _counts(predictions, gold)
    size = float(len(gold))
    by_chance = float(predicted @ actual) / size
    weight = 1 / (size - by_chance) if by_chance < size else np.nan
    return _matches(weight, -by_chance * weight)


METRICS = (
    Metric(
        "accuracy",
        "share of examples with the correct label",
        _of_scikit_learn(metrics.accuracy_score),
        terms=_accuracy,
        by_equality=True,
    ),
    Metric(
        "balanced_accuracy",
        "mean over gold labels of the share of their examples that are correct",
        _of_scikit_learn(metrics.balanced_accuracy_score),
        terms=_balanced,
        frequencies=True,
        by_equality=True,
    ),
    Metric(
        "f1_macro",
        "mean of the F1 scores of all labels that are predicted or gold",
        _of_scikit_learn(metrics.f1_score, average="macro", zero_division=0),
        terms=_f1_macro,
        frequencies=True,
        by_equality=True,
    ),
    Metric(
        "f1_micro",
        "F1 of all labels together; for one label per example, it equals accuracy",
        _of_scikit_learn(metrics.f1_score, average="micro", zero_division=0),
        terms=_accuracy,
        by_equality=True,
    ),
    Metric(
        "mcc",
        "Matthews' correlation coefficient, from -1 to 1",
        _of_scikit_learn(metrics.matthews_corrcoef),
        terms=_mcc,
        frequencies=True,
        by_equality=True,
    ),
    Metric(
        "kappa",
        "Cohen's kappa: agreement beyond that of independent labels, at most 1",
        _of_scikit_learn(metrics.cohen_kappa_score),
        terms=_kappa,
        frequencies=True,
        by_equality=True,
    ),
)
