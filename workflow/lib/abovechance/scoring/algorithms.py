"""How a model can be scored, which is tried and not believed.

``tree``
    Every shared token once, in packs under a tree mask. For models whose attention takes a
    mask and whose positions are told, sliding windows included.
``batched``
    The demonstrations once; a row for each choice. For models that look back at them through
    a cache but by the places of a row, such as those with ALiBi.
``plain``
    A whole row for each choice. For all others.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable

import numpy as np
import torch
from transformers import PreTrainedModel

from abovechance.scoring.engine import (
    PACK_TOKENS,
    Computed,
    Pack,
    all_before,
    attention_windows,
    own_ancestors,
    score_rows,
    score_tree,
)
from abovechance.scoring.tokens import Tokens
from abovechance.scoring.trie import TokenTrie


def score(model: PreTrainedModel, tokens: Tokens, path: str, limit: int = PACK_TOKENS) -> Computed:
    """Score the strings of one prompt on the path given: ``tree``, ``batched`` or ``plain``."""
    if path == "tree":
        return score_tree(model, tokens.trie, limit)
    return score_rows(model, tokens.sequences, tokens.starts, limit, share=path == "batched")


def choose_path(model: PreTrainedModel) -> tuple[str, str]:
    """The fastest path that gives a model's plain scores, and why it is that one.

    The model's config says whether all its layers attend to what is before them; a few short
    strings, scored on each path, show whether the model does what its config says.
    """
    kinds = set(getattr(model.config.get_text_config(), "layer_types", None) or [])
    if others := kinds - set(attention_windows(model)):
        return "plain", f"it has layers of the kinds {sorted(others)}"
    tokens = _some_strings(model)
    plain = score(model, tokens, "plain").logprobs
    rounding = 1e-3 if model.dtype == torch.float32 else 0.15
    told = "it takes no positions"
    if _takes_positions(model):
        right, wrong = (_distance(model, tokens, plain, sees) for sees in (own_ancestors, all_before))
        told = f"scores under a tree mask differ by {right:.2g} nats a token, without one by {wrong:.2g}"
        # A model that ignores the mask has both equal; one that takes it has the first at
        # rounding error.
        if right < min(wrong / 4, rounding):
            return "tree", told
    batched = score(model, tokens, "batched").logprobs
    difference = float(np.mean(np.abs(batched - plain))) / 2
    told += f"; with the demonstrations in the cache by {difference:.2g}"
    return ("batched" if difference < rounding else "plain"), told


def _takes_positions(model: PreTrainedModel) -> bool:
    """Whether positions are what the model is told, and not the places in its row, as with ALiBi.

    Short strings cannot show this in 16 bits: there, ALiBi's error in a short row is as small
    as rounding.
    """
    config = model.config.get_text_config()
    settings = getattr(config, "attn_config", None)
    alibi = getattr(config, "alibi", False) or getattr(settings, "alibi", False)
    return "position_ids" in inspect.signature(model.forward).parameters and not alibi


def _distance(
    model: PreTrainedModel,
    tokens: Tokens,
    plain: np.ndarray,
    sees: Callable[[TokenTrie, Pack], torch.Tensor],
) -> float:
    """Mean absolute difference of tree and plain scores, in nats a token; nan where it fails."""
    try:
        # so small a limit leaves the trunk in the cache and makes one pack of the rest
        found = score_tree(model, tokens.trie, limit=10, sees=sees).logprobs
    except (RuntimeError, ValueError, TypeError):
        return float("nan")  # the model refuses such a mask, so does not take this path
    return float(np.mean(np.abs(found - plain))) / 2


def _some_strings(model: PreTrainedModel) -> Tokens:
    """Two questions with two choices of two tokens each, behind the same four tokens."""
    generator = np.random.default_rng(0)
    vocabulary = model.config.get_text_config().vocab_size

    def some(length: int) -> list[int]:
        drawn: list[int] = generator.integers(vocabulary // 10, vocabulary, length).tolist()
        return drawn

    trunk, questions, ends = some(4), [some(3), some(3)], [some(2), some(2)]
    sequences = [trunk + question + end for question in questions for end in ends]
    return Tokens(sequences, [len(trunk) + 3] * len(sequences))
