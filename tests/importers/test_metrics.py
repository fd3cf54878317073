"""Folders in which some results lack the metric, or have one that is not 0 or 1 for each example."""

import json

import pytest

from abovechance.core.errors import InputError
from abovechance.importers import Options, diagnose, read_runs
from tests.doctor.logs import WRITERS, sound, write_choices, write_csv, write_records, write_texts
from tests.running import run

TOOLS = sorted({*WRITERS} - {"csv"})


@pytest.mark.parametrize("tool", TOOLS)
def test_results_in_a_folder_that_lack_the_metric_are_left_out(tool, tmp_path):
    logs = WRITERS[tool](sound(1, 40), tmp_path / "logs")
    table = write_csv(sound(2, 40), tmp_path / "table")
    (read,) = read_runs([tmp_path], Options(metric="unheard"))
    assert read.file == str(table)
    (note,) = [note for note in read.notes if note.startswith("left out: ")]
    assert str(tmp_path / "logs") in note
    assert " 'unheard'" in note
    # by its name, it is asked for; without others, nothing is left
    for path in (logs, tmp_path / "logs"):
        with pytest.raises(InputError, match="has no .* 'unheard'"):
            read_runs([path], Options(metric="unheard"))
        with pytest.raises(InputError, match="has no .* 'unheard'"):
            diagnose([path], Options(metric="unheard", command="doctor"))


def test_grades_in_a_folder_are_left_out(tmp_path):
    write_choices(sound(1, 40), tmp_path / "a")
    graded = write_texts(sound(2, 40), tmp_path / "b")
    graded.write_text(graded.read_text().replace('"exact_match": 1.0', '"exact_match": 0.7'))
    text = run("check", str(tmp_path), "--prompts", "1").stderr
    assert f"left out: {graded}, row " in " ".join(text.split())
    signs, results = diagnose([tmp_path], Options(command="doctor"))
    assert results == 1
    assert [sign.suspicion.check for sign in signs] == ["not-checked"]


def test_one_sample_without_the_metric_is_damage(tmp_path):
    write_choices(sound(1, 40), tmp_path / "a")
    damaged = write_texts(sound(2, 40), tmp_path / "b")
    rows = list(map(json.loads, damaged.read_text().splitlines()))
    del rows[7]["exact_match"]
    damaged.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(InputError, match="row 8: has no metric 'exact_match'"):
        read_runs([tmp_path], Options(metric="exact_match"))


def test_results_of_a_file_are_left_out_like_those_of_a_folder(tmp_path):
    first, second = write_records(sound(1, 40), tmp_path / "a"), write_records(sound(2, 40), tmp_path / "b")
    rows = list(map(json.loads, second.read_text().splitlines()))
    for row in rows:
        row["evaluation_name"] = "translations"
        row["evaluation"] |= {"score": 0.25, "is_correct": False}
    with first.open("a") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    (read,) = read_runs([first], Options())
    assert len(read.rows) == 40
    assert [note.partition(": ")[0] for note in read.notes if "translations" in note or "0.25" in note] == [
        "left out"
    ]
    signs, _ = diagnose([first], Options(command="doctor"))
    assert [sign.suspicion.check for sign in signs] == ["not-checked"]
