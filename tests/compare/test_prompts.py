"""Two models under several prompts, by loops over prompts, clusters and halves."""

import warnings
from collections.abc import Iterator

import numpy as np
import pytest

from abovechance.compare import prompts
from abovechance.compare.prompts import over_prompts
from abovechance.core.errors import InputError
from abovechance.core.estimates import Estimate, Spread, clustered_variance, interaction, intraclass, student

CLUSTERS = np.array([0, 0, 0, 1, 1, 2, 3, 3, 4, 4, 5, 6, 6, 6, 7])
NUMBERS = range(8)


@pytest.fixture
def scores() -> np.ndarray:
    """(models, prompts, examples) points from 0 to 5; none of a prompt on its demonstrations."""
    points = np.random.default_rng(0).integers(0, 6, (2, 4, 15)).astype(float)
    points[0] = np.maximum(points[0], 1)
    points[:, 0, :3] = points[:, 2, 5] = np.nan
    return points


def by_example(scores: np.ndarray) -> np.ndarray:
    """The mean difference of an example over the prompts that have it."""
    return np.nanmean(scores[0] - scores[1], axis=0)


def moved(scores: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """By how much each cluster, if it is drawn, moves a prompt's mean over the chosen examples."""
    mean = np.nanmean(scores[chosen])
    is_evaluated = np.isfinite(scores) & chosen
    return np.array(
        [
            np.sum(scores[is_evaluated & (number == CLUSTERS)] - mean) / is_evaluated.sum()
            for number in NUMBERS
        ]
    )


def assert_close(computed: Estimate, expected: Estimate) -> None:
    assert computed[:6] == pytest.approx(expected[:6])
    assert (computed.confidence, computed.method) == (expected.confidence, expected.method)
    assert (computed.examples, computed.clusters) == (15, 8)


def weights_of(rows: np.ndarray) -> np.ndarray:
    """The weight of each cluster if every row counts alike, whichever examples it has."""
    return np.mean(
        [
            [np.isfinite(row[number == CLUSTERS]).sum() / np.isfinite(row).sum() for number in NUMBERS]
            for row in rows
        ],
        axis=0,
    )


def test_the_mean_over_these_prompts_varies_with_the_examples(scores):
    comparison = over_prompts(*scores, CLUSTERS, 0.9)
    everywhere = np.ones(15, dtype=bool)
    differences = scores[0] - scores[1]
    residuals = np.mean([moved(row, everywhere) for row in differences], axis=0)
    correlation = intraclass(by_example(scores), CLUSTERS)
    variance, freedom = clustered_variance(
        residuals, np.bincount(CLUSTERS), correlation, weights_of(differences)
    )
    value = np.mean([np.nanmean(row) for row in differences])
    assert_close(comparison.mean, student(value, np.sqrt(variance), freedom, 0.9))
    assert (comparison.prompts, comparison.examples) == (4, 15)


def test_for_similar_prompts_it_varies_with_the_prompts_too(scores):
    population = over_prompts(*scores, CLUSTERS, 0.9).population
    differences = scores[0] - scores[1]
    value = np.mean([np.nanmean(row) for row in differences])
    is_evaluated = np.isfinite(differences)
    residuals = np.array(
        [
            [np.nansum(np.where(number == CLUSTERS, row - value, 0)) / (4 * count) for number in NUMBERS]
            for row, count in zip(differences, is_evaluated.sum(axis=1), strict=True)
        ]
    )
    correlation = intraclass(by_example(scores), CLUSTERS)
    variance, freedom = clustered_variance(
        residuals.sum(axis=0), np.bincount(CLUSTERS), correlation, weights_of(differences)
    )
    over_prompts_alone = 4 / 3 * (residuals.sum(axis=1) ** 2).sum()
    sizes = np.array([[has[number == CLUSTERS].sum() for number in NUMBERS] for has in is_evaluated])
    overlap = min(interaction(residuals, sizes), over_prompts_alone, variance)
    assert 0 < overlap < (residuals**2).sum()
    spread = Spread((over_prompts_alone, variance), (3, freedom), overlap)
    assert_close(population, spread.estimate(value, 0.9))


def halves(seed: int) -> Iterator[np.ndarray]:
    """Which examples are scored, of each split and each of its halves."""
    generator = np.random.default_rng(seed)
    for _ in range(prompts.PARTITIONS):
        half = generator.permutation(8) % 2
        yield from (np.isin(CLUSTERS, np.flatnonzero(half == number)) for number in (0, 1))


def test_the_best_prompts_are_chosen_on_one_half_and_scored_on_the_other(scores):
    differences, variances, freedoms = [], [], []
    for scored in halves(3):
        value, residuals, weights, possible = np.zeros(2), np.zeros((2, 8)), np.zeros((2, 8)), True
        for model, rows in enumerate(scores):
            means = [np.nanmean(row[~scored]) if np.isfinite(row[~scored]).any() else -np.inf for row in rows]
            best = np.flatnonzero(np.isclose(means, max(means), rtol=0, atol=1e-12))
            possible &= all(np.isfinite(rows[prompt][scored]).any() for prompt in best)
            if possible:
                value[model] = np.mean([np.nanmean(rows[prompt][scored]) for prompt in best])
                residuals[model] = np.mean([moved(rows[prompt], scored) for prompt in best], axis=0)
                weights[model] = weights_of(np.where(scored, rows[best], np.nan))
        if possible:
            inside = np.unique(CLUSTERS[scored])
            variance, freedom = clustered_variance(
                (residuals[0] - residuals[1])[inside],
                np.bincount(CLUSTERS)[inside],
                intraclass(by_example(scores), CLUSTERS),
                np.mean([weights[model] for model in (0, 1)], axis=0)[inside],
            )
            differences.append(value[0] - value[1])
            variances.append(variance)
            freedoms.append(freedom)
    assert len(differences) > 20
    error = np.sqrt(np.mean(variances))
    assert_close(
        over_prompts(*scores, CLUSTERS, 0.9, 3).best,
        student(np.mean(differences), error, np.mean(freedoms), 0.9),
    )


def test_a_best_prompt_with_few_examples_has_an_interval():
    """In some halves it has a single example, which does not show how others vary."""
    generator = np.random.default_rng(0)
    scores = np.full((2, 3, 60), np.nan)
    scores[:, 1:] = generator.random((2, 2, 60)) < 0.4
    scores[:, 0, :4] = [[1, 1, 1, 1], [1, 1, 1, 0]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        best = over_prompts(*scores).best
    assert best.low < best.value < best.high
    assert 0 < best.p < 1


def test_a_half_with_one_example_of_the_best_prompt_does_not_count():
    """The first prompt is the best where it has examples, at most one in each half; all others are 0."""
    scores = np.full((2, 3, 40), np.nan)
    scores[:, 1:] = 0.0
    scores[:, 0, :2] = [[1, 1], [1, 0.5]]
    assert over_prompts(*scores).best.value == 0


def test_equally_good_prompts_count_with_their_mean():
    first = np.array([[1.0, 1, 1, 1, 0, 0, 1, 1], [1, 1, 1, 1, 1, 1, 0, 0]])
    comparison = over_prompts(np.vstack([first, first]), np.zeros((4, 8)), None, 0.9)
    assert comparison.best[:6] == pytest.approx(over_prompts(first, np.zeros((2, 8)), None, 0.9).best[:6])


def test_a_split_where_the_best_prompt_has_no_example_left_is_left_out():
    # the first prompt is the best where it has its only example, which the other half then lacks
    first = np.array([[1.0, np.nan, np.nan, np.nan], [0.5, 0.25, 0.25, 0.25]])
    best = over_prompts(first, np.where(np.isnan(first), np.nan, 0.0), confidence=0.9).best
    assert best.value == pytest.approx(np.mean([0.5, 0.25]))
    assert (best.confidence, best.examples, best.clusters) == (0.9, 4, 4)


def test_where_no_split_is_left_there_is_no_best():
    # each prompt has one example of its own: on the half where it is chosen, or on the one where it is scored
    first = np.array([[1.0, np.nan], [np.nan, 1.0]])
    best = over_prompts(first, first - 1, confidence=0.9).best
    assert np.isnan([best.value, best.low, best.high, best.p]).all()
    assert (best.confidence, best.examples, best.clusters) == (0.9, 2, 2)


def test_a_single_prompt_says_nothing_of_similar_ones():
    generator = np.random.default_rng(1)
    first, second = generator.random((2, 1, 20))
    comparison = over_prompts(first, second, None, 0.9)
    expected = Estimate(comparison.mean.value, examples=20, clusters=20, confidence=0.9)
    assert comparison.population[:-1] == pytest.approx(expected[:-1], nan_ok=True)


def test_what_does_not_vary_is_exchanged():
    comparison = over_prompts(np.full((2, 6), 3.0), np.full((2, 6), 1.0), None, 0.9)
    assert comparison.mean.value == pytest.approx(2)
    assert (comparison.mean.p, comparison.mean.method) == (pytest.approx(2 / 2**6), "exchange")
    assert comparison.mean.confidence == 0.9
    small = over_prompts(np.full((1, 6), 1.0), np.full((1, 6), 1.0) - [1e-3, 2e-3, 0, 0, 0, 0], None, 0.9)
    assert small.mean.method == "Student"


def test_intervals_hold_19_times_in_20_and_splits_are_the_same_each_time(scores):
    without_choice, chosen = over_prompts(*scores, CLUSTERS), over_prompts(*scores, CLUSTERS, 0.95, 0)
    for name in ("mean", "population", "best"):
        assert getattr(without_choice, name)[:-1] == pytest.approx(getattr(chosen, name)[:-1])


def test_it_is_shown_as_a_table(scores):
    html = over_prompts(*scores)._repr_html_()
    assert "population" in html
    assert "prompts" in html


@pytest.mark.parametrize(("first", "second"), [((2, 3), (3, 2)), ((3,), (3,))])
def test_scores_of_other_shapes_are_an_error(first, second):
    with pytest.raises(InputError) as error:
        over_prompts(np.zeros(first), np.zeros(second))
    expected = "expected (prompts, examples), the same for both models"
    assert str(error.value) == f"scores have the shapes {first} and {second}; {expected}"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([[1.0, np.nan]], [[np.nan, 1.0]]),
        ([[1.0, 1.0], [np.nan, np.nan]], [[1.0, 1.0], [np.nan, np.nan]]),
    ],
)
def test_scores_of_one_model_alone_are_an_error(first, second):
    with pytest.raises(InputError) as error:
        over_prompts(first, second)
    expected = "expected the same prompts on the same examples for both"
    assert str(error.value) == f"a score of one model is missing; {expected}"


def test_infinite_scores_are_not_missing_ones():
    lowest = -np.inf
    with pytest.raises(InputError, match="a score is infinite; expected numbers"):
        over_prompts([[1, 0, lowest, 1], [1, 1, 0, 0]], [[0, 0, lowest, 0], [1, 0, 0, 0]])
