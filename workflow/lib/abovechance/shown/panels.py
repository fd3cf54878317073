"""Parts of figures: panels, axes and legends."""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Iterable, Sequence

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from abovechance.shown import style

COLUMNS = 4


def empty_figure(why: str) -> Figure:
    """A figure that says why there is nothing to see."""
    figure, axes = plt.subplots(figsize=(style.COLUMN_WIDTH, 1))
    axes.axis("off")
    axes.text(0.5, 0.5, why, ha="center", va="center", color=style.FAINT)
    return figure


def percent_axis(axis: Axis, ticks: int = 6) -> None:
    """Per cents at round numbers, with as many decimals as a tick has."""
    axis.set_major_locator(MaxNLocator(ticks, steps=[1, 2, 5, 10]))
    axis.set_major_formatter(lambda share, _: f"{round(100 * share, 6):g}%")


def in_order(values: pd.Series) -> list[str]:
    return list(dict.fromkeys(values.astype(str)))


def dodge(index: int, count: int) -> float:
    """Return the offset of the index-th of ``count`` groups from the middle of its place."""
    return (index - (count - 1) / 2) * 0.78 / count


def panel_title(task: str, width: int = 26) -> str:
    """Return a task's name as words on at most three lines."""
    lines = textwrap.wrap(style.words(task), width, max_lines=3, placeholder=" ...")
    return plain("\n".join(lines))


def legend_labels(models: Iterable[str]) -> dict[str, str]:
    """Return each model's name on one line, without its middle if it is long and others differ elsewhere."""
    names = {model: " ".join(model.split()) for model in models}
    shorter = {
        model: name if len(name) <= 40 else f"{name[:14]}...{name[-23:]}" for model, name in names.items()
    }
    times = Counter(shorter.values())
    return {model: plain(names[model] if times[short] > 1 else short) for model, short in shorter.items()}


def plain(text: str) -> str:
    """A name as it is: what stands between two dollar signs would be read as a formula."""
    return text.replace("$", r"\$")


def panel_grid(count: int, height: float) -> tuple[Figure, list[Axes]]:
    """Return a figure with ``count`` panels, at most ``COLUMNS`` in a row."""
    columns = min(COLUMNS, count)
    rows = math.ceil(count / columns)
    size = (style.FULL_WIDTH, height * rows + 0.4)
    figure, grid = plt.subplots(rows, columns, figsize=size, squeeze=False)
    for axes in grid.flat[count:]:
        axes.remove()
    return figure, list(grid.flat[:count])


def task_panels(
    numbers: pd.DataFrame, height: float, label: str
) -> tuple[Figure, list[tuple[Axes, pd.DataFrame]]]:
    """Return a figure with a titled panel for each task, and each panel with its task's rows."""
    tasks = in_order(numbers["task"])
    figure, panels = panel_grid(len(tasks), height)
    for axes, task in zip(panels, tasks, strict=True):
        axes.set_title(panel_title(task))
    label_first_column(panels, label)
    return figure, [
        (axes, numbers[numbers["task"] == task]) for axes, task in zip(panels, tasks, strict=True)
    ]


def label_first_column(panels: Sequence[Axes], label: str) -> None:
    for axes in panels:
        place = axes.get_subplotspec()
        if place is not None and place.is_first_col():
            axes.set_ylabel(label)


def baseline_marks() -> list[Line2D]:
    return [
        Line2D([], [], label=f"{style.words(name)} baseline", **line)
        for name, line in style.BASELINES.items()
    ]


def legend_below(figure: Figure, marks: Sequence[Artist]) -> None:
    """A legend under the panels, in as many columns as its longest label leaves room for."""
    longest = max(len(str(mark.get_label())) for mark in marks)
    columns = max(1, min(len(marks), 110 // (longest + 8)))
    figure.legend(handles=marks, loc="outside lower center", ncols=columns, handlelength=1.8)
