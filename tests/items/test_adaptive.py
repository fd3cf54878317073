"""Evaluations that stop when they are decided: how often they are wrong, and what they take."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from abovechance.chance.poisson_binomial import distribution
from abovechance.core.errors import InputError
from abovechance.items import outlook, replays as replays_of
from abovechance.items.adaptive import WAYS, begin, replay
from abovechance.items.matrices import Matrix
from abovechance.items.questions import better_of_two, better_than
from abovechance.items.replays import MAXIMUM, MODELS, STANDARD, replays
from abovechance.items.response_theory import Items, fit
from tests.items.test_response_theory import simulated

ABILITIES = np.linspace(-6, 6, 121)


def fitted(items: int, seed: int = 0, spread: float = 1.5) -> Items:
    generator = np.random.default_rng(seed)
    a, b = generator.lognormal(0, 0.4, (items, 1)), generator.normal(0, spread, items)
    return Items(a, b, a * 0, b * 0, 0.0, 0, True)


def ability_of(items: Items, share: float) -> float:
    """The ability whose expected score is a share of the items."""
    return float(np.interp(share, items.probability(ABILITIES).mean(axis=1), ABILITIES))


@pytest.mark.thorough
@pytest.mark.parametrize("way", [pytest.param("random", marks=pytest.mark.slow), "assisted"])
@pytest.mark.parametrize("turned", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_whatever_the_fitted_model_is_worth_few_decisions_are_wrong(way, turned):
    """Sums just at the border, of which decisions are the likeliest to be wrong; also with a model of items
    that is upside down."""
    count, alpha, items = 60, 0.1, fitted(60)
    generator = np.random.default_rng(1)
    p = items.probability([[ability_of(items, 0.4)]])[0]
    order = np.argsort(p if turned else -p)
    wrong = {"above": 0, "not above": 0}
    for run in range(150):
        for total, false in ((24, "above"), (25, "not above")):
            # those that the model expects to be right are more often right
            correct = np.zeros(count)
            correct[order[generator.permutation(30)[: total - 4]]] = 1
            correct[generator.permutation(np.flatnonzero(correct == 0))[:4]] = 1
            assert correct.sum() == total
            outcome = replay(begin(better_than(0.4, count), count, items, way, alpha, run), correct)
            wrong[false] += outcome.decision == false
    for count_wrong in wrong.values():
        assert count_wrong / 150 <= alpha + 2.5 * np.sqrt(alpha * (1 - alpha) / 150)
    assert sum(wrong.values()) > 0


def sharp_and_flat() -> Items:
    """A few items that tell the ability at once, and many that it says nothing of."""
    a, b = np.r_[np.full(20, 10.0), np.full(130, 0.02)], np.r_[np.full(20, 3.0), np.zeros(130)]
    return Items(a[:, None], b, a[:, None] * 0, b * 0, 0.0, 0, True)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "items",
    [
        pytest.param(fitted(150, seed=2), id="usual"),
        pytest.param(sharp_and_flat(), id="sharp and flat", marks=pytest.mark.slow),
    ],
)
def test_by_information_few_decisions_are_wrong_where_the_model_is_true(items):
    """To know the ability is not to know what the examples that are left turn out to be."""
    alpha, wrong, early, count = 0.1, 0, 0, len(items.difficulty)
    generator = np.random.default_rng(3)
    for run in range(100):
        ability = generator.normal(ability_of(items, 0.5), 0.5)
        correct = (generator.random(count) < items.probability([[ability]])[0]).astype(float)
        outcome = replay(begin(better_than(0.5, count), count, items, "information", alpha, run), correct)
        wrong += outcome.decision != ("above" if correct.sum() > count / 2 else "not above")
        early += len(outcome.evaluated) < count / 2
    assert wrong / 100 <= alpha
    assert early > 0


def two_parameter_items(a: np.ndarray, b: np.ndarray) -> Items:
    return Items(a[:, None], b, a[:, None] * 0, b * 0, 0.0, 0, True)


@pytest.mark.thorough
def test_by_information_few_decisions_are_wrong_with_items_far_sharper_than_usual():
    """The ability is known to a hundredth: the likelihood has its peak between any that are tried."""
    items = two_parameter_items(np.full(150, 30.0), np.random.default_rng(0).normal(0, 0.3, 150) * 30)
    p = items.probability([0.03])[0]
    question = better_than((round(p.sum()) - 2) / 150, 150)
    wrong = 0
    for run in range(40):
        correct = (np.random.default_rng(run).random(150) < p).astype(float)
        outcome = replay(begin(question, 150, items, "information", seed=run), correct)
        wrong += outcome.decision != question.answer(correct.sum())
    assert wrong <= 4


def test_by_information_right_answers_that_are_rare_are_not_taken_for_normal():
    """Thirty items that are right once in fifty: their sum is 0, or it is not."""
    b = np.r_[np.full(10, -5.0), np.full(30, -0.25 - np.log(0.018 / (30 - 0.018)))]
    items = two_parameter_items(np.r_[np.full(10, 10.0), np.full(30, 0.5)], b)
    p, question = items.probability([-1.0])[0], better_than(0, 40)
    generator, wrong, runs = np.random.default_rng(0), 0, 0
    for run in range(1000):
        correct = (generator.random(40) < p).astype(float)
        if correct.sum() == 1:  # else no decision is wrong
            outcome = replay(begin(question, 40, items, "information", 0.001, run), correct)
            wrong, runs = wrong + (outcome.decision != "above"), runs + 1
    assert runs > 10
    assert wrong <= 3


def test_the_counts_by_which_abilities_are_judged_are_poisson_binomial():
    items = fitted(37, seed=3)
    evaluation = begin(better_of_two(), 37, items, "information")
    item, another = evaluation._abilities
    unseen = np.arange(37) % 3 > 0
    cells = np.array([5, 40, 90])
    counts = item.counts(cells, unseen)
    for cell, rows in zip(cells, counts, strict=True):
        chances = item._probability[cell, unseen]
        exact = distribution(tuple((float(chance), 1) for chance in chances))
        assert rows[: len(chances) + 1] == pytest.approx(exact.mass(np.arange(len(chances) + 1)), abs=1e-15)
    for limit in (-3.0, 0.0, 2.5):
        result = outlook.more(counts, another.counts(cells[:2], unseen), limit)
        for first, second in product(range(3), range(2)):
            merged = np.outer(counts[first], counts[second])
            more = np.subtract.outer(np.arange(len(merged)), np.arange(len(merged))) > limit
            assert result[first, second] == pytest.approx(merged[more].sum(), abs=1e-12)


def test_the_likelihood_between_abilities_is_no_more_than_its_bound():
    items = fitted(40, seed=6)
    evaluation = begin(better_than(0.5, 40), 40, items, "information", 1e-12)
    generator = np.random.default_rng(7)
    for _ in range(25):
        evaluation.tell(float(generator.random() < 0.7))
    rows = evaluation._abilities[0]
    visible = evaluation.evaluated
    for cell in range(1, len(rows._grid) - 1):
        near = np.linspace(rows._grid[cell - 1], rows._grid[cell + 1], 21)
        p = items.probability(near)[:, visible]
        correct = evaluation._scores[visible]
        assert np.log(np.where(correct > 0, p, 1 - p)).sum(axis=1).max() <= rows.highest[cell] + 1e-9


@pytest.mark.parametrize("count", [46, 69, 85, 115])
def test_answers_that_are_as_expected_are_no_evidence_of_more(count):
    """What bets win there is rounding alone."""
    for difficulty in (2.92, 4.0, 6.5):
        never = two_parameter_items(np.zeros(count), np.full(count, difficulty))
        always = two_parameter_items(np.zeros(count), np.full(count, -difficulty))
        for seed in range(5):
            command = begin(better_than(0.0, count), count, never, seed=seed)
            assert replay(command, np.zeros(count)).decision == "not above"
            command = begin(better_than(1 - 1 / count, count), count, always, seed=seed)
            assert replay(command, np.ones(count)).decision == "above"


def test_abilities_that_the_answers_exclude_do_not_count():
    items = fitted(9, seed=8)
    first, second = outlook.Ability(items), outlook.Ability(items)
    for place in range(4):
        first.tell(place, 1.0)
        second.tell(place, 0.0)
    scores = np.r_[np.ones(4), np.full(5, np.nan)]
    rows = columns = np.arange(0, len(first.likelihood), 5)
    for least in (-1.0, -5.0, -40.0):
        judged = outlook.Outlook(better_of_two(), first, second, scores, 0.5)
        pairs = [(row, column) for row in rows for column in columns]
        possible = [first.highest[row] + second.highest[column] > least for row, column in pairs]
        assert judged._possible(rows, columns, least).ravel().tolist() == possible
        assert any(possible)


def test_what_is_far_from_the_baseline_takes_few_examples():
    items = fitted(200, seed=4)
    correct = (np.random.default_rng(5).random(200) < items.probability([[2.5]])[0]).astype(float)
    counts = {
        way: len(replay(begin(better_than(0.3, 200), 200, items, way), correct).evaluated) for way in WAYS
    }
    assert max(counts.values()) < 40
    assert counts["information"] < counts["random"]
    # the fitted model saves examples where answers are as it expects
    near = (np.random.default_rng(6).random((30, 200)) < items.probability([[0.5]])[0]).astype(float)
    means = {
        way: np.mean(
            [len(replay(begin(better_than(0.4, 200), 200, items, way), value).evaluated) for value in near]
        )
        for way in ("random", "assisted")
    }
    assert means["assisted"] < 0.95 * means["random"]


def test_what_is_left_cannot_change_is_decided():
    evaluation = begin(better_than(0.9, 10), 10, way="random")
    assert evaluation.decision is None
    evaluation.tell(0)  # then 10 of 10 is out of reach, and 9 of 10 is not above 0.9
    assert evaluation.decision == "not above"
    evaluation = begin(better_than(0.05, 10), 10, way="random", alpha=1e-9)
    evaluation.tell(1)
    assert evaluation.decision == "above"
    with pytest.raises(InputError, match="the question is decided: above"):
        evaluation.next()


@pytest.mark.parametrize("way", WAYS)
def test_all_examples_give_the_answer_of_all_examples(way):
    items, generator = fitted(20, seed=7), np.random.default_rng(8)
    for run in range(20):
        first, second = (generator.random((2, 20)) < 0.5).astype(float)
        outcome = replay(begin(better_than(0.5, 20), 20, items, way, 1e-12, run), first)
        assert outcome.decision == ("above" if first.sum() > 10 else "not above")
        outcome = replay(begin(better_of_two(), 20, items, way, 1e-12, run), first, second)
        away = first.sum() - second.sum()
        assert outcome.decision == ("first" if away > 0 else "second" if away < 0 else "equal")
        assert len(set(outcome.evaluated)) == len(outcome.evaluated)


@pytest.mark.parametrize("way", ["random", "assisted"])
def test_two_models_that_are_equal_are_seldom_told_apart(way):
    items, generator, alpha = fitted(60, seed=9), np.random.default_rng(10), 0.1
    wrong = 0
    for run in range(100):
        first = (generator.random(60) < 0.5).astype(float)
        second = np.zeros(60)
        second[generator.permutation(60)[: int(first.sum())]] = 1
        wrong += replay(begin(better_of_two(), 60, items, way, alpha, run), first, second).decision != "equal"
    assert wrong / 100 <= alpha + 2.5 * np.sqrt(alpha * (1 - alpha) / 100)


def test_a_model_that_knows_one_answer_alone_is_no_evidence():
    """Where every ability has a score above the baseline, no response has shown anything."""
    items = Items(np.full((30, 1), 0.01), np.full(30, -1.0), *[np.zeros((30, 1))] * 2, 0.0, 0, True)
    correct = np.zeros(30)
    outcome = replay(begin(better_than(0.5, 30), 30, items, "information"), correct)
    assert outcome.decision == "not above"


def test_what_is_decided_needs_no_example():
    assert begin(better_than(1.0, 5), 5, way="random").decision == "not above"


def test_what_is_refused():
    items = fitted(5)
    with pytest.raises(InputError, match=r"20.0 examples; expected one or more"):
        begin(better_of_two(), 20.0, way="random")  # type: ignore[arg-type]
    for wrong in ([], [np.zeros(4)], [np.zeros(6)], [np.zeros((5, 1))], [np.zeros(5)] * 2):
        with pytest.raises(InputError, match=r"expected 1 of 5"):
            replay(begin(better_than(0.5, 5), 5, way="random"), *wrong)
    with pytest.raises(InputError, match="expected 0 or 1"):
        begin(better_than(0.5, 5), 5, way="random").tell([1])  # type: ignore[arg-type]
    begin(better_than(0.5, 5), 5, way="random").tell(np.array(1))  # type: ignore[arg-type]
    with pytest.raises(InputError, match="10 examples; expected 20"):
        begin(better_than(0.25, 20), 10, way="random")
    with pytest.raises(InputError, match="0 examples; expected one or more"):
        begin(better_of_two(), 0, way="random")
    broken = Items(items.discrimination * np.nan, *[items.difficulty] * 3, 0.0, 0, True)
    with pytest.raises(InputError, match="parameters that are no numbers"):
        begin(better_than(0.5, 5), 5, broken)
    with pytest.raises(InputError, match="expected one of random, assisted, information"):
        begin(better_than(0.5, 5), 5, items, "best")
    with pytest.raises(InputError, match="'assisted' needs a fitted model"):
        begin(better_than(0.5, 5), 5)
    with pytest.raises(InputError, match="has 5 items and 1 dimensions; expected 6 and 1"):
        begin(better_than(0.5, 6), 6, items)
    with pytest.raises(InputError, match="alpha is 1; expected a number above 0"):
        begin(better_than(0.5, 5), 5, items, alpha=1)
    with pytest.raises(InputError, match="baseline 1.5, 5 examples"):
        better_than(1.5, 5)
    evaluation = begin(better_of_two(), 5, items)
    for answers in ((1,), (1, 0.5), (1, 0, 1)):
        with pytest.raises(InputError, match="expected 0 or 1, one for each model"):
            evaluation.tell(*answers)
    assert evaluation.next() == evaluation.next()


def test_stored_scores_are_replayed_for_models_that_the_fitted_model_does_not_know(monkeypatch):
    matrix = simulated(40, 50, seed=11)[3]
    rows = pd.DataFrame(
        {"model": np.repeat(["a", "b", "c", "d"], 10), "shots": 1, "prompt": [*range(10)] * 4}
    )
    examples = [f"e{place}" for place in range(50)]
    argument = Matrix("t", rows, examples, matrix)
    models = {name: name for name in "abcd"}
    fitted_to = []
    monkeypatch.setattr(replays_of, "fit", lambda train: fitted_to.append(len(train)) or fit(train))
    table = replays(argument, models, dict.fromkeys(examples, 0.25), prompts=3)
    # without the model, and without both of a pair
    assert fitted_to == [30] * 4 + [20] * 6
    assert table["way"].tolist() == [*WAYS] * 3
    assert table["question"].unique().tolist() == [STANDARD, MAXIMUM, MODELS]
    assert table.groupby("question", sort=False)["evaluations"].first().tolist() == [12, 12, 18]
    assert (table["share"] <= 1).all()
    assert (table["wrong_limit"] > table["wrong"]).all()
    # of one model its prompts are halved, and nothing is compared
    alone = replays(
        Matrix("t", rows[:10], examples, matrix[:10]), models, dict.fromkeys(examples, 0.25), prompts=3
    )
    assert alone["question"].unique().tolist() == [STANDARD, MAXIMUM]
    assert alone["evaluations"].unique().tolist() == [3]
    assert replays(argument, models, dict.fromkeys(examples, 0.25), prompts=0).empty


@pytest.mark.parametrize("question", [better_than(0.4, 9), better_of_two()])
def test_what_is_sure_is_so_at_the_least_favourable_pair_of_abilities(question):
    items, generator = fitted(9, seed=8), np.random.default_rng(1)
    first = outlook.Ability(items)
    second = outlook.Ability(items) if question.models == 2 else outlook.NoModel()
    rows = np.array([60, 100, 140])
    columns = np.array([80, 130]) if question.models == 2 else np.array([0])
    scores = generator.integers(question.low, question.high + 1, 9).astype(float)
    scores[4:] = np.nan

    def sums(side: outlook.Ability | outlook.NoModel, cell: int) -> np.ndarray:
        """The probabilities of 0, 1, ... right answers to the examples that are left."""
        if isinstance(side, outlook.NoModel):
            return np.ones(1)
        counts = np.ones(1)
        for chance in side._probability[cell, np.isnan(scores)]:
            counts = np.convolve(counts, [1 - chance, chance])
        return counts

    for above in (True, False):
        chances = []
        for row, column in product(rows, columns):
            pairs = np.outer(sums(first, row), sums(second, column))
            totals = np.subtract.outer(*map(np.arange, pairs.shape)) + np.nansum(scores)
            decided = totals > question.largest if above else totals < question.smallest
            chances.append(pairs[decided].sum())
        for enough, sure in ((min(chances) - 1e-9, True), (min(chances) + 1e-9, False)):
            judged = outlook.Outlook(question, first, second, scores, enough)
            assert judged.is_sure(above, rows, columns, -np.inf) is sure
        # as if sums were normal: half of a whole number further
        normal = []
        for row, column in product(rows, columns):
            counts = [sums(first, row), sums(second, column)]
            means = [probabilities @ np.arange(len(probabilities)) for probabilities in counts]
            variances = [
                probabilities @ (np.arange(len(probabilities)) - mean) ** 2
                for probabilities, mean in zip(counts, means, strict=True)
            ]
            total = means[0] - means[1] + np.nansum(scores)
            away = total - question.largest - 0.5 if above else question.smallest - 0.5 - total
            normal.append(stats.norm.cdf(away / np.sqrt(sum(variances))))
        for enough, sure in ((min(normal) - 1e-9, True), (min(normal) + 1e-9, False)):
            judged = outlook.Outlook(question, first, second, scores, enough)
            assert judged.seems_sure(rows, columns, -np.inf)[not above] is sure
