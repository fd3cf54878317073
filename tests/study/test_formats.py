"""Formats, against the prompt files that a paper's authors released."""

import re
import zipfile
from pathlib import Path

import pandas as pd
import pytest

from abovechance.core.errors import InputError
from abovechance.study.formats import FORMATS, apply_format
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
            "correct": [place == correct for place in range(len(labels))],
        }
        for number, (text, correct) in enumerate(rows)
    )


def test_labels_become_numbers_and_stay_known():
    formatted = apply_format(task(("One.", 1), ("Two.", 0)), "numbers", "here")
    assert formatted.columns.tolist() == [*TASKS.columns]
    first = formatted.iloc[0]
    assert first["text"] == "CONTEXT: One.\nQUESTION: Is this (0) not equivalent, or (1) equivalent?\nANSWER:"
    assert (first["choices"], first["labels"], first["correct"]) == (["0", "1"], LABELS, [False, True])
    assert (first["null"], first["end"]) == ("ANSWER:", "\n\n")
    assert apply_format(task(("One.", 1)), "as_written", "here").equals(task(("One.", 1)))


def test_a_number_means_the_same_label_whatever_order_an_example_lists_them_in():
    rows = task(("One.", 1), ("Two.", 0))
    rows.at[1, "choices"], rows.at[1, "labels"], rows.at[1, "correct"] = (
        LABELS[::-1],
        LABELS[::-1],
        [True, False],
    )
    assert apply_format(rows, "numbers", "here")["correct"].tolist() == [[False, True], [False, True]]


def test_choices_of_an_examples_own_have_no_numbers():
    rows = task(("One.", 1), ("Two.", 0))
    rows.at[1, "labels"] = ["yes", "no"]
    with pytest.raises(
        InputError, match="^here: example '1' has the choices .*the same choices of all examples"
    ):
        apply_format(rows, "numbers", "here")


def test_every_format_gives_the_columns_of_tasks():
    assert all(
        [*apply_format(task(("One.", 0)), name, "here").columns] == [*TASKS.columns] for name in FORMATS
    )


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


@pytest.mark.parametrize(("chosen", "text", "null"), released())
def test_prompts_are_the_papers_to_the_character(chosen, text, null):
    output = re.findall(r"(.*?)\nQUESTION: Is this (.*?)\?\nANSWER: (\d)\n\n", text, re.DOTALL)
    labels = re.split(r"(?:, or |, )?\(\d\) ", output[0][1])[1:]
    plain = [(words.removeprefix("CONTEXT: "), int(correct)) for words, _, correct in output]
    formatted = apply_format(task(*plain, labels=labels), "numbers", chosen)
    assert "".join(demonstration_texts(formatted).values()) == text
    prompts = pd.DataFrame({"prompt": [0], "demonstrations": [formatted["example"].tolist()], "text": [text]})
    empty, nulls = null_target(formatted, prompts)
    assert nulls["text"].tolist() == [null]
    assert set(empty["text"]) == {"ANSWER:"}


def questions(*rows: tuple[str, list[str], int], null: str = "") -> pd.DataFrame:
    return as_table(
        {
            "example": str(number),
            "text": text,
            "choices": choices,
            "correct": [place == correct for place in range(len(choices))],
            "null": null,
        }
        for number, (text, choices, correct) in enumerate(rows)
    )


CAPITALS = [("Q: Of France?\nA:", ["Paris", "Rome"], 0), ("Q: Of Italy?\nA:", ["Bonn", "Rome", "Oslo"], 1)]


def test_letters_stand_before_the_choices_and_the_cue_after_them():
    formatted = apply_format(questions(*CAPITALS), "letters", "here")
    assert formatted["text"].tolist() == [
        "Q: Of France?\nA. Paris\nB. Rome\nA:",
        "Q: Of Italy?\nA. Bonn\nB. Rome\nC. Oslo\nA:",
    ]
    assert formatted["choices"].tolist() == [["A", "B"], ["A", "B", "C"]]
    assert formatted["labels"].tolist() == [["Paris", "Rome"], ["Bonn", "Rome", "Oslo"]]
    assert formatted["correct"].tolist() == [[True, False], [False, True, False]]
    assert apply_format(questions(*CAPITALS), "cloze", "here")["text"].tolist() == [
        row[0] for row in CAPITALS
    ]


def test_a_text_that_is_the_cue_alone_has_it_once():
    rows = questions(("\nA:", ["Paris", "Rome"], 0), *CAPITALS)
    assert apply_format(rows, "letters", "here")["text"].tolist()[:2] == [
        "\nA. Paris\nB. Rome\nA:",
        "Q: Of France?\nA. Paris\nB. Rome\nA:",
    ]


def test_a_text_without_a_cue_gets_one():
    rows = questions(("The capital of France is", ["Paris", "Rome"], 0), ("Of Italy", ["Bonn", "Rome"], 1))
    formatted = apply_format(rows, "letters", "here")
    assert formatted["text"].iloc[0] == "The capital of France is\nA. Paris\nB. Rome\nAnswer:"
    assert set(formatted["null"]) == {"Answer:"}


@pytest.mark.parametrize("ending", ["\nAnswer:\n", "\n答案\N{FULLWIDTH COLON}", "\nAnswer: "])
def test_a_cue_may_end_with_a_wide_colon_or_a_line_break(ending):
    table = question_table(
        [f"Colour {number}?{ending}" for number in range(12)], [["red", "blue"]] * 12, [0, 1] * 6
    )
    formatted = apply_format(table, "letters", "t")
    cue = ending.strip("\n")
    assert formatted["text"].iloc[0] == f"Colour 0?\nA. red\nB. blue\n{cue}"
    assert set(formatted["null"]) == {cue}


def test_the_cue_is_what_the_file_says_remains_without_the_input():
    rows = questions(
        ("Of France? Say:", ["Paris", "Rome"], 0), ("Of Italy? Say:", ["Bonn", "Rome"], 1), null=" Say:"
    )
    assert apply_format(rows, "letters", "here")["text"].iloc[0] == "Of France?\nA. Paris\nB. Rome\n Say:"


def test_where_the_first_choice_is_always_right_letters_are_drawn():
    rows = questions(*((f"Which is {number}?", [str(number), "x", "y", "z"], 0) for number in range(200)))
    formatted = apply_format(rows, "letters", "here")
    places = [correct.index(True) for correct in formatted["correct"]]
    assert all(30 < places.count(place) < 70 for place in range(4))
    for text, labels, correct, number in zip(
        formatted["text"], formatted["labels"], formatted["correct"], range(200), strict=True
    ):
        assert labels[correct.index(True)] == str(number)
        assert f"\n{'ABCD'[correct.index(True)]}. {number}\n" in text
    assert formatted.equals(apply_format(rows, "letters", "here"))


def test_bigbenchs_choices_are_not_listed_twice():
    rows = questions(*CAPITALS).assign(text="with the choices")
    assert apply_format(rows, "cloze", "here")["text"].tolist() == [row[0] for row in CAPITALS]
    assert "with the choices" not in apply_format(rows, "letters", "here")["text"].str.cat()


def test_a_text_that_lists_its_choices_has_no_such_formulations():
    rows = questions(
        ("Which?\nA. cat\nB. dog\nAnswer:", ["cat", "dog"], 0),
        ("Who?\n(1) me\n(2) you\nAnswer:", ["me", "you"], 1),
    )
    for name in ("cloze", "letters"):
        with pytest.raises(
            InputError, match="^here: the texts list the choices themselves, such as that of example"
        ):
            apply_format(rows, name, "here")


def test_there_are_26_letters():
    rows = questions(("Which?", [str(number) for number in range(27)], 3), ("Who?", ["a", "b"], 1))
    with pytest.raises(InputError, match="example '0' has 27 choices.*at most 26"):
        apply_format(rows, "letters", "here")


def question_table(texts: list[str], choices: list[list[str]], correct: list[int]) -> pd.DataFrame:
    return as_table(
        {
            "example": str(number),
            "text": text,
            "choices": row,
            "correct": [place == correct_places for place in range(len(row))],
        }
        for number, (text, row, correct_places) in enumerate(zip(texts, choices, correct, strict=True))
    )


@pytest.mark.parametrize(
    "places",
    [[0] * 11 + [1], [-1] * 12, [2] * 10 + [0, 1]],
)
def test_an_order_that_nearly_gives_the_answer_away_is_drawn_anew(places):
    choices = [["a", "b", "c"] if number % 2 else ["a", "b", "c", "d"] for number in range(12)]
    correct = [place % len(rows) for place, rows in zip(places, choices, strict=True)]
    table = question_table([f"Q{number}?\nAnswer:" for number in range(12)], choices, correct)
    formatted = apply_format(table, "letters", "here")
    first = [flags.index(True) for flags in formatted["correct"]]
    last = [flags.index(True) - len(flags) for flags in formatted["correct"]]
    assert max(*map(first.count, first), *map(last.count, last)) < 10
    even = question_table(["Q?" + str(number) for number in range(12)], [["a", "b", "c"]] * 12, [0, 1, 2] * 4)
    assert [flags.index(True) for flags in apply_format(even, "letters", "here")["correct"]] == [0, 1, 2] * 4


@pytest.mark.parametrize(
    ("text", "choices"),
    [
        ("Q?\nA. red\nB. blue\nAnswer:", ["A", "B"]),
        ("Q? Options: (A) red (B) blue. Answer:", ["red", "blue"]),
        ("Q?\nA. red.\nB. blue.\nAnswer:", ["red", "blue"]),
    ],
)
def test_texts_that_list_choices_in_other_ways_are_told(text, choices):
    table = question_table([text] * 3 + ["Q? Answer:"], [choices] * 4, [0, 1, 0, 1])
    for form in ("cloze", "letters"):
        with pytest.raises(
            InputError, match="the texts list the choices themselves, such as that of example '0'"
        ):
            apply_format(table, form, "here")


def test_a_question_that_all_examples_share_is_no_cue():
    table = question_table(
        [f"Passage {number}.\nWhat is the colour?" for number in range(4)], [["r", "g"]] * 4, [0, 1] * 2
    )
    assert apply_format(table, "letters", "here")["text"].iloc[0] == (
        "Passage 0.\nWhat is the colour?\nA. r\nB. g\nAnswer:"
    )
