"""Which tokens a token of a pack sees, and the attention masks that say so."""

from __future__ import annotations

import torch
from transformers import PreTrainedModel

from abovechance.scoring.attention import splittable
from abovechance.scoring.packs import Pack
from abovechance.scoring.trie import Ints, TokenTrie


def own_ancestors(trie: TokenTrie, pack: Pack, device: torch.device) -> torch.Tensor:
    """(pack, path + pack) bool: node j is an ancestor of node i, or i itself, where j <= i < ends[j]."""
    nodes, columns = _moved(pack.nodes, device), _moved(pack.columns, device)
    ends = _moved(trie.ends[pack.columns], device)
    return (columns[None, :] <= nodes[:, None]) & (nodes[:, None] < ends[None, :])


def all_before(_: TokenTrie, pack: Pack, device: torch.device) -> torch.Tensor:
    """(pack, path + pack) bool: what a model sees that ignores the tree and takes the row as one text."""
    visible = torch.ones(len(pack.nodes), len(pack.columns), dtype=torch.bool, device=device)
    return visible.tril(len(pack.path))


def attention_windows(model: PreTrainedModel) -> dict[str, int | None]:
    """{kind of layer: how many tokens it looks back, itself included; None where all}.

    Kinds that do not attend at all, or in another way, are not in it.
    """
    config = model.config.get_text_config()
    window = getattr(config, "sliding_window", None)
    kinds = getattr(config, "layer_types", None)
    if not kinds:
        kinds = ["sliding_attention" if window else "full_attention"]
    windows = {"full_attention": None, "sliding_attention": window}
    return {kind: windows[kind] for kind in dict.fromkeys(kinds) if kind in windows}


def unknown_windows(model: PreTrainedModel) -> list[str]:
    """Return the keys of the config that limit how far tokens look back in a way that masks do not know.

    GPT-Neo's local layers, for example, cut off by places in a row, whatever the mask is.
    """
    settings = model.config.get_text_config().to_dict()
    return sorted(
        key
        for key, value in settings.items()
        if "window" in key
        and not key.endswith(("sliding_window", "max_window_layers", "_pattern"))
        and isinstance(value, int)
        and not isinstance(value, bool)
        and value > 0
    )


def selected_tokens(model: PreTrainedModel) -> int | None:
    """Return how many earlier tokens a token sees, if the model selects them by their content; else None.

    Strings that share a cache can select different tokens, and not every model keeps their selections apart.
    """
    settings = model.config.get_text_config().to_dict()
    counts = [settings[key] for key in ("keep_window_size", "index_topk") if settings.get(key)]
    return min(counts, default=None)


def tree_masks(
    model: PreTrainedModel, trie: TokenTrie, pack: Pack, visible: torch.Tensor
) -> torch.Tensor | dict[str, torch.Tensor]:
    """Return the pack's additive mask, or one for each kind of layer where a model has several.

    Each is (1, 1, pack, path + pack), on the model's device and in its type: 0 where a node sees a token,
    else minus infinity. A boolean mask would do for some attention implementations only.

    Parameters
    ----------
    visible
        (pack, path + pack) bool, such as from ``own_ancestors``.
    """
    depths = _moved(trie.depths[pack.nodes], visible.device)
    columns = _moved(trie.depths[pack.columns], visible.device)
    masks = {}
    for kind, window in attention_windows(model).items():
        # a window counts positions, not columns
        near = visible if window is None else visible & (depths[:, None] - columns[None, :] < window)
        mask = torch.zeros(1, 1, *visible.shape, dtype=model.dtype, device=visible.device)
        # not the least number, beside which scores of float16 can be as large
        mask.masked_fill_(~near, -torch.inf)
        masks[kind] = splittable(mask, near)
    return masks if len(masks) > 1 else next(iter(masks.values()))


def _moved(values: Ints, device: torch.device) -> torch.Tensor:
    return torch.from_numpy(values).to(device)
