"""Texts of users and strangers: what they may hold."""

import pytest

from abovechance.core.errors import InputError
from abovechance.core.reading import number, parse_json, parse_yaml, read_csv_texts

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


@pytest.mark.parametrize(
    "value", ['!!int ""', "!!timestamp zz", "!!bool zz", "!!map [1]", '!!float ""', "!!binary 1"]
)
def test_a_value_that_is_not_what_its_yaml_tag_says_is_told_in_a_line(value):
    with pytest.raises(InputError, match=r"^mine.yaml(, line 1)?: (is not YAML|.* to YAML)"):
        parse_yaml(f"study: {value}", "mine.yaml")


def test_a_yaml_text_has_a_limit():
    with pytest.raises(InputError, match="has 4,000,003 characters; expected at most 1,048,576"):
        parse_yaml("a:\n" + " - 1" * 1_000_000, "mine.yaml")


def test_a_csv_of_many_columns_is_read_at_once(tmp_path):
    names = [f"c{number}" for number in range(50_000)]
    (tmp_path / "wide.csv").write_text(",".join(names) + "\n" + ",".join(["1"] * len(names)) + "\n")
    assert read_csv_texts(tmp_path / "wide.csv").shape == (1, 50_000)
    (tmp_path / "twice.csv").write_text("a,b,a\n1,2,3\n")
    with pytest.raises(InputError, match="the column 'a' stands twice"):
        read_csv_texts(tmp_path / "twice.csv")


@pytest.mark.parametrize(
    ("text", "expected"),
    [("0,5", 0.5), (",5", 0.5), ("12,34", 12.34), ("0,125", 0.125), ("1,2345", 1.2345), ("-1,5e", None)]
    + [(text, None) for text in ("1,000", "12,345", "999,999", "-3,500", "1,000,000", "1_000", "")],
)
def test_a_comma_is_read_only_where_it_cannot_be_that_of_thousands(text, expected):
    assert number(text) == expected


@pytest.mark.parametrize(("separator", "read"), [(";", 12.375), ("\t", 12.375), (",", None)])
def test_other_values_of_a_column_show_what_its_commas_mean(tmp_path, separator, read):
    rows = [["example", "gold", "name"], ["1", "1,25", "1,000"], ["2", "12,375", "2,000"]]
    quoted = [[f'"{field}"' if "," in field else field for field in row] for row in rows]
    (tmp_path / "a.csv").write_text("\n".join(separator.join(row) for row in quoted))
    table = read_csv_texts(tmp_path / "a.csv")
    assert number(table["gold"].iloc[1]) == read
    assert table["name"].tolist() == ["1,000", "2,000"]


def test_texts_stay_as_they_are_written(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('text;answer\n"Tausend, 1,234";1,234\nhalf;0,5\n')
    assert read_csv_texts(path, keep_blanks=True)["answer"].tolist() == ["1,234", "0,5"]


@pytest.mark.parametrize(("value", "number_of_yaml"), [("1:30.5", 90.5), ("0:0.5", 0.5), ("5:00.0", 300.0)])
def test_a_number_in_sixties_is_an_error(value, number_of_yaml):
    with pytest.raises(
        InputError, match=f"{value} means {number_of_yaml} to YAML; expected {number_of_yaml}"
    ):
        parse_yaml(f"timeout: {value}", "mine.yaml")
