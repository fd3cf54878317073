"""Arguments that name no candidate, or no whole number: an error, and not another result."""

import numpy as np
import pytest

from abovechance import RandomBaseline
from abovechance.best import (
    Candidates,
    debiased_score,
    examples_for_difference,
    judge_best,
    judge_reported,
)

CANDIDATES = Candidates.from_scores(np.eye(4, 30))


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
    assert judge_reported([0.5, 0.6], [50.0, 50.0], names=["a", "b"]).chosen == "b"
    assert RandomBaseline.from_choices({np.int64(2): 10, 4.0: 10}).standard == 0.375
