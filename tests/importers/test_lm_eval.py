"""lm-evaluation-harness's logs, in the forms that it was seen to write."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from abovechance.core.errors import InputError
from abovechance.importers import Options, diagnose, read_runs
from tests.importers.reading import imported
from tests.running import run as run_command

# --- lm-evaluation-harness -------------------------------------------------------------------


def lm_sample(doc: int, scores: list[float], target: object, **more: Any) -> dict[str, Any]:
    """A multiple-choice sample as lm-evaluation-harness 0.4.13 writes it: numbers are texts."""
    answers = [[str(score), "False"] for score in scores]
    return {
        "doc_id": doc,
        "doc": {"text": f"{doc} ="},
        "target": str(target),
        "arguments": {
            f"gen_args_{i}": {"arg_0": f"{doc} =", "arg_1": f" {'abcdef'[i]}"} for i in range(len(scores))
        },
        "resps": [[answer] for answer in answers],
        "filtered_resps": answers,
        "filter": "none",
        "metrics": ["acc"],
        "acc": float(int(np.argmax(scores)) in np.atleast_1d(target)),
    } | more


def write_lm(folder: Path, samples: list[dict[str, Any]], date: str = "2026-11-21T07-31-28.323857") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"samples_sums_{date}.jsonl"
    path.write_text("".join(json.dumps(sample) + "\n" for sample in samples))
    results = {"model_name": "org/model", "n-shot": {"sums": 4}, "configs": {"sums": {}}}
    (folder / f"results_{date}.json").write_text(json.dumps(results))
    return path


def test_lm_evaluation_harness(tmp_path):
    path = write_lm(
        tmp_path,
        [lm_sample(0, [-1.5, -2.5], 0), lm_sample(1, [-12.0, -9.0, -10.0], 2), lm_sample(2, [-3, -1], 1)],
    )
    rows = imported(path, prompts=20)
    assert rows["correct"].tolist() == [True, False, True]
    assert rows["predicted"].tolist() == [0, 1, 1]
    assert rows["chance"].tolist() == pytest.approx([1 / 2, 1 / 3, 1 / 2])
    assert rows[["model", "task", "shots"]].iloc[0].tolist() == ["org--model", "sums", 4]


@pytest.mark.parametrize(
    ("arguments", "model"),
    [
        ("pretrained=org/model", "org--model"),
        ("pretrained=org/model,revision=main,dtype=float16", "org--model"),
        ("pretrained=org/model,revision=step1000", "org--model@step1000"),
        ({"pretrained": "org/base", "revision": "v2", "peft": "org/model"}, "org--base@v2+org--model"),
        ("pretrained=org/base,delta=org/model", "org--base+delta org--model"),
        ("pretrained=org/model,subfolder=step-1000,peft=None", "org--model--step-1000"),
        (None, "org--model"),
        ("", "org--model"),
    ],
)
def test_revisions_and_adapters_are_models_of_their_own(tmp_path, arguments, model):
    path = write_lm(tmp_path, [lm_sample(0, [-1.0, -2.0], 0)])
    file = next(tmp_path.glob("results_*.json"))
    file.write_text(json.dumps(json.loads(file.read_text()) | {"config": {"model_args": arguments}}))
    assert [run.model for run in read_runs([path], Options())] == [model]


def test_a_score_that_is_no_mean_is_told(tmp_path):
    samples = [lm_sample(place, [-1.0, -2.0], place % 2) for place in range(4)]
    path = write_lm(tmp_path, samples)
    file = next(tmp_path.glob("results_*.json"))
    results = json.loads(file.read_text())
    listed = [{"metric": "acc", "aggregation": "def agg_gpirt(items): ..."}]
    for score, noted in ((0.431, True), (0.5, False)):
        changes = {"results": {"sums": {"acc,none": score}}, "configs": {"sums": {"metric_list": listed}}}
        file.write_text(json.dumps(results | changes))
        (run,) = read_runs([path], Options())
        assert any("0.431, is not the mean over examples" in note for note in run.notes) == noted


def test_a_target_that_is_no_choice_is_told_with_its_row(tmp_path):
    samples = [lm_sample(place, [-1.0, -2.0], place % 2) for place in range(4)]
    samples[2]["target"] = "7"
    with pytest.raises(InputError, match="row 3.*'7'"):
        read_runs([write_lm(tmp_path, samples)], Options())


def test_metrics_that_accept_several_guesses_ask_for_the_chance(tmp_path):
    """The correct choice is one of the two likeliest: a guesser is right in half of four choices."""
    metrics = {"metrics": ["r@1", "r@2"], "r@1": 0.0, "r@2": 1.0}
    samples = [lm_sample(doc, [-1.0, -2.0, -3.0, -4.0], 1) | metrics for doc in range(3)]
    path = write_lm(tmp_path, samples)
    assert set(imported(path, prompts=1, metric="r@1")["chance"]) == {0.25}
    for options in ({}, {"chance": 0.25, "of_one_guess": True}):
        with pytest.raises(InputError, match=r"r@2 accepts several guesses; use --chance .*0.5 for two"):
            imported(path, prompts=1, metric="r@2", **options)
    assert set(imported(path, prompts=1, metric="r@1", command="check")["choices"].map(len)) == {4}
    by_two = imported(path, prompts=1, metric="r@2", chance=0.5)
    assert set(by_two["chance"]) == {0.5}
    assert by_two["choices"].isna().all()  # simple guessers have one guess
    diagnoses, count = diagnose([path], Options(metric="r@2", command="doctor"))
    assert (count, [diagnosis.suspicion.check for diagnosis in diagnoses]) == (1, [])


def test_targets_in_a_list_that_cannot_be_read_ask_for_the_chance(tmp_path):
    samples = [lm_sample(doc, [-1.0, -2.0, -3.0], 1) | {"target": "[0 2]"} for doc in range(3)]
    path = write_lm(tmp_path, samples)
    with pytest.raises(InputError, match="does not say how probable it is to guess"):
        imported(path, prompts=1, metric="acc")


def test_version_0_4_3_writes_samples_as_one_list(tmp_path):
    lines = write_lm(tmp_path, [lm_sample(place, [-1.0, -2.0], place % 2) for place in range(3)])
    (run,) = read_runs([lines], Options())
    samples = [json.loads(line) for line in lines.read_text().splitlines()]
    lines.unlink()
    path = lines.with_suffix(".json")
    path.write_text(json.dumps(samples, indent=2))
    (of_list,) = read_runs([tmp_path], Options())
    assert of_list.rows.equals(run.rows)
    assert (of_list.model, of_list.task, of_list.shots) == ("org--model", "sums", 4)
    path.write_text(json.dumps([{"doc": {"text": "x" * 2000}} | sample for sample in samples]), "utf-8-sig")
    assert read_runs([tmp_path], Options())[0].rows["correct"].equals(run.rows["correct"])
    (tmp_path / "samples_notes.json").write_text('{"a": 1}')  # which are no samples
    assert len(read_runs([tmp_path], Options())) == 1
    lines.write_text("".join(json.dumps(sample) + "\n" for sample in samples))  # the same log twice
    (read_once,) = read_runs([tmp_path], Options())
    assert read_once.file == str(lines)
    (tmp_path / "samples_other.json.gz").write_bytes(b"")
    (with_note,) = read_runs([tmp_path], Options())
    assert (
        "left out: compressed files, unpack them first (1, such as samples_other.json.gz)"
        in with_note.notes[-1]
    )


def test_lm_eval_metrics_are_those_of_all_samples(tmp_path):
    samples = [lm_sample(place, [-1.0, -2.0], place % 2, acc_norm=0.0) for place in range(4)]
    for sample in samples:
        sample["metrics"] = ["acc", "acc_norm"]
    samples[0]["metrics"] = ["acc_norm"]
    del samples[0]["acc"]
    path = write_lm(tmp_path, samples)
    (run,) = read_runs([path], Options())
    assert run.metric == "acc"
    assert run.rows["correct"].tolist() == [True, False, True, False]
    assert run.notes == ["sums: the metric is acc; for another one, use --metric acc_norm"]
    samples[1]["acc_norm"] = 0.5  # no metric that says whether a sample is correct
    (run,) = read_runs([write_lm(tmp_path, samples)], Options())
    assert run.notes == []


@pytest.mark.parametrize(
    ("examples", "accuracy", "fine"),
    [((3, 10, 40), 2 / 3, True), ((3, 10, 40), 0.5, False), ((0, 1, 2), 2 / 3, False)],
)
def test_lm_eval_selected_examples_are_a_whole_log(tmp_path, examples, accuracy, fine):
    """Version 0.4.9 with `--samples` says how many examples the task has."""
    path = write_lm(tmp_path, [lm_sample(place, [-1.0, -2.0], place == 10) for place in examples])
    if examples[0] == 0:
        path = write_lm(tmp_path, [lm_sample(place, [-1.0, -2.0], place == 1) for place in examples])
    results = next(tmp_path.glob("results*.json"))
    content = json.loads(results.read_text())
    content |= {"results": {"sums": {"acc,none": accuracy}}, "n-samples": {"sums": {"effective": 100}}}
    results.write_text(json.dumps(content))
    if fine:
        (run,) = read_runs([path], Options())
        name = f"{results} (acc,none)"
        assert run.notes == [f"{path.name}: has 3 of 100 examples; {name} is the mean of these"]
    else:
        with pytest.raises(InputError, match="has 3 examples, and .* says 100; expected the whole log"):
            read_runs([path], Options())


def test_lm_eval_numbers_are_compared_as_numbers(tmp_path):
    # as texts, "-9.5" is the greatest; as numbers, -10.25 is not
    assert imported(write_lm(tmp_path, [lm_sample(0, [-10.25, -9.5], 1)]), prompts=1)["correct"].all()


def test_lm_eval_ties_go_to_no_choice_and_are_told(tmp_path):
    path = write_lm(tmp_path, [lm_sample(0, [-1.0, -1.0], 0), lm_sample(1, [-1.0, -2.0], 0)])
    (run,) = read_runs([path], Options())
    assert run.rows["correct"].tolist() == [False, True]
    assert run.rows["tie"].tolist() == [True, False]
    assert "1 tie of a correct and a wrong choice" in run.notes[0]


def test_lm_eval_rows_of_one_filter_are_taken_and_which_is_asked_for(tmp_path):
    rows = [
        {"doc_id": doc, "target": "4", "filtered_resps": ["4"], "filter": name, "metrics": ["exact_match"],
         "exact_match": float(name == "loose"), "resps": [["4"]], "arguments": {}}
        for doc in (0, 1)
        for name in ("strict", "loose")
    ]  # fmt: skip
    path = write_lm(tmp_path, rows)
    with pytest.raises(
        InputError,
        match="several filters, strict, loose; choose one, such as --filter",
    ):
        imported(path, prompts=1, chance=0.1)
    assert imported(path, prompts=1, chance=0.1, filter="loose")["correct"].tolist() == [True, True]
    with pytest.raises(InputError, match="has no filter 'none'; it has strict, loose"):
        imported(path, prompts=1, chance=0.1, filter="none")
    with pytest.raises(InputError, match="does not say how probable it is to guess.*--choices 4"):
        imported(path, prompts=1, filter="loose")


def test_lm_eval_targets_are_numbers_lists_or_texts(tmp_path):
    numbers = [lm_sample(0, [-2, -1, -3], [1, 2]), lm_sample(1, [-2, -1], 0)]
    rows = imported(write_lm(tmp_path / "numbers", numbers), prompts=1)
    assert rows["correct"].tolist() == [True, False]
    assert rows["chance"].tolist() == pytest.approx([2 / 3, 1 / 2])
    texts = [lm_sample(0, [-2, -1], "b", acc=1.0), lm_sample(1, [-2, -1], "['b', 'a']", acc=1.0)]
    rows = imported(write_lm(tmp_path / "texts", texts), prompts=1)
    assert rows["correct"].tolist() == [True, True]
    assert rows["chance"].tolist() == [0.5, 1.0]
    with pytest.raises(InputError, match="row 1: target 'z' is none of its 2 choices"):
        imported(write_lm(tmp_path, [lm_sample(0, [-2, -1], "z")]), prompts=1)


def with_choices(sample: dict[str, Any], choices: list[str]) -> dict[str, Any]:
    arguments = {f"gen_args_{i}": {"arg_0": "q", "arg_1": f" {text}"} for i, text in enumerate(choices)}
    return sample | {"arguments": arguments}


@pytest.mark.parametrize(
    ("choices", "targets"),
    [
        (["True", "Neither", "False"], ["True", "Neither", "False"]),
        (["None", "1", "True"], ["None", "1", "True"]),
        (["1", "2", "3"], ["1", "2", "3"]),  # the texts of the choices
        (["1", "2", "0"], ["0", "1", "2"]),  # their numbers
        (["0", "1", "2"], ["0", "1", "2"]),  # either
    ],
)
def test_what_a_target_means_is_tried_on_what_the_tool_recorded(tmp_path, choices, targets):
    correct = [targets[i] for i in range(3)]
    samples = [
        with_choices(lm_sample(i, [-1.0 - (place != i) for place in range(3)], correct[i], acc=1.0), choices)
        for i in range(3)
    ]
    rows = imported(write_lm(tmp_path, samples), prompts=1)
    assert rows["correct"].all()
    assert rows["predicted"].tolist() == [0, 1, 2]


def test_a_target_of_two_meanings_is_asked_about_where_the_tool_recorded_nothing(tmp_path):
    sample = with_choices(lm_sample(0, [-1.0, -2.0], "1"), ["1", "2"])
    del sample["acc"]
    sample |= {"metrics": ["mcc"], "mcc": [1, 0]}
    with pytest.raises(InputError, match="row 1: target '1' may be a text or a number.*--metric mcc"):
        imported(write_lm(tmp_path, [sample]), prompts=1)


@pytest.mark.parametrize("recorded", ["acc", "nothing"])
def test_what_a_target_means_does_not_depend_on_the_metric(tmp_path, recorded):
    # the numbers of choices that are numbers: as texts, other choices would be correct
    samples = []
    for place, target in enumerate([0, 1, 2, 1]):
        sample = with_choices(lm_sample(place, [-1.0, -2.0, -3.0], target), ["1", "2", "0"])
        sample |= {"metrics": ["acc", "acc_norm"], "acc_norm": 1.0 - sample["acc"]}
        if recorded == "nothing":
            del sample["acc"]
            sample |= {"metrics": ["acc_norm"], "acc_norm": 0.0}
        samples.append(sample)
    rows = imported(write_lm(tmp_path, samples), prompts=1, metric="acc_norm")
    assert rows["correct"].tolist() == ([False, True, True, True] if recorded == "acc" else [False] * 4)
    assert rows["chance"].tolist() == pytest.approx([1 / 3] * 4)
    if recorded == "acc":
        assert [row.index(True) for row in rows["right"]] == [0, 1, 2, 1]
    else:
        assert "right" not in rows or rows["right"].isna().all()


def test_choices_that_are_numbers_and_read_the_same_have_the_chance_of_one(tmp_path):
    samples = [
        with_choices(lm_sample(place, [-2.0, -1.0, -3.0, -4.0], place), ["0", "0", "1", "1"])
        | {"metrics": ["acc", "acc_norm"], "acc_norm": 1.0}
        for place in range(2)
    ]
    rows = imported(write_lm(tmp_path, samples), prompts=1, metric="acc_norm")
    assert rows["chance"].tolist() == [0.25, 0.25]


def test_an_exact_match_of_choices_has_no_chance(tmp_path):
    samples = [
        lm_sample(place, [-1.0, -2.0], place, exact_match=0.0, acc_norm=1.0 - place) for place in range(2)
    ]
    for sample in samples:
        del sample["acc"]
        sample["metrics"] = ["exact_match", "acc_norm"]
    path = write_lm(tmp_path, samples)
    assert imported(path, prompts=1)["chance"].tolist() == [0.5, 0.5]  # of acc_norm
    (run,) = read_runs([path], Options(prompts=1, metric="exact_match"))
    assert run.rows["chance"].isna().all()


def test_an_acc_that_is_a_share_does_not_keep_another_metric_from_being_read(tmp_path):
    samples = [lm_sample(place, [-1.0, -2.0], 0, acc=0.5, acc_norm=1.0 - place) for place in range(2)]
    samples = [sample | {"metrics": ["acc", "acc_norm"]} for sample in samples]
    rows = imported(write_lm(tmp_path, samples), prompts=1, metric="acc_norm")
    assert rows["correct"].tolist() == [True, False]
    assert rows["chance"].tolist() == [0.5, 0.5]


@pytest.mark.parametrize(("metric", "scores"), [("acc", [-3.0, -1.0, -2.0]), ("em", [-3.0, -1.0, -2.0])])
def test_a_metric_that_counts_more_choices_than_the_target_names_has_no_known_chance(
    metric, scores, tmp_path
):
    """As BBQ's unknown answers and ReCoRD's entities: a choice that is not the target is correct."""
    samples = [lm_sample(0, [-1.0, -2.0, -3.0], 0), lm_sample(1, scores, 2)]
    for sample, correct in zip(samples, (1.0, 1.0), strict=True):
        del sample["acc"]
        sample |= {"metrics": [metric], metric: correct}
    path = write_lm(tmp_path, samples)
    with pytest.raises(InputError, match="does not say how probable it is to guess an example"):
        imported(path, prompts=1, metric=metric)
    (run,) = read_runs([path], Options(metric=metric, chance=0.5))
    assert run.rows["correct"].all()
    assert (
        f"its targets do not say which choices {metric} counts as correct; for --choices or" in run.notes[0]
    )


def test_an_imported_file_keeps_the_metric_of_its_log(tmp_path):
    samples = [lm_sample(place, [-1.0, -2.0], 0, acc_norm=1.0 - place) for place in range(2)]
    log = write_lm(tmp_path, [sample | {"metrics": ["acc", "acc_norm"]} for sample in samples])
    path = tmp_path / "log.parquet"
    options = ("--each-file", "--metric", "acc_norm", "--output", str(path))
    assert run_command("import", str(log), *options).returncode == 0
    (of_file,) = read_runs([path], Options())
    assert of_file.metric == "acc_norm"
    several = [sample | {"metrics": ["r@2"], "r@2": 1.0} for sample in samples]
    log.write_text("".join(json.dumps(sample) + "\n" for sample in several))
    options = ("--each-file", "--metric", "r@2", "--chance", "0.5", "--output", str(path))
    assert run_command("import", str(log), *options).returncode == 0
    (of_several,) = read_runs([path], Options())
    assert of_several.rows["chance"].tolist() == [0.5, 0.5]
    log.write_text(
        "".join(json.dumps(sample | {"metrics": ["acc", "acc_norm"]}) + "\n" for sample in samples)
    )
    options = ("--each-file", "--metric", "acc_norm", "--output", str(path))
    assert run_command("import", str(log), *options).returncode == 0
    assert "Metric: acc_norm" in run_command("check", str(path), "--prompts", "1").stdout


def test_a_metric_may_choose_by_log_likelihoods_per_character(tmp_path):
    sample = with_choices(lm_sample(0, [-2.0, -3.0], 1), ["ab", "abcdef"])
    del sample["acc"]
    path = write_lm(tmp_path, [sample | {"metrics": ["acc_norm"], "acc_norm": 1.0}])
    assert imported(path, prompts=1, metric="acc_norm")["chance"].tolist() == [0.5]


def test_metrics_of_which_lower_is_better_are_not_judged_by_log_likelihoods(tmp_path):
    sample = lm_sample(0, [-1.0, -2.0], 0)
    del sample["acc"]
    path = write_lm(tmp_path, [sample | {"metrics": ["age_bias"], "age_bias": [0.5, 1.0]}])
    results = path.with_name("results_2026-11-21T07-31-28.323857.json")
    content = json.loads(results.read_text())
    results.write_text(json.dumps(content | {"higher_is_better": {"sums": {"age_bias": False}}}))
    with pytest.raises(InputError, match="age_bias are better if they are lower; expected an accuracy"):
        imported(path, prompts=1)
    results.write_text(json.dumps(content | {"higher_is_better": {"sums": {"age_bias": True}}}))
    assert imported(path, prompts=1)["correct"].tolist() == [True]


def test_another_metric_than_an_accuracy_has_no_known_chance_and_direction(tmp_path):
    """As pct_male_preferred, which counts two of four choices."""
    sample = with_choices(lm_sample(0, [-1.0, -2.0], "none of them"), ["a", "b"])
    del sample["acc"]
    path = write_lm(tmp_path, [sample | {"metrics": ["pct_male"], "pct_male": 1.0}])
    with pytest.raises(InputError, match="does not say how probable it is to guess an example"):
        imported(path, prompts=1)
    path.with_name("results_2026-11-21T07-31-28.323857.json").unlink()
    (run,) = read_runs([path], Options(chance=0.5))
    assert run.notes[-1].endswith("so 0 shots are assumed, and that a higher pct_male is better")
    path.write_text(path.read_text().replace("pct_male", "acc_norm"))
    assert imported(path, prompts=1)["chance"].tolist() == [0.5]


def test_a_metric_may_be_written_as_a_text(tmp_path):
    """NumPy's truth values are texts in the log."""
    samples = [
        lm_sample(place, [-1.0, -2.0], 0) | {"acc_norm": value}
        for place, value in enumerate(["True", "False"])
    ]
    path = write_lm(tmp_path, [sample | {"metrics": ["acc", "acc_norm"]} for sample in samples])
    assert imported(path, prompts=1, metric="acc_norm")["correct"].tolist() == [True, False]
    # they contradict targets as numbers do
    wrong = with_choices(lm_sample(0, [-1.0, -2.0], 1), ["a", "b"]) | {"acc": "True"}
    path = write_lm(tmp_path, [wrong])
    with pytest.raises(InputError, match="does not say how probable it is to guess an example"):
        imported(path, prompts=1, metric="acc")


def test_equal_texts_and_missing_scores_contradict_no_target(tmp_path):
    """The tool takes the first of equal choices, and nan as the largest of numbers."""
    twice = with_choices(lm_sample(0, [-2.0, -3.0, -1.999999], "x"), ["x", "y", "x"]) | {"acc": 0.0}
    path = write_lm(tmp_path, [twice | {"metrics": ["acc", "acc_norm"], "acc_norm": 0.0}])
    assert imported(path, prompts=1, metric="acc_norm")["chance"].tolist() == [2 / 3]
    unknown = with_choices(lm_sample(0, [float("nan"), -2.0], "x"), ["x", "y"])
    del unknown["acc"]
    path = write_lm(tmp_path, [unknown | {"metrics": ["acc_norm"], "acc_norm": 1.0}])
    assert imported(path, prompts=1, metric="acc_norm")["chance"].tolist() == [0.5]


def test_a_metric_that_is_not_about_the_choice_has_no_known_chance(tmp_path):
    samples = [lm_sample(place, [-1.0, -2.0], place) | {"confident": 1.0} for place in range(2)]
    path = write_lm(tmp_path, [sample | {"metrics": ["acc", "confident"]} for sample in samples])
    with pytest.raises(InputError, match="does not say how probable it is to guess an example"):
        imported(path, prompts=1, metric="confident")
    assert imported(path, prompts=1, metric="acc")["chance"].tolist() == [0.5, 0.5]


def test_an_accuracy_of_another_form_is_not_judged_by_log_likelihoods(tmp_path):
    sample = lm_sample(0, [-1.0, -2.0], 0)
    del sample["acc"]
    pair = sample | {"metrics": ["acc_ambig"], "acc_ambig": [1, 0]}
    with pytest.raises(InputError, match="has the metrics acc_ambig; expected one that is 0 or 1"):
        imported(write_lm(tmp_path, [pair]), prompts=1)
    assert diagnose([tmp_path], Options(command="doctor"))[1] == 1  # its texts can be examined
    (run,) = read_runs([write_lm(tmp_path, [sample | {"metrics": ["mcc"], "mcc": [0, 0]}])], Options())
    assert "its metrics (mcc) do not say whether an example is correct" in run.notes[0]


def test_a_log_that_is_compressed_is_no_missing_one(tmp_path):
    path = write_lm(tmp_path, [lm_sample(0, [-1.0, -2.0], 0)])
    (tmp_path / "samples_more_2024.jsonl.gz").write_bytes(b"")
    (tmp_path / "samples_a_samples.jsonl.zst").write_bytes(b"")
    (tmp_path / f"{path.name}.gz").write_bytes(b"")  # lies there unpacked
    (run,) = read_runs([tmp_path], Options(prompts=1))
    assert run.notes[-1] == (
        f"{tmp_path}: left out: compressed files, unpack them first (2, such as samples_a_samples.jsonl.zst)"
    )
    for packed in [*tmp_path.glob("*.gz"), *tmp_path.glob("*.zst")]:
        packed.unlink()
    path.rename(f"{path}.gz")
    with pytest.raises(InputError, match=r"samples_sums_.*\.jsonl\.gz: is compressed; unpack it first"):
        imported(tmp_path, prompts=1)
    next(tmp_path.glob("*.gz")).rename(tmp_path / "samples_sums.jsonl.bak")
    with pytest.raises(InputError, match="and no samples; run the tool with --log_samples"):
        imported(tmp_path, prompts=1)


def test_choices_in_the_context_are_judged_by_what_the_tool_recorded(tmp_path):
    samples = [
        with_choices(lm_sample(i, [-1.0, -2.0], "was small.", acc=acc), ["was small.", "was small."])
        for i, acc in enumerate([1.0, 0.0])
    ]
    rows = imported(write_lm(tmp_path, samples), prompts=1)
    assert rows["correct"].tolist() == [True, False]
    assert rows["chance"].tolist() == [0.5, 0.5]
    assert rows["right"].tolist() == [[True, False], [False, True]]


def test_what_the_tool_recorded_differently_is_an_error_with_the_first_sample(tmp_path):
    samples = [lm_sample(0, [-1, -2], 0), lm_sample(7, [-1, -2], 1, acc=1.0), lm_sample(8, [-1, -1], 1)]
    with pytest.raises(
        InputError, match="example '7' is wrong by its log-l.*recorded it as correct .1 of 3.*--metric"
    ):
        imported(write_lm(tmp_path, samples), prompts=1)
    rows = imported(write_lm(tmp_path, samples), prompts=1, metric="acc", chance=0.5)
    assert rows["correct"].tolist() == [True, True, False]


def test_a_log_that_lacks_samples_of_what_the_tool_reports_is_an_error(tmp_path):
    path = write_lm(tmp_path, [lm_sample(0, [-1, -2], 0), lm_sample(1, [-1, -2], 1)])
    results = path.with_name(path.name.replace("samples_sums", "results")).with_suffix(".json")
    report = json.loads(results.read_text())
    results.write_text(json.dumps(report | {"results": {"sums": {"acc,none": 0.5}}}))
    assert imported(path, prompts=1)["correct"].tolist() == [True, False]
    path.write_text(path.read_text().splitlines()[0] + "\n")
    with pytest.raises(InputError, match=r"have a mean of 1.0000, and .*\(acc,none\) says 0.5000"):
        imported(path, prompts=1)
    results.unlink()
    (run,) = read_runs([path], Options())
    assert "no results_2026" in run.notes[0]
    assert "so 0 shots are assumed" in run.notes[0]


def test_a_metric_must_be_one(tmp_path):
    path = write_lm(tmp_path, [lm_sample(0, [-1, -2], 0)])
    with pytest.raises(InputError, match="row 1: has no metric 'doc_id'; use --metric acc"):
        imported(path, prompts=1, metric="doc_id")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"target": ""}, "row 1: target '' is none of its 2 choices"),
        ({"target": "[]"}, "row 1: target '[]' is none of its 2 choices"),
        ({"target": None}, "row 1: target 'None' is none of its 2 choices"),
        ({"target": "7"}, "row 1: target '7' is none of its 2 choices"),
        ({"target": "-1"}, "row 1: target '-1' is none of its 2 choices"),
        ({"doc_id": None}, "row 1: has no 'doc_id'"),
        (
            {"filtered_resps": [["x", "False"], ["y", "False"]]},
            "row 1: is not as lm-evaluation-harness writes",
        ),
        ({"filtered_resps": [[None, 0], [1, 0]]}, "row 1: is not as lm-evaluation-harness writes it"),
        ({"filtered_resps": None, "acc": None}, "row 1: acc is None; expected a metric of 0 or 1"),
        ({"arguments": 5}, "row 1: is not as lm-evaluation-harness writes it"),
        ({"acc": "high"}, "row 1: acc is 'high'; expected a metric of 0 or 1"),
        ({"filtered_resps": [["inf", "False"], ["-1", "False"]]}, "row 1: score 0 of 2 is inf"),
    ],
)
def test_fields_that_are_empty_or_strange_are_told_with_their_row(tmp_path, more, message):
    with pytest.raises(InputError) as error:
        imported(write_lm(tmp_path, [lm_sample(0, [-1, -2], 0) | more]), prompts=1)
    assert message in str(error.value)


def test_lm_eval_logs_with_lists_of_arguments_are_read(tmp_path):
    older = {"arguments": [["q", " yes"], ["q", " no"]], "filtered_resps": [[-1.0, False], [-2.0, False]]}
    rows = imported(write_lm(tmp_path, [lm_sample(0, [-1, -2], 0) | older]), prompts=1)
    assert rows["correct"].tolist() == [True]
    assert rows["characters"].tolist() == [[4, 3]]
    by_text = lm_sample(0, [-1, -2], 0) | older | {"target": "no", "acc": 0.0}
    assert imported(write_lm(tmp_path / "b", [by_text]), prompts=1)["correct"].tolist() == [False]


def test_log_likelihoods_stay_whichever_metric_decides(tmp_path):
    sample = lm_sample(0, [-1.5, -2.5], 0) | {"acc_norm": 0.0, "metrics": ["acc", "acc_norm"]}
    rows = imported(write_lm(tmp_path, [sample]), prompts=1, metric="acc_norm")
    assert rows["correct"].tolist() == [False]
    assert rows["logprobs"].tolist() == [[-1.5, -2.5]]


def test_a_log_likelihood_that_is_not_a_number_is_told_with_its_row(tmp_path):
    path = write_lm(tmp_path, [lm_sample(0, [-1.0, -2.0], 0), lm_sample(1, [float("nan"), -2.0], 0)])
    with pytest.raises(InputError, match="row 2: score 0 of 2 is nan"):
        imported(path, prompts=1)


def test_the_half_of_mutual_information_requests_without_context_is_no_choice(tmp_path):
    sample = lm_sample(0, [-2.0, -1.0, 0.0, 0.0], 1, acc=1.0, acc_mutual_info=1.0)
    assert imported(write_lm(tmp_path, [sample]), prompts=1)["chance"].tolist() == [0.5]


def test_a_run_that_does_not_say_how_many_prompts_were_tried_is_asked_about(tmp_path):
    first = write_lm(tmp_path / "a", [lm_sample(0, [-1, -2], 0)])
    with pytest.raises(
        InputError,
        match="how many prompts.*add --prompts 1 .*--prompts 20 .*--each-file",
    ):
        imported(first)
    write_lm(tmp_path / "b", [lm_sample(0, [-2, -1], 0)], date="2026-11-22T07-31-28.323857")
    with pytest.raises(InputError, match="2 runs of org--model, sums, 4-shot.*add --each-file"):
        imported(tmp_path, prompts=5)
    rows = imported(tmp_path, each_file=True)
    assert rows["prompt"].tolist() == [0, 1]
    assert rows["correct"].tolist() == [True, False]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"doc_id": 0, "targ', "row 1: is not JSON.*one whole object on each line"),
        ('{"id": 0}', "row 1: has no 'doc_id'"),
        ("", "has no samples"),
    ],
)
def test_lm_eval_files_that_are_torn_or_something_else(tmp_path, text, message):
    path = tmp_path / "samples_sums_2026-11-21T07-31-28.323857.jsonl"
    path.write_text(text + "\n")
    with pytest.raises(InputError, match=message):
        imported(path, prompts=1)


def test_choices_that_read_the_same_are_right_together(tmp_path):
    sample = with_choices(lm_sample(0, [-1.0, -1.0, -2.0], "yes", acc=1.0), ["yes", "yes", "no"])
    rows = imported(write_lm(tmp_path, [sample]), prompts=1)
    assert rows["correct"].tolist() == [True]
    assert rows["chance"].tolist() == pytest.approx([2 / 3])


def test_what_stands_between_context_and_choice_is_told_by_the_results(tmp_path):
    sample = with_choices(lm_sample(0, [-1.0, -2.0], "yes", acc=1.0), ["So: yes", "So: no"])
    path = write_lm(tmp_path, [sample])
    with pytest.raises(InputError, match="target 'yes' is none of its 2 choices; use --metric"):
        imported(path, prompts=1)
    reported = {"n-shot": {"sums": 4}, "configs": {"sums": {"target_delimiter": " So:"}}}
    # the tool was told a name for its results
    second = path.with_name(path.name.replace("samples_sums", "mine")).with_suffix(".json")
    path.with_name(path.name.replace("samples_sums", "results")).with_suffix(".json").unlink()
    second.write_text(json.dumps(reported))
    rows = imported(path, prompts=1)
    assert rows["correct"].tolist() == [True]
    assert rows["shots"].tolist() == [4]


def test_numpys_lists_of_targets_are_read(tmp_path):
    samples = [lm_sample(0, [-3.0, -2.0, -1.0], "[np.int64(0), np.int64(2)]", acc=1.0)]
    assert imported(write_lm(tmp_path, samples), prompts=1)["chance"].tolist() == pytest.approx([2 / 3])


def test_a_metric_of_another_name_is_taken_where_it_is_the_only_one(tmp_path):
    def sample(**metrics: float) -> dict[str, Any]:
        plain = lm_sample(0, [-1.0, -2.0], 0)
        del plain["acc"]
        return plain | metrics | {"metrics": [*metrics]}

    assert imported(write_lm(tmp_path / "a", [sample(acc_bytes=0.0)]), prompts=1)["correct"].tolist() == [
        False
    ]
    with pytest.raises(InputError, match="has the metrics acc_bytes, own; use --metric acc_bytes or"):
        imported(write_lm(tmp_path / "b", [sample(acc_bytes=0.0, own=1.0)]), prompts=1)


def test_a_log_with_fewer_samples_than_the_tool_counted_is_an_error(tmp_path):
    path = write_lm(tmp_path, [lm_sample(0, [-1.0, -2.0], 0)])
    results = path.with_name(path.name.replace("samples_sums", "results")).with_suffix(".json")
    reported = {"n-samples": {"sums": {"original": 9, "effective": 3}}}
    results.write_text(json.dumps(json.loads(results.read_text()) | reported))
    with pytest.raises(InputError, match="has 1 examples, and .*results_.* says 3"):
        imported(path, prompts=1)


def test_half_of_a_character_is_told(tmp_path):
    odd = with_choices(lm_sample(0, [-1.0, -2.0], 0), ["\ud83d", "no"])
    with pytest.raises(InputError, match="row 1: is not as lm-evaluation-harness writes it"):
        imported(write_lm(tmp_path / "a", [odd]), prompts=1)
    with pytest.raises(InputError, match="has half of a character"):
        imported(write_lm(tmp_path / "b", [lm_sample("\ud83d", [-1.0, -2.0], 0)]), prompts=1)


def test_models_of_the_same_folder_name_are_two(tmp_path):
    for run in ("first", "second"):
        path = write_lm(tmp_path / run, [lm_sample(0, [-1.0, -2.0], 0)])
        results = path.with_name(path.name.replace("samples_sums", "results")).with_suffix(".json")
        report = json.loads(results.read_text()) | {"model_name": f"/runs/{run}/checkpoint-100"}
        results.write_text(json.dumps(report))
    rows = imported(tmp_path, prompts=1)
    assert rows["model"].tolist() == ["first--checkpoint-100", "second--checkpoint-100"]
    assert imported(tmp_path / "first", prompts=1)["model"].tolist() == ["checkpoint-100"]


def test_a_summary_without_samples_is_told_apart_from_other_files(tmp_path):
    path = write_lm(tmp_path, [lm_sample(0, [-1.0, -2.0], 0)])
    path.unlink()
    (summary,) = tmp_path.rglob("results*.json")
    for place in (summary, tmp_path):
        with pytest.raises(
            InputError, match="summary of lm-evaluation-harness, and no samples.*--log_samples"
        ):
            imported(place, prompts=1)
    summary.write_text('{"accuracy": 0.62, "model": "gpt-4o"}')
    with pytest.raises(InputError, match="no results that are known.*`abovechance baseline`"):
        imported(tmp_path, prompts=1)


def test_a_report_that_is_no_mean_is_not_held_against_one(tmp_path):
    path = write_lm(tmp_path, [lm_sample(0, [-1.0, -2.0], 0)])
    results = path.with_name(path.name.replace("samples_sums", "results")).with_suffix(".json")
    report = json.loads(results.read_text()) | {"results": {"sums": {"acc,none": 0.31}}}
    report["configs"]["sums"] = {"metric_list": [{"metric": "acc", "aggregation": "<function agg_gpirt>"}]}
    results.write_text(json.dumps(report))
    assert imported(path, prompts=1)["correct"].tolist() == [True]
    report["configs"]["sums"]["metric_list"][0]["aggregation"] = "mean"
    results.write_text(json.dumps(report))
    with pytest.raises(InputError, match="says 0.3100"):
        imported(path, prompts=1)
