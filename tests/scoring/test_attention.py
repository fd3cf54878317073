"""Attention in parts against torch's own under the whole mask."""

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings, strategies as st
from transformers import LlamaConfig, LlamaForCausalLM

from abovechance.scoring import attention
from abovechance.scoring.attention import BLOCK_ROWS, Parts, in_parts, parts_attention, splittable
from abovechance.scoring.engine import score_alone, score_tree
from abovechance.scoring.masks import own_ancestors
from abovechance.scoring.packs import cut_packs
from abovechance.scoring.trie import build_trie

DEVICE = torch.device("cpu")  # on others, attention is torch's own

# strings with few different tokens, so that they share much; some longer than a block
strings = st.lists(
    st.lists(st.integers(0, 2), min_size=2, max_size=8).flatmap(
        lambda head: st.integers(0, 50).map(lambda length: [*head, *[1] * length])
    ),
    min_size=1,
    max_size=8,
)


def additive(visible: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    mask = torch.zeros(1, 1, *visible.shape, dtype=dtype)
    return mask.masked_fill_(~visible, torch.finfo(dtype).min)


class Grouped(torch.nn.Module):
    num_key_value_groups = 2


@settings(deadline=None)
@given(strings, st.integers(1, 120), st.integers(0, 40), st.sampled_from([None, 3, 20]), st.booleans())
def test_attention_in_parts_is_attention(sequences, limit, shared, window, scaled):
    trie = build_trie([[3] * shared + sequence for sequence in sequences], [1] * len(sequences))
    assume(trie.inner.any())
    torch.manual_seed(0)
    for pack in cut_packs(trie, limit):
        visible = own_ancestors(trie, pack, DEVICE)
        if window is not None:
            depths = torch.from_numpy(trie.depths)
            visible &= depths[pack.nodes][:, None] - depths[pack.columns][None] < window
        mask = splittable(additive(visible, torch.float32), visible)
        query = torch.randn(1, 4, len(pack.nodes), 8)
        key, value = torch.randn(2, 1, 2, len(pack.columns), 8)
        scaling = 0.5 if scaled else None
        result, _ = parts_attention(Grouped(), query, key, value, mask, scaling=scaling)
        wide = [states.repeat_interleave(2, dim=1) for states in (key, value)]
        scores = query @ wide[0].transpose(2, 3) * (0.5 if scaled else 8**-0.5)
        exact = scores.masked_fill(~visible, float("-inf")).softmax(-1) @ wide[1]
        assert torch.allclose(result, exact.transpose(1, 2), atol=1e-5)


def test_the_parts_of_a_pack_are_its_trunk_and_what_is_near():
    # two questions of three tokens behind a trunk of two, the second begun in the pack before
    visible = torch.tensor(
        [
            [1, 1, 1, 1, 0, 0, 0],
            [1, 1, 0, 0, 1, 0, 0],
            [1, 1, 0, 0, 1, 1, 0],
            [1, 1, 0, 0, 1, 1, 1],
        ]
    ).bool()
    assert Parts.from_mask(visible) == Parts(trunk=2, blocks=((0, 4, 2, 7),))


def test_a_block_ends_where_rows_see_other_columns():
    rows = 3 * BLOCK_ROWS // 2
    half = rows // 2
    visible = torch.zeros(rows, rows, dtype=torch.bool)
    for begin in (0, half):
        visible[begin : begin + half, begin : begin + half] = torch.ones(half, half).tril().bool()
    assert Parts.from_mask(visible) == Parts(0, ((0, half, 0, half), (half, rows, half, rows)))


@pytest.fixture
def llama() -> LlamaForCausalLM:
    torch.manual_seed(0)
    sizes = {"hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}
    return LlamaForCausalLM(LlamaConfig(vocab_size=50, initializer_range=0.3, **sizes)).eval()


TRIE = build_trie([[1] * 40 + [first, second, 3] for first in range(9) for second in (1, 2)], [42] * 18)


def test_a_tree_is_scored_in_parts_and_the_model_comes_back_as_it_was(llama, monkeypatch):
    called = []
    attend = attention._attend
    monkeypatch.setattr(attention, "_attend", lambda *total: called.append(total) or attend(*total))
    in_parts_scores = score_tree(llama, TRIE, limit=16).logprobs
    assert called
    assert llama.config._attn_implementation == "sdpa"
    called.clear()
    llama.set_attn_implementation("eager")
    assert score_tree(llama, TRIE, limit=16).logprobs == pytest.approx(in_parts_scores, abs=1e-4)
    assert not called
    assert llama.config._attn_implementation == "eager"


@pytest.mark.parametrize("change", ["slice", "softcap", "rows", "type", "strides"])
def test_what_parts_are_not_known_to_hold_for_is_left_to_torch(monkeypatch, change):
    monkeypatch.setattr(attention, "sdpa_attention_forward", lambda *_, **__: ("torch's own", None))
    visible = torch.ones(4, 6, dtype=torch.bool).tril(2)
    mask = splittable(additive(visible, torch.float32), visible)
    query, (key, value) = torch.randn(1, 2, 4, 8), torch.randn(2, 1, 2, 6, 8)
    options = {}
    if change == "slice":
        mask = mask[:, :, :, :]
    elif change == "softcap":
        options = {"softcap": 30.0}
    elif change == "rows":
        query = query.expand(3, -1, -1, -1)
    elif change == "strides":
        query = torch.randn(1, 2, 8, 4).transpose(2, 3)
    else:
        query = query.double()
    assert parts_attention(Grouped(), query, key, value, mask, **options)[0] == "torch's own"


def test_the_implementation_is_taken_back_after_an_error(llama):
    with pytest.raises(ZeroDivisionError), in_parts(llama):
        assert llama.config._attn_implementation == attention.NAME
        raise ZeroDivisionError
    assert llama.config._attn_implementation == "sdpa"


def test_parts_of_a_model_keep_the_attention_that_they_were_given(llama):
    """A model of parts, one of which takes attention of its own, as with soft caps or sinks."""
    model = LlamaForCausalLM(
        LlamaConfig(vocab_size=50, hidden_size=32, intermediate_size=32, num_hidden_layers=1)
    )
    model.set_attn_implementation("eager")
    llama.add_module("other", model)
    with in_parts(llama):
        assert llama.config._attn_implementation == attention.NAME
        assert model.config._attn_implementation == "eager"
    assert (llama.config._attn_implementation, model.config._attn_implementation) == ("sdpa", "eager")


def test_in_64_bits_no_digit_is_lost(llama):
    model = llama.double()
    sequences = [[1] * 40 + [first, second, 3] for first in range(9) for second in (1, 2)]
    exact = score_alone(model, sequences, [42] * 18).logprobs
    assert score_tree(model, TRIE, limit=16).logprobs == pytest.approx(exact, abs=1e-12)


def test_large_scores_of_16_bits_are_hidden_too(llama):
    """What is hidden stays so where scores reach the least number that float16 has."""
    with torch.no_grad():
        for layer in llama.model.layers:
            layer.self_attn.q_proj.weight *= 300
            layer.self_attn.k_proj.weight *= 300
    model = llama.half()
    sequences = [[1] * 40 + [first, second, 3] for first in range(9) for second in (1, 2)]
    exact = score_alone(model, sequences, [42] * 18).logprobs
    computed = score_tree(model, TRIE, limit=256).logprobs
    assert np.isfinite(computed).all()
    assert np.abs(computed - exact).mean() < 0.1
