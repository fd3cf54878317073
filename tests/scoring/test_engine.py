"""Tree scores against a plain forward pass over each whole string."""

from collections.abc import Callable
from types import SimpleNamespace

import bitsandbytes
import numpy as np
import pytest
import torch
from bitsandbytes.nn.modules import has_avx512bf16
from hypothesis import given, settings, strategies as st
from transformers import (
    AutoModelForCausalLM,
    DynamicCache,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedModel,
)

from abovechance.scoring import algorithms, engine, models
from abovechance.scoring.algorithms import Paths
from abovechance.scoring.engine import score_rows, score_tree
from abovechance.scoring.masks import all_before
from abovechance.scoring.models import load
from abovechance.scoring.products import WideLinear, widen
from abovechance.scoring.trie import build_trie
from abovechance.scoring.weights import Weights, nf4_config, quantize

SMALL = {
    "vocab_size": 300,
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 128,
    "initializer_range": 0.3,  # large, so that what a token sees changes what it predicts
}


def some_model() -> PreTrainedModel:
    torch.manual_seed(0)
    return LlamaForCausalLM(LlamaConfig(**SMALL)).eval()


@pytest.fixture(scope="module")
def llama() -> PreTrainedModel:
    return some_model()


def direct(model: PreTrainedModel, sequence: list[int], start: int) -> float:
    """The definition: the sum of the log-likelihoods of the tokens from ``start``, one string alone."""
    with torch.inference_mode():
        logprobs = model(torch.tensor([sequence])).logits[0].double().log_softmax(-1)
    return float(sum(logprobs[at - 1, sequence[at]] for at in range(start, len(sequence))))


tries = st.lists(
    st.tuples(st.lists(st.integers(0, 3), min_size=1, max_size=12), st.integers(1, 3)),
    min_size=1,
    max_size=10,
)


@settings(max_examples=40, deadline=None)
@given(tries, st.integers(1, 20), st.integers(1, 30))
def test_tree_scores_are_plain_scores(llama, strings, limit, shared):
    sequences = [[5] * shared + tail for tail, _ in strings]
    starts = [max(1, len(s) - length) for s, (_, length) in zip(sequences, strings, strict=True)]
    expected = [direct(llama, s, start) for s, start in zip(sequences, starts, strict=True)]
    trie = build_trie(sequences, starts)
    tree = score_tree(llama, trie, limit)
    assert tree.logprobs == pytest.approx(expected, abs=1e-4)
    assert tree.tokens == trie.inner.sum()
    assert score_rows(llama, sequences, starts, limit, share=False).logprobs == pytest.approx(
        expected, abs=1e-4
    )
    assert score_rows(llama, sequences, starts, limit).logprobs == pytest.approx(expected, abs=1e-4)


def test_a_choice_that_begins_another_is_scored_to_its_own_end(llama):
    sequences, starts = [[5, 6, 7], [5, 6, 7, 8], [5, 6, 7, 8]], [2, 2, 2]
    expected = [direct(llama, s, 2) for s in sequences]
    assert score_tree(llama, build_trie(sequences, starts)).logprobs == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_model_that_ignores_the_mask_is_found_out(monkeypatch, dtype):
    model = some_model().to(dtype)
    assert Paths.for_model(model).path == "tree"
    monkeypatch.setattr(algorithms, "own_ancestors", all_before)
    assert Paths.for_model(model).path == "batched"


@pytest.fixture
def load_nf4(tmp_path) -> Callable[[], PreTrainedModel]:
    """Load the same NF4 weights anew; their sizes are such as every kernel of bitsandbytes takes."""
    torch.manual_seed(0)
    LlamaForCausalLM(LlamaConfig(**SMALL | {"intermediate_size": 128})).save_pretrained(tmp_path)

    def load_one() -> PreTrainedModel:
        return AutoModelForCausalLM.from_pretrained(
            tmp_path,
            dtype=torch.bfloat16,
            quantization_config=nf4_config(),
            device_map=torch.get_default_device(),
        ).eval()

    return load_one


def quantized_layers(model: PreTrainedModel) -> list[bitsandbytes.nn.Linear4bit]:
    return [module for module in model.modules() if isinstance(module, bitsandbytes.nn.Linear4bit)]


def test_nf4_weights_dequantized_once_give_the_numbers_of_dequantizing_in_every_product(load_nf4):
    in_products, once = load_nf4(), models.dequantized(load_nf4())
    for layer in quantized_layers(in_products):
        layer.support_avx512bf16_for_cpu = False  # else a kernel that never dequantizes is taken
    tokens = torch.arange(40)[None]
    with torch.inference_mode():
        assert torch.equal(once(tokens).logits, in_products(tokens).logits)


@pytest.mark.skipif(torch.cuda.is_available(), reason="a kernel of processors; there is a GPU")
@pytest.mark.skipif(not has_avx512bf16(), reason="this processor has no AVX512-BF16")
def test_a_kernel_that_never_dequantizes_rounds_otherwise_and_no_more(load_nf4):
    fused, once = load_nf4(), models.dequantized(load_nf4())
    tokens = torch.arange(40)[None]
    with torch.inference_mode():
        result, expected = (model(tokens).logits.float() for model in (fused, once))
    assert 0 < (result - expected).abs().mean() < 0.05 * expected.std()


def test_weights_that_were_repacked_for_a_kernel_are_not_dequantized(load_nf4):
    model = load_nf4()
    quantized_layers(model)[-1].weight.quant_state.packing_format_for_cpu = True
    with pytest.raises(ValueError, match="down_proj: its weights are repacked"):
        models.dequantized(model)


def test_a_wide_product_is_the_exact_product_rounded_once():
    torch.manual_seed(0)
    linear = torch.nn.Linear(64, 32).bfloat16()
    inputs = torch.randn(50, 64).bfloat16()
    with torch.inference_mode():
        exact = inputs.double() @ linear.weight.double().T + linear.bias.double()
        wide = WideLinear(linear)(inputs)
    assert wide.dtype == torch.bfloat16
    # One rounding to bfloat16 is at most half a unit in its 8th binary digit.
    assert torch.all((wide.double() - exact).abs() <= exact.abs() * 2**-8)


def test_wide_products_survive_that_weights_are_tied_again():
    torch.manual_seed(0)
    model = LlamaForCausalLM(LlamaConfig(**SMALL, tie_word_embeddings=True)).bfloat16().eval()
    widen(model)
    tokens = torch.arange(9)[None]
    with torch.inference_mode():
        before = model(tokens).logits
        model.tie_weights()
        assert torch.equal(model(tokens).logits, before)


def test_prepared_weights_load_and_score(llama, tmp_path):
    from tokenizers import Tokenizer, models as tokenizer_models
    from transformers import PreTrainedTokenizerFast

    llama.save_pretrained(tmp_path / "whole")
    PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer(tokenizer_models.WordLevel({"a": 0}, unk_token="a"))
    ).save_pretrained(tmp_path / "whole")
    weights = Weights(str(tmp_path / "whole"), "here", "0")
    quantized = quantize(weights, tmp_path)
    assert quantized.quantized
    loaded = load(quantized, "nf4")
    assert loaded.dtype == torch.bfloat16
    sequences = [[5, 6, 7], [5, 8, 9]]
    computed = score_tree(loaded, build_trie(sequences, [2, 2])).logprobs
    assert np.isfinite(computed).all()
    assert computed == pytest.approx(score_rows(loaded, sequences, [2, 2]).logprobs, abs=0.3)


@pytest.mark.parametrize("name", ["past_key_values", "cache"])
def test_the_cache_has_the_name_that_a_model_gives_it(name):
    """transformers 5.24 renamed it; an empty cache must not be dropped, or every pack begins anew."""

    class Model:
        if name == "cache":

            def forward(self, input_ids=None, cache=None, use_cache=None):
                return cache
        else:

            def forward(self, input_ids=None, past_key_values=None, use_cache=None):
                return past_key_values

        def __call__(self, **inputs):
            return SimpleNamespace(logits=self.forward(**inputs))

    empty = DynamicCache()
    assert engine._forward(Model(), input_ids=1, past_key_values=empty, use_cache=True) is empty
    assert engine._forward(Model(), input_ids=1, past_key_values=None) is None


def test_a_model_without_a_cache_is_given_none():
    class Model:
        def forward(self, input_ids=None):
            return input_ids

        def __call__(self, **inputs):
            return SimpleNamespace(logits=self.forward(**inputs))

    assert engine._forward(Model(), input_ids=1, past_key_values=None, use_cache=False) == 1
