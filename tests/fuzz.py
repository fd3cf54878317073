"""Damaged and hostile files for every reader: each is read, or refused in one line, in little time.

    python -m tests.fuzz [MINUTES]    # 10 minutes; `make fuzz`

A run begins with sound files of every kind. Each is changed in a few places and given to a command. Hashes
in an archive's manifest follow the change, so that the files behind them are read too. Anything that is no
`InputError`, takes more than 5 seconds or more than 1 GB is kept in results/fuzz/ with its seed.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
import yaml
from typer.testing import CliRunner

from abovechance.archive import bundle
from abovechance.archive.rerun import rerun
from abovechance.best.gate import Gate
from abovechance.cli.app import app
from abovechance.core.errors import InputError
from abovechance.core.reading import read_yaml
from abovechance.results.imported import IMPORTED, as_imported, read_imported, settings_in
from abovechance.study.config import resolve
from abovechance.study.own_tasks import read_own
from tests.conftest import REPOSITORY
from tests.doctor.logs import WRITERS, sound
from tests.releases import write_release
from tests.results.test_likelihoods import predictions
from tests.shown.test_differences import study
from tests.workflow.test_commands import write_logs

SECONDS, BYTES = 5, 1_000_000_000
KEPT = REPOSITORY / "results" / "fuzz"
HOSTILE = [
    *(b"null", b"[]", b"{}", b'""', b"-1", b"1e999", b"NaN", b"true", b"9" * 400, b'"\\u0000"', b'"\\ud800"'),
    *(
        b"[" * 2000,
        b'"' + b"x" * 100_000 + b'"',
        b"\xff\xfe",
        b"\x00",
        b",",
        b"\n",
        b"=1+1",
        b"0x10",
        b"1_000",
    ),
]
COMMANDS: dict[str, list[list[str]]] = {
    "a.csv": [
        ["check", "a.csv", "--choices", "4", "--prompts", "1"],
        ["gate", "a.csv", "b.csv", "--margin", "0.1"],
    ],
    "a.eval": [
        ["check", "a.eval", "--prompts", "1"],
        ["doctor", "a.eval"],
        ["compare", "a.eval", "b.eval"],
        ["import", "a.eval", "--output", "imported-a.parquet"],
    ],
    "samples_sums.jsonl": [
        ["check", "samples_sums.jsonl", "--prompts", "1"],
        ["items", "samples_sums.jsonl"],
    ],
    "leaderboard.csv": [["compare", "leaderboard.csv"]],
    "candidates.csv": [["best", "candidates.csv"]],
    "gepa_result.json": [["best", "gepa_result.json"]],
    "trial_logs.json": [["best", "trial_logs.json"]],
    "examples.csv": [["pvi", "examples.csv"]],
    "results.csv": [["pvi", "results.csv"]],
    "predictions.csv": [["chance", "predictions.csv", "--metric", "accuracy"]],
    "attempts.csv": [["chance", "attempts.csv", "--metric", "pass@5", "--candidates", "prompt,harness"]],
    "floor.csv": [["chance", "floor.csv", "--metric", "pass@1", "--floor", "b-floor.csv"]],
    "scores.csv": [["check", "scores.csv"]],
    "release": [["check", "release"], ["items", "release"]],
    "evals.zip": [["variance", "evals.zip"]],
    "study.zip": [["verify", "study.zip"]],
    "first": [["diff", "first", "second"], ["check", "first"], ["compare", "first"], ["items", "first"]],
    "log-records": [["annotate", "log-records", "--prompts", "2", "--choices", "4", "--output", "annotated"]],
}


def changed(content: bytes, generator: random.Random) -> bytes:
    """A file's content with a few changes."""
    for _ in range(generator.choice([1, 1, 1, 2, 5])):
        place = generator.randrange(len(content) + 1)
        way = generator.randrange(7)
        if way == 0:  # cut off
            content = content[:place]
        elif way == 1:  # a bit
            content = content[:place] + bytes([generator.randrange(256)]) + content[place + 1 :]
        elif way == 2:  # a piece twice
            end = place + generator.randrange(200)
            content = content[:end] + content[place:]
        elif way == 3:  # a piece less
            content = content[:place] + content[place + generator.randrange(200) :]
        elif way == 4:  # something else put in
            content = content[:place] + generator.choice(HOSTILE) + content[place:]
        else:  # a value replaced
            values = [*re.finditer(rb'"[^"\n]{0,60}"|-?\d+(\.\d+)?|\b[a-z]+\b', content)]
            if values:
                value = generator.choice(values)
                content = content[: value.start()] + generator.choice(HOSTILE) + content[value.end() :]
    return content


def spoil(path: Path, generator: random.Random) -> None:
    """Change a file; of an archive also what is inside."""
    if zipfile.is_zipfile(path) and generator.random() < 0.7:
        with zipfile.ZipFile(path) as archive:
            try:
                members = {name: archive.read(name) for name in archive.namelist()}
            except NotImplementedError:  # Zstandard, which Python's module does not read
                members = {}
        if members:
            name = generator.choice([*members])
            members[name] = changed(members[name], generator)
            if name != bundle.MANIFEST and bundle.MANIFEST in members:
                hashes = {
                    key: bundle.sha256(content) for key, content in members.items() if key != bundle.MANIFEST
                }
                members[bundle.MANIFEST] = bundle.manifest(hashes).encode()
            with zipfile.ZipFile(path, "w") as archive:
                for name, content in members.items():
                    archive.writestr(name, content)
            return
    path.write_bytes(changed(path.read_bytes(), generator))


def sound_files(folder: Path) -> dict[str, list[list[str]]]:
    """Write sound files of all kinds; the commands for each file or folder, by its name."""
    write_logs(folder)
    commands = dict(COMMANDS)
    for name, writer in WRITERS.items():
        writer(sound(0), folder / f"log-{name}")
        usual = [["doctor", f"log-{name}"], ["check", f"log-{name}", "--prompts", "1"]]
        commands[f"log-{name}"] = [*commands.get(f"log-{name}", []), *usual]
    shutil.copy2(REPOSITORY / "config.yaml", folder / "mine.yaml")
    write_release(folder, models=["base"], tasks=["novel_concepts"], shots=[1], prompts=4)
    for name, score in (("floor.csv", "0"), ("b-floor.csv", "1")):
        rows = "".join(f"e{place},{score if place % 3 else '0.5'}\n" for place in range(12))
        (folder / name).write_text(f"example,score\n{rows}")
    names = "model,task,examples,choices,best_accuracy,prompts"
    (folder / "scores.csv").write_text(f"{names}\nm,t,100,4,0.37,20\nm,u,250,2,0.6,3\n")
    for suffix, write in TASK_WRITERS.items():
        write(pd.DataFrame(OWN_TASK), folder / f"task{suffix}")
    gate = Gate("start", dict.fromkeys("abcdef", 0.0), planned=3)
    gate.consider("better", dict.fromkeys("abcdef", 1.0))
    gate.save(folder / "gate.json")
    values = {name: -1 - np.random.default_rng(0).random((3, 12, 2)) for name in ("a", "b")}
    for name in ("first", "second"):
        study(folder / name, values, ["k0", "k1", "k2"])
    members = {
        f"results/{path.relative_to(folder / 'first').as_posix()}": path
        for path in files_in(folder / "first")
    }
    texts = {"inputs.csv": b"kind,name,sha256\n", "results/config.yaml": (folder / "mine.yaml").read_bytes()}
    bundle.write({**members, **texts}, folder / "study.zip")
    shutil.copy2(folder / "study.zip", folder / "archive.zip")
    IMPORTED.write(as_imported(predictions(0, 5)), folder / "imported.parquet", {})
    return commands | {name: [] for name in READERS}


def files_in(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def read_predictions(path: Path) -> None:
    settings_in(path)
    [*read_imported(path)]


def read_config(path: Path) -> None:
    schema = yaml.safe_load((REPOSITORY / "workflow" / "schemas" / "config.schema.yaml").read_text())
    downloads = yaml.safe_load((REPOSITORY / "workflow" / "downloads.yaml").read_text())
    resolve(read_yaml(path), schema, downloads, str(path))


def rerun_without_jobs(path: Path) -> None:
    """All that a rerun does but for Snakemake's jobs, which take longer than a reader may."""
    finished = subprocess.CompletedProcess([], 0)
    with tempfile.TemporaryDirectory() as folder, mock.patch("subprocess.run", return_value=finished):
        rerun(path, Path(folder) / "rerun")


OWN_TASK = {"text": ["1 + 1 =", "2 + 3 ="], "choices": [["2", "3"], ["5", "6"]], "answer": ["2", "5"]}
TASK_WRITERS: dict[str, Callable[[pd.DataFrame, Path], Any]] = {
    ".jsonl": lambda table, path: table.to_json(path, orient="records", lines=True),
    ".csv": lambda table, path: table.assign(choices=table["choices"].map(json.dumps)).to_csv(
        path, index=False
    ),
    ".parquet": lambda table, path: table.to_parquet(path),
}
READERS: dict[str, Callable[[Path], None]] = {
    **{f"task{suffix}": read_own for suffix in TASK_WRITERS},
    "gate.json": Gate.load,
    "mine.yaml": read_config,
    "imported.parquet": read_predictions,
    "archive.zip": rerun_without_jobs,
}


class TooSlowError(BaseException):
    """Is no error that a reader may take for one of the file system, as TimeoutError is."""


def peak_bytes() -> int:
    """Return the largest memory of this process since the last call."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    Path("/proc/self/clear_refs").write_text("5")
    return 1024 * int(re.findall(r"VmHWM:\s*(\d+)", status)[0])


def problem(action: Callable[[], Any]) -> str | None:
    """What is wrong with how a file was read; None where nothing is."""

    def too_slow(*_: Any) -> None:
        raise TooSlowError(f"more than {SECONDS} seconds")

    peak_bytes()
    before = peak_bytes()
    signal.signal(signal.SIGALRM, too_slow)
    signal.alarm(SECONDS)
    try:
        action()
    except InputError:
        pass
    except BaseException:
        return traceback.format_exc()
    finally:
        signal.alarm(0)
    grown = peak_bytes() - before
    return f"{grown / 1e9:.1f} GB of memory" if grown > BYTES else None


def run_command(command: list[str]) -> None:
    result = CliRunner().invoke(app, command)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception


def attempt(seed: int, commands: dict[str, list[list[str]]], folder: Path) -> tuple[str, str | None]:
    """Spoil a file and read it; its name, and what is wrong."""
    generator = random.Random(seed)
    name = generator.choice(sorted(commands))
    path = generator.choice([folder / name] if (folder / name).is_file() else files_in(folder / name))
    before = path.read_bytes()
    try:
        spoil(path, generator)
        shutil.copy2(path, folder / "spoiled")
        if name in READERS:
            return name, problem(lambda: READERS[name](path))
        command = generator.choice(commands[name])
        return name, problem(lambda: run_command(command))
    finally:
        path.write_bytes(before)


def main() -> int:
    minutes = float(sys.argv[1]) if len(sys.argv) > 1 else 10
    start, counts, causes = time.monotonic(), Counter[str](), Counter[str]()
    seed = random.SystemRandom().randrange(10**9)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        commands = sound_files(folder)
        os.chdir(folder)
        while time.monotonic() - start < 60 * minutes:
            seed += 1
            name, wrong = attempt(seed, commands, folder)
            counts[name] += 1
            if wrong:
                cause = wrong.strip().splitlines()[-1][:150]
                causes[f"{name}: {cause}"] += 1
                if causes[f"{name}: {cause}"] == 1:
                    KEPT.mkdir(parents=True, exist_ok=True)
                    shutil.copy2(folder / "spoiled", KEPT / f"{seed}-{name}")
                    (KEPT / f"{seed}-{name}.txt").write_text(wrong)
    print(json.dumps(dict(sorted(counts.items()))))
    for cause, count in causes.most_common():
        print(f"{count} x {cause}")
    total = sum(causes.values())
    print(f"{sum(counts.values()):,} files, {total} problems of {len(causes)} kinds (results/fuzz/)")
    return int(bool(causes))


if __name__ == "__main__":
    sys.exit(main())
