"""Answers and scores of simulated candidates, and what a notebook shows of results."""

import re
from math import nan

import numpy as np
from scipy.special import ndtr, ndtri

from abovechance.best.candidates import Candidates


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


def some_candidates(seed, candidates=6, examples=40, kind="right or wrong", clusters=None, missing=0.0):
    """Scores of candidates; some of them continuous, missing, or in clusters."""
    generator = np.random.default_rng(seed)
    skill = generator.uniform(0.4, 0.8, candidates)[:, None]
    difficulty = generator.normal(0, 0.2, examples)
    scores = (generator.random((candidates, examples)) < skill + difficulty).astype(float)
    if kind == "shares":
        scores = np.clip(skill + difficulty + generator.normal(0, 0.2, scores.shape), 0, 1)
    scores[generator.random(scores.shape) < missing] = nan
    groups = None if clusters is None else np.arange(examples) % clusters
    return Candidates.from_scores(scores, [f"c{number}" for number in range(candidates)], groups)


def notebook_rows(result):
    """Return the rows of what a notebook shows."""
    cells = re.findall(r"<t([hd]) [^>]*>(.*?)</t", result._repr_html_())
    names, values = ([text for kind, text in cells if kind == side] for side in "hd")
    return dict(zip(names, values, strict=True))
