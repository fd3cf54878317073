"""Tasks: BIG-bench's own formatting to the letter, and the user's own files."""

import ast
import copy
import json
import tarfile
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from abovechance.core.errors import InputError
from abovechance.study.bigbench import read_bigbench
from abovechance.study.chances import chances
from abovechance.study.own_tasks import read_own
from abovechance.study.task_sources import bigbench_names
from abovechance.study.tasks import TASKS

SIZES = {
    "bbq_lite_json": 16076,
    "code_line_description": 60,
    "conceptual_combinations": 103,
    "emoji_movie": 100,
    "formal_fallacies_syllogisms_negation": 14200,
    "hindu_knowledge": 175,
    "known_unknowns": 46,
    "language_identification": 10000,
    "logical_deduction": 1500,
    "novel_concepts": 32,
    "play_dialog_same_or_different": 3264,
    "strange_stories": 174,
    "strategyqa": 2289,
    "symbol_interpretation": 990,
    "vitaminc_fact_verification": 54668,
    "winowhy": 2862,
}


@pytest.fixture(scope="module")
def checkout(downloads: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The 16 tasks and BIG-bench's formatting code, as a checkout has them."""
    folder = tmp_path_factory.mktemp("bigbench")
    with tarfile.open(downloads / "bigbench-1.0.0.tar.gz") as archive:
        for member in archive:
            parts = member.name.split("/")
            is_task = parts[-1] == "task.json" and len(parts) > 3 and parts[3] in SIZES
            if is_task or member.name.endswith("bigbench/api/json_task.py"):
                archive.extract(member, folder, filter="data")
    return next(folder.iterdir())


@pytest.fixture(scope="module")
def bigbench_format(checkout: Path):
    """BIG-bench's ``default_format_fn`` itself, taken out of its module, which needs TensorFlow."""
    tree = ast.parse((checkout / "bigbench" / "api" / "json_task.py").read_text())
    function = next(node for node in tree.body if getattr(node, "name", "") == "default_format_fn")
    names: dict[str, Any] = {"np": np, "Any": Any, "Dict": dict}
    exec(compile(ast.Module([function], []), "json_task.py", "exec"), names)
    return names["default_format_fn"]


@pytest.mark.thorough
@pytest.mark.parametrize(
    "task", [pytest.param(task, marks=[pytest.mark.slow] * (SIZES[task] >= 10_000)) for task in SIZES]
)
def test_texts_choices_and_answers_are_bigbenchs_own(task, checkout, bigbench_format):
    table = read_bigbench(checkout, task)
    assert len(table) == SIZES[task]
    assert table["example"].is_unique
    folder = checkout / "bigbench" / "benchmark_tasks" / task
    root = json.loads((folder / "task.json").read_text())
    files = [folder / "task.json"] if "examples" in root else sorted(folder.glob("*/task.json"))
    row = iter(table.itertuples())
    for path in files:
        data = json.loads(path.read_text(), object_pairs_hook=OrderedDict)
        for example in {json.dumps(e): e for e in data["examples"]}.values():
            sample = bigbench_format(
                copy.deepcopy({key: example[key] for key in ("input", "target_scores")}),
                input_prefix=data.get("example_input_prefix", "\nQ: "),
                output_prefix=data.get("example_output_prefix", "\nA: "),
                choice_prefix=data.get("choice_prefix", "\n  choice: "),
                append_choices_to_input=data.get("append_choices_to_input", True),
                random_seed=42,
            )
            result = next(row)
            assert result.text == str(data.get("task_prefix", "")) + sample["input"]
            assert list(result.choices) == sample["choice"]
            assert result.choices[list(result.correct).index(True)] == sample["target"][0]
    assert next(row, None) is None


def test_ids_name_the_subtask_where_there_is_one(checkout):
    assert read_bigbench(checkout, "logical_deduction")["example"].iloc[0] == "five_objects/0"
    assert read_bigbench(checkout, "known_unknowns")["example"].iloc[0] == "0"


def test_chance_comes_from_the_choices_and_not_from_a_table(checkout):
    assert set(chances(read_bigbench(checkout, "winowhy")["correct"])) == {0.5}
    novel = chances(read_bigbench(checkout, "novel_concepts")["correct"])
    assert novel.mean() == pytest.approx(0.2)
    assert sorted(set(novel)) == [0.2]  # 2 correct of 10 choices, or 1 of 5
    assert len(set(chances(read_bigbench(checkout, "hindu_knowledge")["correct"]))) > 1


@pytest.mark.thorough
def test_the_sdist_gives_what_a_checkout_gives(downloads, checkout):
    from_archive = read_bigbench(downloads / "bigbench-1.0.0.tar.gz", "strange_stories")
    pd.testing.assert_frame_equal(from_archive, read_bigbench(checkout, "strange_stories"))


def test_an_unknown_bigbench_task_is_told_with_the_nearest_name():
    with pytest.raises(InputError, match="did you mean 'emoji_movie'"):
        read_bigbench(Path("bigbench"), "emoji_movies")
    assert set(SIZES) <= set(bigbench_names())


GOOD = {"text": "Q: 1 + 1?\nA:", "choices": ["2", "3"], "answer": "2"}


def write_lines(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize("answer", ["3", 1, 1.0, ["3"], [1], [1.0]])
def test_an_own_task_names_its_answer_by_text_or_index(tmp_path, answer):
    table = read_own(write_lines(tmp_path / "own.jsonl", GOOD, GOOD | {"answer": answer}))
    assert table["example"].tolist() == ["0", "1"]
    assert table["correct"].tolist() == [[True, False], [False, True]]


def test_json_lines_csv_and_parquet_give_the_same_table(tmp_path):
    rows = [GOOD | {"example": "a"}, GOOD | {"example": "b", "answer": ["2", "3"]}]
    expected = read_own(write_lines(tmp_path / "own.jsonl", *rows))
    table = pd.DataFrame(rows)
    table.assign(answer=[["2"], ["2", "3"]]).to_parquet(tmp_path / "own.parquet")
    table.assign(choices=table["choices"].map(json.dumps), answer=table["answer"].map(json.dumps)).replace(
        '"2"', "2"
    ).to_csv(tmp_path / "own.csv", index=False)
    pd.testing.assert_frame_equal(read_own(tmp_path / "own.parquet"), expected)
    pd.testing.assert_frame_equal(read_own(tmp_path / "own.csv"), expected)


@pytest.mark.parametrize(
    ("choices", "answer", "correct"),
    [
        (["2", "3", "1"], "1 ", 2),  # a choice's text, whatever blanks a spreadsheet left
        (["4", "5", "6"], "1", 1),  # an index
        (["4", "5", "6"], "[1]", 1),
        (["[1]", "[0]"], "[1]", 0),  # a choice's text before all else
        (["3", "2", "1"], "[2]", 1),  # and in a list
        (["1", "2", "3"], "[3, 2]", 1),
        (["1", "2", "3"], "[1.0]", None),
        (["0.10", "0.20"], "[0.20]", 1),
        (["2.00", "1.00"], "[2.00, 1.00]", 0),
        (["1e3", "1000"], "[1e3]", 0),
        (["a", "b", "c"], "[1.0, 2]", 1),
        (["a", "b"], '["b"]', 1),
        (["a ", "a", "b"], "a", 1),  # exactly this one
        (["a ", " a", "b"], "a", None),  # either of two
        (["a ", "a", "b"], "a ", 0),
        ([" a", "a ", "b"], "a ", 1),
        (["1 ", "1"], "1 ", 0),
        (["1", "2", "3"], "1.0", None),  # neither a text nor plainly an index
        (["a", "b", "c"], "1.0", 1),
        (["a", "b", "c"], "01", None),
        (["a", "b", "c"], "+1", None),
    ],
)
def test_the_answer_in_a_csv_is_a_text_before_it_is_an_index(tmp_path, choices, answer, correct):
    row = {"text": "q", "choices": json.dumps(choices), "answer": answer}
    pd.DataFrame([row]).to_csv(tmp_path / "t.csv", index=False)
    if correct is None:
        with pytest.raises(InputError, match="t.csv, row 2: field 'answer' is"):
            read_own(tmp_path / "t.csv")
    else:
        assert read_own(tmp_path / "t.csv")["correct"][0].index(True) == correct


def test_blanks_at_the_beginning_of_a_text_stay(tmp_path):
    row = {"choices": '["x", "y"]', "text": "    return 1", "answer": "x"}
    pd.DataFrame([row]).to_csv(tmp_path / "t.csv", index=False)
    assert read_own(tmp_path / "t.csv")["text"].tolist() == ["    return 1"]
    write_lines(tmp_path / "t.jsonl", {"text": "q", "choices": ["true", "false"], "answer": False})
    assert read_own(tmp_path / "t.jsonl")["correct"][0] == [False, True]


def test_a_studys_own_table_of_a_task_is_a_task(tmp_path):
    table = read_own(write_lines(tmp_path / "own.jsonl", GOOD, GOOD | {"answer": 1}))
    TASKS.write(table, tmp_path / "t.parquet", {})
    pd.testing.assert_frame_equal(read_own(tmp_path / "t.parquet"), table)
    for flags, message in [
        ([True], "field 'correct' is"),
        (None, "field 'correct' is"),
        ([False, False], "no correct"),
    ]:
        pd.DataFrame([{"text": "q", "choices": ["a", "b"], "correct": flags}]).to_parquet(
            tmp_path / "t.parquet"
        )
        with pytest.raises(InputError, match=f"t.parquet, row 1: .*{message}"):
            read_own(tmp_path / "t.parquet")


def test_a_null_in_parquet_is_blamed_on_its_own_row(tmp_path):
    pd.DataFrame([GOOD | {"answer": 0}, GOOD | {"answer": None}]).to_parquet(tmp_path / "t.parquet")
    with pytest.raises(InputError, match="t.parquet, row 2: field 'answer' is missing"):
        read_own(tmp_path / "t.parquet")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"text": "x", "choices": ["a", "b"]}, "row 2: field 'answer' is missing"),
        (GOOD | {"answer": []}, "row 2: has no correct choice"),
        (GOOD | {"answer": "4"}, "row 2: field 'answer' is '4'; expected one of"),
        (GOOD | {"answer": 2}, "an index from 0 to 1"),
        (GOOD | {"answer": True}, "field 'answer' is True"),
        (GOOD | {"choices": ["2"]}, "row 2: field 'choices' must list at least two"),
        (GOOD | {"clusters": "a"}, ": field 'clusters' is unknown; did you mean 'cluster'?"),
        (GOOD | {"Annotations": ["a"]}, "'Annotations' is unknown; did you mean 'annotations'?"),
        (GOOD | {"choices": ["2", "2", "3"]}, "lists the same choice twice"),
        (GOOD | {"text": 3}, "field 'text' must be a text"),
        (GOOD | {"example": "0"}, "the id '0' in field 'example' is in row 1 as well"),
        ([1, 2], "row 2: is [1, 2]; expected one object on each line"),
    ],
)
def test_a_wrong_row_is_told_with_file_row_and_field(tmp_path, row, message):
    path = write_lines(tmp_path / "own.jsonl", GOOD, row)
    with pytest.raises(InputError) as error:
        read_own(path)
    assert message in str(error.value)
    assert "own.jsonl" in str(error.value)


def test_a_torn_line_and_an_empty_file_are_told(tmp_path):
    path = tmp_path / "own.jsonl"
    path.write_text(json.dumps(GOOD) + '\n{"text": ')
    with pytest.raises(InputError, match="row 2: is not JSON"):
        read_own(path)
    path.write_text("")
    with pytest.raises(InputError, match="has no examples"):
        read_own(path)
