"""The best of candidates that are equally good: all exchanges, random exchanges, and what was published."""

import itertools
from itertools import permutations, product
from math import nan, sqrt

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from abovechance.best import selection
from abovechance.best.candidates import Candidates
from abovechance.best.selection import (
    above_start,
    exchanged_with_start,
    selection_null,
    sign_flips,
    start_draws,
)
from abovechance.core.errors import InputError
from tests.best.simulated import answers, notebook_rows, some_candidates


def by_hand(scores: np.ndarray, clusters: np.ndarray) -> tuple[float, list[float]]:
    """Expected best mean and p-values, from every order of every cluster's answers."""
    evaluated = ~np.isnan(scores)
    orders = []
    for cluster in np.unique(clusters):
        places = np.flatnonzero(clusters == cluster)
        groups: dict[tuple[bool, ...], list[int]] = {}
        for candidate in range(len(scores)):
            groups.setdefault(tuple(evaluated[candidate, places]), []).append(candidate)
        for pattern, members in groups.items():
            if any(pattern):
                orders.append((places, members, list(itertools.permutations(members))))
    means = []
    for chosen in itertools.product(*(orders_of_group for _, _, orders_of_group in orders)):
        exchanged = scores.copy()
        for (places, members, _), order in zip(orders, chosen, strict=True):
            exchanged[np.ix_(members, places)] = scores[np.ix_(order, places)]
        means.append(np.nanmean(exchanged, axis=1))
    table = np.array(means)
    centre, deviation = table.mean(axis=0), table.std(axis=0)
    deviation[deviation < 1e-12] = 1.0
    standardized = (table - centre) / deviation
    observed = (np.nanmean(scores, axis=1) - centre) / deviation
    values = table if evaluated.all() else standardized
    best = np.take_along_axis(table, values.argmax(axis=1)[:, None], axis=1).mean()
    p = [(standardized.max(axis=1) >= value - 1e-9).mean() for value in observed]
    return best, p


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_all_exchanges_are_those_counted_by_hand(data: st.DataObject) -> None:
    candidates, examples = data.draw(st.integers(2, 3)), data.draw(st.integers(2, 4))
    cells = st.sampled_from([0.0, 1.0, 0.5, np.nan])
    scores = np.array(
        data.draw(
            st.lists(
                st.lists(cells, min_size=examples, max_size=examples),
                min_size=candidates,
                max_size=candidates,
            )
        )
    )
    scores[np.isnan(scores).all(axis=1), 0] = 1.0
    clusters = np.array(data.draw(st.lists(st.integers(0, 2), min_size=examples, max_size=examples)))
    clusters = np.unique(clusters[~np.isnan(scores).all(axis=0)], return_inverse=True)[1]
    scores = scores[:, ~np.isnan(scores).all(axis=0)]
    expected, p = by_hand(scores, clusters)
    null = selection_null(Candidates.from_scores(scores, clusters=clusters))
    assert null.draws == 0
    if not np.isnan(scores).any():
        assert null.expected == pytest.approx(expected)
    assert null.adjusted == pytest.approx(p)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_all_signs_are_those_counted_by_hand(data: st.DataObject) -> None:
    candidates, examples = data.draw(st.integers(2, 4)), data.draw(st.integers(2, 6))
    row = st.lists(st.sampled_from([0.0, 1.0, 0.5]), min_size=examples, max_size=examples)
    scores = np.array(data.draw(st.lists(row, min_size=candidates, max_size=candidates)))
    clusters = np.array(data.draw(st.lists(st.integers(0, 3), min_size=examples, max_size=examples)))
    start = data.draw(st.integers(0, candidates - 1))
    groups = np.unique(clusters)
    sums = np.array([(scores - scores[start])[:, clusters == group].sum(axis=1) for group in groups]).T
    deviations = np.sqrt((sums**2).sum(axis=1))
    deviations[deviations == 0] = 1.0
    signs = itertools.product((1, -1), repeat=len(groups))
    largest = np.array([(sums @ np.array(sign) / deviations).max() for sign in signs])
    p = [(largest >= value - 1e-9).mean() for value in sums.sum(axis=1) / deviations]
    assert sign_flips(scores - scores[start], clusters) == pytest.approx(p)


def test_of_one_rival_it_is_the_sign_test() -> None:
    scores = np.array([[0, 0, 0, 0, 0, 0, 1, 1], [1, 1, 1, 1, 1, 0, 1, 0]], dtype=float)
    assert above_start(Candidates.from_scores(scores))[1] == pytest.approx(7 / 64)  # 5 or 6 of 6


@pytest.mark.parametrize("missing", [False, True])
def test_random_exchanges_agree_with_all(missing: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    scores = answers(np.random.default_rng(2), np.array([0.4, 0.5, 0.8, 0.5]), 9, 0.3)
    if missing:
        scores[0, :3] = scores[2, 5] = np.nan
    candidates = Candidates.from_scores(scores, clusters=[0, 0, 1, 2, 3, 4, 5, 6, 7])
    exact, exact_start = selection_null(candidates), above_start(candidates, 1)
    monkeypatch.setattr(selection, "MOST_STATES", 0)
    sampled = selection_null(candidates, draws=40_000)
    assert (exact.draws, sampled.draws) == (0, 40_000)
    assert sampled.expected == pytest.approx(exact.expected, abs=0.004)
    assert sampled.adjusted == pytest.approx(exact.adjusted, abs=0.01)
    assert above_start(candidates, 1, draws=40_000) == pytest.approx(exact_start, abs=0.01)


def test_a_null_that_depends_on_the_number_of_equal_answers_alone() -> None:
    # two candidates, five examples that just one of them answers: a coin for each
    scores = np.array([[1, 1, 1, 1, 1, 0, 1], [0, 0, 0, 0, 0, 0, 1]], dtype=float)
    null = selection_null(Candidates.from_scores(scores))
    assert null.p == pytest.approx(2 / 32)
    # the larger of B(5, 1/2) and 5 - B is 3, 4 or 5 with 20, 10 and 2 of 32
    assert null.expected == pytest.approx((1 + (3 * 20 + 4 * 10 + 5 * 2) / 32) / 7)


@pytest.mark.slow
@pytest.mark.parametrize(("correlation", "best"), [(0.0, 0.689), (0.3, 0.683), (0.6, 0.673), (0.9, 0.658)])
def test_alike_candidates_are_expected_lower(correlation: float, best: float) -> None:
    # 30 candidates on 200 examples, each right in 62 %
    generator = np.random.default_rng(7)
    expected = [
        selection_null(
            Candidates.from_scores(answers(generator, np.full(30, 0.62), 200, correlation)), draws=100
        ).expected
        for _ in range(150)
    ]
    assert np.mean(expected) == pytest.approx(best, abs=0.008)


@pytest.mark.slow
@pytest.mark.parametrize("missing", [False, True])
def test_at_most_one_in_twenty_equal_sets_is_significant(missing: bool) -> None:
    generator = np.random.default_rng(3)
    rejected = np.zeros(2)
    for _ in range(300):
        scores = answers(generator, np.full(8, 0.6), 15, 0.4)
        if missing:
            scores[generator.random(scores.shape) < 0.3] = np.nan
            scores[np.isnan(scores).all(axis=1), 0] = 1.0
        candidates = Candidates.from_scores(scores)
        null = selection_null(candidates, draws=199)
        rejected += null.p <= 0.05, above_start(candidates, draws=199).min() <= 0.05
    assert (rejected / 300 < 0.05 + 2.6 * np.sqrt(0.05 * 0.95 / 300)).all()


def test_the_chosen_one_of_uneven_candidates_is_not_the_luckiest_of_few_examples() -> None:
    scores = np.full((3, 12), np.nan)
    scores[0] = [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0]
    scores[1] = [1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0]
    scores[2, :1] = 1
    candidates = Candidates.from_scores(scores)
    assert candidates.means.argmax() == 2
    assert candidates.chosen == 0


@pytest.mark.thorough
def test_near_copies_are_not_called_better_than_a_start_that_differs() -> None:
    generator, rejected = np.random.default_rng(4), 0
    for _ in range(300):
        scores = np.repeat(answers(generator, np.full(1, 0.6), 60), 12, axis=0)
        redrawn = generator.random(scores.shape) < 0.1
        scores[redrawn] = generator.random(redrawn.sum()) < 0.6
        scores[0] = generator.random(60) < 0.6
        rejected += above_start(Candidates.from_scores(scores), draws=199).min() <= 0.05
    assert rejected / 300 < 0.05 + 2.6 * np.sqrt(0.05 * 0.95 / 300)


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
        largest.append(values.max())
        place = candidates.chosen  # as far above its expectation, on its examples
        best.append(candidates.null_means[place] + values.max() * candidates.null_deviations[place])
        if candidates.complete:
            assert best[-1] == pytest.approx(means.max())
    assert null.expected == pytest.approx(np.mean(best))
    ends = np.quantile(best, [0.025, 0.975], method="inverted_cdf")
    assert (null.low, null.high) == pytest.approx(tuple(ends))
    observed = (candidates.means - candidates.null_means) / candidates.null_deviations
    adjusted = [np.mean(np.array(largest) >= value - 1e-9) for value in observed]
    assert null.adjusted == pytest.approx(adjusted)
    assert (null.p, null.draws) == (pytest.approx(adjusted[candidates.chosen]), 0)


@pytest.mark.parametrize("kind", [{"candidates": 8, "examples": 30}, {"examples": 30, "missing": 0.2}])
def test_random_exchanges(kind, monkeypatch):
    candidates = some_candidates(7, **kind)
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
        place = candidates.chosen
        best.append(candidates.null_means[place] + values.max() * candidates.null_deviations[place])
        largest.append(values.max())
    error = 5 * np.std(best) / sqrt(3000) * sqrt(2)
    assert null.expected == pytest.approx(np.mean(best), abs=error)
    ends = np.quantile(best, [0.025, 0.975])
    assert (null.low, null.high) == pytest.approx(tuple(ends), abs=0.04)
    observed = (candidates.means - candidates.null_means) / candidates.null_deviations
    expected = np.array([np.mean(np.array(largest) >= value - 1e-9) for value in observed])
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
    candidates = some_candidates(8)
    p = above_start(candidates, 2, draws=700, seed=3)
    differences = candidates.scores - candidates.scores[2]
    assert p[2] == 1.0
    rivals = np.arange(6) != 2
    signs = sign_flips(differences, candidates.clusters, 700, 3)
    assert candidates.scores[2].sum() >= 10
    assert p[rivals].tolist() == signs[rivals].tolist()
    # the exchange counts only for a start with few right answers
    few = Candidates.from_scores(np.where(np.arange(6)[:, None] == 2, 0.3, 1) * candidates.scores)
    assert few.scores[2].sum() < 10
    p_few = above_start(few, 2, draws=700, seed=3)
    tests = [
        sign_flips(few.scores - few.scores[2], few.clusters, 700, 3),
        exchanged_with_start(few, 2, 700, 3),
    ]
    assert p_few[rivals].tolist() == np.max(tests, axis=0)[rivals].tolist()
    alone = Candidates.from_scores(candidates.scores[:2])
    assert above_start(alone, 0)[1] == sign_flips(alone.scores - alone.scores[0], alone.clusters)[1]


@pytest.mark.parametrize(
    "scores",
    [
        [[1, 0, 1, 1], [0, 0, 1, 0], [1, 1, 0, 1]],
        [[1, 0.5, 1, nan], [0, 0.25, nan, 0], [0.75, nan, 0.5, 1]],
        [[0, 0, nan, 0], [1, 1, nan, 0.5], [nan, nan, 1, nan]],
        [[1, 0, 0.5, 0.5], [0.4, 1, nan, nan], [0.9, 0.1, 1, 0.7]],
    ],
)
def test_all_exchanges_with_the_start(scores):
    candidates = Candidates.from_scores(np.array(scores))
    values = candidates.scores

    def statistics(table):
        return np.nansum(table - table[0], axis=1)[1:]

    deviations = np.zeros(2)
    for rival in (1, 2):
        variances = [
            2 * np.nanvar(values[:, place], ddof=1)
            for place in range(4)
            if not np.isnan(values[[0, rival], place]).any()
        ]
        deviations[rival - 1] = np.sqrt(sum(variances)) or np.inf
    largest = np.array([(statistics(table) / deviations).max() for table in exchanged(candidates)])
    expected = [(np.maximum(largest, 0) >= value - 1e-9).mean() for value in statistics(values) / deviations]
    expected = np.where(np.isinf(deviations), 0.0, expected)
    p = exchanged_with_start(candidates, draws=20_000)
    assert p[1:] == pytest.approx(expected, abs=0.015)


@pytest.mark.parametrize("accuracy", [0.02, 0.1])
def test_rare_right_answers_of_the_start_are_no_evidence_for_others(accuracy):
    generator = np.random.default_rng(6)
    rejected = sum(
        above_start(Candidates.from_scores((generator.random((101, 50)) < accuracy) * 1.0), draws=99).min()
        <= 0.05
        for _ in range(150)
    )
    assert rejected / 150 < 0.05 + 2.6 * np.sqrt(0.05 * 0.95 / 150)


def test_scores_are_exchanged_only_if_the_start_has_few_right_answers_and_several_rivals():
    scores = np.zeros((3, 30))
    scores[0, :9] = scores[1:, 5:25] = 1.0
    few, alone = Candidates.from_scores(scores), Candidates.from_scores(scores[:2])
    assert start_draws(few, 0, 700) == [700, 700]
    assert start_draws(alone, 0, 700) == [700]
    scores[0, 9] = 1.0
    assert start_draws(Candidates.from_scores(scores), 0, 700) == [700]
    five = Candidates.from_scores(scores[:, 5:10])
    assert start_draws(five, 0, 700) == [700]  # the signs are enumerated, the exchanges are not


def test_bad_candidates_do_not_hide_a_better_one():
    start = np.r_[np.ones(270), np.zeros(30)]
    better = np.r_[np.ones(291), np.zeros(9)]
    bad = (np.random.default_rng(0).random((10, 300)) < 0.4) * 1.0
    assert above_start(Candidates.from_scores(np.array([start, better, *bad])), draws=2000)[1] < 0.001


def test_candidates_that_exchange_nothing_with_the_start_keep_their_signs():
    scores = np.ones((3, 40))
    scores[0] = 0.0
    scores[0, ::2] = scores[2, 1::2] = np.nan
    scores[2, ::2] = 0.0
    candidates = Candidates.from_scores(scores, clusters=np.repeat(np.arange(20), 2))
    assert candidates.scores[0, 1::2].sum() < 10
    assert exchanged_with_start(candidates, draws=99)[1] == 0.0
    assert above_start(candidates, draws=999)[1] < 0.01


def test_clusters_of_examples_keep_or_change_their_signs_together():
    scores = (np.random.default_rng(3).random((3, 9)) < np.array([[0.5], [0.9], [0.6]])) * 1.0
    scores[0] = 1.0 - scores[1] * 0.9  # ten right answers or more are not needed: all are counted by hand
    clusters = np.array([0, 0, 0, 1, 1, 2, 3, 3, 4])
    candidates = Candidates.from_scores(scores, clusters=clusters)
    sums = np.array([[row[clusters == cluster].sum() for cluster in range(5)] for row in scores - scores[0]])
    deviations = np.sqrt((sums**2).sum(axis=1))
    deviations[0] = 1.0
    signs = np.array([*product((1, -1), repeat=5)])
    largest = (signs @ (sums / deviations[:, None]).T).max(axis=1)
    expected = [(largest >= value - 1e-9).mean() for value in sums.sum(axis=1) / deviations]
    p = sign_flips(scores - scores[0], clusters)
    assert p.tolist() == pytest.approx(expected)
    p_values = above_start(candidates)
    assert p_values[1:].tolist() == pytest.approx(
        np.maximum(expected, exchanged_with_start(candidates))[1:].tolist()
    )
    assert p_values[0] == 1.0
    assert sign_flips(scores - scores[0], np.arange(9))[1] != pytest.approx(p[1])


def test_an_unknown_name_is_told_with_the_nearest():
    candidates = Candidates.from_scores(np.eye(2), ["first", "second"])
    assert candidates.place("second") == 1
    with pytest.raises(InputError) as error:
        candidates.place("secon")
    assert str(error.value) == "candidate 'secon' is unknown; did you mean 'second'?"
