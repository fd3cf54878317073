"""Series of evaluations that are not all alike: checkpoints, numbers of shots, directions of metrics."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from abovechance.cli import app
from abovechance.core.errors import InputError
from abovechance.core.estimates import bootstrap_interval
from abovechance.shown.variance import curve_numbers, curves, noise, noise_numbers, panels_of
from abovechance.variance.evaluations import LOSSES, with_groups
from abovechance.variance.formulations import agreement
from abovechance.variance.measures import seed_deviation
from abovechance.variance.results_files import SEED, read_evaluations
from abovechance.variance.study import score_setting
from abovechance.variance.summary import notes_on_sizes, of_evaluations
from tests.variance.test_evaluations import write


def evaluation(value: float, model: str = "m", shots: int = 0, examples: int = 100) -> dict[str, Any]:
    """A result of lm-evaluation-harness, whose error follows from the number of examples."""
    error = float(np.sqrt(value * (1 - value) / (examples - 1)))
    return {
        "results": {"piqa": {"acc,none": value, "acc_stderr,none": error}},
        "config": {"model_args": f"pretrained={model}"},
        "n-shot": {"piqa": shots},
        "n-samples": {"piqa": {"effective": examples}},
    }


def score(value: float, **more: Any) -> dict[str, Any]:
    """A row of the table ``evaluations``."""
    row = {"model": "m", "seed": 0, "checkpoint": 1, "shots": 0, "task": "t", "metric": "acc", "value": value}
    row |= {"error": 0.05, "bootstrap": np.nan, "examples": 100, "prompts": 1, "chance": 0.5}
    return row | {"lower_is_better": False} | more


@pytest.fixture
def uneven(tmp_path) -> pd.DataFrame:
    """Three seeds of three checkpoints, and one seed of a fourth."""
    for seed in (1, 2, 3):
        for step in (10, 20, 30, *([40] if seed == 1 else [])):
            value = 0.99 if step == 40 else 0.6 + seed / 100 + step / 300
            write(tmp_path / "e", f"seed{seed}_step{step}.json", evaluation(value))
    return read_evaluations([tmp_path / "e"])


def test_figures_show_the_checkpoints_of_the_table(uneven):
    summary = of_evaluations(uneven)
    assert summary["mean"].tolist() == pytest.approx([0.72])
    assert curve_numbers(uneven)["checkpoint"].tolist() == [10, 20, 30]
    (last,) = noise_numbers(summary, panels_of(uneven)).to_dict("records")
    errors = [np.sqrt(value * (1 - value) / 99) for value in (0.71, 0.72, 0.73)]
    assert (last["mean"], last["interval"]) == pytest.approx((0.72, 1.96 * np.mean(errors)))


def test_several_numbers_of_shots_are_panels_of_their_own(tmp_path):
    for shots, lowest in ((0, 0.3), (5, 0.7)):
        for seed in (1, 2):
            for step in (10, 20):
                content = evaluation(lowest + seed / 100, shots=shots)
                write(tmp_path / f"{shots}", f"seed{seed}_step{step}.json", content)
    folders = [str(tmp_path / name) for name in "05"]
    completed = CliRunner().invoke(
        app, ["variance", *folders, "--chance", "0.5", "--figure", str(tmp_path / "a.png")]
    )
    assert completed.output.startswith("8 evaluations of 1 model.")
    numbers = pd.read_csv(tmp_path / "a.csv")
    assert numbers.groupby("task")["mean"].max().to_dict() == pytest.approx(
        {"piqa, 0-shot": 0.315, "piqa, 5-shot": 0.715}
    )
    assert (numbers["seeds"] == 2).all()
    assert (numbers["chance"] == 0.5).all()


def test_models_with_other_numbers_of_shots_are_shown():
    table = pd.DataFrame(
        [
            score(0.4 + step / 100 + shots / 10, model=model, checkpoint=step, shots=shots)
            for step in (1, 2)
            for model, shots in (("a", 0), ("b", 0), ("b", 5))
        ]
    )
    panels = panels_of(table)
    panels_of_models = curve_numbers(panels)[["model", "task"]].drop_duplicates().to_numpy().tolist()
    assert panels_of_models == [["a", "t, 0-shot"], ["b", "t, 5-shot"]]
    assert {*noise_numbers(of_evaluations(table), panels)["model"]} == {"a", "b"}


@pytest.mark.parametrize("lower", [False, True])
def test_a_declared_direction_goes_for_all_files(tmp_path, lower):
    for step in (1, 2, 3):
        content = {"results": {"a": {"calib,none": 1.0 / step}}, "config": {"model_args": "pretrained=m"}}
        if step == 2:
            content["higher_is_better"] = {"a": {"calib": not lower}}
        write(tmp_path, f"step{step}.json", content)
    (row,) = of_evaluations(read_evaluations([tmp_path])).to_dict("records")
    assert (row["lower_is_better"], row["monotonicity"]) == (lower, 1 if lower else -1)
    content["higher_is_better"] = {"a": {"calib": lower}}
    write(tmp_path, "step4.json", content)
    message = (
        r"calib of a: lower is better in some results, .* \(see higher_is_better in .*step2.* and .*step4"
    )
    with pytest.raises(InputError, match=message):
        of_evaluations(read_evaluations([tmp_path]))
    # it concerns nobody who looks at something else
    write(tmp_path, "step5.json", evaluation(0.5))
    table = read_evaluations([tmp_path])
    assert of_evaluations(table[table["task"] == "piqa"])["mean"].tolist() == [0.5]


def test_rows_that_contradict_each_other_are_refused():
    with pytest.raises(InputError, match="acc of t for m, seed 0, step 1 is there twice"):
        of_evaluations(pd.DataFrame([score(0.5), score(0.6)]))
    rows = [score(0.5), score(0.6, checkpoint=2, lower_is_better=True)]
    with pytest.raises(InputError, match="acc of t: lower is better in some results"):
        of_evaluations(pd.DataFrame(rows))


def test_a_group_has_the_metrics_of_one_direction():
    rows = [score(0.5, task=f"t_{task}", metric=metric) for task in (1, 2) for metric in ("acc", "foo")]
    rows[-1]["lower_is_better"] = True
    assert {*with_groups(pd.DataFrame(rows), {"t": "t_*"}, "groups")["metric"]} == {"acc"}


def test_seeds_without_a_common_checkpoint_have_figures_that_say_so(tmp_path):
    table = pd.DataFrame([score(0.5, seed=seed, checkpoint=seed) for seed in (1, 2)])
    summary, panels = of_evaluations(table), panels_of(table)
    for figure in (curves(curve_numbers(panels)), noise(noise_numbers(summary, panels))):
        figure.savefig(tmp_path / "a.png")
        assert len(figure.axes) == 1


def test_notes_are_about_what_is_left_out():
    rows = [
        score(0.5, shots=shots, checkpoint=step, examples=100 - shots) for shots in (0, 5) for step in (1, 2)
    ]
    rows += [score(0.5, metric="f1", checkpoint=step, examples=90 + step) for step in (1, 2)]
    assert notes_on_sizes(pd.DataFrame(rows)) == []
    rows += [score(0.5, checkpoint=3, examples=77)]
    (note,) = notes_on_sizes(pd.DataFrame(rows))
    assert note.startswith("m on t: scores are of 77 to 100 examples")


@pytest.mark.parametrize(("examples", "shots", "leaves"), [(12, 4, 0.05), (12, 0, 0.05)])
def test_guessing_seldom_leaves_chance_if_prompts_have_demonstrations(monkeypatch, examples, shots, leaves):
    """Prompts are not evaluated on their own demonstrations, so the best of them is of fewer examples."""
    monkeypatch.setattr("abovechance.variance.study.bootstrap_interval", lambda *_, **__: (0.0, 0.0))
    generator = np.random.default_rng(0)
    clusters = pd.Series({str(example): example for example in range(examples)})
    none = pd.DataFrame(columns=["example", "prompt", "choice", "logprob", "right"])
    times = []
    for _ in range(60):
        rows = [
            {"example": str(example), "prompt": prompt, "correct": generator.random() < 0.5, "chance": 0.5}
            for prompt in range(50)
            for example in generator.permutation(examples)[shots:]
        ]
        scores = score_setting(pd.DataFrame(rows), none, clusters)
        (best,) = scores[scores["metric"] == "best_accuracy"].to_dict("records")
        assert best["examples"] == examples - shots
        (row,) = of_evaluations(pd.DataFrame([score(0.5) | best])).to_dict("records")
        times.append(pd.notna(row["leaves_chance"]))
    assert np.mean(times) <= leaves + 2.6 * np.sqrt(leaves * (1 - leaves) / len(times))


def test_prompts_of_different_numbers_of_examples_have_no_common_number():
    rows = [
        {"example": str(example), "prompt": prompt, "correct": True, "chance": 0.5}
        for prompt in range(2)
        for example in range(5 - prompt)
    ]
    none = pd.DataFrame(columns=["example", "prompt", "choice", "logprob", "right"])
    scores = score_setting(pd.DataFrame(rows), none, pd.Series({str(number): number for number in range(5)}))
    assert scores.set_index("metric")["examples"].to_dict() == {"accuracy": 5, "best_accuracy": -1}
    scores_of_best = [score(1.0, metric="best_accuracy", checkpoint=step, examples=5) for step in (1, 2)]
    scores_of_best[0]["examples"] = -1
    assert of_evaluations(pd.DataFrame(scores_of_best))["examples"].tolist() == [-1]


def test_accuracies_that_differ_by_rounding_are_equal_in_formulations():
    values = {"cloze": 0.3333333333333333, "letters": 0.33333333333333337}
    rows = [
        {"model": f"m{model}", "task": f"a-{name}", "shots": 1, "metric": "accuracy", "value": value}
        for model in range(3)
        for name, value in values.items()
    ]
    (row,) = agreement(pd.DataFrame(rows), {"a": ["a-cloze", "a-letters"]}).to_dict("records")
    assert (row["first_higher"], row["second_higher"]) == (0, 0)


def test_names_of_metrics_and_models():
    assert all(map(LOSSES.search, ("errors_at_1", "error_rate_norm", "err_norm", "error@1", "wer")))
    assert all(map(LOSSES.search, ("negative_log_likelihood", "neg_loglikelihood")))
    assert not any(map(LOSSES.search, ("error_free", "terror", "acc_norm", "errors_found")))
    assert SEED.sub("", "ByteDance-Seed/Seed-1.6") == "ByteDance-Seed/Seed-1.6"
    assert SEED.sub("", "org/model-seed12") == "org/model"
    assert [SEED.search(name)[1] for name in ("m-seed1.5", "results_seed42.1")] == ["1", "42"]


def test_values_out_of_range_are_refused():
    with pytest.raises(InputError, match="ddof is 2; expected 0 or 1"):
        seed_deviation([[1.0], [2.0]], ddof=2)
    with pytest.raises(InputError, match="confidence is 2"):
        bootstrap_interval([1, 0, 1], confidence=2)
    with pytest.raises(InputError, match="method is 'jackknife'; expected one of basic, percentile, bca"):
        bootstrap_interval([1, 0, 1], method="jackknife")
    assert bootstrap_interval([1, 0, 1], method="BCa") == bootstrap_interval([1, 0, 1], method="bca")


def test_measures_of_accuracies_and_losses():
    """A chance and a step that leaves it are of accuracies; the number of prompts counts for the best one."""
    values = {(1, 1): 0.55, (2, 1): 0.6, (1, 2): 0.6, (2, 2): 0.62}

    def summary(metric: str, ddof: int = 1, **more: Any) -> dict[str, Any]:
        rows = [
            score(value, seed=seed, checkpoint=step, metric=metric, **{"prompts": 50, **more})
            for (seed, step), value in values.items()
        ]
        (row,) = of_evaluations(pd.DataFrame(rows), ddof).to_dict("records")
        return row

    accuracy, best, loss = summary("acc"), summary("best_accuracy"), summary("nll", lower_is_better=True)
    assert (accuracy["chance"], accuracy["interval"]) == (0.5, pytest.approx(1.96 * 0.05))
    assert pd.isna([loss["chance"], loss["leaves_chance"], best["leaves_chance"]]).all()
    # .62 of 100 examples is seldom reached by 4 guessers, and often by 200
    assert summary("acc", prompts=1)["leaves_chance"] == 2
    assert pd.isna(accuracy["leaves_chance"])  # a mean over prompts; that of the best prompt counts
    few = summary("acc", ddof=0)
    assert few["final_deviation"] == pytest.approx(0.01)
    assert few["deviation"] == pytest.approx((0.025 + 0.01) / 2)
    assert few["snr"] == pytest.approx(61)
    assert np.isnan(summary("acc", error=np.nan)["interval"])
    unknown = [score(0.5, checkpoint=step, examples=examples) for step, examples in ((1, -1), (2, 100))]
    assert of_evaluations(pd.DataFrame(unknown))["examples"].tolist() == [-1]
    unknown[0]["value"] = 0.0  # which has no standard error that says how many
    assert of_evaluations(pd.DataFrame(unknown))["examples"].tolist() == [100]
    assert notes_on_sizes(pd.DataFrame(unknown)) == []


def test_accuracies_that_are_no_shares_leave_no_chance():
    rows = [score(value, checkpoint=step) for step, value in ((1, 0.0), (2, 0.9))]
    assert of_evaluations(pd.DataFrame(rows))["leaves_chance"].tolist() == [2]
    rows[0]["value"] = 1.5
    assert of_evaluations(pd.DataFrame(rows))["leaves_chance"].isna().all()


def test_a_contradiction_is_told_as_a_whole():
    rows = [score(0.5), score(0.6, checkpoint=2, lower_is_better=True)]
    with pytest.raises(InputError) as caught:
        of_evaluations(pd.DataFrame(rows))
    assert str(caught.value) == (
        "acc of t: lower is better in some results, and higher in others; expected one direction"
    )
