"""Figures show what their numbers say: numbers of known cases, and drawings that come out."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from abovechance import RandomBaseline
from abovechance.chance.heldout import all_outcomes
from abovechance.chance.planning import power_curve
from abovechance.chance.verdicts import verdicts
from abovechance.published import figures
from abovechance.results.accuracy import accuracy_by_prompt
from abovechance.shown import baselines, guessers, roc, style


@pytest.fixture(scope="module")
def settings() -> list[pd.DataFrame]:
    """The predictions of a base model and the one tuned from it."""
    generator = np.random.default_rng(0)
    return [
        pd.DataFrame(
            {
                "model": model,
                "task": task,
                "shots": shots,
                "prompt": np.repeat(range(12), 40),
                "example": np.tile([f"e{i}" for i in range(40)], 12),
                "correct": generator.random(480) < 0.55,
                "tie": False,
                "chance": 0.5,
            }
        )
        for model in ("base", "tuned")
        for task in ("one", "two")
        for shots in (1, 4)
    ]


@pytest.fixture(scope="module")
def accuracy(settings) -> pd.DataFrame:
    return pd.concat([accuracy_by_prompt(table) for table in settings], ignore_index=True)


@pytest.mark.thorough
@pytest.mark.parametrize("name", baselines.GENERAL)
def test_figures_of_no_study_are_written_with_their_numbers(name, tmp_path):
    numbers, draw = baselines.GENERAL[name]
    plotted = numbers()
    style.save(draw(plotted), plotted, tmp_path / name)
    assert {path.suffix for path in tmp_path.iterdir()} == {".png", ".pdf", ".csv"}
    assert not plt.get_fignums()


def test_contours_of_the_maximum_are_the_baselines():
    numbers = baselines.maximum_numbers(choices=[4], greatest=3)
    row = numbers[(numbers["examples"] == 100) & (numbers["prompts"] == 10)].iloc[0]
    assert row["maximum_baseline"] == pytest.approx(RandomBaseline.from_chance(0.25, 100).maximum(10))


def test_a_critical_accuracy_is_the_least_that_is_improbable_enough():
    numbers = baselines.critical_numbers(choices=[2], prompt_counts=[10], tails=[0.1])
    for row in numbers.sample(10, random_state=0).itertuples():
        baseline, correct = RandomBaseline.from_chance(0.5, row.examples), round(row.accuracy * row.examples)
        assert baseline.tail(correct, 10) <= 0.1 < baseline.tail(correct - 1, 10)


def test_rises_are_nothing_for_one_prompt_and_grow():
    numbers = baselines.rise_numbers().pivot_table("rise", ["suite", "task"], "prompts")
    assert numbers[1].abs().max() < 1e-12
    assert (numbers.diff(axis=1).iloc[:, 1:] > 0).all(axis=None)
    assert len(numbers) == 32


def test_a_normalized_score_of_nothing_is_the_standard_baseline():
    numbers = baselines.normalized_numbers(prompt_counts=[1])
    row = numbers[(numbers["task"] == "hyperbaton") & (numbers["score"] == 0)].iloc[0]
    assert row["tail"] == pytest.approx(RandomBaseline.from_chance(0.5, 50_000).tail(25_000))


def test_the_papers_figures_are_drawn_from_what_there_is(settings, accuracy):
    outcomes = all_outcomes(settings, seed=0, splits=5, validation=0.75, prompt_counts=[1, 5])
    command = {"model": "none such", "task": "two", "tasks": ["two", "none such"]}
    sample = {}
    for name, figure, numbers in figures.draw(accuracy, outcomes, command, {"base": "tuned"}):
        figure.canvas.draw()
        plt.close(figure)
        sample[name] = numbers
    assert list(sample) == [
        "guessers",
        "chosen_tasks",
        "base_and_tuned",
        "published_agreement",
        "roc_by_prompts",
    ]
    assert sample["chosen_tasks"]["task"].unique().tolist() == ["two"]
    assert sample["base_and_tuned"]["pair"].unique().tolist() == ["base / tuned"]
    assert sample["base_and_tuned"]["tuned"].unique().tolist() == [False, True]
    shares = sample["guessers"].groupby("source")["share"].sum()
    assert shares.tolist() == pytest.approx([1, 1, 1])


def test_a_pair_of_which_one_is_missing_is_drawn_alone(accuracy):
    ((name, figure, numbers),) = figures.draw_pair(accuracy[accuracy["model"] == "base"], "base", "tuned")
    plt.close(figure)
    assert name == "pair_base"
    assert not numbers["tuned"].any()


def test_guessers_are_as_many_as_prompts(accuracy):
    first = accuracy[(accuracy["model"] == "base") & (accuracy["task"] == "one") & (accuracy["shots"] == 1)]
    numbers = guessers.guessers_numbers(first)
    best = numbers[numbers["source"] == "best"]
    mean = (best["accuracy"] * best["share"]).sum()
    assert mean == pytest.approx(verdicts(first).iloc[0]["maximum_baseline"])


def test_one_function_draws_a_result_against_its_baselines():
    figure = guessers.draw([0.5, 0.7, 0.62], RandomBaseline.from_chance(0.5, 50), "mine")
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles[0] == "3 prompts: best 70.0%"
    assert titles[2].startswith("the best of 3 guessers: mean 5")
    assert not plt.get_fignums()
    alone = guessers.draw([0.5], RandomBaseline.from_chance(0.5, 10), "a$_{$b costs $5")
    assert alone.get_suptitle() == r"a\$_{\$b costs \$5"
    titles = [axes.get_title(loc="left") for axes in alone.axes]
    assert titles == ["1 prompt: best 50.0%", *["a random guesser: mean 50.0%"] * 2]


def test_bars_that_cannot_be_seen_are_not_drawn():
    figure = guessers.draw([0.5, 0.7], RandomBaseline.from_chance(0.5, 20_000))
    assert all(10 < len(axes.patches) < 1_000 for axes in figure.axes[1:])


def test_the_figure_of_power_is_that_of_its_options():
    numbers = power_curve(0.5, [100], [1, 20], [0.5, 0.6], better=3)
    for options, level, words in (
        ({}, 0.8, "true accuracy of one prompt"),
        ({"better": 3, "target": 0.95}, 0.95, "true accuracy of 3 prompts"),
    ):
        (axes,) = baselines.power_lines(numbers, **options).axes
        assert axes.lines[-1].get_ydata() == [level, level]
        assert axes.get_xlabel() == words
        plt.close("all")


@pytest.mark.parametrize("panels", [1, 3, 4, 5])
def test_the_lowest_panel_of_each_column_has_its_axis_named(panels):
    rows = [(prompts, "standard", "tail", x, x) for prompts in range(1, panels + 1) for x in (0, 1)]
    columns = ["prompts", "predictor", "score", "x", "y"]
    figure = roc.roc_by_prompts(pd.DataFrame(rows, columns=columns))
    lowest = figure.axes[-3:]
    assert [axes.get_xlabel() for axes in lowest] == ["false positive rate"] * len(lowest)
    # matplotlib 3.9 does not list what is as usual
    assert all(axes.xaxis.get_tick_params().get("labelbottom", True) for axes in lowest)
    if panels == 5:
        figure.canvas.draw()
        assert all(label.get_text() for label in figure.axes[2].get_xticklabels())
