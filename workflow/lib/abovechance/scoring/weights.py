"""The files of a model's weights, ready to be loaded.

Weights are fetched (``fetching``), converted and quantized once, in the workflow's own jobs;
a small JSON file, the *weights file*, then says where they lie and what they
are. Scoring jobs load from there (``models``). No pickle is ever loaded.
"""

from __future__ import annotations

import json
import logging
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    BitsAndBytesConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    PreTrainedTokenizerFast,
)
from transformers.utils import logging as transformers_logging

from abovechance.core.errors import InputError
from abovechance.core.files import replacing, write_json
from abovechance.scoring.identity import reading_digest

# Bars of many jobs at once would overwrite each other and hide the jobs' own progress.
transformers_logging.disable_progress_bar()
transformers_logging.set_verbosity_error()
# It advises to install a kernel from a hub, which nothing here uses.
logging.getLogger("bitsandbytes.backends.cpu.ops").setLevel(logging.ERROR)


@dataclass(frozen=True)
class Weights:
    """The place and the kind of a model's weights.

    Attributes
    ----------
    folder
        A folder that transformers loads: config, tokenizer, safetensors.
    source
        Where they come from, in words.
    revision
        The hub's commit, or the SHA-256 of the weights.
    quantized
        Whether the weights are NF4 already.
    trust_remote_code
        Whether the model's own code may run.
    server
        The config's entry of a server that runs the model; the folder has its tokenizer then.
    """

    folder: str
    source: str
    revision: str
    quantized: bool = False
    trust_remote_code: bool = False
    server: dict[str, Any] | None = None

    @classmethod
    def read(cls, path: Path) -> Weights:
        """Read a weights file."""
        content = json.loads(path.read_text(encoding="utf-8"))
        content.pop("reading", None)
        return cls(**content)

    def write(self, path: Path) -> None:
        """Write a weights file.

        A digest of the files that decide how the model reads is part of it. So it differs if the tokenizer
        does, and the jobs after it run again: Snakemake compares the contents of small files.
        """
        reading = reading_digest(Path(self.folder), self.trust_remote_code)
        write_json(asdict(self) | {"reading": reading}, path)


def keeps_length(tokenizer: PreTrainedTokenizerFast) -> bool:
    """Whether a token is at least a byte of the text.

    Some normalizers make one character into many, and some tokenizers put a blank before each part of a text.
    """
    backend = tokenizer.backend_tokenizer
    splitting = b"" if backend.pre_tokenizer is None else backend.pre_tokenizer.__getstate__()
    adds_blanks = b'"add_prefix_space":true' in splitting or (
        b"Metaspace" in splitting and b'"prepend_scheme":"never"' not in splitting
    )
    return backend.normalizer is None and not adds_blanks


def load_whole(folder: str, kind: str, **settings: Any) -> PreTrainedModel:
    """Return a model all of whose tensors are those of its weights.

    transformers fills what is missing with random numbers, and leaves out what it does not expect.

    Parameters
    ----------
    folder
        Where the weights lie.
    kind
        What they are called in messages.
    settings
        What ``from_pretrained`` takes besides.

    Raises
    ------
    InputError
        If a tensor is missing, unexpected or of another shape, with the first of them. Tensors that are
        tied to others are not missing.
    """
    loaded: Any = AutoModelForCausalLM.from_pretrained(
        folder, output_loading_info=True, ignore_mismatched_sizes=True, **settings
    )
    model: PreTrainedModel = loaded[0]
    info: dict[str, Any] = loaded[1]
    problems = {
        "lacks the tensor": sorted(info["missing_keys"]),
        "has a tensor that its config does not know:": sorted(info["unexpected_keys"]),
        "has a tensor of another shape than its config says:": sorted(
            [str(key[0]) for key in info["mismatched_keys"]] + _misshapen(model)
        ),
    }
    expected = "expected the weights that belong to the config"
    for problem, names in problems.items():
        if names:
            more = f" and {len(names) - 1} more" if len(names) > 1 else ""
            raise InputError(f"{kind}: {problem} {names[0]}{more}; {expected}")
    if info.get("error_msgs"):
        raise InputError(f"{kind}: {' '.join(str(info['error_msgs'][0]).split())[:300]}")
    return model


def _misshapen(model: PreTrainedModel) -> list[str]:
    """Quantized tensors of another shape than their layer: it is not looked at when they are loaded."""
    misshapen = []
    for name, layer in model.named_modules():
        shape = getattr(getattr(getattr(layer, "weight", None), "quant_state", None), "shape", None)
        if shape is not None and tuple(shape) != (layer.out_features, layer.in_features):
            misshapen.append(f"{name}.weight")
    return misshapen


def nf4_config() -> BitsAndBytesConfig:
    """4-bit NF4 with nested quantization and bfloat16 compute, the paper's setting."""
    return BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_use_double_quant=True,
        bnb_4bit_compute_dtype=torch.bfloat16,
    )


def quantize(weights: Weights, folder: Path) -> Weights:
    """Quantize a model's weights to NF4 and save them, for jobs to load."""
    model = load_whole(
        weights.folder,
        weights.source,
        dtype=torch.bfloat16,
        quantization_config=nf4_config(),
        device_map="cuda" if torch.cuda.is_available() else "cpu",
        use_safetensors=True,
        trust_remote_code=weights.trust_remote_code,
    )
    save(model, load_tokenizer(weights), folder / "nf4")
    return Weights(
        folder=str(folder / "nf4"),
        source=weights.source,
        revision=weights.revision,
        quantized=True,
        trust_remote_code=weights.trust_remote_code,
    )


def save(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, folder: Path) -> None:
    """Save model and tokenizer into a folder that appears whole or not at all.

    Raises
    ------
    InputError
        If the disk is full, or cannot be written.
    """
    shutil.rmtree(folder, ignore_errors=True)
    try:
        with replacing(folder) as beside:
            model.save_pretrained(beside)
            tokenizer.save_pretrained(beside)
    except (OSError, SafetensorError) as error:
        problem = " ".join(str(error).split())[:200]
        free = shutil.disk_usage(folder.parent).free / 1e9
        needed = model.get_memory_footprint() / 1e9
        raise InputError(
            f"{folder}: cannot be written ({problem}); the disk has {free:.1f} GB free, and the weights need "
            f"{needed:.1f} GB"
        ) from None


def load_tokenizer(weights: Weights) -> PreTrainedTokenizerFast:
    """Return the model's tokenizer, which must tell which characters each token covers."""
    tokenizer = AutoTokenizer.from_pretrained(weights.folder, trust_remote_code=weights.trust_remote_code)
    if not isinstance(tokenizer, PreTrainedTokenizerFast):
        raise InputError(
            f"model {weights.source}: its tokenizer cannot tell which characters a token covers; "
            "expected a model with a tokenizer.json"
        )
    if dropout := getattr(tokenizer.backend_tokenizer.model, "dropout", None):
        raise InputError(
            f"model {weights.source}: its tokenizer splits words at random (dropout {dropout}), so that no "
            "score could be had twice; expected a tokenizer.json without it"
        )
    return tokenizer
