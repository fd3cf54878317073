"""Flags, clusters and series that look valid but are not."""

import numpy as np
import pandas as pd
import pytest

from abovechance.core.errors import InputError
from abovechance.pvi.consistency import correlation
from abovechance.pvi.pointwise import by_group, v_information
from abovechance.pvi.tails import accuracy_of_tails, threshold

VALUES = [1.0, 2.0, 3.0, 4.0, 5.0]


@pytest.mark.parametrize("missing", [None, np.nan, 0.5, "True", 2])
def test_what_is_neither_true_nor_false_is_no_correct_prediction(missing):
    for function in (threshold, lambda values, correct: accuracy_of_tails(values, correct, 0.5)):
        with pytest.raises(InputError) as error:
            function(VALUES, [0, missing, 1, 1, 1])
        number = 0 if missing == "True" else 1  # numpy turns numbers beside a text into texts
        quoted = 0 if missing == "True" else missing
        problem = f"`correct` of prediction {number} is '{quoted}'; expected True or False"
        assert str(error.value) == problem


@pytest.mark.parametrize(
    "correct",
    [
        [False, False, True, True, True],
        [0, 0, 1, 1, 1],
        np.array([0.0, 0.0, 1.0, 1.0, 1.0]),
        np.array([False, False, True, True, True], dtype=object),
        pd.Series([0, 0, 1, 1, 1], dtype="Int64"),
    ],
)
def test_true_and_false_may_be_numbers(correct):
    assert threshold(VALUES, correct).value == 2.5
    assert accuracy_of_tails(VALUES, correct, 0.5) == (0, 1)


def test_clusters_of_groups_are_those_of_the_whole():
    values, groups = [1.0, 2.0, 4.0, 3.0], list("aaab")
    for clusters in ([1, "1", 2, 3], ["x", "x", "y", "z"]):
        of_group = by_group(values, groups, clusters)["a"]
        assert of_group == v_information(values[:3], clusters[:3])
    with pytest.raises(InputError, match="the cluster of example 1 is missing; expected one for each"):
        by_group(values, groups, ["c", np.nan, "d", "e"])
    with pytest.raises(
        InputError, match=r"clusters of the shape \(3,\) for 4 examples; expected one for each"
    ):
        by_group(values, groups, [1, 2, 3])


def test_a_series_that_differs_by_rounding_has_no_correlation():
    assert np.isnan(correlation([0.3, 0.3, 0.1 + 0.2, 0.3], [1, 2, 3, 4]).r)
    assert np.isnan(correlation([1, 2, 3, 4], [0.3, 0.3, 0.1 + 0.2, 0.3]).r)
    assert correlation([0.3, 0.3, 0.3 + 1e-9, 0.3], [1, 2, 3, 4]).r == pytest.approx(0.2581989, rel=1e-4)
