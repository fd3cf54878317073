"""The predictions that belong to a study, after its config was changed."""

from pathlib import Path

import pandas as pd
import pytest
import yaml

from abovechance.importers import own
from abovechance.study.config_file import predictions_files


@pytest.fixture
def study(tmp_path: Path) -> Path:
    (tmp_path / "predictions").mkdir()
    for name in ("first", "second", "mine-seed1"):
        (tmp_path / "predictions" / f"{name}.parquet").touch()
    return tmp_path


def names(study: Path) -> list[str]:
    return [path.stem for path in predictions_files(study)]


def test_models_that_a_study_had_before_are_left_out(study):
    models = {
        "second": {"path": "tiny"},
        "step-100": {"series": {"name": "mine", "seed": 1, "checkpoint": 100}},
    }
    (study / "config.yaml").write_text(yaml.safe_dump({"study": "s", "models": models}))
    assert names(study) == ["mine-seed1", "second"]


def test_without_a_list_of_models_all_count(study):
    assert names(study) == ["first", "mine-seed1", "second"]
    (study / "config.yaml").write_text("study: s\npredictions: a.parquet\n")
    assert names(study) == ["first", "mine-seed1", "second"]


def test_an_imported_study_has_the_models_of_its_verdicts(study):
    (study / "config.yaml").write_text("study: s\npredictions: a.parquet\n")
    (study / "tables").mkdir()
    pd.DataFrame({"model": ["second", "second"]}).to_parquet(study / "tables" / "verdicts.parquet")
    assert names(study) == ["second"]
    for table in (pd.DataFrame({"a": [1]}), None):
        path = study / "tables" / "verdicts.parquet"
        path.write_bytes(b"PAR1") if table is None else table.to_parquet(path)
        assert names(study) == ["first", "mine-seed1", "second"]


def test_a_folder_of_predictions_is_read_as_its_study(study, monkeypatch):
    monkeypatch.setattr(own, "_has_predictions", lambda path: True)
    (study / "config.yaml").write_text("models: {first: {path: tiny}}\n")
    assert [path.name for path in own.find(study / "predictions")] == ["first.parquet"]
    assert own.find(study / "predictions" / "second.parquet") == [study / "predictions" / "second.parquet"]
    assert own.find(study) == []


@pytest.mark.parametrize(
    "text", ["models: [a, b]", "models: gpt2", "models: {x: }", "- a", "a: [", "models: {other: {path: t}}"]
)
def test_the_config_of_another_tool_leaves_out_nothing(study, text):
    (study / "config.yaml").write_text(text + "\n")
    assert names(study) == ["first", "mine-seed1", "second"]
