"""Figures of how scores develop during training, how much they vary, and what formulations change."""

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

from abovechance.information.consistency import correlation
from abovechance.shown import style
from abovechance.shown.panels import (
    dodge,
    empty_figure,
    in_order,
    label_first_column,
    legend_below,
    legend_label,
    panel_grid,
    plain,
)

DISCRETE, CONTINUOUS = "accuracy", "correct"
FEW = 12  # checkpoints that have a place each on the axis; more stand on a logarithmic one
SUMMARY = ["lowest", "low_quartile", "median", "high_quartile", "highest"]
METRIC_WORDS = {"accuracy": "accuracy", "correct": "probability of the correct answer"}


def panels_of(
    table: pd.DataFrame, metrics: Sequence[str] = (DISCRETE, CONTINUOUS), most: int = 8
) -> pd.DataFrame:
    """The rows of the first tasks, with the most shots of each, and these metrics, one above another."""
    tasks = in_order(table["task"])[: most // len(metrics)]
    own = table[table["task"].isin(tasks) & table["metric"].isin(metrics)]
    own = own[own["shots"] == own.groupby("task")["shots"].transform("max")]
    order = own["metric"].map({metric: place for place, metric in enumerate(metrics)})
    return own.assign(order=order).sort_values("order", kind="stable").drop(columns="order")


def curve_numbers(table: pd.DataFrame) -> pd.DataFrame:
    """What the figure shows of the table ``evaluations``: at each checkpoint the mean over seeds, the lowest
    and the highest, the quartiles, the standard error over examples, and where it is known the chance of
    one guess."""
    grouped = table.groupby(["task", "metric", "model", "checkpoint"], sort=False)
    quantiles = {name: grouped["value"].quantile(part / 4) for part, name in enumerate(SUMMARY)}
    found = grouped["value"].agg(mean="mean", seeds="size").assign(**quantiles, error=grouped["error"].mean())
    found["chance"] = grouped["chance"].mean() if "chance" in table else np.nan
    numbers: pd.DataFrame = found.reset_index()
    return numbers


def curves(numbers: pd.DataFrame) -> Figure:
    """Development over training, a panel for each task and metric.

    A line for each model through the means of its seeds, with the 95 % interval over examples; boxes from
    one quartile of the seeds to the other and whiskers to all of them, or with many checkpoints bars.
    """
    style.apply()
    panels = list(dict.fromkeys(zip(numbers["task"], numbers["metric"], strict=True)))
    models = in_order(numbers["model"])
    colour = style.colours(models)
    figure, all_axes = panel_grid(len(panels), height=1.9)
    steps = sorted(numbers["checkpoint"].unique().tolist())
    places = {step: place for place, step in enumerate(steps)} if len(steps) <= FEW else None
    for axes, (task, metric) in zip(all_axes, panels, strict=True):
        here = numbers[(numbers["task"] == task) & (numbers["metric"] == metric)]
        for index, model in enumerate(models):
            own = here[here["model"] == model].sort_values("checkpoint")
            if places is None:
                _line(axes, own, own["checkpoint"].to_numpy(dtype=float), colour[model])
                if (own["seeds"] > 1).any():
                    axes.vlines(
                        own["checkpoint"], own["lowest"], own["highest"], color=colour[model], linewidth=0.8
                    )
            else:
                at = own["checkpoint"].map(places).to_numpy(dtype=float) + dodge(index, len(models))
                _line(axes, own, at, colour[model])
                _boxes(axes, own, at, 0.5 / len(models), colour[model])
        if metric == DISCRETE and here["chance"].notna().any():
            axes.axhline(here["chance"].mean(), **style.BASELINES["standard"])
        axes.set_title(plain(f"{style.words(task)}\n{METRIC_WORDS.get(metric, metric)}"))
        _training_axis(axes, steps, places)
        if metric in ("ppl", "perplexity") and (here["mean"] > 0).all():
            axes.set_yscale("log")
    label_first_column(all_axes, "score")
    marks = [Line2D([], [], color=colour[model], label=legend_label(model)) for model in models]
    if (numbers["metric"].eq(DISCRETE) & numbers["chance"].notna()).any():
        marks.append(Line2D([], [], label="standard baseline", **style.BASELINES["standard"]))
    legend_below(figure, marks)
    return figure


def _line(axes: Axes, own: pd.DataFrame, at: np.ndarray, colour: str) -> None:
    mean, reach = own["mean"].to_numpy(), 1.96 * own["error"].fillna(0).to_numpy()
    axes.fill_between(at, mean - reach, mean + reach, alpha=0.18, linewidth=0, color=colour)
    axes.plot(at, mean, marker=".", markersize=3, color=colour)


def _boxes(axes: Axes, own: pd.DataFrame, at: np.ndarray, width: float, colour: str) -> None:
    """Where there are several seeds."""
    several = (own["seeds"] > 1).to_numpy()
    names = dict(zip(SUMMARY, ("whislo", "q1", "med", "q3", "whishi"), strict=True))
    boxes: Any = own.loc[several, SUMMARY].rename(columns=names).to_dict("records")
    if not boxes:
        return
    look: dict[str, Any] = {"color": colour, "linewidth": 0.8}
    axes.bxp(
        boxes,
        positions=at[several],
        widths=width,
        showfliers=False,
        showcaps=False,
        manage_ticks=False,
        boxprops=look,
        whiskerprops=look,
        medianprops=look,
    )


def _training_axis(axes: Axes, steps: Sequence[int], places: dict[int, int] | None) -> None:
    axes.set_xlabel("training step")
    if places is None:
        axes.set_xscale("symlog", linthresh=1)
        axes.set_xlim(0, max(1.0, steps[-1] * 1.3))
    else:
        axes.set_xticks(range(len(steps)), [_short(step) for step in steps], rotation=45 * (len(steps) > 6))
        axes.set_xlim(-0.6, len(steps) - 0.4)


def _short(step: int) -> str:
    """A step for a narrow axis: 143000 as 143k."""
    return f"{step // 1000}k" if step >= 1000 and step % 1000 == 0 else str(step)


def noise_numbers(summary: pd.DataFrame, chances: pd.DataFrame) -> pd.DataFrame:
    """Of the table ``series``: the last checkpoint's accuracy with its interval, and the signal-to-noise
    ratios of the discrete and the continuous score.

    Parameters
    ----------
    summary
        The table ``series``.
    chances
        ``task``, ``shots`` and the ``chance`` of one guess.
    """
    own = summary[summary["metric"].isin([DISCRETE, CONTINUOUS])]
    own = own[own["shots"] == own.groupby("task")["shots"].transform("max")]
    chance = chances.drop_duplicates(["task", "shots"])[["task", "shots", "chance"]]
    columns = [
        *("model", "task", "shots", "metric", "seeds", "mean", "interval"),
        *("final_deviation", "snr"),
    ]
    found: pd.DataFrame = own[columns].merge(chance, on=["task", "shots"], how="left")
    return found


def noise(numbers: pd.DataFrame) -> Figure:
    """The last checkpoint: accuracies with their intervals, and signal-to-noise ratios side by side."""
    style.apply()
    tasks, models = in_order(numbers["task"])[::-1], in_order(numbers["model"])
    colour = style.colours(models)
    size = (style.FULL_WIDTH, 0.9 + len(tasks) * (0.16 * len(models) + 0.12))
    figure, (left, right) = plt.subplots(1, 2, figsize=size, sharey=True)
    for row in numbers.to_dict("records"):
        own = colour[str(row["model"])]
        at = tasks.index(row["task"]) - dodge(models.index(str(row["model"])), len(models))
        fill = own if row["metric"] == DISCRETE else "white"
        if row["metric"] == DISCRETE:
            left.hlines(at, row["mean"] - row["interval"], row["mean"] + row["interval"], color=own)
            left.plot(row["mean"], at, "o", markersize=4, color=own)
            left.plot(row["chance"], at, "|", markersize=8, color=style.FAINT)
        if np.isfinite(row["snr"]):
            right.plot(row["snr"], at, "o", markersize=4.5, markeredgecolor=own, markerfacecolor=fill)
    left.set_yticks(range(len(tasks)), [plain(style.words(task)) for task in tasks])
    left.set_ylim(-0.6, len(tasks) - 0.4)
    left.set_title("Accuracy with its 95 % interval")
    left.xaxis.set_major_formatter("{x:.0%}")
    right.set_title("Signal-to-noise ratio")
    if numbers["snr"].replace(np.inf, np.nan).notna().any():
        right.set_xscale("log")
        right.xaxis.set_major_formatter("{x:g}")
        right.xaxis.set_minor_formatter("")
    else:
        right.set_xticks([])
        right.text(0.5, 0.5, "needs several seeds", transform=right.transAxes, ha="center", color=style.FAINT)
    for axes in (left, right):
        axes.grid(axis="y", linewidth=0.3, color=style.FAINT)
        axes.set_axisbelow(True)
    marks = [Patch(color=colour[model], label=legend_label(model)) for model in models]
    for label, fill in (("accuracy", style.INK), ("probability of the correct answer", "white")):
        look = {"marker": "o", "linestyle": "", "markeredgecolor": style.INK, "markerfacecolor": fill}
        marks.append(Line2D([], [], label=label, **look))  # type: ignore[arg-type]
    marks.append(Line2D([], [], label="chance", marker="|", linestyle="", color=style.FAINT))  # type: ignore[arg-type]
    legend_below(figure, marks)  # type: ignore[arg-type]
    return figure


def formulation_numbers(
    scores: pd.DataFrame, formulations: dict[str, list[str]], series: dict[str, dict[str, Any]]
) -> pd.DataFrame:
    """Each model's score in the first formulation of a task and in another one, with the most shots."""
    own = scores.astype({"task": str, "model": str})
    own = own[own["metric"].isin([DISCRETE, CONTINUOUS])]
    own = own[own["shots"] == own.groupby("task")["shots"].transform("max")]
    parts = []
    for task, (first, *others) in formulations.items():
        for other in others:
            here = own[own["task"].isin([first, other])]
            wide = here.pivot_table(index=["metric", "model"], columns="task", values="value").dropna()
            found = pd.DataFrame(
                {"first_score": wide[first], "second_score": wide[other]}, index=wide.index
            ).reset_index()
            parts.append(found.assign(task=task, first=first, second=other))
    table = pd.concat(parts, ignore_index=True)
    table["checkpoint"] = [series.get(model, {}).get("checkpoint", -1) for model in table["model"]]
    return table[["task", "metric", "first", "second", "model", "checkpoint", "first_score", "second_score"]]


def formulations_of_tasks(numbers: pd.DataFrame) -> Figure:
    """Each model's score in two formulations, a panel for each task and metric; darker is later."""
    style.apply()
    keys = ["task", "metric", "first", "second"]
    panels = [*numbers.groupby(keys, sort=False)][:8]
    if not panels:
        return empty_figure("no model has two formulations")
    figure, all_axes = panel_grid(len(panels), height=2.1)
    steps = sorted(numbers["checkpoint"].unique().tolist())
    for axes, ((task, metric, first, second), own) in zip(all_axes, panels, strict=True):
        x, y = own["first_score"].to_numpy(), own["second_score"].to_numpy()
        late = [(steps.index(step) + 1) / len(steps) for step in own["checkpoint"]]
        axes.scatter(x, y, s=10, c=late, cmap="Blues", vmin=-0.4, vmax=1, linewidth=0)
        ends = [min(x.min(), y.min()), max(x.max(), y.max())]
        axes.plot(ends, ends, **style.BASELINES["standard"])
        r = correlation(x, y, resamples=0).r
        told = "" if np.isnan(r) else f", r = {r:.2f}"
        axes.set_title(plain(f"{style.words(task)}{told}\n{METRIC_WORDS[metric]}"))
        axes.set_xlabel(plain(style.words(first)))
        axes.set_ylabel(plain(style.words(second)))
    return figure
