"""GGUF files, as folders with safetensors, or refused if transformers reads them otherwise than llama.cpp.

transformers leaves out what it does not know: keys that scale positions, tensors, and rules by which texts
are split. The model that results has other scores, so all of these are looked at.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import torch
from gguf import GGUFReader
from tokenizers import Tokenizer, normalizers
from tokenizers.models import BPE
from tokenizers.normalizers import Prepend, Replace
from tokenizers.pre_tokenizers import ByteLevel, Digits, Sequence
from transformers import (
    AutoConfig,
    AutoTokenizer,
    GgufConfig,
    PreTrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from abovechance.core.arrays import Floats
from abovechance.core.errors import InputError
from abovechance.scoring.weights import load_whole, save

# Values of ``tokenizer.ggml.pre`` in llama.cpp (src/llama-vocab.cpp): texts are split as by GPT-2 ...
AS_GPT2 = frozenset(
    ["gpt-2", "phi-2", "gigachat", "a.x-4.0", "mellum", "exaone4", "mpt", "olmo", "jais", "trillion"]
)
# ... or as by GPT-2 with each digit alone ...
DIGITS_ALONE = frozenset(
    ["starcoder", "refact", "command-r", "smollm", "codeshell", "exaone", "minerva-7b", "mellum2"]
)
# ... or as by Llama 3: words that are tokens stay whole, and a token begins unless the file denies it
AS_LLAMA_3 = frozenset(
    ["llama3", "llama-v3", "llama-bpe", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2", "tekken"]
)
SPLIT_IN_OTHER_WAYS = "A.\n\n12  34's"  # by every rule but that of GPT-2
# Keys of an architecture that change scores, but no shape; the last part is their name in the config.
DECIDING = (
    *("attention.scale", "attention.sliding_window", "attention.clamp_kqv", "attention.max_alibi_bias"),
    *("attn_logit_softcapping", "final_logit_softcapping", "router_logit_softcapping"),
    *("embedding_scale", "residual_scale", "logit_scale", "expert_weights_scale", "ssm.dt_b_c_rms"),
    *("attention.layer_norm_rms_epsilon", "attention.layer_norm_epsilon"),
)
# what configs call the last two
EPSILON = ("rms_norm_eps", "layer_norm_epsilon", "layer_norm_eps", "norm_epsilon", "norm_eps")
PHI_3 = ("phi3", "attention.sliding_window")  # which llama.cpp leaves out, too
BLANK = "\u2581"
GEMMA_27B = (46, 62)  # layers: llama.cpp knows by them that attention is scaled in another way
ROPE_FREQUENCIES = "rope_freqs.weight"


def convert_gguf(gguf: Path, folder: Path) -> None:
    """Dequantize a GGUF file to a folder of float32 safetensors, once, since it is slow.

    Raises
    ------
    InputError
        If the file is no GGUF, damaged, or of a kind that transformers cannot read, or would read otherwise
        than llama.cpp.
    """
    home, name = str(gguf.parent), gguf.name
    try:
        tokenizer = tokenizer_of_gguf(gguf)
        reader = GGUFReader(gguf)
        config = AutoConfig.from_pretrained(home, gguf_file=name)
        _scale_positions(config, reader, gguf)
        model = load_whole(
            home,
            str(gguf),
            gguf_file=name,
            config=config,
            dtype=torch.float32,
            quantization_config=GgufConfig(dequantize=True),
        )
        _check_is_read(model, reader, gguf)
        _check_positions(model, reader, gguf)
    except InputError:
        raise
    except Exception as error:  # libraries raise anything for such files
        first = " ".join(str(error).split())[:200]
        raise InputError(
            f"{gguf}: transformers cannot read it as a GGUF model ({type(error).__name__}: {first})"
        ) from None
    save(model, tokenizer, folder)


def tokenizer_of_gguf(gguf: Path) -> PreTrainedTokenizerBase:
    """Return the tokenizer of a GGUF file, which makes the same tokens as llama.cpp's.

    Raises
    ------
    InputError
        If the file does not say how texts are split, or in a way that transformers does not know.
    """
    reader = GGUFReader(gguf)
    split = _value(reader, "tokenizer.ggml.pre")
    begins = _value(reader, "tokenizer.ggml.add_bos_token")
    has_beginning = _value(reader, "tokenizer.ggml.bos_token_id") is not None
    default = {"add_bos_token": True} if begins is None and has_beginning and split in AS_LLAMA_3 else {}
    tokenizer = AutoTokenizer.from_pretrained(str(gguf.parent), gguf_file=gguf.name, **default)
    kind, architecture = _value(reader, "tokenizer.ggml.model"), _value(reader, "general.architecture")
    if kind == "gpt2":
        _split_by_rule(tokenizer.backend_tokenizer, split, gguf)
    elif kind == "llama" and not architecture.startswith("gemma"):
        _write_blanks(tokenizer.backend_tokenizer, _value(reader, "tokenizer.ggml.add_space_prefix", True))
    return tokenizer


def _write_blanks(backend: Tokenizer, with_first: bool) -> None:
    """Write blanks of a text as SentencePiece does, with one before the text also if it begins with one."""
    first = [Prepend(BLANK)] if with_first else []
    backend.normalizer = normalizers.Sequence([*first, Replace(" ", BLANK)])
    backend.pre_tokenizer = None


def _split_by_rule(backend: Tokenizer, split: str | None, gguf: Path) -> None:
    """Split texts of a byte-level tokenizer by the rule of this name."""
    if split is None:
        _refuse(gguf, "has no key 'tokenizer.ggml.pre', which says how texts are split")
    as_gpt2 = ByteLevel(add_prefix_space=False)
    if split in DIGITS_ALONE:
        backend.pre_tokenizer = Sequence([Digits(individual_digits=True), as_gpt2])
    elif split not in AS_GPT2:
        parts = [rule.pre_tokenize_str(SPLIT_IN_OTHER_WAYS) for rule in (backend.pre_tokenizer, as_gpt2)]
        if parts[0] == parts[1]:
            _refuse(
                gguf, f"texts are split as '{split}' ('tokenizer.ggml.pre'), which transformers does not know"
            )
    if split in AS_LLAMA_3 and isinstance(backend.model, BPE):
        backend.model.ignore_merges = True


def _scale_positions(config: PreTrainedConfig, reader: GGUFReader, gguf: Path) -> None:
    """Put the scaling of positions into the config, where transformers leaves it out."""
    kind, factor, divisors = _scaling(reader)
    if kind not in ("none", "linear"):
        _refuse(gguf, f"positions are scaled as '{kind}', which transformers leaves out")
    if (divisors != 1).any():
        # as in Llama 3.1 and later; if the file has another scaling, _check_positions refuses it
        scaling: dict[str, Any] = {"rope_type": "llama3", "factor": float(divisors.max())}
        scaling |= {"low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}
    elif factor != 1:
        scaling = {"rope_type": "linear", "factor": factor}
    else:
        return
    parameters = getattr(config, "rope_parameters", None) or {}
    scaled = parameters.get("full_attention", parameters)
    if scaled.get("rope_type") == "default":
        scaled |= scaling


def _check_positions(model: PreTrainedModel, reader: GGUFReader, gguf: Path) -> None:
    """Raise InputError unless the model rotates by the frequencies that the file says."""
    _, factor, divisors = _scaling(reader)
    architecture = _value(reader, "general.architecture")
    frequencies = [
        buffer.double().cpu().numpy()
        for name, buffer in model.named_buffers()
        if name.endswith("inv_freq") and "original" not in name
    ]
    if not frequencies:
        return
    for layers, scaled_by in {"": divisors * factor, "_swa": np.ones(1)}.items():
        base = _value(reader, f"{architecture}.rope.freq_base{layers}", None if layers else 10_000.0)
        width = _value(reader, f"{architecture}.rope.dimension_count{layers}", 2 * len(frequencies[0]))
        if base is None:
            continue
        expected = base ** -(np.arange(0, width, 2) / width) / scaled_by
        if not any(
            read.shape == expected.shape and np.allclose(read, expected, 1e-4, 0) for read in frequencies
        ):
            _refuse(
                gguf,
                f"transformers reads other frequencies of positions than the file has (keys of "
                f"'{architecture}.rope', tensor '{ROPE_FREQUENCIES}')",
            )


def _scaling(reader: GGUFReader) -> tuple[str, float, Floats]:
    """The kind of scaling of positions, its factor, and by what each frequency is divided besides."""
    rope = f"{_value(reader, 'general.architecture')}.rope"
    factor = _value(reader, f"{rope}.scaling.factor") or _value(reader, f"{rope}.scale_linear") or 1.0
    divisors = [tensor.data for tensor in reader.tensors if tensor.name == ROPE_FREQUENCIES]
    kind = _value(reader, f"{rope}.scaling.type", "linear")
    if kind == "none":
        factor = 1.0
    return kind, factor, np.asarray(divisors[0] if divisors else [1.0], dtype=float)


def _check_is_read(model: PreTrainedModel, reader: GGUFReader, gguf: Path) -> None:
    """Raise InputError if a key or tensor of the file that decides scores has no effect on the model."""
    architecture, config = _value(reader, "general.architecture"), model.config
    for key in DECIDING:
        value = _value(reader, f"{architecture}.{key}")
        names = EPSILON if key.endswith("epsilon") else [key.split(".")[-1]]
        values = [getattr(config, name) for name in names if getattr(config, name, None) is not None]
        is_read = (architecture, key) == PHI_3 or any(
            value and np.isclose(value, read, 1e-5, 0) for read in values
        )
        if value and not is_read:
            _refuse(gguf, f"transformers leaves out the key '{architecture}.{key}'")
    scale = getattr(config, "query_pre_attn_scalar", None)
    if scale is not None and (scale != config.head_dim or config.num_hidden_layers in GEMMA_27B):
        _refuse(gguf, "transformers does not know how this Gemma scales attention")
    if architecture == "llama" and _value(reader, "llama.attention.head_count_kv") is None:
        _refuse(gguf, "has no key 'llama.attention.head_count_kv', without which transformers mixes up heads")
    numbers = sum(int(tensor.n_elements) for tensor in reader.tensors if tensor.name != ROPE_FREQUENCIES)
    tensors = {tensor.data_ptr(): tensor.numel() for tensor in model.state_dict().values()}
    if numbers != (count := sum(tensors.values())):
        _refuse(
            gguf,
            f"its tensors have {numbers:,} numbers, the model that transformers makes of them has {count:,}",
        )


def _refuse(gguf: Path, problem: str) -> NoReturn:
    raise InputError(f"{gguf}: {problem}; expected, in its place, a folder as transformers saves the model")


def _value(reader: GGUFReader, key: str, default: Any = None) -> Any:
    field = reader.fields.get(key)
    return default if field is None else field.contents()
