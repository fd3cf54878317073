"""Attention in parts on a processor, so that what a mask hides is not multiplied.

Of a pack's columns, all tokens see the trunk, and each some of the others near itself. So there
is one product over the trunk, without a mask, and one for each block of rows over the columns
that any of them sees. The two parts of a row are put together by their log-sum-exps s and s': the softmax
over both weighs the first by 1 / (1 + exp(s' - s)).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from transformers import AttentionInterface, AttentionMaskInterface, PreTrainedConfig, PreTrainedModel
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

# The most rows of a block: with fewer, calls cost more than they save.
BLOCK_ROWS = 32
# What models know this attention by, and the attribute of a mask that says its parts.
NAME = "abovechance_parts"
_PARTS = "abovechance_parts"


@dataclass(frozen=True)
class Parts:
    """The columns that the rows of a pack see.

    Attributes
    ----------
    trunk
        How many of the first columns all rows see.
    blocks
        (first row, row after the last, first column behind the trunk, column after the last)
        of each block, in their order.
    """

    trunk: int
    blocks: tuple[tuple[int, int, int, int], ...]

    @classmethod
    def from_mask(cls, visible: torch.Tensor) -> Parts:
        """Return the parts of a (rows, columns) bool, in which each row sees itself, and nothing behind.

        The last columns are those of the rows themselves.
        """
        rows, columns = visible.shape
        by_all = visible[:, : columns - rows].all(dim=0)
        trunk = int(by_all.long().cumprod(0).sum())
        first = (trunk + visible[:, trunk:].byte().argmax(dim=1)).tolist()
        blocks = []
        for begin, end in _cut(first):
            blocks.append((begin, end, min(first[begin:end]), columns - rows + end))
        return cls(trunk, tuple(blocks))


def _cut(first: list[int]) -> Iterator[tuple[int, int]]:
    """Blocks of at most ``BLOCK_ROWS`` rows, which end, where they can, with the rows of one first column."""
    begin = 0
    while begin < len(first):
        end = min(begin + BLOCK_ROWS, len(first))
        if end < len(first):
            changes = [row for row in range(begin + 1, end + 1) if first[row] != first[row - 1]]
            end = changes[-1] if changes else end
        yield begin, end
        begin = end


def splittable(mask: torch.Tensor, visible: torch.Tensor) -> torch.Tensor:
    """Return the mask itself, which says from now on of which parts it is."""
    if mask.device.type == "cpu":
        setattr(mask, _PARTS, Parts.from_mask(visible))
    return mask


@contextmanager
def in_parts(model: PreTrainedModel) -> Iterator[None]:
    """While it lasts, a model on a processor takes attention in parts where its mask says them.

    Only those parts of a model that would take torch's own attention; others stay as they are.
    """
    configs = [
        config
        for config in _configs(model)
        if model.device.type == "cpu" and config._attn_implementation == "sdpa"
    ]
    # each by itself: to set a whole model's is to set that of parts too which had another
    for config in configs:
        config._attn_implementation_internal = NAME
    try:
        yield
    finally:
        for config in configs:
            config._attn_implementation_internal = "sdpa"


def _configs(model: PreTrainedModel) -> list[PreTrainedConfig]:
    """Return the different configs of a model and its parts."""
    configs = (getattr(module, "config", None) for module in model.modules())
    return list({id(config): config for config in configs if isinstance(config, PreTrainedConfig)}.values())


def parts_attention(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    **options: Any,
) -> tuple[torch.Tensor, None]:
    """(1, rows, heads, size) attention, as torch's own gives it for the whole mask.

    A mask that a model has changed is another object and says no parts, so that torch's own is
    taken; so it is for what this one does not know.
    """
    parts: Parts | None = getattr(attention_mask, _PARTS, None)
    if parts is None or attention_mask is None or not _takes(query, key, value, attention_mask, options):
        return sdpa_attention_forward(module, query, key, value, attention_mask, **options)
    trunk, scale = parts.trunk, options.get("scaling")
    near, near_sums = zip(
        *(
            _attend(
                query[:, :, begin:end],
                key[:, :, first:last],
                value[:, :, first:last],
                attention_mask[:, :, begin:end, first:last],
                scale,
            )
            for begin, end, first, last in parts.blocks
        ),
        strict=True,
    )
    output = torch.cat(near, dim=2)
    if trunk:
        far, far_sum = _attend(query, key[:, :, :trunk], value[:, :, :trunk], None, scale)
        weight = torch.sigmoid(far_sum - torch.cat(near_sums, dim=2))[..., None]
        output = torch.lerp(output.to(weight.dtype), far.to(weight.dtype), weight).to(query.dtype)
    return output.transpose(1, 2).contiguous(), None


def _takes(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    mask: torch.Tensor,
    options: dict[str, Any],
) -> bool:
    """Return whether the parts are those of these tensors, and nothing but them is asked for."""
    needed = ("softcap", "position_bias", "cache", "s_aux")
    return (
        mask.shape[2:] == (query.shape[2], key.shape[2])
        and query.shape[0] == 1
        and query.dtype == key.dtype == value.dtype == mask.dtype
        and query.shape[3] == value.shape[3]
        and query.shape[1] % key.shape[1] == 0
        # the kernel reads sizes as if they lay together
        and all(states.stride(3) == 1 for states in (query, key, value))
        and not options.get("dropout")
        and all(options.get(name) is None for name in needed)
    )


def _attend(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    mask: torch.Tensor | None,
    scale: float | None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """(1, heads, rows, size) attention and the (1, heads, rows) log-sum-exp of its scores."""
    return torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(
        query, key, value, attn_mask=mask, scale=scale
    )


AttentionInterface.register(NAME, parts_attention)
AttentionMaskInterface.register(NAME, sdpa_mask)
