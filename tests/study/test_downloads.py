"""Files from package indexes, on servers that this process runs."""

import hashlib
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from abovechance.core.errors import InputError
from abovechance.study import downloads
from abovechance.study.downloads import fetch, pip_settings, without_passwords

CONTENT = b"a pinned file"
PINNED = {
    "requirement": "My_Package.x==1.0",
    "file": "my_package_x-1.0+cpu.tar.gz",
    "sha256": hashlib.sha256(CONTENT).hexdigest(),
    "kind": "sdist",
}
PROJECT, FILE = "/simple/my-package-x/", "/files/my_package_x-1.0%2Bcpu.tar.gz"
PAGE = b"""<!DOCTYPE html><html><body><a name="x">no target</a>
<a href="../../files/my_package_x-0.9.tar.gz#sha256=00">old</a>
<a data-requires-python="&gt;=3" href="../../files/my_package_x-1.0%2Bcpu.tar.gz#sha256=11">new</a></body>"""


@pytest.fixture
def index(monkeypatch):
    """A package index: {path: [(status, content), ...]}, where one answer after the other is used up."""
    pages = {PROJECT: [(200, PAGE)], FILE: [(200, CONTENT)]}
    requested, headers_of_file = [], {}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            requested.append((self.path, self.headers.get("Authorization")))
            answers = pages.get(self.path, [(404, b"")])
            status, content = answers.pop(0) if len(answers) > 1 else answers[0]
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            for name, value in headers_of_file.items() if self.path == FILE else ():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/simple"
    for name in ("PIP_EXTRA_INDEX_URL", "PIP_CERT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_INDEX_URL", address)
    monkeypatch.setenv("PIP_RETRIES", "0")
    yield address, pages, requested, headers_of_file
    server.shutdown()


def test_a_file_of_an_index(index, tmp_path):
    fetch(PINNED, tmp_path / "x")
    assert (tmp_path / "x").read_bytes() == CONTENT
    assert [path for path, _ in index[2]] == [PROJECT, FILE]


def test_an_index_that_lacks_the_file_is_passed_over(index, tmp_path, monkeypatch):
    address, pages, requested, _ = index
    pages["/older/my-package-x/"] = [(200, b'<a href="my_package_x-0.9.tar.gz">')]
    monkeypatch.setenv("PIP_INDEX_URL", address.replace("simple", "nothing"))
    more = [address.replace("simple", "older"), "file:///somewhere", address.replace("//", "//me:secret@")]
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", " ".join(more))
    fetch(PINNED, tmp_path / "x")
    assert (tmp_path / "x").read_bytes() == CONTENT
    assert dict(requested)[PROJECT].startswith("Basic ")


def test_busy_servers_are_asked_again(index, tmp_path, monkeypatch):
    monkeypatch.setattr("time.sleep", lambda _: None)
    index[1][PROJECT] = [(503, b""), (500, b""), (200, PAGE)]
    fetch(PINNED, tmp_path / "x")
    assert (tmp_path / "x").read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("path", "status", "content", "message"),
    [
        (PROJECT, 404, b"", "404 Client Error"),
        (PROJECT, 403, b"", "403 Client Error"),
        (PROJECT, 200, b"no links", "no package index has it: http://127.0.0.1:"),
        (FILE, 410, b"", "410 Client Error"),
    ],
)
def test_what_is_said_where_there_is_no_file(path, status, content, message, index, tmp_path, monkeypatch):
    address, pages, *_ = index
    monkeypatch.setenv("PIP_INDEX_URL", address.replace("//", "//me:secret@"))
    pages[path] = [(status, content)]
    with pytest.raises(InputError) as error:
        fetch(PINNED, tmp_path / "x")
    assert str(error.value).startswith("downloading My_Package.x==1.0 gave no my_package_x-1.0+cpu.tar.gz (")
    assert message in str(error.value)
    assert "secret" not in str(error.value)
    assert not (tmp_path / "x").exists()


def test_a_file_with_another_hash(index, tmp_path, monkeypatch):
    address, pages, *_ = index
    pages[FILE] = [(200, b"another file")]
    with pytest.raises(InputError, match=r"simple: its file has another hash; pip: ") as error:
        fetch(PINNED, tmp_path / "x")
    assert "\n" not in str(error.value)
    assert [*tmp_path.iterdir()] == []
    # another index has the right one
    pages["/right/my-package-x/"] = [(200, PAGE.replace(b"../../files", b"../../rightfiles"))]
    pages[FILE.replace("files", "rightfiles")] = [(200, CONTENT)]
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", address.replace("simple", "right"))
    fetch(PINNED, tmp_path / "x")
    assert (tmp_path / "x").read_bytes() == CONTENT


def test_what_a_server_says_of_the_packing_does_not_change_a_file(index, tmp_path):
    index[3]["Content-Encoding"] = "x-gzip"
    fetch(PINNED, tmp_path / "x")
    assert (tmp_path / "x").read_bytes() == CONTENT


@pytest.mark.parametrize("setting", [{"PIP_NO_INDEX": "1"}, {"PIP_PROXY": "http://127.0.0.1:9"}])
def test_an_index_that_must_not_be_asked_is_not(setting, index, tmp_path, monkeypatch):
    for name, value in setting.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(InputError, match="pip's settings name no index that can be asked directly; pip: "):
        fetch(PINNED, tmp_path / "x")
    assert index[2] == []


def test_pip_finds_what_it_was_told_to_find(index, tmp_path, monkeypatch):
    """A wheel in a folder, which only pip looks into."""
    (tmp_path / "wheels").mkdir()
    wheel = tmp_path / "wheels" / "found-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("found-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: found\nVersion: 1.0\n")
        archive.writestr("found-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr("found-1.0.dist-info/RECORD", "")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "wheels"))
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    pinned = {"requirement": "found==1.0", "file": wheel.name, "sha256": digest, "kind": "wheel"}
    fetch(pinned, tmp_path / "x")
    assert (tmp_path / "x").read_bytes() == wheel.read_bytes()


@pytest.mark.parametrize("page", [b'<a href="http://[bad/x">', b'<a href="//["></a>'])
def test_pages_with_wrong_addresses(page, index, tmp_path):
    index[1][PROJECT] = [(200, page)]
    with pytest.raises(InputError, match="ValueError: Invalid IPv6 URL; pip: "):
        fetch(PINNED, tmp_path / "x")


def test_a_certificate_that_is_not_there(tmp_path, monkeypatch):
    for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CERT", "/nothing.pem")
    monkeypatch.setenv("PIP_RETRIES", "0")
    monkeypatch.setenv("PIP_INDEX_URL", "https://127.0.0.1:9/simple")
    with pytest.raises(InputError, match=r"OSError: Could not find a suitable TLS CA certificate bundle"):
        fetch(PINNED, tmp_path / "x")


def test_an_index_that_cannot_be_reached(index, tmp_path, monkeypatch):
    monkeypatch.setattr(downloads, "TRIES", 0)
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    with pytest.raises(InputError, match=r"\(http://127.0.0.1:9/simple: ConnectionError: .*; pip: "):
        fetch(PINNED, tmp_path / "x")


def test_settings_of_pip(tmp_path, monkeypatch):
    for name in ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_CERT"):
        monkeypatch.delenv(name, raising=False)
    config = tmp_path / "pip.conf"
    config.write_text(
        "[global]\nindex-url = https://a/simple\nextra-index-url =\n    https://b/simple\n    https://c/simple\n"
        "[download]\nindex-url = https://d/simple\n[install]\nindex-url = https://e/simple\n"
    )
    monkeypatch.setenv("PIP_CONFIG_FILE", str(config))
    settings = pip_settings()
    assert settings["index-url"] == "https://d/simple"
    assert settings["extra-index-url"].split() == ["https://b/simple", "https://c/simple"]
    monkeypatch.setenv("PIP_INDEX_URL", "https://f/simple")
    assert pip_settings()["index-url"] == "https://f/simple"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://me:secret@host/simple/ and mail@host", "https://host/simple/ and mail@host"),
        ("(http://token@mirror:80/x: Error)", "(http://mirror:80/x: Error)"),
        ("http://me:se@cret@host/x", "http://host/x"),
        ("http://me:se/cret@host/x", "http://host/x"),
        ("https://host/simple?token=secret (x)", "https://host/simple (x)"),
    ],
)
def test_passwords_are_left_out(text, expected):
    assert without_passwords(text) == expected
