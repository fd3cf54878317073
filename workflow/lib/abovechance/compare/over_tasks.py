"""The mean over tasks of several models' scores."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from abovechance.compare.samples import Difference, Sample, of_pairs
from abovechance.core.arrays import Floats, Ints
from abovechance.core.estimates import Spread, satterthwaite


def together(tasks: Sequence[Sample]) -> Sample:
    """Return the mean over tasks, each counted alike, of the same models.

    Tasks that are drawn alike, such as formulations on the same examples, count as belonging together. A task
    of right and wrong answers on which few differ, and any task on which nothing varies, has an estimated
    variance that is too small. Therefore, each end of the interval is moved by the largest distance, of any
    such task, between Student's interval and the score interval.
    """
    models = len(tasks[0].scores)
    scores = np.mean([task.scores for task in tasks], axis=0)
    draws = np.mean([task.draws for task in tasks], axis=0)
    contributions, weights, across = _by_cluster(tasks)
    shared_examples = len(weights) < sum(len(task.weights) for task in tasks)
    trainings = any(task.trainings for task in tasks)

    def compared(first: int, two: int) -> Difference:
        spreads = [task.difference(first, two).spread for task in tasks]
        squares = [spread.standard_error**2 for spread in spreads]
        # how tasks vary together is known from their draws; how much each varies, from its spread
        drawn_variance = sum(float((task.draws[:, first] - task.draws[:, two]).var(ddof=1)) for task in tasks)
        variance = float((draws[:, first] - draws[:, two]).var(ddof=1))
        variance *= sum(squares) / drawn_variance if drawn_variance else 1.0
        variance += max(float(across[first, first] + across[two, two] - 2 * across[first, two]), 0.0)
        if variance <= (1e-12 * np.abs(scores).max()) ** 2:  # nothing varies
            variance = 0.0
        spread = _spread_over_tasks(spreads, variance, shared_examples, trainings)
        value = float(scores[first] - scores[two])
        unit = max(float(np.abs(task.of_clusters(first, two)).max(initial=0.0)) for task in tasks)
        few = np.sqrt([task.difference(first, two).beyond_student(len(task.weights), unit) for task in tasks])
        # of tasks together it is as many differences as of one, unless the same examples have them
        below, above = ((few.sum(axis=0) if shared_examples else few.max(axis=0)) / len(tasks)) ** 2
        parts = contributions[first] - contributions[two]
        return Difference.tested(value, spread, parts, (float(below), float(above)))

    return Sample(scores, draws, of_pairs(compared, models), contributions, weights)


def _by_cluster(tasks: Sequence[Sample]) -> tuple[Floats, Floats, Floats]:
    """Return what each cluster adds to the mean over tasks.

    Returns
    -------
    contributions, weights
        (models, clusters) and (clusters,), as in ``Sample``; a cluster of several tasks is one.
    across
        (models, models) the covariances of the mean over tasks that come from clusters which tasks share that
        are drawn apart, because they have other clusters, too.
    """
    by_examples: dict[int, Floats] = {}
    places: dict[int, Ints] = {}
    numbers: dict[Hashable, int] = {}
    for number, task in enumerate(tasks):
        share = np.concatenate([task.contributions, task.weights[None]]) / len(tasks)
        key = task.examples or -number
        by_examples[key] = by_examples.get(key, np.zeros_like(share)) + share
        names = task.names or [(key, place) for place in range(share.shape[1])]
        places[key] = np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=np.int64)
    models = len(tasks[0].scores)
    sums, residuals = np.zeros((models + 1, len(numbers))), np.zeros((models, len(numbers)))
    alone = np.zeros((models, models))
    for key, part in by_examples.items():
        moved = part[:-1] - part[-1] * (part[:-1].sum(axis=1) / part[-1].sum())[:, None]
        sums[:, places[key]] += part
        residuals[:, places[key]] += moved
        alone += moved @ moved.T
    return sums[:-1], sums[-1], residuals @ residuals.T - alone


def _spread_over_tasks(
    spreads: Sequence[Spread], variance: float, shared_examples: bool, trainings: bool
) -> Spread:
    """Return the variance of a mean over tasks, with the degrees of freedom of what varies.

    Parameters
    ----------
    spreads
        The variances of the tasks: the last one is over examples, the first of two over trainings or prompts.
    variance
        The variance of the mean.
    shared_examples
        True if tasks have the same examples, so that together they have as many degrees of freedom as one.
    trainings
        True if tasks have the same trainings.
    """

    def freedom(place: int, shared: bool) -> float:
        informative = [spread for spread in spreads if place < 0 or len(spread.variances) > 1]
        freedoms = [max(spread.freedoms[place], 1e-9) for spread in informative]
        total = satterthwaite([spread.variances[place] for spread in informative], freedoms)
        return min(freedoms) if shared or not total else total

    over_examples = min(sum(spread.variances[-1] for spread in spreads) / len(spreads) ** 2, variance)
    if all(len(spread.variances) == 1 for spread in spreads):
        return Spread((variance,), (freedom(-1, shared_examples),))
    return Spread(
        (variance - over_examples, over_examples),
        (freedom(0, shared_examples or trainings), freedom(-1, shared_examples)),
    )
