"""What scores depend on besides the prompt: scores of another identity are never mixed with new ones."""

from __future__ import annotations

from typing import Any

from abovechance.core.code import module_digest

# The modules that decide a score's digits.
NUMERICS = (
    *("scoring.trie", "scoring.tokens", "scoring.engine", "scoring.algorithms"),
    *("scoring.models", "scoring.weights"),
)

# {digest of these modules: earlier ones whose scores have the same digits}. Whoever edits them without
# changing a digit puts the new digest here, and the old one behind it; any other edit makes the
# line void, so that old scores are not taken for new ones. Scores from before paths were held against
# the definition are not among them: of some models they were wrong.
SAME_DIGITS: dict[str, tuple[str, ...]] = {}


def identities(revision: str, precision: str) -> list[dict[str, Any]]:
    """The identity of scores that are made now, then those of earlier ones that count as the same.

    Parameters
    ----------
    revision
        That of the model's weights.
    precision
        A key of ``models.DTYPES``.
    """
    now = module_digest(*NUMERICS)
    return [
        {"revision": revision, "precision": precision, "code": code}
        for code in (now, *SAME_DIGITS.get(now, ()))
    ]
