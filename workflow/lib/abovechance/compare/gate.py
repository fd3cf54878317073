"""A gate for changes: is the candidate better than the reference, not worse, or worse?

Decisions compare one confidence interval of the difference (candidate minus reference) with 0 and with minus
the margin. Each end of the interval is exceeded with a probability of at most alpha, so each wrong decision
has a probability of at most alpha: *better* although it is not, *not worse* although it is worse by the
margin or more (non-inferiority), *worse* although it is not. With several tasks, the interval is that of
their mean. In addition, the candidate is *worse* if it is on any task. The mean and the tasks are one family
of hypotheses, adjusted by Holm's method.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, isfinite, nan, sqrt

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.special import ndtri, stdtrit

from abovechance.chance.multiplicity import adjusted
from abovechance.compare import many
from abovechance.compare.comparison import generalizes, headline_of, sample_of
from abovechance.compare.responses import Responses
from abovechance.compare.two_models import POWER
from abovechance.core.columns import Column
from abovechance.core.errors import InputError
from abovechance.core.estimates import ALPHA, clustered_variance, intraclass, satterthwaite
from abovechance.core.resampling import cluster_sums, numbered

MOST_FACTOR = 1e5  # of the number of examples; more would decide nothing in practice
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
        "number of tasks and their mean (Holm)"
    ),
    "decision": Column.text("better, not worse, worse or cannot tell, for this task by itself"),
}


@dataclass(frozen=True)
class Difference:
    """A difference of means with an interval that also holds if few examples differ.

    Student's interval is too narrow if the results contain few losses or none, because then the estimated
    variance is too small. So each end e of the interval is moved until it is q standard errors from the value
    *if e is the true difference*. Then the losses (or gains) that are missing in the results are part of the
    variance, as in Wilson's interval. Half of the weight of one cluster is added as a continuity correction.

    Attributes
    ----------
    value
        Candidate minus reference.
    variance
        Its estimated variance.
    freedom
        Degrees of freedom of the variance; inf for the normal distribution.
    fixed
        The part of the variance that more examples would not reduce (of prompts or training seeds).
    unit
        The largest weight of one cluster of examples in the mean.
    gains, losses
        Sums of squares of the clusters' parts in the mean, where the candidate is better or worse.
    """

    value: float
    variance: float
    freedom: float
    fixed: float
    unit: float
    gains: float
    losses: float

    def low(self, alpha: float) -> float:
        """The lower end of the interval; lower true values have a probability of at most alpha."""
        return max(self.value - self._distance(alpha, self.losses, self.gains), -1.0)

    def high(self, alpha: float) -> float:
        """The upper end of the interval."""
        return min(self.value + self._distance(alpha, self.gains, self.losses), 1.0)

    def _distance(self, alpha: float, growing: float, shrinking: float) -> float:
        """Return the distance of an end from the value.

        Parameters
        ----------
        growing, shrinking
            Sums of squares of the parts that are more frequent, or less, at this end than in the results.
        """
        if not self.freedom > 0:  # a single cluster does not show how the difference varies
            return 2.0
        q = self._quantile(alpha)
        # the share of the distance that more frequent parts explain; with few, at least as if there were q^2
        pseudo = (q * self.unit) ** 2
        total = growing + shrinking + pseudo
        share = (growing + pseudo) / total if total else 0.5
        slope = self.unit * max(2 * share - 1, 0.0)  # by how much the variance grows with the distance
        squared = q**2 * slope
        return (squared + sqrt(squared**2 + 4 * q**2 * self.variance)) / 2 + self.unit / 2

    def _quantile(self, alpha: float) -> float:
        return float(stdtrit(self.freedom, 1 - alpha) if isfinite(self.freedom) else -ndtri(alpha))

    def worse_p(self) -> float:
        """Return the one-sided p-value of the hypothesis that the true difference is at least 0."""
        if self.high(0.5) >= 0:
            return 1.0
        least = 1e-12
        if self.high(least) < 0:
            return least
        return float(brentq(self.high, least, 0.5, xtol=1e-14))

    def with_examples(self, factor: float) -> Difference:
        """Return the expected difference for a multiple of the number of examples."""
        return Difference(
            self.value,
            self.fixed + (self.variance - self.fixed) / factor,
            self.freedom if self.fixed else self.freedom * factor,
            self.fixed,
            self.unit / factor,
            self.gains / factor,
            self.losses / factor,
        )


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
    about
        The scope of the decision, such as "for these 2 prompts only". Empty if it holds for similar examples.
    examples
        The number of examples of all tasks.
    needed
        If the decision is *cannot tell*: about how many examples would decide with a probability of 0.8 if
        the observed difference is the true one. Missing (nan) if no number would.
    worse_tasks
        Tasks on which the candidate is worse after adjustment.
    tasks
        One row per task: the columns of ``GATE_TASKS``.
    """

    decision: str
    difference: float
    low: float
    high: float
    margin: float
    alpha: float
    about: str
    examples: int
    needed: float
    worse_tasks: list[str]
    tasks: pd.DataFrame

    @property
    def sentence(self) -> str:
        """The decision in one sentence."""
        mean = f"mean of {len(self.tasks)} tasks: " if len(self.tasks) > 1 else ""
        interval = (
            f"{mean}{100 * self.difference:+.1f} points, {1 - 2 * self.alpha:.0%} interval "
            f"{100 * self.low:+.1f} to {100 * self.high:+.1f}"
        )
        by_margin = f" by {_points(self.margin)} or more" if self.margin else ""
        worse = f"on {', '.join(self.worse_tasks)}" if self.worse_tasks else "than the reference"
        reasons = {
            BETTER: f"The candidate is better than the reference ({interval}).",
            NOT_WORSE: f"The candidate is not worse than the reference{by_margin} ({interval}).",
            WORSE: f"The candidate is worse {worse} ({interval}).",
            CANNOT_TELL: f"The results cannot tell whether the candidate is worse{by_margin} ({interval}).",
        }
        sentence = f"{self.about[:1].upper()}{self.about[1:]}: " if self.about else ""
        sentence += reasons[self.decision]
        if self.decision == CANNOT_TELL and isfinite(self.needed):
            sentence += (
                f" If the true difference is {100 * self.difference:+.1f} points, about "
                f"{ceil(self.needed):,} examples would decide with a probability of {POWER:.0%}, instead of "
                f"{self.examples:,}."
            )
        elif self.decision == CANNOT_TELL:
            sentence += " More examples alone would not decide, if the observed difference is the true one."
        return sentence


def _points(share: float) -> str:
    number = f"{100 * share:.4g}"
    return f"{number} point{'' if number == '1' else 's'}"


def gate(responses: Sequence[Responses], margin: float, alpha: float = ALPHA) -> GateResult:
    """Decide whether a candidate may replace a reference.

    Parameters
    ----------
    responses
        The responses of both on each task; the candidate is the first model. Scores are from 0 to 1.
    margin
        The largest loss that does not matter, in units of the score, at least 0.
    alpha
        The probability of each kind of wrong decision, in (0, 0.5).

    Raises
    ------
    InputError
        If the list of tasks is empty, models differ between tasks, or a value is outside its range.
    """
    _check(responses, margin, alpha)
    differences = [difference_of(task) for task in responses]
    overall = differences[0] if len(differences) == 1 else _mean(responses, differences)
    family = [*differences, overall] if len(differences) > 1 else differences
    worse_p = adjusted([difference.worse_p() for difference in family], "holm")
    table = pd.DataFrame(
        [
            _row(task, difference, float(p), margin, alpha)
            for task, difference, p in zip(responses, differences, worse_p, strict=False)
        ]
    )
    worse_tasks = []
    decision = decide(overall, margin, alpha)
    if len(table) > 1:
        is_worse = (table["worse_holm"] <= alpha) & (table["decision"] == WORSE)
        worse_tasks = [f"{row.task} ({row.shots}-shot)" for row in table[is_worse].itertuples()]
        if worse_tasks:
            decision = WORSE
        elif decision == WORSE and worse_p[-1] > alpha:
            decision = CANNOT_TELL
    examples = int(table["examples"].sum())
    return GateResult(
        decision,
        overall.value,
        overall.low(alpha),
        overall.high(alpha),
        margin,
        alpha,
        "; ".join(dict.fromkeys(filter(None, map(generalizes, responses)))),
        examples,
        _needed(overall, margin, alpha, examples) if decision == CANNOT_TELL else nan,
        worse_tasks,
        table,
    )


def _check(responses: Sequence[Responses], margin: float, alpha: float) -> None:
    """Raise InputError if an argument of ``gate`` is not valid."""
    if not 0 <= margin <= 1:
        raise InputError(f"margin is {margin}; expected a number from 0 to 1")
    if not 0 < alpha < 0.5:
        raise InputError(f"alpha is {alpha}; expected a number above 0 and below 0.5")
    if not responses:
        raise InputError("candidate and reference have no task in common")
    for task in responses:
        if task.models != responses[0].models:
            raise InputError(
                f"{task.task}: models are {', '.join(task.models)}; expected "
                f"{', '.join(responses[0].models)} in this order, as on {responses[0].task}"
            )
        if not 0 <= np.nanmin(task.scores) <= np.nanmax(task.scores) <= 1:
            raise InputError(f"{task.task}: scores are not from 0 to 1, as the gate expects")


def _row(task: Responses, difference: Difference, p: float, margin: float, alpha: float) -> dict[str, object]:
    """Return a row with the columns of ``GATE_TASKS``."""
    candidate, reference = task.means
    return {
        "task": task.task,
        "shots": task.shots,
        "examples": len(task.examples),
        "candidate": float(candidate),
        "reference": float(reference),
        "difference": difference.value,
        "low": difference.low(alpha),
        "high": difference.high(alpha),
        "worse_holm": p,
        "decision": decide(difference, margin, alpha),
    }


def decide(difference: Difference, margin: float, alpha: float) -> str:
    """Return the decision that an interval of a difference allows.

    If the interval is below 0 and above minus the margin, the candidate is a little worse, but not by the
    margin: *not worse*.
    """
    low = difference.low(alpha)
    if low > 0:
        return BETTER
    if low > -margin:
        return NOT_WORSE
    return WORSE if difference.high(alpha) < 0 else CANNOT_TELL


def difference_of(responses: Responses) -> Difference:
    """Return the difference of two models on a task, by the inference that ``generalizes`` names."""
    estimate = headline_of(responses)
    first, second = responses.by_example
    examples = len(responses.examples)
    groups, _ = numbered(examples, responses.clusters)
    sums, sizes = cluster_sums(first - second, groups)
    parts = sums / examples
    by_examples, freedom = clustered_variance(
        parts - sizes * parts.sum() / examples, sizes, intraclass(first - second, groups)
    )
    variance = (
        max(estimate.standard_error**2, by_examples) if isfinite(estimate.standard_error) else by_examples
    )
    # the factor excludes differences that are only rounding
    is_fixed = variance > (1 + 1e-9) * by_examples and (responses.several_seeds or len(responses.prompts) > 1)
    return Difference(
        estimate.value,
        variance,
        estimate.freedom if is_fixed and isfinite(estimate.freedom) else freedom,
        variance - by_examples if is_fixed else 0.0,
        float(sizes.max()) / examples,
        float((parts[parts > 0] ** 2).sum()),
        float((parts[parts < 0] ** 2).sum()),
    )


def _mean(responses: Sequence[Responses], differences: Sequence[Difference]) -> Difference:
    """Return the mean difference over tasks, each task counted alike."""
    tasks = len(differences)
    row = many.pairs(many.together([*map(sample_of, responses)]), ["candidate", "reference"]).iloc[0]
    # tasks with the same examples are correlated, which only their joint draws contain
    alone = sum(difference.variance for difference in differences) / tasks**2
    variance = float(row["error"]) ** 2 if row["error"] > 0 else alone
    variances = [difference.variance for difference in differences]
    freedoms = [max(difference.freedom, 1.0) for difference in differences]
    return Difference(
        float(np.mean([difference.value for difference in differences])),
        max(variance, alone),
        max(satterthwaite(variances, freedoms), min(freedoms)),
        sum(difference.fixed for difference in differences) / tasks**2,
        max(difference.unit for difference in differences) / tasks,
        sum(difference.gains for difference in differences) / tasks**2,
        sum(difference.losses for difference in differences) / tasks**2,
    )


def _needed(difference: Difference, margin: float, alpha: float, examples: int) -> float:
    """Return about how many examples decide with a probability of ``POWER``; nan if no number does."""

    def decides(factor: float) -> bool:
        more = difference.with_examples(factor)
        spread = float(ndtri(POWER)) * sqrt(more.variance)
        return more.low(alpha) - spread > -margin or more.high(alpha) + spread < 0

    if not decides(MOST_FACTOR):
        return nan
    low, high = 1.0, MOST_FACTOR
    while high / low > 1.001:
        middle = sqrt(low * high)
        low, high = (low, middle) if decides(middle) else (middle, high)
    return max(float(examples + 1), examples * high)
