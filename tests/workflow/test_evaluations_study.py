"""Studies that start from evaluations that others ran."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from abovechance.archive.rerun import rerun
from abovechance.core.errors import InputError
from tests.conftest import REPOSITORY, snakemake
from tests.variance.test_evaluations import PYTHIA, result, write

pytestmark = pytest.mark.workflow
WIDE = {"t": 0.25, "other_a": 0.5, "other_b": 0.5}


def write_study(folder: Path, **keys: Any) -> Path:
    path = folder / "vary.yaml"
    path.write_text(yaml.safe_dump({"study": "vary", **keys}))
    return path


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two seeds at three checkpoints, as files with blanks in their names."""
    folder = tmp_path_factory.mktemp("evaluated")
    for seed in (1, 2):
        for step, accuracy in ((0, 0.25), (1000, 0.3), (2000, 0.5 + seed / 100)):
            content = result(step, accuracy, seed)
            metrics = content["results"]["t"]
            half = result(step, 0.5, seed)["results"]["t"]
            content["results"] |= {"other_a": metrics, "other_b": half}
            write(folder / "evals", f"seed {seed}, step {step}.json", content)
    config = write_study(folder, evaluations="evals", chances=WIDE, groups={"other": "other_*"})
    snakemake("--configfile", str(config), directory=folder)
    return folder


def test_the_study_has_a_report_with_measures_and_groups(evaluated):
    results = evaluated / "results/vary"
    table = pd.read_csv(results / "tables/series.csv").set_index(["task", "metric"])
    assert set(table.index.get_level_values("task")) == {"t", "other"}
    assert table.loc[("t", "acc"), ["seeds", "checkpoints", "examples"]].tolist() == [2, 3, 200]
    assert table.loc[("other", "acc"), "mean"] == pytest.approx((0.515 + 0.5) / 2)
    assert table.loc[("other", "acc"), "examples"] == 400
    assert table.loc[("t", "acc"), "leaves_chance"] == 2000
    page = (results / "report.html").read_text()
    assert "<h1>How much do scores vary over seeds and during training?</h1>" in page
    assert (
        "The accuracy rises steadily during training (monotonicity of at least 0.5) in 2 of 2 cases "
        "(1 model, 2 tasks" in page
    )
    assert "Verdicts" not in page
    assert "Madaan" in page
    assert "Yauney" not in page


def test_nothing_is_done_again_and_a_changed_file_is_noticed(evaluated):
    arguments = ("--configfile", str(evaluated / "vary.yaml"), "--dry-run")
    assert "Nothing to be done" in snakemake(*arguments, directory=evaluated).stdout
    write(evaluated / "evals", "more.json", result(3000, 0.6, 2))
    assert "evaluations" in snakemake(*arguments, directory=evaluated).stdout
    (evaluated / "evals" / "more.json").unlink()


def test_an_archive_has_the_evaluations(evaluated):
    snakemake("archive", "--configfile", str(evaluated / "vary.yaml"), directory=evaluated)
    with zipfile.ZipFile(evaluated / "results/vary/archive/vary.zip") as file:
        names = file.namelist()
        readme, citation, crate = (
            file.read(name).decode() for name in ("README.md", "CITATION.cff", "ro-crate-metadata.json")
        )
    assert any(name.endswith("evaluations.parquet") for name in names)
    assert "results/verdicts.csv" not in names
    assert "verdicts.csv" not in readme
    assert "Quantifying Variance in Evaluation Benchmarks" in citation
    assert "How much scores vary over training seeds and checkpoints" in crate
    with pytest.raises(InputError, match="the study started from other tools' evaluations"):
        rerun(evaluated / "results/vary/archive/vary.zip", evaluated / "again")


def test_what_is_wrong_is_one_line(tmp_path):
    write(tmp_path / "braces", "{0}.json", result(0, 0.3))
    completed = snakemake(
        "--configfile",
        str(write_study(tmp_path, evaluations="braces")),
        "--dry-run",
        directory=tmp_path,
        check=False,
    )
    assert (
        "key 'evaluations' has a file that is 'braces/{0}.json', and braces mean something to"
        in completed.stderr
    )
    write(tmp_path / "evals", "0.json", result(0, 0.3))
    for keys, messages in (
        ({"groups": {"g": "mmlu_*"}}, "key 'groups.g' is 'mmlu_*', and no task fits; known are: t"),
        ({"chances": {"u": 0.5}}, "key 'chances.u' is 'u', and no task fits"),
        ({"groups": {"t": "t"}}, "key 'groups.t' has the name of a task"),
    ):
        config = write_study(tmp_path, evaluations="evals", **keys)
        completed = snakemake("--configfile", str(config), directory=tmp_path, check=False)
        assert completed.returncode != 0
        assert messages in completed.stdout + completed.stderr


@pytest.mark.slow
@pytest.mark.skipif(not PYTHIA.is_file(), reason="needs ../shared/pythia.zip, EleutherAI's evaluations")
def test_the_published_study_has_the_known_monotonicities(tmp_path):
    config = REPOSITORY / "workflow/studies/pythia.yaml"
    arguments = ("--configfile", str(config), "--config", f"evaluations={PYTHIA}")
    snakemake(*arguments, directory=tmp_path)
    table = pd.read_csv(tmp_path / "results/pythia/tables/series.csv")
    small = table[table["model"].str.endswith("-160m")].set_index(["task", "metric"])
    assert round(small.loc[("lambada_openai", "acc"), "tau"], 4) == 0.6081
    assert round(small.loc[("lambada_openai", "ppl"), "tau"], 4) == -0.7190
    assert round(small.loc[("arc_challenge", "acc"), "tau"], 4) == -0.4534
    assert small.loc[("mmlu", "acc"), "examples"] == 14042
    assert json.dumps("mmlu") not in (tmp_path / "results/pythia/config.yaml").read_text()
    assert len(set(table["task"])) == 10
