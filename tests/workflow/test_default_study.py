"""The default study teaches the same on every processor."""

import os
import subprocess
import sys

import pandas as pd
import pytest

from tests.bench.drift import AVX2
from tests.conftest import REPOSITORY

pytestmark = [pytest.mark.workflow, pytest.mark.slow]


@pytest.mark.parametrize("environment", [{}, AVX2], ids=["as it is", "AVX2"])
def test_its_three_settings_have_three_answers(workplace, tmp_path, environment):
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "downloads").symlink_to(workplace / "results" / "downloads")
    command = [sys.executable, "-m", "abovechance", "run", str(REPOSITORY / "config.yaml"), "--cores", "2"]
    completed = subprocess.run(
        [*command, "--", "--until", "verdicts"],
        cwd=tmp_path,
        env=os.environ | environment,
        capture_output=True,
        text=True,
    )
    assert completed.returncode == 0, completed.stderr
    table = pd.read_csv(tmp_path / "results" / "default" / "verdicts.csv").set_index("task")
    answers = table[["position", "better_than_chance", "prompts"]].T.to_dict("list")
    assert answers == {
        "kinds": ["above", "yes", 20],
        "odd_one_out": ["between", "no", 20],
        "entailed_polarity": ["below", "no", 20],
    }
