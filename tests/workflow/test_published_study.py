"""A study of published predictions, from a release to its report."""

import re
import shutil
from pathlib import Path

import pandas as pd
import pytest

from abovechance.archive.rerun import rerun, rerun_config
from abovechance.core.errors import InputError
from abovechance.core.tables import read_table, read_tables
from abovechance.study.config_file import predictions_files
from tests.conftest import DOWNLOADS, REPOSITORY, snakemake
from tests.releases import write_release

pytestmark = pytest.mark.workflow
STUDY = REPOSITORY / "workflow" / "studies" / "published.yaml"


@pytest.fixture(scope="module")
def release(workplace: Path) -> Path:
    """A release of which one file is torn and one is missing."""
    shutil.rmtree(workplace / "release", ignore_errors=True)
    release = write_release(
        workplace, models=["OLMo-7B", "OLMo-7B-Instruct"], tasks=["known_unknowns", "conceptual_combinations"]
    )
    results = release / "results"
    (results / "OLMo-7B_known_unknowns_2-shot.csv").unlink()
    torn = results / "OLMo-7B-Instruct_known_unknowns_2-shot.csv"
    torn.write_text(torn.read_text()[:-20])
    return release


@pytest.fixture(scope="module")
def study(workplace: Path) -> str:
    """The study's config, which also asks which examples tell prompts apart."""
    config = workplace / "published.yaml"
    config.write_text(STUDY.read_text() + "items: {examples: [5], repeats: 2, replays: 1}\n")
    return str(config)


@pytest.fixture(scope="module")
def finished(workplace: Path, release: Path, study: str) -> tuple[Path, str]:
    """The results, and what the run said."""
    completed = snakemake("--configfile", study, "--config", f"release={release}", directory=workplace)
    return workplace / "results" / "published", completed.stdout + completed.stderr


def test_the_study_runs_from_a_release_to_a_report_and_says_what_is_left_out(finished):
    results, output = finished
    assert "2 files of the release are missing or not used" in output
    assert predictions_files(results) == sorted((results / "predictions").glob("*.parquet")) != []
    report = (results / "report.html").read_text()
    assert all(title in report for title in ("Verdicts as published and corrected", "Errors in the release"))
    audit = pd.read_csv(results / "tables" / "audit.csv", keep_default_na=False)
    left_out = "\n".join(audit.loc[audit["finding"] == "not used", "evidence"])
    assert "results/OLMo-7B_known_unknowns_2-shot.csv: there is no such file" in left_out
    assert re.search(r"OLMo-7B-Instruct_known_unknowns_2-shot.csv: .*Row #\d+", left_out)
    assert {"same losses", "merged examples", "repeated prompts"} <= set(audit["finding"])


def test_verdicts_are_by_the_data_and_beside_them_as_published(finished):
    results, _ = finished
    mended = pd.read_csv(results / "verdicts.csv").set_index(["model", "task", "shots"])
    published = pd.read_csv(results / "tables" / "published_verdicts.csv").set_index(
        ["model", "task", "shots"]
    )
    # of the two whose predictions cannot be used, the release has aggregated accuracies
    assert set(mended.index) < set(published.index)
    assert (len(mended), len(published)) == (6, 8)
    setting = ("OLMo-7B", "conceptual_combinations", 1)
    assert (published.loc[setting, "examples"], published.loc[setting, "prompts"]) == (102, 103)
    assert mended.loc[setting, "examples"] in (39, 40)
    assert mended.loc[setting, "prompts"] < 30
    grid = pd.read_csv(results / "tables" / "published_grid.csv", keep_default_na=False)
    assert grid["task"].tolist()[-2:] == ["between", "above standard"]


def test_which_answer_is_right_is_known_of_the_releases_examples(finished):
    results, _ = finished
    listed = pd.read_csv(results / "tables" / "item_list.csv", keep_default_na=False)
    assert {*listed["task"]} == {"known_unknowns", "conceptual_combinations"}
    unknown = listed[(listed["task"] == "known_unknowns")]
    assert (unknown["answer"] == "Unknown").sum() == 23
    assert (
        "Which features of examples are related to discrimination?" in (results / "report.html").read_text()
    )


def test_every_file_of_the_release_is_there_and_in_the_tables(finished):
    results, _ = finished
    released = read_tables((results / "release" / "released").glob("*.parquet"))
    assert released["prompt"].nunique() == 30
    assert len(read_tables((results / "predictions").glob("*.parquet"))) < len(released)
    names = ["pair_OLMo-7B", "guessers", "base_and_tuned", "maximum_contours", "suite_tails", "spread"]
    assert all((results / "figures" / f"{name}.pdf").stat().st_size for name in names)


def test_losses_become_likelihoods_where_they_are_asked_for(finished, study, workplace, release):
    results, _ = finished
    target = "results/published/likelihoods/OLMo-7B.parquet"
    snakemake(target, "--configfile", study, "--config", f"release={release}", directory=workplace)
    table, content = read_table(workplace / target), read_table(results / "predictions" / "OLMo-7B.parquet")
    assert table[["prompt", "example"]].astype(str).equals(content[["prompt", "example"]].astype(str))
    assert (table["mean_logprob"] < 0).all()


@pytest.mark.slow
def test_its_archive_is_run_again_with_the_release(finished, study, workplace, release, tmp_path):
    arguments = ["--configfile", study, "--config", f"release={release}"]
    snakemake("archive", *arguments, directory=workplace)
    archive = workplace / "results" / "published" / "archive" / "published.zip"
    with pytest.raises(InputError, match="which is not in its archive; use --release"):
        rerun(archive, tmp_path / "without")
    comparison_of_rerun = rerun(archive, tmp_path / "again", release, downloads=DOWNLOADS)
    assert comparison_of_rerun.different == []
    assert comparison_of_rerun.equal > 60


def test_a_checkout_of_the_tasks_is_asked_for(tmp_path):
    config = {"study": "published", "release": "there", "bigbench": str(tmp_path)}
    assert rerun_config(config, tmp_path, tmp_path, bigbench=tmp_path / "mine")["bigbench"] == str(
        tmp_path / "mine"
    )
    # the path in the archive is not opened, whatever it names
    with pytest.raises(InputError, match="key 'bigbench'., which is not in its archive; expected --bigbench"):
        rerun_config(config, tmp_path, tmp_path)


def test_a_second_run_does_nothing_and_no_release_is_told_at_once(finished, study, workplace, release):
    arguments = ["--configfile", study, "--config"]
    repeated = snakemake(*arguments, f"release={release}", directory=workplace)
    assert "Nothing to be done" in repeated.stdout + repeated.stderr
    wrong = snakemake(*arguments, "release=nowhere", directory=workplace, check=False)
    assert wrong.returncode != 0
    assert "key 'release': there is no 'nowhere'" in wrong.stdout + wrong.stderr
    assert "Traceback" not in wrong.stdout + wrong.stderr
