"""How far scores drift where they are computed in another order, and whether verdicts do.

    python -m tests.bench.drift

The tasks and the model of `precisions.yaml`, in three precisions and with few prompts, are scored on this
machine, and again with two threads, with smaller and larger packs, and as a processor with AVX2 alone would.
Each is compared with the first by what `abovechance diff` compares. Writes results/bench/drift.csv.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from abovechance.core.tables import read_table
from abovechance.shown.differences import differ, differences
from tests.conftest import DOWNLOADS, REPOSITORY

PRECISIONS = ("float32", "bfloat16", "nf4")
# torch and oneDNN as on a processor without AVX-512
AVX2 = {"ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2", "MKL_ENABLE_INSTRUCTIONS": "AVX2"}
FIRST = "as it is: one thread, packs of 256"
# {what is other: threads, pack, environment}
VARIANTS: dict[str, tuple[int, int, Mapping[str, str]]] = {
    FIRST: (1, 256, {}),
    "the same again": (1, 256, {}),
    "two threads": (2, 256, {}),
    "packs of 64": (1, 64, {}),
    "packs of 1,024": (1, 1024, {}),
    "AVX2": (1, 256, AVX2),
    "AVX2, two threads, packs of 64": (2, 64, AVX2),
}


def write_study(folder: Path, prompts: int, threads: int) -> Path:
    """The study `precisions.yaml` in three precisions, with one shot."""
    study = yaml.safe_load((REPOSITORY / "workflow" / "studies" / "precisions.yaml").read_text())
    model = next(iter(study["models"].values()))
    study |= {"prompts": prompts, "shots": [1], "scoring": {"threads": threads}, "study": "drift"}
    study["models"] = {precision: {**model, "precision": precision} for precision in PRECISIONS}
    path = folder / "study.yaml"
    path.write_text(yaml.safe_dump(study, sort_keys=False))
    return path


def write_code(folder: Path, pack: int) -> Path:
    """A copy of the workflow whose packs have another size."""
    code = folder / "code"
    for name in ("workflow", "envs"):
        shutil.copytree(REPOSITORY / name, code / name)
    engine = code / "workflow" / "lib" / "abovechance" / "scoring" / "engine.py"
    text, changed = re.subn(r"^PACK_TOKENS = \d+$", f"PACK_TOKENS = {pack}", engine.read_text(), flags=re.M)
    if changed != 1:
        raise RuntimeError(f"{engine}: has no one line that gives the size of packs")
    engine.write_text(text)
    return code


def run(folder: Path, prompts: int, threads: int, pack: int, environment: Mapping[str, str]) -> Path:
    """Run the study to its verdicts; its folder of results."""
    folder.mkdir(parents=True)
    study, code = write_study(folder, prompts, threads), write_code(folder, pack)
    downloads = folder / "results" / "downloads"
    downloads.parent.mkdir()
    downloads.symlink_to(DOWNLOADS)
    arguments = ["--snakefile", code / "workflow" / "Snakefile", "--directory", folder, "--configfile", study]
    profile = ["--workflow-profile", code / "workflow" / "profiles" / "default", "--cores", "2"]
    verdicts = folder / "results" / "drift" / "verdicts.csv"
    with (folder / "log").open("w") as log:
        subprocess.run(
            [sys.executable, "-m", "snakemake", *arguments, *profile, "results/drift/verdicts.csv"],
            check=True,
            stdout=log,
            stderr=log,
            env={**os.environ, **environment, "PYTHONPATH": str(code / "workflow" / "lib")},
        )
    return verdicts.parent


def compared(first: Path, second: Path, name: str) -> list[dict[str, Any]]:
    """By precision: the drift of log-likelihoods, and how many predictions and verdicts differ."""
    table = differences(first, second)
    rows = []
    for precision in PRECISIONS:
        total = table[table["model"] == precision]
        drifts = pd.concat([_drifts(first, second, setting) for setting in total.to_dict("records")])
        rows.append(
            {
                "what": name,
                "precision": precision,
                "choices": len(drifts),
                "mean_drift": drifts.mean(),
                "greatest_drift": drifts.max(),
                "predictions": int(total["predictions"].sum()),
                "of_predictions": int(total["of_predictions"].sum()),
                "greatest_change_of_best": (total["best_accuracy_first"] - total["best_accuracy_second"])
                .abs()
                .max(),
                "verdicts": int(differ(total).sum()),
                "of_verdicts": len(total),
            }
        )
    return rows


def _drifts(first: Path, second: Path, setting: Mapping[str, Any]) -> pd.Series[float]:
    name = Path("scores", setting["model"], setting["task"], f"{setting['shots']}-shot.parquet")
    on = ["prompt", "example", "choice"]
    merged = read_table(first / name).merge(read_table(second / name), on=on, suffixes=("", "_other"))
    return (merged["logprob"] - merged["logprob_other"]).abs()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--prompts", type=int, default=12)
    parser.add_argument("--work", type=Path, default=REPOSITORY / "results" / "bench" / "drift")
    arguments = parser.parse_args()
    shutil.rmtree(arguments.work, ignore_errors=True)
    rows, first = [], None
    for number, (name, (threads, pack, environment)) in enumerate(VARIANTS.items()):
        study = run(arguments.work / str(number), arguments.prompts, threads, pack, environment)
        first = first or study
        if name != FIRST:
            rows += compared(first, study, name)
            print(pd.DataFrame(rows[-len(PRECISIONS) :]).to_string(index=False), flush=True)
    pd.DataFrame(rows).to_csv(arguments.work.parent / "drift.csv", index=False)


if __name__ == "__main__":
    main()
