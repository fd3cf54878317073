"""Which examples are hardest, and whether a model does better behind them."""

import numpy as np
import pandas as pd
import pytest

from abovechance.pvi.hard_demonstrations import compared, hardest_of_labels


def pvi(values: dict[str, tuple[str, float]]) -> pd.DataFrame:
    rows = [
        {"prompt": prompt, "example": example, "label": label, "pvi": value + prompt}
        for prompt in range(2)
        for example, (label, value) in values.items()
    ]
    return pd.DataFrame(rows)


def test_the_hardest_fifth_of_each_label_by_the_mean_over_settings():
    of_first = {f"a{place}": ("a", float(place)) for place in range(10)}
    of_second = {f"b{place}": ("b", float(place)) for place in range(5)}
    first = pvi(of_first | of_second)
    assert hardest_of_labels([first], least=1) == {"a0", "a1", "b0"}
    assert hardest_of_labels([first], least=3) == {"a0", "a1", "a2", "b0", "b1", "b2"}
    assert hardest_of_labels([first], least=7) == {f"a{place}" for place in range(7)} | set(of_second)
    # each setting counts alike, though one has more prompts of an example
    second = pvi({"a9": ("a", -100.0)})
    assert hardest_of_labels([first, pd.concat([second] * 3)], least=1) == {"a9", "a0", "b0"}


def test_an_example_that_a_prompt_lacks_is_not_hard_for_that():
    table = pvi({f"a{place}": ("a", 10.0 + place) for place in range(10)})
    table["pvi"] += 50 * table["prompt"]  # a prompt that is high for all
    lacking = table[~((table["prompt"] == 1) & (table["example"] == "a9"))]
    assert hardest_of_labels([lacking], least=1) == {"a0", "a1"}


def predictions(correct: np.ndarray) -> pd.DataFrame:
    prompt, example = (axis.ravel() for axis in np.indices(correct.shape))
    return pd.DataFrame(
        {"prompt": prompt, "example": [f"e{number}" for number in example], "correct": correct.ravel()}
    )


def clusters(count: int, size: int = 1) -> pd.Series:
    return pd.Series(np.arange(count) // size, index=[f"e{place}" for place in range(count)])


def test_the_difference_is_of_the_same_examples_and_its_interval_is_students():
    generator = np.random.default_rng(0)
    sample, hardest = generator.random((3, 80)) < 0.6, generator.random((2, 80)) < 0.7
    (row,) = compared(predictions(sample), predictions(hardest), clusters(80)).to_dict("records")
    assert (row["examples"], row["drawn_prompts"], row["hardest_prompts"]) == (80, 3, 2)
    assert (row["drawn"], row["hardest"]) == pytest.approx((sample.mean(), hardest.mean()))
    assert row["drawn_spread"] == pytest.approx(sample.mean(axis=1).std(ddof=1))
    merged = hardest.mean(axis=0) - sample.mean(axis=0)
    reach = 1.990 * merged.std(ddof=1) / np.sqrt(80)  # of Student with 79 degrees of freedom
    assert (row["low"], row["high"]) == pytest.approx(
        (merged.mean() - reach, merged.mean() + reach), abs=1e-4
    )
    wide = compared(predictions(sample), predictions(hardest), clusters(80, size=40)).iloc[0]
    assert wide["high"] - wide["low"] > 3 * (row["high"] - row["low"])


def test_examples_that_one_kind_lacks_do_not_count_and_one_prompt_has_no_spread():
    sample = predictions(np.array([[1, 0, 1, 1]], dtype=bool))
    hardest = predictions(np.array([[1, 1, 0]], dtype=bool))
    (row,) = compared(sample, hardest, clusters(4)).to_dict("records")
    assert row["examples"] == 3
    assert row["drawn"] == pytest.approx(2 / 3)
    assert np.isnan(row["drawn_spread"])


def test_examples_without_a_known_cluster_are_by_themselves():
    generator = np.random.default_rng(1)
    sample, hardest = generator.random((3, 40)) < 0.6, generator.random((2, 40)) < 0.7
    pairs, incomplete = clusters(40, size=2), clusters(40, size=2)[:30]
    for place in range(30, 40):
        pairs[f"e{place}"] = 1000 + place
    computed = [
        compared(predictions(sample), predictions(hardest), of_examples)
        for of_examples in (pairs, incomplete)
    ]
    pd.testing.assert_frame_equal(*computed)
