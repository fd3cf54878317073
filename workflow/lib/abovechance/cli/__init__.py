"""The command line: is this score better than chance?"""

from abovechance.cli import (
    annotate,
    best,
    chance,
    check,
    compare,
    doctor,
    gate,
    imports,
    items,
    planning,
    pvi,
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
    "check",
    "compare",
    "doctor",
    "gate",
    "imports",
    "items",
    "main",
    "planning",
    "pvi",
    "run",
    "scores",
    "studies",
    "variance",
]
