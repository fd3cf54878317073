"""The mean of examples that may belong together, with its standard error and interval."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from abovechance.core.arrays import Floats, Ints
from abovechance.core.errors import InputError
from abovechance.core.estimates import CONFIDENCE


class Mean(NamedTuple):
    """A mean over examples.

    Attributes
    ----------
    mean
        Of all examples, each counted alike.
    error
        Its standard error; missing of fewer than two clusters, or where a value is infinite.
    low, high
        The ends of its interval by Student's distribution; missing as the error is.
    examples, clusters
        Of how many examples it is, and of how many that have nothing to do with each other.
    """

    mean: float
    error: float
    low: float
    high: float
    examples: int
    clusters: int


def clustered_mean(
    values: ArrayLike, clusters: ArrayLike | None = None, confidence: float = CONFIDENCE
) -> Mean:
    """A mean with its interval, examples of one cluster taken as wholes.

    The standard error is that of a mean of clusters of any sizes (the linearized ratio of their sums and
    sizes); where each example is a cluster by itself, the common one, with n - 1. It takes clusters as drawn
    from a population, and is rough for few (say, below 20).

    Parameters
    ----------
    values
        (examples,) numbers.
    clusters
        (examples,) the same for examples that belong together; without it, each is by itself.
    confidence
        Of the interval, in (0, 1).

    Raises
    ------
    InputError
        If values have several dimensions, or there is not one cluster for each.
    """
    given = np.asarray(values, dtype=float)
    if given.ndim != 1:
        raise InputError(f"values have {given.ndim} dimensions; right would be one, of examples")
    if not given.size:
        return Mean(np.nan, np.nan, np.nan, np.nan, 0, 0)
    groups, count = grouped(given.size, clusters)
    with np.errstate(invalid="ignore"):  # of infinities of both signs there is none
        mean = float(given.mean())
    if count < 2 or not np.isfinite(mean):
        return Mean(mean, np.nan, np.nan, np.nan, given.size, count)
    sums = np.bincount(groups, given - mean)
    error = float(np.sqrt(count / (count - 1) * (sums**2).sum()) / given.size)
    reach = float(stats.t.ppf((1 + confidence) / 2, count - 1)) * error
    return Mean(mean, error, mean - reach, mean + reach, given.size, count)


def grouped(examples: int, clusters: ArrayLike | None) -> tuple[Ints, int]:
    """(examples,) the clusters as numbers from 0, and how many there are; each example one without them."""
    if clusters is None:
        return np.arange(examples), examples
    own = np.asarray(clusters)
    if own.shape != (examples,) or pd.isna(own).any():
        raise InputError(
            f"clusters of the shape {own.shape} for {examples} examples; right would be one for each"
        )
    groups, names = pd.factorize(own)
    return groups, len(names)


def cluster_sums(values: ArrayLike, clusters: ArrayLike | None) -> tuple[Floats, Floats]:
    """(..., clusters) sums of values over each cluster, and (clusters,) their sizes.

    Parameters
    ----------
    values
        (..., examples) numbers.
    """
    given: Floats = np.asarray(values, dtype=np.float64)
    groups, count = grouped(given.shape[-1], clusters)
    sizes: Floats = np.bincount(groups, minlength=count).astype(np.float64)
    if count == given.shape[-1]:
        order = np.argsort(groups)
        return given[..., order], sizes
    flat = given.reshape(-1, given.shape[-1])
    sums: Floats = np.stack([np.bincount(groups, row, count) for row in flat])
    return sums.reshape(*given.shape[:-1], count), sizes
