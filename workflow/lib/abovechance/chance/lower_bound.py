"""A lower confidence bound of the best prompt's accuracy, corrected for its selection.

The best of many accuracies is too high an estimate of what the prompt would reach on other examples, because
it was chosen for its luck, too. Simultaneous bounds hold for all prompts at once, so for the chosen one. Each
prompt's bound is an exact binomial one (Clopper and Pearson, 1934) for as many independent examples as have
the prompt's standard error, at a tail probability that is the same for all prompts: the quantile, over
resamples of whole clusters of examples, of the smallest tail probability of any prompt.

With few clusters, such a bound is too high for two reasons, and two corrections are made. Standard errors are
estimated from few clusters, so the tail probability becomes that of Student's t instead of the normal
distribution (Korn and Graubard, 1998). And the prompt that is best by luck has a small estimate of its
variance by the same luck. So the design effect (Kish, 1965), the factor by which clusters make the variance
larger than that of independent examples, is estimated with one more cluster that is all correct and one that
is all wrong, and a prompt's is at least the mean of all prompts'.
"""

from __future__ import annotations

import numpy as np

from abovechance.core.arrays import Bools, Floats, Ints
from abovechance.core.estimates import clustered_variance
from abovechance.core.resampling import times_drawn_in_parts

LEAST_CLUSTERS = 10
FEW = 10  # wrong answers


def lower_bounds(
    correct: Bools,
    evaluated: Bools,
    cluster: Ints | None = None,
    confidence: float = 0.95,
    resamples: int = 10_000,
    seed: int | list[int] = 0,
) -> Floats:
    """(prompts,) bounds below all true accuracies together, with this confidence, in [0, 1].

    The true accuracy is that on examples (or clusters) of which these are a random sample. There is no bound
    (nan) if the clusters have fewer degrees of freedom than ``LEAST_CLUSTERS`` clusters of equal size.
    docs/method.md shows the simulated coverage.

    Parameters
    ----------
    correct, evaluated
        (prompts, examples) whether a prompt gets an example right, and is evaluated on it.
    cluster
        (examples,) the same number for examples that belong together; each by itself unless given.
    confidence
        In (0, 1).

    Raises
    ------
    ValueError
        If the confidence is outside (0, 1), or a prompt is evaluated on no example.
    """
    if not 0 < confidence < 1:
        raise ValueError(f"confidence is {confidence}: it must be between 0 and 1, and neither")
    if not evaluated.any(axis=1).all():
        raise ValueError("evaluated has a prompt without examples, whose accuracy is not defined")
    names = np.arange(correct.shape[1]) if cluster is None else np.unique(cluster, return_inverse=True)[1]
    of_cluster = (names[:, None] == np.arange(names.max() + 1)).astype(np.float64)
    correct_counts, size = (correct & evaluated) @ of_cluster, evaluated @ of_cluster
    accuracy = correct_counts.sum(axis=1) / size.sum(axis=1)
    # if the examples of a cluster are answered alike, which is the worst case for unequal sizes
    sizes = evaluated.any(axis=0) @ of_cluster
    _, degrees = clustered_variance(np.zeros(len(sizes)), sizes, correlation=1.0)
    if degrees < LEAST_CLUSTERS - 1 - 1e-9:
        return np.full(len(accuracy), np.nan)
    # as many independent examples as have this error, between the numbers of clusters and of examples
    examples, clusters = size.sum(axis=1), (size > 0).sum(axis=1)
    worth = np.clip(examples / _design_effect(correct_counts, size), np.minimum(clusters, examples), examples)
    tail = _smallest_tails(correct_counts, size, worth, resamples, np.random.default_rng(seed))
    level = min(float(np.quantile(tail, 1 - confidence, method="lower")), 1 - confidence)
    # resamples of few wrong answers do not show how prompts depend on each other (Bonferroni)
    few = worth * (1 - accuracy) < FEW
    levels = np.where(few, min(level, (1 - confidence) / len(accuracy)), level)
    own_degrees = np.clip(clusters - 1, 1, degrees)
    return _binomial_bound(accuracy, worth, _student_tail(levels, own_degrees))


def _design_effect(correct_counts: Floats, size: Floats) -> Floats:
    """(prompts,) how many times larger a prompt's variance is than that of as many independent examples."""
    examples, clusters = size.sum(axis=1), (size > 0).sum(axis=1)
    added = np.sqrt((size**2).sum(axis=1) / clusters)  # the size of a cluster all right and of one all wrong
    shrunk = (correct_counts.sum(axis=1) + added) / (examples + 2 * added)
    squares = ((correct_counts - shrunk[:, None] * size) ** 2).sum(axis=1)
    squares += added**2 * ((1 - shrunk) ** 2 + shrunk**2)
    independent = shrunk * (1 - shrunk) * (examples + 2 * added)
    effect = squares / independent * (clusters + 2) / (clusters + 1)
    mean = (effect * independent).sum() / independent.sum()
    return np.asarray(np.maximum(effect, mean))


def _smallest_tails(
    correct_counts: Floats, size: Floats, worth: Floats, resamples: int, generator: np.random.Generator
) -> Floats:
    """(resamples,) the smallest binomial tail probability of any prompt's accuracy in a resample."""
    from scipy.special import betainc  # slow to import

    accuracy = correct_counts.sum(axis=1) / size.sum(axis=1)
    share = np.linspace(0, 1, GRID)
    correct = share * worth[:, None]
    # of so many correct examples or more: nothing is less likely than none
    tails = betainc(np.maximum(correct, 1e-9), worth[:, None] - correct + 1, accuracy[:, None])
    logs = np.log(np.maximum(tails, 1e-300))
    tails_of_prompts = []
    for times in times_drawn_in_parts(correct_counts.shape[1], resamples, generator):
        sizes = times @ size.T
        # a prompt without an example in a resample says nothing there
        resampled = np.divide(times @ correct_counts.T, sizes, out=np.zeros_like(sizes), where=sizes > 0)
        smallest = np.zeros(len(times))
        for prompt in np.flatnonzero((accuracy > 0) & (accuracy < 1)):
            np.minimum(smallest, np.interp(resampled[:, prompt], share, logs[prompt]), out=smallest)
        tails_of_prompts.append(smallest)
    return np.exp(np.concatenate(tails_of_prompts))


GRID = 513  # accuracies for which tails are computed


def _student_tail(levels: Floats, degrees: Floats) -> Floats:
    """Return the normal tail probabilities at the quantiles of Student's t with these tail probabilities."""
    from scipy.special import ndtr, stdtrit  # slow to import

    return ndtr(stdtrit(degrees, levels))


def _binomial_bound(accuracy: Floats, examples: Floats, levels: Floats) -> Floats:
    """Return the lower limits of proportions of so many independent examples (Clopper and Pearson, 1934)."""
    from scipy.special import betaincinv

    correct = accuracy * examples
    bounds: Floats = betaincinv(np.maximum(correct, 1e-9), examples - correct + 1, levels)
    return np.where(correct > 0, bounds, 0.0)
