"""One conclusion per setting, from all its tests."""

import numpy as np
import pandas as pd
import pytest

from abovechance.chance.conclusion import conclude, in_words, with_conclusions
from abovechance.chance.multiplicity import with_adjusted


@pytest.mark.parametrize(
    ("tail", "position", "randomization_tail", "word", "reason"),
    [
        (0.001, "above", None, "yes", "p = 1.0e-03 against the best of 20 guessers"),
        (0.0, "above", None, "yes", "p < 1e-300 against the best of 20 guessers"),
        (0.06, "above", None, "no", "p = 0.06 against the best of 20 guessers"),
        (0.05, "above", None, "yes", "p = 0.05 against the best of 20 guessers"),
        (0.001, "above", 0.02, "yes", "p = 0.02 in the randomization test"),
        (0.001, "above", 0.1, "unclear", "label frequencies alone may explain the accuracy"),
        (0.001, "above", np.nan, "unclear", "the randomization test has no power"),
        (0.4, "above", np.nan, "no", "the randomization test has no power"),
        (0.4, "above", 0.3, "no", "p = 0.30 in the randomization test"),
        (0.4, "between", 0.001, "unclear", "p = 1.0e-03 in the randomization test"),
        (1.0, "below", 0.001, "no", "p = 1.0e-03 in the randomization test"),
    ],
)
def test_tests_are_joined(tail, position, randomization_tail, word, reason):
    conclusion, messages = conclude(tail, position, 20, randomization_tail)
    assert conclusion == word
    assert messages.endswith(reason)


def settings(**columns: object) -> pd.DataFrame:
    rows = {
        "prompts": 20,
        "position": "above",
        "guessing_above": 0.4,
        "maximum_tail": [0.01, 0.03, 0.04, 0.9],
    }
    return pd.DataFrame(rows | columns)


def test_a_single_prompt_is_compared_with_one_guesser():
    assert conclude(0.2, "above", 1, None) == ("no", "p = 0.20 against one guesser")


def test_settings_are_concluded_on_by_adjusted_tails():
    concluded = with_conclusions(with_adjusted(settings()))
    assert concluded["better_than_chance"].tolist() == ["yes", "no", "no", "no"]
    assert concluded["reason"][1] == "adjusted p = 0.053 against the best of 20 guessers"
    assert with_conclusions(settings())["better_than_chance"].tolist() == ["yes", "yes", "yes", "no"]
    tested = with_conclusions(with_adjusted(settings(randomization_tail=[0.001, 0.001, 0.9, np.nan])))
    assert tested["better_than_chance"].tolist() == ["yes", "unclear", "no", "no"]
    assert in_words(tested)[0] == "1 of the 4 settings is better than chance; 1 is unclear."
    assert in_words(tested)[-1] == "The randomization test has no power in 1 setting."


def test_numbers_that_round_to_one_accuracy_and_disagree_are_unclear():
    table, tails = settings(), [np.array([0.01, 0.03, 0.2, 0.9]), np.array([0.01, 0.01, 0.01, 0.8])]
    concluded = with_conclusions(table, tails)
    assert concluded["better_than_chance"].tolist() == ["yes", "yes", "unclear", "no"]
    assert concluded["reason"][2] == "the accuracy is rounded, so p is between 0.01 and 0.20"


def test_none_is_said_in_words():
    concluded = with_conclusions(with_adjusted(settings(maximum_tail=[0.2, 0.3, 0.4, 0.5])))
    assert in_words(concluded)[0] == "None of the 4 settings is shown to be better than chance."


def test_no_verdict_at_all_is_a_sentence():
    table = pd.DataFrame({"better_than_chance": [None], "position": [None], "guessing_above": [np.nan]})
    assert in_words(table) == ["There is no verdict, because no setting has a prompt that was evaluated."]


def test_possible_tails_of_several_settings_are_adjusted():
    """By Benjamini and Hochberg, the second of four tails counts twice."""
    table = with_adjusted(settings(maximum_tail=[0.001, 0.01, 0.4, 0.9]))
    tails = [np.array([0.001, 0.01, 0.4, 0.9]), np.array([0.001, 0.03, 0.4, 0.9])]
    concluded = with_conclusions(table, tails)
    assert concluded["better_than_chance"].tolist() == ["yes", "unclear", "no", "no"]
    assert concluded["reason"][1] == "the accuracy is rounded, so adjusted p is between 0.02 and 0.06"
    tails = [np.array([0.001, 0.01, 0.04, 0.9]), np.array([0.001, 0.03, 0.04, 0.9])]
    reasons = with_conclusions(with_adjusted(settings(maximum_tail=tails[0])), tails)["reason"].tolist()
    assert reasons[1] == "the accuracy is rounded, so adjusted p is between 0.02 and 0.053"
    tails = [np.array([0.001, 0.03, 0.01, 0.9]), np.array([0.001, 0.03, 0.2, 0.9])]
    reasons = with_conclusions(with_adjusted(settings(maximum_tail=tails[0])), tails)["reason"].tolist()
    assert reasons[1] == "another accuracy is rounded, so adjusted p is between 0.04 and 0.06"
    alone = with_conclusions(with_adjusted(settings()[:1]), [np.array([0.03]), np.array([0.01])])
    assert alone["better_than_chance"].tolist() == ["yes"]


def test_the_positions_of_possible_accuracies_count_with_their_tails():
    """If the randomization test rejects, a position below the baseline is no, and one above it unclear."""
    columns = {"position": ["below", "below to between", "below to above", "between"], "maximum_tail": 0.5}
    table = settings(**columns, randomization_tail=0.001)
    concluded = with_conclusions(table)
    assert concluded["better_than_chance"].tolist() == ["no", "unclear", "unclear", "unclear"]
    possible = with_conclusions(table, [np.full(4, 0.5), np.full(4, 0.6)])
    assert possible["better_than_chance"].tolist() == ["no", "unclear", "unclear", "unclear"]
    assert possible["reason"][1] == "the accuracy is rounded, so p is between 0.50 and 0.60"
    assert possible["reason"][3] == concluded["reason"][3]
    adjusted_ones = with_adjusted(settings(randomization_tail=[0.02, 0.04, 0.04, 0.9]))
    assert adjusted_ones["randomization_bh_tail"].tolist() == pytest.approx([0.16 / 3] * 3 + [0.9])
    with_column = with_adjusted(settings(randomization_tail=0.04, randomization_bh_tail=0.25))
    assert with_column["randomization_bh_tail"].tolist() == [0.25] * 4
    assert "0.25 in the randomization test" in with_conclusions(with_column)["reason"][0]
    none = with_conclusions(table[:0])
    assert [*none.columns] == [*table.columns, "better_than_chance", "reason"]
