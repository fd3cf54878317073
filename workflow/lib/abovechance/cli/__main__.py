"""``python -m abovechance.cli``."""

from abovechance.cli import main

main()
