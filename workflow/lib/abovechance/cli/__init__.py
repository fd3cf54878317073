"""The command line: is this score better than chance?"""

from abovechance.cli import (
    annotate,
    best,
    chance,
    compare,
    doctor,
    gate,
    items,
    predictions,
    pvi,
    results,
    run,
    scores,
    studies,
    variance,
)
from abovechance.cli.app import app, main

__all__ = [
    "annotate",
    "app",
    "best",
    "chance",
    "compare",
    "doctor",
    "gate",
    "items",
    "main",
    "predictions",
    "pvi",
    "results",
    "run",
    "scores",
    "studies",
    "variance",
]
