"""A model with random weights and a byte-level tokenizer, as transformers saves them, and a study of it."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
import yaml
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


def write_tiny_study(
    folder: Path,
    name: str,
    precisions: tuple[str, ...] = ("float32",),
    model: Mapping[str, Any] | None = None,
    **changes: Any,
) -> Path:
    """A study of the tiny model in these precisions on two own tasks, and its config.

    Parameters
    ----------
    model
        What of the model's config is other.
    changes
        Keys of the study's config that are others.
    """
    save_tiny_model(folder / "tiny", **model or {})
    for task, sign in (("sums", 1), ("differences", -1)):
        rows = [
            {"text": f"{a} and {b} =", "choices": [str(a + sign * b), str(a + sign * b + 1)], "answer": 0}
            for a in range(6)
            for b in range(4)
        ]
        (folder / f"{task}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    names = {precision: "tiny" if precision == "float32" else f"tiny-{precision}" for precision in precisions}
    study = {
        "study": name,
        "tasks": {"sums": "sums.jsonl", "differences": "differences.jsonl"},
        "models": {names[precision]: {"path": "tiny", "precision": precision} for precision in precisions},
        "shots": [0, 1],
        "prompts": 4,
        "max_examples": 20,
        "heldout": {"splits": 10, "tried": [1, 3]},
        "randomization": {"draws": 200},
    }
    path = folder / f"{name}.yaml"
    path.write_text(yaml.safe_dump(study | changes, sort_keys=False))
    return path
