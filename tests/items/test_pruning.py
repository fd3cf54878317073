"""Rows that are held out, and what is lost with items."""

import numpy as np
import pandas as pd
import pytest

from abovechance.core.errors import InputError
from abovechance.items import at_random, by_score, item_statistics, pruning
from abovechance.items.removal import pruning_in_parts
from tests.items.test_classical import responses


def test_the_papers_split_of_seventy_models():
    for train, test in (at_random(70, seed=1), by_score(responses(70))):
        assert (len(train), len(test)) == (56, 14)
        assert sorted([*train, *test]) == [*range(70)]
    matrix = responses(70)
    train, test = by_score(matrix)
    assert matrix[test].mean(axis=1).min() >= matrix[train].mean(axis=1).max() - 1e-12
    assert at_random(70, seed=1)[1].tolist() != at_random(70, seed=2)[1].tolist()


def test_pruning_takes_the_items_that_tell_least_in_other_rows():
    matrix = responses(200, 40, seed=2)
    matrix[:, :4] = np.random.default_rng(0).random((200, 4)) < 0.5  # which tell nothing
    train, test = matrix[:150], matrix[150:]
    table = pruning(train, test, most_removed=0.1, steps=2, draws=50)
    assert table["removed"].tolist() == [0, 2, 4]
    assert table["items"].tolist() == [40, 38, 36]
    first = table.iloc[0]
    assert first["mean"] == pytest.approx(test.mean())
    errors = test.std(axis=1, ddof=1) / np.sqrt(40)
    assert first["error"] == pytest.approx(errors.mean())
    assert first["deviation"] == pytest.approx(test.mean(axis=1).std(ddof=1))
    assert first[["random_mean", "random_mean_low", "random_mean_high"]].tolist() == [first["mean"]] * 3
    last = table.iloc[-1]
    assert last["mean"] == pytest.approx(test[:, 4:].mean())
    # the rest tells rows apart better, and random removal changes the mean hardly
    assert last["deviation"] > first["deviation"]
    assert last["random_mean_low"] < first["mean"] < last["random_mean_high"]


def test_rows_that_lack_items_count_by_those_they_have():
    matrix = responses(60, 20, gaps=0.2)
    table = pruning(matrix[:40], matrix[40:], draws=10)
    assert table["mean"].iloc[0] == pytest.approx(np.nanmean(matrix[40:], axis=1).mean())


def test_one_item_that_is_left_has_a_mean_and_no_error():
    matrix = responses(60, 20)
    last = pruning(matrix[:40], matrix[40:], most_removed=0.95, draws=20).iloc[-1]
    assert last["items"] == 1
    assert last["mean"] in matrix[40:].mean(axis=0)
    assert np.isnan(last["error"])


def test_random_removal_in_several_parts_is_that_of_their_mean():
    """As if the test rows were one part: the mean over equal parts is the mean over their rows."""
    matrix = responses(120, 40, seed=3)
    train, first, second = matrix[:40], matrix[40:80], matrix[80:]
    parts = pruning_in_parts([(train, first, None), (train, second, None)], draws=100)
    whole = pruning(train, matrix[40:], draws=100)
    for name in ("mean", "random_mean", "random_mean_low", "random_mean_high", "error", "random_error_low"):
        assert parts[name].to_numpy() == pytest.approx(whole[name].to_numpy())


def test_what_cannot_be_pruned_is_told():
    with pytest.raises(InputError, match=r"\[2, 3\] items in train and test; expected the same items"):
        pruning(np.eye(3), np.eye(2))
    for wrong in ({"steps": 0}, {"draws": 0}):
        with pytest.raises(InputError, match="1 or more of both"):
            pruning(np.eye(3), np.eye(3), **wrong)
    with pytest.raises(InputError, match="expected at least 0, and less than 1"):
        pruning(np.eye(3), np.eye(3), most_removed=1)
    with pytest.raises(InputError, match="expected at least 2"):
        at_random(1)


def test_pruned_scores_of_any_numbers_are_those_of_each_draw():
    generator = np.random.default_rng(9)
    train, test = generator.normal(size=(12, 8)), generator.normal(3, 1, (5, 8))
    test[0, :6], test[1, :7], test[2, 3] = np.nan, np.nan, np.nan
    last = pruning(train, test, most_removed=0.5, steps=1, draws=40, seed=2).iloc[-1]
    order = np.argsort(item_statistics(train)["corrected"], kind="stable")[4:]
    orders = np.random.default_rng(2)
    orders.permutation(8)  # of no removed items, once
    sets = [order, *(orders.permutation(8)[4:] for _ in range(40))]
    table = pd.DataFrame(
        [measures(test[:, places]) for places in sets], columns=["mean", "error", "deviation"]
    )
    assert last[[*table]].tolist() == pytest.approx(table.iloc[0].tolist())
    for name in table:
        expected = [table[name][1:].mean(), *np.quantile(table[name][1:], [0.025, 0.975])]
        assert last[[f"random_{name}{end}" for end in ("", "_low", "_high")]].tolist() == pytest.approx(
            expected
        )


def measures(scores: np.ndarray) -> tuple[float, float, float]:
    rows = [row[np.isfinite(row)] for row in scores]
    means = [row.mean() for row in rows if len(row)]
    errors = [row.std(ddof=1) / np.sqrt(len(row)) for row in rows if len(row) > 1]
    return np.mean(means), np.mean(errors), np.std(means, ddof=1)
