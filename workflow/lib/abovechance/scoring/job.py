"""One scoring job: all prompts of one (model, task, shots)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd
import torch
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from abovechance.errors import InputError
from abovechance.prompts import evaluated_on
from abovechance.provenance import digest, module_digest
from abovechance.scoring import models
from abovechance.scoring.engine import pack_tokens
from abovechance.scoring.paths import choose_path, score
from abovechance.scoring.store import ScoreStore
from abovechance.scoring.tokens import PromptStrings, Tokens, tokenize

# Scores made by another version of these modules are not mixed with new ones.
NUMERICS = ("scoring.trie", "scoring.tokens", "scoring.engine", "scoring.paths", "scoring.models")


@dataclass(frozen=True)
class Cell:
    """One (model, task, shots) to be scored.

    Attributes
    ----------
    name
        What people call it, for messages: model, task and shots.
    task, evaluation, prompts
        The tables ``tasks``, ``evaluation_sets`` and ``prompts``.
    weights
        Where the model lies.
    precision
        A key of ``models.DTYPES``.
    leave_out_too_long
        Whether prompts longer than the model's context are left out; else they are an error.
    """

    name: str
    task: pd.DataFrame
    evaluation: pd.DataFrame
    prompts: pd.DataFrame
    weights: models.Weights
    precision: str
    leave_out_too_long: bool = False

    @cached_property
    def evaluated(self) -> pd.DataFrame:
        """The examples that are evaluated, by their ids."""
        return self.task[self.evaluation["evaluated"].to_numpy()].set_index("example")

    @cached_property
    def keys(self) -> list[str]:
        """(prompts,) a digest of all that is read under each prompt."""
        examples = self.evaluated
        read = digest(*examples.index, *examples["text"], *map(repr, examples["choices"]))
        return [
            digest(read, text, *demonstrations)
            for _, demonstrations, text in self.prompts.itertuples(index=False)
        ]

    @property
    def identity(self) -> dict[str, Any]:
        """What the scores depend on besides what is read."""
        return {
            "revision": self.weights.revision,
            "precision": self.precision,
            "code": module_digest(*NUMERICS),
        }

    def strings(self, prompt: int) -> PromptStrings:
        """Every example that a prompt is evaluated on, with each of its choices."""
        row = self.prompts.iloc[prompt]
        chosen = self.evaluated.loc[evaluated_on(self.evaluation, row["demonstrations"])]
        return PromptStrings.of(row["text"], chosen)


def score_cell(cell: Cell, path: Path, report: Callable[[str], None]) -> None:
    """Score every prompt of a cell that has no score yet, and write the scores file.

    A job that is killed loses the prompt it was in, no more. Prompts that an earlier file of
    the same model, examples and code holds are taken from there.

    Raises
    ------
    InputError
        If a string is longer than the model's context, before the model is loaded.
    """
    store = ScoreStore(path, cell.identity)
    missing = [prompt for prompt, key in enumerate(cell.keys) if key not in store]
    report(f"{cell.name}: {len(missing)} of {len(cell.keys)} prompts to score")
    facts: dict[str, Any] = {}
    if missing:
        tokenizer = models.load_tokenizer(cell.weights)
        too_long = _too_long(cell, tokenizer, missing)
        scorer = Scorer(models.load(cell.weights, cell.precision), tokenizer)
        for done, prompt in enumerate(missing, start=1):
            if prompt in too_long:
                store.add(cell.keys[prompt], None, {"too_long": too_long[prompt]})
            else:
                store.add(cell.keys[prompt], *scorer.score(cell.strings(prompt)))
            report(f"{cell.name}: {done} of {len(missing)} prompts scored")
        facts = scorer.facts
    made_from = {"model": cell.weights.source, "revision": cell.weights.revision, **facts}
    store.finish(cell.keys, {**made_from, "precision": cell.precision})


class Scorer:
    """A model and its tokenizer, scoring one prompt after another on the path that suits it.

    Attributes
    ----------
    limit
        The most tokens that go through the model at once. It is halved when an accelerator
        runs out of memory.
    """

    def __init__(self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerFast) -> None:
        self.model, self.tokenizer = model, tokenizer
        self.path, self.why = choose_path(model)
        self.limit = pack_tokens(model)

    @property
    def facts(self) -> dict[str, Any]:
        """How scores were computed, for the record."""
        return {**models.describe(self.model), "path": self.path, "why": self.why, "pack": self.limit}

    def score(self, strings: PromptStrings) -> tuple[pd.DataFrame, Mapping[str, int]]:
        """The scores of one prompt's strings, and how many tokens that took.

        Returns
        -------
        rows
            (strings,) the columns of the scores table but for ``prompt``.
        counts
            Tokens of all strings, of their trie, through the model, of these padding, and the
            most at once.
        """
        tokens = tokenize(self.tokenizer, strings)
        while True:
            try:
                computed = score(self.model, tokens, self.path, self.limit)
                break
            except torch.OutOfMemoryError:
                if self.limit <= 16:
                    raise
                self.limit //= 2
                torch.cuda.empty_cache()
        counts = {
            "tokens": sum(map(len, tokens.sequences)),
            "trie": len(tokens.trie),
            "computed": computed.tokens,
            "padding": computed.padding,
            "pack": self.limit,
        }
        return _rows(strings, tokens, computed.logprobs), counts


def _rows(strings: PromptStrings, tokens: Tokens, logprobs: Iterable[float]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "example": strings.examples,
            "choice": strings.numbers,
            "logprob": logprobs,
            "tokens": tokens.scored,
            "characters": [len(choice) for choice in strings.choices],
            "bytes": [len(choice.encode()) for choice in strings.choices],
        }
    )


def _too_long(cell: Cell, tokenizer: PreTrainedTokenizerFast, prompts: Iterable[int]) -> dict[int, int]:
    """{prompt: its longest string in tokens} of those that do not fit the model's context."""
    context = models.context_length(cell.weights)
    if context is None:
        return {}
    found = {}
    for prompt in prompts:
        strings = cell.strings(prompt)
        # A token is at least a byte, but for a few special ones, so most prompts need no count.
        if max(len(text.encode()) for text in strings.texts) + 8 <= context:
            continue
        longest = max(map(len, tokenize(tokenizer, strings).sequences))
        if longest > context:
            found[prompt] = longest
    if found and not cell.leave_out_too_long:
        prompt, longest = max(found.items(), key=lambda item: item[1])
        raise InputError(
            f"{cell.name}: {len(found)} of {len(cell.prompts)} prompts are longer than the model's "
            f"context of {context} tokens (prompt {prompt} has {longest}); right would be fewer "
            "shots, another model, or the key `too_long: leave_out` in the config"
        )
    return found
