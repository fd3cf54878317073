"""Files that say what they were made from, pins that agree, digests that see what matters."""

import importlib.metadata
import json
import os
import re
import subprocess
from itertools import cycle
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import yaml

from abovechance import __version__
from abovechance.core.columns import Column, optional
from abovechance.core.errors import InputError
from abovechance.core.files import replacing, write_csv, write_json
from abovechance.core.provenance import digest, file_sha256
from abovechance.core.tables import TableSchema, columns_of, read_made_from, read_table
from abovechance.scoring.store import LEFT_OUT
from abovechance.shown.tables import write
from abovechance.study.downloads import check_sha256
from abovechance.study.prompts import PROMPTS
from tests.columns_of_results import README, generated, schemas

REPOSITORY = Path(__file__).resolve().parents[2]
EXTRA = {"more": Column.text("in some tables")}
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


def test_what_killed_processes_left_beside_a_file_is_removed(tmp_path):
    with replacing(tmp_path / "table.csv") as beside:
        beside.write_text("")
        rows = beside.name
    ended = subprocess.Popen(["true"])
    ended.wait()
    remaining = rows.replace(str(os.getpid()), str(ended.pid))
    living = rows.replace(str(os.getpid()), str(os.getppid()))
    (tmp_path / remaining).mkdir()
    (tmp_path / remaining / "weights").write_text("")
    for name in (living, remaining.replace("table", "other"), ".table.elsewhere-1.csv"):
        (tmp_path / name).write_text("")
    with replacing(tmp_path / "table.csv") as beside:
        beside.write_text("")
    present = sorted(path.name for path in tmp_path.iterdir())
    assert present == sorted(
        [living, remaining.replace("table", "other"), ".table.elsewhere-1.csv", "table.csv"]
    )


def test_no_cell_of_a_csv_is_a_formula(tmp_path):
    names = ["=cmd|' /C calc'!A0", "'=1", "''@x", "+1+1", "-2", "'quoted'", "-", "\tx"]
    write_csv(pd.DataFrame({"model": names}), tmp_path / "t.csv")
    cells = pd.read_csv(tmp_path / "t.csv", dtype=str)["model"]
    assert not [cell for cell in cells if cell[0] in "=+-@\t" and cell != "-2"]


def test_json_keeps_texts_that_utf_8_cannot_store(tmp_path):
    value = {"text": "half a pair: \ud800, a whole one: \U0001f600, a backslash: \\ud800", "n": [1, None]}
    write_json(value, tmp_path / "folder" / "a.json")
    content = (tmp_path / "folder" / "a.json").read_bytes()
    assert json.loads(content.decode("utf-8")) == value
    assert "\U0001f600".encode() in content


@pytest.mark.checkout
def test_the_results_readme_lists_every_table_and_column():
    assert README.read_text().endswith(generated()), "run python -m tests.columns_of_results"
    assert len(schemas()) > 50
    for schema in schemas().values():
        assert schema.rows.endswith("."), schema.name
        assert all(column.meaning for column in schema.columns.values()), schema.name


def test_a_file_describes_its_columns_and_optional_ones_may_lack(tmp_path):
    schema = TableSchema(
        "t",
        {"p": Column.tail("p-value"), "n": Column.whole("size", "examples"), **optional(EXTRA)},
        "One row.",
    )
    table = pd.DataFrame({"n": [1, None], "p": [0.5, 0.25]})
    schema.write(table, tmp_path / "t.parquet", {})
    assert columns_of(tmp_path / "t.parquet") == {name: schema.columns[name] for name in ("p", "n")}
    assert read_table(tmp_path / "t.parquet")["n"].isna().tolist() == [False, True]
    schema.write(table.assign(more="x"), tmp_path / "t.parquet", {})
    assert [*columns_of(tmp_path / "t.parquet")] == ["p", "n", "more"]
    with pytest.raises(ValueError, match="t has columns"):
        schema.write(table[["p"]], tmp_path / "t.parquet", {})


def test_ids_and_names_that_look_like_numbers_stay_texts(tmp_path):
    names = ["007", "NA", "1e5", "", "None"]
    table = pd.DataFrame(
        {"model": names, "task": names, "shots": 0, "prompts": 1, "left_out": 1, "longest": 9}
    )
    for suffix in ("parquet", "csv"):
        write(LEFT_OUT, table, tmp_path / f"left_out.{suffix}")
    assert read_table(tmp_path / "left_out.parquet")["model"].tolist() == names
    assert (tmp_path / "left_out.csv").read_text().splitlines()[1].startswith("007,007,0")


def test_a_download_that_is_corrupted_or_missing_is_told(tmp_path):
    path = tmp_path / "file"
    pinned = {"requirement": "package==1", "file": "file", "sha256": "0" * 64}
    with pytest.raises(InputError, match=r"package==1 gave no file \(no such host\)"):
        check_sha256(path, pinned, "warning\nno such host\n")
    path.write_text("abc")
    with pytest.raises(InputError, match=f"is {file_sha256(path)}, expected 0000"):
        check_sha256(path, pinned)
    check_sha256(path, pinned | {"sha256": file_sha256(path)})


def test_texts_that_join_alike_have_different_digests():
    assert digest("ab", "c") != digest("a", "bc") != digest("abc")


def pins(path: Path) -> dict[str, str]:
    lines = [line.strip(" -\n") for line in path.read_text().splitlines()]
    results = [re.match(r"^([A-Za-z0-9_.-]+?)={1,2}([0-9][^ ]*)$", line) for line in lines]
    return {re.sub(r"[-_.]+", "-", m[1]).lower(): m[2] for m in results if m}


@pytest.mark.checkout
@pytest.mark.parametrize("name", ["analysis", "scoring"])
def test_conda_files_and_pip_pins_name_the_same_versions(name):
    pinned = pins(REPOSITORY / "envs" / "requirements.txt")
    conda = pins(REPOSITORY / "envs" / f"{name}.yaml")
    assert yaml.safe_load((REPOSITORY / "envs" / f"{name}.yaml").read_text())["dependencies"]
    assert conda.pop("python") == "3.11"
    for package, version in conda.items():
        assert pinned[package.removesuffix("-base")] == version


@pytest.mark.checkout
def test_hashes_are_those_of_the_pinned_versions():
    lines = (REPOSITORY / "envs" / "requirements-hashed.txt").read_text().replace("\\\n", "").splitlines()
    hashed = {}
    for line in lines[1:]:
        requirement, *hashes = line.split(" --hash=sha256:")
        name, version = requirement.partition(";")[0].strip().split("==")
        hashed[re.sub(r"[-_.]+", "-", name).lower()] = version
        assert hashes, line
        assert all(re.fullmatch("[0-9a-f]{64}", digest.strip()) for digest in hashes), line
    pinned = pins(REPOSITORY / "envs" / "requirements.txt")
    assert {name: hashed.get(name) for name in pinned} == pinned


@pytest.mark.checkout
def test_one_version_is_named_everywhere():
    citation = yaml.safe_load((REPOSITORY / "CITATION.cff").read_text())
    version = __version__
    assert citation["version"] == version == importlib.metadata.version("abovechance")
    headings = re.findall(r"^## (.*)$", (REPOSITORY / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert headings[0] == "Unreleased" if ".dev" in version else headings[0].startswith(f"{version} - ")


@pytest.mark.checkout
def test_all_that_pyproject_asks_for_is_pinned():
    text = (REPOSITORY / "pyproject.toml").read_text()
    command = re.findall(r'^  "([a-z0-9-]+)>=', text, re.MULTILINE)
    assert set(command) <= set(pins(REPOSITORY / "envs" / "requirements.txt"))
    assert "torch" in command


@pytest.mark.thorough
def test_a_table_in_which_a_bit_has_changed_is_not_read_as_another(tmp_path):
    schema = TableSchema(
        "t",
        {
            "model": Column.category("a name"),
            "value": Column.number("a number"),
            "words": Column.text("some words").several(),
            "count": Column.whole("a whole number"),
        },
        "One row.",
    )
    rows = {
        "model": ["m"] * 40,
        "value": np.random.default_rng(0).random(40),
        "words": [["a", str(n)] for n in range(40)],
        "count": range(40),
    }
    path = tmp_path / "t.parquet"
    schema.write(pd.DataFrame(rows), path, {"revision": "abc"})
    content, table, facts = path.read_bytes(), read_table(path), read_made_from(path)
    refused = 0
    places = [*zip(range(len(content)), cycle(range(8)), strict=False)]
    places += [(place, place % 5) for place in range(len(content) - 1500, len(content))]
    for place, bit in places:
        path.write_bytes(content[:place] + bytes([content[place] ^ 1 << bit]) + content[place + 1 :])
        try:
            assert read_made_from(path) == facts
            pd.testing.assert_frame_equal(read_table(path), table)
        except InputError:
            refused += 1
    assert refused > 0.6 * len(places)  # the others are in what nothing reads, such as statistics
