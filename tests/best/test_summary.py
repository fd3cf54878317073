"""Whole judgements of the best candidate, from scores on each example and from reported scores."""

from dataclasses import replace
from math import nan

import numpy as np
import pytest
from scipy import stats

from abovechance.best import expected_best, judge_reported
from abovechance.best.candidates import Candidates
from abovechance.best.debiased import (
    Noise,
    binomial_interval,
    debiased_difference,
    debiased_score,
)
from abovechance.best.reported import answer_correlation, true_scores
from abovechance.best.selection import above_start, selection_null
from abovechance.best.summary import _correct, judge_best
from abovechance.core.errors import InputError
from abovechance.shown.candidates import candidate_numbers
from tests.best.simulated import notebook_rows, some_candidates


def test_a_judgement_in_a_notebook():
    best = judge_best(some_candidates(0), confidence=0.9)
    assert notebook_rows(best) == {
        **{"chosen": best.chosen, "observed": f"{best.observed:.4g}", "p-value": f"{best.p:.4g}"},
        **{"expected by luck": f"{best.expected_by_luck:.4g}", "debiased": f"{best.debiased:.4g}"},
        "90% interval": f"{best.low:.3f} to {best.high:.3f}",
    }


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_a_whole_judgement(missing):
    candidates = some_candidates(10, candidates=5, examples=30, missing=missing)
    best = judge_best(candidates, start=1, confidence=0.9, draws=600, seed=4)
    null, chosen = selection_null(candidates, 600, 4), candidates.chosen
    estimate = debiased_score(candidates, 0.9, seed=4)
    assert best.chosen == candidates.names[chosen]
    assert best.examples == candidates.examples[chosen]
    evaluated = ~np.isnan(candidates.scores[chosen])
    assert best.mean == pytest.approx(np.nanmean(candidates.scores, axis=0)[evaluated].mean())
    assert best.observed == pytest.approx(np.nanmean(candidates.scores[chosen]))
    assert (best.expected_by_luck, best.luck_low, best.luck_high) == (null.expected, null.low, null.high)
    assert (best.p, best.confidence, best.start) == (null.p, 0.9, "c1")
    assert (best.debiased, best.low, best.high) == (estimate.value, estimate.low, estimate.high)
    assert best.difference == debiased_difference(candidates, 1, 0.9, seed=4)
    p_start = above_start(candidates, 1, 600, 4)
    assert best.p_start == p_start[chosen]
    standardized = (candidates.means - candidates.null_means) / candidates.null_deviations
    order = np.argsort(-(candidates.means if missing == 0 else standardized), kind="stable")
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
        else "Candidates were evaluated on different examples. The best one stands out most among candidates "
        "with the same examples, so another candidate can have a higher score."
    )


def test_a_judgement_without_a_start_and_with_what_is_usual():
    candidates = some_candidates(11, candidates=3, examples=20)
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
        judge_best(some_candidates(0), confidence=confidence)
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
    luck_of_best = expected_best(mean, 90, 5, 0.3, 0.7, estimated=True)
    independent = expected_best(mean, 90, 5, 0.0, 0.7, estimated=True)
    assert (best.chosen, best.examples, best.observed) == ("b", 90, 0.7)
    assert best.mean == pytest.approx(mean)
    assert (best.expected_by_luck, best.luck_low, best.luck_high, best.p) == (
        *(luck_of_best.expected, luck_of_best.low, luck_of_best.high),
        luck_of_best.p,
    )
    pearson = answer_correlation(0.3, mean)
    noise = Noise(np.array([mean * (1 - mean)]), pearson, 90)
    low, high = binomial_interval(0.7, 90, *noise.tails(5, 0.9, True))
    assert (best.low, best.high, best.confidence) == (pytest.approx(low), pytest.approx(high), 0.9)
    assert best.debiased == pytest.approx(true_scores(scores, examples, pearson)[1])
    assert low < best.debiased < high
    assert best.candidates.to_dict("list") == {
        **{"candidate": ["b", "a", "e", "c", "d"], "examples": [90, 100, 95, 100, 20]},
        **{"score": [0.7, 0.62, 0.6, 0.55, 0.9]},
    }
    p = f"{independent.p:.2g}"
    assert best.assumption == (
        "The answers to each example are unknown, so a correlation of 0.3 between candidates is assumed. At "
        f"a correlation of 0, the best would be expected at {independent.expected:.1%} (p = {p}). Candidates "
        "with less than 90% of the examples are not chosen, but count as tried on as many as the chosen one, "
        "so luck is overestimated. One of these, 'd', scores higher: 90.0% on 20 examples."
    )


def test_reported_scores_as_they_mostly_are():
    best = judge_reported([0.45, 0.5, 0.55], 40)
    assert best.candidates["candidate"].tolist() == ["2", "1", "0"]
    assert best.candidates["examples"].tolist() == [40, 40, 40]
    assert best.assumption == (
        "The answers to each example are unknown, so a correlation of 0 between candidates is assumed, which "
        "gives luck the largest part."
    )
    # scores that vary less than by luck: all of the lead is luck
    assert best.debiased == pytest.approx(0.5, abs=0.01)
    assert judge_reported([0.0, 1.0], 50).debiased == pytest.approx(1.0)
    assert judge_reported([0.0, 1.0], 1).chosen == "1"


@pytest.mark.parametrize("scores", [[0.6] * 30, np.linspace(0.6, 0.62, 30), [0.9] * 30])
def test_scores_that_vary_less_than_by_luck_are_of_candidates_that_answer_alike(scores):
    best = judge_reported(scores, 100)
    assert best.debiased == pytest.approx(np.mean(scores), abs=0.001)
    assert best.assumption.endswith(
        "The scores vary significantly less than by luck, so candidates answer more alike than assumed."
    )
    freedom = len(scores) - 1
    by_luck = 0.25 / 100
    for quantile, is_alike in ((0.049, True), (0.051, False)):
        # scores around 0.5 with a variance at this quantile of what luck gives
        variance = stats.chi2(freedom).ppf(quantile) * by_luck / freedom
        spread = np.where(np.arange(30) % 2 == 0, 1, -1) * np.sqrt(variance * freedom / 30)
        assert ("answer more alike" in judge_reported(0.5 + spread, 100).assumption) == is_alike


@pytest.mark.parametrize("score", [0.05, 0.5, 0.9])
@pytest.mark.parametrize("correlation", [0.2, 0.8, 0.99])
def test_the_correlation_of_answers_is_that_of_two_normal_variables_cut_at_a_threshold(score, correlation):
    threshold = stats.norm.ppf(score)
    pair = stats.multivariate_normal([0, 0], [[1, correlation], [correlation, 1]])
    both_correct = pair.cdf([threshold] * 2)
    expected = (both_correct - score**2) / (score * (1 - score))
    assert answer_correlation(correlation, score) == pytest.approx(expected, abs=1e-4)
    assert answer_correlation(0.5, 0.5) == pytest.approx(1 / 3)
    assert answer_correlation(0.5, 0.0) == answer_correlation(0.5, 1.0) == answer_correlation(0.0, 0.3) == 0


@pytest.mark.parametrize(
    ("scores", "examples", "message"),
    [
        ([0.5], 10, "there is a score of 1 candidate; expected at least two"),
        ([[0.5], [0.1]], 10, "scores have the shape (2, 1); expected one score per candidate"),
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


@pytest.mark.parametrize(
    ("p", "low", "weak"), [(0.03, -0.01, True), (0.03, 0.01, False), (0.06, -0.01, False)]
)
def test_an_interval_that_contains_0_qualifies_a_small_p_value(p, low, weak):
    best = judge_best(some_candidates(10, candidates=5, examples=30), start=1)
    assert best.difference is not None
    best = replace(best, p_start=p, difference=replace(best.difference, low=low))
    sentence = "The interval is two-sided and contains 0, so the evidence is weak."
    assert (sentence in " ".join(best.sentences)) == weak


def test_a_start_without_common_examples_cannot_be_compared():
    scores = np.array([[1.0, nan, nan], [nan, 1.0, 1.0], [nan, 0.0, 1.0]])
    best = judge_best(Candidates.from_scores(scores), start=0)
    assert np.isnan(best.p_start)
    assert "It cannot be compared with the start, '0'." in best.sentences


def test_a_start_with_too_few_examples_for_a_correction_is_compared_as_observed():
    best = judge_best(Candidates.from_scores([[0, 0], [1, 1], [0, 1]], ["a", "b", "c"]), start=0)
    assert best.sentences[-1] == (
        f"The difference from the start, 'a', is +100.0 points as observed (p = {best.p_start:.2f}); there "
        "are too few examples, or clusters of examples, to correct it for the choice."
    )


def test_the_chosen_candidate_is_marked_as_such_also_if_the_search_began_with_it():
    scores = np.random.default_rng(0).random((3, 20)) < np.array([[0.9], [0.5], [0.5]])
    best = judge_best(Candidates.from_scores(scores.astype(float), ["a", "b", "c"]), start=0)
    kinds = candidate_numbers(best).set_index("name")["kind"].to_dict()
    assert (best.chosen, kinds["a"]) == ("a", "chosen")
    another = judge_best(Candidates.from_scores(scores.astype(float), ["a", "b", "c"]), start=1)
    assert candidate_numbers(another).set_index("name")["kind"].to_dict()["b"] == "start"


def test_the_smallest_p_value_that_so_many_exchanges_can_give_is_called_so() -> None:
    scores = 0.5 * np.random.default_rng(0).random((4, 40))
    better = Candidates.from_scores(scores + np.array([[0.4], [0.0], [0.0], [0.0]]))
    best = judge_best(better, draws=200)
    assert (best.draws, best.p) == (200, pytest.approx(1 / 201))
    assert "No p-value from 200 random exchanges can be smaller." in best.sentences
    best = judge_best(Candidates.from_scores(scores), draws=200)
    assert best.p > 1 / 201
    assert "exchanges" not in " ".join(best.sentences)
    assert judge_best(Candidates.from_scores(scores[:2, :3]), draws=200).draws == 0


def test_the_smallest_p_value_of_the_start_is_called_so_too() -> None:
    scores = (np.random.default_rng(0).random((4, 40)) < 0.3).astype(float)
    scores[0], scores[1, :20] = 1.0, 1.0
    best = judge_best(Candidates.from_scores(scores), start=1, draws=400)
    assert (best.draws, best.draws_start, best.p_start) == (0, 400, pytest.approx(1 / 401))
    assert "No p-value from 400 random draws can be smaller." in best.sentences
    few = judge_best(Candidates.from_scores(scores[:, :12]), start=1, draws=400)
    assert few.draws_start == 0


def test_the_smallest_p_value_of_exchanges_with_a_start_of_few_correct_answers() -> None:
    scores = (np.random.default_rng(0).random((20, 13)) < 0.3).astype(float)
    scores[0], scores[1] = 1.0, 0.0
    scores[1, :2] = 1.0
    best = judge_best(Candidates.from_scores(scores), start=1, draws=100)
    assert best.p_start == pytest.approx(1 / 101)  # the signs are enumerated, the exchanges are random
    assert best.draws_start == 100
    assert "No p-value from 100 random draws can be smaller." in best.sentences


def test_a_p_value_of_the_start_says_from_how_many_draws_it_is() -> None:
    scores = (np.random.default_rng(1).random((4, 40)) < 0.6).astype(float)
    best = judge_best(Candidates.from_scores(scores), start=3, draws=300)
    assert best.draws_start == 300
    assert best.p_start > 2 / 301


def test_an_exact_p_value_is_not_called_the_smallest_of_random_draws() -> None:
    scores = np.array([[0.0] * 13, [1.0] * 13, [0.0] * 13])
    best = judge_best(Candidates.from_scores(scores), start=0)
    assert best.p_start == pytest.approx(2.0**-13)  # of all signs; 10,000 random exchanges give 1 / 10,001
    assert "random draws" not in " ".join(best.sentences)


def test_candidates_on_different_examples_are_ordered_by_what_stands_out() -> None:
    scores = np.full((4, 12), np.nan)
    scores[0, :6], scores[1, :6] = [1, 1, 1, 1, 1, 0], [1, 1, 1, 1, 0, 1]  # easy examples, which both know
    scores[2, 6:], scores[3, 6:] = [1, 1, 1, 1, 0, 0], [0, 0, 0, 0, 0, 0]
    candidates = Candidates.from_scores(scores, ["a", "b", "c", "d"])
    best = judge_best(candidates, start=3)
    assert best.chosen == "c"
    assert best.candidates["candidate"].tolist()[0] == "c"
    assert best.candidates["score"].tolist() != sorted(best.candidates["score"], reverse=True)
    table = best.candidates.set_index("candidate")
    assert table.loc["c", "difference"] == pytest.approx(4 / 6)
    # those that share no example with the start are not compared with it
    assert table.loc[["a", "b"], ["difference", "p_start"]].isna().all(axis=None)
    assert np.isnan(table.loc["d", "p_start"])
    with pytest.raises(InputError, match="confidence is 1"):
        judge_best(candidates, confidence=1.0)


@pytest.mark.parametrize(
    ("scores", "examples", "correct"),
    [
        ([0.33, 0.67], 3, [1, 2]),
        ([0.345, 0.67], 3, None),
        ([0.12, 0.25], 8, [1, 2]),  # 1/8 is rounded to 0.12, or 0.13
        ([0.126, 0.25], 8, None),
        ([0.3, 0.5], 3, None),  # as 0.30 is
        ([0.5, 0.5], 2, [1, 1]),
    ],
)
def test_numbers_of_correct_answers_are_those_that_round_to_the_scores(scores, examples, correct):
    numbers = _correct(np.array(scores), np.full(2, examples))
    assert (None if numbers is None else numbers.tolist()) == correct


@pytest.mark.parametrize("correlation", [0.0, 0.7])
def test_scores_that_vary_less_than_by_luck_are_told(correlation):
    """The chi-squared test of their variance, part of which candidates do not share."""
    generator = np.random.default_rng(1)
    rejections = []
    for deviation in np.linspace(0.005, 0.05, 12):
        scores = (0.6 + deviation * generator.standard_normal(12)).clip(0, 1)
        mean = scores.mean()
        by_luck = mean * (1 - mean) / 100 * (1 - answer_correlation(correlation, mean))
        p = stats.chi2.cdf(11 * scores.var(ddof=1) / by_luck, 11)
        result = judge_reported(scores, 100, correlation=correlation)
        assert ("vary significantly less than by luck" in result.assumption) == (p <= 0.05)
        rejections.append(p <= 0.05)
    assert 1 < sum(rejections) < 11
