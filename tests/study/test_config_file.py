"""A study stops if its results are of another config and nothing tells how they were made."""

from base64 import urlsafe_b64encode
from pathlib import Path

import pytest

from abovechance.core.errors import InputError
from abovechance.study.config_file import check_recorded, text_of

CONFIG = {"study": "mine", "prompts": 4}


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The config in the folder of a study's results."""
    monkeypatch.chdir(tmp_path)
    path = Path("results", "mine", "config.yaml")
    path.parent.mkdir(parents=True)
    path.write_text(text_of(CONFIG))
    return path


def test_results_of_the_same_config_need_no_record(path):
    check_recorded(CONFIG, path)
    check_recorded({"prompts": 4, "study": "mine"}, path)
    check_recorded(CONFIG | {"archive": {"scores": "inside"}, "later": "default"}, path)
    path.write_text(text_of(CONFIG | {"archive": {"title": "Mine"}}))
    check_recorded(CONFIG, path)
    path.unlink()
    check_recorded(CONFIG | {"prompts": 5}, path)  # nothing is there yet


def test_results_of_another_config_need_a_record_of_how_they_were_made(path):
    with pytest.raises(InputError, match="is of another config, .* has no record .* --forceall"):
        check_recorded(CONFIG | {"prompts": 5}, path)
    record = Path(".snakemake", "metadata", urlsafe_b64encode(str(path).encode()).decode())
    record.parent.mkdir(parents=True)
    record.write_text("{}")
    check_recorded(CONFIG | {"prompts": 5}, path)


def test_a_config_of_results_that_cannot_be_read_is_an_error(path):
    path.write_bytes("study: m\xfcne".encode("latin-1"))
    with pytest.raises(InputError, match="is not text in UTF-8"):
        check_recorded(CONFIG, path)
