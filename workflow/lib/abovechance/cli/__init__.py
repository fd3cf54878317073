"""The command line: is this score better than chance?"""

from abovechance.cli import chance, comparison, hardness, items, results, scores, studies, variance
from abovechance.cli.app import app, main

__all__ = [
    "app",
    "chance",
    "comparison",
    "hardness",
    "items",
    "main",
    "results",
    "scores",
    "studies",
    "variance",
]
