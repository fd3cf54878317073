"""Planning: every answer is the boundary that it says it is."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from abovechance import BestOf, RandomBaseline
from abovechance.chance.planning import (
    examples_for_power,
    examples_needed,
    least_above,
    least_significant,
    power,
    power_curve,
    prompts_allowed,
)
from abovechance.chance.verdicts import Verdict


@pytest.mark.parametrize(
    ("chance", "prompts", "margin"), [(0.5, 200, 0.05), (0.2, 10, 0.02), (0.25, 1000, 0.3)]
)
def test_examples_needed_is_the_least_number(chance, prompts, margin):
    result = examples_needed(chance, prompts, margin)
    assert RandomBaseline.from_chance(chance, result).maximum(prompts) <= chance + margin
    assert RandomBaseline.from_chance(chance, result - 1).maximum(prompts) > chance + margin


def test_one_prompt_needs_one_example():
    assert examples_needed(0.5, 1, 0.01) == 1


def test_a_margin_that_is_just_kept_is_kept():
    assert RandomBaseline.from_chance(0.1, 1).maximum(2) == pytest.approx(0.19)
    assert examples_needed(0.1, 2, 0.09) == 1


@given(st.sampled_from([0.1, 0.25, 0.5, 0.9]), st.integers(1, 60), st.integers(2, 500))
def test_the_maximum_baseline_falls_with_the_number_of_examples(chance, examples, prompts):
    fewer, more = (RandomBaseline.from_chance(chance, n).maximum(prompts) for n in (examples, examples + 1))
    assert more <= fewer + 1e-12


@pytest.mark.parametrize("accuracy", [0.51, 0.55, 0.62, 0.7])
def test_prompts_allowed_is_the_most(accuracy):
    baseline = RandomBaseline.from_chance(0.5, 100)
    prompts = prompts_allowed(baseline, accuracy)
    assert baseline.maximum(prompts) < accuracy
    assert baseline.maximum(prompts + 1) >= accuracy


def test_no_prompt_is_allowed_below_chance_and_any_number_where_chance_never_gets_there():
    assert prompts_allowed(RandomBaseline.from_chance(0.5, 100), 0.5) == 0
    assert prompts_allowed(RandomBaseline.from_chance(0.5, 100), 0) == 0
    assert prompts_allowed(RandomBaseline.from_chance(0.1, 1000), 0.9) is None


def test_all_correct_is_never_expected_unless_guessers_cannot_be_wrong():
    assert prompts_allowed(RandomBaseline.from_chance(0.5, 5), 1) is None
    assert prompts_allowed(RandomBaseline([1.0, 0.99]), 1) is None
    assert prompts_allowed(RandomBaseline.from_chance(1.0, 5), 1) == 0


def test_more_better_prompts_have_more_power_in_the_figure_too():
    table = power_curve(0.5, [100], [1, 20], [0.6], better=3).set_index("prompts")["power"]
    baseline = RandomBaseline.from_chance(0.5, 100)
    assert table.to_dict() == {1: power(baseline, 0.6, 1), 20: power(baseline, 0.6, 20, better=3)}


@settings(max_examples=40)
@given(st.sampled_from([0.2, 1 / 3, 0.5]), st.integers(1, 120), st.integers(1, 300))
def test_the_least_accuracy_above_is_above_and_one_example_less_is_not(chance, examples, prompts):
    baseline = RandomBaseline.from_chance(chance, examples)
    result = least_above(baseline, prompts)
    if result is None:
        assert baseline.maximum(prompts) >= 1 - 1e-9
    else:
        assert result > baseline.maximum(prompts)
        assert result - 1 / examples <= baseline.maximum(prompts) + 1e-9


def test_1_is_above_what_guessers_who_can_be_wrong_are_expected_to_reach():
    """However many there are, so that it does not depend on rounding."""
    for prompts in (200, 300, 10**6):
        baseline = RandomBaseline.from_chance(0.5, 3)
        assert baseline.maximum(prompts) < 1
        assert BestOf([baseline], [prompts]).guessing_above == pytest.approx(1)
        several = BestOf([baseline, RandomBaseline.from_chance(0.4, 3)], [prompts, prompts])
        assert several.maximum < 1
        assert least_above(baseline, prompts) == 1
    assert BestOf([baseline, RandomBaseline.from_chance(1.0, 3)], [3, 3]).maximum == 1
    assert least_above(RandomBaseline.from_chance(1.0, 3), 10) is None
    assert least_above(RandomBaseline.from_chance(0.5, 1), 1000) == 1
    assert least_above(RandomBaseline.from_chance(0.5, 1), 1) == 1


def test_the_least_significant_accuracy_has_the_tail_that_was_asked_for():
    baseline = RandomBaseline.from_chance(0.5, 100)
    correct = round(least_significant(baseline, 50, 0.05) * 100)
    assert baseline.tail(correct, 50) <= 0.05 < baseline.tail(correct - 1, 50)
    assert least_significant(baseline, 50) == least_significant(baseline, 50, 0.05)
    assert least_significant(RandomBaseline.from_chance(0.5, 3), 50, 0.05) is None
    assert least_significant(RandomBaseline.from_chance(0.5, 5), 1) == 1  # 1/32


def test_power_agrees_with_simulation():
    baseline, generator = RandomBaseline.from_chance(0.25, 80), np.random.default_rng(0)
    correct = np.concatenate(
        [generator.binomial(80, 0.4, (20_000, 2)), generator.binomial(80, 0.25, (20_000, 8))], axis=1
    ).max(axis=1)
    for alpha in (0.05, None):
        least = least_above(baseline, 10) if alpha is None else least_significant(baseline, 10, alpha)
        result = power(baseline, 0.4, prompts=10, better=2, alpha=alpha)
        assert result == pytest.approx((correct / 80 >= least - 1e-9).mean(), abs=0.015)


def test_power_of_one_prompt_at_the_usual_level():
    baseline = RandomBaseline.from_chance(0.5, 5)
    assert power(baseline, 0.8) == power(baseline, 0.8, 1, 1, 0.05) == pytest.approx(0.8**5)
    assert (power(baseline, 1), power(baseline, 0)) == (1, 0)
    assert power(RandomBaseline.from_chance(0.5, 3), 1, prompts=50) == 0  # nothing would be significant


def test_guessing_is_found_better_than_chance_at_most_at_the_level():
    for examples in (20, 50, 200):
        assert power(RandomBaseline.from_chance(0.5, examples), 0.5, prompts=30, alpha=0.05) <= 0.05


def test_examples_for_power_suffice_and_one_less_does_not():
    examples = examples_for_power(0.5, 0.6, prompts=20)
    enough = [
        power(RandomBaseline.from_chance(0.5, n), 0.6, 20) >= 0.8 for n in range(examples - 1, examples + 30)
    ]
    assert enough == [False] + [True] * 30


@pytest.mark.parametrize(
    ("chance", "accuracy", "prompts", "better", "alpha", "required"),
    [
        (0.01, 0.02, 1, 1, 0.05, 0.5),  # enough at 434, but not at 483
        (0.01, 0.03, 20, 1, 0.05, 0.8),
        (0.05, 0.1, 5, 5, 0.01, 0.9),
        (0.7, 0.8, 10, 1, None, 0.8),
        (0.9, 0.97, 1, 1, 0.05, 0.5),
        (1 / 3, 0.45, 100, 3, 0.001, 0.3),
    ],
)
def test_power_never_falls_below_what_was_wanted_again(chance, accuracy, prompts, better, alpha, required):
    examples = examples_for_power(chance, accuracy, prompts, better, alpha, required)
    enough = [
        power(RandomBaseline.from_chance(chance, n), accuracy, prompts, better, alpha) >= required
        for n in range(1, 2 * examples + 100)
    ]
    assert examples == 1 + max(n for n, is_enough in enumerate(enough, start=1) if not is_enough)


def test_an_example_of_power_that_falls_again():
    assert examples_for_power(0.01, 0.02, target_power=0.5) == 484


def test_extreme_plans_need_little_memory():
    # a child, since memory that was needed once is not given back; it begins with the parent's peak
    script = (
        "import resource\n"
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024\n"
        "inherited = peak()\n"
        "from abovechance.chance.planning import examples_for_power, examples_needed\n"
        "examples_needed(0.5, 10**15, 0.00135)\n"
        "examples_for_power(0.5, 0.5005, target_power=0.9)\n"
        "print(inherited, peak())\n"
    )
    completed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    inherited, largest = map(int, completed.stdout.split())
    assert largest < max(1000, inherited + 1)  # MiB, the libraries among them


def test_power_rises_with_accuracy_and_falls_with_prompts():
    table = power_curve(0.5, [100], [1, 10, 100], [0.55, 0.65, 0.75])
    assert table.columns.tolist() == ["examples", "prompts", "accuracy", "power"]
    by = table.pivot_table("power", "prompts", "accuracy")
    assert by.loc[10, 0.65] == power(RandomBaseline.from_chance(0.5, 100), 0.65, 10)
    assert power_curve(0.5, [100], [10], [0.65], alpha=None)["power"].tolist() == [
        power(RandomBaseline.from_chance(0.5, 100), 0.65, 10, alpha=None)
    ]
    assert (by.diff(axis=1).iloc[:, 1:] > 0).all(axis=None)
    assert (by.diff(axis=0).iloc[1:] < 0).all(axis=None)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: examples_needed(0.5, 10, 0), "margin is 0"),
        (lambda: examples_needed(1.5, 10, 0.1), "chance is 1.5"),
        (lambda: examples_needed(0.5, 10, 1), "margin is 1"),
        (lambda: examples_needed(0.5, 0, 0.1), "at least one prompt"),
        (lambda: examples_needed(0.5, 10, 1e-6), "more than 10,000,000 examples"),
        (lambda: prompts_allowed(RandomBaseline.from_chance(0.5, 9), 1.2), "accuracy is 1.2"),
        (lambda: power(RandomBaseline.from_chance(0.5, 9), 0.7, prompts=2, better=3), "better is 3"),
        (
            lambda: power(RandomBaseline.from_chance(0.5, 9), 1.5),
            "accuracy is 1.5: it must be between 0 and 1",
        ),
        (lambda: power(RandomBaseline.from_chance(0.5, 9), 0.7, alpha=0), "alpha is 0"),
        (lambda: power(RandomBaseline.from_chance(0.5, 9), 0.7, alpha=1), "alpha is 1"),
        (lambda: examples_for_power(0.5, 0.5), "must be above the chance"),
        (lambda: examples_for_power(0, 0.5), "chance is 0"),
        (lambda: examples_for_power(0.5, 0.6, target_power=1), "target_power is 1"),
        (lambda: examples_for_power(0.5, 0.50001), "more than 10,000,000 examples were needed"),
    ],
)
def test_what_cannot_be_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(("examples", "prompts"), [(4, 330), (4, 400), (8, 6000), (10, 25000), (1, 36)])
def test_an_accuracy_of_1_is_above_a_maximum_baseline_just_below_it(examples, prompts):
    baseline = RandomBaseline.from_chance(0.5, examples)
    assert Verdict.from_accuracy("1", baseline, prompts).position == "above"
    assert least_above(baseline, prompts) == 1
    assert power(baseline, 0.9, prompts, 1, None) == pytest.approx(
        1 - (1 - 0.9**examples) * (1 - 0.5**examples) ** (prompts - 1)
    )
