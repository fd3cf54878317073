"""Whether PVI differs between exemplar sets: the paper's analysis of six means, and one of all examples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from abovechance.core.errors import InputError


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


NONE = Anova(np.nan, np.nan, np.nan, np.nan)


def one_way(groups: Sequence[ArrayLike]) -> Anova:
    """The common one-way analysis of variance (``scipy.stats.f_oneway``).

    The paper's (Lu et al., Tables 3 and 15) has a group for each of three exemplar sets, and in each the mean
    PVI of correct predictions for two numbers of shots: six numbers, 2 and 3 degrees of freedom. With so
    few, a difference that matters is seldom found: that none is found says little. ``repeated_measures``
    takes every example.
    """
    given = [np.asarray(group, dtype=float) for group in groups]
    given = [group[np.isfinite(group)] for group in given]
    between, within = len(given) - 1, sum(map(len, given)) - len(given)
    if between < 1 or within < 1 or not all(map(len, given)):
        return NONE
    if all(np.ptp(group) == 0 for group in given):
        return Anova(np.nan, between, within, np.nan)
    found = stats.f_oneway(*given)
    return Anova(float(found.statistic), between, within, float(found.pvalue))


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
        How many have a value under each set.
    """

    anova: Anova
    epsilon: float
    share: float
    examples: int


def repeated_measures(values: ArrayLike) -> Repeated:
    """Whether the mean PVI of the same examples differs between exemplar sets.

    Each example is measured under each set, so that what makes examples differ is taken out. An analysis of
    variance with examples as blocks; for two sets, it is the paired t-test.

    Parameters
    ----------
    values
        (sets, examples); examples of which one is missing are left out.

    Raises
    ------
    InputError
        If values are not of two dimensions.
    """
    given = np.asarray(values, dtype=float)
    if given.ndim != 2:
        raise InputError(f"values have {given.ndim} dimensions; expected sets and examples")
    given = given[:, np.isfinite(given).all(axis=0)]
    sets, examples = given.shape
    if sets < 2 or examples < 2:
        return Repeated(NONE, np.nan, np.nan, examples)
    residual = given - given.mean(axis=0) - given.mean(axis=1, keepdims=True) + given.mean()
    between = examples * ((given.mean(axis=1) - given.mean()) ** 2).sum()
    within = (residual**2).sum()
    if within <= 1e-12 * (given**2).sum():
        return Repeated(NONE, np.nan, np.nan, examples)
    epsilon = _greenhouse_geisser(given)
    ratio = (between / (sets - 1)) / (within / ((sets - 1) * (examples - 1)))
    freedom = epsilon * (sets - 1), epsilon * (sets - 1) * (examples - 1)
    anova = Anova(float(ratio), *freedom, float(stats.f.sf(ratio, *freedom)))
    return Repeated(anova, epsilon, float(between / (between + within)), examples)


def _greenhouse_geisser(values: np.ndarray) -> float:
    """How far the sets' covariances are from equal ones: 1 where they are, 1 / (sets - 1) at worst."""
    sets = len(values)
    centre = np.eye(sets) - 1 / sets
    covariance = centre @ np.cov(values) @ centre
    return float(np.trace(covariance) ** 2 / ((sets - 1) * (covariance**2).sum()))
