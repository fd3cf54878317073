"""Tables of items, computed a second time by loops."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from abovechance.core.errors import InputError
from abovechance.items import item_statistics, reliability
from abovechance.items.classical import rest_scores
from abovechance.items.features import associations
from abovechance.items.matrices import FEWEST, LISTED, in_short, in_the_best, items_of, matrices
from abovechance.items.smaller import COSTS
from abovechance.items.splits import at_random
from abovechance.items.summary import NEGATIVE, OF_SERIES, PRUNING, adaptive, negative, pruned, smaller
from tests.items.test_matrices import as_table


def scores(rows: int, items: int, missing: float = 0.0, seed: int = 0) -> np.ndarray:
    generator = np.random.default_rng(seed)
    chances = 1 / (1 + np.exp(-generator.normal(size=(rows, 1)) - generator.normal(size=(1, items))))
    matrix = (generator.random((rows, items)) < chances).astype(float)
    matrix[generator.random(matrix.shape) < missing] = np.nan
    return matrix


def matrix_of(values: np.ndarray):
    (matrix,) = matrices(as_table(values).rename(columns={"correct": "score"}))
    return matrix


def described(matrix) -> pd.DataFrame:
    answers = ["no", "yes", "maybe"]
    return pd.DataFrame(
        {
            "example": matrix.examples,
            "answer": [answers[place % 3] for place in range(len(matrix.examples))],
            "subtask": "",
            "length": np.arange(len(matrix.examples), dtype=float),
            "choices": 3.0,
        }
    )


@pytest.mark.parametrize("rows", [8, 10, 24])
def test_a_list_of_items(rows):
    matrix = matrix_of(scores(rows, 15, 0.1, seed=rows))
    features = described(matrix)
    listed = items_of(matrix, features.sample(frac=1, random_state=0), seed=3)
    assert [*listed] == [*LISTED]
    table = item_statistics(matrix.scores)
    place_of = {name: place for place, name in enumerate(matrix.examples)}
    halves = at_random(rows, 0.5, 3) if rows >= 10 else ((), ())
    balanced = item_statistics(matrix.scores, features["answer"])["corrected"]
    best = in_the_best(matrix.scores)
    for row in listed.to_dict("records"):
        place = place_of[row["example"]]
        assert row["corrected"] == pytest.approx(table["corrected"][place], nan_ok=True)
        for name, half in zip(("half", "other_half"), halves, strict=True):
            part = matrix.scores[list(half)] if len(half) else np.empty((0, 15))
            part = part[np.isfinite(part).any(axis=1)]
            if np.isfinite(part[:, place]).sum() < FEWEST or np.nanstd(part[:, place]) == 0:
                assert np.isnan(row[name])
            else:
                kept_items = np.isfinite(part).any(axis=0)
                expected = item_statistics(part[:, kept_items])["corrected"][kept_items[:place].sum()]
                assert row[name] == pytest.approx(expected, nan_ok=True)
        assert row["balanced"] == pytest.approx(balanced[place], nan_ok=True)
        assert row["answer"] == features["answer"][place]
        assert (row["rest"], row["best"]) == pytest.approx((best[0][place], best[1][place]), nan_ok=True)
    keys = [(row["constant"], row["corrected"]) for row in listed.to_dict("records")]
    assert keys == sorted(keys)
    unknown = features["answer"].where(np.arange(15) != 4)
    expected = item_statistics(np.delete(matrix.scores, 4, axis=1), unknown.dropna())["corrected"]
    partly = items_of(matrix, features.assign(answer=unknown)).set_index("example")["balanced"]
    assert np.isnan(partly[matrix.examples[4]])
    known_examples = [name for place, name in enumerate(matrix.examples) if place != 4]
    assert partly[known_examples].tolist() == pytest.approx(expected.tolist(), nan_ok=True)
    one_answer = items_of(matrix, features.assign(answer="yes"))
    assert one_answer["balanced"].isna().all()


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_the_best_fifth_by_the_rest_of_the_items(missing):
    values = scores(26, 9, missing)
    values[:, 3] = np.where(np.arange(26) < 13, 1.0, values[:, 3])
    rest = rest_scores(values)
    of_rest, of_best = in_the_best(values)
    for item in range(9):
        rows = [row for row in range(26) if np.isfinite(values[row, item]) and np.isfinite(rest[row, item])]
        rows.sort(key=lambda row: rest[row, item].round(9))
        ordered = rest[rows, item].round(9)
        # the border next to the best fifth that no rows with equal scores are on both sides of
        borders = [0, *(place + 1 for place in np.flatnonzero(np.diff(ordered))), len(rows)]
        first = len(rows) - round(0.2 * len(rows))
        border = min(borders, key=lambda place: (abs(place - first), place))
        for result, part in ((of_rest[item], rows[:border]), (of_best[item], rows[border:])):
            x, y = values[part, item], rest[part, item]
            if len(part) < 5 or np.ptp(x) == 0 or np.ptp(y) < 1e-12:
                assert np.isnan(result)
            else:
                assert result == pytest.approx(stats.pearsonr(x, y).statistic)
    assert np.isfinite(of_rest).any()
    assert np.isfinite(of_best).any()
    assert np.isnan(in_the_best(values[:, :1])).all()


def test_a_task_in_short():
    values = scores(40, 30)
    values[:, 4] = 1.0
    matrix = matrix_of(values)
    listed = items_of(matrix, described(matrix))
    varied = [row for row in listed.to_dict("records") if not row["constant"]]

    def correlation(first: str, second: str) -> float:
        pairs = [
            (row[first], row[second])
            for row in varied
            if np.isfinite(row[first]) and np.isfinite(row[second])
        ]
        return stats.pearsonr(*zip(*pairs, strict=True)).statistic

    assert in_short(matrix, listed) == pytest.approx(
        {
            **{"task": "t", "models": 20, "rows": 40, "items": 30, "difficulty": values.mean()},
            **{"alpha": reliability(values), "constant": 1},
            "negative": sum(row["corrected"] < 0 for row in varied),
            "discrimination": np.mean([row["corrected"] for row in varied]),
            "balanced": np.mean([row["balanced"] for row in varied]),
            "halves": correlation("half", "other_half"),
            "best_and_rest": correlation("rest", "best"),
            "by_answer": associations(listed).set_index("feature").loc["answer", "share"],
        }
    )
    few = listed.assign(half=[0.1, 0.3] + [np.nan] * 28)
    assert np.isnan(in_short(matrix, few)["halves"])
    few = listed.assign(half=[0.1, 0.3, 0.2] + [np.nan] * 27, other_half=[0.1, 0.4, 0.2] + [0.5] * 27)
    assert in_short(matrix, few)["halves"] == pytest.approx(
        np.corrcoef([0.1, 0.3, 0.2], [0.1, 0.4, 0.2])[0, 1]
    )
    for constant in ({"half": 0.1}, {"other_half": 0.1}):
        assert np.isnan(in_short(matrix, few.assign(**constant))["halves"])
    nothing = in_short(matrix_of(np.ones((4, 3))), items_of(matrix_of(np.ones((4, 3)))))
    assert np.isnan([nothing["discrimination"], nothing["balanced"]]).all()
    assert nothing["negative"] == 0


def test_responses_that_are_there_twice_are_named():
    table = as_table(scores(4, 3)).rename(columns={"correct": "score"})
    repeated = pd.concat([table, table.iloc[[5]], table.iloc[[2]]], ignore_index=True)
    row = table.iloc[5]
    with pytest.raises(InputError) as error:
        [*matrices(repeated)]
    assert str(error.value) == (
        f"t: example '{row['example']}' stands twice for '{row['model']}', 1-shot, prompt {row['prompt']}; "
        "expected once"
    )


def test_negative_items():
    listed = pd.DataFrame(
        {
            "task": ["t"] * 30 + ["u"] * 3,
            "example": [f"e{place}" for place in range(33)],
            "difficulty": 0.5,
            "corrected": [-0.01 * (place + 1) for place in range(30)] + [-0.1, 0.0, -0.2],
            "half": -0.1,
            "other_half": [-0.1] * 32 + [0.0],
            "constant": [False] * 29 + [True] + [False] * 3,
            "balanced": 0.1,
            "answer": None,
        }
    )
    features = pd.DataFrame({"task": ["t", "u"], "example": ["e28", "e28"], "input": ["of t", "of u"]})
    pvi = pd.DataFrame({"task": ["t"], "example": ["e28"], "suggested": ["no"], "beyond": [1.5]})
    table = negative(listed, features, pvi)
    # the twenty of t that discriminate least and the one of u, the first of each task first
    assert table["example"].tolist() == ["e28", "e30", *(f"e{place}" for place in range(27, 8, -1))]
    assert [*table] == [name for name in NEGATIVE.columns if name != "answer"]
    assert table.iloc[0][["input", "suggested", "beyond"]].tolist() == ["of t", "no", 1.5]
    assert table["input"].notna().sum() == 1
    without = negative(listed, features.head(0), pvi.drop(columns="beyond"))
    assert [*without] == [name for name in NEGATIVE.columns if name not in ("answer", "input", "beyond")]


def steps_of(change: float, low: float, high: float) -> pd.DataFrame:
    columns = {"task": "t", "split": "random", "items": [50, 45, 40], "removed": [0, 5, 10]}
    table = pd.DataFrame(columns).assign(mean=[0.5, 0.55, 0.5 + change], error=[0.1, 0.2, 0.3])
    ends = {"random_mean_low": [0.4, 0.4, 0.5 + low], "random_mean_high": [0.6, 0.6, 0.5 + high]}
    table = table.assign(deviation=[0.01, 0.02, 0.03], monotonicity=np.nan, **ends)
    return table.assign(random_error=[0.11, 0.21, 0.31], random_deviation=0.04, random_monotonicity=np.nan)


@pytest.mark.parametrize(
    ("change", "low", "high", "outside"),
    [
        (0.25, 0.0, 0.125, "yes"),
        (-0.25, -0.125, 0.0, "yes"),
        (0.125, 0.0, 0.125, "no"),
        (0.0, 0.0, 0.5, "no"),
    ],
)
def test_the_effect_of_removing_items(change, low, high, outside):
    (row,) = pruned(steps_of(change, low, high).iloc[[2, 0, 1]]).to_dict("records")
    expected = {
        "task": "t",
        "split": "random",
        "items": 50,
        "removed": 10,
        "mean": 0.5,
        "mean_change": change,
    }
    expected |= {"random_low": low, "random_high": high, "outside": outside}
    expected |= {"error": 0.1, "error_after": 0.3, "random_error": 0.31}
    expected |= {"deviation": 0.01, "deviation_after": 0.03, "random_deviation": 0.04}
    assert row == pytest.approx(expected)
    with_series = pruned(steps_of(change, low, high).assign(monotonicity=0.5, random_monotonicity=0.25))
    assert [*with_series] == [*PRUNING.columns]
    assert with_series["monotonicity_after"].tolist() == [0.5]


def test_adaptive_decisions_of_all_tasks():
    by_task = pd.DataFrame(
        {
            "question": ["a", "a", "b"],
            "way": "random",
            "evaluations": [100, 300, 7],
            "examples": [10.0, 20.126, 3.0],
            "available": [50.0, 70.0, 40.456],
            "share": [0.2, 0.4, 0.1],
            "wrong": [0.02, 0.05, 1.0],
        }
    )
    first, second = adaptive(by_task).to_dict("records")
    assert first == pytest.approx(
        {
            **{"question": "a", "way": "random", "evaluations": 400, "examples": 17.5945, "available": 65.0},
            **{"share": 0.35, "wrong": 17 / 400, "wrong_limit": stats.beta.ppf(0.95, 18, 383)},
        }
    )
    assert (second["available"], second["wrong"], second["wrong_limit"]) == (40.456, 1.0, 1.0)


def test_smaller_benchmarks_are_means_over_the_tasks_of_all_sizes():
    rows = [
        (task, "random", method, examples, error)
        for task, sizes in (("t", (10, 50)), ("u", (10, 50)), ("v", (10,)))
        for method, examples, error in [
            *(("random", size, size / 100 + (task == "u")) for size in sizes),
            ("all examples", 90 if task == "t" else 101, 0.0),
        ]
    ]
    table = pd.DataFrame(rows, columns=["task", "split", "method", "examples", "error"])
    numbers = {*COSTS} - {"method", "examples", "error"}
    columns = {name: np.nan if name in OF_SERIES else 0.25 for name in numbers}
    result = smaller(table.assign(**columns))
    assert result["examples"].tolist() == [10, 50, 96]
    assert result["error"].tolist() == pytest.approx([0.6, 1.0, 0.0])
    assert result["tasks"].tolist() == [2, 2, 2]
    assert "monotonicity" not in result
    assert "monotonicity" in smaller(table.assign(**columns | {"monotonicity": 0.5}))
    whole = smaller(table[table["method"] == "all examples"].assign(**columns))
    assert (whole["examples"].tolist(), whole["tasks"].tolist()) == ([97], [3])
