"""The report of a study: one HTML file that opens anywhere."""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from importlib.resources import files
from itertools import count, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jinja2
import numpy as np
import pandas as pd

from abovechance.chance.baselines import BASELINES
from abovechance.chance.study import VERDICT_COUNTS, VERDICTS, Verdicts, verdict_counts
from abovechance.compare.study import MEAN_OVER
from abovechance.core.p_values import probability
from abovechance.core.tables import columns_of, read_table
from abovechance.core.words import counted, rounded_percent
from abovechance.shown import style
from abovechance.shown.exhibits import ShownFigure, ShownTable
from abovechance.shown.tables import readable
from abovechance.variance.evaluations import ACCURACY, BEST

if TYPE_CHECKING:
    from abovechance.core.columns import Column


@dataclass(frozen=True)
class Exhibit:
    """A figure or table in the report: its label, such as "Figure 1", its heading and text, and its HTML."""

    label: str
    title: str
    text: str
    html: str


@dataclass(frozen=True)
class Part:
    """A part of the report: the question that it answers, the answer, and the figures and tables for it."""

    question: str
    answer: Sequence[str] = ()
    exhibits: Sequence[Exhibit] = ()

    @property
    def anchor(self) -> str:
        """The name that links in the report use."""
        return re.sub(r"[^a-z]+", "-", self.question.lower()).strip("-")


def render(
    study: str, parts: Sequence[Part], facts: Mapping[str, Any], verdicts: pd.DataFrame | None = None
) -> str:
    """Return the report as HTML text.

    Parameters
    ----------
    parts
        The parts in their order; the verdicts are shown at the beginning of the first one.
    facts
        Facts about the run, name to value, as a list.
    verdicts
        The table ``verdicts``, if the study has predictions.
    """
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    template = environment.from_string(
        files("abovechance.shown").joinpath("report.html.jinja").read_text(encoding="utf-8")
    )
    if verdicts is not None:
        first = parts[0] if parts else Part("Is the best score better than chance?")
        parts = [replace(first, answer=Verdicts(verdicts).sentences), *parts[1:]]
    return template.render(
        study=study,
        parts=parts,
        judged=None if verdicts is None else _judged(verdicts),
        terms=" ".join(part.question for part in parts),
        facts=facts,
        colours={word: colour for word, (colour, _) in style.CONCLUSIONS.items()},
    )


def two_models_answer(table: pd.DataFrame) -> list[str]:
    """Return the conclusions of the table ``two_models`` on the means over tasks, or on the only task."""
    means = table[table["task"].str.fullmatch(rf"{MEAN_OVER} \d+ tasks")]
    rows = means if len(means) else table.head(1) if len(table) == 1 else table.head(0)
    return [
        f"{row['better']} and {row['worse']} ({row['shots']}-shot, {row['task']}): {row['conclusion']}"
        for row in rows.to_dict("records")
    ]


def series_answer(series: pd.DataFrame) -> list[str]:
    """Summarize the table ``series`` in sentences."""
    accuracies = series[series["metric"].isin(["accuracy", "acc"])]
    table, noun = (accuracies, "accuracy") if len(accuracies) else (series, "score")
    rises, falls = ("rises", "falls") if len(accuracies) else ("improves", "gets worse")
    models, tasks = table["model"].nunique(), table["task"].nunique()
    developed = table[table["checkpoints"] > 1]
    sentences = []
    if len(developed):
        steady, falling = (
            int(developed_in.sum())
            for developed_in in (developed["monotonicity"] >= 0.5, developed["monotonicity"] < 0)
        )
        sentences.append(
            f"The {noun} {rises} steadily during training (monotonicity of at least 0.5) in "
            f"{steady or 'none'} of {counted(len(developed), 'case')} ({counted(models, 'model')}, "
            f"{counted(tasks, 'task')}). The {noun} {falls} in {falling or 'none'} of them."
        )
    best_prompts = series[series["metric"] == BEST]  # of a study; others' results are of one prompt
    with_chance = best_prompts if len(best_prompts) else table
    with_chance = with_chance[
        with_chance["chance"].notna()
        & (with_chance["examples"] > 0)
        & with_chance["metric"].str.contains(ACCURACY)
    ]
    if len(with_chance):
        above = int(with_chance["leaves_chance"].notna().sum())
        sentences.append(
            f"In {above or 'none'} of {counted(len(with_chance), 'case')} with a known chance level, "
            "the best accuracy at the last checkpoint is significantly above chance."
        )
    noisy = table[table["final_deviation"].notna()]
    if len(noisy) and (len(accuracies) or table["metric"].nunique() == 1):  # in one unit
        between = [*map(_between_seeds, noisy["final_deviation"], noisy["seeds"])]
        sentences.append(
            f"Two training runs that differ only in the seed differ by {np.mean(between):.3f} at the last "
            f"checkpoint, on average over {counted(len(noisy), 'case')}."
        )
    return sentences


def _between_seeds(deviation: float, seeds: int) -> float:
    """Return the mean absolute difference of two seeds, without bias for scores that vary normally.

    The standard deviation of few numbers is too small on average, by the factor c4.
    """
    c4 = math.sqrt(2 / (seeds - 1)) * math.exp(math.lgamma(seeds / 2) - math.lgamma((seeds - 1) / 2))
    return 2 * deviation / c4 / math.sqrt(math.pi)


# On a screen, a figure of the full text width has as many pixels.
SCREEN_PIXELS, FIGURE_PIXELS = 920, int(style.FULL_WIDTH * style.DPI)
MANY = 8  # models that the table at a glance has a column each for


def _judged(verdicts: pd.DataFrame) -> dict[str, Any]:
    """Return the variables of the template about verdicts."""
    counts = verdict_counts(verdicts)
    rows, columns = ("task", "model") if verdicts["model"].nunique() <= MANY else ("model", "task")
    return {
        "rows_are": rows,
        "rows": _glance(verdicts, rows, columns),
        "columns": {str(name): _heading(name, columns) for name in dict.fromkeys(verdicts[columns])},
        "shots": sorted(verdicts["shots"].unique()),
        "left_out": int(verdicts["left_out"].sum()) if "left_out" in verdicts else 0,
        "total": counts.iloc[-1].to_dict(),
        "counts": _html(counts, VERDICT_COUNTS.columns),
        "table": _html(verdicts, VERDICTS.columns, "data sortable"),
        "randomized": "randomization_tail" in verdicts,
        "climbed": "unbeaten_guesser" in verdicts,
    }


def _heading(name: str, kind: str) -> str:
    """Return a task's name as words; a model's as it is."""
    return style.words(str(name)) if kind == "task" else str(name)


def _glance(verdicts: pd.DataFrame, rows: str, columns: str) -> list[dict[str, Any]]:
    """Return one row per task (or model): its heading and {(name of the model (or task), shots): cell}."""
    return [
        {
            "name": _heading(str(name), rows),
            "cells": {(str(getattr(row, columns)), row.shots): _cell(row) for row in group.itertuples()},
        }
        for name, group in verdicts.groupby(rows, sort=False)
    ]


def _cell(row: Any) -> dict[str, str]:
    """Return the variables of one cell of the overview table."""
    if pd.isna(row.better_than_chance):
        prompts = "the only prompt is" if row.left_out == 1 else f"all {row.left_out} prompts are"
        hint = f"{prompts} longer than the model's context"
        return {"conclusion": "left-out", "label": "left out", "best": "none", "hint": hint}
    beside = ", ".join(
        f"{baseline.name} baseline {getattr(row, baseline.column):.3f}" for baseline in BASELINES
    )
    prompts, examples = counted(row.prompts, "prompt"), counted(row.examples, "example")
    hint = f"best of {prompts} on {examples}: {row.best_accuracy:.3f}; {beside}; {row.reason}"
    return {
        "conclusion": row.better_than_chance,
        "label": f"{row.better_than_chance}, {_short(row.bh_tail)}",
        "best": rounded_percent(row.best_accuracy),
        "hint": hint,
    }


def _short(tail: float) -> str:
    """Return a tail probability for a narrow cell."""
    return "<0.001" if tail < 0.001 else probability(tail) if tail >= 0.01 else f"{tail:.3f}"


def _html(table: pd.DataFrame, columns: Mapping[str, Column], classes: str = "data") -> str:
    return readable(table, columns).to_html(index=False, border=0, classes=classes)


def _has_rows(picture: Path) -> bool:
    with picture.with_suffix(".csv").open(encoding="utf-8") as numbers:
        return sum(1 for _ in islice(numbers, 2)) == 2


# {key of a config: what the report calls it, and its value in words}
_TOLD: dict[str, tuple[str, Callable[[Any], str]]] = {
    "seed": ("seed", str),
    "release": ("release", lambda path: Path(path).name),
    "predictions": ("predictions", lambda path: Path(path).name),
    "evaluations": ("evaluations", lambda path: Path(path).name),
    "groups": (
        "groups",
        lambda groups: "; ".join(f"{name}: {pattern}" for name, pattern in groups.items()) or "none",
    ),
    "chances": (
        "chance",
        lambda chances: "; ".join(f"{name}: {chance:g}" for name, chance in chances.items()) or "unknown",
    ),
    "tasks": ("tasks", ", ".join),
    "shots": ("shots", lambda shots: ", ".join(map(str, shots))),
    "prompts": (
        "prompts",
        lambda prompts: f"{prompts} for each task and number of shots",
    ),
    "max_examples": ("examples", lambda examples: f"at most {examples} per task"),
    "normalization": (
        "choices compared by",
        lambda length: "log-likelihood" + (f" per {length}" if length != "none" else ""),
    ),
}


def facts(
    config: Mapping[str, Any], made_from: Sequence[Mapping[str, Any]], verdicts: pd.DataFrame | None = None
) -> dict[str, str]:
    """Return the facts of the run: the config's main keys, and the models and versions in the files.

    Parameters
    ----------
    config
        The resolved config.
    made_from
        The sources of each file of predictions, or of that of evaluations.
    verdicts
        The table ``verdicts``, if the study has predictions.
    """
    facts_of_config = {_TOLD[key][0]: _TOLD[key][1](config[key]) for key in _TOLD if key in config}
    if "prompts" in config and verdicts is not None:
        facts_of_config["prompts"] += _fewer_prompts(verdicts, config["prompts"])
    for name, task in config.get("tasks", {}).items():
        if task["max_examples"] != config["max_examples"]:
            facts_of_config["examples"] += f", {task['max_examples']} of {name}"
    versions: dict[str, str] = {}
    for model in [entry for file in made_from for entry in file.get("models") or [file]]:
        if "model" in model:
            name = f"model {model['name']}" if model["name"] in _WORDS_OF_FACTS else model["name"]
            facts_of_config[name] = f"{model['model']} ({model['revision'][:12]}), {model['precision']}"
        for run in model.get("runs") or [model]:  # of scores, those that they were computed with
            versions |= run["versions"]
    facts_of_config["versions"] = ", ".join(f"{package} {number}" for package, number in versions.items())
    if verdicts is not None and "metric" in verdicts:
        facts_of_config["metric"] = ", ".join(verdicts["metric"].dropna().unique())
    return facts_of_config | _numbered_prompts(made_from)


def _fewer_prompts(verdicts: pd.DataFrame, prompts: int) -> str:
    """Return which settings have fewer prompts than so many; empty if none has."""
    parts = ["1 with 0 shots"] if prompts > 1 and (verdicts["shots"] == 0).any() else []
    with_shots = verdicts[verdicts["shots"] > 0]
    for (task, shots), counts in with_shots.groupby(["task", "shots"], sort=False)["prompts"]:
        low, high = counts.min(), counts.max()
        if low < prompts:
            number = f"only {low}" if low == high else f"from {low} to {high}, depending on the model,"
            parts.append(f"{number} of {task}, {shots}-shot")
    return f" ({'; '.join(parts)})" if parts else ""


def _numbered_prompts(made_from: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the numbers and names of imported prompts, and of which settings if these differ."""
    settings: dict[tuple[str, ...], list[str]] = {}
    for file in made_from:
        for setting, names in file.get("prompt_names", {}).items():
            settings.setdefault(tuple(names), []).append(setting)
    numberings = {
        names: "; ".join(dict.fromkeys(of_names))
        for names, of_names in settings.items()
        if len(names) > 1 and list(names) != [str(number) for number in range(len(names))]
    }
    return {
        "prompts" + (f" of {of_names}" if len(numberings) > 1 else ""): ", ".join(
            f"{number} = {name}" for number, name in enumerate(names)
        )
        for names, of_names in numberings.items()
    }


_WORDS_OF_FACTS = {*(words for words, _ in _TOLD.values()), "versions"}  # which a model may be called, too


# {table: the sentences that it comes to, at the beginning of its part}
ANSWERS: Mapping[str, Callable[[pd.DataFrame], list[str]]] = {
    "two_models": two_models_answer,
    "series": series_answer,
}


def parts(folder: Path, questions: Mapping[str, Sequence[ShownFigure | ShownTable]]) -> list[Part]:
    """Return the parts of a study's report: figures and tables that have rows and a heading, figures first.

    Parameters
    ----------
    folder
        The study's results, with ``tables`` and ``figures``.
    questions
        {the question of a part: what answers it}.
    """
    numbers = {"Figure": count(1), "Table": count(1)}
    listed = []
    for question, entries in questions.items():
        exhibits: list[Exhibit] = []
        answer: list[str] = []
        for exhibit in sorted(entries, key=lambda entry: isinstance(entry, ShownTable)):
            kind = "Table" if isinstance(exhibit, ShownTable) else "Figure"
            if (
                content := _table(folder, exhibit)
                if isinstance(exhibit, ShownTable)
                else _figure(folder, exhibit)
            ):
                exhibits.append(Exhibit(f"{kind} {next(numbers[kind])}", exhibit.title, *content))
                if exhibit.name in ANSWERS and kind == "Table":
                    answer += ANSWERS[exhibit.name](read_table(folder / "tables" / f"{exhibit.name}.parquet"))
        if exhibits:
            listed.append(Part(question, answer, exhibits))
    return listed


def _figure(folder: Path, figure: ShownFigure) -> tuple[str, str] | None:
    """Return caption and picture; None if the figure shows no numbers."""
    path = folder / "figures" / f"{figure.name}.png"
    if not _has_rows(path):
        return None
    # within the page, so that the report needs no other file
    content = path.read_bytes()
    width = int.from_bytes(content[16:20]) * SCREEN_PIXELS // FIGURE_PIXELS  # as the PNG's header states it
    data = base64.b64encode(content).decode()
    image = f'<img width="{width}" src="data:image/png;base64,{data}" alt="{escape(figure.title)}">'
    return figure.caption, image


def _table(folder: Path, table: ShownTable) -> tuple[str, str] | None:
    """Return text and table; None if the report does not show it."""
    if not table.title:
        return None
    path = folder / "tables" / f"{table.name}.parquet"
    rows = read_table(path)
    if rows.empty:
        return (table.text, f"<p>{escape(table.without_rows)}</p>") if table.without_rows else None
    most_rows = table.most_rows or len(rows)
    text = table.text
    if len(rows) > most_rows:
        text += f" The table shows {most_rows} of {len(rows)} rows. All rows are in tables/{table.name}.csv."
    # columns without values, such as deviations of one seed, say nothing
    visible = rows.head(most_rows).dropna(axis="columns", how="all").drop(columns=[*table.hidden])
    return text, _html(visible, columns_of(path))
