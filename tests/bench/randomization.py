"""How often the randomization test rejects: under the null at the stated rate, else more than others do."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from abovechance import Answers, RandomBaseline, randomization_test

Draw = Callable[[np.random.Generator], tuple[np.ndarray, np.ndarray]]


def unskilled(shared: bool) -> Draw:
    """Prompts that lean to one label and to each other; 70 % of shared gold answers are it too."""

    def draw(generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        gold = (generator.random(60) < 0.3).astype(int) if shared else generator.integers(0, 2, 60)
        common = (generator.random(60) < 0.3).astype(int)
        alike = generator.random((20, 60)) < 0.8
        return np.where(alike, common, generator.integers(0, 2, (20, 60))), gold

    return draw


def skilled(alike: float) -> Draw:
    """40 prompts of one skill (68 % right) that give the same answer in this share of cases."""

    def draw(generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        gold = generator.integers(0, 2, 60)
        common = np.where(generator.random(60) < 0.36, gold, generator.integers(0, 2, 60))
        own = np.where(generator.random((40, 60)) < 0.36, gold, generator.integers(0, 2, (40, 60)))
        return np.where(generator.random((40, 60)) < alike, common, own), gold

    return draw


def rejections(
    draw: Draw, shared: bool, statistic: str = "accuracy", studies: int = 2000
) -> dict[str, float]:
    """The share of studies in which each test rejects at 0.05, and the first at 0.2 too."""
    generator, baseline = np.random.default_rng(0), RandomBaseline.of(0.5, 60)
    p_values, tails, bonferroni = [], [], []
    for _ in range(studies):
        predicted, gold = draw(generator)
        ones = np.ones((60, 2), dtype=bool)
        answers = Answers(
            predicted, np.ones(predicted.shape, bool), gold[:, None] == np.arange(2), ones, shared
        )
        p_values.append(randomization_test(answers, generator.integers(2**31), 299, statistic).p_value)
        best = int((predicted == gold).sum(axis=1).max())
        tails.append(baseline.tail(best, len(predicted)))
        bonferroni.append(min(1.0, len(predicted) * baseline.tail(best)))
    return {
        "at 0.05": float(np.mean(np.array(p_values) <= 0.05)),
        "at 0.2": float(np.mean(np.array(p_values) <= 0.2)),
        "maximum baseline's tail, at 0.05": float(np.mean(np.array(tails) <= 0.05)),
        "Bonferroni, at 0.05": float(np.mean(np.array(bonferroni) <= 0.05)),
    }


def main() -> None:
    rows = {
        "no skill, own choices redrawn": rejections(unskilled(False), False),
        "no skill, 70 % one label, permuted": rejections(unskilled(True), True),
        "the same, macro-F1": rejections(unskilled(True), True, "macro_f1"),
        "skill, prompts independent": rejections(skilled(0.0), False),
        "skill, half of the answers alike": rejections(skilled(0.5), False),
        "skill, 95 % alike": rejections(skilled(0.95), False),
    }
    print(pd.DataFrame(rows).T.round(3).to_markdown())


if __name__ == "__main__":
    main()
