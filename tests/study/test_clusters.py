"""Examples that belong together."""

import json
from itertools import pairwise

import pandas as pd
import pytest
from hypothesis import given, strategies as st

from abovechance.core.errors import InputError
from abovechance.study.bigbench import read_bigbench
from abovechance.study.clusters import clusters, passages
from abovechance.study.own_tasks import read_own


@given(st.lists(st.sets(st.integers(0, 6), max_size=3), min_size=1, max_size=12))
def test_clusters_are_the_connected_components(keys):
    codes = clusters(keys).tolist()
    assert sorted(set(codes)) == list(range(max(codes) + 1))
    assert all(codes.index(first) < codes.index(two) for first, two in pairwise(sorted(set(codes))))
    together = [{i} for i in range(len(keys))]
    for _ in keys:  # merge until nothing changes
        for i, row in enumerate(keys):
            for j, second in enumerate(keys):
                if row & second:
                    together[i] |= together[j]
                    together[j] |= together[i]
    for i in range(len(keys)):
        assert {j for j in range(len(keys)) if codes[j] == codes[i]} == together[i]


STORY = "Ben was ill and stayed in bed all day while the others were at school."
OTHER = "Jane hid her kitten in the old shed because her aunt did not like animals."


def grouped(*inputs: str) -> list[int]:
    return clusters(passages(list(inputs))).tolist()


def test_questions_about_one_passage_are_a_cluster():
    assert grouped(
        f"{STORY} Where was Ben?",
        f"{OTHER} Where was the kitten?",
        f"{STORY}\nWas Ben ill?",
        "Was it a trap?",
    ) == [0, 1, 0, 2]


def test_parts_that_are_swapped_are_a_cluster():
    assert grouped("Is A older than B?", "Is B older than A?", "Is A older than C?") == [0, 0, 1]
    assert grouped("🐟 🐠 or 🐡", "🐡 or 🐠 🐟", "🐀 or 🐁 🐟") == [0, 0, 1]


def test_an_instruction_that_many_examples_have_makes_no_cluster():
    instruction = "Please answer each of the following questions with a single word."
    questions = [f"{instruction} What is {number}?" for number in "abcdefghijklmno"]
    assert grouped(*questions) == list(range(15))


def test_a_sentence_that_is_a_small_part_makes_no_cluster():
    long = " ".join(f"word{i}" for i in range(80))
    assert grouped(f"{STORY} {long}.", f"{STORY} {long[::-1]}.") == [0, 1]


def own_task(path, rows) -> pd.DataFrame:
    path.write_text("".join(json.dumps({"choices": ["a", "b"], "answer": 0, **row}) + "\n" for row in rows))
    return read_own(path)


def test_a_file_of_ones_own_names_clusters_and_equal_texts_are_one(tmp_path):
    rows = [
        *({"text": "one", "cluster": "p"}, {"text": "two"}, {"text": "three", "cluster": "p"}),
        *(
            {"text": "two", "choices": ["a", "c"]},
            {"text": "four", "cluster": 7},
            {"text": "five", "cluster": 7},
        ),
        *({"text": "six", "cluster": None}, {"text": "seven", "cluster": ""}),
    ]
    task = own_task(tmp_path / "t.jsonl", rows)
    assert task["cluster"].tolist() == [0, 1, 0, 1, 2, 2, 3, 4]
    table = pd.DataFrame({"text": list("abc"), "choices": ['["x", "y"]'] * 3, "answer": [0] * 3})
    table.assign(cluster=["1", "", "1"]).to_csv(tmp_path / "t.csv", index=False)
    assert read_own(tmp_path / "t.csv")["cluster"].tolist() == [0, 1, 0]
    table["choices"] = [["x", "y"]] * 3
    table.assign(cluster=[1.0, None, 1.0]).to_parquet(tmp_path / "t.parquet")
    assert read_own(tmp_path / "t.parquet")["cluster"].tolist() == [0, 1, 0]
    table.assign(cluster=["1", None, "1"]).to_parquet(tmp_path / "u.parquet")
    assert read_own(tmp_path / "u.parquet")["cluster"].tolist() == [0, 1, 0]


@pytest.mark.parametrize("value", [True, 1.5, ["p"], {"p": 1}])
def test_a_cluster_that_is_no_name_is_told(tmp_path, value):
    with pytest.raises(InputError, match="row 1: field 'cluster' must be a text or a whole number"):
        own_task(tmp_path / "t.jsonl", [{"text": "one", "cluster": value}])


def test_bigbench_examples_show_their_groups(tmp_path):
    home = tmp_path / "bigbench" / "benchmark_tasks" / "strange_stories"
    home.mkdir(parents=True)
    inputs = [f"{STORY} Was Ben ill?", f"{OTHER} Was it a kitten?", f"{STORY} Was Ben at school?"]
    examples = [{"input": text, "target_scores": {"yes": 1, "no": 0}} for text in inputs]
    (home / "task.json").write_text(json.dumps({"examples": examples}))
    assert read_bigbench(tmp_path, "strange_stories")["cluster"].tolist() == [0, 1, 0]


def test_a_text_that_all_examples_have_makes_no_cluster(tmp_path):
    rows = [{"text": "Which is true?", "choices": [f"a{i}", f"b{i}"]} for i in range(12)]
    assert own_task(tmp_path / "t.jsonl", rows)["cluster"].tolist() == list(range(12))
    assert grouped("", "", "") == [0, 1, 2]
