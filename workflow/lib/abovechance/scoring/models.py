"""Models, ready to score: loaded from their weights, their products taken in the fastest exact way."""

from __future__ import annotations

import os
from pathlib import Path

import torch
from torch import nn
from transformers import PreTrainedModel

from abovechance.scoring.demands import parameters
from abovechance.scoring.weights import Weights, default_device, load_whole

DTYPES = {
    "float32": torch.float32,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
    "nf4": torch.bfloat16,  # the compute type
}


def limits(weights: Weights) -> tuple[int | None, int | None]:
    """The most tokens that the model reads at once, and how many it knows; None where no config says."""
    from transformers import AutoConfig

    config = AutoConfig.from_pretrained(
        weights.folder, trust_remote_code=weights.trust_remote_code
    ).get_text_config()
    return getattr(config, "max_position_embeddings", None), getattr(config, "vocab_size", None)


def load(weights: Weights, precision: str) -> PreTrainedModel:
    """The model, ready to score, on the accelerator where there is one.

    NF4 weights are dequantized once where memory allows, which gives the same numbers as
    dequantizing them in every product (bitsandbytes' kernel for processors with AVX512-BF16 rounds
    otherwise). Where a processor has no bfloat16 products, they are taken in float32 and
    rounded (``WideLinear``).
    """
    dtype, device = DTYPES[precision], default_device()
    model = load_whole(
        weights.folder,
        weights.source,
        dtype=dtype,
        device_map=_device_map(device, weights),
        use_safetensors=True,
        trust_remote_code=weights.trust_remote_code,
    )
    parameters = model.num_parameters()
    if weights.quantized and 2 * parameters < _memory(device) / 2:
        model = dequantized(model)
    if device == "cpu" and not _multiplies_natively(dtype) and 4 * parameters < _memory(device) / 2:
        _widen_products(model)
    model.eval().requires_grad_(False)
    return model


def dequantized(model: PreTrainedModel) -> PreTrainedModel:
    """The model with its NF4 weights as bfloat16 ones.

    Raises
    ------
    ValueError
        If the model has run already where bitsandbytes then repacks weights for a kernel of the
        processor: what it would unpack them to is garbage.
    """
    for name, module in model.named_modules():
        state = getattr(getattr(module, "weight", None), "quant_state", None)
        if getattr(state, "packing_format_for_cpu", False):
            raise ValueError(
                f"layer {name}: its weights are repacked since the model ran; dequantize it before that"
            )
    whole: PreTrainedModel = model.dequantize()
    return whole


def _device_map(device: str, weights: Weights) -> str | dict[str, int] | None:
    """Where the parts of a model go: on the one accelerator that is seen, or over several."""
    if device == "cpu":
        return "cpu" if weights.quantized else None
    return "auto" if torch.cuda.device_count() > 1 else {"": 0}


def memory_needed(weights: Weights, precision: str) -> int:
    """Bytes that scoring needs on accelerators: the weights in this precision and half as much more."""
    # Quantized weights are stored as bytes, two to each.
    each = 1 if weights.quantized else DTYPES[precision].itemsize
    return parameters(Path(weights.folder)) * each * 3 // 2


def describe(model: PreTrainedModel) -> dict[str, str]:
    """Where and how the model's products are computed, for the record."""
    wide = any(isinstance(module, WideLinear) for module in model.modules())
    name = str(model.dtype).removeprefix("torch.")
    return {
        "device": torch.cuda.get_device_name() if model.device.type == "cuda" else "cpu",
        "products": f"float32, rounded to {name}" if wide else name,
    }


class WideLinear(nn.Module):
    """A linear layer of a 16-bit type whose product is taken in float32 and rounded once.

    That is what 16-bit matrix instructions do: they accumulate in float32. On processors
    without them, emulating them is several times slower than float32 products.
    """

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        # Not named `weight`: a model that ties its weights again would put its own there.
        self.wide = nn.Parameter(linear.weight.detach().float(), requires_grad=False)
        self.bias = None if linear.bias is None else nn.Parameter(linear.bias.detach().float(), False)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return nn.functional.linear(inputs.float(), self.wide, self.bias).to(inputs.dtype)


def _widen_products(model: PreTrainedModel) -> None:
    for name, module in list(model.named_modules()):
        if type(module) is nn.Linear:
            parent, _, child = name.rpartition(".")
            setattr(model.get_submodule(parent), child, WideLinear(module))


def _multiplies_natively(dtype: torch.dtype) -> bool:
    """Whether this processor has matrix instructions that make the type worth using."""
    if dtype == torch.float32:
        return True
    if not torch.backends.mkldnn.is_available():
        return False
    supported = {
        torch.bfloat16: torch.ops.mkldnn._is_mkldnn_bf16_supported,
        torch.float16: torch.ops.mkldnn._is_mkldnn_fp16_supported,
    }
    return bool(supported[dtype]())


def _memory(device: str) -> int:
    """Bytes that weights may take: what is free on a processor, and of one accelerator all that it has.

    A job has its accelerators to itself. Weights over several of them stay as they are.
    """
    if device == "cpu":
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return torch.cuda.get_device_properties(0).total_memory if torch.cuda.device_count() == 1 else 0
