"""A study of a series of models, two seeds of a tiny one."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from typer.testing import CliRunner

from abovechance.cli import app
from abovechance.core.tables import read_table
from tests.conftest import snakemake
from tests.tiny import write_tiny_study

pytestmark = pytest.mark.workflow


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two seeds of a narrow model that the study trains, in two formulations; weights are not kept."""
    folder = tmp_path_factory.mktemp("learned")
    tasks = {"kinds": {"source": "invented", "formats": ["cloze", "letters"]}}
    small = {"trained": {"width": 16, "layers": 1}, "seeds": [1, 2], "steps": [3], "precision": "float32"}
    few = {"tasks": tasks, "models": {"small": small}, "keep_weights": False, "shots": [1], "prompts": 2}
    config = write_tiny_study(folder, "learn", **few, max_examples=12)
    snakemake("--configfile", str(config), directory=folder)
    return folder / "results/learn"


def test_a_study_trains_scores_and_compares_formulations(learned):
    scores = read_table(learned / "evaluations.parquet")
    assert set(zip(scores["seed"], scores["checkpoint"], strict=True)) == {(1, 3), (2, 3)}
    assert set(scores["task"]) == {"kinds-cloze", "kinds-letters"}
    assert scores["chance"].tolist() == pytest.approx([1 / 6] * len(scores))
    merged = pd.read_csv(learned / "tables/formulations.csv")
    assert set(merged["models"]) == {2}
    assert set(merged["first"]) == {"kinds-cloze"}
    measures = pd.read_csv(learned / "tables/formulation_series.csv").set_index(["formulation", "metric"])
    series = pd.read_csv(learned / "tables/series.csv").set_index(["task", "metric"])
    assert measures["deviation"].to_dict() == pytest.approx(
        series["deviation"].drop("best_accuracy", level="metric").to_dict()
    )
    page = (learned / "report.html").read_text()
    for heading in ("How much do scores vary?", "Do formulations of a task agree?", "How do scores develop?"):
        assert heading in page
    assert "small-seed2-step3" in page


def test_the_measures_are_of_what_each_seed_got_right_and_of_its_log_likelihoods(learned):
    config = yaml.safe_load((learned / "config.yaml").read_text())
    assert {name: entry["series"]["seed"] for name, entry in config["models"].items()} == {
        "small-seed1-step3": 1,
        "small-seed2-step3": 2,
    }
    series = pd.read_csv(learned / "tables/series.csv")
    assert (set(series["model"]), set(series["seeds"])) == ({"small"}, {2})
    table = series[series["task"] == "kinds-cloze"].set_index("metric")
    accuracy, mass = [], []
    for seed in (1, 2):
        predictions, rows = (
            read_table(learned / f"{kind}/small-seed{seed}.parquet").astype({"task": str, "example": str})
            for kind in ("predictions", "likelihoods")
        )
        own_part = predictions[predictions["task"] == "kinds-cloze"]
        accuracy.append(own_part.groupby("example")["correct"].mean().mean())
        rows = rows[rows["task"] == "kinds-cloze"].assign(probability=lambda part: np.exp(part["logprob"]))
        merged = rows.groupby(["prompt", "example"])["probability"].sum()
        correct = rows[rows["right"]].set_index(["prompt", "example"])["probability"]
        mass.append((correct / merged).groupby("example").mean().mean())
    assert table.loc["accuracy", "mean"] == pytest.approx(np.mean(accuracy))
    assert table.loc["accuracy", "final_deviation"] == pytest.approx(np.std(accuracy, ddof=1))
    assert table.loc["correct", "mean"] == pytest.approx(np.mean(mass))
    assert table.loc["correct", "final_deviation"] == pytest.approx(np.std(mass, ddof=1))
    assert table.loc["nll", "lower_is_better"]
    assert (learned / "figures/series_curves.png").stat().st_size > 5000


def test_both_formulations_have_the_same_examples_and_demonstrations(learned):
    prompts = {
        form: read_table(learned / f"prompts/kinds-{form}/1-shot.parquet") for form in ("cloze", "letters")
    }
    sample = {form: table.drop(columns="task", errors="ignore") for form, table in prompts.items()}
    assert [*sample["cloze"]["demonstrations"].map(list)] == [*sample["letters"]["demonstrations"].map(list)]
    predictions = read_table(learned / "predictions/small-seed1.parquet").astype(
        {"task": str, "example": str}
    )
    examples = predictions.groupby("task")["example"].agg(set)
    assert examples["kinds-cloze"] == examples["kinds-letters"]


def test_weights_that_are_not_kept_are_gone_and_not_made_again(learned):
    assert not [*(learned / "weights").rglob("*.safetensors")]
    assert not [*(learned.parent / "weights").rglob("*.safetensors")]
    config = learned.parents[1] / "learn.yaml"
    repeated = snakemake("--configfile", str(config), "--dry-run", directory=learned.parents[1])
    assert "Nothing to be done" in repeated.stdout + repeated.stderr


def test_the_seeds_of_one_series_are_compared_and_share_out_the_variance(learned):
    ranks = pd.read_csv(learned / "tables/model_ranks.csv")
    assert set(ranks["model"]) == {"small-seed1-step3", "small-seed2-step3"}
    table = pd.read_csv(learned / "tables/seeds.csv")
    assert set(table["model"]) == {"small"}
    assert "seeds x examples" in set(table["source"])
    completed = CliRunner().invoke(app, ["compare", str(learned), "--json"])
    assert completed.exit_code == 0, completed.output
    report = json.loads(completed.stdout)
    assert report[0]["models"] == ["small-seed1-step3", "small-seed2-step3"]


@pytest.mark.slow
def test_fewer_steps_or_another_order_train_no_model_again(tmp_path):
    def plan(steps: list[int], *arguments: str) -> str:
        small = {"trained": {"width": 16, "layers": 1}, "seeds": [1], "steps": steps, "precision": "float32"}
        config = write_tiny_study(
            tmp_path, "steps", tasks={"kinds": {"source": "invented"}}, models={"small": small}, shots=[1]
        )
        return snakemake("--configfile", str(config), *arguments, directory=tmp_path).stdout

    plan([0, 2, 4], "--until", "train_1")
    assert "train_1" not in plan([0, 2], "--dry-run")
    assert "train_1" not in plan([4, 0, 2], "--dry-run")
    assert "train_1" in plan([0, 2, 4, 6], "--dry-run")
