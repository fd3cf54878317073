"""Log-likelihoods of all choices of one prompt, every shared token computed once.

The nodes of the prompt's trie are computed in packs (``packs``) under a mask by which each sees its own
ancestors only (``masks``). Positions are a token's depth in the trie. Logits are computed only before
choice tokens. The last token of a string predicts nothing, so is not computed.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import DynamicCache, DynamicLayer, PreTrainedModel

from abovechance.core.errors import InputError
from abovechance.scoring.attention import in_parts
from abovechance.scoring.masks import own_ancestors, tree_masks
from abovechance.scoring.packs import Pack, cut_packs
from abovechance.scoring.trie import Ints, TokenTrie, common_prefix

PACK_TOKENS = 256


def pack_tokens(model: PreTrainedModel) -> int:
    """Return the most tokens of a pack, for the model and where it runs.

    A processor is busy with few tokens, and the smaller a pack, the less of its mask is empty.
    An accelerator wants more, as many as its memory (not what of it happens to be free, so
    that a study's jobs agree) holds beside the weights: a token costs a row of logits in
    float32, twice, and the hidden states of a few layers at a time.
    """
    if model.device.type != "cuda":
        return PACK_TOKENS
    config = model.config.get_text_config()
    memory = torch.cuda.get_device_properties(model.device).total_memory
    token = 8 * config.vocab_size + 64 * config.hidden_size
    free = memory - model.get_memory_footprint()
    fitting = max(free, memory // 16) // 4 // token
    return int(min(4096, max(256, 2 ** (int(fitting).bit_length() - 1))))


@dataclass(frozen=True)
class Computed:
    """The result of a pass over a trie.

    Attributes
    ----------
    logprobs
        (strings,) float64, the summed log-likelihood of each string's choice tokens.
    tokens
        The tokens that went through the model.
    """

    logprobs: NDArray[np.float64]
    tokens: int


@torch.inference_mode()
def score_tree(
    model: PreTrainedModel,
    trie: TokenTrie,
    limit: int = PACK_TOKENS,
    sees: Callable[[TokenTrie, Pack, torch.device], torch.Tensor] = own_ancestors,
) -> Computed:
    """Score every string of a trie in packs under a tree attention mask.

    The model must take an additive four-dimensional attention mask with explicit positions;
    ``algorithms`` tries that.

    Parameters
    ----------
    limit
        The most tokens in a pack.
    sees
        Which of a pack's columns each of its tokens sees, (pack, path + pack) bool; its own
        ancestors unless told otherwise.
    """
    logprobs = np.zeros(trie.strings)
    # Without a config, every layer keeps all tokens; the masks alone say which are seen.
    cache = DynamicCache()
    cached, computed = _NONE, 0
    by_parent = _group_scored(trie)
    with in_parts(model):
        for pack in cut_packs(trie, limit):
            _keep(cache, np.searchsorted(cached, pack.path))
            scored = np.concatenate([by_parent.get(node, _NONE) for node in pack.nodes.tolist()])
            rows, row_of_scored = np.unique(trie.parents[trie.scored_nodes[scored]], return_inverse=True)
            # with no row to read a single one is computed and dropped
            kept_rows = np.searchsorted(pack.nodes, rows) if len(rows) else np.array([len(pack.nodes) - 1])
            logits = _logits(
                model,
                kept_rows,
                input_ids=_tensor(trie.tokens[pack.nodes], model)[None],
                attention_mask=tree_masks(model, trie, pack, sees(trie, pack, model.device)),
                position_ids=_tensor(trie.depths[pack.nodes], model)[None],
                past_key_values=cache,
            )[0]
            cached = pack.columns
            computed += len(pack.nodes)
            if len(rows):
                branch_logprobs = _token_logprobs(
                    logits, row_of_scored, trie.tokens[trie.scored_nodes[scored]]
                )
                np.add.at(logprobs, trie.scored_strings[scored], branch_logprobs)
    return Computed(logprobs, tokens=computed)


@torch.inference_mode()
def score_rows(
    model: PreTrainedModel,
    sequences: Sequence[Sequence[int]],
    starts: Sequence[int],
    limit: int = PACK_TOKENS,
    share: bool = True,
) -> Computed:
    """Score every string in a row of its own, rows of the same length together, so that nothing is padded.

    Models differ in what padding does: to a sparse choice of keys, to experts, to a state.

    Parameters
    ----------
    limit
        The most tokens in a batch of rows; a longer row is a batch by itself.
    share
        Whether what all strings begin with is computed once and kept in the cache. Without,
        this is the plain way that nearly any model takes.
    """
    logprobs = np.zeros(len(sequences))
    cache, trunk = _cache_trunk(model, sequences, starts) if share else (None, 0)
    computed = trunk
    for chosen in _batches(sequences, trunk, limit):
        tokens = np.array([sequences[index] for index in chosen], dtype=np.int64)
        first = min(starts[index] for index in chosen) - 1
        branch_cache = copy.deepcopy(cache)
        if branch_cache is not None:
            branch_cache.batch_repeat_interleave(len(chosen))
        logits = _logits(
            model,
            np.arange(first - trunk, tokens.shape[1] - trunk),
            input_ids=_tensor(tokens[:, trunk:], model),
            past_key_values=branch_cache,
            use_cache=branch_cache is not None,
        )
        for row, index in enumerate(chosen):
            scored = np.arange(starts[index], tokens.shape[1])
            logprobs[index] = _token_logprobs(logits[row], scored - 1 - first, tokens[row, scored]).sum()
        computed += tokens[:, trunk:].size
    return Computed(logprobs, tokens=computed)


def _batches(sequences: Sequence[Sequence[int]], trunk: int, limit: int) -> Iterator[list[int]]:
    """The strings of each batch, all of one length; the longest first, to see at once if memory suffices."""
    lengths = np.array([len(sequence) for sequence in sequences])
    for length in np.unique(lengths)[::-1].tolist():
        equal, count = np.flatnonzero(lengths == length).tolist(), max(1, limit // (length - trunk))
        for begin in range(0, len(equal), count):
            yield equal[begin : begin + count]


@torch.inference_mode()
def score_alone(
    model: PreTrainedModel,
    sequences: Sequence[Sequence[int]],
    starts: Sequence[int],
) -> Computed:
    """Score each string by itself: no cache, no mask, no batch, all its logits. This is the definition.

    All other ways are held against it. A model whose positions change with what it has read comes back to
    its beginning before each string.
    """
    logprobs = np.zeros(len(sequences))
    computed = 0
    changing = changing_positions(model) is not None
    for index, (sequence, start) in enumerate(zip(sequences, starts, strict=True)):
        if changing:
            _forward(model, input_ids=_tensor(np.array([sequence[:1]]), model), use_cache=False)
        logits = _forward(model, input_ids=_tensor(np.array([sequence]), model), use_cache=False)
        if logits.shape[:2] != (1, len(sequence)):
            raise InputError(
                f"a model of the type '{model.config.model_type}' gives logits of the shape "
                f"{tuple(logits.shape)} for {len(sequence)} tokens; expected a row for each token"
            )
        scored = np.arange(start, len(sequence))
        logprobs[index] = _token_logprobs(logits[0], scored - 1, np.array(sequence)[scored]).sum()
        computed += len(sequence)
    return Computed(logprobs, tokens=computed)


def changing_positions(model: PreTrainedModel) -> int | None:
    """From how many tokens on a model's positions depend on how long the text is; None where they never do.

    Rotary positions that are scaled by the length (dynamic and long scaling) change for all tokens of a
    text when it becomes longer than the original context. In a batch or a cache they are those of its
    longest text, and dynamic ones stay so for the texts after it.
    """
    positions: list[int] = []
    config = model.config.get_text_config()

    def look(settings: object) -> None:
        if not isinstance(settings, Mapping):
            return
        kind = str(settings.get("rope_type") or settings.get("type") or "")
        if kind in ("dynamic", "longrope", "su"):
            original = settings.get("original_max_position_embeddings")
            whole = getattr(config, "original_max_position_embeddings", None)
            positions.append(int(original or whole or getattr(config, "max_position_embeddings", None) or 0))
        for inner in settings.values():
            look(inner)

    look(getattr(config, "rope_parameters", None))
    look(getattr(config, "rope_scaling", None))
    return min(positions) if positions else None


def _logits(model: PreTrainedModel, positions: Ints, **inputs: Any) -> torch.Tensor:
    """(rows, kept, vocabulary) logits at these places of each row.

    Models may not know that they can be asked for some, or not listen and give the logits of all places.
    """
    length = inputs["input_ids"].shape[1]
    if "logits_to_keep" in _parameters(type(model)):
        # not as a number of last rows: torch multiplies a slice of rows in a way that copies the whole matrix
        inputs["logits_to_keep"] = _tensor(positions, model)
    logits = _forward(model, **inputs)
    if logits.shape[1] == len(positions):
        return logits
    if logits.shape[1] != length:
        raise ValueError(f"{logits.shape[1]} rows of logits were given for {length} tokens")
    return logits[:, _tensor(positions, model)]


def _forward(model: PreTrainedModel, **inputs: Any) -> torch.Tensor:
    """(rows, tokens, vocabulary) logits; what the model does not take is left out where it means nothing."""
    parameters = _parameters(type(model))
    if "cache" in parameters and "past_key_values" not in parameters:  # from transformers 5.24
        inputs["cache"] = inputs.pop("past_key_values", None)
    for name in ("use_cache", "past_key_values", "cache"):
        if not inputs.get(name) and name not in parameters:
            inputs.pop(name, None)
    return model(**inputs).logits


def _parameters(kind: type[PreTrainedModel]) -> frozenset[str]:
    """The names of what a model's forward pass takes."""
    if kind not in _PARAMETERS:
        _PARAMETERS[kind] = frozenset(inspect.signature(kind.forward).parameters)
    return _PARAMETERS[kind]


_PARAMETERS: dict[type[PreTrainedModel], frozenset[str]] = {}


def trunk_length(sequences: Sequence[Sequence[int]], starts: Sequence[int]) -> int:
    """Return how many tokens all strings begin with, up to before the first choice."""
    return min([min(starts) - 1, *(common_prefix(sequences[0], sequence) for sequence in sequences)])


def _cache_trunk(
    model: PreTrainedModel, sequences: Sequence[Sequence[int]], starts: Sequence[int]
) -> tuple[DynamicCache | None, int]:
    """Return the cache of what all strings begin with, up to before the first choice, and its length."""
    trunk = trunk_length(sequences, starts)
    if trunk == 0:
        return None, 0
    cache = DynamicCache(config=model.config)
    tokens = _tensor(np.array([sequences[0][:trunk]], dtype=np.int64), model)
    _logits(model, np.array([trunk - 1]), input_ids=tokens, past_key_values=cache, use_cache=True)
    return cache, trunk


_NONE = np.array([], dtype=np.int64)


def _group_scored(trie: TokenTrie) -> dict[int, Ints]:
    """{node: which of the scored tokens follow it, as indices into ``trie.scored_nodes``}."""
    parents = trie.parents[trie.scored_nodes]
    order = np.argsort(parents, kind="stable")
    nodes, begins = np.unique(parents[order], return_index=True)
    return dict(zip(nodes.tolist(), np.split(order, begins[1:]), strict=True))


def _keep(cache: DynamicCache, positions: Ints) -> None:
    """Keep these of the cached tokens and drop the others."""
    for layer in cache.layers:
        if isinstance(layer, DynamicLayer) and layer.keys is not None and layer.values is not None:
            at = torch.from_numpy(positions).to(layer.keys.device)
            layer.keys, layer.values = layer.keys.index_select(-2, at), layer.values.index_select(-2, at)


def _token_logprobs(logits: torch.Tensor, rows: Ints, tokens: Ints) -> NDArray[np.float64]:
    """(tokens,) log-likelihood of each token under its row of logits, from float32 at least."""
    used, row_of_token = np.unique(rows, return_inverse=True)
    wide = logits[torch.from_numpy(used).to(logits.device)].float()
    index = torch.from_numpy(row_of_token).to(logits.device)
    chosen = wide[index, torch.from_numpy(tokens).to(logits.device)]
    return (chosen - wide.logsumexp(dim=-1)[index]).double().cpu().numpy()


def _tensor(values: NDArray[np.int64], model: PreTrainedModel) -> torch.Tensor:
    return torch.from_numpy(np.ascontiguousarray(values)).to(model.device)
