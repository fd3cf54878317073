"""Figures of which examples are hard for models."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from abovechance.core.settings import SETTING, with_most_shots
from abovechance.pvi.pointwise import v_information
from abovechance.pvi.runs import ENDS
from abovechance.shown import style
from abovechance.shown.panels import (
    empty_figure,
    in_order,
    label_first_column,
    legend_below,
    legend_labels,
    panel_grid,
    panel_title,
    percent_axis,
    task_panels,
)

# from hard to easy
ALONG = ["lowest_fifth", "lowest_half", "highest_half", "highest_fifth"]


def density_numbers(densities: pd.DataFrame, settings: pd.DataFrame) -> pd.DataFrame:
    """The table ``pvi_densities`` with each setting's ``threshold``, with the most shots of each task."""
    return with_most_shots(densities).merge(settings[[*SETTING, "threshold"]], on=SETTING)


def densities(numbers: pd.DataFrame) -> Figure:
    """Densities of the PVI of right and wrong predictions, a panel for each task and model (Figure 4)."""
    style.apply()
    tasks, models = in_order(numbers["task"]), in_order(numbers["model"])
    colour = style.colours(models)
    panels = [(task, model) for task in tasks for model in models]
    figure, all_axes = panel_grid(len(panels), height=1.7)
    for axes, (task, model) in zip(all_axes, panels, strict=True):
        rows = numbers[(numbers["task"] == task) & (numbers["model"] == model)]
        for correct, line in rows.groupby("correct"):
            if correct:
                axes.fill_between(line["pvi"], line["density"], color=colour[model], alpha=0.55, linewidth=0)
            else:
                axes.plot(line["pvi"], line["density"], color=style.INK)
        if len(rows) and np.isfinite(rows["threshold"].iloc[0]):
            axes.axvline(rows["threshold"].iloc[0], color=style.INK, linestyle=(0, (3, 2)), linewidth=0.8)
        axes.set_title(panel_title(task))
        axes.set_yticks([])
        axes.set_ylim(bottom=0)
        axes.set_xlabel("PVI (bits)")
    label_first_column(all_axes, "density")
    look: dict[str, Any] = {"linewidth": 6, "alpha": 0.55}
    labels = legend_labels(models)
    marks = [Line2D([], [], color=colour[m], label=f"correct, {labels[m]}", **look) for m in models]
    wrong = Line2D([], [], color=style.INK, label="wrong")
    border = Line2D([], [], color=style.INK, linestyle=(0, (3, 2)), linewidth=0.8, label="best threshold")
    legend_below(figure, [*marks, wrong, border])
    return figure


def annotation_numbers(annotated: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of ``examples.annotated`` with the most shots of each task."""
    return with_most_shots(annotated)[[*SETTING, "example", "variation", "pvi"]]


def annotators(numbers: pd.DataFrame) -> Figure:
    """PVI by the annotators' variation ratio, a panel for each task (Figure 5)."""
    style.apply()
    if numbers.empty:
        return empty_figure("no task has annotations")
    models = in_order(numbers["model"])
    colour = style.colours(models)
    figure, panels = task_panels(numbers, 2.1, "PVI (bits)")
    for axes, of_task in panels:
        for place, model in enumerate(models):
            of_model = of_task[of_task["model"] == model]
            beside = (place - (len(models) - 1) / 2) * 0.012
            axes.scatter(
                of_model["variation"] + beside,
                of_model["pvi"],
                s=4,
                color=colour[model],
                alpha=0.35,
                linewidth=0,
            )
            estimates = [(at, v_information(group["pvi"])) for at, group in of_model.groupby("variation")]
            axes.errorbar(
                [float(str(at)) + beside for at, _ in estimates],
                [mean.value for _, mean in estimates],
                [np.nan_to_num(mean.high - mean.value) for _, mean in estimates],
                color=colour[model],
                fmt="o",
                markersize=4,
                markeredgecolor="white",
            )
        axes.set_xlabel("variation ratio")
        axes.axhline(0, color=style.FAINT, linewidth=0.6, zorder=0)
    look: dict[str, Any] = {"marker": "o", "linestyle": "", "markersize": 4}
    labels = legend_labels(models)
    legend_below(figure, [Line2D([], [], color=colour[m], label=labels[m], **look) for m in models])
    return figure


def tail_numbers(tails: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each setting, part of its examples and way to order them, from ``runs.tails``."""
    names = [*ENDS, *(f"other_{name}" for name in ENDS)]
    long = tails[[*SETTING, *names]].melt(SETTING, names, "part", "accuracy")
    ordered = long["part"].str.startswith("other_").map({True: "other prompts", False: "the prompt's own"})
    return long.assign(part=long["part"].str.removeprefix("other_"), ordered_by=ordered)


def tails(numbers: pd.DataFrame) -> Figure:
    """Accuracy from the hardest to the easiest examples, a panel for each task (Figure 2)."""
    style.apply()
    models = in_order(numbers["model"])
    colour, shots = style.colours(models), sorted(numbers["shots"].unique())
    markers = dict(zip(shots, "osD^v<>ph*" * (1 + len(shots) // 10), strict=False))
    figure, panels = task_panels(numbers, 2.1, "accuracy")
    for axes, of_task in panels:
        for (model, shot, by), line in of_task.groupby(
            ["model", "shots", "ordered_by"], sort=False, observed=True
        ):
            by_prompt = by == "the prompt's own"
            values = line.set_index("part")["accuracy"].reindex(ALONG)
            axes.plot(
                range(len(ALONG)),
                values,
                color=colour[str(model)],
                marker=markers[shot],
                markersize=3.5,
                linestyle="-" if by_prompt else ":",
                markerfacecolor=colour[str(model)] if by_prompt else "white",
            )
        _label_tails(axes)
    marks = [
        Line2D([], [], color=colour[m], marker=markers[s], label=f"{label}, {s}-shot", markersize=3.5)
        for m, label in legend_labels(models).items()
        for s in shots
    ]
    hollow: dict[str, Any] = {"markersize": 3.5, "markerfacecolor": "white", "linestyle": ":"}
    by_others = Line2D([], [], color=style.INK, marker="o", label="ordered by PVI of other prompts", **hollow)
    legend_below(figure, [*marks, by_others])
    return figure


def _label_tails(axes: Axes) -> None:
    names = ["lowest\nfifth", "lowest\nhalf", "highest\nhalf", "highest\nfifth"]
    axes.set_xticks(range(len(ALONG)), names)
    axes.set_xlim(-0.3, len(ALONG) - 0.7)
    axes.set_ylim(-0.03, 1.03)
    percent_axis(axes.yaxis)


def models(pairs: pd.DataFrame) -> Figure:
    """Return how alike models find the same examples, a heat map for each task (Figures 3 and 6).

    Parameters
    ----------
    pairs
        The rows between models of the table ``pvi_pairs``.
    """
    style.apply()
    if pairs.empty:
        return empty_figure("one model: there is none to compare it with")
    tasks = in_order(pairs["task"])
    names = list(dict.fromkeys([*pairs["first"].astype(str), *pairs["second"].astype(str)]))
    labels = [*legend_labels(names).values()]
    figure, panels = panel_grid(len(tasks), height=2.0)
    for axes, task in zip(panels, tasks, strict=True):
        grid = np.eye(len(names))
        for row in pairs[pairs["task"] == task].itertuples():
            places = names.index(str(row.first)), names.index(str(row.second))
            grid[places] = grid[places[::-1]] = float(str(row.r))
        image = axes.imshow(grid, vmin=-1, vmax=1, cmap="PuOr")
        for (down, across), value in np.ndenumerate(grid):
            dark = abs(value) > 0.6
            text = "" if np.isnan(value) else f"{value:.2f}"
            axes.text(
                across, down, text, ha="center", va="center", fontsize=6, color="white" if dark else style.INK
            )
        axes.set_title(panel_title(task))
        axes.set_xticks(range(len(names)), labels, rotation=90)
        place = axes.get_subplotspec()
        first = place is None or place.is_first_col()
        axes.set_yticks(range(len(names)), labels if first else [])
    figure.colorbar(image, ax=panels, label="Pearson's r", shrink=0.7)
    return figure
