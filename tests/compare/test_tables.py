"""Every number and sentence of comparisons on tasks, over tasks, and in the tables of a study."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from abovechance.chance.multiplicity import adjusted
from abovechance.compare import many, over_tasks, samples
from abovechance.compare.comparison import (
    BY_TASK,
    PAIR,
    MeanComparison,
    TwoModelComparison,
    compare_models,
    generalizes,
    headline_of,
    sample_of,
    seed_components,
)
from abovechance.compare.components import COMPONENTS, variance_components
from abovechance.compare.prompts import over_prompts
from abovechance.compare.responses import Responses, arrange
from abovechance.compare.seeds import over_seeds
from abovechance.compare.sentences import points
from abovechance.compare.study import MODEL_PAIRS, MODEL_RANKS, MODELS, SEEDS, TWO_MODELS, of_seeds, of_study
from abovechance.compare.two_models import compare, exchanged
from abovechance.core.p_values import probability

CLUSTERS = np.arange(30) // 2


def answers(seed: int, *shape: int, accuracy: float = 0.6) -> np.ndarray:
    return (np.random.default_rng(seed).random((*shape, 30)) < accuracy).astype(float)


def task_of(
    name: str,
    seeds: list[np.ndarray],
    shots: int = 0,
    clusters: np.ndarray = CLUSTERS,
    models: str = "ab",
) -> Responses:
    """(seeds, prompts, examples) of each model."""
    prompts = [f"p{number}" for number in range(seeds[0].shape[1])]
    examples = [f"{name}{number}" for number in range(seeds[0].shape[2])]
    scores = np.stack([cube.mean(axis=0) for cube in seeds])
    return Responses(name, shots, [*models], prompts, examples, scores, seeds, clusters, ["a note"])


def two(responses: Responses, **options: float) -> TwoModelComparison:
    ((comparison,), means) = compare_models([responses], **options)
    assert means == []
    assert isinstance(comparison, TwoModelComparison)
    return comparison


def by_cluster(scores: np.ndarray, first: int = 0) -> np.ndarray:
    """(..., clusters) means over the examples of each, from the first one that counts."""
    pieces = [scores[..., max(place, first) : place + 2] for place in range(0, 30, 2) if place + 2 > first]
    return np.stack([piece.mean(axis=-1) for piece in pieces], axis=-1)


def row_of(first: np.ndarray, second: np.ndarray, confidence: float = 0.95, power: float = 0.8) -> dict:
    """The columns of ``PAIR`` from a comparison of two models."""
    pair = compare(first, second, CLUSTERS, confidence, power)
    names = ("examples", "clusters", "first", "second", "gain", "better", "worse", "detectable", "needed")
    return {
        **{name: getattr(pair, name) for name in names},
        **dict(zip(("difference", "error", "low", "high", "p"), pair.difference, strict=False)),
        "test": pair.difference.method,
        "unpaired_error": pair.unpaired.standard_error,
        "unpaired_low": pair.unpaired.low,
        "unpaired_high": pair.unpaired.high,
    }


def test_two_models_under_one_prompt():
    first, second = answers(0, 1, 1, accuracy=0.5), answers(1, 1, 1, accuracy=0.8)
    comparison = two(task_of("t", [first, second], 3), confidence=0.9, power=0.7)
    assert (comparison.task, comparison.shots, comparison.models) == ("t", 3, ["b", "a"])
    assert (comparison.prompts, comparison.notes, comparison.about) == (1, ["a note"], "")
    expected = row_of(second[0, 0], first[0, 0], 0.9, 0.7)
    assert [*comparison.comparison.columns] == [*PAIR]
    assert comparison.comparison.iloc[0].to_dict() == pytest.approx(expected)
    headline = compare(second[0, 0], first[0, 0], CLUSTERS, 0.9).difference
    assert comparison.headline == headline
    assert comparison.holm == comparison.bh == headline.p
    assert comparison.over_seeds.empty
    assert comparison.over_prompts.empty
    assert [*comparison.components.columns] == [*COMPONENTS]
    assert comparison.components.empty
    assert comparison.sample.scores.tolist() == [second.mean(), first.mean()]
    sample = samples.trained([first[:, 0], second[:, 0]], CLUSTERS, examples=comparison.sample.examples)
    pd.testing.assert_frame_equal(comparison.ranks, many.ranks(sample, ["a", "b"], 0.9))
    table = many.pairs(sample, ["a", "b"], 0.9)
    pd.testing.assert_frame_equal(comparison.pairs[[*table.columns]], table)
    pair = comparison.comparison.iloc[0]
    interval = f"{100 * headline.low:.1f} to {100 * headline.high:.1f}"
    assert comparison.sentence == (
        f"b is better by {points(headline.value)} (90% confidence interval {interval}, "
        f"p = {probability(headline.p)}). With 30 examples, the test finds a true difference of "
        f"{points(pair['detectable'])} with a probability of 70%. To find a difference of the observed size "
        f"with this probability, it needs {pair['needed']:,.0f} examples."
    )


def test_two_models_under_a_few_prompts():
    first, second = answers(2, 1, 3), answers(3, 1, 3)
    comparison = two(task_of("t", [first, second]), confidence=0.9)
    ahead, behind = (first, second) if first.mean() >= second.mean() else (second, first)
    assert comparison.about == "for these 3 prompts only"
    expected = over_prompts(ahead[0], behind[0], CLUSTERS, 0.9)
    assert comparison.headline[:5] == pytest.approx(expected.mean[:5])
    rows = comparison.over_prompts.to_dict("records")
    for row, kind in zip(rows, ("mean", "population", "best"), strict=True):
        estimate = getattr(expected, kind)
        assert row == pytest.approx(
            {"difference": estimate.value, "low": estimate.low, "high": estimate.high, "p": estimate.p}
            | {"summary": kind}
        )
    expected_row = row_of(ahead[0].mean(axis=0), behind[0].mean(axis=0), 0.9)
    assert comparison.comparison.iloc[0].to_dict() == pytest.approx(expected_row)
    headline = comparison.headline
    interval = f"{100 * headline.low:.1f} to {100 * headline.high:.1f}"
    assert comparison.sentence == (
        "For these 3 prompts only: The difference is not statistically significant: "
        f"{comparison.models[0]} is ahead by {points(headline.value)} (90% confidence interval {interval}, "
        f"p = {probability(headline.p)})."
    )
    below = many.flips([first, second], CLUSTERS)
    places = ["ab".index(model) for model in comparison.models]
    assert comparison.pairs["flips_prompts"].tolist() == [below[places[0], places[1]]]
    cube = np.stack([first[0], second[0]])
    components = variance_components(by_cluster(cube), ["models", "prompts", "clusters"])
    pd.testing.assert_frame_equal(comparison.components, components)


def test_prompts_on_other_examples_count_alike():
    first, second = answers(4, 1, 2), answers(5, 1, 2)
    first[:, 0, :10] = second[:, 0, :10] = np.nan
    comparison = two(task_of("t", [first, second]))
    by_prompt = [np.nanmean(cube, axis=2).mean() for cube in (first, second)]
    ahead, behind = (first, second) if by_prompt[0] >= by_prompt[1] else (second, first)
    mean = over_prompts(ahead[0], behind[0], CLUSTERS).mean
    row = comparison.comparison.iloc[0].to_dict()
    by_example = [np.nanmean(cube[0], axis=0) for cube in (ahead, behind)]
    pair = compare(*by_example, CLUSTERS)
    assert row == pytest.approx(
        {"examples": 30, "clusters": 15, "better": pair.better, "worse": pair.worse}
        | {"first": np.nanmean(ahead[0], axis=1).mean(), "second": np.nanmean(behind[0], axis=1).mean()}
        | {"difference": mean.value, "low": mean.low, "high": mean.high, "p": mean.p}
        | {"error": mean.standard_error, "test": "Student"}
        | dict.fromkeys(("unpaired_error", "unpaired_low", "unpaired_high"), np.nan)
        | dict.fromkeys(("gain", "detectable", "needed"), np.nan),
        nan_ok=True,
    )
    # 20 examples are enough for components, 19 are not
    assert len(comparison.components) > 0
    first[:, 0, 10] = second[:, 0, 10] = np.nan
    assert two(task_of("t", [first, second])).components.empty


def test_two_models_of_several_trainings():
    first, second = answers(6, 3, 1), answers(7, 2, 1)
    comparison = two(task_of("t", [first, second]), confidence=0.9, seed_deviation=0.04)
    ahead, behind = (first, second) if first.mean() >= second.mean() else (second, first)
    over = over_seeds(ahead[:, 0], behind[:, 0], CLUSTERS, 0.9)
    assert comparison.headline[:5] == pytest.approx(over.difference[:5])
    assert comparison.over_seeds.iloc[0].to_dict() == pytest.approx(
        {"first_seeds": len(ahead), "second_seeds": len(behind), "deviation": over.deviation}
        | dict(zip(("difference", "error", "low", "high", "p", "freedom"), over.difference, strict=False))
    )
    assert comparison.about == "for training runs and examples like these"
    difference = comparison.headline.value
    endings = []
    for deviation, place in ((over.deviation, "in these results"), (0.04, "--seed-deviation")):
        smaller = "smaller" if difference < deviation else "not smaller"
        endings.append(
            f" The difference is {smaller} than the standard deviation of a training run's score over seeds: "
            f"{points(deviation)} ({place}). In 95 % of cases, two training runs that differ only in the "
            f"seed differ by at most {points(1.96 * 2**0.5 * deviation)}."
        )
    assert comparison.sentence.endswith("".join(endings))
    assert comparison.pairs["below_seed"].tolist() == [difference < 0.04]
    assert "below_seed" not in two(task_of("t", [first, second])).pairs
    smaller = two(task_of("t", [first, second]), seed_deviation=0.9)
    assert "is smaller than the standard deviation" in smaller.sentence.split("(in these results)")[1]
    assert "percentage points (--seed-deviation)" in smaller.sentence
    distant = [answers(6, 3, 1, accuracy=0.9), answers(7, 2, 1, accuracy=0.2)]
    larger = two(task_of("t", distant), seed_deviation=0.001)
    assert larger.sentence.count("is not smaller than the standard deviation") == 2
    unknown = two(task_of("t", [first[:1], second[:1]]), seed_deviation=float("nan"))
    assert "seed" not in unknown.sentence


@pytest.mark.parametrize(
    ("seeds", "prompts", "averaged", "about"),
    [
        (1, 1, False, ""),
        (1, 1, True, "for these prompts only"),
        (1, 2, False, "for these 2 prompts only"),
        (1, 4, False, "for these 4 prompts only"),
        (1, 5, False, "for prompts and examples like these"),
        (2, 1, False, "for training runs and examples like these"),
        (2, 1, True, "for training runs and examples like these, under these prompts only"),
        (2, 5, False, "for training runs and examples like these, under these 5 prompts only"),
    ],
)
def test_what_conclusions_are_about(seeds, prompts, averaged, about):
    responses = task_of("t", [answers(8, seeds, prompts), answers(9, seeds, prompts)])
    responses = replace(responses, prompts_averaged=averaged)
    assert generalizes(responses) == about
    sample = sample_of(responses)
    assert sample.trainings == (seeds > 1)
    if prompts == 5 and seeds == 1:
        expected = samples.prompted(
            responses.scores, CLUSTERS, examples=sample.examples, prompt_names=responses.prompts
        )
    else:
        expected = samples.trained(responses.by_seed, CLUSTERS, examples=sample.examples)
    assert sample.draws == pytest.approx(expected.draws)


def test_what_never_varies_is_exchanged_and_shares_end_at_1():
    responses = task_of("t", [np.ones((1, 2, 30)), np.zeros((1, 2, 30))], clusters=np.arange(30))
    headline = headline_of(responses, 0.9)
    assert (headline.value, headline.method) == (1.0, "exchange")
    assert headline.p == pytest.approx(exchanged(np.ones(30)))
    once = task_of("t", [np.ones((2, 1, 30)), np.zeros((2, 1, 30))], clusters=CLUSTERS)
    assert headline_of(once).p == pytest.approx(exchanged(np.full(15, 2.0)))
    few = np.ones((1, 5, 30))
    few[0, ::2] = 0.0
    wide = headline_of(task_of("t", [few, 1 - few]))
    assert (wide.low, wide.high) == (-1.0, 1.0)
    assert headline_of(task_of("t", [3 * few, 3 * (1 - few)])).high > 1.0
    assert headline_of(task_of("t", [few - 1, -few])).low < -1.0


def test_models_that_answer_alike():
    scores = answers(10, 1, 1)
    comparison = two(task_of("t", [scores, scores]), confidence=0.9)
    assert 0.14 < 1 - 0.1 ** (1 / 15) < 0.15
    assert comparison.sentence == (
        "Both models have the same score on each of the 30 examples. On similar examples, they differ in at "
        "most 15% of cases (90% confidence bound)."
    )
    many_examples = two(task_of("t", [np.ones((1, 1, 1500))] * 2, clusters=np.arange(1500)), confidence=0.999)
    assert 0.0045 < 1 - 0.001 ** (1 / 1500) < 0.0046
    assert "at most 0.46% of cases (99.9% confidence bound)" in many_examples.sentence
    averaged = task_of("t", [scores, scores])
    averaged = replace(averaged, prompts_averaged=True)
    assert two(averaged).sentence.startswith("For these prompts only: Both models have the same score on ")
    # the same mean on other examples
    turned = two(task_of("t", [scores, scores[:, :, ::-1]], clusters=np.arange(30)))
    assert turned.sentence.startswith("Both models have the same mean score (95% confidence interval -")
    assert turned.sentence.split(").")[1].startswith(" With 30 examples, the test finds a true difference")
    assert "observed size" not in turned.sentence
    repeated = two(task_of("t", [np.repeat(scores, 2, axis=1)] * 2))
    assert repeated.sentence == "For these 2 prompts only: Both models have the same mean score (p = 1.00)."


def several(models: int = 2) -> list[Responses]:
    names = "abcd"[:models]
    return [
        task_of(
            f"t{number}",
            [answers(10 * number + place, 1, 1, accuracy=0.4 + 0.2 * place) for place in range(models)],
            shots,
            np.arange(30),
            names,
        )
        for number, shots in enumerate((2, 2, 2, 0, 0, 1))
    ]


def test_p_values_are_adjusted_for_all_tasks():
    tasks, _ = compare_models(several())
    p_values = [task.headline.p for task in tasks]
    for method in ("holm", "bh"):
        expected = adjusted(p_values, method)
        assert [getattr(task, method) for task in tasks] == pytest.approx([*expected])
        assert [task.pairs[method].iloc[0] for task in tasks] == pytest.approx([*expected])
    tasks, _ = compare_models(several(3))
    together = np.concatenate([task.pairs["p"] for task in tasks])
    for method in ("holm", "bh"):
        values = np.concatenate([task.pairs[method] for task in tasks])
        assert values == pytest.approx(adjusted(together, method))


def test_means_over_tasks_with_the_same_number_of_shots():
    tasks, means = compare_models(several(), confidence=0.9)
    assert [mean.shots for mean in means] == [0, 2]
    mean, shared = means[1], [task for task in tasks if task.shots == 2]
    assert isinstance(mean, MeanComparison)
    assert mean.tasks == ["t0", "t1", "t2"]
    assert mean.about == ""
    names = tasks[0].models
    of_tasks = [task.sample.reordered([task.models.index(name) for name in names]) for task in shared]
    sample = over_tasks.together(of_tasks)
    pd.testing.assert_frame_equal(mean.ranks, many.ranks(sample, tasks[0].models, 0.9))
    pd.testing.assert_frame_equal(mean.pairs, many.pairs(sample, tasks[0].models, 0.9))
    assert mean.models == [*mean.ranks["model"]]
    assert [*mean.by_task.columns] == BY_TASK
    for row, task in zip(mean.by_task.to_dict("records"), shared, strict=True):
        headline = task.headline
        assert row == {"task": task.task, "better": task.models[0], "difference": headline.value} | {
            "low": headline.low,
            "high": headline.high,
            "p": headline.p,
            "holm": task.holm,
            "bh": task.bh,
        }
    pair = mean.pairs.iloc[0]
    alone, corrected = ((mean.by_task[name] <= 0.05).sum() for name in ("p", "holm"))
    significant = pair["p"] <= 0.1
    first = (
        f"{mean.models[0]} is better by "
        if significant
        else f"The difference is not statistically significant: {mean.models[0]} is ahead by "
    )
    interval = f"{100 * pair['low']:.1f} to {100 * pair['high']:.1f}"
    assert mean.sentence == (
        f"{first}{points(pair['difference'])} (90% confidence interval {interval}, "
        f"p = {probability(pair['p'])}). On single tasks, {alone or 'none'} of 3 differences "
        f"{'has' if alone < 2 else 'have'} p <= 0.05 without correction, and {corrected or 'none'} after "
        "Holm's correction."
    )


@pytest.mark.parametrize(
    ("accuracies", "words"),
    [
        ((0.6, 0.6, 0.6), "none of 3 differences has p <= 0.05 without correction, and none after Holm's"),
        ((0.1, 0.6, 0.6), "1 of 3 differences has p <= 0.05 without correction, and 1 after Holm's"),
        ((0.1, 0.1, 0.6), "2 of 3 differences have p <= 0.05 without correction, and 2 after Holm's"),
    ],
)
def test_single_tasks_are_counted(accuracies, words):
    tasks = []
    for number, accuracy in enumerate(accuracies):
        second = answers(50 + number, 1, 1)
        first = answers(60 + number, 1, 1, accuracy=accuracy) if accuracy < 0.5 else second[:, :, ::-1]
        tasks.append(task_of(f"t{number}", [first, second], clusters=np.arange(30)))
    _, (mean,) = compare_models(tasks)
    assert f"On single tasks, {words} correction." in mean.sentence


def test_means_of_other_scopes_and_of_models_that_not_all_tasks_have():
    one_prompt, two_prompts = several()[:2], task_of("p", [answers(20, 1, 2), answers(21, 1, 2)], 2)
    _, (mean,) = compare_models([*one_prompt, two_prompts])
    assert mean.about == "for these prompts only"
    assert mean.sentence.startswith("For these prompts only: ")
    three = several(3)[:2]
    tasks, means = compare_models([*three, two_prompts])
    assert [mean.tasks for mean in means] == [["t0", "t1"]]
    assert means[0].sentence == ""
    assert means[0].by_task.empty
    assert [*means[0].by_task.columns] == BY_TASK
    assert compare_models([three[0], two_prompts])[1] == []
    assert len(tasks) == 3


def test_components_of_seeds():
    first, second = answers(11, 3, 2), answers(12, 1, 2)
    first[:, 0, :5] = np.nan
    table = seed_components(task_of("t", [first, second]))
    # two clusters have no example that is evaluated under both prompts, and one has one
    sizes = [1, *[2] * 12]
    expected = variance_components(by_cluster(first, 5), ["seeds", "prompts", "clusters"], sizes)
    pd.testing.assert_frame_equal(table[[*expected.columns]], expected)
    counts = table[["model", "seeds", "prompts", "examples"]].drop_duplicates().to_dict("records")
    assert counts == [{"model": "a", "seeds": 3, "prompts": 2, "examples": 25}]
    single = seed_components(task_of("t", [first[:, 1:], second[:, 1:]]))
    expected = variance_components(by_cluster(first[:, 1]), ["seeds", "clusters"])
    assert single["variance"].tolist() == pytest.approx(expected["variance"].tolist())
    first[:, 0, 1:] = np.nan
    assert seed_components(task_of("t", [first, second])).empty
    repeats = task_of("t", [answers(13, 3, 1), answers(14, 3, 1)])
    repeats = replace(repeats, repeats="prompts", prompts_averaged=False)
    of_repeats = seed_components(repeats)
    assert {*zip(of_repeats["seeds"], of_repeats["prompts"], strict=True)} == {(1, 3)}
    assert set(of_repeats["source"]) == {"prompts", "clusters", "prompts x clusters"}
    of_examples = seed_components(replace(repeats, clusters=np.arange(30)))
    assert set(of_examples["source"]) == {"prompts", "examples", "prompts x examples"}
    assert seed_components(replace(repeats, clusters=np.zeros(30))).empty


def frames(responses: list[Responses]) -> dict[str, pd.DataFrame]:
    return {schema.name: table for schema, table in of_study(responses)}


def test_tables_of_a_study_of_two_models():
    responses = several()
    tasks, means = compare_models(several())
    tables = frames(responses)
    models = tables[MODELS.name]
    # one mean for each number of shots, in their order; with 1 shot, there is one task
    assert models["shots"].tolist() == [0, 0, 1, 1, 2, 2]
    assert models["tasks"].tolist() == [2, 2, 1, 1, 3, 3]
    assert models["about"].isna().all()
    assert models["score"].tolist()[4:] == means[1].ranks["score"].tolist()
    assert models["score"].tolist()[2:4] == tasks[5].ranks["score"].tolist()
    rank_rows = tables[MODEL_RANKS.name]
    assert rank_rows["task"].tolist() == [name for task in tasks for name in [task.task] * 2]
    assert rank_rows["shots"].tolist() == [shots for task in tasks for shots in [task.shots] * 2]
    pair_rows = tables[MODEL_PAIRS.name]
    assert pair_rows["task"].tolist() == [task.task for task in tasks]
    assert pair_rows["shots"].tolist() == [task.shots for task in tasks]
    assert pair_rows["about"].isna().all()
    assert "flips_prompts" not in pair_rows
    rows = tables[TWO_MODELS.name].to_dict("records")
    assert [*tables[TWO_MODELS.name].columns] == [*TWO_MODELS.columns]
    assert tables[TWO_MODELS.name]["about"].isna().all()
    for row, mean in zip(rows, means, strict=False):
        pair = mean.pairs.iloc[0]
        assert row == pytest.approx(
            {"task": f"mean over {len(mean.tasks)} tasks", "shots": mean.shots, "about": row["about"]}
            | {"better": mean.models[0], "worse": mean.models[1], "conclusion": mean.sentence}
            | {name: pair[name] for name in ("difference", "low", "high", "p")}
            | dict.fromkeys(("holm", "bh", "detectable", "needed"), np.nan),
            nan_ok=True,
        )
    for row, task in zip(rows[len(means) :], tasks, strict=True):
        headline, pair = task.headline, task.comparison.iloc[0]
        assert row == pytest.approx(
            {"task": task.task, "shots": task.shots, "about": row["about"], "conclusion": task.sentence}
            | {"better": task.models[0], "worse": task.models[1], "holm": task.holm, "bh": task.bh}
            | {"difference": headline.value, "low": headline.low, "high": headline.high, "p": headline.p}
            | {"detectable": pair["detectable"], "needed": pair["needed"]},
            nan_ok=True,
        )


def test_tables_say_what_they_are_about():
    responses = [task_of(f"t{number}", [answers(number, 1, 3), answers(9, 1, 3)]) for number in (1, 2)]
    tables = frames(responses)
    for name in (MODELS.name, MODEL_PAIRS.name, TWO_MODELS.name):
        assert set(tables[name]["about"]) == {"for these 3 prompts only"}
    assert tables[MODEL_PAIRS.name]["flips_prompts"].between(0, 1).all()


def test_tables_of_no_models_and_of_three():
    tables = frames([])
    optional = [name for name, column in MODEL_PAIRS.columns.items() if column.optional]
    assert optional == ["flips_prompts"]
    assert {*tables[MODEL_PAIRS.name].columns} == MODEL_PAIRS.columns.keys() - optional
    assert all(table.empty for table in tables.values())
    assert frames(several(3))[TWO_MODELS.name].empty


def test_components_of_the_series_of_a_study():
    generator = np.random.default_rng(3)
    trainings = {f"{name}{seed}": (name, seed) for name in "ab" for seed in (1, 2)}
    rows = pd.DataFrame(
        [
            {"model": model, "task": task, "shots": shots, "prompt": "p", "example": str(example)}
            | {"correct": float(generator.random() < 0.6)}
            for model in trainings
            for task, shots in (("t", 0), ("u", 3))
            for example in range(20)
        ]
    )
    table = of_seeds(rows, trainings)
    assert [*table.columns] == [*SEEDS.columns]
    assert table[["task", "shots", "model"]].drop_duplicates().to_numpy().tolist() == [
        [task, shots, model] for model in "ab" for task, shots in (("t", 0), ("u", 3))
    ]
    chosen = rows[rows["model"].isin(["a1", "a2"]) & (rows["task"] == "u")]
    cube = chosen["correct"].to_numpy().reshape(2, 20)
    expected = variance_components(cube, ["seeds", "examples"])
    of_task = table[(table["model"] == "a") & (table["task"] == "u")]
    assert of_task["variance"].tolist() == pytest.approx(expected["variance"].tolist())
    assert [*arrange(rows.rename(columns={"correct": "score"}))]
    clusters = {"u": pd.Series(np.arange(20) // 4, index=[str(example) for example in range(20)])}
    clustered = of_seeds(rows, trainings, clusters)
    of_task = clustered[(clustered["model"] == "a") & (clustered["task"] == "u")]
    expected = variance_components(cube.reshape(2, 5, 4).mean(axis=2), ["seeds", "clusters"])
    assert of_task["source"].tolist() == ["seeds", "clusters", "seeds x clusters"]
    assert of_task["variance"].tolist() == pytest.approx(expected["variance"].tolist())
    without = table["task"] == "t"
    assert (
        clustered[clustered["task"] == "t"]
        .reset_index(drop=True)
        .equals(table[without].reset_index(drop=True))
    )


@pytest.mark.parametrize(("better", "worse"), [(10, 3), (9, 2), (3, 10), (5, 0), (6, 0)])
def test_the_pair_of_two_models_has_the_interval_of_the_test(better, worse):
    """The score test does not reject 10 against 3; Student's interval would exclude 0."""
    scores = np.zeros((2, 20))
    scores[0, :better] = scores[1, better : better + worse] = 1
    comparison = two(task_of("t", [row[None, None] for row in scores], clusters=np.arange(20)))
    pair = comparison.pairs.iloc[0]
    assert (pair["low"], pair["high"]) == (comparison.headline.low, comparison.headline.high)
    assert pair["p"] == pytest.approx(comparison.headline.p)
    assert (pair["low"] > 0) == (pair["p"] <= 0.05)


@pytest.mark.parametrize("scale", [1.0, 100.0])
def test_no_difference_of_shares_is_above_one(scale):
    """Other scores have no largest difference."""
    names = ["model", "task", "prompt", "example", "score", "shots"]
    few = [
        (model, task, prompt, example, scale * (example % 2 == (model == "b" and task == "t")), 0)
        for model in "ab"
        for task in "tu"
        for prompt in "pq"
        for example in range(2)
    ]
    tasks, (mean,) = compare_models(arrange(pd.DataFrame(few, columns=names)))
    limit = 1.0 if scale == 1 else np.inf
    assert mean.pairs["high"].iloc[0] == (1.0 if scale == 1 else pytest.approx(636.2, abs=0.1))
    assert ("-100.0 to 100.0" in mean.sentence) == (scale == 1)
    assert mean.by_task["better"].tolist() == ["", ""]
    for task in tasks:
        ends = task.comparison[["low", "high", "unpaired_low", "unpaired_high"]].iloc[0]
        assert not (ends.abs() > limit).any()
    first, second = scale * np.array([[1.0, 0], [1, 1]]), scale * np.array([[0.0, 1], [0, 0]])
    estimates = over_prompts(first, second)
    assert (estimates.mean.high == 1) == (estimates.population.low == -1) == (scale == 1)
    detectable = compare(first[1], second[0]).detectable
    assert np.isnan(detectable) == (scale == 1)
