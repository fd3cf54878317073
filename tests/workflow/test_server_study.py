"""A study of a model on a server, beside the same model in the scoring jobs."""

import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from abovechance.core.tables import read_table
from tests.conftest import snakemake
from tests.servers.served import Served, running
from tests.tiny import save_tiny_model, write_tiny_study

pytestmark = pytest.mark.workflow
KEY = "secret-key-of-the-server"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("served")


@pytest.fixture(scope="module")
def server(place: Path) -> Iterator[Served]:
    with running(save_tiny_model(place / "tiny")) as served:
        served.key, served.context = KEY, 120
        yield served


@pytest.fixture(scope="module")
def study(place: Path, server: Served) -> Path:
    config = write_tiny_study(
        place, "served", shots=[1], prompts=3, tasks={"sums": "sums.jsonl"}, max_examples=8
    )
    changed = yaml.safe_load(config.read_text())
    entry = {"url": server.url, "kind": "vllm", "model": "tiny", "tokenizer": "tiny", "key_from": "TINY_KEY"}
    entry |= {"compare_with": "tiny", "price": {"input": 2.0, "cached": 0.5}}
    changed["models"]["on-server"] = {"server": entry}
    config.write_text(yaml.safe_dump(changed))
    return config


@pytest.fixture
def run_to_verdicts(study: Path) -> list[str]:
    """Arguments of a run to the verdicts and to what was spent."""
    targets = ["results/served/verdicts.csv", "results/served/cost/spent.csv"]
    return [*targets, "--configfile", str(study)]


def test_a_model_on_a_server_has_the_results_of_the_same_model_here(run_to_verdicts, place, monkeypatch):
    monkeypatch.setenv("TINY_KEY", KEY)
    snakemake(*run_to_verdicts, directory=place)
    results = place / "results" / "served"
    local_scores, server_scores = (
        read_table(results / "scores" / name / "sums" / "1-shot.parquet") for name in ("tiny", "on-server")
    )
    np.testing.assert_allclose(local_scores["logprob"], server_scores["logprob"], atol=1e-3)
    verdicts = pd.read_csv(results / "tables" / "verdicts.csv").set_index("model")
    assert verdicts.loc["tiny", "best_accuracy"] == verdicts.loc["on-server", "best_accuracy"]
    spent = pd.read_csv(results / "cost" / "spent.csv").set_index("model")
    assert spent.loc["on-server", "requests"] > 0 == spent.loc["tiny", "requests"]
    assert_no_file_has_the_key(place)


def test_nothing_is_asked_a_second_time(run_to_verdicts, place, server, monkeypatch):
    monkeypatch.setenv("TINY_KEY", KEY)
    server.requests.clear()
    assert "Nothing to be done" in snakemake(*run_to_verdicts, "--dry-run", directory=place).stdout
    assert not server.requests


@pytest.mark.slow
def test_the_price_is_estimated_before(study, place):
    snakemake("cost", "--configfile", str(study), directory=place)
    table = pd.read_csv(place / "results" / "served" / "cost" / "estimate.csv").set_index("model")
    row = table.loc["on-server"]
    assert row["price"] == pytest.approx(row["tokens"] * 2e-6)
    assert row["cached_price"] == pytest.approx(
        row["computed"] * 2e-6 + (row["tokens"] - row["computed"]) * 5e-7
    )
    assert pd.isna(table.loc["tiny", "price"])


@pytest.mark.slow
def test_the_report_names_the_server_and_the_key_is_in_no_file(study, place, monkeypatch):
    monkeypatch.setenv("TINY_KEY", KEY)
    snakemake("archive", "--configfile", str(study), directory=place)
    assert "tiny (vllm at http://127.0.0.1" in (place / "results/served/report.html").read_text()
    assert_no_file_has_the_key(place)


def assert_no_file_has_the_key(place):
    for path in [*(place / "results").rglob("*"), *(place / ".snakemake").rglob("*")]:
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive:
                assert not any(KEY.encode() in archive.read(name) for name in archive.namelist())
        elif path.is_file():
            assert KEY.encode() not in path.read_bytes(), path


@pytest.mark.slow
def test_a_server_that_fails_the_probe_ends_the_study_with_one_line(study, place, server, monkeypatch):
    monkeypatch.setenv("TINY_KEY", KEY)
    server.defects = {"zeros"}
    changed = yaml.safe_load(study.read_text()) | {"study": "failed"}
    path = place / "failed.yaml"
    path.write_text(yaml.safe_dump(changed))
    completed = snakemake("--configfile", str(path), "--until", "score", directory=place, check=False)
    server.defects = set()
    assert completed.returncode == 1
    assert "the probe 'zeros' failed: all log-probabilities are 0" in completed.stdout + completed.stderr
    assert not (place / "results" / "failed" / "scores" / "on-server" / "sums" / "1-shot.parquet").exists()
