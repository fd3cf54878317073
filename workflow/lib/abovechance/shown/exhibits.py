"""The tables and figures of a study by name, with their captions in the report.

Each file of ``rules/analyses`` lists the tables and figures that it makes. The report shows them under the
question of the analysis. A job fails if it writes other names than its rule lists.
"""

from __future__ import annotations

from dataclasses import dataclass

TABLE_SUFFIXES = ("parquet", "csv", "md", "tex")
FIGURE_SUFFIXES = ("pdf", "png", "csv")


@dataclass(frozen=True)
class ShownTable:
    """A table: the name of its file and, if the report shows it, its heading and text.

    Attributes
    ----------
    title, text
        The heading and the text above the table; without a heading, the report does not show it.
    most_rows
        The number of rows in the report, if not all are shown.
    hidden
        Columns that the report does not show.
    without_rows
        The text that replaces a table without rows. If this text is empty, the report omits the section.
    """

    name: str
    title: str = ""
    text: str = ""
    most_rows: int | None = None
    hidden: tuple[str, ...] = ()
    without_rows: str = ""


@dataclass(frozen=True)
class ShownFigure:
    """A figure: its files' name, its heading and its caption."""

    name: str
    title: str
    caption: str
