"""The comparison of two versions' results sees what it is for."""

import pandas as pd
import pytest

from tests.same_results import differences


@pytest.fixture
def folders(tmp_path):
    for name in ("before", "after"):
        (tmp_path / name / "logs").mkdir(parents=True)
        table = pd.DataFrame({"a": [1, 2], "b": [float("nan"), 0.1]})
        table.to_csv(tmp_path / name / "t.csv")
        table.to_parquet(tmp_path / name / "t.parquet")
        (tmp_path / name / "logs" / "x.csv").write_text(name)
    return tmp_path / "before", tmp_path / "after"


def test_equal_results_are_the_same_whatever_is_logged_or_added(folders):
    (folders[1] / "more.csv").write_text("new")
    assert differences(*folders) == []


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (pd.DataFrame({"a": [1, 2], "b": [float("nan"), 0.1 + 1e-16]}), "t.parquet: differs in b"),
        (pd.DataFrame({"a": [1, 2], "c": [float("nan"), 0.1]}), "has columns"),
        (pd.DataFrame({"a": [1.0, 2.0], "b": [float("nan"), 0.1]}), "or types"),
    ],
)
def test_another_value_column_or_type_is_told(folders, table, message):
    table.to_parquet(folders[1] / "t.parquet")
    assert message in "\n".join(differences(*folders))


def test_another_byte_of_a_text_and_a_missing_file_are_told(folders):
    (folders[1] / "t.csv").write_text((folders[1] / "t.csv").read_text() + " ")
    (folders[1] / "t.parquet").unlink()
    assert differences(*folders) == ["t.csv: differs in its layout", "t.parquet: is not there"]


def test_a_folder_without_tables_is_told(tmp_path):
    assert differences(tmp_path, tmp_path) == [f"{tmp_path} has no tables"]
