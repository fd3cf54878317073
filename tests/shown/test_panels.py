"""Names of other tools' models and tasks may have any characters."""

import pandas as pd
import pytest

from abovechance.chance.verdicts import verdicts
from abovechance.results.accuracy import accuracy_by_prompt
from abovechance.shown.expected_maximum import expected_maximum, expected_maximum_numbers
from abovechance.shown.panels import legend_labels, panel_title
from abovechance.shown.spread import spread, spread_numbers

ODD = ["$a_{$", "a$b$c", "x" * 300, "two\nlines", "<b>&", "\\frac{", "%", " ", "漢字 é"]


@pytest.mark.parametrize("name", ODD)
def test_names_of_any_characters_are_drawn(name, tmp_path):
    rows = [
        {"model": name, "task": name, "shots": 0, "prompt": prompt, "example": str(example), "predicted": -1}
        | {"correct": bool((prompt + example) % 2), "tie": False, "chance": 0.5}
        for prompt in range(2)
        for example in range(4)
    ]
    accuracy = accuracy_by_prompt(pd.DataFrame(rows))
    spread(spread_numbers(accuracy, verdicts(accuracy))).savefig(tmp_path / "a.pdf")
    expected_maximum(expected_maximum_numbers(accuracy)).savefig(tmp_path / "b.pdf")
    assert all((tmp_path / name).stat().st_size > 1000 for name in ("a.pdf", "b.pdf"))


def test_long_names_are_shortened():
    assert len(panel_title("word " * 60).splitlines()) == 3
    # what tells models apart often stands at the end
    long, end = "m" * 300, "org/a-model-with-a-long-name-step1000-seed7"
    labels = legend_labels([long, end, "org/model\nname"])
    assert labels[long] == "m" * 14 + "..." + "m" * 23
    assert labels[end].endswith("-step1000-seed7")
    assert labels["org/model\nname"] == "org/model name"


def test_models_that_differ_in_the_middle_of_long_names_have_different_labels():
    models = [f"organization/model-{size}-instruct-with-a-long-description" for size in ("7b", "70b")]
    assert legend_labels(models) == {model: model for model in models}


def test_of_many_models_the_best_prompts_alone_are_drawn_each_once():
    rows = [
        {
            "model": f"m{model}",
            "task": "t",
            "shots": shots,
            "prompt": prompt,
            "accuracy": (model + prompt) / 100,
        }
        | {
            "best_prompt": 2,
            "standard_baseline": 0.3,
            "maximum_baseline": 0.4,
            "better_than_chance": "yes" if model > 40 else "no",
        }
        for model in range(45)
        for shots in (1, 2)
        for prompt in range(3)
    ]
    figure = spread(pd.DataFrame(rows))
    (axes,) = figure.axes
    points = [collection.get_offsets() for collection in axes.collections]
    assert [len(part) for part in points] == [45, 45]
    assert points[0][:, 1].tolist() == [(model + 2) / 100 for model in range(45)]  # the best, in their order
    assert "best prompt of one of 45 models" in figure.legends[0].get_texts()[2].get_text()


@pytest.mark.parametrize(
    ("shots", "names", "label"),
    [((0, 5), ["0-shot", "5-shot"], ""), ((0, 1, 2, 5), ["0", "1", "2", "5"], "shots")],
)
def test_names_of_many_numbers_of_shots_do_not_touch(shots, names, label):
    row = {"model": "m", "task": "t", "prompt": 0, "best_prompt": 0, "accuracy": 0.5, "position": "above"}
    row |= {"standard_baseline": 0.3, "maximum_baseline": 0.4, "better_than_chance": "no"}
    (axes,) = spread(pd.DataFrame([row | {"shots": number} for number in shots])).axes
    assert [text.get_text() for text in axes.get_xticklabels()] == names
    assert axes.get_xlabel() == label
