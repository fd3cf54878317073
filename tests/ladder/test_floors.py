"""Candidates compared with floors: closed forms, the best of several runs, and false positives."""

import numpy as np
import pytest
from scipy import stats

from abovechance.core.errors import InputError
from abovechance.ladder.floors import above_floor
from abovechance.metrics.texts import best_of


def test_one_attempt_each_is_the_sign_test():
    candidate = [[1.0]] * 8 + [[0.0]] * 2
    floor = [[0.0]] * 9 + [[1.0]]
    result = above_floor({"a": candidate}, {"null": floor})
    # better on 8, worse on 1, equal on 1
    assert result.p == pytest.approx(stats.binomtest(8, 9, alternative="greater").pvalue)
    assert (result.values["a"], result.floors["null"]) == (0.8, 0.1)
    assert np.isnan(result.expected_best)  # one attempt does not show how runs vary


def test_the_best_of_several_runs_of_the_floor():
    # a run of as many attempts as the candidates have passes each attempt with 1/2
    for attempts in (1, 3):
        floor = [[0.0, 1.0] * 50] * 20
        result = above_floor({name: [[1.0] * attempts] * 20 for name in "abcde"}, {"random": floor})
        passed = np.arange(20 * attempts + 1)
        cdf = stats.binom(20 * attempts, 0.5).cdf(passed) ** 5
        expected = (passed * np.diff(cdf, prepend=0)).sum() / passed[-1]
        assert result.expected_best == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize("attempts", [2, 4])
def test_few_attempts_of_the_floor_show_how_its_runs_vary(attempts):
    """Draws from few attempts vary less than attempts do; this is corrected."""
    generator = np.random.default_rng(0)
    above = []
    for _ in range(20):
        floor = (generator.random((60, attempts)) < 0.3).astype(float).tolist()
        result = above_floor(dict.fromkeys("abcdefgh", floor), {"random": floor}, draws=10)
        above.append(result.expected_best - result.floors["random"])
    passed = np.arange(60 * attempts + 1)
    cdf = stats.binom(passed[-1], 0.3).cdf(passed) ** 8
    expected = (passed * np.diff(cdf, prepend=0)).sum() / passed[-1] - 0.3
    assert np.mean(above) == pytest.approx(expected, rel=0.06)


def test_no_run_of_a_floor_is_above_one():
    result = above_floor({"a": [[1.0]] * 3}, {"f": [[0.0, 1.0]] * 3}, tries=1000)
    assert 0.9 < result.expected_best <= 1


def test_differences_that_may_not_be_symmetric_are_a_limit_of_the_test():
    whole = above_floor({"a": [[1.0, 0.0]] * 9}, {"null": [[0.0]] * 9})
    partial = above_floor({"a": [[1.0]] * 9}, {"null": [[0.9]] * 9})
    assert (whole.fractions, partial.fractions) == (False, True)
    assert not any("symmetric" in sentence for sentence in whole.sentences)
    assert partial.sentences[-1].startswith("This assumes that the differences from the floor are symmetric")


@pytest.mark.parametrize("k", [1, 2, 3])
def test_values_are_the_best_of_k(k):
    generator = np.random.default_rng(0)
    attempts = generator.random((10, 4)).tolist()
    result = above_floor({"a": attempts}, {"null": np.zeros((10, 4)).tolist()}, k)
    assert result.values["a"] == pytest.approx(np.mean([best_of(row, k) for row in attempts]))
    subsets = [[max(row[i] for i in chosen) for chosen in _subsets(4, k)] for row in attempts]
    assert result.values["a"] == pytest.approx(np.mean(subsets))


def _subsets(size, k):
    from itertools import combinations

    return combinations(range(size), k)


def test_a_candidate_must_beat_every_floor():
    candidate = [[1.0]] * 10 + [[0.0]] * 10
    null, strong = [[0.0]] * 20, [[1.0]] * 10 + [[0.0]] * 10
    result = above_floor({"a": candidate}, {"null": null, "strong": strong})
    assert (result.floor, result.p) == ("strong", 1.0)
    many = above_floor({"a": candidate}, {"null": null}, tries=10)
    single = above_floor({"a": candidate}, {"null": null})
    assert many.p == pytest.approx(1 - (1 - single.p) ** 10)


@pytest.mark.thorough
def test_false_positives_of_agents_that_are_as_good_as_the_floor():
    runs, false_positives = 400, 0
    for seed in range(runs):
        generator = np.random.default_rng(seed)
        skill = generator.random(40)[:, None]  # of any agent, on each example
        agents = {str(n): (generator.random((40, 3)) < skill).astype(float).tolist() for n in range(6)}
        floor = (generator.random((40, 3)) < skill).astype(float).tolist()
        false_positives += above_floor(agents, {"null": floor}, draws=199, seed=seed).p <= 0.05
    assert false_positives <= stats.binom(runs, 0.05).ppf(0.9999)


def test_wrong_input():
    with pytest.raises(InputError, match="'a': pass@2 needs at least 2 attempts"):
        above_floor({"a": [[1.0]]}, {"null": [[0.0]]}, 2)
    with pytest.raises(InputError, match=r"have \[1, 2\] examples"):
        above_floor({"a": [[1.0]]}, {"null": [[0.0], [0.0]]})
    with pytest.raises(InputError, match="tries is 1, but there are 2 candidates"):
        above_floor({"a": [[1.0]], "b": [[1.0]]}, {"null": [[0.0]]}, tries=1)
    with pytest.raises(InputError, match=r"tries is 2.5, but there are 1 candidates"):
        above_floor({"a": [[1.0]]}, {"null": [[0.0]]}, tries=2.5)  # type: ignore[arg-type]


def test_more_tries_than_random_signs_can_tell_apart_are_refused():
    for examples, expected in ((14, 2.0**-14), (15, None)):  # 2**14 signs are enumerated
        best, floor = {"a": [[1.0]] * examples}, {"null": [[0.0]] * examples}
        if expected is not None:
            result = above_floor(best, floor, tries=10**6)
            assert result.p == pytest.approx(-np.expm1(1e6 * np.log1p(-expected)))
        else:
            with pytest.raises(InputError, match="tries without results: 999,999; even from 1,000,000"):
                above_floor(best, floor, tries=10**6)
            assert above_floor(best, floor, tries=100).p < 0.01
            several = best | {"b": [[1.0]] * 14 + [[0.0]]}
            with pytest.raises(InputError, match="tries without results: 44,998; from 100 random draws"):
                above_floor(several, floor, tries=45_000, draws=100)
            assert above_floor(best, floor, draws=100.0).p < 0.05  # type: ignore[arg-type]
            for draws in (0, 2.5, 2_000_000):
                with pytest.raises(InputError, match="expected a whole number from 1 to 1,000,000"):
                    above_floor(best, floor, draws=draws)  # type: ignore[arg-type]
            with pytest.raises(InputError, match="tries is 3, but"):
                above_floor(best, floor, tries="3")  # type: ignore[arg-type]


def test_the_best_of_several_runs_is_not_below_one_run():
    floor = [[0.0, 0.0, 1.0]] * 6 + [[0.0] * 3] * 14
    candidates = {"a": [[1.0] * 3] * 20, "b": [[0.0] * 3] * 20}
    result = above_floor(candidates, {"random": floor}, k=3)
    assert result.expected_best > result.floors["random"] == pytest.approx(0.3)


def test_other_tries_are_independent_however_similar_the_candidates_are():
    agent = [[1.0]] * 9 + [[0.0]] * 4  # 7 of 13 examples differ from the floor, all in one direction
    floor = [[1.0]] * 2 + [[0.0]] * 11
    for candidates in ({"a": agent}, {"a": agent, "b": agent, "c": agent}):
        single = above_floor(candidates, {"null": floor})
        assert single.p == 2**-7
        result = above_floor(candidates, {"null": floor}, tries=20)
        assert result.p == pytest.approx(1 - (1 - 2**-7) ** (21 - len(candidates)))


def test_a_perfect_agent_is_better_in_spite_of_many_tries():
    result = above_floor({"a": [[1.0]] * 40, "b": [[1.0]] * 40}, {"null": [[0.0]] * 40}, tries=1200)
    assert result.p < 0.05


@pytest.mark.parametrize(
    ("attempts", "attempts_of_floor", "share", "k"),
    [
        (1, 10, 0.9, 1),
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in ((10, 1, 0.1, 1), (2, 5, 0.9, 1), (5, 2, 0.1, 2), (2, 5, 0.9, 2))
        ),
    ],
)
def test_other_numbers_of_attempts_are_no_evidence(attempts, attempts_of_floor, share, k):
    generator, runs = np.random.default_rng(1), 60

    def agent(count):
        return (generator.random((50, count)) < share).astype(float).tolist()

    rejected = sum(
        above_floor(
            {name: agent(attempts) for name in "abcde"}, {"floor": agent(attempts_of_floor)}, k, draws=200
        ).p
        <= 0.05
        for _ in range(runs)
    )
    assert rejected <= stats.binom(runs, 0.05).ppf(0.999)


def test_a_better_agent_with_one_attempt_beats_a_floor_with_many():
    generator = np.random.default_rng(2)
    floor = (generator.random((100, 10)) < 0.3).astype(float).tolist()
    candidates = {name: [[1.0]] * 60 + [[0.0]] * 40 for name in "ab"}
    result = above_floor(candidates, {"floor": floor})
    assert result.p < 0.01
    # attempts that are all equal leave nothing to draw, so it is the test of single attempts
    repeated = above_floor(candidates, {"floor": [[row[0]] * 10 for row in floor]}, draws=20_000)
    single = above_floor(candidates, {"floor": [[row[0]] for row in floor]}, draws=20_000)
    assert repeated.p == pytest.approx(single.p, abs=0.002)


def test_a_floor_that_never_varies_is_expected_where_it_is():
    result = above_floor({"a": [[1.0]] * 9, "b": [[0.0]] * 9}, {"f": [[0.5, 0.5]] * 9})
    assert result.expected_best == 0.5


def test_of_attempts_in_any_order_the_best_counts():
    """The best of two attempts, of which one passes, is 1 in 1 - 1/4 of all runs."""
    floor = [[1.0, 0.0] * 20] * 30
    result = above_floor({name: [[1.0, 1.0]] * 30 for name in "abcd"}, {"f": floor}, k=2)
    passed = np.arange(31)
    cdf = stats.binom(30, 0.75).cdf(passed) ** 4
    expected = (passed * np.diff(cdf, prepend=0)).sum() / 30
    assert result.expected_best == pytest.approx(expected, abs=0.015)
