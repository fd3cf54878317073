"""Models that differ on few examples, always in the same direction, or on none."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from abovechance.compare import compare, mcnemar, paired, pairs, ranks, samples, together
from abovechance.compare.comparison import compare_models
from abovechance.compare.gate import gate
from abovechance.compare.responses import arrange
from tests.compare.test_gate import of_scores_with

COLUMNS = ["task", "shots", "model", "prompt", "example", "score"]


def changed(examples: int, gains: int, losses: int) -> np.ndarray:
    """(2, examples) scores of two models; the first is right alone on ``gains`` examples."""
    numbers = np.arange(examples)
    return np.array([numbers >= losses, (numbers < losses) | (numbers >= losses + gains)], dtype=float)


def test_intervals_of_pairs_are_score_intervals():
    scores = np.array([*changed(200, 3, 0), np.arange(200) >= 9], dtype=float)
    sample = paired(scores)
    for first, two in sample.differences:
        expected = compare(scores[first], scores[two]).difference
        assert sample.difference(first, two).interval(0.025) == pytest.approx((expected.low, expected.high))
        low, high = sample.difference(two, first).interval(0.025)
        assert (-high, -low) == pytest.approx((expected.low, expected.high))


@pytest.mark.thorough
@pytest.mark.parametrize(("examples", "share"), [pytest.param(200, 0.05, marks=pytest.mark.slow), (50, 0.3)])
def test_intervals_of_all_pairs_hold_if_few_examples_differ(examples, share):
    generator, misses = np.random.default_rng(5), 0
    for seed in range(200):
        correct = generator.random(examples) < 0.6
        scores = [correct & (generator.random(examples) >= loses) for loses in (0, share, 2 * share)]
        true = 0.6 * (1 - np.array([0, share, 2 * share]))
        table = pairs(paired(np.array(scores, dtype=float), seed=seed), ["0", "1", "2"])
        differences = true[table["first"].astype(int)] - true[table["second"].astype(int)]
        misses += bool(((table["low"] > differences) | (differences > table["high"])).any())
    assert misses <= 20  # 10 expected; 24 with Student's intervals


def test_a_task_without_variance_widens_the_interval_of_the_mean():
    small, large = changed(3, 3, 0), changed(100, 3, 0)
    mean = together([paired(small, examples=1), paired(large, examples=2)]).difference(0, 1)
    assert mean.value == pytest.approx((1 + 0.03) / 2)
    low, high = mean.interval(0.025)
    # as much below the mean as half of the small task's own interval
    assert low == pytest.approx(mean.value - (1 - compare(*small).difference.low) / 2, abs=0.005)
    assert high < mean.value + 0.04
    assert 0.05 < mean.p < 0.1
    opposite = together([paired(small[::-1], examples=1), paired(large[::-1], examples=2)]).difference(0, 1)
    assert opposite.interval(0.025) == pytest.approx((-high, -low), abs=1e-3)
    assert opposite.p == pytest.approx(mean.p, rel=0.05)


@pytest.mark.parametrize("scale", [1.0, 0.001, 100.0])
@pytest.mark.parametrize("difference", [0.4, 1e-6, 0.0])
def test_graded_scores_without_variance_widen_it_too(difference, scale):
    small, large = np.array([[0.2 + difference] * 5, [0.2] * 5]), changed(100, 5, 3)
    tasks = [paired(scale * small, examples=1), paired(scale * large, examples=2)]
    low, high = together(tasks).difference(0, 1).interval(0.025)
    assert (low + high) / 2 <= scale * (difference + 0.02) / 2 + 1e-9
    # as if one of six examples had the opposite difference, of the size of the other task's
    share = 1.96**2 / (5 + 1.96**2)
    assert low == pytest.approx(
        scale * ((difference + 0.02) / 2 - share * (1 + difference) / 2), abs=0.01 * scale
    )
    assert high == pytest.approx(
        scale * ((difference + 0.02) / 2 + share * (1 - difference) / 2), abs=0.01 * scale
    )


def test_tasks_with_the_same_examples_lack_the_same_differences():
    task = changed(50, 4, 0)
    separate = together([paired(task, examples=1), paired(task, examples=2)]).difference(0, 1)
    shared = together([paired(task, examples=1), paired(task, examples=1)]).difference(0, 1)
    assert shared.interval(0.025) == pytest.approx(compare(*task).difference[2:4], abs=0.005)
    assert shared.interval(0.025)[0] < separate.interval(0.025)[0]


@pytest.mark.thorough
def test_the_interval_of_a_mean_holds_with_a_small_task():
    generator, misses, runs = np.random.default_rng(1), 0, 200
    for seed in range(runs):
        tasks = []
        for task, (examples, gains) in enumerate([(10, 0.9), (100, 0.05)]):
            draws = generator.random(examples)
            counts = int((draws < gains).sum()), int((draws > 0.95).sum()) if task else 0
            tasks.append(samples.paired(changed(examples, *counts), seed=seed, examples=task + 1))
        low, high = together(tasks).difference(0, 1).interval(0.025)
        misses += not low <= 0.45 <= high
    assert misses <= 0.08 * runs  # 26 % with a variance of 0


def of_prompts(prompts: dict[str, list[list[float]]], repeats: str) -> pd.DataFrame:
    """Scores by model of each prompt or seed on each example."""
    rows = [
        ("t", 0, model, f"{model}{number}" if repeats == "prompt" else "p", str(example), score)
        + ((number,) if repeats == "seed" else ())
        for model, by_prompt in prompts.items()
        for number, scores in enumerate(by_prompt)
        for example, score in enumerate(scores)
    ]
    return pd.DataFrame(rows, columns=COLUMNS + (["seed"] if repeats == "seed" else []))


@pytest.mark.parametrize("repeats", ["prompt", "seed"])
def test_equal_means_of_different_prompts_or_seeds_are_no_equal_answers(repeats):
    unlike = [[1.0] * 30, [1.0] * 30, [0.0] * 30, [0.0] * 30]
    (task,), _ = compare_models(arrange(of_prompts({"A": unlike, "B": unlike}, repeats)))
    assert "Both models have the same mean score (95% confidence interval -" in task.sentence
    assert "in at most" not in task.sentence


def test_two_seeds_differ_by_at_most_all_points():
    unlike = [[1.0] * 30, [0.0] * 30]
    (task,), _ = compare_models(arrange(of_prompts({"A": unlike, "B": unlike}, "seed")))
    assert "differ only in the seed differ by at most 100.0 percentage points" in task.sentence


def test_the_bound_for_equal_answers_depends_on_the_largest_cluster():
    examples = [str(number) for number in range(200)]
    clusters = pd.Series([*range(100), *[100] * 100], index=examples)
    table = pd.DataFrame(
        [("t", 0, model, "p", name, 1.0) for model in "AB" for name in examples], columns=COLUMNS
    )
    (single,), _ = compare_models(arrange(table))
    assert "differ in at most 1.5% of cases" in single.sentence  # 1 - .05^(1/200)
    (task,), _ = compare_models(arrange(table, {"t": clusters}))
    assert "differ in at most 78% of cases" in task.sentence  # 1 - .05^(1/2)


def test_a_p_value_that_is_too_small_for_a_number_is_called_so():
    table = pd.DataFrame(
        [("t", 0, model, "p", n, 0.2 * (model == "A")) for model in "AB" for n in range(2000)],
        columns=COLUMNS,
    )
    (task,), _ = compare_models(arrange(table))
    assert task.sentence.endswith("(p < 1e-300).")


def test_both_decisions_count_in_the_number_of_examples_that_decide():
    # simulation: 79 % of results with 306 examples are "worse" or "not worse", 57 % of those with 184
    result = gate([of_scores_with(100, 3, 5)], margin=0.05)
    assert (result.decision, result.difference) == ("cannot tell", pytest.approx(-0.02))
    assert 280 < result.needed < 330


def test_how_far_score_intervals_reach_beyond_student():
    generator = np.random.default_rng(0)
    graded = paired(generator.random((2, 30))).difference(0, 1)
    assert graded.beyond_student(30, 1.0) == (0.0, 0.0)
    # of five examples that are alike, as the score interval of right and wrong answers
    for gains in (0, 5):
        answers, scores = paired(changed(5, gains, 0)), paired(2 * changed(5, gains, 0))
        of_answers = answers.difference(0, 1).beyond_student(5, 1.0)
        of_scores = scores.difference(0, 1).beyond_student(5, 2.0)
        assert 4 * np.array(of_answers) == pytest.approx(of_scores, abs=1e-6)
    # many differences of both kinds: next to nothing
    many_differences = paired(changed(2000, 300, 200)).difference(0, 1)
    assert max(many_differences.beyond_student(2000, 1.0)) < 0.02 * many_differences.spread.standard_error**2


def test_models_that_never_vary_are_compared():
    constant = np.array([[1.0] * 100, [0.0] * 100, [0.0] * 100])
    sample = paired(constant)
    table = pairs(sample, ["a", "b", "c"]).set_index(["first", "second"])
    tail = 0.05 / 2 / 3
    for first, second in table.index:
        expected = compare(
            *constant[["abc".index(first), "abc".index(second)]], confidence=1 - 2 * tail
        ).difference
        assert tuple(table.loc[(first, second), ["low", "high"]]) == pytest.approx(
            (expected.low, expected.high)
        )
    ranked = ranks(sample, ["a", "b", "c"]).set_index("model")
    assert ranked["groups"].to_dict() == {"a": "a", "b": "b", "c": "b"}
    assert ranked.loc["a", ["rank_low", "rank_high"]].tolist() == [1, 1]


def test_a_deviation_of_scores_that_are_no_shares_has_no_limit():
    unlike = [[50.0] * 30, [62.0] * 30]
    (task,), _ = compare_models(arrange(of_prompts({"A": unlike, "B": [[50.2] * 30, [62.2] * 30]}, "seed")))
    assert "differ by at most 100.0 percentage points" not in task.sentence


def test_the_size_of_the_score_test_as_the_page_states_it():
    def p_value(examples: int, gains: int, losses: int) -> float:
        return compare(*changed(examples, gains, losses)).difference.p

    assert p_value(8, 7, 1) == pytest.approx(0.034, abs=5e-4)
    assert mcnemar(*changed(8, 7, 1)) == pytest.approx(0.070, abs=5e-4)
    for examples, differ, size in ((4, 1.0, 0.125), (5, 0.9, 0.0779), (21, 1.0, 0.0784), (50, 1.0, 0.065)):
        share = 0.0
        for differing in range(examples + 1):
            rejected = [p_value(examples, gains, differing - gains) <= 0.05 for gains in range(differing + 1)]
            given_differing = stats.binom.pmf(np.arange(differing + 1), differing, 0.5) @ rejected
            share += stats.binom.pmf(differing, examples, differ) * given_differing
        assert share == pytest.approx(size, abs=5e-4)
