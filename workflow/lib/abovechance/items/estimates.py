"""The score on all items from those on a few (Polo et al., *tinyBenchmarks: evaluating LLMs with fewer
examples*, 2024, Section 3)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from abovechance.core.arrays import Floats
from abovechance.core.errors import InputError
from abovechance.items.anchors import Anchors
from abovechance.items.classical import checked
from abovechance.items.response_theory import Items, fit, most_likely

HELD_OUT = 5  # every fifth row is held out to see how far off the model is


def weighted(anchors: Anchors, responses: ArrayLike) -> Floats:
    """(rows,) the mean of the anchors' scores by their weights; of those that a row has, nan without any.

    Parameters
    ----------
    responses
        (rows, items) of which only the anchors are read.
    """
    own = np.asarray(responses, dtype=float)[:, anchors.places]
    there = np.isfinite(own)
    weights = np.where(there, anchors.weights, 0.0)
    with np.errstate(invalid="ignore"):
        found: Floats = (np.where(there, own, 0.0) * weights).sum(axis=1) / weights.sum(axis=1)
    return found


def p_irt(items: Items, anchors: Anchors, responses: ArrayLike, asked: ArrayLike | None = None) -> Floats:
    """(rows,) the mean of what is seen, and of the probabilities of what is not; nan where nothing is seen.

    A row's ability is the most likely one by its responses to the anchors.

    Parameters
    ----------
    responses
        (rows, items) of which only the anchors are read.
    asked
        (rows, items) which items the mean is of; all of them where not given.
    """
    given = np.asarray(responses, dtype=float)
    items.check_width(given)
    own = given[:, anchors.places]
    some = np.isfinite(own).any(axis=1)
    found = np.full(len(own), np.nan)
    seen = own[some]
    expected = items.probability(most_likely(items.only(anchors.places), seen))
    expected[:, anchors.places] = np.where(np.isfinite(seen), seen, expected[:, anchors.places])
    of = np.ones(given.shape) if asked is None else np.asarray(asked, dtype=float)
    with np.errstate(invalid="ignore"):
        found[some] = (expected * of[some]).sum(axis=1) / of[some].sum(axis=1)
    return found


def gp_irt(weighted: ArrayLike, p_irt: ArrayLike, share: float) -> Floats:
    """(rows,) both estimates together, ``share`` of the weighted one ("IRT++")."""
    return share * np.asarray(weighted, dtype=float) + (1 - share) * np.asarray(p_irt, dtype=float)


def share_of_weighted(bias: float, variance: float, size: int) -> float:
    """By how much the weighted estimate counts: b^2 / (v / (4 n) + b^2), with n = 100 b^2 / (v / 400 + b^2).

    Parameters
    ----------
    bias
        By how much the fitted model is off, ``model_error``.
    variance
        Of a row's scores over items, the mean over rows.
    size
        Of how many anchors.
    """
    if not (bias >= 0 and variance >= 0 and size >= 1):
        raise InputError(f"bias {bias:g}, variance {variance:g}, {size} anchors; expected 0 or more")
    noise = variance / (4 * size)
    return bias**2 / (noise + bias**2) if noise + bias**2 > 0 else 0.0


def model_error(matrix: ArrayLike, dimensions: int = 1) -> float:
    """How far the fitted model is off: the mean error of a held-out row's mean score.

    The model is fitted without every fifth row. The ability of these is that by every second item, and the
    error that of the mean of the others.

    Returns
    -------
    float
        In scores. Missing with fewer than five rows or two items.
    """
    given = checked(matrix)
    rows, count = given.shape
    if rows < HELD_OUT or count < 2:
        return np.nan
    held = np.arange(rows) % HELD_OUT == 0
    train, test = given[~held], given[held]
    known = np.isfinite(train).any(axis=0)
    train, test = train[:, known], test[:, known]
    items = fit(train, dimensions)
    places = np.arange(train.shape[1])
    even, odd = places[::2], places[1::2]
    both = np.isfinite(test[:, even]).any(axis=1) & np.isfinite(test[:, odd]).any(axis=1)
    if not both.any():
        return np.nan
    test = test[both]
    unseen = test[:, odd]
    ability = most_likely(items.only(even), test[:, even])
    expected = np.where(np.isfinite(unseen), items.only(odd).probability(ability), np.nan)
    return float(np.abs(np.nanmean(expected, axis=1) - np.nanmean(unseen, axis=1)).mean())
