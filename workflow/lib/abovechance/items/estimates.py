"""The score on all items from those on a few (Polo et al., *tinyBenchmarks: evaluating LLMs with fewer
examples*, 2024, Section 3)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from abovechance.core.arrays import Floats, check_same_order, floats
from abovechance.core.errors import InputError
from abovechance.items.anchors import Anchors
from abovechance.items.classical import checked
from abovechance.items.response_theory import Items, fit, most_likely

EVERY_HELD_OUT = 5  # every fifth row is held out to see how far off the model is


def weighted(anchors: Anchors, responses: ArrayLike) -> Floats:
    """(rows,) the mean of the anchors' scores by their weights; of those that a row has, nan without any.

    Parameters
    ----------
    responses
        (rows, items) of which only the anchors are read.
    """
    anchor_responses = floats(responses)[:, anchors.places]
    mask = np.isfinite(anchor_responses)
    weights = np.where(mask, anchors.weights, 0.0)
    with np.errstate(invalid="ignore"):
        accuracies: Floats = (np.where(mask, anchor_responses, 0.0) * weights).sum(axis=1) / weights.sum(
            axis=1
        )
    return accuracies


def p_irt(items: Items, anchors: Anchors, responses: ArrayLike, evaluated: ArrayLike | None = None) -> Floats:
    """(rows,) the mean of what is seen, and of the probabilities of what is not; nan where nothing is seen.

    A row's ability is the most likely one by its responses to the anchors.

    Parameters
    ----------
    responses
        (rows, items) of which only the anchors are read.
    evaluated
        (rows, items) which items the mean is of; all of them where not given.
    """
    numeric = floats(responses)
    items.check_width(numeric)
    anchor_responses = numeric[:, anchors.places]
    has_answers = np.isfinite(anchor_responses).any(axis=1)
    estimates = np.full(len(anchor_responses), np.nan)
    answered = anchor_responses[has_answers]
    expected = items.probability(most_likely(items.only(anchors.places), answered))
    expected[:, anchors.places] = np.where(np.isfinite(answered), answered, expected[:, anchors.places])
    weights = np.ones(numeric.shape) if evaluated is None else floats(evaluated)
    with np.errstate(invalid="ignore"):
        estimates[has_answers] = (expected * weights[has_answers]).sum(axis=1) / weights[has_answers].sum(
            axis=1
        )
    return estimates


def gp_irt(weighted: ArrayLike, p_irt: ArrayLike, share: float) -> Floats:
    """(rows,) both estimates together, ``share`` of the weighted one ("IRT++")."""
    check_same_order(weighted, p_irt)
    return share * floats(weighted) + (1 - share) * floats(p_irt)


def share_of_weighted(bias: float, variance: float, size: int) -> float:
    """Return the weighted estimate's weight: b^2 / (v / (4 n) + b^2); if n is 100, b^2 / (v / 400 + b^2).

    Parameters
    ----------
    bias
        By how much the fitted model is off, ``model_error``.
    variance
        Variance of a row's scores over items, averaged over rows.
    size
        Number of anchors.
    """
    if not (bias >= 0 and variance >= 0 and size >= 1):
        raise InputError(f"bias {bias:g}, variance {variance:g}, {size} anchors; expected 0 or more")
    noise = variance / (4 * size)
    return bias**2 / (noise + bias**2) if noise + bias**2 > 0 else 0.0


def model_error(matrix: ArrayLike, dimensions: int = 1) -> float:
    """Return how far the fitted model is off: the mean error of a held-out row's mean score.

    The model is fitted without every fifth row. The ability of these is that by every second item, and the
    error that of the mean of the others.

    Returns
    -------
    float
        In scores. Missing with fewer than five rows or two items.
    """
    numeric = checked(matrix)
    rows, count = numeric.shape
    if rows < EVERY_HELD_OUT or count < 2:
        return np.nan
    held_out = np.arange(rows) % EVERY_HELD_OUT == 0
    train, test = numeric[~held_out], numeric[held_out]
    known_items = np.isfinite(train).any(axis=0)
    train, test = train[:, known_items], test[:, known_items]
    items = fit(train, dimensions)
    places = np.arange(train.shape[1])
    even, odd = places[::2], places[1::2]
    estimable = np.isfinite(test[:, even]).any(axis=1) & np.isfinite(test[:, odd]).any(axis=1)
    if not estimable.any():
        return np.nan
    test = test[estimable]
    unseen = test[:, odd]
    ability = most_likely(items.only(even), test[:, even])
    expected = np.where(np.isfinite(unseen), items.only(odd).probability(ability), np.nan)
    return float(np.abs(np.nanmean(expected, axis=1) - np.nanmean(unseen, axis=1)).mean())
