"""Smaller benchmarks: anchors, estimates from them, and what is said of their cost."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.cluster import KMeans

from abovechance.core.errors import InputError
from abovechance.items.anchors import (
    OF_RESPONSES,
    Anchors,
    by_correlation,
    by_parameters,
    by_responses,
    stratified,
)
from abovechance.items.estimates import gp_irt, model_error, p_irt, share_of_weighted, weighted
from abovechance.items.response_theory import Items, fit
from abovechance.items.series_rows import SeriesRows
from abovechance.items.smaller import _Pairs, costs, flipped_pairs
from tests.items.test_response_theory import simulated


@pytest.mark.parametrize("method", OF_RESPONSES)
def test_anchors_stand_for_all_items(method):
    matrix = simulated(60, 30, seed=3)[3]
    anchors = OF_RESPONSES[method](matrix, 8, 1)
    assert len(set(anchors.places)) == len(anchors.places) == 8
    assert list(anchors.places) == sorted(anchors.places)
    assert anchors.weights.sum() == pytest.approx(1)
    repeated = OF_RESPONSES[method](matrix, 8, 1)
    assert (anchors.places == repeated.places).all()
    # all items are the benchmark itself
    whole = OF_RESPONSES[method](matrix, 30, 1)
    assert weighted(whole, matrix) == pytest.approx(matrix.mean(axis=1))
    for size in (0, 31):
        with pytest.raises(InputError, match=f"{size} of 30 items; expected between 1 and 30"):
            OF_RESPONSES[method](matrix, size, 1)


def test_items_with_the_same_responses_need_one_anchor():
    generator = np.random.default_rng(0)
    kinds = (generator.random((40, 3)) < 0.5).astype(float)
    matrix = kinds[:, [0, 0, 0, 0, 0, 1, 1, 1, 2, 2]]
    anchors = by_responses(matrix, 3)
    assert sorted(anchors.weights) == pytest.approx([0.2, 0.3, 0.5])
    assert weighted(anchors, matrix) == pytest.approx(matrix.mean(axis=1))
    # where there are fewer kinds than anchors are asked for, there are as many as kinds
    assert len(by_responses(matrix, 7).places) == 3


def test_each_cluster_has_an_anchor_of_its_own():
    # wide clusters have items of others nearer to their middle than any of their own
    for seed in range(0, 120, 2):
        generator = np.random.default_rng(seed)
        rows, size = int(generator.integers(1, 8)), int(generator.integers(2, 12))
        matrix = (generator.normal(size=(60, rows)) * generator.lognormal(0, 1.5, size=(60, 1))).T
        clusters = KMeans(size, n_init=1, random_state=seed).fit_predict(matrix.T)
        anchors = by_responses(matrix, size, seed)
        assert sorted(clusters[anchors.places]) == list(range(size))
        assert anchors.weights == pytest.approx(np.bincount(clusters)[clusters[anchors.places]] / 60)


@pytest.mark.filterwarnings("error")
def test_points_that_differ_by_rounding_alone_are_one_anchor():
    generator = np.random.default_rng(2)
    a, b = np.round(generator.normal(size=(40, 1)), 1), np.round(generator.normal(size=40)) * 1e-9
    anchors = by_parameters(Items(a, b, a * 0, b * 0, 0.0, 0, True), 30)
    assert len({*anchors.places}) == len(anchors.places)
    assert (anchors.weights > 0).all()
    assert anchors.weights.sum() == pytest.approx(1)


def test_anchors_by_correlation_do_not_see_how_hard_items_are():
    generator = np.random.default_rng(1)
    first, second = generator.normal(size=(2, 300, 1))
    shift = np.tile([-1.0, 0.0, 1.0], 2)
    scores = np.hstack([first + 0.01, first, first - 0.01, second, second, second]) + shift * 5
    anchors = by_correlation(scores, 2)
    assert sorted(place // 3 for place in anchors.places) == [0, 1]
    assert anchors.weights == pytest.approx([0.5, 0.5])


def test_stratified_subsets_have_items_of_all_difficulties():
    matrix = (np.arange(40)[:, None] < np.arange(20)).astype(float)
    anchors = stratified(matrix, 5, seed=2)
    assert [place // 4 for place in anchors.places] == [0, 1, 2, 3, 4]


def test_the_share_of_the_weighted_estimate_is_that_of_its_definition():
    # b^2 / (v / 400 + b^2) with 100 anchors
    assert share_of_weighted(0.05, 0.2, 100) == pytest.approx(0.0025 / (0.2 / 400 + 0.0025))
    assert share_of_weighted(np.sqrt(0.2 / 400), 0.2, 100) == pytest.approx(0.5)
    # the published ones are of errors of the model between 1 and 9 points
    for published, low, high in ((0.3247, 0.015, 0.018), (0.9162, 0.07, 0.09), (0.1394, 0.009, 0.011)):
        bias = np.sqrt(published / (1 - published) * 0.25 / 400)
        assert share_of_weighted(bias, 0.25, 100) == pytest.approx(published)
        assert low < bias < high
    assert share_of_weighted(0, 0, 10) == 0
    with pytest.raises(InputError, match="expected 0 or more"):
        share_of_weighted(-1, 0.2, 100)
    assert gp_irt([0.4], [0.6], 0.25) == pytest.approx([0.55])


def test_the_estimate_by_the_model_is_the_mean_of_what_is_seen_and_expected():
    items = Items(np.ones((4, 1)), np.array([-1.0, 0, 0.5, 1]), *[np.zeros((4, 1))] * 2, 0.0, 0, True)
    anchors = Anchors(np.array([0, 2]), np.array([0.5, 0.5]))
    responses = np.array([[1.0, np.nan, 0, np.nan], [np.nan] * 4])
    estimated = p_irt(items, anchors, responses)
    # the most likely ability of one right and one wrong, of equal discrimination, is where they add up to 1
    p = items.probability([[-0.25]])[0]
    assert p[0] + p[2] == pytest.approx(1)
    assert estimated[0] == pytest.approx((1 + 0 + p[1] + p[3]) / 4, abs=1e-6)
    assert np.isnan(estimated[1])
    assert np.isnan(weighted(anchors, responses)[1])
    everything = Anchors(np.arange(4), np.full(4, 0.25))
    assert p_irt(items, everything, [[1.0, 0, 1, 0]]) == pytest.approx([0.5])


def test_where_the_model_is_true_its_estimate_is_nearer():
    _a, _b, _, matrix = simulated(400, 120, seed=5)
    train, test = matrix[:300], matrix[300:]
    items = fit(train)
    anchors = by_parameters(items, 15, seed=0)
    errors = {
        "weighted": weighted(anchors, test) - test.mean(axis=1),
        "p-IRT": p_irt(items, anchors, test) - test.mean(axis=1),
    }
    assert np.abs(errors["p-IRT"]).mean() < 0.9 * np.abs(errors["weighted"]).mean()
    # of 60 items the model's mean is off by no more than the noise of the other 60
    assert model_error(matrix) == pytest.approx(0.05, abs=0.02)
    # and where it is not true, by more: better rows do worse on every second item
    turned = matrix.copy()
    covered = np.arange(400) % 5 == 0
    turned[np.ix_(covered, np.arange(120) % 2 == 1)] = 0
    assert model_error(turned) > 0.3


def test_flips_of_pairs_as_in_the_paper():
    # 70 models have 2,415 pairs, of which 294 are turned round: 12.17 %
    order = np.arange(70.0)
    turned, remaining = order.copy(), 294
    while remaining:
        for place in range(69):
            if remaining and turned[place] < turned[place + 1]:
                turned[[place, place + 1]] = turned[[place + 1, place]]
                remaining -= 1
    assert len(order) * (len(order) - 1) / 2 == 2415
    assert flipped_pairs(order, turned) == pytest.approx(294 / 2415)
    assert round(100 * flipped_pairs(order, turned), 2) == 12.17
    assert stats.kendalltau(order, turned).statistic == pytest.approx(1 - 2 * flipped_pairs(order, turned))


def test_flips_where_there_are_ties():
    # pairs that are equal on all examples do not count, those that the estimate finds equal count half
    assert flipped_pairs([1, 1, 2], [5, 6, 7]) == 0
    assert flipped_pairs([1, 2, 3], [1, 1, 2]) == pytest.approx(1 / 6)
    assert np.isnan(flipped_pairs([1, 1], [1, 2]))
    assert flipped_pairs([1, 2, 3], [2, np.nan, 1]) == 1
    tied = [1, 1, 2]
    assert stats.kendalltau([1, 2, 3], tied).statistic != pytest.approx(
        1 - 2 * flipped_pairs([1, 2, 3], tied)
    )


def test_flips_do_not_depend_on_the_unit_of_scores():
    assert flipped_pairs([1e-13, 2e-13, 3e-13], [3e-13, 2e-13, 1e-13]) == 1
    with pytest.raises(InputError, match="one for each row"):
        flipped_pairs([1, 2, 3], [1, 2])


def test_scores_that_differ_by_rounding_are_tied():
    """Weights of strata are no whole numbers, and sums of them in another order differ in the last digit."""
    matrix = (np.random.default_rng(61).random((40, 23)) < np.linspace(0.2, 0.8, 40)[:, None]).astype(float)
    for seed in range(20):
        table = costs(matrix[:25], matrix[25:], (7,), 1, seed).set_index("method")
        anchors = stratified(matrix[:25], 7, seed)
        exact = (matrix[25:][:, anchors.places] * np.round(anchors.weights * 23)).sum(axis=1)
        expected = stats.kendalltau(matrix[25:].mean(axis=1), exact).statistic
        assert table.loc["stratified", "tau"] == pytest.approx(expected)


def test_flips_within_models_are_those_of_pairs_of_one():
    generator = np.random.default_rng(5)
    matrix = (generator.random((60, 30)) < generator.random((60, 1))).astype(float)
    models = ["a"] * 10 + ["b"] * 10
    table = costs(matrix[:40], matrix[40:], (10,), 3, models=models).set_index("method")
    values = [
        costs(matrix[:40], matrix[place : place + 10], (10,), 3).set_index("method") for place in (40, 50)
    ]
    content = matrix[40:].mean(axis=1)
    pairs = [
        sum(first != second for place, first in enumerate(rows) for second in rows[:place])
        for rows in (content[:10], content[10:])
    ]
    expected = (
        values[0].loc["random", "flips"] * pairs[0] + values[1].loc["random", "flips"] * pairs[1]
    ) / sum(pairs)
    assert table.loc["random", "flips_within"] == pytest.approx(expected)
    assert np.isnan(values[0].loc["random", "flips_within"])  # of no model that is known


def test_models_are_told_of_every_row():
    with pytest.raises(InputError, match="2 models of 3 rows"):
        costs(np.eye(3), np.eye(3), models=["a", "b"])


def test_the_model_is_not_charged_for_items_that_a_row_lacks():
    matrix = simulated(100, 60, seed=3)[3]
    train, test = matrix[:60], matrix[60:].copy()
    hard = np.argsort(matrix.mean(axis=0))[:20]
    test[::2, hard] = np.nan
    table = costs(train, test, (40,), 3).set_index("method")
    assert abs(table.loc["p-IRT", "bias"]) < 0.015
    assert table.loc["p-IRT", "error"] < 0.04


def test_costs_of_random_subsets_are_those_of_drawing_without_replacement():
    generator = np.random.default_rng(4)
    matrix = (generator.random((60, 100)) < 0.5).astype(float)
    table = costs(matrix[:30], matrix[30:], sizes=[20, 50], repeats=60).set_index(["method", "examples"])
    whole = table.loc[("all examples", 100)]
    assert whole[["error", "bias", "flips", "standard_error"]].tolist() == [0, 0, 0, 0]
    assert whole["tau"] == 1
    for size in (20, 50):
        rows = table.loc[("random", size)]
        expected = np.sqrt(0.25 / size * (100 - size) / 99)
        assert rows["standard_error"] == pytest.approx(expected, rel=0.06)
        assert rows["error"] == pytest.approx(expected * np.sqrt(2 / np.pi), rel=0.08)
        assert abs(rows["bias"]) < 0.02
    assert {"IRT", "p-IRT", "gp-IRT", "correlation", "responses", "stratified"} <= {*table.index.levels[0]}


def test_a_model_fitted_to_others_is_sure_of_what_it_gets_wrong():
    """The standard error says nothing of bias: held-out rows know what no other row does."""
    generator = np.random.default_rng(6)
    skill = generator.normal(size=(150, 1))
    train = (skill + generator.logistic(size=(150, 100)) > 0).astype(float)
    train[:, 50:] = generator.random((150, 50)) < 0.1
    test = (generator.random((50, 100)) < np.repeat([0.3, 0.9], 50)).astype(float)
    table = costs(train, test, sizes=[20], repeats=10).set_index("method")
    assert table.loc["p-IRT", "standard_error"] < 0.8 * table.loc["random", "standard_error"]
    assert table.loc["p-IRT", "error"] > 2.5 * table.loc["p-IRT", "standard_error"]
    assert table.loc["p-IRT", "error"] > 1.5 * table.loc["random", "error"]


def test_continuous_scores_have_no_item_response_model_and_gaps_are_left_out():
    generator = np.random.default_rng(7)
    matrix = generator.random((40, 30))
    matrix[generator.random(matrix.shape) < 0.1] = np.nan
    table = costs(matrix[:20], matrix[20:], sizes=[1, 10, 30], repeats=5)
    assert {*table["method"]} == {"all examples", *OF_RESPONSES}
    assert sorted(table["examples"].unique()) == [1, 10, 30]
    assert table[["error", "tau", "flips"]].notna().all(axis=None)
    with pytest.raises(InputError, match="30 items in train and 29 in test"):
        costs(matrix[:20], matrix[20:, 1:])


def test_series_have_their_deviation_and_monotonicity():
    generator = np.random.default_rng(8)
    growing = np.tile(np.linspace(0.2, 0.8, 5), 3)
    matrix = (generator.random((15, 200)) < growing[:, None]).astype(float)
    rows = SeriesRows(["t"] * 15, np.repeat([0, 1, 2], 5).tolist(), np.tile(np.arange(5), 3).tolist())
    table = costs(matrix, matrix, sizes=[20], repeats=5, rows=rows).set_index("method")
    scores = matrix.mean(axis=1).reshape(3, 5)
    whole = table.loc["all examples"]
    assert whole["seed_deviation"] == pytest.approx(scores.std(axis=0, ddof=1).mean())
    assert whole["monotonicity"] == pytest.approx(1)
    assert table.loc["random", "seed_deviation"] > 2 * whole["seed_deviation"]
    assert costs(matrix, matrix, sizes=[20], repeats=2)["monotonicity"].isna().all()


def test_rows_of_no_series_do_not_count():
    rows = SeriesRows([None, "t", "t"], [0, 0, 0], [0, 1, 2])
    matrix = np.array([[1.0, 1, 1], [0, 0, 1], [1, 0, 1]])
    table = costs(matrix, matrix, sizes=[1], repeats=2, rows=rows)
    assert pd.Series(table["monotonicity"]).iloc[0] == 1


def test_flips_among_the_best_fifth_of_the_rows():
    generator = np.random.default_rng(2)
    for _ in range(10):
        full, estimate = generator.permutation(30) / 30, generator.permutation(30) / 30
        best = full >= np.sort(full)[24]
        measures = _Pairs(full, None).measures(estimate[None])
        assert measures["flips_best"] == pytest.approx(flipped_pairs(full[best], estimate[best]))
        # rows with equal scores are all among the best, or none of them
        tied, order = (full * 10).round(), generator.permutation(30)
        expected = _Pairs(tied, None).measures(estimate[None])
        assert _Pairs(tied[order], None).measures(estimate[order][None]) == pytest.approx(
            expected, nan_ok=True
        )
    few = _Pairs(np.arange(12.0), None).measures(np.arange(12.0)[None])  # two are the best fifth
    assert np.isnan(few["flips_best"])
    assert _Pairs(np.arange(15.0), None).measures(np.arange(15.0)[None])["flips_best"] == 0
