"""Numbers about items that are computed again from their definitions."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logit

from abovechance.core.errors import InputError
from abovechance.items import item_statistics, of_task, pruning, response_theory
from abovechance.items.adaptive import WAYS, begin, replay
from abovechance.items.anchors import Anchors
from abovechance.items.estimates import model_error, p_irt, share_of_weighted
from abovechance.items.features import associations, features
from abovechance.items.matrices import Matrix, in_short, in_the_best, items_of, matrices
from abovechance.items.model_fit import TooFewError, held_out, item_fit
from abovechance.items.of_task import NEW, RANDOM, Study, analyse, dense
from abovechance.items.questions import better_of_two, better_than
from abovechance.items.replays import _Trained, replays
from abovechance.items.response_theory import (
    Items,
    _directed,
    _rotated,
    fit,
    most_likely,
    quadrature,
    sharpest,
)
from abovechance.items.series_rows import SeriesRows
from abovechance.items.smaller import costs
from abovechance.items.splits import at_random, by_group, by_score
from tests.items.test_classical import responses
from tests.items.test_of_task import MODELS, task


def test_what_means_foresee_of_responses_that_are_held_out():
    matrix = responses(30, 12, gaps=0.1, seed=4)
    places = np.argwhere(np.isfinite(matrix))
    chosen = places[np.random.default_rng(7).random(len(places)) < 0.1]
    train = matrix.copy()
    train[tuple(chosen.T)] = np.nan
    truth = matrix[tuple(chosen.T)] == 1

    def smoothed(values: np.ndarray) -> float:
        finite = values[np.isfinite(values)]
        return (finite.sum() + 0.5) / (len(finite) + 1)

    overall = smoothed(train)
    rows = np.array([smoothed(train[row]) for row, _ in chosen])
    items = np.array([smoothed(train[:, item]) for _, item in chosen])
    together = expit(logit(rows) + logit(items) - logit(overall))
    predictions = {"constant": overall + 0 * rows, "rows": rows, "items": items, "rows and items": together}
    table = held_out(matrix, dimensions=(1, 2), seed=7).set_index(["model", "dimensions"])
    assert [*table.index[4:]] == [("item response theory", 1), ("item response theory", 2)]
    for name, predicted in predictions.items():
        loss = -np.log(np.where(truth, predicted, 1 - predicted)).mean()
        accuracy = np.mean((predicted > 0.5) == truth)
        assert table.loc[(name, 0)].tolist() == pytest.approx([loss, accuracy])
    assert held_out(matrix, (), seed=0).equals(held_out(matrix, ()))


def test_the_deviation_of_an_item_from_its_curve():
    matrix = responses(25, 6, seed=5)
    matrix[:5, 0] = np.nan
    model = fit(matrix)
    places, weights = model.quadrature
    curves = model.probability(places)
    mask, correct = np.isfinite(matrix), np.nan_to_num(matrix)

    def deviations(correct: np.ndarray) -> np.ndarray:
        likelihood = np.array(
            [
                [np.where(row, curve, 1 - curve)[has].prod() for curve in curves]
                for row, has in zip(correct, mask, strict=True)
            ]
        )
        posterior = likelihood * np.exp(weights)  # which are logarithms
        posterior /= posterior.sum(axis=1, keepdims=True)
        counts, hits = posterior.T @ mask, posterior.T @ correct
        return np.sqrt((counts * (hits / counts - curves) ** 2).sum(axis=0) / counts.sum(axis=0))

    table = item_fit(model, matrix, seed=2)
    assert table["rmsd"].tolist() == pytest.approx(deviations(correct).tolist())
    generator = np.random.default_rng(2)
    simulated = []
    for _ in range(20):
        chances = model.probability(generator.standard_normal((25, 1)))
        simulated.append(deviations((generator.random(matrix.shape) < chances) * mask))
    # the quantile that a 21st simulation is below with a probability of 95 %
    ordered = np.sort(simulated, axis=0)
    limit = ordered[18] + 0.95 * (ordered[19] - ordered[18])
    assert table["rmsd_95"].tolist() == pytest.approx(limit.tolist())
    unanswered = matrix.copy()
    unanswered[:, 1] = np.nan
    assert item_fit(model, unanswered).isna().all(axis=1).tolist() == [False, True, *[False] * 4]


def model_of(discrimination: np.ndarray, difficulty: np.ndarray) -> Items:
    return Items(discrimination, difficulty, 0 * discrimination, 0 * difficulty, 0.0, 0, True)


def test_an_item_fits_although_no_row_can_have_some_of_the_abilities():
    sharp = model_of(np.full((2000, 1), 3.0), np.zeros(2000))
    matrix = (np.random.default_rng(0).random((4, 2000)) < 0.5).astype(float)
    table = item_fit(sharp, matrix)  # the likelihood of an ability far from 0 is less than any number
    assert table["rmsd"].between(0, 1).all()


def test_responses_that_a_model_excludes_have_a_loss(monkeypatch):
    certain = [("certain", 0, np.ones((4, 6))), ("never", 0, np.zeros((4, 6)))]
    monkeypatch.setattr("abovechance.items.model_fit._foreseen", lambda *_: iter(certain))
    table = held_out(np.eye(4, 6), share=0.5)
    correct = table["accuracy"][0]
    limit = -np.log(1e-9)
    assert table["log_loss"].tolist() == pytest.approx([(1 - correct) * limit, correct * limit], rel=1e-6)
    assert table["accuracy"].tolist() == [correct, 1 - correct]


def test_pruned_rows_of_a_training():
    matrix = responses(40, 10, seed=6)
    train, test = matrix[:30], matrix[30:].copy()
    test[0, 3:] = np.nan
    test[:, 9] = np.nan  # none of these rows has it
    rows = SeriesRows(["s"] * 10, [0] * 5 + [1] * 5, [*range(5)] * 2)
    table = pruning(train, test, most_removed=0.5, steps=5, draws=3, seed=4, rows=rows)
    order = np.argsort(item_statistics(train)["corrected"].to_numpy(), kind="stable")
    generator = np.random.default_rng(4)
    for row in table.to_dict("records"):
        remaining = test[:, order[row["removed"] :]]
        counts, means = np.isfinite(remaining).sum(axis=1), np.nanmean(remaining, axis=1)
        errors = np.nanstd(remaining, axis=1, ddof=1) / np.sqrt(counts)
        assert row["mean"] == pytest.approx(means.mean())
        assert row["error"] == pytest.approx(errors[counts > 1].mean())
        assert row["deviation"] == pytest.approx(means.std(ddof=1))
        assert row["monotonicity"] == pytest.approx(rows.monotonicity(means))
        chosen = [generator.permutation(10)[row["removed"] :] for _ in range(3 if row["removed"] else 1)]
        random = [np.nanmean(np.nanmean(test[:, places], axis=1)) for places in chosen]
        assert row["random_mean"] == pytest.approx(np.mean(random))
        assert row["random_mean_high"] == pytest.approx(np.quantile(random, 0.975))
    assert pruning(responses(30, 50), responses(30, 50))["removed"].tolist() == [*range(11)]
    # one step, one draw and none that is taken away are possible
    assert len(pruning(train, train, steps=1, draws=1)) == 2
    assert pruning(train, train, most_removed=0)["removed"].tolist() == [0]
    many = np.random.default_rng(0).integers(2, size=(6, 90))
    assert pruning(many, many, most_removed=0.7, steps=1, draws=2)["removed"].tolist() == [0, 63]


def test_pruned_rows_without_an_answer_or_alone():
    matrix = responses(12, 4, seed=1)
    least = int(np.argmin(item_statistics(matrix)["corrected"]))
    lacking = np.array([[1.0, 0.0, 1.0, 1.0], [np.nan] * 4, [0.0, 0.0, 1.0, 0.0]])
    lacking[1, least] = 1.0
    pruned = pruning(matrix, lacking, most_removed=0.25, steps=1, draws=2).iloc[-1]
    means = [np.delete(lacking[row], least).mean() for row in (0, 2)]
    assert pruned["mean"] == pytest.approx(np.mean(means))
    assert pruned["deviation"] == pytest.approx(np.std(means, ddof=1))
    assert np.isnan(pruning(matrix, lacking[:1], draws=2)["deviation"].iloc[0])
    pairs = pruning(matrix[:, :2], lacking[[0, 2], :2], draws=2).iloc[0]  # two items each
    assert pairs["error"] == pytest.approx((np.std([1, 0], ddof=1) / np.sqrt(2) + 0) / 2)


def test_each_table_of_a_task_has_its_seed_and_rows():
    matrix, chance, known_features = task()
    series = {
        model: {"name": "s", "seed": seed, "checkpoint": checkpoint}
        for model, (seed, checkpoint) in zip("abcd", [(0, 1), (0, 2), (1, 1), (1, 2)], strict=True)
    }
    study = Study(MODELS, series, (5, 10), 2, 1, seed=3)
    tables = analyse(matrix, chance, known_features, study)
    assert all({*table["task"]} <= {"t"} for table in tables.values())
    listed = items_of(matrix, known_features, 3)
    model = fit(matrix.scores)
    fits = item_fit(model, matrix.scores, seed=3).assign(example=matrix.examples)
    merged = tables["item_list"].merge(fits, on="example", suffixes=("", "_again"))
    assert (merged["rmsd_95"] == merged["rmsd_95_again"]).all()
    assert tables["item_list"]["half"].equals(listed["half"])
    assert tables["item_list"]["b"].tolist() == [
        model.difficulty[matrix.examples.index(example)] for example in listed["example"]
    ]
    assert tables["item_associations"]["p"].equals(associations(listed, seed=3)["p"])
    assert tables["adaptive"].drop(columns="task").equals(replays(matrix, MODELS, chance, 1, seed=3))
    names = matrix.rows["model"].to_numpy()
    rows = SeriesRows(
        ["s"] * 40, [series[name]["seed"] for name in names], [series[name]["checkpoint"] for name in names]
    )
    name, train, test = next(of_task.splits(dense(matrix), study))
    assert name == RANDOM
    held_rows = rows.only(test.tolist())
    scores = matrix.scores
    expected = pruning(scores[train], scores[test], seed=3, rows=held_rows)
    pruned = tables["item_pruning"].query("split == @RANDOM").reset_index(drop=True)
    assert pruned[[*expected]].equals(expected)
    assert expected["monotonicity"].notna().any()
    cost = costs(scores[train], scores[test], (5, 10), 2, 3, held_rows, names[test].tolist())
    small = tables["smaller_benchmarks"].query("split == @RANDOM").reset_index(drop=True)
    numeric = [column for column in cost if column not in ("method", "split")]
    averaged = cost.groupby(["method", "examples"], sort=False, as_index=False).mean()
    pd.testing.assert_frame_equal(small[numeric], averaged[numeric])
    assert {*tables["item_pruning"]["split"]} >= {RANDOM, NEW}


def test_models_of_no_series_have_no_monotonicity():
    matrix, *_ = task()
    series = {"a": {"name": "s", "checkpoint": 1}, "b": {"name": "s", "checkpoint": 2}}
    (part, *_) = of_task._each_split(matrix, Study(MODELS, series))
    assert {*part.models} <= {*"abcd"}
    assert len(part.models) == len(part.test)
    whole = of_task._each_split(matrix, Study(MODELS))
    assert np.isnan(next(whole).rows.monotonicity(np.arange(len(part.test), dtype=float)))


def test_items_that_half_a_percent_lack_are_dense_and_the_rows_keep_their_names():
    matrix, *_ = task(gaps=0)
    at_most = of_task.MOST_MISSING
    matrix.scores[: round(at_most * 40), 0] = np.nan
    remaining = dense(matrix)
    assert remaining.examples[0] == matrix.examples[0]
    assert (remaining.task, [*remaining.rows]) == ("t", ["model", "shots", "prompt"])
    matrix.scores[:] = np.nan
    assert dense(matrix).scores.shape == (40, 0)


def matrix_of(scores: np.ndarray) -> Matrix:
    rows = pd.DataFrame({"model": ["a", "b"] * (len(scores) // 2), "shots": 0, "prompt": range(len(scores))})
    return Matrix("t", rows, [*map(str, range(scores.shape[1]))], scores)


def test_ten_rows_and_ten_items_are_enough_for_splits():
    study = Study({"a": "a", "b": "b"})
    whole = responses(10, 10)
    assert {part.name for part in of_task._each_split(matrix_of(whole), study)} == {RANDOM, of_task.BEST, NEW}
    assert not [*of_task._each_split(matrix_of(whole[:, :9]), study)]
    assert not [*of_task._each_split(matrix_of(whole[:8]), study)]


def test_two_rows_that_are_held_out_are_enough_and_items_must_be_known_where_models_are_fitted():
    scores = responses(10, 12)
    train, test = np.arange(8), np.array([8, 9])
    two = [("two", train, test), ("one", np.arange(9), np.array([9]))]
    study = Study({"a": "a", "b": "b"})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(of_task, "splits", lambda *_: iter(two))
        patch.setattr(of_task, "MOST_MISSING", 1)
        (part,) = of_task._each_split(matrix_of(scores), study)
        assert (part.name, part.train.shape, part.test.shape) == ("two", (8, 12), (2, 12))
        scores[train, 0] = scores[train, 1] = np.nan
        (part,) = of_task._each_split(matrix_of(scores), study)
        assert part.train.shape == (8, 10)
        scores[train, 2] = np.nan
        assert not [*of_task._each_split(matrix_of(scores), study)]


def test_responses_are_held_out_where_one_row_has_ten_of_them():
    scores = responses(10, 20)
    for row in range(10):
        scores[row, (2 * row + np.arange(11)) % 20] = np.nan  # which leaves 9
    scores[0, 0] = 1
    assert of_task._held_out(matrix_of(scores), 0) is not None
    scores[0, 0] = np.nan
    assert of_task._held_out(matrix_of(scores), 0) is None


def test_one_example_with_two_scores_of_a_row_is_an_error():
    row = {"model": "m", "task": "t", "shots": 0, "prompt": "p", "example": "1"}
    with pytest.raises(InputError, match="example '1' stands twice for 'm', 0-shot, prompt p"):
        next(matrices(pd.DataFrame([row | {"score": 0.0}, row | {"score": 1.0}])))
    (matrix,) = matrices(pd.DataFrame([row | {"score": 1.0}, row | {"prompt": "q", "score": 0.0}]))
    assert matrix.rows.to_dict("index") == {
        0: {"model": "m", "shots": 0, "prompt": "p"},
        1: {"model": "m", "shots": 0, "prompt": "q"},
    }


def test_the_most_likely_abilities_have_no_slope():
    generator = np.random.default_rng(3)
    items = model_of(generator.normal(1, 0.5, (40, 2)), generator.normal(size=40))
    correct = (generator.random((6, 40)) < 0.6).astype(float)
    theta = most_likely(items, correct)
    slope = (correct - items.probability(theta)) @ items.discrimination
    assert np.abs(slope).max() < 1e-6


def test_sums_are_above_and_below():
    question = better_than(0.5, 9)
    assert [question.answer(total) for total in (4, 5)] == ["not above", "above"]
    of_two = better_of_two()
    assert [of_two.answer(total) for total in (-1, 0, 1)] == ["second", "equal", "first"]


def test_ids_of_examples_with_several_parts():
    examples = pd.DataFrame(
        {
            "example": ["a/b/0", "a/b/1", "c/0"],
            "labels": [["yes", "no"]] * 3,
            "choices": [["yes", "no"]] * 3,
            "correct": [[True, False]] * 3,
            "bare": ["x", "xx", "xxx"],
            "input": ["one", "two", "three"],
        }
    )
    table = features({"t": examples})
    assert table["example"].tolist() == ["a/b/0", "a/b/1", "c/0"]
    assert table["subtask"].tolist() == ["a/b", "a/b", "c"]
    merged = features({"t": examples}, numbers_alone=True)
    assert merged["example"].tolist() == ["0", "1"]


@pytest.mark.parametrize("column", ["constant", "corrected"])
def test_associations_need_the_columns_of_item_statistics(column):
    listed = pd.DataFrame({"corrected": [0.1, 0.2], "constant": False, "answer": ["a", "b"]})
    with pytest.raises(InputError, match=f"items lack the column '{column}'"):
        associations(listed.drop(columns=column))


def test_the_share_between_groups_and_its_p_value(monkeypatch):
    generator = np.random.default_rng(0)
    values, codes = generator.normal(size=20), np.repeat([0, 1], 10)
    listed = pd.DataFrame({"corrected": values, "constant": False, "answer": codes.astype(str)})
    (row,) = associations(listed, seed=5).to_dict("records")

    def between(values: np.ndarray) -> float:
        return sum(10 * (values[codes == code].mean() - values.mean()) ** 2 for code in (0, 1))

    share = between(values) / ((values - values.mean()) ** 2).sum()
    assert row["share"] == pytest.approx(1 - (1 - share) * 19 / 18)
    assert associations(listed, seed=5)["p"][0] == row["p"] != associations(listed, seed=6)["p"][0]
    rounded = listed.assign(corrected=0.5 + 1e-16 * codes)
    assert associations(rounded)[["share", "p"]].isna().all(axis=None)
    few = pd.DataFrame({"corrected": values[7:13], "constant": False, "answer": [*"aaabbb"]})
    monkeypatch.setattr("abovechance.items.features.LEAST", 2)
    (row,) = associations(few).to_dict("records")
    halves = [set(half) for half in itertools.combinations(range(6), 3)]
    as_far = [
        abs(sum(few["corrected"][place] * (1 if place in half else -1) for place in range(6)))
        for half in halves
    ]
    assert row["p"] == np.mean(np.array(as_far) >= as_far[0] - 1e-12)  # of all 20 ways to form two groups


def test_few_numbers_have_no_association():
    listed = pd.DataFrame({"corrected": [0.1, 0.2], "constant": False, "length": [1.0, 2.0]})
    assert associations(listed).empty
    three = pd.DataFrame({"corrected": [0.1, 0.2, 0.3], "constant": False, "length": [1.0, 2.0, 3.0]})
    (row,) = associations(three).to_dict("records")
    assert (row["items"], row["r"]) == (3, pytest.approx(1.0))
    assert row["p"] == pytest.approx(2 / 6)  # of all orders, two are as far from 0


def test_responses_are_held_out_if_their_row_and_their_item_have_others():
    for seed in range(12):
        matrix = responses(6, 4, gaps=0.2, seed=seed)
        places = np.argwhere(np.isfinite(matrix))
        chosen = places[np.random.default_rng(seed).random(len(places)) < 0.5]
        train = matrix.copy()
        train[tuple(chosen.T)] = np.nan
        has = np.isfinite(train)
        chosen = np.array([(row, item) for row, item in chosen if has[row].any() and has[:, item].any()])
        train = matrix.copy()
        train[tuple(chosen.T)] = np.nan
        overall = (np.nansum(train) + 0.5) / (np.isfinite(train).sum() + 1)
        truth = matrix[tuple(chosen.T)] == 1
        table = held_out(matrix, dimensions=(), share=0.5, seed=seed).set_index("model")
        loss = -np.log(np.where(truth, overall, 1 - overall)).mean()
        assert table.loc["constant", "log_loss"] == pytest.approx(loss)
    assert held_out(responses(12, 2), dimensions=(1, 2, 3))["dimensions"].tolist() == [0, 0, 0, 0, 1, 2]
    with pytest.raises(TooFewError, match="^2 responses are too few to hold some of them out$"):
        held_out([[1.0, 0.0]])


@pytest.mark.parametrize("dimensions", [1, 2])
def test_the_error_of_a_model_is_that_of_the_second_half_of_new_rows(dimensions):
    matrix = responses(23, 9, gaps=0.1, seed=8)
    matrix[10, 1::2] = np.nan  # a row without the second half
    train, test = np.delete(matrix, np.s_[::5], axis=0), matrix[[0, 5, 15, 20]]
    items = fit(train, dimensions)
    ability = most_likely(items.only(np.arange(0, 9, 2)), test[:, ::2])
    expected = items.probability(ability)[:, 1::2]
    errors = [
        probabilities[np.isfinite(row)].mean() - row[np.isfinite(row)].mean()
        for probabilities, row in zip(expected, test[:, 1::2], strict=True)
    ]
    assert model_error(matrix, dimensions) == pytest.approx(np.abs(errors).mean(), abs=1e-6)


def test_the_error_of_a_model_needs_five_rows_and_two_items():
    matrix = responses(5, 2, seed=3)
    assert np.isfinite(model_error(matrix))
    assert np.isnan(model_error(matrix[:4]))
    assert np.isnan(model_error(matrix[:, :1]))
    lacking = matrix.copy()
    lacking[0, 1] = np.nan  # the only row that is held out has no second half
    assert np.isnan(model_error(lacking))


def test_the_weight_of_one_anchor():
    assert share_of_weighted(0.5, 0.25, 1) == pytest.approx(0.25 / (0.25 / 4 + 0.25))
    with pytest.raises(InputError, match="0 anchors"):
        share_of_weighted(0.5, 0.25, 0)


def test_an_anchor_that_a_row_lacks_counts_as_expected():
    items = Items(np.ones((3, 1)), np.array([-1.0, 0.0, 1.0]), *[np.zeros((3, 1))] * 2, 0.0, 0, True)
    anchors = Anchors(np.array([0, 1, 2]), np.full(3, 1 / 3))
    answered = [1.0, 0.0, np.nan]
    p = items.probability(most_likely(items.only([0, 1]), [answered[:2]]))[0]
    assert p_irt(items, anchors, [answered]) == pytest.approx([(1 + 0 + p[2]) / 3])


def test_the_order_of_rows_does_not_decide_which_are_the_best():
    generator = np.random.default_rng(0)
    for _ in range(20):
        matrix = (generator.random((30, 6)) < 0.5).astype(float)
        order = generator.permutation(30)
        for first, second in zip(in_the_best(matrix), in_the_best(matrix[order]), strict=True):
            assert first == pytest.approx(second, nan_ok=True)
        parts = [by_score(matrix), [order[places] for places in by_score(matrix[order])]]
        assert [sorted(part) for part in parts[0]] == [sorted(part) for part in parts[1]]
    equal = by_score(np.tile([[1.0, 0.0], [0.0, 1.0]], (5, 1)))
    assert [len(part) for part in equal] == [8, 2]


def test_the_summary_of_items():
    matrix = Matrix("t", pd.DataFrame({"model": ["a", "a", "b"]}), list("abcde"), np.eye(3, 5))
    listed = pd.DataFrame(
        {
            "constant": [False, False, False, False, True],
            "corrected": [-0.2, 0.0, 0.4, 0.4, 0.0],
            "balanced": [0.1, np.nan, 0.3, 0.5, 9.0],
            "half": [0.1, 0.1, 0.5, np.nan, 9.0],
            "other_half": [0.2, 0.3, 0.3, 0.1, 9.0],
            "rest": [0.1, 0.2, np.nan, np.nan, 9.0],
            "best": [0.1, 0.2, 0.3, 0.4, 9.0],
            "answer": None,
        }
    )
    summary = in_short(matrix, listed)
    assert (summary["models"], summary["rows"], summary["items"]) == (2, 3, 5)
    assert (summary["constant"], summary["negative"]) == (1, 1)
    assert summary["difficulty"] == pytest.approx(3 / 15)
    assert summary["discrimination"] == pytest.approx(0.15)
    assert summary["balanced"] == pytest.approx(0.3)
    assert summary["halves"] == pytest.approx(np.corrcoef([0.1, 0.1, 0.5], [0.2, 0.3, 0.3])[0, 1])
    assert np.isnan(summary["best_and_rest"])  # two items
    constant = listed.assign(half=0.1, best=0.2, rest=[0.1, 0.2, 0.3, 0.4, 0.5])
    for name in ("halves", "best_and_rest"):
        assert np.isnan(in_short(matrix, constant)[name])


def test_two_rows_are_enough_for_a_correlation():
    matrix = np.array([[1.0, 1, 0, 1], [0, 0, 0, 1], [np.nan, 1, 1, 0], [np.nan, 0, 1, 0]])
    assert item_statistics(matrix)["corrected"][0] == pytest.approx(1.0)
    matrix[1, 0] = np.nan
    assert item_statistics(matrix)["constant"][0]


def test_abilities_of_rows_that_lack_items():
    generator = np.random.default_rng(3)
    a, b = generator.normal(size=(12, 2)), generator.normal(size=12)
    items = Items(a, b, a, b, 0.0, 0, True)
    row = generator.integers(0, 2, size=12).astype(float)
    row[[1, 4, 7]] = np.nan
    has = np.isfinite(row)
    assert most_likely(items, [row])[0] == pytest.approx(
        most_likely(items.only(np.flatnonzero(has)), [row[has]])[0], abs=1e-6
    )


def test_several_abilities_are_on_the_principal_axes():
    for seed in range(12):
        value = np.random.default_rng(seed).normal(size=(15, 4))
        turned = _rotated(value)
        a, before = turned[:, :-1], value[:, :-1]
        assert turned[:, -1].tolist() == value[:, -1].tolist()
        assert a @ a.T == pytest.approx(before @ before.T)  # the same model
        squares = a.T @ a
        assert squares == pytest.approx(np.diag(np.sort(np.diag(squares))[::-1]), abs=1e-9)


def test_abilities_without_a_slope_are_positive_on_average():
    value = np.array([[1.0, -2.0, 0.3], [0.5, 1.0, -0.2]])  # two abilities and the difficulty, of two items
    scores, ability = np.array([0.0, 0.5, 1.0]), np.array([[0.1, -1.0], [0.2, 0.0], [0.4, 1.0]])
    assert _directed(value, ability, scores).tolist() == value.tolist()
    assert _directed(value, -ability, scores).tolist() == (value * [-1, -1, 1]).tolist()
    assert _directed(value, ability, 0 * scores).tolist() == (value * [1, -1, 1]).tolist()


@pytest.mark.parametrize(("dimensions", "width"), [(1, 1.0), (1, 0.05), (1, 1e-6), (2, 1.0), (3, 1.0)])
def test_the_quadrature_is_of_a_standard_normal_distribution(dimensions, width):
    places, logs = quadrature(dimensions, width)
    weights = np.exp(logs)
    assert weights.sum() == pytest.approx(1)
    assert weights @ places == pytest.approx(np.zeros(dimensions), abs=1e-9)
    assert (places * weights[:, None]).T @ places == pytest.approx(np.eye(dimensions), abs=1e-6)
    if dimensions == 1:  # as fine as what is integrated, within limits
        step = np.diff(places[:, 0])
        assert step == pytest.approx(np.full(len(step), np.clip(width / 0.8, 0.01, 0.2)), rel=0.01)


def test_how_narrow_the_distribution_of_an_ability_is():
    generator = np.random.default_rng(5)
    a, b = generator.lognormal(0, 1, size=30), generator.normal(size=30)
    theta = np.linspace(-10, 10, 100_001)
    p = expit(theta[:, None] * a - b)
    information = 1 + (p * (1 - p) * a**2).sum(axis=1)
    assert sharpest(np.column_stack([a, b])) == pytest.approx(1 / np.sqrt(information.max()), rel=0.02)


def test_a_fit_counts_its_rounds_and_says_whether_it_stood_still(monkeypatch):
    calls = []
    improved = response_theory._Responses.improved

    def counted(responses, value):
        calls.append(value)
        return improved(responses, value)

    monkeypatch.setattr(response_theory._Responses, "improved", counted)
    matrix = responses(60, 8, seed=1)
    fitted = fit(matrix)
    assert fitted.converged
    assert fitted.rounds == len(calls)
    monkeypatch.setattr(response_theory, "ROUNDS", 3)
    calls.clear()
    stopped = fit(matrix)
    assert not stopped.converged
    assert stopped.rounds == len(calls) == 3


def test_a_fit_in_two_dimensions_has_the_errors_of_both():
    fitted = fit(responses(120, 10, seed=4), 2)
    assert fitted.discrimination_error.shape == fitted.discrimination.shape == (10, 2)
    assert fitted.difficulty_error.shape == (10,)
    squares = fitted.discrimination.T @ fitted.discrimination
    assert squares[0, 1] == pytest.approx(0, abs=1e-9)
    assert squares[0, 0] > squares[1, 1]


def test_no_error_is_larger_than_the_prior():
    fitted = fit(responses(30, 5, seed=4), prior=(0.1, 0.2))
    assert (fitted.discrimination_error <= 0.1 + 1e-9).all()
    assert (fitted.difficulty_error <= 0.2 + 1e-9).all()


@pytest.mark.parametrize("constant", [0, 1])
def test_items_that_all_rows_have_alike_need_a_prior(constant):
    matrix = responses(30, 5)
    matrix[:, 3] = constant
    message = "^item 3 is constant, and has no estimate by maximum likelihood; use a prior$"
    with pytest.raises(InputError, match=message):
        fit(matrix, prior=None)
    with pytest.raises(
        InputError, match="^6 dimensions of 5 items; expected 1 to 3, and no more than items$"
    ):
        fit(matrix, 6)


def test_each_way_of_holding_rows_out_has_the_seed_of_the_study():
    matrix, *_ = task()
    names = matrix.rows["model"].tolist()

    def places(study: Study) -> list[tuple[str, list[int], list[int]]]:
        return [(name, list(train), list(test)) for name, train, test in of_task.splits(matrix, study)]

    expected = [(RANDOM, *at_random(len(names), seed=3)), (of_task.BEST, *by_score(matrix.scores))]
    expected += [(NEW, *parts) for parts in by_group(names, 2, seed=3)]
    study = Study({name: name for name in names}, seed=3)
    assert places(study) == [(name, list(train), list(test)) for name, train, test in expected]
    two_groups = Study({name: str(name == names[0]) for name in names}, seed=3)
    assert [name for name, *_ in places(two_groups)] == [RANDOM, of_task.BEST, NEW, NEW]
    single_group = Study(dict.fromkeys(names, "all"), seed=3)
    assert [name for name, *_ in places(single_group)] == [RANDOM, of_task.BEST]


@pytest.mark.parametrize("models", [1, 2])
def test_replays_are_evaluations_whose_decision_is_compared_with_the_truth(models):
    matrix = responses(60, 12, seed=9)
    trained = _Trained(fit(matrix[:40, 1:]), np.arange(12) > 0)
    question = better_of_two() if models == 2 else better_than(0.5, 10)
    wrong = 0
    for row in range(40, 59):
        rows = [matrix[row], matrix[row + 1]][:models]
        mask = np.arange(12) > 1
        truth = question.answer((rows[0] - rows[1] if models == 2 else rows[0])[mask].sum())
        results = list(trained.each_way("name", question, mask, rows, 0.4, row))
        assert [result.way for result in results] == [*WAYS]
        for result in results:
            items = trained.items.only(np.arange(1, 11))
            outcome = replay(
                begin(question, 10, items, result.way, 0.4, row), *(scores[mask] for scores in rows)
            )
            assert result == ("name", result.way, len(outcome.evaluated), 10, outcome.decision != truth)
            wrong += result[-1]
    assert wrong or models == 2  # of one model only, a test at 40 % errs here


def test_series_that_lack_their_last_checkpoint():
    rows = SeriesRows(["s"] * 4, [0, 0, 1, 1], [1, 2, 1, 2])
    tables = list(rows._tables(np.array([0.5, 0.25, 0.75, np.nan])))
    assert tables[0] == pytest.approx(np.array([[0.5, 0.25], [0.75, np.nan]]), nan_ok=True)
    twice = SeriesRows(["s"] * 4, [0, 0, 0, 0], [1, 1, 1, 2])  # several prompts
    assert next(twice._tables(np.array([0.3, 0.6, 0.9, 0.1]))).ravel() == pytest.approx([0.6, 0.1])


def test_rows_with_the_same_overall_score_do_not_tell_items_apart():
    """Each row has as many right answers: the overall score does not vary, though its rounding does."""
    generator = np.random.default_rng(0)
    for rows, items in ((7, 7), (11, 14), (9, 13)):
        hits = [generator.permutation(items) < items // 2 for _ in range(rows)]
        statistics = item_statistics(np.array(hits, dtype=float))
        assert statistics["discrimination"].tolist() == [0.0] * items
    grouped = item_statistics([[0, 0, 1, 0], [0, 1, 0, 0], [0, 0, 1, 0]], [0, 0, 0, 1])
    assert grouped["discrimination"].tolist() == [0.0] * 4


def test_halves_in_which_all_items_discriminate_alike_have_no_correlation():
    generator = np.random.default_rng(3)
    hits = np.array([generator.permutation(14) < 6 for _ in range(12)], dtype=float)
    rows = pd.DataFrame({"model": [f"m{row}" for row in range(12)], "shots": 0, "prompt": "0"})
    matrix = Matrix("t", rows, [f"e{item}" for item in range(14)], hits)
    listed = items_of(matrix)
    assert listed["half"].dropna().to_numpy() == pytest.approx(-1.0)
    assert np.isnan(in_short(matrix, listed)["halves"])
