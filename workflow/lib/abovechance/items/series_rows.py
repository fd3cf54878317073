"""Rows that are seeds and checkpoints of trainings: how steady a score of them is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from abovechance.core.arrays import Floats, Ints
from abovechance.variance import measures


@dataclass(frozen=True)
class SeriesRows:
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
        """Return some of the rows, by their places."""
        return SeriesRows(
            [self.series[place] for place in places],
            [self.seed[place] for place in places],
            [self.checkpoint[place] for place in places],
        )

    def deviation(self, scores: Floats) -> float:
        """The standard deviation over seeds of (rows,) scores, mean over series; missing without any."""
        return mean_of_known(map(measures.seed_deviation, self._tables(scores)))

    def monotonicity(self, scores: Floats) -> float:
        """The monotonicity over checkpoints of (rows,) scores, mean over series; missing without any."""
        return mean_of_known(map(measures.monotonicity, self._tables(scores)))

    def _tables(self, scores: Floats) -> Iterator[Floats]:
        """(seeds, checkpoints) of each series, nan where there is none."""
        for places, cells, shape in self._cells:
            scores_at = scores[places]
            mask = np.isfinite(scores_at)
            counts = np.bincount(cells[mask], minlength=shape[0] * shape[1])
            sums = np.bincount(cells[mask], scores_at[mask], minlength=shape[0] * shape[1])
            with np.errstate(invalid="ignore"):
                yield (sums / counts).reshape(shape)

    @cached_property
    def _cells(self) -> list[tuple[Ints, Ints, tuple[int, int]]]:
        """Return for each series its rows, the cell of its table for each row, and the table's shape."""
        cells = []
        for name in dict.fromkeys(filter(None, self.series)):
            places = np.flatnonzero([series == name for series in self.series])
            seeds, all_seeds = pd.factorize(np.asarray(self.seed)[places], sort=True)
            steps, all_steps = pd.factorize(np.asarray(self.checkpoint)[places], sort=True)
            cells.append((places, seeds * len(all_steps) + steps, (len(all_seeds), len(all_steps))))
        return cells


def mean_of_known(values: Iterable[float]) -> float:
    """Return the mean of the values that are there; missing where none is."""
    finite = [value for value in values if np.isfinite(value)]
    return float(np.mean(finite)) if finite else np.nan
