"""The best score of equally good candidates of which only scores are known."""

import re
from itertools import product
from math import comb, nan, sqrt

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from abovechance.best import expected_best, judge_reported
from abovechance.best.reported import most_likely, true_scores
from abovechance.core.errors import InputError
from tests.bench.best import REPORTED
from tests.conftest import REPOSITORY


@pytest.mark.parametrize(
    ("score", "examples", "candidates", "correlation", "observed"),
    [
        *((0.0035, 1000, 20, 0.95, 0.005), (0.995, 400, 20, 0.95, 1.0), (0.01, 500, 30, 0.9, 0.02)),
        *((0.5, 100, 50, 0.5, 0.6), (0.9, 200, 10, 0.3, 0.95), (1e-4, 1000, 5, 0.99, 0.001)),
    ],
)
def test_correlated_candidates_are_those_of_normal_variables(
    score, examples, candidates, correlation, observed
):
    """Also if scores are very low or very high, and a few examples decide."""
    generator, best = np.random.default_rng(1), []
    for _ in range(600):
        shared = np.sqrt(correlation) * generator.normal(size=examples)
        values = shared + np.sqrt(1 - correlation) * generator.normal(size=(candidates, examples))
        best.append((values < stats.norm.ppf(score)).mean(axis=1).max())
    result = expected_best(score, examples, candidates, correlation, observed)
    assert result.expected == pytest.approx(np.mean(best), abs=5 * np.std(best) / np.sqrt(600))
    assert result.p == pytest.approx(np.mean(np.array(best) >= observed - 1e-9), abs=0.08)


def test_the_public_report_of_34_candidates() -> None:
    # gepa-ai/gepa, issue 295: 68.3 % on 20 validation examples, 39.0 % on the test set
    luck = expected_best(0.39, examples=20, candidates=34, observed=0.683)
    assert luck.expected == pytest.approx(0.621, abs=0.0005)
    assert luck.expected - 0.39 == pytest.approx(0.23, abs=0.005)
    assert luck.p > 0.1


def test_independent_candidates_are_exact() -> None:
    counts = np.sort(np.random.default_rng(0).binomial(20, 0.39, (200_000, 34)), axis=1)
    luck = expected_best(0.39, 20, 34, observed=0.7)
    assert luck.expected == pytest.approx(counts[:, -1].mean() / 20, abs=0.001)
    assert luck.second == pytest.approx(counts[:, -2].mean() / 20, abs=0.001)
    assert luck.p == pytest.approx((counts[:, -1] >= 14).mean(), abs=0.004)
    assert (luck.low, luck.high) == pytest.approx(np.quantile(counts[:, -1], [0.025, 0.975]) / 20)


@pytest.mark.parametrize(("correlation", "best"), [(0.0, 0.689), (0.3, 0.683), (0.6, 0.673), (0.9, 0.658)])
def test_correlated_candidates_are_expected_lower(correlation: float, best: float) -> None:
    assert expected_best(0.62, 200, 30, correlation).expected == pytest.approx(best, abs=0.0015)


@pytest.mark.parametrize("correlation", [0.0, 0.5])
@pytest.mark.parametrize("score", [0.0, 1.0])
def test_without_luck_the_best_is_as_the_others(score: float, correlation: float) -> None:
    luck = expected_best(score, 10, 7, correlation, observed=score)
    assert (luck.expected, luck.second, luck.p) == (score, score, 1.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1.2, 10, 3), "score is 1.2"),
        ((0.5, 0, 3), "on 0 examples"),
        ((0.5, 10, 3, 1.0), "correlation is 1"),
        ((0.5, 10, 20_000, 0.5), "at most 10,000"),
    ],
)
def test_impossible_values_are_refused(arguments: tuple[float, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        expected_best(*arguments)  # type: ignore[arg-type]


def test_candidates_on_part_of_the_examples_are_not_chosen() -> None:
    best = judge_reported([0.9, 0.5, 0.6], [10, 100, 100])
    assert best.chosen == "2"
    assert best.candidates["candidate"].tolist() == ["2", "1", "0"]
    assert "correlation of 0" in best.assumption


@pytest.mark.thorough
@pytest.mark.slow
def test_the_debiased_score_of_equally_good_candidates_is_near_their_mean() -> None:
    generator = np.random.default_rng(5)
    errors, covered = [], 0
    for _ in range(200):
        best = judge_reported(generator.binomial(40, 0.5, 12) / 40, 40)
        errors.append(best.debiased - 0.5)
        covered += best.low <= 0.5 <= best.high
    assert 0 < np.mean(errors) < 0.035  # of 12.7 points that the observed score is too high
    assert covered >= 185


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "true"),
    [
        pytest.param(*search, marks=pytest.mark.slow if place > 0 else ())
        for place, search in enumerate(REPORTED.items())
    ],
)
def test_the_errors_of_corrected_scores_are_those_of_the_docs(name, true) -> None:
    generator, errors, covered = np.random.default_rng(20), [], 0
    for _ in range(100):
        scores = generator.binomial(50, true) / 50
        best = judge_reported(scores, 50)
        true_score = true[int(best.chosen)]
        errors.append((best.observed - true_score, best.debiased - true_score))
        covered += best.low <= true_score <= best.high
    observed, corrected = 100 * np.mean(errors, axis=0)
    page = (REPOSITORY / "docs" / "best.md").read_text()
    (row,) = re.findall(rf"^\| {name} \| (.*) \| (.*) \|$", page, re.MULTILINE)
    # the standard error of 100 searches is 0.4
    assert [observed, corrected] == pytest.approx([float(number) for number in row], abs=1.5)
    assert covered >= 94


@given(st.lists(st.tuples(st.integers(0, 40), st.sampled_from([40, 60])), min_size=2, max_size=40))
@settings(max_examples=50, deadline=None)
def test_no_distribution_of_true_scores_is_more_likely(cases) -> None:
    (right_answers, sizes), count = np.unique(np.array(cases).T, axis=1, return_counts=True)
    grid = np.linspace(0, 1, 101)
    likelihood = stats.binom.pmf(right_answers[:, None], sizes[:, None], grid)
    weights = most_likely(likelihood, count)
    assert weights.min() >= 0
    assert weights.sum() == pytest.approx(1)
    # the derivative of the log-likelihood in the direction of any distribution (Lindsay, 1983)
    assert (count @ (likelihood / (likelihood @ weights)[:, None]) / count.sum()).max() < 1 + 1e-4


def test_a_score_on_many_examples_is_known() -> None:
    scores = np.array([0.1234567, 0.7654321, 0.3])
    assert true_scores(scores, np.full(3, 10**8)) == pytest.approx(scores, abs=1e-4)


def test_true_scores_of_special_candidates() -> None:
    # equal scores leave nothing to correct, and one candidate is as good as it seems
    assert true_scores(np.array([0.6, 0.6]), np.array([10, 20])) == pytest.approx([0.6, 0.6])
    assert true_scores(np.array([0.0, 1.0]), np.array([5, 5])) == pytest.approx([0.0, 1.0], abs=0.01)
    # if answers are correlated, luck separates candidates less, so less of the lead is luck
    scores, sizes = np.array([0.7, *[0.5] * 8]), np.full(9, 50)
    leads = [true_scores(scores, sizes, correlation)[0] for correlation in (0.0, 0.5, 0.9)]
    assert leads == sorted(leads)
    assert leads[0] < 0.68 < leads[2]
    # order and repetition change nothing
    order = np.array([3, 0, 5, 1, 2, 4, 8, 7, 6])
    assert true_scores(scores[order], sizes) == pytest.approx(true_scores(scores, sizes)[order])


def test_a_candidate_on_few_examples_that_scores_higher_is_named() -> None:
    best = judge_reported([0.3, 0.9], [100, 80], ["a", "b"])
    assert (best.chosen, best.not_eligible) == ("a", "b")
    assert best.assumption.endswith(
        "Candidates with less than 90% of the examples are not chosen, but count as tried on as many as the "
        "chosen one, so luck is overestimated. One of these, 'b', scores higher: 90.0% on 80 examples."
    )
    assert "The chosen one does not stand out from the others (p = 1.00)." in " ".join(best.sentences)
    assert judge_reported([0.3, 0.2], [100, 80], ["a", "b"]).not_eligible is None


def test_a_stated_correlation_comes_with_the_bound_at_0() -> None:
    result = judge_reported([0.683, *[0.38] * 33], 20, correlation=0.5)
    independent = judge_reported([0.683, *[0.38] * 33], 20)
    assert f"At a correlation of 0, the best would be expected at {independent.expected_by_luck:.1%}" in (
        result.assumption
    )
    assert result.expected_by_luck < independent.expected_by_luck


def test_the_best_of_independent_candidates():
    result = expected_best(0.6, 10, 3, observed=0.75)
    below = stats.binom.cdf(range(11), 10, 0.6) ** 3
    pmf = np.diff(below, prepend=0)
    assert result.expected == pytest.approx((pmf * np.arange(11)).sum() / 10)
    ends = [np.flatnonzero(below >= q)[0] / 10 for q in (0.025, 0.975)]
    assert [result.low, result.high] == ends
    assert result.p == pytest.approx(1 - below[7])  # 0.75 of 10 is 8, rounded
    alone = expected_best(0.6, 1, 1)
    assert (alone.expected, np.isnan(alone.second), np.isnan(alone.p)) == (pytest.approx(0.6), True, True)
    # the score of a correlation is one draw of the seed
    assert expected_best(0.6, 10, 3, 0.5).expected == expected_best(0.6, 10, 3, 0.5, seed=0).expected
    assert expected_best(0.6, 10, 3, 0.5).expected != expected_best(0.6, 10, 3, 0.5, seed=1).expected


def test_the_best_of_correlated_candidates():
    score, examples, count, correlation = 0.6, 25, 4, 0.5
    result = expected_best(score, examples, count, correlation, observed=0.8)
    generator = np.random.default_rng(1)
    shared = generator.normal(size=(8000, 1, examples))
    noise = generator.normal(size=(8000, count, examples))
    latent = sqrt(correlation) * shared + sqrt(1 - correlation) * noise
    correct = np.sort((latent < stats.norm.ppf(score)).sum(axis=2), axis=1)
    assert result.expected == pytest.approx(correct[:, -1].mean() / examples, abs=0.006)
    assert result.second == pytest.approx(correct[:, -2].mean() / examples, abs=0.006)
    ends = np.quantile(correct[:, -1], [0.025, 0.975]) / examples
    assert (result.low, result.high) == pytest.approx(tuple(ends), abs=0.041)
    assert result.p == pytest.approx((correct[:, -1] >= 20).mean(), abs=0.03)
    assert np.isnan(expected_best(score, examples, count, correlation).p)
    assert expected_best(1.0, 5, 3, 0.5).expected == expected_best(1.0, 5, 3).expected == 1.0
    assert expected_best(0.0, 5, 3, 0.5).expected == 0.0
    assert expected_best(0.5, 5, 1, 0.5).expected == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1.1, 10, 3), "score is 1.1; expected a number from 0 to 1"),
        ((-0.1, 10, 3), "score is -0.1; expected a number from 0 to 1"),
        ((nan, 10, 3), "score is nan; expected a number from 0 to 1"),
        ((0.5, 10, 3, 1.0), "correlation is 1.0; expected a number from 0, below 1"),
        ((0.5, 10, 3, -0.1), "correlation is -0.1; expected a number from 0, below 1"),
        ((0.5, 10.5, 3), "3 candidates on 10.5 examples; expected at least 1 of each"),
        ((0.5, 10, 0), "0 candidates on 10 examples; expected at least 1 of each"),
        ((0.5, 0, 3), "3 candidates on 0 examples; expected at least 1 of each"),
        ((0.5, 10**8, 3), "examples is 100000000; expected at most 10,000,000"),
        ((0.5, 5, 10_001, 0.1), "candidates is 10001; expected at most 10,000 correlated ones"),
    ],
)
def test_arguments_outside_their_range(arguments, message):
    with pytest.raises(InputError) as error:
        expected_best(*arguments)
    assert str(error.value) == message


@pytest.mark.parametrize("observed", [65, -0.1, 1.1, nan])
def test_an_observed_score_outside_its_range_is_an_error(observed):
    with pytest.raises(InputError, match=f"observed is {observed}; expected a number from 0 to 1"):
        expected_best(0.39, 20, 34, observed=observed)


@pytest.mark.parametrize(
    ("first", "second", "examples"),
    [(20, 31, 50), (40, 60, 100), (10, 18, 20), (0, 5, 30), (400, 600, 1000), (7, 7, 20)],
)
def test_two_reported_scores_make_fishers_exact_test(first, second, examples):
    p = judge_reported([first / examples, second / examples], examples).p
    table = [[first, examples - first], [second, examples - second]]
    assert p == pytest.approx(stats.fisher_exact(table).pvalue, rel=1e-9)


@pytest.mark.parametrize("correlation", [0.0, pytest.param(0.5, marks=pytest.mark.slow)])
@pytest.mark.parametrize("candidates", [2, 5])
def test_equal_reported_scores_are_significant_in_at_most_one_of_twenty(candidates, correlation):
    generator, runs = np.random.default_rng(9), 150
    rejected = 0
    for _ in range(runs):
        common = generator.normal(size=60) * np.sqrt(correlation)
        single = generator.normal(size=(candidates, 60)) * np.sqrt(1 - correlation)
        scores = (common + single < 0).mean(axis=1)
        rejected += judge_reported(scores, 60, correlation=correlation).p <= 0.05
    assert rejected / runs < 0.05 + 2.6 * np.sqrt(0.05 * 0.95 / runs)


def test_a_mean_that_is_known_counts_as_the_true_score(monkeypatch):
    by_truth, by_mean = (expected_best(0.5, 20, 3, observed=0.75, estimated=e) for e in (False, True))
    assert by_truth.p == pytest.approx(1 - stats.binom(20, 0.5).cdf(14) ** 3)
    assert by_mean.p < by_truth.p
    assert by_mean.expected == pytest.approx(by_truth.expected, abs=0.003)
    assert by_truth.low <= by_mean.low <= by_mean.high <= by_truth.high
    by_truth, by_mean = (expected_best(0.5, 20, 2, 0.5, 0.75, estimated=e) for e in (False, True))
    assert by_mean.p < by_truth.p / 2
    assert by_truth.low < by_mean.low < by_mean.high < by_truth.high
    # of very many candidates, the best one's part of the mean does not count
    monkeypatch.setattr("abovechance.best.reported.MOST_ANSWERS", 20 * 50)
    for candidates in (1001, 50):
        best = [expected_best(0.5, 20, candidates, observed=0.95, estimated=e) for e in (False, True)]
        assert best[0] == best[1]
    assert expected_best(0.5, 20, 49, observed=0.95, estimated=True).p != best[0].p


@pytest.mark.parametrize(
    ("examples", "total", "candidates"), [(50, 1, 2), (30, 1, 4), (20, 30, 3), (10, 19, 2)]
)
def test_all_that_luck_explains_is_about_candidates_with_the_observed_mean(examples, total, candidates):
    """All ways to divide the right answers among candidates, with their probabilities."""
    ways = [counts for counts in product(range(examples + 1), repeat=candidates) if sum(counts) == total]
    weights = np.array([float(np.prod([comb(examples, count) for count in counts])) for counts in ways])
    weights /= weights.sum()
    ordered = np.sort(np.array(ways), axis=1)
    score = total / (examples * candidates)
    luck = expected_best(score, examples, candidates, observed=score, estimated=True)
    assert luck.expected == pytest.approx(weights @ ordered[:, -1] / examples, abs=0.002)
    assert luck.second == pytest.approx(weights @ ordered[:, -2] / examples, abs=0.002)
    assert luck.low - 1e-12 <= luck.expected <= luck.high + 1e-12


@pytest.mark.parametrize("scores", [(0.73, 0.59), (0.73267, 0.59406), (74 / 101, 60 / 101)])
def test_rounded_scores_have_the_p_value_of_their_numbers_of_correct_answers(scores):
    assert judge_reported(scores, 101).p == pytest.approx(stats.fisher_exact([[74, 60], [27, 41]]).pvalue)


def test_scores_that_are_no_rounded_shares_are_not_counted():
    # shares of points, and half credits
    for scores, examples in (([0.004, 0.003, 0.002], 100), ([0.85, *[0.625] * 6], 20)):
        best, mean = judge_reported(scores, examples), float(np.mean(scores))
        luck = expected_best(mean, examples, len(scores), 0.0, scores[0], estimated=True)
        assert (best.expected_by_luck, best.p) == pytest.approx((luck.expected, luck.p))


@pytest.mark.parametrize("examples", [[10, 1e300], [10, nan], [10.5, 10], [10, 10, 10], nan])
def test_numbers_of_examples_are_whole_and_one_for_each_candidate(examples):
    with pytest.raises(InputError, match="expected a whole number, or one for each candidate"):
        judge_reported([1, 0.5], examples)


def test_numbers_of_numpy_may_have_few_bits():
    small = expected_best(0.4, np.int8(20), np.int8(100), estimated=True)
    assert small == expected_best(0.4, 20, 100, estimated=True)
