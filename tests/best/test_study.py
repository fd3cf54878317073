"""Luck in the best accuracies of a study: its verdicts' columns, and what held-out examples show."""

import numpy as np
import pandas as pd
import pytest

from abovechance.best import Candidates, debiased_score, selection_null
from abovechance.best.heldout import DEBIASED, calibration, heldout_estimates
from abovechance.best.study import SELECTION, selected
from abovechance.core.settings import Setting
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
