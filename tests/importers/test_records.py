"""Every field of a record of Every Eval Ever, and of a log of inspect, has its place in a run."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from abovechance.core.errors import InputError
from abovechance.importers import Options, every_eval_ever, inspect_ai, read_runs
from abovechance.importers.every_eval_ever import aggregate_of, metric_name
from tests.doctor.logs import sound, write_records
from tests.importers.test_importers import (
    change_rows,
    inspect_files,
    inspect_sample,
    write_zstandard_zip,
)


def change(path: Path, **values: Any) -> None:
    """Change the only result of an aggregate record."""
    record = json.loads(path.read_text())
    record["evaluation_results"][0] |= values
    path.write_text(json.dumps(record))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write_records(sound(0, 3), tmp_path)


def test_a_record_as_a_whole(path):
    aggregate = aggregate_of(path)
    details = {"additional_details": {"num_fewshot": "3"}}
    config = json.loads(aggregate.read_text())["evaluation_results"][0]["metric_config"]
    change(aggregate, generation_config=details, metric_config=config | {"metric_name": "accuracy of all"})
    run = next(every_eval_ever.read(path, Options()))
    assert (run.file, run.shots, run.metric, run.metric_name) == (str(path), 3, "acc", "accuracy of all")
    assert run.reported is not None
    assert run.reported.place == f"{aggregate} (acc)"
    assert {*run.rows} == {
        *("example", "predicted", "correct", "tie", "chance", "recorded", "choices", "right"),
        *("question", "context", "output", "answer"),
    }
    aggregate.unlink()
    run = next(every_eval_ever.read(path, Options()))
    assert (run.shots, run.metric_name, run.reported) == (0, "", None)


@pytest.mark.parametrize(
    ("given_row", "output"),
    [
        ({"output": {"raw": ["first", "last"]}}, "last"),
        ({"output": {"raw": ["a choice"]}, "input": {"choices": ["a choice"]}}, None),
        ({"output": {"raw": []}, "messages": [{"role": "assistant", "content": "said"}]}, "said"),
        (
            {
                "output": None,
                "messages": [
                    {"role": "assistant", "content": "first"},
                    {"role": "assistant", "content": "second"},
                    {"role": "user", "content": "asked"},
                ],
            },
            "second",
        ),
        ({"output": None, "messages": None, "input": None}, None),
    ],
)
def test_the_output_of_a_row_is_the_last_text_of_the_model(path, given_row, output):
    change_rows(path, lambda place, row: [row | given_row])
    aggregate_of(path).unlink()
    run = next(every_eval_ever.read(path, Options()))
    assert run.rows["output"].tolist() == [output] * 3


def test_the_context_is_the_question_if_the_prompt_is_unknown(path):
    change_rows(
        path, lambda place, row: [row | {"input": row["input"] | {"formatted": None, "raw": f"Q{place}"}}]
    )
    run = next(every_eval_ever.read(path, Options()))
    assert run.rows["context"].tolist() == run.rows["question"].tolist() == ["Q0", "Q1", "Q2"]


def test_free_answers_have_no_choices(path):
    change_rows(path, lambda place, row: [row | {"input": {"reference": ["a", "b"], "choices": ["a", "b"]}}])
    assert next(every_eval_ever.read(path, Options())).rows["choices"].isna().all()
    change_rows(path, lambda place, row: [row | {"input": {"reference": ["a"], "choices": ["a"]}}])
    assert next(every_eval_ever.read(path, Options())).rows["choices"].isna().all()


def test_what_is_wrong_in_a_record_is_told_with_its_place(path):
    aggregate = aggregate_of(path)
    whole, rows = aggregate.read_text(), path.read_text()
    for values, message in (
        ({"generation_config": [1]}, "is not as Every Eval Ever writes it"),
        ({"generation_config": {"additional_details": {"num_fewshot": "-1"}}}, "has -1 shots"),
    ):
        change(aggregate, **values)
        with pytest.raises(InputError, match=message) as error:
            read_runs([path], Options())
        assert str(error.value).startswith((f"{aggregate}: ", f"{path}: "))
        aggregate.write_text(whole)
    aggregate.write_text('{"evaluation_results": [1]}')
    with pytest.raises(InputError) as error:
        read_runs([path], Options())
    assert str(error.value).startswith(f"{aggregate}: is not as Every Eval Ever writes it")
    aggregate.write_text(whole)
    for changed, message in (
        ({"model_id": None}, "row 1: lacks 'model_id'; expected a log as Every Eval Ever writes it"),
        ({"input": [1]}, "row 1: is not as Every Eval Ever writes it"),
        ({"metadata": [1]}, "row 1: is not as Every Eval Ever writes it"),
    ):

        def changed_row(place, row, changed=changed):
            row = row | changed
            return [{name: value for name, value in row.items() if name != "model_id" or value}]

        change_rows(path, changed_row)
        with pytest.raises(InputError) as error:
            read_runs([path], Options())
        assert str(error.value).startswith(f"{path}, {message}")
        path.write_text(rows)


@pytest.mark.parametrize(
    ("score", "reported"), [(0.0, 0.0), (1.0, 1.0), (1.5, None), (-0.5, None), (None, None)]
)
def test_a_reported_score_is_a_share(path, score, reported):
    change(aggregate_of(path), score_details={"score": score})
    if reported is not None:

        def all_alike(place, row):
            evaluation = {"score": reported, "is_correct": reported == 1}
            return [row | {"evaluation": evaluation, "answer_attribution": []}]

        change_rows(path, all_alike)
    run = next(every_eval_ever.read(path, Options()))
    assert (None if run.reported is None else run.reported.accuracy) == reported


def test_another_score_than_the_share_of_correct_rows_is_suspicious_unless_its_name_says_so(path):
    aggregate = aggregate_of(path)
    config = json.loads(aggregate.read_text())["evaluation_results"][0]["metric_config"]
    for name, suspicions in (("quality", 1), ("f1_macro", 0)):
        change(aggregate, metric_config=config | {"metric_name": name}, score_details={"score": 0.2})
        run = next(every_eval_ever.read(path, Options()))
        assert run.reported is None
        assert len(run.suspicions) == suspicions
        assert "the recorded score of acc (0.2) is not the share of correct rows" in run.notes[-1]


@pytest.mark.parametrize(
    ("result", "name"),
    [
        ({"evaluation_result_id": "task/em", "metric_config": {}}, "em"),
        ({"evaluation_result_id": None, "metric_config": {}}, "accuracy"),
        ({"metric_config": {"metric_name": "mine"}}, "mine"),
    ],
)
def test_the_name_of_a_metric(result, name):
    assert metric_name(result) == name


def test_results_that_are_left_out_are_told_with_their_reason(path):
    def with_another(place, row):
        quality = {"evaluation_name": "other", "evaluation": {"score": 0.5, "is_correct": False}}
        return [row, row | quality]

    change_rows(path, with_another)
    (run,) = every_eval_ever.read(path, Options())
    reason = f"{path}, row 2: acc is 0.5; expected a score of 0 or 1"
    assert run.notes[-1] == f"left out: {reason} (other)"
    (run,) = every_eval_ever.read(path, Options(command="doctor"))
    (suspicion,) = run.suspicions
    assert (
        suspicion.evidence
        == "other in the same file is left out: row 2: acc is 0.5; expected a score of 0 or 1"
    )


def test_samples_with_an_error_have_no_gap_behind_them(path):
    change_rows(path, lambda place, row: [row | ({"error": "timeout"} if place == 0 else {})])
    values = [json.loads(line)["evaluation"]["score"] for line in path.read_text().splitlines()]
    change(aggregate_of(path), score_details={"score": float(np.mean(values))})
    run = next(every_eval_ever.read(path, Options()))
    assert (run.unscored, len(run.rows)) == (0, 3)


# --- inspect -------------------------------------------------------------------------------------


def log_of(samples: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    return inspect_files([])["header.json"] | {"samples": samples} | more


def runs(log: dict[str, Any], **options: Any) -> list[Any]:
    return [*inspect_ai.runs_of(log, log["samples"], Path("log.json"), Options(**options))]


def test_a_log_of_inspect_as_a_whole():
    sample = inspect_sample(0, "C", answer="B") | {
        "input": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": [{"text": "Which?"}]},
        ],
        "messages": [
            {"role": "system", "content": "Be brief."},
            {
                "role": "user",
                "content": [{"type": "text", "text": "Which?"}, {"type": "text", "text": "A or B"}],
            },
            {"role": "assistant", "content": "B"},
        ],
        "output": {"choices": [{"message": {"content": "I say B"}, "stop_reason": "max_tokens"}]},
    }
    (run,) = runs(log_of([sample]))
    (row,) = run.rows.to_dict("records")
    assert (run.file, run.model, run.task, run.shots, run.metric) == (
        "log.json",
        "hf/model",
        "sums",
        2,
        "choice",
    )
    assert row == {
        "example": "0",
        "predicted": 1,
        "correct": True,
        "tie": False,
        "chance": pytest.approx(1 / 3),
        "recorded": 1.0,
        "choices": ["a", "b", "c"],
        "right": [False, True, False],
        "question": "Be brief.\nWhich?",
        "context": "Be brief.\nWhich?\nA or B",
        "output": "I say B",
        "truncated": False,
        "cut_off": True,
        "answer": "B",
        "target": "B",
    }


@pytest.mark.parametrize(
    ("content", "question"),
    [
        ([{"type": "text", "text": "Which?"}], "Which?"),
        ([{"text": "Which?"}, {"type": "text", "text": "One"}], "Which?\nOne"),
        ([{"type": "image", "image": "x.png"}, {"type": "text", "text": "Which?"}], None),
        ("Which?", "Which?"),
        ([], None),
    ],
)
def test_a_question_with_an_image_is_no_text(content, question):
    (run,) = runs(log_of([inspect_sample(0, "C") | {"input": [{"role": "user", "content": content}]}]))
    value = run.rows["question"].iloc[0]
    assert (value or None) == question


@pytest.mark.parametrize(("reason", "columns"), [("model_length", (True, False)), ("stop", (False, False))])
def test_why_an_output_ended(reason, columns):
    output = {"choices": [{"message": {"content": "x"}, "stop_reason": reason}]}
    (run,) = runs(log_of([inspect_sample(0, "C") | {"output": output}]))
    assert (run.rows["truncated"].iloc[0], run.rows["cut_off"].iloc[0]) == columns
    (run,) = runs(log_of([inspect_sample(0, "C") | {"output": {}}]))
    assert run.rows["truncated"].iloc[0] is None
    assert run.rows["cut_off"].iloc[0] is None


def test_samples_that_early_stopping_left_out_are_told():
    stopping = {"manager": "InOrder", "early_stops": [{}, {}]}
    results = {"early_stopping": stopping, "total_samples": 4, "completed_samples": 2}
    samples = [inspect_sample(place, "C") for place in range(2)]
    (run,) = runs(log_of(samples, results=results))
    assert run.notes[-1] == (
        "log.json: InOrder stopped the evaluation early, so 2 samples were not run; tests and intervals "
        "assume that the number of samples is independent of the scores"
    )
    assert run.unscored == 0
    (run,) = runs(
        log_of([inspect_sample(place, "C") for place in range(2)], results=results | {"early_stopping": {}})
    )
    assert not any("stopped" in note for note in run.notes)
    assert run.unscored == 2


@pytest.mark.parametrize(
    ("unscored", "severity"), [(1, None), (2, "suspicious"), (19, "suspicious"), (20, "grave")]
)
def test_epochs_without_scores_are_suspicious(unscored, severity):
    scored = [inspect_sample(place, "C" if place % 2 else "I") for place in range(100 - unscored)]
    empty_ones = [inspect_sample(place, "none", epoch=2 + place % 2) for place in range(unscored)]
    run = runs(log_of([*scored, *empty_ones]), command="doctor")[0]
    found_ones = [sign for sign in run.suspicions if sign.check == "missing-examples"]
    assert [sign.severity for sign in found_ones] == ([severity] if severity else [])
    if severity:
        epochs = "2" if unscored == 1 else "2, 3"
        evidence = f"{unscored} of 100 examples ({unscored} %) have no score: all of epoch {epochs}"
        assert found_ones[0].evidence == evidence
        assert found_ones[0].cause == "the epoch may have failed"


def test_epochs_of_samples_that_do_not_say_theirs():
    samples = [inspect_sample(place, "C") for place in range(3)]
    for sample in samples:
        del sample["epoch"]
    (run,) = runs(log_of(samples))
    assert len(run.rows) == 3
    assert not any("epochs" in note for note in run.notes)
    with pytest.raises(InputError, match=r"^log.json: no sample of epoch 2 has a score$"):
        runs(log_of(samples), epoch=2)


@pytest.mark.parametrize(
    ("sample", "message"),
    [
        (3, "log.json, sample 0: has no id"),
        ({"epoch": 1}, "log.json, sample 0: has no id"),
        ({"id": 1, "epoch": "a" * 60}, f"log.json, sample 0: epoch is '{'a' * 39}; expected a number"),
    ],
)
def test_samples_that_are_none(sample, message):
    with pytest.raises(InputError) as error:
        runs(log_of([sample]))
    assert str(error.value).startswith(message)


def test_several_targets_ask_for_the_chance():
    sample = inspect_sample(0, "C") | {"target": "A"}
    (run,) = runs(log_of([sample, inspect_sample(1, "I") | {"target": ["A", "B"]}]))
    assert run.rows["chance"].isna().all()
    assert run.notes[-1].endswith(
        "several choices can be correct, and all of them must be marked; the log does not say how probable "
        "it is to guess them"
    )
    (run,) = runs(log_of([sample | {"target": "A,C"}]))
    assert run.rows["chance"].isna().all()
    (run,) = runs(log_of([sample | {"target": "a"}]))
    assert run.rows["right"].iloc[0] == [True, False, False]


def test_a_header_may_say_little():
    log = log_of([inspect_sample(0, "C")])
    log["eval"] = {"model": None, "task": "org/inner/sums"}
    (run,) = runs(log)
    assert (run.model, run.task, run.shots) == ("model", "sums", 0)


def test_the_accuracy_of_a_header_is_that_of_its_scorer():
    scores = [
        {"name": "other", "scorer": "other", "metrics": {"accuracy": {"value": 0.25}}},
        {"name": "choice", "scorer": "choice", "metrics": {"accuracy": {"value": 1.0}}},
    ]
    (run,) = runs(log_of([inspect_sample(0, "C")], results={"scores": scores}))
    assert run.reported is not None
    assert run.reported.accuracy == 1.0
    keyed = [inspect_sample(0, {"form": "C"})]
    scores = [{"name": "form", "scorer": "choice", "metrics": {"accuracy": {"value": 0.5}}}]
    (run,) = runs(log_of(keyed, results={"scores": scores}))
    assert run.reported is not None
    assert (run.metric, run.reported.accuracy) == ("choice/form", 0.5)
    entries = [
        {"name": name, "scorer": owner, "metrics": {"accuracy": {"value": value}}}
        for name, owner, value in (
            ("choice", "multi", 0.5),
            ("choice", "choice", 1.0),
            ("choice1", "choice", 0.25),
        )
    ]
    (run,) = runs(log_of([inspect_sample(0, "C")], results={"scores": entries}))
    assert run.reported is not None
    assert run.reported.accuracy == 1.0
    second = inspect_sample(0, "I")
    second["scores"]["choice1"] = second["scores"].pop("choice")
    (run,) = runs(log_of([second], results={"scores": entries}))
    assert run.reported is not None
    assert run.reported.accuracy == 0.25


def test_a_very_long_context_is_left_out():
    answer = {"role": "assistant", "content": "B"}
    for length, is_known in ((100_000, True), (100_001, False), (1, True)):
        messages = [{"role": "user", "content": "x" * length}, answer]
        (run,) = runs(log_of([inspect_sample(0, "C") | {"messages": messages}]))
        assert (run.rows["context"].iloc[0] is not None) == is_known
    (run,) = runs(log_of([inspect_sample(0, "C") | {"messages": [answer]}]))
    assert run.rows["context"].iloc[0] is None


def test_a_scorer_that_does_not_grade_the_answer_has_no_known_chance():
    """As one of the form of an answer: the answer equals the target where it says wrong, or it has none."""
    samples = []
    for place in range(6):
        sample = inspect_sample(place, "C" if place % 2 else "I", answer="B" if place % 2 else "A")
        form = {"value": 1, "answer": sample["scores"]["choice"]["answer"]}
        samples.append(sample | {"scores": sample["scores"] | {"form": form, "length": {"value": 1}}})
    for scorer, is_known in (("choice", True), ("form", False), ("length", False)):
        (run,) = runs(log_of(samples), metric=scorer)
        assert run.rows["chance"].notna().all() == is_known
        assert run.is_of_choice == is_known
        assert any(f"{scorer} need not say whether" in note for note in run.notes) == (not is_known)
    for sample in samples:
        sample["scores"]["graded"] = sample["scores"]["choice"]
    (run,) = runs(log_of(samples), metric="graded")
    assert run.rows["chance"].tolist() == pytest.approx([1 / 3] * 6)


def test_a_solver_that_asks_for_all_correct_choices_has_no_known_chance():
    steps = {"steps": [{"solver": "multiple_choice", "params": {"multiple_correct": True}}]}
    (run,) = runs(log_of([inspect_sample(0, "C")], plan=steps))
    assert run.rows["chance"].isna().all()
    assert "several choices can be correct" in run.notes[-1]


def test_a_target_may_be_a_list_of_one_letter():
    (run,) = runs(log_of([inspect_sample(0, "C") | {"target": ["B"]}]))
    assert run.rows["right"].iloc[0] == [False, True, False]


def test_a_sample_of_the_first_version_has_one_score():
    sample = inspect_sample(0, "C")
    sample["score"] = sample.pop("scores")["choice"]
    (run,) = runs(log_of([sample]))
    assert (run.metric, run.rows["correct"].tolist()) == ("score", [True])


def test_a_log_that_is_not_finished_is_left_out_of_a_folder(tmp_path):
    write_zstandard_zip(tmp_path / "a.eval", {"_journal/start.json": {}})
    write_zstandard_zip(tmp_path / "b.eval", inspect_files([inspect_sample(0, "C"), inspect_sample(1, "I")]))
    (run,) = read_runs([tmp_path], Options())
    assert run.file.endswith("b.eval")
    assert any("a.eval: has no header.json" in note for note in run.notes)


@pytest.mark.parametrize(
    ("scorer", "answer", "is_known"),
    [
        ("model_graded_qa", "I say the second.", True),
        ("inspect_evals/includes", "ANSWER: B", False),
        ("choice1", None, True),
        ("mine", "b", True),  # by its letter
        ("mine", "beta", True),  # by its text
        ("mine", "I say the second.", False),
        ("mine", None, False),
    ],
)
def test_scorers_of_answers_keep_the_chance(scorer, answer, is_known):
    samples = []
    for place in range(4):
        sample = inspect_sample(place, "C") | {"choices": ["alpha", "beta", "gamma"]}
        samples.append(sample | {"scores": {scorer: {"value": "C", "answer": answer}}})
    (run,) = runs(log_of(samples))
    assert run.rows["chance"].notna().all() == is_known


def test_a_key_that_agrees_with_all_answers_is_about_the_answer():
    samples = [
        inspect_sample(
            place, {"correct": "C" if place % 2 else "I", "form": "C"}, answer="B" if place % 2 else "A"
        )
        for place in range(6)
    ]
    for key, is_known in (("correct", True), ("form", False)):
        (run,) = runs(log_of(samples), metric=f"choice/{key}")
        assert run.rows["chance"].notna().all() == is_known
        assert run.rows["right"].notna().all()  # the data are examined, whatever the scorer


def test_reduced_epochs_may_lack_a_sample_of_the_first(path):
    whole = next(every_eval_ever.read(path, Options()))

    def in_epochs(place, row):
        epochs = (2, 3) if place == 0 else (1, 2, 3)
        return [row | {"metadata": {"epoch": str(epoch)}} for epoch in epochs]

    change_rows(path, in_epochs)
    run = next(every_eval_ever.read(path, Options()))
    assert sorted(run.rows["example"]) == sorted(whole.rows["example"])
    assert len(read_runs([path], Options(chance=0.2))) == 1


def test_a_small_letter_names_a_choice_only_if_there_are_choices():
    sample = inspect_sample(0, "C", answer="i")
    del sample["choices"]
    (run,) = runs(log_of([sample]))
    assert run.rows["predicted"].tolist() == [-1]


def guesses(count: int = 40) -> list[tuple[str, str]]:
    """Target and guess of each example, random letters of four choices."""
    generator = np.random.default_rng(5)
    return [("ABCD"[place % 4], "ABCD"[generator.integers(4)]) for place in range(count)]


@pytest.mark.parametrize(
    ("scorer", "options", "is_known"),
    [
        ("includes", {}, False),
        ("match", {"location": "any"}, False),
        ("match", {"location": "end"}, True),
        ("match", {}, True),
        ("pass@1", {}, True),
    ],
)
def test_a_letter_that_may_stand_anywhere_is_no_choice(scorer, options, is_known):
    """The letter A is in every text that begins with 'ANSWER'."""
    samples = []
    for place, (target, guess) in enumerate(guesses()):
        sample = inspect_sample(place, "C" if guess == target or target == "A" else "I")
        sample |= {"choices": ["alpha", "beta", "gamma", "delta"], "target": target}
        value = sample["scores"].popitem()[1]["value"]
        samples.append(sample | {"scores": {scorer: {"value": value, "answer": f"ANSWER: {guess}"}}})
    log = log_of(samples)
    log["eval"] = (log.get("eval") or {}) | {"scorers": [{"name": scorer, "options": options}]}
    (run,) = runs(log)
    assert run.rows["chance"].notna().all() == is_known
    assert run.is_of_choice == is_known


def test_one_answer_that_agrees_does_not_show_what_a_scorer_grades():
    samples = []
    for place in range(20):
        sample = inspect_sample(place, "C") | {"choices": ["alpha", "beta"], "target": "B"}
        answer = "B" if place < 1 else "because it is so"
        samples.append(sample | {"scores": {"explained": {"value": "C", "answer": answer}}})
    assert not runs(log_of(samples))[0].is_of_choice


@pytest.mark.parametrize(
    ("locations", "is_known"), [(["end", "any"], [True, False]), (["any", "end"], [False, True])]
)
def test_each_of_two_scorers_of_a_name_has_its_location(locations, is_known):
    samples = []
    for place in range(4):
        sample = inspect_sample(place, "C") | {"choices": ["alpha", "beta"], "target": "B"}
        score = {"value": "C", "answer": "ANSWER: B"}
        samples.append(sample | {"scores": {"match": score, "match1": score}})
    log = log_of(samples)
    scorers = [{"name": "inspect_ai/match", "options": {"location": location}} for location in locations]
    log["eval"] = (log.get("eval") or {}) | {"scorers": scorers}
    for name, expected in zip(("match", "match1"), is_known, strict=True):
        assert runs(log, metric=name)[0].is_of_choice == expected


@pytest.mark.parametrize("second", ["match1", "match-1"])
def test_a_scorer_that_was_added_later_has_its_options_among_the_results(second):
    samples = []
    for place in range(4):
        sample = inspect_sample(place, "C") | {"choices": ["alpha", "beta"], "target": "B"}
        score = {"value": "C", "answer": "The answer cannot be told"}
        samples.append(sample | {"scores": {"match": score, second: score}})
    log = log_of(samples)
    log["eval"] = (log.get("eval") or {}) | {"scorers": [{"name": "match", "options": {"location": "end"}}]}
    listed = [
        {"name": "match", "scorer": "match", "params": {"location": "end"}},
        {"name": "match1", "scorer": "match", "params": {"location": "any"}},
    ]
    if second == "match-1":  # older versions listed the last scorer only, with the name of the first one
        listed = [listed[1] | {"name": "match"}]
    log["results"] = (log.get("results") or {}) | {"scores": listed}
    assert not runs(log, metric=second)[0].is_of_choice
    assert runs(log, metric="match")[0].is_of_choice == (second == "match1")  # in doubt, it may be anywhere


def test_wrong_answers_need_not_name_a_choice():
    samples = []
    for place in range(10):
        sample = inspect_sample(place, "C") | {"choices": ["alpha", "beta"], "target": "B"}
        value, answer = ("C", "B") if place < 2 else ("I", "I do not know")
        samples.append(sample | {"scores": {"mine": {"value": value, "answer": answer}}})
    (run,) = runs(log_of(samples))
    assert (run.is_of_choice, run.rows["chance"].tolist()) == (True, [0.5] * 10)


def test_no_answer_is_no_choice_without_a_text():
    samples = []
    for place in range(20):
        sample = inspect_sample(place, "C") | {"choices": ["alpha", "beta", "gamma", ""], "target": "B"}
        value, answer = ("I", None) if place % 2 else ("C", "free text")
        samples.append(sample | {"scores": {"mine": {"value": value, "answer": answer}}})
    (run,) = runs(log_of(samples))
    assert not run.is_of_choice
    assert run.rows["predicted"].tolist() == [-1] * 20


def test_a_key_that_is_not_about_the_answer_is_not_held_against_it():
    samples = []
    for place in range(20):
        sample = inspect_sample(place, "C") | {"target": "paris"}
        score = {"value": {"correct": "C", "refused": 0}, "answer": "paris"}
        samples.append(sample | {"scores": {"sc": score}})
    log = log_of([inspect_ai._needed(sample) for sample in samples])
    by_metric = {run.metric: run for run in runs(log, command="doctor")}
    assert "answer" not in by_metric["sc/refused"].rows
    assert by_metric["sc/correct"].rows["answer"].tolist() == ["paris"] * 20


def test_one_sample_with_two_epochs_does_not_show_that_all_are_reduced(path):
    change_rows(
        path,
        lambda place, row: [
            row | {"metadata": {"epoch": epoch}} for epoch in (1, 2) if place == 1 or epoch == 1
        ],
    )
    (run,) = every_eval_ever.read(path, Options())
    assert run.rows["chance"].notna().all()


def test_reduced_epochs_may_have_a_sample_with_one_epoch(path):
    change_rows(
        path,
        lambda place, row: [
            row | {"metadata": {"epoch": epoch}} for epoch in range(1, 4) if place != 1 or epoch == 1
        ],
    )
    (run,) = every_eval_ever.read(path, Options())
    assert run.rows["chance"].isna().all()


def test_a_metric_of_a_record_that_is_not_about_the_choice_has_no_known_chance(tmp_path):
    path = write_records(sound(0, 40), tmp_path)
    config = json.loads(aggregate_of(path).read_text())["evaluation_results"][0]["metric_config"]
    change(aggregate_of(path), metric_config=config | {"metric_name": "well_formed"})
    (run,) = every_eval_ever.read(path, Options())
    assert (run.is_of_choice, run.rows["chance"].notna().all()) == (True, True)  # answers agree with it

    def by_letter(place: int, row: dict[str, Any]) -> list[dict[str, Any]]:
        choices, last = row["input"]["choices"], row["answer_attribution"][-1]
        letter = "ABCDEFGH"[choices.index(last["extracted_value"])]
        return [row | {"answer_attribution": [last | {"extracted_value": letter}]}]

    change_rows(path, by_letter)
    (run,) = every_eval_ever.read(path, Options())
    assert (run.is_of_choice, run.rows["chance"].notna().all()) == (True, True)

    def without_wrong(place: int, row: dict[str, Any]) -> list[dict[str, Any]]:
        return [row if row["evaluation"]["is_correct"] else row | {"answer_attribution": []}]

    change_rows(path, without_wrong)  # wrong answers need not name a choice
    (run,) = every_eval_ever.read(path, Options())
    assert (run.is_of_choice, run.rows["chance"].notna().all()) == (True, True)
    change_rows(path, lambda place, row: [row | {"answer_attribution": []}])
    (run,) = every_eval_ever.read(path, Options())
    assert (run.is_of_choice, run.rows["chance"].isna().all()) == (False, True)
    assert [note for note in run.notes if "well_formed" in note]
    change(aggregate_of(path), metric_config=config)
    (run,) = every_eval_ever.read(path, Options())
    assert run.is_of_choice


def test_letters_that_agree_with_a_metric_by_chance_do_not_show_what_it_is(tmp_path):
    """The metric says whether the format was followed, and the model is mostly right."""
    path = write_records(sound(0, 40), tmp_path)
    config = json.loads(aggregate_of(path).read_text())["evaluation_results"][0]["metric_config"]
    change(aggregate_of(path), metric_config=config | {"metric_name": "format_followed"})

    def of_letters(place: int, row: dict[str, Any]) -> list[dict[str, Any]]:
        choices, last = row["input"]["choices"], row["answer_attribution"][-1]
        reference = "ABCDEFGH"[choices.index(row["input"]["reference"][0])]
        letter = "ABCDEFGH"[place % 2 * (choices.index(row["input"]["reference"][0]) == 0)]
        return [
            row
            | {"answer_attribution": [last | {"extracted_value": reference if place % 4 else letter}]}
            | {"input": row["input"] | {"reference": [reference]}}
            | {"evaluation": row["evaluation"] | {"is_correct": place % 9 > 0, "score": float(place % 9 > 0)}}
        ]

    change_rows(path, of_letters)
    (run,) = every_eval_ever.read(path, Options())
    assert (run.is_of_choice, run.rows["chance"].isna().all()) == (False, True)


@pytest.mark.parametrize("scorers", [["includes"], ["choice"], ["choice1", "answer"], ["choice", "includes"]])
@pytest.mark.parametrize("answers", [True, False])
def test_results_of_the_converter_of_inspect_are_those_of_its_rows(tmp_path, scorers, answers):
    path = write_records(sound(0, 40), tmp_path)

    def of_converter(place: int, row: dict[str, Any]) -> list[dict[str, Any]]:
        row = {key: value for key, value in row.items() if key != "evaluation_result_id"}
        return [row if answers else row | {"answer_attribution": []}]

    change_rows(path, of_converter)
    task = json.loads(path.read_text().splitlines()[0])["evaluation_name"]
    record = json.loads(aggregate_of(path).read_text())
    (result,) = record["evaluation_results"]
    score = result["score_details"]["score"]
    record["evaluation_results"] = [
        {
            "evaluation_name": f"{metric} on {task} for scorer {scorer}",
            "metric_config": {"evaluation_description": metric, "lower_is_better": False},
            "score_details": {"score": score if metric == "accuracy" else 0.1},
        }
        for scorer in scorers
        for metric in ("accuracy", "std")
    ]
    aggregate_of(path).write_text(json.dumps(record))
    (run,) = every_eval_ever.read(path, Options())
    is_known = answers or "includes" not in scorers  # else answers show it
    assert (run.is_of_choice, run.rows["chance"].notna().all()) == (is_known, is_known)
    assert (run.metric_name, run.reported is None) == (", ".join(scorers), len(scorers) > 1)


def test_rows_are_not_compared_with_the_accuracy_of_another_scorer_of_inspect(tmp_path):
    path = write_records(sound(0, 40), tmp_path)
    change_rows(path, lambda place, row: [row | {"evaluation_result_id": None}])
    task = json.loads(path.read_text().splitlines()[0])["evaluation_name"]
    record = json.loads(aggregate_of(path).read_text())
    record["evaluation_results"] = [
        {
            "evaluation_name": f"{metric} on {task} for scorer {scorer}",
            "evaluation_result_id": None,
            "metric_config": {"lower_is_better": False, "metric_name": None},
            "score_details": {"score": 0.99},
        }
        for metric, scorer in (("mean", "rubric"), ("accuracy", "choice"))
    ]
    aggregate_of(path).write_text(json.dumps(record))
    (run,) = every_eval_ever.read(path, Options())
    assert (run.metric_name, run.reported) == ("rubric, choice", None)
    record["evaluation_results"] = record["evaluation_results"][:1]
    aggregate_of(path).write_text(json.dumps(record))
    (run,) = every_eval_ever.read(path, Options())
    assert (run.metric_name, run.reported) == ("rubric", None)


def test_a_metric_may_have_a_comma_in_its_name(tmp_path):
    path = write_records(sound(0, 40), tmp_path)
    change_rows(path, lambda place, row: [row | {"answer_attribution": []}])
    config = json.loads(aggregate_of(path).read_text())["evaluation_results"][0]["metric_config"]
    change(aggregate_of(path), metric_config=config | {"metric_name": "pass@1, temperature 0.2"})
    (run,) = every_eval_ever.read(path, Options())
    assert run.is_of_choice
