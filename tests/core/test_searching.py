"""The least number with which a condition holds, or holds from there on."""

import pytest

from abovechance.core.searching import IN_A_ROW, SMALL, least_lasting, least_whole


@pytest.mark.parametrize("least", [1, 2, 3, 17, 100])
def test_the_least_number_of_a_condition_that_lasts(least):
    assert least_whole(lambda number: number >= least, 100) == least
    assert least_lasting(lambda number: number >= least, 100) == least
    assert least_lasting(lambda number: number >= least, least - 1) == least  # not within the limit


def test_numbers_at_which_it_holds_by_chance_do_not_count():
    lucky = {8, 9, 15, 20}  # 15 is the first one that is tried
    assert least_lasting(lambda number: number in lucky or number > 30, 1000) == 31
    assert (
        least_lasting(lambda number: number in lucky or number > 20 + IN_A_ROW, 1000, after=25)
        == 21 + IN_A_ROW
    )
    # above, a single number is enough
    assert least_lasting(lambda number: number >= SMALL + 50, 10 * SMALL) == SMALL + 50
