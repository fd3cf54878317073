"""Numbers that a page of the docs states, compared with computed ones."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from tests.conftest import REPOSITORY

Statement = tuple[str, list[float]]  # a sentence as a pattern with a group for each number, and the numbers


def text_of(name: str) -> str:
    """Return a page of the docs in one line."""
    return " ".join((REPOSITORY / "docs" / f"{name}.md").read_text(encoding="utf-8").split())


def differences(
    name: str, page: str, statements: Iterable[Statement], tolerance: float = 0.0
) -> Iterator[str]:
    """Yield a line for each number of a page that is not the computed one, to the digits of the page."""
    for pattern, values in statements:
        match = re.search(pattern, page)
        if match is None:
            yield f"{name}.md: has no text like '{pattern[:200]}'"
            continue
        for stated, value in zip(match.groups(), values, strict=True):
            digits = len(stated.partition(".")[2])
            number = float(stated.replace(",", ""))
            nearest = min(max(number, value - tolerance), value + tolerance)
            if round(float(nearest), digits) != number:
                computed = f"{value:.{digits + 2}f}"
                yield f"{name}.md: '{match[0]}': {stated} is stated, but {computed} was computed"
