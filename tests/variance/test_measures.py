"""Measures of variance, by definition and against what is printed."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from abovechance.core.errors import InputError
from abovechance.variance import (
    analytic_error,
    bootstrap_interval,
    continuous,
    final,
    leaves_chance,
    monotonicity,
    rank_correlation,
    seed_deviation,
    seed_mean,
    signal_to_noise,
)

SCORES = np.array([[0.25, 0.30, 0.50], [0.27, 0.34, 0.54], [0.23, 0.38, 0.49]])


def test_seeds_by_hand():
    assert final(SCORES).tolist() == [0.50, 0.54, 0.49]
    assert seed_mean(SCORES) == pytest.approx(0.51)
    deviations = [np.std(column, ddof=1) for column in SCORES.T]
    assert seed_deviation(SCORES) == pytest.approx(np.mean(deviations))
    assert seed_deviation(SCORES, last=True) == pytest.approx(deviations[-1])
    assert seed_deviation(SCORES, ddof=0) == pytest.approx(np.mean(SCORES.std(axis=0)))
    assert signal_to_noise(SCORES) == pytest.approx(0.51 / deviations[-1])
    assert np.isnan(signal_to_noise(SCORES[0]))
    assert np.isinf(signal_to_noise([[0.1, 0.5], [0.2, 0.5]]))


def test_a_seed_that_lacks_a_checkpoint_does_not_count_there():
    lacking = SCORES.copy()
    lacking[0, 2] = lacking[0, 1] = lacking[1, 1] = np.nan
    assert seed_mean(lacking) == pytest.approx((0.54 + 0.49) / 2)
    expected = [np.std(SCORES[:, 0], ddof=1), np.std(SCORES[1:, 2], ddof=1)]
    assert seed_deviation(lacking) == pytest.approx(np.mean(expected))


def test_the_interval_of_mmlu():
    """.724 points at an accuracy of .2586 on 14,042 examples, as the paper has it."""
    assert round(100 * float(analytic_error(0.2586, 14_042)), 3) == 0.724
    with pytest.raises(InputError, match="accuracies are in"):
        analytic_error(25.86, 14_042)


def test_the_pivotal_bootstrap_mirrors_the_percentiles():
    values = np.random.default_rng(0).random(400) < 0.2
    low, high = bootstrap_interval(values)
    reach = 1.96 * np.sqrt(values.var() / 400)
    assert (low, high) == pytest.approx((values.mean() - reach, values.mean() + reach), abs=0.005)
    result = stats.bootstrap(
        (values,), np.mean, method="basic", rng=np.random.default_rng(0)
    ).confidence_interval
    assert (low, high) == pytest.approx((result.low, result.high), abs=0.004)
    often = bootstrap_interval(np.repeat(values, 5), np.repeat(np.arange(400), 5))
    assert often == pytest.approx((low, high))
    assert bootstrap_interval([1, 1, 1]) == (1, 1)
    assert np.isnan(bootstrap_interval([1, 0], [1, 1])).all()


def test_scores_that_differ_by_rounding_are_ties():
    generator = np.random.default_rng(0)
    counts = generator.integers(0, 4, (40, 57)) + 20  # right answers of each task at each checkpoint
    sizes = generator.integers(90, 200, 57)
    weights = sizes / sizes.sum()
    means = np.array([weights @ (row / sizes) for row in counts])
    totals = counts.sum(axis=1)
    assert np.unique(means).size > np.unique(totals).size  # rounding makes ties differ
    assert rank_correlation(means) == rank_correlation(totals)
    assert rank_correlation(means * 1e-9) == rank_correlation(totals)


def test_monotonicity_is_kendalls_tau_b_of_each_seed():
    expected = [stats.kendalltau(range(5), row).statistic for row in ([1, 2, 2, 3, 5], [3, 1, 2, 5, 4])]
    assert rank_correlation([[1, 2, 2, 3, 5], [3, 1, 2, 5, 4]]) == pytest.approx(np.mean(expected))
    assert monotonicity([3.0, 2.0, 1.0], loss=True) == 1
    assert monotonicity([3.0, 2.0, 1.0]) == -1
    # a series that stands still does not grow
    assert monotonicity([[1, 1, 1], [1, 2, 3]]) == 0.5
    assert monotonicity([[1, 1, 1], [1, 2, 1]]) == 0
    assert monotonicity([[np.nan, 1], [1, 2]]) == 1
    assert np.isnan(monotonicity([1, 1, 1]))
    assert np.isnan(monotonicity([1]))
    assert monotonicity([1, np.nan, 3]) == 1


@given(st.lists(st.integers(0, 5), min_size=2, max_size=8))
def test_turned_round_it_has_the_other_sign(series):
    forward, back = rank_correlation(series), rank_correlation(series[::-1])
    assert (np.isnan(forward) and np.isnan(back)) or forward == pytest.approx(-back)


def test_a_score_leaves_chance_where_the_best_of_as_many_guessers_seldom_does_as_well():
    scores = np.array([0.5, 0.61, 0.5, 0.58, 0.7, 0.8])
    assert leaves_chance(scores, 0.5, 100) == 4
    assert leaves_chance(scores, 0.5, 100, prompts_tried=1) == 4  # .58 is not, by itself
    assert leaves_chance([0.5, 0.6, 0.62], 0.5, 100, prompts_tried=1) == 1
    assert leaves_chance([0.5, 0.6, 0.62], 0.5, 100, prompts_tried=1000) is None
    assert leaves_chance([0.9, 0.5], 0.5, 100) is None
    assert leaves_chance([[0.9, 0.9], [0.1, 0.1]], 0.5, 100) == 0


def test_continuous_scores_by_hand():
    table = pd.DataFrame(
        {
            "example": ["a", "a", "b", "b", "b"],
            "choice": [0, 1, 0, 1, 2],
            "logprob": np.log([0.1, 0.3, 0.2, 0.1, 0.1]),
            "right": [True, False, True, False, True],
            "tokens": [2, 1, 1, 1, 4],
            "bytes": [4, 3, 5, 2, 10],
        }
    )
    scores = continuous(table.sample(frac=1, random_state=1)).set_index("example")
    assert scores["correct"].to_dict() == pytest.approx({"a": 0.25, "b": 0.75})
    assert scores["predicted"].to_dict() == pytest.approx({"a": 0.75, "b": 0.5})
    assert scores["nll"].to_dict() == pytest.approx({"a": -np.log(0.1), "b": -np.log(0.2)})
    assert scores["nll_token"].to_dict() == pytest.approx({"a": -np.log(0.1) / 2, "b": -np.log(0.1) / 4})
    assert scores["nll_byte"]["a"] == pytest.approx(-np.log(0.1) / 4)
    with pytest.raises(InputError, match="a correct choice of example 'b' has 0 tokens; expected more"):
        continuous(table.assign(tokens=[2, 1, 1, 1, 0]))
    assert continuous(table.assign(tokens=[2, 0, 1, 0, 4]))["nll_token"].notna().all()
    unknown = table.assign(tokens=pd.array([2, 1, 1, 1, None], dtype="Int64"))
    assert continuous(unknown)["nll_token"].isna().tolist() == [False, True]
    with pytest.raises(InputError, match="example 'a' has no correct choice"):
        continuous(table.assign(right=[False, False, True, False, True]))
    with pytest.raises(InputError, match="lacks the column 'right'"):
        continuous(table.drop(columns="right"))


def test_what_is_no_series_is_told():
    for wrong in (np.ones((2, 2, 2)), []):
        with pytest.raises(InputError, match="expected seeds and checkpoints"):
            seed_mean(wrong)


def test_infinite_scores_are_scores():
    assert seed_mean([[1.0, np.inf], [1.0, 2.0]]) == np.inf
    assert monotonicity([[np.inf, 3.0, 2.0]], loss=True) == 1


def test_a_deviation_of_rounding_is_none():
    assert signal_to_noise([[0.7], [0.7], [0.7]]) == np.inf
    assert signal_to_noise([[0.3], [0.3], [0.3]]) == np.inf


def test_checkpoints_without_a_score_are_not_told_from_guessing():
    assert leaves_chance([[0.5, np.nan, 0.6]], 0.25, 100) == 2
    with pytest.raises(InputError, match="an accuracy is 30; expected between 0 and 1"):
        leaves_chance([[0.5, 30.0]], 0.25, 100)


def test_each_choice_of_an_example_stands_once():
    table = pd.DataFrame(
        {"example": ["a", "a"], "choice": [0, 1], "logprob": [-1.0, -2.0], "right": [True, False]}
    )
    with pytest.raises(InputError, match="choice 0 of example 'a' stands twice"):
        continuous(pd.concat([table, table]))
    with pytest.raises(InputError, match="other values than true and false"):
        continuous(table.assign(right=["True", "False"]))
    with pytest.raises(InputError, match="^row 1 has no example; expected its name or number in each row$"):
        continuous(table.assign(example=["a", None]))
    with pytest.raises(InputError, match="^row 0 has no choice; expected its name or number in each row$"):
        continuous(table.assign(choice=[np.nan, 1]))


def test_seeds_that_differ_by_rounding_alone_have_no_noise():
    assert signal_to_noise([[0.1 + 0.2], [0.3]]) == signal_to_noise([[0.3], [0.3]]) == np.inf
    values = [[0.1 + 0.2, 0.5], [0.3, 0.7], [0.3, np.nan]]
    assert seed_deviation(values) == pytest.approx(np.std([0.5, 0.7], ddof=1) / 2, rel=1e-15)
    assert np.isnan(seed_deviation([[np.inf], [np.inf]]))


@pytest.mark.parametrize("checkpoints", range(2, 30))
def test_perfect_orders_are_1_whatever_rounding_makes_of_them(checkpoints):
    values = np.linspace(0.1, 0.9, checkpoints)[None]
    assert (rank_correlation(values), rank_correlation(-values)) == (1.0, -1.0)
    assert monotonicity(-values, loss=True) == 1.0


@pytest.mark.parametrize("share", [0, 1, 5, 95, np.nan])
def test_shares_are_between_0_and_1(share):
    with pytest.raises(InputError, match="expected a number above 0 and below 1"):
        leaves_chance([[0.9]], 0.5, 100, alpha=share)
    with pytest.raises(InputError, match="expected a number above 0 and below 1"):
        analytic_error(0.5, 100, confidence=share)


def test_a_seed_that_diverged_is_no_agreement_of_seeds():
    assert np.isnan(seed_deviation([[1.0, np.inf], [3.0, 5.0]], last=True))
    assert np.isnan(seed_deviation([[12.0, np.inf], [13.0, 9.0]]))
    assert np.isnan(signal_to_noise([[1.0, np.inf], [3.0, 5.0]]))
