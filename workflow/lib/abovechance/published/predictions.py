"""Taking in a release: its predictions as they are and mended, their accuracies, and the audit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from abovechance.core.columns import Column
from abovechance.core.errors import InputError
from abovechance.core.settings import Setting
from abovechance.core.tables import TableSchema, read_tables, setting_columns
from abovechance.published import audit
from abovechance.published.conventions import Convention
from abovechance.published.pools import Pools, distinct_prompts
from abovechance.published.release import Problem, Release, file_of
from abovechance.results.accuracy import accuracy_by_prompt, writing_results
from abovechance.results.likelihoods import of_losses
from abovechance.results.predictions import UNKNOWN

RELEASED = TableSchema(
    "released",
    {
        **setting_columns(many=True),
        "prompt": Column.whole("number of the prompt, from 0"),
        "demonstrations": Column.category("the demonstrations, in the notation of the released file"),
        "example": Column.whole("id of the example in the release"),
        "loss": Column.number("loss of the correct answer", "nats"),
        "correct": Column.flag("whether the prediction is correct"),
        "tie": Column.flag("always false, because a release does not report ties"),
        "chance": Column.share("probability of a lucky guess, by the paper's conventions"),
    },
    "One row for each prompt and each example, with the values as published.",
    file="release/released/<model>.parquet",
)


@dataclass(frozen=True)
class Files:
    """The output files for the contents of a release.

    Attributes
    ----------
    released, released_accuracy
        {model: file} of all prompts, with chance as the paper takes it.
    predictions, accuracy
        {model: file} of distinct prompts, with chance from the tasks.
    audit
        The findings of the audit.
    """

    released: Mapping[str, Path]
    released_accuracy: Mapping[str, Path]
    predictions: Mapping[str, Path]
    accuracy: Mapping[str, Path]
    audit: Path


def take_in(
    release: Release, examples: pd.DataFrame, files: Files, report: Callable[[str], None]
) -> list[Problem]:
    """Read every setting of a release once, and write all that later stages need of it.

    A setting that cannot be used is left out, and the audit says why.

    Parameters
    ----------
    examples
        The table ``released_examples`` of the release's tasks.

    Returns
    -------
    list
        Notes on what was left out, and what is missing.

    Raises
    ------
    InputError
        If no setting can be used.
    """
    pools = {
        str(task): Pools.from_examples(rows, release.sample(str(task)))
        for task, rows in examples.groupby("task", observed=True, sort=False)
    }
    problems, findings = list(release.problems), []
    losses: dict[Setting, pd.DataFrame] = {}
    facts = {"release": release.path.name}
    with (
        writing_results(files.released, files.released_accuracy, facts, RELEASED) as write_released,
        writing_results(files.predictions, files.accuracy, facts) as write_mended,
    ):
        for count, setting in enumerate(release.settings, start=1):
            try:
                table = _take_in(release, setting, pools[setting.task])
            except InputError as error:
                problems.append(Problem(file_of(setting), str(error), "left out"))
                continue
            write_released(table.released)
            write_mended(table.mended)
            findings += table.findings
            losses[setting] = table.losses
            report(f"{count} of {len(release.settings)} settings read")
        if not losses:
            first = next(problem for problem in problems if problem.treatment == "left out")
            raise InputError(f"release {release.path}: no setting can be used; {first.file}: {first.problem}")
    try:
        released = read_tables(files.released_accuracy.values())
        findings += audit.of_aggregates(release.accuracies(), released)
    except InputError as error:
        problems.append(Problem("results/aggregated-results.json", str(error), "not used"))
    findings += audit.of_problems(problems)
    findings += audit.of_pairs(losses)
    audit.AUDIT.write(audit.table(findings), files.audit, {})
    return problems


def released_likelihoods(released: pd.DataFrame) -> pd.DataFrame:
    """Return the likelihoods of one setting's correct answers under its distinct prompts.

    Parameters
    ----------
    released
        The setting's rows of the table ``released``.
    """
    distinct = distinct_prompts(released)
    return of_losses(distinct.assign(example=distinct["example"].astype(str)))


class _Taken(NamedTuple):
    """One setting: its predictions as they are and mended, what does not hold, and its losses."""

    released: pd.DataFrame
    mended: pd.DataFrame
    findings: list[audit.Finding]
    losses: pd.DataFrame


def _take_in(release: Release, setting: Setting, pools: Pools) -> _Taken:
    predictions = release.predictions(setting)
    chance, is_known = pools.chance(predictions)
    predictions = setting.label(predictions).assign(tie=False, chance=chance)
    convention = Convention.for_setting(setting.task, setting.shots)
    released = predictions.assign(chance=convention.chance) if convention else predictions
    accuracy = accuracy_by_prompt(predictions)
    findings = list(audit.findings_in(setting, predictions, accuracy, is_known, pools))
    distinct = distinct_prompts(predictions)
    mended = distinct.drop(columns=["demonstrations", "loss"])
    mended = mended.assign(example=mended["example"].astype(str), predicted=UNKNOWN)
    return _Taken(released, mended, findings, distinct[["demonstrations", "example", "loss"]])
