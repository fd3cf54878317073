"""How good the best prompt is at least, its selection accounted for.

The best of many accuracies is too high an estimate of what the prompt would reach on other examples: it
was chosen for its luck, too. Simultaneous bounds hold for all prompts at once, so for the chosen one. With z
the quantile of the greatest, over prompts, of (accuracy in a resample - accuracy) / standard error, each
prompt's bound is Wilson's (1927), which stays below 1 if a prompt is right in all examples. Whole clusters of
examples are resampled.

With few clusters, such a bound is too high for two reasons, and two corrections are made. Standard errors are
estimated from few clusters, so z becomes the quantile of Student's t with the same tail probability. And the
prompt that is best by luck has a small estimate of its variance by the same luck. So the design effect (Kish,
1965), by which clusters make the variance larger than that of independent examples, is estimated with one
more cluster that is all right and one that is all wrong, and a prompt's is at least the mean of all prompts'.
"""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from abovechance.core.arrays import Bools, Floats, Ints
from abovechance.core.resampling import times_drawn_in_parts

LEAST_CLUSTERS = 10


def lower_bounds(
    correct: Bools,
    evaluated: Bools,
    cluster: Ints | None = None,
    confidence: float = 0.95,
    resamples: int = 10_000,
    seed: int | list[int] = 0,
) -> Floats:
    """(prompts,) bounds below all true accuracies together, with this confidence, in [0, 1].

    The true accuracy is that on examples (or clusters) of which these are a random sample. With fewer than
    ``LEAST_CLUSTERS`` clusters there is no bound (nan). docs/method.md shows the simulated coverage.

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
    right, size = (correct & evaluated) @ of_cluster, evaluated @ of_cluster
    accuracy = right.sum(axis=1) / size.sum(axis=1)
    clusters = right.shape[1]
    if clusters < LEAST_CLUSTERS:
        return np.full(len(accuracy), np.nan)
    excess = _excess(right, size, accuracy, resamples, np.random.default_rng(seed))
    error = excess.std(axis=0)
    varies = error > 0
    greatest = (excess[:, varies] / error[varies]).max(axis=1) if varies.any() else np.zeros(1)
    z = max(float(np.quantile(greatest, confidence, method="higher")), NormalDist().inv_cdf(confidence))
    evaluated_clusters = (size > 0).sum(axis=1)
    # as many independent examples as have this error, between the numbers of clusters and of examples
    examples = size.sum(axis=1)
    worth = np.clip(
        examples / _design_effect(right, size), np.minimum(evaluated_clusters, examples), examples
    )
    return _wilson(accuracy, worth, _t_quantile(z, np.maximum(evaluated_clusters - 1, 1)))


def _design_effect(right: Floats, size: Floats) -> Floats:
    """(prompts,) how many times larger a prompt's variance is than that of as many independent examples."""
    examples, clusters = size.sum(axis=1), (size > 0).sum(axis=1)
    added = np.sqrt((size**2).sum(axis=1) / clusters)  # the size of a cluster all right and of one all wrong
    shrunk = (right.sum(axis=1) + added) / (examples + 2 * added)
    squares = ((right - shrunk[:, None] * size) ** 2).sum(axis=1)
    squares += added**2 * ((1 - shrunk) ** 2 + shrunk**2)
    independent = shrunk * (1 - shrunk) * (examples + 2 * added)
    effect = squares / independent * (clusters + 2) / (clusters + 1)
    mean = (effect * independent).sum() / independent.sum()
    return np.asarray(np.maximum(effect, mean))


def _t_quantile(z: float, degrees: Ints) -> Floats:
    """(prompts,) the quantile of Student's t with the tail probability of a normal quantile z."""
    from scipy.stats import norm, t  # slow to import

    found: Floats = t.isf(norm.sf(z), degrees)
    return found


def _excess(
    right: Floats, size: Floats, accuracy: Floats, resamples: int, generator: np.random.Generator
) -> Floats:
    """(resamples, prompts) how much higher accuracies are where clusters are drawn with repetition."""
    found = []
    for times in times_drawn_in_parts(right.shape[1], resamples, generator):
        sizes = times @ size.T
        # a prompt without an example in a resample says nothing there
        resampled = np.divide(times @ right.T, sizes, out=np.tile(accuracy, (len(times), 1)), where=sizes > 0)
        found.append(resampled - accuracy)
    return np.concatenate(found)


def _wilson(accuracy: Floats, examples: Floats, z: Floats) -> Floats:
    """Wilson's lower limit of proportions of so many examples, z standard errors down."""
    spread = z * np.sqrt(accuracy * (1 - accuracy) / examples + z**2 / (4 * examples**2))
    found: Floats = np.maximum((accuracy + z**2 / (2 * examples) - spread) / (1 + z**2 / examples), 0.0)
    return found
