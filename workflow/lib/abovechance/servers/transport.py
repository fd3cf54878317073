"""Requests to a server: JSON over HTTP, repeated with increasing pauses, never without a time limit."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import urllib3

from abovechance.core.errors import InputError
from abovechance.core.untrusted import printable

BUSY = (408, 425, 429, *({*range(500, 600)} - {501, 505}))  # statuses of requests that may succeed later
LONGEST_PAUSE = 60.0  # seconds


@dataclass(frozen=True)
class Settings:
    """How a server is reached: the entry ``server`` of a model in the config.

    Attributes
    ----------
    url
        Its address without a path, such as ``http://localhost:8000``.
    kind
        One of ``adapters.ADAPTERS``.
    model
        The model's name on the server.
    key_from
        The environment variable with the key; nothing where none is needed.
    connections
        The most requests at once.
    timeout
        Seconds until a request counts as failed.
    retries
        Number of repetitions of a failed request: at once, then after 1, 2, 4, ... seconds, at most a minute.
    tolerance
        The difference in nats per token that counts as rounding.
    """

    url: str
    kind: str
    model: str
    key_from: str = ""
    connections: int = 8
    timeout: float = 300.0
    retries: int = 8
    tolerance: float = 0.1

    @property
    def words(self) -> str:
        """The server in words, for messages."""
        return f"{self.kind} at {self.url}"


class Transport:
    """Connections to one server; safe to use from several threads.

    Raises
    ------
    InputError
        If the environment lacks the key.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._home = settings.url.rstrip("/").removesuffix("/v1")  # as clients of OpenAI's have it
        self._key = _key(settings)
        headers = {"accept": "application/json"} | (
            {"authorization": f"Bearer {self._key}"} if self._key else {}
        )
        self._pool = urllib3.PoolManager(
            maxsize=settings.connections,
            block=True,
            headers=headers,
            timeout=settings.timeout,
            retries=_Retry(
                total=settings.retries,
                redirect=0,  # a key is sent to the address of the config only
                backoff_factor=0.5,
                backoff_max=LONGEST_PAUSE,
                status_forcelist=BUSY,
                allowed_methods=None,
                raise_on_status=False,
                raise_on_redirect=False,
            ),
        )

    def get(self, path: str) -> Any:
        """Return the JSON of a path; None where the server has no such path."""
        return self._request("GET", path, None, optional=True)

    def post(self, path: str, body: Mapping[str, Any], optional: bool = False) -> Any:
        """Return the JSON that answers a request.

        Parameters
        ----------
        optional
            Whether the answer is None if the server has no such path or does not take the request.

        Raises
        ------
        InputError
            If the server cannot be reached, refuses, stays busy, or answers with something else than JSON.
        """
        return self._request("POST", path, body, optional)

    def _request(self, method: str, path: str, body: Mapping[str, Any] | None, optional: bool) -> Any:
        at = f"{self.settings.words}: {path}"
        try:
            response = self._pool.request(method, self._home + path, json=body)
        except urllib3.exceptions.HTTPError as error:
            reason = self.quoted(str(getattr(error, "reason", None) or error), 200)
            raise InputError(
                f"{at}: no answer after {self.settings.retries + 1} attempts ({reason}); prompts that are "
                "finished are kept: start the server and run again"
            ) from None
        if optional and response.status in (400, 404, 405, 422, 501):
            return None
        if response.status != 200:
            reply = self.quoted(response.data.decode(errors="replace"), 300)
            raise InputError(
                f"{at}: status {response.status}: {_meaning(response.status)} (it says: {reply})"
            )
        try:
            answer = json.loads(response.data)
        except (ValueError, RecursionError):
            if optional:  # a page for people in place of what only some servers have
                return None
            start = self.quoted(response.data.decode(errors="replace"), 80)
            raise InputError(f"{at}: expected JSON, got '{start}'") from None
        # some servers report errors with the status of a success
        if isinstance(answer, Mapping) and (problem := answer.get("error")):
            if optional:
                return None
            raise InputError(f"{at}: the server reports an error: {self.quoted(json.dumps(problem), 300)}")
        return answer

    def quoted(self, text: str, limit: int) -> str:
        """Return the beginning of a text from elsewhere for a message, without the key."""
        in_json = json.dumps(self._key)[1:-1]
        for written in (self._key, in_json, in_json.replace("/", "\\/"), quote(self._key, safe="")):
            text = text.replace(written, "...") if written else text
        return printable(" ".join(text.split()))[:limit]


class _Retry(urllib3.Retry):
    """Repeated requests, which a server's ``Retry-After`` cannot make wait longer than others."""

    def parse_retry_after(self, retry_after: str) -> float:
        try:
            seconds = float(retry_after)
            return min(max(seconds, 0.0), LONGEST_PAUSE) if math.isfinite(seconds) else LONGEST_PAUSE
        except ValueError:
            pass  # a date
        try:
            return min(super().parse_retry_after(retry_after), LONGEST_PAUSE)
        except urllib3.exceptions.InvalidHeader:
            return LONGEST_PAUSE


def _key(settings: Settings) -> str:
    """Return the key from the environment; InputError, which never shows it, if none can be sent."""
    if not settings.key_from:
        return ""
    key, variable = os.environ.get(settings.key_from, ""), f"the environment variable {settings.key_from}"
    if not key:
        raise InputError(
            f"{settings.words}: {variable} is empty or not set; `key_from` names the variable with the "
            "server's key"
        )
    if not (key.isascii() and key.isprintable()):
        raise InputError(
            f"{settings.words}: {variable} has characters that no key has, such as a line break at its end"
        )
    return key


def _meaning(status: int) -> str:
    """Return what a refused request means."""
    return {
        **dict.fromkeys((301, 302, 303, 307, 308), "the server moved; expected its address in `url`"),
        401: "the server does not accept the key; `key_from` names the environment variable with it",
        403: "the server does not accept the key; `key_from` names the environment variable with it",
        404: "the server has no such path; check `url` and `kind`",
    }.get(status, "the server stays busy or fails" if status in BUSY else "the server refuses the request")
