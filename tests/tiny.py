"""A model with random weights and a byte-level tokenizer, saved as transformers saves them."""

from pathlib import Path
from typing import Any

import torch
from tokenizers import ByteLevelBPETokenizer
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast


def save_tiny_model(folder: Path, **changes: Any) -> Path:
    """Save the model and its tokenizer into a folder; ``changes`` are those of its config."""
    trained = ByteLevelBPETokenizer()
    trained.train_from_iterator(["Q: is it so?\nA: yes no maybe"] * 3, vocab_size=300, min_frequency=2)
    PreTrainedTokenizerFast(tokenizer_object=trained._tokenizer).save_pretrained(folder)
    torch.manual_seed(0)
    config = {
        "vocab_size": 300,
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "max_position_embeddings": 120,
        "initializer_range": 0.3,
    }
    LlamaForCausalLM(LlamaConfig(**config | changes)).save_pretrained(folder)
    return folder
