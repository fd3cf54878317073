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
