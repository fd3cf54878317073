"""Variance components of scores: examples, prompts, seeds and their interactions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from abovechance.core.arrays import ROUNDING, Floats, floats
from abovechance.core.columns import Column
from abovechance.core.errors import InputError

COMPONENTS = {
    "source": Column.text(
        "source of the variance: one factor (such as prompts) or an interaction of factors; clusters replace "
        "examples that form clusters"
    ),
    "variance": Column.number(
        "estimated variance component of a single answer, or of the mean over a cluster's answers; it can be "
        "slightly negative if the true value is near 0"
    ),
    "share": Column.share("share of this component in the sum of all components"),
    "deviation": Column.number("standard deviation of the mean over all answers if only this source varied"),
}


def variance_components(
    scores: ArrayLike, factors: Sequence[str], weights: ArrayLike | None = None
) -> pd.DataFrame:
    """Return the variance components of a single score, for crossed factors and their interactions.

    The model has crossed random effects without replication. A score is the sum of an effect of each factor
    and of each interaction. The interaction of all factors includes the noise. Components are estimated by
    moments, from the mean squares of an analysis of variance.

    Parameters
    ----------
    scores
        One dimension for each factor, each at least 2 long, such as (prompts, examples) or (models, prompts,
        examples). All scores are needed.
    factors
        Names of the dimensions, such as ``prompts`` and ``examples``.
    weights
        (levels of the last factor,) the weight of each in the mean of all answers, such as the size of a
        cluster. Unless given, all count alike.

    Returns
    -------
    DataFrame
        One row for each combination of factors, with the columns of ``COMPONENTS``. The deviation is the
        standard deviation of the mean of all scores, if the levels of the row's factors were drawn again.

    Raises
    ------
    InputError
        If a factor has fewer than two levels, a name is missing, or a score is.
    """
    values = floats(scores)
    if values.ndim != len(factors):
        raise InputError(f"expected {len(factors)} dimensions of scores, one per factor, got {values.ndim}")
    if not np.isfinite(values).all():
        raise InputError("a score is missing; expected all combinations of " + ", ".join(factors))
    for name, levels in zip(factors, values.shape, strict=True):
        if levels < 2:
            raise InputError(f"{name}: expected at least 2 levels, got {levels}")
    axes = range(values.ndim)
    terms = [term for size in range(1, values.ndim + 1) for term in combinations(axes, size)]
    squares = {term: _mean_square(values, term) for term in terms}
    # from the last term to the first: a mean square expects all components that contain its term
    variance: dict[tuple[int, ...], float] = {}
    for term in reversed(terms):
        above = sum(
            variance[larger_term] * _levels(values, larger_term)
            for larger_term in variance
            if set(term) < set(larger_term)
        )
        variance[term] = (squares[term] - above) / _levels(values, term)
    total = sum(max(value, 0.0) for value in variance.values())
    if total <= (ROUNDING * np.abs(values).max()) ** 2:  # all scores are the same
        total = 0.0
    share = np.ones(values.shape[-1]) if weights is None else floats(weights)
    unequal = values.shape[-1] * float((share**2).sum()) / float(share.sum()) ** 2  # 1 if all count alike
    rows = [
        {
            "source": " x ".join(factors[axis] for axis in term),
            "variance": variance[term],
            "share": max(variance[term], 0.0) / total if total else np.nan,
            "deviation": np.sqrt(
                max(variance[term], 0.0)
                * (_levels(values, term) / values.size)
                * (unequal if axes[-1] in term else 1.0)
            ),
        }
        for term in terms
    ]
    return pd.DataFrame(rows)


def _levels(scores: Floats, term: tuple[int, ...]) -> int:
    """Return how many scores have the same levels of a term's factors."""
    return int(np.prod([levels for axis, levels in enumerate(scores.shape) if axis not in term]))


def _mean_square(scores: Floats, term: tuple[int, ...]) -> float:
    """Return the mean square of a term in the analysis of variance."""
    effect = np.zeros(1)
    for size in range(len(term) + 1):
        for part in combinations(term, size):
            averaged = tuple(axis for axis in range(scores.ndim) if axis not in part)
            effect = effect + (-1) ** (len(term) - size) * scores.mean(axis=averaged, keepdims=True)
    freedom = np.prod([scores.shape[axis] - 1 for axis in term])
    return float((effect**2).sum() * _levels(scores, term) / freedom)
