"""What the tests of importers share."""

from pathlib import Path
from typing import Any

import pandas as pd

from abovechance.importers import Options, combine, read_runs
from abovechance.results.imported import IMPORTED


def imported(path: Path, **options: Any) -> pd.DataFrame:
    """The table of what a path holds."""
    chosen = Options(**options)
    combined = combine(read_runs([path], chosen), chosen)
    assert combined.columns.tolist() == list(IMPORTED.columns)
    return combined
