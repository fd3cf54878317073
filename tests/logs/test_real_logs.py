"""Logs that the tools themselves wrote: `make logs` makes them."""

import json

import pytest
from tests.conftest import REPOSITORY

from abovechance.accuracy import accuracy_by_prompt
from abovechance.importers import Options, combine, read_runs

LOGS = REPOSITORY / "results" / "logs"


@pytest.mark.parametrize("tool", ["lm_eval", "inspect_ai", "lighteval"])
def test_a_tools_own_log_gives_the_accuracy_that_it_reports(tool):
    folder = LOGS / tool
    if not (folder / "accuracy.json").is_file():
        pytest.skip(f"there is no log of {tool} on this machine; `make logs` makes it")
    options = Options(prompts=1)
    accuracy = accuracy_by_prompt(combine(read_runs([folder], options), options))
    assert accuracy["accuracy"].tolist() == [
        pytest.approx(json.loads((folder / "accuracy.json").read_text()))
    ]
    assert accuracy["examples"].tolist() == [12]
    assert accuracy["chances"].tolist() == [[pytest.approx(1 / 3)]]
