"""The figure of models' scores, with what tells them apart."""

from __future__ import annotations

import math

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure
from scipy import stats

from abovechance.compare import many
from abovechance.compare.comparison import sample_of
from abovechance.compare.responses import Responses
from abovechance.core.arrays import Floats, Ints
from abovechance.core.estimates import Estimate, clustered_mean
from abovechance.core.resampling import numbered
from abovechance.shown import style
from abovechance.shown.panels import in_order, legend_labels, percent_axis, plain


def score_numbers(responses: list[Responses], confidence: float) -> pd.DataFrame:
    """Each model's score on each task with its interval over examples, and its letters (``many.ranks``)."""
    parts = []
    for task_responses in responses:
        ranks = many.ranks(sample_of(task_responses), task_responses.models, confidence)
        means = [
            clustered_mean(scores, task_responses.clusters, confidence)
            for scores in task_responses.by_example
        ]
        scores = pd.DataFrame(
            [
                {"model": model, **_interval(mean, of_model, task_responses.clusters, confidence)}
                for model, mean, of_model in zip(
                    task_responses.models, means, task_responses.by_example, strict=True
                )
            ]
        )
        parts.append(
            ranks.merge(scores, on="model").assign(task=task_responses.task, shots=task_responses.shots)
        )
    table = pd.concat(parts, ignore_index=True)
    return table[
        ["task", "shots", "model", "score", "low", "high", "groups", "rank_low", "rank_high", "best"]
    ]


def _interval(mean: Estimate, scores: Floats, clusters: Ints, confidence: float) -> dict[str, float]:
    """Return the ends of a mean's interval: for scores from 0 to 1, Wilson's, which stays in this range.

    Its number of examples is that of right and wrong answers with the same standard error.
    """
    share, variance, units = mean.value, mean.standard_error**2, numbered(len(scores), clusters)[1]
    if scores.min() < 0 or scores.max() > 1 or (variance == 0 and 0 < share < 1):
        return {"low": mean.low, "high": mean.high}
    count = share * (1 - share) / variance if variance > 0 else units
    # the variance of few clusters is known less well than that of right and wrong answers
    quantile = stats.norm if units == len(scores) else stats.t(units - 1)
    square = quantile.isf((1 - confidence) / 2) ** 2
    centre = (share + square / (2 * count)) / (1 + square / count)
    reach = math.sqrt(square * (share * (1 - share) / count + square / (4 * count**2))) / (1 + square / count)
    return {"low": max(centre - reach, 0.0), "high": min(centre + reach, 1.0)}


def scores(numbers: pd.DataFrame) -> Figure:
    """Return a panel for each task: the models in their order, each with its interval over examples.

    Intervals of single models overlap where the difference of two is sure, since these answer the same
    examples: letters say which cannot be told apart.
    """
    style.apply()
    panels = list(dict.fromkeys(zip(numbers["task"], numbers["shots"], strict=True)))
    models = in_order(numbers["model"])
    labels = legend_labels(models)
    colour, columns = style.colours(models), min(2, len(panels))
    rows = math.ceil(len(panels) / columns)
    size = (style.FULL_WIDTH, rows * (0.22 * len(models) + 0.75))
    figure, grid = plt.subplots(rows, columns, figsize=size, squeeze=False)
    for axes in grid.flat[len(panels) :]:
        axes.remove()
    for axes, (task, shots) in zip(grid.flat, panels, strict=False):
        task_numbers = numbers[(numbers["task"] == task) & (numbers["shots"] == shots)].iloc[::-1]
        for place, row in enumerate(task_numbers.to_dict("records")):
            look = {"color": colour[str(row["model"])]}
            axes.hlines(place, row["low"], row["high"], **look)
            axes.plot(row["score"], place, marker="o", markersize=4, **look)
            axes.annotate(
                str(row["groups"]), (1.01, place), xycoords=("axes fraction", "data"), va="center", fontsize=7
            )
        axes.set_yticks(range(len(task_numbers)), [labels[str(model)] for model in task_numbers["model"]])
        axes.set_ylim(-0.6, len(task_numbers) - 0.4)
        axes.set_title(plain(f"{style.words(str(task))}, {shots}-shot"))
        percent_axis(axes.xaxis)
    return figure
