"""Every column of the tables of PVI, computed a second time by loops and by scipy."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from abovechance.core.errors import InputError
from abovechance.core.resampling import clusters_of_names
from abovechance.core.settings import Setting
from abovechance.pvi import (
    accuracy_of_tails,
    by_group,
    consistency,
    densities,
    examples,
    exemplar_sets,
    hard_demonstrations,
    one_way,
    overview,
    pairs,
    repeated_measures,
    runs,
    v_information,
)
from abovechance.pvi.table import labels_of, of_likelihoods
from abovechance.pvi.tails import tails_of_labels
from tests.pvi.test_study_tables import inputs_of, of_models, prompts_of, simulated_pvi, task


def without_setting(schema) -> list[str]:
    return [name for name in schema.columns if name not in ("model", "task", "shots")]


def clustered(table: pd.DataFrame, size: int = 4) -> pd.Series:
    return pd.Series(np.arange(len(table)) // size, table["example"].to_numpy())


def assert_equal(row: dict, expected: dict) -> None:
    """Compare rows column by column: missing values are equal, too."""
    assert [*row] == [*expected]
    for name, value in expected.items():
        assert row[name] == (
            value if isinstance(value, str) else pytest.approx(value, rel=1e-9, nan_ok=True)
        ), name


def test_a_setting():
    table = task(60)
    pvi, clusters = simulated_pvi(table, 1.0), clustered(table)
    pvi.loc[pvi["example"] == "e3", "tie"] = True
    (row,) = overview.summarize_setting(pvi, clusters, "choices").to_dict("records")
    wide = np.array([group["pvi"].to_numpy() for _, group in pvi.groupby("prompt")])
    names = pvi.loc[pvi["prompt"] == 0, "example"]
    mean = v_information(wide.mean(axis=0), clusters_of_names(names, clusters))
    assert mean.low != v_information(wide.mean(axis=0)).low  # clusters matter here
    correct = pvi["correct"]
    candidates = np.sort(pvi["pvi"])
    middles = (candidates[1:] + candidates[:-1]) / 2
    balanced = [
        ((pvi["pvi"] > middle)[correct].mean() + (pvi["pvi"] <= middle)[~correct].mean()) / 2
        for middle in middles
    ]
    repeated = repeated_measures(wide, clusters_of_names(names, clusters))
    assert repeated.anova != repeated_measures(wide).anova
    assert repeated.share == repeated_measures(wide).share
    assert_equal(
        row,
        {
            "over": "choices",
            "prompts": 3,
            "examples": 60,
            "ties": 3 / 180,
            "mean_pvi": pvi["pvi"].mean(),
            "information": wide.mean(),
            "low": mean.low,
            "high": mean.high,
            "pvi_correct": pvi.loc[correct, "pvi"].mean(),
            "pvi_wrong": pvi.loc[~correct, "pvi"].mean(),
            "negative": (pvi["pvi"] < 0).mean(),
            "accuracy": correct.mean(),
            "threshold": middles[int(np.argmax(balanced))],
            "balanced_accuracy": max(balanced),
            "sets_share": repeated.share,
            "sets_f": repeated.anova.f,
            "sets_between": repeated.anova.between,
            "sets_within": repeated.anova.within,
            "sets_p": repeated.anova.p,
            "sets_examples": 60,
        },
    )
    assert {*row} == {*without_setting(overview.PVI_SETTINGS)}


@pytest.mark.parametrize("flag", [True, False])
def test_a_setting_whose_predictions_are_all_correct_or_all_wrong(flag):
    table = task(20)
    pvi = simulated_pvi(table, 1.0).assign(correct=flag)
    (row,) = overview.summarize_setting(pvi, clustered(table, 1), "choices").to_dict("records")
    present, absent = ("pvi_correct", "pvi_wrong") if flag else ("pvi_wrong", "pvi_correct")
    assert row[present] == pytest.approx(pvi["pvi"].mean())
    assert np.isnan([row[absent], row["threshold"], row["balanced_accuracy"]]).all()
    # an answer that is impossible without the input
    (row,) = overview.summarize_setting(pvi.assign(pvi=np.inf), clustered(table, 1), "choices").to_dict(
        "records"
    )
    assert np.isnan(row["mean_pvi"])
    pvi.loc[pvi.index[0], "pvi"] = np.inf
    (row,) = overview.summarize_setting(pvi, clustered(table, 1), "choices").to_dict("records")
    assert row["mean_pvi"] == pytest.approx(pvi["pvi"][1:].mean())


def test_prompts_evaluated_on_other_examples():
    table = task(60)
    pvi = simulated_pvi(table, 1.0).sample(frac=1, random_state=0)  # in any order
    pvi = pvi[~((pvi["prompt"] == 1) & pvi["example"].isin(["e0", "e1"]))]
    summary = runs.summarize_prompts(pvi)
    assert [*summary] == without_setting(runs.PVI_PROMPTS)
    for row in summary.to_dict("records"):
        group = pvi[pvi["prompt"] == int(row["prompt"])]
        wide = pvi.pivot_table(index="prompt", columns="example", values="pvi", dropna=False)
        other_prompts = wide.drop(index=int(row["prompt"]))
        foreseen = examples.adjusted_means(other_prompts.to_numpy())[
            other_prompts.columns.get_indexer(group["example"])
        ]
        expected = {
            "prompt": row["prompt"],
            "examples": len(group),
            "accuracy": group["correct"].mean(),
            "information": group["pvi"].mean(),
            "pvi_correct": group.loc[group["correct"], "pvi"].mean(),
            "pvi_wrong": group.loc[~group["correct"], "pvi"].mean(),
        }
        for part, share in (("fifth", 0.2), ("half", 0.5)):
            tails = accuracy_of_tails(group["pvi"], group["correct"], share)
            expected |= {f"lowest_{part}": tails.lowest, f"highest_{part}": tails.highest}
        for part, share in (("fifth", 0.2), ("half", 0.5)):
            foretold = tails_of_labels(foreseen, group["correct"], group["label"], share)
            expected |= {f"other_lowest_{part}": foretold.lowest, f"other_highest_{part}": foretold.highest}
        assert_equal(row, expected)


def test_prompts_without_correct_or_wrong_predictions_have_no_mean_of_these():
    pvi = simulated_pvi(task(20), 1.0)
    pvi["correct"] = pvi["prompt"] == 0
    summary = runs.summarize_prompts(pvi)
    assert summary["pvi_correct"].isna().tolist() == [False, True, True]
    assert summary["pvi_wrong"].isna().tolist() == [True, False, False]
    assert summary["accuracy"].tolist() == [1, 0, 0]


def test_the_papers_analysis_of_variance_takes_prompts_with_demonstrations():
    prompts = prompts_of(("m", 0, 5), ("m", 1, 1), ("m", 4, 2))
    (row,) = runs.anova(prompts).to_dict("records")
    groups = [
        prompts[(prompts["prompt"] == name) & (prompts["shots"] > 0)]["pvi_correct"]
        for name in prompts["prompt"].unique()
    ]
    test = stats.f_oneway(*groups)
    expected = {"model": "m", "task": "t", "sets": 3, "numbers": 6}
    assert_equal(row, expected | {"f": test.statistic, "between": 2.0, "within": 3.0, "p": test.pvalue})
    for nothing in (runs.anova(prompts, nested=False), runs.anova(prompts[prompts["shots"] == 0])):
        assert nothing.empty
        assert [*nothing] == [*runs.ANOVA.columns]


def test_an_analysis_of_variance_of_few_or_of_equal_numbers():
    test = stats.f_oneway([1, 2], [4])
    assert one_way([[1, 2], [4]]) == pytest.approx((test.statistic, 1, 1, test.pvalue))
    assert np.isnan(one_way([[1, 2]])).all()
    assert np.isnan(one_way([[1], [2]])).all()
    assert np.isnan(one_way([[1, 2], []])).all()
    assert one_way([[1, 1], [2, 2]]) == pytest.approx((np.nan, 1, 2, np.nan), nan_ok=True)
    assert one_way([[1, 2], [3, 4]]).p == pytest.approx(stats.f_oneway([1, 2], [3, 4]).pvalue)


def test_hard_demonstrations():
    table = task(40)
    generator = np.random.default_rng(0)
    random_sets, hardest = (
        pd.DataFrame(
            [
                {"prompt": prompt, "example": name, "correct": bool(generator.random() < share)}
                for prompt in range(prompts)
                for name in table["example"]
            ]
        )
        for prompts, share in ((3, 0.5), (2, 0.8))
    )
    clusters = clustered(table)
    (row,) = hard_demonstrations.compared(random_sets, hardest, clusters).to_dict("records")
    of_drawn, of_hardest = (
        np.array([group["correct"].to_numpy(dtype=float) for _, group in rows.groupby("prompt")])
        for rows in (random_sets, hardest)
    )
    mean = v_information(of_hardest.mean(axis=0) - of_drawn.mean(axis=0), clusters.to_numpy())
    assert_equal(
        row,
        {
            "examples": 40,
            "drawn_prompts": 3,
            "drawn": of_drawn.mean(),
            "drawn_spread": of_drawn.mean(axis=1).std(ddof=1),
            "hardest_prompts": 2,
            "hardest": of_hardest.mean(),
            "hardest_spread": of_hardest.mean(axis=1).std(ddof=1),
            "difference": of_hardest.mean() - of_drawn.mean(),
            "low": mean.low,
            "high": mean.high,
        },
    )
    assert [*row] == without_setting(hard_demonstrations.PVI_DEMONSTRATIONS)
    (row,) = hard_demonstrations.compared(random_sets, hardest[hardest["prompt"] == 0], clusters).to_dict(
        "records"
    )
    assert np.isnan(row["hardest_spread"])


def test_a_density_is_that_of_scipy():
    pvi = simulated_pvi(task(100), 1.0)
    result = densities.estimate_densities(pvi)
    assert len(result) == 2 * 200
    low, high = np.quantile(pvi["pvi"], [0.002, 0.998])
    assert low < 0 < high
    places = np.linspace(low - 0.1 * (high - low), high + 0.1 * (high - low), 200)
    for correct, group in pvi.groupby("correct"):
        rows = result[result["correct"] == correct]
        assert rows["pvi"].to_numpy() == pytest.approx(places)
        expected = stats.gaussian_kde(group["pvi"], "scott")(places) * len(group) / len(pvi)
        assert rows["density"].to_numpy() == pytest.approx(expected)


def test_a_density_of_two_values_and_of_a_single_one():
    pvi = pd.DataFrame({"correct": [True, True, False], "pvi": [0.0, 3.0, 1.0]})
    result = densities.estimate_densities(pvi)
    correct, wrong = (result[result["correct"] == flag] for flag in (True, False))
    expected = stats.gaussian_kde([0.0, 3.0], "scott")(correct["pvi"]) * 2 / 3
    assert correct["density"].to_numpy() == pytest.approx(expected)
    step = wrong["pvi"].iloc[1] - wrong["pvi"].iloc[0]  # as narrow as the points can show
    assert wrong["density"].to_numpy() == pytest.approx(stats.norm.pdf(wrong["pvi"], 1, step) / 3)
    # a single value, twice: the points are still apart
    result = densities.estimate_densities(pvi.assign(pvi=2.0))
    assert result["pvi"].min() == pytest.approx(2 - 1e-7)
    assert result["pvi"].max() == pytest.approx(2 + 1e-7)


def test_a_density_of_very_many_values_is_that_of_every_second_one(monkeypatch):
    monkeypatch.setattr(densities, "MOST_VALUES", 30)
    values = np.random.default_rng(0).normal(size=75)
    pvi = pd.DataFrame({"correct": True, "pvi": values})
    result = densities.estimate_densities(pvi)
    expected = stats.gaussian_kde(np.sort(values)[::2], "scott")(result["pvi"])
    assert result["density"].to_numpy() == pytest.approx(expected)


def test_groups_with_clusters():
    generator = np.random.default_rng(1)
    values, clusters = generator.normal(size=40) + np.repeat(np.arange(10), 4), np.repeat(np.arange(10), 4)
    groups = ["a", 2] * 20
    result = by_group(values, groups, clusters)
    assert [*result] == ["a", 2]
    for place, group in enumerate(("a", 2)):
        assert result[group] == v_information(values[place::2], clusters[place::2])
        assert by_group(values, groups)[group] == v_information(values[place::2])
        assert result[group].low < by_group(values, groups)[group].low
    with pytest.raises(InputError, match="1 groups for 2 values; expected one for each"):
        by_group([1, 2], ["a"])


def test_pairs_of_models():
    table = task(60)
    values = examples.of_models(of_models(table, {"m": 1.0, "n": 2.0, "o": 0.5}))
    clusters, labels = clustered(table), labels_of(table)
    result = pairs.of_models(values, {"t": clusters}, {"t": labels})
    assert [*result] == [*pairs.PVI_PAIRS.columns]
    assert result[["first", "second"]].to_numpy().tolist() == [["m", "n"], ["m", "o"], ["n", "o"]]
    for row in result.to_dict("records"):
        first, second = (values.loc["t"][row[name]] for name in ("first", "second"))
        by_label = labels.reindex(first.index)
        centred = [series - series.groupby(by_label).transform("mean") for series in (first, second)]
        r = consistency.correlation(first, second, clusters_of_names(first.index, clusters))
        expected = {"between": "models", "model": "", "task": "t"}
        expected |= {name: row[name] for name in ("first", "second")} | r._asdict()
        expected["r"] = stats.pearsonr(first, second).statistic
        expected["within"] = stats.pearsonr(*centred).statistic
        assert_equal({name: row[name] for name in expected}, expected)
    nothing = pairs.of_models(values[["m"]], {"t": clusters}, {"t": labels})
    assert nothing.empty
    assert [*nothing] == [*pairs.PVI_PAIRS.columns]


def test_pairs_of_prompts_and_their_summary():
    table = task(60)
    clusters, labels = clustered(table), labels_of(table)
    by_name = {
        (shots, prompt): values
        for shots in (1, 4)
        for prompt, values in pairs.series(simulated_pvi(table, 1.0, seed=shots)).items()
    }
    pvi = simulated_pvi(table, 1.0, seed=4)
    for prompt in range(3):
        of_prompt = pvi[pvi["prompt"] == prompt]
        assert by_name[4, prompt].to_dict() == pytest.approx(
            dict(zip(of_prompt["example"], of_prompt["pvi"], strict=True))
        )
    result = pairs.of_model(by_name, Setting("m", "t", 1), clusters, labels, nested=True)
    assert result["between"].value_counts().to_dict() == {pairs.SETS: 6, pairs.SHOTS: 3}
    summed = pairs.consistency(result)
    assert [*summed] == [*pairs.CONSISTENCY.columns]
    by_shots = [
        result.loc[(result["between"] == pairs.SETS) & result["first"].str.startswith(shots), "r"].mean()
        for shots in ("1-shot", "4-shot")
    ]
    of_sets = summed.set_index("between").loc[pairs.SETS]
    assert of_sets["median"] == pytest.approx(np.median(by_shots))
    assert of_sets["within"] == pytest.approx(result.loc[result["between"] == pairs.SETS, "within"].mean())
    for nothing in (
        pairs.of_model({}, Setting("m", "t", 1), clusters, labels, nested=True),
        pairs.consistency(result.head(0)),
    ):
        assert nothing.empty
        assert {"between", "within"} <= {*nothing}


def test_within_weights_settings_as_r_does():
    generator, names = np.random.default_rng(0), [f"e{number}" for number in range(60)]
    clusters, labels = pd.Series(range(60), names), pd.Series("a", names)
    shared = pd.Series(generator.normal(size=60), names)
    by_name = {(2, prompt): shared + 0.1 * generator.normal(size=60) for prompt in range(2)}
    by_name |= {(4, prompt): pd.Series(generator.normal(size=60), names) for prompt in range(5)}
    result = pairs.of_model(by_name, Setting("m", "t", 2), clusters, labels, nested=False)
    assert result["within"].to_numpy() == pytest.approx(result["r"].to_numpy())  # there is one label
    summed = pairs.consistency(result).set_index("between").loc[pairs.SETS]
    assert summed["within"] == pytest.approx(summed["mean"])
    assert summed["mean"] > 0.4


def test_there_is_no_correlation_within_labels_if_pvi_only_depends_on_the_label():
    generator, names = np.random.default_rng(1), [f"e{number}" for number in range(9)]
    labels = pd.Series([*"aaabbbccc"], names)
    for _ in range(100):
        by_name = {
            (1, prompt): labels.map(dict(zip("abc", generator.normal(size=3), strict=True)))
            for prompt in (0, 1)
        }
        (row,) = pairs.of_model(
            by_name, Setting("m", "t", 1), pd.Series(range(9), names), labels, nested=False
        ).to_dict("records")
        assert np.isnan(row["within"])
        assert np.isfinite(row["r"])


def test_a_summary_of_no_correlation():
    nothing = consistency.summary([np.nan])
    expected = (0, np.nan, np.nan, 0, 0, np.nan, np.nan)
    assert nothing == pytest.approx(expected, nan_ok=True)


def test_annotators():
    table = task(60)
    result = of_models(table, {"m": 1.0})
    inputs = inputs_of(table).assign(cluster=np.arange(60) // 4)
    generator = np.random.default_rng(3)
    inputs["annotations"] = [[*generator.choice(["a", "b"], 3)] for _ in range(60)]
    inputs.at[5, "annotations"] = None
    inputs.at[6, "annotations"] = "ab"  # a text is no list
    other_task = inputs.assign(task="another task")  # with the same ids
    agreement = examples.by_agreement(result, pd.concat([inputs, other_task]))
    assert [*agreement] == [*examples.ANNOTATIONS.columns]
    for row in agreement.to_dict("records"):
        by_name = result[result["shots"] == row["shots"]].set_index("example")["pvi"]
        chosen = inputs.drop([5, 6])
        variation = np.array([1 - max(map(rows.count, rows)) / 3 for rows in chosen["annotations"]])
        values = by_name[chosen["example"]].to_numpy()
        r = consistency.correlation(variation, values, chosen["cluster"])
        assert_equal(
            row,
            {
                **{"model": "m", "task": "t", "shots": row["shots"], "annotated": 58},
                **{"r": stats.pearsonr(variation, values).statistic, "low": r.low, "high": r.high, "p": r.p},
                **{"agree": values[variation == 0].mean(), "disagree": values[variation > 0].mean()},
            },
        )
    unanimous = inputs.assign(annotations=[["a", "a"]] * 60)
    (row, _) = examples.by_agreement(result, unanimous).to_dict("records")
    assert np.isnan(row["disagree"])
    differing = inputs.assign(annotations=[["a", "b"]] * 60)
    (row, _) = examples.by_agreement(result, differing).to_dict("records")
    assert np.isnan(row["agree"])
    nothing = examples.by_agreement(result, inputs.assign(annotations=None))
    assert [*nothing] == [*examples.ANNOTATIONS.columns]


def test_inputs_are_of_every_task():
    first, second = task(3), task(4, seed=1)
    inputs = examples.inputs_of({"a": first, "b": second})
    assert [*inputs] == ["example", "input", "cluster", "annotations", "task"]
    assert inputs["task"].tolist() == ["a"] * 3 + ["b"] * 4
    assert inputs["input"].tolist() == [*first["input"], *second["input"]]
    assert inputs["cluster"].tolist() == [*first["cluster"], *second["cluster"]]


def test_inputs_are_of_the_examples_task_and_may_be_unknown():
    table = task(30)
    result = of_models(table, {"m": 1.0})
    inputs = inputs_of(table).assign(label="of another meaning", pvi=0.0)[["task", "example", "input", "pvi"]]
    swapped = inputs.assign(task="u", input="of another task")
    hard = examples.hardest(result, pd.concat([swapped, inputs]).drop(columns="pvi"))
    input_of = dict(zip(table["example"], table["input"], strict=True))
    assert hard["input"].tolist() == [input_of[name] for name in hard["example"]]
    unknown = examples.hardest(result, inputs.head(0).drop(columns="pvi"))
    assert unknown["input"].isna().all()
    assert unknown["example"].tolist() == hard["example"].tolist()
    listed = examples.mislabelled(result, swapped.drop(columns="pvi"))
    assert listed["input"].isna().all()
    assert len(listed) == len(examples.mislabelled(result, inputs.drop(columns="pvi")))


@pytest.mark.parametrize(
    "result",
    [
        exemplar_sets.NONE,
        repeated_measures([[1.0, 2.0, 4.0], [2.0, 5.0, 1.0]]),
        consistency.correlation([1, 2, 3, 5], [2, 1, 4, 3]),
        consistency.summary([0.1, 0.9]),
        accuracy_of_tails([1, 2, 3], [True, False, True], 0.5),
    ],
)
def test_results_are_tables_in_notebooks(result):
    html = result._repr_html_()
    for name, value in result._asdict().items():
        assert f">{name.replace('_', ' ')}<" in html
        assert (
            isinstance(value, exemplar_sets.Anova) or not isinstance(value, float) or f"{value:.4g}" in html
        )


def test_a_share_of_hard_examples_is_rounded_up():
    pvi = simulated_pvi(task(31, labels=["no", "yes", "maybe"]), 1.0)
    names = hard_demonstrations.hardest_of_labels([pvi], 1)
    sizes = pvi.groupby("label", observed=True)["example"].nunique()
    assert len(names) == sum(math.ceil(0.2 * size) for size in sizes)


@pytest.mark.parametrize("groups", [None, np.arange(24) // 3, np.arange(24) % 4])
def test_a_correlation_and_its_jackknife(groups):
    generator = np.random.default_rng(2)
    first = generator.normal(size=24) + 30
    second = 0.5 * first + generator.normal(size=24) - 7
    names = np.arange(24) if groups is None else groups
    count = len({*names})
    z = np.arctanh(np.corrcoef(first, second)[0, 1])
    remaining = [names != name for name in range(count)]
    parts = [np.arctanh(np.corrcoef(first[rows], second[rows])[0, 1]) for rows in remaining]
    error = np.sqrt((count - 1) / count * ((parts - np.mean(parts)) ** 2).sum())
    result = consistency.correlation(first, second, groups)
    assert result.r == pytest.approx(np.tanh(z))
    reach = stats.t.isf(0.025, count - 2) * error
    assert (result.low, result.high) == pytest.approx((np.tanh(z - reach), np.tanh(z + reach)))
    assert result.p == pytest.approx(2 * stats.t.sf(abs(z) / error, count - 2))
    assert result.examples == 24


def test_a_correlation_of_few_examples_or_groups():
    three = consistency.correlation([1.0, 2.0, 4.0], [2.0, 1.0, 5.0])
    assert three.r == pytest.approx(stats.pearsonr([1, 2, 4], [2, 1, 5]).statistic)
    two_groups = consistency.correlation([1.0, 2.0, 4.0, 3.0], [2.0, 1.0, 5.0, 1.0], ["a", "a", "b", "b"])
    assert two_groups.r == pytest.approx(stats.pearsonr([1, 2, 4, 3], [2, 1, 5, 1]).statistic)
    # two groups do not show how much r varies
    assert np.isnan([two_groups.p, two_groups.low, two_groups.high]).all()
    for first, second in (([1.0, 2.0], [1.0, 3.0]), ([1.0] * 4, [1.0, 2.0, 3.0, 5.0])):
        for pair in ((first, second), (second, first)):
            result = consistency.correlation(*pair)
            assert result == pytest.approx((np.nan,) * 4 + (len(first),), nan_ok=True)
    zero_and_one = consistency.correlation([0.0, 1.0, 1.0, 0.0], [0.0, 1.0, 0.5, 0.0])
    assert zero_and_one.r == pytest.approx(stats.pearsonr([0, 1, 1, 0], [0, 1, 0.5, 0]).statistic)


def test_examples_of_one_prompt():
    generator = np.random.default_rng(1)
    values = generator.normal(size=30).round(1)
    values[:3] = [0.0, np.inf, 0.5]
    table = pd.DataFrame(
        {"pvi": values, "correct": values > 0.2, "cluster": [f"c{place // 3}" for place in range(30)]}
    )
    row = overview.summarize_examples(table)
    finite = table[np.isfinite(values)]
    mean = v_information(finite["pvi"], finite["cluster"])
    fifths, halves = (accuracy_of_tails(values, table["correct"], share) for share in (0.2, 0.5))
    expected = {"examples": 29, "information": mean.value, "low": mean.low, "high": mean.high}
    expected |= {"negative": (values < 0).mean(), "accuracy": table["correct"].mean()}
    expected |= {"threshold": row["threshold"], "balanced_accuracy": 1.0}
    expected |= {"lowest_fifth": fifths.lowest, "highest_fifth": fifths.highest}
    expected |= {"lowest_half": halves.lowest, "highest_half": halves.highest, "infinite": 1}
    assert_equal(row, expected)
    assert 0.2 < row["threshold"] < 0.5
    plain = overview.summarize_examples(finite.drop(columns=["cluster", "correct"]))
    assert [*plain] == ["examples", "information", "low", "high", "negative"]
    assert plain["low"] == v_information(finite["pvi"]).low != mean.low


def likelihoods(rows: list[tuple[str, float, bool]], **columns: object) -> pd.DataFrame:
    """The table `likelihoods` of a run: example, log-likelihood and whether the choice is correct."""
    table = pd.DataFrame(rows, columns=["example", "logprob", "right"])
    table["choice"] = table.groupby("example").cumcount()
    return table.assign(characters=2.0, bytes=2.0, **columns)


def test_pvi_of_two_runs():
    shares = [("a", 0.5, True), ("a", 0.2, False), ("a", 0.1, False), ("b", 0.25, False), ("b", 0.25, True)]
    null = [("a", 0.25, True), ("a", 0.2, False), ("a", 0.025, False), ("b", 0.0, False), ("b", 0.5, True)]
    first, second = (
        likelihoods([(name, np.log(share) if share else -np.inf, flag) for name, share, flag in rows])
        for rows in (shares, null)
    )
    table = of_likelihoods(first, second.sample(frac=1, random_state=0))
    assert [*table] == ["prompt", "example", "null_bits", "bits", "pvi", "rival", "rival_pvi"]
    assert table["pvi"].tolist() == pytest.approx([1.0, -1.0])
    assert table["bits"].tolist() == pytest.approx([1.0, 2.0])
    assert table["rival"].tolist() == [2, -1]  # an infinite gain has no size
    assert table["rival_pvi"].tolist() == pytest.approx([2.0, np.nan], nan_ok=True)


def test_runs_that_do_not_belong_together():
    rows = [("a", -1.0, True), ("a", -2.0, False), ("b", -1.0, True), ("b", -3.0, False)]
    whole, short = likelihoods(rows), likelihoods(rows[:2])
    for tables, words in (((whole, short), "with inputs"), ((short, whole), "without inputs")):
        with pytest.raises(InputError) as error:
            of_likelihoods(*tables)
        assert str(error.value) == (
            f"example 'b', choice 0 is in the run {words} alone; expected two runs of the same examples"
        )
    ends = "; expected two runs of the same examples, choices and labels"
    changed = whole.assign(bytes=[2.0, 2.0, 3.0, 2.0])
    with pytest.raises(InputError) as error:
        of_likelihoods(whole, changed)
    assert str(error.value) == f"example 'b', choice 0: has 2 bytes in one run, 3 in the other{ends}"
    with pytest.raises(InputError) as error:
        of_likelihoods(whole, whole.assign(right=[True, False, False, True]))
    assert str(error.value) == f"example 'b', choice 0: is correct in one run and wrong in the other{ends}"
    impossible = whole.assign(logprob=[-1.0, -2.0, -np.inf, -3.0])
    with pytest.raises(InputError) as error:
        of_likelihoods(impossible, impossible)
    assert str(error.value) == "example 'b': its answer is impossible with the input and without"
    bare = whole.drop(columns=["characters", "bytes"])
    assert of_likelihoods(bare, changed)["pvi"].tolist() == [0.0, 0.0]


def test_repeated_measures_of_few_examples_and_of_equal_numbers():
    two = repeated_measures([[1.0, 2.0], [2.0, 5.0]])
    assert two.anova.p == pytest.approx(stats.ttest_rel([1, 2], [2, 5]).pvalue)
    for values in ([[1.0, 2.0, 3.0]], [[1.0], [2.0]], [[1.0, 2.0], [3.0, 4.0]]):
        nothing = repeated_measures(values)
        assert np.isnan(nothing.anova).all()
        assert (nothing.epsilon, nothing.share) == pytest.approx((np.nan, np.nan), nan_ok=True)
        assert nothing.examples == len(values[0])
    tiny = repeated_measures([[1e-4, 2e-4, 5e-4], [2e-4, 5e-4, 3e-4]])
    assert tiny.anova.p == pytest.approx(stats.ttest_rel([1, 2, 5], [2, 5, 3]).pvalue)
