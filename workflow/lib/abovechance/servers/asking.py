"""The log-likelihoods of a prompt's strings from a server, asked in an order that its prefix cache serves.

The strings are taken in the order of their trie. So requests with a long common beginning follow each
other, and the beginning that all share is sent once, alone, before all others. Then several requests are sent
at the same time, each connection with the choices of one text after the other. A server that does not cache
gives the same scores, later.

There are two ways to ask:

``given``
    The whole string is sent, and the answer has the log-probabilities of its choice's tokens.
``following``
    The text before choices is sent, and the answer has the log-probabilities of next tokens. So one request
    answers for all choices of a text if each of them is one token. A token that the answer lacks is asked for
    as ``given``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import groupby
from threading import Lock
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from abovechance.scoring.engine import trunk_length
from abovechance.scoring.tokens import Tokens
from abovechance.servers.adapters import Adapter, Answer

Asked = TypeVar("Asked")


@dataclass
class Spent:
    """What a server was asked for.

    Attributes
    ----------
    requests
        Answered requests.
    read
        Tokens that were sent.
    cached
        How many of these the server had in its cache, as far as it says so.
    """

    requests: int = 0
    read: int = 0
    cached: int = 0
    _lock: Lock = field(default_factory=Lock, repr=False)

    def add(self, answer: Answer) -> Answer:
        """Count an answer and return it."""
        with self._lock:
            self.requests += answer.requests
            self.read += answer.read
            self.cached += answer.cached or 0
        return answer


def ask(adapter: Adapter, tokens: Tokens, connections: int) -> tuple[NDArray[np.float64], Spent]:
    """Return the log-likelihood of each string's choice, and what that took.

    Returns
    -------
    logprobs
        (strings,) in nats, the sum over the tokens of the string's choice.
    spent
        The requests.
    """
    spent, logprobs = Spent(), np.zeros(len(tokens.sequences))

    def answer(group: list[int]) -> None:
        logprobs[group] = _asked(adapter, tokens, group, spent)

    first, *others = _groups(tokens)
    _warm(adapter, tokens, spent)
    answer(first)
    in_parallel(answer, others, connections)
    return logprobs, spent


def in_parallel(function: Callable[[Asked], None], items: Iterable[Asked], connections: int) -> None:
    """Call a function with each item on so many threads; what one raises is raised, and no more are begun."""
    with ThreadPoolExecutor(connections) as pool:
        results = [pool.submit(function, item) for item in items]
        try:
            for result in results:
                result.result()
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise


def _groups(tokens: Tokens) -> list[list[int]]:
    """Return the strings of each text before choices, in the order of their trie."""

    def context(at: int) -> list[int]:
        return tokens.sequences[at][: tokens.starts[at]]

    order = sorted(range(len(tokens.sequences)), key=lambda at: tokens.sequences[at])
    return [list(group) for _, group in groupby(order, key=context)]


def _warm(adapter: Adapter, tokens: Tokens, spent: Spent) -> None:
    """Have the server read what all strings begin with, so that later requests find it in its cache."""
    trunk = trunk_length(tokens.sequences, tokens.starts)
    if trunk >= LEAST_WARMED and adapter.reads_next and len(tokens.sequences) > 2:
        spent.add(adapter.following(tokens.sequences[0][:trunk], [tokens.sequences[0][trunk]]))


LEAST_WARMED = 32  # tokens that are worth a request of their own


def _asked(adapter: Adapter, tokens: Tokens, group: Sequence[int], spent: Spent) -> list[float]:
    """Return the log-likelihoods of the choices behind one text."""
    sequences, start = [tokens.sequences[at] for at in group], tokens.starts[group[0]]
    values: list[float | None] = [None] * len(group)
    if adapter.reads_next and all(len(sequence) == start + 1 for sequence in sequences):
        answer = adapter.following(sequences[0][:start], [sequence[start] for sequence in sequences])
        values = spent.add(answer).logprobs
    return [
        sum(spent.add(adapter.given(sequence, start)).every) if value is None else value
        for value, sequence in zip(values, sequences, strict=True)
    ]
