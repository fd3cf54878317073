"""Model folders, before anything in them is read."""

import os

import pytest

from abovechance.core.errors import InputError
from abovechance.study.model_folders import check_model_path


@pytest.mark.parametrize("name", ["model.safetensors", "model.safetensors.index.json", "tokenizer.json"])
def test_a_pipe_in_a_model_folder_is_not_read(tmp_path, name):
    for second in ("config.json", "a.safetensors"):
        (tmp_path / second).write_text("{}")
    (tmp_path / "broken").symlink_to("nowhere")
    (tmp_path / "sub").mkdir()
    check_model_path(tmp_path, "models.m.path")
    os.mkfifo(tmp_path / name)
    with pytest.raises(InputError, match=f"{name}: is a pipe or a device; expected a regular file"):
        check_model_path(tmp_path, "models.m.path")
