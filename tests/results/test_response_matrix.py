"""Predictions as matrices of prompts and examples."""

import pandas as pd
import pytest

from abovechance.core.errors import InputError
from abovechance.results.response_matrix import ResponseMatrix

ROWS = pd.DataFrame({"prompt": [0, 0, 1], "example": ["a", "b", "a"], "correct": True, "chance": 0.5})


def test_predictions_of_several_settings_are_refused():
    assert ResponseMatrix.from_predictions(ROWS).evaluated.tolist() == [[True, True], [True, False]]
    with pytest.raises(
        InputError, match="example 'a' has two rows under prompt '0'; expected .* of one model"
    ):
        ResponseMatrix.from_predictions(pd.concat([ROWS, ROWS]))
    with pytest.raises(InputError, match="no predictions"):
        ResponseMatrix.from_predictions(ROWS[:0])
