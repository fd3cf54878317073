"""Whether the two-parameter model fits, and what is said where it does not."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.special import expit

from abovechance.core.errors import InputError
from abovechance.items import associations
from abovechance.items.features import features
from abovechance.items.model_fit import held_out, item_fit
from abovechance.items.response_theory import fit
from tests.items.test_response_theory import simulated


@pytest.mark.thorough
def test_held_out_responses_are_foreseen_best_by_what_made_them():
    a, b, theta, matrix = simulated(400, 60, seed=1)
    result = held_out(matrix)
    losses = result.set_index(["model", "dimensions"])["log_loss"]
    rows = losses["item response theory", 1]
    assert (
        rows
        < losses["rows and items", 0]
        < min(losses["rows", 0], losses["items", 0])
        < losses["constant", 0]
    )
    # as near as with the true parameters
    p = expit(theta @ a.T - b)
    best = -(p * np.log(p) + (1 - p) * np.log1p(-p)).mean()
    assert best < rows < best + 0.03
    with pytest.raises(InputError, match="too few to hold some of them out"):
        held_out([[1.0, 0.0]])


def test_where_rows_do_not_differ_the_items_alone_are_as_good():
    generator = np.random.default_rng(2)
    matrix = (generator.random((500, 40)) < generator.random(40)).astype(float)
    losses = held_out(matrix).set_index(["model", "dimensions"])["log_loss"]
    assert losses["items", 0] < losses["item response theory", 1] + 0.003
    assert losses["items", 0] < losses["rows", 0]


def test_two_abilities_are_found_where_there_are_two():
    matrix = simulated(500, 60, seed=3, dimensions=2)[3]
    losses = held_out(matrix).set_index(["model", "dimensions"])["log_loss"]
    assert losses["item response theory", 2] < losses["item response theory", 1] - 0.01


def test_items_that_do_not_fit_are_found():
    *_, theta, matrix = simulated(1500, 40, seed=4)
    generator = np.random.default_rng(5)
    # right in the middle, wrong at both ends: no curve of the model is like that
    matrix[:, 0] = generator.random(1500) < 0.9 * np.exp(-(theta[:, 0] ** 2) * 1.5)
    table = item_fit(fit(matrix), matrix)
    beyond = table["rmsd"] > table["rmsd_95"]
    assert table["rmsd"].idxmax() == 0
    assert table["rmsd"][0] > 3 * table["rmsd_95"][0]
    assert beyond[1:].mean() < 0.2


def listed(values: np.ndarray, **columns: object) -> pd.DataFrame:
    return pd.DataFrame({"corrected": values, "constant": False, **columns})


def test_what_goes_with_discrimination():
    generator = np.random.default_rng(6)
    length = generator.integers(10, 500, 80)
    answer = np.where(np.arange(80) % 2, "yes", "no")
    values = length / 1000 + generator.normal(0, 0.1, 80) + 0.5 * (answer == "yes")
    result = associations(listed(values, answer=answer, length=length, choices=2)).set_index("feature")
    assert [*result.index] == ["answer", "length"]  # the number of choices does not vary
    assert result.loc["length", "r"] == pytest.approx(stats.spearmanr(length, values).statistic)
    assert result.loc["answer", "p"] == pytest.approx(1 / 1000)
    table = stats.f_oneway(*(values[answer == name] for name in ("yes", "no")))
    # epsilon squared by the F statistic
    assert result.loc["answer", "share"] == pytest.approx((table.statistic - 1) / (table.statistic + 78))
    assert result.loc["answer", "kinds"] == 2


def test_what_has_nothing_to_do_with_it_has_no_share_on_average():
    generator = np.random.default_rng(7)
    shares, probabilities = [], []
    for run in range(60):
        groups = generator.integers(0, 8, 80).astype(str)
        (row,) = associations(listed(generator.normal(size=80), answer=groups), seed=run).to_dict("records")
        shares.append(row["share"])
        probabilities.append(row["p"])
    assert abs(np.mean(shares)) < 0.03
    assert 0.35 < np.mean(probabilities) < 0.65


def test_answers_that_few_examples_have_are_one_group():
    answers = [*["Unknown"] * 10, *(f"answer {place}" for place in range(10))]
    table = associations(listed(np.repeat([1.0, 0.0], 10) + np.arange(20) / 100, answer=answers))
    assert table["kinds"].tolist() == [2]
    assert table["share"][0] > 0.95
    constant = listed(np.zeros(20), answer=answers)
    assert associations(constant)["share"].isna().all()
    assert associations(constant.assign(constant=True)).empty


def test_features_of_examples_that_have_a_number_in_common_are_what_they_share():
    task = pd.DataFrame(
        {
            "example": ["a/0", "a/1", "b/0"],
            "labels": [["yes", "no"]] * 3,
            "choices": [["yes", "no"]] * 3,
            "correct": [[True, False], [False, True], [False, True]],
            "bare": ["x" * 4, "x" * 6, "x" * 8],
            "input": ["one", "two", "three"],
        }
    )
    table = features({"t": task})
    assert table["answer"].tolist() == ["yes", "no", "no"]
    assert table["subtask"].tolist() == ["a", "a", "b"]
    merged = features({"t": task}, numbers_alone=True).set_index("example")
    assert [*merged.index] == ["0", "1"]
    assert merged.loc["0", ["length", "choices"]].tolist() == [6, 4]
    assert merged.loc["0", ["answer", "subtask", "input"]].isna().all()
    assert merged.loc["1", "answer"] == "no"
