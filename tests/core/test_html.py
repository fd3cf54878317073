"""Results as notebooks show them."""

import numpy as np
import pytest

from abovechance.compare import compare, over_prompts, over_seeds
from abovechance.core.estimates import Estimate, student
from abovechance.pvi import accuracy_of_tails, correlation, one_way, repeated_measures, summary, threshold

RNG = np.random.default_rng(0)
ANSWERS = RNG.integers(0, 2, (2, 6, 40))
PVI = RNG.normal(size=(4, 40))


@pytest.mark.parametrize(
    "result",
    [
        compare(*ANSWERS[:, 0]),
        over_prompts(*ANSWERS),
        over_seeds(*ANSWERS),
        correlation(*PVI[:2]),
        summary(PVI[0]),
        one_way([PVI[0, :5], PVI[1, :5]]),
        repeated_measures(PVI),
        accuracy_of_tails(PVI[0], PVI[0] > 0, 0.2),
        threshold(PVI[0], PVI[0] > 0),
    ],
    ids=lambda result: type(result).__name__,
)
def test_every_result_is_a_table_with_a_row_for_each_field(result):
    html = result._repr_html_()
    assert html.startswith("<table>")
    assert html.count("<tr>") == len(result._fields)
    assert "Estimate(" not in html
    for field in result._fields:
        assert f">{field.replace('_', ' ')}<" in html


def test_an_estimate_is_written_with_its_interval():
    assert str(student(-0.04, 0.02, 30)) == "-0.04 (95% interval -0.0808 to 0.000845, p = 0.055)"
    assert str(Estimate(0.5)) == "0.5"
    assert str(Estimate(0.5, low=0.25, high=0.75)) == "0.5 (95% interval 0.25 to 0.75)"
