"""Small releases made for tests, laid out as the public one."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd

SHARED = Path(__file__).resolve().parents[2] / "shared" / "published.zip"

# {task: the id of every example in a release, which restarts in every subtask}
IDS = {
    "known_unknowns": [*range(46)],
    "novel_concepts": [*range(32)],
    "conceptual_combinations": [*range(21), *range(40), *range(17), *range(25)],
}


def write_release(
    folder: Path,
    models: Iterable[str] = ("base", "tuned"),
    tasks: Iterable[str] = ("known_unknowns", "novel_concepts"),
    shots: Iterable[int] = (1, 2),
    prompts: int = 30,
    skill: float = 0.4,
) -> Path:
    """A release of random predictions; both models have the same losses on the same prompts."""
    results = folder / "release" / "results"
    results.mkdir(parents=True)
    accuracies = {}
    for model in models:
        for task in tasks:
            for shot in shots:
                rows = _rows(
                    np.random.default_rng([*map(ord, f"{task}{shot}")]), IDS[task], shot, prompts, skill
                )
                name = f"{model}_{task}_{shot}-shot"
                rows.to_csv(results / f"{name}.csv", index=False)
                accuracies[name] = rows.groupby("Prompt ID")["Correct prediction"].mean().tolist()
    (results / "aggregated-results.json").write_text(json.dumps(accuracies))
    return folder / "release"


def _rows(
    generator: np.random.Generator, ids: list[int], shots: int, prompts: int, skill: float
) -> pd.DataFrame:
    parts = []
    for prompt in range(prompts):
        output = generator.choice(len(ids), shots, replace=False).tolist()
        examples = sorted({ids[place] for place in range(len(ids)) if place not in output})
        parts.append(
            pd.DataFrame(
                {
                    "Prompt ID": prompt,
                    "Demonstration IDs in prompt": json.dumps(output),
                    "Example ID": examples,
                    "Loss of correct answer": generator.gamma(2, 0.5, len(examples)),
                    "Correct prediction": (generator.random(len(examples)) < skill).astype(int),
                }
            )
        )
    return pd.concat(parts, ignore_index=True)
