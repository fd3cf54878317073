"""Tables whose labels are in another order are an error, wherever values are paired by position."""

import numpy as np
import pandas as pd
import pytest

from abovechance import Answers, randomization_test
from abovechance.chance import null_distribution
from abovechance.compare import unpaired
from abovechance.core.errors import InputError
from abovechance.items import adaptive, pruning
from abovechance.items.estimates import gp_irt
from abovechance.items.features import grouped
from abovechance.items.smaller import costs
from abovechance.metrics import metric
from abovechance.variance import analytic_error, continuous

MOVED = "at different positions"
EXAMPLES = [f"e{place}" for place in range(12)]


def tables() -> dict[str, pd.DataFrame]:
    """The tables of ``Answers``: two prompts, twelve examples, two labels."""
    gold = np.arange(12) % 2
    predicted = pd.DataFrame([gold, 1 - gold], columns=EXAMPLES)
    correct = pd.DataFrame(gold[:, None] == np.arange(2), index=EXAMPLES)
    evaluated, available = predicted >= 0, correct | ~correct
    return {"predicted": predicted, "evaluated": evaluated, "correct": correct, "available": available}


@pytest.mark.parametrize("name", ["predicted", "evaluated", "correct", "available", "cluster", "texts"])
def test_answers_whose_examples_are_in_another_order(name):
    study = tables()
    study["cluster"] = pd.Series(range(12), index=EXAMPLES)
    study["texts"] = study["correct"].astype(int)
    assert randomization_test(Answers(**study, shared=True), draws=99).observed.tolist() == [1, 0]
    table = study[name]
    moved = table[sorted(EXAMPLES)] if name in ("predicted", "evaluated") else table.loc[sorted(EXAMPLES)]
    with pytest.raises(InputError, match=MOVED):
        Answers(**study | {name: moved}, shared=True)


def test_labels_and_prompts_in_another_order():
    study = tables()
    with pytest.raises(InputError, match=MOVED):
        Answers(**study | {"available": study["available"][[1, 0]]}, shared=True)
    with pytest.raises(InputError, match=MOVED):
        Answers(**study | {"evaluated": study["evaluated"].loc[[1, 0]]}, shared=True)
    empty = {name: study[name].iloc[:0] for name in ("predicted", "evaluated")}
    assert len(Answers(**study | empty, shared=True).predicted) == 0


def test_functions_of_two_arguments():
    first = pd.Series([0.9, 0.5, 0.7], ["x", "y", "z"])
    second = pd.Series([20, 2000, 300], ["x", "y", "z"])
    for function in (unpaired, analytic_error):
        function(first, second)
        with pytest.raises(InputError, match=MOVED):
            function(first, second[::-1])
    assert gp_irt(first, second, 1.0).tolist() == first.tolist()
    with pytest.raises(InputError, match=MOVED):
        gp_irt(first, second[::-1], 1.0)


def test_items_in_another_order():
    generator = np.random.default_rng(3)
    skill, ease = generator.normal(size=30), generator.normal(size=12)
    responses = generator.random((30, 12)) < 1 / (1 + np.exp(-skill[:, None] - ease))
    table = pd.DataFrame(responses.astype(float), columns=EXAMPLES)
    train, test = table.iloc[:20], table.iloc[20:]
    pruning(train, test, draws=3)
    for function in (lambda moved: pruning(train, moved, draws=3), lambda moved: costs(train, moved, [4])):
        with pytest.raises(InputError, match=MOVED):
            function(test[sorted(EXAMPLES)])


def test_responses_of_two_models_in_another_order():
    rows = pd.DataFrame(np.arange(24).reshape(2, 12) % 2, columns=EXAMPLES)
    with pytest.raises(InputError, match=MOVED):
        adaptive.replay(None, rows.iloc[0], rows.iloc[1][::-1])


@pytest.mark.parametrize(
    "container", [list, tuple, set, frozenset, np.array], ids=["list", "tuple", "set", "frozenset", "array"]
)
@pytest.mark.parametrize(("name", "predictions"), [("exact_match", "NYC"), ("token_f1", "the NYC")])
def test_accepted_texts_in_any_container(name, predictions, container):
    gold = [container(texts) for texts in (["New York", "NYC"], ["a x"], ["b", "c"])]
    test = null_distribution(name, [predictions, "a x", "b"], gold)
    assert (test.observed, round(test.p, 3)) == (1.0, 0.167)
    assert metric(name).value([predictions], gold[:1]) == 1.0
    attempts = null_distribution("pass@1", [["NYC"], ["a x"], ["b"]], gold)
    assert attempts.observed == 1.0


def test_answers_that_are_no_texts():
    with pytest.raises(InputError, match="expected a text, or a list of accepted texts"):
        null_distribution("exact_match", ["a", "b"], [{"a": 1}, {"b": 1}])
    with pytest.raises(InputError, match="an answer is an empty list"):
        null_distribution("exact_match", ["a", "b"], [np.array([]), np.array(["b"])])
    for nested in ([["a"]], np.array([["a"]])):
        with pytest.raises(InputError, match="expected a text, or a list of accepted texts"):
            null_distribution("exact_match", ["a", "b"], [nested, "b"])
    with pytest.raises(InputError, match="a prediction is .*; expected one text"):
        null_distribution("exact_match", [["a", "b"], ["b"], ["c"]], ["a", "b", "c"])


@pytest.mark.parametrize("container", [list, tuple, np.array, set])
@pytest.mark.parametrize("metric", ["exact_match", "token_f1"])
def test_a_prediction_may_be_a_list_of_one_text(metric, container):
    predictions = [container([text]) for text in ("a b", "c", "d")]
    assert null_distribution(metric, predictions, ["a b", "c", "e"]).observed == pytest.approx(2 / 3)


def test_numbers_that_are_written_differently():
    with pytest.raises(InputError, match="'5.0' and '5' are the same number"):
        null_distribution("exact_match", [5.0, 6.0, 7.0], [5, 6, 7])
    assert null_distribution("token_f1", ["5.", "6.", "x"], ["5", "6", "7"]).observed == pytest.approx(2 / 3)
    test = null_distribution("exact_match", [5.0, "6", 7.0], [5, 6, 7])  # one is right
    assert test.observed == pytest.approx(1 / 3)
    assert null_distribution("exact_match", ["paris", "rome"], ["Paris", "Rome"]).observed == 0
    of_other_examples = ["6.0", "7", "5"], ["5.0", "6", "7.0"]  # wrong, however they are written
    assert null_distribution("exact_match", *of_other_examples).observed == 0


@pytest.mark.parametrize("dtype", ["Int64", "string", "string[pyarrow]", "int64[pyarrow]"])
def test_names_of_examples_of_any_type(dtype):
    table = pd.DataFrame({"example": [1, 1, 2, 2], "choice": [0, 1, 0, 1], "logprob": [-1.0, -2, -1, -3]})
    table["right"] = [True, False, False, True]
    expected = continuous(table)
    converted = table.assign(
        example=table["example"].astype(str).astype(dtype)
        if dtype[0] == "s"
        else table["example"].astype(dtype)
    )
    assert continuous(converted)["correct"].tolist() == expected["correct"].tolist()


def test_categories_of_items_are_grouped():
    values = pd.Series([*"aaaaaaa", *"bbbbbb", "c"], dtype="category")
    assert grouped(values).tolist() == grouped(values.astype(object)).tolist()
