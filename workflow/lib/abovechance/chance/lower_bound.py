"""How good the best prompt is at least, its selection accounted for.

The best of many accuracies is too high an estimate of what the prompt would reach on other examples: it
was chosen for its luck, too. Simultaneous bounds hold for all prompts at once, so for the chosen one:
with q the quantile of max over prompts of (accuracy in a resample - accuracy), all true accuracies are at
least accuracy - q with the wanted confidence (max-type bootstrap). Whole clusters of examples are resampled.
"""

from __future__ import annotations

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
    generator, clusters = np.random.default_rng(seed), right.shape[1]
    if clusters < LEAST_CLUSTERS:
        return np.full(len(accuracy), np.nan)
    greatest = []
    for begin in range(0, resamples, CHUNK):
        number = min(CHUNK, resamples - begin)
        times = generator.multinomial(clusters, np.full(clusters, 1 / clusters), number).astype(np.float64)
        sizes = times @ size.T
        # a prompt without an example in a resample says nothing there
        resampled = np.divide(times @ right.T, sizes, out=np.tile(accuracy, (number, 1)), where=sizes > 0)
        greatest.append((resampled - accuracy).max(axis=1))
    excess = np.quantile(np.concatenate(greatest), confidence, method="higher")
    found: Floats = np.maximum(accuracy - excess, 0.0)
    return found
