"""Log-likelihoods stay with results, wherever these come from, in one table."""

import json

import numpy as np
import pandas as pd
import pytest

from abovechance.core.settings import Setting
from abovechance.core.tables import read_table
from abovechance.importers import Options, combine, read_runs
from abovechance.published.predictions import released_likelihoods
from abovechance.results.imported import IMPORTED, read_imported, settings_in
from abovechance.results.likelihoods import LIKELIHOODS, of_imported, of_scores
from abovechance.results.predictions import PREDICTIONS
from abovechance.study.tasks import as_table
from tests.importers.test_lm_eval import lm_sample, write_lm

SETTING = Setting("m", "t", 1)


def written(rows: pd.DataFrame, path) -> pd.DataFrame:
    """The table as it comes back from a file."""
    LIKELIHOODS.write(SETTING.label(rows) if "model" not in rows else rows, path, {})
    return read_table(path)


def test_scores_become_likelihoods_with_what_is_right(tmp_path):
    task = as_table([{"example": "e", "text": "Q", "choices": ["a", "b"], "correct": [False, True]}])
    scores = pd.DataFrame(
        {"prompt": 0, "example": "e", "choice": [0, 1], "logprob": [-2.0, -3.0], "tokens": [1, 2],
         "characters": [2, 2], "bytes": [2, 3]}
    )  # fmt: skip
    text = written(of_scores(scores, task), tmp_path / "l.parquet")
    assert text["right"].tolist() == [False, True]
    assert text["mean_logprob"].tolist() == [-2.0, -1.5]


def test_a_log_with_log_likelihoods_keeps_them_through_a_file(tmp_path):
    path = write_lm(tmp_path, [lm_sample(0, [-1.5, -2.5], 1), lm_sample(1, [-12.0, -9.0, -10.0], 2)])
    options = Options(prompts=1)
    IMPORTED.write(combine(read_runs([path], options), options), tmp_path / "i.parquet", {})
    (rows,) = read_imported(tmp_path / "i.parquet")
    text = written(of_imported(rows), tmp_path / "l.parquet")
    assert text["example"].tolist() == ["0", "0", "1", "1", "1"]
    assert text["choice"].tolist() == [0, 1, 0, 1, 2]
    assert text["logprob"].tolist() == [-1.5, -2.5, -12.0, -9.0, -10.0]
    assert text["right"].tolist() == [False, True, False, False, True]
    assert text["characters"].tolist() == [2] * 5  # with the blank before it
    assert text[["mean_logprob", "tokens"]].isna().all(axis=None)


def test_a_log_without_texts_or_likelihoods_has_what_it_has(tmp_path):
    without = lm_sample(0, [-1.0, -2.0], 0) | {"arguments": {}}
    (run,) = read_runs([write_lm(tmp_path / "a", [without])], Options())
    assert run.rows["characters"].tolist() == [[None, None]]
    generated = {"doc_id": 1, "target": "4", "filtered_resps": ["4"], "exact_match": 1.0, "arguments": {}}
    options = Options(prompts=1, chance=0.1)
    combined = combine(read_runs([write_lm(tmp_path / "b", [generated])], options), options)
    assert of_imported(combined).empty
    assert written(of_imported(combined), tmp_path / "l.parquet").columns.tolist() == [*LIKELIHOODS.columns]


def test_a_releases_losses_are_those_of_the_correct_answers_under_distinct_prompts(tmp_path):
    released = SETTING.label(
        pd.DataFrame(
            {"prompt": [0, 0, 1, 1], "demonstrations": "[3]", "example": [4, 5, 4, 5],
             "loss": [0.5, 1.5, 0.5, 1.5], "correct": True, "tie": False, "chance": 0.5}
        )
    )  # fmt: skip
    text = written(released_likelihoods(released), tmp_path / "l.parquet")
    assert text["prompt"].tolist() == [0, 0]
    assert text["mean_logprob"].tolist() == [-0.5, -1.5]
    assert text["choice"].tolist() == [-1, -1]
    assert text["logprob"].isna().all()


def predictions(*shots: int) -> pd.DataFrame:
    rows = {"prompt": 0, "example": ["a", "b"], "predicted": 0, "correct": True, "tie": False, "chance": 0.5}
    parts = [Setting("m", "t", shot).label(pd.DataFrame(rows)) for shot in shots]
    return pd.concat(parts, ignore_index=True)[list(PREDICTIONS.columns)]


def test_a_file_of_predictions_alone_is_read_as_well_whatever_its_parts(tmp_path):
    PREDICTIONS.write(predictions(0, 5), tmp_path / "one.parquet", {})
    with PREDICTIONS.writing_parts(tmp_path / "many.parquet", {}) as write:
        for row in range(4):
            write(predictions(0, 5).iloc[[row]])
    for name in ("one", "many"):
        items = list(read_imported(tmp_path / f"{name}.parquet"))
        assert [rows["shots"].unique().tolist() for rows in items] == [[0], [5]]
        assert [len(rows) for rows in items] == [2, 2]
        assert settings_in(tmp_path / f"{name}.parquet") == (["m"], ["t"], [0, 5])


def test_rows_of_a_setting_that_lie_apart_are_an_error(tmp_path):
    with PREDICTIONS.writing_parts(tmp_path / "p.parquet", {}) as write:
        for shots in (0, 5, 0):
            write(predictions(shots))
    with pytest.raises(ValueError, match="the rows of m, t, 0-shot do not lie together"):
        list(read_imported(tmp_path / "p.parquet"))


def test_a_row_without_a_setting_and_a_file_without_rows_are_errors(tmp_path):
    predictions(0).assign(model=["m", None]).to_parquet(tmp_path / "p.parquet")
    with pytest.raises(ValueError, match="p.parquet, row 1: model is missing; expected a file of"):
        list(read_imported(tmp_path / "p.parquet"))
    PREDICTIONS.write(predictions(0).head(0), tmp_path / "q.parquet", {})
    with pytest.raises(ValueError, match="has no rows"):
        settings_in(tmp_path / "q.parquet")


def test_lengths_are_those_of_the_texts_as_they_were_scored(tmp_path):
    sample = lm_sample(0, [-1.0, -2.0], 0)
    sample["arguments"]["gen_args_1"]["arg_1"] = " ü"
    (run,) = read_runs([write_lm(tmp_path, [sample])], Options())
    assert run.rows["characters"].tolist() == [[2, 2]]
    assert run.rows["bytes"].tolist() == [[2, 3]]


def test_a_table_that_is_none_of_predictions_is_told(tmp_path):
    predictions(0).drop(columns="chance").to_parquet(tmp_path / "p.parquet")
    with pytest.raises(ValueError, match="it lacks chance; expected a file of `abovechance import`"):
        settings_in(tmp_path / "p.parquet")
    (tmp_path / "q.parquet").write_text(json.dumps({}))
    with pytest.raises(ValueError, match="cannot be read"):
        settings_in(tmp_path / "q.parquet")


def test_scores_of_a_choice_that_the_task_lacks_are_an_error():
    task = as_table([{"example": "e", "text": "Q", "choices": ["a", "b"], "correct": [False, True]}])
    scores = pd.DataFrame({"prompt": 0, "example": "e", "choice": [0, 2], "logprob": -1.0, "tokens": 1})
    with pytest.raises(ValueError, match="choice 2 of example 'e', which the task has not"):
        of_scores(scores, task)
    assert np.isfinite(of_scores(scores.head(1), task)["mean_logprob"]).all()
