"""How accurate a model is on the examples of least and of most information (Lu et al., Tables 1 and 14).

PVI contains the answer's probability, so that examples of low PVI are got wrong partly by definition. What
does not is PVI that another prompt gives: ``accuracy_of_tails`` takes any values to order examples by.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from abovechance.core.arrays import Bools, Floats, check_same_order, floats
from abovechance.core.errors import InputError
from abovechance.core.html import as_html

SHARES = (0.2, 0.5)  # of the paper: fifths and halves


class Tails(NamedTuple):
    """Accuracies of the examples whose PVI is lowest, and highest.

    Attributes
    ----------
    lowest, highest
        In [0, 1]; missing where no example is there, because there are too few.
    """

    lowest: float
    highest: float

    def _repr_html_(self) -> str:
        return as_html(self._asdict())


def accuracy_of_tails(values: ArrayLike, correct: ArrayLike, share: float) -> Tails:
    """Accuracy below the quantile of ``share``, and above that of 1 - ``share`` (both without it).

    The quantiles are numpy's (interpolated linearly), as in the paper's released code. If examples at the
    quantile have the same value, each of them counts in part: the accuracy is the mean over all orders of
    these examples.

    Parameters
    ----------
    values
        (examples,) what orders examples: PVI in bits.
    correct
        (examples,) whether the model's prediction is right.
    share
        In (0, 0.5].

    Raises
    ------
    InputError
        If there are not as many of both, or a value is not a number.
    """
    return tails_of_labels(values, correct, np.zeros(np.size(values)), share)


def tails_of_labels(values: ArrayLike, correct: ArrayLike, labels: ArrayLike, share: float) -> Tails:
    """Return the same of the lowest and highest examples of each label, all labels together.

    A model that likes one answer, whatever it reads, is right on the examples that have it as their label,
    and these are easy under every prompt. Within labels, that has no part in it.

    Parameters
    ----------
    labels
        (examples,) what is correct.
    """
    check_same_order(values, labels)
    ordered_values, ordered_correct = _ordered_by(values, correct)
    if not 0 < share <= 0.5:
        raise InputError(f"the share is {share:g}; expected more than 0 and at most 0.5")
    label_array = np.asarray(labels)
    low, high = np.zeros((2, ordered_values.size))
    for label in np.unique(label_array):
        of_label = label_array == label
        low[of_label] = _in_lowest(ordered_values[of_label], share)
        high[of_label] = _in_lowest(-ordered_values[of_label], share)
    return Tails(_mean(ordered_correct, low), _mean(ordered_correct, high))


def _in_lowest(values: Floats, share: float) -> Floats:
    """(examples,) how much of each example is below the quantile of ``share``, in [0, 1]."""
    size = math.ceil(round(share * (len(values) - 1), 9))
    if not size:
        return np.zeros(len(values))
    border = np.sort(values)[size - 1]
    below, tied = values < border, values == border
    return below + tied * (size - below.sum()) / tied.sum()


def _ordered_by(values: ArrayLike, correct: ArrayLike) -> tuple[Floats, Bools]:
    """Both as arrays, what is infinite beyond all that is not; InputError unless they belong together."""
    check_same_order(values, correct)
    numeric = floats(values)
    # a masked value is neither right nor wrong
    judged = correct.filled(-1) if isinstance(correct, np.ma.MaskedArray) else np.asarray(correct)
    if numeric.shape != judged.shape:
        raise InputError(f"{numeric.size} values for {judged.size} predictions; expected one for each")
    flags = pd.Series(judged).isin([1]).to_numpy()
    if not (is_flag := pd.Series(judged).isin([0, 1])).all():
        place = int(is_flag.argmin())
        raise InputError(f"`correct` of prediction {place} is '{judged[place]}'; expected True or False")
    if np.isnan(numeric).any():
        raise InputError(f"value {int(np.isnan(numeric).argmax())} of {numeric.size} is not a number")
    if not (finite := np.isfinite(numeric)).all():
        ends = (numeric[finite].min() - 1, numeric[finite].max() + 1) if finite.any() else (-1.0, 1.0)
        numeric = np.clip(numeric, *ends)
    return numeric, flags


def _mean(correct: Bools, weights: Floats) -> float:
    # the same order of summation, so that the mean of all true values is 1
    return float((weights * correct).sum() / weights.sum()) if weights.any() else np.nan


class Threshold(NamedTuple):
    """The PVI that tells right predictions from wrong ones best.

    Attributes
    ----------
    value
        In bits: predictions above are taken as right, others as wrong. Missing where all are right, or none,
        or where no value tells more than luck.
    accuracy
        The mean of the shares of right and of wrong predictions that it tells (balanced accuracy), in
        [0.5, 1]: found on the same examples, so that it is a little too good.
    """

    value: float
    accuracy: float

    def _repr_html_(self) -> str:
        return as_html(self._asdict())


def threshold(values: ArrayLike, correct: ArrayLike) -> Threshold:
    """Return the PVI that best divides right from wrong predictions (Lu et al., Figure 4); see ``Threshold``.

    It is halfway between two examples, or the lower one if a value is infinite. If several thresholds are
    equally good, it is the lowest.

    Parameters
    ----------
    values
        (examples,) PVI in bits.
    correct
        (examples,) whether the prediction is right.

    Raises
    ------
    InputError
        If there are not as many of both, or a value is not a number.
    """
    numeric, flags = _ordered_by(values, correct)
    if flags.all() or not flags.any():
        return Threshold(np.nan, np.nan)
    order = np.argsort(numeric, kind="stable")
    ordered, ordered_flags = numeric[order], flags[order]
    rights, wrongs = int(ordered_flags.sum()), int((~ordered_flags).sum())
    # whole numbers, so that thresholds that are as good tie: 2 * balanced accuracy - 1, times both totals
    gain = np.cumsum(~ordered_flags) * rights - np.cumsum(ordered_flags) * wrongs
    gain[:-1][ordered[1:] == ordered[:-1]] = 0  # no border between equals
    best = int(gain.argmax())
    if gain[best] <= 0:
        return Threshold(np.nan, 0.5)
    below, above = map(float, floats(values)[order[best : best + 2]])
    middle = below + (above - below) / 2
    is_between = np.isfinite(middle) and middle < above
    return Threshold(middle if is_between else below, float(0.5 + gain[best] / (2 * rights * wrongs)))
