"""Conclusions on two models, in words."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from abovechance.compare.responses import Responses
from abovechance.compare.two_models import BESIDE_ZERO, Comparison
from abovechance.core.arrays import differences
from abovechance.core.estimates import ALPHA, Estimate
from abovechance.core.p_values import equals
from abovechance.core.words import percent


def conclusion(responses: Responses, about: str, pair: Comparison, headline: Estimate, power: float) -> str:
    """Return the conclusion on two models on one task, the better one first.

    ``about`` is what it generalizes to.
    """
    is_one_run = len(responses.prompts) == 1 and not responses.several_seeds
    if pair.better == pair.worse == 0 and is_one_run:
        # as many clusters as if all were as large as the largest
        share = 1 - (1 - headline.confidence) ** (np.bincount(responses.clusters).max() / pair.examples)
        unit = 10.0 ** (math.floor(math.log10(share)) - 1)
        bound = percent(unit * math.ceil(share / unit))
        return about_first(about) + (
            f"Both models have the same score on each of the {pair.examples} examples. On similar examples, "
            f"they differ in at most {bound} of cases ({percent(headline.confidence)} confidence bound)."
        )
    sentence = about_first(about) + _better(responses.models, headline)
    if np.isfinite(pair.detectable) and not about:
        sentence += (
            f" With {pair.examples} examples, the test finds a true difference of {points(pair.detectable)} "
            f"with a probability of {percent(power)}."
        )
        if np.isfinite(pair.needed):
            sentence += (
                f" To find a difference of the observed size with this probability, it needs "
                f"{pair.needed:,.0f} examples."
            )
    return sentence


def over_tasks_in_words(
    models: list[str], about: str, pairs: pd.DataFrame, by_task: pd.DataFrame, confidence: float
) -> str:
    """Return the conclusion on two models by their mean over tasks, the better one first."""
    value, error, low, high, p = (
        float(pairs[name].iloc[0]) for name in ("difference", "error", "low", "high", "p")
    )
    mean = Estimate(value, error, low, high, p, confidence=confidence)
    alone, corrected = (int((by_task[name] <= ALPHA).sum()) for name in ("p", "holm"))
    return (
        f"{about_first(about)}{_better(models, mean)} On single tasks, {alone or 'none'} of {len(by_task)} "
        f"differences {'has' if alone < 2 else 'have'} p <= {ALPHA} without correction, and "
        f"{corrected or 'none'} after Holm's correction."
    )


def about_first(about: str) -> str:
    """Return the scope of a sentence, as its opening words."""
    return f"{about[0].upper()}{about[1:]}: " if about else ""


def _better(models: list[str], difference: Estimate) -> str:
    """Return which of two models is better, the first one being ahead."""
    low = "just above 0" if 0 < difference.low <= BESIDE_ZERO else f"{100 * difference.low:.1f}"
    ends = f"{percent(difference.confidence)} confidence interval {low} to {100 * difference.high:.1f}, "
    interval = ends if np.isfinite(difference.low) else ""
    p_value = f"p {equals(difference.p)}" if np.isfinite(difference.p) else "p-value unknown"
    ahead, evidence = points(difference.value), f"({interval}{p_value})"
    if is_tie(difference):
        return f"Both models have the same mean score {evidence}."
    if difference.p <= 1 - difference.confidence:
        return f"{models[0]} is better by {ahead} {evidence}."
    return f"The difference is not statistically significant: {models[0]} is ahead by {ahead} {evidence}."


def is_tie(difference: Estimate) -> bool:
    """Return whether two scores differ by no more than rounding."""
    return abs(difference.value) < 1e-12


def points(share: float) -> str:
    """Return a difference of two shares in words."""
    return f"{100 * share:.1f} percentage points"


def beside_seeds(responses: Responses, difference: float, deviation: float, place: str) -> str:
    """Return how a difference compares with what a training seed does to the score of one training."""
    if not np.isfinite(deviation):
        return ""
    below = differences(abs(difference), deviation) < 0
    largest = 1.96 * math.sqrt(2) * deviation
    if responses.are_shares:
        largest = min(largest, 1.0)
    return (
        f" The difference is {'smaller' if below else 'not smaller'} than the standard deviation of a "
        f"training run's score over seeds: {points(deviation)} ({place}). In 95 % of cases, two training "
        f"runs that differ only in the seed differ by at most {points(largest)}."
    )
