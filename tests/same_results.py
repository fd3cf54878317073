"""Are the results of two versions of the code the same? For changes that must not change a number.

    python -m tests.same_results BEFORE AFTER

BEFORE and AFTER are the folders of one study's results, each made by one version. Every table
(CSV, Markdown, LaTeX), and the numbers of every figure, must be equal byte for byte; every Parquet
table in its columns, types, order and values. What a Parquet file says it was made from (library
versions, digests of code) is not compared, nor are logs, benchmarks, costs, pictures and the report.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq

COMPARED = (".csv", ".md", ".tex", ".parquet")
# (column, its name now), where a change renamed columns and nothing else.
RENAMED = (
    *(("asked", "requested_prompts"), ("held_up", "above_on_test_share"), ("own", "recomputed")),
    *(("right", "pvi_correct"), ("wrong", "pvi_wrong"), ("told_apart", "balanced_accuracy")),
    *(("of_label", "label_share"), ("against", "against_share"), ("loss", "lower_is_better")),
    *(("of", "available"), ("of", "source"), ("other", "worse")),
)


def differences(before: Path, after: Path) -> list[str]:
    """What differs, one line a file; files that are only in ``after`` are no difference."""
    names = sorted(
        path.relative_to(before)
        for path in before.rglob("*")
        if path.suffix in COMPARED and path.relative_to(before).parts[0] not in ("logs", "benchmarks", "cost")
    )
    if not names:
        return [f"{before} has no tables"]
    result = ((name, _difference(before / name, after / name)) for name in names)
    return [f"{name}: {noun}" for name, noun in result if noun]


def _difference(before: Path, after: Path) -> str:
    if not after.is_file():
        return "is not there"
    if before.suffix != ".parquet":
        return _difference_of_texts(before, after)
    first, second = pq.read_table(before), pq.read_table(after)
    first = first.rename_columns(_renamed(first.schema.names, second.schema.names))
    first = first.rename_columns(_renamed(first.schema.names, second.schema.names))
    if not first.schema.equals(second.schema):
        return f"has columns {second.schema.names} or types that differ from {first.schema.names}"
    if first.equals(second):
        return ""
    return _by_columns(first.to_pandas(), second.to_pandas())


def _by_columns(first: pd.DataFrame, second: pd.DataFrame) -> str:
    """Which columns of two tables differ, and numbers by how much."""
    if len(first) != len(second) or [*first] != [*second]:
        return "differs in its rows or columns"
    unequal = []
    for name in first:
        item, another = first[name], second[name]
        if item.equals(another):
            continue
        if not (pd.api.types.is_float_dtype(item) and item.isna().equals(another.isna())):
            unequal.append(str(name))
        elif (largest := ((item - another).abs() / item.abs().clip(lower=1e-300)).max()) > 0:
            unequal.append(f"{name} (by at most {largest:.1g} of its value)")
    return f"differs in {', '.join(unequal)}" if unequal else "differs in its layout"


def _difference_of_texts(before: Path, after: Path) -> str:
    first, second = before.read_text().splitlines(True), after.read_text().splitlines(True)
    if first == second:
        return ""
    if before.suffix == ".csv":
        old, new = (pd.read_csv(path) for path in (before, after))
        names = _renamed([*old], [*new])
        # with the same names, another byte is a difference, too
        return (
            ""
            if names != [*old] and old.set_axis(names, axis=1).equals(new)
            else _by_columns(old.set_axis(names, axis=1), new)
        )
    # a heading rounds and aligns its column anew in Markdown
    lines = [[_without_layout(line) for line in text] for text in (first, second)]
    for name, current in RENAMED:
        words, new_words = (word.replace("_", " ") for word in (name, current))
        if new_words in "".join(lines[1][:6]):
            lines[0][:6] = [line.replace(f" {words} ", f" {new_words} ") for line in lines[0][:6]]
    return "" if lines[0] == lines[1] else "differs"


def _renamed(before: list[str], after: list[str]) -> list[str]:
    """Return the names of columns before, in their present form."""
    current = {name: new for name, new in RENAMED if new in after and name not in after}
    return [current.get(name, name) for name in before]


def _without_layout(line: str) -> str:
    return re.sub(r"[-:\s]+", " ", line)


def main() -> None:
    """Compare two folders; exit status 1 where they differ."""
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    lines = differences(*map(Path, sys.argv[1:]))
    if lines:
        sys.exit("\n".join(lines))
    print(f"{sys.argv[2]}: the same")


if __name__ == "__main__":
    main()
