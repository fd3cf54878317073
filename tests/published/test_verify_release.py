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
    "items": pd.DataFrame(
        {
            **{"task": ["winowhy", "strategyqa"], "halves": [0.914, 1.0], "by_answer": [0.9987, 0.531]},
            **{"balanced": [0.006, 0.5], "best_and_rest": [-0.83, 0.88]},
        }
    ),
    "item_list": pd.DataFrame(
        {"constant": [False, False, True], "corrected": [0.05, -0.2, 0.0], "rmsd": 1.0, "rmsd_95": [0, 2, 0]}
    ),
    "item_fit": pd.DataFrame(
        {
            **{"model": ["item response theory", "rows and items"], "dimensions": [1, 0]},
            "log_loss": [0.284, 0.422],
        }
    ),
    "item_pruning": pd.DataFrame(
        {
            **{"task": "t", "split": ["random rows", "new models", "best rows"], "outside": "yes"},
            **{"mean_change": [0.03, -0.04, 0.07], "error": 0.1, "error_after": [0.105, 0.106, 0.108]},
        }
    ),
    "smaller_benchmarks": pd.DataFrame(
        [
            ("new models", "all examples", 181, 11),
            *(("new models", "random", size, 11) for size in (10, 25, 50, 100)),
            ("random rows", "responses", 100, 11),
        ],
        columns=["split", "method", "examples", "tasks"],
    ).assign(error=0.0072, flips=0.04, flips_best=0.2, standard_error=0.0269),
    "adaptive": pd.DataFrame(
        {
            **{"question": "which of two models", "way": "random", "evaluations": 144},
            **{"share": [0.759], "wrong": 0.007, "wrong_limit": 0.5},
        }
    ),
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
        "best.md: '| 200 | all | +5.4 | -0.5 | .981 |': .981 is stated, but 0.95000 was computed",
        "102 is stated, but 99.00",
        "items.md: 'tasks have 2,193 items that are not constant.",
        "2,193 is stated, but 2.00 was computed",
        "9.4 is stated, but 0.720 was computed",
        "3.3 is stated, but 50.000 was computed",
    ]:
        assert any(expected in row for row in rows()), expected
    correct = ("no metric changes", "| other examples |", "AUROC of random", "On emoji", "longest choice")
    correct += ("log loss", "increases by", "best rows", "responses has an error", "2.4 is stated")
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
