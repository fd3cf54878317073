"""Models, ready to score: loaded from their weights, their products taken in the fastest exact way."""

from __future__ import annotations

import os
from pathlib import Path

import torch
from transformers import PreTrainedModel

from abovechance.scoring.demands import parameters
from abovechance.scoring.products import MEASURED, WIDE, WideLinear, decide, widen
from abovechance.scoring.weights import Weights, load_whole

DECIDED_BY = "products_decided_by"
DTYPES = {
    "float32": torch.float32,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
    "nf4": torch.bfloat16,  # the compute type
}


def device_for(precision: str) -> str:
    """Return the kind of device that scores in a precision: ``cuda``, ``mps`` or ``cpu``.

    Apple's ``mps`` takes float32, and bfloat16 from macOS 14 on; NF4 and float16 go to the processor there.
    """
    if torch.cuda.is_available():
        return "cuda"
    if torch.backends.mps.is_available() and precision in ("float32", "bfloat16"):
        try:
            torch.zeros(1, dtype=DTYPES[precision], device="mps")
        except (TypeError, RuntimeError):
            return "cpu"
        return "mps"
    return "cpu"


def limits(weights: Weights) -> tuple[int | None, int | None]:
    """The most tokens that the model reads at once, and how many it knows; None where no config says."""
    from transformers import AutoConfig

    if weights.server and not Path(weights.folder, "config.json").is_file():
        return None, None
    config = AutoConfig.from_pretrained(
        weights.folder, trust_remote_code=weights.trust_remote_code
    ).get_text_config()
    contexts = (getattr(config, name, None) for name in CONTEXT)
    return next(filter(None, contexts), None), getattr(config, "vocab_size", None)


# what configs call the most tokens that a model reads
CONTEXT = ("max_position_embeddings", "max_target_positions", "max_seq_len")


def load(weights: Weights, precision: str, products: str = MEASURED) -> PreTrainedModel:
    """Return the model, ready to score, on the accelerator if there is one.

    NF4 weights are dequantized once if the machine's memory allows it, which gives the same numbers as
    dequantizing them in every product (bitsandbytes' kernel for processors with AVX512-BF16 rounds
    otherwise). On a processor whose 16-bit products are slow, they are taken in float32 and rounded
    (``products.decide``).

    Parameters
    ----------
    products
        See ``products.decide``.
    """
    dtype, device = DTYPES[precision], device_for(precision)
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
    if device == "cpu":
        decision = decide(model, dtype, products)
        if decision.way == WIDE and (decision.by == "hand" or 4 * parameters < _memory(device) / 2):
            widen(model)
        setattr(model, DECIDED_BY, decision.by)
    model.eval().requires_grad_(False)
    return model


def dequantized(model: PreTrainedModel) -> PreTrainedModel:
    """Return the model with its NF4 weights as bfloat16 ones.

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
    return model.dequantize()


def _device_map(device: str, weights: Weights) -> str | dict[str, int] | None:
    """Return the device of each part of a model: the one visible accelerator, or several."""
    if device == "cpu":
        return "cpu" if weights.quantized else None
    if device == "mps":
        return device
    return "auto" if torch.cuda.device_count() > 1 else {"": 0}


def memory_needed(weights: Weights, precision: str) -> int:
    """Bytes that scoring needs on accelerators: the weights in this precision and half as much more."""
    # Quantized weights are stored as bytes, two to each.
    bytes_per_weight = 1 if weights.quantized else DTYPES[precision].itemsize
    return parameters(Path(weights.folder)) * bytes_per_weight * 3 // 2


def describe(model: PreTrainedModel) -> dict[str, str]:
    """Return where and how the model's products are computed, for the record."""
    wide = any(isinstance(module, WideLinear) for module in model.modules())
    name = str(model.dtype).removeprefix("torch.")
    facts = {
        "device": torch.cuda.get_device_name() if model.device.type == "cuda" else model.device.type,
        "products": f"float32, rounded to {name}" if wide else name,
    }
    if by := getattr(model, DECIDED_BY, ""):
        facts[DECIDED_BY] = by
    return facts


def _memory(device: str) -> int:
    """Bytes of the machine's memory or of its one accelerator: all, so that every job decides alike.

    Weights over several accelerators stay as they are.
    """
    if device != "cuda":
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return torch.cuda.get_device_properties(0).total_memory if torch.cuda.device_count() == 1 else 0
