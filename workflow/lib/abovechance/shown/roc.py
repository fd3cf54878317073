"""How well each baseline foresees held-out results: ROC and precision-recall curves."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from abovechance.chance.agreement import PREDICTORS, curves
from abovechance.shown import style
from abovechance.shown.panels import empty_figure, legend_below


def roc_by_prompts_numbers(outcomes: pd.DataFrame) -> pd.DataFrame:
    """Return the curves of ``agreement.curves`` for each number of prompts tried, ROC only."""
    parts = [
        curves(group).query("curve == 'roc'").assign(prompts=prompts)
        for prompts, group in outcomes.groupby("requested_prompts")
    ]
    return pd.concat(parts or [curves(outcomes).assign(prompts=0)], ignore_index=True)


def roc_by_prompts(numbers: pd.DataFrame) -> Figure:
    """ROC of the baselines as predictors, for ever more prompts (Figure 8; first version, 10)."""
    style.apply()
    prompt_counts = numbers["prompts"].unique()
    if not len(prompt_counts):
        return empty_figure("all outcomes agree: no curve")
    columns = min(3, len(prompt_counts))
    rows = math.ceil(len(prompt_counts) / columns)
    size = (style.FULL_WIDTH, 2.2 * rows + 0.3)
    figure, grid = plt.subplots(rows, columns, figsize=size, sharex=True, sharey=True, squeeze=False)
    for axes in grid.flat[len(prompt_counts) :]:
        axes.remove()
    for axes, prompts in zip(grid.flat, prompt_counts, strict=False):
        of_prompts = numbers[numbers["prompts"] == prompts]
        for (predictor, score), group in of_prompts.groupby(["predictor", "score"], sort=False):
            _roc_line(axes, group, predictor, score)
        axes.plot([0, 1], [0, 1], color=style.FAINT, linewidth=0.6)
        axes.set_title(f"best of {prompts}" if prompts > 1 else "one prompt")
        axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.04), aspect="equal")
    for axes in grid.flat[max(0, len(prompt_counts) - columns) : len(prompt_counts)]:
        axes.set_xlabel("false positive rate")
        axes.tick_params(labelbottom=True)
    for axes in grid[:, 0]:
        axes.set_ylabel("true positive rate")
    marks = [
        Line2D(
            [],
            [],
            color=look.colour,
            marker=look.mark,
            linewidth=1,
            label=_above(name),
        )
        for name, look in _LOOKS.items()
    ]
    legend_below(figure, marks)
    return figure


def _above(name: str) -> str:
    return f"above the {style.words(name)} baseline"


class _Look(NamedTuple):
    """How a baseline is drawn; curves are often one on the other, so a wide one shows under a narrow one."""

    colour: str
    mark: str
    width: float


_LOOKS = dict(
    zip(
        PREDICTORS,
        map(
            _Look,
            (style.COLOURS[1], style.COLOURS[0], *style.COLOURS[2:]),
            "oXsDv^",
            (2.6, 1.0, 1.0, 1.0, 1.0, 1.0),
        ),
        strict=False,
    )
)


def _roc_line(axes: Axes, group: pd.DataFrame, predictor: str, score: str) -> None:
    if score == "tail":
        look = _LOOKS[predictor]
        axes.plot(group["x"], group["y"], color=look.colour, linewidth=look.width)
        return
    _mark(axes, group, predictor, size=7)


def _mark(
    axes: Axes, group: pd.DataFrame, predictor: str, size: float, label: str = "", hollow: bool = False
) -> None:
    """The one point of a decision."""
    look = _LOOKS[predictor]
    axes.plot(
        group["x"],
        group["y"],
        color="white" if hollow else look.colour,
        marker=look.mark,
        markersize=size,
        markeredgecolor=look.colour if hollow else "white",
        linestyle="",
        label=label or None,
        zorder=4,
        clip_on=False,
    )


def agreement_curves(numbers: pd.DataFrame, table: pd.DataFrame) -> Figure:
    """ROC and precision-recall curves of the baselines as predictors (Figure 5).

    Parameters
    ----------
    numbers
        From ``agreement.curves``, with ``source``: ``prompts``, or ``guessers`` in their place.
    table
        From ``agreement.agreement``, with ``predictor``, ``auroc``, ``aupr``, ``above_on_test_share``.

    The marks are the decisions, the lines the tail probabilities as scores; dotted and hollow, those of
    guessers.
    """
    style.apply()
    if not table["outcomes"].iloc[0]:
        return empty_figure("no split has examples in both parts: no curve")
    figure, (roc, pr) = plt.subplots(1, 2, figsize=(style.FULL_WIDTH, 3.6))
    by_predictor = table.set_index("predictor")
    for key, group in numbers.groupby(["source", "curve", "predictor", "score"], sort=False):
        source, curve, predictor, score = map(str, key)
        axes, area = (roc, "auroc") if curve == "roc" else (pr, "aupr")
        if score == "tail":
            look = _LOOKS[predictor]
            steps = "default" if curve == "roc" else "steps-post"
            line: Any = (
                {"linewidth": look.width} if source == "prompts" else {"linewidth": 1.0, "linestyle": ":"}
            )
            axes.plot(group["x"], group["y"], color=look.colour, drawstyle=steps, **line)
        elif source == "guessers":
            _mark(axes, group, predictor, size=6, hollow=True)
        else:
            reached = by_predictor[area].loc[predictor]
            label = f"{_above(predictor)}, area {reached:.2f}"
            _mark(axes, group, predictor, size=8, label=label)
    roc.plot([0, 1], [0, 1], color=style.FAINT, linewidth=0.6)
    held_up = table["above_on_test_share"].iloc[0]
    pr.axhline(held_up, color=style.FAINT, linewidth=0.6)
    roc.set(xlabel="false positive rate", ylabel="true positive rate", title="ROC")
    pr.set(xlabel="recall", ylabel="precision", title="precision and recall")
    for axes in (roc, pr):
        axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.04), aspect="equal")
        if axes.get_legend_handles_labels()[0]:
            axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.17))
        else:
            # where the legend would be, because the panel may have the curves of guessers
            axes.text(
                0.5,
                -0.22,
                "all outcomes of prompts agree: no curve",
                ha="center",
                va="top",
                color=style.FAINT,
                transform=axes.transAxes,
            )
    return figure
