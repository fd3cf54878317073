"""Planning: every answer is the boundary that it says it is."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abovechance import RandomBaseline
from abovechance.chance.planning import (
    examples_for_power,
    examples_needed,
    least_above,
    least_significant,
    power,
    power_curve,
    prompts_allowed,
)


@pytest.mark.parametrize(
    ("chance", "prompts", "margin"), [(0.5, 200, 0.05), (0.2, 10, 0.02), (0.25, 1000, 0.3)]
)
def test_examples_needed_is_the_least_number(chance, prompts, margin):
    found = examples_needed(chance, prompts, margin)
    assert RandomBaseline.of(chance, found).maximum(prompts) <= chance + margin
    assert RandomBaseline.of(chance, found - 1).maximum(prompts) > chance + margin


def test_one_prompt_needs_one_example():
    assert examples_needed(0.5, 1, 0.01) == 1


@given(st.sampled_from([0.1, 0.25, 0.5, 0.9]), st.integers(1, 60), st.integers(2, 500))
def test_the_maximum_baseline_falls_with_the_number_of_examples(chance, examples, prompts):
    fewer, more = (RandomBaseline.of(chance, n).maximum(prompts) for n in (examples, examples + 1))
    assert more <= fewer + 1e-12


@pytest.mark.parametrize("accuracy", [0.51, 0.55, 0.62, 0.7])
def test_prompts_allowed_is_the_most(accuracy):
    baseline = RandomBaseline.of(0.5, 100)
    found = prompts_allowed(baseline, accuracy)
    assert baseline.maximum(found) < accuracy
    assert baseline.maximum(found + 1) >= accuracy


def test_no_prompt_is_allowed_below_chance_and_any_number_where_chance_never_gets_there():
    assert prompts_allowed(RandomBaseline.of(0.5, 100), 0.5) == 0
    assert prompts_allowed(RandomBaseline.of(0.1, 1000), 0.9) is None


@settings(max_examples=40)
@given(st.sampled_from([0.2, 1 / 3, 0.5]), st.integers(1, 120), st.integers(1, 300))
def test_the_least_accuracy_above_is_above_and_one_example_less_is_not(chance, examples, prompts):
    baseline = RandomBaseline.of(chance, examples)
    found = least_above(baseline, prompts)
    if found is None:
        assert baseline.maximum(prompts) >= 1 - 1e-9
    else:
        assert found > baseline.maximum(prompts)
        assert found - 1 / examples <= baseline.maximum(prompts) + 1e-9


def test_the_least_significant_accuracy_has_the_tail_that_was_asked_for():
    baseline = RandomBaseline.of(0.5, 100)
    correct = round(least_significant(baseline, 50, 0.05) * 100)
    assert baseline.tail(correct, 50) <= 0.05 < baseline.tail(correct - 1, 50)
    assert least_significant(RandomBaseline.of(0.5, 3), 50, 0.05) is None


def test_power_agrees_with_simulation():
    baseline, generator = RandomBaseline.of(0.25, 80), np.random.default_rng(0)
    correct = np.concatenate(
        [generator.binomial(80, 0.4, (20_000, 2)), generator.binomial(80, 0.25, (20_000, 8))], axis=1
    ).max(axis=1)
    for level in (0.05, None):
        least = least_above(baseline, 10) if level is None else least_significant(baseline, 10, level)
        found = power(baseline, 0.4, prompts=10, better=2, level=level)
        assert found == pytest.approx((correct / 80 >= least - 1e-9).mean(), abs=0.015)


def test_guessing_is_found_better_than_chance_at_most_at_the_level():
    for examples in (20, 50, 200):
        assert power(RandomBaseline.of(0.5, examples), 0.5, prompts=30, level=0.05) <= 0.05


def test_examples_for_power_suffice_and_one_less_does_not():
    found = examples_for_power(0.5, 0.6, prompts=20)
    enough = [power(RandomBaseline.of(0.5, n), 0.6, 20) >= 0.8 for n in range(found - 1, found + 30)]
    assert enough == [False] + [True] * 30


def test_power_rises_with_accuracy_and_falls_with_prompts():
    table = power_curve(0.5, [100], [1, 10, 100], [0.55, 0.65, 0.75])
    by = table.pivot_table("power", "prompts", "accuracy")
    assert (by.diff(axis=1).iloc[:, 1:] > 0).all(axis=None)
    assert (by.diff(axis=0).iloc[1:] < 0).all(axis=None)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: examples_needed(0.5, 10, 0), "margin is 0"),
        (lambda: examples_needed(1.5, 10, 0.1), "chance is 1.5"),
        (lambda: examples_needed(0.5, 0, 0.1), "at least one prompt"),
        (lambda: examples_needed(0.5, 10, 1e-6), "more than 10,000,000 examples"),
        (lambda: prompts_allowed(RandomBaseline.of(0.5, 9), 1.2), "accuracy is 1.2"),
        (lambda: power(RandomBaseline.of(0.5, 9), 0.7, prompts=2, better=3), "better is 3"),
        (lambda: examples_for_power(0.5, 0.5), "must be above the chance"),
    ],
)
def test_what_cannot_be_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
