"""Published best scores, judged again (Yauney and Mimno, 2024, Section 5.3).

A table of best accuracies, with how many prompts were tried on how many examples, is all
that the verdicts need:

    source, task, model, best_accuracy, examples, chance or choices, prompts
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from abovechance.chance.conclusion import with_conclusions
from abovechance.chance.multiplicity import with_adjusted
from abovechance.chance.random_baseline import MOST_EXAMPLES, MOST_PROMPTS, RandomBaseline
from abovechance.chance.rounding import MOST_DECIMALS, completed_digits, completion_note, decimals
from abovechance.chance.study import Verdicts
from abovechance.chance.verdicts import Verdict
from abovechance.core.columns import Column
from abovechance.core.csv_table import SHARE, CsvTable, whole_number
from abovechance.core.errors import InputError
from abovechance.core.reading import heading

NAMES = ("source", "task", "model")
NUMBERS = ("best_accuracy", "examples", "prompts")
CHANCES = ("chance", "choices")
OTHER_SCORES = ("mean_accuracy", "second_accuracy")
EXAMPLES, PROMPTS = whole_number(1, MOST_EXAMPLES), whole_number(1, MOST_PROMPTS)
LUCK = {
    "luck_over_mean": Column.share(
        "share of the best score's lead over the mean score that luck explains, if prompts are equally good "
        "and answer independently; prompts that answer alike leave less to luck"
    ),
    "luck_over_second": Column.share("the same for the lead over the second-best score"),
}


def read_scores(path: Path) -> pd.DataFrame:
    """Return a table of best accuracies from a CSV file.

    Returns
    -------
    DataFrame
        The names that the file has of ``source``, ``task`` and ``model``; ``best_accuracy`` in
        [0, 1]; ``examples``; ``chance`` in [0, 1]; ``prompts``; ``digits``, how many decimals
        accuracies were rounded to, since programs leave zeros away at the end: the most that one of the
        same source has (of the file, without such a column); and for one that no number of correct
        examples then rounds to, its own; ``written_digits``, how many are written.

    Raises
    ------
    InputError
        With row, column and value of the first that is wrong, and what would be right.
    """
    table = CsvTable.read(path)
    _check_columns(table)
    rows = zip(table.texts.index, table.texts.to_dict("records"), strict=True)
    scores = pd.DataFrame([_score(row, table.place(place)) for place, row in rows])
    sources = scores["source"] if "source" in scores else pd.Series("", scores.index)
    accuracies, examples, written = (
        scores[name].tolist() for name in ("best_accuracy", "examples", "digits")
    )
    digits = completed_digits(accuracies, examples, written, sources.tolist())
    return scores.assign(digits=digits, written_digits=scores["digits"])


def completed(scores: pd.DataFrame) -> str:
    """Return a note if zeros that are not written decide how many examples are correct; else nothing.

    If scores have a source, those of one source are expected to be rounded to as many decimals.

    Parameters
    ----------
    scores
        From ``read_scores``.
    """
    columns = ("best_accuracy", "examples", "written_digits", "digits")
    note = completion_note(*(scores[name].tolist() for name in columns))
    if note and "source" not in scores:
        note += "; use the column source to separate scores that were rounded differently"
    return note


def repeated(scores: pd.DataFrame) -> int:
    """Return the number of rows with the names, examples and prompts of an earlier row."""
    names = [name for name in NAMES if name in scores]
    keys = ["examples", "prompts", *names]
    return int(scores.duplicated(keys).sum()) if {"task", "model"} & {*names} else 0


def is_score_table(path: Path) -> bool:
    """Return whether a file is a CSV whose heading has ``best_accuracy``."""
    if path.suffix != ".csv" or not path.is_file():
        return False
    columns = heading(path)
    # `accuracy` in its place is a slip that its own message explains
    return "best_accuracy" in columns or ("example" not in columns and "accuracy" in columns)


def _check_columns(table: CsvTable) -> None:
    if "prompt" in table.texts and "prompts" not in table.texts:
        raise InputError(
            f"{table.path}: has a column 'prompt'; expected one row per best score, and the number of "
            "prompts tried in the column 'prompts'"
        )
    expected = f"{', '.join(NUMBERS)}, and chance or choices ({', '.join(NAMES)} are optional)"
    table.check_columns(NUMBERS, [*NAMES, *CHANCES, *OTHER_SCORES], expected)
    if not {*CHANCES} & {*table.texts}:
        raise InputError(f"{table.path}: lacks the column 'chance' or 'choices'; expected one of them")


def _score(row: Mapping[Hashable, str], place: str) -> dict[str, object]:
    accuracy = _accuracy(row, "best_accuracy", place)
    chances = [name for name in CHANCES if row.get(name, "").strip()]
    if len(chances) != 1:
        raise InputError(
            f"{place}: has {' and '.join(chances) or 'neither chance nor choices'}; expected one"
        )
    chance = (
        _accuracy(row, "chance", place)
        if chances == ["chance"]
        else 1 / EXAMPLES.value(row["choices"], f"{place}: choices")
    )
    examples = EXAMPLES.value(row["examples"], f"{place}: examples")
    prompts = PROMPTS.value(row["prompts"], f"{place}: prompts")
    return {
        **{name: row[name] for name in NAMES if name in row},
        "best_accuracy": accuracy,
        "examples": examples,
        "chance": chance,
        "prompts": prompts,
        "digits": decimals(row["best_accuracy"]),
        **{name: _other_score(row, name, accuracy, prompts, place) for name in OTHER_SCORES if name in row},
    }


def _other_score(row: Mapping[Hashable, str], column: str, best: float, prompts: int, place: str) -> float:
    """Return the mean or second-best score; nan if there is none.

    InputError if it is above the best one, if the mean is too low for the best one to be among so many, or if
    it shows that more than one prompt was tried.
    """
    if not row[column].strip():
        return np.nan
    value = _accuracy(row, column, place)
    if value > best:
        raise InputError(f"{place}: {column} is {value:g}; expected at most best_accuracy, {best:g}")
    is_lower = best - value > 0.5 * 10.0 ** -decimals(row[column]) + 1e-12  # and not rounded
    if prompts == 1 and (column == "second_accuracy" or is_lower):
        raise InputError(
            f"{place}: prompts is 1, but {column} is {value:g}; expected the number of all prompts tried"
        )
    least = (best - 0.5 * 10.0 ** -decimals(row["best_accuracy"])) / prompts  # if all others are 0
    if column == "mean_accuracy" and value + 0.5 * 10.0 ** -decimals(row[column]) < least - 1e-12:
        raise InputError(
            f"{place}: mean_accuracy is {value:g}; expected at least {best / prompts:.3g}, because the best "
            f"of {prompts} prompts has {best:g}"
        )
    return value


def _accuracy(row: Mapping[Hashable, str], column: str, place: str) -> float:
    """Return the share in a column; InputError if it is none, or has too many decimals."""
    share = SHARE.value(row[column], f"{place}: {column}")
    if decimals(text := row[column].strip()) > MOST_DECIMALS:
        raise InputError(f"{place}: {column} is '{text[:40]}'; expected at most {MOST_DECIMALS} decimals")
    return share


def judge_scores(table: pd.DataFrame) -> Verdicts:
    """Judge each best accuracy of a table.

    Parameters
    ----------
    table
        From ``read_scores``.

    Returns
    -------
    Verdicts
        The table with baselines, tail probabilities (also adjusted for the number of scores), the conclusion,
        and a ``note`` where rounding leaves something open.
    """
    judged, ends = [], []
    for row in table.to_dict("records"):
        row.pop("written_digits", None)
        baseline = RandomBaseline.from_chance(row.pop("chance"), row["examples"])
        verdict = Verdict.from_accuracy(row["best_accuracy"], baseline, row["prompts"], row.pop("digits"))
        judged.append(row | verdict.judgement | _luck(row) | {"note": verdict.note})
        ends.append([end.maximum_tail for end in verdict.possible or (verdict, verdict)])
    verdicts_table = with_conclusions(with_adjusted(pd.DataFrame(judged)), [*np.array(ends).T])
    verdicts_table["note"] = verdicts_table.pop("note")  # the last column
    if not verdicts_table["note"].any():
        verdicts_table = verdicts_table.drop(columns="note")
    return Verdicts(verdicts_table, "score", _luck_in_words(verdicts_table))


def _luck_in_words(table: pd.DataFrame) -> tuple[str, ...]:
    """Return how much luck explains of the leads, and what this assumes."""
    sentences = []
    for column, rival in (("luck_over_mean", "mean"), ("luck_over_second", "second-best")):
        shares = table[column].dropna() if column in table else pd.Series(dtype=float)
        if len(shares) == 1:
            sentences.append(f"Luck explains {shares.iloc[0]:.0%} of the lead over the {rival} score.")
        elif len(shares):
            sentences.append(
                f"Luck explains {shares.min():.0%} to {shares.max():.0%} of the lead over the {rival} score "
                f"({len(shares)} leads; median: {shares.median():.0%})."
            )
    if sentences:
        sentences.append(
            "This assumes that prompts answer independently; if they answer alike, luck explains less."
        )
    return tuple(sentences)


def _luck(row: Mapping[Hashable, Any]) -> dict[str, float]:
    """Return the columns ``LUCK`` of a score, for the other scores that are known."""
    best, examples, prompts = row["best_accuracy"], row["examples"], row["prompts"]
    shares = {}
    for name, column in zip(OTHER_SCORES, LUCK, strict=True):
        if name not in row:
            continue
        other_score = row[name]
        shares[column] = np.nan
        if not best > other_score or prompts < 2:
            continue
        if column == "luck_over_mean":
            by_luck = RandomBaseline.from_chance(other_score, examples).maximum(prompts) - other_score
        else:
            by_luck = _lead_over_second(other_score, examples, prompts)
        shares[column] = float(np.clip(by_luck / (best - other_score), 0.0, 1.0))
    return shares


def _lead_over_second(second: float, examples: int, prompts: int) -> float:
    """Return the expected lead of the best of equals, whose second-best score is expected to be this one."""
    from scipy.optimize import brentq

    def excess(score: float) -> float:
        return RandomBaseline.from_chance(score, examples).second(prompts) - second

    score = float(brentq(excess, 0.0, 1.0, xtol=1e-9))
    return RandomBaseline.from_chance(score, examples).maximum(prompts) - second
