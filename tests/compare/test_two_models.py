"""Two models on the same examples: by definition, against scipy's tests, and how often the truth is told."""

from itertools import product

import numpy as np
import pytest
from hypothesis import example, given, strategies as st
from scipy import optimize, stats

from abovechance.compare import compare, exchanged, mcnemar, over_prompts
from abovechance.compare.two_models import ScoreTest
from abovechance.core.errors import InputError


def answers(examples: int = 200, better: float = 0.1, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Two models' right and wrong answers, alike in what is hard."""
    generator = np.random.default_rng(seed)
    first = generator.random(examples) < 0.6
    second = np.where(generator.random(examples) < 0.7, first, generator.random(examples) < 0.6 - better)
    return first.astype(float), second.astype(float)


def test_each_number_is_that_of_another_package():
    first, second = answers()
    comparison = compare(first, second)
    welchs = stats.ttest_ind(first, second, equal_var=False)
    assert comparison.difference.value == pytest.approx(first.mean() - second.mean())
    assert (comparison.unpaired.low, comparison.unpaired.high) == pytest.approx(
        tuple(welchs.confidence_interval(0.95))
    )
    discordant = int((first > second).sum()), int((first < second).sum())
    assert (comparison.better, comparison.worse) == discordant
    statistic = (discordant[0] - discordant[1]) ** 2 / sum(discordant)
    assert comparison.difference.p == pytest.approx(stats.chi2.sf(statistic, 1))  # McNemar's
    assert comparison.gain == pytest.approx(
        (comparison.unpaired.standard_error / comparison.difference.standard_error) ** 2
    )
    assert comparison.difference.method == "score"
    scores = compare(first * 0.7, second * 0.7)  # other scores: Student's
    related = stats.ttest_rel(first * 0.7, second * 0.7)
    assert scores.difference.method == "Student"
    assert (scores.difference.low, scores.difference.high) == pytest.approx(
        tuple(related.confidence_interval(0.95))
    )
    assert scores.difference.p == pytest.approx(related.pvalue)


@pytest.mark.parametrize(
    ("better", "worse", "examples"), [(12, 2, 50), (0, 1, 44), (3, 9, 12), (5, 5, 30), (1, 0, 2), (7, 0, 7)]
)
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_the_score_interval_is_what_the_statistic_does_not_reject(better, worse, examples, confidence):
    """The statistic from its definition: the variance at the most likely proportions under a difference."""
    test = ScoreTest(better, worse, examples)

    def statistic(delta: float) -> float:
        def unlikely(alone: float) -> float:
            cells = (
                (better, alone + delta),
                (worse, alone),
                (examples - better - worse, 1 - 2 * alone - delta),
            )
            return -sum(count * np.log(max(share, 1e-300)) for count, share in cells if count)

        bounds = max(0.0, -delta), (1 - delta) / 2
        alone = optimize.minimize_scalar(
            unlikely, bounds=bounds, method="bounded", options={"xatol": 1e-12}
        ).x
        variance = examples * (2 * alone + delta - delta**2)
        return (better - worse - examples * delta) / np.sqrt(variance)

    low, high = test.interval(confidence)
    reach = stats.norm.isf((1 - confidence) / 2)
    for end, sign in ((low, 1), (high, -1)):
        if abs(end) < 1:
            assert sign * statistic(end) == pytest.approx(reach, abs=1e-3)
        inside = end + sign * 0.01
        assert abs(statistic(inside)) < reach
    assert low <= (better - worse) / examples <= high


@given(st.integers(1, 60), st.data())
def test_interval_and_p_agree(examples, data):
    better = data.draw(st.integers(0, examples))
    worse = data.draw(st.integers(0, examples - better))
    test = ScoreTest(better, worse, examples)
    for confidence in (0.8, 0.95, 0.99):
        low, high = test.interval(confidence)
        assert -1 <= low <= (better - worse) / examples <= high <= 1
        if abs(test.p - (1 - confidence)) > 1e-6:
            assert (test.p <= 1 - confidence) == (low > 0 or high < 0)
        mirrored = ScoreTest(worse, better, examples).interval(confidence)
        assert mirrored == pytest.approx((-high, -low), abs=1e-9)


@given(st.lists(st.floats(-1, 1), min_size=3, max_size=30), st.floats(1e-9, 1e9))
@example([0.0, 0.0, 5e-324], 1.0)
@example([0.0, 0.5, 1.0], 1e-320)
@example([0.0, 0.5, 1.0], 1e300)
def test_nothing_depends_on_the_scale(values, scale):
    zeros = np.zeros(len(values))
    comparison, scaled = compare(values, zeros), compare(np.array(values) * scale, zeros)
    if comparison.difference.method == scaled.difference.method:  # 0 and 1 are right and wrong answers
        assert scaled.difference.p == pytest.approx(comparison.difference.p, rel=1e-6, abs=1e-12)
    assert exchanged(np.array(values) * scale, 99) == pytest.approx(exchanged(values, 99), abs=1e-9)
    difference = comparison.difference
    if difference.method == scaled.difference.method == "Student" and np.isfinite(difference.low):
        excludes_zero = difference.low > 0 or difference.high < 0
        assert (difference.p <= 0.05) == excludes_zero or difference.p == pytest.approx(0.05)
        assert scaled.needed == comparison.needed or scaled.needed == pytest.approx(
            comparison.needed, rel=1e-3, nan_ok=True
        )


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=9))
def test_all_exchanges_are_counted(sums):
    reached = abs(sum(sums))
    far = [
        abs(sum(sign * first for sign, first in zip(signs, sums, strict=True))) >= reached
        for signs in product((1, -1), repeat=len(sums))
    ]
    messages = [first for first in sums if first]
    expected = np.mean(far) if len(messages) > 1 else 1.0
    assert exchanged(np.array(sums, dtype=float)) == pytest.approx(expected)
    # of numbers that are not whole, all are counted too where there are few
    assert exchanged(np.array(sums) / 7) == pytest.approx(expected)


def test_of_many_clusters_the_exact_distribution_is_that_of_the_draws():
    sums = np.random.default_rng(2).integers(-4, 6, 400).astype(float)
    assert exchanged(sums) == pytest.approx(exchanged(sums + 1e-9), abs=0.02)


def test_examples_that_stand_ten_times_say_no_more_than_once():
    first, second = (value * 0.5 for value in answers(60))
    once = compare(first, second)
    often = compare(np.repeat(first, 10), np.repeat(second, 10), np.repeat(np.arange(60), 10))
    for name in ("difference", "unpaired"):
        assert getattr(often, name)[:6] == pytest.approx(getattr(once, name)[:6]), name
    assert often.detectable == pytest.approx(once.detectable)
    assert (often.examples, often.clusters) == (600, 60)
    assert often.needed == pytest.approx(10 * once.needed, rel=0.1)


@pytest.mark.parametrize(("examples", "share"), [(60, 0.3), (200, 0.1), (400, 0.5)])
def test_what_can_be_detected_is_detected_as_often_as_it_says(examples, share):
    """Right and wrong answers: simulated, by the test whose p-value is shown."""
    differ = round(examples * share)
    test = ScoreTest(differ // 2, differ - differ // 2, examples)
    delta = test.detectable(0.95, 0.8)
    generator = np.random.default_rng(0)
    share = max(share, delta)
    cells = [(share + delta) / 2, (share - delta) / 2, 1 - share]
    sample = generator.multinomial(examples, cells, 4000)
    results = [ScoreTest(int(better), int(worse), examples).p <= 0.05 for better, worse, _ in sample]
    assert np.mean(results) == pytest.approx(0.8, abs=0.025)


def test_other_scores_are_found_as_often_as_is_planned():
    generator = np.random.default_rng(1)
    differences = generator.normal(0.3, 1, 15)
    planned = compare(differences, np.zeros(15))
    spread = differences.std(ddof=1)
    sample = generator.normal(planned.detectable, spread, (4000, 15))
    result = stats.ttest_1samp(sample, 0, axis=1).pvalue <= 0.05
    assert result.mean() == pytest.approx(0.8, abs=0.025)
    needed = int(planned.needed)
    sample = generator.normal(planned.difference.value, spread, (4000, needed))
    assert (stats.ttest_1samp(sample, 0, axis=1).pvalue <= 0.05).mean() == pytest.approx(0.8, abs=0.03)


def test_a_difference_that_is_none_needs_no_number_and_equal_models_are_equal():
    comparison = compare([1, 0, 1], [1, 0, 1])
    assert (comparison.difference.value, comparison.difference.p) == (0, 1)
    assert np.isnan([comparison.needed, comparison.gain, comparison.detectable]).all()
    reach = stats.norm.isf(0.025) ** 2
    assert (comparison.difference.low, comparison.difference.high) == pytest.approx(
        (-reach / (3 + reach), reach / (3 + reach))
    )
    shifted = compare([2.0, 3.0, 4.0], [1.0, 2.0, 3.0])
    assert shifted.difference.value == 1
    # three differences of 1 do not say that all are
    assert np.isnan([shifted.difference.low, shifted.difference.high, shifted.detectable]).all()
    assert shifted.difference.p == 0.25


@pytest.mark.thorough
@pytest.mark.parametrize("examples", [12, pytest.param(60, marks=pytest.mark.slow)])
def test_where_models_do_not_differ_p_is_seldom_small_and_intervals_hold_none(examples):
    generator = np.random.default_rng(1)
    small, covered = [], []
    for _ in range(1000):
        easy = generator.random(examples)
        first, second = (generator.random((2, examples)) < easy).astype(float)
        comparison = compare(first, second)
        small.append(comparison.difference.p <= 0.05)
        covered.append(comparison.difference.low <= 0 <= comparison.difference.high)
    assert np.mean(small) <= 0.06
    assert np.mean(covered) >= 0.94


@pytest.mark.thorough
@pytest.mark.parametrize("clusters", [5, pytest.param(10, marks=pytest.mark.slow), 20])
def test_intervals_of_few_clusters_hold_the_difference(clusters):
    """By drawing clusters with replacement, they missed it in 8 to 17 %."""
    generator, held_out = np.random.default_rng(2), 0
    for _ in range(500):
        easy = generator.normal(size=(2, clusters, 1))
        first, second = (easy + generator.normal(size=(2, clusters, 4)) > 0).astype(float).reshape(2, -1)
        comparison = compare(first, second, np.repeat(np.arange(clusters), 4))
        held_out += comparison.difference.low <= 0 <= comparison.difference.high
    assert held_out / 500 >= 0.95 - 3 * np.sqrt(0.05 * 0.95 / 500)


def test_mcnemar_is_of_right_and_wrong_alone():
    assert np.isnan(mcnemar(np.array([0.5, 1.0]), np.array([0.0, 1.0])))


def test_there_is_no_interval_of_zero_width():
    evaluated, zeros = np.ones(10), np.zeros(10)
    comparison = compare(evaluated, zeros)
    assert np.isnan([comparison.unpaired.low, comparison.unpaired.high]).all()
    assert comparison.difference.low < 1
    under = over_prompts(np.ones((3, 10)), np.zeros((3, 10)))
    for interval in (under.mean, under.population, under.best):
        assert np.isnan([interval.low, interval.high]).all()
    assert under.mean.p == pytest.approx(2 / 2**10)  # the test is exact, and needs no variance
    assert under.mean.method == "exchange"


@pytest.mark.thorough
@pytest.mark.parametrize(
    "sizes", [[1] * 19 + [40], [2] * 18 + [30] * 2, [4] * 15 + [40], [*range(1, 11)] * 2]
)
def test_clusters_of_very_unequal_size_are_seldom_a_difference(sizes):
    generator, wrong = np.random.default_rng(6), 0
    clusters = np.repeat(np.arange(len(sizes)), sizes)
    for _ in range(300):
        of_clusters = generator.normal(size=(2, len(sizes)))[:, clusters]
        scores = (0.6 * of_clusters + generator.normal(size=(2, len(clusters))) > 0).astype(float)
        wrong += compare(*scores, clusters).difference.p <= 0.05
    assert wrong / 300 <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 300)


def test_the_best_prompts_do_not_depend_on_the_order_of_models_and_prompts():
    generator = np.random.default_rng(2)
    first, second = generator.integers(0, 2, (2, 6, 40)).astype(float)
    estimates, back = over_prompts(first, second).best, over_prompts(second, first).best
    assert (estimates.value, estimates.low, estimates.p) == pytest.approx((-back.value, -back.high, back.p))
    repeated = over_prompts(first[::-1], second[::-1]).best
    assert repeated[:5] == pytest.approx(estimates[:5])


def test_a_p_value_that_is_not_students_is_not_called_so():
    first, second = np.tile([1.0, 0.0], 10), np.zeros(20)
    comparison = compare(first, second, np.arange(20) // 2)
    assert (comparison.difference.method, comparison.difference.p) == ("exchange", pytest.approx(2 / 2**10))
    assert np.isnan(compare([0.3, 0.5, 0.9], [0.2, 0.4, 0.8]).gain)


def power_by_enumeration(examples, differ, delta):
    """The probability that the square of (better - worse) exceeds that of a normal quantile times both."""
    better, equal = (differ + delta) / 2, 1 - differ
    total = 0.0
    for first, second in product(range(examples + 1), repeat=2):
        if (
            first + second <= examples
            and first - second
            and (first - second) ** 2 >= 3.841458820694124 * (first + second)
        ):
            shares = [better, differ - better, equal]
            total += stats.multinomial.pmf([first, second, examples - first - second], examples, shares)
    return total


def test_the_number_of_needed_examples_has_the_power_from_there_on():
    # with 8 examples, the power is 0.81, but with 10 it is 0.74
    assert power_by_enumeration(8, 1.0, 0.8) > 0.8 > power_by_enumeration(10, 1.0, 0.8)
    comparison = compare([1] * 9 + [0], [0] * 9 + [1])
    assert comparison.needed == 11
    assert all(power_by_enumeration(11 + more, 1.0, 0.8) > 0.8 for more in range(6))
    assert comparison.detectable > comparison.difference.value  # with the 10 examples at hand


def test_no_difference_is_detectable_with_the_power_of_equal_models():
    first, second = [1] * 16 + [0] * 24, [0] * 16 + [1] * 16 + [0] * 8
    assert np.isnan(compare(first, second, power=0.051).detectable)
    assert compare(first, second, power=0.2).detectable > 0


def test_scores_are_numbers():
    with pytest.raises(InputError, match="could not convert string to float: 'a'; expected numbers"):
        compare(["a", "b"], [1, 1])


def test_scores_that_differ_by_rounding_are_equal():
    pair = compare([0.1 + 0.2] * 15 + [0.3] * 5, [0.3] * 20)
    assert pair.difference[:2] == (0, 0)
    assert (pair.difference.p, pair.better, pair.worse, pair.difference.method) == (1, 0, 0, "exchange")
    tenths = np.array([[1, 2, 3], [3, 2, 1], [2, 2, 2]]).mean(axis=0)
    noisy = np.array([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [0.2] * 3]).mean(axis=0)
    assert compare(tenths / 10, noisy).difference.value == 0
    under_prompts = over_prompts([[0.1 + 0.2, 0.5], [0.3, 0.5]], [[0.3, 0.5], [0.1 + 0.2, 0.5]])
    assert (under_prompts.mean.value, under_prompts.mean.p) == (0, 1)
    assert under_prompts.population.value == 0


def test_examples_that_no_prompt_has_are_refused():
    with pytest.raises(InputError, match="no prompt is evaluated on example 1"):
        over_prompts([[1, np.nan, 0], [1, np.nan, 1]], [[0, np.nan, 0], [1, np.nan, 0]])


def test_a_large_score_that_models_share_hides_no_difference():
    """Such as the perplexity of an example on which all diverge."""
    first, second = [10, 20, 30, 40, 50, 60], [9, 19, 29, 39, 49, 59]
    small, large = compare([*first, 0], [*second, 0]), compare([*first, 1e13], [*second, 1e13])
    assert large.difference.value == pytest.approx(small.difference.value, rel=0.01)
    assert large.better == small.better == 6
    near = compare([1e12 + place % 3 for place in range(40)], [1e12] * 40)
    assert near.better == 26
    assert near.difference.value == pytest.approx(0.975, rel=1e-3)
