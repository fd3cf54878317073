"""The command ``abovechance``, also as ``python -m abovechance``."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; if it is interrupted, even while it loads, exit with status 130."""
    try:
        from abovechance.cli import main as run  # slow to import

        run()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
