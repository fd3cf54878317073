"""How much a score varies over seeds and examples, and whether it grows during training.

The measures of Madaan et al., *Quantifying Variance in Evaluation Benchmarks* (2024), Section 2. Scores are
arrays of (seeds, checkpoints), the checkpoints in the order of training; a score that is missing is nan.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from abovechance.chance.random_baseline import RandomBaseline
from abovechance.core.arrays import ROUNDING, Floats, check_same_order, floats, tied_ranks
from abovechance.core.errors import InputError, check_inside
from abovechance.core.estimates import ALPHA, CONFIDENCE, bootstrap_interval as bootstrap_interval


def final(scores: ArrayLike) -> Floats:
    """(seeds,) the scores of the last checkpoint; missing where a seed has none of it."""
    return _checked(scores)[:, -1]


def seed_mean(scores: ArrayLike) -> float:
    """Return the mean over seeds at the last checkpoint."""
    finals = final(scores)
    finals = finals[~np.isnan(finals)]
    return float(finals.mean()) if finals.size else np.nan


def seed_deviation(scores: ArrayLike, ddof: int = 1, last: bool = False) -> float:
    """Return the standard deviation over seeds, averaged over checkpoints: the paper's "seed variance".

    Parameters
    ----------
    ddof
        Number that is subtracted from the number of seeds before dividing: 1 for an estimate of all possible
        seeds, 0 for these seeds.
    last
        True for the last checkpoint only, as in the paper's Table 2.

    Returns
    -------
    float
        Missing with fewer than two seeds at each checkpoint, and if a score is infinite.

    Raises
    ------
    InputError
        If ddof is neither 0 nor 1.
    """
    if ddof not in (0, 1):
        raise InputError(f"ddof is {ddof}; expected 0 or 1")
    numeric = _checked(scores)
    numeric = numeric[:, -1:] if last else numeric
    columns = [column[~np.isnan(column)] for column in numeric.T]
    with np.errstate(invalid="ignore"):  # of infinite ones
        deviations = [
            # not a number if one is infinite
            float(column.std(ddof=ddof))
            if not np.ptp(column) <= ROUNDING * np.abs(column).max() < np.inf
            else 0.0
            for column in columns
            if len(column) > 1
        ]
    return float(np.mean(deviations)) if deviations else np.nan


def signal_to_noise(scores: ArrayLike, ddof: int = 1) -> float:
    """Return the mean over seeds by their standard deviation, both at the last checkpoint.

    Infinite where seeds have the same score; missing if this score is 0, and with one seed.
    """
    deviation = seed_deviation(scores, ddof, last=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.float64(seed_mean(scores)) / deviation)


def analytic_error(accuracy: ArrayLike, examples: ArrayLike, confidence: float = CONFIDENCE) -> Floats:
    """Half the width of the interval of an accuracy over examples, 1.96 sqrt(p (1 - p) / N).

    Parameters
    ----------
    accuracy
        In [0, 1].
    examples
        Number of examples.
    confidence
        Confidence level of the interval, in (0, 1).

    Raises
    ------
    InputError
        If an accuracy is none, there are no examples, or the confidence level is outside (0, 1).
    """
    check_inside(0, 1, confidence=confidence)
    check_same_order(accuracy, examples)
    p, n = floats(accuracy), floats(examples)
    if ((p < 0) | (p > 1)).any() or (n < 1).any():
        raise InputError("accuracies are in [0, 1], and examples at least 1")
    return stats.norm.ppf((1 + confidence) / 2) * np.sqrt(p * (1 - p) / n)


def rank_correlation(scores: ArrayLike) -> float:
    """Kendall's tau-b of the scores with an increasing array, seed by seed, and the mean of these.

    In [-1, 1]: 1 where each checkpoint is better than all before it. Scores that differ by rounding alone are
    ties. A seed whose scores are all the same counts as 0, neither better nor worse; missing where that is so
    of all seeds, or there are fewer than two checkpoints.
    """
    correlations, changes = [], False
    for row in _checked(scores):
        defined = ~np.isnan(row)
        ranks = tied_ranks(row[defined])
        if ranks.size and ranks.max() > 0:
            # rounding must not rank one perfect order below another
            correlation = stats.kendalltau(np.flatnonzero(defined), ranks, variant="b").statistic
            correlations.append(round(float(correlation), 12))
            changes = True
        elif ranks.size > 1:
            correlations.append(0.0)
    return float(np.mean(correlations)) if changes else np.nan


def monotonicity(scores: ArrayLike, loss: bool = False) -> float:
    """Return how steadily a score grows, or a loss falls, during training: see ``rank_correlation``.

    Parameters
    ----------
    loss
        Whether lower is better: then the array that it is compared with decreases.
    """
    tau = rank_correlation(scores)
    return -tau if loss else tau


def leaves_chance(
    scores: ArrayLike, chance: float, examples: int, prompts_tried: int | None = None, alpha: float = ALPHA
) -> int | None:
    """The place of the first checkpoint whose best accuracy guessing seldom reaches, and all after it too.

    Whoever looks at many checkpoints and prompts finds a high one by luck: the best of as many random
    guessers is what accuracies are held against (``RandomBaseline.tail``).

    Parameters
    ----------
    scores
        (prompts or seeds, checkpoints) accuracies in [0, 1].
    chance
        Probability of one lucky guess.
    examples
        Number of examples of an accuracy.
    prompts_tried
        Number of accuracies that were looked at; by default, all of them.
    alpha
        Significance level: the largest probability that guessing does as well.

    Returns
    -------
    int or None
        Missing where the last checkpoint is not told from guessing.

    Raises
    ------
    InputError
        If an accuracy is outside [0, 1], or alpha outside (0, 1).
    """
    check_inside(0, 1, alpha=alpha)
    numeric = _checked(scores)
    if (outside := numeric[(numeric < 0) | (numeric > 1)]).size:
        raise InputError(f"an accuracy is {outside[0]:g}; expected between 0 and 1")
    baseline = RandomBaseline.from_chance(chance, examples)
    best = np.where(np.isnan(numeric).all(axis=0), -np.inf, np.fmax.reduce(numeric, axis=0))
    count = int((~np.isnan(numeric)).sum()) if prompts_tried is None else prompts_tried
    seldom = [
        bool(score >= 0) and baseline.tail(round(float(score) * examples), count) <= alpha for score in best
    ]
    if not seldom[-1]:
        return None
    common = next((place for place in range(len(seldom) - 1, -1, -1) if not seldom[place]), -1)
    return common + 1


def _checked(scores: ArrayLike) -> Floats:
    """(seeds, checkpoints); a single series is one seed."""
    numeric = np.atleast_2d(floats(scores))
    if numeric.ndim != 2 or not numeric.size:
        raise InputError(f"scores of the shape {numeric.shape}; expected seeds and checkpoints")
    return numeric
