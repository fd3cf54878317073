"""Luck in the best accuracies of a study: its verdicts' columns, and what held-out examples show."""

import numpy as np
import pandas as pd
import pytest

from abovechance.best import Candidates, debiased_score, selection_null
from abovechance.best.heldout import DEBIASED, calibration, heldout_estimates
from abovechance.best.study import SELECTION, candidates_of, selected
from abovechance.chance.verdicts import ranked
from abovechance.core.settings import Setting
from abovechance.results.accuracy import accuracy_by_prompt
from abovechance.results.response_matrix import ResponseMatrix
from abovechance.study.clusters import clusters_of
from tests.best.simulated import answers, true_scores


def predictions(correct: np.ndarray, task: str = "t", missing: int = 0) -> pd.DataFrame:
    """The predictions of a setting, where a prompt lacks its own ``missing`` examples."""
    prompt, example = np.indices(correct.shape).reshape(2, -1)
    table = pd.DataFrame(
        {"prompt": prompt, "example": example.astype(str), "correct": correct.ravel() == 1, "chance": 0.5}
    )
    table = table[(example - prompt) % correct.shape[1] >= missing]
    return Setting("m", task, 1).label(table)


def test_a_setting_has_what_its_answers_give() -> None:
    correct = answers(np.random.default_rng(0), np.array([0.3, 0.5, 0.8]), 40)
    table = selected([predictions(correct)], {}, seed=3)
    assert [*table.columns] == [*SELECTION.columns]
    setting, candidates = Setting("m", "t", 1), Candidates.from_scores(correct)
    estimate = debiased_score(candidates, seed=setting.seed(3, "halves"))
    null = selection_null(candidates, draws=1000, seed=setting.seed(3, "selection"))
    row = table.iloc[0]
    assert (row["debiased_accuracy"], row["debiased_low"]) == (estimate.value, estimate.low)
    assert (row["expected_by_luck"], row["selection_tail"]) == (null.expected, null.p)
    assert row["selection_tail"] < 0.01


def setting_with_gaps(seed: int, shots: int) -> pd.DataFrame:
    """Predictions of eight prompts that lack their own demonstrations, or other numbers of easy examples."""
    generator = np.random.default_rng(seed)
    table = predictions(generator.random((8, 20)) < 0.6, missing=shots)
    if shots == 0:
        table["chance"] = np.where(table["example"].astype(int) < 10, 0.5, 0.25)
        is_easy = table["chance"] == 0.5
        table = table[generator.random(len(table)) < np.where(is_easy, 0.9 - table["prompt"] / 10, 0.8)]
    return table.assign(shots=shots)


@pytest.mark.parametrize("shots", [0, 1, 3])
@pytest.mark.parametrize("seed", range(8))
def test_luck_is_that_of_the_best_prompt_of_the_verdict(seed: int, shots: int) -> None:
    table = setting_with_gaps(seed, shots)
    best_prompt = ranked(accuracy_by_prompt(table.assign(tie=False))).iloc[0]
    row = selected([table], {}, seed=1).iloc[0]
    # the scores of each example belong to any prompt that is evaluated on it
    chance = table.groupby("prompt")["chance"].agg(
        center="mean", unit=lambda p: np.sqrt((p * (1 - p)).sum()) / len(p)
    )
    if shots:  # the accuracies are compared
        chance = chance * 0 + [0, 1]
    generator, best, reached = np.random.default_rng(2), [], []
    center, unit = chance.loc[best_prompt["prompt"]]
    for _ in range(800):
        order = generator.random(len(table))
        places = np.lexsort((order, table["example"])), np.lexsort((table["prompt"], table["example"]))
        exchanged = table["correct"].to_numpy().copy()
        exchanged[places[1]] = table["correct"].to_numpy()[places[0]]
        scores = (table.assign(correct=exchanged).groupby("prompt")["correct"].mean() - chance["center"]) / (
            chance["unit"]
        )
        best.append(center + scores.max() * unit)
        reached.append(best[-1] >= best_prompt["accuracy"] - 1e-9)
    error = 4 * np.std(best) * np.sqrt(1 / 800 + 1 / 1000)
    assert row["expected_by_luck"] == pytest.approx(np.mean(best), abs=error)
    assert row["selection_tail"] == pytest.approx(np.mean(reached), abs=0.1)
    assert row["debiased_low"] < best_prompt["accuracy"] < row["debiased_high"]
    # and so on a part of the examples
    candidates = candidates_of(ResponseMatrix.from_predictions(table), shots, None)
    part = table[table["example"].isin(table["example"].unique()[:12])].groupby("prompt")
    scores = (part["correct"].mean() - part["chance"].mean()) / part["chance"].agg(
        lambda p: np.sqrt((p * (1 - p)).sum()) / len(p)
    )
    expected = part["correct"].mean() if shots else scores
    on_part = candidates.on(np.arange(20) < 12)
    assert on_part.compared == pytest.approx(expected.to_numpy())
    assert on_part.names[on_part.chosen] == str(expected.idxmax())


def test_luck_is_an_accuracy_and_free_text_is_compared_by_the_number_of_correct_answers() -> None:
    correct = np.ones((2, 20), dtype=bool)
    correct[1, 0] = False
    table = predictions(correct).assign(chance=0.25, shots=0)
    table = table[(table["prompt"] == 1) | (table["example"].astype(int) < 18)]
    # the other prompt can stand out more than any accuracy on 18 examples would
    assert selected([table], {}, seed=0)["expected_by_luck"].tolist() == [1.0]
    # without lucky guesses, the verdict's best prompt has the most correct answers
    generator = np.random.default_rng(3)
    errors = []
    for _ in range(60):
        scores = np.full((4, 100), np.nan)
        for prompt, (count, skill) in enumerate([(100, 0.5), (60, 0.65), (60, 0.65), (60, 0.65)]):
            scores[prompt, :count] = generator.random(count) < skill
        candidates = Candidates.from_scores(scores, chance=np.zeros(100))
        assert candidates.chosen == int(np.nansum(scores, axis=1).argmax())
        truth = 0.5 if candidates.chosen == 0 else 0.65
        errors.append(debiased_score(candidates, splits=20).value - truth)
    assert abs(np.mean(errors)) < 0.02


def test_a_single_prompt_is_not_chosen() -> None:
    assert selected([predictions(np.ones((1, 9)))], {}, seed=0).empty
    assert heldout_estimates([predictions(np.ones((1, 9)))], {}, 0, 0.75, [2]).empty


def test_clusters_are_exchanged_as_wholes() -> None:
    correct = np.repeat(answers(np.random.default_rng(1), np.full(6, 0.5), 10), 4, axis=1)
    task = pd.DataFrame({"example": np.arange(40), "cluster": np.arange(40) // 4})
    clusters = clusters_of({"t": task, "u": task[["example"]]})
    assert [*clusters] == ["t"]
    alone, wholes = (
        selected([predictions(correct)], known_clusters, seed=0).iloc[0] for known_clusters in ({}, clusters)
    )
    assert wholes["expected_by_luck"] > alone["expected_by_luck"] + 0.05
    assert wholes["debiased_low"] < alone["debiased_low"]


@pytest.mark.thorough
def test_the_debiased_accuracy_is_right_on_average_and_the_observed_one_is_not() -> None:
    generator = np.random.default_rng(2)
    settings = [
        predictions(answers(generator, true_scores("different", 20, 0.5), 60, 0.2), f"t{number}", missing=2)
        for number in range(30)
    ]
    table = heldout_estimates(settings, {}, seed=0, validation=0.75, prompt_counts=[1, 5, 20, 50])
    assert [*table.columns] == [*DEBIASED.columns]
    assert set(table["requested_prompts"]) == {5, 20, 50}
    assert (table.loc[table["requested_prompts"] == 50, "prompts"] == 20).all()
    rows = calibration(table)
    assert rows["requested_prompts"].tolist() == [5, 20]  # no setting has 50
    assert (rows["validation_error"] > 0.03).all()
    assert (rows["debiased_error"].abs() < 0.02).all()
    assert (rows["coverage"] > 0.93).all()


def test_calibration_by_the_number_of_validation_examples() -> None:
    generator = np.random.default_rng(3)
    settings = [
        predictions(answers(generator, np.full(10, 0.5), size), f"t{size}-{number}")
        for size in (40, 120, 200)
        for number in range(2)
    ]
    rows = calibration(heldout_estimates(settings, {}, seed=0, validation=0.75, prompt_counts=[10]))
    assert rows["validation_examples"].tolist() == ["all", "up to 50", "51 to 100", "above 100"]
    assert rows["outcomes"].iloc[0] == rows["outcomes"].iloc[1:].sum()
    # luck decreases with the number of examples
    assert rows["validation_error"].iloc[1] > rows["validation_error"].iloc[3]
