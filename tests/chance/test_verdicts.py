"""Verdicts and the expected maximum."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from abovechance import RandomBaseline
from abovechance.chance.expected_maximum import expected_maximum, expected_maximum_curve
from abovechance.chance.verdicts import Verdict, judge, verdicts
from abovechance.results.accuracy import accuracy_by_prompt
from abovechance.shown.tables import verdict_counts


def predictions(correct: np.ndarray, chance: float = 0.5, task: str = "t") -> pd.DataFrame:
    prompts, examples = correct.shape
    return pd.DataFrame(
        {
            "model": "m",
            "task": task,
            "shots": 1,
            "prompt": np.repeat(range(prompts), examples),
            "example": np.tile([f"e{i}" for i in range(examples)], prompts),
            "correct": correct.ravel(),
            "tie": False,
            "chance": chance,
        }
    )


def with_correct(*counts: int, examples: int = 20) -> pd.DataFrame:
    return predictions(np.array([[i < count for i in range(examples)] for count in counts]))


def accuracy_of(table: pd.DataFrame) -> pd.DataFrame:
    return pd.concat([accuracy_by_prompt(part) for _, part in table.groupby("task", sort=False)])


def judged(table: pd.DataFrame) -> pd.Series:
    return verdicts(accuracy_of(table)).iloc[0]


def test_a_verdict_holds_the_best_prompt_both_baselines_and_both_tails():
    found = judged(with_correct(9, 13, 13, 10))
    baseline = RandomBaseline.of(0.5, 20)
    assert (found["best_prompt"], found["best_accuracy"]) == (1, 0.65)  # the first on ties
    assert (found["examples"], found["prompts"]) == (20, 4)
    assert found["standard_baseline"] == 0.5
    assert found["maximum_baseline"] == pytest.approx(baseline.maximum(4))
    assert found["standard_tail"] == pytest.approx(baseline.tail(13))
    assert found["maximum_tail"] == pytest.approx(baseline.tail(13, 4))
    assert found["verdict"] == "above"  # 0.613 would be expected


def test_the_best_of_many_is_judged_by_how_many_were_tried():
    accuracy = accuracy_by_prompt(with_correct(13))
    found = verdicts(accuracy, tried=50).iloc[0]
    assert found["prompts"] == 50
    assert found["maximum_baseline"] == pytest.approx(RandomBaseline.of(0.5, 20).maximum(50))
    assert found["verdict"] == "between"
    with pytest.raises(ValueError, match="2 prompts are there"):
        verdicts(accuracy_by_prompt(with_correct(13, 12)), tried=50)


def test_a_verdict_on_one_number_is_that_of_its_baseline():
    found = Verdict.of(0.65, RandomBaseline.of(0.5, 20), prompts=4)
    assert (found.verdict, found.examples, found.prompts) == ("above", 20, 4)
    assert found.maximum_tail == pytest.approx(RandomBaseline.of(0.5, 20).tail(13, 4))
    assert "<td style='text-align:left'>above</td>" in found._repr_html_()
    with pytest.raises(ValueError, match="accuracy is 65"):
        Verdict.of(65, RandomBaseline.of(0.5, 20), prompts=4)


@pytest.mark.parametrize(("best", "verdict"), [(9, "below"), (10, "below"), (12, "between"), (13, "above")])
def test_verdicts_are_below_between_above_and_equality_is_not_above(best, verdict):
    assert judged(with_correct(best, 3, 4, 5))["verdict"] == verdict


def test_a_baseline_equal_up_to_rounding_is_not_exceeded():
    assert judge(0.1 + 0.2, 0.3, 0.5) == "below"


def test_counts_say_how_many_results_the_standard_baseline_misleads_about():
    parts = [with_correct(n, 3, 4, 5).assign(task=f"t{n}") for n in (9, 12, 13, 15)]
    table = pd.concat(parts, ignore_index=True)
    total = verdict_counts(verdicts(accuracy_of(table)), ["model", "shots"]).iloc[-1]
    assert total[["settings", "below", "between", "above", "above_standard"]].tolist() == [4, 1, 1, 2, 3]
    assert total["share_between"] == pytest.approx(1 / 3)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=7))
def test_the_expected_maximum_is_the_mean_over_all_subsets(values):
    expected = [np.mean([max(s) for s in combinations(values, t)]) for t in range(1, len(values) + 1)]
    assert expected_maximum(np.array(values)) == pytest.approx(expected, abs=1e-12)


def test_the_expected_maximum_of_many_values_ends_at_the_greatest():
    values = np.random.default_rng(0).random(200)
    found = expected_maximum(values)
    assert found[0] == pytest.approx(values.mean())
    assert found[-1] == pytest.approx(values.max())
    assert np.all(np.diff(found) >= -1e-12)


def test_the_curve_ends_where_the_verdict_stands():
    table = with_correct(9, 13, 12, 10)
    accuracy = accuracy_by_prompt(table)
    last, found = expected_maximum_curve(accuracy).iloc[-1], judged(table)
    assert last["expected_accuracy"] == pytest.approx(found["best_accuracy"])
    for column in ("maximum_baseline", "standard_tail", "maximum_tail"):
        assert last[column] == pytest.approx(found[column])
