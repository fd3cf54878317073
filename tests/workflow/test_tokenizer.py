"""A model whose tokenizer changes, in two studies of it."""

import json
import re
from pathlib import Path

import pytest
import yaml

from tests.conftest import snakemake
from tests.tiny import write_tiny_study

pytestmark = pytest.mark.workflow


def test_scores_of_an_earlier_tokenizer_are_made_again_by_every_study(tmp_path: Path):
    """The weights are shared: the first study that runs prepares them, and the others notice it."""
    first = write_tiny_study(tmp_path, "first", prompts=1, shots=[0])
    second = tmp_path / "second.yaml"
    second.write_text(yaml.safe_dump(yaml.safe_load(first.read_text()) | {"study": "second"}))

    def score(config: Path, *options: str) -> str:
        name = config.stem if config == second else "first"
        target = f"results/{name}/scores/tiny/sums/0-shot.parquet"
        completed = snakemake(target, "--configfile", str(config), *options, directory=tmp_path)
        return completed.stdout + completed.stderr

    score(first)
    score(second)
    assert "Nothing to be done" in score(first)
    path = tmp_path / "tiny" / "tokenizer.json"
    content = json.loads(path.read_text())
    ids = content["model"]["vocab"]
    ids["1"], ids["Z"] = ids["Z"], ids["1"]
    path.write_text(json.dumps(content))
    score(second)
    assert re.search(r"^score +1$", score(first, "--dry-run"), re.MULTILINE)
