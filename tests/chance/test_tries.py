"""The best of more tries than there are results of."""

import pytest

from abovechance.chance.multiplicity import adjusted, adjusted_together
from abovechance.chance.tries import check_draws, draws_for_tries, for_more_tries, tries_beyond, whole_draws
from abovechance.core.errors import InputError


def test_tries_without_results():
    assert [tries_beyond(3, tries) for tries in (None, 3, 5, 5.0)] == [0, 0, 2, 2]
    for tries in (2, 3.5, float("nan"), float("inf"), "4"):
        with pytest.raises(InputError) as error:
            tries_beyond(3, tries)
        assert str(error.value) == (
            f"tries is {tries}, but there are 3 candidates; expected a whole number that is at least as large"
        )


def test_the_tail_of_the_best_of_independent_tries():
    assert for_more_tries(0.1, 0.2, 0) == 0.1
    assert for_more_tries(0.1, 0.2, 3) == pytest.approx(1 - 0.9 * 0.8**3)
    assert for_more_tries(1e-20, 1e-20, 9) == pytest.approx(1e-19)
    assert [for_more_tries(1.0, 0.2, 3), for_more_tries(0.1, 1.0, 3)] == [1.0, 1.0]


def test_more_draws_for_more_tries():
    assert [draws_for_tries(500, tries) for tries in (0, 4, 5, 9_999, 20_000)] == [
        500,
        500,
        600,
        10**6,
        10**6,
    ]
    assert [whole_draws(draws) for draws in (1, 10.0, 10**6)] == [1, 10, 10**6]
    check_draws(100, 4)  # at least 1 - (100 / 101)**5, which is .0485
    with pytest.raises(InputError, match="even from 1,000,000 random draws, no p-value can be 0.05 or less"):
        check_draws(10_000, 59_998, least_tail=1e-4)
    with pytest.raises(InputError) as error:
        check_draws(100, 5)
    assert str(error.value) == (
        "tries without results: 5; from 100 random draws, no p-value can be 0.05 or less"
    )
    check_draws(1000, 5, least_tail=0.0)
    with pytest.raises(InputError, match="from 10 random draws"):
        check_draws(1000, 1, least_tail=1 / 11)


def test_tails_of_several_groups_are_adjusted_for_all_of_them():
    groups = [[0.01, 0.04], [], [0.03]]
    holm, bh = (adjusted([0.01, 0.04, 0.03], method) for method in ("holm", "bh"))
    parts = adjusted_together(groups, ("holm", "bh"))
    assert [part["holm"].tolist() for part in parts] == [[*holm[:2]], [], [holm[2]]]
    assert [part["bh"].tolist() for part in parts] == [[*bh[:2]], [], [bh[2]]]
