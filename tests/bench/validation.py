"""Compute tables of the docs and write them into their pages: `make validation` (an hour or two).

    python -m tests.bench.validation [NAME ...]    # all tables if none is named

A table stands between two comments in a page, the first of which names it. Tables are computed in parallel,
with fixed random seeds, and each is written when it is ready. Most are in docs/validation.md.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from datetime import date

import pandas as pd
from threadpoolctl import threadpool_limits

from abovechance.core.files import write_text
from tests.bench import (
    any_metric,
    baselines,
    best,
    comparison,
    doctor,
    gate,
    independent,
    items,
    randomization,
)
from tests.conftest import REPOSITORY

PAGES = sorted((REPOSITORY / "docs").glob("*.md"))
PAGE = REPOSITORY / "docs" / "validation.md"
Rows = Iterable[dict[str, object]]
# name: the function that yields rows, the number of repetitions, and what they repeat
TABLES: dict[str, tuple[Callable[[int], Rows], int, str]] = {
    "independent": (independent.differences, 0, ""),
    "tests": (comparison.of_tests, 2000, "studies per row"),
    "unequal-clusters": (comparison.unequal_clusters, 500, "studies per cell"),
    "intervals": (comparison.intervals, 0, ""),
    "intervals-in-clusters": (comparison.intervals_in_clusters, 1000, "studies per cell"),
    "prompts": (comparison.prompts, 500, "studies per row"),
    "best-prompts": (comparison.best_prompts, 400, "studies per cell"),
    "seeds": (comparison.seeds, 500, "studies per cell"),
    "several-models": (comparison.several_models, 300, "studies per row"),
    "randomization": (randomization.nulls, 2000, "studies per row"),
    "randomization-power": (randomization.skills, 2000, "studies per row"),
    "best-candidate": (best.methods, 300, "searches of each kind"),
    "reported-scores": (best.reported, 1000, "searches per row"),
    "gate": (best.gate, 10_000, "searches per row"),
    "recovery": (items.recoveries, 10, "studies per row"),
    "decisions": (items.decisions, 100, "studies per cell"),
    "two-models": (items.comparisons, 100, "studies per cell"),
    "gate-decisions": (gate.wrong_decisions, 0, ""),
    "doctor": (doctor.reports, 500, "sound logs, ten of each fault and format"),
    "baselines": (baselines.errors, 0, ""),
    "any-metric": (any_metric.times, 0, ""),
    "baselines-speed": (baselines.speed, 5, "runs per row, the median"),
}
EXACT = {"gate-decisions", "baselines", "baselines-speed"}  # without random numbers
STATED = 0.05  # the rate that all of these state
# test or interval, its table, how its columns begin, and the rows in which assumptions hold and it can err
RATES = [
    ("`compare`, p-value", "tests", "`p`", r"^(?!power)"),
    ("`compare`, p-value, unequal clusters", "unequal-clusters", "correlation", ""),
    ("`compare`, p-value over seeds", "seeds", "`over_seeds`, true difference 0", ""),
    ("`compare`, interval for prompts like these", "prompts", "interval for prompts like these", ""),
    ("`compare`, interval for best prompts, 50 examples", "best-prompts", "50 examples", ""),
    ("`compare`, groups of several models", "several-models", "simultaneous intervals", "^(?!.*vary)"),
    ("Tango's interval, 10 to 200 examples", "intervals", "score (Tango)", ""),
    ("`compare`, interval in clusters", "intervals-in-clusters", "differ", ""),
    ("randomization test", "randomization", "randomization test", ""),
    ("gate of a prompt search", "gate", "gate", ""),
]


def block(name: str) -> re.Pattern[str]:
    """Return the pattern of a table's place in the page."""
    return re.compile(rf"(<!-- table {re.escape(name)} -->\n)(.*?)(<!-- end of table -->)", re.DOTALL)


def cell(value: object) -> str:
    """Return a value as the page shows it; a missing one is empty."""
    if isinstance(value, float):
        return "" if pd.isna(value) else f"{value:.3f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def markdown(rows: Rows) -> str:
    """Return rows as a Markdown table."""
    table = [*rows]
    names = [*table[0]]
    lines = [
        names,
        ["---"] * len(names),
        *([cell(row.get(name, float("nan"))) for name in names] for row in table),
    ]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def computed(name: str) -> str:
    """Return the text of a table with what it was computed from."""
    function, repetitions, repeated = TABLES[name]
    with threadpool_limits(1):
        table = markdown(function(repetitions))
    parts = [f"{repetitions:,} {repeated}"] * bool(repetitions) + ["random seed 0"] * (name not in EXACT)
    text = ", ".join([*parts, f"computed on {date.today():%Y-%m-%d}"])
    return f"\n{table}\n{text[0].upper()}{text[1:]}.\n\n"


def read(text: str, name: str) -> pd.DataFrame:
    """Return a table of the page, all cells as texts."""
    match = block(name).search(text)
    if match is None:
        raise SystemExit(f"{PAGE}: has no table '{name}'; expected <!-- table {name} -->")
    lines = [line for line in match[2].splitlines() if line.startswith("|")]
    rows = [[value.strip() for value in line.strip("|").split(" | ")] for line in lines]
    return pd.DataFrame(rows[2:], columns=rows[0])


def rates(text: str) -> str:
    """Return the table of how often each test errs, from the page's other tables."""
    rows: list[dict[str, object]] = []
    for test, name, column, kind in RATES:
        table = read(text, name)
        rows_of_kind = table.agg(" ".join, axis=1).str.contains(kind)
        columns = [heading for heading in table.columns if heading.startswith(column)]
        texts = table.loc[rows_of_kind, columns].stack()
        values = texts.str.split().str[0].astype(float)
        rows.append(
            {
                "test": test,
                "stated": STATED,
                "largest": values.max(),
                "mean": values.mean(),
                "kinds of study": len(values),
            }
        )
    best_rows = read(text, "best-candidate")
    ours = best_rows.loc[best_rows["method"].str.contains("abovechance"), "smallest coverage"].astype(float)
    rows.append(
        {
            "test": "`abovechance best`, interval",
            "stated": STATED,
            "largest": 1 - ours.min(),
            "mean": float("nan"),
            "kinds of study": len(best.KINDS) * len(best.CASES),
        }
    )
    return f"\n{markdown(rows)}\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("tables", nargs="*", metavar="NAME", help=", ".join(TABLES))
    parser.add_argument("--processes", type=int, default=2)
    choices = parser.parse_args()
    names = choices.tables or [*TABLES]
    if unknown := {*names} - {*TABLES}:
        parser.error(f"unknown table: {', '.join(sorted(unknown))}; known are {', '.join(TABLES)}")
    with ProcessPoolExecutor(choices.processes) as pool:
        jobs = {pool.submit(computed, name): name for name in names}
        for job in as_completed(jobs):
            replace(jobs[job], job.result())
            print(jobs[job], file=sys.stderr, flush=True)
    replace("rates", rates(PAGE.read_text(encoding="utf-8")))


def replace(name: str, text: str) -> None:
    """Write a table into its page."""
    pages = [path for path in PAGES if block(name).search(path.read_text(encoding="utf-8"))]
    if len(pages) != 1:
        raise SystemExit(f"expected one page with the table '{name}', found {len(pages)}")
    page = pages[0].read_text(encoding="utf-8")
    write_text(block(name).sub(lambda match: match[1] + text + match[3], page), pages[0])


if __name__ == "__main__":
    main()
