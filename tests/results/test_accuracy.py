"""From scores to predictions and accuracies."""

import numpy as np
import pandas as pd
import pytest

from abovechance.results.accuracy import accuracy_by_prompt
from abovechance.results.predictions import UNKNOWN, choose, predict
from abovechance.study.tasks import as_table


def task(*corrects: list[bool]) -> pd.DataFrame:
    return as_table(
        {
            "example": str(index),
            "text": "Q",
            "choices": [f"c{n}" for n in range(len(correct))],
            "correct": correct,
        }
        for index, correct in enumerate(corrects)
    )


def scores(*rows: tuple[str, int, float, int, int, int]) -> pd.DataFrame:
    columns = ["example", "choice", "logprob", "tokens", "characters", "bytes"]
    return pd.DataFrame(rows, columns=columns).assign(prompt=0)


def test_the_highest_score_is_the_prediction():
    predictions = predict(scores(("0", 0, -2.0, 1, 1, 1), ("0", 1, -1.0, 1, 1, 1)), task([False, True]))
    assert predictions["correct"].tolist() == [True]
    assert predictions["tie"].tolist() == [False]
    assert predictions["predicted"].tolist() == [1]


def test_a_tie_of_right_and_wrong_is_wrong_and_counted():
    predictions = predict(scores(("0", 0, -1.0, 1, 1, 1), ("0", 1, -1.0, 1, 1, 1)), task([True, False]))
    assert predictions["correct"].tolist() == [False]
    assert predictions["tie"].tolist() == [True]
    assert predictions["predicted"].tolist() == [-1]


def test_the_first_of_several_best_choices_is_predicted():
    rows = scores(*[("0", n, value, 1, 1, 1) for n, value in enumerate([-2.0, -1.0, -1.0])])
    assert predict(rows, task([False, True, True]))["predicted"].tolist() == [1]
    assert predict(rows, task([True, False, False]))["predicted"].tolist() == [1]


def test_a_score_that_is_infinite_is_an_error():
    rows = scores(("0", 0, -np.inf, 1, 1, 1), ("0", 1, -1.0, 1, 1, 1))
    with pytest.raises(ValueError, match="prompt 0, example '0', choice 0: its score is -inf, not a number"):
        predict(rows, task([True, False]))


def test_a_score_that_is_not_a_number_is_an_error_that_says_where():
    rows = scores(("0", 0, -1.0, 1, 1, 1), ("0", 1, np.nan, 1, 1, 1))
    with pytest.raises(ValueError, match="prompt 0, example '0', choice 1: its score is nan, not a number"):
        predict(rows, task([True, False]))
    with pytest.raises(ValueError, match="score 1 of 2 is nan"):
        choose(np.array([-1.0, np.nan]), np.array([True, False]), np.array([0]))


def test_a_tie_of_two_right_or_two_wrong_choices_is_none():
    rows = scores(*[("0", n, value, 1, 1, 1) for n, value in enumerate([-1.0, -1.0, -2.0])])
    assert predict(rows, task([True, True, False]))[["correct", "tie"]].values.tolist() == [[True, False]]
    assert predict(rows, task([False, False, True]))[["correct", "tie"]].values.tolist() == [[False, False]]


@pytest.mark.parametrize(
    ("normalization", "correct"), [("none", False), ("token", True), ("character", False), ("byte", True)]
)
def test_scores_are_compared_by_the_length_that_was_asked_for(normalization, correct):
    # sums -3 and -2; per token -1 and -2; per character -1.5 and -1; per byte -0.5 and -1
    rows = scores(("0", 0, -3.0, 3, 2, 6), ("0", 1, -2.0, 1, 2, 2))
    assert predict(rows, task([True, False]), normalization)["correct"].tolist() == [correct]


def test_chance_is_correct_choices_by_choices():
    rows = scores(*[(str(e), n, -1.0 - n, 1, 1, 1) for e, count in enumerate([2, 4]) for n in range(count)])
    predictions = predict(rows, task([True, False], [True, True, False, False]))
    assert predictions["chance"].tolist() == [0.5, 0.5]
    assert predict(rows, task([True, False], [False, False, False, True]))["chance"].tolist() == [0.5, 0.25]


def test_examples_of_equal_index_in_different_subtasks_stay_apart():
    merged = pd.concat([task([True, False]), task([False, True])], ignore_index=True)
    merged["example"] = ["a/0", "b/0"]
    rows = scores(*[(e, n, -1.0 - n, 1, 1, 1) for e in ("a/0", "b/0") for n in range(2)])
    predictions = predict(rows, merged)
    assert predictions.set_index("example")["correct"].to_dict() == {"a/0": True, "b/0": False}


def test_a_prompts_accuracy_is_over_the_examples_it_was_evaluated_on():
    predictions = pd.DataFrame(
        {
            "model": "m",
            "task": "t",
            "shots": 1,
            "prompt": [0, 0, 0, 1],
            "example": ["a", "b", "c", "a"],
            "correct": [True, False, True, True],
            "tie": [False, True, False, False],
            "chance": 0.5,
        }
    )
    table = accuracy_by_prompt(predictions)
    assert table[["examples", "correct", "ties"]].values.tolist() == [[3, 2, 1], [1, 1, 0]]
    assert table["accuracy"].tolist() == [pytest.approx(2 / 3), 1.0]


def test_what_is_predicted_is_the_number_of_the_choice_in_its_example():
    scores = np.array([-3.0, -1.0, -2.0, -2.0, -1.5, -1.0, -1.0, -9.0])
    correct = np.array([False, True, False, True, False, True, False, False])
    choices = choose(scores, correct, np.array([0, 2, 5]))
    assert choices.predicted.tolist() == [1, 2, UNKNOWN]
    assert choices.correct.tolist() == [True, False, False]
    assert choices.tie.tolist() == [False, False, True]
