"""Whether formulations of a task agree over models, by hand and on what is made up."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy import stats

from abovechance.shown.variance import formulation_numbers, formulations_of_tasks
from abovechance.variance.evaluations import EVALUATIONS
from abovechance.variance.formulations import agreement, change
from abovechance.variance.measures import monotonicity, seed_deviation

MEMBERS = {"arc": ["arc-cloze", "arc-letters"]}


@pytest.fixture
def scores() -> pd.DataFrame:
    """Of five models, in which both formulations grow, one of them late."""
    values = {"arc-cloze": [0.2, 0.5, 0.6, 0.9, 0.8], "arc-letters": [0.25, 0.2, 0.3, 0.9, 0.95]}
    rows = [
        {
            "model": f"m{place}",
            "task": task,
            "shots": 2,
            "metric": metric,
            "value": value / (1 + (metric != "accuracy")),
        }
        for metric in ("accuracy", "best_accuracy", "correct")
        for task, own_part in values.items()
        for place, value in enumerate(own_part)
    ]
    rows.append({"model": "m0", "task": "another", "shots": 2, "metric": "accuracy", "value": 0.1})
    return pd.DataFrame(rows).assign(error=0.01, examples=100, prompts=4, chance=0.25, lower_is_better=False)


def test_agreement_is_pearsons_r_over_models(scores):
    table = agreement(scores, MEMBERS).set_index("metric")
    first, second = ([0.2, 0.5, 0.6, 0.9, 0.8], [0.25, 0.2, 0.3, 0.9, 0.95])
    assert table.loc["accuracy", "r"] == pytest.approx(stats.pearsonr(first, second).statistic)
    assert table.loc["correct", "r"] == pytest.approx(table.loc["accuracy", "r"])
    assert table.loc["accuracy", ["models", "first_higher", "second_higher"]].tolist() == [5, 2, 2]
    assert table.loc["accuracy", "first_mean"] == pytest.approx(np.mean(first))
    assert set(table.index) == {"accuracy", "correct"}  # the best of prompts is none that is paired


def test_models_with_one_formulation_do_not_count(scores):
    less = scores[~((scores["model"] == "m4") & (scores["task"] == "arc-letters"))]
    assert set(agreement(less, MEMBERS)["models"]) == {4}
    none = scores[scores["task"] != "arc-letters"]
    assert agreement(none, MEMBERS).empty
    fewer_metrics = scores[(scores["task"] != "arc-letters") | (scores["metric"] == "correct")]
    assert agreement(fewer_metrics, MEMBERS)["metric"].tolist() == ["correct"]


def test_the_measures_of_each_formulation_stand_side_by_side():
    values = {
        "arc-cloze": [[0.2, 0.5, 0.9], [0.2, 0.6, 0.8]],
        "arc-letters": [[0.2, 0.1, 0.9], [0.3, 0.2, 0.5]],
    }
    table = pd.DataFrame(
        {"model": "m", "seed": seed, "checkpoint": step, "task": task, "value": value}
        for task, seeds in values.items()
        for seed, row in enumerate(seeds)
        for step, value in enumerate(row)
    ).assign(
        shots=2,
        metric="accuracy",
        error=0.01,
        bootstrap=0.02,
        examples=100,
        effective_examples=float("nan"),
        prompts=4,
        chance=0.25,
        lower_is_better=False,
    )
    result = change(table[[*EVALUATIONS.columns]], MEMBERS).set_index("formulation")
    for task, row in values.items():
        assert result.loc[task, "deviation"] == pytest.approx(seed_deviation(row))
        assert result.loc[task, "monotonicity"] == pytest.approx(monotonicity(row))
    assert set(result["task"]) == {"arc"}


def test_what_the_figure_shows_is_each_models_pair_of_scores(scores):
    series = {f"m{place}": {"name": "m", "seed": 0, "checkpoint": 10 * place} for place in range(4)}
    numbers = formulation_numbers(scores, MEMBERS, series)
    rows = numbers[numbers["metric"] == "accuracy"].set_index("model")
    assert rows.loc["m3", ["first_score", "second_score", "checkpoint"]].tolist() == [0.9, 0.9, 30]
    assert rows.loc["m4", "checkpoint"] == -1
    figure = formulations_of_tasks(numbers)
    assert figure.axes[0].get_title().startswith("arc, r = 0.83 of 5")
    plt.close(figure)
    assert formulation_numbers(scores, {"arc": ["arc-cloze"]}, series).empty
