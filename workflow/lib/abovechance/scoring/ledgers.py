"""The cost of scoring so far: jobs write one line to a ledger for each scored prompt."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from abovechance.core.columns import Column
from abovechance.core.files import append
from abovechance.core.tables import TableSchema
from abovechance.core.words import counted
from abovechance.study.kinds import KINDS

OPERATIONS = 2.0  # for each parameter and token


class Ledger:
    """The spending of one scoring job, in a file that later jobs of the same model and task append to.

    Parameters
    ----------
    path
        A file of JSON lines.
    machine
        On what the job runs, in words.
    processors, accelerators
        Number of processors and accelerators of the job.
    since
        When the job began, by ``time.monotonic``; now without it.
    """

    def __init__(
        self, path: Path, machine: str, processors: int, accelerators: int, since: float | None = None
    ) -> None:
        self.path = path
        self.job = {"machine": machine, "processors": processors, "accelerators": accelerators}
        self.last = time.monotonic() if since is None else since

    @classmethod
    def of_job(cls, path: Path, threads: int, accelerators: int, since: float | None = None) -> Ledger:
        """That of this process, which has so many threads and accelerators."""
        return cls(path, machine(threads, accelerators), threads, accelerators, since)

    def add(self, event: str, **counts: int) -> None:
        """Add a line: the seconds since the last one, and what they were spent on."""
        clock = time.monotonic()
        line = {"what": event, "seconds": round(clock - self.last, 4), **counts, **self.job}
        self.last = clock
        append(self.path, json.dumps(line).encode() + b"\n")


SPENT = TableSchema(
    "spent",
    {
        "model": Column.text("name of the model"),
        "task": Column.text("name of the task"),
        "kind": Column.text("kind of prompt, as in cost/estimate"),
        "machine": Column.text("the processor and its threads, or the GPUs"),
        "prompts": Column.whole(
            "number of prompts that were scored on this machine; a prompt that was scored twice counts twice"
        ),
        "tokens": Column.whole("tokens of these prompts"),
        "computed": Column.whole("number of tokens that the model computed"),
        "requests": Column.whole("number of requests to a server; 0 for models in the process"),
        "sent": Column.whole(
            "number of tokens in all requests to a server, with the probe and texts that are sent twice"
        ),
        "cached": Column.whole("number of these that the server had in its cache, as far as it says so"),
        "operations": Column.number("floating-point operations; missing if the size of the model is unknown"),
        "start_seconds": Column.number(
            "time from the start of the jobs until their models were loaded, without waiting for a GPU",
            "seconds",
        ),
        "seconds": Column.number("time spent on scoring prompts", "seconds"),
        "processor_hours": Column.number(
            "sum of start_seconds and seconds, multiplied by the number of CPU cores",
            "hours",
        ),
        "gpu_hours": Column.number(
            "sum of start_seconds and seconds, multiplied by the number of GPUs",
            "hours",
        ),
    },
    "One row per model, task, kind of prompt and machine. Times differ from run to run.",
    file="cost/spent",
)


def spent(ledgers: Mapping[tuple[str, str, str], Path]) -> pd.DataFrame:
    """Return what scoring has cost: the table ``spent``.

    Parameters
    ----------
    ledgers
        {(model, task, kind of prompts): its file}, which need not be there.
    """
    rows = []
    for (model, task, kind), path in ledgers.items():
        lines = pd.DataFrame(_lines(path), columns=[*_OF_LINE])
        for machine, machine_rows in lines.groupby("machine", sort=False):
            prompts = machine_rows[machine_rows["what"] == "prompt"]
            parameters = machine_rows["parameters"].max() or np.nan
            rows.append(
                {
                    "model": model,
                    "task": task,
                    "kind": kind,
                    "machine": machine,
                    "prompts": len(prompts),
                    **prompts[["tokens", "computed"]].sum().astype(int).to_dict(),
                    **machine_rows[["requests", "sent", "cached"]].sum().astype(int).to_dict(),
                    "operations": OPERATIONS * parameters * prompts["computed"].sum(),
                    "start_seconds": machine_rows.loc[machine_rows["what"] == "start", "seconds"].sum(),
                    "seconds": prompts["seconds"].sum(),
                    "processor_hours": (machine_rows["seconds"] * machine_rows["processors"]).sum() / 3600,
                    "gpu_hours": (machine_rows["seconds"] * machine_rows["accelerators"]).sum() / 3600,
                }
            )
    return pd.DataFrame(rows, columns=[*SPENT.columns])


def ledgers_in(folder: Path) -> dict[tuple[str, str, str], Path]:
    """{(model, task, kind of prompts): its file} of what lies in a study's ``cost/``."""
    return {
        (path.parent.name, path.stem, kind.name): path
        for kind in KINDS
        for path in sorted((folder / kind.ledgers).glob("*/*.jsonl"))
    }


_OF_LINE = (
    *("what", "seconds", "tokens", "computed", "requests", "sent", "cached"),
    *("parameters", "machine", "processors", "accelerators"),
)


def _lines(path: Path) -> Iterable[dict[str, Any]]:
    """Yield the whole lines of a ledger; a job that was killed may have left a torn one."""
    if not path.is_file():
        return
    for line in path.read_bytes().splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        yield {name: entry.get(name, 0) for name in _OF_LINE}


def machine(threads: int, accelerators: int) -> str:
    """Return the hardware of a job in words: the accelerators' name, or the processor's and its threads."""
    if accelerators:
        import torch  # which those who only read ledgers need not have

        name = torch.cuda.get_device_name()
        return name if accelerators == 1 else f"{accelerators} x {name}"
    return f"{_processor()}, {counted(threads, 'thread')}"


def _processor() -> str:
    """Return the processor's name, as Linux has it."""
    listed = Path("/proc/cpuinfo")
    lines = listed.read_text(encoding="utf-8", errors="replace").splitlines() if listed.is_file() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return " ".join(names[0].split()) if names else f"{os.uname().machine} processor"
