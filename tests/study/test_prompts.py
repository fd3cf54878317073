"""Evaluation sets and prompts."""

import math
from collections import Counter

import pandas as pd
import pytest
from hypothesis import given, strategies as st

from abovechance.core.errors import InputError
from abovechance.study.prompts import (
    draw_prompts,
    evaluated_on,
    evaluation_set,
    null_target,
    training_set,
)
from abovechance.study.tasks import as_table


def some_task(examples: int) -> pd.DataFrame:
    return as_table(
        {"example": f"e{i}", "text": f"Q{i}:", "choices": ["yes", "no"], "correct": [i % 2 == 0, i % 2 == 1]}
        for i in range(examples)
    )


def prompts_of(examples: int, shots: int, prompts: int, seed: int = 0, largest: int = 200) -> pd.DataFrame:
    task = some_task(examples)
    return draw_prompts(task, evaluation_set(task, "t", seed, largest), "t", seed, shots, prompts)


def test_a_small_task_is_evaluated_whole_and_a_prompt_not_on_its_own_demonstrations():
    evaluation = evaluation_set(some_task(46), "t", seed=0, max_examples=200)
    assert evaluation[["evaluated", "demonstration"]].all(axis=None)
    assert evaluated_on(evaluation, ["e3", "e7"]) == [f"e{i}" for i in range(46) if i not in (3, 7)]


def test_a_large_task_has_separate_demonstrations():
    evaluation = evaluation_set(some_task(1000), "t", seed=0, max_examples=200)
    assert evaluation["evaluated"].sum() == 200
    assert (evaluation["evaluated"] != evaluation["demonstration"]).all()
    assert evaluation.equals(evaluation_set(some_task(1000), "t", seed=0, max_examples=200))
    assert not evaluation.equals(evaluation_set(some_task(1000), "t", seed=1, max_examples=200))
    assert not evaluation.equals(evaluation_set(some_task(1000), "other", seed=0, max_examples=200))


def test_training_examples_are_of_each_label_and_none_is_evaluated():
    task = some_task(100)
    evaluation = evaluation_set(task, "t", seed=0, max_examples=60)
    rows = training_set(task, evaluation, "t", 0, 12)
    chosen = rows["example"][rows["evaluated"]]
    assert not set(chosen) & set(evaluation["example"][evaluation["evaluated"]])
    assert Counter(int(name[1:]) % 2 for name in chosen) == {0: 6, 1: 6}
    more = training_set(task, evaluation, "t", 0, 14)
    assert set(chosen) < set(more["example"][more["evaluated"]])
    assert training_set(task, evaluation, "t", 0, 1000)["evaluated"].sum() == 40
    assert training_set(task, evaluation, "t", 0, 12, shots=10).equals(rows)
    with pytest.raises(
        InputError, match="12 shots of hard demonstrations need more than 12 training examples"
    ):
        training_set(task, evaluation, "t", 0, 12, shots=12)
    rare = task.copy()
    odd = rare["example"].str[1:].astype(int) % 2 == 1
    rare = rare[~odd | evaluation["evaluated"] | (odd & (odd & ~evaluation["evaluated"]).cumsum().eq(1))]
    message = "6 or more of each label, but there are 13, and 1 of"
    with pytest.raises(InputError, match=message):
        training_set(rare, evaluation.loc[rare.index], "t", 0, 13, shots=12)
    with pytest.raises(InputError, match="all of its 60 examples are evaluated, so that none are left"):
        training_set(some_task(60), evaluation_set(some_task(60), "t", 0, 60), "t", 0, 12)


def test_demonstrations_are_text_blank_answer_line_break():
    assert prompts_of(3, 2, 6).iloc[0]["text"].count("\n") == 2
    first = prompts_of(3, 1, 3).set_index(prompts_of(3, 1, 3)["demonstrations"].str[0])
    assert first.loc["e0", "text"] == "Q0: yes\n"
    assert first.loc["e1", "text"] == "Q1: no\n"


def balanced(examples: int, shots: int, prompts: int, seed: int = 0, largest: int = 200) -> pd.DataFrame:
    task = some_task(examples)
    return draw_prompts(task, evaluation_set(task, "t", seed, largest), "t", seed, shots, prompts, "balanced")


@given(st.integers(8, 40), st.sampled_from([2, 4, 6]), st.integers(1, 12), st.integers(0, 5))
def test_balanced_prompts_have_as_many_of_each_label_and_larger_ones_begin_with_smaller(
    examples, shots, prompts, seed
):
    small, large = balanced(examples, 2, prompts, seed), balanced(examples, shots, prompts, seed)
    assert len(small) == len(large) == prompts
    assert small["text"].is_unique
    for few, many in zip(small["demonstrations"], large["demonstrations"], strict=True):
        assert many[:2] == few
        assert len({*many}) == shots
        assert [int(example[1:]) % 2 for example in many].count(0) == shots / 2
    assert balanced(examples, shots, prompts + 3, seed).iloc[:prompts].equals(large)


def test_balanced_prompts_run_out_where_all_first_rounds_were_drawn():
    assert len(balanced(4, 2, 100)) == 2 * 2 * 2


@pytest.mark.parametrize(
    ("examples", "shots", "message"),
    [
        (8, 3, "3 shots cannot be balanced over 2 labels; expected a multiple of 2"),
        (8, 10, "at least 11 distinct examples"),
        (11, 12, "at least 13 distinct examples"),
    ],
)
def test_what_cannot_be_balanced_is_told(examples, shots, message):
    with pytest.raises(InputError, match=message):
        balanced(examples, shots, 1)


def test_too_few_of_a_label_and_choices_of_an_examples_own_cannot_be_balanced():
    task = some_task(20)
    rare = task[task["correct"].map(lambda flags: flags[0]) | (task["example"] == "e1")]
    with pytest.raises(InputError, match="4 balanced shots need 2 examples of each label .* 'no' has 1"):
        draw_prompts(rare, evaluation_set(rare, "t", 0, 200), "t", 0, 4, 1, "balanced")
    task.at[3, "labels"] = ["maybe", "no"]
    with pytest.raises(
        InputError, match="expected the same choices of all examples for balanced demonstrations"
    ):
        draw_prompts(task, evaluation_set(task, "t", 0, 200), "t", 0, 2, 1, "balanced")


def test_a_null_target_prompt_has_answers_and_no_inputs():
    task = some_task(6).assign(null="A:")
    prompts = draw_prompts(task, evaluation_set(task, "t", 0, 200), "t", 0, 2, 3)
    empty, nulls = null_target(task, prompts)
    assert set(empty["text"]) == {"A:"}
    answers = {example: "yes" if int(example[1:]) % 2 == 0 else "no" for example in task["example"]}
    for chosen, text in zip(prompts["demonstrations"], nulls["text"], strict=True):
        assert text == "".join(f"A: {answers[example]}\n" for example in chosen)


@given(st.integers(3, 40), st.integers(0, 3), st.integers(1, 60), st.integers(0, 60), st.integers(0, 5))
def test_more_prompts_change_none_of_the_earlier_ones_and_none_repeats(examples, shots, few, more, seed):
    if examples <= shots:
        return
    first, second = prompts_of(examples, shots, few, seed), prompts_of(examples, shots, few + more, seed)
    assert first.equals(second.iloc[: len(first)])
    assert second["text"].is_unique
    assert len(second) == min(few + more, math.perm(examples, shots))
    assert all(len(set(chosen)) == shots for chosen in second["demonstrations"])


def test_all_prompts_that_exist_are_drawn_where_more_are_asked_for():
    assert len(prompts_of(46, 1, 200)) == 46
    assert len(prompts_of(4, 2, 200)) == 12
    assert len(prompts_of(46, 0, 200)) == 1


@pytest.mark.slow
def test_every_ordered_choice_of_demonstrations_is_as_likely():
    counts = Counter(tuple(prompts_of(4, 2, 1, seed)["demonstrations"][0]) for seed in range(2400))
    assert len(counts) == 12
    # 200 expected of each; 5 standard deviations are 68
    assert all(abs(count - 200) < 68 for count in counts.values())


def test_examples_that_read_the_same_make_one_demonstration():
    task = some_task(5)
    task.loc[1, ["text", "correct"]] = pd.Series({"text": "Q0:", "correct": [True, False]})
    evaluation = evaluation_set(task, "t", 0, 200)
    assert draw_prompts(task, evaluation, "t", 0, 1, 200)["text"].is_unique
    assert len(draw_prompts(task, evaluation, "t", 0, 1, 200)) == 4


def test_more_shots_than_examples_are_told():
    with pytest.raises(InputError, match="task 't': 4 shots need at least 5 distinct examples.* there are 4"):
        prompts_of(4, 4, 10)
    with pytest.raises(InputError, match="are 2, because 10 of 12 are evaluated .`max_examples`"):
        prompts_of(12, 3, 10, largest=10)
    copies = some_task(30).assign(text="Q:", correct=[[True, False]] * 30)
    with pytest.raises(InputError, match="draw demonstrations from, but there are 1$"):
        draw_prompts(copies, evaluation_set(copies, "t", 0, 10), "t", 0, 4, 10)
