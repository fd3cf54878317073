"""Which examples a smaller benchmark keeps, and how much each counts (Polo et al., 2024, tinyBenchmarks)."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from abovechance.core.arrays import Floats, Ints
from abovechance.core.errors import InputError
from abovechance.items.classical import checked
from abovechance.items.response_theory import Items


class Anchors(NamedTuple):
    """The items of a smaller benchmark.

    Attributes
    ----------
    places
        (anchors,) which items, ascending.
    weights
        (anchors,) the share of all items that each stands for; they add up to 1.
    """

    places: Ints
    weights: Floats


def at_random(matrix: ArrayLike, size: int, seed: int = 0) -> Anchors:
    """Items drawn at random, which count alike."""
    items = _items(matrix, size)
    chosen = np.random.default_rng(seed).permutation(items)[:size]
    return Anchors(np.sort(chosen), np.full(size, 1 / size))


def stratified(matrix: ArrayLike, size: int, seed: int = 0) -> Anchors:
    """One item at random of each of ``size`` layers of like difficulty, which counts for its layer."""
    numeric = checked(matrix)
    items = _items(numeric, size)
    generator = np.random.default_rng(seed)
    # items of one difficulty stand in another order each time
    order = generator.permutation(items)
    order = order[np.argsort(np.nanmean(numeric, axis=0)[order], kind="stable")]
    layers = np.array_split(order, size)
    chosen = np.array([generator.choice(layer) for layer in layers])
    return _sorted(chosen, np.array([len(layer) / items for layer in layers]))


def by_responses(matrix: ArrayLike, size: int, seed: int = 0) -> Anchors:
    """Return the items in the middle of clusters that the same rows have right."""
    numeric = checked(matrix)
    _items(numeric, size)
    return _clustered(_filled(numeric).T, size, seed)


def by_correlation(matrix: ArrayLike, size: int, seed: int = 0) -> Anchors:
    """Return the items in the middle of clusters that correlate over rows, however hard they are.

    The squared distance of standardized scores is 2 (1 - r); constant items are together.
    """
    filled = _filled(checked(matrix))
    _items(filled, size)
    deviation = filled.std(axis=0)
    varied = deviation > 1e-12
    standard = np.where(varied, (filled - filled.mean(axis=0)) / np.where(varied, deviation, 1), 0.0)
    return _clustered(standard.T, size, seed)


def by_parameters(items: Items, size: int, seed: int = 0) -> Anchors:
    """The items in the middle of clusters of like discrimination and difficulty, (a, b) of a fitted model."""
    points = np.column_stack([items.discrimination, items.difficulty])
    _items(points.T, size)
    return _clustered(points, size, seed)


# {name: how items are kept of a matrix}; by_parameters needs a fitted model in its place
OF_RESPONSES: dict[str, Callable[[ArrayLike, int, int], Anchors]] = {
    "random": at_random,
    "stratified": stratified,
    "responses": by_responses,
    "correlation": by_correlation,
}


def _items(matrix: ArrayLike, size: int) -> int:
    """Return how many items there are, of which ``size`` shall be kept."""
    items = np.shape(matrix)[1]
    if not 1 <= size <= items:
        raise InputError(f"{size} of {items} items; expected between 1 and {items}")
    return int(items)


def _filled(numeric: Floats) -> Floats:
    """Responses with the item's mean where a row lacks it."""
    return np.where(np.isfinite(numeric), numeric, np.nanmean(numeric, axis=0))


def _clustered(points: Floats, size: int, seed: int) -> Anchors:
    """Return the point next to the centre of each cluster of k-means, with the cluster's share of points.

    Where there are fewer different points than clusters, that many anchors.
    """
    from sklearn.cluster import KMeans  # slow to import
    from sklearn.exceptions import ConvergenceWarning

    count = min(size, len(np.unique(points, axis=0)))
    with warnings.catch_warnings():
        # points that differ by rounding alone leave clusters empty, of which it warns
        warnings.simplefilter("ignore", ConvergenceWarning)
        clustering = KMeans(n_clusters=count, n_init=1, random_state=seed % 2**32).fit(points)
    clusters, sizes = np.unique(clustering.labels_, return_counts=True)
    # of its own cluster, so that no item stands for two
    outside = clustering.labels_[:, None] != clusters
    chosen = np.where(outside, np.inf, clustering.transform(points)[:, clusters]).argmin(axis=0)
    return _sorted(chosen, sizes / len(points))


def _sorted(places: Ints, weights: Floats) -> Anchors:
    order = np.argsort(places)
    return Anchors(places[order], weights[order])
