"""The cost of scoring a study, counted in tokens before scoring.

Every string of every prompt is tokenized, and the tokens that the engine will compute are counted
off the tries; only the weights are not needed. Hours follow from operations, two for each parameter and
token (products with the weights; attention comes on top, and is little beside them), and a machine's speed,
which is given, or measured by what earlier jobs spent (``scoring.ledgers``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pandas as pd

from abovechance.core.columns import Column
from abovechance.core.errors import InputError
from abovechance.core.tables import TableSchema
from abovechance.core.words import counted
from abovechance.scoring.cells import Cell, Reading, prompts_too_long
from abovechance.scoring.demands import ACCELERATOR, PROCESSOR, Demands
from abovechance.scoring.engine import trunk_length
from abovechance.scoring.ledgers import OPERATIONS
from abovechance.scoring.reader import Reader
from abovechance.scoring.tokens import Tokens
from abovechance.study.prompts import ALL_TOO_LONG

TOKEN_COUNTS = TableSchema(
    "token_counts",
    {
        "shots": Column.whole("number of demonstrations in a prompt"),
        "kind": Column.text(
            "kind of prompt: 'drawn' (the study's prompts), 'null-target' (drawn prompts without inputs), "
            "'training' (drawn prompts on training examples), 'training null-target' (drawn prompts on "
            "training examples, without inputs) or 'hardest' (prompts with hard demonstrations; their tokens "
            "are estimated from the drawn prompts)"
        ),
        "prompt": Column.whole("number of the prompt, from 0"),
        "strings": Column.whole("number of strings to score: one per choice of each example"),
        "tokens": Column.whole("tokens of all strings"),
        "computed": Column.whole(
            "number of tokens that the model computes, if common prefixes are computed once"
        ),
        "longest": Column.whole("tokens of the longest string"),
    },
    "One row per prompt. Prompts that are left out have no row.",
    file="cost/tokens/<weights>/<task>.parquet",
)
ESTIMATE = TableSchema(
    "estimate",
    {
        "model": Column.text("name of the model"),
        "task": Column.text("name of the task"),
        "kind": TOKEN_COUNTS.columns["kind"],
        "prompts": Column.whole("number of prompts"),
        "strings": TOKEN_COUNTS.columns["strings"],
        "tokens": TOKEN_COUNTS.columns["tokens"],
        "computed": TOKEN_COUNTS.columns["computed"],
        "saved": Column.share("share of all tokens that need not be computed because prefixes are shared"),
        "longest": TOKEN_COUNTS.columns["longest"],
        "parameters": Column.whole("parameters of the model"),
        "operations": Column.number("floating-point operations: two per parameter and computed token"),
        "memory_gb": Column.number("main memory of one scoring job on a CPU", "GB"),
        "scores_gb": Column.number("disk space of the scores", "GB"),
        "weights": Column.text("source and revision of the weights"),
        "weights_gb": Column.number("disk space of the weights", "GB"),
        "price": Column.number(
            "price of the tokens of all strings if a server caches nothing, in the unit of `server.price`, "
            "without the probe and texts that are sent twice; missing without a price"
        ),
        "cached_price": Column.number(
            "price if the server has all shared prefixes in its cache; missing without `server.price.cached`"
        ),
    },
    "One row per model, task and kind of prompt.",
    file="cost/estimate",
)
MACHINES = TableSchema(
    "machines",
    {
        "machine": Column.text("the machine"),
        "rate": Column.text(
            "source of the speed that the column operations reports: 'given' in the config, 'measured' in "
            "studies on this machine, or 'assumed'"
        ),
        "operations": Column.number("floating-point operations that one job performs per second"),
        "hours": Column.number("total run time of all jobs, without start-up times", "hours"),
        "longest_job": Column.number("run time of the longest job", "hours"),
    },
    "One row per kind of machine.",
    file="cost/machines",
)
ALIKE = 5.0  # times as many parameters, or as few
SCORE_BYTES = 12.0  # of a scored choice, in a compressed scores file


def count_tokens(
    cells: Iterable[tuple[str, Cell]],
    reading: Reading,
    path: Callable[[int], str],
    leave_out: bool = False,
) -> pd.DataFrame:
    """Return the table ``token_counts`` of a task under a tokenizer.

    Parameters
    ----------
    cells
        The task with each number of shots and each kind of prompts, behind the kind's name.
    reading
        The model's tokenizer and context.
    path
        The path through the model for strings of so many tokens: ``reader.expected_path``.
    leave_out
        Whether prompts longer than the model's context are left out: they do not count.

    Returns
    -------
    DataFrame
        The table ``TOKEN_COUNTS``, a row for each prompt.

    Raises
    ------
    InputError
        If a prompt is longer than the context, and is not left out.
    """
    rows = []
    for kind, cell in cells:
        prompts_left_out = prompts_too_long(cell, reading, range(len(cell.prompts)), leave_out)
        for prompt in range(len(cell.prompts)):
            if prompt in prompts_left_out:
                continue
            tokens = reading.read(cell.strings(prompt))
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
    """Return how many tokens of a prompt's strings go through a model on a path."""
    if path == "tree":
        return int(tokens.trie.inner.sum())
    lengths = [len(sequence) for sequence in tokens.sequences]
    # what all strings begin with is computed once on the batched path, and with each of them on others
    shared = trunk_length(tokens.sequences, tokens.starts) if path == "batched" else 0
    return shared + sum(length - shared for length in lengths)


def estimate(counted: Mapping[tuple[str, str], pd.DataFrame], models: Mapping[str, Reader]) -> pd.DataFrame:
    """Return what each scoring job will need: the table ``estimate``.

    Parameters
    ----------
    counted
        {(model, task): the table ``token_counts``}.
    models
        {model: how large it is}.

    Raises
    ------
    InputError
        If no prompt is counted.
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
            | _prices(facts.weights.server or {}, int(total["tokens"]), int(total["computed"]))
        )
    if not rows:
        raise InputError(ALL_TOO_LONG)
    return pd.DataFrame(rows)


def _prices(server: Mapping[str, Any], tokens: int, computed: int) -> dict[str, float]:
    """Return what a server's tokens cost if it caches nothing, and if it caches all that strings share."""
    price = {name: value / 1e6 for name, value in server.get("price", {}).items()}
    sent, cached = price.get("input", math.nan), price.get("cached", math.nan)
    return {"price": tokens * sent, "cached_price": computed * sent + (tokens - computed) * cached}


def on_machines(
    needed: pd.DataFrame, available: Mapping[str, float], spent: pd.DataFrame, threads: int
) -> pd.DataFrame:
    """Return how long a study takes on each kind of machine: the table ``machines``.

    Parameters
    ----------
    needed
        From ``estimate``.
    available
        {machine: operations a second of one job}.
    spent
        From ``spent``, of earlier studies: what these machines did is known.
    threads
        Number of threads of one job.
    """
    assumed = {
        f"a slow processor, {counted(threads, 'thread')}": PROCESSOR * threads,
        "a slow GPU": ACCELERATOR,
    }
    kinds = {
        "given": available,
        "measured": _measured(spent, needed.loc[needed["parameters"] > 0, "parameters"]),
        "assumed": assumed,
    }
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
    similar = (sizes >= parameters.min() / ALIKE) & (sizes <= parameters.max() * ALIKE)
    total = spent[similar & (spent["seconds"] > 0)].groupby("machine")[["operations", "seconds"]].sum()
    return {str(name): float(speed) for name, speed in (total["operations"] / total["seconds"]).items()}
