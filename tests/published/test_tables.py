"""The published study by its own conventions."""

import numpy as np
import pandas as pd
import pytest
from max_random_baseline import max_random_baseline
from sklearn import metrics

from abovechance.chance.agreement import decision_scores
from abovechance.chance.heldout import all_outcomes
from abovechance.core.settings import Setting
from abovechance.published.conventions import Convention, published_verdicts
from abovechance.published.release import Release
from abovechance.published.tables import (
    changes,
    changes_count,
    conventions,
    displayed,
    grid,
    heldout_agreement,
    heldout_difference,
)
from abovechance.results.accuracy import accuracy_by_prompt
from tests.releases import SHARED

needs_release = pytest.mark.skipif(
    not SHARED.is_file(), reason="the released predictions are not on this machine"
)


def accuracy(task: str, shots: int, *values: float, model: str = "m") -> pd.DataFrame:
    return pd.DataFrame({"model": model, "task": task, "shots": shots, "accuracy": values})


@pytest.mark.parametrize(
    ("task", "shots", "examples", "prompts", "chance"),
    [
        ("emoji_movie", 1, 99, 100, 0.2),
        ("emoji_movie", 4, 96, 200, 0.2),
        ("bbq_lite_json", 1, 200, 200, 1 / 3),
        ("winowhy", 2, 200, 200, 0.2),
        ("hindu_knowledge", 1, 174, 175, 0.25),
    ],
)
def test_the_papers_numbers_for_a_setting(task, shots, examples, prompts, chance):
    result = Convention.for_setting(task, shots)
    assert (result.examples, result.prompts, result.chance) == (examples, prompts, chance)
    assert result.maximum == pytest.approx(max_random_baseline(examples, chance, prompts), rel=1e-8)


def test_a_task_of_another_suite_has_no_convention():
    assert Convention.for_setting("sports_understanding", 1) is None
    assert published_verdicts(accuracy("sports_understanding", 1, 0.6)).empty


def test_equality_with_the_standard_baseline_counts_as_above_it_as_published():
    table = pd.concat(
        [accuracy("emoji_movie", 4, value, 0.1, model=f"{value}") for value in (0.19, 0.2, 0.4)]
    )
    assert published_verdicts(table)["position"].tolist() == ["below", "between", "above"]


def test_the_papers_table_is_made_from_the_aggregated_accuracies_where_they_are_such():
    table = accuracy("emoji_movie", 4, 0.25)
    setting = Setting("m", "emoji_movie", 4)
    assert published_verdicts(table, {setting: [0.1, 0.4]})["best_accuracy"].tolist() == [0.4]
    assert published_verdicts(table, {setting: [0.1, 1.4]})["best_accuracy"].tolist() == [0.25]
    second = Setting("m", "winowhy", 1)
    assert published_verdicts(table, {second: [0.6]})["task"].tolist() == ["emoji_movie", "winowhy"]


def test_the_grid_counts_disagreements_by_row_and_column():
    parts = [
        accuracy("emoji_movie", 4, 0.25),
        accuracy("known_unknowns", 1, 0.6),
        accuracy("winowhy", 1, 0.6),
    ]
    table = grid(published_verdicts(pd.concat(parts))).set_index("task")
    assert table.index.tolist() == ["known_unknowns", "emoji_movie", "winowhy", "between", "above standard"]
    assert table["between"].tolist() == ["1", "1", "0", "2", "3"]
    assert table.loc["between", ["m 1-shot", "m 4-shot"]].tolist() == ["1", "1"]


def test_changes_are_the_settings_whose_verdicts_differ():
    published = published_verdicts(
        pd.concat([accuracy("winowhy", 1, 0.56), accuracy("emoji_movie", 4, 0.25)])
    )
    mended = published.assign(
        standard_baseline=[0.2, 0.5], position=["between", "between"], prompts=[200, 191]
    )
    result = changes(published, mended)
    assert result["task"].tolist() == ["winowhy"]
    assert (result["position_published"][0], result["position_data"][0]) == ("above", "between")
    counts = changes_count(published, mended).set_index("published, down; by the data, across")
    assert counts.loc["above", "between"] == 1
    assert counts.loc["all", "all"] == 2
    numbers = conventions(published, mended).set_index("task")
    assert numbers.loc["winowhy", ["p_published", "p_data", "t_published", "t_data"]].tolist() == [
        0.2,
        "0.5",
        200,
        "191",
    ]


def test_the_metrics_of_decisions_are_scikit_learns():
    generator = np.random.default_rng(0)
    for share in (0.1, 0.5, 0.9):
        table = pd.DataFrame(
            {"above_on_test": generator.random(80) < 0.6, "above_maximum": generator.random(80) < share}
        )
        truth, guess = table["above_on_test"], table["above_maximum"]
        scores = decision_scores(table, "maximum")
        assert scores["accuracy"] == pytest.approx(metrics.accuracy_score(truth, guess))
        assert scores["precision"] == pytest.approx(metrics.precision_score(truth, guess))
        assert scores["recall"] == pytest.approx(metrics.recall_score(truth, guess))
        assert scores["auroc"] == pytest.approx(metrics.roc_auc_score(truth, guess))
        assert scores["aupr"] == pytest.approx(metrics.average_precision_score(truth, guess))


@pytest.mark.parametrize(
    ("truth", "guess"), [([1, 1], [1, 0]), ([0, 0], [1, 0]), ([0, 1], [0, 0]), ([1, 0], [0, 1])]
)
def test_metrics_without_cases_are_missing_and_the_others_right(truth, guess):
    table = pd.DataFrame({"above_on_test": truth, "above_maximum": guess}).astype(bool)
    scores = decision_scores(table, "maximum")
    assert np.isnan(scores["auroc"]) == (len(set(truth)) == 1)
    if any(truth):
        assert scores["aupr"] == pytest.approx(metrics.average_precision_score(truth, guess))
    assert np.isnan(scores["precision"]) == (not any(guess))


@pytest.fixture(scope="module")
def released() -> Release:
    return Release(SHARED)


@pytest.fixture(scope="module")
def predictions(released) -> list[pd.DataFrame]:
    return [
        released.predictions(setting).assign(
            **setting._asdict(), tie=False, chance=Convention.for_setting(setting.task, setting.shots).chance
        )
        for setting in released.settings
    ]


@pytest.mark.thorough
@needs_release
def test_table_1_of_the_base_models_is_the_published_one(predictions):
    verdicts = published_verdicts(pd.concat([accuracy_by_prompt(table) for table in predictions]))
    between = verdicts[verdicts["position"] == "between"].groupby("shots").size()
    assert between.to_dict() == {1: 12, 2: 8, 4: 5}
    cells = verdicts.set_index(["task", "model", "shots"])["position"]
    assert cells["emoji_movie", "OLMo-7B", 4] == "between"
    assert cells["winowhy", "falcon-7b", 4] == "above"
    assert cells["play_dialog_same_or_different", "Llama-2-7b", 2] == "below"


@pytest.mark.thorough
@needs_release
def test_the_released_accuracies_are_those_of_the_released_predictions(released, predictions):
    for setting, table in zip(released.settings, predictions, strict=True):
        values = released.accuracies()[setting]
        assert sorted(values) == pytest.approx(sorted(accuracy_by_prompt(table)["accuracy"]))


@pytest.mark.thorough
@needs_release
def test_own_seeded_splits_agree_with_the_released_ones(released, predictions):
    theirs = released.outcomes()
    assert sorted(theirs["requested_prompts"].unique()) == [1, 2, 5, 10, 100, 200]
    assert (theirs.groupby(["model", "task", "shots", "requested_prompts"]).size() == 100).all()
    rows = all_outcomes(
        predictions, seed=0, splits=100, validation=0.75, prompt_counts=[200], whole_split=True
    )
    rows["model"] = rows["model"].map(displayed)
    result = heldout_difference(theirs[theirs["requested_prompts"] == 200], rows)
    assert set(result["model"]) == {*theirs["model"], "total"}
    assert result["difference"].abs().max() < 0.02


@needs_release
def test_tables_3_and_4_from_the_released_outcomes(released):
    outcomes = released.outcomes()
    outcomes = outcomes[outcomes["requested_prompts"] == 200]
    total = heldout_agreement(outcomes, ["model"]).set_index("model").loc["total"]
    truth = outcomes["above_on_test"]
    assert total["outcomes"] == len(outcomes) == 3 * 16 * 3 * 100
    for predictor in ("standard", "maximum"):
        guess = outcomes[f"above_{predictor}"]
        assert total[f"auroc_{predictor}"] == pytest.approx(metrics.roc_auc_score(truth, guess))
        assert total[f"aupr_{predictor}"] == pytest.approx(metrics.average_precision_score(truth, guess))
    by_task = heldout_agreement(outcomes, ["task"]).set_index("task")
    assert len(by_task) == 17  # all tasks that the total counts, and the total
    assert np.isnan(by_task.loc["winowhy", "auroc_maximum"])
