"""Clusters of examples as numbers, sums over clusters, and draws with replacement."""

import numpy as np
import pandas as pd
import pytest

from abovechance.core import resampling
from abovechance.core.errors import InputError
from abovechance.core.resampling import (
    cluster_sums,
    clusters_of_names,
    numbered,
    of_share,
    times_drawn,
    times_in_batches,
)


@pytest.mark.parametrize("clusters", [{"a": 3, "b": 0, "c": 3}, pd.Series([3, 0, 3], ["a", "b", "c"])])
def test_examples_without_a_known_cluster_are_by_themselves(clusters):
    assert clusters_of_names("abc", clusters).tolist() == [0, 1, 0]
    assert clusters_of_names(["x", "a", "y", "c", "b"], clusters).tolist() == [0, 1, 2, 1, 3]
    # what is missing is not known, and other kinds of names are names
    names = {"a": "p", "b": None, "c": "p", "d": np.nan, "e": 0.1, "f": 0.9}
    assert clusters_of_names("abcdef", names).tolist() == [0, 1, 0, 2, 3, 4]


def test_clusters_as_numbers():
    groups, count = numbered(4, ["b", "a", "b", "c"])
    assert (groups.tolist(), count) == ([0, 1, 0, 2], 3)
    groups, count = numbered(3, None)
    assert (groups.tolist(), count) == ([0, 1, 2], 3)
    with pytest.raises(InputError) as error:
        numbered(3, [1, 2])
    assert str(error.value) == "clusters of the shape (2,) for 3 examples; expected one for each"
    for missing in ([1, None, 2], ["a", np.nan, "b"], np.array([1.0, np.nan, 2.0])):
        with pytest.raises(InputError) as error:
            numbered(3, missing)
        assert str(error.value) == "the cluster of example 1 is missing; expected one for each"
    assert numbered(3, [1, "1", 1])[0].tolist() == [0, 1, 0]


def test_sums_over_clusters():
    values = np.arange(24.0).reshape(2, 3, 4)
    sums, sizes = cluster_sums(values, [5, 1, 5, 5])
    assert sizes.tolist() == [3.0, 1.0]
    assert sums.tolist() == np.stack([values[..., [0, 2, 3]].sum(-1), values[..., 1]], axis=-1).tolist()
    singles, sizes = cluster_sums([1.0, 2.0, 3.0], [9, 7, 8])
    assert (singles.tolist(), sizes.tolist()) == ([1.0, 2.0, 3.0], [1.0, 1.0, 1.0])
    assert cluster_sums([1, 2], None)[0].tolist() == [1.0, 2.0]


def test_draws_with_replacement():
    counts = times_drawn(5, 2000, np.random.default_rng(0))
    assert counts.shape == (2000, 5)
    assert (counts.sum(axis=1) == 5).all()
    assert counts.mean(axis=0) == pytest.approx(np.ones(5), abs=0.1)


@pytest.mark.parametrize(
    ("examples", "share", "number"), [(90, 0.7, 63), (10, 0.75, 7), (3, 0.3, 0), (3, 1, 3)]
)
def test_shares_are_rounded_down(examples, share, number):
    assert of_share(examples, share) == number


def test_draws_do_not_depend_on_batches(monkeypatch):
    at_once = times_drawn(7, 50, np.random.default_rng(0))
    monkeypatch.setattr(resampling, "BATCH", 30)  # four draws at a time
    batches = [*times_in_batches(7, 50, np.random.default_rng(0))]
    assert [len(batch) for batch in batches] == [4] * 12 + [2]
    assert (np.concatenate(batches) == at_once).all()


def test_a_masked_cluster_is_missing():
    clusters = np.ma.array([0, 0, 1, 1], mask=[False, False, True, False])
    with pytest.raises(InputError, match="the cluster of example 2 is missing"):
        numbered(4, clusters)
    assert numbered(4, np.ma.array([7, 7, 1, 1]))[0].tolist() == [0, 0, 1, 1]
