"""Figures of the random baselines in general, and their numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap, LogNorm
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import NullLocator

from abovechance.chance.planning import least_accuracies
from abovechance.chance.random_baseline import RandomBaseline
from abovechance.shown import style
from abovechance.shown.panels import percent_axis
from abovechance.study.suites import suites

CHOICES = (2, 3, 4, 5)
TAILS = (0.5, 0.1, 0.01)
TRIED = (1, 10, 100, 1000)


def maximum_numbers(choices: Sequence[int] = CHOICES, greatest: int = 5) -> pd.DataFrame:
    """Return the maximum baseline for examples from 10 and prompts from 1 to 10^``greatest``.

    Returns
    -------
    DataFrame
        ``choices``, ``examples``, ``prompts``, ``maximum_baseline``.
    """
    examples = np.unique(np.logspace(1, greatest, 6 * (greatest - 1) + 1).astype(int))
    prompts = np.unique(np.logspace(0, greatest, 6 * greatest + 1).round().astype(int))
    parts = [
        pd.DataFrame(
            {
                "choices": number,
                "examples": size,
                "prompts": prompts,
                "maximum_baseline": RandomBaseline.from_chance(1 / number, size).maximum(prompts),
            }
        )
        for number in choices
        for size in examples.tolist()
    ]
    return pd.concat(parts, ignore_index=True)


def maximum(numbers: pd.DataFrame) -> Figure:
    """Contours of the expected best accuracy of guessers over prompts and examples (Figures 2 and 6)."""
    style.apply()
    choices = numbers["choices"].unique()
    figure, panels = plt.subplots(
        1, len(choices), figsize=(style.FULL_WIDTH, 2.4), sharex=True, sharey=True, squeeze=False
    )
    for axes, number in zip(panels.flat, choices, strict=True):
        grid = numbers[numbers["choices"] == number].pivot_table("maximum_baseline", "examples", "prompts")
        axes.set(xscale="log", yscale="log", xlabel="prompts tried", title=f"{number} choices")
        levels = np.arange(np.ceil((1 / number + 0.02) * 20) / 20, 0.96, 0.05)
        axes.contourf(
            grid.columns, grid.index, grid, levels=[1 / number, *levels, 1], cmap="Blues", antialiased=True
        )
        lines = axes.contour(grid.columns, grid.index, grid, levels=levels, colors=style.INK, linewidths=0.5)
        axes.clabel(lines, levels=levels[:4], fmt=lambda value: f"{value:.0%}", fontsize=6, inline_spacing=2)
        _decades(axes)
    panels[0, 0].set_ylabel("examples")
    return figure


def critical_numbers(
    choices: Sequence[int] = CHOICES,
    prompt_counts: Sequence[int] = (1, 10, 100, 200),
    tails: Sequence[float] = TAILS,
) -> pd.DataFrame:
    """Return the least accuracy that the best guesser reaches with at most a given probability.

    Returns
    -------
    DataFrame
        ``choices``, ``prompts``, ``tail``, ``examples``, ``accuracy``; no accuracy where even
        answering all correctly is more probable.
    """
    rows = []
    for size in np.unique(np.logspace(1, 4, 46).astype(int)).tolist():
        for number in choices:
            guesser = RandomBaseline.from_chance(1 / number, size)
            least = least_accuracies(guesser, np.array(prompt_counts)[:, None], np.array(tails))
            for (prompts, tail), accuracy in zip(product(prompt_counts, tails), least.flat, strict=True):
                rows.append((number, prompts, tail, size, accuracy))
    return pd.DataFrame(rows, columns=["choices", "prompts", "tail", "examples", "accuracy"])


def critical(numbers: pd.DataFrame) -> Figure:
    """Contours of the tail probability over examples and accuracy (Figure 7)."""
    style.apply()
    choices, prompt_counts = numbers["choices"].unique(), numbers["prompts"].unique()
    figure, panels = plt.subplots(
        len(prompt_counts),
        len(choices),
        figsize=(style.FULL_WIDTH, 1.45 * len(prompt_counts) + 0.5),
        sharex=True,
        sharey=True,
        squeeze=False,
    )
    tails = sorted(numbers["tail"].unique())
    shades = plt.get_cmap("Blues")(np.linspace(0.25, 0.85, len(tails) + 1))
    for (row, column), axes in np.ndenumerate(panels):
        cell = numbers[(numbers["choices"] == choices[column]) & (numbers["prompts"] == prompt_counts[row])]
        below = 0.0
        for tail, shade in zip(reversed(tails), shades[::-1], strict=False):
            line = cell[cell["tail"] == tail]
            level = line["accuracy"].fillna(1.0)
            axes.fill_between(line["examples"], below, level, color=shade, linewidth=0)
            axes.plot(line["examples"], line["accuracy"], color=style.INK, linewidth=0.6)
            below = level
        axes.axhline(1 / choices[column], **style.BASELINES["standard"])
        axes.set(xscale="log", ylim=(0, 1), xlim=(10, 10_000))
        percent_axis(axes.yaxis)
        _decades(axes, x_only=True)
        if row == 0:
            axes.set_title(f"{choices[column]} choices")
        if row == len(prompt_counts) - 1:
            axes.set_xlabel("examples")
        if column == 0:
            axes.set_ylabel(f"accuracy\n{_prompts(int(prompt_counts[row]))}")
    marks = [
        Rectangle((0, 0), 1, 1, color=shade, label=f"above {tail:g}")
        for tail, shade in zip(reversed(tails), shades[::-1], strict=False)
    ]
    at_most = f"at most {tails[0]:g}"
    marks.append(Rectangle((0, 0), 1, 1, facecolor="white", edgecolor=style.FAINT, label=at_most))
    title = "probability that guessing does as well"
    figure.legend(handles=marks, loc="outside lower center", ncol=len(marks), title=title)
    return figure


def rise_numbers(prompt_counts: Sequence[int] = TRIED) -> pd.DataFrame:
    """Return the rise from the standard to the maximum baseline, for each task of the suites.

    Returns
    -------
    DataFrame
        ``suite``, ``task``, ``prompts``, ``rise`` in [0, 1].
    """
    rows = [
        {"suite": task.suite, "task": task.task, "prompts": prompts, "rise": best - task.chance}
        for task in suites()
        for prompts, best in zip(
            prompt_counts,
            RandomBaseline.from_chance(task.chance, task.examples).maximum(np.array(prompt_counts)),
            strict=True,
        )
    ]
    return pd.DataFrame(rows)


def rise(numbers: pd.DataFrame) -> Figure:
    """Draw the rise of the baseline for each task of a suite (Figure 8 of the first version)."""
    style.apply()
    names, prompt_counts = numbers["suite"].unique(), numbers["prompts"].unique()
    figure, panels = plt.subplots(1, len(names), figsize=(style.FULL_WIDTH, 2.2), sharex=True, sharey=True)
    for axes, suite in zip(np.atleast_1d(panels), names, strict=True):
        for place, prompts in enumerate(prompt_counts):
            curve = numbers[(numbers["suite"] == suite) & (numbers["prompts"] == prompts)]
            values = np.sort(curve["rise"].clip(lower=0))
            aside = place + _beeswarm(values)
            axes.scatter(values, aside, s=11, color=style.COLOURS[0], alpha=0.75, linewidth=0)
        axes.set(
            title=suite, xlabel="rise of the baseline, in accuracy", ylim=(len(prompt_counts) - 0.5, -0.6)
        )
        axes.set_yticks(range(len(prompt_counts)), [_prompts(prompts) for prompts in prompt_counts])
        percent_axis(axes.xaxis)
        axes.set_xlim(-0.008, None)
    return figure


def normalized_numbers(prompt_counts: Sequence[int] = TRIED) -> pd.DataFrame:
    """Return the tail probability of each normalized score of each task of the suites.

    A normalized score of s means the accuracy p + (1 - p) s / 100 on a task of chance p.

    Returns
    -------
    DataFrame
        ``suite``, ``task``, ``examples``, ``prompts``, ``score`` from 0 to 100, ``tail``.
    """
    parts = []
    score = np.arange(0, 100.5, 0.5)
    for task in suites():
        baseline = RandomBaseline.from_chance(task.chance, task.examples)
        accuracy = baseline.standard + (1 - baseline.standard) * score / 100
        # the paper counts the whole correct answers that such a score stands for
        correct = np.floor(accuracy * task.examples + 1e-9)
        for prompts in prompt_counts:
            part = {"score": score, "tail": baseline.tail(correct, prompts), "prompts": prompts}
            parts.append(pd.DataFrame(part).assign(suite=task.suite, task=task.task, examples=task.examples))
    return pd.concat(parts, ignore_index=True)


def normalized(numbers: pd.DataFrame) -> Figure:
    """Normalized score against tail probability, one line per task (first version's Figure 9)."""
    style.apply()
    names, prompt_counts = numbers["suite"].unique(), numbers["prompts"].unique()
    figure, panels = plt.subplots(
        len(names),
        len(prompt_counts),
        figsize=(style.FULL_WIDTH, 3.6),
        sharex=True,
        sharey=True,
        squeeze=False,
    )
    # without the palest yellow, which vanishes in print
    colour = ListedColormap(plt.get_cmap("viridis_r")(np.linspace(0.15, 1, 200)))
    scale = LogNorm(30, 60_000)
    for (row, column), axes in np.ndenumerate(panels):
        cell = numbers[(numbers["suite"] == names[row]) & (numbers["prompts"] == prompt_counts[column])]
        for _, line in cell.groupby("task", sort=False):
            size = line["examples"].iloc[0]
            axes.plot(line["score"], line["tail"], color=colour(scale(size)), linewidth=0.9)
        axes.set(yscale="log", ylim=(1e-3, 1.15), xlim=(0, 60))
        if row == 0:
            axes.set_title(_prompts(int(prompt_counts[column])))
        if row == len(names) - 1:
            axes.set_xlabel("normalized score")
        if column == 0:
            axes.set_ylabel(f"tail probability\n{names[row]}")
    bar = figure.colorbar(plt.cm.ScalarMappable(scale, colour), ax=panels, shrink=0.7, aspect=30)
    bar.set_label("examples")
    return figure


def plan_numbers(chance: float, prompts: Sequence[int] = TRIED) -> pd.DataFrame:
    """Return the maximum baseline of one chance over numbers of examples, for some numbers of prompts.

    Returns
    -------
    DataFrame
        ``examples``, ``prompts``, ``standard_baseline``, ``maximum_baseline``.
    """
    examples = np.unique(np.logspace(1, 4, 40).astype(int)).tolist()
    parts = [
        pd.DataFrame(
            {
                "examples": size,
                "prompts": prompts,
                "standard_baseline": chance,
                "maximum_baseline": RandomBaseline.from_chance(chance, size).maximum(np.array(prompts)),
            }
        )
        for size in examples
    ]
    return pd.concat(parts, ignore_index=True)


def plan(numbers: pd.DataFrame) -> Figure:
    """How the maximum baseline falls with the number of examples, a line for each number of prompts."""
    style.apply()
    figure, axes = plt.subplots(figsize=(style.COLUMN_WIDTH + 0.4, 2.6))
    shades = plt.get_cmap("Blues")(np.linspace(0.4, 0.95, numbers["prompts"].nunique()))
    for (prompts, line), shade in zip(_by_prompts(numbers), shades, strict=True):
        axes.plot(line["examples"], line["maximum_baseline"], color=shade, label=_prompts(prompts))
    axes.axhline(numbers["standard_baseline"].iloc[0], **style.BASELINES["standard"])
    axes.set(xscale="log", xlabel="examples", ylabel="maximum random baseline")
    percent_axis(axes.yaxis)
    axes.legend()
    return figure


def power_lines(numbers: pd.DataFrame, better: int = 1, target: float | None = None) -> Figure:
    """Return the probability of finding a prompt better than chance, a line for each number of prompts.

    Parameters
    ----------
    numbers
        From ``planning.power_curve``, of one number of examples.
    better
        The number of better prompts.
    target
        The power that is wanted; 0.8 if None.
    """
    style.apply()
    figure, axes = plt.subplots(figsize=(style.COLUMN_WIDTH + 0.4, 2.6))
    shades = plt.get_cmap("Blues")(np.linspace(0.4, 0.95, numbers["prompts"].nunique()))
    for (prompts, line), shade in zip(_by_prompts(numbers), shades, strict=True):
        axes.plot(line["accuracy"], line["power"], color=shade, label=_prompts(prompts))
    axes.axhline(0.8 if target is None else target, color=style.FAINT, linewidth=0.5)
    prompts_in_words = "one prompt" if better == 1 else f"{better} prompts"
    axes.set(xlabel=f"true accuracy of {prompts_in_words}", ylabel="power", ylim=(0, 1.02))
    percent_axis(axes.xaxis)
    axes.set_title(f"{numbers['examples'].iloc[0]:,} examples")
    axes.legend()
    return figure


GENERAL: dict[str, tuple[Callable[[], pd.DataFrame], Callable[[pd.DataFrame], Figure]]] = {
    "maximum_contours": (maximum_numbers, maximum),
    "tail_contours": (critical_numbers, critical),
    "suite_rise": (rise_numbers, rise),
    "suite_tails": (normalized_numbers, normalized),
}


def all_figures() -> Iterator[tuple[str, Figure, pd.DataFrame]]:
    """Yield the figures of no study in particular: name, figure and plotted numbers of each."""
    for name, (numbers, draw) in GENERAL.items():
        plotted = numbers()
        yield name, draw(plotted), plotted


def _decades(axes: Axes, x_only: bool = False) -> None:
    """Powers of ten as ticks, no others."""
    for axis in (axes.xaxis,) if x_only else (axes.xaxis, axes.yaxis):
        axis.set_minor_locator(NullLocator())


def _by_prompts(numbers: pd.DataFrame) -> list[tuple[int, pd.DataFrame]]:
    """Return each number of prompts with its rows, ascending."""
    return [(number, numbers[numbers["prompts"] == number]) for number in sorted(numbers["prompts"].unique())]


def _prompts(number: int) -> str:
    return f"{number:,} prompt" if number == 1 else f"{number:,} prompts"


WIDTH = 0.004  # of a dot


def _beeswarm(values: np.ndarray) -> np.ndarray:
    """Return how far dots at these ascending values move aside, so that none hides another."""
    aside = np.zeros(len(values))
    for place in range(1, len(values)):
        near = aside[:place][values[place] - values[:place] < WIDTH]
        free = [step * sign for step in (0, 0.11, 0.22, 0.33, 0.44) for sign in (1, -1)]
        aside[place] = next((at for at in free if not np.any(np.isclose(near, at))), 0.0)
    return aside
