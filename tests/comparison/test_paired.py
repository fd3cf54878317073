"""Two models on the same examples: by definition, against scipy's tests, and how often the truth is told."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from abovechance.compare import compare, exchanged, mcnemar
from abovechance.comparison.paired import factor, welch
from abovechance.core.errors import InputError
from abovechance.core.means import clustered_mean


def answers(examples: int = 200, better: float = 0.1, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Two models' right and wrong answers, alike in what is hard."""
    generator = np.random.default_rng(seed)
    first = generator.random(examples) < 0.6
    second = np.where(generator.random(examples) < 0.7, first, generator.random(examples) < 0.6 - better)
    return first.astype(float), second.astype(float)


def test_each_number_is_that_of_another_package():
    first, second = answers()
    found = compare(first, second)
    related, welchs = stats.ttest_rel(first, second), stats.ttest_ind(first, second, equal_var=False)
    assert found.difference == pytest.approx(first.mean() - second.mean())
    assert (found.t_low, found.t_high) == pytest.approx(tuple(related.confidence_interval(0.95)))
    assert (found.unpaired_low, found.unpaired_high) == pytest.approx(tuple(welchs.confidence_interval(0.95)))
    discordant = int((first > second).sum()), int((first < second).sum())
    assert (found.better, found.worse) == discordant
    assert found.mcnemar == pytest.approx(stats.binomtest(discordant[0], sum(discordant)).pvalue)
    assert found.p == pytest.approx(found.mcnemar)  # exchanging answers of single examples is the same test
    assert found.gain == pytest.approx((found.unpaired_error / found.error) ** 2)
    assert (found.low, found.high) == pytest.approx((found.t_low, found.t_high), abs=0.01)


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=9))
def test_all_exchanges_are_counted(sums):
    reached = abs(sum(sums))
    far = [
        abs(sum(sign * one for sign, one in zip(signs, sums, strict=True))) >= reached
        for signs in product((1, -1), repeat=len(sums))
    ]
    told = [one for one in sums if one]
    expected = np.mean(far) if len(told) > 1 else 1.0
    assert exchanged(np.array(sums, dtype=float)) == pytest.approx(expected)
    # of numbers that are not whole, all are counted too where there are few
    assert exchanged(np.array(sums) / 7) == pytest.approx(expected)


def test_of_many_clusters_the_exact_distribution_is_that_of_the_draws():
    sums = np.random.default_rng(2).integers(-4, 6, 400).astype(float)
    assert exchanged(sums) == pytest.approx(exchanged(sums + 1e-9), abs=0.02)


def test_examples_that_stand_ten_times_say_no_more_than_once():
    first, second = answers(60)
    once = compare(first, second)
    often = compare(np.repeat(first, 10), np.repeat(second, 10), np.repeat(np.arange(60), 10))
    for name in ("difference", "error", "t_low", "unpaired_error", "p", "low", "high"):
        assert getattr(often, name) == pytest.approx(getattr(once, name)), name
    assert (often.examples, often.clusters) == (600, 60)
    assert np.isnan(often.mcnemar)
    assert often.needed == pytest.approx(10 * once.needed, rel=0.1)


def test_what_can_be_detected_is_detected_as_often_as_it_says():
    first, second = answers(400, better=0.0, seed=3)
    planned = compare(first, second).detectable
    spread = (first - second).std(ddof=1)
    generator = np.random.default_rng(0)
    draws = generator.normal(planned, spread / 20, 4000)
    found = np.abs(draws) / (spread / 20) > stats.norm.ppf(0.975)
    assert found.mean() == pytest.approx(0.8, abs=0.03)
    assert factor(0.95, 0.8) == pytest.approx(2.8016, abs=1e-4)


def test_a_difference_that_is_none_needs_no_number_and_equal_models_are_equal():
    found = compare([1, 0, 1], [1, 0, 1])
    assert (found.difference, found.p, found.mcnemar) == (0, 1, 1)
    assert np.isnan([found.needed, found.gain, found.low, found.t_high, found.detectable]).all()
    shifted = compare([2.0, 3.0, 4.0], [1.0, 2.0, 3.0])
    assert shifted.difference == 1
    # three differences of 1 do not say that all are
    assert np.isnan([shifted.low, shifted.high, shifted.t_low, shifted.detectable]).all()
    assert np.isnan(shifted.mcnemar)


@pytest.mark.parametrize("examples", [12, 60])
def test_where_models_do_not_differ_p_is_seldom_small_and_intervals_hold_none(examples):
    """Also with few examples; the bootstrap is a little too narrow for 12."""
    generator = np.random.default_rng(1)
    small, held = [], []
    for _ in range(400):
        easy = generator.random(examples)
        first, second = (generator.random((2, examples)) < easy).astype(float)
        found = compare(first, second, resamples=200)
        small.append(found.p <= 0.05)
        held.append(found.t_low <= 0 <= found.t_high)
    assert np.mean(small) <= 0.06
    assert np.mean(held) >= 0.93


def test_welchs_degrees_of_freedom():
    generator = np.random.default_rng(4)
    one, other = generator.normal(0, 1, 12), generator.normal(0, 3, 40)
    found = welch(clustered_mean(one), clustered_mean(other))
    same = stats.ttest_ind(one, other, equal_var=False).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((same.low, same.high))


def test_mcnemar_is_of_right_and_wrong_alone():
    assert np.isnan(mcnemar(np.array([0.5, 1.0]), np.array([0.0, 1.0])))


@pytest.mark.parametrize(
    ("first", "second", "clusters", "told"),
    [
        ([1, 0], [1], None, "right would be one for each of the same examples"),
        ([1], [0], None, "1 examples; right would be at least 2"),
        ([1, np.nan], [1, 0], None, "score 1 of the first model is nan"),
        ([1, 0], [1, np.inf], None, "score 1 of the second model is inf"),
        ([1, 0, 1], [1, 0, 0], [1, 2], "right would be one for each"),
    ],
)
def test_what_cannot_be_compared_is_told(first, second, clusters, told):
    with pytest.raises(InputError, match=told):
        compare(first, second, clusters)
