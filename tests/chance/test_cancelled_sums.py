"""Metrics whose parts cancel, so that rounding errors are as large as what remains of them."""

import numpy as np
import pytest
from scipy import stats

from abovechance.chance.permutation import null_distribution


@pytest.mark.parametrize("name", ["kappa", "mcc"])
@pytest.mark.parametrize("size", [6, 8, 12, 24])
def test_the_tail_of_zero_is_hypergeometric(name, size):
    """With two labels, a metric of 0 is as many matches as expected, and the tail counts these."""
    for predicted in range(1, size):
        for labelled in range(1, size):
            matches, remainder = divmod(predicted * labelled, size)
            if remainder:
                continue
            predictions = np.arange(size) < predicted
            gold = (np.arange(size) < matches) | (np.arange(size) >= size - (labelled - matches))
            assert gold.sum() == labelled
            result = null_distribution(name, predictions.astype(int), gold.astype(int))
            assert result.observed == pytest.approx(0, abs=1e-12)
            tail = stats.hypergeom.sf(matches - 1, size, predicted, labelled)
            assert result.p == pytest.approx(tail, rel=1e-9)
            assert result.expected == 0


@pytest.mark.parametrize("positive", [1, 2, 7, 13, 29])
def test_a_constant_prediction_is_never_better_than_chance(positive):
    gold = ["y"] * positive + ["n"] * (30 - positive)
    result = null_distribution("kappa", ["y"] * 30, gold)
    assert (result.p, result.expected, result.method) == (1, 0, "exact")
    assert result.distribution.values.tolist() == [0]
    assert result.sentences(["p"])[:2] == ["kappa: 0.000.", "By chance, it would score 0.000 on average."]


def test_several_constant_predictions_are_never_better_than_chance():
    gold = ["y"] * 10 + ["n"] * 10 + ["m"] * 10
    result = null_distribution("kappa", [["y"] * 30, ["n"] * 30], gold)
    assert (result.p, result.p_single, result.expected, result.method) == (1, 1, 0, "permutation")
    assert result.distribution.values.tolist() == [0]


def test_strata_whose_answers_hardly_move():
    result = null_distribution("kappa", [2, 2, 2, 0], [2, 0, 1, 1], strata=[1, 1, 1, 0])
    assert result.p == 1
