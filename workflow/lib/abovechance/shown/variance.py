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
from matplotlib.ticker import LogLocator

from abovechance.core.settings import with_most_shots
from abovechance.pvi.consistency import correlation
from abovechance.shown import style
from abovechance.shown.panels import (
    COLUMNS,
    dodge,
    empty_figure,
    in_order,
    label_first_column,
    legend_below,
    legend_labels,
    panel_grid,
    panel_title,
    percent_axis,
    plain,
)
from abovechance.variance.evaluations import ACCURACY, BEST, LOSSES
from abovechance.variance.summary import shared

DISCRETE, CONTINUOUS = "accuracy", "correct"  # of a study's own scores
PANELS = 24  # at most in one figure
FEW_CHECKPOINTS = 12  # checkpoints between which boxes have room
PLACES = 60  # checkpoints that have a place each on the axis; more stand on a logarithmic one
LABELS = 7  # of such places
FORMULATED = ["task", "metric", "first", "second", "model", "checkpoint", "first_score", "second_score"]
SUMMARY = ["lowest", "low_quartile", "median", "high_quartile", "highest"]
METRIC_WORDS = {
    "accuracy": "accuracy",
    "acc": "accuracy",
    "correct": "probability of the correct answer",
    "ppl": "perplexity",
}


def shown_metrics(rows: pd.DataFrame) -> list[str]:
    """Choose two metrics of one task: one that counts correct answers, and a finer one if there is any.

    Parameters
    ----------
    rows
        The rows of the task in the table ``evaluations``.
    """
    metrics = (
        rows[rows["metric"] != BEST].groupby("metric", sort=False)[["examples", "lower_is_better"]].max()
    )
    accuracies = [metric for metric in metrics.index if ACCURACY.search(str(metric))]
    counted = [
        metric for metric, row in metrics.iterrows() if row["examples"] > 0 and not row["lower_is_better"]
    ]
    discrete = [*accuracies, *counted, *metrics.index][:1]
    further = [metric for metric in metrics.index if metric not in (*accuracies, *discrete)]
    losses = [metric for metric in further if metrics.loc[metric, "lower_is_better"]]
    own_first = [metric for metric in further if metric == CONTINUOUS]
    return [str(metric) for metric in (*discrete, *[*own_first, *losses, *further][:1])]


def panels_of(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of the tasks that a figure has room for, with the most shots of each model, and their
    ``shown_metrics``, the discrete one first; a column ``discrete`` says which it is."""
    rows = with_most_shots(table, ["task", "model"])
    parts, panels = [], 0
    for _, of_task in rows.groupby(["task", "shots"], sort=False):
        metrics = shown_metrics(of_task)
        panels += len(metrics)
        if panels > PANELS:
            break
        parts += [
            of_task[of_task["metric"] == metric].assign(discrete=metric == metrics[0]) for metric in metrics
        ]
    return pd.concat(parts, ignore_index=True)


def _named_by_shots(numbers: pd.DataFrame) -> pd.DataFrame:
    """Return numbers of panels with the number of shots in the names of tasks that have several."""
    several = numbers.groupby("task")["shots"].transform("nunique") > 1
    with_shots = numbers["task"].astype(str) + ", " + numbers["shots"].astype(str) + "-shot"
    return numbers.assign(task=numbers["task"].where(~several, with_shots))


def curve_numbers(table: pd.DataFrame) -> pd.DataFrame:
    """What the figure shows of the table ``evaluations``: at each checkpoint the mean over seeds, the lowest
    and the highest, the quartiles, the standard error over examples, and where it is known the chance of
    one guess. As in the table ``series``, checkpoints that only some seeds have are left out."""
    grouped = shared(table).groupby(["task", "shots", "metric", "model", "checkpoint"], sort=False)
    quantiles = {name: grouped["value"].quantile(part / 4) for part, name in enumerate(SUMMARY)}
    summary = (
        grouped["value"].agg(mean="mean", seeds="size").assign(**quantiles, error=grouped["error"].mean())
    )
    summary["chance"] = grouped["chance"].mean()
    return _named_by_shots(summary.reset_index())


def curves(numbers: pd.DataFrame) -> Figure:
    """Development over training, a panel for each task and metric, those of one task in a column.

    A line for each model through the means of its seeds, with the 95 % interval over examples; boxes from
    one quartile of the seeds to the other and whiskers to all of them, or with many checkpoints bars.
    """
    style.apply()
    if numbers.empty:
        return empty_figure("no checkpoint exists for all seeds")
    models = in_order(numbers["model"])
    colour = style.colours(models)
    figure, all_axes, panels = _panels(numbers)
    steps = sorted(numbers["checkpoint"].unique().tolist())
    places = {step: place for place, step in enumerate(steps)} if len(steps) <= PLACES else None
    for axes, (task, metric) in zip(all_axes, panels, strict=True):
        of_metric = numbers[(numbers["task"] == task) & (numbers["metric"] == metric)]
        for index, model in enumerate(models):
            of_model = of_metric[of_metric["model"] == model].sort_values("checkpoint")
            at = (of_model["checkpoint"].map(places) if places else of_model["checkpoint"]).to_numpy(
                dtype=float
            )
            if (
                len(steps) <= FEW_CHECKPOINTS
            ):  # boxes beside each other; lines stand where their checkpoints are
                _boxes(axes, of_model, at + dodge(index, len(models)), 0.5 / len(models), colour[model])
            elif (of_model["seeds"] > 1).any():
                axes.vlines(at, of_model["lowest"], of_model["highest"], color=colour[model], linewidth=0.8)
            _line(axes, of_model, at, colour[model], style.dashes(index))
        if ACCURACY.search(metric) and of_metric["chance"].notna().any():
            axes.axhline(of_metric["chance"].mean(), **style.BASELINES["standard"])
        axes.set_title(f"{panel_title(task, 20)}\n{plain(METRIC_WORDS.get(metric, style.words(metric)))}")
        _training_axis(axes, steps, places)
        if metric in ("ppl", "perplexity") and (of_metric["mean"] > 0).all():
            axes.set_yscale("log")
    label_first_column(all_axes, "score")
    marks = []
    for index, (model, label) in enumerate(legend_labels(models).items()):
        marks.append(Line2D([], [], color=colour[model], label=label))
        marks[-1].set_linestyle(style.dashes(index))
    if (numbers["metric"].str.contains(ACCURACY) & numbers["chance"].notna()).any():
        marks.append(Line2D([], [], label="standard baseline", **style.BASELINES["standard"]))
    legend_below(figure, marks)
    return figure


def _panels(numbers: pd.DataFrame) -> tuple[Figure, list[Axes], list[tuple[str, str]]]:
    """A figure with a column of panels for each task, those of most metrics first; what each panel shows."""
    stacks: dict[int, list[list[tuple[str, str]]]] = {}
    for task, of_task in numbers.groupby("task", sort=False):
        stack = [(str(task), metric) for metric in in_order(of_task["metric"])]
        stacks.setdefault(len(stack), []).append(stack)
    columns = min(COLUMNS, max(map(len, stacks.values())))
    rows = [
        row
        for size in sorted(stacks, reverse=True)
        for first in range(0, len(stacks[size]), columns)
        for row in zip(*stacks[size][first : first + columns], strict=True)
    ]
    figure, grid = plt.subplots(
        len(rows), columns, figsize=(style.FULL_WIDTH, 1.9 * len(rows) + 0.4), squeeze=False
    )
    for row, all_axes in zip(rows, grid, strict=True):
        for axes in all_axes[len(row) :]:
            axes.remove()
    used = [axes for row, all_axes in zip(rows, grid, strict=True) for axes in all_axes[: len(row)]]
    return figure, used, [panel for row in rows for panel in row]


def _line(axes: Axes, rows: pd.DataFrame, at: np.ndarray, colour: str, dashes: str) -> None:
    mean, reach = rows["mean"].to_numpy(), 1.96 * rows["error"].fillna(0).to_numpy()
    axes.fill_between(at, mean - reach, mean + reach, alpha=0.18, linewidth=0, color=colour)
    axes.plot(at, mean, marker=".", markersize=3, color=colour, linestyle=dashes)


def _boxes(axes: Axes, rows: pd.DataFrame, at: np.ndarray, width: float, colour: str) -> None:
    """Draw a box for each row with several seeds."""
    several = (rows["seeds"] > 1).to_numpy()
    names = dict(zip(SUMMARY, ("whislo", "q1", "med", "q3", "whishi"), strict=True))
    boxes: Any = rows.loc[several, SUMMARY].rename(columns=names).to_dict("records")
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
        return
    every = (
        range(len(steps))
        if len(steps) <= FEW_CHECKPOINTS
        else np.linspace(0, len(steps) - 1, LABELS).round().astype(int)
    )
    axes.set_xticks(every, [_short(steps[place]) for place in every], rotation=45 * (len(every) > 6))
    axes.set_xticks(range(len(steps)), minor=True)
    axes.set_xlim(-0.6, len(steps) - 0.4)


def _short(step: int) -> str:
    """Return a step for a narrow axis: 143000 as 143k."""
    return f"{step // 1000}k" if step >= 1000 and step % 1000 == 0 else str(step)


def noise_numbers(summary: pd.DataFrame, metrics: pd.DataFrame) -> pd.DataFrame:
    """The last checkpoint's score, half the width of its 95 % interval, and the signal-to-noise ratios of the
    discrete and the continuous score.

    Parameters
    ----------
    summary
        The table ``series``.
    metrics
        Rows of the table ``evaluations``, from ``panels_of``.
    """
    keys = ["task", "shots", "metric"]
    rows = shared(metrics)
    last = rows[rows["checkpoint"] == rows.groupby(["model", *keys])["checkpoint"].transform("max")]
    grouped = last.groupby(["model", *keys, "discrete"], sort=False)
    means = grouped.agg(error=("error", "mean"), chance=("chance", "mean")).reset_index()
    measured = summary[["model", *keys, "seeds", "mean", "final_deviation", "snr"]]
    means["interval"] = 1.96 * means.pop("error")
    numbers: pd.DataFrame = means.merge(measured, on=["model", *keys])
    # what is no share has no place on the axis of these, and stands in the figure by its ratio alone
    shares = numbers["mean"].between(0, 1) & numbers["metric"].map(
        lambda metric: not LOSSES.search(metric)
    ).astype(bool)
    numbers["share"] = shares & numbers["discrete"]
    return _named_by_shots(numbers[numbers["share"] | np.isfinite(numbers["snr"])])


def noise(numbers: pd.DataFrame) -> Figure:
    """The last checkpoint: discrete scores with their intervals, and signal-to-noise ratios side by side."""
    style.apply()
    if numbers.empty:
        return empty_figure("no score is a share of right answers, and none has several seeds")
    tasks, models = in_order(numbers["task"])[::-1], in_order(numbers["model"])
    colour = style.colours(models)
    noisy = bool(numbers["snr"].replace(np.inf, np.nan).notna().any())
    size = (style.FULL_WIDTH * (1 if noisy else 0.7), 0.9 + len(tasks) * (0.1 * len(models) + 0.12))
    figure, grid = plt.subplots(1, 1 + noisy, figsize=size, sharey=True, squeeze=False)
    left_axes, right_axes = grid[0][0], grid[0][-1]
    for row in numbers.to_dict("records"):
        model_colour = colour[str(row["model"])]
        at = tasks.index(row["task"]) - dodge(models.index(str(row["model"])), len(models))
        fill = model_colour if row["discrete"] else "white"
        if row["share"]:
            left_axes.hlines(
                at, row["mean"] - row["interval"], row["mean"] + row["interval"], color=model_colour
            )
            left_axes.plot(row["mean"], at, "o", markersize=4, color=model_colour)
            left_axes.plot(row["chance"], at, "|", markersize=8, color=style.FAINT)
        if noisy and np.isfinite(row["snr"]):
            right_axes.plot(
                row["snr"], at, "o", markersize=4.5, markeredgecolor=model_colour, markerfacecolor=fill
            )
    left_axes.set_yticks(range(len(tasks)), [panel_title(task) for task in tasks])
    left_axes.set_ylim(-0.6, len(tasks) - 0.4)
    left_axes.set_title("Score with its 95 % interval")
    percent_axis(left_axes.xaxis)
    if noisy:
        right_axes.set_title("Signal-to-noise ratio")
        right_axes.set_xscale("log")
        right_axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        right_axes.xaxis.set_major_formatter("{x:g}")
        right_axes.xaxis.set_minor_formatter("")
        low, high = right_axes.get_xlim()
        right_axes.set_xlim(low / 1.3, high * 1.3)
    for axes in grid[0]:
        axes.grid(axis="y", linewidth=0.3, color=style.FAINT)
        axes.set_axisbelow(True)
    marks = [Patch(color=colour[model], label=label) for model, label in legend_labels(models).items()]
    metrics = {
        kind: in_order(model_colour["metric"])
        for kind, model_colour in numbers.groupby("discrete", sort=False)
    }
    for kind, fill in ((True, style.INK), (False, "white"))[: 1 + noisy]:
        label = ", ".join(METRIC_WORDS.get(metric, style.words(metric)) for metric in metrics.get(kind, []))
        if not label:
            continue
        look = {"marker": "o", "linestyle": "", "markeredgecolor": style.INK, "markerfacecolor": fill}
        marks.append(Line2D([], [], label=label, **look))  # type: ignore[arg-type]
    marks.append(Line2D([], [], label="chance", marker="|", linestyle="", color=style.FAINT))  # type: ignore[arg-type]
    legend_below(figure, marks)
    return figure


def formulation_numbers(
    scores: pd.DataFrame, formulations: dict[str, list[str]], series: dict[str, dict[str, Any]]
) -> pd.DataFrame:
    """Each model's score in the first formulation of a task and in another one, with the most shots."""
    rows = scores.astype({"task": str, "model": str})
    rows = with_most_shots(rows[rows["metric"].isin([DISCRETE, CONTINUOUS])])
    parts = []
    for task, (first, *further) in formulations.items():
        for formulation in further:
            pair = rows[rows["task"].isin([first, formulation])]
            wide = pair.pivot_table(index=["metric", "model"], columns="task", values="value").dropna()
            pairs = pd.DataFrame(
                {"first_score": wide[first], "second_score": wide[formulation]}, index=wide.index
            ).reset_index()
            parts.append(pairs.assign(task=task, first=first, second=formulation))
    table = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=FORMULATED)
    table["checkpoint"] = [series.get(model, {}).get("checkpoint", -1) for model in table["model"]]
    return table[FORMULATED]


def formulations_of_tasks(numbers: pd.DataFrame) -> Figure:
    """Return each model's score in two formulations, a panel for each task and metric; darker is later."""
    style.apply()
    keys = ["task", "metric", "first", "second"]
    panels = [*numbers.groupby(keys, sort=False)][:8]
    if not panels:
        return empty_figure("no model has two formulations")
    figure, all_axes = panel_grid(len(panels), height=2.1)
    steps = sorted(numbers["checkpoint"].unique().tolist())
    for axes, ((task, metric, first, second), rows) in zip(all_axes, panels, strict=True):
        x, y = rows["first_score"].to_numpy(), rows["second_score"].to_numpy()
        late = np.array([(steps.index(step) + 1) / len(steps) for step in rows["checkpoint"]])
        alone = rows["checkpoint"].to_numpy() < 0  # of no series
        axes.scatter(x[~alone], y[~alone], s=10, c=late[~alone], cmap="Blues", vmin=-0.4, vmax=1, linewidth=0)
        axes.scatter(x[alone], y[alone], s=10, color=style.COLOURS[1], linewidth=0)
        ends = [min(x.min(), y.min()), max(x.max(), y.max())]
        axes.plot(ends, ends, color=style.FAINT, linewidth=0.6)
        r = correlation(x, y).r
        correlation_text = "" if np.isnan(r) else f", r = {r:.2f} of {len(x)}"
        axes.set_title(plain(f"{style.words(task)}{correlation_text}\n{METRIC_WORDS[metric]}"))
        axes.set_xlabel(plain(style.words(first)))
        axes.set_ylabel(plain(style.words(second)))
    return figure
