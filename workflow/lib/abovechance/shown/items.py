"""Figures of which examples tell models apart, and of what fewer examples cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, NullLocator

from abovechance.core.words import counted
from abovechance.items.features import grouped
from abovechance.items.smaller import ALL
from abovechance.shown import style
from abovechance.shown.panels import (
    empty_figure,
    in_order,
    legend_below,
    percent_axis,
    plain,
    task_panels,
)

PANELS = 24  # tasks at most in one figure
ANSWERS = 6  # that have a colour each
COST_ROWS = {
    "error": "mean absolute error",
    "standard_error": "standard error",
    "flips": "reversed pairs",
    "flips_best": "reversed pairs, best fifth",
}
PRUNED = {
    "mean": "change of mean score",
    "error": "ratio of standard errors",
    "monotonicity": "change of monotonicity",
}


def item_numbers(items: pd.DataFrame) -> pd.DataFrame:
    """The items of the tasks that a figure has room for, without those that are constant."""
    tasks = in_order(items["task"])[:PANELS]
    rows = items[items["task"].isin(tasks) & ~items["constant"].astype(bool)]
    return rows[
        ["task", "example", "difficulty", "corrected", "half", "other_half", "rest", "best", "answer"]
    ].reset_index(drop=True)


def scatter(numbers: pd.DataFrame) -> Figure:
    """Discrimination by difficulty, a panel for each task, coloured by the right answer where few have many
    (Madaan et al., Figure 3)."""
    style.apply()
    if numbers.empty:
        return empty_figure("all items are constant")
    figure, panels = task_panels(numbers, 1.9, "discrimination")
    for axes, rows in panels:
        axes.axhline(0, color=style.FAINT, linewidth=0.6)
        answers = grouped(rows["answer"]) if rows["answer"].notna().all() else None
        if answers is not None and 1 < answers.nunique() <= ANSWERS:
            colour = style.colours(in_order(answers))
            for answer, name in ((answer, str(answer)) for answer in colour):
                answered = rows[answers == answer]
                axes.scatter(
                    answered["difficulty"],
                    answered["corrected"],
                    s=6,
                    color=colour[name],
                    linewidth=0,
                    alpha=0.7,
                    label=plain(name if len(name) <= 14 else f"{name[:13]}..."),
                )
            axes.legend(fontsize=5.5, handletextpad=0.1, borderpad=0.1, labelspacing=0.2, loc="best")
        else:
            axes.scatter(
                rows["difficulty"], rows["corrected"], s=6, color=style.COLOURS[0], linewidth=0, alpha=0.6
            )
        axes.set_xlim(-0.03, 1.03)
        axes.set_xlabel("difficulty (mean score)")
    return figure


def halves(numbers: pd.DataFrame) -> Figure:
    """Discrimination in one half of the rows and in the other, in the best rows and the rest (Figure 6)."""
    style.apply()
    if numbers.empty:
        return empty_figure("all items are constant")
    figure, panels = task_panels(numbers, 1.9, "discrimination in other rows")
    for axes, rows in panels:
        values = rows[["half", "other_half", "rest", "best"]].to_numpy(dtype=float)
        ends = _ends(values)
        axes.plot(ends, ends, color=style.FAINT, linewidth=0.6)
        axes.scatter(
            rows["rest"], rows["best"], s=7, facecolor="none", edgecolor=style.COLOURS[1], linewidth=0.6
        )
        axes.scatter(rows["half"], rows["other_half"], s=5, color=style.COLOURS[0], linewidth=0, alpha=0.7)
        axes.set_xlim(ends)
        axes.set_ylim(ends)
        axes.set_box_aspect(1)
        axes.set_xlabel("discrimination in some rows")
    look: dict[str, Any] = {"linestyle": "", "marker": "o", "markersize": 4}
    marks = [
        Line2D([], [], color=style.COLOURS[0], label="two random halves", **look),
        Line2D(
            [],
            [],
            color=style.COLOURS[1],
            markerfacecolor="none",
            label="the rest and the best fifth",
            **look,
        ),
    ]
    legend_below(figure, marks if numbers["best"].notna().any() else marks[:1])
    return figure


def _ends(values: np.ndarray) -> tuple[float, float]:
    finite = values[np.isfinite(values)]
    if not finite.size:
        return -1.0, 1.0
    return float(min(finite.min(), 0)) - 0.05, float(finite.max()) + 0.05


def pruning_numbers(steps: pd.DataFrame) -> pd.DataFrame:
    """Return the change of scores by share of items removed, with the band of random removal.

    Standard errors are divided by that of all items, since they grow with fewer items whatever these are.
    """
    tasks = in_order(steps["task"])[:PANELS]
    rows = steps[steps["task"].isin(tasks)].copy()
    rows["share"] = rows["removed"] / (rows["removed"] + rows["items"])
    start = rows[rows["removed"] == 0].set_index(["task", "split"])
    keys = pd.MultiIndex.from_frame(rows[["task", "split"]])
    numbers = rows[["task", "split", "share"]].copy()
    for measure in PRUNED:
        base = start[measure].reindex(keys).to_numpy()
        for name in (measure, f"random_{measure}", f"random_{measure}_low", f"random_{measure}_high"):
            numbers[name] = rows[name] / base if measure == "error" else rows[name] - base
    return numbers


def pruning(numbers: pd.DataFrame, measure: str) -> Figure:
    """Held-out scores without the least discriminating items, a panel for each task (Figure 7)."""
    style.apply()
    if numbers.empty:
        return empty_figure("too few rows or items to hold some out")
    numbers = numbers[numbers[measure].notna()]
    if numbers.empty:
        return empty_figure("it is the same of all rows, or not known")
    splits = in_order(numbers["split"])
    colour = style.colours(splits)
    figure, panels = task_panels(numbers, 1.7, PRUNED[measure])
    for axes, of_task in panels:
        for split in splits:
            rows = of_task[of_task["split"] == split]
            axes.fill_between(
                rows["share"],
                rows[f"random_{measure}_low"],
                rows[f"random_{measure}_high"],
                color=colour[split],
                alpha=0.15,
                linewidth=0,
            )
            axes.plot(rows["share"], rows[measure], color=colour[split])
        percent_axis(axes.xaxis, ticks=4)
        axes.set_xlabel("items removed")
        if measure != "error":
            axes.axhline(0, color=style.FAINT, linewidth=0.6)
    marks = [Line2D([], [], color=colour[split], label=f"held out: {split}") for split in splits]
    legend_below(figure, [*marks, Patch(color=style.FAINT, alpha=0.3, label="same number at random, 95 %")])
    return figure


def costs(table: pd.DataFrame) -> Figure:
    """Examples kept against errors, flips and the variance of estimates: a column for each split."""
    style.apply()
    numbers = table[table["method"] != ALL]
    if numbers.empty:
        why = (
            "too few rows or items to hold some out" if table.empty else "no task has more examples than that"
        )
        return empty_figure(why)
    measures = {measure: words for measure, words in COST_ROWS.items() if numbers[measure].notna().any()}
    splits, methods = in_order(numbers["split"]), in_order(numbers["method"])
    sizes = sorted(numbers["examples"].unique())
    size = (style.FULL_WIDTH, 1.55 * len(measures) + 0.5)
    figure, grid = plt.subplots(
        len(measures), len(splits), figsize=size, squeeze=False, sharex=True, sharey="row"
    )
    for row, (measure, words) in zip(grid, measures.items(), strict=True):
        for axes, split in zip(row, splits, strict=True):
            if numbers.loc[numbers["split"] == split, measure].isna().all():
                axes.text(0.5, 0.5, "too few rows", transform=axes.transAxes, ha="center", color=style.FAINT)
            for method in methods:
                rows = numbers[(numbers["split"] == split) & (numbers["method"] == method)]
                axes.plot(rows["examples"], rows[measure], **_look(method, methods))
            _sizes_axis(axes, sizes)
            percent_axis(axes.yaxis)
        row[0].set_ylim(bottom=0)  # of the whole row, once all is drawn
        row[0].set_ylabel(words)
    for axes, split in zip(grid[0], splits, strict=True):
        tasks = int(numbers.loc[numbers["split"] == split, "tasks"].max())
        axes.set_title(f"held out: {split}\n({counted(tasks, 'task')})")
    for axes in grid[-1]:
        axes.set_xlabel("examples kept")
    legend_below(figure, [Line2D([], [], label=method, **_look(method, methods)) for method in methods])
    return figure


def _look(method: str, methods: Sequence[str]) -> dict[str, Any]:
    """Return a line for a method: subsets that know nothing of other models in grey and black."""
    simple = {"random": style.FAINT, "stratified": style.INK}
    complex_methods = [name for name in methods if name not in simple]
    colour = simple.get(method) or style.COLOURS[complex_methods.index(method) % len(style.COLOURS)]
    return {"color": colour, "marker": "o", "markersize": 3, "linestyle": "--" if method in simple else "-"}


def _sizes_axis(axes: Axes, sizes: Sequence[float]) -> None:
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(FixedLocator(sizes))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticklabels([f"{size:g}" for size in sizes])


def adaptive(table: pd.DataFrame) -> Figure:
    """The share of examples that a decision takes, by way, and beside it how often it is wrong."""
    style.apply()
    if table.empty:
        return empty_figure("no evaluation was replayed")
    questions, ways = in_order(table["question"]), in_order(table["way"])
    colour = style.colours(ways)
    figure, axes = plt.subplots(figsize=(style.FULL_WIDTH, 0.5 + 0.62 * len(questions)))
    for place, question in enumerate(questions):
        for index, way in enumerate(ways):
            rows = table[(table["question"] == question) & (table["way"] == way)]
            if rows.empty:
                continue
            row = rows.iloc[0]
            at = place + (index - (len(ways) - 1) / 2) * 0.26
            axes.barh(at, row["share"], height=0.22, color=colour[way])
            label = f"{row['wrong']:.1%} wrong (95 % limit {row['wrong_limit']:.0%})"
            axes.text(row["share"] + 0.01, at, label, va="center", fontsize=6.5)
    axes.set_yticks(range(len(questions)), questions)
    axes.invert_yaxis()
    axes.set_xlim(0, 1.25)
    percent_axis(axes.xaxis)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1])
    axes.set_xlabel("share of examples until the decision")
    legend_below(figure, [Patch(color=colour[way], label=way) for way in ways])
    return figure
