"""Files of users, read so that what is wrong in them is told with file and row."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd

from abovechance.core.errors import InputError


def read_csv_texts(path: Path) -> pd.DataFrame:
    """A CSV as texts, so that messages can quote what is written; InputError where it is none."""
    try:
        return pd.read_csv(path, dtype=str, keep_default_na=False, skipinitialspace=True)
    except (OSError, UnicodeDecodeError, pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        raise InputError(f"{path}: cannot be read as CSV: {str(error).strip()}") from None


def read_json(path: Path) -> Any:
    """A JSON file; InputError with file and place where it is none."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: is not JSON: {error}") from None
