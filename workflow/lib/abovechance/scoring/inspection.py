"""A model's folder, opened before anything long begins, so that no job fails on it hours later."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from transformers import AutoConfig, AutoModelForCausalLM
from transformers.quantizers.auto import AutoHfQuantizer

from abovechance.core.errors import InputError, told_by_library
from abovechance.core.reading import as_written_by, read_json
from abovechance.core.untrusted import MOST_MEMBER, check_regular, printable
from abovechance.scoring.demands import parameters
from abovechance.scoring.weights import Weights, load_tokenizer

INDEX = "*.safetensors.index.json"
# Keys that name files to load in place of the usual ones: what they name is not part of the model's revision.
ELSEWHERE = {"config.json": "transformers_weights", "tokenizer_config.json": "fast_tokenizer_files"}
ADAPTER = "adapter_config.json"
# What a key of a config may be at most: models are built layer by layer, without weights, to look at them.
# Sizes with such names, such as Gemma 3n's `vocab_size_per_layer_input`, are no counts.
MOST_BY_KEY = {
    re.compile("^(?!.*(size|vocab|dim|width)).*(layer|block|depth|stages)"): 2000,
    re.compile("^(?!.*(size|vocab|dim|width)).*expert"): 20_000,
}
MOST_NUMBER = 2**31 - 1
PACKED = 16  # parameters that a stored number can hold, if weights are quantized
# Any of these is a tokenizer's vocabulary.
VOCABULARIES = ("tokenizer.json", "tokenizer.model", "vocab.json", "vocab.txt", "spiece.model")


def check_weights(weights: Weights) -> None:
    """Open all that a scoring job will open: the config, the weights' headers, the tokenizer.

    Raises
    ------
    InputError
        With the file that cannot be read, or what the model is that it should not be.
    """
    _check_names(Path(weights.folder))
    _check_tensors(Path(weights.folder))
    config = _check_config(weights)
    _check_tokenizer(weights, config)


def _check_config(weights: Weights) -> Any:
    """Return the model's config, of which an empty model can be built that predicts the next token."""
    path = Path(weights.folder, "config.json")
    check_sizes(path)
    with told_by_library(f"{path}: transformers cannot read it"):
        config = AutoConfig.from_pretrained(
            weights.folder, trust_remote_code=weights.trust_remote_code, local_files_only=True
        )
    kind = getattr(config, "model_type", None) or type(config).__name__
    if getattr(config, "is_encoder_decoder", False):
        raise InputError(
            f"{path}: '{kind}' is an encoder and a decoder; expected a model that predicts the next token"
        )
    problem = f"{path}: no model of the type '{kind}' that predicts the next token can be built"
    with told_by_library(problem), torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config, trust_remote_code=weights.trust_remote_code)
    if model.num_parameters() > PACKED * max(parameters(path.parent), 1):
        raise InputError(
            f"{path}: describes a model of {model.num_parameters():,} parameters, and the weights have "
            f"{parameters(path.parent):,}; expected the weights that belong to the config"
        )
    if getattr(config, "quantization_config", None) is not None:
        with told_by_library(f"{path}: its weights are quantized in a way that cannot be read here"):
            quantizer = AutoHfQuantizer.from_config(config.quantization_config, pre_quantized=True)
            quantizer.validate_environment(device_map=None, weights_only=True)
    return config


def check_sizes(path: Path) -> None:
    """Raise InputError if a model's config is no object, or has numbers with which building it never ends."""
    config = read_json(path)
    if not isinstance(config, dict):
        raise InputError(f"{path}: has no keys; expected a config as transformers saves it")
    waiting: list[tuple[str, Any]] = [*config.items()]
    while waiting:
        key, value = waiting.pop()
        if isinstance(value, dict):
            waiting += value.items()
        elif isinstance(value, list):
            waiting += [(key, part) for part in value]
        elif isinstance(value, float) and math.isnan(value):
            raise InputError(f"{path}: '{printable(key)}' is NaN; expected a number")
        elif isinstance(value, int) and not isinstance(value, bool):
            highest = next(
                (limit for pattern, limit in MOST_BY_KEY.items() if pattern.search(key)), MOST_NUMBER
            )
            if abs(value) > highest:
                raise InputError(
                    f"{path}: '{printable(key)}' is {str(value)[:30]}; expected at most {highest:,}"
                )


def _check_names(folder: Path) -> None:
    """Raise InputError if a file makes transformers load others than those of which the revision is."""
    for name, key in ELSEWHERE.items():
        path = folder / name
        config = read_json(path) if path.exists() else {}
        if isinstance(config, dict) and config.get(key) is not None:
            raise InputError(
                f"{path}: '{key}' is {printable(repr(config[key]))[:80]}; expected a folder with weights and "
                "tokenizer under their usual names, without this key"
            )
    if (folder / ADAPTER).exists():
        raise InputError(
            f"{folder / ADAPTER}: an adapter of another model; expected a whole model, with the adapter "
            "merged into it"
        )


def _check_tensors(folder: Path) -> None:
    """Raise InputError unless the headers of all files of weights can be read, and all files are there."""
    for path in sorted(folder.glob("*.safetensors")):
        check_regular(path, MOST_MEMBER)
        try:
            with safe_open(path, framework="pt") as file:
                if not list(file.keys()):
                    raise InputError(f"{path}: has no tensors")
        except (SafetensorError, OSError) as error:
            raise InputError(f"{path}: cannot be read as safetensors ({error}); was it cut off?") from None
    for index in sorted(folder.glob(INDEX)):
        with as_written_by("transformers", str(index)):
            listed = {str(name) for name in read_json(index)["weight_map"].values()}
        for name in sorted(listed):
            # others would be loaded and not be part of the model's revision
            if "/" in name or "\\" in name or not name.endswith(".safetensors"):
                raise InputError(
                    f"{index}: lists '{printable(name)}'; expected names of .safetensors files in its folder"
                )
            if not (folder / name).is_file():
                raise InputError(f"{index}: lists {name}, which is not there")


def _check_tokenizer(weights: Weights, config: Any) -> None:
    """Raise InputError unless there is a tokenizer, none of whose tokens the model lacks."""
    folder = Path(weights.folder)
    if not any((folder / name).is_file() for name in VOCABULARIES) and not weights.trust_remote_code:
        raise InputError(f"{folder}: has no tokenizer; expected its tokenizer.json beside the weights")
    if (vocabulary := folder / "tokenizer.json").is_file():
        _check_growth(vocabulary)
    with told_by_library(f"{folder}: its tokenizer cannot be read"):
        tokenizer = load_tokenizer(weights)
        tokens = tokenizer("Is it so? Yes, 1 time.", return_offsets_mapping=True)["input_ids"]
    if not tokens:
        raise InputError(f"{folder}: its tokenizer makes no tokens of a plain text")
    size = getattr(config.get_text_config(), "vocab_size", None)
    added = tokenizer.get_added_vocab()  # some models lack a padding token that their tokenizer has
    highest = max((token for text, token in tokenizer.get_vocab().items() if text not in added), default=0)
    if size is not None and highest >= size:
        raise InputError(
            f"{folder}: its tokenizer has tokens up to {highest}, the model up to {size - 1}; expected "
            "the model's own tokenizer"
        )


MOST_GROWTH = 1000  # times
PARTS = ("normalizer", "pre_tokenizer", "decoder")  # of a tokenizer that change texts


def _check_growth(path: Path) -> None:
    """Raise InputError if a tokenizer's replacements can make a text so long that it takes all memory."""
    with told_by_library(f"{path}: cannot be read"):
        tokenizer = read_json(path)
        growth = math.prod(_growth(tokenizer.get(part)) for part in PARTS)
    if growth > MOST_GROWTH:
        raise InputError(
            f"{path}: its replacements can make a text more than {MOST_GROWTH:,} times as long; expected the "
            "model's own tokenizer"
        )


def _growth(step: Any) -> float:
    """Return the factor by which a step of a tokenizer, with its inner steps, can make a text longer."""
    if not isinstance(step, dict):
        return 1.0
    steps = [inner for value in step.values() if isinstance(value, list) for inner in value]
    growth = math.prod(map(_growth, steps))
    if step.get("type") == "Replace":
        pattern, content = step.get("pattern", {}).get("String", ""), len(step.get("content", ""))
        # an expression, and no text at all, may be found between any two letters
        growth *= max(1.0, content / len(pattern)) if pattern else 1 + 2 * content
    return growth
