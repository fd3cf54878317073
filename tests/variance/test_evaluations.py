"""Evaluations at many checkpoints, as others published them."""

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from abovechance.cli import app
from abovechance.core.errors import InputError
from abovechance.variance.evaluations import EVALUATIONS, with_chances, with_groups
from abovechance.variance.results_files import read_evaluations
from abovechance.variance.summary import _leaves_chance, of_evaluations
from tests.conftest import REPOSITORY
from tests.running import run

PYTHIA = REPOSITORY.parent / "shared" / "pythia.zip"


def result(step: int, accuracy: float, seed: int | None = None, **more: Any) -> dict[str, Any]:
    named = "org/model" if seed is None else f"org/model-seed{seed}"
    arguments = f"pretrained={named},revision=step{step},dtype=float32"
    error = float(np.sqrt(accuracy * (1 - accuracy) / 199))
    metrics = {
        "alias": "t",
        "acc,none": accuracy,
        "acc_stderr,none": error,
        "word_perplexity,none": 10.0 / (step + 1),
    }
    metrics |= {"word_perplexity_stderr,none": "N/A"}
    config = {"model": "hf", "model_args": arguments}
    return {"results": {"t": metrics}, "config": config, "n-shot": {"t": 2}} | more


def write(folder: Path, name: str, content: dict[str, Any]) -> Path:
    folder.mkdir(exist_ok=True, parents=True)
    (folder / name).write_text(json.dumps(content))
    return folder / name


def test_results_of_seeds_and_checkpoints(tmp_path):
    for seed in (1, 2, 3):
        for step, accuracy in ((0, 0.25), (1000, 0.30), (2000, 0.5 + seed / 100)):
            write(tmp_path / "evals", f"s{seed}_step{step}.json", result(step, accuracy, seed))
    write(tmp_path / "evals", "notes.json", {"something": "else"})
    table = read_evaluations([tmp_path / "evals"])
    assert set(table["model"]) == {"org/model"}
    assert sorted(set(table["seed"])) == [1, 2, 3]
    assert sorted(set(table["checkpoint"])) == [0, 1000, 2000]
    assert set(table["shots"]) == {2}
    accuracy = table[table["metric"] == "acc"]
    assert set(accuracy["examples"]) == {200}
    assert not accuracy["lower_is_better"].any()
    assert table.loc[table["metric"] == "word_perplexity", "lower_is_better"].all()
    summary = of_evaluations(table.assign(chance=0.25)).set_index("metric")
    assert summary.loc["acc", ["seeds", "checkpoints", "examples"]].tolist() == [3, 3, 200]
    assert summary.loc["acc", "mean"] == pytest.approx(0.52)
    assert summary.loc["acc", "final_deviation"] == pytest.approx(0.01)
    assert summary.loc["acc", "deviation"] == pytest.approx(0.01 / 3)
    assert summary.loc["acc", "snr"] == pytest.approx(52)
    assert summary.loc["acc", "leaves_chance"] == 2000
    assert summary["tau"].to_dict() == {"acc": 1, "word_perplexity": -1}
    assert summary["monotonicity"].to_dict() == {"acc": 1, "word_perplexity": 1}
    assert np.isnan(summary.loc["word_perplexity", "interval"])


def test_what_a_file_says_of_its_metrics_counts(tmp_path):
    messages = result(
        5, 0.5, **{"higher_is_better": {"t": {"acc": False}}, "n-samples": {"t": {"effective": 77}}}
    )
    table = read_evaluations([write(tmp_path, "x.json", messages)]).set_index("metric")
    assert table.loc["acc", "lower_is_better"]
    assert table.loc["acc", "examples"] == 77


def result_of(arguments: str, accuracy: float = 0.5) -> dict[str, Any]:
    content = result(0, accuracy)
    return content | {"config": content["config"] | {"model_args": arguments}}


def test_the_step_can_stand_in_the_models_name_or_in_the_folders(tmp_path):
    named = [
        write(tmp_path / "a", f"{step}.json", result_of(f"pretrained=runs/big-seed7/checkpoint-{step}"))
        for step in (5, 50)
    ]
    table = read_evaluations(named)
    assert set(table["model"]) == {"runs/big"}
    assert set(table["seed"]) == {7}
    assert set(table["checkpoint"]) == {5, 50}
    folders = [write(tmp_path / f"step{step}", "r.json", result_of("pretrained=m")) for step in (1, 2)]
    table = read_evaluations(folders)
    assert set(table["checkpoint"]) == {1, 2}
    assert set(table["model"]) == {"m"}


def test_a_last_model_without_a_step_is_not_taken_for_the_first(tmp_path):
    first = write(tmp_path, "a.json", result_of("pretrained=m,revision=step1000"))
    last = write(tmp_path, "b.json", result_of("pretrained=m,revision=main"))
    with pytest.raises(
        InputError, match=r"b.json: nothing says which step of m it is of, and .*a.json says one"
    ):
        read_evaluations([first, last])
    assert set(read_evaluations([last])["checkpoint"]) == {0}


def test_a_number_of_examples_that_is_not_whole_is_not_known(tmp_path):
    second = result(5, 0.5)
    second["results"]["t"]["acc_stderr,none"] *= 1.001
    table = read_evaluations([write(tmp_path, "x.json", second)]).set_index("metric")
    assert table.loc["acc", "examples"] == -1


def test_what_is_wrong_in_results_is_told(tmp_path):
    first = write(tmp_path / "a", "x_step5.json", result(5, 0.5))
    with pytest.raises(
        InputError,
        match=r"x_step6.json: is of step 5 by what it was run with 'step5' and step 6 by its name 'x_step6",
    ):
        read_evaluations([write(tmp_path / "b", "x_step6.json", result(5, 0.5))])
    repeated = write(tmp_path / "c", "again.json", result(5, 0.4))
    with pytest.raises(
        InputError, match=r"again.json: has acc of t for org/model, seed 0, step 5, and so has .*x_step5"
    ):
        read_evaluations([first, repeated])
    with pytest.raises(InputError, match="has no results; expected a .json of lm-evaluation-harness"):
        read_evaluations([write(tmp_path / "d", "no.json", {"a": 1})])
    with pytest.raises(InputError, match="there is no such file or folder"):
        read_evaluations([tmp_path / "nowhere"])


def of_three(tmp_path: Path) -> pd.DataFrame:
    """One evaluation of three tasks: 200 examples, 200 examples all right, and of 10 examples."""
    content = result(5, 0.5)
    metrics = content["results"]["t"]
    small = {"acc,none": 0.2, "acc_stderr,none": float(np.sqrt(0.2 * 0.8 / 9))}
    correct = {"acc,none": 1.0, "acc_stderr,none": 0.0}
    content["results"] = {"m_a": metrics, "m_b": small, "c": correct}
    content["n-shot"] = {}
    return read_evaluations([write(tmp_path, "x.json", content)])


def test_the_chance_of_a_task_goes_before_that_of_a_pattern(tmp_path):
    table = with_chances(of_three(tmp_path), {"m_*": 0.5, "m_b": 0.25}, "here: key 'chances")
    result = table.groupby("task")["chance"].first()
    assert result[["m_a", "m_b"]].tolist() == [0.5, 0.25]
    assert np.isnan(result["c"])
    with pytest.raises(
        InputError, match=r"here: key 'chances.mb' is 'mb', and no task fits; did you mean 'm_b'"
    ):
        with_chances(table, {"mb": 0.1}, "here: key 'chances")


def test_a_pattern_of_chances_without_effect_is_an_error(tmp_path):
    table, place = of_three(tmp_path), "here: key 'chances"
    with pytest.raises(InputError, match=r"'chances.m_\*' has no effect"):
        with_chances(table, {"*": 0.1, "m_*": 0.5}, place)
    narrow_first = with_chances(table, {"m_*": 0.5, "*": 0.1}, place)
    assert {*narrow_first["chance"]} <= {0.5, 0.1}
    assert len(with_chances(table, {"*": 0.5, "m_*": 0.5}, place)) == len(table)
    # a wide pattern after narrow ones can have no tasks
    for narrow in ({"m_a": 0.5, "m_b": 0.25}, {"m_a*": 0.5, "m_b*": 0.25}):
        assert 0.1 not in {*with_chances(table, narrow | {"m_*": 0.1}, place)["chance"]}


def test_a_group_is_the_mean_over_examples(tmp_path):
    table = with_chances(of_three(tmp_path), {"m_a": 0.5, "m_b": 0.25}, "here: key 'chances")
    result = with_groups(table, {"m": "m_*"}, "here: key 'groups").set_index(["task", "metric"])
    # 100 of 200 and 2 of 10
    group = result.loc[("m", "acc")]
    assert group["value"] == pytest.approx(102 / 210)
    assert group["examples"] == 210
    errors = [0.5 * 0.5 / 199, 0.2 * 0.8 / 9]
    assert group["error"] == pytest.approx(np.sqrt(200**2 * errors[0] + 10**2 * errors[1]) / 210)
    assert group["chance"] == pytest.approx((200 * 0.5 + 10 * 0.25) / 210)
    assert set(result.index.get_level_values("task")) == {"m", "c"}


def test_a_group_whose_sizes_are_not_known_is_the_mean_over_tasks(tmp_path):
    table = with_groups(of_three(tmp_path), {"all": "[mc]*"}, "here: key 'groups").set_index("metric")
    assert table.loc["acc", "value"] == pytest.approx((0.5 + 0.2 + 1) / 3)
    assert table.loc["acc", "examples"] == -1


def test_an_accuracy_of_one_has_the_size_that_the_task_has_at_other_checkpoints(tmp_path):
    for step, accuracy in ((0, 0.5), (1, 1.0)):
        content = result(step, accuracy)
        content["results"]["u"] = result(step, 0.25)["results"]["t"]
        content["n-shot"]["u"] = 2
        write(tmp_path / "e", f"{step}.json", content)
    table = read_evaluations([tmp_path / "e"])
    outcome = with_groups(table, {"g": "?"}, "here: key 'groups").set_index(["checkpoint", "metric"])
    assert outcome.loc[(1, "acc"), ["value", "examples"]].tolist() == [0.625, 400]


def test_a_group_has_the_metrics_that_all_of_its_tasks_have(tmp_path):
    table = of_three(tmp_path)
    result = with_groups(table, {"m": "m_*"}, "here: key 'groups")
    assert set(result.loc[result["task"] == "m", "metric"]) == {"acc"}
    separate = table.assign(metric=table["task"] + table["metric"])
    with pytest.raises(InputError, match=r"key 'groups.m': its tasks have no metric in common"):
        with_groups(separate, {"m": "m_*"}, "here: key 'groups")


def test_a_group_of_which_an_evaluation_lacks_a_task_is_an_error(tmp_path):
    write(tmp_path / "e", "0.json", result(0, 0.5))
    content = result(1, 0.5)
    content["results"]["u"] = content["results"]["t"]
    write(tmp_path / "e", "1.json", content)
    table = read_evaluations([tmp_path / "e"])
    with pytest.raises(
        InputError, match=r"key 'groups.g': acc of u lacks for org/model, seed 0, step 0, 2 shots;"
    ):
        with_groups(table, {"g": "?"}, "here: key 'groups")
    with pytest.raises(InputError, match=r"key 'groups.u' has the name of a task"):
        with_groups(table, {"u": "?"}, "here: key 'groups")


def test_a_number_too_long_for_a_step_is_none(tmp_path):
    config = {"model_args": f"pretrained=x,revision=step{'9' * 400}"}
    content = {"results": {"t": {"acc,none": 0.5}}, "config": config}
    (tmp_path / "results_1.json").write_text(json.dumps(content))
    assert read_evaluations([tmp_path])["checkpoint"].tolist() == [0]


@pytest.mark.skipif(not PYTHIA.is_file(), reason="needs ../shared/pythia.zip, EleutherAI's evaluations")
def test_the_published_evaluations_of_pythia(tmp_path):
    completed = CliRunner().invoke(app, ["variance", str(PYTHIA), "--json"])
    rows = {
        (row["model"].split("v1.1-")[1], row["task"], row["metric"]): row
        for row in json.loads(completed.stdout)
    }
    assert {key[0] for key in rows} == {"160m", "160m-deduped", "1.4b"}
    tau = {key[1:]: row["tau"] for key, row in rows.items() if key[0] == "160m"}
    assert round(tau["lambada_openai", "acc"], 4) == 0.6081
    assert round(tau["lambada_openai", "ppl"], 4) == -0.7190
    assert round(tau["arc_challenge", "acc"], 4) == -0.4534
    assert rows["160m", "lambada_openai", "ppl"]["monotonicity"] == pytest.approx(0.7190, abs=1e-4)
    # the benchmarks' sizes, from accuracies and their standard errors
    sizes = {key[1]: row["examples"] for key, row in rows.items() if key[2] == "acc"}
    expected = {"arc_challenge": 1172, "piqa": 1838, "lambada_openai": 5153, "winogrande": 1267, "sciq": 1000}
    assert {task: sizes[task] for task in expected} == expected
    assert {row["checkpoints"] for row in rows.values()} == {27}
    # by right answers of all subjects, so that no tie is lost to rounding
    grouped = with_groups(read_evaluations([PYTHIA]), {"mmlu": "hendrycksTest-*"}, "here: key 'groups")
    mmlu = of_evaluations(grouped[(grouped["task"] == "mmlu") & (grouped["metric"] == "acc")])
    assert sorted(mmlu["tau"].round(6)) == [0.540002, 0.76286, 0.878746]
    with zipfile.ZipFile(PYTHIA) as file:
        file.extractall(tmp_path)
    folder = json.loads(
        CliRunner().invoke(app, ["variance", str(tmp_path / "evals"), "--task", "piqa", "--json"]).stdout
    )
    by_key = {(row["model"], row["metric"]): row["tau"] for row in folder}
    assert by_key["EleutherAI/pythia-v1.1-1.4b", "acc"] == rows["1.4b", "piqa", "acc"]["tau"]


def test_curves_are_drawn_with_their_numbers(tmp_path):
    for step in (0, 10, 100):
        for seed in (1, 2):
            write(tmp_path / "e", f"{seed}-{step}.json", result(step, 0.25 + step / 400 + seed / 100, seed))
    arguments = ["variance", str(tmp_path / "e"), "--figure", str(tmp_path / "curves.png"), "--metric", "acc"]
    completed = CliRunner().invoke(app, arguments)
    assert completed.exit_code == 0, completed.output
    assert (tmp_path / "curves.png").stat().st_size > 5000
    lines = (tmp_path / "curves.csv").read_text().splitlines()
    assert lines[0].startswith("task,shots,metric,model,checkpoint,mean,seeds,lowest,low_quartile")
    assert len(lines) == 4
    wrong = CliRunner().invoke(app, ["variance", str(tmp_path / "e"), "--task", "u"])
    assert "--task u: is not in these results" in str(wrong.exception or wrong.output)


def test_steps_are_whole_words_with_units(tmp_path):
    paths = [
        write(tmp_path, f"{place}.json", result_of(f"pretrained=m,revision={revision}", 0.3 + place / 10))
        for place, revision in enumerate(("step500", "step1k", "stage1-step2000-tokens9B", "global_step10k"))
    ]
    assert sorted(set(read_evaluations(paths)["checkpoint"])) == [500, 1000, 2000, 10_000]
    for name in ("org/footstep3-model", "org/multistep2_run", "org/step3d"):
        table = read_evaluations([write(tmp_path, "one.json", result_of(f"pretrained={name}"))])
        assert set(table["model"]) == {name}
        assert set(table["checkpoint"]) == {0}


@pytest.mark.parametrize(
    ("name", "step"),
    [
        *(("step0.5k", 500), ("step1.5k", 1500), ("step2.25M", 2_250_000), ("step0.25k-seed1", 250)),
        *(("step9_000", 9000), ("step1_000_000", 1_000_000), ("step1000_500", 1000), ("step12_50", 12)),
        *(("step1.5", None), ("step1.2.3", None), ("step1kg", None)),
    ],
)
def test_a_step_with_a_decimal_point_or_underscores(tmp_path, name, step):
    files = [write(tmp_path, f"{name}.json", result_of("pretrained=m"))]
    table = read_evaluations(files)
    assert {*table["checkpoint"]} == {step or 0}
    if step is None:
        with pytest.raises(InputError, match="nothing says which step of m it is of"):
            read_evaluations([*files, write(tmp_path, "step7.json", result_of("pretrained=m"))])
    files = [write(tmp_path, "a.json", result_of(f"pretrained=org/m-{name}"))]
    if step is not None and "seed" not in name and "_5" not in name:
        assert {*read_evaluations(files)["model"]} == {"org/m"}


def test_a_folder_can_name_the_seed_and_the_step(tmp_path, monkeypatch):
    for seed in (1, 2):
        for step in (10, 20):
            folder = tmp_path / "seed9" / "runs" / f"seed{seed}" / f"step{step}"
            write(folder, "results.json", result_of("pretrained=m"))
    table = read_evaluations([tmp_path / "seed9" / "runs"])
    expected = [(1, 10), (1, 20), (2, 10), (2, 20)]
    assert [*dict.fromkeys(zip(table["seed"], table["checkpoint"], strict=True))] == expected
    # the folders of the command are named, too, and none above these
    folders = [tmp_path / "seed9" / "runs" / f"seed{seed}" for seed in (1, 2)]
    assert [*dict.fromkeys(read_evaluations(folders)["seed"])] == [1, 2]
    file = tmp_path / "seed9" / "runs" / "seed1" / "step10" / "results.json"
    table = read_evaluations([file])
    assert ({*table["seed"]}, {*table["checkpoint"]}) == ({0}, {10})
    monkeypatch.chdir(folders[0])
    assert {*read_evaluations([Path()])["seed"]} == {1}
    path = tmp_path / "both.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.write(file, "seed3/step5/results.json")
    table = read_evaluations([path])
    assert ({*table["seed"]}, {*table["checkpoint"]}) == ({3}, {5})


def counted(folder: Path, sizes: dict[int, tuple[int, int]]) -> Path:
    """Accuracies of seeds, (number correct, number of examples), with the file's own numbers of examples."""
    for seed, (correct, examples) in sizes.items():
        content = result(1000, correct / examples, seed)
        content["results"]["t"].pop("word_perplexity,none")
        content["n-samples"] = {"t": {"original": examples, "effective": examples}}
        write(folder, f"seed{seed}.json", content)
    return folder


def test_scores_of_different_numbers_of_examples_never_leave_chance(tmp_path):
    folder = counted(tmp_path / "uneven", {1: (500, 2000), 2: (490, 2000), 3: (9, 20)})
    (row,) = of_evaluations(read_evaluations([folder]).assign(chance=0.25)).to_dict("records")
    assert row["examples"] == -1
    assert pd.isna(row["leaves_chance"])
    completed = CliRunner().invoke(app, ["variance", str(folder), "--chance", "0.25"])
    note = "note: org/model on t: scores are of 20 to 2,000 examples, so leaves_chance is missing"
    assert note in completed.output
    assert "note:" not in CliRunner().invoke(app, ["variance", str(folder)]).output
    folder = counted(tmp_path / "even", {1: (500, 2000), 2: (490, 2000), 3: (900, 2000)})
    (row,) = of_evaluations(read_evaluations([folder]).assign(chance=0.25)).to_dict("records")
    assert (row["examples"], row["leaves_chance"]) == (2000, 1000)
    assert "note:" not in CliRunner().invoke(app, ["variance", str(folder), "--chance", "0.25"]).output


def test_chance_without_numbers_of_examples_is_noted(tmp_path):
    for step in (1, 1000):
        content = result(step, 0.5)
        del content["results"]["t"]["acc_stderr,none"]
        write(tmp_path, f"{step}.json", content)
    output = CliRunner().invoke(app, ["variance", str(tmp_path), "--chance", "0.25"]).output
    assert "note: t: the number of examples is unknown, so leaves_chance is missing" in output


def test_a_group_weights_each_score_by_its_own_examples(tmp_path):
    content = result(1, 0.5)
    metrics = content["results"]["t"]
    content["results"] = {"a": metrics, "b": metrics | {"acc,none": 0.9}}
    content["n-samples"] = {"a": {"effective": 30}, "b": {"effective": 10}}
    second = result(2, 0.5)
    second["results"] = content["results"]
    second["n-samples"] = {"a": {"effective": 10}, "b": {"effective": 10}}
    files = [write(tmp_path, "1.json", content), write(tmp_path, "2.json", second)]
    table = with_groups(read_evaluations(files), {"all": "?"}, "here: key 'groups")
    values = table[table["metric"] == "acc"].set_index("checkpoint")
    assert values["value"].to_dict() == pytest.approx({1: 0.6, 2: 0.7})
    assert values["examples"].to_dict() == {1: 40, 2: 20}


LOWER = [
    *("perplexity", "word_perplexity", "ppl", "eval_loss", "losses", "logloss", "nll", "nll_per_char"),
    *("cross_entropy", "crossentropy", "bpb", "bits_per_byte", "brier_score", "likelihood_diff", "WER"),
    *("bits_per_char", "bpc", "ece", "kl_div", "mape", "edit_distance", "hter"),
    *("error", "errors", "error_rate", "word_error_rate", "cer", "character-error-rate", "rmse", "err"),
]
HIGHER = ["acc", "application_acc", "glossary_f1", "error_correction_acc", "supplement", "answer", "terms"]
HIGHER += ["edit_distance_similarity", "neg_edit_distance", "bits_per_char_improvement"]
HIGHER += ["lossless_acc", "summer", "merrier", "f1", "rouge1", "bleu"]


@pytest.mark.parametrize("metric", LOWER + HIGHER)
def test_whole_words_of_a_metrics_name_say_that_less_is_better(tmp_path, metric):
    content = result(1, 0.5)
    content["results"]["t"] = {f"{metric},none": 0.5}
    (row,) = read_evaluations([write(tmp_path, "a.json", content)]).to_dict("records")
    assert row["lower_is_better"] == (metric in LOWER)


def test_json_has_no_infinite_numbers(tmp_path):
    folder = counted(tmp_path, {1: (5, 20), 2: (5, 20)})

    def refuse(text: str) -> None:
        raise AssertionError(text)

    output = CliRunner().invoke(app, ["variance", str(folder), "--json"]).stdout
    (row,) = json.loads(output, parse_constant=refuse)
    assert row["final_deviation"] == 0
    assert row["snr"] == "Infinity"


def test_the_models_name_loses_its_step_wherever_the_step_stands(tmp_path):
    paths = [
        write(tmp_path, f"step{step}.json", result_of(f"pretrained=runs/a/step{step}/")) for step in (10, 20)
    ]
    table = read_evaluations(paths)
    assert set(table["model"]) == {"runs/a"}
    assert set(table["checkpoint"]) == {10, 20}
    with pytest.raises(InputError, match=r"is of step 10 by its name 'step10.json' and step 30 by its model"):
        read_evaluations([write(tmp_path, "step10.json", result_of("pretrained=runs/a/step30"))])


def test_a_seed_can_stand_in_the_files_name_or_in_the_revision(tmp_path):
    paths = [
        write(tmp_path, f"m_seed{seed}_step1.json", result_of("pretrained=m", seed / 10)) for seed in (1, 2)
    ]
    paths.append(write(tmp_path, "x.json", result_of("pretrained=m,revision=step1-seed-3")))
    assert set(read_evaluations(paths)["seed"]) == {1, 2, 3}


def test_whether_less_is_better_that_is_not_said_follows_from_the_name(tmp_path):
    content = result(1, 0.5, higher_is_better={"t": {"acc": None, "likelihood_difference": None}})
    metrics = content["results"]["t"]
    content["results"]["t"] = metrics | {
        "likelihood_difference": 2.0,
        "exact_answer": 0.3,
        "wer": 0.4,
        "mse": 1.0,
    }
    table = (
        read_evaluations([write(tmp_path, "a.json", content)])
        .set_index("metric")["lower_is_better"]
        .to_dict()
    )
    assert table == {
        "acc": False,
        "word_perplexity": True,
        "likelihood_difference": True,
        "exact_answer": False,
        "wer": True,
        "mse": True,
    }


def test_means_that_a_file_has_itself_do_not_count_in_groups(tmp_path):
    content = result(1, 0.5)
    metrics = content["results"]["t"]
    content["results"] = {
        "mmlu": metrics | {"acc,none": 0.9},
        "mmlu_a": metrics,
        "mmlu_b": metrics | {"acc,none": 0.3},
    }
    content["n-shot"] = {}
    content["group_subtasks"] = {"mmlu": ["mmlu_a", "mmlu_b"], "mmlu_a": [], "mmlu_b": []}
    table = read_evaluations([write(tmp_path, "a.json", content)])
    outcome = with_groups(table, {"all": "mmlu*"}, "here: key 'groups").set_index(["task", "metric"])
    assert outcome.loc[("all", "acc"), "value"] == pytest.approx(0.4)
    assert outcome.loc[("mmlu", "acc"), "value"] == 0.9


def test_numbers_of_examples_that_contradict_each_other_are_not_known(tmp_path):
    for step, accuracy in ((0, 0.28), (1, 0.31)):
        content = result(step, accuracy)
        content["results"]["t"]["acc_stderr,none"] = 0.03
        write(tmp_path / "e", f"{step}.json", content)
    assert set(read_evaluations([tmp_path / "e"])["examples"]) == {-1}


@pytest.mark.parametrize(
    "second",
    [
        {"results": {"acc": 0.5}},
        {"results": {"t": None}},
        {"results": {"t": ["a"]}},
        ["a list"],
    ],
)
def test_other_json_in_a_folder_is_passed_over(tmp_path, second):
    write(tmp_path / "e", "0.json", result(0, 0.5))
    (tmp_path / "e" / "other.json").write_text(json.dumps(second))
    (tmp_path / "e" / "._0.json").write_bytes(b"\x00\x05\x16\x07\xff")  # which macOS puts beside files
    assert len(read_evaluations([tmp_path / "e"])) == 2


@pytest.mark.parametrize(
    "more",
    [
        {"n-shot": 3},
        {"n-samples": {"t": 100}},
        {"n-samples": {"t": {"effective": "many"}}},
        {"higher_is_better": {"t": True}},
        {"group_subtasks": ["t"]},
        {"config": "x"},
    ],
)
def test_odd_shapes_beside_the_results_are_not_told(tmp_path, more):
    table = read_evaluations([write(tmp_path, "step5.json", result(5, 0.5) | more)]).set_index("metric")
    assert table.loc["acc", "value"] == 0.5
    assert table.loc["acc", "examples"] == 200


def test_zip_files_of_macs_and_broken_ones(tmp_path):
    with zipfile.ZipFile(tmp_path / "mac.zip", "w") as file:
        file.writestr("e/0.json", "\ufeff" + json.dumps(result(0, 0.5)))
        file.writestr("__MACOSX/e/._0.json", b"\x00\x05\x16\x07\xff")
        file.writestr("e/.ipynb_checkpoints/0.json", json.dumps(result(0, 0.5)))
    assert len(read_evaluations([tmp_path / "mac.zip"])) == 2
    whole = (tmp_path / "mac.zip").read_bytes()
    place = whole.index(b'"results"')
    (tmp_path / "cut.zip").write_bytes(whole[:place] + b"X" + whole[place + 1 :])
    with pytest.raises(InputError, match="cut.zip: cannot be unpacked"):
        read_evaluations([tmp_path / "cut.zip"])
    # the place of the list of files, which stands near the end, is one behind it: a file then begins before 0
    listed = int.from_bytes(whole[-6:-2], "little") + 100
    (tmp_path / "moved.zip").write_bytes(whole[:-6] + listed.to_bytes(4, "little") + whole[-2:])
    with pytest.raises(InputError, match="moved.zip: cannot be unpacked"):
        read_evaluations([tmp_path / "moved.zip"])


def test_an_accuracy_in_per_cent_is_told(tmp_path):
    for step, value in ((10, 45.3), (20, 61.0)):
        results = {"results": {"t": {"acc,none": value, "ppl,none": 30.0}}}
        (tmp_path / f"results_step{step}.json").write_text(json.dumps(results))
    completed = CliRunner().invoke(app, ["variance", str(tmp_path)])
    assert "note: acc of t is up to 61: expected a share from 0 to 1 (per cent?)" in completed.output
    assert "ppl of t" not in completed.output
    with pytest.raises(InputError, match="here.t': acc of t is up to 61"):
        with_chances(read_evaluations([tmp_path]), {"t": 0.5}, "here.t")


def seeds_of(values: dict[int, list[float]]) -> pd.DataFrame:
    return pd.DataFrame(
        {"model": "m", "seed": seed, "checkpoint": 10 * step, "value": value}
        for seed, scores in values.items()
        for step, value in enumerate(scores)
    ).assign(
        shots=0,
        task="t",
        metric="acc",
        error=0.01,
        bootstrap=np.nan,
        examples=100,
        prompts=1,
        chance=0.25,
        lower_is_better=False,
    )


def test_all_measures_are_of_the_checkpoints_that_all_seeds_have():
    table = seeds_of({1: [0.3, 0.2, 0.4, 0.9], 2: [0.2, 0.1, 0.5]})
    table = table[(table["seed"] == 1) | (table["checkpoint"] != 0)].assign(
        error=[0.5, 0.1, 0.1, 0.5, 0.2, 0.2]
    )
    summary = of_evaluations(table).iloc[0]
    assert (summary["first"], summary["mean"]) == pytest.approx((0.15, 0.45))
    assert summary["final_deviation"] == pytest.approx(np.std([0.4, 0.5], ddof=1))
    assert summary["interval"] == pytest.approx(1.96 * 0.15)
    assert summary["tau"] == 1
    assert (summary["checkpoints"], summary["left_out"]) == (2, 2)


def test_a_score_that_is_no_number_takes_its_checkpoint_from_all_seeds():
    summary = of_evaluations(seeds_of({1: [0.2, 0.4, 0.6], 2: [0.2, np.nan, 0.8]})).iloc[0]
    assert summary["deviation"] == pytest.approx(np.mean([0, np.std([0.6, 0.8], ddof=1)]))
    assert np.isnan(of_evaluations(seeds_of({1: [0.2, 0.4], 2: [0.2, np.nan]})).iloc[0]["mean"])


def test_of_seeds_without_a_common_checkpoint_nothing_is_said():
    table = seeds_of({1: [0.2, 0.4], 2: [0.3, 0.5]})
    table = table[(table["seed"] == 1) == (table["checkpoint"] == 0)]
    summary = of_evaluations(table).iloc[0]
    assert (summary["seeds"], summary["checkpoints"], summary["left_out"]) == (2, 0, 2)
    assert summary.loc["first":].isna().all()


def test_a_score_that_is_no_number_is_not_passed_over():
    summary = of_evaluations(seeds_of({1: [0.2, 0.4, np.nan]})).iloc[0]
    assert np.isnan(summary["mean"])
    assert summary["checkpoints"] == 3
    assert pd.isna(summary["leaves_chance"])
    nothing = of_evaluations(seeds_of({1: [np.nan, np.nan]})).iloc[0]
    assert np.isnan(nothing["mean"])
    percent = of_evaluations(seeds_of({1: [30.0, 50.0]})).iloc[0]
    assert pd.isna(percent["leaves_chance"])


def test_a_whole_number_that_no_float_can_be_is_told(tmp_path):
    content = result(1, 0.5)
    content["results"]["t"]["acc,none"] = 10**400
    with pytest.raises(InputError, match="acc,none of t is 1000.*; expected a number"):
        of_evaluations(read_evaluations([write(tmp_path, "results.json", content)]))


def test_an_infinite_perplexity_does_not_keep_other_tasks_from_being_read(tmp_path):
    for step in (0, 1000):
        content = result(step, 0.5)
        content["results"]["wikitext"] = {"word_perplexity,none": 20.0 if step else float("inf")}
        write(tmp_path / "in", f"step{step}.json", content)
    table = read_evaluations([tmp_path / "in"])
    joined = pd.concat([table, table.assign(model="m")], ignore_index=True)
    joined.attrs.clear()  # as pandas does if those of two tables differ
    with pytest.raises(InputError, match="word_perplexity of wikitext is inf; expected a number"):
        of_evaluations(joined)
    message = "step0.json: word_perplexity,none of wikitext is inf; expected a number"
    refused = run("variance", str(tmp_path / "in"))
    assert (refused.returncode, message in refused.stderr) == (1, True)
    chosen = run("variance", str(tmp_path / "in"), "--task", "t", "--chance", "0.25")
    assert (chosen.returncode, chosen.stderr) == (0, "")
    one_for_all = run("variance", str(tmp_path / "in"), "--metric", "acc", "--chance", "0.25")
    assert one_for_all.stderr == ""
    write(
        tmp_path / "in",
        "other.json",
        {"results": {"u": {"acc,none": 0.5}}} | {"config": content["config"]},
    )
    several = run("variance", str(tmp_path / "in"), "--metric", "acc", "--chance", "0.25")
    assert (
        "note: --chance 0.25 is used for all 2 tasks; choose tasks with this chance by --task"
        in several.stderr
    )


def test_a_name_with_half_of_a_character_is_told(tmp_path):
    content = result(10, 0.5)
    content["results"]["t\ud800"] = content["results"].pop("t")
    path = write(tmp_path, "step10.json", content)
    with pytest.raises(InputError, match=r"step10.json: the name 't\\ud800' has half of a character"):
        read_evaluations([path])


def test_stages_of_a_training_are_not_put_in_one_order(tmp_path):
    for name in ("stage1-step1000-tokens5B", "stage1-step2000", "stage2-ingredient1-step500"):
        config = {"model_args": f"pretrained=org/m,revision={name}"}
        write(tmp_path / "all", f"{name}.json", result(0, 0.5) | {"config": config})
    with pytest.raises(InputError, match="has stages 1 and 2 of the training of org/m, and steps may begin"):
        read_evaluations([tmp_path / "all"])
    plain = {"config": {"model_args": "pretrained=org/m,revision=step1000"}}
    second = tmp_path / "all" / "stage2-ingredient1-step500.json"
    with pytest.raises(InputError, match=r"has stages 1 \(not named\) and 2 of the training of org/m"):
        read_evaluations([write(tmp_path, "plain.json", result(0, 0.5) | plain), second])
    for name in ("stage1-step1000", "stage2-step3000"):
        no_revision = {"config": {"model_args": "pretrained=org/m"}}
        write(tmp_path / "folders" / name, "results.json", result(0, 0.5) | no_revision)
    with pytest.raises(InputError, match="has stages 1 and 2 of the training"):
        read_evaluations([tmp_path / "folders"])
    second.unlink()
    assert {*read_evaluations([tmp_path / "all"])["checkpoint"]} == {1000, 2000}


def test_two_steps_in_one_name_are_a_contradiction(tmp_path):
    config = {"model_args": "pretrained=out/step1-pretrain/checkpoint-100"}
    path = write(tmp_path, "a.json", result(0, 0.5) | {"config": config})
    with pytest.raises(InputError, match="is of step 1 by its model .* and step 100 by its model"):
        read_evaluations([path])


def test_a_group_has_the_shots_of_its_tasks(tmp_path):
    for shots in (0, 5):
        metrics = {name: {"acc,none": 0.4} for name in ("mmlu", "mmlu_stem", "mmlu_a", "mmlu_b")}
        groups = {"mmlu": ["mmlu_stem", "mmlu_b"], "mmlu_stem": ["mmlu_a"], "loop": ["loop"]}
        content = {"results": metrics | {"loop": {"acc": 0.1}}, "group_subtasks": groups}
        # as lm-evaluation-harness 0.4.2 writes groups of groups
        content["n-shot"] = {"mmlu": 0, "mmlu_stem": shots, "mmlu_a": shots, "mmlu_b": shots}
        write(tmp_path / "g", f"s{shots}_step1.json", content)
    table = read_evaluations([tmp_path / "g" / "s5_step1.json"]).set_index("task")
    assert table["shots"].to_dict() == {"mmlu": 5, "mmlu_stem": 5, "mmlu_a": 5, "mmlu_b": 5, "loop": 0}


def test_arguments_without_a_value_are_none(tmp_path):
    config = {"model_args": {"pretrained": "org/x", "peft": None}}
    table = read_evaluations([write(tmp_path, "step1.json", result(1, 0.5) | {"config": config})])
    assert {*table["model"]} == {"org/x"}


def test_a_gloss_is_no_loss(tmp_path):
    content = {"results": {"t": {"gloss_acc": 0.4, "log_loss": 0.2, "logloss": 0.1, "avgLoss": 0.3}}}
    table = read_evaluations([write(tmp_path, "step1.json", content)]).set_index("metric")
    assert table["lower_is_better"].to_dict() == {
        "gloss_acc": False,
        "log_loss": True,
        "logloss": True,
        "avgLoss": True,
    }


def evaluation(model: str, step: int, sizes: dict[str, int] | None, **accuracies: float) -> dict[str, Any]:
    """An evaluation without standard errors, of known numbers of examples or of unknown ones."""
    content = result(step, 0.5)
    content["config"]["model_args"] = f"pretrained={model},revision=step{step}"
    content["results"] = {task: {"acc,none": accuracy} for task, accuracy in accuracies.items()}
    content["n-shot"] = dict.fromkeys(accuracies, 2)
    if sizes:
        content["n-samples"] = {task: {"effective": size} for task, size in sizes.items()}
    return content


@pytest.mark.parametrize("with_second", [True, False])
def test_a_group_has_the_same_weights_in_a_whole_series(tmp_path, with_second):
    """Another model, which was evaluated on fewer examples, changes nothing."""
    sizes = {"a": 1000, "b": 10}
    for step in (1, 2, 3):
        sizes_here = sizes if step < 3 else None
        write(tmp_path, f"m{step}.json", evaluation("m", step, sizes_here, a=0.2, b=0.8))
        if with_second:
            write(tmp_path, f"n{step}.json", evaluation("n", step, {"a": 100, "b": 10}, a=0.2, b=0.8))
    table = with_groups(read_evaluations([tmp_path]), {"g": "?"}, "here: key 'groups")
    rows = table[table["model"] == "m"]
    assert rows["value"].tolist() == pytest.approx([(200 + 8) / 1010] * 3)
    assert rows["examples"].tolist() == [1010] * 3
    for step, sizes_here in ((4, {"a": 500, "b": 10}), (5, None)):  # now their number is not known at step 5
        write(tmp_path, f"m{step}.json", evaluation("m", step, sizes_here, a=0.2, b=0.8))
    table = with_groups(read_evaluations([tmp_path]), {"g": "?"}, "here: key 'groups")
    rows = table[table["model"] == "m"]
    assert rows["value"].tolist() == pytest.approx([0.5] * 5)
    assert set(rows["examples"]) == {-1}


def test_a_checkpoint_that_is_left_out_changes_no_weights(tmp_path):
    sizes = {"a": 1000, "b": 10}
    for seed, step, known_sizes in ((1, 1, sizes), (1, 2, sizes), (2, 1, sizes), (2, 2, sizes), (2, 3, None)):
        content = evaluation(f"m-seed{seed}", step, known_sizes, a=0.2, b=0.8)
        if step == 2:  # with other numbers, so that these fill no gap
            content["n-samples"] = {"a": {"effective": 999}, "b": {"effective": 10}}
        write(tmp_path, f"{seed}-{step}.json", content)
    table = with_groups(read_evaluations([tmp_path]), {"g": "?"}, "here: key 'groups")
    assert table[table["checkpoint"] < 3]["value"].to_numpy() == pytest.approx(0.206, abs=1e-3)
    (row,) = of_evaluations(table).to_dict("records")
    assert (row["left_out"], row["mean"]) == (1, pytest.approx(0.206, abs=1e-3))


def test_numbers_of_examples_that_only_some_scores_have_are_told_of_each_model(tmp_path):
    for step, accuracy in ((1, 0.3), (2, 0.9)):
        write(tmp_path, f"A{step}.json", evaluation("A", step, {"t": 100}, t=accuracy))
        write(tmp_path, f"B{step}.json", evaluation("B", step, None, t=accuracy))
    completed = CliRunner().invoke(app, ["variance", str(tmp_path), "--chance", "0.25"])
    assert (
        "note: B on t: the number of examples is unknown, so leaves_chance is missing\n" in completed.stderr
    )
    heading, *_ = completed.stdout.split("\n\n")[1].splitlines()
    assert "examples" not in heading  # which are not those of all rows
    for model in "AB":
        (tmp_path / f"{model}2.json").unlink()
        write(tmp_path, f"{model}2.json", evaluation(model, 2, None, t=0.9))
    completed = CliRunner().invoke(app, ["variance", str(tmp_path), "--chance", "0.25"])
    assert "note: t: the number of examples is unknown" in completed.stderr


def test_checkpoints_that_are_left_out_do_not_count_in_examples_and_notes(tmp_path):
    for seed, step, size in ((1, 1, 100), (1, 2, 100), (1, 3, 50), (2, 1, 100), (2, 2, 100)):
        content = result(step, 0.3 + 0.3 * (step > 1), seed, **{"n-samples": {"t": {"effective": size}}})
        write(tmp_path, f"seed{seed}-{step}.json", content)
    summary = of_evaluations(read_evaluations([tmp_path]).assign(chance=0.25)).set_index("metric")
    assert summary.loc["acc", ["examples", "leaves_chance", "left_out"]].tolist() == [100, 2, 1]
    assert "note:" not in CliRunner().invoke(app, ["variance", str(tmp_path), "--chance", "0.25"]).stderr


def test_results_of_lighteval_are_refused(tmp_path):
    content = {"config_general": {"model_name": "org/m"}, "results": {"t|0": {"acc": 0.5}}}
    write(tmp_path / "step1", "results.json", content)
    with pytest.raises(InputError, match=r"results.json: is a file of lighteval; expected a \.json of lm-ev"):
        read_evaluations([tmp_path])


@pytest.mark.parametrize("name", ["checkpoint-{}", "./checkpoint-{}", "step{}/"])
def test_a_model_that_is_named_by_its_step_alone_is_called_by_its_folder(tmp_path, name):
    for folder, steps in (("runA", (1000, 2000)), ("runB", (3000, 4000))):
        for step in steps:
            arguments = f"pretrained={name.format(step)}"
            write(tmp_path / "evals" / folder / "seed3", f"{step}.json", result_of(arguments))
    table = read_evaluations([tmp_path / "evals"])
    assert [*dict.fromkeys(zip(table["model"], table["checkpoint"], strict=True))] == [
        *(("runA", 1000), ("runA", 2000), ("runB", 3000), ("runB", 4000))
    ]
    assert set(table["seed"]) == {3}
    for folder in ("A-seed1", "B-seed2"):
        write(
            tmp_path / "seeds" / folder / "checkpoint-10", "r.json", result_of("pretrained=../checkpoint-10")
        )
        write(tmp_path / "peft" / folder, "r.json", result_of("pretrained=base,peft=./checkpoint-10"))
    assert set(read_evaluations([tmp_path / "seeds"])["model"]) == {"A", "B"}
    assert set(read_evaluations([tmp_path / "peft"])["model"]) == {"base + A", "base + B"}
    file = write(tmp_path / "step1", "1.json", result_of("pretrained=step1"))
    with pytest.raises(InputError, match="its model is named by its step alone; expected a folder for each"):
        read_evaluations([file])


def test_seeds_and_steps_can_be_written_with_an_equals_sign(tmp_path):
    for seed, step in ((1, 10), (2, 20)):
        write(tmp_path / f"seed={seed}" / f"epoch=1-step={step}", "r.json", result_of("pretrained=m"))
    table = read_evaluations([tmp_path])
    assert [*dict.fromkeys(zip(table["seed"], table["checkpoint"], strict=True))] == [(1, 10), (2, 20)]
    file = write(tmp_path, "seed1.json", result_of("pretrained=m-seed2,revision=step3"))
    with pytest.raises(InputError, match="is of the seeds 2 and 1 by its model and its name; expected one"):
        read_evaluations([file])


def test_tables_of_evaluations_are_written_without_a_warning(tmp_path, recwarn):
    for step in (1, 2):
        write(tmp_path, f"step{step}.json", result(step, 0.5, group_subtasks={"g": ["t"]}))
    table = read_evaluations([tmp_path])
    EVALUATIONS.write(table, tmp_path / "e.parquet", {})
    assert table.attrs["grouped"] == {"g"}
    assert not [warning for warning in recwarn if "serialize" in str(warning.message)]


def test_trainings_whose_seeds_have_names_are_series_of_their_own(tmp_path):
    """As those of DataDecide, which have other steps each."""
    for place, name in enumerate(("seed-default", "seed-small-aux-2", "seed-large-aux-2")):
        for step in (1000 + place, 2000 + place):
            revision = f"step{step}-{name}-tokens{step}B"
            config = {"model_args": f"pretrained=org/m,revision={revision}"}
            write(tmp_path, f"{revision}.json", result(0, 0.5) | {"config": config})
    table = read_evaluations([tmp_path])
    names = [f"org/m@{name}" for name in ("seed-default", "seed-large-aux-2", "seed-small-aux-2")]
    assert sorted({*table["model"]}) == names
    assert {*table["seed"]} == {0}
    assert table.groupby("model")["checkpoint"].nunique().tolist() == [2, 2, 2]


def test_a_score_that_no_number_of_right_answers_has_does_not_leave_chance():
    """As `acc` of truthfulqa_mc2, which is a probability."""
    rows = pd.DataFrame(
        {"seed": 0, "checkpoint": [1, 2], "value": [0.470361, 0.525213], "examples": 817}
    ).assign(metric="acc", prompts=1, chance=0.45, error=np.nan)
    whole = rows.assign(value=[round(value * 817) / 817 for value in rows["value"]])
    rounded, of_percent = (rows.assign(value=whole["value"].round(digits)) for digits in (3, 2))
    of_percent["value"] = (100 * of_percent["value"]) / 100
    for table, place in ((rows, None), (whole, 1), (rounded, 1), (of_percent, 1)):
        assert _leaves_chance(table, table["value"].to_numpy()[None], 817) == place
