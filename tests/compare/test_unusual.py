"""Results with missing clusters or a single one, prompts on other examples, and rows in another order."""

from math import nan

import numpy as np
import pandas as pd
import pytest

from abovechance.compare import compare, samples
from abovechance.compare.comparison import compare_models, headline_of, sample_of
from abovechance.compare.gate import gate
from abovechance.compare.over_tasks import together
from abovechance.compare.prompts import over_prompts
from abovechance.compare.responses import Responses, arrange
from abovechance.compare.seeds import over_seeds
from abovechance.core.errors import InputError
from tests.compare.test_gate import of_scores
from tests.compare.test_tables import answers, task_of

COLUMNS = ["model", "task", "shots", "prompt", "example", "score"]


def on_other_examples(models: int = 2, prompts: int = 2, tasks: int = 2) -> pd.DataFrame:
    """Prompts of which the second half has every other example only."""
    generator = np.random.default_rng(0)
    rows = [
        (
            "abc"[model],
            f"t{task}",
            0,
            prompt,
            example,
            float(generator.random() < 0.3 + 0.2 * (model + prompt % 2)),
        )
        for task in range(tasks)
        for prompt in range(prompts)
        for example in range(0, 60, 1 + (prompt >= prompts // 2))
        for model in range(models)
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


@pytest.mark.parametrize("prompts", [2, 6])
def test_prompts_count_alike_in_ranks_pairs_and_means_over_tasks(prompts):
    tasks, (mean,) = compare_models(arrange(on_other_examples(prompts=prompts)))
    for task in tasks:
        assert task.pairs["difference"].tolist() == pytest.approx([task.headline.value])
        assert task.pairs["p"].tolist() == pytest.approx([task.headline.p], rel=1e-6)
        first, second = task.ranks["score"]
        assert first - second == pytest.approx(task.headline.value)
        assert task.comparison["difference"].tolist() == pytest.approx([task.headline.value])
    ahead = [task.headline.value * (1 if task.models[0] == mean.models[0] else -1) for task in tasks]
    assert mean.pairs["difference"].tolist() == pytest.approx([np.mean(ahead)])
    three, _ = compare_models(arrange(on_other_examples(3, prompts)))
    table = on_other_examples(3, prompts)
    by_prompt = table.groupby(["task", "model", "prompt"])["score"].mean().groupby(["task", "model"]).mean()
    for task in three:
        assert dict(zip(task.ranks["model"], task.ranks["score"], strict=True)) == pytest.approx(
            by_prompt[task.task].to_dict()
        )


@pytest.mark.parametrize("draw_prompts", [True, False])
def test_draws_of_prompts_on_other_examples_by_loops(draw_prompts):
    (responses,) = arrange(on_other_examples(prompts=3, tasks=1))
    clusters = np.arange(60) // 4
    sample = samples.prompted(responses.scores, clusters, 30, 7, 11, draw_prompts=draw_prompts)
    counts = np.random.default_rng([7, 11]).multinomial(15, np.full(15, 1 / 15), 30)[:, clusters]
    expected = np.zeros((30, 2))
    for draw, weights in enumerate(counts):
        for model in range(2):
            evaluated = [np.isfinite(row) for row in responses.scores[model]]
            expected[draw, model] = np.mean(
                [
                    np.average(row[has], weights=weights[has])
                    for row, has in zip(responses.scores[model], evaluated, strict=True)
                ]
            )
    if draw_prompts:
        times = np.random.default_rng([7, 3, 11]).multinomial(3, np.full(3, 1 / 3), 30)
        expected += (times - 1) @ np.nanmean(responses.scores, axis=2).T / 3 * np.sqrt(3 / 2)
    assert sample.draws == pytest.approx(expected)
    over = over_prompts(*responses.scores, clusters)
    estimate = over.population if draw_prompts else over.mean
    difference = sample.differences[0, 1]
    assert difference.value == pytest.approx(estimate.value)
    assert difference.p == pytest.approx(estimate.p, rel=1e-6)
    assert difference.spread.standard_error == pytest.approx(estimate.standard_error)
    assert sample.contributions.sum(axis=1) == pytest.approx(sample.scores)


def test_complete_prompts_are_compared_as_before():
    complete = task_of("t", [answers(0, 1, 3), answers(1, 1, 3)])
    sample = sample_of(complete)
    trained = samples.trained(complete.by_seed, complete.clusters, examples=sample.examples)
    assert sample.draws == pytest.approx(trained.draws)
    prompted = samples.prompted(
        complete.scores, complete.clusters, examples=sample.examples, draw_prompts=False
    )
    assert prompted.draws == pytest.approx(trained.draws)
    assert prompted.differences[0, 1].value == pytest.approx(trained.differences[0, 1].value)


def test_a_draw_without_examples_of_a_prompt_is_of_the_other_prompts():
    scores = np.ones((2, 2, 4))
    scores[:, 0, 1:] = np.nan  # often not drawn
    sample = samples.prompted(scores, None, 200, draw_prompts=False)
    assert sample.draws == pytest.approx(np.ones((200, 2)))


def test_a_gates_row_has_the_means_of_its_difference():
    (responses,) = arrange(on_other_examples(tasks=1))
    result = gate([responses], 0.02)
    row = result.tasks.iloc[0]
    assert row["candidate"] - row["reference"] == pytest.approx(row["difference"])
    seeds = task_of("t", [answers(2, 3, 2), answers(3, 2, 2)])
    assert seeds.means == pytest.approx([seeds.by_example[place].mean() for place in (0, 1)])


def test_examples_of_one_cluster_do_not_say_how_others_vary():
    single = np.zeros(30, dtype=int)
    under_prompts, of_seeds = (
        task_of("t", [answers(0, *shape, accuracy=0.9), answers(1, *shape, accuracy=0.3)], clusters=single)
        for shape in ((1, 6), (4, 1))
    )
    for responses in (under_prompts, of_seeds):
        headline = headline_of(responses)
        assert headline.p == 1.0
        assert np.isnan([headline.low, headline.high]).all() or (headline.low, headline.high) == (-1, 1)
        ((comparison,), _) = compare_models([responses])
        assert comparison.pairs["p"].tolist() == [1.0]
        assert comparison.sentence.count("not statistically significant") == 1
        assert gate([responses], 0.02).decision == "cannot tell"
    population = over_prompts(*under_prompts.scores, single).population
    assert np.isnan([population.low, population.p]).all()
    difference = over_seeds(*of_seeds.by_seed, single).difference
    assert np.isnan([difference.low, difference.p]).all()


def test_the_gate_cannot_tell_from_one_cluster():
    scores = np.stack([np.ones(20), np.zeros(20)])[:, None]
    result = gate([of_scores(scores, np.zeros(20, dtype=int))], 0.02)
    assert (result.decision, result.low, result.high) == ("cannot tell", -1.0, 1.0)
    assert result.sentence.endswith("if the observed difference is the true one.")
    unrelated = of_scores(answers(0, 2, 1), np.arange(30))
    tasks = [of_scores(scores, np.zeros(20, dtype=int)), Responses("u", *list(vars(unrelated).values())[1:])]
    assert gate(tasks, 0.02).decision == "cannot tell"


def test_the_order_of_rows_changes_nothing():
    generator = np.random.default_rng(1)
    base = {model: generator.random(60) < accuracy for model, accuracy in (("a", 0.75), ("b", 0.55))}
    rows = [
        (model, task, 0, 0, example, float(base[model][example] ^ (generator.random() < 0.05)))
        for task in ("cloze", "letters")
        for model in "ab"
        for example in range(60)
    ]
    table = pd.DataFrame(rows, columns=COLUMNS)
    _, (mean,) = compare_models(arrange(table))
    for order in (rows[:120] + rows[:119:-1], rows[::-1]):
        _, (reordered,) = compare_models(arrange(pd.DataFrame(order, columns=COLUMNS)))
        assert reordered.sentence == mean.sentence
    assert "not statistically significant" in mean.sentence


@pytest.mark.parametrize("missing", [nan, None, pd.NA])
@pytest.mark.parametrize("kind", [list, pd.Series])
def test_a_missing_cluster_is_told(missing, kind):
    clusters = kind(["p0", "p0", "p1", missing, missing])
    with pytest.raises(InputError) as error:
        compare([1, 0, 1, 0, 1], [0, 0, 1, 1, 1], clusters)
    assert str(error.value) == "the cluster of example 3 is missing; expected one for each"


def test_names_of_clusters_that_look_alike_are_different():
    assert compare([1, 0, 1, 0], [0, 0, 1, 1], [1, "1", 2, "2"]).clusters == 4


@pytest.mark.parametrize("names", [["x", "x", "y", None], [0.1, 0.1, 0.9, nan], [-1, -1, 7, None]])
def test_clusters_of_a_task_may_be_texts_and_numbers_of_any_kind(names):
    rows = [(model, "t", 0, "p", str(example), float(example % 2)) for model in "ab" for example in range(5)]
    clusters = {"t": pd.Series(names, index=["0", "1", "2", "3"])}
    (responses,) = arrange(pd.DataFrame(rows, columns=COLUMNS), clusters)
    assert responses.clusters[0] == responses.clusters[1]
    assert len({*responses.clusters}) == 4


def test_the_gate_takes_shares_and_the_same_models_on_all_tasks():
    tasks = [task_of(f"t{number}", [answers(number, 1, 1), answers(9, 1, 1)]) for number in (1, 2)]
    with pytest.raises(InputError) as error:
        gate([tasks[0], tasks[1].reversed], 0.02)
    assert str(error.value) == "t2: models are b, a; expected a, b in this order, as on t1"
    for factor in (100.0, -1.0):
        with pytest.raises(InputError) as error:
            gate([task_of("t", [factor * answers(1, 1, 1), factor * answers(2, 1, 1)])], 0.02)
        assert str(error.value) == "t: scores are not from 0 to 1, as the gate expects"


def shared_prompts(generator: np.random.Generator) -> pd.DataFrame:
    """Four tasks with examples of their own under the same six prompts, which move one model on all tasks."""
    effects = generator.normal(0, 0.3, 6)
    rows = []
    for task in "abcd":
        levels = generator.beta(2, 2, 40)
        for model, by in (("new", effects), ("old", np.zeros(6))):
            scores = generator.random((6, 40)) < np.clip(levels + by[:, None], 0, 1)
            rows += [
                {
                    "model": model,
                    "task": task,
                    "shots": 0,
                    "prompt": f"p{prompt}",
                    "example": f"{task}{example}",
                }
                | {"score": float(score)}
                for (prompt, example), score in np.ndenumerate(scores)
            ]
    return pd.DataFrame(rows)


def mean_difference(table: pd.DataFrame) -> samples.Difference:
    tasks = [task if task.models[0] == "new" else task.reversed for task in arrange(table)]
    return together([*map(sample_of, tasks)]).difference(0, 1)


def test_prompts_that_tasks_share_are_no_proof_by_repetition():
    generator = np.random.default_rng(0)
    rejected = sum(mean_difference(shared_prompts(generator)).p <= 0.05 for _ in range(40))
    assert rejected <= 7  # 2 expected; of independent prompts, it would be 11


def test_the_order_of_rows_does_not_matter():
    table = shared_prompts(np.random.default_rng(1))
    first, two = mean_difference(table), mean_difference(table.sample(frac=1, random_state=2))
    assert (first.value, first.p) == pytest.approx((two.value, two.p), rel=1e-9)
    assert first.interval(0.025) == pytest.approx(two.interval(0.025), rel=1e-9)
    # the draws of prompts, on which ranks depend, are in the order of their names
    for task in arrange(table.sample(frac=1, random_state=2).replace({"prompt": {"p1": "p10"}})):
        assert task.prompts == ["p0", "p2", "p3", "p4", "p5", "p10"]
    renamed = table.assign(example="x" + table["example"])
    assert mean_difference(renamed).p == pytest.approx(first.p, rel=1e-9)


def trained_table(generator: np.random.Generator, lacking: tuple[str, ...]) -> pd.DataFrame:
    """Equal models with five seeds, with the same effects on all tasks; some tasks lack the first one."""
    effects = {(model, seed): generator.normal(0, 0.1) for model in ("new", "old") for seed in range(5)}
    rows = []
    for task in "abcd":
        levels = generator.beta(2, 2, 60)
        for (model, seed), effect in effects.items():
            if seed or task not in lacking:
                scores = generator.random(60) < np.clip(levels + effect, 0, 1)
                rows += [
                    {"model": model, "task": task, "shots": 0, "prompt": "p", "seed": seed}
                    | {"example": f"{task}{example}", "score": float(score)}
                    for example, score in enumerate(scores)
                ]
    return pd.DataFrame(rows)


def test_trainings_are_matched_by_their_names():
    """If tasks b and d lack the first seed, the others are still the same as on tasks a and c."""
    table = trained_table(np.random.default_rng(3), ("b", "d"))
    tasks = [*map(sample_of, arrange(table))]
    assert [task.repeat_names for task in tasks] == [tuple("01234"), tuple("1234")] * 2
    common = trained_table(np.random.default_rng(3), ()).query("seed > 0")
    complete = [*map(sample_of, arrange(common))]
    mean, of_common = (together(sample).difference(0, 1).spread.variances[0] for sample in (tasks, complete))
    assert mean == pytest.approx(of_common, rel=0.6)
    shifted = [*map(sample_of, arrange(table.assign(seed=table["seed"] - table["task"].isin(["b", "d"]))))]
    assert together(shifted).difference(0, 1).spread.variances[0] < 0.8 * mean
