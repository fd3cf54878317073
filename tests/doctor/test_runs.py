"""Checks of a run as a whole, and of several runs of one task."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from abovechance.doctor.runs import compare_runs, examine, summarize
from abovechance.doctor.suspicion import Suspicion, of_examples
from tests.doctor.rows import OUTPUT, base, scores


def test_missing_numbers_and_scores():
    rows = base().assign(example=[str(number) for number in range(100)])
    assert examine(rows) == []
    rows["example"] = [str(number + (number >= 50)) for number in range(100)]
    assert examine(rows) == [
        Suspicion(
            "missing-examples",
            "suspicious",
            "examples are numbered up to 100, but 1 of 101 numbers is missing",
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
        "1 of 100 examples (1 %) of a is missing",
        "examples may have failed or been dropped, often the hard ones",
    )


def test_ids_that_are_written_differently_are_not_called_missing_hard_examples():
    padded = base().assign(example=[f"{number:04d}" for number in range(100)])
    plain = base().assign(example=[str(number) for number in range(100)], correct=np.arange(100) % 3 == 0)
    (sign,) = signs_of(("a", "m", padded), ("b", "n", plain))["b"]
    assert sign.evidence == "100 of 100 examples (100 %) of a are missing"
    assert sign.cause == "the ids may be written differently, such as '0' and '0000'"
    shuffled = plain.sample(frac=1, random_state=0)
    (sign,) = signs_of(("a", "m", padded), ("b", "n", shuffled))["b"]
    first = shuffled["example"].iloc[0]
    assert sign.cause.endswith(f"such as '{first}' and '{first:0>4}'")
    # one such id does not explain 40 missing ones
    few = plain.head(60).assign(example=[*map(str, range(59)), "099"])
    (sign,) = signs_of(("a", "m", plain), ("b", "n", few))["b"]
    assert sign.cause == "examples may have failed or been dropped, often the hard ones"
    renamed = plain.assign(example=[f"x{number}" for number in range(100)])
    (sign,) = signs_of(("a", "m", padded), ("b", "n", renamed))["b"]
    assert sign.cause == "the runs may be of other examples, or name them differently"


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
        "the examples may be numbered or ordered differently, or be of another task with the same name, so "
        "pairs do not match",
    )
    for unknown in (second.assign(question=""), base().assign(correct=second["correct"])):
        unknown.loc[:4, "question"] = ""
        assert signs_of(("a", "m", base()), ("b", "n", unknown)) == {}
        assert signs_of(("a", "m", unknown.assign(correct=True)), ("b", "n", unknown)) == {}
        assert signs_of(("a", "m", unknown), ("b", "n", base())) == {}


def test_runs_with_other_choices_and_gold_labels():
    second = base().assign(correct=np.arange(100) % 3 == 0)
    chance = [0.5, 0.5, *[0.25] * 98]
    two_gold_labels = second.assign(chance=chance)
    unknown = two_gold_labels.drop(columns=["right", "choices"])
    lost = second.assign(
        right=[flags[: 3 if place < 2 else 4] for place, flags in enumerate(second["right"])]
    )
    lost["choices"] = None
    for changed in (unknown, lost, unknown.assign(right=None)):
        (sign,) = signs_of(("a", "m", base()), ("b", "n", changed))["b"]
        assert sign == Suspicion(
            "number-of-choices",
            "grave",
            "2 of 100 examples (2 %) have another number of choices than in a",
            "the runs may be of different versions of the task",
        )
    # with two gold labels, there are as many choices
    assert signs_of(("a", "m", base()), ("b", "n", two_gold_labels)) == {}
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


def shuffled(rows: pd.DataFrame, order: np.ndarray) -> pd.DataFrame:
    """The same examples, numbered in another order."""
    return rows.iloc[order].assign(example=rows["example"].to_numpy()).reset_index(drop=True)


ANSWERS = ["right", "choices"]


def test_runs_whose_examples_have_other_numbers():
    first, second = base(), base().assign(correct=np.arange(100) % 3 == 0)
    for order in (np.roll(np.arange(100), 1), np.random.default_rng(0).permutation(100)):
        for columns in ([], ANSWERS):  # the questions alone show it
            rows = shuffled(second, order).drop(columns=columns)
            (sign,) = signs_of(("a", "m", first.drop(columns=columns)), ("b", "n", rows))["b"]
            assert (sign.check, sign.severity) == ("different-questions", "grave")
            assert sign.evidence.endswith("have another question than in a")
    # a few equal questions are a coincidence
    rows = second.assign(question=[f"Other {number}?" for number in range(100)]).drop(columns=ANSWERS)
    rows.loc[:8, "question"] = first["question"][20:29].to_numpy()
    assert signs_of(("a", "m", first), ("b", "n", rows)) == {}
    rows.loc[:8, "question"] = first["question"][20:29].to_numpy()
    rows.loc[9, "question"] = first["question"][30]
    assert signs_of(("a", "m", first), ("b", "n", rows))["b"][0].check == "different-questions"


def test_runs_of_another_task_with_the_same_name():
    first, second = base(), base(80).assign(correct=np.arange(80) % 3 == 0)
    second["question"] = [f"Another question {number}?" for number in range(80)]
    assert "different-questions" not in [
        sign.check for sign in signs_of(("a", "m", first), ("b", "n", second)).get("b", [])
    ]
    second["choices"] = [[f"other {number} {place}" for place in range(4)] for number in range(80)]
    (sign,) = signs_of(("a", "m", first), ("b", "n", second))["b"]
    assert (sign.check, sign.severity) == ("different-questions", "grave")
    # without choices, the targets are compared
    targets = [f"target {number}" for number in range(100)]
    first, second = (rows.drop(columns=ANSWERS) for rows in (first, second))
    fewer = signs_of(("a", "m", first.assign(target=targets)), ("b", "n", second.assign(target=targets[:80])))
    assert [sign.check for sign in fewer["b"]] == ["missing-examples"]
    signs = signs_of(
        ("a", "m", first.assign(target=targets)), ("b", "n", second.assign(target=targets[:0:-1][:80]))
    )
    assert [sign.check for sign in signs["b"]] == ["different-questions"]
    fewer = signs_of(("a", "m", first), ("b", "n", second.assign(target=targets[:80])))
    assert [sign.check for sign in fewer["b"]] == ["missing-examples"]
    same_questions = first.assign(correct=np.arange(100) % 3 == 0, target=[*targets[:97], "a", "b", "c"])
    signs = signs_of(("a", "m", first.assign(target=targets)), ("b", "n", same_questions))
    assert [sign.evidence for sign in signs["b"]] == [
        "3 of 100 examples (3 %) have another gold label than in a"
    ]


def test_other_words_of_all_questions_hide_no_other_difference():
    first = base()
    second = first.assign(correct=np.arange(100) % 3 == 0)
    second["question"] = [f"In other words, what is the answer to {number}?" for number in range(100)]
    assert signs_of(("a", "m", first), ("b", "n", second)) == {}
    shifted = second.copy()
    shifted["right"] = [
        [*row[1:], row[0]] if place < 50 else row for place, row in enumerate(second["right"])
    ]
    (sign,) = signs_of(("a", "m", first), ("b", "n", shifted))["b"]
    assert (sign.check, sign.severity) == ("different-gold-labels", "grave")
    assert sign.evidence == "50 of 100 examples (50 %) have another gold label than in a"
    # letters stand for other texts in another order
    letters = shifted.assign(choices=[[*"ABCD"]] * 98 + [["yes", "no", "maybe", "never"]] * 2)
    assert signs_of(("a", "m", first.assign(choices=letters["choices"])), ("b", "n", letters)) == {}
    sample = second.iloc[np.random.default_rng(0).permutation(100)[:40]]
    (sign,) = signs_of(("a", "m", first), ("b", "n", sample))["b"]
    assert (sign.check, sign.severity) == ("missing-examples", "suspicious")


def test_models_in_one_file():
    rows = base()
    examined = [(model, summarize("f.csv", "task", model, rows)) for model in ("m", "m", "n")]
    ((owner, sign),) = compare_runs(examined)
    assert owner == "n"
    assert sign.evidence == "all predictions are identical to those of another model, m (m in the same file)"
    short = [("m", summarize("f.csv", "task", "m", rows)), ("n", summarize("f.csv", "task", "n", rows[:90]))]
    ((owner, sign),) = compare_runs(short)
    assert sign.evidence == "10 of 100 examples (10 %) of m in the same file are missing"
    with_bytes = [replace(run, fingerprints={"bytes": "the same"}) for _, run in short]
    assert [sign.check for _, sign in compare_runs(enumerate(with_bytes))] == ["missing-examples"]


def test_examples_with_several_results():
    rows = pd.concat([base(), base()[:3]], ignore_index=True)
    (sign,) = [sign for sign in examine(rows) if sign.check == "repeated-results"]
    assert (sign.severity, sign.evidence) == (
        "grave",
        "3 of 103 examples (3 %) repeat an example under the same prompt",
    )
    two_prompts = pd.concat([base(), base().assign(prompt="q")], ignore_index=True)
    assert "repeated-results" not in [sign.check for sign in examine(two_prompts)]
    signs = examine(two_prompts.drop(columns="prompt"))
    assert "repeated-results" in [sign.check for sign in signs]


def test_a_run_of_one_example_with_another_question_is_of_another_task():
    second = base(1).assign(correct=False, question="Another question?")
    assert signs_of(("a", "m", base(1)), ("b", "n", second)) == {}


def test_one_of_several_gold_labels_that_changed():
    marks = [[True, True, False, False]] * 100
    second = base(right=marks).assign(correct=np.arange(100) % 3 == 0)
    for changed in ([True, False, True, False], [False, True, True, False], [True, False, False, False]):
        changed_rows = second.assign(right=[changed] * 2 + marks[2:])
        (sign,) = signs_of(("a", "m", base(right=marks)), ("b", "n", changed_rows))["b"]
        assert sign.evidence == "2 of 100 examples (2 %) have another gold label than in a"


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


def test_identical_runs_whose_rows_are_in_another_order():
    rows = pd.concat([base(60).assign(prompt="p"), base(60).assign(prompt="q", predicted=3, correct=False)])
    turned = rows[::-1].reset_index(drop=True)
    (sign,) = signs_of(("a", "m", rows.reset_index(drop=True)), ("b", "n", turned))["b"]
    assert sign.check == "identical-results"
    without = [table.query("prompt == 'p'").drop(columns="prompt") for table in (rows, turned)]
    (sign,) = signs_of(("a", "m", without[0]), ("b", "n", without[1]))["b"]
    assert sign.check == "identical-results"


def test_questions_in_another_layout_are_the_same():
    second = base().assign(correct=np.arange(100) % 3 == 0)
    questions = [f"What is\n\nit,  really? {number}" for number in range(100)]
    other_layout = [" ".join(question.split()) for question in questions]
    runs = (base().assign(question=questions), second.assign(question=other_layout))
    assert signs_of(*zip("ab", "mn", runs, strict=True)) == {}


def test_questions_are_compared_whatever_the_metric():
    rows = base(question=[f"question {number} of history" for number in range(100)])
    moved = rows.assign(question=rows["question"].to_numpy()[::-1], correct=np.arange(100) % 3 == 0)
    history, fewer_examples, reversed_questions = (
        summarize(name, "task", name, table, metric)
        for name, table, metric in (("a", rows, "acc"), ("b", rows[:90], "f1"), ("c", moved, "f1"))
    )
    signs = [(owner, sign.check) for owner, sign in compare_runs([("a", history), ("c", reversed_questions)])]
    assert signs == [("c", "different-questions")]
    # another metric may score fewer examples
    assert [sign.check for _, sign in compare_runs([("a", history), ("b", fewer_examples)])] == []


def test_examples_that_are_drawn_are_not_missing():
    rows = base().assign(example=list(map(str, range(100)))).drop(index=[3, 50, 51])
    assert [sign.check for sign in examine(rows)] == ["missing-examples"]
    assert examine(rows, is_drawn=True) == []


@pytest.mark.parametrize(
    ("name", "other_name"), [("7", "007"), ("7", "7.0"), ("0", "000"), ("0", "0.0"), ("a7", " A7 ")]
)
def test_an_id_that_is_written_differently_is_recognized(name, other_name):
    full, second = base(), base().assign(correct=np.arange(100) % 3 == 0)
    full["example"] = [name, *full["example"][1:]]
    second["example"] = [other_name, *second["example"][1:]]
    # the last example is missing, too, so this is half of them
    (sign,) = signs_of(("a", "m", full), ("b", "n", second[:99]))["b"]
    assert sign.cause == f"the ids may be written differently, such as '{other_name}' and '{name}'"


def test_unknown_gold_labels_questions_and_choices_are_no_difference():
    full, second = base(), base().assign(correct=np.arange(100) % 3 == 0)
    marks, questions = [*second["right"]], [*second["question"]]
    marks[:40], questions[:40] = [None] * 40, [None] * 40
    unknown = second.assign(right=marks, question=questions)
    assert signs_of(("a", "m", full), ("b", "n", unknown)) == {}
    assert signs_of(("b", "n", unknown), ("a", "m", full)) == {}
    without_choices = second.drop(columns=["right", "choices"])
    assert signs_of(("a", "m", full), ("b", "n", without_choices.assign(chance=np.nan))) == {}
    assert signs_of(("b", "n", without_choices.assign(chance=np.nan)), ("a", "m", full)) == {}
    (sign,) = signs_of(("a", "m", full), ("b", "n", without_choices.assign(chance=0.5)))["b"]
    assert sign.check == "number-of-choices"


def test_two_examples_with_equal_scores_are_enough_for_a_copy():
    rows = base()[:2].assign(logprobs=[[-1.0, -2.0], [-1.5, -0.5]])
    assert [sign.check for sign in signs_of(("a", "m", rows), ("b", "n", rows))["b"]] == ["identical-results"]
    equal = rows.assign(logprobs=[[-1.0, -2.0]] * 2)  # which other models may have, too
    assert signs_of(("a", "m", equal), ("b", "n", equal)) == {}


def test_predictions_of_twenty_examples_are_enough_for_a_copy():
    for examples, checks in ((20, ["identical-results"]), (19, [])):
        rows = base()[:examples].drop(columns=["question"])
        signs = signs_of(("a", "m", rows), ("b", "n", rows)).get("b", [])
        assert [sign.check for sign in signs] == checks


def test_outputs_of_a_few_letters_or_of_two_kinds_are_no_sign_of_a_copy():
    rows, second = base()[:10], base()[:10].assign(correct=np.arange(10) % 3 == 0)
    for outputs, checks in (
        ([f"The answer is number {number % 3}, I think." for number in range(10)], ["identical-results"]),
        ([f"The answer is number {number % 2}, I think." for number in range(10)], []),
        ([f"{number}" for number in range(10)], []),
    ):
        signs = signs_of(
            ("a", "m", rows.assign(output=outputs)), ("b", "n", second.assign(output=outputs))
        ).get("b", [])
        assert [sign.check for sign in signs] == checks


def test_a_prompt_may_lack_its_demonstrations_and_no_other_examples():
    prompts = pd.concat([base().assign(prompt=name) for name in ("p0", "p1")], ignore_index=True)
    assert examine(prompts) == []
    lacking = prompts.drop(index=[103, 104, 105])
    assert examine(lacking, shots=3) == []
    (sign,) = examine(lacking, shots=2)
    assert (sign.check, sign.severity) == ("missing-examples", "suspicious")
    assert sign.evidence == "3 of 100 examples (3 %) are missing under prompt 'p1'"
    assert examine(lacking[lacking["prompt"] == "p1"]) == []


def test_other_questions_with_other_free_answers_are_not_another_template():
    """Yes and no are the answers of unrelated questions, too: half of them agree by chance."""
    generator = np.random.default_rng(0)
    tables = []
    for name in "ab":
        rows = base(100).drop(columns=["choices", "right"], errors="ignore")
        questions = [f"Question {name} {place}?" for place in range(100)]
        tables.append(rows.assign(question=questions, target=generator.choice(["yes", "no"], 100)))
    checks = [sign.check for sign in signs_of(("a", "m", tables[0]), ("b", "n", tables[1]))["b"]]
    assert "different-gold-labels" in checks
    alike_answers = tables[1].assign(target=tables[0]["target"])
    checks = [sign.check for sign in signs_of(("a", "m", tables[0]), ("b", "n", alike_answers)).get("b", [])]
    assert "different-gold-labels" not in checks
    # targets that are shifted by an example are not those of the same questions
    sums = [str(3 * place + 7) for place in range(100)]
    pair = [tables[0].assign(target=sums), tables[1].assign(target=sums[:50] + sums[51:] + ["9999"])]
    checks = [sign.check for sign in signs_of(("a", "m", pair[0]), ("b", "n", pair[1]))["b"]]
    assert "different-gold-labels" in checks
    # letters and digits stand for other choices in another template, and numbers can be written differently
    half = np.arange(100) < 50
    for words, other_words in (
        (["A", "B"], ["B", "A"]),
        (["1", "2"], ["2", "1"]),
        (["42", "42.0"], ["42.0", "42"]),
    ):
        targets = np.array(words)[np.arange(100) % 2]
        other_targets = np.where(half, targets, np.array(other_words)[np.arange(100) % 2])
        pair = [tables[0].assign(target=targets), tables[1].assign(target=other_targets)]
        signs = signs_of(("a", "m", pair[0]), ("b", "n", pair[1])).get("b", [])
        assert "different-gold-labels" not in [sign.check for sign in signs]
    pair = [tables[0].assign(target=sums), tables[1].assign(target=[f"{text}.0" for text in sums])]
    checks = [sign.check for sign in signs_of(("a", "m", pair[0]), ("b", "n", pair[1])).get("b", [])]
    assert not {"different-gold-labels", "different-questions"} & {*checks}
    same_questions = pair[1].assign(question=pair[0]["question"])
    checks = [sign.check for sign in signs_of(("a", "m", pair[0]), ("b", "n", same_questions)).get("b", [])]
    assert "different-gold-labels" not in checks
    # large numbers are not rounded
    pair = [
        table.assign(target=[str(10**20 + place + 5000 * (name == "b")) for place in range(100)])
        for name, table in zip("ab", tables, strict=True)
    ]
    checks = [sign.check for sign in signs_of(("a", "m", pair[0]), ("b", "n", pair[1]))["b"]]
    assert "different-questions" in checks
