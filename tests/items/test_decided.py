"""Decisions after a few examples, by independent computations of bets, abilities and sums."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from abovechance.core.errors import InputError
from abovechance.items.adaptive import BETS, AssistedEvaluation, begin, replay
from abovechance.items.matrices import Matrix
from abovechance.items.outlook import Ability, more
from abovechance.items.questions import better_of_two, better_than
from abovechance.items.replays import MODELS, _halves, _Trained, _two_models, replays
from tests.items.test_classical import responses
from tests.items.test_definitions import model_of


def test_the_error_of_a_question_is_divided_if_both_answers_can_be_wrong():
    assert better_than(0.5, 9).error(0.1) == 0.1
    assert better_of_two().error(0.1) == 0.05


def test_a_question_about_one_example():
    assert replay(begin(better_than(0.5, 1), 1, way="random"), [1.0]).decision == "above"
    assert better_than(1, 1).largest == 1
    with pytest.raises(InputError, match="baseline 0.5, 0 examples"):
        better_than(0.5, 0)


@pytest.mark.parametrize(("first", "decision"), [(1.0, "first"), (0.0, "second")])
def test_what_the_remaining_examples_cannot_change_is_decided(first, decision):
    scores = np.full(9, first)
    outcome = replay(begin(better_of_two(), 9, way="random", alpha=1e-9), scores, 1 - scores)
    assert (outcome.decision, len(outcome.evaluated)) == (decision, 5)


def evaluation_of_two(seed: int) -> tuple[AssistedEvaluation, np.ndarray]:
    generator = np.random.default_rng(seed)
    abilities = [
        Ability(model_of(generator.uniform(1, 2, (6, 1)), generator.normal(size=6))) for _ in range(2)
    ]
    expected = abilities[0].expected - abilities[1].expected
    return AssistedEvaluation(better_of_two(), 6, 0.05, 0, abilities), expected


def test_what_is_expected_of_an_example_is_the_difference_of_the_models():
    evaluation, expected = evaluation_of_two(1)
    assert evaluation._expected().tolist() == pytest.approx(expected.tolist())
    ability = Ability(model_of(np.ones((3, 1)), np.arange(3.0)))
    alone = AssistedEvaluation(better_than(0.5, 3), 3, 0.05, 0, [ability])
    assert alone._expected().tolist() == ability.expected.tolist()


@pytest.mark.parametrize("place", range(6))
def test_bets_by_their_definition(place):
    """A bet on the sum of all examples: on one example at random, the others as they are expected."""
    evaluation, expected = evaluation_of_two(2)
    evaluation._next_place = place
    evaluation.tell(True, False)
    value = expected.sum() + 6 * (1 - expected[place])
    least = expected.sum() + 6 * (-1 - expected.max())
    highest = expected.sum() + 6 * (1 - expected.min())
    assert evaluation._capital[0] == pytest.approx(np.log1p(BETS * value / -least))
    assert evaluation._capital[1] == pytest.approx(np.log1p(-BETS * value / highest))


def test_bets_win_nothing_on_average_if_both_models_are_equally_good():
    scores = [(1, 0), (0, 1), (1, 1), (0, 0), (0, 1), (1, 0)]
    capital = []
    for place, answers in enumerate(scores):
        evaluation, _ = evaluation_of_two(3)
        evaluation._next_place = place
        evaluation.tell(*answers)
        capital.append(np.exp(evaluation._capital))
    assert np.mean(capital, axis=0) == pytest.approx(np.ones((2, len(BETS))))


def test_the_likelihood_of_an_ability_is_that_of_its_answers():
    items = model_of(np.array([[1.0], [2.0]]), np.array([0.0, 0.5]))
    ability = Ability(items)
    ability.tell(0, 1)
    ability.tell(1, 0)
    probability = expit(ability._grid[:, None] * [1.0, 2.0] - [0.0, 0.5])
    likelihood = probability[:, 0] * (1 - probability[:, 1])
    assert np.exp(ability.likelihood) == pytest.approx(likelihood, rel=1e-6)
    slope = np.gradient(ability.likelihood, ability._grid)[5:-5]
    assert ability._slope[5:-5] == pytest.approx(slope, abs=5e-3)
    weights = np.exp(-(ability._grid**2) / 2)
    assert np.exp(ability.mixture) == pytest.approx((likelihood @ weights) / weights.sum(), rel=1e-6)


def matrix_of(models: str, items: int = 12, prompts: int = 4, seed: int = 0) -> Matrix:
    names = np.repeat([*models], prompts)
    rows = pd.DataFrame({"model": names, "shots": 0, "prompt": [*range(prompts)] * len(models)})
    return Matrix("t", rows, [*map(str, range(items))], responses(len(rows), items, seed=seed))


def test_prompts_of_one_model_are_replayed_by_halves():
    of_row = np.array(["a"] * 5, dtype=object)
    (first, second), (third, fourth) = _halves(of_row, 3)
    assert sorted([*first, *second]) == [*range(5)]
    assert (third.tolist(), fourth.tolist()) == (second.tolist(), first.tolist())
    halves = [_halves(of_row, seed)[0][0].tolist() for seed in range(6)]
    assert halves[3] == first.tolist()
    assert len({*map(tuple, halves)}) > 1
    assert _halves(of_row[:1], 0) == []
    assert len(_halves(of_row[:2], 0)) == 2
    two = np.array([*"aabb"], dtype=object)
    assert [test.tolist() for _, test in _halves(two, 0)] in ([[0, 1], [2, 3]], [[2, 3], [0, 1]])
    four = np.array([*"abcd"], dtype=object)
    assert len({_halves(four, seed)[0][1].tolist()[0] for seed in range(8)}) > 1


def test_replays_depend_on_their_seed_alone():
    matrix, chance = matrix_of("a", prompts=8), dict.fromkeys(map(str, range(12)), 0.25)
    tables = [replays(matrix, {"a": "a"}, chance, 3, seed=seed) for seed in (1, 1, 2)]
    assert tables[0].equals(tables[1])
    assert not tables[0].equals(tables[2])


def test_two_models_are_compared_by_a_model_of_the_others(monkeypatch):
    matrix = matrix_of("abcd")
    matrix.scores[3, 5] = np.nan
    groups, fitted, questions = np.repeat([*"abcc"], 4).astype(object), [], []
    monkeypatch.setattr(
        _Trained, "on", lambda train: fitted.append(train) or _Trained(None, np.arange(12) > 0)
    )

    def each_way(self, name, question, mask, scores, alpha, seed):
        questions.append((name, question.models, mask, scores, alpha, seed))
        yield from ()

    monkeypatch.setattr(_Trained, "each_way", each_way)
    assert not [*_two_models(matrix, groups, 4, 0.05, np.random.default_rng(0), 10)]
    pairs = [("a", "b"), ("a", "c"), ("a", "d"), ("b", "c"), ("b", "d")]
    places = {name: 4 * number for number, name in enumerate("abcd")}
    remaining = [
        matrix.scores[~np.isin(groups, [groups[places[name]] for name in pair])].tolist() for pair in pairs
    ]
    as_text = lambda rows: sorted(map(repr, rows))  # noqa: E731
    assert as_text(train.tolist() for train in fitted) == as_text(remaining)
    assert len(questions) == 4 * len(pairs)
    compared = set()
    for name, models, mask, (first, second), alpha, seed in questions:
        (row,) = np.flatnonzero([row is first or np.array_equal(row, first, True) for row in matrix.scores])
        (second_row,) = np.flatnonzero([np.array_equal(row, second, True) for row in matrix.scores])
        assert (name, models, alpha, seed) == (MODELS, 2, 0.05, 10 + row)
        assert row % 4 == second_row % 4  # the same prompt
        compared.add(("abcd"[row // 4], "abcd"[second_row // 4]))
        assert mask.tolist() == (np.isfinite(first) & np.isfinite(second) & (np.arange(12) > 0)).tolist()
    assert compared == {*pairs}
    assert not [*_two_models(matrix_of("ab"), np.repeat([*"ab"], 4).astype(object), 4, 0.05, None, 0)]


def test_one_count_is_more_than_another():
    two, coin = np.array([[0.0, 0.0, 1.0]]), np.array([[0.5, 0.5]])
    chances = [float(more(two, coin, limit)[0, 0]) for limit in (-1, 0, 0.5, 1, 2)]
    assert chances == pytest.approx([1, 1, 1, 0.5, 0])


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_a_decision_by_information_is_taken_where_all_possible_abilities_make_it_sure(seed):
    """Half of the error is left for which abilities are possible, half for the remaining examples."""
    generator = np.random.default_rng(seed)
    a, b, alpha = generator.uniform(1, 2.5, 30), generator.normal(0, 0.5, 30), 0.1
    evaluation = begin(better_than(0.5, 30), 30, model_of(a[:, None], b), "information", alpha)
    ability, places, scores = 2.0 * (-1) ** seed, [], []
    grid = np.linspace(-8, 8, 1201)
    probability = expit(np.outer(grid, a) - b)

    def sure() -> str | None:
        likelihood = np.where(scores, probability[:, places], 1 - probability[:, places]).prod(axis=1)
        weights = np.exp(-(grid**2) / 2)
        possible = likelihood > alpha / 2 * (likelihood * weights).sum() / weights.sum()
        unseen = np.setdiff1d(np.arange(30), places)
        above = np.array([poisson_binomial(row[unseen])[16 - sum(scores) :].sum() for row in probability])
        for name, chance in (("above", above), ("not above", 1 - above)):
            if (chance[possible] >= 1 - alpha / 2).all():
                return name
        return None

    while evaluation.decision is None:
        places.append(evaluation.next())
        scores.append(bool(generator.random() < expit(a[places[-1]] * ability - b[places[-1]])))
        evaluation.tell(scores[-1])
        assert evaluation.decision == sure()


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_better_of_two_models_is_told_where_all_possible_pairs_of_abilities_make_it_sure(seed):
    generator = np.random.default_rng(seed)
    a, b, alpha = generator.uniform(1, 2.5, 20), generator.normal(0, 0.5, 20), 0.2
    evaluation = begin(better_of_two(), 20, model_of(a[:, None], b), "information", alpha)
    abilities, places, scores = np.array([1.5, -1.5]) * (-1) ** seed, [], []
    grid = np.linspace(-6, 6, 241)
    probability, weights = expit(np.outer(grid, a) - b), np.exp(-(grid**2) / 2)
    decisions = []

    def sure() -> str | None:
        answers = np.array(scores)[:, :, None]
        likelihood = np.where(
            answers, probability[:, places].T[:, None], 1 - probability[:, places].T[:, None]
        )
        first, second = likelihood.prod(axis=0)
        mixture = (first @ weights) * (second @ weights) / weights.sum() ** 2
        possible = np.outer(first, second) > alpha / 2 * mixture
        unseen = np.setdiff1d(np.arange(20), places)
        counts = np.array([poisson_binomial(row[unseen]) for row in probability])
        ahead = int(answers[:, 0].sum()) - int(answers[:, 1].sum())
        difference = np.arange(len(unseen) + 1)[:, None] - np.arange(len(unseen) + 1) + ahead
        for name, wins in (("first", difference > 0), ("second", difference < 0)):
            if ((counts @ wins @ counts.T)[possible] >= 1 - alpha / 2).all():
                return name
        return None

    while evaluation.decision is None:
        places.append(evaluation.next())
        scores.append(generator.random(2) < expit(a[places[-1]] * abilities - b[places[-1]]))
        evaluation.tell(*map(bool, scores[-1]))
        decisions.append(sure())
    # a rule of thumb comes first, so that the answer can be one example late
    assert decisions[-1] == evaluation.decision
    assert not any(decisions[:-2])


def poisson_binomial(chances: np.ndarray) -> np.ndarray:
    pmf = np.ones(1)
    for chance in chances:
        pmf = np.convolve(pmf, [1 - chance, chance])
    return pmf
