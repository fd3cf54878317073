"""Prompts scored by a server, in place of a model in this process (``scoring.cells.Backend``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from transformers import PreTrainedTokenizerFast

from abovechance.core.code import module_digest
from abovechance.core.errors import InputError
from abovechance.core.provenance import versions
from abovechance.scoring.cells import InProcess, Reading, scores_rows
from abovechance.scoring.engine import score_alone
from abovechance.scoring.identity import reading_digest
from abovechance.scoring.tokens import PromptStrings, Tokens
from abovechance.scoring.weights import Weights, load_tokenizer
from abovechance.servers.adapters import ADAPTERS, Adapter
from abovechance.servers.asking import Spent, ask, beyond_rounding
from abovechance.servers.probe import Probed, probe
from abovechance.servers.transport import Settings, Transport

# The modules that decide what a server is asked, and how its answers become scores.
NUMERICS = ("scoring.tokens", "servers.adapters", "servers.asking")
CHECKED = 4  # strings of an earlier job that are scored again


@dataclass(frozen=True)
class Served:
    """A model that a server runs.

    Attributes
    ----------
    weights
        A weights file with ``server``; its folder has the tokenizer.
    special_tokens
        See ``tokens.tokenize``.
    local
        The model in this process that the server shall agree with, if any.
    """

    weights: Weights
    special_tokens: str = "text"
    local: InProcess | None = None

    @property
    def settings(self) -> Settings:
        """How the server is reached."""
        names = {field.name for field in fields(Settings)}
        return Settings(**{key: value for key, value in (self.weights.server or {}).items() if key in names})

    @property
    def identities(self) -> list[dict[str, Any]]:
        """The model by its name and revision in the config. Its address does not count."""
        return [
            {
                "server": self.settings.kind,
                "model": self.settings.model,
                "revision": self.weights.revision,
                "tokenizer": reading_digest(Path(self.weights.folder), self.weights.trust_remote_code),
                "special_tokens": self.special_tokens,
                "code": module_digest(*NUMERICS),
            }
        ]

    @property
    def made_from(self) -> dict[str, Any]:
        """The model's name and the server."""
        return {"model": self.weights.source, "revision": self.weights.revision, "precision": "server"}

    def reading(self) -> Reading:
        """Ask the server how many tokens it reads at once; the tokenizer is the config's."""
        context = self._adapter().says().get("context")
        # each request has the server generate one token more
        limit = context - 1 if isinstance(context, int) and context > 1 else None
        return replace(Reading.from_weights(self.weights, self.special_tokens), context=limit)

    def scorer(self, reading: Reading, spend: Callable[..., None] = lambda *_, **__: None) -> ServerScorer:
        """Connect to the server."""
        spend("start")
        return ServerScorer(self._adapter(), load_tokenizer(self.weights), reading, spend, self.local)

    def _adapter(self) -> Adapter:
        return ADAPTERS[self.settings.kind](Transport(self.settings))


class ServerScorer:
    """A server, scoring one prompt after another; after each, it is asked for earlier strings again."""

    def __init__(
        self,
        adapter: Adapter,
        tokenizer: PreTrainedTokenizerFast,
        reading: Reading,
        spend: Callable[..., None] = lambda *_, **__: None,
        local: InProcess | None = None,
    ) -> None:
        self.adapter, self.tokenizer, self.reading = adapter, tokenizer, reading
        self.spend, self.local = spend, local
        self.says = adapter.says()
        self.probed: Probed | None = None

    @property
    def findings(self) -> str:
        """What the probe found."""
        facts = {} if self.probed is None else self.probed.facts
        return f"server: {self._words()}; " + "; ".join(f"{check}: {fact}" for check, fact in facts.items())

    def _words(self) -> str:
        settings = self.adapter.transport.settings
        version = self.says.get("version") or "unknown version"
        return f"{settings.words}, {version}, model {self.says.get('model')}"

    @property
    def _allowed(self) -> float:
        """What counts as rounding, in nats per token."""
        return self.adapter.transport.settings.tolerance if self.probed is None else self.probed.allowed

    @property
    def facts(self) -> dict[str, Any]:
        """How scores were computed, for the record."""
        settings = self.adapter.transport.settings
        server = {"kind": settings.kind, "url": settings.url, **self.says}
        return {
            "server": server,
            "probe": {} if self.probed is None else self.probed.facts,
            "tolerance": settings.tolerance,
            "versions": versions(),
        }

    def prove(
        self, strings: PromptStrings, _prompts: int, _longest: int
    ) -> tuple[pd.DataFrame, Mapping[str, Any]]:
        """See ``score``; before it, the server is probed with these strings."""
        spent = Spent()
        local = None if self.local is None else partial(_locally, self.local)
        try:
            tokens = self.reading.read(strings)
            self.probed = probe(self.adapter, self.tokenizer, self.reading, tokens, spent, local)
        finally:
            self.spend("probe", computed=spent.read - spent.cached, **_counts(spent))
        return self.score(strings)

    def score(self, strings: PromptStrings) -> tuple[pd.DataFrame, Mapping[str, Any]]:
        """See ``Scorer.score``. The facts are tokens of all strings, requests, and tokens sent and cached."""
        tokens = self.reading.read(strings)
        connections = self.adapter.transport.settings.connections
        logprobs, spent = ask(self.adapter, tokens, connections, self._allowed)
        if self.probed is not None:
            self.probed.compare(self.adapter, spent)
        counts = {"tokens": sum(map(len, tokens.sequences)), **_counts(spent)}
        self.spend("prompt", computed=spent.read - spent.cached, **counts)
        return scores_rows(strings, tokens, logprobs), counts | {"run": self.facts}

    def check_stored(self, strings: PromptStrings, rows: pd.DataFrame) -> None:
        """Score some strings of an earlier job again; InputError if they have other scores now."""
        tokens = self.reading.read(strings)
        chosen = (
            np.linspace(0, len(tokens.sequences) - 1, min(CHECKED, len(tokens.sequences)))
            .astype(int)
            .tolist()
        )
        sample = Tokens([tokens.sequences[at] for at in chosen], [tokens.starts[at] for at in chosen])
        logprobs, spent = ask(self.adapter, sample, 1, self._allowed)
        self.spend("check", computed=spent.read - spent.cached, **_counts(spent))
        stored = rows["logprob"].to_numpy()[chosen]
        differences = np.abs(logprobs - stored) / np.array(sample.scored)
        if beyond_rounding(differences, self._allowed):
            raise InputError(
                f"{self._words()}: scores of an earlier job differ from those that it gives now by "
                f"{differences.mean():.2g} nats a token ({self._allowed:.2g} is rounding), so it serves "
                "another model now; use the key `revision` of the server with another text to score all "
                "prompts with this one"
            )


def _counts(spent: Spent) -> dict[str, int]:
    return {"requests": spent.requests, "sent": spent.read, "cached": spent.cached}


def _locally(local: InProcess, tokens: Tokens) -> NDArray[np.float64]:
    """Return the log-likelihoods of strings by a model in this process, one string after another."""
    reading, longest = local.reading(), max(map(len, tokens.sequences))
    if reading.context is not None and longest > reading.context:
        raise InputError(
            f"compare_with: {local.weights.source} reads at most {reading.context} tokens, and a string has "
            f"{longest}; expected a model with the context of the server's"
        )
    return score_alone(local.scorer(reading).model, tokens.sequences, tokens.starts).logprobs
