"""Metrics at their edges: empty and constant answers, conversions, and messages."""

import sys

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics as sk

from abovechance.core.errors import InputError
from abovechance.metrics import Metric, metric
from abovechance.metrics.answers import as_array, in_form, written_differently
from abovechance.metrics.contract import objects
from abovechance.metrics.registry import MOST_K
from abovechance.metrics.texts import best_of, passes
from tests.metrics.test_metrics import sums


def test_numbers_and_labels_are_plain_arrays_and_others_are_objects():
    assert as_array(metric("mae"), [1.0, 2.0]).dtype == float
    assert as_array(metric("accuracy"), [1, 2]).dtype.kind == "i"
    assert as_array(metric("jaccard"), [frozenset("a"), frozenset("b")]).dtype == object
    assert as_array(metric("exact_match"), ["a", "b"]).dtype == object


def test_labels_have_codes_that_predictions_and_gold_share():
    rows, gold, choices = in_form(metric("f1_macro"), ["b", "a"], ["a", "b"], [["a", "b"], ["b", "a"]])
    (row,) = rows
    assert row.tolist() == gold[::-1] == [0, 1]
    assert choices == [gold, gold[::-1]]
    numbers, gold, _ = in_form(metric("accuracy"), np.array([3, 5]), [5, 3], None)
    assert numbers[0].tolist() == gold[::-1]  # numbers of numpy and of Python are one label


def test_labels_of_a_function_stay_what_they_are():
    function = Metric("mine", "", lambda predictions, gold: 0.0)
    rows, gold, _ = in_form(function, ["x", "y"], ["y", "z"], None)
    assert ([*rows[0]], gold) == (["x", "y"], ["y", "z"])


def test_attempts_are_rows_of_texts():
    rows, gold, _ = in_form(metric("pass@2"), [["a", "b"], ["c", "d"]], ["a", ["c", "x"]], None)
    assert [*rows[0]] == [("a", "b"), ("c", "d")]
    assert gold == ["a", ("c", "x")]
    candidates = [[["a", "b"], ["c", "d"]], [["e", "f"], ["g", "h"]]]
    assert len(in_form(metric("pass@2"), candidates, ["a", "c"], None)[0]) == 2


@pytest.mark.parametrize("name", ["jaccard", "mrr", "pass@1"])
def test_a_list_of_lists_is_one_candidate_unless_its_items_are_lists(name):
    assert len(in_form(metric(name), [["a", "b"], ["c", "d"]], [["a"], ["c"]], None)[0]) == 1
    assert len(in_form(metric(name), [[["a"], ["b"]]] * 3, [["a"], ["c"]], None)[0]) == 3


def test_tables_have_a_candidate_in_each_row():
    table = pd.DataFrame([["a", "b", "c"], ["a", "a", "a"]])
    assert len(in_form(metric("accuracy"), table, ["a", "b", "c"], None)[0]) == 2


@pytest.mark.parametrize(
    ("name", "predictions", "gold", "choices", "message"),
    [
        (
            *("accuracy", [["a", "b"], ["a"]], ["a", "b"], None),
            "candidate 1 has 1 predictions, but there are 2 gold answers; expected as many, and at least one",
        ),
        (
            *("accuracy", ["a"], ["a", "b"], None),
            "candidate 0 has 1 predictions, but there are 2 gold answers; expected as many, and at least one",
        ),
        (
            *("accuracy", [], [], None),
            "candidate 0 has 0 predictions, but there are 0 gold answers; expected as many, and at least one",
        ),
        ("mae", [1], [1], [[1]], "choices are for metrics of labels, not for mae"),
        ("accuracy", ["a"], ["a"], [], "0 lists of choices for 1 examples; expected one for each"),
        (
            *("accuracy", ["a"], ["a"], [["b"]]),
            "example 0: the gold answer 'a' is not one of the choices",
        ),
        ("exact_match", [None], ["a"], None, "an answer is None; expected a text, which may be empty"),
        ("jaccard", ["ab"], [["a"]], None, "an answer is 'ab'; expected a list or set of items"),
        ("mae", ["x"], [1], None, "a number is 'x'; expected a finite one"),
        ("mae", [float("inf")], [1], None, "a number is inf; expected a finite one"),
    ],
)
def test_answers_that_do_not_fit(name, predictions, gold, choices, message):
    with pytest.raises(InputError) as error:
        in_form(metric(name), predictions, gold, choices)
    assert str(error.value) == message


def test_agreement_of_two_examples():
    predictions, gold = np.array([0, 1]), np.array([0, 1])
    for name in ("mcc", "kappa"):
        assert sums(metric(name), predictions, gold, gold) == pytest.approx(1.0)
        assert sums(metric(name), predictions, gold, gold[::-1]) == pytest.approx(-1.0)


def test_constant_labels():
    constant, varied = np.array([1, 1, 1]), np.array([0, 1, 1])
    assert sums(metric("mcc"), constant, varied, varied) == 0.0 == sk.matthews_corrcoef(varied, constant)
    assert np.isnan(sums(metric("kappa"), constant, constant, constant))


def test_correlations_of_constant_tiny_and_huge_numbers():
    rising = np.array([1.0, 2.0, 4.0])
    for name in ("pearson", "spearman"):
        chosen = metric(name)
        assert np.isnan(sums(chosen, np.full(3, 0.1), rising, rising))
        assert np.isnan(sums(chosen, rising, np.full(3, 7.3), np.full(3, 7.3)))
        for scale in (1e-150, 1e-9, 1.0, 1e100):
            result = sums(chosen, rising * scale, rising[::-1], rising[::-1])
            assert result == pytest.approx(chosen.value(rising, rising[::-1]))
    # differences of 1e-15 of a large number are rounding
    assert np.isnan(sums(metric("pearson"), 1e6 + np.array([0, 1e-10, 0]), rising, rising))
    shifted = sums(metric("pearson"), 1000 + rising, rising, rising[[1, 0, 2]])
    assert shifted == pytest.approx(metric("pearson").value(rising, rising[[1, 0, 2]]))


def test_numbers_in_texts_are_correlated_as_numbers():
    assert metric("pearson").value(["1", "2", "10"], ["1", "2", "10"]) == pytest.approx(1.0)


def test_errors_by_hand():
    predictions, gold = np.array([1.0, 5.0]), np.array([2.0, 2.0])
    for name, expected in (("mae", 2.0), ("mse", 5.0), ("rmse", 5**0.5)):
        chosen = metric(name)
        assert chosen.value(predictions, gold) == pytest.approx(expected)
        assert sums(chosen, predictions, gold, gold) == pytest.approx(expected)
        assert (chosen.name, chosen.answers, chosen.higher_is_better) == (name, "number", False)
        assert chosen.meaning


@pytest.mark.parametrize(
    ("name", "prediction", "gold", "expected"),
    [
        ("jaccard", frozenset(), frozenset(), 1.0),
        ("jaccard", frozenset("ab"), frozenset("bc"), 1 / 3),
        ("subset_accuracy", frozenset("ab"), frozenset("ba"), 1.0),
        ("mrr", tuple("abc"), frozenset("z"), 0.0),
        ("mrr", tuple("abc"), frozenset("cb"), 1 / 2),
        ("ndcg@2", tuple("ab"), frozenset(), 0.0),
        ("ndcg@2", tuple("ab"), frozenset("b"), 1 / np.log2(3)),
        ("recall@2", tuple("abc"), frozenset("bc"), 1 / 2),
        ("recall@2", tuple("abc"), frozenset(), 0.0),
        ("avg@3", (), frozenset("a"), 0.0),
        ("avg@3", tuple("b"), frozenset("a"), 0.0),
        ("avg@3", tuple("ba"), frozenset("a"), 2 / 3),
        ("avg@2", tuple("abc"), frozenset("ab"), 1.0),
    ],
)
def test_sets_and_rankings_by_hand(name, prediction, gold, expected):
    chosen = metric(name)
    rows, golds = objects([prediction, prediction]), objects([gold, gold])
    assert chosen.value(rows, golds) == pytest.approx(expected)
    assert sums(chosen, rows, golds, golds) == pytest.approx(expected)
    assert chosen.answers in ("set", "ranking")
    assert "{" not in chosen.meaning
    assert chosen.meaning.count(name.partition("@")[2]) >= 1


def test_texts_with_repeated_words_and_punctuation():
    predictions, gold = objects(["The cat, the CAT!", "b b a.", "", "x"]), objects(["cat", "b b", "", "y"])
    chosen = metric("token_f1")
    expected = np.mean([2 * 1 / 3, 2 * 2 / 4, 1.0, 0.0])  # articles and punctuation do not count
    assert chosen.value(predictions, gold) == pytest.approx(expected)
    assert sums(chosen, predictions, gold, gold) == pytest.approx(expected)


def test_all_attempts_may_be_used():
    assert metric("pass@2").value(objects([("a", "b"), ("c", "c")]), objects(["b", "d"])) == 0.5


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("pass@5@2", "metric 'pass@5@2': expected a whole number from 1 after @, such as pass@5"),
        (f"pass@{MOST_K + 1}", f"metric 'pass@{MOST_K + 1}': expected a number up to {MOST_K:,} after @"),
        ("pass", "metric 'pass' is unknown"),
        ("accuracy@2", "metric 'accuracy@2' is unknown"),
        ("math:inner:pi", "metric 'math:inner:pi': 'math' has no 'inner:pi'"),
    ],
)
def test_names_that_are_none(name, message):
    with pytest.raises(InputError) as error:
        metric(name)
    assert str(error.value).startswith(message)


def test_the_largest_k():
    assert metric(f"pass@{MOST_K}").name == f"pass@{MOST_K}"


def test_functions_have_their_name_and_a_meaning(tmp_path, monkeypatch):
    (tmp_path / "json.py").write_text("def half(predictions, gold):\n    return 0.5\n")
    (tmp_path / "of_mine.py").write_text("import json\ndef half(predictions, gold):\n    return 0.5\n")
    monkeypatch.chdir(tmp_path)
    before = [*sys.path]
    monkeypatch.setattr(sys, "path", [*before])
    chosen = metric("of_mine:half")
    assert (chosen.name, chosen.meaning) == ("of_mine:half", "the function of_mine:half")
    assert sys.path == [*before, str(tmp_path)]  # last, so that it hides no module
    (tmp_path / "of_mine_2.py").write_text("raise RuntimeError('not today')\n")
    with pytest.raises(InputError) as error:
        metric("of_mine_2:half")
    assert str(error.value) == "metric 'of_mine_2:half': cannot import 'of_mine_2': not today"
    assert sys.path == [*before, str(tmp_path)]


def test_a_broken_package_is_named(tmp_path, monkeypatch):
    package = tmp_path / "broken-1.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    (package / "entry_points.txt").write_text("[abovechance.metrics]\nbad = no_such_module_here:f\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(InputError) as error:
        metric("bad")
    expected = (
        "the entry point 'bad' of the package 'broken' (no_such_module_here:f) cannot be loaded: No module"
    )
    assert str(error.value).startswith(expected)


def test_labels_of_two_types_are_an_error():
    for predictions, gold in ((["1", "2"], [1, 2]), ([1, 2], ["1", "2"])):
        with pytest.raises(InputError, match="expected labels of one type"):
            in_form(metric("accuracy"), predictions, gold, None)
    in_form(metric("accuracy"), ["a", None], ["a", "b"], None)  # missing answers are not compared
    in_form(metric("accuracy"), [None, None], ["a", "b"], None)


def test_an_example_without_an_accepted_text_is_an_error():
    with pytest.raises(InputError, match="an answer is an empty list"):
        in_form(metric("exact_match"), ["a", "b"], [[], "b"], None)


def test_the_best_of_many_attempts_is_computed_in_whole_numbers():
    assert best_of([0.0] * 1100 + [1.0] * 100, 500) == pytest.approx(passes(100, 1200, 500))


def test_long_numbers_are_different_labels():
    gold, prediction = str(2**53), str(2**53 + 1)
    assert float(gold) == float(prediction)
    assert written_differently([prediction], [gold]) is None


@pytest.mark.parametrize(("gold", "prediction"), [("1", "1.0"), ("pos", "Pos"), ("New York", " new  york")])
def test_labels_that_are_all_written_differently_are_an_error(gold, prediction):
    with pytest.raises(InputError, match=f"'{prediction}' and '{gold}' may be the same label"):
        in_form(metric("accuracy"), [prediction, "x"], [gold, "y"], None)
    # one that is right shows that they are meant
    in_form(metric("accuracy"), [prediction, "y"], [gold, "y"], None)
    assert written_differently([prediction, "y"], [gold, "y"]) == (prediction, gold)
    choices = [[gold, prediction], [gold, prediction]]
    assert written_differently([prediction, "y"], [gold, "y"], choices) is None
    # a prediction that is another choice shows it too
    in_form(metric("accuracy"), [prediction, "x"], [gold, "y"], [[gold, "x"], ["x", "y"]])
    with pytest.raises(InputError, match="no prediction is one of the choices"):
        in_form(metric("accuracy"), [prediction, "q"], [gold, "y"], [[gold, "x"], ["x", "y"]])
    in_form(metric("accuracy"), ["x", "z"], [gold, "y"], None)
    if gold == "1":
        with pytest.raises(InputError, match="'1.0' and '1' are the same number"):
            in_form(metric("exact_match"), [prediction, "x"], [gold, "y"], None)
    in_form(metric("exact_match"), [prediction, "y"], [gold, "y"], None)
