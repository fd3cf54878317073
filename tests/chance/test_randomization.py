"""The randomization test: exact on small cases, valid under dependence, and more powerful than Bonferroni."""

from itertools import permutations, product

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import f1_score

from abovechance import RandomBaseline
from abovechance.chance.randomization import Answers, Result, for_verdicts, of_setting, randomization_test
from abovechance.core.settings import Setting
from abovechance.study.tasks import as_table


def answers(predicted: np.ndarray, gold: np.ndarray, labels: int, shared: bool) -> Answers:
    return Answers(
        predicted=predicted,
        evaluated=np.ones(predicted.shape, dtype=bool),
        correct=gold[:, None] == np.arange(labels),
        available=np.ones((len(gold), labels), dtype=bool),
        shared=shared,
    )


def result_of(predicted, gold, labels=2, shared=True, draws=999, seed=0, **more) -> Result:
    return randomization_test(answers(predicted, gold, labels, shared), seed=seed, draws=draws, **more)


def test_permuting_a_shared_label_set_is_the_exact_permutation_test():
    gold = np.array([0, 0, 1, 1, 1])
    predicted = np.array([[0, 0, 1, 1, 0], [0, 1, 0, 1, 1], [1, 1, 1, 0, 1]])
    best = (predicted == gold).mean(axis=1).max()
    maxima = [(predicted == np.array(order)).mean(axis=1).max() for order in permutations(gold)]
    exact = np.mean(np.array(maxima) >= best - 1e-9)
    assert result_of(predicted, gold, draws=20_000).p_value == pytest.approx(exact, abs=0.012)


def test_redrawing_own_choices_is_the_exact_test():
    gold, choices = np.array([0, 1, 2, 0]), [2, 2, 3, 3]
    predicted = np.array([[0, 1, 2, 1], [0, 0, 2, 2]])
    available = np.arange(3) < np.array(choices)[:, None]
    own = Answers(predicted, np.ones((2, 4), bool), gold[:, None] == np.arange(3), available, shared=False)
    best = (predicted == gold).mean(axis=1).max()
    maxima = [(predicted == np.array(g)).mean(axis=1).max() for g in product(*map(range, choices))]
    exact = np.mean(np.array(maxima) >= best - 1e-9)
    assert randomization_test(own, draws=20_000).p_value == pytest.approx(exact, abs=0.012)


def test_several_correct_choices_are_redrawn_as_many():
    correct = np.array([[True, True, False, False], [True, False, False, False]])
    available = np.array([[True] * 4, [True, True, False, False]])
    own = Answers(np.zeros((1, 2), int), np.ones((1, 2), bool), correct, available, shared=False)
    drawn = own.draws(np.random.default_rng(0), 4000)
    assert (drawn.sum(axis=2) == [2, 1]).all()
    assert not (drawn & ~available).any()
    assert drawn[:, 0].mean(axis=0) == pytest.approx([0.5] * 4, abs=0.04)
    assert drawn[:, 1, :2].mean(axis=0) == pytest.approx([0.5] * 2, abs=0.04)


def test_independent_guessers_agree_with_the_maximum_baselines_tail():
    generator = np.random.default_rng(1)
    gold, predicted = generator.integers(0, 4, 60), generator.integers(0, 4, (15, 60))
    found = result_of(predicted, gold, labels=4, shared=False, draws=4000)
    best = round(found.observed.max() * 60)
    assert found.p_value == pytest.approx(RandomBaseline.of(0.25, 60).tail(best, 15), abs=0.06)


def test_one_answer_for_all_examples_is_no_evidence_however_unbalanced_the_labels():
    gold = np.repeat([0, 1], [30, 10])
    found = result_of(np.zeros((5, 40), int), gold)
    assert found.observed.max() == 0.75
    assert found.p_value == 1
    assert (found.adjusted == 1).all()


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("statistic", ["accuracy", "macro_f1"])
def test_the_null_is_rejected_at_the_stated_rate_under_dependence_and_imbalance(shared, statistic):
    if statistic == "macro_f1" and not shared:
        pytest.skip("macro-F1 is defined for a shared label set only")
    generator, p_values = np.random.default_rng(2), []
    for _ in range(400):
        # gold is 70 % one label where it is shared; all prompts lean to it, and to each other
        gold = (generator.random(40) < 0.3).astype(int) if shared else generator.integers(0, 2, 40)
        common = (generator.random(40) < 0.3).astype(int)
        predicted = np.where(generator.random((12, 40)) < 0.8, common, generator.integers(0, 2, (12, 40)))
        p_values.append(result_of(predicted, gold, shared=shared, draws=199, statistic=statistic).p_value)
    for level in (0.05, 0.2):
        rate = np.mean(np.array(p_values) <= level)
        assert rate <= level + 3 * np.sqrt(level * (1 - level) / 400)
    assert np.mean(np.array(p_values) <= 0.2) > 0.1  # and it is not idle


def test_it_is_more_powerful_than_bonferroni_where_prompts_are_dependent():
    generator, ours, bonferroni = np.random.default_rng(3), 0, 0
    baseline = RandomBaseline.of(0.5, 60)
    for _ in range(120):
        gold = generator.integers(0, 2, 60)
        skilled = np.where(generator.random(60) < 0.36, gold, generator.integers(0, 2, 60))
        predicted = np.where(generator.random((40, 60)) < 0.95, skilled, generator.integers(0, 2, (40, 60)))
        found = result_of(predicted, gold, shared=False, draws=499)
        ours += found.p_value <= 0.05
        bonferroni += 40 * baseline.tail(round(found.observed.max() * 60)) <= 0.05
    assert ours > bonferroni + 20


def test_adjusted_p_values_are_step_down_and_in_the_order_of_the_prompts():
    generator = np.random.default_rng(4)
    gold = generator.integers(0, 2, 80)
    predicted = generator.integers(0, 2, (6, 80))
    predicted[2] = np.where(generator.random(80) < 0.9, gold, 1 - gold)
    predicted[5] = np.where(generator.random(80) < 0.75, gold, 1 - gold)
    found = result_of(predicted, gold, shared=False, draws=1999)
    assert found.adjusted[2] == found.p_value == found.adjusted.min() == 1 / 2000
    order = np.argsort(-found.observed, kind="stable")
    assert (np.diff(found.adjusted[order]) >= 0).all()
    # once the best is out, the next one is compared with the maximum of the others
    alone = result_of(np.delete(predicted, 2, axis=0), gold, shared=False, draws=1999)
    assert found.adjusted[5] == pytest.approx(alone.p_value, abs=0.01)
    assert found.adjusted[[0, 1, 3, 4]].min() > 0.05


def test_macro_f1_is_scikit_learns():
    generator = np.random.default_rng(5)
    gold, predicted = generator.integers(0, 3, 50), generator.integers(0, 3, (4, 50))
    found = result_of(predicted, gold, labels=3, statistic="macro_f1", draws=9).observed
    assert found == pytest.approx([f1_score(gold, row, average="macro") for row in predicted])


def test_draws_are_seeded():
    generator = np.random.default_rng(6)
    gold, predicted = generator.integers(0, 2, 30), generator.integers(0, 2, (5, 30))
    assert result_of(predicted, gold).p_value == result_of(predicted, gold).p_value
    assert len({result_of(predicted, gold, seed=seed).p_value for seed in range(5)}) > 1


def a_study(choices: list[list[str]]) -> tuple[pd.DataFrame, pd.DataFrame]:
    task = as_table(
        {"example": str(i), "text": "Q", "choices": own, "correct": [c == "yes" for c in own]}
        for i, own in enumerate(choices)
    )
    rows = [
        {"prompt": p, "example": str(e), "predicted": (p + e) % 2, "chance": 1 / len(choices[e])}
        for p in (0, 1)
        for e in range(len(choices))
        if not (p == 0 and e == 0)
    ]
    right = [task["correct"][int(row["example"])][row["predicted"]] for row in rows]
    return Setting("m", "t", 1).label(pd.DataFrame(rows).assign(correct=right)), task


def test_a_shared_label_set_is_one_of_texts_wherever_they_stand():
    predictions, task = a_study([["yes", "no"], ["no", "yes"], ["yes", "no"]])
    found = Answers.of(predictions, task)
    assert found.shared
    places = found.correct.argmax(axis=1)
    assert len(set(places)) == 1
    values = found.statistics(found.correct[None], "accuracy")[:, 0]
    right = predictions.apply(
        lambda row: task.set_index("example")["correct"][row["example"]][row["predicted"]], axis=1
    )
    assert values == pytest.approx(right.groupby(predictions["prompt"]).mean().to_numpy())


def test_choices_of_their_own_are_not_shared():
    predictions, task = a_study([["yes", "no"], ["yes", "maybe"], ["yes", "no"]])
    assert not Answers.of(predictions, task).shared
    table = of_setting(predictions, task, seed=0, draws=99)
    assert table["statistic"].unique().tolist() == ["accuracy"]
    row = for_verdicts(table).iloc[0]
    assert row["randomization_tail"] == table["best_tail"].iloc[0]
    assert np.isnan(row["macro_f1_tail"])


def test_a_tie_is_right_in_no_draw():
    predictions, task = a_study([["yes", "no"]] * 4)
    found = Answers.of(predictions.assign(predicted=-1), task)
    assert randomization_test(found, draws=50).p_value == 1
    assert found.statistics(found.correct[None], "accuracy").max() == 0


def test_macro_f1_without_a_shared_label_set_is_refused():
    with pytest.raises(ValueError, match="macro_f1 needs one set of choices"):
        result_of(np.zeros((1, 4), int), np.zeros(4, int), shared=False, statistic="macro_f1")
    with pytest.raises(ValueError, match="statistic is 'f1'"):
        result_of(np.zeros((1, 4), int), np.zeros(4, int), statistic="f1")
