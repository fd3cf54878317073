"""The comparison of a recomputed published study with the numbers of its page."""

import pandas as pd
import pytest

from tests.verify_release import PAGE, POSITIONS, differences

VERDICTS = {"position": ["above"], "shots": [1], "guessing_above": [0.5], "maximum_tail": [0.9]}
TABLES = {
    "verdicts": pd.DataFrame({**VERDICTS, "bh_tail": [1.0], "by_tail": [1.0], "holm_tail": [1.0]}),
    "changes_count": pd.DataFrame(
        {"published, down; by the data, across": POSITIONS, **{name: [0, 0, 7] for name in POSITIONS}}
    ),
    "published_verdicts": pd.DataFrame(VERDICTS),
    "published_heldout_difference": pd.DataFrame({"difference": [-0.01312]}),
    "heldout_difference": pd.DataFrame(
        {
            "measure": ["auroc", "accuracy", "tail_auroc"],
            **dict.fromkeys(["maximum", "difference", "low", "high"], 9.0),
        }
    ),
    "changes": pd.DataFrame({"task": ["a"] * 13}),
    "audit_summary": pd.DataFrame({"finding": ["other examples", "merged examples"], "rows": [1, 9]}),
}


def test_each_number_of_the_page_is_compared():
    rows = [*differences(PAGE.read_text(), TABLES.__getitem__)]
    assert not [row for row in rows if "has no text like" in row]
    assert any("'| merged examples | 45 |': 45 is stated, but 9.00 was recomputed" in row for row in rows)
    assert any("89 is stated, but 7.00" in row for row in rows)
    correct = ("no metric changes", "The corrections change", "| other examples |")
    assert not [row for row in rows if any(text in row for text in correct)]


def test_a_sentence_that_is_gone_is_named():
    page = PAGE.read_text().replace("Holm's\nmethod", "Another").replace("Holm's method", "Another")
    rows = [*differences(page.replace("Holm's", "Another"), TABLES.__getitem__)]
    assert any("has no text like" in row for row in rows)


@pytest.mark.parametrize("name", TABLES)
def test_every_table_is_used(name):
    with pytest.raises(KeyError, match=name):
        [*differences(PAGE.read_text(), {key: TABLES[key] for key in TABLES if key != name}.__getitem__)]
