"""The scoring tests once more, as on a processor with fewer instructions."""

import os
import subprocess
import sys

import pytest
import torch

from tests.conftest import REPOSITORY

SCORING = ("test_engine.py", "test_families.py", "test_cells.py")


def has_bfloat16_products() -> bool:
    return torch.backends.mkldnn.is_available() and torch.ops.mkldnn._is_mkldnn_bf16_supported()


@pytest.mark.slow
@pytest.mark.thorough
@pytest.mark.skipif("LESSER_PROCESSOR" in os.environ, reason="this is the lesser processor")
@pytest.mark.skipif(not has_bfloat16_products(), reason="this processor has no more than AVX2 to begin with")
def test_scoring_is_right_where_bfloat16_products_are_emulated():
    # the libraries read the first two when they are loaded, conftest.py the third
    lesser = {"ONEDNN_MAX_CPU_ISA": "AVX2", "ATEN_CPU_CAPABILITY": "avx2", "LESSER_PROCESSOR": "1"}
    paths = [str(REPOSITORY / "tests" / "scoring" / name) for name in SCORING]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *paths]
    completed = subprocess.run(
        command, capture_output=True, text=True, cwd=REPOSITORY, env=os.environ | lesser
    )
    assert completed.returncode == 0, completed.stdout
    assert " passed" in completed.stdout
