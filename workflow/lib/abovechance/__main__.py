"""``python -m abovechance``."""

from abovechance.cli import main

main()
