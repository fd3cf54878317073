"""Tables of predictions that users made: what is wrong is told with its row."""

import pandas as pd
import pyarrow.parquet as pq
import pytest

from abovechance.core.errors import InputError
from abovechance.results.imported import metrics_of, read_imported, settings_in

GOOD = {
    "model": ["m", "m"],
    "task": ["t", "t"],
    "shots": [0, 0],
    "prompt": [0, 0],
    "example": ["a", "b"],
    "predicted": [-1, -1],
    "correct": [True, False],
    "tie": [False, False],
    "chance": [0.5, 0.5],
}


def written(tmp_path, **columns):
    path = tmp_path / "p.parquet"
    pd.DataFrame(GOOD | columns).to_parquet(path)
    return path


@pytest.mark.parametrize("store_schema", [True, False])  # Arrow's, which only programs with Arrow write
def test_a_file_without_metadata_is_read(tmp_path, store_schema):
    """As other programs than pandas write it."""
    path = written(tmp_path)
    expected = pd.concat(read_imported(path))
    pq.write_table(pq.read_table(path).replace_schema_metadata(None), path, store_schema=store_schema)
    assert pd.concat(read_imported(path)).equals(expected)
    assert metrics_of(path) == {}
    assert settings_in(path) == (["m"], ["t"], [0])


def test_columns_of_fewer_bits_and_categories_are_read(tmp_path):
    path = written(
        tmp_path,
        shots=pd.array([0, 0], "int8"),
        chance=pd.array([0.5, 0.25], "float32"),
        model=pd.Categorical(["m", "m"]),
    )
    assert settings_in(path) == (["m"], ["t"], [0])
    (rows,) = read_imported(path)
    assert rows["chance"].tolist() == [0.5, 0.25]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"example": ["a", None]}, "row 1: example is missing; expected a file of"),
        ({"correct": [True, None]}, "row 1: correct is missing"),
        ({"chance": [0.5, None]}, "row 1: chance is missing"),
        ({"chance": [0.5, 1.5]}, "row 1: chance is 1.5"),
        ({"shots": [0, -1]}, "row 1: shots is -1"),
        ({"prompt": [0, None]}, "its column 'prompt' is double, not int64"),
        ({"shots": ["0", "0"]}, "its column 'shots' is .*string, not int64"),
        ({"example": ["a", "a"]}, "m, t, 0-shot: prompt 0 has the example 'a' twice"),
    ],
)
def test_a_value_that_cannot_be_is_told_with_its_row(tmp_path, columns, message):
    path = written(tmp_path, **columns)
    with pytest.raises(InputError, match=f"p.parquet.*({message})"):
        settings_in(path)
        list(read_imported(path))


def test_a_file_that_is_cut_or_lacks_columns_is_told(tmp_path):
    path = written(tmp_path)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InputError, match="p.parquet: cannot be read as Parquet"):
        settings_in(path)
    path.write_bytes(written(tmp_path).read_bytes().replace(b"model", b"\x96odel"))
    with pytest.raises(InputError, match="p.parquet: cannot be read as Parquet"):
        settings_in(path)
    pd.DataFrame(GOOD).drop(columns=["tie", "chance"]).to_parquet(path)
    with pytest.raises(InputError, match="is not a table of predictions: it lacks chance, tie"):
        settings_in(path)
