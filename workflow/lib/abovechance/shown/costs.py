"""The cost of a study, in words and tables."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from abovechance.core.reading import read_yaml
from abovechance.study.config import COUNTED_KEYS
from abovechance.study.kinds import DRAWN, HARDEST, NULL, TRAINING, TRAINING_NULL

WORDS = {
    NULL.name: "null-target prompts",
    TRAINING.name: "prompts on training examples, to find hard ones,",
    TRAINING_NULL.name: "null-target prompts on training examples",
    HARDEST.name: "prompts with hard demonstrations, counted with the mean length of the others,",
}


def in_words(needed: pd.DataFrame) -> str:
    """Return the needs of scoring, in a few lines.

    Parameters
    ----------
    needed
        The table ``estimate``.
    """
    total = needed[["prompts", "strings", "tokens", "computed"]].sum()
    weights = needed.drop_duplicates("weights")["weights_gb"].sum()
    largest = needed.sort_values("memory_gb").iloc[-1]
    saved = 1 - total["computed"] / total["tokens"]
    besides = needed[needed["kind"] != DRAWN.name].groupby("kind", sort=False)["computed"].sum()
    return "\n".join(
        [
            f"Models: {needed['model'].nunique()}; tasks: {needed['task'].nunique()}; "
            f"{total['prompts']:,.0f} prompts with {total['strings']:,.0f} strings, the longest of "
            f"{needed['longest'].max():,} tokens.",
            f"To compute: {total['computed']:,.0f} tokens, each that strings share once; of the "
            f"{total['tokens']:,.0f} tokens of all strings, that saves {saved:.1%}.",
            *(
                f"{WORDS[str(kind)][0].upper()}{WORDS[str(kind)][1:]} account for {tokens:,.0f} of these "
                f"({tokens / total['computed']:.1%})."
                for kind, tokens in besides.items()
            ),
            f"Memory: {largest['memory_gb']:.0f} GB for a job of {largest['model']} on a processor. Disk: "
            f"{weights:.1f} GB of weights before they are quantized, and "
            f"{needed['scores_gb'].sum():.2g} GB of scores.",
            *_prices(needed),
        ]
    )


def _prices(needed: pd.DataFrame) -> list[str]:
    """A line on the price of models on servers, if the config has one."""
    priced = needed.dropna(subset="price")
    if priced.empty:
        return []
    models = ", ".join(dict.fromkeys(priced["model"]))
    cached = priced["cached_price"].sum(skipna=False)
    less = f", or {cached:,.4g} if the server's cache holds all shared prefixes" if cached == cached else ""
    return [
        f"Price of {models}: about {priced['price'].sum():,.4g}{less}. The probe of each job and texts that "
        "are sent twice are not included."
    ]


def changed_since(folder: Path, config: Mapping[str, Any] | None) -> list[str]:
    """Return the keys of a study's config that are others than those of its estimate.

    Parameters
    ----------
    folder
        The study's folder, with ``cost/config.yaml``, which the estimate was made from.
    config
        The study's config with its defaults; that of the last report if None.
    """
    counted, reported = (folder / name for name in ("cost/config.yaml", "config.yaml"))
    if config is None and reported.is_file():
        config = read_yaml(reported)
    if config is None or not counted.is_file():
        return []
    at_counting = read_yaml(counted)
    return [key for key in COUNTED_KEYS if config.get(key) != at_counting.get(key)]


def of_machines(machines: pd.DataFrame) -> pd.DataFrame:
    """Return the table ``machines``, its numbers for reading."""
    return pd.DataFrame(
        {
            "machine": machines["machine"],
            "speed": machines["rate"],
            "operations a second": machines["operations"].map("{:.2g}".format),
            "hours, one job at a time": machines["hours"].map(_hours),
            "longest job": machines["longest_job"].map(_hours),
        }
    )


def of_models(spent: pd.DataFrame) -> pd.DataFrame:
    """Return the table ``spent`` by model and machine, its numbers for reading."""
    counted = ["prompts", "tokens", "computed", "start_seconds", "seconds", "processor_hours", "gpu_hours"]
    by = ["model", "kind", "machine"] if spent["kind"].nunique() > 1 else ["model", "machine"]
    table = spent.groupby(by, sort=False)[counted].sum().reset_index()
    for name in ("prompts", "tokens", "computed"):
        table[name] = table[name].map("{:,.0f}".format)
    for name in ("start_seconds", "seconds"):
        table[name] = table[name].map("{:,.0f}".format)
    for name in ("processor_hours", "gpu_hours"):
        table[name] = table[name].map(_hours)
    return table


def _hours(hours: float) -> str:
    """Hours with two digits that count."""
    return "0" if hours == 0 else f"{hours:,.0f}" if hours >= 10 else f"{hours:.2g}"
