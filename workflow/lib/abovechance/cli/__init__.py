"""The command line: is this score better than chance?"""

from abovechance.cli import chance, results
from abovechance.cli.app import app, main

__all__ = ["app", "chance", "main", "results"]
