"""Tails, consistency and analyses of variance: known values, other formulas, simulation."""

import zipfile
from fractions import Fraction
from io import BytesIO
from itertools import permutations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from abovechance.core.errors import InputError
from abovechance.pvi import accuracy_of_tails, correlation, one_way, repeated_measures, summary, threshold
from abovechance.pvi.tails import tails_of_labels

SHARED = Path(__file__).resolve().parents[3] / "shared" / "in-context-pvi.zip"


def test_tails_are_below_and_above_their_quantiles():
    values, correct = np.arange(10.0), [0, 0, 0, 1, 0, 1, 0, 1, 1, 1]
    assert accuracy_of_tails(values, correct, 0.2) == (0, 1)
    assert accuracy_of_tails(values, correct, 0.5) == (0.2, 0.8)
    assert np.isnan(accuracy_of_tails([1.0], [True], 0.2)).all()
    assert np.isnan(accuracy_of_tails([], [], 0.2)).all()


@pytest.mark.parametrize("share", [0.2, 0.34, 0.5])
@pytest.mark.parametrize("size", [2, 5, 6, 11, 36])
def test_tails_are_those_of_numpys_quantiles(size, share):
    generator = np.random.default_rng(size)
    values, correct = generator.permutation(size) * 1.0, generator.random(size) < 0.5
    low, high = np.quantile(values, [share, 1 - share])
    expected = (correct[values < low].mean(), correct[values > high].mean())
    assert accuracy_of_tails(values, correct, share) == pytest.approx(expected)


@pytest.mark.parametrize("share", [0.2, 0.34, 0.5])
@pytest.mark.parametrize("values", [[1, 1, 1, 1, 1], [0, 1, 1, 1, 2, 2], [3, 2, 2, 2, 2, 1, 1], [0, 0, 0, 5]])
def test_equal_values_count_as_in_the_mean_over_their_orders(values, share):
    correct = np.array([True, False, True, True, False, False, True][: len(values)])
    tails = []
    for order in permutations(range(len(values))):
        ranks = np.argsort(np.lexsort((order, values))) * 1.0  # equal values in any order
        low, high = np.quantile(ranks, [share, 1 - share])
        tails.append((correct[ranks < low].mean(), correct[ranks > high].mean()))
    assert accuracy_of_tails(values, correct, share) == pytest.approx(tuple(np.mean(tails, axis=0)))


@pytest.mark.parametrize(
    ("values", "correct", "share", "message"),
    [
        ([1.0], [True, False], 0.2, "1 values for 2 predictions"),
        ([1.0, np.nan], [True, False], 0.2, "value 1 of 2 is not a number"),
        ([1.0], [True], 0.6, "the share is 0.6; expected more than 0 and at most 0.5"),
    ],
)
def test_what_has_no_tails_is_told(values, correct, share, message):
    with pytest.raises(InputError, match=message):
        accuracy_of_tails(values, correct, share)


def test_within_labels_a_liking_for_an_answer_has_no_part():
    labels = np.array(["a"] * 50 + ["b"] * 50)
    values = np.random.default_rng(0).normal(size=100) + 5 * (labels == "a")
    correct = labels == "a"  # a model that always answers so
    assert accuracy_of_tails(values, correct, 0.2) == (0, 1)
    assert tails_of_labels(values, correct, labels, 0.2) == (0.5, 0.5)
    assert tails_of_labels(values, correct, np.zeros(100), 0.2) == (0, 1)


def test_what_is_infinite_is_beyond_all_that_is_not():
    values, correct = [-np.inf, -1, 0, 1, np.inf], [False, False, True, True, True]
    assert accuracy_of_tails(values, correct, 0.2) == (0, 1)
    assert threshold(values, correct) == (-0.5, 1)
    assert threshold([-np.inf, np.inf], [False, True]) == (-np.inf, 1)
    assert threshold([-np.inf, 0.3, np.inf], [False, False, True]) == (0.3, 1)  # no value that is made up


@pytest.mark.parametrize("total", [([1, 2], [True]), ([1, np.nan, 3], [True, False, True])])
def test_what_has_no_threshold_is_told(total):
    with pytest.raises(InputError, match="expected one for each|is not a number"):
        threshold(*total)


def test_no_threshold_tells_more_than_luck_where_right_ones_lie_lower():
    assert np.isnan(threshold([3, 2, 1], [False, True, True]).value)
    assert threshold([3, 2, 1], [False, True, True]).accuracy == 0.5


def test_a_threshold_divides_right_from_wrong():
    assert threshold([-1, 0, 2, 3], [False, False, True, True]) == (1, 1)
    assert threshold([-1, 0, 2, 3], [False, True, False, True]) == (-0.5, 0.75)
    assert np.isnan(threshold([1, 2], [True, True])).all()
    assert threshold([1, 1], [True, False]).accuracy == 0.5


@given(st.lists(st.tuples(st.integers(-5, 5), st.booleans()), min_size=2, max_size=30))
def test_no_other_threshold_is_better(pairs):
    values, correct = map(np.array, zip(*pairs, strict=True))
    if correct.all() or not correct.any():
        return
    best = threshold(values, correct)
    balanced = [
        ((values > at)[correct].mean() + (values <= at)[~correct].mean()) / 2 for at in np.arange(-6, 6, 0.5)
    ]
    assert best.accuracy == pytest.approx(max(balanced))
    if np.isnan(best.value):
        assert best.accuracy == 0.5
        return
    at = ((values > best.value)[correct].mean() + (values <= best.value)[~correct].mean()) / 2
    assert at == pytest.approx(best.accuracy)


@pytest.mark.parametrize(("examples", "freedom"), [(6, np.inf), (10, np.inf), (10, 5), (80, np.inf)])
def test_r_is_pearsons_and_its_interval_holds_it_as_often_as_it_says(examples, freedom):
    generator, held_out = np.random.default_rng(0), 0
    for _ in range(1000):
        x = generator.normal(size=examples)
        y = 0.6 * x + 0.8 * generator.normal(size=examples)
        if freedom < np.inf:  # heavy tails, the same scale for both
            x, y = (np.sqrt(freedom / generator.chisquare(freedom, examples)) * part for part in (x, y))
        estimate = correlation(x, y)
        assert estimate.r == pytest.approx(stats.pearsonr(x, y).statistic)
        assert (estimate.p <= 0.05) == (estimate.low > 0 or estimate.high < 0)
        held_out += estimate.low <= 0.6 <= estimate.high
    assert held_out / 1000 >= 0.93


def test_an_interval_of_r_does_not_end_where_nothing_is_known():
    assert np.isnan(correlation([1, 2, 3], [1, 2, 3]).low)
    assert np.isnan(correlation([0, 0, 0, 5], [1, 2, 3, 4]).low)


def test_of_thresholds_that_are_as_good_the_lowest_is_taken():
    generator = np.random.default_rng(0)
    for _ in range(300):
        values = generator.permutation(generator.integers(2, 14)).astype(float)
        correct = generator.random(len(values)) < 0.5
        result = threshold(values, correct)
        if correct.all() or not correct.any():
            continue
        by_border = {}
        for border in np.sort(values)[:-1] + 0.5:
            messages = Fraction(int((correct & (values > border)).sum()), int(correct.sum()))
            messages += Fraction(int((~correct & (values < border)).sum()), int((~correct).sum()))
            by_border[border] = messages / 2
        best = max(by_border.values())
        if best > Fraction(1, 2):
            lowest = min(border for border, messages in by_border.items() if messages == best)
            assert result == (lowest, pytest.approx(float(best)))


def test_a_threshold_between_neighbouring_numbers_divides_them():
    low = 1.0
    high = np.nextafter(low, 2)
    assert low <= threshold([low, high], [False, True]).value < high


def test_clusters_widen_the_interval_of_r():
    generator = np.random.default_rng(0)
    x, y = generator.normal(size=(2, 20))
    alone, often = (
        correlation(np.repeat(x, 9), np.repeat(y, 9), clusters)
        for clusters in (None, np.repeat(range(20), 9))
    )
    assert often.r == pytest.approx(alone.r)
    once = correlation(x, y)
    assert (often.low, often.high) == pytest.approx((once.low, once.high))
    assert often.high - often.low > 2 * (alone.high - alone.low)


def test_an_example_without_a_cluster_is_told():
    values = np.random.default_rng(0).normal(size=(2, 6))
    for clusters in ([0, 0, 1, 1, 2, None], [0, 0, 1, 1, 2]):
        with pytest.raises(InputError, match="expected one for each"):
            correlation(*values, clusters)


def test_what_has_no_r():
    assert np.isnan(correlation([1, 1, 1, 1], [1, 2, 3, 4]).r)
    assert np.isnan(correlation([1, 2], [2, 1]).r)
    assert correlation([1, 2, np.nan, 3], [3, 2, 1, 1]).examples == 3
    with pytest.raises(InputError, match=r"shapes \(2,\) and \(3,\)"):
        correlation([1, 2], [1, 2, 3])
    with pytest.raises(InputError, match=r"expected \(examples,\)"):
        correlation([[1, 2, 3]], [[1, 2, 4]])


def test_a_summary_counts_strong_and_weak():
    result = summary([0.9, 0.7, 0.6, 0.3, 0.1, np.nan])
    assert (result.pairs, result.above, result.below) == (5, 2, 1)
    assert (result.mean, result.median) == pytest.approx((0.52, 0.6))
    assert (result.above_share, result.below_share) == pytest.approx((0.4, 0.2))
    assert summary([]).pairs == 0


@pytest.mark.skipif(not SHARED.is_file(), reason="needs ../shared/in-context-pvi.zip")
def test_table_2_of_the_paper():
    """From the authors' tables, without the model that the paper leaves out."""
    with zipfile.ZipFile(SHARED) as archive:
        read = {
            name: pd.read_csv(BytesIO(archive.read(f"in-context-pvi/consistency_by_{name}.csv")))
            for name in ("exemplar", "number_of_shots")
        }
    content = {name: table[~table["model"].str.contains("neox", case=False)] for name, table in read.items()}
    sets, shots = summary(content["exemplar"]["average_r"]), summary(content["number_of_shots"]["r"])
    assert (sets.pairs, sets.above, sets.below) == (96, 57, 23)
    assert (round(sets.mean, 3), round(sets.median, 3)) == (0.546, 0.711)
    assert round(100 * sets.below_share, 1) == 24.0  # printed as 22.9
    assert (shots.pairs, shots.above, shots.below) == (144, 83, 43)
    assert (round(shots.mean, 3), round(shots.median, 3)) == (0.444, 0.736)


def test_one_way_of_three_sets_by_two_shots_has_2_and_3_degrees_of_freedom():
    means = [[1.2, 1.4], [0.9, 1.6], [1.1, 1.3]]
    anova = one_way(means)
    expected = stats.f_oneway(*means)
    assert anova == pytest.approx((expected.statistic, 2, 3, expected.pvalue))
    assert np.isnan(one_way([[1.0], [2.0]])).all()
    assert np.isnan(one_way([[1.0, np.nan], [np.nan], [2.0]])).all()


@given(arrays(float, (2, 12), elements=st.floats(-10, 10), unique=True))
def test_of_two_sets_repeated_measures_are_the_paired_t_test(values):
    anova, paired = repeated_measures(values), stats.ttest_rel(*values)
    assert anova.anova.f == pytest.approx(paired.statistic**2, rel=1e-6)
    assert anova.anova.p == pytest.approx(paired.pvalue, rel=1e-6, abs=1e-12)
    assert anova.epsilon == pytest.approx(1)


def test_repeated_measures_of_a_textbook():
    """Three measures of six subjects; F = 12.53 with 2 and 10 degrees of freedom, epsilon 0.638."""
    values = [[45, 42, 36, 39, 51, 44], [50, 42, 41, 35, 55, 49], [55, 45, 43, 40, 59, 56]]
    anova = repeated_measures(values)
    assert anova.anova.f == pytest.approx(12.53, abs=0.01)
    assert anova.anova.between / anova.epsilon == pytest.approx(2)
    assert anova.anova.within / anova.epsilon == pytest.approx(10)
    assert anova.epsilon == pytest.approx(0.638, abs=0.001)
    assert anova.share == pytest.approx(0.715, abs=0.001)


def test_sets_that_do_not_differ_are_found_to_as_often_as_p_says():
    generator = np.random.default_rng(5)
    results = []
    for _ in range(1000):
        values = generator.normal(size=30) + generator.normal(size=(3, 30)) * [[1], [1], [4]]
        results.append(repeated_measures(values).anova.p)
    assert 0.035 <= np.mean(np.array(results) < 0.05) <= 0.07


def test_clusters_are_the_blocks_of_repeated_measures():
    generator = np.random.default_rng(6)
    values, clusters = generator.normal(size=(2, 60)), np.arange(60) % 6
    means = np.array([values[:, clusters == cluster].mean(axis=1) for cluster in range(6)]).T
    anova, paired = repeated_measures(values, clusters).anova, stats.ttest_rel(*means)
    assert (anova.f, anova.p) == pytest.approx((paired.statistic**2, paired.pvalue))
    assert anova.within == pytest.approx(5)
    p = []
    for _ in range(400):  # without clusters, 40 % are below 0.05
        effects = generator.normal(size=(3, 15))[:, np.arange(120) % 15]
        chosen = generator.permutation(120)[:90]  # clusters of unequal sizes
        responses = effects + generator.normal(size=(3, 120))
        p.append(repeated_measures(responses[:, chosen], (np.arange(120) % 15)[chosen]).anova.p)
    assert 0.02 < np.mean(np.array(p) <= 0.05) < 0.085
    gaps = values.copy()
    gaps[0, clusters == 2] = np.nan
    rest = clusters != 2
    assert repeated_measures(gaps, clusters) == repeated_measures(values[:, rest], clusters[rest])
    assert np.isnan(repeated_measures(values, np.zeros(60)).anova.f)
    with pytest.raises(InputError, match="clusters"):
        repeated_measures(values, [1, 2])


def test_examples_that_are_not_under_every_set_are_left_out():
    values = np.random.default_rng(2).normal(size=(3, 20))
    gaps = np.column_stack([values, [1, np.nan, 2]])
    assert repeated_measures(gaps) == repeated_measures(values)
    assert repeated_measures([[1.0, 2.0], [1.0, 2.0]]).examples == 2
    assert np.isnan(repeated_measures([[1.0, 2.0], [1.0, 2.0]]).anova.f)
    with pytest.raises(InputError, match="values have 1 dimensions"):
        repeated_measures([1.0, 2.0])
