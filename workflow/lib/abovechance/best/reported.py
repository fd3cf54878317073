"""How much luck explains of a best score, if only scores and numbers of examples are known.

Without the answers to each example, nobody knows how alike candidates answer. Candidates that answer alike
are fewer than they seem, so the best of them is expected lower. ``expected_best`` takes this correlation as
given.
"""

from __future__ import annotations

from math import isfinite, sqrt
from typing import NamedTuple

import numpy as np
from scipy.optimize import nnls
from scipy.special import ndtr, ndtri, owens_t, xlog1py, xlogy
from scipy.stats import hypergeom

from abovechance.chance.random_baseline import MOST_EXAMPLES, RandomBaseline
from abovechance.core.arrays import Floats, Ints
from abovechance.core.errors import InputError

SIMULATED = 4000
LEVELS = 64  # different difficulties of examples, and as many different chances
PARTS = 16  # of a level, over which chances are averaged
MOST_CORRELATED = 10_000  # candidates of a simulation
MOST_CONDITIONAL = 1_000  # candidates that draw their answers from a known total
MOST_ANSWERS = 10**9  # of all candidates, from which numpy draws
SCORES_OF_GRID = 201  # possible true scores
MOST_ROUNDS = 100  # until their distribution is the most likely one
DRAWS, MOST_CELLS = 20_000, 4_000_000  # of these draws


class BestByLuck(NamedTuple):
    """The best score of candidates that are equally good.

    Attributes
    ----------
    expected
        Its expected value.
    low, high
        Its 2.5 % and 97.5 % quantiles.
    second
        The expected second-best score; missing (nan) with a single candidate.
    p
        Probability that it is at least the observed best score; missing (nan) if none is given.
    """

    expected: float
    low: float
    high: float
    second: float
    p: float


def expected_best(
    score: float,
    examples: int,
    candidates: int,
    correlation: float = 0.0,
    observed: float | None = None,
    seed: int = 0,
    *,
    estimated: bool = False,
) -> BestByLuck:
    """Return the best score of candidates that all have the same true score.

    Answers are right or wrong. Independent candidates with a known score are computed exactly. For correlated
    candidates, answers are simulated: an answer is right if a standard normal variable is below a threshold,
    and two candidates' variables for the same example have the given correlation.

    If the true score is estimated by the mean of the candidates, the best one is part of it, and its lead
    varies less: results are those of candidates with this mean. Independent ones then draw their right
    answers from the total without replacement, at random. For two of them, ``p`` is that of Fisher's exact
    test.

    Parameters
    ----------
    score
        The true score of all candidates, in [0, 1].
    examples
        Number of examples that each candidate is evaluated on.
    candidates
        Number of candidates.
    correlation
        The latent (tetrachoric) correlation of two candidates on an example, in [0, 1).
    observed
        The observed best score.
    seed
        Decides the simulated answers.
    estimated
        Whether ``score`` is the mean of the observed scores.

    Raises
    ------
    InputError
        If a value is outside its range.
    """
    if not (isfinite(score) and 0 <= score <= 1):
        raise InputError(f"score is {score}; expected a number from 0 to 1")
    if not (isfinite(correlation) and 0 <= correlation < 1):
        raise InputError(f"correlation is {correlation}; expected a number from 0, below 1")
    if observed is not None and not (isfinite(observed) and 0 <= observed <= 1):
        raise InputError(f"observed is {observed}; expected a number from 0 to 1")
    if examples > MOST_EXAMPLES:
        raise InputError(f"examples is {examples}; expected at most {MOST_EXAMPLES:,}")
    if not all(number >= 1 and float(number).is_integer() for number in (candidates, examples)):
        raise InputError(f"{candidates} candidates on {examples} examples; expected at least 1 of each")
    candidates, examples = int(candidates), int(examples)  # not of a few bits, as NumPy's can be
    if correlation and candidates > MOST_CORRELATED and 0 < score < 1:
        raise InputError(f"candidates is {candidates}; expected at most {MOST_CORRELATED:,} correlated ones")
    # reported scores are rounded, so the nearest number of correct answers is the observed one
    reached = None if observed is None else int(np.floor(observed * examples + 0.5))
    if correlation and candidates > 1 and 0 < score < 1:
        best, second, mean = _simulated(score, examples, candidates, correlation, seed)
        expected, expected_second = (float(count.mean()) / examples for count in (best, second))
        with_this_mean = best - mean + score * examples if estimated else best
        return BestByLuck(
            expected, *_ends(with_this_mean, examples), expected_second, _p(with_this_mean, reached)
        )
    guesser = RandomBaseline.from_chance(score, examples)
    counts = np.arange(examples + 1)
    cumulative = np.asarray(guesser.cdf(counts)) ** candidates
    low, high = (int(np.argmax(cumulative >= q)) / examples for q in (0.025, 0.975))
    p = np.nan if reached is None else float(guesser.tail(reached, candidates))
    # of more candidates, the best one's part of the mean is small
    if estimated and 1 < candidates <= MOST_CONDITIONAL and examples * candidates < MOST_ANSWERS:
        return _with_total(round(score * examples * candidates), examples, candidates, reached, seed)
    return BestByLuck(
        float(guesser.maximum(candidates)),
        low,
        high,
        guesser.second(candidates) if candidates > 1 else np.nan,
        p,
    )


def _with_total(total: int, examples: int, candidates: int, reached: int | None, seed: int) -> BestByLuck:
    """Return the best score of independent candidates with this number of correct answers."""
    generator, draws = np.random.default_rng(seed), min(DRAWS, MOST_CELLS // candidates)
    sizes = [examples] * candidates
    counts = generator.multivariate_hypergeometric(sizes, total, draws, method="marginals")
    second, best = np.partition(counts, -2)[:, -2:].T.astype(np.float64)
    p = _p(best, reached)
    if candidates == 2 and reached is not None:
        first = np.arange(max(0, total - examples), min(examples, total) + 1)
        as_good = np.maximum(first, total - first) >= reached
        p = min(float(hypergeom(2 * examples, total, examples).pmf(first[as_good]).sum()), 1.0)
    expected, expected_second = (float(count.mean()) / examples for count in (best, second))
    return BestByLuck(expected, *_ends(best, examples), expected_second, p)


def _ends(best: Floats, examples: int) -> tuple[float, float]:
    """Return the 2.5 % and 97.5 % quantiles of the best score in simulations."""
    low, high = np.quantile(best, [0.025, 0.975], method="inverted_cdf") / examples
    return max(float(low), 0.0), min(float(high), 1.0)


def _p(best: Floats, reached: int | None) -> float:
    """Return the probability of at least so many correct answers in simulations."""
    return np.nan if reached is None else float(((best >= reached - 1e-9).sum() + 1) / (len(best) + 1))


def _simulated(
    score: float, examples: int, candidates: int, correlation: float, seed: int
) -> tuple[Floats, Floats, Floats]:
    """(simulations,) the largest, the second-largest and the mean number of correct answers."""
    generator = np.random.default_rng(seed)
    shares, chances = _difficulties(score, correlation)
    best, second, mean = np.empty((3, SIMULATED))
    for number, counts in enumerate(generator.multinomial(examples, shares, SIMULATED)):
        levels = np.flatnonzero(counts)
        correct = generator.binomial(counts[levels], chances[levels], (candidates, len(levels))).sum(axis=1)
        second[number], best[number] = np.partition(correct, -2)[-2:]
        mean[number] = correct.mean()
    return best, second, mean


def _difficulties(score: float, correlation: float) -> tuple[Floats, Floats]:
    """(levels,) the share of the examples at each level of difficulty, and the mean chance of a right answer.

    Levels are narrow where there are many examples, and where chances change: of rare right answers, these
    are a small part of the examples.
    """
    steps = np.arange(1, LEVELS) / LEVELS
    changes = (ndtri(score) - sqrt(1 - correlation) * ndtri(steps)) / sqrt(correlation)
    borders = np.concatenate([[0.0], np.sort(np.concatenate([steps, ndtr(changes)])), [1.0]])
    parts = (np.arange(PARTS) + 0.5) / PARTS
    quantiles = borders[:-1, None] + np.diff(borders)[:, None] * parts
    inside = ndtr((ndtri(score) - sqrt(correlation) * ndtri(quantiles)) / sqrt(1 - correlation))
    shares, chances = np.diff(borders), inside.mean(axis=1)
    return shares / shares.sum(), np.minimum(chances * score / float(shares @ chances), 1.0)


def true_scores(scores: Floats, examples: Ints, correlation: float = 0.0) -> Floats:
    """Return the expected true score of each candidate, given the scores of all of them.

    The distribution of true scores is the most likely one (Kiefer and Wolfowitz, 1956). Given this
    distribution, the expected true score of a candidate needs no correction for the choice: it depends only
    on the candidate's own score (empirical Bayes; Efron, 2011).

    Parameters
    ----------
    scores, examples
        (candidates,) shares of right answers, and of how many examples each.
    correlation
        The correlation of two candidates' answers to an example, in [0, 1): what the candidates have in
        common does not make their scores different.
    """
    cases, place, count = np.unique([scores, examples], axis=1, return_inverse=True, return_counts=True)
    share, size = cases
    grid = np.linspace(share.min(), share.max(), SCORES_OF_GRID)
    if len(share) < SCORES_OF_GRID:  # so that scores on many examples are not rounded
        grid = np.union1d(grid, share)
    logs = xlogy(share[:, None], grid) + xlog1py(1 - share[:, None], -grid)
    logs *= size[:, None] / (1 - correlation)
    likelihood = np.exp(logs - logs.max(axis=1, keepdims=True))
    weights = most_likely(likelihood, count)
    result: Floats = ((likelihood * weights) @ grid / (likelihood @ weights))[place.ravel()]
    return result


def most_likely(likelihood: Floats, count: Ints) -> Floats:
    """Return the mixture of distributions under which the observed cases are most likely.

    Each round solves a quadratic approximation (Wang, 2007). The mixture is the most likely one if no
    distribution has a mean likelihood ratio to it above 1 (Lindsay, 1983).

    Parameters
    ----------
    likelihood
        (cases, distributions) the likelihood of a case, up to a factor for each case.
    count
        (cases,) how many there are of each.

    Returns
    -------
    Floats
        (distributions,) weights; their sum is 1.
    """
    weights = np.full(likelihood.shape[1], 1 / likelihood.shape[1])
    root, total = np.sqrt(count), 1e3 * np.sqrt(count.sum())
    for _ in range(MOST_ROUNDS):
        ratio = likelihood / (likelihood @ weights)[:, None]
        slope = count @ ratio / count.sum()
        if slope.max() < 1 + 1e-6:
            break
        # the sum of weights is 1, but for rounding
        rows = np.vstack([root[:, None] * ratio, np.full(len(weights), total)])
        target = nnls(rows, np.append(2 * root, total))[0]
        change = target / target.sum() - weights
        gain, length = ratio @ change, 1.0  # of each case, as a share of its likelihood
        with np.errstate(divide="ignore"):  # a case can become impossible
            while length > 1e-9 and count @ np.log1p(length * gain) < length / 3 * (count @ gain):
                length /= 2
        weights = weights + length * change
    return weights


def answer_correlation(correlation: float, score: float) -> float:
    """Return Pearson's correlation of the answers of two candidates with the same true score.

    Parameters
    ----------
    correlation
        Their latent correlation on an example, in [0, 1).
    score
        The true score, in [0, 1].
    """
    if not (correlation and 0 < score < 1):
        return 0.0
    # the probability that both are right (Owen, 1956)
    both_correct = score - 2 * float(owens_t(ndtri(score), sqrt((1 - correlation) / (1 + correlation))))
    return (both_correct - score**2) / (score * (1 - score))
