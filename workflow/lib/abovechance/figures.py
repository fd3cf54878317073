"""The figures of a study, each from a table of plotted numbers."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import asdict

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator, NullLocator, PercentFormatter
from numpy.typing import ArrayLike

from abovechance import style
from abovechance.accuracy import SETTING
from abovechance.baseline import RandomBaseline
from abovechance.heldout import curves
from abovechance.verdicts import Verdict, baselines, expected_maximum_curve

COLUMNS = 4


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


def expected_maximum_numbers(accuracy: pd.DataFrame, by: Sequence[str] = ("task", "shots")) -> pd.DataFrame:
    """One row a group and number of prompts; see ``expected_maximum_curve``."""
    parts = []
    for key, group in accuracy.groupby(list(by), observed=True, sort=False):
        curve = expected_maximum_curve(group)
        for place, (name, value) in enumerate(zip(by, key, strict=True)):
            curve.insert(place, name, value)
        parts.append(curve)
    return pd.concat(parts, ignore_index=True)


def expected_maximum(numbers: pd.DataFrame, panel: str = "task") -> Figure:
    """Expected best accuracy by prompts tried, with both baselines; tails below (Figures 3, 4 and 11).

    Parameters
    ----------
    numbers
        From ``expected_maximum_numbers``. With a column ``tuned``, the lines of
        instruction-tuned models are dotted, and only the maximum tail is shown.
    panel
        The column that there is a panel for each value of.
    """
    style.apply()
    titles, shots = _unique(numbers[panel]), sorted(numbers["shots"].unique())
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
        above.set_title(_title(titles[place]))
        if column == 0:
            above.set_ylabel("expected best\naccuracy")
            below.set_ylabel("tail probability")
    marks = [Line2D([], [], color=colour[shot], label=f"{shot}-shot") for shot in shots]
    if "tuned" in numbers and numbers["tuned"].any():
        marks.append(Line2D([], [], color=style.INK, label="instruction-tuned", **_TUNED))
    _legend(figure, [*marks, *_baseline_marks()])
    return figure


_TUNED = {"linestyle": (0, (1, 1)), "linewidth": 1.6}


def _expected_maximum_pair(above: Axes, below: Axes, here: pd.DataFrame, colour: dict[int, str]) -> None:
    by = ["shots", "tuned"] if "tuned" in here else ["shots"]
    for (shots, *tuned), group in here.groupby(by):
        tried, own = group["prompts"], {"color": colour[shots], **(_TUNED if tuned == [True] else {})}
        above.plot(tried, group["expected_accuracy"], zorder=3, **own)
        for name in ("standard", "maximum"):
            above.plot(tried, group[f"{name}_baseline"], zorder=2, **style.BASELINES[name])
        below.plot(tried, group["maximum_tail"], **own)
        if not tuned:
            dashes = style.BASELINES["standard"]["linestyle"]
            below.plot(tried, group["standard_tail"], color=colour[shots], linestyle=dashes)
    _percent_axis(above)
    tails = here["maximum_tail"] if "tuned" in here else here[["standard_tail", "maximum_tail"]].min(axis=1)
    below.set(xscale="log", yscale="log", xlabel="prompts tried")
    below.axhline(0.05, color=style.FAINT, linewidth=0.5, zorder=1)
    below.set_ylim(max(min(tails.min() / 2, 0.01), 1e-12), 1.3)
    most = here["prompts"].max()
    digits = (1, 2, 5) if most < 20 else (1,)
    ticks = [digit * 10**power for power in range(7) for digit in digits]
    below.set_xticks([tick for tick in ticks if tick <= most])
    below.xaxis.set_major_formatter("{x:.0f}")
    below.xaxis.set_minor_locator(NullLocator())


def guessers_numbers(accuracy: pd.DataFrame) -> pd.DataFrame:
    """How accuracies are distributed: of one setting's prompts, of a guesser, and of the best guesser.

    Parameters
    ----------
    accuracy
        The setting's rows of the table ``accuracy``. The guessers are those of its first prompt.

    Returns
    -------
    DataFrame
        ``of`` (``prompts``, ``guesser``, ``best``), ``accuracy``, ``share``.
    """
    baseline, prompts = baselines(accuracy)[0], len(accuracy)
    correct = np.arange(baseline.examples + 1)
    found = accuracy["accuracy"].value_counts(normalize=True).sort_index()
    parts = {
        "prompts": (found.index, found.to_numpy()),
        "guesser": (correct / baseline.examples, baseline.pmf(correct)),
        "best": (correct / baseline.examples, baseline.pmf(correct, prompts)),
    }
    return pd.concat(
        [pd.DataFrame({"of": of, "accuracy": x, "share": y}) for of, (x, y) in parts.items()],
        ignore_index=True,
    )


def guessers(numbers: pd.DataFrame, verdict: pd.Series, title: str | None = None) -> Figure:
    """One setting's prompts beside a random guesser and the best of many (Figure 1).

    Parameters
    ----------
    numbers
        From ``guessers_numbers``.
    verdict
        The setting's row of ``verdicts.csv``.
    title
        The setting's name unless given.
    """
    style.apply()
    figure, panels = plt.subplots(3, 1, figsize=(style.COLUMN_WIDTH, 3.5), sharex=True)
    if title is None:
        title = f"{verdict['model']}, {style.words(verdict['task'])}, {verdict['shots']}-shot"
    figure.suptitle(title, fontsize=8)
    marks = {
        "prompts": (style.COLOURS[1], verdict["best_accuracy"], f"{verdict['prompts']} prompts", "best"),
        "guesser": (style.FAINT, verdict["standard_baseline"], "a random guesser", "mean"),
        "best": (
            style.INK,
            verdict["maximum_baseline"],
            f"the best of {verdict['prompts']} guessers",
            "mean",
        ),
    }
    seen = numbers[numbers["share"] > 1e-3]["accuracy"]
    width = np.diff(numbers.loc[numbers["of"] == "guesser", "accuracy"]).mean()
    for axes, (of, (colour, mark, label, word)) in zip(panels, marks.items(), strict=True):
        here = numbers[numbers["of"] == of]
        axes.bar(here["accuracy"], here["share"], width=width * 0.9, color=colour, alpha=0.55)
        axes.axvline(mark, color=colour, linewidth=1.2)
        axes.set_title(f"{label}: {word} {mark:.1%}", loc="left", color=colour, fontsize=7.5)
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)
        for other, (other_colour, level, _, _) in marks.items():
            if other != of:
                axes.axvline(level, color=other_colour, linewidth=0.6, linestyle=(0, (1, 2)))
    panels[-1].set(xlim=(seen.min() - 3 * width, max(seen.max(), verdict["best_accuracy"]) + 3 * width))
    panels[-1].set_xlabel("accuracy")
    panels[-1].xaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    return figure


def draw(accuracies: ArrayLike, baseline: RandomBaseline, title: str = "") -> Figure:
    """A result against its baselines: the prompts' accuracies, one guesser's, and the best guesser's.

    Parameters
    ----------
    accuracies
        (prompts,) the accuracy of each prompt that was tried, in [0, 1].
    baseline
        That of one random guesser on the examples.

    Returns
    -------
    Figure
        Which a notebook shows.
    """
    values = np.asarray(accuracies, dtype=float).ravel()
    found = Verdict.of(float(values.max()), baseline, len(values))
    table = pd.DataFrame({"accuracy": values})
    table["chances"], table["counts"] = (
        [[*baseline.counts]] * len(values),
        [[*baseline.counts.values()]] * len(values),
    )
    figure = guessers(
        guessers_numbers(table), pd.Series(asdict(found) | {"best_accuracy": found.accuracy}), title
    )
    plt.close(figure)  # else a notebook would show it twice
    return figure


def roc_by_prompts_numbers(outcomes: pd.DataFrame) -> pd.DataFrame:
    """The curves of ``heldout.curves`` for each number of prompts tried, ROC only."""
    parts = [
        curves(group).query("curve == 'roc'").assign(prompts=prompts)
        for prompts, group in outcomes.groupby("prompts")
    ]
    return pd.concat(parts, ignore_index=True)


def roc_by_prompts(numbers: pd.DataFrame) -> Figure:
    """ROC of both baselines as predictors, for ever more prompts to choose from (Figure 10)."""
    style.apply()
    tried = numbers["prompts"].unique()
    if not len(tried):
        return _nothing("all outcomes agree: no curve")
    columns = min(3, len(tried))
    rows = math.ceil(len(tried) / columns)
    size = (style.FULL_WIDTH, 2.2 * rows + 0.3)
    figure, grid = plt.subplots(rows, columns, figsize=size, sharex=True, sharey=True, squeeze=False)
    for axes in grid.flat[len(tried) :]:
        axes.remove()
    for axes, prompts in zip(grid.flat, tried, strict=False):
        here = numbers[numbers["prompts"] == prompts]
        for (predictor, score), group in here.groupby(["predictor", "score"], sort=False):
            _roc_line(axes, group, predictor, score)
        axes.plot([0, 1], [0, 1], color=style.FAINT, linewidth=0.6)
        axes.set_title(f"best of {prompts}" if prompts > 1 else "one prompt")
        axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.04), aspect="equal")
    for axes in grid[-1]:
        axes.set_xlabel("false positive rate")
    for axes in grid[:, 0]:
        axes.set_ylabel("true positive rate")
    marks = [
        Line2D([], [], color=_PREDICTORS[name], marker=mark, linewidth=1, label=f"above the {name} baseline")
        for name, mark in (("standard", "o"), ("maximum", "X"))
    ]
    _legend(figure, marks)
    return figure


def _nothing(why: str) -> Figure:
    """A figure that says why there is nothing to see."""
    figure, axes = plt.subplots(figsize=(style.COLUMN_WIDTH, 1))
    axes.axis("off")
    axes.text(0.5, 0.5, why, ha="center", va="center", color=style.FAINT)
    return figure


_PREDICTORS = {"standard": style.COLOURS[1], "maximum": style.COLOURS[0]}


def _roc_line(axes: Axes, group: pd.DataFrame, predictor: str, score: str) -> None:
    colour = _PREDICTORS[predictor]
    if score == "tail":
        # The curves are often one on the other: the wide one shows under the narrow one.
        axes.plot(group["x"], group["y"], color=colour, linewidth=1.0 if predictor == "maximum" else 2.6)
        return
    mark = {"marker": "X" if predictor == "maximum" else "o", "markersize": 7, "markeredgecolor": "white"}
    axes.plot(group["x"], group["y"], color=colour, linestyle="", zorder=4, clip_on=False, **mark)


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
    colour = _PREDICTORS
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
