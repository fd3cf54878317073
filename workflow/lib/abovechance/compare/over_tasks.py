"""The mean over tasks of several models' scores."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from abovechance.compare.samples import Difference, Sample, of_pairs
from abovechance.compare.two_models import StudentTest
from abovechance.core.arrays import Floats, Ints
from abovechance.core.errors import InputError
from abovechance.core.estimates import Spread, satterthwaite


def together(tasks: Sequence[Sample]) -> Sample:
    """Return the mean over tasks, each counted alike, of the same models.

    What tasks share is drawn for all of them together: examples (such as those of two formulations), prompts
    and trainings. A task of right and wrong answers on which few differ, and any task on which nothing
    varies, has an estimated variance that is too small. Therefore, a variance is added on each side of the
    interval: that of the task whose interval reaches furthest beyond Student's, as a part of the mean
    (``Difference.beyond_student``). If tasks share examples, the reaches of all tasks are added. The p-value
    contains it unless the task's p-value is Student's.

    Raises
    ------
    InputError
        If there is no task, or tasks have different numbers of models or draws.
    """
    if len({task.draws.shape for task in tasks}) != 1:
        raise InputError("expected one task or more, with the same models and the same number of draws")
    models = len(tasks[0].scores)
    scores = np.mean([task.scores for task in tasks], axis=0)
    draws = np.mean([task.draws for task in tasks], axis=0)
    clusters = Shared.by_name(_cluster_names(number, task) for number, task in enumerate(tasks))
    repeats = Shared.by_name(_repeat_names(number, task) for number, task in enumerate(tasks))
    residuals, sizes = [task.residuals for task in tasks], [task.weights for task in tasks]
    sums, weights = np.zeros((models, clusters.different)), np.zeros(clusters.different)
    for task, places in zip(tasks, clusters.places, strict=True):
        sums[:, places] += task.contributions / len(tasks)
        weights[places] += task.weights / len(tasks)

    def compared(first: int, second: int) -> Difference:
        spreads = [task.difference(first, second).spread for task in tasks]
        of_clusters = [moved[first] - moved[second] for moved in residuals]
        of_repeats = [task.of_repeats(first, second) for task in tasks]
        over_examples = clusters.variance_of_mean(of_clusters, [spread.variances[-1] for spread in spreads])
        over_repeats = repeats.variance_of_mean(of_repeats, [sum(s.variances[:-1]) for s in spreads])
        if over_examples + over_repeats <= (1e-12 * np.abs(scores).max()) ** 2:  # nothing varies
            over_examples = over_repeats = 0.0
        of_examples = [(spread.variances[-1], spread.freedoms[-1]) for spread in spreads]
        spread = Spread((over_examples,), (_freedom(of_examples, clusters.are_shared),))
        if repeated := [spread for spread in spreads if len(spread.variances) > 1]:
            several = [(sum(spread.variances[:-1]), min(spread.freedoms[:-1])) for spread in repeated]
            freedoms = _freedom(several, repeats.are_shared), *spread.freedoms
            overlap = sum(spread.overlap for spread in spreads) / len(tasks) ** 2
            spread = Spread((over_repeats, over_examples), freedoms, overlap)
        value = float(scores[first] - scores[second])
        unit = max(float(np.abs(task.of_clusters(first, second)).max(initial=0.0)) for task in tasks)
        of_tasks = [task.difference(first, second) for task in tasks]
        few = np.sqrt(
            [task.beyond_student(len(weights), unit) for task, weights in zip(of_tasks, sizes, strict=True)]
        )
        # of a task with clusters, the p-value is Student's
        by_student = np.array([isinstance(task.test, StudentTest) for task in of_tasks])
        few_of_mean, few_of_p = (
            _of_mean(part, clusters.are_shared) for part in (few, np.where(by_student[:, None], 0.0, few))
        )
        tested = Difference.tested(value, spread, sums[first] - sums[second], few_of_mean, few_of_p)
        return tested._replace(limit=float(np.mean([task.difference(first, second).limit for task in tasks])))

    return Sample(scores, draws, of_pairs(compared, models), sums, weights)


def _of_mean(few: Floats, are_shared: bool) -> tuple[float, float]:
    """Return the variances that few differences add below and above a mean over tasks.

    The largest distance of a task counts. If tasks share examples, these have the same few differences on all
    of them, so the distances are added.

    Parameters
    ----------
    few
        (tasks, 2) how far each task's interval reaches beyond Student's, below and above.
    """
    below, above = ((few.sum(axis=0) if are_shared else few.max(axis=0)) / len(few)) ** 2
    return float(below), float(above)


class Shared(NamedTuple):
    """Clusters of examples, or prompts and trainings, that tasks have in common.

    Attributes
    ----------
    places
        For each task, the place of each of its clusters among those of all tasks.
    different
        Number of different ones.
    """

    places: list[Ints]
    different: int

    @classmethod
    def by_name(cls, names: Iterable[Sequence[Hashable]]) -> Shared:
        """Return those that have the same name in several tasks as one."""
        numbers: dict[Hashable, int] = {}
        places = [
            np.array([numbers.setdefault(name, len(numbers)) for name in of_task], dtype=np.int64)
            for of_task in names
        ]
        return cls(places, len(numbers))

    @property
    def are_shared(self) -> bool:
        """True if a name occurs in several tasks."""
        return self.different < sum(map(len, self.places))

    def variance_of_mean(self, parts: Sequence[Floats], variances: Sequence[float]) -> float:
        """Return the variance of a mean over tasks.

        Parameters
        ----------
        parts
            For each task, by how much each cluster moves the task's difference. Tasks are correlated as far
            as these go together in clusters that they share.
        variances
            The variance of each task's difference.
        """
        moved, beside = np.zeros(self.different), 0.0
        for part, places, variance in zip(parts, self.places, variances, strict=True):
            if square := float(part @ part):
                moved[places] += part * np.sqrt(variance / square)
            else:
                beside += variance
        return (float(moved @ moved) + beside) / len(parts) ** 2


def _places(key: int, count: int) -> list[Hashable]:
    """Return names that only tasks with this key have."""
    return [(key, place) for place in range(count)]


def _cluster_names(number: int, task: Sample) -> Sequence[Hashable]:
    return task.names or _places(task.examples or -number, len(task.weights))


def _repeat_names(number: int, task: Sample) -> Sequence[Hashable]:
    """Return the names of what ``Sample.of_repeats`` has: prompts, or the trainings of two models."""
    count = 0 if task.repeats is None else task.repeats.shape[1]
    if task.trainings:  # tasks share them, model by model
        return [("training", model, name) for model in range(2) for name in task.repeat_names]
    return task.repeat_names[:count] or _places(-number, count)


def _freedom(of_tasks: Sequence[tuple[float, float]], is_shared: bool) -> float:
    """Return the degrees of freedom of a variance of a mean over tasks.

    Parameters
    ----------
    of_tasks
        The variance of each task with its degrees of freedom.
    is_shared
        True if tasks have the same examples, prompts or trainings, so that together they have as many degrees
        of freedom as one.
    """
    freedoms = [max(freedom, 1e-9) for _, freedom in of_tasks]
    total = satterthwaite([variance for variance, _ in of_tasks], freedoms)
    return min(freedoms) if is_shared or not total else total
