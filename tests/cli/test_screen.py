"""Tables on the screen are never wider than it, and lose nothing in silence."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from abovechance.cli.screen import _folded, _widths, print_table
from abovechance.core.columns import Column
from tests.running import run

COLUMNS = {
    "task": Column.text("a task"),
    "model": Column.text("a model"),
    "accuracy": Column.share("an accuracy"),
    "tail": Column.tail("a tail"),
    "prompts": Column.whole("prompts"),
}
TABLE = pd.DataFrame(
    {
        "task": ["logical_deduction_with_seven_objects", "sums", "sums"],
        "model": ["org/a-model-of-a-long-name", "b", "c"],
        "accuracy": [0.5, 0.25, 1.0],
        "tail": [1e-9, 0.04, 1.0],
        "prompts": [10, 10, 10],
    }
)


@pytest.fixture
def printed_lines(capsys, monkeypatch):
    def show(table: pd.DataFrame, width: int, **how) -> list[str]:
        monkeypatch.setenv("COLUMNS", str(width))
        print_table(table, COLUMNS, **how)
        return capsys.readouterr().out.splitlines()

    return show


def test_no_row_is_wider_than_any_screen(printed_lines):
    for width in [*range(30, 130), 300]:
        lines = printed_lines(TABLE, width)
        assert max(len(line) for line in lines if "--json" not in line) <= width
        assert all(line == line.rstrip() for line in lines)


def test_what_is_the_same_in_all_rows_stands_once_above_them(printed_lines):
    lines = printed_lines(TABLE, 120)
    assert lines[0] == "prompts: 10"
    assert "prompts" not in "".join(lines[1:])


def test_names_become_narrower_so_that_three_values_are_seen(printed_lines):
    lines = printed_lines(TABLE, 80)
    assert lines[2].split() == ["task", "model", "accuracy", "tail"]
    names = ["meta-llama--Llama-3.2-1B-Instruct", "HuggingFaceTB--SmolLM2-360M-Instruct"]
    table = pd.DataFrame(
        {
            "task": ["arc_challenge", "gsm8k"],
            "model": names,
            "metric": ["acc", "exact_match,strict-match"],
            "accuracy": [0.5, 0.25],
            "tail": [0.04, 1.0],
            "better": [True, False],
            "other": ["x" * 30, "y"],
        }
    )
    lines = printed_lines(table, 80)
    assert lines[0].split() == ["task", "model", "metric", "accuracy", "tail", "better"]
    assert lines[-1].endswith(": other")
    assert max(map(len, lines[:-1])) <= 80
    assert len(printed_lines(table, 140)) == 3


def test_columns_without_room_are_named(printed_lines):
    (note,) = [line for line in printed_lines(TABLE, 40) if "--json" in line]
    assert note.endswith("tail")
    assert not [line for line in printed_lines(TABLE, 120) if "--json" in line]


def test_the_first_rows_and_columns_are_those_asked_for(printed_lines):
    lines = printed_lines(TABLE, 120, most_rows=1, order=["accuracy", "task"])
    assert lines[-1] == "2 more rows: --all"
    assert lines[2].split() == ["accuracy", "task", "model", "tail"]
    assert "sums" not in "".join(lines)


def test_output_to_a_pipe_has_no_colours(printed_lines):
    assert not any("\x1b" in line for line in printed_lines(TABLE, 80))


@given(st.text(alphabet="ab_-/ c", max_size=60), st.integers(1, 30))
def test_a_folded_text_keeps_every_character_and_fits(text, width):
    lines = _folded(text, width).split("\n")
    assert "".join(lines) == text
    assert max(len(line.rstrip()) for line in lines) <= width


@settings(max_examples=50)
@given(st.lists(st.integers(1, 40), min_size=1, max_size=8), st.integers(20, 200))
def test_widths_fit_and_numbers_are_whole(lengths, width):
    table = pd.DataFrame(
        [["9" * length for length in lengths]], columns=[f"c{n}" for n in range(len(lengths))]
    )
    widths = _widths(table, [True] * len(lengths), width, 0)
    assert widths[1:] == [max(2, length) for length in lengths[1 : len(widths)]]
    assert len(widths) == 1 or sum(widths) + 2 * (len(widths) - 1) <= width


def test_wide_characters_count_as_two_columns():
    assert _folded("模型" * 6, 8) == "模型模型\n模型模型\n模型模型"
    cells = pd.DataFrame({"name": ["模" * 30 + "甲", "模" * 30 + "乙"]})
    assert _widths(cells, [False], 80, 0) == [62]


def test_an_unclear_score_among_several_has_its_reason(tmp_path):
    path = tmp_path / "scores.csv"
    equal_rows = "".join(f"{name},0.5,200,2,25\n" for name in "CDEF")
    path.write_text(
        f"source,best_accuracy,examples,choices,prompts\nA,0.62,200,2,25\nB,0.7,200,2,25\n{equal_rows}"
    )
    conclusions = {
        row["source"]: row["better_than_chance"]
        for row in json.loads(run("check", str(path), "--json").stdout)
    }
    assert [conclusions[name] for name in "ABC"] == ["unclear", "yes", "no"]
    printed = run("check", str(path)).stdout
    assert "A: better than chance: unclear (best accuracy 0.6200; the accuracy is rounded, so" in printed
    assert "B: better than chance" not in printed
    # --gate tells the reasons of all that are not better
    assert run("check", str(path), "--gate").stdout.count("A: better than chance: unclear") == 1
