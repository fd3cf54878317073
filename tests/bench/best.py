"""How well the score of the best candidate is estimated, by five methods, and how often searches are wrong.

Each kind of search is simulated ``REPEATS`` times. ``python -m tests.bench.best`` prints the tables of
docs/validation.md.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.stats import norm

from abovechance.best.candidates import Candidates
from abovechance.best.debiased import Noise, debiased_score, largest_normal
from abovechance.best.gate import Gate
from tests.best.simulated import answers, true_scores

REPEATS = 300
TAIL = 0.025
KINDS = ("equal", "one better", "different", "many worse")
CASES = [
    (examples, candidates, score, correlation)
    for examples in (10, 50, 500)
    for candidates in (2, 20, 200)
    for score, correlation in ((0.05, 0.0), (0.4, 0.0), (0.8, 0.5))
]
Estimate = tuple[float, float, float]


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
    "as observed": as_observed,
    "bootstrap": bootstrap,
    "conditional": conditional,
    "simultaneous": both_sides,
    "abovechance": ours,
}


def errors(kind: str, examples: int, candidates: int, score: float, correlation: float) -> pd.DataFrame:
    """Return bias, root mean square error, coverage and width of each method: one row per method."""
    generator = np.random.default_rng([KINDS.index(kind), examples, candidates])
    truth = true_scores(kind, candidates, score)
    rows = []
    for _ in range(REPEATS):
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


def of_methods() -> pd.DataFrame:
    """Return for each method and number of examples: bias, error, smallest coverage, and width."""
    parts = []
    for kind in KINDS:
        for case in CASES:
            table = errors(kind, *case).reset_index()
            parts.append(table.assign(examples=case[0], kind="equal" if kind == "equal" else "unequal"))
            print(kind, *case, file=sys.stderr, flush=True)
    table = pd.concat(parts)
    groups = table.groupby(["examples", "kind", "method"], sort=False)
    summary = groups.agg(
        mean_bias=("bias", "mean"),
        largest_bias=("bias", lambda bias: bias.iloc[np.abs(bias).argmax()]),
        error=("square", lambda square: np.sqrt(square.mean())),
        mean_coverage=("coverage", "mean"),
        smallest_coverage=("coverage", "min"),
        width=("width", "mean"),
    )
    return summary.round(3).reset_index()


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


def main() -> None:
    print(of_methods().to_markdown(index=False))
    share = partial(false_replacements, 10_000)
    rows = [
        {"correlation": correlation, "planned": planned or "any number"}
        | dict(zip(("gate", "greedy"), share(planned, correlation), strict=True))
        for planned in (30, None)
        for correlation in (0.0, 0.7)
    ]
    print(pd.DataFrame(rows).to_markdown(index=False))


if __name__ == "__main__":
    main()
