"""What is wrong in a log is told with its place; and rows whose meaning another one decides."""

import json
from pathlib import Path
from typing import Any

import pytest

from abovechance.core.errors import InputError
from abovechance.importers import Options, csv, helm, lighteval, lm_eval, own, read_runs
from abovechance.importers.lm_eval_samples import Sample
from abovechance.importers.lm_eval_targets import is_tie
from tests.importers.test_importers import (
    helm_result,
    helm_stat,
    helm_states,
    lighteval_row,
    write_helm,
    write_lighteval,
)
from tests.importers.test_lm_eval import lm_sample, with_choices, write_lm
from tests.importers.test_lm_eval_readings import write_without_filters


def message(path: Path, **options: Any) -> str:
    with pytest.raises(InputError) as error:
        read_runs([path], Options(**options))
    return str(error.value)


def runs(path: Path, **options: Any) -> list[Any]:
    return read_runs([path], Options(**options))


# HELM


@pytest.mark.parametrize(
    ("place", "spoiled", "at", "options"),
    [
        ("run_spec.json", '"a text"', "run_spec.json", {"metric": "exact_match"}),
        ("per_instance_stats.json", '[{"stats": [{"name": 3}]}]', "per_instance_stats.json, instance 0", {}),
        (
            "per_instance_stats.json",
            '[{"stats": [{"name": 3}]}]',
            "per_instance_stats.json, instance 0",
            {"metric": "exact_match"},
        ),
    ],
)
def test_a_helm_file_that_is_none_is_told_with_the_tool(tmp_path, place, spoiled, at, options):
    folder = write_helm(tmp_path / "run", [helm_result("a", 0, 1.0)])
    (folder / place).write_text(spoiled)
    assert message(folder, **options).startswith(f"{folder}/{at}: is not as HELM writes it (")


def test_a_helm_id_with_half_of_a_character_is_told(tmp_path):
    folder = write_helm(tmp_path, [helm_result("a", 0, 1.0)])
    results = [helm_result("a", 0, 1.0), helm_result("b", 0, 1.0) | {"instance_id": "\ud800"}]
    (folder / "per_instance_stats.json").write_text(json.dumps(results))
    assert message(folder).startswith(f"{folder}/per_instance_stats.json, instance 1: ")


def test_helm_notes_are_all_told(tmp_path):
    results = [helm_result(name, 0, float(name < "c")) for name in "abcd"]
    for result in results:
        result["stats"] += [helm_stat("quasi_exact_match", 1.0)]
    results[3]["stats"] = [helm_stat("exact_match", 0.0, split="valid")]
    results += [helm_result("e", 0, 1.0)]
    results[4]["stats"] = [helm_stat("num_tokens", 3.0)]
    notes = runs(write_helm(tmp_path, results))[0].notes
    assert "the metric is" in notes[0]
    assert notes[1].endswith("1 results of other splits than 'test' are left out")
    assert notes[2].endswith("instances without exact_match are left out: 1")


def test_helm_values_between_zero_and_one_are_ties_without_a_prediction(tmp_path):
    (run,) = runs(write_helm(tmp_path, [helm_result("a", 0, 0.5), helm_result("b", 0, 1.0)]))
    assert run.rows["tie"].tolist() == [True, False]
    assert run.rows["predicted"].tolist() == [-1, 2]


def test_what_helm_read_belongs_to_example_and_prompt(tmp_path):
    results = [helm_result(name, trial, 1.0) for trial in range(2) for name in "ab"]
    folder = write_helm(tmp_path, results)
    states = [*helm_states("a", "b")]
    for state in helm_states("a", "b"):
        state |= {"train_trial_index": 1}
        state["request"]["prompt"] += " again"
        states.append(state)
    (folder / "scenario_state.json").write_text(json.dumps({"request_states": states}))
    rows = next(helm.read(folder, Options())).rows
    contexts = dict(zip(zip(rows["prompt"], rows["example"], strict=True), rows["context"], strict=True))
    assert contexts == {
        (trial, name): f"read {name}" + " again" * int(trial) for trial in "01" for name in "ab"
    }
    (folder / "scenario_state.json").write_text(json.dumps({"request_states": []}))
    assert "context" not in next(helm.read(folder, Options())).rows


def test_a_single_correct_reference_of_helm_is_no_choice(tmp_path):
    (run,) = runs(write_helm(tmp_path, [helm_result("a", 0, 1.0)], choices=1))
    assert run.rows["chance"].isna().all()


def test_a_helm_metric_that_is_not_about_the_choice_has_no_known_chance(tmp_path):
    results = [helm_result(name, 0, 1.0) for name in "abcd"]
    for result in results:
        result["stats"] += [
            helm_stat("finish_reason_length", 1.0),
            helm_stat("chain_of_thought_correctness", 1.0),
        ]
    folder = write_helm(tmp_path / "run", results)
    (run,) = runs(folder, metric="finish_reason_length")
    assert (run.is_of_choice, run.rows["chance"].isna().all()) == (False, True)
    assert [note for note in run.notes if note.startswith("run: ") and "finish_reason_length" in note]
    for metric in ("exact_match", "chain_of_thought_correctness"):
        (run,) = runs(folder, metric=metric)
        assert (run.is_of_choice, run.rows["chance"].tolist()) == (True, [0.25] * 4)


# lighteval


def test_a_lighteval_table_that_is_none_is_told(tmp_path):
    row = lighteval_row(0, [-1.0, -2.0], 0)
    path = write_lighteval(tmp_path, [row])
    results = tmp_path / "results" / "org" / "model" / "results_2026-11-21T07-37-03.488596.json"
    results.parent.mkdir(parents=True)
    results.write_text("[]")
    assert message(path).startswith(f"{results}: is not as lighteval writes it (")


@pytest.mark.parametrize(
    ("name", "task"), [("community|sums|3", "community|sums"), ("community:sums:3", None)]
)
def test_lighteval_directions_stand_under_each_name_of_a_task(tmp_path, name, task):
    path = write_lighteval(tmp_path, [lighteval_row(0, [-1.0, -2.0], 0)])
    results = tmp_path / "results" / "org" / "model" / "results_2026-11-21T07-37-03.488596.json"
    results.parent.mkdir(parents=True)
    config = {"metrics": [{"metric_name": "acc", "higher_is_better": False}]}
    results.write_text(json.dumps({"results": {}, "config_tasks": {name: config}}))
    assert message(path) == f"{results}: acc is better if it is lower; expected an accuracy"
    if task:
        results.write_text(json.dumps({"results": {}, "config_tasks": {task: config}}))
        assert message(path) == f"{results}: acc is better if it is lower; expected an accuracy"


def test_lighteval_cells_of_texts_are_read(tmp_path):
    rows = [lighteval_row(place, [-1.0, -2.0], 0) for place in range(2)]
    rows[0]["doc"]["fewshot_samples"] = ["a", "b"]
    path = write_lighteval(tmp_path, rows, texts=True)
    bare = path.with_name("details_sums.parquet")
    path.rename(bare)
    (run,) = lighteval.read(bare, Options())
    assert (run.task, run.shots, run.is_of_choice) == ("sums", 2, True)
    assert run.rows["question"].tolist() == ["Q", "Q"]


def test_lighteval_texts_are_no_choices_whatever_is_scored(tmp_path):
    """Scores of tokens beside a generated text may be as many as the references, or the only ones."""
    rows = [lighteval_row(place, [-2.0, -1.0], 1) for place in range(3)]
    for row in rows:
        row["metric"] = {"em": 1.0}
        row["model_response"]["text"] = ["a text"]
    (run,) = lighteval.read(write_lighteval(tmp_path, rows), Options())
    assert run.rows["chance"].isna().all()
    assert "characters" not in run.rows
    assert "choices" not in run.rows or run.rows["choices"].isna().all()


def test_one_choice_of_lighteval_is_none(tmp_path):
    rows = [lighteval_row(place, [-2.0], 0) for place in range(2)]
    (run,) = lighteval.read(write_lighteval(tmp_path, rows), Options())
    assert run.rows["chance"].isna().all()


def test_a_note_says_that_a_metric_of_lighteval_is_not_about_the_choice(tmp_path):
    rows = [lighteval_row(place, [-2.0, -1.0], 1) for place in range(2)]
    for row in rows:
        row["metric"] = {"format_ok": 1.0}
    path = write_lighteval(tmp_path, rows)
    (run,) = lighteval.read(path, Options())
    assert not run.is_of_choice
    (note,) = [note for note in run.notes if "format_ok" in note]
    assert note.startswith(f"{path.name}: ")
    assert "how probable a lucky guess is" in note


def test_ties_of_lighteval_are_counted(tmp_path):
    rows = [lighteval_row(place, [-1.0, -1.0 - (place > 2)], 0) for place in range(5)]
    path = write_lighteval(tmp_path, rows)
    (note,) = next(lighteval.read(path, Options())).notes
    assert note.startswith(f"{path.name}: ")
    assert "3" in note


@pytest.mark.parametrize(
    ("metric", "is_known"),
    [("recall", True), ("recall@1", True), ("recall:k=1", True), ("recall:k=2", False), ("recall@2", False)],
)
def test_recall_of_one_choice_is_about_it(tmp_path, metric, is_known):
    row = lighteval_row(0, [-2.0, -1.0], 1)
    row["metric"] = {metric: 1.0}
    (run,) = runs(write_lighteval(tmp_path, [row]))
    assert run.rows["chance"].notna().tolist() == [is_known]


def test_a_gold_index_just_behind_the_last_choice_is_told(tmp_path):
    row = lighteval_row(0, [-2.0, -1.0], 1)
    row["doc"]["gold_index"] = 2
    row["metric"] = {"acc": 0.0}
    path = write_lighteval(tmp_path, [row])
    assert message(path) == f"{path}, row 0: gold_index is 2; expected a number from 0 to 1, or several"


def test_lighteval_ids_with_half_of_a_character_are_told_with_their_row(tmp_path):
    rows = [lighteval_row(0, [-2.0, -1.0], 1), lighteval_row(1, [-2.0, -1.0], 1)]
    rows[1]["doc"]["id"] = "\ud800"
    path = write_lighteval(tmp_path, rows, texts=True)
    assert message(path).startswith(f"{path}, row 1: the name ")


# lm-evaluation-harness


def test_three_filters_without_names_are_three_blocks(tmp_path):
    path = write_without_filters(tmp_path, blocks=2)
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    third = [row | {"exact_match": 1.0} for row in rows[:12]]
    path.write_text("".join(json.dumps(row) + "\n" for row in [*rows, *third]))
    file = next(tmp_path.glob("results_*.json"))
    report = json.loads(file.read_text())
    report["results"]["sums"] = {
        "exact_match,strict": 4 / 12,
        "exact_match,flexible": 6 / 12,
        "exact_match,a,b": 1.0,  # a filter whose name has a comma
    }
    file.write_text(json.dumps(report))
    for name, correct in {"strict": 4, "flexible": 6, "a,b": 12}.items():
        (run,) = runs(path, filter=name, chance=0.0)
        assert run.rows["correct"].sum() == correct


def test_which_filter_to_choose_is_told_by_the_first_one(tmp_path):
    path = write_without_filters(tmp_path)
    assert message(path) == (
        f"{path}: has the results of several filters, strict, flexible; choose one, such as --filter strict"
    )
    assert message(path, filter="x") == f"{path}: has no filter 'x'; it has strict, flexible"


def test_pvi_takes_the_log_likelihoods_of_one_filter(tmp_path):
    samples = [lm_sample(place, [-1.0, -2.0], 0) for place in range(4)]
    path = write_lm(tmp_path, [*samples, *[sample | {"filter": "other"} for sample in samples]])
    (run,) = runs(path, command="pvi")
    assert len(run.rows) == 4


def test_a_log_without_a_date_has_no_results_beside_it(tmp_path):
    path = write_lm(tmp_path / "org__model", [lm_sample(0, [-1.0, -2.0], 0)])
    bare = path.with_name("samples_sums.jsonl")
    path.rename(bare)
    (tmp_path / "org__model" / "other_.json").write_text(json.dumps({"n-shot": {"sums": 9}}))
    (run,) = runs(bare)
    assert (run.task, run.shots, run.model) == ("sums", 0, "org__model")
    assert "there is no results_" in " ".join(run.notes)


def test_other_logs_are_no_results(tmp_path):
    path = write_lm(tmp_path, [lm_sample(0, [-1.0, -2.0], 0)])
    date = path.stem.removeprefix("samples_sums_")
    (tmp_path / f"results_{date}.json").rename(tmp_path / f"z_{date}.json")
    (tmp_path / f"samples_other_{date}.json").write_text("[]")
    (run,) = runs(path)
    assert run.shots == 4


def test_all_notes_of_a_log_are_told(tmp_path):
    more = {"metrics": ["acc", "exact_match"], "exact_match": 1.0}
    path = write_lm(tmp_path, [lm_sample(place, [-1.0, -1.0 - (place > 0)], 0, **more) for place in range(9)])
    (tmp_path / path.name.replace("samples_sums", "results").replace("jsonl", "json")).unlink()
    (run,) = runs(path)
    date = path.stem.removeprefix("samples_sums_")
    assert run.notes[0] == "sums: the metric is acc; for another one, use --metric exact_match"
    assert run.notes[-1] == (
        f"{path.name}: there is no results_{date}.json in its folder, so 0 shots are assumed"
    )
    assert len(run.notes) == 3
    (run,) = runs(path, metric="exact_match")
    assert not [note for note in run.notes if "do not say which choices" in note]
    samples = [lm_sample(0, [-1.0, -2.0], 0, metrics=["m"], m=1.0)]
    path = write_lm(tmp_path / "b", samples, date)
    (tmp_path / "b" / f"results_{date}.json").unlink()
    (run,) = runs(path)
    assert run.notes[-1].endswith(", so 0 shots are assumed, and that a higher m is better")


def test_a_recorded_metric_whose_targets_are_unclear_has_a_note_of_its_own(tmp_path):
    samples = [lm_sample(0, [-1.0, -2.0, -3.0], "x", metrics=["m", "acc"], m=1.0, acc=1.0)]
    path = write_lm(tmp_path, samples)
    (run,) = runs(path, metric="m")
    assert (
        f"{path.name}: its targets do not say which choices m counts as correct; for --choices or --chance, "
        "note that these can be several"
    ) in run.notes


def test_metrics_that_say_nothing_of_examples_are_listed(tmp_path):
    samples = [lm_sample(0, [-1.0, -2.0], "a", metrics=["m", "n"], m=0.5, n=0.5)]
    path = write_lm(tmp_path, samples)
    (run,) = runs(path)
    assert run.notes == [
        f"{path.name}: its metrics (m, n) do not say whether an example is correct; the choice with the "
        "largest log-likelihood is compared with the target"
    ]


def test_metrics_that_are_better_if_they_are_lower_are_listed(tmp_path):
    samples = [lm_sample(0, [-1.0, -2.0], "a", metrics=["m", "n"], m=0.5, n=0.5)]
    path = write_lm(tmp_path, samples)
    file = next(tmp_path.glob("results_*.json"))
    lower = {"higher_is_better": {"sums": {"m": False, "n": False}}}
    file.write_text(json.dumps(json.loads(file.read_text()) | lower))
    assert message(path) == (f"{file}, sums: m, n are better if they are lower; expected an accuracy")
    assert len(runs(path, command="doctor")) == 1


@pytest.mark.parametrize("aggregation", [None, "mean", "nanmean"])
def test_means_are_held_against_the_rows(tmp_path, aggregation):
    path = write_lm(tmp_path, [lm_sample(place, [-1.0, -2.0], 0) for place in range(2)])
    file = next(tmp_path.glob("results_*.json"))
    config = {"sums": {"metric_list": [{"metric": "acc", "aggregation": aggregation}]}}
    results = {"sums": {"acc,none": 0.25}}
    file.write_text(json.dumps(json.loads(file.read_text()) | {"configs": config, "results": results}))
    assert "says 0.2500" in message(path)


def test_delimiters_that_are_none_are_no_text(tmp_path):
    """Choices are ' a' and ' b'; the target is written with its space only if the delimiter is known."""
    samples = [lm_sample(place, [-1.0, -2.0], "a") for place in range(2)]
    for sample in samples:
        sample["acc"] = 1.0
    path = write_lm(tmp_path, samples)
    file = next(tmp_path.glob("results_*.json"))
    for delimiter in (" ", None, 3):
        config = {"configs": {"sums": {"target_delimiter": delimiter}}}
        file.write_text(json.dumps(json.loads(file.read_text()) | config))
        (run,) = runs(path)
        assert run.rows["correct"].tolist() == [True, True]
        assert run.rows["predicted"].tolist() == [0, 0]


def test_a_sample_without_a_filter_has_that_of_no_name():
    value = lm_sample(0, [-1.0, -2.0], 0)
    del value["filter"]
    assert Sample(value, "here").filter == "none"


@pytest.mark.parametrize(
    ("answers", "scores"),
    [
        ([["-1.0", "False"]], []),
        ([["-1.0", "False"], ["-2.0"]], []),
        ([["-1.0", "False"], "ab"], []),
        ([["-1.0", "False"], ["-2.0", "True"]], [-1.0, -2.0]),
        (["a text", "another"], []),
    ],
)
def test_log_likelihoods_are_pairs(answers, scores):
    value = lm_sample(0, [-1.0, -2.0], 0) | {"filtered_resps": answers}
    assert Sample(value, "here").scores == scores


@pytest.mark.parametrize(
    ("arguments", "texts"),
    [
        ({"gen_args_0": {"arg_0": "x", "arg_1": " a"}}, [" a", None]),
        ([["x", " a"], ["x", " b"]], [" a", " b"]),
        ([["x", " a"]], [" a", None]),
        ([["x", " a"], ["x", " b", "more"], "xy"], [" a", None]),
        ({"gen_args_0": {"arg_0": "x", "arg_1": 1}, "gen_args_1": {"arg_1": None}}, ["1", None]),
    ],
)
def test_texts_of_requests(arguments, texts):
    value = lm_sample(0, [-1.0, -2.0], 0) | {"arguments": arguments}
    assert Sample(value, "here").texts == texts


def test_a_sample_whose_id_has_half_of_a_character_is_told_with_its_row(tmp_path):
    path = write_lm(tmp_path, [lm_sample(0, [-1.0, -2.0], 0), lm_sample(1, [-1.0, -2.0], 0)])
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    rows[1]["doc_id"] = "\ud800"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert message(path).startswith(f"{path}, row 2: ")


def test_samples_in_one_list_are_counted_from_one(tmp_path):
    path = write_lm(tmp_path, [lm_sample(0, [-1.0, -2.0], 0), lm_sample(1, [-1.0, -2.0], 0)])
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    del rows[1]["doc_id"]
    listed = path.with_suffix(".json")
    listed.write_text(json.dumps(rows))
    path.unlink()
    assert message(listed).startswith(f"{listed}, row 2: has no 'doc_id'")


@pytest.mark.parametrize(
    ("scores", "tie"), [([], False), ([-1.0], False), ([-1.0, -1.0], True), ([-1.0, -2.0, -1.0], True)]
)
def test_ties_are_equal_largest_scores(scores, tie):
    sample = Sample(lm_sample(0, [-1.0, -2.0], 0), "here")
    sample.scores = scores
    assert is_tie(sample) == tie


def test_summaries_are_objects_with_shots_or_configs(tmp_path):
    file = tmp_path / "results.json"
    for content, is_summary in (
        ({"n-shot": {}}, True),
        ({"configs": {}}, True),
        ({"results": {}}, False),
        (["n-shot"], False),
    ):
        for encoding in ("utf-8", "utf-8-sig"):
            file.write_text(json.dumps(content), encoding=encoding)
            assert lm_eval.is_summary(file) == is_summary
    file.write_text("{")
    assert not lm_eval.is_summary(file)


@pytest.mark.parametrize(
    ("arguments", "model"),
    [
        ({"peft": "org/adapter", "pretrained": "org/base"}, "org/base+org/adapter"),
        ({"peft": "org/adapter"}, "org/adapter+org/adapter"),
        ({"delta": "d", "pretrained": "org/base", "subfolder": "s"}, "org/base/s+delta d"),
        ({"pretrained": "org/base", "revision": "", "subfolder": "None"}, "org/model"),
    ],
)
def test_variants_of_models(tmp_path, arguments, model):
    path = write_lm(tmp_path, [lm_sample(0, [-1.0, -2.0], 0)])
    file = next(tmp_path.glob("results_*.json"))
    name = {"model_name": arguments.get("peft", "org/model"), "config": {"model_args": arguments}}
    file.write_text(json.dumps(json.loads(file.read_text()) | name))
    assert runs(path)[0].model == model.replace("/", "--")


def test_a_metric_by_characters_or_bytes_agrees_with_targets(tmp_path):
    """The likeliest choice is 1 as it is, 0 for each character, and 2 for each byte."""
    choices = ["long choice of words", "short", "ü"]
    scores = [-6.0, -5.0, -0.9 * 2 * 0.6]
    for target, chance in (("0", 1 / 3), ("1", 1 / 3), ("2", 1 / 3)):
        more = {"metrics": ["acc_norm"], "acc_norm": 1.0}
        sample = with_choices(lm_sample(0, scores, target, **more), choices)
        (run,) = runs(write_lm(tmp_path / target, [sample]), metric="acc_norm")
        is_possible = target in ("0", "2")
        assert run.rows["chance"].isna().tolist() == [not is_possible]
        if is_possible:
            assert run.rows["chance"].tolist() == [pytest.approx(chance)]


# this package's own tables, and CSV


def test_a_file_that_is_no_table_has_no_predictions(tmp_path):
    folder = tmp_path / "predictions"
    folder.mkdir()
    (folder / "m.parquet").write_bytes(b"no table")
    assert own.find(tmp_path) == []


def test_csv_files_that_are_of_something_else(tmp_path):
    (tmp_path / "a.csv").write_text("example,correct\n1,1\n")
    (tmp_path / "b.csv").write_text("x,y\n1,1\n")
    (tmp_path / "c.txt").write_text("x,y\n1,1\n")
    assert csv.unread_files(tmp_path) == [tmp_path / "b.csv"]


def test_a_run_of_a_csv(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("example,correct,choices,model,task,shots\n1,1,4,m,t,2\n2,0,4,m,t,2\n1,1,4,n,u,0\n")
    first, second = csv.read(path, Options())
    assert (first.model, first.task, first.shots, first.metric) == ("m", "t", 2, "correct")
    assert (second.model, second.task, second.shots) == ("n", "u", 0)
    assert second.rows.index.tolist() == [0]
    assert "index" not in second.rows
    path.write_text("example,correct,choices\n1,1,4\n")
    for command, task in (("check", "a"), ("compare", "task"), ("items", "task"), ("doctor", "task")):
        (run,) = csv.read(path, Options(command=command))
        assert (run.model, run.shots) == ("model", 0)
        assert (run.task == "a") == (task == "a"), command
        assert bool(run.notes) == (task == "a"), command


@pytest.mark.parametrize(
    ("heading", "start"),
    [
        ("a,b", "lacks the columns example and correct; expected "),
        ("example,correct,choices,chance", "has the columns chance and choices; expected one of them"),
    ],
)
def test_columns_of_a_csv_that_are_wrong(tmp_path, heading, start):
    path = tmp_path / "a.csv"
    path.write_text(f"{heading}\n" + ",".join("1" for _ in heading.split(",")) + "\n")
    with pytest.raises(InputError) as error:
        list(csv.read(path, Options()))
    assert str(error.value).startswith(f"{path}: {start}")


def test_columns_of_texts_have_a_remedy_and_others_none(tmp_path):
    path = tmp_path / "a.csv"
    for column, is_told in (("gold", True), ("prediction", True), ("colour", False)):
        path.write_text(f"example,correct,{column}\n1,1,x\n")
        with pytest.raises(InputError) as error:
            list(csv.read(path, Options()))
        assert ("abovechance chance" in str(error.value)) == is_told


@pytest.mark.parametrize("column", ["example", "prompt", "model", "task"])
def test_names_in_a_csv_are_no_blanks(tmp_path, column):
    path = tmp_path / "a.csv"
    cells = {"example": "1", "prompt": "p", "model": "m", "task": "t", "correct": "1", "choices": "4"}
    path.write_text(",".join(cells) + "\n" + ",".join((cells | {column: " "}).values()) + "\n")
    with pytest.raises(InputError, match=column):
        list(csv.read(path, Options()))
