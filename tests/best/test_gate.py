"""The gate: its test by enumeration and by scipy, whole searches, and its state."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from abovechance.best import Gate
from abovechance.best.gate import better_p
from abovechance.core.errors import InputError
from tests.best.simulated import answers


@given(st.lists(st.integers(-1, 1), min_size=1, max_size=40))
def test_of_right_and_wrong_answers_it_is_the_exact_sign_test(differences: list[int]) -> None:
    better, worse = differences.count(1), differences.count(-1)
    exact = stats.binomtest(better, better + worse, alternative="greater").pvalue if better + worse else 1.0
    assert better_p(differences) == pytest.approx(exact)


def test_small_p_values_keep_their_digits() -> None:
    assert better_p(np.ones(200)) == pytest.approx(0.5**200, rel=1e-9)


@pytest.mark.thorough
def test_a_rare_failure_is_no_reason_to_replace() -> None:
    # true mean 0.9 as the incumbent's, and 12 % of samples are better on every example
    generator = np.random.default_rng(8)
    p = [better_p((generator.random(20) < 0.9) - 0.9) for _ in range(2000)]
    assert np.mean(np.array(p) <= 0.05) <= 0.05
    assert better_p(np.full(60, 0.3)) < 1e-4
    assert better_p(-np.full(60, 0.3)) == 1.0


def as_scores(row: np.ndarray) -> dict[str, float]:
    return {str(example): float(score) for example, score in enumerate(row)}


def searched(generator: np.random.Generator, planned: int | None, correlation: float) -> tuple[bool, bool]:
    """Return if the gate replaces the incumbent among equals, and if a greedy search does."""
    rows = answers(generator, np.full(31, 0.6), 40, correlation)
    gate = Gate("0", as_scores(rows[0]), alpha=0.05, planned=planned)
    for number, row in enumerate(rows[1:], start=1):
        if gate.consider(str(number), as_scores(row)).replaces:
            break
    return gate.incumbent != "0", bool((rows[1:].sum(axis=1) > rows[0].sum()).any())


@pytest.mark.thorough
@pytest.mark.parametrize("planned", [30, None])
@pytest.mark.parametrize("correlation", [0.0, 0.7])
def test_among_equals_hardly_any_search_replaces(planned: int | None, correlation: float) -> None:
    generator = np.random.default_rng(11)
    runs = 1000
    false, greedy = np.sum([searched(generator, planned, correlation) for _ in range(runs)], axis=0) / runs
    assert false <= 0.05  # `make bench-baselines` has 10,000 runs
    assert greedy > 0.8


def test_a_better_candidate_replaces_and_is_then_the_one_to_beat() -> None:
    generator = np.random.default_rng(0)
    rows = answers(generator, np.array([0.3, 0.3, 0.8, 0.35]), 100)
    gate = Gate("seed", as_scores(rows[0]), planned=3)
    decisions = [gate.consider(name, as_scores(row)) for name, row in zip("abc", rows[1:], strict=True)]
    assert [decision.replaces for decision in decisions] == [False, True, False]
    assert [decision.incumbent for decision in decisions] == ["seed", "seed", "b"]
    assert gate.incumbent == "b"
    assert gate.level == 0
    with pytest.raises(InputError, match="all 3 planned candidates are tested"):
        gate.consider("d", as_scores(rows[3]))


@pytest.mark.parametrize("planned", [7, None])
def test_the_parts_of_alpha_do_not_exceed_it(planned: int | None) -> None:
    gate = Gate("seed", {"a": 1.0}, alpha=0.1, planned=planned)
    levels = [gate.consider(str(number), {"a": 1.0}).level for number in range(planned or 400)]
    assert sum(levels) <= 0.1 + 1e-12
    assert sum(levels) > 0.099


def test_only_examples_of_both_count() -> None:
    gate = Gate("seed", dict.fromkeys("abcdefgh", 0.0), planned=1)
    decision = gate.consider("one", {**dict.fromkeys("abcdef", 1.0), "x": 1.0, "y": 1.0})
    assert (decision.examples, decision.p) == (6, 0.5**6)


def test_the_state_survives_a_file(tmp_path: Path) -> None:
    gate = Gate("seed", {"a": 0.25, "b": 1.0, "c": 0.0}, alpha=0.2, planned=5)
    gate.consider("first", {"a": 1.0, "b": 1.0, "c": 0.5})
    gate.save(tmp_path / "gate.json")
    loaded = Gate.load(tmp_path / "gate.json")
    assert loaded == gate
    scores = {"a": 1.0, "b": 1.0, "c": 1.0}
    assert loaded.consider("second", scores) == gate.consider("second", scores)


@pytest.mark.parametrize("text", ["{}", "[1]", '{"format": "abovechance gate 1"}', "nothing"])
def test_a_file_that_is_no_state_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "gate.json").write_text(text)
    with pytest.raises(InputError, match=r"gate\.json"):
        Gate.load(tmp_path / "gate.json")


def test_impossible_gates_and_scores_are_refused() -> None:
    for settings in ({"alpha": 0.0}, {"alpha": 1.0}, {"planned": 0}):
        with pytest.raises(InputError, match="expected"):
            Gate("seed", {"a": 1.0}, **settings)  # type: ignore[arg-type]
    gate = Gate("seed", {"a": 1.0})
    with pytest.raises(InputError, match="no example in common"):
        gate.consider("other", {"b": 1.0})
    with pytest.raises(InputError, match="the score is nan"):
        gate.consider("other", {"a": float("nan")})
    with pytest.raises(InputError, match="has no score"):
        Gate("seed", {})
    assert gate.decisions == []
