"""How products are taken: decided once per machine by measurement; and that tensors are on one device."""

import json

import pytest
import torch

from abovechance.scoring import products
from abovechance.scoring.algorithms import score
from abovechance.scoring.engine import score_alone
from abovechance.scoring.products import Decision, WideLinear, decide, faster, measure, widen
from tests.scoring.test_families import FAMILIES, some_model, some_strings

DEVICE = torch.device("cpu")  # only products on processors are measured and widened


def bfloat16_model() -> torch.nn.Module:
    return torch.nn.Sequential(torch.nn.Linear(64, 96), torch.nn.Linear(96, 64)).bfloat16()


def test_the_faster_way_is_taken_where_the_margin_is_clear():
    assert faster({"native": 1.0, "float32": 0.9}, "native") == "native"
    assert faster({"native": 1.0, "float32": 0.7}, "native") == "float32"
    assert faster({"native": 0.9, "float32": 1.0}, "float32") == "float32"
    assert faster({"native": 0.7, "float32": 1.0}, "float32") == "native"


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_both_ways_are_measured_with_the_models_own_shapes(monkeypatch, dtype):
    assert all(0 < seconds < 60 for seconds in measure({(64, 96): 1}, dtype).values())
    outputs = []

    def two_seconds(runs, limit):
        outputs.extend((way, run().shape[-1], run().dtype) for way, run in runs.items())
        return dict.fromkeys(runs, 2.0)

    monkeypatch.setattr(products, "_fastest", two_seconds)
    assert measure({(64, 96): 3, (96, 32): 4}, dtype) == {"native": 14.0, "float32": 14.0}
    assert outputs == [(way, width, dtype) for width in (96, 32) for way in ("native", "float32")]


@pytest.mark.parametrize("flag", [True, False])
def test_a_decision_is_measured_once_whatever_the_flag_says(tmp_path, monkeypatch, flag):
    messages = []
    monkeypatch.setattr(products, "supports", lambda dtype: flag)
    monkeypatch.setattr(
        products, "measure", lambda *argument: messages.append(argument) or {"native": 5.0, "float32": 1.0}
    )
    for _ in range(3):
        assert decide(bfloat16_model(), torch.bfloat16, folder=tmp_path) == Decision("float32", "measurement")
    assert messages == [({(64, 96): 1, (96, 64): 1}, torch.bfloat16)]
    # another machine would decide otherwise, and this one does not hear of it
    monkeypatch.setattr(products, "measure", lambda *argument: {"native": 1.0, "float32": 5.0})
    assert decide(bfloat16_model(), torch.bfloat16, folder=tmp_path).way == "float32"
    (path,) = tmp_path.glob("*.json")
    report = json.loads(path.read_text())
    assert report["seconds"] == {"native": 5.0, "float32": 1.0}
    monkeypatch.setattr(products, "machine", lambda: "another")
    assert decide(bfloat16_model(), torch.bfloat16, folder=tmp_path).way == "native"


def test_threads_and_shapes_have_decisions_of_their_own(tmp_path, monkeypatch):
    ways = iter(["native", "float32", "native"])
    monkeypatch.setattr(products, "supports", lambda dtype: True)
    monkeypatch.setattr(products, "measure", lambda *argument: {})
    monkeypatch.setattr(products, "faster", lambda *argument: next(ways))
    assert decide(bfloat16_model(), torch.bfloat16, folder=tmp_path).way == "native"
    assert decide(torch.nn.Linear(8, 8).bfloat16(), torch.bfloat16, folder=tmp_path).way == "float32"
    monkeypatch.setattr(torch, "get_num_threads", lambda: 77)
    assert decide(bfloat16_model(), torch.bfloat16, folder=tmp_path).way == "native"


@pytest.mark.parametrize("content", ["", "[]", "{", '{"way": "fastest"}'])
def test_the_flags_decide_where_no_decision_can_be_kept(tmp_path, monkeypatch, content):
    monkeypatch.setattr(products, "supports", lambda dtype: False)
    monkeypatch.setattr(products, "measure", lambda *argument: {"native": 1.0, "float32": 5.0})
    assert decide(bfloat16_model(), torch.bfloat16, folder=tmp_path).way == "native"
    (path,) = tmp_path.glob("*.json")
    path.write_text(content)
    assert decide(bfloat16_model(), torch.bfloat16, folder=tmp_path) == Decision("float32", "flags")
    (tmp_path / "file").write_text("")
    decision = decide(bfloat16_model(), torch.bfloat16, folder=tmp_path / "file")
    assert decision == Decision("float32", "flags")


def test_a_choice_by_hand_is_not_measured(tmp_path, monkeypatch):
    monkeypatch.setattr(products, "measure", None)
    for way in ("native", "float32"):
        assert decide(bfloat16_model(), torch.bfloat16, way, tmp_path) == Decision(way, "hand")
    assert decide(bfloat16_model().float(), torch.float32, "float32", tmp_path) == Decision("native", "type")
    assert not list(tmp_path.iterdir())


def test_the_cache_is_the_users(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert products.cache_folder() == tmp_path / "abovechance" / "products"


def test_every_linear_layer_is_widened_and_no_other():
    model = some_model("gpt_neox").bfloat16()
    linear = [name for name, module in model.named_modules() if type(module) is torch.nn.Linear]
    widen(model)
    assert linear == [name for name, module in model.named_modules() if type(module) is WideLinear]


@pytest.mark.thorough
# transformers' own code for gpt2 and mamba asks for numbers, of which there are none
@pytest.mark.parametrize("family", [family for family in FAMILIES if family not in ("gpt2", "mamba")])
@pytest.mark.parametrize("limit", [7, pytest.param(500, marks=pytest.mark.slow)])
def test_no_tensor_is_left_on_the_processor(family, limit, monkeypatch):
    """On the device meta no number is computed, and an operation on tensors of two devices is an error."""
    model, tokens = some_model(family).to("meta"), some_strings()
    to_host, truth = torch.Tensor.cpu, torch.Tensor.__bool__

    def zeros(tensor: torch.Tensor) -> torch.Tensor:
        return torch.zeros(tensor.shape, dtype=tensor.dtype) if tensor.is_meta else to_host(tensor)

    monkeypatch.setattr(torch.Tensor, "cpu", zeros)
    # transformers asks whether positions are those of one text
    monkeypatch.setattr(torch.Tensor, "__bool__", lambda tensor: tensor.is_meta or truth(tensor))
    paths = ["batched", "plain"] + ["tree"] * (FAMILIES[family][2] == "tree")
    for path in paths:
        assert score(model, tokens, path, limit).tokens > 0
    assert score_alone(model, tokens.sequences, tokens.starts).tokens > 0
