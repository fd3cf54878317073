"""Whether the two-parameter model fits: responses that it has not seen, and each item's curve."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.special import expit, logit

from abovechance.core.arrays import Floats
from abovechance.core.columns import Column
from abovechance.core.errors import InputError
from abovechance.items.classical import checked
from abovechance.items.response_theory import (
    Items,
    answers,
    fit,
    posterior_of,
)

RESPONSES_HELD_OUT = 0.1  # of the responses
SIMULATIONS = 20
HELD_OUT_FIT = {
    "model": Column.text("name of the statistical model of the responses, such as item response theory"),
    "dimensions": Column.whole("number of ability dimensions of the model"),
    "log_loss": Column.number("mean log loss of the held-out responses; lower is better", "nats"),
    "accuracy": Column.share(
        "share of held-out responses that the model predicts correctly (probability above 0.5)"
    ),
}


class TooFewError(InputError):
    """No response can be held out so that its row and its item have others."""


def held_out(
    matrix: ArrayLike, dimensions: tuple[int, ...] = (1, 2), share: float = RESPONSES_HELD_OUT, seed: int = 0
) -> pd.DataFrame:
    """Return how well models foresee responses that were held out at random.

    Parameters
    ----------
    matrix
        (rows, items) 0 or 1, nan where there is none.
    dimensions
        Numbers of dimensions of the item response models.
    share
        Share of the responses that are held out, in (0, 1).

    Returns
    -------
    DataFrame
        One row per model, with the columns of ``HELD_OUT_FIT``: the mean of all (``constant``), the row's
        mean, the item's, both together on the logit scale (``rows and items``: no discrimination), and item
        response theory with its ``dimensions``. Means are of as many responses and one half more of either
        kind.

    Raises
    ------
    TooFewError
        If no responses can be held out so that each row and item has others.
    """
    numeric = checked(matrix)
    places = np.argwhere(np.isfinite(numeric))
    chosen = places[np.random.default_rng(seed).random(len(places)) < share]
    train = numeric.copy()
    train[tuple(chosen.T)] = np.nan
    # where a row or item would have none, it keeps its responses
    unassigned = np.isfinite(train)
    rows, items = unassigned.sum(axis=1) > 0, unassigned.sum(axis=0) > 0
    chosen = chosen[rows[chosen[:, 0]] & items[chosen[:, 1]]]
    if not len(chosen):
        raise TooFewError(f"{len(places)} responses are too few to hold some of them out")
    train = numeric.copy()
    train[tuple(chosen.T)] = np.nan
    response = numeric[tuple(chosen.T)] > 0.5
    tables = []
    for name, count, probability in _foreseen(train, dimensions):
        predicted = np.clip(probability[tuple(chosen.T)], 1e-9, 1 - 1e-9)
        loss = -np.where(response, np.log(predicted), np.log1p(-predicted)).mean()
        tables.append([name, count, float(loss), float(((predicted > 0.5) == response).mean())])
    return pd.DataFrame(tables, columns=[*HELD_OUT_FIT])


def _foreseen(train: Floats, dimensions: tuple[int, ...]) -> Iterator[tuple[str, int, Floats]]:
    """Yield each model with its dimensions and the (rows, items) probabilities of right responses."""
    mask = np.isfinite(train)

    def mean(axis: int | None) -> Floats:
        correct = np.nansum(train, axis=axis, keepdims=True)
        return (correct + 0.5) / (mask.sum(axis=axis, keepdims=True) + 1)

    rows, items, overall = mean(1), mean(0), mean(None)
    for name, prediction in (("constant", overall), ("rows", rows), ("items", items)):
        yield name, 0, np.broadcast_to(prediction, train.shape)
    yield "rows and items", 0, expit(logit(rows) + logit(items) - logit(overall))
    hits, has_score = answers(train)
    for count in (prediction for prediction in dimensions if prediction <= train.shape[1]):
        model = fit(train, count)
        places, weights = model.quadrature
        posterior, _ = posterior_of(hits, has_score, model.logits(places), weights)
        yield "item response theory", count, posterior @ model.probability(places)


def item_fit(items: Items, matrix: ArrayLike, seed: int = 0) -> pd.DataFrame:
    """Return how far each item's curve is from the model's.

    The root mean squared deviation between the share of right responses that is expected at each ability,
    given all responses, and the model's probability there, over the distribution of abilities (as in PISA).
    Beside it, what responses of the model itself have, which is a little more than those it was fitted to.

    Returns
    -------
    DataFrame
        One row an item: ``rmsd``, in probabilities; ``rmsd_95``, below which 95 % of those simulated lie.
        Both are missing of an item without a response.
    """
    correct, mask = answers(matrix, every_item=False)
    items.check_width(correct)
    generator = np.random.default_rng(seed)
    simulated = []
    for _ in range(SIMULATIONS):
        ability = generator.standard_normal((len(correct), items.dimensions))
        simulated_hits = (generator.random(correct.shape) < items.probability(ability)) * mask
        simulated.append(_rmsd(items, simulated_hits.astype(float), mask))
    # a new simulation is below this quantile with a probability of 95 %
    limit = np.quantile(simulated, 0.95, axis=0, method="weibull")
    return pd.DataFrame({"rmsd": _rmsd(items, correct, mask), "rmsd_95": limit})


def _rmsd(items: Items, correct: Floats, mask: Floats) -> Floats:
    """(items,) of (rows, items) responses."""
    places, weights = items.quadrature
    model = items.probability(places)
    posterior, _ = posterior_of(correct, mask, items.logits(places), weights)
    counts, hits = posterior.T @ mask, posterior.T @ correct
    with np.errstate(invalid="ignore", divide="ignore"):
        away = np.where(counts > 0, (hits / counts - model) ** 2, 0.0)
        rmsd: Floats = np.sqrt((counts * away).sum(axis=0) / counts.sum(axis=0))
    return rmsd
