"""The signs of broken logs: each injected fault is reported, and sound logs are not."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from abovechance.cli import app
from abovechance.core.errors import InputError
from abovechance.doctor import examine
from abovechance.doctor.answers import Answers, check_answers
from abovechance.importers import Options, diagnose, read_runs
from tests.doctor.logs import FAULTS, WRITERS, sound, write_choices, write_csv, write_inspect, write_texts
from tests.running import run

DOCTOR = Options(command="doctor")
CASES = [(name, writer) for name, fault in FAULTS.items() for writer in fault.writers]


def alarms(*paths):
    """The checks that raise an alarm on these results."""
    diagnoses, _ = diagnose([*paths], DOCTOR)
    return {sign.suspicion.check for sign in diagnoses if sign.suspicion.severity != "note"}


@pytest.mark.parametrize(("name", "writer"), CASES)
def test_an_injected_fault_is_reported(name, writer, tmp_path):
    fault = FAULTS[name]
    for number, log in enumerate(fault.inject(7)):
        WRITERS[writer](log, tmp_path / str(number))
    assert fault.check in alarms(tmp_path)


@pytest.mark.parametrize("writer", WRITERS)
def test_sound_logs_of_two_models_raise_no_alarm(writer, tmp_path):
    for seed in range(100, 104):
        first = sound(seed)
        WRITERS[writer](first, tmp_path / str(seed) / "a")
        scores = np.random.default_rng(seed).normal(size=(len(first.gold), len(first.choices[0]))) - 9
        letters = ["ABCDE"[place] for place in scores.argmax(axis=1)]
        outputs = [f"{output} No, {letter}." for output, letter in zip(first.outputs, letters, strict=True)]
        second = replace(first, scores=scores.tolist(), answers=letters, outputs=outputs, model="org/second")
        WRITERS[writer](second, tmp_path / str(seed) / "b")
        assert alarms(tmp_path / str(seed)) == set()


def test_a_grave_sign_is_mentioned_by_the_other_commands(tmp_path):
    (log,) = FAULTS["every score is 0"].inject(1)
    broken, good = write_choices(log, tmp_path / "a"), write_choices(sound(3), tmp_path / "b")
    for command in (["check", "--prompts", "1"], ["compare", str(broken)]):
        completed = CliRunner().invoke(app, [*command, str(broken if command[0] == "check" else good)])
        assert "looks broken: all choices have the same score in 100 of 100 examples" in completed.stderr
    (run,) = read_runs([good], Options(prompts=1))
    assert not any("looks broken" in note for note in run.notes)
    assert not {"question", "context", "output"} & {*run.rows}


def test_the_command_lists_signs_and_its_status_says_whether_there_are_any(tmp_path):
    (log,) = FAULTS["a filter that extracts nothing"].inject(2)
    write_texts(log, tmp_path / "a")
    completed = CliRunner().invoke(app, ["doctor", str(tmp_path)])
    assert completed.exit_code == 1
    assert completed.stdout.startswith("1 result checked: 1 grave")
    assert "no answer was found in the output of 100 of 100 examples (100 %)" in completed.stdout
    report = json.loads(CliRunner().invoke(app, ["doctor", str(tmp_path), "--json"]).stdout)
    assert report["results"] == 1
    assert report["suspicions"][0]["check"] == "no-answer-extracted"
    good = write_csv(sound(5), tmp_path / "b")
    completed = CliRunner().invoke(app, ["doctor", str(good)])
    assert (completed.exit_code, completed.stdout) == (0, "1 result checked: nothing suspicious.\n")


def test_damaged_files_are_signs_and_the_others_are_still_read(tmp_path):
    path = write_inspect(sound(1, 40), tmp_path / "a")
    path.write_text(path.read_text().replace('"success"', '"error"'))
    write_choices(sound(2, 40), tmp_path / "b")
    diagnoses, runs = diagnose([tmp_path], DOCTOR)
    assert runs == 1
    assert [
        (sign.file, sign.suspicion.check) for sign in diagnoses if sign.suspicion.severity == "grave"
    ] == [(str(path), "unreadable")]
    assert "its status is 'error'" in diagnoses[0].suspicion.evidence


def test_what_is_wrong_in_a_file_does_not_repeat_its_name(tmp_path):
    (tmp_path / "samples_t_2026.jsonl").write_text('{"a": 1}\n')
    (sign,), _ = diagnose([tmp_path], DOCTOR)
    assert sign.suspicion.evidence.startswith("row 1: has no 'doc_id'")


def test_metrics_that_are_no_flags_are_a_note(tmp_path):
    path = write_texts(sound(1, 40), tmp_path)
    path.write_text(path.read_text().replace('"exact_match": 1.0', '"exact_match": 0.7'))
    (sign,), _ = diagnose([path], DOCTOR)
    assert (sign.suspicion.check, sign.suspicion.severity) == ("not-checked", "note")


def test_a_log_without_flags_is_not_called_damaged(tmp_path):
    path = write_texts(sound(1, 40), tmp_path)
    path.write_text(path.read_text().replace('"exact_match": 1.0', '"word_perplexity": [-51.2, 50]'))
    path.write_text(path.read_text().replace('"exact_match": 0.0', '"word_perplexity": [-9.8, 11]'))
    path.write_text(path.read_text().replace('["exact_match"]', '["word_perplexity"]'))
    (sign,), _ = diagnose([path], DOCTOR)
    assert (sign.suspicion.check, sign.suspicion.severity) == ("not-checked", "note")
    assert sign.suspicion.evidence == (
        "row 1: has the metrics word_perplexity; expected one that is 0 or 1 for each example"
    )
    with pytest.raises(InputError, match="row 1: has no metric 'acc'"):
        diagnose([path], replace(DOCTOR, metric="acc"))


def test_all_filters_and_scorers_of_a_log_are_checked(tmp_path):
    (log,) = FAULTS["a filter that extracts nothing"].inject(2)
    path = write_texts(replace(log, answers=["A"] * 50 + ["B"] * 50), tmp_path)
    strict = [json.loads(line) for line in path.read_text().splitlines()]
    loose = [
        row | {"filter": "flexible", "filtered_resps": ["[invalid]"], "exact_match": 0.0} for row in strict
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in strict + loose))
    (tmp_path / next(tmp_path.glob("results_*.json"))).unlink()
    assert "no-answer-extracted" in alarms(path)


def test_the_agreement_under_permutations_has_the_stated_mean_and_deviation():
    # random permutations of the gold labels against the closed form
    random = np.random.default_rng(0)
    gold, predicted = random.choice(3, 60, p=[0.5, 0.3, 0.2]), random.choice(3, 60, p=[0.2, 0.2, 0.6])
    from abovechance.doctor.answers import _agreement

    shares = np.eye(3)[predicted]
    agreement, z = _agreement(shares, gold)
    agreements = [(predicted == random.permutation(gold)).sum() for _ in range(20_000)]
    assert agreement == (predicted == gold).sum()
    assert z == pytest.approx((agreement - np.mean(agreements)) / np.std(agreements), abs=0.03)


def test_a_constant_answer_on_unequal_labels_is_no_shift():
    # 'B' for all, and the gold label is mostly 'A': agreement with the shifted label is high, but no skill
    gold = np.where(np.arange(100) % 5 == 0, 1, 0)
    rows = rows_of(gold, np.ones(100, dtype=int))
    assert "shifted-labels" not in {sign.check for sign in check_answers(rows)}


def test_a_model_that_is_above_chance_and_prefers_the_next_choice_has_no_shifted_labels():
    gold = np.arange(300) % 4
    predicted = np.where(np.arange(300) % 20 < 8, gold, (gold + 1) % 4)  # 40 % right, 60 % the next one
    assert [*check_answers(rows_of(gold, predicted, 4))] == []


def test_two_models_with_one_constant_answer_are_no_copies(tmp_path):
    log = sound(9, 60)
    for name in ("a", "b"):
        constant = replace(log, answers=["A"] * 60, outputs=["A"] * 60, model=name)
        path = write_inspect(constant, tmp_path / name)
        path.write_text(path.read_text().replace('"version": 2', f'"version": 2, "name": "{name}"'))
    assert "identical-results" not in alarms(tmp_path)


def rows_of(gold, predicted, choices=2):
    """Rows of one prompt with gold labels and predictions."""
    flags = [[place == label for place in range(choices)] for label in gold]
    return pd.DataFrame(
        {
            "example": [str(place) for place in range(len(gold))],
            "predicted": predicted,
            "correct": np.asarray(gold) == predicted,
            "tie": False,
            "chance": 1 / choices,
            "right": flags,
        }
    )


def test_alarms_of_guessers_are_rare():
    random = np.random.default_rng(0)
    signs = [
        suspicion
        for _ in range(300)
        for suspicion in examine(rows_of(random.integers(4, size=100), random.integers(4, size=100), 4))
        if suspicion.severity != "note"
    ]
    assert len(signs) <= 3  # a guesser is below chance with p < 0.001 once in a thousand logs


def test_several_prompts_are_not_independent_tests():
    # 50 prompts that are wrong on the same examples are as unlikely as one
    random = np.random.default_rng(1)
    prompt = rows_of(random.integers(2, size=40), random.integers(2, size=40))
    rows = pd.concat([prompt.assign(prompt=str(number)) for number in range(50)])
    assert Answers(rows).accuracy == Answers(prompt).accuracy
    assert [sign.check for sign in check_answers(rows)] == [sign.check for sign in check_answers(prompt)]


def test_the_filters_of_one_log_are_no_copies(tmp_path):
    path = write_texts(sound(3, 60), tmp_path)
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    rows += [row | {"filter": "flexible"} for row in rows]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert alarms(path) == set()


def test_a_prompt_that_is_the_same_for_all_is_sound_if_the_choices_are_sentences(tmp_path):
    log = sound(8, 60)
    sentences = [
        [f"{question} {text}" for text in texts]
        for question, texts in zip(log.questions, log.choices, strict=True)
    ]
    log = replace(log, choices=sentences, questions=["Which sentence is right?"] * 60, contexts=[""] * 60)
    assert alarms(write_choices(log, tmp_path)) == set()


def test_an_instruction_in_all_questions_is_no_demonstration(tmp_path):
    log = sound(9, 60)
    instruction = "Solve the following problem step by step. " * 5  # longer than the questions
    questions = [f"{instruction}\n{question}" for question in log.questions]
    contexts = [f"{instruction}\n" * 3 + context for context in log.contexts]
    assert alarms(write_inspect(replace(log, questions=questions, contexts=contexts), tmp_path)) == set()


def test_demonstrations_as_turns_of_a_chat_are_part_of_the_prompt(tmp_path):
    log = sound(9, 60)
    path = write_inspect(log, tmp_path)
    content = json.loads(path.read_text())
    turns = [
        message
        for number in range(3)
        for message in (
            {"role": "user", "content": f"Example {number}?"},
            {"role": "assistant", "content": "A"},
        )
    ]
    for sample in content["samples"]:
        sample["messages"] = turns + sample["messages"]
    path.write_text(json.dumps(content))
    assert alarms(path) == set()
    for sample in content["samples"]:
        sample["messages"][0]["content"] = log.questions[4]
    path.write_text(json.dumps(content))
    assert "evaluated-demonstrations" in alarms(path)


def test_scorers_without_answers_and_samples_without_usable_choices_are_sound(tmp_path):
    path = write_inspect(sound(9, 60), tmp_path)
    content = json.loads(path.read_text())
    for place, sample in enumerate(content["samples"]):
        del sample["scores"]["choice"]["answer"]
        if place % 10 == 0:
            del sample["choices"]
    path.write_text(json.dumps(content))
    assert alarms(path) == set()
    assert run("check", str(path), "--prompts", "1", "--chance", "0.25").returncode == 0


@pytest.mark.parametrize(("question", "doc_id"), [("half a character \ud800", 0), ("text", int("9" * 4000))])
def test_odd_texts_and_ids_do_not_stop_the_checks(question, doc_id, tmp_path):
    path = write_choices(sound(9, 60), tmp_path)
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    rows[0] |= {"doc": {"question": question, "nested": json.loads("[" * 500 + "]" * 500)}, "doc_id": doc_id}
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert alarms(path) == set()


def test_failed_samples_and_missing_completions_are_reported(tmp_path):
    path = write_inspect(sound(9, 60), tmp_path)
    content = json.loads(path.read_text())
    for sample in content["samples"][:20]:
        sample["scores"] = {}
    path.write_text(json.dumps(content))
    assert "missing-examples" in alarms(path)
    results = {"total_samples": 60, "completed_samples": 40}
    path.write_text(json.dumps(content | {"samples": content["samples"][20:], "results": results}))
    assert "missing-examples" in alarms(path)
    for sample in content["samples"]:
        sample |= {"output": {"choices": []}, "messages": sample["messages"][:1]}
    path.write_text(json.dumps(content))
    assert "empty-outputs" in alarms(path)


def test_answers_that_equal_the_target_and_count_as_wrong_are_reported(tmp_path):
    path = write_texts(sound(9, 60), tmp_path)
    rows = [json.loads(line) | {"exact_match": 0.0} for line in path.read_text().splitlines()]
    for row in rows[:10]:
        row["filtered_resps"] = [row["target"]]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    next(tmp_path.glob("results_*.json")).unlink()
    assert "recorded-results" in alarms(path)


def test_a_filter_that_finds_the_same_in_different_outputs_is_reported(tmp_path):
    log = sound(9, 60)
    assert "one-answer" in alarms(write_texts(replace(log, answers=["1"] * 60), tmp_path))


def test_copies_of_a_file_are_reported(tmp_path):
    for name in ("a", "b"):
        lines = "".join(f"{place},{int(place > 2)}\n" for place in range(100))
        (tmp_path / f"{name}.csv").write_text(f"example,correct\n{lines}")
    assert "identical-results" in alarms(tmp_path)


@pytest.mark.parametrize("correct", [0, 1])
def test_two_perfect_results_are_no_copies(tmp_path, correct):
    for name in ("a", "b"):
        lines = "".join(f"{place},{correct},2\n" for place in range(100))
        (tmp_path / f"{name}.csv").write_text(f"example,correct,choices\n{lines}")
    assert "identical-results" not in alarms(tmp_path)


def test_runs_of_other_subjects_under_one_name_do_not_match(tmp_path):
    for number in range(2):
        write_inspect(replace(sound(number + 20, 60), model=f"org/{number}"), tmp_path / str(number))
    assert alarms(tmp_path) == {"different-questions"}


def test_csv_files_without_a_task_are_of_one_task(tmp_path):
    for name, examples, choices in (("a", range(100), 4), ("b", range(0, 100, 2), 5)):
        lines = "".join(f"q{place},{place * place % 3 % 2},{choices}\n" for place in examples)
        (tmp_path / f"{name}.csv").write_text(f"example,correct,choices\n{lines}")
    assert {"number-of-choices", "missing-examples"} <= alarms(tmp_path)
    diagnoses, _ = diagnose([tmp_path], Options(command="doctor"))
    assert [row.suspicion.check for row in diagnoses].count("no-task") == 2
    assert "no-task" not in {row.suspicion.check for row in diagnose([tmp_path / "a.csv"], Options())[0]}
