"""Weights are whole, or it is said what of them is not."""

import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from abovechance.core.errors import InputError
from abovechance.scoring import weights as module
from abovechance.scoring.fetching import fetch
from abovechance.scoring.models import load
from abovechance.scoring.weights import Weights, load_whole, quantize
from tests.tiny import save_tiny_model


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    return save_tiny_model(tmp_path_factory.mktemp("whole"))


def changed(whole: Path, folder: Path, change) -> Weights:
    shutil.copytree(whole, folder)
    path = folder / "model.safetensors"
    tensors = load_file(path)
    change(tensors)
    save_file(tensors, path, metadata={"format": "pt"})
    return Weights(str(folder), "tiny", "r")


LAYER = "model.layers.1.mlp.up_proj.weight"


def renamed(tensors: dict) -> None:
    tensors["model.layers.1.mlp.upper.weight"] = tensors.pop(LAYER)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda tensors: tensors.pop("lm_head.weight"), "tiny: lacks the tensor lm_head.weight; expected"),
        (renamed, f"tiny: lacks the tensor {LAYER}"),
        (
            lambda tensors: tensors.update(more=torch.zeros(2)),
            "has a tensor that its config does not know: more",
        ),
        (
            lambda tensors: tensors.update({LAYER: torch.zeros(3, 3)}),
            f"has a tensor of another shape than its config says: {LAYER}",
        ),
    ],
    ids=["missing", "renamed", "unexpected", "mismatched"],
)
@pytest.mark.parametrize(
    "way", [lambda values, _: load(values, "float32"), quantize], ids=["load", "quantize"]
)
def test_a_tensor_that_is_not_there_is_named(whole, tmp_path, change, message, way):
    values = changed(whole, tmp_path / "model", change)
    with pytest.raises(InputError) as error:
        way(values, tmp_path / "out")
    assert message in str(error.value)
    assert not (tmp_path / "out" / "nf4").exists()


@pytest.mark.parametrize("kind", ["llama", "gpt2"])
def test_tied_tensors_are_not_missing(tmp_path, kind):
    from transformers import AutoConfig, AutoModelForCausalLM

    config = AutoConfig.for_model(kind, vocab_size=50, tie_word_embeddings=True, **SMALL[kind])
    AutoModelForCausalLM.from_config(config).save_pretrained(tmp_path)
    assert "lm_head.weight" not in load_file(tmp_path / "model.safetensors")
    assert load_whole(str(tmp_path), "tied").num_parameters() > 0


SMALL = {
    "llama": {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2},
    "gpt2": {"n_embd": 16, "n_layer": 1, "n_head": 2},
}


def test_quantized_weights_are_whole(whole, tmp_path):
    assert load(quantize(Weights(str(whole), "tiny", "r"), tmp_path), "nf4").dtype == torch.bfloat16


def test_a_full_disk_is_named_and_leaves_no_folder(whole, tmp_path, monkeypatch):
    def full(self, folder, **_):
        Path(folder).mkdir(parents=True, exist_ok=True)
        (Path(folder) / "part").write_text("half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module.PreTrainedTokenizerBase, "save_pretrained", full)
    with pytest.raises(InputError, match=r"nf4: cannot be written .*No space left.* GB free, and the"):
        quantize(Weights(str(whole), "tiny", "r"), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_index_of_weights_is_a_part_of_the_models_revision(tmp_path):
    folder = save_tiny_model(tmp_path / "model")
    before = fetch({"path": str(folder)}, None, tmp_path / "made").revision
    (folder / "model.safetensors.index.json").write_text('{"weight_map": {}}')
    indexed = fetch({"path": str(folder)}, None, tmp_path / "made").revision
    (folder / "model.safetensors.index.json").write_text('{"weight_map": {"a": "b.safetensors"}}')
    assert len({before, indexed, fetch({"path": str(folder)}, None, tmp_path / "made").revision}) == 3
