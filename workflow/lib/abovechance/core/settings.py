"""A setting, what one verdict is about: its columns, name and seed, and going through tables by it.

Another axis of settings is another field here: the tables' columns (``core.tables.setting_columns``),
names and seeds follow from the fields.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from abovechance.core.provenance import digest

if TYPE_CHECKING:
    import pandas as pd


class Setting(NamedTuple):
    """A model on a task with a number of shots."""

    model: str
    task: str
    shots: int

    @property
    def name(self) -> str:
        """The setting as one word, which seeds are made of."""
        return "/".join(map(str, self))

    @property
    def words(self) -> str:
        """The setting as people read it."""
        return f"{self.model}, {self.task}, {self.shots}-shot"

    def seed(self, seed: int, purpose: str = "") -> int:
        """Return the study's seed made this setting's own, and that of one purpose in it."""
        return int(digest("/".join([str(seed), self.name, *filter(None, [purpose])])), 16)

    def label(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return the table with the setting's columns."""
        return table.assign(**self._asdict())


SETTING = list(Setting._fields)
# what tables' columns of these names say
MEANINGS = {
    "model": "name of the model in the study",
    "task": "name of the task in the study",
    "shots": "number of demonstrations in a prompt",
}


def setting_of(rows: pd.DataFrame) -> Setting:
    """Return the setting of the rows of one setting."""
    setting, _ = next(by_setting(rows.head(1)))
    return setting


def by_setting(table: pd.DataFrame) -> Iterator[tuple[Setting, pd.DataFrame]]:
    """Yield each setting of a table with its rows, in the order of their first rows."""
    for key, rows in table.groupby(SETTING, observed=True, sort=False):
        setting = Setting._make(key)
        yield setting._replace(shots=int(setting.shots)), rows  # JSON has no whole numbers of numpy


def with_most_shots(table: pd.DataFrame, keys: Sequence[str] = ("task",)) -> pd.DataFrame:
    """Return the rows with the largest number of shots of each task, or of each group by ``keys``."""
    most_shots = table.groupby([*keys], observed=True)["shots"].transform("max")
    return table[table["shots"] == most_shots]
