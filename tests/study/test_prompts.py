"""Evaluation sets and prompts."""

import math
from collections import Counter

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from abovechance.core.errors import InputError
from abovechance.study.prompts import draw_prompts, evaluated_on, evaluation_set
from abovechance.study.tasks import as_table


def some_task(examples: int) -> pd.DataFrame:
    return as_table(
        {"example": f"e{i}", "text": f"Q{i}:", "choices": ["yes", "no"], "correct": [i % 2 == 0, i % 2 == 1]}
        for i in range(examples)
    )


def prompts_of(examples: int, shots: int, prompts: int, seed: int = 0, most: int = 200) -> pd.DataFrame:
    task = some_task(examples)
    return draw_prompts(task, evaluation_set(task, "t", seed, most), "t", seed, shots, prompts)


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


def test_demonstrations_are_text_blank_answer_line_break():
    assert prompts_of(3, 2, 6).iloc[0]["text"].count("\n") == 2
    one = prompts_of(3, 1, 3).set_index(prompts_of(3, 1, 3)["demonstrations"].str[0])
    assert one.loc["e0", "text"] == "Q0: yes\n"
    assert one.loc["e1", "text"] == "Q1: no\n"


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
    with pytest.raises(InputError, match="3 shots need at least 3 distinct examples"):
        prompts_of(12, 3, 10, most=10)
