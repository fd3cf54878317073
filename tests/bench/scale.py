"""How the workflow grows with a study: its DAG, a run that finds nothing to do, and each kind of job.

    python -m tests.bench.scale                the paper's grid with three models more: 50 million scores
    python -m tests.bench.scale --times 67     then 67 times as many models: a hundred times the paper's grid

Scores are made up, one file for each setting as a scoring job would have left it, so that all that
comes after them runs as in a real study. Models are only names. The second command copies what was made of
each model under other names, so that the DAG and the jobs that read all models can be measured.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from abovechance.core.tables import read_table
from abovechance.scoring.store import LEFT_OUT, SCORES
from abovechance.scoring.weights import Weights
from abovechance.study.prompts import evaluated_on
from tests.conftest import DOWNLOADS, REPOSITORY

PAPER = REPOSITORY / "workflow" / "studies" / "paper.yaml"
COLUMNS = ["what", "seconds", "megabytes"]


def write_study(folder: Path, models: int) -> Path:
    """The paper's study, of as many models as asked for."""
    study = yaml.safe_load(PAPER.read_text())
    names = [*study["models"]]
    study["models"] = {
        f"{names[number % len(names)]}-{number}": {
            "hub": "made/up",
            "revision": f"r{number}",
            "precision": "bfloat16",
        }
        for number in range(models)
    }
    path = folder / "study.yaml"
    path.write_text(yaml.safe_dump(study, sort_keys=False))
    return path


def command(folder: Path, *arguments: str) -> list[str]:
    place = ["--directory", str(folder), "--configfile", str(folder / "study.yaml")]
    profile = ["--workflow-profile", str(REPOSITORY / "workflow" / "profiles" / "default")]
    start = [sys.executable, "-m", "snakemake", "--snakefile", str(REPOSITORY / "Snakefile"), "--cores", "2"]
    return [*start, *profile, *place, *arguments]


def measured(name: str, arguments: list[str], log: Path) -> dict[str, Any]:
    """Run a command; its seconds, and the most megabytes that it and all its children had at once."""
    begun, largest = time.monotonic(), 0.0
    with log.open("a") as output:
        process = psutil.Popen(arguments, stdout=output, stderr=output)
        while process.poll() is None:
            largest = max(largest, _megabytes(process))
            time.sleep(0.2)
    if process.returncode:
        sys.exit(f"{name}: exit status {process.returncode}; see {log}")
    by_name = {"what": name, "seconds": time.monotonic() - begun, "megabytes": largest}
    print(f"{name}: {by_name['seconds']:.1f} s, {largest:.0f} MB", flush=True)
    return by_name


def _megabytes(process: psutil.Process) -> float:
    total = 0.0
    for value in [process, *_children(process)]:
        try:
            total += value.memory_info().rss
        except psutil.NoSuchProcess:
            continue
    return total / 1e6


def _children(process: psutil.Process) -> list[psutil.Process]:
    try:
        return process.children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def make_scores(folder: Path, study: dict[str, Any]) -> int:
    """Write scores of all settings as chance would have them; how many rows."""
    results, rows = folder / "results" / study["study"], 0
    for task in study["tasks"]:
        examples = read_table(results / "tasks" / f"{task}.parquet")
        evaluation = read_table(results / "evaluation_sets" / f"{task}.parquet")
        for shots in study["shots"]:
            prompts = read_table(results / "prompts" / task / f"{shots}-shot.parquet")
            table = _score_table(examples, evaluation, prompts)
            facts = [{"key": f"{task} {shots} {number}"} for number in range(len(prompts))]
            for number, model in enumerate(study["models"]):
                generator = np.random.default_rng([number, shots, len(table)])
                made_from = {"model": model, "revision": "made up", "precision": "bfloat16", "runs": []}
                path = results / "scores" / model / task / f"{shots}-shot.parquet"
                scored = table.assign(logprob=-generator.gamma(4.0, size=len(table)))
                SCORES.write(scored, path, {**made_from, "prompts": facts})
                rows += len(table)
    return rows


def _score_table(examples: pd.DataFrame, evaluation: pd.DataFrame, prompts: pd.DataFrame) -> pd.DataFrame:
    """The scores table of a setting but for the scores."""
    by_id = examples.set_index("example")["choices"]
    parts = []
    for number, demonstrations in enumerate(prompts["demonstrations"]):
        ids = evaluated_on(evaluation, demonstrations)
        choices = [list(by_id[value]) for value in ids]
        many = [len(texts) for texts in choices]
        lengths = [len(text) + 1 for texts in choices for text in texts]
        parts.append(
            pd.DataFrame(
                {
                    "prompt": number,
                    "example": np.repeat(ids, many),
                    "choice": np.concatenate([np.arange(count) for count in many]),
                    "tokens": np.maximum(1, np.array(lengths) // 4),
                    "characters": lengths,
                    "bytes": lengths,
                }
            )
        )
    return pd.concat(parts, ignore_index=True)


def make_weights(folder: Path) -> None:
    """The weights files that scores are made from, so that none is missing."""
    planned = subprocess.run(
        command(folder, "--dry-run", "--quiet", "host", "--until", "weights"),
        capture_output=True,
        text=True,
        check=True,
    )
    for name in sorted(
        set(re.findall(r"results/weights/[\w.-]+/weights\.json", planned.stdout + planned.stderr))
    ):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        Weights("nowhere", "made up", "none").write(path)


def jobs(folder: Path, study: str) -> Iterator[dict[str, Any]]:
    """What each kind of job took, from Snakemake's benchmarks: the longest and the largest of a kind."""
    kinds: dict[str, list[pd.DataFrame]] = {}
    below = folder / "results" / study / "benchmarks"
    for path in sorted(below.rglob("*.tsv")):
        kinds.setdefault(path.relative_to(below).parts[0].removesuffix(".tsv"), []).append(
            pd.read_csv(path, sep="\t")
        )
    for kind, tables in kinds.items():
        table = pd.concat(tables)
        yield {
            "what": f"job {kind} ({len(table)} of them)",
            "seconds": table["s"].max(),
            "megabytes": pd.to_numeric(table["max_rss"], errors="coerce").max() * 2**20 / 1e6,
        }


# What is made of each model, and what is copied of it as it is.
RELABELLED = ("accuracy", "randomization", "heldout/outcomes", "heldout/guessers")
COPIED = (
    "predictions/{}.parquet",
    *(f"figures/expected_maximum_{{}}.{suffix}" for suffix in ("png", "pdf", "csv")),
)


def multiply(finished: Path, folder: Path, study: dict[str, Any]) -> None:
    """Fill a study's folder as if all of its models had been analysed, from one that was."""
    results = folder / "results" / study["study"]
    shutil.copytree(finished / "tasks", results / "tasks")
    models = sorted(path.stem for path in (finished / "accuracy").glob("*.parquet"))
    for number, model in enumerate(study["models"]):
        source = models[number % len(models)]
        for name in RELABELLED:
            table = pq.read_table(finished / name / f"{source}.parquet")
            place = table.schema.get_field_index("model")
            table = table.set_column(place, "model", pa.array([model] * len(table)))
            table = table.replace_schema_metadata(None)
            (results / name).mkdir(parents=True, exist_ok=True)
            pq.write_table(table, results / name / f"{model}.parquet")
        for pattern in COPIED:
            target = results / pattern.format(model)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.symlink_to(finished / pattern.format(source))
    left_out = [[*setting, 2, 0, 0] for setting in product(study["models"], study["tasks"], study["shots"])]
    LEFT_OUT.write(pd.DataFrame(left_out, columns=[*LEFT_OUT.columns]), results / "left_out.parquet", {})
    summary = subprocess.run(command(folder, "--summary"), capture_output=True, text=True, check=True).stdout
    single = ("verdicts.csv", "tables", "figures", "report.html")  # these are to be made
    for line in summary.splitlines()[1:]:
        path = folder / line.split("\t")[0]
        created = path.is_relative_to(results) and path.relative_to(results).parts[0] in single
        if not path.exists() and not created:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
    current = time.time()  # none is newer than what is made from it
    for path in (folder / "results").rglob("*"):
        os.utime(path, (current, current), follow_symlinks=False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=REPOSITORY / "results" / "bench" / "scale")
    parser.add_argument("--models", type=int, default=9)
    parser.add_argument("--times", type=int, help="as many models as the finished study has, times this")
    request = parser.parse_args()
    folder = request.folder.resolve()
    finished = folder / "results" / "paper"
    if request.times:
        folder = folder.with_name(f"{folder.name}-times-{request.times}")
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "results").mkdir(parents=True)
    (folder / "results" / "downloads").symlink_to(DOWNLOADS)
    models = request.models * (request.times or 1)
    study = yaml.safe_load(write_study(folder, models).read_text())
    log, result = folder / "log.txt", []
    result.append(
        measured("building the DAG of a study not begun", command(folder, "--dry-run", "--quiet"), log)
    )
    if request.times:
        multiply(finished, folder, study)
        rows = 0
        result.append(measured("the jobs that read all models", command(folder), log))
    else:
        result.append(measured("tasks, evaluation sets, prompts", command(folder, "--until", "prompts"), log))
        make_weights(folder)
        rows = make_scores(folder, study)
        result.append(measured("all that comes after the scores", command(folder), log))
    result.append(measured("a run that finds nothing to do", command(folder), log))
    result += jobs(folder, study["study"])
    table = pd.DataFrame(result, columns=COLUMNS)
    settings = models * len(study["tasks"]) * len(study["shots"])
    text = (
        f"{rows:,} scores of {models} models, {settings:,} settings\n\n"
        + table.round(1).to_markdown(index=False)
        + "\n"
    )
    (folder / "scale.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
