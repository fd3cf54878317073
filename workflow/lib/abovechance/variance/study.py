"""The scores of a model of a study as its part of a series, discrete and continuous, with errors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtri, stdtrit

from abovechance.core.estimates import CONFIDENCE, bootstrap_interval, clustered_mean
from abovechance.core.resampling import clusters_of_names
from abovechance.core.tables import TableSchema, setting_columns
from abovechance.variance.answers import continuous
from abovechance.variance.evaluations import BEST, EVALUATIONS, SCORE

TAIL = (1 - CONFIDENCE) / 2
RESAMPLES = 2000  # of intervals that are averaged over seeds and checkpoints
# {metric: whether less is better}
METRICS = {"accuracy": False, "correct": False, "predicted": False} | dict.fromkeys(
    ("nll", "nll_token", "nll_byte"), True
)
SERIES_SCORES = TableSchema(
    "series_scores",
    {**setting_columns(), **SCORE},
    "One row per setting and metric. 'accuracy' is the accuracy over all prompts. 'best_accuracy' is the "
    "accuracy of the best prompt; it has no standard error, because the prompt was selected, and its number "
    "of examples is that of each prompt, or -1 if prompts have different numbers. 'correct' is the "
    "probability of the correct answer, and 'predicted' that of the most probable choice, normalized over "
    "the choices. 'nll', 'nll_token' and 'nll_byte' are the negative log-likelihood of the correct answer in "
    "nats: in total, per token and per byte.",
    file="series_scores/<model>.parquet",
)


def score_setting(
    predictions: pd.DataFrame, likelihoods: pd.DataFrame, clusters: pd.Series[int]
) -> pd.DataFrame:
    """Return the table ``series_scores`` of one setting, without its columns.

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
    typed = predictions.astype({"example": str, "correct": float})
    parts = [typed[["example", "prompt", "correct"]].rename(columns={"correct": "accuracy"})]
    rows = likelihoods.astype({"example": str})
    tables = [
        continuous(prompt_rows).assign(prompt=prompt)
        for prompt, prompt_rows in rows.groupby("prompt", sort=False)
    ]
    if tables:
        parts.append(pd.concat(tables, ignore_index=True))
    common = {"prompts": typed["prompt"].nunique(), "chance": float(typed["chance"].mean())}
    worth = _worth(typed, clusters)
    lines: list[dict[str, Any]] = []
    for table in parts:
        by_example = table.drop(columns="prompt").groupby("example", sort=False).mean()
        for metric in by_example:
            of_examples = clusters_of_names(by_example.index, clusters)
            mean = clustered_mean(by_example[metric], of_examples)
            low, high = bootstrap_interval(by_example[metric], of_examples, resamples=RESAMPLES)
            line = {"metric": str(metric), "value": mean.value, "error": mean.standard_error}
            line |= {"examples": mean.examples, "bootstrap": (high - low) / 2}
            line["effective_examples"] = mean.examples * worth if metric == "accuracy" else np.nan
            lines.append(line | common | {"lower_is_better": METRICS[str(metric)]})
    of_prompts = typed.groupby("prompt")["correct"].agg(["mean", "size"])
    # a prompt is not evaluated on its own demonstrations
    examples = int(of_prompts["size"].iloc[0]) if of_prompts["size"].nunique() == 1 else -1
    counted = {"value": of_prompts["mean"].max(), "error": np.nan, "bootstrap": np.nan, "examples": examples}
    counted["effective_examples"] = examples * worth if examples > 0 else np.nan
    lines.append({"metric": BEST, **counted, **common, "lower_is_better": False})
    return pd.DataFrame(lines)


def _worth(correct: pd.DataFrame, clusters: pd.Series[int]) -> float:
    """Return how many independent examples give prompts' accuracies the variance that they have, per example.

    The variance over few clusters is little known, so it counts more, by the squared quantile of Student's
    distribution. A single cluster, and answers that do not vary, count as if clusters were answered alike.
    """
    clustered, independent, per_cluster = 0.0, 0.0, 1.0
    for _, rows in correct.groupby("prompt"):
        values, of_examples = rows["correct"].to_numpy(), clusters_of_names(rows["example"], clusters)
        shares = np.bincount(of_examples) / len(values)
        per_cluster = min(per_cluster, 1 / (shares**2).sum() / len(values))
        estimate = clustered_mean(values, of_examples)
        if estimate.standard_error > 0 and estimate.clusters < len(values):
            few = stdtrit(estimate.freedom, TAIL) / ndtri(TAIL)
            clustered += (few * estimate.standard_error) ** 2
            independent += values.var() / (len(values) - 1)
    return independent / clustered if clustered else per_cluster


def evaluations(table: pd.DataFrame, series: Mapping[str, Mapping[str, Any]]) -> pd.DataFrame:
    """The table ``series_scores`` of all models as the table ``evaluations``, of those that are of a series.

    Returns
    -------
    DataFrame
        ``model`` is the series' name.
    """
    rows = table.astype({"model": str})
    rows = rows[rows["model"].isin([*series])]
    if rows.empty:  # formulations need no series
        return pd.DataFrame(columns=[*EVALUATIONS.columns])
    places = pd.DataFrame([series[model] for model in rows["model"]], index=rows.index)
    named = rows.assign(model=places["name"], seed=places["seed"], checkpoint=places["checkpoint"])
    return named.reindex(columns=[*EVALUATIONS.columns]).reset_index(drop=True)
