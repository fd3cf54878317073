"""Rows that are seeds and checkpoints of trainings: how steady a score of them is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from abovechance.core.arrays import Floats
from abovechance.series.measures import monotonicity, seed_deviation


class SeriesRows(NamedTuple):
    """Which rows belong together.

    Attributes
    ----------
    series
        (rows,) of which series of trainings each is; None where of none.
    seed, checkpoint
        (rows,) which of it. Rows that are alike are prompts, whose mean counts.
    """

    series: Sequence[str | None]
    seed: Sequence[int]
    checkpoint: Sequence[int]

    def only(self, places: Sequence[int]) -> SeriesRows:
        """Some of the rows, by their places."""
        return SeriesRows(
            [self.series[place] for place in places],
            [self.seed[place] for place in places],
            [self.checkpoint[place] for place in places],
        )


def steadiness(scores: Floats, rows: SeriesRows | None) -> tuple[float, float]:
    """The standard deviation over seeds, and the monotonicity over checkpoints, mean over series.

    Parameters
    ----------
    scores
        (rows,).

    Returns
    -------
    tuple
        Both missing where there is no series.
    """
    if rows is None or all(name is None for name in rows.series):
        return np.nan, np.nan
    table = pd.DataFrame(rows._asdict()).assign(score=scores)
    found = []
    for _, own in table.groupby("series", sort=False):
        wide = own.pivot_table(index="seed", columns="checkpoint", values="score").to_numpy(dtype=float)
        found.append((seed_deviation(wide), monotonicity(wide)))
    deviations, steady = zip(*found, strict=True)
    return mean_of_known(deviations), mean_of_known(steady)


def mean_of_known(values: Iterable[float]) -> float:
    """The mean of the values that are there; missing where none is."""
    known = [value for value in values if np.isfinite(value)]
    return float(np.mean(known)) if known else np.nan
