"""Checks of questions, prompts and outputs at their limits: severity, evidence and cause."""

import pytest

from abovechance.doctor.suspicion import Suspicion, of_examples
from tests.doctor.rows import OUTPUT, base, severities, signs_in


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
