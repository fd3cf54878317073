"""CSV files of users: columns and values are checked, and messages name the file, row and column."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Generic, TypeVar

import pandas as pd

from abovechance.core.errors import InputError, nearest
from abovechance.core.reading import number, read_csv_texts, whole

Value = TypeVar("Value")


@dataclass(frozen=True)
class Field(Generic[Value]):
    """How the fields of a column are read.

    Attributes
    ----------
    read
        Returns the value of a text; None if the text has no value of this kind.
    expected
        The valid values, in words.
    hint
        Returns the likely meaning of a wrong text, or an empty text.
    """

    read: Callable[[str], Value | None]
    expected: str
    hint: Callable[[str], str] = lambda _: ""

    def value(self, text: str, name: str) -> Value:
        """Return the value of a text; InputError with the name of its place if it has none."""
        text = text.strip()
        value = self.read(text)
        if value is None:
            raise InputError(f"{name} is '{text[:60]}'{self.hint(text)}; expected {self.expected}")
        return value


def _share(text: str) -> float | None:
    value = number(text)
    return value if value is not None and 0 <= value <= 1 else None


def _per_cent(text: str) -> str:
    value = number(text)
    return " (per cent?)" if "%" in text or (value is not None and 1 < value <= 100) else ""


NUMBER = Field(number, "a number")
SHARE = Field(_share, "a number from 0 to 1", _per_cent)
FLAG: Field[bool] = Field(
    lambda text: {"1": True, "1.0": True, "true": True, "0": False, "0.0": False, "false": False}.get(
        text.lower()
    ),
    "0 or 1",
)


def whole_number(least: int, highest: int | None = None) -> Field[int]:
    """Return the field of a whole number in a range."""

    def read(text: str) -> int | None:
        value = whole(text)
        return value if value is not None and least <= value <= (highest or value) else None

    in_words = f", at least {least}" if highest is None else f" from {least} to {highest:,}"
    return Field(read, f"a whole number{in_words}")


@dataclass(frozen=True)
class CsvTable:
    """The fields of a CSV file as texts, with checks that raise InputError.

    Attributes
    ----------
    path
        The file, which messages name.
    texts
        (rows,) the fields under the file's heading; the index is the row in the file.
    """

    path: Path
    texts: pd.DataFrame

    @classmethod
    def read(cls, path: Path) -> CsvTable:
        """Return the table of a file; see ``read_csv_texts``."""
        return cls(path, read_csv_texts(path))

    def check_columns(
        self, needed: Sequence[str], optional: Sequence[str], expected: str, remedy: str = ""
    ) -> None:
        """Raise InputError if a column is unknown or missing.

        Parameters
        ----------
        expected
            The valid columns, in words.
        remedy
            Advice for a column that is unknown and not misspelled.
        """
        known_columns = [*needed, *optional]
        missing = [column for column in needed if column not in self.texts]
        for column in self.texts.columns:
            if column not in known_columns:
                meant = get_close_matches(column, missing) or known_columns
                hint = nearest(column, meant) + (f"; {remedy}" if remedy else "")
                raise InputError(f"{self.path}: column '{column}' is unknown; {hint}")
        if missing:
            raise InputError(f"{self.path}: lacks the column '{missing[0]}'; expected {expected}")

    def with_names(self, *columns: str) -> CsvTable:
        """Return the table without blanks around names; InputError if a name in a column is empty."""
        columns = tuple(column for column in columns if column in self.texts)
        texts = self.texts.copy()
        for column in columns:
            texts[column] = texts[column].str.strip()
            if (empty := texts[column] == "").any():
                raise InputError(f"{self.place(texts.index[empty][0])}: {column} is empty; expected a name")
        return CsvTable(self.path, texts)

    def check_unique(self, *columns: str) -> None:
        """Raise InputError if two rows agree in these columns, as far as the file has them."""
        keys = [column for column in columns if column in self.texts]
        if (repeated := self.texts.duplicated(keys)).any():
            raise InputError(
                f"{self.place(self.texts.index[repeated][0])}: an earlier row has the same "
                f"{' and '.join(keys)}; expected one row for each"
            )

    def values(self, column: str, field: Field[Value]) -> list[Value]:
        """(rows,) the values of a column; InputError with the row of the first that cannot be read."""
        texts = self.texts[column]
        return [field.value(text, f"{self.place(row)}: {column}") for row, text in texts.items()]

    def place(self, row: object) -> str:
        """Return file and row, as messages begin."""
        return f"{self.path}, row {row}"
