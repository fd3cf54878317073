"""Every path against the plain one, for small models of many families with random weights."""

import numpy as np
import pytest
import torch
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedModel

from abovechance.scoring.algorithms import Paths, score
from abovechance.scoring.tokens import Tokens

LLAMA_LIKE = {
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
}
GPT_LIKE = {"hidden_size": 64, "num_hidden_layers": 3, "num_attention_heads": 4}
WINDOWS = {"sliding_window": 6, "layer_types": ["sliding_attention", "full_attention", "sliding_attention"]}

FAMILIES = {
    "llama": ("llama", LLAMA_LIKE, "tree"),
    "olmo": ("olmo", LLAMA_LIKE, "tree"),
    "olmo2": ("olmo2", LLAMA_LIKE, "tree"),
    "falcon, rotary": ("falcon", {**GPT_LIKE, "alibi": False}, "tree"),
    "falcon, ALiBi": ("falcon", {**GPT_LIKE, "alibi": True}, "batched"),
    "qwen2": ("qwen2", LLAMA_LIKE, "tree"),
    "qwen3": ("qwen3", {**LLAMA_LIKE, "head_dim": 16}, "tree"),
    "mistral, window of 6": ("mistral", {**LLAMA_LIKE, "sliding_window": 6}, "tree"),
    "gemma": ("gemma", {**LLAMA_LIKE, "head_dim": 16}, "tree"),
    "gemma3, windows of 6": ("gemma3_text", {**LLAMA_LIKE, "head_dim": 16, **WINDOWS}, "tree"),
    "gpt2": ("gpt2", {"n_embd": 64, "n_layer": 3, "n_head": 4}, "tree"),
    "gpt_neox": ("gpt_neox", {**GPT_LIKE, "intermediate_size": 96}, "tree"),
    "bloom": ("bloom", {"hidden_size": 64, "n_layer": 3, "n_head": 4}, "batched"),
    "mpt": ("mpt", {"d_model": 64, "n_layers": 3, "n_heads": 4, "expansion_ratio": 2}, "batched"),
    "mamba": ("mamba", {"hidden_size": 64, "num_hidden_layers": 3, "state_size": 8}, "plain"),
}


def some_model(family: str) -> PreTrainedModel:
    kind, settings, _ = FAMILIES[family]
    torch.manual_seed(0)
    config = AutoConfig.for_model(
        kind, vocab_size=300, pad_token_id=0, bos_token_id=1, eos_token_id=2, **settings
    )
    model = AutoModelForCausalLM.from_config(config)
    for parameter in model.parameters():
        if parameter.dim() > 1:  # large, so that what a token sees changes what it predicts
            torch.nn.init.normal_(parameter, std=0.2)
    return model.eval()


def some_strings() -> Tokens:
    """Demonstrations longer than the windows, questions of many lengths, choices in each other."""
    generator = np.random.default_rng(0)

    def texts_of(length: int) -> list[int]:
        return generator.integers(3, 300, length).tolist()

    trunk, sequences, starts = texts_of(15), [], []
    for length in (1, 5, 9, 12):
        question = texts_of(length)
        choice = texts_of(4)
        for end in (choice[:1], choice[:2], choice, texts_of(2)):
            sequences.append(trunk + question + end)
            starts.append(len(trunk) + length)
    return Tokens(sequences, starts)


def direct(model: PreTrainedModel, tokens: Tokens) -> list[float]:
    """The definition: one string at a time, all its logits, no cache and no mask."""
    results = []
    for sequence, start in zip(tokens.sequences, tokens.starts, strict=True):
        with torch.inference_mode():
            logprobs = model(torch.tensor([sequence]), use_cache=False).logits[0].double().log_softmax(-1)
        results.append(float(sum(logprobs[at - 1, sequence[at]] for at in range(start, len(sequence)))))
    return results


@pytest.mark.parametrize("family", FAMILIES)
def test_scores_are_those_of_whole_strings(family):
    model, tokens = some_model(family), some_strings()
    paths = Paths.for_model(model)
    path, why = paths.path, paths.why
    assert path == FAMILIES[family][2], why
    expected = direct(model, tokens)
    assert paths.proved(tokens, 256, strings=3).logprobs == pytest.approx(expected, abs=1e-4)
    assert paths.path == path, paths.why
    assert np.std(expected) > 1  # what is read makes a difference
    for limit in (20, 256):
        assert score(model, tokens, path, limit).logprobs == pytest.approx(expected, abs=1e-4), why


@pytest.mark.parametrize("family", FAMILIES)
def test_the_path_is_the_same_in_sixteen_bits(family):
    model = some_model(family).to(torch.bfloat16)
    assert Paths.for_model(model).path in (FAMILIES[family][2], "plain")


@pytest.mark.parametrize("family", FAMILIES)
def test_the_plain_path_is_right_for_every_model(family):
    model, tokens = some_model(family), some_strings()
    computed = score(model, tokens, "plain", limit=60)
    assert computed.logprobs == pytest.approx(direct(model, tokens), abs=1e-4)
    assert computed.tokens == sum(map(len, tokens.sequences))
