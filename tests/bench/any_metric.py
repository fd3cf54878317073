"""How long the null distribution of a metric takes: 200 prompts, 200 examples and 10,000 permutations."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd

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


def main() -> None:
    columns = ["metric", "candidates", "examples", "labels"]
    table = pd.DataFrame(CASES, columns=columns)
    table["seconds"] = [round(seconds(*case), 2) for case in CASES]
    print(table.to_markdown(index=False))


if __name__ == "__main__":
    main()
