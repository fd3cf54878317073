"""Before an evaluation: how many examples, how many prompts, and what could be found.

All answers are exact, from the distribution of the best of t random guessers
(``baseline``). For a first idea, the expected maximum of t standard normal variables
is about sqrt(2 log t) (David and Nagaraja, Order Statistics, 2003, Section 10.5), so that
the maximum baseline is about p + sqrt(2 log t) sqrt(p (1 - p) / n).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from abovechance.chance.best_of import BestOf, is_above
from abovechance.chance.random_baseline import (
    MOST_EXAMPLES,
    MOST_PROMPTS,
    RandomBaseline,
    check_prompts,
)
from abovechance.core.errors import check_inside
from abovechance.core.estimates import ALPHA
from abovechance.core.searching import least_whole

# At how many numbers of examples in a row that ask for one more correct one there has to be enough power.
STEPS = 30


def examples_needed(chance: float, prompts: int, margin: float) -> int:
    """Return the least number of examples for which the maximum baseline stays within a margin.

    Of n examples it is at most ``chance + margin``, and so it is for every greater number:
    the expected maximum of means falls with n, since a mean over n + 1 examples is the mean
    of means over n of them.

    Parameters
    ----------
    chance
        Chance of a lucky guess on every example, in (0, 1).
    prompts
        Prompts to be tried, at least 1.
    margin
        Largest difference between the maximum baseline and the chance, in (0, 1).

    Raises
    ------
    ValueError
        If an argument is out of range, or more than ten million examples were needed.
    """
    check_inside(0, 1, chance=chance, margin=margin)
    check_prompts(prompts)
    least = least_whole(
        lambda examples: (
            RandomBaseline.from_chance(chance, examples).maximum(prompts) <= chance + margin + 1e-12
        ),
        MOST_EXAMPLES,
    )
    if least > MOST_EXAMPLES:
        raise ValueError(f"more than {MOST_EXAMPLES:,} examples were needed for a margin of {margin}")
    return least


def prompts_allowed(baseline: RandomBaseline, accuracy: float) -> int | None:
    """Return the largest number of prompts whose maximum baseline is below an accuracy.

    With more prompts, the best of as many guessers is expected to reach the accuracy.

    Parameters
    ----------
    baseline
        The random baseline of one guesser on the examples.
    accuracy
        An accuracy in [0, 1].

    Returns
    -------
    int or None
        0 if one guesser is expected to reach the accuracy; None if more than 10^15 prompts are allowed.

    Raises
    ------
    ValueError
        If the accuracy is not in [0, 1].
    """
    if not 0 <= accuracy <= 1:
        raise ValueError(f"accuracy is {accuracy}: it must be between 0 and 1")
    # however many guess, the best is not expected to answer all correctly unless each does
    if (accuracy == 1 and baseline.standard < 1) or baseline.maximum(MOST_PROMPTS) < accuracy - 1e-12:
        return None
    reached = least_whole(lambda prompts: baseline.maximum(prompts) >= accuracy - 1e-12, MOST_PROMPTS)
    return reached - 1


def least_above(baseline: RandomBaseline, prompts: int) -> float | None:
    """Return the least accuracy that is above the maximum baseline; None where not even 1 is."""
    correct = _threshold(baseline, prompts, None)
    return correct / baseline.examples if correct <= baseline.examples else None


def least_significant(baseline: RandomBaseline, prompts: int, alpha: float = ALPHA) -> float | None:
    """Return the lowest accuracy that is significantly better than chance.

    Parameters
    ----------
    baseline
        The random baseline of one guesser on the examples.
    prompts
        Number of prompts tried, at least 1.
    alpha
        Significance level in (0, 1): the best of as many guessers reaches the accuracy with at most this
        probability.

    Returns
    -------
    float or None
        In [0, 1]; None if the best guesser answers all examples correctly with a higher probability.

    Raises
    ------
    InputError
        If ``alpha`` is not in (0, 1).
    """
    check_inside(0, 1, alpha=alpha)
    accuracy = float(least_accuracies(baseline, prompts, alpha))
    return None if np.isnan(accuracy) else accuracy


def least_accuracies(baseline: RandomBaseline, prompts: ArrayLike, levels: ArrayLike) -> NDArray[np.float64]:
    """See ``least_significant``; nan in place of None. Arrays of prompts and levels broadcast."""
    correct = np.asarray(baseline.critical(levels, prompts))
    return np.where(correct <= baseline.examples, correct / baseline.examples, np.nan)


def power(
    baseline: RandomBaseline,
    accuracy: float,
    prompts: int = 1,
    better: int = 1,
    alpha: float | None = ALPHA,
) -> float:
    """Return the probability that the best prompt is found to be better than chance.

    Parameters
    ----------
    baseline
        The random baseline of one guesser on the examples.
    accuracy
        True accuracy in [0, 1] of the prompts that are better than chance, on each example.
    prompts, better
        Number of prompts tried, and number of them that have this accuracy. The others guess.
    alpha
        Significance level: the best accuracy is better than chance if the best guesser reaches it with at
        most this probability. None: if it is above the maximum baseline.

    Raises
    ------
    ValueError
        If an argument is outside its range.
    """
    if not 0 <= accuracy <= 1:
        raise ValueError(f"accuracy is {accuracy}: it must be between 0 and 1")
    if not 1 <= better <= prompts:
        raise ValueError(f"better is {better}: it must be between 1 and prompts, {prompts}")
    if alpha is not None:
        check_inside(0, 1, alpha=alpha)
    least = _threshold(baseline, prompts, alpha)
    skilled = RandomBaseline.from_chance(accuracy, baseline.examples)
    return float(BestOf([skilled, baseline], [better, prompts - better]).tail(least / baseline.examples))


def examples_for_power(
    chance: float,
    accuracy: float,
    prompts: int = 1,
    better: int = 1,
    alpha: float | None = ALPHA,
    target_power: float = 0.8,
) -> int:
    """Return the least number of examples from which on the power is at least ``target_power``.

    Power rises with the number of examples while as many correct ones are asked for, and falls where
    one more is. So it is enough to look where one more is asked for: there, it has to be enough
    ``STEPS`` times in a row. If the accuracy is very near the chance, power can be lower by less than
    0.001 at a few greater numbers.

    Parameters
    ----------
    chance
        Probability of a lucky guess on an example, in (0, 1).
    accuracy, prompts, better, alpha
        See ``power``. The accuracy is above the chance.
    target_power
        The required power, in (0, 1).

    Raises
    ------
    ValueError
        If the accuracy is not above the chance, or more than ten million examples were needed.
    """
    check_inside(0, 1, chance=chance, target_power=target_power)
    if not accuracy > chance:
        raise ValueError(f"accuracy is {accuracy}: it must be above the chance, {chance}")

    def threshold(examples: int) -> int:
        return _threshold(RandomBaseline.from_chance(chance, examples), prompts, alpha)

    def enough(examples: int) -> bool:
        return (
            power(RandomBaseline.from_chance(chance, examples), accuracy, prompts, better, alpha)
            >= target_power
        )

    def one_more_is_asked_for(after: int) -> Callable[[int], bool]:
        correct = threshold(after)
        return lambda examples: threshold(examples) > correct

    enough_examples = least_whole(enough, MOST_EXAMPLES)
    if enough_examples > MOST_EXAMPLES:
        raise ValueError(f"more than {MOST_EXAMPLES:,} examples were needed")
    at, run_length, step = enough_examples, 0, min(round(1 / max(chance, 1 / MOST_EXAMPLES)), MOST_EXAMPLES)
    while run_length < STEPS and at < MOST_EXAMPLES:
        at = least_whole(one_more_is_asked_for(at), MOST_EXAMPLES, at, step)
        run_length += 1
        if at <= MOST_EXAMPLES and not enough(at):
            at = enough_examples = least_whole(enough, MOST_EXAMPLES, at, step)
            run_length = 0
    return enough_examples


def power_curve(
    chance: float,
    examples: list[int],
    prompts: list[int],
    accuracies: list[float],
    alpha: float | None = ALPHA,
    better: int = 1,
) -> pd.DataFrame:
    """Return the power for each combination of a number of examples, a number of prompts and an accuracy.

    Parameters
    ----------
    chance
        Probability of a lucky guess on an example, in (0, 1).
    examples, prompts
        Numbers of examples and of prompts tried.
    accuracies
        True accuracies of the prompts that are better than chance.
    alpha
        See ``power``.
    better
        Number of better prompts. If fewer prompts are tried, all of them are better.

    Returns
    -------
    DataFrame
        ``examples``, ``prompts``, ``accuracy``, ``power``.
    """
    baselines = {size: RandomBaseline.from_chance(chance, size) for size in examples}
    rows = [
        (size, count, accuracy, power(baseline, accuracy, count, min(better, count), alpha))
        for size, baseline in baselines.items()
        for count in prompts
        for accuracy in accuracies
    ]
    return pd.DataFrame(rows, columns=["examples", "prompts", "accuracy", "power"])


def _threshold(baseline: RandomBaseline, prompts: int, alpha: float | None) -> int:
    """The least number correct that is better than chance, see ``power``; examples + 1 where none is."""
    if alpha is None:
        maximum = baseline.maximum(prompts)
        near = int(maximum * baseline.examples)
        correct = np.arange(max(near - 1, 0), near + 3)
        above = is_above(np.minimum(correct / baseline.examples, 1.0), maximum)
        return int(min(correct[above].min(initial=baseline.examples + 1), baseline.examples + 1))
    return int(baseline.critical(alpha, prompts))
