"""The tables of a study: selections, luck, and estimates held against held-out examples."""

from math import nan, sqrt

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from abovechance.best.candidates import Candidates
from abovechance.best.debiased import (
    debiased_score,
)
from abovechance.best.heldout import DEBIASED, HALVES, HELDOUT_DEBIASED, calibration, heldout_estimates
from abovechance.best.selection import selection_null
from abovechance.best.study import DRAWS, LUCK, SELECTION, candidates_of, luck, selected
from abovechance.core.settings import setting_of
from abovechance.results.response_matrix import ResponseMatrix
from abovechance.shown.candidates import calibration_numbers


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
    candidates = candidates_of(matrix, 1, {"e0": 7, "e1": 7, "e2": 8})
    assert candidates.names == tuple(map(str, matrix.prompts))
    assert np.isnan(candidates.scores).sum() == (~matrix.evaluated).sum() > 0
    groups = dict(zip(map(str, matrix.examples), candidates.clusters, strict=True))
    assert groups["e0"] == groups["e1"] != groups["e2"]
    single = [groups[name] for name in groups if name not in ("e0", "e1")]
    assert len({*single}) == len(single)
    assert len({*candidates_of(matrix, 1, {}).clusters}) == len(matrix.examples)


def test_the_table_of_selections():
    settings = [predictions(1), predictions(2, prompts=1, task="u"), predictions(3, prompts=2, task="v")]
    clusters = {"t": {f"e{number}": number // 2 for number in range(40)}}
    table = selected(settings, clusters, 5)
    assert [*table.columns] == [*SELECTION.columns]
    assert table["task"].tolist() == ["t", "v"]
    for row, rows in zip(table.to_dict("records"), (settings[0], settings[2]), strict=True):
        setting = setting_of(rows)
        candidates = candidates_of(
            ResponseMatrix.from_predictions(rows), setting.shots, clusters.get(setting.task, {})
        )
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
    candidates = candidates_of(ResponseMatrix.from_predictions(rows), setting.shots, clusters["t"])
    generator = np.random.default_rng(setting.seed(6, "debiased"))
    groups, expected = np.unique(candidates.clusters), []
    for split in range(20):
        chosen = generator.permutation(groups)[: int(0.75 * len(groups))]
        order = generator.permutation(6)
        inside = np.isin(candidates.clusters, chosen)
        for requested in (2, 6, 9):
            scores = candidates.scores[np.sort(order[:requested])]
            half = Candidates.from_scores(
                scores[:, inside],
                clusters=candidates.clusters[inside],
                comparable=candidates.comparable,
                chance=candidates.chance[inside],
            )
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
    # the figure has two marks for each setting, of the same outcomes
    numbers = calibration_numbers(table).set_index("task")
    assert numbers["validation_accuracy"].to_dict() == pytest.approx({"t": 0.75, "u": 0.9})
    assert numbers["debiased_accuracy"].to_dict() == pytest.approx({"t": 0.6, "u": 0.7})
    assert numbers["test_accuracy"].to_dict() == pytest.approx({"t": 0.57, "u": 0.6})
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
