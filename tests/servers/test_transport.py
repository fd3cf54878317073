"""Requests and their errors, word by word; what the HTTP library gets and gives is replaced."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import urllib3

from abovechance.core.errors import InputError
from abovechance.servers.transport import BUSY, LONGEST_PAUSE, Settings, Transport


def transport(status=200, data=b"{}", error=None, **settings):
    """A transport whose pool answers each request with a status and bytes, or an error."""
    sent = Transport(Settings(**{"url": "http://host:1", "kind": "vllm", "model": "m"} | settings))
    sent.requests = []

    def request(method, address, json):
        sent.requests.append((method, address, json))
        if error is not None:
            raise error
        return SimpleNamespace(status=status, data=data)

    sent._pool.request = request
    return sent


@pytest.mark.parametrize("url", ["http://host:1", "http://host:1/", "http://host:1/v1", "http://host:1/v1/"])
def test_paths_are_those_of_the_server(url):
    client = transport(data=b'{"a": [1]}', url=url)
    assert client.get("/v1/models") == {"a": [1]}
    assert client.post("/v1/completions", {"prompt": [1]}) == {"a": [1]}
    assert client.requests == [
        ("GET", "http://host:1/v1/models", None),
        ("POST", "http://host:1/v1/completions", {"prompt": [1]}),
    ]


@pytest.mark.parametrize("status", [400, 404, 405, 422, 501])
def test_what_only_some_servers_have_is_optional(status):
    client = transport(status, b"no")
    assert client.get("/version") is None
    assert client.post("/tokenize", {}, optional=True) is None
    with pytest.raises(InputError, match=f"^vllm at http://host:1: /tokenize: status {status}: "):
        client.post("/tokenize", {})


@pytest.mark.parametrize("status", [401, 403, 500, 503])
def test_other_statuses_are_errors_of_optional_requests_too(status):
    with pytest.raises(InputError, match=f"/version: status {status}: "):
        transport(status, b"no").get("/version")


def test_a_refusal_quotes_the_beginning_of_the_reply():
    with pytest.raises(InputError) as error:
        transport(418, b"a  \n" + b"b" * 400 + b"\xff").post("/generate", {})
    assert str(error.value) == (
        "vllm at http://host:1: /generate: status 418: the server refuses the request (it says: a "
        f"{'b' * 298})"
    )
    with pytest.raises(InputError, match="it says: \ufffd"):
        transport(418, b"\xff").post("/generate", {})


def test_an_error_with_the_status_of_a_success():
    client = transport(data=b'{"error": {"message": "overloaded"}}')
    assert client.get("/version") is None
    with pytest.raises(InputError) as error:
        client.post("/v1/completions", {})
    assert str(error.value) == (
        'vllm at http://host:1: /v1/completions: the server reports an error: {"message": "overloaded"}'
    )
    assert transport(data=b'{"error": null, "choices": []}').post("/generate", {}) == {
        "error": None,
        "choices": [],
    }


@pytest.mark.parametrize("data", [b"<html>" + b"x" * 100, b"\xff" + b"x" * 100, b"[" * 100_000])
def test_what_is_no_json(data):
    assert transport(data=data).get("/version") is None
    with pytest.raises(InputError) as error:
        transport(data=data).post("/generate", {})
    start = data.decode(errors="replace")[:80]
    assert str(error.value) == f"vllm at http://host:1: /generate: expected JSON, got '{start}'"


def test_a_server_that_does_not_answer():
    reasons = (
        (
            urllib3.exceptions.MaxRetryError(None, "/", ConnectionRefusedError("refused " * 50)),
            ("refused " * 25),
        ),
        (urllib3.exceptions.ProtocolError("broken"), "broken"),
    )
    for raised, reason in reasons:
        with pytest.raises(InputError) as error:
            transport(error=raised, retries=2).get("/version")
        assert str(error.value) == (
            f"vllm at http://host:1: /version: no answer after 3 attempts ({reason}); prompts that are "
            "finished are kept: start the server and run again"
        )


def test_settings_of_the_pool(monkeypatch):
    monkeypatch.setenv("SERVER_KEY", "k")
    settings = Settings("http://h", "vllm", "m", key_from="SERVER_KEY", connections=3, timeout=7.0, retries=5)
    client = Transport(settings)
    options = client._pool.connection_pool_kw
    assert client._pool.headers == {"accept": "application/json", "authorization": "Bearer k"}
    assert Transport(Settings("http://h", "vllm", "m"))._pool.headers == {"accept": "application/json"}
    assert (options["maxsize"], options["block"], options["timeout"]) == (3, True, 7.0)
    retries = options["retries"]
    assert (retries.total, retries.redirect, retries.allowed_methods) == (5, 0, None)
    assert not retries.raise_on_status
    assert not retries.raise_on_redirect
    # at once, then after 1, 2, 4, ... seconds, at most a minute
    pauses = []
    for _ in range(5):
        retries = retries.increment("GET", "/", response=urllib3.HTTPResponse(status=503))
        pauses.append(retries.get_backoff_time())
    assert pauses == [0, 1, 2, 4, 8]
    assert retries.DEFAULT_BACKOFF_MAX >= LONGEST_PAUSE == retries.backoff_max == 60
    assert {*BUSY} == {408, 425, 429, *range(500, 600)} - {501, 505}
    assert all(retries.is_retry("POST", status) for status in BUSY)


def test_usual_settings():
    settings = Settings("http://h", "vllm", "m")
    assert (settings.key_from, settings.connections, settings.timeout) == ("", 8, 300.0)
    assert (settings.retries, settings.tolerance, settings.words) == (8, 0.1, "vllm at http://h")


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("-1", 0),
        ("0", 0),
        ("1.5", 1.5),
        ("61", 60),
        ("inf", 60),
        ("-inf", 60),
        ("soon", 60),
        ("Fri, 31 Dec 2100 23:59:59 GMT", 60),
        ("Fri, 31 Dec 1999 23:59:59 GMT", 0),
    ],
)
def test_pauses_that_a_server_asks_for(header, seconds):
    assert Transport(Settings("http://h", "vllm", "m"))._pool.connection_pool_kw["retries"].parse_retry_after(
        header
    ) == (seconds)


@pytest.mark.parametrize(
    ("key", "problem"),
    [
        (None, "is empty or not set; `key_from` names the variable with the server's key"),
        ("", "is empty or not set; `key_from` names the variable with the server's key"),
        ("k\n", "has characters that no key has, such as a line break at its end"),
        ("ké", "has characters that no key has, such as a line break at its end"),
    ],
)
def test_keys_that_cannot_be_sent(key, problem, monkeypatch):
    monkeypatch.delenv("SERVER_KEY", raising=False)
    if key is not None:
        monkeypatch.setenv("SERVER_KEY", key)
    with pytest.raises(InputError) as error:
        Transport(Settings("http://h", "vllm", "m", key_from="SERVER_KEY"))
    assert str(error.value) == f"vllm at http://h: the environment variable SERVER_KEY {problem}"


def test_a_key_is_never_quoted(monkeypatch):
    monkeypatch.setenv("SERVER_KEY", 'sk/"7 x')
    client = Transport(Settings("http://h", "vllm", "m", key_from="SERVER_KEY"))
    for text in ('sk/"7 x', 'sk/\\"7 x', 'sk\\/\\"7 x', "sk%2F%227%20x"):
        assert client.quoted(f"key {text}: {text} is bad\x1b[1m", 80) == "key ...: ... is bad\\x1b[1m"
    assert client.quoted("x" * 9, 4) == "xxxx"
    assert Transport(Settings("http://h", "vllm", "m")).quoted("abc", 80) == "abc"
