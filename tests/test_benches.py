"""The benchmarks still fit the library: names that it does not have any more are noticed here."""

import subprocess
import sys
from importlib import import_module

import pytest
from transformers import AutoModelForCausalLM

from abovechance.scoring.tokens import PromptStrings
from abovechance.scoring.weights import Weights, load_tokenizer
from tests.conftest import REPOSITORY
from tests.tiny import save_tiny_model

BENCHES = sorted(path.stem for path in (REPOSITORY / "tests" / "bench").glob("[a-z]*.py"))


@pytest.mark.parametrize("name", BENCHES)
def test_a_benchmark_can_be_imported(name):
    assert import_module(f"tests.bench.{name}").__doc__


@pytest.mark.slow
def test_a_model_of_random_weights_can_be_made_for_the_benchmark():
    command = [sys.executable, "tests/bench/random_llama.py", "--help"]
    assert subprocess.run(command, cwd=REPOSITORY, capture_output=True).returncode == 0


@pytest.mark.thorough
def test_scoring_is_measured_beside_the_papers_way(tmp_path):
    from tests.bench.scoring import measure

    folder = save_tiny_model(tmp_path)
    model = AutoModelForCausalLM.from_pretrained(folder).eval()
    tokenizer = load_tokenizer(Weights(str(folder), "tiny", "revision"))
    strings = PromptStrings(("e",) * 2, (0, 1), ("is it so?\nA:",) * 2, (" yes", " no"))
    cell = measure(model, "tree", tokenizer, strings, rows=2, harness=False)
    assert min(cell["a"], cell["c"], cell["d"]) > 0
    assert cell["difference"] < 1e-4
