"""The command line: is this score better than chance?"""

from abovechance.cli import chance, hardness, results, scores, studies
from abovechance.cli.app import app, main

__all__ = ["app", "chance", "hardness", "main", "results", "scores", "studies"]
