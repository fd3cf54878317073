"""What is said of the examples of a task, and of all tasks together."""

import warnings

import numpy as np
import pandas as pd
import pytest

from abovechance.items import by_group, summary
from abovechance.items.features import EXAMPLE_FEATURES
from abovechance.items.matrices import Matrix
from abovechance.items.of_task import BEST, NEW, RANDOM, TABLES, Study, analyse, dense, splits
from abovechance.items.smaller import ALL
from abovechance.shown import items as figures
from tests.items.test_response_theory import simulated

MODELS = {name: name for name in "abcd"}


def task(rows: int = 40, items: int = 40, gaps: float = 0.05, seed: int = 0) -> tuple:
    """A matrix whose examples have one of two answers, of which prompts like one."""
    generator = np.random.default_rng(seed)
    answers = np.where(np.arange(items) % 3, "yes", "no")
    liking = generator.normal(scale=2, size=(rows, 1)) * np.where(answers == "yes", 1, -1)
    hard = generator.normal(size=items)
    scores = (
        generator.normal(0.3, 0.5, (rows, 1)) + liking - hard > generator.logistic(size=(rows, items))
    ) * 1.0
    scores[generator.random(scores.shape) < gaps] = np.nan
    table = pd.DataFrame(
        {"model": np.repeat([*"abcd"], rows // 4), "shots": 1, "prompt": [*range(rows // 4)] * 4}
    )
    examples = [f"e{place}" for place in range(items)]
    features = pd.DataFrame(
        {
            "task": "t",
            "example": examples,
            "answer": answers,
            "subtask": "",
            "length": 10.0 + np.arange(items),
            "choices": 2.0,
            "input": examples,
        }
    )
    return Matrix("t", table, examples, scores), dict.fromkeys(examples, 0.5), features


@pytest.fixture(scope="module")
def tables() -> dict[str, pd.DataFrame]:
    matrix, chance, features = task()
    series = {"a": {"name": "s", "seed": 0, "checkpoint": 1}, "b": {"name": "s", "seed": 1, "checkpoint": 1}}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return analyse(matrix, chance, features, Study(MODELS, series, (5, 10), 2, 1))


def test_every_table_has_its_columns(tables):
    assert [*tables] == [schema.name for schema in TABLES]
    for schema in TABLES:
        assert schema.to_arrow(tables[schema.name]).num_rows == len(tables[schema.name]) > 0, schema.name


def test_rows_that_differ_in_the_answer_they_like_are_found_out(tables):
    short = tables["item_tasks"].iloc[0]
    assert short["by_answer"] > 0.7
    # the half of the items whose answer goes against the other
    assert short["negative"] > 5
    assert short["halves"] > 0.5
    listed = tables["item_list"]
    assert listed["balanced"].abs().mean() < listed["corrected"].abs().mean()
    first = tables["item_associations"].set_index("feature").loc["answer"]
    assert first["p"] < 0.01


def test_rows_are_held_out_in_three_ways(tables):
    for name in ("item_pruning", "smaller_benchmarks"):
        assert [*dict.fromkeys(tables[name]["split"])] == [RANDOM, BEST, NEW]
    parts = [*by_group(list("aabbccdd"))]
    assert sorted(place for _, test in parts for place in test) == [*range(8)]
    assert all(
        not {"aabbccdd"[place] for place in first} & {"aabbccdd"[place] for place in second}
        for first, second in parts
    )
    assert len([*by_group([str(group) for group in range(20)])]) == 5


@pytest.mark.parametrize(("rows", "items"), [(4, 40), (40, 5), (4, 2)])
def test_few_rows_or_items_have_tables_without_rows(rows, items):
    matrix, chance, features = task(rows, items, gaps=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tables = analyse(matrix, chance, features, Study(MODELS, {}, (5,), 2, 1))
    for name in ("item_fit", "item_pruning", "smaller_benchmarks"):
        assert tables[name].empty
    assert len(tables["item_list"]) == items
    for schema in TABLES:
        schema.to_arrow(tables[schema.name])


def test_nothing_is_known_of_examples_and_all_is_said_but_that():
    matrix, chance, _ = task()
    tables = analyse(matrix, chance, EXAMPLE_FEATURES.together([]), Study(MODELS, {}, (5,), 2, 0))
    assert tables["item_list"][["answer", "balanced"]].isna().all(axis=None)
    assert tables["item_associations"]["feature"].tolist() == ["difficulty"]
    assert tables["adaptive"].empty
    for schema in TABLES:
        schema.to_arrow(tables[schema.name])


def test_prompts_that_have_examples_of_their_own_are_no_reason_to_stop():
    """Where no row shares an item, no response can be held out."""
    matrix, chance, features = task(12, 144, gaps=0)
    rows = np.repeat(np.arange(12), 12) == np.arange(12)[:, None]
    matrix.scores[~rows] = np.nan
    tables = analyse(matrix, chance, features, Study(MODELS, {}, (5,), 2, 1))
    assert tables["item_fit"].empty
    assert len(tables["item_list"]) == 144


def test_new_models_are_compared_with_each_other_where_there_are_four(tables):
    """Parts of two models, in which not all pairs of rows are of one."""
    costs = tables["smaller_benchmarks"].query("split == @NEW and method == 'random'")
    assert (costs["flips"] != costs["flips_within"]).all()
    rows = [*splits(task()[0], Study(MODELS))]
    assert [len(test) for name, _, test in rows if name == NEW] == [20, 20]
    three = Study(MODELS | {"d": "c"})
    assert sorted(len(test) for name, _, test in splits(task()[0], three) if name == NEW) == [10, 10, 20]


def test_items_that_many_rows_lack_are_not_taken_away():
    matrix, *_ = task(gaps=0)
    matrix.scores[:20, :10] = np.nan
    matrix.scores[0, 10:30] = np.nan
    rows = dense(matrix)
    assert rows.scores.shape == (39, 30)
    assert rows.examples == matrix.examples[10:]
    assert len(rows.rows) == 39


def test_all_tasks_together(tables):
    several = {
        name: pd.concat([table, table.assign(task="u")], ignore_index=True) for name, table in tables.items()
    }
    features = task()[2]
    lowest = tables["item_list"].loc[tables["item_list"]["corrected"].idxmin(), "example"]
    mislabelled = pd.DataFrame({"task": ["t"], "example": [lowest], "suggested": ["yes"], "beyond": [2.0]})
    negative = summary.negative(several["item_list"], features, mislabelled)
    assert (negative[["corrected", "half", "other_half"]] < 0).all(axis=None)
    assert negative["task"].tolist() == ["t", "u"] * (len(negative) // 2)
    assert negative.loc[negative["task"] == "t", "corrected"].is_monotonic_increasing
    joined = negative[negative["suggested"].notna()]
    assert joined[["task", "example"]].to_numpy().tolist() == [["t", lowest]]
    assert negative.loc[negative["task"] == "t", "input"].notna().all()
    none = summary.negative(several["item_list"].assign(corrected=0.5), features, mislabelled.iloc[:0])
    assert none.empty
    assert [*none] == [*negative]
    alone = summary.negative(several["item_list"], EXAMPLE_FEATURES.together([]), pd.DataFrame())
    assert [*alone] == [name for name in negative if name not in ("suggested", "beyond", "input")]
    # the usual case of good items, without PVI
    sound = several["item_list"].assign(corrected=0.5)
    for of_examples in (features, EXAMPLE_FEATURES.together([])):
        none = summary.negative(sound, of_examples, pd.DataFrame())
        assert none.empty
        summary.NEGATIVE.to_arrow(none)
    ends = summary.pruned(several["item_pruning"])
    assert len(ends) == 6
    assert (ends["removed"] / ends["items"]).unique().tolist() == [0.2]
    costs = summary.smaller(several["smaller_benchmarks"])
    assert costs["tasks"].unique().tolist() == [2]
    first = tables["smaller_benchmarks"].set_index(["split", "method", "examples"])["error"]
    assert costs.set_index(["split", "method", "examples"])["error"].to_dict() == pytest.approx(
        first.to_dict()
    )
    # a task that lacks a size would make the mean of others than at the other sizes
    fewer = several["smaller_benchmarks"]
    fewer = fewer[(fewer["task"] == "t") | (fewer["examples"] != 10)]
    assert summary.smaller(fewer)["tasks"].unique().tolist() == [1]
    merged = summary.adaptive(several["adaptive"]).set_index(["question", "way"])
    alone = tables["adaptive"].set_index(["question", "way"])
    assert merged["evaluations"].tolist() == (2 * alone["evaluations"]).tolist()
    assert merged["share"].tolist() == pytest.approx(alone["share"].tolist())
    assert (merged["wrong_limit"] < alone["wrong_limit"]).all()


def test_figures_are_drawn_of_them_and_of_none(tables):
    listed = figures.item_numbers(tables["item_list"])
    steps = figures.pruning_numbers(tables["item_pruning"])
    assert steps.loc[steps["share"] == 0, ["mean"]].abs().max(axis=None) == 0
    assert steps.loc[steps["share"] == 0, "error"].tolist() == pytest.approx([1, 1, 1])
    for draw, table in (
        (figures.scatter, listed),
        (figures.halves, listed),
        (lambda rows: figures.pruning(rows, "mean"), steps),
        (lambda rows: figures.pruning(rows, "error"), steps),
        (figures.costs, summary.smaller(tables["smaller_benchmarks"])),
        (figures.adaptive, summary.adaptive(tables["adaptive"])),
    ):
        for rows in (table, table.iloc[:0]):
            draw(rows).canvas.draw()


def test_figures_say_why_there_is_nothing(tables):
    costs = summary.smaller(tables["smaller_benchmarks"])
    few = costs.assign(flips_best=np.nan)
    assert len(figures.costs(few).axes) == len(figures.costs(costs).axes) - 3  # a row without any is left out
    # of eight rows, random or the best, the best fifth has no three
    messages = [axes.texts[0].get_text() for axes in figures.costs(costs).axes if axes.texts]
    assert messages == ["too few rows"] * 2
    none = figures.costs(costs[costs["method"] == ALL])
    assert none.axes[0].texts[0].get_text() == "no task has more examples than that"
    steady = figures.pruning_numbers(tables["item_pruning"]).assign(monotonicity=np.nan)
    assert len(figures.pruning(steady, "monotonicity").axes[0].texts) == 1


def test_models_with_partly_other_items_are_held_against_each_other_on_what_they_share():
    matrix, chance, features = task(gaps=0)
    matrix.scores[:3, :6] = np.nan  # of few rows, so that these items are not left out by themselves
    matrix.scores[10:13, 6:12] = np.nan
    tables = analyse(matrix, chance, features, Study(MODELS, {}, (5,), 2, 0))
    for name, key in (("item_pruning", "removed"), ("smaller_benchmarks", "method")):
        assert not tables[name].duplicated(["split", key]).any()
    figures.pruning_numbers(tables["item_pruning"])


@pytest.mark.parametrize("scores", [np.ones((1, 20)), np.where(np.eye(12) > 0, 1.0, np.nan)])
def test_one_row_or_rows_that_share_nothing_are_no_error(scores):
    rows = pd.DataFrame({"model": [f"m{row}" for row in range(len(scores))], "shots": 1, "prompt": 0})
    examples = [f"e{place}" for place in range(scores.shape[1])]
    groups = {model: model for model in rows["model"]}
    tables = analyse(
        Matrix("t", rows, examples, scores),
        dict.fromkeys(examples, 0.5),
        EXAMPLE_FEATURES.together([]),
        Study(groups, {}, (5,), 2, 0),
    )
    for schema in TABLES:
        schema.to_arrow(tables[schema.name])
    assert tables["item_fit"].empty


def test_simulated_items_of_one_ability_have_no_share_of_answers():
    matrix, chance, features = task()
    similar = Matrix("t", matrix.rows, matrix.examples, simulated(40, 40, seed=2)[3])
    tables = analyse(similar, chance, features, Study(MODELS, {}, (5,), 2, 0))
    assert tables["item_tasks"]["by_answer"][0] < 0.15
    assert tables["item_tasks"]["negative"][0] <= 3


def test_the_seed_decides_all_that_is_drawn():
    matrix, chance, features = task()
    first, repeated, of_another_seed = (
        analyse(matrix, chance, features, Study(MODELS, {}, (5, 10), 2, 1, seed=seed)) for seed in (1, 1, 2)
    )
    for name, table in first.items():
        pd.testing.assert_frame_equal(table, repeated[name])
    changed = {name for name, table in first.items() if not table.equals(of_another_seed[name])}
    assert changed >= {"item_list", "item_fit", "item_pruning"}
