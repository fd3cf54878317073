"""Response matrices of results, and the command that tells of their items."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from abovechance.cli import app
from abovechance.core.errors import InputError
from abovechance.items import item_statistics, reliability
from abovechance.items.matrices import in_short, in_the_best, items_of, matrices
from tests.items.test_classical import responses


def as_table(matrix: np.ndarray) -> pd.DataFrame:
    """A model with two prompts for each two rows; gaps are rows that are not there."""
    row, item = np.nonzero(np.isfinite(matrix))
    return pd.DataFrame(
        {
            "model": [f"m{value // 2}" for value in row],
            "prompt": [f"p{value % 2}" for value in row],
            "example": [f"e{value}" for value in item],
            "correct": matrix[row, item].astype(int),
        }
    ).assign(task="t", shots=1)


@pytest.fixture
def matrix() -> np.ndarray:
    sample = responses(20, 12, seed=4, gaps=0.1)
    sample[:, 5] = 1
    sample[:, 6] = 1 - (np.nanmean(sample[:, :5], axis=1) > 0.5)
    return sample


def test_each_model_and_prompt_is_a_row(matrix):
    (built,) = matrices(as_table(matrix).rename(columns={"correct": "score"}))
    order = [int(name[1:]) for name in built.examples]
    assert built.scores == pytest.approx(matrix[:, order], nan_ok=True)
    assert built.rows["model"].tolist() == [f"m{row // 2}" for row in range(20)]
    assert in_short(built, items_of(built))["alpha"] == pytest.approx(reliability(matrix))
    assert in_short(built, items_of(built))["constant"] == 1
    listed = items_of(built).set_index("example")
    assert listed.index[0] == "e6"
    assert listed["corrected"]["e6"] == pytest.approx(item_statistics(matrix)["corrected"][6])
    assert listed.index[-1] == "e5"


def test_the_command_tells_negative_items(matrix, tmp_path: Path):
    as_table(matrix).to_csv(tmp_path / "answers.csv", index=False)
    arguments = ["items", str(tmp_path / "answers.csv")]
    completed = CliRunner().invoke(app, [*arguments, "--output", str(tmp_path / "items.csv")])
    assert completed.exit_code == 0, completed.output
    assert "t: items that better rows fail more often" in completed.stdout
    assert "e6" in completed.stdout
    listed = pd.read_csv(tmp_path / "items.csv")
    assert len(listed) == 12
    report = json.loads(CliRunner().invoke(app, [*arguments, "--json"]).stdout)
    assert report["tasks"][0]["rows"] == 20
    assert report["items"][0]["example"] == "e6"


def test_items_do_not_depend_on_the_order_of_the_results(matrix):
    """A study's folder and its tables have results in different orders, and the halves are the same."""
    table = as_table(matrix).rename(columns={"correct": "score"})
    (first,) = matrices(table)
    (second,) = matrices(table.sample(frac=1, random_state=1))
    pd.testing.assert_frame_equal(items_of(first), items_of(second))


def test_an_answer_of_one_item_has_no_balanced_discrimination():
    """Rows that differ in liking alone: what is left of the test has no item of its answer."""
    (first,) = matrices(as_table(responses(40, 21)).rename(columns={"correct": "score"}))
    answers = np.where(np.arange(21) < 1, "no", "yes")
    is_known = pd.DataFrame({"example": [f"e{place}" for place in range(21)], "answer": answers})
    is_known = is_known.assign(subtask="", length=1.0, choices=2.0)
    table = items_of(first, is_known).set_index("example")["balanced"]
    assert table[table.isna()].index.tolist() == ["e0"]


def test_the_best_rows_are_those_by_the_rest_of_the_items():
    """Chosen by the item too, all items would look worse in the best rows than they are."""
    first, best = in_the_best(responses(600, 20, seed=6))
    assert (first > 0).all()
    assert best.mean() > 0.05
    few, none = in_the_best(responses(8, 5, seed=6))
    assert np.isnan(none).all()
    assert np.isfinite(few).any()


def test_small_tasks_are_told_and_the_others_shown(matrix, tmp_path: Path):
    merged = pd.concat([as_table(matrix), as_table(matrix[:, :1]).assign(task="solo")])
    merged.to_csv(tmp_path / "both.csv", index=False)
    completed = CliRunner().invoke(app, ["items", str(tmp_path / "both.csv")])
    assert completed.exit_code == 0
    assert (
        "note: solo: has 18 rows (a model with a number of shots and a prompt) and 1 example"
        in completed.stderr
    )
    assert "e6" in completed.stdout


def test_one_row_tells_nothing(matrix, tmp_path: Path):
    as_table(matrix[:1]).to_csv(tmp_path / "one.csv", index=False)
    completed = CliRunner().invoke(app, ["items", str(tmp_path / "one.csv")])
    assert "has 1 row (a model with a number of shots and a prompt)" in str(completed.exception)
    table = as_table(matrix).rename(columns={"correct": "score"})
    with pytest.raises(InputError, match="stands twice for 'm0', 1-shot, prompt p0"):
        [*matrices(pd.concat([table, table]))]
    with pytest.raises(InputError, match="row 3 of the responses has no 'shots'"):
        [*matrices(table.assign(shots=np.where(np.arange(len(table)) == 2, np.nan, 1)))]
