"""Whether PVI differs between exemplar sets: the paper's analysis of six means, and one of all examples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from abovechance.core.arrays import floats
from abovechance.core.errors import InputError
from abovechance.core.html import as_html


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


def repeated_measures(values: ArrayLike) -> Repeated:
    """Return whether the mean PVI of the same examples differs between exemplar sets.

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
    numeric = floats(values)
    if numeric.ndim != 2:
        raise InputError(f"values have {numeric.ndim} dimensions; expected sets and examples")
    numeric = numeric[:, np.isfinite(numeric).all(axis=0)]
    sets, examples = numeric.shape
    if sets < 2 or examples < 2:
        return Repeated(NONE, np.nan, np.nan, examples)
    residual = numeric - numeric.mean(axis=0) - numeric.mean(axis=1, keepdims=True) + numeric.mean()
    between = examples * ((numeric.mean(axis=1) - numeric.mean()) ** 2).sum()
    within = (residual**2).sum()
    if within <= 1e-12 * (numeric**2).sum():
        return Repeated(NONE, np.nan, np.nan, examples)
    epsilon = _greenhouse_geisser(numeric)
    ratio = (between / (sets - 1)) / (within / ((sets - 1) * (examples - 1)))
    freedom = epsilon * (sets - 1), epsilon * (sets - 1) * (examples - 1)
    anova = Anova(float(ratio), *freedom, float(stats.f.sf(ratio, *freedom)))
    return Repeated(anova, epsilon, float(between / (between + within)), examples)


def _greenhouse_geisser(values: np.ndarray) -> float:
    """Return how far the sets' covariances are from equal ones: 1 where they are, 1 / (sets - 1) at worst."""
    sets = len(values)
    centre = np.eye(sets) - 1 / sets
    covariance = centre @ np.cov(values) @ centre
    return float(np.trace(covariance) ** 2 / ((sets - 1) * (covariance**2).sum()))
