"""A server that speaks the protocols of vLLM, SGLang, llama.cpp and OpenAI, written from their documentation.

It runs the tiny model of the tests. Each known defect of servers can be switched on.
"""

from __future__ import annotations

import hashlib
import json
import math
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

CONTEXT = 4096
DEFECTS = (
    "echo ignored",  # log-probabilities of generated tokens only
    "zeros",  # llama.cpp issue 27174
    "stale",  # vLLM issue 42019: values of cached tokens are those of other requests
    "cache",  # values behind a cached beginning are others
    "truncated",  # the last log-probabilities are missing
    "one off",  # each value is that of the token before
    "first off",  # the first value that was asked for is that of the token before
    "beginning token",  # a token is added in front
    "cut off",  # long texts lose their beginning, and nothing says so
    "temperature",  # logits are divided by 0.5
    "decimal",  # logarithms to the base 10
    "other tokenizer",  # tokens have other numbers
    "other weights",
    "constant",  # every token is equally likely
    "noise",  # a random number is added
    "unscored",  # what is very unlikely has a stand-in
    "positive",  # log-probabilities have the other sign
    "sum",  # each value is the sum up to its token
    "bag",  # the order of the tokens before does not count
    "nan",
    "null",  # the last value is missing; JSON libraries write nan as null
)


class Served:
    """A running server.

    Attributes
    ----------
    defects
        Those that are switched on.
    requests
        The bodies of all requests for log-probabilities, in order.
    failures
        How many of the next requests are answered with a status, or by closing the connection (status 0).
    seconds
        How long each request takes at least.
    key
        The key that is expected, if any.
    """

    def __init__(self, folder: Path) -> None:
        self.model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.url = ""
        self._lock = threading.Lock()
        self.reset()

    def reset(self) -> None:
        """Have no defects, and forget all requests."""
        self.defects: set[str] = set()
        self.requests: list[dict[str, Any]] = []
        self.failures: list[int] = []
        self.seconds, self.key, self.context = 0.0, "", CONTEXT
        self.repeats_key = self.swapped = False
        self.noise = 0.0  # standard deviation of what is added to each logit
        self.certain = False  # whether one token has the whole probability
        self.wrong_from = self.wrong_to = self.wrong_at_once = 0  # requests whose values are wrong
        self.largest_at_once = self._at_once = 0
        self.cache: dict[
            tuple[int, ...], int
        ] = {}  # beginnings in the cache, by the request that brought them

    # what the model says

    def logprobs(self, tokens: Sequence[int]) -> tuple[np.ndarray, int]:
        """(tokens, vocabulary) log-probabilities of each next token, and how many tokens were cached."""
        with self._lock:
            cached = self._cached(tuple(tokens))
            read = self._read(tokens)
            with torch.inference_mode():
                logits = self.model(torch.tensor([read])).logits[0].double()
        logits = torch.cat([logits[:1].expand(len(tokens) - len(read), -1), logits])
        logits = logits / (0.5 if "temperature" in self.defects else 1)
        if "other weights" in self.defects:
            logits = logits.flip(-1)
        if self.certain:
            logits[..., 5] += 1000
        logits = logits + self.noise * torch.randn(logits.shape)
        values = self._spoiled(logits.log_softmax(-1).numpy(), cached)
        if self.noise and self.defects:  # these may have replaced what had noise
            values = np.minimum(values + np.random.default_rng().normal(0, self.noise, values.shape), 0)
        if self.wrong_from <= len(self.requests) < self.wrong_to or 0 < self.wrong_at_once <= self._at_once:
            values = np.roll(values, 1, axis=-1)
        return values, cached

    def _read(self, tokens: Sequence[int]) -> list[int]:
        """What the model reads of tokens."""
        read = list(tokens[-30:] if "cut off" in self.defects else tokens)
        if "bag" in self.defects:
            read = sorted(read[:-1]) + read[-1:]
        if "other tokenizer" in self.defects:
            read = [(token + 7) % 300 for token in read]
        return read

    def _spoiled(self, values: np.ndarray, cached: int) -> np.ndarray:
        """Log-probabilities with the defects of values."""
        if "cache" in self.defects and cached:
            values[cached:] = np.roll(values[cached:], 1, axis=-1)
        if "stale" in self.defects:
            for place in range(cached):
                stale = int(hashlib.sha256(repr((place, self.cache)).encode()).hexdigest()[:4], 16)
                values[place] = np.roll(values[place], stale % 50)
        spoilers = {
            "decimal": lambda: values / math.log(10),
            "constant": lambda: np.full_like(values, -math.log(values.shape[1])),
            "noise": lambda: np.minimum(values + np.random.default_rng().normal(0, 1, values.shape), 0),
            "unscored": lambda: np.where(values < -3, -9999.0, values),
            "positive": lambda: -values,
            "nan": lambda: values * np.nan,
            "zeros": lambda: values * 0,
        }
        chosen = [spoilers[defect]() for defect in self.defects if defect in spoilers]
        return chosen[0] if chosen else values

    def _cached(self, tokens: tuple[int, ...]) -> int:
        """Tokens of a request that earlier ones began with, in blocks of 16; it is kept itself."""
        blocks = [tokens[:end] for end in range(16, len(tokens), 16)]
        cached = max((len(block) for block in blocks if block in self.cache), default=0)
        for block in blocks:
            self.cache.setdefault(block, len(self.cache))
        return cached

    def logprobs_of_tokens(self, tokens: list[int], rows: np.ndarray) -> list[float | None]:
        """The log-probability of each token given those before; None for the first."""
        values: list[float | None] = [None]
        values += [float(rows[place - 1, token]) for place, token in enumerate(tokens) if place]
        if "one off" in self.defects:
            values = [None, values[1], *values[1:-1]]
        if "sum" in self.defects:
            values = [None, *np.cumsum(values[1:]).tolist()]
        if "null" in self.defects:
            values[-1] = None
        return values

    # protocols

    def answer(self, path: str, body: dict[str, Any] | None) -> Any:
        """What a path answers; None where there is none."""
        if path == "/v1/models":
            return {"data": [{"id": "tiny", "root": "org/tiny", "max_model_len": self.context}]}
        if path == "/version":
            return {"version": "0.11.0"}
        if path == "/get_model_info":
            return {"model_path": "org/tiny"}
        if path == "/get_server_info":
            return {"version": "0.5.3", "context_length": self.context}
        if path == "/props":
            return {
                "build_info": "b11434",
                "model_path": "tiny.gguf",
                "default_generation_settings": {"n_ctx": self.context},
            }
        if body is None:
            return None
        if path == "/tokenize":
            text = body.get("prompt", body.get("content"))
            shift = 7 * ("other tokenizer" in self.defects)
            return {"tokens": [token + shift for token in self.tokenizer(text)["input_ids"]]}
        with self._lock:
            self.requests.append({"path": path, **body})
        ways = {"/v1/completions": self.completion, "/generate": self.generate, "/completion": self.llama}
        return ways[path](body) if path in ways else None

    def completion(self, body: dict[str, Any]) -> dict[str, Any]:
        tokens = self._begun(body["prompt"])
        if self.swapped and body.get("prompt_logprobs") is not None and len(tokens) > 9:
            tokens = [*tokens[:5], tokens[6], tokens[5], *tokens[7:]]
        rows, cached = self.logprobs(tokens)
        values = self.logprobs_of_tokens(tokens, rows)
        best = int(rows[-1].argmax())
        choice: dict[str, Any] = {"text": self._text(best)}
        if body.get("prompt_logprobs") is not None:
            places: list[Any] = [
                None
                if value is None
                else {str(token): {"logprob": value, "decoded_token": self._text(token)}}
                for token, value in zip(tokens, values, strict=True)
            ]
            choice["prompt_logprobs"] = places[:-1] if "truncated" in self.defects else places
            if "echo ignored" in self.defects:
                choice["prompt_logprobs"] = None
        if body.get("logprobs") is not None:
            top = np.argsort(-rows[-1])[: body["logprobs"]].tolist()
            name = "token_id:{}".format if body.get("return_tokens_as_token_ids") else self._text
            answer = {
                "tokens": [name(best)],
                "token_logprobs": [float(rows[-1, best])],
                "top_logprobs": [{name(token): float(rows[-1, token]) for token in top}],
            }
            if body.get("echo") and "echo ignored" not in self.defects:
                ahead = [
                    {self._text(token): float(rows[place, token]) for token in np.argsort(-rows[place])[:1]}
                    for place in range(len(tokens) - 1)
                ]
                answer = {
                    "tokens": [*map(self._text, tokens), *answer["tokens"]],
                    "token_logprobs": [*values, *answer["token_logprobs"]],
                    "top_logprobs": [None, *ahead, *answer["top_logprobs"]],
                }
                if "truncated" in self.defects:
                    answer = {key: value[:-2] for key, value in answer.items()}
            choice["logprobs"] = answer
        details = {"cached_tokens": cached}
        usage = {"prompt_tokens": len(tokens), "completion_tokens": 1, "prompt_tokens_details": details}
        return {"choices": [choice], "usage": usage}

    def generate(self, body: dict[str, Any]) -> dict[str, Any]:
        tokens = self._begun(body["input_ids"])
        rows, cached = self.logprobs(tokens)
        values = self.logprobs_of_tokens(tokens, rows)
        meta: dict[str, Any] = {"prompt_tokens": len(tokens), "cached_tokens": cached}
        start = body.get("logprob_start_len", 0)
        if start >= 0:
            entries = [[value, token, None] for value, token in zip(values, tokens, strict=True)][start:]
            entries[0][0] = None
            if "first off" in self.defects and len(entries) > 1:
                entries[1][0] = values[start]
            if "truncated" in self.defects:
                entries = entries[:-1]
            meta["input_token_logprobs"] = [] if "echo ignored" in self.defects else entries
        if candidates := body.get("token_ids_logprob"):
            meta["output_token_ids_logprobs"] = [
                [[float(rows[-1, token]), token, None] for token in candidates]
            ]
        return {"text": "", "meta_info": meta}

    def llama(self, body: dict[str, Any]) -> dict[str, Any]:
        tokens = self._begun(body["prompt"])
        rows, cached = self.logprobs(tokens)
        row = rows[-2] if "one off" in self.defects and len(rows) > 1 else rows[-1]
        biased = row.copy()
        for token, bias in body.get("logit_bias", []):
            biased[token] += bias * ("echo ignored" not in self.defects)
        best = int(np.nanargmax(biased)) if not np.isnan(biased).all() else 0
        best = body["logit_bias"][0][0] if "nan" in self.defects and body.get("logit_bias") else best
        top = np.argsort(-row)[: body["n_probs"]].tolist()
        whole = "\ufffd" not in self._text(best)  # of a part of a character, llama.cpp says nothing
        entry = {
            "id": best,
            "token": self._text(best),
            "logprob": None if "null" in self.defects else float(row[best]),
            "top_logprobs": [{"id": token, "logprob": float(row[token])} for token in top],
        }
        return {
            "completion_probabilities": [entry] if whole and "truncated" not in self.defects else [],
            "tokens_evaluated": len(tokens),
            "truncated": False,
            "timings": {"cache_n": cached},
        }

    def _begun(self, tokens: list[int]) -> list[int]:
        return [0, *tokens] if "beginning token" in self.defects else tokens

    def _text(self, token: int) -> str:
        return str(self.tokenizer.decode([(token + 7 * ("other tokenizer" in self.defects)) % 300]))

    def enter(self) -> None:
        with self._lock:
            self._at_once += 1
            self.largest_at_once = max(self.largest_at_once, self._at_once)

    def leave(self) -> None:
        with self._lock:
            self._at_once -= 1

    def failure(self) -> int | None:
        with self._lock:
            return self.failures.pop(0) if self.failures else None


@contextmanager
def running(folder: Path) -> Iterator[Served]:
    """A server of the model in a folder, on a free port of this machine."""
    served = Served(folder)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            self._send(200, served.answer(self.path, None))

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            if served.key and self.headers.get("authorization") != f"Bearer {served.key}":
                repeated = self.headers.get("authorization") if served.repeats_key else ""
                self._send(401, {"error": f"wrong key {repeated}"})
                return
            failure = served.failure()
            if failure == 0:
                self.close_connection = True
                self.connection.close()
                return
            if failure:
                self._send(failure, {"error": "later"})
                return
            served.enter()
            time.sleep(served.seconds)
            try:
                answer = served.answer(self.path, body)
            finally:
                served.leave()
            self._send(200, answer)

        def _send(self, status: int, answer: Any) -> None:
            content = json.dumps(answer).encode()
            self.send_response(404 if answer is None else status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    served.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
