"""Models that were trained several times: against other packages' tests, and by simulation."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from abovechance.compare.components import variance_components
from abovechance.compare.many import flips, pairs, ranks
from abovechance.compare.responses import arrange
from abovechance.compare.samples import paired, trained
from abovechance.compare.seeds import over_seeds, seeds_spread
from abovechance.compare.study import as_trainings, of_seeds, of_study
from abovechance.compare.two_models import compare
from abovechance.core.errors import InputError
from abovechance.core.estimates import (
    Spread,
    clustered_mean,
    clustered_variance,
    interaction,
    intraclass,
    satterthwaite,
)
from abovechance.study.series import compared_as, last_checkpoints


def simulated(seed: int, counts=(5, 5), deviation=0.1, examples=200) -> list[np.ndarray]:
    """Two models that are right on the same examples more often, and alike but for their seeds."""
    generator = np.random.default_rng(seed)
    hard = generator.normal(size=examples)
    return [
        (
            generator.normal(size=(count, examples))
            + hard
            + generator.normal(size=(count, 1)) * 4 * deviation
            > 0
        ).astype(float)
        for count in counts
    ]


def test_seeds_alone_are_welchs_test():
    """Where a seed has one score on all examples, these say nothing, but for a share of 1 / examples."""
    first, second = np.array([0.5, 0.6, 0.55, 0.7]), np.array([0.4, 0.45, 0.5, 0.47])
    comparison = over_seeds(
        np.repeat(first[:, None], 10_000, axis=1), np.repeat(second[:, None], 10_000, axis=1)
    )
    welch = stats.ttest_ind(first, second, equal_var=False)
    interval = welch.confidence_interval(0.95)
    assert comparison.difference.p == pytest.approx(welch.pvalue, rel=1e-3)
    assert (comparison.difference.low, comparison.difference.high) == pytest.approx(
        (interval.low, interval.high), rel=1e-3
    )
    pooled = np.sqrt((3 * first.var(ddof=1) + 3 * second.var(ddof=1)) / 6)
    assert comparison.deviation == pytest.approx(pooled)


def test_one_seed_each_is_the_paired_t_test():
    first, second = (rows[0] for rows in simulated(1, (1, 1)))
    comparison, student = over_seeds(first, second), clustered_mean(first - second)
    assert comparison.difference.standard_error == pytest.approx(student.standard_error)
    assert (comparison.difference.low, comparison.difference.high) == pytest.approx(
        (student.low, student.high)
    )
    assert comparison.difference.p == pytest.approx(stats.ttest_rel(first, second).pvalue)
    assert np.isnan(comparison.deviation)


def test_clusters_are_drawn_as_wholes():
    first, second = simulated(2, (3, 3), examples=40)
    twice = over_seeds(np.repeat(first, 2, axis=1), np.repeat(second, 2, axis=1), np.repeat(np.arange(40), 2))
    once = over_seeds(first, second)
    assert twice.difference.standard_error == pytest.approx(once.difference.standard_error)
    alone = over_seeds(np.repeat(first[0], 2), np.repeat(second[0], 2))
    assert alone.difference.standard_error < 0.8 * over_seeds(first[0], second[0]).difference.standard_error


def test_its_error_one_in_twenty_is_about_that():
    wrong = [
        over_seeds(*simulated(seed, deviation=0.05, examples=100)).difference.p <= 0.05 for seed in range(400)
    ]
    assert 0.02 <= np.mean(wrong) <= 0.085
    # which the exchange of models within examples is not, since it takes these trainings as they are
    alone = []
    for seed in range(100):
        first, second = simulated(seed, deviation=0.05, examples=100)
        alone.append(compare(first.mean(axis=0), second.mean(axis=0)).difference.p <= 0.05)
    assert np.mean(alone) > 0.15


@pytest.mark.thorough
@pytest.mark.parametrize(("seeds", "models"), [(2, 3), (3, 5)])
def test_models_with_few_seeds_are_seldom_told_apart_wrongly(seeds, models):
    wrong = 0
    for seed in range(120):
        sample = trained(simulated(seed, (seeds,) * models, deviation=0.075, examples=100), draws=300)
        wrong += (pairs(sample, [*"abcde"[:models]])["low"] > 0).any()
    assert wrong / 120 <= 0.1


def test_what_never_varies_has_no_interval():
    for first, second, clusters in (
        ([[1.0]], [[0.0]], None),
        ([[1, 1]], [[0, 0]], None),
        ([[1, 1, 1]], [[0, 0, 1]], [0, 0, 0]),
    ):
        comparison = over_seeds(first, second, clusters)
        assert np.isnan(
            [comparison.difference.low, comparison.difference.high, comparison.difference.p]
        ).all()


@pytest.mark.thorough
def test_a_model_with_one_seed_varies_as_the_other_does():
    wrong, ranked = [], []
    for seed in range(400):
        models = simulated(seed, (6, 1), deviation=0.05, examples=100)
        wrong.append(over_seeds(*models).difference.p <= 0.05)
        low, high = pairs(trained(models, draws=300), ["a", "b"])[["low", "high"]].iloc[0]
        ranked.append(low > 0 or high < 0)
    assert 0.02 <= np.mean(wrong) <= 0.085
    assert np.mean(ranked) <= 0.12


@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(1, 4))
def test_exchanging_the_models_turns_the_difference(seed, item, another):
    first, second = simulated(seed, (item, another), examples=20)
    present, back = over_seeds(first, second), over_seeds(second, first)
    assert present.difference.value == pytest.approx(-back.difference.value)
    assert (present.difference.low, present.difference.high) == pytest.approx(
        (-back.difference.high, -back.difference.low)
    )
    assert present.difference.p == pytest.approx(back.difference.p, nan_ok=True)


def test_models_with_one_seed_are_ranked_as_ever():
    scores = np.vstack([rows[0] for rows in simulated(3, (1, 1))])
    pd.testing.assert_frame_equal(pairs(trained([*scores]), ["a", "b"]), pairs(paired(scores), ["a", "b"]))


def test_seeds_make_ranks_less_sure():
    models = simulated(4, (4, 4), deviation=0.15)
    means = [rows.mean(axis=0) for rows in models]
    with_seeds, without = (pairs(sample, ["a", "b"]) for sample in (trained(models), paired(means)))
    assert with_seeds["difference"][0] == pytest.approx(without["difference"][0])
    assert with_seeds["error"][0] > 1.5 * without["error"][0]
    assert with_seeds["flips"][0] > without["flips"][0]
    first, second = models if means[0].mean() >= means[1].mean() else models[::-1]
    comparison = over_seeds(first, second)
    assert with_seeds["error"][0] == pytest.approx(comparison.difference.standard_error, rel=0.15)
    assert with_seeds["p"][0] == pytest.approx(comparison.difference.p)
    assert set(ranks(trained(models), ["a", "b"])["groups"]) == {"a"}


ENTRIES = {
    f"{name}-{seed}-{step}": {"series": {"name": name, "seed": seed, "checkpoint": step}}
    for name in ("one", "other")
    for seed in (1, 2)
    for step in (0, 10)
}


def test_of_series_the_last_checkpoints_are_compared():
    assert last_checkpoints(ENTRIES) == {
        "one-1-10": ("one", 1),
        "one-2-10": ("one", 2),
        "other-1-10": ("other", 1),
        "other-2-10": ("other", 2),
    }
    assert compared_as([*ENTRIES, "alone"], ENTRIES) == last_checkpoints(ENTRIES) | {"alone": ("alone", 0)}
    item = [name for name in ENTRIES if name.startswith("one")]
    assert compared_as(item, ENTRIES) == {"one-1-10": ("one-1-10", 0), "one-2-10": ("one-2-10", 0)}
    first = [name for name in item if "-1-" in name]
    assert compared_as(first, ENTRIES) == {"one-1-0": ("one-1-0", 0), "one-1-10": ("one-1-10", 0)}
    assert compared_as(["a", "b"], {}) == {"a": ("a", 0), "b": ("b", 0)}


def test_the_last_checkpoint_is_one_that_all_seeds_have():
    more = ENTRIES | {"one-1-99": {"series": {"name": "one", "seed": 1, "checkpoint": 99}}}
    assert "one-1-99" not in last_checkpoints(more)
    assert "one-2-10" in last_checkpoints(more)
    separate = {
        "m1": {"series": {"name": "m", "seed": 1, "checkpoint": 5}},
        "m2": {"series": {"name": "m", "seed": 2, "checkpoint": 6}},
    }
    assert last_checkpoints(separate) == {}
    assert compared_as([*separate], separate) == {"m1": ("m1", 0), "m2": ("m2", 0)}


@pytest.fixture
def answered() -> pd.DataFrame:
    """Two series of two seeds, two prompts each, at two checkpoints."""
    generator = np.random.default_rng(5)
    scores = generator.random((len(ENTRIES), 2, 30)) < 0.6
    model, prompt, example = (axis.ravel() for axis in np.indices(scores.shape))
    return pd.DataFrame(
        {
            "model": np.array([*ENTRIES])[model],
            "prompt": prompt,
            "example": [f"e{number}" for number in example],
            "score": scores.ravel().astype(float),
        }
    ).assign(task="t", shots=1)


def test_seeds_are_kept_apart_and_their_mean_is_the_models_score(answered):
    (responses,) = arrange(as_trainings(answered, compared_as([*ENTRIES], ENTRIES)))
    assert responses.models == ["one", "other"]
    assert responses.several_seeds
    assert [rows.shape for rows in responses.seeds] == [(2, 2, 30)] * 2
    rows = answered[answered["model"].isin(["one-1-10", "one-2-10"])]
    assert responses.by_example[0].mean() == pytest.approx(rows["score"].mean())
    by_seed = rows.groupby("model")["score"].mean()
    assert responses.by_seed[0].mean(axis=1) == pytest.approx(by_seed.to_numpy())


def test_a_studys_ranks_and_components_have_seeds_in_them(answered):
    compared = compared_as([*ENTRIES], ENTRIES)
    by_name = {schema.name: table for schema, table in of_study(arrange(as_trainings(answered, compared)))}
    assert set(by_name["models"]["model"]) == {"one", "other"}
    assert len(by_name["model_pairs"]) == len(by_name["two_models"]) == 1
    assert (
        by_name["models"]["about"][0]
        == "for training runs and examples like these, under these 2 prompts only"
    )
    by_name = of_seeds(answered.rename(columns={"score": "correct"}), last_checkpoints(ENTRIES))
    rows = answered[answered["model"].isin(["one-1-10", "one-2-10"])]
    cube = rows["score"].to_numpy().reshape(2, 2, 30)
    expected = variance_components(cube, ["seeds", "prompts", "examples"])
    assert by_name[by_name["model"] == "one"]["variance"].tolist() == pytest.approx(
        expected["variance"].tolist()
    )
    assert set(by_name["model"]) == {"one", "other"}


def test_orders_flip_more_often_where_prompts_and_seeds_are_drawn_too():
    generator = np.random.default_rng(6)
    prompts = generator.normal(scale=0.5, size=(1, 8, 1))
    # prompts and seeds that suit one model do not suit the other
    cubes = [
        (
            generator.normal(size=(3, 8, 100)) + sign * prompts + generator.normal(scale=0.5, size=(3, 1, 1))
            > 0
        )
        * 1.0
        for sign in (1, -1)
    ]
    means = [cube.mean() for cube in cubes]
    first, second = (0, 1) if means[0] > means[1] else (1, 0)
    flipped = flips(cubes)
    alone = pairs(paired([cube.mean(axis=(0, 1)) for cube in cubes]), ["a", "b"])["flips"][0]
    assert flipped[first, second] > alone + 0.05
    assert flipped + flipped.T == pytest.approx(np.ones((2, 2)))


def test_with_one_prompt_and_one_seed_flips_are_those_examples():
    first, second = (np.random.default_rng(7).random((2, 60)) < 0.6) * 1.0
    flipped = flips([first[None, None], second[None, None]], draws=20_000)
    table = pairs(paired([first, second], draws=20_000), ["a", "b"])
    place = (0, 1) if table["first"][0] == "a" else (1, 0)
    assert flipped[place] == pytest.approx(table["flips"][0], abs=0.015)


def test_a_prompt_is_not_counted_on_its_own_demonstrations():
    cubes = [np.ones((1, 2, 10)), np.zeros((1, 2, 10))]
    for cube in cubes:
        cube[:, 0, :3] = np.nan
    assert flips(cubes)[0, 1] == 0


CLUSTERS = np.array([0, 0, 0, 1, 1, 2, 3, 3, 4, 4])


def points(seed: int, seeds: int) -> np.ndarray:
    """(seeds, examples) points from 0 to 4."""
    return np.random.default_rng(seed).integers(0, 5, (seeds, 10)).astype(float)


def moved(scores: np.ndarray) -> np.ndarray:
    """(seeds, clusters) by how much each cluster of a seed, if it is drawn, moves the model's mean."""
    return np.array(
        [
            [(row[number == CLUSTERS] - scores.mean()).sum() / scores.size for number in range(5)]
            for row in scores
        ]
    )


@pytest.mark.parametrize("counts", [(3, 4), (4, 3), (3, 3), (1, 3), (4, 1), (1, 1)])
def test_its_variance_is_that_of_seeds_and_of_examples_by_loops(counts):
    first, second = points(0, counts[0]), points(1, counts[1])
    comparison = over_seeds(first, second, CLUSTERS, 0.9)
    parts = [moved(first), moved(second)]
    over_examples, freedom = clustered_variance(
        parts[0].sum(axis=0) - parts[1].sum(axis=0),
        np.bincount(CLUSTERS),
        intraclass(first.mean(axis=0) - second.mean(axis=0), CLUSTERS),
    )
    # of a model's mean over seeds, on these examples
    variances = [
        scores.mean(axis=1).var(ddof=1) / len(scores) for scores in (first, second) if len(scores) > 1
    ]
    fewest = [count - 1 for count in counts if count > 1]
    if len(variances) == 1:
        variances = [variances[0] * (1 + max(counts))]
    sizes = np.bincount(CLUSTERS)
    overlap = sum(interaction(part, np.tile(sizes, (len(part), 1))) for part in parts if len(part) > 1)
    overlap *= 1 + max(counts) if len(fewest) == 1 else 1
    overlap = min(overlap, sum(variances), over_examples)
    if counts == (3, 3):
        terms, freedoms = (sum(variances),), (max(satterthwaite(variances, fewest), 2),)
    else:
        terms, freedoms = tuple(variances or [0.0]), tuple(fewest or [1])
    spread = Spread((*terms, over_examples), (*freedoms, freedom), overlap)
    expected = spread.estimate(first.mean() - second.mean(), 0.9)
    assert comparison.difference[:6] == pytest.approx(expected[:6])
    assert comparison.difference[6:] == (10, 5, 0.9, "Student")
    assert (comparison.first_seeds, comparison.second_seeds) == counts
    squares = [((scores.mean(axis=1) - scores.mean()) ** 2).sum() for scores in (first, second)]
    pooled = np.sqrt(sum(squares) / sum(fewest)) if fewest else np.nan
    assert comparison.deviation == pytest.approx(pooled, nan_ok=True)
    assert "deviation" in comparison._repr_html_()


def test_the_variance_of_all_models_is_used_unless_two_vary_more():
    first, second = points(0, 3) / 4, points(1, 3) / 4
    alone = seeds_spread(first, second, CLUSTERS)
    for degrees in (12, 7):
        limit = stats.f(alone.freedoms[0], degrees).ppf(0.95)
        for factor, more in ((0.999, True), (1.001, False)):
            # two models vary ``limit`` times as much as all, and a little more or less
            pooled = factor * alone.variances[0] / limit
            spread = seeds_spread(first, second, CLUSTERS, (pooled / (2 / 3), degrees))
            expected = alone.freedoms if more else (degrees, alone.freedoms[1])
            assert spread.freedoms == pytest.approx(expected)
            assert spread.variances == pytest.approx(alone.variances)
            assert spread.overlap == alone.overlap
    larger = seeds_spread(first, second, CLUSTERS, (1.0, 12))
    assert larger.variances == pytest.approx((2 / 3, alone.variances[1]))
    nothing = seeds_spread(first, second, CLUSTERS, (0.0, 12))
    assert nothing.variances == pytest.approx(alone.variances)
    assert nothing.freedoms == (12, alone.freedoms[1])


def test_the_variance_of_all_models_is_one_term_also_for_unequal_numbers_of_seeds():
    first, second = points(0, 3) / 4, points(1, 4) / 4
    alone = seeds_spread(first, second, CLUSTERS)
    assert alone.freedoms[:2] == (2, 3)
    pooled = seeds_spread(first, second, CLUSTERS, (1.0, 12))
    assert pooled.variances == pytest.approx((1 / 3 + 1 / 4, alone.variances[2]))
    assert pooled.freedoms == (12, alone.freedoms[2])
    total, degrees = sum(alone.variances[:2]), satterthwaite(alone.variances[:2], (2, 3))
    limit = stats.f(degrees, 12).ppf(0.95)
    for factor, terms in ((0.999, 3), (1.001, 2)):
        variance = factor * total / limit / (1 / 3 + 1 / 4)
        assert len(seeds_spread(first, second, CLUSTERS, (variance, 12)).variances) == terms


@pytest.mark.parametrize("counts", [(2, 2), (2, 3), (2, 10), (3, 10), (5, 5)])
@pytest.mark.parametrize("deviations", [(0.05, 0.05), (0.1, 0.05), (0.1, 0.0)])
def test_intervals_over_few_seeds_cover(counts, deviations):
    """With Satterthwaite's freedom of the sum, 10 % of 95% intervals over 2 and 10 seeds missed."""
    generator = np.random.default_rng(0)
    missed = np.zeros(2)
    for _ in range(1500):
        scores = [
            generator.normal(0, 0.2, (count, 60)) + generator.normal(0, deviation, (count, 1))
            for count, deviation in zip(counts, deviations, strict=True)
        ]
        spread = seeds_spread(*scores)
        difference = abs(scores[0].mean() - scores[1].mean())
        missed += [difference > spread.reach(tail) for tail in (0.025, 0.005)]
    assert (missed <= stats.binom(1500, [0.053, 0.016]).ppf(0.999)).all()


@pytest.mark.parametrize("counts", [(10, 10), (10, 9), (5, 4)])
def test_intervals_cover_if_examples_differ_in_how_hard_they_are(counts):
    """Intervals missed 13 % of differences when the difficulty of examples was taken from the variance."""
    generator = np.random.default_rng(1)
    missed = 0
    for _ in range(600):
        hard = generator.normal(size=60)
        scores = [
            hard
            + generator.normal(0, 0.3, 60)
            + generator.normal(0, 0.1, (count, 1))
            + generator.normal(0, 0.1, (count, 60))
            for count in counts
        ]
        spread = seeds_spread(*scores)
        missed += abs(scores[0].mean() - scores[1].mean()) > spread.reach(0.025)
    assert missed <= stats.binom(600, 0.05).ppf(0.999)


def test_with_one_seed_each_the_examples_alone_vary():
    spread = seeds_spread(points(0, 1), points(1, 1))
    assert spread.variances[0] == spread.overlap == 0
    assert spread.freedoms[0] == 1
    assert seeds_spread(np.ones((2, 1)), np.zeros((2, 1))).freedoms == (1, 1)


@pytest.mark.parametrize(
    ("first", "second"), [((2, 3), (2, 4)), ((1, 2, 3), (2, 2)), ((2, 2), (1, 2, 3)), ((2, 0), (2, 0))]
)
def test_scores_of_other_shapes_are_told(first, second):
    with pytest.raises(InputError) as error:
        over_seeds(np.zeros(first), np.zeros(second))
    expected = "expected (seeds, examples), with the same examples for both"
    assert str(error.value) == f"scores of the shapes {first} and {second}; {expected}"
    with pytest.raises(InputError) as error:
        over_seeds([[1.0, np.inf]], [[1.0, 1.0]])
    assert str(error.value) == "a score is missing; expected all examples of all seeds"


def test_no_difference_of_accuracies_over_seeds_is_above_one():
    first, second = np.array([[1.0, 1, 0, 1], [0, 1, 0, 1]]), np.array([[0.0, 0, 0, 1], [0, 0, 1, 0]])
    difference = over_seeds(first, second).difference
    assert (difference.low, difference.high) == (-1, 1)
    assert over_seeds(100 * first, 100 * second).difference.high > 200


def test_seeds_and_examples_that_do_not_vary_have_no_interval_whatever_their_rounding():
    constant = np.full((3, 7), 0.7), np.full((3, 7), 0.1)
    assert over_seeds(*constant).difference.standard_error == 0
    assert np.isnan(over_seeds(*constant).difference.low)
    expected = trained([np.ones((3, 7)), np.zeros((3, 7))]).differences[0, 1].p
    assert trained(constant).differences[0, 1].p == pytest.approx(expected)
    for count in range(3, 40):
        answers = (np.arange(count) % 3 == 0).astype(float)
        of_seeds_alike = np.stack([answers] * 3)
        difference = over_seeds(of_seeds_alike, of_seeds_alike).difference
        assert (difference.value, difference.standard_error) == (0, 0), count
        assert np.isnan(difference.low)


@pytest.mark.parametrize("shared", [0.0, 1e6, 5e11])
def test_a_large_score_that_all_seeds_share_changes_no_test(shared):
    generator = np.random.default_rng(5)
    first, second = (
        generator.normal(size=(3, 40)) + generator.normal(0, 0.5, (3, 1)) + mean for mean in (50.3, 50)
    )
    column = np.full((3, 1), shared)
    with_it = over_seeds(np.hstack([first, column]), np.hstack([second, column])).difference
    assert with_it.p == pytest.approx(over_seeds(first, second).difference.p, abs=0.03)
    sample = trained([np.hstack([first, column]), np.hstack([second, column])])
    assert sample.differences[0, 1].p == pytest.approx(with_it.p, abs=0.03)
