"""What smaller benchmarks cost: estimates from a few examples beside the scores on all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from abovechance.core.arrays import Floats, Ints
from abovechance.core.errors import InputError
from abovechance.item_analysis import anchors, estimates
from abovechance.item_analysis.classical import checked
from abovechance.item_analysis.response_theory import Items, fit
from abovechance.item_analysis.series_rows import SeriesRows, mean_of_known

REPEATS = 20
SIZES = (10, 25, 50, 100)
BEST, FEWEST = 0.2, 3  # of the rows, that are "the best", and how many at least
# of each number of examples
COSTS = [
    *("method", "examples", "error", "bias", "standard_error"),
    *("tau", "flips", "flips_best", "seed_deviation", "monotonicity"),
]
ALL = "all examples"


def flips(full: ArrayLike, estimated: ArrayLike) -> float:
    """The share of pairs of rows whose order is turned round; of those that differ on all items.

    Pairs that the estimate finds equal count half; rows without one do not count. 1 - 2 times it is Kendall's
    tau where nothing is tied.

    Returns
    -------
    float
        In [0, 1]; missing where all rows have the same score.
    """
    one, other = np.asarray(full, dtype=float), np.asarray(estimated, dtype=float)
    there = np.isfinite(one) & np.isfinite(other)
    one, other = one[there], other[there]
    first, second = np.triu_indices(len(one), 1)
    order = np.sign(_rounded(one[first] - one[second]))
    found = np.sign(_rounded(other[first] - other[second]))
    differ = order != 0
    return float((1 - order * found)[differ].mean() / 2) if differ.any() else np.nan


def _rounded(difference: Floats) -> Floats:
    """Sums of the same numbers in another order differ by rounding."""
    return np.where(np.abs(difference) < 1e-12, 0.0, difference)


def costs(
    train: ArrayLike,
    test: ArrayLike,
    sizes: Sequence[int] = SIZES,
    repeats: int = REPEATS,
    seed: int = 0,
    rows: SeriesRows | None = None,
) -> pd.DataFrame:
    """What held-out rows' scores and order lose where they are evaluated on few examples.

    Which examples, and the models of how they go with abilities, come from other rows, as for a model that is
    new. Methods: ``random`` and ``stratified`` subsets; the weighted mean of anchors by ``correlation``, by
    ``responses`` and by the parameters of the two-parameter model (``IRT``); and with the same anchors the
    estimates ``p-IRT`` and ``gp-IRT`` (``estimates``), where scores are 0 and 1.

    Parameters
    ----------
    train, test
        (rows, items) responses of the same items.
    sizes
        Numbers of examples that are kept; those that are fewer than all of them.
    repeats
        How many times each is chosen, with other seeds.
    rows
        What the rows of ``test`` are, where they are seeds and checkpoints of trainings.

    Returns
    -------
    DataFrame
        One row for each method and size, and one for all examples: mean over repeats of the mean absolute
        ``error`` of a row's score and of its ``bias``; the ``standard_error``, the standard deviation of a
        row's estimate over repeats, mean over rows; Kendall's ``tau``-b with the order by all examples;
        ``flips`` of pairs, and of pairs among the best fifth; the standard deviation over seeds, and
        ``monotonicity`` over checkpoints, which have to be held against those of all examples.
    """
    one, other = checked(train), checked(test, every_item=False)
    if one.shape[1] != other.shape[1]:
        raise InputError(
            f"{one.shape[1]} items in train and {other.shape[1]} in test; right would be the same items"
        )
    full = np.nanmean(other, axis=1)
    best = np.argsort(-full, kind="stable")[: round(len(full) * BEST)]
    if len(best) < FEWEST:
        best = best[:0]  # of two, there is one pair
    found = [_row(ALL, one.shape[1], full, np.array([full, full]), best, rows)]
    model = _model(one)
    for size in sorted({int(size) for size in sizes if 0 < size < one.shape[1]}):
        drawn: dict[str, list[Floats]] = {}
        for repeat in range(repeats):
            for method, estimate in _estimates(one, other, model, size, seed + repeat):
                drawn.setdefault(method, []).append(estimate)
        found += [_row(method, size, full, np.array(own), best, rows) for method, own in drawn.items()]
    return pd.DataFrame(found, columns=COSTS)


class _Model(NamedTuple):
    """What is fitted to other rows, and how far off it is."""

    items: Items
    error: float
    variance: float


def _model(train: Floats) -> _Model | None:
    """The fitted model; none where scores are others than 0 and 1."""
    given = train[np.isfinite(train)]
    if not np.isin(given, (0, 1)).all():
        return None
    error = estimates.model_error(train)
    return _Model(fit(train), error, float(np.nanvar(train, axis=1).mean()))


def _estimates(
    train: Floats, test: Floats, model: _Model | None, size: int, seed: int
) -> Iterator[tuple[str, Floats]]:
    """Each method with its estimates of the scores of the rows of test."""
    for name, chosen in anchors.OF_RESPONSES.items():
        yield name, estimates.weighted(chosen(train, size, seed), test)
    if model is None:
        return
    own = anchors.by_parameters(model.items, size, seed)
    simple = estimates.weighted(own, test)
    expected = estimates.p_irt(model.items, own, test)
    yield "IRT", simple
    yield "p-IRT", expected
    if np.isfinite(model.error):
        share = estimates.share_of_weighted(model.error, model.variance, size)
        yield "gp-IRT", estimates.gp_irt(simple, expected, share)


def _row(
    method: str, size: int, full: Floats, estimated: Floats, best: Ints, rows: SeriesRows | None
) -> dict[str, object]:
    """One row of the table, of (repeats, rows) estimates."""
    away = estimated - full
    several = estimated[:, np.isfinite(estimated).sum(axis=0) > 1]
    of_series = [] if rows is None else [(rows, one) for one in estimated]
    return {
        "method": method,
        "examples": size,
        "error": float(np.nanmean(np.abs(away))),
        "bias": float(np.nanmean(away)),
        "standard_error": float(np.nanstd(several, axis=0, ddof=1).mean()) if several.size else np.nan,
        "tau": mean_of_known(_tau(full, one) for one in estimated),
        "flips": mean_of_known(flips(full, one) for one in estimated),
        "flips_best": mean_of_known(flips(full[best], one[best]) for one in estimated),
        "seed_deviation": mean_of_known(of.deviation(one) for of, one in of_series),
        "monotonicity": mean_of_known(of.monotonicity(one) for of, one in of_series),
    }


def _tau(full: Floats, estimated: Floats) -> float:
    there = np.isfinite(estimated)
    return float(stats.kendalltau(full[there], estimated[there], variant="b").statistic)
