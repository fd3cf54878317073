"""Arguments that name no candidate, or no whole number: an error, and not another result."""

import numpy as np
import pandas as pd
import pytest

from abovechance import RandomBaseline
from abovechance.best import (
    Candidates,
    debiased_difference,
    debiased_score,
    examples_for_difference,
    judge_best,
    judge_reported,
)

from_scores = Candidates.from_scores
CANDIDATES = from_scores(np.eye(4, 30))
FRAME = pd.DataFrame(np.eye(2), columns=["x", "y"])
MOVED = pd.Series([1.0, 0.5], index=["y", "x"])


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda: judge_best(CANDIDATES, start=-1), "start is -1; expected the place of one of 4 candidates"),
        (lambda: judge_best(CANDIDATES, start=4), "start is 4; expected the place of one of 4 candidates"),
        (lambda: debiased_score(CANDIDATES, splits=0), "splits is 0; expected at least 1"),
        (lambda: examples_for_difference(0.1, 2.5), "candidates is 2.5; expected .* whole"),
        (lambda: judge_reported([0.5, 0.6], [50.5, 50]), "expected a whole number"),
        (lambda: judge_reported([0.5, 0.6], 50, names=["a", "a"]), "2 names for 2 candidates"),
        (lambda: judge_reported([0.5, 0.6], 50, names=["a"]), "1 names for 2 candidates"),
        (lambda: debiased_difference(CANDIDATES, 4), "^start is 4; expected 0 to 3$"),
        (lambda: debiased_difference(CANDIDATES, -1), "^start is -1; expected 0 to 3$"),
        (
            lambda: from_scores(np.eye(2)[0]),
            r"^scores have the shape \(2,\); expected \(candidates, examples\)$",
        ),
        (lambda: from_scores(np.eye(2), ["a"]), "^1 names for 2 candidates; expected a name for each$"),
        (lambda: from_scores(np.eye(2), ["a"] * 2), "^2 names for 2 candidates; expected a name for each$"),
        (
            lambda: from_scores([[0, 1, 2], [0, 1, -1]], ["a", "b"]),
            "^candidate 'a', example 2: the score is 2; expected a number from 0 to 1$",
        ),
        (
            lambda: from_scores([[0, 1, 1], [0, 1, -1]], ["a", "b"]),
            "^candidate 'b', example 2: the score is -1; expected a number from 0 to 1$",
        ),
        *(
            (
                lambda chance=chance: from_scores(np.eye(2), chance=chance),
                rf"^chance has the shape \({len(chance)},\); expected \(2,\) numbers from 0 to 1$",
            )
            for chance in ([0.5], [0.5, 1.5], [0.5, -0.1])
        ),
        (lambda: from_scores(FRAME, None, MOVED), "labels"),
        (lambda: from_scores(FRAME, chance=MOVED), "labels"),
        (lambda: judge_reported(MOVED, MOVED[::-1] * 50), "labels"),
        (lambda: RandomBaseline.from_choices({4.5: 10}), "choices has 4.5"),
        (lambda: RandomBaseline.from_choices({"2": 10}), "choices has '2'"),
        (lambda: RandomBaseline.from_choices({0: 10}), "choices has 0"),
    ],
)
def test_wrong_arguments(function, message):
    with pytest.raises(ValueError, match=message):
        function()


def test_right_arguments():
    assert judge_best(CANDIDATES, start=3).start == "3"
    assert from_scores(np.eye(2), chance=[1, 0]).chance is not None
    assert judge_reported([0.5, 0.6], [50.0, 50.0], names=["a", "b"]).chosen == "b"
    assert RandomBaseline.from_choices({np.int64(2): 10, 4.0: 10}).standard == 0.375
