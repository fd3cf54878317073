"""Runs of HELM and lighteval as wholes, and where what is wrong in them is said to be."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from abovechance.core.errors import InputError
from abovechance.importers import Options, helm, lighteval, read_runs
from abovechance.importers.contract import Reported, listed
from tests.importers.test_importers import (
    helm_result,
    helm_stat,
    helm_states,
    lighteval_row,
    write_helm,
    write_lighteval,
)


def change(path, **changes):
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def test_what_a_helm_run_is_called_and_what_was_read_and_written(tmp_path):
    results = [helm_result("a", 0, 1.0), helm_result("b", 0, 0.0)]
    for result in results:
        result["stats"] += [helm_stat("prompt_truncated", 1.0), helm_stat("finish_reason_length", 0.0)]
    folder = write_helm(tmp_path / "run", results)
    (folder / "scenario_state.json").write_text(json.dumps({"request_states": helm_states("a", "b")}))
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
    scored = [state | {"reference_index": 0} for state in helm_states("a", "b")]
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


def test_an_estimate_of_item_response_theory_is_no_mean(tmp_path):
    rows = [lighteval_row(place, [-1.0, -2.0], place) for place in range(2)]
    for row in rows:
        row["metric"] = {"irt": row["metric"]["acc"], "gpirt": row["metric"]["acc"]}
    path = write_lighteval(tmp_path, rows)
    results = tmp_path / "results" / "org" / "model" / "results_2026-11-21T07-37-03.488596.json"
    results.parent.mkdir(parents=True)
    results.write_text(json.dumps({"results": {"community:sums:3": {"gpirt": 0.4}}}))
    (run,) = read_runs([path], Options(metric="gpirt"))
    assert run.reported is None
    assert run.rows["correct"].tolist() == [True, False]
    assert run.notes[0] == (
        f"{path.name}: {results} (gpirt), 0.4, is estimated by item response theory; the mean over examples "
        "is judged here"
    )


def test_a_metric_of_lighteval_that_is_not_about_the_choice_has_no_known_chance(tmp_path):
    rows = [lighteval_row(place, [-1.0, -2.0], place) for place in range(2)]
    for row in rows:
        row["metric"]["confident"] = 1.0
    path = write_lighteval(tmp_path, rows)
    (run,) = read_runs([path], Options(metric="confident"))
    assert run.rows["chance"].isna().all()
    (run,) = read_runs([path], Options(metric="acc"))
    assert run.rows["chance"].tolist() == [0.5, 0.5]
    for row in rows:  # all texts are ways to write the answer
        row["doc"]["gold_index"] = [0, 1]
    (run,) = read_runs([write_lighteval(tmp_path / "all", rows)], Options(metric="acc"))
    assert run.rows["chance"].isna().all()


@pytest.mark.parametrize(
    ("metric", "is_of_choice"),
    [
        ("acc:logprob_normalization=LogProbCharNorm(name='norm', ignore_first_space=False)", True),
        ("acc_norm_token", True),
        ("truthfulqa_mc1", True),
        ("gpirt", True),
        ("recall", True),
        ("recall:k=1", True),
        ("recall:k=2", False),
        ("confident", False),
    ],
)
def test_metrics_of_lighteval_that_are_about_the_choice(metric, is_of_choice):
    assert lighteval._is_of_choice(metric) == is_of_choice


@pytest.mark.parametrize(
    "config",
    [
        {"metrics": [{"metric_name": "acc", "higher_is_better": False}]},
        {"metric": [{"metric_name": ["em", "acc"], "higher_is_better": {"em": True, "acc": False}}]},
        {"metrics": ["acc", {"metric_name": "acc", "higher_is_better": False}]},
    ],
)
def test_directions_of_lighteval(config):
    assert lighteval._is_lower_better(config, "acc")
    assert not lighteval._is_lower_better(config, "em")
    assert not lighteval._is_lower_better(None, "acc")


def test_a_metric_of_lighteval_that_is_better_if_it_is_lower_is_refused(tmp_path):
    path = write_lighteval(tmp_path, [lighteval_row(place, [-1.0, -2.0], place) for place in range(2)])
    results = tmp_path / "results" / "org" / "model" / "results_2026-11-21T07-37-03.488596.json"
    results.parent.mkdir(parents=True)
    for higher in (True, False):
        metrics = [{"metric_name": "acc", "higher_is_better": higher}]
        results.write_text(json.dumps({"config_tasks": {"community|sums": {"metrics": metrics}}}))
        if higher:
            assert len(read_runs([path], Options())) == 1
    with pytest.raises(InputError, match="acc is better if it is lower; expected an accuracy"):
        read_runs([path], Options())


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


def of_metrics(example, split="test", **values):
    """A result of HELM with these metrics."""
    return {
        "instance_id": example,
        "train_trial_index": 0,
        "stats": [helm_stat(name, value, split) for name, value in values.items()],
    }


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([{"exact_match": 2.0}], "instance 0: exact_match is 2.0; expected a metric of 0 or 1"),
        ([{"exact_match": -1.0}], "instance 0: exact_match is -1.0; expected a metric of 0 or 1"),
        (
            [{"final_number_exact_match": 1.0}, {"final_number_exact_match": 0.5}],
            "instance 1: final_number_exact_match is 0.5; expected a metric of 0 or 1 for each instance",
        ),
        (
            [{f"m{place:02}": 1.0} for place in range(25)],
            ": has none of the metrics exact_match and final_number_exact_match; use --metric, one of "
            + ", ".join(f"m{place:02}" for place in range(20)),
        ),
        ([{}], ": has no metric 'exact_match'; its metrics: "),
    ],
)
def test_metrics_of_helm_that_are_no_accuracy_are_told(tmp_path, values, message):
    results = [of_metrics(str(place), **metrics) for place, metrics in enumerate(values)]
    folder = write_helm(tmp_path, results)
    with pytest.raises(InputError) as error:
        read_runs([folder], Options())
    assert str(error.value).startswith(f"{folder / 'per_instance_stats.json'}")
    assert message in str(error.value)
    assert "m20" not in str(error.value)


def test_a_helm_metric_that_is_asked_for_and_is_not_there(tmp_path):
    folder = write_helm(tmp_path, [of_metrics("a", **{f"m{place:02}": 1.0 for place in range(25)})])
    with pytest.raises(InputError) as error:
        read_runs([folder], Options(metric="other"))
    names = ", ".join(f"m{place:02}" for place in range(20))
    file = folder / "per_instance_stats.json"
    assert str(error.value) == f"{file}: has no metric 'other'; its metrics: {names}"
    (folder / "per_instance_stats.json").write_text(
        '[{"instance_id": "a", "stats": [{"name": {"name": "m"}}]}]'
    )
    with pytest.raises(InputError) as error:
        read_runs([folder], Options(metric="m"))
    assert str(error.value) == f"{file}: its metric 'm' counts no instance; expected a whole run"
    (folder / "per_instance_stats.json").write_text("[]")
    with pytest.raises(InputError, match="has no list of results; expected a HELM run's folder"):
        read_runs([folder], Options())
    with_no_name = [helm_result("a", 0, 1.0) | {"instance_id": None}]
    (folder / "per_instance_stats.json").write_text(json.dumps(with_no_name))
    with pytest.raises(InputError) as error:
        read_runs([folder], Options())
    assert str(error.value) == f"{file}, instance 0: instance_id is empty; expected a text"


def test_values_of_helm_are_means_over_what_was_counted(tmp_path):
    results = [of_metrics(name, final_number_exact_match=1.0, m=1.0) for name in "ab"]
    results[0]["stats"][0] |= {"sum": 2.0, "count": 2}
    results[1]["stats"][0] |= {"sum": 0.0, "count": 3}
    folder = write_helm(tmp_path, results)
    (folder / "instances.json").unlink()
    reported = helm_stat("final_number_exact_match", 1.0) | {"count": 2}
    (folder / "stats.json").write_text(json.dumps([reported]))
    (run,) = helm.read(folder, Options())
    assert run.reported == Reported(f"{folder / 'stats.json'} (final_number_exact_match)", 0.5)
    assert run.rows["correct"].tolist() == [True, False]
    assert run.rows["chance"].isna().all()
    assert not {"index", "split"} & {*run.rows}


def test_splits_and_perturbations_of_helm(tmp_path):
    no_split = [helm_result(name, 0, 1.0) for name in "abc"]
    for result in no_split:
        for stat in result["stats"]:
            del stat["name"]["split"]
    (run,) = read_runs([write_helm(tmp_path / "none", no_split)], Options())
    assert (len(run.rows), run.notes) == (3, [])
    results = [helm_result(name, 0, 1.0) for name in "abc"]
    for result in results:
        worst = helm_stat("exact_match", 0.0)
        worst["name"]["perturbation"] = {"name": "typos", "computed_on": "worst"}
        second = helm_stat("quasi_exact_match", 0.0)
        second["name"]["perturbation"] = worst["name"]["perturbation"]
        result["stats"] = [worst, second, *result["stats"]]
    (run,) = read_runs([write_helm(tmp_path / "worst", results)], Options())
    assert (run.rows["correct"].tolist(), run.notes) == ([True] * 3, [])
    # those that have another metric in the split only as perturbed ones are no examples of it
    for result in results[1:]:
        result["stats"] = [*result["stats"][:2], helm_stat("m", 1.0, split="valid")]
    (run,) = read_runs([write_helm(tmp_path / "other", results)], Options())
    assert (len(run.rows), run.unscored, run.notes) == (1, 0, [])


@pytest.mark.parametrize(
    ("tags", "chance"),
    [
        ([["correct"], [], []], 1 / 3),
        ([["correct"], ["correct"], []], 2 / 3),
        ([["correct"], ["correct"]], None),  # texts that are right, among all that could be written
        ([["correct"]], None),
        ([[]], None),
        ([[], []], None),
        ([], None),
    ],
)
def test_the_chance_of_helms_references(tmp_path, tags, chance):
    folder = write_helm(tmp_path, [helm_result("a", 0, 1.0)])
    references = [{"output": {"text": "x"}, "tags": list_} for list_ in tags]
    (folder / "instances.json").write_text(json.dumps([{"id": "a", "references": references}]))
    (run,) = read_runs([folder], Options())
    assert run.rows["chance"].tolist() == [chance] or (chance is None and run.rows["chance"].isna().all())


def test_what_helm_read_and_wrote_is_that_of_the_train_trial(tmp_path):
    results = [helm_result(name, trial, 1.0) for name in "ab" for trial in range(2)]
    folder = write_helm(tmp_path, results)
    requests = []
    for trial in (1, 0):
        for state in helm_states("a", "b"):
            instance = state["instance"] | {"perturbation": {"name": "typos"}}
            requests.append(state | {"instance": instance, "train_trial_index": trial})
            read = {"prompt": f"{state['request']['prompt']} {trial}"}
            requests.append(state | {"train_trial_index": trial, "request": read})
            requests.append(requests[-1] | {"request": {"prompt": "that of the second choice"}})
    (folder / "scenario_state.json").write_text(json.dumps({"request_states": requests}))
    (run,) = helm.read(folder, Options())
    read = run.rows.set_index(["example", "prompt"])["context"].to_dict()
    assert read == {(name, str(trial)): f"read {name} {trial}" for name in "ab" for trial in range(2)}
    (folder / "scenario_state.json").write_text('{"request_states": [3]}')
    with pytest.raises(InputError) as error:
        read_runs([folder], Options())
    assert str(error.value).startswith(f"{folder / 'scenario_state.json'}: is not as HELM writes it")
    (folder / "instances.json").write_text('[{"references": []}]')
    (folder / "scenario_state.json").unlink()
    assert len(read_runs([folder], Options())) == 1
    (folder / "instances.json").write_text("[3]")
    with pytest.raises(InputError) as error:
        read_runs([folder], Options())
    assert str(error.value).startswith(f"{folder}: is not as HELM writes it")


def test_metrics_of_lighteval_that_are_asked_for(tmp_path):
    row = lighteval_row(0, [-2.0, -1.0], 1)
    row["metric"] = {"b": 1.0, "a": 0.0}
    path = write_lighteval(tmp_path, [row])
    with pytest.raises(InputError) as error:
        read_runs([path], Options())
    assert str(error.value) == f"{path}: has the metrics a, b; use --metric a or b"
    with pytest.raises(InputError) as error:
        read_runs([path], Options(metric="c"))
    assert str(error.value) == f"{path}: has no metric 'c'; use --metric a or b"
    path = write_lighteval(tmp_path / "none", [row | {"metric": {"a": None}}])
    with pytest.raises(InputError) as error:
        read_runs([path], Options())
    assert str(error.value) == f"{path}: has the metrics of no name; use --metric NAME"
    with pytest.raises(InputError) as error:
        read_runs([path], Options(metric="c"))
    assert str(error.value) == f"{path}: has no metric 'c'; use --metric NAME"


def test_lighteval_files_without_rows_or_with_rows_that_are_none(tmp_path):
    row = lighteval_row(0, [-2.0, -1.0], 1)
    path = tmp_path / "details_sums.parquet"
    pq.write_table(pa.Table.from_pylist([row]).slice(0, 0), path)
    with pytest.raises(InputError) as error:
        read_runs([path], Options())
    assert str(error.value) == f"{path}: has no rows"
    for name, value in (("metric", {"acc": 0.5}), ("metric", {"acc": [1]})):
        second = {key: repr({**cell, **value} if key == name else cell) for key, cell in row.items()}
        first = {key: repr(cell) for key, cell in row.items()}
        pq.write_table(pa.Table.from_pylist([first, second]), path)
        with pytest.raises(InputError) as error:
            read_runs([path], Options())
        assert str(error.value).startswith(f"{path}, row 1: ")
        assert "acc" in str(error.value)
    pq.write_table(pa.Table.from_pylist([first, first | {"doc": "(" * 50}]), path)
    with pytest.raises(InputError) as error:
        read_runs([path], Options())
    assert str(error.value).startswith(
        f"{path}, row 1: is not as lighteval writes it ('{'(' * 40}' cannot be read: "
    )
    second = row | {"model_response": row["model_response"] | {"logprobs": ["x", "y"]}}
    pq.write_table(pa.Table.from_pylist([second]), path)
    with pytest.raises(InputError) as error:
        read_runs([path], Options())
    assert str(error.value).startswith(f"{path}, row 0: is not as lighteval writes it (")


def test_lighteval_models_in_other_folders(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = write_lighteval(tmp_path, [lighteval_row(0, [-2.0, -1.0], 1)])
    for place, model in (
        ("details_sums.parquet", "model"),
        ("date/details_sums.parquet", "model"),
        ("m/date/details_sums.parquet", "m"),
        ("org/m/date/details_sums.parquet", "org/m"),
        ("details/m/date/details_sums.parquet", "m"),
    ):
        file = Path(place)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(path.read_bytes())
        (run,) = lighteval.read(file, Options())
        assert run.model == model, place


def test_lighteval_rows_whose_choices_are_not_scored_one_by_one(tmp_path):
    """As many scores as choices, or twice as many where the rest is without the question."""
    rows = [lighteval_row(place, [-2.0, -1.0], 1) for place in range(4)]
    for place, scores in enumerate(([-2.0, -1.0], [-2.0, -1.0, -4.0, -5.0], [-2.0] * 3, [-2.0] * 6)):
        rows[place]["model_response"]["logprobs"] = scores
    (run,) = lighteval.read(write_lighteval(tmp_path, rows), Options())
    assert run.rows["chance"].tolist()[:2] == [0.5, 0.5]
    assert run.rows["chance"].isna().tolist() == [False, False, True, True]
    assert run.rows["tie"].tolist() == [False] * 4
    of_two = lighteval_row(0, [-2.0, -3.0, -1.0], [0, 2])
    of_two["doc"]["specific"] = {"len_mc1": 2}  # of a metric that is not of the first question
    of_two["metric"] = {"acc": 1.0}
    (run,) = lighteval.read(write_lighteval(tmp_path / "two", [of_two]), Options())
    assert run.rows["chance"].tolist() == [pytest.approx(2 / 3)]


def test_lighteval_ids_that_begin_again_have_a_digest_of_eight_digits(tmp_path):
    rows = [lighteval_row(0, [-2.0, -1.0], 1) for _ in range(2)]
    rows[1]["doc"]["query"] = "Q2"
    (run,) = lighteval.read(write_lighteval(tmp_path, rows), Options())
    assert [len(name) for name in run.rows["example"]] == [10, 10]


@pytest.mark.parametrize("text", ["[" * 3000 + "]" * 3000, "[" * 100_000, "{1: 2}", "[1 2", "1", "[1], [2]"])
def test_texts_that_are_no_list_are_listed_as_none(text):
    assert listed(text) == []
