"""Adjusted tail probabilities against published values and their definitions."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

from abovechance.chance.multiplicity import METHODS, adjusted, with_adjusted

# Benjamini and Hochberg (1995, Section 4.1): 15 hypotheses of a trial, the first four are rejected at 0.05,
# by Bonferroni's and by Holm's method the first three
TRIAL = [
    *(0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344),
    *(0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0),
]
tails = st.lists(st.floats(0, 1), min_size=1, max_size=30)


@pytest.mark.parametrize(("method", "rejected"), [("bh", 4), ("by", 3), ("holm", 3)])
def test_the_example_of_benjamini_and_hochberg(method, rejected):
    adjusted_tails = adjusted(TRIAL, method)
    assert (adjusted_tails <= 0.05).tolist() == [True] * rejected + [False] * (15 - rejected)


@given(tails)
def test_adjusted_tails_are_those_of_their_definitions(values):
    ordered, number = np.sort(values), len(values)
    ranks = np.arange(1, number + 1)
    harmonic = np.sum(1 / ranks)
    expected = {
        "bh": [min(1.0, *(ordered[i:] * number / ranks[i:])) for i in range(number)],
        "by": [min(1.0, *(ordered[i:] * number * harmonic / ranks[i:])) for i in range(number)],
        "holm": [min(1.0, max((number - j) * ordered[j] for j in range(i + 1))) for i in range(number)],
    }
    for method in METHODS:
        adjusted_tails = adjusted(values, method)
        assert np.sort(adjusted_tails) == pytest.approx(expected[method])
        assert np.all(adjusted_tails >= np.array(values) - 1e-12)
        # order is kept
        assert np.all(np.diff(adjusted_tails[np.argsort(values)]) >= -1e-12)


def test_what_is_no_setting_is_not_counted():
    assert adjusted([0.01, np.nan, 0.02], "holm") == pytest.approx([0.02, np.nan, 0.02], nan_ok=True)
    assert np.isnan(adjusted([np.nan], "bh")).all()


def test_a_table_has_them_beside_the_tails_that_they_are_of():
    table = pd.DataFrame(
        {
            "maximum_tail": [0.01, 0.04],
            "position": ["above"] * 2,
            "randomization_tail": [0.02, np.nan],
            "effective_prompts": [1.0, 2.0],
        }
    )
    result = with_adjusted(table)
    assert result.columns.tolist() == [
        *("maximum_tail", "bh_tail", "by_tail", "holm_tail", "position"),
        *("randomization_tail", "randomization_bh_tail", "effective_prompts"),
    ]
    assert result["bh_tail"].tolist() == pytest.approx([0.02, 0.04])
    assert result["randomization_bh_tail"][0] == pytest.approx(0.02)


def test_methods_and_tails_that_are_none_are_refused():
    with pytest.raises(ValueError, match="method is 'sidak'; expected one of bh, by, holm$"):
        adjusted([0.1], "sidak")
    for method in METHODS:
        with pytest.raises(ValueError, match=r"^tails has a number|between|range"):
            adjusted([1.5], method)
