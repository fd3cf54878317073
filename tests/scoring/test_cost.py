"""What scoring costs: counted before, and added up afterwards."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import huggingface_hub
import pandas as pd
import pytest
from transformers import AutoConfig, AutoModelForCausalLM

from abovechance.core.errors import InputError
from abovechance.core.tables import read_made_from
from abovechance.scoring.cells import InProcess, Reading, score_cells
from abovechance.scoring.cost import TOKEN_COUNTS, count_tokens, estimate, on_machines
from abovechance.scoring.demands import parameters
from abovechance.scoring.fetching import fetch
from abovechance.scoring.ledgers import SPENT, Ledger, spent
from abovechance.scoring.reader import Reader, expected_path
from abovechance.scoring.weights import Weights
from abovechance.shown.costs import in_words, of_machines, of_models
from tests.scoring.test_cells import cell, silent, task, weights  # noqa: F401
from tests.tiny import save_tiny_model


def test_the_tokens_counted_are_those_that_a_job_computes(task, weights, tmp_path):  # noqa: F811
    cells = {tmp_path / f"{shots}.parquet": cell(task, prompts=4, shots=shots) for shots in (1, 2)}
    ledger = Ledger(tmp_path / "ledger.jsonl", "this machine", processors=2, accelerators=0)
    score_cells(cells, InProcess(weights, "float32"), silent, spend=ledger.add)
    table = count_tokens(
        [("drawn", value) for value in cells.values()], Reading.from_weights(weights, "text"), tree
    )
    TOKEN_COUNTS.write(table, tmp_path / "counts.parquet", {})
    entries = [entry for path in cells for entry in read_made_from(path)["prompts"]]
    for name in ("tokens", "computed"):
        assert table[name].tolist() == [entry[name] for entry in entries]
    assert (table["computed"] < table["tokens"]).all()
    assert set(table["strings"]) == {4 * 3, 3 * 3}  # other examples x choices
    (row,) = spent({("m", "t", "drawn"): ledger.path}).to_dict("records")
    assert (row["prompts"], row["tokens"], row["computed"]) == (
        8,
        table["tokens"].sum(),
        table["computed"].sum(),
    )
    assert row["operations"] == 2 * parameters(Path(weights.folder)) * table["computed"].sum()
    assert row["processor_hours"] == pytest.approx((row["seconds"] + row["start_seconds"]) * 2 / 3600)
    assert row["gpu_hours"] == 0


def tree(_longest: int) -> str:
    return "tree"


@pytest.mark.parametrize("kind", ["llama", "gpt2", "mistral", "bloom", "mamba", "gpt_neo"])
def test_what_a_model_computes_is_counted_by_the_path_that_it_takes(kind, task, tmp_path):  # noqa: F811
    rows = {
        "bloom": {"hidden_size": 32, "n_layer": 2, "n_head": 2},
        "gpt2": {"n_embd": 32, "n_layer": 2, "n_head": 2},
        "mistral": {"hidden_size": 32, "num_hidden_layers": 2, "intermediate_size": 64}
        | {"num_attention_heads": 2, "num_key_value_heads": 2, "sliding_window": 6},
        "mamba": {"hidden_size": 32, "num_hidden_layers": 2, "state_size": 4},
        "gpt_neo": {"hidden_size": 32, "num_layers": 2, "num_heads": 2}
        | {"attention_types": [[["global", "local"], 1]]},
    }
    save_tiny_model(tmp_path / "model")
    if kind != "llama":
        vocabulary = AutoConfig.from_pretrained(tmp_path / "model").vocab_size
        config = AutoConfig.for_model(kind, vocab_size=vocabulary, **rows[kind])
        (tmp_path / "model/model.safetensors").unlink()
        AutoModelForCausalLM.from_config(config).save_pretrained(tmp_path / "model")
    weights = fetch({"path": str(tmp_path / "model")}, None, tmp_path / "here")  # noqa: F811
    ledger = Ledger(tmp_path / "ledger.jsonl", "this machine", processors=1, accelerators=0)
    scored = cell(task, prompts=3, shots=1)
    score_cells({tmp_path / "1.parquet": scored}, InProcess(weights, "float32"), silent, spend=ledger.add)
    reading = Reading.from_weights(weights, "text")
    counted = count_tokens([("drawn", scored)], reading, expected_path(weights))["computed"].sum()
    (row,) = spent({("m", "t", "drawn"): ledger.path}).to_dict("records")
    assert counted == row["computed"]
    in_tree = count_tokens([("drawn", scored)], reading, tree)["computed"].sum()
    assert (counted > in_tree) == (kind in ("bloom", "mamba", "gpt_neo"))


def test_prompts_that_are_too_long_do_not_count_or_are_told(task, weights):  # noqa: F811
    scored, reading = cell(task, prompts=4, shots=2), Reading.from_weights(weights, "text")
    longest = count_tokens([("drawn", scored)], reading, tree)["longest"]
    context = int(longest.max()) - 1
    reading = replace(reading, context=context)
    remaining = count_tokens([("drawn", scored)], reading, tree, leave_out=True)
    assert len(remaining) == (longest <= context).sum() < 4
    with pytest.raises(InputError, match="prompts are longer than the model's context"):
        count_tokens([("drawn", scored)], reading, tree)


def test_nothing_is_spent_on_prompts_that_are_scored_already(task, weights, tmp_path):  # noqa: F811
    files = {tmp_path / "s.parquet": cell(task)}
    first, second = (Ledger(tmp_path / name, "m", 1, 0) for name in ("first", "second"))
    score_cells(files, InProcess(weights, "float32"), silent, spend=first.add)
    score_cells(files, InProcess(weights, "float32"), silent, spend=second.add)
    assert first.path.read_text().count('"prompt"') == 3
    assert not second.path.exists()


def line(name: str, seconds: float, computed: int = 0, machine: str = "a", gpus: int = 0) -> str:
    return json.dumps(
        {"what": name, "seconds": seconds, "tokens": 2 * computed, "computed": computed}
        | {"machine": machine, "processors": 4, "accelerators": gpus}
    )


def test_jobs_of_several_machines_add_up_and_a_torn_line_does_not_count(tmp_path):
    path = tmp_path / "x.jsonl"
    lines = [line("start", 10), line("prompt", 2, 100), line("start", 20, machine="b", gpus=2)]
    lines += [line("prompt", 1, 100, "b", 2), line("prompt", 1, 100, "b", 2), line("prompt", 3, 50)[:30]]
    path.write_text("\n".join(lines))
    ledgers = {("m", "t", "drawn"): path, ("m", "never scored", "drawn"): tmp_path / "nowhere"}
    table = spent(ledgers)
    assert table.columns.tolist() == [*SPENT.columns]
    assert table["machine"].tolist() == ["a", "b"]
    assert table["prompts"].tolist() == [1, 2]
    assert table["computed"].tolist() == [100, 200]
    assert table["start_seconds"].tolist() == [10, 20]
    assert table["operations"].isna().all()  # no job told how large the model is
    assert table["gpu_hours"].tolist() == pytest.approx([0, 22 * 2 / 3600])
    assert table["processor_hours"].tolist() == pytest.approx([12 * 4 / 3600, 22 * 4 / 3600])
    assert "22" not in of_models(table).loc[0].to_string()


def test_tokens_of_a_server_are_all_that_were_sent(tmp_path):
    """The probe and repeated texts are sent too, so the cached tokens are a part of the sent ones."""
    counts = [{"what": "probe", "sent": 70, "cached": 40, "requests": 9}]
    counts += [{"what": "prompt", "tokens": 50, "computed": 30, "sent": 65, "cached": 35, "requests": 7}] * 2
    path = tmp_path / "x.jsonl"
    places = {"seconds": 1, "machine": "a", "processors": 4, "accelerators": 0}
    path.write_text("".join(json.dumps(count | places) + "\n" for count in counts))
    (row,) = spent({("m", "t", "drawn"): path}).to_dict("records")
    assert [row[name] for name in ("tokens", "computed", "requests", "sent", "cached")] == [
        100,
        60,
        23,
        200,
        110,
    ]


def needed() -> pd.DataFrame:
    counts = pd.DataFrame(
        {
            "shots": 1,
            "kind": "drawn",
            "prompt": [0, 1],
            "strings": 6,
            "tokens": 600,
            "computed": 60,
            "longest": 120,
        }
    )
    reader = Reader(Weights("folder", "some/model", "abc"), parameters=10**9, stored=2 * 10**9)
    return estimate(
        {("m", "t"): counts, ("m", "u"): counts.head(1), ("n", "t"): counts}, dict.fromkeys("mn", reader)
    )


def test_an_estimate_adds_prompts_up_and_counts_shared_weights_once():
    table = needed()
    assert table["computed"].tolist() == [120, 60, 120]
    assert table["saved"].tolist() == pytest.approx([0.9] * 3)
    assert table["operations"].tolist() == [2 * 10**9 * tokens for tokens in (120, 60, 120)]
    output = in_words(table)
    assert "Models: 2; tasks: 2; 5 prompts with 30 strings, the longest of 120 tokens" in output
    assert "To compute: 300 tokens" in output
    assert "saves 90.0%" in output
    assert "2.0 GB of weights" in output


def test_hours_follow_from_speeds_that_are_given_measured_or_assumed():
    earlier = pd.DataFrame(
        {
            "machine": ["x", "x", "never", "x"],
            "operations": [4e9, 2e9, 0, 5],
            "computed": [2, 1, 0, 5],  # the last is of a model with half a parameter
            "seconds": [2.0, 1.0, 0.0, 1e9],
        }
    )
    table = on_machines(needed(), {"mine": 6e11}, earlier, threads=2).set_index("machine")
    assert table["rate"].tolist() == ["given", "measured", "assumed", "assumed"]
    assert table.loc["mine", "hours"] == pytest.approx(1 / 3600)
    assert table.loc["x", "operations"] == 2e9
    assert table.loc["x", "hours"] == pytest.approx(300 / 3600)
    assert table.loc["x", "longest_job"] == pytest.approx(120 / 3600)
    assert table.index[2] == "a slow processor, 2 threads"
    assert len(of_machines(table.reset_index())) == 4


def test_of_a_model_on_the_hub_no_weights_are_fetched(tmp_path, monkeypatch):
    folder = tmp_path / "snapshots" / "c0ffee"
    folder.mkdir(parents=True)
    command = {}

    def snapshot(repository: str, revision: str | None, allow_patterns: list[str], cache_dir: None) -> str:
        command.update(repository=repository, revision=revision, patterns=allow_patterns)
        return str(folder)

    files = [
        SimpleNamespace(rfilename=name, size=size) for name, size in (("a.safetensors", 5), ("b.bin", 9))
    ]
    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot)
    counted = SimpleNamespace(parameter_count={"BF16": 3, "F32": 4})
    monkeypatch.setattr(huggingface_hub, "get_safetensors_metadata", lambda *_, **__: counted)
    monkeypatch.setattr(huggingface_hub.HfApi, "model_info", lambda *_, **__: SimpleNamespace(siblings=files))
    result = Reader.from_hub("some/model", "main", trust_remote_code=False)
    assert (result.parameters, result.stored, result.weights.revision) == (7, 5, "c0ffee")
    assert "*.safetensors" not in command["patterns"]
    result.write(tmp_path / "reader.json")
    assert Reader.read(tmp_path / "reader.json") == result


def test_a_hub_that_does_not_answer_is_one_line(monkeypatch):
    def nobody(*_: object, **__: object) -> str:
        raise ConnectionError("no route")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", nobody)
    with pytest.raises(InputError, match="model 'some/model', revision 'main': cannot be fetched"):
        Reader.from_hub("some/model", None, trust_remote_code=False)


def test_a_ledger_adds_to_what_earlier_jobs_wrote(tmp_path):
    path = Path(tmp_path, "a", "b.jsonl")
    Ledger.of_job(path, threads=3, accelerators=0).add("start")
    Ledger.of_job(path, threads=3, accelerators=0).add("prompt", tokens=2, computed=1)
    first, second = map(json.loads, path.read_text().splitlines())
    assert first["machine"].endswith(", 3 threads")
    assert (second["what"], second["computed"]) == ("prompt", 1)
