"""Records of Every Eval Ever: what is read from their rows, and the verdicts that are added."""

import json

import numpy as np
import pytest
from scipy.stats import binomtest

from abovechance.chance import RandomBaseline
from abovechance.core.errors import InputError
from abovechance.importers import Options, combine, read_runs
from tests.doctor.logs import sound, write_records
from tests.running import run

SINGLE = Options(prompts=1)


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
    (verdict,) = json.loads(run(*arguments).stdout)
    assert "p_value" not in verdict
    (verdict,) = json.loads(run(*arguments, "--choices", "4").stdout)
    assert verdict["p_value"] == pytest.approx(RandomBaseline.from_chance(0.25, 60).tail(30, 5))


def test_records_are_never_overwritten(tmp_path):
    write_records(sound(4, 60), tmp_path)
    completed = run("annotate", str(tmp_path / "0.json"), "-o", str(tmp_path), "-t", "1")
    assert completed.returncode == 1
    assert "use another folder" in completed.stderr
    (tmp_path / "empty").mkdir()
    for name, message in (("no", "there is no such file"), ("empty", "has no aggregate record")):
        assert message in run("annotate", str(tmp_path / name), "-o", "x", "-t", "1").stderr
