"""Metrics of sets of choices (multi-select questions) and of rankings of items."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from abovechance.core.arrays import Floats, Ints
from abovechance.metrics.contract import Metric
from abovechance.metrics.texts import mean_of, terms_of

Items = frozenset[str]
Ranking = tuple[str, ...]


def _equal(prediction: Items, gold: Items) -> float:
    return float(prediction == gold)


def _jaccard(prediction: Items, gold: Items) -> float:
    union = prediction | gold
    return len(prediction & gold) / len(union) if union else 1.0


def _places(ranking: Ranking, relevant: Items) -> Ints:
    """Return the places of the relevant items, from 0; items that are not ranked have none."""
    return np.array([place for place, item in enumerate(ranking) if item in relevant], dtype=np.int64)


def _reciprocal_rank(ranking: Ranking, relevant: Items) -> float:
    return next((1 / (place + 1) for place, item in enumerate(ranking) if item in relevant), 0.0)


def _discounts(count: int) -> Floats:
    return 1 / np.log2(np.arange(2, count + 2))


def _ndcg(k: int) -> Callable[[Ranking, Items], float]:
    def pair(ranking: Ranking, relevant: Items) -> float:
        if not relevant:
            return 0.0
        places = _places(ranking[:k], relevant)
        return float(_discounts(len(ranking))[places].sum() / _discounts(min(k, len(relevant))).sum())

    return pair


def _recall(k: int) -> Callable[[Ranking, Items], float]:
    return lambda ranking, relevant: len(relevant.intersection(ranking[:k])) / max(len(relevant), 1)


def _average_hit(k: int) -> Callable[[Ranking, Items], float]:
    """Return Avg@k: the mean of AC@1 to AC@k, with AC@j the share of relevant items among the first j.

    If more than j items are relevant, AC@j is the share of the j places (RCAEval, 2025).
    """

    def pair(ranking: Ranking, relevant: Items) -> float:
        hits = np.cumsum([item in relevant for item in ranking[:k]])
        hits = np.append(hits, np.full(k - len(hits), hits[-1] if len(hits) else 0))
        return float(np.mean(hits / np.minimum(np.arange(1, k + 1), max(len(relevant), 1))))

    return pair


def _at(
    name: str, meaning: str, pairs: Callable[[int], Callable[[Ranking, Items], float]]
) -> Callable[[int], Metric]:
    """Return a function that makes the metric ``name@k``."""

    def metric(k: int) -> Metric:
        return Metric(f"{name}@{k}", meaning.format(k=k), mean_of(pairs(k)), "ranking", terms_of(pairs(k)))

    return metric


METRICS = (
    Metric(
        "subset_accuracy",
        "share of examples whose set of choices is exactly the gold set",
        mean_of(_equal),
        "set",
        terms_of(_equal),
    ),
    Metric(
        "jaccard",
        "mean over examples of |prediction and gold| / |prediction or gold|",
        mean_of(_jaccard),
        "set",
        terms_of(_jaccard),
    ),
    Metric(
        "mrr",
        "mean reciprocal rank of the first relevant item; 0 if none is ranked",
        mean_of(_reciprocal_rank),
        "ranking",
        terms_of(_reciprocal_rank),
    ),
)
WITH_K = {
    "ndcg": _at("ndcg", "normalized discounted cumulative gain of the first {k} items", _ndcg),
    "recall": _at("recall", "share of the relevant items among the first {k}", _recall),
    "avg": _at(
        "avg",
        "mean over j = 1 to {k} of the relevant items among the first j, divided by j or, if fewer, by all",
        _average_hit,
    ),
}
