"""Examples that belong together, as numbers and in sums, and drawing them with replacement."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from abovechance.core.arrays import Floats, Ints, floats
from abovechance.core.errors import InputError

BATCH = 2**22  # numbers that are resampled at once


def numbered(examples: int, clusters: ArrayLike | None) -> tuple[Ints, int]:
    """(examples,) the clusters as numbers from 0, and how many there are; each example one without them."""
    if clusters is None:
        return np.arange(examples), examples
    # as objects: numpy would turn a missing one among texts into the text "nan"
    codes = clusters if isinstance(clusters, np.ndarray) else np.asarray(clusters, dtype=object)
    if isinstance(codes, np.ma.MaskedArray):
        mask, codes = np.ma.getmaskarray(codes), codes.data.astype(object)
        codes[mask] = None
    if codes.shape != (examples,):
        raise InputError(
            f"clusters of the shape {codes.shape} for {examples} examples; expected one for each"
        )
    if (missing := pd.isna(codes)).any():
        raise InputError(f"the cluster of example {int(missing.argmax())} is missing; expected one for each")
    groups, names = pd.factorize(codes)
    return groups, len(names)


def clusters_of_names(names: Iterable[str], clusters: Mapping[str, Any] | pd.Series[Any]) -> Ints:
    """(examples,) the clusters of examples by their names; one without a known cluster is by itself.

    Parameters
    ----------
    names
        The names of the examples, without duplicates.
    clusters
        {example: a number or text that names its cluster}; missing ones are not known.
    """
    known_clusters = {str(name): cluster for name, cluster in clusters.items() if not pd.isna(cluster)}
    objects = [known_clusters.get(name, (place,)) for place, name in enumerate(names)]
    of_names = np.empty(len(objects), dtype=object)  # a tuple is an object, too
    of_names[:] = objects
    return pd.factorize(of_names)[0].astype(np.int64)


def cluster_sums(values: ArrayLike, clusters: ArrayLike | None) -> tuple[Floats, Floats]:
    """(..., clusters) sums of values over each cluster, and (clusters,) their sizes.

    Parameters
    ----------
    values
        (..., examples) numbers.
    """
    numeric: Floats = floats(values)
    groups, count = numbered(numeric.shape[-1], clusters)
    sizes: Floats = np.bincount(groups, minlength=count).astype(np.float64)
    if count == numeric.shape[-1]:
        order = np.argsort(groups)
        return numeric[..., order], sizes
    flat = numeric.reshape(-1, numeric.shape[-1])
    sums: Floats = np.stack([np.bincount(groups, row, count) for row in flat])
    return sums.reshape(*numeric.shape[:-1], count), sizes


def times_drawn(count: int, draws: int, generator: np.random.Generator) -> Floats:
    """(draws, count) how many times each of so many is drawn, if as many are drawn with replacement."""
    return generator.multinomial(count, np.full(count, 1 / count), draws).astype(np.float64)


def times_in_batches(count: int, draws: int, generator: np.random.Generator) -> Iterator[Floats]:
    """Yield the rows of ``times_drawn`` in parts that fit into memory."""
    batch = max(1, BATCH // count)
    for first in range(0, draws, batch):
        yield times_drawn(count, min(batch, draws - first), generator)


def of_share(examples: int, share: float) -> int:
    """A share of the examples, rounded down to whole ones: of 90, a share of 0.7 is 63, and not 62.999..."""
    return int(np.floor(examples * share + 1e-9))
