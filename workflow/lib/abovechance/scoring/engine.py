"""Log-likelihoods of all choices of one prompt, every shared token computed once.

The nodes of the prompt's trie are computed in packs. A pack is a set of nodes
whose common ancestors are in the key-value cache already; inside the pack, a
node sees its own ancestors only. For a cached trunk ``t`` and the questions
``q`` and ``r``, each with inner choice tokens, the mask of a pack is

           t t t  q q a b  r r a
        q  x x x  x . . .  . . .
        q  x x x  x x . .  . . .
        a  x x x  x x x .  . . .
        b  x x x  x x . x  . . .
        r  x x x  . . . .  x . .
        r  x x x  . . . .  x x .
        a  x x x  . . . .  x x x

Positions are a token's depth in the trie. Logits are computed only before
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
from transformers import DynamicCache, PreTrainedModel

from abovechance.core.errors import InputError
from abovechance.scoring.trie import Ints, TokenTrie, common_prefix

PACK_TOKENS = 256


def pack_tokens(model: PreTrainedModel) -> int:
    """The most tokens of a pack, for the model and where it runs.

    A processor is busy with few tokens, and the smaller a pack, the less of its mask is empty.
    An accelerator wants more, as many as its memory (not what of it happens to be free, so
    that a study's jobs agree) holds beside the weights: a token costs a row of logits in
    float32, twice, and the hidden states of a few layers at a time.
    """
    if model.device.type == "cpu":
        return PACK_TOKENS
    config = model.config.get_text_config()
    memory = torch.cuda.get_device_properties(model.device).total_memory
    token = 8 * config.vocab_size + 64 * config.hidden_size
    free = memory - model.get_memory_footprint()
    fitting = max(free, memory // 16) // 4 // token
    return int(min(4096, max(256, 2 ** (int(fitting).bit_length() - 1))))


@dataclass(frozen=True)
class Pack:
    """Nodes that are computed together.

    Attributes
    ----------
    nodes
        (pack,) nodes in depth-first order.
    past
        How many cached tokens the nodes see: their common ancestors, no more.
    stays
        Whether the nodes' keys and values stay in the cache for later packs.
    """

    nodes: Ints
    past: int
    stays: bool


@dataclass(frozen=True)
class Computed:
    """What a pass over a trie gave.

    Attributes
    ----------
    logprobs
        (strings,) float64, the summed log-likelihood of each string's choice tokens.
    tokens
        The tokens that went through the model, padding included.
    padding
        How many of these were padding.
    """

    logprobs: NDArray[np.float64]
    tokens: int
    padding: int


def plan_packs(trie: TokenTrie, limit: int = PACK_TOKENS) -> list[Pack]:
    """Cut the trie's inner nodes into packs of at most ``limit`` nodes, each node in one pack.

    Siblings share a pack while they fit. A subtree that does not fit leaves its unbranched
    beginning in the cache, and its branches are cut in the same way.
    """
    inner = np.flatnonzero(trie.inner)
    children: dict[int, list[int]] = {}
    for node in inner.tolist():
        children.setdefault(int(trie.parents[node]), []).append(node)
    return list(_plan(trie, inner, children, children.get(-1, []), past=0, limit=limit))


def _plan(
    trie: TokenTrie, inner: Ints, children: dict[int, list[int]], siblings: list[int], past: int, limit: int
) -> Iterator[Pack]:
    first, last = np.searchsorted(inner, siblings), np.searchsorted(inner, trie.ends[siblings])
    begin = None  # where in `inner` the pack that is being filled begins
    for start, end, node in zip(first.tolist(), last.tolist(), siblings, strict=True):
        if begin is not None and end - begin > limit:
            yield Pack(inner[begin:start], past, stays=False)
            begin = None
        if end - start <= limit:
            begin = start if begin is None else begin
            continue
        chain = [node]
        while len(branches := children.get(chain[-1], [])) == 1:
            chain.append(branches[0])
        for cut in range(0, len(chain), limit):
            yield Pack(np.array(chain[cut : cut + limit]), past + cut, stays=True)
        yield from _plan(trie, inner, children, branches, past + len(chain), limit)
    if begin is not None:
        yield Pack(inner[begin : last[-1]], past, stays=False)


@torch.inference_mode()
def score_tree(
    model: PreTrainedModel,
    trie: TokenTrie,
    limit: int = PACK_TOKENS,
    sees: Callable[[TokenTrie, Pack], torch.Tensor] | None = None,
) -> Computed:
    """Score every string of a trie in packs under a tree attention mask.

    The model must take an additive four-dimensional attention mask with explicit positions;
    ``algorithms`` tries that.

    Parameters
    ----------
    limit
        The most tokens in a pack.
    sees
        Which tokens of a pack each of its tokens sees, (pack, pack) bool; its own ancestors
        unless told otherwise.
    """
    logprobs = np.zeros(trie.strings)
    # Without a config, every layer keeps all tokens; the masks alone say which are seen.
    cache = DynamicCache()
    cached = computed = 0
    by_parent = _group_scored(trie)
    for pack in plan_packs(trie, limit):
        _shrink(cache, cached, pack.past)
        scored = np.concatenate([by_parent.get(node, _NONE) for node in pack.nodes.tolist()])
        rows, row_of_scored = np.unique(trie.parents[trie.scored_nodes[scored]], return_inverse=True)
        # with no row to read a single one is computed and dropped
        kept = np.searchsorted(pack.nodes, rows) if len(rows) else np.array([len(pack.nodes) - 1])
        logits = _logits(
            model,
            kept,
            input_ids=_tensor(trie.tokens[pack.nodes], model)[None],
            attention_mask=_masks(model, trie, pack, (sees or own_ancestors)(trie, pack)),
            position_ids=_tensor(trie.depths[pack.nodes], model)[None],
            past_key_values=cache,
        )[0]
        cached = pack.past + len(pack.nodes)
        computed += len(pack.nodes)
        if len(rows):
            found = _token_logprobs(logits, row_of_scored, trie.tokens[trie.scored_nodes[scored]])
            np.add.at(logprobs, trie.scored_strings[scored], found)
    return Computed(logprobs, tokens=computed, padding=0)


@torch.inference_mode()
def score_rows(
    model: PreTrainedModel,
    sequences: Sequence[Sequence[int]],
    starts: Sequence[int],
    limit: int = PACK_TOKENS,
    share: bool = True,
) -> Computed:
    """Score every string in a row of its own, padded at its end, rows of like length together.

    Parameters
    ----------
    limit
        The most tokens in a batch of rows, padding included; a longer row is a batch by itself.
    share
        Whether what all strings begin with is computed once and kept in the cache. Without,
        this is the plain way that nearly any model takes.
    """
    logprobs = np.zeros(len(sequences))
    cache, trunk = _cache_trunk(model, sequences, starts) if share else (None, 0)
    computed, padding = trunk, 0
    order = sorted(range(len(sequences)), key=lambda index: len(sequences[index]))
    while order:
        # the longest first, so that running out of memory shows at once
        length = len(sequences[order[-1]]) - trunk
        count = max(1, limit // length)
        chosen, order = order[-count:], order[:-count]
        first = min(starts[index] for index in chosen) - 1 - trunk
        tokens, mask = _padded([sequences[index] for index in chosen])
        own = copy.deepcopy(cache)
        if own is not None:
            own.batch_repeat_interleave(len(chosen))
        logits = _logits(
            model,
            np.arange(first, length),
            input_ids=_tensor(tokens[:, trunk:], model),
            attention_mask=_tensor(mask, model),
            past_key_values=own,
            use_cache=own is not None,
        )
        for row, index in enumerate(chosen):
            scored = np.arange(starts[index], len(sequences[index]))
            found = _token_logprobs(logits[row], scored - 1 - trunk - first, tokens[row, scored])
            logprobs[index] = found.sum()
        computed += tokens[:, trunk:].size
        padding += int(mask.size - mask.sum())
    return Computed(logprobs, tokens=computed, padding=padding)


@torch.inference_mode()
def score_alone(
    model: PreTrainedModel,
    sequences: Sequence[Sequence[int]],
    starts: Sequence[int],
) -> Computed:
    """Score each string by itself: no cache, no mask, no padding, all its logits. This is the definition.

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
                f"{tuple(logits.shape)} for {len(sequence)} tokens; right would be a row for each token"
            )
        scored = np.arange(start, len(sequence))
        logprobs[index] = _token_logprobs(logits[0], scored - 1, np.array(sequence)[scored]).sum()
        computed += len(sequence)
    return Computed(logprobs, tokens=computed, padding=0)


def changing_positions(model: PreTrainedModel) -> int | None:
    """From how many tokens on a model's positions depend on how long the text is; None where they never do.

    Rotary positions that are scaled by the length (dynamic and long scaling) change for all tokens of a
    text when it becomes longer than the original context. In a batch or a cache they are those of its
    longest text, and dynamic ones stay so for the texts after it.
    """
    found: list[int] = []
    config = model.config.get_text_config()

    def look(settings: object) -> None:
        if not isinstance(settings, Mapping):
            return
        kind = str(settings.get("rope_type") or settings.get("type") or "")
        if kind in ("dynamic", "longrope", "su"):
            own = settings.get("original_max_position_embeddings")
            whole = getattr(config, "original_max_position_embeddings", None)
            found.append(int(own or whole or getattr(config, "max_position_embeddings", None) or 0))
        for inner in settings.values():
            look(inner)

    look(getattr(config, "rope_parameters", None))
    look(getattr(config, "rope_scaling", None))
    return min(found) if found else None


def _logits(model: PreTrainedModel, kept: Ints, **inputs: Any) -> torch.Tensor:
    """(rows, kept, vocabulary) logits at these places of each row.

    Models may not know that they can be asked for some, or not listen and give the logits of all places.
    """
    length = inputs["input_ids"].shape[1]
    if "logits_to_keep" in _parameters(type(model)):
        # the last ones by their number, which more models understand
        last = kept[0] == length - len(kept)
        inputs["logits_to_keep"] = len(kept) if last else _tensor(kept, model)
    logits = _forward(model, **inputs)
    if logits.shape[1] == len(kept):
        return logits
    if logits.shape[1] != length:
        raise ValueError(f"{logits.shape[1]} rows of logits were given for {length} tokens")
    return logits[:, _tensor(kept, model)]


def _forward(model: PreTrainedModel, **inputs: Any) -> torch.Tensor:
    """(rows, tokens, vocabulary) logits; what the model does not take is left out where it means nothing."""
    for name in ("use_cache", "past_key_values"):
        if not inputs.get(name) and name not in _parameters(type(model)):
            inputs.pop(name, None)
    logits: torch.Tensor = model(**inputs).logits
    return logits


def _parameters(kind: type[PreTrainedModel]) -> frozenset[str]:
    """The names of what a model's forward pass takes."""
    if kind not in _PARAMETERS:
        _PARAMETERS[kind] = frozenset(inspect.signature(kind.forward).parameters)
    return _PARAMETERS[kind]


_PARAMETERS: dict[type[PreTrainedModel], frozenset[str]] = {}


def _cache_trunk(
    model: PreTrainedModel, sequences: Sequence[Sequence[int]], starts: Sequence[int]
) -> tuple[DynamicCache | None, int]:
    """The cache of what all strings begin with, up to before the first choice, and its length."""
    trunk = min(starts) - 1
    for sequence in sequences:
        trunk = min(trunk, common_prefix(sequences[0], sequence))
    if trunk == 0:
        return None, 0
    cache = DynamicCache(config=model.config)
    tokens = _tensor(np.array([sequences[0][:trunk]], dtype=np.int64), model)
    _logits(model, np.array([trunk - 1]), input_ids=tokens, past_key_values=cache, use_cache=True)
    return cache, trunk


def _padded(sequences: Sequence[Sequence[int]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(rows, longest) tokens with zeros behind them, and where there are tokens."""
    lengths = np.array([len(sequence) for sequence in sequences])
    tokens = np.zeros((len(sequences), lengths.max()), dtype=np.int64)
    for row, sequence in zip(tokens, sequences, strict=True):
        row[: len(sequence)] = sequence
    return tokens, (np.arange(lengths.max()) < lengths[:, None]).astype(np.int64)


_NONE = np.array([], dtype=np.int64)


def _group_scored(trie: TokenTrie) -> dict[int, Ints]:
    """{node: which of the scored tokens follow it, as indices into ``trie.scored_nodes``}."""
    parents = trie.parents[trie.scored_nodes]
    order = np.argsort(parents, kind="stable")
    nodes, begins = np.unique(parents[order], return_index=True)
    return dict(zip(nodes.tolist(), np.split(order, begins[1:]), strict=True))


def _shrink(cache: DynamicCache, length: int, kept: int) -> None:
    """Drop what is in the cache after its first ``kept`` tokens."""
    if length > kept:
        cache.crop(kept - length)


def own_ancestors(trie: TokenTrie, pack: Pack) -> torch.Tensor:
    """(pack, pack) bool: node j is an ancestor of node i, or i itself, where j <= i < ends[j]."""
    nodes = torch.from_numpy(pack.nodes)
    ends = torch.from_numpy(trie.ends[pack.nodes])
    return (nodes[None, :] <= nodes[:, None]) & (nodes[:, None] < ends[None, :])


def all_before(_: TokenTrie, pack: Pack) -> torch.Tensor:
    """(pack, pack) bool: what a model sees that ignores the tree and takes the row as one text."""
    return torch.ones(len(pack.nodes), len(pack.nodes), dtype=torch.bool).tril()


def attention_windows(model: PreTrainedModel) -> dict[str, int | None]:
    """{kind of layer: how many tokens it looks back, itself included; None where all}.

    Kinds that do not attend at all, or in another way, are not in it.
    """
    config = model.config.get_text_config()
    window = getattr(config, "sliding_window", None)
    kinds = getattr(config, "layer_types", None)
    if not kinds:
        kinds = ["sliding_attention" if window else "full_attention"]
    known = {"full_attention": None, "sliding_attention": window}
    return {kind: known[kind] for kind in dict.fromkeys(kinds) if kind in known}


def _masks(
    model: PreTrainedModel, trie: TokenTrie, pack: Pack, seen: torch.Tensor
) -> torch.Tensor | dict[str, torch.Tensor]:
    """The pack's mask, or one for each kind of layer where a model has several."""
    depths = torch.from_numpy(trie.depths[pack.nodes])
    masks = {
        kind: _additive(model, depths, pack.past, seen, window)
        for kind, window in attention_windows(model).items()
    }
    return masks if len(masks) > 1 else next(iter(masks.values()))


def _additive(
    model: PreTrainedModel, depths: torch.Tensor, past: int, seen: torch.Tensor, window: int | None
) -> torch.Tensor:
    """(1, 1, pack, past + pack): 0 where a node sees a token, else the least number.

    All tokens of the past are seen, but for those outside of a sliding window, which counts
    positions. A boolean mask would do for some attention implementations only.
    """
    mask = torch.zeros(len(seen), past + len(seen), dtype=model.dtype)
    least = torch.finfo(model.dtype).min
    mask[:, past:].masked_fill_(~seen, least)
    if window is not None:
        positions = torch.cat([torch.arange(past), depths])
        mask.masked_fill_(depths[:, None] - positions[None, :] >= window, least)
    return mask[None, None].to(model.device)


def _token_logprobs(logits: torch.Tensor, rows: Ints, tokens: Ints) -> NDArray[np.float64]:
    """(tokens,) log-likelihood of each token under its row of logits, from float32 at least."""
    used, row_of_token = np.unique(rows, return_inverse=True)
    wide = logits[torch.from_numpy(used).to(logits.device)].float()
    index = torch.from_numpy(row_of_token).to(logits.device)
    chosen = wide[index, torch.from_numpy(tokens).to(logits.device)]
    return (chosen - wide.logsumexp(dim=-1)[index]).double().cpu().numpy()


def _tensor(values: NDArray[np.int64], model: PreTrainedModel) -> torch.Tensor:
    return torch.from_numpy(np.ascontiguousarray(values)).to(model.device)
