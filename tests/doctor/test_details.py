"""Each check of the doctor at its limits: severity, evidence and cause, from rows made by hand."""

import numpy as np
import pandas as pd
import pytest

from abovechance.doctor.answers import MOST_TIES, TIES_OF_MORE, TIES_OF_TWO, check_answers
from abovechance.doctor.runs import compare_runs, examine, summarize
from abovechance.doctor.suspicion import Suspicion, graded, of_examples
from abovechance.doctor.texts import check_texts


def base(examples=100, choices=4, **columns):
    """Rows of a sound run: half of the predictions are correct, labels and texts vary."""
    generator = np.random.default_rng(0)
    gold = generator.permutation(np.arange(examples) % choices)
    correct = np.arange(examples) % 2 == 0
    predicted = np.where(correct, gold, (gold + generator.integers(1, choices, examples)) % choices)
    rows = {
        **{"example": [f"e{number}" for number in range(examples)], "prompt": "p"},
        **{"predicted": predicted, "correct": correct, "tie": False, "chance": 1 / choices},
        "right": [[place == label for place in range(choices)] for label in gold],
        "choices": [[f"text {number} {place}" for place in range(choices)] for number in range(examples)],
        "question": [f"What is the answer to question number {number}?" for number in range(examples)],
    }
    return pd.DataFrame(rows | columns)


def signs_in(rows, check):
    """Return the suspicions of one kind."""
    signs = [*check_answers(rows), *check_texts(rows)]
    return [sign for sign in signs if sign.check == check]


def severities(rows, check):
    return [sign.severity for sign in signs_in(rows, check)]


def test_sound_rows_raise_nothing():
    assert examine(base()) == []
    assert examine(base(choices=2).assign(correct=np.arange(100) % 3 > 0)) == []
    assert examine(base().iloc[:0]) == []


def test_shares_and_their_words():
    assert [graded(share, 0.2, 0.5) for share in (0.19, 0.2, 0.49, 0.5)] == [
        *(None, "suspicious", "suspicious"),
        "grave",
    ]
    assert of_examples(1200, 10_000) == "1,200 of 10,000 examples (12 %)"
    assert Suspicion("c", "note", "evidence", "cause").sentence == "evidence; cause"


def scores(ties, examples=100, choices=4, tied=-1.5):
    values = np.minimum(np.random.default_rng(1).normal(-3, 1, (examples, choices)), -0.01)
    values[:ties] = tied
    return [list(line) for line in values]


@pytest.mark.parametrize(
    ("ties", "choices", "severity"),
    [
        (round(100 * TIES_OF_MORE) - 1, 4, []),
        (round(100 * TIES_OF_MORE), 4, ["suspicious"]),
        (round(100 * MOST_TIES) - 1, 4, ["suspicious"]),
        (round(100 * MOST_TIES), 4, ["grave"]),
        (round(100 * TIES_OF_TWO) - 1, 2, []),
        (round(100 * TIES_OF_TWO), 2, ["suspicious"]),
    ],
)
def test_equal_scores(ties, choices, severity):
    rows = base(choices=choices, logprobs=scores(ties, choices=choices))
    assert severities(rows, "equal-scores") == severity
    if severity:
        (sign,) = signs_in(rows, "equal-scores")
        assert sign.evidence == (f"all choices have the same score in {of_examples(ties, 100)}, always -1.5")
        assert sign.cause == (
            "the server may return no log-probabilities for the prompt, and then every prediction is the "
            "first choice"
        )


def test_equal_scores_that_are_no_sign():
    logprobs = scores(50)
    for number in range(50):
        logprobs[number] = [-number - 1.0] * 4
    (sign,) = signs_in(base(logprobs=logprobs), "equal-scores")
    assert sign.evidence == "all choices have the same score in 50 of 100 examples (50 %)"
    same_texts = base(logprobs=scores(50)).assign(choices=[["a"] * 4] * 50 + [["a", "b", "c", "d"]] * 50)
    assert signs_in(same_texts, "equal-scores") == []
    without = base(logprobs=scores(50)).drop(columns="choices")
    assert severities(without, "equal-scores") == ["grave"]
    assert signs_in(base(logprobs=[[-1.0]] * 100), "equal-scores") == []
    assert signs_in(base(examples=20, logprobs=scores(1, 20)), "equal-scores") == []
    # ties of two choices among others count as those of more only if one of them is
    mixed = scores(10)
    mixed[:9] = [[-1.0, -1.0]] * 9
    assert severities(base(logprobs=mixed), "equal-scores") == ["suspicious"]


@pytest.mark.parametrize(
    ("repeats", "severity"), [(19, []), (20, ["suspicious"]), (49, ["suspicious"]), (50, ["grave"])]
)
def test_constant_scores(repeats, severity):
    logprobs = scores(0)
    logprobs[:repeats] = [[-1.0, -2.0, -3.0, -4.0]] * repeats
    rows = base(logprobs=logprobs)
    assert severities(rows, "constant-scores") == severity
    if severity:
        (sign,) = signs_in(rows, "constant-scores")
        assert sign.evidence == f"the scores of the choices are the same in {of_examples(repeats, 100)}"
        assert sign.cause == (
            "the question may be missing in the prompt, or a cache may return the scores of another example"
        )
    assert signs_in(rows.assign(question="the same"), "constant-scores") == []
    assert severities(rows.drop(columns="question"), "constant-scores") == severity


def test_constant_scores_of_few_examples():
    logprobs = [[-1.0, -2.0, -3.0, -4.0]] * 20
    assert severities(base(20, logprobs=logprobs), "constant-scores") == ["grave"]
    assert signs_in(base(19, logprobs=logprobs[:19]), "constant-scores") == []


def test_positive_scores():
    logprobs = scores(0)
    logprobs[3][1], logprobs[7][0] = 0.002, 2.5
    logprobs[9][0] = 0.001
    (sign,) = signs_in(base(logprobs=logprobs), "positive-scores")
    assert sign == Suspicion(
        "positive-scores",
        "suspicious",
        "the score of a choice is above 0 in 2 of 100 examples (2 %), at most 2.5",
        "log-probabilities are never above 0, so these may be logits or other values",
    )


@pytest.mark.parametrize(("constant", "found_checks"), [(94, []), (95, ["one-position"])])
def test_one_position(constant, found_checks):
    rows = base()
    rows.loc[: constant - 1, "predicted"] = 2
    rows.loc[constant:, "predicted"] = 1
    signs = signs_in(rows, "one-position")
    assert [sign.check for sign in signs] == found_checks
    if signs:
        assert signs == [
            Suspicion(
                "one-position",
                "suspicious",
                "choice 3 is the prediction in 95 of 100 examples (95 %)",
                "the model may ignore the question, or answers may be parsed wrongly",
            )
        ]
    # where nearly all gold labels are there, too, this is no sign
    gold = rows.assign(right=[[False, False, True, False]] * 80 + [[True, False, False, False]] * 20)
    assert signs_in(gold, "one-position") == []
    assert signs_in(rows.assign(correct=[True] * 80 + [False] * 20), "one-position") == []
    assert signs_in(rows[:19].assign(predicted=2), "one-position") == []
    assert len(signs_in(rows[:20].assign(predicted=2, correct=False), "one-position")) == 1
    unknown = rows[:20].assign(predicted=-1, correct=False)
    assert signs_in(unknown, "one-position") == []


def test_one_answer_at_different_positions():
    rows = base()
    texts = [
        ["x" * 50 if place == label else f"{n} {place}" for place in range(4)]
        for n, label in enumerate(rows["predicted"])
    ]
    (sign,) = signs_in(rows.assign(choices=texts), "one-answer")
    assert sign == Suspicion(
        "one-answer",
        "suspicious",
        f"the prediction is '{'x' * 40}' in 100 of 100 examples (100 %)",
        "the model may ignore the question",
    )
    for number in range(6):
        texts[number] = [f"{number} {place}" for place in range(4)]
    assert signs_in(rows.assign(choices=texts), "one-answer") == []
    texts[5] = None
    assert signs_in(rows.assign(choices=texts), "one-answer") == []  # 94 of 100


def shifted(step, examples=100, choices=4, noise=0):
    rows = base(examples, choices)
    gold = np.array([int(np.argmax(flags)) for flags in rows["right"]])
    predicted = (gold + step) % choices
    predicted[:noise] = gold[:noise]
    return rows.assign(predicted=predicted, correct=predicted == gold)


def test_shifted_labels():
    (sign,) = signs_in(shifted(1), "shifted-labels")
    assert sign == Suspicion(
        "shifted-labels",
        "grave",
        "predictions agree with the gold label plus 1 in 100 of 100 examples (100 %), and with the gold "
        "label itself in 0",
        "the answer key may be shifted, reversed or in another order; or the choices are sorted, and a "
        "wrong one next to the correct one attracts the model",
    )
    assert signs_in(shifted(1), "below-chance") == []
    assert severities(shifted(3, noise=25), "shifted-labels") == ["suspicious"]
    assert signs_in(shifted(1, choices=2), "shifted-labels") == []
    assert signs_in(shifted(1, examples=19), "shifted-labels") == []
    assert severities(shifted(1, examples=20), "shifted-labels") == ["grave"]
    assert signs_in(shifted(0), "shifted-labels") == []
    rows = base()
    gold = np.array([int(np.argmax(flags)) for flags in rows["right"]])
    for labels, name in (
        (3 - gold, "the reversed gold label"),
        (np.roll(gold, -1), "the gold label of the example 1 after it"),
        (np.roll(gold, 1), "the gold label of the example 1 before it"),
        (np.roll(gold, -2), "the gold label of the example 2 after it"),
        (np.roll(gold, 2), "the gold label of the example 2 before it"),
    ):
        (sign,) = signs_in(rows.assign(predicted=labels, correct=labels == gold), "shifted-labels")
        assert sign.evidence.startswith(f"predictions agree with {name} in 100 of 100 examples")
    rows = base(90)
    gold = np.array([int(np.argmax(flags)) for flags in rows["right"]])
    (sign,) = signs_in(rows.assign(predicted=gold[::-1], correct=False), "shifted-labels")
    assert sign.evidence.startswith("predictions agree with the gold labels in reversed order in 90 of 90")


def test_below_chance():
    rows = base()
    rows["correct"] = np.arange(100) < 10
    (sign,) = signs_in(rows, "below-chance")
    assert sign == Suspicion(
        "below-chance",
        "suspicious",
        "the accuracy 10.0 % is below the chance level 25.0 %, and guessers are as low with probability "
        "0.0001",
        "the answer key may be shifted or reversed, answers may be parsed wrongly, or the task may mislead "
        "models",
    )
    assert signs_in(rows.assign(correct=np.arange(100) < 13), "below-chance") == []
    # a tie counts as a guess
    assert signs_in(rows.assign(tie=np.arange(100) >= 10), "below-chance") == []
    assert signs_in(rows.assign(chance=np.nan), "below-chance") == []


def test_exactly_chance():
    rows = base()
    (note,) = signs_in(rows.assign(correct=np.arange(100) < 25), "exactly-chance")
    assert note == Suspicion(
        "exactly-chance",
        "note",
        "the accuracy is exactly the chance level 25.0 %, which guessers reach with probability 0.09",
        "a constant prediction on balanced gold labels has this accuracy",
    )
    many = base(20_000).assign(correct=np.arange(20_000) < 5_000)
    assert severities(many, "exactly-chance") == ["suspicious"]
    assert signs_in(rows.assign(correct=np.arange(100) < 26), "exactly-chance") == []
    assert signs_in(base(19, 2).assign(correct=False, chance=0.5), "exactly-chance") == []
    assert len(signs_in(base(20).assign(correct=np.arange(20) < 5), "exactly-chance")) == 1
    assert signs_in(rows.assign(chance=1.0, correct=True), "exactly-chance") == []


def test_gold_labels_at_one_position():
    marks = [[False, True, False, False]] * 95 + [[True, False, False, False]] * 5
    (sign,) = signs_in(base(right=marks), "gold-position")
    assert sign == Suspicion(
        "gold-position",
        "note",
        "choice 2 is the gold label in 95 of 100 examples (95 %)",
        "the choices may not be shuffled; a model that prefers this position scores high without skill",
    )
    assert signs_in(base(right=[*marks[1:], marks[-1]]), "gold-position") == []
    assert signs_in(base(19, right=marks[:19]), "gold-position") == []
    assert len(signs_in(base(20, right=marks[:20]), "gold-position")) == 1
    several = [[True, True, False, False]] * 100
    assert signs_in(base(right=several), "gold-position") == []


def test_other_numbers_of_choices():
    chance = [0.25] * 95 + [0.5, 0.5, 0.2, 0.125, 0.2]
    (sign,) = signs_in(base(chance=chance), "number-of-choices")
    assert sign == Suspicion(
        "number-of-choices",
        "note",
        "5 of 100 examples (5 %) have another number of choices per correct one (2, 5, 8) than the rest (4)",
        "choices may be lost or split in the conversion of the data",
    )
    assert signs_in(base(chance=[0.25] * 94 + [0.5] * 6), "number-of-choices") == []
    assert signs_in(base(19, chance=[0.25] * 18 + [0.5]), "number-of-choices") == []
    assert len(signs_in(base(20, chance=[0.25] * 19 + [0.5]), "number-of-choices")) == 1


def test_repeated_examples():
    cause = "a split may be loaded several times; duplicates make intervals too narrow"
    for copies, severity in ((2, "note"), (6, "suspicious"), (21, "grave")):
        rows = base()
        for number in range(copies):
            rows.at[number, "question"] = "The  same\nquestion"
            rows.at[number, "choices"] = ["a", "b"]
        (sign,) = signs_in(rows, "duplicated-examples")
        evidence = f"{of_examples(copies - 1, 100)} repeat an earlier example, and one occurs {copies} times"
        assert sign == Suspicion("duplicated-examples", severity, evidence, cause)
    rows.at[0, "choices"] = ["c", "d"]
    assert "19 of 100" in signs_in(rows, "duplicated-examples")[0].evidence
    assert signs_in(base().assign(question=""), "duplicated-examples") == []
    assert signs_in(base(1), "duplicated-examples") == []
    assert len(signs_in(base(2).assign(question="q", choices=None), "duplicated-examples")) == 1


@pytest.mark.parametrize(("count", "severity"), [(19, []), (20, ["suspicious"]), (50, ["grave"])])
def test_the_same_prompt(count, severity):
    rows = base(context=[f"context {number}" for number in range(100)])
    rows.loc[: count - 1, "context"] = "one context"
    signs = signs_in(rows, "same-prompt")
    assert [sign.severity for sign in signs] == severity
    if signs:
        assert (
            signs[0].evidence
            == f"the prompt is the same in {of_examples(count, 100)} with different questions"
        )
        assert signs[0].cause == (
            "the template may not contain the question, or the prompt may be truncated before it"
        )
    assert signs_in(rows.assign(question="one"), "same-prompt") == []


OUTPUT = [f"The answer to number {number} is clear." for number in range(100)]


@pytest.mark.parametrize(
    ("empty", "severity"), [(4, []), (5, ["suspicious"]), (49, ["suspicious"]), (50, ["grave"])]
)
def test_empty_outputs(empty, severity):
    rows = base(output=[" "] * empty + OUTPUT[empty:])
    signs = signs_in(rows, "empty-outputs")
    assert [sign.severity for sign in signs] == severity
    if signs:
        assert signs[0].evidence == f"the output is empty in {of_examples(empty, 100)}"
        assert signs[0].cause == "a stop sequence may match at once, or the server may have failed"


def test_a_few_empty_outputs():
    assert len(signs_in(base(2, output=["", ""]), "empty-outputs")) == 1
    assert signs_in(base(2, output=["", "x"]), "empty-outputs") == []
    assert signs_in(base(1, output=[""]), "empty-outputs") == []


def test_the_same_output():
    cause = "a cache may return the same output for all prompts, or the model may ignore the question"
    for text, severity in (("x" * 50, "grave"), ("x" * 20, "suspicious")):
        rows = base(output=[text] * 95 + OUTPUT[:5])
        evidence = f"the output is '{text[:40]}' in 95 of 100 examples (95 %)"
        assert signs_in(rows, "same-output") == [Suspicion("same-output", severity, evidence, cause)]
    rows = base(output=["x" * 50] * 94 + OUTPUT[:6])
    assert signs_in(rows, "same-output") == []
    accurate = base(output=["x" * 50] * 100).assign(correct=[True] * 80 + [False] * 20)
    assert signs_in(accurate, "same-output") == []
    assert signs_in(base(19, output=["x"] * 19).assign(correct=False), "same-output") == []
    # empty outputs are another sign
    assert len(signs_in(base(output=["x"] * 40 + [""] * 60), "same-output")) == 1


def test_no_answer_in_outputs():
    for count, severity in ((19, []), (20, ["suspicious"]), (49, ["suspicious"]), (50, ["grave"])):
        answers = ["[Invalid]", ""] * 50
        rows = base(output=OUTPUT, answer=[*answers[:count], *map(str, range(count, 100))])
        signs = signs_in(rows, "no-answer-extracted")
        assert [sign.severity for sign in signs] == severity
        if signs:
            assert signs[0].evidence == f"no answer was found in the output of {of_examples(count, 100)}"
            assert signs[0].cause == (
                "the filter or pattern may not fit the outputs, so right answers count as wrong"
            )
    rows = base(output=[""] * 60 + OUTPUT[60:], answer=[""] * 60 + ["a"] * 40)
    assert signs_in(rows, "no-answer-extracted") == []


def test_one_extracted_answer():
    rows = base(output=OUTPUT, answer=["Same " * 10] * 95 + list("abcde")).assign(predicted=-1)
    (sign,) = signs_in(rows, "one-answer")
    assert sign == Suspicion(
        "one-answer",
        "suspicious",
        f"the answer is '{('same ' * 10).strip()[:40]}' in 95 of 100 examples (95 %) with different outputs",
        "the filter or pattern may find another part of the output",
    )
    assert signs_in(rows.assign(answer=["a"] * 94 + list("bcdefg")), "one-answer") == []
    assert signs_in(rows.assign(predicted=0), "one-answer") == []
    assert signs_in(rows.assign(predicted=[0] + [-1] * 99), "one-answer") == []
    assert signs_in(rows.assign(correct=[True] * 80 + [False] * 20), "one-answer") == []
    assert signs_in(rows.assign(output=OUTPUT[:50] * 2), "one-answer") == []
    assert len(signs_in(rows.assign(output=OUTPUT[:51] + OUTPUT[:49]), "one-answer")) == 1
    assert len(signs_in(rows[:20], "one-answer")) == 1
    assert signs_in(rows[:19], "one-answer") == []
    # what was not extracted does not count
    assert len(signs_in(rows.assign(answer=["a"] * 40 + [None] * 30 + [""] * 30), "one-answer")) == 1


@pytest.mark.parametrize(
    ("count", "severity"), [(1, []), (2, ["suspicious"]), (19, ["suspicious"]), (20, ["grave"])]
)
def test_answers_that_equal_the_target_and_count_as_wrong(count, severity):
    wrong = ["A "] * count + ["b"] * (100 - count)
    rows = base(output=OUTPUT, answer=wrong, target=["a"] * 100).assign(correct=False)
    signs = signs_in(rows, "recorded-results")
    assert [sign.severity for sign in signs] == severity
    if signs:
        assert (
            signs[0].evidence
            == f"the answer equals the target in {of_examples(count, 100)} that count as wrong"
        )
        assert signs[0].cause == "the scorer may compare other texts than the log contains"
    assert signs_in(rows.assign(correct=True), "recorded-results") == []


def test_answers_and_targets_that_are_missing():
    rows = base(output=OUTPUT, answer=[""] * 50 + [None] * 50, target=[""] * 50 + [None] * 50)
    assert signs_in(rows.assign(correct=False), "recorded-results") == []
    nothing = base(output=OUTPUT, answer=["none"] * 100, target=[None] * 100).assign(correct=False)
    assert signs_in(nothing, "recorded-results") == []
    assert (
        signs_in(base(100, output=OUTPUT, answer=["a"] * 100, target=["a"] * 100)[:0], "recorded-results")
        == []
    )


def test_flags_of_tools():
    rows = base(truncated=[True] + [False] * 99, cut_off=[True] * 10 + [None] * 10 + [False] * 80)
    (truncated,) = signs_in(rows, "truncated-prompts")
    assert truncated == Suspicion(
        "truncated-prompts",
        "suspicious",
        "the prompt was truncated in 1 of 100 examples (1 %)",
        "the prompt exceeds the model's context",
    )
    (cut,) = signs_in(rows, "cut-off-outputs")
    assert cut == Suspicion(
        "cut-off-outputs",
        "suspicious",
        "the output ended at the token limit in 10 of 90 examples (11 %)",
        "the limit may be too low for the answer to appear",
    )
    assert severities(base(truncated=[True] * 10 + [False] * 90), "truncated-prompts") == ["grave"]
    assert severities(base(cut_off=[True] * 50 + [False] * 50), "cut-off-outputs") == ["grave"]
    assert severities(base(cut_off=[True] * 9 + [False] * 91), "cut-off-outputs") == []


def test_missing_numbers_and_scores():
    rows = base().assign(example=[str(number) for number in range(100)])
    assert examine(rows) == []
    rows["example"] = [str(number + (number >= 50)) for number in range(100)]
    assert examine(rows) == [
        Suspicion(
            "missing-examples",
            "suspicious",
            "examples are numbered up to 100, but 1 of 101 numbers are missing",
            "examples may have failed or been dropped, often the hard ones",
        )
    ]
    assert examine(rows.assign(example=[str(number + 1) for number in range(100)])) == []
    assert len(examine(rows.assign(example=[str(2 * number) for number in range(100)]))) == 1
    assert examine(rows.assign(example=[str(3 * number) for number in range(100)])) == []
    few = rows[:19].assign(example=[str(2 * number) for number in range(19)], correct=True)
    assert not [sign for sign in examine(few) if sign.check == "missing-examples"]
    for unscored, severity in ((2, []), (3, ["suspicious"]), (25, ["grave"])):
        signs = examine(base(), unscored)
        assert [sign.severity for sign in signs] == severity
        if signs:
            assert signs[0].evidence == (
                f"{of_examples(unscored, 100 + unscored)} have no score and are left out"
            )
            assert signs[0].cause == "examples may have failed, often the hard ones"


def test_the_gravest_sign_comes_first():
    marks = [[False, True, False, False]] * 100
    signs = examine(base(right=marks, logprobs=scores(60)), unscored=3)
    order = [["grave", "suspicious", "note"].index(sign.severity) for sign in signs]
    assert order == sorted(order)
    assert {*order} == {0, 1, 2}


def signs_of(*runs):
    """Return what is signs_of_run of several runs: {name: [suspicion]}."""
    examined = [(name, summarize(name, "task", model, rows)) for name, model, rows in runs]
    signs_of_run = {}
    for owner, sign in compare_runs(examined):
        signs_of_run.setdefault(owner, []).append(sign)
    return signs_of_run


def test_a_run_with_fewer_examples():
    full, second = base(), base().assign(correct=np.arange(100) % 3 == 0)
    assert signs_of(("a", "m", full), ("b", "n", second)) == {}
    signs_of_run = signs_of(("a", "m", full), ("b", "n", second[:90]))
    assert signs_of_run == {
        "b": [
            Suspicion(
                "missing-examples",
                "note",
                "10 of 100 examples (10 %) of a are missing",
                "the run may have a limit of examples",
            )
        ]
    }
    (sign,) = signs_of(("a", "m", full), ("b", "n", second.drop(index=[3])))["b"]
    assert sign == Suspicion(
        "missing-examples",
        "suspicious",
        "1 of 100 examples (1 %) of a are missing",
        "examples may have failed or been dropped, often the hard ones",
    )


@pytest.mark.parametrize(
    ("changed", "severity"), [(9, "suspicious"), (10, "grave"), (89, "grave"), (90, None)]
)
def test_runs_with_other_questions(changed, severity):
    second = base().assign(correct=np.arange(100) % 3 == 0)
    second.loc[: changed - 1, "question"] = [f"Another question {number}?" for number in range(changed)]
    signs_of_run = signs_of(("a", "m", base()), ("b", "n", second))
    if severity is None:
        assert signs_of_run == {}
        return
    (sign,) = signs_of_run["b"]
    assert sign == Suspicion(
        "different-questions",
        severity,
        f"{of_examples(changed, 100)} have another question than in a",
        "the examples may be numbered or ordered differently, so pairs do not match",
    )
    unknown = second.assign(question="")
    assert signs_of(("a", "m", base()), ("b", "n", unknown)) == {}


def test_runs_with_other_choices_and_gold_labels():
    second = base().assign(correct=np.arange(100) % 3 == 0)
    chance = [0.5, 0.5, *[0.25] * 98]
    (sign,) = signs_of(("a", "m", base()), ("b", "n", second.assign(chance=chance)))["b"]
    assert sign == Suspicion(
        "number-of-choices",
        "grave",
        "2 of 100 examples (2 %) have another number of choices than in a",
        "the runs may be of different versions of the task",
    )
    unknown = second.assign(chance=[np.nan] * 100)
    assert signs_of(("a", "m", base()), ("b", "n", unknown)) == {}
    marks = [flags[::-1] if number < 3 else flags for number, flags in enumerate(second["right"])]
    (sign,) = signs_of(("a", "m", base()), ("b", "n", second.assign(right=marks)))["b"]
    assert sign == Suspicion(
        "different-gold-labels",
        "grave",
        "3 of 100 examples (3 %) have another gold label than in a",
        "the answer keys differ, so the scores measure different things",
    )
    # in another order they are the same, with other texts they cannot be compared
    reversed_choices = second.assign(
        choices=[texts[::-1] for texts in second["choices"]], right=[flags[::-1] for flags in second["right"]]
    )
    assert signs_of(("a", "m", base()), ("b", "n", reversed_choices)) == {}
    other_texts = second.assign(right=marks, choices=[["w", "x", "y", "z"]] * 100)
    assert signs_of(("a", "m", base()), ("b", "n", other_texts)) == {}
    for column in ("right", "choices"):
        assert signs_of(("a", "m", base()), ("b", "n", second.assign(right=marks).drop(columns=column))) == {}
        missing = second.assign(right=marks).assign(**{column: None})
        assert signs_of(("a", "m", base()), ("b", "n", missing)) == {}


def test_identical_runs():
    cause = "one model may have been evaluated under two names, or one log copied"
    signs_of_run = signs_of(("a", "m", base()), ("b", "n", base()), ("c", "m", base()))
    assert signs_of_run == {
        "b": [
            Suspicion(
                "identical-results",
                "suspicious",
                "all predictions are identical to those of another model, m (a)",
                cause,
            )
        ],
        "c": [
            Suspicion(
                "identical-results",
                "suspicious",
                "all predictions are identical to those of the same model (a)",
                cause,
            )
        ],
    }
    scored = base(logprobs=scores(0))
    (sign,) = signs_of(("a", "m", scored), ("b", "n", scored))["b"]
    assert (sign.severity, sign.evidence) == (
        *("grave", "all scores are identical to those of another model, m (a)"),
    )
    # equal predictions with other scores are no copies
    assert signs_of(("a", "m", scored), ("b", "n", base(logprobs=scores(1)))) == {}
    written = base(output=OUTPUT)
    (sign,) = signs_of(("a", "m", written), ("b", "n", written.assign(correct=False)))["b"]
    assert sign.evidence == "all outputs are identical to those of another model, m (a)"
    few_errors = base().assign(correct=np.arange(100) >= 9)
    assert signs_of(("a", "m", few_errors), ("b", "n", few_errors)) == {}
    enough = base().assign(correct=np.arange(100) >= 10)
    assert len(signs_of(("a", "m", enough), ("b", "n", enough))) == 1
    constant = base().assign(predicted=1)
    assert signs_of(("a", "m", constant), ("b", "n", constant)) == {}
    all_wrong = base().assign(correct=False)
    assert signs_of(("a", "m", all_wrong), ("b", "n", all_wrong)) == {}
    short = base(output=["x" * 19] * 100)
    assert "outputs" not in summarize("a", "t", "m", short).fingerprints
    assert (
        "scores" not in summarize("a", "t", "m", base(logprobs=[[-1.0, -2.0, -3.0, -4.0]] * 100)).fingerprints
    )
