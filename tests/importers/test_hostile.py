"""Logs in which anything stands in the place of anything: read, or refused in one line, never a traceback."""

import json
import os
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from abovechance.core.errors import InputError
from abovechance.core.reading import read_json_lines
from abovechance.importers import Options, combine, read_runs
from abovechance.variance.evaluations import check_finite
from abovechance.variance.results_files import read_evaluations
from tests.importers.test_importers import (
    helm_result,
    helm_stat,
    helm_states,
    inspect_files,
    inspect_sample,
    write_helm,
    write_zstandard_zip,
)
from tests.importers.test_lm_eval import lm_sample, write_lm

STRANGE: list[Any] = [
    None,
    [],
    {},
    [1],
    {"a": [2]},
    "",
    "x\x1b[2J",
    -5,
    2.5,
    1e308,
    True,
    10**400,
    "9" * 5000,
]


def changed(value: Any, strange: Any) -> Iterator[Any]:
    """A JSON value with each of its parts in turn replaced."""
    yield strange
    places = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in places:
        for second in changed(part, strange):
            copied = deepcopy(value)
            copied[key] = second
            yield copied


def read_or_refused(path: Path) -> None:
    options = Options(prompts=1, chance=None)
    try:
        runs = read_runs([path], options)
    except InputError as error:
        message = str(error)
        assert message.startswith(str(path)), message  # with its place
        assert "None writes it" not in message, message
    else:
        with suppress(InputError):
            combine(runs, options)


def files_of(kind: str, folder: Path) -> dict[str, Any]:
    """{file: what is in it} of a small log."""
    if kind == "helm":
        write_helm(folder, [helm_result("a", 0, 1.0), helm_result("b", 0, 0.0)])
        (folder / "stats.json").write_text(json.dumps([helm_stat("exact_match", 0.5)]))
        requests = {"request_states": helm_states("a")}
        (folder / "scenario_state.json").write_text(json.dumps(requests))
    elif kind == "lm_eval":
        write_lm(folder, [lm_sample(0, [-1, -2], 0)])
    else:
        header, *samples = inspect_files([inspect_sample(0, "C"), inspect_sample(1, "I")]).values()
        results = {"scores": [{"name": "choice", "metrics": {"accuracy": {"value": 0.5}}}]}
        results["completed_samples"] = 2
        (folder / "log.json").write_text(json.dumps({**header, "samples": samples, "results": results}))
    return {path.name: json.loads(path.read_text().splitlines()[0]) for path in sorted(folder.iterdir())}


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["helm", "lm_eval", "inspect"])
@pytest.mark.parametrize("place", range(len(STRANGE)))
def test_any_value_in_the_place_of_any_other_is_read_or_refused(tmp_path, kind, place):
    files = files_of(kind, tmp_path)
    for name, whole in files.items():
        if name == "scenario_state.json" and place % 3:  # which has many values, and is read like the others
            continue
        for second in changed(whole, STRANGE[place]):
            (tmp_path / name).write_text(json.dumps(second))
            read_or_refused(tmp_path)
        (tmp_path / name).write_text(json.dumps(whole))
    read_or_refused(tmp_path)


def test_negative_shots_and_lists_of_epochs_are_refused_with_their_place(tmp_path):
    folder = write_helm(tmp_path / "run", [helm_result("a", 0, 1.0), helm_result("b", 0, 0.0)])
    spec = json.loads((folder / "run_spec.json").read_text())
    spec["adapter_spec"]["max_train_instances"] = -5
    (folder / "run_spec.json").write_text(json.dumps(spec))
    with pytest.raises(InputError, match="run_spec.json: has -5 shots; expected a whole number from 0"):
        read_runs([folder], Options())
    log = write_zstandard_zip(tmp_path / "log.eval", inspect_files([inspect_sample(0, "C", epoch=[1])]))
    with pytest.raises(InputError, match=r"sample 0: epoch is \[1\]; expected a number"):
        read_runs([log], Options())


def test_a_member_that_would_unpack_to_too_much_is_not_unpacked(tmp_path):
    log = write_zstandard_zip(tmp_path / "log.eval", inspect_files([inspect_sample(0, "C")]))
    whole = log.read_bytes()
    at = whole.index(b"PK\1\2")
    log.write_bytes(whole[: at + 24] + (2**32 - 2).to_bytes(4, "little") + whole[at + 28 :])
    with pytest.raises(InputError, match="its member 'header.json' would unpack"):
        read_runs([log], Options())


def test_a_zip_file_of_a_version_that_there_is_none_of_is_refused(tmp_path):
    log = write_zstandard_zip(tmp_path / "log.eval", inspect_files([inspect_sample(0, "C")]))
    content = log.read_bytes()
    at = content.index(b"PK\1\2")
    log.write_bytes(content[: at + 6] + (162).to_bytes(2, "little") + content[at + 8 :])
    with pytest.raises(InputError, match="zip file version 16.2"):
        read_runs([log], Options())
    with pytest.raises(InputError, match="zip file version 16.2"):
        read_evaluations([log])


def test_a_pipe_in_the_place_of_a_file_is_not_read(tmp_path):
    for name in ("a.csv", "samples_x.jsonl", "a.json", "a.eval", "a.parquet"):
        os.mkfifo(tmp_path / name)
        with pytest.raises(InputError, match="is a pipe or a device; expected a regular file"):
            read_runs([tmp_path / name], Options())
        with pytest.raises(InputError, match="is a pipe or a device; expected a regular file"):
            read_evaluations([tmp_path / name])


def test_an_object_of_many_keys_takes_no_longer_than_its_length(tmp_path):
    path = tmp_path / "wide.jsonl"
    path.write_text(json.dumps({f"key{number}": number for number in range(100_000)}))
    ((row, value),) = read_json_lines(path)
    assert (row, len(value)) == (1, 100_000)


def test_a_short_text_of_many_values_is_not_parsed(tmp_path):
    log = tmp_path / "log.eval"
    with zipfile.ZipFile(log, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", "[" + "[]," * 10_000_000 + "[]]")
    with pytest.raises(InputError, match="header.json: has about 20,000,002 values; expected at most"):
        read_runs([log], Options())


def test_a_key_that_stands_twice_is_refused(tmp_path):
    (tmp_path / "results_1.json").write_text('{"results": {"a": {"acc,none": 0.1, "acc,none": 0.9}}}')
    with pytest.raises(InputError, match="the key 'acc,none' stands twice"):
        read_evaluations([tmp_path])


@pytest.mark.parametrize(
    ("message", "shots", "note"),
    [(None, 0, ""), (False, 0, ""), (3, 3, ""), ("3", 3, ""), (True, 0, "how many")],
)
def test_the_number_of_demonstrations_is_what_inspect_says(tmp_path, message, shots, note):
    files = inspect_files([inspect_sample(0, "C"), inspect_sample(1, "I")])
    files["header.json"]["eval"]["task_args"] = {"fewshot": message}
    (run,) = read_runs([write_zstandard_zip(tmp_path / "log.eval", files)], Options())
    assert run.shots == shots
    assert any(note in message for message in run.notes) or not note


@pytest.mark.parametrize("message", [-5, "-5", "9" * 40, 2.5, "many", [1]])
def test_a_number_of_demonstrations_that_is_none_is_refused(tmp_path, message):
    files = inspect_files([inspect_sample(0, "C"), inspect_sample(1, "I")])
    files["header.json"]["eval"]["task_args"] = {"fewshot": message}
    with pytest.raises(InputError, match="shots; expected a whole number from 0"):
        read_runs([write_zstandard_zip(tmp_path / "log.eval", files)], Options())


@pytest.mark.parametrize("choices", ["abcdefghij", {"a": 1, "b": 2}])
def test_choices_that_are_no_list_are_refused(tmp_path, choices):
    log = write_zstandard_zip(
        tmp_path / "log.eval", inspect_files([inspect_sample(0, "C") | {"choices": choices}])
    )
    with pytest.raises(InputError, match="its choices are .*; expected a list"):
        read_runs([log], Options())


@pytest.mark.parametrize(
    ("target", "chance"), [("B", 0.5), ("yes", 0.5), (["A"], 0.5), ("Z", None), ("A,B", None)]
)
def test_the_chance_is_known_if_the_target_is_one_of_the_choices(tmp_path, target, chance):
    sample = inspect_sample(0, "C") | {"choices": ["yes", "no"], "target": target}
    (run,) = read_runs([write_zstandard_zip(tmp_path / "log.eval", inspect_files([sample]))], Options())
    assert run.rows["chance"].tolist() == [chance] or (chance is None and run.rows["chance"].isna().all())


@pytest.mark.parametrize(
    ("value", "examples", "message"),
    [
        ("Infinity", 10, "acc,none of a is inf"),
        ("NaN", 10, "acc,none of a is nan"),
        ("0.5", 10**30, "examples"),
    ],
)
def test_evaluations_of_impossible_numbers_are_refused(tmp_path, value, examples, message):
    (tmp_path / "results_1.json").write_text(
        f'{{"results": {{"a": {{"acc,none": {value}}}}}, "n-samples": {{"a": {{"effective": {examples}}}}}}}'
    )
    with pytest.raises(InputError, match=message):
        check_finite(read_evaluations([tmp_path]))


def test_a_damaged_file_of_a_studys_predictions_is_told_as_such(tmp_path):
    (tmp_path / "predictions").mkdir()
    (tmp_path / "predictions" / "m.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(InputError, match="m.parquet: is damaged .*; delete it and run the study again"):
        read_runs([tmp_path / "predictions"], Options())
