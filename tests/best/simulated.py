"""Answers of simulated candidates."""

import numpy as np
from scipy.special import ndtr, ndtri


def answers(
    generator: np.random.Generator, scores: np.ndarray, examples: int, correlation: float = 0.0
) -> np.ndarray:
    """(candidates, examples) right or wrong answers; candidates find the same examples hard."""
    difficulty = np.sqrt(correlation) * generator.normal(size=examples)
    luck = np.sqrt(1 - correlation) * generator.normal(size=(len(scores), examples))
    return (difficulty + luck < ndtri(np.asarray(scores))[:, None]).astype(float)


def true_scores(kind: str, candidates: int, score: float) -> np.ndarray:
    """(candidates,) true scores: all equal, one better, different, or many worse."""
    shift = np.zeros(candidates)
    if kind == "one better":
        shift[-1] = 0.7
    elif kind == "different":
        shift = np.linspace(-0.4, 0.4, candidates)
    elif kind == "many worse":
        shift[: candidates // 2] = -0.8
    return ndtr(ndtri(score) + shift)
