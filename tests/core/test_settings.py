"""A setting's name and seeds, which decide splits and draws, and going through tables by it."""

import hashlib

import pandas as pd

from abovechance.core.settings import SETTING, Setting, by_setting, setting_of
from abovechance.core.tables import setting_columns

ONE = Setting("org--model", "sums", 4)


def test_a_settings_name_and_words_are_what_they_were():
    assert ONE.name == "org--model/sums/4"
    assert ONE.words == "org--model, sums, 4-shot"


def test_seeds_are_made_of_the_studys_seed_the_name_and_the_purpose():
    def expected(text: str) -> int:
        return int(hashlib.sha256(f"{len(text)}:{text}".encode()).hexdigest()[:16], 16)

    assert ONE.seed(0) == expected("0/org--model/sums/4")
    assert ONE.seed(7, "examples") == expected("7/org--model/sums/4/examples")
    assert len({ONE.seed(0), ONE.seed(1), ONE.seed(0, "prompts"), ONE.seed(0, "examples")}) == 4


def test_a_table_is_gone_through_in_the_order_of_its_settings():
    parts = [
        Setting(model, "t", shots).label(pd.DataFrame({"x": [shots, 1]}))
        for model in "ba"
        for shots in (4, 1)
    ]
    items = list(by_setting(pd.concat(parts, ignore_index=True)))
    assert [setting for setting, _ in items] == [("b", "t", 4), ("b", "t", 1), ("a", "t", 4), ("a", "t", 1)]
    assert all(setting_of(rows) == setting for setting, rows in items)


def test_the_columns_of_a_setting_are_its_fields():
    assert [*setting_columns()] == [*setting_columns(many=True)] == SETTING == list(Setting._fields)
