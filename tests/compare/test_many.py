"""Orders of many models, several prompts, and where scores vary."""

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from abovechance.compare import (
    compare,
    comparison,
    exchanged,
    over_prompts,
    paired,
    pairs,
    ranks,
    together,
    trained,
    unpaired,
    variance_components,
)
from abovechance.compare.comparison import compare_models
from abovechance.compare.many import _letters
from abovechance.compare.responses import arrange
from abovechance.compare.samples import prompted
from abovechance.compare.study import of_study
from abovechance.core.errors import InputError


def responses(skills: list[float], examples: int = 300, seed: int = 0) -> np.ndarray:
    generator = np.random.default_rng(seed)
    hard = generator.normal(size=examples)
    noise = generator.normal(0, 0.7, (len(skills), examples))
    return (np.array(skills)[:, None] + hard + noise > 0).astype(float)


def test_pairs_are_those_of_two_models_and_adjusted_for_their_number():
    scores = responses([0.0, 0.1, 1.0])
    table = pairs(paired(scores), ["a", "b", "c"]).set_index(["first", "second"])
    for (first, second), row in table.iterrows():
        pair = compare(scores["abc".index(first)], scores["abc".index(second)])
        assert row["difference"] == pytest.approx(pair.difference.value)
        assert row["difference"] >= 0
        assert row["p"] == pytest.approx(pair.difference.p)
        assert row["error"] == pytest.approx(pair.difference.standard_error, rel=0.1)
        # for all pairs at once, so wider than for one
        assert row["low"] < pair.difference.low
        assert row["high"] > pair.difference.high
    assert (table["holm"] >= table["bh"]).all()
    assert (table["bh"] >= table["p"]).all()
    assert table["flips"].between(0, 0.5).all()


def test_ranks_are_sure_where_models_differ_and_open_where_they_do_not():
    table = ranks(paired(responses([0.0, 0.02, 1.5, 1.52], examples=600)), list("abcd")).set_index("model")
    assert set(table.index[:2]) == {"c", "d"}
    assert table.loc[["c", "d"], ["rank_low", "rank_high"]].to_numpy().tolist() == [[1, 2]] * 2
    assert table.loc[["a", "b"], ["rank_low", "rank_high"]].to_numpy().tolist() == [[3, 4]] * 2
    assert table["groups"].to_dict() == {"c": "a", "d": "a", "a": "b", "b": "b"}
    assert table["best"].sum() == pytest.approx(1)
    assert table.loc[["a", "b"], "best"].max() == 0


def test_intervals_of_ranks_hold_the_true_ranks_of_all_models_at_once():
    """Five models of which two are equal; at least 95 % of studies, but for the draws."""
    skills, covered = [0.0, 0.0, 0.3, 0.6, 0.9], []
    for seed in range(150):
        table = ranks(paired(responses(skills, 150, seed), draws=400), list("abcde")).set_index("model")
        true = {"e": (1, 1), "d": (2, 2), "c": (3, 3), "a": (4, 5), "b": (4, 5)}
        covered.append(
            all(
                table.loc[name, "rank_low"] <= high and table.loc[name, "rank_high"] >= low
                for name, (low, high) in true.items()
            )
        )
    assert np.mean(covered) >= 0.92


@given(st.integers(1, 7), st.sets(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=12))
def test_two_share_a_letter_unless_they_differ(count, sample):
    names = [f"m{place}" for place in range(count)]
    differ = {(names[first], names[second]) for first, second in sample if first < second < count}
    letters = _letters(names, differ)
    for place, first in enumerate(names):
        assert letters[first]
        for second in names[place + 1 :]:
            assert bool(set(letters[first]) & set(letters[second])) == ((first, second) not in differ)


def test_unpaired_models_are_two_proportions():
    table = pairs(unpaired([0.7, 0.6], [400, 500], draws=20_000), ["a", "b"])
    error = np.sqrt(0.7 * 0.3 / 400 + 0.6 * 0.4 / 500)
    assert table["error"].iloc[0] == pytest.approx(error, rel=0.03)
    first, second = 281 / 402, 301 / 502  # Agresti and Caffo
    rows = np.sqrt(first * (1 - first) / 402 + second * (1 - second) / 502)
    pooled = np.sqrt(580 / 900 * 320 / 900 * (1 / 400 + 1 / 500))  # of the score test
    assert table["p"].iloc[0] == pytest.approx(2 * stats.norm.sf(0.1 / pooled))
    assert 2 * stats.norm.sf((first - second) / rows) < table["p"].iloc[0]
    assert table[["low", "high"]].iloc[0].tolist() == pytest.approx(
        stats.norm.interval(0.95, first - second, rows)
    )
    assert table["high"].iloc[0] - 0.1 == pytest.approx(1.96 * error, rel=0.04)
    identical = pairs(unpaired([1.0, 1.0], 10), ["a", "b"])
    assert identical["p"].tolist() == [1]
    # that ten of ten are right does not say that all are
    assert identical["low"].iloc[0] < -0.1 < 0.1 < identical["high"].iloc[0]


def test_a_few_examples_of_a_leaderboard_tell_nothing_apart():
    sample = unpaired([1.0, 0.0], 2)
    table = pairs(sample, ["a", "b"])
    assert table["p"].iloc[0] > 0.1
    assert table["low"].iloc[0] < 0
    assert table["high"].iloc[0] == 1  # and not more
    assert set(ranks(sample, ["a", "b"])["groups"]) == {"a"}
    for accuracies, examples in (([0.5, np.nan], 10), ([0.5, 77], 10), ([0.5, 0.5], 0)):
        with pytest.raises(InputError, match=r"expected accuracies in \[0, 1\]"):
            unpaired(accuracies, examples)


def test_what_does_not_vary_is_told_apart_by_the_exact_test_alone():
    few = paired([[1, 1, 1, 0], [0, 0, 1, 0]], clusters=[0, 0, 0, 0])
    assert pairs(few, ["a", "b"])[["low", "high"]].isna().all(axis=None)
    assert set(ranks(few, ["a", "b"])["groups"]) == {"a"}
    five, many = (paired([np.ones(count), np.zeros(count)]) for count in (3, 50))
    assert set(ranks(five, ["a", "b"])["groups"]) == {"a"}
    assert ranks(many, ["a", "b"])["groups"].tolist() == ["a", "b"]


def test_means_over_prompts_have_an_exact_p():
    """Draws alone could not be below one in ten thousand, which many pairs' adjusted p never reaches."""
    generator = np.random.default_rng(3)
    scores = np.array([generator.binomial(3, p, 200) / 3 for p in (0.9, 0.1)])
    assert pairs(paired(scores), ["a", "b"])["p"].iloc[0] < 1e-40
    small = np.array([generator.binomial(3, p, 9) / 3 for p in (0.6, 0.5)])
    rows = small[0] - small[1]
    signs = np.array([*product([-1, 1], repeat=9)])
    expected = (np.abs(signs @ rows) >= abs(rows.sum()) - 1e-9).mean()
    assert exchanged(rows) == pytest.approx(expected)


def test_tasks_are_drawn_apart_unless_they_have_the_same_examples(monkeypatch):
    """Data that are sorted by label would otherwise belong together, place by place."""
    generator = np.random.default_rng(4)
    rows = []
    for task, sign in (("one", 1), ("other", -1)):
        for model, turned in (("a", 1), ("b", -1)):
            p = 0.5 + 0.4 * sign * turned * np.linspace(-1, 1, 200)
            correct = generator.random(200) < p
            rows.append(
                pd.DataFrame(
                    {"model": model, "task": task, "shots": 0, "example": [f"{task}{i}" for i in range(200)]}
                ).assign(score=correct.astype(float), prompt="p")
            )
    table = pd.concat(rows, ignore_index=True)
    separate = table.set_index(["task", "model"])["score"]
    variances = [
        np.var(separate[task, "a"].to_numpy() - separate[task, "b"].to_numpy()) / 200
        for task in ("one", "other")
    ]
    ((_, result), *_) = of_study(arrange(table))
    expected = np.sqrt(sum(variances)) / 2
    assert set(result["groups"]) == {"a"}
    similar = table.assign(example=table["example"].str.replace("one|other", "", regex=True))
    sample = [
        trained([[separate[task, model].to_numpy()] for model in "ab"], examples=place)
        for place, task in enumerate(("one", "other"))
    ]
    assert pairs(together(sample), ["a", "b"])["error"].iloc[0] == pytest.approx(expected, rel=0.1)
    assert len(of_study(arrange(similar))[0][1]) == 2
    messages = []
    monkeypatch.setattr(
        comparison, "trained", lambda *a, **k: (messages.append(k["examples"]), trained(*a, **k))[1]
    )
    of_study(arrange(table))
    of_study(arrange(similar))
    assert len({*messages[:2]}) == 2
    assert len({*messages[2:]}) == 1


@pytest.mark.parametrize("examples", [10, 20])
def test_few_examples_and_many_models_are_seldom_told_apart_wrongly(examples):
    generator = np.random.default_rng(examples)
    wrong = 0
    for _ in range(150):
        sample = paired((generator.random((4, examples)) < 0.6).astype(float), draws=1000)
        wrong += (pairs(sample, [*"abcd"])["low"] > 0).any()
    assert wrong / 150 <= 0.1


def test_tasks_together_count_alike():
    first, second = paired(responses([0.0, 0.5], 50)), paired(responses([0.4, 0.0], 5000, seed=1))
    merged = together([first, second])
    assert merged.scores == pytest.approx((first.scores + second.scores) / 2)
    assert merged.draws.std(axis=0) == pytest.approx(
        np.hypot(first.draws.std(axis=0), second.draws.std(axis=0)) / 2, rel=0.1
    )


def of_prompts(offsets: float, seed: int = 0, prompts: int = 8, examples: int = 200) -> np.ndarray:
    """Two models whose prompts matter by themselves."""
    generator = np.random.default_rng(seed)
    rows = generator.normal(0, offsets, (2, prompts, 1))
    hard, noise = generator.normal(size=examples), generator.normal(0, 0.5, (2, prompts, examples))
    return (rows + hard + noise > 0).astype(float)


def test_over_prompts_like_these_is_wider_where_prompts_matter():
    scores = of_prompts(0.5)
    estimates = over_prompts(*scores)
    assert estimates.mean.value == pytest.approx(scores[0].mean() - scores[1].mean())
    pair = compare(scores[0].mean(axis=0), scores[1].mean(axis=0))
    assert (estimates.mean.low, estimates.mean.high) == pytest.approx(
        (pair.difference.low, pair.difference.high), abs=0.01
    )
    widths = {
        name: getattr(estimates, name).high - getattr(estimates, name).low for name in ("mean", "population")
    }
    assert widths["population"] > 2 * widths["mean"]
    best = scores.mean(axis=2).max(axis=1)
    assert estimates.best.value == pytest.approx(best[0] - best[1], abs=0.05)
    first = over_prompts(scores[0][:1], scores[1][:1])
    assert first.best.value == pytest.approx(first.mean.value)  # nothing to choose
    assert first.best.high - first.best.low > first.mean.high - first.mean.low  # on half of the examples
    assert np.isnan(first.population.low)


def test_one_of_twenty_equal_prompts_is_not_better_than_one_alone():
    """The difference of best scores is high by luck; its interval excluded 0 in 65 %."""
    excluded, differences = [], []
    for seed in range(100):
        generator = np.random.default_rng(seed)
        hard = generator.normal(size=100)
        drive = hard + generator.normal(size=(2, 20, 100))
        bounds = np.full((2, 20, 1), 0.36)
        bounds[1, 1:] = -0.7
        estimates = over_prompts(*(drive < bounds).astype(float)).best
        excluded.append(estimates.low > 0 or estimates.high < 0)
        differences.append(estimates.value)
    assert np.mean(excluded) <= 0.05
    assert np.mean(differences) == pytest.approx(0, abs=3 * np.std(differences) / 10)


def test_prompts_like_these_hold_the_truth():
    """Two models that differ in nothing but which prompts they like."""
    results = [over_prompts(*of_prompts(0.4, seed)) for seed in range(200)]
    held_out = {
        name: np.mean([getattr(value, name).low <= 0 <= getattr(value, name).high for value in results])
        for name in ("mean", "population")
    }
    assert held_out["population"] >= 0.9
    assert held_out["mean"] < 0.7  # these prompts, not others


def test_prompts_that_are_not_evaluated_on_their_demonstrations_are_compared_on_the_others():
    scores = of_prompts(0.3, prompts=4, examples=40)
    scores[:, [0, 1, 2, 3], [5, 6, 7, 8]] = np.nan
    estimates = over_prompts(*scores)
    expected = np.nanmean(scores, axis=2).mean(axis=1)
    assert estimates.mean.value == pytest.approx(expected[0] - expected[1])
    scores[0, 0, 0] = np.nan
    with pytest.raises(InputError, match="a score of one model is missing"):
        over_prompts(*scores)


def test_components_are_those_that_made_the_scores():
    generator = np.random.default_rng(0)
    models, prompts, examples = (generator.normal(0, s, n) for s, n in ((2.0, 40), (1.0, 40), (3.0, 60)))
    noise = generator.normal(0, 0.5, (40, 40, 60))
    together = generator.normal(0, 1.5, (40, 1, 60))
    scores = models[:, None, None] + prompts[:, None] + examples + together + noise
    table = variance_components(scores, ["models", "prompts", "examples"]).set_index("source")["variance"]
    assert table["models x prompts x examples"] == pytest.approx(0.25, rel=0.05)
    assert table["models x examples"] == pytest.approx(2.25, rel=0.1)
    assert table["prompts x examples"] == pytest.approx(0, abs=0.02)
    for name, values in (("models", models), ("prompts", prompts), ("examples", examples)):
        assert table[name] == pytest.approx(values.var(ddof=1), rel=0.1)


def test_large_clusters_weigh_more_in_the_mean_of_all_answers():
    """Of 30 clusters of one example and two of 30, with nothing but effects of clusters, which are 1."""
    sizes = np.array([1] * 30 + [30] * 2)
    effects = np.random.default_rng(0).normal(size=(4000, 32))
    deviation = (effects @ sizes / sizes.sum()).std()
    scores = np.stack([effects[0], effects[0] + 1e-9])
    table = variance_components(scores, ["models", "clusters"], sizes).set_index("source")
    found_variance = table.loc["clusters", "variance"]
    assert found_variance == pytest.approx(effects[0].var(ddof=1))
    expected = deviation * np.sqrt(found_variance)
    assert table.loc["clusters", "deviation"] == pytest.approx(expected, rel=0.05)
    equal_weights = variance_components(scores, ["models", "clusters"]).set_index("source")
    assert equal_weights.loc["clusters", "deviation"] == pytest.approx(np.sqrt(found_variance / 32))
    assert table.loc["models", "deviation"] == equal_weights.loc["models", "deviation"]


def test_components_of_two_factors_are_the_textbooks():
    """By the mean squares of a table without repetition."""
    scores = np.array([[3.0, 5.0, 4.0], [6.0, 9.0, 6.0]])
    rows = 3 * ((scores.mean(axis=1) - scores.mean()) ** 2).sum()
    columns = 2 * ((scores.mean(axis=0) - scores.mean()) ** 2).sum() / 2
    rest_score = scores - scores.mean(axis=0) - scores.mean(axis=1, keepdims=True) + scores.mean()
    residual = (rest_score**2).sum() / 2
    table = variance_components(scores, ["prompts", "examples"])
    assert table["source"].tolist() == ["prompts", "examples", "prompts x examples"]
    assert table["variance"].tolist() == pytest.approx(
        [(rows - residual) / 3, (columns - residual) / 2, residual]
    )
    assert table["share"].sum() == pytest.approx(1)
    assert table["deviation"].iloc[2] == pytest.approx(np.sqrt(residual / 6))


def test_of_one_number_of_a_factor_nothing_can_be_said():
    for scores, factors, messages in (
        (np.ones((1, 5)), ["prompts", "examples"], "prompts: expected at least 2 levels, got 1"),
        (np.ones((2, 5)), ["examples"], "expected 1 dimensions of scores, one per factor, got 2"),
        (np.array([[1, np.nan], [1, 1]]), ["prompts", "examples"], "a score is missing"),
    ):
        with pytest.raises(InputError, match=messages):
            variance_components(scores, factors)
    assert np.isnan(variance_components(np.ones((3, 4)), ["prompts", "examples"])["share"]).all()
    assert isinstance(variance_components(np.eye(3), ["a", "b"]), pd.DataFrame)


@pytest.mark.parametrize("examples", [5, 10, 20, 100])
def test_the_p_value_of_two_accuracies_is_that_of_their_interval(examples):
    for first, second in combinations(range(0, examples + 1, max(1, examples // 10)), 2):
        sample = unpaired([first / examples, second / examples], examples, draws=50)
        (row,) = pairs(sample, ["a", "b"]).to_dict("records")
        assert (row["p"] <= 0.05) == (row["low"] > 0)
        separate = len(set(ranks(sample, ["a", "b"])["groups"])) == 2
        assert separate == (row["p"] <= 0.05)


def test_pairs_under_many_prompts_are_for_prompts_like_these():
    generator = np.random.default_rng(3)
    luck = generator.normal(size=(3, 8, 1))
    scores = (generator.normal(size=(3, 8, 60)) + 0.8 * luck > 0).astype(float)
    table = pairs(prompted(scores), ["a", "b", "c"]).set_index(["first", "second"])
    for (first, second), row in table.iterrows():
        item, another = ("abc".index(name) for name in (first, second))
        expected = over_prompts(scores[item], scores[another]).population
        assert (row["p"], row["error"]) == pytest.approx((expected.p, expected.standard_error))
        assert row["high"] - row["low"] > expected.high - expected.low  # for all pairs at once


@pytest.mark.thorough
def test_a_mean_over_tasks_with_lucky_prompts_is_seldom_a_difference():
    generator, wrong = np.random.default_rng(4), 0
    for _ in range(100):
        luck = 0.7 * generator.normal(size=(3, 2, 8, 1))
        easy = generator.normal(size=(3, 1, 1, 40))
        scores = (easy + luck + generator.normal(size=(3, 2, 8, 40)) > 0).astype(float)
        sample = together([prompted(row, draws=300, examples=task) for task, row in enumerate(scores)])
        wrong += pairs(sample, ["a", "b"])["p"].iloc[0] <= 0.05
    assert wrong <= 11


@pytest.mark.thorough
@pytest.mark.parametrize(("seeds", "deviation"), [(2, 0.06), pytest.param(3, 0.06, marks=pytest.mark.slow)])
def test_many_models_with_few_seeds_are_told_apart_wrongly_in_at_most_one_study_of_twenty(seeds, deviation):
    """With Satterthwaite's degrees of freedom for each pair, they were in 9 to 19 %."""
    adjusted, separate = 0, 0
    for number in range(100):
        generator = np.random.default_rng(number)
        hard = generator.normal(size=200) * 0.1
        chance = np.clip(0.6 + hard + generator.normal(size=(6, seeds, 1)) * deviation, 0, 1)
        table = pairs(trained([*(generator.random(chance.shape) < chance)], draws=300), [*"abcdef"])
        adjusted += (table["holm"] <= 0.05).any()
        separate += (table["low"] > 0).any()
    assert max(adjusted, separate) <= 11


def test_many_models_on_few_clusters_are_told_apart_wrongly_in_at_most_one_study_of_twenty():
    """Of eight models on six clusters of five examples; in 13 % without Bonferroni's intervals."""
    wrong, clusters = 0, np.repeat(np.arange(6), 5)
    for number in range(150):
        generator = np.random.default_rng(number)
        scores = generator.normal(size=(8, 6))[:, clusters] + 0.6 * generator.normal(size=(8, 30))
        table = pairs(paired(scores, clusters, draws=300), [*"abcdefgh"])
        wrong += ((table["low"] > 0) | (table["high"] < 0)).any()
    assert wrong <= 10


@pytest.mark.thorough
def test_many_models_with_few_prompts_are_told_apart_wrongly_in_at_most_one_study_of_twenty():
    adjusted = 0
    for number in range(100):
        generator = np.random.default_rng(number)
        chance = np.clip(0.6 + generator.normal(size=(6, 5, 1)) * 0.1, 0, 1)
        scores = generator.random((6, 5, 100)) < chance
        adjusted += (pairs(prompted(scores, draws=300), [*"abcdef"])["holm"] <= 0.05).any()
    assert adjusted <= 11


def test_tasks_on_the_same_examples_are_exchanged_together():
    first = paired([[1.0] * 5, [0.0] * 5], examples=7)
    two = paired([[1.0] * 5, [0.0] * 5], examples=8)
    names = ["a", "b"]
    assert pairs(together([first, first]), names)["p"][0] == pytest.approx(2 / 2**5)
    assert pairs(together([first, two]), names)["p"][0] == pytest.approx(2 / 2**10)


@pytest.mark.thorough
def test_a_mean_over_tasks_of_the_same_trainings_has_no_more_seeds_than_one_task():
    """With the degrees of freedom of all tasks added up, 18 % of studies were wrong."""
    wrong = 0
    for number in range(100):
        generator = np.random.default_rng(number)
        seeds = 0.5 + 0.2 * generator.standard_normal((2, 2, 1))
        tasks = [
            trained([generator.random((2, 40)) < value for value in seeds], examples=place + 1, draws=300)
            for place in range(5)
        ]
        wrong += together(tasks).difference(0, 1).p <= 0.05
    assert wrong <= 11


@pytest.mark.parametrize("examples", [10, pytest.param(30, marks=pytest.mark.slow)])
def test_equal_models_of_a_leaderboard_are_seldom_told_apart(examples):
    generator, models = np.random.default_rng(0), 20
    false_differences = 0
    for run in range(150):
        correct = generator.binomial(examples, 0.5, models)
        table = pairs(unpaired(correct / examples, examples, draws=300, seed=run), [*map(str, range(models))])
        false_differences += bool((table["low"] > 0).any())
    assert false_differences <= 17  # 7.5, and three standard deviations more; the old quantile had 30 to 40


def test_p_values_of_a_leaderboard_are_no_smaller_than_counts_allow():
    (row,) = pairs(unpaired([1.0, 0.0], 10), ["a", "b"]).to_dict("records")
    assert 2 * 0.5**20 < row["p"] == pytest.approx(2 * stats.norm.sf(np.sqrt(20)), rel=1e-12)
    # where the score test is more optimistic, the one of the interval counts
    (row,) = pairs(unpaired([0.9, 0.5], 10), ["a", "b"]).to_dict("records")
    error = np.sqrt(10 / 12 * 2 / 12 / 12 + 0.25 / 12)
    assert row["p"] == pytest.approx(2 * stats.norm.sf((10 - 6) / 12 / error), rel=1e-12)
    for counts in np.ndindex(21, 21):
        (row,) = pairs(unpaired(np.array(counts) / 20, 20, draws=2), ["a", "b"]).to_dict("records")
        excludes = row["low"] > 0
        assert excludes or row["p"] > 0.05, counts
        assert row["p"] < 0.07 or not excludes, counts


@pytest.mark.parametrize("accuracies", [(1.0, 0.881), (0.881, 1.0)])
def test_the_interval_of_two_models_contains_0_unless_the_test_says_that_they_differ(accuracies):
    examples = [23 if accuracy == 1 else 1000 for accuracy in accuracies]
    difference = unpaired(accuracies, examples).difference(0, 1)
    low, high = difference.interval(0.025)
    assert difference.p == pytest.approx(0.078, abs=5e-4)
    assert low <= 0 <= high
    narrow, wide = difference.interval(difference.p / 2 + 1e-9)
    assert (narrow > 0) == (accuracies[0] == 1)
    assert (wide < 0) == (accuracies[0] != 1)


def test_equal_means_over_tasks_share_a_rank():
    """0.3, 0.2 and 0.1 have the mean of 0.1, 0.2 and 0.3, which floating-point numbers miss."""
    corrects = [(3, 2, 1), (1, 2, 3), (1, 1, 1)]
    tasks = [
        paired([np.arange(10) < number for number in numbers], seed=place, examples=place)
        for place, numbers in enumerate(zip(*corrects, strict=True))
    ]
    sample = together(tasks)
    assert sample.scores[0] != sample.scores[1]
    for places in ([0, 1, 2], [1, 0, 2]):
        reordered = sample.reordered(places)
        names = ["A", "B", "C"]
        table = ranks(reordered, names)
        assert table["model"].tolist() == names
        assert table["rank"].tolist() == [1, 1, 3]
        assert pairs(reordered, names)["difference"].tolist() == pytest.approx([0, 0.1, 0.1])
        assert pairs(reordered, names)["difference"][0] == 0


def test_a_difference_is_smaller_than_the_deviation_of_seeds_by_more_than_rounding():
    answers = np.zeros((2, 10))
    answers[0, :6], answers[1, :5] = 1, 1
    rows = [
        {"model": model, "task": "t", "shots": 0, "prompt": "p", "example": f"e{i}", "score": score}
        for model, scores in zip("AB", answers, strict=True)
        for i, score in enumerate(scores)
    ]
    (arranged,) = arrange(pd.DataFrame(rows))
    for deviation, word in ((0.1, "not smaller"), (0.1001, "smaller"), (0.0999, "not smaller")):
        ((compared,), _) = compare_models([arranged], seed_deviation=deviation)
        assert f"The difference is {word} than the standard deviation" in compared.sentence
        assert compared.pairs["below_seed"].tolist() == [word == "smaller"]


def test_one_pair_has_one_p_value():
    """That of the first sentence, also before adjustment, where prompts answer alike."""
    answers = {"a": [1] * 9 + [0] * 3, "b": [1] * 3 + [0] * 6 + [1, 0, 0]}
    rows = [
        {"model": model, "task": "t", "shots": 0, "prompt": prompt, "example": f"e{i}", "score": score}
        for model, scores in answers.items()
        for prompt in ("p", "q")
        for i, score in enumerate(scores)
    ]
    ((compared,), _) = compare_models(arrange(pd.DataFrame(rows)))
    (pair,) = compared.pairs.to_dict("records")
    assert pair["p"] == pair["holm"] == pair["bh"] == compared.headline.p
    differences = np.subtract(answers["a"], answers["b"])
    assert pair["p"] == pytest.approx(stats.ttest_1samp(differences, 0).pvalue)


def test_equal_models_are_each_the_best_in_half_of_the_draws():
    """Also if floating-point numbers of one of them are a little larger."""
    first = np.array([0.3] * 10 + [0.5, 0.7, 0.1, 0.2])
    second = np.where(first == 0.3, 0.1 + 0.2, first)
    sample = paired([first, second, first - 0.1])
    table = ranks(sample, ["A", "B", "C"]).set_index("model")
    assert table["best"].tolist() == pytest.approx([0.5, 0.5, 0])
    pair = pairs(sample, ["A", "B", "C"]).iloc[0]
    assert (pair["difference"], pair["p"], pair["flips"]) == (0, 1, 0.5)


def test_a_small_difference_of_large_scores_is_one():
    first = np.array([10, 20, 30, 40, 50, 60, 1e14])
    second = first - np.array([1.0] * 6 + [0])
    table = pairs(paired([first, second]), ["A", "B"])
    assert table["low"][0] > 0
    assert table["difference"][0] > 0


@pytest.mark.parametrize("scores", [np.ones((3, 4)), np.full((3, 4), 0.1), np.full((3, 7, 11), 0.3)])
def test_equal_scores_have_no_variance_to_share(scores):
    assert variance_components(scores, ["a", "b", "c"][: scores.ndim])["share"].isna().all()
