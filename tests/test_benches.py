"""The benchmarks still fit the library: names that it does not have any more are noticed here."""

import subprocess
import sys
from importlib import import_module

import pytest

from tests.conftest import REPOSITORY

BENCHES = sorted(path.stem for path in (REPOSITORY / "tests" / "bench").glob("[a-z]*.py"))


@pytest.mark.parametrize("name", BENCHES)
def test_a_benchmark_can_be_imported(name):
    assert import_module(f"tests.bench.{name}").__doc__


@pytest.mark.thorough
def test_a_model_of_random_weights_can_be_made_for_the_benchmark():
    command = [sys.executable, "tests/bench/random_llama.py", "--help"]
    assert subprocess.run(command, cwd=REPOSITORY, capture_output=True).returncode == 0
