"""The score store: nothing whole is lost, nothing torn or foreign is used."""

import json
import os
import signal
import subprocess
import sys
import time

import pandas as pd
import pytest

from abovechance.core.tables import read_made_from, read_table
from abovechance.scoring import identity
from abovechance.scoring.store import ScoreStore, store_of
from abovechance.scoring.stored import drop_unrequested, stored
from tests.running import run

IDENTITY = {"revision": "r", "precision": "float32", "code": "c"}


def rows(value: float) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "example": ["a", "a"],
            "choice": [0, 1],
            "logprob": [value, -0.1],
            "tokens": [1, 2],
            "characters": [3, 4],
            "bytes": [3, 4],
        }
    )


@pytest.fixture
def path(tmp_path):
    return tmp_path / "1-shot.parquet"


def test_a_finished_file_has_the_prompts_in_order_and_no_journal_beside_it(path):
    store = ScoreStore(path, IDENTITY)
    store.add("second", rows(-2.0), {"trie": 5})
    store.add("first", rows(-1 / 3), {"trie": 4})
    store.finish(["first", "second"], {"model": "m"})
    table = read_table(path)
    assert table["prompt"].tolist() == [0, 0, 1, 1]
    assert table["logprob"].tolist() == [-1 / 3, -0.1, -2.0, -0.1]
    assert [prompt["trie"] for prompt in read_made_from(path)["prompts"]] == [4, 5]
    assert path.samefile(store_of(path))
    assert {entry.name for entry in path.parent.iterdir()} == {path.name, store_of(path).name}


def test_whole_lines_of_a_killed_job_are_kept_and_a_torn_one_is_not(path):
    store = ScoreStore(path, IDENTITY)
    store.add("one", rows(-1.0), {})
    with store.journal.open("ab") as journal:
        journal.write(b'{"key": "two", "rows": {"exam')
    repeated = ScoreStore(path, IDENTITY)
    assert "one" in repeated
    assert "two" not in repeated
    repeated.add("two", rows(-2.0), {})
    assert "two" in ScoreStore(path, IDENTITY)


@pytest.mark.parametrize("cut", range(0, 440, 7))
def test_a_journal_cut_anywhere_is_read(path, cut):
    store = ScoreStore(path, IDENTITY)
    store.add("one", rows(-1.0), {})
    store.add("two", rows(-2.0), {})
    content = store.journal.read_bytes()
    store.journal.write_bytes(content[:cut])
    repeated = ScoreStore(path, IDENTITY)
    complete = content[:cut].count(b"\n")
    assert ("one" in repeated, "two" in repeated) == (complete >= 1, complete >= 2)
    for key in ("one", "two"):
        repeated.add(key, rows(-1.0), {})
    repeated.finish(["one", "two"], {})
    assert len(read_table(path)) == 4


@pytest.mark.parametrize("key", IDENTITY)
def test_scores_of_another_model_precision_or_code_are_not_used(path, key):
    store = ScoreStore(path, IDENTITY)
    store.add("one", rows(-1.0), {})
    second = IDENTITY | {key: "other"}
    assert "one" not in ScoreStore(path, second)
    store = ScoreStore(path, IDENTITY)
    store.add("one", rows(-1.0), {})
    store.finish(["one"], {})
    assert "one" in ScoreStore(path, IDENTITY)
    assert "one" not in ScoreStore(path, second)


@pytest.mark.parametrize("finish", [True, False], ids=["file", "journal"])
def test_scores_of_an_earlier_identity_that_counts_as_the_same_are_used(path, finish):
    store = ScoreStore(path, IDENTITY)
    store.add("one", rows(-1.0), {})
    if finish:
        store.finish(["one"], {})
    current = IDENTITY | {"code": "moved"}
    assert "one" in ScoreStore(path, current, [IDENTITY])
    store = ScoreStore(path, current, [IDENTITY])
    store.add("two", rows(-2.0), {})
    store.finish(["one", "two"], {})
    assert read_made_from(path)["identity"] == current
    assert "one" not in ScoreStore(path, IDENTITY)


def test_an_edit_that_changes_digits_makes_old_scores_void(monkeypatch):
    monkeypatch.setattr(identity, "SAME_DIGITS", {"now": ("before",)})
    monkeypatch.setattr(identity, "module_digest", lambda *_: "now")
    of_now = ("r", "float32", "cpu", "t", "text")
    assert [entry["code"] for entry in identity.identities(*of_now)] == ["now", "before"]
    monkeypatch.setattr(identity, "module_digest", lambda *_: "edited")
    assert [entry["code"] for entry in identity.identities(*of_now)] == ["edited"]


def test_a_finished_file_is_extended_without_its_prompts_being_scored_again(path):
    store = ScoreStore(path, IDENTITY)
    store.add("one", rows(-1.0), {"trie": 1})
    store.add("long", None, {"too_long": 9000})
    store.finish(["one", "long"], {})
    more = ScoreStore(path, IDENTITY)
    assert "one" in more
    assert "long" in more
    more.add("two", rows(-2.0), {"trie": 2})
    more.finish(["one", "long", "two"], {})
    assert read_table(path)["prompt"].tolist() == [0, 0, 2, 2]
    assert read_made_from(path)["prompts"][1]["too_long"] == 9000


def finished(path, identity, *keys, values=None):
    """Score what is missing of these prompts, and finish; how many that were."""
    store, missing = ScoreStore(path, identity), 0
    for place, key in enumerate(keys):
        if key not in store:
            missing += 1
            store.add(key, rows(-1.0 - place if values is None else values[place]), {"trie": place})
    store.finish(list(keys), {})
    return missing


def test_what_is_not_asked_for_is_kept_and_comes_back(path):
    assert finished(path, IDENTITY, "a", "b", "c") == 3
    whole = read_table(path)
    assert finished(path, IDENTITY, "a") == 0
    assert read_table(path)["prompt"].tolist() == [0, 0]
    assert len(read_made_from(store_of(path))["prompts"]) == 3
    path.unlink()  # as Snakemake does before a job
    assert finished(path, IDENTITY, "a", "b", "c") == 0
    pd.testing.assert_frame_equal(read_table(path), whole)
    assert [prompt["trie"] for prompt in read_made_from(path)["prompts"]] == [0, 1, 2]
    assert path.samefile(store_of(path))
    assert {entry.name for entry in path.parent.iterdir()} == {path.name, store_of(path).name}


def test_another_revision_leaves_the_scores_of_the_first_in_place(path):
    second = IDENTITY | {"revision": "other"}
    assert finished(path, IDENTITY, "a", "b") == 2
    before = read_table(path)
    store = ScoreStore(path, second)  # killed after its first prompt, then the first revision again
    store.add("a", rows(-9.0), {})
    assert finished(path, IDENTITY, "a", "b") == 0
    pd.testing.assert_frame_equal(read_table(path), before)
    assert finished(path, second, "a", "b") == 1
    assert read_table(path)["logprob"].tolist() == [-9.0, -0.1, -2.0, -0.1]
    assert finished(path, IDENTITY, "a", "b") == 0
    pd.testing.assert_frame_equal(read_table(path), before)


@pytest.mark.parametrize("damage", ["cut", "flipped", "garbage", "empty"])
def test_a_damaged_file_counts_as_missing_and_is_told(path, damage):
    finished(path, IDENTITY, "a", "b")
    content = bytearray(path.read_bytes())
    if damage == "flipped":
        content[20] ^= 1
    path.write_bytes({"cut": content[:300], "garbage": b"x" * 500, "empty": b""}.get(damage, content))
    messages = []
    store = ScoreStore(path, IDENTITY, report=messages.append)
    assert "a" not in store
    assert len(messages) == 1
    assert messages[0].startswith(f"{path}: cannot be read (")
    assert finished(path, IDENTITY, "a", "b") == 2


@pytest.mark.parametrize("damage", ["digit", "zeros", "blank", "foreign"])
def test_a_damaged_line_of_a_journal_is_told_and_the_others_are_used(path, damage):
    store = ScoreStore(path, IDENTITY)
    for key in ("a", "b", "c"):
        store.add(key, rows(-1.25), {})
    lines = store.journal.read_bytes().split(b"\n")
    lines[1] = {"digit": lines[1].replace(b"-1.25", b"-1.75"), "zeros": b"\0" * 50, "blank": b""}.get(
        damage, b'{"not": "ours"}'
    )
    store.journal.write_bytes(b"\n".join(lines))
    messages = []
    repeated = ScoreStore(path, IDENTITY, report=messages.append)
    assert ("a" in repeated, "b" in repeated, "c" in repeated) == (True, False, True)
    assert messages == [
        f"{store.journal}: 1 of 3 lines cannot be read, the first is line 2; these prompts are scored again"
    ]


def test_two_that_write_one_journal_do_not_mix(path):
    first, second = ScoreStore(path, IDENTITY), ScoreStore(path, IDENTITY | {"revision": "other"})
    for place in range(5):
        first.add(f"a{place}", rows(-1.0), {})
        second.add(f"b{place}", rows(-2.0), {})
    repeated = ScoreStore(path, IDENTITY)
    assert [f"a{place}" in repeated for place in range(5)] == [True] * 5
    assert [f"b{place}" in repeated for place in range(5)] == [False] * 5


def study(folder, **config):
    for task in ("t", "u"):
        finished(folder / "scores" / "m" / task / "1-shot.parquet", IDENTITY, "a", "b", "c")
        finished(folder / "scores" / "m" / task / "1-shot.parquet", IDENTITY, "a")
    (folder / "config.yaml").write_text(json.dumps(config))
    end(folder)
    return folder


def end(folder):
    """As if a run had ended, which writes the config at last."""
    latest = max(path.stat().st_mtime for path in folder.rglob("*.parquet"))
    os.utime(folder / "config.yaml", (latest + 1, latest + 1))


def test_what_is_stored_is_listed_and_what_is_not_wanted_dropped(tmp_path):
    table = stored(study(tmp_path, models={"m": {}}, tasks={"t": ""}, shots=[1]))
    assert table[["task", "shots", "in_config", "prompts", "kept"]].to_numpy().tolist() == [
        ["t", 1, True, 1, 2],
        ["u", 1, False, 1, 2],
    ]
    assert drop_unrequested(table) > 1000
    (path,) = (tmp_path / "scores" / "m").rglob("1-shot.parquet")
    assert path.samefile(store_of(path))
    assert stored(tmp_path)["kept"].tolist() == [0]


def test_scores_of_other_kinds_of_prompts_are_listed_and_dropped_where_they_are_not_asked_for(tmp_path):
    place = study(tmp_path, models={"m": {}}, tasks={"t": "", "u": ""}, shots=[1], pvi={})
    for kind in ("null", "training"):
        finished(tmp_path / f"{kind}_scores" / "m" / "t" / "1-shot.parquet", IDENTITY, "a")
    end(tmp_path)
    table = stored(place)
    assert table[["task", "kind", "in_config"]].to_numpy().tolist() == [
        ["t", "drawn", True],
        ["u", "drawn", True],
        ["t", "null-target", True],
        ["t", "training", False],
    ]
    drop_unrequested(table)
    assert stored(place)["kind"].tolist() == ["drawn", "drawn", "null-target"]


def test_scores_of_a_run_that_has_not_ended_are_not_dropped(tmp_path):
    """The config in the folder is that of the run before; the new one has another model."""
    place = study(tmp_path, models={"m": {}}, tasks={"t": "", "u": ""}, shots=[1])
    path = tmp_path / "scores" / "new" / "t" / "1-shot.parquet"
    finished(path, IDENTITY, "a", "b")
    later = (place / "config.yaml").stat().st_mtime + 1
    os.utime(path, (later, later))
    table = stored(place)
    assert table.set_index("model")["in_config"].to_dict() == {"m": True, "new": True}
    drop_unrequested(table)
    assert path.is_file()


def test_further_prompts_of_a_run_that_has_not_ended_are_not_dropped(tmp_path):
    place = study(tmp_path, models={"m": {}}, tasks={"t": "", "u": ""}, shots=[1])
    path = tmp_path / "scores" / "m" / "t" / "1-shot.parquet"
    later = (place / "config.yaml").stat().st_mtime + 1
    os.utime(store_of(path), (later, later))
    table = stored(place)
    assert table.set_index("task")["kept"].to_dict() == {"t": 0, "u": 2}
    drop_unrequested(table)
    assert not path.samefile(store_of(path))
    assert len(read_made_from(store_of(path))["prompts"]) == 3
    assert stored(place).set_index("task")["kept"].to_dict() == {"t": 0, "u": 0}


def test_a_setting_that_has_a_store_only_is_listed(tmp_path):
    """As after a job that failed before its end: what was scored is in the store."""
    place = study(tmp_path, models={"m": {}}, tasks={"t": ""}, shots=[1])
    for task in ("t", "u"):
        (tmp_path / "scores" / "m" / task / "1-shot.parquet").unlink()
    table = stored(place)
    columns = ["task", "in_config", "prompts", "kept"]
    assert table[columns].to_numpy().tolist() == [["t", True, 0, 0], ["u", False, 0, 3]]
    drop_unrequested(table)
    assert [path.parent.name for path in (tmp_path / "scores").rglob("*.parquet")] == ["t"]
    (tmp_path / "new" / "scores").mkdir(parents=True)
    completed = run("scores", str(tmp_path / "new"))
    assert completed.stderr == (
        f"abovechance: error: {tmp_path / 'new'}: has no finished scores yet; run the study first\n"
    )
    assert json.loads(run("scores", str(tmp_path / "new"), "--json").stdout) == []


def test_kill_minus_nine_loses_no_prompt_that_was_added(path):
    program = (
        "import sys, pandas as pd, itertools; from pathlib import Path;"
        "from abovechance.scoring.store import ScoreStore;"
        "rows = pd.DataFrame({'example': ['a'] * 500, 'choice': range(500), 'logprob': 0.5, 'tokens': 1,"
        " 'characters': 1, 'bytes': 1});"
        "store = ScoreStore(Path(sys.argv[1]), {'revision': 'r'});"
        "[(store.add(str(i), rows, {}), print(i, flush=True)) for i in itertools.count()]"
    )
    process = subprocess.Popen([sys.executable, "-c", program, str(path)], stdout=subprocess.PIPE, text=True)
    for _ in range(5):
        process.stdout.readline()
    time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    messages = [line for line in process.stdout.read().split("\n") if line]
    process.wait()
    repeated = ScoreStore(path, {"revision": "r"})
    assert all(str(i) in repeated for i in range(5))
    assert all(line in repeated for line in messages)
