"""Estimates against scipy, against matrices, and against their formulas written out."""

from math import inf, isnan, nan, sqrt

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from abovechance.core.errors import InputError
from abovechance.core.estimates import (
    Estimate,
    Spread,
    bootstrap_interval,
    clustered_mean,
    clustered_variance,
    effective_examples,
    interaction,
    intraclass,
    satterthwaite,
    student,
    variance_of_sum,
    welch,
)

VALUES = np.random.default_rng(0).normal(1, 2, 12)
GROUPS = np.array([0, 0, 0, 1, 1, 2, 3, 3, 3, 3, 4, 2])


def test_an_estimate_in_words():
    assert str(Estimate(0.12345)) == "0.123"
    assert str(Estimate(0.5, low=0.25, high=0.75)) == "0.5 (95% interval 0.25 to 0.75)"
    named = Estimate(0.5, low=0.25, high=0.75, p=0.0123, confidence=0.9)
    assert str(named) == "0.5 (90% interval 0.25 to 0.75, p = 0.012)"


def test_another_unit_changes_what_has_one():
    estimate = Estimate(1.0, 2.0, 3.0, 4.0, 0.5, 6.0, 7, 8, 0.9, "by hand")
    assert estimate.scaled(10) == Estimate(10.0, 20.0, 30.0, 40.0, 0.5, 6.0, 7, 8, 0.9, "by hand")
    spread = Spread((1.0, 2.0), (3.0, 4.0), 0.5)
    assert spread.scaled(10) == Spread((100.0, 200.0), (3.0, 4.0), 50.0)


@pytest.mark.parametrize("value", [0.7, -0.7, 0.0])
def test_students_interval_and_test_are_scipys(value):
    estimate = student(value, 0.3, 7.5, 0.9)
    low, high = stats.t(7.5, value, 0.3).interval(0.9)
    assert (estimate.low, estimate.high) == pytest.approx((low, high))
    assert estimate.p == pytest.approx(2 * stats.t(7.5).sf(abs(value) / 0.3))
    assert estimate[:2] == (value, 0.3)
    assert (estimate.freedom, estimate.confidence, estimate.method) == (7.5, 0.9, "Student")
    assert student(value, 0.3, 7.5).confidence == 0.95


@pytest.mark.parametrize(("error", "freedom"), [(0.0, 5), (inf, 5), (nan, 5), (0.3, 0), (0.3, nan)])
def test_without_an_error_or_degrees_of_freedom_there_is_no_interval(error, freedom):
    estimate = student(0.5, error, freedom, 0.8)
    assert all(map(isnan, (estimate.low, estimate.high, estimate.p)))
    assert (estimate.value, estimate.confidence) == (0.5, 0.8)
    assert estimate.standard_error == pytest.approx(error, nan_ok=True)


def test_one_degree_of_freedom_or_less_is_enough():
    assert student(0.5, 1e-3, 0.5).low < 0.5 < student(0.5, 1e-3, 1).high


SPREADS = [
    Spread((2.0, 3.0), (4.0, 9.0), 0.5),
    Spread((2.0, 0.0), (1.0, 5.0)),
    Spread((0.1, 3.0), (4, 9), 2.0),
]


@pytest.mark.parametrize("spread", SPREADS)
@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_the_interval_of_several_variances_is_banerjees(spread, confidence):
    estimate = spread.estimate(1.5, confidence)
    tail = (1 - confidence) / 2
    parts = [
        variance * stats.t(freedom).ppf(tail) ** 2
        for variance, freedom in zip(spread.variances, spread.freedoms, strict=True)
    ]
    reach = sqrt(max(sum(parts) - spread.overlap * stats.norm.ppf(tail) ** 2, *parts))
    assert (estimate.low, estimate.high) == pytest.approx((1.5 - reach, 1.5 + reach))
    variance = max(sum(spread.variances) - spread.overlap, *spread.variances)
    assert (estimate.value, estimate.standard_error) == pytest.approx((1.5, sqrt(variance)))
    below = sum(v**2 / f for v, f in zip(spread.variances, spread.freedoms, strict=True))
    assert estimate.freedom == pytest.approx(variance**2 / below)
    assert estimate.confidence == confidence
    # the p-value is that of the interval that just reaches 0
    touching = spread.estimate(1.5, 1 - estimate.p)
    assert touching.low == pytest.approx(0, abs=1e-6)


def test_a_p_value_is_between_the_least_that_is_computed_and_1():
    spread = Spread((1.0, 0.0), (1e6, 1.0))
    assert spread.p(1.0) == pytest.approx(2 * stats.norm.sf(1), rel=1e-5)
    assert spread.p(-1.0) == spread.p(1.0)
    assert spread.p(0.0) == 1.0
    assert spread.p(1e-30) == pytest.approx(1)
    assert spread.p(1e9) == pytest.approx(2e-100, rel=1e-9)
    assert isnan(spread.p(nan))
    assert isnan(spread.p(inf))
    assert isnan(Spread((0.0, 0.0), (1.0, 1.0)).p(1.0))


@pytest.mark.parametrize("spread", [Spread((0.0, 0.0), (1.0, 1.0)), Spread((inf, 1.0), (1.0, 1.0))])
def test_where_nothing_varies_or_all_does_there_is_no_interval(spread):
    estimate = spread.estimate(0.5, 0.8)
    assert all(map(isnan, (estimate.low, estimate.high, estimate.p)))
    assert (estimate.value, estimate.confidence) == (0.5, 0.8)


def test_the_variance_of_a_sum_is_that_of_its_independent_parts():
    parts = VALUES - VALUES.mean()
    assert variance_of_sum(parts) == pytest.approx(len(parts) * parts.var(ddof=1))
    assert variance_of_sum([1.0, -1.0]) == 4.0
    assert variance_of_sum([2.0]) == 4.0


def by_matrices(groups: np.ndarray, values: np.ndarray, correlation: float) -> tuple[float, float]:
    """CR2's variance of a mean and Bell and McCaffrey's degrees of freedom, from the n x n matrices."""
    count = len(values)
    design = np.ones((count, 1))
    hat = design @ design.T / count
    members = [np.flatnonzero(groups == group) for group in np.unique(groups)]
    residuals = values - values.mean()
    variance, rows = 0.0, []
    for places in members:
        block = np.eye(len(places)) - hat[np.ix_(places, places)]
        eigenvalues, vectors = np.linalg.eigh(block)
        adjusted = vectors @ np.diag(eigenvalues**-0.5) @ vectors.T
        variance += float((design[places].T @ adjusted @ residuals[places]).item() ** 2) / count**2
        whole = (np.eye(count) - hat)[places]
        rows.append((design[places].T @ adjusted @ whole)[0] / count)
    working = np.where(groups[:, None] == groups[None], correlation, 0.0)
    np.fill_diagonal(working, 1.0)
    products = np.array(rows) @ working @ np.array(rows).T
    return variance, float(np.trace(products) ** 2 / np.sum(products**2))


@pytest.mark.parametrize("correlation", [0.0, 0.3, 1.0])
def test_clusters_of_any_size_are_cr2(correlation):
    residuals = VALUES - VALUES.mean()
    parts, sizes = np.bincount(GROUPS, residuals) / len(VALUES), np.bincount(GROUPS)
    computed = clustered_variance(parts, sizes, correlation)
    assert computed == pytest.approx(by_matrices(GROUPS, VALUES, correlation))
    assert clustered_variance([0.0], [5], correlation) == (0.0, 0.0)
    assert clustered_variance([1.0, -1.0], [3, 3], correlation) == pytest.approx((4.0, 1.0))


@given(st.integers(0, 2**32 - 1))
def test_the_correlation_in_clusters_is_that_of_their_pairs(seed):
    generator = np.random.default_rng(seed)
    groups, values = generator.integers(0, 4, 15), generator.normal(size=15)
    values += generator.normal(size=4)[groups]
    residuals = values - values.mean()
    pairs = [
        residuals[i] * residuals[j] for i in range(15) for j in range(15) if i != j and groups[i] == groups[j]
    ]
    expected = np.mean(pairs) / np.mean(residuals**2)
    assert intraclass(values, groups) == pytest.approx(np.clip(expected, 0, 1))


def test_the_correlation_of_what_has_no_pairs_or_does_not_vary_is_0():
    assert intraclass([1.0, 2.0], [0, 1]) == 0.0
    assert intraclass([1.0, 1.0], [0, 0]) == 0.0
    assert intraclass([1.0, 1.0, 5.0, 5.0], [0, 0, 1, 1]) == 1.0


def test_satterthwaites_degrees_of_freedom():
    assert satterthwaite([2.0, 3.0], [4.0, 9.0]) == pytest.approx(25 / (4 / 4 + 9 / 9))
    assert satterthwaite([2.0, 3.0], [4.0, 9.0], 4.0) == pytest.approx(16 / 2)
    assert satterthwaite([0.0], [5.0]) == 0.0


def test_a_mean_of_examples_by_themselves_is_students():
    estimate, test = clustered_mean(VALUES, None, 0.9), stats.ttest_1samp(VALUES, 0)
    interval = test.confidence_interval(0.9)
    assert (estimate.low, estimate.high, estimate.p) == pytest.approx((*interval, test.pvalue))
    assert (estimate.value, estimate.standard_error) == pytest.approx((VALUES.mean(), stats.sem(VALUES)))
    assert (estimate.freedom, estimate.examples, estimate.clusters) == (pytest.approx(11), 12, 12)
    assert (estimate.confidence, estimate.method) == (0.9, "Student")


def test_a_mean_of_clustered_examples_is_cr2s():
    estimate = clustered_mean(VALUES, [*"cccaabddddeb"], 0.9)
    variance, freedom = by_matrices(GROUPS, VALUES, intraclass(VALUES, GROUPS))
    assert (estimate.standard_error, estimate.freedom) == pytest.approx((sqrt(variance), freedom))
    assert (estimate.low, estimate.high) == pytest.approx(
        stats.t(freedom, VALUES.mean(), sqrt(variance)).interval(0.9)
    )
    assert (estimate.examples, estimate.clusters) == (12, 5)


@pytest.mark.parametrize(
    ("values", "clusters", "expected"),
    [
        ([], None, Estimate(nan, confidence=0.8)),
        ([3.0], None, Estimate(3.0, examples=1, clusters=1, confidence=0.8)),
        ([3.0, 5.0], ["a", "a"], Estimate(4.0, examples=2, clusters=1, confidence=0.8)),
        ([3.0, inf], None, Estimate(inf, examples=2, clusters=2, confidence=0.8)),
        ([-inf, inf], None, Estimate(nan, examples=2, clusters=2, confidence=0.8)),
        ([2.0, 2.0], None, Estimate(2.0, 0.0, nan, nan, nan, 1.0, 2, 2, 0.8)),
    ],
)
def test_a_mean_without_an_interval(values, clusters, expected):
    computed = clustered_mean(values, clusters, 0.8)
    assert computed[:-1] == pytest.approx(expected[:-1], nan_ok=True)


def test_values_of_two_dimensions_are_an_error():
    with pytest.raises(InputError) as error:
        clustered_mean([[1.0]])
    assert str(error.value) == "values have 2 dimensions; expected one, of examples"


def test_two_means_of_other_examples_are_welchs_test():
    first, second = VALUES[:5], VALUES[5:]
    estimate = welch(clustered_mean(first), clustered_mean(second, [0, 0, 1, 2, 3, 4, 5]), 0.9)
    assert (estimate.examples, estimate.clusters) == (12, 11)
    estimate = welch(clustered_mean(first), clustered_mean(second), 0.9)
    test = stats.ttest_ind(first, second, equal_var=False)
    interval = test.confidence_interval(0.9)
    assert (estimate.low, estimate.high, estimate.p) == pytest.approx((*interval, test.pvalue))
    assert (estimate.value, estimate.confidence) == (pytest.approx(first.mean() - second.mean()), 0.9)
    assert (estimate.examples, estimate.clusters) == (12, 12)


@pytest.mark.parametrize("method", ["basic", "percentile", "BCa"])
def test_the_bootstrap_draws_whole_clusters(method):
    sums, sizes = np.bincount(GROUPS, VALUES), np.bincount(GROUPS)
    expected = stats.bootstrap(
        (sums, sizes),
        lambda sums, sizes: sums.sum() / sizes.sum(),
        paired=True,
        vectorized=False,
        n_resamples=500,
        confidence_level=0.8,
        method=method,
        rng=np.random.default_rng(3),
    ).confidence_interval
    computed = bootstrap_interval(VALUES, GROUPS, 0.8, 500, 3, method)
    assert computed == pytest.approx((expected.low, expected.high))


def test_the_bootstrap_of_what_does_not_vary():
    assert bootstrap_interval([2.0, 2.0, 2.0], [0, 0, 1]) == (2.0, 2.0)
    assert all(map(isnan, bootstrap_interval([2.0, 3.0], [0, 0])))
    low, high = bootstrap_interval([2.0, 3.0])
    assert (low, high) == (2.0, 3.0)
    assert bootstrap_interval(VALUES) == bootstrap_interval(VALUES, None, 0.95, 9999, 0, "basic")


@pytest.mark.parametrize("correlation", [0.0, 0.3])
def test_the_variance_of_a_mean_with_weights_is_that_of_matrices(correlation):
    """Of prompts with different examples, where some clusters have much of the weight."""
    generator = np.random.default_rng(4)
    sizes = generator.integers(1, 6, 9)
    weights = generator.dirichlet(np.ones(9))
    parts = generator.normal(size=9)
    parts -= weights * parts.sum()
    residual = np.eye(9) - np.outer(weights, np.ones(9))
    independent = np.diag(weights**2 / sizes)
    remaining = np.diag(residual @ independent @ residual.T)
    quadratic = residual.T @ np.diag(np.diag(independent) / remaining) @ residual
    # without bias if examples are independent
    assert np.trace(quadratic @ independent) == pytest.approx(np.trace(independent))
    model = np.diag(weights**2 * (correlation + (1 - correlation) / sizes))
    expected = (
        parts @ quadratic @ parts,
        np.trace(quadratic @ model) ** 2 / np.trace(quadratic @ model @ quadratic @ model),
    )
    assert clustered_variance(parts, sizes, correlation, weights) == pytest.approx(expected)
    of_sizes = sizes / sizes.sum()
    parts -= of_sizes * parts.sum()
    assert clustered_variance(parts, sizes, correlation) == pytest.approx(
        clustered_variance(parts, sizes, correlation, of_sizes)
    )


def test_clusters_without_weight_have_no_part_in_the_variance():
    parts, sizes = np.array([0.2, -0.1, -0.1, 0.0]), np.array([1, 2, 3, 4])
    weights = np.array([0.5, 0.25, 0.25, 0.0])
    expected = clustered_variance(parts[:3], sizes[:3], 0.1, weights[:3])
    assert clustered_variance(parts, sizes, 0.1, weights) == pytest.approx(expected)
    assert clustered_variance(np.zeros(3), np.ones(3), 0.0, [1.0, 0.0, 0.0]) == (0.0, 0.0)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_bootstrap_is_of_numbers(value):
    with pytest.raises(InputError, match="a value is missing or infinite; expected numbers"):
        bootstrap_interval([1, 0, value, 1])


def test_the_interaction_is_what_rows_do_to_clusters_beside_what_both_do_alone():
    generator = np.random.default_rng(0)
    parts, sizes = generator.normal(size=(4, 6)), np.full((4, 6), 3)
    beside = [
        parts[row, cluster] - parts[row].mean() - parts[:, cluster].mean() + parts.mean()
        for row in range(4)
        for cluster in range(6)
    ]
    value = interaction(parts, sizes)
    assert value == pytest.approx(np.square(beside).sum() * 4 / 3 * 6 / 5)
    moved = parts + generator.normal(size=(4, 1)) + generator.normal(size=6)
    assert interaction(moved, sizes) == pytest.approx(value)
    # in proportion to the sizes of clusters
    unequal = np.tile(generator.integers(1, 9, 6), (4, 1))
    assert interaction(generator.normal(size=(4, 1)) * unequal, unequal) == pytest.approx(0)


def test_the_interaction_of_clusters_that_one_row_has_is_all_that_it_does_to_them():
    sizes = np.array([[2, 2, 0], [0, 2, 2]])
    parts = np.array([[1.0, -1.0, 0.0], [0.0, 2.0, -2.0]])  # rows whose sums are 0
    assert interaction(parts, sizes) == pytest.approx((1 + 2 * 2 * 1.5**2 + 4) * 3 / 2)


def test_the_interaction_has_no_bias():
    generator = np.random.default_rng(1)
    values = []
    for _ in range(400):
        scores = generator.normal(size=20) + generator.normal(size=(3, 1)) + generator.normal(0, 0.5, (3, 20))
        values.append(interaction((scores - scores.mean()) / 60, np.ones((3, 20))))
    assert np.mean(values) == pytest.approx(0.5**2 / 60, rel=0.03)


@pytest.mark.parametrize(("value", "count"), [(0.1, 3), (0.7, 3), (0.1, 10), (0.3, 6), (-1e100, 7), (0.0, 4)])
def test_equal_values_have_no_interval_however_they_are_rounded(value, count):
    for clusters in (None, [number // 2 for number in range(count)]):
        estimate = clustered_mean([value] * count, clusters)
        assert estimate.standard_error == 0
        assert all(map(isnan, (estimate.low, estimate.high, estimate.p)))


def test_examples_in_clusters_are_worth_as_many_as_the_design_effect_leaves():
    assert effective_examples(VALUES) == pytest.approx(12)
    assert effective_examples(VALUES, range(12)) == pytest.approx(12)
    equal = np.repeat(np.arange(4), 3)
    correlation, squares = intraclass(VALUES, equal), (VALUES - VALUES.mean()) ** 2
    assert 0 < correlation < 1
    count = squares.sum() / squares.max()
    correlation = (count * correlation + 1) / (count + 1)
    assert effective_examples(VALUES, equal) == pytest.approx(12 / (1 + 2 * correlation))
    # examples of one cluster that are all the same count as one, and unequal clusters as fewer
    copies = np.repeat([1.0, -1.0, 1.0, -1.0], 3)
    assert effective_examples(copies, equal) == pytest.approx(4)
    assert effective_examples([1.0, -1, -1, 1, 1], list("abbcc")) == pytest.approx(25 / 9)
    assert effective_examples([0.0] * 4, list("abbb")) == pytest.approx(16 / 10)  # nothing shows otherwise
    # many values that are independent: all of them
    values = np.random.default_rng(0).choice([-1.0, 1.0], 40_000)
    assert effective_examples(values, np.arange(40_000) // 2) == pytest.approx(40_000, rel=0.02)


def test_rare_values_that_are_in_no_cluster_do_not_show_that_clusters_are_independent():
    values, clusters = np.zeros(100), np.repeat(np.arange(55), [1] * 50 + [10] * 5)
    values[:2] = 1
    assert effective_examples(values, clusters) == pytest.approx(100**2 / (50 + 5 * 100), rel=0.03)
    # in clusters in which no other value is 1, ten do
    values[[50, 60, 70, 80, 90]] = 1
    assert effective_examples(values, clusters) > 100**2 / (50 + 5 * 28)


def test_effective_examples_give_the_variance_of_the_working_model():
    """Of examples of which two have this correlation in a cluster and none between clusters."""
    squares = (VALUES - VALUES.mean()) ** 2
    inside = squares[GROUPS != 4].sum() / squares.max()
    correlation = (inside * intraclass(VALUES, GROUPS) + 1) / (inside + 1)
    model = np.where(GROUPS[:, None] == GROUPS, correlation, 0.0)
    np.fill_diagonal(model, 1.0)
    names = np.array(list("defgh"))[GROUPS]
    assert 1 / effective_examples(VALUES, names) == pytest.approx(model.sum() / 144)


def test_arguments_of_the_bootstrap_that_are_refused():
    values = pd.Series(VALUES, [*"abcdefghijkl"])
    clusters = pd.Series(GROUPS, values.index)
    low, high = bootstrap_interval(values, clusters)
    assert low < VALUES.mean() < high
    for arguments in ((values, clusters[::-1]), (values[::-1], clusters)):
        with pytest.raises(InputError, match="at different positions"):
            bootstrap_interval(*arguments)
    with pytest.raises(InputError) as error:
        bootstrap_interval(VALUES, method="foo")
    assert str(error.value) == "method is 'foo'; expected one of basic, percentile, bca"
    with pytest.raises(InputError) as error:
        bootstrap_interval([1.0, nan, 2.0])
    assert str(error.value) == "a value is missing or infinite; expected numbers"
    for confidence in (0.0, 1.0, 1.5):
        with pytest.raises(InputError, match=f"^confidence is {confidence}; expected"):
            bootstrap_interval(VALUES, confidence=confidence)
        with pytest.raises(InputError, match=f"^confidence is {confidence}; expected"):
            Spread((1.0,), (5.0,)).estimate(0.5, confidence)


def test_the_estimate_of_a_spread_is_students():
    estimate = Spread((0.04,), (5.0,)).estimate(0.5, 0.9)
    assert (estimate.low, estimate.high) == pytest.approx(stats.t(5, 0.5, 0.2).interval(0.9))
