"""The order of names with numbers, which does not depend on the order that they come in."""

from itertools import permutations

import pytest

from abovechance.core.words import natural_key


@pytest.mark.parametrize(
    "names",
    [
        ["-1", "2", "10", "a", "p2", "p10", "p10b"],
        ["1", "9007199254740993", "9007199254740994", "1234567890123456780", "1234567890123456781"],
        ["001", "01", "1"],
        ["1", "10²", "①", "②"],
    ],
)
def test_names_have_one_order(names):
    for order in list(permutations(names))[:200]:
        assert sorted(order, key=natural_key) == names
