"""A language model of a few lines behind an adapter, in this process: servers with any defect."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType, SimpleNamespace
from typing import Any

import numpy as np

from abovechance.servers.adapters import Adapter, Answer
from abovechance.servers.transport import Settings

SIZE = 60  # tokens; the first two are special


class ToyTokenizer:
    """Words such as ``w7`` are tokens by their numbers, as is every character by its code."""

    all_special_ids = (0,)
    added_tokens_decoder = MappingProxyType({1: "<pad>"})

    def __len__(self) -> int:
        return SIZE

    def __call__(self, text: str, add_special_tokens: bool = True) -> dict[str, list[int]]:
        start = [0] if add_special_tokens else []
        return {"input_ids": start + [2 + ord(character) % (SIZE - 2) for character in text]}

    def decode(self, tokens: Sequence[int]) -> str:
        return "".join(f" w{token}" for token in tokens)


class Toy(Adapter):
    """A server of the toy model.

    Attributes
    ----------
    asked_for
        The requests: (method, tokens, start or candidates).
    window
        The number of earlier tokens that the model reads.
    has_order
        True if the order of the earlier tokens counts.
    change
        Called with the (tokens, vocabulary) log-probabilities and the tokens; returns what the server gives.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(
            SimpleNamespace(
                settings=Settings(
                    **{"url": "http://toy", "kind": "vllm", "model": "m", "connections": 1} | settings
                )
            )
        )
        generator = np.random.default_rng(0)
        self.embeddings = generator.normal(size=(SIZE, 8))
        self.weights = generator.normal(size=(8, SIZE))
        self.asked_for: list[tuple[str, list[int], Any]] = []
        self.change = lambda logprobs, tokens: logprobs
        self.change_next = lambda logprobs, tokens: logprobs
        self.facts: dict[str, Any] = {}
        self.tokens_of = ToyTokenizer()
        self.texts: tuple[str, ...] = ()
        self.window, self.has_order = 1000, True
        self.cached = 0

    def logprobs(self, tokens: Sequence[int]) -> np.ndarray:
        """(tokens, vocabulary) log-probabilities of the next token after each."""
        embeddings = self.embeddings[list(tokens)]
        shifts = np.arange(len(tokens))[:, None] if self.has_order else 0
        moved = embeddings[np.arange(len(tokens))[:, None], (np.arange(8) + shifts) % 8]
        total = np.vstack([np.zeros(8), moved.cumsum(axis=0)])
        first = np.maximum(np.arange(len(tokens)) - self.window, 0)
        logits = np.tanh(embeddings + 0.1 * (total[:-1] - total[first])) @ self.weights
        return logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))

    def prompt_logprobs(self, tokens: Sequence[int], start: int) -> Answer:
        self.asked_for.append(("prompt", list(tokens), start))
        rows = self.change(self.logprobs(tokens), list(tokens))
        values = [float(rows[at - 1, tokens[at]]) for at in range(start, len(tokens))]
        return Answer(values, len(tokens), self.cached, texts=self.texts)

    def next_logprobs(self, tokens: Sequence[int], candidates: Sequence[int]) -> Answer:
        self.asked_for.append(("next", list(tokens), list(candidates)))
        row = self.change_next(self.change(self.logprobs(tokens), list(tokens))[-1], list(tokens))
        values = [None if np.isnan(row[token]) else float(row[token]) for token in candidates]
        finite = np.nan_to_num(row, nan=-np.inf)
        top = tuple(np.sort(finite[np.isfinite(finite)])[::-1][:5].tolist())
        return Answer(values, len(tokens), self.cached, top=top, best=int(np.argmax(finite)))

    def says(self) -> dict[str, Any]:
        return self.facts

    def tokenized(self, text: str) -> list[int] | None:
        return None if self.tokens_of is None else self.tokens_of(text, add_special_tokens=False)["input_ids"]
