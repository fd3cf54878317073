"""The command line: is this score better than chance?"""

from abovechance.cli import chance, comparison, hardness, results, scores, studies
from abovechance.cli.app import app, main

__all__ = ["app", "chance", "comparison", "hardness", "main", "results", "scores", "studies"]
