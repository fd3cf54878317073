"""Draws, pairs and ranks of many models, number by number from their definitions."""

from itertools import combinations, pairwise, product

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from abovechance.chance.multiplicity import adjusted
from abovechance.compare import many, samples
from abovechance.compare.leaderboard import read_leaderboard, unpaired
from abovechance.compare.many import PAIRS, RANKS, flips, pairs, ranks
from abovechance.compare.over_tasks import Shared, together
from abovechance.compare.prompts import PromptPair
from abovechance.compare.samples import Difference, Sample, paired, prompted, trained
from abovechance.compare.seeds import seeds_spread
from abovechance.compare.two_models import compare, exchanged
from abovechance.core.errors import InputError
from abovechance.core.estimates import Spread, clustered_mean, satterthwaite

CLUSTERS = np.array([0, 0, 1, 1, 1, 2, 3, 4, 4, 5])
SIZES = np.bincount(CLUSTERS)


def scores_of(seed: int, *shape: int) -> np.ndarray:
    """Points from 0 to 4 of so many models, prompts or seeds on ten examples."""
    return np.random.default_rng(seed).integers(0, 5, (*shape, 10)).astype(float)


def times(count: int, draws: int, *seed: int) -> np.ndarray:
    return np.random.default_rng([*seed]).multinomial(count, np.full(count, 1 / count), draws)


def drawn_means(scores: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """(draws, models) means over examples that stand as often as their clusters are drawn; nan of none."""
    weights = counts[:, CLUSTERS]
    return np.array([[weighted_mean(row, weight) for row in scores] for weight in weights])


def weighted_mean(scores: np.ndarray, weights: np.ndarray) -> float:
    has = np.isfinite(scores) & (weights > 0)
    return float(np.average(scores[has], weights=weights[has])) if has.any() else np.nan


def test_paired_models():
    scores = scores_of(0, 3)
    sample = paired(scores, CLUSTERS, 20, 7, 11)
    assert sample.scores == pytest.approx(scores.mean(axis=1))
    assert sample.draws == pytest.approx(drawn_means(scores, times(6, 20, 7, 11)))
    assert (sample.examples, sample.trainings) == (11, False)
    expected = [[row[number == CLUSTERS].sum() / 10 for number in range(6)] for row in scores]
    assert sample.contributions == pytest.approx(np.array(expected))
    assert [*sample.differences] == [(0, 1), (0, 2), (1, 2)]
    for (first, second), difference in sample.differences.items():
        mean = clustered_mean(scores[first] - scores[second], CLUSTERS)
        assert (difference.value, difference.centre) == pytest.approx((mean.value, mean.value))
        assert difference.spread.standard_error == pytest.approx(mean.standard_error)
        assert difference.spread.freedoms == pytest.approx((mean.freedom,))
        assert difference.p == pytest.approx(compare(scores[first], scores[second], CLUSTERS).difference.p)
        assert difference.limit == np.inf
    without = paired(scores)
    assert without.draws.shape == (samples.DRAWS, 3)
    assert without.draws == pytest.approx(paired(scores, None, samples.DRAWS, 0, 0).draws)
    assert paired(scores, CLUSTERS, 20, [7, 2], 11).draws == pytest.approx(
        drawn_means(scores, times(6, 20, 7, 2, 11))
    )
    tested = paired(scores >= 2).differences[0, 1]
    assert tested.p == pytest.approx(compare(scores[0] >= 2, scores[1] >= 2).difference.p)


def test_models_under_prompts_like_these():
    scores = scores_of(1, 3, 4)
    scores[:, 0, :2] = np.nan
    sample = prompted(scores, CLUSTERS, 20, 7, 11)
    of_prompts = np.nanmean(scores, axis=2)
    assert sample.scores == pytest.approx(of_prompts.mean(axis=1))
    moved = (times(4, 20, 7, 3, 11) - 1) @ of_prompts.T / 4 * np.sqrt(4 / 3)
    of_prompt = [drawn_means(scores[:, prompt], times(6, 20, 7, 11)) for prompt in range(4)]
    assert sample.draws == pytest.approx(np.nanmean(of_prompt, axis=0) + moved)
    sizes = np.isfinite(scores[0]).sum(axis=1)
    expected = [
        [(np.nansum(rows[:, number == CLUSTERS], axis=1) / sizes).mean() for number in range(6)]
        for rows in scores
    ]
    assert sample.contributions == pytest.approx(np.array(expected))
    assert sample.examples == 11
    for (first, second), difference in sample.differences.items():
        pair = PromptPair.from_scores(scores[first], scores[second], CLUSTERS)
        value = of_prompts[first].mean() - of_prompts[second].mean()
        assert (difference.value, difference.centre) == pytest.approx((value, value))
        spread = pair.population.scaled(pair.scale)
        assert difference.spread.standard_error == pytest.approx(spread.standard_error)
        assert difference.p == pytest.approx(spread.p(value))
    assert prompted(scores).draws == pytest.approx(prompted(scores, None, samples.DRAWS, 0, 0).draws)
    assert prompted(scores).examples == 0


def test_of_one_prompt_and_of_what_does_not_vary_the_p_value_is_exact():
    for scores in (scores_of(2, 2, 1), np.stack([np.full((3, 10), 2.0), np.full((3, 10), 1.0)])):
        sample = prompted(scores, CLUSTERS, 20)
        by_example = scores.mean(axis=1)
        sums = [(by_example[0] - by_example[1])[number == CLUSTERS].sum() / 10 for number in range(6)]
        difference = sample.differences[0, 1]
        assert difference.p == pytest.approx(exchanged(sums))
        assert np.isnan(difference.interval(0.05)).all()
    alone = prompted(scores_of(2, 2, 1), CLUSTERS, 20, 7, 11)
    # a single prompt is drawn each time
    assert alone.draws == pytest.approx(drawn_means(scores_of(2, 2, 1)[:, 0], times(6, 20, 7, 11)))
    assert alone.differences[0, 1].spread.variances == (0.0,)


def test_models_of_several_trainings():
    seeds = [scores_of(3, 3), scores_of(4, 4), scores_of(5, 1)]
    sample = trained(seeds, CLUSTERS, 20, 7, 11)
    means = [scores.mean(axis=1) for scores in seeds]
    pooled = (means[0].var(ddof=1) * 2 + means[1].var(ddof=1) * 3) / 5
    assert sample.scores == pytest.approx([seed_means.mean() for seed_means in means])
    counts = times(6, 20, 7, 11)
    for place, scores in enumerate(seeds):
        draws = drawn_means(scores.mean(axis=0)[None], counts)[:, 0]
        if len(scores) == 1:
            draws += np.random.default_rng([7, 2, place]).normal(0, np.sqrt(pooled), 20)
        else:
            of_seeds = drawn_means(scores, counts)
            chosen = times(len(scores), 20, 7, 1, place)
            deviation = (of_seeds * chosen).sum(axis=1) / len(scores) - of_seeds.mean(axis=1)
            draws += deviation * np.sqrt(len(scores) / (len(scores) - 1))
        assert sample.draws[:, place] == pytest.approx(draws)
    for (first, second), difference in sample.differences.items():
        spread = seeds_spread(seeds[first], seeds[second], CLUSTERS, (pooled, 5))
        value = means[first].mean() - means[second].mean()
        assert (difference.value, difference.centre) == pytest.approx((value, value))
        assert difference.spread.variances == pytest.approx(spread.variances)
        assert difference.spread.freedoms == pytest.approx(spread.freedoms)
        assert difference.p == pytest.approx(spread.p(value))
    assert (sample.examples, sample.trainings) == (11, True)
    two_models = trained(seeds[:2], CLUSTERS, 20)
    assert two_models.differences[0, 1].spread == seeds_spread(*seeds[:2], CLUSTERS)
    assert trained(seeds).draws == pytest.approx(trained(seeds, None, samples.DRAWS, 0, 0).draws)
    assert trained(seeds).examples == 0
    once = [scores[:1] for scores in seeds]
    assert trained(once, CLUSTERS, 20, 7, 11).draws == pytest.approx(
        paired(np.concatenate(once), CLUSTERS, 20, 7, 11).draws
    )
    constant = trained([np.full((2, 10), 2.0), np.full((2, 10), 1.0)])
    assert constant.differences[0, 1].p == pytest.approx(exchanged(np.full(10, 0.1)))
    with pytest.raises(InputError) as error:
        trained([np.zeros((2, 3)), np.zeros((2, 4))])
    assert str(error.value) == "models have different numbers of examples; expected the same examples"


def test_flips_by_loops():
    cubes = [scores_of(6, 2, 3), scores_of(7, 3, 3), scores_of(6, 2, 3)]
    for cube in cubes:
        cube[:, 0, :2] = np.nan
    generator = np.random.default_rng(5)
    chosen = generator.multinomial(3, np.full(3, 1 / 3), 40)
    counts = generator.multinomial(6, np.full(6, 1 / 6), 40)[:, CLUSTERS]
    draws = []
    for cube in cubes:
        of_seeds = generator.multinomial(len(cube), np.full(len(cube), 1 / len(cube)), 40)
        draws.append(
            [
                sum(
                    of_seeds[draw, seed]
                    * chosen[draw, prompt]
                    * np.nan_to_num(weighted_mean(cube[seed, prompt], counts[draw]))
                    for seed in range(len(cube))
                    for prompt in range(3)
                )
                / (len(cube) * 3)
                for draw in range(40)
            ]
        )
    expected = [
        [np.mean(np.where(np.isclose(first, second), 0.5, np.less(first, second))) for second in draws]
        for first in draws
    ]
    assert flips(cubes, CLUSTERS, 40, 5) == pytest.approx(np.array(expected))
    assert flips(cubes) == pytest.approx(flips(cubes, None, samples.DRAWS, 0))


@pytest.mark.parametrize("shapes", [[(1, 2, 3), (1, 2, 4)], [(2, 3), (2, 3)], [(1, 3, 3), (1, 2, 3)]])
def test_flips_of_other_prompts_or_examples_are_an_error(shapes):
    with pytest.raises(InputError) as error:
        flips([np.zeros(shape) for shape in shapes])
    assert str(error.value) == (
        "models have different prompts or examples; expected arrays (seeds, same prompts, same examples)"
    )


def test_accuracies_of_a_leaderboard():
    sample = unpaired([0.7, 0.6, 0.2], [40, 50, 5], 30, 7)
    correct, count = np.array([28, 30, 1]), np.array([40, 50, 5])
    assert sample.scores.tolist() == [0.7, 0.6, 0.2]
    expected = np.random.default_rng(7).beta(correct + 1, count - correct + 1, (30, 3))
    assert sample.draws == pytest.approx(expected)
    centre = (correct + 1) / (count + 2)
    variance = centre * (1 - centre) / (count + 2)
    for (first, second), difference in sample.differences.items():
        middle, error = centre[first] - centre[second], np.sqrt(variance[first] + variance[second])
        assert difference.value == pytest.approx(sample.scores[first] - sample.scores[second])
        assert difference.centre == pytest.approx(middle)
        assert difference.spread.standard_error == pytest.approx(error)
        assert difference.p == pytest.approx(2 * stats.norm.sf(abs(middle) / error))
        assert difference.limit == 1.0
        low, high = difference.interval(0.05)
        reach = stats.norm.isf(0.05) * error
        assert (low, high) == pytest.approx((max(middle - reach, -1), min(middle + reach, 1)))
    assert sample.contributions.shape == (3, 0)
    assert unpaired([0.5, 0.6], 10).draws == pytest.approx(
        unpaired([0.5, 0.6], [10, 10], samples.DRAWS, 0).draws
    )
    assert unpaired([0.0, 1.0], 1).scores.tolist() == [0.0, 1.0]
    for wrong in (([0.5, 1.01], 10), ([-0.01, 0.5], 10), ([0.5, 0.5], [1, 0.5])):
        with pytest.raises(InputError) as error:
            unpaired(*wrong)
        assert str(error.value) == "expected accuracies in [0, 1], and at least 1 example for each"


@pytest.mark.parametrize("accuracies", [(0.7, 0.6), (0.6, 0.7), (0.7, 0.7), (1.0, 0.9), (0.1, 0.0)])
@pytest.mark.parametrize("count", [(40, 40), (40, 62), (8, 30), (300, 25)])
def test_rounded_accuracies_of_a_leaderboard(accuracies, count):
    """The p-value is the largest of all numbers of correct answers, and the interval contains theirs."""
    sizes = np.array(count)
    numbers = [
        [number for number in range(size + 1) if abs(number / size - value) <= 0.05 + 1e-9]
        for value, size in zip(accuracies, count, strict=True)
    ]
    limits = [(min(row), max(row)) for row in numbers]
    rounded = unpaired(accuracies, sizes, 300, correct_range=limits)
    possible = [unpaired(np.array(pair) / sizes, sizes, 2).difference(0, 1) for pair in product(*numbers)]
    signs = {np.sign(outcome.value) for outcome in possible}
    largest_p = 1.0 if len(signs) > 1 else max(outcome.p for outcome in possible)
    difference = rounded.difference(0, 1)
    # the interval's p-value is not monotone in the counts if the sizes differ and the scores hardly do
    assert difference.p > 0.5 if largest_p > 0.5 else difference.p == pytest.approx(largest_p)
    for tail in (0.025, 1e-6):
        of_possible = np.array([outcome.interval(tail) for outcome in possible])
        ends = of_possible[:, 0].min(), of_possible[:, 1].max()
        assert difference.interval(tail) == pytest.approx(ends)
        assert difference.reversed.interval(tail) == pytest.approx((-ends[1], -ends[0]))
    assert rounded.draws.mean(axis=0) == pytest.approx(
        [(sum(row) + 2) / 2 / (size + 2) for row, size in zip(limits, count, strict=True)], abs=0.02
    )


def test_intervals_end_where_differences_do():
    wide = Difference(0.5, 0.4, Spread((1.0,), (5.0,)), 0.5, limit=1.0)
    assert wide.interval(0.025) == (-1.0, 1.0)
    assert wide.reversed == Difference(-0.5, -0.4, Spread((1.0,), (5.0,)), 0.5, limit=1.0)
    assert wide._replace(limit=np.inf).interval(0.025) == pytest.approx(stats.t(5, 0.4).interval(0.95))
    assert np.isnan(wide._replace(spread=Spread((0.0,), (5.0,))).interval(0.025)).all()


def test_models_in_another_order():
    sample = trained([scores_of(3, 3), scores_of(4, 4), scores_of(5, 1)], CLUSTERS, 20, 7, 11)
    changed = sample.reordered([2, 0])
    assert changed.scores.tolist() == sample.scores[[2, 0]].tolist()
    assert changed.draws.tolist() == sample.draws[:, [2, 0]].tolist()
    assert changed.differences == {(0, 1): sample.differences[0, 2].reversed}
    assert changed.contributions.tolist() == sample.contributions[[2, 0]].tolist()
    assert (changed.examples, changed.trainings) == (11, True)
    assert sample.difference(2, 0).value == -sample.difference(0, 2).value


def tasks_of(kind: str, shared: bool) -> tuple[list[Sample], list[np.ndarray]]:
    """Three tasks, on the same examples and prompts or on others, and how prompts or trainings move each."""
    numbers = [5, 5, 5] if shared else [5, 6, 7]
    if kind == "paired":
        tasks = [paired(scores_of(n, 2), CLUSTERS, 200, 0, number) for n, number in enumerate(numbers)]
        return tasks, [np.zeros(0)] * 3
    if kind == "prompted":
        names = list("abcd") if shared else []
        tasks = [
            prompted(scores_of(n, 2, 4), CLUSTERS, 200, 0, number, prompt_names=names)
            for n, number in enumerate(numbers)
        ]
        means = [scores_of(n, 2, 4).mean(axis=2) for n in range(3)]
        return tasks, [of_task[0] - of_task[1] - (of_task[0] - of_task[1]).mean() for of_task in means]
    seeds = [[scores_of(n, 3), scores_of(n + 9, 2)] for n in range(3)]
    tasks = [trained(scores, CLUSTERS, 200, 0, n) for scores, n in zip(seeds, numbers, strict=True)]
    moved = [
        np.concatenate(
            [
                sign * (scores.mean(axis=1) - scores.mean()) / np.sqrt(len(scores) * (len(scores) - 1))
                for sign, scores in zip((1, -1), of_task, strict=True)
            ]
        )
        for of_task in seeds
    ]
    return tasks, moved


def variance_of_mean(parts: list[np.ndarray], variances: list[float], shared: bool) -> float:
    """The sum of all covariances of three tasks; they are correlated as their parts are."""
    total = 0.0
    for first, second in product(range(3), repeat=2):
        inner = parts[first] @ parts[second]
        size = np.sqrt((parts[first] @ parts[first]) * (parts[second] @ parts[second]))
        correlation = 1.0 if first == second else inner / size if shared else 0.0
        total += correlation * np.sqrt(variances[first] * variances[second])
    return total / 9


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("kind", ["paired", "prompted", "trained"])
def test_a_mean_over_tasks(kind, shared):
    tasks, of_repeats = tasks_of(kind, shared)
    mean = together(tasks)
    assert mean.scores == pytest.approx(np.mean([task.scores for task in tasks], axis=0))
    assert mean.draws == pytest.approx(np.mean([task.draws for task in tasks], axis=0))
    spreads = [task.differences[0, 1].spread for task in tasks]
    by_cluster = [task.contributions[0] - task.contributions[1] for task in tasks]
    moved = [part - task.weights * part.sum() for part, task in zip(by_cluster, tasks, strict=True)]
    over_examples = variance_of_mean(moved, [spread.variances[-1] for spread in spreads], shared)

    # of models with unequal numbers of trainings, of which each has a variance
    repeated = [sum(spread.variances[:-1]) for spread in spreads]
    assert {len(spread.variances) for spread in spreads} == {{"paired": 1, "prompted": 2, "trained": 3}[kind]}

    def freedom(variances: list[float], freedoms: list[float], together: bool) -> float:
        return min(freedoms) if together else satterthwaite(variances, freedoms)

    degrees = freedom(
        [spread.variances[-1] for spread in spreads], [spread.freedoms[-1] for spread in spreads], shared
    )
    expected = Spread((over_examples,), (degrees,))
    if kind != "paired":
        shared_first = shared or kind == "trained"
        over_repeats = variance_of_mean(of_repeats, repeated, shared_first)
        fewest = [min(spread.freedoms[:-1]) for spread in spreads]
        expected = Spread(
            (over_repeats, over_examples),
            (freedom(repeated, fewest, shared_first), degrees),
            sum(spread.overlap for spread in spreads) / 9,
        )
    difference = mean.differences[0, 1]
    assert difference.spread.variances == pytest.approx(expected.variances)
    assert difference.spread.freedoms == pytest.approx(expected.freedoms)
    assert difference.spread.overlap == pytest.approx(expected.overlap)
    value = mean.scores[0] - mean.scores[1]
    assert (difference.value, difference.centre) == pytest.approx((value, value))
    assert difference.p == pytest.approx(expected.p(value))
    contributions = [task.contributions / 3 for task in tasks]
    joined = sum(contributions) if shared else np.concatenate(contributions, axis=1)
    assert mean.contributions == pytest.approx(joined)
    assert (mean.examples, mean.trainings) == (0, False)


@pytest.mark.parametrize("names", [list("abcd"), ["a", "b", "x", "y"], list("dcba")])
def test_prompts_of_the_same_name_vary_together(names):
    """In one task and in another, each prompt moves the difference as far."""
    first = scores_of(1, 2, 4)
    tasks = [
        prompted(first, CLUSTERS, 200, 0, 1, prompt_names=list("abcd")),
        prompted(first, CLUSTERS, 200, 0, 2, prompt_names=names),
    ]
    alone, mean = tasks[0].difference(0, 1).spread, together(tasks).difference(0, 1).spread
    moved = first[0].mean(axis=1) - first[1].mean(axis=1)
    by_name = dict(zip(names, moved - moved.mean(), strict=True))
    pairs = zip("abcd", moved - moved.mean(), strict=True)
    correlation = (
        sum(by_name.get(name, 0.0) * value for name, value in pairs) / ((moved - moved.mean()) ** 2).sum()
    )
    assert mean.variances[0] == pytest.approx(alone.variances[0] * (1 + correlation) / 2)
    assert mean.freedoms[0] == alone.freedoms[0] == 3
    # other examples
    assert mean.variances[1] == pytest.approx(alone.variances[1] / 2)


def test_a_training_of_a_model_without_others_moves_all_tasks_alike():
    """How it varies is known from the other models only; so it counts as the same in all tasks."""
    seeds = [scores_of(1, 3), scores_of(2, 1), scores_of(3, 1)]
    tasks = [trained(seeds, CLUSTERS, 50, 0, number) for number in (1, 2)]
    alone, mean = (sample.difference(1, 2).spread for sample in (tasks[0], together(tasks)))
    assert mean.variances == pytest.approx((alone.variances[0], alone.variances[1] / 2))


def test_tasks_without_a_number_have_examples_of_their_own():
    tasks = [paired(scores_of(place, 2), CLUSTERS, 200, place) for place in range(3)]
    assert together(tasks).contributions.shape == (2, 18)


def test_tasks_of_other_models_have_no_mean():
    two, three = paired(scores_of(0, 2), None, 50), paired(scores_of(0, 3), None, 50)
    for tasks in ([], [two, three], [two, paired(scores_of(0, 2), None, 60)]):
        with pytest.raises(InputError, match="expected one task or more, with the same models"):
            together(tasks)


def test_a_task_without_variance_over_prompts_adds_no_degrees_of_freedom():
    single, several = (
        paired(scores_of(0, 2), CLUSTERS, 200, 0, 1),
        prompted(scores_of(1, 2, 4), CLUSTERS, 200, 0, 2),
    )
    spread = together([single, several]).differences[0, 1].spread
    assert spread.freedoms[0] == pytest.approx(several.differences[0, 1].spread.freedoms[0])


def test_a_mean_over_tasks_on_which_nothing_varies_is_exchanged():
    tasks = [paired([[1.0] * 10, [0.0] * 10], CLUSTERS, 50, 0, number) for number in (1, 2)]
    difference = together(tasks).differences[0, 1]
    assert (difference.value, difference.centre) == (1.0, 1.0)
    assert difference.spread.variances == (0.0,)
    sums = np.concatenate([SIZES, SIZES]) / 20
    assert difference.p == pytest.approx(exchanged(sums))


@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_pairs_have_one_width_in_standard_errors(confidence):
    names = ["a", "b", "c", "d"]
    sample = paired(np.random.default_rng(8).integers(0, 5, (4, 60)).astype(float), None, 500)
    table = pairs(sample, names, confidence)
    assert [*table.columns] == [*PAIRS]
    order = sorted(range(4), key=lambda place: -sample.scores[place])
    largest = np.zeros(500)
    for first, second in combinations(range(4), 2):
        deviations = sample.draws[:, first] - sample.draws[:, second]
        deviations -= sample.scores[first] - sample.scores[second]
        largest = np.maximum(largest, np.abs(deviations) / deviations.std(ddof=1))
    tail = stats.norm.sf(np.quantile(largest, confidence))
    for row, (first, second) in zip(table.to_dict("records"), combinations(order, 2), strict=True):
        difference = sample.difference(first, second)
        draws = sample.draws[:, first] - sample.draws[:, second]
        low, high = difference.interval(tail)
        assert (row["first"], row["second"]) == (names[first], names[second])
        assert row["difference"] == pytest.approx(difference.value)
        assert row["difference"] >= 0
        assert (row["low"], row["high"]) == pytest.approx((low, high))
        assert row["error"] == pytest.approx(difference.spread.standard_error)
        assert row["p"] == difference.p
        assert row["flips"] == pytest.approx(np.where(draws == 0, 0.5, draws < 0).mean())
    for method in ("holm", "bh"):
        assert table[method].tolist() == pytest.approx([*adjusted(table["p"], method)])


def test_one_pair_has_its_own_interval():
    sample = paired(scores_of(9, 2), CLUSTERS, 100)
    table = pairs(sample, ["a", "b"], 0.8)
    first, second = np.argsort(-sample.scores)
    assert table[["low", "high"]].iloc[0].tolist() == pytest.approx(
        sample.difference(first, second).interval(0.1)
    )
    assert pairs(sample, ["a", "b"])["low"][0] == pytest.approx(
        sample.difference(first, second).interval(0.025)[0]
    )


def test_equal_models_keep_their_order_and_flip_half_of_the_time():
    sample = paired([[1.0, 0, 1, 0], [1.0, 0, 1, 0], [1.0, 1, 1, 0]], None, 50)
    table = pairs(sample, ["a", "b", "c"])
    assert table[["first", "second"]].to_numpy().tolist() == [["c", "a"], ["c", "b"], ["a", "b"]]
    assert table["flips"].iloc[2] == 0.5
    assert ranks(sample, ["a", "b", "c"])["rank"].tolist() == [1, 2, 2]


def test_ranks_from_pairs_that_are_told_apart():
    generator = np.random.default_rng(10)
    scores = (generator.random((5, 300)) < np.array([0.2, 0.25, 0.5, 0.8, 0.85])[:, None]).astype(float)
    sample, names = paired(scores, None, 400), ["v", "w", "x", "y", "z"]
    table = ranks(sample, names, 0.9)
    assert [*table.columns] == [*RANKS]
    separated = pairs(sample, names, 0.9).query("low > 0")
    assert 0 < len(separated) < 10
    is_best = sample.draws == sample.draws.max(axis=1, keepdims=True)
    share = (is_best / is_best.sum(axis=1, keepdims=True)).mean(axis=0)
    for place, row in enumerate(table.to_dict("records")):
        number = names.index(row["model"])
        assert (row["rank"], row["score"]) == (place + 1, scores[number].mean())
        assert row["rank_low"] == 1 + (separated["second"] == row["model"]).sum()
        assert row["rank_high"] == 5 - (separated["first"] == row["model"]).sum()
        assert row["best"] == pytest.approx(share[number])
    for first, second in pairwise(table.to_dict("records")):
        together_in_one = bool(set(first["groups"]) & set(second["groups"]))
        differ = ((separated["first"] == first["model"]) & (separated["second"] == second["model"])).any()
        assert together_in_one != differ
    assert table["groups"].iloc[0].startswith("a")


def test_one_pair_is_ranked_by_its_test():
    scores = np.array([[1.0] * 14 + [0.0] * 6, [1.0] * 7 + [0.0] * 13])
    sample = paired(scores, None, 100)
    p = compare(*scores).difference.p
    assert 0.001 < p < 0.05
    for confidence, groups in ((1 - p * 0.99, ["a", "a"]), (1 - p * 1.01, ["a", "b"])):
        table = ranks(sample, ["x", "y"], confidence)
        assert table["groups"].tolist() == groups
        assert table["rank_high"].tolist() == ([1, 2] if groups == ["a", "b"] else [2, 2])


def test_a_model_that_may_have_any_rank_has_no_share():
    table = ranks(paired(scores_of(11, 3), CLUSTERS, 100), ["a", "b", "c"])
    assert table["best"].isna().all()
    assert set(table["groups"]) == {"a"}


def test_more_than_26_groups_have_letters_with_numbers():
    names = [f"m{place}" for place in range(60)]
    letters = many._letters(names, {*combinations(names, 2)})
    assert [letters[names[place]] for place in (0, 25, 26, 27, 51, 52)] == ["a", "z", "a1", "b1", "z1", "a2"]


@pytest.mark.parametrize(
    ("names", "scores", "words"),
    [
        (["a", "a"], [[1, 0, 1], [0, 0, 1]], "a, a"),
        (["a"], [[1, 0, 1]], "a"),
        (["a", "b", "a"], [[1, 0, 1], [0, 0, 1], [0, 1, 1]], "a, b, a"),
    ],
)
def test_names_are_told(names, scores, words):
    with pytest.raises(InputError) as error:
        pairs(paired(scores), names)
    assert str(error.value) == f"models are {words}; expected at least two, each with its own name"


@pytest.mark.parametrize(
    "scores", [np.zeros((2, 0)), np.zeros(3), np.full((2, 3), np.nan), np.zeros((1, 2, 3))]
)
def test_scores_that_are_no_table_are_told(scores):
    with pytest.raises(InputError) as error:
        paired(scores)
    shape = np.shape(scores)
    assert str(error.value) == f"scores have the shape {shape}; expected (models, examples), none missing"


def test_as_many_models_as_are_compared_at_once(monkeypatch):
    monkeypatch.setattr(samples, "MOST_MODELS", 3)
    assert len(pairs(unpaired([0.5, 0.6, 0.7], 10, 20), ["a", "b", "c"])) == 3
    with pytest.raises(InputError) as error:
        unpaired([0.5] * 4, 10)
    assert str(error.value) == "there are 4 models; expected at most 3 at once"
    assert isinstance(ranks(unpaired([0.5, 0.6, 0.7], 10, 20), ["a", "b", "c"]), pd.DataFrame)


def test_zeros_that_a_program_left_away_count(tmp_path):
    path = tmp_path / "board.csv"
    path.write_text("model,accuracy,n\nA,0.712,1000\nB,0.7,1000\nC,1,1000\nD,0.12345,1000\n")
    board = read_leaderboard(path)
    # no number of 1,000 examples rounds to 0.12345, so it keeps its own decimals
    assert board["lowest"].tolist() == [712, 700, 1000, 123]
    assert board["note"].iloc[0].endswith("(0.7 as 0.70000)")
    path.write_text("model,accuracy,n\nA,0.712,1000\nB,0.7,1000\nC,1,1000\n")
    board = read_leaderboard(path)
    assert board[["lowest", "highest"]].to_numpy().tolist() == [[712, 712], [700, 700], [1000, 1000]]
    assert board["note"].tolist() == [
        "1 score with fewer decimals than others, taken as rounded to as many decimals (0.7 as 0.700)",
        *("", ""),
    ]
    # another task may be rounded otherwise
    path.write_text("model,task,accuracy,n\nA,t,0.7,1000\nB,t,0.6,1000\nA,u,0.712,1000\nB,u,0.7,1000\n")
    board = read_leaderboard(path)
    assert board[["lowest", "highest"]].to_numpy().tolist() == [
        [650, 750],
        [550, 650],
        [712, 712],
        [700, 700],
    ]
    path.write_text("model,n,accuracy\na,100,0.7123\nb,1000,0.7\nc,1000,0.712\n")
    assert "71 correct answers assumed; 1 score with fewer" in read_leaderboard(path)["note"].iloc[0]
    path.write_text("model,accuracy,n\nA,0.7,1000\nB,0.6,1000\n")
    assert read_leaderboard(path)[["lowest", "highest"]].to_numpy().tolist() == [[650, 750], [550, 650]]


def test_models_in_another_order_are_the_same_models():
    scores = np.random.default_rng(0).random((3, 4, 20))
    names = [f"p{number}" for number in range(4)]
    sample, order = prompted(scores, prompt_names=names), [2, 0, 1]
    turned = sample.reordered(order)
    for first, second in combinations(range(3), 2):
        places = order[first], order[second]
        np.testing.assert_array_equal(turned.of_repeats(first, second), sample.of_repeats(*places))
        np.testing.assert_array_equal(turned.of_clusters(first, second), sample.of_clusters(*places))
        assert turned.difference(first, second) == sample.difference(*places)
    np.testing.assert_array_equal(turned.repeats, sample.repeats[order])


def test_what_tasks_share_varies_together():
    shared = Shared.by_name([["a", "b"], ["b", "c"]])
    alone, common = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    assert shared.variance_of_mean([common, alone], [4.0, 9.0]) == pytest.approx((2 + 3) ** 2 / 4)
    assert shared.variance_of_mean([common, -alone], [4.0, 9.0]) == pytest.approx((2 - 3) ** 2 / 4)
    assert shared.variance_of_mean([alone, common], [4.0, 9.0]) == pytest.approx((4 + 9) / 4)
    # of tasks that do not say what moves them, all varies by itself
    nothing = np.zeros(2)
    assert shared.variance_of_mean([nothing, nothing], [4.0, 9.0]) == pytest.approx((4 + 9) / 4)
    assert shared.variance_of_mean([common, nothing], [4.0, 9.0]) == pytest.approx((4 + 9) / 4)


def test_tasks_with_the_same_prompts_draw_them_alike():
    by_prompt = np.broadcast_to(np.random.default_rng(0).random((2, 5, 1)), (2, 5, 20))
    names = [f"p{number}" for number in range(5)]
    first, second, renamed = (
        prompted(by_prompt, examples=examples, prompt_names=prompt_names)
        for examples, prompt_names in ((1, names), (2, names), (1, [*names[1:], "q"]))
    )
    np.testing.assert_allclose(first.draws, second.draws)
    assert abs(first.draws - renamed.draws).max() > 0.01
    mean = together([first, second])
    assert mean.weights.sum() == pytest.approx(1.0)
    assert mean.weights.min() > 0


@pytest.mark.parametrize("sample", [paired, prompted, trained])
def test_no_interval_of_accuracies_reaches_beyond_1(sample):
    answers = np.array([[[1, 1, 1, 0], [1, 1, 0, 0]], [[0, 0, 0, 1], [0, 1, 0, 1]]], dtype=float)
    scores = answers[:, 0] if sample is paired else answers
    of_shares, of_points = (sample(unit * scores, [0, 0, 1, 1]) for unit in (1, 100))
    for sampled in (of_shares, together([of_shares, of_shares])):
        (row,) = pairs(sampled, ["a", "b"]).to_dict("records")
        assert row["low"] >= -1
        assert row["high"] == 1
    assert pairs(of_points, ["a", "b"])["high"].item() > 100


@pytest.mark.parametrize("names", [["a"] * 4, ["a", "b", "c"], ["a", "b", "c", "c"]])
def test_each_prompt_has_a_name_of_its_own(names):
    different = len({*names})
    message = f"{len(names)} prompt_names for 4 prompts, {different} of them different; expected a name of"
    with pytest.raises(InputError, match=message):
        prompted(np.zeros((2, 4, 5)), prompt_names=names)
    numbered = prompted(np.zeros((2, 4, 5)), draws=20, prompt_names=range(4))
    assert numbered.repeat_names == ("0", "1", "2", "3")


def test_a_seed_may_be_a_number_of_numpy():
    scores = np.random.default_rng(0).random((2, 20))
    first, second = (paired(scores, draws=50, seed=seed).draws for seed in (3, np.int64(3)))
    assert first.tolist() == second.tolist()
