"""Formats, against the prompt files that a paper's authors released."""

import re
import zipfile
from pathlib import Path

import pandas as pd
import pytest

from abovechance.core.errors import InputError
from abovechance.study.formats import FORMATS, put
from abovechance.study.prompts import demonstration_texts, null_target
from abovechance.study.tasks import TASKS, as_table

SHARED = Path(__file__).resolve().parents[3] / "shared" / "in-context-pvi.zip"
LABELS = ["not equivalent", "equivalent"]


def task(*rows: tuple[str, int], labels: list[str] = LABELS) -> pd.DataFrame:
    return as_table(
        {
            "example": str(number),
            "text": text,
            "choices": labels,
            "correct": [place == right for place in range(len(labels))],
        }
        for number, (text, right) in enumerate(rows)
    )


def test_labels_become_numbers_and_stay_known():
    found = put(task(("One.", 1), ("Two.", 0)), "numbers", "here")
    assert found.columns.tolist() == [*TASKS.columns]
    first = found.iloc[0]
    assert first["text"] == "CONTEXT: One.\nQUESTION: Is this (0) not equivalent, or (1) equivalent?\nANSWER:"
    assert (first["choices"], first["labels"], first["correct"]) == (["0", "1"], LABELS, [False, True])
    assert (first["null"], first["end"]) == ("ANSWER:", "\n\n")
    assert put(task(("One.", 1)), "as_written", "here").equals(task(("One.", 1)))


def test_a_number_means_the_same_label_whatever_order_an_example_lists_them_in():
    rows = task(("One.", 1), ("Two.", 0))
    rows.at[1, "choices"], rows.at[1, "labels"], rows.at[1, "correct"] = (
        LABELS[::-1],
        LABELS[::-1],
        [True, False],
    )
    assert put(rows, "numbers", "here")["correct"].tolist() == [[False, True], [False, True]]


def test_choices_of_an_examples_own_have_no_numbers():
    rows = task(("One.", 1), ("Two.", 0))
    rows.at[1, "labels"] = ["yes", "no"]
    with pytest.raises(InputError, match="^here: example '1' has the choices .*all have the same choices"):
        put(rows, "numbers", "here")


def test_every_format_gives_the_columns_of_tasks():
    assert all([*put(task(("One.", 0)), name, "here").columns] == [*TASKS.columns] for name in FORMATS)


def released() -> list[tuple[str, str, str]]:
    """(which, the text of the demonstrations with their inputs, without) of each prompt of the paper."""
    if not SHARED.is_file():
        return []
    with zipfile.ZipFile(SHARED) as archive:
        names = [name for name in archive.namelist() if "/g_prime-" in name]
        return [
            (
                name.partition("/prompts/")[2],
                archive.read(name).decode(),
                archive.read(name.replace("g_prime", "g")).decode(),
            )
            for name in sorted(names)
        ]


@pytest.mark.skipif(not SHARED.is_file(), reason="needs ../shared/in-context-pvi.zip")
def test_there_are_42_prompts_of_the_paper():
    assert len(released()) == 42


@pytest.mark.parametrize(("which", "text", "null"), released())
def test_prompts_are_the_papers_to_the_character(which, text, null):
    shown = re.findall(r"(.*?)\nQUESTION: Is this (.*?)\?\nANSWER: (\d)\n\n", text, re.DOTALL)
    labels = re.split(r"(?:, or |, )?\(\d\) ", shown[0][1])[1:]
    plain = [(words.removeprefix("CONTEXT: "), int(right)) for words, _, right in shown]
    found = put(task(*plain, labels=labels), "numbers", which)
    assert "".join(demonstration_texts(found).values()) == text
    prompts = pd.DataFrame({"prompt": [0], "demonstrations": [found["example"].tolist()], "text": [text]})
    empty, nulls = null_target(found, prompts)
    assert nulls["text"].tolist() == [null]
    assert set(empty["text"]) == {"ANSWER:"}
