"""How often the lower bound of the best prompt is too high: at most 5 % of studies are expected.

Of each kind of study, 1,000 are drawn. A cluster's examples are answered by a beta-binomial distribution with
an intra-class correlation; half of the prompts' answers to a cluster are the same. ``python -m
tests.bench.lower_bound``.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from abovechance.chance.lower_bound import lower_bounds

STUDIES, RESAMPLES = 1000, 400


def answers(
    generator: np.random.Generator, prompts: int, clusters: int, size: int, truth: float, correlation: float
) -> np.ndarray:
    """(prompts, clusters * size) whether equally good prompts are right."""

    def draw(number: int) -> np.ndarray:
        share = np.full((number, clusters), truth)
        if correlation:
            scale = (1 - correlation) / correlation
            share = generator.beta(truth * scale, (1 - truth) * scale, (number, clusters))
        return generator.random((number, clusters, size)) < share[:, :, None]

    identical = generator.random((prompts, clusters, 1)) < 0.5
    return np.where(identical, draw(1), draw(prompts)).reshape(prompts, -1)


def misses(
    prompts: int, clusters: int, size: int, truth: float, correlation: float, studies: int = STUDIES
) -> float:
    """The share of studies in which the bound of the best prompt is above its true accuracy."""
    generator, missed = np.random.default_rng(0), 0
    cluster = np.repeat(np.arange(clusters), size)
    for _ in range(studies):
        correct = answers(generator, prompts, clusters, size, truth, correlation)
        seed = int(generator.integers(2**31))
        bounds = lower_bounds(correct, np.ones(correct.shape, bool), cluster, resamples=RESAMPLES, seed=seed)
        missed += bounds[correct.mean(axis=1).argmax()] > truth
    return missed / studies


def main() -> None:
    kinds = ((1, 0.0), (4, 0.3), (10, 0.3), (10, 0.05), (3, 0.6))
    rows = {
        f"{clusters} clusters of {size}, correlation {correlation}": {
            f"{prompts} prompts, {truth}": misses(prompts, clusters, size, truth, correlation)
            for prompts in (1, 5, 50)
            for truth in (0.5, 0.8, 0.9)
        }
        for clusters in (10, 20, 40)
        for size, correlation in kinds
    }
    print(pd.DataFrame(rows).T.round(3).to_markdown())


if __name__ == "__main__":
    main()
