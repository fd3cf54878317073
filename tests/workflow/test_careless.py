"""A small study on a tiny model, treated as a careless user would treat it."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pandas as pd
import pytest
import yaml

from abovechance.core.tables import read_table
from tests.conftest import REPOSITORY, snakemake
from tests.releases import write_release
from tests.tiny import save_tiny_model, write_tiny_study

pytestmark = pytest.mark.workflow

STUDY = {
    "study": "careless",
    "tasks": {"short": "short.jsonl", "long": "long.jsonl"},
    "models": {"tiny": {"path": "tiny", "precision": "float32"}},
    "shots": [1],
    "prompts": 3,
    "heldout": {"splits": 5, "tried": [1, 3, 100]},
    "randomization": {"draws": 50},
}


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    """A folder with a tiny model, a task that fits its context and one that does not."""
    folder = tmp_path_factory.mktemp("careless")
    save_tiny_model(folder / "tiny")
    for name, question in (
        ("short", "is it {}?"),
        ("long", "is it so, {}, or is it not so" + " or so" * 40 + "?"),
    ):
        rows = [
            {"text": f"Q: {question.format(i)}\nA:", "choices": ["yes", "no"], "answer": i % 2}
            for i in range(8)
        ]
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def run(place: Path, study: dict, *arguments: str) -> str:
    path = place / "study.yaml"
    path.write_text(yaml.safe_dump(study))
    completed = snakemake(*arguments, "--configfile", str(path), directory=place, check=False)
    return completed.stdout + completed.stderr


@pytest.mark.slow
def test_what_is_left_out_is_counted_and_does_not_pass_for_done(place):
    output = run(place, STUDY | {"too_long": "leave_out"})
    assert "Open these files:" in output
    results = place / "results" / "careless"
    verdicts = pd.read_csv(results / "verdicts.csv").set_index("task")
    assert verdicts["left_out"].to_dict() == {"short": 0, "long": 3}
    assert verdicts["prompts"].to_dict() == {"short": 3, "long": 0}
    assert verdicts["position"].notna().to_dict() == {"short": True, "long": False}
    counts = pd.read_csv(results / "tables" / "verdict_counts.csv").iloc[-1]
    assert (counts["settings"], counts["left_out"]) == (2, 1)
    assert pd.read_csv(results / "tables" / "left_out.csv")["task"].tolist() == ["long"]
    text = " ".join((results / "report.html").read_text().split())
    assert (
        "<b>3</b> prompts were left out, because they are longer than the model's context. "
        "1 setting has no remaining prompt" in text
    )
    assert "all 3 prompts are longer" in text
    # three prompts were asked for at most, so the row of a hundred stands for three
    by_prompts = pd.read_csv(results / "tables" / "heldout_by_prompts.csv")
    assert by_prompts["prompts"].tolist() == [1, 1, 3, 3]
    shutil.rmtree(results / "scores" / "tiny" / "short")
    output = run(place, STUDY | {"too_long": "leave_out"}, "--dry-run")
    assert re.search(r"^score +1$", output, re.M), "what was deleted is made again"
    output = run(place, STUDY)
    assert "tiny, long, 1-shot: 3 of 3 prompts are longer than the model's context of 120 tokens" in output
    assert "Traceback" not in output
    only = STUDY | {"tasks": {"long": "long.jsonl"}, "study": "none", "too_long": "leave_out"}
    for targets in ([], ["cost"]):
        output = run(place, only, *targets)
        assert "all prompts of all settings are longer than their model's context" in output
        assert "Traceback" not in output


@pytest.mark.slow
def test_a_model_in_a_folder_of_any_name_is_scored(tmp_path):
    config = write_tiny_study(tmp_path, "named", shots=[1], tasks={"sums": "sums.jsonl"})
    (tmp_path / "tiny").rename(tmp_path / "ti ny é")
    config.write_text(config.read_text().replace("path: tiny", "path: ti ny é"))
    snakemake("results/named/cost/spent.csv", "--configfile", str(config), directory=tmp_path)
    assert pd.read_csv(tmp_path / "results/named/cost/spent.csv")["prompts"].tolist() == [4]


@pytest.mark.slow
def test_fewer_prompts_and_then_more_score_nothing_again(place):
    study = STUDY | {"tasks": {"short": "short.jsonl"}, "study": "fewer"}
    target = "results/fewer/scores/tiny/short/1-shot.parquet"
    log = place / "results/fewer/logs/score/tiny/short.log"
    run(place, study, target)
    before = read_table(place / target)
    for prompts in (1, 3):
        run(place, study | {"prompts": prompts}, target)
        assert f"0 of {prompts} prompts to score" in log.read_text()
        assert read_table(place / target)["prompt"].nunique() == prompts
    pd.testing.assert_frame_equal(read_table(place / target), before)


def test_an_older_file_in_the_place_of_another_is_noticed(place):
    study = STUDY | {"tasks": {"short": "short.jsonl"}, "study": "older"}
    run(place, study, "results/older/tasks/short.parquet")
    path = place / "short.jsonl"
    before = path.read_text(), path.stat().st_mtime
    path.write_text(before[0].replace('"answer": 1', '"answer": 0'))
    os.utime(path, (1.6e9, 1.6e9))
    try:
        output = run(place, study, "results/older/tasks/short.parquet", "--dry-run")
    finally:
        path.write_text(before[0])
        os.utime(path, (before[1], before[1]))
    assert re.search(r"^task +1$", output, re.M)


def test_another_file_in_a_folder_is_noticed(tmp_path):
    """In a checkout of BIG-bench and in a release; the time of the folder itself does not change."""
    rows = [{"input": f"{n}?", "target_scores": {"a": n % 2, "b": 1 - n % 2}} for n in range(46)]
    task = tmp_path / "bb" / "bigbench" / "benchmark_tasks" / "known_unknowns" / "task.json"
    task.parent.mkdir(parents=True)
    task.write_text(json.dumps({"examples": rows}))
    write_release(tmp_path, models=["base"], tasks=["known_unknowns"], shots=[1], prompts=3)
    name = "results/careless/accuracy/base.parquet"
    study = {"study": "careless", "release": "release", "bigbench": "bb"}
    assert "Finished" in run(tmp_path, study, name)
    assert "Nothing to be done" in run(tmp_path, study, name)
    before = read_table(tmp_path / name)
    task.write_text(json.dumps({"examples": rows[::-1]}))
    os.utime(task, (0, 0))
    assert "released_examples" in run(tmp_path, study, "-n", name)
    (released,) = (tmp_path / "release" / "results").glob("*.csv")
    released.write_text(re.sub(r",[01]$", ",0", released.read_text(), flags=re.MULTILINE))
    os.utime(released, (0, 0))
    run(tmp_path, study, name)
    assert before["accuracy"].max() > read_table(tmp_path / name)["accuracy"].max() == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--configfile", "nothing.yaml"], "nothing.yaml: the config lacks the key 'study'"),
        (["--configfile", "twice.yaml"], "twice.yaml, line 2: the key 'study' stands twice"),
        (["--configfile", "a.yaml", "b.yaml"], "--configfile: expected one file, got a.yaml and b.yaml"),
        (["--config", "study=x"], "--config: the config lacks the key 'tasks'; a study is one whole file"),
    ],
)
def test_a_config_that_is_no_study_is_one_line(place, arguments, message):
    (place / "nothing.yaml").write_text("seed: 1\n")
    (place / "twice.yaml").write_text("study: a\nstudy: b\n")
    (place / "a.yaml").write_text("study: a\n")
    (place / "b.yaml").write_text("prompts: 1\n")
    arguments = [str(place / name) if name.endswith(".yaml") else name for name in arguments]
    completed = snakemake(*arguments, directory=place, check=False)
    output = completed.stderr.replace(f"{place}/", "").strip().splitlines()
    assert completed.returncode != 0
    assert output[-1] == f"abovechance: error: {message}"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nothere.yaml", "there is no such file"),
        (".", "is a folder; expected a file"),
        ("with a blank.yaml", "line 1: is not YAML: expected the node content, but found ']'"),
        ("it's; $HOME.yaml", "there is no such file"),
    ],
)
def test_make_names_a_config_that_it_cannot_read(place, name, message):
    (place / "with a blank.yaml").write_text("study: ]\n")
    venv = REPOSITORY / ".venv"
    if not (venv / ".installed").is_file():
        pytest.skip("the project was not set up by make")
    argument = str(place / name).replace("$", "$$")
    environment = {key: value for key, value in os.environ.items() if not key.startswith("MAKE")}
    completed = subprocess.run(
        ["make", "run", f"CONFIG={argument}"], cwd=REPOSITORY, env=environment, capture_output=True, text=True
    )
    errors = [line for line in completed.stderr.splitlines() if line.startswith("abovechance: error: ")]
    assert completed.returncode != 0
    assert len(errors) == 1
    assert errors[0].endswith(message)
    assert "Traceback" not in completed.stderr
