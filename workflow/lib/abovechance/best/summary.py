"""The best of several candidates: observed, expected by luck, and debiased.

The command line and the workflow call ``judge_best``, so a study's report and ``abovechance best`` agree.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.special import chdtr

from abovechance.best.candidates import Candidates
from abovechance.best.debiased import Debiased, Noise, binomial_interval, debiased_difference, debiased_score
from abovechance.best.reported import BestByLuck, answer_correlation, expected_best, true_scores
from abovechance.best.selection import DRAWS, above_start, selection_null, start_draws
from abovechance.chance.rounding import decimals
from abovechance.core.arrays import Floats, Ints, check_same_order, floats
from abovechance.core.columns import Column, optional
from abovechance.core.errors import InputError, check_inside
from abovechance.core.estimates import ALPHA, CONFIDENCE
from abovechance.core.html import as_html
from abovechance.core.p_values import probability
from abovechance.core.untrusted import printable
from abovechance.core.words import counted, percent

NEARLY_ALL = 0.9  # of the examples: so many are enough to be chosen
CANDIDATES = {
    "candidate": Column.text("name of the candidate"),
    "examples": Column.whole("number of examples that the candidate is evaluated on"),
    "score": Column.share("mean score over these examples"),
    "p": Column.tail(
        "adjusted p-value: is the candidate better than expected if all candidates are equally good?"
    ),
    **optional(
        {
            "difference": Column.number(
                "mean score minus the mean score of the start, on the examples that both are evaluated on"
            ),
            "p_start": Column.tail("adjusted p-value: is the candidate better than the start?"),
        }
    ),
}


@dataclass(frozen=True)
class Best:
    """The score of the chosen candidate: observed, expected by luck, and corrected for the choice.

    Attributes
    ----------
    chosen
        Its name.
    examples
        Number of examples that it is evaluated on.
    mean
        Mean score of all candidates, on the examples of the chosen one.
    observed
        Score of the chosen candidate.
    expected_by_luck, luck_low, luck_high
        Expected score of the best candidate if all are equally good, and the 2.5 % and 97.5 % quantiles.
    p
        P-value of the hypothesis that no candidate is better than another.
    debiased, low, high
        The estimate of the chosen candidate's true score, with its interval. Both are corrected for the
        choice. Missing (nan) with fewer than five clusters of examples, by their effective
        number.
    confidence
        Confidence level of the interval.
    candidates
        One row per candidate, the best first: the columns of ``CANDIDATES``.
    assumption
        Facts about the data that readers need; empty if all candidates have a score on every example.
    start
        Name of the candidate that the search started with, if there is one.
    difference
        The estimate of the true score of the chosen candidate minus that of the start.
    p_start
        P-value of the hypothesis that no candidate is better than the start.
    not_eligible
        Name of the best candidate that scores higher, but has too few examples to be chosen, if there is one.
    draws, draws_start
        Number of random draws of the tests that ``p`` and ``p_start`` are from; 0 if all are exact.
    """

    chosen: str
    examples: int
    mean: float
    observed: float
    expected_by_luck: float
    luck_low: float
    luck_high: float
    p: float
    debiased: float
    low: float
    high: float
    confidence: float
    candidates: pd.DataFrame = field(repr=False)
    assumption: str = ""
    start: str | None = None
    difference: Debiased | None = None
    p_start: float = np.nan
    not_eligible: str | None = None
    draws: int = 0
    draws_start: int = 0

    @property
    def explained(self) -> float:
        """The share of the lead over the mean score that luck explains, in [0, 1]; nan without a lead."""
        lead = self.observed - self.mean
        return min(1.0, max(0.0, (self.expected_by_luck - self.mean) / lead)) if lead > 1e-12 else np.nan

    @property
    def sentences(self) -> list[str]:
        """Return the conclusions: observed, expected by luck, debiased, and compared with the start."""
        number = len(self.candidates)
        sentences = [
            f"The best of {number} candidates, '{printable(self.chosen)}', scores {self.observed:.1%} on "
            f"{counted(self.examples, 'example')}."
        ]
        share = ""
        if self.p <= ALPHA:
            verdict = f"The candidates are not all equally good (p = {probability(self.p)})."
        elif self.not_eligible:
            verdict = f"The chosen one does not stand out from the others (p = {probability(self.p)})."
        else:
            verdict = f"The candidates may all be equally good (p = {probability(self.p)})."
            if isfinite(self.explained):
                share = f" So luck alone explains {self.explained:.0%} of its lead over the mean."
        sentences.append(
            f"If all {number} candidates were equally good (mean {self.mean:.1%}), the best one would be "
            f"expected to score {self.expected_by_luck:.1%}.{share} {verdict}"
        )
        if _is_smallest(self.p, self.draws):
            sentences.append(f"No p-value from {self.draws:,} random exchanges can be smaller.")
        interval = f"{percent(self.confidence)} interval {self.low:.1%} to {self.high:.1%}"
        if isfinite(self.debiased):
            sentences.append(f"Corrected for the choice, its score is {self.debiased:.1%} ({interval}).")
        else:
            sentences.append(
                "There are too few examples, or clusters of examples, to estimate its true score."
            )
        if self.assumption:
            sentences.append(self.assumption)
        return sentences + self._compared_with_start

    @property
    def _compared_with_start(self) -> list[str]:
        """Return how the chosen candidate compares with the start, if there is one."""
        if self.start is None:
            return []
        if self.start == self.chosen:
            return ["It is the candidate that the search started with."]
        start = printable(self.start)
        if self.difference is not None and isfinite(self.difference.value):
            change = self.difference
            answer = (
                "better than the start" if self.p_start <= ALPHA else "not shown to be better than the start"
            )
            sentences = [
                f"It is {answer}, '{start}' (p = {probability(self.p_start)}): the difference is "
                f"{100 * change.observed:+.1f} points as observed, and {100 * change.value:+.1f} corrected "
                f"for the choice ({percent(change.confidence)} interval {100 * change.low:+.1f} to "
                f"{100 * change.high:+.1f})."
            ]
            if _is_smallest(self.p_start, self.draws_start):
                sentences.append(f"No p-value from {self.draws_start:,} random draws can be smaller.")
            if self.p_start <= ALPHA and change.low <= 0:
                sentences.append(
                    "The p-value is one-sided. The interval is two-sided and contains 0, so the evidence is "
                    "weak."
                )
            return sentences
        if isfinite(self.p_start):
            of_chosen = self.candidates.set_index("candidate").loc[self.chosen]
            return [
                f"The difference from the start, '{start}', is {100 * of_chosen['difference']:+.1f} points "
                f"as observed (p = {probability(self.p_start)}); there are too few examples, or clusters of "
                "examples, to correct it for the choice."
            ]
        return [f"It cannot be compared with the start, '{start}'."]

    def _repr_html_(self) -> str:
        rows: dict[str, object] = {
            "chosen": self.chosen,
            "observed": self.observed,
            "expected by luck": self.expected_by_luck,
            "p-value": self.p,
            "debiased": self.debiased,
            f"{percent(self.confidence)} interval": f"{self.low:.3f} to {self.high:.3f}",
        }
        return as_html(rows)


def _is_smallest(p: float, draws: int) -> bool:
    """Return whether a p-value is the smallest that so many random draws can give."""
    return draws > 0 and p * (draws + 1) < 1 + 1e-6


def judge_best(
    candidates: Candidates,
    start: int | None = None,
    confidence: float = CONFIDENCE,
    draws: int = DRAWS,
    seed: int = 0,
) -> Best:
    """Judge the best of several candidates from their scores on each example.

    Parameters
    ----------
    start
        The place of the candidate that the search started with, if there is one.
    confidence
        Confidence level of the intervals.
    draws, seed
        See ``selection_null``.

    Raises
    ------
    InputError
        If a value is outside its range, or no two candidates are evaluated on the same example.
    """
    check_inside(0, 1, confidence=confidence)
    if start is not None and not 0 <= start < len(candidates.names):
        raise InputError(f"start is {start}; expected the place of one of {len(candidates.names)} candidates")
    if candidates.evaluated.sum(axis=0).max() < 2:
        raise InputError(
            "no two candidates are evaluated on the same example, so they cannot be compared; expected "
            "common examples"
        )
    null = selection_null(candidates, draws, seed)
    estimate = debiased_score(candidates, confidence, seed=seed)
    table = pd.DataFrame(
        {
            "candidate": candidates.names,
            "examples": candidates.examples,
            "score": candidates.means,
            "p": null.adjusted,
        }
    )
    chosen = candidates.chosen
    order = np.argsort(-candidates.compared, kind="stable")
    with_start: dict[str, Any] = {}
    if start is not None:
        table["difference"], table["p_start"], with_start = _against_start(
            candidates, start, confidence, draws, seed
        )
    assumption = (
        "Candidates were evaluated on different examples. The best one stands out most among candidates "
        "with the same examples, so another candidate can have a higher score."
    )
    return Best(
        chosen=candidates.names[chosen],
        examples=int(candidates.examples[chosen]),
        mean=float(candidates.null_means[chosen]),
        observed=estimate.observed,
        expected_by_luck=null.expected,
        luck_low=null.low,
        luck_high=null.high,
        p=null.p,
        debiased=estimate.value,
        low=estimate.low,
        high=estimate.high,
        confidence=confidence,
        candidates=table.iloc[order].reset_index(drop=True),
        assumption="" if candidates.comparable else assumption,
        draws=null.draws,
        **with_start,
    )


def _against_start(
    candidates: Candidates, start: int, confidence: float, draws: int, seed: int
) -> tuple[Floats, Floats, dict[str, Any]]:
    """Compare candidates with the start.

    Returns
    -------
    tuple
        The columns ``difference`` and ``p_start`` of ``CANDIDATES``, and the attributes of ``Best`` that are
        about the start.
    """
    p_values = above_start(candidates, start, draws, seed)
    deviations = candidates.scores - candidates.scores[start]
    counts = (~np.isnan(deviations)).sum(axis=1)
    sums = np.nansum(deviations, axis=1)
    differences = np.divide(sums, counts, out=np.full(len(sums), np.nan), where=counts > 0)
    compared = (np.arange(len(counts)) != start) & (counts > 0)
    chosen = candidates.chosen
    p_start = float(p_values[chosen]) if counts[chosen] else np.nan
    numbers = start_draws(candidates, start, draws)
    fields = {
        "start": candidates.names[start],
        "difference": debiased_difference(candidates, start, confidence, seed=seed),
        "p_start": p_start,
        "draws_start": next(
            (number for number in numbers if _is_smallest(p_start, number)), max(numbers, default=0)
        ),
    }
    return differences, np.where(compared, p_values, np.nan), fields


def judge_reported(
    scores: ArrayLike,
    examples: ArrayLike,
    names: list[str] | None = None,
    correlation: float = 0.0,
    confidence: float = CONFIDENCE,
) -> Best:
    """Judge the best of several candidates of which only scores are known.

    Answers are taken as right or wrong. The debiased score is the expected true score of the chosen
    candidate, given the most likely distribution of the candidates' true scores (``true_scores``). If scores
    vary significantly less than by luck, candidates are more alike than assumed.

    Parameters
    ----------
    scores
        (candidates,) scores in [0, 1].
    examples
        (candidates,) or a single number: the number of examples of each candidate.
    correlation
        The assumed latent correlation of two candidates on an example; see ``expected_best``.

    Raises
    ------
    InputError
        If there are fewer than two candidates, or a value is outside its range.
    """
    check_same_order(scores, examples)
    values, sizes, labels = _checked(scores, examples, names)
    # candidates on part of the examples are tried, but not chosen
    partial = sizes < NEARLY_ALL * sizes.max()
    chosen = int(np.where(partial, -1.0, values).argmax())
    largest = int(sizes[chosen])
    mean, observed = float(values @ sizes / sizes.sum()), float(values[chosen])
    correct = _correct(values, sizes)
    answered = mean if correct is None else float(correct.sum() / sizes.sum())
    luck = expected_best(answered, largest, len(values), correlation, observed, estimated=True)
    of_answers = answer_correlation(correlation, mean)
    noise = Noise(np.array([mean * (1 - mean)]), of_answers, largest)
    low, high = binomial_interval(observed, largest, *noise.tails(len(values), confidence, True))
    debiased = float(np.clip(true_scores(values, sizes, of_answers)[chosen], low, high))
    vary_less = _vary_less(values, noise.variance * (1 - of_answers) * float((1 / sizes).mean()))
    table = pd.DataFrame({"candidate": labels, "examples": sizes, "score": values})
    order = np.lexsort((-values, partial))
    independent = None
    if correlation:
        independent = expected_best(answered, largest, len(values), 0.0, observed, estimated=True)
    best_partial = int(np.where(partial, values, -1.0).argmax())
    is_higher = bool(partial.any() and values[best_partial] > observed)
    sentences = [_assumption(correlation, independent, vary_less)]
    if partial.any():
        sentences.append(
            f"Candidates with less than {NEARLY_ALL:.0%} of the examples are not chosen, but count as tried "
            "on as many as the chosen one, so luck is overestimated."
        )
    if is_higher:
        sentences.append(
            f"One of these, '{printable(labels[best_partial])}', scores higher: {values[best_partial]:.1%} "
            f"on {sizes[best_partial]} examples."
        )
    return Best(
        chosen=labels[chosen],
        examples=largest,
        mean=mean,
        observed=observed,
        expected_by_luck=luck.expected,
        luck_low=luck.low,
        luck_high=luck.high,
        p=luck.p,
        debiased=debiased,
        low=low,
        high=high,
        confidence=confidence,
        candidates=table.iloc[order].reset_index(drop=True),
        assumption=" ".join(sentences),
        not_eligible=labels[best_partial] if is_higher else None,
    )


def _checked(
    scores: ArrayLike, examples: ArrayLike, names: list[str] | None
) -> tuple[Floats, Ints, list[str]]:
    """Return the arguments of ``judge_reported`` with a value per candidate; InputError if one is invalid."""
    values = floats(scores)
    if values.ndim != 1:
        raise InputError(f"scores have the shape {values.shape}; expected one score per candidate")
    if len(values) < 2:
        raise InputError(f"there is a score of {counted(len(values), 'candidate')}; expected at least two")
    labels = list(map(str, range(len(values)) if names is None else names))
    if len(labels) != len(values) or len({*labels}) < len(labels):
        raise InputError(f"{len(labels)} names for {len(values)} candidates; expected a name for each")
    numbers = floats(examples)
    is_whole = (np.abs(numbers) < 2**53) & (numbers % 1 == 0)
    if numbers.shape not in ((), values.shape) or not is_whole.all():
        raise InputError(f"examples are {examples!r}; expected a whole number, or one for each candidate")
    sizes = np.broadcast_to(numbers.astype(np.int64), values.shape)
    if not ((values >= 0) & (values <= 1)).all() or (sizes < 1).any():
        raise InputError("expected scores from 0 to 1, each of at least one example")
    return values, sizes, labels


def _correct(scores: Floats, examples: Ints) -> Floats | None:
    """(candidates,) numbers of correct answers that round to these scores; None if a score has none."""
    nearest = np.floor(scores * examples + 0.5)
    # zeros at the end are not known
    digits = max(2, *(decimals(float(score)) for score in scores))
    is_rounded = np.abs(nearest / examples - scores) <= 0.5 * 10.0**-digits + 1e-12
    return nearest if is_rounded.all() else None


def _vary_less(scores: Floats, by_luck: float) -> bool:
    """Return whether the variance of scores is significantly smaller than that by luck (chi-squared test)."""
    variance, freedom = float(scores.var(ddof=1)), len(scores) - 1
    return by_luck > 0 and bool(chdtr(freedom, freedom * variance / by_luck) <= ALPHA)


def _assumption(correlation: float, independent: BestByLuck | None, vary_less: bool) -> str:
    """Return what ``judge_reported`` assumes about the correlation of answers, in words."""
    sentences = ["The answers to each example are unknown, so a correlation of "]
    sentences[0] += f"{correlation:g} between candidates is assumed"
    sentences[0] += "." if independent else ", which gives luck the largest part."
    if independent:
        sentences.append(
            f"At a correlation of 0, the best would be expected at {independent.expected:.1%} (p = "
            f"{probability(independent.p)})."
        )
    if vary_less:
        sentences.append(
            "The scores vary significantly less than by luck, so candidates answer more alike than assumed."
        )
    return " ".join(sentences)
