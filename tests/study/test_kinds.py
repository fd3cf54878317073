"""Kinds of prompts."""

import io

import pandas as pd

from abovechance.study.kinds import DRAWN, HARDEST, KINDS, NULL, TRAINING, TRAINING_NULL, kinds_of


def test_a_study_scores_the_kinds_that_its_config_asks_for():
    assert kinds_of({}) == [DRAWN]
    assert kinds_of({"pvi": {}}) == kinds_of({"pvi": None}) == [DRAWN, NULL]
    command = kinds_of({"pvi": {"training_examples": 5}})
    assert command == [DRAWN, NULL, TRAINING, TRAINING_NULL, HARDEST] == [*KINDS]


def test_kinds_have_folders_of_their_own_and_names_that_come_back_from_a_csv():
    assert len({kind.scores for kind in KINDS}) == len({kind.ledgers for kind in KINDS}) == len(KINDS)
    names = pd.Series([kind.name for kind in KINDS])
    assert pd.read_csv(io.StringIO(names.to_csv())).iloc[:, 1].tolist() == names.tolist()
