"""The command line: is this score better than chance?"""

from abovechance.cli import chance, results, scores, studies
from abovechance.cli.app import app, main

__all__ = ["app", "chance", "main", "results", "scores", "studies"]
