"""How far results are from those of independent programs, on random inputs (`make validation`)."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path

import numpy as np
from max_random_baseline import max_random_baseline, max_random_F
from scipy import stats

from abovechance import RandomBaseline
from abovechance.chance.permutation import null_distribution
from abovechance.compare import compare, exchanged
from abovechance.compare.two_models import mcnemar
from abovechance.metrics import metric
from abovechance.variance.measures import rank_correlation
from tests import test_calculator as calculator
from tests.chance.test_null_distribution import brute_force, small_case
from tests.exact import Exact

Cases = Iterator[tuple[float, float]]  # the result here, and the independent one
CHANCES = (0.5, 1 / 3, 0.2, 0.01, 0.9)


def baselines(examples: int) -> Callable[[int], Cases]:
    """Return the cases of probabilities, tails and maxima of the best guesser."""

    def cases(_: int) -> Cases:
        for chance in CHANCES:
            exact, baseline = Exact(examples, chance), RandomBaseline.from_chance(chance, examples)
            places = [k for k in range(0, examples + 1, max(1, examples // 40)) if exact.pmf[k] > 1e-290]
            for k in places:
                yield baseline.pmf(k), float(exact.pmf[k])
                for prompts in (1, 200, 10**9):
                    yield baseline.tail(k, prompts), float(exact.tail(k, prompts))
            for prompts in (200, 10**9):
                yield baseline.maximum(prompts), float(exact.maximum(prompts))

    return cases


def package(number: int) -> Cases:
    """Maxima and p-values of examples with two numbers of choices."""
    generator = np.random.default_rng(0)
    for _ in range(number):
        few, many = (int(count) for count in generator.integers(1, 100, 2))
        prompts, examples = int(10 ** generator.uniform(0, 3)), few + many
        chances = [1 / 2] * few + [1 / 5] * many
        baseline = RandomBaseline.from_counts({1 / 2: few, 1 / 5: many})
        yield baseline.maximum(prompts), float(max_random_baseline(examples, chances, prompts))
        correct = int(generator.integers(1, examples + 1))
        yield (
            baseline.tail(correct, prompts),
            1 - float(max_random_F(correct - 1, examples, chances, prompts)),
        )


def correlations(number: int) -> Cases:
    """Correlations, with ties."""
    theirs = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}
    generator = np.random.default_rng(0)
    for _ in range(number):
        gold, predicted = generator.integers(0, 10, (2, int(generator.integers(5, 100)))).astype(float)
        for name, function in theirs.items():
            yield metric(name).value(predicted, gold), float(function(predicted, gold).statistic)


def permutations(number: int) -> Cases:
    """Expected best and p-values of three candidates on six examples, for metrics of each kind."""
    for seed in range(number):
        for name in ("accuracy", "f1_macro", "kappa", "spearman", "kendall", "token_f1", "ndcg@2"):
            rows, gold = small_case(name, 3, 6, seed)
            result = null_distribution(name, rows, gold, strata=[0] * 6)
            _, best, p = brute_force(name, rows, gold)
            yield result.expected_best, best
            yield result.p, p


def exact_tests(number: int) -> Cases:
    """McNemar's exact test, and the exact permutation test of ten pairs of scores."""
    generator, signs = np.random.default_rng(0), np.array([*product((1, -1), repeat=10)])
    for _ in range(number):
        first, second = generator.integers(0, 2, (2, int(generator.integers(2, 100))))
        better, worse = int((first > second).sum()), int((first < second).sum())
        yield (
            mcnemar(first, second),
            stats.binomtest(better, better + worse).pvalue if better + worse else 1.0,
        )
        scores = generator.integers(-3, 4, 10)
        yield exchanged(scores / 3), float((np.abs(signs @ scores) >= abs(scores.sum())).mean())


def score_intervals(number: int) -> Cases:
    """The ends of Tango's interval: there, the best fit with this difference has a score of 1.96."""
    generator, bound = np.random.default_rng(0), stats.norm.isf(0.025)
    for _ in range(number):
        first, second = generator.integers(0, 2, (2, int(generator.integers(10, 200))))
        interval = compare(first, second).difference
        better, worse, examples = int((first > second).sum()), int((first < second).sum()), len(first)
        for delta in (interval.low, interval.high):
            alone = _most_likely(better, worse, examples, delta)
            variance = examples * (2 * alone + delta - delta**2)
            yield abs(better - worse - examples * delta) / np.sqrt(variance), bound


def _most_likely(better: int, worse: int, examples: int, delta: float) -> float:
    """Maximize the likelihood of the probability that only the second model is correct, in small steps."""
    low, high = max(0.0, -delta), (1 - delta) / 2
    for _ in range(12):
        shares = np.linspace(low, high, 201)[1:-1]
        with np.errstate(divide="ignore", invalid="ignore"):
            values = better * np.log(shares + delta) + worse * np.log(shares)
            values += (examples - better - worse) * np.log(1 - 2 * shares - delta)
        place, step = int(np.nanargmax(values)), (high - low) / 200
        low, high = shares[place] - step, shares[place] + step
    return float(shares[place])


def monotonicity(number: int) -> Cases:
    """Kendall's tau of scores and checkpoints."""
    generator = np.random.default_rng(0)
    for _ in range(number):
        scores = generator.normal(size=int(generator.integers(3, 60))).round(1)
        yield (
            rank_correlation(scores[None]),
            float(stats.kendalltau(scores, np.arange(len(scores))).statistic),
        )


def javascript(number: int) -> Cases:
    """Both baselines and both tails of the calculator in the documentation."""
    inputs = calculator.random_inputs(number)
    with tempfile.TemporaryDirectory() as folder:
        rows = calculator.by_node(inputs, Path(folder))
    for case, row in zip(inputs, rows, strict=True):
        yield from zip(calculator.by_library(case)[:4], row[:4], strict=True)


# quantity, the independent program, cases, their number (0: all), and whether differences are relative
COMPARISONS: list[tuple[str, str, Callable[[int], Cases], int, bool]] = [
    *(
        (f"best of up to 10⁹ guessers, {size:,} examples", "mpmath, 50 digits", baselines(size), 0, True)
        for size in (200, 10_000, 100_000)
    ),
    ("best guesser, two numbers of choices", "PyPI package max-random-baseline", package, 100, False),
    ("Pearson's, Spearman's and Kendall's correlation", "SciPy", correlations, 500, False),
    ("null distribution of seven metrics", "enumeration of all permutations", permutations, 5, False),
    ("McNemar's test; permutation test of pairs", "SciPy; enumeration", exact_tests, 100, False),
    ("ends of Tango's interval: their score", "maximum likelihood by search", score_intervals, 200, False),
    ("monotonicity over checkpoints", "SciPy", monotonicity, 500, False),
]
if shutil.which("node"):
    COMPARISONS.append(("baselines and tails of the calculator", "this library", javascript, 2000, True))


def differences(_: int) -> Iterator[dict[str, object]]:
    """Return a row for each quantity with the largest difference."""
    for quantity, program, cases, number, is_relative in COMPARISONS:
        ours, theirs = np.array([*cases(number)], dtype=float).T
        away = np.abs(ours - theirs)
        is_equal = (ours == theirs) | (np.isnan(ours) & np.isnan(theirs))
        away = np.where(is_equal, 0.0, away / np.abs(theirs) if is_relative else away)
        yield {
            "quantity": quantity,
            "compared with": program,
            "values": len(ours),
            "largest difference": f"{away.max():.0e}" + (" (relative)" if is_relative else ""),
        }
