"""Anchors, costs of smaller benchmarks, splits and features, by their definitions on small data."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import logsumexp

from abovechance.core.errors import InputError
from abovechance.items import item_statistics
from abovechance.items.anchors import _filled, by_correlation
from abovechance.items.estimates import model_error
from abovechance.items.features import associations
from abovechance.items.response_theory import fit, most_likely, quadrature
from abovechance.items.smaller import _model, costs
from abovechance.items.splits import at_random, by_group
from tests.items.test_classical import responses


def test_anchors_by_correlation_do_not_depend_on_the_units_of_items():
    generator = np.random.default_rng(0)
    scores = generator.normal(size=(30, 12)) + generator.normal(size=(30, 3))[:, np.arange(12) % 3]
    chosen = by_correlation(scores, 3, seed=1)
    scaled = by_correlation(scores * generator.uniform(0.1, 9, 12) + generator.normal(0, 9, 12), 3, seed=1)
    assert chosen.places.tolist() == scaled.places.tolist()
    assert {place % 3 for place in chosen.places} == {0, 1, 2}
    scores[:, :2] = 5.0  # constant items are together
    assert sum(place < 2 for place in by_correlation(scores, 4, seed=1).places) == 1


def test_a_missing_response_is_the_mean_of_its_item():
    numeric = np.array([[1.0, 0.0], [np.nan, 0.0], [0.5, 1.0]])
    assert _filled(numeric).tolist() == [[1.0, 0.0], [0.75, 0.0], [0.5, 1.0]]


def test_the_variance_of_a_model_is_that_within_rows():
    train = responses(30, 10, seed=2)
    train[0, 3] = np.nan
    model = _model(train)
    within = [row[np.isfinite(row)].var() for row in train]
    assert model.variance == pytest.approx(np.mean(within))
    assert model.error == model_error(train)
    assert _model(train / 2) is None


def test_the_error_of_a_model_is_of_rows_with_both_halves_of_items():
    matrix = responses(25, 10, seed=3)
    gaps = matrix.copy()
    gaps[5, ::2] = np.nan  # a held-out row without an item to find its ability by
    gaps[10, 1::2] = np.nan
    items = fit(gaps[np.arange(25) % 5 > 0])
    even, odd = np.arange(0, 10, 2), np.arange(1, 10, 2)
    errors = []
    for row in gaps[[0, 15, 20]]:
        ability = most_likely(items.only(even), row[None, even])
        errors.append(abs(items.only(odd).probability(ability).mean() - row[odd].mean()))
    assert model_error(gaps) == pytest.approx(np.mean(errors))


def test_costs_are_of_sizes_below_all_and_rows_may_lack_items():
    train, test = responses(30, 12, seed=4), responses(12, 12, seed=5)
    test[:, 0] = np.nan
    table = costs(train, test, (0, -1, 5, 12, 13), repeats=4)
    assert sorted(table["examples"].unique()) == [5, 12]
    assert table.loc[table["examples"] == 12, "method"].tolist() == ["all examples"]


def test_the_standard_error_of_an_estimate_is_over_repeated_choices():
    train, test = responses(30, 12, seed=4), responses(12, 12, seed=5)
    row = costs(train, test, (4,), repeats=3, seed=7).query("method == 'random'").iloc[0]
    chosen = [np.random.default_rng(7 + repeat).permutation(12)[:4] for repeat in range(3)]
    estimates = np.array([test[:, places].mean(axis=1) for places in chosen])
    assert row["standard_error"] == pytest.approx(estimates.std(axis=0, ddof=1).mean())
    assert row["error"] == pytest.approx(np.abs(estimates - test.mean(axis=1)).mean())
    once = costs(train, test, (4,), repeats=1, seed=7).query("method == 'random'").iloc[0]
    assert np.isnan(once["standard_error"])


@pytest.mark.parametrize(
    ("rows", "share", "held_out"), [(2, 0.5, 1), (3, 0.9, 2), (3, 0.1, 1), (10, 0.2, 2), (2, 0.01, 1)]
)
def test_at_least_one_row_is_in_each_part(rows, share, held_out):
    train, test = at_random(rows, share)
    assert (len(train), len(test)) == (rows - held_out, held_out)


@pytest.mark.parametrize(("rows", "share"), [(1, 0.5), (5, 0), (5, 1)])
def test_parts_that_cannot_be_are_errors(rows, share):
    with pytest.raises(InputError):
        at_random(rows, share)


def test_one_group_cannot_be_held_out():
    with pytest.raises(InputError, match="1 group; expected two or more"):
        next(by_group(["a", "a"]))
    with pytest.raises(InputError, match="most_splits is 1; expected at least 2"):
        next(by_group(["a", "b"], 1))


def test_a_feature_of_two_values_is_associated_and_one_of_one_value_is_not():
    corrected = np.repeat([0.1, 0.3], 10)
    listed = pd.DataFrame({"corrected": corrected, "constant": False, "answer": "a", "length": corrected})
    table = associations(listed).set_index("feature")
    assert [*table.index] == ["length"]
    assert table.loc["length", "r"] == pytest.approx(1)
    assert associations(listed.assign(corrected=0.1, answer=[*"ab"] * 10))["feature"].tolist() == ["answer"]


def test_two_rows_have_correlations():
    table = item_statistics([[1.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
    assert table["corrected"].round(12).tolist()[:2] == [1.0, 1.0]
    gaps = item_statistics([[1.0, 1.0, 0.0], [0.0, 0.0, 0.0], [np.nan, 1.0, 1.0]])
    assert gaps["corrected"][0] == pytest.approx(1)  # of the two rows that have it


def test_weights_of_abilities_are_a_distribution():
    for dimensions in (1, 2):
        _, weights = quadrature(dimensions)
        assert logsumexp(weights) == pytest.approx(0, abs=1e-12)


def test_errors_of_two_dimensions_are_in_the_order_of_their_parameters():
    model = fit(responses(60, 8, seed=6), 2)
    assert model.discrimination_error.shape == (8, 2)
    assert not np.isclose(model.difficulty_error, model.discrimination_error[:, 1]).any()
