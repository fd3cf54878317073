"""The random baselines against the paper, another package, exact arithmetic and simulation."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from max_random_baseline import max_random_baseline
from mpmath import mp, mpf

from abovechance import BestOf, RandomBaseline, task_chances
from abovechance.chance.baselines import TriedPrompts
from abovechance.chance.best_of import score_of
from abovechance.chance.random_baseline import least_count
from tests.exact import Exact

chance_lists = st.lists(st.sampled_from([0.2, 0.25, 1 / 3, 0.5, 1.0]), min_size=1, max_size=30)


def exact_maximum(examples: int, chance: float, prompts: int) -> float:
    """The paper's sum, term by term, in 60 digits."""
    with mp.workdps(60):
        p, below, total = mpf(chance), mpf(0), mpf(0)
        for k in range(examples + 1):
            at_most = below + mp.binomial(examples, k) * p**k * (1 - p) ** (examples - k)
            total += k * (at_most**prompts - below**prompts)
            below = at_most
        return float(total / examples)


@pytest.mark.parametrize("examples", [1, 16, 100, 200])
@pytest.mark.parametrize("chance", [0.1, 0.2, 0.5])
@pytest.mark.parametrize("prompts", [1, 2, 200, 10**6])
def test_maximum_baseline_is_the_papers_sum(examples, chance, prompts):
    baseline = RandomBaseline.from_chance(chance, examples).maximum(prompts)
    assert baseline == pytest.approx(exact_maximum(examples, chance, prompts), rel=1e-12)


@pytest.mark.parametrize(("examples", "chance", "prompts"), [(100, 0.5, 1), (100, 0.5, 10), (200, 0.2, 200)])
def test_maximum_baseline_agrees_with_the_reference_package(examples, chance, prompts):
    expected = max_random_baseline(examples, chance, prompts)
    assert RandomBaseline.from_chance(chance, examples).maximum(prompts) == pytest.approx(expected, rel=1e-8)


@given(chance_lists)
def test_the_maximum_baseline_of_one_prompt_is_the_standard_baseline(chances):
    baseline = RandomBaseline(chances)
    assert baseline.maximum(1) == pytest.approx(baseline.standard, rel=1e-12)
    assert baseline.standard == pytest.approx(np.mean(chances), rel=1e-12)


@given(chance_lists, st.integers(1, 1000))
def test_more_prompts_raise_the_maximum_baseline_and_never_above_one(chances, prompts):
    baseline = RandomBaseline(chances)
    assert baseline.standard <= baseline.maximum(prompts) + 1e-12
    assert baseline.maximum(prompts) <= baseline.maximum(prompts + 1) + 1e-12 <= 1 + 2e-12


@given(chance_lists, st.randoms())
def test_the_order_of_examples_does_not_matter(chances, random):
    shuffled = random.sample(chances, len(chances))
    assert RandomBaseline(shuffled) == RandomBaseline(chances)


def test_the_poisson_binomial_is_that_of_enumerated_outcomes():
    chances = [0.2, 0.5, 0.5, 1 / 3]
    outcomes = np.array(np.meshgrid(*[[0, 1]] * 4)).reshape(4, -1).T
    weights = np.prod(np.where(outcomes == 1, chances, 1 - np.array(chances)), axis=1)
    expected = np.bincount(outcomes.sum(axis=1), weights)
    assert RandomBaseline(chances).pmf(range(5)) == pytest.approx(expected, rel=1e-13)


def test_unequal_chances_agree_with_simulated_guessers():
    chances = np.repeat([0.5, 0.2], [40, 60])
    generator = np.random.default_rng(0)
    best = (generator.random((4000, 20, 100)) < chances).sum(axis=2).max(axis=1)
    assert RandomBaseline(chances).maximum(20) == pytest.approx(best.mean() / 100, abs=4 * 0.03 / 4000**0.5)
    assert RandomBaseline(chances).tail(45, 20) == pytest.approx((best >= 45).mean(), abs=0.03)


def test_a_tail_probability_counts_the_score_itself():
    baseline = RandomBaseline.from_chance(0.5, 2)
    assert baseline.tail(2) == pytest.approx(0.25)
    assert baseline.tail(0) == 1
    assert baseline.tail(3) == 0
    assert baseline.tail(2, prompts=2) == pytest.approx(1 - 0.75**2)


def test_tiny_tails_keep_their_digits():
    baseline = RandomBaseline.from_chance(0.5, 200).tail(200, prompts=10)
    assert baseline == pytest.approx(10 * 0.5**200, rel=1e-10)


@pytest.mark.thorough
@pytest.mark.parametrize("chance", [0.3, 1 / 3])
def test_100_000_examples_and_a_billion_prompts_keep_12_digits_in_the_tails_too(chance):
    exact, baseline = Exact(100_000, chance), RandomBaseline.from_chance(chance, 100_000)
    places = [k for k in range(0, 100_001, 97) if exact.pmf[k] > 1e-290]
    assert min(exact.pmf[k] for k in places) < 1e-270
    for k in places:
        assert baseline.pmf(k) == pytest.approx(float(exact.pmf[k]), rel=3e-13)
    for prompts in (1, 200, 10**9):
        for k in places[::5]:
            assert baseline.tail(k, prompts) == pytest.approx(float(exact.tail(k, prompts)), rel=3e-13)
    assert baseline.maximum(10**9) == pytest.approx(float(exact.maximum(10**9)), rel=1e-13)


@given(chance_lists, st.integers(1, 10**6))
def test_pmf_cdf_tail_and_quantile_of_the_maximum_belong_together(chances, prompts):
    baseline = RandomBaseline(chances)
    correct = np.arange(baseline.examples + 1)
    pmf, cdf = baseline.pmf(correct, prompts), baseline.cdf(correct, prompts)
    assert np.cumsum(pmf) == pytest.approx(cdf, abs=1e-9)
    assert cdf[:-1] == pytest.approx(1 - baseline.tail(correct[1:], prompts), abs=1e-9)
    assert cdf[-1] == 1
    assert (correct * pmf).sum() / baseline.examples == pytest.approx(baseline.maximum(prompts), rel=1e-9)
    for probability in (0.0, 0.1, 0.5, 0.999, 1.0):
        result = baseline.quantile(probability, prompts)
        assert baseline.cdf(result, prompts) >= probability - 1e-12
        assert result == 0 or baseline.cdf(result - 1, prompts) < probability + 1e-12


@given(st.lists(chance_lists, min_size=1, max_size=4))
def test_pmf_cdf_tail_and_quantile_of_different_prompts_belong_together(prompts):
    several = BestOf([RandomBaseline(chances) for chances in prompts])
    pmf, cdf = several.pmf(several.scores), several.cdf(several.scores)
    assert np.cumsum(pmf) == pytest.approx(cdf, abs=1e-9)
    assert cdf[:-1] == pytest.approx(1 - several.tail(several.scores[1:]), abs=1e-9)
    assert (several.scores * pmf).sum() == pytest.approx(several.maximum, rel=1e-9)
    for probability in (0.1, 0.5, 0.999):
        result = several.quantile(probability)
        assert several.cdf(result) >= probability - 1e-9
        below = several.scores[several.scores < result]
        assert not len(below) or several.cdf(below[-1]) < probability + 1e-12


def test_many_bests_at_once_are_each_by_itself():
    kinds = [
        RandomBaseline.from_chance(0.5, 7),
        RandomBaseline.from_chance(0.2, 10),
        RandomBaseline.from_chance(0.25, 8),
    ]
    counts = np.array([[1, 0, 0], [2, 3, 0], [0, 1, 5]])
    together = BestOf(kinds, counts)
    for row, rows in enumerate(counts):
        alone = BestOf([kind for kind, times in zip(kinds, rows, strict=True) for _ in range(times)])
        assert together.maximum[row] == pytest.approx(alone.maximum, rel=1e-12)
        assert together.standard[row] == pytest.approx(alone.standard, rel=1e-12)
        assert together.tail([0.3, 0.4, 0.5])[row] == pytest.approx(
            alone.tail([0.3, 0.4, 0.5][row]), rel=1e-12
        )
        assert together.quantile(0.9)[row] == alone.quantile(0.9)


def test_maxima_and_tails_are_vectorized_over_prompts_and_accuracies():
    baseline = RandomBaseline.from_chance(0.2, 50)
    prompts = np.array([1, 10, 1000])
    assert baseline.maximum(prompts) == pytest.approx([baseline.maximum(int(t)) for t in prompts])
    result = baseline.tail(np.arange(51)[:, None], prompts)
    assert result.shape == (51, 3)
    assert result[17, 1] == baseline.tail(17, 10)


def test_many_different_chances_are_one_poisson_binomial():
    chances = np.linspace(0.01, 0.99, 2001)
    baseline = RandomBaseline(chances)
    correct = np.arange(2002)
    assert baseline.pmf(correct).sum() == pytest.approx(1, rel=1e-12)
    assert (correct * baseline.pmf(correct)).sum() == pytest.approx(chances.sum(), rel=1e-12)
    variance = (correct**2 * baseline.pmf(correct)).sum() - chances.sum() ** 2
    assert variance == pytest.approx((chances * (1 - chances)).sum(), rel=1e-8)


def test_a_task_file_gives_the_baseline_of_its_choices(tmp_path):
    path = tmp_path / "task.jsonl"
    path.write_text(
        '{"text": "a", "choices": ["x", "y"], "answer": 0}\n'
        '{"text": "b", "choices": ["x", "y", "z", "w"], "answer": ["x", "y"]}\n'
    )
    assert RandomBaseline(task_chances(path)).counts == {0.5: 2}


def test_prompts_on_equal_examples_are_the_simple_case():
    baseline = RandomBaseline.from_choices({2: 30, 5: 10})
    several = BestOf([baseline] * 12)
    assert several.maximum == pytest.approx(baseline.maximum(12), rel=1e-12)
    assert several.tail(25 / 40) == pytest.approx(baseline.tail(25, 12), rel=1e-12)


def test_prompts_on_different_examples_agree_with_simulation():
    first, second = RandomBaseline.from_chance(0.5, 7), RandomBaseline.from_chance(0.2, 10)
    generator = np.random.default_rng(1)
    best = np.maximum(generator.binomial(7, 0.5, 200_000) / 7, generator.binomial(10, 0.2, 200_000) / 10)
    assert BestOf([first, second]).maximum == pytest.approx(best.mean(), abs=0.002)
    assert BestOf([first, second]).tail(0.5) == pytest.approx((best >= 0.5).mean(), abs=0.005)


@given(st.integers(1, 2000), st.data())
def test_an_accuracy_turns_back_into_its_number_of_correct_examples(examples, data):
    correct = data.draw(st.integers(0, examples))
    assert least_count(correct / examples * examples) == correct


@pytest.mark.parametrize("chances", [[], [1.5], [-0.1], [float("nan")]])
def test_chances_that_are_none_are_refused(chances):
    with pytest.raises(ValueError, match="chances"):
        RandomBaseline(chances)


def test_no_prompt_and_half_an_example_are_refused():
    with pytest.raises(ValueError, match="at least one prompt"):
        RandomBaseline.from_chance(0.5, 10).maximum(0)
    with pytest.raises(ValueError, match="whole"):
        RandomBaseline.from_chance(0.5, 10).tail(2.5)


@given(chance_lists, st.integers(1, 10**6), st.data())
def test_a_quantile_is_the_inverse_of_the_distribution_function(chances, prompts, data):
    baseline = RandomBaseline(chances)
    least = int(baseline.quantile(1e-300, prompts))
    correct = data.draw(st.integers(least, baseline.examples))
    probability = baseline.cdf(correct, prompts)
    if probability < 1 and (correct == 0 or baseline.cdf(correct - 1, prompts) < probability):
        assert baseline.quantile(probability, prompts) == correct


@given(chance_lists, st.integers(1, 10**6), st.sampled_from([1e-300, 1e-17, 1e-6, 0.05, 0.5, 0.999]))
def test_a_critical_number_is_the_least_with_so_small_a_tail(chances, prompts, level):
    baseline = RandomBaseline(chances)
    numbers = baseline.critical(level, prompts)
    assert numbers == baseline.examples + 1 or baseline.tail(numbers, prompts) <= level
    assert baseline.tail(numbers - 1, prompts) > level


def test_a_critical_number_of_ten_million_is_found_at_once_at_any_level():
    baseline = RandomBaseline.from_chance(0.5, 10_000_000)
    numbers = baseline.critical([1e-300, 1e-17, 0.05], [1, 10**15, 3])
    assert (baseline.tail(numbers, [1, 10**15, 3]) <= [1e-300, 1e-17, 0.05]).all()
    assert (baseline.tail(numbers - 1, [1, 10**15, 3]) > [1e-300, 1e-17, 0.05]).all()


def test_the_last_quantile_is_the_best_that_can_be():
    assert RandomBaseline.from_chance(0.5, 100_000).quantile(1) == 100_000
    assert RandomBaseline([0.5, 0.5, 0.0]).quantile(1, 10**9) == 2
    assert RandomBaseline.from_chance(0.5, 3).quantile(0, 5) == 0
    several = BestOf([RandomBaseline.from_chance(0.1, 300), RandomBaseline([0.0, 0.5])])
    assert several.quantile(1) == 1.0
    assert several.quantile(0.0) == 0.0


def test_the_last_quantiles_of_several_bests_are_each_its_own():
    half, hard = RandomBaseline([0.5, 0.5]), RandomBaseline([0.5, 0.5, 0.0])
    rows = [[1, 0], [0, 2], [1, 1]]
    assert BestOf([half, hard], rows).quantile(1).tolist() == pytest.approx([1, 2 / 3, 1])
    assert BestOf([hard, half], [[3, 0]]).quantile(1).tolist() == pytest.approx([2 / 3])
    standardized = BestOf([half, hard], rows, standardized=True).quantile(1)
    assert standardized.tolist() == pytest.approx([1 / 0.5**0.5] * 3)


def test_no_probability_is_minus_nothing():
    several = BestOf([RandomBaseline.from_chance(0.5, 4)] * 3)
    assert not np.signbit(several.pmf([0.1, 0.3, 0.5, 2.0])).any()
    assert not np.signbit(
        [several.exceeded(1.0), several.tail(2.0), RandomBaseline.from_chance(0.5, 4).tail(5)]
    ).any()


@given(st.lists(chance_lists, min_size=1, max_size=4))
def test_a_score_is_reached_exceeded_or_equalled(prompts):
    several = BestOf([RandomBaseline(chances) for chances in prompts])
    reached, exceeded = several.tail(several.scores), several.exceeded(several.scores)
    assert several.pmf(several.scores) == pytest.approx(reached - exceeded, abs=1e-9)
    assert np.exp(several.log_below(several.scores)) == pytest.approx(1 - reached, abs=1e-9)


def test_baselines_are_equal_where_their_chances_are():
    baseline = RandomBaseline([0.5, 0.2, 0.5])
    assert baseline == RandomBaseline.from_counts({0.2: 1, 0.5: 2})
    assert baseline != RandomBaseline.from_counts({0.2: 2, 0.5: 1})
    assert baseline != 3
    assert len({hash(RandomBaseline.from_chance(0.5, n)) for n in range(1, 20)}) > 10


def test_baselines_are_shown_in_notebooks():
    baseline = RandomBaseline.from_choices(dict.fromkeys(range(2, 9), 10))
    html = baseline._repr_html_()
    assert ">10 of 0.125, 10 of 0.143, 10 of 0.167, 10 of 0.2, 10 of 0.25, ...<" in html
    names = [f"maximum baseline, {prompts} prompts" for prompts in (1, 10, 100, 1000)]
    for text in ("examples", "70", "chances", *names):
        assert f">{text}<" in html
    assert f"{baseline.maximum(1000):.4g}" in html
    assert "..." not in RandomBaseline.from_choices(dict.fromkeys(range(2, 7), 10))._repr_html_()
    several = BestOf([baseline] * 3)
    html = several._repr_html_()
    for text in ("prompts", "3", "standard baseline", "maximum baseline", f"{several.maximum:.4g}"):
        assert f">{text}<" in html
    assert repr(RandomBaseline.from_chance(0.5, 4)) == "RandomBaseline(examples=4, chance=0.5)"


def test_one_choice_is_surely_guessed():
    assert RandomBaseline.from_choices({1: 3, 2: 1}).counts == {0.5: 1, 1.0: 3}


def test_numbers_give_numbers_and_arrays_arrays():
    baseline = RandomBaseline.from_chance(0.5, 20)
    for function, argument in ((baseline.quantile, 0.9), (baseline.critical, 0.05)):
        single, several = function(argument), function([argument, 0.5])
        assert isinstance(single, int)
        assert single == function(argument, 1) == several[0]
        assert several.shape == (2,)
    assert isinstance(baseline.cdf(3), float)
    assert baseline.cdf(3) == baseline.cdf(3, 1)
    assert baseline.cdf([-5, 25, -np.inf, np.inf]).tolist() == [0, 1, 0, 1]
    assert baseline.critical(0.9, 1) == 8
    assert baseline.critical(1e-9) == 21
    assert baseline.pmf([-1, 2.5, 21, 25.5]).tolist() == [0, 0, 0, 0]


def test_an_accuracy_that_a_score_stands_for_is_at_most_one():
    candidates = TriedPrompts.in_order([RandomBaseline.from_chance(0.5, 4)], standardized=True)
    assert candidates.accuracy(np.array([0.0, 1.0, 9.0])).tolist() == [0.5, 0.75, 1.0]


def test_ten_million_examples_need_little_memory():
    baseline = RandomBaseline.from_chance(0.5, 10_000_000)
    assert len(baseline._law.pmf) < 150_000
    # the normal approximation is exact to five digits here
    assert baseline.maximum(1) == pytest.approx(0.5, rel=1e-12)
    assert baseline.tail(5_003_000) == pytest.approx(0.02890, rel=1e-3)
    assert baseline.tail(10_000_000) == 0


@pytest.mark.parametrize(
    "call",
    [
        lambda baseline: baseline.maximum(1.5),
        lambda baseline: baseline.maximum(10**20),
        lambda baseline: baseline.maximum(float("nan")),
        lambda baseline: baseline.maximum(float("inf")),
        lambda baseline: baseline.maximum(-1),
        lambda baseline: baseline.tail(float("nan")),
        lambda baseline: baseline.tail(float("inf")),
        lambda baseline: baseline.tail(3, 0),
        lambda baseline: baseline.cdf(float("nan")),
        lambda baseline: baseline.quantile(float("nan")),
        lambda baseline: baseline.quantile(1.01),
        lambda baseline: RandomBaseline.from_chance(float("nan"), 10),
        lambda baseline: RandomBaseline.from_chance(float("inf"), 10),
        lambda baseline: RandomBaseline.from_chance(0.5, float("nan")),
        lambda baseline: RandomBaseline.from_chance(0.5, float("inf")),
        lambda baseline: RandomBaseline.from_chance(0.5, -1),
        lambda baseline: RandomBaseline.from_chance(0.5, 2.5),
        lambda baseline: RandomBaseline.from_chance(0.5, 10**8),
        lambda baseline: RandomBaseline.from_choices({2: -1}),
        lambda baseline: RandomBaseline.from_chance(0.5, "10"),
        lambda baseline: RandomBaseline.from_choices({0: 5}),
        lambda baseline: RandomBaseline.from_choices({float("inf"): 5}),
        lambda baseline: RandomBaseline.from_choices({float("nan"): 5}),
        lambda baseline: baseline.log_cdf(float("nan")),
        lambda baseline: BestOf([baseline], [-1]),
        lambda baseline: BestOf([baseline], [1.5]),
        lambda baseline: BestOf([baseline], [float("nan")]),
        lambda baseline: BestOf([baseline]).quantile(-0.1),
        lambda baseline: BestOf([baseline]).quantile(1.1),
    ],
)
def test_what_is_no_number_of_something_is_an_error(call):
    with pytest.raises(ValueError, match="prompts|correct|probability|chances|counts|choices"):
        call(RandomBaseline.from_chance(0.5, 10))


def test_the_best_of_nothing_is_refused():
    for baselines, counts in (([], None), ([RandomBaseline.from_chance(0.5, 3)], [0])):
        with pytest.raises(ValueError, match="^baselines is empty: the best of no prompt is not defined$"):
            BestOf(baselines, counts)


def test_a_distribution_that_is_shared_cannot_be_changed():
    law = RandomBaseline.from_chance(0.5, 10)._law
    for values in (law.pmf, law.log_cdf):
        with pytest.raises(ValueError, match="read-only"):
            values[0] = 1


def test_standardized_scores_of_equal_examples_order_as_accuracies_do():
    baseline = RandomBaseline.from_choices({2: 30, 5: 10})
    plain, standardized = BestOf([baseline] * 12), BestOf([baseline] * 12, standardized=True)
    for correct in (0, 17, 25, 40):
        score = float(score_of(correct, baseline, True))
        assert standardized.tail(score) == pytest.approx(plain.tail(correct / 40), rel=1e-12)
    candidates = TriedPrompts.in_order([baseline] * 12, standardized=True)
    assert candidates.accuracy(standardized.maximum) == pytest.approx(plain.maximum, rel=1e-12)


def test_standardized_scores_of_different_examples_agree_with_simulation():
    few, many = RandomBaseline.from_chance(0.5, 10), RandomBaseline.from_chance(0.2, 200)
    generator = np.random.default_rng(1)
    scores = [
        (generator.binomial(10, 0.5, 200_000) - 5) / 10**0.5 * 2,
        (generator.binomial(200, 0.2, 200_000) - 40) / (200 * 0.16) ** 0.5,
    ]
    best = np.maximum(*scores)
    several = BestOf([few, many], standardized=True)
    assert several.maximum == pytest.approx(best.mean(), abs=0.01)
    assert several.tail(1.5) == pytest.approx((best >= 1.5).mean(), abs=0.005)
    assert several.exceeded(several.maximum) == pytest.approx((best > several.maximum).mean(), abs=0.005)


@pytest.mark.parametrize("chances", [{0.5: 7}, {0.5: 3, 0.2: 9}, {1.0: 2, 0.25: 101}])
def test_the_best_of_one_guesser_is_that_guesser(chances):
    baseline = RandomBaseline.from_counts(chances)
    assert baseline.maximum(1) == BestOf([baseline]).maximum == baseline.standard
    assert baseline.maximum([1, 3])[0] == baseline.standard < baseline.maximum([1, 3])[1]
    assert BestOf([baseline], standardized=True).maximum == 0
    rows = BestOf([baseline, RandomBaseline.from_chance(0.1, 5)], [[1, 0], [0, 1], [2, 1]])
    assert rows.maximum[:2].tolist() == [baseline.standard, 0.1]


def test_who_cannot_but_be_at_the_mean_has_the_score_nothing():
    certain = RandomBaseline.from_chance(1.0, 5)
    assert score_of(5, certain, True) == 0
    assert BestOf([certain], standardized=True).tail(0.0) == 1


def test_the_examples_in_docstrings_are_true():
    from doctest import testmod

    from abovechance.chance import random_baseline, verdicts

    assert testmod(random_baseline).attempted > 3
    assert testmod(verdicts).attempted > 0
    assert testmod(random_baseline).failed == testmod(verdicts).failed == 0


def test_chances_of_several_types_are_added_up():
    assert RandomBaseline.from_counts({Fraction(1, 3): 50, 1 / 3: 50}) == RandomBaseline.from_chance(
        1 / 3, 100
    )
    assert RandomBaseline.from_counts({Decimal("0.1"): 5, 0.1: 7, 0.5: 0}).counts == {0.1: 12}


@pytest.mark.parametrize("counts", [[1], [1, 2, 3], [[1, 2, 3]], 1])
def test_the_best_of_several_needs_a_count_for_each(counts):
    baselines = [RandomBaseline.from_chance(0.5, n) for n in (10, 20)]
    with pytest.raises(ValueError, match="its last axis is of the 2 baselines"):
        BestOf(baselines, counts)


def test_choices_can_be_counted_by_pandas():
    counts = pd.Series([2, 5, 5, 2, 5]).value_counts()
    assert RandomBaseline.from_choices(counts) == RandomBaseline.from_choices({2: 2, 5: 3})
    assert RandomBaseline.from_counts(counts.rename(lambda n: 1 / n)).examples == 5
    for call in (RandomBaseline.from_choices, RandomBaseline.from_counts):
        with pytest.raises(ValueError, match="is a list: expected"):
            call([2] * 50)


@pytest.mark.parametrize("prompts", ["20", Fraction(20), Decimal(20), np.int8(20)])
def test_numbers_of_prompts_may_be_of_any_type(prompts):
    baseline = RandomBaseline.from_chance(0.5, 100)
    for of_prompts in (baseline.maximum, baseline.second, lambda number: baseline.tail(60, number)):
        assert of_prompts(prompts) == of_prompts(20)


def test_the_distribution_function_of_a_half_is_that_of_the_number_below():
    baseline = RandomBaseline.from_chance(0.5, 100)
    assert baseline.log_cdf([59.5, -3, 1e9]).tolist() == baseline.log_cdf([59, -1, 100]).tolist()
