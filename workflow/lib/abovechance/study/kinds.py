"""The kinds of prompts: each has its own scores and rules, so that none changes another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class Kind(NamedTuple):
    """Prompts that are scored for one purpose.

    Attributes
    ----------
    name
        In tables of costs: no word that a reader of CSV takes as a missing value.
    prefix
        Beginning of the names of its folders and rules; empty for the study's own prompts.
    null
        Whether their inputs are taken away.
    examples
        The folder of the tables that say which examples they are evaluated on.
    """

    name: str
    prefix: str
    null: bool = False
    examples: str = "evaluation_sets"

    @property
    def scores(self) -> str:
        """The folder of its scores."""
        return f"{self.prefix}scores"

    @property
    def ledgers(self) -> str:
        """The folder in ``cost/`` of what its jobs spend."""
        return f"{self.prefix}ledgers"


DRAWN = Kind("drawn", "")  # the study's own
NULL = Kind("null-target", "null_", null=True)  # these without their inputs
# the study's own on examples that may be demonstrations, to find which of them are hard
TRAINING = Kind("training", "training_", examples="training_sets")
TRAINING_NULL = Kind("training null-target", "training_null_", null=True, examples="training_sets")
HARDEST = Kind("hardest", "hardest_")  # with the hardest of these as demonstrations
KINDS = (DRAWN, NULL, TRAINING, TRAINING_NULL, HARDEST)


def kinds_of(study: Mapping[str, Any]) -> list[Kind]:
    """Return the kinds that a study scores, which its resolved config says."""
    pvi = study.get("pvi") or {}
    kinds = [DRAWN] + [NULL] * ("pvi" in study)
    return kinds + [TRAINING, TRAINING_NULL, HARDEST] * ("training_examples" in pvi)
