"""A gate for searches: may this candidate replace the best one so far?

A search that accepts every candidate with a higher validation score accepts something in nearly every run,
even if no candidate is better than the first one. The gate tests each candidate against the incumbent and
spends a part of the significance level on it, so that in a whole run the probability of *any* false
replacement is at most alpha (Bonferroni; for searches without a planned end, the k-th candidate gets 6 / (pi
k)^2 of alpha).

For scores of 0 and 1, the test is the exact sign test (McNemar). For other scores, it is a test by betting
(Waudby-Smith and Ramdas, 2024), which holds for all scores in [0, 1]. It needs more examples. Both tests
assume that examples are independent.

The guarantee assumes that candidates learn about the validation examples through the gate's decisions only.
A search that writes candidates from its mistakes on the validation examples needs new examples for the gate.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from math import pi
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import binomtest

from abovechance.core.arrays import Floats, floats
from abovechance.core.errors import InputError, check_inside
from abovechance.core.estimates import ALPHA
from abovechance.core.files import replacing
from abovechance.core.html import as_html
from abovechance.core.reading import as_written_by, read_json

STAKES = np.linspace(0.02, 0.98, 49)  # shares of the capital that are bet on each example
FORMAT = "abovechance gate 2"


@dataclass(frozen=True)
class Decision:
    """The decision on one candidate.

    Attributes
    ----------
    candidate, incumbent
        Their names.
    examples
        Number of examples that both are evaluated on.
    difference
        Mean score of the candidate minus mean score of the incumbent on these examples.
    p
        One-sided p-value of the hypothesis that the candidate is not better.
    level
        The part of alpha that was spent on the test.
    replaces
        Whether the candidate may replace the incumbent: ``p <= level``.
    """

    candidate: str
    incumbent: str
    examples: int
    difference: float
    p: float
    level: float
    replaces: bool


@dataclass
class Gate:
    """The state of a search, which decides on one candidate after another.

    Attributes
    ----------
    incumbent
        Name of the candidate that new ones are compared with.
    scores
        {example: score of the incumbent}.
    alpha
        Largest probability of any false replacement in the run.
    planned
        Number of candidates that will be tested, each at ``alpha / planned``. None: there may be any number,
        and later ones are tested at smaller levels.
    decisions
        All decisions so far.
    content
        Data of the incumbent, such as its prompt.

    Examples
    --------
    >>> gate = Gate("start", {"a": 0, "b": 0, "c": 0, "d": 0, "e": 1, "f": 0}, alpha=0.05, planned=3)
    >>> gate.consider("better", {"a": 1, "b": 1, "c": 1, "d": 1, "e": 1, "f": 1}).p
    0.03125
    >>> gate.incumbent
    'start'
    """

    incumbent: str
    scores: dict[str, float]
    alpha: float = ALPHA
    planned: int | None = None
    decisions: list[Decision] = field(default_factory=list)
    content: Any = None

    def __post_init__(self) -> None:
        check_inside(0, 1, alpha=self.alpha)
        if self.planned is not None and (not isinstance(self.planned, Integral) or self.planned < 1):
            raise InputError(f"planned is {self.planned}; expected a whole number from 1")
        self.alpha = float(self.alpha)
        self.planned = None if self.planned is None else int(self.planned)
        self.incumbent = str(self.incumbent)
        self.scores = _checked(self.incumbent, self.scores)

    @property
    def level(self) -> float:
        """The part of alpha that is spent on the next candidate; 0 if all planned ones are tested."""
        number = len(self.decisions) + 1
        if self.planned is None:
            return self.alpha * 6 / (pi * number) ** 2
        return self.alpha / self.planned if number <= self.planned else 0.0

    @property
    def is_spent(self) -> bool:
        """Whether no further candidate can replace the incumbent, even with the highest possible scores."""
        scores = np.array([*self.scores.values()])
        # all examples right, or only those that the incumbent has wholly wrong (then it is the sign test)
        least = min(better_p(1 - scores), 0.5 ** int((scores == 0).sum()))
        return not self.level or least > self.level

    @property
    def names(self) -> set[str]:
        """The names of the start and of all candidates that are tested."""
        return {self.incumbent, *(name for row in self.decisions for name in (row.candidate, row.incumbent))}

    def consider(
        self, candidate: str, scores: Mapping[Any, float], content: Any = None, allow_missing: bool = False
    ) -> Decision:
        """Test a candidate, and make it the incumbent if it passes.

        Parameters
        ----------
        candidate
            Its name.
        scores
            {example: score}, for all examples that the incumbent is evaluated on; only these count.
        content
            What to keep of the candidate if it passes, such as its prompt; it must be writable as JSON.
        allow_missing
            Whether to compare only common examples if the candidate has no score on some of the incumbent's.

        Raises
        ------
        InputError
            If a score is not a number from 0 to 1, an example of the incumbent is missing, no example is
            shared, the candidate is tested already, or all planned candidates are tested.
        """
        candidate = str(candidate)
        if candidate in self.names:
            raise InputError(f"candidate '{candidate}' is in the search already; use another name")
        if not self.level:
            raise InputError(f"all {self.planned} planned candidates are tested; use a larger `planned`")
        checked = _checked(candidate, scores)
        shared = [example for example in self.scores if example in checked]
        if not shared:
            raise InputError(f"'{candidate}' and '{self.incumbent}' have no example in common")
        if len(shared) < len(self.scores) and not allow_missing:
            lacks = [example for example in self.scores if example not in checked]
            raise InputError(
                f"'{candidate}' has no score on {len(lacks)} of the {len(self.scores)} examples of "
                f"'{self.incumbent}', such as '{lacks[0]}'; expected all of them, because missing examples "
                "are often the failed ones (allow_missing=True compares the common ones)"
            )
        differences = np.array([checked[example] - self.scores[example] for example in shared])
        p, level = better_p(differences), self.level
        decision = Decision(
            candidate, self.incumbent, len(shared), float(differences.mean()), p, level, p <= level
        )
        self.decisions.append(decision)
        if decision.replaces:
            self.incumbent, self.scores, self.content = candidate, checked, content
        return decision

    def save(self, path: Path | str) -> None:
        """Write the state to a JSON file, at once or not at all."""
        with replacing(Path(path)) as beside:
            beside.write_text(json.dumps({"format": FORMAT, **asdict(self)}, indent=2) + "\n")

    @classmethod
    def load(cls, path: Path | str) -> Gate:
        """Return the state from a file of ``save``; InputError if it is another file."""
        stored = read_json(Path(path))
        if not isinstance(stored, dict) or stored.pop("format", None) != FORMAT:
            raise InputError(f"{path}: is not the state of a gate; expected a file that `Gate.save` wrote")
        with as_written_by("Gate.save", str(path)):
            decisions = [Decision(**decision) for decision in stored.pop("decisions")]
            return cls(**stored, decisions=decisions)

    def _repr_html_(self) -> str:
        replaced = sum(decision.replaces for decision in self.decisions)
        rows = {"incumbent": self.incumbent, "candidates tested": len(self.decisions)}
        return as_html(rows | {"replacements": replaced, "next level": self.level, "alpha": self.alpha})


def better_p(differences: ArrayLike) -> float:
    """Return the one-sided p-value of the hypothesis that the mean of differences is at most 0.

    If all differences are -1, 0 or 1, it is that of the exact sign test. Otherwise, a gambler bets a share of
    the capital on each difference. If the mean is at most 0, the expected capital stays at most 1, so its
    reciprocal is a p-value (Markov). The capital is the mean over ``STAKES``.

    Parameters
    ----------
    differences
        (examples,) numbers in [-1, 1] of independent examples.
    """
    values: Floats = floats(differences)
    better, worse = int((values > 0).sum()), int((values < 0).sum())
    if not better:
        return 1.0
    if np.isin(values, (-1.0, 0.0, 1.0)).all():
        return float(binomtest(better, better + worse, alternative="greater").pvalue)
    log_capital = np.log1p(STAKES[:, None] * values).sum(axis=1)
    log_mean = log_capital.max() + np.log(np.exp(log_capital - log_capital.max()).mean())
    return float(min(1.0, np.exp(-log_mean)))


def _checked(candidate: str, scores: Mapping[Any, float]) -> dict[str, float]:
    """{example: score} with examples as texts."""
    try:
        checked = {str(example): float(score) for example, score in scores.items()}
    except (AttributeError, TypeError, ValueError):
        raise InputError(f"candidate '{candidate}': expected {{example: score}}, with numbers") from None
    if len(checked) < len(scores):
        raise InputError(f"candidate '{candidate}': two examples have the same name as a text")
    if not checked:
        raise InputError(f"candidate '{candidate}' has no score; expected a score for each example")
    for example, score in checked.items():
        if not 0 <= score <= 1:
            raise InputError(
                f"candidate '{candidate}', example '{example}': the score is {score}; expected a number from "
                "0 to 1"
            )
    return checked
