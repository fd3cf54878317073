"""Numbers in sentences."""


def counted(number: int, noun: str) -> str:
    """Return a number of things, such as ``2 examples``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def percent(share: float) -> str:
    """Return a share in per cent with its own digits, such as 97.5%."""
    return f"{100 * share:.6g}%"
