"""Names of other tools' models and tasks may have any characters."""

import pandas as pd
import pytest

from abovechance.chance.verdicts import verdicts
from abovechance.results.accuracy import accuracy_by_prompt
from abovechance.shown.expected_maximum import expected_maximum, expected_maximum_numbers
from abovechance.shown.panels import legend_label, panel_title
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
    assert legend_label("m" * 300) == "m" * 37 + "..."
    assert legend_label("org/model\nname") == "org/model name"
