"""How every figure looks: one place for fonts, sizes, colours and marks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from abovechance.chance import baselines as chance
from abovechance.core.files import check_names, replacing, write_csv

FULL_WIDTH = 6.9  # inches; a page's text width
COLUMN_WIDTH = 3.3  # inches; one of two columns
DPI = 200  # of figures as PNG

# Okabe and Ito's colours, ordered so that neighbours differ in lightness too.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")
INK = "#222222"
FAINT = "#8A8A8A"
# the looks of baselines, in their order; what comes after the paper's two is dotted
_LINES: Sequence[dict[str, Any]] = (
    {"color": FAINT, "linestyle": (0, (3, 2)), "linewidth": 1.1},
    {"color": INK, "linestyle": "-", "linewidth": 1.3},
    *({"color": colour, "linestyle": ":", "linewidth": 1.3} for colour in COLOURS[2:]),
)
# {name of a baseline: how it is drawn}
BASELINES = {baseline.name: line for baseline, line in zip(chance.BASELINES, cycle(_LINES), strict=False)}
# {is the best prompt better than chance: (its colour in tables, its mark in figures)}
CONCLUSIONS = {"yes": ("#3D8FC4", "*"), "unclear": ("#F6C65B", "?"), "no": ("#D9D9D9", "")}

_SETTINGS: Any = {
    "font.size": 8,
    "font.family": "DejaVu Sans",
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": INK,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "lines.linewidth": 1.2,
    "figure.constrained_layout.use": True,
    "pdf.fonttype": 42,  # text stays text
    "savefig.dpi": DPI,
    "svg.hashsalt": "abovechance",
}


def apply() -> None:
    """Make the style that of all figures drawn from here on, with no need of a screen."""
    mpl.use("Agg")
    plt.rcParams.update(_SETTINGS)


def colours(names: Sequence[str]) -> dict[str, str]:
    """Return a colour for each name, the same wherever the names come in the same order."""
    return {name: COLOURS[index % len(COLOURS)] for index, name in enumerate(names)}


def marks(names: Sequence[str]) -> dict[str, str]:
    """Return a mark for each name: where colours begin again, another one."""
    return {name: "osD^"[index // len(COLOURS) % 4] for index, name in enumerate(names)}


def dashes(index: int) -> Any:
    """Return the line of the index-th name: where colours begin again, another one."""
    return ("-", "--", ":", "-.")[index // len(COLOURS) % 4]


def words(name: str) -> str:
    """Return a task's or column's name as words."""
    return name.replace("_", " ")


def save_all(figures: Iterable[tuple[str, Figure, pd.DataFrame]], outputs: Sequence[str]) -> None:
    """Save the figures of a rule, which must be those that it lists.

    Parameters
    ----------
    figures
        Name, figure and plotted numbers of each.
    outputs
        The rule's output files.
    """
    paths, saved = [Path(output) for output in outputs], []
    for name, figure, plotted in figures:
        save(figure, plotted, paths[0].parent / name)
        saved.append(name)
    check_names(saved, paths)


def save(figure: Figure, plotted: pd.DataFrame, stem: Path) -> None:
    """Write ``stem.pdf``, ``stem.png`` and the plotted numbers as ``stem.csv``."""
    for suffix in (".pdf", ".png"):
        # without a date, the same numbers give the same file
        undated = {"CreationDate": None} if suffix == ".pdf" else None
        with replacing(stem.with_name(stem.name + suffix)) as beside:
            figure.savefig(beside, metadata=undated)
    write_csv(plotted, stem.with_name(stem.name + ".csv"))
    plt.close(figure)
