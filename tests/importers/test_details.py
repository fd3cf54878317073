"""Runs of HELM and lighteval as wholes, and where what is wrong in them is said to be."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from abovechance.core.errors import InputError
from abovechance.importers import Options, helm, lighteval, read_runs
from tests.importers.test_importers import (
    helm_result,
    helm_stat,
    lighteval_row,
    write_helm,
    write_lighteval,
)


def change(path, **changes):
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def states(*examples):
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


def test_what_a_helm_run_is_called_and_what_was_read_and_written(tmp_path):
    results = [helm_result("a", 0, 1.0), helm_result("b", 0, 0.0)]
    for result in results:
        result["stats"] += [helm_stat("prompt_truncated", 1.0), helm_stat("finish_reason_length", 0.0)]
    folder = write_helm(tmp_path / "run", results)
    (folder / "scenario_state.json").write_text(json.dumps({"request_states": states("a", "b")}))
    (run,) = helm.read(folder, Options())
    assert (run.model, run.task, run.shots, run.metric) == (
        "org/model",
        "mmlu:subject=anatomy",
        5,
        "exact_match",
    )
    assert run.rows["question"].tolist() == ["Q a?\nParis", "Q b?\nParis"]
    assert run.rows["context"].tolist() == ["read a", "read b"]
    assert run.rows["output"].tolist() == ["wrote a", "wrote b"]
    assert run.rows["truncated"].tolist() == [True, True]
    assert run.rows["cut_off"].tolist() == [False, False]
    scored = [state | {"reference_index": 0} for state in states("a", "b")]
    (folder / "scenario_state.json").write_text(json.dumps({"request_states": scored}))
    assert next(helm.read(folder, Options())).rows["output"].isna().all()  # a choice, which no model wrote


def test_helm_models_and_tasks_by_other_keys(tmp_path):
    folder = write_helm(tmp_path / "run", [helm_result("a", 0, 1.0)])
    change(folder / "run_spec.json", name="a:b=1,c=d:e", adapter_spec={"model_deployment": "org/served"})
    (run,) = read_runs([folder], Options())
    assert (run.model, run.task, run.shots) == ("org--served", "a:b=1,c=d:e", 0)
    change(folder / "run_spec.json", name="", adapter_spec={})
    (run,) = read_runs([folder], Options())
    assert (run.model, run.task) == ("model", "run")


def test_perturbed_instances_of_helm_are_no_examples_without_a_value(tmp_path):
    results = [helm_result("a", 0, 1.0), helm_result("b", 0, 0.0)]
    perturbed = helm_result("c", 0, 1.0, perturbation={"name": "typos"})
    worst = helm_result("d", 0, 1.0)  # whose values are all of perturbations
    for stat in worst["stats"]:
        stat["name"]["perturbation"] = {"name": "typos"}
    other_split = helm_result("e", 0, 1.0)
    other_split["stats"] = [helm_stat("num_output_tokens", 3.0, split="valid")]
    (run,) = read_runs([write_helm(tmp_path, [*results, perturbed, worst, other_split])], Options())
    assert run.rows["example"].tolist() == ["a", "b"]
    assert (run.unscored, run.notes) == (0, [])


@pytest.mark.parametrize(
    ("place", "spoiled", "message"),
    [
        ("run_spec.json", "[]", "run_spec.json: "),
        ("stats.json", '[{"name": 3}]', ""),
        ("stats.json", "[3]", "stats.json: "),
        (
            "per_instance_stats.json",
            '[{"instance_id": "a", "stats": [3]}]',
            "per_instance_stats.json, instance 0: ",
        ),
    ],
)
def test_what_is_wrong_in_a_helm_run_is_told_with_its_place(tmp_path, place, spoiled, message):
    folder = write_helm(tmp_path / "run", [helm_result("a", 0, 1.0)])
    (folder / place).write_text(spoiled)
    if message:
        with pytest.raises(InputError) as error:
            read_runs([folder], Options())
        assert str(error.value).startswith(f"{folder}/{message}")
        assert "HELM" in str(error.value)
    else:
        assert len(read_runs([folder], Options())) == 1


def test_a_lighteval_run_as_a_whole(tmp_path):
    rows = [lighteval_row(place, [-1.0, -1.0], 0) for place in range(3)]
    rows[0]["model_response"] |= {"input": "read", "truncated_tokens_count": 2}
    rows[1]["model_response"] |= {"input": "read too", "truncated_tokens_count": 0}
    rows[2]["doc"]["id"] = ""
    path = write_lighteval(tmp_path, rows)
    results = tmp_path / "results" / "org" / "model" / "results_2026-11-21T07-37-03.488596.json"
    results.parent.mkdir(parents=True)
    results.write_text(json.dumps({"results": {"community:sums:3": {"acc": 1.0}}}))
    (run,) = lighteval.read(path, Options())
    assert (run.file, run.model, run.task, run.shots, run.metric) == (
        str(path),
        "org/model",
        "community|sums",
        3,
        "acc",
    )
    assert run.rows["example"].tolist() == ["0", "1", "2"]
    assert run.rows["question"].tolist() == ["Q"] * 3
    assert run.rows["context"].tolist()[:2] == ["read", "read too"]
    assert run.rows["truncated"].tolist()[:2] == [True, False]
    assert [note for note in run.notes if note.startswith(f"{path.name}: ") and "3" in note]
    assert run.reported is not None
    assert (run.reported.place, run.reported.accuracy) == (f"{results} (acc)", 1.0)
    results.write_text(json.dumps({"results": {"other": {"acc": 1.0}}}))
    assert read_runs([path], Options())[0].reported is None
    results.write_text("{}")
    assert read_runs([path], Options())[0].reported is None
    results.write_text('{"results": []}')
    with pytest.raises(InputError) as error:
        read_runs([path], Options())
    assert str(error.value).startswith(f"{results}: ")
    assert "lighteval" in str(error.value)


def test_lighteval_files_of_other_names(tmp_path):
    rows = [lighteval_row(place, [-2.0, -1.0], 1) for place in range(2)]
    for row in rows:
        row["doc"]["fewshot_samples"] = ["x", "y"]
    folder = tmp_path / "details" / "model" / "date"
    folder.mkdir(parents=True)
    pq.write_table(pa.Table.from_pylist(rows), folder / "details_sums.parquet")
    (run,) = read_runs([folder / "details_sums.parquet"], Options())
    assert (run.model, run.task, run.shots, run.reported) == ("model", "sums", 2, None)


def test_lighteval_outputs_are_the_first_text(tmp_path):
    row = lighteval_row(0, [-1.0], 0)
    row["doc"]["choices"], row["metric"] = ["4"], {"exact_match": 1.0}
    row["model_response"]["text"] = ["four", "five"]
    (run,) = lighteval.read(write_lighteval(tmp_path, [row]), Options())
    assert run.rows["output"].tolist() == ["four"]
    with pytest.raises(InputError) as error:
        read_runs([tmp_path], Options(metric="f1"))
    assert str(error.value).endswith("has no metric 'f1'; use --metric exact_match")


def test_a_lighteval_row_that_cannot_be_read_is_told_with_its_number(tmp_path):
    rows = [{"doc": "{'query': 'Q'}", "metric": "{'acc': 1.0}"}, {"doc": "{", "metric": "{'acc': 1.0}"}]
    folder = tmp_path / "details" / "model" / "date"
    folder.mkdir(parents=True)
    path = folder / "details_sums.parquet"
    pq.write_table(pa.Table.from_pylist(rows), path)
    with pytest.raises(InputError) as error:
        read_runs([path], Options())
    assert str(error.value).startswith(f"{path}, row 1: ")
    assert "lighteval" in str(error.value)
