"""Records of Every Eval Ever: what is read from their rows, and the verdicts that are added."""

import json

import numpy as np
import pytest
from scipy.stats import binomtest

from abovechance.chance import RandomBaseline
from abovechance.core.errors import InputError
from abovechance.extensions.every_eval_ever import annotate
from abovechance.importers import Options, combine, diagnose, read_runs
from tests.doctor.logs import sound, write_records
from tests.running import run

SINGLE, DOCTOR = Options(prompts=1), Options(command="doctor")


def changed_rows(path, **changes):
    """Replace fields of all rows."""
    rows = [json.loads(line) | changes for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_rows_become_predictions_with_choices(tmp_path):
    log = sound(4, 60)
    (imported,) = read_runs([write_records(log, tmp_path)], SINGLE)
    assert imported.rows["predicted"].tolist() == log.predicted
    assert imported.rows["correct"].tolist() == [
        predicted == gold for predicted, gold in zip(log.predicted, log.gold, strict=True)
    ]
    assert [row.index(True) for row in imported.rows["right"]] == log.gold
    assert (imported.model, imported.task, imported.metric) == ("org--model", "task", "acc")
    assert combine([imported], SINGLE)["chance"].unique() == pytest.approx(1 / len(log.choices[0]))


@pytest.mark.parametrize("meaning", ["text", "letter", "number"])
def test_references_have_the_meaning_that_agrees_with_the_rows(meaning, tmp_path):
    log = sound(5, 40)
    choices = [[str((place + shift) % 4) for shift in range(4)] for place in range(40)]  # numbers as texts
    gold = [int(place) % 4 for place in np.random.default_rng(0).integers(4, size=40)]
    log.choices, log.gold = choices, gold
    log.scores = np.random.default_rng(1).normal(size=(40, 4)).tolist()
    path = write_records(log, tmp_path)
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    for row, place in zip(rows, gold, strict=True):
        row["input"]["reference"] = [
            {"text": row["input"]["choices"][place], "letter": "ABCD"[place]}.get(meaning, str(place))
        ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    (imported,) = read_runs([path], SINGLE)
    assert [row.index(True) for row in imported.rows["right"]] == gold


def with_references(path, references, answers=None):
    """Replace the references and the answers of all rows."""
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    for place, row in enumerate(rows):
        row["input"]["reference"] = references(place, row["input"]["choices"])
        if answers:
            correct, text = answers(place, row["input"]["choices"])
            row["evaluation"] = {"score": float(correct), "is_correct": correct}
            row["answer_attribution"][-1]["extracted_value"] = text
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    path.with_name(path.name.replace("_samples.jsonl", ".json")).unlink(missing_ok=True)


def test_a_reference_can_be_a_list_in_a_text(tmp_path):
    path = write_records(sound(4, 40), tmp_path)
    with_references(
        path,
        lambda place, choices: ["[0, 2]"] if place % 2 else ["[1]"],
        lambda place, choices: (place % 4 == 1, choices[2 if place % 4 == 1 else 3]),
    )
    (imported,) = read_runs([path], SINGLE)
    size = imported.rows["choices"].map(len)
    gold = imported.rows["right"].map(sum)
    assert gold.tolist() == [1, 2] * 20
    assert imported.rows["chance"].tolist() == pytest.approx((gold / size).tolist())
    with_references(path, lambda place, choices: [choices[place % len(choices)]])
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    for row in rows:  # choices that are lists
        names = [f"[{number}]" for number in range(len(row["input"]["choices"]))]
        row["input"] |= {"choices": names, "reference": ["[1]"]}
        row["answer_attribution"][-1]["extracted_value"] = names[1 if row["evaluation"]["is_correct"] else 0]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    imported = read_runs([path], SINGLE)[0]
    assert all(marks.index(True) == 1 and sum(marks) == 1 for marks in imported.rows["right"])
    with_references(path, lambda place, choices: ["[0 2]"])  # a list that cannot be read
    assert read_runs([path], SINGLE)[0].rows["chance"].isna().all()


def test_a_list_of_references_as_numpy_writes_it(tmp_path):
    path = write_records(sound(4, 40), tmp_path)
    with_references(
        path,
        lambda place, choices: ["[np.int64(0), np.int64(2)]"],
        lambda place, choices: (place % 4 == 1, choices[2 if place % 4 == 1 else 3]),
    )
    (imported,) = read_runs([path], SINGLE)
    size = imported.rows["choices"].map(len)
    assert imported.rows["chance"].tolist() == pytest.approx((2 / size).tolist())


def test_references_of_generation_tasks_are_no_choices(tmp_path):
    """Records of HELM list all accepted answers as choices and as references."""
    path = write_records(sound(4, 40), tmp_path)
    with_references(path, lambda place, choices: choices[::-1])
    (imported,) = read_runs([path], SINGLE)
    assert imported.rows["chance"].isna().all()
    assert imported.rows["choices"].isna().all()


def test_half_of_a_character_in_an_answer_is_read(tmp_path):
    path = write_records(sound(4, 40), tmp_path)
    with_references(path, lambda place, choices: choices[:1], lambda place, choices: (False, "\ud800"))
    (imported,) = read_runs([path], SINGLE)
    assert not imported.rows["correct"].any()


def test_rows_and_record_of_early_versions(tmp_path):
    """The rows are called <uuid>.jsonl, and the record belongs to them, too."""
    path = write_records(sound(4, 40), tmp_path)
    expected = read_runs([path], SINGLE)[0]
    early = path.rename(path.with_name(path.name.replace("_samples", "")))
    run = read_runs([early], SINGLE)[0]
    assert run.shots == expected.shots
    assert run.reported.accuracy == expected.reported.accuracy
    record = early.with_suffix(".json")
    assert annotate(record, 1)[1][0]["p_value"] is not None
    content = json.loads(record.read_text())
    content["evaluation_results"][0]["metric_config"]["lower_is_better"] = True
    record.write_text(json.dumps(content))
    with pytest.raises(InputError, match="is better if it is lower"):
        read_runs([early], SINGLE)


@pytest.mark.parametrize("named", [False, True])
def test_several_references_are_alternatives_only_if_an_answer_shows_it(tmp_path, named):
    """An answer may count only if it names all correct choices."""
    path = write_records(sound(4, 40), tmp_path)
    with_references(
        path,
        lambda place, choices: ["A", "C"] if place % 2 else ["B"],
        lambda place, choices: (place % 4 == 1, choices[0] if named and place % 4 == 1 else "A, C"),
    )
    (imported,) = read_runs([path], SINGLE)
    size = imported.rows["choices"].map(len)
    # else the chance is unknown, also with one reference: a model cannot know that it is one
    expected = np.where(np.arange(40) % 2 == 1, 2, 1) / size if named else np.full(40, np.nan)
    assert imported.rows["chance"].tolist() == pytest.approx(expected.tolist(), nan_ok=True)


@pytest.mark.parametrize("reported", [None, "without", "with"])
def test_samples_with_an_error(tmp_path, reported):
    """They are left out if the reported score shows that the tool does so."""
    log = sound(4, 60)
    path = write_records(log, tmp_path)
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    for row in rows[:8]:
        row |= {"error": "timeout"}
        row["evaluation"] = {"score": 0.0, "is_correct": False}
        row["answer_attribution"][-1]["extracted_value"] = ""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    correct = np.array([row["evaluation"]["is_correct"] for row in rows])
    record = path.with_name(path.name.replace("_samples.jsonl", ".json"))
    content = json.loads(record.read_text())
    (result,) = content["evaluation_results"]
    result["score_details"]["score"] = float(correct[8:].mean() if reported == "without" else correct.mean())
    record.write_text(json.dumps(content))
    if reported is None:
        record.unlink()
    (imported,) = read_runs([path], SINGLE)
    if reported == "without":
        assert imported.rows["correct"].tolist() == correct[8:].tolist()
        assert imported.unscored == 8
        note = f"{path.name}: samples with an error are left out, as in the reported score: 8"
    else:
        assert imported.rows["correct"].tolist() == correct.tolist()
        note = f"{path.name}: 8 samples have an error; 8 of these count as wrong"
    assert note in imported.notes


def test_several_results_need_a_metric(tmp_path):
    path = write_records(sound(4, 30), tmp_path)
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    rows += [row | {"evaluation_result_id": "acc_norm"} for row in rows]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(InputError, match="has the results acc, acc_norm; use --metric acc or acc_norm"):
        read_runs([path], SINGLE)
    (imported,) = read_runs([path], Options(prompts=1, metric="acc_norm"))
    assert (imported.metric, len(imported.rows)) == ("acc_norm", 30)


@pytest.mark.parametrize(
    ("evaluation", "message"),
    [
        ({"score": 0.0, "is_correct": True}, "is_correct is True, but the score is 0.0"),
        ({"score": 0.4, "is_correct": False}, "score is 0.4; expected a score of 0 or 1"),
        ({"score": 1.0}, "is_correct"),
    ],
)
def test_contradictions_are_errors_with_their_row(evaluation, message, tmp_path):
    path = write_records(sound(4, 30), tmp_path)
    changed_rows(path, evaluation=evaluation)
    with pytest.raises(InputError, match="row 0|row 1") as error:
        read_runs([path], SINGLE)
    assert message.replace("score is 0.4", "acc is 0.4") in str(error.value)


def test_lower_is_better_is_an_error(tmp_path):
    path = write_records(sound(4, 30), tmp_path)
    record = tmp_path / "0.json"
    record.write_text(record.read_text().replace('"lower_is_better": false', '"lower_is_better": true'))
    with pytest.raises(InputError, match="acc is better if it is lower"):
        read_runs([path], SINGLE)


@pytest.mark.parametrize("prompts", [1, 20])
def test_verdicts_are_added_to_a_record_and_nothing_else_changes(prompts, tmp_path):
    log = sound(4, 60)
    write_records(log, tmp_path / "in" / "model")
    completed = run(
        "annotate", str(tmp_path / "in"), "-o", str(tmp_path / "out"), "-t", str(prompts), "--json"
    )
    (verdict,) = json.loads(completed.stdout)
    correct = sum(predicted == gold for predicted, gold in zip(log.predicted, log.gold, strict=True))
    baseline = RandomBaseline.from_chance(1 / len(log.choices[0]), 60)
    assert verdict["p_value"] == pytest.approx(baseline.tail(correct, prompts))
    before = json.loads((tmp_path / "in" / "model" / "0.json").read_text())
    after = json.loads((tmp_path / "out" / "model" / "0.json").read_text())
    details = after["evaluation_results"][0]["score_details"]
    fields = details.pop("details")
    assert float(fields["abovechance.p_value"]) == verdict["p_value"]
    assert fields["abovechance.prompts"] == str(prompts)
    assert all(isinstance(value, str) for value in fields.values())
    # an interval of one prompt's score would mislead about the best of 20
    uncertainty = details.pop("uncertainty", None)
    assert (uncertainty is None) == (prompts == 20)
    if uncertainty:
        interval = binomtest(correct, 60).proportion_ci()
        ends = uncertainty["confidence_interval"]["lower"], uncertainty["confidence_interval"]["upper"]
        assert ends == pytest.approx((interval.low, interval.high))
    assert after == before
    assert (tmp_path / "out" / "model" / "0_samples.jsonl").exists()


def test_a_record_without_rows_needs_the_chance_and_the_number_of_samples(tmp_path):
    write_records(sound(4, 60), tmp_path / "in")
    (tmp_path / "in" / "0_samples.jsonl").unlink()
    record = tmp_path / "in" / "0.json"
    content = json.loads(record.read_text())
    details = {"score": 0.5, "uncertainty": {"num_samples": 60}}
    content["evaluation_results"][0]["score_details"] = details
    record.write_text(json.dumps(content))
    arguments = ["annotate", str(record), "-o", str(tmp_path / "out"), "-t", "5", "--json"]
    completed = run(*arguments)
    assert (completed.returncode, completed.stderr) == (
        1,
        f"abovechance: error: {record}: there are no rows of samples; use --chance or --choices\n",
    )
    assert not (tmp_path / "out").exists()
    (verdict,) = json.loads(run(*arguments, "--choices", "4").stdout)
    assert verdict["p_value"] == pytest.approx(RandomBaseline.from_chance(0.25, 60).tail(30, 5))
    del details["uncertainty"]
    content["evaluation_results"][0]["metric_config"] = {"metric_name": "acc", "lower_is_better": False}
    record.write_text(json.dumps(content))
    completed = run(*arguments, "--choices", "4")
    (verdict,) = json.loads(completed.stdout)
    assert verdict["reason"] == "the record does not contain the number of samples"
    assert completed.stderr == "note: " + ", ".join(
        [verdict["model"], verdict["task"], f"{verdict['metric']}: no verdict: {verdict['reason']}\n"]
    )


@pytest.mark.parametrize("name", ["mcc", "cohen_kappa", "Matthews correlation", "bleu", "auroc"])
def test_a_score_of_unknown_kind_that_is_not_the_share_of_correct_rows_is_another_metric(tmp_path, name):
    write_records(sound(4, 60), tmp_path)
    record, rows = tmp_path / "0.json", tmp_path / "0_samples.jsonl"
    content = json.loads(record.read_text())
    (result,) = content["evaluation_results"]
    result["metric_config"]["metric_name"] = name
    share = result["score_details"]["score"]
    record.write_text(json.dumps(content))
    assert "reason" not in annotate(record)[1][0]
    result["score_details"]["score"] = 0.5
    record.write_text(json.dumps(content))
    assert annotate(record)[1][0]["reason"] == "the metric is not a share of correct answers"
    # the log is not damaged, and the rows are judged
    (imported,) = read_runs([rows], SINGLE)
    assert imported.rows["correct"].mean() == pytest.approx(share)
    assert f"(0.5) is not the share of correct rows ({share:.3g}), which is judged here" in imported.notes[-1]
    (sign,) = diagnose([rows], DOCTOR)[0]
    assert (sign.suspicion.check, sign.suspicion.severity) == ("recorded-results", "suspicious")
    # a score of which nothing is known contradicts nothing
    result["score_details"]["score"] = None
    record.write_text(json.dumps(content))
    assert "reason" not in annotate(record)[1][0]
    content["evaluation_results"] *= 2
    record.write_text(json.dumps(content))
    assert annotate(record)[1][0]["reason"].startswith("several results have the same evaluation_result_id")


@pytest.mark.parametrize("score", [49 / 60, 0.9])
def test_other_metrics_have_no_verdict_from_the_rows_of_samples(tmp_path, score):
    write_records(sound(4, 60), tmp_path)
    record = tmp_path / "0.json"
    content = json.loads(record.read_text())
    (result,) = content["evaluation_results"]
    result["metric_config"] |= {"metric_name": "balanced_accuracy", "lower_is_better": False}
    result["score_details"]["score"] = score  # not the share of correct answers
    record.write_text(json.dumps(content))
    _, (verdict,) = annotate(record)
    assert verdict["reason"] == "the metric is not a share of correct answers"


def test_the_name_of_a_task_does_not_say_what_a_metric_is(tmp_path):
    write_records(sound(4, 60), tmp_path)
    record = tmp_path / "0.json"
    for name, own_score in (("race_classes/acc", None), ("Accuracy per task (EM)", None), ("class", 0.9)):
        content = json.loads(record.read_text())
        (result,) = content["evaluation_results"]
        result["metric_config"]["metric_name"] = None if "/" in name else name
        old_id, result["evaluation_result_id"] = result["evaluation_result_id"], name
        result["score_details"]["score"] = own_score or result["score_details"]["score"]
        record.write_text(json.dumps(content))
        rows = tmp_path / "0_samples.jsonl"
        rows.write_text(rows.read_text().replace(json.dumps(old_id), json.dumps(name)))
        _, (verdict,) = annotate(record)
        assert ("reason" in verdict) == (own_score is not None)


@pytest.mark.parametrize(
    ("name", "lowest", "highest", "score", "accuracy"),
    [
        *(("acc", 0, 1, 0.61, 0.61), ("acc_norm", 0, 100, 61.0, 0.61), ("acc", 0, 100, 0.8, 0.008)),
        *(("exact_match", None, None, 0.5, 0.5), ("mcc", -1, 1, 0.45, None), ("rouge_l", 0, 1, 0.41, None)),
        *(("acc", 0, 10, 0.5, None), ("acc", -1, 1, 0.5, None), ("acc", 0, 1, 61.0, None)),
        *(
            (name, 0, 1, 0.5, 0.5)
            for name in ("quasiExactMatch", "QAAccuracy", "acc1", "pass@1", "fraction_correct")
        ),
        *((name, 0, 1, 0.5, None) for name in ("balanced_accuracy", "mean_per_class_accuracy", "pass@10")),
        *((name, 0, 1, 0.5, None) for name in ("partial_match_f1", "fraction_incorrect", "mismatch_rate")),
        *((name, 0, 1, 0.5, None) for name in ("partially_correct", "not_correct", "mean_class_accuracy")),
        *((name, 0, 1, 0.5, None) for name in ("accuracy averaged over classes", "wrong_match_rate")),
        *(
            (name, 0, 1, 0.5, None)
            for name in ("acc_stderr", "accuracy_std", "accuracy variance", "sd of accuracy")
        ),
        *((name, 0, 1, 0.5, None) for name in ("accuracy gain", "relative accuracy", "ECE accuracy")),
        *((name, 0, 1, 0.5, 0.5) for name in ("dev accuracy", "exact match ratio", "accuracy (95% CI)")),
        *((name, 0, 1, 0.5, 0.5) for name in ("top-5 accuracy", "exact_match_score")),  # by --chance
        *((name, 0, 100, 50.0, 0.5) for name in ("per cent correct", "Per cent correct", "acc_per_cent")),
    ],
)
def test_only_shares_of_correct_answers_have_a_verdict(tmp_path, name, lowest, highest, score, accuracy):
    write_records(sound(4, 60), tmp_path / "in")
    (tmp_path / "in" / "0_samples.jsonl").unlink()
    record = tmp_path / "in" / "0.json"
    content = json.loads(record.read_text())
    (result,) = content["evaluation_results"]
    result["score_details"] = {"score": score, "uncertainty": {"num_samples": 200}}
    scale = {"min_score": lowest, "max_score": highest} if highest is not None else {}
    result["metric_config"] = {"metric_name": name, "lower_is_better": False} | scale
    record.write_text(json.dumps(content))
    arguments = ["annotate", str(record), "-o", str(tmp_path / "out"), "-t", "1"]
    if accuracy is None:  # no chance would help
        (verdict,) = json.loads(run(*arguments, "--json").stdout)
        assert verdict["reason"] == "the metric is not a share of correct answers"
    arguments += ["--chance", "0.25"]
    (verdict,) = json.loads(run(*arguments, "--json").stdout)
    assert verdict.get("accuracy") == (None if accuracy is None else pytest.approx(accuracy))
    if accuracy is not None:
        expected = RandomBaseline.from_chance(0.25, 200).tail(round(accuracy * 200), 1)
        assert verdict["p_value"] == pytest.approx(expected, rel=0.6)  # the score is rounded


@pytest.mark.parametrize("with_rows", [True, False])
def test_the_number_of_choices_is_no_chance_of_several_guesses(tmp_path, with_rows):
    """A guesser has one of 50 choices among five with probability 0.1, and one guess with 0.02."""
    write_records(sound(4, 60), tmp_path / "in")
    record, rows = tmp_path / "in" / "0.json", tmp_path / "in" / "0_samples.jsonl"
    content = json.loads(record.read_text())
    (result,) = content["evaluation_results"]
    result["metric_config"] |= {"metric_name": "top-5 accuracy"}
    if not with_rows:
        rows.unlink()
        result["score_details"] = {"score": 0.1, "uncertainty": {"num_samples": 200}}
    record.write_text(json.dumps(content))
    arguments = ["annotate", str(record), "-o", str(tmp_path / "out"), "-t", "1", "--json"]
    completed = run(*arguments, "--choices", "50")
    (verdict,) = json.loads(completed.stdout)
    assert verdict["reason"].startswith("the metric accepts several guesses, and --choices gives")
    assert "use --chance" in completed.stderr
    (verdict,) = json.loads(run(*arguments, "--chance", "0.1").stdout)
    assert (verdict["chance_level"], verdict["better_than_chance"]) == (0.1, "yes" if with_rows else "no")
    if with_rows:
        check = run("check", str(rows), "--prompts", "1", "--choices", "50")
        assert "top-5 accuracy accepts several guesses; use --chance" in check.stderr


@pytest.mark.parametrize(("name", "highest", "score"), [("acc", 100, 53), ("acc", 1, 0.53)])
def test_a_score_in_per_cent_is_as_rounded_as_a_share(tmp_path, name, highest, score):
    """525 to 535 of 1,000 correct round to it, and not all of these are better than chance."""
    write_records(sound(4, 60), tmp_path / "in")
    (tmp_path / "in" / "0_samples.jsonl").unlink()
    record = tmp_path / "in" / "0.json"
    content = json.loads(record.read_text())
    (result,) = content["evaluation_results"]
    result["score_details"] = {"score": score, "uncertainty": {"num_samples": 1000}}
    result["metric_config"] = {"metric_name": name, "lower_is_better": False, "max_score": highest}
    record.write_text(json.dumps(content))
    arguments = ["annotate", str(record), "-o", str(tmp_path / "out"), "-t", "1", "--choices", "2", "--json"]
    (verdict,) = json.loads(run(*arguments).stdout)
    assert verdict["better_than_chance"] == "unclear"


@pytest.mark.parametrize(
    ("highest", "score", "examples", "conclusion"),
    [(1, 0.6, 100, "yes"), (100, 60.0, 100, "yes"), (1, 0.5, 1000, "no"), (100, 50.0, 1000, "no")],
)
def test_zeros_at_the_end_that_json_leaves_out_are_digits(tmp_path, highest, score, examples, conclusion):
    write_records(sound(4, 60), tmp_path / "in")
    (tmp_path / "in" / "0_samples.jsonl").unlink()
    record = tmp_path / "in" / "0.json"
    content = json.loads(record.read_text())
    (result,) = content["evaluation_results"]
    result["score_details"] = {"score": score, "uncertainty": {"num_samples": examples}}
    result["metric_config"] = {"metric_name": "acc", "lower_is_better": False, "max_score": highest}
    record.write_text(json.dumps(content))
    arguments = ["annotate", str(record), "-o", str(tmp_path / "out"), "-t", "1", "--choices", "2", "--json"]
    (verdict,) = json.loads(run(*arguments).stdout)
    assert verdict["better_than_chance"] == conclusion


def test_rows_that_are_no_accuracy_get_no_verdict_and_stop_no_other_record(tmp_path):
    path = write_records(sound(4, 30), tmp_path / "in" / "odd")
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    for row in rows:
        row["evaluation"] |= {"score": 0.5}
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    write_records(sound(4, 60), tmp_path / "in" / "usual")
    arguments = ["annotate", str(tmp_path / "in"), "-o", str(tmp_path / "out"), "-t", "1", "--choices", "4"]
    verdicts = json.loads(run(*arguments, "--json").stdout)
    assert sorted("p_value" in verdict for verdict in verdicts) == [False, True]


def test_rows_that_are_no_accuracy_stop_no_other_evaluation_of_a_record(tmp_path):
    path = write_records(sound(4, 30), tmp_path / "in")
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    graded = [
        row | {"evaluation_name": "summaries", "evaluation": row["evaluation"] | {"score": 0.37}}
        for row in rows
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in [*rows, *graded]))
    record = tmp_path / "in" / "0.json"
    content = json.loads(record.read_text())
    (result,) = content["evaluation_results"]
    content["evaluation_results"].append(result | {"evaluation_name": "summaries"})
    record.write_text(json.dumps(content))
    arguments = ["annotate", str(tmp_path / "in"), "-o", str(tmp_path / "out"), "-t", "1", "--choices", "4"]
    verdicts = json.loads(run(*arguments, "--json").stdout)
    reasons = {verdict["task"]: verdict.get("reason") for verdict in verdicts}
    assert reasons["summaries"] == "the rows of samples contain no 0 or 1 for each example of this result"
    assert sum("p_value" in verdict for verdict in verdicts) == 1


def test_records_are_never_overwritten(tmp_path):
    write_records(sound(4, 60), tmp_path)
    completed = run("annotate", str(tmp_path / "0.json"), "-o", str(tmp_path), "-t", "1")
    assert completed.returncode == 1
    assert "use another folder" in completed.stderr
    (tmp_path / "empty").mkdir()
    for name, message in (("no", "there is no such file"), ("empty", "has no aggregate record")):
        assert message in run("annotate", str(tmp_path / name), "-o", "x", "-t", "1").stderr


def test_a_record_without_results_is_told_before_anything_is_written(tmp_path):
    write_records(sound(4, 60), tmp_path)
    rewritten(tmp_path / "0.json", lambda content: content.update(evaluation_results=[]))
    completed = run("annotate", str(tmp_path / "0.json"), "-o", str(tmp_path / "out"), "-t", "1", "-c", "4")
    assert completed.returncode == 1
    assert "0.json: has no results; expected one or more" in completed.stderr
    assert not (tmp_path / "out").exists()


def rewritten(record, change):
    """Write a record after a change of its content in place."""
    content = json.loads(record.read_text())
    change(content)
    record.write_text(json.dumps(content))


def annotated(folder, prompts=1, output="out"):
    """Annotate the records of a folder and return the verdicts and the first record."""
    target = folder.parent / output
    arguments = ["annotate", str(folder), "-o", str(target), "-t", str(prompts), "--choices", "4", "--json"]
    completed = run(*arguments)
    assert completed.returncode == 0, completed.stderr
    return json.loads(completed.stdout), json.loads((target / "0.json").read_text())


def test_records_with_the_same_target_are_an_error(tmp_path):
    for name in ("x", "y"):
        write_records(sound(4, 30), tmp_path / name)
    completed = run(
        "annotate", str(tmp_path / "x"), str(tmp_path / "y"), "-o", str(tmp_path / "out"), "-t", "1"
    )
    assert completed.returncode == 1
    assert (
        f"{tmp_path}/y/0.json: would be written to {tmp_path}/out/0.json, as {tmp_path}/x" in completed.stderr
    )
    assert not (tmp_path / "out").exists()


def test_results_without_an_id_of_their_own_share_no_rows(tmp_path):
    path = write_records(sound(4, 30), tmp_path / "in")
    changed_rows(path, evaluation_result_id=None)

    def second_result(content):
        (result,) = content["evaluation_results"]
        del result["evaluation_result_id"]
        content["evaluation_results"].append(result | {"score_details": {"score": 0.1}})

    rewritten(tmp_path / "in" / "0.json", second_result)
    verdicts, _ = annotated(tmp_path / "in")
    assert {verdict["reason"] for verdict in verdicts} == {
        "several results have the same evaluation_result_id, or none, so the rows may be of any of them"
    }
    # the rows by themselves are one run
    (imported,) = read_runs([path], SINGLE)
    assert imported.reported is None

    def lower(content):
        for result in content["evaluation_results"]:
            result["metric_config"]["lower_is_better"] = True

    rewritten(tmp_path / "in" / "0.json", lower)
    with pytest.raises(InputError, match="is better if it is lower"):
        read_runs([path], SINGLE)


@pytest.mark.parametrize("share", [True, False])
def test_a_score_in_per_cent_is_compared_with_its_rows(tmp_path, share):
    log = sound(4, 40)
    path = write_records(log, tmp_path / "in")
    accuracy = np.mean(np.array(log.predicted) == log.gold)

    def per_cent(content):
        (result,) = content["evaluation_results"]
        result["metric_config"]["max_score"] = 100
        result["score_details"]["score"] = accuracy * (100 if share else 1)

    rewritten(tmp_path / "in" / "0.json", per_cent)
    if share:
        (imported,) = read_runs([path], SINGLE)
        assert imported.reported.accuracy == pytest.approx(accuracy)
        _, record = annotated(tmp_path / "in", 1)
        (result,) = record["evaluation_results"]
        interval = binomtest(round(40 * accuracy), 40).proportion_ci()
        written = result["score_details"]["uncertainty"]["confidence_interval"]
        assert [written["lower"], written["upper"]] == [100 * interval.low, 100 * interval.high]

        def as_before(content):
            (result,) = content["evaluation_results"]
            ends = result["score_details"]["uncertainty"]["confidence_interval"]
            ends |= {name: ends[name] / 100 for name in ("lower", "upper")}
            details = result["score_details"]["details"]
            details["abovechance.interval"] = f"{ends['lower']}; {ends['upper']}"

        _, second_record = annotated(tmp_path / "out", 20, "twice")  # the earlier interval is dropped
        assert "uncertainty" not in second_record["evaluation_results"][0]["score_details"]
        rewritten(tmp_path / "out" / "0.json", as_before)  # also one of an earlier version, in shares
        _, second_record = annotated(tmp_path / "out", 20, "again")
        assert "uncertainty" not in second_record["evaluation_results"][0]["score_details"]
    else:
        with pytest.raises(InputError, match="mean of 0"):
            read_runs([path], SINGLE)


def test_samples_with_several_rows_have_no_verdict(tmp_path):
    path = write_records(sound(4, 30), tmp_path / "in")
    path.write_text(path.read_text() * 2)
    (verdict,), record = annotated(tmp_path / "in")
    assert verdict["reason"] == "samples have several rows each; expected one row per sample"
    assert record == json.loads((tmp_path / "in" / "0.json").read_text())


def test_a_second_verdict_replaces_the_first_and_other_fields_stay(tmp_path):
    write_records(sound(4, 60), tmp_path / "in")

    def own_fields(content):
        details = content["evaluation_results"][0]["score_details"]
        details |= {
            "details": {"note": "mine"},
            "uncertainty": {"num_samples": 7, "standard_error": {"value": 0.1}},
        }

    rewritten(tmp_path / "in" / "0.json", own_fields)
    _, once = annotated(tmp_path / "in", 1)
    uncertainty = once["evaluation_results"][0]["score_details"]["uncertainty"]
    assert uncertainty["num_samples"] == 7
    assert "confidence_interval" in uncertainty
    _, twice = annotated(tmp_path / "out", 20, "twice")
    _, directly = annotated(tmp_path / "in", 20, "directly")
    assert twice == directly
    assert "confidence_interval" not in twice["evaluation_results"][0]["score_details"]["uncertainty"]


@pytest.mark.parametrize("uncertainty", [None, {"num_samples": None}, {"num_samples": 9}])
def test_a_number_of_samples_that_a_verdict_added_goes_with_it(tmp_path, uncertainty):
    write_records(sound(4, 60), tmp_path / "in")

    def own_field(content):
        if uncertainty is not None:
            content["evaluation_results"][0]["score_details"]["uncertainty"] = uncertainty

    rewritten(tmp_path / "in" / "0.json", own_field)
    _, once = annotated(tmp_path / "in", 1)
    expected = (uncertainty or {}).get("num_samples") or 60
    assert once["evaluation_results"][0]["score_details"]["uncertainty"]["num_samples"] == expected
    _, twice = annotated(tmp_path / "out", 20, "twice")
    remainder = twice["evaluation_results"][0]["score_details"].get("uncertainty", {})
    assert remainder.get("num_samples") == (9 if expected == 9 else None)
