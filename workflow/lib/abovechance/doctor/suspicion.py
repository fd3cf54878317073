"""What a check reports: a sign that a log is broken, with the evidence and a likely cause."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["grave", "suspicious", "note"]
SEVERITIES: tuple[Severity, ...] = ("grave", "suspicious", "note")


@dataclass(frozen=True)
class Suspicion:
    """A sign that results are broken.

    Attributes
    ----------
    check
        Name of the check.
    severity
        ``grave``: the scores are very likely wrong. ``suspicious``: sound results rarely look like this.
        ``note``: sound results can look like this.
    evidence
        Content of the log, with counts.
    cause
        A likely cause.
    """

    check: str
    severity: Severity
    evidence: str
    cause: str

    @property
    def sentence(self) -> str:
        """Evidence and cause in one line."""
        return f"{self.evidence}; {self.cause}"


def graded(share: float, suspicious: float, grave: float) -> Severity | None:
    """Return the severity of a share of examples; None if it is below both limits."""
    if share >= grave:
        return "grave"
    return "suspicious" if share >= suspicious else None


def of_examples(count: int, total: int) -> str:
    """Return "12 of 100 examples (12 %)"."""
    return f"{count:,} of {total:,} examples ({count / total:.0%})".replace("%", " %")
