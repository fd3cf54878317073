"""Tables that people read, each as CSV, Markdown and LaTeX."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from abovechance.archive import write_csv, write_text
from abovechance.heldout import agreement, most_prompts
from abovechance.verdicts import VERDICTS


def write(table: pd.DataFrame, stem: Path) -> None:
    """Write ``stem.csv`` with all digits, ``stem.md`` and ``stem.tex`` rounded for reading."""
    write_csv(table, stem.with_suffix(".csv"))
    shown = readable(table)
    write_text(shown.to_markdown(index=False) + "\n", stem.with_suffix(".md"))
    latex = shown.to_latex(index=False, escape=True, column_format="l" * len(shown.columns))
    write_text(latex, stem.with_suffix(".tex"))


def readable(table: pd.DataFrame) -> pd.DataFrame:
    """The table as text: headings in words, probabilities with two digits, others with three."""
    shown = pd.DataFrame(index=table.index)
    for column in table.columns:
        values = table[column]
        if pd.api.types.is_float_dtype(values):
            write_one = probability if column.endswith("_tail") else "{:.3f}".format
            values = values.map(lambda value, write_one=write_one: "" if pd.isna(value) else write_one(value))
        shown[column.replace("_", " ")] = values.astype(str)
    return shown


def probability(value: float) -> str:
    """A probability with two significant digits, in powers of ten where it is small."""
    return f"{value:.2f}" if value >= 0.01 else f"{value:.1e}"


def verdict_counts(verdicts: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """How many settings are below, between and above the baselines, by group and in total.

    Also how many are above the standard baseline, and the share of these that are not above
    the maximum one: what the standard baseline alone would have misled about.
    """
    groups = [(key, group) for key, group in verdicts.groupby(by, observed=True, sort=False)]
    groups.append((("total", *[""] * (len(by) - 1)), verdicts))
    return pd.DataFrame(dict(zip(by, key, strict=True)) | _count(group) for key, group in groups)


def _count(group: pd.DataFrame) -> dict[str, object]:
    counts = {verdict: int((group["verdict"] == verdict).sum()) for verdict in VERDICTS}
    above_standard = counts["between"] + counts["above"]
    share = counts["between"] / above_standard if above_standard else float("nan")
    return {
        "settings": len(group),
        **counts,
        "above_standard": above_standard,
        "share_between": share,
    }


def heldout_tables(outcomes: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Agreement of validation with held-out test: by model, by task and in total."""
    most = most_prompts(outcomes)
    return {
        "heldout_by_prompts": agreement(outcomes, ["prompts"]),
        "heldout_by_model": agreement(most, ["model"]),
        "heldout_by_task": agreement(most, ["task"]),
    }
