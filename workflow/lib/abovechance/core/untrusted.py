"""Limits on files that may come from a stranger: what is read from them, unpacked and printed is bounded."""

from __future__ import annotations

import stat
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from abovechance.core.errors import InputError

MOST_TEXT = 2 * 2**30  # bytes of a text file that is read as a whole
MOST_MEMBERS = 100_000  # of a zip file
# A member, and all members together, may have so many bytes, or RATIO times their compressed size.
ROOMY_MEMBER, ROOMY_ZIP, RATIO = 256 * 2**20, 2**30, 100
MOST_MEMBER = 64 * 2**30
MOST_VALUES = (
    20_000_000  # of a JSON text; in memory, a value takes up to fifty times as many bytes as in the text
)
MOST_NAME, MOST_PART = 1000, 255  # bytes of a file's name with its folders, and of each of these
MOST_FOLDERS = 64  # that a file is in


def check_regular(path: Path, limit: int = MOST_TEXT) -> None:
    """Raise InputError unless a path is a regular file of at most so many bytes, or a link to one.

    Reading a pipe or a device may never end.
    """
    try:
        status = path.stat()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    if stat.S_ISDIR(status.st_mode):
        raise InputError(f"{path}: is a folder; expected a file")
    if not stat.S_ISREG(status.st_mode):
        raise InputError(f"{path}: is a pipe or a device; expected a regular file")
    if status.st_size > limit:
        raise InputError(f"{path}: has {status.st_size:,} bytes; expected at most {limit:,}")


def check_values(text: str | bytes, place: str) -> int:
    """Return how many values a JSON text has, or a few more; InputError if they are too many to hold."""
    marks = (b"[", b"{", b",") if isinstance(text, bytes) else ("[", "{", ",")
    count = sum(map(text.count, marks))  # type: ignore[arg-type]
    if count > MOST_VALUES:
        raise InputError(f"{place}: has about {count:,} values; expected at most {MOST_VALUES:,}")
    return count


@contextmanager
def opened_zip(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open a zip file whose members are not too many and not too large.

    Raises
    ------
    InputError
        If they are, or the path is no regular file.
    zipfile.BadZipFile, OSError
        If it is no zip file.
    """
    check_regular(path, MOST_MEMBER)
    try:
        opened = zipfile.ZipFile(path)
    except NotImplementedError as error:  # a version that there is none of
        raise zipfile.BadZipFile(str(error)) from None
    with opened as file:
        check_members(file, path)
        yield file


def check_members(file: zipfile.ZipFile, path: Path) -> None:
    """Raise InputError if the members of a zip file are too many, or would unpack to too many bytes."""
    members = file.infolist()
    if len(members) > MOST_MEMBERS:
        raise InputError(f"{path}: has {len(members):,} members; expected at most {MOST_MEMBERS:,}")
    for member in members:
        if member.file_size > min(max(ROOMY_MEMBER, RATIO * member.compress_size), MOST_MEMBER):
            raise InputError(
                f"{path}: its member '{printable(member.filename)}' would unpack {member.compress_size:,} "
                f"bytes to {member.file_size:,}; expected at most {RATIO} times as many"
            )
    total = sum(member.file_size for member in members)
    if total > max(ROOMY_ZIP, RATIO * path.stat().st_size):
        raise InputError(
            f"{path}: would unpack {path.stat().st_size:,} bytes to {total:,}; expected at most {RATIO} "
            "times as many"
        )


def printable(text: str) -> str:
    """Return a text in which control characters, and what cannot be printed, are escaped as in Python."""
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape", "surrogatepass").decode("ascii")
        for letter in text
    )


def portable(name: str) -> str:
    """Return a file's name with an underscore for each character that not all systems can store."""
    portable_name = "".join(
        letter if is_portable(f"x{letter}x") and letter != "/" else "_" for letter in name
    )
    portable_name = portable_name.encode()[: MOST_PART - 1].decode(errors="ignore").rstrip(". ")
    return portable_name if portable_name and is_portable(portable_name) else f"_{portable_name}"


DEVICES = {
    "con",
    "prn",
    "aux",
    "nul",
    *("conin$", "conout$"),
    *(f"{name}{number}" for name in ("com", "lpt") for number in "123456789\u00b9\u00b2\u00b3"),
}


def is_portable(name: str) -> bool:
    """Return whether every system can store a file of this name, with folders before slashes, in a folder."""
    parts = name.split("/")
    if len(parts) > MOST_FOLDERS or max(map(_bytes, parts)) > MOST_PART or _bytes(name) > MOST_NAME:
        return False
    return all(
        part not in ("", ".", "..")
        and part.isprintable()
        and not any(letter in '\\:*?"<>|' for letter in part)
        and part[-1] not in ". "
        and part.partition(".")[0].lower() not in DEVICES
        for part in parts
    )


def _bytes(name: str) -> int:
    return len(name.encode("utf-8", "surrogatepass"))


def named(value: object, place: str) -> str:
    """Return a name of an example, model or task as a text; InputError if it has half of a character."""
    name = str(value)
    try:
        name.encode()
    except UnicodeEncodeError:
        raise InputError(f"{place}: the name {name!r} has half of a character") from None
    return name
