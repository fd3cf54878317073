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
from dataclasses import dataclass, replace
from math import ceil, isfinite, log, nan, sqrt

import pandas as pd
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri, stdtrit

from abovechance.chance.multiplicity import adjusted
from abovechance.compare.comparison import generalizes, sample_of
from abovechance.compare.over_tasks import together
from abovechance.compare.responses import Responses
from abovechance.compare.samples import Sample
from abovechance.compare.sentences import about_first
from abovechance.compare.two_models import POWER
from abovechance.core.columns import Column
from abovechance.core.errors import InputError, check_inside
from abovechance.core.estimates import ALPHA, Spread
from abovechance.core.searching import least_whole
from abovechance.core.words import percent

FEWEST_FREEDOM = 0.5  # degrees of freedom of an interval
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
        "number of tasks and their mean (Holm); single p-values are not computed below 1e-12"
    ),
    "decision": Column.text("better, not worse, worse or cannot tell, for this task by itself"),
}


@dataclass(frozen=True)
class GateDifference:
    """A difference of means with an interval that also holds if few examples differ.

    Student's interval is too narrow if the results contain few losses or none, because then the estimated
    variance is too small. So each end e of the interval is moved until the value is as far from it as an
    interval around e reaches *if e is the true difference*. Then the losses (or gains) that are missing in
    the results are part of the variance, as in Wilson's interval. A continuity correction is added.

    Attributes
    ----------
    value
        Candidate minus reference.
    spread
        Its estimated variance; the last part is over examples. More examples do not reduce the other parts
        (of prompts or training seeds).
    unit
        The sum of the squared weights of clusters: 1 divided by the number of examples if each is its own
        cluster. If differences are rare, the variance is their mean times this.
    gains, losses
        Sums of squares of the clusters' parts in the mean, where the candidate is better or worse.
    """

    value: float
    spread: Spread
    unit: float
    gains: float
    losses: float

    @classmethod
    def from_sample(cls, sample: Sample) -> GateDifference:
        """The first model less the second one."""
        difference, parts = sample.difference(0, 1), sample.contributions[0] - sample.contributions[1]
        # a single cluster does not show how the difference varies
        spread = difference.spread if len(parts) > 1 else Spread((0.0,), (0.0,))
        gains, losses = (float((side**2).sum()) for side in (parts[parts > 0], parts[parts < 0]))
        return cls(difference.value, spread, float((sample.weights**2).sum()), gains, losses)

    def low(self, alpha: float) -> float:
        """The lower end of the interval; lower true values have a probability of at most alpha."""
        return max(self.value - self._distance(alpha, self.losses, self.gains, self.value), -1.0)

    def high(self, alpha: float) -> float:
        """The upper end of the interval."""
        return min(self.value + self._distance(alpha, self.gains, self.losses, -self.value), 1.0)

    def _distance(self, alpha: float, growing: float, shrinking: float, from_zero: float) -> float:
        """Return the distance of an end from the value.

        Parameters
        ----------
        growing, shrinking
            Sums of squares of the parts that are more frequent, or less, at this end than in the results.
        from_zero
            The value, with the sign that makes it positive if this end lies in the direction of 0.
        """
        freedom = self.spread.freedoms[-1]
        if not freedom > FEWEST_FREEDOM:
            return 2.0
        q = float(stdtrit(freedom, 1 - alpha) if isfinite(freedom) else -ndtri(alpha))
        # the share of the distance that more frequent parts explain; with few, at least as if there were q^2
        pseudo = (q * self.unit) ** 2
        total = growing + shrinking + pseudo
        share = (growing + pseudo) / total if total else 0.5
        # by how much the variance grows with the distance; nearer to 0, it has less of the squared mean
        slope = self.unit * max(2 * share - 1, 0.0)
        squares = self.unit if from_zero > 0 else 0.0
        a, b = 1 + q**2 * squares, q**2 * (slope + 2 * squares * from_zero)
        # without losses, at least those that are not seen with a probability of alpha; and if both models
        # differ on nearly all examples, the difference moves in steps of two units
        correction = self.unit * max(0.5, -log(alpha) - q**2) + (self.gains + self.losses) / 2
        return (b + sqrt(b**2 + 4 * a * self.spread.reach(alpha) ** 2)) / (2 * a) + correction

    def worse_p(self) -> float:
        """Return the one-sided p-value of the hypothesis that the true difference is at least 0."""
        if self.high(0.5) >= 0:
            return 1.0
        least = 1e-12
        if self.high(least) < 0:
            return least
        return float(brentq(self.high, least, 0.5, xtol=1e-14))

    def with_examples(self, factor: float) -> GateDifference:
        """Return the expected difference for a multiple of the number of examples."""
        *of_prompts, of_examples = self.spread.variances
        *freedoms, freedom = self.spread.freedoms
        variances = (*of_prompts, of_examples / factor)
        return GateDifference(
            self.value,
            Spread(variances, (*freedoms, freedom * factor), self.spread.overlap / factor),
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
            f"{mean}{100 * self.difference:+.1f} points, {percent(1 - 2 * self.alpha)} interval "
            f"{100 * self.low:+.1f} to {100 * self.high:+.1f}"
        )
        by_margin = f" by {_points(self.margin)} or more" if self.margin else ""
        worse = f"on {', '.join(self.worse_tasks)}" if self.worse_tasks else "than the reference"
        reasons = {
            BETTER: f"The candidate is better than the reference ({interval}).",
            NOT_WORSE: f"The candidate is not worse than the reference{by_margin} ({interval}).",
            WORSE: f"The candidate is worse {worse} ({interval}).",
            CANNOT_TELL: f"The results do not exclude that the candidate is worse{by_margin} ({interval}).",
        }
        if self.decision == CANNOT_TELL and self.high < 0:  # it is worse by its interval
            reasons[CANNOT_TELL] = (
                f"The candidate is worse ({interval}), but not after adjustment for {len(self.tasks)} tasks "
                "and their mean."
            )
        sentence = about_first(self.about) + reasons[self.decision]
        if self.decision == CANNOT_TELL and isfinite(self.needed):
            sentence += (
                f" If the true difference is {100 * self.difference:+.1f} points, the gate would decide with "
                f"a probability of {POWER:.0%} with about {ceil(self.needed):,} examples instead of "
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
    samples = [sample_of(task) for task in responses]
    differences = [GateDifference.from_sample(sample) for sample in samples]
    overall, family = differences[0], differences
    if len(samples) > 1:
        overall = _mean(samples, differences)
        family = [*differences, overall]
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
        decision=decision,
        difference=overall.value,
        low=overall.low(alpha),
        high=overall.high(alpha),
        margin=margin,
        alpha=alpha,
        about="; ".join(dict.fromkeys(filter(None, map(generalizes, responses)))),
        examples=examples,
        needed=_needed(overall, margin, alpha, len(family), examples) if decision == CANNOT_TELL else nan,
        worse_tasks=worse_tasks,
        tasks=table,
    )


def _check(responses: Sequence[Responses], margin: float, alpha: float) -> None:
    """Raise InputError if an argument of ``gate`` is not valid."""
    if not 0 <= margin <= 1:
        raise InputError(f"margin is {margin}; expected a number from 0 to 1")
    check_inside(0, 0.5, alpha=alpha)
    if not responses:
        raise InputError("candidate and reference have no task in common")
    for task in responses:
        if task.models != responses[0].models:
            raise InputError(
                f"{task.task}: models are {', '.join(task.models)}; expected "
                f"{', '.join(responses[0].models)} in this order, as on {responses[0].task}"
            )
        if not task.are_shares:
            raise InputError(f"{task.task}: scores are not from 0 to 1, as the gate expects")


def _row(
    task: Responses, difference: GateDifference, p: float, margin: float, alpha: float
) -> dict[str, object]:
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


def decide(difference: GateDifference, margin: float, alpha: float) -> str:
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


def _mean(samples: Sequence[Sample], differences: Sequence[GateDifference]) -> GateDifference:
    """Return the mean difference over tasks, each task counted alike.

    One example of several tasks moves the mean by more than one of a single task, as far as its results on
    them go together.
    """
    mean, tasks = GateDifference.from_sample(together(samples)), len(samples)
    single_parts = sum(difference.gains + difference.losses for difference in differences) / tasks**2
    if not single_parts:
        return mean
    unit = max(difference.unit for difference in differences) / tasks
    unit *= max((mean.gains + mean.losses) / single_parts, 1.0)
    return replace(mean, unit=min(unit, mean.unit))


def _needed(difference: GateDifference, margin: float, alpha: float, family: int, examples: int) -> float:
    """Return about how many examples decide with a probability of ``POWER``; nan if no number does.

    The decision *worse* is adjusted for a ``family`` of differences. The level is that of Holm's first step,
    which is the strictest.
    """

    def decides(factor: float) -> bool:
        more = difference.with_examples(factor)
        error = max(more.spread.standard_error, 1e-12)
        # both "not worse" and "worse" are decisions; they overlap only if the probability is 1
        return ndtr((more.low(alpha) + margin) / error) + ndtr(-more.high(alpha / family) / error) >= POWER

    limit = int(MOST_FACTOR * examples)
    least = least_whole(lambda number: decides(number / examples), limit, after=examples)
    return float(least) if least <= limit else nan
