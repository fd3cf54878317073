"""Power, the exchange of models and McNemar's test, each from its definition."""

from itertools import pairwise, product
from math import ceil, inf, sqrt

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from abovechance.compare import compare, exchanged, mcnemar, paired, ranks, together, two_models
from abovechance.compare.comparison import compare_models
from abovechance.compare.responses import Responses
from abovechance.compare.two_models import ScoreTest, StudentTest, difference_test, largest
from abovechance.core.errors import InputError
from abovechance.core.estimates import clustered_mean
from abovechance.core.searching import least_lasting

DIFFERENCES = np.random.default_rng(0).normal(0.4, 1, 24)
CLUSTERS = np.repeat(np.arange(8), 3)


@pytest.fixture
def student_test() -> StudentTest:
    return StudentTest(clustered_mean(DIFFERENCES, CLUSTERS), DIFFERENCES)


@pytest.mark.parametrize("times", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("delta", [0.0, 0.3, -0.3, 1.0])
def test_the_power_of_students_test_is_that_of_the_noncentral_distribution(student_test, times, delta):
    clusters = 8 * times
    centre = abs(delta) / student_test.mean.standard_error * sqrt(times)
    reach = stats.t(clusters - 1).isf(0.1 / 2)
    rejected = stats.nct(clusters - 1, centre)
    expected = rejected.sf(reach) + rejected.cdf(-reach)
    assert student_test.power(delta, times, 0.9) == pytest.approx(expected, rel=1e-6)


def test_students_test_finds_almost_everything_far_away(student_test):
    error = student_test.mean.standard_error
    assert student_test.power(200 * error, 1.0, 0.95) == 1.0
    assert student_test.power(100 * error, 1e5, 0.95) == pytest.approx(1.0)


@pytest.mark.parametrize("power", [0.3, 0.8, 0.999999])
def test_what_students_test_detects_and_needs(student_test, power):
    detectable = student_test.detectable(0.9, power)
    assert student_test.power(detectable, 1.0, 0.9) == pytest.approx(power, abs=1e-7)
    needed = student_test.needed(0.9, power)
    enough, fewer = (
        student_test.power(student_test.mean.value, max(examples / 24, 2 / 8), 0.9)
        for examples in (needed, needed - 1)
    )
    assert enough >= power > fewer or needed == 2


def test_a_large_difference_needs_two_clusters_and_no_more():
    # with fewer than two clusters there is no degree of freedom, whatever the difference is
    differences = 5 + 1e-6 * DIFFERENCES
    test = StudentTest(clustered_mean(differences, CLUSTERS), differences)
    assert test.needed(0.95, 0.8) == 2
    assert test.power(5.0, 2 / 8, 0.95) >= 0.8


def test_few_clusters_detect_only_what_is_far_away():
    differences = np.array([0.0, 1.0])
    test = StudentTest(clustered_mean(differences), differences)
    detectable = test.detectable(0.999, 0.99)
    assert detectable > 20 * test.mean.standard_error
    assert test.power(detectable, 1.0, 0.999) == pytest.approx(0.99, abs=1e-6)


def test_students_interval_has_the_confidence_that_is_asked_for(student_test):
    mean = clustered_mean(DIFFERENCES, CLUSTERS, 0.8)
    assert student_test.interval(0.8) == pytest.approx((mean.low, mean.high))
    assert (student_test.name, student_test.p) == ("Student", mean.p)


@pytest.mark.parametrize(("delta", "examples"), [(0.1, 40), (0.0, 40), (-0.3, 15), (0.5, 7), (1.0, 12)])
def test_the_power_of_the_score_test_is_a_sum_over_all_results(delta, examples):
    test = ScoreTest(9, 6, 50)
    differ = max(15 / 50, abs(delta))
    first_alone, second_alone = (differ + abs(delta)) / 2, (differ - abs(delta)) / 2
    expected = 0.0
    for better in range(examples + 1):
        for worse in range(examples + 1 - better):
            # McNemar's statistic without a correction
            if better + worse and abs(better - worse) >= stats.norm.isf(0.05) * sqrt(better + worse) - 1e-9:
                cells = [better, worse, examples - better - worse]
                expected += stats.multinomial(examples, [first_alone, second_alone, 1 - differ]).pmf(cells)
    assert test.power(delta, examples, 0.9) == pytest.approx(expected, rel=1e-6)


def test_what_the_score_test_detects_and_needs():
    test = ScoreTest(9, 3, 50)
    assert test.power(test.detectable(0.9, 0.7), 50, 0.9) == pytest.approx(0.7, abs=1e-5)
    needed = int(test.needed(0.9, 0.7))
    powers = [test.power(6 / 50, examples, 0.9) for examples in (needed - 1, needed)]
    assert powers[0] < 0.7 <= powers[1]
    assert np.isnan(ScoreTest(5, 5, 50).needed(0.95, 0.8))
    assert np.isnan(ScoreTest(1, 0, 3).detectable(0.95, 0.8))  # three examples are never enough
    assert np.isnan(ScoreTest(0, 0, 50).detectable(0.95, 0.8))
    assert ScoreTest(4, 0, 4).varies is ScoreTest(0, 4, 4).varies is ScoreTest(0, 0, 4).varies is False
    assert ScoreTest(3, 1, 4).varies is ScoreTest(1, 0, 4).varies is True


def test_more_examples_than_a_thousand_millions_are_no_plan():
    assert two_models._least_examples(least_lasting, lambda examples: examples / 2**20, 0.5) == 2**19
    assert two_models._least_examples(least_lasting, lambda examples: examples / 1000, 0.777) == 777
    assert two_models._least_examples(least_lasting, lambda _: 1.0, 0.5) == 2
    limit = two_models.MOST_EXAMPLES
    assert np.isnan(two_models._least_examples(least_lasting, lambda _: 0.1, 0.5))
    assert two_models._least_examples(least_lasting, lambda examples: examples / limit, 0.5) == ceil(
        limit / 2
    )


def far(sums: np.ndarray) -> float:
    """The share of all exchanges with a sum as far from 0."""
    signs = np.array([*product((1, -1), repeat=len(sums))])
    return float(np.mean(np.abs(signs @ sums) >= abs(sums.sum()) - 1e-9))


@pytest.mark.parametrize(
    "sums",
    [
        [1.0, 1.0, 1.0, -1.0, 2.0],
        [0.5, -0.25, 1.0, 0.75],  # means over four prompts
        [0.1, 0.2, 0.3, -0.1],  # multiples of the least
        [0.1234, 0.777, -0.3141, 0.2, 0.5],  # multiples of nothing
        [1e-9, 3e-9, -2e-9],
        [3.0, 3.0],
        [1 / 7, 3 / 7, -2 / 7, 1.0],
    ],
)
def test_all_exchanges_of_few_clusters_are_counted(sums):
    assert exchanged(sums) == pytest.approx(far(np.array(sums)))
    assert exchanged([*sums, 0.0, 1e-14 * max(sums)]) == pytest.approx(far(np.array(sums)))


def test_many_clusters_that_are_multiples_of_nothing_are_drawn():
    sums = np.random.default_rng(3).normal(0.2, 1, 40)
    draws = np.random.default_rng(4).choice((1.0, -1.0), (100_000, 40))
    share = np.mean(np.abs(draws @ sums) >= abs(sums.sum()))
    computed = exchanged(sums, 999, 5)
    assert computed == pytest.approx(share, abs=0.06)
    assert computed == exchanged(sums, 999, 5) != exchanged(sums, 999, 6)
    assert computed * 1000 == pytest.approx(round(computed * 1000))  # (b + 1) / (B + 1)
    assert exchanged(sums) == exchanged(sums, 9999, 0)


def test_the_exact_distribution_of_many_clusters_is_a_binomial():
    for count in (30, 499, 500, 3000):
        sums = np.where(np.arange(count) % 5 == 0, -1.0, 1.0)
        expected = 2 * stats.binom(count, 0.5).sf((count + sums.sum()) / 2 - 1)
        assert exchanged(sums) == pytest.approx(min(expected, 1), rel=1e-9)
    two_sizes = np.concatenate([np.ones(700), np.full(700, -2.0)])
    first, second = (stats.binom(700, 0.5).pmf(np.arange(701)) for _ in "ab")
    # sums of the ones are 2i - 700, those of the twos 4j - 1400
    totals = np.abs((2 * np.arange(701) - 700)[:, None] + (4 * np.arange(701) - 1400)[None])
    expected = np.outer(first, second)[totals >= 700].sum()
    assert exchanged(two_sizes) == pytest.approx(expected, rel=1e-6)
    assert exchanged(np.concatenate([np.ones(900), -np.ones(900)])) == 1.0


def test_exact_steps_are_counted_up_to_a_limit(monkeypatch):
    sums = np.array([1.0, 2.0, -1.0, 1.0, 3.0])
    calls: list[object] = []
    permutation_test = stats.permutation_test
    monkeypatch.setattr(
        stats,
        "permutation_test",
        lambda *total, **named: calls.append(named) or permutation_test(*total, **named),
    )
    monkeypatch.setattr(two_models, "MOST_STEPS", 8)
    assert exchanged(sums) == pytest.approx(far(sums))
    assert not calls
    monkeypatch.setattr(two_models, "MOST_STEPS", 7)
    assert exchanged(sums) == pytest.approx(far(sums))
    assert len(calls) == 1


def test_means_over_as_many_prompts_as_are_tried_are_exact(monkeypatch):
    monkeypatch.setattr(stats, "permutation_test", None)
    primes = np.array([263, 269, -271])  # in units of the least, these are no means either
    assert two_models.MOST_PROMPTS == 256
    assert exchanged(primes / 256) == pytest.approx(far(primes))
    with pytest.raises(TypeError):
        exchanged(primes / 257)


@pytest.mark.parametrize("sums", [[], [0.5], [0.5, 0.0], [0.0, 0.0]])
def test_the_exchange_of_one_difference_or_none_says_nothing(sums):
    assert exchanged(sums) == 1.0


@pytest.mark.parametrize("sums", [[[1.0, 2.0]], [1.0, inf], [[np.nan]]])
def test_sums_that_are_no_row_of_numbers_are_an_error(sums):
    with pytest.raises(InputError) as error:
        exchanged(sums)
    assert str(error.value) == "expected one finite difference per cluster, in one dimension"


def test_mcnemars_test_is_exact():
    first, second = [1, 1, 1, 1, 1, 0, 1, 0], [0, 0, 0, 0, 1, 1, 0, 0]
    assert mcnemar(first, second) == stats.binomtest(5, 6).pvalue
    assert mcnemar(second, first) == stats.binomtest(5, 6).pvalue
    assert mcnemar([1, 0, 1, 0], [0, 1, 1, 0]) == 1.0
    assert mcnemar([1, 0], [1, 0]) == 1.0
    for scores in ([1, 0.5], [1, 2]):
        assert np.isnan(mcnemar(scores, [1, 0]))
        assert np.isnan(mcnemar([1, 0], scores))
    with pytest.raises(InputError):
        mcnemar([1], [1, 0])
    first = pd.Series([1.0, 0.0], ["a", "b"])
    with pytest.raises(InputError, match="have the label 'a' at different positions"):
        mcnemar(first, first[::-1])


@pytest.mark.parametrize(("correct", "clusters"), [(1.0, None), (2.0, None), (1.0, [0, 1, 2, 3, 4, 5])])
def test_right_and_wrong_answers_by_themselves_have_the_score_test(correct, clusters):
    first, second = (correct * np.array(row) for row in ([1, 1, 0, 1, 1, 0], [0, 1, 1, 0, 0, 0.0]))
    _, test = difference_test(first, second, clusters, correct)
    assert test == ScoreTest(3, 1, 6)
    _, test = difference_test(first, second, [0, 0, 1, 2, 3, 4], correct)
    assert isinstance(test, StudentTest)
    mean, test = difference_test(first / 3, second, clusters, correct, 0.8)
    assert isinstance(test, StudentTest)
    assert (mean.confidence, test.mean) == (0.8, mean)
    assert test.differences.tolist() == (first / 3 - second).tolist()


def answers_of_clusters(generator: np.random.Generator, sizes: list[int], shares: tuple[float, float]):
    """Answers of two models that differ on whole clusters: the first is better on a share, and worse."""
    better, worse = shares
    differences = generator.choice([1, -1, 0], p=[better, worse, 1 - better - worse], size=len(sizes))
    by_example = np.repeat(differences, sizes)
    return (by_example > 0).astype(float), (by_example < 0).astype(float)


def test_the_interval_of_answers_in_clusters_reaches_as_far_as_the_score_interval():
    clusters = np.repeat(np.arange(30), 4)
    for gains, losses in ((4, 1), (1, 4), (7, 1), (2, 0), (15, 14)):
        numbers = np.repeat(np.arange(30), 4)
        first, second = (numbers < gains) * 1.0, ((numbers >= gains) & (numbers < gains + losses)) * 1.0
        comparison = compare(first, second, clusters)
        mean = clustered_mean(first - second, clusters)
        # copies of one answer count once; Student's quantile is that of 29 degrees of freedom
        level = 1 - 2 * stats.norm.sf(stats.t(29).isf(0.025))
        low, high = ScoreTest(gains, losses, 30).interval(level)
        assert (low < mean.low or high > mean.high) == (gains + losses < 15)
        rejects = mean.p <= 0.05
        assert rejects == (gains == 7)
        ends = comparison.difference.low, comparison.difference.high
        expected = 0.0 if rejects and low < 0 else min(low, mean.low), max(high, mean.high)
        assert ends == pytest.approx(expected, abs=2e-9)
        assert (ends[0] > 0) == rejects
        assert comparison.difference.p == pytest.approx(mean.p)
        sample = paired([first, second, 5 * first], clusters)  # of which one has other numbers
        assert sample.difference(0, 1).interval(0.025) == pytest.approx(ends)
        assert sample.difference(1, 0).interval(0.025) == pytest.approx((-ends[1], -ends[0]))


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("shares", [(0.1, 0.0), (0.05, 0.2), (0.3, 0.3), (0.9, 0.05)])
def test_the_interval_in_clusters_excludes_0_if_and_only_if_the_test_rejects(seed, shares):
    generator = np.random.default_rng(seed)
    sizes = generator.integers(1, 12, 15).tolist()
    first, second = answers_of_clusters(generator, sizes, shares)
    clusters, ends = np.repeat(np.arange(15), sizes), []
    for confidence in (0.5, 0.8, 0.9, 0.95, 0.99):
        difference = compare(first, second, clusters, confidence).difference
        if not np.isnan(difference.low):
            assert -1 <= difference.low <= difference.value <= difference.high <= 1
            assert (difference.p <= 1 - confidence) == (not difference.low <= 0 <= difference.high)
            ends.append((difference.low, difference.high))
    for (low, high), (wider_low, wider_high) in pairwise(ends):
        assert wider_low <= low <= high <= wider_high


@pytest.mark.parametrize("largest_size", [5, 15])  # 18 % and 50 % with Student's interval
def test_few_clusters_that_differ_in_one_direction_rarely_mislead(largest_size):
    generator = np.random.default_rng(1)
    sizes = ([1] * 9 + [largest_size]) * 20
    clusters, misses = np.repeat(np.arange(200), sizes), 0
    for _ in range(300):
        _, test = difference_test(*answers_of_clusters(generator, sizes, (0.03, 0.0)), clusters)
        low, high = test.interval(0.95)
        misses += not low <= 0.03 <= high
    assert misses <= 0.05 * 300


def test_one_difference_of_a_large_share_of_clusters_has_nested_intervals():
    clusters = np.repeat(np.arange(15), [1] * 12 + [10] * 3)
    first, second = np.ones(42), (np.arange(42) == 1) * 1.0
    lows = [compare(first, second, clusters, level, 0.9).difference.low for level in (0.5, 0.8, 0.9, 0.95)]
    assert lows == sorted(lows, reverse=True)
    assert 0 < lows[-1] < 0.1


def test_an_end_just_above_0_is_named_in_the_sentence():
    scores = np.array([[[np.arange(12) < 10]], [[np.zeros(12)]]], dtype=float)
    names = [str(number) for number in range(12)]
    responses = Responses("t", 0, ["A", "B"], ["p"], names, scores[:, 0], [*scores], np.arange(12) // 2, [])
    ((task,), _) = compare_models([responses])
    assert task.sentence.startswith(
        "A is better by 83.3 percentage points (95% confidence interval just above 0 to 100.0, p = 4.1e-03)."
    )


def test_models_with_very_small_scores_are_in_groups_of_their_own():
    scores = np.random.default_rng(0).normal(size=(3, 200)) + np.array([[0.0], [1.0], [2.0]])
    for unit in (1.0, 1e-13):
        assert ranks(paired(unit * scores), [*"abc"])["groups"].tolist() == [*"abc"]


def test_the_mean_over_tasks_with_clusters_has_a_p_value_below_those_of_its_tasks():
    """Of two independent tasks on which whole clusters differ, most of them in one direction."""
    generator, sizes = np.random.default_rng(0), [1] * 37 + [10] * 3
    clusters, rejections = np.repeat(np.arange(40), sizes), 0
    for _ in range(60):
        tasks = [paired([*answers_of_clusters(generator, sizes, (0.3, 0.05))], clusters) for _ in range(2)]
        difference = together(tasks).difference(0, 1)
        single = [task.difference(0, 1) for task in tasks]
        if min(task.value for task in single) > 0 or max(task.value for task in single) < 0:
            assert difference.p <= max(task.p for task in single)
        for tail in (0.25, 0.05, 0.025):
            low, high = difference.interval(tail)
            if difference.spread.standard_error > 0:
                assert (difference.p <= 2 * tail) == (not low <= 0 <= high)
                reversed_low, reversed_high = difference.reversed.interval(tail)
                assert (reversed_low, reversed_high) == pytest.approx((-high, -low))
        rejections += difference.p <= 0.05
    assert rejections >= 35


@pytest.mark.parametrize("moved", range(3))
def test_scores_and_clusters_with_labels_in_another_order_are_refused(moved):
    values = [pd.Series(row, [*"abcd"]) for row in ([1.0, 0, 1, 1], [0.0, 0, 1, 0], [0, 0, 1, 1])]
    assert compare(*values).clusters == 2
    values[moved] = values[moved][::-1]
    with pytest.raises(InputError, match="at different positions"):
        compare(*values)
    values[(moved + 1) % 3] = values[(moved + 1) % 3].to_numpy()  # the two others have labels
    with pytest.raises(InputError, match="at different positions"):
        compare(*values)


def test_levels_of_a_comparison_are_between_0_and_1():
    for name in ("confidence", "power"):
        for value in (0.0, 1.0, 1.5):
            with pytest.raises(InputError, match=f"^{name} is {value}; expected"):
                compare([1, 0, 1], [0, 0, 1], **{name: value})


def test_differences_of_shares_are_at_most_1_and_others_may_be_larger():
    shares, larger = compare([0.9, 0.1, 0.5], [0.1, 0.9, 0.4]), compare([2.9, 0.1, 0.5], [0.1, 0.9, 0.4])
    assert (shares.difference.low, shares.difference.high) == (-1, 1)
    assert np.isnan(shares.detectable)
    assert larger.difference.high > 1
    assert larger.detectable > 1
    reversed_difference = compare([0.1, 0.9, 0.4], [2.9, 0.1, 0.5]).difference
    assert reversed_difference.low == pytest.approx(-larger.difference.high)


def test_the_largest_score():
    assert largest([-3.0, 2.0]) == 3.0
    assert largest([0.0, 0.0]) == 1.0
    assert largest([5e-324]) == np.finfo(float).tiny


def test_every_number_of_a_comparison():
    generator = np.random.default_rng(6)
    first, second = generator.integers(0, 5, (2, 24)).astype(float)
    comparison = compare(first, second, CLUSTERS, 0.9, 0.7)
    mean = clustered_mean(first - second, CLUSTERS, 0.9)
    test = StudentTest(mean, first - second)
    assert comparison.difference[:9] == pytest.approx(mean[:9])
    assert comparison.difference.method == "Student"
    expected = two_models.welch(*(clustered_mean(scores, CLUSTERS) for scores in (first, second)), 0.9)
    assert comparison.unpaired[:9] == pytest.approx(expected[:9])
    assert comparison.gain == pytest.approx((expected.standard_error / mean.standard_error) ** 2)
    assert (comparison.examples, comparison.clusters) == (24, 8)
    assert (comparison.first, comparison.second) == (first.mean(), second.mean())
    assert (comparison.better, comparison.worse) == ((first > second).sum(), (first < second).sum())
    assert comparison.detectable == pytest.approx(test.detectable(0.9, 0.7))
    assert comparison.needed == test.needed(0.9, 0.7)
    assert "detectable" in comparison._repr_html_()


@pytest.mark.parametrize(
    ("first", "second", "options", "message"),
    [
        (
            [1, 0],
            [1, 0],
            {"confidence": 1.0},
            "confidence is 1.0; expected a number above 0 and below 1",
        ),
        (
            [1, 0],
            [1, 0],
            {"power": 0.0},
            "power is 0.0; expected a number above 0 and below 1",
        ),
        (
            [1, 0],
            [1, 0],
            {"confidence": 0.6, "power": 0.4},
            "power is 0.4; expected more than the significance level, 0.4",
        ),
        (
            [[1, 0]],
            [[1, 0]],
            {},
            "scores of the shapes (1, 2) and (1, 2); expected one score per example, for the same examples",
        ),
        (
            [1, 0],
            [1, 0, 1],
            {},
            "scores of the shapes (2,) and (3,); expected one score per example, for the same examples",
        ),
        ([1], [0], {}, "1 examples; expected at least 2"),
        ([1, 0, np.nan], [1, 0, 1], {}, "score 2 of the first model is nan; expected a number"),
        ([1, 0, 1], [1, -np.inf, np.nan], {}, "score 1 of the second model is -inf; expected a number"),
    ],
)
def test_what_cannot_be_compared_is_told_in_full(first, second, options, message):
    with pytest.raises(InputError) as error:
        compare(first, second, **options)
    assert str(error.value) == message
