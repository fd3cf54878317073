"""The facts that scores depend on besides the prompt: scores with different identities never mix."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from abovechance.core.code import module_digest
from abovechance.core.provenance import digest, file_sha256

# The modules that decide a score's digits.
NUMERICS = (
    *("scoring.trie", "scoring.tokens", "scoring.packs", "scoring.masks", "scoring.attention"),
    *("scoring.engine", "scoring.algorithms", "scoring.models", "scoring.products", "scoring.weights"),
    "scoring.gguf_files",
)

# {digest of these modules: earlier ones whose scores have the same digits}. Whoever edits them without
# changing a digit puts the new digest here, and the old one behind it; any other edit makes the
# line void, so that old scores are not taken for new ones.
SAME_DIGITS: dict[str, tuple[str, ...]] = {}

# Files of a model's folder that decide how it reads, besides its weights; its code, where that is trusted.
READING = ("tokenizer*", "special_tokens_map.json", "added_tokens.json", "vocab*", "merges.txt", "*.model")
CODE = ("*.py",)


def identities(
    revision: str,
    precision: str,
    device: str,
    tokenizer: str,
    special_tokens: str,
    products: str = "measured",
) -> list[dict[str, Any]]:
    """Return the identity of scores that are made now, then those of earlier ones that count as the same.

    Parameters
    ----------
    revision
        That of the model's weights.
    precision
        A key of ``models.DTYPES``.
    device
        The kind of device that computes, ``cpu``, ``cuda`` or ``mps``: they round in other ways.
    tokenizer
        From ``reading_digest``.
    special_tokens
        One of ``tokens.SPECIAL_TOKENS``.
    products
        The way of taking products that the user chose, if any (``products.decide``). Measured decisions do
        not count: like a processor's other properties, they are recorded with the scores.
    """
    digest = module_digest(*NUMERICS)
    depends_on = {"revision": revision, "precision": precision, "device": device}
    depends_on |= {"tokenizer": tokenizer, "special_tokens": special_tokens}
    depends_on |= {} if products == "measured" else {"products": products}
    return [{**depends_on, "code": code} for code in (digest, *SAME_DIGITS.get(digest, ()))]


def reading_digest(folder: Path, code: bool) -> str:
    """Digest of the files that decide how a model reads.

    Parameters
    ----------
    folder
        The model's.
    code
        Whether the model's own code is run.
    """
    patterns = READING + CODE * code
    files = sorted({path for pattern in patterns for path in folder.glob(pattern) if path.is_file()})
    return digest(*(f"{path.name} {file_sha256(path)}" for path in files))
