"""A model's folder is opened before anything long begins; what is wrong in it is one line."""

import json
import os
import pickle
import shutil
from contextlib import suppress
from pathlib import Path

import pytest
from transformers import CONFIG_MAPPING
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES

from abovechance.core.errors import InputError
from abovechance.scoring.gguf_files import convert_gguf
from abovechance.scoring.inspection import check_sizes, check_weights
from abovechance.scoring.weights import Weights
from tests.tiny import save_tiny_model


@pytest.fixture(scope="module")
def good(tmp_path_factory) -> Path:
    return save_tiny_model(tmp_path_factory.mktemp("good"))


def with_config(**changes):
    def change(folder: Path) -> None:
        path = folder / "config.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | changes))

    return change


def without_tokenizer(folder: Path) -> None:
    for path in folder.glob("token*"):
        path.unlink()


def rewrite_tokenizer(folder: Path, **changes: object) -> None:
    path = folder / "tokenizer.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


CASES = {
    "no tokenizer": (without_tokenizer, "has no tokenizer; expected its tokenizer.json beside"),
    "torn tokenizer": (
        lambda folder: (folder / "tokenizer.json").write_text("{"),
        "tokenizer.json: is not JSON",
    ),
    "growing tokenizer": (
        lambda folder: rewrite_tokenizer(
            folder,
            normalizer={
                "type": "Sequence",
                "normalizers": [{"type": "Replace", "pattern": {"String": "s"}, "content": "s" * 30}] * 7,
            },
        ),
        "its replacements can make a text more than 1,000 times as long",
    ),
    "tokenizer that puts texts between letters": (
        lambda folder: rewrite_tokenizer(
            folder,
            normalizer={
                "type": "Sequence",
                "normalizers": [{"type": "Replace", "pattern": {"Regex": ""}, "content": "b"}] * 18,
            },
        ),
        "its replacements can make a text more than 1,000 times as long",
    ),
    "panicking tokenizer": (
        lambda folder: rewrite_tokenizer(
            folder,
            post_processor={
                "type": "TemplateProcessing",
                "single": [{"SpecialToken": {"id": "x", "type_id": 0}}],
                "pair": [],
                "special_tokens": {},
            },
        ),
        "its tokenizer cannot be read (PanicException",
    ),
    "cut weights": (
        lambda folder: os.truncate(folder / "model.safetensors", 3000),
        "model.safetensors: cannot be read as safetensors",
    ),
    "empty weights": (
        lambda folder: os.truncate(folder / "model.safetensors", 0),
        "model.safetensors: cannot be read as safetensors",
    ),
    "no integer": (with_config(vocab_size=10**30), "config.json: 'vocab_size' is 1000000000000000"),
    "endless layers": (
        with_config(num_hidden_layers=10**6),
        "config.json: 'num_hidden_layers' is 1000000; expected at most 2,000",
    ),
    "endless vocabulary": (
        with_config(vocab_size=2 * 10**9),
        "config.json: describes a model of 128,",
    ),
    "endless layers, in a part": (with_config(text_config={"n_layer": -(10**9)}), "'n_layer' is -1000000000"),
    "kind of quantization that is not installed": (
        with_config(quantization_config={"quant_method": "awq", "bits": 4}),
        "config.json: its weights are quantized in a way that cannot be read here (ImportError",
    ),
    "quantization that is none": (
        with_config(quantization_config={"quant_method": "gptq"}),
        "config.json: its weights are quantized in a way that cannot be read here (TypeError",
    ),
    "weights elsewhere": (
        lambda folder: (folder / "model.safetensors.index.json").write_text(
            '{"weight_map": {"a": "../other.safetensors"}}'
        ),
        "index.json: lists '../other.safetensors'; expected names of .safetensors files in its folder",
    ),
    "pickled weights in the index": (
        lambda folder: (folder / "model.safetensors.index.json").write_text('{"weight_map": {"a": "x.bin"}}'),
        "index.json: lists 'x.bin'; expected names of .safetensors files in its folder",
    ),
    "weights under another name": (
        with_config(transformers_weights="x.safetensors.index.json"),
        "config.json: 'transformers_weights' is 'x.safetensors.index.json'; expected a folder with weights",
    ),
    "weights under no name": (with_config(transformers_weights=5), "'transformers_weights' is 5; expected"),
    "a second index": (
        lambda folder: (folder / "x.safetensors.index.json").write_text('{"weight_map": {"a": "p.bin"}}'),
        "x.safetensors.index.json: lists 'p.bin'; expected names of .safetensors files in its folder",
    ),
    "another tokenizer": (
        lambda folder: (folder / "tokenizer_config.json").write_text(
            '{"fast_tokenizer_files": ["../tokenizer.1.0.json"]}'
        ),
        "tokenizer_config.json: 'fast_tokenizer_files' is ['../tokenizer.1.0.json']; expected a folder",
    ),
    "an adapter": (
        lambda folder: (folder / "adapter_config.json").write_text("{}"),
        "adapter_config.json: an adapter of another model; expected a whole model",
    ),
    "a number that is none": (with_config(rms_norm_eps=float("nan")), "'rms_norm_eps' is NaN; expected"),
    "a pickle as the index": (
        lambda folder: (folder / "model.safetensors.index.json").write_bytes(
            pickle.dumps({"weight_map": {}})
        ),
        "model.safetensors.index.json, row 1: is not text",
    ),
    "a pipe as weights": (
        lambda folder: os.mkfifo(folder / "more.safetensors"),
        "more.safetensors: is a pipe or a device",
    ),
    "a part is not there": (
        lambda folder: (folder / "model.safetensors.index.json").write_text(
            '{"weight_map": {"a": "b.safetensors"}}'
        ),
        "model.safetensors.index.json: lists b.safetensors, which is not there",
    ),
    "torn config": (lambda folder: (folder / "config.json").write_text("{"), "config.json: is not JSON"),
    "config is a list": (
        lambda folder: (folder / "config.json").write_text("[]"),
        "config.json: has no keys",
    ),
    "no type": (
        lambda folder: (folder / "config.json").write_text("{}"),
        "config.json: transformers cannot read it (ValueError: Unrecognized model",
    ),
    "unknown type": (with_config(model_type="nosuch"), "config.json: transformers cannot read it"),
    "encoder and decoder": (with_config(model_type="t5"), "config.json: 't5' is an encoder and a decoder"),
    "pictures": (with_config(model_type="vit"), "no model of the type 'vit' that predicts the next token"),
    "numbers that do not fit": (with_config(num_attention_heads=7), "config.json: transformers cannot read"),
    "another model's tokenizer": (
        with_config(vocab_size=100),
        "tokens up to 270, the model up to 99; expected the model's own tokenizer",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_wrong_with_a_model_folder_is_told(good, tmp_path, name):
    change, message = CASES[name]
    folder = tmp_path / "model"
    shutil.copytree(good, folder)
    check_weights(Weights(str(folder), "m", "r"))
    change(folder)
    with pytest.raises(InputError) as error:
        check_weights(Weights(str(folder), "m", "r"))
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("content", [b"", b"GGUF" + b"\0" * 100, b"hello"])
def test_a_file_that_is_no_gguf_is_told(tmp_path, content):
    path = tmp_path / "m.gguf"
    path.write_bytes(content)
    with pytest.raises(InputError, match="m.gguf: transformers cannot read it as a GGUF model"):
        convert_gguf(path, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_default_config_of_every_type_has_possible_sizes(tmp_path):
    """Counts of layers and experts have limits; other sizes with such names do not."""
    path, contents = tmp_path / "config.json", []
    for kind in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES:
        with suppress(Exception):  # a few have no default
            contents.append(json.dumps(CONFIG_MAPPING[kind]().to_dict(), default=str))
    assert len(contents) > 150
    for content in contents:
        path.write_text(content)
        check_sizes(path)
