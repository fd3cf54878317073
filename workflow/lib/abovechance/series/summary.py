"""What varies in a series of evaluations, benchmark by benchmark."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd

from abovechance.core.arrays import Floats
from abovechance.series import measures
from abovechance.series.evaluations import BEST

ACCURACY = re.compile(r"^(?:best_)?(?:acc|exact_match|em$)")  # shares of right answers
KEYS = ["model", "shots", "task", "metric"]
COLUMNS = [
    *KEYS,
    *("seeds", "checkpoints", "examples", "chance", "loss", "first", "mean", "interval", "bootstrap"),
    *("deviation", "final_deviation", "snr", "tau", "monotonicity", "leaves_chance"),
]


def arranged(own: pd.DataFrame) -> tuple[list[int], list[int], Floats]:
    """The seeds, the checkpoints, and (seeds, checkpoints) the values of one model, task and metric.

    The last checkpoint is one that all seeds have, where there is one: what comes after it is left out.
    """
    index = ["seed", "checkpoint"]
    wide = own.set_index(index)["value"].unstack().sort_index().sort_index(axis=1)
    there = own.assign(one=1).set_index(index)["one"].unstack().reindex_like(wide).notna().all(axis=0)
    if there.any():
        wide = wide.loc[:, : there[there].index[-1]]
    return [*map(int, wide.index)], [*map(int, wide.columns)], wide.to_numpy(dtype=float)


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
        ``model``; ``shots``; ``task``; ``metric``; how many ``seeds``, ``checkpoints``, and ``examples`` (-1
        where that is not known); the ``chance`` of one lucky guess, where it is told; ``loss``, whether less
        is better; the mean over seeds at the ``first`` checkpoint, and at the last one that all seeds have
        (``mean``); ``interval``, half the width of the 95 % interval of one model over examples, 1.96
        standard errors, averaged over seeds and checkpoints; ``bootstrap``, the same by drawing examples
        anew, where there are predictions; ``deviation`` over seeds, averaged over checkpoints, and
        ``final_deviation`` at the last one; ``snr``, mean by ``final_deviation``; ``tau``, Kendall's tau-b
        with an increasing array, the mean over seeds, and ``monotonicity``, the same with the sign turned for
        losses; ``leaves_chance``, from which checkpoint on accuracies are told from guessing
        (``measures.leaves_chance``), missing where none is, or chance or examples are not known.
    """
    rows: list[dict[str, object]] = []
    for key, own in table.groupby(KEYS, sort=False):
        seeds, checkpoints, values = arranged(own)
        loss = bool(own["loss"].iloc[0])
        examples = int(own["examples"].max())
        place = _leaves_chance(own, values, examples) if not loss else None
        rows.append(
            dict(zip(KEYS, key, strict=True))
            | {
                "seeds": len(seeds),
                "checkpoints": len(checkpoints),
                "examples": examples,
                "chance": float(own["chance"].mean()),
                "loss": loss,
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
        )
    return pd.DataFrame(rows, columns=COLUMNS).astype({"leaves_chance": "Int64"})


def _leaves_chance(own: pd.DataFrame, values: Floats, examples: int) -> int | None:
    """See ``measures.leaves_chance``; missing for what is no accuracy."""
    metric, chance = str(own["metric"].iloc[0]), float(own["chance"].iloc[0])
    shares = ACCURACY.search(metric) and bool((np.isnan(values) | ((values >= 0) & (values <= 1))).all())
    if examples < 1 or not np.isfinite(chance) or not shares or np.isnan(values[:, -1]).all():
        return None
    tried = int(own["prompts"].sum()) if metric == BEST else None
    return measures.leaves_chance(values, chance, examples, tried)
