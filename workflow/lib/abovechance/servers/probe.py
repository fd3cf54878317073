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
digits       log-probabilities have more than one decimal
zeros        log-probabilities are not all 0, and not all equal
own token    another last token changes the last log-probability, and none before it
own place    another first token of a choice changes that token's log-probability, at its place
order        a choice with its tokens in another order has another score
beginning    other tokens at the beginning of a text change the score: the whole text was read
two ways     given tokens and next tokens have the same log-probabilities
sum          the probabilities of all next tokens add up to 1; those of the most likely, to at most 1
local model  the scores are those of a model in this process, if the config names one (``compare_with``)
===========  ==========================================================================================

A server's tolerance says what counts as rounding, in nats per token: batches and caches change roundings
(``asking.beyond_rounding``). The strings begin with random tokens, so that the first answers come from no
cache, and later ones may. What equal strings differ by, times ``NOISE``, is what counts as no change.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from transformers import PreTrainedTokenizerFast

from abovechance.core.errors import InputError
from abovechance.core.untrusted import printable
from abovechance.scoring.cells import Reading
from abovechance.scoring.tokens import Tokens
from abovechance.servers.adapters import Adapter, Answer
from abovechance.servers.asking import Spent, beyond_rounding, in_parallel

TEXTS = (
    "Is it so? Yes, 1 time.",
    " naïve 漢字 \n\tx+y=2",
    "The  two   spaces, and 12345.",
    "A.\n\n12  34\n 5",
)
LEAST_DIGITS = 12  # log-probabilities that do not all have one decimal by chance
WIDE, NARROW = 64, 4  # tokens of a string that are compared, by whether these take one request or many
NOISE = 3.0  # times the largest difference of equal strings: what is less is no change
TRIED = 3  # other tokens or texts, since one may change little by chance
BLANKS = " \u2581\u0120"  # and how tokenizers write them
PROBED = 6  # strings of a job
FRESH = 32  # random tokens before them: more than a block of a server's cache
SUMMED = 0.02  # by rounding, and since a model may have more tokens than its tokenizer


@dataclass(frozen=True)
class Probed:
    """Strings of a study with their scores by the server, for later comparison.

    Attributes
    ----------
    sequences, starts
        (strings,) the tokens, and where those of the choice begin.
    logprobs
        (strings,) log-probabilities of the choice's tokens.
    allowed
        Largest difference that counts as rounding, in nats per token.
    facts
        The findings, for the record.
    """

    sequences: tuple[list[int], ...]
    starts: tuple[int, ...]
    logprobs: tuple[list[float], ...]
    allowed: float
    facts: dict[str, str]

    def compare(self, adapter: Adapter, spent: Spent) -> None:
        """Ask again for two of the strings; InputError if the server gives other scores now."""
        differences = [
            _difference(_prompt_logprobs(adapter, sequence, start, spent), logprobs)
            for sequence, start, logprobs in zip(
                self.sequences[:2], self.starts[:2], self.logprobs[:2], strict=True
            )
        ]
        if beyond_rounding(differences, self.allowed):
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
        The model's tokenizer and context.
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
    wide = checks.widened(*renewed)
    values = checks.repeated(renewed[0], wide)
    checks.not_all_equal(values)
    checks.not_rounded(values)
    checks.of_own_tokens(*renewed)
    checks.from_the_beginning(*renewed)
    likely, every = checks.likely(renewed[0][0][: renewed[1][0]])
    checks.sum_to_one(likely, every)
    firsts = [string[start - begin] for string, start, begin in zip(values, renewed[1], wide, strict=True)]
    checks.two_ways(*renewed, firsts, likely.best, max(likely.top, default=0.0))
    logprobs = [
        checks.prompt_logprobs(sequence, start) for sequence, start in zip(sequences, starts, strict=True)
    ]
    if local is not None:
        checks.as_local(local(Tokens(sequences, starts)).tolist(), sequences, starts, logprobs)
    return Probed(tuple(sequences), tuple(starts), tuple(logprobs), checks.allowed, checks.facts)


def _chosen(tokens: Tokens) -> list[int]:
    """Return strings that show most: the longest, those with the longest choices, and others."""
    lengths = np.array([len(sequence) for sequence in tokens.sequences])
    choices = np.array(tokens.scored)
    spread = np.linspace(0, len(lengths) - 1, PROBED).astype(int).tolist()
    order = [int(np.argmax(lengths)), int(np.argmax(choices)), int(np.argmin(lengths)), *spread]
    return list(dict.fromkeys(order))[:PROBED]


def _longest_choices(
    sequences: Sequence[list[int]], starts: Sequence[int]
) -> Iterator[tuple[list[int], int]]:
    """Yield the strings with the longest choices; a short choice is made longer by what stands before it."""
    order = sorted(range(len(sequences)), key=lambda at: starts[at] - len(sequences[at]))
    for at in order[:TRIED]:
        if len(sequences[at]) > 2:
            yield sequences[at], max(1, min(starts[at], len(sequences[at]) - 3))


# {what changes: the check, and what it means if nothing does}
NO_CHANGE = {
    "last": (
        "own token",
        "another last token has the same log-probability; expected that of each token at its own place (are "
        "the values those of the tokens before?)",
    ),
    "first": (
        "own place",
        "another first token of the choice has the same log-probability; expected that of each token at its "
        "own place (is the first value one place off?)",
    ),
    "next": (
        "own place",
        "another token right before one does not change its log-probability; expected values that depend on "
        "all earlier tokens (are they one place off?)",
    ),
    "turned": ("order", "a choice with its tokens in reverse order has the same score"),
}


class _Checks:
    """The checks of one server; each raises InputError if the server fails it."""

    def __init__(
        self, adapter: Adapter, tokenizer: PreTrainedTokenizerFast, vocabulary: int, spent: Spent
    ) -> None:
        self.adapter, self.tokenizer, self.vocabulary, self.spent = adapter, tokenizer, vocabulary, spent
        self.tolerance = adapter.transport.settings.tolerance
        self.noise = EPSILON  # nats that a token's log-probability differs by if nothing else does
        self.mean_noise = 0.0
        self.facts: dict[str, str] = {}

    @property
    def allowed(self) -> float:
        """What counts as rounding, in nats per token: more than the tolerance on a server with noise."""
        return max(self.tolerance, 2 * self.mean_noise)

    def prompt_logprobs(self, tokens: Sequence[int], start: int) -> list[float]:
        return _prompt_logprobs(self.adapter, tokens, start, self.spent)

    def fresh(self, context: int | None, length: int) -> list[int]:
        """Return random tokens that no request began with before, as many as the context has place for."""
        room = FRESH if context is None else min(FRESH, context - length)
        return self._random(max(room, 0))

    def tokenizer_agrees(self) -> None:
        """The server's tokens of a text, or its texts of tokens, are those of the tokenizer."""
        for text in TEXTS:
            expected = self.tokenizer(text, add_special_tokens=False)["input_ids"]
            tokens = self.adapter.tokenized(text)
            if tokens is None:
                self._texts_agree(expected)
                continue
            self.facts["tokenizer"] = f"the same tokens of {len(TEXTS)} texts"
            if tokens != expected:
                self._fail(
                    "tokenizer",
                    f"it makes the tokens {str(tokens)[:60]} of {text!r}, and the model's tokenizer "
                    f"{str(expected)[:60]}; expected the tokenizer of the server's model in `tokenizer`",
                )

    def _texts_agree(self, tokens: list[int]) -> None:
        answer = self.spent.add(self.adapter.prompt_logprobs(tokens, 1))
        texts = [(text, token) for text, token in zip(answer.texts, tokens[1:], strict=False) if text]
        for text, token in texts:
            expected = str(self.tokenizer.decode([token]))
            agrees = text == f"token_id:{token}" or text.strip(BLANKS) == expected.strip(BLANKS)
            if expected.strip(BLANKS).isascii() and expected.strip(BLANKS).isalnum() and not agrees:
                self._fail(
                    "tokenizer",
                    f"it calls the token {token} {text!r}, and the model's tokenizer {expected!r}; expected "
                    "the tokenizer of the server's model in `tokenizer`",
                )
        self.facts["tokenizer"] = "the same texts of tokens" if texts else "not told by the server"

    def widened(self, sequences: Sequence[list[int]], starts: Sequence[int]) -> list[int]:
        """Return where compared tokens begin: before a choice, if that takes no more requests."""
        wide = WIDE if self.adapter.one_request_per_string else NARROW
        return [
            max(1, min(start, len(sequence) - wide))
            for sequence, start in zip(sequences, starts, strict=True)
        ]

    def repeated(self, sequences: Sequence[list[int]], begins: Sequence[int]) -> list[list[float]]:
        """Return the log-probabilities, which are the same in another order and beside others."""
        places = range(len(sequences))
        first = {at: self.prompt_logprobs(sequences[at], begins[at]) for at in places}
        backwards = {at: self.prompt_logprobs(sequences[at], begins[at]) for at in reversed(places)}
        beside: dict[int, list[float]] = {}

        def ask_beside(at: int) -> None:
            beside[at] = self.prompt_logprobs(sequences[at], begins[at])

        in_parallel(ask_beside, places, self.adapter.transport.settings.connections)
        differences = np.concatenate(
            [np.abs(np.subtract(results[at], first[at])) for results in (backwards, beside) for at in places]
        )
        if beyond_rounding(differences, self.tolerance):
            self._fail(
                "repeated",
                "a string has other log-probabilities when it is asked for in another order, by up to "
                f"{differences.max():.2g} nats a token (the tolerance is {self.tolerance:g}); a known cause "
                "is vLLM's prefix cache (vLLM issue 42019: start it with --no-enable-prefix-caching)",
            )
        self.noise = max(NOISE * float(differences.max()), EPSILON)
        self.mean_noise = float(differences.mean())
        self.facts["repeated"] = f"differs by at most {differences.max():.2g} nats a token"
        return [first[at] for at in places]

    def not_rounded(self, logprobs: Sequence[Sequence[float]]) -> None:
        """Values of one decimal make choices equal that are not."""
        values = np.concatenate(logprobs)
        if len(values) >= LEAST_DIGITS and np.allclose(10 * values, np.round(10 * values), rtol=0, atol=1e-6):
            self._fail("digits", "all log-probabilities are rounded to one decimal; expected more digits")

    def not_all_equal(self, logprobs: Sequence[Sequence[float]]) -> None:
        """Values that are all 0 make all choices equal, and tools report exactly chance."""
        values = [value for string in logprobs for value in string]
        if max(map(abs, values)) <= self.noise:
            self._fail(
                "zeros", "all log-probabilities are 0, so all choices are equal (llama.cpp issue 27174)"
            )
        if len(values) > 1 and max(values) - min(values) <= self.noise:
            self._fail("zeros", f"all log-probabilities are {values[0]:.6g}, so the server computes none")

    def of_own_tokens(self, sequences: Sequence[list[int]], starts: Sequence[int]) -> None:
        """Other tokens at known places change log-probabilities there and later, and nothing before."""
        changes: dict[str, list[float]] = {}
        for sequence, start in _longest_choices(sequences, starts):
            for check, change in self._changes(sequence, start):
                changes.setdefault(check, []).append(change)
        for check, (name, problem) in NO_CHANGE.items():
            if check == "turned" and self.noise > self.tolerance:
                continue  # sums of the same length may be as near by chance
            if check in changes and max(changes[check]) <= self.noise:
                self._fail(name, problem)
        if beyond_rounding(changes.get("before", ()), self.allowed):
            self._fail(
                "own token",
                "another last token changes the log-probabilities of those before it; expected values that "
                "depend on earlier tokens only (are they one place off?)",
            )
        if beyond_rounding(changes.get("alone", ()), self.allowed):
            self._fail(
                "own place",
                "the first token of a choice has another log-probability if nothing follows it, by "
                f"{max(changes['alone']):.2g} nats; expected values that depend on earlier tokens only",
            )

    def _changes(self, sequence: list[int], start: int) -> Iterator[tuple[str, float]]:
        """Yield how much each log-probability changes, in nats, with other tokens of a choice."""
        exact = self.prompt_logprobs(sequence, start)
        for token in self._other_tokens(sequence, start, -1):
            last = self.prompt_logprobs([*sequence[:-1], token], start)
            yield "last", _distance(exact[-1], last[-1])
            yield "before", _difference(exact[:-1], last[:-1])
            first = self.prompt_logprobs([*sequence[:start], token, *sequence[start + 1 :]], start)
            yield "first", _distance(exact[0], first[0])
            yield "next", _distance(exact[1], first[1])
        yield "alone", _distance(exact[0], self.prompt_logprobs(sequence[: start + 1], start)[0])
        turned = [*sequence[:start], *reversed(sequence[start:])]
        if turned != sequence:
            yield "turned", _distance(sum(self.prompt_logprobs(turned, start)), sum(exact))

    def from_the_beginning(self, sequences: Sequence[list[int]], starts: Sequence[int]) -> None:
        """The longest strings are read as a whole, and in order: a server may drop the beginning."""
        renewed_changes, turned_changes = [], []
        for at in sorted(range(len(sequences)), key=lambda at: -len(sequences[at]))[:TRIED]:
            sequence, start = sequences[at], starts[at]
            if start == 1:
                continue
            exact, half = self.prompt_logprobs(sequence, start), max(1, (start - 1) // 2)
            renewed = [[*self._random(half), *sequence[half:]] for _ in range(TRIED)]
            if self.noise <= EPSILON:  # so little changes with one token that only an exact server shows it
                renewed = [[token, *sequence[1:]] for token in self._other_tokens(sequence, 0)]
            renewed_changes += [_largest(exact, self.prompt_logprobs(text, start)) for text in renewed]
            turned = [*reversed(sequence[: start - 1]), *sequence[start - 1 :]]
            if turned != sequence:
                turned_changes.append(_largest(exact, self.prompt_logprobs(turned, start)))
        if renewed_changes and max(renewed_changes) <= self.noise:
            self._fail(
                "beginning",
                f"other tokens at the beginning of a text of {max(map(len, sequences))} tokens change "
                "nothing; expected a server that reads the whole text (does its context hold it?)",
            )
        if turned_changes and max(turned_changes) <= self.noise:
            self._fail("order", "a text with its tokens in reverse order gives its choices the same scores")

    def likely(self, tokens: list[int]) -> tuple[Answer, bool]:
        """Return the most likely next tokens, and whether these are all."""
        answer, every = self.adapter.likely(tokens, self.vocabulary)
        return self.spent.add(answer), every

    def two_ways(
        self,
        sequences: Sequence[list[int]],
        starts: Sequence[int],
        firsts: Sequence[float],
        best: int | None,
        highest: float,
    ) -> None:
        """A token's log-probability is the same as a given token and as the next one.

        Parameters
        ----------
        firsts
            (strings,) log-probability of the first token of each choice as a given token.
        best, highest
            The most likely next token after the first text, which no server leaves out, and its
            log-probability.
        """
        if not self.adapter.reads_next:
            return
        differences = []
        for sequence, start, first in zip(sequences, starts, firsts, strict=True):
            answer = self.spent.add(self.adapter.next_logprobs(sequence[:start], [sequence[start]]))
            differences += [_distance(value, first) for value in answer.every]
        if best is not None:
            text = [*sequences[0][: starts[0]], best]
            differences.append(_distance(highest, self.prompt_logprobs(text, starts[0])[0]))
        if beyond_rounding(differences, self.allowed):
            self._fail(
                "two ways",
                f"a token's log-probability as the next token and as a given one differ by "
                f"{max(differences):.2g} nats; expected log-probabilities before temperature, penalties and "
                "other sampling settings",
            )
        self.facts["two ways"] = f"compared for {len(differences)} tokens"

    def sum_to_one(self, answer: Answer, every: bool) -> None:
        """Probabilities of all next tokens, if the server gives them; else of the most likely ones."""
        total = math.fsum(map(math.exp, answer.top))
        self.facts["sum"] = f"{total:.4f} over {len(answer.top)} next tokens"
        if total > 1 + SUMMED or (every and total < 1 - SUMMED):
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
        if beyond_rounding(differences, self.tolerance):
            self._fail(
                "local model",
                f"its scores differ from those of the model in `compare_with` by {np.mean(differences):.2g} "
                f"nats a token (the tolerance is {self.tolerance:g}); expected the same weights",
            )

    @cached_property
    def _ordinary(self) -> list[int]:
        """The tokens that are no special ones."""
        special = set(self.tokenizer.all_special_ids) | set(self.tokenizer.added_tokens_decoder)
        return [token for token in range(len(self.tokenizer)) if token not in special]

    def _random(self, number: int) -> list[int]:
        """Return so many ordinary tokens."""
        return [secrets.choice(self._ordinary) for _ in range(number)]

    def _other_tokens(self, sequence: Sequence[int], *places: int) -> list[int]:
        """Return a few tokens that a string does not have, or if it has all, not at these places."""

        def without(used: set[int]) -> list[int]:
            return [token for token in self._ordinary if token not in used]

        tokens = without({*sequence}) or without({sequence[place] for place in places})
        return [tokens[len(tokens) * part // (TRIED + 1)] for part in range(1, TRIED + 1)]

    def _fail(self, check: str, problem: str) -> None:
        words = self.adapter.transport.settings.words
        raise InputError(
            f"{words}: the probe '{check}' failed: {printable(problem)}; no prompt was scored with it"
        )


EPSILON = 1e-9  # nats: two tokens of a model may be about as likely, but not to so many digits


def _prompt_logprobs(adapter: Adapter, tokens: Sequence[int], start: int, spent: Spent) -> list[float]:
    """Return the log-probabilities of given tokens; a server says all of them."""
    return spent.add(adapter.prompt_logprobs(tokens, start)).every


def _difference(first: Sequence[float], second: Sequence[float]) -> float:
    """Mean absolute difference in nats a token."""
    return float(np.mean(np.abs(np.subtract(first, second))))


def _largest(first: Sequence[float], second: Sequence[float]) -> float:
    """Largest absolute difference in nats."""
    return float(np.max(np.abs(np.subtract(first, second))))


def _distance(first: float, second: float) -> float:
    return abs(first - second)
