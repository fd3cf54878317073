"""How well being above a baseline on validation foresees being above chance on held-out data."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from abovechance.chance.baselines import BASELINES, MAXIMUM, STANDARD
from abovechance.core.arrays import Floats, Ints
from abovechance.core.columns import Column
from abovechance.core.resampling import times_drawn
from abovechance.core.tables import Tables, TableSchema

PREDICTORS = tuple(baseline.name for baseline in BASELINES)
# What of the table ``outcomes`` is needed here; of the table ``guessers``, the set besides.
NEEDED = (
    *("model", "task", "requested_prompts", "prompts", "above_on_test"),
    *(baseline.above_column for baseline in BASELINES),
    *(baseline.log_below_column for baseline in BASELINES),
)
OF_GUESSERS = ("set", *NEEDED)
AGREEMENT = {
    "predictor": Column.text(f"the baseline: {' or '.join(map(repr, PREDICTORS))}"),
    "outcomes": Column.whole("number of outcomes: one per setting, split and number of prompts"),
    "above_on_test_share": Column.share(
        "share of outcomes whose test accuracy is above the standard baseline"
    ),
    "accuracy": Column.share(
        "share of outcomes whose decision on validation ('above' the baseline or not) matches above_on_test"
    ),
    "precision": Column.share(
        "among the decisions 'above', the share whose test score is above the standard baseline"
    ),
    "recall": Column.share(
        "among the test scores above the standard baseline, the share with the decision 'above'"
    ),
    "auroc": Column.share("area under the ROC curve of the decision"),
    "aupr": Column.share("area under the precision-recall curve of the decision"),
    "tail_auroc": Column.number(
        "area under the ROC curve if the continuous score log(1 - tail probability) replaces the decision"
    ),
    "tail_aupr": Column.number(
        "area under the precision-recall curve if log(1 - tail probability) replaces the decision"
    ),
}
BESIDE = ("accuracy", "auroc", "tail_auroc")  # what guessers are shown with


def _heldout_by(by: str, columns: Mapping[str, Column]) -> TableSchema:
    guessers = {
        f"guessers_{name}": Column.number(f"'{name}' of random guessers, averaged over sets of guessers")
        for name in BESIDE
    }
    rows = f"One row per {'number of prompts' if by == 'prompts' else by} and baseline."
    return TableSchema(f"heldout_by_{by}", {**columns, **AGREEMENT, **guessers}, rows)


HELDOUT_BY_PROMPTS = _heldout_by(
    "prompts",
    {
        "requested_prompts": Column.whole(
            "requested number of prompts; a larger number has no row if no setting has more prompts"
        ),
        "prompts": Column.whole("actual number of prompts; if settings differ, the largest number"),
    },
)
HELDOUT_BY_MODEL = _heldout_by("model", {"model": Column.text("name of the model")})
HELDOUT_BY_TASK = _heldout_by("task", {"task": Column.text("name of the task")})
HELDOUT_DIFFERENCE = TableSchema(
    "heldout_difference",
    {
        "measure": Column.text("the measure of agreement"),
        **{name: Column.number(f"value of the measure for the {name} baseline") for name in PREDICTORS},
        "difference": Column.number("value for the maximum baseline minus value for the standard baseline"),
        "low": Column.number(
            "lower end of the 95 % interval of the difference, by resampling tasks; missing with fewer "
            "than five tasks"
        ),
        "high": Column.number("upper end of the interval"),
    },
    "One row per measure. Only outcomes with the largest number of prompts are used.",
)


def most_prompts(table: pd.DataFrame) -> pd.DataFrame:
    """Return the outcomes where the best was chosen from the most prompts."""
    return table[table["requested_prompts"] == table["requested_prompts"].max()]


def agreement_by_prompts(table: pd.DataFrame) -> pd.DataFrame:
    """``agreement`` by how many prompts the best was chosen from.

    Where no setting has more prompts than were asked for before, asking for more repeats the same
    outcomes, which are told once.

    Returns
    -------
    DataFrame
        The columns of ``HELDOUT_BY_PROMPTS``, without those of guessers.
    """
    largest = table.groupby("requested_prompts")["prompts"].max()
    by_largest = agreement(
        table[table["requested_prompts"].isin(largest.index[largest.diff() != 0])], ["requested_prompts"]
    )
    by_largest.insert(1, "prompts", by_largest["requested_prompts"].map(largest))
    return by_largest


def agreement(table: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Return how well being above each baseline on validation foresees being above chance on test.

    Parameters
    ----------
    table
        Rows of the table ``outcomes``.
    by
        Columns to group by; none for the total.

    Returns
    -------
    DataFrame
        One row per group and baseline, with the columns of ``AGREEMENT``. A quotient without cases is
        missing; without any outcome, groups are too, and all of a total.
    """
    groups = table.groupby(by, observed=True, sort=False) if by else [((), table)]
    rows = [
        dict(zip(by, key, strict=True)) | {"predictor": predictor} | _agreement(group, predictor)
        for key, group in groups
        for predictor in predictors_of(table)
    ]
    return pd.DataFrame(rows, columns=[*by, *AGREEMENT])


def of_guessers(table: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """``agreement`` of random guessers: the mean over their sets.

    Parameters
    ----------
    table
        Rows of the table ``guessers``.
    """
    rows = agreement(table, ["set", *by])
    return (
        rows.groupby([*by, "predictor"], sort=False, observed=True).mean().drop(columns="set").reset_index()
    )


def predictors_of(table: pd.DataFrame) -> list[str]:
    """The baselines of which a table of outcomes has decisions; published ones have the paper's two."""
    return [name for name in PREDICTORS if f"above_{name}" in table]


def with_ranks(table: pd.DataFrame) -> pd.DataFrame:
    """The table ``guessers`` with scores that are ranks in their set, so that all sets have one curve."""
    ranks = {
        f"{predictor}_log_below": table.groupby("set")[f"{predictor}_log_below"].rank(pct=True)
        for predictor in predictors_of(table)
    }
    return table.assign(**ranks)


def _score(table: pd.DataFrame, predictor: str) -> Floats:
    """Return how far above a baseline outcomes are: log F^t, which tells apart what tails near 1 do not."""
    return np.maximum(table[f"{predictor}_log_below"].to_numpy(dtype=float), -1e300)


def _agreement(group: pd.DataFrame, predictor: str) -> dict[str, float]:
    from sklearn import metrics  # slow to import, and needed here and below only

    truth = group["above_on_test"].to_numpy(dtype=bool)
    decidable = bool(truth.any()) and not bool(truth.all())
    score = _score(group, predictor)
    return {
        "outcomes": len(group),
        "above_on_test_share": float(truth.mean()) if len(truth) else np.nan,
        **decision_scores(group, predictor),
        "tail_auroc": float(metrics.roc_auc_score(truth, score)) if decidable else np.nan,
        "tail_aupr": float(metrics.average_precision_score(truth, score)) if truth.any() else np.nan,
    }


def decision_scores(group: pd.DataFrame, predictor: str) -> dict[str, float]:
    """Return how well the decision to be above a baseline foresees being above chance on test.

    Returns
    -------
    dict
        ``accuracy``, ``precision``, ``recall``, ``auroc`` and ``aupr`` in [0, 1], nan without
        cases. The areas are those under the two straight lines through the one decision:
        (recall + specificity) / 2, and average precision.
    """
    truth = group["above_on_test"].to_numpy(dtype=bool)
    guess = group[f"above_{predictor}"].to_numpy(dtype=bool)
    hits, alarms = int((truth & guess).sum()), int((~truth & guess).sum())
    positives, wrong = int(truth.sum()), int((~truth).sum())
    nan = float("nan")
    recall = hits / positives if positives else nan
    precision = hits / (hits + alarms) if hits + alarms else nan
    return {
        "accuracy": (hits + wrong - alarms) / len(truth) if len(truth) else nan,
        "precision": precision,
        "recall": recall,
        "auroc": (recall + 1 - alarms / wrong) / 2 if positives and wrong else nan,
        # the decision's threshold first, then that of guessing all to be above
        "aupr": (recall * precision if hits else 0.0) + (1 - recall) * positives / len(truth)
        if positives
        else nan,
    }


def curves(table: pd.DataFrame) -> pd.DataFrame:
    """ROC and precision-recall curves of both predictors.

    Returns
    -------
    DataFrame
        ``curve`` (``roc`` or ``pr``), ``predictor``, ``score`` (``tail`` probability, or the
        ``decision`` to be above, which is one point), ``x``, ``y`` in [0, 1]: false positive and
        true positive rate, or recall and precision. Empty where all outcomes agree.
    """
    from sklearn import metrics

    truth = table["above_on_test"].to_numpy(dtype=bool)
    parts = []
    if truth.any() and not truth.all():
        for predictor in predictors_of(table):
            score = _score(table, predictor)
            false, true, _ = metrics.roc_curve(truth, score)
            precision, recall, _ = metrics.precision_recall_curve(truth, score)
            guess = table[f"above_{predictor}"].to_numpy(dtype=bool)
            with_precision = metrics.precision_score(truth, guess, zero_division=np.nan)
            hits, alarms = [guess[truth].mean()], [guess[~truth].mean()]
            for curve, kind, x, y in (
                ("roc", "tail", false, true),
                ("pr", "tail", recall, precision),
                ("roc", "decision", alarms, hits),
                ("pr", "decision", hits, [with_precision]),
            ):
                part = {"curve": curve, "predictor": predictor, "score": kind, "x": x, "y": y}
                parts.append(pd.DataFrame(part))
    columns = ["curve", "predictor", "score", "x", "y"]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns)


# With fewer tasks, resampling them says nothing.
LEAST_TASKS = 5
MEASURES = ("accuracy", "auroc", "tail_auroc")


def difference(table: pd.DataFrame, resamples: int = 10_000, seed: int = 0) -> pd.DataFrame:
    """Return how much better the maximum baseline foresees held-out results than the standard one.

    Splits of a setting, and settings of a task, are not independent, so whole tasks are resampled (percentile
    bootstrap). With fewer than ``LEAST_TASKS`` tasks there is no interval.

    Parameters
    ----------
    table
        Rows of the table ``outcomes``.

    Returns
    -------
    DataFrame
        The table ``HELDOUT_DIFFERENCE``. Values are missing where all outcomes agree, or there are none.
    """
    if table.empty:
        return pd.DataFrame({"measure": MEASURES}).reindex(columns=[*HELDOUT_DIFFERENCE.columns])
    tasks, names = pd.factorize(table["task"])
    draws_of_names = times_drawn(len(names), resamples, np.random.default_rng(seed))
    weights = np.vstack([np.ones(len(names)), draws_of_names])
    truth = table["above_on_test"].to_numpy(dtype=bool)
    rows = []
    for measure in MEASURES:
        values = {}
        for predictor in PREDICTORS:
            decided = table[f"above_{predictor}"].to_numpy(dtype=bool)
            if measure == "accuracy":
                values[predictor] = _mean_by_task(decided == truth, tasks, weights)
            else:
                score = decided.astype(float) if measure == "auroc" else _score(table, predictor)
                values[predictor] = _area_by_task(score, truth, tasks, weights)
        gain = values[MAXIMUM.name] - values[STANDARD.name]
        resampled = gain[1:][~np.isnan(gain[1:])]
        enough = len(names) >= LEAST_TASKS and len(resampled) > 0
        low, high = np.quantile(resampled, [0.025, 0.975]) if enough else (np.nan, np.nan)
        whole = {name: samples[0] for name, samples in values.items()}
        rows.append({"measure": measure, **whole, "difference": gain[0], "low": low, "high": high})
    return pd.DataFrame(rows)


def _mean_by_task(values: np.ndarray, tasks: Ints, weights: Floats) -> Floats:
    """(resamples,) means of values, each task as often as (resamples, tasks) weights say."""
    size = weights.shape[1]
    sums, sizes = np.bincount(tasks, values, size), np.bincount(tasks, minlength=size)
    return (weights @ sums) / (weights @ sizes)


def _area_by_task(score: Floats, truth: np.ndarray, tasks: Ints, weights: Floats) -> Floats:
    """(resamples,) areas under the ROC curve: the share of pairs, one true and one false, in the right order.

    Pairs are counted for every two tasks once, and weighted.
    """
    size = weights.shape[1]
    positives = np.zeros((size, size))
    for task in range(size):
        false = np.sort(score[~truth & (tasks == task)])
        above = np.searchsorted(false, score[truth], "left") + np.searchsorted(false, score[truth], "right")
        positives[:, task] = np.bincount(tasks[truth], above / 2, size)
    positive, negative = (np.bincount(tasks[part], minlength=size) for part in (truth, ~truth))
    pairs = (weights @ positive) * (weights @ negative).astype(float)
    ordered = np.einsum("ra,ab,rb->r", weights, positives, weights)
    return np.divide(ordered, pairs, out=np.full(len(pairs), np.nan), where=pairs > 0)


def heldout_tables(outcomes: pd.DataFrame, guessers: pd.DataFrame) -> Tables:
    """Return how validation agrees with held-out test: by number of prompts, by model, by task and in total.

    Parameters
    ----------
    outcomes
        The table ``outcomes``.
    guessers
        The table ``guessers``.
    """
    largest, guessed = most_prompts(outcomes), most_prompts(guessers)
    by_prompts = _beside_guessers(agreement_by_prompts(outcomes), guessers, "requested_prompts")
    return [
        (HELDOUT_BY_PROMPTS, by_prompts),
        (HELDOUT_BY_MODEL, _beside_guessers(agreement(largest, ["model"]), guessed, "model")),
        (HELDOUT_BY_TASK, _beside_guessers(agreement(largest, ["task"]), guessed, "task")),
        (HELDOUT_DIFFERENCE, difference(largest)),
    ]


def _beside_guessers(decisions: pd.DataFrame, guessers: pd.DataFrame, by: str) -> pd.DataFrame:
    """Agreement with what guessers have of it."""
    keys = [by, "predictor"]
    beside = of_guessers(guessers, [by])[[*keys, *BESIDE]]
    beside = beside.rename(columns={name: f"guessers_{name}" for name in BESIDE})
    return decisions.merge(beside, on=keys, how="left")
