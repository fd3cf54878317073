"""A summary of the PVI of a setting, in one row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from abovechance.core.arrays import Bools, Floats
from abovechance.core.columns import Column
from abovechance.core.resampling import clusters_of_names
from abovechance.core.tables import TableSchema, setting_columns
from abovechance.core.two_way import adjusted_means
from abovechance.pvi.exemplar_sets import repeated_measures
from abovechance.pvi.pointwise import v_information
from abovechance.pvi.runs import ENDS, by_example
from abovechance.pvi.tails import SHARES, accuracy_of_tails, threshold

PVI_SETTINGS = TableSchema(
    "pvi_settings",
    {
        **setting_columns(),
        "over": Column.text(
            "the set over which answers' probabilities are normalized: the vocabulary or the choices"
        ),
        "prompts": Column.whole("number of prompts"),
        "examples": Column.whole("number of examples"),
        "accuracy": Column.share("share of correct predictions"),
        "ties": Column.share(
            "share of predictions in which a correct and a wrong choice share the highest score"
        ),
        "mean_pvi": Column.number("mean of all finite PVI values", "bits"),
        "information": Column.number(
            "mean PVI, adjusted as if all prompts were evaluated on all examples",
            "bits",
        ),
        "low": Column.number(
            "lower end of the 95 % interval of information, with clusters of examples as units",
            "bits",
        ),
        "high": Column.number("upper end of the interval", "bits"),
        "pvi_correct": Column.number("mean PVI of correct predictions, not adjusted", "bits"),
        "pvi_wrong": Column.number("mean PVI of wrong predictions, not adjusted", "bits"),
        "negative": Column.share("share of PVI values below 0"),
        "threshold": Column.number("PVI that best separates correct from wrong predictions", "bits"),
        "balanced_accuracy": Column.share(
            "balanced accuracy of the rule that calls a prediction correct if its PVI is above the threshold"
        ),
        "sets_share": Column.share(
            "partial eta squared: share of the variance within examples explained by the prompt"
        ),
        "sets_f": Column.number("F statistic of a repeated-measures analysis of variance over prompts"),
        "sets_between": Column.number(
            "numerator degrees of freedom of F (between prompts; Greenhouse-Geisser corrected)"
        ),
        "sets_within": Column.number(
            "denominator degrees of freedom of F (within examples; Greenhouse-Geisser corrected)"
        ),
        "sets_p": Column.number("p-value of the F test, which draws clusters of examples as wholes"),
        "sets_examples": Column.whole("number of examples in the analysis of variance"),
    },
    "One row per setting.",
    file="pvi/settings/<model>.parquet",
)
SHOWN = TableSchema(
    "pvi",
    {name: column for name, column in PVI_SETTINGS.columns.items() if not name.startswith("sets_")},
    PVI_SETTINGS.rows,
)
EXEMPLAR_SETS = TableSchema(
    "pvi_exemplar_sets",
    {
        **setting_columns(),
        "prompts": PVI_SETTINGS.columns["prompts"],
        **{
            name.removeprefix("sets_"): column
            for name, column in PVI_SETTINGS.columns.items()
            if name.startswith("sets_")
        },
    },
    PVI_SETTINGS.rows,
)


def separation(values: Floats, correct: Bools) -> dict[str, float]:
    """Return the accuracy of predictions, and how well their PVI separates correct from wrong ones.

    Parameters
    ----------
    values, correct
        (predictions,) PVI in bits, and whether they are correct.
    """
    best = threshold(values, correct)
    return {
        "negative": float((values < 0).mean()),
        "accuracy": float(correct.mean()),
        "threshold": best.value,
        "balanced_accuracy": best.accuracy,
    }


def summarize_examples(table: pd.DataFrame) -> dict[str, float]:
    """Return what PVI says of the examples of one prompt.

    Parameters
    ----------
    table
        ``pvi`` in bits and, if they are known, ``correct`` and ``cluster``.

    Returns
    -------
    dict
        ``examples``, ``information`` with its 95 % interval ``low`` to ``high``, and ``negative``; with
        ``correct`` also the numbers of ``separation`` and the accuracies ``runs.ENDS``; and ``infinite``, the
        number of infinite values, which have no part in the mean.
    """
    values = table["pvi"].to_numpy(dtype=float)
    is_finite = np.isfinite(values)
    finite = values[is_finite]
    clusters = table["cluster"].to_numpy()[is_finite] if "cluster" in table else None
    information = v_information(finite, clusters)
    row: dict[str, float] = {
        "examples": information.examples,
        "information": information.value,
        "low": information.low,
        "high": information.high,
        "negative": float((values < 0).mean()),
    }
    if "correct" in table:
        correct = table["correct"].to_numpy(dtype=bool)
        ends = [end for share in SHARES for end in accuracy_of_tails(values, correct, share)]
        row |= separation(values, correct) | dict(zip(ENDS, ends, strict=True))
    return row | ({"infinite": len(values) - len(finite)} if len(finite) < len(values) else {})


def summarize_setting(pvi: pd.DataFrame, clusters: pd.Series[int], over: str) -> pd.DataFrame:
    """Return the table ``pvi_settings`` of one setting, without its columns.

    Parameters
    ----------
    pvi
        The rows of the setting in the table ``pvi``.
    clusters
        By example, the same for those that belong together.
    over
        The set of answers that probabilities are over.

    Returns
    -------
    DataFrame
        One row with the columns of ``PVI_SETTINGS``, without those of the setting.
    """
    values = pvi["pvi"].to_numpy(dtype=float)
    correct = pvi["correct"].to_numpy(dtype=bool)
    by_prompt = by_example(pvi, "pvi")
    means = pd.Series(adjusted_means(by_prompt.to_numpy()), by_prompt.columns).dropna()
    information = v_information(means, clusters_of_names(means.index, clusters))
    repeated = repeated_measures(by_prompt, clusters_of_names(by_prompt.columns, clusters))
    row: dict[str, Any] = {
        "over": over,
        "prompts": len(by_prompt),
        "examples": information.examples,
        "ties": float(pvi["tie"].mean()),
        "mean_pvi": float(values[np.isfinite(values)].mean()) if np.isfinite(values).any() else np.nan,
        "information": information.value,
        "low": information.low,
        "high": information.high,
        "pvi_correct": float(values[correct].mean()) if correct.any() else np.nan,
        "pvi_wrong": float(values[~correct].mean()) if not correct.all() else np.nan,
        **separation(values, correct),
        "sets_share": repeated.share,
        **{f"sets_{name}": value for name, value in repeated.anova._asdict().items()},
        "sets_examples": repeated.examples,
    }
    return pd.DataFrame([row])
