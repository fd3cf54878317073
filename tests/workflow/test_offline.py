"""A study whose downloads are there runs where there is no network at all."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.conftest import snakemake_command
from tests.tiny import save_tiny_model, write_tiny_study

CLOSED = ["unshare", "--net"]  # a network namespace without routes

pytestmark = [
    pytest.mark.workflow,
    pytest.mark.slow,
    pytest.mark.skipif(
        not shutil.which("unshare") or subprocess.run([*CLOSED, "true"], capture_output=True).returncode != 0,
        reason="a network namespace cannot be made here",
    ),
]
COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def hub(tmp_path: Path) -> Path:
    """The hub's cache with one model in it, as `make fetch` leaves it."""
    model = tmp_path / "hub" / "hub" / "models--org--tiny"
    save_tiny_model(model / "snapshots" / COMMIT, max_position_embeddings=4000)
    (model / "refs").mkdir()
    (model / "refs" / "main").write_text(COMMIT)
    return tmp_path / "hub"


def closed(place: Path, hub: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run the study without a network."""
    command = snakemake_command(*arguments, "--configfile", str(place / "away.yaml"), directory=place)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    return subprocess.run(
        [*CLOSED, *command], env=environment | {"HF_HOME": str(hub)} | more, capture_output=True, text=True
    )


def test_a_study_that_was_fetched_runs_without_a_network(downloads, hub, tmp_path):
    place = tmp_path / "place"
    (place / "results").mkdir(parents=True)
    config = write_tiny_study(place, "away", prompts=2, max_examples=8)
    study = yaml.safe_load(config.read_text())
    study["models"] = {"tiny": {"hub": "org/tiny", "revision": "main", "precision": "float32"}}
    study["tasks"] = {"sums": "sums.jsonl", "known_unknowns": "bigbench"}
    config.write_text(yaml.safe_dump(study))
    assert "downloading bigbench" in closed(place, hub, "fetch").stderr  # which it cannot
    shutil.copytree(downloads, place / "results" / "downloads", dirs_exist_ok=True)
    fetched = closed(place, hub, "fetch", HF_HUB_OFFLINE="1")
    assert fetched.returncode == 0, fetched.stdout + fetched.stderr
    (weights,) = (place / "results" / "weights").glob("tiny-*/weights.json")
    assert json.loads(weights.read_text())["revision"] == COMMIT
    completed = closed(place, hub, "results/away/verdicts.csv")
    assert completed.returncode == 0, completed.stdout + completed.stderr
    assert (place / "results" / "away" / "verdicts.csv").stat().st_size
