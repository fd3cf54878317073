"""Chance for any metric: closed forms, enumeration and random permutations agree, and tests are valid."""

from dataclasses import replace
from functools import partial
from itertools import permutations, product
from math import comb

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from abovechance.chance import tries as more_tries
from abovechance.chance.arrangements import Arrangements
from abovechance.chance.exact import Discrete, concordant_pairs, of_stratum, rook_distribution
from abovechance.chance.permutation import null_distribution
from abovechance.chance.simulation import MOST_EXACT
from abovechance.chance.tries import check_draws
from abovechance.core.errors import InputError
from abovechance.metrics import Metric, metric, metric_names, numbers
from abovechance.metrics.contract import Terms, objects

NAMES = [name.replace("@k", "@2") for name in metric_names()]
WORDS = ["red", "red car", "green", "4"]


def small_case(name: str, candidates: int, examples: int, seed: int = 0):
    """Return predictions and gold answers, in the form that a metric needs."""
    generator = np.random.default_rng(seed)

    def texts(shape=()):
        return np.array(WORDS)[generator.integers(len(WORDS), size=shape)]

    make = {
        "label": (lambda: generator.integers(3), lambda: generator.integers(3)),
        "text": (lambda: str(texts()), lambda: str(texts())),
        "number": (lambda: float(generator.normal()), lambda: float(generator.normal())),
        "set": (lambda: frozenset(texts(2).tolist()), lambda: frozenset(texts(2).tolist())),
        "ranking": (
            lambda: tuple(generator.permutation(list("abcd")).tolist()),
            lambda: frozenset({"abcd"[generator.integers(4)]}),
        ),
        "attempts": (lambda: tuple(texts(3).tolist()), lambda: str(texts())),
    }
    prediction, gold = make[metric(name).answers]
    rows = [[prediction() for _ in range(examples)] for _ in range(candidates)]
    answers = [gold() for _ in range(examples)]
    if metric(name).answers == "label":
        answers[:3], rows[0][:3] = [0, 1, 2], [0, 1, 1]  # no constant side
        rows[-1][:2] = [0, 1]
    return rows, answers


def brute_force(name: str, rows, gold, strata=None) -> tuple[float, float, float]:
    """Return the expected value of the best candidate and of the best of all, and the p-value."""
    chosen = metric(name)
    strata = [0] * len(gold) if strata is None else strata
    members = [
        [place for place, value in enumerate(strata) if value == name] for name in dict.fromkeys(strata)
    ]
    as_array = np.array if chosen.answers in ("label", "number") else objects
    values = []
    for orders in product(*(permutations(places) for places in members)):
        permuted = [*gold]
        for places, order in zip(members, orders, strict=True):
            for place, source in zip(places, order, strict=True):
                permuted[place] = gold[source]
        values.append([chosen.value(as_array(row), as_array(permuted)) for row in rows])
    table = chosen.sign * np.array(values)
    observed = chosen.sign * np.array([chosen.value(as_array(row), as_array(gold)) for row in rows])
    best = int(observed.argmax())
    reached = (table.max(axis=1) >= observed[best] - 1e-9).mean()
    return chosen.sign * table[:, best].mean(), chosen.sign * table.max(axis=1).mean(), reached


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("candidates", [1, 3])
def test_all_permutations(name, candidates):
    rows, gold = small_case(name, candidates, examples=6)
    strata = [0, 0, 0, 0, 1, 1]
    result = null_distribution(name, rows, gold, strata)
    expected, expected_best, p = brute_force(name, rows, gold, strata)
    assert result.method in ("exact", "enumeration")
    assert result.expected == pytest.approx(expected, abs=1e-9)
    assert result.expected_best == pytest.approx(expected_best, abs=1e-9)
    assert result.p == pytest.approx(p, abs=1e-9)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("candidates", [1, 3])
def test_random_permutations_agree_with_all(name, candidates, monkeypatch):
    rows, gold = small_case(name, candidates, examples=7)
    strata = [0] * 7
    enumerated = null_distribution(name, rows, gold, strata)
    module = __import__("abovechance.chance.simulation", fromlist=["x"])
    monkeypatch.setattr(module, "MOST_ARRANGEMENTS", 0)
    monkeypatch.setattr(module.Simulation, "_exact", lambda self: None)
    random = null_distribution(name, rows, gold, strata, draws=4000, seed=3)
    assert random.method == "permutation"
    assert random.p == pytest.approx(enumerated.p, abs=5 * max(random.p_error, 1e-3))
    spread = np.sqrt(
        random.distribution.weights @ (random.distribution.values - random.expected_best) ** 2 / 4000
    )
    assert random.expected_best == pytest.approx(enumerated.expected_best, abs=5 * spread + 1e-9)
    assert random.expected == pytest.approx(enumerated.expected, abs=5 * spread + 1e-9)


@given(
    st.lists(st.integers(0, 3), min_size=6, max_size=6), st.lists(st.integers(0, 3), min_size=6, max_size=6)
)
@settings(max_examples=60, deadline=None)
def test_matches_of_permutations(predictions, gold):
    rows, columns = np.array(predictions), np.array(gold)
    exact = of_stratum((rows[:, None] == columns[None, :]).astype(float))
    sums = [sum(p == g for p, g in zip(predictions, order, strict=True)) for order in permutations(gold)]
    counts = np.bincount(sums, minlength=7) / len(sums)
    probabilities = np.zeros(7)
    probabilities[np.round(exact.values).astype(int)] = exact.weights
    np.testing.assert_allclose(probabilities, counts, atol=1e-12)


def test_derangements():
    # all different: the number of fixed points of a random permutation
    matches = rook_distribution([(1, 1)] * 12, 12)
    assert matches[0] == pytest.approx(176214841 / 479001600)  # derangements of 12
    assert matches @ np.arange(13) == pytest.approx(1.0)
    large = rook_distribution([(500, 500), (500, 500)], 1000)
    hypergeometric = stats.hypergeom(1000, 500, 500)  # two labels
    np.testing.assert_allclose(large[::2], hypergeometric.pmf(np.arange(501)), atol=1e-12)


def test_two_labels_are_exact_for_every_metric_of_labels():
    gold = [0] * 30 + [1] * 20
    row = [0] * 22 + [1] * 8 + [0] * 6 + [1] * 14
    both_right = stats.hypergeom(50, 28, 30).pmf  # gold answers 0 among predictions 0
    for name in ("accuracy", "balanced_accuracy", "f1_macro", "mcc", "kappa"):
        result = null_distribution(name, row, gold)
        assert result.method == "exact"
        values, weights = [], []
        for hits in range(8, 29):
            counts = {(0, 0): hits, (0, 1): 28 - hits, (1, 0): 30 - hits, (1, 1): hits - 8}
            sides = np.repeat(np.array([*counts]), [*counts.values()], axis=0).T
            values.append(metric(name).value(*sides))
            weights.append(both_right(hits))
        tail = sum(w for v, w in zip(values, weights, strict=True) if v >= result.observed - 1e-9)
        assert result.p == pytest.approx(tail)
        assert result.expected == pytest.approx(np.dot(values, weights))


def test_the_distribution_of_pairs_in_order_is_a_sum_of_uniform_numbers():
    for size in (2, 3, 12, 60):
        expected = np.ones(1)
        for length in range(2, size + 1):
            expected = np.convolve(expected, np.full(length, 1 / length))
        assert concordant_pairs(size).weights == pytest.approx(expected, rel=1e-9, abs=0)


@pytest.mark.parametrize("name", ["kendall", "pairwise_accuracy"])
@pytest.mark.parametrize("ties", ["none", "gold", "predictions", "both"])
def test_orders_of_many_examples_are_counted_as_those_of_few(name, ties, monkeypatch):
    generator = np.random.default_rng(0)
    row, gold = generator.normal(size=(2, 60))
    row, gold = (
        np.round(v, 1 if ties in (side, "both") else 9) for v, side in ((row, "predictions"), (gold, "gold"))
    )
    golds = np.stack([generator.permutation(gold) for _ in range(20)])
    golds[0, :3] = golds[0, 0]  # of gold answers that are drawn again, other ones can be equal
    value = metric(name).value
    expected = value(row, gold), value(row, golds)
    monkeypatch.setattr(numbers, "MOST_PAIRED", 10)
    assert value(row, gold) == pytest.approx(expected[0])
    assert value(row, golds) == pytest.approx(expected[1])
    assert np.isnan(value(np.ones(60), gold)) == (name == "kendall")


def test_orders_of_more_than_a_thousand_examples_are_permuted():
    generator = np.random.default_rng(1)
    row, gold = generator.normal(size=(2, MOST_EXACT + 1))
    result = null_distribution("kendall", row, gold, draws=100)
    assert result.method == "permutation"
    assert null_distribution("kendall", row[1:], gold[1:], draws=100).method == "exact"


def test_one_rare_gold_answer_of_many_examples():
    size = 1500
    gold = ["a"] * size
    gold[7] = "b"
    result = null_distribution("f1_macro", [["a"] * size, ["b"] * 20 + ["a"] * (size - 20)], gold)
    assert (result.method, result.p) == ("enumeration", pytest.approx(20 / size))


def test_order_without_ties_is_that_of_kendall():
    generator = np.random.default_rng(0)
    predictions, gold = generator.normal(size=(2, 25))
    result = null_distribution("kendall", predictions, gold)
    scipy = stats.kendalltau(predictions, gold, alternative="greater", method="exact")
    assert result.method == "exact"
    assert result.p == pytest.approx(scipy.pvalue)
    pairs = null_distribution("pairwise_accuracy", predictions, gold)
    assert (pairs.expected, pairs.p) == (pytest.approx(0.5), pytest.approx(scipy.pvalue))
    assert concordant_pairs(4).weights @ concordant_pairs(4).values == pytest.approx(0.5)


def test_random_rankings():
    """Items of each example are its own: the gold answer is drawn anew, as for a random ranking."""
    examples, size, k = 20, 6, 3
    rankings = [tuple(f"{place}-{item}" for item in range(size)) for place in range(examples)]
    gold = [frozenset({ranking[place % size]}) for place, ranking in enumerate(rankings)]
    harmonic = sum(1 / rank for rank in range(1, size + 1)) / size
    assert null_distribution("mrr", rankings, gold).expected == pytest.approx(harmonic)
    hits = null_distribution(f"recall@{k}", rankings, gold)
    assert hits.method == "exact"
    assert hits.expected == pytest.approx(k / size)
    correct = round(hits.observed * examples)
    assert hits.p == pytest.approx(stats.binom(examples, k / size).sf(correct - 1))
    averages = null_distribution("avg@3", rankings, gold)
    assert averages.expected == pytest.approx(np.mean([j / size for j in (1, 2, 3)]))
    ndcg = null_distribution("ndcg@6", rankings, gold)
    assert ndcg.expected == pytest.approx(np.mean(1 / np.log2(np.arange(2, size + 2))))


def test_choices_of_its_own_are_drawn_anew():
    choices = [[f"{place}{letter}" for letter in "abcd"] for place in range(30)]
    gold = [row[0] for row in choices]
    row = [listed[0 if place < 12 else 1] for place, listed in enumerate(choices)]
    result = null_distribution("accuracy", row, gold, choices=choices)
    assert result.expected == pytest.approx(0.25)
    assert result.p == pytest.approx(stats.binom(30, 0.25).sf(11))
    best = null_distribution("accuracy", row, gold, choices=choices, tries=20)
    assert best.p == pytest.approx(1 - stats.binom(30, 0.25).cdf(11) ** 20)
    cdf = stats.binom(30, 0.25).cdf(np.arange(31)) ** 20
    assert best.expected_best == pytest.approx((np.arange(31) * np.diff(cdf, prepend=0)).sum() / 30)


def test_constant_answers_are_no_evidence():
    gold = ["yes"] * 8 + ["no"] * 2
    result = null_distribution("accuracy", ["yes"] * 10, gold)
    assert (result.observed, result.expected, result.p) == (0.8, pytest.approx(0.8), pytest.approx(1.0))


def test_strata_of_types():
    """An answer of the correct type is no evidence, because types of answers are strata."""
    gold = ["3", "4", "yes", "yes", "blue", "red"]
    row = ["3", "3", "yes", "yes", "blue", "blue"]
    by_type = null_distribution("exact_match", row, gold)
    assert by_type.strata == 3
    assert by_type.expected == pytest.approx((0.5 * 2 + 1 * 2 + 0.5 * 2) / 6)
    assert by_type.fixed == pytest.approx(2 / 6)
    assert null_distribution("exact_match", row, gold, strata=[0] * 6).strata == 1


@pytest.mark.parametrize("seed", range(3))
def test_clusters_move_as_wholes(seed):
    generator = np.random.default_rng(seed)
    clusters, gold = np.repeat(np.arange(4), 2), generator.integers(3, size=8)
    arrangements = Arrangements.within(gold.tolist(), [0] * 8, clusters, {})
    pairs = {tuple(gold[2 * place : 2 * place + 2]) for place in range(4)}
    for codes in arrangements.all():
        moved = np.array(arrangements.golds)[codes]
        assert {tuple(moved[2 * place : 2 * place + 2]) for place in range(4)} <= pairs
    assert len(arrangements.all()) == arrangements.count
    draws = next(arrangements.draws(generator, 3000))
    drawn_pairs = np.array(arrangements.golds)[draws].reshape(-1, 2)
    assert {*map(tuple, drawn_pairs.tolist())} == pairs
    counts = np.unique(draws, axis=0, return_counts=True)[1]
    assert len(counts) == arrangements.count
    assert stats.chisquare(counts).pvalue > 1e-4


@pytest.mark.thorough
@pytest.mark.parametrize(
    "name",
    [
        *("accuracy", "f1_macro", "mrr", "pairwise_accuracy"),
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in ("kappa", "token_f1", "spearman", "jaccard")
        ),
    ],
)
def test_false_positives_of_dependent_candidates(name):
    """Candidates that answer alike, without skill, are found better in at most 5 % of searches."""
    runs, false_positives = 300, 0
    for seed in range(runs):
        generator = np.random.default_rng(seed)
        rows, gold = small_case(name, 6, examples=24, seed=seed)
        for row in rows[1:]:  # most answers are those of the first candidate
            for place in np.flatnonzero(generator.random(24) < 0.7):
                row[place] = rows[0][place]
        # gold answers are unbalanced, and one answer is preferred
        if metric(name).answers == "label":
            gold = generator.choice(3, 24, p=[0.7, 0.2, 0.1]).tolist()
        false_positives += null_distribution(name, rows, gold, draws=199, seed=seed).p <= 0.05
    assert false_positives <= stats.binom(runs, 0.05).ppf(0.9999)


def test_several_tries_of_one_known_candidate():
    generator = np.random.default_rng(0)
    gold, row = generator.integers(5, size=(2, 40))
    row[:12] = gold[:12]
    single = null_distribution("f1_macro", row, gold, draws=20_000)
    many = null_distribution("f1_macro", row, gold, tries=50, draws=20_000)
    assert many.p == pytest.approx(1 - (1 - single.p) ** 50)
    assert many.expected_best > single.expected_best
    assert "The others are assumed to be independent" in " ".join(many.sentences(["1"]))
    assert null_distribution("f1_macro", row, gold, tries=1000, draws=100).draws == 100_000


def test_errors_are_better_if_lower():
    generator = np.random.default_rng(0)
    gold = generator.normal(size=40)
    rows = [(gold + 0.3 * generator.normal(size=40)).tolist(), generator.normal(size=40).tolist()]
    result = null_distribution("rmse", rows, gold.tolist())
    assert result.best == 0
    assert result.p < 0.01
    assert result.expected_best < result.expected


@pytest.mark.parametrize("scale", [1e-12, 1e9])
def test_scale_of_numbers_does_not_matter(scale):
    generator = np.random.default_rng(0)
    predictions, gold = generator.normal(size=(2, 30))
    plain = null_distribution("mae", predictions, gold, draws=500)
    scaled = null_distribution("mae", scale * predictions, scale * gold, draws=500)
    assert scaled.p == plain.p
    assert scaled.expected == pytest.approx(scale * plain.expected)


@pytest.mark.parametrize("name", ["mse", "rmse", "mae"])
def test_errors_of_numbers_of_several_sizes(name):
    """The largest error by chance says nothing about the rounding of the observed one."""
    generator = np.random.default_rng(1)
    gold = [4.0, 9.0, 15.0, 22.0, 40.0, 5e6, 7e9]
    prediction = [*(np.array(gold[:5]) + generator.permutation([1, -1, 2, 0, 1])), 5e6, 7e9]
    function = metric(name).value
    observed = function(objects(prediction), objects(gold))
    values = np.array([function(objects(prediction), objects(order)) for order in permutations(gold)])
    result = null_distribution(name, [prediction], gold)
    assert result.method == "enumeration"
    assert result.p == pytest.approx((values <= observed * (1 + 1e-9)).mean())
    assert result.p < 0.01


def test_a_correlation_far_from_zero():
    generator = np.random.default_rng(0)
    gold = 1.7e9 + generator.random(7) * 600
    prediction = gold + generator.random(7) * 60
    result = null_distribution("pearson", [prediction.tolist()], gold.tolist())
    centred = null_distribution("pearson", [(prediction - 1.7e9).tolist()], (gold - 1.7e9).tolist())
    assert result.p == pytest.approx(centred.p)
    assert result.values[0] == pytest.approx(stats.pearsonr(prediction, gold).statistic, abs=1e-6)
    for side in ([0.1] * 4, [0.1] * 6):  # the mean of the first is exact
        with pytest.raises(
            InputError, match="pearson is not defined for candidate 0.*are all its predictions the same"
        ):
            null_distribution("pearson", [side], [1.0, 2.0, 4.0, 3.0, 7.0, 5.0][: len(side)])
    with pytest.raises(InputError, match="pearson is not defined for candidate 'flat': its value"):
        null_distribution("pearson", [[1.0, 2, 3, 4], [1] * 4], [1, 2, 4, 3], names=["good", "flat"])
    for names, name in (([], "1"), (["good"], "1"), (pd.Index([7, 8]), "'8'")):
        with pytest.raises(InputError, match=f"pearson is not defined for candidate {name}: its value"):
            null_distribution("pearson", [[1.0, 2, 3, 4], [1] * 4], [1, 2, 4, 3], names=names)


@pytest.mark.parametrize("unit", [1e-170, 1.0, 1e160])
def test_a_correlation_has_no_unit(unit):
    gold, prediction = np.array([1.0, 2.0, 4.0, 3.0]), np.array([1.0, 3.0, 3.5, 2.0])
    result = null_distribution("pearson", [(unit * prediction).tolist()], (unit * gold).tolist())
    expected = null_distribution("pearson", [prediction.tolist()], gold.tolist())
    assert (result.values[0], result.p) == pytest.approx((expected.values[0], expected.p))
    assert result.values[0] == pytest.approx(stats.pearsonr(prediction, gold).statistic)


def test_small_numbers_have_digits_in_sentences():
    gold = [0.001 * place for place in range(8)]
    result = null_distribution("mse", [[value + 0.0002 for value in gold]], gold)
    first, second, _ = result.sentences(["a"])
    assert first == "mse: 0.0000000400."
    assert second == "By chance, it would score 0.0000105400 on average."
    large = null_distribution(
        "mse", [[1000 * value + 0.5 for value in gold]], [1000 * value for value in gold]
    )
    assert large.sentences(["a"])[0] == "mse: 0.250."


def test_functions_of_users():
    def agreement(predictions, gold):
        return sum(p == g for p, g in zip(predictions, gold, strict=True)) / len(gold)

    row, gold = list("aabbc"), list("aabcb")
    result = null_distribution(agreement, row, gold)
    assert result.p == pytest.approx(null_distribution("accuracy", row, gold).p)
    vectorized = Metric("agreement", "", lambda p, g: (p == g).mean(axis=-1), vectorized=True)
    assert null_distribution(vectorized, row, gold).p == pytest.approx(result.p)
    wrong = Metric("wrong", "", lambda p, g: 0.25, terms=metric("accuracy").terms)
    with pytest.raises(
        InputError, match=r"wrong: its terms give 0.6 for candidate 0, but its definition 0.25"
    ):
        null_distribution(wrong, row, gold)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("accuracy", ["a"], ["a", "b"]), "candidate 0 has 1 predictions, but there are 2 gold answers"),
        (("accuracy", [], []), "candidate 0 has 0 predictions, but there are 0 gold answers"),
        (("accuracy", ["a", "b"], ["a", "a"]), "no gold answer of the 2 examples can change its place"),
        (
            ("accuracy", ["a", "b"], ["a", "b"], [0, 1]),
            "no gold answer of the 2 examples can change its place",
        ),
        (("accuracy", ["a", "b"], ["a", "b"], [0]), "1 strata for 2 examples"),
        (("pearson", [1.0, 1.0, 1.0], [1.0, 2.0, 3.0]), "pearson is not defined for candidate 0"),
        (("pearson", [1.0, float("nan")], [1.0, 2.0]), "a number is nan; expected a finite one"),
    ],
)
def test_errors(arguments, message):
    with pytest.raises(InputError) as error:
        null_distribution(*arguments)
    assert str(error.value).startswith(message)


def test_fewer_tries_than_candidates():
    for tries in (2.5, float("inf"), float("nan")):
        with pytest.raises(InputError, match=f"tries is {tries}, but there are 2 candidates"):
            null_distribution("accuracy", [["a", "b"], ["b", "a"]], ["a", "b"], tries=tries)
    with pytest.raises(InputError, match="tries is 1, but there are 2 candidates"):
        null_distribution("accuracy", [["a", "b"], ["b", "a"]], ["a", "b"], tries=1)


def test_a_list_of_lists_is_one_candidate_if_predictions_are_lists():
    rankings = [["a", "b"], ["b", "a"]]  # as many items as examples
    result = null_distribution("mrr", rankings, [["a"], ["a"]], strata=[0, 1])
    assert result.values == pytest.approx([0.75])
    two = null_distribution("mrr", [rankings, rankings[::-1]], [["a"], ["a"]], strata=[0, 1])
    assert two.values == pytest.approx([0.75, 0.75])


def test_many_different_texts():
    texts = [f"answer {place}" for place in range(3000)]
    result = null_distribution("exact_match", texts[:30] + texts[:2970], texts, draws=200)
    assert result.observed == pytest.approx(30 / 3000)
    assert result.expected == pytest.approx(np.mean([1.0] * 3000) / 3000)
    assert result.p == pytest.approx(1 / 201)


def test_too_many_tries_for_one_candidate():
    generator = np.random.default_rng(0)
    gold, row = generator.integers(5, size=(2, 60))
    with pytest.raises(InputError, match="tries without results: 999,999; even from 1,000,000 random draws"):
        null_distribution("f1_macro", row, gold, tries=10**6)
    with pytest.raises(InputError, match="tries is 3, but there are 1 candidates"):
        null_distribution("f1_macro", row, gold, tries="3")


def test_many_tries_have_as_many_draws_as_are_allowed(monkeypatch):
    monkeypatch.setattr(more_tries, "MOST_DRAWS", 2000)
    generator = np.random.default_rng(0)
    gold, row = generator.random((2, 30))
    result = null_distribution("pearson", row, gold, draws=500, tries=60)
    assert (result.draws, result.p) == (2000, pytest.approx(1 - (1 - result.p_single) ** 60))


def test_many_sets_of_relevant_items_are_never_exact():
    rankings = [tuple(f"{place}-{item}" for item in range(100)) for place in range(3)]
    gold = [frozenset(f"{place}-{item}" for item in (0, 1, 2)) for place in range(3)]
    result = null_distribution("recall@5", rankings, gold)
    assert (result.method, result.draws) == ("permutation", 10_000)
    assert result.p == pytest.approx(1 / 10_001)
    assert result.expected == pytest.approx(0.05, abs=0.005)


@pytest.mark.parametrize("name", ["f1_macro", "balanced_accuracy"])
def test_many_labels_of_a_single_candidate(name):
    gold, row = np.random.default_rng(0).integers(10, size=(2, 500))
    assert null_distribution(name, row, gold, draws=500).method == "permutation"


def test_tables_of_pandas():
    table = pd.DataFrame([["a", "b", "a", "b"], ["a", "b", "b", "b"]])
    gold = pd.Series(["a", "b", "a", "b"])
    assert null_distribution("accuracy", table, gold).values.tolist() == [1.0, 0.75]
    rows = [table.loc[0], table.loc[1]]
    assert null_distribution("accuracy", rows, gold).values.tolist() == [1.0, 0.75]


def test_texts_are_no_sets():
    with pytest.raises(InputError, match=r"an answer is 'A\|C'; expected a list or set of items"):
        null_distribution("jaccard", ["A|C", "A"], ["A|C", "A"])


def test_accepted_texts_as_lists():
    result = null_distribution("exact_match", ["NYC", "LA"], [["NYC", "New York"], ["LA"]])
    assert result.observed == 1.0
    with pytest.raises(InputError, match="an answer is None; expected a text"):
        null_distribution("token_f1", ["a", None], ["a", "b"])
    with pytest.raises(InputError, match="a number is 'x'; expected a finite one"):
        null_distribution("mae", [1.0, "x"], [1.0, 2.0])


def test_a_function_that_changes_its_arguments_does_no_harm():
    def sorted_accuracy(predictions, gold):
        value = float((predictions == gold).mean())
        predictions.sort()
        gold.sort()
        return value

    row, gold = ["b", "a", "c", "c"], ["b", "a", "c", "a"]
    result = null_distribution(sorted_accuracy, row, gold)
    accuracy = null_distribution("accuracy", row, gold)
    assert (result.observed, result.p) == (accuracy.observed, pytest.approx(accuracy.p))
    with pytest.raises(InputError, match="expected a number"):
        null_distribution(lambda predictions, gold: predictions == gold, row, gold)

    def broken(predictions, gold):
        return 1 / 0

    with pytest.raises(InputError) as error:
        null_distribution(broken, row, gold)
    assert str(error.value) == "broken: failed with ZeroDivisionError: division by zero"


@pytest.mark.parametrize("candidates", [1, 3])
def test_the_error_of_p_with_more_tries(candidates):
    """The standard error of the p-value is that over random seeds."""
    gold, *rows = np.random.default_rng(1).normal(size=(1 + candidates, 60))
    rows[0] += 0.35 * gold  # the first is the best
    for tries in (None, 10):
        results = [
            null_distribution("pearson", rows, gold, tries=tries, draws=500, seed=seed) for seed in range(150)
        ]
        error = np.mean([result.p_error for result in results])
        assert error == pytest.approx(np.std([result.p for result in results]), rel=0.12)
        assert 0.01 < np.mean([result.p for result in results]) < 0.6


def test_numbers_with_commas_are_numbers_like_others():
    gold = ["10", "11", "12", "13", "14", "15", "1,000", "2,500"]
    assert null_distribution("exact_match", [gold], gold).strata == 1


@pytest.mark.parametrize("missing", [None, float("nan"), np.float32("nan"), pd.NA, pd.NaT])
def test_a_gold_answer_that_is_missing_is_told(missing):
    with pytest.raises(InputError, match="example 1: the gold answer is missing"):
        null_distribution("accuracy", [*"aba"], np.ma.array([*"aba"], mask=[False, True, False]))
    masked = np.ma.array([*"abb"], mask=[True, False, False])
    expected = null_distribution("accuracy", [None, *"bb"], [*"aba"]).observed
    assert null_distribution("accuracy", masked, [*"aba"]).observed == expected
    choices = pd.Series([[*"ab"]] * 3, index=[5, 6, 7])
    assert null_distribution("accuracy", [*"abb"], [*"aba"], choices=choices).observed == pytest.approx(2 / 3)
    with pytest.raises(InputError, match="example 1: the gold answer is missing"):
        null_distribution("accuracy", [1, 2, 1], [1, missing, 2])


@pytest.mark.parametrize(("metric", "sign"), [("accuracy", 1), ("mse", -1)])
def test_the_best_of_several_is_expected_to_be_no_worse_than_one(metric, sign):
    values = [[1, 2, 1, 2, 2, 1], [2, 2, 1, 1, 2, 2]]
    result = null_distribution(metric, values, [1, 2, 2, 1, 2, 2])
    assert result.higher_is_better == (sign > 0)
    # draws can have another mean than the exact one of a single candidate
    shifted = replace(result, expected=result.distribution.mean + sign * 0.01)
    assert shifted.expected_best == shifted.expected
    assert replace(result, expected=result.distribution.mean - sign).expected_best == result.distribution.mean


def test_members_of_clusters_are_permuted_within_strata_in_any_order():
    gold, strata, clusters = np.array(list("xyyx")), np.array(list("ABAB")), np.array([0, 0, 1, 1])
    for order in ([0, 1, 2, 3], [0, 1, 3, 2], [3, 0, 2, 1]):
        answers, units = gold[order], clusters[order]
        result = null_distribution("accuracy", answers, answers, strata[order], clusters=units)
        assert (result.p, result.expected, result.fixed) == (0.5, 0.5, 0)


def test_rankings_with_items_of_their_own_have_the_values_of_their_own_answers(monkeypatch):
    """The cells of an example are those of the gold answers that it can have."""
    generator = np.random.default_rng(0)
    rankings = [tuple(generator.permutation([f"{query}{item}" for item in "abcde"])) for query in range(6)]
    gold = [frozenset(ranking[:2]) for ranking in map(generator.permutation, rankings)]
    result = null_distribution("ndcg@3", [rankings], gold, draws=4000)
    (discounts, ideal) = (1 / np.log2([2, 3, 4, np.inf, np.inf]), 1 + 1 / np.log2(3))
    assert result.expected == pytest.approx(2 / 5 * discounts.sum() / ideal)
    pairs = [discounts[[first, second]].sum() / ideal for first in range(5) for second in range(first)]
    simulated = generator.choice(pairs, (100_000, 6)).mean(axis=1)
    assert result.p == pytest.approx((simulated >= result.observed - 1e-9).mean(), abs=0.03)


def test_other_tries_are_independent_however_similar_the_candidates_are():
    generator = np.random.default_rng(7)
    gold = generator.integers(2, size=60)
    row = np.where(generator.random(60) < 0.25, gold, generator.integers(2, size=60))
    single = null_distribution("accuracy", row, gold)
    for name, candidates in (("accuracy", 1), ("accuracy", 3), ("mse", 10)):
        result = null_distribution(name, [row] * candidates, gold, tries=30, seed=candidates)
        different = 31 - candidates
        assert result.p == pytest.approx(1 - (1 - single.p) ** different, abs=4 * result.p_error + 1e-9)
        # the error is 1 - accuracy
        best = single.distribution.best_of(different)
        expected = best.mean if name == "accuracy" else 1 - best.mean
        assert result.expected_best == pytest.approx(expected, abs=0.002)
        assert result.tries == 30


def test_the_best_of_two_independent_numbers():
    values, weights = np.array([0.0, 1.0, 3.0]), np.array([0.2, 0.5, 0.3])
    first, second = Discrete(values, weights), Discrete(np.array([1.0, 2.0]), np.array([0.6, 0.4]))
    for sign, better in ((1, max), (-1, min)):
        expected: dict[float, float] = {}
        for (x, p), (y, q) in product(
            zip(values, weights, strict=True), zip(second.values, second.weights, strict=True)
        ):
            expected[better(x, y)] = expected.get(better(x, y), 0.0) + p * q
        result = first.best_with(second, sign)
        assert dict(zip(result.values, result.weights, strict=True)) == pytest.approx(expected)
        np.testing.assert_allclose(first.best_with(first, sign).weights, first.best_of(2, sign).weights)


@given(st.lists(st.lists(st.sampled_from([0.0, 0.5, 2.0]), min_size=4, max_size=4), min_size=4, max_size=4))
@settings(max_examples=60, deadline=None)
def test_sums_of_any_cells(cells):
    """Also of examples that match several gold answers, and of gold answers that match several examples."""
    table = np.array(cells)
    exact = of_stratum(table)
    sums = [table[range(4), order].sum() for order in permutations(range(4))]
    values, counts = np.unique(sums, return_counts=True)
    np.testing.assert_allclose(exact.values, values)
    np.testing.assert_allclose(exact.weights, counts / 24)


def test_an_example_alone_draws_its_relevant_items_only_if_all_rank_the_same_items():
    rankings = [("a", "b", "c", "d"), ("p", "q", "r"), ("u", "v"), ("x", "y", "z"), ("y", "x", "z")]
    relevant = [frozenset("ab"), frozenset("p"), frozenset("uv"), frozenset("x"), frozenset("x")]
    result = null_distribution("recall@1", rankings, relevant)
    # all items of the third example are relevant, and the last two exchange equal sets
    assert result.fixed == pytest.approx(3 / 5)
    assert result.expected == pytest.approx((1 / 4 + 1 / 3 + 1 / 2 + 1 + 0) / 5)
    other_items = [("a", "b", "c", "e"), *rankings[1:]]
    assert null_distribution("recall@1", [rankings, other_items], relevant).fixed == pytest.approx(4 / 5)
    outside = [frozenset("ae"), *relevant[1:]]  # e is not in the ranking
    assert null_distribution("recall@1", rankings, outside).fixed == pytest.approx(4 / 5)


def test_the_order_of_candidates_does_not_decide_the_strata_of_rankings():
    # A ranks the same items in each example, B others: no gold item of B can change its place
    generator = np.random.default_rng(0)
    names = [f"d{place}" for place in range(12)]
    gold = [{name} for name in names]
    first = [list(generator.permutation(names)) for _ in gold]
    second = [list(generator.permutation([name, f"x{name}", f"y{name}"])) for name in names]
    for rows in ([first, second], [second, first]):
        with pytest.raises(InputError, match="can change its place"):
            null_distribution("mrr", rows, gold)


def test_rankings_in_strata_are_no_single_ranking():
    row, gold = [1.0, 2.0, 3.0, 4.0], [2.0, 1.0, 3.0, 4.0]
    result = null_distribution("kendall", row, gold, strata=["low", "low", "high", "high"])
    assert (result.method, result.strata) == ("enumeration", 2)
    values = [
        stats.kendalltau(row, [*low, *high]).statistic
        for low, high in product(permutations(gold[:2]), permutations(gold[2:]))
    ]
    assert result.expected == pytest.approx(np.mean(values))
    assert result.p == pytest.approx(np.mean(np.array(values) >= result.observed - 1e-9))
    assert "all permutations of the gold answers, within 2 strata" in " ".join(result.sentences(["a"]))


def test_a_metric_that_some_permutations_leave_undefined():
    def of_first(predictions, gold):
        return float("nan") if gold[0] == "b" else 1.0

    with pytest.raises(InputError) as error:
        null_distribution(of_first, ["a", "b", "a"], ["a", "b", "a"])
    assert str(error.value) == (
        "of_first is not defined for some permutations of the gold answers; use another metric, or more "
        "examples"
    )


def test_so_many_tries_that_no_draws_are_enough():
    check_draws(1_000_000, 51_000)
    check_draws(1, 0)
    with pytest.raises(InputError) as error:
        check_draws(1_000_000, 52_000)
    assert str(error.value) == (
        "tries without results: 52,000; even from 1,000,000 random draws, no p-value can be 0.05 or less"
    )


def test_the_exact_tail_of_one_candidate_counts_for_the_other_tries():
    """So many tries need no more random permutations of all candidates."""
    generator = np.random.default_rng(0)
    gold = generator.integers(4, size=200)
    rows = generator.integers(4, size=(20, 200))
    rows[5, :110] = gold[:110]
    single = null_distribution("accuracy", rows[5], gold)
    result = null_distribution("accuracy", rows, gold, tries=12_000.0, draws=1000)
    assert (result.method, result.draws, result.p_single) == ("permutation", 1000, single.p)
    assert result.p == pytest.approx(1 - (1 - 1 / 1001) * (1 - single.p) ** 11_980)


def test_a_metric_of_ones_own_may_take_labels_as_equal_that_are_written_differently():
    def forgiving(predictions, gold):
        return float(np.mean([p.casefold() == g.casefold() for p, g in zip(predictions, gold, strict=True)]))

    result = null_distribution(forgiving, ["Yes", "No"] * 6, ["yes", "no"] * 6)
    assert (result.observed, result.p) == (1.0, pytest.approx(1 / comb(12, 6)))


@pytest.mark.parametrize("name", ["kendall", "pairwise_accuracy"])
def test_a_metric_of_ones_own_has_nothing_from_one_that_is_built_in_under_its_name(name):
    def value(predictions, gold):
        return abs(stats.kendalltau(predictions, gold).statistic)

    predictions, gold = [1, 2, 3, 4, 5, 6], [2, 1, 3, 4, 6, 5]
    unnamed = null_distribution(Metric("another", "", value, "number"), predictions, gold)
    named = null_distribution(Metric(name, "", value, "number"), predictions, gold)
    assert (named.expected, named.p, named.method) == (unnamed.expected, unnamed.p, "enumeration")
    assert unnamed.p == pytest.approx(
        np.mean([value(predictions, row) >= value(predictions, gold) - 1e-9 for row in permutations(gold)])
    )
    value.__name__ = name
    assert null_distribution(value, predictions, gold).p == unnamed.p


def test_an_exact_match_of_ones_own_may_read_numbers():
    def exact_match(predictions, gold):
        return float(np.mean([float(p) == float(g) for p, g in zip(predictions, gold, strict=True)]))

    of_numbers = Metric("exact_match", "", exact_match, "text")
    result = null_distribution(of_numbers, ["1.0", "2.0", "3.0", "5.0"], ["1", "2", "3", "4"])
    assert (result.observed, result.p) == (0.75, pytest.approx(1 / 24))


def equal(predictions, gold):
    return float(np.mean(predictions == gold))


def same_cells(predictions, gold):
    return np.ones((len(predictions), len(gold)))


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        ({"vectorized": True}, r"own: returned an array of the shape \(\) and the type float64; expected "),
        ({"terms": lambda _, __: Terms(lambda a, b: np.ones((len(a), 1)))}, r"own: .* the shape \(\d+, 1\)"),
        ({"terms": lambda _, __: Terms(lambda a, b: np.array([["x"] * len(b)] * len(a)))}, "the type <U1"),
        ({"terms": lambda _, __: 1 / 0}, "own: failed with ZeroDivisionError: division by zero"),
        ({"terms": lambda _, __: Terms(lambda a, b: a / 0)}, "own: failed with TypeError"),
        ({"terms": lambda _, __: Terms(lambda a, b: [[1] * len(b)])}, r"own: .* the shape \(1, \d\)"),
        ({"terms": lambda _, __: None}, "own: its terms are None; expected Terms"),
        ({"terms": lambda _, __: Terms(same_cells, 0.0, lambda: 1)}, "own: failed with TypeError"),
        ({"terms": lambda _, __: Terms(same_cells, 0.0, lambda sums: sums[:, None])}, r"own: .*\(1, 1\)"),
    ],
)
def test_a_metric_of_ones_own_that_fails_is_named(metric, message):
    with pytest.raises(InputError, match=message):
        null_distribution(
            Metric("own", "", equal, **metric), ["a", "b", "c", "a"] * 9, ["a", "b", "a", "c"] * 9
        )
    with pytest.raises(
        InputError, match=r"metric 'own': answers 'numbers' is unknown; did you mean 'number'\?"
    ):
        Metric("own", "", equal, answers="numbers")


def test_terms_of_a_metric_of_ones_own_get_the_labels_themselves():
    """Three of eleven labels are rare, and count ten times if they are right."""

    def credit(prediction, gold):
        return (10.0 if gold == "rare" else 1.0) * (prediction == gold)

    def value(predictions, gold):
        return float(np.mean([credit(p, g) for p, g in zip(predictions, gold, strict=True)]))

    def terms(predictions, gold):
        return Terms(lambda p, g: np.array([[credit(a, b) / len(predictions) for b in g] for a in p]))

    gold = ["rare"] * 3 + ["b"] * 4 + ["c"] * 4
    row = ["rare"] * 3 + ["c"] * 4 + ["b"] * 4
    plain, summed = (
        null_distribution(Metric("credit", "", value, terms=of_metric), row, gold, draws=20_000)
        for of_metric in (None, terms)
    )
    assert plain.observed == summed.observed == pytest.approx(30 / 11)
    assert summed.expected == pytest.approx(plain.expected, abs=0.02)
    assert summed.p == pytest.approx(plain.p, abs=0.003)


def test_arrays_of_arrow_hold_the_labels_of_python():
    labels = [1, 2, 3, 4, 1, 2]
    for row, gold in (
        (labels, pa.array(labels)),
        (pa.array(labels), labels),
        ([pa.array(labels)] * 2, labels),
    ):
        assert null_distribution("accuracy", row, gold).observed == 1.0
    assert null_distribution("accuracy", list(pa.array(labels)), labels).observed == 1.0
    choices = [pa.array(["a", "b", "c"])] * 2
    assert null_distribution("accuracy", ["a", "b"], ["a", "c"], choices=choices).observed == 0.5
    with pytest.raises(InputError, match="example 1: the gold answer is missing"):
        null_distribution("accuracy", ["a", "b"], pa.array(["a", None]))


def test_a_single_candidate_has_permutations_of_its_own():
    gold, *rows = np.random.default_rng(1).normal(size=(4, 40))
    rows[0] += 0.1 * gold  # the best one
    known_tries = null_distribution("pearson", rows, gold, draws=500)
    result = null_distribution("pearson", rows, gold, tries=4, draws=500)
    assert known_tries.best == result.best == 0
    assert result.p_single != known_tries.p_single == pytest.approx(result.p_single, abs=0.1)
    assert result.draws == 500
    assert null_distribution("pearson", rows, gold, tries=30, draws=500).draws == 2800


def test_of_candidates_that_tie_up_to_rounding_the_first_is_the_best():
    # the kappa of both is 1/2, which is computed as 0.4999999999999999 for one of them
    candidates, gold = [list("abbacc"), list("bbbaca")], list("aabaca")
    for order in (candidates, candidates[::-1]):
        result = null_distribution("kappa", order, gold, tries=20)
        single = null_distribution("kappa", order[0], gold)
        assert result.best == 0
        assert result.p_single == pytest.approx(single.p)


@pytest.mark.parametrize(
    ("observed", "expected", "first"),
    [
        (0.9, 0.05, "0.9000"),  # the digits are those of the smaller number
        (0.01, 0.005, "0.01000"),
        (0.5, 0.0004, "0.500"),  # but not if this is about 0
        (1.05, 1.05, "1.050"),
        (2.0, 12.0, "2.000"),
    ],
)
def test_sentences_have_three_digits_of_both_numbers(observed, expected, first):
    result = null_distribution("accuracy", list("aabb"), list("aabb"))
    result = replace(result, values=np.array([observed]), expected=expected)
    assert result.sentences(["a"])[0] == f"accuracy: {first}."


def test_the_p_value_of_one_candidate_is_that_of_a_single_try():
    result = null_distribution("accuracy", list("aabba"), list("aabbb"))
    assert result.method == "exact"
    assert result.p_single == result.p


def test_the_seed_decides_all_draws():
    gold, *rows = np.random.default_rng(2).normal(size=(4, 40))
    rows[0] += 0.1 * gold
    results = [null_distribution("pearson", rows, gold, tries=20, draws=500, seed=seed) for seed in (3, 3, 4)]
    assert (results[0].p, results[0].p_single) == (results[1].p, results[1].p_single)
    assert results[0].p_single != results[2].p_single


def test_so_few_draws_of_all_candidates_that_more_of_one_do_not_help():
    gold, *rows = np.random.default_rng(2).normal(size=(4, 40))
    with pytest.raises(InputError) as error:
        null_distribution("pearson", rows, gold, tries=4, draws=10)
    assert str(error.value).startswith(
        "tries without results: 1; from 10 random draws, no p-value can be 0.05"
    )


def test_a_function_without_a_name():
    def weighted(weight, predictions, gold):
        return weight * sum(p == g for p, g in zip(predictions, gold, strict=True))

    # values far below 1 are not taken as 0
    result = null_distribution(partial(weighted, 1e-13), list("aabbc"), list("aabcb"))
    assert result.metric == "metric"
    assert result.p == pytest.approx(null_distribution("accuracy", list("aabbc"), list("aabcb")).p)


def test_attempts_at_numbers_and_words_are_strata():
    attempts = [("1", "2"), ("4", "4"), ("red", "blue"), ("blue", "red")]
    assert null_distribution("pass@2", attempts, ["1", "4", "red", "green"]).strata == 2


def test_the_candidate_whose_terms_are_wrong_is_named():
    accuracy = metric("accuracy")
    at_least = Metric("at_least", "", lambda p, g: max(np.mean(p == g), 0.4), terms=accuracy.terms)
    with pytest.raises(
        InputError, match=r"at_least: its terms give 0.2 for candidate 1, but its definition 0.4"
    ):
        null_distribution(at_least, [list("abcde"), list("aaaaa")], list("abcde"))


def test_a_sum_of_too_many_values_is_permuted():
    """Each of 40 strata adds one of two numbers, and all sums differ."""
    labels = np.arange(80)

    def terms(row, gold):
        return Terms(lambda p, g: np.sqrt(np.outer(p + 1.0, g + 1.0)))

    def value(predictions, gold):
        return np.sqrt((np.asarray(predictions, float) + 1) * (np.asarray(gold, float) + 1)).sum()

    result = null_distribution(
        Metric("products", "", value, terms=terms), labels.tolist(), labels.tolist(), labels // 2, draws=200
    )
    assert (result.method, result.p) == ("permutation", pytest.approx(1 / 201))


def test_orders_of_clusters_are_not_those_of_examples():
    row, gold = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [2.0, 1.0, 3.0, 4.0, 6.0, 5.0]
    result = null_distribution("kendall", row, gold, clusters=[0, 0, 1, 1, 2, 2])
    pairs = [gold[:2], gold[2:4], gold[4:]]
    values = [stats.kendalltau(row, np.concatenate(order)).statistic for order in permutations(pairs)]
    assert result.method == "enumeration"
    assert result.p == pytest.approx(np.mean(np.array(values) >= result.observed - 1e-9)) == 1 / 6
