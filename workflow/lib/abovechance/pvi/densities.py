"""How PVI is spread over right and wrong predictions, as points of its densities."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.stats import norm

from abovechance.core.arrays import Floats
from abovechance.core.columns import Column
from abovechance.core.tables import TableSchema, setting_columns

PVI_DENSITIES = TableSchema(
    "pvi_densities",
    {
        **setting_columns(),
        "correct": Column.flag(
            "true for the density of correct predictions, false for the density of wrong predictions"
        ),
        "pvi": Column.number("pointwise V-usable information", "bits"),
        "density": Column.number(
            "density at this PVI; the areas under the two densities of a setting add up to about 1"
        ),
    },
    "One row per point of a density.",
    file="pvi/densities/<model>.parquet",
)
POINTS = 200
MOST_VALUES = 20_000  # values that a density is made of; of more, as many evenly through their order


def estimate_densities(pvi: pd.DataFrame) -> pd.DataFrame:
    """Return the table ``pvi_densities`` of one setting, without its columns.

    Gaussian kernels, their width by Scott's rule, or the distance of two points where that is more.

    Parameters
    ----------
    pvi
        The rows of the setting in the table ``pvi``.

    Returns
    -------
    DataFrame
        The columns of the table ``pvi_densities``, without those of the setting.
    """
    across = np.linspace(*_range(pvi["pvi"].to_numpy(dtype=float)), POINTS)
    lines = []
    for correct, values in pvi.groupby("correct"):
        density = _density(values["pvi"].to_numpy(dtype=float), across) * len(values) / len(pvi)
        lines.append(pd.DataFrame({"correct": bool(correct), "pvi": across, "density": density}))
    return pd.concat(lines, ignore_index=True)


def _range(values: Floats) -> tuple[float, float]:
    low, high = (float(end) for end in np.quantile(values, [0.002, 0.998]))
    reach = max(high - low, 1e-6)
    return low - 0.1 * reach, high + 0.1 * reach


def _density(values: Floats, across: Floats) -> Floats:
    few = np.sort(values)[:: max(1, len(values) // MOST_VALUES)]
    # Scott's rule, and wide enough to show between two points
    width = max(few.std(ddof=1) * len(few) ** -0.2 if len(few) > 1 else 0.0, across[1] - across[0])
    return norm.pdf(across, few[:, None], width).mean(axis=0)
