"""The gate in a GEPA search.

    guard = GateCallback(planned=30, path="gate.json")
    result = gepa.optimize(..., callbacks=[guard], stop_callbacks=[guard])
    result.candidates[guard.incumbent]      # instead of result.best_candidate

GEPA (gepa-ai/gepa, 0.1) calls objects of this class by its protocols ``GEPACallback`` and
``StopperProtocol``. The package itself is not imported.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from abovechance.best.gate import Gate
from abovechance.core.errors import InputError
from abovechance.core.estimates import ALPHA


class GateCallback:
    """Tests each candidate that GEPA evaluates on the validation set, and stops when no test is left.

    The first candidate is the seed. GEPA still keeps its own list of candidates: ``incumbent`` is the number
    of the one that the gate lets through.

    Parameters
    ----------
    alpha, planned
        See ``Gate``.
    path
        A JSON file for the state, written after each candidate. If the file exists, a resumed run goes on
        with it.
    """

    def __init__(
        self, alpha: float = ALPHA, planned: int | None = None, path: Path | str | None = None
    ) -> None:
        self.alpha, self.planned = alpha, planned
        self.path = None if path is None else Path(path)
        self.gate = Gate.load(self.path) if self.path is not None and self.path.exists() else None
        if self.gate is not None and (self.gate.alpha, self.gate.planned) != (alpha, planned):
            raise InputError(
                f"{path}: has alpha {self.gate.alpha} and planned {self.gate.planned}, not {alpha} and "
                f"{planned}; use the same values, or delete the file to begin anew"
            )
        self._problem: Exception | None = None

    @property
    def incumbent(self) -> int:
        """The number of the candidate that passed the gate last, or of the seed."""
        if self.gate is None:
            raise InputError("no candidate is evaluated yet; use `incumbent` after the search has started")
        return int(self.gate.incumbent)

    def on_valset_evaluated(self, event: Mapping[str, Any]) -> None:
        """Test the candidate of a ``ValsetEvaluatedEvent``."""
        try:
            self._consider(str(event["candidate_idx"]), event["scores_by_val_id"])
        except Exception as error:
            # GEPA logs what a callback raises and goes on, so the stopper raises it
            self._problem = error
            raise

    def _consider(self, candidate: str, scores: Mapping[Any, float]) -> None:
        if self.gate is None:
            self.gate = Gate(candidate, dict(scores), self.alpha, self.planned)
        else:
            tested = {decision.candidate for decision in self.gate.decisions}
            if candidate in tested or candidate in ("0", self.gate.incumbent):
                raise InputError(
                    f"candidate {candidate} is evaluated again, so the state {self.path} is of another "
                    "search; delete the file to begin anew"
                )
            if not self.gate.level:
                return
            self.gate.consider(candidate, scores)
        if self.path is not None:
            self.gate.save(self.path)

    def __call__(self, _gepa_state: Any) -> bool:
        """Return whether the search should stop, because no further candidate could pass."""
        if self._problem is not None:
            raise self._problem
        return self.gate is not None and self.gate.is_spent
