"""Rows of sound runs, made by hand, and the signs that checks find in rows."""

import numpy as np
import pandas as pd

from abovechance.doctor.answers import check_answers
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


def scores(ties, examples=100, choices=4, tied=-1.5):
    values = np.minimum(np.random.default_rng(1).normal(-3, 1, (examples, choices)), -0.01)
    values[:ties] = tied
    return [list(line) for line in values]


OUTPUT = [f"The answer to number {number} is clear." for number in range(100)]
