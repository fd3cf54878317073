"""Names that `abovechance init` makes of paths and ids."""

import re

import pytest
import yaml

from abovechance.core.reading import parse_yaml
from abovechance.study.template import as_name
from tests.conftest import REPOSITORY

SCHEMA = yaml.safe_load((REPOSITORY / "workflow" / "schemas" / "config.schema.yaml").read_text())


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("{x}", "x_"),
        ("#c", "c"),
        ("é", "unnamed"),
        ("my task", "my_task"),
        ("-a.b_c", "a.b_c"),
        ("日1", "1"),
    ],
)
def test_a_name_is_one_that_a_config_can_have(text, name):
    assert as_name(text) == name
    assert re.match(SCHEMA["$defs"]["name"]["pattern"], name)
    assert parse_yaml(f"{name}: 1", "mine.yaml") is not None
