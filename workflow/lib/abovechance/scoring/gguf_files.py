"""GGUF files: they are converted to folders with safetensors, or refused.

transformers ignores the keys, tensors and rules of splitting texts that it does not know. The scores of the
converted model then differ from those of llama.cpp. So this module sets the ignored facts itself, or raises
an error.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
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

# Values of ``tokenizer.ggml.pre`` in llama.cpp (src/llama-vocab.cpp). Texts are split as by GPT-2:
AS_GPT2 = frozenset(
    ["gpt-2", "phi-2", "gigachat", "a.x-4.0", "mellum", "exaone4", "mpt", "olmo", "jais", "trillion"]
)
# Each digit is a part of its own, and the rest is split as by GPT-2:
DIGITS_ALONE = frozenset(
    ["starcoder", "refact", "command-r", "smollm", "codeshell", "exaone", "minerva-7b", "mellum2"]
)
# Words that are tokens stay whole, and texts begin with a begin-of-text token unless the file denies it:
AS_LLAMA_3 = frozenset(
    ["llama3", "llama-v3", "llama-bpe", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2", "tekken"]
)
SPLIT_IN_OTHER_WAYS = "A.\n\n12  34's"  # every rule except that of GPT-2 gives other parts
# Keys of an architecture that change scores, but no shape. The last part of a key is its name in the config.
DECIDING = (
    *("attention.scale", "attention.sliding_window", "attention.clamp_kqv", "attention.max_alibi_bias"),
    *("attn_logit_softcapping", "final_logit_softcapping", "router_logit_softcapping"),
    *("embedding_scale", "residual_scale", "logit_scale", "expert_weights_scale", "ssm.dt_b_c_rms"),
    *("attention.layer_norm_rms_epsilon", "attention.layer_norm_epsilon"),
)
# Names of the last two keys in configs.
EPSILON = ("rms_norm_eps", "layer_norm_epsilon", "layer_norm_eps", "norm_epsilon", "norm_eps")
PHI_3 = ("phi3", "attention.sliding_window")  # llama.cpp ignores this key, too
BLANK = "\u2581"
GEMMA_27B = (46, 62)  # numbers of layers for which llama.cpp scales attention in another way
ROPE_FREQUENCIES = "rope_freqs.weight"


@dataclass(frozen=True)
class _File:
    """A GGUF file that is open for reading."""

    path: Path

    @cached_property
    def reader(self) -> GGUFReader:
        return GGUFReader(self.path)

    @property
    def architecture(self) -> str:
        return str(self.value("general.architecture"))

    def value(self, key: str, default: Any = None) -> Any:
        field = self.reader.fields.get(key)
        return default if field is None else field.contents()

    def of_model(self, key: str, default: Any = None) -> Any:
        """Return the value of a key of the architecture."""
        return self.value(f"{self.architecture}.{key}", default)

    @property
    def scaling(self) -> tuple[str, float, Floats]:
        """The kind and the factor of the scaling of positions, and the divisor of each frequency."""
        kind = self.of_model("rope.scaling.type", "linear")
        factor = self.of_model("rope.scaling.factor") or self.of_model("rope.scale_linear") or 1.0
        divisors = [tensor.data for tensor in self.reader.tensors if tensor.name == ROPE_FREQUENCIES]
        return (
            kind,
            1.0 if kind == "none" else factor,
            np.asarray(divisors[0] if divisors else [1.0], dtype=float),
        )

    def refuse(self, problem: str) -> NoReturn:
        raise InputError(
            f"{self.path}: {problem}; use a folder in the format that transformers saves instead"
        )


def convert_gguf(gguf: Path, folder: Path) -> None:
    """Dequantize a GGUF file to a folder of float32 safetensors, once, because it is slow.

    Raises
    ------
    InputError
        If the file is damaged or is not a GGUF file, or if transformers cannot read it or would read it
        differently from llama.cpp.
    """
    home, name, file = str(gguf.parent), gguf.name, _File(gguf)
    try:
        tokenizer = _tokenizer(file)
        config = AutoConfig.from_pretrained(home, gguf_file=name)
        _scale_positions(config, file)
        model = load_whole(
            home,
            str(gguf),
            gguf_file=name,
            config=config,
            dtype=torch.float32,
            quantization_config=GgufConfig(dequantize=True),
        )
        _check_is_read(model, file)
        _check_positions(model, file)
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
        If the file does not state how texts are split, or states a way that transformers does not know.
    """
    return _tokenizer(_File(gguf))


def _tokenizer(file: _File) -> PreTrainedTokenizerBase:
    kind, split = file.value("tokenizer.ggml.model"), file.value("tokenizer.ggml.pre")
    begins = file.value("tokenizer.ggml.add_bos_token")
    has_beginning = file.value("tokenizer.ggml.bos_token_id") is not None
    default = {"add_bos_token": True} if begins is None and has_beginning and split in AS_LLAMA_3 else {}
    tokenizer = AutoTokenizer.from_pretrained(str(file.path.parent), gguf_file=file.path.name, **default)
    if kind == "gpt2":
        _split_by_rule(tokenizer.backend_tokenizer, split, file)
    elif kind == "llama" and not file.architecture.startswith("gemma"):
        _write_blanks(tokenizer.backend_tokenizer, file.value("tokenizer.ggml.add_space_prefix", True))
    return tokenizer


def _write_blanks(backend: Tokenizer, with_first: bool) -> None:
    """Write blanks as SentencePiece does; ``with_first`` puts one before every text, even before a blank."""
    first = [Prepend(BLANK)] if with_first else []
    backend.normalizer = normalizers.Sequence([*first, Replace(" ", BLANK)])
    backend.pre_tokenizer = None


def _split_by_rule(backend: Tokenizer, split: str | None, file: _File) -> None:
    """Split texts of a byte-level tokenizer by the rule of this name."""
    if split is None:
        file.refuse("lacks the key 'tokenizer.ggml.pre', which states how texts are split")
    as_gpt2 = ByteLevel(add_prefix_space=False)
    if split in DIGITS_ALONE:
        backend.pre_tokenizer = Sequence([Digits(individual_digits=True), as_gpt2])
    elif split not in AS_GPT2:
        parts = [rule.pre_tokenize_str(SPLIT_IN_OTHER_WAYS) for rule in (backend.pre_tokenizer, as_gpt2)]
        if parts[0] == parts[1]:
            file.refuse(
                f"texts are split as '{split}' ('tokenizer.ggml.pre'), which transformers does not know"
            )
    if split in AS_LLAMA_3 and isinstance(backend.model, BPE):
        backend.model.ignore_merges = True


def _scale_positions(config: PreTrainedConfig, file: _File) -> None:
    """Set the scaling of positions in the config, because transformers ignores that of the file."""
    kind, factor, divisors = file.scaling
    if kind not in ("none", "linear"):
        file.refuse(f"positions are scaled as '{kind}', which transformers ignores")
    if (divisors != 1).any():
        # the scaling of Llama 3.1 and later; _check_positions refuses files with another one
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


def _check_positions(model: PreTrainedModel, file: _File) -> None:
    """Raise InputError unless the model rotates by the frequencies of the file."""
    _, factor, divisors = file.scaling
    frequencies = [
        buffer.double().cpu().numpy()
        for name, buffer in model.named_buffers()
        if name.endswith("inv_freq") and "original" not in name
    ]
    if not frequencies:
        return
    for layers, scaled_by in {"": divisors * factor, "_swa": np.ones(1)}.items():
        base = file.of_model(f"rope.freq_base{layers}", None if layers else 10_000.0)
        width = file.of_model(f"rope.dimension_count{layers}", 2 * len(frequencies[0]))
        if base is None:
            continue
        expected = base ** -(np.arange(0, width, 2) / width) / scaled_by
        if not any(
            read.shape == expected.shape and np.allclose(read, expected, 1e-4, 0) for read in frequencies
        ):
            file.refuse(
                f"transformers reads other frequencies of positions than the file has (keys of "
                f"'{file.architecture}.rope', tensor '{ROPE_FREQUENCIES}')"
            )


def _check_is_read(model: PreTrainedModel, file: _File) -> None:
    """Raise InputError if a key or tensor of the file that changes scores has no effect on the model."""
    architecture, config = file.architecture, model.config
    for key in DECIDING:
        value = file.of_model(key)
        names = EPSILON if key.endswith("epsilon") else [key.split(".")[-1]]
        values = [getattr(config, name) for name in names if getattr(config, name, None) is not None]
        is_read = any(value and np.isclose(value, read, 1e-5, 0) for read in values)
        if value and not is_read and (architecture, key) != PHI_3:
            file.refuse(f"transformers ignores the key '{architecture}.{key}'")
    scale = getattr(config, "query_pre_attn_scalar", None)
    if scale is not None and (scale != config.head_dim or config.num_hidden_layers in GEMMA_27B):
        file.refuse("transformers does not know how this Gemma scales attention")
    if architecture == "llama" and file.of_model("attention.head_count_kv") is None:
        file.refuse(
            "lacks the key 'llama.attention.head_count_kv', without which transformers mixes up heads"
        )
    numbers = sum(int(tensor.n_elements) for tensor in file.reader.tensors if tensor.name != ROPE_FREQUENCIES)
    tensors = {tensor.data_ptr(): tensor.numel() for tensor in model.state_dict().values()}
    if numbers != (count := sum(tensors.values())):
        file.refuse(
            f"its tensors have {numbers:,} numbers, the model that transformers makes of them has {count:,}"
        )
