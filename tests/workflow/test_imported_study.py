"""A study of other tools' results, from a log to the report."""

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from abovechance import RandomBaseline
from abovechance.core.files import file_name
from abovechance.core.tables import read_table
from abovechance.results.imported import IMPORTED, as_imported
from abovechance.study.config_file import predictions_files
from tests.conftest import snakemake

pytestmark = pytest.mark.workflow


@pytest.fixture(scope="module")
def study(workplace: Path) -> list[str]:
    """The arguments of a study of two models' results under eight prompts each."""
    generator = np.random.default_rng(0)
    rows = [
        (model, f"prompt {prompt}", f"e{example}", int(generator.random() < 0.4), 4)
        for model in ("org/first", "second")
        for prompt in range(8)
        for example in range(30)
    ]
    columns = ["model", "prompt", "example", "correct", "choices"]
    pd.DataFrame(rows, columns=columns).to_csv(workplace / "logs.csv", index=False)
    command = [sys.executable, "-m", "abovechance.cli", "import", "logs.csv", "--output", "imported.parquet"]
    subprocess.run(command, cwd=workplace, check=True)
    items = "items: {examples: [5, 10], repeats: 2, replays: 1}"
    (workplace / "imported.yaml").write_text(f"study: imported\npredictions: imported.parquet\n{items}\n")
    return ["--configfile", str(workplace / "imported.yaml")]


def test_a_study_runs_from_imported_predictions_to_its_report(study, workplace):
    snakemake(*study, directory=workplace)
    results = workplace / "results" / "imported"
    verdicts = pd.read_csv(results / "verdicts.csv")
    assert verdicts["model"].tolist() == ["org--first", "second"]
    assert verdicts["prompts"].tolist() == [8, 8]
    assert verdicts["maximum_baseline"].tolist() == pytest.approx(
        [RandomBaseline.from_chance(0.25, 30).maximum(8)] * 2
    )
    assert verdicts["metric"].tolist() == ["correct"] * 2
    text = (results / "report.html").read_text()
    assert "<dt>metric</dt><dd>correct</dd>" in text
    assert "Is the best score better than chance?" in text
    assert "<dt>prompts</dt><dd>0 = prompt 0, 1 = prompt 1, 2 = prompt 2," in text
    assert (results / "figures" / "expected_maximum_org--first.pdf").stat().st_size
    asks_of_examples(results)
    assert predictions_files(results) == sorted((results / "predictions").glob("*.parquet"))
    # of a model that the imported file had before
    shutil.copy2(results / "predictions" / "second.parquet", results / "predictions" / "third.parquet")
    assert len(predictions_files(results)) == 2
    completed = snakemake(
        "results/imported/likelihoods/second.parquet", *study, directory=workplace, check=False
    )
    assert "imported.parquet: has no log-likelihoods" in completed.stdout + completed.stderr
    assert not list(results.glob("likelihoods/*"))
    repeated = snakemake(*study, directory=workplace)
    assert "Nothing to be done" in repeated.stdout + repeated.stderr


def test_results_of_a_removed_model_are_deleted_and_a_users_files_are_not(workplace):
    """A folder is read as one table, so results of an earlier config would be part of it."""
    folder = workplace / "removed"
    folder.mkdir()
    rows = [(m, t, "p", f"e{e}", (e + len(m)) % 2, 4) for m in ("a", "bb") for t in "tu" for e in range(30)]
    table = pd.DataFrame(rows, columns=["model", "task", "prompt", "example", "correct", "choices"])
    config = folder / "config.yaml"
    # an input in the folder of the results is not a result, so it is not deleted
    config.write_text("study: s\npredictions: results/s/p.parquet\nheldout: {splits: 2}\n")

    def run(rows: pd.DataFrame) -> set[str]:
        rows.to_csv(folder / "logs.csv", index=False)
        command = [sys.executable, "-m", "abovechance.cli", "import", "logs.csv"]
        subprocess.run([*command, "--output", "results/s/p.parquet"], cwd=folder, check=True)
        snakemake("--configfile", str(config), directory=folder)
        files = [path.relative_to(results) for path in results.rglob("*") if path.is_file()]
        return {str(file) for file in files if file.parts[0] not in ("logs", "benchmarks")}

    results = folder / "results" / "s"
    only_first = run(table[table["model"] == "a"])
    assert "tables/two_models.csv" not in only_first
    of_two = run(table)
    assert only_first < of_two
    assert {"accuracy/bb.parquet", "tables/two_models.csv", "figures/expected_maximum_bb.png"} <= of_two
    own_files = {"copy/bb.parquet": "accuracy/bb.parquet", "accuracy/copy.parquet": "accuracy/bb.parquet"}
    for suffix in ("pdf", "png", "csv"):
        own_files[f"figures/copy.{suffix}"] = f"figures/expected_maximum_bb.{suffix}"
    (results / "copy").mkdir()
    for name, copied in own_files.items():
        shutil.copy2(results / copied, results / name)
    assert run(table[table["model"] == "a"]) == only_first | {*own_files}
    repeated = snakemake("--configfile", str(config), directory=folder)
    assert "Nothing to be done" in repeated.stdout + repeated.stderr


@pytest.mark.slow
def test_a_changed_config_is_followed_without_snakemakes_record_too(study, workplace):
    """The stored config, the report's account of it, and what is up to date."""
    snakemake(*study, directory=workplace)
    file, results = workplace / "imported.yaml", workplace / "results" / "imported"
    before = file.read_text()
    file.write_text(f"{before}heldout: {{splits: 7}}\nseed: 5\n")
    changed_at = file.stat().st_mtime
    snakemake(*study, directory=workplace)
    stored = yaml.safe_load((results / "config.yaml").read_text())
    assert (stored["heldout"]["splits"], stored["seed"]) == (7, 5)
    assert (results / "report.html").stat().st_mtime > (results / "config.yaml").stat().st_mtime > changed_at
    # without Snakemake's record, the results are those of this config alone
    shutil.move(workplace / ".snakemake", workplace / "moved")
    try:
        assert "Nothing to be done" in snakemake(*study, directory=workplace).stderr
        file.write_text(before)
        completed = snakemake(*study, directory=workplace, check=False)
        assert "results/imported/config.yaml: is of another config" in completed.stderr
    finally:
        shutil.rmtree(workplace / ".snakemake", ignore_errors=True)
        shutil.move(workplace / "moved", workplace / ".snakemake")


def asks_of_examples(results: Path) -> None:
    """What the key items has made, of examples of which nothing is known but the answers."""
    (short,) = pd.read_csv(results / "tables" / "items.csv").to_dict("records")
    assert (short["models"], short["rows"], short["items"]) == (2, 16, 30)
    predictions = pd.concat(map(read_table, sorted(results.glob("predictions/*.parquet"))))
    means = predictions.groupby(predictions["example"].astype(str))["correct"].mean()
    listed = pd.read_csv(results / "tables" / "item_list.csv").set_index("example")
    assert listed["difficulty"].to_dict() == pytest.approx(means.to_dict())
    costs = pd.read_csv(results / "tables" / "smaller_benchmarks.csv")
    assert [*dict.fromkeys(costs["split"])] == ["random rows", "best rows", "new models"]
    assert {*costs.loc[costs["method"] == "gp-IRT", "examples"]} == {5, 10}
    assert {*pd.read_csv(results / "tables" / "adaptive.csv")["evaluations"]} == {2}
    report = (results / "report.html").read_text()
    for title in (
        "Which examples separate strong from weak models and prompts?",
        "Errors of smaller benchmarks",
    ):
        assert title in report
    assert "monotonicity" not in pd.read_csv(results / "tables" / "item_pruning.csv")


@pytest.mark.slow
def test_names_of_any_characters_and_a_single_example_make_a_whole_report(workplace):
    settings = [("a{b}", 't/{x}:y=1,"q" é 漢', 0), ("..", "ab" * 30, 1), ("m\nn <b>&", "x" * 300, 1)]
    settings.append(("a{b}", "x" * 300, 1))  # two models have an example in common
    rows = [
        {"model": model, "task": task, "shots": shots, "prompt": prompt, "example": "e", "predicted": -1}
        | {"correct": bool(prompt % 2), "tie": False, "chance": 0.5}
        for model, task, shots in settings
        for prompt in range(3)
    ]
    IMPORTED.write(as_imported(pd.DataFrame(rows)), workplace / "odd.parquet", {})
    (workplace / "odd.yaml").write_text("study: odd\npredictions: odd.parquet\nitems: {}\n")
    snakemake("--configfile", str(workplace / "odd.yaml"), directory=workplace)
    results = workplace / "results" / "odd"
    assert sorted(pd.read_csv(results / "verdicts.csv")["model"]) == sorted(name for name, _, _ in settings)
    (alone,) = pd.read_csv(results / "tables" / "not_compared.csv")["reason"]
    assert alone == "a{b} and m\nn <b>& have one example; expected at least two"
    assert len(list((results / "figures").glob("expected_maximum_*.png"))) == 3
    text = (results / "report.html").read_text()
    assert "no split has examples in both parts" in text
    assert "&lt;b&gt;" in text


@pytest.mark.slow
def test_names_that_look_like_numbers_or_like_nothing_are_names(workplace):
    names = ["2024", "007", "NA", "null"]
    rows = [
        {"model": name, "task": task, "shots": 1, "prompt": prompt, "example": str(example)}
        | {"predicted": -1, "correct": bool((prompt + example) % 3), "tie": False, "chance": 0.5}
        for name in names
        for task in ("nan", "1e3")
        for prompt in range(3)
        for example in range(8)
    ]
    IMPORTED.write(as_imported(pd.DataFrame(rows)), workplace / "numbers.parquet", {})
    (workplace / "numbers.yaml").write_text("study: numbers\npredictions: numbers.parquet\nitems: {}\n")
    results = workplace / "results" / "numbers"
    tables = ["verdicts.csv", "figures/spread.csv", "tables/heldout_by_model.csv", "tables/model_ranks.csv"]
    more = ("tables/verdicts.md", "tables/item_list.csv", "tables/items.csv")
    created = [f"results/numbers/{name}" for name in (*tables, *more)]
    snakemake(*created, "--configfile", str(workplace / "numbers.yaml"), directory=workplace)
    for name in tables:
        table = pd.read_csv(results / name, dtype=str, keep_default_na=False)
        assert {*table["model"]} - {"all"} == {*names}, name
    for name in more[1:]:
        table = pd.read_csv(results / name, dtype=str, keep_default_na=False)
        assert {*table["task"]} == {"nan", "1e3"}
    output = (results / "tables" / "verdicts.md").read_text()
    assert all(f"| {name} " in output for name in (*names, "nan", "1e3"))


def test_names_of_any_characters_are_planned(workplace):
    tasks = ["a{b}", "x" * 300, "../up"]
    rows = [
        {"model": "m", "task": task, "shots": 0, "prompt": prompt, "example": "e", "predicted": 0}
        | {"correct": True, "tie": False, "chance": 0.5, "choices": ["a", "b"], "right": [True, False]}
        for task in tasks
        for prompt in range(2)
    ]
    IMPORTED.write(as_imported(pd.DataFrame(rows)), workplace / "planned.parquet", {})
    (workplace / "planned.yaml").write_text("study: planned\npredictions: planned.parquet\n")
    files = [f"results/planned/imported/tasks/{file_name(task)}.parquet" for task in tasks]
    files.append("results/planned/ladder/m.parquet")
    config = str(workplace / "planned.yaml")
    completed = snakemake("--configfile", config, "-n", *files, directory=workplace, check=False)
    assert completed.returncode == 0, completed.stderr


def test_a_file_that_is_no_such_table_is_told_at_once(study, workplace):
    (workplace / "wrong.yaml").write_text("study: wrong\npredictions: logs.csv\n")
    completed = snakemake("--configfile", str(workplace / "wrong.yaml"), directory=workplace, check=False)
    output = completed.stdout + completed.stderr
    assert completed.returncode != 0
    assert "a .parquet file that `abovechance import` wrote" in output
    assert "Traceback" not in output
