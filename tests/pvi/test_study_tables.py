"""What PVI says of prompts, examples and pairs, on made-up models whose truth is known."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

from abovechance.core.errors import InputError
from abovechance.core.settings import Setting
from abovechance.core.two_way import adjusted_means
from abovechance.pvi import (
    accuracy_of_tails,
    densities,
    examples,
    one_way,
    overview,
    pairs,
    repeated_measures,
    runs,
    v_information,
)
from abovechance.pvi.table import labels_of, of_scores
from abovechance.pvi.tails import tails_of_labels
from abovechance.study.tasks import as_table

LABELS = ["no", "yes", "maybe"]


def task(count: int, labels: list[str] = LABELS, seed: int = 0) -> pd.DataFrame:
    generator = np.random.default_rng(seed)
    return as_table(
        {
            "example": f"e{number}",
            "text": f"text {number}",
            "choices": labels,
            "correct": [place == correct for place in range(len(labels))],
        }
        for number, correct in enumerate(generator.integers(len(labels), size=count))
    )


def scores(table: pd.DataFrame, logits: np.ndarray) -> pd.DataFrame:
    """The table `scores` of (prompts, examples, choices) log-likelihoods."""
    prompt, example, choice = (axis.ravel() for axis in np.indices(logits.shape))
    rows = {"prompt": prompt, "example": table["example"].to_numpy()[example], "choice": choice}
    return pd.DataFrame(rows | {"logprob": logits.ravel()})


def sure(logits: np.ndarray) -> np.ndarray:
    return logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))


def simulated_pvi(table: pd.DataFrame, skill: float, prompts: int = 3, seed: int = 1) -> pd.DataFrame:
    """The table `pvi` of a made-up model: evidence for the right answer, and a liking for some answers."""
    generator = np.random.default_rng(seed)
    correct = np.array([flags.index(True) for flags in table["correct"]])
    evidence = generator.normal(0, 1, (len(table), 3))
    evidence[range(len(table)), correct] += skill * generator.gamma(2, 0.5, len(table))
    noise = generator.normal(0, 0.3, (prompts, len(table), 3))
    liking = generator.normal(0, 1.5, (prompts, 1, 3))
    null = sure(np.broadcast_to(liking, (prompts, len(table), 3)))
    argument = sure(liking + evidence + noise)
    predicted = argument.argmax(axis=-1)
    predictions = pd.DataFrame(
        [
            {
                "prompt": prompt,
                "example": example,
                "correct": bool(predicted[prompt, place] == correct[place]),
            }
            | {"tie": False}
            for prompt in range(prompts)
            for place, example in enumerate(table["example"])
        ]
    )
    return of_scores(scores(table, argument), scores(table, null), table, predictions)


def test_a_table_of_pvi_says_what_scores_say():
    table = task(40)
    pvi = simulated_pvi(table, 1.0)
    assert len(pvi) == 3 * 40
    assert np.allclose(pvi["pvi"], pvi["null_bits"] - pvi["bits"])
    assert (pvi["label"] != pvi["rival"]).all()
    assert pvi["rival_pvi"].notna().all()


def test_null_scores_of_other_prompts_are_told():
    table = task(5)
    logits = sure(np.zeros((2, 5, 3)))
    argument = scores(table, logits)
    predictions = pd.DataFrame({"prompt": [], "example": [], "correct": [], "tie": []})
    with pytest.raises(InputError, match="null-target prompt 1 has no score of example 'e0', choice 0"):
        of_scores(argument, argument[argument["prompt"] == 0], table, predictions)


@pytest.mark.parametrize("words", ["with", "without"])
def test_correct_choices_of_which_one_contains_another_are_told(words):
    table = task(2)
    table.at[1, "correct"] = [True, True, False]
    certain, possible = (np.log([[[0.2, 0.3, 0.5], shares]]) for shares in ([0.6, 0.5, 0.1], [0.2, 0.2, 0.5]))
    tables = [scores(table, logits) for logits in (certain, possible)]
    tables = tables if words == "with" else tables[::-1]
    predictions = pd.DataFrame({"prompt": 0, "example": ["e0", "e1"], "correct": True, "tie": False})
    message = "example 'e1': its correct choices have the probability 1.1 " + words
    with pytest.raises(InputError, match=message):
        of_scores(*tables, table, predictions)
    normalized = of_scores(*tables, table, predictions, "choices")
    assert normalized["bits"].iloc[1] == pytest.approx(-np.log2(1.1 / 1.2 if words == "with" else 0.4 / 0.9))


def test_of_several_correct_choices_the_answer_is_any():
    table = task(1)
    table.at[0, "correct"] = [True, True, False]
    argument, null = (np.log([[[0.2, 0.3, 0.5]]]), np.log([[[0.1, 0.15, 0.5]]]))
    predictions = pd.DataFrame({"prompt": [0], "example": ["e0"], "correct": [True], "tie": [False]})
    (row,) = of_scores(scores(table, argument), scores(table, null), table, predictions).to_dict("records")
    assert row["bits"] == pytest.approx(1)
    assert row["pvi"] == pytest.approx(1)
    assert row["label"] == "no / yes"
    assert (row["rival"], row["rival_pvi"]) == ("maybe", pytest.approx(0))


def test_prompts_have_their_tails_and_those_that_others_foresee():
    pvi = simulated_pvi(task(60), 1.0)
    summary = runs.summarize_prompts(pvi)
    for prompt, group in pvi.groupby("prompt"):
        row = summary.set_index("prompt").loc[str(prompt)]
        assert row["accuracy"] == group["correct"].mean()
        assert row["information"] == pytest.approx(group["pvi"].mean())
        assert row["pvi_correct"] == pytest.approx(group.loc[group["correct"], "pvi"].mean())
        assert (row["lowest_fifth"], row["highest_fifth"]) == accuracy_of_tails(
            group["pvi"], group["correct"], 0.2
        )
        remaining = pvi[pvi["prompt"] != prompt].groupby("example")["pvi"].mean().loc[group["example"]]
        assert (row["other_lowest_half"], row["other_highest_half"]) == tails_of_labels(
            remaining.to_numpy(), group["correct"], group["label"], 0.5
        )


def test_what_others_foresee_is_less_than_what_pvi_contains_by_definition():
    """For a model whose PVI is luck, only its own PVI seems to tell right from wrong."""
    table = task(600)
    lucky = pd.concat(
        [simulated_pvi(table, 0.0, prompts=1, seed=seed).assign(prompt=seed) for seed in range(6)]
    )
    summary = runs.summarize_prompts(lucky)
    assert (summary["highest_fifth"] - summary["lowest_fifth"]).mean() > 0.3
    assert abs((summary["other_highest_fifth"] - summary["other_lowest_fifth"]).mean()) < 0.06


def test_a_single_prompt_has_no_others():
    summary = runs.summarize_prompts(simulated_pvi(task(20), 1.0, prompts=1))
    assert summary[runs.OTHERS].isna().all(axis=None)


def prompts_of(*settings: tuple[str, int, int]) -> pd.DataFrame:
    table = task(60)
    parts = [
        Setting(model, "t", shots).label(runs.summarize_prompts(simulated_pvi(table, 1.0, seed=seed)))
        for model, shots, seed in settings
    ]
    return pd.concat(parts, ignore_index=True)


def test_tables_of_tails_are_means_over_sets_and_the_papers_analysis_of_variance_has_2_and_3_degrees():
    prompts = prompts_of(("m", 2, 1), ("m", 4, 2), ("n", 2, 3))
    tails = runs.tails(prompts).set_index(["model", "shots"])
    rows = prompts[(prompts["model"] == "m") & (prompts["shots"] == 4)]
    assert tails.loc[("m", 4), "lowest_half"] == pytest.approx(rows["lowest_half"].mean())
    assert tails["sets"].tolist() == [3, 3, 3]
    prompts.loc[0, "lowest_half"] = np.nan
    gap = runs.tails(prompts).set_index(["model", "shots"])
    assert gap["lowest_half"].isna().tolist() == [True, False, False]
    assert gap["highest_half"].equals(tails["highest_half"])
    prompts = prompts_of(("m", 2, 1), ("m", 4, 2), ("n", 2, 3))
    result = runs.anova(prompts).set_index("model")
    groups = [
        group["pvi_correct"].tolist() for _, group in prompts[prompts["model"] == "m"].groupby("prompt")
    ]
    assert tuple(result.loc["m", ["f", "between", "within", "p"]]) == pytest.approx(one_way(groups))
    assert (result.loc["m", "between"], result.loc["m", "within"], result.loc["m", "numbers"]) == (2, 3, 6)
    assert np.isnan(result.loc["n", "p"])


def test_a_settings_line_is_of_all_its_prompts_and_examples():
    table = task(60)
    pvi, clusters = simulated_pvi(table, 1.0), table.set_index("example")["cluster"]
    (row,) = overview.summarize_setting(pvi, clusters, "vocabulary").to_dict("records")
    values = runs.by_example(pvi, "pvi")
    expected = v_information(values.mean(axis=0))
    assert (row["information"], row["low"], row["high"]) == pytest.approx((expected.value, *expected[2:4]))
    assert row["accuracy"] == pvi["correct"].mean()
    assert row["negative"] == (pvi["pvi"] < 0).mean()
    assert row["sets_p"] == pytest.approx(repeated_measures(values).anova.p)


def test_densities_have_an_area_of_one_together_and_right_ones_lie_higher():
    pvi = simulated_pvi(task(300), 2.0)
    result = densities.estimate_densities(pvi)
    lines = dict(list(result.groupby("correct")))
    areas = {correct: np.trapezoid(rows["density"], rows["pvi"]) for correct, rows in lines.items()}
    assert sum(areas.values()) == pytest.approx(1, abs=0.03)
    assert areas[True] == pytest.approx(pvi["correct"].mean(), abs=0.03)
    means = {correct: np.average(rows["pvi"], weights=rows["density"]) for correct, rows in lines.items()}
    assert means[True] > means[False]
    for strong in (1.0, pvi["pvi"].where(~pvi["correct"], 1 + 1e-5 * pvi["pvi"])):  # thinner than the points
        result = densities.estimate_densities(pvi.assign(pvi=strong))
        correct_places = result[result["correct"]]
        area = np.trapezoid(correct_places["density"], correct_places["pvi"])
        assert area == pytest.approx(pvi["correct"].mean(), abs=0.05)


def test_pairs_compare_sets_with_the_same_shots_and_shots_with_the_same_set():
    table = task(60)
    clusters = table.set_index("example")["cluster"]
    by_name = {
        (shots, prompt): values
        for shots in (2, 4)
        for prompt, values in pairs.series(simulated_pvi(table, 1.0, seed=shots)).items()
    }
    labels = labels_of(table)
    of_model = pairs.of_model(by_name, Setting("m", "t", 2), clusters, labels, nested=True)
    assert of_model["between"].value_counts().to_dict() == {pairs.SETS: 6, pairs.SHOTS: 3}
    sample = pairs.of_model(by_name, Setting("m", "t", 2), clusters, labels, nested=False)
    assert set(sample["between"]) == {pairs.SETS}
    bare = {(0 if shots == 2 else shots, prompt): values for (shots, prompt), values in by_name.items()}
    without = pairs.of_model(bare, Setting("m", "t", 2), clusters, labels, nested=True)
    assert set(without["between"]) == {pairs.SETS}
    summed = pairs.consistency(of_model).set_index("between")
    assert summed["pairs"].to_dict() == {pairs.SETS: 2, pairs.SHOTS: 3}
    assert summed.loc[pairs.SETS, "mean"] == pytest.approx(
        of_model.loc[of_model["between"] == pairs.SETS, "r"].mean()
    )
    first = of_model[of_model["between"] == pairs.SHOTS].iloc[0]
    assert (first["first"], first["second"]) == ("2-shot, prompt 0", "4-shot, prompt 0")
    merged = np.corrcoef(by_name[2, 0], by_name[4, 0].reindex(by_name[2, 0].index))
    assert first["r"] == pytest.approx(merged[0, 1])
    assert first["low"] < first["r"] < first["high"]


def of_models(table: pd.DataFrame, skills: dict[str, float]) -> pd.DataFrame:
    parts = [
        Setting(model, "t", shots).label(
            examples.summarize_examples(simulated_pvi(table, skill, seed=10 * number + shots))
        )
        for number, (model, skill) in enumerate(skills.items())
        for shots in (2, 4)
    ]
    return pd.concat(parts, ignore_index=True)


def inputs_of(table: pd.DataFrame) -> pd.DataFrame:
    return table[["example", "input", "cluster", "annotations"]].assign(task="t")


def flipped(table: pd.DataFrame, share: float, seed: int = 4) -> tuple[pd.DataFrame, set[str]]:
    """The task with some labels wrong, and which examples have these."""
    generator = np.random.default_rng(seed)
    chosen = generator.choice(len(table), round(share * len(table)), replace=False)
    wrong = table.copy()
    for place in chosen:
        correct = table["correct"].iloc[place].index(True)
        second = (correct + generator.integers(1, 3)) % 3
        wrong.at[place, "correct"] = [number == second for number in range(3)]
    return wrong, set(table["example"].iloc[chosen])


@pytest.mark.parametrize(
    ("skill", "precision", "recall"), [(8.0, 0.9, 0.9), (4.0, 0.8, 0.9), (2.0, 0.6, 0.9)]
)
def test_labels_that_are_wrong_are_at_the_head_of_the_list(skill, precision, recall):
    """5 % of 400 labels are flipped; good models find most of them at the head of the list."""
    table = task(400)
    wrong, chosen = flipped(table, 0.05)
    parts = []
    for number in range(3):
        generator = np.random.default_rng(number)
        correct = np.array([flags.index(True) for flags in table["correct"]])
        evidence = generator.normal(0, 1, (400, 3))
        evidence[range(400), correct] += skill * generator.gamma(2, 0.5, 400)
        # the model likes some answers, and others of these behind any input
        liking, behind_input = generator.normal(0, 1.5, (2, 3, 1, 3))
        null, argument = sure(np.broadcast_to(liking, (3, 400, 3))), sure(liking + behind_input + evidence)
        nobody = pd.DataFrame(
            [
                {"prompt": prompt, "example": name, "correct": True, "tie": False}
                for prompt in range(3)
                for name in wrong["example"]
            ]
        )
        pvi = of_scores(scores(wrong, argument), scores(wrong, null), wrong, nobody)
        parts.append(Setting(f"m{number}", "t", 2).label(examples.summarize_examples(pvi)))
    listed = examples.mislabelled(pd.concat(parts), inputs_of(wrong))
    head = set(listed["example"].head(len(chosen)))
    assert len(head & chosen) / len(head) >= precision
    assert len(set(listed["example"]) & chosen) / len(chosen) >= recall
    result = listed[listed["example"].isin(chosen)].merge(
        table[["example", "labels", "correct"]], on="example", suffixes=("", "_true")
    )
    truth = [
        labels[flags.index(True)] for labels, flags in zip(result["labels"], result["correct"], strict=True)
    ]
    assert (result["suggested"] == truth).mean() > 0.75
    assert (listed["beyond"].diff().dropna() <= 0).all()
    assert (listed["margin"] > 0).all()
    share = (
        listed["label"].value_counts()
        / wrong["correct"].map(lambda rows: LABELS[rows.index(True)]).value_counts()
    )
    assert listed.groupby("label")["label_share"].first().to_dict() == pytest.approx(share.to_dict())


def test_the_hardest_of_each_label_come_first_and_models_are_compared_with_the_most_shots():
    table = task(60)
    result = of_models(table, {"m": 1.0, "n": 2.0})
    hard = examples.hardest(result, inputs_of(table), most_rows=3)
    assert hard["label"].value_counts().to_dict() == dict.fromkeys(LABELS, 3)
    means = result.groupby("example")["pvi"].mean()
    for label, group in hard.groupby("label"):
        of_label = result.loc[result["label"] == label, "example"].unique()
        assert group["pvi"].tolist() == pytest.approx(means[of_label].nsmallest(3).tolist())
    merged = examples.of_models(result)
    assert merged.columns.tolist() == ["m", "n"]
    four = result[(result["model"] == "m") & (result["shots"] == 4)].set_index("example")["pvi"]
    assert merged.loc["t"]["m"].to_dict() == pytest.approx(four.to_dict())
    clusters = {"t": table.set_index("example")["cluster"]}
    (row,) = pairs.of_models(merged, clusters, {"t": labels_of(table)}).to_dict("records")
    assert row["r"] == pytest.approx(np.corrcoef(merged["m"], merged["n"])[0, 1])


def test_within_labels_a_liking_makes_no_r():
    table = task(90)
    labels, clusters = labels_of(table), table.set_index("example")["cluster"]
    generator = np.random.default_rng(5)
    liked = (labels == "yes").astype(float) * 4
    by_name = {
        (2, prompt): pd.Series(generator.normal(size=90), labels.index) + sign * liked
        for prompt, sign in enumerate((1, 1, -1))
    }
    pair = pairs.of_model(by_name, Setting("m", "t", 2), clusters, labels, nested=True)
    assert pair["r"].tolist() == pytest.approx([0.8, -0.8, -0.8], abs=0.15)
    assert pair["within"].abs().max() < 0.3


@given(st.integers(2, 5), st.integers(2, 8), st.integers(0, 100))
def test_an_adjusted_mean_is_the_plain_one_where_nothing_lacks_and_least_squares_where_something_does(
    rows, examples, seed
):
    generator = np.random.default_rng(seed)
    values = generator.normal(size=(rows, examples)) + 3 * generator.normal(size=(rows, 1))
    assert adjusted_means(values) == pytest.approx(values.mean(axis=0))
    lacking = values.copy()
    lacking[generator.integers(rows), generator.integers(examples)] = np.nan
    present = np.isfinite(lacking)
    row, example = np.nonzero(present)
    design = np.concatenate([np.eye(rows)[row], np.eye(examples)[example]], axis=1)
    fitted = np.linalg.lstsq(design, lacking[present], rcond=None)[0]
    assert adjusted_means(lacking) == pytest.approx(fitted[rows:] + fitted[:rows].mean(), abs=1e-6)


def test_an_example_that_a_prompt_lacks_is_not_hard_for_that():
    generator = np.random.default_rng(0)
    values = np.array([[0.0], [0.0], [2.0]]) + generator.normal(0, 0.01, (3, 20))
    values[2, :4] = np.nan  # its demonstrations
    assert np.nanmean(values, axis=0)[:4] == pytest.approx([0] * 4, abs=0.1)
    assert adjusted_means(values) == pytest.approx([2 / 3] * 20, abs=0.05)
    nowhere = np.column_stack([values, [np.nan] * 3])
    assert np.isnan(adjusted_means(nowhere)[-1])


def test_examples_with_labels_of_their_own_are_one_list():
    table = pd.DataFrame(
        [
            {"model": "m", "task": "t", "shots": 1, "example": f"e{place}", "label": f"word {place}"}
            | {"prompts": 1, "pvi": float(place), "correct": 0.5}
            | {"margin": 5.0 - place, "against_share": 1.0, "rival": "other"}
            for place in range(20)
        ]
    )
    inputs = pd.DataFrame({"task": "t", "example": table["example"], "input": "?"})
    assert examples.hardest(table, inputs)["example"].tolist() == [f"e{place}" for place in range(5)]
    listed = examples.mislabelled(table, inputs)
    assert len(listed) == 5
    assert set(listed["label_share"]) == {0.25}
    assert examples.hardest(table.head(0), inputs).empty
    assert examples.mislabelled(table.head(0), inputs).empty


def test_a_variation_ratio_is_the_share_that_differs_from_most():
    assert examples.variation_ratio(["a", "a", "b"]) == pytest.approx(1 / 3)
    assert examples.variation_ratio(["a"]) == 0
    table = task(60)
    result = of_models(table, {"m": 1.0})
    is_known = inputs_of(table)
    low = result[result["shots"] == 2].set_index("example")["pvi"].rank().to_dict()
    is_known["annotations"] = [["a", "b"] if low[name] < 20 else ["a", "a"] for name in is_known["example"]]
    is_known.loc[0, "annotations"] = None
    is_known.at[1, "annotations"] = ["a"]  # who agrees with nobody
    row = examples.by_agreement(result, is_known).iloc[0]
    assert row["annotated"] == 58
    assert row["r"] < 0
    assert row["disagree"] < row["agree"]
    assert examples.by_agreement(result, inputs_of(table)).empty
