"""Metrics of numeric answers: correlations, order and errors."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import stats

from abovechance.core.arrays import Floats
from abovechance.core.errors import InputError
from abovechance.metrics.contract import Metric, Objects, Terms

MOST_PAIRED = 100  # examples of which all pairs are made


def _correlation_terms(predictions: Objects, gold: Objects) -> Terms:
    """Return Pearson's correlation: products of deviations; nan if a side is constant."""
    predicted, actual = (np.asarray(side, dtype=np.float64) for side in (predictions, gold))
    predicted_scale, actual_scale = _spread(predicted), _spread(actual)
    return Terms(
        lambda rows, columns: (
            ((np.asarray(rows, dtype=float) - predicted.mean()) / predicted_scale)[:, None]
            * ((np.asarray(columns, dtype=float) - actual.mean()) / actual_scale)[None, :]
        )
    )


def _spread(values: Floats) -> float:
    """Return the root of the sum of squared deviations; nan if these are rounding, or too large."""
    with np.errstate(over="ignore", invalid="ignore"):
        deviations = values - values.mean()
        largest = np.abs(deviations).max() or 1.0  # squares of very small or large numbers are 0 or infinite
        spread = float(largest * np.sqrt(((deviations / largest) ** 2).sum()))
    rounding = 4 * np.finfo(float).eps * float(np.abs(values).max()) * np.sqrt(len(values))
    return spread if rounding < spread < np.inf else np.nan


def _pearson(predictions: Any, gold: Any) -> float:
    sides = [np.asarray(side, dtype=np.float64) for side in (predictions, gold)]
    products = np.prod([(side - side.mean()) / _spread(side) for side in sides], axis=0)
    return float(np.clip(products.sum(), -1.0, 1.0))


def _spearman(predictions: Any, gold: Any) -> float:
    # numbers in texts have the order of numbers
    ranks = [stats.rankdata(np.asarray(side, dtype=np.float64)) for side in (predictions, gold)]
    return _pearson(*ranks)


def _spearman_terms(predictions: Objects, gold: Objects) -> Terms:
    """Return Pearson's correlation of mean ranks."""
    predicted, actual = _ranks_among(predictions), _ranks_among(gold)
    terms = _correlation_terms(predicted(predictions), actual(gold))
    return Terms(lambda rows, columns: terms.cells(predicted(rows), actual(columns)))


def _ranks_among(values: Objects) -> Callable[[Objects], Floats]:
    """Return a function from numbers to their mean ranks among ``values``."""
    numeric = np.asarray(values, dtype=np.float64)
    distinct, first = np.unique(numeric, return_index=True)
    ranks = stats.rankdata(numeric)[first]
    return lambda numbers: ranks[np.searchsorted(distinct, np.asarray(numbers, dtype=np.float64))]


def _signs(values: Any) -> Floats:
    """(..., pairs) whether the first of two numbers is lower (-1), equal (0) or higher (1)."""
    numeric = np.asarray(values, dtype=np.float64)
    first, second = np.triu_indices(numeric.shape[-1], 1)
    return np.sign(numeric[..., first] - numeric[..., second])


def _differing(values: Floats) -> float:
    """Return how many pairs of numbers differ."""
    _, counts = np.unique(values, return_counts=True, axis=0)
    return float(len(values) * (len(values) - 1) - (counts * (counts - 1)).sum()) / 2


def _orders(predictions: Any, gold: Any) -> tuple[Any, Any, Any, Any]:
    """Return how many pairs have the same order, how many the opposite one, and how many differ in each.

    The last two are of the predictions and of the gold answers. Of many examples, scipy counts the pairs,
    which takes less than quadratic time.
    """
    predicted, actual = np.asarray(predictions, dtype=np.float64), np.asarray(gold, dtype=np.float64)
    if len(predicted) <= MOST_PAIRED:
        predicted_signs, actual_signs = _signs(predicted), _signs(actual)
        difference = actual_signs @ predicted_signs
        in_both = (actual_signs != 0) @ (predicted_signs != 0).astype(np.float64)
        differ = ((predicted_signs != 0).sum(), (actual_signs != 0).sum(axis=-1))
    else:
        rows = np.atleast_2d(actual)
        differ = (_differing(predicted), np.array([_differing(row) for row in rows]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # where all are equal, which is nan
            taus = np.array([stats.kendalltau(predicted, row).statistic for row in rows])
        difference = np.rint(np.nan_to_num(taus) * np.sqrt(differ[0] * differ[1]))
        either = np.full(len(rows), len(predicted) * (len(predicted) - 1) / 2)
        if differ[0] < either[0] and differ[1].min() < either[0]:  # there are ties on both sides
            either = np.array([_differing(np.column_stack([predicted, row])) for row in rows])
        in_both = differ[0] + differ[1] - either
        if actual.ndim == 1:
            difference, in_both, differ = difference[0], in_both[0], (differ[0], differ[1][0])
    return (in_both + difference) / 2, (in_both - difference) / 2, *differ


def _pairwise(predictions: Any, gold: Any) -> Any:
    """Return the share of pairs in the same order; pairs with equal gold answers do not count."""
    concordant, _, _, actual = _orders(predictions, gold)
    with np.errstate(invalid="ignore"):
        return np.divide(concordant, actual)


def _kendall(predictions: Any, gold: Any) -> Any:
    """Return Kendall's tau-b."""
    concordant, discordant, predicted, actual = _orders(predictions, gold)
    with np.errstate(invalid="ignore"):
        return (concordant - discordant) / np.sqrt(predicted * np.asarray(actual, dtype=np.float64))


def _error(
    name: str, meaning: str, size: Callable[[Floats], Floats], curve: Callable[[Floats], Floats] | None = None
) -> Metric:
    """Return an error: the mean of ``size`` of the differences, and ``curve`` of it."""

    def value(predictions: Any, gold: Any) -> float:
        sides = [np.asarray(side, dtype=np.float64) for side in (predictions, gold)]
        if sides[0].shape != sides[1].shape:
            raise InputError(
                f"{sides[0].size} predictions for {sides[1].size} gold answers; expected one for each"
            )
        with np.errstate(over="ignore"):
            difference = sides[0] - sides[1]
            mean = np.array(np.mean(size(difference)))
        return float(mean if curve is None else curve(mean))

    def terms(_: Objects, gold: Objects) -> Terms:
        def cells(rows: Objects, columns: Objects) -> Floats:
            predicted, actual = (np.asarray(side, dtype=np.float64) for side in (rows, columns))
            with np.errstate(over="ignore"):
                return size(predicted[:, None] - actual[None, :]) / len(gold)

        return Terms(cells, curve=curve)

    return Metric(name, meaning, value, "number", terms, higher_is_better=False)


KENDALL = Metric("kendall", "Kendall's rank correlation (tau-b)", _kendall, "number", vectorized=True)
PAIRWISE = Metric(
    "pairwise_accuracy",
    "share of pairs of examples with different gold numbers whose predictions have the same order",
    _pairwise,
    "number",
    vectorized=True,
)
METRICS = (
    Metric(
        "pearson",
        "Pearson's correlation of predicted and gold numbers",
        _pearson,
        "number",
        _correlation_terms,
        frequencies=True,
    ),
    Metric(
        "spearman",
        "Spearman's rank correlation, with mean ranks for ties",
        _spearman,
        "number",
        _spearman_terms,
        frequencies=True,
    ),
    KENDALL,
    PAIRWISE,
    _error("mae", "mean absolute error", np.abs),
    _error("mse", "mean squared error", np.square),
    _error("rmse", "root of the mean squared error", np.square, np.sqrt),
)
