"""Small models that are trained here, and the language that they learn."""

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM, AutoTokenizer

from abovechance.study.formats import CLOZE, LETTERS, apply_format
from abovechance.study.invented import KINDS, THINGS, invented_task, texts, things, training_and_test
from abovechance.study.prompts import as_demonstrations
from abovechance.study.task_sources import INVENTED
from abovechance.training.language_model import tokenizer, train


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def trained(tmp_path_factory) -> dict[str, dict[int, dict[str, torch.Tensor]]]:
    """Weights of a narrow model by what it was trained with."""
    folder, result = tmp_path_factory.mktemp("trained"), {}
    for name, seed, steps in (("one", 1, (0, 2, 4)), ("again", 1, (2, 6)), ("other", 2, (0, 2))):
        checkpoints = {step: folder / name / str(step) for step in steps}
        created = train(seed, 16, 1, checkpoints, lambda line: None)
        assert {step: Path(weights.folder) for step, weights in created.items()} == checkpoints
        result[name] = {step: load_file(path / "model.safetensors") for step, path in checkpoints.items()}
    result["folder"] = folder
    return result


def equal_weights(first: dict[str, torch.Tensor], second: dict[str, torch.Tensor]) -> bool:
    return first.keys() == second.keys() and all(torch.equal(first[name], second[name]) for name in first)


def test_the_same_seed_gives_the_same_weights_whatever_comes_after(trained):
    assert equal_weights(trained["one"][2], trained["again"][2])


def test_another_seed_begins_and_learns_differently(trained):
    assert not equal_weights(trained["one"][0], trained["other"][0])
    assert not equal_weights(trained["one"][2], trained["other"][2])


def test_checkpoints_differ(trained):
    assert not equal_weights(trained["one"][0], trained["one"][2])
    assert not equal_weights(trained["one"][2], trained["one"][4])


def test_what_is_kept_is_a_model_as_any_other(trained):
    folder = trained["folder"] / "one" / "4"
    model, reads = AutoModelForCausalLM.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    assert model.config.hidden_size == 16
    tokens = reads("A brod is a fish.", return_tensors="pt").input_ids
    assert torch.isfinite(model(tokens).logits).all()


def test_all_seeds_read_alike():
    first = tokenizer()
    text = "Question: What is a brod?\nAnswer: a fish\n"
    assert first.decode(first.encode(text)) == text
    assert first.get_vocab() == tokenizer().get_vocab()


def test_no_question_of_the_task_stands_in_a_text():
    task = invented_task()
    table = apply_format(task, CLOZE, INVENTED)
    letters = apply_format(task, LETTERS, INVENTED)
    output = "".join(text for text, _ in zip(texts(1), range(20_000), strict=False))
    for form in (table, letters):
        assert not any(f"{question}" in output for question in form["text"])
    is_known, questions = training_and_test()
    assert not {*is_known} & {*questions}
    assert sorted([*is_known, *questions]) == sorted(things())
    assert len(things()) == THINGS
    # and what kind each is, does
    of_kinds = things()
    assert all(f"A {thing} is a {of_kinds[thing]}." in output for thing in questions)


def test_texts_ask_as_the_task_does():
    table = apply_format(invented_task(), LETTERS, INVENTED)
    shape = next(iter(as_demonstrations(table).values()))
    output = "".join(text for text, _ in zip(texts(3), range(2000), strict=False))
    assert shape.split("?")[1].split("\n")[1][:3] in output
    assert set(table["choices"].map(len)) == {len(KINDS)}
    assert all(kind in output for kind in KINDS)


def test_the_order_of_texts_is_the_seeds():
    first = [text for text, _ in zip(texts(1), range(50), strict=False)]
    assert first == [text for text, _ in zip(texts(1), range(50), strict=False)]
    assert first != [text for text, _ in zip(texts(2), range(50), strict=False)]
