"""Checks of questions, prompts and outputs at their limits: severity, evidence and cause."""

import numpy as np
import pytest

from abovechance.doctor.suspicion import Suspicion, of_examples
from abovechance.doctor.texts import check_texts
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


@pytest.mark.parametrize(
    "template",
    [
        "Numbers: {0} and {1}. Add the two numbers.\nAnswer:",
        "[{0}, {1}]\nAdd the two numbers.\nAnswer:",
        "Add the two numbers.\n{0}, {1}<|end|>\n<|assistant|>",
    ],
)
@pytest.mark.parametrize("shots", [0, 2])
def test_questions_that_only_prompts_tell_apart_are_not_duplicated(template, shots):
    """The question is the same text in all examples, and its numbers are in the prompt only."""
    places = np.random.default_rng(0).integers(1000, 2000, (100, shots))
    demonstrations = ["".join(f"{template.format(at, 0)} {at}\n\n" for at in row) for row in places]
    prompts = [template.format(place, place + 1) for place in range(100)]
    rows = base(context=[*map("".join, zip(demonstrations, prompts, strict=True))])
    rows = rows.assign(question="Add the two numbers.\nnot in the prompt, and longer", choices=None)
    assert signs_in(rows, "duplicated-examples") == []
    rows["context"] = [*map("".join, zip(demonstrations, prompts[:50] * 2, strict=True))]
    (sign,) = signs_in(rows, "duplicated-examples")
    assert sign.evidence == "50 of 100 examples (50 %) repeat an earlier example, and one occurs 2 times"
    assert len(signs_in(rows.assign(context="Answer:"), "duplicated-examples")) == 1


@pytest.mark.parametrize(
    ("context", "signs"),
    [
        ("first {}: x\n\nthe longest line", 1),  # a demonstration, with a line of the question
        ("the longest line\n\nthe longest line\nfirst {}", 0),
        ("{}: the longest line", 0),  # the prompt's first paragraph
        ("the longest line\nfirst {}\n\nAnswer:", 0),
        ("another question\n\nnumber {}", 1),  # the question is not in the prompt
        ("", 1),
    ],
)
def test_the_part_of_a_prompt_that_belongs_to_the_question(context, signs):
    contexts = [context.format(number) for number in range(2)]
    rows = base(2, context=contexts).assign(question="the longest line\nx", choices=None)
    assert len(signs_in(rows, "duplicated-examples")) == signs


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
    rows = base(output=OUTPUT, answer=wrong, target=["A"] * 100).assign(correct=False)
    signs = signs_in(rows, "recorded-results")
    assert [sign.severity for sign in signs] == severity
    if signs:
        assert (
            signs[0].evidence
            == f"the answer equals the target in {of_examples(count, 100)} that count as wrong"
        )
        assert signs[0].cause == "the scorer may compare other texts than the log contains"
    # many scorers tell capital letters from small ones, so a wrong answer may be meant
    signs = signs_in(rows.assign(target="a"), "recorded-results")
    assert [sign.severity for sign in signs] == ["suspicious"] * len(severity)
    if signs:
        assert f"except for capital letters, in {of_examples(count, 100)} that" in signs[0].evidence
        assert signs[0].cause == "the scorer may be meant to ignore capital letters"
    assert signs_in(rows.assign(correct=True), "recorded-results") == []


def test_few_answers_that_equal_the_target_except_for_capital_letters():
    def signs(equal, examples):
        answers = ["a"] * equal + ["b"] * (examples - equal)
        rows = base(examples, output=(OUTPUT * 2)[:examples], answer=answers, target="A")
        return severities(rows.assign(correct=False), "recorded-results")

    assert signs(1, 20) == []
    assert signs(2, 100) == ["suspicious"]
    assert signs(2, 101) == []  # below 2 %


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


def test_the_same_prompt_needs_twenty_different_questions():
    for examples, expected in ((20, 1), (19, 0)):
        assert len(signs_in(base(examples, context="one"), "same-prompt")) == expected
    # 30 rows with 20 or with 19 questions
    for distinct, expected in ((20, 1), (19, 0)):
        questions = [f"Question {min(number, distinct - 1)}?" for number in range(30)]
        assert len(signs_in(base(30, context="one", question=questions), "same-prompt")) == expected
    assert signs_in(base(30, context="one").drop(columns="question"), "same-prompt") == []
    # questions that differ in their choices alone have the same prompt for good reason
    rows = base(30, 2, context="one")
    rows["question"] = ["Which one?\n" + "\n ".join(choices) for choices in rows["choices"]]
    assert signs_in(rows, "same-prompt") == []


def prompted(examples: int, demonstrations=lambda number: [], **columns):
    """Rows whose prompts are their question behind the questions of the shown examples."""
    rows = base(examples, **columns)
    questions = rows["question"].tolist()
    rows["context"] = [
        "\n".join([*(questions[place] for place in demonstrations(number)), question])
        for number, question in enumerate(questions)
    ]
    return rows


@pytest.mark.parametrize(
    ("count", "severity"), [(0, []), (1, ["suspicious"]), (19, ["suspicious"]), (20, ["grave"])]
)
def test_an_example_that_is_its_own_demonstration(count, severity):
    rows = prompted(100, lambda number: [number] * (number < count))
    signs = signs_in(rows, "own-demonstration")
    assert [sign.severity for sign in signs] == severity
    if signs:
        evidence = f"the question occurs at least twice in the prompt of {of_examples(count, 100)}"
        cause = "the evaluated example may be one of its own demonstrations, with its answer"
        assert signs == [Suspicion("own-demonstration", severity[0], evidence, cause)]
    assert signs_in(prompted(101, lambda number: [number] * (number == 0)), "own-demonstration") == []
    assert signs_in(rows.drop(columns="question"), "own-demonstration") == []


@pytest.mark.parametrize(("count", "suspicious"), [(49, False), (50, True), (100, True)])
def test_other_evaluated_examples_among_the_demonstrations(count, suspicious):
    # each of the first prompts shows the next one's question and one of the last question
    rows = prompted(100, lambda number: [(number + 1) % 100, 99 - (number == 99)] * (number < count))
    signs = signs_in(rows, "evaluated-demonstrations")
    assert bool(signs) == suspicious
    if suspicious:
        different = {49: 50, 50: 51, 100: 100}[count]
        assert signs == [
            Suspicion(
                "evaluated-demonstrations",
                "suspicious",
                f"{of_examples(count, 100)} have other evaluated examples in their prompts "
                f"({different} different ones)",
                "demonstrations may come from the evaluated split; their answers are not independent of it",
            )
        ]
    assert signs_in(prompted(100), "evaluated-demonstrations") == []


def test_of_many_prompts_some_are_searched():
    for examples, searched in ((200, 200), (201, 101), (401, 134)):
        signs = signs_in(prompted(examples, lambda number: [number - 1]), "evaluated-demonstrations")
        assert signs[0].evidence.startswith(f"{of_examples(searched, searched)} have other")


def test_a_line_of_twenty_characters_is_searched_and_the_longest_first():
    for length, expected in ((20, 1), (19, 0)):
        questions = [f"{number:03} {'x' * (length - 4)}" for number in range(30)]
        rows = base(30, question=questions, context=[f"{text}\n{text}" for text in questions])
        assert len(signs_in(rows, "own-demonstration")) == expected
    # the longer line stands in the prompt once, the shorter one twice
    first = [f"short line of example {number:03}" for number in range(30)]
    contexts = [f"{line}\n{line}\na much longer line than that: {line}" for line in first]
    questions = [f"{line}\na much longer line than that: {line}" for line in first]
    assert signs_in(base(30, question=questions, context=contexts), "own-demonstration") == []
    # lines that several questions have are no sign
    questions = [f"The passage that all questions are on.\n{number}?" for number in range(30)]
    contexts = [f"{text}\n{text}" for text in questions]
    assert signs_in(base(30, question=questions, context=contexts), "own-demonstration") == []


def test_a_line_that_prompts_join_is_no_example():
    """Two prompts, one ending and one beginning with half of a question, show it in neither."""
    beginning, end = "What is the answer to ", "question number 0?"
    rows = base(20)
    rows["context"] = [f"{end} {question} {beginning}" for question in rows["question"]]
    assert signs_in(rows, "evaluated-demonstrations") == []


def cut(examples: int, count: int, length: int = 100, side: str = "begin"):
    """Rows with prompts of many lengths of which the ``count`` longest are cut to the same length."""
    contexts = []
    for number in range(examples):
        rest = "." * (length - 8)
        if number >= count:
            text = f"Task{'.' * (length // 2 - 8 + number % 10)}{number:03}:ans"
        else:
            text = f"{number:04}{rest}:ans" if side == "begin" else f"Task{rest}{number:04}"
        contexts.append(text)
    return base(examples, context=contexts)


@pytest.mark.parametrize("side", ["begin", "end"])
@pytest.mark.parametrize(
    ("count", "severity"),
    [(1, []), (2, ["suspicious"]), (9, ["suspicious"]), (10, ["grave"]), (50, ["grave"]), (51, [])],
)
def test_truncated_prompts(side, count, severity):
    signs = signs_in(cut(100, count, side=side), "truncated-prompts")
    assert [sign.severity for sign in signs] == severity
    if signs:
        place = {"begin": "beginning", "end": "end"}[side]
        assert signs == [
            Suspicion(
                "truncated-prompts",
                severity[0],
                f"{of_examples(count, 100)} have long prompts of nearly the same length that do not {side} "
                "like all others",
                f"the {place} of long prompts may be truncated",
            )
        ]


def test_truncated_prompts_need_twenty_that_are_long():
    for examples, expected in ((20, 1), (19, 0)):
        assert len(signs_in(cut(examples, 4), "truncated-prompts")) == expected
    for length, expected in ((40, 1), (39, 0)):
        assert len(signs_in(cut(100, 10, length), "truncated-prompts")) == expected


def test_prompts_that_begin_in_other_ways_without_being_cut():
    rows = cut(100, 10)
    uniform = rows["context"].where(rows.index >= 10, "Other" + rows["context"].str[5:])
    assert signs_in(rows.assign(context=uniform + [str(n) for n in range(100)]), "truncated-prompts") == []
    lengths = rows["context"].where(rows.index >= 10, rows["context"] + [":ans" * n for n in range(100)])
    assert signs_in(rows.assign(context=lengths), "truncated-prompts") == []
    short = rows["context"].where(rows.index >= 10, rows["context"].str[:30] + ":ans")
    assert signs_in(rows.assign(context=short), "truncated-prompts") == []


def test_prompts_that_are_not_in_the_log():
    assert [*check_texts(base(30, context=None))] == []
    rows = base(30, context="one")
    rows.loc[:9, "question"] = None  # unknown questions are one, so 21 differ
    (sign,) = signs_in(rows, "same-prompt")
    assert sign.evidence.startswith("the prompt is the same in 21 of 21 examples")


def test_outputs_are_read_from_twenty_on():
    for examples, expected in ((20, 1), (19, 0)):
        rows = base(examples, output=["x" * 50] * examples)
        assert len(signs_in(rows, "same-output")) == expected


def test_two_missing_answers_are_a_sign_and_one_is_none():
    for missing, expected in ((2, 1), (1, 0)):
        answers = [""] * missing + ["a"] * (4 - missing)
        rows = base(4, output=OUTPUT[:4], answer=answers)
        assert len(signs_in(rows, "no-answer-extracted")) == expected


def test_a_question_that_a_prompt_repeats_is_no_demonstration():
    """As in prompts that ask to read the question again, without demonstrations."""
    rows = base(100)
    repeated = [f"{question}\nRead the question again: {question}\nAnswer:" for question in rows["question"]]
    assert [sign.check for sign in check_texts(rows.assign(context=repeated), shots=0)] == []
    assert "own-demonstration" in [sign.check for sign in check_texts(rows.assign(context=repeated), shots=1)]
    with_answer = [f"{question}\nAnswer: x\n\n{question}\nAnswer:" for question in rows["question"]]
    assert "own-demonstration" in [
        sign.check for sign in check_texts(rows.assign(context=with_answer), shots=0)
    ]


def test_a_question_within_the_choices_is_in_the_request():
    """As in XNLI, whose prompt is empty and whose choices are 'premise, right? Yes, hypothesis'."""
    questions = [f"premise {place}\nhypothesis {place}" for place in range(30)]
    choices = [
        [f"premise {place}, right? {word}, hypothesis {place}" for word in ("Yes", "No")]
        for place in range(30)
    ]
    rows = base(30, context="", question=questions).assign(choices=choices)
    assert signs_in(rows, "same-prompt") == []
    assert len(signs_in(rows.assign(choices=[["Yes", "No"]] * 30), "same-prompt")) == 1
