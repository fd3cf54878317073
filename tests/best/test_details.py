"""Estimates against plain recomputations, whole results, and what is said of wrong input."""

import json
import re
from itertools import pairwise, permutations, product
from math import nan, sqrt

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from abovechance.best import Gate, expected_best, judge_reported
from abovechance.best.candidates import Candidates
from abovechance.best.debiased import (
    Debiased,
    Noise,
    binomial_interval,
    debiased_difference,
    debiased_score,
    largest_normal,
)
from abovechance.best.gate import STAKES, better_p
from abovechance.best.heldout import DEBIASED, HALVES, HELDOUT_DEBIASED, calibration, heldout_estimates
from abovechance.best.planning import examples_for_difference
from abovechance.best.selection import above_start, selection_null, sign_flips
from abovechance.best.study import DRAWS, LUCK, SELECTION, candidates_of, luck, selected
from abovechance.best.summary import judge_best
from abovechance.core.errors import InputError
from abovechance.core.settings import setting_of
from abovechance.results.response_matrix import ResponseMatrix


def simulated(seed, candidates=6, examples=40, kind="right or wrong", clusters=None, missing=0.0):
    """Scores of candidates; some of them continuous, missing, or in clusters."""
    generator = np.random.default_rng(seed)
    skill = generator.uniform(0.4, 0.8, candidates)[:, None]
    difficulty = generator.normal(0, 0.2, examples)
    scores = (generator.random((candidates, examples)) < skill + difficulty).astype(float)
    if kind == "shares":
        scores = np.clip(skill + difficulty + generator.normal(0, 0.2, scores.shape), 0, 1)
    scores[generator.random(scores.shape) < missing] = nan
    groups = None if clusters is None else np.arange(examples) % clusters
    return Candidates.from_scores(scores, [f"c{number}" for number in range(candidates)], groups)


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
    candidates = simulated(1, **kind)
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
    labels, results = sorted({*clusters}), []
    draws = np.random.default_rng(seed).random((splits, len(labels)))
    ranks = np.argsort(draws, axis=1)
    for turn in (True, False):
        for rank in ranks:
            chosen = (rank < (len(labels) + 1) // 2) == turn
            inside = np.array([chosen[labels.index(label)] for label in clusters])
            best, options = -np.inf, []
            centered = scores - np.nanmean(scores, axis=0)
            for row in range(len(scores)):
                validation, test = centered[row, inside], values[row, ~inside]
                if np.isnan(validation).all() or np.isnan(test).all():
                    continue
                mean = np.nanmean(validation)
                if mean > best + 1e-9:
                    best, options = mean, []
                if mean >= best - 1e-9:
                    options.append(np.nanmean(test))
            if options:
                results.append(np.mean(options))
    return float(np.mean(results)) if results else nan


@pytest.mark.parametrize("kind", KINDS)
def test_the_debiased_score(kind):
    candidates = simulated(2, **kind)
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
    value = plain_crossfit(scores, clusters, scores, 30, 5)
    result = debiased_score(candidates, confidence=0.9, splits=30, seed=5)
    assert result.observed == pytest.approx(means[chosen])
    assert result.value == pytest.approx(np.clip(value, low, high))
    assert (result.low, result.high) == pytest.approx((low, high))
    assert result.confidence == 0.9


@pytest.mark.parametrize("start", [0, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_the_debiased_difference(kind, start):
    candidates = simulated(3, **kind)
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
    own_variance = variances[rivals.index(candidates.chosen)] + 2 * np.nanmax(abs(chosen)) ** 2 / number
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
    five = simulated(4, examples=5)
    assert np.isfinite(debiased_score(five).value)
    assert np.isfinite(debiased_difference(five, (five.chosen + 1) % 6).value)
    four = debiased_score(simulated(4, examples=4), confidence=0.7)
    assert (four.confidence, np.isnan([four.value, four.low, four.high]).all()) == (0.7, True)
    assert four.observed > 0
    few = simulated(4, examples=4)
    difference = debiased_difference(few, (few.chosen + 1) % 6, confidence=0.7)
    assert np.isnan([difference.value, difference.low, difference.high]).all()
    assert difference.confidence == 0.7
    assert np.isfinite(difference.observed)
    chosen = simulated(4).chosen
    assert debiased_difference(simulated(4), chosen, 0.9) == Debiased(0.0, 0.0, 0.0, 0.0, 0.9)
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
    candidates = simulated(6)
    assert debiased_score(candidates) == debiased_score(candidates, seed=0)
    assert debiased_score(candidates).value != debiased_score(candidates, seed=1).value
    difference = debiased_difference(candidates)
    assert difference == debiased_difference(candidates, 0, seed=0)
    assert difference.value != debiased_difference(candidates, 0, seed=1).value


def exchanged(candidates):
    """Yield all results of exchanging the scores of each example among its candidates."""
    orders = []
    for place in range(candidates.scores.shape[1]):
        members = np.flatnonzero(~np.isnan(candidates.scores[:, place]))
        values = candidates.scores[members, place]
        orders.append([(members, np.array(order)) for order in permutations(values)])
    for choice in product(*orders):
        scores = np.full(candidates.scores.shape, nan)
        for place, (members, values) in enumerate(choice):
            scores[members, place] = values
        yield scores


@pytest.mark.parametrize(
    "scores",
    [
        [[1, 0, 1, 1], [0, 0, 1, 0], [1, 0, 0, 1]],
        [[1, 0.5, 1, nan], [0, 0.25, nan, 0], [0.75, nan, 0, 1]],
    ],
)
def test_all_exchanges(scores):
    candidates = Candidates.from_scores(scores)
    null = selection_null(candidates)
    best, largest = [], []
    for result in exchanged(candidates):
        means = np.nanmean(result, axis=1)
        values = (means - candidates.null_means) / candidates.null_deviations
        order = means if candidates.complete else values
        best.append(means[np.flatnonzero(order >= order.max() - 1e-9)[0]])
        largest.append(values.max())
    assert null.expected == pytest.approx(np.mean(best))
    ends = np.quantile(best, [0.025, 0.975], method="inverted_cdf")
    assert (null.low, null.high) == pytest.approx(tuple(ends))
    adjusted = [np.mean(np.array(largest) >= value - 1e-9) for value in candidates.standardized]
    assert null.adjusted == pytest.approx(adjusted)
    assert (null.p, null.draws) == (pytest.approx(adjusted[candidates.chosen]), 0)


@pytest.mark.parametrize("kind", [{"candidates": 8, "examples": 30}, {"examples": 30, "missing": 0.2}])
def test_random_exchanges(kind, monkeypatch):
    candidates = simulated(7, **kind)
    null = selection_null(candidates, draws=3000)
    assert null.draws == 3000
    assert null.expected == selection_null(candidates, draws=3000, seed=0).expected
    assert null.expected != selection_null(candidates, draws=3000, seed=1).expected
    generator, best, largest = np.random.default_rng(9), [], []
    for _ in range(3000):
        scores = np.full(candidates.scores.shape, nan)
        for place in range(scores.shape[1]):
            members = np.flatnonzero(~np.isnan(candidates.scores[:, place]))
            scores[members, place] = generator.permutation(candidates.scores[members, place])
        means = np.nanmean(scores, axis=1)
        values = (means - candidates.null_means) / candidates.null_deviations
        best.append(means[(means if candidates.complete else values).argmax()])
        largest.append(values.max())
    error = 5 * np.std(best) / sqrt(3000) * sqrt(2)
    assert null.expected == pytest.approx(np.mean(best), abs=error)
    ends = np.quantile(best, [0.025, 0.975])
    assert (null.low, null.high) == pytest.approx(tuple(ends), abs=0.04)
    expected = np.array([np.mean(np.array(largest) >= value - 1e-9) for value in candidates.standardized])
    assert null.adjusted == pytest.approx(expected, abs=0.06)
    # in batches of a few, the draws are as many
    monkeypatch.setattr("abovechance.best.selection.BATCH", candidates.scores.size * 7)
    batches = selection_null(candidates, draws=500)
    assert batches.expected == pytest.approx(np.mean(best), abs=2.5 * error)
    counts = batches.adjusted * 501
    assert counts == pytest.approx(counts.round())
    assert counts.max() <= 501


def test_p_values_of_random_exchanges_are_never_zero():
    scores = np.random.default_rng(0).random((6, 40)) / 2
    scores[0] += 0.5
    null = selection_null(Candidates.from_scores(scores), draws=500)
    assert null.p == pytest.approx(1 / 501)
    assert null.adjusted[1] == 1.0
    assert selection_null(Candidates.from_scores(scores), draws=1).draws == 1
    with pytest.raises(InputError, match=r"^draws is 0; expected at least 1$"):
        selection_null(Candidates.from_scores(scores), draws=0)
    assert notebook_rows(null) == {
        "expected best by luck": f"{null.expected:.4g}",
        "95 % of best scores": f"{null.low:.3f} to {null.high:.3f}",
        **{"p-value": f"{null.p:.4g}", "exchanges": "500"},
    }
    exact = selection_null(Candidates.from_scores([[0, 1, 0], [1, 1, 0]]))
    assert notebook_rows(exact)["exchanges"] == "all possible ones"


def notebook_rows(result):
    """Return the rows of what a notebook shows."""
    cells = re.findall(r"<t([hd]) [^>]*>(.*?)</t", result._repr_html_())
    names, values = ([text for kind, text in cells if kind == side] for side in "hd")
    return dict(zip(names, values, strict=True))


def test_a_judgement_in_a_notebook():
    best = judge_best(simulated(0), confidence=0.9)
    assert notebook_rows(best) == {
        **{"chosen": best.chosen, "observed": f"{best.observed:.4g}", "p-value": f"{best.p:.4g}"},
        **{"expected by luck": f"{best.expected_by_luck:.4g}", "debiased": f"{best.debiased:.4g}"},
        "90% interval": f"{best.low:.3f} to {best.high:.3f}",
    }


def test_signs_of_few_and_of_many_clusters():
    generator = np.random.default_rng(0)
    differences = generator.choice([-1.0, 0.0, 0.5, 1.0], (3, 8))
    clusters = np.array([0, 0, 1, 2, 3, 4, 5, 5])
    sums = np.stack([differences[:, clusters == label].sum(axis=1) for label in range(6)], axis=1)
    scaled = sums / np.sqrt((sums**2).sum(axis=1, keepdims=True))
    largest = [(scaled @ np.array(signs)).max() for signs in product([1, -1], repeat=6)]
    expected = [np.mean(np.array(largest) >= value - 1e-9) for value in scaled.sum(axis=1)]
    assert sign_flips(differences, clusters) == pytest.approx(expected)
    many = generator.choice([-1.0, 1.0], (4, 40), p=[0.4, 0.6])
    p = sign_flips(many, np.arange(40), draws=4000)
    assert np.array_equal(p, sign_flips(many, np.arange(40), draws=4000, seed=0))
    assert not np.array_equal(p, sign_flips(many, np.arange(40), draws=4000, seed=1))
    signs = generator.choice([-1, 1], (20_000, 40))
    largest = (signs @ many.T / sqrt(40)).max(axis=1)
    expected = [np.mean(largest >= value - 1e-9) for value in many.sum(axis=1) / sqrt(40)]
    assert p == pytest.approx(expected, abs=0.04)
    assert sign_flips(np.zeros((2, 40)), np.arange(40)).tolist() == [1.0, 1.0]
    assert sign_flips(np.ones((1, 40)), np.arange(40), draws=99) == pytest.approx([1 / 100])


def test_batches_of_signs(monkeypatch):
    many = np.random.default_rng(1).choice([-1.0, 1.0], (2, 40), p=[0.45, 0.55])
    monkeypatch.setattr("abovechance.best.selection.BATCH", 40 * 9)
    p = sign_flips(many, np.arange(40), draws=500)
    assert p * 501 == pytest.approx((p * 501).round())
    monkeypatch.undo()
    assert p == pytest.approx(sign_flips(many, np.arange(40), draws=20_000), abs=0.12)


def test_the_start_is_not_above_itself():
    candidates = simulated(8)
    p = above_start(candidates, 2, draws=700, seed=3)
    differences = candidates.scores - candidates.scores[2]
    assert p[2] == 1.0
    rivals = np.arange(6) != 2
    assert p[rivals].tolist() == sign_flips(differences, candidates.clusters, 700, 3)[rivals].tolist()


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_a_whole_judgement(missing):
    candidates = simulated(10, candidates=5, examples=30, missing=missing)
    best = judge_best(candidates, start=1, confidence=0.9, draws=600, seed=4)
    null, chosen = selection_null(candidates, 600, 4), candidates.chosen
    estimate = debiased_score(candidates, 0.9, seed=4)
    assert best.chosen == candidates.names[chosen]
    assert best.examples == candidates.examples[chosen]
    assert best.mean == pytest.approx(np.nanmean(candidates.scores))
    assert best.observed == pytest.approx(np.nanmean(candidates.scores[chosen]))
    assert (best.expected_by_luck, best.luck_low, best.luck_high) == (null.expected, null.low, null.high)
    assert (best.p, best.confidence, best.start) == (null.p, 0.9, "c1")
    assert (best.debiased, best.low, best.high) == (estimate.value, estimate.low, estimate.high)
    assert best.difference == debiased_difference(candidates, 1, 0.9, seed=4)
    p_start = above_start(candidates, 1, 600, 4)
    assert best.p_start == p_start[chosen]
    rank = -(candidates.means if missing == 0 else candidates.standardized)
    order = np.argsort(rank, kind="stable")
    table = best.candidates
    assert table.index.tolist() == [0, 1, 2, 3, 4]
    assert [*table.columns] == ["candidate", "examples", "score", "p", "difference", "p_start"]
    assert table["candidate"].tolist() == [candidates.names[place] for place in order]
    assert table["examples"].tolist() == candidates.examples[order].tolist()
    assert table["score"].tolist() == candidates.means[order].tolist()
    assert table["p"].tolist() == null.adjusted[order].tolist()
    differences = np.nanmean(candidates.scores - candidates.scores[1], axis=1)
    assert table["difference"].to_numpy() == pytest.approx(differences[order])
    expected = np.where(np.arange(5) == 1, nan, p_start)[order]
    assert table["p_start"].to_numpy() == pytest.approx(expected, nan_ok=True)
    assert best.assumption == (
        ""
        if missing == 0
        else "Candidates were evaluated on different examples. The best one stands out most among those with "
        "the same examples; its score need not be the highest."
    )


def test_a_judgement_without_a_start_and_with_what_is_usual():
    candidates = simulated(11, candidates=3, examples=20)
    best = judge_best(candidates)
    stated = judge_best(candidates, seed=0)
    assert (best.debiased, best.expected_by_luck) == (stated.debiased, stated.expected_by_luck)
    assert best.debiased != judge_best(candidates, seed=1).debiased
    assert (best.start, best.difference, best.confidence) == (None, None, 0.95)
    assert np.isnan(best.p_start)
    assert [*best.candidates.columns] == ["candidate", "examples", "score", "p"]


def test_candidates_without_an_example_of_the_start():
    scores = [[1, 0, 1, nan, nan], [0, 0, 1, 1, 1], [nan, nan, nan, 1, 0], [1, nan, nan, 0, 1]]
    table = judge_best(Candidates.from_scores(scores), start=0).candidates.set_index("candidate")
    assert np.isnan(table.loc["2", "difference"])
    assert table.loc["3", "difference"] == 0.0  # on one example
    assert table.loc["1", "difference"] == pytest.approx(-1 / 3)


@pytest.mark.parametrize("confidence", [0.0, 1.0, -0.1, 1.5])
def test_a_confidence_outside_its_range(confidence):
    with pytest.raises(InputError) as error:
        judge_best(simulated(0), confidence=confidence)
    assert str(error.value) == f"confidence is {confidence}; expected a number above 0 and below 1"


def test_candidates_with_no_example_in_common():
    with pytest.raises(InputError) as error:
        judge_best(Candidates.from_scores([[1, nan], [nan, 0]]))
    assert str(error.value) == (
        "no two candidates are evaluated on the same example, so they cannot be compared; expected common "
        "examples"
    )


def test_a_whole_judgement_of_reported_scores():
    scores, examples = np.array([0.62, 0.7, 0.55, 0.9, 0.6]), np.array([100, 90, 100, 20, 95])
    best = judge_reported(scores, examples, ["a", "b", "c", "d", "e"], correlation=0.3, confidence=0.9)
    mean = (scores * examples).sum() / examples.sum()
    luck_of_best = expected_best(mean, 90, 5, 0.3, 0.7)
    independent = expected_best(mean, 90, 5, 0.0, 0.7)
    assert (best.chosen, best.examples, best.observed) == ("b", 90, 0.7)
    assert best.mean == pytest.approx(mean)
    assert (best.expected_by_luck, best.luck_low, best.luck_high, best.p) == (
        *(luck_of_best.expected, luck_of_best.low, luck_of_best.high),
        luck_of_best.p,
    )
    noise = Noise(np.array([mean * (1 - mean)]), 0.3, 90)
    low, high = binomial_interval(0.7, 90, *noise.tails(5, 0.9, True))
    assert (best.low, best.high, best.confidence) == (pytest.approx(low), pytest.approx(high), 0.9)
    part = min(mean * (1 - mean) * 0.7 * np.mean(1 / examples) / scores.var(ddof=1), 1)
    assert best.debiased == pytest.approx(0.7 - part * (luck_of_best.expected - mean))
    assert low < best.debiased < high
    assert best.candidates.to_dict("list") == {
        **{"candidate": ["b", "a", "e", "c", "d"], "examples": [90, 100, 95, 100, 20]},
        **{"score": [0.7, 0.62, 0.6, 0.55, 0.9]},
    }
    p = f"{independent.p:.2g}"
    assert best.assumption == (
        "The answers to each example are unknown, so a correlation of 0.3 between candidates is assumed. At "
        f"a correlation of 0, the best would be expected at {independent.expected:.1%} (p = {p}). Candidates "
        "with fewer examples count as tried."
    )


def test_reported_scores_as_they_mostly_are():
    best = judge_reported([0.5, 0.5, 0.5], 40)
    assert best.candidates["candidate"].tolist() == ["0", "1", "2"]
    assert best.candidates["examples"].tolist() == [40, 40, 40]
    assert best.assumption == (
        "The answers to each example are unknown, so a correlation of 0 between candidates is assumed, which "
        "gives luck the largest part."
    )
    # equal scores: all of the lead is luck, and the interval is the limit
    assert best.debiased == pytest.approx(max(best.low, 1.0 - expected_best(0.5, 40, 3).expected))
    far = judge_reported([0.0, 1.0], 50)
    assert far.debiased == pytest.approx(
        1.0 - min(1, 0.25 / 50 / 0.5) * (expected_best(0.5, 50, 2).expected - 0.5)
    )
    assert judge_reported([0.0, 1.0], 1).chosen == "1"


@pytest.mark.parametrize(
    ("scores", "examples", "message"),
    [
        ([0.5], 10, "scores have the shape (1,); expected those of at least two candidates"),
        ([[0.5], [0.1]], 10, "scores have the shape (2, 1); expected those of at least two candidates"),
        ([0.5, 1.1], 10, "expected scores from 0 to 1, each of at least one example"),
        ([-0.1, 0.5], 10, "expected scores from 0 to 1, each of at least one example"),
        ([0.5, 0.6], [10, 0], "expected scores from 0 to 1, each of at least one example"),
        ([0.5, nan], 10, "expected scores from 0 to 1, each of at least one example"),
    ],
)
def test_reported_scores_that_are_none(scores, examples, message):
    with pytest.raises(InputError) as error:
        judge_reported(scores, examples)
    assert str(error.value) == message


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
        ((0.5, 10, 0), "0 candidates on 10 examples; expected at least 1 of each"),
        ((0.5, 0, 3), "3 candidates on 0 examples; expected at least 1 of each"),
        ((0.5, 5, 10_001, 0.1), "candidates is 10001; expected at most 10,000 correlated ones"),
    ],
)
def test_arguments_outside_their_range(arguments, message):
    with pytest.raises(InputError) as error:
        expected_best(*arguments)
    assert str(error.value) == message


@pytest.mark.parametrize(("accuracy", "correlation"), [(0.6, 0.5), (0.5, 0.0), (0.9, 0.9), (0.0, 0.5)])
def test_the_number_of_examples(accuracy, correlation):
    difference, candidates, alpha, power = 0.1, 20, 0.1, 0.9
    first, second = accuracy * (1 - accuracy), (accuracy + 0.1) * (0.9 - accuracy)
    variance = max(first + second - 2 * correlation * sqrt(first * second), 0.1 - 0.01)
    nodes = np.linspace(-8, 8, 4001)
    values = np.linspace(0, 6, 6001)
    density = stats.norm.pdf(nodes) * (nodes[1] - nodes[0])
    below = density @ stats.norm.cdf((values[None] - sqrt(0.5) * nodes[:, None]) / sqrt(0.5)) ** candidates
    critical = values[np.searchsorted(below, 1 - alpha)]
    expected = ((critical + stats.norm.ppf(power)) ** 2) * variance / difference**2
    result = examples_for_difference(difference, candidates, accuracy, correlation, alpha, power)
    assert result == pytest.approx(expected, abs=2)
    assert result >= expected - 1.5


def test_numbers_of_examples_unless_stated():
    stated = examples_for_difference(0.1, 5, accuracy=0.5, correlation=0.5, alpha=0.05, power=0.8)
    assert examples_for_difference(0.1, 5) == stated
    assert examples_for_difference(1.0, 1, accuracy=0.0, alpha=0.9, power=0.1) == 2
    assert examples_for_difference(0.1, 5, accuracy=0.9) > 2  # up to 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"difference": 0}, "difference is 0; expected a number above 0, at most 1"),
        ({"difference": 1.01}, "difference is 1.01; expected a number above 0, at most 1"),
        ({"difference": nan}, "difference is nan; expected a number above 0, at most 1"),
        ({"candidates": 0}, "candidates is 0; expected a number at least 1"),
        ({"accuracy": 1.0}, "accuracy is 1.0; expected a number from 0, below 1"),
        ({"accuracy": -0.1}, "accuracy is -0.1; expected a number from 0, below 1"),
        ({"correlation": 1.0}, "correlation is 1.0; expected a number from 0, below 1"),
        ({"correlation": -0.1}, "correlation is -0.1; expected a number from 0, below 1"),
        ({"alpha": 0.0}, "alpha is 0.0; expected a number above 0, below 1"),
        ({"alpha": 1.0}, "alpha is 1.0; expected a number above 0, below 1"),
        ({"power": 0.0}, "power is 0.0; expected a number above 0, below 1"),
        ({"power": 1.0}, "power is 1.0; expected a number above 0, below 1"),
        (
            {"accuracy": 0.95, "difference": 0.06},
            "accuracy 0.95 plus difference 0.06 is above 1; use a smaller difference",
        ),
    ],
)
def test_plans_outside_their_range(arguments, message):
    with pytest.raises(InputError) as error:
        examples_for_difference(**{"difference": 0.1, "candidates": 5, **arguments})
    assert str(error.value) == message


def predictions(seed, prompts=6, examples=40, model="m", task="t", evaluated=1.0):
    """The table of predictions of a setting."""
    generator = np.random.default_rng(seed)
    rows = [
        {
            **{"model": model, "task": task, "shots": 1, "prompt": prompt, "example": f"e{example}"},
            "correct": bool(generator.random() < 0.4 + 0.05 * prompt),
        }
        for prompt in range(prompts)
        for example in range(examples)
        if generator.random() < evaluated
    ]
    table = pd.DataFrame(rows)
    table["chance"] = 0.5
    return table


def test_candidates_of_a_setting():
    matrix = ResponseMatrix.from_predictions(predictions(0, evaluated=0.8))
    candidates = candidates_of(matrix, {"e0": 7, "e1": 7, "e2": 8})
    assert candidates.names == tuple(map(str, matrix.prompts))
    assert np.isnan(candidates.scores).sum() == (~matrix.evaluated).sum() > 0
    groups = dict(zip(map(str, matrix.examples), candidates.clusters, strict=True))
    assert groups["e0"] == groups["e1"] != groups["e2"]
    single = [groups[name] for name in groups if name not in ("e0", "e1")]
    assert len({*single}) == len(single)
    assert len({*candidates_of(matrix, {}).clusters}) == len(matrix.examples)


def test_the_table_of_selections():
    settings = [predictions(1), predictions(2, prompts=1, task="u"), predictions(3, prompts=2, task="v")]
    clusters = {"t": {f"e{number}": number // 2 for number in range(40)}}
    table = selected(settings, clusters, 5)
    assert [*table.columns] == [*SELECTION.columns]
    assert table["task"].tolist() == ["t", "v"]
    for row, rows in zip(table.to_dict("records"), (settings[0], settings[2]), strict=True):
        setting = setting_of(rows)
        candidates = candidates_of(ResponseMatrix.from_predictions(rows), clusters.get(setting.task, {}))
        null = selection_null(candidates, draws=DRAWS, seed=setting.seed(5, "selection"))
        estimate = debiased_score(candidates, seed=setting.seed(5, "halves"))
        assert row == {
            **{"model": "m", "task": setting.task, "shots": 1, "expected_by_luck": null.expected},
            **{"selection_tail": null.p, "debiased_accuracy": estimate.value},
            **{"debiased_low": estimate.low, "debiased_high": estimate.high},
        }
    none = selected([settings[1]], clusters, 5)
    assert [*none.columns] == [*SELECTION.columns]


def test_the_table_of_luck():
    verdicts = pd.DataFrame({name: [1, 2, 3] for name in [*LUCK.columns, "other"]})
    verdicts["expected_by_luck"] = [nan, 0.5, 0.6]
    table = luck(verdicts)
    assert [*table.columns] == [*LUCK.columns]
    assert table.index.tolist() == [0, 1]
    assert table["expected_by_luck"].tolist() == [0.5, 0.6]


@pytest.mark.parametrize("evaluated", [1.0, 0.5])
def test_heldout_estimates_of_a_setting(evaluated):
    rows = predictions(4, evaluated=evaluated)
    clusters = {"t": {f"e{number}": number // 2 for number in range(40)}}
    table = heldout_estimates([rows, predictions(5, prompts=1)], clusters, 6, 0.75, [1, 2, 6, 9])
    assert [*table.columns] == [*DEBIASED.columns]
    setting = setting_of(rows)
    candidates = candidates_of(ResponseMatrix.from_predictions(rows), clusters["t"])
    generator = np.random.default_rng(setting.seed(6, "debiased"))
    groups, expected = np.unique(candidates.clusters), []
    for split in range(20):
        chosen = generator.permutation(groups)[: int(0.75 * len(groups))]
        order = generator.permutation(6)
        inside = np.isin(candidates.clusters, chosen)
        for requested in (2, 6, 9):
            scores = candidates.scores[np.sort(order[:requested])]
            half = Candidates.from_scores(scores[:, inside], clusters=candidates.clusters[inside])
            estimate = debiased_score(half, splits=HALVES, seed=setting.seed(6, "halves"))
            test = scores[half.chosen, ~inside]
            expected.append(
                {
                    **{"model": "m", "task": "t", "shots": 1, "split": split, "requested_prompts": requested},
                    **{"prompts": len(scores), "validation_examples": half.examples[half.chosen]},
                    **{"validation_accuracy": estimate.observed, "debiased_accuracy": estimate.value},
                    **{"debiased_low": estimate.low, "debiased_high": estimate.high},
                    **{"test_examples": (~np.isnan(test)).sum(), "test_accuracy": np.nanmean(test)},
                }
            )
    expected = pd.DataFrame(expected)
    names = {"model": str, "task": str}
    pd.testing.assert_frame_equal(table.astype(names), expected.astype(names), check_dtype=False)


def test_prompts_that_lack_a_part_are_not_chosen_from():
    rows = predictions(7, prompts=3, examples=8)
    # prompt 0 has a single example, and prompt 1 two: one of the parts has none of prompt 0's
    second = (rows["prompt"] == 1) & (rows["example"] == "e1")
    rows = rows[(rows["prompt"] == 2) | (rows["example"] == "e0") | second]
    table = heldout_estimates([rows], {}, 0, 0.5, [2, 3])
    assert set(table["prompts"]) <= {2}
    two = heldout_estimates([predictions(8, prompts=2)], {}, 0, 0.5, [2])
    assert len(two) == 20
    assert set(two["prompts"]) == {2}


def outcome(task, examples, validation, debiased, test, low=0.4, high=0.8, **more):
    return {
        **{"model": "m", "task": task, "shots": 1, "split": 0, "requested_prompts": 5, "prompts": 5},
        **{"validation_examples": examples, "validation_accuracy": validation, "debiased_accuracy": debiased},
        **{"debiased_low": low, "debiased_high": high, "test_examples": 25, "test_accuracy": test, **more},
    }


def test_the_calibration_of_outcomes():
    table = pd.DataFrame(
        [
            outcome("t", 40, 0.7, 0.6, 0.5),
            outcome("t", 40, 0.8, 0.6, 0.64),
            outcome("u", 90, 0.9, 0.7, 0.6),
            outcome("u", 90, 0.9, 0.7, 0.6, prompts=4),  # fewer than requested
            outcome("u", 90, 0.9, nan, 0.6),
        ]
    )
    result = calibration(table)
    assert [*result.columns] == [*HELDOUT_DEBIASED.columns]
    assert result["validation_examples"].tolist() == ["all", "up to 50", "51 to 100"]
    assert result["outcomes"].tolist() == [3, 2, 1]
    assert result["requested_prompts"].tolist() == [5, 5, 5]
    first = result.iloc[0]
    assert first["validation_error"] == pytest.approx((0.2 + 0.16 + 0.3) / 3)
    assert first["debiased_error"] == pytest.approx((0.1 - 0.04 + 0.1) / 3)
    assert first["validation_distance"] == pytest.approx(sqrt((0.18**2 + 0.3**2) / 2))
    assert first["debiased_distance"] == pytest.approx(sqrt((0.03**2 + 0.1**2) / 2))
    assert calibration(table[table["task"] == "t"])["validation_examples"].tolist() == ["all"]
    none = calibration(table[table["debiased_accuracy"].isna()])
    assert [*none.columns] == [*HELDOUT_DEBIASED.columns]


def test_coverage_allows_for_the_error_of_the_test_accuracy():
    reach = stats.norm.isf(0.025) * sqrt(0.6 * 0.4 / 25)
    low, high = 0.6 - sqrt(0.2**2 + reach**2), 0.6 + sqrt(0.1**2 + reach**2)
    for test, covered in (
        *((low + 1e-6, 1), (low - 1e-6, 0), (high - 1e-6, 1), (high + 1e-6, 0)),
        *((low - 5e-13, 1), (high + 5e-13, 1)),
    ):
        table = pd.DataFrame([outcome("t", 40, 0.7, 0.6, test, low=0.4, high=0.7)])
        assert calibration(table)["coverage"].tolist() == [covered], test


def test_bets():
    values = np.array([0.5, -0.25, 0.75, 0.1, 0.4])
    capital = np.mean([np.prod(1 + stake * values) for stake in STAKES])
    assert better_p(values) == pytest.approx(1 / capital)
    assert better_p([0.1, -0.5, -0.5]) == 1.0
    assert better_p(np.full(2000, 0.9)) < 1e-100
    assert better_p([1, 1, 1, -1]) == pytest.approx(5 / 16)
    assert better_p([0, 0, -1]) == 1.0


def test_a_gate_in_a_notebook_and_in_a_file(tmp_path):
    gate = Gate("start", {"a": 0, "b": 0, "c": 0, "d": 0, "e": 1}, alpha=0.1, planned=2)
    decision = gate.consider("new", {"a": 1, "b": 1, "c": 1, "d": 1, "e": 1})
    assert (decision.difference, decision.replaces) == (pytest.approx(0.8), False)
    assert notebook_rows(gate) == {
        **{"incumbent": "start", "candidates tested": "1", "replacements": "0"},
        **{"next level": "0.05", "alpha": "0.1"},
    }
    # exactly at its level
    even = Gate("start", dict.fromkeys("abcd", 0), alpha=1 / 16, planned=1)
    assert even.consider("new", dict.fromkeys("abcd", 1)).replaces
    path = tmp_path / "gate.json"
    gate.save(path)
    assert path.read_text().startswith('{\n  "format": ')
    assert Gate.load(path) == gate
    stored = json.loads(path.read_text())
    for change in ({"decisions": [{"candidate": "x"}]}, {"unknown": 1}):
        path.write_text(json.dumps(stored | change))
        with pytest.raises(InputError) as error:
            Gate.load(path)
        assert "Gate.save" in str(error.value)
        assert str(path) in str(error.value)


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ({"a": 1.5}, "candidate 'x', example 'a': the score is 1.5; expected a number from 0 to 1"),
        ({"a": -1}, "candidate 'x', example 'a': the score is -1.0; expected a number from 0 to 1"),
        ({"a": "?"}, "candidate 'x': expected {example: score}, with numbers"),
        ([1], "candidate 'x': expected {example: score}, with numbers"),
        ({1: 1, "1": 0}, "candidate 'x': two examples have the same name as a text"),
        ({}, "candidate 'x' has no score; expected a score for each example"),
    ],
)
def test_scores_that_are_none(scores, message):
    with pytest.raises(InputError) as error:
        Gate("x", scores)
    assert str(error.value) == message
    with pytest.raises(InputError) as error:
        Gate("start", {"a": 1}).consider("x", scores)
    assert str(error.value) == message


def test_a_candidate_is_tested_once():
    gate = Gate("start", {"a": 0.5})
    gate.consider("new", {"a": 0.5})
    with pytest.raises(InputError) as error:
        gate.consider("new", {"a": 1})
    assert str(error.value) == "candidate 'new' is in the search already; use another name"


def test_levels_fall():
    gate = Gate("start", {"a": 0.0})
    levels = []
    for number in range(3):
        levels.append(gate.level)
        gate.consider(str(number), {"a": 0.0})
    assert levels == pytest.approx([0.05 * 6 / (np.pi * number) ** 2 for number in (1, 2, 3)])
    assert all(later < earlier for earlier, later in pairwise(levels))
