"""Files that are never left half-written: each is written beside its place and renamed into it."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import socket
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd

from abovechance.core.errors import InputError
from abovechance.core.provenance import digest


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A path to write to that takes the place of ``path`` when all went well, in one rename."""
    path.parent.mkdir(parents=True, exist_ok=True)
    _sweep(path)
    # The suffix stays last, since writers choose their format by it.
    beside = path.with_name(f".{path.stem}.{_HOST}-{os.getpid()}{path.suffix}")
    try:
        yield beside
        beside.replace(path)
    finally:
        _remove(beside)


_HOST = re.sub(r"[^A-Za-z0-9]", "_", socket.gethostname())  # others write to the same disk


def _sweep(path: Path) -> None:
    """Remove what processes of this machine left beside a path when they were killed."""
    leftover = re.compile(rf"\.{re.escape(path.stem)}\.{_HOST}-(\d+){re.escape(path.suffix)}")
    for file in path.parent.iterdir():
        match = leftover.fullmatch(file.name)
        if match and not _is_alive(int(match[1])):
            _remove(file)


def _is_alive(process: int) -> bool:
    if sys.platform == "win32":  # signal 0 is Ctrl+C there
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # another user's
        return True
    return True


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


@contextmanager
def alone(folder: Path, wait: Callable[[str], None] = print) -> Iterator[None]:
    """One process at a time in a folder: a second one waits until the first has ended, however it ended.

    A run that is killed can leave a job behind that goes on by itself, and the next run starts it again.

    Parameters
    ----------
    wait
        Is told where there is another process.
    """
    import fcntl  # which Windows lacks; commands on results do not need it

    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            wait(f"{folder}: another job works here; waiting for its end")
            fcntl.flock(lock, fcntl.LOCK_EX)
        except OSError as error:  # some file systems of clusters have no locks
            wait(f"{folder}: cannot be locked ({error.strerror}); no other job must work here")
        yield


def append(path: Path, line: bytes) -> None:
    """Add a whole line to the end of a file, in one write, so that lines of two processes do not mix.

    Raises
    ------
    OSError
        If it does not fit on the disk; a part of it may then stand there.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab", buffering=0) as file:
        if file.write(line) < len(line):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))


def link(path: Path, name: Path) -> None:
    """Give a file a second name, in one rename; a copy if the file system has no hard links."""
    with replacing(name) as beside:
        try:
            os.link(path, beside)
        except OSError:
            shutil.copy2(path, beside)


def is_one_file(path: Path, name: Path) -> bool:
    """Return whether two names are of the same file."""
    return path.exists() and name.exists() and path.samefile(name)


def write_text(text: str, path: Path) -> None:
    """Write a text file in one rename, with the same bytes on every system."""
    with replacing(path) as beside:
        beside.write_text(text, encoding="utf-8", newline="\n")


def write_json(value: Any, path: Path) -> None:
    """Write a JSON file in one rename. Half of a surrogate pair, which UTF-8 cannot store, is escaped."""
    text = json.dumps(value, indent=2, ensure_ascii=False) + "\n"
    write_text(text.encode("utf-8", "backslashreplace").decode("utf-8"), path)


def write_csv(table: pd.DataFrame, path: Path) -> None:
    """Write a table as CSV in one rename; floats keep all their digits.

    A text that a spreadsheet would take for a formula begins with an apostrophe: names may come from files of
    strangers.
    """
    texts = table.select_dtypes(include=["object", "string", "category"]).columns
    plain = table.assign(**{name: table[name].map(_no_formula, na_action="ignore") for name in texts})
    with replacing(path) as beside:
        plain.to_csv(beside, index=False, lineterminator="\n")


FORMULA = re.compile(r"'*[=+\-@\t\r]")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def _no_formula(value: object) -> object:
    is_formula = isinstance(value, str) and FORMULA.match(value) and not NUMBER.fullmatch(value)
    return f"'{value}" if is_formula else value


def file_name(text: str) -> str:
    """Return a name that can be a part of a file's: the text itself, or what of it can, and a digest.

    Names of models in other tools' logs may have any character.
    """
    plain = re.sub(r"[^A-Za-z0-9_.-]+", "_", text).strip("._-")[:60]
    # Snakemake takes a text that repeats itself many times for an endless loop
    if plain == text and not re.search(r"(.+)\1{19,}\Z", text):
        return text
    return f"{plain[:20]}-{digest(text)[:8]}"


def files_below(path: Path, pattern: str) -> list[Path]:
    """Return the file itself where its name is of the pattern, or all such files in a folder, sorted.

    Hidden files and folders are not searched.
    """
    if path.is_file():
        return [path] if path.match(pattern) else []
    return sorted(file for file in path.rglob(pattern) if file.is_file() and not _is_hidden(file, path))


def linked_folders(path: Path) -> list[Path]:
    """Return the symbolic links to folders in a folder, which ``files_below`` does not search, sorted."""
    return sorted(
        link for link in path.rglob("*") if link.is_symlink() and link.is_dir() and not _is_hidden(link, path)
    )


def _is_hidden(file: Path, folder: Path) -> bool:
    return any(part.startswith(".") for part in file.relative_to(folder).parts)


def check_exist(files: Iterable[str | Path], noun: str) -> None:
    """Raise InputError with the first of these files that is not there."""
    for path in map(Path, files):
        if not path.is_file():
            raise InputError(f"{noun}: there is no {path}")


def check_names(created: Iterable[str], files: Sequence[Path]) -> None:
    """Raise ValueError unless what a job has made is what its rule lists, by the names of the files."""
    if {*created} != {path.stem for path in files}:
        raise ValueError(f"made {sorted(created)}, but {sorted({path.stem for path in files})} are listed")
