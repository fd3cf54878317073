"""A scoring job on a tiny model with its own tokenizer."""

import json
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from transformers import MptConfig, Phi3Config, Phi3ForCausalLM

from abovechance.core.errors import InputError
from abovechance.core.settings import Setting
from abovechance.core.tables import read_made_from, read_table
from abovechance.scoring import models
from abovechance.scoring.algorithms import score
from abovechance.scoring.cells import Cell, InProcess, Scorer, score_cells
from abovechance.scoring.store import ScoreStore, read_requested
from abovechance.scoring.tokens import PromptStrings, tokenize
from abovechance.scoring.weights import Weights, load_tokenizer
from abovechance.study.prompts import PROMPTS, draw_prompts, evaluation_set
from abovechance.study.tasks import as_table
from tests.tiny import save_tiny_model


@pytest.fixture(scope="module")
def weights(tmp_path_factory) -> Weights:
    """A tiny model."""
    folder = save_tiny_model(tmp_path_factory.mktemp("model"))
    return Weights(str(folder), "tiny", "revision")


@pytest.fixture(scope="module")
def task() -> pd.DataFrame:
    return as_table(
        {
            "example": f"e{i}",
            "text": f"Q: is it {word}?\nA:",
            "choices": ["yes", "no", "maybe so"],
            "correct": [i % 3 == 0, i % 3 == 1, i % 3 == 2],
        }
        for i, word in enumerate(["so", "not so", "ünlike 🐟", "really", "x"])
    )


def cell(task: pd.DataFrame, prompts: int = 3, shots: int = 1) -> Cell:
    evaluation = evaluation_set(task, "t", 0, 200)
    sample = draw_prompts(task, evaluation, "t", 0, shots, prompts)
    return Cell(Setting("m", "t", shots), task, evaluation, sample)


def silent(_: str) -> None:
    """Report nothing."""


def test_scores_are_the_log_likelihoods_of_whole_strings(task, weights, tmp_path):
    chosen = cell(task)
    score_cells({tmp_path / "s.parquet": chosen}, InProcess(weights, "float32"), silent)
    table = read_table(tmp_path / "s.parquet")
    assert len(table) == 3 * 4 * 3  # prompts x other examples x choices
    model = models.load(weights, "float32")
    tokenizer = load_tokenizer(weights)
    texts, choices = task.set_index("example")["text"], task.set_index("example")["choices"]
    for row in table.sample(12, random_state=0).itertuples():
        context = chosen.prompts["text"][row.prompt] + texts[row.example]
        choice = " " + choices[row.example][row.choice]
        encoded = tokenizer(context + choice, return_offsets_mapping=True, return_tensors="pt")
        rows = [i for i, (_, end) in enumerate(encoded["offset_mapping"][0].tolist()) if end > len(context)]
        logits = model(encoded["input_ids"]).logits[0].double().log_softmax(-1)
        expected = sum(float(logits[i - 1, encoded["input_ids"][0, i]]) for i in rows)
        assert row.logprob == pytest.approx(expected, abs=1e-4)
        assert (row.tokens, row.characters, row.bytes) == (len(rows), len(choice), len(choice.encode()))


def test_a_prompt_is_not_scored_on_its_own_demonstrations(task, weights, tmp_path):
    chosen = cell(task, prompts=5)
    score_cells({tmp_path / "s.parquet": chosen}, InProcess(weights, "float32"), silent)
    table = read_table(tmp_path / "s.parquet")
    for prompt, demonstrations in enumerate(chosen.prompts["demonstrations"]):
        assert set(table["example"][table["prompt"] == prompt]) == set(task["example"]) - set(demonstrations)


def test_asking_for_more_prompts_scores_only_the_new_ones(task, weights, tmp_path, monkeypatch):
    path = tmp_path / "s.parquet"
    score_cells({path: cell(task, prompts=2)}, InProcess(weights, "float32"), silent)
    before = read_table(path)
    messages: list[str] = []
    score_cells({path: cell(task, prompts=4)}, InProcess(weights, "float32"), messages.append)
    assert messages[0] == "m, t, 1-shot: 2 of 4 prompts to score"
    after = read_table(path)
    pd.testing.assert_frame_equal(after[after["prompt"] < 2].reset_index(drop=True), before)
    monkeypatch.setattr(models, "load", lambda *_: pytest.fail("nothing is missing, so no model is needed"))
    score_cells({path: cell(task, prompts=4)}, InProcess(weights, "float32"), messages.append)
    pd.testing.assert_frame_equal(read_table(path), after)


def test_scores_of_other_prompts_or_examples_are_an_error(task, weights, tmp_path):
    path, prompts = tmp_path / "s.parquet", tmp_path / "prompts.parquet"
    chosen = cell(task, prompts=3)
    score_cells({path: chosen}, InProcess(weights, "float32"), silent)
    evaluation = chosen.evaluation
    PROMPTS.write(chosen.prompts, prompts, {})
    pd.testing.assert_frame_equal(read_requested(path, task, evaluation, prompts), read_table(path))
    fewer = evaluation.assign(evaluated=evaluation["example"] != "e4")
    with pytest.raises(InputError, match=r"s\.parquet: expected the scores of the 3 prompts of .* 3 of"):
        read_requested(path, task, fewer, prompts)
    with pytest.raises(InputError, match="and 3 of these are missing"):
        read_requested(path, task.assign(text=task["text"] + "!"), evaluation, prompts)
    PROMPTS.write(cell(task, prompts=4).prompts, prompts, {})
    with pytest.raises(InputError, match="4 prompts .* got 3 prompts, and 1 of these are missing"):
        read_requested(path, task, evaluation, prompts)
    PROMPTS.write(cell(task, prompts=2).prompts, prompts, {})
    with pytest.raises(InputError, match="2 prompts .* got 3 prompts, and 0 of these are missing"):
        read_requested(path, task, evaluation, prompts)


def test_a_changed_example_is_scored_again(task, weights, tmp_path):
    path = tmp_path / "s.parquet"
    score_cells({path: cell(task)}, InProcess(weights, "float32"), silent)
    messages: list[str] = []
    second = task.assign(text=task["text"].str.replace("x", "y"))
    score_cells({path: cell(second)}, InProcess(weights, "float32"), messages.append)
    assert messages[0].endswith("3 of 3 prompts to score")


@pytest.fixture
def mixed_scripts() -> pd.DataFrame:
    """Half of the examples are long in characters, the others in tokens."""
    return as_table(
        {
            "example": f"e{number}",
            "text": f"Q{number}: "
            + ("is it so? yes no maybe " * 5 if number % 2 else "天地玄黃宇宙" * 4)
            + " A:",
            "choices": ["yes", "no"],
            "correct": [number % 3 == 0, number % 3 != 0],
        }
        for number in range(8)
    )


def token_lengths(chosen: Cell, weights: Weights) -> list[int]:
    read = load_tokenizer(weights)
    prompts = range(len(chosen.prompts))
    return [max(map(len, tokenize(read, chosen.strings(prompt)).sequences)) for prompt in prompts]


def test_the_longest_prompt_is_that_of_the_most_tokens(mixed_scripts, weights):
    chosen = cell(mixed_scripts, prompts=6, shots=2)
    expected = token_lengths(chosen, weights)
    lengths = chosen.lengths(InProcess(weights, "float32").reading().read)
    assert lengths.tolist() == pytest.approx(expected, abs=8)
    assert expected[int(lengths.argmax())] == max(expected)
    characters = [max(map(len, chosen.strings(prompt).texts)) for prompt in range(6)]
    assert int(np.argmax(characters)) != int(np.argmax(expected))


@pytest.fixture
def scaled(tmp_path_factory) -> Weights:
    """A model whose positions change for all tokens of a text of more than 150 tokens."""
    folder = save_tiny_model(tmp_path_factory.mktemp("scaled"))
    torch.manual_seed(0)
    rope = {"rope_type": "longrope", "rope_theta": 10000.0, "original_max_position_embeddings": 150}
    rope |= {"short_factor": [1.0] * 8, "long_factor": [4.0] * 8}
    config = Phi3Config(
        **{"vocab_size": 300, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2},
        **{"num_attention_heads": 2, "num_key_value_heads": 2, "max_position_embeddings": 2000},
        **{"original_max_position_embeddings": 150, "initializer_range": 0.3, "pad_token_id": 0},
        rope_parameters=rope,
    )
    Phi3ForCausalLM(config).save_pretrained(folder)
    return Weights(str(folder), "scaled", "revision")


def test_positions_that_change_in_a_prompt_of_few_characters(mixed_scripts, scaled, tmp_path):
    chosen = cell(mixed_scripts, prompts=6)
    lengths = token_lengths(chosen, scaled)
    assert min(lengths) < 150 < max(lengths)
    path = tmp_path / "s.parquet"
    score_cells({path: chosen}, InProcess(scaled, "float32"), silent)
    assert read_made_from(path)["runs"][0]["path"] == "alone"


def test_a_job_that_was_killed_goes_on_with_the_same_path(mixed_scripts, scaled, tmp_path, monkeypatch):
    chosen, (first, second) = cell(mixed_scripts, prompts=6), (tmp_path / "a.parquet", tmp_path / "b.parquet")
    score_cells({first: chosen}, InProcess(scaled, "float32"), silent)
    whole, added = ScoreStore.add, []

    def killed_at_the_fifth(self, *arguments):  # the long ones have scores
        if len(added) == 4:
            raise KeyboardInterrupt
        added.append(arguments[0])
        whole(self, *arguments)

    monkeypatch.setattr(ScoreStore, "add", killed_at_the_fifth)
    with pytest.raises(KeyboardInterrupt):
        score_cells({second: chosen}, InProcess(scaled, "float32"), silent)
    monkeypatch.setattr(ScoreStore, "add", lambda self, *rest: (added.append(rest[0]), whole(self, *rest)))
    score_cells({second: chosen}, InProcess(scaled, "float32"), silent)
    assert sorted(added) == sorted(chosen.keys)  # each once
    pd.testing.assert_frame_equal(read_table(second), read_table(first))
    assert read_made_from(second)["runs"] == read_made_from(first)["runs"]


def test_a_prompt_that_a_model_cannot_read_is_named(task, weights, tmp_path, monkeypatch):
    def refuses(model, tokens, path, limit=256):
        raise RuntimeError("The size of tensor a (113) must match the size of tensor b (100)")

    monkeypatch.setattr("abovechance.scoring.cells.score", refuses)
    message = (
        r"m, t, 1-shot, prompt \d: the model cannot read a string of \d+ tokens \(RuntimeError: The size"
    )
    with pytest.raises(InputError, match=message):
        score_cells({tmp_path / "s.parquet": cell(task)}, InProcess(weights, "float32"), silent)


def test_the_context_of_models_that_call_it_otherwise(tmp_path):
    folder = save_tiny_model(tmp_path / "m")
    settings = {"vocab_size": 300, "d_model": 32, "n_heads": 2, "n_layers": 1, "max_seq_len": 70}
    MptConfig(**settings).save_pretrained(folder)
    assert models.limits(Weights(str(folder), "m", "revision")) == (70, 300)


def test_an_error_in_the_middle_keeps_the_prompts_before_it(task, weights, tmp_path, monkeypatch):
    path = tmp_path / "s.parquet"
    whole, calls = Scorer._scored, []

    def fails_at_the_third(self, *arguments):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return whole(self, *arguments)

    monkeypatch.setattr(Scorer, "_scored", fails_at_the_third)
    with pytest.raises(KeyboardInterrupt):
        score_cells({path: cell(task, prompts=4)}, InProcess(weights, "float32"), silent)
    assert not path.exists()
    messages: list[str] = []
    score_cells({path: cell(task, prompts=4)}, InProcess(weights, "float32"), messages.append)
    assert messages[0].endswith("2 of 4 prompts to score")


def test_running_out_of_memory_halves_the_pack_and_goes_on(task, weights, tmp_path, monkeypatch):
    path = tmp_path / "s.parquet"
    whole = score

    def little_memory(model, tokens, path, limit=256):
        if limit > 100:
            raise torch.OutOfMemoryError
        return whole(model, tokens, path, limit)

    monkeypatch.setattr("abovechance.scoring.cells.score", little_memory)
    monkeypatch.setattr("abovechance.scoring.algorithms.score", little_memory)
    score_cells({path: cell(task)}, InProcess(weights, "float32"), silent)
    assert {entry["pack"] for entry in read_made_from(path)["prompts"]} == {64}


def test_prompts_too_long_are_an_error_before_the_model_is_loaded(task, weights, tmp_path, monkeypatch):
    longer = task.assign(text=["Q" * 150 + "\nA:", *task["text"][1:]])
    monkeypatch.setattr(models, "load", lambda *_: pytest.fail("the model was loaded"))
    with pytest.raises(InputError, match="longer than the model's context of 120 tokens"):
        score_cells({tmp_path / "s.parquet": cell(longer, prompts=5)}, InProcess(weights, "float32"), silent)
    assert list(tmp_path.iterdir()) == []


def test_a_prompt_that_just_fits_the_context_is_scored(task, weights, tmp_path):
    tokenizer = load_tokenizer(weights)
    for length in range(40, 120):
        longer = task.assign(text=["Q" * length + "\nA:", *task["text"][1:]])
        chosen = cell(longer, prompts=5)
        lengths = [
            max(map(len, tokenize(tokenizer, chosen.strings(prompt)).sequences)) for prompt in range(5)
        ]
        if max(lengths) == 120:
            break
    assert max(lengths) == 120
    score_cells({tmp_path / "s.parquet": chosen}, InProcess(weights, "float32"), silent)
    assert np.isfinite(read_table(tmp_path / "s.parquet")["logprob"]).all()


def test_prompts_beyond_the_context_are_left_out_where_that_is_asked_for(task, weights, tmp_path):
    # Only the prompt whose demonstration is the long example is never evaluated on it, but reads it.
    longer = task.assign(text=["Q" * 150 + "\nA:", *task["text"][1:]])
    chosen = cell(longer, prompts=5)
    score_cells(
        {tmp_path / "s.parquet": chosen}, InProcess(weights, "float32"), silent, leave_out_too_long=True
    )
    facts = read_made_from(tmp_path / "s.parquet")["prompts"]
    assert all(entry["too_long"] > 120 for entry in facts)
    assert len(read_table(tmp_path / "s.parquet")) == 0
    with pytest.raises(InputError, match="5 of 5 prompts are longer than the model's context"):
        score_cells({tmp_path / "s.parquet": chosen}, InProcess(weights, "float32"), silent)


def test_asking_for_fewer_prompts_and_then_for_more_scores_none_again(task, weights, tmp_path, monkeypatch):
    path = tmp_path / "s.parquet"
    score_cells({path: cell(task, prompts=3)}, InProcess(weights, "float32"), silent)
    before = read_table(path)
    monkeypatch.setattr(models, "load", lambda *_: pytest.fail("all is scored, so no model is needed"))
    for prompts in (1, 3):
        score_cells({path: cell(task, prompts=prompts)}, InProcess(weights, "float32"), silent)
    pd.testing.assert_frame_equal(read_table(path), before)


def test_a_models_cells_are_scored_with_one_loading_and_written_one_by_one(
    task, weights, tmp_path, monkeypatch
):
    cells = {tmp_path / f"{shots}.parquet": cell(task, prompts=2, shots=shots) for shots in (1, 2)}
    load, loaded = models.load, []
    monkeypatch.setattr(models, "load", lambda *args: loaded.append(args) or load(*args))
    whole, calls = Scorer._scored, []

    def fails_at_the_fourth(self, *arguments):
        calls.append(1)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return whole(self, *arguments)

    with monkeypatch.context() as patched:
        patched.setattr(Scorer, "_scored", fails_at_the_fourth)
        with pytest.raises(KeyboardInterrupt):
            score_cells(cells, InProcess(weights, "float32"), silent)
    assert {path.name for path in tmp_path.iterdir()} == {"1.parquet", "1.store.parquet", "2.journal"}
    messages: list[str] = []
    score_cells(cells, InProcess(weights, "float32"), messages.append)
    assert messages[:2] == ["m, t, 1-shot: 0 of 2 prompts to score", "m, t, 2-shot: 1 of 2 prompts to score"]
    assert len(loaded) == 2
    assert {path.name for path in tmp_path.glob("*[12].parquet")} == {"1.parquet", "2.parquet"}
    assert not [*tmp_path.glob("*.journal")]
    for path, first in cells.items():
        alone = tmp_path / "alone" / path.name
        score_cells({alone: first}, InProcess(weights, "float32"), silent)
        pd.testing.assert_frame_equal(read_table(path), read_table(alone))


class Encoded:
    """A tokenizer that gives what it is told."""

    backend_tokenizer = SimpleNamespace(post_processor=None)

    def __init__(self, tokens: list[int], spans: list[tuple[int, int]]) -> None:
        self.answer = {"input_ids": [tokens], "offset_mapping": [spans]}

    def __call__(self, *_: object, **__: object) -> dict[str, list]:
        return self.answer


@pytest.mark.parametrize(
    ("spans", "start", "length"),
    [
        ([(0, 2), (2, 4), (4, 7)], 2, 3),  # a border between tokens
        ([(0, 2), (2, 5), (5, 7)], 1, 3),  # a token across the border is the choice's
        ([(0, 0), (0, 4), (4, 7), (0, 0)], 2, 3),  # special tokens: the first is read, the last is not
    ],
)
def test_a_choices_tokens_are_those_that_end_after_its_start(spans, start, length):
    strings = PromptStrings(("e",), (0,), ("Q:A:",), (" no",))
    tokens = tokenize(Encoded(list(range(len(spans))), spans), strings, "read")
    assert tokens.starts == [start]
    assert tokens.sequences == [list(range(length))]


def test_tokens_of_a_beginning_of_sequence_are_not_counted_as_the_choices(task, weights, tmp_path):
    score_cells({tmp_path / "s.parquet": cell(task)}, InProcess(weights, "float32"), silent)
    table = read_table(tmp_path / "s.parquet")
    tokenizer = load_tokenizer(weights)
    alone = np.array([len(tokenizer(choice)["input_ids"]) for choice in (" yes", " no", " maybe so")])
    assert (table["tokens"].to_numpy() == alone[table["choice"]]).all()


def with_choices(*choices: str) -> pd.DataFrame:
    """A task of one kind of choices."""
    return as_table(
        {"example": f"e{i}", "text": f"Q: {i}?\nA:", "choices": list(choices), "correct": [True, False]}
        for i in range(3)
    )


def test_a_text_that_reads_like_a_special_token_is_text_unless_it_is_to_be_read(weights, tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(weights.folder, folder)
    tokenizer = load_tokenizer(Weights(str(folder), "tiny", "r"))
    tokenizer.add_special_tokens({"eos_token": "</s>"})
    tokenizer.save_pretrained(folder)
    task = with_choices("yes </s>", "no")
    rows = Weights(str(folder), "tiny", "r")
    by_name = {}
    for policy in ("text", "read"):
        path = tmp_path / f"{policy}.parquet"
        score_cells({path: cell(task)}, InProcess(rows, "float32", special_tokens=policy), silent)
        by_name[policy] = read_table(path)["tokens"].iloc[0]
    assert by_name["text"] > by_name["read"]
    # and scores of the one are not those of the other
    messages: list[str] = []
    score_cells({tmp_path / "text.parquet": cell(task)}, InProcess(rows, "float32", "read"), messages.append)
    assert messages[0].endswith("3 of 3 prompts to score")


def test_another_tokenizer_makes_scores_void(task, weights, tmp_path):
    folder, path = tmp_path / "model", tmp_path / "s.parquet"
    shutil.copytree(weights.folder, folder)
    rows = Weights(str(folder), "tiny", "r")
    score_cells({path: cell(task)}, InProcess(rows, "float32"), silent)
    text = (folder / "tokenizer.json").read_text()
    (folder / "tokenizer.json").write_text(text + " ")
    messages: list[str] = []
    score_cells({path: cell(task)}, InProcess(rows, "float32"), messages.append)
    assert messages[0].endswith("3 of 3 prompts to score")
    (folder / "tokenizer.json").write_text(text)
    messages.clear()
    score_cells({path: cell(task)}, InProcess(rows, "float32"), messages.append)
    assert messages[0].endswith("0 of 3 prompts to score")


def normalized(folder: Path, normalizer: dict[str, Any]) -> None:
    path = folder / "tokenizer.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"normalizer": normalizer}))


@pytest.mark.parametrize(
    ("choices", "normalizer", "message"),
    [
        (("Yes", "yes"), {"type": "Lowercase"}, "example 'e0': its choices 0 and 1 are the same tokens"),
        (
            ("a", "no"),
            {"type": "Replace", "pattern": {"String": " a"}, "content": ""},
            "choice 0: the tokenizer",
        ),
    ],
)
def test_choices_that_a_tokenizer_cannot_tell_apart_are_told_before_the_model_is_loaded(
    weights, tmp_path, monkeypatch, choices, normalizer, message
):
    folder = tmp_path / "model"
    shutil.copytree(weights.folder, folder)
    normalized(folder, normalizer)
    monkeypatch.setattr(models, "load", lambda *_: pytest.fail("the model was loaded"))
    with pytest.raises(InputError, match=f"m, t, 0-shot, prompt 0: .*{message}"):
        score_cells(
            {tmp_path / "s.parquet": cell(with_choices(*choices), shots=0)},
            InProcess(Weights(str(folder), "tiny", "r"), "float32"),
            silent,
        )


def test_a_normalizer_that_makes_one_character_many_does_not_hide_a_long_prompt(weights, tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(weights.folder, folder)
    normalized(folder, {"type": "NFKC"})
    task = with_choices("\ufdfa" * 8, "no")  # 18 characters each
    with pytest.raises(InputError, match="longer than the model's context of 120 tokens"):
        score_cells(
            {tmp_path / "s.parquet": cell(task, shots=0)},
            InProcess(Weights(str(folder), "tiny", "r"), "float32"),
            silent,
        )


def test_a_tokenizer_that_splits_at_random_is_refused(weights, tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(weights.folder, folder)
    path = folder / "tokenizer.json"
    settings = json.loads(path.read_text())
    settings["model"]["dropout"] = 0.1
    path.write_text(json.dumps(settings))
    with pytest.raises(InputError, match="splits words at random"):
        load_tokenizer(Weights(str(folder), "tiny", "r"))


def test_a_score_that_is_no_number_ends_the_job_with_its_place(task, weights, tmp_path, monkeypatch):
    whole = score

    def broken(*arguments):
        result = whole(*arguments)
        result.logprobs[4] = float("nan")
        return result

    monkeypatch.setattr("abovechance.scoring.cells.score", broken)
    with pytest.raises(InputError, match=r"1-shot, prompt \d: example 'e\d', choice 1: the model gives nan"):
        score_cells({tmp_path / "s.parquet": cell(task, prompts=5)}, InProcess(weights, "float32"), silent)
    assert not (tmp_path / "s.parquet").exists()


def test_how_each_prompt_was_computed_is_kept_when_nothing_is_missing(task, weights, tmp_path):
    path = tmp_path / "s.parquet"
    score_cells({path: cell(task)}, InProcess(weights, "float32"), silent)
    before = read_made_from(path)
    assert before["runs"][0]["path"] == "tree"
    assert "torch" in before["runs"][0]["versions"]
    assert [entry["run"] for entry in before["prompts"]] == [0, 0, 0]
    score_cells({path: cell(task)}, InProcess(weights, "float32"), silent)
    assert read_made_from(path) == before


@pytest.mark.parametrize(
    "method",
    [
        "sinq",
        pytest.param(
            "metal",
            marks=pytest.mark.skipif(
                torch.cuda.is_available(), reason="with a GPU, transformers loads these"
            ),
        ),
    ],
)
def test_a_model_that_cannot_be_loaded_is_told_in_one_line(task, weights, tmp_path, method):
    folder = shutil.copytree(weights.folder, tmp_path / "model")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(
        json.dumps(config | {"quantization_config": {"quant_method": method}})
    )
    with pytest.raises(InputError, match="model: transformers cannot load its weights") as error:
        rows = Weights(str(folder), "tiny", "revision")
        score_cells({tmp_path / "s.parquet": cell(task)}, InProcess(rows, "float32"), silent)
    assert "\n" not in str(error.value)
