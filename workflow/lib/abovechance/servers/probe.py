"""Questions with known answers, so that a server is tested and not believed.

Servers can be wrong in silence: all log-probabilities 0 (llama.cpp, issue 27174), values that depend on
the order of requests (vLLM, issue 42019), values one token off, another tokenizer, texts cut off. The probe
asks for strings of the study. Their log-probabilities have properties that hold for each model that predicts
the next token:

===========  ==========================================================================================
check        what must hold
===========  ==========================================================================================
tokenizer    the server makes the same tokens of a text, or calls tokens by the same texts
repeated     a string has the same log-probabilities after others in another order, and beside others
zeros        log-probabilities are not all 0, and not all equal
own token    another last token changes the last log-probability, and none before it
own place    another first token of a choice changes that token's log-probability, at its place
order        a choice with its tokens in another order has another score
beginning    another first token of the whole text changes the score: the whole text was read
two ways     given tokens and next tokens have the same log-probabilities
sum          the probabilities of all next tokens add up to 1; those of the most likely, to at most 1
local model  the scores are those of a model in this process, if the config names one (``compare_with``)
===========  ==========================================================================================

A server's tolerance says what counts as rounding, in nats per token: batches and caches change roundings.
Means are compared with it, and single tokens with ``SINGLE`` times as much. The strings begin with random
tokens, so that the first answers come from no cache, and later ones may.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from transformers import PreTrainedTokenizerFast

from abovechance.core.errors import InputError
from abovechance.core.untrusted import printable
from abovechance.scoring.cells import Reading
from abovechance.scoring.tokens import Tokens
from abovechance.servers.adapters import Adapter
from abovechance.servers.asking import Spent, in_parallel

TEXTS = ("Is it so? Yes, 1 time.", " naïve 漢字 \n\tx+y=2", "The  two   spaces, and 12345.")
WIDE, NARROW = 64, 4  # tokens of a string that are compared, by whether these take one request or many
PROBED = 6  # strings of a job
FRESH = 32  # random tokens before them: more than a block of a server's cache
SINGLE = 5.0  # times the tolerance that one token's log-probability may differ by
SUMMED = 0.02  # that all next tokens may lack: a model may have more tokens than its tokenizer


@dataclass(frozen=True)
class Probed:
    """Strings of a study with their scores by the server, for later comparison.

    Attributes
    ----------
    sequences, starts
        (strings,) the tokens, and where those of the choice begin.
    logprobs
        (strings,) log-probabilities of the choice's tokens.
    facts
        What was found, for the record.
    """

    sequences: tuple[list[int], ...]
    starts: tuple[int, ...]
    logprobs: tuple[list[float], ...]
    facts: dict[str, str]

    def compare(self, adapter: Adapter, spent: Spent) -> None:
        """Ask again for two of the strings; InputError if the server gives other scores now."""
        differences = [
            _difference(_given(adapter, sequence, start, spent), logprobs)
            for sequence, start, logprobs in zip(
                self.sequences[:2], self.starts[:2], self.logprobs[:2], strict=True
            )
        ]
        if np.mean(differences) > 2 * adapter.transport.settings.tolerance:
            raise InputError(
                f"{adapter.transport.settings.words}: it changed during the run: strings that were asked "
                f"for before have other log-probabilities now, by {max(differences):.2g} nats a token; "
                "expected the same model with the same settings; the prompts before are kept"
            )


def probe(
    adapter: Adapter,
    tokenizer: PreTrainedTokenizerFast,
    reading: Reading,
    tokens: Tokens,
    spent: Spent,
    local: Callable[[Tokens], NDArray[np.float64]] | None = None,
) -> Probed:
    """Ask a server questions with known answers.

    Parameters
    ----------
    reading
        How the model reads.
    tokens
        The strings of one prompt.
    local
        Gives the log-likelihoods of strings by a model that the server shall agree with.

    Raises
    ------
    InputError
        With the check that failed, and the known problem.
    """
    chosen = _chosen(tokens)
    sequences, starts = [tokens.sequences[at] for at in chosen], [tokens.starts[at] for at in chosen]
    checks = _Checks(adapter, tokenizer, reading.vocabulary or len(tokenizer), spent)
    checks.tokenizer_agrees()
    fresh = [checks.fresh(reading.context, len(sequence)) for sequence in sequences]
    renewed = (
        [before + sequence for before, sequence in zip(fresh, sequences, strict=True)],
        [len(before) + start for before, start in zip(fresh, starts, strict=True)],
    )
    values = checks.repeated(*renewed)
    checks.not_all_equal(values)
    checks.of_own_tokens(*renewed)
    checks.from_the_beginning(*renewed)
    checks.two_ways(*renewed, values)
    checks.sum_to_one(renewed[0][0][: renewed[1][0]])
    logprobs = [checks.given(sequence, start) for sequence, start in zip(sequences, starts, strict=True)]
    if local is not None:
        checks.as_local(local(Tokens(sequences, starts)).tolist(), sequences, starts, logprobs)
    return Probed(tuple(sequences), tuple(starts), tuple(logprobs), checks.facts)


def _chosen(tokens: Tokens) -> list[int]:
    """Return strings that show most: the longest, those with the longest choices, and others."""
    lengths = np.array([len(sequence) for sequence in tokens.sequences])
    choices = np.array(tokens.scored)
    spread = np.linspace(0, len(lengths) - 1, PROBED).astype(int).tolist()
    order = [int(np.argmax(lengths)), int(np.argmax(choices)), int(np.argmin(lengths)), *spread]
    return list(dict.fromkeys(order))[:PROBED]


class _Checks:
    """The checks of one server; each raises InputError if the server fails it."""

    def __init__(
        self, adapter: Adapter, tokenizer: PreTrainedTokenizerFast, vocabulary: int, spent: Spent
    ) -> None:
        self.adapter, self.tokenizer, self.vocabulary, self.spent = adapter, tokenizer, vocabulary, spent
        self.tolerance = adapter.transport.settings.tolerance
        self.facts: dict[str, str] = {}

    def given(self, tokens: Sequence[int], start: int) -> list[float]:
        return _given(self.adapter, tokens, start, self.spent)

    def fresh(self, context: int | None, length: int) -> list[int]:
        """Return random tokens that no request began with before, as many as the context has place for."""
        room = FRESH if context is None else min(FRESH, context - length)
        ordinary = self._ordinary()
        return [secrets.choice(ordinary) for _ in range(max(room, 0))]

    def tokenizer_agrees(self) -> None:
        """The server's tokens of a text, or its texts of tokens, are those of the tokenizer."""
        for text in TEXTS:
            own = self.tokenizer(text, add_special_tokens=False)["input_ids"]
            tokens = self.adapter.tokenized(text)
            if tokens is None:
                self._texts_agree(own)
                continue
            self.facts["tokenizer"] = f"the same tokens of {len(TEXTS)} texts"
            if tokens != own:
                self._fail(
                    "tokenizer",
                    f"it makes the tokens {str(tokens)[:60]} of {text!r}, and the model's tokenizer "
                    f"{str(own)[:60]}; expected the tokenizer of the server's model in `tokenizer`",
                )

    def _texts_agree(self, tokens: list[int]) -> None:
        answer = self.spent.add(self.adapter.given(tokens, 1))
        for text, token in zip(answer.texts, tokens[1:], strict=False):
            own = str(self.tokenizer.decode([token]))
            if own.strip().isascii() and own.strip().isalnum() and text.strip() != own.strip():
                self._fail(
                    "tokenizer",
                    f"it calls the token {token} {text!r}, and the model's tokenizer {own!r}; expected the "
                    "tokenizer of the server's model in `tokenizer`",
                )
        self.facts["tokenizer"] = "the same texts of tokens" if answer.texts else "not told by the server"

    def repeated(self, sequences: Sequence[list[int]], starts: Sequence[int]) -> list[list[float]]:
        """Return the log-probabilities, which are the same in another order and beside others."""
        wide = WIDE if self.adapter.given_at_once else NARROW
        places = range(len(sequences))
        begins = [
            max(1, min(start, len(sequence) - wide))
            for sequence, start in zip(sequences, starts, strict=True)
        ]
        first = {at: self.given(sequences[at], begins[at]) for at in places}
        backwards = {at: self.given(sequences[at], begins[at]) for at in reversed(places)}
        beside: dict[int, list[float]] = {}

        def ask_beside(at: int) -> None:
            beside[at] = self.given(sequences[at], begins[at])

        in_parallel(ask_beside, places, self.adapter.transport.settings.connections)
        differences = np.concatenate(
            [np.abs(np.subtract(again[at], first[at])) for again in (backwards, beside) for at in places]
        )
        if differences.mean() > self.tolerance or differences.max() > SINGLE * self.tolerance:
            self._fail(
                "repeated",
                "a string has other log-probabilities when it is asked for in another order, by up to "
                f"{differences.max():.2g} nats a token (the tolerance is {self.tolerance:g}); a known cause "
                "is vLLM's prefix cache (vLLM issue 42019: start it with --no-enable-prefix-caching)",
            )
        self.facts["repeated"] = f"differs by at most {differences.max():.2g} nats a token"
        return [first[at][starts[at] - begins[at] :] for at in places]

    def not_all_equal(self, logprobs: Sequence[Sequence[float]]) -> None:
        """Values that are all 0 make all choices equal, and tools report exactly chance."""
        values = [value for string in logprobs for value in string]
        if not any(values):
            self._fail(
                "zeros", "all log-probabilities are 0, so all choices are equal (llama.cpp issue 27174)"
            )
        if len(values) > 1 and max(values) - min(values) < EPSILON:
            self._fail("zeros", f"all log-probabilities are {values[0]:.6g}, so the server computes none")

    def of_own_tokens(self, sequences: Sequence[list[int]], starts: Sequence[int]) -> None:
        """Other tokens at known places change log-probabilities there, and nothing before."""
        sequence, start = max(zip(sequences, starts, strict=True), key=lambda case: len(case[0]) - case[1])
        start = max(
            1, min(start, len(sequence) - 3)
        )  # a short choice is made longer by what stands before it
        exact, others = self.given(sequence, start), self._others(sequence)
        last = [self.given([*sequence[:-1], other], start) for other in others]
        if all(_apart(exact[-1], values[-1]) < EPSILON for values in last):
            self._fail(
                "own token",
                "another last token has the same log-probability; expected that of each token at its own "
                "place (are the values those of the tokens before?)",
            )
        before = [_difference(exact[:-1], values[:-1]) for values in last if len(exact) > 1]
        if before and np.mean(before) > self.tolerance:
            self._fail(
                "own token",
                "another last token changes the log-probabilities of those before it; expected values that "
                "depend on earlier tokens only (are they one place off?)",
            )
        first = [self.given([*sequence[:start], other, *sequence[start + 1 :]], start) for other in others]
        if all(_apart(exact[0], values[0]) < EPSILON for values in first):
            self._fail(
                "own place",
                "another first token of the choice has the same log-probability; expected that of each "
                "token at its own place (is the first value one place off?)",
            )
        if len(exact) > 1 and all(_apart(exact[1], values[1]) < EPSILON for values in first):
            self._fail(
                "own place",
                "another token right before one does not change its log-probability; expected values that "
                "depend on all earlier tokens (are they one place off?)",
            )
        alone = self.given(sequence[: start + 1], start)
        if _apart(alone[0], exact[0]) > SINGLE * self.tolerance:
            self._fail(
                "own place",
                f"the first token of a choice has the log-probability {exact[0]:.4g} in a whole choice and "
                f"{alone[0]:.4g} alone; expected values that depend on earlier tokens only",
            )
        turned = [*sequence[:start], *reversed(sequence[start:])]
        if turned != sequence and _apart(sum(self.given(turned, start)), sum(exact)) < EPSILON:
            self._fail("order", "a choice with its tokens in reverse order has the same score")

    def from_the_beginning(self, sequences: Sequence[list[int]], starts: Sequence[int]) -> None:
        """The longest string is read as a whole: a server may drop the beginning of a long text."""
        sequence, start = max(zip(sequences, starts, strict=True), key=lambda case: len(case[0]))
        if start == 1:
            return
        exact = self.given(sequence, start)
        changed = [self.given([other, *sequence[1:]], start) for other in self._others(sequence)]
        if all(_difference(exact, values) == 0.0 for values in changed):
            self._fail(
                "beginning",
                f"another first token of {len(sequence)} changes nothing; expected a server that reads the "
                "whole text (does its context hold it?)",
            )
        turned = [*reversed(sequence[: start - 1]), *sequence[start - 1 :]]
        if turned != sequence and _difference(exact, self.given(turned, start)) == 0.0:
            self._fail("order", "a text with its tokens in reverse order gives its choices the same scores")

    def two_ways(
        self, sequences: Sequence[list[int]], starts: Sequence[int], logprobs: Sequence[list[float]]
    ) -> None:
        """A token's log-probability is the same as a given token and as the next one."""
        if not self.adapter.reads_next:
            return
        differences = []
        for sequence, start, values in zip(sequences, starts, logprobs, strict=True):
            (value,) = self.spent.add(self.adapter.following(sequence[:start], [sequence[start]])).logprobs
            differences += [] if value is None else [_apart(value, values[0])]
        # no server leaves out the most likely one
        prefix = sequences[0][: starts[0]]
        answer = self.spent.add(self.adapter.likely(prefix, self.vocabulary)[0])
        if answer.best is not None:
            differences.append(_apart(max(answer.top), self.given([*prefix, answer.best], len(prefix))[0]))
        if differences and (
            np.mean(differences) > self.tolerance or max(differences) > SINGLE * self.tolerance
        ):
            self._fail(
                "two ways",
                f"a token's log-probability as the next token and as a given one differ by "
                f"{max(differences):.2g} nats; expected log-probabilities before temperature, penalties and "
                "other sampling settings",
            )
        self.facts["two ways"] = f"compared for {len(differences)} of {len(sequences)} tokens"

    def sum_to_one(self, tokens: list[int]) -> None:
        """Probabilities of all next tokens, if the server gives them; else of the most likely ones."""
        answer, every = self.adapter.likely(tokens, self.vocabulary)
        total = math.fsum(map(math.exp, self.spent.add(answer).top))
        self.facts["sum"] = f"{total:.4f} over {len(answer.top)} next tokens"
        if total > 1.001 or (every and total < 1 - SUMMED):
            self._fail(
                "sum",
                f"the probabilities of {len(answer.top)} next tokens add up to {total:.4g}; expected natural "
                f"logarithms of probabilities, which add up to {'1' if every else 'at most 1'}",
            )

    def as_local(
        self,
        exact: Sequence[float],
        sequences: Sequence[list[int]],
        starts: Sequence[int],
        logprobs: Sequence[Sequence[float]],
    ) -> None:
        differences = [
            abs(sum(values) - float(score)) / (len(sequence) - start)
            for score, sequence, start, values in zip(exact, sequences, starts, logprobs, strict=True)
        ]
        self.facts["local model"] = f"differs by {np.mean(differences):.2g} nats a token"
        if np.mean(differences) > self.tolerance:
            self._fail(
                "local model",
                f"its scores differ from those of the model in `compare_with` by {np.mean(differences):.2g} "
                f"nats a token (more than the tolerance of {self.tolerance:g}); expected the same weights",
            )

    def _ordinary(self) -> list[int]:
        """Return the tokens that are no special ones."""
        special = set(self.tokenizer.all_special_ids) | set(self.tokenizer.added_tokens_decoder)
        return [token for token in range(len(self.tokenizer)) if token not in special]

    def _others(self, sequence: Sequence[int]) -> list[int]:
        """Return tokens that a string has not; of three, not all are as likely as another to all digits."""
        unused = [token for token in self._ordinary() if token not in set(sequence)]
        return [unused[len(unused) * part // 4] for part in (1, 2, 3)]

    def _fail(self, check: str, problem: str) -> None:
        words = self.adapter.transport.settings.words
        raise InputError(
            f"{words}: the probe '{check}' failed: {printable(problem)}; no prompt was scored with it"
        )


EPSILON = 1e-9  # two tokens of a model may be about as likely, but not to so many digits


def _given(adapter: Adapter, tokens: Sequence[int], start: int, spent: Spent) -> list[float]:
    """Return the log-probabilities of given tokens; a server says all of them."""
    return spent.add(adapter.given(tokens, start)).every


def _difference(first: Sequence[float], second: Sequence[float]) -> float:
    """Mean absolute difference in nats a token."""
    return float(np.mean(np.abs(np.subtract(first, second))))


def _apart(first: float, second: float) -> float:
    return abs(first - second)
