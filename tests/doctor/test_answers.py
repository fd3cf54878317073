"""Checks of predictions, scores and gold labels at their limits: severity, evidence and cause."""

import numpy as np
import pandas as pd
import pytest

from abovechance.doctor.answers import MOST_TIES, TIES_OF_MORE, TIES_OF_TWO
from abovechance.doctor.runs import examine
from abovechance.doctor.suspicion import Suspicion, graded, of_examples
from tests.doctor.rows import base, scores, severities, signs_in


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


def test_ties_of_results_without_scores():
    # as in a study, whose predictions have no scores
    for ties, severity in ((24, []), (25, ["suspicious"]), (49, ["suspicious"]), (50, ["grave"])):
        rows = base().drop(columns="logprobs", errors="ignore")
        rows["tie"] = np.arange(len(rows)) < ties
        assert severities(rows, "equal-scores") == severity
    (sign,) = signs_in(rows, "equal-scores")
    assert sign.evidence.endswith("wrong choice share the highest score in 50 of 100 examples (50 %)")


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


@pytest.mark.parametrize("impossible", [-np.inf, -1000.0])
@pytest.mark.parametrize("choices", [2, 4])
def test_scores_of_a_sure_model_are_not_constant(choices, impossible):
    """It gives one choice all the probability, and mostly the gold label's."""
    rows = base(300, choices)
    gold = np.array([flags.index(True) for flags in rows["right"]])
    generator = np.random.default_rng(0)

    def with_scores(predicted: np.ndarray) -> pd.DataFrame:
        lines = [[0.0 if place == label else impossible for place in range(choices)] for label in predicted]
        return rows.assign(logprobs=lines, predicted=predicted, correct=predicted == gold)

    good = np.where(generator.random(300) < 0.93, gold, (gold + 1) % choices)
    assert signs_in(with_scores(good), "constant-scores") == []
    # guesses that are as sure, and those of a cache that returns the scores of the first example
    assert severities(with_scores(generator.permutation(gold)), "constant-scores") != []
    assert severities(with_scores(np.where(np.arange(300) < 200, 0, gold)), "constant-scores") == ["grave"]
    unknown = with_scores(good).drop(columns=["right", "choices"])
    assert severities(unknown, "constant-scores") != []


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
    # if nearly all gold labels have the same position, this is no sign
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


def test_shifted_labels_under_several_prompts_are_counted_in_examples():
    rows = shifted(1)
    several = pd.concat([rows.assign(prompt=name) for name in "pqr"], ignore_index=True)
    assert signs_in(several, "shifted-labels") == signs_in(rows, "shifted-labels")
    # one of three prompts predicts another label
    gold = np.array([int(np.argmax(flags)) for flags in rows["right"]])
    is_other = (several["prompt"] == "r").to_numpy()
    several["predicted"] = np.where(is_other, (np.tile(gold, 3) + 2) % 4, several["predicted"])
    (sign,) = signs_in(several, "shifted-labels")
    assert sign.evidence == (
        "predictions agree with the gold label plus 1 in 67 of 100 examples (67 %), and with the gold label "
        "itself in 0"
    )


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


def test_free_text_among_choices_is_named():
    rows = base(choices=2).assign(chance=[0.0] * 97 + [0.25] * 3)
    (sign,) = signs_in(rows, "number-of-choices")
    assert sign.evidence.endswith("choices per correct one (4) than the rest (free text)")
    (sign,) = signs_in(rows.assign(chance=[0.0] * 3 + [0.25] * 97), "number-of-choices")
    assert sign.evidence.endswith("choices per correct one (free text) than the rest (4)")
