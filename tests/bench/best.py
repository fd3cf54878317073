"""How well the score of the best candidate is estimated, by five methods, and how often searches are wrong.

`make validation` runs it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.stats import norm

from abovechance.best.candidates import Candidates
from abovechance.best.debiased import Noise, debiased_score, largest_normal
from abovechance.best.gate import Gate
from abovechance.best.summary import judge_reported
from tests.best.simulated import answers, true_scores

TAIL = 0.025
KINDS = ("equal", "one better", "different", "many worse")
CASES = [
    (examples, candidates, score, correlation)
    for examples in (10, 50, 500)
    for candidates in (2, 20, 200)
    for score, correlation in ((0.05, 0.0), (0.4, 0.0), (0.8, 0.5))
]
Estimate = tuple[float, float, float]


# true scores of searches of which only scores are known
REPORTED = {
    "20 of 50 %": [0.5] * 20,
    "20 of 60 %, 1 of 10 %": [0.6] * 20 + [0.1],
    "10 of 70 %, 10 of 40 %": [0.7] * 10 + [0.4] * 10,
    "15 from 30 % to 70 %": np.linspace(0.3, 0.7, 15).tolist(),
    "1 of 80 %, 20 of 50 %": [0.8] + [0.5] * 20,
}


def reported(searches: int) -> Iterator[dict[str, object]]:
    """How far the observed and the corrected score are from the true one, if only scores are known."""
    for name, truth in REPORTED.items():
        generator, errors = np.random.default_rng(0), []
        for _ in range(searches):
            scores = generator.binomial(50, truth) / 50
            result = judge_reported(scores, 50)
            chosen = truth[int(scores.argmax())]
            errors.append((result.observed - chosen, result.debiased - chosen))
        observed, corrected = (f"{100 * error:+.1f}" for error in np.mean(errors, axis=0))
        yield {"true scores": name, "observed score": observed, "corrected score": corrected}


def standard_error(candidates: Candidates) -> tuple[float, Noise]:
    """Return the standard error of a score, pooled over candidates."""
    noise = Noise.from_scores(candidates.scores, candidates.clusters)
    return np.sqrt(max(noise.variance, 1e-9) / candidates.scores.shape[1]), noise


def as_observed(candidates: Candidates, _: np.random.Generator) -> Estimate:
    error, score = standard_error(candidates)[0], candidates.means[candidates.chosen]
    return score, score - norm.isf(TAIL) * error, score + norm.isf(TAIL) * error


def bootstrap(candidates: Candidates, generator: np.random.Generator) -> Estimate:
    """Subtract how far above its score the best of a resample is."""
    examples = candidates.scores.shape[1]
    times = generator.multinomial(examples, np.full(examples, 1 / examples), 300)
    means = times @ candidates.scores.T / examples
    best = means.argmax(axis=1)
    errors = means[np.arange(len(means)), best] - candidates.means[best]
    score = candidates.means[candidates.chosen]
    low, high = np.quantile(errors, [TAIL, 1 - TAIL])
    return score - errors.mean(), score - high, score - low


def conditional(candidates: Candidates, _: np.random.Generator) -> Estimate:
    """Andrews, Kitagawa and McCloskey (2024): the hybrid interval, given that the candidate is the best."""
    error, noise = standard_error(candidates)
    score = float(candidates.means[candidates.chosen])
    lower_means = np.delete(candidates.means, candidates.chosen)
    lowest = ((lower_means - noise.correlation * score) / (1 - noise.correlation)).max()
    beta = TAIL / 5
    reach = largest_normal(len(candidates.names), noise.correlation, beta / 2) * error

    def true_score(quantile: float) -> float:
        def excess(truth: float) -> float:
            top = norm.sf(reach / error)
            mass = norm.sf((lowest - truth) / error) - top
            below = norm.sf((lowest - truth) / error) - norm.sf((score - truth) / error)
            return (below / mass if mass > 0 else 1.0) - quantile

        try:
            return float(brentq(excess, score - reach + 1e-9, score + 10 * error))
        except ValueError:
            return score - reach

    tail = (2 * TAIL - beta) / (1 - beta) / 2
    return true_score(0.5), true_score(1 - tail), true_score(tail)


def both_sides(candidates: Candidates, _: np.random.Generator) -> Estimate:
    """Return simultaneous bands of all candidates."""
    error, noise = standard_error(candidates)
    score = candidates.means[candidates.chosen]
    reach = largest_normal(len(candidates.names), noise.correlation, TAIL) * error
    return score, score - reach, score + reach


def ours(candidates: Candidates, _: np.random.Generator) -> Estimate:
    estimate = debiased_score(candidates, splits=40)
    return estimate.value, estimate.low, estimate.high


METHODS: dict[str, Callable[[Candidates, np.random.Generator], Estimate]] = {
    "the observed score ± 1.96 standard errors": as_observed,
    "bootstrap bias correction": bootstrap,
    "conditional on the choice (Andrews, Kitagawa and McCloskey, hybrid)": conditional,
    "simultaneous bands": both_sides,
    "**`abovechance best`**": ours,
}


def errors(
    kind: str, examples: int, candidates: int, score: float, correlation: float, searches: int
) -> pd.DataFrame:
    """Return bias, root mean square error, coverage and width of each method: one row per method."""
    generator = np.random.default_rng([KINDS.index(kind), examples, candidates])
    truth = true_scores(kind, candidates, score)
    rows = []
    for _ in range(searches):
        # the better candidate may be any
        order = generator.permutation(candidates)
        search = Candidates.from_scores(answers(generator, truth[order], examples, correlation))
        value = truth[order][search.chosen]
        for name, method in METHODS.items():
            estimate, low, high = method(search, generator)
            covered = low - 1e-12 <= value <= high + 1e-12
            rows.append((name, estimate - value, (estimate - value) ** 2, covered, high - low))
    table = pd.DataFrame(rows, columns=["method", "bias", "square", "coverage", "width"])
    return table.groupby("method", sort=False).mean()


def methods(searches: int) -> Iterator[dict[str, object]]:
    """Bias, error, coverage and width by the number of examples and the kind of search."""
    tables = [
        errors(kind, *case, searches)
        .reset_index()
        .assign(examples=case[0], candidates="equal" if kind == "equal" else "unequal")
        for kind in KINDS
        for case in CASES
    ]
    table = pd.concat(tables).sort_values(["candidates", "examples"], kind="stable")
    for (candidates, examples, method), rows in table.groupby(
        ["candidates", "examples", "method"], sort=False
    ):
        bias = rows["bias"].to_numpy()
        yield {
            "examples": examples,
            "candidates": candidates,
            "method": method,
            "largest bias": f"{bias[np.abs(bias).argmax()]:+.3f}",
            "error": float(np.sqrt(rows["square"].mean())),
            "smallest coverage": rows["coverage"].min(),
            "mean width": rows["width"].mean(),
        }


def false_replacements(runs: int, planned: int | None, correlation: float) -> tuple[float, float]:
    """Return how often the gate, and how often greedy acceptance, replaces the start among equals."""
    generator, wrong = np.random.default_rng(0), np.zeros(2)
    for _ in range(runs):
        rows = answers(generator, np.full(31, 0.6), 40, correlation)
        gate = Gate("0", dict(enumerate(rows[0])), planned=planned)  # type: ignore[arg-type]
        for number, row in enumerate(rows[1:], start=1):
            if gate.consider(str(number), dict(enumerate(row))).replaces:
                break
        wrong += gate.incumbent != "0", (rows[1:].sum(axis=1) > rows[0].sum()).any()
    return wrong[0] / runs, wrong[1] / runs


def gate(runs: int) -> Iterator[dict[str, object]]:
    """How often the start is replaced, although all candidates are equally good."""
    for planned in (30, None):
        for correlation in (0.0, 0.7):
            replaced, greedy = false_replacements(runs, planned, correlation)
            yield {
                "correlation": f"{correlation:g}",
                "planned candidates": planned or "any number",
                "gate": replaced,
                "greedy acceptance": greedy,
            }
