"""The scores of a model of a study as its part of a series, discrete and continuous, with errors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from abovechance.core.estimates import bootstrap_interval, clustered_mean
from abovechance.core.tables import TableSchema, setting_columns
from abovechance.variance.answers import continuous
from abovechance.variance.evaluations import BEST, EVALUATIONS, SCORE

RESAMPLES = 2000  # of intervals that are averaged over seeds and checkpoints
# {metric: whether less is better}
METRICS = {"accuracy": False, "correct": False, "predicted": False} | dict.fromkeys(
    ("nll", "nll_token", "nll_byte"), True
)
SERIES_SCORES = TableSchema(
    "series_scores",
    {**setting_columns(), **SCORE},
    "One row per setting and metric: accuracy, the probabilities of the correct and of the predicted "
    "answer among the "
    "choices, the negative log-likelihood of the correct answer ('nll', 'nll_token', 'nll_byte', in nats) "
    "and the best "
    "prompt's accuracy ('best_accuracy', without error, because it was selected).",
    file="series_scores/<model>.parquet",
)


def score_setting(
    predictions: pd.DataFrame, likelihoods: pd.DataFrame, clusters: pd.Series[int]
) -> pd.DataFrame:
    """The table ``series_scores`` of one setting, without its columns.

    Parameters
    ----------
    predictions, likelihoods
        The rows of the setting in these tables.
    clusters
        By example, the same for those that belong together.

    Returns
    -------
    DataFrame
        One row per metric, with the columns of ``SERIES_SCORES``, without those of the setting; see also
        ``answers.continuous``. ``best_accuracy``, that of the best prompt, has no error, because it was
        chosen.
    """
    own = predictions.astype({"example": str, "correct": float})
    parts = [own[["example", "prompt", "correct"]].rename(columns={"correct": "accuracy"})]
    rows = likelihoods.astype({"example": str})
    found = [continuous(one).assign(prompt=prompt) for prompt, one in rows.groupby("prompt", sort=False)]
    if found:
        parts.append(pd.concat(found, ignore_index=True))
    common = {"prompts": own["prompt"].nunique(), "chance": float(own["chance"].mean())}
    lines: list[dict[str, Any]] = []
    for table in parts:
        by_example = table.drop(columns="prompt").groupby("example", sort=False).mean()
        for metric in by_example:
            of_examples = clusters.reindex(by_example.index)
            mean = clustered_mean(by_example[metric], of_examples)
            low, high = bootstrap_interval(by_example[metric], of_examples, resamples=RESAMPLES)
            line = {"metric": str(metric), "value": mean.value, "error": mean.standard_error}
            line |= {"examples": mean.examples, "bootstrap": (high - low) / 2}
            lines.append(line | common | {"loss": METRICS[str(metric)]})
    best = float(own.groupby("prompt")["correct"].mean().max())
    counted = {"value": best, "error": np.nan, "bootstrap": np.nan, "examples": own["example"].nunique()}
    lines.append({"metric": BEST, **counted, **common, "loss": False})
    return pd.DataFrame(lines)


def evaluations(table: pd.DataFrame, series: Mapping[str, Mapping[str, Any]]) -> pd.DataFrame:
    """The table ``series_scores`` of all models as the table ``evaluations``, of those that are of a series.

    Returns
    -------
    DataFrame
        ``model`` is the series' name.
    """
    own = table.astype({"model": str})
    own = own[own["model"].isin([*series])]
    if own.empty:  # formulations need no series
        return pd.DataFrame(columns=[*EVALUATIONS.columns])
    told = pd.DataFrame([series[model] for model in own["model"]], index=own.index)
    named = own.assign(model=told["name"], seed=told["seed"], checkpoint=told["checkpoint"])
    return named[[*EVALUATIONS.columns]].reset_index(drop=True)
