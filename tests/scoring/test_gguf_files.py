"""GGUF files of small models score as these models do, or are refused."""

import json
from pathlib import Path
from types import SimpleNamespace

import gguf
import numpy as np
import pytest
import torch
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    LlamaConfig,
    LlamaForCausalLM,
    Qwen2Config,
    Qwen2ForCausalLM,
)

from abovechance.core.errors import InputError
from abovechance.scoring.fetching import fetch_tokenizer
from abovechance.scoring.gguf_files import _check_is_read, _File, convert_gguf, tokenizer_of_gguf
from tests.tiny import save_tiny_model

IDS = torch.tensor([[int(token) for token in np.random.default_rng(0).integers(5, 290, 100)]])
LLAMA_3 = {"rope_type": "llama3", "rope_theta": 500_000.0, "factor": 32.0, "low_freq_factor": 1.0}
LLAMA_3 |= {"high_freq_factor": 4.0, "original_max_position_embeddings": 8192}
# {name of a part of a layer in transformers: that in GGUF}
PARTS = {"self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v"}
PARTS |= {"self_attn.o_proj": "attn_output", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up"}
PARTS |= {"mlp.down_proj": "ffn_down", "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm"}
OTHERS = {"model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output"}


def write_gguf(path, folder, keys=(), divisors=None, pre="gpt-2", architecture="llama", heads=True):
    """Write a model as llama.cpp's converter does, with further ``keys`` of its architecture."""
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    config = model.config
    writer = gguf.GGUFWriter(str(path), architecture)
    writer.add_name("tiny")
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    if heads:
        writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_vocab_size(config.vocab_size)
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    for key, value in dict(keys).items():
        add = {str: writer.add_string, float: writer.add_float32, bool: writer.add_bool}
        add.get(type(value), writer.add_uint32)(f"{architecture}.{key}", value)
    add_tokenizer(writer, folder, pre, config.vocab_size)
    for name, tensor in model.state_dict().items():
        stem, kind = name.rsplit(".", 1)
        array = tensor.numpy()
        if stem in OTHERS:
            place = OTHERS[stem]
        else:
            _, _, layer, part = stem.split(".", 3)
            place = f"blk.{layer}.{PARTS[part]}"
            if architecture == "llama" and PARTS[part] in ("attn_q", "attn_k"):
                halves = array.reshape(config.num_attention_heads, 2, -1, *array.shape[1:])
                array = halves.swapaxes(1, 2).reshape(array.shape)
        writer.add_tensor(f"{place}.{kind}", np.ascontiguousarray(array))
    if divisors is not None:
        writer.add_tensor("rope_freqs.weight", np.asarray(divisors, dtype=np.float32))
    return close(writer, path)


def add_tokenizer(writer, folder, pre, size, **settings):
    tokenizer = json.loads((folder / "tokenizer.json").read_text())["model"]
    tokens = sorted(tokenizer["vocab"], key=tokenizer["vocab"].get)
    tokens += [f"[PAD{place}]" for place in range(len(tokens), size)]
    writer.add_tokenizer_model("gpt2")
    if pre:
        writer.add_tokenizer_pre(pre)
    writer.add_token_list(tokens)
    writer.add_token_types([1] * len(tokens))
    writer.add_token_merges([" ".join(pair) for pair in tokenizer["merges"]])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(0)
    if "begins" in settings:
        writer.add_add_bos_token(settings["begins"])


def close(writer, path) -> Path:
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def logits(folder):
    with torch.inference_mode():
        return AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)(IDS).logits


def llama_3_divisors(folder):
    """(frequencies,) what llama.cpp divides the frequencies of a Llama 3.1 or later by."""
    rotary = AutoModelForCausalLM.from_pretrained(folder).model.rotary_emb
    width = 2 * len(rotary.inv_freq)
    plain = 500_000.0 ** -(np.arange(0, width, 2) / width)
    return plain / rotary.inv_freq.double().numpy()


def same_after_conversion(folder, gguf_file):
    converted = folder.parent / "converted"
    convert_gguf(gguf_file, converted)
    torch.testing.assert_close(logits(converted), logits(folder), atol=2e-5, rtol=0)
    return json.loads((converted / "config.json").read_text())


def test_a_llama_scores_as_before_its_conversion(tmp_path):
    folder = save_tiny_model(tmp_path / "m", rope_parameters={"rope_type": "default", "rope_theta": 7e4})
    same_after_conversion(folder, write_gguf(tmp_path / "m.gguf", folder))


def test_a_qwen_with_biases_scores_as_before_its_conversion(tmp_path):
    folder = save_tiny_model(tmp_path / "m")
    sizes = {"vocab_size": 300, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2}
    model = Qwen2ForCausalLM(Qwen2Config(num_attention_heads=2, num_key_value_heads=2, **sizes))
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            torch.nn.init.normal_(parameter)
    model.save_pretrained(folder)
    same_after_conversion(folder, write_gguf(tmp_path / "m.gguf", folder, pre="qwen2", architecture="qwen2"))


def test_linear_scaling_of_positions_is_read(tmp_path):
    folder = save_tiny_model(tmp_path / "m", rope_parameters={"rope_type": "linear", "factor": 4.0})
    keys = {"rope.scaling.type": "linear", "rope.scaling.factor": 4.0}
    config = same_after_conversion(folder, write_gguf(tmp_path / "m.gguf", folder, keys))
    assert config["rope_parameters"]["factor"] == 4


def test_scaling_by_an_older_key_or_by_none(tmp_path):
    folder = save_tiny_model(tmp_path / "m", rope_parameters={"rope_type": "linear", "factor": 4.0})
    same_after_conversion(folder, write_gguf(tmp_path / "m.gguf", folder, {"rope.scale_linear": 4.0}))
    folder = save_tiny_model(tmp_path / "n")
    keys = {"rope.scaling.type": "none", "rope.scaling.factor": 4.0}
    same_after_conversion(folder, write_gguf(tmp_path / "n.gguf", folder, keys))


def test_heads_that_transformers_would_mix_up_are_refused(tmp_path):
    folder = save_tiny_model(tmp_path / "m")
    with pytest.raises(InputError, match="lacks the key 'llama.attention.head_count_kv'"):
        convert_gguf(write_gguf(tmp_path / "m.gguf", folder, heads=False), tmp_path / "converted")


def test_the_scaling_of_llama_3_is_read(tmp_path):
    # 64 frequencies, as in Llama 3: some are not divided, some by the whole factor, some by less
    folder = save_tiny_model(tmp_path / "m", head_dim=128, rope_parameters=LLAMA_3)
    divisors = llama_3_divisors(folder)
    assert divisors.min() == pytest.approx(1)
    assert divisors.max() == pytest.approx(32)
    written = write_gguf(tmp_path / "m.gguf", folder, {"rope.dimension_count": 128}, divisors)
    read = same_after_conversion(folder, written)["rope_parameters"]
    assert read == LLAMA_3 | {"factor": pytest.approx(32, rel=1e-5)}


def test_divisors_of_one_change_nothing(tmp_path):
    folder = save_tiny_model(tmp_path / "m")
    same_after_conversion(folder, write_gguf(tmp_path / "m.gguf", folder, divisors=np.ones(8)))


UNREAD = {
    "yarn": ({"rope.scaling.type": "yarn", "rope.scaling.factor": 4.0}, None, "scaled as 'yarn'"),
    "other divisors": ({}, np.linspace(1, 3, 8), "other frequencies of positions"),
    "linear and divisors": ({"rope.scaling.factor": 2.0}, np.linspace(1, 3, 8), "other frequencies"),
    "longrope": ({"rope.scaling.type": "longrope"}, None, "scaled as 'longrope'"),
    "half of a head rotated": ({"rope.dimension_count": 8}, None, "m.gguf: "),
    "other layers": ({"rope.freq_base_swa": 5.0}, None, "other frequencies of positions"),
    "epsilon": (
        {"attention.layer_norm_epsilon": 0.25},
        None,
        "ignores the key 'llama.attention.layer_norm_e",
    ),
    "norms": ({"ssm.dt_b_c_rms": True}, None, "ignores the key 'llama.ssm.dt_b_c_rms'"),
    "sliding window": ({"attention.sliding_window": 16}, None, "ignores the key 'llama.attention.sliding"),
    "scale": ({"logit_scale": 16.0}, None, "ignores the key 'llama.logit_scale'"),
}


@pytest.mark.parametrize("name", UNREAD)
def test_what_transformers_would_leave_out_is_refused(tmp_path, name):
    keys, divisors, problem = UNREAD[name]
    folder = save_tiny_model(tmp_path / "m")
    written = write_gguf(tmp_path / "m.gguf", folder, keys, divisors)
    with pytest.raises(InputError, match=problem):
        convert_gguf(written, tmp_path / "converted")
    assert not (tmp_path / "converted").exists()


def test_tensors_that_transformers_would_leave_out_are_refused(tmp_path):
    folder = save_tiny_model(tmp_path / "m", attention_bias=True)
    with pytest.raises(InputError, match="its tensors have .* numbers, the model that transformers makes"):
        convert_gguf(write_gguf(tmp_path / "m.gguf", folder), tmp_path / "converted")


def tokenizer_file(tmp_path, pre, **settings):
    folder = save_tiny_model(tmp_path / "m")
    writer = gguf.GGUFWriter(str(tmp_path / "t.gguf"), "llama")
    writer.add_name("tiny")
    add_tokenizer(writer, folder, pre, 300, **settings)
    return close(writer, tmp_path / "t.gguf")


@pytest.mark.parametrize("with_first", [None, True, False])
def test_blanks_are_those_of_sentencepiece(tmp_path, with_first):
    """llama.cpp puts a blank before each text unless the file denies it, also before a text with one."""
    writer = gguf.GGUFWriter(str(tmp_path / "t.gguf"), "llama")
    writer.add_name("tiny")
    tokens = ["<unk>", "<s>", "</s>", "\u2581", "i", "s", "is", "\u2581is", "\u2581\u2581"]
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens)
    writer.add_token_scores([0.0] * 3 + [-5.0, -6.0, -7.0, -2.0, -1.0, -3.0])
    writer.add_token_types([2, 3, 3] + [1] * (len(tokens) - 3))
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    if with_first is not None:
        writer.add_add_space_prefix(with_first)
    tokenizer_of_gguf(close(writer, tmp_path / "t.gguf")).save_pretrained(tmp_path / "saved")
    read = AutoTokenizer.from_pretrained(tmp_path / "saved")
    expected = {
        "is is": ["is", "\u2581is"] if with_first is False else ["\u2581is", "\u2581is"],
        " is": ["\u2581is"] if with_first is False else ["\u2581", "\u2581is"],
    }
    assert {text: read.tokenize(text) for text in expected} == expected
    assert read("is")["input_ids"][0] == 1


def parts(tokenizer, text):
    return [part for part, _ in tokenizer.backend_tokenizer.pre_tokenizer.pre_tokenize_str(text)]


def test_texts_are_split_as_the_file_says(tmp_path):
    # the parts, by hand from llama.cpp's expressions: blanks are Ġ, ends of lines Ċ
    text = "A.\n\n12  34"
    splits = {
        "gpt-2": ["A", ".", "Ċ", "Ċ", "12", "Ġ", "Ġ34"],
        "smollm": ["A", ".", "ĊĊ", "1", "2", "ĠĠ", "3", "4"],
        "llama-bpe": ["A", ".ĊĊ", "12", "Ġ", "Ġ", "34"],
        "qwen2": ["A", ".ĊĊ", "1", "2", "Ġ", "Ġ", "3", "4"],
    }
    for pre, expected in splits.items():
        read = tokenizer_of_gguf(tokenizer_file(tmp_path, pre))
        assert parts(read, text) == expected, pre


@pytest.mark.parametrize("pre", [None, "default", "falcon", "new"])
def test_an_unknown_way_of_splitting_texts_is_refused(tmp_path, pre):
    path = tokenizer_file(tmp_path, pre)
    with pytest.raises(InputError, match="lacks the key|texts are split as"):
        tokenizer_of_gguf(path)
    server = {"model": "m", "kind": "llama.cpp", "url": "http://x", "revision": "1", "tokenizer": str(path)}
    with pytest.raises(InputError, match="t.gguf: lacks the key|t.gguf: texts are split as"):
        fetch_tokenizer(server, tmp_path / "out")


@pytest.mark.parametrize(
    ("pre", "settings", "begins"),
    [
        ("llama-bpe", {}, True),
        ("llama-bpe", {"begins": False}, False),
        ("llama-bpe", {"begins": True}, True),
        ("qwen2", {}, False),
        ("qwen2", {"begins": True}, True),
    ],
)
def test_texts_begin_as_llama_cpp_begins_them(tmp_path, pre, settings, begins):
    read = tokenizer_of_gguf(tokenizer_file(tmp_path, pre, **settings))
    read.save_pretrained(tmp_path / "saved")
    for tokenizer in (read, AutoTokenizer.from_pretrained(tmp_path / "saved")):
        assert (tokenizer("is it")["input_ids"][0] == 0) == begins
        assert tokenizer.backend_tokenizer.model.ignore_merges == (pre == "llama-bpe")


def test_a_key_that_agrees_with_the_config_is_read():
    # as in files of Gemma 2: transformers has the same value by default
    sizes = {"vocab_size": 30, "hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1}
    model = LlamaForCausalLM(LlamaConfig(num_attention_heads=2, **sizes))
    model.config.final_logit_softcapping = 30.0
    tensors = [SimpleNamespace(name=name, n_elements=part.numel()) for name, part in model.named_parameters()]
    keys = {"general.architecture": "gemma2", "gemma2.final_logit_softcapping": np.float32(30)}

    def file(changes):
        fields = {key: SimpleNamespace(contents=lambda value=value: value) for key, value in changes.items()}
        opened = _File(Path("m.gguf"))
        opened.__dict__["reader"] = SimpleNamespace(fields=fields, tensors=tensors)
        return opened

    _check_is_read(model, file(keys))
    phi = {"general.architecture": "phi3", "phi3.attention.sliding_window": 2047}
    _check_is_read(model, file(phi))  # llama.cpp ignores it, too
    with pytest.raises(InputError, match="ignores the key 'gemma2.final_logit_softcapping'"):
        _check_is_read(model, file(keys | {"gemma2.final_logit_softcapping": 20.0}))
    model.config.query_pre_attn_scalar, model.config.head_dim = 256, 256
    _check_is_read(model, file(keys))
    model.config.query_pre_attn_scalar = 128
    with pytest.raises(InputError, match="how this Gemma scales attention"):
        _check_is_read(model, file(keys))
    model.config.query_pre_attn_scalar, model.config.num_hidden_layers = 256, 46
    with pytest.raises(InputError, match="how this Gemma scales attention"):
        _check_is_read(model, file(keys))
