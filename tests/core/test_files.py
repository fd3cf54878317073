"""Files that say what they were made from, pins that agree, digests that see what matters."""

import os
import re
import subprocess
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from types import ModuleType

import pandas as pd
import pyarrow as pa
import pytest
import yaml

import abovechance
from abovechance.core.errors import InputError
from abovechance.core.files import read_csv, replacing, write_csv
from abovechance.core.provenance import digest, file_sha256
from abovechance.core.tables import TableSchema, read_made_from, read_table
from abovechance.study.downloads import check_sha256
from abovechance.study.prompts import PROMPTS

REPOSITORY = Path(__file__).resolve().parents[2]
TABLE = pd.DataFrame({"prompt": [0, 1], "demonstrations": [["a"], ["b", "c"]], "text": ["x", "y"]})


def test_a_table_comes_back_as_it_went_with_what_it_was_made_from(tmp_path):
    PROMPTS.write(TABLE, tmp_path / "p.parquet", {"seed": 3})
    pd.testing.assert_frame_equal(read_table(tmp_path / "p.parquet"), TABLE, check_dtype=False)
    made_from = read_made_from(tmp_path / "p.parquet")
    assert made_from["seed"] == 3
    assert made_from["versions"]["pyarrow"] == pa.__version__


def test_a_table_with_another_column_is_refused(tmp_path):
    with pytest.raises(ValueError, match="prompts has columns"):
        PROMPTS.write(TABLE.assign(more=1), tmp_path / "p.parquet", {})
    assert list(tmp_path.iterdir()) == []


def test_a_table_written_in_parts_is_one_table(tmp_path):
    with PROMPTS.writing_parts(tmp_path / "p.parquet", {"seed": 1}) as write:
        write(TABLE)
        write(TABLE)
    assert len(read_table(tmp_path / "p.parquet")) == 4
    assert read_made_from(tmp_path / "p.parquet")["seed"] == 1


def test_a_file_is_whole_or_not_there(tmp_path):
    path = tmp_path / "a.txt"
    with pytest.raises(RuntimeError), replacing(path) as beside:
        beside.write_text("half")
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


def modules() -> list[ModuleType]:
    """All modules of the library."""
    return [
        import_module(name)
        for _, name, is_package in walk_packages(abovechance.__path__, "abovechance.")
        if not is_package and not name.endswith("__main__")
    ]


def test_what_killed_processes_left_beside_a_file_is_removed(tmp_path):
    with replacing(tmp_path / "table.csv") as beside:
        beside.write_text("")
        own = beside.name
    ended = subprocess.Popen(["true"])
    ended.wait()
    left = own.replace(str(os.getpid()), str(ended.pid))
    living = own.replace(str(os.getpid()), str(os.getppid()))
    (tmp_path / left).mkdir()
    (tmp_path / left / "weights").write_text("")
    for name in (living, left.replace("table", "other"), ".table.elsewhere-1.csv"):
        (tmp_path / name).write_text("")
    with replacing(tmp_path / "table.csv") as beside:
        beside.write_text("")
    there = sorted(path.name for path in tmp_path.iterdir())
    assert there == sorted([living, left.replace("table", "other"), ".table.elsewhere-1.csv", "table.csv"])


def test_a_csv_of_ours_comes_back_with_its_names(tmp_path):
    table = pd.DataFrame(
        {"model": ["2024", "NA", "007"], "value": [1.5, None, 2], "position": ["above", None, "x"]}
    )
    write_csv(table, tmp_path / "t.csv")
    found = read_csv(tmp_path / "t.csv")
    assert found["model"].tolist() == ["2024", "NA", "007"]
    assert found["value"].isna().tolist() == found["position"].isna().tolist() == [False, True, False]
    (tmp_path / "t.csv").write_text("")
    with pytest.raises(InputError, match="t.csv: is damaged .*; delete it and run again"):
        read_csv(tmp_path / "t.csv")


def test_no_cell_of_a_csv_is_a_formula_and_names_come_back(tmp_path):
    names = ["=cmd|' /C calc'!A0", "'=1", "''@x", "+1+1", "-2", "'quoted'", "-", "\tx"]
    write_csv(pd.DataFrame({"model": names}), tmp_path / "t.csv")
    cells = pd.read_csv(tmp_path / "t.csv", dtype=str)["model"]
    assert not [cell for cell in cells if cell[0] in "=+-@\t" and cell != "-2"]
    assert read_csv(tmp_path / "t.csv")["model"].tolist() == names


def test_every_column_is_explained_in_the_results_readme():
    text = (REPOSITORY / "results" / "README.md").read_text()
    schemas = [
        value for module in modules() for value in vars(module).values() if isinstance(value, TableSchema)
    ]
    assert len({schema.name for schema in schemas}) >= 10
    for schema in schemas:
        explained = re.search(rf"^\*\*{schema.name}\*\*(.*?)(?=^\*\*|^#|\Z)", text, re.M | re.S)
        assert explained, schema.name
        assert all(f"`{name}`" in explained[1] for name in schema.columns), schema.name


def test_a_download_that_is_corrupted_or_missing_is_told(tmp_path):
    path = tmp_path / "file"
    pinned = {"requirement": "package==1", "file": "file", "sha256": "0" * 64}
    with pytest.raises(InputError, match=r"package==1 gave no file \(no such host\)"):
        check_sha256(path, pinned, "warning\nno such host\n")
    path.write_text("abc")
    with pytest.raises(InputError, match=f"is {file_sha256(path)}, right would be 0000"):
        check_sha256(path, pinned)
    check_sha256(path, pinned | {"sha256": file_sha256(path)})


def test_texts_that_join_alike_have_different_digests():
    assert digest("ab", "c") != digest("a", "bc") != digest("abc")


def pins(path: Path) -> dict[str, str]:
    lines = [line.strip(" -\n") for line in path.read_text().splitlines()]
    found = [re.match(r"^([A-Za-z0-9_.-]+?)={1,2}([0-9][^ ]*)$", line) for line in lines]
    return {re.sub(r"[-_.]+", "-", m[1]).lower(): m[2] for m in found if m}


@pytest.mark.parametrize("name", ["analysis", "scoring"])
def test_conda_files_and_pip_pins_name_the_same_versions(name):
    pinned = pins(REPOSITORY / "envs" / "requirements.txt")
    conda = pins(REPOSITORY / "envs" / f"{name}.yaml")
    assert yaml.safe_load((REPOSITORY / "envs" / f"{name}.yaml").read_text())["dependencies"]
    assert conda.pop("python") == "3.11"
    for package, version in conda.items():
        assert pinned[package.removesuffix("-base")] == version


def test_all_that_pyproject_asks_for_is_pinned():
    text = (REPOSITORY / "pyproject.toml").read_text()
    asked = re.findall(r'^  "([a-z0-9-]+)>=', text, re.MULTILINE)
    assert set(asked) <= set(pins(REPOSITORY / "envs" / "requirements.txt"))
    assert "torch" in asked
