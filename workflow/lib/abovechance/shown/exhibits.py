"""The tables and figures of a study by name, with their captions in the report.

The files of ``rules/analyses`` list what they make. The report shows it under the question that each analysis
answers. A job that writes other names than its rule lists is an error.
"""

from __future__ import annotations

from dataclasses import dataclass

TABLE_SUFFIXES = ("parquet", "csv", "md", "tex")
FIGURE_SUFFIXES = ("pdf", "png", "csv")


@dataclass(frozen=True)
class ShownTable:
    """A table: its file, and if it is a section of the report, what is shown there.

    Attributes
    ----------
    title, text
        The heading and the text above the table; without a heading, the report does not show it.
    most_rows
        The number of rows in the report, if not all are shown.
    hidden
        Columns that the report does not show.
    without_rows
        The text in the place of a table without rows; if it is empty, the report omits the section.
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
