"""One setting's prompts beside random guessers."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from abovechance.chance.random_baseline import RandomBaseline
from abovechance.chance.verdicts import Verdict, random_baselines
from abovechance.core.arrays import floats
from abovechance.core.errors import InputError
from abovechance.core.words import counted
from abovechance.shown import style
from abovechance.shown.panels import percent_axis, plain

VISIBLE = 1e-3  # share of a bar that can be seen


def guessers_numbers(accuracy: pd.DataFrame) -> pd.DataFrame:
    """Return how accuracies are distributed: of one setting's prompts, of a guesser, and of the best guesser.

    Parameters
    ----------
    accuracy
        The setting's rows of the table ``accuracy``. The guessers are those of its first prompt.

    Returns
    -------
    DataFrame
        ``source`` (``prompts``, ``guesser``, ``best``), ``accuracy``, ``share``.
    """
    baseline, prompts = random_baselines(accuracy)[0], len(accuracy)
    correct = np.arange(baseline.examples + 1)
    shares = accuracy["accuracy"].value_counts(normalize=True).sort_index()
    parts = {
        "prompts": (shares.index, shares.to_numpy()),
        "guesser": (correct / baseline.examples, baseline.pmf(correct)),
        "best": (correct / baseline.examples, baseline.pmf(correct, prompts)),
    }
    return pd.concat(
        [pd.DataFrame({"source": source, "accuracy": x, "share": y}) for source, (x, y) in parts.items()],
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
    figure.suptitle(plain(title), fontsize=8)
    prompts = int(verdict["prompts"])
    of_best = "a random guesser" if prompts == 1 else f"the best of {prompts} guessers"
    marks = {
        "prompts": (style.COLOURS[1], verdict["best_accuracy"], counted(prompts, "prompt"), "best"),
        "guesser": (style.FAINT, verdict["standard_baseline"], "a random guesser", "mean"),
        "best": (style.INK, verdict["maximum_baseline"], of_best, "mean"),
    }
    visible = numbers[numbers["share"] > VISIBLE]["accuracy"]
    width = np.diff(numbers.loc[numbers["source"] == "guesser", "accuracy"]).mean()
    for axes, (source, (colour, mark, label, word)) in zip(panels, marks.items(), strict=True):
        rows = numbers[(numbers["source"] == source) & (numbers["share"] > VISIBLE)]
        axes.bar(rows["accuracy"], rows["share"], width=width * 0.9, color=colour, alpha=0.55)
        axes.axvline(mark, color=colour, linewidth=1.2)
        axes.set_title(f"{label}: {word} {mark:.1%}", loc="left", color=colour, fontsize=7.5)
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)
        for second_source, (other_colour, level, _, _) in marks.items():
            if second_source != source:
                axes.axvline(level, color=other_colour, linewidth=0.6, linestyle=(0, (1, 2)))
    panels[-1].set(xlim=(visible.min() - 3 * width, max(visible.max(), verdict["best_accuracy"]) + 3 * width))
    panels[-1].set_xlabel("accuracy")
    percent_axis(panels[-1].xaxis)
    return figure


def draw(accuracies: ArrayLike, baseline: RandomBaseline, title: str = "") -> Figure:
    """Return a result against its baselines: the prompts' accuracies, one guesser's, and the best guesser's.

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
    values = floats(accuracies).ravel()
    if not values.size or not np.isfinite(values).all():
        raise InputError("accuracies are missing; expected one for each prompt that was tried")
    verdict = Verdict.from_accuracy(float(values.max()), baseline, len(values))
    table = pd.DataFrame({"accuracy": values})
    table["chances"], table["counts"] = (
        [[*baseline.counts]] * len(values),
        [[*baseline.counts.values()]] * len(values),
    )
    figure = guessers(
        guessers_numbers(table),
        pd.Series(verdict.judgement | {"best_accuracy": verdict.accuracy, "prompts": verdict.prompts}),
        title,
    )
    plt.close(figure)  # else a notebook would show it twice
    return figure
