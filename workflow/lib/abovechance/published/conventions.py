"""The published study's conventions: what it takes for chance, examples and prompts.

What Yauney and Mimno (2024) took for a setting's numbers, read off their released code:

- chance p is 1 / the task's nominal number of choices;
- n is 200, or the task's nominal size less the shots where that size is below 200;
- t is 200, or the task's nominal size with one shot where that size is below 200;
- a best accuracy is above the standard baseline where it is at least p, and *between* the
  two where it is also at most the maximum baseline.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import pandas as pd

from abovechance.chance.random_baseline import RandomBaseline
from abovechance.core.settings import Setting, by_setting
from abovechance.study.suites import nominal

SAMPLED = 200


@dataclass(frozen=True)
class Convention:
    """The numbers that the paper takes for a task with a number of shots."""

    chance: float
    examples: int
    prompts: int

    @classmethod
    @cache
    def for_setting(cls, task: str, shots: int) -> Convention | None:
        """Return the convention of a task of the suite; None for another task."""
        if task not in nominal():
            return None
        size = nominal()[task].examples
        few = size < SAMPLED
        return cls(
            chance=nominal()[task].chance,
            examples=size - shots if few else SAMPLED,
            prompts=size if few and shots == 1 else SAMPLED,
        )

    @cached_property
    def maximum(self) -> float:
        """The maximum random baseline."""
        return RandomBaseline.from_chance(self.chance, self.examples).maximum(self.prompts)

    def position(self, best: float) -> str:
        """Return the verdict on a best accuracy, as the paper decides it."""
        if best < self.chance:
            return "below"
        return "between" if best <= self.maximum else "above"


def published_verdicts(
    accuracy: pd.DataFrame, aggregated: Mapping[Setting, Sequence[float]] | None = None
) -> pd.DataFrame:
    """Return one row per setting: the paper's n, p and t, the best accuracy, and the verdict.

    Parameters
    ----------
    accuracy
        The table ``accuracy`` of all released prompts, repeated ones included.
    aggregated
        The accuracies as the release aggregates them, which the paper's table is made from. They
        count where they are accuracies, and for settings whose predictions cannot be used too.
    """
    best = {setting: rows["accuracy"].max() for setting, rows in by_setting(accuracy)}
    for setting, values in (aggregated or {}).items():
        if len(values) and all(0 <= value <= 1 for value in values):
            best[setting] = max(values)
    rows = []
    for setting, value in sorted(best.items()):
        convention = Convention.for_setting(setting.task, setting.shots)
        if convention is None:
            continue
        rows.append(
            {
                **setting._asdict(),
                "examples": convention.examples,
                "prompts": convention.prompts,
                "best_accuracy": value,
                "standard_baseline": convention.chance,
                "maximum_baseline": convention.maximum,
                "position": convention.position(value),
            }
        )
    return pd.DataFrame(rows)
