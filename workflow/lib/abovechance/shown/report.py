"""The report of a study: one HTML file that opens anywhere."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import jinja2
import pandas as pd

from abovechance.chance.agreement import agreement
from abovechance.core.tables import read_made_from
from abovechance.shown import style
from abovechance.shown.tables import probability, readable, verdict_counts


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
    outcomes: pd.DataFrame,
    pictures: Sequence[Picture],
    facts: Mapping[str, Any],
    sections: Sequence[Section] = (),
) -> str:
    """The report as HTML text.

    Parameters
    ----------
    verdicts
        The table ``verdicts.csv``.
    outcomes
        The table ``heldout/outcomes.parquet``.
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
    models = list(dict.fromkeys(verdicts["model"]))
    return template.render(
        study=study,
        models=models,
        shots=sorted(verdicts["shots"].unique()),
        rows=_glance(verdicts),
        total=counts.iloc[-1].to_dict(),
        counts=_html(counts),
        verdicts=_html(verdicts),
        agreement=_html(agreement(outcomes, ["prompts"])),
        pictures=pictures,
        facts=facts,
        sections=sections,
        colours=style.VERDICT_COLOURS,
    )


def _glance(verdicts: pd.DataFrame) -> list[dict[str, Any]]:
    """One row a task: its name and {(model, shots): cell}."""
    rows = []
    for task, group in verdicts.groupby("task", sort=False):
        cells = {
            (row.model, row.shots): {
                "verdict": row.verdict,
                "best": f"{row.best_accuracy:.0%}",
                "hint": (
                    f"best of {row.prompts} prompts on {row.examples} examples: "
                    f"{row.best_accuracy:.3f}; standard baseline {row.standard_baseline:.3f} "
                    f"(tail {probability(row.standard_tail)}), maximum baseline "
                    f"{row.maximum_baseline:.3f} (tail {probability(row.maximum_tail)})" + _randomized(row)
                ),
            }
            for row in group.itertuples()
        }
        rows.append({"task": style.words(str(task)), "cells": cells})
    return rows


def _randomized(row: Any) -> str:
    """The randomization test in words, where there is one."""
    tail = getattr(row, "randomization_tail", None)
    return "" if tail is None or pd.isna(tail) else f"; randomization test {probability(tail)}"


def _html(table: pd.DataFrame) -> str:
    return readable(table).to_html(index=False, border=0, classes="data")


_PUBLISHED = "By the paper's conventions: all released prompts, its n, p and t. "
_CAPTIONS = {
    "spread": (
        "The spread of prompts",
        "Each small dot is a prompt; the large dot is the best one. Dashed: the standard random baseline. "
        "Solid: the maximum random baseline. A best prompt under the solid line is what luck alone gives.",
    ),
    "expected_maximum": (
        "The best of ever more prompts",
        "Above: the expected accuracy of the best of as many prompts as the axis says (coloured), and "
        "both baselines. Below: the probability that guessing reaches it, for one guesser (dashed) and "
        "for the best of as many guessers (solid); the thin line marks 0.05.",
    ),
    "agreement": (
        "Which baseline foresees held-out results",
        "Does being above a baseline on the validation split foresee that the chosen prompt is above the "
        "standard baseline on the held-out test split? Marks: the decision to be above. Coloured lines: "
        "its tail probability as a score. Thin grey lines: a predictor that knows nothing.",
    ),
    "guessers": (
        "One setting's prompts beside random guessers",
        _PUBLISHED
        + "How the prompts' accuracies are distributed, that of one guesser, and that of the best of "
        "as many guessers as prompts.",
    ),
    "chosen_tasks": (
        "The best of ever more prompts, on some tasks",
        _PUBLISHED + "Above: the expected accuracy of the best of as many prompts as the axis says, and both "
        "baselines. Below: how likely guessing reaches it, one guesser (dashed) or the best of them.",
    ),
    "base_and_tuned": (
        "Base models and those tuned to instructions",
        _PUBLISHED + "Solid: the base model. Dotted: the one that was tuned from it.",
    ),
    "published_agreement": (
        "Which baseline foresees held-out results, as published",
        "From the outcomes of the released splits. Marks: the decision to be above. Lines: its probability.",
    ),
    "roc_by_prompts": (
        "The same for ever more prompts to choose from",
        "From the outcomes of the released splits.",
    ),
    "pair": (
        "All results of a base model and the one tuned from it",
        _PUBLISHED + "Solid: the base model. Dotted: the one that was tuned from it.",
    ),
    "maximum_contours": (
        "The maximum random baseline",
        "The expected accuracy of the best of as many random guessers as prompts.",
    ),
    "tail_contours": (
        "How likely guessing does as well",
        "Probability that the best of as many guessers as prompts reaches an accuracy. Dashed: one guesser's "
        "expected accuracy.",
    ),
    "suite_rise": (
        "By how much the baseline rises",
        "The maximum baseline less the standard one. A dot is a task, with its nominal size and choices.",
    ),
    "suite_tails": (
        "What a normalized score is worth",
        "How likely guessing reaches a normalized score (0: one guesser, 100: perfect). A line is a task.",
    ),
}


def pictures(names: Sequence[str], paths: Sequence[Path]) -> list[Picture]:
    """The figures of these names with their headings and captions."""
    found = []
    for name, path in zip(names, paths, strict=True):
        kind = next(kind for kind in _CAPTIONS if name.startswith(kind))
        title, caption = _CAPTIONS[kind]
        model = name.removeprefix(kind).removeprefix("_")
        found.append(Picture(f"{title}: {model}" if model else title, caption, path))
    return found


def facts(config: Mapping[str, Any], made_from: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """What was run: the config's main keys, and the models and versions that the files name.

    Parameters
    ----------
    config
        The resolved config.
    made_from
        What the scores files, or the predictions of a release, were made from.
    """
    told = {"seed": str(config["seed"])}
    if given := [key for key in ("release", "predictions") if key in config]:
        told[given[0]] = Path(config[given[0]]).name
    else:
        told |= {
            "tasks": ", ".join(config["tasks"]),
            "shots": ", ".join(map(str, config["shots"])),
            "prompts": f"{config['prompts']} for each task and number of shots, fewer where no more exist",
            "examples": f"at most {config['max_examples']} of a task",
            "compared by": f"log-likelihood per {config['normalization']}",
        }
    versions: dict[str, str] = {}
    for made in made_from:
        if "model" in made:
            told[made["name"]] = f"{made['model']} ({made['revision'][:12]}), {made['precision']}"
        versions |= made["versions"]
    told["versions"] = ", ".join(f"{package} {number}" for package, number in versions.items())
    return told


def made_from(paths: Sequence[Path]) -> list[dict[str, Any]]:
    """What files were made from; of scores with the model's ``name``, which their place tells."""
    return [{"name": path.parent.parent.name, **read_made_from(path)} for path in paths]


def sections(folder: Path, names: Sequence[str]) -> list[Section]:
    """Those of a study's tables that the report shows with a heading of their own."""
    return [
        Section(title, text, pd.read_csv(folder / f"{name}.csv", keep_default_na=False))
        for name, (title, text) in _SECTIONS.items()
        if name in names
    ]


_SECTIONS = {
    "precision_summary": (
        "The same model in two precisions",
        "How many settings are above the standard baseline, and how many of these between the two "
        "baselines, in the first and in the second precision, and how many verdicts are the same. Task by "
        "task: tables/precision_settings.csv.",
    ),
    "changes_count": (
        "As published, and by the data",
        "The verdicts above are by the data: chance from the tasks' own choices, the examples that were "
        "evaluated, the prompts that differ. How many settings go from which verdict, by the paper's n, p "
        "and t, to which by the data:",
    ),
    "changes": ("Verdicts that change", "Each setting whose verdict is another by the data."),
    "audit_summary": (
        "What does not hold",
        "The audit lists each with its evidence, setting by setting: tables/audit.csv.",
    ),
    "published_heldout_by_model": (
        "Held-out results, as published",
        "How well being above each baseline on validation foresees being above chance on the held-out "
        "part, from the outcomes of the released splits where they are there.",
    ),
}
