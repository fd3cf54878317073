"""A zip file that has the same bytes whenever it is made of the same files, with a list of their hashes.

The list is in the form of `sha256sum`, so that it can be checked without this project:
``unzip study.zip -d study && cd study && sha256sum --check manifest-sha256.txt``.
"""

from __future__ import annotations

import hashlib
import io
import shutil
import stat
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from abovechance.core.errors import InputError
from abovechance.core.files import replacing
from abovechance.core.provenance import file_sha256
from abovechance.core.untrusted import (
    MOST_MEMBER,
    MOST_MEMBERS,
    RATIO,
    ROOMY_ZIP,
    check_regular,
    is_portable,
    opened_zip,
    printable,
)
from abovechance.study.kinds import KINDS

MANIFEST = "manifest-sha256.txt"
MANIFEST_OF_SCORES = "manifest-scores-sha256.txt"  # another one, so that both can lie in one folder
MANIFESTS = (MANIFEST, MANIFEST_OF_SCORES)
MOST_LISTED = 32 * 2**20  # bytes of a manifest
BESIDE = "beside-sha256.txt"  # of archives that belong to this one
# The earliest time that zip files can have; when files were made is no part of what they are.
TIME = (1980, 1, 1, 0, 0, 0)

# What zipfile raises for a file that is not as it was written.
DAMAGED = (
    *(zipfile.BadZipFile, zlib.error, struct.error, OSError, EOFError, LookupError, OverflowError),
    *(NotImplementedError, RuntimeError, UnicodeDecodeError, MemoryError),
)

Content = Path | bytes


def write(contents: Mapping[str, Content], path: Path, listed_in: str = MANIFEST) -> None:
    """Write a zip file of these contents, and their manifest.

    Parameters
    ----------
    contents
        {name in the archive: a file, or bytes}.
    path
        The zip file, which appears in one rename.
    listed_in
        The manifest's name.

    Raises
    ------
    InputError
        If a name cannot stand in a manifest.
    """
    for problem, names in strange_names(contents).items():
        raise InputError(f"'{printable(names[0])}': {problem}; expected a name that every system can store")
    with replacing(path) as beside, zipfile.ZipFile(beside, "w", zipfile.ZIP_DEFLATED) as archive:
        hashes = {name: _add(archive, name, contents[name]) for name in sorted(contents)}
        _add(archive, listed_in, manifest(hashes).encode())


def _add(archive: zipfile.ZipFile, name: str, content: Content) -> str:
    """Add one file; its SHA-256."""
    entry = zipfile.ZipInfo(name, TIME)
    entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o100644 << 16
    with (
        io.BytesIO(content) if isinstance(content, bytes) else content.open("rb") as source,
        archive.open(entry, "w", force_zip64=True) as target,
    ):
        shutil.copyfileobj(source, target)
    return sha256(content)


def sha256(content: Content) -> str:
    """Return the SHA-256 of a file or of bytes, in hexadecimal."""
    return hashlib.sha256(content).hexdigest() if isinstance(content, bytes) else file_sha256(content)


def manifest(hashes: Mapping[str, str]) -> str:
    """Return the lines of a manifest: {name: SHA-256}."""
    return "".join(f"{value}  {name}\n" for name, value in sorted(hashes.items()))


@dataclass(frozen=True)
class Problem:
    """A problem of one file in an archive.

    It is ``changed``, ``missing``, ``not listed``, there ``twice``, ``a link``, ``no regular file``, ``too
    large``, or has a name that some systems cannot store (``strange_names``).
    """

    file: str
    problem: str


def verify(path: Path) -> list[Problem]:
    """Return the differences between an archive and its manifest; an empty list if there are none.

    Parameters
    ----------
    path
        The zip file, or a folder that it was unpacked to.

    Raises
    ------
    InputError
        If it is no archive, or so damaged that its list of files cannot be read.
    """
    problems = _problems(path)
    for companion, value in companions(path).items():
        if companion.is_file():
            if sha256(companion) != value:
                problems.append(Problem(companion.name, "changed"))
            problems += _problems(companion)
            with opened(path) as archive, opened(companion) as scores:
                missing = [name for name in {*scores.names()} - {*MANIFESTS} if not name.startswith(SCORES)]
                common = {*archive.names()} & {*scores.names()} - {*MANIFESTS}
                missing += [name for name in common if archive.sha256(name) != scores.sha256(name)]
            fate = f"in {companion.name}, and no scores, or others than here"
            problems += [Problem(name, fate) for name in sorted({*missing})]
    return problems


def _problems(path: Path) -> list[Problem]:
    """Return the differences between one archive and its manifest."""
    with opened(path) as archive:
        listed = _listed(archive)
        names = archive.names()
        present = set(names) - {*MANIFESTS}
        problems = [Problem(name, "missing") for name in sorted({*listed} - present)]
        problems += [Problem(name, "not listed") for name in sorted(present - {*listed})]
        problems += [Problem(name, "twice") for name, times in sorted(Counter(names).items()) if times > 1]
        problems += [
            Problem(name, problem) for problem, paths in strange_names(names).items() for name in paths
        ]
        unread = archive.unread()
        problems += [Problem(name, problem) for name, problem in sorted(unread.items())]
        problems += [
            Problem(name, "changed")
            for name in sorted(present & {*listed} - {*unread})
            if archive.sha256(name) != listed[name]
        ]
    return problems


# The folders that an archive that belongs to another one may hold, besides its list of files.
SCORES = tuple(f"results/{kind.scores}/" for kind in KINDS)


def _listed(archive: Archive) -> dict[str, str]:
    """{file: its SHA-256} of all that an archive's manifests list."""
    hashes: dict[str, str] = {}
    for name in sorted({*MANIFESTS} & {*archive.names()}):
        listed = _hashes(archive, name)
        if differing := sorted(file for file in hashes.keys() & listed if hashes[file] != listed[file]):
            raise InputError(f"{archive.path}: its lists of files have different hashes of {differing[0]}")
        hashes |= listed
    if not hashes:
        raise InputError(f"{archive.path}, {MANIFEST}: lists no file; expected that of `make archive`")
    return hashes


def companions(path: Path) -> dict[Path, str]:
    """{archive that belongs to this one, beside it if it is there: its SHA-256}."""
    with opened(path) as archive:
        hashes = _hashes(archive, BESIDE) if BESIDE in archive.names() else {}
    for name in hashes:
        if "/" in name or not is_portable(name):
            raise InputError(
                f"{path}, {BESIDE}: lists '{printable(name)[:80]}'; expected the name of an archive"
            )
    return {path.resolve().parent / name: value for name, value in hashes.items()}


def lacking(path: Path) -> list[str]:
    """Return the names of archives that belong to this one and do not lie beside it."""
    return [companion.name for companion in companions(path) if not companion.is_file()]


class Archive:
    """The files of a zip file or of a folder, by their names."""

    def __init__(self, root: Path | zipfile.ZipFile) -> None:
        self.root = root
        self.path = root if isinstance(root, Path) else root.filename

    def names(self) -> list[str]:
        """Return the names of all files, and in a zip file of folders that are more than folders in it."""
        if isinstance(self.root, zipfile.ZipFile):
            entries = self.root.infolist()
            return [entry.filename for entry in entries if not _is_plain_folder(entry)]
        members = []
        for file in self.root.rglob("*"):
            if file.is_symlink() or not file.is_dir():
                members.append(file.relative_to(self.root).as_posix())
            if len(members) > MOST_MEMBERS:
                raise InputError(f"{self.root}: has more than {MOST_MEMBERS:,} files")
        return members

    def unread(self) -> dict[str, str]:
        """{name: why its content is not read}: links, pipes and devices, and files that are mostly holes."""
        if isinstance(self.root, zipfile.ZipFile):
            modes = {entry.filename: entry.external_attr >> 16 for entry in self.root.infolist()}
            links = {name: "a link" for name, mode in modes.items() if stat.S_ISLNK(mode)}
            kinds = (0, stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK)
            unpackable = [name for name, mode in modes.items() if stat.S_IFMT(mode) not in kinds]
            return links | dict.fromkeys(unpackable, "no regular file")
        problems = {}
        for name in self.names():
            facts = (self.root / name).lstat()
            if stat.S_ISLNK(facts.st_mode):
                problems[name] = "a link"
            elif not stat.S_ISREG(facts.st_mode):
                problems[name] = "no regular file"
            elif facts.st_size > min(max(ROOMY_ZIP, RATIO * 512 * facts.st_blocks), MOST_MEMBER):
                problems[name] = "too large"
        return problems

    def read(self, name: str, most_bytes: int = MOST_LISTED) -> bytes:
        """A file's content; InputError if it is longer than ``most_bytes`` bytes, or no regular file."""
        if isinstance(self.root, zipfile.ZipFile):
            if (size := self.root.getinfo(name).file_size) > most_bytes:
                raise InputError(f"{self.path}, {name}: has {size:,} bytes; expected at most {most_bytes:,}")
            return self.root.read(name)
        path = self.root / name
        if path.is_symlink():
            raise InputError(f"{path}: is a link; expected a regular file")
        check_regular(path, most_bytes)
        return path.read_bytes()

    def sha256(self, name: str) -> str:
        """Return the SHA-256 of a file; of one that cannot be read, nothing."""
        try:
            if isinstance(self.root, zipfile.ZipFile):
                with self.root.open(name) as file:
                    return hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]
            return sha256(self.root / name)
        except DAMAGED:
            return ""


@contextmanager
def opened(path: Path) -> Iterator[Archive]:
    """Yield an archive's files.

    Raises
    ------
    InputError
        If it is neither a zip file nor a folder with a manifest.
    """
    expected = "expected a zip file of `make archive`, or the folder that one was unpacked to"
    if path.is_dir():
        if not any((path / name).is_file() for name in MANIFESTS):
            raise InputError(f"{path}: has no {MANIFEST}; {expected}")
        yield Archive(path)
        return
    if not path.is_file():
        raise InputError(f"{path}: there is no such file or folder; {expected}")
    try:
        _check_ends(path)
        with opened_zip(path) as file:
            if not {*MANIFESTS} & {*file.namelist()}:
                raise InputError(f"{path}: has no {MANIFEST}; {expected}")
            _check_entries(file)
            yield Archive(file)
    except DAMAGED as error:
        raise InputError(f"{path}: cannot be read as a zip file ({error}); {expected}") from None


def strange_names(names: Iterable[str]) -> dict[str, list[str]]:
    """Return {what is strange: the names of which it is so} of files that not all systems can store."""
    first: dict[str, str] = {}
    strange: dict[str, list[str]] = {}
    portable = []
    for name in sorted({*names}):
        if not is_portable(name):
            strange.setdefault("a name that some systems cannot store", []).append(name)
            continue
        portable.append(name)
        if first.setdefault(name.casefold(), name) != name:
            strange.setdefault("another name in case only", []).append(name)
    folders: dict[str, str] = {}
    for name in portable:
        folder = name.rpartition("/")[0]
        while folder and folders.get(folder.casefold()) != folder:
            if folder.casefold() in first:
                strange.setdefault("in a folder that has the name of a file", []).append(name)
            if folders.setdefault(folder.casefold(), folder) != folder:
                strange.setdefault("in a folder that differs from another in case only", []).append(name)
                break
            folder = folder.rpartition("/")[0]
    return strange


def _is_plain_folder(entry: zipfile.ZipInfo) -> bool:
    path = PurePosixPath(entry.filename)
    return entry.is_dir() and not entry.file_size and not path.is_absolute() and ".." not in path.parts


def _check_ends(path: Path) -> None:
    """Raise BadZipFile where something stands before a zip file's first entry, or behind its end."""
    size = path.stat().st_size
    with path.open("rb") as file:
        first = file.read(4)
        file.seek(max(0, size - END))
        last = file.read(4)
    if first == b"PK\x03\x04" and last != b"PK\x05\x06":
        raise zipfile.BadZipFile(
            "there is something behind its end" if zipfile.is_zipfile(path) else "it is cut off"
        )
    if first == last == b"PK\x05\x06":
        raise zipfile.BadZipFile("it has no files")
    if first != b"PK\x03\x04" and last == b"PK\x05\x06":
        raise zipfile.BadZipFile("there is something before its beginning")


def _check_entries(file: zipfile.ZipFile) -> None:
    """Raise BadZipFile if other programs would see another file, or another name of one."""
    if min(entry.header_offset for entry in file.infolist()) > 0:
        raise zipfile.BadZipFile("there is something before its first file")
    for entry in file.infolist():
        if UNICODE_PATH in _extra_fields(entry.extra):
            raise zipfile.BadZipFile(f"'{printable(entry.filename)}' has a second name")


def _extra_fields(extra: bytes) -> Iterator[int]:
    """Yield the identifiers of an entry's extra fields."""
    while len(extra) >= 4:
        identifier, size = struct.unpack("<HH", extra[:4])
        yield identifier
        extra = extra[4 + size :]


UNICODE_PATH = 0x7075  # an extra field with another name, which some programs use
END = 22  # bytes of a zip file's last record, without a comment


def _hashes(archive: Archive, name: str) -> dict[str, str]:
    """{file: its SHA-256} as a manifest says.

    Raises
    ------
    InputError
        With its first line that is none of a manifest.
    """
    place = f"{archive.path}, {name}"
    try:
        text = archive.read(name).decode().removesuffix("\n")
    except DAMAGED as error:
        raise InputError(f"{place}: cannot be read ({error})") from None
    hashes: dict[str, str] = {}
    for number, line in enumerate(text.split("\n") if text else [], start=1):
        value, separator, file = line.partition("  ")
        inside = not PurePosixPath(file).is_absolute() and ".." not in PurePosixPath(file).parts
        if not separator or len(value) != 64 or not file or not inside:
            raise InputError(f"{place}, row {number}: is '{line[:80]}'; expected a SHA-256 and a file")
        if file in hashes:
            raise InputError(f"{place}, row {number}: lists '{file[:80]}' a second time")
        if len(hashes) >= MOST_MEMBERS:
            raise InputError(f"{place}: lists more than {MOST_MEMBERS:,} files")
        hashes[file] = value
    return hashes
