"""Choices of inspect's samples: several correct ones, and more than there are letters."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from abovechance.core.errors import InputError
from abovechance.importers import Options, read_runs
from abovechance.importers.inspect_ai import chance_of
from tests.importers.reading import imported
from tests.importers.test_importers import inspect_files, inspect_sample


def write(folder: Path, samples: list[dict[str, Any]]) -> Path:
    path = folder / "log.json"
    path.write_text(json.dumps(inspect_files([])["header.json"] | {"samples": samples}))
    return path


def test_if_several_choices_can_be_correct_the_chance_is_unknown_for_all(tmp_path):
    samples = [inspect_sample(place, "C", answer="B") for place in range(6)]
    samples[2]["target"] = ["A", "C"]
    path = write(tmp_path, samples)
    (run,) = read_runs([path], Options(chance=0.125))
    assert run.rows["chance"].isna().all()
    assert "several choices can be correct, and all of them must be marked" in run.notes[0]
    assert imported(path, prompts=1, chance=0.125)["chance"].tolist() == [0.125] * 6
    with pytest.raises(InputError, match="how probable it is to guess an example"):
        imported(path, prompts=1)
    samples[2]["target"] = ["B"]
    assert imported(write(tmp_path, samples), prompts=1)["chance"].tolist() == pytest.approx([1 / 3] * 6)


def test_more_choices_than_letters(tmp_path):
    """The 27th is called 1, also where a choice is the text '1'."""
    choices = [str(number) for number in range(30)]
    samples = [inspect_sample(place, "C", answer=target) for place, target in enumerate(("1", "4", "Z"))]
    for sample in samples:
        sample |= {"choices": choices, "target": sample["scores"]["choice"]["answer"]}
    (run,) = read_runs([write(tmp_path, samples)], Options())
    assert run.rows["predicted"].tolist() == [26, 29, 25]
    assert [int(np.argmax(flags)) for flags in run.rows["right"]] == [26, 29, 25]
    assert run.rows["chance"].tolist() == pytest.approx([1 / 30] * 3)
    assert chance_of({"choices": choices, "target": "A"}, "place") == 1 / 30


def test_a_choice_in_capitals_is_no_list_of_letters(tmp_path):
    samples = [inspect_sample(place, "C", answer="B") for place in range(4)]
    samples[1] |= {"choices": ["US", "Germany", "France"], "target": "US"}
    (run,) = read_runs([write(tmp_path, samples)], Options())
    assert run.rows["chance"].tolist() == pytest.approx([1 / 3] * 4)
    assert not [note for note in run.notes if "several choices" in note]
