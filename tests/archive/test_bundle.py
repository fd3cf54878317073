"""Archives: the same bytes for the same files, and nothing that is changed goes unnoticed."""

import io
import os
import re
import shutil
import struct
import subprocess
import zipfile
import zlib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from abovechance.archive.bundle import (
    BESIDE,
    MANIFEST,
    MANIFEST_OF_SCORES,
    Problem,
    lacking,
    manifest,
    sha256,
    strange_names,
    verify,
    write,
)
from abovechance.core import untrusted
from abovechance.core.errors import InputError
from abovechance.core.untrusted import is_portable, portable
from tests.running import run


@pytest.fixture
def contents(tmp_path) -> dict[str, Path | bytes]:
    (tmp_path / "table.csv").write_text("a,b\n1,2\n" * 500)
    return {"results/table.csv": tmp_path / "table.csv", "README.md": "# Ünlike\n".encode(), "empty.txt": b""}


@pytest.fixture
def archive(contents, tmp_path) -> Path:
    write(contents, tmp_path / "study.zip")
    return tmp_path / "study.zip"


def test_an_archive_has_the_same_bytes_whenever_it_is_made(contents, archive, tmp_path):
    os.utime(tmp_path / "table.csv", (10**9, 10**9))
    (tmp_path / "table.csv").chmod(0o600)
    write(dict(reversed(contents.items())), tmp_path / "again.zip")
    assert (tmp_path / "again.zip").read_bytes() == archive.read_bytes()


def test_an_archive_is_as_it_was_made_also_when_it_is_unpacked(archive, tmp_path):
    assert verify(archive) == []
    shutil.unpack_archive(archive, tmp_path / "unpacked")
    assert verify(tmp_path / "unpacked") == []
    assert (tmp_path / "unpacked" / "README.md").read_text() == "# Ünlike\n"


def test_its_hashes_can_be_checked_without_this_project(archive, tmp_path):
    shutil.unpack_archive(archive, tmp_path / "unpacked")
    messages = ["sha256sum", "--check", "--strict", MANIFEST]
    assert subprocess.run(messages, cwd=tmp_path / "unpacked", capture_output=True).returncode == 0
    (tmp_path / "unpacked" / "empty.txt").write_text("x")
    assert subprocess.run(messages, cwd=tmp_path / "unpacked", capture_output=True).returncode == 1


def entry(name: str, mode: int = 0o100644) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr = mode << 16
    return info


def made_again(archive: Path, first=(), last=(), leave=(), mode=0o100644) -> Path:
    """The archive with other entries before and behind its own, some of them left out, all of one mode."""
    with zipfile.ZipFile(archive) as file:
        rows = [(name, file.read(name)) for name in file.namelist() if name not in leave]
    path = archive.with_name("again.zip")
    with zipfile.ZipFile(path, "w") as file:
        for name, content in [*first, *rows, *last]:
            file.writestr(entry(name, mode if (name, content) in rows else 0o100644), content)
    return path


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_an_archive_in_which_programs_may_see_other_files_is_not_as_it_was(archive):
    fake = ("README.md", b"another")
    assert Problem("README.md", "twice") in verify(made_again(archive, first=[fake]))
    forged = made_again(archive, last=[fake])
    assert {Problem("README.md", "twice"), Problem("README.md", "changed")} <= {*verify(forged)}
    assert "\n1 file changed, missing or invalid.\n" in run("verify", str(forged)).stdout
    manifest_of_fakes = (MANIFEST, manifest({"README.md": "0" * 64}).encode())
    assert Problem(MANIFEST, "twice") in verify(made_again(archive, first=[manifest_of_fakes]))
    assert Problem("README.md", "a link") in verify(made_again(archive, mode=0o120777))
    strange = "a name that some systems cannot store"
    for name in ("../evil/", "results/more/", "/etc/"):
        problems = verify(made_again(archive, last=[(name, b"content")]))
        assert problems == [Problem(name, "not listed"), Problem(name, strange)]
    problems = verify(made_again(archive, last=[("../evil/", b"")]))
    assert problems == [Problem("../evil/", "not listed"), Problem("../evil/", strange)]
    assert verify(made_again(archive, last=[("results/", b"")])) == []  # as other programs write it


def test_a_file_with_a_second_name_is_told(archive):
    """Some programs unpack a file under the name in this extra field."""
    name = b"results/verdicts.csv"
    field = struct.pack("<HHBI", 0x7075, 5 + len(name), 1, zlib.crc32(b"results/x.csv")) + name
    with zipfile.ZipFile(archive, "a") as file:
        entry = zipfile.ZipInfo("results/x.csv")
        entry.extra = struct.pack("<HH", 0x5455, 0) + field  # after another field
        file.writestr(entry, b"forged")
    with pytest.raises(InputError, match="'results/x.csv' has a second name"):
        verify(archive)


def test_a_hidden_file_before_the_first_one_is_told(archive):
    hidden = io.BytesIO()
    with zipfile.ZipFile(hidden, "w") as file:
        file.writestr("README.md", b"forged")
    with zipfile.ZipFile(hidden) as file:
        beginning = hidden.getvalue()[: file.start_dir]
    archive.write_bytes(beginning + archive.read_bytes())
    with pytest.raises(InputError, match="there is something before its first file"):
        verify(archive)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.999])
def test_an_archive_that_is_cut_off_is_told(archive, share):
    content = archive.read_bytes()
    archive.write_bytes(content[: int(share * len(content))])
    with pytest.raises(InputError, match="cannot be read as a zip file .it is cut off"):
        verify(archive)


def test_what_stands_before_or_behind_an_archive_is_told(archive):
    whole = archive.read_bytes()
    for content, position in (
        (b"#!/bin/sh\n" + whole, "before its beginning"),
        (whole + b"x", "behind its end"),
    ):
        archive.write_bytes(content)
        with pytest.raises(InputError, match=f"cannot be read as a zip file .there is something {position}"):
            verify(archive)


STRANGE = [
    "x" * 256,
    "é" * 128,
    "a/" * 500 + "x",
    "a\nb",
    "a\\b",
    "nul",
    "x/COM1.txt",
    "C:x",
    "../x",
    "/x",
    "x/",
    "x.",
    "a\x1b]0;b\x07",
]


@pytest.mark.parametrize("name", STRANGE)
def test_a_name_that_some_systems_cannot_store_is_told(archive, tmp_path, name):
    with pytest.raises(InputError, match="a name that some systems cannot store"):
        write({name: b""}, tmp_path / "x.zip")
    assert not (tmp_path / "x.zip").exists()
    listed = {name: b"", "README.md": "# Ünlike\n".encode()}
    if "\n" not in name and not name.startswith(("..", "/")) and name != "x/":  # a manifest has no such name
        (tmp_path / "manifest").write_text(
            manifest({values: sha256(text) for values, text in listed.items()})
        )
        path = [(MANIFEST, (tmp_path / "manifest").read_bytes()), (name, b"")]
        repeated = made_again(archive, last=path, leave=[MANIFEST, "empty.txt", "results/table.csv"])
        assert Problem(name, "a name that some systems cannot store") in verify(repeated)


def test_names_that_differ_in_case_only_are_told(archive, tmp_path):
    with pytest.raises(InputError, match="'a/b': another name in case only"):
        write({"a/B": b"", "a/b": b""}, tmp_path / "x.zip")
    assert Problem("readme.md", "another name in case only") in verify(
        made_again(archive, last=[("readme.md", b"")])
    )


def test_a_file_in_the_place_of_a_folder_is_told(archive):
    problem = Problem("README.md/x", "in a folder that has the name of a file")
    assert problem in verify(made_again(archive, last=[("README.md/x", b"")]))


@pytest.mark.parametrize("name", [".", "..", "a/b.zip", "a\x1b.zip"])
def test_an_archive_beside_another_has_a_plain_name(contents, tmp_path, name):
    path = tmp_path / "a.zip"
    write({**contents, BESIDE: f"{'0' * 64}  {name}\n".encode()}, path)
    with pytest.raises(InputError, match=f"{BESIDE}"):
        verify(path)


def test_a_files_name_is_made_one_that_every_system_can_store():
    assert portable("we ird\u2028 (é) #1.parquet") == "we ird_ (é) #1.parquet"
    assert all(is_portable(portable(name)) for name in [*STRANGE, ".", "..", "CON.parquet", "a/b", "???"])


def test_what_no_one_can_read_to_its_end_is_not_read(archive, tmp_path):
    folder = tmp_path / "unpacked"
    shutil.unpack_archive(archive, folder)
    for name in ("README.md", "empty.txt", "results/table.csv"):
        (folder / name).unlink()
    (folder / "README.md").symlink_to("/dev/zero")
    os.mkfifo(folder / "empty.txt")
    with (folder / "results" / "table.csv").open("wb") as file:
        file.truncate(2**40)  # a hole
    assert verify(folder) == [
        Problem("README.md", "a link"),
        Problem("empty.txt", "no regular file"),
        Problem("results/table.csv", "too large"),
    ]
    (folder / MANIFEST).unlink()
    (folder / MANIFEST).symlink_to("/dev/zero")
    with pytest.raises(InputError, match=f"has no {MANIFEST}"):
        verify(folder)


def of_zeros(path: Path, members: dict[str, int]) -> Path:
    """A zip file whose members are zeros."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
        for name, size in members.items():
            with file.open(name, "w", force_zip64=True) as member:
                for _ in range(0, size, 2**20):
                    member.write(bytes(min(size, 2**20)))
    return path


def test_a_zip_file_that_would_unpack_to_too_much_is_not_unpacked(tmp_path):
    with pytest.raises(InputError, match="its member 'manifest-sha256.txt' would unpack"):
        verify(of_zeros(tmp_path / "bomb.zip", {MANIFEST: 300 * 2**20}))
    with pytest.raises(InputError, match=f"{MANIFEST}: has 41,943,040 bytes; expected at most 33,554,432"):
        verify(of_zeros(tmp_path / "list.zip", {MANIFEST: 40 * 2**20}))
    many = {f"{number}": 200 * 2**20 for number in range(6)}
    with pytest.raises(InputError, match="would unpack .* to 1,258,291,201; expected at most 100 times"):
        verify(of_zeros(tmp_path / "many.zip", {**many, MANIFEST: 1}))


def test_a_zip_file_of_too_many_members_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(untrusted, "MOST_MEMBERS", 10)
    with pytest.raises(InputError, match="has 11 members; expected at most 10"):
        verify(of_zeros(tmp_path / "x.zip", {f"{number}": 0 for number in range(11)}))


def test_a_manifest_that_lists_nothing_or_a_file_twice_is_none(archive, tmp_path):
    with pytest.raises(InputError, match="lists no file"):
        verify(made_again(archive, last=[(MANIFEST, b"")], leave=[MANIFEST]))
    twice = manifest({"README.md": "0" * 64}) + manifest({"README.md": "1" * 64})
    with pytest.raises(InputError, match="row 2: lists 'README.md' a second time"):
        verify(made_again(archive, last=[(MANIFEST, twice.encode())], leave=[MANIFEST]))
    with pytest.raises(InputError, match="its lists of files have different hashes of README.md"):
        verify(made_again(archive, last=[(MANIFEST_OF_SCORES, manifest({"README.md": "0" * 64}).encode())]))


def test_messages_about_lists_name_the_archive(archive, tmp_path):
    damaged = made_again(archive, last=[(MANIFEST, b"\xff\xfe")], leave=[MANIFEST])
    with pytest.raises(InputError, match=f"^{re.escape(str(damaged))}, {MANIFEST}: cannot be read"):
        verify(damaged)
    empty = tmp_path / "empty.zip"
    with zipfile.ZipFile(empty, "w"):
        pass
    with pytest.raises(InputError, match=r"cannot be read as a zip file \(it has no files\)"):
        verify(empty)


def test_a_link_in_the_place_of_a_file_is_named(archive, tmp_path):
    shutil.unpack_archive(archive, tmp_path / "unpacked")
    (tmp_path / "unpacked" / "README.md").rename(tmp_path / "elsewhere")
    (tmp_path / "unpacked" / "README.md").symlink_to(tmp_path / "elsewhere")
    assert verify(tmp_path / "unpacked") == [Problem("README.md", "a link")]


def test_two_archives_that_belong_together_can_lie_in_one_folder(contents, tmp_path):
    write({"scores/x": b"1"}, tmp_path / "scores.zip", MANIFEST_OF_SCORES)
    write(contents, tmp_path / "study.zip")
    for name in ("study", "scores"):
        shutil.unpack_archive(tmp_path / f"{name}.zip", tmp_path / "both")
        assert verify(tmp_path / f"{name}.zip") == []
    assert verify(tmp_path / "both") == []
    (tmp_path / "both" / "scores" / "x").write_text("2")
    assert verify(tmp_path / "both") == [Problem("scores/x", "changed")]


def test_what_was_changed_left_out_or_added_is_named(archive, tmp_path):
    folder = tmp_path / "unpacked"
    shutil.unpack_archive(archive, folder)
    (folder / "results" / "table.csv").write_text("a,b\n1,3\n" * 500)
    (folder / "empty.txt").unlink()
    (folder / "more" / "of").mkdir(parents=True)
    (folder / "more" / "of" / "it").write_text("")
    assert verify(folder) == [
        Problem("empty.txt", "missing"),
        Problem("more/of/it", "not listed"),
        Problem("results/table.csv", "changed"),
    ]


def read(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as file:
        return {name: file.read(name) for name in file.namelist()}


@given(data=st.data())
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_one_changed_byte_is_noticed_wherever_it_is(archive, data):
    whole = archive.read_bytes()
    place = data.draw(st.integers(0, len(whole) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda value: value != whole[place]))
    changed = archive.with_name("changed.zip")
    changed.write_bytes(whole[:place] + bytes([byte]) + whole[place + 1 :])
    try:
        problems = verify(changed)
    except InputError:
        return
    # what is told of a file beside its content, such as a time, is no part of the results
    assert problems or read(changed) == read(archive)


@given(length=st.integers(0, 400))
@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_an_archive_that_is_cut_is_one_line(archive, length):
    cut = archive.with_name("cut.zip")
    cut.write_bytes(archive.read_bytes()[: min(length, archive.stat().st_size - 1)])
    with pytest.raises(InputError, match="cannot be read as a zip file"):
        verify(cut)


@pytest.mark.parametrize(
    ("path", "message"),
    [("nowhere.zip", "there is no such file or folder"), (".", "has no manifest-sha256.txt")],
)
def test_what_is_no_archive_is_told(tmp_path, path, message):
    with pytest.raises(InputError, match=message):
        verify(tmp_path / path)


@pytest.mark.parametrize(
    "line", ["no hash", f"{'0' * 64}  ../outside", f"{'0' * 64}  /etc/passwd", "0  short"]
)
def test_a_list_that_is_none_is_told_with_its_row(tmp_path, line):
    (tmp_path / MANIFEST).write_text(f"{sha256(b'')}  a\n{line}\n")
    with pytest.raises(InputError, match=f"{MANIFEST}, row 2: is"):
        verify(tmp_path)


def test_a_second_file_holds_scores_alone_and_none_that_the_first_one_has(tmp_path):
    """Unpacked over the first file's, the genuine results in the second hid that the first has others."""
    held_out = ["results/report.html", "results/scores/a.parquet", "results/scores/b.parquet"]
    write(dict.fromkeys(held_out, b"x"), tmp_path / "a-scores.zip")
    listed = manifest({"a-scores.zip": sha256(tmp_path / "a-scores.zip")}).encode()
    rows = {BESIDE: listed, "results/report.html": b"forged", "results/scores/a.parquet": b"y"}
    write(rows, tmp_path / "a.zip")
    noun = "in a-scores.zip, and no scores, or others than here"
    assert verify(tmp_path / "a.zip") == [Problem(name, noun) for name in held_out[:2]]


def test_an_archive_that_was_unpacked_with_its_scores_is_whole(tmp_path, monkeypatch):
    write({"results/scores/a.parquet": b"x"}, tmp_path / "a-scores.zip", MANIFEST_OF_SCORES)
    listed = manifest({"a-scores.zip": sha256(tmp_path / "a-scores.zip")}).encode()
    write({BESIDE: listed, "README.md": b""}, tmp_path / "a.zip")
    for name in ("a.zip", "a-scores.zip"):
        shutil.unpack_archive(tmp_path / name, tmp_path / "a")
    monkeypatch.chdir(tmp_path / "a")
    for path in (tmp_path / "a.zip", tmp_path / "a", Path()):
        assert (verify(path), lacking(path)) == ([], [])
    (tmp_path / "a" / "results" / "scores" / "a.parquet").write_bytes(b"y")
    assert {problem.file for problem in verify(tmp_path / "a")} == {"results/scores/a.parquet"}


def test_a_second_file_is_checked_inside(tmp_path):
    with zipfile.ZipFile(tmp_path / "a-scores.zip", "w") as file:
        file.writestr("results/scores/x", b"x")
        file.writestr(MANIFEST_OF_SCORES, manifest({"results/scores/x": "0" * 64}))
    listed = manifest({"a-scores.zip": sha256(tmp_path / "a-scores.zip")}).encode()
    write({BESIDE: listed}, tmp_path / "a.zip")
    assert verify(tmp_path / "a.zip") == [Problem("results/scores/x", "changed")]


def test_what_is_no_file_in_a_zip_file_is_told(tmp_path):
    write({"a": b""}, tmp_path / "a.zip")
    with zipfile.ZipFile(tmp_path / "a.zip", "a") as file:
        pipe = zipfile.ZipInfo("pipe")
        pipe.external_attr = 0o010644 << 16
        file.writestr(pipe, b"")
    assert Problem("pipe", "no regular file") in verify(tmp_path / "a.zip")


@pytest.mark.parametrize("name", ["CONIN$", "com\u00b9.txt", "a/" * 65 + "b"])
def test_names_that_windows_has_for_devices_and_deep_folders_are_told(name):
    assert strange_names([name]) == {"a name that some systems cannot store": [name]}


def test_folders_that_differ_in_case_only_are_told():
    assert strange_names(["RESULTS/x", "results/y", "results/z"]) == {
        "in a folder that differs from another in case only": ["results/y", "results/z"]
    }


def test_scores_in_a_second_file_are_checked_where_they_lie_beside_it(tmp_path):
    write({"results/scores/a.parquet": b"scores"}, tmp_path / "a-scores.zip")
    listed = manifest({"a-scores.zip": sha256(tmp_path / "a-scores.zip")}).encode()
    write({BESIDE: listed}, tmp_path / "a.zip")
    assert (verify(tmp_path / "a.zip"), lacking(tmp_path / "a.zip")) == ([], [])
    write({"results/scores/a.parquet": b"others"}, tmp_path / "a-scores.zip")
    assert verify(tmp_path / "a.zip") == [Problem("a-scores.zip", "changed")]
    (tmp_path / "a-scores.zip").unlink()
    assert (verify(tmp_path / "a.zip"), lacking(tmp_path / "a.zip")) == ([], ["a-scores.zip"])
