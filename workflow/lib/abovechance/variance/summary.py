"""What varies in a series of evaluations, benchmark by benchmark."""

from __future__ import annotations

import numpy as np
import pandas as pd

from abovechance.core.arrays import Floats
from abovechance.variance import measures
from abovechance.variance.evaluations import ACCURACY, BEST

KEYS = ["model", "shots", "task", "metric"]
COLUMNS = [
    *KEYS,
    *(
        "seeds",
        "checkpoints",
        "left_out",
        "examples",
        "chance",
        "loss",
        "first",
        "mean",
        "interval",
        "bootstrap",
    ),
    *("deviation", "final_deviation", "snr", "tau", "monotonicity", "leaves_chance"),
]


def shared(own: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the checkpoints that all seeds have, of one model, task and metric."""
    seeds = own["checkpoint"].map(own.groupby("checkpoint")["seed"].nunique())
    return own[seeds == own["seed"].nunique()]


def arranged(own: pd.DataFrame) -> tuple[list[int], Floats]:
    """Return the checkpoints and (seeds, checkpoints) the values of one model, task and metric.

    If a value is no number, those of all seeds at its checkpoint are missing, so that all measures speak of
    the same models.

    Parameters
    ----------
    own
        From ``shared``.
    """
    wide = own.set_index(["seed", "checkpoint"])["value"].unstack().sort_index().sort_index(axis=1)
    values = wide.to_numpy(dtype=float)
    return [*map(int, wide.columns)], np.where(np.isnan(values).any(axis=0), np.nan, values)


def of_evaluations(table: pd.DataFrame, ddof: int = 1) -> pd.DataFrame:
    """The measures of Madaan et al. (2024), Tables 1 and 2, of each model, task and metric.

    Parameters
    ----------
    table
        The table ``evaluations``.
    ddof
        See ``measures.seed_deviation``.

    Returns
    -------
    DataFrame
        ``model``; ``shots``; ``task``; ``metric``; how many ``seeds``, ``checkpoints`` that all seeds have,
        checkpoints ``left_out`` because only some have them, and ``examples`` (-1 where that is not known);
        all that follows is of the former checkpoints, and missing if there is none: the ``chance`` of one
        lucky guess, where it is told; ``loss``, whether less is better; the mean over seeds at the
        ``first`` checkpoint, and at the last one (``mean``); ``interval``, half the width of the 95 %
        interval of one model over examples, 1.96 standard errors, averaged over seeds and checkpoints;
        ``bootstrap``, the same by drawing examples anew, where there are predictions; ``deviation`` over
        seeds, averaged over checkpoints, and ``final_deviation`` at the last one; ``snr``, mean by
        ``final_deviation``; ``tau``, Kendall's tau-b with an increasing array, the mean over seeds, and
        ``monotonicity``, the same with the sign turned for losses; ``leaves_chance``, from which checkpoint
        on accuracies are told from guessing (``measures.leaves_chance``), missing where none is, or chance
        or examples are not known.
    """
    rows: list[dict[str, object]] = []
    for key, own in table.groupby(KEYS, sort=False):
        kept = shared(own)
        row: dict[str, object] = dict(zip(KEYS, key, strict=True))
        row |= {
            "seeds": own["seed"].nunique(),
            "checkpoints": kept["checkpoint"].nunique(),
            "left_out": own["checkpoint"].nunique() - kept["checkpoint"].nunique(),
            "examples": int(own["examples"].max()),
            "chance": float(own["chance"].mean()),
            "loss": bool(own["loss"].iloc[0]),
        }
        rows.append(row | (_measured(kept, ddof) if len(kept) else {}))
    return pd.DataFrame(rows, columns=COLUMNS).astype({"leaves_chance": "Int64"})


def _measured(own: pd.DataFrame, ddof: int) -> dict[str, object]:
    """The measures of the rows of ``shared``."""
    checkpoints, values = arranged(own)
    loss = bool(own["loss"].iloc[0])
    place = _leaves_chance(own, values, int(own["examples"].max())) if not loss else None
    return {
        "first": measures.seed_mean(values[:, :1]),
        "mean": measures.seed_mean(values),
        "interval": float(1.96 * own["error"].mean()) if own["error"].notna().any() else np.nan,
        "bootstrap": float(own["bootstrap"].mean()),
        "deviation": measures.seed_deviation(values, ddof),
        "final_deviation": measures.seed_deviation(values, ddof, last=True),
        "snr": measures.signal_to_noise(values, ddof),
        "tau": measures.rank_correlation(values),
        "monotonicity": measures.monotonicity(values, loss),
        "leaves_chance": None if place is None else checkpoints[place],
    }


def _leaves_chance(own: pd.DataFrame, values: Floats, examples: int) -> int | None:
    """See ``measures.leaves_chance``; missing for what is no accuracy."""
    metric, chance = str(own["metric"].iloc[0]), float(own["chance"].iloc[0])
    shares = ACCURACY.search(metric) and bool((np.isnan(values) | ((values >= 0) & (values <= 1))).all())
    if examples < 1 or not np.isfinite(chance) or not shares or np.isnan(values[:, -1]).all():
        return None
    tried = int(own["prompts"].sum()) if metric == BEST else None
    return measures.leaves_chance(values, chance, examples, tried)
