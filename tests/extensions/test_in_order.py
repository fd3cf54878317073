"""Decisions while samples run in parallel are as reliable as stated."""

import numpy as np
import pytest

from abovechance.core.errors import InputError
from abovechance.extensions.in_order import OrderedEvaluation


def run(correct: np.ndarray, durations: np.ndarray, baseline: float, workers: int) -> str | None:
    """The decision of an evaluation in which some samples take longer, with several at a time."""
    evaluation = OrderedEvaluation(range(len(correct)), baseline)
    active: list[tuple[float, int]] = []
    start = 0.0
    for place in range(len(correct)):
        if len(active) == workers:
            active.sort()
            start, ended = active.pop(0)
            evaluation.record(ended, bool(correct[ended]))
            if evaluation.decision:
                return evaluation.decision
        active.append((start + durations[place], place))
    for _, ended in sorted(active):
        evaluation.record(ended, bool(correct[ended]))
    return evaluation.decision


@pytest.mark.parametrize("workers", [1, 20])
def test_wrong_decisions_are_rare_although_right_answers_end_first(workers):
    random = np.random.default_rng(workers)
    wrong = 0
    for _ in range(120):
        # exactly the baseline, so not above it
        correct = random.permutation(np.repeat([True, False], [25, 75]))
        wrong += run(correct, np.where(correct, 0.1, 5.0), 0.25, workers) == "above"
    assert wrong <= 0.05 * 120 + 3 * np.sqrt(0.05 * 0.95 * 120)


def test_a_good_model_is_decided_early_and_results_count_in_the_order_of_the_examples():
    evaluation = OrderedEvaluation([f"q{number}" for number in range(300)], 0.25)
    evaluation.record("q1", True)
    assert (evaluation.used, evaluation.accuracy, evaluation.decision) == (0, None, None)
    evaluation.record("q0", False)
    assert (evaluation.used, evaluation.accuracy) == (2, 0.5)
    for number in range(2, 300):
        if evaluation.decision is None:
            evaluation.record(f"q{number}", True)
    assert evaluation.decision == "above"
    assert evaluation.used < 40


def test_all_results_decide_exactly():
    for total, decision in ((25, "not above"), (26, "above")):
        evaluation = OrderedEvaluation(range(100), 0.25, alpha=1e-9)
        for place in range(100):
            evaluation.record(place, place * 37 % 100 < total)
        assert evaluation.decision == decision


def test_unknown_and_repeated_examples_are_errors():
    with pytest.raises(InputError, match="2 examples; expected one or more with distinct ids"):
        OrderedEvaluation(["a", "a"], 0.5)
    with pytest.raises(InputError, match="example 'b' is not one of the 1 examples"):
        OrderedEvaluation(["a"], 0.5).record("b", True)
