"""The log-likelihoods of a prompt's strings from a server, asked in an order that its prefix cache serves.

The strings are taken in the order of their trie. So requests with a long common beginning follow each
other, and the beginning that all share is sent once, alone, before all others. Then several requests are sent
at the same time, each connection with the choices of one text after the other. A server that does not cache
gives the same scores, later.

There are two ways to ask:

``prompt_logprobs``
    The whole string is sent, and the answer has the log-probabilities of its choice's tokens.
``next_logprobs``
    The text before choices is sent, and the answer has the log-probabilities of next tokens. So one request
    answers for all choices of a text if each of them is one token. A token that the answer lacks is asked for
    as ``prompt_logprobs``. If most are, no more requests are sent for next tokens.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import groupby
from threading import Lock
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abovechance.core.errors import InputError
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


def ask(
    adapter: Adapter, tokens: Tokens, connections: int, allowed: float | None = None
) -> tuple[NDArray[np.float64], Spent]:
    """Return the log-likelihood of each string's choice, and what that took.

    The strings of some texts are asked for twice, at random: some among the others, some alone after them. So
    a server that is wrong for a while, or under load, is noticed.

    Parameters
    ----------
    allowed
        What equal strings may differ by, in nats per token; the server's tolerance if None.

    Returns
    -------
    logprobs
        (strings,) in nats, the sum over the tokens of the string's choice.
    spent
        The requests.

    Raises
    ------
    InputError
        If a string has two scores.
    """
    spent, logprobs = Spent(), np.zeros(len(tokens.sequences))
    second_logprobs = np.full(len(tokens.sequences), np.nan)
    way = _Way(adapter, tokens, spent)

    def answer(task: tuple[list[int], NDArray[np.float64]]) -> None:
        group, values = task
        values[group] = way.score_group(group)

    groups = _groups(tokens)
    # not the first, which is asked for alone
    repeated = _RANDOM.sample(groups[1:], min(len(groups) - 1, max(LEAST_REPEATED, len(groups) // REPEATED)))
    among, after = repeated[::2], repeated[1::2]
    first, *tasks = [(group, logprobs) for group in groups]
    for group in among:
        tasks.insert(_RANDOM.randint(0, len(tasks)), (group, second_logprobs))
    way.warm()
    answer(first)
    in_parallel(answer, tasks, connections)
    for group in after:
        answer((group, second_logprobs))
    allowed = adapter.transport.settings.tolerance if allowed is None else allowed
    _check_repeated(adapter, logprobs, second_logprobs, np.array(tokens.scored), allowed)
    return logprobs, spent


REPEATED, LEAST_REPEATED = 20, 4  # one of so many texts is asked for twice, and so many at least
_RANDOM = random.SystemRandom()


def _check_repeated(
    adapter: Adapter,
    first: NDArray[np.float64],
    second_logprobs: NDArray[np.float64],
    tokens: NDArray[np.int64],
    allowed: float,
) -> None:
    """Raise InputError if strings that were asked for twice have two scores."""
    twice = np.isfinite(second_logprobs)
    differences = np.abs(first - second_logprobs)[twice] / tokens[twice]
    if beyond_rounding(differences, allowed):
        raise InputError(
            f"{adapter.transport.settings.words}: strings that were asked for twice have other "
            f"log-probabilities the second time, by up to {differences.max():.2g} nats a token "
            f"({allowed:.2g} is rounding); expected a server that computes the same under load and all the "
            "time; the prompts before are kept"
        )


def beyond_rounding(differences: ArrayLike, allowed: float) -> bool:
    """Whether differences of log-probabilities that should be equal are more than rounding.

    Parameters
    ----------
    differences
        Absolute ones, in nats per token.
    allowed
        What their mean may be if there are many. That of n may be ``2 / sqrt(n)`` times as much more, and one
        alone ``SINGLE`` times as much.
    """
    values = np.asarray(differences, dtype=np.float64)
    if not values.size:
        return False
    mean, largest = float(values.mean()), float(values.max())
    return mean > allowed * (1 + 2 / np.sqrt(values.size)) or largest > SINGLE * allowed


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


class _Way:
    """How strings are asked for: by next tokens as long as answers have what is wanted."""

    def __init__(self, adapter: Adapter, tokens: Tokens, spent: Spent) -> None:
        self.adapter, self.tokens, self.spent = adapter, tokens, spent
        self.requested = self.missing = 0

    def warm(self) -> None:
        """Have the server read what all strings begin with, so that later requests find it in its cache."""
        sequences = self.tokens.sequences
        trunk = trunk_length(sequences, self.tokens.starts)
        if trunk >= LEAST_WARMED and self.adapter.reads_next and len(sequences) > 2:
            self.spent.add(self.adapter.next_logprobs(sequences[0][:trunk], [sequences[0][trunk]]))

    def score_group(self, group: Sequence[int]) -> list[float]:
        """Return the log-likelihoods of the choices behind one text."""
        sequences, start = [self.tokens.sequences[at] for at in group], self.tokens.starts[group[0]]
        values: list[float | None] = [None] * len(group)
        if self._reads_next() and all(len(sequence) == start + 1 for sequence in sequences):
            answer = self.adapter.next_logprobs(
                sequences[0][:start], [sequence[start] for sequence in sequences]
            )
            values = self.spent.add(answer).logprobs
            self.requested += len(values)
            self.missing += values.count(None)
        return [
            sum(self.spent.add(self.adapter.prompt_logprobs(sequence, start)).every)
            if value is None
            else value
            for value, sequence in zip(values, sequences, strict=True)
        ]

    def _reads_next(self) -> bool:
        """Whether a request for next tokens saves others: not if answers lack most of what is wanted."""
        return self.adapter.reads_next and (
            self.requested < LEAST_WANTED or self.missing < 0.5 * self.requested
        )


LEAST_WARMED = 32  # tokens that are worth a request of their own
LEAST_WANTED = 20  # tokens, before it is known whether answers have most
SINGLE = 5.0  # times as much as the mean that one difference may be
