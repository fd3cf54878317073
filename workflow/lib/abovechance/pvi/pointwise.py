"""Pointwise V-usable information: how much an example's input tells a model about its answer.

Of Ethayarajh, Choi and Swayamdipta, *Understanding Dataset Difficulty with V-Usable Information* (ICML 2022),
in context as of Lu et al., *Measuring Pointwise V-Usable Information In-Context-ly* (Findings of EMNLP 2023):

    PVI(x -> y) = -log2 G_null(y) + log2 G_input(y)

G_input is the model behind demonstrations and the input, G_null the same behind the demonstrations' answers
alone. High: the input makes the answer likely, an example that is easy for this model. Negative: it makes the
answer less likely than it was; such an example is hard, or its label is wrong.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence, Set

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from abovechance.core.arrays import Bools, Floats, Ints, check_same_order, floats
from abovechance.core.errors import InputError
from abovechance.core.estimates import CONFIDENCE, Estimate, clustered_mean
from abovechance.core.resampling import numbered

ROUNDING = 1e-3  # nats above 0 that a log-likelihood summed from 16-bit numbers can come to
DECIMALS = 9  # of PVI in bits; more of them come from the rounding of logarithms


def bits(logprobs: ArrayLike) -> Floats:
    """(n,) how surprising something is, H = -log2 G, of its log-likelihoods in nats.

    Raises
    ------
    InputError
        If one is no log-likelihood: not a number, or above 0.
    """
    numeric = floats(logprobs)
    strange = np.isnan(numeric) | (numeric > ROUNDING)
    if strange.any():
        place = int(np.flatnonzero(strange)[0])
        raise InputError(
            f"log-likelihood {place} of {numeric.size} is {numeric.flat[place]:g}; "
            "expected at most 0, in nats"
        )
    return np.maximum(-numeric / np.log(2), 0.0)


def pvi(null: ArrayLike, logprobs: ArrayLike) -> Floats:
    """(n,) pointwise V-usable information in bits (Lu et al., Equation 2).

    Parameters
    ----------
    null
        (n,) log-likelihoods, in nats, of answers behind the null-target prompt.
    logprobs
        (n,) the same behind the prompt with the input.

    Raises
    ------
    InputError
        If one is no log-likelihood, or there are not as many of both; or where an answer is impossible both
        with the input and without: nothing can be said of it.
    """
    check_same_order(null, logprobs)
    before, after = bits(null), bits(logprobs)
    if before.shape != after.shape:
        raise InputError(f"{before.size} null scores for {after.size} scores; expected one for each")
    if (never := np.isinf(before) & np.isinf(after)).any():
        place = int(np.flatnonzero(never)[0])
        raise InputError(f"answer {place} of {before.size} is impossible with the input and without")
    return to_decimals(before - after)


def to_decimals(values: ArrayLike) -> Floats:
    """Return PVI in bits with so many decimals that equal values are equal, and no difference is 0."""
    numeric = floats(values)
    return np.where(np.abs(numeric) < 1e6, np.round(np.clip(numeric, -1e6, 1e6), DECIMALS), numeric) + 0.0


def over_choices(logprobs: ArrayLike, starts: ArrayLike) -> Floats:
    """(choices,) log-likelihoods given that the answer is one of an example's choices.

    Parameters
    ----------
    logprobs
        (choices,) of all examples, one example's after another's, in nats.
    starts
        (examples,) where each example's choices begin.

    Raises
    ------
    InputError
        If all choices of an example are impossible, an example has no choices, or a log-likelihood is
        missing or infinitely high.
    """
    numeric, first = floats(logprobs), np.asarray(starts, dtype=np.int64)
    if (bad := np.isnan(numeric) | np.isposinf(numeric)).any():
        place = int(bad.argmax())
        raise InputError(
            f"choice {place}: the log-likelihood is {numeric[place]}; expected a finite one or -inf"
        )
    ends = [*first.ravel(), len(numeric)]
    if first.ndim != 1 or ends[0] != 0 or not (np.diff(ends) > 0).all():
        raise InputError(
            f"examples do not start at 0 and then at ever later ones of the {len(numeric)} choices; expected "
            "one choice or more for each example"
        )
    if (never := np.isneginf(total := any_of(numeric, first))).any():
        raise InputError(f"all choices of example {int(never.argmax())} of {len(first)} are impossible")
    return numeric - np.repeat(total, np.diff(first, append=len(numeric)))


def any_of(logprobs: Floats, starts: Ints, correct: Bools | None = None) -> Floats:
    """(examples,) the log-likelihood of any of an example's choices, or of any right one of them.

    Parameters
    ----------
    logprobs, starts
        See ``over_choices``.
    correct
        (choices,) which of them count; all without it.
    """
    counted = logprobs if correct is None else np.where(correct, logprobs, -np.inf)
    return np.logaddexp.reduceat(counted, starts)


def v_information(
    values: ArrayLike, clusters: ArrayLike | None = None, confidence: float = CONFIDENCE
) -> Estimate:
    """The V-usable information that inputs have about answers: the mean of PVI, with its interval.

    The interval is that of ``core.estimates.clustered_mean``.

    Parameters
    ----------
    values
        (examples,) PVI in bits.
    clusters
        (examples,) the same for examples that belong together; without it, each is by itself.
    confidence
        Confidence level of the interval, in (0, 1).

    Raises
    ------
    InputError
        If a value is missing.
    """
    check_same_order(values, clusters)
    numeric = _complete(values)
    return clustered_mean(numeric, clusters, confidence)


def _complete(values: ArrayLike) -> Floats:
    """Return PVI as an array; InputError if a value is missing."""
    numeric = floats(values)
    if (missing := np.isnan(numeric)).any():
        raise InputError(f"value {int(missing.argmax())} of {numeric.size} is missing; expected PVI in bits")
    return numeric


def by_group(
    values: ArrayLike, groups: Sequence[Hashable], clusters: ArrayLike | None = None
) -> dict[Hashable, Estimate]:
    """Return the V-usable information within each class or part of a data set, in order of appearance.

    Parameters
    ----------
    values
        (examples,) PVI in bits.
    groups
        (examples,) the class or part of each example.
    clusters
        (examples,) the same value for examples that belong together.

    Returns
    -------
    dict
        {group: its mean PVI with a confidence interval}.

    Raises
    ------
    InputError
        If there is not one group, or one cluster, for each value, or if a value is missing.
    """
    if isinstance(groups, Mapping | Set):
        raise InputError(f"groups are a {type(groups).__name__}; expected a list, one for each value")
    check_same_order(values, groups, clusters)
    numeric = _complete(values)
    cluster_codes, _ = numbered(len(numeric), clusters)
    if len(groups) != len(numeric):
        raise InputError(f"{len(groups)} groups for {len(numeric)} values; expected one for each")
    codes, names = pd.factorize(pd.Series([*groups], dtype=object), use_na_sentinel=False)
    return {
        name: v_information(numeric[codes == code], cluster_codes[codes == code])
        for code, name in enumerate(names)
    }
