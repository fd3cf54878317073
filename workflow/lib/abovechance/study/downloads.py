"""Pinned downloads from a package index, checked before they are used.

``pip download`` runs a source distribution's code to learn its metadata, and newer versions of pip refuse
some metadata. Here, a file is data, so it is only fetched and checked. Where that fails, pip is tried, which
knows more ways to reach an index.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urljoin, urlsplit

from abovechance.core.errors import InputError
from abovechance.core.provenance import file_sha256

if TYPE_CHECKING:
    import requests

PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check")
PYPI = "https://pypi.org/simple"
TIMEOUT = 60  # seconds without an answer
TRIES = 3  # after the first
HEADERS = {"Accept": "text/html", "Accept-Encoding": "identity"}


def check_sha256(path: Path, pinned: Mapping[str, str], problem: str = "") -> None:
    """Raise InputError unless the file is there and has the pinned hash.

    Parameters
    ----------
    pinned
        An entry of ``workflow/downloads.yaml``: ``requirement``, ``file``, ``sha256``.
    problem
        The problem of the download, for a message if the file is missing.
    """
    if not path.is_file():
        reason = problem.strip().splitlines()[-1:] or ["it said nothing"]
        raise InputError(
            f"downloading {pinned['requirement']} gave no {pinned['file']} ({reason[0]}); "
            f"expected a file with SHA-256 {pinned['sha256']}"
        )
    digest = file_sha256(path)
    if digest != pinned["sha256"]:
        raise InputError(
            f"{path}: is corrupted: its SHA-256 is {digest}, expected {pinned['sha256']}; "
            "delete the file and run again"
        )


def fetch(pinned: Mapping[str, str], path: Path) -> None:
    """Download a pinned file from pip's package indexes, or with pip, and check its hash.

    Parameters
    ----------
    pinned
        An entry of ``workflow/downloads.yaml``.
    path
        The file to write; there is none after an error.

    Raises
    ------
    InputError
        If nobody has the file with this hash.
    """
    problems = []
    for attempt in (_from_indexes, _with_pip):
        problems.append(attempt(pinned, path))
        if _is_whole(pinned, path):
            return
    path.unlink(missing_ok=True)
    check_sha256(path, pinned, without_passwords("; ".join(problems)))


def _is_whole(pinned: Mapping[str, str], path: Path) -> bool:
    """Return whether a file is there and has the pinned hash."""
    return path.is_file() and file_sha256(path) == pinned["sha256"]


def _from_indexes(pinned: Mapping[str, str], path: Path) -> str:
    """Write the file of the first index that has it; return the problem with the last one that does not."""
    import requests  # only where something is downloaded
    import urllib3
    from requests.adapters import HTTPAdapter

    settings = pip_settings()
    if {"no-index", "proxy"} & {*settings}:
        return "pip's settings name no index that can be asked directly"
    indexes = [settings.get("index-url", PYPI), *settings.get("extra-index-url", "").split()]
    project = re.sub(r"[-_.]+", "-", pinned["requirement"].partition("==")[0]).lower()
    problem = f"no package index has it: {', '.join(indexes)}"
    retry = urllib3.Retry(TRIES, backoff_factor=0.5, status_forcelist=[500, 502, 503, 504])
    with requests.Session() as session:
        session.mount("http://", HTTPAdapter(max_retries=retry))
        session.mount("https://", HTTPAdapter(max_retries=retry))
        session.verify = settings.get("cert", True)
        for index in (index for index in indexes if index.lower().startswith("http")):
            try:
                page = session.get(f"{index.rstrip('/')}/{project}/", timeout=TIMEOUT, headers=HEADERS)
                page.raise_for_status()
                if address := _link(page.text, page.url, pinned["file"]):
                    _save(session.get(address, timeout=TIMEOUT, stream=True, headers=HEADERS), path)
                    if _is_whole(pinned, path):
                        break
                    problem = f"{index}: its file has another hash"
            # a wrong path of a certificate is an OSError, and a wrong address in a page a ValueError
            except (OSError, ValueError, urllib3.exceptions.HTTPError) as error:
                problem = f"{index}: {type(error).__name__}: {error}"
    return " ".join(problem.split())


def _save(answer: requests.Response, path: Path) -> None:
    """Write the bytes as they were sent: servers may call a packed file's own format an encoding."""
    with answer, path.open("wb") as file:
        answer.raise_for_status()
        for block in answer.raw.stream(2**20, decode_content=False):
            file.write(block)


def _with_pip(pinned: Mapping[str, str], path: Path) -> str:
    """Write the file that ``pip download`` gives; return the last line that pip said."""
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        requirements = Path(folder) / "requirements.txt"
        requirements.write_text(f"{pinned['requirement']} --hash=sha256:{pinned['sha256']}\n")
        form = "--no-binary" if pinned["kind"] == "sdist" else "--only-binary"
        command = [*PIP, "download", "--no-deps", "--require-hashes", "--quiet", form, ":all:"]
        command += ["--dest", folder, "--requirement", str(requirements)]
        completed = subprocess.run(command, capture_output=True, text=True)
        if (file := Path(folder) / pinned["file"]).is_file():
            file.replace(path)
    return f"pip: {(completed.stderr.strip().splitlines() or ['it said nothing'])[-1]}"


def pip_settings() -> dict[str, str]:
    """Return the settings of pip that concern downloads, from its files and from variables."""
    listed = subprocess.run([*PIP, "config", "list"], capture_output=True, text=True)
    settings: dict[str, str] = {}
    # without pip, only variables are known
    lines = listed.stdout.splitlines() if listed.returncode == 0 else []
    for section in ("global", "download"):
        for line in lines:
            name, _, value = line.partition("=")
            if name.startswith(f"{section}."):
                settings[name.partition(".")[2]] = value.strip("'\"").replace("\\n", " ")
    for name in ("index-url", "extra-index-url", "cert", "no-index", "proxy"):
        if variable := os.environ.get(f"PIP_{name.upper().replace('-', '_')}"):
            settings[name] = variable
    return settings


def without_passwords(text: str) -> str:
    """Return a text whose addresses lack names, passwords and tokens that they may contain."""
    return re.sub(r"(//\S*)\?[^\s)]*", r"\1", re.sub(r"//\S*@", "//", text))


class _Links(HTMLParser):
    """The targets of a page's links."""

    def __init__(self) -> None:
        super().__init__()
        self.targets: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.targets += [value for name, value in attrs if tag == "a" and name == "href" and value]


def _link(page: str, address: str, file: str) -> str | None:
    """Return the address of a file on a page of an index (PEP 503); None if it has no such link."""
    links = _Links()
    links.feed(page)
    addresses = (urljoin(address, target) for target in links.targets)
    return next((link for link in addresses if unquote(urlsplit(link).path).rpartition("/")[2] == file), None)
