"""Every type of model that transformers can build small: its path, why, and how far its scores are off.

Run by `make bench-models`; writes results/bench/models.md. Weights are random and large, so that what a token
sees changes what it predicts; scores are held against one string alone, computed here.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedModel
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
from transformers.utils import logging

from abovechance.core.errors import InputError
from abovechance.core.files import write_text
from abovechance.scoring.algorithms import Paths
from tests.scoring.test_families import direct, some_strings

# The names that configs have for the same things.
SMALL: dict[str, Any] = {
    **{"vocab_size": 300, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2},
    **dict.fromkeys(("hidden_size", "n_embd", "d_model", "embedding_size", "word_embed_proj_dim"), 64),
    **dict.fromkeys(
        ("intermediate_size", "ffn_dim", "decoder_ffn_dim", "moe_intermediate_size", "n_inner"), 96
    ),
    **dict.fromkeys(("num_hidden_layers", "n_layer", "n_layers", "decoder_layers", "num_layers"), 3),
    **dict.fromkeys(("num_attention_heads", "n_head", "n_heads", "decoder_attention_heads", "num_heads"), 4),
    **dict.fromkeys(("max_position_embeddings", "n_positions", "max_seq_len"), 512),
    **dict.fromkeys(("num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts"), 4),
    **dict.fromkeys(
        ("num_experts_per_tok", "moe_topk", "moe_k", "n_group", "topk_group", "num_shared_experts"), 1
    ),
    **{"num_key_value_heads": 2, "head_dim": 16, "encoder_layers": 1, "rotary_dim": 8},
    **{"q_lora_rank": 16, "kv_lora_rank": 16, "qk_rope_head_dim": 8, "qk_nope_head_dim": 8, "v_head_dim": 16},
}
MOST_PARAMETERS = 60e6


def small_model(kind: str) -> PreTrainedModel:
    """A small model of a type; its own settings are taken where smaller ones do not fit."""
    try:
        config = AutoConfig.for_model(kind, **SMALL)
    except Exception:
        config = AutoConfig.for_model(kind)
        for name, value in SMALL.items():
            if hasattr(config, name):
                setattr(config, name, value)
    with torch.device("meta"):
        size = sum(parameter.numel() for parameter in AutoModelForCausalLM.from_config(config).parameters())
    if size > MOST_PARAMETERS:
        raise ValueError(f"{size / 1e6:.0f} million parameters")
    torch.manual_seed(0)
    model: PreTrainedModel = AutoModelForCausalLM.from_config(config).float().eval()
    for parameter in model.parameters():
        if parameter.dim() > 1:
            torch.nn.init.normal_(parameter, std=0.2)
    return model


def paths_of(kind: str) -> dict[str, Any]:
    """A row of the table: what a type of model is found to do."""
    try:
        model = small_model(kind)
    except Exception as error:
        return {"type": kind, "path": "not built", "why": f"{type(error).__name__}: {error}"[:90]}
    tokens = some_strings()
    try:
        paths = Paths.for_model(model)
        computed = paths.proved(tokens, 256, strings=3).logprobs
    except InputError as error:
        return {"type": kind, "path": "refused", "why": str(error).partition("'" + kind + "' ")[2][:120]}
    difference = float(np.abs(computed - np.array(direct(model, tokens))).max())
    return {"type": kind, "path": paths.path, "difference": f"{difference:.1e}", "why": paths.why}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("types", nargs="*", default=sorted(MODEL_FOR_CAUSAL_LM_MAPPING_NAMES))
    parser.add_argument("--output", type=Path, default=Path("results/bench/models.md"))
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    logging.set_verbosity_error()
    rows = []
    for kind in options.types:
        rows.append(paths_of(kind))
        print(*rows[-1].values(), sep="  ", flush=True)
    table = pd.DataFrame(rows, columns=["type", "path", "difference", "why"]).fillna("")
    counts = table["path"].value_counts().to_markdown()
    write_text(f"{counts}\n\n{table.to_markdown(index=False)}\n", options.output)


if __name__ == "__main__":
    main()
