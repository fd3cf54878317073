"""Tables that people read."""

import re

import pandas as pd
import pytest

from abovechance.chance.precisions import (
    PRECISION_SETTINGS,
    PRECISION_SUMMARY,
    precision_settings,
    precision_summary,
)
from abovechance.core.columns import Column
from abovechance.core.p_values import probability
from abovechance.core.tables import TableSchema
from abovechance.shown.tables import readable, write
from abovechance.study.config import precision_pairs


@pytest.mark.parametrize(
    ("value", "output"),
    [
        *((1.0, "1.00"), (0.88, "0.88"), (0.0121, "0.01"), (0.0099, "9.9e-03"), (0.0496, "0.05")),
        *((0.05, "0.05"), (0.0504, "0.0504"), (0.0512, "0.051"), (0.05000001, "0.0501")),
    ],
)
def test_a_probability_above_the_usual_level_is_not_written_as_that(value, output):
    assert probability(value) == output


def test_small_numbers_are_not_written_as_nothing():
    readable_table = readable(
        pd.DataFrame({"power": [1e-6, -0.0, 0.0005, 0.2061], "standard_tail": [0.5, 0.05, 1, 0]}),
        {"standard_tail": Column.tail("")},
    )
    assert readable_table["standard tail"].tolist() == ["0.50", "0.05", "1.00", "0.0e+00"]
    assert readable_table["power"].tolist() == ["1.0e-06", "0.000", "0.001", "0.206"]


def test_texts_of_strangers_are_texts_in_spreadsheets_and_in_markdown(tmp_path):
    texts = [
        "=HYPERLINK(1)",
        "+1+1",
        "@x",
        "-2",
        "a|b",
        "<script>x</script>",
        "`[x](y)`",
        "\x1b]0;x\x07",
        "\t=1",
        "__init__ a_b ~~c~~",
    ]
    schema = TableSchema("t", {"answer": Column.text("a"), "accuracy": Column.share("b")}, "One row.")
    for suffix in ("csv", "md"):
        write(schema, pd.DataFrame({"answer": texts, "accuracy": 0.5}), tmp_path / f"t.{suffix}")
    table = pd.read_csv(tmp_path / "t.csv")["answer"].tolist()
    assert table[:4] == ["'=HYPERLINK(1)", "'+1+1", "'@x", "-2"]
    assert table[-2] == "'\t=1"
    lines = (tmp_path / "t.md").read_text().splitlines()[2:]
    cells = [re.split(r"(?<!\\)\|", line)[1].strip() for line in lines]
    assert all(len(re.split(r"(?<!\\)\|", line)) == 4 for line in lines)
    assert cells[4:7] == [r"a\|b", "&lt;script&gt;x&lt;/script&gt;", r"\`\[x\](y)\`"]
    assert cells[9] == r"\_\_init\_\_ a_b \~\~c\~\~"
    assert cells[7] == r"\\x1b\]0;x\\x07"


def test_precisions_of_the_same_model_are_paired_the_higher_first():
    models = {
        "small": {"hub": "a/b", "precision": "nf4"},
        "wide": {"hub": "a/b", "precision": "float32"},
        "half": {"hub": "a/b", "precision": "bfloat16"},
        "other": {"hub": "a/c", "precision": "bfloat16"},
        "again": {"hub": "a/b", "precision": "nf4"},
    }
    assert precision_pairs(models) == [
        ("wide", "half"),
        ("wide", "small"),
        ("wide", "again"),
        ("half", "small"),
        ("half", "again"),
    ]


def test_two_precisions_are_compared_setting_by_setting_and_prompt_by_prompt():
    """Task t moves with all prompts; of task u, all prompts have equal accuracy in the lower precision."""
    accuracies = {
        ("a", "t"): [0.5, 0.6, 0.7],
        ("a", "u"): [0.2, 0.3, 0.1],
        ("b", "t"): [0.4, 0.5, 0.6],
        ("b", "u"): [0.25] * 3,
        ("c", "t"): [0.9] * 3,
    }
    accuracy = pd.DataFrame(
        [
            {"model": model, "task": task, "shots": 1, "prompt": prompt, "accuracy": accuracy}
            for (model, task), scores in accuracies.items()
            for prompt, accuracy in enumerate(scores)
        ]
    )
    positions = ["above", "below", "between", "below", None]
    verdicts = pd.DataFrame(
        [
            {
                "model": model,
                "task": task,
                "shots": 1,
                "best_accuracy": max(scores),
                "position": position,
            }
            for ((model, task), scores), position in zip(accuracies.items(), positions, strict=True)
        ]
    )
    settings = precision_settings(verdicts, accuracy, [("a", "b"), ("b", "a"), ("a", "c")])
    assert [*settings.columns] == [*PRECISION_SETTINGS.columns]
    assert settings["first"].tolist() == ["a", "a", "b", "b"]
    assert settings["second"].tolist() == ["b", "b", "a", "a"]
    assert settings["task"].tolist() == ["t", "u"] * 2
    assert settings["best_accuracy_first"].tolist() == [0.7, 0.3, 0.6, 0.25]
    assert settings["position_second"].tolist() == ["between", "below", "above", "below"]
    assert settings["mean_change"].tolist() == pytest.approx([-0.1, 0.05, 0.1, -0.05])
    assert settings["correlation"].tolist()[::2] == pytest.approx([1, 1])
    assert settings["correlation"].isna().tolist() == [False, True] * 2
    summary = precision_summary(settings)
    assert [*summary.columns] == [*PRECISION_SUMMARY.columns]
    first = summary.iloc[0].to_dict()
    assert first.pop("mean_change_of_best") == pytest.approx(-0.075)
    assert first == {
        "first": "a",
        "second": "b",
        "shots": 1,
        "settings": 2,
        "above_standard_first": 1,
        "between_first": 0,
        "above_standard_second": 1,
        "between_second": 1,
        "same_verdict": 1,
    }
    assert len(summary) == 2
    none = precision_settings(verdicts, accuracy, [("a", "c")])
    assert [*none.columns] == [*PRECISION_SETTINGS.columns]
    assert [*precision_summary(none).columns] == [*PRECISION_SUMMARY.columns]
