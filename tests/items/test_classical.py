"""Items by classical test theory: against other packages, by hand, and laws."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings, strategies as st
from scipy import stats

from abovechance.core.errors import InputError
from abovechance.core.two_way import adjusted_means
from abovechance.items import classical, item_statistics, reliability, row_scores
from abovechance.items.classical import ITEMS, rest_scores
from abovechance.items.matrices import Matrix, items_of


def responses(rows: int = 60, items: int = 25, seed: int = 0, gaps: float = 0.0) -> np.ndarray:
    """Right and wrong answers of rows of different skill to items of different difficulty."""
    generator = np.random.default_rng(seed)
    drive = generator.normal(size=(rows, 1)) - generator.normal(size=items)
    result = (drive + generator.logistic(size=(rows, items)) > 0).astype(float)
    result[generator.random(result.shape) < gaps] = np.nan
    return result


def test_statistics_of_items_are_means_and_correlations():
    matrix = responses()
    statistics = item_statistics(matrix)
    total = matrix.mean(axis=1)
    rest_score = (matrix.sum(axis=1, keepdims=True) - matrix) / (matrix.shape[1] - 1)
    assert statistics["difficulty"].to_numpy() == pytest.approx(matrix.mean(axis=0))
    for item in range(matrix.shape[1]):
        rows = statistics.iloc[item]
        assert rows["discrimination"] == pytest.approx(stats.pearsonr(matrix[:, item], total).statistic)
        assert rows["corrected"] == pytest.approx(
            stats.pearsonr(matrix[:, item], rest_score[:, item]).statistic
        )
    assert not statistics["constant"].any()
    # an item is a part of the overall score, and not of the rest
    assert (statistics["discrimination"] > statistics["corrected"]).all()


def test_rows_that_differ_in_the_answer_they_like_alone_have_no_balanced_discrimination():
    generator = np.random.default_rng(3)
    answers = np.repeat(["yes", "no"], 50)
    liking = 3 * generator.normal(size=(600, 1)) * np.where(answers == "yes", 1, -1)
    matrix = (liking > generator.logistic(size=(600, 100))).astype(float)
    balanced = item_statistics(matrix, answers)["corrected"]
    assert abs(balanced.mean()) < 0.03
    skilled = (liking + generator.normal(size=(600, 1)) > generator.logistic(size=(600, 100))).astype(float)
    assert item_statistics(skilled, answers)["corrected"].mean() > 0.1
    with pytest.raises(InputError, match="expected one for each item"):
        item_statistics(matrix, answers[:3])


def test_numbers_that_cancel_leave_rounding_and_no_correlation():
    first, second = [1, 1, 1, 0, 1, 1, 1, 0, 0, 0, 0], [0, 1, 1, 0, 1, 0, 0, 0, 0, 1, 1]
    statistics = item_statistics(np.column_stack([first, 1 - np.array(first), second]))
    assert statistics["corrected"][2] == 0
    generator = np.random.default_rng(0)
    for rows in (3, 5, 7, 11):
        assert np.isnan(reliability(np.tile(generator.random(7), (rows, 1))))


def test_constant_items_tell_nothing_apart_and_are_said_to_be_so():
    matrix = responses()
    matrix[:, 3], matrix[:, 4] = 1.0, 0.1
    statistics = item_statistics(matrix)
    assert statistics.loc[[3, 4], "constant"].all()
    assert (
        statistics.loc[[3, 4], ["discrimination", "corrected", "deviation"]].to_numpy().tolist()
        == [[0] * 3] * 2
    )


def test_an_item_whose_gold_answer_is_wrong_is_negative():
    matrix = responses(200)
    matrix[:, 7] = 1 - (np.argsort(np.argsort(matrix.sum(axis=1))) > 100)
    assert item_statistics(matrix).loc[7, "discrimination"] < -0.5


def test_rows_that_lack_easy_items_are_not_worse_for_it():
    matrix = np.array([[1, 1, 0, 0], [1, 1, 1, 0], [np.nan, 1, 1, 0], [1, 1, 1, 1]], dtype=float)
    scores = row_scores(matrix)
    assert scores[1] == pytest.approx(scores[2], abs=0.05)
    complete = responses()
    assert row_scores(complete) == pytest.approx(complete.mean(axis=1))


def test_it_does_not_matter_which_rows_lack_which_items():
    """Better rows lack easy items, worse ones hard items, and one item links them."""
    skill, ease = np.array([0, 9, 10, 19.0]), np.array([0, 0, 0, 0, 5, 5, 5, 5, 2.0])
    matrix = skill[:, None] + ease
    full = matrix.mean(axis=1)
    matrix[:2, 4:8], matrix[2:, :4] = np.nan, np.nan
    assert row_scores(matrix) == pytest.approx(full)
    assert row_scores(matrix[:, [0, 4, 8]]) == pytest.approx(skill + (0 + 5 + 2) / 3)  # more rows than items
    separate = np.delete(matrix, 8, axis=1)  # nothing links the two halves: equally good
    assert row_scores(separate) == pytest.approx(2.5 + 9.5 + np.array([-4.5, 4.5, -4.5, 4.5]))


def test_discrimination_does_not_fall_where_better_rows_lack_easy_items():
    """The better half of the rows lacks what is easy, the other what is hard; ten items link them."""
    generator = np.random.default_rng(2)
    skill = np.sort(generator.normal(0, 2, 200))
    ease = np.r_[np.full(40, -2.0), np.full(40, 2.0), np.zeros(10)]
    chance = 1 / (1 + np.exp(-(skill[:, None] + ease)))
    matrix = (generator.random(chance.shape) < chance).astype(float)
    full = item_statistics(matrix)["corrected"][80:].mean()
    matrix[100:, 40:80], matrix[:100, :40] = np.nan, np.nan
    statistics = item_statistics(matrix)
    assert statistics["corrected"][80:].mean() == pytest.approx(full, abs=0.05)
    assert statistics["discrimination"][80:].mean() == pytest.approx(full, abs=0.07)


def test_a_chain_of_rows_that_share_one_item_each_is_put_in_order():
    rows = 150
    matrix = np.full((rows, rows + 1), np.nan)
    skill, ease = np.random.default_rng(0).normal(size=(2, rows + 1))
    for row in range(rows):
        matrix[row, row : row + 2] = skill[row] + ease[row : row + 2]
    assert row_scores(matrix) == pytest.approx(skill[:rows] + ease.mean(), abs=1e-8)


def test_missing_scores_of_masked_arrays_and_tables_are_missing():
    matrix = responses(gaps=0.2)
    expected = row_scores(matrix)
    gone = np.isnan(matrix)
    assert row_scores(np.ma.masked_array(np.nan_to_num(matrix).astype(int), gone)) == pytest.approx(expected)
    table = pd.DataFrame(np.nan_to_num(matrix).astype(int)).astype("Int64").mask(gone, pd.NA)
    assert row_scores(table) == pytest.approx(expected)


def test_a_correlation_that_is_0_is_not_negative():
    generator = np.random.default_rng(1)
    zeros = 0
    for _ in range(300):
        matrix = generator.integers(0, 2, size=(20, 8))
        statistics = item_statistics(matrix)["corrected"]
        rest_score = matrix.sum(axis=1, keepdims=True) - matrix
        covariances = 20 * (matrix * rest_score).sum(axis=0) - matrix.sum(axis=0) * rest_score.sum(axis=0)
        assert (np.sign(statistics) == np.sign(covariances)).all()
        zeros += (covariances == 0).sum()
    assert zeros > 10


def test_groups_have_to_be_known_and_to_have_two_items():
    matrix = responses(items=8)
    groups = np.array(["A", "A", "A", None, "B", "B", "B", None], dtype=object)
    with pytest.raises(InputError, match="item 3 has no group"):
        item_statistics(matrix, groups)
    statistics = item_statistics(matrix, [*"AAAABBBC"])["corrected"]
    assert statistics.isna().tolist() == [False] * 7 + [True]


def test_reliability_does_not_depend_on_the_mean():
    for offset in (1e5, 1e7):
        assert reliability(responses() + offset) == pytest.approx(reliability(responses()), rel=1e-6)


def test_reliability_is_kr_20_and_alpha():
    matrix = responses()
    k, p = matrix.shape[1], matrix.mean(axis=0)
    kr20 = k / (k - 1) * (1 - (p * (1 - p)).sum() / matrix.sum(axis=1).var())
    assert reliability(matrix) == pytest.approx(kr20)
    continuous = matrix + np.random.default_rng(1).normal(size=matrix.shape)
    alpha = k / (k - 1) * (1 - continuous.var(axis=0, ddof=1).sum() / continuous.sum(axis=1).var(ddof=1))
    assert reliability(continuous) == pytest.approx(alpha)


def test_reliability_with_gaps_is_that_of_pairs_of_items():
    matrix = responses(400, gaps=0.15)
    covariances = pd.DataFrame(matrix).cov().to_numpy()
    k = len(covariances)
    variance, covariance = np.diag(covariances).mean(), covariances[~np.eye(k, dtype=bool)].mean()
    expected = k * covariance / (variance + (k - 1) * covariance)
    assert reliability(matrix) == pytest.approx(expected)
    assert reliability(matrix) == pytest.approx(reliability(responses(400)), abs=0.05)


def test_what_has_no_reliability():
    assert np.isnan(reliability([[1, 0, 1]]))
    assert np.isnan(reliability([[1], [0]]))
    assert np.isnan(reliability(np.ones((4, 3))))


@given(st.integers(0, 2**32 - 1), st.floats(0, 0.4))
def test_statistics_do_not_depend_on_the_order_or_the_scale(seed, gaps):
    matrix = responses(12, 6, seed, gaps)
    if not (np.isfinite(matrix).any(axis=0).all() and np.isfinite(matrix).any(axis=1).all()):
        return
    order = np.random.default_rng(seed).permutation(6)
    first, second = item_statistics(matrix), item_statistics(matrix[:, order])
    assert second["corrected"].to_numpy() == pytest.approx(first["corrected"].to_numpy()[order], abs=1e-9)
    scaled = item_statistics(3 * matrix + 2)
    assert scaled["discrimination"].to_numpy() == pytest.approx(first["discrimination"].to_numpy(), abs=1e-9)
    assert first["discrimination"].between(-1, 1).all()


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([1, 0], "expected rows and items"),
        (np.zeros((2, 0)), "expected rows and items"),
        ([[np.inf, 1]], "infinite"),
        ([[np.nan, 1], [np.nan, 0]], "item 0 has no response"),
        ([[1, 0], [np.nan, np.nan]], "row 1 has no response"),
    ],
)
def test_what_is_no_response_matrix_is_told(matrix, message):
    with pytest.raises(InputError, match=message):
        item_statistics(matrix)


def test_items_that_share_no_rows_have_no_corrected_discrimination():
    matrix = [[1, np.nan], [0, np.nan], [1, np.nan], [np.nan, 1], [np.nan, 0]]
    assert item_statistics(matrix)["corrected"].isna().all()
    linked = item_statistics([*matrix, [1, 1]])["corrected"]
    assert linked.isna().all()  # one row says nothing
    assert item_statistics([*matrix, [1, 1], [0, 0]])["corrected"].tolist() == pytest.approx([1, 1])


def plain_statistics(matrix: np.ndarray, groups: list[str]) -> list[dict[str, float]]:
    """The statistics of each item by loops over rows, kinds of items and items.

    The rest of the items is the matrix without the item, so the item has no part in the other items' means.
    """
    present, above_all = np.isfinite(matrix), matrix - adjusted_means(matrix)
    above_without = []
    for item in range(matrix.shape[1]):
        remaining = matrix.copy()
        remaining[:, item] = np.nan
        above_without.append(remaining - adjusted_means(remaining))
    kinds = sorted({*groups})

    def overall(row: int, without: int | None = None) -> float:
        above = above_all if without is None else above_without[without]
        means = []
        for kind in kinds:
            items = [
                item
                for item in range(matrix.shape[1])
                if groups[item] == kind and present[row, item] and item != without
            ]
            if items:
                means.append(above[row, items].mean())
        return float(np.mean(means)) if means else np.nan

    results = []
    for item in range(matrix.shape[1]):
        rows = np.flatnonzero(present[:, item])
        values = matrix[rows, item]
        total = np.array([overall(row) for row in rows])
        rest = np.array([overall(row, item) for row in rows])
        paired = np.isfinite(rest)
        is_alone = groups.count(groups[item]) < 2 and len(kinds) > 1
        results.append(
            {
                "rows": len(rows),
                "difficulty": values.mean(),
                "deviation": values.std(),
                "discrimination": stats.pearsonr(values, total).statistic,
                "corrected": np.nan if is_alone else stats.pearsonr(values[paired], rest[paired]).statistic,
                "constant": False,
            }
        )
    return results


@pytest.mark.parametrize("groups", ["aaaaaaaa", "aaabbbbb", "abbccccc", "abababab"])
@pytest.mark.parametrize("missing", [0.0, 0.35])
def test_items_of_groups_with_missing_responses(groups, missing):
    generator = np.random.default_rng(3)
    ability, offset = generator.normal(size=(30, 1)), generator.normal(size=(1, 8))
    matrix = ability + offset + 100 + generator.normal(size=(30, 8))
    matrix[generator.random(matrix.shape) < missing] = np.nan
    matrix[0, 1:] = np.nan  # a row of one item
    matrix[0, 0] = 101.0
    table = item_statistics(matrix, None if len({*groups}) == 1 else [*groups])
    assert [*table] == [*ITEMS]
    for row, expected in zip(table.to_dict("records"), plain_statistics(matrix, [*groups]), strict=True):
        assert row == pytest.approx(expected, nan_ok=True)


def test_an_item_has_no_part_in_the_rows_scores_on_the_rest():
    """Only this item links two batches of rows: without it, nothing says which batch is better."""
    scores = np.random.default_rng(1).integers(0, 2, (20, 41)).astype(float)
    scores[:10, 21:], scores[10:, 1:21] = np.nan, np.nan
    scores[:10, 0], scores[10:, 0] = 1, 0
    assert item_statistics(scores)["corrected"][0] == 0
    rest = np.delete(scores, 0, axis=1)
    assert np.corrcoef(row_scores(rest), scores[:, 0])[0, 1] == pytest.approx(0, abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(0, 0.8), st.integers(1, 4))
def test_the_rest_is_the_matrix_without_the_item(seed, missing, kinds):
    generator = np.random.default_rng(seed)
    matrix = generator.random(generator.integers(2, 14, 2))
    matrix[generator.random(matrix.shape) < missing] = np.nan
    matrix = matrix[:, np.isfinite(matrix).any(axis=0)]
    matrix = matrix[np.isfinite(matrix).any(axis=1)]
    assume(matrix.size and matrix.shape[1] > 1)
    groups = generator.integers(kinds, size=matrix.shape[1])
    means = rest_scores(matrix) if kinds == 1 else None
    statistics = item_statistics(matrix, None if kinds == 1 else groups)
    for item in range(matrix.shape[1]):
        remaining, of_group = np.delete(matrix, item, axis=1), np.delete(groups, item)
        with np.errstate(all="ignore"):
            above = pd.DataFrame(remaining - adjusted_means(remaining))
        expected = above.T.groupby(of_group).mean().mean().to_numpy()  # the same weight for each group
        if means is not None:
            assert means[:, item] == pytest.approx(expected, abs=1e-9, nan_ok=True)
        paired = np.isfinite(matrix[:, item]) & np.isfinite(expected)
        x, y = matrix[paired, item], expected[paired]
        is_alone = kinds > 1 and (of_group == groups[item]).sum() == 0
        if not is_alone and paired.sum() > 2 and np.ptp(x) > 0 and np.ptp(y) > 1e-6:
            assert statistics["corrected"][item] == pytest.approx(np.corrcoef(x, y)[0, 1], abs=1e-6)


def test_rows_that_prefer_an_answer_are_not_better_on_rare_answers():
    """A row that always gives the same answer has all items with this answer right, and no other one."""
    answers = np.array(["A"] * 20 + ["B"] * 4 + ["C"] * 4 + ["D"])
    scores = np.array([(answers == preferred) * 1.0 for preferred in "AAABBBCCC"])
    features = pd.DataFrame({"task": "t", "example": [f"e{place:02}" for place in range(29)]})
    features = features.assign(answer=answers, subtask=None, length=1.0, choices=4.0)
    rows = pd.DataFrame({"model": [*"abcdefghi"], "shots": 0, "prompt": 0})
    items = items_of(Matrix("t", rows, [*features["example"]], scores), features)
    assert items.loc[items["answer"] != "D", "balanced"].tolist() == [0.0] * 28
    assert items.loc[items["answer"] == "D", "balanced"].isna().all()


@pytest.mark.parametrize("block", [3, 512])
def test_reliability_with_missing_responses(block, monkeypatch):
    monkeypatch.setattr(classical, "BLOCK", block)
    generator = np.random.default_rng(5)
    matrix = generator.normal(size=(12, 7)) + generator.normal(size=(12, 1)) + 50
    matrix[generator.random(matrix.shape) < 0.5] = np.nan
    variances, covariances = [], []
    for first in range(7):
        for second in range(7):
            rows = np.isfinite(matrix[:, first]) & np.isfinite(matrix[:, second])
            if rows.sum() > 1:
                covariance = np.cov(matrix[rows, first], matrix[rows, second])[0, 1]
                (variances if first == second else covariances).append(covariance)
    variance, covariance = np.mean(variances), np.mean(covariances)
    expected = 7 * covariance / (variance + 6 * covariance)
    assert reliability(matrix) == pytest.approx(expected)


def test_reliability_of_few_rows_and_items():
    assert reliability([[1.0, 2.0], [3.0, 5.0]]) == pytest.approx(2 * (1 - (2 + 4.5) / 12.5))
    for matrix in ([[1.0, 2.0]], [[1.0], [2.0]], [[1.0, 0.0], [0.0, 1.0]], [[1.0, np.nan], [np.nan, 2.0]]):
        assert np.isnan(reliability(matrix))
    opposed = [[1.0, 0.0, np.nan], [0.0, 1.0, 1.0], [np.nan, 0.0, 1.0]]
    assert np.isnan(reliability(opposed)) or reliability(opposed) < 0
