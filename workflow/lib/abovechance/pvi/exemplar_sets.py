"""Whether PVI differs between exemplar sets: the paper's analysis of six means, and one of all examples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from abovechance.core.arrays import Floats, check_same_order, floats
from abovechance.core.errors import InputError
from abovechance.core.html import as_html
from abovechance.core.resampling import cluster_sums, numbered


class Anova(NamedTuple):
    """An analysis of variance with one factor.

    Attributes
    ----------
    f
        The statistic.
    between, within
        Its degrees of freedom; of repeated measures, after Greenhouse and Geisser's correction.
    p
        The p-value: how often F is as large where the groups' means are equal.
    """

    f: float
    between: float
    within: float
    p: float

    def _repr_html_(self) -> str:
        return as_html(self._asdict())


NONE = Anova(np.nan, np.nan, np.nan, np.nan)


def one_way(groups: Sequence[ArrayLike]) -> Anova:
    """Return the common one-way analysis of variance (``scipy.stats.f_oneway``), without missing numbers.

    The paper's (Lu et al., Tables 3 and 15) has a group for each of three exemplar sets, and in each the mean
    PVI of correct predictions for two numbers of shots: six numbers, 2 and 3 degrees of freedom. With so
    few, a difference that matters is seldom found: that none is found says little. ``repeated_measures``
    takes every example.
    """
    if hasattr(groups, "columns"):
        raise InputError("groups are a DataFrame; expected a list of groups, each with its numbers")
    numeric = [floats(group) for group in groups]
    numeric = [group[np.isfinite(group)] for group in numeric]
    between, within = len(numeric) - 1, sum(map(len, numeric)) - len(numeric)
    if between < 1 or within < 1 or not all(map(len, numeric)):
        return NONE
    if all(np.ptp(group) == 0 for group in numeric):
        return Anova(np.nan, between, within, np.nan)
    test = stats.f_oneway(*numeric)
    return Anova(float(test.statistic), between, within, float(test.pvalue))


class Repeated(NamedTuple):
    """An analysis of variance of the same examples under several exemplar sets.

    Attributes
    ----------
    anova
        With Greenhouse and Geisser's correction for values that are not equally correlated.
    epsilon
        That correction, in (0, 1]: 1 for none.
    share
        The share of all variation, but for that between examples, that the sets account for (partial eta
        squared), in [0, 1].
    examples
        Number of examples with a value under each set.
    """

    anova: Anova
    epsilon: float
    share: float
    examples: int

    def _repr_html_(self) -> str:
        return as_html(self._asdict())


def repeated_measures(values: ArrayLike, clusters: ArrayLike | None = None) -> Repeated:
    """Return whether the mean PVI of the same examples differs between exemplar sets.

    Each example is measured under each set, so that what makes examples differ is taken out. An analysis of
    variance with examples as blocks; for two sets, it is the paired t-test. With clusters, these are the
    blocks, by their sums over examples.

    Parameters
    ----------
    values
        (sets, examples); examples of which one is missing are left out.
    clusters
        (examples,) the same for examples that belong together; without it, each is by itself.

    Raises
    ------
    InputError
        If values are not of two dimensions, or there are not as many clusters.
    """
    check_same_order(values, clusters)
    numeric = floats(values)
    if numeric.ndim != 2:
        raise InputError(f"values have {numeric.ndim} dimensions; expected sets and examples")
    groups, _ = numbered(numeric.shape[1], clusters)
    defined = np.isfinite(numeric).all(axis=0)
    numeric = numeric[:, defined]
    sets, examples = numeric.shape
    blocks, _ = cluster_sums(numeric, groups[defined])
    if sets < 2 or blocks.shape[1] < 2:
        return Repeated(NONE, np.nan, np.nan, examples)
    between, within = _between_and_within(blocks)
    if within <= 1e-12 * (blocks**2).sum():
        return Repeated(NONE, np.nan, np.nan, examples)
    epsilon = _greenhouse_geisser(blocks)
    ratio = between / within * (blocks.shape[1] - 1)
    freedom = epsilon * (sets - 1), epsilon * (sets - 1) * (blocks.shape[1] - 1)
    anova = Anova(float(ratio), *freedom, float(stats.f.sf(ratio, *freedom)))
    of_sets, residual = _between_and_within(numeric)
    return Repeated(anova, epsilon, of_sets / (of_sets + residual), examples)


def _between_and_within(values: Floats) -> tuple[float, float]:
    """Return the sums of squares that (sets, blocks) values have between sets, and within sets and blocks."""
    of_sets = values.mean(axis=1, keepdims=True) - values.mean()
    residual = values - values.mean(axis=0) - of_sets
    return float(values.shape[1] * (of_sets**2).sum()), float((residual**2).sum())


def _greenhouse_geisser(values: np.ndarray) -> float:
    """Return how far the sets' covariances are from equal ones: 1 where they are, 1 / (sets - 1) at worst."""
    sets = len(values)
    centre = np.eye(sets) - 1 / sets
    covariance = centre @ np.cov(values) @ centre
    return float(np.trace(covariance) ** 2 / ((sets - 1) * (covariance**2).sum()))
