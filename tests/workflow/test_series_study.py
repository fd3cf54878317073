"""A study of a series of models, two seeds of a tiny one."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from abovechance.core.tables import read_table
from tests.conftest import snakemake
from tests.tiny import save_tiny_model, write_tiny_study

pytestmark = pytest.mark.workflow


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("series")
    for seed in (1, 2):
        save_tiny_model(folder / f"tiny-{seed}", initializer_range=0.1 * seed)
    models = {"tiny": {"path": "tiny-{seed}", "seeds": [1, 2], "precision": "float32"}}
    config = write_tiny_study(folder, "grow", models=models, tasks={"sums": "sums.jsonl"}, shots=[1])
    snakemake(
        "results/grow/tables/series.csv",
        "results/grow/config.yaml",
        "--configfile",
        str(config),
        directory=folder,
    )
    return folder / "results/grow"


def test_each_seed_is_a_model_that_says_what_it_is_of(results):
    config = yaml.safe_load((results / "config.yaml").read_text())
    assert {name: entry["series"]["seed"] for name, entry in config["models"].items()} == {
        "tiny-seed1": 1,
        "tiny-seed2": 2,
    }


def test_the_measures_are_of_what_each_seed_got_right_and_of_its_log_likelihoods(results):
    table = pd.read_csv(results / "tables/series.csv").set_index("metric")
    assert set(table["model"]) == {"tiny"}
    assert set(table["seeds"]) == {2}
    accuracy, mass = [], []
    for seed in (1, 2):
        own = read_table(results / f"predictions/tiny-seed{seed}.parquet").astype({"example": str})
        accuracy.append(own.groupby("example")["correct"].mean().mean())
        rows = read_table(results / f"likelihoods/tiny-seed{seed}.parquet").astype({"example": str})
        rows["probability"] = np.exp(rows["logprob"])
        both = rows.groupby(["prompt", "example"])["probability"].sum()
        right = rows[rows["right"]].set_index(["prompt", "example"])["probability"]
        mass.append((right / both).groupby("example").mean().mean())
    assert table.loc["accuracy", "mean"] == pytest.approx(np.mean(accuracy))
    assert table.loc["accuracy", "final_deviation"] == pytest.approx(np.std(accuracy, ddof=1))
    assert table.loc["correct", "mean"] == pytest.approx(np.mean(mass))
    assert table.loc["correct", "final_deviation"] == pytest.approx(np.std(mass, ddof=1))
    assert table.loc["nll", "loss"]
    assert (results / "figures/series_curves.png").stat().st_size > 5000
