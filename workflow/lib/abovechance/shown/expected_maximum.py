"""The expected best accuracy of ever more prompts, with the baselines."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullLocator

from abovechance.chance.baselines import BASELINES, MAXIMUM
from abovechance.chance.expected_maximum import CURVE, expected_maximum_curve
from abovechance.shown import style
from abovechance.shown.panels import (
    COLUMNS,
    baseline_marks,
    empty_figure,
    in_order,
    legend_below,
    panel_title,
    percent_axis,
)


def expected_maximum_numbers(accuracy: pd.DataFrame, by: Sequence[str] = ("task", "shots")) -> pd.DataFrame:
    """Return one row per group and number of prompts; see ``expected_maximum_curve``."""
    parts = [pd.DataFrame(columns=[*by, *CURVE])]
    for key, group in accuracy.groupby(list(by), observed=True, sort=False):
        curve = expected_maximum_curve(group)
        for place, (name, value) in enumerate(zip(by, key, strict=True)):
            curve.insert(place, name, [value] * len(curve))
        parts.append(curve)
    return pd.concat(parts[1:] or parts, ignore_index=True)


def expected_maximum(numbers: pd.DataFrame, panel: str = "task") -> Figure:
    """Return expected best accuracy by prompts tried, with the baselines; tails below (Figures 3, 4 and 11).

    Parameters
    ----------
    numbers
        From ``expected_maximum_numbers``. With a column ``tuned``, the lines of
        instruction-tuned models are dotted, and only the maximum tail is shown.
    panel
        The column that there is a panel for each value of.
    """
    style.apply()
    if numbers.empty:
        return empty_figure("no prompt was evaluated: all were left out")
    titles, shots = in_order(numbers[panel]), sorted(numbers["shots"].unique())
    colour = dict(zip(shots, style.colours([f"{shot}-shot" for shot in shots]).values(), strict=True))
    columns = min(COLUMNS, len(titles))
    bands = math.ceil(len(titles) / columns)
    figure, grid = plt.subplots(
        2 * bands, columns, figsize=(style.FULL_WIDTH, 3.3 * bands), squeeze=False, sharex=True
    )
    for place in range(bands * columns):
        row, column = divmod(place, columns)
        above, below = grid[2 * row, column], grid[2 * row + 1, column]
        if place >= len(titles):
            above.remove()
            below.remove()
            continue
        _expected_maximum_pair(above, below, numbers[numbers[panel] == titles[place]], colour)
        above.set_title(panel_title(titles[place]))
        if column == 0:
            above.set_ylabel("expected best\naccuracy")
            below.set_ylabel("tail probability")
    marks = [Line2D([], [], color=colour[shot], label=f"{shot}-shot") for shot in shots]
    if "tuned" in numbers and numbers["tuned"].any():
        marks.append(Line2D([], [], color=style.INK, label="instruction-tuned", **_TUNED))
    legend_below(figure, [*marks, *baseline_marks()])
    return figure


# Lower tails are drawn here.
LEAST_TAIL = 1e-12
_TUNED: dict[str, Any] = {"linestyle": (0, (1, 1)), "linewidth": 1.6}


def _expected_maximum_pair(above: Axes, below: Axes, rows: pd.DataFrame, colour: dict[int, str]) -> None:
    other_baselines = [baseline for baseline in BASELINES if baseline is not MAXIMUM]
    by = ["shots", "tuned"] if "tuned" in rows else ["shots"]
    for key, group in rows.groupby(by):
        shots, tuned = int(str(key[0])), key[1:]
        prompts, look = group["prompts"], {"color": colour[shots], **(_TUNED if tuned == (True,) else {})}
        above.plot(prompts, group["expected_accuracy"], zorder=3, **look)
        for baseline in BASELINES:
            above.plot(prompts, group[baseline.column], zorder=2, **style.BASELINES[baseline.name])
        below.plot(prompts, group[MAXIMUM.tail_column].clip(lower=LEAST_TAIL), **look)
        for baseline in () if tuned else other_baselines:
            line = style.BASELINES[baseline.name]["linestyle"]
            tails = group[baseline.tail_column].clip(lower=LEAST_TAIL)
            below.plot(prompts, tails, color=colour[shots], linestyle=line)
    percent_axis(above.yaxis)
    baselines = [MAXIMUM] if "tuned" in rows else BASELINES
    least = rows[[baseline.tail_column for baseline in baselines]].to_numpy(dtype=float).min()
    below.set(xscale="log", yscale="log", xlabel="prompts tried")
    below.axhline(0.05, color=style.FAINT, linewidth=0.5, zorder=1)
    below.set_ylim(min(max(least, LEAST_TAIL) / 2, 0.01), 1.3)
    if least < LEAST_TAIL:
        floor = f"lowest line: {LEAST_TAIL:g} or less"
        below.text(0.97, 0.08, floor, ha="right", color=style.FAINT, transform=below.transAxes)
    most_prompts = rows["prompts"].max()
    digits = (1, 2, 5) if most_prompts < 20 else (1,)
    ticks = [digit * 10**power for power in range(7) for digit in digits]
    below.set_xticks([tick for tick in ticks if tick <= most_prompts])
    below.xaxis.set_major_formatter("{x:.0f}")
    below.xaxis.set_minor_locator(NullLocator())
