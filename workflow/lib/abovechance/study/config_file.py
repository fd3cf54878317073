"""A study's config file, read before Snakemake reads it: ``python -m abovechance.study.config_file FILE``.

It prints the file's path once it can be read. Snakemake ends with a traceback where there is no such
file, and takes the last of two like keys.
"""

from __future__ import annotations

import sys
from pathlib import Path

from abovechance.core.errors import InputError
from abovechance.core.reading import read_yaml


def main(arguments: str) -> None:
    """Print the path of a config file; what is wrong with the file is one line and exit status 1."""
    try:
        path = Path(arguments).expanduser()
        read_yaml(path)
    except (InputError, RuntimeError) as error:
        sys.exit(f"abovechance: error: {error}")
    print(path)


if __name__ == "__main__":
    main(sys.argv[1])
