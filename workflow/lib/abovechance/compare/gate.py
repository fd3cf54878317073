"""A gate for changes: is the candidate better than the reference, not worse, or worse?

Decisions compare one confidence interval of the difference (candidate minus reference) with 0 and with minus
the margin. Each end of the interval is exceeded with a probability of at most alpha, so each wrong decision
has a probability of at most alpha: *better* although it is not, *not worse* although it is worse by the
margin or more (non-inferiority), *worse* although it is not. With several tasks, the interval is that of
their mean; in addition, the candidate is *worse* if it is on any task, after Holm's adjustment.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, isfinite

import pandas as pd
from scipy.special import ndtri

from abovechance.chance.multiplicity import adjusted
from abovechance.compare import many
from abovechance.compare.comparison import headline_of, sample_of
from abovechance.compare.responses import Responses
from abovechance.compare.two_models import POWER
from abovechance.core.columns import Column
from abovechance.core.errors import InputError
from abovechance.core.estimates import ALPHA, Estimate

BETTER, NOT_WORSE, WORSE, CANNOT_TELL = DECISIONS = ("better", "not worse", "worse", "cannot tell")
GATE_TASKS = {
    "task": Column.text("name of the task"),
    "shots": Column.whole("number of demonstrations in a prompt"),
    "examples": Column.whole("number of examples that both have"),
    "candidate": Column.number("mean score of the candidate"),
    "reference": Column.number("mean score of the reference"),
    "difference": Column.number("candidate minus reference"),
    "low": Column.number("lower end of the interval of the difference"),
    "high": Column.number("upper end of this interval"),
    "worse_holm": Column.tail(
        "one-sided p-value of the hypothesis that the candidate is not worse on the task, adjusted for the "
        "number of tasks (Holm)"
    ),
    "decision": Column.text("better, not worse, worse or cannot tell, for this task by itself"),
}


@dataclass(frozen=True)
class GateResult:
    """The decision on a candidate.

    Attributes
    ----------
    decision
        One of ``DECISIONS``.
    difference, low, high
        Candidate minus reference, and its interval with confidence 1 - 2 alpha; the mean over tasks if there
        are several.
    margin
        The candidate may be worse by less than this.
    alpha
        The probability of each kind of wrong decision.
    examples
        The number of examples of all tasks.
    needed
        If the decision is *cannot tell*: about how many examples would decide, with a power of 0.8, if the
        observed difference is the true one. Missing (nan) if no number would.
    worse_tasks
        Tasks on which the decision is *worse* also after Holm's adjustment.
    tasks
        One row per task: the columns of ``GATE_TASKS``.
    """

    decision: str
    difference: float
    low: float
    high: float
    margin: float
    alpha: float
    examples: int
    needed: float
    worse_tasks: list[str]
    tasks: pd.DataFrame

    @property
    def sentence(self) -> str:
        """The decision in one sentence."""
        interval = (
            f"{100 * self.difference:+.1f} points, {1 - 2 * self.alpha:.0%} interval {100 * self.low:+.1f} "
            f"to {100 * self.high:+.1f}"
        )
        points = f"{100 * self.margin:g} points"
        reasons = {
            BETTER: f"The candidate is better than the reference ({interval}).",
            NOT_WORSE: f"The candidate is not worse than the reference by {points} or more ({interval}).",
            WORSE: f"The candidate is worse than the reference ({interval}).",
            CANNOT_TELL: f"The results cannot tell whether the candidate is worse by {points} or more "
            f"({interval}).",
        }
        sentence = reasons[self.decision]
        if self.worse_tasks:
            sentence += f" It is worse on {', '.join(self.worse_tasks)}, after adjustment for all tasks."
        if isfinite(self.needed):
            sentence += f" About {ceil(self.needed):,} examples would decide, instead of {self.examples:,}."
        return sentence


def gate(responses: Sequence[Responses], margin: float, alpha: float = ALPHA) -> GateResult:
    """Decide whether a candidate may replace a reference.

    Parameters
    ----------
    responses
        The responses of both on each task; the candidate is the first model.
    margin
        The largest loss that does not matter, in units of the score, at least 0.
    alpha
        The probability of each kind of wrong decision, in (0, 0.5).

    Raises
    ------
    InputError
        If the list of tasks is empty, or a value is outside its range.
    """
    if not 0 <= margin <= 1:
        raise InputError(f"margin is {margin}; expected a number from 0 to 1")
    if not 0 < alpha < 0.5:
        raise InputError(f"alpha is {alpha}; expected a number above 0 and below 0.5")
    if not responses:
        raise InputError("candidate and reference have no task in common")
    confidence = 1 - 2 * alpha
    estimates = [headline_of(task, confidence) for task in responses]
    rows = []
    worse_p = adjusted([_worse_p(estimate) for estimate in estimates], "holm")
    for task, estimate, p in zip(responses, estimates, worse_p, strict=True):
        candidate, reference = task.by_example.mean(axis=1)
        rows.append(
            {
                "task": task.task,
                "shots": task.shots,
                "examples": len(task.examples),
                "candidate": float(candidate),
                "reference": float(reference),
                "difference": estimate.value,
                "low": estimate.low,
                "high": estimate.high,
                "worse_holm": float(p),
                "decision": decide(estimate, margin),
            }
        )
    overall = estimates[0] if len(estimates) == 1 else _mean(responses, confidence)
    table = pd.DataFrame(rows, columns=[*GATE_TASKS])
    is_worse = (table["worse_holm"] <= alpha) & (table["decision"] == WORSE)
    worse_tasks = table.loc[is_worse, "task"].tolist() if len(rows) > 1 else []
    decision = WORSE if worse_tasks else decide(overall, margin)
    examples = int(table["examples"].sum())
    needed = _needed(overall, margin, alpha, examples) if decision == CANNOT_TELL else float("nan")
    return GateResult(
        decision,
        overall.value,
        overall.low,
        overall.high,
        margin,
        alpha,
        examples,
        needed,
        worse_tasks,
        table,
    )


def decide(difference: Estimate, margin: float) -> str:
    """Return the decision that an interval of a difference allows; without an interval, none.

    If the interval is below 0 and above minus the margin, the candidate is a little worse, but not by the
    margin: *not worse*.
    """
    if not isfinite(difference.low):
        return CANNOT_TELL
    if difference.low > 0:
        return BETTER
    if difference.low > -margin:
        return NOT_WORSE
    return WORSE if difference.high < 0 else CANNOT_TELL


def _mean(responses: Sequence[Responses], confidence: float) -> Estimate:
    """Return the mean difference over tasks, each task counted alike."""
    row = many.pairs(many.together([*map(sample_of, responses)]), ["candidate", "reference"], confidence)
    better = row.iloc[0]
    sign = 1 if better["first"] == "candidate" else -1
    low, high = sorted((sign * float(better["low"]), sign * float(better["high"])))
    return Estimate(sign * float(better["difference"]), float(better["error"]), low, high, float(better["p"]))


def _worse_p(difference: Estimate) -> float:
    """Return the one-sided p-value of the hypothesis that a difference is at least 0."""
    if not isfinite(difference.p):
        return 1.0
    return difference.p / 2 if difference.value < 0 else 1 - difference.p / 2


def _needed(difference: Estimate, margin: float, alpha: float, examples: int) -> float:
    """Return about how many examples decide between *not worse* and *worse*."""
    distance = difference.value + margin if difference.value > -margin else -difference.value
    error = difference.standard_error
    if not (isfinite(error) and error > 0) or distance <= 1e-9:
        return float("nan")
    quantiles = float(-ndtri(alpha) + ndtri(POWER))
    return max(float(examples + 1), examples * (quantiles * error / distance) ** 2)
