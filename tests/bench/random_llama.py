"""A Llama of 7 billion random weights, for measuring where no real model of that size lies.

    python tests/bench/random_llama.py results/bench/llama-7b
    make bench BENCH="--weights results/bench/llama-7b/weights.json --precision bfloat16"
    make bench BENCH="--weights results/bench/llama-7b/nf4/weights.json --precision nf4"

The tokenizer is the default study's model's, whose weights are made first if need be (``make bench``).
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch
from transformers import LlamaConfig, LlamaForCausalLM

from abovechance.scoring.models import device_for
from abovechance.scoring.weights import Weights, load_tokenizer, quantize


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--layers", type=int, default=32)
    parser.add_argument("--hidden", type=int, default=4096)
    options = parser.parse_args()
    default = next(Path("results/weights").glob("*/weights.json"))
    tokenizer = load_tokenizer(Weights.read(default))
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=options.hidden,
        intermediate_size=options.hidden * 43 // 16,
        num_hidden_layers=options.layers,
        num_attention_heads=options.hidden // 128,
        max_position_embeddings=4096,
    )
    torch.manual_seed(0)
    torch.set_default_dtype(torch.bfloat16)
    with torch.device(device_for("bfloat16")):
        model = LlamaForCausalLM(config)
    whole = options.folder / "whole"
    model.save_pretrained(whole)
    tokenizer.save_pretrained(whole)
    del model
    weights = Weights(str(whole), f"random Llama, {options.layers} layers", "random")
    weights.write(options.folder / "weights.json")
    quantize(weights, options.folder).write(options.folder / "nf4" / "weights.json")


if __name__ == "__main__":
    main()
