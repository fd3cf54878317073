"""The one exception that people are meant to read."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches


class InputError(ValueError):
    """Something a user wrote is wrong: the message names it and says what would be right."""


def check_inside(low: float, high: float, **values: float) -> None:
    """Raise InputError unless every value is above ``low`` and below ``high``."""
    for name, value in values.items():
        try:
            is_inside = bool(low < value < high)
        except (TypeError, ValueError):  # no number, or several
            is_inside = False
        if not is_inside:
            raise InputError(f"{name} is {value}; expected a number above {low:g} and below {high:g}")


def nearest(word: str, known_words: list[str] | tuple[str, ...]) -> str:
    """Return a hint such as ``did you mean 'emoji_movie'?``, or the known words where none is near."""
    matches = get_close_matches(word, known_words, n=1, cutoff=0.6)
    if matches:
        return f"did you mean '{matches[0]}'?"
    listed = ", ".join(sorted(known_words)[:30]) + (", ..." if len(known_words) > 30 else "")
    return f"known are: {listed}"


def check_spelling(names: Collection[str], known_names: Sequence[str], place: object) -> None:
    """Raise InputError if a name is unknown, but very close to a known one that is missing."""
    missing_names = [name for name in known_names if name not in names]
    for name in names:
        matches = get_close_matches(name.strip().lower(), missing_names, n=1, cutoff=0.9)
        if name not in known_names and matches:
            raise InputError(
                f"{place} '{name}' is unknown; did you mean '{matches[0]}'? If not, use a name that is less "
                "similar"
            )


@contextmanager
def located(place: object) -> Iterator[None]:
    """Begin the message of an InputError with its place, such as a file."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{place}: {error}") from None


@contextmanager
def told_by_library(problem: str) -> Iterator[None]:
    """Tell in one line what a library raised about a user's file; libraries raise anything there."""
    try:
        yield
    except InputError:
        raise
    except BaseException as error:
        # libraries in Rust raise panics, which are no Exceptions
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        first = " ".join(str(error).split())[:200]
        raise InputError(f"{problem} ({type(error).__name__}: {first})") from None
