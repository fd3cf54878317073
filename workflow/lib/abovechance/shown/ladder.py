"""The figure of the ladder of guessers."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from abovechance.core.settings import SETTING, Setting, by_setting
from abovechance.core.words import rounded_percent
from abovechance.shown import style
from abovechance.shown.panels import empty_figure, legend_below, percent_axis

MOST_SETTINGS = 40  # with a row each
MARKS = "osD^vPX<>*"


def ladder_numbers(ladder: pd.DataFrame) -> pd.DataFrame:
    """Return the numbers of the figure: one row per setting and guesser."""
    return ladder[[*SETTING, "guesser", "best_accuracy", "guesser_accuracy", "guesser_holm_tail", "beaten"]]


def ladder_figure(numbers: pd.DataFrame) -> Figure:
    """Return the figure: the guessers of each setting by accuracy, filled if the best prompt beats them.

    With many settings, there is one bar per guesser: the share of settings in which it is beaten.
    """
    style.apply()
    if numbers.empty:
        return empty_figure("no setting has a guesser")
    settings = [*by_setting(numbers)]
    return _rows(settings) if len(settings) <= MOST_SETTINGS else _bars(numbers)


def _rows(settings: Sequence[tuple[Setting, pd.DataFrame]]) -> Figure:
    names = [*dict.fromkeys(name for _, rows in settings for name in rows["guesser"])]
    # marks of about equal accuracies are one above the other
    levels = [rows.groupby(rows["guesser_accuracy"].round(2))["guesser"] for _, rows in settings]
    inches = max(0.26, 0.085 * max(int(level.size().max()) for level in levels))
    figure, axes = plt.subplots(figsize=(style.FULL_WIDTH, 1.4 + inches * len(settings)))
    labels = []
    for place, ((_, rows), level) in enumerate(zip(settings, levels, strict=True)):
        best = rows["best_accuracy"].iloc[0]
        axes.barh(place, best, height=0.7, color="#E8EEF4", zorder=1)
        axes.plot([best, best], [place - 0.35, place + 0.35], color=style.INK, linewidth=1.3, zorder=2)
        size = level.transform("size")
        height = place + (level.cumcount() - (size - 1) / 2) * np.minimum(0.25, 0.8 / size)
        for name, accuracy, at, beaten in zip(
            rows["guesser"], rows["guesser_accuracy"], height, rows["beaten"], strict=True
        ):
            colour = style.COLOURS[names.index(name) % len(style.COLOURS)]
            axes.plot(
                accuracy,
                at,
                MARKS[names.index(name) % len(MARKS)],
                color=colour,
                markerfacecolor=colour if beaten else "white",
                markersize=4.5,
                zorder=3,
                clip_on=False,
            )
        first = rows.iloc[0]
        labels.append(f"{style.words(str(first['task']))}, {first['model']}, {first['shots']}-shot")
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.set_xlim(0, 1)
    axes.set_xlabel("accuracy")
    percent_axis(axes.xaxis)
    marks: list[Line2D | Patch] = [
        Line2D(
            [],
            [],
            marker=MARKS[index % len(MARKS)],
            linestyle="",
            markersize=4.5,
            color=style.COLOURS[index % len(style.COLOURS)],
            label=name,
        )
        for index, name in enumerate(names)
    ]
    marks.append(Line2D([], [], marker="|", linestyle="", markersize=9, color=style.INK, label="best prompt"))
    marks.append(
        Line2D(
            [], [], marker="o", linestyle="", color=style.FAINT, markerfacecolor="white", label="not beaten"
        )
    )
    legend_below(figure, marks)
    return figure


def _bars(numbers: pd.DataFrame) -> Figure:
    by_guesser = numbers.groupby("guesser", sort=False, observed=True)
    table = by_guesser.agg(
        beaten=("beaten", "sum"), settings=("beaten", "size"), accuracy=("guesser_accuracy", "mean")
    ).sort_values("accuracy", kind="stable")
    figure, axes = plt.subplots(figsize=(style.FULL_WIDTH, 0.8 + 0.28 * len(table)))
    places = np.arange(len(table))
    beaten, settings = (table[name].to_numpy(dtype=float) for name in ("beaten", "settings"))
    axes.barh(places, beaten, height=0.7, color=style.COLOURS[0], label="best prompt beats the guesser")
    axes.barh(places, settings - beaten, 0.7, beaten, color="#D9D9D9", label="not shown to beat it")
    names = [f"{name} (mean accuracy {rounded_percent(value)})" for name, value in table["accuracy"].items()]
    axes.set_yticks(places, names)
    axes.invert_yaxis()
    axes.set_xlabel("settings")
    legend_below(figure, axes.get_legend_handles_labels()[0])
    return figure
