"""Texts of users and strangers: what they may hold."""

import pytest

from abovechance.core.errors import InputError
from abovechance.core.reading import parse_json, parse_yaml

LAUGHS = "a0: &a0 {x: 1, y: 2}\n" + "".join(
    f"a{place}: &a{place} {{x: *a{place - 1}, y: *a{place - 1}}}\n" for place in range(1, 40)
)


@pytest.mark.parametrize("text", [LAUGHS, "a: &a {b: *a}", "a: &a [*a]", "x: 1\na: &a\n  - {b: [*a]}"])
def test_aliases_that_stand_for_too_much_are_refused(text):
    with pytest.raises(InputError, match="with its aliases written out, it has more than 1,000,000 values"):
        parse_yaml(text, "mine.yaml")


def test_a_few_aliases_are_read():
    text = "common: &c {prompts: 3}\nfirst: *c\nsecond: {<<: *c, shots: [1]}\n"
    common = {"prompts": 3}
    expected = {"common": common, "first": common, "second": common | {"shots": [1]}}
    assert parse_yaml(text, "mine.yaml") == expected


def test_control_characters_of_a_key_are_escaped():
    with pytest.raises(InputError, match=r"the key 'a\\x1b' stands twice"):
        parse_json('{"a\\u001b": 1, "a\\u001b": 2}', "mine.json")
