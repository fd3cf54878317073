"""What scoring a study costs: counted in tokens before it begins, and in hours afterwards.

Before: every string of every prompt is tokenized, and the tokens that the engine will compute are counted
off the tries; only the weights are not needed. Hours follow from operations, two for each parameter and
token (products with the weights; attention comes on top, and is little beside them), and a machine's speed,
which is given, or measured by what earlier jobs spent.

Afterwards: jobs write what they spend to a ledger, a line for each prompt as soon as it is scored.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import torch

from abovechance.core.files import append
from abovechance.core.tables import TableSchema
from abovechance.scoring.cells import Cell, prompts_too_long
from abovechance.scoring.demands import ACCELERATOR, PROCESSOR, Demands
from abovechance.scoring.engine import trunk_length
from abovechance.scoring.reader import Reader
from abovechance.scoring.tokens import PromptStrings, Tokens
from abovechance.study.kinds import KINDS

TOKEN_COUNTS = TableSchema(
    "token_counts",
    {
        "shots": pa.int64(),
        "kind": pa.string(),
        "prompt": pa.int64(),
        "strings": pa.int64(),
        "tokens": pa.int64(),
        "computed": pa.int64(),
        "longest": pa.int64(),
    },
)
ALIKE = 5.0  # times as many parameters, or as few
OPERATIONS = 2.0  # for each parameter and token
SCORE_BYTES = 12.0  # of a scored choice, in a compressed scores file


def count_tokens(
    cells: Iterable[tuple[str, Cell]],
    read: Callable[[PromptStrings], Tokens],
    path: Callable[[int], str],
    context: int | None = None,
    leave_out: bool = False,
) -> pd.DataFrame:
    """The table ``token_counts`` of a task under a tokenizer.

    Parameters
    ----------
    cells
        The task with each number of shots and each kind of prompts, behind the kind's name.
    read
        Tokenizes the strings of a prompt as scoring will.
    path
        The path through the model for strings of so many tokens: ``reader.expected_path``.
    context, leave_out
        The most tokens that the model reads at once, and whether longer prompts are left out: they do not
        count.

    Returns
    -------
    DataFrame
        One row for each prompt: ``shots``; its ``kind``; ``prompt``; its ``strings``, one for each choice of
        each example, and their ``tokens``; ``computed``, how many of these go through a model, as the path
        shares them; ``longest``, the tokens of its longest string.

    Raises
    ------
    InputError
        If a prompt is longer than the context, and is not left out.
    """
    rows = []
    for kind, cell in cells:
        left = prompts_too_long(cell, read, range(len(cell.prompts)), context, leave_out, short_shows=False)
        for prompt in range(len(cell.prompts)):
            if prompt in left:
                continue
            tokens = read(cell.strings(prompt))
            lengths = [len(sequence) for sequence in tokens.sequences]
            rows.append(
                {
                    "shots": cell.setting.shots,
                    "kind": kind,
                    "prompt": prompt,
                    "strings": len(lengths),
                    "tokens": sum(lengths),
                    "computed": _computed(tokens, path(max(lengths))),
                    "longest": max(lengths),
                }
            )
    return pd.DataFrame(rows, columns=[*TOKEN_COUNTS.columns])


def _computed(tokens: Tokens, path: str) -> int:
    """How many tokens of a prompt's strings go through a model on a path."""
    if path == "tree":
        return int(tokens.trie.inner.sum())
    lengths = [len(sequence) for sequence in tokens.sequences]
    # what all strings begin with is computed once on the batched path, and with each of them on others
    shared = trunk_length(tokens.sequences, tokens.starts) if path == "batched" else 0
    return shared + sum(length - shared for length in lengths)


def estimate(counted: Mapping[tuple[str, str], pd.DataFrame], models: Mapping[str, Reader]) -> pd.DataFrame:
    """What each scoring job will need.

    Parameters
    ----------
    counted
        {(model, task): the table ``token_counts``}.
    models
        {model: how large it is}.

    Returns
    -------
    DataFrame
        One row for each job, of a model and a task, and ``kind`` of prompts: ``prompts``;
        ``strings``; their ``tokens``; ``computed``, those that go through the model; ``saved``, the share
        of tokens that sharing saves; ``longest``, the tokens of the longest string; ``parameters`` of the
        model; ``operations``; ``memory_gb`` of main memory on a processor; ``scores_gb`` on the disk; which
        ``weights``, and ``weights_gb`` of them.
    """
    rows = []
    jobs = [
        (model, task, kind, part)
        for (model, task), table in counted.items()
        for kind, part in table.groupby("kind", sort=False)
    ]
    for model, task, kind, table in jobs:
        facts, total = models[model], table[["strings", "tokens", "computed"]].sum()
        needed = Demands(facts.parameters, facts.stored, int(total["computed"]))
        rows.append(
            {
                "model": model,
                "task": task,
                "kind": kind,
                "prompts": len(table),
                **total.astype(int).to_dict(),
                "saved": 1 - total["computed"] / total["tokens"],
                "longest": int(table["longest"].max()),
                "parameters": facts.parameters,
                "operations": OPERATIONS * facts.parameters * total["computed"],
                "memory_gb": needed.memory_mb(accelerator=False) / 1024,
                "scores_gb": total["strings"] * SCORE_BYTES / 1e9,
                "weights": f"{facts.weights.source} {facts.weights.revision[:12]}",
                "weights_gb": facts.stored / 1e9,
            }
        )
    return pd.DataFrame(rows)


def on_machines(
    needed: pd.DataFrame, given: Mapping[str, float], spent: pd.DataFrame, threads: int
) -> pd.DataFrame:
    """How long a study takes on each kind of machine.

    Parameters
    ----------
    needed
        From ``estimate``.
    given
        {machine: operations a second of one job}.
    spent
        From ``spent``, of earlier studies: what these machines did is known.
    threads
        Of one job.

    Returns
    -------
    DataFrame
        One row for each: ``machine``; ``rate``, whether its speed is ``given``, ``measured`` or ``assumed``;
        ``operations`` a second of one job; ``hours`` of all jobs, one after another, without their starts;
        ``longest_job`` in hours.
    """
    assumed = {
        f"a slow processor, {threads} thread{'s' * (threads > 1)}": PROCESSOR * threads,
        "a slow GPU": ACCELERATOR,
    }
    kinds = {"given": given, "measured": _measured(spent, needed["parameters"]), "assumed": assumed}
    total, longest = needed["operations"].sum(), needed["operations"].max()
    rows = [
        {
            "machine": machine,
            "rate": rate,
            "operations": speed,
            "hours": total / speed / 3600,
            "longest_job": longest / speed / 3600,
        }
        for rate, machines in kinds.items()
        for machine, speed in machines.items()
    ]
    return pd.DataFrame(rows)


def _measured(spent: pd.DataFrame, parameters: pd.Series[int]) -> dict[str, float]:
    """{machine: its operations a second}, of what it spent on models of about the size of these.

    Small models reach a small part of a machine's speed.
    """
    sizes = spent["operations"] / (OPERATIONS * spent["computed"].where(spent["computed"] > 0))
    alike = (sizes >= parameters.min() / ALIKE) & (sizes <= parameters.max() * ALIKE)
    total = spent[alike & (spent["seconds"] > 0)].groupby("machine")[["operations", "seconds"]].sum()
    return {str(name): float(speed) for name, speed in (total["operations"] / total["seconds"]).items()}


class Ledger:
    """What one scoring job spends, in a file that later jobs of the same model and task add to.

    Parameters
    ----------
    path
        A file of JSON lines.
    machine
        On what the job runs, in words.
    processors, accelerators
        How many the job has.
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

    def add(self, what: str, **counts: int) -> None:
        """Add a line: the seconds since the last one, and what they were spent on."""
        now = time.monotonic()
        line = {"what": what, "seconds": round(now - self.last, 4), **counts, **self.job}
        self.last = now
        append(self.path, json.dumps(line).encode() + b"\n")


SPENT = [
    *("model", "task", "kind", "machine", "prompts", "tokens", "computed", "operations"),
    *("start_seconds", "seconds", "processor_hours", "gpu_hours"),
]


def spent(ledgers: Mapping[tuple[str, str, str], Path]) -> pd.DataFrame:
    """What scoring has cost.

    Parameters
    ----------
    ledgers
        {(model, task, kind of prompts): its file}, which need not be there.

    Returns
    -------
    DataFrame
        One row for each model, task, kind of prompts and machine: ``model``; ``task``; ``kind``; ``machine``;
        how many ``prompts`` were scored there, those that were scored again included; their ``tokens``, and
        those ``computed``; ``operations``, missing where no job told how large the model is;
        ``start_seconds`` that jobs took until the model was loaded; ``seconds`` for the prompts; and
        ``processor_hours`` and ``gpu_hours`` of both, by as many as the jobs had.
    """
    rows = []
    for (model, task, kind), path in ledgers.items():
        lines = pd.DataFrame(_lines(path), columns=[*_OF_LINE])
        for machine, own in lines.groupby("machine", sort=False):
            prompts = own[own["what"] == "prompt"]
            parameters = own["parameters"].max() or np.nan
            rows.append(
                {
                    "model": model,
                    "task": task,
                    "kind": kind,
                    "machine": machine,
                    "prompts": len(prompts),
                    **prompts[["tokens", "computed"]].sum().astype(int).to_dict(),
                    "operations": OPERATIONS * parameters * prompts["computed"].sum(),
                    "start_seconds": own.loc[own["what"] == "start", "seconds"].sum(),
                    "seconds": prompts["seconds"].sum(),
                    "processor_hours": (own["seconds"] * own["processors"]).sum() / 3600,
                    "gpu_hours": (own["seconds"] * own["accelerators"]).sum() / 3600,
                }
            )
    return pd.DataFrame(rows, columns=SPENT)


def ledgers_in(folder: Path) -> dict[tuple[str, str, str], Path]:
    """{(model, task, kind of prompts): its file} of what lies in a study's ``cost/``."""
    return {
        (path.parent.name, path.stem, kind.name): path
        for kind in KINDS
        for path in sorted((folder / kind.ledgers).glob("*/*.jsonl"))
    }


_OF_LINE = ("what", "seconds", "tokens", "computed", "parameters", "machine", "processors", "accelerators")


def _lines(path: Path) -> Iterable[dict[str, Any]]:
    """The whole lines of a ledger; a job that was killed may have left a torn one."""
    if not path.is_file():
        return
    for line in path.read_bytes().splitlines():
        try:
            found = json.loads(line)
        except ValueError:
            continue
        yield {name: found.get(name, 0) for name in _OF_LINE}


def machine(threads: int, accelerators: int) -> str:
    """What a job runs on, in words: the accelerators' name, or the processor's and how many threads of it."""
    if accelerators:
        name = torch.cuda.get_device_name()
        return name if accelerators == 1 else f"{accelerators} x {name}"
    return f"{_processor()}, {threads} thread{'s' * (threads > 1)}"


def _processor() -> str:
    """The processor's name, as Linux has it."""
    listed = Path("/proc/cpuinfo")
    lines = listed.read_text(encoding="utf-8", errors="replace").splitlines() if listed.is_file() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return " ".join(names[0].split()) if names else f"{os.uname().machine} processor"
