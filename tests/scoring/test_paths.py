"""What a few short strings cannot show, and what models do that they should not."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedModel

from abovechance.core.errors import InputError
from abovechance.scoring.algorithms import Paths, score
from abovechance.scoring.cells import Scorer
from abovechance.scoring.engine import changing_positions
from abovechance.scoring.tokens import PromptStrings, Tokens
from tests.scoring.test_families import GPT_LIKE, LLAMA_LIKE, direct


def model_of(kind: str, **settings: object) -> PreTrainedModel:
    """A small model with random weights, large enough that what a token sees changes what it predicts."""
    torch.manual_seed(0)
    config = AutoConfig.for_model(
        kind, vocab_size=300, pad_token_id=0, bos_token_id=1, eos_token_id=2, **settings
    )
    model = AutoModelForCausalLM.from_config(config)
    for parameter in model.parameters():
        if parameter.dim() > 1:
            torch.nn.init.normal_(parameter, std=0.2)
    return model.eval()


def strings(*lengths: int, trunk: int = 20) -> Tokens:
    """Strings of these lengths behind one beginning, the last two tokens of each its choice."""
    generator = np.random.default_rng(0)
    begin = generator.integers(3, 300, trunk).tolist()
    sequences = [begin + generator.integers(3, 300, length - trunk).tolist() for length in lengths]
    return Tokens(sequences, [length - 2 for length in lengths])


def fresh(model: PreTrainedModel, tokens: Tokens) -> list[float]:
    """The definition on a model that has read nothing before each string."""
    results = []
    for at in range(len(tokens.sequences)):
        new = type(model)(model.config).eval()
        new.load_state_dict(model.state_dict())
        results += direct(new, Tokens([tokens.sequences[at]], [tokens.starts[at]]))
    return results


ROPE = {"rope_theta": 10000.0, "factor": 4.0}
LONG = {
    "rope_type": "longrope",
    "rope_theta": 10000.0,
    "factor": 4.0,
    "original_max_position_embeddings": 32,
    "short_factor": [1.0] * 8,
    "long_factor": [1.5 + 0.2 * i for i in range(8)],
}
LATE = {
    "gpt_neo, windows of 24": (
        "gpt_neo",
        {
            "hidden_size": 64,
            "num_layers": 2,
            "num_heads": 4,
            "attention_types": [[["global", "local"], 1]],
            "window_size": 24,
        },
        "batched",
    ),
    "dynamic positions from 32": (
        "llama",
        {**LLAMA_LIKE, "max_position_embeddings": 32, "rope_parameters": {"rope_type": "dynamic", **ROPE}},
        "alone",
    ),
    "a selection of 8 tokens": ("doge", {**LLAMA_LIKE, "keep_window_size": 8}, "plain"),
    "long positions from 32": (
        "llama",
        {**LLAMA_LIKE, "max_position_embeddings": 128, "rope_parameters": LONG},
        "alone",
    ),
}


@pytest.mark.parametrize("name", LATE)
def test_what_begins_after_the_short_strings_is_seen_on_the_jobs_own(name):
    kind, settings, expected = LATE[name]
    model, tokens = model_of(kind, **settings), strings(25, 70, 28, 90, 31)
    exact = fresh(model, tokens)
    paths = Paths.for_model(model, max(map(len, tokens.sequences)))
    computed = paths.proved(tokens, 256, strings=2)
    assert paths.path == expected, paths.why
    assert computed.logprobs == pytest.approx(exact, abs=2e-4)
    # and again, whatever was read before
    assert score(model, tokens, paths.path).logprobs == pytest.approx(exact, abs=2e-4)


def test_strings_share_no_cache_if_tokens_are_selected():
    """Few strings do not show it: some strings' selections are the same in a shared cache."""
    kind, settings, _ = LATE["a selection of 8 tokens"]
    model = model_of(kind, **settings)
    paths = Paths.for_model(model, 9)
    assert (paths.names, paths.why) == (["plain", "alone"], "a token selects 8 of the tokens before it")
    assert Paths.for_model(model, 8).path == "batched"


def test_positions_that_change_later_than_the_longest_string_do_not_matter():
    kind, settings, _ = LATE["dynamic positions from 32"]
    model = model_of(kind, **settings)
    assert changing_positions(model) == 32
    assert Paths.for_model(model, 32).path == "tree"
    assert changing_positions(model_of("llama", **LLAMA_LIKE)) is None


def test_a_window_that_the_model_ignores_is_not_believed():
    model, tokens = model_of("llama", **LLAMA_LIKE), strings(25, 60, 50)
    model.config.sliding_window = 24
    paths = Paths.for_model(model)
    assert paths.path == "tree"  # short strings do not show it
    assert paths.proved(tokens, 256, strings=2).logprobs == pytest.approx(direct(model, tokens), abs=2e-4)
    assert paths.path == "batched"
    assert "in 60 tokens" in paths.why


class Wrapped:
    """A model whose forward pass is another one."""

    def __init__(self, model: PreTrainedModel, forward) -> None:
        self.model, self._forward = model, forward

    def __getattr__(self, name: str):
        return getattr(self.model, name)

    def forward(
        self, input_ids=None, attention_mask=None, position_ids=None, past_key_values=None, **rest_score
    ):
        raise NotImplementedError  # its parameters are what counts

    def __call__(self, **inputs):
        return self._forward(self.model, inputs)


def with_forward(forward) -> Wrapped:
    return Wrapped(model_of("llama", **LLAMA_LIKE), forward)


def test_a_model_that_gives_all_logits_whatever_it_is_asked_for_is_scored_right():
    model = with_forward(
        lambda model, inputs: model(**{k: v for k, v in inputs.items() if k != "logits_to_keep"})
    )
    tokens = strings(25, 40)
    for path in ("tree", "batched", "plain"):
        assert score(model, tokens, path).logprobs == pytest.approx(direct(model.model, tokens), abs=1e-4)


@pytest.mark.parametrize("problem", [IndexError, AssertionError, NotImplementedError, KeyError])
def test_a_model_that_raises_anything_for_a_mask_takes_another_path(problem):
    def forward(model, inputs):
        mask = inputs.get("attention_mask")
        if mask is not None and mask.dim() == 4:
            raise problem("no such mask")
        return model(**inputs)

    paths = Paths.for_model(with_forward(forward))
    assert paths.path == "batched"
    assert "nan nats" in paths.why


def test_a_path_that_breaks_the_gpu_is_not_taken_for_one_that_the_model_refuses():
    def forward(model, inputs):
        if "attention_mask" in inputs:
            raise torch.AcceleratorError(
                "CUDA error: device-side assert triggered\nSearch for `cudaErrorAssert'"
            )
        return model(**inputs)

    with pytest.raises(torch.AcceleratorError):
        Paths.for_model(with_forward(forward))


def test_a_model_that_sees_what_comes_later_is_refused():
    with pytest.raises(InputError, match="of the type 'bert' sees the tokens behind those that it predicts"):
        Paths.for_model(model_of("bert", hidden_size=64, num_hidden_layers=2, num_attention_heads=4))


def test_a_model_whose_scores_are_not_the_same_twice_is_refused():
    def forward(model, inputs):
        return SimpleNamespace(logits=model(**inputs).logits + torch.randn(1, 1, 300))

    with pytest.raises(InputError, match="scores a text in another way the second time"):
        Paths.for_model(with_forward(forward))


def test_a_model_whose_scores_of_longer_strings_are_not_the_same_twice_is_refused():
    def forward(model, inputs):
        logits = model(**inputs).logits
        if inputs["input_ids"].shape[1] > 20:
            logits = logits + torch.randn(1, 1, 300)
        return SimpleNamespace(logits=logits)

    paths = Paths.for_model(with_forward(forward))
    for names in ([*paths.names], ["alone"]):
        paths.names[:] = names
        with pytest.raises(InputError, match="scores a text in another way the second time"):
            paths.proved(strings(25, 60), 256, strings=2)


def test_a_model_that_gives_no_numbers_or_raises_is_refused():
    def nothing(model, inputs):
        return SimpleNamespace(logits=model(**inputs).logits * float("nan"))

    def fails(model, inputs):
        raise RuntimeError("shapes\ndo not fit")

    def breaks_the_gpu(model, inputs):
        raise torch.AcceleratorError(
            "CUDA error: out of range\nSearch for `cudaErrorAssert' in ...\nFor debugging"
        )

    with pytest.raises(InputError, match="gives nan for a short text"):
        Paths.for_model(with_forward(nothing))
    with pytest.raises(InputError, match=r"cannot read a text by itself \(RuntimeError: shapes do not fit\)"):
        Paths.for_model(with_forward(fails))
    with pytest.raises(
        InputError, match=r"cannot read a text .* \(AcceleratorError: CUDA error: out of range\)"
    ):
        Paths.for_model(with_forward(breaks_the_gpu))


def test_in_sixteen_bits_rounding_is_told_from_error():
    model = model_of("gpt_neox", **GPT_LIKE, intermediate_size=96).to(torch.bfloat16)
    tokens = strings(25, 60, 50)
    paths = Paths.for_model(model)
    paths.proved(tokens, 256, strings=3)
    assert paths.path == "tree", paths.why


def test_a_text_that_is_longer_than_the_model_can_read_is_told():
    message = r"cannot read a string of 60 tokens \(IndexError: .*; use fewer"
    # on a GPU, this error is the last thing that the process computes
    with torch.device("cpu"), pytest.raises(InputError, match=message):
        model = model_of("gpt2", n_embd=64, n_layer=1, n_head=4, n_positions=40)
        Paths.for_model(model).proved(strings(25, 60), 256, strings=2)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_rounding_of_large_logits_is_not_taken_for_seeing_ahead(dtype):
    model = model_of("llama", **LLAMA_LIKE)
    with torch.no_grad():
        model.lm_head.weight.mul_(20)
    assert Paths.for_model(model.to(dtype)).path in ("tree", "batched", "plain", "alone")


def zero_shot(seed: int) -> Tokens:
    """100 strings of other lengths that share little, as a job of one prompt without demonstrations."""
    generator = np.random.default_rng(seed)
    begin, sequences, starts = generator.integers(3, 300, 20).tolist(), [], []
    for length in generator.integers(8, 90, 25).tolist():
        question = begin + generator.integers(3, 300, length).tolist()
        for _ in range(4):
            sequences.append(question + generator.integers(3, 300, 2).tolist())
            starts.append(len(question))
    return Tokens(sequences, starts)


SPARSE = {
    **{"hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": 4},
    **{"num_key_value_heads": 4, "q_lora_rank": 32, "kv_lora_rank": 16, "qk_rope_head_dim": 8},
    **{"qk_nope_head_dim": 8, "v_head_dim": 16, "n_routed_experts": 4, "num_experts_per_tok": 1},
    **{"n_group": 1, "topk_group": 1, "n_shared_experts": 1, "moe_intermediate_size": 96},
    **{"index_topk": 32, "index_n_heads": 2, "index_head_dim": 16, "first_k_dense_replace": 1},
}


@pytest.mark.parametrize("seed", range(4))
def test_local_layers_that_go_by_places_in_a_row_are_no_tree(seed):
    """A window that only packs exceed: a few strings cannot show it."""
    model = model_of(
        "gpt_neo", hidden_size=32, num_layers=2, num_heads=2, attention_types=[[["global", "local"], 1]]
    )
    tokens = zero_shot(seed)
    paths = Paths.for_model(model)
    assert paths.path == "batched"
    assert "tree: it may look back by places in a row (window_size)" in paths.why
    assert score(model, tokens, "batched").logprobs == pytest.approx(direct(model, tokens), abs=2e-4)


def test_windows_that_masks_know_are_a_tree():
    settings = LLAMA_LIKE | {"max_position_embeddings": 400, "sliding_window": 24}
    for kind, more in (("qwen2", {"use_sliding_window": True, "max_window_layers": 0}), ("gemma3_text", {})):
        assert Paths.for_model(model_of(kind, **settings | more)).path == "tree"


@pytest.mark.parametrize("name", ["ignored window", "sparse attention"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_job_of_one_prompt_is_proved_where_its_strings_tell(name, seed):
    tokens = zero_shot(seed)
    if name == "ignored window":
        model = model_of("llama", **LLAMA_LIKE)
        model.config.sliding_window = 64
    else:
        model = model_of("deepseek_v32", **SPARSE)
    number = len(tokens.sequences)
    strings = PromptStrings(tuple(map(str, range(number))), (0,) * number, ("c",) * number, (" x",) * number)
    scorer = Scorer(model, lambda _: tokens)
    rows, _ = scorer.prove(strings, prompts=1, longest=0)
    assert rows["logprob"].to_numpy() == pytest.approx(direct(model, tokens), abs=2e-4), scorer.paths.why
