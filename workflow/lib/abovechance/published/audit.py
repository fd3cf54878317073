"""Problems of a release, setting by setting, each with its evidence.

A finding says what the data show and no more. Where several causes would show the
same, none is named.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import PurePath

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from abovechance.chance.verdicts import random_baselines
from abovechance.core.columns import Column
from abovechance.core.settings import Setting, by_setting
from abovechance.core.tables import TableSchema
from abovechance.published.conventions import Convention
from abovechance.published.pools import Pools
from abovechance.published.release import Problem, file_of

# A prompt's accuracy is called lower than guessing where a guesser would be so low with less
# than this probability, shared out among the prompts.
TOO_LOW = 0.001
# Losses are called those of the same weights where they agree as closely as this on at least so
# many pairs.
SAME_CORRELATION, SAME_DIFFERENCE, SAME_PAIRS = 0.99, 0.05, 100


@dataclass(frozen=True)
class Finding:
    """One thing that does not hold in one setting (empty fields: in more than one, or in none)."""

    model: str
    task: str
    shots: int | str
    finding: str
    evidence: str


AUDIT = TableSchema(
    "audit",
    {
        "model": Column.text("name of the model; empty if the finding concerns several models"),
        "task": Column.text("name of the task; empty if the finding concerns several tasks"),
        "shots": Column.text(
            "number of demonstrations in a prompt; empty if the finding concerns several numbers"
        ),
        "finding": Column.text("kind of problem"),
        "evidence": Column.text("details of the problem, from the data"),
    },
    "One row per finding.",
    file="release/audit.parquet, tables/audit",
)


def table(findings: Sequence[Finding]) -> pd.DataFrame:
    """Return the findings: the table ``audit``."""
    rows = pd.DataFrame([asdict(finding) for finding in findings], columns=[*AUDIT.columns])
    rows["shots"] = rows["shots"].astype(str)
    return rows.sort_values(["finding", "task", "model", "shots"], kind="stable", key=lambda c: c.astype(str))


def of_problems(problems: Sequence[Problem]) -> list[Finding]:
    """Return the unusable files, as findings."""
    return [Finding("", "", "", "not used", f"{p.file}: {p.problem}; {p.treatment}") for p in problems]


def findings_in(
    setting: Setting,
    predictions: pd.DataFrame,
    accuracy: pd.DataFrame,
    is_known: NDArray[np.bool_],
    pools: Pools,
) -> Iterator[Finding]:
    """Yield the findings in one setting.

    Parameters
    ----------
    predictions
        All that was released, repeated prompts included, with the data's ``chance``.
    accuracy
        The table ``accuracy`` of these.
    is_known
        (rows,) whether the example's id is one that the release says was evaluated.
    """
    convention = Convention.for_setting(setting.task, setting.shots)
    examples, ids = pools.merged
    sizes = accuracy["examples"]
    findings = {"merged examples": f"{examples} examples have {ids} ids"} if ids < examples else {}
    if convention is not None and set(sizes) != {convention.examples}:
        spread = _range(sizes, "{}")
        findings["number of examples"] = f"taken as {convention.examples}; prompts are evaluated on {spread}"
    chance = predictions["chance"].mean()
    if convention is not None and abs(chance - convention.chance) > 1e-9:
        findings["chance"] = (
            f"taken as {convention.chance:.4g}; the tasks' choices give {chance:.4g} on average"
        )
    if not is_known.all():
        findings["other examples"] = _unknown(predictions, is_known)
    findings |= _prompts(predictions, convention) | _too_low(accuracy)
    for finding, evidence in findings.items():
        yield Finding(*setting, finding, evidence)


def _unknown(predictions: pd.DataFrame, is_known: NDArray[np.bool_]) -> str:
    unknown = predictions[~is_known]
    prompts = sorted(unknown["prompt"].unique())
    subject = (
        f"prompt {prompts[0]} is"
        if len(prompts) == 1
        else f"{len(prompts)} prompts ({prompts[0]} to {prompts[-1]}) are"
    )
    return (
        f"{subject} evaluated on {unknown['example'].nunique()} ids that are not in the release's sample of "
        "the task"
    )


def _prompts(predictions: pd.DataFrame, convention: Convention | None) -> dict[str, str]:
    """Prompts that repeat, and numbers that have no rows."""
    findings = {}
    of_prompt = predictions.drop_duplicates("prompt").set_index("prompt")["demonstrations"]
    distinct = of_prompt.nunique()
    if distinct < len(of_prompt):
        convention_note = f"; t is taken as {convention.prompts}" if convention else ""
        findings["repeated prompts"] = (
            f"{len(of_prompt)} prompts have {distinct} different demonstrations{convention_note}"
        )
    missing = sorted(set(range(int(of_prompt.index.max()) + 1)) - set(of_prompt.index))
    if missing:
        listed = ", ".join(map(str, missing[:10])) + (", ..." if len(missing) > 10 else "")
        findings["prompts without rows"] = f"{len(missing)}: {listed}"
    return findings


def _too_low(accuracy: pd.DataFrame) -> dict[str, str]:
    """Prompts that guessing would not let fall so low."""
    tails = np.array(
        [
            np.exp(baseline.log_cdf(correct))
            for baseline, correct in zip(random_baselines(accuracy), accuracy["correct"], strict=True)
        ]
    )
    low = tails < TOO_LOW / len(accuracy)
    if not low.any():
        return {}
    lowest = accuracy.iloc[int(np.argmin(tails))]
    none = int((accuracy["correct"] == 0).sum())
    return {
        "below chance": (
            f"{int(low.sum())} of {len(accuracy)} prompts are lower than guessing (each with probability "
            f"below {TOO_LOW / len(accuracy):.0e}); prompt {lowest['prompt']} has {lowest['correct']} of "
            f"{lowest['examples']} right; {none} prompts have none"
        )
    }


def of_aggregates(accuracies: Mapping[Setting, list[float]], accuracy: pd.DataFrame) -> Iterator[Finding]:
    """Return the differences between the aggregated accuracies and those of the predictions.

    Parameters
    ----------
    accuracies
        From ``Release.accuracies``, in any order.
    accuracy
        The table ``accuracy`` of all released prompts.
    """
    file = "results/aggregated-results.json"
    if not accuracies:
        return
    for setting, group in by_setting(accuracy):
        key = PurePath(file_of(setting)).stem
        values = np.asarray(accuracies.get(setting, []), dtype=float)
        outside = np.flatnonzero(~((values >= 0) & (values <= 1)))
        sorted_accuracies = np.sort(group["accuracy"].to_numpy())
        if setting not in accuracies:
            evidence = f"{file} has no '{key}'"
        elif len(outside):
            at = int(outside[0])
            evidence = (
                f"{file}, '{key}', entry {at}: {values[at]:g} is not an accuracy; the predictions' are used"
            )
        elif len(values) != len(sorted_accuracies):
            evidence = f"{file}, '{key}': {len(values)} accuracies for {len(sorted_accuracies)} prompts"
        elif not np.allclose(np.sort(values), sorted_accuracies, atol=1e-9):
            worst = float(np.abs(np.sort(values) - sorted_accuracies).max())
            evidence = f"{file}, '{key}': differs from the predictions by up to {worst:.3g}"
        else:
            continue
        yield Finding(*setting, "aggregated accuracies", evidence)


def of_pairs(losses: Mapping[Setting, pd.DataFrame]) -> Iterator[Finding]:
    """Yield pairs of models whose losses agree so closely that they are likely the same weights.

    Parameters
    ----------
    losses
        {setting: ``demonstrations``, ``example``, ``loss``}, one row each of distinct prompts.
    """
    for first, second in combinations(losses, 2):
        if first[1:] != second[1:]:
            continue
        merged = losses[first].merge(losses[second], on=["demonstrations", "example"])
        spread = merged["loss_x"].std()
        if len(merged) < SAME_PAIRS or not spread > 0:
            continue
        correlation = merged["loss_x"].corr(merged["loss_y"])
        difference = (merged["loss_x"] - merged["loss_y"]).abs()
        if correlation >= SAME_CORRELATION and difference.median() <= SAME_DIFFERENCE * spread:
            yield Finding(
                f"{first.model}, {second.model}",
                *first[1:],
                "same losses",
                f"on {len(merged)} pairs of demonstrations and example: correlation {correlation:.5f}, "
                f"{(difference == 0).mean():.0%} equal, median difference {difference.median():.2g} nats "
                f"where losses spread by {spread:.2g}",
            )


def _range(values: pd.Series, write: str) -> str:
    low, high = write.format(values.min()), write.format(values.max())
    return low if low == high else f"{low} to {high}"
