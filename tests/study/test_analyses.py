"""Which analyses follow in a study, from what their files declare."""

from __future__ import annotations

import pytest

from abovechance.study.analyses import FACTS, Analysis, analyses_of, facts_of
from tests.conftest import REPOSITORY

FOLDER = REPOSITORY / "workflow" / "rules" / "analyses"
OF_PREDICTIONS = ["selection", "verdicts", "heldout", "debiased", "spread", "agreement"]
WITH_LADDER = ["ladder", *OF_PREDICTIONS, "ladder_tables"]


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        (set(), []),
        ({"series"}, ["series"]),
        ({"predictions"}, [*OF_PREDICTIONS, "expected_maximum"]),
        ({"predictions", "several models"}, [*OF_PREDICTIONS, "models", "expected_maximum"]),
        ({"predictions", "release", "items"}, [*WITH_LADDER, "published", "items"]),
        (
            {"predictions", "tasks", "scores", "formulations"},
            [
                "ladder",
                "left_out",
                "randomization",
                *WITH_LADDER[1:],
                "expected_maximum",
                "series_scores",
                "formulations",
            ],
        ),
    ],
)
def test_the_facts_decide_which_analyses_follow(facts, expected):
    assert analyses_of(FOLDER, facts) == expected


def test_a_study_that_has_everything_has_every_analysis_but_those_that_others_replace():
    files = {path.stem for path in FOLDER.glob("*.smk")}
    assert {*analyses_of(FOLDER, FACTS)} == files - {"expected_maximum"}


def test_verdicts_come_after_what_they_carry():
    order = analyses_of(FOLDER, FACTS)
    assert max(order.index("left_out"), order.index("randomization")) < order.index("verdicts")


def test_every_fact_is_needed_by_some_analysis_and_known_to_some_start():
    needs = {
        fact
        for path in FOLDER.glob("*.smk")
        for need in Analysis.read(path).needs
        for fact in need.split(" or ")
    }
    assert needs == {*FACTS}
    models = {
        "a-seed1": {"series": {"name": "a", "seed": 1, "checkpoint": 9}, "precision": "float32"},
        "a-seed2": {"series": {"name": "a", "seed": 2, "checkpoint": 9}, "precision": "float32"},
        "b": {"download": "x", "file": "y", "precision": "float32"},
        "c": {"download": "x", "file": "y", "precision": "nf4"},
    }
    tasks = {name: {"formulation_of": "t"} for name in ("t-cloze", "t-letters")}
    study = {"models": models, "tasks": tasks, "items": {}, "pvi": {"training_examples": 9}}
    rules = FOLDER.parent
    of_starts = "".join(path.read_text() for path in [rules / "by_model.smk", *(rules / "starts").iterdir()])
    assert [fact for fact in needs - facts_of(study) if f'"{fact}"' not in of_starts] == []


@pytest.mark.parametrize(
    ("declaration", "message"),
    [
        ("needs: predictions, telepathy", "telepathy"),
        ("in: predictions", "needs nothing"),
        ("needs: predictions\nafter: nothing_of_the_kind", "names nothing_of_the_kind"),
        ("needs: predictions\naftr: spread", "declares 'aftr'"),
        ("needs: predictions\nneeds: tasks", "declares a word twice"),
        ("needs: predictions\ninstead of: mine", "names itself"),
        ("  needs: predictions", "declares '  needs'"),
    ],
)
def test_a_declaration_that_cannot_be_met_is_an_error(tmp_path, declaration, message):
    (tmp_path / "mine.smk").write_text(f'"""Mine.\n\n{declaration}\n"""')
    with pytest.raises(ValueError, match=message):
        analyses_of(tmp_path, FACTS)


def test_a_circle_and_a_file_without_a_text_are_errors(tmp_path):
    for name, second in (("a", "b"), ("b", "a")):
        (tmp_path / f"{name}.smk").write_text(f'"""Mine.\n\nneeds: predictions\nafter: {second}\n"""')
    with pytest.raises(ValueError, match="expected no circle"):
        analyses_of(tmp_path, FACTS)
    (tmp_path / "a.smk").write_text("rule a:\n    input: 'x'\n")
    with pytest.raises(ValueError, match=r"a\.smk: needs nothing"):
        analyses_of(tmp_path, FACTS)
