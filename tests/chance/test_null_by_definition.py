"""The null distribution of a metric: its defaults, messages and the error of its p-value, by definition."""

import re
from math import hypot, sqrt
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from abovechance.chance.permutation import _error_of_p, null_distribution
from abovechance.chance.tries import for_more_tries
from abovechance.core.errors import InputError

GENERATOR = np.random.default_rng(0)
GOLD = GENERATOR.integers(3, size=60)
PREDICTIONS = np.where(GENERATOR.random((2, 60)) < 0.3, GOLD, GENERATOR.integers(3, size=(2, 60)))


@pytest.mark.parametrize("name", ["gold", "strata", "clusters", "choices"])
def test_series_in_two_orders_are_refused_whichever_they_are(name):
    labels = [*"abcdefgh"]
    series = {
        "predictions": pd.Series([*"xyxyxyxy"], labels),
        "gold": pd.Series([*"xyxyxyyx"], labels),
        "strata": pd.Series([0] * 8, labels),
        "clusters": pd.Series(range(8), labels),
        "choices": pd.Series([["x", "y"]] * 8, labels),
    }
    arguments = {key: series[key] for key in ("predictions", "gold", name)}
    assert null_distribution("accuracy", **arguments).observed == 0.75
    with pytest.raises(InputError, match="at different positions"):
        null_distribution("accuracy", **arguments | {name: series[name].iloc[::-1]})


def test_the_default_seed_is_0():
    by_seed = [
        null_distribution("mcc", PREDICTIONS, GOLD, draws=200, seed=seed).expected_best for seed in range(3)
    ]
    assert null_distribution("mcc", PREDICTIONS, GOLD, draws=200).expected_best == by_seed[0]
    assert len({*by_seed}) == 3


def test_a_notebook_shows_the_result():
    result = null_distribution("mcc", PREDICTIONS, GOLD, tries=7, draws=200)
    cells = re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", result._repr_html_())
    assert [cells[place] for place in range(0, len(cells), 2)] == [
        *("metric", "observed", "expected", "expected best", "p-value", "tries")
    ]
    assert (cells[1], cells[-1]) == ("mcc", "7")


@pytest.mark.parametrize("tries", [0, 3])
@pytest.mark.parametrize(
    ("p", "draws"), [((0.2, 0.1), (500, 2000)), ((0.2, 0.1), (500, 0)), ((1.0, 0.5), (500, 90))]
)
def test_the_error_of_p_is_that_of_a_function_of_shares(p, draws, tries):
    null, alone = (SimpleNamespace(p=share, draws=number) for share, number in zip(p, draws, strict=True))
    step = 1e-6
    slopes = [
        (for_more_tries(p[0] + first, p[1] + second, tries) - for_more_tries(*p, tries)) / -step
        for first, second in ((-step, 0), (0, -step))
    ]
    errors = [
        sqrt(share * (1 - share) / number) if number else 0 for share, number in zip(p, draws, strict=True)
    ]
    expected = hypot(slopes[0] * errors[0], slopes[1] * errors[1])
    assert _error_of_p(null, alone, tries) == pytest.approx(expected, rel=1e-4)
    # of a single candidate, both are the same random number
    of_one = (slopes_of_one(p[0], tries, step)) * errors[0]
    assert _error_of_p(null, null, tries) == pytest.approx(of_one, rel=1e-4)


def slopes_of_one(p: float, tries: int, step: float) -> float:
    """How much the p-value of all tries changes with that of the only candidate."""
    return (for_more_tries(p, p, tries) - for_more_tries(p - step, p - step, tries)) / step


def test_what_is_missing_or_not_defined_is_named():
    strata = [0, 0, 1, None, 1, None]
    with pytest.raises(
        InputError, match="^the stratum of example 3 is missing; expected one for each example$"
    ):
        null_distribution("accuracy", [*"xyxyxy"], [*"xyxyyx"], strata)
    constant = [[0.1, 0.5, 0.2], [1.0, 1.0, 1.0]]
    with pytest.raises(
        InputError, match="candidate 1: its value is nan; are all its predictions the same, or all g"
    ):
        null_distribution("pearson", constant, [1.0, 2.0, 4.0])
    with pytest.raises(InputError, match="candidate 0: its value is inf; are its numbers too large?"):
        null_distribution(lambda *_: np.inf, [*"xyx"], [*"xyy"])
    with pytest.raises(InputError, match="or are alone in it; name larger strata, or use more examples$"):
        null_distribution("accuracy", [*"xy"], [*"xy"], [0, 1])


def test_of_rankings_alone_the_gold_items_are_drawn_in_any_order_of_items():
    rankings, gold = [("b", "a", "c")], [{"a"}]
    result = null_distribution("mrr", rankings, gold)
    assert (result.method, result.expected) == ("exact", pytest.approx((1 + 1 / 2 + 1 / 3) / 3))
