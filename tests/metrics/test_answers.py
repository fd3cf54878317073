"""Answers of any type are compared as their values are, or refused."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics as of_scikit_learn

from abovechance.chance import null_distribution
from abovechance.core.errors import InputError
from abovechance.metrics import Metric, metric

GOLD = [1, 1, 2, 2, 3, 3, 1, 1, 2, 2]


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, ""])
def test_all_missing_predictions_have_one_wrong_label(missing):
    """Each nan of a column is another object; counted as labels of their own, they change the metric."""
    predictions = [1, 1, 2, missing, missing, missing, missing, 1, 2, 2]
    codes = [value if value in (1, 2) else 9 for value in [1, 1, 2, 9, 9, 9, 9, 1, 2, 2]]
    expected = of_scikit_learn.f1_score(GOLD, codes, average="macro", zero_division=0)
    assert null_distribution("f1_macro", predictions, GOLD).observed == pytest.approx(expected)
    expected = of_scikit_learn.matthews_corrcoef(GOLD, codes)
    assert null_distribution("mcc", predictions, GOLD).observed == pytest.approx(expected)


def test_missing_predictions_in_a_column_of_numbers():
    predictions = pd.Series([1, 1, 2, None, None, None, None, 1, 2, 2])
    assert null_distribution("f1_macro", predictions, GOLD).observed == pytest.approx(3 / 7)


def test_arrays_without_dimensions_are_their_values():
    assert null_distribution("accuracy", [np.array(1)] * 10, GOLD).observed == 0.4
    choices = [[np.array(1), 2, 3]] * 10
    assert null_distribution("accuracy", [1] * 10, [*map(np.array, GOLD)], choices=choices).observed == 0.4
    masked = np.ma.array(0, mask=True)
    assert null_distribution("accuracy", [masked] * 10, [0] * 5 + [1] * 5).observed == 0


def test_tensors_are_their_numbers():
    torch = pytest.importorskip("torch")
    for predictions, gold in ((torch.tensor(GOLD), GOLD), (GOLD, torch.tensor(GOLD))):
        assert null_distribution("accuracy", predictions, gold).observed == 1
    several = null_distribution("accuracy", [torch.tensor(GOLD)] * 3, GOLD)
    assert (several.observed, several.tries) == (1, 3)


def test_choices_are_lists():
    frame = pd.DataFrame([[1, 2, 3]] * 10)
    assert null_distribution("accuracy", GOLD, GOLD, choices=frame).observed == 1
    with pytest.raises(InputError, match="the choices of an example are no list; expected a list for each"):
        null_distribution("accuracy", GOLD, GOLD, choices=[4] * 10)


def test_attempts_that_are_numbers():
    attempts = [(1, 2), (3, 3), (4, 4), (5, 1)]
    of_numbers = null_distribution("pass@1", attempts, [1, 3, 4, 5])
    of_texts = null_distribution("pass@1", [tuple(map(str, row)) for row in attempts], list("1345"))
    for result in (of_numbers, of_texts):
        assert (result.observed, result.p) == (0.75, pytest.approx(1 / 24))


def test_an_item_of_a_ranking_counts_once():
    rankings = [("a", "a"), ("b", "c"), ("c", "b"), ("a", "c")]
    with pytest.raises(InputError, match=r"^a ranking is \('a', 'a'\), with an item twice; expected"):
        null_distribution("ndcg@2", rankings, [{"a"}, {"b"}, {"b"}, {"c"}])


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
def test_a_missing_text_is_not_the_text_that_names_it(missing):
    with pytest.raises(InputError, match=rf"^an answer is {missing}; expected a text, which may be empty$"):
        null_distribution("exact_match", ["a", missing, "nan"], ["a", "b", "nan"])


def test_accepted_texts_are_a_list_or_a_tuple():
    for name, value in (("exact_match", 0.5), ("token_f1", 0.75)):
        for several in (["NYC", "York"], ("NYC", "York")):
            assert metric(name).value(["York", "the x"], [several, "x y z"]) == value


def test_labels_of_several_types_are_not_turned_into_texts():
    share = Metric("share", "share", lambda predictions, gold: np.mean([*map(_equal, predictions, gold)]))
    of_users = null_distribution(share, [1, 2, 3, 4], [1, "a", 3, 4])
    of_labels = null_distribution("accuracy", [1, 2, 3, 4], [1, "a", 3, 4])
    assert of_users.observed == of_labels.observed == 0.75
    assert of_users.p == of_labels.p == pytest.approx(1 / 24)


@pytest.mark.parametrize("missing", [None, np.nan])
def test_functions_of_users_get_missing_labels_as_a_text(missing):
    f1 = Metric("mine", "F1", lambda rows, gold: of_scikit_learn.f1_score(gold, rows, average="macro"))
    predictions, gold = ["a", missing, "c", "b", "a"], ["a", "b", "c", "b", "a"]
    expected = of_scikit_learn.f1_score(gold, ["a", "x", "c", "b", "a"], average="macro")
    assert null_distribution(f1, predictions, gold).observed == pytest.approx(expected)


def test_items_that_are_lists_are_refused():
    for name, gold in (("mrr", [["a"], ["b"], ["c"]]), ("subset_accuracy", [["a"], ["b"], ["c"]])):
        with pytest.raises(
            InputError, match=r"^an answer is \[\['a'\], .*; expected items that are texts or"
        ):
            null_distribution(name, [[["a"], ["b"]], [["b"], ["a"]], [["c"], ["a"]]], gold)


def _equal(first, second):
    return first == second


@pytest.mark.parametrize("strata", [[None] * 4 + [1] * 4, np.array([np.nan] * 4 + [1] * 4)])
def test_a_missing_stratum_is_told(strata):
    with pytest.raises(InputError, match="^the stratum of example 0 is missing; expected one for each"):
        null_distribution("accuracy", [1, 2] * 4, [1, 2, 2, 1] * 2, strata=strata)


@pytest.mark.parametrize("draws", [0, -1, 100.5, 1_000_001])
def test_draws_are_a_whole_number(draws):
    with pytest.raises(InputError, match=rf"^draws is {draws}; expected a whole number from 1 to 1,000,000$"):
        null_distribution("accuracy", [1, 2], [1, 2], draws=draws)


@pytest.mark.parametrize("name", ["mae", "mse", "rmse"])
def test_numbers_that_are_too_large(name):
    with warnings.catch_warnings(action="error"):
        problem = rf"^{name} is not defined for candidate 0: its value is inf; are its numbers too large\?$"
        with pytest.raises(InputError, match=problem):
            null_distribution(name, [1e308, -1e308, 1], [-1e308, 1e308, 2.0])


@pytest.mark.parametrize("junk", ["7e12345678901234567890", "1e-99999999999999999999"])
def test_numbers_with_a_long_exponent_are_labels(junk):
    gold = ["cat", "dog", "cat", "dog", "cat"]
    assert null_distribution("accuracy", [junk, "dog", "cat", "cat", "cat"], gold).observed == 0.6


TEXTS = ["a", "b", "c"]
NO_LIST = "expected a list, in the same order of examples for predictions and gold answers"
NO_TEXT = "expected a text, or a list of accepted texts"


@pytest.mark.parametrize(
    ("name", "predictions", "gold", "choices", "message"),
    [
        ("accuracy", {"a": 1}, TEXTS, None, f"predictions are a dict; {NO_LIST}"),
        ("accuracy", TEXTS, {*TEXTS}, None, f"gold answers are a set; {NO_LIST}"),
        ("accuracy", TEXTS, TEXTS, dict.fromkeys(TEXTS), f"choices are a dict; {NO_LIST}"),
        (
            "accuracy",
            TEXTS,
            TEXTS,
            [1, 2, 3],
            "the choices of an example are no list; expected a list for each",
        ),
        (
            "accuracy",
            [1, 2, 3],
            TEXTS,
            None,
            "predictions are like 1 and gold answers like 'a'; expected labels",
        ),
        (
            "accuracy",
            ["A", "B", "C "],
            TEXTS,
            None,
            "no prediction is one of the gold answers, but 'A' and 'a' may be the same label; expected "
            "labels that are written in one way",
        ),
        (
            "accuracy",
            ["x  Y", "B", "C"],
            TEXTS,
            [["a", "x y"], [*"bc"], [*"bc"]],
            "no prediction is one of the choices, but 'B' and 'b' may be the same label; expected labels "
            "that are written in one way",
        ),
        (
            "exact_match",
            TEXTS,
            ["a", [], "c"],
            None,
            "an answer is an empty list; expected at least one accepted",
        ),
        ("exact_match", TEXTS, ["a", {"x": 1}, "c"], None, f"an answer is {{'x': 1}}; {NO_TEXT}"),
        ("exact_match", TEXTS, ["a", ["b", ["c"]], "c"], None, f"an answer is ['b', ['c']]; {NO_TEXT}"),
        ("exact_match", ["a", ["b", "c"], "c"], TEXTS, None, "a prediction is ['b', 'c']; expected one text"),
    ],
)
def test_answers_that_are_refused(name, predictions, gold, choices, message):
    with pytest.raises(InputError) as error:
        null_distribution(name, predictions, gold, choices=choices)
    assert str(error.value).startswith(message)


@pytest.mark.parametrize(
    "kind", [list, tuple, set, frozenset, np.array, lambda texts: np.array(texts, object)]
)
def test_a_text_and_accepted_texts_in_any_container(kind):
    gold = [kind(["a", "x"]), kind(["b"]), "c", kind(["d", "e"])]
    result = null_distribution("exact_match", ["x", kind(["b"]), kind(["c"]), "f"], gold)
    assert result.observed == 0.75
