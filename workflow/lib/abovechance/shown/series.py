"""Figures of how scores develop during training."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from abovechance.shown import style
from abovechance.shown.panels import (
    in_order,
    label_first_column,
    legend_below,
    legend_label,
    panel_grid,
    plain,
)


def panels_of(
    table: pd.DataFrame, metrics: Sequence[str] = ("accuracy", "correct"), most: int = 8
) -> pd.DataFrame:
    """The rows of the first tasks, with the most shots of each, and these metrics, one above another."""
    tasks = in_order(table["task"])[: most // len(metrics)]
    own = table[table["task"].isin(tasks) & table["metric"].isin(metrics)]
    own = own[own["shots"] == own.groupby("task")["shots"].transform("max")]
    order = own["metric"].map({metric: place for place, metric in enumerate(metrics)})
    return own.assign(order=order).sort_values("order", kind="stable").drop(columns="order")


def curve_numbers(table: pd.DataFrame) -> pd.DataFrame:
    """What the figure shows of the table ``evaluations``: at each checkpoint the mean over seeds, the lowest
    and the highest, and the standard error over examples."""
    grouped = table.groupby(["task", "metric", "model", "checkpoint"], sort=False)
    found = grouped["value"].agg(mean="mean", lowest="min", highest="max", seeds="size")
    numbers: pd.DataFrame = found.assign(error=grouped["error"].mean()).reset_index()
    return numbers


def curves(numbers: pd.DataFrame) -> Figure:
    """Development over training, a panel for each task and metric.

    A line for each model with its 95 % interval over examples, and bars from the lowest seed to the highest.
    """
    style.apply()
    panels = list(dict.fromkeys(zip(numbers["task"], numbers["metric"], strict=True)))
    models = in_order(numbers["model"])
    colour = style.colours(models)
    figure, all_axes = panel_grid(len(panels), height=1.9)
    for axes, (task, metric) in zip(all_axes, panels, strict=True):
        here = numbers[(numbers["task"] == task) & (numbers["metric"] == metric)]
        for model, line in here.groupby("model", sort=False):
            own = line.sort_values("checkpoint")
            look: dict[str, Any] = {"color": colour[str(model)]}
            at, mean = own["checkpoint"].to_numpy(), own["mean"].to_numpy()
            reach = 1.96 * own["error"].fillna(0).to_numpy()
            axes.fill_between(at, mean - reach, mean + reach, alpha=0.18, linewidth=0, **look)
            axes.plot(at, mean, marker=".", markersize=3, **look)
            if (own["seeds"] > 1).any():
                axes.vlines(at, own["lowest"], own["highest"], linewidth=0.8, **look)
        axes.set_title(plain(f"{style.words(task)}\n{metric}"))
        axes.set_xscale("symlog", linthresh=1)
        if metric in ("ppl", "perplexity") and (here["mean"] > 0).all():
            axes.set_yscale("log")
        steps = here["checkpoint"].to_numpy()
        axes.set_xlim(0, max(1.0, float(np.max(steps)) * 1.3))
        axes.set_xlabel("training step")
    label_first_column(all_axes, "score")
    legend_below(figure, [Line2D([], [], color=colour[model], label=legend_label(model)) for model in models])
    return figure
