"""How good the best prompt is at least, its selection accounted for.

The best of many accuracies is too high an estimate of what the prompt would reach on other examples: it
was chosen for its luck, too. Simultaneous bounds hold for all prompts at once, so for the chosen one. With z
the quantile of the greatest, over prompts, of (accuracy in a resample - accuracy) / standard error, each
prompt's bound is Wilson's (1927) for this z, which stays below 1 where a prompt is right in all examples.
Whole clusters of examples are resampled, and count as as many examples as their errors are worth.
"""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from abovechance.core.arrays import Bools, Floats, Ints

CHUNK = 1000  # resamples at a time
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

    The true accuracy is that on examples (or clusters) of which these are a random sample. As with any
    bootstrap, of few examples (say, below 30) bounds are too high a little more often than they should be;
    with fewer than ``LEAST_CLUSTERS`` clusters they say nothing, and are nan.

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
    # as many independent examples as have this error, between the numbers of clusters and of examples
    examples = size.sum(axis=1)
    shrunk = (right.sum(axis=1) + 2) / (examples + 4)
    with np.errstate(divide="ignore"):
        worth = np.where(varies, shrunk * (1 - shrunk) / error**2, 0.0)
    return _wilson(accuracy, np.clip(worth, np.minimum((size > 0).sum(axis=1), examples), examples), z)


def _excess(
    right: Floats, size: Floats, accuracy: Floats, resamples: int, generator: np.random.Generator
) -> Floats:
    """(resamples, prompts) how much higher accuracies are where clusters are drawn with repetition."""
    clusters, found = right.shape[1], []
    for begin in range(0, resamples, CHUNK):
        number = min(CHUNK, resamples - begin)
        times = generator.multinomial(clusters, np.full(clusters, 1 / clusters), number).astype(np.float64)
        sizes = times @ size.T
        # a prompt without an example in a resample says nothing there
        resampled = np.divide(times @ right.T, sizes, out=np.tile(accuracy, (number, 1)), where=sizes > 0)
        found.append(resampled - accuracy)
    return np.concatenate(found)


def _wilson(accuracy: Floats, examples: Floats, z: float) -> Floats:
    """Wilson's lower limit of proportions of so many examples, z standard errors down."""
    spread = z * np.sqrt(accuracy * (1 - accuracy) / examples + z**2 / (4 * examples**2))
    found: Floats = np.maximum((accuracy + z**2 / (2 * examples) - spread) / (1 + z**2 / examples), 0.0)
    return found
