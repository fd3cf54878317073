"""The spread of prompts: all accuracies of a study with the baselines."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from abovechance.chance.baselines import BASELINES
from abovechance.core.settings import SETTING
from abovechance.shown import style
from abovechance.shown.panels import (
    baseline_marks,
    dodge,
    in_order,
    legend_below,
    legend_labels,
    percent_axis,
    task_panels,
)


def spread_numbers(accuracy: pd.DataFrame, verdicts: pd.DataFrame) -> pd.DataFrame:
    """Return one row per prompt: its accuracy, and its setting's baselines, tail and conclusion."""
    beside = [*SETTING, "best_prompt", *(baseline.column for baseline in BASELINES), "maximum_tail"]
    beside += ["position", "better_than_chance"]
    return accuracy[[*SETTING, "prompt", "accuracy"]].merge(verdicts[beside], on=SETTING)


def spread(numbers: pd.DataFrame) -> Figure:
    """Return the accuracies of all prompts by task, shots and model, with the baselines (Figure 1)."""
    style.apply()
    models, shots = in_order(numbers["model"]), sorted(numbers["shots"].unique())
    if len(models) * len(shots) > MOST_STRIPS:
        return _spread_of_many(numbers, shots)
    colour, mark = style.colours(models), style.marks(models)
    figure, panels = task_panels(numbers, 1.9, "accuracy")
    for axes, rows in panels:
        for key, group in rows.groupby(["shots", "model"], observed=True):
            shot, model = key[0], str(key[1])
            centre = shots.index(shot) + dodge(models.index(model), len(models))
            _strip(axes, centre, 0.7 / len(models), group, colour[model], mark[model])
        _shots_axis(axes, shots)
        axes.margins(y=0.12)  # room for stars
        percent_axis(axes.yaxis)
    marks = [
        Line2D([], [], marker=mark[model], linestyle="", markersize=3.5, color=colour[model], label=label)
        for model, label in legend_labels(models).items()
    ]
    best = _best_marks("best prompt: not better (?: unclear)", "better than chance (*)")
    legend_below(figure, [*marks, *baseline_marks(), *best])
    return figure


def _shots_axis(axes: Axes, shots: list[int]) -> None:
    """Label the places of the numbers of shots; names of more than three would touch."""
    names = [f"{shot}-shot" if len(shots) <= 3 else str(shot) for shot in shots]
    axes.set_xticks(range(len(shots)), names)
    axes.set_xlim(-0.5, len(shots) - 0.5)
    if len(shots) > 3:
        axes.set_xlabel("shots")


def _best_marks(no: str, yes: str) -> list[Line2D]:
    look: dict[str, Any] = {"marker": "o", "linestyle": "", "color": style.INK, "markersize": 4}
    return [
        Line2D([], [], markerfacecolor=face, label=label, **look)
        for face, label in (("white", no), (style.INK, yes))
    ]


# Side by side in a panel; more cannot be told apart.
MOST_STRIPS = 60


def _spread_of_many(numbers: pd.DataFrame, shots: list[int]) -> Figure:
    """Draw the best prompts only, for many models, grouped by number of shots."""
    best = numbers[numbers["prompt"] == numbers["best_prompt"]]
    figure, panels = task_panels(best, 1.9, "accuracy")
    for axes, rows in panels:
        for place, shot in enumerate(shots):
            _crowd(axes, place, rows[rows["shots"] == shot].sort_values("accuracy", kind="stable"))
        _shots_axis(axes, shots)
        percent_axis(axes.yaxis)
    many = numbers["model"].nunique()
    marks = _best_marks(f"best prompt of one of {many} models, not better than chance", "better than chance")
    legend_below(figure, [*baseline_marks(), *marks])
    return figure


def _crowd(axes: Axes, place: int, best: pd.DataFrame) -> None:
    """The best prompts of all models with one number of shots, the lowest on the left."""
    across = place + np.linspace(-0.4, 0.4, len(best)) if len(best) > 1 else np.full(len(best), float(place))
    faces = np.where(best["better_than_chance"] == "yes", style.INK, "white")
    axes.scatter(across, best["accuracy"], s=7, color=faces, edgecolor=style.INK, linewidth=0.4, zorder=2)
    for baseline in BASELINES:
        axes.plot(across, best[baseline.column], zorder=3, **style.BASELINES[baseline.name])


def _strip(axes: Axes, centre: float, width: float, group: pd.DataFrame, colour: str, mark: str) -> None:
    """The prompts of one setting as dots around ``centre``, the best one larger."""
    values = group["accuracy"].to_numpy()
    # Equal accuracies are spread evenly, so that no dot hides another and none is random.
    offsets = np.zeros(len(values))
    for value in np.unique(values):
        tied = np.flatnonzero(values == value)
        offsets[tied] = (np.arange(len(tied)) - (len(tied) - 1) / 2) / max(len(values) / 3, 4)
    across = centre + np.clip(offsets, -0.45, 0.45) * width
    axes.scatter(across, values, s=7, color=colour, marker=mark, alpha=0.55, linewidth=0, zorder=2)
    best = int((group["prompt"] == group["best_prompt"]).to_numpy().argmax())
    conclusion = group["better_than_chance"].iloc[0]
    # a best prompt that is not shown to be better than chance is an empty ring
    face = colour if conclusion == "yes" else "white"
    axes.scatter(
        centre, values[best], s=20, color=face, marker=mark, edgecolor=colour, linewidth=0.9, zorder=4
    )
    axes.annotate(
        style.CONCLUSIONS[conclusion][1],
        (centre, values[best]),
        (0, 1.5),
        textcoords="offset points",
        ha="center",
        va="bottom",
        fontsize=7,
    )
    for baseline in BASELINES:
        ends, level = [centre - width / 2, centre + width / 2], group[baseline.column].iloc[0]
        axes.plot(ends, [level] * 2, zorder=3, **style.BASELINES[baseline.name])
