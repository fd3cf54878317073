"""The randomization test: exact on small cases, valid under dependence, and more powerful than Bonferroni."""

from dataclasses import replace
from itertools import combinations, permutations, product

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.metrics import f1_score

from abovechance import RandomBaseline
from abovechance.chance.randomization import (
    RANDOMIZATION,
    Answers,
    RandomizationResult,
    effective_prompts,
    for_verdicts,
    randomization_test,
    randomize,
)
from abovechance.chance.verdicts import ranked
from abovechance.core.errors import InputError
from abovechance.core.settings import SETTING, Setting
from abovechance.results.accuracy import accuracy_by_prompt
from abovechance.results.response_matrix import ResponseMatrix
from abovechance.study.tasks import as_table
from tests.bench.randomization import NULLS


def answers(
    predicted: np.ndarray,
    gold: np.ndarray,
    labels: int,
    shared: bool,
    texts: np.ndarray | None = None,
    cluster: np.ndarray | None = None,
) -> Answers:
    return Answers(
        predicted=predicted,
        evaluated=np.ones(predicted.shape, dtype=bool),
        correct=gold[:, None] == np.arange(labels),
        available=np.ones((len(gold), labels), dtype=bool),
        shared=shared,
        texts=texts,
        cluster=cluster,
    )


def draws_of(study: Answers, number: int, seed: int = 0) -> np.ndarray:
    """(draws, examples, choices) gold answers drawn anew."""
    return np.concatenate([*study.gold.draws(np.random.default_rng(seed), number)])


def result_of(predicted, gold, labels=2, shared=True, draws=999, seed=0, **more) -> RandomizationResult:
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
    answers = Answers(
        predicted, np.ones((2, 4), bool), gold[:, None] == np.arange(3), available, shared=False
    )
    best = (predicted == gold).mean(axis=1).max()
    maxima = [(predicted == np.array(g)).mean(axis=1).max() for g in product(*map(range, choices))]
    exact = np.mean(np.array(maxima) >= best - 1e-9)
    assert randomization_test(answers, draws=20_000).p_value == pytest.approx(exact, abs=0.012)


def test_several_correct_choices_are_redrawn_as_many():
    correct = np.array([[True, True, False, False], [True, False, False, False]])
    available = np.array([[True] * 4, [True, True, False, False]])
    answers = Answers(np.zeros((1, 2), int), np.ones((1, 2), bool), correct, available, shared=False)
    sample = draws_of(answers, 4000, seed=0)
    assert (sample.sum(axis=2) == [2, 1]).all()
    assert not (sample & ~available).any()
    assert sample[:, 0].mean(axis=0) == pytest.approx([0.5] * 4, abs=0.04)
    assert sample[:, 1, :2].mean(axis=0) == pytest.approx([0.5] * 2, abs=0.04)


def test_independent_guessers_agree_with_the_maximum_baselines_tail():
    generator = np.random.default_rng(1)
    gold, predicted = generator.integers(0, 4, 60), generator.integers(0, 4, (15, 60))
    test = result_of(predicted, gold, labels=4, shared=False, draws=4000)
    best = round(test.observed.max() * 60)
    assert test.p_value == pytest.approx(RandomBaseline.from_chance(0.25, 60).tail(best, 15), abs=0.06)


def test_one_answer_for_all_examples_is_no_evidence_however_unbalanced_the_labels():
    gold = np.repeat([0, 1], [30, 10])
    test = result_of(np.zeros((5, 40), int), gold)
    assert test.observed.max() == 0.75
    assert test.p_value == 1
    assert (test.adjusted == 1).all()


@pytest.mark.thorough
@pytest.mark.parametrize("shared", [pytest.param(True, marks=pytest.mark.slow), False])
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


@pytest.mark.slow
def test_it_is_more_powerful_than_bonferroni_where_prompts_are_dependent():
    generator, ours, bonferroni = np.random.default_rng(3), 0, 0
    baseline = RandomBaseline.from_chance(0.5, 60)
    for _ in range(120):
        gold = generator.integers(0, 2, 60)
        skilled = np.where(generator.random(60) < 0.36, gold, generator.integers(0, 2, 60))
        predicted = np.where(generator.random((40, 60)) < 0.95, skilled, generator.integers(0, 2, (40, 60)))
        test = result_of(predicted, gold, shared=False, draws=499)
        ours += test.p_value <= 0.05
        bonferroni += 40 * baseline.tail(round(test.observed.max() * 60)) <= 0.05
    assert ours > bonferroni + 20


def test_adjusted_p_values_are_step_down_and_in_the_order_of_the_prompts():
    generator = np.random.default_rng(4)
    gold = generator.integers(0, 2, 80)
    predicted = generator.integers(0, 2, (6, 80))
    predicted[2] = np.where(generator.random(80) < 0.9, gold, 1 - gold)
    predicted[5] = np.where(generator.random(80) < 0.75, gold, 1 - gold)
    test = result_of(predicted, gold, shared=False, draws=1999)
    assert test.adjusted[2] == test.p_value == test.adjusted.min() == 1 / 2000
    order = np.argsort(-test.observed, kind="stable")
    assert (np.diff(test.adjusted[order]) >= 0).all()
    # once the best is out, the next one is compared with the maximum of the others
    alone = result_of(np.delete(predicted, 2, axis=0), gold, shared=False, draws=1999)
    assert test.adjusted[5] == pytest.approx(alone.p_value, abs=0.01)
    assert test.adjusted[[0, 1, 3, 4]].min() > 0.05


def test_each_prompt_is_held_against_the_best_of_itself_and_those_below_it():
    generator = np.random.default_rng(8)
    gold = np.repeat([0, 1], [12, 8])
    wrong = [generator.permutation(20) < n for n in (2, 5, 6, 7, 10)]
    predicted = np.where(wrong, 1 - gold, gold)
    study = answers(predicted, gold, 2, True)
    test = randomization_test(study, seed=3, draws=400)
    sample = draws_of(study, 400, seed=3).argmax(axis=2)
    values = (predicted[:, None, :] == sample).mean(axis=2)
    observed = (predicted == gold).mean(axis=1)
    order, expected, last = np.argsort(-observed, kind="stable"), np.empty(5), 0.0
    for place, prompt in enumerate(order):
        reached = values[order[place:]].max(axis=0) >= observed[prompt] - 1e-9
        expected[prompt] = last = max(last, (reached.sum() + 1) / 401)
    assert test.adjusted == pytest.approx(expected)
    assert len(set(test.adjusted)) > 2
    assert (test.statistic, test.draws, test.permuted, test.fixed) == ("accuracy", 400, 1, 0)


def test_standardized_accuracies_are_held_against_standardized_draws():
    generator = np.random.default_rng(9)
    gold, predicted = generator.integers(0, 2, 40), generator.integers(0, 2, (3, 40))
    evaluated = np.arange(40) < np.array([[40], [12], [25]])
    study = replace(answers(predicted, gold, 2, False), evaluated=evaluated)
    test = randomization_test(study, seed=2, draws=300, standardized=True)
    sizes = evaluated.sum(axis=1)

    def scores(correct: np.ndarray) -> np.ndarray:
        return ((correct & evaluated).sum(axis=1) - sizes / 2) / np.sqrt(sizes / 4)

    sample = draws_of(study, 300, seed=2).argmax(axis=2)
    best = scores(predicted == gold).max()
    reached = [scores(predicted == value).max() >= best - 1e-9 for value in sample]
    assert test.p_value == pytest.approx((sum(reached) + 1) / 301)
    with pytest.raises(ValueError, match="standardized is for accuracies, and not for macro_f1"):
        randomization_test(answers(predicted, gold, 2, True), 0, 9, "macro_f1", standardized=True)


def test_the_numbers_of_draws_and_the_seed_have_defaults():
    generator = np.random.default_rng(6)
    gold, predicted = generator.integers(0, 2, 30), generator.integers(0, 2, (5, 30))
    study = answers(predicted, gold, 2, True)
    test = randomization_test(study)
    assert (test.draws, test.p_value) == (10_000, randomization_test(study, 0, 10_000).p_value)
    assert randomization_test(study, draws=1).p_value in (0.5, 1)
    with pytest.raises(ValueError, match="draws is 0: at least one is needed"):
        randomization_test(study, draws=0)


def test_a_result_is_shown_in_notebooks():
    html = result_of(np.array([[0, 1, 1, 0]]), np.array([0, 1, 1, 0]), draws=99)._repr_html_()
    for text in (
        "statistic",
        "accuracy",
        "best",
        "prompts",
        "p-value",
        "gold answers",
        "clusters",
        "draws",
        "99",
    ):
        assert f">{text}<" in html
    assert ">permuted in 100% of examples, else redrawn<" in html


def test_macro_f1_is_scikit_learns():
    generator = np.random.default_rng(5)
    gold, predicted = generator.integers(0, 3, 50), generator.integers(0, 3, (4, 50))
    test = result_of(predicted, gold, labels=3, statistic="macro_f1", draws=9).observed
    assert test == pytest.approx([f1_score(gold, row, average="macro") for row in predicted])


def test_draws_are_seeded():
    generator = np.random.default_rng(6)
    gold, predicted = generator.integers(0, 2, 30), generator.integers(0, 2, (5, 30))
    assert result_of(predicted, gold).p_value == result_of(predicted, gold).p_value
    assert len({result_of(predicted, gold, seed=seed).p_value for seed in range(5)}) > 1


def a_study(choices: list[list[str]]) -> tuple[pd.DataFrame, pd.DataFrame]:
    task = as_table(
        {"example": str(i), "text": "Q", "choices": own_part, "correct": [c == "yes" for c in own_part]}
        for i, own_part in enumerate(choices)
    )
    rows = [
        {"prompt": p, "example": str(e), "predicted": (p + e) % 2, "chance": 1 / len(choices[e])}
        for p in (0, 1)
        for e in range(len(choices))
        if not (p == 0 and e == 0)
    ]
    correct = [task["correct"][int(row["example"])][row["predicted"]] for row in rows]
    return Setting("m", "t", 1).label(pd.DataFrame(rows).assign(correct=correct)), task


def test_prompts_on_other_examples_are_tested_by_their_standardized_accuracies():
    predictions, task = a_study([["yes", "no"], ["no", "yes"]] * 20)
    few = predictions[(predictions["prompt"] == 0) | (predictions["example"].astype(int) < 8)]
    few = few.assign(predicted=np.random.default_rng(3).integers(0, 2, len(few)))
    task = task.assign(cluster=range(40), correct=[[n % 3 > 0, n % 3 == 0] for n in range(40)])
    table, answered = randomize(few, task, seed=1, draws=99), Answers.from_predictions(few, task)
    matrix = ResponseMatrix.from_predictions(few)
    assert matrix.uneven(30)
    assert not matrix.uneven(31)
    expected, raw = (
        randomization_test(answered, Setting("m", "t", 1).seed(1), 99, standardized=way)
        for way in (True, False)
    )
    assert expected.adjusted.tolist() != raw.adjusted.tolist()
    group = table[table["statistic"] == "accuracy"]
    assert group["adjusted_tail"].tolist() == expected.adjusted.tolist()
    assert group["value"].tolist() == expected.observed.tolist()


def test_power_is_that_of_the_best_prompt_by_standardized_accuracy():
    """Prompt 0 has 2 of 2 right, and prompt 1, the best one, 62 of 100, most of which have one answer."""
    gold = np.array([n >= 96 for n in range(100)]).astype(int)
    predictions, task = a_study([["yes", "no"]] * 100)
    number = predictions["example"].astype(int)
    rows = (predictions["prompt"] == 1) | number.between(1, 2)
    is_right = np.where(predictions["prompt"] == 0, True, number < 62)
    predictions = predictions.assign(predicted=np.where(is_right, gold[number], 1 - gold[number]))[rows]
    task = task.assign(cluster=range(100), correct=[[n == 0, n == 1] for n in gold])
    answers_of_two = Answers.from_predictions(predictions, task)
    alone = Answers.from_predictions(predictions[predictions["prompt"] == 1], task)
    result = randomization_test(answers_of_two, 0, 200, standardized=True)
    assert result.reference == pytest.approx(0.62)
    assert result.power == pytest.approx(randomization_test(alone, 0, 200, standardized=True).power, abs=0.1)
    assert randomization_test(answers_of_two, 0, 200).reference == 1.0


def test_prompts_on_as_many_other_examples_have_one_best_prompt_in_verdicts_and_in_the_test():
    """Prompt 0 has 17 of 20 right, a better standardized score, and prompt 1 9 of 10, a better accuracy."""
    predictions, task = a_study([["yes", "no"]] * 31)
    number = predictions["example"].astype(int)
    rows = ((predictions["prompt"] == 0) & number.between(1, 20)) | (
        (predictions["prompt"] == 1) & number.between(21, 30)
    )
    is_right = np.where(predictions["prompt"] == 0, number > 3, number > 21)
    gold = np.array([n % 2 for n in range(31)])
    predictions = predictions.assign(
        predicted=np.where(is_right, gold[number], 1 - gold[number]), correct=is_right, tie=False, shots=10
    )[rows]
    task = task.assign(cluster=range(31), correct=[[n % 2 == 0, n % 2 == 1] for n in range(31)])
    table = randomize(predictions, task, seed=0, draws=9_999)
    assert not ResponseMatrix.from_predictions(predictions).uneven(10)
    (best,) = ranked(accuracy_by_prompt(predictions))["prompt"].head(1)
    assert best == 1
    (tail,) = set(table.loc[table["statistic"] == "accuracy", "best_tail"])
    assert tail == pytest.approx(stats.binom(10, 0.5).sf(8), abs=0.004)


def test_where_no_other_gold_answers_can_be_drawn_there_is_no_tail():
    predictions, task = a_study([["yes", "no"]] * 12)
    task = task.assign(cluster=[0] * 7 + [1] * 5)
    table = randomize(predictions, task, seed=0, draws=99)
    assert (table["fixed"] == 1).all()
    assert table[["best_tail", "adjusted_tail"]].isna().all(axis=None)
    assert for_verdicts(table)["randomization_tail"].isna().all()


def test_a_shared_label_set_is_one_of_texts_wherever_they_stand():
    predictions, task = a_study([["yes", "no"], ["no", "yes"], ["yes", "no"]])
    answers = Answers.from_predictions(predictions, task)
    assert answers.shared
    places = answers.correct.argmax(axis=1)
    assert len(set(places)) == 1
    values = answers.statistics(answers.correct[None], "accuracy")[:, 0]
    correct = predictions.apply(
        lambda row: task.set_index("example")["correct"][row["example"]][row["predicted"]], axis=1
    )
    assert values == pytest.approx(correct.groupby(predictions["prompt"]).mean().to_numpy())
    without = Answers.from_predictions(predictions.drop(columns=["correct", "chance"]), task)
    for name in ("predicted", "evaluated", "correct", "available", "texts"):
        assert (getattr(without, name) == getattr(answers, name)).all()
    assert answers.available.all()


def test_examples_of_predictions_are_those_of_the_task():
    predictions, task = a_study([["yes", "no"], ["no", "yes"], ["yes", "no"]])
    expected = Answers.from_predictions(predictions, task)
    numbers = {name: place for place, name in enumerate(task["example"])}
    numbered_answers = Answers.from_predictions(
        predictions.assign(example=predictions["example"].map(numbers)),
        task.assign(example=task["example"].map(numbers)),
    )
    assert (numbered_answers.predicted == expected.predicted).all()
    with pytest.raises(InputError) as error:
        Answers.from_predictions(predictions, task[:-1])
    (lacking,) = {*task["example"][-1:]}
    assert str(error.value) == f"the task lacks example '{lacking}' of the predictions"
    with pytest.raises(InputError) as error:
        Answers.from_predictions(predictions, task.assign(cluster=[0, None, 1]))
    assert "is missing; expected one for each" in str(error.value)


def test_an_example_has_the_choices_that_it_has():
    predictions, task = a_study([["yes", "no", "maybe"], ["no", "yes"]])
    answers = Answers.from_predictions(predictions, task)
    # the first prompt lacks example 0, so example 1 comes first
    assert answers.available.tolist() == [[True, True, False], [True, True, True]]
    assert answers.correct.tolist() == [[False, True, False], [True, False, False]]
    assert answers.texts[1, :2].tolist() == answers.texts[0, 1::-1].tolist()


def test_the_table_of_a_setting_is_that_of_its_tests():
    predictions, task = a_study([["yes", "no"]] * 14)
    task = task.assign(cluster=range(14), correct=[[n % 3 > 0, n % 3 == 0] for n in range(14)])
    setting = Setting("m", "t", 1)
    table, answered = (
        randomize(predictions, task, seed=5, draws=200),
        Answers.from_predictions(predictions, task),
    )
    assert set(table.columns) == set(RANDOMIZATION.columns)
    assert table.index.is_unique
    assert table["prompt"].tolist() == [0, 1] * 2
    for statistic, group in table.groupby("statistic"):
        expected = randomization_test(answered, setting.seed(5), 200, statistic)
        assert group["value"].tolist() == expected.observed.tolist()
        assert group["adjusted_tail"].tolist() == expected.adjusted.tolist()
        assert set(group["best_tail"]) == {expected.p_value} != {1}
    merged = pd.concat([table.assign(task="u"), table.assign(value=table["value"] / 2)])
    carried = for_verdicts(merged)
    assert carried["task"].tolist() == ["u", "t"]
    f1 = table[table["statistic"] == "macro_f1"]
    assert carried["best_macro_f1"].tolist() == [f1["value"].max(), f1["value"].max() / 2]
    assert carried["macro_f1_tail"].tolist() == [f1["best_tail"].iloc[0]] * 2


def test_tails_are_adjusted_for_all_tests_and_not_only_those_with_power():
    """Tails without power are missing if they are large, and their settings were tested too."""
    tails, power = [0.01, 0.04, 0.5, 0.9], [0.3, 0.8, 0.3, 0.8]
    rows = {"model": "m", "task": [*"abcd"], "shots": 0, "statistic": "accuracy", "value": 0.5}
    table = pd.DataFrame(rows | {"best_tail": tails, "power": power, "fixed": 0.0})
    row = for_verdicts(table).set_index("task")
    expected = stats.false_discovery_control(tails)
    assert row["randomization_tail"].tolist() == pytest.approx([0.01, 0.04, np.nan, 0.9], nan_ok=True)
    expected[2] = np.nan
    assert row["randomization_bh_tail"].tolist() == pytest.approx(expected.tolist(), nan_ok=True)


def test_choices_of_their_own_are_not_shared():
    predictions, task = a_study([["yes", "no"], ["yes", "maybe"], ["yes", "no"]])
    assert not Answers.from_predictions(predictions, task).shared
    task = task.assign(cluster=range(3), correct=[[False, True], [True, False], [True, False]])
    table = randomize(predictions, task, seed=0, draws=99)
    assert table["statistic"].unique().tolist() == ["accuracy"]
    row = for_verdicts(table).iloc[0]
    assert row[["randomization_tail", "macro_f1_tail"]].isna().all()  # three examples: no power


def test_prompts_that_answer_alike_are_worth_fewer_guessers():
    baseline = RandomBaseline.from_chance(0.5, 60)
    for guessers in (1, 7, 40):
        tail = baseline.tail(38, guessers)
        assert effective_prompts(tail, baseline.tail(38), 40, 999) == pytest.approx(guessers)
    assert np.isnan(effective_prompts([1.0, np.nan, 0.2], [0.1, 0.1, np.nan], 9, 999)).all()
    assert np.isnan(effective_prompts([0.001, 0.5], [1e-9, 1e-9], 9, 999)).all()  # the floor; too many
    at_floor, above_it = effective_prompts([0.001, 0.002], [0.001, 0.001], 9, 999)
    assert np.isnan(at_floor)
    assert above_it == pytest.approx(2, abs=0.01)
    assert np.isnan(effective_prompts(baseline.tail(38, 15), baseline.tail(38), 10, 999))
    assert np.isnan(effective_prompts([0.04, 0.5], [0.067, 1.0], 10, 999)).all()  # fewer than one
    assert effective_prompts(baseline.tail(38), baseline.tail(38), 10, 999) == pytest.approx(1)


def test_accuracies_are_those_of_the_answers():
    predictions, task = a_study([["yes", "no"]] * 30)
    task["cluster"] = range(30)
    table = randomize(predictions, task, seed=0, draws=200)
    accuracy = table[table["statistic"] == "accuracy"]
    answered = Answers.from_predictions(predictions, task)
    assert answered.is_correct.sum(axis=1) / answered.evaluated.sum(axis=1) == pytest.approx(
        accuracy["value"]
    )


def test_a_tie_is_right_in_no_draw():
    predictions, task = a_study([["yes", "no"]] * 4)
    answers = Answers.from_predictions(predictions.assign(predicted=-1), task)
    assert randomization_test(answers, draws=50).p_value == 1
    assert answers.statistics(answers.correct[None], "accuracy").max() == 0


def test_macro_f1_without_a_shared_label_set_is_refused():
    with pytest.raises(ValueError, match="macro_f1 needs one set of choices"):
        result_of(np.zeros((1, 4), int), np.zeros(4, int), shared=False, statistic="macro_f1")
    with pytest.raises(ValueError, match="statistic is 'f1'"):
        result_of(np.zeros((1, 4), int), np.zeros(4, int), statistic="f1")


def exact_p_value(study: Answers, golds: list[np.ndarray]) -> float:
    """Of equally probable gold answers, the share for which the best prompt is as good."""
    best = (study.predicted == study.correct.argmax(axis=1)).mean(axis=1).max()
    return float(np.mean([(study.predicted == gold).mean(axis=1).max() >= best - 1e-9 for gold in golds]))


def test_a_label_in_every_set_is_permuted_and_own_choices_are_redrawn():
    """Of three choices, the first is 'unknown' everywhere: it stays correct as often, in other examples."""
    texts = np.column_stack([np.zeros(5, int), *(1 + np.arange(10).reshape(5, 2).T)])
    gold = np.array([0, 0, 1, 2, 1])
    predicted = np.array([[0, 1, 1, 0, 2], [0, 0, 0, 0, 1]])
    study = answers(predicted, gold, 3, False, texts)
    golds = [np.array(g) for g in product(range(3), repeat=5) if np.sum(np.array(g) == 0) == 2]
    assert randomization_test(study, draws=20_000).p_value == pytest.approx(
        exact_p_value(study, golds), abs=0.012
    )
    sample = draws_of(study, 500, seed=0)
    assert (sample[:, :, 0].sum(axis=1) == 2).all()
    assert (sample.sum(axis=2) == 1).all()
    assert (study.permuted, study.clusters) == (1.0, 5)
    assert randomization_test(study, draws=99).fixed == 0


def test_answers_from_a_common_pool_are_drawn_with_the_same_totals():
    """Three of five labels each: all gold answers in which each label is correct as often are as probable."""
    texts = np.array([[0, 1, 2], [0, 1, 3], [1, 2, 3], [0, 2, 4], [1, 3, 4], [0, 1, 4]])
    gold = np.array([0, 1, 0, 1, 2, 0])
    labels = texts[np.arange(6), gold]
    predicted = np.array([[0, 1, 2, 1, 0, 0], [1, 1, 0, 2, 2, 1]])
    study = answers(predicted, gold, 3, False, texts)
    golds = [
        np.array(places)
        for places in product(range(3), repeat=6)
        if sorted(texts[np.arange(6), places]) == sorted(labels)
    ]
    sample = draws_of(study, 20_000, seed=1).argmax(axis=2)
    result, counts = np.unique(sample, axis=0, return_counts=True)
    assert result.tolist() == sorted(g.tolist() for g in golds)
    assert counts / 20_000 == pytest.approx([1 / len(golds)] * len(golds), abs=0.012)
    assert randomization_test(study, draws=20_000).p_value == pytest.approx(
        exact_p_value(study, golds), abs=0.012
    )


def test_labels_are_permuted_within_examples_of_the_same_set():
    texts = np.array([[0, 1]] * 6 + [[2, 3]] * 5)
    gold = np.array([0] * 5 + [1] + [1] * 4 + [0])
    study = answers(gold[None], gold, 2, False, texts)
    sample = draws_of(study, 400, seed=0)
    assert (sample[:, :6, 1].sum(axis=1) == 1).all()
    assert (sample[:, 6:, 0].sum(axis=1) == 1).all()
    assert (sample[:, :6, 1].mean(axis=0) > 0.1).all()


def test_a_rare_label_keeps_no_other_example_from_changing():
    """'99' stands in two sets besides 'unknown', which is in all."""
    texts = np.column_stack([np.zeros(30, int), 1 + np.arange(30)])
    texts[:2, 1] = 99
    gold = np.repeat([0, 1], 15)
    study = answers(gold[None], gold, 2, False, texts)
    sample = draws_of(study, 400, seed=0)
    assert (sample[:, :, 0].sum(axis=1) == 15).all()
    assert (sample[:, :2, 1].sum(axis=1) == 0).all()  # '99' is correct nowhere, and stays so
    assert sample[:, 2:, 0].mean(axis=0) == pytest.approx([13 / 28] * 28, abs=0.1)


def test_clusters_are_permuted_as_wholes():
    gold, cluster = np.array([0, 0, 1, 1, 0, 1, 1, 1, 0, 0, 1, 0]), np.repeat(np.arange(6), 2)
    predicted = np.array([[0, 0, 1, 1, 0, 1, 0, 1, 1, 0, 1, 1]])
    study = answers(predicted, gold, 2, True, cluster=cluster)
    pairs = gold.reshape(6, 2)
    golds = [pairs[list(order)].ravel() for order in permutations(range(6))]
    assert randomization_test(study, draws=20_000).p_value == pytest.approx(
        exact_p_value(study, golds), abs=0.012
    )
    assert study.clusters == 6


def test_choices_of_a_cluster_are_renamed_alike():
    """Two pairs of three own choices: both gold answers of a pair move together."""
    gold, cluster = np.array([0, 0, 1, 2]), np.array([0, 0, 1, 1])
    predicted = np.array([[0, 0, 0, 1]])
    study = answers(predicted, gold, 3, False, cluster=cluster)
    golds = [
        np.array([first[0], first[0], second[1], second[2]])
        for first in permutations(range(3))
        for second in permutations(range(3))
    ]
    assert randomization_test(study, draws=20_000).p_value == pytest.approx(
        exact_p_value(study, golds), abs=0.012
    )


@pytest.mark.parametrize("seed", range(5))
def test_labels_that_two_of_many_have_change_between_these(seed):
    """20 pairs of examples, each with 'unknown' and a label of its pair's: all gold answers change."""
    texts = np.column_stack([np.zeros(40, int), 1 + np.arange(40) // 2])
    gold = np.arange(40) % 2
    test = randomization_test(answers(gold[None], gold, 2, False, texts), seed=seed, draws=300)
    assert test.fixed == 0


def test_rare_shared_labels_are_permuted_and_not_redrawn():
    """'none' in 4 of 30 sets of own choices is right, and said, wherever it stands."""
    texts = np.arange(90).reshape(30, 3) + 1
    texts[:4, 0] = 0
    gold = np.where(np.arange(30) < 4, 0, 1 + np.arange(30) % 2)
    study = answers(gold[None], gold, 3, False, texts)
    sample = draws_of(study, 300, seed=0)
    assert sample[:, :4, 0].all()
    assert sample[:, 4:, 0].mean() == pytest.approx(1 / 3, abs=0.03)


def test_of_two_that_have_a_text_twice_the_correct_one_is_drawn_evenly():
    """The first has 'a' twice: 'a' is its gold answer in two of three states, of equal weight each."""
    texts = np.array([[0, 0, 1], [0, 1, 2]])
    study = answers(np.zeros((1, 2), int), np.array([0, 1]), 3, False, texts)
    sample = draws_of(study, 6000, seed=0).argmax(axis=2)
    states, counts = np.unique(sample, axis=0, return_counts=True)
    assert states.tolist() == [[0, 1], [1, 1], [2, 0]]
    assert counts / 6000 == pytest.approx([1 / 3] * 3, abs=0.03)


def test_a_cluster_like_no_other_stays_where_labels_are_shared():
    gold, cluster = np.array([0, 1, 1, 0, 1]), np.array([0, 0, 0, 1, 1])
    study = answers(gold[None], gold, 2, True, cluster=cluster)
    assert (draws_of(study, 50, seed=0) == study.correct).all()
    test = randomization_test(study, draws=99)
    assert (test.fixed, test.p_value) == (1, 1)


def test_texts_and_clusters_of_a_task_are_read():
    predictions, task = a_study([["yes", "no"], ["maybe", "no"], ["yes", "no"]])
    task["cluster"] = [4, 9, 4]
    answers = Answers.from_predictions(predictions, task)
    assert answers.texts[:, 1].tolist() == [answers.texts[0, 1]] * 3
    assert answers.texts[1, 0] == answers.texts[2, 0] != answers.texts[0, 0]  # the first row is of the second
    assert answers.clusters == 2
    table = randomize(predictions, task, seed=0, draws=99)
    assert table["clusters"].unique().tolist() == [2]


# ten seconds and more
LONG = ("five choices", "four choices of 20", "four choices of 12", "four choices: the gold answer, and")


@pytest.mark.thorough
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * name.startswith(LONG)) for name in NULLS]
)
def test_no_null_is_rejected_too_often(name):
    generator, rejected = np.random.default_rng(7), 0
    for _ in range(100):
        study = NULLS[name](generator)
        rejected += randomization_test(study, generator.integers(2**31), 99).p_value <= 0.05
    assert rejected / 100 <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 100)


def test_prompts_on_other_examples_are_compared_by_their_standardized_scores():
    """One prompt is right in 75 % of 200 examples; ten others guess on ten of them."""
    generator = np.random.default_rng(0)
    gold = generator.integers(0, 2, 200)
    predicted = generator.integers(0, 2, (11, 200))
    predicted[0] = np.where(np.arange(200) % 4 > 0, gold, 1 - gold)
    evaluated = np.ones((11, 200), bool)
    evaluated[1:] = np.arange(200) < 10
    predicted[1, :10] = np.where(np.arange(10) < 8, gold[:10], 1 - gold[:10])
    study = replace(answers(predicted, gold, 2, False), evaluated=evaluated)
    raw, fair = (randomization_test(study, draws=999, standardized=way) for way in (False, True))
    assert raw.observed.argmax() == 1
    assert raw.p_value > 0.05
    assert fair.p_value == 1 / 1000 == fair.adjusted[0]
    assert fair.observed.tolist() == raw.observed.tolist()
    identical = answers(predicted, gold, 2, False)
    assert (
        randomization_test(identical, draws=99, standardized=True).p_value
        == randomization_test(identical, draws=99).p_value
    )
    with pytest.raises(ValueError, match="standardized is for accuracies"):
        result_of(predicted, gold, statistic="macro_f1", standardized=True)


def own_distractors(examples: int, accuracy: float, seed: int, answers: int | None = None) -> Answers:
    """Four choices from the answers of all examples; one prompt with a share of correct answers."""
    generator = np.random.default_rng(seed)
    gold = np.arange(examples) % (answers or examples)
    remaining = [
        generator.choice(np.setdiff1d(gold, [gold_answer]), 3, replace=False) for gold_answer in gold
    ]
    skilled = generator.random(examples) < accuracy
    return Answers(
        predicted=np.where(skilled, 0, generator.integers(1, 4, examples))[None],
        evaluated=np.ones((1, examples), bool),
        correct=np.zeros(examples, int)[:, None] == np.arange(4),
        available=np.ones((examples, 4), bool),
        shared=False,
        texts=np.column_stack([gold, remaining]),
    )


def test_labels_that_no_two_examples_can_exchange_move_along_cycles():
    """Of twenty triples, no two have both labels in common: all gold answers but the observed ones differ."""
    texts = np.array([[0, 1], [1, 2], [2, 0]] * 20) + 3 * np.repeat(np.arange(20), 3)[:, None]
    test = randomization_test(answers(np.zeros((1, 60), int), np.zeros(60, int), 2, False, texts), draws=9999)
    assert test.p_value == 1 / 10_000  # exactly 2^-20
    assert test.fixed == 0
    assert test.power > 0.9


@pytest.mark.parametrize(
    "renamed",
    [
        lambda texts: texts + 2**60,
        lambda texts: texts.astype(np.uint64) + np.uint64(2**63),
        lambda texts: texts.astype(object) + 2**60,
        lambda texts: (texts.astype(object) + 2**80).tolist(),
        lambda texts: pd.DataFrame(texts + 2**60),
        lambda texts: pd.DataFrame(texts + 2**60, dtype="Int64"),
        lambda texts: pd.DataFrame(texts + 2**60, dtype="int64[pyarrow]"),
    ],
)
def test_large_numbers_of_texts_are_not_rounded(renamed):
    """Texts may be numbered by hashes."""
    study = own_distractors(40, 0.3, 1, answers=6)
    with_hashes = replace(study, texts=renamed(np.asarray(study.texts)))
    assert randomization_test(with_hashes, draws=200) == randomization_test(study, draws=200)


@pytest.mark.parametrize("name", ["predicted", "evaluated", "correct", "available", "texts"])
def test_masked_values_are_missing(name):
    study = own_distractors(40, 0.3, 1, answers=6)
    value = np.asarray(getattr(study, name))
    masked = np.ma.array(value, mask=np.arange(value.shape[1]) == 1 + np.zeros((len(value), 1)))
    for of_kind in (masked, [*masked]):
        with pytest.raises(InputError, match=f"{name} has a missing value"):
            replace(study, **{name: of_kind})


@pytest.mark.slow
def test_skill_is_seen_where_distractors_are_other_examples_answers():
    for seed in range(3):
        study = own_distractors(200, 0.6, seed)
        p_values = [randomization_test(study, start, 999).p_value for start in range(3)]
        assert p_values == [1 / 1000] * 3


@pytest.mark.thorough
@pytest.mark.parametrize("count", [pytest.param(None, marks=pytest.mark.slow), 20])
def test_draws_from_any_start_agree(count):
    """A p-value that is not small: twelve starts differ by no more than the number of draws explains."""
    study = own_distractors(100, 0.25, 3, count)
    p_values = [randomization_test(study, start, 1999).p_value for start in range(12)]
    centre = np.mean(p_values)
    assert 0.02 < centre < 0.98
    assert np.std(p_values) < 2 * np.sqrt(centre * (1 - centre) / 2000)


@pytest.mark.parametrize("seed", range(8))
def test_draws_are_uniform_over_all_gold_answers_with_the_same_totals(seed):
    """Brute force over small pools, also with several correct choices and choices of one example."""
    generator = np.random.default_rng(seed)
    texts = generator.permuted(np.tile(np.arange(5), (5, 1)), axis=1)[:, :3]
    texts[4, 0] = 100  # its own
    sizes = generator.integers(1, 1 + 1 + seed % 2, 5)
    correct = generator.random((5, 3)).argsort(axis=1) < sizes[:, None]
    study = replace(answers(np.zeros((1, 5), int), np.zeros(5, int), 3, False, texts), correct=correct)
    rows = [[np.isin(range(3), p) for p in combinations(range(3), size)] for size in sizes]
    possible = [np.array(rows) for rows in product(*rows)]
    names, times = np.unique(texts, return_counts=True)
    labels = np.where(np.isin(texts, names[times == 1]), -1, texts)  # labels of one example are drawn as one
    possible = [gold for gold in possible if sorted(labels[gold]) == sorted(labels[correct])]
    sample = draws_of(study, 20_000, seed=seed)
    result, counts = np.unique(sample.reshape(len(sample), -1), axis=0, return_counts=True)
    assert result.tolist() == sorted(gold.ravel().tolist() for gold in possible)
    share = 1 / len(possible)
    # the draws depend on one start, and on each other by it
    assert counts / 20_000 == pytest.approx([share] * len(possible), abs=5 * np.sqrt(share / 20_000) + 0.003)


def test_clusters_from_a_pool_exchange_what_both_can_hold():
    """Passages of two questions, with two of six labels each: a perfect prompt has the least p-value."""
    generator = np.random.default_rng(0)
    sets = generator.permuted(np.tile(np.arange(6), (60, 1)), axis=1)[:, :3]
    texts, gold = np.repeat(sets, 2, axis=0), np.repeat(generator.integers(0, 3, 60), 2)
    study = answers(gold[None], gold, 3, False, texts, cluster=np.repeat(np.arange(60), 2))
    test = randomization_test(study, draws=999)
    assert (test.p_value, test.fixed) == (1 / 1000, 0)
    sample = draws_of(study, 200).argmax(axis=2)
    assert (sample[:, ::2] == sample[:, 1::2]).all()
    labels = np.take_along_axis(np.broadcast_to(texts, (200, *texts.shape)), sample[:, :, None], axis=2)
    assert (np.sort(labels[:, :, 0], axis=1) == np.sort(texts[np.arange(120), gold])).all()


def test_several_correct_answers_from_a_pool_are_exchanged():
    generator = np.random.default_rng(0)
    texts = generator.permuted(np.tile(np.arange(9), (60, 1)), axis=1)[:, :4]
    correct = np.tile([True, True, False, False], (60, 1))
    study = replace(answers(np.zeros((1, 60), int), np.zeros(60, int), 4, False, texts), correct=correct)
    test = randomization_test(study, draws=999)
    assert (test.p_value, test.fixed) == (1 / 1000, 0)


def test_a_test_without_power_has_no_p_value_and_says_so():
    """All examples but two have choices in a cycle that cannot change: skill cannot show."""
    texts = np.column_stack([np.arange(40), np.arange(40) + 1])
    texts[38:, 1] = 0
    texts[38:, 0] = 39
    study = answers(np.zeros((1, 40), int), np.zeros(40, int), 2, False, texts)
    test = randomization_test(study, draws=199)
    assert test.fixed > 0.9
    assert test.p_value > 0.05 > test.power
    assert not test.has_power
    assert ">no power<" in test._repr_html_()
    table = pd.DataFrame(
        {
            **dict(zip(SETTING, ("m", "t", 0), strict=True)),
            "prompt": [0],
            "statistic": ["accuracy"],
            "value": [1.0],
            "best_tail": [test.p_value],
            "power": [test.power],
            "fixed": [test.fixed],
        }
    )
    row = for_verdicts(table).iloc[0]
    assert np.isnan(row["randomization_tail"])
    assert (row["randomization_power"], row["randomization_fixed"]) == (test.power, test.fixed)


def test_power_is_how_often_a_prompt_with_that_accuracy_is_rejected():
    generator = np.random.default_rng(0)
    gold = generator.integers(0, 2, 40)
    study = answers(generator.integers(0, 2, (3, 40)), gold, 2, True)
    test = randomization_test(study, draws=999)
    assert test.reference == 28 / 40  # 27 have a maximum tail of .054 among three guessers
    rejected = []
    for _ in range(100):
        correct = generator.permuted(np.arange(40)) < 28
        rejected.append(result_of(np.where(correct, gold, 1 - gold)[None], gold, draws=999).p_value <= 0.05)
    assert test.power == pytest.approx(np.mean(rejected), abs=0.15)
    assert result_of(np.array([[0, 1] * 5]), np.array([0, 1] * 5), statistic="macro_f1").has_power


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"cluster": np.zeros(5)}, r"clusters of the shape \(5,\) for 20 examples"),
        ({"cluster": np.full(20, np.nan)}, "the cluster of example 0 is missing"),
        ({"predicted": np.full((3, 20), 2)}, "predicted has the label 2; expected 0 to 1, or -1"),
        ({"predicted": np.full((3, 20), -2)}, "predicted has the label -2; expected 0 to 1, or -1"),
        ({"predicted": np.full((3, 20), np.nan)}, "predicted has a missing value; expected one for each"),
        ({"predicted": np.zeros(20, int)}, r"expected \(examples, labels\) for correct"),
        ({"predicted": np.zeros((3, 19), int)}, r"predicted has the shape \(3, 19\); expected \(3, 20\)"),
        ({"evaluated": np.ones((2, 20), bool)}, r"evaluated has the shape \(2, 20\); expected \(3, 20\)"),
        ({"available": np.ones((20, 3), bool)}, r"available has the shape \(20, 3\); expected \(20, 2\)"),
        ({"texts": np.zeros((19, 2), int)}, r"texts has the shape \(19, 2\); expected \(20, 2\)"),
    ],
)
def test_answers_that_do_not_fit_together_are_an_error(changes, message):
    study = answers(np.zeros((3, 20), int), np.arange(20) % 2, 2, shared=True)
    with pytest.raises(InputError, match=message):
        randomization_test(replace(study, **changes), draws=99)


def test_answers_may_be_lists():
    predicted = np.array([[0, 0, 1, 1], [0, 1, 1, 1]])
    study = answers(predicted, np.array([0, 0, 1, 1]), 2, shared=True)
    names = ("predicted", "evaluated", "correct", "available")
    listed = Answers(**{name: getattr(study, name).tolist() for name in names}, shared=True)
    assert randomization_test(listed).p_value == randomization_test(study).p_value
    nullable = {name: pd.DataFrame(getattr(study, name)).convert_dtypes() for name in names}
    assert randomization_test(replace(study, **nullable)).p_value == randomization_test(study).p_value
    assert replace(study, **nullable).is_correct.tolist() == study.is_correct.tolist()
    with pytest.raises(InputError, match="expected numbers"):
        replace(study, predicted=[["a", "a", "b", "b"], ["a", None, "b", "b"]])
    with pytest.raises(InputError, match="predicted has the label 0.5; expected 0 to 1"):
        replace(study, predicted=[[0.5, 0, 1, 1]], evaluated=[[True] * 4])
