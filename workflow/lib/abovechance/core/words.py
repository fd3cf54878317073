"""Numbers in sentences, and the order of names."""

import re
from collections.abc import Sequence


def counted(number: int, noun: str) -> str:
    """Return a number of things, such as ``2 examples``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def rounded_percent(share: float) -> str:
    """Return a share as whole per cent, with decimals if it would be 0% or 100% and is not."""
    texts = (f"{share:.{decimals}%}" for decimals in range(16))
    return next(
        (text for text in texts if share in (0, 1) or float(text[:-1]) not in (0, 100)), f"{share:.0%}"
    )


def percent(share: float) -> str:
    """Return a share in per cent with its own digits, such as 97.5%."""
    return f"{100 * share:.6g}%"


def joined(names: Sequence[str], limit: int = 5) -> str:
    """Return names with commas between them; of more than ``limit``, the first ones and how many more."""
    further = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(names[:limit]) + further


def natural_key(label: str) -> tuple[bool, list[tuple[bool, int, str]], str]:
    """Return a key by which numbers come in their order, then texts in theirs, with p2 before p10."""
    if re.fullmatch(r"-?\d{1,300}", label, re.ASCII):
        return False, [(False, int(label), "")], label
    parts = enumerate(re.split(r"(\d{1,300})", label, flags=re.ASCII))  # every second one is a number
    return True, [(not place % 2, int(part) if place % 2 else 0, part) for place, part in parts], label
