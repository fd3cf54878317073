"""Formulations of one task: the same examples and demonstrations."""

import pandas as pd
import pytest

from abovechance.core.errors import InputError
from abovechance.study.formats import apply_format
from abovechance.study.formulations import check_alike, drawn_as, formulations, written_out
from abovechance.study.prompts import draw_prompts, evaluation_set
from abovechance.study.tasks import as_table

ENTRY = {"source": "arc.jsonl", "formats": ["cloze", "letters"], "shots": [1]}


def test_an_entry_of_two_formats_is_two_tasks():
    entries = written_out({"arc": ENTRY, "sums": {"source": "sums.csv"}}, "here")
    assert entries == {
        "arc-cloze": {"source": "arc.jsonl", "shots": [1], "format": "cloze", "formulation_of": "arc"},
        "arc-letters": {"source": "arc.jsonl", "shots": [1], "format": "letters", "formulation_of": "arc"},
        "sums": {"source": "sums.csv"},
    }
    assert formulations(entries) == {"arc": ["arc-cloze", "arc-letters"]}
    assert drawn_as("arc-letters", entries) == ("arc", "arc-cloze")
    assert drawn_as("sums", entries) == ("sums", "sums")


@pytest.mark.parametrize("formats", ["cloze", [], ["cloze", "cloze"], [1], {"cloze": 1}])
def test_formats_that_are_no_list_are_told(formats):
    with pytest.raises(InputError, match="key 'tasks.arc.formats' is .*each once"):
        written_out({"arc": {"source": "arc.jsonl", "formats": formats}}, "here")


def test_one_task_has_a_format_or_several():
    with pytest.raises(InputError, match="'format' beside 'formats'"):
        written_out({"arc": {**ENTRY, "format": "cloze"}}, "here")


def test_no_formulation_has_another_tasks_name():
    with pytest.raises(InputError, match="'tasks.arc-cloze' stands for two tasks"):
        written_out({"arc-cloze": {"source": "a.csv"}, "arc": ENTRY}, "here")


def test_formulations_are_of_one_source():
    tasks = {
        "one": {"source": "a.csv", "shots": [1], "formulation_of": "x"},
        "two": {"source": "b.csv", "shots": [1], "formulation_of": "x"},
    }
    with pytest.raises(InputError, match="formulations of 'x'.*same source"):
        check_alike(tasks, "here")


def test_formulations_have_the_same_demonstrations_even_where_texts_are_alike_in_one():
    """Two examples read the same but for their wrong choices: one demonstration in cloze, two in letters."""
    rows = as_table(
        {
            "example": str(number),
            "text": f"Question {number // 2}?",
            "choices": ["yes", f"no {number}"] if number % 3 else [f"no {number}", "yes"],
            "correct": [bool(number % 3), not number % 3],
        }
        for number in range(12)
    )
    tables = {name: apply_format(rows, name, "here") for name in ("cloze", "letters")}
    sets = [evaluation_set(table, "x", 0, 4) for table in tables.values()]
    pd.testing.assert_frame_equal(*sets)
    sample = {
        name: draw_prompts(tables["cloze"], sets[0], "x", 0, 2, 20, texts=table)
        for name, table in tables.items()
    }
    assert sample["cloze"]["demonstrations"].tolist() == sample["letters"]["demonstrations"].tolist()
    assert sample["cloze"]["text"].iloc[0].endswith(" yes\n")
    assert sample["letters"]["text"].iloc[0].rstrip()[-1] in "AB"
    alone = draw_prompts(tables["cloze"], sets[0], "x", 0, 2, 20)
    pd.testing.assert_frame_equal(alone, sample["cloze"])
