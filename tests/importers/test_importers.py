"""Other tools' logs, in the forms that the tools themselves were seen to write."""

import json
import os
import shutil
import struct
import subprocess
import sys
import warnings
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from abovechance import importers
from abovechance.core.errors import InputError
from abovechance.core.settings import Setting
from abovechance.importers import Options, diagnose, every_eval_ever, prompt_names, read_runs, uneven_notes
from abovechance.importers.every_eval_ever import aggregate_of
from abovechance.results.imported import IMPORTED
from tests.conftest import REPOSITORY
from tests.doctor.logs import sound, write_records
from tests.importers.reading import imported
from tests.releases import write_release
from tests.running import run

# --- HELM ------------------------------------------------------------------------------------


def helm_stat(name: str, value: float, split: str = "test") -> dict[str, Any]:
    return {"name": {"name": name, "split": split}, "count": 1, "sum": value, "mean": value}


def helm_states(*examples):
    """Requests of HELM for these examples, with what the model read and wrote."""
    reference = {"output": {"text": "Paris"}, "tags": ["correct"]}
    return [
        {
            "instance": {
                "id": name,
                "input": {"text": f"Q {name}?"},
                "references": [reference, {"output": {}}],
            },
            "train_trial_index": 0,
            "request": {"prompt": f"read {name}"},
            "result": {"completions": [{"text": f"wrote {name}"}, {"text": "other"}]},
        }
        for name in examples
    ]


def write_helm(folder: Path, results: list[dict[str, Any]], choices: int = 4) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    adapter = {"model": "org/model", "max_train_instances": 5, "num_train_trials": 3}
    spec = {"name": "mmlu:subject=anatomy,model=org_model", "adapter_spec": adapter}
    (folder / "run_spec.json").write_text(json.dumps(spec))
    (folder / "per_instance_stats.json").write_text(json.dumps(results))
    instances = [
        {"id": name, "split": "test", "references": [
            {"output": {"text": str(i)}, "tags": ["correct"] if i == 0 else []} for i in range(choices)
        ]}
        for name in sorted({result["instance_id"] for result in results})
    ]  # fmt: skip
    (folder / "instances.json").write_text(json.dumps(instances))
    return folder


def helm_result(example: str, trial: int, value: float, **more: Any) -> dict[str, Any]:
    stats = [helm_stat("exact_match", value), helm_stat("predicted_index", 2.0)]
    return {"instance_id": example, "train_trial_index": trial, "stats": stats} | more


def test_helm_has_a_prompt_for_each_train_trial(tmp_path):
    results = [helm_result(f"id{e}", trial, float((e + trial) % 2)) for trial in range(3) for e in range(4)]
    rows = imported(write_helm(tmp_path / "run", results))
    assert rows.groupby("prompt").size().tolist() == [4, 4, 4]
    assert rows["correct"].tolist() == [bool((e + trial) % 2) for trial in range(3) for e in range(4)]
    assert set(rows["chance"]) == {0.25}
    assert set(rows["predicted"]) == {2}
    assert rows[["model", "task", "shots"]].iloc[0].tolist() == ["org--model", "mmlu:subject=anatomy", 5]


def test_the_metric_is_noted_if_there_are_others(tmp_path):
    results = [helm_result(f"id{place}", 0, float(place % 2)) for place in range(4)]
    folder = write_helm(tmp_path / "one", results)
    assert read_runs([folder], Options())[0].notes == []
    for result in results:
        result["stats"].append(helm_stat("quasi_exact_match", 1.0))
    folder = write_helm(tmp_path / "two", results)
    note = "two: the metric is exact_match; for another one, use --metric quasi_exact_match"
    assert read_runs([folder], Options())[0].notes == [note]
    assert read_runs([folder], Options(metric="quasi_exact_match"))[0].notes == []
    rows = [lighteval_row(place, [-2.0, -1.0], place % 2) for place in range(4)]
    for place, row in enumerate(rows):
        row["metric"] |= {"acc_norm": 1.0, "graded": place / 4}
    path = write_lighteval(tmp_path, rows)
    note = "community|sums: the metric is acc; for another one, use --metric acc_norm"
    assert read_runs([path], Options())[0].notes[0] == note
    assert not any("--metric" in note for note in read_runs([path], Options(metric="acc_norm"))[0].notes)


def test_references_of_helm_are_no_choices_where_a_metric_reads_a_generated_text(tmp_path):
    """As those of FinQA: a program, the answer and a table."""
    results = [helm_result(f"id{place}", 0, float(place % 2)) for place in range(4)]
    for result in results:
        result["stats"].append(helm_stat("program_accuracy", 1.0))
    folder = write_helm(tmp_path / "run", results)
    spec = json.loads((folder / "run_spec.json").read_text())
    spec["adapter_spec"]["method"] = "generation"
    (folder / "run_spec.json").write_text(json.dumps(spec))
    with pytest.raises(InputError, match="does not say how probable it is to guess an example"):
        imported(folder, prompts=1, metric="program_accuracy")
    assert set(imported(folder, prompts=1, metric="exact_match")["chance"]) == {0.25}


def test_helm_instances_without_the_metric_are_told(tmp_path):
    # HELM computes no value of some metrics where the model predicted nothing
    results = [helm_result(f"id{place}", trial, 1.0) for place in range(5) for trial in range(2)]
    for result in results[7:]:
        result["stats"] = result["stats"][1:]
    perturbed = helm_result("id0", 0, 1.0, perturbation={"name": "typos"})
    perturbed["stats"] = perturbed["stats"][1:]
    (run,) = read_runs([write_helm(tmp_path / "run", [*results, perturbed])], Options())
    assert len(run.rows) == 7
    assert "run: instances without exact_match are left out: 3" in run.notes
    assert run.unscored == 3


def test_helm_metrics_of_several_completions_ask_for_the_chance(tmp_path):
    """The best of five completions equals a reference: a guesser has five guesses."""
    results = [helm_result(f"id{place}", 0, 1.0) for place in range(4)]
    for result in results:
        result["stats"].append(helm_stat("exact_match@5", 1.0))
    folder = write_helm(tmp_path / "run", results)
    assert set(imported(folder, prompts=1, metric="exact_match")["chance"]) == {0.25}
    with pytest.raises(InputError, match="does not say how probable it is to guess"):
        imported(folder, prompts=1, metric="exact_match@5")
    assert set(imported(folder, prompts=1, metric="exact_match@5", chance=0.7)["chance"]) == {0.7}


def test_helm_tasks_are_named_without_the_deployment_of_the_model(tmp_path):
    folder = write_helm(tmp_path / "run", [helm_result("id0", 0, 1.0)])
    spec = json.loads((folder / "run_spec.json").read_text())
    spec["name"] = "mmlu:subject=anatomy,model=org_model,model_deployment=org_host"
    (folder / "run_spec.json").write_text(json.dumps(spec))
    assert set(imported(folder, prompts=1)["task"]) == {"mmlu:subject=anatomy"}


def test_helm_runs_of_one_train_trial_can_be_a_prompt_each(tmp_path):
    for name, correct in (("a", 3), ("b", 1)):
        write_helm(
            tmp_path / name, [helm_result(f"id{place}", 0, float(place < correct)) for place in range(4)]
        )
    rows = imported(tmp_path, each_file=True, command="import")
    assert rows.groupby("prompt")["correct"].sum().tolist() == [3, 1]
    for command in ("gate", "compare", "best", "items"):
        runs = read_runs([tmp_path], Options(each_file=True, command=command))
        assert all("prompt" not in run.rows for run in runs), command
    with pytest.raises(InputError, match="does not say which prompts were tried"):
        imported(tmp_path / "a", command="import")
    (run,) = read_runs([tmp_path / "a"], Options(command="compare"))  # with the same one of another model
    assert run.rows["prompt"].tolist() == ["0"] * 4


def test_helm_runs_of_sums_are_judged_by_their_final_number(tmp_path):
    results = [helm_result(f"id{place}", 0, 1.0) for place in range(2)]
    for result in results:
        result["stats"] = [helm_stat("final_number_exact_match", 1.0), helm_stat("logprob", -7.5)]
    (run,) = read_runs([write_helm(tmp_path / "gsm", results)], Options())
    assert (run.metric, run.rows["correct"].tolist()) == ("final_number_exact_match", [True, True])
    for result in results:
        del result["stats"][0]
    (sign,), _ = diagnose([write_helm(tmp_path / "none", results)], Options(command="doctor"))
    assert sign.suspicion.check == "not-checked"


def test_helm_runs_of_scenarios_without_arguments_are_called_by_the_scenario(tmp_path):
    folder = write_helm(tmp_path, [helm_result("a", 0, 1.0)])
    spec = json.loads((folder / "run_spec.json").read_text()) | {"name": "simple_mcqa:model=org_model"}
    (folder / "run_spec.json").write_text(json.dumps(spec))
    assert imported(folder, prompts=1)["task"].unique().tolist() == ["simple_mcqa"]
    with pytest.raises(InputError, match="does not say how many prompts were tried"):
        imported(folder)


def test_helm_scores_a_tie_as_a_fraction_which_is_not_correct(tmp_path):
    (run,) = read_runs(
        [write_helm(tmp_path, [helm_result("a", 0, 0.5), helm_result("b", 0, 1.0)])], Options()
    )
    assert run.rows["correct"].tolist() == [False, True]
    assert run.rows["tie"].tolist() == [True, False]
    assert "1 tie of a correct and a wrong choice counted as wrong; HELM" in run.notes[0]


def test_helm_perturbed_instances_and_other_splits_are_left_out(tmp_path):
    second = helm_result("c", 0, 1.0)
    second["stats"] = [helm_stat("exact_match", 1.0, split="valid")]
    perturbed = helm_result("a", 0, 0.0, perturbation={"name": "typos"})
    runs = read_runs(
        [write_helm(tmp_path, [helm_result("a", 0, 1.0), helm_result("b", 0, 0.0), perturbed, second])],
        Options(),
    )
    assert runs[0].rows["example"].tolist() == ["a", "b"]
    assert "1 results of other splits than 'test' are left out" in runs[0].notes[0]


def test_helm_runs_without_the_metric_or_the_spec_are_told(tmp_path):
    folder = write_helm(tmp_path, [helm_result("a", 0, 1.0)])
    with pytest.raises(InputError, match="has no metric 'f1'; its metrics: exact_match, predicted_index"):
        imported(folder, metric="f1")
    instances = json.loads((folder / "instances.json").read_text())
    (folder / "instances.json").unlink()
    with pytest.raises(InputError, match="does not say how probable it is to guess"):
        imported(folder, prompts=1)
    # a suite that was not summarized has them elsewhere
    states = {"request_states": [{"instance": instance} for instance in instances]}
    (folder / "scenario_state.json").write_text(json.dumps(states))
    assert set(imported(folder, prompts=1)["chance"]) == {0.25}
    (folder / "run_spec.json").unlink()
    with pytest.raises(InputError, match="but no run_spec.json"):
        imported(folder)


@pytest.mark.parametrize(("mean", "fine"), [(0.5, True), (0.75, False)])
def test_helm_runs_are_held_against_what_helm_reports(tmp_path, mean, fine):
    results = [helm_result(f"id{e}", trial, float((e + trial) % 2)) for trial in range(3) for e in range(4)]
    folder = write_helm(tmp_path / "run", results)
    perturbed = helm_stat("exact_match", 0.1)
    perturbed["name"]["perturbation"] = {"name": "typos"}
    (folder / "stats.json").write_text(json.dumps([perturbed, helm_stat("exact_match", mean)]))
    if fine:
        assert len(imported(folder)) == 12
    else:
        with pytest.raises(
            InputError, match=r"12 examples have a mean of 0.5000, and .*stats.json .* 0.7500"
        ):
            imported(folder)


# --- lighteval -------------------------------------------------------------------------------


def write_lighteval(folder: Path, rows: list[dict[str, Any]], texts: bool = False) -> Path:
    place = folder / "details" / "org" / "model" / "2026-11-21T07-37-03.488596"
    place.mkdir(parents=True)
    path = place / "details_community|sums|3_2026-11-21T07-37-03.488596.parquet"
    if texts:
        rows = [{name: repr(value) for name, value in row.items()} for row in rows]
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


def lighteval_row(example: int, scores: list[float], gold: int | list[int]) -> dict[str, Any]:
    choices = [f"{i}" for i in range(len(scores))]
    return {
        "doc": {
            "query": "Q",
            "choices": choices,
            "gold_index": gold,
            "id": str(example),
            "fewshot_samples": [],
        },
        "metric": {"acc": float(int(np.argmax(scores)) == gold)},
        # the tool pads lists of tokens with -1
        "model_response": {"logprobs": scores, "output_tokens": [[7, -1, -1]] * len(scores), "text": []},
    }


@pytest.mark.parametrize("texts", [False, True])
def test_lighteval(tmp_path, texts):
    rows = [
        lighteval_row(0, [-2.0, -1.0, -3.0], 1),
        lighteval_row(1, [-1.0, -1.0], 0),
        lighteval_row(2, [-2.0, -1.0], 0),
    ]
    result = imported(write_lighteval(tmp_path, rows, texts), prompts=3)
    assert result["correct"].tolist() == [True, False, False]
    assert result["tie"].tolist() == [False, True, False]
    assert result["chance"].tolist() == pytest.approx([1 / 3, 1 / 2, 1 / 2])
    assert result[["model", "task", "shots"]].iloc[0].tolist() == ["org--model", "community|sums", 3]


def test_lighteval_ids_that_begin_again_with_each_split(tmp_path):
    rows = [lighteval_row(place, [-2.0, -1.0], place % 2) for place in (0, 1, 2, 0, 1)]
    for place, row in enumerate(rows):
        row["doc"]["query"] = f"Q{place}"
    result = imported(write_lighteval(tmp_path, rows), prompts=1)
    assert result["example"].nunique() == 5
    assert result["correct"].tolist() == [False, True, False, False, True]
    assert [name.partition(" ")[0] for name in result["example"]] == ["0", "1", "2", "0", "1"]
    rows[3]["doc"]["query"] = "Q0"  # the same example twice
    with pytest.raises(InputError, match="example '0' has two rows"):
        imported(write_lighteval(tmp_path / "again", rows), prompts=1)


def test_lighteval_generation_goes_by_its_metric_and_asks_for_the_chance(tmp_path):
    row = lighteval_row(0, [-1.0], 0)
    row["doc"]["choices"], row["metric"] = ["4"], {"exact_match": 1.0}
    path = write_lighteval(tmp_path, [row])
    with pytest.raises(InputError, match="does not say how probable it is to guess"):
        imported(path, prompts=1)
    assert imported(path, prompts=1, chance=0.1)["correct"].tolist() == [True]
    with pytest.raises(InputError, match="has no metric 'f1'; use --metric exact_match"):
        imported(path, prompts=1, chance=0.1, metric="f1")
    # choices that were not scored one by one, but generated
    several = lighteval_row(1, [-1.0, -2.0], 1)
    several["metric"], several["model_response"] = {"exact_match": 1.0}, {"logprobs": [-5.0]}
    assert imported(write_lighteval(tmp_path / "b", [several]), prompts=1, chance=0.1)["correct"].all()


def test_lighteval_scores_of_the_tokens_of_a_text_are_not_those_of_choices(tmp_path):
    """Some servers return a log-probability for each token, which can be as many as the references."""
    row = lighteval_row(0, [-1.0, -2.0], [0, 1])
    row["metric"], row["model_response"]["text"] = {"em": 1.0}, ["two tokens"]
    assert imported(write_lighteval(tmp_path, [row]), prompts=1, chance=0.0)["chance"].tolist() == [0.0]


def test_lighteval_has_rows_for_each_kind_of_metric(tmp_path):
    """A task with metrics of log-likelihoods and of generated texts has each example twice."""
    rows = [lighteval_row(place, [-2.0, -1.0], place % 2) for place in range(4)]
    generated = [lighteval_row(place, [-1.0], 0) for place in range(4)]
    for place, row in enumerate(generated):
        row["metric"] = {"em": float(place == 3)}
        row["doc"]["choices"], row["model_response"]["text"] = ["a", "b"], ["a text"]
    path = write_lighteval(tmp_path, rows + generated)
    assert imported(path, prompts=1)["correct"].tolist() == [False, True, False, True]
    of_texts = imported(path, prompts=1, metric="em", chance=0.0)
    assert of_texts["correct"].tolist() == [False, False, False, True]
    notes = read_runs([path], Options())[0].notes
    assert notes[0].endswith("left out, because they have other metrics: 4 of 8 rows")
    assert notes[1] == "community|sums: the metric is acc; for another one, use --metric em"
    del rows[2]["metric"]["acc"]  # a row without any metric belongs to no other kind
    with pytest.raises(InputError, match="row 2: has no metric 'acc'"):
        imported(write_lighteval(tmp_path / "damaged", rows + generated), prompts=1)


@pytest.mark.parametrize("gold", [7, -1, None, [], [0, 9], "0", True])
def test_a_gold_index_that_is_none_of_the_choices_is_told(tmp_path, gold):
    row = lighteval_row(0, [-1.0, -2.0], 0)
    row["doc"]["gold_index"] = gold
    path = write_lighteval(tmp_path, [row], texts=True)
    with pytest.raises(InputError, match=r"row 0: gold_index is .*; expected a number from 0 to 1"):
        imported(path, prompts=1)


def test_lighteval_runs_are_held_against_what_lighteval_recorded(tmp_path):
    rows = [lighteval_row(0, [-1.0, -2.0], 0), lighteval_row(1, [-1.0, -2.0], 1)]
    path = write_lighteval(tmp_path, rows)
    results = tmp_path / "results" / "org" / "model"
    results.mkdir(parents=True)
    reported = {"results": {"community:sums:3": {"acc": 0.5}}}
    (results / "results_2026-11-21T07-37-03.488596.json").write_text(json.dumps(reported))
    assert imported(path, prompts=1)["correct"].tolist() == [True, False]
    reported = {"results": {"community|sums|3": {"acc": 1.0}}}  # as newer versions write it
    (results / "results_2026-11-21T07-37-03.488596.json").write_text(json.dumps(reported))
    with pytest.raises(InputError, match=r"mean of 0.5000, and .*results_.*json \(acc\) says 1.0000"):
        imported(path, prompts=1)
    rows[1]["metric"]["acc"] = 1.0
    with pytest.raises(
        InputError, match="example '1' is wrong by its log-likelihoods.*recorded it as correct"
    ):
        imported(write_lighteval(tmp_path / "other", rows), prompts=1)


def test_lighteval_metrics_other_than_plain_accuracy_are_taken_as_recorded(tmp_path):
    row = lighteval_row(0, [-2.0, -1.0], 0)
    row["metric"] = {"acc_norm": 1.0}
    assert imported(write_lighteval(tmp_path / "a", [row]), prompts=1)["correct"].tolist() == [True]
    row["metric"] = {"acc_norm": 1.0, "other": 0.0}
    with pytest.raises(InputError, match="metrics acc_norm, other; use --metric acc_norm or other"):
        imported(write_lighteval(tmp_path / "b", [row]), prompts=1)


def test_lighteval_truthfulqa_has_the_choices_of_two_questions(tmp_path):
    row = lighteval_row(0, [-2.0, -3.0, -5.0, -6.0, -1.0], [0, 2, 3])
    row["doc"]["specific"] = {"len_mc1": 2}
    row["metric"] = {"truthfulqa_mc1": 1.0, "truthfulqa_mc2": 0.1}
    path = write_lighteval(tmp_path, [row])
    with pytest.raises(InputError, match="use --metric truthfulqa_mc1 or truthfulqa_mc2"):
        imported(path, prompts=1)
    rows = imported(path, prompts=1, metric="truthfulqa_mc1")
    assert rows["correct"].tolist() == [True]
    assert rows["chance"].tolist() == [0.5]


def test_lighteval_files_that_are_something_else(tmp_path):
    path = tmp_path / "details_x.parquet"
    pq.write_table(pa.table({"a": [1]}), path)
    with pytest.raises(InputError, match=r"lacks the columns \['doc', 'metric'\]"):
        imported(path, prompts=1)
    path.write_text("torn")
    with pytest.raises(InputError, match="cannot be read as Parquet"):
        imported(path, prompts=1)


# --- inspect ---------------------------------------------------------------------------------


def write_zstandard_zip(path: Path, files: dict[str, Any]) -> Path:
    """A zip file whose members are compressed with Zstandard (method 93), as inspect writes them."""
    body, directory = b"", b""
    for name, value in files.items():
        raw = json.dumps(value).encode()
        packed = pa.compress(raw, "zstd", asbytes=True)
        sizes = struct.pack("<III", zlib.crc32(raw), len(packed), len(raw))
        fields = struct.pack("<HHHHH", 63, 0, 93, 0, 0) + sizes + struct.pack("<HH", len(name), 0)
        at = len(body)
        body += b"PK\3\4" + fields + name.encode() + packed
        directory += b"PK\1\2\x3f\0" + fields + struct.pack("<HHHII", 0, 0, 0, 0, at) + name.encode()
    end = struct.pack("<HHHHIIH", 0, 0, len(files), len(files), len(directory), len(body), 0)
    path.write_bytes(body + directory + b"PK\5\6" + end)
    return path


def inspect_sample(example: int, value: Any, epoch: int = 1, answer: str | None = None) -> dict[str, Any]:
    scores = None if value == "none" else {"choice": {"value": value, "answer": answer}}
    return {"id": example, "epoch": epoch, "choices": ["a", "b", "c"], "target": "B", "scores": scores}


def inspect_files(samples: list[dict[str, Any]], status: str = "success") -> dict[str, Any]:
    header = {
        "version": 2,
        "status": status,
        "eval": {"task": "org/sums", "model": "hf/model", "task_args": {"fewshot": 2}},
    }
    return {"header.json": header} | {f"samples/{s['id']}_epoch_{s['epoch']}.json": s for s in samples}


def test_inspect_logs_in_zstandard_zip_and_json(tmp_path):
    samples = [inspect_sample(0, "C", answer="B"), inspect_sample(1, "I", answer="A"), inspect_sample(2, 1)]
    files = inspect_files(samples)
    path = write_zstandard_zip(tmp_path / "log.eval", files)
    rows = imported(path, prompts=1)
    assert rows["correct"].tolist() == [True, False, True]
    assert rows["predicted"].tolist() == [1, 0, -1]
    assert rows["chance"].tolist() == pytest.approx([1 / 3] * 3)
    assert rows[["model", "task", "shots"]].iloc[0].tolist() == ["hf--model", "sums", 2]
    whole = tmp_path / "log.json"
    whole.write_text(json.dumps(files["header.json"] | {"samples": samples}))
    pd.testing.assert_frame_equal(imported(whole, prompts=1), rows)
    with zipfile.ZipFile(tmp_path / "other.eval", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, value in files.items():
            archive.writestr(name, json.dumps(value))
    pd.testing.assert_frame_equal(imported(tmp_path / "other.eval", prompts=1), rows)


def test_an_inspect_sample_that_was_written_again_replaces_the_earlier_one(tmp_path):
    files = inspect_files([inspect_sample(0, "C"), inspect_sample(1, "I")])
    name = "samples/1_epoch_1.json"
    with zipfile.ZipFile(tmp_path / "log.eval", "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the name that comes twice
        archive.writestr(name, json.dumps(inspect_sample(1, "none") | {"error": {"message": "timeout"}}))
        for member, value in files.items():
            archive.writestr(member, json.dumps(value))
    rows = imported(tmp_path / "log.eval", prompts=1)
    assert sorted(zip(rows["example"], rows["correct"], strict=True)) == [("0", True), ("1", False)]


def test_the_list_of_logs_that_inspect_writes_for_a_set_is_no_log(tmp_path):
    headers = {}
    for model in "ab":
        files = inspect_files([inspect_sample(0, "C"), inspect_sample(1, "I")])
        files["header.json"]["eval"] |= {"model": model}
        headers[f"{model}.eval"] = files["header.json"]
        write_zstandard_zip(tmp_path / f"{model}.eval", files)
    (tmp_path / "logs.json").write_text(json.dumps(headers))
    assert sorted(run.model for run in read_runs([tmp_path], Options())) == ["a", "b"]


def test_values_of_an_inspect_score_that_is_a_dictionary_are_metrics(tmp_path):
    samples = [
        inspect_sample(place, {"form": "C", "content": value}) for place, value in enumerate(["C", "I", "C"])
    ]
    samples.append(inspect_sample(3, float("nan")))
    files = inspect_files(samples)
    accuracy = {"accuracy": {"name": "accuracy", "value": 2 / 3}}
    scores = [{"name": name, "scorer": "choice", "metrics": accuracy} for name in ("form", "content")]
    files["header.json"]["results"] = {"scores": scores}
    path = write_zstandard_zip(tmp_path / "log.eval", files)
    with pytest.raises(InputError, match="has the scorers choice/form, choice/content; use --metric choice/"):
        imported(path, prompts=1)
    with pytest.raises(InputError, match="does not say how probable it is to guess an example"):
        imported(path, prompts=1, metric="choice/content")
    rows = imported(path, prompts=1, metric="choice/content", chance=0.25)
    assert rows["correct"].tolist() == [True, False, True]
    (run_of_form,) = read_runs([path], Options(metric="choice/form"))
    assert run_of_form.rows["correct"].all()
    assert run_of_form.unscored == 1


def test_inspect_samples_in_several_files_are_not_read(tmp_path):
    files = inspect_files([])
    files |= {"samples/0_epoch_1/sample.json": {}, "samples/0_epoch_1/messages/0.json": {}}
    with pytest.raises(InputError, match="each sample is in several files"):
        imported(write_zstandard_zip(tmp_path / "log.eval", files), prompts=1)


def test_failed_inspect_logs_in_a_folder_are_left_out(tmp_path):
    samples = [inspect_sample(0, "C"), inspect_sample(1, "I")]
    write_zstandard_zip(tmp_path / "a.eval", inspect_files(samples[:1], "cancelled"))
    write_zstandard_zip(tmp_path / "b.eval", inspect_files(samples))
    (run,) = read_runs([tmp_path], Options())
    assert len(run.rows) == 2
    assert [note for note in run.notes if "a.eval: its status is 'cancelled'" in note]
    with pytest.raises(InputError, match="a.eval: its status is 'cancelled'"):
        read_runs([tmp_path], Options(each_file=True))
    diagnoses, _ = diagnose([tmp_path], Options(command="doctor"))
    assert [sign.suspicion.check for sign in diagnoses if "a.eval" in sign.file] == ["unreadable"]


def test_inspect_samples_without_a_score_are_not_wrong_ones(tmp_path):
    samples = [
        inspect_sample(0, "C"),
        inspect_sample(1, float("nan")),
        inspect_sample(2, "none"),
        inspect_sample(3, "I"),
    ]
    (run,) = read_runs([write_zstandard_zip(tmp_path / "log.eval", inspect_files(samples))], Options())
    assert run.rows["example"].tolist() == ["0", "3"]
    assert run.rows["correct"].tolist() == [True, False]
    assert "samples without a score are left out: 2" in run.notes[0]


def test_inspect_samples_with_an_error_and_a_score(tmp_path):
    samples = [inspect_sample(place, "C" if place < 3 else "I") for place in range(6)]
    for sample in samples[2:5]:
        sample["error"] = {"message": "timeout"}
    files = inspect_files(samples)
    files["header.json"]["results"] = {"total_samples": 6, "completed_samples": 3, "scores": []}
    (run,) = read_runs([write_zstandard_zip(tmp_path / "log.eval", files)], Options())
    assert len(run.rows) == 6
    assert run.unscored == 0
    assert "log.eval: 3 samples have an error and a score; 2 count as wrong" in run.notes
    # of two epochs, the second half is not in the log
    files["header.json"]["results"]["total_samples"] = 20
    samples[-1]["epoch"] = 2
    files = inspect_files(samples) | {"header.json": files["header.json"]}
    (run,) = read_runs([write_zstandard_zip(tmp_path / "log.eval", files)], Options())
    assert run.unscored == 5


def test_inspect_epochs_are_not_prompts(tmp_path):
    samples = [inspect_sample(0, "C"), inspect_sample(0, "I", epoch=2), inspect_sample(1, "P")]
    path = write_zstandard_zip(tmp_path / "log.eval", inspect_files(samples))
    (run,) = read_runs([path], Options())
    assert run.rows["correct"].tolist() == [True, False]
    assert run.rows["tie"].tolist() == [False, True]
    assert "the log has 2 epochs; epoch 1 is used" in run.notes[0]
    assert imported(path, prompts=1, epoch=2)["correct"].tolist() == [False]
    # all of them are examined
    first, second = read_runs([path], Options(command="doctor"))
    assert [*first.rows["correct"], *second.rows["correct"]] == [True, False, False]
    # an epoch without scores hides no other
    without = [*samples, {"id": 1, "epoch": 3, "choices": ["a", "b"], "target": "A", "scores": {}}]
    path = write_zstandard_zip(tmp_path / "without.eval", inspect_files(without))
    signs, runs = diagnose([path], Options(command="doctor"))
    assert runs == 2
    evidence = [sign.suspicion.evidence for sign in signs]
    assert "1 of 4 examples (25 %) have no score: all of epoch 3" in evidence
    assert [sign.file for sign in signs[:1]] == [f"{path}, epoch 1"]


def test_a_score_of_a_later_epoch_that_is_no_flag_hides_no_other_epoch(tmp_path):
    samples = [inspect_sample(n, "I", epoch, answer="A") for epoch in (1, 2) for n in range(60)]
    samples[-1]["scores"]["choice"]["value"] = 0.25
    path = write_zstandard_zip(tmp_path / "log.eval", inspect_files(samples))
    signs, runs = diagnose([path], Options(command="doctor"))
    assert runs == 1
    evidence_of = {sign.suspicion.check: sign.suspicion.evidence for sign in signs}
    assert evidence_of["not-checked"].startswith("epoch 2 is left out: sample 59: choice is 0.25; expected")
    assert evidence_of["one-position"]
    # a scorer of other values than 0 and 1 beside one of these
    for sample in samples:
        sample["scores"] = {"choice": {"value": "I", "answer": "A"}, "f1": {"value": 0.3}}
    path = write_zstandard_zip(tmp_path / "log.eval", inspect_files(samples))
    signs, runs = diagnose([path], Options(command="doctor"))
    assert runs == 2
    assert "not-checked" not in [sign.suspicion.check for sign in signs]
    # a deterministic model gives the same answers in each epoch: these are not copies of a log
    equal_epochs = [
        inspect_sample(n, "CI"[n % 2], epoch, answer="ABC"[n % 3]) for epoch in (1, 2) for n in range(60)
    ]
    path = write_zstandard_zip(tmp_path / "log.eval", inspect_files(equal_epochs))
    signs, _ = diagnose([path], Options(command="doctor"))
    assert {sign.file for sign in signs} == {f"{path}, epoch 1", f"{path}, epoch 2"}
    assert "identical-results" not in [sign.suspicion.check for sign in signs]
    # nor is a log damaged if none of several scorers is one
    for sample in samples:
        sample["scores"] = {name: {"value": 0.3, "answer": "A"} for name in ("f1", "bleu")}
    path = write_zstandard_zip(tmp_path / "log.eval", inspect_files(samples[:60]))
    (sign,), runs = diagnose([path], Options(command="doctor"))
    assert (sign.suspicion.check, sign.suspicion.severity, runs) == ("not-checked", "note", 0)


def test_inspect_logs_that_did_not_end_are_torn_or_have_another_scorer(tmp_path):
    path = write_zstandard_zip(tmp_path / "log.eval", inspect_files([inspect_sample(0, "C")], status="error"))
    with pytest.raises(InputError, match="its status is 'error'"):
        imported(path, prompts=1)
    path = write_zstandard_zip(tmp_path / "log.eval", inspect_files([inspect_sample(0, "C")]))
    with pytest.raises(InputError, match="has no scorer 'match'; use --metric choice"):
        imported(path, prompts=1, metric="match")
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(InputError, match="is not an archive"):
        imported(path, prompts=1)
    path = write_zstandard_zip(tmp_path / "log.eval", {"samples/0_epoch_1.json": {}})
    with pytest.raises(InputError, match="has no header.json"):
        imported(path, prompts=1)


@pytest.mark.parametrize(
    ("target", "chance"), [("B", 1 / 3), (["A", "C"], None), ("A,C", None), ("AC", None)]
)
def test_inspect_targets_of_several_choices_ask_for_the_chance(tmp_path, target, chance):
    sample = inspect_sample(0, "C") | {"target": target}
    path = write_zstandard_zip(tmp_path / "log.eval", inspect_files([sample]))
    if chance:
        assert imported(path, prompts=1)["chance"].tolist() == pytest.approx([chance])
    else:
        with pytest.raises(InputError, match="does not say how probable it is to guess an"):
            imported(path, prompts=1)
        assert imported(path, prompts=1, chance=1 / 7)["chance"].tolist() == [1 / 7]


def test_inspect_targets_of_free_text_are_alternatives(tmp_path):
    sample = inspect_sample(0, "C") | {"target": ["Paris", "paris"], "choices": None}
    path = write_zstandard_zip(tmp_path / "log.eval", inspect_files([sample]))
    assert read_runs([path], Options())[0].notes == []


def test_inspect_samples_that_are_marked_as_invalid(tmp_path):
    samples = [inspect_sample(place, "C" if place < 3 else "I") for place in range(6)]
    for sample in samples[2:4]:
        sample["invalidation"] = {"author": "someone", "reason": "leaked"}
    (run,) = read_runs([write_zstandard_zip(tmp_path / "log.eval", inspect_files(samples))], Options())
    assert run.notes == [
        "log.eval: 2 samples marked as invalid, 1 of them correct; inspect counts these, too"
    ]


@pytest.mark.parametrize("name", ["fewshot", "num_fewshot", "few_shot"])
def test_the_number_of_demonstrations_of_an_inspect_task(tmp_path, name):
    files = inspect_files([inspect_sample(0, "C")])
    files["header.json"]["eval"]["task_args"] = {name: 5}
    assert read_runs([write_zstandard_zip(tmp_path / "log.eval", files)], Options())[0].shots == 5


def test_which_of_several_scorers_counts_is_asked_for(tmp_path):
    sample = inspect_sample(0, "C")
    sample["scores"] = {"match": {"value": "I"}, "choice": {"value": "yes"}}
    path = write_zstandard_zip(tmp_path / "log.eval", inspect_files([sample]))
    with pytest.raises(InputError, match="the scorers match, choice; use --metric match or"):
        imported(path, prompts=1)
    assert imported(path, prompts=1, metric="choice")["correct"].tolist() == [True]


def test_an_inspect_log_that_lacks_samples_is_an_error(tmp_path):
    files = inspect_files([inspect_sample(0, "C")])
    files["header.json"]["results"] = {"total_samples": 3, "completed_samples": 3, "scores": []}
    with pytest.raises(InputError, match="has 1 samples, and its header says 3"):
        imported(write_zstandard_zip(tmp_path / "log.eval", files), prompts=1)


def test_inspect_logs_are_held_against_their_own_header(tmp_path):
    samples = [inspect_sample(0, "C"), inspect_sample(1, "P")]
    files = inspect_files(samples)
    score = {"name": "choice", "metrics": {"accuracy": {"name": "accuracy", "value": 0.75}}}
    files["header.json"]["results"] = {"scores": [score]}
    rows = imported(write_zstandard_zip(tmp_path / "log.eval", files), prompts=1)
    assert rows["tie"].tolist() == [False, True]
    score["metrics"]["accuracy"]["value"] = 0.1
    with pytest.raises(InputError, match="mean of 0.7500, and its header .choice, accuracy. says 0.1000"):
        imported(write_zstandard_zip(tmp_path / "log.eval", files), prompts=1)


@pytest.mark.parametrize("packed", [True, False], ids=["zstandard", "deflate"])
def test_a_damaged_member_of_a_log_is_named(tmp_path, packed):
    files = inspect_files([inspect_sample(place, "C", answer="x" * 200) for place in range(3)])
    path = tmp_path / "log.eval"
    if packed:
        write_zstandard_zip(path, files)
    else:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, value in files.items():
                archive.writestr(name, json.dumps(value))
    content = bytearray(path.read_bytes())
    at = content.index(b"samples/1_epoch_1.json") + 40
    content[at : at + 8] = b"\xff" * 8
    path.write_bytes(content)
    with pytest.raises(
        InputError, match=r"log.eval, samples/1_epoch_1.json: (cannot be unpacked|is not JSON)"
    ):
        imported(path, prompts=1)


def test_inspect_logs_as_json_are_found_in_a_folder(tmp_path):
    files = inspect_files([inspect_sample(0, "C")])
    log = files["header.json"] | {"samples": [inspect_sample(0, "C")]}
    (tmp_path / "2026-11-21_sums.json").write_text(json.dumps(log))
    (tmp_path / "other.json").write_text("{}")
    assert imported(tmp_path, prompts=1)["correct"].tolist() == [True]


# --- several tools, CSV and the release ---------------------------------------------------------------------


def test_all_tools_results_in_a_folder_are_read(tmp_path):
    write_helm(tmp_path / "helm", [helm_result("a", 0, 1.0)])
    write_lighteval(tmp_path / "lighteval", [lighteval_row(0, [-1.0, -2.0], 0)])
    write_zstandard_zip(tmp_path / "log.eval", inspect_files([inspect_sample(0, "C")]))
    (tmp_path / "mine.csv").write_text("prompt,example,correct,choices\n0,a,1,2\n")
    (tmp_path / "notes.csv").write_text("day,what\n1,nothing\n")
    rows = imported(tmp_path, each_file=True)
    assert {*rows["task"]} == {"mmlu:subject=anatomy", "community|sums", "sums", "task"}


def test_an_option_of_a_tool_that_is_not_there_is_an_error(tmp_path):
    path = write_zstandard_zip(tmp_path / "log.eval", inspect_files([inspect_sample(0, "C")]))
    assert len(imported(path, prompts=1, epoch=1)) == 1
    with pytest.raises(InputError, match="--filter has no effect here; it is for .* lm-evaluation-harness"):
        imported(path, prompts=1, filter="none")
    with pytest.raises(InputError, match="log.eval: contains the number of choices of its examples"):
        imported(path, prompts=1, chance=0.5)


def test_what_was_imported_can_be_checked(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("prompt,example,correct,choices\n0,a,1,2\n1,a,0,2\n")
    before = imported(path)
    IMPORTED.write(before, tmp_path / "mine.parquet", {})
    pd.testing.assert_frame_equal(imported(tmp_path / "mine.parquet"), before, check_dtype=False)


def test_prompts_on_other_examples_are_told_and_choices_that_differ_are_an_error(tmp_path):
    path = tmp_path / "mine.csv"
    rows = "".join(f"0,{example},1,2\n" for example in "abcd") + "1,a,1,2\n"
    path.write_text("prompt,example,correct,choices\n" + rows)
    setting = Setting("model", "mine", 0)
    (note,) = uneven_notes(imported(path), {setting: ["p", "q"]})
    assert "its prompts are evaluated on different examples, 1 to 4 of 4, the fewest by prompt 'q'" in note
    path.write_text("prompt,example,correct,choices\n0,a,1,2\n0,b,1,2\n1,c,1,2\n1,d,0,2\n")
    (note,) = uneven_notes(imported(path), {setting: ["p", "q"]})
    assert "its prompts are evaluated on different examples, each on 2 of 4; the verdict" in note
    path.write_text("prompt,example,correct,choices,shots\n0,a,1,2,1\n0,b,1,2,1\n1,b,0,2,1\n1,c,0,2,1\n")
    assert uneven_notes(imported(path), {}) == []  # each lacks its own demonstration
    rows = "".join(f"0,{name},1,2,2\n" for name in "cdefgh") + "".join(
        f"1,{name},1,2,2\n" for name in "bdefgh"
    )
    path.write_text("prompt,example,correct,choices,shots\n" + rows)
    assert uneven_notes(imported(path), {}) == []  # demonstrations a and b, and a and c
    rows = "".join(f"{prompt},{example},1,2,2\n" for prompt in "01" for example in "abcd")
    path.write_text("prompt,example,correct,choices,shots\n" + rows.replace("1,d,1,2,2\n", ""))
    (note,) = uneven_notes(imported(path), {Setting("model", "mine", 2): ["p", "q"]})
    assert "3 to 4 of 4, the fewest by prompt 'q'" in note  # a prompt without demonstrations lacks one
    path.write_text("prompt,example,correct,choices\n0,a,1,2\n1,a,1,3\n")
    with pytest.raises(InputError, match="example 'a' has different numbers of choices under"):
        imported(path)


def test_files_that_name_no_task_are_prompts_of_one_where_each_file_is_a_prompt(tmp_path):
    for prompt in range(3):
        (tmp_path / f"prompt{prompt}.csv").write_text(f"example,correct,choices\na,{prompt % 2},2\nb,0,2\n")
    rows = imported(tmp_path, each_file=True)
    assert rows["prompt"].nunique() == 3
    assert rows["task"].unique().tolist() == ["task"]
    runs = read_runs([tmp_path], Options())
    assert runs[0].notes == ["prompt0.csv: has no column task; its task is called 'prompt0'"]


def test_empty_columns_of_a_spreadsheet_are_none(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("prompt,example,correct,choices,,\n0,a,1,4,,\n")
    assert len(imported(path)) == 1
    path.write_text("prompt,example,correct,choices,\n0,a,1,4,x\n")
    with pytest.raises(InputError, match="row 1: column 5 has no name"):
        imported(path)


def test_partly_correct_answers_of_inspect_are_told(tmp_path):
    samples = [inspect_sample(0, "C"), inspect_sample(1, "P"), inspect_sample(2, "I")]
    (run,) = read_runs([write_zstandard_zip(tmp_path / "log.eval", inspect_files(samples))], Options())
    assert "partly correct answers count as wrong: 1; inspect gives each a half" in run.notes[0]


def test_blanks_around_names_make_no_others(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("prompt,task,example,correct,choices\n0,t,a,1,2\n0 ,t ,b,0,2\n--5,t,a,1,2\n--5,t,b,1,2\n")
    assert imported(path).groupby("prompt").size().tolist() == [2, 2]


def test_a_csv_from_a_spreadsheet(tmp_path):
    path = tmp_path / "mine.csv"
    text = (
        'sep=;\r\n"prompt";"example";"correct";"chance";"shots"\r\n0;a;1;0,25;2\r\n0;b;0;"0,5";2\r\n;;;;\r\n'
    )
    path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    rows = imported(path)
    assert rows["chance"].tolist() == [0.25, 0.5]
    assert rows["shots"].tolist() == [2, 2]


def test_a_plain_csv(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("prompt,example,correct,choices\n2,a,1,4\n2,b,0,4\n10,a,true,4\n10,b,False,4\n")
    rows = imported(path)
    assert rows["prompt"].tolist() == [0, 0, 1, 1]
    assert rows["correct"].tolist() == [True, False, True, False]
    assert rows["task"].unique().tolist() == ["mine"]
    assert set(rows["chance"]) == {0.25}


def test_prompts_with_numbers_come_in_their_order(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("prompt,example,correct,chance\n10,a,1,0.5\n9,a,0,0.5\n")
    assert imported(path)["correct"].tolist() == [False, True]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("example,correct,chance\na,2,0.5\n", "row 2: correct is '2'; expected 0 or 1"),
        (
            "example,correct,chance\na,1,0.5\nb,1,1.5\n",
            "row 3: chance is '1.5' .per cent.*; expected a number from 0 to 1",
        ),
        (
            "example,correct,choices\na,1,none\n",
            "row 2: choices is 'none'; expected a whole number, at least 1",
        ),
        ("example,corect\na,1\n", "column 'corect' is unknown; did you mean 'correct'"),
        (
            "example,prompt,correct,gold,prediction\na,p,1,x,x\n",
            "column 'gold' is unknown; .*; leave it out, or use `abovechance chance`",
        ),
        ("example,correct\na,1\na,0\n", r"example 'a' has two rows, and nothing says of which prompt"),
        ("example,chance\na,1\n", "lacks the column 'correct'"),
        (
            "prompt,example,correct,chance\n1,a,1,0.5\n1,a,0,0.5\n",
            "example 'a' has two rows under one prompt",
        ),
        ("example,correct\na,1\n", "does not say how probable it is to guess"),
    ],
)
def test_a_csv_that_is_wrong_is_told_with_its_row(tmp_path, text, message):
    path = tmp_path / "mine.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        imported(path, prompts=1)


def test_a_csv_can_have_free_texts_that_no_guess_answers(tmp_path):
    (tmp_path / "mine.csv").write_text("example,correct,chance\na,1,0\nb,0,0.25\n")
    (run,) = read_runs([tmp_path / "mine.csv"], Options(prompts=1))
    assert run.rows["chance"].tolist() == [0, 0.25]


def test_items_take_files_without_a_task_as_one_task(tmp_path):
    for model in "ab":
        (tmp_path / f"{model}.csv").write_text(f"example,correct,model\nx,1,{model}\n")
    assert {run.task for run in read_runs([tmp_path], Options(command="items"))} == {"task"}
    assert {run.task for run in read_runs([tmp_path], Options(command="check"))} == {"a", "b"}


def test_the_published_release(tmp_path):
    release = write_release(tmp_path, models=["m"], tasks=["known_unknowns"], shots=[1], prompts=5)
    rows = imported(release)
    assert rows["prompt"].nunique() == 5
    assert set(rows["chance"]) == {0.5}
    assert rows[["model", "task", "shots"]].iloc[0].tolist() == ["m", "known_unknowns", 1]


def test_what_is_not_there_or_not_known_is_told(tmp_path):
    with pytest.raises(InputError, match="there is no such file or folder"):
        imported(tmp_path / "nowhere")
    with pytest.raises(InputError, match="holds no results that are known; expected .*HELM.*inspect"):
        imported(tmp_path)


def test_every_module_that_finds_results_is_an_importer():
    modules = {path.stem for path in Path(importers.__file__).parent.glob("*.py")} - {"__init__"}
    is_known = {module.__name__.rpartition(".")[2] for module in importers.FORMATS}
    assert is_known == modules - {"contract", "table", "lm_eval_samples", "lm_eval_targets"}
    assert all({*module.OPTIONS} <= {"metric", "filter", "epoch"} for module in importers.FORMATS)


@pytest.mark.checkout
def test_an_importer_is_one_module(tmp_path):
    library = tmp_path / "lib"
    shutil.copytree(REPOSITORY / "workflow" / "lib", library)
    (library / "abovechance" / "importers" / "mine.py").write_text(
        "from abovechance.importers.csv import OPTIONS, read\n"
        "TOOL, LOOKS_LIKE = 'mine', 'a file called mine.log'\n"
        "def find(path):\n    return [path] if path.name == 'mine.log' else []\n"
    )
    (tmp_path / "mine.log").write_text("example,correct,chance\n1,1,0.5\n2,0,0.5\n")
    completed = subprocess.run(
        [sys.executable, "-m", "abovechance", "check", "mine.log", "--prompts", "3", "--json"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(library)},
    )
    assert completed.returncode == 0, completed.stderr
    assert json.loads(completed.stdout)[0]["task"] == "mine"


@pytest.mark.parametrize(
    ("choices", "chance"),
    [(["x", "y", "z"] * 2, 1 / 3), (["x", "y", "x"], 1 / 3), (["x", "x"], 1 / 2), (["x", "y"], 1 / 2)],
)
def test_choices_that_a_record_lists_twice_are_listed_once(choices, chance, tmp_path):
    log = replace(
        sound(0, 3), choices=[choices] * 3, gold=[0] * 3, scores=[[1.0] + [0.0] * (len(choices) - 1)] * 3
    )
    path = write_records(log, tmp_path)
    assert imported(path, prompts=1)["chance"].tolist() == pytest.approx([chance] * 3)


def change_rows(path: Path, change: Callable[[int, dict[str, Any]], list[dict[str, Any]]]) -> None:
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    changed = [row for place, old in enumerate(rows) for row in change(place, old)]
    path.write_text("".join(json.dumps(row) + "\n" for row in changed))


def test_one_epoch_of_rows_that_inspect_wrote_for_each_epoch_is_used(tmp_path):
    path = write_records(sound(0, 3), tmp_path)

    def of_epochs(place, row):
        wrong = {"evaluation": {"score": 0.0, "is_correct": False}}
        return [row | {"metadata": {"epoch": "1"}}, row | wrong | {"metadata": {"epoch": "2"}}]

    alone = imported(path, prompts=1)
    change_rows(path, of_epochs)
    pd.testing.assert_frame_equal(imported(path, prompts=1), alone)
    (run,) = read_runs([path], Options(epoch=2))
    assert not run.rows["correct"].any()
    assert run.notes[0] == f"{path.name}: the log has 2 epochs; epoch 2 is used (--epoch)"
    with pytest.raises(InputError, match="has no epoch 3; it has 1, 2"):
        imported(path, prompts=1, epoch=3)
    change_rows(path, lambda place, row: [row] if row["metadata"]["epoch"] == "1" else [])
    with pytest.raises(InputError, match="has no epoch 2; it has 1"):
        imported(path, prompts=1, epoch=2)


def test_scores_that_are_reduced_over_epochs_have_no_known_chance(tmp_path):
    """As the best of several guesses, which inspect writes for each epoch."""
    path = write_records(sound(0, 3), tmp_path)
    alone = next(every_eval_ever.read(path, Options()))
    change_rows(path, lambda place, row: [row | {"metadata": {"epoch": str(epoch)}} for epoch in (1, 2)])
    assert next(every_eval_ever.read(path, Options())).reported == alone.reported  # of these rows, too
    with pytest.raises(InputError, match="does not say how probable it is to guess an example"):
        imported(path, prompts=1)
    (run,) = read_runs([path], Options(chance=0.5))
    assert run.notes[0].startswith(f"{path.name}: all epochs have the same scores, which may be their mean")


@pytest.mark.parametrize(
    ("of_samples", "is_known"),
    [
        ('{"acc_norm": 1.0}', True),
        ('{"acc": 1.0}', False),
        ('{"acc_ambig": [1, 0], "acc_norm": 1.0, "acc": 1.0}', True),
        ("[1]", False),
        ("acc_norm", False),
        (["acc_norm"], False),
    ],
)
def test_an_answer_is_the_likeliest_whatever_the_metric_of_lm_eval_chooses(of_samples, is_known, tmp_path):
    path = write_records(sound(0, 3), tmp_path)
    aggregate_of(path).unlink()

    def opposite(place, row):
        correct = not row["evaluation"]["is_correct"]
        evaluation = {"score": float(correct), "is_correct": correct}
        return [row | {"evaluation": evaluation, "metadata": {"lm_eval_metrics": of_samples}}]

    change_rows(path, opposite)
    (run_of_file,) = read_runs([path], Options())
    assert run_of_file.rows["chance"].fillna(-1).tolist() == [0.2 if is_known else -1] * 3


def test_a_record_that_contradicts_its_references_has_no_known_chance(tmp_path):
    """Several choices can be correct if the converter wrote the first of them only."""
    path = write_records(sound(0, 3), tmp_path)
    aggregate_of(path).unlink()

    def opposite(place, row):
        correct = not row["evaluation"]["is_correct"]
        return [row | {"evaluation": {"score": float(correct), "is_correct": correct}}]

    change_rows(path, opposite)
    with pytest.raises(InputError, match="does not say how probable it is to guess an example"):
        imported(path, prompts=1)
    change_rows(path, lambda place, row: [row | {"answer_attribution": []}])
    assert imported(path, prompts=1)["chance"].tolist() == [0.2] * 3


def test_references_that_no_wrong_answer_names_are_no_choices(tmp_path):
    """As those of HELM's generation tasks, which its converter writes as choices."""
    path = write_records(sound(0, 20), tmp_path)
    aggregate_of(path).unlink()
    assert set(imported(path, prompts=1)["chance"]) == {0.2}

    def free(place, row):
        (answer,) = row["answer_attribution"]
        text = answer["extracted_value"] if row["evaluation"]["is_correct"] else f"subtract({place})"
        return [row | {"answer_attribution": [answer | {"extracted_value": text}]}]

    change_rows(path, free)
    with pytest.raises(InputError, match="does not say how probable it is to guess an example"):
        imported(path, prompts=1)

    def verbose(place, row):
        (answer,) = row["answer_attribution"]
        return [row | {"answer_attribution": [answer | {"extracted_value": f"The answer is {place}."}]}]

    change_rows(path, verbose)  # neither the right nor the wrong ones are choices by their text
    assert set(imported(path, prompts=1)["chance"]) == {0.2}


def test_rows_of_every_eval_ever_can_have_a_name_as_of_lm_evaluation_harness(tmp_path):
    path = write_records(sound(0, 3), tmp_path)
    path = path.rename(path.with_name("samples_task.jsonl"))
    assert len(imported(path, prompts=1)) == 3


def test_prompts_are_numbered_in_the_natural_order_of_their_names(tmp_path):
    path = tmp_path / "mine.csv"
    rows = "".join(f"{prompt},{example},1,2\n" for prompt in ("10", "b", "2") for example in "xy")
    path.write_text("prompt,example,correct,choices\n" + rows)
    runs = read_runs([path], Options())
    (names,) = importers.prompt_names(runs, Options()).values()
    assert names == ["2", "10", "b"]
    # names of the same number are in the order of their texts, whatever the order of the file
    path.write_text("prompt,example,correct,choices\n" + rows.replace("10,", "02,").replace("b,", "002,"))
    runs_of_equals = read_runs([path], Options())
    assert [*importers.prompt_names(runs_of_equals, Options()).values()] == [["002", "02", "2"]]
    table = importers.combine(runs, Options())
    assert table["prompt"].tolist() == [0, 0, 1, 1, 2, 2]


def test_the_same_number_is_the_same_prompt_of_all_models(tmp_path):
    """One model lacks a prompt, and the numbers of the others stay the same."""
    generator = np.random.default_rng(0)
    lines = [
        f"{model},{prompt},{example},{int(generator.random() < accuracy)},2"
        for prompt, accuracy in (("p0", 0.9), ("p1", 0.2), ("p2", 0.6))
        for model in "ab"
        for example in range(100)
        if (model, prompt) != ("a", "p1")
    ]
    path = tmp_path / "mix.csv"
    path.write_text("\n".join(["model,prompt,example,correct,choices", *lines]) + "\n")
    table = imported(path)
    numbers = {model: sorted(rows["prompt"].unique().tolist()) for model, rows in table.groupby("model")}
    assert numbers == {"a": [0, 2], "b": [0, 1, 2]}
    names = prompt_names(read_runs([path], Options()), Options())
    assert {tuple(of_setting) for of_setting in names.values()} == {("p0", "p1", "p2")}
    output = tmp_path / "mix.parquet"
    assert run("import", str(path), "--output", str(output)).returncode == 0
    of_file, of_table = (
        json.loads(run("compare", str(results), "--json").stdout)[0] for results in (path, output)
    )
    assert of_table["pairs"] == of_file["pairs"]
    assert abs(of_file["pairs"][0]["difference"]) < 0.1


def test_files_with_the_same_name_are_the_same_prompt_of_two_models(tmp_path):
    """The numbers of prompts go by their names, also if the files of one model are fewer."""
    for model, prompts in (("a", ["x", "z"]), ("b", ["x", "y", "z"])):
        for name in prompts:
            path = tmp_path / model / f"{name}.csv"
            path.parent.mkdir(exist_ok=True)
            path.write_text(f"model,example,correct,choices\n{model},1,1,2\n{model},2,0,2\n")
    output = tmp_path / "out.parquet"
    files = [str(tmp_path / model) for model in "ab"]
    assert run("import", *files, "--each-file", "--output", str(output)).returncode == 0
    table = pd.read_parquet(output)
    numbers = {model: sorted(rows["prompt"].unique().tolist()) for model, rows in table.groupby("model")}
    assert numbers == {"a": [0, 2], "b": [0, 1, 2]}


def test_prompts_of_separate_imports_are_paired_by_name(tmp_path):
    """Two files of ``abovechance import`` number their prompts each by itself."""
    outputs = []
    for model, prompts in (("a", ["p1", "p2", "p10"]), ("b", ["p1", "p10"])):
        for name in prompts:
            path = tmp_path / model / f"{name}.csv"
            path.parent.mkdir(exist_ok=True)
            rows = [f"{model},{place},{int(place < int(name[1:]))},2" for place in range(12)]
            path.write_text("\n".join(["model,example,correct,choices", *rows]) + "\n")
        outputs.append(str(tmp_path / f"{model}.parquet"))
        assert run("import", str(tmp_path / model), "--each-file", "--output", outputs[-1]).returncode == 0
    (report,) = json.loads(run("compare", *outputs, "--json").stdout)
    assert (report["prompts"], report["pairs"][0]["difference"]) == (2, 0)
    assert "p10.csv" in run("check", outputs[0]).stdout
