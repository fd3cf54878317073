"""Measures and readings of results at their edges: names, counts, groups, messages."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from abovechance.chance.random_baseline import MOST_EXAMPLES, RandomBaseline
from abovechance.core.arrays import tied_ranks
from abovechance.core.errors import InputError
from abovechance.core.estimates import bootstrap_interval, clustered_mean
from abovechance.core.reading import NOT_TEXT
from abovechance.variance import measures
from abovechance.variance.answers import NEEDED, continuous
from abovechance.variance.evaluations import (
    EVALUATIONS,
    check_finite,
    in_percent,
    with_groups,
)
from abovechance.variance.formulations import FORMULATION_SERIES, FORMULATIONS, agreement, change
from abovechance.variance.results_files import LOOKS_LIKE, read_evaluations
from abovechance.variance.study import RESAMPLES, evaluations, score_setting
from abovechance.variance.summary import SERIES, _independent, notes_on_sizes, of_evaluations

nan = np.nan


def read(folder: Path, content, name: str = "r.json") -> pd.DataFrame:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return read_evaluations([path])


def results(config=None, **metrics):
    return {"results": {"t": metrics}, "config": config or {}}


@pytest.mark.parametrize(
    ("content", "name"),
    [
        ({"config": {"model_args": "pretrained=org/a/,peft=org/b/"}}, "org/a + org/b"),
        ({"config": {"model_args": {"model": "served", "dtype": 3}}, "model_name": ""}, "served"),
        ({"config": {"model_args": "dtype=x", "model": "hf"}, "model_name": "named"}, "named"),
        ({"config": {"model": "hf"}}, "hf"),
        ({"config": {"model_args": "url=http://x/?a=b,pretrained = p "}}, "p"),
        ({"config": {"model_args": None}}, "model"),
        ({}, "model"),
        ({"config": {"model_args": "pretrained=org/a-seed7/checkpoint-20"}}, "org/a"),
    ],
)
def test_names_of_models(content, name, tmp_path):
    table = read(tmp_path, {"results": {"t": {"acc": 0.5}}, **content})
    assert table["model"].tolist() == [name]


@pytest.mark.parametrize(
    ("name", "step"),
    [("step1k.json", 1000), ("step3/r.json", 3), ("x_checkpoint-7.json", 7), ("step2m.json", 2_000_000)],
)
def test_steps_in_names_of_files_and_folders(name, step, tmp_path):
    table = read(tmp_path, results(acc=0.5), name)
    assert table["checkpoint"].tolist() == [step]


def test_a_whole_row(tmp_path):
    content = results(
        {"model_args": "pretrained=m,revision=step5-seed3", "num_fewshot": 4},
        **{"alias": 1, "sample_len": 7, "acc,none": 0.25, "acc_stderr,none": 0.1, "em,strict": True},
        **{"f1,strict": 0.5, "f1_stderr,strict": 0.2, "ppl": 3, "ppl_stderr": 0.5, "name": "text"},
    )
    content["n-samples"] = {"t": {"effective": 20}}
    table = read(tmp_path, content).set_index("metric")
    assert [*table.reset_index()[[*EVALUATIONS.columns]].columns] == [*EVALUATIONS.columns]
    assert table.index.tolist() == ["acc", "f1,strict", "ppl"]
    assert table["value"].tolist() == [0.25, 0.5, 3.0]
    assert table["error"].tolist() == [0.1, 0.2, 0.5]
    assert table["lower_is_better"].tolist() == [False, False, True]
    assert table["bootstrap"].isna().all()
    for column, value in {"shots": 4, "examples": 20, "seed": 3, "checkpoint": 5, "prompts": 1}.items():
        assert (table[column] == value).all(), column
    silent = read(tmp_path, results(acc=0.5))
    assert (silent["shots"].item(), silent["examples"].item()) == (0, -1)


@pytest.mark.parametrize("counted", [1, MOST_EXAMPLES])
def test_numbers_of_examples_that_a_file_may_state(counted, tmp_path):
    content = results(acc=0.5)
    content["n-samples"] = {"t": {"effective": counted}}
    assert read(tmp_path, content)["examples"].tolist() == [counted]
    content["n-samples"] = {"t": {"effective": 0}}
    content["results"]["t"]["acc_stderr"] = (0.25 / 9) ** 0.5
    assert read(tmp_path, content)["examples"].tolist() == [10]


@pytest.mark.parametrize(
    ("value", "error", "examples"),
    [
        (0.25, (0.25 * 0.75 / 199) ** 0.5, 200),
        (0.0, 0.0, -1),
        (1.0, 0.0, -1),
        (1.0, 0.1, -1),
        (0.25, 0.0, -1),
        (0.255, (0.255 * 0.745 / 99) ** 0.5, -1),  # 25.5 of 100 are correct
        (0.25, (0.25 * 0.75 / 199.4) ** 0.5, -1),
        (0.5, 0.5, 2),
    ],
)
def test_numbers_of_examples_from_standard_errors(value, error, examples, tmp_path):
    assert read(tmp_path, results(acc=value, acc_stderr=error))["examples"].tolist() == [examples]


def test_checkpoints_that_disagree_on_the_number_of_examples(tmp_path):
    for step, (value, examples) in enumerate([(0.25, 200), (0.5, 200), (1.0, 0), (0.0, 0)]):
        error = (value * (1 - value) / max(examples - 1, 1)) ** 0.5
        read(tmp_path, results(acc=value, acc_stderr=error), f"e/step{step}.json")
    assert read_evaluations([tmp_path / "e"])["examples"].tolist() == [200] * 4
    read(tmp_path, results(acc=0.5, acc_stderr=(0.25 / 99) ** 0.5), "e/step9.json")
    assert read_evaluations([tmp_path / "e"])["examples"].tolist() == [-1] * 5


LONG = "1" + "0" * 400


def test_a_score_that_is_null_was_not_computed(tmp_path):
    for step, score in ((1000, 0.5), (2000, None)):
        (tmp_path / f"step{step}.json").write_text(json.dumps(results(acc=score, other=None)))
    table = read_evaluations([tmp_path])
    assert {*table["metric"]} == {"acc"}  # no file has a number of the other
    with pytest.raises(InputError, match="step2000.json: acc of t is null; expected a number"):
        check_finite(table)


def test_accuracies_below_0_are_told(tmp_path):
    table = read(tmp_path, results(acc=-0.5))
    assert in_percent(table) == ["acc of t is down to -0.5: expected a share from 0 to 1"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[]", f": has no results; expected {LOOKS_LIKE}"),
        ({"results": {"t": 3}}, f": has no results; expected {LOOKS_LIKE}"),
        ({"results": {}}, f": has no results; expected {LOOKS_LIKE}"),
        (f'{{"results": {{"t": {{"acc": {LONG}}}}}}}', f": acc of t is {LONG[:30]}; expected a number"),
        (
            {"results": {"t": {"acc": 0.5}}, "n-samples": {"t": {"effective": -1}}},
            ": t has -1 examples; expected 0 to 10,000,000",
        ),
        (
            f'{{"results": {{"t": {{"acc": 0.5}}}}, "n-samples": {{"t": {{"effective": {LONG}}}}}}}',
            f": t has {LONG[:30]} examples; expected 0 to 10,000,000",
        ),
    ],
)
def test_files_that_are_wrong(content, message, tmp_path):
    with pytest.raises(InputError) as error:
        check_finite(read(tmp_path, content))
    assert str(error.value) == f"{tmp_path}/r.json{message}"


def test_files_that_are_no_text(tmp_path):
    (tmp_path / "r.json").write_bytes(b'{"results": {"\xff": {}}}')
    with pytest.raises(InputError) as error:
        read_evaluations([tmp_path / "r.json"])
    assert str(error.value) == f"{tmp_path}/r.json: {NOT_TEXT}"
    (tmp_path / "r.json").write_text("{")
    with pytest.raises(InputError) as error:
        read_evaluations([tmp_path / "r.json"])
    assert str(error.value).startswith(f"{tmp_path}/r.json")
    (tmp_path / "r.json").write_bytes(b"\xef\xbb\xbf" + json.dumps(results(acc=0.5)).encode())
    assert len(read_evaluations([tmp_path / "r.json"])) == 1


def test_a_model_with_and_without_a_step(tmp_path):
    read(tmp_path, results(acc=0.5), "e/step3.json")
    read(tmp_path, results(acc=0.5), "e/x.json")
    with pytest.raises(InputError) as error:
        read_evaluations([tmp_path / "e"])
    assert str(error.value) == (
        f"{tmp_path}/e/x.json: nothing says which step of model it is of, and {tmp_path}/e/step3.json says "
        "one; expected a step in the file's name, such as step1000.json"
    )


def test_a_folder_without_results(tmp_path):
    (tmp_path / "e").mkdir()
    (tmp_path / "f").mkdir()
    with pytest.raises(InputError) as error:
        read_evaluations([tmp_path / "e", tmp_path / "f"])
    assert str(error.value) == f"{tmp_path}/e: has no results; expected {LOOKS_LIKE}"


def test_percentages_are_noted():
    table = pd.DataFrame({"metric": ["acc", "acc", "ppl"], "value": [1.0, 1.5, 9.0], "task": "t"})
    assert in_percent(table) == ["acc of t is up to 1.5: expected a share from 0 to 1 (per cent?)"]
    assert in_percent(table[:1]) == []


def row(task, value, examples=-1, error=nan, chance=nan, **more):
    return {
        **{"model": "m", "seed": 0, "checkpoint": 0, "shots": 0, "task": task, "metric": "acc"},
        **{"value": value, "error": error, "bootstrap": nan, "examples": examples, "prompts": 1},
        **{"chance": chance, "lower_is_better": False, **more},
    }


def test_groups_of_tasks():
    table = pd.DataFrame(
        [
            row("a1", 0.5, 10, 0.1, 0.25),
            row("a2", 0.8, 30, 0.2, 0.5),
            row("b1", 3.0, metric="ppl", lower_is_better=True),
            row("b2", 5.0, metric="ppl", lower_is_better=True),
            row("c", 0.1),
        ]
    )
    grouped = with_groups(table, {"a": "a?", "b": "b?"}, "key 'groups").set_index("task")
    assert [*grouped.reset_index()[[*EVALUATIONS.columns]].columns] == [*EVALUATIONS.columns]
    assert grouped.index.tolist() == ["c", "a", "b"]
    assert grouped.loc["a", "value"] == pytest.approx((0.5 + 3 * 0.8) / 4)
    assert grouped.loc["a", "error"] == pytest.approx(((0.1 / 4) ** 2 + (0.6 / 4) ** 2) ** 0.5)
    assert grouped.loc["a", "chance"] == pytest.approx((0.25 + 3 * 0.5) / 4)
    assert grouped["examples"].tolist() == [-1, 40, -1]
    assert grouped["prompts"].tolist() == [1, 1, 1]
    assert grouped["lower_is_better"].tolist() == [False, False, True]
    assert grouped.loc["b", "value"] == 4.0
    assert grouped["bootstrap"].isna().all()
    single = with_groups(pd.DataFrame([row("a1", 0.5, 1), row("a2", 1.0, 3)]), {"a": "a?"}, "x")
    assert (single["value"].item(), single["examples"].item()) == (0.875, 4)


def test_what_is_said_of_wrong_groups():
    table = pd.DataFrame([row("a1", 0.5), row("b1", 0.5)])
    for groups, message in (
        ({"a1": "b?"}, "key 'groups.a1' has the name of a task; use another"),
        ({"g": "z?"}, "key 'groups.g' is 'z?', and no task fits; known are: a1, b1"),
    ):
        with pytest.raises(InputError) as error:
            with_groups(table, groups, "key 'groups")
        assert str(error.value) == message


def test_formulations_of_several_metrics_and_tasks():
    rows = [
        {"model": model, "task": task, "shots": 1, "metric": metric, "value": value}
        for metric in ("best_accuracy", "accuracy", "nll")
        for task, values in {"t-a": [0.1, 0.5, 0.6, 0.9], "t-b": [0.2, 0.4, 0.6, 0], "u-a": [0] * 4}.items()
        for model, value in zip("wxyz", values, strict=True)
        if not (metric == "accuracy" and task == "t-b" and model == "z")
    ]
    rows += [{**rows[0], "task": "t-b", "shots": 2, "metric": "accuracy"}]  # in one formulation only
    table = agreement(pd.DataFrame(rows), {"t": ["t-a", "t-b"], "u": ["u-a", "u-b"]})
    assert [*table.columns] == [*FORMULATIONS.columns]
    first = table.iloc[0].to_dict()
    assert first == {
        **{"task": "t", "shots": 1, "metric": "accuracy", "first": "t-a", "second": "t-b", "models": 3},
        "r": pytest.approx(stats.pearsonr([0.1, 0.5, 0.6], [0.2, 0.4, 0.6]).statistic),
        **{"first_mean": pytest.approx(0.4), "second_mean": pytest.approx(0.4)},
        **{"first_higher": 1, "second_higher": 1},
    }
    assert table["metric"].tolist() == ["accuracy", "nll"]
    assert [*agreement(pd.DataFrame(rows), {}).columns] == [*FORMULATIONS.columns]
    series = pd.DataFrame([row("t-a", 0.5), row("t-a", 0.6, metric="best_accuracy"), row("other", 0.5)])
    changed = change(series, {"t": ["t-a", "t-b"]})
    assert [*changed.columns] == [*FORMULATION_SERIES.columns]
    assert changed[["task", "formulation", "metric"]].values.tolist() == [["t", "t-a", "acc"]]


def test_measures_of_missing_scores():
    empty = np.array([[0.5, nan], [0.7, nan]])
    with np.errstate(all="raise"):
        assert np.isnan(measures.seed_mean(empty))
        assert np.isnan(measures.seed_deviation([[0.5, 0.6]]))
        assert np.isnan(measures.rank_correlation([[0.5, 0.5]]))
        assert np.isnan(measures.rank_correlation([[0.5]]))
    assert measures.seed_deviation(empty) == pytest.approx(np.std([0.5, 0.7], ddof=1))


def test_signal_to_noise_with_either_divisor():
    scores = np.array([[0.1, 0.4], [0.2, 0.6]])
    for ddof in (0, 1):
        expected = 0.5 / np.std([0.4, 0.6], ddof=ddof)
        assert measures.signal_to_noise(scores, ddof) == pytest.approx(expected)
    assert measures.signal_to_noise([[0.3], [0.1 + 0.2]]) == np.inf
    assert measures.signal_to_noise([[0.0], [0.0]]) != 0  # 0 / 0 is missing
    assert measures.signal_to_noise([[1.0], [1.0 + 1e-6]]) < 1e7


def test_ties_in_ranks():
    row_of_scores = [0.1, 0.3, 0.3, 0.2]
    expected = stats.kendalltau(range(4), row_of_scores, variant="b").statistic
    assert measures.rank_correlation([row_of_scores]) == pytest.approx(expected)


def test_rounding_does_not_depend_on_a_checkpoint_that_diverged():
    assert measures.monotonicity([[1e15, 50, 40, 30, 20, 10]], loss=True) == 1
    assert measures.monotonicity([[np.inf, np.inf, 3, 2, 1]], loss=True) == pytest.approx(np.sqrt(9 / 10))
    remainder = 1e5 * (0.1 + 0.2 - 0.3)
    assert tied_ranks(np.array([remainder, 0, -remainder, 1e5])).tolist() == [0, 0, 0, 1]
    for tied in ([0.3, 0.1 + 0.2], [0.0, 1e-17], [5e6, 5e6 * (1 + 1e-15)]):
        row = [*tied, 0.7e7, 0.9e7] if tied[0] > 1 else [*tied, 0.7, 0.9]
        assert measures.monotonicity([row]) == pytest.approx(np.sqrt(5 / 6))


def test_errors_of_accuracies():
    assert measures.analytic_error([0.0, 1.0, 0.5], [1, 1, 1]).tolist() == pytest.approx(
        [0, 0, 0.98], abs=1e-3
    )
    for accuracy, examples in ((-0.1, 5), (1.1, 5), (0.5, 0)):
        with pytest.raises(InputError) as error:
            measures.analytic_error(accuracy, examples)
        assert str(error.value) == "accuracies are in [0, 1], and examples at least 1"


def test_guessers_answer_as_many_independent_examples_as_the_standard_errors_show():
    """Twenty passages of ten questions that are answered alike are twenty examples."""
    values = [0.5, 0.7, 0.7]

    def place(inflation: float) -> float | None:
        error = np.sqrt(inflation * np.array(values) * (1 - np.array(values)) / 199)
        rows = pd.DataFrame(
            [row("t", value, 200, error[step], 0.5, checkpoint=step) for step, value in enumerate(values)]
        )
        return of_evaluations(rows)["leaves_chance"].iloc[0]

    assert place(1.0) == 1
    assert place(1.05) == 1  # few digits
    assert pd.isna(place(10.0))
    rounded = pd.DataFrame(
        [row("t", value, 1000, 0.02, 0.5, checkpoint=step) for step, value in enumerate([0.5, 0.6])]
    )
    assert of_evaluations(rounded)["leaves_chance"].iloc[0] == 1  # 0.0158 with two decimals
    # of few decimals, an error is as large as it is written
    pairs = pd.DataFrame(
        [
            row("t", value, 1000, error, 0.5, checkpoint=step)
            for step, (value, error) in enumerate([(0.5, 0.03), (0.549, 0.03)])
        ]
    )
    assert pd.isna(of_evaluations(pairs)["leaves_chance"].iloc[0])


def test_when_accuracies_leave_chance():
    scores = np.array([[0.5, 0.95, 0.5, 0.9, 0.95], [0.4, nan, 0.6, 0.2, 0.1]])
    assert measures.leaves_chance(scores, 0.5, 100) == 3
    assert measures.leaves_chance(scores[:, :2], 0.5, 100) == 1
    assert measures.leaves_chance(scores[:, :3], 0.5, 100) is None
    assert measures.leaves_chance([[0.9, 1.0]], 0.5, 100) == 0
    assert measures.leaves_chance([[0.0, 1.0]], 0.5, 100) == 1
    assert measures.leaves_chance([[nan, 1.0]], 0.5, 100) == 1
    # exactly at alpha, and with as many tries
    alpha = float(RandomBaseline.from_chance(0.5, 10).tail(8, 2))
    assert measures.leaves_chance([[0.5, 0.8]], 0.5, 10, alpha=alpha) == 1
    assert measures.leaves_chance([[0.5, 0.8]], 0.5, 10, alpha=alpha - 1e-9) is None
    assert measures.leaves_chance([[0.5, 0.8]], 0.5, 10, prompts_tried=1, alpha=alpha - 1e-9) == 1
    # with a chance of 0, a single correct answer cannot be guessed; none can
    assert measures.leaves_chance([[0.0, 0.1]], 0.0, 10) == 1
    assert measures.leaves_chance([[0.0]], 0.5, 10, alpha=0.999) is None
    for outside in (-0.1, 1.5):
        with pytest.raises(InputError) as error:
            measures.leaves_chance([[outside, 0.5]], 0.5, 10)
        assert str(error.value) == f"an accuracy is {outside:g}; expected between 0 and 1"


def seeds(values, **more):
    """Rows of (seeds, checkpoints) values."""
    return pd.DataFrame(
        [
            row("t", value, seed=seed, checkpoint=checkpoint, **more)
            for seed, line in enumerate(values)
            for checkpoint, value in enumerate(line)
        ]
    )


@pytest.mark.parametrize("ddof", [0, 1])
def test_a_whole_summary(ddof):
    values = np.array([[0.2, 0.9], [0.4, 0.7]])
    table = of_evaluations(seeds(values, examples=50, error=0.05, chance=0.25), ddof)
    assert [*table.columns] == [*SERIES.columns]
    (line,) = table.to_dict("records")
    assert line == {
        **{"model": "m", "task": "t", "shots": 0, "metric": "acc", "seeds": 2, "checkpoints": 2},
        **{"left_out": 0, "examples": 50, "chance": 0.25, "lower_is_better": False},
        **{"first": pytest.approx(0.3), "mean": pytest.approx(0.8), "interval": pytest.approx(1.96 * 0.05)},
        "bootstrap": pytest.approx(nan, nan_ok=True),
        "deviation": pytest.approx(np.std(values, axis=0, ddof=ddof).mean()),
        "final_deviation": pytest.approx(np.std([0.9, 0.7], ddof=ddof)),
        "snr": pytest.approx(0.8 / np.std([0.9, 0.7], ddof=ddof)),
        **{"tau": 1.0, "monotonicity": 1.0, "leaves_chance": 1},
    }


def test_losses_and_what_is_no_accuracy_do_not_leave_chance():
    values = [[0.2, 0.9], [0.4, 0.8]]
    loss = of_evaluations(seeds(values, examples=50, chance=0.1, metric="acc_loss", lower_is_better=True))
    assert loss["leaves_chance"].isna().all()
    assert loss["chance"].isna().all()
    assert of_evaluations(seeds(values, chance=0.1, metric="f1", examples=50))["chance"].isna().all()
    assert (loss["tau"].item(), loss["monotonicity"].item()) == (1.0, -1.0)
    assert loss["interval"].isna().all()
    for change_of_rows in ({"examples": 0}, {"chance": nan}, {"metric": "f1"}):
        table = of_evaluations(seeds(values, **{"examples": 50, "chance": 0.1, **change_of_rows}))
        assert table["leaves_chance"].isna().all()
    assert of_evaluations(seeds([[0.0, 9.0]], examples=50, chance=0.1))["leaves_chance"].isna().all()
    assert of_evaluations(seeds([[0.0, 1.0]], examples=1, chance=0.01))["leaves_chance"].item() == 1


def test_best_accuracies_count_all_prompts():
    chance, examples = 0.5, 20
    count = 17
    single = float(RandomBaseline.from_chance(chance, examples).tail(count, 1))
    assert single < 0.05 < float(RandomBaseline.from_chance(chance, examples).tail(count, 200))
    for metric, prompts, place in (("best_accuracy", 100, None), ("acc", 1, 1), ("best_accuracy", 1, 1)):
        table = seeds(
            [[0.5, count / examples]], examples=examples, chance=chance, metric=metric, prompts=prompts
        )
        leaves = of_evaluations(table)["leaves_chance"].item()
        assert (None if pd.isna(leaves) else leaves) == place, metric


def answers(prompts=2, examples=30):
    generator = np.random.default_rng(0)
    logprobs = np.log(generator.dirichlet([1, 1], (prompts, examples)))
    logprobs[:, 1::2] = logprobs[:, ::2]  # pairs of examples are the same
    prompt, example, choice = (axis.ravel() for axis in np.indices(logprobs.shape))
    rows = pd.DataFrame({"prompt": prompt, "example": example.astype(str), "choice": choice})
    likelihoods = rows.assign(right=choice == 0, logprob=logprobs.ravel(), tokens=1, bytes=1)
    correct = (logprobs[:, :, 0] > logprobs[:, :, 1]).ravel()
    return rows[choice == 0].drop(columns="choice").assign(correct=correct, chance=0.5), likelihoods


def test_intervals_of_a_setting_are_over_clusters():
    predictions, likelihoods = answers()
    clusters = pd.Series(np.arange(30) // 2, np.arange(30).astype(str))
    table = score_setting(predictions, likelihoods, clusters).set_index("metric")
    correct = predictions.groupby("example", sort=False)["correct"].mean().astype(float)
    nll = -likelihoods[likelihoods["right"]].groupby("example")["logprob"].mean()
    for metric, values in (("accuracy", correct), ("nll", nll)):
        groups = clusters[values.index].to_numpy()
        low, high = bootstrap_interval(values, groups, resamples=RESAMPLES)
        assert table.loc[metric, "bootstrap"] == pytest.approx((high - low) / 2)
        assert table.loc[metric, "error"] == pytest.approx(clustered_mean(values, groups).standard_error)
        assert table.loc[metric, "error"] > 1.2 * clustered_mean(values, None).standard_error
    assert [*table.index][-1] == "best_accuracy"
    assert table.loc["best_accuracy", ["error", "bootstrap"]].isna().all()
    assert table.loc["best_accuracy", "examples"] == 30
    assert set(table["prompts"]) == {2}
    alone = score_setting(predictions, likelihoods.iloc[:0], clusters)
    assert alone["metric"].tolist() == ["accuracy", "best_accuracy"]


def test_rows_of_models_outside_series_are_left_out():
    table = pd.DataFrame(
        [row("t", value, model=model) for model, value in (("x", 0.1), ("a", 0.2), ("b", 0.3))]
    )
    series = {"a": {"name": "s", "seed": 1, "checkpoint": 5}, "b": {"name": "s", "seed": 2, "checkpoint": 6}}
    result = evaluations(table, series)
    assert [*result.columns] == [*EVALUATIONS.columns]
    assert result.index.tolist() == [0, 1]
    assert result[["model", "seed", "checkpoint", "value"]].values.tolist() == [
        ["s", 1, 5, 0.2],
        ["s", 2, 6, 0.3],
    ]
    assert [*evaluations(table, {}).columns] == [*EVALUATIONS.columns]


def test_answers_that_are_wrong():
    rows = pd.DataFrame(
        {"example": ["e", "e"], "choice": [0, 1], "logprob": [-1.0, -2.0], "right": [True, False]}
    )
    for table, message in (
        (rows.drop(columns="right"), f"the table lacks the column 'right'; expected {', '.join(NEEDED)}"),
        (rows.assign(right=["yes", "no"]), "the column 'right' has other values than true and false"),
        (rows.assign(right=False), "example 'e' has no correct choice; expected one"),
        (
            pd.concat([rows, rows[1:].assign(logprob=-3.0)]),
            "choice 1 of example 'e' stands twice; expected once, of one prompt",
        ),
        (
            rows.assign(logprob=[-1.0, np.nan]),
            "choice 1 of example 'e': logprob is nan; expected a number up to 0",
        ),
        (
            rows.assign(logprob=[0.5, -1.0]),
            "choice 0 of example 'e': logprob is 0.5; expected a number up to 0",
        ),
    ):
        with pytest.raises(InputError) as error:
            continuous(table)
        assert str(error.value) == message


@pytest.mark.parametrize(
    ("tasks", "sentence"), [("a", "m on a: "), ("ab", "m on a and 1 more: "), ("abc", "m on a and 2 more: ")]
)
def test_a_note_names_one_of_the_tasks_of_unknown_size(tasks, sentence):
    rows = [{"model": "m", "task": task, "examples": -1} for task in tasks]
    rows.append({"model": "n", "task": "a", "examples": 2})
    table = pd.DataFrame(rows).assign(metric="acc", value=0.5, seed=0, checkpoint=1, shots=0, prompts=1)
    (note,) = notes_on_sizes(table)
    assert note == sentence + "the number of examples is unknown, so leaves_chance is missing"
    (note,) = notes_on_sizes(table[table["model"] == "m"])
    assert note.startswith(sentence.removeprefix("m on "))


def test_the_analytic_error_pairs_accuracies_with_numbers_of_examples():
    accuracy, examples = pd.Series([0.5, 0.9], ["a", "b"]), pd.Series([100, 400], ["a", "b"])
    reach = stats.norm.isf(0.025)
    expected = pytest.approx([0.05 * reach, 0.015 * reach])
    assert measures.analytic_error(accuracy, examples).tolist() == expected
    with pytest.raises(InputError, match="have the label"):
        measures.analytic_error(accuracy, examples[::-1])


@pytest.mark.parametrize(
    ("effective", "independent"),
    [
        ([200, 200], 200),
        ([190, 190], 200),  # an inflation of less than 1.1
        ([100, 100], 100),
        ([100, 50], 66),  # the inflations are 2 and 4
        ([400, 50], 88),  # 0.5 and 4: single ones may be below 1
        ([nan, 80], 80),
        ([1, 1], 1),
        ([0.5, 0.5], 1),
    ],
)
def test_effective_examples_are_pooled_over_checkpoints(effective, independent):
    rows = pd.DataFrame({"effective_examples": effective, "value": 0.5, "error": 0.01})
    assert _independent(rows, 200) == independent
    # a perfect score does not show how alike answers are, unless all are perfect
    perfect = pd.DataFrame({"effective_examples": [20.0], "value": 1.0, "error": 0.0}, index=[0])
    assert _independent(pd.concat([rows, perfect]), 200) == independent
    assert _independent(perfect, 200) == 20
    assert _independent(pd.concat([rows, perfect.assign(value=nan)]), 200) == independent


def test_without_effective_examples_standard_errors_count():
    rows = pd.DataFrame({"value": [0.5, 1.0, 0.0, 0.5], "error": [0.05, 0.0, 0.0, 0.05]})
    assert _independent(rows, 101) == 101
    assert _independent(rows.assign(error=2.002 * rows["error"], effective_examples=nan), 101) == 25
    assert _independent(rows.assign(error=0.1), 101) == 101  # or 0.05, rounded to one decimal
    assert _independent(rows.assign(error=100 * rows["error"]), 101) == 1
    assert _independent(rows.assign(error=nan), 101) == 101
