"""Guessers in other tools' logs: in `check`, and in a study of imported results."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from abovechance.core.tables import read_table
from abovechance.importers import Options, combine, read_runs
from abovechance.results.imported import imported_tasks
from tests.conftest import snakemake
from tests.importers.test_importers import inspect_files, inspect_sample, write_zstandard_zip
from tests.importers.test_lm_eval import lm_sample, write_lm
from tests.running import run


def sample(example: int, chosen: int, correct: int, longest: int) -> dict:
    """Return a sample of a model that takes one of three choices."""
    row = lm_sample(example, [-2.0 + (place == chosen) for place in range(3)], correct)
    for place in range(3):
        text = f" {example}-{'abc'[place]}{'x' if place == longest else ''}"
        row["arguments"][f"gen_args_{place}"]["arg_1"] = text
    return row


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """Logs of three prompts; the longest choice is correct in 70 % of the examples."""
    generator = np.random.default_rng(0)
    longest = generator.integers(3, size=100)
    correct = np.where(np.arange(100) < 70, longest, (longest + 1) % 3)
    for prompt in range(3):
        chosen = (longest + (generator.random(100) < 0.05)) % 3
        samples = [sample(n, int(chosen[n]), int(correct[n]), int(longest[n])) for n in range(100)]
        write_lm(tmp_path / f"prompt{prompt}", samples)
    return tmp_path


def test_check_names_the_guesser_that_a_model_does_not_beat(logs):
    report = json.loads(run("check", str(logs), "--each-file", "--json").stdout)[0]
    assert report["better_than_chance"] == "yes"
    assert (report["beaten_guesser"], report["unbeaten_guesser"]) == ("uniform", "longest choice")
    output = run("check", str(logs), "--each-file").stdout
    assert "But it is not shown to beat the simple guesser 'longest choice'." in output


def test_results_without_choices_have_no_guessers(tmp_path):
    rows = "".join(f"{n},1\n" for n in range(30))
    (tmp_path / "a.csv").write_text(f"example,correct\n{rows}")
    report = json.loads(
        run("check", str(tmp_path / "a.csv"), "--prompts", "1", "--choices", "4", "--json").stdout
    )
    assert "beaten_guesser" not in report[0]


def test_choices_in_logs_of_inspect(tmp_path):
    samples = [inspect_sample(n, "C" if n % 3 else "I", answer="B") for n in range(12)]
    path = tmp_path / "a.eval"
    write_zstandard_zip(path, inspect_files(samples))
    rows = combine(read_runs([path], Options(prompts=1)), Options(prompts=1))
    task = imported_tasks([rows])["sums"]
    assert list(task["choices"].iloc[0]) == ["a", "b", "c"]
    assert list(task["correct"].iloc[0]) == [False, True, False]
    assert len(task) == 12


@pytest.mark.slow
@pytest.mark.workflow
def test_a_study_of_logs_has_the_ladder(logs, workplace):
    completed = run("import", str(logs), "--each-file", "--output", str(workplace / "logs.parquet"))
    assert completed.returncode == 0, completed.stderr
    (workplace / "logs.yaml").write_text("study: mine\npredictions: logs.parquet\n")
    snakemake("results/mine/verdicts.csv", "--configfile", str(workplace / "logs.yaml"), directory=workplace)
    ladder = read_table(next((workplace / "results/mine/ladder").glob("*.parquet")))
    assert ladder["guesser"].tolist() == ["uniform", "longest choice"]
    assert ladder["beaten"].tolist() == [True, False]
    verdicts = pd.read_csv(workplace / "results/mine/verdicts.csv")
    assert verdicts["unbeaten_guesser"].tolist() == ["longest choice"]
