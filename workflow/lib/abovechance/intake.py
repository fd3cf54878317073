"""Taking in a release: its predictions as they are and mended, their accuracies, and the audit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from abovechance import audit
from abovechance.accuracy import accuracy_by_prompt
from abovechance.archive import write_csv, write_table, writing_parts
from abovechance.errors import InputError
from abovechance.mend import Pools, distinct_prompts
from abovechance.published import Convention
from abovechance.release import Problem, Release, Setting


@dataclass(frozen=True)
class Files:
    """Where to write what a release holds.

    Attributes
    ----------
    released, released_accuracy
        All prompts, with chance as the paper takes it.
    predictions, accuracy
        Distinct prompts, with chance from the tasks.
    audit
        What does not hold.
    """

    released: Path
    released_accuracy: Path
    predictions: Path
    accuracy: Path
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
        What was left out, and what is missing.

    Raises
    ------
    InputError
        If no setting can be used.
    """
    pools = {
        task: Pools.of(rows, release.sample(task))
        for task, rows in examples.groupby("task", observed=True, sort=False)
    }
    problems, findings = list(release.problems), []
    accuracies: dict[str, list[pd.DataFrame]] = {"released": [], "mended": []}
    losses: dict[Setting, pd.DataFrame] = {}
    facts = {"release": release.path.name}
    with (
        writing_parts("released", files.released, facts) as write_released,
        writing_parts("predictions", files.predictions, facts) as write_mended,
    ):
        for done, setting in enumerate(release.settings, start=1):
            try:
                predictions = release.predictions(setting)
                chance, known = pools[setting.task].chance(predictions)
            except InputError as error:
                problems.append(Problem(setting.file, str(error), "left out"))
                continue
            predictions = predictions.assign(**setting._asdict(), tie=False)
            convention = Convention.of(setting.task, setting.shots)
            released = predictions.assign(chance=convention.chance if convention else chance)
            write_released(released)
            accuracies["released"].append(accuracy_by_prompt(released))
            predictions["chance"] = chance
            findings += audit.of_setting(
                setting, predictions, accuracy_by_prompt(predictions), known, pools[setting.task]
            )
            mended = distinct_prompts(predictions)
            losses[setting] = mended[["demonstrations", "example", "loss"]]
            mended = mended.drop(columns=["demonstrations", "loss"])
            write_mended(mended.assign(example=mended["example"].astype(str), predicted=-1))
            accuracies["mended"].append(accuracy_by_prompt(mended))
            report(f"{done} of {len(release.settings)} settings read")
        if not accuracies["released"]:
            first = next(problem for problem in problems if problem.done == "left out")
            raise InputError(f"release {release.path}: no setting can be used; {first.file}: {first.what}")
    tables = {name: pd.concat(parts, ignore_index=True) for name, parts in accuracies.items()}
    write_table(tables["released"], "accuracy", files.released_accuracy, facts)
    write_table(tables["mended"], "accuracy", files.accuracy, facts)
    try:
        findings += audit.of_aggregates(release.accuracies(), tables["released"])
    except InputError as error:
        problems.append(Problem("results/aggregated-results.json", str(error), "not used"))
    findings += audit.of_problems(problems)
    findings += audit.of_pairs(losses)
    write_csv(audit.table(findings), files.audit)
    return problems
