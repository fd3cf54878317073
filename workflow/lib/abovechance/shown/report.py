"""The report of a study: one HTML file that opens anywhere."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jinja2
import pandas as pd

from abovechance.core.files import read_csv
from abovechance.shown import style
from abovechance.shown.tables import LEVEL, probability, readable, verdict_counts

if TYPE_CHECKING:
    from abovechance.shown.catalogue import ShownFigure, ShownTable


@dataclass(frozen=True)
class Picture:
    """A figure in the report: its heading, what it shows, and its PNG file."""

    title: str
    caption: str
    path: Path

    @property
    def data(self) -> str:
        """The picture as a data URI, so that the report needs no other file."""
        return "data:image/png;base64," + base64.b64encode(self.path.read_bytes()).decode()


@dataclass(frozen=True)
class Section:
    """A table in the report: its heading and what it shows."""

    title: str
    text: str
    table: pd.DataFrame

    @property
    def html(self) -> str:
        """The table as HTML."""
        return _html(self.table)


def render(
    study: str,
    verdicts: pd.DataFrame,
    heldout: pd.DataFrame,
    pictures: Sequence[Picture],
    facts: Mapping[str, Any],
    sections: Sequence[Section] = (),
) -> str:
    """The report as HTML text.

    Parameters
    ----------
    verdicts
        The table ``verdicts.csv``.
    heldout
        The table ``tables/heldout_by_prompts``.
    facts
        What was run, name to value, shown as a list.
    sections
        Tables with a heading of their own, after the verdicts.
    """
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    template = environment.from_string(
        files("abovechance.shown").joinpath("report.html.jinja").read_text(encoding="utf-8")
    )
    counts = verdict_counts(verdicts, ["model", "shots"])
    return template.render(
        study=study,
        models=list(dict.fromkeys(verdicts["model"])),
        shots=sorted(verdicts["shots"].unique()),
        lead=lead(verdicts),
        rows=_glance(verdicts),
        left_out=int(verdicts["left_out"].sum()) if "left_out" in verdicts else 0,
        total=counts.iloc[-1].to_dict(),
        counts=_html(counts),
        verdicts=_html(verdicts, "data sortable"),
        agreement=_html(heldout),
        held_out=len(heldout),
        randomized="randomization_tail" in verdicts,
        pictures=pictures,
        facts=facts,
        sections=sections,
        colours=style.VERDICT_COLOURS,
        evidence=style.EVIDENCE,
    )


def lead(verdicts: pd.DataFrame) -> list[str]:
    """What the verdicts of a study mean, in two sentences."""
    judged = verdicts[verdicts["verdict"].notna()]
    above, guessed = int((judged["verdict"] == "above").sum()), judged["guessing_above"].sum()
    many = (
        f"{len(judged)} setting{'' if len(judged) == 1 else 's'} (a model on a task with a number of shots)"
    )
    low, adjusted = (int((judged[tail] <= LEVEL).sum()) for tail in ("maximum_tail", "bh_tail"))
    told = (
        f"As many guessers as prompts do as well with a probability of at most {LEVEL} in {low or 'none'} of "
        f"them, and adjusted for all {len(judged)} (Benjamini-Hochberg) in {adjusted or 'none'}"
    )
    if "randomization_tail" in judged:
        tails = ("randomization_tail", "randomization_bh_tail")
        low, adjusted = (int((judged[tail] <= LEVEL).sum()) for tail in tails)
        told += (
            "; by the randomization test, which keeps what prompts have in common, in "
            f"{low or 'none'} and {adjusted or 'none'}"
        )
    return [
        f"Of {many}, {above} {'has' if above == 1 else 'have'} a best prompt above the maximum random "
        f"baseline, where guessing alone would put {guessed:.1f}.",
        f"{told}.",
    ]


def _glance(verdicts: pd.DataFrame) -> list[dict[str, Any]]:
    """One row per task: its name and {(model, shots): cell}."""
    return [
        {
            "task": style.words(str(task)),
            "cells": {(row.model, row.shots): _cell(row) for row in _rows(group)},
        }
        for task, group in verdicts.groupby("task", sort=False)
    ]


def _cell(row: Any) -> dict[str, str]:
    """What the table at a glance shows of a setting."""
    if pd.isna(row.verdict):
        hint = f"all {row.left_out} prompts are longer than the model's context"
        return {"verdict": "left-out", "label": "left out", "best": "none", "hint": hint}
    strength, _ = style.evidence(row.maximum_tail)
    hint = (
        f"best of {row.prompts} prompts on {row.examples} examples: "
        f"{row.best_accuracy:.3f}; standard baseline {row.standard_baseline:.3f} "
        f"(tail {probability(row.standard_tail)}), maximum baseline "
        f"{row.maximum_baseline:.3f} (tail {probability(row.maximum_tail)})" + _randomized(row)
    )
    return {
        "verdict": f"{row.verdict} {strength}" if row.verdict == "above" else row.verdict,
        "label": f"{row.verdict}, {_short(row.maximum_tail)}",
        "best": f"{row.best_accuracy:.0%}",
        "hint": hint,
    }


def _short(tail: float) -> str:
    """A tail probability for a narrow cell."""
    return "<0.001" if tail < 0.001 else probability(tail) if tail >= 0.01 else f"{tail:.3f}"


def _rows(table: pd.DataFrame) -> Iterator[Any]:
    """The rows of a table with its columns as attributes."""
    yield from table.itertuples()


def _randomized(row: Any) -> str:
    """The randomization test in words, where there is one."""
    tail = getattr(row, "randomization_tail", None)
    return "" if tail is None or pd.isna(tail) else f"; randomization test {probability(tail)}"


def _html(table: pd.DataFrame, classes: str = "data") -> str:
    return readable(table).to_html(index=False, border=0, classes=classes)


def pictures(figures: Sequence[ShownFigure], paths: Sequence[Path]) -> list[Picture]:
    """The figures with their PNG files, where what they show has rows."""
    both = zip(figures, paths, strict=True)
    return [Picture(figure.title, figure.caption, path) for figure, path in both if _has_rows(path)]


def _has_rows(picture: Path) -> bool:
    with picture.with_suffix(".csv").open(encoding="utf-8") as numbers:
        return sum(1 for _ in islice(numbers, 2)) == 2


# {key of a config: what the report calls it, and its value in words}
_TOLD: dict[str, tuple[str, Callable[[Any], str]]] = {
    "seed": ("seed", str),
    "release": ("release", lambda path: Path(path).name),
    "predictions": ("predictions", lambda path: Path(path).name),
    "tasks": ("tasks", ", ".join),
    "shots": ("shots", lambda shots: ", ".join(map(str, shots))),
    "prompts": (
        "prompts",
        lambda prompts: f"{prompts} for each task and number of shots, fewer where no more exist",
    ),
    "max_examples": ("examples", lambda examples: f"at most {examples} of a task"),
    "normalization": ("compared by", lambda length: f"log-likelihood per {length}"),
}


def facts(config: Mapping[str, Any], made_from: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """What was run: the config's main keys, and the models and versions that the files name.

    Parameters
    ----------
    config
        The resolved config.
    made_from
        What each file of predictions was made from.
    """
    told = {_TOLD[key][0]: _TOLD[key][1](config[key]) for key in _TOLD if key in config}
    versions: dict[str, str] = {}
    for made in [one for file in made_from for one in file.get("models") or [file]]:
        if "model" in made:
            told[made["name"]] = f"{made['model']} ({made['revision'][:12]}), {made['precision']}"
        for run in made.get("runs") or [made]:  # of scores, those that they were computed with
            versions |= run["versions"]
    told["versions"] = ", ".join(f"{package} {number}" for package, number in versions.items())
    return told


def sections(folder: Path, tables: Sequence[ShownTable]) -> list[Section]:
    """Those of a study's tables that the report shows with a heading of their own, where they have rows."""
    found = []
    for table in tables:
        if table.title and not (shown := read_csv(folder / f"{table.name}.csv", missing=())).empty:
            most = table.most_rows or len(shown)
            more = f" The first {most} of {len(shown)}; all: tables/{table.name}.csv."
            found.append(Section(table.title, table.text + more * (len(shown) > most), shown.head(most)))
    return found
