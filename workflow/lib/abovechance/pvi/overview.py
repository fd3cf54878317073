"""What PVI says of a setting, in a line."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from abovechance.core.tables import TableSchema, setting_columns
from abovechance.core.two_way import adjusted_means
from abovechance.pvi.exemplar_sets import repeated_measures
from abovechance.pvi.pointwise import v_information
from abovechance.pvi.runs import by_example
from abovechance.pvi.tails import threshold

PVI_SETTINGS = TableSchema(
    "pvi_settings",
    {
        **setting_columns(),
        "over": pa.string(),
        "prompts": pa.int64(),
        "examples": pa.int64(),
        "accuracy": pa.float64(),
        "ties": pa.float64(),
        "mean_pvi": pa.float64(),
        "information": pa.float64(),
        "low": pa.float64(),
        "high": pa.float64(),
        "right": pa.float64(),
        "wrong": pa.float64(),
        "negative": pa.float64(),
        "threshold": pa.float64(),
        "told_apart": pa.float64(),
        "sets_share": pa.float64(),
        "sets_f": pa.float64(),
        "sets_between": pa.float64(),
        "sets_within": pa.float64(),
        "sets_p": pa.float64(),
        "sets_examples": pa.int64(),
    },
)


def of_setting(pvi: pd.DataFrame, clusters: pd.Series[int], over: str) -> pd.DataFrame:
    """The table ``pvi_settings`` of one setting, without its columns.

    Parameters
    ----------
    pvi
        The rows of the setting in the table ``pvi``.
    clusters
        By example, the same for those that belong together.
    over
        Of what answers' probabilities are.

    Returns
    -------
    DataFrame
        One row: ``over``; ``prompts``; ``examples``; ``accuracy``; ``ties``, the share of predictions that
        are wrong for a tie; ``mean_pvi``, the mean of all finite values; ``information``, the same adjusted
        as if all prompts were evaluated on all examples, and its 95 % interval from ``low`` to ``high`` by
        examples and their clusters; not adjusted are the mean PVI of ``right`` and ``wrong`` predictions;
        the share that is ``negative``; ``threshold``, see ``tails.threshold``, and the share that it has
        ``told_apart``; whether prompts differ, by repeated measures on the same examples: ``sets_share`` of
        the variation, ``sets_f``, its degrees of freedom ``sets_between`` and ``sets_within``, ``sets_p``,
        and of how many examples, ``sets_examples``.
    """
    values = pvi["pvi"].to_numpy(dtype=float)
    correct = pvi["correct"].to_numpy(dtype=bool)
    by_prompt = by_example(pvi, "pvi")
    means = pd.Series(adjusted_means(by_prompt.to_numpy()), by_prompt.columns).dropna()
    information = v_information(means, clusters.reindex(means.index))
    divided, repeated = threshold(values, correct), repeated_measures(by_prompt)
    row: dict[str, Any] = {
        "over": over,
        "prompts": len(by_prompt),
        "examples": information.examples,
        "accuracy": float(correct.mean()),
        "ties": float(pvi["tie"].mean()),
        "mean_pvi": float(values[np.isfinite(values)].mean()) if np.isfinite(values).any() else np.nan,
        "information": information.value,
        "low": information.low,
        "high": information.high,
        "right": float(values[correct].mean()) if correct.any() else np.nan,
        "wrong": float(values[~correct].mean()) if not correct.all() else np.nan,
        "negative": float((values < 0).mean()),
        "threshold": divided.value,
        "told_apart": divided.accuracy,
        "sets_share": repeated.share,
        **{f"sets_{name}": value for name, value in repeated.anova._asdict().items()},
        "sets_examples": repeated.examples,
    }
    return pd.DataFrame([row])
