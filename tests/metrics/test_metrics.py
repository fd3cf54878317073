"""Metrics equal other packages' values, and their sums equal their definitions under any permutation."""

import sys
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats
from sklearn import metrics as sk
from sklearn.preprocessing import MultiLabelBinarizer

from abovechance.core.errors import InputError
from abovechance.metrics import Metric, metric, metric_names
from abovechance.metrics.contract import objects
from abovechance.metrics.texts import best_of, passes

LABELS = ["accuracy", "balanced_accuracy", "f1_macro", "f1_micro", "mcc", "kappa"]
NUMBERS = ["pearson", "spearman", "mae", "mse", "rmse"]


def sums(chosen: Metric, predictions: np.ndarray, gold: np.ndarray, permuted: np.ndarray) -> float:
    """Return the metric by its terms, which are made from ``gold``, for permuted gold answers."""
    terms = chosen.terms(predictions, gold)
    cells = terms.cells(predictions, permuted)
    return float(terms.finish(np.array([np.trace(cells)]))[0])


@pytest.mark.parametrize("name", LABELS)
@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_sums_of_labels(name, data):
    labels = st.lists(st.integers(0, 3), min_size=6, max_size=6)
    predictions, gold = (np.array(data.draw(labels)) for _ in range(2))
    permuted = np.array(data.draw(st.permutations(gold.tolist())))
    expected = metric(name).value(predictions, permuted)
    if np.isfinite(expected):
        assert sums(metric(name), predictions, gold, permuted) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", NUMBERS)
def test_sums_of_numbers(name):
    generator = np.random.default_rng(1)
    for _ in range(20):
        predictions, gold = generator.integers(-3, 4, (2, 9)).astype(float)
        predictions[0], gold[0] = 10.5, -7.25  # never constant
        permuted = generator.permutation(gold)
        expected = metric(name).value(predictions, permuted)
        assert sums(metric(name), predictions, gold, permuted) == pytest.approx(expected, abs=1e-12)


def test_labels_are_those_of_scikit_learn():
    predictions, gold = np.random.default_rng(0).integers(4, size=(2, 80))
    gold[:40] = predictions[:40]
    expected = {
        "accuracy": sk.accuracy_score(gold, predictions),
        "balanced_accuracy": sk.balanced_accuracy_score(gold, predictions),
        "f1_macro": sk.f1_score(gold, predictions, average="macro"),
        "f1_micro": sk.f1_score(gold, predictions, average="micro"),
        "mcc": sk.matthews_corrcoef(gold, predictions),
        "kappa": sk.cohen_kappa_score(gold, predictions),
    }
    for name, value in expected.items():
        assert metric(name).value(predictions, gold) == pytest.approx(value)


def test_sets_are_those_of_scikit_learn():
    generator = np.random.default_rng(0)
    predictions, gold = (
        [frozenset(np.flatnonzero(row).astype(str)) for row in generator.random((30, 4)) < 0.6]
        for _ in range(2)
    )
    encoder = MultiLabelBinarizer(classes=list("0123"))
    truth, guess = encoder.fit_transform(gold), encoder.transform(predictions)
    jaccard = sk.jaccard_score(truth, guess, average="samples", zero_division=1)
    assert metric("jaccard").value(predictions, gold) == pytest.approx(jaccard)
    assert metric("subset_accuracy").value(predictions, gold) == pytest.approx(
        sk.accuracy_score(truth, guess)
    )


def test_rankings_are_those_of_scikit_learn():
    generator = np.random.default_rng(0)
    items = np.array(list("abcdefgh"))
    rankings = [tuple(generator.permutation(items).tolist()) for _ in range(40)]
    relevant = [frozenset(items[generator.permutation(8)[: 1 + place % 3]].tolist()) for place in range(40)]
    truth = np.array([[item in gold for item in items] for gold in relevant]).astype(float)
    scores = np.array([[-ranking.index(item) for item in items] for ranking in rankings]).astype(float)
    for k in (1, 3, 8):
        ndcg = metric(f"ndcg@{k}").value(rankings, relevant)
        assert ndcg == pytest.approx(sk.ndcg_score(truth, scores, k=k))
        hits = [
            len({*ranking[:k]} & gold) / len(gold) for ranking, gold in zip(rankings, relevant, strict=True)
        ]
        assert metric(f"recall@{k}").value(rankings, relevant) == pytest.approx(np.mean(hits))
    single = [frozenset({gold}) for gold in items[generator.integers(8, size=40)]]
    truth = np.array([[item in gold for item in items] for gold in single])
    average_precision = sk.label_ranking_average_precision_score(truth, scores)  # with one item, the same
    assert metric("mrr").value(rankings, single) == pytest.approx(average_precision)
    ranks = np.array(
        [ranking.index(next(iter(gold))) for ranking, gold in zip(rankings, single, strict=True)]
    )
    expected = np.mean([(ranks < j).mean() for j in (1, 2, 3, 4, 5)])
    assert metric("avg@5").value(rankings, single) == pytest.approx(expected)


def test_average_hit_of_two_relevant_items():
    # AC@1 = 1/1, AC@2 = 1/2, AC@3 = 2/2
    assert metric("avg@3").value([("a", "x", "b")], [frozenset("ab")]) == pytest.approx((1 + 0.5 + 1) / 3)
    assert metric("avg@5").value([("a", "b")], [frozenset("ab")]) == 1.0  # a short ranking


def test_numbers_are_those_of_scipy():
    predictions, gold = np.random.default_rng(0).integers(0, 12, (2, 30)).astype(float)
    assert metric("pearson").value(predictions, gold) == pytest.approx(stats.pearsonr(predictions, gold)[0])
    assert metric("spearman").value(predictions, gold) == pytest.approx(stats.spearmanr(predictions, gold)[0])
    assert metric("kendall").value(predictions, gold) == pytest.approx(stats.kendalltau(predictions, gold)[0])
    assert metric("rmse").value(predictions, gold) == pytest.approx(
        sk.mean_squared_error(gold, predictions) ** 0.5
    )
    pairs = [(i, j) for i in range(30) for j in range(i) if gold[i] != gold[j]]
    concordant = [np.sign(predictions[i] - predictions[j]) == np.sign(gold[i] - gold[j]) for i, j in pairs]
    assert metric("pairwise_accuracy").value(predictions, gold) == pytest.approx(np.mean(concordant))
    assert np.isnan(metric("pearson").value(np.ones(30), gold))


def test_words_as_squad_compares_them():
    assert metric("token_f1").value(["The cat sat!"], ["a cat"]) == pytest.approx(2 / 3)
    assert metric("token_f1").value(["", "the"], ["the", "cat"]) == pytest.approx(0.5)
    assert metric("token_f1").value(["two cats"], [("one dog", "two cats")]) == 1.0
    assert metric("exact_match").value(["4", "five"], [("four", "4"), "Five"]) == 0.5


@pytest.mark.parametrize("name", ["exact_match", "token_f1", "pass@2", "jaccard", "mrr"])
def test_cells_are_pairs(name):
    generator = np.random.default_rng(2)
    vocabulary = ["the cat", "a dog sat", "cat cat", "", "dog", "sat, the dog"]

    def text():
        return vocabulary[generator.integers(len(vocabulary))]

    chosen = metric(name)
    predictions = {
        "attempts": lambda: tuple(text() for _ in range(3)),
        "set": lambda: frozenset(text().split()),
        "ranking": lambda: tuple(dict.fromkeys(text().split())),
        "text": text,
    }
    gold = {
        "attempts": text,
        "set": predictions["set"],
        "ranking": predictions["set"],
        "text": lambda: (text(), text()) if generator.random() < 0.3 else text(),
    }
    rows, columns = (objects([make[chosen.answers]() for _ in range(12)]) for make in (predictions, gold))
    cells = chosen.terms(rows, columns).cells(rows, columns)
    expected = [[chosen.value(rows[i : i + 1], columns[j : j + 1]) for j in range(12)] for i in range(12)]
    np.testing.assert_allclose(cells * 12, expected, atol=1e-12)


@given(st.integers(1, 8), st.data())
def test_pass_at_k_is_the_mean_over_all_subsets(attempts, data):
    from itertools import combinations

    flags = data.draw(st.lists(st.booleans(), min_size=attempts, max_size=attempts))
    k = data.draw(st.integers(1, attempts))
    expected = np.mean([any(chosen) for chosen in combinations(flags, k)])
    assert passes(sum(flags), attempts, k) == pytest.approx(expected)
    assert best_of([float(flag) for flag in flags], k) == pytest.approx(expected)


def test_too_few_attempts():
    with pytest.raises(
        InputError, match="pass@3 needs at least 3 attempts at each example; an example has 2"
    ):
        metric("pass@3").value([("a", "b")], ["a"])


def test_names():
    counts = Counter(metric_names())
    assert max(counts.values()) == 1
    assert {metric(name.replace("@k", "@3")).name for name in counts} == {
        name.replace("@k", "@3") for name in counts
    }


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("f1_makro", "metric 'f1_makro' is unknown; did you mean 'f1_macro'?"),
        ("pass@0", "metric 'pass@0': expected a whole number from 1 after @, such as pass@5"),
        ("ndcg@", "metric 'ndcg@': expected a whole number from 1 after @, such as ndcg@5"),
        ("no_such_module:f", "metric 'no_such_module:f': cannot import 'no_such_module'"),
        ("math:no_such_function", "metric 'math:no_such_function': 'math' has no 'no_such_function'"),
        ("math:pi", "metric 'math:pi': expected a Metric or a function of predictions and gold answers"),
    ],
)
def test_unknown_metric(name, message):
    with pytest.raises(InputError) as error:
        metric(name)
    assert str(error.value).startswith(message)


def test_metrics_of_installed_packages(tmp_path, monkeypatch):
    package = tmp_path / "mine-1.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n")
    (package / "entry_points.txt").write_text(
        "[abovechance.metrics]\nfirst_letter = mine_metrics:first_letter\n"
    )
    (tmp_path / "mine_metrics.py").write_text(
        "def first_letter(predictions, gold):\n"
        "    return sum(p[:1] == g[:1] for p, g in zip(predictions, gold)) / len(gold)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    assert "first_letter" in metric_names()
    assert metric("first_letter").value(["apple", "bean"], ["ant", "cat"]) == 0.5


def test_function_of_a_module_in_the_folder(tmp_path, monkeypatch):
    (tmp_path / "my_metrics_here.py").write_text("def half(predictions, gold):\n    return 0.5\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    assert metric("my_metrics_here:half").value([], []) == 0.5
    (tmp_path / "my_helper_here.py").write_text("VALUE = 0.25\n")
    (tmp_path / "my_late_metrics.py").write_text(
        "def late(predictions, gold):\n    from my_helper_here import VALUE\n    return VALUE\n"
    )
    assert metric("my_late_metrics:late").value([], []) == 0.25
