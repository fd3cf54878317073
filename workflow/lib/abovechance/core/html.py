"""Results as notebooks show them."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape


def as_html(rows: Mapping[str, object]) -> str:
    """Return a table with a row for each name and value, for notebooks."""
    texts = {
        name.replace("_", " "): f"{value:.4g}" if isinstance(value, float) else str(value)
        for name, value in rows.items()
    }
    cell = "<{0} style='text-align:left'>{1}</{0}>"
    cells = (
        f"<tr>{cell.format('th', escape(name))}{cell.format('td', escape(value))}</tr>"
        for name, value in texts.items()
    )
    return f"<table>{''.join(cells)}</table>"
