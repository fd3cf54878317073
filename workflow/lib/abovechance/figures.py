"""The figures of a study, each from a table of plotted numbers."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator, NullLocator, PercentFormatter

from abovechance import style
from abovechance.accuracy import SETTING
from abovechance.verdicts import expected_maximum_curve

COLUMNS = 4
ROUND_NUMBERS = [digit * 10**power for power in range(7) for digit in (1, 2, 5)]


def spread_numbers(accuracy: pd.DataFrame, verdicts: pd.DataFrame) -> pd.DataFrame:
    """One row a prompt: its accuracy, and its setting's baselines and verdict."""
    beside = [*SETTING, "standard_baseline", "maximum_baseline", "verdict"]
    return accuracy[[*SETTING, "prompt", "accuracy"]].merge(verdicts[beside], on=SETTING)


def spread(numbers: pd.DataFrame) -> Figure:
    """The accuracies of all prompts by task, shots and model, with both baselines (Figure 1)."""
    style.apply()
    tasks, models = _unique(numbers["task"]), _unique(numbers["model"])
    shots = sorted(numbers["shots"].unique())
    colour = style.colours(models)
    figure, panels = _panels(len(tasks), height=1.9)
    for axes, task in zip(panels, tasks, strict=True):
        here = numbers[numbers["task"] == task]
        for (shot, model), group in here.groupby(["shots", "model"], observed=True):
            centre = shots.index(shot) + _dodge(models.index(model), len(models))
            _strip(axes, centre, 0.7 / len(models), group, colour[model])
        axes.set_title(_title(task))
        axes.set_xticks(range(len(shots)), [f"{shot}-shot" for shot in shots])
        axes.set_xlim(-0.5, len(shots) - 0.5)
        _percent_axis(axes)
    _label_first_column(panels, "accuracy")
    marks = [
        Line2D([], [], marker="o", linestyle="", markersize=3.5, color=colour[m], label=m) for m in models
    ]
    _legend(figure, [*marks, *_baseline_marks()])
    return figure


def _strip(axes: Axes, centre: float, width: float, group: pd.DataFrame, colour: str) -> None:
    """The prompts of one setting as dots around ``centre``, the best one filled and larger."""
    values = group["accuracy"].to_numpy()
    # Equal accuracies are spread evenly, so that no dot hides another and none is random.
    offsets = np.zeros(len(values))
    for value in np.unique(values):
        same = np.flatnonzero(values == value)
        offsets[same] = (np.arange(len(same)) - (len(same) - 1) / 2) / max(len(values) / 3, 4)
    across = centre + np.clip(offsets, -0.45, 0.45) * width
    axes.scatter(across, values, s=7, color=colour, alpha=0.55, linewidth=0, zorder=2)
    best = int(values.argmax())
    axes.scatter(centre, values[best], s=20, color=colour, edgecolor="white", linewidth=0.6, zorder=4)
    for name in ("standard", "maximum"):
        level = group[f"{name}_baseline"].iloc[0]
        axes.plot([centre - width / 2, centre + width / 2], [level] * 2, zorder=3, **style.BASELINES[name])


def expected_maximum_numbers(accuracy: pd.DataFrame) -> pd.DataFrame:
    """One row a task, shots and number of prompts, of one model; see ``expected_maximum_curve``."""
    parts = []
    for key, group in accuracy.groupby(["task", "shots"], observed=True, sort=False):
        curve = expected_maximum_curve(group)
        curve.insert(0, "task", key[0])
        curve.insert(1, "shots", key[1])
        parts.append(curve)
    return pd.concat(parts, ignore_index=True)


def expected_maximum(numbers: pd.DataFrame) -> Figure:
    """Expected best accuracy by prompts tried, with both baselines; tails below (Figure 3)."""
    style.apply()
    tasks, shots = _unique(numbers["task"]), sorted(numbers["shots"].unique())
    colour = style.colours([f"{shot}-shot" for shot in shots])
    columns = min(COLUMNS, len(tasks))
    bands = math.ceil(len(tasks) / columns)
    figure, grid = plt.subplots(
        2 * bands, columns, figsize=(style.FULL_WIDTH, 3.3 * bands), squeeze=False, sharex=True
    )
    for place in range(bands * columns):
        row, column = divmod(place, columns)
        above, below = grid[2 * row, column], grid[2 * row + 1, column]
        if place >= len(tasks):
            above.remove()
            below.remove()
            continue
        here = numbers[numbers["task"] == tasks[place]]
        for shot, group in here.groupby("shots"):
            _expected_maximum_pair(above, below, group, colour[f"{shot}-shot"])
        above.set_title(_title(tasks[place]))
        _percent_axis(above)
        below.set(xscale="log", yscale="log", xlabel="prompts tried")
        below.axhline(0.05, color=style.FAINT, linewidth=0.5, zorder=1)
        below.set_ylim(max(min(here["standard_tail"].min() / 2, 0.01), 1e-12), 1.3)
        below.set_xticks([tick for tick in ROUND_NUMBERS if tick <= here["prompts"].max()])
        below.xaxis.set_major_formatter("{x:.0f}")
        below.xaxis.set_minor_locator(NullLocator())
        if column == 0:
            above.set_ylabel("expected best\naccuracy")
            below.set_ylabel("tail probability")
    marks = [Line2D([], [], color=colour[f"{shot}-shot"], label=f"{shot}-shot") for shot in shots]
    _legend(figure, [*marks, *_baseline_marks()])
    return figure


def _expected_maximum_pair(above: Axes, below: Axes, group: pd.DataFrame, colour: str) -> None:
    tried = group["prompts"]
    above.plot(tried, group["expected_accuracy"], color=colour, zorder=3)
    for name in ("standard", "maximum"):
        line = style.BASELINES[name]
        above.plot(tried, group[f"{name}_baseline"], zorder=2, **line)
        below.plot(tried, group[f"{name}_tail"], color=colour, linestyle=line["linestyle"])


def agreement_curves(numbers: pd.DataFrame, table: pd.DataFrame) -> Figure:
    """ROC and precision-recall curves of both baselines as predictors (Figure 5).

    Parameters
    ----------
    numbers
        From ``heldout.curves``.
    table
        From ``heldout.agreement``, with ``predictor``, ``auroc``, ``aupr``, ``held_up``.

    The marks are the decisions, the lines the tail probabilities as scores.
    """
    style.apply()
    figure, (roc, pr) = plt.subplots(1, 2, figsize=(style.FULL_WIDTH, 3.6))
    colour = dict(zip(("standard", "maximum"), (style.COLOURS[1], style.COLOURS[0]), strict=True))
    by_predictor = table.set_index("predictor")
    for (curve, predictor, score), group in numbers.groupby(["curve", "predictor", "score"], sort=False):
        axes, area = (roc, "auroc") if curve == "roc" else (pr, "aupr")
        if score == "tail":
            # The curves are often one on the other: the wide one shows under the narrow one.
            width = 1.0 if predictor == "maximum" else 2.6
            steps = "default" if curve == "roc" else "steps-post"
            axes.plot(group["x"], group["y"], color=colour[predictor], linewidth=width, drawstyle=steps)
        else:
            label = f"above the {predictor} baseline, area {by_predictor.loc[predictor, area]:.2f}"
            mark = "X" if predictor == "maximum" else "o"
            axes.plot(
                group["x"],
                group["y"],
                color=colour[predictor],
                marker=mark,
                markersize=8,
                markeredgecolor="white",
                linestyle="",
                label=label,
                zorder=4,
                clip_on=False,
            )
    roc.plot([0, 1], [0, 1], color=style.FAINT, linewidth=0.6)
    held_up = table["held_up"].iloc[0]
    pr.axhline(held_up, color=style.FAINT, linewidth=0.6)
    roc.set(xlabel="false positive rate", ylabel="true positive rate", title="ROC")
    pr.set(xlabel="recall", ylabel="precision", title="precision and recall")
    for axes in (roc, pr):
        axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.04), aspect="equal")
        if axes.get_legend_handles_labels()[0]:
            axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.17))
        else:
            axes.text(0.5, 0.5, "all outcomes agree:\nno curve", ha="center", color=style.FAINT)
    return figure


def _percent_axis(axes: Axes) -> None:
    """Whole per cents, at round numbers."""
    axes.yaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
    axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))


def _unique(values: pd.Series) -> list[str]:
    return list(dict.fromkeys(values.astype(str)))


def _dodge(index: int, count: int) -> float:
    """Where the index-th of ``count`` groups stands beside the middle of its place."""
    return (index - (count - 1) / 2) * 0.78 / count


def _title(task: str) -> str:
    return "\n".join(textwrap.wrap(style.words(task), 26))


def _panels(count: int, height: float) -> tuple[Figure, list[Axes]]:
    """A figure with ``count`` panels, at most ``COLUMNS`` in a row."""
    columns = min(COLUMNS, count)
    rows = math.ceil(count / columns)
    size = (style.FULL_WIDTH, height * rows + 0.4)
    figure, grid = plt.subplots(rows, columns, figsize=size, squeeze=False)
    for axes in grid.flat[count:]:
        axes.remove()
    return figure, list(grid.flat[:count])


def _label_first_column(panels: Sequence[Axes], label: str) -> None:
    for axes in panels:
        if axes.get_subplotspec().is_first_col():
            axes.set_ylabel(label)


def _baseline_marks() -> list[Line2D]:
    return [Line2D([], [], label=f"{name} baseline", **line) for name, line in style.BASELINES.items()]


def _legend(figure: Figure, marks: list[Line2D]) -> None:
    figure.legend(handles=marks, loc="outside lower center", ncols=min(len(marks), 5), handlelength=1.8)
