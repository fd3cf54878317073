"""The best score of equally good candidates of which only scores are known."""

import numpy as np
import pytest

from abovechance.best import expected_best, judge_reported
from abovechance.core.errors import InputError


def test_the_public_report_of_34_candidates() -> None:
    # gepa-ai/gepa, issue 295: 68.3 % on 20 validation examples, 39.0 % on the test set
    luck = expected_best(0.39, examples=20, candidates=34, observed=0.683)
    assert luck.expected == pytest.approx(0.621, abs=0.0005)
    assert luck.expected - 0.39 == pytest.approx(0.23, abs=0.005)
    assert luck.p > 0.1


def test_independent_candidates_are_exact() -> None:
    counts = np.sort(np.random.default_rng(0).binomial(20, 0.39, (200_000, 34)), axis=1)
    luck = expected_best(0.39, 20, 34, observed=0.7)
    assert luck.expected == pytest.approx(counts[:, -1].mean() / 20, abs=0.001)
    assert luck.second == pytest.approx(counts[:, -2].mean() / 20, abs=0.001)
    assert luck.p == pytest.approx((counts[:, -1] >= 14).mean(), abs=0.004)
    assert (luck.low, luck.high) == pytest.approx(np.quantile(counts[:, -1], [0.025, 0.975]) / 20)


@pytest.mark.parametrize(("correlation", "best"), [(0.0, 0.689), (0.3, 0.683), (0.6, 0.673), (0.9, 0.658)])
def test_correlated_candidates_are_expected_lower(correlation: float, best: float) -> None:
    assert expected_best(0.62, 200, 30, correlation).expected == pytest.approx(best, abs=0.0015)


@pytest.mark.parametrize("correlation", [0.0, 0.5])
@pytest.mark.parametrize("score", [0.0, 1.0])
def test_without_luck_the_best_is_as_the_others(score: float, correlation: float) -> None:
    luck = expected_best(score, 10, 7, correlation, observed=score)
    assert (luck.expected, luck.second, luck.p) == (score, score, 1.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1.2, 10, 3), "score is 1.2"),
        ((0.5, 0, 3), "on 0 examples"),
        ((0.5, 10, 3, 1.0), "correlation is 1"),
        ((0.5, 10, 20_000, 0.5), "at most 10,000"),
    ],
)
def test_impossible_values_are_refused(arguments: tuple[float, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        expected_best(*arguments)  # type: ignore[arg-type]


def test_candidates_on_part_of_the_examples_are_not_chosen() -> None:
    best = judge_reported([0.9, 0.5, 0.6], [10, 100, 100])
    assert best.chosen == "2"
    assert best.candidates["candidate"].tolist() == ["2", "1", "0"]
    assert "correlation of 0" in best.assumption


def test_the_debiased_score_of_equally_good_candidates_is_near_their_mean() -> None:
    generator = np.random.default_rng(5)
    errors, covered = [], 0
    for _ in range(200):
        best = judge_reported(generator.binomial(40, 0.5, 12) / 40, 40)
        errors.append(best.debiased - 0.5)
        covered += best.low <= 0.5 <= best.high
    assert abs(np.mean(errors)) < 0.02
    assert covered >= 185


def test_a_stated_correlation_comes_with_the_bound_at_0() -> None:
    result = judge_reported([0.683, *[0.38] * 33], 20, correlation=0.5)
    independent = judge_reported([0.683, *[0.38] * 33], 20)
    assert f"At a correlation of 0, the best would be expected at {independent.expected_by_luck:.1%}" in (
        result.assumption
    )
    assert result.expected_by_luck < independent.expected_by_luck
