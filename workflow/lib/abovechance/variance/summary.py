"""Variance in a series of evaluations, by benchmark."""

from __future__ import annotations

import numpy as np
import pandas as pd

from abovechance.chance.rounding import decimals
from abovechance.core.arrays import Floats
from abovechance.core.columns import Column
from abovechance.core.errors import InputError
from abovechance.core.tables import TableSchema
from abovechance.variance import measures
from abovechance.variance.evaluations import ACCURACY, BEST, check_finite

INFLATED = 1.1  # a variance that is a little larger can come from resampling
KEYS = ["model", "shots", "task", "metric"]
DEVELOPMENT = {
    "first": Column.number("mean score over seeds at the first checkpoint"),
    "mean": Column.number("mean score over seeds at the last checkpoint"),
    "deviation": Column.number("standard deviation of the score over seeds, averaged over checkpoints"),
    "final_deviation": Column.number("standard deviation of the score over seeds at the last checkpoint"),
    "snr": Column.number("signal-to-noise ratio: mean divided by final_deviation"),
    "monotonicity": Column.number(
        "Kendall's tau-b between score and training step, with the sign changed if lower is better; 1 if "
        "the score improves at every checkpoint"
    ),
}
SERIES = TableSchema(
    "series",
    {
        "model": Column.text("name of the series"),
        "shots": Column.whole("number of demonstrations in a prompt"),
        "task": Column.text("name of the task"),
        "metric": Column.text("name of the metric"),
        "seeds": Column.whole("number of training seeds"),
        "checkpoints": Column.whole(
            "number of checkpoints that exist for all seeds; the columns below use only these checkpoints"
        ),
        "left_out": Column.whole(
            "number of checkpoints that are not used, because they exist only for some seeds"
        ),
        "examples": Column.whole(
            "number of examples; -1 if unknown, or if seeds or checkpoints have different numbers"
        ),
        "chance": Column.number("chance of a lucky guess, if known, for accuracies"),
        "lower_is_better": Column.flag("whether a lower score is better"),
        "first": DEVELOPMENT["first"],
        "mean": DEVELOPMENT["mean"],
        "interval": Column.number(
            "half-width of one model's 95 % confidence interval (1.96 standard errors over examples), "
            "averaged over seeds and checkpoints"
        ),
        "bootstrap": Column.number(
            "like interval, but computed by the bootstrap; missing if there are no predictions"
        ),
        "deviation": DEVELOPMENT["deviation"],
        "final_deviation": DEVELOPMENT["final_deviation"],
        "snr": DEVELOPMENT["snr"],
        "tau": Column.number("Kendall's tau-b between score and training step, mean over seeds"),
        "monotonicity": DEVELOPMENT["monotonicity"],
        "leaves_chance": Column.whole(
            "first checkpoint from which on the best accuracy over seeds stays significantly above guessing; "
            "missing if there is no such checkpoint, if the chance or the number of examples is unknown, or "
            "if the score is a mean over prompts"
        ),
    },
    "One row per series, task, number of shots and metric (Madaan et al., 2024, Tables 1 and 2).",
)


def shared(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the checkpoints that all seeds of a model have, for each task and metric."""
    seeds_here = rows.groupby([*KEYS, "checkpoint"])["seed"].transform("nunique")
    return rows[seeds_here == rows.groupby(KEYS)["seed"].transform("nunique")]


def arranged(rows: pd.DataFrame) -> tuple[list[int], Floats]:
    """Return the checkpoints and (seeds, checkpoints) the values of one model, task and metric.

    If a value is no number, those of all seeds at its checkpoint are missing, so that all measures speak of
    the same models.

    Parameters
    ----------
    rows
        From ``shared``.
    """
    wide = rows.set_index(["seed", "checkpoint"])["value"].unstack().sort_index().sort_index(axis=1)
    values = wide.to_numpy(dtype=float)
    return [*map(int, wide.columns)], np.where(np.isnan(values).any(axis=0), np.nan, values)


def of_evaluations(table: pd.DataFrame, ddof: int = 1) -> pd.DataFrame:
    """Return the measures of Madaan et al. (2024), Tables 1 and 2, of each model, task and metric.

    Parameters
    ----------
    table
        The table ``evaluations``.
    ddof
        See ``measures.seed_deviation``.

    Returns
    -------
    DataFrame
        The table ``SERIES``.

    Raises
    ------
    InputError
        If two rows are of one score, or rows disagree whether a lower score is better.
    """
    _check(table)
    rows: list[dict[str, object]] = []
    for key, metric_rows in table.groupby(KEYS, sort=False):
        comparable = shared(metric_rows)
        row: dict[str, object] = dict(zip(KEYS, key, strict=True))
        loss = bool(metric_rows["lower_is_better"].iloc[0])
        is_accuracy = not loss and ACCURACY.search(str(metric_rows["metric"].iloc[0]))
        row |= {
            "seeds": metric_rows["seed"].nunique(),
            "checkpoints": comparable["checkpoint"].nunique(),
            "left_out": metric_rows["checkpoint"].nunique() - comparable["checkpoint"].nunique(),
            "examples": _examples(comparable),
            "chance": float(metric_rows["chance"].mean()) if is_accuracy else np.nan,
            "lower_is_better": loss,
        }
        rows.append(row | (_measured(comparable, ddof) if len(comparable) else {}))
    return pd.DataFrame(rows, columns=[*SERIES.columns]).astype({"leaves_chance": "Int64"})


def notes_on_sizes(table: pd.DataFrame) -> list[str]:
    """Return notes on accuracies whose numbers of examples are unknown, or differ.

    Parameters
    ----------
    table
        The table ``evaluations``. Only checkpoints that all seeds have count.
    """
    notes: list[str] = []
    unknown: list[tuple[str, str]] = []
    accuracies = shared(table[table["metric"].str.contains(ACCURACY)])
    for (model, _, task, _), rows in accuracies.groupby(KEYS, sort=False):
        sizes = _sizes(rows)
        if min(sizes, default=-1) < 1:
            unknown.append((str(model), str(task)))
        elif len(sizes) > 1:
            notes.append(
                f"{model} on {task}: scores are of {min(sizes):,} to {max(sizes):,} examples, so "
                "leaves_chance is missing"
            )
    models = {model for model, _ in unknown}
    known_models = {*accuracies["model"].unique()} - models
    names = [*dict.fromkeys(f"{model} on {task}" if known_models else task for model, task in unknown)]
    if names:
        more = f" and {len(names) - 1} more" * (len(names) > 1)
        notes.append(f"{names[0]}{more}: the number of examples is unknown, so leaves_chance is missing")
    return [*dict.fromkeys(notes)]


def _check(table: pd.DataFrame) -> None:
    """Raise InputError if a score is not a number or occurs twice, or a metric's direction is unclear."""
    check_finite(table)
    if (twice := table.duplicated([*KEYS, "seed", "checkpoint"])).any():
        row = table[twice].iloc[0]
        raise InputError(
            f"{row['metric']} of {row['task']} for {row['model']}, seed {row['seed']}, step "
            f"{row['checkpoint']} is there twice; expected one row"
        )
    directions = table.groupby(["task", "metric"], sort=False)["lower_is_better"].nunique()
    if (unclear := directions[directions > 1]).size:
        task, metric = unclear.index[0]
        files = table.attrs.get("contradictions", {}).get((task, metric))
        raise InputError(
            f"{metric} of {task}: lower is better in some results, and higher in others; expected one "
            "direction" + (f" (see higher_is_better in {files})" if files else "")
        )


def _examples(rows: pd.DataFrame) -> int:
    """Return the number of examples of all scores; -1 if one is unknown, or they have different ones."""
    sizes = _sizes(rows)
    return sizes.pop() if len(sizes) == 1 else -1


def _sizes(rows: pd.DataFrame) -> set[int]:
    """Return the numbers of examples of scores; -1 for an unknown one."""
    # an accuracy of 0 or 1 does not say of how many examples it is
    extreme = rows["value"].isin([0.0, 1.0]) & ~rows["metric"].isin([BEST])
    return {int(size) for size in rows["examples"][~(extreme & (rows["examples"] == -1))]}


def _measured(rows: pd.DataFrame, ddof: int) -> dict[str, object]:
    """Return the measures of the rows of ``shared``."""
    checkpoints, values = arranged(rows)
    loss = bool(rows["lower_is_better"].iloc[0])
    place = _leaves_chance(rows, values, _examples(rows)) if not loss else None
    return {
        "first": measures.seed_mean(values[:, :1]),
        "mean": measures.seed_mean(values),
        "interval": float(1.96 * rows["error"].mean()) if rows["error"].notna().any() else np.nan,
        "bootstrap": float(rows["bootstrap"].mean()),
        "deviation": measures.seed_deviation(values, ddof),
        "final_deviation": measures.seed_deviation(values, ddof, last=True),
        "snr": measures.signal_to_noise(values, ddof),
        "tau": measures.rank_correlation(values),
        "monotonicity": measures.monotonicity(values, loss),
        "leaves_chance": None if place is None else checkpoints[place],
    }


def _leaves_chance(rows: pd.DataFrame, values: Floats, examples: int) -> int | None:
    """See ``measures.leaves_chance``; missing if the metric is not an accuracy, or a mean over prompts."""
    metric, chance = str(rows["metric"].iloc[0]), float(rows["chance"].iloc[0])
    shares = ACCURACY.search(metric) and bool((np.isnan(values) | ((values >= 0) & (values <= 1))).all())
    if examples < 1 or not np.isfinite(chance) or not shares or np.isnan(values[:, -1]).all():
        return None
    if metric != BEST and rows["prompts"].max() > 1:
        return None
    if not _is_right_or_wrong(rows, examples):
        return None
    prompts_tried = int(rows["prompts"].sum()) if metric == BEST else None
    return measures.leaves_chance(values, chance, _independent(rows, examples), prompts_tried)


def _independent(rows: pd.DataFrame, examples: int) -> int:
    """Return how many independent examples have the variance of the rows' scores; at most all.

    Examples of a cluster can be answered alike, so guessing reaches a high accuracy more often.
    """
    value, error = rows["value"].to_numpy(dtype=float), rows["error"].to_numpy(dtype=float)
    effective = rows.get("effective_examples", pd.Series(np.nan, rows.index)).to_numpy(dtype=float)
    if (stated := np.isfinite(effective) & np.isfinite(value)).any():
        # an accuracy of 0 or 1 does not vary, so it does not show how alike answers are
        weight = (value * (1 - value))[stated]
        inflation = np.average(examples / effective[stated], weights=weight if weight.any() else None)
        return examples if inflation < INFLATED else max(1, int(examples / inflation + 1e-9))
    has_error = np.isfinite(error) & (value > 0) & (value < 1)
    if examples < 2 or not has_error.any():
        return examples
    value, error = value[has_error], error[has_error]
    variance = (value * (1 - value) / (examples - 1)).sum()  # of means of independent examples
    rounding = 0.5 * 10.0 ** -max(decimals(round(size, 12)) for size in error)
    if (np.maximum(error - rounding, 0) ** 2).sum() < INFLATED * variance:
        return examples
    return max(1, min(examples, int(examples * variance / (error**2).sum())))


def _is_right_or_wrong(rows: pd.DataFrame, examples: int) -> bool:
    """Return whether there are whole numbers of right answers with these scores, as they are rounded."""
    scores = rows["value"].dropna().to_numpy(dtype=float)
    rounding = np.array([0.5 * 10.0 ** -decimals(round(score, 12)) for score in scores])
    correct = scores * examples
    return bool((np.abs(correct - np.rint(correct)) <= (rounding + 1e-6) * examples).all())
