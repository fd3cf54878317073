"""The gate in a GEPA search.

    guard = GateCallback(planned=30, path="gate.json")
    result = gepa.optimize(..., callbacks=[guard], stop_callbacks=[guard])
    guard.prompt      # instead of result.best_candidate

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
from abovechance.core.provenance import digest


class GateCallback:
    """Tests each candidate that GEPA evaluates on the validation set, and stops when no test is left.

    The first candidate is the seed. GEPA still keeps its own list of candidates: ``incumbent`` is the number
    of the one that the gate lets through, and ``prompt`` has its texts.

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
                f"{planned}; use the same values, or another file for a new search"
            )
        self._problem: Exception | None = None
        self._numbers: dict[int, str] = {}  # the candidates of this run of GEPA

    @property
    def incumbent(self) -> int:
        """The number of the candidate that passed the gate last, or of the seed.

        Raises
        ------
        InputError
            If no candidate is evaluated yet, or the search was killed and GEPA has lost this candidate.
        """
        number, _ = self._started.incumbent.split(":")
        if self._numbers.get(int(number), self._started.incumbent) != self._started.incumbent:
            raise InputError(
                f"GEPA has lost candidate {number} because it was killed before it saved its state; use "
                "`prompt`, which the gate has saved"
            )
        return int(number)

    @property
    def prompt(self) -> dict[str, str]:
        """The texts of the candidate that passed the gate last, or of the seed."""
        return dict(self._started.content)

    @property
    def _started(self) -> Gate:
        if self.gate is None:
            raise InputError("no candidate is evaluated yet; use `incumbent` after the search has started")
        return self.gate

    def on_valset_evaluated(self, event: Mapping[str, Any]) -> None:
        """Test the candidate of a ``ValsetEvaluatedEvent``."""
        try:
            self._consider(int(event["candidate_idx"]), event["candidate"], event["scores_by_val_id"])
        except Exception as error:
            # GEPA logs what a callback raises and goes on, so the stopper raises it
            self._problem = error
            raise

    def _consider(self, number: int, texts: Mapping[str, str], scores: Mapping[Any, float]) -> None:
        """Test a candidate, unless one with the same texts is tested already.

        A resumed search evaluates its seed again, and gives numbers of lost candidates to new ones. So a name
        has a digest of the texts.
        """
        code = digest(*(text for item in sorted(texts.items()) for text in item))
        self._numbers[number] = name = f"{number}:{code}"
        if self.gate is None:
            self.gate = Gate(name, dict(scores), self.alpha, self.planned, content=dict(texts))
        elif number == 0:
            if name not in self.gate.names:
                raise InputError(
                    f"the search starts with another seed than that of {self.path}; use the same seed, or "
                    "another file for a new search"
                )
        elif any(tested.endswith(f":{code}") for tested in self.gate.names) or not self.gate.level:
            return
        else:
            # GEPA scores a failed example as 0: one that is missing was not to be evaluated
            self.gate.consider(name, scores, dict(texts), allow_missing=True)
        if self.path is not None:
            self.gate.save(self.path)

    def __call__(self, _gepa_state: Any) -> bool:
        """Return whether the search should stop, because no further candidate could pass."""
        if self._problem is not None:
            raise self._problem
        return self.gate is not None and self.gate.is_spent
