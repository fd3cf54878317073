"""A column of a table, declared once: its type, its unit, what it means, and how people see it.

Tables are checked against it when they are written, numbers are formatted by it, and ``results/README.md`` is
made from it. Parquet files hold it with their columns, so that a file describes itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import pyarrow as pa

# for texts that stand in many rows
CATEGORY = pa.dictionary(pa.int32(), pa.string())
SHARE = "from 0 to 1"


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes
    ----------
    type
        Its type in Arrow.
    meaning
        The meaning of the column, for results/README.md.
    unit
        The unit or the range of its values, where they have one.
    is_tail
        Whether it is a probability of which small values matter, and is written with two digits.
    lacking
        The text that people see if a value is missing.
    optional
        Whether some tables of this kind are without it.
    """

    type: pa.DataType
    meaning: str
    unit: str = ""
    is_tail: bool = False
    lacking: str = ""
    optional: bool = False

    def field(self, name: str) -> pa.Field:
        """The column as Arrow has it; its metadata hold all that its type does not say."""
        facts = {
            "meaning": self.meaning,
            "unit": self.unit,
            "lacking": self.lacking,
            "is_tail": str(self.is_tail),
        }
        return pa.field(
            name,
            self.type,
            metadata={key: value for key, value in facts.items() if value not in ("", "False")},
        )

    @classmethod
    def from_field(cls, field: pa.Field) -> Column:
        """Return the column that a file holds; see ``field``."""
        facts = {key.decode(): value.decode() for key, value in (field.metadata or {}).items()}
        texts = {key: facts.get(key, "") for key in ("meaning", "unit", "lacking")}
        return cls(field.type, **texts, is_tail=facts.get("is_tail") == "True")

    @property
    def kind(self) -> str:
        """The type in words."""
        if pa.types.is_list(self.type):
            return f"list of {Column(self.type.value_type, '').kind}s"
        kinds = {pa.int64(): "whole number", pa.float64(): "number", pa.bool_(): "true or false"}
        return kinds.get(self.type, "text")

    @classmethod
    def text(cls, meaning: str, lacking: str = "none") -> Column:
        """A text; ``lacking`` is what people see where there is none."""
        return cls(pa.string(), meaning, lacking=lacking)

    @classmethod
    def category(cls, meaning: str) -> Column:
        """A text that stands in many rows."""
        return cls(CATEGORY, meaning)

    @classmethod
    def whole(cls, meaning: str, unit: str = "") -> Column:
        """A whole number."""
        return cls(pa.int64(), meaning, unit)

    @classmethod
    def number(cls, meaning: str, unit: str = "") -> Column:
        """Any number."""
        return cls(pa.float64(), meaning, unit)

    @classmethod
    def share(cls, meaning: str) -> Column:
        """A number from 0 to 1: a share, an accuracy, or a probability that need not be small."""
        return cls(pa.float64(), meaning, SHARE)

    @classmethod
    def tail(cls, meaning: str) -> Column:
        """A tail probability or a p-value, which people see with two digits."""
        return cls(pa.float64(), meaning, SHARE, is_tail=True)

    @classmethod
    def flag(cls, meaning: str) -> Column:
        """True or false."""
        return cls(pa.bool_(), meaning)

    def several(self) -> Column:
        """A list of such values."""
        # Parquet files name the values of lists so
        return replace(self, type=pa.list_(pa.field("element", self.type)))


def optional(columns: Mapping[str, Column]) -> dict[str, Column]:
    """Columns that some tables of a kind are without."""
    return {name: replace(column, optional=True) for name, column in columns.items()}
