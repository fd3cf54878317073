"""A small language model of the invented language, trained by a seed and kept at some steps."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from abovechance.core.files import replacing
from abovechance.core.provenance import digest, file_sha256
from abovechance.scoring.weights import Weights
from abovechance.study.invented import texts

CONTEXT = 512  # tokens that a model sees
LENGTH, BATCH = 96, 16  # of what it is trained on at a time: tokens, and how many times
RATE, WARMUP, DECAY, CLIP = 3e-3, 30, 0.1, 1.0  # of AdamW
SPREAD = 0.06  # of the weights that it starts with; with less, narrow models learn nothing for long
VOCABULARY, SAMPLE = 2500, 3000  # at most so many tokens, found on so many texts
SEEDS = 1 << 32  # seeds of training are below; the tokenizer's texts are of one above


def tokenizer() -> PreTrainedTokenizerFast:
    """Return the tokenizer of all models of the language: byte-level byte-pair encoding."""
    bpe_tokenizer = Tokenizer(models.BPE())
    bpe_tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe_tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=["<|end|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    bpe_tokenizer.train_from_iterator(islice(texts(SEEDS), SAMPLE), trainer)
    return PreTrainedTokenizerFast(tokenizer_object=bpe_tokenizer, eos_token="<|end|>")


def new_model(width: int, layers: int, vocabulary: int) -> LlamaForCausalLM:
    """Return a model with random weights.

    Parameters
    ----------
    width
        Width of the hidden states, a multiple of 8.
    layers
        Number of layers.
    vocabulary
        Number of tokens.
    """
    config = LlamaConfig(
        vocab_size=vocabulary,
        hidden_size=width,
        intermediate_size=3 * width,
        num_hidden_layers=layers,
        num_attention_heads=4,
        num_key_value_heads=4,
        max_position_embeddings=CONTEXT,
        initializer_range=SPREAD,
        tie_word_embeddings=True,
        bos_token_id=0,
        eos_token_id=0,
    )
    return LlamaForCausalLM(config)


def train(
    seed: int, width: int, layers: int, checkpoints: Mapping[int, Path], report: Callable[[str], None]
) -> dict[int, Weights]:
    """Train a model, and keep it after some steps.

    The seed decides what it starts with and the order of texts. On one kind of processor, with as many
    threads, the same seed gives the same weights. The learning rate stays the same after its warm-up, so
    that a checkpoint does not depend on how many come after it.

    Parameters
    ----------
    seed
        At least 0, below 2 ** 32.
    width, layers
        See ``new_model``.
    checkpoints
        {steps: the folder of the model after so many}; 0 is the model before training.
    report
        Is told how far it is.
    """
    reads = tokenizer()
    batches = _batches(reads, seed)
    torch.manual_seed(seed)
    model = new_model(width, layers, len(reads))
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, betas=(0.9, 0.98), weight_decay=DECAY)
    losses = {}
    for step in range(max(checkpoints) + 1):
        if step in checkpoints:
            losses[step] = _keep(model, reads, checkpoints[step], f"seed {seed}, step {step}")
            report(f"training: seed {seed}, step {step} of {max(checkpoints)}")
        if step == max(checkpoints):
            break
        for group in optimizer.param_groups:
            group["lr"] = RATE * min(1.0, (step + 1) / WARMUP)
        rows = next(batches)
        model.train()
        model(rows, labels=rows).loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        optimizer.step()
        optimizer.zero_grad()
    return losses


def _batches(reads: PreTrainedTokenizerFast, seed: int) -> Iterator[torch.Tensor]:
    """(batch, length) tokens of texts one after another."""
    waiting: list[int] = []
    for text in texts(seed):
        waiting += reads.encode(text)
        while len(waiting) >= BATCH * LENGTH:
            yield torch.tensor(waiting[: BATCH * LENGTH]).view(BATCH, LENGTH)
            waiting = waiting[BATCH * LENGTH :]


def _keep(model: LlamaForCausalLM, reads: PreTrainedTokenizerFast, folder: Path, noun: str) -> Weights:
    """Save model and tokenizer into a folder that appears whole or not at all."""
    shutil.rmtree(folder, ignore_errors=True)
    with replacing(folder) as beside:
        model.save_pretrained(beside)
        reads.save_pretrained(beside)
    files = sorted([*folder.glob("*.safetensors"), folder / "config.json"])
    return Weights(str(folder), f"trained on the invented language, {noun}", digest(*map(file_sha256, files)))
