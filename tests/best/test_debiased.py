"""The debiased score and its interval: by hand, by other packages, and in simulations."""

from math import nan, sqrt

import numpy as np
import pytest
from scipy import stats

from abovechance.best.candidates import Candidates
from abovechance.best.debiased import (
    Debiased,
    Noise,
    binomial_interval,
    debiased_difference,
    debiased_score,
    largest_normal,
)
from abovechance.best.summary import judge_best
from tests.best.simulated import answers, some_candidates, true_scores


@pytest.mark.parametrize("correct", [0, 1, 14, 20])
def test_the_binomial_interval_is_scipys(correct: int) -> None:
    ours = binomial_interval(correct / 20, 20, 0.025, 0.025)
    theirs = stats.binomtest(correct, 20).proportion_ci(method="exact")
    assert ours == pytest.approx((theirs.low, theirs.high))


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("truth", "examples"),
    [
        (np.full(100, 0.02), 20),
        (np.full(200, 0.05), 20),
        (np.full(100, 0.1), 50),
        (np.array([0.97] + [0.5] * 50), 30),
        (np.array([0.98] + [0.3] * 20), 50),
        (np.array([0.99] + [0.5] * 20), 100),
    ],
)
def test_intervals_cover_very_low_and_very_high_scores(truth: np.ndarray, examples: int) -> None:
    missed = np.zeros(2)
    for seed in range(200):
        scores = answers(np.random.default_rng(seed), truth, examples)
        candidates = Candidates.from_scores(scores)
        estimate = debiased_score(candidates, splits=2)
        missed += (
            estimate.low > truth[candidates.chosen] + 1e-12,
            estimate.high < truth[candidates.chosen] - 1e-12,
        )
    assert (missed <= stats.binom(200, 0.025).ppf(0.9999)).all()


def test_equal_differences_still_have_an_error() -> None:
    candidates = Candidates.from_scores([[0.0] * 12, [1.0] * 12, *[[0.0] * 12] * 40])
    assert debiased_difference(candidates, 0).low < 0.6


def test_answers_that_are_all_alike_do_not_show_that_the_start_is_as_good() -> None:
    candidates = Candidates.from_scores([[1.0] * 10, [1.0] * 10])
    change = debiased_difference(candidates, 1 - candidates.chosen)
    assert change.value == 0
    assert (change.low, change.high) == pytest.approx((-0.32, 0.32), abs=0.01)


def test_clusters_without_variance_count_as_one_example_each() -> None:
    by_example = Candidates.from_scores([[1.0] * 5, [1.0] * 5])
    members = Candidates.from_scores([[1.0] * 50, [1.0] * 50], clusters=np.repeat(np.arange(5), 10))
    assert debiased_score(members).low <= debiased_score(by_example).low
    start = 1 - members.chosen
    assert debiased_difference(members, start).low <= debiased_difference(by_example, start).low


def test_clusters_that_only_the_start_has_say_nothing() -> None:
    clusters = np.repeat(np.arange(25), 4)
    start = np.where(np.arange(100) % 2, 0.75, 0.25)
    rival = np.where(np.arange(100) < 20, start + 0.25, np.nan)
    few = Candidates.from_scores([start[:20], rival[:20]], clusters=clusters[:20])
    many = Candidates.from_scores([start, rival], clusters=clusters)
    assert few.chosen == many.chosen == 1
    pair = [debiased_difference(candidates, 0) for candidates in (few, many)]
    widths = [change.high - change.low for change in pair]
    assert widths[1] > 0.7 * widths[0]  # by the quantiles of more clusters, but with the same errors
    fewer = Candidates.from_scores([start, np.where(np.arange(100) < 16, rival, np.nan)], clusters=clusters)
    assert np.isnan(debiased_difference(fewer, 0).low)  # four clusters of the chosen one


@pytest.mark.thorough
def test_a_few_equal_differences_do_not_show_how_much_they_vary() -> None:
    truth = np.array([1e-9] + [0.8] * 5 + [1e-9] * 194)
    missed = 0
    for seed in range(200):
        candidates = Candidates.from_scores(answers(np.random.default_rng(seed), truth, 20))
        change = debiased_difference(candidates, 0, splits=2)
        missed += not change.low <= truth[candidates.chosen] <= change.high
    assert missed <= stats.binom(200, 0.05).ppf(0.999)


@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.9])
def test_the_largest_of_correlated_normals(count: int, correlation: float) -> None:
    value = largest_normal(count, correlation, 0.025)
    covariance = np.full((count, count), correlation) + (1 - correlation) * np.eye(count)
    below = stats.multivariate_normal.cdf(np.full(count, value), np.zeros(count), covariance, abseps=1e-7)
    assert below == pytest.approx(0.975, abs=1e-5)


def test_the_largest_of_independent_normals() -> None:
    # a single one, however alike it would be to others
    for correlation in (0.5, 0.99, 0.999):
        assert largest_normal(1, correlation, 0.05) == pytest.approx(stats.norm.isf(0.05), abs=1e-6)
    assert largest_normal(5000, 0.99, 0.05) == pytest.approx(2.005, abs=1e-3)
    assert largest_normal(200, 0.0, 0.025) == pytest.approx(stats.norm.isf(1 - 0.975 ** (1 / 200)))


def test_noise_of_independent_and_of_identical_candidates() -> None:
    generator = np.random.default_rng(0)
    clusters = np.arange(4000)
    independent = Noise.from_scores(answers(generator, np.full(5, 0.6), 4000), clusters)
    assert independent.variance == pytest.approx(0.24, abs=0.005)
    assert independent.correlation == pytest.approx(0, abs=0.01)
    copies = np.tile(answers(generator, np.full(1, 0.6), 4000), (5, 1))
    assert Noise.from_scores(copies, clusters).correlation == pytest.approx(0.999)
    # two copies of each example are one
    twice = Noise.from_scores(np.repeat(copies, 2, axis=1), np.repeat(clusters, 2))
    assert twice.variance == pytest.approx(2 * Noise.from_scores(copies, clusters).variance)


def test_the_choice_on_one_half_is_scored_on_the_other() -> None:
    # on every half, the first candidate is better on the examples that it answers, and the second is never
    scores = np.array([[1.0] * 8, [0.0] * 8])
    estimate = debiased_score(Candidates.from_scores(scores))
    assert estimate.observed == 1.0
    assert estimate.value == 1.0
    assert 0.4 < estimate.low < estimate.high == pytest.approx(1.0)
    # equally good candidates that never agree: the better one of a half is the worse one of the other
    scores = np.array([[1.0] * 10 + [0.0] * 10, [0.0] * 10 + [1.0] * 10])
    estimate = debiased_score(Candidates.from_scores(scores))
    assert estimate.value < estimate.observed == 0.5


def test_without_enough_clusters_there_is_no_estimate() -> None:
    scores = np.array([[1.0, 1.0, 1.0, 0.0, 1.0, 1.0], [0.0, 1.0, 0.0, 0.0, 1.0, 0.0]])
    estimate = debiased_score(Candidates.from_scores(scores, clusters=[0, 0, 1, 1, 2, 2]))
    assert np.isnan([estimate.value, estimate.low, estimate.high]).all()
    assert debiased_score(Candidates.from_scores(scores)).low > 0


def test_the_start_compared_with_itself() -> None:
    candidates = Candidates.from_scores([[1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 1.0, 0.0]])
    assert debiased_difference(candidates, 0).value == 0.0
    assert debiased_difference(candidates, 1).observed == 0.75


CASES = [
    (kind, candidates, examples, score, correlation)
    for kind in ("equal", "one better", "different", "many worse")
    for candidates, examples, score, correlation in (
        (2, 20, 0.9, 0.3),
        (20, 10, 0.4, 0.0),
        (30, 100, 0.6, 0.5),
        (200, 60, 0.5, 0.2),
    )
]


@pytest.mark.thorough
@pytest.mark.parametrize(("kind", "candidates", "examples", "score", "correlation"), CASES)
def test_intervals_cover_the_chosen_candidate_and_its_difference(
    kind: str, candidates: int, examples: int, score: float, correlation: float
) -> None:
    generator = np.random.default_rng([len(kind), candidates, examples])
    truth = true_scores(kind, candidates, score)
    covered, bias = np.zeros(2), np.zeros(2)
    repeats = 200
    for _ in range(repeats):
        candidates_tried = Candidates.from_scores(answers(generator, truth, examples, correlation))
        value, gain = truth[candidates_tried.chosen], truth[candidates_tried.chosen] - truth[0]
        estimate, difference = (
            debiased_score(candidates_tried, splits=20),
            debiased_difference(candidates_tried, splits=20),
        )
        covered += (
            estimate.low <= value <= estimate.high,
            difference.low - 1e-9 <= gain <= difference.high + 1e-9,
        )
        bias += estimate.observed - value, estimate.value - value
    assert (covered / repeats > 0.95 - 2.6 * np.sqrt(0.05 * 0.95 / repeats)).all()
    # choosing by half of the examples finds the better one less often, so the estimate is then too low
    assert abs(bias[1] / repeats) < (0.12 if kind == "one better" else 0.05)
    if kind == "equal":
        assert bias[0] / repeats > 0.02


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["one wide", "half wide", "skewed", "one large cluster"])
def test_intervals_cover_scores_that_are_not_right_or_wrong(kind: str) -> None:
    generator, covered = np.random.default_rng(6), np.zeros(2)
    clusters = np.repeat(np.arange(20), [60, *[2] * 19]) if kind == "one large cluster" else None
    for _ in range(200):
        scores = np.clip(generator.normal(0.5, 0.02, (20, 50)), 0, 1)
        wide = 1 if kind == "one wide" else 10
        scores[:wide] = generator.random((wide, 50)) < 0.5
        truth = 0.5
        if kind == "skewed":
            scores, truth = generator.beta(0.05, 2, (20, 30)), 0.05 / 2.05
        elif clusters is not None:
            share = generator.beta(1, 1, (5, 20))
            scores = (generator.random((5, 98)) < share[:, clusters]).astype(float)
        search = Candidates.from_scores(scores, clusters=clusters)
        estimate, difference = debiased_score(search, splits=5), debiased_difference(search, splits=5)
        # with too few clusters, the ends are missing, and no claim is wrong
        covered += (
            not estimate.low > truth and not estimate.high < truth,
            not difference.low > 0 and not difference.high < 0,
        )
    assert (covered / 200 > 0.9).all(), covered / 200


KINDS = [
    {},
    {"candidates": 2, "examples": 9},
    {"kind": "shares"},
    {"clusters": 8},
    {"kind": "shares", "clusters": 10},
    {"missing": 0.3},
    {"kind": "shares", "missing": 0.2, "clusters": 12},
]


def plain_noise(scores, clusters):
    """Variances, their mean correlation and the number of clusters, by loops over the definitions."""
    labels = sorted({*clusters})
    errors = np.zeros((len(scores), len(labels)))
    variances = []
    for number, row in enumerate(scores):
        places = [place for place in range(len(row)) if not np.isnan(row[place])]
        mean = sum(row[place] for place in places) / len(places)
        for place in places:
            errors[number, labels.index(clusters[place])] += (row[place] - mean) / sqrt(len(places))
        used = max(len({clusters[place] for place in places}), 2)
        variances.append((errors[number] ** 2).sum() * used / (used - 1))
    sizes = [list(clusters).count(label) for label in labels]
    effective = sum(sizes) ** 2 / sum(size**2 for size in sizes)
    total = (errors.sum(axis=0) ** 2).sum() / (errors**2).sum()
    correlation = min(max((total - 1) / (len(scores) - 1), 0.0), 0.999) if len(scores) > 1 else 0.0
    return np.array(variances), correlation, effective


@pytest.mark.parametrize("kind", KINDS)
def test_noise(kind):
    candidates = some_candidates(1, **kind)
    noise = Noise.from_scores(candidates.scores, candidates.clusters)
    variances, correlation, effective = plain_noise(candidates.scores, candidates.clusters)
    assert noise.variances == pytest.approx(variances)
    assert noise.variance == pytest.approx(variances.mean())
    assert noise.correlation == pytest.approx(correlation)
    assert noise.clusters == pytest.approx(effective)


def test_noise_without_errors_or_of_one_candidate():
    errorless = Noise.from_scores(np.ones((3, 4)), np.arange(4))
    assert (errorless.variances.tolist(), errorless.correlation, errorless.clusters) == ([0, 0, 0], 0.0, 4.0)
    single = Noise.from_scores(np.array([[0.0, 1.0, 1.0, nan]]), np.array([0, 1, 2, 2]))
    assert single.correlation == 0.0
    assert single.clusters == pytest.approx(16 / 6)
    assert single.variances == pytest.approx([(4 + 1 + 1) / 9 / 3 * 3 / 2])


def test_tails():
    noise = Noise(np.array([0.2]), 0.3, 12.0)
    tail, binomial = 0.05, noise.tails(5, 0.9, True)
    assert binomial == pytest.approx((stats.norm.sf(largest_normal(5, 0.3, tail)), tail))
    few = stats.t.isf(tail, 11) / stats.norm.isf(tail)
    expected = [stats.norm.sf(few * value) for value in (largest_normal(5, 0.3, tail), stats.norm.isf(tail))]
    assert noise.tails(5, 0.9) == pytest.approx(expected)
    # a single cluster and less has the widest of Student's distributions
    alone = Noise(np.array([0.2]), 0.0, 1.0).tails(1, 0.9)
    assert alone == pytest.approx([stats.norm.sf(stats.t.isf(tail, 1))] * 2)


def test_ends_of_exact_intervals():
    low, high = binomial_interval(0.3, 20, 0.01, 0.05)
    assert low == pytest.approx(stats.beta.ppf(0.01, 6, 15))
    assert high == pytest.approx(stats.beta.ppf(0.95, 7, 14))
    assert binomial_interval(0.0, 20, 0.01, 0.05) == (0.0, pytest.approx(stats.beta.ppf(0.95, 1, 20)))
    assert binomial_interval(1.0, 20, 0.01, 0.05) == (pytest.approx(stats.beta.ppf(0.01, 20, 1)), 1.0)


def plain_crossfit(scores, clusters, values, splits, seed):
    """The mean of ``values``, on one half, of the best on the other half, one split after the other."""
    labels, results, weights = sorted({*clusters}), [], []
    draws = np.random.default_rng(seed).random((splits, len(labels)))
    ranks = np.argsort(draws, axis=1)
    for turn in (True, False):
        for rank in ranks:
            chosen = (rank < (len(labels) + 1) // 2) == turn
            inside = np.array([chosen[labels.index(label)] for label in clusters])
            best, options, sizes = -np.inf, [], []
            centered, variances = scores - np.nanmean(scores, axis=0), np.nanvar(scores, axis=0)
            for row in range(len(scores)):
                validation, test = centered[row, inside], values[row, ~inside]
                if np.isnan(validation).all() or np.isnan(test).all():
                    continue
                variance = variances[inside][~np.isnan(validation)].sum()
                above = np.nansum(validation) / (np.sqrt(variance) if variance > 1e-12 else 1.0)
                if above > best + 1e-9:
                    best, options, sizes = above, [], []
                if above >= best - 1e-9:
                    options.append(np.nanmean(test))
                    sizes.append((~np.isnan(test)).sum())
            if options:
                results.append(np.average(options, weights=sizes))
                weights.append(np.mean(sizes))
    return float(np.average(results, weights=weights)) if results else nan


@pytest.mark.parametrize("kind", KINDS)
def test_the_debiased_score(kind):
    candidates = some_candidates(2, **kind)
    scores, clusters, chosen = candidates.scores, candidates.clusters, candidates.chosen
    variances, correlation, effective = plain_noise(scores, clusters)
    means = np.array([np.nanmean(row) for row in scores])
    spreads = means * (1 - means)
    ratio = max(variances.mean() / spreads.mean(), variances[chosen] / spreads[chosen])
    single = effective == scores.shape[1]
    ratio = min(ratio, 1.0) if single else ratio
    tails = Noise(variances, correlation, effective).tails(len(scores), 0.9, single and ratio == 1.0)
    size = (~np.isnan(scores[chosen])).sum() / ratio
    low, high = binomial_interval(means[chosen], size, *tails)
    above = scores - np.nanmean(scores, axis=0)
    base = means[chosen] - np.nanmean(above[chosen])
    value = base + plain_crossfit(scores, clusters, above, 30, 5)
    result = debiased_score(candidates, confidence=0.9, splits=30, seed=5)
    assert result.observed == pytest.approx(means[chosen])
    assert result.value == pytest.approx(np.clip(value, low, high))
    assert (result.low, result.high) == pytest.approx((low, high))
    assert result.confidence == 0.9


@pytest.mark.parametrize("shares", [(0.6, 0.6), pytest.param((0.2, 0.9), marks=pytest.mark.slow), (0.9, 0.4)])
def test_a_search_that_drops_candidates_after_a_few_examples(shares):
    """20 candidates, all equally good, on 10 examples, and the 5 best ones and the start on 50 more."""
    generator = np.random.default_rng(0)
    truth, errors = np.repeat(shares, [10, 50]), []
    for seed in range(60):
        scores = (generator.random((20, 60)) < truth).astype(float)
        dropped = np.argsort(-scores[:, :10].sum(axis=1), kind="stable")[5:]
        scores[np.ix_(dropped[dropped != 0], np.arange(10, 60))] = nan
        candidates = Candidates.from_scores(scores)
        evaluated = ~np.isnan(scores[candidates.chosen])
        result = debiased_score(candidates, splits=50, seed=seed)
        assert result.low <= result.value <= result.high
        errors.append(result.value - truth[evaluated].mean())
        best = judge_best(candidates, draws=100, seed=seed)
        assert best.expected_by_luck > best.mean
    assert abs(np.mean(errors)) < 0.03


@pytest.mark.thorough
def test_the_corrected_score_of_successive_halving_as_the_page_states_it():
    """32 candidates, all right on 80 %; after 4, 8, 16 and 48 examples, the worse half is dropped."""
    generator = np.random.default_rng(7)
    rounds, errors = [4, 4, 8, 16, 32], []
    for seed in range(100):
        scores, last = np.full((32, 64), nan), 0
        candidates = np.arange(32)
        for count in rounds:
            scores[candidates, last : last + count] = generator.random((len(candidates), count)) < 0.8
            last += count
            means = np.nanmean(scores[candidates], axis=1) + 1e-6 * generator.random(len(candidates))
            candidates = candidates[np.argsort(-means)[: max(2, len(candidates) // 2)]]
        result = debiased_score(Candidates.from_scores(scores), splits=50, seed=seed)
        errors.append((result.value - 0.8, result.observed - 0.8, not result.low <= 0.8 <= result.high))
    corrected, observed, missed = np.mean(errors, axis=0)
    assert 0.01 < corrected < 0.035
    assert 0.06 < observed < 0.09
    assert missed <= 0.05


@pytest.mark.parametrize("start", [0, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_the_debiased_difference(kind, start):
    candidates = some_candidates(3, **kind)
    start = min(start, len(candidates.names) - 1)
    if candidates.chosen == start:
        start = (start + 1) % len(candidates.names)
    shared = ~np.isnan(candidates.scores[start])
    scores, clusters = candidates.scores[:, shared], candidates.clusters[shared]
    differences = scores - scores[start]
    chosen = differences[candidates.chosen]
    rivals = [row for row in range(len(scores)) if row != start and not np.isnan(differences[row]).all()]
    variances, correlation, effective = plain_noise(differences[rivals], clusters)
    number, observed = (~np.isnan(chosen)).sum(), np.nanmean(chosen)
    # two clusters more, with the largest difference and its negative
    sizes = np.array([((~np.isnan(chosen)) & (clusters == label)).sum() for label in {*clusters}])
    doubt = 2 * np.nanmax(abs(chosen)) ** 2 * (sizes**2).sum() ** 2 / number**3
    own_variance = variances[rivals.index(candidates.chosen)] + doubt
    error = sqrt(max(variances.mean(), own_variance) / number)
    lower, upper = Noise(variances, correlation, effective).tails(len(rivals), 0.8)
    low = max(observed - stats.norm.isf(lower) * error, -1)
    high = min(observed + stats.norm.isf(upper) * error, 1)
    value = plain_crossfit(scores, clusters, differences, 30, 5)
    result = debiased_difference(candidates, start, confidence=0.8, splits=30, seed=5)
    assert result.observed == pytest.approx(observed)
    assert (result.low, result.high) == pytest.approx((low, high))
    assert result.value == pytest.approx(np.clip(value, low, high))
    assert result.confidence == 0.8


def test_estimates_at_their_edges():
    five = some_candidates(4, examples=5)
    assert np.isfinite(debiased_score(five).value)
    assert np.isfinite(debiased_difference(five, (five.chosen + 1) % 6).value)
    four = debiased_score(some_candidates(4, examples=4), confidence=0.7)
    assert (four.confidence, np.isnan([four.value, four.low, four.high]).all()) == (0.7, True)
    assert four.observed > 0
    few = some_candidates(4, examples=4)
    difference = debiased_difference(few, (few.chosen + 1) % 6, confidence=0.7)
    assert np.isnan([difference.value, difference.low, difference.high]).all()
    assert difference.confidence == 0.7
    assert np.isfinite(difference.observed)
    chosen = some_candidates(4).chosen
    assert debiased_difference(some_candidates(4), chosen, 0.9) == Debiased(0.0, 0.0, 0.0, 0.0, 0.9)
    separate = Candidates.from_scores([[0, 0, 1, 0, 0, nan, nan], [nan] * 5 + [1, 1], [0, 1, 0, 0, 0, 1, 0]])
    unknown = debiased_difference(separate, 0)
    assert np.isnan([unknown.observed, unknown.value, unknown.low, unknown.high]).all()
    # the largest possible difference ends the interval
    all_better = Candidates.from_scores([[0] * 6, [1] * 6, [0] * 6])
    result = debiased_difference(all_better, 0)
    assert (result.observed, result.high) == (1.0, 1.0)
    all_worse = Candidates.from_scores([[1, 1, 1, 1, 1, 0], [0, 0, 0, 0, 0, 0.1]])
    assert debiased_difference(all_worse, 1).high == 1.0


def test_seeds_and_starts_unless_stated():
    candidates = some_candidates(6)
    assert debiased_score(candidates) == debiased_score(candidates, seed=0)
    assert debiased_score(candidates).value != debiased_score(candidates, seed=1).value
    difference = debiased_difference(candidates)
    assert difference == debiased_difference(candidates, 0, seed=0)
    assert difference.value != debiased_difference(candidates, 0, seed=1).value
