"""The comparison of a recomputed published study with the numbers of the docs' pages."""

import numpy as np
import pandas as pd
import pytest

from tests.stated import text_of
from tests.verify_release import PAGES, POSITIONS, all_differences

VERDICTS = {
    **{"model": ["OLMo-7B"], "task": ["emoji_movie"], "shots": [4], "position": ["above"]},
    **{"best_accuracy": [0.9], "maximum_baseline": [0.3181], "guessing_above": [0.5], "maximum_tail": [0.9]},
    **{"bh_tail": [1.0], "by_tail": [1.0], "holm_tail": [1.0]},
    **{"better_than_chance": ["yes"], "unbeaten_guesser": [np.nan]},
}
GUESSERS = ["longest choice", "position", "majority label"]
OTHER = "prompt 0 is evaluated on 187 ids that are not in the release's sample of the task"
EVIDENCE = {"other examples": OTHER, "merged examples": "103 examples have 40 ids"}
CHANGED = ["winowhy", "conceptual_combinations", "strange_stories", "emoji_movie"]
SIZES = [("2", "up to 50"), ("2", "above 100"), ("10", "up to 50"), ("10", "above 100"), ("200", "up to 50")]
SIZES += [("200", "above 100"), ("200", "all")]
TABLES = {
    "verdicts": pd.DataFrame(VERDICTS),
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
    "heldout_by_prompts": pd.DataFrame(
        {"requested_prompts": [200], "predictor": ["maximum"], "guessers_tail_auroc": [0.4809]}
    ),
    "heldout_debiased": pd.DataFrame(SIZES, columns=["requested_prompts", "validation_examples"])
    .astype({"requested_prompts": int})
    .assign(validation_error=0.026, debiased_error=-0.002, coverage=0.95),
    "changes": pd.DataFrame(
        {
            **{"task": CHANGED, "position_published": ["above", "above", "below", "between"]},
            **{"position_data": ["between", "between", "between", "above"]},
            **{"examples_data": [200, 39, 9, 9], "examples_published": [200, 99, 9, 9]},
            **{"prompts_data": [9, 9, 9, 85], "prompts_published": [9, 9, 9, 100]},
        }
    ),
    "audit": pd.DataFrame({"finding": EVIDENCE.keys(), "evidence": EVIDENCE.values()}),
    "audit_summary": pd.DataFrame({"finding": ["other examples", "merged examples"], "rows": [1, 9]}),
    "ladder_guessers": pd.DataFrame(
        {
            **{"guesser": ["uniform", *GUESSERS], "settings": [1, 82, 76, 1]},
            **{"better": [1, 41, 38, 1], "better_beaten": [1, 9, 17, 1]},
        }
    ),
}


def rows(text=text_of):
    return [*all_differences(TABLES.__getitem__, text)]


def test_each_number_of_the_pages_is_compared():
    assert not [row for row in rows() if "has no text like" in row]
    for expected in [
        "'| merged examples | 45 | 103 examples have 40 ids |': 45 is stated, but 9.00 was computed",
        "89 is stated, but 7.00",
        "guessers.md: '| majority label | 45 | 16 | 4 |': 45 is stated, but 1.00 was computed",
        "method.md: 'best prompt (30.2 %) is below 31.8 %': 30.2 is stated, but 90.000 was computed",
        "best.md: '| 200 | all | +5.2 | -0.7 | .983 |': .983 is stated, but 0.95000 was computed",
        "102 is stated, but 99.00",
    ]:
        assert any(expected in row for row in rows()), expected
    correct = ("no metric changes", "| other examples |", "AUROC of random", "On emoji", "longest choice")
    assert not [row for row in rows() if any(text in row for text in correct)]


def test_a_sentence_that_is_gone_is_named():
    gone = rows(lambda name: text_of(name).replace("Holm's", "Another").replace("| position |", ""))
    (published, guessers) = [row for row in gone if "has no text like" in row]
    assert published.startswith("published.md: has no text like")
    assert guessers.startswith("guessers.md: has no text like")
    evidence = rows(
        lambda name: text_of(name).replace("103 examples have 40 ids", "104 examples have 40 ids")
    )
    assert [row for row in evidence if "has no text like" in row and "merged" in row]


@pytest.mark.parametrize("name", TABLES)
def test_every_table_is_used(name):
    with pytest.raises(KeyError, match=name):
        [*all_differences({key: TABLES[key] for key in TABLES if key != name}.__getitem__)]


def test_pages_exist():
    assert all(text_of(name) for name in PAGES)
