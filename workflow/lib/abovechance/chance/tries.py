"""The best of more tries than there are results of."""

from __future__ import annotations

from numbers import Real

import numpy as np

from abovechance.core.errors import InputError
from abovechance.core.estimates import ALPHA

DRAWS_PER_TRY, MOST_DRAWS = 100, 1_000_000


def tries_beyond(candidates: int, tries: int | None) -> int:
    """Return the number of tries without results; InputError if there are fewer tries than candidates."""
    if tries is None:
        return 0
    if not (isinstance(tries, Real) and tries >= candidates and float(tries).is_integer()):
        raise InputError(
            f"tries is {tries}, but there are {candidates} candidates; expected a whole number that is "
            "at least as large"
        )
    return int(tries) - candidates


def for_more_tries(tail: float, single: float, further_tries: int) -> float:
    """Return the tail of the best of all tries, of which some are not known.

    Parameters
    ----------
    tail
        That of the best of the known candidates.
    single
        That of a single candidate.
    further_tries
        The number of other tries: independent ones, each with the tail ``single``.
    """
    if not further_tries:
        return tail
    if max(tail, single) >= 1:
        return 1.0
    return float(-np.expm1(np.log1p(-tail) + further_tries * np.log1p(-single)))


def draws_for_tries(draws: int, further_tries: int) -> int:
    """Return how many random draws a test makes for a small p-value, if so many others were tried."""
    return max(draws, min(DRAWS_PER_TRY * (further_tries + 1), MOST_DRAWS))


def whole_draws(draws: float) -> int:
    """Return a number of draws; InputError unless it is whole, and not more than what takes too long."""
    if not (isinstance(draws, Real) and 1 <= draws <= MOST_DRAWS and float(draws).is_integer()):
        raise InputError(f"draws is {draws}; expected a whole number from 1 to {MOST_DRAWS:,}")
    return int(draws)


def check_draws(draws: int, further_tries: int, least_tail: float | None = None) -> None:
    """Raise InputError if no p-value from so many random draws can be ``ALPHA``, with so many other tries.

    Parameters
    ----------
    draws
        Number of random draws for the tail of a single candidate.
    further_tries
        Number of tries without results.
    least_tail
        The least possible tail of the known candidates; by default, from as many draws.
    """
    single = 1 / (draws + 1)
    tail = single if least_tail is None else least_tail
    if further_tries and for_more_tries(tail, single, further_tries) > ALPHA:
        draws_of_either = f"from {min(draws, round(1 / tail) - 1):,}"
        if for_more_tries(0.0, 1 / (MOST_DRAWS + 1), further_tries) > ALPHA:
            draws_of_either = f"even from {MOST_DRAWS:,}"
        raise InputError(
            f"tries without results: {further_tries:,}; {draws_of_either} random draws, no p-value can be "
            f"{ALPHA} or less"
        )
