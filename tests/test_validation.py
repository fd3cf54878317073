"""The tables of docs/validation.md are those of the scripts that compute them, and what they show is true."""

import re

import pytest

from tests.bench import validation
from tests.bench.independent import COMPARISONS
from tests.bench.validation import PAGE, PAGES, RATES, TABLES
from tests.test_calculator import NODE, random_inputs

TEXT = PAGE.read_text(encoding="utf-8")
ALL = "\n".join(path.read_text(encoding="utf-8") for path in PAGES)
# they take long, whatever the repetitions
MEASURED = {"independent", "baselines", "baselines-speed", "any-metric", "doctor"}


def test_the_pages_have_each_table_once():
    assert sorted(re.findall(r"<!-- table (.*?) -->", ALL)) == sorted([*TABLES, "rates"])


@pytest.mark.skipif(NODE is None, reason="there is no node on this machine")
def test_the_calculator_was_compared_with_as_many_values_as_stated():
    quantity, _, _, number, _ = COMPARISONS[-1]
    table = validation.read(ALL, "independent").set_index("quantity")
    assert quantity == "baselines and tails of the calculator"
    assert table.loc[quantity, "values"] == f"{4 * len(random_inputs(number)):,}"  # both baselines and tails


@pytest.mark.thorough
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] * (name == "intervals"))
        for name in sorted({*TABLES} - MEASURED)
    ],
)
def test_a_table_has_the_rows_that_its_script_yields(name):
    """With the smallest number of repetitions: numbers differ, rows and columns do not."""
    function, repetitions, repeated = TABLES[name]
    rows = [*function(min(repetitions, 2))]
    table = validation.read(ALL, name)
    assert [*table.columns] == [heading.strip() for heading in rows[0]]
    texts = [column for column in rows[0] if isinstance(rows[0][column], str)][:1] or [next(iter(rows[0]))]
    for heading in texts:
        assert table[heading].tolist() == [validation.cell(row[heading]) for row in rows]
    if repetitions:
        assert f"{repetitions:,} {repeated}, random seed 0" in ALL


def test_the_overview_is_that_of_the_tables():
    match = validation.block("rates").search(TEXT)
    assert match is not None
    assert match[2] == validation.rates(TEXT)


def test_no_test_errs_more_often_than_stated():
    """Beyond what the number of simulated studies explains: 0.05 and 3.5 standard errors of 300 studies."""
    table = validation.read(TEXT, "rates").set_index("test")
    assert len(table) == len(RATES) + 1
    assert (table["largest"].astype(float) < 0.05 + 3.5 * (0.05 * 0.95 / 300) ** 0.5).all()
    means = table["mean"][table["mean"] != ""].astype(float)
    assert (means <= 0.055).all()


def test_independent_results_agree():
    for difference in validation.read(TEXT, "independent")["largest difference"]:
        assert float(difference.split()[0]) < 1e-7


def test_a_table_is_replaced_and_nothing_else():
    rows = [{"a": 0.12345, "b": 1000, "c": "text", "d": float("nan")}]
    assert validation.markdown(rows) == (
        "| a | b | c | d |\n| --- | --- | --- | --- |\n| 0.123 | 1,000 | text |  |\n"
    )
