"""How long the null distribution of a metric takes, with 10,000 permutations: page rows."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from abovechance.chance import null_distribution

CASES = [(name, 200, 200, labels) for name in ("accuracy", "f1_macro", "kappa") for labels in (4, 20)]
CASES += [("f1_macro", 1, 500, 10), ("exact_match", 10, 2000, 2000), ("token_f1", 10, 500, 500)]


def seconds(name: str, candidates: int, examples: int, labels: int) -> float:
    """Return the time for random predictions."""
    generator = np.random.default_rng(0)
    names = np.array([f"answer {label}" for label in range(labels)])
    gold = names[generator.integers(labels, size=examples)].tolist()
    rows = [names[generator.integers(labels, size=examples)].tolist() for _ in range(candidates)]
    begin = time.perf_counter()
    null_distribution(name, rows, gold, strata=[0] * examples)
    return time.perf_counter() - begin


def times(_: int = 0) -> Iterator[dict[str, object]]:
    """Yield the page's rows."""
    for case in CASES:
        columns = ["metric", "candidates", "examples", "labels"]
        yield {**dict(zip(columns, case, strict=True)), "seconds": f"{seconds(*case):.2f}"}
