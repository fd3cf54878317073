"""What each kind of server is asked, and how its answers are read. Every answer is checked by itself.

===========  =====================================  ====================================================
kind         log-probabilities of given tokens      log-probabilities of the next token
===========  =====================================  ====================================================
vllm         ``/v1/completions``,                   ``logprobs``: the most likely ones
             ``prompt_logprobs``
sglang       ``/generate``, ``logprob_start_len``   ``token_ids_logprob``: any
llama.cpp    (cannot)                               ``/completion``, ``n_probs``: the most likely ones;
                                                    with ``logit_bias``: any
openai       ``/v1/completions``, ``echo``          (its answers name texts, which may be of two tokens)
===========  =====================================  ====================================================
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, wraps
from typing import Any, TypeVar

from abovechance.core.errors import InputError
from abovechance.core.untrusted import printable
from abovechance.servers.transport import Transport

Asked = TypeVar("Asked")
TOP = 20  # of the next token's log-probabilities: what vLLM gives unless it is started with another limit
MORE_THAN_ALL = 10_000_000  # tokens
FORCED = 1e6  # added to a logit, so that its token comes next
SLACK = 1e-3  # nats that a log-probability may be above 0 by rounding
LEAST = -9000.0  # servers write less than that for what has no probability: vLLM -9999, llama.cpp -3.4e38


@dataclass(frozen=True)
class Answer:
    """What a server says to one request.

    Attributes
    ----------
    logprobs
        In nats, one for each token that was asked for; None for those that it does not say.
    read
        Tokens that the server read.
    cached
        How many of these it had in its cache; None if it does not say.
    top
        The log-probabilities of the most likely next tokens, if they were asked for.
    best
        The most likely next token, if its id is known.
    texts
        The server's text of each token that was asked for, if it says that.
    requests
        How many requests it took.
    """

    logprobs: list[float | None]
    read: int
    cached: int | None = None
    top: tuple[float, ...] = ()
    best: int | None = None
    texts: tuple[str, ...] = ()
    requests: int = 1

    @property
    def every(self) -> list[float]:
        """The log-probabilities, all of which are known."""
        return [value for value in self.logprobs if value is not None]


def _read(method: Callable[..., Asked]) -> Callable[..., Asked]:
    """Make a method tell in one line, without quoting it, that an answer has not the form that it reads."""

    @wraps(method)
    def wrapper(self: Adapter, *arguments: Any) -> Asked:
        try:
            return method(self, *arguments)
        except InputError:
            raise
        except (TypeError, ValueError, AttributeError, LookupError, ArithmeticError):
            kind = self.transport.settings.kind
            raise self._wrong(
                f"an answer has not the form of {kind}'s ({method.__name__}); check `kind`"
            ) from None

    return wrapper


class Adapter(ABC):
    """A server of one kind.

    Attributes
    ----------
    reads_next
        Whether a request gives log-probabilities of the next token by its id (``next_logprobs``).
    one_request_per_string
        Whether one request gives the log-probabilities of all given tokens.
    """

    one_request_per_string = True
    reads_next = True

    def __init__(self, transport: Transport) -> None:
        self.transport, self.model = transport, transport.settings.model

    @abstractmethod
    def prompt_logprobs(self, tokens: Sequence[int], start: int) -> Answer:
        """Log-probability of each of ``tokens[start:]``, given all tokens before it; ``start`` is above 0."""

    @abstractmethod
    def next_logprobs(self, tokens: Sequence[int], candidates: Sequence[int]) -> Answer:
        """Log-probability of each candidate as the next token; None if the server leaves it out."""

    @_read
    def likely(self, tokens: Sequence[int], _vocabulary: int) -> tuple[Answer, bool]:
        """Return next tokens' log-probabilities as ``top``, and whether of all tokens."""
        return self.next_logprobs(tokens, [0]), False

    @abstractmethod
    def says(self) -> dict[str, Any]:
        """Return what the server says of itself, if it does: ``model``, ``version``, ``context``."""

    @_read
    def tokenized(self, text: str) -> list[int] | None:
        """Return the server's tokens of a text, without special tokens; None if it does not tell."""
        body = {"model": self.model, "prompt": text, "add_special_tokens": False}
        answer = self.transport.post("/tokenize", body, optional=True)
        tokens = answer.get("tokens") if isinstance(answer, Mapping) else None
        return (
            tokens if isinstance(tokens, list) and all(isinstance(token, int) for token in tokens) else None
        )

    def _top(self, logprobs: Iterable[Any]) -> tuple[float, ...]:
        """Return the log-probabilities of the most likely tokens; very small ones may be stand-ins."""
        numbers = [float(value) for value in logprobs if isinstance(value, int | float) and value > LEAST]
        if numbers and not max(numbers) <= SLACK:
            raise self._wrong(f"it gives the log-probability {max(numbers):.6g}; expected at most 0")
        return tuple(numbers)

    def _every(self, logprobs: list[float | None]) -> list[float | None]:
        """The log-probabilities of given tokens; InputError if one is not known."""
        if None in logprobs:
            raise self._wrong(
                "it gives no log-probability for a token that it was asked for; expected one for each"
            )
        return logprobs

    def _wrong(self, problem: str) -> InputError:
        return InputError(f"{self.transport.settings.words}: {problem}")

    def _checked(self, logprobs: Sequence[Any], read: Any, tokens: Sequence[int]) -> list[float | None]:
        """Return log-probabilities that are such, from a server that read these tokens and no others."""
        if not isinstance(read, int):
            raise self._wrong(
                "it does not say how many tokens it read; expected a server whose answers say that"
            )
        if read != len(tokens):
            raise self._wrong(
                f"it read {read} tokens of the {len(tokens)} that it was sent: it adds tokens of its own, "
                "or cuts texts off; expected a server that takes token ids as they are"
            )
        for value in logprobs:
            if value is None:
                continue
            if not isinstance(value, int | float) or math.isnan(value) or value > SLACK:
                raise self._wrong(
                    f"it gives the log-probability {printable(str(value))[:40]}; expected at most 0"
                )
            if value < LEAST:
                raise self._wrong(
                    f"it gives {value:.6g} in place of a log-probability: the token's probability is too "
                    "small for it; these choices cannot be scored with this server"
                )
        return [None if value is None else min(float(value), 0.0) for value in logprobs]


class Vllm(Adapter):
    """vLLM's server for completions.

    Its prompt log-probabilities name each token's id. It does not use its prefix cache for them, but it does
    for the next token's.
    """

    @_read
    def prompt_logprobs(self, tokens: Sequence[int], start: int) -> Answer:
        answer = self._completion(tokens, prompt_logprobs=1)
        listed = _first(answer).get("prompt_logprobs")
        if not isinstance(listed, list) or len(listed) != len(tokens):
            length = len(listed) if isinstance(listed, list) else "no"
            raise self._wrong(
                f"{length} `prompt_logprobs` came back for {len(tokens)} tokens; expected one each"
            )
        # of the first token there is none; those before a choice show that the server read this text
        entries = [_at([_at(listed, place).get(str(token))], 0) for place, token in enumerate(tokens)]
        if missing := [place for place, entry in enumerate(entries) if place and not entry]:
            raise self._wrong(
                f"its `prompt_logprobs` at place {missing[0]} are not those of token {tokens[missing[0]]}, "
                "which it was sent; expected the log-probability of each token at its own place"
            )
        read, cached = _usage(answer)
        return Answer(
            self._every(self._checked([entry.get("logprob") for entry in entries[start:]], read, tokens)),
            read,
            cached,
            texts=tuple(str(entry.get("decoded_token") or "") for entry in entries[start:]),
        )

    @_read
    def next_logprobs(self, tokens: Sequence[int], candidates: Sequence[int]) -> Answer:
        answer = self._completion(tokens, logprobs=TOP, return_tokens_as_token_ids=True)
        top = _at((_first(answer).get("logprobs") or {}).get("top_logprobs"), 0)
        values = [top.get(f"token_id:{token}") for token in candidates]
        read, cached = _usage(answer)
        best = max(top, key=lambda name: top[name], default="")  # some servers name texts: '3' is not token 3
        return Answer(
            self._checked(values, read, tokens),
            read,
            cached,
            self._top(top.values()),
            int(best.removeprefix("token_id:")) if re.fullmatch(r"token_id:\d+", best) else None,
        )

    @_read
    def says(self) -> dict[str, Any]:
        version = self.transport.get("/version") or {}
        return {"version": version.get("version")} | self._listed()

    def _completion(self, tokens: Sequence[int], **options: Any) -> Mapping[str, Any]:
        """Ask for one token after these."""
        body = {"model": self.model, "prompt": list(tokens), "max_tokens": 1, "temperature": 0.0, **options}
        if self.reads_next:  # a model's own generation settings may have another one
            body["repetition_penalty"] = 1.0
        return _object(self.transport.post("/v1/completions", body), self)

    def _listed(self) -> dict[str, Any]:
        """Return what the list of models says of this one; InputError if it is not in it."""
        listed = (self.transport.get("/v1/models") or {}).get("data") or []
        names = [str(entry.get("id")) for entry in listed]
        if names and self.model not in names:
            listed_names = printable(", ".join(names[:10]))[:300]
            raise self._wrong(f"it has no model '{self.model}'; expected one of: {listed_names}")
        entry: Mapping[str, Any] = next((entry for entry in listed if entry.get("id") == self.model), {})
        return {"model": entry.get("root") or self.model, "context": entry.get("max_model_len")}


class OpenAi(Vllm):
    """A server with OpenAI's older completions: ``echo`` repeats the prompt with its log-probabilities.

    Its answers name tokens by their texts, and two tokens may have the same text. So the next token's
    log-probabilities are not used, and a given token is known by its place alone.
    """

    reads_next = False

    @_read
    def prompt_logprobs(self, tokens: Sequence[int], start: int) -> Answer:
        answer = self._completion(tokens, echo=True, logprobs=1)
        listed = _first(answer).get("logprobs") or {}
        values, texts = listed.get("token_logprobs") or [], listed.get("tokens") or []
        read, cached = _usage(answer)
        generated = _count((answer.get("usage") or {}).get("completion_tokens"))
        if generated is None:  # the server does not say whether it generated a token
            generated = int(len(values) > len(tokens))
        if len(values) != len(tokens) + generated:
            raise self._wrong(
                f"{len(values)} log-probabilities came back for {len(tokens)} given and {generated} "
                "generated tokens; expected one each: does the server heed `echo`?"
            )
        if isinstance(values[0], int | float) and values[0] < 0:  # some servers write 0 in place of null
            raise self._wrong(
                "it gives the first token a log-probability, so it reads a token before it that it does not "
                "count; expected a server that takes token ids as they are"
            )
        return Answer(
            self._every(self._checked(values[start : len(tokens)], read, tokens)),
            read,
            cached,
            texts=tuple(map(str, texts[start : len(tokens)])),
        )

    @_read
    def next_logprobs(self, tokens: Sequence[int], candidates: Sequence[int]) -> Answer:
        """Not asked for (``reads_next``)."""
        raise NotImplementedError

    @_read
    def likely(self, tokens: Sequence[int], _vocabulary: int) -> tuple[Answer, bool]:
        """The log-probabilities of five texts of tokens."""
        answer = self._completion(tokens, logprobs=5)
        read, cached = _usage(answer)
        top = _at((_first(answer).get("logprobs") or {}).get("top_logprobs"), 0)
        return Answer(self._checked([], read, tokens), read, cached, self._top(top.values())), False

    @_read
    def says(self) -> dict[str, Any]:
        return {"version": None} | self._listed()

    @_read
    def tokenized(self, _text: str) -> list[int] | None:
        """Nothing: there is no such path."""
        return None


class SgLang(Adapter):
    """SGLang's own endpoint."""

    @_read
    def prompt_logprobs(self, tokens: Sequence[int], start: int) -> Answer:
        answer = self._generated(tokens, logprob_start_len=start - 1)
        listed = answer.get("input_token_logprobs") or []
        entries = listed[len(listed) - (len(tokens) - start) :] if len(listed) >= len(tokens) - start else []
        self._check_ids(entries, tokens[start:])
        return Answer(
            self._every(self._checked([entry[0] for entry in entries], answer.get("prompt_tokens"), tokens)),
            len(tokens),
            _count(answer.get("cached_tokens")),
            texts=tuple(str(entry[2]) for entry in entries if len(entry) > 2 and entry[2] is not None),
        )

    @_read
    def next_logprobs(self, tokens: Sequence[int], candidates: Sequence[int]) -> Answer:
        answer = self._generated(tokens, token_ids_logprob=list(candidates), logprob_start_len=-1)
        entries = (answer.get("output_token_ids_logprobs") or [[]])[0] or []
        by_id = {entry[1]: entry[0] for entry in entries}
        values = [by_id.get(token) for token in candidates]
        logprobs = self._checked(values, answer.get("prompt_tokens"), tokens)
        return Answer(logprobs, len(tokens), _count(answer.get("cached_tokens")))

    @_read
    def likely(self, tokens: Sequence[int], vocabulary: int) -> tuple[Answer, bool]:
        answer = self.next_logprobs(tokens, range(vocabulary))
        by_token = {token: value for token, value in enumerate(answer.logprobs) if value is not None}
        best = max(by_token, key=lambda token: by_token[token])
        return replace(answer, top=self._top(answer.logprobs), best=best), True

    @_read
    def says(self) -> dict[str, Any]:
        # later versions have the shorter names
        info = self.transport.get("/get_model_info") or self.transport.get("/model_info") or {}
        server = self.transport.get("/get_server_info") or self.transport.get("/server_info") or {}
        return {
            "version": server.get("version"),
            "model": info.get("model_path") or self.model,
            "context": server.get("context_length") or server.get("max_req_input_len"),
        }

    def _generated(self, tokens: Sequence[int], **options: Any) -> Mapping[str, Any]:
        sampling = {"max_new_tokens": 1, "temperature": 0.0}
        body = {"input_ids": list(tokens), "sampling_params": sampling, "return_logprob": True, **options}
        body["return_text_in_logprobs"] = True
        answer = _object(self.transport.post("/generate", body), self)
        return _object(answer.get("meta_info"), self)

    def _check_ids(self, entries: Sequence[Sequence[Any]], tokens: Sequence[int]) -> None:
        if [entry[1] for entry in entries] != list(tokens):
            raise self._wrong(
                f"its `input_token_logprobs` are not those of the {len(tokens)} tokens asked for; expected "
                "the log-probability of each token at its own place"
            )


class LlamaCpp(Adapter):
    """llama.cpp's own endpoint. It gives log-probabilities of the next token only.

    So a choice takes a request for each of its tokens: the token is made to come next, and its
    log-probability is that before this (``post_sampling_probs`` is off). The server has the text before it in
    its cache.
    """

    one_request_per_string = False

    @_read
    def prompt_logprobs(self, tokens: Sequence[int], start: int) -> Answer:
        answers = [self._forced(tokens[:place], tokens[place]) for place in range(start, len(tokens))]
        return Answer(
            self._every([value for answer in answers for value in answer.logprobs]),
            sum(answer.read for answer in answers),
            _sum_of_known([answer.cached for answer in answers]),
            texts=tuple(text for answer in answers for text in answer.texts),
            requests=sum(answer.requests for answer in answers),
        )

    @_read
    def next_logprobs(self, tokens: Sequence[int], candidates: Sequence[int]) -> Answer:
        return self._of_next(tokens, candidates, TOP)

    def _of_next(self, tokens: Sequence[int], candidates: Sequence[int], number: int) -> Answer:
        """Log-probabilities of next tokens, of the most likely ones so many."""
        entry, answer = self._next(tokens, self._whole, number)
        top = {place["id"]: place["logprob"] for place in entry["top_logprobs"]}
        result = self._answer([top.get(token) for token in candidates], top.values(), answer, tokens)
        return replace(result, best=next(iter(top), None))

    @cached_property
    def _whole(self) -> int:
        """A token that is a whole character: of one that is a part, llama.cpp gives no log-probability."""
        tokens = self.tokenized("a")
        if not tokens:
            raise self._wrong("it makes no token of 'a'; expected llama.cpp's own server with /tokenize")
        return tokens[-1]

    def _forced(self, tokens: Sequence[int], token: int) -> Answer:
        entry, answer = self._next(tokens, token, 1)
        if not entry:  # the token is a part of a character
            second = self._of_next(tokens, [token], MORE_THAN_ALL)
            cached = _sum_of_known([_cached(answer), second.cached])
            return replace(second, requests=2, read=2 * len(tokens), cached=cached)
        texts = (str(entry.get("token", "")),)
        return self._answer([entry["logprob"]], (), answer, tokens, texts)

    def _answer(
        self,
        values: Sequence[Any],
        top: Iterable[Any],
        answer: Mapping[str, Any],
        tokens: Sequence[int],
        texts: tuple[str, ...] = (),
    ) -> Answer:
        checked = self._checked(values, answer.get("tokens_evaluated"), tokens)
        return Answer(checked, len(tokens), _cached(answer), self._top(top), texts=texts)

    @_read
    def likely(self, tokens: Sequence[int], _vocabulary: int) -> tuple[Answer, bool]:
        return self._of_next(tokens, [], MORE_THAN_ALL), True

    @_read
    def says(self) -> dict[str, Any]:
        properties = self.transport.get("/props") or {}
        settings = properties.get("default_generation_settings") or {}
        return {
            "version": properties.get("build_info"),
            "model": properties.get("model_path") or self.model,
            "context": settings.get("n_ctx"),
        }

    @_read
    def tokenized(self, text: str) -> list[int] | None:
        body = {"content": text, "add_special": False, "parse_special": False}
        answer = self.transport.post("/tokenize", body, optional=True)
        return answer.get("tokens") if isinstance(answer, Mapping) else None

    def _next(
        self, tokens: Sequence[int], token: int, number: int
    ) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """Make a token come next, and return its entry, which may lack, and the whole answer."""
        body: dict[str, Any] = {"prompt": list(tokens), "n_predict": 1, "temperature": 0.0}
        body |= {"n_probs": number, "post_sampling_probs": False, "logit_bias": [[token, FORCED]]}
        answer = _object(self.transport.post("/completion", body | {"cache_prompt": True}), self)
        if answer.get("truncated"):
            raise self._wrong(
                f"it cut off a text of {len(tokens)} tokens; start it with a larger context (-c)"
            )
        if answer["tokens_evaluated"] and answer.get("completion_probabilities") in (None, []):
            return {}, answer
        (entry,) = answer["completion_probabilities"]
        if entry["id"] != token:
            raise self._wrong(
                f"the token {token} was to come next, and {printable(str(entry['id']))[:20]} came; expected "
                "a server that heeds `logit_bias`"
            )
        return entry, answer


ADAPTERS: dict[str, type[Adapter]] = {"vllm": Vllm, "sglang": SgLang, "llama.cpp": LlamaCpp, "openai": OpenAi}


def _first(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the one completion of an answer."""
    choices = answer.get("choices")
    return choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], Mapping) else {}


def _at(places: Any, place: int) -> Mapping[str, Any]:
    """Return what a list has at a place; nothing where it has no object there."""
    entry = places[place] if isinstance(places, list) and place < len(places) else {}
    return entry if isinstance(entry, Mapping) else {}


def _usage(answer: Mapping[str, Any]) -> tuple[Any, int | None]:
    """Return how many tokens were read, and how many of them from the cache, if that is said."""
    usage = answer.get("usage") or {}
    details = usage.get("prompt_tokens_details") or {}
    return usage.get("prompt_tokens"), _count(details.get("cached_tokens"))


def _count(value: Any) -> int | None:
    """Return a number of tokens; None if a server does not say it."""
    return value if isinstance(value, int) and value >= 0 else None


def _cached(answer: Mapping[str, Any]) -> int | None:
    """Return how many tokens llama.cpp had in its cache."""
    return _count((answer.get("timings") or {}).get("cache_n"))


def _sum_of_known(numbers: Sequence[int | None]) -> int | None:
    """Return the sum of the numbers that a server says; None if it says none."""
    stated = [number for number in numbers if number is not None]
    return sum(stated) if stated else None


def _object(answer: Any, adapter: Adapter) -> Mapping[str, Any]:
    if not isinstance(answer, Mapping):
        raise adapter._wrong(f"expected an object in JSON, got {adapter.transport.quoted(str(answer), 60)}")
    return answer
