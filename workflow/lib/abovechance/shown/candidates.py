"""The figure of a search: its candidates, what luck explains, and the debiased best score."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from abovechance.best.summary import Best
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
            "kind": {best.chosen: "chosen", best.start: "start"}.get(name, "candidate"),
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
