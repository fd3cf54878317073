"""The cost of smaller benchmarks: estimates from a few examples compared with scores on all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from abovechance.core.arrays import Floats, Ints, check_same_order, example_labels, floats
from abovechance.core.columns import Column
from abovechance.core.errors import InputError
from abovechance.items import anchors, estimates
from abovechance.items.classical import checked
from abovechance.items.response_theory import Items, fit
from abovechance.items.series_rows import SeriesRows, mean_of_known
from abovechance.items.splits import rest_and_best

REPEATS = 20
SIZES = (10, 25, 50, 100)
BEST, FEWEST = 0.2, 3  # of the rows, that are "the best", and how many at least
# of each number of examples
COSTS = {
    "method": Column.text("method for choosing examples and estimating scores"),
    "examples": Column.number("number of examples"),
    "error": Column.number("mean absolute error of the held-out rows' estimated scores"),
    "bias": Column.number(
        "mean error of the held-out rows' estimated scores (estimate minus score on all examples)"
    ),
    "standard_error": Column.number(
        "standard deviation of a row's estimated score over repeated choices of examples, averaged over rows"
    ),
    "tau": Column.number(
        "Kendall's tau-b between the held-out rows' estimated scores and their scores on all examples"
    ),
    "flips": Column.share(
        "share of pairs of held-out rows whose estimated scores are in the wrong order; ties count half"
    ),
    "flips_within": Column.share("'flips' for pairs of held-out rows from one model"),
    "flips_best": Column.share("'flips' for pairs of rows from the best fifth of the held-out rows"),
    "seed_deviation": Column.number(
        "standard deviation of the estimated score over training seeds; missing if only one seed is held "
        "out at a time"
    ),
    "monotonicity": Column.number("monotonicity of the estimated scores over training checkpoints"),
}
ALL = "all examples"


def flipped_pairs(full: ArrayLike, estimated: ArrayLike) -> float:
    """Return the share of pairs of rows whose order is turned round; of those that differ on all items.

    Pairs that the estimate finds equal count half; rows without one do not count. 1 - 2 times it is Kendall's
    tau where nothing is tied.

    Returns
    -------
    float
        In [0, 1]; missing where all rows have the same score.

    Raises
    ------
    InputError
        If there are not as many estimates as scores.
    """
    check_same_order(full, estimated)
    full_scores, estimates = floats(full), floats(estimated)
    if full_scores.ndim != 1 or full_scores.shape != estimates.shape:
        raise InputError(
            f"scores {full_scores.shape} and estimates {estimates.shape}; expected one for each row"
        )
    first, second = np.triu_indices(len(full_scores), 1)
    return _turned(_signs(full_scores, first, second), _signs(estimates, first, second))


def _signs(scores: Floats, first: Ints, second: Ints) -> Floats:
    """(pairs,) -1, 0 or 1, the order of two rows; nan where one has no score.

    Sums of the same numbers in another order differ by rounding.
    """
    difference = scores[first] - scores[second]
    size = float(np.nanmax(np.abs(scores))) if np.isfinite(scores).any() else 0.0
    return np.where(np.abs(difference) <= 1e-12 * size, 0.0, np.sign(difference))


def _turned(order: Floats, estimates: Floats) -> float:
    """The share of pairs that differ whose order is turned round, half of those that are found equal."""
    differ = (order != 0) & np.isfinite(order * estimates)
    return float((1 - (order * estimates)[differ]).mean() / 2) if differ.any() else np.nan


def _tau(order: Floats, estimates: Floats) -> float:
    """Kendall's tau-b."""
    mask = np.isfinite(order * estimates)
    size = np.sqrt(float(np.count_nonzero(order[mask])) * np.count_nonzero(estimates[mask]))
    return float((order * estimates)[mask].sum() / size) if size else np.nan


class _Pairs:
    """All pairs of held-out rows: what becomes of their order."""

    def __init__(self, full: Floats, models: Sequence[str] | None) -> None:
        best = np.zeros(len(full), dtype=bool)
        best[rest_and_best(full, round(len(full) * BEST))[1]] = True
        if best.sum() < FEWEST:
            best[:] = False  # of two, there is one pair
        self._places = first, second = np.triu_indices(len(full), 1)
        self._order = _signs(full, first, second)
        rows = np.arange(len(full)) if models is None else np.asarray(models)
        self._parts = {
            "flips": np.ones(len(first), dtype=bool),
            "flips_within": rows[first] == rows[second],
            "flips_best": best[first] & best[second],
        }

    def measures(self, estimates: Floats) -> dict[str, float]:
        """Kendall's tau and flips, means over (repeats, rows) estimates."""
        signs = [_signs(estimate, *self._places) for estimate in estimates]
        taus = {"tau": mean_of_known(_tau(self._order, estimate) for estimate in signs)}
        return taus | {
            name: mean_of_known(_turned(self._order[part], estimate[part]) for estimate in signs)
            for name, part in self._parts.items()
        }


def costs(
    train: ArrayLike,
    test: ArrayLike,
    sizes: Sequence[int] = SIZES,
    repeats: int = REPEATS,
    seed: int = 0,
    rows: SeriesRows | None = None,
    models: Sequence[str] | None = None,
) -> pd.DataFrame:
    """Return the errors in scores and order of held-out rows that are evaluated on few examples.

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
        Number of times that each is chosen, with other seeds.
    rows
        Seeds and checkpoints of the rows of ``test``, if these are of trainings.
    models
        (rows of test,) of which model each is.

    Returns
    -------
    DataFrame
        One row per method and size, and one for all examples; see ``of_task.SMALLER``. The standard deviation
        over seeds and the monotonicity are to be compared with those of all examples.
    """
    check_same_order(example_labels(train), example_labels(test))
    train_scores, test_scores = checked(train), checked(test, every_item=False)
    if train_scores.shape[1] != test_scores.shape[1]:
        raise InputError(
            f"{train_scores.shape[1]} items in train and {test_scores.shape[1]} in test; "
            "expected the same items"
        )
    if models is not None and len(models) != len(test_scores):
        raise InputError(f"{len(models)} models of {len(test_scores)} rows; expected one for each")
    full = np.nanmean(test_scores, axis=1)
    pairs = _Pairs(full, models)
    rows_of_costs = [_row(ALL, train_scores.shape[1], full, np.array([full, full]), pairs, rows)]
    model = _model(train_scores)
    for size in sorted({int(size) for size in sizes if 0 < size < train_scores.shape[1]}):
        estimates: dict[str, list[Floats]] = {}
        for repeat in range(repeats):
            for method, estimate in _estimates(train_scores, test_scores, model, size, seed + repeat):
                estimates.setdefault(method, []).append(estimate)
        rows_of_costs += [
            _row(method, size, full, np.array(values), pairs, rows) for method, values in estimates.items()
        ]
    return pd.DataFrame(rows_of_costs, columns=[*COSTS])


class _Model(NamedTuple):
    """A model that is fitted to other rows, and its error."""

    items: Items
    error: float
    variance: float


def _model(train: Floats) -> _Model | None:
    """Return the fitted model; none where scores are others than 0 and 1."""
    scores = train[np.isfinite(train)]
    if not np.isin(scores, (0, 1)).all():
        return None
    error = estimates.model_error(train)
    return _Model(fit(train), error, float(np.nanvar(train, axis=1).mean()))


def _estimates(
    train: Floats, test: Floats, model: _Model | None, size: int, seed: int
) -> Iterator[tuple[str, Floats]]:
    """Yield each method with its estimates of the scores of the rows of test."""
    for name, chosen in anchors.OF_RESPONSES.items():
        yield name, estimates.weighted(chosen(train, size, seed), test)
    if model is None:
        return
    weighted_anchors = anchors.by_parameters(model.items, size, seed)
    simple = estimates.weighted(weighted_anchors, test)
    expected = estimates.p_irt(model.items, weighted_anchors, test, np.isfinite(test))
    yield "IRT", simple
    yield "p-IRT", expected
    if np.isfinite(model.error):
        share = estimates.share_of_weighted(model.error, model.variance, size)
        yield "gp-IRT", estimates.gp_irt(simple, expected, share)


def _row(
    method: str, size: int, full: Floats, estimated: Floats, pairs: _Pairs, rows: SeriesRows | None
) -> dict[str, object]:
    """Return one row of the table, of (repeats, rows) estimates."""
    away = estimated - full
    several = estimated[:, np.isfinite(estimated).sum(axis=0) > 1]
    of_series = [] if rows is None else [(rows, estimate) for estimate in np.round(estimated, 12)]
    return {
        "method": method,
        "examples": size,
        "error": float(np.nanmean(np.abs(away))),
        "bias": round(float(np.nanmean(away)), 12),
        "standard_error": float(np.nanstd(several, axis=0, ddof=1).mean()) if several.size else np.nan,
        **pairs.measures(estimated),
        "seed_deviation": mean_of_known(series.deviation(estimate) for series, estimate in of_series),
        "monotonicity": mean_of_known(series.monotonicity(estimate) for series, estimate in of_series),
    }
