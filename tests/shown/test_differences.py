"""What differs between two studies."""

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from abovechance.chance.study import VERDICTS, Verdicts, judge
from abovechance.cli import app
from abovechance.core.errors import InputError
from abovechance.core.settings import Setting
from abovechance.core.tables import read_table
from abovechance.results.accuracy import writing_results
from abovechance.results.predictions import PREDICTIONS, predict
from abovechance.scoring.store import SCORES
from abovechance.shown.differences import differ, differences, in_words
from abovechance.study.tasks import as_table

EXAMPLES = 12


def study(
    folder: Path, logprobs: dict[str, np.ndarray], keys: list[str], tasks=("a", "b"), scores=True, names=None
) -> Path:
    """A study of one model: (prompts, examples, 2) log-likelihoods of each task, prompts with these keys."""
    rows = [
        {"example": name, "text": name, "choices": ["x", "y"], "correct": [True, False]}
        for name in names or map(str, range(EXAMPLES))
    ]
    task, parts = as_table(rows), []
    folder.mkdir()
    files = ({"m": folder / name / "m.parquet"} for name in ("predictions", "accuracy"))
    with writing_results(*files, {}) as write:
        for name in tasks:
            values = logprobs[name]
            prompt, example, choice = (axis.ravel() for axis in np.indices(values.shape))
            table = pd.DataFrame(
                {"prompt": prompt, "example": task["example"].to_numpy()[example], "choice": choice}
            )
            table = table.assign(logprob=values.ravel(), tokens=1, characters=1, bytes=1)
            if scores:
                path = folder / "scores" / "m" / name / "1-shot.parquet"
                path.parent.mkdir(parents=True)
                SCORES.write(table, path, {"prompts": [{"key": key} for key in keys]})
            part = Setting("m", name, 1).label(predict(table, task))
            parts.append(part)
            write(part[list(PREDICTIONS.columns)])
    accuracy = pd.read_parquet(folder / "accuracy")
    VERDICTS.write(judge(accuracy).table, folder / "tables" / "verdicts.parquet", {})
    return folder


@pytest.fixture
def values() -> dict[str, np.ndarray]:
    generator = np.random.default_rng(0)
    return {name: -1 - generator.random((3, EXAMPLES, 2)) for name in ("a", "b")}


def test_a_study_from_stored_scores_is_compared_by_these(tmp_path, values):
    first = study(tmp_path / "first", values, ["k0", "k1", "k2"])
    second = study(tmp_path / "other", values, ["o0", "o1", "o2"])
    for name, total in (("again", first), ("stranger", second)):
        study(tmp_path / name, values, [], scores=False)
        (tmp_path / name / "config.yaml").write_text(f"stored: {total}\n")
    assert differences(first, tmp_path / "again")["prompts"].tolist() == [3, 3]
    table = differences(tmp_path / "again", tmp_path / "stranger")
    assert table["prompts"].tolist() == [0, 0]
    assert differ(table).all()


def test_stored_scores_are_found_from_the_study_and_not_from_the_current_folder(
    tmp_path, values, monkeypatch
):
    """The key ``stored`` is relative to the folder in which the study ran."""
    lower = {name: table - 0.5 for name, table in values.items()}
    for machine, table in (("here", values), ("there", lower)):
        (tmp_path / machine / "results").mkdir(parents=True)
        study(tmp_path / machine / "results" / "first", table, ["k0", "k1", "k2"])
        from_stored = study(tmp_path / machine / "results" / "again", table, [], scores=False)
        (from_stored / "config.yaml").write_text("stored: results/first\n")
    studies = [tmp_path / machine / "results" / "again" for machine in ("here", "there")]
    for folder in (tmp_path / "here", tmp_path):
        monkeypatch.chdir(folder)
        assert differences(*studies)["drift"].tolist() == pytest.approx([0.5, 0.5])
    shutil.rmtree(tmp_path / "there" / "results" / "first")
    with pytest.raises(InputError, match="key 'stored': .*/there/results/first/scores does not exist"):
        differences(*studies)


def test_scores_on_one_side_alone_are_told(tmp_path, values):
    first = study(tmp_path / "first", values, ["k0", "k1", "k2"])
    bare = study(tmp_path / "bare", values, [], scores=False)
    with pytest.raises(InputError, match="1-shot.parquet: file not found. Scores identify prompts"):
        differences(first, bare)


def test_a_damaged_table_of_predictions_is_named(tmp_path, values):
    first, second = (study(tmp_path / name, values, ["k0", "k1", "k2"]) for name in ("first", "second"))
    path = second / "predictions" / "m.parquet"
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(InputError, match="second/predictions/m.parquet: is damaged"):
        differences(first, second)


def test_a_table_that_another_program_wrote_is_named(tmp_path, values):
    first, second = (study(tmp_path / name, values, ["k0", "k1", "k2"]) for name in ("first", "second"))
    path = second / "predictions" / "m.parquet"
    table = pq.read_table(path).drop_columns("task")
    pq.write_table(table.replace_schema_metadata(None), path)
    with pytest.raises(
        InputError, match="second/predictions/m.parquet: is damaged .it has lost its checksum"
    ):
        differences(first, second)


def test_a_pipe_in_the_place_of_a_table_is_not_read(tmp_path, values):
    first = study(tmp_path / "one", values, ["x", "y", "z"])
    (file,) = (first / "predictions").glob("*.parquet")
    file.unlink()
    os.mkfifo(file)
    with pytest.raises(InputError, match=f"{file.name}: is a pipe or a device; expected a regular file"):
        differences(first, first)


def test_a_study_does_not_differ_from_itself(tmp_path, values):
    first, second = (study(tmp_path / name, values, ["k0", "k1", "k2"]) for name in ("first", "second"))
    table = differences(first, second)
    assert (
        table[["prompts", "other_prompts", "predictions", "of_predictions"]].to_numpy().tolist()
        == [[3, 0, 0, 36]] * 2
    )
    assert table["drift"].tolist() == [0, 0]
    assert not differ(table).any()
    assert in_words(table) == (
        "Both studies have 2 settings, with 6 prompts in common. Predictions that differ: 0 of 72. "
        "Log-likelihoods differ by at most 0 nats. No verdict differs."
    )


def test_prompts_are_the_same_by_what_is_read_and_not_by_their_number(tmp_path, values):
    first = study(tmp_path / "first", values, ["k0", "k1", "k2"])
    turned = {name: table[[2, 0, 1]] for name, table in values.items()}
    turned["a"][1, 4, 0] += 1e-3
    turned["a"][2] = -9  # of a prompt that only the second has
    second = study(tmp_path / "second", turned, ["k2", "k0", "new"])
    result = differences(first, second).set_index("task")
    assert result["prompts"].tolist() == [2, 2]
    assert result["other_prompts"].tolist() == [2, 2]
    assert result["drift"].tolist() == pytest.approx([1e-3, 0])
    assert result.loc["b", "predictions"] == 0


def test_predictions_and_verdicts_that_change_are_counted(tmp_path, values):
    first = study(tmp_path / "first", values, ["k0", "k1", "k2"])
    correct = {name: table.copy() for name, table in values.items()}
    correct["b"][1, :, 0] = -0.5  # one prompt is right in all
    second = study(tmp_path / "second", correct, ["k0", "k1", "k2"])
    result = differences(first, second).set_index("task")
    changed = int((values["b"][1].argmax(axis=1) != 0).sum())
    assert result["predictions"].tolist() == [0, changed]
    assert result.loc["b", ["best_accuracy_second", "position_second"]].tolist() == [1.0, "above"]
    names = ("position", "better_than_chance")
    moved = any(result.loc["b", f"{name}_first"] != result.loc["b", f"{name}_second"] for name in names)
    assert differ(result).tolist() == [False, moved]
    completed = CliRunner().invoke(app, ["diff", str(first), str(second), "--json"])
    assert [row["task"] for row in json.loads(completed.stdout)] == ["a", "b"]
    assert completed.exit_code == int(differ(result).any())


def test_without_scores_numbers_count_and_drift_is_not_known(tmp_path, values):
    first, second = (
        study(tmp_path / name, values, ["k0", "k1", "k2"], tasks, scores=False)
        for name, tasks in (("first", ("a", "b")), ("second", ("b",)))
    )
    table = differences(first, second).set_index("task")
    assert table["prompts"].to_dict() == {"a": 0, "b": 3}
    assert table["drift"].isna().all()
    assert differ(table).to_dict() == {"a": True, "b": False}
    assert in_words(table).endswith(
        "1 setting cannot be compared: one study lacks the setting, or its prompts or examples."
    )
    assert CliRunner().invoke(app, ["diff", str(first), str(second)]).exit_code == 1


def test_prompts_that_one_study_lacks_are_told(tmp_path, values):
    first = study(tmp_path / "first", values, ["k0", "k1", "k2"], ("a",), scores=False)
    fewer = {"a": values["a"][:2]}
    second = study(tmp_path / "second", fewer, ["k0", "k1"], ("a",), scores=False)
    assert "Not compared: 1 prompt that one study lacks." in in_words(differences(first, second))


def test_what_is_no_study_is_told(tmp_path):
    with pytest.raises(InputError, match=r"has no tables/verdicts.parquet; expected a study's folder"):
        differences(tmp_path, tmp_path)
    (tmp_path / "tables").mkdir()
    pd.DataFrame({"model": ["m"], "task": ["t"]}).to_parquet(tmp_path / "tables" / "verdicts.parquet")
    with pytest.raises(InputError, match="verdicts.parquet: lacks the column 'best_accuracy'"):
        differences(tmp_path, tmp_path)


def test_check_shows_the_verdicts_that_a_study_has(tmp_path, values):
    folder = study(tmp_path / "one", values, ["a", "b", "c"])
    written = read_table(folder / "tables" / "verdicts.parquet").assign(reason="as in the report")
    VERDICTS.write(written, folder / "tables" / "verdicts.parquet", {})
    output = CliRunner().invoke(app, ["check", str(folder), "--json"])
    assert [row["reason"] for row in json.loads(output.output)] == ["as in the report"] * 2
    printed = CliRunner().invoke(app, ["check", str(folder)]).output
    assert " ".join(Verdicts(written).sentences) in printed
    for more in (["--prompts", "3"], [str(folder / "predictions")]):
        assert CliRunner().invoke(app, ["check", str(folder), *more]).exit_code == 1


def test_a_study_without_verdicts_is_told(tmp_path, values):
    folder = study(tmp_path / "one", values, ["a", "b", "c"])
    path = folder / "tables" / "verdicts.parquet"
    table = read_table(path)

    def error_line() -> str:
        completed = CliRunner().invoke(app, ["check", str(folder)])
        assert completed.exit_code == 1
        return str(completed.exception)

    VERDICTS.write(table[:0], path, {})
    assert "is no table of verdicts" in error_line()
    table.drop(columns="reason").to_parquet(path)
    assert "is no table of verdicts" in error_line()
    path.unlink()
    (folder / "config.yaml").touch()
    (folder / "logs").mkdir()
    assert "is a study without verdicts" in error_line()


def test_numbers_stay_whole_beside_settings_without_a_verdict(tmp_path, values):
    folder = study(tmp_path / "one", values, ["a", "b", "c"])
    path = folder / "tables" / "verdicts.parquet"
    table = read_table(path).assign(left_out=[0, 3]).astype({"best_prompt": "Int64"})
    judged = ["best_prompt", "best_accuracy", "better_than_chance", "reason", "position"]
    table.loc[1, judged] = None
    VERDICTS.write(table, path, {})
    output = CliRunner().invoke(app, ["check", str(folder), "--json"])
    rows = json.loads(output.stdout)
    assert isinstance(rows[0]["best_prompt"], int)
    assert rows[1]["best_prompt"] is None
    assert (
        "left out because they are longer than the model's context: 3 prompts; without a remaining prompt: "
        "1 setting" in output.stderr
    )


def test_verdicts_of_other_results_are_noted(tmp_path, values):
    """As after a run that stopped before its verdicts: those in the folder are of the run before."""
    folder = study(tmp_path / "one", values, ["a", "b", "c"])
    accuracy, verdicts = folder / "accuracy" / "m.parquet", folder / "tables" / "verdicts.parquet"
    later = verdicts.stat().st_mtime + 1
    os.utime(accuracy, (later, later))  # copied or touched
    assert CliRunner().invoke(app, ["check", str(folder)]).stderr == ""
    second = study(tmp_path / "other", {name: -rows for name, rows in values.items()}, ["a", "b", "c"])
    for times, is_noted in (((later, later), True), ((later - 2, later - 2), False)):
        shutil.copy(second / "accuracy" / "m.parquet", accuracy)
        os.utime(accuracy, times)
        messages = CliRunner().invoke(app, ["check", str(folder)]).stderr
        assert (
            messages.startswith("note: these verdicts are of an earlier run: newer results exist") == is_noted
        )


@pytest.mark.parametrize(("shared", "predictions"), [(1, 3), (0, 0)])
def test_studies_without_an_example_in_common_differ(shared, predictions, tmp_path, values):
    keys = ["k0", "k1", "k2"]
    first = study(tmp_path / "first", values, keys, scores=False)
    names = [str(n) if n < shared else f"x{n}" for n in range(EXAMPLES)]
    second = study(tmp_path / "second", values, keys, scores=False, names=names)
    table = differences(first, second)
    assert table["of_predictions"].tolist() == [predictions] * 2
    assert table["other_predictions"].tolist() == [2 * (36 - predictions)] * 2
    assert differ(table).tolist() == [not shared] * 2
    assert in_words(table) == (
        "Both studies have 2 settings, with 6 prompts in common. Predictions that differ: 0 of 6. "
        "Not compared: 132 predictions of these prompts, on examples that one study lacks. No verdict "
        "differs."
        if shared
        else "No setting has a prediction of the same prompt and example in both studies."
    )
