"""Series of models in a config."""

import pytest
import yaml

from abovechance.core.errors import InputError
from abovechance.study.config import precision_pairs, resolve
from abovechance.study.series import check_apart, members, shown_of, training_of, written_out
from tests.test_bad_inputs import DOWNLOADS, GOOD, SCHEMA

ENTRY = {"hub": "org/model-seed{seed}", "revision": "step{step}", "seeds": [1, 2], "steps": [0, 10]}


def test_an_entry_stands_for_its_seeds_and_checkpoints():
    entries = written_out({"m": {**ENTRY, "precision": "nf4"}, "other": {"hub": "org/o"}}, "c.yaml")
    assert list(entries) == ["m-seed1-step0", "m-seed1-step10", "m-seed2-step0", "m-seed2-step10", "other"]
    assert entries["m-seed2-step10"] == {
        "hub": "org/model-seed2",
        "revision": "step10",
        "precision": "nf4",
        "series": {"name": "m", "seed": 2, "checkpoint": 10},
    }
    assert entries["other"] == {"hub": "org/o"}
    assert list(members(entries)) == list(entries)[:4]


def test_a_base_model_alone_is_a_series_of_one_seed():
    entries = written_out({"m": {"path": "at/{step}", "steps": [5, 7]}}, "c.yaml")
    assert [rows["series"] for rows in entries.values()] == [
        {"name": "m", "seed": 0, "checkpoint": step} for step in (5, 7)
    ]
    assert [rows["path"] for rows in entries.values()] == ["at/5", "at/7"]


def test_a_config_with_a_series_is_checked_and_resolves_to_itself():
    config = GOOD | {"models": {"m": {**ENTRY, "precision": "nf4"}}}
    resolved_config = resolve(config, SCHEMA, DOWNLOADS, "c.yaml")
    repeated = resolve(yaml.safe_load(yaml.safe_dump(resolved_config)), SCHEMA, DOWNLOADS, "c.yaml")
    assert repeated == resolved_config
    assert len(members(resolved_config["models"])) == 4
    assert precision_pairs(resolved_config["models"]) == []


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"seeds": "1-9"}, "'models.m.seeds' is '1-9'; expected a list of whole numbers, each once"),
        ({"seeds": [1, 1]}, "expected a list of whole numbers, each once"),
        ({"steps": [True]}, "expected a list of whole numbers, each once"),
        ({"steps": []}, "expected a list of whole numbers, each once"),
        ({"hub": "org/model"}, "'models.m.seeds' has 2 numbers, and nothing says where each model lies"),
    ],
)
def test_what_is_no_series_is_told(changes, message):
    with pytest.raises(InputError, match=message):
        written_out({"m": ENTRY | changes}, "c.yaml")


def test_two_models_of_one_name_are_told():
    with pytest.raises(InputError, match="key 'models.m-step5' stands for two models"):
        written_out({"m": {"path": "x{step}", "steps": [5]}, "m-step5": {"path": "y"}}, "c.yaml")


def place_in_series(name: str, seed: int, checkpoint: int) -> dict[str, dict[str, object]]:
    return {"series": {"name": name, "seed": seed, "checkpoint": checkpoint}}


def test_checkpoints_of_one_training_go_by_its_name_and_the_last_of_the_first_seed_is_drawn():
    models = written_out({"m": ENTRY, "other": {"hub": "org/o"}}, "c.yaml")
    assert [training_of(*item) for item in models.items()] == ["m-seed1"] * 2 + ["m-seed2"] * 2 + ["other"]
    assert shown_of([*models], models) == ["m-seed1-step10", "other"]
    assert shown_of(["imported"], {}) == ["imported"]


def test_one_place_of_a_series_has_one_model():
    check_apart({"a": place_in_series("s", 1, 5), "b": place_in_series("s", 1, 6), "c": {}}, "c.yaml")
    with pytest.raises(InputError, match="'models.a' and 'models.b' are both checkpoint 5 of seed 1 of 's'"):
        check_apart({"a": place_in_series("s", 1, 5), "b": place_in_series("s", 1, 5)}, "c.yaml")
    with pytest.raises(InputError, match="'models.s-seed1' has the name of a training of 's'"):
        check_apart({"a": place_in_series("s", 1, 5), "s-seed1": {}}, "c.yaml")
