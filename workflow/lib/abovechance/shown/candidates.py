"""The figure of a search: its candidates, what luck explains, and the debiased best score."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from abovechance.best.summary import Best
from abovechance.core.settings import SETTING
from abovechance.shown import style
from abovechance.shown.panels import percent_axis


def candidate_numbers(best: Best) -> pd.DataFrame:
    """Return the numbers of the figure: one row per candidate, then ``luck`` and ``debiased``.

    Returns
    -------
    DataFrame
        ``kind`` (``candidate``, ``chosen``, ``start``, ``luck`` or ``debiased``), ``name``, ``score`` and,
        for the last two kinds, the ends ``low`` and ``high`` of an interval.
    """
    rows = [
        {
            "kind": {best.start: "start", best.chosen: "chosen"}.get(name, "candidate"),
            "name": name,
            "score": score,
        }
        for name, score in zip(best.candidates["candidate"], best.candidates["score"], strict=True)
    ]
    luck = {"kind": "luck", "score": best.expected_by_luck, "low": best.luck_low, "high": best.luck_high}
    debiased = {"kind": "debiased", "score": best.debiased, "low": best.low, "high": best.high}
    return pd.DataFrame([*rows, luck, debiased])


def candidates_figure(numbers: pd.DataFrame) -> Figure:
    """Return the figure: candidates as dots, the best first; the band of luck; the debiased best score."""
    style.apply()
    figure, axes = plt.subplots(figsize=(style.FULL_WIDTH, 2.6))
    luck = numbers[numbers["kind"] == "luck"].iloc[0]
    debiased = numbers[numbers["kind"] == "debiased"].iloc[0]
    dots = numbers[~numbers["kind"].isin(["luck", "debiased"])].reset_index(drop=True)
    place = len(dots) + max(1.0, 0.04 * len(dots))
    axes.axhspan(
        luck["low"],
        luck["high"],
        color=style.COLOURS[1],
        alpha=0.25,
        linewidth=0,
        label="95 % of best scores by luck",
    )
    axes.axhline(luck["score"], color=style.COLOURS[1], label="expected best score by luck")
    looks: dict[str, tuple[dict[str, Any], str]] = {
        "candidate": ({"color": style.FAINT, "markersize": 3}, "candidates"),
        "start": ({"color": style.INK, "markersize": 5, "markerfacecolor": "white"}, "start"),
        "chosen": ({"color": style.COLOURS[0], "markersize": 6}, "chosen candidate, as observed"),
    }
    for kind, (look, label) in looks.items():
        part = dots[dots["kind"] == kind]
        if len(part):
            axes.plot(part.index, part["score"], "o", linestyle="none", label=label, **look)
    if pd.notna(debiased["score"]):
        axes.vlines(place, debiased["low"], debiased["high"], color=style.COLOURS[0])
        axes.plot(
            place,
            debiased["score"],
            "D",
            color=style.COLOURS[0],
            markersize=5,
            linestyle="none",
            label="chosen candidate, corrected for the choice",
        )
    axes.set_xticks([])
    axes.set_xlim(-1, place + 1)
    axes.set_xlabel("candidates, the best first")
    axes.set_ylabel("score")
    percent_axis(axes.yaxis)
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


def calibration_numbers(estimates: pd.DataFrame) -> pd.DataFrame:
    """Return mean accuracies over splits, one row per setting, for the largest number of prompts.

    Settings with fewer prompts, and splits without a debiased accuracy, do not count, as in
    ``best.heldout.calibration``.
    """
    estimates = estimates[
        (estimates["prompts"] == estimates["requested_prompts"]) & estimates["debiased_accuracy"].notna()
    ]
    largest = estimates[estimates["requested_prompts"] == estimates["requested_prompts"].max()]
    columns = ["validation_accuracy", "debiased_accuracy", "test_accuracy"]
    return largest.groupby(SETTING, observed=True, sort=False)[columns].mean().reset_index()


def calibration_figure(numbers: pd.DataFrame) -> Figure:
    """Return the figure: validation and debiased accuracies of settings by their test accuracy."""
    style.apply()
    figure, axes = plt.subplots(figsize=(style.COLUMN_WIDTH, style.COLUMN_WIDTH))
    looks = {
        "validation_accuracy": (style.FAINT, "validation accuracy"),
        "debiased_accuracy": (style.COLOURS[0], "debiased accuracy"),
    }
    for name, (colour, label) in looks.items():
        marks: dict[str, Any] = {"color": colour, "markersize": 3, "label": label, "clip_on": False}
        axes.plot(numbers["test_accuracy"], numbers[name], "o", **marks)
    ends = [0.0, 1.0]
    values = numbers[[*looks, "test_accuracy"]].to_numpy(dtype=float)
    if np.isfinite(values).any():
        ends = [max(0.0, np.nanmin(values) - 0.03), min(1.0, np.nanmax(values) + 0.03)]
    axes.plot(ends, ends, color=style.INK, linewidth=0.8)
    axes.set_xlim(*ends)
    axes.set_ylim(*ends)
    axes.set_xlabel("test accuracy of the chosen prompt")
    axes.set_ylabel("estimate before the test")
    percent_axis(axes.xaxis)
    percent_axis(axes.yaxis)
    axes.legend(loc="upper left")
    return figure
