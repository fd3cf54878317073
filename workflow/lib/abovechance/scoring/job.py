"""One scoring job: all prompts of one (model, task, shots)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from abovechance.errors import InputError
from abovechance.prompts import evaluated_on
from abovechance.provenance import digest, module_digest
from abovechance.scoring import models
from abovechance.scoring.engine import PACK_TOKENS, all_before, own_ancestors, score_plainly, score_tree
from abovechance.scoring.store import ScoreStore
from abovechance.scoring.trie import build_trie

# Scores made by another version of these modules are not mixed with new ones.
NUMERICS = ("scoring.trie", "scoring.engine", "scoring.models", "scoring.job")


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

    def strings(self, prompt: int) -> PromptStrings:
        """The strings of one prompt."""
        row = self.prompts.iloc[prompt]
        examples = evaluated_on(self.evaluation, row["demonstrations"])
        chosen = self.task.set_index("example").loc[examples]
        rows = [
            (example, number, row["text"] + text, f" {choice}")
            for example, text, choices in zip(examples, chosen["text"], chosen["choices"], strict=True)
            for number, choice in enumerate(choices)
        ]
        examples, numbers, contexts, choices = zip(*rows, strict=True)
        return PromptStrings(examples, numbers, contexts, choices)


@dataclass(frozen=True)
class PromptStrings:
    """Every (example, choice) of one prompt; all fields are of equal length.

    Attributes
    ----------
    examples, numbers
        Which example and which of its choices.
    contexts, choices
        What the model reads, and the text whose likelihood is wanted, with its leading blank.
    """

    examples: tuple[str, ...]
    numbers: tuple[int, ...]
    contexts: tuple[str, ...]
    choices: tuple[str, ...]

    @property
    def key(self) -> str:
        """A digest of all that is read."""
        return digest(*self.examples, *self.contexts, *self.choices)


@dataclass(frozen=True)
class Tokens:
    """The tokens of a prompt's strings, and where each choice begins: see ``build_trie``."""

    sequences: list[list[int]]
    starts: list[int]

    @property
    def longest(self) -> int:
        return max(map(len, self.sequences))


def tokenize(tokenizer: PreTrainedTokenizerFast, strings: PromptStrings) -> Tokens:
    """Tokenize whole strings; a choice's tokens are those that end after the choice's start.

    A token across that border counts as the choice's. Special tokens that a tokenizer puts
    before the string are read; one that it puts behind it is not.
    """
    texts = [context + choice for context, choice in zip(strings.contexts, strings.choices, strict=True)]
    encoded = tokenizer(texts, return_offsets_mapping=True, return_attention_mask=False, verbose=False)
    sequences, starts = [], []
    for tokens, spans, context in zip(
        encoded["input_ids"], encoded["offset_mapping"], strings.contexts, strict=True
    ):
        ends = np.array([end for _, end in spans])
        covered = np.flatnonzero(ends > len(context))
        sequences.append(tokens[: covered[-1] + 1])
        starts.append(int(covered[0]))
    return Tokens(sequences, starts)


def score_cell(cell: Cell, path: Path, report: Callable[[str], None]) -> None:
    """Score every prompt of a cell that has no score yet, and write the scores file.

    A job that is killed loses the prompt it was in, no more. Prompts that an earlier file of
    the same model, examples and code holds are taken from there.

    Raises
    ------
    InputError
        If a string is longer than the model's context, before the model is loaded.
    """
    strings = [cell.strings(prompt) for prompt in range(len(cell.prompts))]
    keys = [prompt.key for prompt in strings]
    store = ScoreStore(path, identity(cell))
    missing = [prompt for prompt, key in enumerate(keys) if key not in store]
    report(f"{cell.name}: {len(missing)} of {len(keys)} prompts to score")
    facts: dict[str, Any] = {}
    if missing:
        tokenizer = models.load_tokenizer(cell.weights)
        too_long = _too_long(cell, tokenizer, [(prompt, strings[prompt]) for prompt in missing])
        model = models.load(cell.weights, cell.precision)
        path_taken, reason = choose_path(model)
        facts = {**models.describe(model), "path": path_taken, "why": reason, "pack": PACK_TOKENS}
        for done, prompt in enumerate(missing, start=1):
            if prompt in too_long:
                store.add(keys[prompt], None, {"too_long": too_long[prompt]})
            else:
                rows, counts = score_prompt(model, tokenizer, strings[prompt], path_taken)
                store.add(keys[prompt], rows, counts)
            report(f"{cell.name}: {done} of {len(missing)} prompts scored")
    made_from = {"model": cell.weights.source, "revision": cell.weights.revision, **facts}
    store.finish(keys, {**made_from, "precision": cell.precision})


def identity(cell: Cell) -> dict[str, Any]:
    """What the scores of a cell depend on besides its prompts."""
    return {
        "revision": cell.weights.revision,
        "precision": cell.precision,
        "code": module_digest(*NUMERICS),
    }


def score_prompt(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerFast, strings: PromptStrings, path: str
) -> tuple[pd.DataFrame, dict[str, int]]:
    """The scores of one prompt's strings, and how many tokens that took.

    Returns
    -------
    rows
        (strings,) the columns of the scores table but for ``prompt``.
    counts
        Tokens of all strings, of their trie, through the model, and of these padding.
    """
    tokens = tokenize(tokenizer, strings)
    trie = build_trie(tokens.sequences, tokens.starts)
    if path == "tree":
        computed = score_tree(model, trie)
    else:
        computed = score_plainly(model, tokens.sequences, tokens.starts)
    lengths = [len(sequence) for sequence in tokens.sequences]
    rows = pd.DataFrame(
        {
            "example": strings.examples,
            "choice": strings.numbers,
            "logprob": computed.logprobs,
            "tokens": [n - start for n, start in zip(lengths, tokens.starts, strict=True)],
            "characters": [len(choice) for choice in strings.choices],
            "bytes": [len(choice.encode()) for choice in strings.choices],
        }
    )
    counts = {
        "tokens": sum(lengths),
        "trie": len(trie),
        "computed": computed.tokens,
        "padding": computed.padding,
    }
    return rows, counts


def _too_long(
    cell: Cell, tokenizer: PreTrainedTokenizerFast, prompts: Sequence[tuple[int, PromptStrings]]
) -> dict[int, int]:
    """{prompt: its longest string in tokens} of those that do not fit the model's context."""
    context = models.context_length(cell.weights)
    if context is None:
        return {}
    found = {}
    for prompt, strings in prompts:
        texts = [c + choice for c, choice in zip(strings.contexts, strings.choices, strict=True)]
        # A token is at least a byte, but for the special ones, so most prompts need no count.
        if max(len(text.encode()) for text in texts) + 8 <= context:
            continue
        longest = tokenize(tokenizer, strings).longest
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


def choose_path(model: PreTrainedModel) -> tuple[str, str]:
    """How the model is scored, ``tree`` or ``plain``, and why.

    A model's config says whether its layers attend to everything before them; a small trie,
    scored in both ways, shows whether the model really takes a tree mask.
    """
    config = model.config.get_text_config()
    layers = set(getattr(config, "layer_types", None) or ["full_attention"])
    if layers != {"full_attention"} or getattr(config, "sliding_window", None):
        return (
            "plain",
            f"its layers are {sorted(layers)}, with window {getattr(config, 'sliding_window', None)}",
        )
    if getattr(config, "alibi", False) or config.model_type in ("bloom", "mpt"):
        return "plain", "its attention is biased by distance in the row (ALiBi)"
    right, wrong = tree_errors(model)
    told = f"its scores under a tree mask differ by {right:.2g} nats a token, without one by {wrong:.2g}"
    return ("tree" if right < wrong / 4 else "plain"), told


def tree_errors(model: PreTrainedModel) -> tuple[float, float]:
    """How far scores of a small trie under a mask are from plain ones, in nats a token.

    Returns
    -------
    right, wrong
        Mean absolute differences, under the tree mask and under a mask that shows each token
        all before it. A model that ignores the mask has them equal; one that takes it has the
        first at rounding error, whatever its precision.
    """
    generator = np.random.default_rng(0)
    vocabulary = model.config.get_text_config().vocab_size

    def some(length: int) -> list[int]:
        return generator.integers(vocabulary // 10, vocabulary, length).tolist()

    trunk, questions, ends = some(4), [some(3), some(3)], [some(2), some(2)]
    sequences = [trunk + question + end for question in questions for end in ends]
    starts = [len(trunk) + 3] * len(sequences)
    trie = build_trie(sequences, starts)
    plain = score_plainly(model, sequences, starts).logprobs
    # so small a limit leaves the trunk in the cache and makes one pack of the rest
    under = [score_tree(model, trie, limit=10, sees=sees) for sees in (own_ancestors, all_before)]
    right, wrong = (float(np.mean(np.abs(found.logprobs - plain))) / 2 for found in under)
    return right, wrong
