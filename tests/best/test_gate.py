"""The gate: its test by enumeration and by scipy, whole searches, and its state."""

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from abovechance.best import Gate
from abovechance.best.gate import STAKES, better_p
from abovechance.core.errors import InputError
from tests.best.simulated import answers, notebook_rows


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
@pytest.mark.parametrize(
    ("planned", "correlation"),
    [
        (None, 0.0),
        *(pytest.param(*case, marks=pytest.mark.slow) for case in ((30, 0.0), (30, 0.7), (None, 0.7))),
    ],
)
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
    scores = {**dict.fromkeys("abcdef", 1.0), "x": 1.0, "y": 1.0}
    message = "'one' has no score on 2 of the 8 examples of 'seed', such as 'g'; expected all of them"
    with pytest.raises(InputError, match=message):
        gate.consider("one", scores)  # such as one that crashes on the other examples
    assert (gate.incumbent, gate.decisions) == ("seed", [])
    decision = gate.consider("one", scores, allow_missing=True)
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


def test_bets():
    values = np.array([0.5, -0.25, 0.75, 0.1, 0.4])
    capital = np.mean([np.prod(1 + stake * values) for stake in STAKES])
    assert better_p(values) == pytest.approx(1 / capital)
    assert better_p([0.1, -0.5, -0.5]) == 1.0
    assert better_p(np.full(2000, 0.9)) < 1e-100
    assert better_p([1, 1, 1, -1]) == pytest.approx(5 / 16)
    assert better_p([0, 0, -1]) == 1.0


def test_a_gate_in_a_notebook_and_in_a_file(tmp_path):
    gate = Gate("start", {"a": 0, "b": 0, "c": 0, "d": 0, "e": 1}, alpha=0.1, planned=2)
    decision = gate.consider("new", {"a": 1, "b": 1, "c": 1, "d": 1, "e": 1})
    assert (decision.difference, decision.replaces) == (pytest.approx(0.8), False)
    assert notebook_rows(gate) == {
        **{"incumbent": "start", "candidates tested": "1", "replacements": "0"},
        **{"next level": "0.05", "alpha": "0.1"},
    }
    # exactly at its level
    even = Gate("start", dict.fromkeys("abcd", 0), alpha=1 / 16, planned=1)
    assert even.consider("new", dict.fromkeys("abcd", 1)).replaces
    path = tmp_path / "gate.json"
    gate.save(path)
    assert path.read_text().startswith('{\n  "format": ')
    assert Gate.load(path) == gate
    stored = json.loads(path.read_text())
    for change in ({"decisions": [{"candidate": "x"}]}, {"unknown": 1}):
        path.write_text(json.dumps(stored | change))
        with pytest.raises(InputError) as error:
            Gate.load(path)
        assert "Gate.save" in str(error.value)
        assert str(path) in str(error.value)


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ({"a": 1.5}, "candidate 'x', example 'a': the score is 1.5; expected a number from 0 to 1"),
        ({"a": -1}, "candidate 'x', example 'a': the score is -1.0; expected a number from 0 to 1"),
        ({"a": "?"}, "candidate 'x': expected {example: score}, with numbers"),
        ([1], "candidate 'x': expected {example: score}, with numbers"),
        ({1: 1, "1": 0}, "candidate 'x': two examples have the same name as a text"),
        ({}, "candidate 'x' has no score; expected a score for each example"),
    ],
)
def test_scores_that_are_none(scores, message):
    with pytest.raises(InputError) as error:
        Gate("x", scores)
    assert str(error.value) == message
    with pytest.raises(InputError) as error:
        Gate("start", {"a": 1}).consider("x", scores)
    assert str(error.value) == message


def test_a_candidate_is_tested_once():
    gate = Gate("start", {"a": 0.5})
    gate.consider("new", {"a": 0.5})
    with pytest.raises(InputError) as error:
        gate.consider("new", {"a": 1})
    assert str(error.value) == "candidate 'new' is in the search already; use another name"


def test_levels_fall():
    gate = Gate("start", {"a": 0.0})
    levels = []
    for number in range(3):
        levels.append(gate.level)
        gate.consider(str(number), {"a": 0.0})
    assert levels == pytest.approx([0.05 * 6 / (np.pi * number) ** 2 for number in (1, 2, 3)])
    assert all(later < earlier for earlier, later in pairwise(levels))


@pytest.mark.parametrize(
    ("scores", "least"),
    [
        ([0.0] * 10, 0.5**10),  # a candidate that is right on all of them
        ([1.0] * 98 + [0.0] * 2, 0.25),
        ([1.0] * 100, 1.0),
        ([0.8] * 20, better_p(np.full(20, 0.2))),
        ([0.5] * 10 + [0.0] * 3, better_p([0.5] * 10 + [1.0] * 3)),
        ([0.9] * 3 + [0.0] * 5, 0.5**5),  # a candidate that is better only where the incumbent is wrong
    ],
)
def test_a_gate_is_spent_if_the_best_possible_candidate_does_not_pass(scores, least):
    incumbent = as_scores(np.array(scores))
    for factor, is_spent in ((1.001, False), (0.999, True)):
        alpha = min(least * factor, 0.9999)
        gate = Gate("start", incumbent, alpha=alpha, planned=1)
        assert gate.is_spent is (is_spent or alpha < least)
        generator = np.random.default_rng(0)
        rivals = [np.ones(len(scores)), np.where(np.array(scores) == 0, 1.0, scores)]
        rivals += [np.clip(np.array(scores) + generator.random(len(scores)), 0, 1) for _ in range(20)]
        passes = [better_p(rival - np.array(scores)) <= gate.level for rival in rivals]
        assert any(passes) is not gate.is_spent


@pytest.mark.parametrize("examples", [10, 1074, 1075, 5000])
def test_a_gate_without_planned_candidates_left_is_spent(examples):
    gate = Gate("start", as_scores(np.zeros(examples)), planned=1)
    assert not gate.is_spent
    gate.consider("next", as_scores(np.zeros(examples)))
    assert gate.is_spent


def test_numbers_of_numpy_are_numbers(tmp_path):
    gate = Gate("seed", {"a": 1.0}, alpha=np.float32(0.25), planned=np.int64(3))
    gate.save(tmp_path / "gate.json")
    loaded = Gate.load(tmp_path / "gate.json")
    assert (loaded.alpha, loaded.planned, loaded.level) == (0.25, 3, 0.25 / 3)
    for planned in (0, 2.5, np.float64(3)):
        with pytest.raises(InputError, match="planned is"):
            Gate("seed", {"a": 1.0}, planned=planned)
